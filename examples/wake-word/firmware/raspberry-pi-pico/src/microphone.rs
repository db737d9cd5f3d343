//! An I²S microphone at a state machine of the PIO, which makes both clocks and takes 24 bits of the left channel.

use embassy_rp::dma::{self, Transfer};
use embassy_rp::gpio::Pull;
use embassy_rp::pio::program::pio_asm;
use embassy_rp::pio::{
    Common, Config, Direction, FifoJoin, PioPin, ShiftConfig, ShiftDirection, StateMachine,
};
use embassy_rp::pio_programs::clock_divider::calculate_pio_clock_divider;
use embassy_rp::{peripherals::PIO0, Peri};

const SAMPLE_RATE: u32 = 16_000;

/// Of the state machine, for a sample: 64 bits, and two for each.
const CYCLES: u32 = 128;

/// Of a sample.
const BITS: u32 = 24;

pub struct Microphone<'d> {
    machine: StateMachine<'d, PIO0, 0>,
    channel: dma::Channel<'d>,
}

impl<'d> Microphone<'d> {
    /// `select` has the number of `clock` plus one.
    pub fn new(
        common: &mut Common<'d, PIO0>,
        mut machine: StateMachine<'d, PIO0, 0>,
        channel: dma::Channel<'d>,
        data: Peri<'d, impl PioPin>,
        clock: Peri<'d, impl PioPin>,
        select: Peri<'d, impl PioPin>,
    ) -> Self {
        // Bit 0 of `side` is the clock, bit 1 the word select. The microphone puts a bit out when the clock falls; it is taken when the clock rises.
        let program = pio_asm!(
            ".side_set 2",
            "    set x, 23      side 0b00", // The word select falls: the left channel.
            "    nop            side 0b01", // Its first bit comes one clock later.
            "    nop            side 0b00",
            "bits:",
            "    in pins, 1     side 0b01",
            "    jmp x-- bits   side 0b00",
            "    set x, 5       side 0b01", // Clocks 25 to 31 have no bits.
            "rest:",
            "    nop            side 0b00",
            "    jmp x-- rest   side 0b01",
            "    set x, 30      side 0b10", // The right channel: 32 clocks of a microphone that is not there.
            "    nop            side 0b11",
            "right:",
            "    nop            side 0b10",
            "    jmp x-- right  side 0b11",
        );
        let mut data = common.make_pio_pin(data);
        // Between its bits the microphone leaves the line alone.
        data.set_pull(Pull::Down);
        let (clock, select) = (common.make_pio_pin(clock), common.make_pio_pin(select));
        let mut config = Config::default();
        config.use_program(&common.load_program(&program.program), &[&clock, &select]);
        config.set_in_pins(&[&data]);
        config.clock_divider = calculate_pio_clock_divider(SAMPLE_RATE * CYCLES);
        config.shift_in =
            ShiftConfig { threshold: BITS as u8, direction: ShiftDirection::Left, auto_fill: true };
        // Eight samples, half a millisecond, for the next transfer to begin.
        config.fifo_join = FifoJoin::RxOnly;
        machine.set_config(&config);
        machine.set_pin_dirs(Direction::In, &[&data]);
        machine.set_pin_dirs(Direction::Out, &[&clock, &select]);
        machine.set_enable(true);
        Microphone { machine, channel }
    }

    /// Fills the words with the next samples, while other code runs.
    pub fn fill<'a>(&'a mut self, words: &'a mut [u32]) -> Transfer<'a> {
        self.machine.rx().dma_pull(&mut self.channel, words, false)
    }
}

/// Samples of the microphone's words, 24 dB louder: speech at a distance of a metre or two is then about as loud as in training.
pub fn to_samples<const N: usize>(words: &[u32; N], samples: &mut [i16; N]) {
    const LOUDER: u32 = 4;
    for (sample, &word) in samples.iter_mut().zip(words) {
        let value = (word << (32 - BITS)) as i32 >> (16 - LOUDER);
        *sample = value.clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
    }
}
