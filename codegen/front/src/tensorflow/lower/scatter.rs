//! Elements that are written or added at indices, and sums over segments.

use super::{Cx, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ScatterNd", One(scatter_nd)),
    ("SegmentMax", One(|cx| segments(cx, "max", false))),
    ("SegmentMean", One(segment_mean)),
    ("SegmentMin", One(|cx| segments(cx, "min", false))),
    ("SegmentProd", One(|cx| segments(cx, "mul", false))),
    ("SegmentSum", One(|cx| segments(cx, "add", false))),
    ("TensorScatterAdd", One(|cx| tensor_scatter(cx, "add", 1.0))),
    ("TensorScatterMax", One(|cx| tensor_scatter(cx, "max", 1.0))),
    ("TensorScatterMin", One(|cx| tensor_scatter(cx, "min", 1.0))),
    ("TensorScatterSub", One(|cx| tensor_scatter(cx, "add", -1.0))),
    ("TensorScatterUpdate", One(|cx| tensor_scatter(cx, "none", 1.0))),
    ("UnsortedSegmentMax", One(|cx| segments(cx, "max", true))),
    ("UnsortedSegmentMin", One(|cx| segments(cx, "min", true))),
    ("UnsortedSegmentProd", One(|cx| segments(cx, "mul", true))),
    ("UnsortedSegmentSum", One(|cx| segments(cx, "add", true))),
];

fn tensor_scatter(cx: &mut Cx<'_, '_, '_>, how: &str, sign: f64) -> Lowered<ValueId> {
    let (x, indices, mut updates) = (cx.x(0)?, cx.x(1)?, cx.x(2)?);
    if cx.ty(updates).shape.numel() == 0 {
        return Ok(x);
    }
    if sign < 0.0 {
        updates = cx.times(updates, sign)?;
    }
    if cx.data(indices).is_none() {
        return at_computed(cx, x, indices, updates, how);
    }
    cx.call("ScatterND", &[Some(x), Some(indices), Some(updates)], &[("reduction", Set::Text(how))])
}

fn scatter_nd(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (indices, updates, dims) = (cx.x(0)?, cx.x(1)?, cx.known_sizes(2, "shape")?);
    let dtype = cx.ty(updates).dtype;
    let zeros = cx.zeros(dtype, &dims)?;
    if cx.ty(updates).shape.numel() == 0 {
        return Ok(zeros);
    }
    if cx.data(indices).is_none() {
        return at_computed(cx, zeros, indices, updates, "add");
    }
    cx.call("ScatterND", &[Some(zeros), Some(indices), Some(updates)], &[("reduction", Set::Text("add"))])
}

/// Most pairs of a place and an update that are compared.
const MOST_PAIRS: usize = 1 << 16;

/// Updates at coordinates that are computed: each place is compared with all coordinates.
fn at_computed(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    indices: ValueId,
    updates: ValueId,
    how: &str,
) -> Lowered<ValueId> {
    let (dims, named) = (cx.dims(x), cx.dims(indices));
    let Some((&depth, front)) = named.split_last() else { return Err(malformed!("it has no coordinates")) };
    let rest = dims.get(depth..).unwrap_or_default();
    let fits = depth <= dims.len() && depth > 0 && cx.dims(updates) == [front, rest].concat();
    malformed_if!(!fits, "updates {} do not fit {}", cx.shown(updates), cx.shown(x));
    let (places, run): (usize, usize) = (dims[..depth].iter().product(), rest.iter().product());
    let rows: usize = front.iter().product();
    if places.saturating_mul(rows) > MOST_PAIRS {
        let what = format!("{rows} updates at computed places of {} cannot be compiled", cx.shown(x));
        return Err(Refusal::unsupported(what, "use constant indices, or fewer places"));
    }
    let target = targets(cx, indices, &dims[..depth], rows)?;
    let list = cx.reshaped(target, &[1, rows])?;
    cx.importer.budget.make(8 * places.max(rows));
    let all = cx.counted(DType::I32, places)?;
    let all = cx.reshaped(all, &[places, 1])?;
    let is_it = cx.compared(Comparison::Equal, list, all)?;
    let flat = cx.reshaped(x, &[places, run])?;
    let updates = cx.reshaped(updates, &[rows, run])?;
    let y = match how {
        "none" => replaced(cx, flat, updates, is_it)?,
        how => joined(cx, flat, updates, is_it, how)?,
    };
    let dtype = cx.ty(x).dtype;
    let y = cx.cast(y, dtype)?;
    cx.reshaped(y, &dims)
}

