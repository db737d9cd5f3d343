//! Firmware for the board nrf52840-dk: runs the model once, on the sample.
#![no_std]
#![no_main]

use {{crate_name}}::{sample, DigitsInt8};

use cortex_m as _; // critical sections
use cortex_m_rt::entry;
use defmt_rtt as _;
use panic_probe as _;
use semihosting::process;
use static_cell::ConstStaticCell;

// Const-initialised: it never stands on the stack.
static MODEL: ConstStaticCell<DigitsInt8> = ConstStaticCell::new(DigitsInt8::new());

#[entry]
fn main() -> ! {
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
