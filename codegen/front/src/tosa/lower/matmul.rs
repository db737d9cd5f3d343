//! MATMUL: products of matrices \[n, h, c\] and \[n, c, w\].

use super::cx::Cx;
use super::layer::{has_middle, Move, Sums};
use super::lazy::Kind;
use super::scale::Scale;
use super::{Kept, Lowered, Operators, Slot};
use crate::onnx::lower::integer_product;
use kiln_ir::{Clamp, DType, Data, Op, Rescale, Type, ValueId, Window};

pub(super) const OPERATORS: Operators = &[("MATMUL", Kept(matmul)), ("MATMUL_T", Kept(matmul_t))];

/// A product of stored bytes.
#[derive(Clone, Debug)]
pub(super) struct Product {
    a: ValueId,
    b: ValueId,
    zeros: [i64; 2],
}

/// MATMUL_T: matrices \[n, h, c\] and \[n, w, c\], of which the second may be one for all.
fn matmul_t(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (a, b) = (cx.value(0)?, cx.value(1)?);
    let (&[n, ..], &[_, w, c]) = (&*cx.dims(a), &*cx.dims(b)) else {
        return Err(malformed!("{} and {} cannot be multiplied", cx.ty(a), cx.ty(b)));
    };
    let turned = cx.means().transposed(b, &[0, 2, 1])?;
    let b = cx.means().repeated(turned, &[n, c, w])?;
    of_matrices(cx, a, b)
}

/// MATMUL.
fn matmul(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (a, b) = (cx.value(0)?, cx.value(1)?);
    of_matrices(cx, a, b)
}

