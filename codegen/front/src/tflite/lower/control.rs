//! IF and WHILE: subgraphs become part of the graph that calls them, which knows no control flow.
//!
//! Of an IF whose condition is a constant, the branch that is taken is all there is; otherwise both are computed, and `select`
//! takes the results of one. A WHILE is unrolled: its condition has to follow from constants, pass for pass (`consts.rs`), or to end the loop by a counter besides.
//! How much of it all there may be is bounded ([`Budget::inline`](crate::budget::Budget::inline)).

use super::cx::{describe, OpCx};
use super::{Importer, Layout, Lowered, Operators, Refusal, Slot};
use kiln_ir::{DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[(118, branch), (119, repeat)];

/// Most subgraphs that call each other.
const DEEPEST: usize = 8;

/// IF.
fn branch(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (then, otherwise) = cx.options(92)?.subgraphs()?;
    let condition = cx.input(0)?;
    let arguments = cx.arguments(1)?;
    if let Some(taken) = cx.truth(condition)? {
        let results = cx.inline(if taken { then } else { otherwise }, &arguments)?;
        return cx.bind_all(&results);
    }
    let writes = cx.importer.writes;
    let [yes, no] = [cx.inline(then, &arguments)?, cx.inline(otherwise, &arguments)?];
    if cx.importer.writes != writes {
        let what = "one of its branches writes a variable, and the condition is computed at run time";
        let help = "let both branches return the variable's next value, and assign it after the operator";
        return Err(Refusal::unsupported(what, help));
    }
    if yes.len() != cx.output_count() || no.len() != yes.len() {
        return Err(malformed!("its branches do not have as many results as the operator"));
    }
    for (k, results) in yes.into_iter().zip(no).enumerate() {
        match results {
            (Slot::Handle(yes), Slot::Handle(no)) if yes == no => cx.bind_handle(k, yes),
            (Slot::Value(yes), Slot::Value(no)) => {
                let value = cx.choice(condition, yes, no, k)?;
                cx.bind(k, value)?;
            }
            _ => return Err(malformed!("its branches return different kinds of value as result {k}")),
        }
    }
    Ok(())
}

/// WHILE.
///
/// Where a condition depends on data, and on a counter that ends the loop whatever the data is, passes are unrolled up to that end. The loop goes on in them as if the condition held; the results
/// are what the values were when it did not, which `select` keeps.
fn repeat(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (condition, body) = cx.options(93)?.subgraphs()?;
    let mut values = cx.arguments(0)?;
    let mut stopping: Option<Stopping> = None;
    for passes in 0usize.. {
        let &[Slot::Value(goes_on)] = &*cx.inline(condition, &values)? else {
            return Err(malformed!("its condition is not a single value"));
        };
        match cx.truth(goes_on)? {
            Some(true) => {}
            Some(false) => break,
            None => {
                if !cx.is_bounded(goes_on) {
                    let what = format!(
                        "the number of its iterations is not bounded: after {passes} of them, the condition depends on values that are computed at run time"
                    );
                    let help = "let its condition be a LOGICAL_AND with a counter that runs from a constant to a constant, or write the loop in your own code around the model";
                    return Err(Refusal::unsupported(what, help));
                }
                let scalar = cx.scalar(goes_on)?;
                stopping = Some(match stopping {
                    None => Stopping { goes_on: scalar, kept: values.clone() },
                    Some(Stopping { goes_on: before, kept }) => {
                        let ty = Type::plain(DType::Bool, &[]);
                        Stopping { goes_on: cx.node(Op::Select {}, &[before, scalar, before], 0, ty)?, kept }
                    }
                });
            }
        }
        let writes = cx.importer.writes;
        values = cx.inline(body, &values)?;
        if let Some(Stopping { goes_on, kept }) = &mut stopping {
            if cx.importer.writes != writes {
                let what = "its body writes a variable, and the number of its iterations depends on values that are computed at run time";
                let help = "let the loop return the variable's next value, and assign it after the operator";
                return Err(Refusal::unsupported(what, help));
            }
            for (k, (kept, &next)) in kept.iter_mut().zip(&values).enumerate() {
                *kept = match (*kept, next) {
                    (Slot::Value(kept), Slot::Value(next)) => {
                        Slot::Value(cx.choice(*goes_on, next, kept, k)?)
                    }
                    (_, other) => other,
                };
            }
        }
    }
    match stopping {
        Some(Stopping { kept, .. }) => cx.bind_all(&kept),
        None => cx.bind_all(&values),
    }
}

/// A loop of which data may end each pass.
struct Stopping {
    /// Whether none has ended it.
    goes_on: ValueId,
    /// The values as they were when one did.
    kept: Vec<Slot>,
}

impl<'m, 'a> OpCx<'_, 'm, 'a> {
    /// What the operands from `first` on are.
    fn arguments(&mut self, first: usize) -> Lowered<Vec<Slot>> {
        let mut slots = Vec::new();
        for k in first..self.input_count() {
            let index = self.input_tensor(k)?;
            slots.push(self.importer.argument(index)?);
        }
        Ok(slots)
    }

    /// Lets the results be these.
    fn bind_all(&mut self, slots: &[Slot]) -> Lowered {
        if slots.len() != self.output_count() {
            let what = format!(
                "its subgraph has {} results, but the operator has {}",
                slots.len(),
                self.output_count()
            );
            return Err(Refusal::malformed(what));
        }
        for (k, slot) in slots.iter().enumerate() {
            match *slot {
                Slot::Handle(resource) => self.bind_handle(k, resource),
                Slot::Value(value) => {
                    let value = self.returned(value, k)?;
                    self.bind(k, value)?;
                }
                _ => return Err(Refusal::Follows),
            }
        }
        Ok(())
    }

    /// A value of a subgraph with the quantisation that the file declares for result `k`: its bytes are copied.
    fn returned(&mut self, value: ValueId, k: usize) -> Lowered<ValueId> {
        let declared = self.declared(k)?;
        match self.ty(value).dtype == declared.dtype {
            true => self.reinterpret(value, declared.quant, k),
            false => {
                let what = format!(
                    "result {k} is {}, but its subgraph returns {}",
                    describe(&declared),
                    describe(self.ty(value))
                );
                Err(Refusal::malformed(what))
            }
        }
    }

    /// The truth of a condition, if it is known; an error if it is no condition.
    fn truth(&self, condition: ValueId) -> Lowered<Option<bool>> {
        let ty = self.ty(condition);
        if ty.dtype != DType::Bool || ty.shape.numel() != 1 {
            return Err(malformed!("its condition is {}, but has to be a bool", describe(ty)));
        }
        Ok(self.settled(condition, DEEPEST))
    }

    /// The truth of a value, if constants decide it: also of an AND of which one operand is false.
    fn settled(&self, id: ValueId, deep: usize) -> Option<bool> {
        if let Some(data) = self.known(id) {
            return data.bytes().first().map(|&byte| byte != 0);
        }
        let (condition, [yes, no]) = self.logic(id)?;
        let deeper = |id| deep.checked_sub(1).and_then(|deep| self.settled(id, deep));
        match deeper(condition) {
            Some(true) => deeper(yes),
            Some(false) => deeper(no),
            None => {
                // In each case the condition itself is known.
                let yes = if yes == condition { Some(true) } else { deeper(yes) };
                let no = if no == condition { Some(false) } else { deeper(no) };
                yes.filter(|_| yes == no)
            }
        }
    }

    /// A logical operation as the choice that it is; under another shape, too.
    fn logic(&self, id: ValueId) -> Option<(ValueId, [ValueId; 2])> {
        let graph = &self.importer.graph;
        let mut node = graph.node(graph.producer(id)?);
        while let (Op::Reshape {}, &[from]) = (&node.op, &node.operands[..]) {
            node = graph.node(graph.producer(from)?);
        }
        match (&node.op, &node.operands[..]) {
            (Op::Select {}, &[condition, yes, no]) => Some((condition, [yes, no])),
            _ => None,
        }
    }

    /// Whether a condition of unknown truth is an AND of something else and a truth that is known, which may end the loop later.
    fn is_bounded(&self, condition: ValueId) -> bool {
        let mut parts = vec![condition];
        for _ in 0..64 {
            let Some(part) = parts.pop() else { return false };
            if self.known(part).is_some() {
                return true;
            }
            if let Some((x, [y, _])) = self.logic(part).filter(|(x, [_, no])| x == no) {
                parts.extend([x, y]);
            }
        }
        false
    }

    /// A condition without axes.
    fn scalar(&mut self, condition: ValueId) -> Lowered<ValueId> {
        match self.ty(condition).shape.rank() {
            0 => Ok(condition),
            _ => self.node(Op::Reshape {}, &[condition], 0, Type::plain(DType::Bool, &[])),
        }
    }

    /// Result `k` of whichever branch is taken.
    fn choice(&mut self, condition: ValueId, yes: ValueId, no: ValueId, k: usize) -> Lowered<ValueId> {
        let [yes, no] = [self.returned(yes, k)?, self.returned(no, k)?];
        if yes == no {
            return Ok(yes);
        }
        let (ty, other) = (self.ty(yes).clone(), self.ty(no));
        if ty.shape != other.shape {
            let what = format!(
                "its branches return {} and {} as result {k}, and the condition is computed at run time",
                describe(&ty),
                describe(other)
            );
            return Err(Refusal::unsupported(what, "let both branches return results of the same shape"));
        }
        let condition = self.scalar(condition)?;
        self.node(Op::Select {}, &[condition, yes, no], k, ty)
    }

    /// The results of a subgraph with these arguments, as part of the graph.
    fn inline(&mut self, index: i32, arguments: &[Slot]) -> Lowered<Vec<Slot>> {
        let caller = format!("{}/", self.origin());
        self.importer.inline(index, arguments, caller)
    }
}

