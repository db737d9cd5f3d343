//! Several threads for one step: [`Crew`] is where they meet.
//!
//! A step in parts is on the stack of the thread that runs the model. Threads that help find it through a pointer, and count themselves before they follow it; the model's thread takes
//! the pointer away and waits until nobody is counted before it goes on.

use super::Signal;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Where threads meet that compute a model together: one runs it with `invoke_on`, others [`help`](Crew::help).
///
/// Models have `invoke_on` that were compiled with the option `cores`. The steps that are worth it are divided into parts, and whoever is there takes the next one; the model's own
/// thread takes parts, too, so that it never waits for somebody to come. Results are the same bits whoever comes.
///
/// Threads are the caller's: there is no pool of them, and a crew can be a `static`. One model uses a crew at a time: another one that is invoked on it meanwhile runs alone. With the
/// feature `std`, `Crew::of_threads` starts threads and ends them; otherwise, and in pools that there are:
///
/// ```
/// use kiln::Crew;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use std::thread;
///
/// static CREW: Crew = Crew::new();
/// static DONE: AtomicBool = AtomicBool::new(false);
///
/// let helper = thread::spawn(|| {
///     CREW.help(|| {
///         thread::yield_now();
///         !DONE.load(Ordering::Relaxed)
///     });
/// });
/// // Here `model.invoke_on(&CREW)`, as often as there are inputs.
/// DONE.store(true, Ordering::Relaxed);
/// helper.join().unwrap();
/// ```
#[derive(Debug)]
pub struct Crew {
    /// The step that has parts left, if there is one.
    step: AtomicPtr<Step<'static>>,
    /// Threads that may follow the pointer.
    inside: AtomicUsize,
    /// Threads that help.
    helpers: AtomicUsize,
    /// Whether a thread has a step for the crew.
    led: AtomicBool,
}

/// How often a thread looks for a step before it asks whether it should stay: some microseconds, as long as a step between two others may take.
const LOOKS: usize = 128;

/// Parts for each thread, at most: so that one that comes late finds something to do.
pub(crate) const PARTS: usize = 4;

impl Crew {
    /// A crew of nobody yet.
    pub const fn new() -> Crew {
        Crew {
            step: AtomicPtr::new(ptr::null_mut()),
            inside: AtomicUsize::new(0),
            helpers: AtomicUsize::new(0),
            led: AtomicBool::new(false),
        }
    }

    /// As [`new`](Crew::new): threads look for steps, and need no signal. So firmware with a crew compiles on hosts, too.
    pub const fn with_signal(_: &'static dyn Signal) -> Crew {
        Crew::new()
    }

