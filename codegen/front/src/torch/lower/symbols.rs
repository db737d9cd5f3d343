//! Numbers of the program: sizes, arithmetic on them, and expressions of symbols.

use super::cx::Cx;
use super::{All, Lowered, One, Operators};
use crate::torch::program::Size;
use kiln_ir::{Binary, Comparison, DType, ValueId};
use std::collections::HashMap;

pub(super) const OPERATORS: Operators = &[
    ("_assert_async", All(|_| Ok(Vec::new()))),
    ("_assert_scalar", All(|_| Ok(Vec::new()))),
    ("_assert_tensor_metadata", All(|_| Ok(Vec::new()))),
    ("_operator.add", One(|cx| arithmetic(cx, |cx, x, y| cx.sum(x, y)))),
    ("_operator.and_", One(|cx| arithmetic(cx, |cx, x, y| cx.both(x, y)))),
    ("_operator.eq", One(|cx| comparison(cx, Comparison::Equal))),
    ("_operator.floordiv", One(|cx| arithmetic(cx, |cx, x, y| cx.binary(Binary::FloorDiv, x, y)))),
    ("_operator.ge", One(|cx| comparison(cx, Comparison::GreaterEqual))),
    ("_operator.gt", One(|cx| comparison(cx, Comparison::Greater))),
    ("_operator.le", One(|cx| comparison(cx, Comparison::LessEqual))),
    ("_operator.lt", One(|cx| comparison(cx, Comparison::Less))),
    ("_operator.mod", One(|cx| arithmetic(cx, |cx, x, y| cx.binary(Binary::FloorMod, x, y)))),
    ("_operator.mul", One(|cx| arithmetic(cx, |cx, x, y| cx.product(x, y)))),
    ("_operator.ne", One(|cx| comparison(cx, Comparison::NotEqual))),
    ("_operator.neg", One(negative)),
    ("_operator.or_", One(|cx| arithmetic(cx, either))),
    ("_operator.sub", One(|cx| arithmetic(cx, |cx, x, y| cx.difference(x, y)))),
    ("_operator.truediv", One(true_division)),
    ("item", One(item)),
    ("scalar_tensor", One(scalar)),
    ("sym_constrain_range", All(|_| Ok(Vec::new()))),
    ("sym_constrain_range_for_size", All(|_| Ok(Vec::new()))),
    ("sym_numel", One(numel)),
    ("sym_size", One(size)),
    ("torch.sym_float", One(|cx| first(cx).and_then(|x| cx.floating(x)))),
    ("torch.sym_max", One(|cx| arithmetic(cx, |cx, x, y| cx.binary(Binary::Max, x, y)))),
    ("torch.sym_min", One(|cx| arithmetic(cx, |cx, x, y| cx.binary(Binary::Min, x, y)))),
    (
        "torch.sym_not",
        One(|cx| {
            let (x, no) = (first(cx)?, cx.truth(false));
            cx.compared(Comparison::Equal, x, no)
        }),
    ),
];

