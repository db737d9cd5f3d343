//! Lowering of a program to a [`Graph`](kiln_ir::Graph).
//!
//! One file per family of operators. Each operator is given a [`Cx`]. An operator that cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so that
//! one run reports everything that stands in the way.
//!
//! Numbers of the program (`sym_size`, `item`, arithmetic on them) are values without axes as all others: what follows from shapes is folded.
//! Operators that write into a tensor, or into a part of it, are made ones without such effects by [`aliases`].

mod activation;
mod aliases;
mod arrange;
mod attention;
mod bits;
mod control;
mod conv;
mod create;
mod custom;
mod cx;
mod describe;
mod elementwise;
mod gather;
mod logic;
mod movement;
mod normalise;
mod outputs;
mod pad;
mod pool;
mod product;
mod quantise;
mod recurrent;
mod reduce;
mod resize;
mod scatter;
pub(super) mod symbols;
mod transformer;
mod view;

use super::program::{Arg, Node, Size, TensorMeta};
use crate::budget::Budget;
use crate::onnx::lower::{Host, Importer as Means};
use crate::{Lowered, Refusal};
pub(super) use aliases::{is_dense, makes_views, Aliases, Sharing};
use cx::Cx;
pub(super) use cx::Slots;
use kiln_ir::error::Error;
use kiln_ir::options::Options;
use kiln_ir::{Data, Type, ValueId};
use std::collections::{HashMap, HashSet};

/// Bytes of graph that an operator takes: its nodes and values with their names.
pub(super) const OPERATOR_BYTES: usize = 512;

/// The state of one import.
pub(super) struct Importer<'m, 'p> {
    pub(super) means: Means<'m, 'static>,
    host: &'m Host,
    /// Types that the file has for tensors, by name.
    pub(super) metas: &'p HashMap<String, TensorMeta>,
    pub(super) options: &'m Options,
    pub(super) slots: Slots<'p>,
    /// Names that nodes read, or that are outputs.
    pub(super) read: HashSet<&'p str>,
    pub(super) aliases: Aliases<'p>,
    /// Sizes that symbols stand for.
    pub(super) symbols: HashMap<String, i64>,
    /// Buffers that are states, with their names in the model.
    pub(super) states: HashMap<&'p str, &'p str>,
    /// How deep graphs of higher-order operators are nested here.
    depth: usize,
}

impl<'m, 'p> Importer<'m, 'p> {
    pub(super) fn new(
        metas: &'p HashMap<String, TensorMeta>,
        name: &str,
        options: &'m Options,
        host: &'m Host,
        budget: Budget,
    ) -> Self {
        Importer {
            means: Means::hosted(host, name, options, budget),
            host,
            metas,
            options,
            slots: HashMap::new(),
            read: HashSet::new(),
            aliases: Aliases::default(),
            symbols: HashMap::new(),
            states: HashMap::new(),
            depth: 0,
        }
    }

    /// Lowers a node.
    pub(super) fn node(&mut self, index: usize, node: &'p Node) -> Result<(), Error> {
        self.means.budget.charge(OPERATOR_BYTES + 64 * (node.inputs.len() + node.outputs.len()))?;
        let target = Target::of(&node.target);
        let before = self.means.graph.order.len();
        let results = results(node);
        for name in &results {
            if self.slots.contains_key(name) {
                let what = format!("\"{name}\" is computed a second time");
                return Err(Error::malformed(place(index, node), what));
            }
        }
        let lowered = self.fresh(node).and_then(|()| match (find(&target), control::find(&target)) {
            _ if custom::bound(self.options, &target).is_some() => {
                self.computed(index, node, One(custom::custom))
            }
            (Some(lower), _) => self.computed(index, node, lower),
            (None, Some(control)) => self.controlled(node, control),
            (None, None) => Err(custom::unknown(&target)),
        });
        let lowered = lowered.and_then(|values| {
            for (&name, &value) in results.iter().zip(&values) {
                self.check(name, value)?;
                self.slots.insert(name, Some(value));
                self.aliases.computed(name);
            }
            match (target.in_place, written(node), values.first()) {
                (true, Some(name), Some(&value)) => self.write(node, name, value),
                _ => Ok(()),
            }
        });
        if let Err(refusal) = lowered {
            self.means.report.refuse(place(index, node), Some((index, &target.whole())), refusal)?;
            // What was made of it so far is not part of the model.
            self.means.graph.order.truncate(before);
            for name in results {
                let value = self.stand_in(name);
                self.slots.insert(name, value);
            }
        }
        Ok(())
    }

    /// The type of a value; none of what was refused, or comes from that.
    pub(super) fn ty(&self, name: &str) -> Lowered<&Type> {
        let value = self.slots.get(name).copied().flatten().ok_or(Refusal::Follows)?;
        Ok(self.means.graph.ty(value))
    }

