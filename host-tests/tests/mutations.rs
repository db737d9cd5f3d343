//! Damaged model files end in an error or in a valid compilation, quickly: never in a panic or a hang.
//!
//! Flipped bits, hostile words (lengths, offsets, references back), copied and cut regions, in 20,000 files from five real TFLite models, and in ONNX files: those that the
//! compiler writes of own models, and ONNX's backend tests where `cargo xtask setup` has fetched them; as many, or what `KILN_MUTANTS` says. What is
//! accepted has been verified and its plan checked by [`compile`] itself.

use kiln_codegen::{compile, import, write, Options};
use kiln_host_tests::{onnx_tests, own_models};
use std::panic::catch_unwind;
use std::time::{Duration, Instant};

const SEEDS: [&str; 5] =
    ["residual_int8", "stream_int8", "temporal_f32", "diabetes_uint8edges_int8", "op_pad_conv2d_int8"];
const MUTANTS: usize = 20_000;
const LIMIT: Duration = Duration::from_secs(1);

/// Backend tests in which a reader can get lost: subgraphs, generated constants, sizes that are computed.
const ONNX_SEEDS: [&str; 16] = [
    "node/test_attention_4d_gqa_with_past_and_present_expanded",
    "node/test_center_crop_pad_crop_and_pad_expanded",
    "node/test_einsum_batch_matmul",
    "node/test_if",
    "node/test_layer_normalization_3d_axis1_epsilon_expanded",
    "node/test_linear_attention_delta_expanded",
    "node/test_loop11",
    "node/test_lstm_with_peepholes",
    "node/test_quantizelinear_axis",
    "node/test_range_float_type_positive_delta_expanded",
    "node/test_scan9_sum",
    "pytorch-converted/test_Conv2d_depthwise_strided",
    "pytorch-converted/test_ConvTranspose2d",
    "pytorch-converted/test_MaxPool3d_stride_padding",
    "pytorch-converted/test_PixelShuffle",
    "pytorch-converted/test_ReflectionPad2d",
];
/// Larger models are left out: each mutant is compiled.
const LARGEST: usize = 40_000;
/// Megabytes that the process has held at most, with all threads.
const MOST_MEMORY: usize = 1_000;

#[test]
fn damaged_files_are_refused_or_compiled() {
    let models = own_models();
    let seeds = SEEDS.map(|seed| {
        let found = models.iter().find(|m| m.name == seed).unwrap_or_else(|| panic!("{seed} is missing"));
        (seed.to_owned(), std::fs::read(&found.path).unwrap())
    });
    check(&seeds, MUTANTS);
}

#[test]
fn damaged_onnx_files_are_refused_or_compiled() {
    let mut seeds = Vec::new();
    for model in own_models() {
        let bytes = std::fs::read(&model.path).unwrap();
        let options = model.options(&Options::default());
        let Ok(graph) = import(&bytes, &model.name, &options) else { continue };
        // Much of TFLite's integer arithmetic has no form in ONNX.
        seeds.extend(write::onnx(&graph, &write::Settings::default()).ok().map(|file| (model.name, file)));
    }
    assert!(seeds.len() > 10, "{} of the own models can be written", seeds.len());
    if let Some(folder) = onnx_tests() {
        for name in ONNX_SEEDS {
            let path = folder.join(name).join("model.onnx");
            let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            seeds.push((name.to_owned(), bytes));
        }
    }
    seeds.retain(|(_, bytes)| bytes.len() <= LARGEST);
    let count = std::env::var("KILN_MUTANTS").map_or(MUTANTS, |count| count.parse().unwrap());
    check(&seeds, count);
    if let Some(most) = most_memory() {
        assert!(most < MOST_MEMORY, "{most} MB");
    }
}

/// Megabytes that this process has held at most, where the system tells.
fn most_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: usize = line.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024)
}

/// Compiles as many mutants of these files.
fn check(seeds: &[(String, Vec<u8>)], count: usize) {
    let mut random = Random(0x5eed);
    let (mut accepted, mut slowest) = (0, Duration::ZERO);
    for index in 0..count {
        let state = random.0;
        let (name, seed) = &seeds[index % seeds.len()];
        let file = random.mutant(seed);
        let started = Instant::now();
        let result = catch_unwind(|| compile(&file, "mutant", &Options::default()));
        let took = started.elapsed();
        let which = format!("mutant {index} of {name} (random state {state:#x})");
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
    println!("{accepted} of {count} mutants were accepted; the slowest took {slowest:?}");
    // Damage in names, weights and unused fields is harmless; damage elsewhere is found.
    assert!(accepted > count / 100 && accepted < count);
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
