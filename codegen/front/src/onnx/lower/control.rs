//! If, Loop and Scan: subgraphs become part of the graph that holds them, which knows no control flow.
//!
//! Of an If whose condition is a constant, the branch that is taken is all there is; otherwise both are computed, and `select` takes the results of one. Loops
//! are unrolled: how often they run has to follow from constants. How much of it all there may be is bounded
//! ([`Budget::inline`](crate::budget::Budget::inline)).

use super::cx::NodeCx;
use super::{describe, All, Importer, Lowered, Operators, Refusal};
use crate::onnx::proto::{Graph, Name};
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[("If", All(branch)), ("Loop", All(repeat)), ("Scan", All(scan))];

/// If.
fn branch(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let condition = cx.input(0)?;
    let (then, otherwise) = (cx.subgraph("then_branch")?, cx.subgraph("else_branch")?);
    if let Some(taken) = truth(cx, condition)? {
        let results = cx.inline(if taken { then } else { otherwise }, &[])?;
        return bind_all(cx, &results);
    }
    let (yes, no) = (cx.inline(then, &[])?, cx.inline(otherwise, &[])?);
    malformed_if!(yes.len() != no.len(), "its branches have different numbers of results");
    let condition = cx.reshaped(condition, &[])?;
    let mut results = Vec::new();
    for (k, (yes, no)) in yes.into_iter().zip(no).enumerate() {
        if cx.dims(yes) != cx.dims(no) {
            let what = format!(
                "its branches return {} and {} as result {k}, and the condition is computed at run time",
                cx.shown(yes),
                cx.shown(no)
            );
            return Err(Refusal::unsupported(what, "let both branches return results of the same shape"));
        }
        results.push(if yes == no { yes } else { cx.choice(condition, yes, no)? });
    }
    bind_all(cx, &results)
}

/// Loop.
fn repeat(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let body = cx.subgraph("body")?;
    let most = cx.ints(0, "number of iterations")?.and_then(|list| list.first().copied());
    let mut condition = cx.optional(1)?;
    let mut values = (2..cx.node.inputs.len()).map(|k| cx.input(k)).collect::<Lowered<Vec<ValueId>>>()?;
    let carried = values.len();
    let outputs = body.outputs.len().checked_sub(carried + 1);
    let outputs = outputs.ok_or_else(|| malformed!("its body has too few results"))?;
    let mut gathered: Vec<Vec<ValueId>> = vec![Vec::new(); outputs];
    for pass in 0i64.. {
        if most.is_some_and(|most| pass >= most) {
            break;
        }
        let goes_on = match condition {
            Some(condition) => truth(cx, condition)?,
            None => Some(true),
        };
        match goes_on {
            Some(true) => {}
            Some(false) => break,
            None => {
                let what = format!(
                    "after {pass} iterations, its condition depends on values that are computed at run time"
                );
                let help = "let a counter run from a constant to a constant, or write the loop in your own code around the model";
                return Err(Refusal::unsupported(what, help));
            }
        }
        let number = cx.int_constant("pass", DType::I64, &[], &[pass])?;
        let going = condition.unwrap_or_else(|| cx.truth(true));
        let results = cx.inline(body, &[&[number, going], &values[..]].concat())?;
        condition = Some(results[0]);
        values = results[1..=carried].to_vec();
        for (list, &value) in gathered.iter_mut().zip(&results[1 + carried..]) {
            list.push(value);
        }
    }
    for list in gathered {
        values.push(stacked(cx, &list, 0)?);
    }
    bind_all(cx, &values)
}

/// Scan: a pass for each index of an axis of some operands.
fn scan(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    if cx.opset() < 9 {
        let help = "convert the model to a newer operator set with onnx.version_converter";
        return Err(Refusal::unsupported("the Scan of operator set 8 cannot be compiled", help));
    }
    let body = cx.subgraph("body")?;
    let mut values = cx.inputs()?;
    let scanned = usize::try_from(cx.int("num_scan_inputs", 0)).unwrap_or(usize::MAX);
    let states = values.len().checked_sub(scanned).filter(|_| scanned > 0);
    let states = states.ok_or_else(|| malformed!("it scans more operands than it has"))?;
    let outputs = body.outputs.len().checked_sub(states);
    let outputs = outputs.ok_or_else(|| malformed!("its body has too few results"))?;
    let sources = values.split_off(states);
    let entry = |name: &str, k: usize| cx.list(name).and_then(|list| list.get(k).copied()).unwrap_or(0);
    let mut axes = Vec::new();
    for (k, &source) in sources.iter().enumerate() {
        axes.push(cx.axis(entry("scan_input_axes", k), cx.dims(source).len())?);
    }
    let backwards: Vec<bool> = (0..scanned).map(|k| entry("scan_input_directions", k) != 0).collect();
    let order: Vec<(i64, bool)> = (0..outputs)
        .map(|k| (entry("scan_output_axes", k), entry("scan_output_directions", k) != 0))
        .collect();
    let passes = cx.dims(sources[0])[axes[0]];
    if sources.iter().zip(&axes).any(|(&source, &axis)| cx.dims(source)[axis] != passes) {
        return Err(malformed!("its operands have different numbers of elements"));
    }
    let mut gathered: Vec<Vec<ValueId>> = vec![Vec::new(); outputs];
    for pass in 0..passes {
        let mut arguments = values.clone();
        for ((&source, &axis), &backwards) in sources.iter().zip(&axes).zip(&backwards) {
            let at = if backwards { passes - 1 - pass } else { pass };
            let part = cx.part(source, axis, at, 1, 1)?;
            let mut dims = cx.dims(part);
            dims.remove(axis);
            arguments.push(cx.reshaped(part, &dims)?);
        }
        let results = cx.inline(body, &arguments)?;
        values = results[..states].to_vec();
        for (list, &value) in gathered.iter_mut().zip(&results[states..]) {
            list.push(value);
        }
    }
    for (mut list, (axis, backwards)) in gathered.into_iter().zip(order) {
        if backwards {
            list.reverse();
        }
        let rank = list.first().map_or(0, |&value| cx.dims(value).len());
        let axis = cx.axis(axis, rank + 1)?;
        values.push(stacked(cx, &list, axis)?);
    }
    bind_all(cx, &values)
}

