//! Typed views of TensorFlow's messages. Numbers are those of the fields in `saved_model.proto`, `meta_graph.proto`, `graph.proto`, `function.proto` and
//! `node_def.proto`.
//!
//! Everything borrows the file. Attributes are messages that are read where they are needed ([`Attributes`]).

use super::attributes::Attributes;
use crate::budget::Budget;
use crate::protobuf::{Broken, Message};
use kiln_ir::error::Error;
use std::collections::HashMap;

/// Why a message cannot be read.
pub(super) enum Failure {
    /// It contradicts itself.
    Broken(String),
    /// It declares more than a file of its size may.
    Budget(Error),
}

impl From<Broken> for Failure {
    fn from(broken: Broken) -> Self {
        Failure::Broken(broken.to_string())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Failure::Budget(error)
    }
}

impl From<Failure> for crate::Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Broken(what) => crate::Refusal::Malformed(what),
            Failure::Budget(error) => crate::Refusal::Fatal(error),
        }
    }
}

pub(super) type Parsed<T> = Result<T, Failure>;

/// A text of the file.
pub(super) fn text(bytes: &[u8]) -> Parsed<&str> {
    std::str::from_utf8(bytes).map_err(|_| Failure::Broken("a name is not UTF-8".into()))
}

/// An operator.
#[derive(Clone)]
pub(super) struct Node<'a> {
    pub(super) name: &'a str,
    pub(super) op: &'a str,
    /// `name`, `name:1`, in functions `name:result:1`; `^name` for one that only has to run before.
    pub(super) inputs: Vec<&'a str>,
    pub(super) attributes: Attributes<'a>,
}

/// Bytes that a node takes, beside its lists.
const NODE_BYTES: usize = 160;

impl<'a> Node<'a> {
    fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        budget.charge(NODE_BYTES)?;
        let mut node = Node { name: "", op: "", inputs: Vec::new(), attributes: Attributes::default() };
        for field in Message(bytes) {
            match field? {
                (1, name) => node.name = text(name.bytes()?)?,
                (2, op) => node.op = text(op.bytes()?)?,
                (3, input) => {
                    budget.charge(48)?;
                    node.inputs.push(text(input.bytes()?)?);
                }
                (5, entry) => {
                    budget.charge(48)?;
                    node.attributes.add(entry.bytes()?)?;
                }
                _ => {}
            }
        }
        match node.name.is_empty() || node.op.is_empty() {
            true => Err(Failure::Broken("a node has no name, or no operator".into())),
            false => Ok(node),
        }
    }
}

/// A function of the library.
pub(super) struct Function<'a> {
    pub(super) name: &'a str,
    pub(super) arguments: Vec<&'a str>,
    pub(super) nodes: Vec<Node<'a>>,
    /// What it returns, in order.
    pub(super) results: Vec<&'a str>,
    /// Nodes that have to run.
    pub(super) controls: Vec<&'a str>,
}

/// An entry of a map: key and value.
pub(super) fn entry(bytes: &[u8]) -> Parsed<(&[u8], &[u8])> {
    let (mut key, mut value) = (&[][..], &[][..]);
    for field in Message(bytes) {
        match field? {
            (1, bytes) => key = bytes.bytes()?,
            (2, bytes) => value = bytes.bytes()?,
            _ => {}
        }
    }
    Ok((key, value))
}

impl<'a> Function<'a> {
    fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        budget.charge(NODE_BYTES)?;
        let (mut name, mut arguments, mut names) = ("", Vec::new(), Vec::new());
        let (mut nodes, mut controls, mut returned) = (Vec::new(), Vec::new(), HashMap::new());
        for field in Message(bytes) {
            match field? {
                (1, signature) => {
                    for field in Message(signature.bytes()?) {
                        match field? {
                            (1, own) => name = text(own.bytes()?)?,
                            (2, argument) => {
                                budget.charge(32)?;
                                arguments.push(name_of(argument.bytes()?)?);
                            }
                            (3, result) => {
                                budget.charge(32)?;
                                names.push(name_of(result.bytes()?)?);
                            }
                            _ => {}
                        }
                    }
                }
                (3, node) => nodes.push(Node::parse(node.bytes()?, budget)?),
                (4, result) => {
                    budget.charge(96)?;
                    let (name, of) = entry(result.bytes()?)?;
                    returned.insert(text(name)?, text(of)?);
                }
                (6, control) => {
                    budget.charge(32)?;
                    controls.push(text(entry(control.bytes()?)?.1)?);
                }
                _ => {}
            }
        }
        let result = |result: &&str| {
            let of = returned.get(result).copied();
            of.ok_or_else(|| {
                Failure::Broken(format!("function \"{}\" returns no \"{}\"", short(name), short(result)))
            })
        };
        let results = names.iter().map(result).collect::<Parsed<_>>()?;
        Ok(Function { name, arguments, nodes, results, controls })
    }
}

/// The first field of a message, which is a name.
fn name_of(bytes: &[u8]) -> Parsed<&str> {
    for field in Message(bytes) {
        if let (1, name) = field? {
            return text(name.bytes()?);
        }
    }
    Ok("")
}

/// Longest name that is shown; the rest of a longer one is cut off.
const LONGEST_NAME: usize = 256;

