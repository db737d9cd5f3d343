//! Listens to all recordings of a folder as one stream: how many have a report in them, and where.
//!
//! `cargo run --release --example listen -- FOLDER`

use std::path::PathBuf;
use wake_word::{Listener, HOP};

fn main() -> std::io::Result<()> {
    let folder = std::env::args().nth(1).expect("a folder of WAV files");
    let mut paths: Vec<PathBuf> =
        std::fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path())).collect::<Result<_, _>>()?;
    paths.sort();
    let mut listener = Listener::new();
    let (mut with_reports, mut reports, mut heard_samples) = (0, 0, 0);
    for path in &paths {
        let wav = std::fs::read(path)?;
        let samples: Vec<i16> = wav
            .get(44..)
            .unwrap_or_default()
            .chunks_exact(2)
            .map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]))
            .collect();
        let before = reports;
        for (index, hop) in samples.as_chunks::<HOP>().0.iter().enumerate() {
            heard_samples += HOP;
            if let Some(score) = listener.hear(hop) {
                reports += 1;
                println!(
                    "{}: {:.2} s, score {score:.2}",
                    path.display(),
                    ((index + 1) * HOP) as f32 / 16_000.0
                );
            }
        }
        with_reports += usize::from(reports > before);
    }
    println!(
        "{} recordings, {:.3} hours: {with_reports} with reports, {reports} reports",
        paths.len(),
        heard_samples as f64 / 16_000.0 / 3600.0
    );
    Ok(())
}
