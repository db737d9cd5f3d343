//! Reductions along axes.

use super::super::module::{Element, Operation, Region, Value};
use super::cx::Cx;
use super::slot::{self, Slot, Tensor};
use super::{bits, compare, elementwise, is_return, shape, All, Lowered, Operators, Refusal};
use kiln_ir::{Binary, Comparison, DType, Op, Reduction, Type};

pub(super) const OPERATORS: Operators = &[("reduce", All(reduce))];

/// What makes one of two: of each element, in a body that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Join {
    Add,
    Multiply,
    Max,
    Min,
    And,
    Or,
    Xor,
    /// The second one.
    Last,
}

/// How results of a body come about.
#[derive(Clone)]
pub(super) enum Body<'p> {
    /// Each for itself.
    Each(Vec<Join>),
    /// By the body as it stands.
    Region(&'p Region<'p>),
}

/// The operator that computes a value, behind conversions.
fn source<'p>(region: &'p Region<'p>, mut value: Value) -> (Value, Option<&'p Operation<'p>>) {
    for _ in 0..8 {
        let producer = region.operations.iter().find(|operation| operation.results.contains(&value));
        match producer {
            Some(operation) if operation.name == "stablehlo.convert" && operation.operands.len() == 1 => {
                value = operation.operands[0];
            }
            other => return (value, other),
        }
    }
    (value, None)
}

/// What a body does to `count` pairs of operands.
pub(super) fn body<'p>(region: &'p Region<'p>, count: usize) -> Lowered<Body<'p>> {
    malformed_if!(region.arguments.len() != 2 * count, "its body has {} arguments", region.arguments.len());
    let last = region.operations.iter().find(|operation| is_return(&operation.name));
    let returned = last.map(|operation| &operation.operands[..]).unwrap_or_default();
    malformed_if!(returned.len() != count, "its body has {} results", returned.len());
    let each = returned.iter().enumerate().map(|(k, &value)| {
        let [first, second] = [region.arguments[k], region.arguments[count + k]];
        let (value, operation) = source(region, value);
        if value == second {
            return Some(Join::Last);
        }
        let operation = operation?;
        let operands: Vec<Value> = operation.operands.iter().map(|&value| source(region, value).0).collect();
        if operands != [first, second] && operands != [second, first] {
            return None;
        }
        Some(match &*operation.name {
            "stablehlo.add" => Join::Add,
            "stablehlo.multiply" => Join::Multiply,
            "stablehlo.maximum" => Join::Max,
            "stablehlo.minimum" => Join::Min,
            "stablehlo.and" => Join::And,
            "stablehlo.or" => Join::Or,
            "stablehlo.xor" => Join::Xor,
            _ => return None,
        })
    });
    Ok(match each.collect::<Option<Vec<Join>>>() {
        Some(each) => Body::Each(each),
        None => Body::Region(region),
    })
}

impl Join {
    /// As it is for truth values.
    fn of(self, element: &Element) -> Join {
        match (self, element) {
            (Join::Add | Join::Max, Element::Bool) => Join::Or,
            (Join::Multiply | Join::Min, Element::Bool) => Join::And,
            (join, _) => join,
        }
    }

    pub(super) fn apply(self, cx: &mut Cx<'_, '_, '_>, x: &Tensor, y: &Tensor) -> Lowered<Tensor> {
        match self {
            Join::Add => elementwise::arithmetic(cx, '+', x, y),
            Join::Multiply => elementwise::arithmetic(cx, '*', x, y),
            Join::Max => elementwise::larger(cx, Binary::Max, x, y),
            Join::Min => elementwise::larger(cx, Binary::Min, x, y),
            Join::And => bits::of_bits(cx, '*', x, y),
            Join::Or => bits::of_bits(cx, '+', x, y),
            Join::Xor => bits::of_bits(cx, '-', x, y),
            Join::Last => Ok(y.clone()),
        }
    }

    /// The reduction by an op, of numbers or truth values.
    fn reduction(self, element: &Element) -> Option<Reduction> {
        Some(match (self, element) {
            (Join::Add, _) => Reduction::Sum,
            (Join::Multiply, _) => Reduction::Product,
            (Join::Max, _) | (Join::Or, Element::Bool) => Reduction::Max,
            (Join::Min, _) | (Join::And, Element::Bool) => Reduction::Min,
            _ => return None,
        })
    }

