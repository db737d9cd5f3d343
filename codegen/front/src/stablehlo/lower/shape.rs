//! What moves elements, or names them otherwise.

use super::cx::Cx;
use super::slot::{Slot, Tensor};
use super::{complex, All, Lowered, Operators};
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("broadcast", All(|cx| moved(cx, broadcast))),
    ("broadcast_in_dim", All(|cx| moved(cx, broadcast_in_dim))),
    ("concatenate", All(concatenate)),
    ("dynamic_broadcast_in_dim", All(|cx| moved(cx, broadcast_in_dim))),
    (
        "dynamic_iota",
        super::One(|cx| {
            let (dims, element) = (cx.result_dims(0)?, cx.element(0)?);
            let axis = cx.axis("iota_dimension", dims.len())?;
            super::constant::counted(cx, &dims, axis, &element)
        }),
    ),
    ("dynamic_reshape", All(|cx| moved(cx, reshape))),
    ("get_dimension_size", super::One(dimension_size)),
    ("pad", super::One(pad)),
    ("reshape", All(|cx| moved(cx, reshape))),
    ("reverse", All(|cx| moved(cx, reverse))),
    ("slice", All(|cx| moved(cx, slice))),
    ("transpose", All(|cx| moved(cx, transpose))),
];

/// A movement of the first operand, of both parts where it is complex.
pub(super) fn moved<'m, 'p>(
    cx: &mut Cx<'_, 'm, 'p>,
    movement: fn(&mut Cx<'_, 'm, 'p>, &Tensor) -> Lowered<Tensor>,
) -> Lowered<Vec<Slot>> {
    if complex::is_complex(cx) {
        return complex::each(cx, movement);
    }
    let x = cx.tensor(0)?;
    Ok(vec![Slot::Tensor(movement(cx, &x)?)])
}

/// broadcast_in_dim: axis `k` of the operand is axis `dims[k]` of the result. Nothing is repeated yet.
fn broadcast_in_dim(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let (dims, places) = (cx.result_dims(0)?, cx.sizes("broadcast_dimensions")?);
    placed(cx, x, &dims, &places)
}

fn placed(cx: &mut Cx<'_, '_, '_>, x: &Tensor, dims: &[usize], places: &[usize]) -> Lowered<Tensor> {
    let own = cx.dims(x.value);
    let misfit = || malformed!("axes {places:?} of {dims:?} do not fit {:?}", x.dims);
    malformed_if!(places.len() != x.dims.len(), "it names {} axes of {:?}", places.len(), x.dims);
    let (mut wide, mut last) = (vec![1; dims.len()], None);
    let mut is_in_order = true;
    for (k, &place) in places.iter().enumerate() {
        let size = dims.get(place).ok_or_else(misfit)?;
        let fits = x.dims[k] == *size || x.dims[k] == 1;
        malformed_if!(!fits, "axes {places:?} of {dims:?} do not fit {:?}", x.dims);
        is_in_order &= last.is_none_or(|last| last < place);
        last = Some(place);
        wide[place] = own[k];
    }
    if dims.contains(&0) {
        let dtype = cx.ty(x.value).dtype;
        let value = cx.means().empty(dtype, dims);
        return Ok(Tensor::of(value, dims, &x.element));
    }
    let mut value = x.value;
    if !is_in_order {
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by_key(|&k| places[k]);
        malformed_if!(
            order.windows(2).any(|pair| places[pair[0]] == places[pair[1]]),
            "an axis is named twice"
        );
        value = cx.means().transposed(value, &order)?;
    }
    let value = cx.reshaped(value, &wide)?;
    Ok(Tensor::of(value, dims, &x.element))
}

/// broadcast: new axes in front.
fn broadcast(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let dims = cx.result_dims(0)?;
    let front = dims.len().checked_sub(x.dims.len());
    let front = front.ok_or_else(|| malformed!("its result {dims:?} has too few axes"))?;
    placed(cx, x, &dims, &(front..dims.len()).collect::<Vec<_>>())
}

fn reshape(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let dims = cx.result_dims(0)?;
    reshaped(cx, x, &dims)
}

/// The same elements under another shape. What is repeated along whole axes stays so where the axes stay.
pub(super) fn reshaped(cx: &mut Cx<'_, '_, '_>, x: &Tensor, dims: &[usize]) -> Lowered<Tensor> {
    malformed_if!(
        x.numel() != dims.iter().product::<usize>(),
        "{:?} cannot become {dims:?}: it has another number of elements",
        x.dims
    );
    if dims.contains(&0) {
        let dtype = cx.ty(x.value).dtype;
        let value = cx.means().empty(dtype, dims);
        return Ok(Tensor::of(value, dims, &x.element));
    }
    let own = cx.dims(x.value);
    if own.iter().product::<usize>() == 1 {
        let value = cx.reshaped(x.value, &vec![1; dims.len()])?;
        return Ok(Tensor::of(value, dims, &x.element));
    }
    // Only axes of one element come or go: those that repeat stay.
    let kept = |dims: &[usize]| dims.iter().copied().filter(|&dim| dim != 1).collect::<Vec<_>>();
    if own != x.dims && kept(&x.dims) == kept(dims) {
        let mut sizes = x.dims.iter().zip(&own).filter(|(dim, _)| **dim != 1).map(|(_, own)| *own);
        let wide: Vec<usize> =
            dims.iter().map(|&dim| if dim == 1 { 1 } else { sizes.next().unwrap_or(1) }).collect();
        let value = cx.reshaped(x.value, &wide)?;
        return Ok(Tensor::of(value, dims, &x.element));
    }
    let value = cx.spread(x)?;
    let value = cx.reshaped(value, dims)?;
    Ok(Tensor::of(value, dims, &x.element))
}

fn transpose(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let perm = cx.sizes("permutation")?;
    transposed(cx, x, &perm)
}

/// Axis `k` of the result is axis `perm[k]` of `x`.
pub(super) fn transposed(cx: &mut Cx<'_, '_, '_>, x: &Tensor, perm: &[usize]) -> Lowered<Tensor> {
    let mut seen = perm.to_vec();
    seen.sort_unstable();
    malformed_if!(!seen.into_iter().eq(0..x.dims.len()), "its permutation of {:?} is {perm:?}", x.dims);
    let dims: Vec<usize> = perm.iter().map(|&axis| x.dims[axis]).collect();
    let value = match dims.contains(&0) {
        true => {
            let dtype = cx.ty(x.value).dtype;
            cx.means().empty(dtype, &dims)
        }
        false => cx.means().transposed(x.value, perm)?,
    };
    Ok(Tensor::of(value, &dims, &x.element))
}

fn slice(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let rank = x.dims.len();
    let (start, limit) = (cx.sizes("start_indices")?, cx.sizes("limit_indices")?);
    let strides = cx.sizes_or("strides", 1, rank)?;
    malformed_if!(start.len() != rank || limit.len() != rank, "its bounds do not fit {:?}", x.dims);
    sliced(cx, x, &start, &limit, &strides)
}

/// Elements from `start` to before `limit`, along each axis.
pub(super) fn sliced(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    start: &[usize],
    limit: &[usize],
    strides: &[usize],
) -> Lowered<Tensor> {
    let (own, rank) = (cx.dims(x.value), x.dims.len());
    let (mut dims, mut sizes) = (Vec::new(), Vec::new());
    let (mut begin, mut step) = (vec![0; rank], vec![1i64; rank]);
    for axis in 0..rank {
        let fits = start[axis] <= limit[axis] && limit[axis] <= x.dims[axis] && strides[axis] > 0;
        malformed_if!(!fits, "it takes {start:?} to {limit:?} by {strides:?} of {:?}", x.dims);
        let size = (limit[axis] - start[axis]).div_ceil(strides[axis]);
        dims.push(size);
        if own[axis] == 1 && x.dims[axis] != 1 {
            sizes.push(1);
        } else {
            (begin[axis], step[axis]) = (start[axis], strides[axis] as i64);
            sizes.push(size);
        }
    }
    if dims.contains(&0) {
        let dtype = cx.ty(x.value).dtype;
        let value = cx.means().empty(dtype, &dims);
        return Ok(Tensor::of(value, &dims, &x.element));
    }
    let value = match sizes == own {
        true => x.value,
        false => cx.means().add_like(Op::Slice { begin, step }, &[x.value], &sizes)?,
    };
    Ok(Tensor::of(value, &dims, &x.element))
}

fn reverse(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let axes = cx.sizes("dimensions")?;
    malformed_if!(axes.iter().any(|&axis| axis >= x.dims.len()), "it has no axes {axes:?}");
    let value = reversed(cx, x.value, &axes)?;
    Ok(Tensor { value, ..x.clone() })
}

/// Elements in the other order along some axes.
pub(super) fn reversed(cx: &mut Cx<'_, '_, '_>, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let turned = |axis: &usize| axes.contains(axis) && dims[*axis] > 1;
    if !(0..dims.len()).any(|axis| turned(&axis)) {
        return Ok(x);
    }
    let begin = (0..dims.len()).map(|axis| if turned(&axis) { dims[axis] - 1 } else { 0 }).collect();
    let step = (0..dims.len()).map(|axis| if turned(&axis) { -1 } else { 1 }).collect();
    cx.means().add_like(Op::Slice { begin, step }, &[x], &dims)
}

fn concatenate(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let axis = cx.size("dimension")?.unwrap_or(0);
    if complex::is_complex(cx) {
        let (mut res, mut ims) = (Vec::new(), Vec::new());
        for slot in &cx.operands {
            let Slot::Complex(re, im) = slot else {
                return Err(malformed!("its operands are of several types"));
            };
            res.push(re.clone());
            ims.push(im.clone());
        }
        let (re, im) = (joined(cx, &res, axis)?, joined(cx, &ims, axis)?);
        return complex::result(re, im);
    }
    let parts = cx.tensors()?;
    Ok(vec![Slot::Tensor(joined(cx, &parts, axis)?)])
}

/// Tensors side by side along an axis.
pub(super) fn joined(cx: &mut Cx<'_, '_, '_>, parts: &[Tensor], axis: usize) -> Lowered<Tensor> {
    let first = parts.first().ok_or_else(|| malformed!("it has no operands"))?;
    malformed_if!(axis >= first.dims.len(), "there is no axis {axis} of {:?}", first.dims);
    let mut dims = first.dims.clone();
    dims[axis] = 0;
    let mut values = Vec::new();
    for part in parts {
        let fits = part.dims.len() == dims.len()
            && part.element == first.element
            && (0..dims.len()).all(|k| k == axis || part.dims[k] == dims[k]);
        malformed_if!(!fits, "{:?} and {:?} cannot be joined along axis {axis}", first.dims, part.dims);
        dims[axis] += part.dims[axis];
        if part.dims[axis] > 0 {
            values.push(cx.spread(part)?);
        }
    }
    if dims.contains(&0) {
        let dtype = cx.ty(first.value).dtype;
        let value = cx.means().empty(dtype, &dims);
        return Ok(Tensor::of(value, &dims, &first.element));
    }
    let value = cx.means().joined(&values, axis)?;
    Ok(Tensor::of(value, &dims, &first.element))
}

fn pad(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, filler) = (cx.tensor(0)?, cx.tensor(1)?);
    let rank = x.dims.len();
    let sizes = |name: &str| -> Lowered<Vec<i64>> {
        let list = cx.list(name)?.unwrap_or_else(|| vec![0; rank]);
        let is_sound = list.len() == rank && list.iter().all(|&pad| i32::try_from(pad).is_ok());
        malformed_if!(!is_sound, "its {name} is {list:?} for {rank} axes");
        Ok(list)
    };
    let (low, high, between) =
        (sizes("edge_padding_low")?, sizes("edge_padding_high")?, sizes("interior_padding")?);
    padded(cx, &x, &filler, &low, &high, &between)
}

