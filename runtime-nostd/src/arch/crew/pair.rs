//! Two cores for one step: [`Crew`] is where they meet. It needs no interrupts, and of atomic operations only loads and stores, which all microcontrollers have.
//!
//! The core that runs the model *leads*. It posts a step under a number that no step before had. The core that helps reads the number, writes it to `joined`, and reads it
//! again: if it still is there, this core has the second part. The leading core computes the first part, takes the number away, and looks at `joined`: if its number is there, it
//! waits until the other core is done or has gone; otherwise it computes the second part, too. Each of the two writes before it reads what the other writes, in one order of all
//! (`SeqCst`). So either the helping core sees that the number is gone, or the leading core sees that the other has joined.

use super::Signal;
use core::ops::Range;
use core::ptr;
use core::sync::atomic::{fence, AtomicBool, AtomicPtr, AtomicUsize, Ordering};

/// Where two cores meet that compute a model together: one runs it with `invoke_on`, the other one [`help`](Crew::help)s.
///
/// Models have `invoke_on` that were compiled with the option `cores = 2`. Each step that is worth it is divided into two parts. The core that runs the model computes the first one, and the
/// other core, if it is there, the second one. Results are the same bits with and without it. Between two inferences the other core is free for other work.
///
/// A crew is a `static`. It needs no allocator, no operating system, no interrupt, and no instruction that compares and exchanges:
///
/// ```ignore
/// static CREW: kiln::Crew = kiln::Crew::new();
///
/// // On the second core:
/// CREW.help(|| true);
///
/// // On the first core:
/// model.invoke_on(&CREW);
/// ```
///
/// One model uses a crew at a time: another one that is invoked on it meanwhile runs alone. One core helps at a time. If a second one comes meanwhile, it does nothing until `idle` sends it away.
pub struct Crew {
    /// The number of the step that can be joined; 0 if there is none.
    posted: AtomicUsize,
    /// The step. It is read only by who has joined.
    step: AtomicPtr<Step<'static>>,
    /// The number of the step that the helping core has joined, and of the last one that it has done.
    joined: AtomicUsize,
    done: AtomicUsize,
    /// The number of the last step. Only who leads uses it.
    last: AtomicUsize,
    /// Whether a core helps, and whether it looks for a step just now.
    helps: AtomicBool,
    looks: AtomicBool,
    leader: TryLock,
    helper: TryLock,
    signal: &'static dyn Signal,
}

/// Cores that look again and again.
struct Looks;

impl Signal for Looks {}

/// How often a core looks for a step before it asks whether it should stay.
const LOOKS: usize = 1024;

/// Parts for each core.
pub(crate) const PARTS: usize = 1;

impl Crew {
    /// A crew of nobody yet.
    pub const fn new() -> Crew {
        Crew::with_signal(&Looks)
    }

    /// A crew of nobody yet, whose cores wait for each other that way.
    pub const fn with_signal(signal: &'static dyn Signal) -> Crew {
        Crew {
            posted: AtomicUsize::new(0),
            step: AtomicPtr::new(ptr::null_mut()),
            joined: AtomicUsize::new(0),
            done: AtomicUsize::new(0),
            last: AtomicUsize::new(0),
            helps: AtomicBool::new(false),
            looks: AtomicBool::new(false),
            leader: TryLock::new(),
            helper: TryLock::new(),
            signal,
        }
    }

    /// Computes parts of steps for as long as `idle` says. It is called again and again while there is nothing to do, and may do other work: meanwhile models run without this core.
    ///
    /// With a [`Signal`] that sleeps, it is called each time that core wakes without finding a step.
    pub fn help(&self, mut idle: impl FnMut() -> bool) {
        let Some(_only) = self.helper.try_lock() else {
            while idle() {}
            return;
        };
        self.helps.store(true, Ordering::SeqCst);
        let _gone = OnDrop(|| self.helps.store(false, Ordering::SeqCst));
        loop {
            {
                self.looks.store(true, Ordering::SeqCst);
                let _away = OnDrop(|| self.looks.store(false, Ordering::SeqCst));
                while let Some(number) = look(self) {
                    self.take_part(number);
                }
            }
            if !idle() {
                return;
            }
        }
    }

