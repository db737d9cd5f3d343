//! Firmware for the board esp32-c3: runs the model once, on the sample.
#![no_std]
#![no_main]

use {{crate_name}}::{sample, DigitsInt8};

use core::panic::PanicInfo;
use defmt_rtt as _;
use semihosting::process;
use static_cell::ConstStaticCell;

// What the boot loader looks for.
esp_bootloader_esp_idf::esp_app_desc!();

// Const-initialised: it never stands on the stack.
static MODEL: ConstStaticCell<DigitsInt8> = ConstStaticCell::new(DigitsInt8::new());

#[esp_hal::main]
fn main() -> ! {
    // The fastest clock: after reset it is a fraction of that.
    let config = esp_hal::Config::default().with_cpu_clock(esp_hal::clock::CpuClock::max());
    let _peripherals = esp_hal::init(config);
    let model = MODEL.take();

    // Here your input goes in:
    // model.input_mut() is a &mut [i8; 64], DigitsInt8::quantize_input(real) an element of it
    sample::write(model);
    model.invoke();
    // model.output() is a &[i8; 10], DigitsInt8::dequantize_output(element) a real value
    defmt::info!("output: {}", model.output());
    let right = sample::is_answered(model);
    let verdict = if right { "right" } else { "WRONG" };
    defmt::info!("the sample's answer is {}", verdict);

    // Ends `cargo run` with this status. Without a debugger it is a fault: firmware for the field goes on instead.
    process::exit(if right { 0 } else { 1 })
}

#[panic_handler]
fn panic(info: &PanicInfo) -> ! {
    defmt::error!("{}", defmt::Display2Format(info));
    process::exit(101)
}
