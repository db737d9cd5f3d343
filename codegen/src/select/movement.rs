//! Ops that move elements without looking at them: all are one strided copy.

use super::elementwise::broadcast_strides;
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

/// Words that are worth a kernel of their own, and bytes where there are vectors.
const LEAST_WORDS: usize = 8;
const LEAST_BYTES: usize = 16;

/// What is read.
#[derive(Clone)]
pub(super) enum Source {
    Cells(Cells),
    Constant(Data),
    /// The row that a call is made for, with bytes per row.
    ConstantRow(Data, usize),
}

impl Source {
    /// Whether it begins on a word (and, as a constant, is made of words).
    fn in_words(&self) -> bool {
        match self {
            Source::Cells(cells) => cells.in_words(WORD),
            Source::Constant(data) => data.bytes().len() % WORD == 0,
            Source::ConstantRow(data, row) => data.bytes().len() % WORD == 0 && row % WORD == 0,
        }
    }

    fn seen_as(self, element: Element) -> Self {
        match self {
            Source::Cells(cells) => Source::Cells(cells.seen_as(element)),
            constant => constant,
        }
    }

    /// The `len` elements from the one at index `first` on, where that is a place of its own.
    fn part(&self, first: usize, len: usize) -> Option<Self> {
        match self {
            Source::Cells(cells) => Some(Source::Cells(part(*cells, first, len)?)),
            constant => (first == 0).then(|| constant.clone()),
        }
    }
}

