//! How much memory a file may make the reader allocate.

use crate::{Lowered, Refusal};
use kiln_ir::error::Error;

/// Allowance that every file has, however small.
const BASE: usize = 8 << 10;
/// Bytes of allowance per byte of file: weights of int4 become bytes, and then floats.
const PER_BYTE: usize = 11;

/// Bytes of weights that operators without any may stand for, on top of a file's allowance: Resize has a matrix for each axis.
const MADE: usize = 256 << 10;

/// Most operators and tensors of subgraphs that all branches and passes of loops may come to.
const INLINED: usize = 1 << 13;
/// Bytes of allowance for each of these.
const PER_INLINED: usize = 2 << 10;

/// Bytes of waves that short-time transforms of real signals may stand for, on top of all that: those of frames of 4096 numbers. A file cannot ask for them without a signal that is as long.
const WAVES: usize = 4 * (4096 + 2) * 4096;

/// Most nodes of the graph of a small file. Each takes about 2 KB where the compilation needs most memory.
const NODES: usize = 13 << 9;
/// Bytes of file for each further node.
const BYTES_PER_NODE: usize = 128;

/// What is left of a file's allowance. A file can name the same few bytes many times (a table in a list of tables, a
/// shape, a buffer); whoever makes a copy charges it here first, so that the sum stays in proportion to the file.
pub(crate) struct Budget {
    left: usize,
    made: usize,
    inlined: usize,
    waves: usize,
    nodes: usize,
    most_nodes: usize,
}

impl Budget {
    /// The allowance of a file of that size.
    pub(crate) fn new(file_bytes: usize) -> Self {
        let left = file_bytes.saturating_mul(PER_BYTE).saturating_add(BASE);
        let most_nodes = NODES.saturating_add(file_bytes / BYTES_PER_NODE);
        Budget { left, made: MADE, inlined: INLINED, waves: WAVES, nodes: 0, most_nodes }
    }

    /// Takes `bytes` from the allowance.
    pub(crate) fn charge(&mut self, bytes: usize) -> Result<(), Error> {
        let what = "it declares more data than a file of its size can contain";
        self.left = self.left.checked_sub(bytes).ok_or_else(|| Error::malformed("model", what))?;
        Ok(())
    }

    /// Adds so many bytes to the allowance, for weights that follow from an operator's attributes: as long as all of them are few.
    pub(crate) fn make(&mut self, bytes: usize) {
        let made = bytes.min(self.made);
        self.made -= made;
        self.left = self.left.saturating_add(made);
    }

    /// Takes a node with so many operands from the allowance. An operator may stand for many nodes: of a recurrent layer, those of all its steps.
    pub(crate) fn node(&mut self, operands: usize) -> Lowered {
        if self.nodes == self.most_nodes {
            let what = format!("with it, the graph has more than {} operations", self.most_nodes);
            let help = "let loops and recurrent layers run fewer steps, or compile one step and write the loop in your own code";
            return Err(Refusal::unsupported(what, help));
        }
        self.nodes += 1;
        Ok(self.charge(256 + 16 * operands)?)
    }

    /// Takes operators and tensors of a branch, or of a pass of a loop, from what loops may come to. Their bytes are on top of the file's
    /// allowance. `false` if that is too much.
    pub(crate) fn inline(&mut self, count: usize) -> bool {
        let Some(left) = self.inlined.checked_sub(count.max(1)) else { return false };
        self.inlined = left;
        self.left = self.left.saturating_add(count.saturating_mul(PER_INLINED));
        true
    }

    /// Adds so many bytes to the allowance, for the waves of a Fourier transform. `false` if all of them are too many.
    pub(crate) fn waves(&mut self, bytes: usize) -> bool {
        let Some(left) = self.waves.checked_sub(bytes) else { return false };
        self.waves = left;
        self.left = self.left.saturating_add(bytes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waves_are_bounded() {
        let mut budget = Budget::new(0);
        assert!(budget.waves(WAVES - 1) && budget.charge(BASE + WAVES - 1).is_ok());
        assert!(!budget.waves(2) && budget.charge(1).is_err() && budget.waves(1));
    }

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
    fn weights_that_are_made_are_bounded() {
        let mut budget = Budget::new(0);
        budget.make(MADE - 1);
        budget.make(MADE);
        assert!(budget.charge(BASE + MADE + 1).is_err());
        assert!(budget.charge(BASE + MADE).is_ok());
    }

    #[test]
    fn nodes_are_bounded() {
        let mut budget = Budget::new(BYTES_PER_NODE);
        budget.left = usize::MAX;
        assert_eq!((0..).take_while(|_| budget.node(2).is_ok()).count(), NODES + 1);
        assert!(matches!(budget.node(2), Err(Refusal::Unsupported(..))));
        assert!(matches!(Budget { left: 100, ..Budget::new(0) }.node(0), Err(Refusal::Fatal(_))));
    }

    #[test]
    fn the_sum_is_bounded() {
        let mut budget = Budget::new(1000);
        assert!(budget.charge(17_000).is_ok());
        assert!(budget.charge(3_000).is_err());
        assert!(budget.charge(2_000).is_ok());
        assert!(Budget::new(usize::MAX).charge(usize::MAX).is_ok());
    }
}
