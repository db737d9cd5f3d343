//! Tables, products and extremes of cores with Helium.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    add_f32, add_f32_mve, lookup_8, lookup_8_mve, max_i8, max_i8_mve, min_i8, min_i8_mve, mul_f32,
    mul_f32_mve, mul_i8, mul_i8_mve, sub_f32, sub_f32_mve, Broadcast, MulParams, Scale,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "lookup_8_mve", run: lookup_8_mve_against_portable },
    Check { name: "mul_i8_mve", run: mul_i8_mve_against_portable },
    Check { name: "add_f32_mve, sub_f32_mve, mul_f32_mve", run: floats_against_portable },
    Check { name: "max_i8_mve", run: |r, s| extremes_against_portable(r, s, true) },
    Check { name: "min_i8_mve", run: |r, s| extremes_against_portable(r, s, false) },
];

/// How a table is called.
type Lookup = fn(&[u8; 256], &[Cell<u8>], &[Cell<u8>]);

/// The result in a place of its own, in that of the operand, or below it.
fn lookup_8_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let table: [u8; 256] = core::array::from_fn(|_| rng.i8() as u8);
    let n = rng.size(0, 90);
    let below = rng.pick(&[0, 1, 2, 16, 33, n]);
    let mut memories = [[0u8; 200]; 2];
    let any = memories[0].map(|_| rng.i8() as u8);
    let kernels: [Lookup; 2] = [lookup_8_mve, lookup_8];
    for (memory, kernel) in memories.iter_mut().zip(kernels) {
        *memory = any;
        let memory = cells(memory);
        kernel(&table, &memory[below..][..n], &memory[..n]);
    }
    let y = scratch.bytes.twins(200, 0, 0);
    for (y, memory) in [y.got(), y.expected()].into_iter().zip(memories) {
        y.iter().zip(memory).for_each(|(y, byte)| y.set(byte as i8));
    }
    y.compare(Case::new().with("n", n).with("below", below))
}

/// Images whose operands may be repeated along any axes; about half of the first ones are not.
fn shape(rng: &mut Rng) -> Broadcast {
    let dims = [1, 1, 1, rng.size(1, 3), rng.size(1, 4), rng.pick(&[1, 3, 8, 16, 19, 40])];
    let mut steps = |whole: bool| {
        let (mut step, mut steps) = (1, [0; 6]);
        for (to, dim) in steps.iter_mut().zip(dims).rev() {
            // The compiler's steps along axes of one element are 0.
            *to = if dim == 1 || !whole && rng.one_in(3) { 0 } else { step };
            step *= if *to == 0 { 1 } else { dim };
        }
        steps
    };
    let b = steps(false);
    let first = steps(true);
    let second = steps(false);
    let whole = rng.one_in(2);
    let a = if whole { first } else { second };
    match rng.one_in(3) {
        true => Broadcast { dims, a: b, b: a },
        false => Broadcast { dims, a, b },
    }
}

/// How a kernel is called, with its parameters at hand.
type Pair<'a> = dyn Fn(&Broadcast, &[Cell<i8>], &[Cell<i8>], &[Cell<i8>]) + 'a;

