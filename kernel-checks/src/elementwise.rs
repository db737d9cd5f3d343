//! Sums, products and tables.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{add_i8_dsp, AddLinear};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "add_i8_dsp, by definition", run: add_i8_dsp_by_definition },
    Check { name: "add_i8_dsp, of a constant", run: add_i8_dsp_of_a_constant },
    Check { name: "add_i8_dsp, over its operand", run: add_i8_dsp_over_its_operand },
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

fn add_i8_dsp_by_definition(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
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
fn add_i8_dsp_over_its_operand(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
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
