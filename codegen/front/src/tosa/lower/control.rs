//! COND_IF and WHILE_LOOP. Loops are written out: their conditions have to follow from constants.

use super::super::schema::{text, Block};
use super::cx::{broken, Cx};
use super::{All, Lowered, Operators, Refusal, Slot};
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[("COND_IF", All(cond_if)), ("WHILE_LOOP", All(while_loop))];

impl<'m, 'a> Cx<'_, 'm, 'a> {
    /// The block that an attribute names.
    fn called(&self, slot: usize) -> Lowered<(usize, &'m Block<'a>)> {
        let name = self.operator.bytes(slot).map_err(broken)?;
        let found = self.importer.model.called(self.scope.region, name);
        found.ok_or_else(|| malformed!("there is no block \"{}\"", text(name)))
    }

    /// The truth value that an operand is, if it follows from constants.
    fn known_truth(&mut self, condition: ValueId) -> Lowered<Option<bool>> {
        let ty = self.ty(condition).clone();
        malformed_if!(ty.dtype != DType::Bool || ty.shape.numel() != 1, "{ty} is no condition");
        Ok(self.data(condition).and_then(|data| data.bytes().first().copied()).map(|byte| byte != 0))
    }
}

/// COND_IF. Both branches of one that depends on data are computed, and one is selected.
fn cond_if(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let condition = cx.value(0)?;
    let operands: Vec<Slot> = cx.operands.iter().skip(1).cloned().collect();
    let (then, other) = (cx.called(0)?, cx.called(1)?);
    if let Some(truth) = cx.known_truth(condition)? {
        let (region, block) = if truth { then } else { other };
        return cx.importer.inner(region, block, operands);
    }
    let written = cx.importer.variables.clone();
    let yes = cx.importer.inner(then.0, then.1, operands.clone())?;
    let is_pure = cx.importer.variables == written;
    let no = cx.importer.inner(other.0, other.1, operands)?;
    if !is_pure || cx.importer.variables != written {
        let help = "write them behind the branches, with a SELECT";
        return Err(Refusal::unsupported("a branch that depends on data writes variables", help));
    }
    malformed_if!(yes.len() != no.len(), "its branches have {} and {} results", yes.len(), no.len());
    let both: Vec<(Slot, Slot)> = yes.into_iter().zip(no).collect();
    let mut all = Vec::new();
    for (yes, no) in both {
        let (yes, no) = (cx.slot_value(&yes)?, cx.slot_value(&no)?);
        malformed_if!(cx.dims(yes) != cx.dims(no), "its branches give {} and {}", cx.ty(yes), cx.ty(no));
        let no = cx.like(no, yes)?;
        all.push(Slot::Value(cx.means().choice(condition, yes, no)?));
    }
    Ok(all)
}

/// WHILE_LOOP.
fn while_loop(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (condition, body) = (cx.called(0)?, cx.called(1)?);
    let mut carried = cx.operands.clone();
    loop {
        let truth = cx.importer.inner(condition.0, condition.1, carried.clone())?;
        let [truth] = &truth[..] else { return Err(malformed!("its condition has {} results", truth.len())) };
        let truth = cx.slot_value(truth)?;
        match cx.known_truth(truth)? {
            Some(false) => return Ok(carried),
            Some(true) => carried = cx.importer.inner(body.0, body.1, carried)?,
            None => {
                let help = "let it run a fixed number of times, or compile only its body and write the loop in your own code";
                return Err(Refusal::unsupported("its condition depends on data", help));
            }
        }
    }
}

impl Cx<'_, '_, '_> {
    /// What a result of a block is.
    pub(super) fn slot_value(&mut self, slot: &Slot) -> Lowered<ValueId> {
        match slot {
            Slot::Value(value) => Ok(*value),
            Slot::Lazy(id) => self.computed(*id),
            Slot::Shape(_) => Err(malformed!("a result is a shape")),
            Slot::Refused => Err(Refusal::Follows),
        }
    }
}
