//! Sums and quantisation.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{
    add_i8_dsp, add_i8_dsp_compact, quantize_f32_i8, quantize_f32_i8_dsp, quantize_f32_i8_even,
    quantize_f32_i8_mve, AddLinear, QuantizeLinear,
};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "add_i8_dsp, by definition", run: |r, s| by_definition(r, s, add) },
    Check { name: "add_i8_dsp, of a constant", run: add_i8_dsp_of_a_constant },
    Check { name: "add_i8_dsp, over its operand", run: |r, s| over_its_operand(r, s, add) },
    Check { name: "add_i8_dsp_compact, by definition", run: |r, s| by_definition(r, s, add_compact) },
    Check { name: "add_i8_dsp_compact, over its operand", run: |r, s| over_its_operand(r, s, add_compact) },
    Check { name: "quantize_f32_i8_dsp", run: |r, s| quantize(r, s, quantize_f32_i8_dsp::<true>, false) },
    Check {
        name: "quantize_f32_i8_mve",
        run: |r, s| quantize(r, s, quantize_f32_i8_mve::<true, false>, false),
    },
    Check {
        name: "quantize_f32_i8_mve, even",
        run: |r, s| quantize(r, s, quantize_f32_i8_mve::<true, true>, true),
    },
];

/// Calls the kernel with one of the shifts that the compiler uses.
fn add(shift: u32, p: &AddLinear, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]) {
    match shift {
        19 => add_i8_dsp::<19>(p, a, b, y),
        20 => add_i8_dsp::<20>(p, a, b, y),
        21 => add_i8_dsp::<21>(p, a, b, y),
        _ => add_i8_dsp::<22>(p, a, b, y),
    }
}

/// The same of the kernel that is told.
fn add_compact(shift: u32, p: &AddLinear, a: &[Cell<i8>], b: &[Cell<i8>], y: &[Cell<i8>]) {
    add_i8_dsp_compact(p, shift, a, b, y);
}

/// How a kernel is called.
type Add = fn(u32, &AddLinear, &[Cell<i8>], &[Cell<i8>], &[Cell<i8>]);

/// Factors that are none of a sum of quantised values, too.
fn parameters(rng: &mut Rng) -> (u32, AddLinear) {
    let shift = rng.int(19, 22) as u32;
    let any = rng.one_in(4);
    let factor = |rng: &mut Rng| match any {
        true => rng.word() as i32,
        false => rng.int(-(1 << 30), 1 << 30),
    };
    let (x, y) = (factor(rng), factor(rng));
    let start = if any { rng.word() as i32 } else { rng.int(-(200 << shift), 200 << shift) };
    (shift, AddLinear { x, y, start })
}

fn defined(shift: u32, p: &AddLinear, a: i8, b: i8) -> i8 {
    let part = |factor: i32, x: i8| ((i64::from(factor) * (256 * i64::from(x))) >> 16) as i32;
    let sum = p.start.wrapping_add(part(p.x, a)).wrapping_add(part(p.y, b));
    (sum >> shift).clamp(-128, 127) as i8
}

fn describe(shift: u32, p: &AddLinear, n: usize) -> Case {
    Case::new().with("shift", shift).with("x", p.x).with("y", p.y).with("start", p.start).with("n", n)
}

fn by_definition(rng: &mut Rng, mut scratch: Scratch<'_>, add: Add) -> Result<(), Mismatch> {
    let (shift, p) = parameters(rng);
    let n = rng.size(0, 70);
    let a = cells(scratch.bytes.take_at(n + rng.size(0, 2), rng.size(0, 3)));
    let b = cells(scratch.bytes.take_at(n + rng.size(0, 2), rng.size(0, 3)));
    rng.fill_i8_cells(a);
    rng.fill_i8_cells(b);
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    for (y, (a, b)) in y.expected().iter().zip(a.iter().zip(b)) {
        y.set(defined(shift, &p, a.get(), b.get()));
    }
    add(shift, &p, a, b, y.got());
    y.compare(describe(shift, &p, n))
}

