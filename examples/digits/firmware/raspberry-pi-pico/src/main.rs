//! The digits example on the Raspberry Pi Pico. It prints through the debug probe: `cargo run --release` flashes it and shows the output.
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use cortex_m_semihosting::debug;
use defmt_rtt as _;
use panic_probe as _;

/// Second-stage boot loader, which the RP2040's ROM copies to RAM and runs.
#[link_section = ".boot2"]
#[used]
static BOOT2: [u8; 256] = rp2040_boot2::BOOT_LOADER_W25Q080;

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