/// A name for messages.
pub(super) fn short(text: &str) -> String {
    text.chars().take(LONGEST_NAME).collect()
}

/// Nodes and the functions that they call.
#[derive(Default)]
pub(super) struct GraphDef<'a> {
    pub(super) nodes: Vec<Node<'a>>,
    pub(super) functions: Vec<Function<'a>>,
}

impl<'a> GraphDef<'a> {
    pub(super) fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        let mut graph = GraphDef::default();
        for field in Message(bytes) {
            match field? {
                (1, node) => graph.nodes.push(Node::parse(node.bytes()?, budget)?),
                (2, library) => {
                    for field in Message(library.bytes()?) {
                        if let (1, function) = field? {
                            graph.functions.push(Function::parse(function.bytes()?, budget)?);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(graph)
    }
}

/// A tensor of a signature: its name there, and the graph's for it.
pub(super) struct TensorInfo<'a> {
    pub(super) key: &'a str,
    pub(super) name: &'a str,
    pub(super) dtype: i64,
    /// Its sizes, −1 for open ones; `None` where not even their number is known.
    pub(super) dims: Option<Vec<i64>>,
}

impl<'a> TensorInfo<'a> {
    fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        budget.charge(NODE_BYTES)?;
        let (key, value) = entry(bytes)?;
        let mut info = TensorInfo { key: text(key)?, name: "", dtype: 0, dims: None };
        for field in Message(value) {
            match field? {
                (1, name) => info.name = text(name.bytes()?)?,
                (2, dtype) => info.dtype = dtype.int()?,
                (3, shape) => info.dims = dims(shape.bytes()?, budget)?,
                _ => {}
            }
        }
        Ok(info)
    }
}

/// The sizes of a `TensorShapeProto`.
pub(super) fn dims(bytes: &[u8], budget: &mut Budget) -> Parsed<Option<Vec<i64>>> {
    let mut dims = Vec::new();
    for field in Message(bytes) {
        match field? {
            (2, dim) => {
                budget.charge(8)?;
                let mut size = 0;
                for field in Message(dim.bytes()?) {
                    if let (1, value) = field? {
                        size = value.int()?;
                    }
                }
                dims.push(size);
            }
            (3, unknown) if unknown.int()? != 0 => return Ok(None),
            _ => {}
        }
    }
    Ok(Some(dims))
}

/// What a model can be asked for.
pub(super) struct Signature<'a> {
    pub(super) key: &'a str,
    pub(super) inputs: Vec<TensorInfo<'a>>,
    pub(super) outputs: Vec<TensorInfo<'a>>,
}

impl<'a> Signature<'a> {
    fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        let (key, value) = entry(bytes)?;
        let mut signature = Signature { key: text(key)?, inputs: Vec::new(), outputs: Vec::new() };
        for field in Message(value) {
            match field? {
                (1, input) => signature.inputs.push(TensorInfo::parse(input.bytes()?, budget)?),
                (2, output) => signature.outputs.push(TensorInfo::parse(output.bytes()?, budget)?),
                _ => {}
            }
        }
        // The entries of a map have no order of their own.
        signature.inputs.sort_by(|a, b| natural(a.key, b.key));
        signature.outputs.sort_by(|a, b| natural(a.key, b.key));
        Ok(signature)
    }
}

/// An order of names in which `output_10` is behind `output_9`.
pub(super) fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    let split = |text: &str| -> (String, u64) {
        let stem = text.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.trim_end_matches('_').to_owned(), text[stem.len()..].parse().unwrap_or(0))
    };
    split(a).cmp(&split(b)).then_with(|| a.cmp(b))
}

/// The graph of a SavedModel, and how it is used.
#[derive(Default)]
pub(super) struct MetaGraph<'a> {
    pub(super) graph: GraphDef<'a>,
    pub(super) tags: Vec<&'a str>,
    /// The version of TensorFlow that wrote it.
    pub(super) version: &'a str,
    pub(super) signatures: Vec<Signature<'a>>,
    /// The node that gives variables their values from files.
    pub(super) restore: &'a str,
    /// The node that initialises what is in no file.
    pub(super) init: &'a str,
}

impl<'a> MetaGraph<'a> {
    pub(super) fn parse(bytes: &'a [u8], budget: &mut Budget) -> Parsed<Self> {
        let mut meta = MetaGraph::default();
        for field in Message(bytes) {
            match field? {
                (1, info) => {
                    for field in Message(info.bytes()?) {
                        match field? {
                            (4, tag) => {
                                budget.charge(32)?;
                                meta.tags.push(text(tag.bytes()?)?);
                            }
                            (5, version) => meta.version = text(version.bytes()?)?,
                            _ => {}
                        }
                    }
                }
                (2, graph) => meta.graph = GraphDef::parse(graph.bytes()?, budget)?,
                (3, saver) => {
                    for field in Message(saver.bytes()?) {
                        if let (3, restore) = field? {
                            meta.restore = text(restore.bytes()?)?;
                        }
                    }
                }
                (5, signature) => {
                    let signature = Signature::parse(signature.bytes()?, budget)?;
                    match (signature.key, signature.outputs.first()) {
                        ("__saved_model_init_op", Some(output)) => meta.init = output.name,
                        _ => meta.signatures.push(signature),
                    }
                }
                _ => {}
            }
        }
        Ok(meta)
    }
}
