//! The steps of audio front ends, each on its own: against what they are defined to be, written out here, and generated code against the interpreter, on this machine and as firmware.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::place::Place;
use kiln_codegen::front::read;
use kiln_codegen::front::tflite::testing::{op, Element, ModelBuilder, Options as Attributes, Tensor};
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::{compile, compile_graph, Error, Optimize, Options};
use kiln_host_tests::{assert_generated_as_interpreted, assert_generated_with};
use std::f64::consts::PI;

const PLACES: [&str; 2] = ["host", "qemu-cortex-m4"];

/// Numbers that look random.
struct Random(u32);

impl Random {
    /// A number of that many bits, signed.
    fn signed(&mut self, bits: u32) -> i64 {
        self.0 = self.0.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) ^ (self.0 >> 13);
        i64::from((self.0.rotate_left(9) as i32) >> (32 - bits))
    }

    fn many(&mut self, count: usize, bits: u32) -> Vec<i64> {
        (0..count).map(|_| self.signed(bits)).collect()
    }
}

fn i16s(values: &[i64]) -> Data {
    Data::from_i16(&values.iter().map(|&v| v as i16).collect::<Vec<_>>())
}

fn ints(data: &Data, dtype: DType) -> Vec<i64> {
    data.to_ints(dtype)
}

/// Half of the spectrum of real numbers, as real and imaginary parts.
fn spectrum(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let bin = |k: usize| {
        let turned = |f: fn(f64) -> f64| {
            let turn = |(t, x): (usize, &f64)| x * f(-2.0 * PI * ((k * t) % n) as f64 / n as f64);
            x.iter().enumerate().map(turn).sum::<f64>()
        };
        [turned(f64::cos), turned(f64::sin)]
    };
    (0..=n / 2).flat_map(bin).collect()
}

/// Transforms of every number format and of lengths whose half is a power of four and others, of rows shorter than the transform, and back.
#[test]
fn transforms_are_spectra() {
    let graph = Graph::parse(
        "graph \"transforms\" {
           input %short: i16[3,50]
           input %odd: i16[128]
           input %wide: i32[2,64]
           input %real: f32[2,128]
           input %four: i16[4]
           %a: i16[3,66] = signal(%short) {function = rfft [64]}
           %b: i16[130] = signal(%odd) {function = rfft [128]}
           %c: i32[2,66] = signal(%wide) {function = rfft [64]}
           %d: f32[2,130] = signal(%real) {function = rfft [128]}
           %e: i16[6] = signal(%four) {function = rfft [4]}
           %back_b: i16[128] = signal(%b) {function = irfft [128]}
           %back_c: i32[2,64] = signal(%c) {function = irfft [64]}
           %back_d: f32[2,128] = signal(%d) {function = irfft [128]}
           return %a, %b, %c, %d, %e, %back_b, %back_c, %back_d
         }",
    )
    .unwrap();
    let mut random = Random(11);
    let tone = |t: usize| (9000.0 * (t as f64 * 0.7).sin() + 7000.0 * (t as f64 * 1.9).cos()) as i64;
    let short = random.many(150, 16);
    let odd: Vec<i64> = (0..128).map(tone).collect();
    let wide = random.many(128, 30);
    let real: Vec<f32> = random.many(256, 12).iter().map(|&v| v as f32 / 64.0).collect();
    let four = [1000, -300, 12345, -32768];
    let wide_data = Data::from_i32(&wide.iter().map(|&v| v as i32).collect::<Vec<_>>());
    let case = [i16s(&short), i16s(&odd), wide_data, Data::from_f32(&real), i16s(&four)];
    let y = assert_generated_as_interpreted(&graph, &case, &PLACES);

    let close = |what: &str, row: &[f64], length: usize, actual: &[f64], scale: f64, limit: f64| {
        let mut x = row.to_vec();
        x.resize(length, 0.0);
        for (k, (want, have)) in spectrum(&x).iter().zip(actual).enumerate() {
            assert!((want * scale - have).abs() <= limit, "{what}, {k}: {} and {have}", want * scale);
        }
    };
    let floats = |values: &[i64]| values.iter().map(|&v| v as f64).collect::<Vec<_>>();
    let parts = |data: &Data, dtype: DType| match dtype {
        DType::F32 => data.to_f32().iter().map(|&v| v.into()).collect(),
        _ => floats(&ints(data, dtype)),
    };
    for (row, actual) in short.chunks(50).zip(parts(&y[0], DType::I16).chunks(66)) {
        close("short", &floats(row), 64, actual, 1.0 / 64.0, 5.0);
    }
    close("odd", &floats(&odd), 128, &parts(&y[1], DType::I16), 1.0 / 128.0, 5.0);
    for (row, actual) in wide.chunks(64).zip(parts(&y[2], DType::I32).chunks(66)) {
        close("wide", &floats(row), 64, actual, 1.0 / 64.0, 5.0);
    }
    let real: Vec<f64> = real.iter().map(|&v| v.into()).collect();
    for (row, actual) in real.chunks(128).zip(parts(&y[3], DType::F32).chunks(130)) {
        close("real", row, 128, actual, 1.0, 1e-3);
    }
    close("four", &floats(&four), 4, &parts(&y[4], DType::I16), 0.25, 2.0);

    // There and back: the numbers divided by the length; floats as they were.
    let near = |what: &str, x: &[f64], y: &[f64], scale: f64, limit: f64| {
        let worst = x.iter().zip(y).map(|(x, y)| (x * scale - y).abs()).fold(0.0, f64::max);
        assert!(worst <= limit, "{what}: {worst}");
    };
    near("odd", &floats(&odd), &parts(&y[5], DType::I16), 1.0 / 128.0, 3.0);
    near("wide", &floats(&wide), &parts(&y[6], DType::I32), 1.0 / 64.0, 3.0);
    near("real", &real, &parts(&y[7], DType::F32), 1.0, 1e-4);
}

