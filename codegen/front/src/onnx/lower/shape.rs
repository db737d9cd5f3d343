//! What moves elements, and what tells shapes.

use super::cx::NodeCx;
use super::{All, Lowered, One, Operators, Refusal};
use kiln_ir::{DType, Op, Shape, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Concat", One(concat)),
    ("ConstantOfShape", One(constant_of_shape)),
    ("DepthToSpace", One(depth_to_space)),
    ("Dropout", All(dropout)),
    ("Expand", One(expand)),
    ("Flatten", One(flatten)),
    ("Identity", One(identity)),
    ("Reshape", One(reshape)),
    ("Shape", One(shape)),
    ("Size", One(size)),
    ("Slice", One(slice)),
    ("SpaceToDepth", One(space_to_depth)),
    ("Split", All(split)),
    ("Squeeze", One(squeeze)),
    ("Tile", One(tile)),
    ("Transpose", One(transpose)),
    ("Unsqueeze", One(unsqueeze)),
];

/// Identity.
fn identity(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    cx.input(0)
}

/// Dropout, which does nothing in inference; its mask is true everywhere.
fn dropout(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    if let Some(training) = cx.optional(2)? {
        let known = cx.data(training).map(|data| data.bytes().iter().any(|&byte| byte != 0));
        if known != Some(false) {
            let help = "export the model for inference (model.eval())";
            return Err(Refusal::unsupported("it is in training mode", help));
        }
    }
    cx.bind(0, x)?;
    if cx.wants(1) {
        let (yes, dims) = (cx.truth(true), cx.dims(x));
        let mask = cx.repeated(yes, &dims)?;
        cx.bind(1, mask)?;
    }
    Ok(())
}

/// Reshape: 0 keeps a dimension, −1 is what is left.
fn reshape(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let Some(given) = cx.ints(1, "shape")? else { return Err(malformed!("its shape is missing")) };
    let dims = cx.dims(x);
    let wrong = || malformed!("{} cannot be reshaped to {given:?}", cx.shown(x));
    let keeps = cx.int("allowzero", 0) == 0;
    let mut result = Vec::new();
    for (axis, &size) in given.iter().enumerate() {
        result.push(match size {
            0 if keeps => *dims.get(axis).ok_or_else(wrong)?,
            -1 => 1,
            size => usize::try_from(size).map_err(|_| wrong())?,
        });
    }
    let open: Vec<usize> = (0..given.len()).filter(|&axis| given[axis] == -1).collect();
    let all = dims.iter().product::<usize>();
    let known = Shape(result.clone()).checked_numel().ok_or_else(wrong)?;
    match open[..] {
        [] => {}
        [axis] if known > 0 && all % known == 0 => result[axis] = all / known,
        _ => return Err(wrong()),
    }
    if Shape(result.clone()).checked_numel() != Some(all) {
        return Err(wrong());
    }
    cx.reshaped(x, &result)
}

/// Flatten to two axes.
fn flatten(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let axis = cx.axis_or_end(cx.int("axis", 1), dims.len())?;
    cx.reshaped(x, &[dims[..axis].iter().product(), dims[axis..].iter().product()])
}

