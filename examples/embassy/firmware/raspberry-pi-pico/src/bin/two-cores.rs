//! The same network on both cores of the Raspberry Pi Pico: `cargo run --release --bin two-cores` flashes it, and prints how long an image takes on one core and on two.
#![no_std]
#![no_main]

use cortex_m::asm;
use defmt_rtt as _;
use embassy_digits::images;
use embassy_executor::Spawner;
use embassy_rp::multicore::{spawn_core1, Stack};
use embassy_time::Instant;
use kiln::post::argmax;
use kiln::{Crew, Signal};
use panic_probe as _;
use static_cell::ConstStaticCell;

kiln::include_model!(pub Digits = "../../models/digits32_int8.tflite", cores = 2);

static DIGITS: ConstStaticCell<Digits> = ConstStaticCell::new(Digits::new());
static STACK: ConstStaticCell<Stack<4096>> = ConstStaticCell::new(Stack::new());

/// Where the cores meet.
static CREW: Crew = Crew::with_signal(&Events);

/// How the cores wait for each other: `WFE` sleeps until the other core's `SEV`.
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

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let p = embassy_rp::init(Default::default());
    let digits = DIGITS.take();
    spawn_core1(p.CORE1, STACK.take(), || loop {
        CREW.help(|| true);
    });
    for image in images().cycle() {
        let [alone, together] = [false, true].map(|helped| {
            embassy_digits::write(digits.input_mut(), &image);
            let start = Instant::now();
            if helped {
                digits.invoke_on(&CREW);
            } else {
                digits.invoke();
            }
            (start.elapsed().as_micros(), argmax(digits.output()).map(|best| best.index))
        });
        defmt::info!(
            "a {}, seen as {}: {} us alone, {} us by two cores",
            image.label,
            together.1,
            alone.0,
            together.0
        );
    }
}