/// An impulse has a flat spectrum, exactly.
#[test]
fn the_spectrum_of_an_impulse_is_flat() {
    let graph = Graph::parse(
        "graph \"impulse\" { input %x: i16[64] %y: i16[66] = signal(%x) {function = rfft [64]} return %y }",
    )
    .unwrap();
    let mut x = [0; 64];
    x[0] = 16384;
    let y = kiln_codegen::interp::Machine::new(&graph).run(&[Data::from_i16(&x)]).unwrap();
    let flat: Vec<i64> = (0..66).map(|i| if i % 2 == 0 { 256 } else { 0 }).collect();
    assert_eq!(ints(&y[0], DType::I16), flat);
}

/// Everything between samples and the logarithm, with the extremes of every format.
#[test]
fn steps_are_what_they_are_defined_to_be() {
    let graph = Graph::parse(
        "graph \"steps\" {
           input %x: i16[2,6]
           input %least: i16[4]
           input %quiet: i16[5]
           input %z: i16[16]
           input %e: i32[7]
           input %sums: i64[10]
           input %bits: i32[]
           input %level: i32[8]
           input %noise: i32[8]
           input %frames: i16[2,3,5]
           input %left: i16[2,3]
           input %reals: f32[2,4]
           input %rest: f32[1]
           const %w: i16[6] = [4096, -4096, 0, 32767, -32768, 1]
           const %weights: i16[5] = [1000, 2000, 4096, -5, 7]
           const %others: i16[5] = [3096, 2096, 0, 6, -8]
           const %starts: i16[4] = [0, 1, 5, 3]
           const %firsts: i16[4] = [0, 0, 2, 3]
           const %widths: i16[4] = [1, 2, 3, 0]
           const %gains: i16[125] = [GAINS]
           %window: i16[2,6] = signal(%x, %w) {function = window [12]}
           %room: i32[] = signal(%least) {function = headroom}
           %loud: i16[4] = signal(%least, %room) {function = shift_left}
           %more: i32[] = signal(%quiet) {function = headroom}
           %louder: i16[5] = signal(%quiet, %more) {function = shift_left}
           %energy: i32[8] = signal(%z) {function = energy [1, 7]}
           %bank: i64[3] = signal(%e, %weights, %others, %starts, %firsts, %widths) {function = filter_bank}
           %root: i32[10] = signal(%sums, %bits) {function = square_root}
           %estimate: i32[8] = signal(%level, %noise) {function = noise_estimate [410, 15974, 983, 15401, 10, 14, 0]}
           %clamped: i32[8] = signal(%level, %noise) {function = noise_estimate [410, 15974, 983, 15401, 10, 14, 1]}
           %clean: i32[8] = signal(%level, %estimate) {function = subtract_noise [819, 10, 14]}
           %gain: i32[8] = signal(%level, %noise, %gains) {function = pcan [6]}
           %log: i16[8] = signal(%level) {function = log [64, 3]}
           %sum: i16[2,9] = signal(%frames, %left) {function = overlap_add [2]}
           %real: f32[7] = signal(%reals, %rest) {function = overlap_add [3]}
           return %window, %room, %loud, %more, %louder, %energy, %bank, %root, %estimate, %clamped, %clean, %gain, %log, %sum, %real
         }"
        .replace("GAINS", &gains().iter().map(i16::to_string).collect::<Vec<_>>().join(", "))
        .as_str(),
    )
    .unwrap();
    let mut random = Random(5);
    let x = [-32768, 32767, 100, -32768, 32767, -1, 5, 7, 9, 32767, -32768, 4096];
    let z: Vec<i64> = [-32768, -32768, -32768, -32768].into_iter().chain(random.many(12, 16)).collect();
    let e = [1i64, -1, 70000, 123_456_789, i32::MIN.into(), 5, 6];
    let sums: [u64; 10] =
        [0, 1, 2, 3, 0xffff_ffff, 1 << 32, (1 << 32) + 65536, u64::MAX, 123_456_789_012_345, 0xfffe_0001];
    let level: [u32; 8] = [0, 1, 2, 100, 5_000, 70_000, 1_000_000, u32::MAX];
    let noise: [u32; 8] = [2, 0, 3, 100_000, 1, 77_777_777, u32::MAX, 2047];
    let frames: Vec<i64> = random.many(30, 16);
    let left: Vec<i64> = random.many(6, 16);
    let reals = [1.5f32, 2.0, -3.0, 4.0, 0.25, 8.0, 16.0, 32.0];
    let wide = |v: &[i64]| Data::from_i32(&v.iter().map(|&v| v as i32).collect::<Vec<_>>());
    let unsigned = |v: &[u32]| Data::from_i32(&v.iter().map(|&v| v as i32).collect::<Vec<_>>());
    let case = [
        i16s(&x),
        i16s(&[5, -32768, -3, -7]),
        i16s(&[0, 3, -17, 9, 2]),
        i16s(&z),
        wide(&e),
        Data::new(sums.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>()),
        wide(&[3]),
        unsigned(&level),
        unsigned(&noise),
        i16s(&frames),
        i16s(&left),
        Data::from_f32(&reals),
        Data::from_f32(&[100.0]),
    ];
    let y = assert_generated_as_interpreted(&graph, &case, &PLACES);

    let w = [4096, -4096, 0, 32767, -32768, 1];
    let windowed = x.iter().zip(w.iter().cycle()).map(|(x, w)| ((x * w) >> 12).clamp(-32768, 32767));
    assert_eq!(ints(&y[0], DType::I16), windowed.collect::<Vec<_>>());
    // The magnitude of −32768 has a sign in 16 bits: the next element is larger, −3, and then 7.
    assert_eq!(ints(&y[1], DType::I32), [12]);
    assert_eq!(ints(&y[2], DType::I16), [5 << 12, 0, -3 << 12, -7 << 12].map(|v: i64| i64::from(v as i16)));
    assert_eq!(ints(&y[3], DType::I32), [10]);
    assert_eq!(ints(&y[4], DType::I16), [0, 3 << 10, -17 << 10, 9 << 10, 2 << 10]);
    let energy =
        |i: usize| if i == 0 || i == 7 { 0 } else { z[2 * i] * z[2 * i] + z[2 * i + 1] * z[2 * i + 1] };
    assert_eq!(ints(&y[5], DType::I32), (0..8).map(|i| i64::from(energy(i) as i32)).collect::<Vec<_>>());
    let e = e.map(|v| i64::from(v as u32));
    let bank = [
        3096 * e[0] + 1000 * e[1] + 2000 * e[2],
        3096 * e[1] + 2096 * e[2] + 4096 * e[5] - 5 * e[6],
        6 * e[6],
    ];
    assert_eq!(ints(&y[6], DType::I64), bank);
    let root = |x: u64| {
        let root = (x as f64).sqrt().round().min(if x >> 32 == 0 { 65535.0 } else { 4_294_967_295.0 });
        i64::from((root as u64 >> 3) as u32)
    };
    assert_eq!(ints(&y[7], DType::I32), sums.map(root));
    let estimate = |i: usize| {
        let (new, old) = if i % 2 == 0 { (410, 15974) } else { (983, 15401) };
        let signal = u64::from(level[i] << 10);
        (((signal * new + u64::from(noise[i]) * old) >> 14) as u32, signal as u32)
    };
    let stored = |v: u32| i64::from(v as i32);
    assert_eq!(ints(&y[8], DType::I32), [0, 1, 2, 3, 4, 5, 6, 7].map(|i| stored(estimate(i).0)));
    let clamped = |i: usize| stored(estimate(i).0.min(estimate(i).1));
    assert_eq!(ints(&y[9], DType::I32), [0, 1, 2, 3, 4, 5, 6, 7].map(clamped));
    let clean = |i: usize| {
        let (noise, signal) = estimate(i);
        let floor = ((u64::from(level[i]) * 819) >> 14) as u32;
        stored((signal.saturating_sub(noise) >> 10).max(floor))
    };
    assert_eq!(ints(&y[10], DType::I32), [0, 1, 2, 3, 4, 5, 6, 7].map(clean));
    for (i, gained) in ints(&y[11], DType::I32).into_iter().enumerate().take(7) {
        // The table has whole gains.
        let unit = f64::from(level[i]) / 64.0 / 4096.0;
        let snr = unit * gain_of(noise[i]);
        let want = if snr < 2.0 { snr * snr / 4.0 } else { snr - 1.0 };
        let gained = f64::from(gained as u32) / 64.0;
        assert!((want - gained).abs() <= 0.03 + want * 1e-3 + unit, "{i}: {want} and {gained}");
    }
    for (i, &log) in ints(&y[12], DType::I16).iter().enumerate() {
        let x = f64::from(level[i] << 3);
        let want = if x < 2.0 { 0.0 } else { x.ln() * 64.0 };
        assert!((want - log as f64).abs() <= 1.0, "{i}: {want} and {log}");
    }
    let mut want = Vec::new();
    for (frames, left) in frames.chunks(15).zip(left.chunks(3)) {
        let mut sums = left.to_vec();
        sums.resize(9, 0);
        for (f, frame) in frames.chunks(5).enumerate() {
            for (i, x) in frame.iter().enumerate() {
                sums[f * 2 + i] = (sums[f * 2 + i] + x).clamp(-32768, 32767);
            }
        }
        want.extend(sums);
    }
    assert_eq!(ints(&y[13], DType::I16), want);
    assert_eq!(y[14].to_f32(), [101.5, 2.0, -3.0, 4.25, 8.0, 16.0, 32.0]);
}

