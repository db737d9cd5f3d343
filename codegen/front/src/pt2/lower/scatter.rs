//! What puts elements at given places.

use super::cx::Cx;
use super::gather::{self, Places};
use super::{movement, view, Lowered, One, Operators, Refusal};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("col2im", One(col2im)),
    ("index_add", One(|cx| rows(cx, "add", "source"))),
    ("index_copy", One(|cx| rows(cx, "none", "source"))),
    ("index_fill", One(index_fill)),
    ("index_put", One(index_put)),
    ("scatter", One(scatter)),
    ("scatter_add", One(|cx| elements(cx, "add"))),
    ("scatter_reduce", One(scatter_reduce)),
    ("select_scatter", One(|cx| part(cx, "src"))),
    ("slice_scatter", One(|cx| part(cx, "src"))),
];

fn scatter(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let how = match cx.words("reduce") {
        "add" => "add",
        "multiply" => "mul",
        _ => "none",
    };
    elements(cx, how)
}

fn scatter_reduce(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let how = match cx.words("reduce") {
        "sum" => "add",
        "prod" => "mul",
        "amax" => "max",
        "amin" => "min",
        other => return Err(Refusal::unsupported(format!("its reduce is {other:?}"), "use a sum")),
    };
    if !cx.flag("include_self", true)? {
        return Err(Refusal::unsupported("it leaves out what stood there", "use include_self=True"));
    }
    elements(cx, how)
}

/// An index for each of the updates, along an axis.
fn elements(cx: &mut Cx<'_, '_, '_>, how: &str) -> Lowered<ValueId> {
    let (x, at) = (cx.tensor("self")?, cx.tensor("index")?);
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
    let attributes = [("axis", Set::Int(axis as i64)), ("reduction", Set::Text(how))];
    cx.call("ScatterElements", &[Some(x), Some(at), Some(updates)], &attributes)
}

/// An index for each part along an axis.
fn rows(cx: &mut Cx<'_, '_, '_>, how: &str, name: &str) -> Lowered<ValueId> {
    let (x, at, source) = (cx.tensor("self")?, cx.tensor("index")?, cx.tensor(name)?);
    let at = gather::indices(cx, at)?;
    let source = match cx.number_or("alpha", 1.0)? {
        1.0 => source,
        alpha => cx.times(source, alpha)?,
    };
    let (axis, count) = (cx.dim("dim", 0, x)?, cx.ty(at).shape.numel());
    let dims = cx.dims(x);
    // One index may be computed at run time.
    if count == 1 && how == "none" && cx.data(at).is_none() {
        let is_it = movement::places(cx, at, axis, &dims)?;
        return cx.choice(is_it, source, x);
    }
    let order: Vec<usize> =
        [axis].into_iter().chain((0..dims.len()).filter(|&other| other != axis)).collect();
    let (turned, source) = (cx.transposed(x, &order)?, cx.transposed(source, &order)?);
    let at = cx.reshaped(at, &[count, 1])?;
    let attributes = [("reduction", Set::Text(how))];
    let y = cx.call("ScatterND", &[Some(turned), Some(at), Some(source)], &attributes)?;
    back(cx, y, &order)
}

/// Axes in their own order again.
fn back(cx: &mut Cx<'_, '_, '_>, y: ValueId, order: &[usize]) -> Lowered<ValueId> {
    let mut perm = vec![0; order.len()];
    for (to, &from) in order.iter().enumerate() {
        perm[from] = to;
    }
    cx.transposed(y, &perm)
}

/// One number at all places along an axis.
fn index_fill(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, at, number) = (cx.tensor("self")?, cx.tensor("index")?, cx.operand("value")?);
    let at = gather::indices(cx, at)?;
    let (dtype, dims, axis) = (cx.ty(x).dtype, cx.dims(x), cx.dim("dim", 0, x)?);
    let number = cx.cast(number, dtype)?;
    let unknown = || Refusal::unsupported("its indices are computed at run time", "use constant ones");
    let list = cx.data(at).ok_or_else(unknown)?.to_ints(cx.ty(at).dtype);
    let mut mask = vec![0; dims[axis]];
    for index in list {
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
    // One index along one axis may be computed at run time.
    let mut lists = given.iter().enumerate().filter_map(|(axis, list)| Some((axis, (*list)?)));
    if let (Some((axis, list)), None, false) = (lists.next(), lists.next(), accumulates) {
        if cx.ty(list).shape.numel() == 1 && cx.ty(list).dtype != DType::Bool && cx.data(list).is_none() {
            let is_it = movement::places(cx, list, axis, &dims)?;
            let mut row = dims.clone();
            row[axis] = 1;
            let mut taken = dims.clone();
            taken.splice(axis..=axis, cx.dims(list));
            let values = view::spread(cx, values, &taken)?;
            let values = cx.reshaped(values, &row)?;
            return cx.choice(is_it, values, x);
        }
    }
    let Places { order, coordinates, dims: taken, first } = gather::places(cx, x, &given)?;
    let turned = cx.transposed(x, &order)?;
    let depth = cx.dims(coordinates).last().copied().unwrap_or(0);
    let rest = cx.dims(turned)[depth..].to_vec();
    let front = first.unwrap_or(0).min(rest.len());
    // Values have the axes of what is taken where the indices stood.
    let shape = [&rest[..front], &taken[..], &rest[front..]].concat();
    let values = view::spread(cx, values, &shape)?;
    let perm: Vec<usize> =
        (front..front + taken.len()).chain(0..front).chain(front + taken.len()..shape.len()).collect();
    let values = cx.transposed(values, &perm)?;
    let how = if accumulates { "add" } else { "none" };
    let operands = [Some(turned), Some(coordinates), Some(values)];
    let y = cx.call("ScatterND", &operands, &[("reduction", Set::Text(how))])?;
    back(cx, y, &order)
}

/// A part in place of another: what `select` and `slice` write into, without writing.
fn part(cx: &mut Cx<'_, '_, '_>, name: &str) -> Lowered<ValueId> {
    let (x, source) = (cx.tensor("self")?, cx.tensor(name)?);
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
