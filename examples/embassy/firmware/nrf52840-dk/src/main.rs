//! The Embassy example on the nRF52840-DK: LED 1 blinks evenly while the network computes. `cargo run --release` flashes it.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_digits::{classify, images, Digits};
use embassy_executor::Spawner;
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_time::{Duration, Instant, Ticker};
use panic_probe as _;
use static_cell::ConstStaticCell;

// Const-initialised: it never stands on the stack.
static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());

#[embassy_executor::main]
async fn main(spawner: Spawner) {
    let p = embassy_nrf::init(Default::default());
    spawner.spawn(blink(Output::new(p.P0_13, Level::Low, OutputDrive::Standard)).unwrap());
    let digits = DIGITS.take();
    for image in images().cycle() {
        let start = Instant::now();
        let seen = classify(digits, &image).await;
        defmt::info!("a {}, seen as {}, {} us", image.label, seen, start.elapsed().as_micros());
    }
}

/// Every 50 ms, and how late it was if it was late.
#[embassy_executor::task]
async fn blink(mut led: Output<'static>) {
    let period = Duration::from_millis(50);
    let mut ticker = Ticker::every(period);
    let mut due = Instant::now() + period;
    loop {
        ticker.next().await;
        led.toggle();
        let late = Instant::now().saturating_duration_since(due);
        if late > Duration::from_millis(5) {
            defmt::warn!("the LED was late by {} us", late.as_micros());
        }
        due += period;
    }
}
