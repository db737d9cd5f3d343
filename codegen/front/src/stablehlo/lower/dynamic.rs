//! Slices at places that may be computed at run time.

use super::cx::Cx;
use super::shape::{joined, moved, sliced};
use super::slot::Tensor;
use super::{gather, All, Lowered, One, Operators, Refusal};
use kiln_ir::{Comparison, DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("dynamic_slice", All(|cx| moved(cx, dynamic_slice))),
    ("dynamic_update_slice", One(dynamic_update_slice)),
    ("real_dynamic_slice", All(|cx| moved(cx, real_dynamic_slice))),
];

/// real_dynamic_slice with known bounds.
fn real_dynamic_slice(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let mut lists = Vec::new();
    for k in 1..=3 {
        let of = cx.tensor(k)?;
        let value = cx.spread(&of)?;
        let unknown = || {
            let help = "export the model with fixed shapes";
            Refusal::unsupported("its bounds are computed at run time", help)
        };
        let list = cx.known_ints(value).ok_or_else(unknown)?;
        let list: Option<Vec<usize>> = list.iter().map(|&at| usize::try_from(at).ok()).collect();
        lists.push(
            list.filter(|list| list.len() == x.dims.len())
                .ok_or_else(|| malformed!("its bounds do not fit"))?,
        );
    }
    sliced(cx, x, &lists[0], &lists[1], &lists[2])
}

fn dynamic_slice(cx: &mut Cx<'_, '_, '_>, x: &Tensor) -> Lowered<Tensor> {
    let sizes = cx.sizes("slice_sizes")?;
    malformed_if!(
        sizes.len() != x.dims.len() || cx.operands.len() != x.dims.len() + 1,
        "its sizes {sizes:?} do not fit {:?}",
        x.dims
    );
    malformed_if!(
        sizes.iter().zip(&x.dims).any(|(size, dim)| size > dim),
        "{sizes:?} of {:?} are too many",
        x.dims
    );
    let starts = starts(cx, 1, x, &sizes)?;
    if let Some(start) = known_starts(&starts) {
        let limit: Vec<usize> = start.iter().zip(&sizes).map(|(start, size)| start + size).collect();
        return sliced(cx, x, &start, &limit, &vec![1; x.dims.len()]);
    }
    // Known starts first: what is left is gathered.
    let (mut begin, mut limit) = (vec![0; x.dims.len()], x.dims.clone());
    let mut open = Vec::new();
    for (axis, start) in starts.iter().enumerate() {
        match *start {
            Start::Known(at) => (begin[axis], limit[axis]) = (at, at + sizes[axis]),
            Start::Computed(value) => open.push((axis, value)),
        }
    }
    let mut y = sliced(cx, x, &begin, &limit, &vec![1; x.dims.len()])?;
    for (axis, start) in open {
        let places = gather::window_places(cx, start, sizes[axis])?;
        let value = cx.spread_along(&y, &[axis])?;
        let mut own = cx.dims(value);
        own[axis] = sizes[axis];
        let places = cx.means().reshaped(places, &[sizes[axis], 1])?;
        let value = cx.means().add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[value, places], &own)?;
        let mut dims = y.dims.clone();
        dims[axis] = sizes[axis];
        y = Tensor::of(value, &dims, &y.element);
    }
    Ok(y)
}

/// Where a slice begins along an axis, inside the bounds.
enum Start {
    Known(usize),
    /// An integer of 64 bits.
    Computed(ValueId),
}

/// The starts from operand `first` on, for slices of these sizes.
fn starts(cx: &mut Cx<'_, '_, '_>, first: usize, x: &Tensor, sizes: &[usize]) -> Lowered<Vec<Start>> {
    let mut starts = Vec::new();
    for (axis, &size) in sizes.iter().enumerate() {
        let index = cx.tensor(first + axis)?;
        let most = x.dims[axis] - size;
        if most == 0 {
            starts.push(Start::Known(0));
            continue;
        }
        let value = super::bits::as_i64(cx, &index)?;
        starts.push(match cx.known_ints(value).and_then(|list| list.first().copied()) {
            Some(at) => Start::Known(at.clamp(0, most as i64) as usize),
            None => Start::Computed(gather::clamped(cx, value, most)?),
        });
    }
    Ok(starts)
}

