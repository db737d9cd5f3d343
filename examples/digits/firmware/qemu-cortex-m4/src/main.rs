//! The digits example on an emulated Cortex-M4, which prints through semihosting.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;

#[entry]
fn main() -> ! {
    let total = digits_firmware::run(|answer| {
        let (seen, otherwise) = (answer.seen, answer.otherwise);
        if answer.is_right() && answer.image < 10 {
            hprintln!("image {:3}: {}, right (score {:.2})", answer.image, seen.label, seen.score);
        } else if !answer.is_right() {
            hprintln!(
                "image {:3}: {}, WRONG: seen as {} (score {:.2}), otherwise {} ({:.2})",
                answer.image,
                answer.written,
                seen.label,
                seen.score,
                otherwise.label,
                otherwise.score
            );
        }
    });
    let (percent, hundredths) = (total.accuracy() / 100, total.accuracy() % 100);
    hprintln!("{} of {} right, {}.{:02} %", total.right, total.images, percent, hundredths);
    hprintln!(
        "TensorFlow Lite Micro: {} right; arena {} B",
        total.right_with_tflm.unwrap_or(0),
        total.arena_bytes
    );
    debug::exit(if total.agrees() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {}
}
