//! Damaged copies of model files, each from a number: the same number gives the same file.
//!
//! Half of them are changed where the format has a meaning (a size, an index, a type, a scale, a reference, a name), so that what comes behind the reader has something to fall over; half are
//! changed byte by byte. What is done with them says `tests/mutations.rs`.

mod archive;
mod flatbuffer;
pub mod meaning;
mod protobuf;
mod seeds;
mod text;

pub use seeds::{seeds, Seed};

use crate::draw::Random;
use kiln_codegen::{Events, Input, Io, Optimize, Options, Qdq, Reference, Target, Weights};

/// A damaged copy of one of the files, and options to compile it with.
pub struct Mutant<'a> {
    /// Which file it is made of.
    pub seed: &'a Seed,
    /// Its bytes.
    pub file: Vec<u8>,
    /// How it is compiled.
    pub options: Options,
}

/// The mutant of that number.
pub fn mutant(seeds: &[Seed], run: u64, index: usize) -> Mutant<'_> {
    let mut random = Random::new(run.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (index as u64));
    let seed = &seeds[random.below(seeds.len())];
    let other = &seeds[random.below(seeds.len())];
    let meaningful = random.below(2) == 0;
    let mut file = match (meaningful, seed.format) {
        (false, _) => seed.bytes.clone(),
        (true, "onnx") => protobuf::mutate(&seed.bytes, &mut random),
        (true, "tflite") => flatbuffer::mutate(&seed.bytes, &mut random),
        (true, _) if seed.bytes.starts_with(b"PK") => archive::mutate(&seed.bytes, &mut random),
        (true, _) if is_text(&seed.bytes) => text::mutate(&seed.bytes, &mut random),
        (true, _) => seed.bytes.clone(),
    };
    let meaningful = meaningful && file != seed.bytes;
    if !meaningful || random.below(10) == 0 {
        damage(&mut file, &other.bytes, &mut random);
    }
    Mutant {
        seed,
        file,
        options: Options { input_shapes: seed.input_shapes.clone(), ..options(&mut random) },
    }
}

/// Whether bytes are text that a person can read.
fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok_and(|text| !text.contains('\0'))
}

/// Mostly the defaults; else every option may be any.
fn options(random: &mut Random) -> Options {
    let mut options = Options::default();
    if random.below(2) == 0 {
        return options;
    }
    let mut pick = |n: usize| random.below(n);
    let targets: Vec<Target> = Target::all().collect();
    options.target = Some(targets[pick(targets.len())]);
    options.optimize = [Optimize::Speed, Optimize::Size, Optimize::Memory][pick(3)];
    options.input = [Input::Whole, Input::Rows, Input::Sliding][pick(3)];
    options.reference = [Reference::Tflm, Reference::Litert][pick(2)];
    options.qdq = [Qdq::Integers, Qdq::Float][pick(2)];
    options.io = [Io::Native, Io::Quantized][pick(2)];
    options.weights = [None, Some(Weights::Packed), Some(Weights::Widened)][pick(3)];
    options.events = [Events::None, Events::Layers][pick(2)];
    options.ram = [None, None, Some(2_000)][pick(3)];
    options.fast_ram = [None, None, Some(1_000)][pick(3)];
    options.cores = [None, None, Some(4)][pick(3)];
    options
}

/// Lengths, offsets, sizes and counts that readers fall over.
const HOSTILE: [u32; 16] = [
    0,
    1,
    2,
    3,
    7,
    0x7f,
    0x80,
    0xff,
    0xffff,
    0x1_0000,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fffc,
    u32::MAX,
    0xffff_ff80,
    1000,
];

/// Scales, and other floats.
const FLOATS: [f32; 16] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-30,
    1e-9,
    1e-4,
    0.5,
    3.0,
    1e4,
    1e9,
    f32::MAX,
    f32::MIN_POSITIVE,
    f32::INFINITY,
    f32::NAN,
    1e-45,
];

/// A float as files hold them, or one that they do not.
fn float(random: &mut Random) -> f32 {
    match random.below(2) {
        0 => FLOATS[random.below(FLOATS.len())],
        _ => (random.unit() * 14.0).exp(),
    }
}

/// An integer near `old`, or a hostile one.
fn integer(old: i64, random: &mut Random) -> i64 {
    match random.below(8) {
        0 => old.wrapping_add(1),
        1 => old.wrapping_sub(1),
        2 => old.wrapping_mul(2),
        3 => old.wrapping_neg(),
        4 | 5 => random.below(12) as i64 - 2,
        6 => i64::from(HOSTILE[random.below(HOSTILE.len())] as i32),
        _ => old ^ (1 << random.below(63)),
    }
}

/// Flipped bits, hostile words, copied and cut regions, pieces of another file.
fn damage(file: &mut Vec<u8>, other: &[u8], random: &mut Random) {
    for _ in 0..1 + random.below(4) {
        if file.is_empty() {
            return;
        }
        // The structure of a model file is at its end (and the root at its start); weights are between.
        let at = match random.below(3) {
            0 => random.below(file.len()),
            1 => random.below(64.min(file.len())),
            _ => file.len() - 1 - random.below((file.len() / 4).max(1)),
        };
        match random.below(8) {
            0 => file[at] ^= 1 << random.below(8),
            1 => file[at] = random.next() as u8,
            2 | 3 => overwrite(file, at & !3, &HOSTILE[random.below(HOSTILE.len())].to_le_bytes()),
            4 => file.truncate(at.max(8)),
            5 => {
                // A reference to somewhere before itself, so that following references can go round.
                let back = (random.below(at + 1) as u32).wrapping_sub(at as u32);
                overwrite(file, at & !3, &back.to_le_bytes());
            }
            6 => {
                let from = random.below(other.len());
                let piece = &other[from..other.len().min(from + random.below(64))];
                overwrite(file, at, piece);
            }
            _ => {
                let from = random.below(file.len());
                let piece = file[from..file.len().min(from + random.below(32))].to_vec();
                overwrite(file, at, &piece);
            }
        }
    }
}

/// Writes over what is there, as far as it goes.
fn overwrite(file: &mut [u8], at: usize, piece: &[u8]) {
    file.iter_mut().skip(at).zip(piece).for_each(|(old, new)| *old = *new);
}
