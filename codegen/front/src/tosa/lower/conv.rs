//! CONV2D, CONV3D, DEPTHWISE_CONV2D and TRANSPOSE_CONV2D. Images are channel-last, as in the graph.

use super::cx::Cx;
use super::layer::{Move, Sums};
use super::lazy::Kind;
use super::scale::computed_weights;
use super::{transposed, Kept, Lowered, Operators, Slot};
use kiln_ir::{Clamp, DType, Data, Op, Padding, Rescale, Type, ValueId, Window};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("CONV2D", Kept(conv)),
    ("CONV3D", Kept(conv3d)),
    ("DEPTHWISE_CONV2D", Kept(depthwise)),
    ("TRANSPOSE_CONV2D", Kept(transposed::conv)),
];

/// A convolution: what it reads, and how.
pub(super) struct Filtering {
    pub(super) image: ValueId,
    /// \[o, kh, kw, c / groups\].
    pub(super) filters: ValueId,
    /// One for each filter.
    pub(super) bias: ValueId,
    pub(super) zeros: [i64; 2],
    pub(super) window: Window,
    pub(super) groups: usize,
    pub(super) then: Vec<Move>,
    pub(super) copies: usize,
}

/// The window of attributes from slot 0 on: padding, stride and dilation.
fn window(cx: &Cx<'_, '_, '_>, size: [usize; 2]) -> Lowered<Window> {
    let [top, bottom, left, right] = cx.size_list(0, "padding", 0)?;
    let (stride, dilation) = (cx.size_list(1, "stride", 1)?, cx.size_list(2, "dilation", 1)?);
    Ok(Window { size, stride, dilation, pad: Padding { top, bottom, left, right } })
}

/// The zero points of an image and of weights, in operands 3 and 4.
pub(super) fn zeros(cx: &mut Cx<'_, '_, '_>) -> Lowered<[i64; 2]> {
    Ok([cx.zero_point(3)?, cx.zero_point(4)?])
}

/// CONV2D: weights \[o, kh, kw, c\].
fn conv(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (image, filters, bias, zeros) = (cx.value(0)?, cx.value(1)?, cx.value(2)?, zeros(cx)?);
    let &[_, kh, kw, _] = &*cx.dims(filters) else { return Err(malformed!("weights {}", cx.ty(filters))) };
    let window = window(cx, [kh, kw])?;
    filtered(cx, Filtering { image, filters, bias, zeros, window, groups: 1, then: Vec::new(), copies: 1 })
}

/// DEPTHWISE_CONV2D: weights \[kh, kw, c, m\], of which channel c has m filters.
fn depthwise(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (image, filters, bias, zeros) = (cx.value(0)?, cx.value(1)?, cx.value(2)?, zeros(cx)?);
    let &[kh, kw, c, m] = &*cx.dims(filters) else { return Err(malformed!("weights {}", cx.ty(filters))) };
    let mut means = cx.means();
    let turned = means.transposed(filters, &[2, 3, 0, 1])?;
    let filters = means.reshaped(turned, &[c * m, kh, kw, 1])?;
    let filters = cx.folded(filters)?;
    let window = window(cx, [kh, kw])?;
    filtered(cx, Filtering { image, filters, bias, zeros, window, groups: c, then: Vec::new(), copies: 1 })
}

