//! The wake-word example on an emulated Cortex-M4: it listens to the clips as one stream, and prints what it hears.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::{debug, hprintln};
use panic_semihosting as _;
use static_cell::ConstStaticCell;
use wake_word::clips::{Tally, CLIPS};
use wake_word::{Listener, HOP};

// Const-initialised: it never stands on the stack.
static LISTENER: ConstStaticCell<Listener> = ConstStaticCell::new(Listener::new());

#[entry]
fn main() -> ! {
    let listener = LISTENER.take();
    let mut tally = Tally::default();

    for (index, clip) in CLIPS.iter().enumerate() {
        let mut samples = 0;
        hprintln!("{}", clip.name);
        for hop in clip.hops() {
            samples += HOP;
            if let Some(score) = listener.hear(&hop) {
                tally.count(index, samples);
                hprintln!("  {} ms: heard (score {:.2})", samples / 16, score);
            }
        }
    }

    hprintln!("{} of {} heard, {} false accepts", tally.heard, Tally::wake_words(), tally.false_accepts);
    debug::exit(if tally == Tally::expected() { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        cortex_m::asm::wfi();
    }
}
