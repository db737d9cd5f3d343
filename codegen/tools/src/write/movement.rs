//! What moves elements.

use super::model::{Attribute, Element};
use super::tensors::{Axes, Writer, FIRST, LAST};
use super::Written;
use kiln_ir::{Node, ValueId};

impl Writer<'_> {
    /// Gather along one axis.
    pub(super) fn gather(&mut self, node: &Node, batch: usize, axis: usize, depth: usize) -> Written {
        if (batch, depth) != (0, 1) {
            let what = "a gather along several axes at once is not written".to_owned();
            return Err((what, "give a float model without it"));
        }
        let x = self.tensor(node.operands[0], Axes::Own);
        let mut named = self.tensor(node.operands[1], Axes::Own);
        let dims = self.dims(node.operands[1]);
        named = self.reshaped(named, &dims[..dims.len() - 1]);
        let y = self.model.node("Gather", &[x, named], vec![("axis", Attribute::Int(axis as i64))]);
        self.bind(node, Axes::Own, y)
    }

    /// Broadcast.
    pub(super) fn broadcast(&mut self, node: &Node) -> Written {
        let x = self.tensor(node.operands[0], Axes::Own);
        let dims: Vec<i64> = self.dims(node.result).iter().map(|&dim| dim as i64).collect();
        let shape = self.model.ints("shape", &dims);
        let y = self.model.node("Expand", &[x, shape], Vec::new());
        self.bind(node, Axes::Own, y)
    }

    /// Pad.
    pub(super) fn pad(&mut self, node: &Node, before: &[usize], after: &[usize], value: i64) -> Written {
        let (axes, x) = self.operand(node);
        let pads: Vec<i64> =
            axes.ordered(before).into_iter().chain(axes.ordered(after)).map(|pad| pad as i64).collect();
        let pads = self.model.ints("pads", &pads);
        let mut operands = vec![x, pads];
        if value != 0 {
            let dtype = self.graph.ty(node.result).dtype;
            let bytes = &value.to_le_bytes()[..dtype.size()];
            operands.push(self.model.constant("value", Element::Of(dtype), &[], bytes));
        }
        let y = self.model.node("Pad", &operands, Vec::new());
        self.bind(node, axes, y)
    }

    /// Concat.
    pub(super) fn concat(&mut self, node: &Node, axis: usize) -> Written {
        let axes = self.axes_of(node);
        let operands: Vec<_> = node.operands.iter().map(|&operand| self.tensor(operand, axes)).collect();
        let axis = Attribute::Int(axes.place(axis) as i64);
        let y = self.model.node("Concat", &operands, vec![("axis", axis)]);
        self.bind(node, axes, y)
    }

    /// Slice.
    pub(super) fn slice(&mut self, node: &Node, begin: &[usize], step: &[i64]) -> Written {
        let (axes, x) = self.operand(node);
        let (from, to) = (self.dims(node.operands[0]), self.dims(node.result));
        let cut: Vec<usize> = (0..from.len())
            .filter(|&axis| begin[axis] != 0 || step[axis] != 1 || from[axis] != to[axis])
            .collect();
        let list = |of: &dyn Fn(usize) -> i64| cut.iter().map(|&axis| of(axis)).collect::<Vec<i64>>();
        // One behind the last element; before the first one, no index says that but the least.
        let end = |axis: usize| {
            let end = begin[axis] as i64 + (to[axis] as i64 - 1) * step[axis] + step[axis].signum();
            if end < 0 {
                i64::MIN
            } else {
                end
            }
        };
        let lists = [
            ("starts", list(&|axis| begin[axis] as i64)),
            ("ends", list(&end)),
            ("axes", list(&|axis| axes.place(axis) as i64)),
            ("steps", list(&|axis| step[axis])),
        ];
        let mut operands = vec![x];
        operands.extend(lists.map(|(name, list)| self.model.ints(name, &list)));
        let y = self.model.node("Slice", &operands, Vec::new());
        self.bind(node, axes, y)
    }

    /// Transpose: between the two orders of an image, it is a tensor that there is already, or will be.
    pub(super) fn transpose(&mut self, node: &Node, perm: &[usize]) -> Written {
        let x = node.operands[0];
        if perm == LAST {
            // Channel-last of what is channel-first as it is.
            let tensor = self.tensor(x, Axes::Own);
            self.bind(node, Axes::ChannelFirst, tensor)
        } else if perm == FIRST {
            let tensor = self.tensor(x, Axes::ChannelFirst);
            self.bind(node, Axes::Own, tensor)
        } else {
            let tensor = self.tensor(x, Axes::Own);
            let y = self.transposed(tensor, perm);
            self.bind(node, Axes::Own, y)
        }
    }

    /// Reshape. That of an image of one pixel does not care about the order of its axes.
    pub(super) fn reshape(&mut self, node: &Node) -> Written {
        let x = node.operands[0];
        let axes = if self.is_pixel(x) { self.native(x) } else { Axes::Own };
        let tensor = self.tensor(x, axes);
        let y = self.reshaped(tensor, self.dims(node.result));
        self.bind(node, Axes::Own, y)
    }

    fn is_pixel(&self, id: ValueId) -> bool {
        matches!(self.dims(id), [_, 1, 1, _])
    }
}
