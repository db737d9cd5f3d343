//! Damaged model files end in an error or in a valid compilation, quickly: never in a panic or a hang.
//!
//! 20,000 of them, from five real models: flipped bits, hostile words (lengths, offsets, references back), copied and cut regions. What is
//! accepted has been verified and its plan checked by [`compile`] itself.

use kiln_codegen::{compile, Options};
use kiln_host_tests::own_models;
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

const SEEDS: [&str; 5] =
    ["residual_int8", "stream_int8", "temporal_f32", "diabetes_uint8edges_int8", "op_pad_conv2d_int8"];
const MUTANTS: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(1);

#[test]
fn damaged_files_are_refused_or_compiled() {
    let models = own_models();
    let seeds: Vec<Vec<u8>> = SEEDS
        .iter()
        .map(|seed| models.iter().find(|m| m.name == *seed).unwrap_or_else(|| panic!("{seed} is missing")))
        .map(|model| std::fs::read(&model.path).unwrap())
        .collect();
    let mut random = Random(0x5eed);
    let (mut accepted, mut slowest) = (0, Duration::ZERO);
    for index in 0..MUTANTS {
        let state = random.0;
        let file = random.mutant(&seeds[index % seeds.len()]);
        let started = Instant::now();
        let result = catch_unwind(|| compile(&file, "mutant", &Options::default()));
        let took = started.elapsed();
        let which = format!("mutant {index} of {} (random state {state:#x})", SEEDS[index % SEEDS.len()]);
        match result {
            Ok(Ok(_)) => accepted += 1,
            Ok(Err(kiln_codegen::Error::Internal { stage, message })) => {
                panic!("{which}: {stage}: {message}")
            }
            Ok(Err(_)) => {}
            Err(_) => panic!("{which} panicked"),
        }
        assert!(took < LIMIT, "{which} took {took:?}");
        slowest = slowest.max(took);
    }
    println!("{accepted} of {MUTANTS} mutants were accepted; the slowest took {slowest:?}");
    // Damage in names, weights and unused fields is harmless; damage elsewhere is found.
    assert!(accepted > MUTANTS / 100 && accepted < MUTANTS);
}

/// Marsaglia's xorshift64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    fn mutant(&mut self, seed: &[u8]) -> Vec<u8> {
        let mut file = seed.to_vec();
        for _ in 0..1 + self.below(4) {
            // The structure of a model file is at its end (and the root at its start); weights are between.
            let at = match self.below(3) {
                0 => self.below(file.len()),
                1 => self.below(64.min(file.len())),
                _ => file.len() - 1 - self.below((file.len() / 4).max(1)),
            };
            match self.below(6) {
                0 => file[at] ^= 1 << self.below(8),
                1 => file[at] = self.next() as u8,
                2 => self.word(&mut file, at & !3),
                3 => file.truncate(at.max(8)),
                4 => self.reference_back(&mut file, at & !3),
                _ => {
                    let (from, len) = (self.below(file.len()), self.below(32));
                    let piece: Vec<u8> = file.iter().skip(from).take(len).copied().collect();
                    file.iter_mut().skip(at).zip(piece).for_each(|(old, new)| *old = new);
                }
            }
        }
        file
    }

    /// Lengths and offsets that readers fall over.
    fn word(&mut self, file: &mut [u8], at: usize) {
        let hostile = [
            0,
            1,
            2,
            7,
            0x7f,
            0xff,
            0xffff,
            0x1_0000,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_fffc,
            u32::MAX,
            file.len() as u32,
        ];
        let value = hostile[self.below(hostile.len())];
        file.iter_mut().skip(at).zip(value.to_le_bytes()).for_each(|(old, new)| *old = new);
    }

    /// A reference to somewhere before itself, so that following references can go round.
    fn reference_back(&mut self, file: &mut [u8], at: usize) {
        let value = (self.below(at + 1) as u32).wrapping_sub(at as u32);
        file.iter_mut().skip(at).zip(value.to_le_bytes()).for_each(|(old, new)| *old = new);
    }
}
