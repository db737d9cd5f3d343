//! Calls of functions, branches and loops: all become part of the graph that holds them, which knows no control flow.
//!
//! Of a branch whose condition is a constant, the one that is taken is all there is; otherwise all are computed, and one is selected. Loops are written
//! out: how often they run has to follow from constants. How much of it all there may be is bounded
//! ([`Budget::inline`](crate::budget::Budget::inline)).

use super::call::Call;
use super::run::{Done, Guard};
use super::slot::{List, Slot};
use super::{short, Deep, Importer, Lowered, Operators, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Comparison, DType, Op, ValueId};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("Case", Deep(case)),
    ("If", Deep(branch)),
    ("PartitionedCall", Deep(called)),
    ("StatefulPartitionedCall", Deep(called)),
    ("StatelessCase", Deep(case)),
    ("StatelessIf", Deep(branch)),
    ("StatelessWhile", Deep(repeat)),
    ("While", Deep(repeat)),
];

/// What a branch without results leaves.
type Results<'p> = Vec<Slot<'p>>;

fn function<'p>(call: &Call<'p>, attribute: &str) -> Lowered<&'p str> {
    let name = call.node.attributes.function(attribute)?;
    name.ok_or_else(|| malformed!("its attribute {attribute} names no function"))
}

/// A call of a function.
fn called<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Results<'p>> {
    let function = function(call, "f")?;
    let before = importer.before(&call.guards);
    let results = importer.call(function, call.operands.clone(), call)?;
    importer.guard_variables(&call.guards, &before, call)?;
    Ok(results)
}

/// If.
fn branch<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Results<'p>> {
    let condition = call.slot(0)?.tensor()?;
    let branches = [function(call, "else_branch")?, function(call, "then_branch")?];
    let truth = importer.truth(condition)?;
    let before = importer.before(&call.guards);
    let results = match truth {
        Some(truth) => importer.call(branches[usize::from(truth)], call.operands[1..].to_vec(), call)?,
        None => {
            let condition = importer.condition(condition, call)?;
            importer.branches(call, condition, &branches)?
        }
    };
    importer.guard_variables(&call.guards, &before, call)?;
    Ok(results)
}

/// Case.
fn case<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Results<'p>> {
    let index = call.slot(0)?.tensor()?;
    let branches = call.node.attributes.functions("branches")?;
    malformed_if!(branches.is_empty(), "it has no branches");
    let known = importer.integer(index);
    let before = importer.before(&call.guards);
    let results = match known {
        // What is no branch means the last one.
        Some(known) => {
            let taken = usize::try_from(known).unwrap_or(usize::MAX).min(branches.len() - 1);
            importer.call(branches[taken], call.operands[1..].to_vec(), call)?
        }
        None => importer.branches(call, index, &branches)?,
    };
    importer.guard_variables(&call.guards, &before, call)?;
    Ok(results)
}

/// While. Where a pass depends on what is computed, all passes up to a bound run, and what the first one that does not hold began with is selected.
fn repeat<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Results<'p>> {
    let (condition, body) = (function(call, "cond")?, function(call, "body")?);
    let mut values = call.operands.clone();
    let before = importer.before(&call.guards);
    // What passes begin with that may be the last, and whether they are not.
    let mut open: Vec<(ValueId, Results<'p>)> = Vec::new();
    for pass in 0u32.. {
        let goes_on = importer.call(condition, values.clone(), call)?;
        let goes_on = goes_on.first().ok_or_else(|| malformed!("its condition has no result"))?.tensor()?;
        match importer.decided(goes_on)? {
            Some(true) => {}
            Some(false) => break,
            None if !importer.written.is_empty() || pass >= LONGEST => return Err(endless(pass)),
            None => open.push((importer.condition(goes_on, call)?, values.clone())),
        }
        let count = values.len();
        values = importer.call(body, values, call).map_err(|refusal| match refusal {
            // So many passes have no end.
            Refusal::Unsupported(..) if !open.is_empty() => endless(pass),
            other => other,
        })?;
        malformed_if!(values.len() != count, "its body has {} results for {count} values", values.len());
    }
    for (selector, begun) in open.into_iter().rev() {
        values = importer.each(Guard { selector, branch: 1, of: 2 }, values, begun, call)?;
    }
    importer.guard_variables(&call.guards, &before, call)?;
    Ok(values)
}