/// `x` with a filler between its elements, and around it; negative padding takes elements away.
pub(super) fn padded(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    filler: &Tensor,
    low: &[i64],
    high: &[i64],
    between: &[i64],
) -> Lowered<Tensor> {
    let rank = x.dims.len();
    malformed_if!(between.iter().any(|&pad| pad < 0), "its interior padding is {between:?}");
    if low.iter().chain(high).chain(between).all(|&pad| pad == 0) {
        return Ok(x.clone());
    }
    let mut dims = Vec::new();
    for axis in 0..rank {
        let inner = x.dims[axis] as i64 + between[axis] * (x.dims[axis] as i64 - 1).max(0);
        let size = inner + low[axis] + high[axis];
        let size =
            usize::try_from(size).map_err(|_| malformed!("of {:?}, it leaves {size} elements", x.dims))?;
        dims.push(size);
    }
    crate::onnx::lower::check_size(DType::I64, &dims)?;
    let dtype = cx.ty(x.value).dtype;
    if dims.contains(&0) {
        let value = cx.means().empty(dtype, &dims);
        return Ok(Tensor::of(value, &dims, &x.element));
    }
    if x.numel() == 0 {
        let value = cx.repeated(filler.value, &vec![1; rank])?;
        return Ok(Tensor::of(value, &dims, &x.element));
    }
    let stored = cx.data(filler.value).and_then(|data| match dtype {
        DType::F32 => data.to_f32().first().map(|x| i64::from(x.to_bits())),
        dtype => data.to_ints(dtype).first().copied(),
    });
    let Some(stored) = stored else { return filled(cx, x, filler, &dims, low, high, between) };
    let mut value = cx.spread(x)?;
    for axis in 0..rank {
        if between[axis] > 0 && x.dims[axis] > 1 {
            // Each element in a row of its own, with the filler behind it.
            let mut wide = cx.dims(value);
            wide.insert(axis + 1, 1);
            let mut after = vec![0; wide.len()];
            after[axis + 1] = between[axis] as usize;
            let none = vec![0; wide.len()];
            value = cx.reshaped(value, &wide)?;
            value = cx.means().padded(value, &none, &after, stored)?;
            wide.remove(axis + 1);
            wide[axis] *= between[axis] as usize + 1;
            let whole = wide[axis] - between[axis] as usize;
            value = cx.reshaped(value, &wide)?;
            value = cx.means().part(value, axis, 0, whole, 1)?;
        }
    }
    for axis in 0..rank {
        let size = cx.dims(value)[axis] as i64;
        let (first, last) = ((-low[axis]).max(0), size - (-high[axis]).max(0));
        if last <= first {
            // Nothing of it is left.
            let value = cx.repeated(filler.value, &vec![1; rank])?;
            return Ok(Tensor::of(value, &dims, &x.element));
        }
        value = cx.means().part(value, axis, first as usize, (last - first) as usize, 1)?;
    }
    let positive = |list: &[i64]| list.iter().map(|&pad| pad.max(0) as usize).collect::<Vec<_>>();
    let value = cx.means().padded(value, &positive(low), &positive(high), stored)?;
    Ok(Tensor::of(value, &dims, &x.element))
}