/// Operands and results of two kernels; sometimes the result lies over an operand that is not repeated.
fn pairs(
    rng: &mut Rng,
    mut scratch: Scratch<'_>,
    case: impl Fn(Case) -> Case,
    kernels: [&Pair<'_>; 2],
) -> Result<(), Mismatch> {
    let shape = shape(rng);
    let n = shape.dims.iter().product();
    let [a, b] = [0; 2].map(|_| {
        let x = scratch.bytes.take_at(n, rng.size(0, 3));
        rng.fill_i8(x);
        cells(x)
    });
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    let [expected, got] = kernels;
    expected(&shape, a, b, y.expected());
    let is_whole = |steps: [usize; 6]| shape.dims.iter().zip(steps).all(|(&dim, step)| dim == 1 || step != 0);
    let over = [shape.a, shape.b].map(|steps| is_whole(steps) && rng.one_in(3));
    match over {
        [true, _] => y.got().iter().zip(a).for_each(|(y, a)| y.set(a.get())),
        [_, true] => y.got().iter().zip(b).for_each(|(y, b)| y.set(b.get())),
        _ => {}
    }
    got(&shape, if over[0] { y.got() } else { a }, if !over[0] && over[1] { y.got() } else { b }, y.got());
    let [_, _, _, rows, columns, last] = shape.dims;
    let named = case(Case::new()).with("rows", rows).with("columns", columns).with("last", last);
    y.compare(named.with("a", shape.a[5]).with("b", shape.b[5]).with("over a", over[0] as i32))
}

fn mul_i8_mve_against_portable(rng: &mut Rng, scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (lo, hi) = rng.clamp(-128);
    let [x_zero, y_zero, out_zero] = [0; 3].map(|_| i32::from(rng.i8()));
    let shift = if rng.one_in(8) { rng.int(-31, 4) } else { rng.int(-12, 0) };
    let out = Scale { multiplier: rng.int(1 << 30, i32::MAX), shift };
    let p = MulParams { x_zero, y_zero, out, out_zero, lo, hi };
    let case = |case: Case| case.with("shift", shift).with("lo", lo).with("hi", hi);
    let kernels: [&Pair<'_>; 2] =
        [&|s, a, b, y| mul_i8(s, &p, a, b, y), &|s, a, b, y| mul_i8_mve(s, &p, a, b, y)];
    pairs(rng, scratch, case, kernels)
}

fn extremes_against_portable(rng: &mut Rng, scratch: Scratch<'_>, max: bool) -> Result<(), Mismatch> {
    let (lo, hi) = rng.clamp(-128);
    let (lo, hi) = (lo as i8, hi as i8);
    let case = |case: Case| case.with("lo", lo).with("hi", hi);
    let kernels: [&Pair<'_>; 2] = match max {
        true => [&|s, a, b, y| max_i8(s, lo, hi, a, b, y), &|s, a, b, y| max_i8_mve(s, lo, hi, a, b, y)],
        false => [&|s, a, b, y| min_i8(s, lo, hi, a, b, y), &|s, a, b, y| min_i8_mve(s, lo, hi, a, b, y)],
    };
    pairs(rng, scratch, case, kernels)
}

/// Sums, differences and products of floats: ordinary ones, infinities and NaN.
fn floats_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    const MOST: usize = 228;
    let shape = shape(rng);
    let n: usize = shape.dims.iter().product();
    if n > MOST {
        return Ok(());
    }
    let mut memories = [[0f32; MOST]; 4];
    for x in memories.as_flattened_mut() {
        *x = match rng.int(0, 40) {
            0 => rng.pick(&[f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN, 0.0, -0.0]),
            _ => rng.int(-1 << 20, 1 << 20) as f32 / 1021.0,
        };
    }
    let [a, b, expected, got] = &mut memories;
    let [a, b, expected, got] = [a, b, expected, got].map(|memory| cells(&mut memory[..n]));
    let (lo, hi) = rng.pick(&[(f32::MIN, f32::MAX), (0.0, f32::MAX), (-1.0, 6.0)]);
    let op = rng.int(0, 2);
    match op {
        0 => add_f32(&shape, lo, hi, a, b, expected),
        1 => sub_f32(&shape, lo, hi, a, b, expected),
        _ => mul_f32(&shape, lo, hi, a, b, expected),
    }
    match op {
        0 => add_f32_mve(&shape, lo, hi, a, b, got),
        1 => sub_f32_mve(&shape, lo, hi, a, b, got),
        _ => mul_f32_mve(&shape, lo, hi, a, b, got),
    }
    let y = scratch.words.twins(n, 0, 0);
    for (y, results) in [(y.expected(), expected), (y.got(), got)] {
        let bits = |x: f32| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() };
        y.iter().zip(results).for_each(|(y, x)| y.set(bits(x.get()) as i32));
    }
    let [_, _, _, rows, columns, last] = shape.dims;
    let case = Case::new().with("op", op).with("rows", rows).with("columns", columns).with("last", last);
    y.compare(case.with("a", shape.a[5]).with("b", shape.b[5]))
}