    /// How many cores help: none or one.
    pub fn helpers(&self) -> usize {
        usize::from(self.helps.load(Ordering::Relaxed))
    }

    /// Computes the second part of the step of that number, if it is still there. Only the core that has the lock `helper` calls it.
    fn take_part(&self, number: usize) {
        store(&self.joined, number);
        if self.posted.load(Ordering::SeqCst) != number {
            self.joined.store(0, Ordering::SeqCst);
            return;
        }
        let step = self.step.load(Ordering::Acquire);
        let _done = OnDrop(|| {
            self.done.store(number, Ordering::Release);
            self.signal.wake();
        });
        // SAFETY: the number was posted after the pointer to its step, which outlives its `Posted`. That takes the number away before it looks at `joined`. This core has written `joined` before it saw that
        // the number was there. All four are in the one order of `SeqCst`: so `Posted` sees that this core has joined, and waits until it has written `done`.
        unsafe { &*step }.share(1);
    }

    /// Has a step computed, with the help of the other core if it is there. Both parts are done when this returns, and nobody knows of the step any more.
    pub(crate) fn lead(&self, step: &Step<'_>) {
        let Some(_only) = self.leader.try_lock() else { return step.alone() };
        let number = self.last.load(Ordering::Relaxed).wrapping_add(1).max(1);
        self.last.store(number, Ordering::Relaxed);
        self.step.store(ptr::from_ref(step).cast_mut().cast(), Ordering::Release);
        self.posted.store(number, Ordering::SeqCst);
        let mut posted = Posted { crew: self, number, open: true };
        self.signal.wake();
        until_joined(self, number);
        step.share(0);
        if !posted.close() {
            step.share(1);
        }
        met();
    }
}

// The only functions that wait. Whoever measures a core leaves them out.

/// The number of a step that can be joined; `None` if there was none for a while.
#[inline(never)]
fn look(crew: &Crew) -> Option<usize> {
    let done = crew.done.load(Ordering::Relaxed);
    for _ in 0..LOOKS {
        let number = crew.posted.load(Ordering::SeqCst);
        if number != 0 && number != done {
            return Some(number);
        }
        crew.signal.wait();
    }
    None
}

/// Waits for the core that looks: it sees a posted step at once.
#[inline(never)]
fn until_joined(crew: &Crew, number: usize) {
    while crew.joined.load(Ordering::SeqCst) != number && crew.looks.load(Ordering::SeqCst) {
        core::hint::spin_loop();
    }
}

/// Whether a step that was taken away had been joined. Waits until it is done then.
#[inline(never)]
fn until_done(crew: &Crew, number: usize) -> bool {
    while crew.joined.load(Ordering::SeqCst) == number {
        if crew.done.load(Ordering::Acquire) == number {
            return true;
        }
        core::hint::spin_loop();
    }
    false
}

/// Marks the moment when both parts are done, for measurements: each core has done what it does for the step.
#[inline(never)]
fn met() {
    core::hint::black_box(());
}

/// Writes before what follows reads. The order of `SeqCst` alone says so; QEMU, on x86, keeps it between a release and an acquire only where there is a fence.
fn store(to: &AtomicUsize, value: usize) {
    to.store(value, Ordering::SeqCst);
    fence(Ordering::SeqCst);
}

/// A step that can be joined. When it is dropped, also where a core panics, nobody has the step any more.
struct Posted<'a> {
    crew: &'a Crew,
    number: usize,
    open: bool,
}

impl Posted<'_> {
    /// Takes the step away, and says whether the other core has computed its part. If it is at that, this waits for it.
    fn close(&mut self) -> bool {
        let crew = self.crew;
        self.open = false;
        store(&crew.posted, 0);
        until_done(crew, self.number)
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        if self.open {
            self.close();
        }
    }
}