/// The gain of a noise: 2²¹ / (noise + 80)^0.95, as far as 16 bits go.
fn gain_of(noise: u32) -> f64 {
    (2f64.powi(21) * (f64::from(noise) / 1024.0 + 80.0).powf(-0.95)).min(32767.0)
}

/// The table of gains: those of 0 and 1, then for each number of bits a parabola through the first, the middle and the last noise.
fn gains() -> Vec<i16> {
    let at = |noise: f64| gain_of(noise.min(f64::from(u32::MAX)) as u32).round() as i32;
    let mut all = vec![at(0.0), at(1.0)];
    for bits in 2..=32 {
        let first = 2f64.powi(bits - 1);
        let [y0, y1, y2] = [first, 1.5 * first, 2.0 * first].map(at);
        let slope = 4 * (y1 - y0) - (y2 - y0);
        all.extend([y0, slope, y2 - y0 - slope, 0]);
    }
    all.truncate(125);
    all.into_iter().map(|v| v as i16).collect()
}

/// Samples fed to the model at once, and how often.
const SAMPLES: usize = 6;
const STEPS: usize = 9;

/// Frames, stacks, delays and overlaps, each with a result of its own: all of them remember.
fn remembering() -> Vec<u8> {
    let mut m = ModelBuilder::new();
    let samples = |dims: &[i32]| Tensor::new(Element::Int16, dims);
    let x = m.input("x", samples(&[2, SAMPLES as i32]));
    let row = m.input("row", samples(&[2]));
    let frames = m.input("frames", samples(&[2, 3, 5]));
    let reals = m.input("reals", Tensor::new(Element::Float32, &[1, 4]));
    let flag = || Tensor::new(Element::Bool, &[]);
    let mut outputs = Vec::new();
    for (name, size, step, prefill) in
        [("late", 7, 2, 0), ("ready", 7, 2, 1), ("apart", 3, 3, 0), ("far", 20, 6, 0)]
    {
        let count = (SAMPLES / step) as i32;
        let y = m.value(name, samples(&[2, count, size as i32]));
        let valid = m.value(&format!("{name}_valid"), flag());
        let options = [("frame_size", size), ("frame_step", step as i64), ("prefill", prefill)];
        m.custom_numbers("SignalFramer", &options, &[x], &[y, valid]);
        outputs.extend([y, valid]);
    }
    for (name, left, right, step) in
        [("stack", 2, 1, 1), ("often", 1, 2, 3), ("single", 0, 0, 1), ("ahead", 0, 2, 2)]
    {
        let y = m.value(name, samples(&[2 * (left + right + 1) as i32]));
        let valid = m.value(&format!("{name}_valid"), flag());
        let options = [
            ("num_channels", 2),
            ("stacker_left_context", left),
            ("stacker_right_context", right),
            ("stacker_step", step),
        ];
        m.custom_numbers("SignalStacker", &options, &[row], &[y, valid]);
        outputs.extend([y, valid]);
    }
    for delay in [0, 4, 15] {
        let y = m.value(&format!("delay_{delay}"), samples(&[2, SAMPLES as i32]));
        m.custom_numbers("SignalDelay", &[("delay_length", delay)], &[x], &[y]);
        outputs.push(y);
    }
    for step in [2, 5] {
        let y = m.value(&format!("overlap_{step}"), samples(&[2, 3 * step as i32]));
        m.custom_numbers("SignalOverlapAdd", &[("T", 7), ("frame_step", step)], &[frames], &[y]);
        outputs.push(y);
    }
    let y = m.value("overlap_reals", Tensor::new(Element::Float32, &[3]));
    m.custom_numbers("SignalOverlapAdd", &[("T", 0), ("frame_step", 3)], &[reals], &[y]);
    outputs.push(y);
    m.outputs(&outputs);
    m.build()
}

