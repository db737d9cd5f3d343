//! How much memory a file may make the reader allocate.

use crate::error::Error;

/// Allowance that every file has, however small.
const BASE: usize = 8 << 10;
/// Bytes of allowance per byte of file.
const PER_BYTE: usize = 8;

/// What is left of a file's allowance. A file can name the same few bytes many times (a table in a list of tables, a
/// shape, a buffer); whoever makes a copy charges it here first, so that the sum stays in proportion to the file.
pub(super) struct Budget {
    left: usize,
}

impl Budget {
    /// The allowance of a file of that size.
    pub(super) fn new(file_bytes: usize) -> Self {
        Budget { left: file_bytes.saturating_mul(PER_BYTE).saturating_add(BASE) }
    }

    /// Takes `bytes` from the allowance.
    pub(super) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        let what = "it declares more than a file of its size can hold";
        self.left = self.left.checked_sub(bytes).ok_or_else(|| Error::malformed("model", what))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_bounded() {
        let mut budget = Budget::new(1000);
        assert!(budget.charge(14_000).is_ok());
        assert!(budget.charge(3_000).is_err());
        assert!(budget.charge(2_000).is_ok());
        assert!(Budget::new(usize::MAX).charge(usize::MAX).is_ok());
    }
}
