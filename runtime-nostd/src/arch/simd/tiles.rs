//! Functions that are compiled for a number of vectors or of pixels, so that all of them stay in registers.

/// An expression of the constant `$n`: the vectors of `$s` that a block is.
macro_rules! with_block {
    ($s:ident, $n:ident => $with:expr) => {
        match $s::LANES {
            16 => {
                const $n: usize = 1;
                $with
            }
            8 => {
                const $n: usize = 2;
                $with
            }
            _ => {
                const $n: usize = 4;
                $with
            }
        }
    };
}

pub(super) use with_block;
