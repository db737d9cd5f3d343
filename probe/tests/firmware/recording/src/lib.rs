//! Samples in the channel `kiln`, text in another one.
#![no_std]

use cortex_m as _;
use rtt_target::{rprintln, rtt_init, set_print_channel, ChannelMode};

/// Sends 100 blocks, more than the channel's buffer holds.
pub fn run() {
    let channels = rtt_init! {
        up: {
            0: { size: 256, mode: ChannelMode::BlockIfFull, name: "Terminal" }
            1: { size: 512, mode: ChannelMode::BlockIfFull, name: "kiln" }
        }
    };
    set_print_channel(channels.up.0);
    let mut frames = channels.up.1;
    for index in 0..100i16 {
        let mut send = |bytes: &[u8]| {
            frames.write(bytes);
        };
        kiln::record!(&mut send, "mic", &[index; 20]);
        rprintln!("block {}", index);
    }
}
