//! Mixed depthwise convolutions: afterwards no concat along the channels joins integer depthwise convolutions of different heights, each over
//! its own share of the channels of one image, if one convolution with the largest window costs less.
//!
//! The smaller windows get taps of weight zero, which add exactly nothing to an accumulator. What that costs in multiplications is
//! compared with the elements that need no longer be copied out of the image, for each convolution its share of channels and rows. With the
//! copies goes the memory that they needed. Not for floats, where nothing times infinity is something.

use super::rewrite::{each_node, Rewrite};
use crate::ir::{Data, Graph, Layout, Node, NodeId, Op, Quant, Rescale, Type, ValueId, Window};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    let uses = graph.use_counts();
    each_node(graph, |graph, id| match merged(graph, &uses, id) {
        Some(Merged { op, image, weights: (ty, data), bias }) => {
            let weights = graph.add_const("mixed_weights", ty, data);
            let mut operands = vec![image, weights];
            operands.extend(bias.map(|(ty, data)| graph.add_const("mixed_bias", ty, data)));
            let node = graph.node_mut(id);
            (node.op, node.operands) = (op, operands);
            Rewrite::Changed
        }
        None => Rewrite::Keep,
    })
}

/// One convolution for all.
struct Merged {
    op: Op,
    image: ValueId,
    weights: (Type, Data),
    bias: Option<(Type, Data)>,
}

/// A convolution of some channels of the image.
struct Branch<'g> {
    node: &'g Node,
    window: &'g Window,
    image: ValueId,
    /// The first of its rows and channels in the image.
    first: (usize, usize),
    channels: usize,
    /// Elements that are copied for it.
    copied: usize,
}

fn merged(graph: &Graph, uses: &[usize], id: NodeId) -> Option<Merged> {
    let node = graph.node(id);
    if !matches!(node.op, Op::Concat { axis: 3 }) || node.operands.len() < 2 {
        return None;
    }
    let branches: Vec<Branch<'_>> =
        node.operands.iter().map(|&x| branch(graph, uses, x)).collect::<Option<_>>()?;
    let lead = branches.first()?;
    let &[_, height, _, channels] = graph.ty(lead.image).shape.dims() else { return None };
    let mut next = 0;
    for branch in &branches {
        let alike = branch.image == lead.image
            && branch.window.size[1] == lead.window.size[1]
            && branch.window.stride == lead.window.stride
            && branch.node.operands.len() == lead.node.operands.len()
            && clamp_of(branch.node) == clamp_of(lead.node);
        if !alike || branch.first.1 != next {
            return None;
        }
        next += branch.channels;
    }
    let size = branches.iter().map(|b| b.first.0 + b.window.size[0]).max()?;
    let window = Window { size: [size, lead.window.size[1]], ..*lead.window };
    let result = graph.ty(node.result).shape.dims();
    let rows = height.checked_sub(size)? / window.stride[0] + 1;
    if next != channels || result.get(1) != Some(&rows) {
        return None;
    }
    let copied: usize = branches.iter().map(|b| b.copied).sum();
    let taps =
        |b: &Branch<'_>| (size - b.window.size[0]) * graph.ty(b.node.result).shape.numel() * window.size[1];
    if copied <= branches.iter().map(taps).sum() {
        return None;
    }
    let rescale = branches.iter().map(multipliers).collect::<Option<Vec<_>>>()?.concat();
    Some(Merged {
        op: Op::Conv2d {
            window,
            groups: channels,
            rescale: Rescale::FixedPoint(rescale),
            clamp: *clamp_of(lead.node)?,
            layout: Layout::default(),
        },
        image: lead.image,
        weights: weights(graph, &branches, size)?,
        bias: match lead.node.operands.get(2) {
            Some(_) => Some(bias(graph, &branches)?),
            None => None,
        },
    })
}

fn clamp_of(node: &Node) -> Option<&crate::ir::Clamp> {
    match &node.op {
        Op::Conv2d { clamp, .. } => Some(clamp),
        _ => None,
    }
}

/// The unpadded depthwise convolution that computes a value for the concat alone.
fn branch<'g>(graph: &'g Graph, uses: &[usize], value: ValueId) -> Option<Branch<'g>> {
    let only = |id: ValueId| uses.get(id.0 as usize) == Some(&1);
    let node = graph.producer(value).map(|id| graph.node(id)).filter(|_| only(value))?;
    let Op::Conv2d { window, groups, rescale: Rescale::FixedPoint(_), .. } = &node.op else { return None };
    let &operand = node.operands.first()?;
    let &[_, _, width, channels] = graph.ty(operand).shape.dims() else { return None };
    let depthwise = *groups == channels && graph.ty(value).shape.last() == channels;
    if !depthwise
        || node.op.layout() != Layout::default()
        || window.pad != Default::default()
        || window.dilation != [1, 1]
    {
        return None;
    }
    let whole = Branch { node, window, image: operand, first: (0, 0), channels, copied: 0 };
    let Some(Node { op: Op::Slice { begin, step }, operands, .. }) =
        graph.producer(operand).map(|id| graph.node(id))
    else {
        return Some(whole);
    };
    let image = *operands.first()?;
    let (&[0, row, 0, channel], true) = (begin.as_slice(), step.iter().all(|&s| s == 1)) else {
        return Some(whole);
    };
    if graph.ty(image).shape.dims().get(2) != Some(&width) || !only(operand) {
        return Some(whole);
    }
    let copied = graph.ty(operand).shape.numel();
    Some(Branch { image, first: (row, channel), copied, ..whole })
}