impl Default for Crew {
    fn default() -> Self {
        Crew::new()
    }
}

impl core::fmt::Debug for Crew {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Crew").field("helpers", &self.helpers()).finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Crew {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Crew {{ helpers: {=usize} }}", self.helpers());
    }
}

/// Calls a function when it is dropped, also where a core panics.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A lock that nobody waits for.
///
/// It needs only loads and stores, as Cortex-M0 has no others. Whoever wants it writes a number of its own to `wants`, finds nobody in `has`, writes itself there, and finds `wants` unchanged. If two are there at
/// the same time, the second one to write `wants` did so after the first one, which then finds it changed, or the second one finds the first one in `has`. (L. Lamport, A Fast Mutual Exclusion Algorithm, 1987.)
///
/// If two collide, both may go without it, and one of them may stay in `has`. Then nobody gets it any more: nothing but time is lost.
struct TryLock {
    wants: AtomicUsize,
    has: AtomicUsize,
}

impl TryLock {
    const fn new() -> TryLock {
        TryLock { wants: AtomicUsize::new(0), has: AtomicUsize::new(0) }
    }

    /// The lock, if nobody has it.
    fn try_lock(&self) -> Option<OnDrop<impl Fn() + '_>> {
        let mark = 0u8;
        // No two calls at the same time have it: it is on the stack of each.
        let own = ptr::from_ref(core::hint::black_box(&mark)) as usize;
        store(&self.wants, own);
        if self.has.load(Ordering::SeqCst) != 0 {
            return None;
        }
        store(&self.has, own);
        (self.wants.load(Ordering::SeqCst) == own).then(|| OnDrop(|| self.has.store(0, Ordering::SeqCst)))
    }
}

/// A step in two parts.
pub(crate) struct Step<'a> {
    /// Computes some units in the workspace of that index.
    compute: &'a (dyn Fn(usize, Range<usize>) + Sync),
    units: usize,
    parts: usize,
}

impl<'a> Step<'a> {
    /// A step of so many units, in one part or two, the first of which is not shorter. `compute` is called for each part once, at the same time only with workspaces of which each is one call's.
    pub(crate) fn new(
        units: usize,
        parts: usize,
        _most: usize,
        compute: &'a (dyn Fn(usize, Range<usize>) + Sync),
    ) -> Step<'a> {
        Step { compute, units, parts }
    }

    /// Computes a part, in the workspace of its index.
    fn share(&self, part: usize) {
        let first = if self.parts < 2 { self.units } else { self.units.div_ceil(2) };
        let units = if part == 0 { 0..first } else { first..self.units };
        if !units.is_empty() {
            (self.compute)(part, units);
        }
    }

    /// Computes both parts.
    fn alone(&self) {
        self.share(0);
        self.share(1);
    }
}

#[cfg(all(test, not(target_family = "wasm")))]
mod tests {
    extern crate std;

    use super::*;
    use std::sync::atomic::AtomicU64;
    use std::sync::Barrier;
    use std::thread;