impl<'m, 'a> Importer<'m, 'a> {
    /// The subgraph being imported.
    pub(super) fn sub_index(&self) -> usize {
        self.calls.last().copied().unwrap_or(0)
    }

    /// Refuses a variable of a subgraph that may be part of the graph several times, or not at all.
    pub(super) fn check_state_here(&self) -> Lowered {
        match self.calls.len() {
            1 => Ok(()),
            _ => {
                let help = "keep the state in a variable of the model, outside of branches and loops";
                Err(Refusal::unsupported("it has a state inside a branch or a loop", help))
            }
        }
    }

    /// What a tensor is for a subgraph that it is handed to, or returned from.
    fn argument(&mut self, index: i32) -> Lowered<Slot> {
        match self.slot(index) {
            Slot::Handle(resource) => Ok(Slot::Handle(resource)),
            _ => self.read(index, Layout::Plain).map(Slot::Value),
        }
    }

    fn inline(&mut self, index: i32, arguments: &[Slot], caller: String) -> Lowered<Vec<Slot>> {
        let model = self.model;
        let found = usize::try_from(index).ok().and_then(|i| Some((i, model.subgraphs.get(i)?)));
        let Some((index, sub)) = found else {
            return Err(malformed!("there is no subgraph {index}"));
        };
        malformed_if!(self.calls.contains(&index), "subgraph {index} calls itself");
        if self.calls.len() > DEEPEST {
            let what = format!("subgraphs are nested more than {DEEPEST} deep");
            return Err(Refusal::unsupported(what, "inline some of the subgraphs"));
        }
        if !self.budget.inline(sub.operators.len().saturating_add(sub.tensors.len())) {
            let what = "its branches, or the unrolled iterations of its loop, have too many operators";
            let help =
                "let the loop run fewer times, or compile only its body and write the loop in your own code";
            return Err(Refusal::unsupported(what, help));
        }
        let outer = (self.sub, std::mem::replace(&mut self.slots, vec![Slot::Empty; sub.tensors.len()]));
        let caller = std::mem::replace(&mut self.caller, caller);
        self.sub = sub;
        self.calls.push(index);
        let results = self.call(arguments);
        self.calls.pop();
        (self.sub, self.slots) = outer;
        self.caller = caller;
        results
    }