/// Axes that are an operand since operator set 13, and an attribute before.
fn axes(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<Option<Vec<i64>>> {
    match cx.opset() >= 13 {
        true => cx.ints(1, "axes"),
        false => Ok(cx.list("axes").map(<[i64]>::to_vec)),
    }
}

/// Squeeze.
fn squeeze(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let named = match axes(cx)? {
        Some(given) => {
            given.iter().map(|&axis| cx.axis(axis, dims.len())).collect::<Lowered<Vec<usize>>>()?
        }
        None => (0..dims.len()).filter(|&axis| dims[axis] == 1).collect(),
    };
    if let Some(&axis) = named.iter().find(|&&axis| dims[axis] != 1) {
        return Err(malformed!("axis {axis} of {} does not have size 1", cx.shown(x)));
    }
    let kept: Vec<usize> =
        (0..dims.len()).filter(|axis| !named.contains(axis)).map(|axis| dims[axis]).collect();
    cx.reshaped(x, &kept)
}

/// Unsqueeze: the axes are those of the result.
fn unsqueeze(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let Some(given) = axes(cx)? else { return Err(malformed!("its axes are missing")) };
    let dims = cx.dims(x);
    let rank = dims.len() + given.len();
    let named = given.iter().map(|&axis| cx.axis(axis, rank)).collect::<Lowered<Vec<usize>>>()?;
    let mut own = dims.into_iter();
    let result: Vec<usize> =
        (0..rank).map(|axis| if named.contains(&axis) { 1 } else { own.next().unwrap_or(1) }).collect();
    malformed_if!(own.next().is_some(), "its axes are {given:?}");
    cx.reshaped(x, &result)
}

/// Transpose; without a permutation the axes are reversed.
fn transpose(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let rank = cx.dims(x).len();
    let perm = cx.sizes("perm")?.unwrap_or_else(|| (0..rank).rev().collect());
    let mut sorted = perm.clone();
    sorted.sort_unstable();
    malformed_if!(!sorted.into_iter().eq(0..rank), "{perm:?} is not a permutation of {rank} axes");
    cx.transposed(x, &perm)
}

/// Concat.
fn concat(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let operands = cx.inputs()?;
    let Some(&first) = operands.first() else { return Err(malformed!("it has no operands")) };
    let mut dims = cx.dims(first);
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    dims[axis] = 0;
    for &x in &operands {
        let mut own = cx.dims(x);
        let fits = own.len() == dims.len() && cx.ty(x).dtype == cx.ty(first).dtype;
        let size = if fits { std::mem::take(&mut own[axis]) } else { 0 };
        let all = std::mem::take(&mut dims[axis]);
        malformed_if!(own != dims, "{} and {} cannot be concatenated", cx.shown(x), cx.shown(first));
        dims[axis] = all + size;
    }
    // A part without elements adds nothing.
    let parts: Vec<ValueId> = operands.iter().copied().filter(|&x| cx.ty(x).shape.numel() > 0).collect();
    let y = if parts.is_empty() { first } else { cx.joined(&parts, axis)? };
    Ok(y)
}

/// Split into parts of given sizes, or into equal ones.
fn split(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let axis = cx.axis(cx.int("axis", 0), dims.len())?;
    let given = match cx.opset() >= 13 {
        true => cx.ints(1, "sizes")?,
        false => cx.list("split").map(<[i64]>::to_vec),
    };
    let (all, count) = (dims[axis], cx.node.outputs.len().max(1));
    // The last of equal parts may be smaller.
    let equal = || {
        (0..count).map(|k| all.div_ceil(count).min(all - (k * all.div_ceil(count)).min(all)) as i64).collect()
    };
    let sizes: Vec<i64> = given.unwrap_or_else(equal);
    if sizes.len() != count || sizes.iter().sum::<i64>() != all as i64 || sizes.iter().any(|&size| size < 0) {
        return Err(malformed!("parts of sizes {sizes:?} do not fit {}", cx.shown(x)));
    }
    let mut first = 0;
    for (k, &size) in sizes.iter().enumerate() {
        dims[axis] = size as usize;
        let part = match size {
            0 => cx.empty(cx.ty(x).dtype, &dims),
            _ => cx.part(x, axis, first, size as usize, 1)?,
        };
        cx.bind(k, part)?;
        first += size as usize;
    }
    Ok(())
}

/// Slice: bounds are operands since operator set 10, and attributes before.
fn slice(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let (starts, ends, axes, steps) = match cx.opset() >= 10 {
        true => (cx.ints(1, "starts")?, cx.ints(2, "ends")?, cx.ints(3, "axes")?, cx.ints(4, "steps")?),
        false => {
            let list = |name: &str| cx.list(name).map(<[i64]>::to_vec);
            (list("starts"), list("ends"), list("axes"), None)
        }
    };
    let (Some(starts), Some(ends)) = (starts, ends) else {
        return Err(malformed!("its bounds are missing"));
    };
    let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
    if [ends.len(), axes.len(), steps.len()] != [starts.len(); 3] {
        return Err(malformed!("its bounds, axes and steps have different numbers of elements"));
    }
    let (mut begin, mut step) = (vec![0; dims.len()], vec![1; dims.len()]);
    for (((&start, &end), &axis), &by) in starts.iter().zip(&ends).zip(&axes).zip(&steps) {
        let axis = cx.axis(axis, dims.len())?;
        let size = dims[axis] as i64;
        malformed_if!(by == 0, "a step is 0");
        let counted = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        // Backwards, one index before the first is an end.
        let (lo, hi) = if by > 0 { (0, size) } else { (-1, size - 1) };
        let first = counted(start).clamp(if by > 0 { 0 } else { -1 }, hi.max(0));
        let last = counted(end).clamp(lo, size);
        let reach = if by > 0 { last.saturating_sub(first) } else { first.saturating_sub(last) };
        let count = if reach > 0 { (reach as u64).div_ceil(by.unsigned_abs()) as usize } else { 0 };
        // Of a single element the step may be any.
        let by = if count > 1 { by } else { 1 };
        (begin[axis], step[axis], dims[axis]) = (first.max(0) as usize, by, count);
    }
    cx.add_like(Op::Slice { begin, step }, &[x], &dims)
}

/// Expand: the common shape of the operand and a list.
fn expand(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let given = sizes(cx, 1, "shape")?;
    let Some(result) = Shape::common(&dims, &given) else {
        return Err(malformed!("{} does not fit {given:?}", cx.shown(x)));
    };
    let y = if result == dims { x } else { cx.add_like(Op::Broadcast {}, &[x], &result)? };
    Ok(y)
}

/// Tile: axis by axis, everything from it on as often as asked.
fn tile(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let mut x = cx.input(0)?;
    let (mut dims, times) = (cx.dims(x), sizes(cx, 1, "repeats")?);
    malformed_if!(times.len() != dims.len(), "{} cannot be repeated {times:?} times", cx.shown(x));
    for (axis, &times) in times.iter().enumerate().filter(|&(_, &times)| times != 1) {
        let (outer, run) = (dims[..axis].iter().product(), dims[axis..].iter().product());
        x = cx.reshaped(x, &[outer, 1, run])?;
        x = cx.add_like(Op::Broadcast {}, &[x], &[outer, times, run])?;
        dims[axis] = dims[axis].checked_mul(times).ok_or_else(|| malformed!("its result is too large"))?;
        x = cx.reshaped(x, &dims)?;
    }
    Ok(x)
}

/// ConstantOfShape: one number everywhere, 0 unless another is given.
fn constant_of_shape(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let dims = sizes(cx, 0, "shape")?;
    let number = match cx.tensor("value") {
        Some(tensor) => {
            let (ty, data) = super::tensor::constant(tensor, &mut cx.importer.budget)?;
            cx.importer.graph.add_const("number", ty, data)
        }
        None => cx.float_constant("number", &[], &[0.0])?,
    };
    malformed_if!(cx.ty(number).shape.numel() != 1, "{} is not a single number", cx.shown(number));
    let number = cx.reshaped(number, &[])?;
    let y = if dims.is_empty() { number } else { cx.add_like(Op::Broadcast {}, &[number], &dims)? };
    Ok(y)
}

/// Operand `k` as sizes.
pub(super) fn sizes(cx: &mut NodeCx<'_, '_, '_>, k: usize, what: &str) -> Lowered<Vec<usize>> {
    let given = cx.ints(k, what)?.ok_or_else(|| malformed!("its {what} is missing"))?;
    let size = |&x: &i64| u32::try_from(x).map(|x| x as usize);
    let sizes: Result<Vec<usize>, _> = given.iter().map(size).collect();
    sizes.map_err(|_| malformed!("its {what} is {given:?}"))
}

/// DepthToSpace: channels become pixels of blocks, block first (DCR) or channel first (CRD).
fn depth_to_space(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, block) = (cx.input(0)?, block_size(cx)?);
    let &[n, c, h, w] = &*cx.dims(x) else { return Err(no_image(cx, x)) };
    malformed_if!(c % (block * block) != 0, "blocks of {block}×{block} do not divide {}", cx.shown(x));
    let depth = c / (block * block);
    let (split, perm) = match cx.text("mode") {
        b"CRD" => ([n, depth, block, block, h, w], [0, 1, 4, 2, 5, 3]),
        _ => ([n, block, block, depth, h, w], [0, 3, 4, 1, 5, 2]),
    };
    let parts = cx.reshaped(x, &split)?;
    let turned = cx.transposed(parts, &perm)?;
    cx.reshaped(turned, &[n, depth, h * block, w * block])
}

