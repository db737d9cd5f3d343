//! Control flow, which the graph does not know: functions become part of it where they are called, loops are written out, and of branches all are computed and one
//! is selected, unless it is known which one is taken.

use super::super::module::{Attribute, Element, Function, Region};
use super::cx::Cx;
use super::slot::{Slot, Tensor};
use super::{attributes, chlo, compare, sort, All, Lowered, Operators, Refusal, Slots};
use kiln_ir::{Op, Type};

pub(super) const OPERATORS: Operators = &[
    ("after_all", All(|_| Ok(vec![Slot::Token]))),
    ("call", All(call)),
    ("case", All(case)),
    ("composite", All(call)),
    ("create_token", All(|_| Ok(vec![Slot::Token]))),
    ("custom_call", All(custom_call)),
    ("func.call", All(call)),
    ("get_tuple_element", All(element)),
    ("if", All(branch)),
    ("optimization_barrier", All(|cx| Ok(cx.operands.clone()))),
    ("tuple", All(|cx| Ok(vec![Slot::Tuple(cx.operands.clone())]))),
    ("while", All(repeat)),
];

/// The function of that name.
fn function<'p>(cx: &Cx<'_, '_, 'p>, name: &str) -> Lowered<&'p Function<'p>> {
    let module = cx.importer.module;
    let found = module.functions.iter().find(|function| function.name == name);
    found.ok_or_else(|| malformed!("there is no function \"{}\"", super::short(name)))
}

/// A call of a function, or a composite by its decomposition.
fn call(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let mut callee = "";
    for name in ["callee", "decomposition", "to_apply"] {
        if callee.is_empty() {
            callee = cx.word(name);
        }
    }
    let function = function(cx, callee)?;
    run(cx, function)
}

fn run<'p>(cx: &mut Cx<'_, '_, 'p>, function: &'p Function<'p>) -> Lowered<Vec<Slot>> {
    let operands = cx.operands.clone();
    cx.importer.inner(function, &mut Slots::new(), &function.body, operands)
}

fn element(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let index = cx.size("index")?.unwrap_or(0);
    match cx.operands.first() {
        Some(Slot::Tuple(list)) => {
            let slot =
                list.get(index).cloned().ok_or_else(|| malformed!("its tuple has no element {index}"))?;
            Ok(vec![slot])
        }
        _ => Err(malformed!("its operand is no tuple")),
    }
}

/// `x` where the condition holds, else `y`.
fn either(cx: &mut Cx<'_, '_, '_>, condition: &Tensor, x: &Slot, y: &Slot) -> Lowered<Slot> {
    Ok(match (x, y) {
        (Slot::Tensor(x), Slot::Tensor(y)) => {
            malformed_if!(x.dims != y.dims, "its branches return {:?} and {:?}", x.dims, y.dims);
            let value = compare::chosen(cx, condition, x, y)?;
            Slot::Tensor(Tensor { dims: x.dims.clone(), ..value })
        }
        (Slot::Complex(a, b), Slot::Complex(c, d)) => {
            Slot::Complex(compare::chosen(cx, condition, a, c)?, compare::chosen(cx, condition, b, d)?)
        }
        (Slot::Tuple(x), Slot::Tuple(y)) if x.len() == y.len() => {
            let each = x.iter().zip(y).map(|(x, y)| either(cx, condition, x, y));
            Slot::Tuple(each.collect::<Lowered<_>>()?)
        }
        (Slot::Token, Slot::Token) => Slot::Token,
        (Slot::Refused, _) | (_, Slot::Refused) => return Err(Refusal::Follows),
        _ => return Err(malformed!("its branches return different kinds of values")),
    })
}

fn all(cx: &mut Cx<'_, '_, '_>, condition: &Tensor, x: &[Slot], y: &[Slot]) -> Lowered<Vec<Slot>> {
    malformed_if!(x.len() != y.len(), "its branches have different numbers of results");
    x.iter().zip(y).map(|(x, y)| either(cx, condition, x, y)).collect()
}

/// What a branch gives. It may be given operands, as branches of HLO are.
fn taken<'p>(cx: &mut Cx<'_, '_, 'p>, region: &'p Region<'p>, operand: usize) -> Lowered<Vec<Slot>> {
    let arguments = match region.arguments.len() {
        0 => Vec::new(),
        _ => {
            vec![cx.operands.get(operand).cloned().ok_or_else(|| malformed!("a branch lacks its operand"))?]
        }
    };
    cx.importer.inner(cx.function, cx.slots, region, arguments)
}

/// if: the first region where the condition holds, else the second one.
fn branch(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let condition = cx.tensor(0)?;
    let [yes, no] = cx.operation.regions.as_slice() else { return Err(malformed!("it needs two regions")) };
    match cx.known_number(condition.value) {
        Some(0.0) => taken(cx, no, 2),
        Some(_) => taken(cx, yes, 1),
        None => {
            let (x, y) = (taken(cx, yes, 1)?, taken(cx, no, 2)?);
            all(cx, &condition, &x, &y)
        }
    }
}