/// The last update of each place, where there is one.
fn replaced(cx: &mut Cx<'_, '_, '_>, flat: ValueId, updates: ValueId, is_it: ValueId) -> Lowered<ValueId> {
    let (places, rows) = (cx.dims(is_it)[0], cx.dims(is_it)[1]);
    let numbers = cx.counted(DType::I32, rows)?;
    let none = cx.number(numbers, -1.0)?;
    let own = cx.choice(is_it, numbers, none)?;
    let last = cx.reduced(kiln_ir::Reduction::Max, own, &[1])?;
    let zero = cx.number(last, 0.0)?;
    let is_written = cx.compared(Comparison::GreaterEqual, last, zero)?;
    let place = cx.reshaped(last, &[places])?;
    let place = cx.onnx("Max", &[place, zero])?;
    let written = cx.call("Gather", &[Some(updates), Some(place)], &[])?;
    cx.choice(is_written, written, flat)
}

/// Each place with all of its updates.
fn joined(
    cx: &mut Cx<'_, '_, '_>,
    flat: ValueId,
    updates: ValueId,
    is_it: ValueId,
    how: &str,
) -> Lowered<ValueId> {
    let (places, rows, run) = (cx.dims(is_it)[0], cx.dims(is_it)[1], cx.dims(flat)[1]);
    let is_it = cx.reshaped(is_it, &[places, rows, 1])?;
    let updates = cx.reshaped(updates, &[1, rows, run])?;
    let wide = cx.widened(updates)?;
    let other = neutral(how, true, cx.ty(wide).dtype);
    let other = cx.number(wide, other)?;
    let own = cx.choice(is_it, wide, other)?;
    let one = cx.reduced(reduction(how), own, &[1])?;
    let one = cx.reshaped(one, &[places, run])?;
    let flat = cx.widened(flat)?;
    match how {
        "add" => cx.sum(flat, one),
        "max" => cx.onnx("Max", &[flat, one]),
        _ => cx.onnx("Min", &[flat, one]),
    }
}

/// The number of the place that each coordinate names.
fn targets(cx: &mut Cx<'_, '_, '_>, indices: ValueId, dims: &[usize], rows: usize) -> Lowered<ValueId> {
    let indices = cx.cast(indices, DType::I32)?;
    let indices = cx.reshaped(indices, &[rows, dims.len()])?;
    let mut target = None;
    for (axis, &size) in dims.iter().enumerate() {
        let own = cx.part(indices, 1, axis, 1, 1)?;
        target = Some(match target {
            None => own,
            Some(before) => {
                let before = cx.times(before, size as f64)?;
                cx.sum(before, own)?
            }
        });
    }
    target.ok_or_else(|| malformed!("it has no coordinates"))
}

/// What a segment without elements has.
fn neutral(how: &str, is_unsorted: bool, dtype: DType) -> f64 {
    match (how, is_unsorted, dtype.int_range()) {
        ("add", ..) => 0.0,
        ("mul", ..) => 1.0,
        // Sorted segments without elements are 0.
        (_, false, _) => 0.0,
        ("max", _, Some((least, _))) => least as f64,
        ("max", ..) => f64::from(f32::MIN),
        (_, _, Some((_, most))) => most as f64,
        _ => f64::from(f32::MAX),
    }
}