/// CONV3D: weights \[o, kd, kh, kw, c\]. The images under a filter are channels of one image.
fn conv3d(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (volume, filters, bias, zeros) = (cx.value(0)?, cx.value(1)?, cx.value(2)?, zeros(cx)?);
    let (&[n, d, h, w, c], &[o, kd, kh, kw, depth]) = (&*cx.dims(volume), &*cx.dims(filters)) else {
        return Err(malformed!("volume {} and weights {}", cx.ty(volume), cx.ty(filters)));
    };
    let [front, back, top, bottom, left, right] = cx.size_list(0, "padding", 0)?;
    let [step_d, step_h, step_w] = cx.size_list(1, "stride", 1)?;
    let [apart_d, apart_h, apart_w] = cx.size_list(2, "dilation", 1)?;
    malformed_if!(depth != c || kd == 0, "weights of {depth} channels do not fit {c}");
    let reach = (kd - 1).checked_mul(apart_d).and_then(|reach| reach.checked_add(1));
    let room = d.checked_add(front).and_then(|all| all.checked_add(back)?.checked_sub(reach?));
    let room = room.ok_or_else(|| malformed!("a window of {kd} images does not fit {d}"))?;
    let images = room / step_d + 1;
    crate::onnx::lower::check_size(DType::F32, &[n, d + front + back, h, w, c])?;
    crate::onnx::lower::check_size(DType::F32, &[n, images, h, w, kd, c])?;
    let is_float = cx.ty(volume).dtype == DType::F32;
    let volume = if is_float { volume } else { cx.stored(volume, zeros[0])? };
    let mut means = cx.means();
    let (mut before, mut after) = (vec![0; 5], vec![0; 5]);
    (before[1], after[1]) = (front, back);
    let padded = means.padded(volume, &before, &after, if is_float { 0 } else { zeros[0] })?;
    let at: Vec<usize> = (0..images).flat_map(|i| (0..kd).map(move |k| i * step_d + k * apart_d)).collect();
    let picked = means.picked(padded, 1, &at)?;
    let split = means.reshaped(picked, &[n * images, kd, h, w, c])?;
    let turned = means.transposed(split, &[0, 2, 3, 1, 4])?;
    let image = means.reshaped(turned, &[n * images, h, w, kd * c])?;
    let turned = means.transposed(filters, &[0, 2, 3, 1, 4])?;
    let filters = means.reshaped(turned, &[o, kh, kw, kd * c])?;
    let filters = cx.folded(filters)?;
    let window = Window {
        size: [kh, kw],
        stride: [step_h, step_w],
        dilation: [apart_h, apart_w],
        pad: Padding { top, bottom, left, right },
    };
    let Some([out_h, out_w]) = window.output([h, w]) else {
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{w} image"));
    };
    let then = vec![Move::Reshape(vec![n, images, out_h, out_w, o])];
    filtered(cx, Filtering { image, filters, bias, zeros, window, groups: 1, then, copies: 1 })
}

impl Cx<'_, '_, '_> {
    /// What follows from constants, as a constant, whatever its size.
    pub(super) fn folded(&mut self, x: ValueId) -> Lowered<ValueId> {
        if self.is_constant(x) {
            return Ok(x);
        }
        let Some(data) = self.data(x) else { return Ok(x) };
        let ty = self.ty(x).clone();
        self.importer.means.budget.charge(ty.bytes())?;
        Ok(self.importer.means.graph.add_const("weights", ty, data))
    }
}

/// A convolution. That of integers has sums, of which it is not clear yet how they are rounded.
pub(super) fn filtered(cx: &mut Cx<'_, '_, '_>, of: Filtering) -> Lowered<Slot> {
    let (&[n, h, w, c], &[o, kh, kw, depth]) = (&*cx.dims(of.image), &*cx.dims(of.filters)) else {
        return Err(malformed!("image {} and weights {}", cx.ty(of.image), cx.ty(of.filters)));
    };
    let fits = depth > 0 && o > 0 && depth.checked_mul(of.groups) == Some(c) && o % of.groups.max(1) == 0;
    malformed_if!(!fits, "{o} filters of {depth} channels do not fit an image of {c}");
    let Some([out_h, out_w]) = of.window.output([h, w]) else {
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{w} image"));
    };
    let dims = [n, out_h, out_w, o];
    crate::onnx::lower::check_size(DType::I64, &dims)?;
    // One bias may stand for all filters.
    let bias = match *cx.dims(of.bias) {
        [count] if count == o => of.bias,
        [1] => cx.means().repeated(of.bias, &[o])?,
        _ => return Err(malformed!("a bias {} for {o} filters", cx.ty(of.bias))),
    };
    match cx.ty(of.image).dtype {
        DType::F32 => float(cx, &Filtering { bias, ..of }, dims).map(Slot::Value),
        DType::I8 | DType::I16 => integers(cx, &Filtering { bias, ..of }, dims),
        _ => Err(malformed!("an image {}", cx.ty(of.image))),
    }
}

