//! Messages on the debugger's console.
#![no_std]

use cortex_m as _;
use defmt_semihosting as _;

/// Logs 100 messages.
pub fn run() {
    for index in 0..100u32 {
        // Whatever DEFMT_LOG says.
        defmt::println!("message {=u32} of {=str}", index, "the model");
    }
}
