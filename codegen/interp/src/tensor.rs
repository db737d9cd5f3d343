//! Elements, indices and strides: what every op needs and none defines.

use kiln_ir::{DType, Data, Type};

/// The elements of an integer tensor, as `i32`. `i64` elements wrap.
pub(super) fn ints(ty: &Type, data: &Data) -> Vec<i32> {
    data.to_ints(ty.dtype).into_iter().map(|x| x as i32).collect()
}

/// The elements of an integer tensor minus its per-tensor zero point.
pub(super) fn centred(ty: &Type, data: &Data) -> Vec<i32> {
    let zero = ty.zero_point();
    ints(ty, data).into_iter().map(|x| x.wrapping_sub(zero)).collect()
}

/// Packs `i32`s as elements of `dtype`.
pub(super) fn pack_i32(dtype: DType, values: impl IntoIterator<Item = i32>) -> Data {
    Data::from_ints(dtype, values.into_iter().map(i64::from))
}

/// Calls `visit` with every index of a tensor of these dimensions, in row-major order.
pub(super) fn for_each_index(dims: &[usize], mut visit: impl FnMut(&[usize])) {
    if dims.contains(&0) {
        return;
    }
    let mut index = vec![0; dims.len()];
    loop {
        visit(&index);
        let mut axis = dims.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            if index[axis] < dims[axis] {
                break;
            }
            index[axis] = 0;
        }
    }
}

/// Strides with which an operand of shape `from` is read for a result of `rank` axes: right-aligned, 0 where it is repeated.
pub(super) fn broadcast_strides(from: &Type, rank: usize) -> Vec<usize> {
    let mut strides = vec![0; rank.saturating_sub(from.shape.rank())];
    for (&dim, stride) in from.shape.dims().iter().zip(from.shape.strides()) {
        strides.push(if dim == 1 { 0 } else { stride });
    }
    strides
}

/// The position of an index under the given strides.
pub(super) fn offset(index: &[usize], strides: &[usize]) -> usize {
    index.iter().zip(strides).map(|(i, s)| i * s).sum()
}

/// `x` within `lo..=hi`; NaN stays NaN. (TFLite's `ActivationFunctionWithMinMax`.)
pub(super) fn clamp_f32(x: f32, (lo, hi): (f32, f32)) -> f32 {
    let x = if x < lo { lo } else { x };
    if hi < x {
        hi
    } else {
        x
    }
}

/// `x` within `lo..=hi`; `hi` where they contradict.
pub(super) fn clamp_i32(x: i32, (lo, hi): (i32, i32)) -> i32 {
    x.max(lo).min(hi)
}