    /// Calls `lead` with a crew of so many threads, which end with it, and returns what it returns. They are fewer where the system gives no more.
    ///
    /// The threads are busy all the time, but let others run while there is nothing to do: this is for inferences that follow each other.
    ///
    #[cfg_attr(feature = "macros", doc = "```")]
    #[cfg_attr(not(feature = "macros"), doc = "```ignore")]
    /// use kiln::Crew;
    /// # kiln::include_model!(Digits = "../examples/digits/models/digits_int8.tflite", cores = 2);
    ///
    /// let mut digits = Digits::new();
    /// let best = Crew::of_threads(1, |crew| {
    ///     digits.input_mut().fill(7);
    ///     digits.invoke_on(crew);
    ///     kiln::post::argmax(digits.output())
    /// });
    /// # assert!(best.is_some());
    /// ```
    #[cfg(feature = "std")]
    pub fn of_threads<R>(threads: usize, lead: impl FnOnce(&Crew) -> R) -> R {
        /// Tells the threads that they may leave, also where `lead` panics.
        struct Leave<'a>(&'a AtomicBool);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }

        let (crew, left) = (Crew::new(), AtomicBool::new(false));
        let help = || {
            crew.help(|| {
                std::thread::yield_now();
                !left.load(Ordering::Relaxed)
            });
        };
        std::thread::scope(|scope| {
            let _leave = Leave(&left);
            for _ in 0..threads {
                if std::thread::Builder::new().spawn_scoped(scope, help).is_err() {
                    break;
                }
            }
            lead(&crew)
        })
    }

    /// Takes parts of steps for as long as `idle` says, which is called again and again while there is nothing to do: it may let others run (`std::thread::yield_now`) or sleep. Whoever
    /// sleeps is missed until it wakes.
    ///
    /// Steps are divided by the number of threads that are here, and no more take part than the model was compiled for. More threads than processors that have nothing else to do make
    /// models slower: parts that such a thread has begun are waited for.
    pub fn help(&self, mut idle: impl FnMut() -> bool) {
        let _here = Here::new(&self.helpers);
        loop {
            for _ in 0..LOOKS {
                if !self.step.load(Ordering::Relaxed).is_null() {
                    self.take_part();
                }
                core::hint::spin_loop();
            }
            if !idle() {
                return;
            }
        }
    }

    /// How many threads help.
    pub fn helpers(&self) -> usize {
        self.helpers.load(Ordering::Relaxed)
    }

    /// Takes parts of the step that there is, if there still is one.
    fn take_part(&self) {
        let _inside = Here::new(&self.inside);
        let step = self.step.load(Ordering::SeqCst);
        if step.is_null() {
            return;
        }
        // SAFETY: `lead` puts a step there that outlives its `Led`, which takes the pointer away, then waits until `inside` is zero, and ends that wait with a write to `inside`. Writes to it have
        // one order: either this thread was counted before that write, which then had not found zero until this thread left; or behind it, and then sees that the pointer was taken away.
        let parts = unsafe { &*step };
        if let Some(slot) = claim(&parts.slots, parts.most) {
            parts.take(slot);
        }
        // Nothing is left of it, or for whom it is: nobody else need look. It is this one as long as this thread is inside.
        _ = self.step.compare_exchange(step, ptr::null_mut(), Ordering::SeqCst, Ordering::Relaxed);
    }

    /// Has a step computed, with the help of whoever is here. All of its parts are done when this returns, and nobody knows of it any more.
    pub(crate) fn lead(&self, step: &Step<'_>) {
        let others_do = self.led.swap(true, Ordering::Acquire);
        if others_do {
            return step.take(0);
        }
        let _led = Led(self);
        self.step.store(ptr::from_ref(step).cast_mut().cast(), Ordering::SeqCst);
        step.take(0);
    }
}

/// A step that a crew computes. When it is dropped, also where a thread panics, nobody has the step any more.
struct Led<'a>(&'a Crew);

impl Drop for Led<'_> {
    fn drop(&mut self) {
        let Led(crew) = self;
        crew.step.store(ptr::null_mut(), Ordering::SeqCst);
        // Whoever is inside has a part that takes microseconds, or none. What they wrote is seen from here on: each leaves with a release.
        let mut turn = 0usize;
        while crew.inside.load(Ordering::Relaxed) != 0 || crew.inside.fetch_add(0, Ordering::SeqCst) != 0 {
            turn = turn.wrapping_add(1);
            pause(turn);
        }
        crew.led.store(false, Ordering::Release);
    }
}

impl Default for Crew {
    fn default() -> Self {
        Crew::new()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Crew {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Crew {{ helpers: {=usize} }}", self.helpers());
    }
}

/// Waits a little, for the so many-th time.
#[cfg_attr(not(feature = "std"), allow(unused_variables))]
fn pause(turn: usize) {
    core::hint::spin_loop();
    #[cfg(feature = "std")]
    if turn % LOOKS == 0 {
        // Maybe this processor is what is waited for.
        std::thread::yield_now();
    }
}

/// One more in a count, until it is dropped.
struct Here<'a>(&'a AtomicUsize);

impl<'a> Here<'a> {
    fn new(count: &'a AtomicUsize) -> Here<'a> {
        count.fetch_add(1, Ordering::SeqCst);
        Here(count)
    }
}

impl Drop for Here<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

/// A step in parts.
pub(crate) struct Step<'a> {
    /// Computes some units in the workspace of that index.
    compute: &'a (dyn Fn(usize, Range<usize>) + Sync),
    units: usize,
    parts: usize,
    /// The next part.
    next: AtomicUsize,
    /// The next workspace, and how many there are. The first one is for the thread that leads.
    slots: AtomicUsize,
    most: usize,
}

