//! BATCH_MATMUL.

use super::cx::{Format, OpCx};
use super::quant::{multiplier, Activation};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{Op, Rescale, Shape, ValueId};

pub(super) const OPERATORS: Operators = &[(126, batch_matmul)];

/// BATCH_MATMUL: either operand may be transposed.
fn batch_matmul(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (adjoint_x, adjoint_y) = cx.options(101)?.adjoint()?;
    let (x, y) = (cx.input(0)?, cx.input(1)?);
    let format = cx.format(&[x, y])?;
    let misfit = || {
        let what = format!("{} and {} cannot be multiplied", cx.shown(x), cx.shown(y));
        Refusal::malformed(what)
    };
    if cx.dims(x).len() < 2 || cx.dims(y).len() < 2 {
        return Err(misfit());
    }
    // Rows of the first, and columns of the second operand.
    let result = cx.declared(0)?;
    let rescale = match format {
        Format::Float => Rescale::Real,
        Format::Int8 | Format::Int16 => {
            let scale = |v: ValueId, what| cx.scale(cx.ty(v), what).map(f64::from);
            let product = scale(x, "first operand")? * scale(y, "second operand")?;
            let real = product / f64::from(cx.scale(&result, "result")?);
            Rescale::FixedPoint(vec![multiplier(real)?])
        }
    };
    let clamp = Activation::None.alone(&result);
    let x = if adjoint_x { transposed(cx, x)? } else { x };
    let y = if adjoint_y { y } else { transposed(cx, y)? };
    let (a, b) = (cx.dims(x), cx.dims(y));
    let (front_a, a) = a.split_at(a.len() - 2);
    let (front_b, b) = b.split_at(b.len() - 2);
    let front = Shape::common(front_a, front_b).filter(|_| a[1] == b[1]);
    let misfit = || malformed!("rows of {} and {} elements do not fit", a[1], b[1]);
    let dims = [front.ok_or_else(misfit)?, vec![a[0], b[0]]].concat();
    cx.emit(Op::MatMul { rescale, clamp }, &[x, y], 0, &dims)
}

/// The last two axes in the other order.
fn transposed(cx: &mut OpCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let rank = dims.len();
    let mut perm: Vec<usize> = (0..rank).collect();
    perm.swap(rank - 2, rank - 1);
    dims.swap(rank - 2, rank - 1);
    let ty = cx.ty(x).with_shape(&dims);
    cx.node(Op::Transpose { perm }, &[x], 0, ty)
}
