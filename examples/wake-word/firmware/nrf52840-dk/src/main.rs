//! The wake-word example on the nRF52840-DK, with a PDM microphone: clock on P0.26, data on P0.27, its channel pin on ground. LED 1 is lit for a
//! second where "hey kiln" was heard. `cargo run --release` flashes it.
#![no_std]
#![no_main]

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_nrf::config::HfclkSource;
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_nrf::pdm::{self, Frequency, Pdm, Ratio, SamplerState};
use embassy_nrf::{bind_interrupts, peripherals};
use embassy_time::Instant;
use fixed::types::I7F1;
use panic_probe as _;
use static_cell::ConstStaticCell;
use wake_word::{Listener, HOP};
use wake_word_firmware::Lamp;

bind_interrupts!(struct Irqs {
    PDM => pdm::InterruptHandler<peripherals::PDM>;
});

// Const-initialised: it never stands on the stack.
static LISTENER: ConstStaticCell<Listener> = ConstStaticCell::new(Listener::new());

// One is filled while the other is listened to.
static SAMPLES: ConstStaticCell<[[i16; HOP]; 2]> = ConstStaticCell::new([[0; HOP]; 2]);

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let mut clocks = embassy_nrf::config::Config::default();
    // The crystal: the microphone's clock is made of it.
    clocks.hfclk_source = HfclkSource::ExternalXtal;
    let p = embassy_nrf::init(clocks);

    let config = pdm::Config {
        // 1.28 MHz / 80 = 16 kHz.
        frequency: Frequency::_1280k,
        ratio: Ratio::Ratio80,
        // 20 dB: speech at a distance of a metre or two is then about as loud as in training.
        gain_left: I7F1::from_bits(40),
        ..pdm::Config::default()
    };
    let mut microphone = Pdm::new(p.PDM, Irqs, p.P0_26, p.P0_27, config);

    // The LED is lit when its pin is low.
    let mut led = Output::new(p.P0_13, Level::High, OutputDrive::Standard);
    let listener = LISTENER.take();
    let mut lamp = Lamp::default();
    defmt::info!("say: hey kiln");
    let listen = |samples: &[i16; HOP]| {
        let start = Instant::now();
        let heard = listener.hear(samples);
        if let Some(score) = heard {
            defmt::info!("heard (score {}); {} us for {} samples", score, start.elapsed().as_micros(), HOP);
        }
        led.set_level(if lamp.is_lit(heard.is_some()) { Level::Low } else { Level::High });
        SamplerState::Sampled
    };
    if let Err(error) = microphone.run_task_sampler(SAMPLES.take(), listen).await {
        defmt::error!("the microphone does not run: {}", error);
    }
}
