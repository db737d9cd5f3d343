//! Constants, and what follows from shapes and numbers that are known: ranges, masks, windows; and cumulative sums.

use super::cx::NodeCx;
use super::{tensor, All, Lowered, One, Operators, Refusal};
use kiln_ir::{DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("BlackmanWindow", All(|cx| window(cx, &[0.42, -0.5, 0.08]))),
    ("Constant", One(stored)),
    ("CumProd", One(cumulative_product)),
    ("CumSum", One(cumulative_sum)),
    ("EyeLike", One(eye_like)),
    ("HammingWindow", All(|cx| window(cx, &[25.0 / 46.0, 25.0 / 46.0 - 1.0]))),
    ("HannWindow", All(|cx| window(cx, &[0.5, -0.5]))),
    ("NonZero", One(non_zero)),
    ("Range", One(range)),
    ("Trilu", One(trilu)),
];

/// Most elements of a constant that a few numbers of the file ask for.
const MOST_GENERATED: usize = 1 << 16;

/// Refuses constants that are much larger than what asks for them.
fn check_count(count: usize) -> Lowered {
    match count <= MOST_GENERATED {
        true => Ok(()),
        false => {
            let what = format!("it generates {count} elements; at most {MOST_GENERATED} are possible");
            Err(Refusal::unsupported(what, "store them in the file as a constant"))
        }
    }
}

/// Adds a constant of numbers of a type.
fn constant(cx: &mut NodeCx<'_, '_, '_>, dtype: DType, dims: &[usize], numbers: &[f64]) -> Lowered<ValueId> {
    let bytes = numbers.len() * dtype.size();
    cx.importer.budget.make(bytes);
    cx.importer.budget.charge(bytes)?;
    let data = match dtype {
        DType::F32 => Data::from_f32(&numbers.iter().map(|&x| x as f32).collect::<Vec<_>>()),
        _ => Data::from_ints(dtype, numbers.iter().map(|&x| x as i64)),
    };
    Ok(cx.importer.graph.add_const("generated", Type::plain(dtype, dims), data))
}

/// Range: numbers from a start up to a limit.
fn range(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let operands = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    let dtype = cx.ty(operands[0]).dtype;
    let mut numbers = [0.0; 3];
    for (number, operand) in numbers.iter_mut().zip(operands) {
        let Some(data) = cx.data(operand) else {
            let help = "export the model with fixed shapes, so that it can be computed from constants";
            return Err(Refusal::unsupported("a bound is computed at run time", help));
        };
        let list: Vec<f64> = match cx.ty(operand).dtype {
            own if own != dtype => Vec::new(),
            DType::F32 => data.to_f32().into_iter().map(f64::from).collect(),
            _ => data.to_ints(dtype).into_iter().map(|x| x as f64).collect(),
        };
        let &[one] = &*list else {
            return Err(malformed!("a bound is {}", cx.shown(operand)));
        };
        *number = one;
    }
    let [start, limit, delta] = numbers;
    let count = ((limit - start) / delta).ceil().max(0.0);
    malformed_if!(!count.is_finite(), "its range from {start} to {limit} by {delta} is impossible");
    let count = count as usize;
    check_count(count)?;
    let numbers: Vec<f64> = (0..count).map(|k| start + k as f64 * delta).collect();
    constant(cx, dtype, &[count], &numbers)
}

/// EyeLike: 1 on a diagonal.
fn eye_like(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let &[rows, columns] = &*cx.dims(x) else {
        return Err(malformed!("{} is not a matrix", cx.shown(x)));
    };
    check_count(rows * columns)?;
    let dtype = match cx.attribute("dtype") {
        Some(given) => tensor::dtype(given.int)?,
        None => cx.ty(x).dtype,
    };
    let k = cx.int("k", 0);
    let at = |i: usize| (i % columns) as i64 - (i / columns) as i64;
    let numbers: Vec<f64> = (0..rows * columns).map(|i| f64::from(u8::from(at(i) == k))).collect();
    constant(cx, dtype, &[rows, columns], &numbers)
}

/// Trilu: the part of matrices above a diagonal, or below, with zeros elsewhere.
fn trilu(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let k = cx.ints(1, "diagonal")?.and_then(|list| list.first().copied()).unwrap_or(0);
    let dims = cx.dims(x);
    let &[.., rows, columns] = &*dims else {
        return Err(malformed!("{} is not a matrix", cx.shown(x)));
    };
    if rows * columns == 0 {
        return Ok(x);
    }
    check_count(rows * columns)?;
    let upper = cx.int("upper", 1) != 0;
    let at = |i: usize| (i % columns) as i64 - (i / columns) as i64;
    let inside = |i: usize| if upper { at(i) >= k } else { at(i) <= k };
    let numbers: Vec<f64> = (0..rows * columns).map(|i| f64::from(u8::from(inside(i)))).collect();
    let mask = constant(cx, DType::Bool, &[rows, columns], &numbers)?;
    let zero = cx.number(x, 0.0)?;
    cx.choice(mask, x, zero)
}