type OfTwo = fn(&mut Cx<'_, '_, '_>, ValueId, ValueId) -> Lowered<ValueId>;

/// Functions of Python call their operands `a` and `b`, or nothing.
fn operands(cx: &mut Cx<'_, '_, '_>) -> Lowered<[ValueId; 2]> {
    let names: Vec<&str> = cx.node.inputs.iter().map(|input| input.name.as_str()).collect();
    let &[a, b, ..] = &*names else { return Err(malformed!("it has no two operands")) };
    if a == b {
        return Err(malformed!("its operands have one name"));
    }
    cx.promoted([a, b])
}

fn arithmetic(cx: &mut Cx<'_, '_, '_>, of: OfTwo) -> Lowered<ValueId> {
    let [x, y] = operands(cx)?;
    of(cx, x, y)
}

fn comparison(cx: &mut Cx<'_, '_, '_>, function: Comparison) -> Lowered<ValueId> {
    let [x, y] = operands(cx)?;
    cx.compared(function, x, y)
}

fn true_division(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [x, y] = operands(cx)?;
    let (x, y) = (cx.floating(x)?, cx.floating(y)?);
    cx.quotient(x, y)
}

/// The first operand, whatever it is called.
fn first(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let name = cx.node.inputs.first().map(|input| input.name.clone()).unwrap_or_default();
    cx.operand(&name)
}

fn either(cx: &mut Cx<'_, '_, '_>, x: ValueId, y: ValueId) -> Lowered<ValueId> {
    let yes = cx.truth(true);
    cx.choice(x, yes, y)
}

fn negative(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = first(cx)?;
    let zero = cx.number(x, 0.0)?;
    cx.difference(zero, x)
}

/// The only element of a tensor.
fn item(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let x = cx.reshaped(x, &[])?;
    match cx.ty(x).dtype {
        DType::F32 | DType::Bool => Ok(x),
        _ => cx.cast(x, DType::I64),
    }
}

/// A number as a tensor.
fn scalar(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    cx.operand("s")
}

fn size(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let axis = cx.dim("dim", 0, x)?;
    let size = cx.dims(x).get(axis).copied().unwrap_or(1) as i64;
    cx.int_constant("size", DType::I64, &[], &[size])
}

fn numel(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.tensor("self")?;
    let count = cx.ty(x).shape.numel() as i64;
    cx.int_constant("size", DType::I64, &[], &[count])
}

/// Sizes for messages.
pub(in crate::torch) fn shown(sizes: &[Size]) -> String {
    let size = |size: &Size| match size {
        Size::Known(size) => size.to_string(),
        Size::Symbolic(text) => symbol(text).map_or_else(|| "?".into(), |symbol| symbol.to_owned()),
    };
    format!("[{}]", sizes.iter().take(64).map(size).collect::<Vec<_>>().join(", "))
}

/// The name of the symbol that an expression is.
pub(in crate::torch) fn symbol(text: &str) -> Option<&str> {
    let is_name = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_alphabetic())
            && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    let inner = text.strip_prefix("Symbol('").and_then(|rest| rest.split('\'').next()).unwrap_or(text);
    let is_whole = text == inner || text.matches('(').count() == 1;
    (is_name(inner) && is_whole).then_some(inner)
}

/// The size that an expression has, if it is known.
pub(in crate::torch) fn value(size: &Size, symbols: &HashMap<String, i64>) -> Option<i64> {
    match size {
        Size::Known(size) => Some(*size),
        Size::Symbolic(text) => {
            let mut rest = text.as_str();
            let value = expression(&mut rest, symbols, 0)?;
            rest.trim().is_empty().then_some(value)
        }
    }
}

/// Sizes, if all of them are known.
pub(in crate::torch) fn dims(sizes: &[Size], symbols: &HashMap<String, i64>) -> Option<Vec<usize>> {
    sizes.iter().map(|size| usize::try_from(value(size, symbols)?).ok()).collect()
}

/// Deepest nesting of an expression.
const DEEPEST: usize = 32;

/// An expression as SymPy's `srepr` writes it, of sums and products.
fn expression(rest: &mut &str, symbols: &HashMap<String, i64>, depth: usize) -> Option<i64> {
    if depth > DEEPEST {
        return None;
    }
    *rest = rest.trim_start();
    let end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
    let (head, tail) = rest.split_at(end);
    let Some(arguments) = tail.strip_prefix('(') else {
        // Older files have plain names.
        *rest = tail;
        return head.parse().ok().or_else(|| symbols.get(head).copied());
    };
    match head {
        "Integer" => {
            let (number, tail) = arguments.split_once(')')?;
            *rest = tail;
            number.parse().ok()
        }
        "Symbol" => {
            let (name, tail) = arguments.strip_prefix('\'')?.split_once('\'')?;
            *rest = tail.split_once(')')?.1;
            symbols.get(name).copied()
        }
        "Add" | "Mul" => {
            let mut all: Option<i64> = None;
            *rest = arguments;
            loop {
                let next = expression(rest, symbols, depth + 1)?;
                all = Some(match (all, head) {
                    (None, _) => next,
                    (Some(all), "Add") => all.checked_add(next)?,
                    (Some(all), _) => all.checked_mul(next)?,
                });
                *rest = rest.trim_start();
                if let Some(tail) = rest.strip_prefix(')') {
                    *rest = tail;
                    return all;
                }
                *rest = rest.strip_prefix(',')?;
            }
        }
        _ => None,
    }
}
