//! Calls of ATen operators: nodes, which are lowered at once.

use super::call::Named;
use super::{Machine, Value, NODE_STEPS};
use crate::torch::lower::{makes_views, results, Sharing, Target, OPERATOR_BYTES};
use crate::torch::pickle::scalar_type;
use crate::torch::program::{self, Arg, Node, SymInt};
use crate::torch::script::code::Place;
use crate::torch::script::schema::{overloads, Kind, Results, Schema};
use crate::torch::script::short;
use crate::torch::script::types::{declared, wanted as wanted_type, Operand, KEEPING};
use crate::{Lowered, Refusal};
use kiln_ir::DType;

/// Most results of one operator.
const MOST_RESULTS: usize = 1024;

/// Arguments whose types decide what the result's is.
const OPERANDS: &[&str] = &[
    "self",
    "other",
    "tensors",
    "min",
    "max",
    "exponent",
    "tensor1",
    "tensor2",
    "end",
    "start",
    "step",
    "fill_value",
    "s",
];

/// Operators that give their first operand itself.
const SAME: &[&str] =
    &["alias", "conj", "detach", "lift", "lift_fresh", "positive", "real", "resolve_conj", "resolve_neg"];

/// Views that cannot be computed again, or written into.
const OTHER_VIEWS: &[&str] = &[
    "as_strided",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_tensors",
    "broadcast_to",
    "diagonal",
    "expand_as",
    "hsplit",
    "dsplit",
    "vsplit",
    "mT",
    "adjoint",
    "matrix_H",
    "numpy_T",
    "ravel",
    "reshape_as",
    "tensor_split",
    "unfold",
];

/// Views of some elements, along an axis.
const PARTS: &[&str] = &["chunk", "narrow", "select", "slice", "split", "split_with_sizes", "unbind"];

/// Other views that the lowering knows.
const TURNED: &[&str] =
    &["expand", "moveaxis", "movedim", "permute", "swapaxes", "swapdims", "t", "transpose"];

/// Operators whose results lie densely, however their operands lie.
const DENSE: &[&str] = &[
    "addmm",
    "arange",
    "baddbmm",
    "bmm",
    "embedding",
    "eye",
    "full",
    "gru",
    "layer_norm",
    "linear",
    "lstm",
    "matmul",
    "mm",
    "ones",
    "rms_norm",
    "scalar_tensor",
    "stack",
    "zeros",
];