/// The `len` cells from the one at index `first` on, where that is a place of its own.
fn part(cells: Cells, first: usize, len: usize) -> Option<Cells> {
    match cells {
        Cells::All(region) => Some(Cells::All(region.part(first, len))),
        Cells::Row(_) => (first == 0).then_some(cells),
    }
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

    /// The same movement as one of 32-bit words, of `each` elements, where all runs begin and end on words.
    ///
    /// Also right where source and destination overlap: a word that is written ends before the next one that is read if its
    /// elements did.
    fn as_words(&self, each: usize) -> Option<Self> {
        let last = self.dims.len().checked_sub(1)?;
        let runs = self.src[last] == 1 && self.dst[last] == 1 && self.dims[last] % each == 0;
        let outer = (0..last).all(|axis| self.src[axis] % each as i64 == 0 && self.dst[axis] % each == 0);
        if !runs || !outer || self.src_offset % each != 0 || self.dst_offset % each != 0 {
            return None;
        }
        let mut words = Moves {
            dims: self.dims.clone(),
            src: self.src.iter().map(|s| s / each as i64).collect(),
            src_offset: self.src_offset / each,
            dst: self.dst.iter().map(|s| s / each).collect(),
            dst_offset: self.dst_offset / each,
        };
        words.dims[last] /= each;
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
    /// Where an operand of `result` is read: all of it, or the row that the call is made for.
    pub(super) fn source_of(&self, value: ValueId, result: ValueId) -> Result<Source, Problem> {
        let Some(data) = self.graph.const_data(value) else {
            return Ok(Source::Cells(self.cells(value, result)?));
        };
        let all = self.ty(value).bytes();
        Ok(match self.axis_of_rows(value, result).map(|axis| self.ty(value).shape.dims()[axis]) {
            Some(rows) if rows > 1 => Source::ConstantRow(data.clone(), all / rows),
            _ => Source::Constant(data.clone()),
        })
    }

    /// What is read, as an argument with elements of that Rust type.
    pub(super) fn source_arg(&mut self, source: Source, element: Element) -> Arg {
        match source {
            Source::Cells(cells) => Arg::Cells(cells.seen_as(element)),
            Source::Constant(data) => self.constant_arg("OPERAND", data, element),
            Source::ConstantRow(data, row) => {
                let row = row / element.bytes();
                Arg::ConstantRow(self.step_constant("OPERAND", data), element, row)
            }
        }
    }

    pub(super) fn moves(&mut self, from: Source, to: Cells, moves: Moves) -> Selected {
        let (moves, from, to, element) = self.in_words(from, to, moves)?;
        let linear =
            |len: usize| Some((len, from.part(moves.src_offset, len)?, part(to, moves.dst_offset, len)?));
        let linear = moves.consecutive().and_then(linear);
        let kernel = self.best_of([KernelId::CopyMve, KernelId::CopyDsp, KernelId::Copy]);
        let suits = |len: usize| match kernel {
            KernelId::CopyMve => len * element.bytes() >= LEAST_BYTES,
            KernelId::CopyDsp => element == Element::U32 && len >= LEAST_WORDS,
            _ => false,
        };
        if let Some((_, from, to)) =
            linear.clone().filter(|(len, _, to)| suits(*len) && matches!(to, Cells::All(_)))
        {
            let from = self.source_arg(from, element);
            self.call(kernel, vec![from, Arg::Cells(to)]);
            return Ok(());
        }
        let (params, from, to) = match linear {
            Some((len, from, to)) => (Arg::Linear(len), from, to),
            None => (Arg::Struct(moves.params()), from, to),
        };
        let from = self.source_arg(from, element);
        self.call(KernelId::Copy, vec![params, from, Arg::Cells(to)]);
        Ok(())
    }

    /// The movement, with as few axes and of as large elements as possible, and the Rust type of these elements.
    fn in_words(
        &self,
        from: Source,
        to: Cells,
        moves: Moves,
    ) -> Result<(Moves, Source, Cells, Element), Problem> {
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
        let element = to.region().element.word();
        let each = WORD / element.bytes();
        let in_words = each > 1 && from.in_words() && to.in_words(WORD);
        let (moves, element) = match in_words.then(|| moves.as_words(each)).flatten() {
            Some(words) => (words, Element::U32),
            None => (moves, element),
        };
        Ok((moves, from.seen_as(element), to.seen_as(element), element))
    }

    pub(super) fn pad(&mut self, node: &'a Node, before: &[usize], value: i64) -> Selected {
        let x = node.operands[0];
        let out = self.shape_of_call(node.result, node.result);
        let dst = out.strides();
        // Of the rows, the kernel takes care.
        let along = |(axis, &before): (usize, &usize)| if self.by_row && axis == 1 { 0 } else { before };
        let dst_offset = before.iter().enumerate().map(along).zip(&dst).map(|(b, s)| b * s).sum();
        // Which has more rows than the operand, but one in a call as well.
        let mut operand = self.ty(x).shape.clone();
        if let Some(rows) = operand.0.get_mut(1).filter(|_| self.by_row) {
            *rows = 1;
        }
        let src = operand.strides().iter().map(|&s| s as i64).collect();
        let moves = Moves { dims: operand.dims().to_vec(), src, src_offset: 0, dst, dst_offset };
        let size = self.ty(x).dtype.size();
        if self.by_row {
            let to = Cells::Row(self.rows(node.result)?);
            let from = Source::Cells(Cells::Row(self.rows(x)?));
            let (moves, from, to, element) = self.in_words(from, to, moves)?;
            let (Source::Cells(Cells::Row(from)), Cells::Row(to)) = (from, to) else { return Ok(()) };
            let fields = vec![
                ("before", int(before.get(1).copied().unwrap_or(0))),
                ("rows", int(schedule::rows(&self.ty(x).shape))),
                ("row", Field::Struct(moves.params())),
            ];
            let params = Arg::Struct(Struct { name: "Pad", fields });
            let value = Arg::Int(repeated(value, size, element.bytes()));
            self.call(KernelId::PadRows, vec![params, value, Arg::Rows(from), Arg::Rows(to), Arg::Due]);
            return Ok(());
        }
        let to = Cells::All(self.region(node.result)?);
        let value = Arg::Int(repeated(value, size, size));
        self.call(KernelId::Fill, vec![value, Arg::Cells(to.seen_as(to.region().element.word()))]);
        self.moves(self.source_of(x, node.result)?, to, moves)
    }

    pub(super) fn concat(&mut self, node: &'a Node, axis: usize) -> Selected {
        let to = self.cells(node.result, node.result)?;
        let dst = self.shape_of_call(node.result, node.result).strides();
        let mut first = 0;
        for &operand in &node.operands {
            let shape = self.shape_of_call(operand, node.result);
            let dst_offset = first * dst[axis];
            first += shape.dims()[axis];
            let from = self.source_of(operand, node.result)?;
            let there = part(to, dst_offset, shape.numel());
            if matches!(from, Source::Cells(cells) if Some(cells) == there) {
                continue;
            }
            let src = shape.strides().iter().map(|&s| s as i64).collect();
            let moves =
                Moves { dims: shape.dims().to_vec(), src, src_offset: 0, dst: dst.clone(), dst_offset };
            self.moves(from, to, moves)?;
        }
        Ok(())
    }

    pub(super) fn slice(&mut self, node: &'a Node, begin: &[usize], step: &[i64]) -> Selected {
        let x = node.operands[0];
        let (strides, out) = (self.ty(x).shape.strides(), self.shape_of_call(node.result, node.result));
        let src_offset = begin.iter().zip(&strides).map(|(b, s)| b * s).sum();
        let src = step.iter().zip(&strides).map(|(&k, &s)| k * s as i64).collect();
        let (dims, dst) = (out.dims().to_vec(), out.strides());
        let moves = Moves { dims, src, src_offset, dst, dst_offset: 0 };
        let to = self.cells(node.result, node.result)?;
        self.moves(self.source_of(x, node.result)?, to, moves)
    }

    pub(super) fn transpose(&mut self, node: &'a Node, perm: &[usize]) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let strides = tx.shape.strides();
        let src = perm.iter().map(|&axis| strides[axis] as i64).collect();
        let dims = out.shape.dims().to_vec();
        self.move_all(node, Moves { dims, src, src_offset: 0, dst: out.shape.strides(), dst_offset: 0 })
    }

    pub(super) fn broadcast(&mut self, node: &'a Node) -> Selected {
        let (tx, out) = (self.ty(node.operands[0]), self.ty(node.result));
        let strides = broadcast_strides(&tx.shape, out.shape.rank());
        let src = strides.into_iter().map(|stride| stride as i64).collect();
        let dims = out.shape.dims().to_vec();
        self.move_all(node, Moves { dims, src, src_offset: 0, dst: out.shape.strides(), dst_offset: 0 })
    }

    pub(super) fn gather(&mut self, node: &'a Node, batch: usize, axis: usize, depth: usize) -> Selected {
        let (x, indices) = (node.operands[0], node.operands[1]);
        let (dims, named) = (self.ty(x).shape.dims(), self.ty(indices).shape.dims());
        let product = |dims: &[usize]| int(dims.iter().product());
        let mut axes = dims[axis..axis + depth].to_vec();
        if depth > MAX_RANK {
            return Err(self.too_many_axes(node, depth));
        }
        axes.resize(MAX_RANK, 1);
        let fields = vec![
            ("batch", product(&dims[..batch])),
            ("between", product(&dims[batch..axis])),
            ("axes", Field::Ints(axes.iter().map(|&dim| dim as i64).collect())),
            ("depth", int(depth)),
            ("count", product(&named[batch..named.len() - 1])),
            ("inner", product(&dims[axis + depth..])),
        ];
        let kernel = match self.ty(indices).dtype {
            DType::I32 => KernelId::GatherI32,
            DType::I64 => KernelId::GatherI64,
            _ => return Err(self.no_kernel(node)),
        };
        let element = Element::from(self.ty(x).dtype).word();
        let from = self.source_of(x, node.result)?;
        let args = vec![
            Arg::Struct(Struct { name: "Gather", fields }),
            self.source_arg(from, element),
            self.read(indices, node.result)?,
            Arg::Cells(Cells::All(self.region(node.result)?.seen_as(element))),
        ];
        self.call(kernel, args);
        Ok(())
    }

    pub(super) fn reshape(&mut self, node: &'a Node) -> Selected {
        self.move_all(node, Moves::linear(self.ty(node.result).shape.numel()))
    }

    /// From all of the operand to all of the result.
    fn move_all(&mut self, node: &'a Node, moves: Moves) -> Selected {
        let x = node.operands[0];
        let from = match self.graph.const_data(x) {
            Some(data) => Source::Constant(data.clone()),
            None => Source::Cells(Cells::All(self.region(x)?)),
        };
        self.moves(from, Cells::All(self.region(node.result)?), moves)
    }
}

/// A stored value of `from` bytes as an unsigned word of `to` bytes, which holds it several times if it is larger.
fn repeated(value: i64, from: usize, to: usize) -> i64 {
    match (from, to) {
        (1, 4) => (value & 0xff) * 0x0101_0101,
        (_, 1) => value & 0xff,
        (_, 2) => value & 0xffff,
        (_, 4) => value & 0xffff_ffff,
        _ => value,
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
    fn small_elements_move_as_words_where_all_runs_are_words() {
        let rows = |width: usize, stride: usize, offset: usize| Moves {
            dims: vec![3, width],
            src: vec![stride as i64, 1],
            src_offset: offset,
            dst: vec![width, 1],
            dst_offset: 0,
        };
        let words = rows(8, 12, 4).as_words(4).unwrap();
        assert_eq!(
            (words.dims, words.src, words.src_offset, words.dst),
            (vec![3, 2], vec![3, 1], 1, vec![2, 1])
        );
        assert!(rows(6, 12, 4).as_words(4).is_none());
        assert!(rows(8, 10, 4).as_words(4).is_none());
        assert!(rows(8, 12, 2).as_words(4).is_none());
        // Two elements of 16 bits are a word.
        let words = rows(6, 10, 2).as_words(2).unwrap();
        assert_eq!(
            (words.dims, words.src, words.src_offset, words.dst),
            (vec![3, 3], vec![5, 1], 1, vec![3, 1])
        );
        assert!(rows(6, 10, 1).as_words(2).is_none());
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
