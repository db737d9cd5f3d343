//! What was computed before: a file of lines that grows with every batch.
//!
//! The first line says what the file is. Each other line is one sample in one place: its key, what it took (`n` nanoseconds, `c` cycles or `-`),
//! the bytes of its outputs, step by step, and a checksum. A line that is not whole, the last one of a run that was ended, counts as none.

use crate::place::Took;
use anyhow::{bail, Context, Result};
use std::collections::HashMap;
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;

const HEADER: &str = "cargo kiln eval, results 1\n";

/// A hash of everything that a result depends on: FNV-1a of 128 bits, by D. Eastlake and others (draft-eastlake-fnv).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key(u128);

impl Key {
    pub(super) const START: Key = Key(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);

    /// The key of all that came before, and these bytes.
    pub(super) fn with(self, bytes: &[u8]) -> Key {
        const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
        let step = |hash: u128, byte: u8| (hash ^ u128::from(byte)).wrapping_mul(PRIME);
        // The length tells `ab` and `c` from `a` and `bc`.
        let length = (bytes.len() as u64).to_le_bytes();
        Key(length.iter().chain(bytes).fold(self.0, |hash, &byte| step(hash, byte)))
    }
}

/// The result of one sample.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Outcome {
    /// The bytes of the output after each step.
    pub(super) outputs: Vec<Vec<u8>>,
    pub(super) took: Option<Took>,
}

/// Results by key, and the file that they are in.
#[derive(Debug, Default)]
pub(super) struct Results {
    known: HashMap<Key, Outcome>,
    file: Option<File>,
}

impl Results {
    /// Reads the results of a file, which is made if there is none, and readies it for more.
    ///
    /// # Errors
    /// Where the file is another one, or cannot be read or written.
    pub(super) fn open(path: &Path) -> Result<Results> {
        let open = || -> Result<Results> {
            let mut file = OpenOptions::new().read(true).append(true).create(true).open(path)?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
            let text = String::from_utf8_lossy(&bytes[..whole]);
            if whole == 0 && HEADER.as_bytes().starts_with(&bytes) {
                file.set_len(0)?;
                file.write_all(HEADER.as_bytes())?;
            } else if !text.starts_with(HEADER) {
                bail!("it is no file of results: --resume would write into it; name another file");
            } else {
                // What is behind the last whole line was being written when a run was ended.
                file.set_len(whole as u64)?;
            }
            let known = text.lines().filter_map(parse).collect();
            Ok(Results { known, file: Some(file) })
        };
        open().with_context(|| format!("`{}`", path.display()))
    }

    pub(super) fn get(&self, key: Key) -> Option<&Outcome> {
        self.known.get(&key)
    }

    /// Adds the results of a batch, in memory and in the file.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(super) fn add(&mut self, batch: Vec<(Key, Outcome)>) -> Result<()> {
        if let Some(file) = &mut self.file {
            let lines: String = batch.iter().map(|(key, outcome)| line(*key, outcome)).collect();
            file.write_all(lines.as_bytes()).context("cannot write the file of results")?;
        }
        self.known.extend(batch);
        Ok(())
    }
}

fn line(key: Key, outcome: &Outcome) -> String {
    let took = match outcome.took {
        None => "-".into(),
        Some(Took::Nanos(nanos)) => format!("n{nanos}"),
        Some(Took::Cycles(cycles)) => format!("c{cycles}"),
    };
    let mut line = format!("{:032x} {took} ", key.0);
    for (step, bytes) in outcome.outputs.iter().enumerate() {
        line += if step > 0 { "," } else { "" };
        for byte in bytes {
            // Writing to a string cannot fail.
            let _ = write!(line, "{byte:02x}");
        }
    }
    let checksum = checksum(&line);
    line + &format!(" {checksum:08x}\n")
}

fn parse(line: &str) -> Option<(Key, Outcome)> {
    let (content, sum) = line.rsplit_once(' ')?;
    if u32::from_str_radix(sum, 16).ok()? != checksum(content) {
        return None;
    }
    let mut words = content.split(' ');
    let key = Key(u128::from_str_radix(words.next()?, 16).ok()?);
    let took = match words.next()?.split_at_checked(1)? {
        ("n", nanos) => Some(Took::Nanos(nanos.parse().ok()?)),
        ("c", cycles) => Some(Took::Cycles(cycles.parse().ok()?)),
        _ => None,
    };
    let outputs = words.next()?.split(',').map(bytes).collect::<Option<_>>()?;
    Some((key, Outcome { outputs, took }))
}

fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| Some((digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?) as u8)).collect()
}

fn checksum(line: &str) -> u32 {
    let Key(hash) = Key::START.with(line.as_bytes());
    (hash ^ hash >> 64) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("kiln-results-{name}-{}", std::process::id()))
    }

    fn outcome(value: u8, took: Option<Took>) -> Outcome {
        Outcome { outputs: vec![vec![value, 255], vec![0]], took }
    }

    #[test]
    fn what_was_written_is_read_wherever_the_file_ends() {
        let path = path("ends");
        let _ = std::fs::remove_file(&path);
        let key = |index: u8| Key::START.with(&[index]);
        let took = [None, Some(Took::Nanos(17)), Some(Took::Cycles(u64::MAX))];
        let all: Vec<(Key, Outcome)> = (0..3).map(|k| (key(k), outcome(k, took[usize::from(k)]))).collect();
        Results::open(&path).unwrap().add(all.clone()).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for end in 0..=whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            let mut results = Results::open(&path).unwrap();
            let lines = whole[..end].iter().filter(|&&byte| byte == b'\n').count();
            let known = lines.saturating_sub(1);
            for (index, (key, outcome)) in all.iter().enumerate() {
                assert_eq!(results.get(*key), (index < known).then_some(outcome), "{end}");
            }
            // And the file goes on as if nothing had happened.
            results.add(all[known..].to_vec()).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), whole, "{end}");
        }
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn damaged_lines_are_no_results() {
        let path = path("damaged");
        let _ = std::fs::remove_file(&path);
        let keys = [Key::START.with(b"a"), Key::START.with(b"b")];
        Results::open(&path).unwrap().add(keys.map(|key| (key, outcome(1, None))).into()).unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = HEADER.len() + 36;
        bytes[at] = if bytes[at] == b'0' { b'1' } else { b'0' };
        std::fs::write(&path, &bytes).unwrap();
        let results = Results::open(&path).unwrap();
        assert!(results.get(keys[0]).is_none() && results.get(keys[1]).is_some());
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn another_file_stays_as_it_is() {
        for content in ["label,x\n1,2\n", "no line", "cargo kiln eval, results 9\n"] {
            let path = path("another");
            std::fs::write(&path, content).unwrap();
            let error = format!("{:#}", Results::open(&path).unwrap_err());
            assert!(error.contains("no file of results"), "{error}");
            assert_eq!(std::fs::read_to_string(&path).unwrap(), content);
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn keys_tell_where_parts_end() {
        assert_ne!(Key::START.with(b"ab").with(b"c"), Key::START.with(b"a").with(b"bc"));
    }
}