    /// Whether a number changes nothing that it is joined with.
    fn is_neutral(self, element: &Element, number: f64) -> bool {
        let range = slot::dtype(element).ok().and_then(|dtype| dtype.int_range());
        let (least, most) =
            range.map_or((f64::NEG_INFINITY, f64::INFINITY), |(lo, hi)| (lo as f64, hi as f64));
        match self {
            Join::Add | Join::Or | Join::Xor => number == 0.0,
            Join::Multiply => number == 1.0,
            Join::And => number == if *element == Element::Bool { 1.0 } else { -1.0 },
            _ if slot::is_wide_unsigned(element) || slot::is_part_of_byte(element) => false,
            Join::Max => number == least,
            Join::Min => number == most,
            Join::Last => false,
        }
    }

    /// A number that changes nothing.
    pub(super) fn neutral(self, cx: &mut Cx<'_, '_, '_>, like: &Tensor) -> Lowered<Tensor> {
        let dtype = cx.ty(like.value).dtype;
        let is_unsigned = slot::is_wide_unsigned(&like.element);
        let value = match dtype {
            DType::F32 => {
                let number = match self {
                    Join::Multiply => 1.0,
                    Join::Max => f64::NEG_INFINITY,
                    Join::Min => f64::INFINITY,
                    _ => 0.0,
                };
                cx.means().number(like.value, number)?
            }
            dtype => {
                let (least, most) = dtype.int_range().unwrap_or((0, 0));
                let number = match self.of(&like.element) {
                    Join::Multiply => 1,
                    Join::Max if is_unsigned => 0,
                    Join::Min if is_unsigned => -1,
                    Join::Max => least,
                    Join::Min => most,
                    Join::And => {
                        if like.element == Element::Bool {
                            1
                        } else {
                            -1
                        }
                    }
                    _ => 0,
                };
                cx.means().int_constant("neutral", dtype, &[], &[number])?
            }
        };
        Ok(Tensor::of(value, &[], &like.element))
    }
}

impl<'p> Body<'p> {
    /// One of two, for each operand.
    pub(super) fn apply(&self, cx: &mut Cx<'_, '_, 'p>, x: &[Tensor], y: &[Tensor]) -> Lowered<Vec<Tensor>> {
        match self {
            Body::Each(joins) => {
                joins.iter().zip(x.iter().zip(y)).map(|(join, (x, y))| join.apply(cx, x, y)).collect()
            }
            Body::Region(region) => {
                let arguments = x.iter().chain(y).cloned().map(Slot::Tensor).collect();
                let results = cx.importer.inner(cx.function, cx.slots, region, arguments)?;
                results.iter().map(|slot| slot.tensor().cloned()).collect()
            }
        }
    }
}

fn reduce(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let tensors = cx.tensors()?;
    malformed_if!(tensors.is_empty() || tensors.len() % 2 != 0, "it has {} operands", tensors.len());
    let (inputs, starts) = tensors.split_at(tensors.len() / 2);
    let mut axes = cx.sizes("dimensions")?;
    axes.sort_unstable();
    axes.dedup();
    let dims = inputs[0].dims.clone();
    malformed_if!(axes.iter().any(|&axis| axis >= dims.len()), "it has no axes {axes:?} of {dims:?}");
    malformed_if!(inputs.iter().any(|x| x.dims != dims), "its operands have different shapes");
    let region = cx.operation.regions.first().ok_or_else(|| malformed!("it has no body"))?;
    let body = body(region, inputs.len())?;
    let kept: Vec<usize> =
        (0..dims.len()).filter(|axis| !axes.contains(axis)).map(|axis| dims[axis]).collect();
    // Without elements there is only the start.
    if dims.contains(&0) {
        let value = |start: &Tensor| -> Lowered<Slot> {
            let value = cx.means().reshaped(start.value, &vec![1; kept.len()])?;
            Ok(Slot::Tensor(Tensor::of(value, &kept, &start.element)))
        };
        return starts.iter().map(value).collect();
    }
    let results = match &body {
        Body::Each(joins) => {
            let mut results = Vec::new();
            for ((x, start), &join) in inputs.iter().zip(starts).zip(joins) {
                results.push(one(cx, x, start, join, &axes, &kept)?);
            }
            results
        }
        Body::Region(_) => match index_of(cx, &body, inputs, starts, &axes, &kept)? {
            Some(results) => results,
            None => {
                let mut values = inputs.to_vec();
                for &axis in &axes {
                    values = folded(cx, &body, values, axis)?;
                }
                let values = dropped(cx, values, &axes, &kept)?;
                body.apply(cx, starts, &values)?
            }
        },
    };
    Ok(results.into_iter().map(Slot::Tensor).collect())
}

