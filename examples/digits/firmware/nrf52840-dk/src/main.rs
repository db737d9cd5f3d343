//! The digits example on the nRF52840-DK. It prints through the debug probe: `cargo run --release` flashes it and shows the output.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::debug;
use defmt_rtt as _;
use panic_probe as _;

#[entry]
fn main() -> ! {
    let total = digits_firmware::run(|answer| {
        if answer.is_right() {
            defmt::debug!("image {}: right, {}", answer.image, answer.seen);
        } else {
            defmt::info!(
                "image {}: {}, seen as {}, otherwise {}",
                answer.image,
                answer.written,
                answer.seen,
                answer.otherwise
            );
        }
    });
    let (percent, hundredths) = (total.accuracy() / 100, total.accuracy() % 100);
    defmt::info!("{} of {} right, {}.{:02} %", total.right, total.images, percent, hundredths);
    defmt::info!("TensorFlow Lite Micro: {} right; arena {} B", total.right_with_tflm, total.arena_bytes);
    // Ends `probe-rs run` with this status.
    debug::exit(if total.agrees() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}
