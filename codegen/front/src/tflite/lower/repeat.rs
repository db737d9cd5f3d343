//! BROADCAST_TO, BROADCAST_ARGS, TILE and FILL repeat elements; ZEROS_LIKE and RANK are constants, since shapes are static; ADD_N is a chain of sums.

use super::cx::{describe, Format, OpCx};
use super::{Lowered, Operators, Refusal};
use kiln_ir::{AddRescale, Clamp, DType, Data, Op, Shape, ValueId};

pub(super) const OPERATORS: Operators = &[
    (69, tile),
    (93, zeros_like),
    (94, fill),
    (106, add_n),
    (110, rank),
    (130, broadcast_to),
    (145, broadcast_args),
];

/// BROADCAST_TO.
fn broadcast_to(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = shape(cx, 1)?;
    repeated(cx, x, &dims)
}

/// FILL: one number everywhere.
fn fill(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let dims = shape(cx, 0)?;
    let value = cx.input(1)?;
    malformed_if!(cx.ty(value).shape.numel() != 1, "{} is not a single number", cx.shown(value));
    let ty = cx.ty(value).with_shape(&[]);
    let value = cx.node(Op::Reshape {}, &[value], 0, ty)?;
    repeated(cx, value, &dims)
}

fn repeated(cx: &mut OpCx<'_, '_, '_>, x: ValueId, dims: &[usize]) -> Lowered {
    if Shape::common(&cx.dims(x), dims).as_deref() != Some(dims) {
        return Err(malformed!("{} cannot be broadcast to {dims:?}", cx.shown(x)));
    }
    cx.emit_moved(Op::Broadcast {}, &[x], 0, dims)
}

/// TILE: axis by axis, everything from it on as often as asked.
fn tile(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let times = shape(cx, 1)?;
    let mut dims = cx.dims(x);
    if times.len() != dims.len() || times.contains(&0) {
        return Err(malformed!("{} cannot be repeated {times:?} times", cx.shown(x)));
    }
    let mut tiled = cx.as_result(x, 0)?;
    for (axis, &times) in times.iter().enumerate().filter(|&(_, &times)| times > 1) {
        let outer = dims[..axis].iter().product();
        let run = dims[axis..].iter().product();
        let ty = cx.ty(tiled).clone();
        let single = cx.node(Op::Reshape {}, &[tiled], 0, ty.with_shape(&[outer, 1, run]))?;
        let repeated = cx.node(Op::Broadcast {}, &[single], 0, ty.with_shape(&[outer, times, run]))?;
        dims[axis] = dims[axis].checked_mul(times).ok_or_else(|| malformed!("its result is too large"))?;
        tiled = cx.node(Op::Reshape {}, &[repeated], 0, ty.with_shape(&dims))?;
    }
    cx.emit_reshaped(tiled, 0, &dims)
}

/// BROADCAST_ARGS: the common shape of two shapes.
fn broadcast_args(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, y) = (shape(cx, 0)?, shape(cx, 1)?);
    let Some(dims) = Shape::common(&x, &y) else {
        return Err(malformed!("{x:?} and {y:?} cannot be broadcast"));
    };
    numbers(cx, &dims, &[dims.len()])
}

/// RANK: how many axes there are.
fn rank(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let rank = cx.dims(x).len();
    numbers(cx, &[rank], &[])
}

/// Lets the result be constant integers.
fn numbers(cx: &mut OpCx<'_, '_, '_>, numbers: &[usize], dims: &[usize]) -> Lowered {
    let ty = cx.declared(0)?;
    malformed_if!(!matches!(ty.dtype, DType::I32 | DType::I64), "its result is {}", describe(&ty));
    let name = cx.output_tensor(0)?.name.text();
    let data = Data::from_ints(ty.dtype, numbers.iter().map(|&n| n as i64));
    let value = cx.constant(&name, kiln_ir::Type::plain(ty.dtype, dims), data);
    cx.bind(0, value)
}

/// ZEROS_LIKE: every byte of the file's type is 0, also of quantised numbers.
fn zeros_like(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let ty = cx.declared(0)?.with_shape(&cx.dims(x));
    cx.charge(ty.bytes())?;
    let name = cx.output_tensor(0)?.name.text();
    // 128 less where the graph has int8 for uint8.
    let zero = if cx.as_stored(x).is_some() { 0x80 } else { 0u8 };
    let zeros = Data::new(vec![zero; ty.bytes()]);
    let value = cx.constant(&name, ty, zeros);
    cx.bind(0, value)
}

/// ADD_N: one sum after the other.
fn add_n(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let count = cx.input_count();
    let operands = (0..count).map(|k| cx.input(k)).collect::<Lowered<Vec<_>>>()?;
    let Some((&first, rest)) = operands.split_first() else {
        return Err(malformed!("it has no operands"));
    };
    let dims = cx.dims(first);
    if let Some(&other) = rest.iter().find(|&&x| cx.dims(x) != dims) {
        return Err(malformed!("{} cannot be added to {}", cx.shown(other), cx.shown(first)));
    }
    let clamp = match cx.is_plain(&operands)? {
        true => DType::I32.whole_range(),
        false if cx.format(&operands)? == Format::Float => Clamp::NO_FLOAT,
        false => {
            let help = "use ADD, or leave this operator out of the quantisation of the model";
            return Err(Refusal::unsupported("its int8 arithmetic cannot be compiled", help));
        }
    };
    let ty = cx.ty(first).clone();
    let mut sum = first;
    for &x in rest {
        let op = Op::Add { rescale: AddRescale::Real, clamp };
        sum = cx.node(op, &[sum, x], 0, ty.clone())?;
    }
    cx.emit_reshaped(sum, 0, &dims)
}

/// Operand `k` as a shape.
fn shape(cx: &mut OpCx<'_, '_, '_>, k: usize) -> Lowered<Vec<usize>> {
    let given = cx.ints(k, "shape")?;
    let size = |&d: &i64| u32::try_from(d).map(|d| d as usize).ok();
    let dims: Option<Vec<usize>> = given.iter().map(size).collect();
    dims.ok_or_else(|| malformed!("{given:?} is not a shape"))
}
