//! TRANSPOSE_CONV2D, as [`transposed`](crate::transposed) says.

use super::conv::{constant, filtered, zeros, Filtering};
use super::cx::Cx;
use super::layer::Move;
use super::{Lowered, Refusal, Slot};
use crate::transposed::{self, Axis};
use kiln_ir::{DType, Type, ValueId};

/// TRANSPOSE_CONV2D: weights \[o, kh, kw, c\]. Padding of the result is negative where pixels at its edges are left out.
pub(super) fn conv(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let (image, filters, bias, zeros) = (cx.value(0)?, cx.value(1)?, cx.value(2)?, zeros(cx)?);
    let (&[n, h, w, c], &[o, kh, kw, depth]) = (&*cx.dims(image), &*cx.dims(filters)) else {
        return Err(malformed!("image {} and weights {}", cx.ty(image), cx.ty(filters)));
    };
    malformed_if!(c != depth, "weights of {depth} channels do not fit {c}");
    let [top, bottom, left, right] = cx.list(0, "padding of the result")?;
    let [step_h, step_w] = cx.size_list(1, "stride", 1)?;
    let misfit = || malformed!("a {kh}×{kw} window does not fit a {h}×{w} image");
    let rows = axis(step_h, kh, h, (top, bottom)).ok_or_else(misfit)?;
    let columns = axis(step_w, kw, w, (left, right)).ok_or_else(misfit)?;
    let before = [top, left].map(|pad| usize::try_from(pad).unwrap_or(0));
    let copies = rows.stride.checked_mul(columns.stride).ok_or_else(misfit)?;
    let filters = turned(cx, filters, [rows, columns], before, zeros[1])?;
    let bias = repeated(cx, bias, o, copies)?;
    let whole = [n, rows.blocks * rows.stride, columns.blocks * columns.stride, o];
    let then = vec![
        Move::Reshape(vec![n, rows.blocks, columns.blocks, rows.stride, columns.stride, o]),
        Move::Transpose(vec![0, 1, 3, 2, 4, 5]),
        Move::Reshape(whole.to_vec()),
        Move::Slice(vec![0, rows.lead, columns.lead, 0], vec![n, rows.out, columns.out, o]),
    ];
    let window = transposed::window([rows, columns]);
    filtered(cx, Filtering { image, filters, bias, zeros, window, groups: 1, then, copies })
}

/// The geometry of one axis. Pixels in front of those that a filter reaches are its first taps, which are 0.
fn axis(stride: usize, taps: usize, size: usize, (before, after): (i64, i64)) -> Option<Axis> {
    let wide = |size: usize| i64::try_from(size).ok();
    let reached = wide(size)?.checked_sub(1)?.checked_mul(wide(stride)?)?.checked_add(wide(taps)?)?;
    let out = usize::try_from(reached.checked_add(before)?.checked_add(after)?).ok()?;
    let lead = usize::try_from(-before).unwrap_or(0);
    let more = usize::try_from(before).unwrap_or(0);
    Axis::new(stride, 1, taps.checked_add(more)?, size, lead, out)
        .filter(|axis| axis.reach > 0 && out < 1 << 30)
}

/// The filters of all remainders, one block after the other; missing taps are the zero point.
fn turned(
    cx: &mut Cx<'_, '_, '_>,
    filters: ValueId,
    axes: [Axis; 2],
    before: [usize; 2],
    zero: i64,
) -> Lowered<ValueId> {
    let ty = cx.ty(filters).clone();
    let Some(data) = cx.data(filters) else {
        let help = "store them in the model";
        return Err(Refusal::unsupported("its weights are computed at run time", help));
    };
    let &[o, kh, kw, depth] = ty.shape.dims() else { return Err(malformed!("weights {ty}")) };
    let [rows, columns] = axes;
    let dims = [rows.stride * columns.stride * o, rows.reach, columns.reach, depth];
    crate::onnx::lower::check_size(ty.dtype, &dims)?;
    let wanted = Type::plain(ty.dtype, &dims);
    let run = depth * ty.dtype.size();
    // The zero point of weights is a byte, or there is none.
    let nothing = vec![if ty.dtype == DType::F32 { 0 } else { zero as u8 }; run];
    cx.importer.means.budget.charge(wanted.bytes())?;
    let mut bytes = Vec::with_capacity(wanted.bytes());
    for taps in transposed::taps(axes) {
        for (filter, tap) in (0..o).flat_map(|filter| taps.iter().map(move |tap| (filter, *tap))) {
            let place = tap.and_then(|tap| {
                let row = (tap / columns.taps).checked_sub(before[0])?;
                let column = (tap % columns.taps).checked_sub(before[1])?;
                Some((filter * kh * kw + row * kw + column) * run)
            });
            let own = place.and_then(|at| data.bytes().get(at..at + run));
            bytes.extend_from_slice(own.unwrap_or(&nothing));
        }
    }
    constant(cx, wanted, bytes)
}

/// The bias, once for each remainder.
fn repeated(cx: &mut Cx<'_, '_, '_>, bias: ValueId, o: usize, copies: usize) -> Lowered<ValueId> {
    let mut means = cx.means();
    let each = match *means.dims(bias) {
        [count] if count == o || count == 1 => means.reshaped(bias, &[1, count])?,
        _ => return Err(malformed!("a bias {} for {o} filters", cx.ty(bias))),
    };
    let all = means.repeated(each, &[copies, o])?;
    let all = means.reshaped(all, &[copies * o])?;
    cx.folded(all)
}
