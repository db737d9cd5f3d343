//! What puts elements at given places. Places that are known only at run time are compared with all places, one after the other.

use super::cx::Cx;
use super::gather::{self, Places};
use super::{movement, view, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{Binary, Comparison, DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("col2im", One(col2im)),
    ("index_add", One(|cx| rows(cx, "add"))),
    ("index_copy", One(|cx| rows(cx, "none"))),
    ("index_fill", One(index_fill)),
    ("index_put", One(index_put)),
    ("scatter", One(scatter)),
    ("scatter_add", One(scatter_add)),
    ("scatter_reduce", One(scatter_reduce)),
    ("select_scatter", One(part)),
    ("slice_scatter", One(part)),
];

fn scatter(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let how = match cx.words("reduce") {
        "add" => "add",
        "multiply" => "mul",
        _ => "none",
    };
    let x = cx.tensor("self")?;
    elements(cx, x, how)
}

fn scatter_add(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    elements(cx, x, "add")
}

fn scatter_reduce(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (how, neutral) = match cx.words("reduce") {
        "sum" => ("add", 0.0),
        "prod" => ("mul", 1.0),
        "amax" => ("max", f64::NEG_INFINITY),
        "amin" => ("min", f64::INFINITY),
        other => return Err(Refusal::unsupported(format!("its reduce is {other:?}"), "use a sum")),
    };
    let x = cx.tensor("self")?;
    if cx.flag("include_self", true)? {
        return elements(cx, x, how);
    }
    // What stood in those places does not count.
    let (at, axis) = (cx.tensor("index")?, cx.dim("dim", 0, x)?);
    let dims = cx.dims(at);
    let neutral = cx.number(x, neutral)?;
    let neutral = view::spread(cx, neutral, &dims)?;
    let cleared = scattered(cx, x, at, neutral, axis, "none")?;
    elements(cx, cleared, how)
}

/// The updates of the arguments put into `x`.
fn elements(cx: &mut Cx<'_, '_, '_>, x: ValueId, how: &str) -> Lowered<ValueId> {
    let at = cx.tensor("index")?;
    let at = gather::indices(cx, at)?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(at));
    let mut updates = cx.operand(if cx.has("src") { "src" } else { "value" })?;
    updates = cx.cast(updates, dtype)?;
    if cx.dims(updates).is_empty() {
        updates = view::spread(cx, updates, &dims)?;
    }
    // Updates without an index are not looked at.
    for (axis, &size) in dims.iter().enumerate() {
        malformed_if!(cx.dims(updates).get(axis).is_none_or(|&own| own < size), "its updates do not fit");
        updates = cx.part(updates, axis, 0, size, 1)?;
    }
    let axis = cx.dim("dim", 0, x)?;
    scattered(cx, x, at, updates, axis, how)
}

/// Updates along an axis, of which each has its index.
fn scattered(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    at: ValueId,
    updates: ValueId,
    axis: usize,
    how: &str,
) -> Lowered<ValueId> {
    if cx.data(at).is_some() {
        let attributes = [("axis", Set::Int(axis as i64)), ("reduction", Set::Text(how))];
        return cx.call("ScatterElements", &[Some(x), Some(at), Some(updates)], &attributes);
    }
    let (dims, named) = (cx.dims(x), cx.dims(at));
    let others = || (0..dims.len()).filter(|&other| other != axis);
    malformed_if!(
        named.len() != dims.len() || others().any(|other| named[other] > dims[other]),
        "indices {} do not fit {}",
        cx.shown(at),
        cx.shown(x)
    );
    // Rows without updates stay.
    let mut y = x;
    for other in others() {
        y = cx.part(y, other, 0, named[other], 1)?;
    }
    for k in 0..limited(cx, named[axis])? {
        let (index, update) = (cx.part(at, axis, k, 1, 1)?, cx.part(updates, axis, k, 1, 1)?);
        let is_it = movement::places(cx, index, axis, &dims)?;
        y = joined(cx, y, is_it, update, how)?;
    }
    for other in others().rev().filter(|&other| named[other] < dims[other]) {
        let mut rest = cx.part(x, other, named[other], dims[other] - named[other], 1)?;
        for before in others().filter(|&before| before < other) {
            rest = cx.part(rest, before, 0, named[before], 1)?;
        }
        y = cx.joined(&[y, rest], other)?;
    }
    Ok(y)
}