/// NonZero of what is known: the coordinates, one row for each axis.
fn non_zero(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let ty = cx.ty(x).clone();
    let Some(data) = cx.data(x) else {
        let help = "multiply by the condition, or select with it (Where), so that all shapes are known";
        return Err(Refusal::unsupported(
            "the number of elements that are not 0 is known only at run time",
            help,
        ));
    };
    check_count(ty.shape.numel() * ty.shape.rank())?;
    let holds: Vec<bool> = match ty.dtype {
        DType::F32 => data.to_f32().into_iter().map(|x| x != 0.0).collect(),
        dtype => data.to_ints(dtype).into_iter().map(|x| x != 0).collect(),
    };
    let places: Vec<usize> = (0..holds.len()).filter(|&at| holds[at]).collect();
    let strides = ty.shape.strides();
    let (dims, strides) = (ty.shape.dims(), &strides[..]);
    let along = |axis: usize| places.iter().map(move |at| at / strides[axis] % dims[axis]);
    let coordinates = (0..dims.len()).flat_map(along);
    let numbers: Vec<f64> = coordinates.map(|at| at as f64).collect();
    constant(cx, DType::I64, &[dims.len(), places.len()], &numbers)
}

/// Σ aₖ·cos(2π·k·i / n), n less by one where it is not periodic.
fn window(cx: &mut NodeCx<'_, '_, '_>, factors: &[f64]) -> Lowered {
    let size = cx.ints(0, "size")?.and_then(|list| list.first().copied()).unwrap_or(0);
    let size = usize::try_from(size).map_err(|_| malformed!("its size is {size}"))?;
    check_count(size)?;
    let dtype = tensor::dtype(cx.int("output_datatype", 1))?;
    let period = if cx.int("periodic", 1) != 0 { size } else { size.saturating_sub(1) }.max(1) as f64;
    let angle = |i: usize, k: usize| std::f64::consts::TAU * (i * k) as f64 / period;
    let number = |i: usize| factors.iter().enumerate().map(|(k, a)| a * libm::cos(angle(i, k))).sum();
    let numbers: Vec<f64> = (0..size).map(number).collect();
    let value = constant(cx, dtype, &[size], &numbers)?;
    cx.bind(0, value)
}

/// CumSum.
fn cumulative_sum(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, axis) = cumulative(cx)?;
    let dims = cx.dims(x);
    let (exclusive, reverse) = (cx.int("exclusive", 0) != 0, cx.int("reverse", 0) != 0);
    cx.add_like(Op::CumSum { axis, exclusive, reverse }, &[x], &dims)
}

fn cumulative(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<(ValueId, usize)> {
    let x = cx.input(0)?;
    let axis = cx.ints(1, "axis")?.and_then(|list| list.first().copied());
    let axis = axis.ok_or_else(|| malformed!("its axis is missing"))?;
    Ok((x, cx.axis(axis, cx.dims(x).len())?))
}

/// Most products that are computed one after the other.
const MOST_PRODUCTS: usize = 64;

/// CumProd: as CumSum, of products.
fn cumulative_product(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, axis) = cumulative(cx)?;
    let count = cx.dims(x)[axis];
    if count == 0 || count > MOST_PRODUCTS {
        let what = format!("its products have {count} elements; at most {MOST_PRODUCTS} are possible");
        return Err(Refusal::unsupported(what, "use CumSum of logarithms"));
    }
    let (exclusive, reverse) = (cx.int("exclusive", 0) != 0, cx.int("reverse", 0) != 0);
    let order: Vec<usize> = if reverse { (0..count).rev().collect() } else { (0..count).collect() };
    let one = cx.number(x, 1.0)?;
    let mut one_dims = cx.dims(x);
    one_dims[axis] = 1;
    let one = cx.repeated(one, &one_dims)?;
    let (mut product, mut parts) = (None, Vec::new());
    for at in order {
        if exclusive {
            parts.push(product.unwrap_or(one));
        }
        let next = cx.part(x, axis, at, 1, 1)?;
        let all = product.map_or(Ok(next), |product| cx.product(product, next))?;
        product = Some(all);
        if !exclusive {
            parts.push(all);
        }
    }
    if reverse {
        parts.reverse();
    }
    cx.joined(&parts, axis)
}

/// Constant.
fn stored(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    if let Some(tensor) = cx.tensor("value") {
        let (ty, data) = tensor::constant(tensor, &mut cx.importer.budget)?;
        let name = cx.node.outputs.first().map(|name| name.text()).unwrap_or_default();
        let value = cx.importer.graph.add_const(name, ty, data);
        return Ok(value);
    }
    let value = if let Some(number) = cx.attribute("value_float") {
        cx.float_constant("constant", &[], &[number.float])?
    } else if let Some(list) = cx.attribute("value_floats") {
        cx.float_constant("constant", &[list.floats.len()], &list.floats)?
    } else if let Some(number) = cx.attribute("value_int") {
        cx.int_constant("constant", DType::I64, &[], &[number.int])?
    } else if let Some(list) = cx.attribute("value_ints") {
        cx.int_constant("constant", DType::I64, &[list.ints.len()], &list.ints)?
    } else {
        return Err(Refusal::unsupported(
            "it contains a string constant or a sparse constant",
            "export the model without such constants",
        ));
    };
    Ok(value)
}
