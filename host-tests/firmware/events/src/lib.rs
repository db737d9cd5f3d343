//! Runs a model once and tells about its layers over defmt. `host-tests/tests/events.rs` writes the `main` around it and reads the frames.
#![no_std]

mod formats;

use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m::peripheral::{syst::SystClkSource, SYST};
use cortex_m::Peripherals;
use defmt_semihosting as _;
use kiln::events::{observe, to_defmt, Observer};
use kiln::post::{Detection, Exponential, Labels, Rect};
use kiln::Model;

static OBSERVER: Observer = Observer { clock: cycles, sink: to_defmt };

/// Most of what the SysTick timer counts to.
const PERIOD: u32 = 1 << 24;

/// Tells about the model and its layers: one inference on bytes that `host-tests/tests/events.rs` knows, too.
pub fn run<M: Model>(model: &mut M) {
    let Some(Peripherals { SYST: mut timer, .. }) = Peripherals::take() else { return };
    timer.set_clock_source(SystClkSource::Core);
    timer.set_reload(PERIOD - 1);
    timer.clear_current();
    timer.enable_counter();

    defmt::println!("{}", M::INFO);
    observe(&OBSERVER);
    let mut bytes = (0u32..).map(|i| (i.wrapping_mul(37).wrapping_add(11)) as u8);
    loop {
        for index in 0..M::INFO.inputs.len() {
            model.input_bytes_mut(index).iter_mut().zip(&mut bytes).for_each(|(to, byte)| *to = byte);
        }
        if model.invoke() {
            break;
        }
    }
    kiln::events::ignore();
    model.invoke();

    // What comes after the output can be printed, too.
    defmt::println!("{}", Labels(["silence", "yes"]).argmax(&[-3i8, 7]));
    let rect = Rect { left: 0.25, top: 0.5, right: 0.75, bottom: 1.0 };
    defmt::println!("{}", Detection { rect, class: 1, score: 0.5 });
    let mut smoothed = Exponential::<i8>::new(0.5);
    smoothed.push(&[2]);
    defmt::println!("{}", smoothed);

    // Samples as well.
    kiln::record!(kiln::record::to_defmt, "mic", &[1i16, -2, 300]);
}

/// Counts up. QEMU has no cycle counter of the DWT, but a SysTick timer, of 24 bits.
fn cycles() -> u32 {
    static LAST: AtomicU32 = AtomicU32::new(0);
    let last = LAST.load(Ordering::Relaxed);
    let elapsed = PERIOD - 1 - SYST::get_current();
    let now = (last & !(PERIOD - 1)) | elapsed;
    let now = if now < last { now.wrapping_add(PERIOD) } else { now };
    LAST.store(now, Ordering::Relaxed);
    now
}
