//! Spectra of blocks of int16 against what they are defined to be, and generated code against the interpreter, on this machine and as firmware.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use kiln_codegen::ir::{DType, Data, Graph};
use kiln_host_tests::assert_generated_as_interpreted;
use std::f64::consts::TAU;

fn i16s(values: &[i64]) -> Data {
    Data::from_i16(&values.iter().map(|&v| v as i16).collect::<Vec<_>>())
}

/// Half of the spectrum of real numbers, as real and imaginary parts.
fn spectrum(x: &[f64]) -> Vec<f64> {
    let n = x.len();
    let part = |k: usize, f: fn(f64) -> f64| -> f64 {
        x.iter().enumerate().map(|(t, x)| x * f(-TAU * ((k * t) % n) as f64 / n as f64)).sum()
    };
    (0..=n / 2).flat_map(|k| [part(k, f64::cos), part(k, f64::sin)]).collect()
}

/// Fails unless blocks are the spectra of rows of numbers, within 60 decibels.
fn assert_close(what: &str, rows: &[i64], row: usize, length: usize, blocks: &Data) {
    let blocks = blocks.to_ints(DType::I16);
    for (at, (row, block)) in rows.chunks(row).zip(blocks.chunks(length + 3)).enumerate() {
        let mut x: Vec<f64> = row.iter().map(|&v| v as f64).collect();
        x.resize(length, 0.0);
        let (exponent, block) = block.split_last().unwrap();
        let factor = 2f64.powi(*exponent as i32);
        let wanted = spectrum(&x);
        let error: f64 = wanted.iter().zip(block).map(|(x, &y)| (x - y as f64 * factor).powi(2)).sum();
        let all: f64 = wanted.iter().map(|x| x * x).sum();
        assert!(error <= 1e-6 * all, "{what} {at}: {:.1} dB", 10.0 * (all / error).log10());
    }
}

/// Numbers of so many bits that look random.
struct Random(u32);

impl Random {
    fn numbers(&mut self, count: usize, bits: u32) -> Vec<i64> {
        let mut next = || {
            self.0 = self.0.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) ^ (self.0 >> 13);
            i64::from((self.0.rotate_left(9) as i32) >> (32 - bits))
        };
        (0..count).map(|_| next()).collect()
    }
}

const PLACES: [&str; 4] = ["host", "qemu-cortex-m4", "qemu-cortex-m0", "qemu-rv32imc"];

/// Spectra of blocks, of lengths whose half is a power of four and others, of loud, quiet and extreme samples: within 60 decibels of what they are.
#[test]
fn blocks_are_spectra() {
    let weights = |n: usize| vec!["32767"; n].join(", ");
    let graph = Graph::parse(
        &"graph \"blocks\" {
           input %x: i16[4,50]
           input %y: i16[128]
           input %z: i32[3,64]
           input %tiny: i16[4]
           const %w50: i16[50] = [W50]
           const %w128: i16[128] = [W128]
           const %w64: i16[64] = [W64]
           const %w4: i16[4] = [W4]
           %bx: i16[4,51] = signal(%x, %w50) {function = block_window}
           %by: i16[129] = signal(%y, %w128) {function = block_window}
           %bz: i16[3,65] = signal(%z, %w64) {function = block_window}
           %bt: i16[5] = signal(%tiny, %w4) {function = block_window}
           %fx: i16[4,67] = signal(%bx) {function = block_rfft [64]}
           %fy: i16[131] = signal(%by) {function = block_rfft [128]}
           %fz: i16[3,67] = signal(%bz) {function = block_rfft [64]}
           %ft: i16[7] = signal(%bt) {function = block_rfft [4]}
           %e: i32[65] = signal(%fy) {function = energy [0, 65]}
           return %bx, %fx, %fy, %fz, %ft, %e
         }"
        .replace("W50", &weights(50))
        .replace("W128", &weights(128))
        .replace("W64", &weights(64))
        .replace("W4", &weights(4)),
    )
    .unwrap();
    let mut numbers = Random(5);
    let mut random = |count, bits| numbers.numbers(count, bits);
    let mut x = random(50, 16);
    x.extend(random(50, 4));
    x.extend([-32768; 50]);
    x.extend((0..50).map(|t| if t / 3 % 2 == 0 { 32767 } else { -32768 }));
    let y = random(128, 12);
    let mut z = random(64, 32);
    z.extend(random(64, 9));
    z.extend([0; 64]);
    let tiny = [0, 0, -1, 0];
    let wide = Data::from_i32(&z.iter().map(|&v| v as i32).collect::<Vec<_>>());
    let case = [i16s(&x), i16s(&y), wide, i16s(&tiny)];
    let results = assert_generated_as_interpreted(&graph, &case, &PLACES);
    assert_close("x", &x, 50, 64, &results[1]);
    assert_close("y", &y, 128, 128, &results[2]);
    assert_close("z", &z, 64, 64, &results[3]);
    assert_close("tiny", &tiny, 4, 4, &results[4]);
}

/// Spectra of blocks whose lengths have the factors 3 and 5, of random numbers, and of those that make the largest sums.
#[test]
fn blocks_of_other_lengths_are_spectra() {
    let lengths = [6, 10, 18, 30, 50, 90, 250, 400, 480];
    let mut numbers = Random(9);
    let (mut lines, mut results, mut case, mut rows) = (String::new(), Vec::new(), Vec::new(), Vec::new());
    for n in lengths {
        lines += &format!("input %x{n}: i16[5,{n}]\n");
        // Impulses, the largest number, and steps with few frequencies follow.
        let mut x = numbers.numbers(n, 16);
        x.extend(numbers.numbers(n, 5));
        x.extend((0..n).map(|t| if t == 1 { -32768 } else { 0 }));
        x.extend(vec![32767; n]);
        x.extend((0..n).map(|t| if t / 2 % 2 == 0 { 32767 } else { -32768 }));
        case.push(i16s(&x));
        rows.push(x);
    }
    for n in lengths {
        let weights = vec!["32767"; n].join(", ");
        lines += &format!("const %w{n}: i16[{n}] = [{weights}]\n");
    }
    for n in lengths {
        lines += &format!("%b{n}: i16[5,{}] = signal(%x{n}, %w{n}) {{function = block_window}}\n", n + 1);
        lines += &format!("%f{n}: i16[5,{}] = signal(%b{n}) {{function = block_rfft [{n}]}}\n", n + 3);
        results.push(format!("%f{n}"));
    }
    let graph = format!("graph \"mixed\" {{\n{lines}return {}\n}}", results.join(", "));
    let blocks = assert_generated_as_interpreted(&Graph::parse(&graph).unwrap(), &case, &PLACES);
    for ((n, rows), blocks) in lengths.into_iter().zip(&rows).zip(&blocks) {
        assert_close(&n.to_string(), rows, n, n, blocks);
    }
}
