//! Products of floats, which some cores sum four filters at a time.

use crate::{Case, Check, Mismatch, Rng, Scratch};
use core::cell::Cell;
use kiln::kernels::{dense_f32, Band, Rows};

pub(crate) const CHECKS: &[Check] = &[Check { name: "dense_f32, by definition", run: dense }];

/// Products are rounded, and summed in order.
fn dense(rng: &mut Rng, mut scratch: Scratch<'_>) -> Result<(), Mismatch> {
    const MOST: usize = 23;
    let (size, filters) = (rng.size(1, MOST), rng.size(1, MOST));
    let mut number = || rng.int(-4000, 4000) as f32 / 37.0;
    let x = [(); MOST].map(|()| Cell::new(number()));
    let (mut w, bias) = ([0.0; MOST * MOST], [(); MOST].map(|()| number()));
    w.iter_mut().for_each(|w| *w = number());
    let (x, bias) = (&x[..size], &bias[..filters]);
    let y = scratch.words.twins(filters, 0, 0);
    let out = [const { Cell::new(0.0) }; MOST];
    let band = Band { first: 0, rows: 1 };
    dense_f32(
        Rows::whole(x, size),
        &w[..size * filters],
        bias,
        -300.0,
        1e9,
        Rows::whole(&out[..filters], filters),
        band,
    );
    for (o, (y, expected)) in y.got().iter().zip(y.expected()).enumerate() {
        // Filters alternate in fours; those that are left follow one by one.
        let four = o / 4 * 4;
        let weight = |i: usize| if four + 4 <= filters { four * size + 4 * i + o % 4 } else { o * size + i };
        let sum = x.iter().enumerate().fold(0.0, |sum: f32, (i, x)| sum + x.get() * w[weight(i)]);
        expected.set((sum + bias[o]).max(-300.0).to_bits() as i32);
        y.set(out[o].get().to_bits() as i32);
    }
    y.compare(Case::new().with("size", size).with("filters", filters))
}
