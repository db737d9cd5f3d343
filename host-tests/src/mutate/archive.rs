//! Changes of zip archives: of the files in them, so that their checksums and offsets are right.

use super::{damage, text};
use crate::draw::Random;
use std::io::{Cursor, Read, Write};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// The archive with changes in one or two of its files.
pub(super) fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(mut files) = files(seed) else { return seed.to_vec() };
    for _ in 0..1 + random.below(2) {
        if files.is_empty() {
            break;
        }
        let chosen = random.below(files.len());
        match random.below(16) {
            0 => drop(files.remove(chosen)),
            1 => {
                let name = files[random.below(files.len())].0.clone();
                files[chosen].0 = name;
            }
            _ => {
                // Weights are harmless: mostly what they are for is changed.
                let is_text = |file: &(String, Vec<u8>)| is_text(&file.1);
                let place = (chosen..files.len()).chain(0..chosen).find(|&k| is_text(&files[k]));
                let place = place.filter(|_| random.below(4) > 0).unwrap_or(chosen);
                let contents = &mut files[place].1;
                if super::is_text(contents) {
                    *contents = text::mutate(contents, random);
                } else {
                    damage(contents, seed, random);
                }
            }
        }
    }
    written(&files)
}

/// A text longer than a number or a name.
fn is_text(contents: &[u8]) -> bool {
    contents.len() > 16 && super::is_text(contents)
}

fn files(bytes: &[u8]) -> Option<Vec<(String, Vec<u8>)>> {
    let mut archive = ZipArchive::new(Cursor::new(bytes)).ok()?;
    let mut files = Vec::new();
    for index in 0..archive.len() {
        let mut file = archive.by_index(index).ok()?;
        let mut contents = Vec::new();
        file.read_to_end(&mut contents).ok()?;
        files.push((file.name().to_owned(), contents));
    }
    Some(files)
}

/// An archive of these files; of two with the same name the first.
fn written(files: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, contents) in files {
        let options = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
        if writer.start_file(name.as_str(), options).is_ok() {
            writer.write_all(contents).expect("memory takes all that is written");
        }
    }
    writer.finish().expect("memory takes all that is written").into_inner()
}
