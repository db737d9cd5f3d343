//! Ops that move elements without looking at them: all are one strided copy.

use super::*;

/// Most axes of a strided kernel.
pub(super) const MAX_RANK: usize = 6;

/// Bytes of a word.
const WORD: usize = 4;

/// Right-aligned in six places, filled from the left.
pub(super) fn pad6<T: Copy + TryInto<i64>>(dims: &[T], fill: i64) -> Vec<i64> {
    let given = dims.iter().map(|&d| d.try_into().unwrap_or(i64::MAX));
    std::iter::repeat_n(fill, MAX_RANK.saturating_sub(dims.len())).chain(given).collect()
}

/// What a copy reads.
#[derive(Clone)]
pub(super) enum Source {
    Region(Region),
    Constant(Data),
}

/// A strided copy in elements: `dst[dst_offset + Σ i·dst] = src[src_offset + Σ i·src]`.
pub(super) struct Moves {
    dims: Vec<usize>,
    src: Vec<i64>,
    src_offset: usize,
    dst: Vec<usize>,
    dst_offset: usize,
}

impl Moves {
    /// `len` consecutive elements.
    pub(super) fn linear(len: usize) -> Self {
        Moves { dims: vec![len], src: vec![1], src_offset: 0, dst: vec![1], dst_offset: 0 }
    }

    /// Merges axes that are contiguous on both sides and drops those of size 1.
    fn collapse(mut self) -> Self {
        let mut axis = 0;
        while axis < self.dims.len() {
            if self.dims[axis] == 1 {
                self.remove(axis);
            } else if axis > 0 && self.merges(axis) {
                self.dims[axis] *= self.dims[axis - 1];
                self.remove(axis - 1);
            } else {
                axis += 1;
            }
        }
        self
    }

    /// The same movement of bytes as one of 32-bit words, where all runs begin and end on words.
    ///
    /// Also right where source and destination overlap: a word that is written ends before the next one that is read if its
    /// bytes did.
    fn as_words(&self) -> Option<Self> {
        let last = self.dims.len().checked_sub(1)?;
        let runs = self.src[last] == 1 && self.dst[last] == 1 && self.dims[last] % WORD == 0;
        let outer = (0..last).all(|axis| self.src[axis] % WORD as i64 == 0 && self.dst[axis] % WORD == 0);
        if !runs || !outer || self.src_offset % WORD != 0 || self.dst_offset % WORD != 0 {
            return None;
        }
        let mut words = Moves {
            dims: self.dims.clone(),
            src: self.src.iter().map(|s| s / WORD as i64).collect(),
            src_offset: self.src_offset / WORD,
            dst: self.dst.iter().map(|s| s / WORD).collect(),
            dst_offset: self.dst_offset / WORD,
        };
        words.dims[last] /= WORD;
        (words.src[last], words.dst[last]) = (1, 1);
        Some(words)
    }

    fn merges(&self, axis: usize) -> bool {
        let n = self.dims[axis];
        self.src[axis - 1] == self.src[axis] * n as i64 && self.dst[axis - 1] == self.dst[axis] * n
    }

    /// How many elements these are, if they are consecutive on both sides and the axes collapsed.
    fn consecutive(&self) -> Option<usize> {
        match (&self.dims[..], &self.src[..], &self.dst[..]) {
            ([], [], []) => Some(1),
            (&[len], [1], [1]) => Some(len),
            _ => None,
        }
    }

    /// The kernel's `Copy`.
    fn params(&self) -> Struct {
        let fields = vec![
            ("dims", Field::Ints(pad6(&self.dims, 1))),
            ("src", Field::Ints(pad6(&self.src, 0))),
            ("src_offset", int(self.src_offset)),
            ("dst", Field::Ints(pad6(&self.dst, 0))),
            ("dst_offset", int(self.dst_offset)),
        ];
        Struct { name: "Copy", fields }
    }

    fn remove(&mut self, axis: usize) {
        self.dims.remove(axis);
        self.src.remove(axis);
        self.dst.remove(axis);
    }
}

impl<'a> Selector<'a> {
    /// Where a value is read.
    pub(super) fn source_of(&self, value: ValueId) -> Result<Source, Problem> {
        match self.graph.const_data(value) {
            Some(data) => Ok(Source::Constant(data.clone())),
            None => Ok(Source::Region(self.region(value)?)),
        }
    }

    pub(super) fn moves(&mut self, from: Source, to: Region, moves: Moves) -> Selected {
        let moves = moves.collapse();
        if moves.dims.len() > MAX_RANK {
            return Err(Problem {
                place: self.comment.clone(),
                what: format!(
                    "moves elements along {} axes at once, at most {MAX_RANK} are possible",
                    moves.dims.len()
                ),
                help: "split the op in the model, or join axes that stay together".into(),
            });
        }
        let element = word(to.element);
        let words = element == "u8" && in_words(&from) && to.offset % WORD == 0;
        let (moves, element) = match moves.as_words().filter(|_| words) {
            Some(words) => (words, "u32"),
            None => (moves, element),
        };
        let to = to.seen_as(element);
        let from = match from {
            Source::Region(region) => Source::Region(region.seen_as(element)),
            constant => constant,
        };
        let (params, from, to) = match (moves.consecutive(), from) {
            (Some(len), Source::Region(from)) => {
                let from = Source::Region(from.part(moves.src_offset, len));
                (Arg::Linear(len), from, to.part(moves.dst_offset, len))
            }
            (Some(len), constant) if moves.src_offset == 0 => {
                (Arg::Linear(len), constant, to.part(moves.dst_offset, len))
            }
            (_, from) => (Arg::Struct(moves.params()), from, to),
        };
        let from = match from {
            Source::Region(region) => Arg::Cells(region),
            Source::Constant(data) => Arg::Constant(self.step_constant("OPERAND", data), element),
        };
        self.call("copy", vec![params, from, Arg::Cells(to)]);
        Ok(())
    }

