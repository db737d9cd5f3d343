//! Instructions that apply computations: calls, loops, choices, reductions.

use super::emit::{Draft, Emitter};
use super::Instruction;
use crate::stablehlo::module::{Attribute, Element, Tensor, Type, Value};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// Attributes with the computations that an instruction applies to each element, in the order of the operation's regions.
fn applied(opcode: &str) -> &'static [&'static str] {
    match opcode {
        "select-and-scatter" => &["select", "scatter"],
        _ => &["to_apply"],
    }
}

impl<'a, 'm> Emitter<'a, 'm> {
    /// The operation of an instruction.
    pub(super) fn draft(
        &mut self,
        instruction: &'a Instruction<'m>,
        operands: Vec<Vec<Value>>,
    ) -> Parsed<Draft<'m>> {
        match instruction.opcode {
            "call" | "fusion" => self.function_call(instruction, operands),
            "while" => self.while_loop(instruction, operands),
            "conditional" => self.conditional(instruction, operands),
            opcode => {
                let mut draft = Draft { operands: operands.concat(), ..Draft::default() };
                self.describe(instruction, &mut draft)?;
                for key in applied(opcode) {
                    if let Some(at) = instruction.attribute(key) {
                        let (_, computation) = self.computation(at)?;
                        let region = self.region(computation)?;
                        draft.regions.push(region);
                    }
                }
                Ok(draft)
            }
        }
    }

    fn function_call(
        &mut self,
        instruction: &Instruction<'m>,
        operands: Vec<Vec<Value>>,
    ) -> Parsed<Draft<'m>> {
        let Some(at) = instruction.attribute("to_apply").or(instruction.attribute("calls")) else {
            return self.scan.broken_at(instruction.at, "a call names no computation");
        };
        let (name, computation) = self.computation(at)?;
        self.call(name)?;
        // The arguments and results are those of the function.
        let parameters =
            computation.parameters.iter().filter_map(|&number| computation.instructions.get(number));
        let mut types = Vec::new();
        parameters.for_each(|parameter| super::shapes::flat(&parameter.ty, &mut types));
        let operands = operands.concat();
        let root = computation.instructions.get(computation.root).map(|root| &root.ty);
        if !operands.iter().map(|value| self.ty(*value)).eq(&types) || root != Some(&instruction.ty) {
            let what = format!("{} has other arguments or results than {name}", instruction.name);
            return self.scan.broken_at(instruction.at, what);
        }
        let mut draft = Draft { name: "func.call".into(), operands, ..Draft::default() };
        self.add(&mut draft, "callee", Attribute::Text(Cow::Borrowed(name)))?;
        Ok(draft)
    }

    fn while_loop(&mut self, instruction: &Instruction<'m>, operands: Vec<Vec<Value>>) -> Parsed<Draft<'m>> {
        let mut draft =
            Draft { name: "stablehlo.while".into(), operands: operands.concat(), ..Draft::default() };
        for key in ["condition", "body"] {
            let Some(at) = instruction.attribute(key) else {
                return self.scan.broken_at(instruction.at, format!("a loop has no {key}"));
            };
            let (name, computation) = self.computation(at)?;
            let region = self.region(computation)?;
            let types =
                |values: &[Value]| values.iter().map(|value| self.ty(*value).clone()).collect::<Vec<_>>();
            if types(&region.arguments) != types(&draft.operands) {
                let what = format!("the loop's values are not the parameters of {name}");
                return self.scan.broken_at(instruction.at, what);
            }
            draft.regions.push(region);
        }
        Ok(draft)
    }

    /// A choice by a truth value (`true_computation`, `false_computation`) or by a number (`branch_computations`).
    fn conditional(
        &mut self,
        instruction: &Instruction<'m>,
        mut operands: Vec<Vec<Value>>,
    ) -> Parsed<Draft<'m>> {
        let mut branches = Vec::new();
        if let Some(at) = instruction.attribute("branch_computations") {
            self.scan.jump(at);
            self.scan.wants("{")?;
            self.scan.list("}", |scan| {
                scan.space();
                branches.push(scan.at());
                super::parse::name(scan)?;
                scan.charge(8)
            })?;
        } else {
            let both = ["true_computation", "false_computation"].map(|key| instruction.attribute(key));
            branches.extend(both.into_iter().flatten());
        }
        if branches.is_empty() || operands.len() != branches.len() + 1 {
            return self.scan.broken_at(instruction.at, "a choice has not as many branches as operands");
        }
        let index = operands.remove(0);
        let is_truth = index.first().is_some_and(|index| {
            matches!(self.ty(*index), Type::Tensor(Tensor { element: Element::Bool, .. }))
        });
        let name = if is_truth { "stablehlo.if" } else { "stablehlo.case" };
        let mut draft = Draft { name: name.into(), operands: index, ..Draft::default() };
        for (at, operand) in branches.into_iter().zip(operands) {
            let (_, computation) = self.computation(at)?;
            let region = self.branch(computation, &[operand])?;
            draft.regions.push(region);
        }
        Ok(draft)
    }
}