/// Without axes that have one element.
fn dropped(
    cx: &mut Cx<'_, '_, '_>,
    values: Vec<Tensor>,
    axes: &[usize],
    kept: &[usize],
) -> Lowered<Vec<Tensor>> {
    let mut results = Vec::new();
    for x in values {
        let own = cx.dims(x.value);
        let own: Vec<usize> =
            (0..own.len()).filter(|axis| !axes.contains(axis)).map(|axis| own[axis]).collect();
        let value = cx.reshaped(x.value, &own)?;
        results.push(Tensor::of(value, kept, &x.element));
    }
    Ok(results)
}

/// The reduction of one tensor.
fn one(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    start: &Tensor,
    join: Join,
    axes: &[usize],
    kept: &[usize],
) -> Lowered<Tensor> {
    let join = join.of(&x.element);
    let reduced = match join.reduction(&x.element) {
        Some(function) => reduced(cx, x, function, axes)?,
        None => {
            let mut values = vec![x.clone()];
            for &axis in axes {
                values = folded(cx, &Body::Each(vec![join]), values, axis)?;
            }
            values.remove(0)
        }
    };
    let y = dropped(cx, vec![reduced], axes, kept)?.remove(0);
    match cx.known_number(start.value) {
        Some(number) if join.is_neutral(&x.element, number) => Ok(y),
        _ => join.apply(cx, start, &y),
    }
}

/// All elements along some axes made one; the axes stay with one element.
pub(super) fn reduced(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    function: Reduction,
    axes: &[usize],
) -> Lowered<Tensor> {
    let mut dims = x.dims.clone();
    axes.iter().for_each(|&axis| dims[axis] = 1);
    if axes.is_empty() {
        return Ok(x.clone());
    }
    let is_order = matches!(function, Reduction::Max | Reduction::Min);
    let flips = is_order && slot::is_wide_unsigned(&x.element);
    let x = if flips { bits::flipped(cx, x)? } else { x.clone() };
    let value = match is_order {
        // Of equal ones it does not matter how many there are.
        true => x.value,
        false => cx.spread_along(&x, axes)?,
    };
    let mut means = cx.means();
    let dtype = means.ty(value).dtype;
    let wide = means.widened(value)?;
    let y = means.reduced(function, wide, axes)?;
    let value = means.cast(y, dtype)?;
    let y = Tensor::of(value, &dims, &x.element);
    match flips {
        true => bits::flipped(cx, &y),
        false => bits::narrowed(cx, y),
    }
}

/// All elements along an axis made one by halves.
pub(super) fn folded<'p>(
    cx: &mut Cx<'_, '_, 'p>,
    body: &Body<'p>,
    mut values: Vec<Tensor>,
    axis: usize,
) -> Lowered<Vec<Tensor>> {
    let mut count = values.first().map_or(0, |x| x.dims[axis]);
    for x in &mut values {
        x.value = cx.spread_along(x, &[axis])?;
    }
    let part = |cx: &mut Cx<'_, '_, 'p>, x: &Tensor, from: usize, to: usize| {
        let (mut begin, mut limit) = (vec![0; x.dims.len()], x.dims.clone());
        (begin[axis], limit[axis]) = (from, to);
        shape::sliced(cx, x, &begin, &limit, &vec![1; x.dims.len()])
    };
    while count > 1 {
        let half = count / 2;
        let first = values.iter().map(|x| part(cx, x, 0, half)).collect::<Lowered<Vec<_>>>()?;
        let second = values.iter().map(|x| part(cx, x, half, 2 * half)).collect::<Lowered<Vec<_>>>()?;
        let mut joined = body.apply(cx, &first, &second)?;
        if count % 2 == 1 {
            for (y, x) in joined.iter_mut().zip(&values) {
                let last = part(cx, x, count - 1, count)?;
                *y = shape::joined(cx, &[y.clone(), last], axis)?;
            }
        }
        count = half + count % 2;
        values = joined;
    }
    Ok(values)
}

