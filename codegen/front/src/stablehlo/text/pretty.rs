//! Operations in their pretty form: `stablehlo.pad %0, %1, low = [1], high = [0], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<3xf32>`.
//!
//! Most are operands and clauses, an attribute each, and a type behind them. Clauses have other names than the attributes.

use super::operations::Draft;
use super::Reader;
use crate::stablehlo::module::{Attribute, Attributes, Type, Value};
use crate::stablehlo::scanner::Parsed;
use std::borrow::Cow;

/// The attribute that a clause of an operation is.
fn attribute_of_clause<'m>(operation: &str, clause: &'m str) -> &'m str {
    match (operation, clause) {
        ("stablehlo.transpose", "dims") => "permutation",
        ("stablehlo.reverse", "dims") => "dimensions",
        (_, "dims") => "broadcast_dimensions",
        ("stablehlo.iota" | "stablehlo.dynamic_iota", "dim") => "iota_dimension",
        (_, "dim") => "dimension",
        ("stablehlo.broadcast", "sizes") => "broadcast_sizes",
        (_, "sizes") => "slice_sizes",
        (_, "low") => "edge_padding_low",
        (_, "high") => "edge_padding_high",
        (_, "interior") => "interior_padding",
        (_, "precision") => "precision_config",
        ("stablehlo.rng_bit_generator", "algorithm") => "rng_algorithm",
        (_, "distribution") => "rng_distribution",
        ("stablehlo.fft", "type") => "fft_type",
        ("stablehlo.fft", "length") => "fft_length",
        (_, "config") => "einsum_config",
        _ => clause,
    }
}

/// The name of an operation in StableHLO, where it has that of the older dialect MHLO.
pub(super) fn canonical_name(name: Cow<'_, str>) -> Cow<'_, str> {
    match name.strip_prefix("mhlo.") {
        None => name,
        Some("erf") => "chlo.erf".into(),
        Some("topk") => "chlo.top_k".into(),
        Some(rest) => format!("stablehlo.{rest}").into(),
    }
}

/// The attributes of an operation that are words without a name.
fn words_of(operation: &str) -> &'static [&'static str] {
    match operation {
        "stablehlo.compare" | "chlo.compare" | "chlo.broadcast_compare" => {
            &["comparison_direction", "compare_type"]
        }
        _ => &[],
    }
}

/// The types behind an operation: those of its operands or of all its values, and those of its results behind an arrow.
pub(super) struct Suffix {
    pub(super) at: usize,
    pub(super) types: Vec<Type>,
    pub(super) results: Option<Vec<Type>>,
}