/// The results of all passes along a new axis.
pub(crate) fn stacked(cx: &mut NodeCx<'_, '_, '_>, list: &[ValueId], axis: usize) -> Lowered<ValueId> {
    if list.is_empty() {
        let help = "remove its results";
        return Err(Refusal::unsupported("its body never runs, so a result has no elements", help));
    }
    let mut parts = Vec::new();
    for &value in list {
        let mut dims = cx.dims(value);
        malformed_if!(dims != cx.dims(list[0]), "the shape of a result changes between iterations");
        dims.insert(axis, 1);
        parts.push(cx.reshaped(value, &dims)?);
    }
    cx.joined(&parts, axis)
}

/// Lets the results be these.
fn bind_all(cx: &mut NodeCx<'_, '_, '_>, values: &[ValueId]) -> Lowered {
    if values.len() < cx.node.outputs.len() {
        let what = format!(
            "its subgraph has {} results, but the operator has {}",
            values.len(),
            cx.node.outputs.len()
        );
        return Err(Refusal::malformed(what));
    }
    values.iter().enumerate().try_for_each(|(k, &value)| cx.bind(k, value))
}

/// The truth of a condition, if it is known.
pub(crate) fn truth(cx: &NodeCx<'_, '_, '_>, condition: ValueId) -> Lowered<Option<bool>> {
    let ty = cx.ty(condition);
    if ty.dtype != DType::Bool || ty.shape.numel() != 1 {
        return Err(malformed!("its condition is {}, but has to be one bool", describe(ty)));
    }
    Ok(cx.data(condition).map(|data| data.bytes().first().is_some_and(|&byte| byte != 0)))
}

impl<'m, 'a> NodeCx<'_, 'm, 'a> {
    fn subgraph(&self, name: &str) -> Lowered<&'m Graph<'a>> {
        let graph = self.attribute(name).and_then(|attribute| attribute.graph.as_ref());
        graph.ok_or_else(|| malformed!("its {name} is missing"))
    }

    /// The results of a subgraph with these arguments, as part of the graph.
    fn inline(&mut self, sub: &'m Graph<'a>, arguments: &[ValueId]) -> Lowered<Vec<ValueId>> {
        let caller = format!("{}/", self.origin);
        let caller = std::mem::replace(&mut self.importer.caller, caller);
        let results = self.importer.inline(sub, arguments);
        self.importer.caller = caller;
        results
    }
}

impl<'m, 'a> Importer<'m, 'a> {
    fn inline(&mut self, sub: &'m Graph<'a>, arguments: &[ValueId]) -> Lowered<Vec<ValueId>> {
        if !self.budget.inline(sub.nodes.len().saturating_add(sub.initializers.len())) {
            let what = "its branches, or the unrolled iterations of its loop, have too many operators";
            let help =
                "let the loop run fewer times, or compile only its body and write the loop in your own code";
            return Err(Refusal::unsupported(what, help));
        }
        if sub.inputs.len() != arguments.len() {
            let (wanted, given) = (sub.inputs.len(), arguments.len());
            return Err(malformed!("its body takes {wanted} operands, but gets {given}"));
        }
        // Names of the subgraph hide those outside, while it is read.
        let inputs = sub.inputs.iter().map(|info| info.name);
        let results = sub.nodes.iter().flat_map(|node| node.outputs.iter().copied());
        let constants = sub.initializers.iter().map(|tensor| tensor.name);
        let own: Vec<Name<'a>> =
            inputs.chain(results).chain(constants).filter(|name| !name.is_empty()).collect();
        let hidden: Vec<_> =
            own.iter().map(|name| (self.values.remove(name), self.initializers.remove(name))).collect();
        let read = self.call(sub, arguments);
        for (name, (value, tensor)) in own.iter().zip(hidden).rev() {
            self.values.remove(name);
            self.initializers.remove(name);
            self.values.extend(value.map(|value| (*name, value)));
            self.initializers.extend(tensor.map(|tensor| (*name, tensor)));
        }
        read
    }

    fn call(&mut self, sub: &'m Graph<'a>, arguments: &[ValueId]) -> Lowered<Vec<ValueId>> {
        self.initializers.extend(sub.initializers.iter().map(|tensor| (tensor.name, tensor)));
        for (info, &argument) in sub.inputs.iter().zip(arguments) {
            self.values.insert(info.name, Some(argument));
        }
        for (index, node) in sub.nodes.iter().enumerate() {
            self.node(index, node).map_err(Refusal::Fatal)?;
        }
        // What was refused is reported where it stands.
        if !self.report.is_empty() {
            return Err(Refusal::Follows);
        }
        sub.outputs.iter().map(|info| self.read(info.name)).collect()
    }
}
