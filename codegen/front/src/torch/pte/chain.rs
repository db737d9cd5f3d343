//! The instructions of a method, followed one by one: what remains are nodes whose results have names of their own.
//!
//! A value has a name, or is a number, until an instruction writes it again. Branches and loops are followed, if their conditions are known: those of counters and of sizes are.
//! An operator that works in place writes into the name itself, as in exported programs.
//!
//! Views of fixed shape take no instruction: a value that nobody writes, in the place of memory that another value has, is a view of it.

use super::data::meta;
use super::numbers::Number;
use super::schema::{Instruction, Location, Method, Tensor, Value};
use super::signatures::arguments;
use crate::budget::Budget;
use crate::flatbuffer::Vector;
use crate::torch::lower::{short, Target, DELEGATE};
use crate::torch::program::{Arg, Named, Node, Size, SymInt, TensorMeta};
use crate::{Lowered, Refusal};
use std::collections::HashMap;

/// Bytes of a node, its results and their names, besides its arguments.
const NODE_BYTES: usize = 512;

/// What a value is at some instruction.
#[derive(Clone, Default)]
pub(super) enum Now {
    /// It is as in the file, and nobody has read it.
    #[default]
    Unset,
    None,
    Number(Number),
    /// A tensor, by name.
    Tensor(String),
    /// A number that a node computes, by name.
    Computed(String),
    /// A tensor of which a loop has written the first elements along the first axis.
    Pieces(Vec<String>),
}

/// A tensor that has a value before the first instruction.
pub(super) struct Weight {
    /// Its name among the nodes.
    pub(super) arg: String,
    /// The value that it is.
    pub(super) index: usize,
    /// Whether it may be written.
    pub(super) is_buffer: bool,
}

/// What a method computes.
#[derive(Default)]
pub(super) struct Network {
    pub(super) nodes: Vec<Node>,
    pub(super) tensors: HashMap<String, TensorMeta>,
    /// Names of inputs, and the values that they are.
    pub(super) inputs: Vec<(String, usize)>,
    pub(super) weights: Vec<Weight>,
    pub(super) outputs: Vec<Arg>,
    /// Buffers that end as another value than they are written in place: the place among the weights, and the name.
    pub(super) replaced: Vec<(usize, String)>,
    /// Why the method could not be followed to its end.
    pub(super) refused: Option<(String, Refusal)>,
}

/// The state while a method is followed.
pub(super) struct Trace<'t, 'a> {
    pub(super) method: &'t Method<'a>,
    pub(super) budget: &'t mut Budget,
    pub(super) now: Vec<Now>,
    /// The values that were written last at places of memory.
    memory: HashMap<Location, usize>,
    /// Views that take no instruction: the names of what they are views of, and their own.
    views: HashMap<usize, (String, String)>,
    pub(super) network: Network,
    results: usize,
}

/// Follows a method.
pub(super) fn trace(method: &Method<'_>, budget: &mut Budget) -> Network {
    let mut trace = Trace {
        method,
        budget,
        now: Vec::new(),
        memory: HashMap::new(),
        views: HashMap::new(),
        network: Network::default(),
        results: 0,
    };
    let mut place = "inputs".to_owned();
    if let Err(refusal) = trace.run(&mut place) {
        trace.network.refused = Some((place, refusal));
    }
    trace.network
}

