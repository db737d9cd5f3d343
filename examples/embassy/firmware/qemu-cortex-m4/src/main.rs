//! The Embassy example on an emulated Cortex-M4. Emulators keep no time: another task wants to run all the time, and its turns are counted.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m_semihosting::{debug, hprintln};
use embassy_digits::{classify, classify_in_one_go, images, Digits};
use embassy_executor::Spawner;
use panic_semihosting as _;
use static_cell::ConstStaticCell;

// Const-initialised: it never stands on the stack.
static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());

/// Turns of the other task.
static TURNS: AtomicU32 = AtomicU32::new(0);

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    spawner.spawn(other().unwrap());
    let digits = DIGITS.take();

    let (mut right, mut same, mut fewest) = (0, true, u32::MAX);
    for image in images() {
        let before = TURNS.load(Ordering::Relaxed);
        let seen = classify(digits, &image).await;
        let turns = TURNS.load(Ordering::Relaxed) - before;

        let in_one_go = classify_in_one_go(digits, &image);
        let none = TURNS.load(Ordering::Relaxed) - before == turns;

        hprintln!("a {}, seen as {}; turns of the other task: {}", image.label, seen, turns);
        right += usize::from(seen == image.label);
        same &= seen == in_one_go && none;
        fewest = fewest.min(turns);
    }
    hprintln!("{} of {} right; at least {} turns an inference", right, images().len(), fewest);

    // One turn after each of the network's steps, in each of which a layer is computed.
    let good = same && right + 1 >= images().len() && fewest >= 8;
    debug::exit(if good { debug::EXIT_SUCCESS } else { debug::EXIT_FAILURE });
}

/// Stands for all else that a firmware does.
#[embassy_executor::task]
async fn other() {
    loop {
        TURNS.fetch_add(1, Ordering::Relaxed);
        embassy_digits::yield_now().await;
    }
}