impl<'a> Step<'a> {
    /// A step of so many units in so many parts, as even as can be, for `most` threads. `compute` is called for each part once, at the same time only with workspaces of which each is one
    /// call's.
    pub(crate) fn new(
        units: usize,
        parts: usize,
        most: usize,
        compute: &'a (dyn Fn(usize, Range<usize>) + Sync),
    ) -> Step<'a> {
        Step { compute, units, parts, next: AtomicUsize::new(0), slots: AtomicUsize::new(1), most }
    }

    /// Computes parts until none is left.
    fn take(&self, slot: usize) {
        let (even, longer) = (self.units / self.parts.max(1), self.units % self.parts.max(1));
        let start = |part: usize| part * even + part.min(longer);
        while let Some(part) = claim(&self.next, self.parts) {
            (self.compute)(slot, start(part)..start(part + 1));
        }
    }
}

/// The next number below `end`: nobody else gets it.
fn claim(counter: &AtomicUsize, end: usize) -> Option<usize> {
    // Beyond the end it grows by no more than there are threads, so that it never begins again.
    if counter.load(Ordering::Relaxed) >= end {
        return None;
    }
    Some(counter.fetch_add(1, Ordering::Relaxed)).filter(|&claimed| claimed < end)
}

#[cfg(test)]
mod tests {
    #[cfg(not(target_family = "wasm"))]
    extern crate std;

    use super::*;
    // WebAssembly has no threads of its own.
    #[cfg(not(target_family = "wasm"))]
    use std::{
        sync::{Barrier, Mutex},
        vec::Vec,
    };

    #[cfg(not(target_family = "wasm"))]
    #[test]
    fn a_part_goes_to_one_thread_and_to_each_thread_its_workspace() {
        let (crew, leave) = (Crew::new(), AtomicBool::new(false));
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| crew.help(|| !leave.load(Ordering::Relaxed)));
            }
            while crew.helpers() < 3 {
                std::thread::yield_now();
            }
            for round in 0..if cfg!(miri) { 12 } else { 200 } {
                let (units, parts, most) = (5 + round % 60, 1 + round % 13, 1 + round % 5);
                let done = Mutex::new(Vec::new());
                let busy: [AtomicBool; 5] = [const { AtomicBool::new(false) }; 5];
                let compute = |slot: usize, part: Range<usize>| {
                    assert!(slot < most && !busy[slot].swap(true, Ordering::SeqCst), "one call at a time");
                    done.lock().unwrap().extend(part);
                    assert!(busy[slot].swap(false, Ordering::SeqCst));
                };
                crew.lead(&Step::new(units, parts, most, &compute));
                let mut done = done.into_inner().unwrap();
                done.sort_unstable();
                assert!(done.into_iter().eq(0..units));
            }
            leave.store(true, Ordering::Relaxed);
        });
        assert_eq!(crew.helpers(), 0);
    }

    #[cfg(not(target_family = "wasm"))]
    #[test]
    fn threads_take_parts_at_the_same_time() {
        let (crew, leave) = (Crew::new(), AtomicBool::new(false));
        // Nobody gets past it alone.
        let barrier = Barrier::new(3);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| crew.help(|| !leave.load(Ordering::Relaxed)));
            }
            for _ in 0..10 {
                let compute = |_: usize, _: Range<usize>| {
                    barrier.wait();
                };
                crew.lead(&Step::new(3, 3, 3, &compute));
            }
            leave.store(true, Ordering::Relaxed);
        });
    }

    #[test]
    fn a_crew_has_one_step_at_a_time() {
        let crew = Crew::new();
        let inner = AtomicUsize::new(0);
        let count = |_: usize, part: Range<usize>| {
            inner.fetch_add(part.len(), Ordering::Relaxed);
        };
        let outer = |_: usize, _: Range<usize>| crew.lead(&Step::new(5, 2, 2, &count));
        crew.lead(&Step::new(2, 2, 2, &outer));
        assert_eq!(inner.into_inner(), 10);
    }

    #[test]
    fn a_claim_never_begins_again() {
        let counter = AtomicUsize::new(0);
        assert_eq!([claim(&counter, 2), claim(&counter, 2), claim(&counter, 2)], [Some(0), Some(1), None]);
        assert_eq!((claim(&counter, 2), counter.into_inner()), (None, 2));
    }
}