impl<'p> Machine<'_, 'p> {
    /// Calls an operator. `wanted` says which results are read; all where it is empty.
    pub(super) fn aten(
        &mut self,
        name: &'p str,
        given: Vec<Value<'p>>,
        named: Named<'p>,
        wanted: &[bool],
    ) -> Lowered<Value<'p>> {
        let target = format!("torch.ops.aten.{}.", short(name));
        let plain = Target::of(&target).name.to_owned();
        let in_place = Target::of(&target).in_place;
        let known = overloads(&plain).find(|schema| self.fits(schema, &given, &named));
        let Some(schema) = known else {
            return Err(match overloads(&plain).next() {
                Some(_) => {
                    let kinds: Vec<&str> = given.iter().map(|&value| self.kind(value)).collect();
                    malformed!("{} does not take {}", short(name), kinds.join(", "))
                }
                None => {
                    let what = format!("the operator aten::{} cannot be compiled", short(name));
                    Refusal::unsupported(what, crate::refusal::REPLACE)
                }
            });
        };
        let mut arguments: Named<'p> = schema.arguments.iter().map(|(name, _)| *name).zip(given).collect();
        arguments.extend(named);
        let is_off =
            |name: &str| arguments.iter().any(|(own, value)| *own == name && *value == Value::Bool(false));
        let is_itself = SAME.contains(&plain.as_str())
            || (plain.ends_with("dropout") && is_off("train"))
            || (plain == "to" && self.is_no_cast(&arguments));
        if let (true, Some(&(_, first))) = (is_itself, arguments.first()) {
            return Ok(first);
        }
        self.infer_inputs(&plain, &arguments)?;
        if in_place {
            self.outside_of_branches()?;
        }
        let overload = self.overload(&plain, &arguments);
        let dtype = self.declared(&plain, in_place, &arguments)?;
        let base = name.trim_start_matches('_');
        let outputs = match schema.results {
            Results::Count(count) => {
                let mut outputs = Vec::new();
                for _ in 0..count {
                    outputs.push(Arg::Tensor(self.fresh_name(&short(base))?.to_owned()));
                }
                outputs
            }
            Results::List => {
                let mut all = Vec::new();
                for _ in 0..self.parts(&plain, &arguments)? {
                    all.push(self.fresh_name(&short(base))?.to_owned());
                }
                vec![Arg::Tensors(all)]
            }
        };
        let mut inputs = Vec::new();
        for &(name, value) in &arguments {
            let arg = match (name, self.argument(value)?) {
                ("dtype", Arg::Int(number)) => Arg::Dtype(scalar_type(number)),
                (_, arg) => arg,
            };
            inputs.push(program::Named { name: name.to_owned(), arg });
        }
        let module = self.modules.last().map(|module| (short(module.path), short(module.class)));
        let line = self.place.map(Place::shown);
        let target = format!("{target}{overload}");
        let node = Node { target, inputs, outputs, dtype, module, line };
        self.run_node(&plain, node, schema.results, wanted)
    }

    /// Adds a node and lowers it.
    fn run_node(&mut self, plain: &str, node: Node, kind: Results, wanted: &[bool]) -> Lowered<Value<'p>> {
        self.spend(NODE_STEPS)?;
        // Loops and calls make many nodes of little code.
        if !self.importer.means.budget.inline(1) {
            let what = "its code calls too many operators";
            return Err(Refusal::unsupported(what, "use fewer passes of loops: all of them are unrolled"));
        }
        self.importer.means.budget.charge(OPERATOR_BYTES / 2)?;
        let node: &'p Node = self.ground.nodes.add(node);
        let target = Target::of(&node.target);
        let names = results(node);
        for (k, &name) in names.iter().enumerate() {
            if wanted.get(k).copied().unwrap_or(true) {
                self.importer.read.insert(name);
            }
        }
        let first = node.inputs.first().and_then(|input| match &input.arg {
            Arg::Tensor(name) => Some(name.as_str()),
            _ => None,
        });
        let is_dense = first.is_some_and(|first| self.dense.contains(first));
        let sharing = match plain {
            _ if OTHER_VIEWS.contains(&plain) => Sharing::Unsure,
            "contiguous" | "flatten" | "reshape" if !is_dense => Sharing::Unsure,
            _ if makes_views(plain) => Sharing::View,
            _ => Sharing::Nothing,
        };
        self.importer.aliases.add(self.index, node, sharing);
        self.importer.node(self.index, node)?;
        self.index += 1;
        if let (true, Some(first)) = (target.in_place, first) {
            let root = self.importer.aliases.root(first);
            if let Some(&path) = self.of_weights.get(root) {
                self.found.states.insert(path.to_owned());
            }
        }
        self.note_layout(plain, node, is_dense);
        self.note_inputs(plain, node);
        match (kind, names.as_slice()) {
            (Results::Count(1), &[name]) => Ok(Value::Tensor(name)),
            (Results::Count(_), names) => self.tuple(names.iter().copied().map(Value::Tensor).collect()),
            (Results::List, names) => self.list(names.iter().copied().map(Value::Tensor).collect()),
        }
    }

    fn fits(&self, schema: &Schema, given: &[Value<'p>], named: &Named<'p>) -> bool {
        let is_of = |kind: Kind, value: Value<'p>| {
            if value == Value::None {
                return !matches!(kind, Kind::Tensor | Kind::Tensors | Kind::Number);
            }
            let first = self.slice_of(value).map(|items| items.first().copied());
            match kind {
                Kind::Any => true,
                Kind::Tensor => matches!(value, Value::Tensor(_)),
                Kind::Tensors => matches!(first, Some(None | Some(Value::Tensor(_)))),
                Kind::Int => matches!(value, Value::Int(_) | Value::Scalar(_)),
                Kind::Ints => {
                    matches!(first, Some(None | Some(Value::Int(_) | Value::Scalar(_) | Value::Float(_))))
                }
                Kind::Number => matches!(value, Value::Int(_) | Value::Float(_) | Value::Scalar(_)),
                Kind::Truth => matches!(value, Value::Bool(_)),
                Kind::Text => matches!(value, Value::Text(_)),
            }
        };
        let places = given.len() <= schema.places
            && given.iter().zip(&schema.arguments).all(|(&value, &(_, kind))| is_of(kind, value));
        places
            && named.iter().all(|&(name, value)| {
                schema.arguments.iter().any(|&(own, kind)| own == name && is_of(kind, value))
            })
    }

    /// A value as an argument of a node.
    fn argument(&mut self, value: Value<'p>) -> Lowered<Arg> {
        Ok(match value {
            Value::None => Arg::None,
            Value::Bool(truth) => Arg::Bool(truth),
            Value::Int(number) => Arg::Int(number),
            Value::Float(number) => Arg::Float(number),
            Value::Text(text) => Arg::Text(text.to_owned()),
            Value::Tensor(name) => Arg::Tensor(name.to_owned()),
            Value::Scalar(name) => Arg::Computed(name.to_owned()),
            Value::List(_) | Value::Tuple(_) => return self.list_argument(value),
            Value::Unset | Value::Dict(_) | Value::Object(_) => {
                return Err(malformed!("{} is no argument of an operator", self.kind(value)))
            }
        })
    }

    fn list_argument(&mut self, value: Value<'p>) -> Lowered<Arg> {
        let items = self.items(value)?;
        let all = |is: fn(&Value<'p>) -> bool| items.iter().all(is);
        self.importer.means.budget.charge(32 * items.len())?;
        if all(|item| matches!(item, Value::Tensor(_))) && !items.is_empty() {
            let name = |item: &Value<'p>| match *item {
                Value::Tensor(name) => name.to_owned(),
                _ => String::new(),
            };
            return Ok(Arg::Tensors(items.iter().map(name).collect()));
        }
        if all(|item| matches!(item, Value::Tensor(_) | Value::None)) && !items.is_empty() {
            let name = |item: &Value<'p>| match *item {
                Value::Tensor(name) => Some(name.to_owned()),
                _ => None,
            };
            return Ok(Arg::OptionalTensors(items.iter().map(name).collect()));
        }
        if all(|item| matches!(item, Value::Int(_) | Value::Bool(_) | Value::Scalar(_))) {
            let number = |item: &Value<'p>| match *item {
                Value::Int(number) => SymInt::Known(number),
                Value::Bool(truth) => SymInt::Known(truth.into()),
                Value::Scalar(name) => SymInt::Named(name.to_owned()),
                _ => SymInt::Known(0),
            };
            return Ok(Arg::Ints(items.iter().map(number).collect()));
        }
        // A size may be a tensor of one number.
        if all(|item| matches!(item, Value::Int(_) | Value::Scalar(_) | Value::Tensor(_))) {
            let number = |item: &Value<'p>| match *item {
                Value::Int(number) => SymInt::Known(number),
                Value::Tensor(name) | Value::Scalar(name) => SymInt::Named(name.to_owned()),
                _ => SymInt::Known(0),
            };
            return Ok(Arg::Ints(items.iter().map(number).collect()));
        }
        let floats: Option<Vec<f64>> = items.iter().map(|&item| self.number(item)).collect();
        floats
            .map(Arg::Floats)
            .ok_or_else(|| malformed!("a list of several kinds is no argument of an operator"))
    }

    /// The name of an overload, where the lowering looks at it.
    fn overload(&self, name: &str, arguments: &Named<'p>) -> &'static str {
        let given = |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        match name {
            "split" if given("split_sizes").is_some() => "sizes",
            "repeat_interleave" if matches!(given("repeats"), Some(Value::Tensor(_))) => "self_Tensor",
            _ => "default",
        }
    }

    /// Whether a cast gives the tensor itself.
    fn is_no_cast(&self, arguments: &Named<'p>) -> bool {
        let of = |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let Some(Value::Tensor(x)) = of("self") else { return false };
        let copies =
            of("copy") == Some(Value::Bool(true)) || of("memory_format").is_some_and(|f| f != Value::None);
        let own = self.importer.ty(x).map(|ty| super::text::number_of(ty.dtype));
        match (of("dtype"), of("other")) {
            _ if copies => false,
            (Some(Value::Int(number)), _) => own.is_ok_and(|own| own == number),
            (_, Some(Value::Tensor(other))) => {
                let other = self.importer.ty(other).map(|ty| super::text::number_of(ty.dtype));
                matches!((own, other), (Ok(own), Ok(other)) if own == other && own != 6)
            }
            (None | Some(Value::None), None) => true,
            _ => false,
        }
    }

    /// The element type of the first result, where it does not follow from what the operands become.
    fn declared(&mut self, name: &str, in_place: bool, arguments: &Named<'p>) -> Lowered<Option<DType>> {
        if let (true, Some(&(_, Value::Tensor(first)))) = (in_place, arguments.first()) {
            return Ok(self.importer.ty(first).ok().map(|ty| ty.dtype));
        }
        let mut operands = Vec::new();
        for &(argument, value) in arguments.iter().filter(|(name, _)| OPERANDS.contains(name)) {
            let values = match self.slice_of(value) {
                Some(items) => items.to_vec(),
                None => vec![value],
            };
            self.spend(values.len() / 8)?;
            for value in values {
                let number = |dtype| Some(Operand { dtype, has_axes: false, is_number: true });
                operands.extend(match value {
                    Value::Tensor(name) => {
                        let ty = self.importer.ty(name)?;
                        let has_axes = !ty.shape.dims().is_empty() || argument == "tensors";
                        Some(Operand { dtype: ty.dtype, has_axes, is_number: false })
                    }
                    Value::Scalar(name) => number(self.importer.ty(name)?.dtype),
                    Value::Float(_) => number(DType::F32),
                    Value::Int(_) => number(DType::I64),
                    Value::Bool(_) => number(DType::Bool),
                    _ => None,
                });
            }
        }
        let of = |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        let asked = match (of("dtype"), of("other")) {
            (Some(Value::Int(number)), _) => Some(number),
            (_, Some(Value::Tensor(other))) if name == "to" => {
                Some(super::text::number_of(self.importer.ty(other)?.dtype))
            }
            _ => None,
        };
        let is_true_division =
            matches!(name, "div" | "divide") && !matches!(of("rounding_mode"), Some(Value::Text(_)));
        match declared(name, asked, &operands) {
            Some(_) if is_true_division => Ok(Some(DType::F32)),
            // Of full, a whole number makes integers of 64 bits.
            other => Ok(other),
        }
    }

    /// How many parts an operator gives.
    fn parts(&mut self, name: &str, arguments: &Named<'p>) -> Lowered<usize> {
        let of = |name: &str| arguments.iter().find(|(own, _)| *own == name).map(|(_, value)| *value);
        if let Some(list) = of("tensors") {
            return self.count(list);
        }
        let Some(Value::Tensor(x)) = of("self") else { return Err(malformed!("it has no operand")) };
        let dims = self.importer.ty(x)?.shape.dims().to_vec();
        let axis = match (name, of("dim")) {
            ("hsplit", _) => i64::from(dims.len() > 1),
            ("dsplit", _) => 2,
            (_, Some(axis)) => self.integer(axis)?,
            _ => 0,
        };
        let at = if axis < 0 { axis.saturating_add(dims.len() as i64) } else { axis };
        let size = usize::try_from(at).ok().and_then(|at| dims.get(at)).copied();
        let size = size.ok_or_else(|| malformed!("there is no axis {axis}: it has {} axes", dims.len()))?;
        let number = |machine: &Self, name: &str| -> Lowered<usize> {
            let value = of(name).ok_or_else(|| malformed!("its argument {name} is missing"))?;
            let number = usize::try_from(machine.integer(value)?).unwrap_or(0);
            malformed_if!(number == 0, "its {name} is 0 or less");
            Ok(number)
        };
        let count = match name {
            "unbind" => size,
            "chunk" | "unsafe_chunk" => size.div_ceil(size.div_ceil(number(self, "chunks")?).max(1)),
            "hsplit" | "vsplit" | "dsplit" | "tensor_split" => match of("indices") {
                Some(list) => self.count(list)? + 1,
                None => number(self, "sections")?,
            },
            _ => match of("split_sizes") {
                Some(list) => self.count(list)?,
                None => size.div_ceil(number(self, "split_size")?),
            },
        };
        if count > MOST_RESULTS {
            let what = format!("it has {count} results; at most {MOST_RESULTS} are possible");
            return Err(Refusal::unsupported(what, "split into fewer parts"));
        }
        Ok(count)
    }

    /// Notes whether results lie densely.
    fn note_layout(&mut self, name: &str, node: &'p Node, is_dense: bool) {
        let int = |name: &str| node.inputs.iter().find(|input| input.name == name).map(|input| &input.arg);
        let inputs = || node.inputs.iter().flat_map(|input| input.arg.names());
        let has_format = matches!(int("memory_format"), Some(Arg::Int(format)) if *format > 1);
        let result = match name {
            _ if has_format => false,
            "contiguous" => true,
            _ if DENSE.contains(&name) => true,
            _ if TURNED.contains(&name) || OTHER_VIEWS.contains(&name) => false,
            _ if PARTS.contains(&name) => {
                let along_first = matches!(int("dim"), None | Some(Arg::None | Arg::Int(0)));
                let in_steps = !matches!(int("step"), None | Some(Arg::None | Arg::Int(1)));
                is_dense && along_first && !in_steps
            }
            _ => inputs().all(|name| self.dense.contains(name)),
        };
        if result {
            self.dense.extend(results(node));
        }
    }

    /// Notes which inputs a result holds elements of, in their type.
    fn note_inputs(&mut self, name: &str, node: &'p Node) {
        if self.of_inputs.is_empty() || !KEEPING.contains(&name) {
            return;
        }
        let of_inputs = |name: &str| self.of_inputs.get(name).into_iter().flatten().copied();
        let mut all: Vec<&'p str> =
            node.inputs.iter().flat_map(|input| input.arg.names()).flat_map(of_inputs).collect();
        all.sort_unstable();
        all.dedup();
        if !all.is_empty() {
            for name in results(node) {
                self.of_inputs.insert(name, all.clone());
            }
        }
    }

    /// Learns the types of inputs from what is done with them: whoever is an index is no float.
    fn infer_inputs(&mut self, name: &str, arguments: &Named<'p>) -> Lowered {
        for &(argument, value) in arguments {
            let Some(mut dtype) = wanted_type(name, argument) else { continue };
            let values = match self.slice_of(value) {
                Some(items) => items.to_vec(),
                None => vec![value],
            };
            // Of truth values, bits are truth values.
            let others = arguments.iter().filter_map(|(_, value)| match value {
                Value::Tensor(name) => self.importer.ty(name).ok(),
                _ => None,
            });
            if name.starts_with("__") || name.starts_with("bitwise") {
                if let Some(other) = others.map(|ty| ty.dtype).find(|dtype| *dtype != DType::F32) {
                    dtype = other;
                }
            }
            for value in values {
                let Value::Tensor(name) = value else { continue };
                if self.importer.ty(name)?.dtype != DType::F32 {
                    continue;
                }
                let mut is_new = false;
                for input in self.of_inputs.get(name).into_iter().flatten() {
                    is_new |= self.found.inputs.insert((*input).to_owned(), dtype).is_none();
                }
                if is_new {
                    // What stands behind would be wrong.
                    return Err(Refusal::Follows);
                }
            }
        }
        Ok(())
    }
}
