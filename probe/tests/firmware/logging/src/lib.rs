//! More messages than the log's buffer holds: the writer waits for the reader, who says that it does, so that none is lost.
#![no_std]

use cortex_m as _;
use defmt_rtt as _;

// Of a timer there is none: messages are counted.
defmt::timestamp!("{=u32}", {
    use core::sync::atomic::{AtomicU32, Ordering};
    static COUNT: AtomicU32 = AtomicU32::new(0);
    COUNT.fetch_add(1, Ordering::Relaxed)
});

/// Waits for a reader, then logs 500 messages.
pub fn run() {
    while !defmt_rtt::in_blocking_mode() {}
    for index in 0..500u32 {
        // Whatever DEFMT_LOG says.
        defmt::println!("message {=u32} of {=str}", index, "the model");
    }
}