/// What [`remembering`] gives at each step, from all samples so far. `None` for what is not valid yet.
struct Expected {
    name: &'static str,
    values: Vec<Option<i64>>,
}

fn frames_of(
    rows: &[Vec<i64>],
    size: usize,
    step: usize,
    prefill: bool,
    at: usize,
) -> (Vec<Option<i64>>, bool) {
    let mut y = Vec::new();
    let mut valid = true;
    // How many samples lie in front of the first frame's end, in steps.
    for row in rows {
        for frame in 0..SAMPLES / step {
            let seen = at * SAMPLES + (frame + 1) * step;
            let end = if prefill { seen } else { seen - (size.div_ceil(step) * step - size).min(seen) };
            let whole = prefill || seen >= size.div_ceil(step) * step;
            valid &= whole;
            let sample = |i: usize| (end + i).checked_sub(size).map_or(0, |t| row[t]);
            y.extend((0..size).map(|i| whole.then(|| sample(i))));
        }
    }
    (y, valid)
}

#[test]
fn frames_stacks_delays_and_overlaps_remember() {
    let mut random = Random(77);
    let samples = [random.many(SAMPLES * STEPS, 16), random.many(SAMPLES * STEPS, 16)];
    let rows: Vec<Vec<i64>> = (0..STEPS).map(|_| random.many(2, 16)).collect();
    let frames: Vec<Vec<i64>> = (0..STEPS).map(|_| random.many(30, 16)).collect();
    let reals: Vec<Vec<i64>> = (0..STEPS).map(|_| random.many(4, 10)).collect();

    let mut overlaps = [vec![vec![0i64; 5]; 2], vec![vec![0i64; 5]; 2]];
    let mut real_overlap = vec![0i64; 4];
    let (mut cases, mut expected) = (Vec::new(), Vec::new());
    for at in 0..STEPS {
        let fed: Vec<i64> = samples.iter().flat_map(|s| s[at * SAMPLES..][..SAMPLES].to_vec()).collect();
        let floats: Vec<f32> = reals[at].iter().map(|&v| v as f32).collect();
        cases.push(vec![i16s(&fed), i16s(&rows[at]), i16s(&frames[at]), Data::from_f32(&floats)]);
        let mut all = Vec::new();
        let mut expect = |name, values| all.push(Expected { name, values });
        for (name, size, step, prefill) in
            [("late", 7, 2, false), ("ready", 7, 2, true), ("apart", 3, 3, false), ("far", 20, 6, false)]
        {
            let (y, valid) = frames_of(&samples, size, step, prefill, at);
            expect(name, y);
            expect(name, vec![Some(valid.into())]);
        }
        for (name, left, right, step) in
            [("stack", 2usize, 1usize, 1usize), ("often", 1, 2, 3), ("single", 0, 0, 1), ("ahead", 0, 2, 2)]
        {
            let valid = at >= right && (at - right) % step == 0;
            let frame = |k: usize| rows[(at + k).saturating_sub(left + right)].clone();
            let y: Vec<i64> = (0..=left + right).flat_map(frame).collect();
            expect(name, y.into_iter().map(|v| valid.then_some(v)).collect());
            expect(name, vec![Some(valid.into())]);
        }
        for delay in [0, 4, 15] {
            let sample =
                |row: &Vec<i64>, i: usize| (at * SAMPLES + i).checked_sub(delay).map_or(0, |t| row[t]);
            let y = samples.iter().flat_map(|row| (0..SAMPLES).map(move |i| Some(sample(row, i))));
            expect("delay", y.collect());
        }
        for (held, step) in overlaps.iter_mut().zip([2, 5]) {
            let mut y = Vec::new();
            for (held, frames) in held.iter_mut().zip(frames[at].chunks(15)) {
                for frame in frames.chunks(5) {
                    held.iter_mut().zip(frame).for_each(|(h, x)| *h = (*h + x).clamp(-32768, 32767));
                    y.extend(held.drain(..step).map(Some));
                    held.resize(5, 0);
                }
            }
            expect("overlap", y);
        }
        real_overlap.iter_mut().zip(&reals[at]).for_each(|(h, x)| *h += x);
        expect("overlap of reals", real_overlap.drain(..3).map(Some).collect());
        real_overlap.resize(4, 0);
        expected.push(all);
    }

    let model = remembering();
    let graph = read(&model, "remembering").unwrap();
    for name in ["interp", "host", "qemu-cortex-m4"] {
        let place = Place::find(name).unwrap();
        let compiled = compile(&model, "remembering", &place.options(&Options::default())).unwrap();
        let actual = place.run(&graph, &compiled, &cases).unwrap();
        for (at, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            assert_eq!(actual.len(), expected.len());
            for ((actual, expected), &output) in actual.iter().zip(expected).zip(&graph.outputs) {
                let dtype = graph.ty(output).dtype;
                let actual: Vec<i64> = match dtype {
                    DType::F32 => actual.to_f32().iter().map(|&v| v as i64).collect(),
                    _ => ints(actual, dtype),
                };
                assert_eq!(actual.len(), expected.values.len(), "{}", expected.name);
                for (actual, wanted) in actual.iter().zip(&expected.values) {
                    let same = wanted.is_none_or(|wanted| wanted == *actual);
                    assert!(same, "{} on {name}, step {at}: {actual}, {wanted:?}", expected.name);
                }
            }
        }
        assert_eq!(actual.len(), STEPS);
    }
}