/// Padding with a number that is computed at run time: by zeros, and then a choice.
fn filled(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    filler: &Tensor,
    dims: &[usize],
    low: &[i64],
    high: &[i64],
    between: &[i64],
) -> Lowered<Tensor> {
    let zero = cx.means().number(x.value, 0.0)?;
    let zero = Tensor::of(zero, &[], &x.element);
    let inside = padded(cx, x, &zero, low, high, between)?;
    let one = cx.means().int_constant("inside", DType::I32, &vec![1; dims.len()], &[1])?;
    let zero = cx.means().int_constant("outside", DType::I32, &[], &[0])?;
    let element = super::super::module::Element::Signed(32);
    let (ones, zero) = (Tensor::of(one, &x.dims, &element), Tensor::of(zero, &[], &element));
    let mask = padded(cx, &ones, &zero, low, high, between)?;
    let mask = cx.spread(&mask)?;
    let mask = super::compare::is_true(cx, mask)?;
    let value = cx.means().choice(mask, inside.value, filler.value)?;
    Ok(Tensor::of(value, dims, &x.element))
}

fn dimension_size(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let x = cx.tensor(0)?;
    let axis = cx.axis("dimension", x.dims.len())?;
    let value = cx.means().int_constant("size", DType::I32, &[], &[x.dims[axis] as i64])?;
    Ok(Tensor::of(value, &[], &super::super::module::Element::Signed(32)))
}