    pub(super) fn pad(&mut self, node: &'a Node, before: &[usize], value: i64) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let to = self.region(node.result)?;
        // The stored value as an unsigned word of the element's size.
        let bits = match tx.dtype.size() {
            1 => value & 0xff,
            2 => value & 0xffff,
            4 => value & 0xffff_ffff,
            _ => value,
        };
        self.call("fill", vec![Arg::Int(bits), Arg::Cells(to.seen_as(word(to.element)))]);
        let dst = out.shape.strides();
        let dst_offset = before.iter().zip(&dst).map(|(b, s)| b * s).sum();
        let src = tx.shape.strides().iter().map(|&s| s as i64).collect();
        let moves = Moves { dims: tx.shape.dims().to_vec(), src, src_offset: 0, dst, dst_offset };
        self.moves(self.source_of(node.operands[0])?, to, moves)
    }

    pub(super) fn concat(&mut self, node: &'a Node, axis: usize) -> Selected {
        let out = self.ty(node.result);
        let to = self.region(node.result)?;
        let dst = out.shape.strides();
        let mut first = 0;
        for &operand in &node.operands {
            let ty = self.ty(operand);
            let dst_offset = first * dst[axis];
            first += ty.shape.dims()[axis];
            let from = self.source_of(operand)?;
            let place = to.part(dst_offset, ty.shape.numel());
            if matches!(from, Source::Region(region) if region == place) {
                continue;
            }
            let src = ty.shape.strides().iter().map(|&s| s as i64).collect();
            let moves =
                Moves { dims: ty.shape.dims().to_vec(), src, src_offset: 0, dst: dst.clone(), dst_offset };
            self.moves(from, to, moves)?;
        }
        Ok(())
    }

    pub(super) fn slice(&mut self, node: &'a Node, begin: &[usize], step: &[i64]) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let strides = tx.shape.strides();
        let src_offset = begin.iter().zip(&strides).map(|(b, s)| b * s).sum();
        let src = step.iter().zip(&strides).map(|(&k, &s)| k * s as i64).collect();
        let moves = Moves {
            dims: out.shape.dims().to_vec(),
            src,
            src_offset,
            dst: out.shape.strides(),
            dst_offset: 0,
        };
        self.moves(self.source_of(node.operands[0])?, self.region(node.result)?, moves)
    }

    pub(super) fn transpose(&mut self, node: &'a Node, perm: &[usize]) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let strides = tx.shape.strides();
        let src = perm.iter().map(|&axis| strides[axis] as i64).collect();
        let dims = out.shape.dims().to_vec();
        let moves = Moves { dims, src, src_offset: 0, dst: out.shape.strides(), dst_offset: 0 };
        self.moves(self.source_of(node.operands[0])?, self.region(node.result)?, moves)
    }
}

/// Whether what is read begins on a word (and, as a constant, is made of words).
fn in_words(from: &Source) -> bool {
    match from {
        Source::Region(region) => region.offset % WORD == 0,
        Source::Constant(data) => data.bytes().len() % WORD == 0,
    }
}

/// The unsigned word as which an element of that Rust type is moved.
fn word(element: &str) -> &'static str {
    match element {
        "i8" | "u8" => "u8",
        "i16" | "u16" => "u16",
        "i64" | "u64" => "u64",
        _ => "u32",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_axes_collapse() {
        let moves = Moves {
            dims: vec![1, 4, 5, 6],
            src: vec![120, 30, 6, 1],
            src_offset: 0,
            dst: vec![240, 60, 6, 1],
            dst_offset: 0,
        };
        let moves = moves.collapse();
        assert_eq!((moves.dims, moves.src, moves.dst), (vec![4, 30], vec![30, 1], vec![60, 1]));
    }

    #[test]
    fn bytes_move_as_words_where_all_runs_are_words() {
        let rows = |width: usize, stride: usize, offset: usize| Moves {
            dims: vec![3, width],
            src: vec![stride as i64, 1],
            src_offset: offset,
            dst: vec![width, 1],
            dst_offset: 0,
        };
        let words = rows(8, 12, 4).as_words().unwrap();
        assert_eq!(
            (words.dims, words.src, words.src_offset, words.dst),
            (vec![3, 2], vec![3, 1], 1, vec![2, 1])
        );
        assert!(rows(6, 12, 4).as_words().is_none());
        assert!(rows(8, 10, 4).as_words().is_none());
        assert!(rows(8, 12, 2).as_words().is_none());
    }

    #[test]
    fn consecutive_elements_are_known() {
        let moves = |dst: Vec<usize>| Moves {
            dims: vec![1, 4, 5],
            src: vec![20, 5, 1],
            src_offset: 3,
            dst,
            dst_offset: 7,
        };
        assert_eq!(moves(vec![20, 5, 1]).collapse().consecutive(), Some(20));
        assert_eq!(moves(vec![40, 10, 1]).collapse().consecutive(), None);
        assert_eq!(Moves::linear(1).collapse().consecutive(), Some(1));
    }

    #[test]
    fn six_places() {
        assert_eq!(pad6(&[2usize, 3], 1), [1, 1, 1, 1, 2, 3]);
        assert_eq!(pad6(&[-2i64], 0), [0, 0, 0, 0, 0, -2]);
    }
}