    /// Has another thread help while `lead` runs.
    fn with_help(crew: &Crew, lead: impl FnOnce()) {
        let leave = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                crew.help(|| {
                    thread::yield_now();
                    !leave.load(Ordering::Relaxed)
                });
            });
            while crew.helpers() == 0 {
                thread::yield_now();
            }
            lead();
            leave.store(true, Ordering::Relaxed);
        });
        assert_eq!(crew.helpers(), 0);
    }

    #[test]
    fn a_million_rendezvous() {
        let crew = Crew::new();
        let rounds: u64 = if cfg!(miri) { 60 } else { 1_000_000 };
        let sums = [AtomicU64::new(0), AtomicU64::new(0)];
        with_help(&crew, || {
            for round in 0..rounds {
                let units = 1 + (round % 7) as usize;
                // What the leading thread writes before a step, the other one reads in it, and the other way round afterwards.
                let mut seen = [round, 0, 0];
                let [given, first, second] = &mut seen;
                let results = [AtomicU64::new(0), AtomicU64::new(0)];
                let compute = |part: usize, range: Range<usize>| {
                    results[part].store(*given * 10 + range.len() as u64, Ordering::Relaxed);
                    sums[part].fetch_add(range.len() as u64, Ordering::Relaxed);
                };
                crew.lead(&Step::new(units, 2, 2, &compute));
                (*first, *second) = (results[0].load(Ordering::Relaxed), results[1].load(Ordering::Relaxed));
                let halves = [units.div_ceil(2), units / 2].map(|len| len as u64);
                assert_eq!(*first, round * 10 + halves[0]);
                assert_eq!(*second, if halves[1] == 0 { 0 } else { round * 10 + halves[1] });
            }
        });
        let all: u64 = (0..rounds).map(|round| 1 + round % 7).sum();
        assert_eq!(sums.iter().map(|sum| sum.load(Ordering::Relaxed)).sum::<u64>(), all);
    }

    #[test]
    fn both_compute_at_the_same_time() {
        let crew = Crew::new();
        // Nobody gets past it alone.
        let barrier = Barrier::new(2);
        with_help(&crew, || {
            for _ in 0..10 {
                // The other thread may be away, and leave both parts to this one.
                while !crew.looks.load(Ordering::SeqCst) {
                    thread::yield_now();
                }
                let helped = AtomicBool::new(false);
                let leader = thread::current().id();
                let compute = |part: usize, _: Range<usize>| {
                    let other = thread::current().id() != leader;
                    helped.fetch_or(part == 1 && other, Ordering::Relaxed);
                    if part == 0 && crew.joined.load(Ordering::SeqCst) == crew.last.load(Ordering::SeqCst)
                        || other
                    {
                        barrier.wait();
                    }
                };
                crew.lead(&Step::new(2, 2, 2, &compute));
            }
        });
    }

    #[test]
    fn helpers_come_and_go() {
        let crew = Crew::new();
        let rounds = if cfg!(miri) { 30 } else { 20_000 };
        let leave = AtomicBool::new(false);
        let done = AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !leave.load(Ordering::Relaxed) {
                        let mut turns = 3;
                        crew.help(|| {
                            turns -= 1;
                            thread::yield_now();
                            turns > 0
                        });
                    }
                });
            }
            for _ in 0..rounds {
                let count = |_: usize, part: Range<usize>| {
                    done.fetch_add(part.len(), Ordering::Relaxed);
                };
                crew.lead(&Step::new(5, 2, 2, &count));
            }
            leave.store(true, Ordering::Relaxed);
        });
        assert_eq!(done.into_inner(), 5 * rounds);
    }

    #[test]
    fn one_leads_at_a_time() {
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
    fn a_lock_is_one_thread_s() {
        let (lock, inside) = (TryLock::new(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    for _ in 0..if cfg!(miri) { 40 } else { 100_000 } {
                        if let Some(_mine) = lock.try_lock() {
                            assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "one at a time");
                            inside.fetch_sub(1, Ordering::SeqCst);
                        }
                    }
                });
            }
        });
        let lock = TryLock::new();
        {
            let first = lock.try_lock();
            assert!(first.is_some() && lock.try_lock().is_none());
        }
        assert!(lock.try_lock().is_some());
    }

    #[test]
    fn a_step_without_help_is_whole() {
        let done = AtomicUsize::new(0);
        let count = |_: usize, part: Range<usize>| {
            done.fetch_add(part.len(), Ordering::Relaxed);
        };
        Crew::new().lead(&Step::new(9, 2, 2, &count));
        Crew::new().lead(&Step::new(9, 1, 2, &count));
        assert_eq!(done.into_inner(), 18);
    }
}