    /// The elements of a value that follows from constants.
    pub(super) fn known(&mut self, name: &'p str) -> Lowered<Option<Data>> {
        self.refresh(name)?;
        let value = self.slots.get(name).copied().flatten().ok_or(Refusal::Follows)?;
        Ok(self.means.hosted_cx(self.host, String::new(), String::new()).data(value))
    }

    /// What an operator computes.
    fn computed(&mut self, index: usize, node: &'p Node, lower: Lower) -> Lowered<Vec<ValueId>> {
        let target = Target::of(&node.target);
        let names = results(node);
        let name = names.first().map(|name| (*name).to_owned()).unwrap_or_default();
        let origin = format!("{index} {}", target.whole());
        let mut cx = Cx {
            means: self.means.hosted_cx(self.host, name, origin),
            node,
            slots: &self.slots,
            metas: self.metas,
            symbols: &self.symbols,
            read: &self.read,
            target: plain(target.name),
            overload: target.overload,
        };
        let mut values = match lower {
            One(lower) => vec![lower(&mut cx)?],
            All(lower) => lower(&mut cx)?,
        };
        for (k, value) in values.iter_mut().enumerate() {
            if let Some(dtype) = cx.declared(k)? {
                *value = cx.cast(*value, dtype)?;
            }
        }
        match names.iter().skip(values.len()).find(|name| self.read.contains(**name)) {
            Some(name) => {
                let what = format!("its result \"{}\" cannot be compiled", short(name));
                Err(Refusal::unsupported(what, "use only the first result"))
            }
            None => Ok(values),
        }
    }

    /// Refuses a result of another shape than the program has for it.
    fn check(&self, name: &str, value: ValueId) -> Lowered {
        let Some(meta) = self.metas.get(name) else { return Ok(()) };
        let dims = self.means.graph.ty(value).shape.dims();
        let fits = |(size, &dim): (&Size, &usize)| match size {
            Size::Known(size) => *size == dim as i64,
            Size::Symbolic(_) => true,
        };
        if meta.sizes.len() != dims.len() || !meta.sizes.iter().zip(dims).all(fits) {
            let sizes = symbols::shown(&meta.sizes);
            return Err(malformed!("its result \"{name}\" is {dims:?}, but the file has {sizes} for it"));
        }
        Ok(())
    }

    /// A value to stand for a result of a refused operator, so that the operators behind it are looked at too. Integers may be a shape or an index, which has to be
    /// constant.
    fn stand_in(&mut self, name: &str) -> Option<ValueId> {
        use kiln_ir::{DType, Shape};
        let meta = self.metas.get(name)?;
        let dims = symbols::dims(&meta.sizes, &self.symbols)?;
        let dtype = super::weights::dtype(meta.dtype).ok()?;
        let is_sound = !dims.contains(&0) && crate::onnx::lower::check_size(dtype, &dims).is_ok();
        if self.means.report.is_empty() || !is_sound || matches!(dtype, DType::I32 | DType::I64) {
            return None;
        }
        self.means.budget.charge(OPERATOR_BYTES).ok()?;
        let value = self.means.graph.add_input(name, Type { dtype, shape: Shape(dims), quant: None });
        self.means.graph.inputs.pop();
        Some(value)
    }
}

/// The namespace of parts of a program that are compiled for a backend. The name is the backend's.
pub(super) const DELEGATE: &str = "executorch_delegate";

/// Names of a node's results.
pub(super) fn results(node: &Node) -> Vec<&str> {
    node.outputs.iter().flat_map(named).collect()
}

fn named(output: &Arg) -> Vec<&str> {
    match output {
        Arg::Computed(name) => vec![name],
        other => other.names(),
    }
}

/// The tensor that an operator writes into: its first argument.
fn written(node: &Node) -> Option<&str> {
    match node.inputs.first().map(|input| &input.arg) {
        Some(Arg::Tensor(name)) => Some(name),
        _ => None,
    }
}

/// Longest name that is shown; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

pub(super) fn short(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

/// A node's place: itself, its module and the line of its source.
fn place(index: usize, node: &Node) -> String {
    let mut place = format!("operator {index} {}", Target::of(&node.target).whole());
    if let Some(name) = results(node).first() {
        place += &format!(" \"{}\"", short(name));
    }
    if let Some((path, class)) = &node.module {
        place += &match path.is_empty() {
            true => format!(" in {class}"),
            false => format!(" in {path} ({class})"),
        };
    }
    if let Some(line) = &node.line {
        place += &format!(", {line}");
    }
    place
}

/// What a node calls.
pub(super) struct Target<'p> {
    /// `aten`, or empty for functions of Python.
    namespace: &'p str,
    /// Without the underscore of an operator that works in place.
    pub(super) name: &'p str,
    overload: &'p str,
    pub(super) in_place: bool,
}