    /// The results of the current subgraph.
    fn call(&mut self, arguments: &[Slot]) -> Lowered<Vec<Slot>> {
        let (sub, index) = (self.sub, self.sub_index());
        if sub.inputs.len() != arguments.len() {
            let (wanted, given) = (sub.inputs.len(), arguments.len());
            return Err(malformed!("subgraph {index} takes {wanted} operands, but gets {given}"));
        }
        for (tensor, slot) in sub.inputs.iter().zip(arguments) {
            if !matches!(self.slot(tensor), Slot::Empty) {
                return Err(malformed!("tensor {tensor} is an input of subgraph {index} twice"));
            }
            let slot = match *slot {
                Slot::Value(value) => Slot::Value(self.as_parameter(value, tensor)?),
                other => other,
            };
            self.set_slot(tensor, slot);
        }
        for (i, operator) in sub.operators.iter().enumerate() {
            self.operator(i, operator).map_err(Refusal::Fatal)?;
        }
        // What was refused is reported where it stands.
        if !self.report.is_empty() {
            return Err(Refusal::Follows);
        }
        sub.outputs.iter().map(|tensor| self.argument(tensor)).collect()
    }

    /// A value as an input of the current subgraph: the same bytes, with the quantisation that is declared there.
    fn as_parameter(&mut self, value: ValueId, tensor: i32) -> Lowered<ValueId> {
        let Some(tensor) = self.sub.tensor(tensor) else {
            return Err(malformed!("subgraph {} has no tensor {tensor}", self.sub_index()));
        };
        let declared = self.tensor_type(tensor)?;
        let ty = self.graph.ty(value).clone();
        if declared.dtype != ty.dtype {
            let what = format!("\"{}\" of subgraph {} gets {}", tensor.name, self.sub_index(), describe(&ty));
            return Err(Refusal::malformed(what));
        }
        if declared.quant == ty.quant {
            return Ok(value);
        }
        let (name, origin) = (tensor.name.text(), self.caller.trim_end_matches('/').to_string());
        let ty = Type { quant: declared.quant, ..ty };
        if ty.shape.numel() == 0 {
            return Ok(self.graph.add_const(name, ty, Data::new(Vec::<u8>::new())));
        }
        Ok(self.graph.add_node(Op::Reshape {}, &[value], name, ty, origin))
    }
}