fn add_i8_dsp_of_a_constant(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let (_, p) = parameters(rng);
    let n = rng.size(0, 20);
    let (a, b) = (scratch.bytes.take_at(n, rng.size(0, 3)), scratch.bytes.take_at(n, rng.size(0, 3)));
    rng.fill_i8(a);
    rng.fill_i8(b);
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    for (y, (a, b)) in y.expected().iter().zip(a.iter().zip(b.iter())) {
        y.set(defined(21, &p, *a, *b));
    }
    add_i8_dsp::<21>(&p, cells(a), &*b, y.got());
    y.compare(describe(21, &p, n))
}

/// The result in the place of an operand, or below it.
fn over_its_operand(rng: &mut Rng, mut scratch: Scratch<'_>, add: Add) -> Result<(), Mismatch> {
    let (shift, p) = parameters(rng);
    let n = rng.size(0, 40);
    let below = rng.pick(&[0, 0, 1, 2, 3, 4, 5, 9, 16]);
    let y = scratch.bytes.twins(n + below, rng.size(0, 3), 0);
    let other = cells(scratch.bytes.take_at(n, rng.size(0, 3)));
    rng.fill_i8_cells(y.expected());
    rng.fill_i8_cells(other);
    y.got().iter().zip(y.expected()).for_each(|(to, from)| to.set(from.get()));
    let (swapped, twice) = (rng.one_in(2), rng.one_in(4));
    for i in 0..n {
        let (at, other) = (y.expected()[i + below].get(), other[i].get());
        let other = if twice { at } else { other };
        let (a, b) = if swapped { (other, at) } else { (at, other) };
        y.expected()[i].set(defined(shift, &p, a, b));
    }
    let at = &y.got()[below..];
    let other = if twice { at } else { other };
    let (a, b) = if swapped { (other, at) } else { (at, other) };
    add(shift, &p, a, b, &y.got()[..n]);
    y.compare(describe(shift, &p, n).with("below", below))
}

/// How a quantisation is called.
type Quantize = fn(&QuantizeLinear, &[Cell<f32>], &[Cell<i8>]);

/// Around the steps of the result, and numbers of any kind.
fn quantize(rng: &mut Rng, mut scratch: Scratch<'_>, kernel: Quantize, even: bool) -> Result<(), Mismatch> {
    let scale = f32::from_bits(rng.int(0x3000_0000, 0x4200_0000) as u32);
    let scale = if rng.one_in(8) { f32::from_bits(scale.to_bits() & 0x7f80_0000) } else { scale };
    let zero_point = i32::from(rng.i8());
    let exact = 1.0 / f64::from(scale);
    let nearest = exact as f32;
    let high = if f64::from(nearest) > exact { f32::from_bits(nearest.to_bits() - 1) } else { nearest };
    let low = ((exact - f64::from(high)) as f32).max(f32::MIN_POSITIVE);
    let p = QuantizeLinear { high, low, scale, zero_point };
    let n = rng.size(0, 40);
    let mut x = [0.0f32; 40];
    for x in &mut x {
        *x = match rng.int(0, 9) {
            0 => f32::from_bits(rng.word()),
            1 => {
                rng.pick(&[f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, -0.0, f32::MAX, f32::MIN, 1e-40])
            }
            2 => rng.int(-20_000, 20_000) as f32 * scale / 64.0,
            _ => {
                let step = (rng.int(-260, 260) as f32 + 0.5) * scale;
                f32::from_bits(step.to_bits().wrapping_add(rng.int(-2, 2) as u32))
            }
        };
    }
    let x = Cell::from_mut(&mut x[..]).as_slice_of_cells();
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    let x = &x[..n];
    match even {
        true => quantize_f32_i8_even(scale, zero_point, x, y.expected()),
        false => quantize_f32_i8(scale, zero_point, x, y.expected()),
    }
    kernel(&p, x, y.got());
    y.compare(Case::new().with("scale's bits", scale.to_bits()).with("zero_point", zero_point).with("n", n))
}
