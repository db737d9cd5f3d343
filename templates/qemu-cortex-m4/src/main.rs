//! Firmware for the board qemu-cortex-m4: runs the model once, on the sample.
#![no_std]
#![no_main]

use {{crate_name}}::{sample, DigitsInt8};

use cortex_m as _; // critical sections
use cortex_m_rt::entry;
use semihosting::{println, process};
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
    println!("output: {:?}", model.output());
    let right = sample::is_answered(model);
    let verdict = if right { "right" } else { "WRONG" };
    println!("the sample's answer is {}", verdict);

    // Ends `cargo run` with this status.
    process::exit(if right { 0 } else { 1 })
}
