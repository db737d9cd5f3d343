//! Cycles of a real processor.
//!
//! The cycle counter of the debug unit (DWT; "Armv7-M Architecture Reference Manual", C1.8) where the core has one that counts, otherwise the
//! system timer (SysTick), whose 24 bits an interrupt extends.
use core::sync::atomic::{AtomicU32, Ordering};
use cortex_m_rt::exception;

const DEMCR: *mut u32 = 0xe000_edfc as *mut u32;
const DEMCR_TRCENA: u32 = 1 << 24;
const DWT_CTRL: *mut u32 = 0xe000_1000 as *mut u32;
const DWT_CYCCNT: *mut u32 = 0xe000_1004 as *mut u32;
/// On a Cortex-M7, the unit ignores writes until this is written to its lock.
const DWT_LAR: *mut u32 = 0xe000_1fb0 as *mut u32;
const UNLOCK: u32 = 0xc5ac_ce55;

const SYST_CSR: *mut u32 = 0xe000_e010 as *mut u32;
const SYST_RVR: *mut u32 = 0xe000_e014 as *mut u32;
const SYST_CVR: *mut u32 = 0xe000_e018 as *mut u32;
/// On, with interrupt, at the processor's clock.
const SYST_ON: u32 = 0b111;
const SYST_TOP: u32 = 0x00ff_ffff;

/// How often SysTick has come to zero.
static WRAPS: AtomicU32 = AtomicU32::new(0);

/// A running counter.
#[derive(Clone, Copy)]
pub(crate) enum Counter {
    /// Counts up, in 32 bits.
    Dwt,
    /// Counts down, in 24 bits.
    SysTick,
}

impl Counter {
    /// Starts the better of the two.
    pub(crate) fn start() -> Self {
        // SAFETY: these are registers of every Cortex-M core (those of DWT read as zero where it is missing), and nothing else
        // in the firmware uses them.
        let counts = unsafe {
            DEMCR.write_volatile(DEMCR.read_volatile() | DEMCR_TRCENA);
            DWT_LAR.write_volatile(UNLOCK);
            DWT_CTRL.write_volatile(DWT_CTRL.read_volatile() | 1);
            let before = DWT_CYCCNT.read_volatile();
            DWT_CYCCNT.read_volatile() != before
        };
        if counts {
            return Counter::Dwt;
        }
        // SAFETY: as above, and the interrupt's handler is below.
        unsafe {
            SYST_RVR.write_volatile(SYST_TOP);
            SYST_CVR.write_volatile(0);
            SYST_CSR.write_volatile(SYST_ON);
        }
        Counter::SysTick
    }

    /// The one that was started.
    pub(crate) fn running() -> Self {
        // SAFETY: as above; reading clears a flag that nobody looks at.
        match unsafe { SYST_CSR.read_volatile() } & 1 {
            0 => Counter::Dwt,
            _ => Counter::SysTick,
        }
    }

    /// Cycles since some moment. Differences are right as long as they are below 2³² (DWT) or 2⁵⁶ (SysTick).
    pub(crate) fn now(self) -> u64 {
        match self {
            // SAFETY: a read of a register without effects.
            Counter::Dwt => u64::from(unsafe { DWT_CYCCNT.read_volatile() }),
            Counter::SysTick => loop {
                let wraps = WRAPS.load(Ordering::Relaxed);
                // SAFETY: as above.
                let left = unsafe { SYST_CVR.read_volatile() };
                if WRAPS.load(Ordering::Relaxed) == wraps {
                    // One more than the top from one zero to the next.
                    break (u64::from(wraps) << 24) + u64::from(SYST_TOP - left);
                }
            },
        }
    }

    /// Cycles from `start` to now.
    pub(crate) fn since(self, start: u64) -> u64 {
        let now = self.now();
        match self {
            Counter::Dwt => u64::from((now as u32).wrapping_sub(start as u32)),
            Counter::SysTick => now.wrapping_sub(start),
        }
    }
}

#[exception]
fn SysTick() {
    // Not `fetch_add`, which Armv6-M lacks: nobody else writes.
    WRAPS.store(WRAPS.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
}