/// The elements of each segment of the first axes made one.
fn segments(cx: &mut Cx<'_, '_, '_>, how: &str, is_unsorted: bool) -> Lowered<ValueId> {
    let (x, ids) = (cx.x(0)?, cx.x(1)?);
    let (dims, own) = (cx.dims(x), cx.dims(ids));
    malformed_if!(!dims.starts_with(&own), "segments {} do not fit {}", cx.shown(ids), cx.shown(x));
    let known = cx.data(ids).map(|data| data.to_ints(cx.ty(ids).dtype));
    let count = match (is_unsorted, &known) {
        (true, _) => cx.known_sizes(2, "number of segments")?.first().copied().unwrap_or(0),
        (false, Some(ids)) => usize::try_from(ids.iter().copied().max().unwrap_or(-1) + 1).unwrap_or(0),
        (false, None) => {
            let what = "the number of its segments depends on values that are computed at run time";
            return Err(Refusal::unsupported(what, "use the unsorted operator, which is given the number"));
        }
    };
    let rest = &dims[own.len()..];
    let rows: usize = own.iter().product();
    let run: usize = rest.iter().product();
    let flat = cx.reshaped(x, &[rows, run])?;
    let ids = cx.reshaped(ids, &[rows])?;
    let y = match known {
        Some(ids) => of_known(cx, flat, &ids, count, how, is_unsorted)?,
        None => of_computed(cx, flat, ids, count, how)?,
    };
    cx.reshaped(y, &[&[count], rest].concat())
}

/// Segments that are known.
fn of_known(
    cx: &mut Cx<'_, '_, '_>,
    flat: ValueId,
    ids: &[i64],
    count: usize,
    how: &str,
    is_unsorted: bool,
) -> Lowered<ValueId> {
    let (dtype, run) = (cx.ty(flat).dtype, cx.dims(flat)[1]);
    cx.written_out(count)?;
    let other = neutral(how, is_unsorted, dtype);
    let mut parts = Vec::new();
    for segment in 0..count as i64 {
        let rows: Vec<usize> = (0..ids.len()).filter(|&row| ids[row] == segment).collect();
        if rows.is_empty() {
            let zeros = cx.zeros(dtype, &[1, run])?;
            parts.push(if other == 0.0 { zeros } else { cx.plus(zeros, other)? });
            continue;
        }
        let own = cx.picked(flat, 0, &rows)?;
        let wide = cx.widened(own)?;
        let one = cx.reduced(reduction(how), wide, &[0])?;
        parts.push(cx.cast(one, dtype)?);
    }
    malformed_if!(parts.is_empty(), "it has no segments");
    cx.joined(&parts, 0)
}

fn reduction(how: &str) -> kiln_ir::Reduction {
    use kiln_ir::Reduction;
    match how {
        "add" => Reduction::Sum,
        "mul" => Reduction::Product,
        "max" => Reduction::Max,
        _ => Reduction::Min,
    }
}

/// Segments that are computed: each takes all elements, and those of others as ones that change nothing.
fn of_computed(
    cx: &mut Cx<'_, '_, '_>,
    flat: ValueId,
    ids: ValueId,
    count: usize,
    how: &str,
) -> Lowered<ValueId> {
    let (dtype, rows, run) = (cx.ty(flat).dtype, cx.dims(flat)[0], cx.dims(flat)[1]);
    let ids = cx.cast(ids, DType::I32)?;
    let ids = cx.reshaped(ids, &[1, rows, 1])?;
    cx.importer.budget.make(8 * count);
    let places = cx.counted(DType::I32, count)?;
    let places = cx.reshaped(places, &[count, 1, 1])?;
    let is_own = cx.compared(Comparison::Equal, ids, places)?;
    let all = cx.reshaped(flat, &[1, rows, run])?;
    let wide = cx.widened(all)?;
    let other = neutral(how, true, cx.ty(wide).dtype);
    let other = cx.number(wide, other)?;
    let own = cx.choice(is_own, wide, other)?;
    let one = cx.reduced(reduction(how), own, &[1])?;
    let one = cx.cast(one, dtype)?;
    cx.reshaped(one, &[count, run])
}

fn segment_mean(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let sums = segments(cx, "add", false)?;
    let ids = cx.known_list(1, "segments")?;
    let dims = cx.dims(sums);
    let counts: Vec<f32> = (0..dims[0] as i64)
        .map(|segment| ids.iter().filter(|&&id| id == segment).count().max(1) as f32)
        .collect();
    let mut along = vec![1; dims.len()];
    along[0] = dims[0];
    let counts = cx.float_constant("counts", &along, &counts)?;
    cx.quotient(sums, counts)
}
