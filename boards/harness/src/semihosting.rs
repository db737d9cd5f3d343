//! Files and exit status through semihosting: the debugger (QEMU, or probe-rs) answers a breakpoint.
//!
//! Operation numbers and parameter blocks are those of "Semihosting for AArch32 and AArch64" (Arm IHI 0100).
use crate::arch::semihosting;
use core::ffi::CStr;

const SYS_OPEN: usize = 0x01;
const SYS_CLOSE: usize = 0x02;
const SYS_WRITE0: usize = 0x04;
const SYS_WRITE: usize = 0x05;
const SYS_READ: usize = 0x06;
const SYS_EXIT_EXTENDED: usize = 0x20;

const OPEN_READ_BINARY: usize = 1;
const OPEN_WRITE_BINARY: usize = 5;
const STOPPED_APPLICATION_EXIT: usize = 0x20026;

/// An open file.
pub(crate) struct Input(usize);

impl Input {
    /// Opens a file for reading; `None` where there is no such file.
    pub(crate) fn open(name: &CStr) -> Option<Self> {
        open(name, OPEN_READ_BINARY).map(Self)
    }

    /// Fills `bytes` from the file; whether there were enough.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> bool {
        // The answer is the number of bytes that were not read.
        call(SYS_READ, &[self.0, bytes.as_mut_ptr() as usize, bytes.len()]) == 0
    }
}

/// A file being written.
pub(crate) struct Output(usize);

impl Output {
    /// Creates a file, or empties it.
    pub(crate) fn create(name: &CStr) -> Option<Self> {
        open(name, OPEN_WRITE_BINARY).map(Self)
    }

    /// Appends `bytes`; whether that worked.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        // The answer is the number of bytes that were not written.
        call(SYS_WRITE, &[self.0, bytes.as_ptr() as usize, bytes.len()]) == 0
    }

    /// Closes the file; whether that worked.
    pub(crate) fn close(self) -> bool {
        call(SYS_CLOSE, &[self.0]) == 0
    }
}

/// On boards, the debugger measures: nothing is done here.
pub(crate) struct Times;

impl Times {
    pub(crate) fn create() -> Self {
        Times
    }

    #[inline(always)]
    pub(crate) fn measure(&mut self, run: impl FnOnce() -> bool) -> bool {
        run()
    }

    pub(crate) fn write_case(&mut self) -> bool {
        true
    }

    pub(crate) fn close(self) -> bool {
        true
    }
}

/// Writes one line.
pub(crate) fn print(line: &CStr) {
    for text in [line, c"\n"] {
        // SAFETY: SYS_WRITE0 reads the zero-terminated string at its argument, which a `CStr` is.
        unsafe { semihosting(SYS_WRITE0, text.as_ptr() as usize) };
    }
}

/// Writes bytes of any kind to where [`print`] writes. What is not taken is lost.
pub fn send(bytes: &[u8]) {
    if let Some(mut console) = Output::create(c":tt") {
        console.write(bytes);
        console.close();
    }
}

/// Ends the program; `status` becomes the exit status of QEMU or probe-rs.
pub fn exit(status: u32) -> ! {
    call(SYS_EXIT_EXTENDED, &[STOPPED_APPLICATION_EXIT, status as usize]);
    loop {
        core::hint::spin_loop();
    }
}

fn open(name: &CStr, mode: usize) -> Option<usize> {
    let handle = call(SYS_OPEN, &[name.as_ptr() as usize, mode, name.to_bytes().len()]);
    (handle as isize >= 0).then_some(handle)
}

fn call(operation: usize, block: &[usize]) -> usize {
    // SAFETY: every operation called here takes the address of a block of words, and reads or writes only the buffers
    // that the block names, all of which outlive the call.
    unsafe { semihosting(operation, block.as_ptr() as usize) }
}

/// Nothing is to be prepared.
pub(crate) fn prepare() -> bool {
    true
}