/// case: the region of that index, the last one for indices that are outside.
fn case(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let index = cx.tensor(0)?;
    let regions = &cx.operation.regions;
    let last = regions.len().checked_sub(1).ok_or_else(|| malformed!("it has no branches"))?;
    if index.element == Element::Bool {
        // The first one is for true, as HLO has it.
        malformed_if!(last != 1, "it has {} branches for a truth value", last + 1);
        return branch(cx);
    }
    if let Some(known) = cx.known_number(index.value) {
        let at = if (0.0..=last as f64).contains(&known) { known as usize } else { last };
        return taken(cx, &regions[at], at + 1);
    }
    let mut results = taken(cx, &regions[last], last + 1)?;
    for at in (0..last).rev() {
        let own = taken(cx, &regions[at], at + 1)?;
        let is_taken = super::reduce::is_at(cx, &index, at as i64)?;
        results = all(cx, &is_taken, &own, &results)?;
    }
    Ok(results)
}

/// Most passes of a loop whose condition has a part that is computed at run time.
const MOST_OPEN_PASSES: usize = 128;

/// while, written out. Where a part of the condition is computed at run time, the passes go on until the other part ends them, and the results are those of the pass
/// that was the last one.
fn repeat(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let [condition, body] = cx.operation.regions.as_slice() else {
        return Err(malformed!("it needs two regions"));
    };
    let mut values = cx.operands.clone();
    let mut kept: Option<(Tensor, Vec<Slot>)> = None;
    let mut open = 0;
    loop {
        let goes_on = cx.importer.inner(cx.function, cx.slots, condition, values.clone())?;
        let goes_on = match &goes_on[..] {
            [Slot::Tensor(goes_on)] => goes_on.clone(),
            _ => return Err(malformed!("its condition is no truth value")),
        };
        let known = cx.known_number(goes_on.value);
        if known == Some(0.0) {
            return Ok(kept.map_or(values, |(_, results)| results));
        }
        if known.is_none() {
            open += 1;
            if open > MOST_OPEN_PASSES {
                return Err(Refusal::endless(open));
            }
            kept = Some(match kept {
                None => (goes_on, values.clone()),
                Some((active, results)) => (super::bits::of_truths(cx, '*', &active, &goes_on)?, results),
            });
        }
        let next = cx.importer.inner(cx.function, cx.slots, body, values)?;
        if let Some((active, results)) = kept {
            let results = all(cx, &active, &next, &results)?;
            kept = Some((active, results));
        }
        values = next;
    }
}

/// Calls that jax and XLA write, and those that are bound to functions of the user's.
fn custom_call(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let name = cx.word("call_target_name");
    let bound = cx.importer.options.custom_ops.iter().find(|bound| bound.name == name);
    if let Some(bound) = bound {
        return custom(cx, name, bound.path.clone());
    }
    match name {
        "Sharding"
        | "SPMDFullToShardShape"
        | "SPMDShardToFullShape"
        | "annotate_device_placement"
        | "LayoutConstraint"
        | "xla.sdy.FuncResultSharding"
        | "X64Combine"
        | "MoveToHost"
        | "MoveToDevice" => Ok(cx.operands.clone()),
        "mhlo.topk" | "TopK" => sort::called(cx),
        _ => {
            let own = name.strip_prefix("mhlo.").or_else(|| name.strip_prefix("chlo."));
            if let Some(lower) = own.and_then(|own| super::lowering(&format!("chlo.{own}"))) {
                return match lower {
                    super::Lower::One(lower) => Ok(vec![Slot::Tensor(lower(cx)?)]),
                    super::Lower::All(lower) => lower(cx),
                };
            }
            if chlo::is_check(name) {
                return Ok(cx.operation.results.iter().map(|_| Slot::Token).collect());
            }
            // A composite that was written as a call has a function that says what it is.
            if let Some(Attribute::List(list)) = cx.operation.attributes.get("called_computations") {
                if let [Attribute::Text(callee)] = &list[..] {
                    let function = function(cx, callee)?;
                    return run(cx, function);
                }
            }
            let bare = super::short(name);
            Err(Refusal::unbound(format!("its target \"{bare}\" cannot be compiled"), &bare))
        }
    }
}

/// A call of a function of the user's.
fn custom(cx: &mut Cx<'_, '_, '_>, name: &str, function: String) -> Lowered<Vec<Slot>> {
    let tensors = cx.tensors()?;
    if cx.operation.results.len() != 1 {
        return Err(Refusal::results(&super::short(name), cx.operation.results.len()));
    }
    let mut operands = Vec::new();
    for x in &tensors {
        operands.push(cx.spread(x)?);
    }
    let options = attributes::word(&cx.operation.attributes, "backend_config").as_bytes().to_vec();
    let (dims, element) = (cx.result_dims(0)?, cx.declared(0)?.element.clone());
    let mut ty = Type::plain(super::slot::dtype(&element)?, &dims);
    if let Element::Quantised(of) = &element {
        ty.quant = Some(super::quantise::quant(of, &dims, &dims)?);
    }
    let types = operands.iter().map(|&value| cx.ty(value)).chain([&ty]);
    let per_channel = |ty: &&Type| ty.quant.as_ref().is_some_and(|quant| quant.axis.is_some());
    if types.into_iter().any(|ty| per_channel(&ty)) {
        let what = "its function takes one scale per tensor, but gets one of several scales";
        return Err(Refusal::unsupported(what, "pass the scales as another operand"));
    }
    let op = Op::Custom { name: name.to_owned(), function, options };
    let value = cx.means().add_unfolded(op, &operands, ty)?;
    Ok(vec![Slot::Tensor(Tensor::of(value, &dims, &element))])
}
