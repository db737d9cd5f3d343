//! Which bytes of different values are the same data, as the checker derives it.
//!
//! Reshapes, slices of adjacent elements and concats that only put their operands one after the other make no data of their own,
//! so that their results may share memory with their operands. Every other value is data of its own.

use crate::ir::{Graph, Node, Op, ValueId};

/// `bytes` bytes of a value, from byte `offset` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) value: ValueId,
    pub(super) offset: usize,
    pub(super) bytes: usize,
}

impl Run {
    /// Whether the run, which is as long or longer, ends with the same bytes of the same value as the other.
    pub(super) fn ends_like(self, other: Run) -> bool {
        self.value == other.value && self.offset + self.bytes == other.offset + other.bytes
    }
}

/// What a value is made of.
enum Parts {
    /// Data of its own.
    Own,
    /// A run of another value, from that byte on.
    Inside(ValueId, usize),
    /// Other values one after the other, each with the byte at which it begins.
    Joined(Vec<(usize, ValueId)>),
}

/// Most comparisons of runs in all: a bound on the time that towers of concats and very many rows can take.
const MOST_WORK: usize = 20_000_000;

/// The relation between values.
pub(super) struct Same {
    parts: Vec<Parts>,
    /// When each value is defined. Parts are defined before the whole.
    time: Vec<usize>,
    work: usize,
}

impl Same {
    pub(super) fn of(graph: &Graph) -> Self {
        // Every value, and the sums of which it may be made.
        let count = 2 * graph.values().count();
        let mut same =
            Same { parts: (0..count).map(|_| Parts::Own).collect(), time: vec![0; count], work: 0 };
        for (index, (_, node)) in graph.nodes().enumerate() {
            let result = node.result.0 as usize;
            same.parts[result] = parts(graph, node).unwrap_or(Parts::Own);
            same.time[result] = index + 1;
        }
        same
    }

    /// The name of the sums of which a value is made: no value of the graph.
    pub(super) fn sums(&self, value: ValueId) -> ValueId {
        let values = self.parts.len() / 2;
        ValueId((values + value.0 as usize) as u32)
    }

    /// Counts other work.
    pub(super) fn spend(&mut self, work: usize) {
        self.work = self.work.saturating_add(work);
    }

    /// Whether too much was compared to go on: then nothing is known to be the same any more.
    pub(super) fn gave_up(&self) -> bool {
        self.work > MOST_WORK
    }

    /// Whether two runs of equal length are the same data. Of two different values, the one that was defined later is taken
    /// apart: the earlier one cannot contain it.
    pub(super) fn same(&mut self, a: Run, b: Run) -> bool {
        let mut pending = vec![(a, b)];
        while let Some((a, b)) = pending.pop() {
            self.work += 1;
            if self.gave_up() {
                return false;
            }
            if a.value == b.value {
                if a.offset != b.offset {
                    return false;
                }
                continue;
            }
            let time = |run: Run| self.time[run.value.0 as usize];
            let (later, other) = if time(a) > time(b) { (a, b) } else { (b, a) };
            match &self.parts[later.value.0 as usize] {
                Parts::Own => return false,
                &Parts::Inside(value, start) => {
                    pending.push((Run { value, offset: later.offset + start, ..later }, other));
                }
                Parts::Joined(parts) => {
                    let (mut at, end) = (later.offset, later.offset + later.bytes);
                    let mut next = parts.partition_point(|&(start, _)| start <= at).saturating_sub(1);
                    while at < end {
                        let Some(&(start, value)) = parts.get(next) else { return false };
                        let stop = parts.get(next + 1).map_or(end, |&(start, _)| start.min(end));
                        let bytes = stop - at;
                        let rest = Run { offset: other.offset + at - later.offset, bytes, ..other };
                        if bytes > 0 {
                            pending.push((Run { value, offset: at - start, bytes }, rest));
                        }
                        (at, next) = (stop, next + 1);
                    }
                }
            }
        }
        true
    }
}