fn float(cx: &mut Cx<'_, '_, '_>, of: &Filtering, dims: [usize; 4]) -> Lowered<ValueId> {
    let (window, groups) = (of.window, of.groups);
    let (rescale, clamp) = (Rescale::Real, Clamp::NO_FLOAT);
    let bias = cx.folded(of.bias)?;
    let is_constant = cx.is_constant(of.filters) && cx.is_constant(bias);
    let op = match is_constant {
        true => Op::Conv2d { window, groups, rescale, clamp, layout: Default::default() },
        false => Op::ComputedConv2d { window, groups, rescale, clamp },
    };
    let y = cx.means().add_like(op, &[of.image, of.filters, bias], &dims)?;
    cx.moved(y, &of.then)
}

fn integers(cx: &mut Cx<'_, '_, '_>, of: &Filtering, dims: [usize; 4]) -> Lowered<Slot> {
    let filters = centred(cx, of.filters, of.zeros[1])?;
    let (dtype, data) = (cx.ty(of.bias).dtype, cx.data(of.bias));
    malformed_if!(dtype == DType::F32, "a bias {} of integers", cx.ty(of.bias));
    let bias = data.map(|data| data.to_ints(dtype)).ok_or_else(computed_weights)?;
    let filter_dims = <[usize; 4]>::try_from(cx.dims(of.filters)).map_err(|_| malformed!("weights"))?;
    let sums = Sums {
        image: of.image,
        zero: of.zeros[0],
        filters,
        filter_dims,
        bias: bias.into(),
        window: of.window,
        groups: of.groups,
        dims,
        then: of.then.clone(),
        copies: of.copies,
    };
    let result = shape_behind(&dims, &of.then);
    let dtype = if cx.ty(of.image).dtype == DType::I16 { DType::I64 } else { DType::I32 };
    cx.kept(Kind::Sums(Box::new(sums)), &result, dtype)
}

/// Constant weights of bytes, less their zero point.
fn centred(cx: &mut Cx<'_, '_, '_>, weights: ValueId, zero: i64) -> Lowered<Rc<[i16]>> {
    let ty = cx.ty(weights).clone();
    malformed_if!(ty.dtype != DType::I8, "weights {ty} of integers");
    let zero = i8::try_from(zero).map_err(|_| malformed!("weights of a zero point {zero}"))?;
    let data = cx.data(weights).ok_or_else(computed_weights)?;
    cx.importer.means.budget.charge(4 * ty.bytes())?;
    Ok(data.bytes().iter().map(|&byte| i16::from(byte as i8) - i16::from(zero)).collect())
}

/// The shape that is left behind all moves.
fn shape_behind(dims: &[usize], moves: &[Move]) -> Vec<usize> {
    moves.iter().fold(dims.to_vec(), |dims, step| match step {
        Move::Reshape(dims) | Move::Slice(_, dims) => dims.clone(),
        Move::Transpose(perm) => perm.iter().filter_map(|&axis| dims.get(axis).copied()).collect(),
    })
}

/// A constant of the same elements in another order.
pub(super) fn constant(cx: &mut Cx<'_, '_, '_>, ty: Type, bytes: Vec<u8>) -> Lowered<ValueId> {
    cx.importer.means.budget.charge(ty.bytes())?;
    Ok(cx.importer.means.graph.add_const("weights", ty, Data::new(bytes)))
}