/// The reader brings a whole front end to the graph, and computes what its parts are.
#[test]
fn seeds_are_compiled() {
    let model = kiln_codegen::front::tflite::seeds::signal();
    let graph = read(&model, "signal").unwrap();
    let mut random = Random(3);
    let cases: Vec<Vec<Data>> = (0..3).map(|_| vec![i16s(&random.many(8, 14))]).collect();
    let compiled = compile(&model, "signal", &Options::default()).unwrap();
    let run = |name: &str| Place::find(name).unwrap().run(&graph, &compiled, &cases).unwrap();
    let (expected, actual) = (run("interp"), run("host"));
    for (expected, actual) in expected.iter().zip(&actual) {
        for ((expected, actual), &output) in expected.iter().zip(actual).zip(&graph.outputs) {
            let difference = compare(graph.ty(output).dtype, actual, expected);
            assert!(difference.passes(), "{difference}");
        }
    }
    assert!(expected.iter().any(|outputs| outputs[0].bytes().iter().any(|&byte| byte != 0)));
}

/// What cannot be compiled says why, and what to do.
#[test]
fn refusals_say_why() {
    let refused = |build: &dyn Fn(&mut ModelBuilder) -> Vec<i32>| {
        let mut m = ModelBuilder::new();
        let outputs = build(&mut m);
        m.outputs(&outputs);
        match read(&m.build(), "refused") {
            Err(Error::Unsupported(problems)) => problems.iter().map(ToString::to_string).collect::<String>(),
            Err(other) => other.to_string(),
            Ok(_) => panic!("it compiles"),
        }
    };
    let samples = |n: i32| Tensor::new(Element::Int16, &[n]);
    let length = refused(&|m| {
        let (x, y) = (m.input("x", samples(48)), m.value("y", samples(50)));
        m.custom_numbers("SignalRfft", &[("T", 7), ("fft_length", 48)], &[x], &[y]);
        vec![y]
    });
    assert!(length.contains("a transform of length 48") && length.contains("power of two"), "{length}");
    let option = refused(&|m| {
        let (x, y) = (m.input("x", samples(48)), m.value("y", samples(50)));
        m.custom("SignalRfft", &[x], &[y]);
        vec![y]
    });
    assert!(option.contains("no option `fft_length`"), "{option}");
    let unsigned = |dims: &[i32]| Tensor::new(Element::Uint32, dims);
    let interface = refused(&|m| {
        let (x, y) = (m.input("x", samples(8)), m.value("y", unsigned(&[4])));
        m.custom_numbers("SignalEnergy", &[("end_index", 4), ("start_index", 0)], &[x], &[y]);
        vec![y]
    });
    assert!(interface.contains("outputs of uint32") && interface.contains("cast to int32"), "{interface}");
    let arithmetic = refused(&|m| {
        let (x, y) = (m.input("x", samples(8)), m.value("y", unsigned(&[4])));
        m.custom_numbers("SignalEnergy", &[("end_index", 4), ("start_index", 0)], &[x], &[y]);
        let (z, real) = (m.value("z", unsigned(&[4])), m.value("real", Tensor::new(Element::Float32, &[4])));
        m.operator(op::ADD, Attributes::none(), &[y, y], &[z]);
        m.operator(op::CAST, Attributes::none(), &[y], &[real]);
        vec![real]
    });
    assert!(
        arithmetic.contains("arithmetic on uint32") && arithmetic.contains("CAST cannot"),
        "{arithmetic}"
    );
    let unknown = refused(&|m| {
        let (x, y) = (m.input("x", samples(8)), m.value("y", samples(8)));
        m.custom("SignalMystery", &[x], &[y]);
        vec![y]
    });
    assert!(unknown.contains("custom operator"), "{unknown}");
}

