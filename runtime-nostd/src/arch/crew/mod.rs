//! Several cores for one step: [`Crew`] is where they meet, and [`parts`] divides a step.
//!
//! On hosts a crew has any number of threads, which take parts as they come ([`threads`]). On microcontrollers it is one other core, which computes the second of two
//! parts ([`pair`]).
#![allow(unsafe_code)]

#[cfg(any(test, all(target_os = "none", target_pointer_width = "32")))]
// Hosts test it, and have no other use for it.
#[cfg_attr(test, allow(unreachable_pub, dead_code))]
pub(crate) mod pair;
pub(crate) mod parts;
#[cfg(not(all(target_os = "none", target_pointer_width = "32")))]
pub(crate) mod threads;

#[cfg(all(target_os = "none", target_pointer_width = "32"))]
pub use pair::Crew;
#[cfg(all(target_os = "none", target_pointer_width = "32"))]
pub(crate) use pair::{Step, PARTS};
#[cfg(not(all(target_os = "none", target_pointer_width = "32")))]
pub use threads::Crew;
#[cfg(not(all(target_os = "none", target_pointer_width = "32")))]
pub(crate) use threads::{Step, PARTS};

/// How two cores wait for each other. A chip's crate implements it with the instructions or registers of the chip; by default they look again and again.
///
/// Results do not depend on it, and a core may wake for any other reason. But a core that sleeps in `wait` and that no `wake` of the other core wakes keeps that one waiting for ever.
///
/// ```ignore
/// struct Events;
///
/// impl kiln::Signal for Events {
///     fn wait(&self) {
///         cortex_m::asm::wfe();
///     }
///     fn wake(&self) {
///         cortex_m::asm::sev();
///     }
/// }
///
/// static CREW: kiln::Crew = kiln::Crew::with_signal(&Events);
/// ```
pub trait Signal: Sync {
    /// Waits until the other core may have called [`wake`](Signal::wake), also if it did so since the last wait. May return at any time.
    fn wait(&self) {
        core::hint::spin_loop();
    }

    /// Wakes the other core, if it waits.
    fn wake(&self) {}
}