/// Why a loop is refused.
pub(super) fn endless(pass: u32) -> Refusal {
    let what = format!(
        "after {pass} passes, the condition of its loop depends on values that are computed at run time"
    );
    let help = "let a counter run from a constant to a constant, or write the loop in your own code around the model";
    Refusal::unsupported(what, help)
}

/// Most passes of a loop whose end is computed.
const LONGEST: u32 = 256;

/// Most parts of a condition that are looked at.
const MOST_PARTS: usize = 16;

impl<'p> Importer<'_, 'p> {
    /// Whether a condition holds, if it is known, or a part of it that decides it is.
    pub(super) fn decided(&mut self, condition: ValueId) -> Lowered<Option<bool>> {
        let mut open = vec![condition];
        // Parts of x && y: one that does not hold decides.
        for _ in 0..MOST_PARTS {
            let Some(part) = open.pop() else { break };
            let truth = self.truth(part)?;
            if truth == Some(false) || part == condition && truth.is_some() {
                return Ok(truth);
            }
            let graph = &self.means.graph;
            let node = graph.producer(part).map(|id| graph.node(id));
            let Some((op, operands)) = node.map(|node| (node.op.clone(), node.operands.clone())) else {
                continue;
            };
            match (op, &operands[..]) {
                (Op::Reshape {} | Op::Cast {}, &[x]) => open.push(x),
                // Where x does not hold, neither does x.
                (Op::Select {}, &[x, y, no]) if no == x || self.truth(no)? == Some(false) => {
                    open.extend([x, y]);
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Whether a condition holds, if it is known. A number holds where it is not 0.
    pub(super) fn truth(&mut self, condition: ValueId) -> Lowered<Option<bool>> {
        let cx = self.means.hosted_cx(self.host, String::new(), String::new());
        let ty = cx.ty(condition).clone();
        malformed_if!(ty.shape.numel() != 1, "its condition is {ty}");
        Ok(cx.data(condition).map(|data| match ty.dtype {
            DType::F32 => data.to_f32().first().is_some_and(|&x| x != 0.0),
            dtype => data.to_ints(dtype).first().is_some_and(|&x| x != 0),
        }))
    }

    /// An integer, if it is known.
    pub(super) fn integer(&mut self, value: ValueId) -> Option<i64> {
        let cx = self.means.hosted_cx(self.host, String::new(), String::new());
        let dtype = cx.ty(value).dtype;
        if !matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        cx.data(value)?.to_ints(dtype).first().copied()
    }

    /// A condition as one truth value.
    fn condition(&mut self, condition: ValueId, call: &Call<'p>) -> Lowered<ValueId> {
        let mut cx = self.means.hosted_cx(self.host, call.name(), call.origin());
        let condition = cx.reshaped(condition, &[])?;
        cx.cast(condition, DType::Bool)
    }

    /// All branches, of which one is selected.
    fn branches(&mut self, call: &Call<'p>, selector: ValueId, branches: &[&str]) -> Lowered<Results<'p>> {
        self.settle();
        let before = self.values_of_variables();
        let mut all: Vec<(Results<'p>, Results<'p>)> = Vec::new();
        for function in branches {
            self.set_variables(&before);
            let results = self.call(function, call.operands[1..].to_vec(), call)?;
            malformed_if!(
                all.first().is_some_and(|(first, _)| first.len() != results.len()),
                "its branches have different numbers of results"
            );
            all.push((results, self.values_of_variables()));
        }
        let of = branches.len();
        let mut chosen: Option<(Results<'p>, Results<'p>)> = None;
        for (branch, (results, variables)) in all.into_iter().enumerate().rev() {
            chosen = Some(match chosen {
                None => (results, variables),
                Some((others, rest)) => {
                    let guard = Guard { selector, branch, of };
                    let variables = self.each(guard, variables, rest, call)?;
                    (self.each(guard, results, others, call)?, variables)
                }
            });
        }
        let (results, variables) = chosen.ok_or_else(|| malformed!("it has no branches"))?;
        self.set_variables(&variables);
        Ok(results)
    }

    /// The results of a branch where it is taken, else others.
    pub(super) fn each(
        &mut self,
        guard: Guard,
        taken: Results<'p>,
        others: Results<'p>,
        call: &Call<'p>,
    ) -> Lowered<Results<'p>> {
        // A branch may have made variables of its own.
        let mut results = Vec::new();
        let rest = taken.get(others.len()..).unwrap_or_default().to_vec();
        for (taken, other) in taken.into_iter().zip(others) {
            results.push(self.chosen(guard, taken, other, call)?);
        }
        results.extend(rest);
        Ok(results)
    }

    /// What a branch gives where it is taken, else another slot.
    pub(super) fn chosen(
        &mut self,
        guard: Guard,
        taken: Slot<'p>,
        other: Slot<'p>,
        call: &Call<'p>,
    ) -> Lowered<Slot<'p>> {
        Ok(match (&taken, &other) {
            (Slot::Refused, _) | (_, Slot::Refused) => Slot::Refused,
            (Slot::Tensor(a), Slot::Tensor(b)) => Slot::Tensor(self.choice(guard, *a, *b, call)?),
            (Slot::Complex(a, b), Slot::Complex(c, d)) => {
                Slot::Complex(self.choice(guard, *a, *c, call)?, self.choice(guard, *b, *d, call)?)
            }
            (Slot::List(a), Slot::List(b)) if a.items.len() == b.items.len() => {
                let mut items = Vec::new();
                for pair in a.items.iter().zip(&b.items) {
                    items.push(match pair {
                        (Some(a), Some(b)) => Some(self.choice(guard, *a, *b, call)?),
                        (None, None) => None,
                        _ => return Err(lists()),
                    });
                }
                Slot::List(Rc::new(List { items, ..(**a).clone() }))
            }
            (Slot::List(_), Slot::List(_)) => return Err(lists()),
            (Slot::Resource(a), Slot::Resource(b)) if a != b => {
                let help = "let all branches use the same variables";
                return Err(Refusal::unsupported("its branches give different variables", help));
            }
            (Slot::Stored(a), Slot::Stored(b)) if a != b => {
                return Err(Refusal::unsupported(
                    "its branches restore different variables",
                    "restore them all",
                ));
            }
            _ => taken,
        })
    }

    fn choice(&mut self, guard: Guard, taken: ValueId, other: ValueId, call: &Call<'p>) -> Lowered<ValueId> {
        if taken == other {
            return Ok(taken);
        }
        let mut cx = self.means.hosted_cx(self.host, call.name(), call.origin());
        if cx.dims(taken) != cx.dims(other) || cx.ty(taken).dtype != cx.ty(other).dtype {
            let (a, b) = (cx.shown(taken), cx.shown(other));
            let what = format!("its branches return {a} and {b}, and the condition is computed at run time");
            return Err(Refusal::unsupported(what, "let all branches return results of the same shape"));
        }
        let is_truth = cx.ty(guard.selector).dtype == DType::Bool;
        match (is_truth, guard.branch) {
            (true, 1) => cx.choice(guard.selector, taken, other),
            (true, _) => cx.choice(guard.selector, other, taken),
            (false, branch) => {
                let selector = cx.reshaped(guard.selector, &[])?;
                let number = cx.number(selector, branch as f64)?;
                let is_it = match branch + 1 == guard.of {
                    // The last branch is also that of all other numbers.
                    true => {
                        let is_more = cx.compared(Comparison::GreaterEqual, selector, number)?;
                        let zero = cx.number(selector, 0.0)?;
                        let is_less = cx.compared(Comparison::Less, selector, zero)?;
                        let yes = cx.truth(true);
                        cx.choice(is_less, yes, is_more)?
                    }
                    false => cx.compared(Comparison::Equal, selector, number)?,
                };
                cx.choice(is_it, taken, other)
            }
        }
    }

    /// Switch: its operand, for the branch that is taken.
    pub(super) fn switch(&mut self, call: Call<'p>) -> Result<Done<'p>, Error> {
        let of = match call.node.op {
            "_SwitchN" => {
                call.node.attributes.int("num_outs").ok().flatten().unwrap_or(0).clamp(0, 1 << 12) as usize
            }
            _ => 2,
        };
        let switched =
            || -> Lowered<(Slot<'p>, ValueId)> { Ok((call.slot(0)?.clone(), call.slot(1)?.tensor()?)) };
        let done = match switched() {
            Ok((slot, selector)) => {
                let taken = match of == 2 && call.node.op != "_SwitchN" {
                    true => self.truth(selector).map(|truth| truth.map(usize::from)),
                    false => Ok(self
                        .integer(selector)
                        .map(|index| usize::try_from(index).unwrap_or(of).min(of - 1))),
                };
                taken.map(|taken| match taken {
                    Some(taken) => {
                        let slots = (0..of).map(|k| if k == taken { slot.clone() } else { Slot::Dead });
                        Done { slots: slots.collect(), guards: call.guards.clone(), switch: None }
                    }
                    None => {
                        Done { slots: vec![slot; of], guards: call.guards.clone(), switch: Some(selector) }
                    }
                })
            }
            Err(refusal) => Err(refusal),
        };
        self.done(done, &call)
    }

    /// Merge: the operand of the branch that is taken. With a second result, its number.
    pub(super) fn merge(&mut self, call: Call<'p>, guards: Vec<Vec<Guard>>) -> Result<Done<'p>, Error> {
        let merged = self.merged(&call, guards);
        self.done(merged, &call)
    }

    fn merged(&mut self, call: &Call<'p>, guards: Vec<Vec<Guard>>) -> Lowered<Done<'p>> {
        let alive = call.operands.iter().zip(&guards).enumerate();
        let mut alive: Vec<(usize, Slot<'p>, Vec<Guard>)> = alive
            .filter(|(_, (slot, _))| !matches!(slot, Slot::Dead))
            .map(|(k, (slot, guards))| (k, slot.clone(), guards.clone()))
            .collect();
        let Some((k, slot, own)) = alive.pop() else {
            return Ok(Done::of(vec![Slot::Dead]));
        };
        let mut index = self.means.hosted_cx(self.host, call.name(), call.origin()).int_constant(
            "branch",
            DType::I32,
            &[],
            &[k as i64],
        )?;
        let (mut chosen, mut common) = (slot, own);
        while let Some((k, slot, own)) = alive.pop() {
            // The condition that tells this branch from those before.
            let differs = |guard: &&Guard| {
                common.iter().any(|other| other.selector == guard.selector && other.branch != guard.branch)
            };
            let guard = own.iter().copied().find(|guard| differs(&guard)).ok_or_else(|| {
                let what = "what it merges does not come from branches of one condition";
                Refusal::unsupported(what, "use tf.cond or tf.switch_case")
            })?;
            let number = self.means.hosted_cx(self.host, call.name(), call.origin()).int_constant(
                "branch",
                DType::I32,
                &[],
                &[k as i64],
            )?;
            chosen = self.chosen(guard, slot, chosen, call)?;
            index = self.choice(guard, number, index, call)?;
            if alive.is_empty() {
                common.retain(|other| own.contains(other));
            }
        }
        if call.operands.len() > 1 && guards.iter().all(|own| own.is_empty()) {
            common.clear();
        }
        Ok(Done { slots: vec![chosen, Slot::Tensor(index)], guards: common, switch: None })
    }

    /// What came of an operator that is no other node's, or that it was refused.
    pub(super) fn done(&mut self, done: Lowered<Done<'p>>, call: &Call<'p>) -> Result<Done<'p>, Error> {
        match done {
            Ok(done) => Ok(done),
            Err(refusal) => {
                let op = short(call.node.op);
                self.means.report.refuse(call.place(self.count), Some((self.count, &op)), refusal)?;
                Ok(Done::of(vec![Slot::Refused]))
            }
        }
    }
}

fn lists() -> Refusal {
    let what = "its branches give lists of different lengths, and the condition is computed at run time";
    Refusal::unsupported(what, "let all branches write the same elements")
}