/// Filters as text: cosines and sines of all frequencies of a transform of so many numbers, times a window of Hann of so many taps.
fn waves(taps: usize, length: usize) -> String {
    let hann = |t: usize| 0.5 - 0.5 * (2.0 * PI * t as f64 / taps as f64).cos();
    let wave = |k: usize, function: fn(f64) -> f64, sign: f64| {
        (0..taps).map(move |t| {
            (sign * hann(t) * function(2.0 * PI * ((k * t) % length) as f64 / length as f64)) as f32
        })
    };
    let cosines = (0..=length / 2).flat_map(|k| wave(k, f64::cos, 1.0));
    let sines = (0..=length / 2).flat_map(|k| wave(k, f64::sin, -1.0));
    cosines.chain(sines).map(|w| format!("{w:?}")).collect::<Vec<_>>().join(", ")
}

/// Holds generated code to the interpreter, in two modes, and the programs to so many calls of a kernel.
fn assert_calls(graph: &Graph, case: &[Data], kernel: &str, count: usize) {
    for optimize in [Optimize::Speed, Optimize::Memory] {
        let options = Options { optimize, ..Options::default() };
        let compiled = compile_graph(graph.clone(), &options).unwrap();
        let kernels: Vec<&str> = compiled.program.calls.iter().map(|call| call.name()).collect();
        assert_eq!(kernels.iter().filter(|&&name| name == kernel).count(), count, "{kernels:?}");
        assert_generated_with(&options, graph, case, &PLACES);
    }
}