fn known_starts(starts: &[Start]) -> Option<Vec<usize>> {
    let known = |start: &Start| match start {
        Start::Known(at) => Some(*at),
        Start::Computed(_) => None,
    };
    starts.iter().map(known).collect()
}

/// dynamic_update_slice: elements of the update where they lie, else those of the operand.
fn dynamic_update_slice(cx: &mut Cx<'_, '_, '_>) -> Lowered<Tensor> {
    let (x, update) = (cx.tensor(0)?, cx.tensor(1)?);
    let fits =
        update.dims.len() == x.dims.len() && update.dims.iter().zip(&x.dims).all(|(own, dim)| own <= dim);
    malformed_if!(
        !fits || cx.operands.len() != x.dims.len() + 2,
        "{:?} does not fit {:?}",
        update.dims,
        x.dims
    );
    if update.numel() == 0 {
        return Ok(x);
    }
    let starts = starts(cx, 2, &x, &update.dims)?;
    if update.dims == x.dims {
        return Ok(update);
    }
    // Along one axis, at a known place: what is before, the update, what is behind.
    let partial: Vec<usize> = (0..x.dims.len()).filter(|&axis| update.dims[axis] < x.dims[axis]).collect();
    if let ([axis], Some(start)) = (&partial[..], known_starts(&starts)) {
        let (axis, at) = (*axis, start[*axis]);
        let part = |cx: &mut Cx<'_, '_, '_>, from: usize, to: usize| -> Lowered<Tensor> {
            let (mut begin, mut limit) = (vec![0; x.dims.len()], x.dims.clone());
            (begin[axis], limit[axis]) = (from, to);
            sliced(cx, &x, &begin, &limit, &vec![1; x.dims.len()])
        };
        let (before, after) = (part(cx, 0, at)?, part(cx, at + update.dims[axis], x.dims[axis])?);
        return joined(cx, &[before, update.clone(), after], axis);
    }
    let (mut mask, mut spread) = (None::<ValueId>, cx.spread_along(&update, &partial)?);
    for axis in partial {
        let size = update.dims[axis];
        let start = match starts[axis] {
            Start::Known(at) => cx.means().int_constant("start", DType::I64, &[], &[at as i64])?,
            Start::Computed(value) => cx.reshaped(value, &[])?,
        };
        // Of each place, how far it is from the start.
        let places = cx.means().counted(DType::I64, x.dims[axis])?;
        let from = cx.means().difference(places, start)?;
        let mut along = vec![1; x.dims.len()];
        along[axis] = x.dims[axis];
        let row = cx.means().reshaped(from, &along)?;
        let mut means = cx.means();
        let inside = match size {
            1 => {
                let zero = means.number(row, 0.0)?;
                means.compared(Comparison::Equal, row, zero)?
            }
            size => {
                let (zero, end) = (means.number(row, 0.0)?, means.number(row, size as f64)?);
                let is_behind = means.compared(Comparison::GreaterEqual, row, zero)?;
                let is_before = means.compared(Comparison::Less, row, end)?;
                means.both(is_behind, is_before)?
            }
        };
        mask = Some(match mask {
            Some(mask) => means.both(mask, inside)?,
            None => inside,
        });
        if size > 1 {
            let mut own = means.dims(spread);
            own[axis] = x.dims[axis];
            let each = means.reshaped(from, &[x.dims[axis], 1])?;
            spread = means.add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[spread, each], &own)?;
        }
    }
    let Some(mask) = mask else { return Ok(update) };
    let value = cx.means().choice(mask, spread, x.value)?;
    Ok(Tensor::of(value, &x.dims, &x.element))
}