/// What a node's result is made of, if it is no data of its own.
fn parts(graph: &Graph, node: &Node) -> Option<Parts> {
    let operand = *node.operands.first()?;
    let result = graph.ty(node.result);
    match &node.op {
        Op::Reshape {} => Some(Parts::Inside(operand, 0)),
        Op::Slice { begin, step } => {
            // Steps forward keep the elements in order, so that they are adjacent if first and last are near enough.
            let (mut first, mut last) = (0usize, 0usize);
            for (axis, stride) in graph.ty(operand).shape.strides().into_iter().enumerate() {
                let (begin, step) = (*begin.get(axis)?, *step.get(axis)?);
                let rest = result.shape.dims().get(axis)?.checked_sub(1)?;
                let reach = match rest {
                    0 => 0,
                    _ => usize::try_from(step).ok().filter(|&step| step > 0)?.checked_mul(rest)?,
                };
                first += begin * stride;
                last += (begin + reach) * stride;
            }
            let adjacent = last - first + 1 == result.shape.numel();
            adjacent.then(|| Parts::Inside(operand, first * result.dtype.size()))
        }
        Op::Concat { axis } => {
            let outer: usize = result.shape.dims().iter().take(*axis).product();
            let mut start = 0;
            let part = |&id: &ValueId| {
                let at = start;
                start += graph.ty(id).bytes();
                (at, id)
            };
            (outer == 1).then(|| Parts::Joined(node.operands.iter().map(part).collect()))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(value: u32, offset: usize, bytes: usize) -> Run {
        Run { value: ValueId(value), offset, bytes }
    }

    #[test]
    fn data_is_recognised_through_views() {
        // Values: 0 x, 1 r, 2 s, 3 c, 4 d, 5 t.
        let graph = Graph::parse(
            "graph \"g\" {
               input %x: i8[1,4] q(1.0 : 0)
               %r: i8[2,2] q(1.0 : 0) = reshape(%x)
               %s: i8[1,2] q(1.0 : 0) = slice(%r) {begin = [1, 0], step = [1, 1]}
               %c: i8[1,6] q(1.0 : 0) = concat(%s, %x) {axis = 1}
               %d: i8[2,2] q(1.0 : 0) = concat(%s, %s) {axis = 0}
               %t: i8[2,1] q(1.0 : 0) = slice(%r) {begin = [0, 0], step = [1, 1]}
               return %c, %d, %t
             }",
        );
        let mut same = Same::of(&graph.unwrap());
        assert!(same.same(run(1, 0, 4), run(0, 0, 4)));
        assert!(same.same(run(0, 2, 2), run(2, 0, 2)));
        assert!(same.same(run(3, 0, 2), run(0, 2, 2)));
        assert!(same.same(run(3, 2, 4), run(1, 0, 4)));
        assert!(same.same(run(3, 4, 2), run(3, 4, 2)));
        assert!(same.same(run(4, 1, 1), run(3, 1, 1)), "both are element 3 of x");
        assert!(!same.same(run(3, 1, 2), run(0, 3, 2)), "half of it");
        assert!(!same.same(run(3, 0, 2), run(3, 4, 2)), "equal data, but not known by place");
        assert!(!same.same(run(5, 0, 2), run(0, 0, 2)), "a column is not adjacent");
    }

    #[test]
    fn towers_are_given_up() {
        let mut text =
            String::from("graph \"g\" { input %a0: i8[1] q(1.0 : 0) %b0: i8[1] q(1.0 : 0) = reshape(%a0)\n");
        for i in 1..31 {
            for v in ["a", "b"] {
                let (j, size) = (i - 1, 1u64 << i);
                text += &format!("%{v}{i}: i8[{size}] q(1.0 : 0) = concat(%{v}{j}, %{v}{j}) {{axis = 0}}\n");
            }
        }
        let graph = Graph::parse(&(text + "return %a30, %b30 }")).unwrap();
        let mut same = Same::of(&graph);
        let [a, b] = graph.outputs[..] else { panic!("two outputs") };
        let whole = |value| Run { value, offset: 0, bytes: 1 << 30 };
        assert!(same.same(whole(a), whole(a)));
        assert!(!same.same(whole(a), whole(b)) && same.gave_up());
    }
}