/// Spectrograms that a network writes as convolutions and matrix products, of whole signals, with padding, and of rows as they come; with a bias and a range, too.
#[test]
fn filters_that_are_waves_are_transforms() {
    let graph = Graph::parse(&format!(
        "graph \"spectrograms\" {{
           input %signal: f32[1,1,200,1]
           input %rows: f32[3,50]
           input %stream: f32[1,100,1,1]
           input %hundreds: f32[2,120]
           input %picture: f32[1,6,10,1]
           const %w: f32[66,1,50,1] = [{fifty}]
           const %m: f32[66,50] = [{fifty}]
           const %v: f32[66,64,1,1] = [{whole}]
           const %long: f32[122,120] = [{long}]
           const %odd: f32[62,5,9,1] = [{odd}]
           %e: f32[2,122] = dense(%hundreds, %long) {{rescale = real, clamp = -inf..=inf}}
           %f: f32[1,2,2,62] = conv2d(%picture, %odd) {{window = [5, 9] stride [1, 1], groups = 1, rescale = real, clamp = -inf..=inf}}
           %a: f32[1,1,21,66] = conv2d(%signal, %w) {{window = [1, 50] stride [1, 10] pad [0, 0, 25, 25], groups = 1, rescale = real, clamp = -inf..=inf}}
           const %bias: f32[66] = splat 0.25
           %b: f32[3,66] = dense(%rows, %m, %bias) {{rescale = real, clamp = 0.0..=inf}}
           %c: f32[1,5,1,66] = conv2d(%stream, %v) {{window = [64, 1] stride [9, 1], groups = 1, rescale = real, clamp = -1.0..=1.0}}
           %d: f32[1,5,1,66] = mul(%c, %c) {{rescale = real, clamp = -inf..=inf}}
           return %a, %b, %d, %e, %f
         }}",
        fifty = waves(50, 64),
        whole = waves(64, 64),
        long = waves(120, 120),
        odd = waves(45, 60),
    ))
    .unwrap();
    let mut random = Random(5);
    let case = [200, 150, 100, 240, 60].map(|count| {
        let numbers: Vec<f32> = random.many(count, 16).into_iter().map(|v| v as f32 / 32768.0).collect();
        Data::from_f32(&numbers)
    });
    assert_calls(&graph, &case, "spectrum_f32", 5);
}