fn of_matrices(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<Slot> {
    let zeros = [cx.zero_point(2)?, cx.zero_point(3)?];
    let (&[n, h, c], &[own, depth, w]) = (&*cx.dims(a), &*cx.dims(b)) else {
        return Err(malformed!("{} and {} cannot be multiplied", cx.ty(a), cx.ty(b)));
    };
    malformed_if!(n != own || c != depth, "{} and {} cannot be multiplied", cx.ty(a), cx.ty(b));
    let dims = [n, h, w];
    crate::onnx::lower::check_size(DType::I64, &dims)?;
    match (cx.ty(a).dtype, cx.ty(b).dtype) {
        (DType::F32, DType::F32) => float(cx, a, b).map(Slot::Value),
        (DType::I8, DType::I8) => {
            if let (1, Some(data)) = (n, cx.data(b)) {
                return with_constant(cx, a, &data, zeros, dims);
            }
            cx.kept(Kind::Product(Product { a, b, zeros }), &dims, DType::I32)
        }
        (DType::I16, DType::I16) => of_words(cx, a, b).map(Slot::Value),
        _ => Err(malformed!("{} and {} cannot be multiplied", cx.ty(a), cx.ty(b))),
    }
}

fn float(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<ValueId> {
    let (left, right) = (cx.dims(a), cx.dims(b));
    let mut means = cx.means();
    let turned = means.transposed(b, &[0, 2, 1])?;
    if right[0] == 1 && means.data(b).is_some() {
        let weights = means.reshaped(turned, &[right[2], right[1]])?;
        let weights = cx.folded(weights)?;
        return cx.means().layer(a, weights);
    }
    // Without a batch, the axis in front does not matter.
    malformed_if!(left[0] != right[0], "{left:?} and {right:?} cannot be multiplied");
    means.matrix_product(a, turned)
}

/// A layer: a convolution of points.
fn with_constant(
    cx: &mut Cx<'_, '_, '_>,
    a: ValueId,
    b: &Data,
    zeros: [i64; 2],
    [_, h, w]: [usize; 3],
) -> Lowered<Slot> {
    let b = b.bytes();
    let c = b.len() / w.max(1);
    let zero = i8::try_from(zeros[1]).map_err(|_| malformed!("a zero point of {}", zeros[1]))?;
    cx.importer.means.budget.charge(4 * b.len())?;
    let at =
        |at: usize| b.get(at % c * w + at / c).map_or(0, |&byte| i16::from(byte as i8)) - i16::from(zero);
    let turned = (0..b.len()).map(at);
    // Rows are images of one pixel.
    let sums = Sums {
        image: cx.means().reshaped(a, &[h, 1, 1, c])?,
        zero: zeros[0],
        filters: turned.collect(),
        filter_dims: [w, 1, 1, c],
        bias: vec![0; w].into(),
        window: point(),
        groups: 1,
        dims: [h, 1, 1, w],
        then: vec![Move::Reshape(vec![1, h, w])],
        copies: 1,
    };
    cx.kept(Kind::Sums(Box::new(sums)), &[1, h, w], DType::I32)
}

fn point() -> Window {
    Window { size: [1; 2], stride: [1; 2], dilation: [1; 2], pad: Default::default() }
}

impl Cx<'_, '_, '_> {
    /// A product that becomes bytes; `None` where no op has the same results.
    pub(super) fn product(&mut self, of: &Product, scale: &Scale) -> Lowered<Option<ValueId>> {
        let is_plain = !scale.unsigned[1] && scale.dtypes[1] == DType::I8 && scale.zeros[0] == 0;
        let by = scale.normal(1).filter(|_| is_plain && scale.is_single());
        let (&[n, h, c], &[.., w]) = (&*self.dims(of.a), &*self.dims(of.b)) else { return Ok(None) };
        let most = i64::try_from(c).unwrap_or(i64::MAX).saturating_mul(255 * 255);
        let Some(by) = by.filter(|_| most < 1 << 30) else { return Ok(None) };
        let (lo, hi) = scale.range();
        let is_once = scale.zeros[1] <= lo || by.iter().all(|&by| !has_middle(by, -most));
        let is_small = by.iter().all(|by| i32::try_from(most << by.shift.max(0)).is_ok());
        if !is_small || (!scale.twice && !is_once) {
            return Ok(None);
        }
        let rescale = if scale.twice { Rescale::FixedPoint(by) } else { Rescale::Once(by) };
        let clamp = Clamp::Int { lo: lo as i32, hi: hi as i32 };
        let (a, b) = (self.stored(of.a, of.zeros[0])?, self.stored(of.b, of.zeros[1])?);
        let mut cx = self.means();
        let turned = cx.transposed(b, &[0, 2, 1])?;
        let bias = cx.int_constant("no bias", DType::I32, &[w], &vec![0; w])?;
        let ty = Type::quantized(DType::I8, &[1, h, 1, w], 1.0, scale.zeros[1] as i32);
        let mut all = Vec::new();
        for k in 0..n {
            // A product of a point, over an image one pixel wide.
            let x = cx.part(a, 0, k, 1, 1)?;
            let x = cx.reshaped(x, &[1, h, 1, c])?;
            let weights = cx.part(turned, 0, k, 1, 1)?;
            let weights = cx.reshaped(weights, &[w, 1, 1, c])?;
            let op = Op::ComputedConv2d { window: point(), groups: 1, rescale: rescale.clone(), clamp };
            let y = cx.add(op, &[x, weights, bias], ty.clone())?;
            all.push(cx.reshaped(y, &[1, h, w])?);
        }
        cx.joined(&all, 0).map(Some)
    }

    /// A product as integers of 32 bits.
    pub(super) fn plain_product(&mut self, of: &Product) -> Lowered<ValueId> {
        let (a, b) = (self.plain(of.a)?, self.plain(of.b)?);
        let mut cx = self.means();
        let (a, b) = (cx.cast(a, DType::F32)?, cx.cast(b, DType::F32)?);
        let a = cx.plus(a, -(of.zeros[0] as f64))?;
        let b = cx.plus(b, -(of.zeros[1] as f64))?;
        integer_product(&mut cx, a, b)
    }
}

/// Products of integers of 16 bits, whose sums have 48: of their upper and lower bytes.
fn of_words(cx: &mut Cx<'_, '_, '_>, a: ValueId, b: ValueId) -> Lowered<ValueId> {
    let (a, b) = (cx.plain(a)?, cx.plain(b)?);
    let mut means = cx.means();
    let mut parts = |x: ValueId| -> Lowered<[ValueId; 2]> {
        let x = means.cast(x, DType::I32)?;
        let step = means.number(x, 256.0)?;
        let high = means.binary(kiln_ir::Binary::FloorDiv, x, step)?;
        let low = means.binary(kiln_ir::Binary::FloorMod, x, step)?;
        Ok([means.cast(high, DType::F32)?, means.cast(low, DType::F32)?])
    };
    let (a, b) = (parts(a)?, parts(b)?);
    let mut all = None;
    for (i, x) in a.into_iter().enumerate() {
        for (j, y) in b.into_iter().enumerate() {
            let product = integer_product(&mut means, x, y)?;
            let wide = means.cast(product, DType::I64)?;
            let wide = means.times(wide, f64::from(1 << (16 - 8 * (i + j))))?;
            all = Some(match all {
                Some(all) => means.sum(all, wide)?,
                None => wide,
            });
        }
    }
    all.ok_or_else(|| malformed!("it has no factors"))
}
