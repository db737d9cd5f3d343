//! The operation of StableHLO that an instruction is, with its attributes.

use super::emit::{Draft, Emitter};
use super::Instruction;
use crate::stablehlo::module::{Attribute, Attributes, Element, Tensor, Type};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// Attributes that say nothing of what is computed.
const SILENT: &[&str] = &[
    "backend_config",
    "calls",
    "control-predecessors",
    "frontend_attributes",
    "literal",
    "metadata",
    "origin",
    "original_value",
    "scatter",
    "select",
    "sharding",
    "statistics",
    "to_apply",
];

/// The operation with that name, where it is not `stablehlo` and the name with `_` for `-`.
fn other_name(opcode: &str) -> Option<&'static str> {
    Some(match opcode {
        "broadcast" => "stablehlo.broadcast_in_dim",
        "dot" => "stablehlo.dot_general",
        "erf" => "chlo.erf",
        "topk" => "chlo.top_k",
        "acos" => "chlo.acos",
        "acosh" => "chlo.acosh",
        "asin" => "chlo.asin",
        "asinh" => "chlo.asinh",
        "atanh" => "chlo.atanh",
        "cosh" => "chlo.cosh",
        "sinh" => "chlo.sinh",
        _ => return None,
    })
}

impl<'m> Emitter<'_, 'm> {
    /// Names the operation of an instruction and adds its attributes.
    pub(super) fn describe(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let opcode = instruction.opcode;
        draft.name = match other_name(opcode) {
            Some(name) => name.into(),
            None => Cow::Owned(format!("stablehlo.{}", opcode.replace('-', "_"))),
        };
        self.scan.charge(draft.name.len())?;
        match opcode {
            "broadcast" => self.dimensions(instruction, draft, "broadcast_dimensions"),
            "transpose" => self.dimensions(instruction, draft, "permutation"),
            "reverse" | "reduce" | "map" => self.dimensions(instruction, draft, "dimensions"),
            "concatenate" | "get-dimension-size" | "set-dimension-size" => self.dimension(instruction, draft),
            "sort" => {
                self.dimension(instruction, draft)?;
                self.truth(instruction, draft, "is_stable")
            }
            "iota" => {
                let dimension = self.integer_of(instruction, "iota_dimension")?;
                self.add(draft, "iota_dimension", Attribute::Int(dimension))
            }
            "compare" => self.compare(instruction, draft),
            "slice" => self.slice(instruction, draft),
            "pad" => self.padding(instruction, draft),
            "dynamic-slice" => {
                let sizes = self.integers_of(instruction, "dynamic_slice_sizes")?;
                self.add(draft, "slice_sizes", Attribute::Ints(sizes))
            }
            "dot" => self.dot(instruction, draft),
            "convolution" => {
                self.labels(instruction, draft)?;
                self.window_of_convolution(instruction, draft)?;
                for key in ["feature_group_count", "batch_group_count"] {
                    let count = match instruction.attribute(key) {
                        Some(_) => self.integer_of(instruction, key)?,
                        None => 1,
                    };
                    self.add(draft, key, Attribute::Int(count))?;
                }
                self.precision(instruction, draft)
            }
            "reduce-window" | "select-and-scatter" => self.window_of_reduction(instruction, draft),
            "gather" => {
                let keys = [
                    "offset_dims",
                    "collapsed_slice_dims",
                    "operand_batching_dims",
                    "start_indices_batching_dims",
                    "start_index_map",
                ];
                self.numbers_of_dimensions(instruction, draft, "dimension_numbers", &keys)?;
                self.truth(instruction, draft, "indices_are_sorted")?;
                let sizes = self.integers_of(instruction, "slice_sizes")?;
                self.add(draft, "slice_sizes", Attribute::Ints(sizes))
            }
            "scatter" => {
                let keys = [
                    "update_window_dims",
                    "inserted_window_dims",
                    "input_batching_dims",
                    "scatter_indices_batching_dims",
                    "scatter_dims_to_operand_dims",
                ];
                self.numbers_of_dimensions(instruction, draft, "scatter_dimension_numbers", &keys)?;
                self.truth(instruction, draft, "indices_are_sorted")?;
                self.truth(instruction, draft, "unique_indices")
            }
            "fft" => {
                let kind = self.word_of(instruction, "fft_type");
                self.add(draft, "fft_type", Attribute::Text(Cow::Borrowed(kind)))?;
                let length = self.integers_of(instruction, "fft_length")?;
                self.add(draft, "fft_length", Attribute::Ints(length))
            }
            "rng" => {
                let distribution = self.word_of(instruction, "distribution").trim_start_matches("rng_");
                let distribution = Cow::Owned(distribution.to_ascii_uppercase());
                self.add(draft, "rng_distribution", Attribute::Text(distribution))
            }
            "rng-bit-generator" => {
                let algorithm = self.word_of(instruction, "algorithm").trim_start_matches("rng_");
                let algorithm = Cow::Owned(algorithm.to_ascii_uppercase());
                self.add(draft, "rng_algorithm", Attribute::Text(algorithm))
            }
            "topk" => {
                let count = self.integer_of(instruction, "k")?;
                self.add(draft, "k", Attribute::Int(count))?;
                // The operation of StableHLO takes the greatest.
                match instruction.attribute("largest") {
                    Some(_) if !self.truth_of(instruction, "largest") => {
                        self.add(draft, "largest", Attribute::Bool(false))
                    }
                    _ => Ok(()),
                }
            }
            _ => {
                for &(key, at) in &instruction.attributes {
                    if !SILENT.contains(&key) {
                        let key = if key == "custom_call_target" { "call_target_name" } else { key };
                        let value = self.any(at)?;
                        self.add(draft, key, value)?;
                    }
                }
                Ok(())
            }
        }
    }

    /// The attribute `dimensions` under another name.
    fn dimensions(
        &mut self,
        instruction: &Instruction<'m>,
        draft: &mut Draft<'m>,
        key: &'m str,
    ) -> Parsed<()> {
        let dimensions = self.integers_of(instruction, "dimensions")?;
        self.add(draft, key, Attribute::Ints(dimensions))
    }

    /// The attribute `dimensions` of an operation with one.
    fn dimension(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        match self.integers_of(instruction, "dimensions")?[..] {
            [dimension] => self.add(draft, "dimension", Attribute::Int(dimension)),
            _ => self.scan.broken_at(instruction.at, format!("{} has not one dimension", instruction.name)),
        }
    }

    fn truth(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>, key: &'m str) -> Parsed<()> {
        let is_true = self.truth_of(instruction, key);
        self.add(draft, key, Attribute::Bool(is_true))
    }

    fn compare(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let direction = self.word_of(instruction, "direction");
        self.add(draft, "comparison_direction", Attribute::Text(Cow::Borrowed(direction)))?;
        let operand = draft.operands.first().map(|operand| self.ty(*operand));
        let kind = match (self.word_of_type(operand), self.word_of(instruction, "type")) {
            (kind, "") => kind,
            (_, given) => given,
        };
        self.add(draft, "compare_type", Attribute::Text(Cow::Borrowed(kind)))
    }

    /// How numbers of a type are compared.
    fn word_of_type(&self, ty: Option<&Type>) -> &'static str {
        match ty {
            Some(Type::Tensor(Tensor { element, .. })) => match element {
                Element::Bool | Element::Unsigned(_) => "UNSIGNED",
                Element::Signed(_) => "SIGNED",
                _ => "FLOAT",
            },
            _ => "FLOAT",
        }
    }

    /// `slice={[0:2], [1:9:3]}`.
    fn slice(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(at) = instruction.attribute("slice") {
            self.scan.jump(at);
            self.scan.wants("{")?;
            self.scan.list("}", |scan| {
                scan.charge(24)?;
                scan.wants("[")?;
                starts.push(scan.integer()?);
                scan.wants(":")?;
                limits.push(scan.integer()?);
                strides.push(if scan.takes(":") { scan.integer()? } else { 1 });
                scan.wants("]")
            })?;
        }
        self.add(draft, "start_indices", Attribute::Ints(starts))?;
        self.add(draft, "limit_indices", Attribute::Ints(limits))?;
        self.add(draft, "strides", Attribute::Ints(strides))
    }

    fn dot(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let mut parts = Attributes::default();
        for (key, name) in [
            ("lhs_batch_dims", "lhs_batching_dimensions"),
            ("rhs_batch_dims", "rhs_batching_dimensions"),
            ("lhs_contracting_dims", "lhs_contracting_dimensions"),
            ("rhs_contracting_dims", "rhs_contracting_dimensions"),
        ] {
            let dimensions = self.integers_of(instruction, key)?;
            if !dimensions.is_empty() {
                self.add_to(&mut parts, name, Attribute::Ints(dimensions))?;
            }
        }
        self.add(draft, "dot_dimension_numbers", Attribute::Parts(parts))?;
        self.precision(instruction, draft)
    }

    /// `operand_precision={highest,highest}`.
    fn precision(&mut self, instruction: &Instruction<'m>, draft: &mut Draft<'m>) -> Parsed<()> {
        let mut precisions = Vec::new();
        if let Some(at) = instruction.attribute("operand_precision") {
            self.scan.jump(at);
            self.scan.wants("{")?;
            self.scan.list("}", |scan| {
                let precision = Cow::Owned(scan.word().to_ascii_uppercase());
                scan.charge(2 * size_of::<Attribute<'_>>())?;
                precisions.push(Attribute::Text(precision));
                Ok(())
            })?;
        }
        match precisions.is_empty() {
            true => Ok(()),
            false => self.add(draft, "precision_config", Attribute::List(precisions)),
        }
    }

    /// The dimensions of a gather or scatter, with `index_vector_dim`.
    fn numbers_of_dimensions(
        &mut self,
        instruction: &Instruction<'m>,
        draft: &mut Draft<'m>,
        key: &'m str,
        keys: &[&'static str],
    ) -> Parsed<()> {
        let mut parts = Attributes::default();
        for &name in keys {
            let dimensions = self.integers_of(instruction, name)?;
            if !dimensions.is_empty() {
                self.add_to(&mut parts, name, Attribute::Ints(dimensions))?;
            }
        }
        let index = self.integer_of(instruction, "index_vector_dim")?;
        self.add_to(&mut parts, "index_vector_dim", Attribute::Int(index))?;
        self.add(draft, key, Attribute::Parts(parts))
    }
}