impl<'a> Trace<'_, 'a> {
    fn run(&mut self, place: &mut String) -> Lowered {
        self.budget.charge(self.method.values.len().saturating_mul(std::mem::size_of::<Now>()))?;
        self.now = vec![Now::Unset; self.method.values.len()];
        for (k, &index) in self.method.inputs.iter().enumerate() {
            self.budget.charge(NODE_BYTES)?;
            // Numbers are part of the program.
            let Some(Value::Tensor(tensor)) = self.method.values.get(index) else { continue };
            let name = format!("input_{k}");
            self.declare(&name, tensor)?;
            self.network.inputs.push((name.clone(), index));
            self.set(index, Now::Tensor(name));
        }
        self.find_buffers()?;
        let (mut at, mut furthest) = (0, 0);
        while let Some(&instruction) = self.method.instructions.get(at) {
            // What is followed again is not in proportion to the file.
            if at < furthest && !self.budget.inline(1) {
                let what = "its loops take too many steps";
                return Err(Refusal::unsupported(what, "use fewer steps: all of them are written out"));
            }
            furthest = furthest.max(at + 1);
            *place = format!("instruction {at}");
            at = self.step(at, instruction)?;
        }
        *place = "outputs".into();
        for &index in &self.method.outputs {
            self.budget.charge(NODE_BYTES)?;
            let arg = self.argument("", index)?;
            if !matches!(arg, Arg::None) {
                self.network.outputs.push(arg);
            }
        }
        for k in 0..self.network.weights.len() {
            let weight = &self.network.weights[k];
            match self.now.get(weight.index) {
                Some(Now::Tensor(name)) if weight.is_buffer && *name != weight.arg => {
                    self.network.replaced.push((k, name.clone()));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Finds what operators write in place: it may have views that are read before it is.
    fn find_buffers(&mut self) -> Lowered {
        for instruction in &self.method.instructions {
            let &Instruction::Kernel { operator, args } = instruction else { continue };
            let name = usize::try_from(operator).ok().and_then(|k| self.method.operators.get(k));
            let is_in_place = |name: &String| Target::of(&target(name, true)).in_place;
            let (true, Some(first)) = (name.is_some_and(is_in_place), args.get(0)) else { continue };
            let index = self.index(first)?;
            if let Some(Value::Tensor(Tensor { place: Some(place), .. })) = self.method.values.get(index) {
                self.budget.charge(64)?;
                self.memory.entry(*place).or_insert(index);
            }
        }
        Ok(())
    }

    /// Follows an instruction, and gives the place of the next one.
    fn step(&mut self, at: usize, instruction: Instruction<'a>) -> Lowered<usize> {
        match instruction {
            Instruction::Kernel { operator, args } => {
                let name = usize::try_from(operator).ok().and_then(|k| self.method.operators.get(k));
                let name =
                    name.ok_or_else(|| malformed!("it calls operator {operator}, which is not there"))?;
                self.call(name, args)?;
            }
            Instruction::Delegate { delegate, args } => {
                let name = usize::try_from(delegate).ok().and_then(|k| self.method.delegates.get(k));
                let name =
                    name.ok_or_else(|| malformed!("it calls delegate {delegate}, which is not there"))?;
                self.delegate(&format!("torch.ops.{DELEGATE}.{name}"), args)?;
            }
            Instruction::Move { from, to } => {
                let (from, to) = (self.index(from)?, self.index(to)?);
                let value = self.now(from)?;
                self.set(to, value);
            }
            Instruction::JumpFalse { condition, to } => {
                let index = self.index(condition)?;
                if !self.is_true(index)? {
                    let to = usize::try_from(to).ok().filter(|&to| to <= self.method.instructions.len());
                    return to.ok_or_else(|| malformed!("it jumps out of the method"));
                }
            }
            Instruction::Free => {}
            Instruction::Unknown(kind) => return Err(malformed!("its kind {kind} is unknown")),
        }
        Ok(at + 1)
    }

    /// Whether a condition holds.
    fn is_true(&mut self, index: usize) -> Lowered<bool> {
        match self.now(index)? {
            Now::Number(number) => Ok(number.is_true()),
            _ => {
                let what = "what is computed next depends on data: a branch or loop whose condition is computed at run time";
                let help = "export the model without torch.cond and loops on data, or with fixed shapes";
                Err(Refusal::unsupported(what, help))
            }
        }
    }

    /// Calls an operator.
    fn call(&mut self, operator: &str, args: Vector<'a, i32>) -> Lowered {
        self.budget.charge(NODE_BYTES + 64 * args.len())?;
        let args: Vec<usize> = args.iter().map(|arg| self.index(arg)).collect::<Lowered<_>>()?;
        let names = arguments(operator);
        // Of an operator that is not known, all but the last one.
        let count = names.as_ref().map_or(args.len().saturating_sub(1), Vec::len);
        malformed_if!(args.len() < count, "{operator} has {} arguments", args.len());
        let (given, written) = args.split_at(count);
        // What results are written into stands twice: as an argument, and as what the operator returns.
        let written = if written.len() > 1 { &written[..written.len() - 1] } else { written };
        if self.known(operator, given, written)? {
            return Ok(());
        }
        let mut inputs = Vec::with_capacity(given.len());
        for (k, &index) in given.iter().enumerate() {
            let name = names.as_ref().and_then(|names| names.get(k)).copied().unwrap_or_default();
            inputs.push(Named { name: name.to_owned(), arg: self.argument(name, index)? });
        }
        let target = target(operator, names.is_some());
        self.node(target, inputs, written)
    }

    /// Calls what is compiled for a backend. Which arguments it writes is not known: what nothing has written so far, and nothing has stored.
    fn delegate(&mut self, target: &str, args: Vector<'a, i32>) -> Lowered {
        self.budget.charge(NODE_BYTES + 64 * args.len())?;
        let (mut inputs, mut written) = (Vec::new(), Vec::new());
        for arg in args.iter() {
            let index = self.index(arg)?;
            let is_fresh = match self.method.values.get(index) {
                Some(Value::Tensor(tensor)) => tensor.data == 0 && !tensor.is_external,
                _ => false,
            };
            match self.now.get(index) {
                Some(Now::Unset) if is_fresh => written.push(index),
                _ => inputs.push(Named { name: String::new(), arg: self.argument("", index)? }),
            }
        }
        self.node(target.to_owned(), inputs, &written)
    }

    /// Adds a node that writes these values.
    fn node(&mut self, target: String, inputs: Vec<Named>, written: &[usize]) -> Lowered {
        let own = match (Target::of(&target).in_place, inputs.first()) {
            (true, Some(Named { arg: Arg::Tensor(name), .. })) => Some(name.clone()),
            _ => None,
        };
        let mut outputs = Vec::with_capacity(written.len());
        for &index in written {
            outputs.push(match self.method.values.get(index).copied() {
                Some(Value::Tensors(list)) => {
                    let mut all = Vec::new();
                    for item in list.iter() {
                        self.budget.charge(NODE_BYTES)?;
                        let index = self.index(item)?;
                        all.push(self.result(&target, index, None)?);
                    }
                    Arg::Tensors(all)
                }
                Some(Value::Tensor(_)) => Arg::Tensor(self.result(&target, index, own.as_deref())?),
                _ => {
                    let name = self.name(&target);
                    self.set(index, Now::Computed(name.clone()));
                    Arg::Computed(name)
                }
            });
        }
        self.network.nodes.push(Node { target, inputs, outputs, ..Node::default() });
        Ok(())
    }

    /// The name of a result that is written into a tensor. What an operator writes in place keeps the name that it has.
    fn result(&mut self, target: &str, index: usize, own: Option<&str>) -> Lowered<String> {
        let name = self.name(target);
        let Some(Value::Tensor(tensor)) = self.method.values.get(index).copied() else {
            return Err(malformed!("it writes into value {index}, which is no tensor"));
        };
        self.declare(&name, &tensor)?;
        match (own, self.now.get(index)) {
            (Some(own), Some(Now::Tensor(before))) if own == before => {}
            _ => self.set(index, Now::Tensor(name.clone())),
        }
        Ok(name)
    }

    fn name(&mut self, target: &str) -> String {
        self.results += 1;
        format!("{}_{}", Target::of(target).name, self.results)
    }

    /// Keeps what the file says of a tensor.
    pub(super) fn declare(&mut self, name: &str, tensor: &Tensor<'_>) -> Lowered {
        self.budget.charge(64 + 32 * tensor.sizes.len())?;
        let mut meta = meta(tensor)?;
        if tensor.is_dynamic {
            meta.sizes = meta.sizes.iter().map(|_| Size::Symbolic(String::new())).collect();
        }
        self.network.tensors.insert(name.to_owned(), meta);
        Ok(())
    }

    /// The index of a value.
    pub(super) fn index(&self, number: i32) -> Lowered<usize> {
        let index = usize::try_from(number).ok().filter(|&index| index < self.method.values.len());
        index.ok_or_else(|| malformed!("it has no value {number}"))
    }

    /// Lets a value be another one.
    pub(super) fn set(&mut self, index: usize, value: Now) {
        if let Some(now) = self.now.get_mut(index) {
            *now = value;
        }
        if let Some(Value::Tensor(Tensor { place: Some(place), .. })) = self.method.values.get(index) {
            self.memory.insert(*place, index);
        }
    }

    /// What a value is now.
    pub(super) fn now(&mut self, index: usize) -> Lowered<Now> {
        let own = self.method.values.get(index).copied();
        match self.now.get(index) {
            Some(Now::Unset) | None => {}
            Some(Now::Pieces(pieces)) => {
                let pieces = pieces.clone();
                self.budget.charge(NODE_BYTES + 64 * pieces.len())?;
                let stacked = vec![Named { name: "tensors".into(), arg: Arg::Tensors(pieces) }];
                self.node("torch.ops.aten.stack.default".into(), stacked, &[index])?;
                return Ok(self.now.get(index).cloned().unwrap_or_default());
            }
            Some(known) => return Ok(known.clone()),
        }
        let value = match own {
            Some(Value::Null) => Now::None,
            Some(Value::Int(number)) => Now::Number(Number::Int(number)),
            Some(Value::Bool(truth)) => Now::Number(Number::Bool(truth)),
            Some(Value::Double(number)) => Now::Number(Number::Double(number)),
            Some(Value::Tensor(tensor)) => match self.view(index, &tensor)? {
                Some(name) => return Ok(Now::Tensor(name)),
                None => self.weight(index, &tensor)?,
            },
            _ => return Err(malformed!("value {index} is no tensor and no number")),
        };
        self.set(index, value.clone());
        Ok(value)
    }

    /// The name of a view that takes no instruction; `None` for what is none.
    pub(super) fn view(&mut self, index: usize, tensor: &Tensor<'_>) -> Lowered<Option<String>> {
        let of = tensor.place.and_then(|place| self.memory.get(&place)).copied();
        let Some(of) = of.filter(|&of| of != index && tensor.data == 0 && !tensor.is_external) else {
            return Ok(None);
        };
        let Now::Tensor(base) = self.now(of)? else { return Ok(None) };
        match self.views.get(&index) {
            Some((known, name)) if *known == base => return Ok(Some(name.clone())),
            _ => {}
        }
        // It shows the elements as they lie in memory.
        let mut dense = base.clone();
        if let Some(Value::Tensor(of)) = self.method.values.get(of) {
            let order: Vec<i64> = of.order.iter().take(16).map(i64::from).collect();
            if order.windows(2).any(|pair| pair[0] > pair[1]) {
                dense = self.rearranged("permute", &base, ("dims", order))?;
            }
        }
        let sizes = tensor.sizes.iter().take(16).map(i64::from).collect();
        let name = self.rearranged("view", &dense, ("size", sizes))?;
        self.declare(&name, tensor)?;
        self.views.insert(index, (base, name.clone()));
        Ok(Some(name))
    }

    /// Adds a node that shows a tensor in another way, and gives the name of its result.
    pub(super) fn rearranged(
        &mut self,
        operator: &str,
        x: &str,
        (list, numbers): (&str, Vec<i64>),
    ) -> Lowered<String> {
        self.budget.charge(NODE_BYTES + 32 * numbers.len())?;
        let input = |name: &str, arg| Named { name: name.into(), arg };
        let numbers = numbers.into_iter().map(SymInt::Known).collect();
        let inputs = vec![input("self", Arg::Tensor(x.into())), input(list, Arg::Ints(numbers))];
        let target = format!("torch.ops.aten.{operator}.default");
        let name = self.name(&target);
        let outputs = vec![Arg::Tensor(name.clone())];
        self.network.nodes.push(Node { target, inputs, outputs, ..Node::default() });
        Ok(name)
    }

    /// A tensor that nothing has written so far: a constant, or a buffer.
    fn weight(&mut self, index: usize, tensor: &Tensor<'_>) -> Lowered<Now> {
        if tensor.sizes.iter().any(|size| size == 0) && tensor.data == 0 {
            // It stands for one that is left out.
            return Ok(Now::None);
        }
        let has_data = tensor.data != 0 || tensor.is_external;
        malformed_if!(!has_data && tensor.place.is_none(), "value {index} is used before it is computed");
        self.budget.charge(NODE_BYTES)?;
        let is_buffer = tensor.place.is_some();
        let kind = if is_buffer { "buffer" } else { "constant" };
        let arg = format!("{kind}_{index}");
        self.declare(&arg, tensor)?;
        self.network.weights.push(Weight { arg: arg.clone(), index, is_buffer });
        Ok(Now::Tensor(arg))
    }
}

/// What a node calls, as in exported programs.
fn target(operator: &str, is_known: bool) -> String {
    let (space, name) = operator.split_once("::").unwrap_or(("", operator));
    let bare = name.split('.').next().unwrap_or(name);
    match (space, bare) {
        // Of another namespace than any that is known.
        _ if !is_known => format!("torch.ops.{}", short(operator)),
        ("executorch_prim", "et_view") => "torch.ops.aten.view.default".into(),
        ("executorch_prim", "sym_max" | "sym_min" | "sym_float" | "sym_not") => format!("torch.{bare}"),
        ("executorch_prim", _) => format!("_operator.{bare}"),
        ("et_copy", _) | ("dim_order_ops", "_clone_dim_order") => "torch.ops.aten.clone.default".into(),
        ("dim_order_ops", "_to_dim_order_copy") => "torch.ops.aten._to_copy.default".into(),
        ("dim_order_ops", _) => "torch.ops.aten.empty.default".into(),
        ("aten", "_local_scalar_dense") => "torch.ops.aten.item.default".into(),
        _ => format!("torch.ops.{space}.{name}"),
    }
}
