//! Files and exit status of an ordinary process: the counterpart of `semihosting.rs`.
use std::ffi::CStr;
use std::io::{BufReader, BufWriter, Read, Write};
use std::time::Instant;

/// An open file.
pub(crate) struct Input(BufReader<std::fs::File>);

impl Input {
    /// Opens a file for reading; `None` where there is no such file.
    pub(crate) fn open(name: &CStr) -> Option<Self> {
        std::fs::File::open(name.to_str().ok()?).ok().map(|file| Self(BufReader::new(file)))
    }

    /// Fills `bytes` from the file; whether there were enough.
    pub(crate) fn read(&mut self, bytes: &mut [u8]) -> bool {
        self.0.read_exact(bytes).is_ok()
    }
}

/// A file being written.
pub(crate) struct Output(BufWriter<std::fs::File>);

impl Output {
    /// Creates a file, or empties it.
    pub(crate) fn create(name: &CStr) -> Option<Self> {
        std::fs::File::create(name.to_str().ok()?).ok().map(|file| Self(BufWriter::new(file)))
    }

    /// Appends `bytes`; whether that worked.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        self.0.write_all(bytes).is_ok()
    }

    /// Flushes what is buffered and closes the file; whether that worked.
    pub(crate) fn close(mut self) -> bool {
        self.0.flush().is_ok()
    }
}

/// How long cases take: `times.bin` has the nanoseconds of each, as little-endian 64-bit integers.
pub(crate) struct Times {
    file: Option<Output>,
    /// Of the case so far.
    nanos: u64,
}

impl Times {
    /// Creates the file, or empties it.
    pub(crate) fn create() -> Self {
        Times { file: Output::create(c"times.bin"), nanos: 0 }
    }

    /// Adds what a run takes to the case.
    pub(crate) fn measure(&mut self, run: impl FnOnce() -> bool) -> bool {
        let start = Instant::now();
        let complete = run();
        self.nanos += start.elapsed().as_nanos() as u64;
        complete
    }

    /// Ends the case; whether that could be written.
    pub(crate) fn write_case(&mut self) -> bool {
        let nanos = std::mem::take(&mut self.nanos).to_le_bytes();
        self.file.as_mut().is_some_and(|file| file.write(&nanos))
    }

    /// Closes the file; whether that worked.
    pub(crate) fn close(self) -> bool {
        self.file.is_some_and(Output::close)
    }
}

/// Writes one line, zero-terminated like on a board.
pub(crate) fn print(line: &CStr) {
    println!("{}", line.to_string_lossy());
}

/// Limits the instruction set of kernels to the level that the environment variable `KILN_LEVEL` names; whether there is such a level, if one is named.
pub(crate) fn prepare() -> bool {
    match std::env::var("KILN_LEVEL") {
        Err(_) => true,
        Ok(name) => kiln::Level::of_name(&name).is_some_and(|level| kiln::limit_level(level) == level),
    }
}

/// Writes bytes of any kind to standard output. What is not taken is lost.
pub fn send(bytes: &[u8]) {
    let mut out = std::io::stdout();
    let _ = out.write_all(bytes).and_then(|()| out.flush());
}

/// Ends the process.
pub fn exit(status: u32) -> ! {
    std::process::exit(status as i32)
}