/// Banks of filters whose weights stand in runs: of rows, of pixels, with a bias and a range; those that make frames of a signal.
#[test]
fn filter_banks_are_sparse() {
    let triangles = |count: usize, channels: usize| {
        let weight = move |(o, c): (usize, usize)| {
            let centre = (o + 1) as f64 * channels as f64 / (count + 1) as f64;
            (1.0 - (c as f64 - centre).abs() / 2.0).max(0.0) as f32
        };
        let all = (0..count).flat_map(|o| (0..channels).map(move |c| (o, c))).map(weight);
        all.map(|w| format!("{w:?}")).collect::<Vec<_>>().join(", ")
    };
    let graph = Graph::parse(&format!(
        "graph \"banks\" {{
           input %rows: f32[3,65]
           input %image: f32[1,4,2,80]
           input %signal: f32[1,100,1,1]
           const %w: f32[7,65] = [{rows}]
           const %v: f32[6,1,1,80] = [{pixels}]
           const %frames: f32[40,40,1,1] = [{frames}]
           const %bias: f32[6] = [0.5, -0.5, 0.25, 1.0, -100.0, 0.0]
           %a: f32[3,7] = dense(%rows, %w) {{rescale = real, clamp = -inf..=inf}}
           %b: f32[1,4,2,6] = conv2d(%image, %v, %bias) {{window = [1, 1] stride [1, 1], groups = 1, rescale = real, clamp = 0.0..=6.0}}
           %c: f32[1,4,2,6] = mul(%b, %b) {{rescale = real, clamp = -inf..=inf}}
           %padded: f32[1,5,3,6] = conv2d(%image, %v, %bias) {{window = [1, 1] stride [1, 1] pad [0, 1, 0, 1], groups = 1, rescale = real, clamp = -inf..=inf}}
           %d: f32[1,4,1,40] = conv2d(%signal, %frames) {{window = [40, 1] stride [20, 1], groups = 1, rescale = real, clamp = -inf..=inf}}
           return %a, %c, %padded, %d
         }}",
        rows = triangles(7, 65),
        pixels = triangles(6, 80),
        frames = (0..1600).map(|at| if at % 41 == 0 { "1.0" } else { "0.0" }).collect::<Vec<_>>().join(", "),
    ))
    .unwrap();
    let mut random = Random(6);
    let case = [195, 640, 100].map(|count| {
        let numbers: Vec<f32> = random.many(count, 16).into_iter().map(|v| v as f32 / 8192.0).collect();
        Data::from_f32(&numbers)
    });
    assert_calls(&graph, &case, "banded_f32", 3);
}
