//! Means over all rows of an image: afterwards there is none. Of floats it is a pooling whose window is the whole image; of integers a depthwise convolution with that window, of
//! filters of ones, since a pooling rounds in another way.
//!
//! So what comes before can slide: of a window it is known which rows it reads. For callers who ask for it, since the filters take flash.
//!
//! Exact: the same elements are added in the same order, and rounded once.

use super::rewrite::{each_reshaped, Reshaped};
use crate::ir::{DType, Data, Graph, Layout, Op, Padding, Quant, Rescale, Type, Window};

/// Runs the pass.
pub fn run(graph: &mut Graph) -> bool {
    each_reshaped(graph, |graph, order, id| {
        let node = graph.node(id);
        let operand = *node.operands.first()?;
        let (x, result) = (graph.ty(operand).clone(), graph.ty(node.result).clone());
        let (dims, axes) = image(&x, &node.op)?;
        let [_, height, width, channels] = dims;
        let size = [height, if axes == [1, 2] { width } else { 1 }];
        let window = Window { size, stride: [1, 1], dilation: [1, 1], pad: Padding::default() };
        let (op, filters) = windowed(&node.op, x.dtype, window, channels)?;
        let (name, origin) = (graph.value(node.result).name.clone(), node.origin.clone());
        let mut operands = vec![operand];
        if x.shape.dims() != dims {
            let reshape = graph.add_detached_node(
                Op::Reshape {},
                &[operand],
                name.clone(),
                x.with_shape(&dims),
                origin,
            );
            order.push(reshape);
            operands[0] = graph.node(reshape).result;
        }
        if let Some((ty, data)) = filters {
            operands.push(graph.add_const(name, ty, data));
        }
        let result = result.with_shape(&[1, 1, width + 1 - size[1], channels]);
        Some(Reshaped { op, operands, result })
    })
}

/// The image that a mean is of, and its axes there, if it is over all of several rows: rows alone, or columns, too.
fn image(x: &Type, op: &Op) -> Option<([usize; 4], Vec<usize>)> {
    let Op::Mean { axes, .. } = op else { return None };
    let dims = match *x.shape.dims() {
        [1, height, width, channels] => [1, height, width, channels],
        [1, height, channels] if *axes == [1] => [1, height, 1, channels],
        _ => return None,
    };
    (dims[1] > 1 && (*axes == [1] || *axes == [1, 2])).then(|| (dims, axes.clone()))
}

/// The op whose window is the whole image, and the filters that it reads.
fn windowed(op: &Op, dtype: DType, window: Window, channels: usize) -> Option<(Op, Option<(Type, Data)>)> {
    let Op::Mean { rescale, clamp, .. } = op else { return None };
    match (dtype, rescale) {
        (DType::F32, Rescale::Real) => Some((Op::AvgPool2d { window, clamp: *clamp }, None)),
        // Very small multipliers of a mean have smaller mantissas than a convolution may have.
        (DType::I8, Rescale::FixedPoint(by)) if by.iter().all(|by| by.value == 0 || by.value >= 1 << 29) => {
            let ones =
                Data::new(vec![1u8; channels.checked_mul(window.size[0])?.checked_mul(window.size[1])?]);
            let mut ty = Type::plain(DType::I8, &[channels, window.size[0], window.size[1], 1]);
            ty.quant = Some(Quant::per_tensor(1.0, 0));
            let (rescale, clamp, layout) = (rescale.clone(), *clamp, Layout::default());
            Some((Op::Conv2d { window, groups: channels, rescale, clamp, layout }, Some((ty, ones))))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{keeps, rewrites};
    use super::*;

    const SUM: &str = "rescale = [1431655765 * 2^-3], clamp = -128..=127";

    #[test]
    fn integers_are_convolved_with_ones() {
        rewrites(
            run,
            &format!(
                "input %x: i8[1,3,2,2] q(0.5 : -3)
                 %y: i8[1,2] q(0.25 : 7) = mean(%x) {{axes = [1, 2], {SUM}}}
                 %z: i8[1,1,2,2] q(0.25 : 7) = mean(%x) {{axes = [1], {SUM}}}
                 return %y, %z"
            ),
            &format!(
                "input %x: i8[1,3,2,2] q(0.5 : -3)
                 const %v: i8[2,3,2,1] q(1.0 : 0) = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
                 const %w: i8[2,3,1,1] q(1.0 : 0) = [1, 1, 1, 1, 1, 1]
                 %a: i8[1,1,1,2] q(0.25 : 7) = conv2d(%x, %v) {{window = [3, 2], groups = 2, {SUM}}}
                 %y: i8[1,2] q(0.25 : 7) = reshape(%a)
                 %b: i8[1,1,2,2] q(0.25 : 7) = conv2d(%x, %w) {{window = [3, 1], groups = 2, {SUM}}}
                 %z: i8[1,1,2,2] q(0.25 : 7) = reshape(%b)
                 return %y, %z"
            ),
        );
    }

    #[test]
    fn floats_are_pooled() {
        rewrites(
            run,
            "input %x: f32[1,3,2]
             %y: f32[1,2] = mean(%x) {axes = [1], rescale = real, clamp = 0.0..=inf}
             return %y",
            "input %x: f32[1,3,2]
             %i: f32[1,3,1,2] = reshape(%x)
             %p: f32[1,1,1,2] = avg_pool2d(%i) {window = [3, 1], clamp = 0.0..=inf}
             %y: f32[1,2] = reshape(%p)
             return %y",
        );
    }

    #[test]
    fn others_stay() {
        let real = "rescale = real, clamp = -inf..=inf";
        for (x, y, axes) in [
            ("1,1,3,2", "1,2", "1, 2"),
            ("2,3,2,2", "2,2", "1, 2"),
            ("1,3,2,2", "1,3,2", "2"),
            ("1,3,2,2", "1,1,1,1", "1, 2, 3"),
        ] {
            keeps(
                run,
                &format!("input %x: f32[{x}] %y: f32[{y}] = mean(%x) {{axes = [{axes}], {real}}} return %y"),
            );
        }
        keeps(
            run,
            "input %x: i8[1,3,2,2] q(0.5 : -3)
             %y: i8[1,2] q(0.25 : 7) = mean(%x) {axes = [1, 2], rescale = [178956970 * 2^-31], clamp = -128..=127}
             return %y",
        );
    }
}
