//! VARIABLE, VARIABLE_READ and VARIABLE_WRITE: what an inference leaves to the next one.

use super::super::schema::{text, Name};
use super::cx::Cx;
use super::{All, Importer, Lowered, Operators, Slot};
use kiln_ir::{Data, State, ValueDef, ValueId};

pub(super) const OPERATORS: Operators =
    &[("VARIABLE", All(declare)), ("VARIABLE_READ", All(read)), ("VARIABLE_WRITE", All(write))];

/// A variable: what it held at first, and what it holds now.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Variable {
    current: ValueId,
    next: ValueId,
    init: Data,
}

/// The variable that a tensor of the operator stands for.
fn named<'a>(cx: &Cx<'_, '_, 'a>) -> Lowered<(Name<'a>, Name<'a>)> {
    let all = cx.operator.outputs.iter().chain(&cx.operator.inputs);
    let found = all.filter_map(|&tensor| Some((tensor, cx.scope.block.tensors.get(tensor)?.variable)));
    let mut found = found.filter(|(_, variable)| !variable.is_empty());
    found.next().ok_or_else(|| malformed!("it names no variable"))
}

/// VARIABLE: the tensor has what it holds at first, or nothing.
fn declare(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (tensor, name) = named(cx)?;
    let is_known = cx.importer.variables.iter().any(|(own, _)| *own == name);
    malformed_if!(is_known, "the variable \"{}\" is declared a second time", text(name));
    let Some(mut declared) = cx.scope.block.tensors.get(tensor).copied() else {
        return Err(malformed!("no tensor"));
    };
    let nothing;
    if declared.data.is_empty() {
        let sizes = super::dims_of(&declared).unwrap_or_default();
        let count = sizes.into_iter().try_fold(8usize, |all, size| all.checked_mul(size?));
        let count = count.ok_or_else(|| malformed!("the shape of a variable is open"))?;
        cx.importer.means.budget.charge(count)?;
        nothing = vec![0; count];
        declared.data = &nothing;
    }
    let (ty, init) = super::tensor::stored(cx, &declared)?;
    let current = cx.importer.means.graph.add_input(text(name), ty);
    cx.importer.means.graph.inputs.pop();
    cx.importer.means.graph.value_mut(current).def = ValueDef::State;
    cx.importer.variables.push((name, Variable { current, next: current, init }));
    Ok(vec![Slot::Value(current); cx.operator.outputs.len()])
}

fn read(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (_, name) = named(cx)?;
    let variable = cx.importer.variables.iter().find(|(own, _)| *own == name);
    let variable = variable.ok_or_else(|| malformed!("the variable \"{}\" is not declared", text(name)))?;
    Ok(vec![Slot::Value(variable.1.next); cx.operator.outputs.len()])
}

/// VARIABLE_WRITE: the first operand is what it holds from here on.
fn write(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (_, name) = named(cx)?;
    let value = cx.value(0)?;
    let value = cx.plain(value)?;
    let at = cx.importer.variables.iter().position(|(own, _)| *own == name);
    let at = at.ok_or_else(|| malformed!("the variable \"{}\" is not declared", text(name)))?;
    let (own, wanted) = (cx.ty(value).clone(), cx.ty(cx.importer.variables[at].1.current).clone());
    malformed_if!(own != wanted, "{own} is no {wanted}");
    cx.importer.variables[at].1.next = value;
    Ok(vec![Slot::Value(value); cx.operator.outputs.len()])
}

impl Importer<'_, '_> {
    /// Makes states of the variables.
    pub(super) fn keep_variables(&mut self) {
        for (name, Variable { current, next, init }) in std::mem::take(&mut self.variables) {
            let state = State { name: text(name).into_owned(), current, next, init };
            self.means.graph.states.push(state);
        }
    }
}
