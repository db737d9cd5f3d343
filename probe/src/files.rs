//! The host's side of semihosting: a folder's files, and the console, for the firmware.
//!
//! The operations and their answers are those of "Semihosting for AArch32 and AArch64" (Arm IHI 0100), decoded by probe-rs. Firmware sees one
//! folder and nothing else of this machine: names with a path in them do not exist for it.
use probe_rs::semihosting::SemihostingCommand;
use probe_rs::{Core, Error};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The name of the console, by the specification.
const CONSOLE: &str = ":tt";
/// The answer where something does not work.
const FAILED: i32 = -1;

/// Files that firmware may use.
#[derive(Debug)]
pub(crate) struct Files {
    /// Where they are; without one there are none.
    folder: Option<PathBuf>,
    /// Those that are open, by handle.
    open: BTreeMap<u32, Handle>,
}

#[derive(Debug)]
enum Handle {
    File(File),
    Console,
}

/// What becomes of a call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// The firmware goes on.
    Resume,
    /// The firmware goes on; this is to be printed.
    Print(Vec<u8>),
    /// The firmware has ended with this status.
    Exit(u32),
}

impl Files {
    pub(crate) fn new(folder: Option<PathBuf>) -> Files {
        Files { folder, open: BTreeMap::new() }
    }

    /// Does what the firmware asks for, and writes the answer into its registers and memory.
    pub(crate) fn answer(&mut self, call: SemihostingCommand, core: &mut Core) -> Result<Answer, Error> {
        match call {
            SemihostingCommand::ExitSuccess => return Ok(Answer::Exit(0)),
            SemihostingCommand::ExitError(details) => {
                return Ok(Answer::Exit(details.exit_status.unwrap_or(1)));
            }
            SemihostingCommand::WriteConsole(request) => {
                return Ok(Answer::Print(request.read(core)?.into_bytes()));
            }
            SemihostingCommand::Open(request) => {
                let name = request.path(core)?;
                if let Some(handle) = self.open(&name, request.mode()) {
                    request.respond_with_handle(core, handle)?;
                }
            }
            SemihostingCommand::Close(request) if self.open.remove(&request.file_handle()).is_some() => {
                request.success(core)?;
            }
            SemihostingCommand::Write(request) => {
                let bytes = request.read(core)?;
                let written = match self.open.get_mut(&request.file_handle()) {
                    Some(Handle::Console) => {
                        request.write_status(core, 0)?;
                        return Ok(Answer::Print(bytes));
                    }
                    Some(Handle::File(file)) => file.write_all(&bytes).is_ok(),
                    None => false,
                };
                // The answer is the number of bytes not written.
                let left = if written { 0 } else { bytes.len() };
                request.write_status(core, i32::try_from(left).unwrap_or(FAILED))?;
            }
            SemihostingCommand::Read(request) => {
                let mut bytes = Vec::new();
                if let Some(Handle::File(file)) = self.open.get_mut(&request.file_handle()) {
                    // What came before an error is what there is.
                    let _ = file.take(request.bytes_to_read().into()).read_to_end(&mut bytes);
                }
                request.write_buffer_to_target(core, &bytes)?;
            }
            SemihostingCommand::Seek(request) => {
                if let Some(Handle::File(file)) = self.open.get_mut(&request.file_handle()) {
                    if file.seek(SeekFrom::Start(request.position().into())).is_ok() {
                        request.success(core)?;
                    }
                }
            }
            SemihostingCommand::FileLength(request) => {
                if let Some(Handle::File(file)) = self.open.get(&request.file_handle()) {
                    let length = file.metadata().ok().and_then(|data| i32::try_from(data.len()).ok());
                    request.write_length(core, length.unwrap_or(FAILED))?;
                }
            }
            SemihostingCommand::Time(request) => request.write_current_time(core)?,
            // probe-rs has already answered that these failed.
            _ => {}
        }
        Ok(Answer::Resume)
    }

    /// Opens a file as `fopen` does with that mode.
    fn open(&mut self, name: &str, mode: &str) -> Option<NonZeroU32> {
        let handle = match name {
            CONSOLE => Handle::Console,
            name => Handle::File(self.file(name, mode)?),
        };
        let number = NonZeroU32::MIN.saturating_add(self.open.keys().next_back().copied().unwrap_or(0));
        self.open.insert(number.get(), handle);
        Some(number)
    }

    fn file(&self, name: &str, mode: &str) -> Option<File> {
        let plain = !name.is_empty() && name != ".." && name != "." && !name.contains(['/', '\\', ':', '\0']);
        let path = self.folder.as_ref().filter(|_| plain)?.join(name);
        // A link would lead out of the folder.
        if fs::symlink_metadata(&path).is_ok_and(|data| !data.is_file()) {
            return None;
        }
        let update = mode.contains('+');
        let mut options = OpenOptions::new();
        match mode.chars().next()? {
            'r' => options.read(true).write(update),
            'w' => options.read(update).write(true).create(true).truncate(true),
            'a' => options.read(update).append(true).create(true),
            _ => return None,
        };
        options.open(path).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_sees_one_folder_only() {
        let folder = std::env::temp_dir().join(format!("kiln-files-{}", std::process::id()));
        fs::create_dir_all(folder.join("inner")).unwrap();
        fs::write(folder.join("inner/in.bin"), [1]).unwrap();
        let mut files = Files::new(Some(folder.join("inner")));
        let number = |n| NonZeroU32::new(n);
        assert_eq!(files.open("in.bin", "rb"), number(1));
        assert_eq!(files.open("out.bin", "wb"), number(2));
        assert_eq!(files.open(":tt", "w"), number(3));
        let absolute = folder.join("inner/in.bin");
        for name in ["absent.bin", "../inner/in.bin", "..", ".", "", absolute.to_str().unwrap()] {
            assert_eq!(files.open(name, "rb"), None, "{name}");
        }
        assert_eq!(Files::new(None).open("in.bin", "rb"), None);
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(&absolute, folder.join("inner/link.bin")).unwrap();
            assert_eq!(files.open("link.bin", "rb"), None);
        }
        fs::remove_dir_all(folder).unwrap();
    }
}
