//! Cycles of a real processor: the counter `mcycle` ("RISC-V Privileged Architecture", 3.1.10), or Espressif's own.
use core::arch::asm;

/// A running counter.
#[derive(Clone, Copy)]
pub(crate) struct Counter;

impl Counter {
    /// The one that was started.
    pub(crate) fn running() -> Self {
        Counter
    }
}

#[cfg(not(feature = "counter-esp32"))]
impl Counter {
    /// Lets it count: it may be stopped after reset.
    pub(crate) fn start() -> Self {
        // SAFETY: firmware runs in machine mode, where `mcountinhibit` may be written; bit 0 stops `mcycle`.
        unsafe { asm!("csrci mcountinhibit, 1", options(nomem, nostack)) };
        Counter
    }

    /// Cycles since some moment.
    pub(crate) fn now(self) -> u64 {
        loop {
            let (high, low, again): (u32, u32, u32);
            // SAFETY: reads of counters, without effects.
            unsafe {
                asm!(
                    "csrr {high}, mcycleh",
                    "csrr {low}, mcycle",
                    "csrr {again}, mcycleh",
                    high = out(reg) high,
                    low = out(reg) low,
                    again = out(reg) again,
                    options(nomem, nostack),
                );
            }
            if high == again {
                break u64::from(high) << 32 | u64::from(low);
            }
        }
    }

    /// Cycles from `start` to now.
    pub(crate) fn since(self, start: u64) -> u64 {
        self.now().wrapping_sub(start)
    }
}

/// "ESP32-C3 Technical Reference Manual", section 1.4; ESP32-C6 has the same: `mpcer` chooses what is counted, `mpcmr` lets it count, `mpccr` is the count of 32 bits.
#[cfg(feature = "counter-esp32")]
impl Counter {
    /// Lets it count cycles.
    pub(crate) fn start() -> Self {
        // SAFETY: registers that nothing else in the firmware uses.
        unsafe { asm!("csrwi 0x7e0, 1", "csrwi 0x7e1, 1", options(nomem, nostack)) };
        Counter
    }

    /// Cycles since some moment.
    pub(crate) fn now(self) -> u64 {
        let count: u32;
        // SAFETY: a read of a counter, without effects.
        unsafe { asm!("csrr {count}, 0x7e2", count = out(reg) count, options(nomem, nostack)) };
        count.into()
    }

    /// Cycles from `start` to now, if they are below 2³².
    pub(crate) fn since(self, start: u64) -> u64 {
        u64::from((self.now() as u32).wrapping_sub(start as u32))
    }
}