impl<'p> Target<'p> {
    pub(super) fn of(target: &'p str) -> Self {
        let bare = target.strip_prefix("torch.ops.");
        let (namespace, rest) = match bare {
            Some(bare) => bare.split_once('.').unwrap_or(("", bare)),
            None => ("", target),
        };
        let (name, overload) = match bare {
            Some(_) => rest.split_once('.').unwrap_or((rest, "")),
            None => (rest, ""),
        };
        let plain = name.strip_suffix('_').filter(|_| !name.ends_with("__") && bare.is_some());
        Target {
            namespace,
            name: plain.unwrap_or(name),
            overload,
            in_place: plain.is_some_and(|name| name != "detach"),
        }
    }

    /// `aten.add_.Tensor`.
    pub(super) fn whole(&self) -> String {
        let space = if self.namespace.is_empty() { String::new() } else { format!("{}.", self.namespace) };
        let underscore = if self.in_place { "_" } else { "" };
        let overload = match self.overload {
            "" | "default" => String::new(),
            overload => format!(".{overload}"),
        };
        short(&format!("{space}{}{underscore}{overload}", self.name))
    }
}

/// Operators of these names that differ from others only in what is a view of what.
const COPIES: &[&str] = &[
    "alias_copy",
    "as_strided_copy",
    "detach_copy",
    "diagonal_copy",
    "expand_copy",
    "narrow_copy",
    "permute_copy",
    "select_copy",
    "slice_copy",
    "split_copy",
    "split_with_sizes_copy",
    "squeeze_copy",
    "t_copy",
    "transpose_copy",
    "unbind_copy",
    "unfold_copy",
    "unsqueeze_copy",
    "view_copy",
];

/// Other names of operators, and their own.
const SYNONYMS: &[(&str, &str)] = &[
    ("absolute", "abs"),
    ("arccos", "acos"),
    ("arccosh", "acosh"),
    ("arcsin", "asin"),
    ("arcsinh", "asinh"),
    ("arctan", "atan"),
    ("arctan2", "atan2"),
    ("arctanh", "atanh"),
    ("concatenate", "cat"),
    ("expit", "sigmoid"),
    ("ger", "outer"),
    ("negative", "neg"),
    ("row_stack", "vstack"),
];

/// The name of what computes the same.
fn plain(name: &str) -> &str {
    let name = name.strip_prefix("special_").unwrap_or(name);
    let name = name.strip_prefix("unsafe_").unwrap_or(name);
    let name = if COPIES.contains(&name) { name.trim_end_matches("_copy") } else { name };
    SYNONYMS.iter().find(|(other, _)| *other == name).map_or(name, |(_, own)| own)
}

/// The lowering of an operator.
#[derive(Clone, Copy)]
pub(super) enum Lower {
    /// Gives the only result.
    One(fn(&mut Cx<'_, '_, '_>) -> Lowered<ValueId>),
    /// Gives all results.
    All(fn(&mut Cx<'_, '_, '_>) -> Lowered<Vec<ValueId>>),
}
use Lower::{All, One};

/// The operators of a family: names, and lowerings.
type Operators = &'static [(&'static str, Lower)];

/// The operators of ATen that Kiln compiles, and functions of Python on numbers.
const FAMILIES: &[Operators] = &[
    activation::OPERATORS,
    arrange::OPERATORS,
    attention::OPERATORS,
    bits::OPERATORS,
    conv::OPERATORS,
    create::OPERATORS,
    elementwise::OPERATORS,
    gather::OPERATORS,
    logic::OPERATORS,
    movement::OPERATORS,
    normalise::OPERATORS,
    pad::OPERATORS,
    pool::OPERATORS,
    product::OPERATORS,
    quantise::OPERATORS,
    recurrent::OPERATORS,
    reduce::OPERATORS,
    resize::OPERATORS,
    scatter::OPERATORS,
    symbols::OPERATORS,
    transformer::OPERATORS,
    view::OPERATORS,
];

/// Names of all operators.
pub(super) fn operators() -> impl Iterator<Item = &'static str> {
    FAMILIES.iter().copied().flatten().map(|(name, _)| *name)
}

/// Whether Kiln knows an operator.
pub(super) fn is_known(target: &Target<'_>) -> bool {
    find(target).is_some() || control::find(target).is_some()
}

pub(super) fn find(target: &Target<'_>) -> Option<Lower> {
    let name = match target.namespace {
        // Functions of special mathematics are those of the same name, or of another one.
        "aten" | "" => plain(target.name),
        "quantized_decomposed" | "torchao" | "pt2e_quant" => return quantise::find(target.name),
        _ => return None,
    };
    FAMILIES.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}
