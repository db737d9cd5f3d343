//! Clips as files. Each is written whole, under a name that no file had.

use super::clips::Clip;
use super::frames::Kind;
use super::{Format, Settings};
use crate::npz::{self, Array};
use anyhow::{Context, Result};
use kiln_codegen::ir::{DType, Data};
use kiln_tools::cases::feed::picture::Picture;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Cursor, ErrorKind};
use std::path::{Path, PathBuf};

/// What the elements of a stream are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) kind: Kind,
    pub(super) channels: usize,
}

impl Shape {
    /// Bytes of an element of each channel.
    pub(super) fn step(self) -> usize {
        self.kind.size() * self.channels
    }
}

/// Where clips go.
#[derive(Debug)]
pub(super) struct Files {
    format: Format,
    out: PathBuf,
    rate: u32,
    /// Width and height of pictures.
    size: Option<(usize, usize)>,
    /// For each folder the next number to try.
    next: BTreeMap<PathBuf, u32>,
    /// What an archive will have.
    kept: Vec<Clip>,
}

impl Files {
    pub(super) fn new(settings: &Settings) -> Files {
        Files {
            format: settings.format,
            out: settings.out.clone(),
            rate: settings.rate.unwrap_or(0),
            size: settings.width.zip(settings.height),
            next: BTreeMap::new(),
            kept: Vec::new(),
        }
    }

    /// Writes a clip, or keeps it for the archive.
    ///
    /// # Errors
    /// Says which file cannot be written.
    pub(super) fn add(&mut self, clip: Clip, shape: Shape) -> Result<()> {
        let contents = match self.format {
            Format::Npz => {
                self.kept.push(clip);
                return Ok(());
            }
            Format::Wav => wav(&clip.bytes, shape, self.rate)?,
            Format::Png => {
                let (width, height) = self.size.unwrap_or_default();
                Picture { width, height, channels: shape.channels, pixels: clip.bytes }.png()?
            }
        };
        let folder = self.out.join(&clip.label);
        self.write(&folder, self.format.extension(), &contents)?;
        Ok(())
    }

    /// Writes the archive, if that is the format: its path, and the names of its classes.
    ///
    /// # Errors
    /// As [`add`](Files::add).
    pub(super) fn finish(&mut self, shape: Option<Shape>) -> Result<Option<(PathBuf, Vec<String>)>> {
        let (Some(shape), false) = (shape, self.kept.is_empty()) else { return Ok(None) };
        let names: Vec<String> =
            self.kept.iter().map(|c| c.label.clone()).collect::<BTreeSet<_>>().into_iter().collect();
        let classes: Vec<i32> =
            self.kept.iter().map(|c| names.binary_search(&c.label).unwrap_or(0) as i32).collect();
        let length = self.kept.first().map_or(0, |clip| clip.bytes.len()) / shape.step();
        let mut dims = vec![self.kept.len()];
        match self.size {
            Some((width, height)) => dims.extend([height, width, shape.channels]),
            None if shape.channels == 1 => dims.push(length),
            None => dims.extend([length, shape.channels]),
        }
        let bytes = self.kept.iter().flat_map(|clip| &clip.bytes).copied().collect::<Vec<u8>>();
        let dtype = match shape.kind {
            Kind::U8 => DType::U8,
            Kind::I16 => DType::I16,
            Kind::F32 => DType::F32,
        };
        let x = Array { dtype, shape: dims, data: Data::new(bytes) };
        let y = Array { dtype: DType::I32, shape: vec![classes.len()], data: Data::from_i32(&classes) };
        let contents = npz::written(&[("x", &x), ("y", &y)])?;
        let path = self.write(&self.out.clone(), "npz", &contents)?;
        self.kept.clear();
        Ok(Some((path, names)))
    }

    /// Writes a file of the next number that is free.
    fn write(&mut self, folder: &Path, extension: &str, contents: &[u8]) -> Result<PathBuf> {
        let failed = |path: &Path| format!("cannot write `{}`", path.display());
        fs::create_dir_all(folder).with_context(|| failed(folder))?;
        let mut number = match self.next.get(folder) {
            Some(&number) => number,
            None => highest(folder).with_context(|| failed(folder))? + 1,
        };
        let part = folder.join(format!(".{}-{number:04}.{extension}.part", std::process::id()));
        fs::write(&part, contents).with_context(|| failed(&part))?;
        let path = loop {
            let path = folder.join(format!("{number:04}.{extension}"));
            number += 1;
            match place(&part, &path) {
                Ok(()) => break path,
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => {
                    // Best effort: the error is what matters.
                    let _ = fs::remove_file(&part);
                    return Err(error).with_context(|| failed(&path));
                }
            }
        };
        self.next.insert(folder.to_owned(), number);
        Ok(path)
    }
}

/// Gives a file its name, unless another one has it.
fn place(part: &Path, path: &Path) -> std::io::Result<()> {
    match fs::hard_link(part, path) {
        Ok(()) => fs::remove_file(part),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // Not every file system has links.
        Err(_) if path.exists() => Err(ErrorKind::AlreadyExists.into()),
        Err(_) => fs::rename(part, path),
    }
}

/// The highest number that a file in a folder has as its name.
fn highest(folder: &Path) -> std::io::Result<u32> {
    let mut highest = 0;
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let number = path.file_stem().and_then(|stem| stem.to_str()?.parse::<u32>().ok());
        highest = highest.max(number.filter(|&number| number < u32::MAX / 2).unwrap_or(0));
    }
    Ok(highest)
}

fn wav(bytes: &[u8], shape: Shape, rate: u32) -> Result<Vec<u8>> {
    let spec = hound::WavSpec {
        channels: u16::try_from(shape.channels)?,
        sample_rate: rate,
        bits_per_sample: 16,
        sample_format: hound::SampleFormat::Int,
    };
    let mut file = Cursor::new(Vec::new());
    let mut writer = hound::WavWriter::new(&mut file, spec)?;
    for pair in bytes.chunks_exact(2) {
        writer.write_sample(i16::from_le_bytes([pair[0], pair[1]]))?;
    }
    writer.finalize()?;
    Ok(file.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_overwritten() {
        let out = std::env::temp_dir().join(format!("kiln-record-files-{}", std::process::id()));
        let _ = fs::remove_dir_all(&out);
        fs::create_dir_all(out.join("yes")).unwrap();
        for name in ["0007.wav", "notes.txt", "0010.wav"] {
            fs::write(out.join("yes").join(name), "old").unwrap();
        }
        let settings = Settings { rate: Some(8000), ..Settings::new(out.clone()) };
        let shape = Shape { kind: Kind::I16, channels: 1 };
        let mut files = Files::new(&settings);
        let clip = |label: &str| Clip { label: label.into(), bytes: vec![1, 0, 2, 0] };
        files.add(clip("yes"), shape).unwrap();
        // Somebody else writes there, too.
        fs::write(out.join("yes/0012.wav"), "old").unwrap();
        files.add(clip("yes"), shape).unwrap();
        files.add(clip("no"), shape).unwrap();
        let names = |label: &str| {
            let mut names: Vec<String> = fs::read_dir(out.join(label))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        };
        let yes = names("yes");
        assert_eq!(yes, ["0007.wav", "0010.wav", "0011.wav", "0012.wav", "0013.wav", "notes.txt"]);
        assert_eq!(names("no"), ["0001.wav"]);
        assert_eq!(fs::read_to_string(out.join("yes/0012.wav")).unwrap(), "old");
        assert_eq!(files.finish(Some(shape)).unwrap(), None);
        fs::remove_dir_all(out).unwrap();
    }
}