/// Most updates whose places are known only at run time.
const MOST_UPDATES: usize = 64;

fn limited(cx: &mut Cx<'_, '_, '_>, count: usize) -> Lowered<usize> {
    if count <= MOST_UPDATES {
        cx.written_out(12 * count)?;
        return Ok(count);
    }
    let what = format!("{count} of its indices are computed at run time; at most {MOST_UPDATES} can be");
    Err(Refusal::unsupported(what, "use constant indices, or select elements with a condition (where)"))
}

/// `x` with an update in its places, or joined to what stands there.
fn joined(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    places: ValueId,
    update: ValueId,
    how: &str,
) -> Lowered<ValueId> {
    let new = match how {
        "add" => cx.sum(x, update)?,
        "mul" => cx.product(x, update)?,
        "max" => cx.binary(Binary::Max, x, update)?,
        "min" => cx.binary(Binary::Min, x, update)?,
        _ => update,
    };
    cx.choice(places, new, x)
}

/// Parts along the first axis, of which each has its index.
fn parts(cx: &mut Cx<'_, '_, '_>, x: ValueId, at: ValueId, updates: ValueId, how: &str) -> Lowered<ValueId> {
    let (count, dims) = (cx.ty(at).shape.numel(), cx.dims(x));
    if cx.data(at).is_some() {
        let at = cx.reshaped(at, &[count, 1])?;
        let attributes = [("reduction", Set::Text(how))];
        return cx.call("ScatterND", &[Some(x), Some(at), Some(updates)], &attributes);
    }
    let (at, mut y) = (cx.reshaped(at, &[count])?, x);
    for k in 0..limited(cx, count)? {
        let (index, update) = (cx.part(at, 0, k, 1, 1)?, cx.part(updates, 0, k, 1, 1)?);
        let is_it = movement::places(cx, index, 0, &dims)?;
        y = joined(cx, y, is_it, update, how)?;
    }
    Ok(y)
}

/// An index for each part along an axis.
fn rows(cx: &mut Cx<'_, '_, '_>, how: &str) -> Lowered<ValueId> {
    let (x, at, source) = (cx.tensor("self")?, cx.tensor("index")?, cx.tensor("source")?);
    let at = gather::indices(cx, at)?;
    let source = match cx.number_or("alpha", 1.0)? {
        1.0 => source,
        alpha => cx.times(source, alpha)?,
    };
    let axis = cx.dim("dim", 0, x)?;
    let rank = cx.dims(x).len();
    malformed_if!(cx.dims(source).len() != rank, "its source is {}", cx.shown(source));
    let order: Vec<usize> = [axis].into_iter().chain((0..rank).filter(|&other| other != axis)).collect();
    let (turned, source) = (cx.transposed(x, &order)?, cx.transposed(source, &order)?);
    let y = parts(cx, turned, at, source, how)?;
    movement::back(cx, y, &order)
}

/// One number at all places along an axis.
fn index_fill(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, at, number) = (cx.tensor("self")?, cx.tensor("index")?, cx.operand("value")?);
    let at = gather::indices(cx, at)?;
    let (dtype, dims, axis) = (cx.ty(x).dtype, cx.dims(x), cx.dim("dim", 0, x)?);
    let number = cx.cast(number, dtype)?;
    let Some(data) = cx.data(at) else {
        let count = cx.ty(at).shape.numel();
        let (at, mut y) = (cx.reshaped(at, &[count])?, x);
        for k in 0..limited(cx, count)? {
            let index = cx.part(at, 0, k, 1, 1)?;
            let is_it = movement::places(cx, index, axis, &dims)?;
            y = cx.choice(is_it, number, y)?;
        }
        return Ok(y);
    };
    let mut mask = vec![0; dims[axis]];
    for index in data.to_ints(cx.ty(at).dtype) {
        let at = cx.axis(index, dims[axis])?;
        mask[at] = 1;
    }
    let mut along = vec![1; dims.len() - axis];
    along[0] = dims[axis];
    let mask = cx.int_constant("places", DType::Bool, &along, &mask)?;
    cx.choice(mask, number, x)
}

