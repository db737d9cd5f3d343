//! The wake-digit example on an emulated Cortex-M4: it reads the held-out strip row by row, and prints what it hears.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;
use static_cell::ConstStaticCell;
use wake_digit::strip::{reported_with_tflm, rows, Tally};
use wake_digit::Reader;

// Const-initialised: it never stands on the stack.
static READER: ConstStaticCell<Reader> = ConstStaticCell::new(Reader::new());

#[entry]
fn main() -> ! {
    let reader = READER.take();
    let mut tally = Tally::default();
    let mut expected = reported_with_tflm();
    let mut agrees = true;

    for (row, ink) in rows().enumerate() {
        if let Some(score) = reader.row(ink) {
            tally.count(row);
            agrees &= expected.next() == Some(row);
            if tally.heard + tally.false_alarms <= 10 {
                hprintln!("row {:4}: heard (score {:.2})", row, score);
            }
        }
    }
    agrees &= expected.next().is_none();

    hprintln!("{} rows: {} of {} heard", rows().len(), tally.heard, Tally::wake_digits());
    hprintln!("{} false alarms", tally.false_alarms);
    hprintln!("TensorFlow Lite Micro's scores give {} reports", if agrees { "the same" } else { "OTHER" });
    debug::exit(if agrees && tally.is_good() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}
