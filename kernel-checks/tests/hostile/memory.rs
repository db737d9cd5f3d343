//! Memory of operands whose ends are seen: on Unix, pages that must not be touched lie directly before and behind each region, so that whoever leaves it is stopped by the processor.
//! Elsewhere, and where operands end inside of a region, bytes beside them are compared.
#![allow(unsafe_code)]

use std::alloc::Layout;
use std::cell::Cell;

/// Bytes of a region.
pub(crate) const BYTES: usize = if cfg!(miri) { 1 << 11 } else { 1 << 14 };

/// Bytes beside an operand that are compared.
const BESIDE: usize = 64;

/// What is in them.
const CANARY: u8 = 0xa5;

/// An element of operands.
///
/// # Safety
/// Every pattern of bits is a valid one, and there is no padding.
pub(crate) unsafe trait Plain: Copy + 'static {}

macro_rules! plain {
    ($($t:ty)*) => { $(
        // SAFETY: numbers have no invalid patterns and no padding.
        unsafe impl Plain for $t {}
    )* };
}
plain!(i8 u8 i16 u16 i32 u32 i64 u64 f32);

/// One region.
pub(crate) struct Region {
    start: *mut u8,
    bytes: usize,
}

/// Where an operand lies in its region.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    /// At its end: elements behind it are out of bounds.
    End,
    /// At its beginning: elements before it are out of bounds.
    Start,
}

impl Region {
    /// A region of zeros.
    pub(crate) fn new(bytes: usize) -> Self {
        Region { start: guarded(bytes), bytes }
    }

    /// How many elements there is place for.
    pub(crate) fn capacity<T: Plain>(&self) -> usize {
        self.bytes / size_of::<T>()
    }

    /// Elements that are only read. Nobody may have asked for cells of this region.
    pub(crate) fn constants<T: Plain>(&self, len: usize, place: Place) -> &[T] {
        let start = self.place::<T>(len, place);
        // SAFETY: the elements lie in the region (checked by `place`), aligned, and any bytes are valid; nothing writes to a region of constants while it is borrowed.
        unsafe { std::slice::from_raw_parts(start, len) }
    }

    /// Elements as cells, which may overlap with others of this region.
    pub(crate) fn cells<T: Plain>(&self, len: usize, place: Place) -> &[Cell<T>] {
        let start = self.place::<T>(len, place);
        // SAFETY: as above; all access is through cells.
        unsafe { std::slice::from_raw_parts(start.cast(), len) }
    }

    fn place<T: Plain>(&self, len: usize, place: Place) -> *mut T {
        assert!(len <= self.capacity::<T>());
        let bytes = len * size_of::<T>();
        let offset = match place {
            Place::Start => 0,
            Place::End => self.bytes - bytes,
        };
        assert!(offset % align_of::<T>() == 0);
        self.start.wrapping_add(offset).cast()
    }

    /// Writes every byte.
    pub(crate) fn fill(&mut self, mut byte: impl FnMut() -> u8) {
        for at in 0..self.bytes {
            // SAFETY: it lies in the region, which nobody borrows.
            unsafe { self.start.wrapping_add(at).write(byte()) };
        }
    }

    /// Marks the bytes beside an operand of so many bytes; `None` for an operand that has no bytes beside it in its region.
    pub(crate) fn mark(&self, bytes: usize, place: Place) -> Option<Beside> {
        let count = (self.bytes - bytes).min(BESIDE);
        let offset = match place {
            Place::Start => bytes,
            Place::End => self.bytes - bytes - count,
        };
        let beside = Beside { start: self.start.wrapping_add(offset), count };
        for at in 0..count {
            // SAFETY: the bytes lie in the region, and no operand of this call has them.
            unsafe { beside.start.wrapping_add(at).write(CANARY) };
        }
        (count > 0).then_some(beside)
    }
}

/// Bytes beside an operand.
pub(crate) struct Beside {
    start: *mut u8,
    count: usize,
}

impl Beside {
    /// Whether they are as they were.
    pub(crate) fn is_untouched(&self) -> bool {
        // SAFETY: the bytes lie in a region, which lives as long as the program.
        (0..self.count).all(|at| unsafe { self.start.wrapping_add(at).read() } == CANARY)
    }
}

/// Memory of parameters: they live until all of it is forgotten.
pub(crate) struct Kept {
    start: *mut u8,
    used: Cell<usize>,
}

impl Kept {
    pub(crate) fn new() -> Self {
        Kept { start: allocated(BYTES), used: Cell::new(0) }
    }

