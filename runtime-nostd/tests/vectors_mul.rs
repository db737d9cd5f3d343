//! Products of integers against their portable twins: the same bits at every level that this processor has.
#![allow(clippy::unwrap_used)]

mod simd;

use kiln::kernels::{mul_i8, mul_i8_simd, Broadcast, MulParams, Scale};
use simd::{at_each_level, cells, Random};

impl Random {
    fn byte(&mut self) -> i8 {
        match self.below(8) {
            0 => i8::MIN,
            1 => i8::MAX,
            _ => self.below(256) as u8 as i8,
        }
    }
}

/// Strides of an operand with some of the dimensions, the others repeated, and how many elements it has.
fn operand(random: &mut Random, dims: [usize; 6]) -> ([usize; 6], usize) {
    let (mut strides, mut len) = ([0; 6], 1);
    for axis in (0..6).rev() {
        if dims[axis] > 1 && random.below(3) > 0 {
            strides[axis] = len;
            len *= dims[axis];
        }
    }
    (strides, len)
}

fn product(random: &mut Random) {
    let dims = [1, 1, 1, 1 + random.below(3), 1 + random.below(4), 1 + random.below(70)];
    let ((a, a_len), (b, b_len)) = (operand(random, dims), operand(random, dims));
    let (lo, hi) = match random.below(2) {
        0 => (-128, 127),
        _ => (-128 + random.below(100) as i32, 127 - random.below(100) as i32),
    };
    let p = MulParams {
        x_zero: random.byte().into(),
        y_zero: random.byte().into(),
        out_zero: random.byte().into(),
        // Now and then one that the kernel leaves to its twin.
        out: Scale {
            multiplier: (1 << 30) + random.below(1 << 30) as i32,
            shift: 1 - random.below(14) as i32,
        },
        lo,
        hi,
    };
    let operands = [a_len, b_len].map(|len| (0..len).map(|_| random.byte()).collect::<Vec<i8>>());
    let shape = Broadcast { dims, a, b };
    let len = dims.iter().product();
    let (mut expected, mut actual) = (vec![0; len], vec![0; len + 2]);
    mul_i8(&shape, &p, &operands[0][..], &operands[1][..], cells(&mut expected));
    mul_i8_simd(&shape, &p, &operands[0][..], &operands[1][..], cells(&mut actual[1..=len]));
    assert_eq!(actual[1..=len], expected, "{shape:?} {p:?}");
    assert_eq!([actual[0], actual[len + 1]], [0; 2], "something was written beside the result");
}

#[test]
fn as_their_portable_twins() {
    at_each_level(|random| {
        for _ in 0..2000 {
            product(random);
        }
    });
}
