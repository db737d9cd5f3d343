//! The wake-word example on the Raspberry Pi Pico and the Pico 2, with an I²S microphone such as the INMP441: data on GPIO 2, bit clock on GPIO 3, word select on
//! GPIO 4, its channel pin on ground. The LED is lit for a second where "hey kiln" was heard. `cargo run --release` flashes it.
#![no_std]
#![no_main]

mod microphone;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_rp::gpio::{Level, Output};
use embassy_rp::peripherals::{DMA_CH0, PIO0};
use embassy_rp::pio::Pio;
use embassy_rp::{bind_interrupts, dma, pio};
use embassy_time::Instant;
use microphone::Microphone;
use panic_probe as _;
use static_cell::ConstStaticCell;
use wake_word::{Listener, HOP};
use wake_word_firmware::Lamp;

bind_interrupts!(struct Irqs {
    PIO0_IRQ_0 => pio::InterruptHandler<PIO0>;
    DMA_IRQ_0 => dma::InterruptHandler<DMA_CH0>;
});

// Const-initialised: they never stand on the stack.
static LISTENER: ConstStaticCell<Listener> = ConstStaticCell::new(Listener::new());
static WORDS: ConstStaticCell<[[u32; HOP]; 2]> = ConstStaticCell::new([[0; HOP]; 2]);

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let Pio { mut common, sm0, .. } = Pio::new(p.PIO0, Irqs);
    let channel = dma::Channel::new(p.DMA_CH0, Irqs);
    let mut microphone = Microphone::new(&mut common, sm0, channel, p.PIN_2, p.PIN_3, p.PIN_4);

    let mut led = Output::new(p.PIN_25, Level::Low);
    let listener = LISTENER.take();
    let mut samples = [0; HOP];
    let mut lamp = Lamp::default();
    defmt::info!("say: hey kiln");

    // One is filled while the other is listened to.
    let [mut filled, mut full] = WORDS.take().each_mut();
    loop {
        let filling = microphone.fill(filled);
        let start = Instant::now();
        microphone::to_samples(full, &mut samples);
        let heard = listener.hear(&samples);
        if let Some(score) = heard {
            defmt::info!("heard (score {}); {} us for {} samples", score, start.elapsed().as_micros(), HOP);
        }
        led.set_level(if lamp.is_lit(heard.is_some()) { Level::High } else { Level::Low });
        filling.await;
        core::mem::swap(&mut filled, &mut full);
    }
}
