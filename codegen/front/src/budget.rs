//! How much memory a file may make the reader allocate.

use kiln_ir::error::Error;

/// Allowance that every file has, however small.
const BASE: usize = 8 << 10;
/// Bytes of allowance per byte of file.
const PER_BYTE: usize = 8;

/// Most operators and tensors of subgraphs that all branches and passes of loops may come to.
const INLINED: usize = 1 << 13;
/// Bytes of allowance for each of these.
const PER_INLINED: usize = 2 << 10;

/// What is left of a file's allowance. A file can name the same few bytes many times (a table in a list of tables, a
/// shape, a buffer); whoever makes a copy charges it here first, so that the sum stays in proportion to the file.
pub(crate) struct Budget {
    left: usize,
    inlined: usize,
}

impl Budget {
    /// The allowance of a file of that size.
    pub(crate) fn new(file_bytes: usize) -> Self {
        Budget { left: file_bytes.saturating_mul(PER_BYTE).saturating_add(BASE), inlined: INLINED }
    }

    /// Takes `bytes` from the allowance.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        let what = "it declares more data than a file of its size can contain";
        self.left = self.left.checked_sub(bytes).ok_or_else(|| Error::malformed("model", what))?;
        Ok(())
    }

    /// Takes operators and tensors of a branch, or of a pass of a loop, from what loops may come to. Their bytes are on top of the file's
    /// allowance. `false` if that is too much.
    pub(crate) fn inline(&mut self, count: usize) -> bool {
        let Some(left) = self.inlined.checked_sub(count.max(1)) else { return false };
        self.inlined = left;
        self.left = self.left.saturating_add(count.saturating_mul(PER_INLINED));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loops_are_bounded() {
        let mut budget = Budget::new(0);
        assert_eq!((0..).take_while(|_| budget.inline(0)).count(), INLINED);
        assert!(budget.charge(BASE + 1).is_err());
        let mut budget = Budget::new(0);
        assert!(budget.inline(2) && budget.charge(BASE + 2 * PER_INLINED).is_ok());
        assert!(!budget.inline(INLINED - 1) && budget.inline(INLINED - 2));
    }

    #[test]
    fn the_sum_is_bounded() {
        let mut budget = Budget::new(1000);
        assert!(budget.charge(14_000).is_ok());
        assert!(budget.charge(3_000).is_err());
        assert!(budget.charge(2_000).is_ok());
        assert!(Budget::new(usize::MAX).charge(usize::MAX).is_ok());
    }
}
