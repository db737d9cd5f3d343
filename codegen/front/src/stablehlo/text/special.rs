//! Operations whose pretty form is their own: with regions, windows or symbols.

use super::operations::Draft;
use super::pretty::{canonical_name, Suffix};
use super::Reader;
use crate::stablehlo::module::{Attribute, Attributes, Operation, Region, Type};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

impl<'m> Reader<'m> {
    /// `call @function(%0) : (…) -> …`.
    pub(super) fn call(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        let callee = self.symbol()?;
        self.add(&mut draft.attributes, "callee", Attribute::Text(callee))?;
        self.scan.wants("(")?;
        draft.operands = self.operands_up_to(")")?;
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// `constant dense<…> : …`, or in the generic form without quotation marks.
    pub(super) fn constant(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        if self.scan.takes("(") {
            self.scan.wants(")")?;
            self.behind_operands(&mut draft)?;
            return Ok(draft);
        }
        self.dictionary(&mut draft.attributes)?;
        let at = self.scan.at();
        let value = self.attribute()?;
        let Attribute::Dense(dense) = &value else {
            return self.scan.broken_at(at, "the elements of a constant are wanted here");
        };
        draft.results.push(dense.ty.clone());
        self.add(&mut draft.attributes, "value", value)?;
        Ok(draft)
    }

    /// `get_tuple_element %0[1] : (tuple<…>) -> …`.
    pub(super) fn tuple_element(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        draft.operands.push(self.operand()?);
        self.scan.wants("[")?;
        let index = self.scan.integer()?;
        self.scan.wants("]")?;
        self.add(&mut draft.attributes, "index", Attribute::Int(index))?;
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// `custom_call @target(%0) {…} : (…) -> …`.
    pub(super) fn custom_call(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        let target = self.symbol()?;
        self.add(&mut draft.attributes, "call_target_name", Attribute::Text(target))?;
        self.scan.wants("(")?;
        draft.operands = self.operands_up_to(")")?;
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// `composite "name" %0, %1 {…} : (…) -> …`.
    pub(super) fn composite(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        let name = self.scan.string()?;
        self.add(&mut draft.attributes, "name", Attribute::Text(name))?;
        while self.scan.sees("%") {
            draft.operands.push(self.operand()?);
            if !self.scan.takes(",") {
                break;
            }
        }
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// `slice %0 [0:2, 1:9:3] : (…) -> …`.
    pub(super) fn slice(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        draft.operands.push(self.operand()?);
        self.scan.wants("[")?;
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        self.scan.list("]", |scan| {
            scan.charge(24)?;
            starts.push(scan.integer()?);
            scan.wants(":")?;
            limits.push(scan.integer()?);
            strides.push(if scan.takes(":") { scan.integer()? } else { 1 });
            Ok(())
        })?;
        self.add(&mut draft.attributes, "start_indices", Attribute::Ints(starts))?;
        self.add(&mut draft.attributes, "limit_indices", Attribute::Ints(limits))?;
        self.add(&mut draft.attributes, "strides", Attribute::Ints(strides))?;
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// `convolution(%0, %1) dim_numbers = […]x[…]->[…], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {…} : (…) -> …`.
    pub(super) fn convolution(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        self.scan.wants("(")?;
        draft.operands = self.operands_up_to(")")?;
        loop {
            match self.scan.word() {
                "dim_numbers" => {
                    self.scan.wants("=")?;
                    let dimensions = self.convolution_dimensions()?;
                    self.add(&mut draft.attributes, "dimension_numbers", Attribute::Parts(dimensions))?;
                }
                "window" => {
                    self.scan.wants("=")?;
                    self.scan.wants("{")?;
                    self.window(&mut draft.attributes)?;
                }
                _ => return self.scan.broken("dim_numbers or window is wanted here"),
            }
            if !self.scan.takes(",") {
                break;
            }
        }
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    fn window(&mut self, into: &mut Attributes<'m>) -> Parsed<()> {
        if self.scan.takes("}") {
            return Ok(());
        }
        loop {
            let key = match self.scan.word() {
                "stride" => "window_strides",
                "pad" => "padding",
                "lhs_dilate" => "lhs_dilation",
                "rhs_dilate" => "rhs_dilation",
                "reverse" => "window_reversal",
                _ => return self.scan.broken("a property of a window is wanted here"),
            };
            self.scan.wants("=")?;
            let mut values = Vec::new();
            self.integers(&mut values)?;
            self.add(into, key, Attribute::Ints(values))?;
            if self.scan.takes("}") {
                return Ok(());
            }
            self.scan.wants(",")?;
        }
    }

    /// `while(%a = %0, %b = %1) : …, … attributes {…} cond {…} do {…}`.
    pub(super) fn while_loop(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        self.scan.wants("(")?;
        let mut names = Vec::new();
        if !self.scan.takes(")") {
            loop {
                self.scan.charge(16)?;
                names.push(self.value_name()?);
                self.scan.wants("=")?;
                draft.operands.push(self.operand()?);
                if self.scan.takes(")") {
                    break;
                }
                self.scan.wants(",")?;
            }
        }
        let mut types = Vec::new();
        if self.scan.sees(":") {
            let Suffix { at, types: given, .. } = self.suffix()?;
            self.check_types(&draft.operands, &given, at)?;
            types = given;
        }
        if types.len() != names.len() {
            return self.scan.broken("the types of a loop's values are wanted here");
        }
        if self.scan.takes_word("attributes") {
            self.dictionary(&mut draft.attributes)?;
        }
        for keyword in ["cond", "do"] {
            if !self.scan.takes_word(keyword) {
                return self.scan.broken(format!("\"{keyword}\" is wanted here"));
            }
            let arguments = names.iter().copied().zip(types.iter().cloned()).collect();
            draft.regions.push(self.region(arguments)?);
        }
        draft.results = types;
        Ok(draft)
    }

    /// `reduce(%0 init: %1), (%2 init: %3) across dimensions = [1] : (…) -> … reducer(%a: …, %b: …) (%c: …, %d: …) {…}`, or with
    /// `applies stablehlo.add` instead of the region.
    pub(super) fn reduce(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        let mut initial = Vec::new();
        loop {
            self.scan.wants("(")?;
            draft.operands.push(self.operand()?);
            if !self.scan.takes_word("init") {
                return self.scan.broken("\"init\" is wanted here");
            }
            self.scan.wants(":")?;
            initial.push(self.operand()?);
            self.scan.wants(")")?;
            if !self.scan.takes(",") {
                break;
            }
        }
        let count = initial.len();
        let first = initial.first().copied();
        draft.operands.extend(initial);
        let at = self.scan.at();
        let applied = match self.scan.takes_word("applies") {
            true => Some(self.scan.word()),
            false => None,
        };
        if !self.scan.takes_word("across") || !self.scan.takes_word("dimensions") {
            return self.scan.broken("\"across dimensions\" is wanted here");
        }
        self.scan.wants("=")?;
        let mut dimensions = Vec::new();
        self.integers(&mut dimensions)?;
        self.add(&mut draft.attributes, "dimensions", Attribute::Ints(dimensions))?;
        self.dictionary(&mut draft.attributes)?;
        let mut draft = self.finish(draft)?;
        let region = match applied {
            None => self.reducer(count)?,
            Some(_) if count != 1 => {
                return self.scan.broken_at(at, "an operation is applied to several operands");
            }
            Some(operation) => {
                let ty = first.and_then(|value| self.types.get(value.0)).cloned().unwrap_or(Type::Other);
                self.applied(operation, ty, at)?
            }
        };
        draft.regions.push(region);
        Ok(draft)
    }

    /// The region of an operation that is applied.
    fn applied(&mut self, operation: &'m str, ty: Type, at: usize) -> Parsed<Region<'m>> {
        if !operation.contains('.') {
            return self.scan.broken_at(at, "the name of an operation is wanted behind \"applies\"");
        }
        let mut value = || self.new_value(ty.clone());
        let (left, right, result) = (value()?, value()?, value()?);
        let line = self.scan.line(at);
        self.scan.charge(2 * size_of::<Operation<'_>>())?;
        let place = || Cow::Owned(format!("line {line}"));
        let operation = Operation {
            name: canonical_name(operation.into()),
            operands: vec![left, right],
            results: vec![result],
            place: place(),
            ..Operation::default()
        };
        let end = Operation {
            name: "stablehlo.return".into(),
            operands: vec![result],
            place: place(),
            ..Operation::default()
        };
        Ok(Region { arguments: vec![left, right], operations: vec![operation, end] })
    }

    /// The region of a reduction behind its types: a pair of arguments for each operand.
    fn reducer(&mut self, count: usize) -> Parsed<Region<'m>> {
        if !self.scan.takes_word("reducer") {
            return self.scan.broken("\"reducer\" is wanted here");
        }
        let (mut arguments, mut elements) = (Vec::new(), Vec::new());
        for _ in 0..count {
            self.scan.wants("(")?;
            for (list, behind) in [(&mut arguments, ","), (&mut elements, ")")] {
                self.scan.space();
                let name = self.value_name()?;
                self.scan.wants(":")?;
                let ty = self.ty()?;
                self.location()?;
                self.scan.wants(behind)?;
                list.push((name, ty));
            }
        }
        arguments.extend(elements);
        self.region(arguments)
    }
}
