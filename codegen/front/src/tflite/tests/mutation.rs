//! Damaged and hostile files: whatever a file says, reading it ends soon, in a graph that verifies or in an error.

use super::corpus;
use crate::testing::Random;
use crate::{read, tflite};
use kiln_ir::error::Error;
use kiln_ir::verify::verify;
use std::time::{Duration, Instant};

/// Longest that one file may take, in a build without optimisation.
const TOO_LONG: Duration = Duration::from_secs(1);

/// Damages a file in one to four places.
fn mutate(file: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..=random.below(4) {
        if file.len() < 8 {
            return;
        }
        let at = random.below(file.len() - 4);
        // Most structure is aligned; most hostile values only matter there.
        let word = at & !3;
        let distance = random.below(file.len()) as u32;
        let value = match random.below(12) {
            0 => {
                file[at] ^= 1 << random.below(8);
                continue;
            }
            1 => {
                file.truncate(at);
                continue;
            }
            2 => {
                file[at] = random.next() as u8;
                continue;
            }
            3 => {
                let (from, len) = (random.below(file.len() - 4), random.below(32));
                let piece: Vec<u8> = file.iter().skip(from).take(len).copied().collect();
                let end = (at + piece.len()).min(file.len());
                file[at..end].copy_from_slice(&piece[..end - at]);
                continue;
            }
            4 => 0,
            5 => u32::MAX,
            6 => 0x7fff_ffff,
            7 => 0x8000_0000,
            8 => random.below(64) as u32,
            9 => 1 << random.below(32),
            // References to anywhere, backwards (which makes cycles) and forwards.
            10 => distance.wrapping_sub(word as u32),
            _ => distance,
        };
        file[word..word + 4].copy_from_slice(&value.to_le_bytes());
    }
}

/// Reads one file; returns whether it was accepted.
fn check(name: &str, file: &[u8]) -> bool {
    let start = Instant::now();
    let result = read(file, name);
    let _ = crate::inspect(file);
    let took = start.elapsed();
    assert!(took < TOO_LONG, "{name}: reading took {took:?}");
    match result {
        Ok(graph) => {
            if let Err(violations) = verify(&graph) {
                panic!("{name} is accepted, but does not verify: {violations:?}");
            }
            true
        }
        Err(Error::Malformed(problem)) => {
            assert!(!problem.what.is_empty());
            false
        }
        Err(Error::Unsupported(problems)) => {
            assert!(!problems.is_empty());
            false
        }
        Err(other) => panic!("{name}: a reader does not report {other:?}"),
    }
}

fn run(name: &str, seed: &[u8], rounds: usize, random: &mut Random) {
    let (mut accepted, mut file) = (0, Vec::new());
    for _ in 0..rounds {
        file.clear();
        file.extend_from_slice(seed);
        mutate(&mut file, random);
        accepted += usize::from(check(name, &file));
    }
    eprintln!("{name}: {accepted} of {rounds} damaged files are sound models");
    assert!(rounds < 1000 || (accepted > 0 && accepted < rounds), "{name}: the mutation has no effect");
}

#[test]
fn seeds_are_sound() {
    for (name, file) in tflite::seeds::all() {
        if let Err(error) = read(&file, name) {
            panic!("{name}: {error}");
        }
        assert!(check(name, &file));
    }
}

#[test]
fn every_truncation_is_refused_or_sound() {
    for (name, file) in tflite::seeds::all() {
        for len in 0..file.len() {
            check(name, &file[..len]);
        }
    }
}

#[test]
fn every_word_may_hold_hostile_values() {
    for (name, file) in tflite::seeds::all() {
        for at in (0..file.len() - 4).step_by(4) {
            for value in [0, 1, 0xffff_ffff, 0x7fff_ffff, 0x0100_0000, (at as u32).wrapping_neg()] {
                let mut file = file.clone();
                file[at..at + 4].copy_from_slice(&value.to_le_bytes());
                check(name, &file);
            }
        }
    }
}

#[test]
fn damaged_seeds_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(0x6b69_6c6e);
    for (name, file) in tflite::seeds::all() {
        run(name, &file, 5000, &mut random);
    }
}

#[test]
fn damaged_corpus_models_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(0x7465_7374);
    for (name, file) in corpus::models().unwrap_or_default() {
        if file.len() < 400_000 {
            run(&name, &file, 40, &mut random);
        }
    }
}
