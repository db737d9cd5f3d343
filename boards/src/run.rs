//! The folder that one run has to itself.
use crate::cases::{parse_outputs, Cases, Outputs};
use crate::error::{at, Error};
use crate::work::work_dir;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A folder under [`work_dir`], removed when dropped. Programs run in it and know the files by fixed names.
pub(crate) struct RunDir(PathBuf);

impl RunDir {
    pub(crate) fn new() -> Result<Self, Error> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = work_dir()?.join("runs").join(name);
        fs::create_dir_all(&folder).map_err(at(&folder))?;
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn put_cases(&self, cases: &Cases) -> Result<(), Error> {
        let path = self.0.join("cases.bin");
        fs::write(&path, cases.to_bytes()?).map_err(at(&path))
    }

    pub(crate) fn take_outputs(&self) -> Result<Outputs, Error> {
        let path = self.0.join("outputs.bin");
        parse_outputs(&fs::read(&path).map_err(at(&path))?)
    }

    /// How long each case took, of a process.
    pub(crate) fn take_times(&self) -> Result<Vec<Duration>, Error> {
        let path = self.0.join("times.bin");
        let bytes = fs::read(&path).map_err(at(&path))?;
        let nanos =
            bytes.chunks_exact(8).map(|word| word.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)));
        Ok(nanos.map(Duration::from_nanos).collect())
    }
}

impl Drop for RunDir {
    fn drop(&mut self) {
        // A folder left behind does no harm, and there is nobody to tell.
        let _ = fs::remove_dir_all(&self.0);
    }
}
