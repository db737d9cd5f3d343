//! Tables and products of cores with Helium.

use crate::{cells, Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{lookup_8, lookup_8_mve, mul_i8, mul_i8_mve, Broadcast, MulParams, Scale};

pub(crate) const CHECKS: &[Check] = &[
    Check { name: "lookup_8_mve", run: lookup_8_mve_against_portable },
    Check { name: "mul_i8_mve", run: mul_i8_mve_against_portable },
];

/// The result in a place of its own, in that of the operand, or below it.
fn lookup_8_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let table: [u8; 256] = core::array::from_fn(|_| rng.i8() as u8);
    let n = rng.size(0, 90);
    let below = rng.pick(&[0, 1, 2, 16, 33, n]);
    let mut memories = [[0u8; 200]; 2];
    let any = memories[0].map(|_| rng.i8() as u8);
    let kernels: [fn(&[u8; 256], &[Cell<u8>], &[Cell<u8>]); 2] = [lookup_8_mve, lookup_8];
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

/// Images of which the second one may be repeated along any axes; sometimes the first one is, or the result lies over an operand.
fn mul_i8_mve_against_portable(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    let last = rng.pick(&[1, 3, 8, 16, 19, 40]);
    let dims = [1, 1, 1, rng.size(1, 3), rng.size(1, 4), last];
    let mut strides = [dims; 2].map(|dims| {
        let mut step = 1;
        let mut strides = [0; 6];
        for (stride, dim) in strides.iter_mut().zip(dims).rev() {
            // The compiler's steps along axes of one element are 0.
            *stride = if dim == 1 || rng.one_in(3) { 0 } else { step };
            step *= if *stride == 0 { 1 } else { dim };
        }
        strides
    });
    if rng.one_in(2) {
        strides[0] = core::array::from_fn(|axis| dims[axis + 1..].iter().product());
    }
    let [a_steps, b_steps] = strides;
    let shape = Broadcast { dims, a: a_steps, b: b_steps };
    let n = dims.iter().product();
    let (lo, hi) = rng.clamp(-128);
    let [x_zero, y_zero, out_zero] = [0; 3].map(|_| i32::from(rng.i8()));
    let shift = if rng.one_in(8) { rng.int(-31, 4) } else { rng.int(-12, 0) };
    let out = Scale { multiplier: rng.int(1 << 30, i32::MAX), shift };
    let p = MulParams { x_zero, y_zero, out, out_zero, lo, hi };
    let [a, b] = [0; 2].map(|_| {
        let x = scratch.bytes.take_at(n, rng.size(0, 3));
        rng.fill_i8(x);
        cells(x)
    });
    let y = scratch.bytes.twins(n, rng.size(0, 3), rng.i8());
    mul_i8(&shape, &p, a, b, y.expected());
    let over = rng.one_in(3) && a_steps[5] == 1 && n == a.len() && a_steps[3] != 0 && a_steps[4] != 0;
    if over {
        y.got().iter().zip(a).for_each(|(y, a)| y.set(a.get()));
        mul_i8_mve(&shape, &p, y.got(), b, y.got());
    } else {
        mul_i8_mve(&shape, &p, a, b, y.got());
    }
    let case = Case::new().with("rows", dims[3]).with("columns", dims[4]).with("last", last);
    y.compare(
        case.with("a", a_steps[5]).with("b", b_steps[5]).with("shift", shift).with("over", i32::from(over)),
    )
}