/// One multiplier per channel.
fn multipliers(branch: &Branch<'_>) -> Option<Vec<crate::ir::Multiplier>> {
    let Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), .. } = &branch.node.op else { return None };
    match multipliers.as_slice() {
        &[one] => Some(vec![one; branch.channels]),
        several => Some(several.to_vec()),
    }
}

/// The weights \[channels, `size`, width, 1\]: those of the branches, with zeros before and after.
fn weights(graph: &Graph, branches: &[Branch<'_>], size: usize) -> Option<(Type, Data)> {
    let mut quant = Quant { scales: Vec::new(), zero_points: Vec::new(), axis: Some(0) };
    let (mut data, mut width) = (Vec::new(), 0);
    for branch in branches {
        let &operand = branch.node.operands.get(1)?;
        let (ty, filters) = (graph.ty(operand), graph.const_data(operand)?.bytes());
        let own = ty.quant.as_ref().filter(|_| ty.dtype == crate::ir::DType::I8)?;
        width = branch.window.size[1];
        let channel = |list: usize| if own.axis.is_none() { 0 } else { list };
        let filter = branch.window.size[0] * width;
        for c in 0..branch.channels {
            let zero = *own.zero_points.get(channel(c))?;
            quant.scales.push(*own.scales.get(channel(c))?);
            quant.zero_points.push(zero);
            let start = data.len();
            data.resize(start + branch.first.0 * width, zero as u8);
            data.extend_from_slice(filters.get(c * filter..(c + 1) * filter)?);
            data.resize(start + size * width, zero as u8);
        }
    }
    let mut ty = Type::plain(crate::ir::DType::I8, &[quant.scales.len(), size, width, 1]);
    ty.quant = Some(quant);
    Some((ty, Data::new(data)))
}

fn bias(graph: &Graph, branches: &[Branch<'_>]) -> Option<(Type, Data)> {
    let parts: Option<Vec<&[u8]>> =
        branches.iter().map(|b| Some(graph.const_data(*b.node.operands.get(2)?)?.bytes())).collect();
    let data = parts?.concat();
    Some((Type::plain(crate::ir::DType::I32, &[data.len() / 4]), Data::new(data)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_equivalent, parse};
    use super::*;
    use crate::verify::verify;

    /// Two channels with a window of three rows, one with two: of the last rows, or of `row` on.
    fn mixed(row: usize, more: &str) -> String {
        let short = 4 - row;
        format!(
            "input %x: i8[1,4,1,3] q(0.5 : -3)
             const %v: i8[2,3,1,1] q(axis 0, [0.5, 0.25] : [0, 0]) = [1, -2, 3, 4, 5, -6]
             const %w: i8[1,2,1,1] q(0.5 : 0) = [7, 8]
             const %b: i32[2] = [100, -50]
             const %c: i32[1] = [25]
             %s: i8[1,{short},1,1] q(0.5 : -3) = slice(%x) {{begin = [0, {row}, 0, 2], step = [1, 1, 1, 1]}}
             %t: i8[1,4,1,2] q(0.5 : -3) = slice(%x) {{begin = [0, 0, 0, 0], step = [1, 1, 1, 1]}}
             %l: i8[1,2,1,2] q(0.5 : 0) = conv2d(%t, %v, %b) {{window = [3, 1], groups = 2, rescale = [1073741824 * 2^0, 1473741824 * 2^-1], clamp = -128..=127}}
             %r: i8[1,2,1,1] q(0.5 : 0) = conv2d(%s, %w, %c) {{window = [2, 1]{}, groups = 1, rescale = [1273741824 * 2^0], clamp = -128..=127}}
             %y: i8[1,2,1,3] q(0.5 : 0) = concat(%l, %r) {{axis = 3}}
             return %y{more}",
            if row == 1 { "" } else { " stride [2, 1]" }
        )
    }

    #[test]
    fn branches_become_one_convolution() {
        let before = parse(&mixed(1, ""));
        let mut graph = before.clone();
        assert!(run(&mut graph));
        verify(&graph).unwrap();
        assert_equivalent(&before, &graph);
        assert!(!run(&mut graph), "fires twice");
        assert!(super::super::dce::run(&mut graph));
        let ops: Vec<&str> = graph.nodes().map(|(_, node)| node.op.name()).collect();
        assert_eq!(ops, ["conv2d"]);
        let (_, node) = graph.nodes().next().unwrap();
        let weights = graph.const_data(node.operands[1]).unwrap().to_i8();
        assert_eq!(weights, [1, -2, 3, 4, 5, -6, 0, 7, 8]);
    }

    #[test]
    fn other_strides_and_other_readers_keep_them_apart() {
        for lines in [mixed(0, ""), mixed(1, ", %r"), mixed(1, ", %s")] {
            let mut graph = parse(&lines);
            let before = graph.clone();
            assert_eq!((run(&mut graph), graph), (false, before));
        }
    }
}