impl<'m> Reader<'m> {
    /// Reads an operation whose name has been read, at that place.
    pub(super) fn pretty(&mut self, name: &'m str, at: usize) -> Parsed<Draft<'m>> {
        let name = match name.split_once('.') {
            // Inside of functions, their dialect need not be named.
            None if name == "call" => "func.call".into(),
            None if name == "return" => "func.return".into(),
            Some(("stablehlo" | "chlo" | "func" | "mhlo", _)) => canonical_name(name.into()),
            _ => {
                let what = format!("{name} is no operation of StableHLO");
                return self.scan.unsupported(at, what, "export the model as StableHLO alone");
            }
        };
        let draft = Draft::named(name);
        match &*draft.name {
            "func.call" => self.call(draft),
            "stablehlo.constant" => self.constant(draft),
            "stablehlo.reduce" => self.reduce(draft),
            "stablehlo.while" => self.while_loop(draft),
            "stablehlo.convolution" | "stablehlo.dynamic_conv" => self.convolution(draft),
            "stablehlo.slice" => self.slice(draft),
            "stablehlo.custom_call" => self.custom_call(draft),
            "stablehlo.composite" => self.composite(draft),
            "stablehlo.get_tuple_element" => self.tuple_element(draft),
            _ => self.plain(draft),
        }
    }

    /// Operands and clauses.
    fn plain(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        let is_in_brackets = self.scan.takes("(");
        self.clauses(&mut draft)?;
        if is_in_brackets {
            self.scan.wants(")")?;
        }
        if self.scan.takes("<") {
            self.dictionary(&mut draft.attributes)?;
            self.scan.wants(">")?;
        }
        self.dictionary(&mut draft.attributes)?;
        self.finish(draft)
    }

    /// Operands, words and clauses with commas between them.
    fn clauses(&mut self, draft: &mut Draft<'m>) -> Parsed<()> {
        let mut words = words_of(&draft.name).iter();
        let mut dots = Attributes::default();
        let is_dot = draft.name == "stablehlo.dot_general" || draft.name == "chlo.ragged_dot";
        loop {
            let at = self.scan.at();
            if self.scan.sees("%") {
                let operand = self.operand()?;
                draft.operands.push(operand);
            } else {
                let word = self.scan.word();
                match (word, self.scan.takes("=")) {
                    ("", _) => break,
                    (_, false) => {
                        let Some(&key) = words.next() else {
                            return self.scan.broken_at(at, format!("{word} says nothing here"));
                        };
                        self.add(&mut draft.attributes, key, Attribute::Text(Cow::Borrowed(word)))?;
                    }
                    ("batching_dims" | "contracting_dims", true) if is_dot => {
                        self.pair_of_dimensions(word == "batching_dims", &mut dots)?;
                    }
                    ("format", true) if draft.name == "stablehlo.reduce_precision" => {
                        self.format_of_floats(&mut draft.attributes)?;
                    }
                    (clause, true) => {
                        let key = attribute_of_clause(&draft.name, clause);
                        let value = match self.part()? {
                            Attribute::Ints(none) if clause == "precision" && none.is_empty() => {
                                Attribute::List(Vec::new())
                            }
                            value => value,
                        };
                        self.add(&mut draft.attributes, key, value)?;
                    }
                }
            }
            if !self.scan.takes(",") {
                break;
            }
        }
        if is_dot {
            // In the order of the attribute.
            dots.0.sort_by_key(|(key, _)| !key.contains("batching"));
            self.add(&mut draft.attributes, "dot_dimension_numbers", Attribute::Parts(dots))?;
        }
        Ok(())
    }

    /// `[0, 1] x [0, 1]`: dimensions of both operands of a dot product. What is empty is not kept, as in the attribute.
    fn pair_of_dimensions(&mut self, are_batching: bool, into: &mut Attributes<'m>) -> Parsed<()> {
        let keys = match are_batching {
            true => ["lhs_batching_dimensions", "rhs_batching_dimensions"],
            false => ["lhs_contracting_dimensions", "rhs_contracting_dimensions"],
        };
        for key in keys {
            if key.starts_with("rhs") {
                self.scan.wants("x")?;
            }
            let mut dimensions = Vec::new();
            self.integers(&mut dimensions)?;
            if !dimensions.is_empty() {
                self.add(into, key, Attribute::Ints(dimensions))?;
            }
        }
        Ok(())
    }

    /// `e5m10`.
    fn format_of_floats(&mut self, into: &mut Attributes<'m>) -> Parsed<()> {
        let at = self.scan.at();
        let parts = self.scan.word().strip_prefix('e').and_then(|word| word.split_once('m'));
        let numbers = parts.and_then(|(first, second)| Some((first.parse().ok()?, second.parse().ok()?)));
        let Some((exponent, mantissa)) = numbers else {
            return self.scan.broken_at(at, "a format such as e5m10 is wanted here");
        };
        self.add(into, "exponent_bits", Attribute::Int(exponent))?;
        self.add(into, "mantissa_bits", Attribute::Int(mantissa))
    }

    /// The types behind an operation.
    pub(super) fn suffix(&mut self) -> Parsed<Suffix> {
        self.scan.wants(":")?;
        self.scan.space();
        let at = self.scan.at();
        let mut types = Vec::new();
        if self.scan.sees("(") {
            types = self.types_in_brackets()?;
        } else {
            loop {
                types.push(self.ty()?);
                if !self.scan.takes(",") {
                    break;
                }
            }
        }
        let results = match self.scan.takes("->") {
            false => None,
            true if self.scan.sees("(") => Some(self.types_in_brackets()?),
            true => Some(vec![self.ty()?]),
        };
        Ok(Suffix { at, types, results })
    }

    /// Reads the types behind an operation: its results are of them.
    pub(super) fn finish(&mut self, mut draft: Draft<'m>) -> Parsed<Draft<'m>> {
        // What returns nothing needs no types.
        if draft.name.ends_with(".return") && draft.operands.is_empty() && !self.scan.sees(":") {
            return Ok(draft);
        }
        let Suffix { at, mut types, results } = self.suffix()?;
        if let Some(results) = results {
            self.check_types(&draft.operands, &types, at)?;
            draft.results = results;
            return Ok(draft);
        }
        match (&*draft.name, types.len()) {
            (name, _) if name.ends_with(".return") => self.check_types(&draft.operands, &types, at)?,
            // Only the result's type is written.
            ("stablehlo.tuple" | "stablehlo.complex", 1) => draft.results = types,
            ("stablehlo.select", 2) => {
                let branch = types.pop().unwrap_or(Type::Other);
                types.extend([branch.clone(), branch.clone()]);
                self.check_types(&draft.operands, &types, at)?;
                draft.results.push(branch);
            }
            (_, 1) => {
                let is_other = |operand: &Value| self.types.get(operand.0) != types.first();
                if let Some(index) = draft.operands.iter().position(is_other) {
                    let what = format!("operand {index} has another type where it is defined");
                    return self.scan.broken_at(at, what);
                }
                draft.results = types;
            }
            _ => {
                self.check_types(&draft.operands, &types, at)?;
                draft.results = types;
            }
        }
        Ok(draft)
    }
}