/// SpaceToDepth.
fn space_to_depth(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, block) = (cx.input(0)?, block_size(cx)?);
    let &[n, c, h, w] = &*cx.dims(x) else { return Err(no_image(cx, x)) };
    if h % block != 0 || w % block != 0 {
        return Err(malformed!("blocks of {block}×{block} do not divide {}", cx.shown(x)));
    }
    let parts = cx.reshaped(x, &[n, c, h / block, block, w / block, block])?;
    let turned = cx.transposed(parts, &[0, 3, 5, 1, 2, 4])?;
    cx.reshaped(turned, &[n, c * block * block, h / block, w / block])
}

fn block_size(cx: &NodeCx<'_, '_, '_>) -> Lowered<usize> {
    let size = cx.int("blocksize", 0);
    let found = u16::try_from(size).ok().filter(|&size| size > 0);
    found.map(usize::from).ok_or_else(|| malformed!("its block size is {size}"))
}

fn no_image(cx: &NodeCx<'_, '_, '_>, x: ValueId) -> Refusal {
    malformed!("{} is not an image with four axes", cx.shown(x))
}

/// Shape, or a part of it.
fn shape(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims: Vec<i64> = cx.dims(x).into_iter().map(|dim| dim as i64).collect();
    let rank = dims.len() as i64;
    let at =
        |given: i64| (if given < 0 { given.saturating_add(rank) } else { given }).clamp(0, rank) as usize;
    let (start, end) = (at(cx.int("start", 0)), at(cx.int("end", rank)));
    let part = dims.get(start..end.max(start)).unwrap_or_default().to_vec();
    cx.int_constant("shape", DType::I64, &[part.len()], &part)
}

/// Size: the number of elements.
fn size(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let count = cx.ty(x).shape.numel() as i64;
    cx.int_constant("size", DType::I64, &[], &[count])
}