    /// Keeps a value. It is not dropped.
    #[allow(clippy::mut_from_ref)]
    pub(crate) fn keep<T: Copy>(&self, value: T) -> &T {
        let at = self.used.get().next_multiple_of(align_of::<T>());
        assert!(at + size_of::<T>() <= BYTES, "there are more parameters than there is place for");
        self.used.set(at + size_of::<T>());
        let place: *mut T = self.start.wrapping_add(at).cast();
        // SAFETY: the bytes are inside of the allocation, aligned, and no other value has them until `forget`, which borrows exclusively.
        unsafe {
            place.write(value);
            &*place
        }
    }

    pub(crate) fn forget(&mut self) {
        self.used.set(0);
    }
}

/// Zeroed memory that lives as long as the program.
fn allocated(bytes: usize) -> *mut u8 {
    let layout = Layout::from_size_align(bytes, 4096).unwrap();
    // SAFETY: the size is not 0.
    let start = unsafe { std::alloc::alloc_zeroed(layout) };
    assert!(!start.is_null(), "out of memory");
    start
}

/// The same between pages that must not be touched.
#[cfg(all(unix, not(miri)))]
fn guarded(bytes: usize) -> *mut u8 {
    // SAFETY: it only asks; and a new mapping overlies nothing, and the pages in its middle are made accessible where they have just been mapped.
    unsafe {
        let page = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        assert!(bytes % page == 0, "regions end with pages");
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        let start = libc::mmap(std::ptr::null_mut(), bytes + 2 * page, libc::PROT_NONE, flags, -1, 0);
        assert!(start != libc::MAP_FAILED, "out of memory");
        let start = start.cast::<u8>().wrapping_add(page);
        assert_eq!(libc::mprotect(start.cast(), bytes, libc::PROT_READ | libc::PROT_WRITE), 0);
        start
    }
}

#[cfg(not(all(unix, not(miri))))]
fn guarded(bytes: usize) -> *mut u8 {
    // What lies beside a region is its neighbours': it is not accessed, and under Miri not there.
    allocated(bytes)
}

/// What a signal's handler prints: the call that is under way.
#[cfg(all(unix, not(miri)))]
pub(crate) mod watch {
    use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};

    static NAME: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    static NAME_LEN: AtomicUsize = AtomicUsize::new(0);
    static ROUND: AtomicU32 = AtomicU32::new(0);
    static SEEN: AtomicU32 = AtomicU32::new(u32::MAX);
    static CALLS: AtomicU32 = AtomicU32::new(0);

    /// Seconds that a call may take at least before it counts as endless.
    const PATIENCE: u32 = 60;

    /// From now on a call that faults, or does not end, ends the program with its name.
    pub(crate) fn begin() {
        // SAFETY: the handlers call nothing but `write`, `alarm` and `_exit`, which handlers may, and read atomics.
        unsafe {
            for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGTRAP] {
                libc::signal(signal, faulted as *const () as libc::sighandler_t);
            }
            libc::signal(libc::SIGALRM, waited as *const () as libc::sighandler_t);
            libc::alarm(PATIENCE);
        }
    }

    pub(crate) fn end() {
        // SAFETY: there is nothing that it could break.
        unsafe { libc::alarm(0) };
    }

    /// Tells which call is under way.
    pub(crate) fn call(name: &'static str, round: u32) {
        NAME.store(name.as_ptr().cast_mut(), Ordering::Relaxed);
        NAME_LEN.store(name.len(), Ordering::Relaxed);
        ROUND.store(round, Ordering::Relaxed);
        CALLS.fetch_add(1, Ordering::Relaxed);
    }

    extern "C" fn faulted(_: libc::c_int) {
        say(b"memory fault in ");
    }

    extern "C" fn waited(_: libc::c_int) {
        let calls = CALLS.load(Ordering::Relaxed);
        if SEEN.swap(calls, Ordering::Relaxed) == calls {
            say(b"no end of ");
        }
        // SAFETY: handlers may call it.
        unsafe { libc::alarm(PATIENCE) };
    }

    fn say(what: &[u8]) {
        let mut digits = [b'0'; 10];
        let mut round = ROUND.load(Ordering::Relaxed);
        for digit in digits.iter_mut().rev() {
            *digit = b'0' + (round % 10) as u8;
            round /= 10;
        }
        let write = |bytes: *const u8, len: usize| {
            // SAFETY: the bytes are those of a name or of this function.
            unsafe { libc::write(2, bytes.cast(), len) };
        };
        write(what.as_ptr(), what.len());
        write(NAME.load(Ordering::Relaxed), NAME_LEN.load(Ordering::Relaxed));
        write(b", round ".as_ptr(), 8);
        write(digits.as_ptr(), digits.len());
        write(b"\n".as_ptr(), 1);
        // SAFETY: it does not return.
        unsafe { libc::_exit(99) };
    }
}

#[cfg(not(all(unix, not(miri))))]
pub(crate) mod watch {
    pub(crate) fn begin() {}
    pub(crate) fn end() {}
    pub(crate) fn call(_: &'static str, _: u32) {}
}