/// Values at coordinates, or where a mask holds.
fn index_put(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, given) = (cx.tensor("self")?, cx.optional_tensors("indices")?);
    let accumulates = cx.flag("accumulate", false)?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let values = cx.tensor("values")?;
    let values = cx.cast(values, dtype)?;
    if let (&[Some(mask)], true) = (&*given, cx.ty(values).shape.numel() == 1 && !accumulates) {
        if cx.ty(mask).dtype == DType::Bool {
            let mut aligned = cx.dims(mask);
            aligned.resize(dims.len().max(aligned.len()), 1);
            let (mask, number) = (cx.reshaped(mask, &aligned)?, cx.reshaped(values, &[])?);
            return cx.choice(mask, number, x);
        }
    }
    let Places { order, coordinates, dims: taken, first } = gather::places(cx, x, &given)?;
    let turned = cx.transposed(x, &order)?;
    let depth = cx.dims(coordinates).last().copied().unwrap_or(0);
    let whole = cx.dims(turned);
    let (indexed, rest) = whole.split_at(depth);
    let front = first.unwrap_or(0).min(rest.len());
    // Values have the axes of what is taken where the indices stood.
    let shape = [&rest[..front], &taken[..], &rest[front..]].concat();
    let values = view::spread(cx, values, &shape)?;
    let perm: Vec<usize> =
        (front..front + taken.len()).chain(0..front).chain(front + taken.len()..shape.len()).collect();
    let values = cx.transposed(values, &perm)?;
    let how = if accumulates { "add" } else { "none" };
    // Axes with indices become one.
    let count: usize = taken.iter().product();
    let flat = cx.reshaped(turned, &[&[indexed.iter().product()], rest].concat())?;
    let values = cx.reshaped(values, &[&[count], rest].concat())?;
    let at = linear(cx, coordinates, indexed, count)?;
    let y = parts(cx, flat, at, values, how)?;
    let y = cx.reshaped(y, &whole)?;
    movement::back(cx, y, &order)
}

/// Coordinates along several axes as places in all of them.
fn linear(cx: &mut Cx<'_, '_, '_>, coordinates: ValueId, sizes: &[usize], count: usize) -> Lowered<ValueId> {
    let columns = cx.reshaped(coordinates, &[count, sizes.len()])?;
    let mut all = None;
    for (k, &size) in sizes.iter().enumerate() {
        let mut at = cx.part(columns, 1, k, 1, 1)?;
        if sizes.len() > 1 {
            let (zero, wrapped) = (cx.number(at, 0.0)?, cx.plus(at, size as f64)?);
            let is_negative = cx.compared(Comparison::Less, at, zero)?;
            at = cx.choice(is_negative, wrapped, at)?;
        }
        all = Some(match all {
            None => at,
            Some(all) => {
                let rows = cx.times(all, size as f64)?;
                cx.sum(rows, at)?
            }
        });
    }
    cx.reshaped(all.unwrap_or(columns), &[count])
}

/// A part in place of another: what `select` and `slice` write into, without writing.
fn part(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, source) = (cx.tensor("self")?, cx.tensor("src")?);
    let target = cx.target;
    cx.target = if target == "select_scatter" { "select" } else { "slice" };
    let whole = movement::written(cx, x, source, 0);
    cx.target = target;
    whole
}

/// Blocks of pixels, added where they overlap.
fn col2im(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.float_tensor("self")?;
    let list = |sizes: &[usize]| sizes.iter().map(|&size| size as i64).collect::<Vec<i64>>();
    let (image, block) = (list(&cx.sizes("output_size", 1, 2)?), list(&cx.sizes("kernel_size", 1, 2)?));
    let (dilation, stride) = (list(&cx.sizes("dilation", 1, 2)?), list(&cx.sizes("stride", 1, 2)?));
    let padding = list(&cx.sizes("padding", 0, 2)?);
    let pads = [&padding[..], &padding].concat();
    let image = cx.int_constant("image shape", DType::I64, &[2], &image)?;
    let block = cx.int_constant("block shape", DType::I64, &[2], &block)?;
    let attributes =
        [("dilations", Set::Ints(&dilation)), ("strides", Set::Ints(&stride)), ("pads", Set::Ints(&pads))];
    cx.call("Col2Im", &[Some(x), Some(image), Some(block)], &attributes)
}