/// The largest or smallest element along an axis and its place, as argmax and argmin are written: the second operand counts the places.
fn index_of<'p>(
    cx: &mut Cx<'_, '_, 'p>,
    body: &Body<'p>,
    inputs: &[Tensor],
    starts: &[Tensor],
    axes: &[usize],
    kept: &[usize],
) -> Lowered<Option<Vec<Tensor>>> {
    let ([x, places], [x_start, _], &[axis]) = (inputs, starts, axes) else { return Ok(None) };
    let own = cx.dims(places.value);
    let is_along = (0..own.len()).all(|k| k == axis || own[k] == 1) && own[axis] == x.dims[axis];
    let Some(list) = cx.known_ints(places.value).filter(|_| is_along) else { return Ok(None) };
    if !list.iter().copied().eq(0..list.len() as i64) || slot::is_wide_unsigned(&x.element) {
        return Ok(None);
    }
    let Some(largest) = direction(cx, body, x, places)? else { return Ok(None) };
    let join = if largest { Join::Max } else { Join::Min };
    let is_neutral = cx.known_number(x_start.value).is_some_and(|number| join.is_neutral(&x.element, number));
    if !is_neutral && x.element != Element::Bool {
        return Ok(None);
    }
    let function = if largest { Reduction::Max } else { Reduction::Min };
    let most = reduced(cx, x, function, axes)?;
    let most = dropped(cx, vec![most], axes, kept)?.remove(0);
    let value = cx.spread(x)?;
    let mut means = cx.means();
    let value = if means.ty(value).dtype == DType::Bool { means.cast(value, DType::I32)? } else { value };
    let dtype = means.ty(places.value).dtype;
    let index = means.add(Op::ArgReduce { axis, largest }, &[value], Type::plain(DType::I32, kept))?;
    let index = means.cast(index, dtype)?;
    Ok(Some(vec![most, Tensor::of(index, kept, &places.element)]))
}

/// Whether a body takes the larger (true) or the smaller number with its place, of equal ones the first: it is tried on a few.
fn direction<'p>(
    cx: &mut Cx<'_, '_, 'p>,
    body: &Body<'p>,
    x: &Tensor,
    places: &Tensor,
) -> Lowered<Option<bool>> {
    let (first, second) = ([0i64, 1, 1, 1, 0, 1], [1i64, 0, 1, 1, 0, 0]);
    let (at_first, at_second) = ([3i64, 3, 3, 4, 4, 2], [4i64, 4, 4, 3, 3, 5]);
    let made = |cx: &mut Cx<'_, '_, 'p>, like: &Tensor, list: &[i64]| -> Lowered<Tensor> {
        let dtype = cx.ty(like.value).dtype;
        let value = match dtype {
            DType::F32 => {
                let list: Vec<f32> = list.iter().map(|&x| x as f32).collect();
                cx.means().float_constant("trial", &[list.len()], &list)?
            }
            dtype => cx.means().int_constant("trial", dtype, &[list.len()], list)?,
        };
        Ok(Tensor::of(value, &[list.len()], &like.element))
    };
    let x_pair = [made(cx, x, &first)?, made(cx, x, &second)?];
    let places_pair = [made(cx, places, &at_first)?, made(cx, places, &at_second)?];
    let [x1, x2] = x_pair;
    let [p1, p2] = places_pair;
    let results = body.apply(cx, &[x1, p1], &[x2, p2])?;
    let [_, index] = &results[..] else { return Ok(None) };
    let Some(list) = cx.known_ints(index.value) else { return Ok(None) };
    let expected = |largest: bool| -> Vec<i64> {
        (0..first.len())
            .map(|k| match (first[k].cmp(&second[k]), largest) {
                (std::cmp::Ordering::Equal, _) => at_first[k].min(at_second[k]),
                (std::cmp::Ordering::Greater, true) | (std::cmp::Ordering::Less, false) => at_first[k],
                _ => at_second[k],
            })
            .collect()
    };
    Ok([true, false].into_iter().find(|&largest| expected(largest) == list))
}

/// Whether places equal a number.
pub(super) fn is_at(cx: &mut Cx<'_, '_, '_>, places: &Tensor, at: i64) -> Lowered<Tensor> {
    let dtype = cx.ty(places.value).dtype;
    let number = cx.means().int_constant("place", dtype, &[], &[at])?;
    let number = Tensor::of(number, &[], &places.element);
    compare::compared(cx, Comparison::Equal, places, &number)
}

/// A refusal of a body.
pub(super) fn unknown_body() -> Refusal {
    Refusal::unsupported("its body cannot be compiled", "use add, multiply, maximum, minimum, and, or")
}
