//! Depthwise convolution in plain Rust.

use crate::arch::v6m::depthwise::Table;
use crate::kernels::HalfRequant;
use core::cell::Cell;

/// One tap: elements and weights, of all channels of the block and more. The elements are those of a row of the image from some on, or padding.
#[derive(Clone, Copy)]
pub(crate) struct Tap<'a> {
    x: &'a [Cell<i8>],
    w: &'a [i8],
}

impl<'a> Tap<'a> {
    pub(crate) const NONE: Self = Tap { x: &[], w: &[] };

    pub(crate) fn new(x: &'a [Cell<i8>], w: &'a [i8]) -> Self {
        Tap { x, w }
    }

    pub(crate) fn read(&mut self, x: &'a [Cell<i8>]) {
        self.x = x;
    }

    pub(crate) fn advance(&mut self, step: usize) {
        self.x = self.x.get(step..).unwrap_or(&[]);
    }
}

/// Results of the channels of a block, with the constants that `channels` begins with.
pub(crate) fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    for (c, (out, channel)) in out.iter().zip(channels.chunks_exact(q.words.max(4))).enumerate() {
        let [first, limit, constant, multiplier, ref signed @ ..] = *channel else { return };
        let product = |tap: &Tap<'_>| match (tap.x.get(c), tap.w.get(c)) {
            (Some(x), Some(&w)) => i32::from(x.get()) * i32::from(w),
            _ => 0,
        };
        let v = table.taps.iter().take(table.len).map(product).fold(first, i32::wrapping_add);
        let constant = match *signed {
            [origin, below] if v < origin => below,
            _ => constant,
        };
        out.set(q.apply(v, limit, constant, multiplier));
    }
}
