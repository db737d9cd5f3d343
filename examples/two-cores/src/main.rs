//! Two cores compute one model: a core runs the model, another one helps with each large step. Between two inferences the second core does other work.
#![no_std]
#![no_main]

mod second_core;

use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::asm;
use cortex_m_semihosting::{debug, hprintln};
use kiln::post::argmax;
use kiln::{Crew, Signal};
use panic_semihosting as _;
use static_cell::ConstStaticCell;

kiln::include_model!(pub Digits = "../embassy/models/digits32_int8.tflite", cores = 2);

/// Pixels of an image: 32 rows of 32.
const PIXELS: usize = 1024;

static IMAGES: &[u8] = include_bytes!("../../embassy/firmware/data/images.bin");
static LABELS: &[u8] = include_bytes!("../../embassy/firmware/data/labels.bin");

static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());

/// Where the cores meet.
static CREW: Crew = Crew::with_signal(&Events);

/// How Arm's cores wait for each other: `WFE` sleeps until the other core's `SEV`.
struct Events;

impl Signal for Events {
    fn wait(&self) {
        asm::wfe();
    }

    fn wake(&self) {
        // What was written before is seen before the event.
        asm::dsb();
        asm::sev();
    }
}

/// Turns of the second core's other work.
static TURNS: AtomicU32 = AtomicU32::new(0);

fn help() -> ! {
    loop {
        CREW.help(|| {
            TURNS.fetch_add(1, Ordering::Relaxed);
            true
        });
    }
}

#[cortex_m_rt::entry]
fn main() -> ! {
    let digits = DIGITS.take();
    // SAFETY: this is the first thing that is done with it.
    unsafe { second_core::start(help) };
    while CREW.helpers() == 0 {}

    let (mut right, mut same) = (0, true);
    for (pixels, &label) in IMAGES.chunks_exact(PIXELS).zip(LABELS) {
        write(digits, pixels);
        digits.invoke_on(&CREW);
        let together = *digits.output();

        write(digits, pixels);
        digits.invoke();
        same &= together == *digits.output();

        let seen = argmax(&together).map_or(u8::MAX, |best| best.index as u8);
        hprintln!("a {}, seen as {}", label, seen);
        right += usize::from(seen == label);
    }
    let turns = TURNS.load(Ordering::Relaxed);
    hprintln!("{} of {} right, the same bits with one core and with two: {}", right, LABELS.len(), same);
    hprintln!("turns of the second core's other work: {}", turns);
    let good = same && right + 1 >= LABELS.len() && turns > 0;
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
    loop {
        asm::nop();
    }
}

fn write(digits: &mut Digits, pixels: &[u8]) {
    for (x, &pixel) in digits.input_mut().iter_mut().zip(pixels) {
        *x = pixel as i8;
    }
}
