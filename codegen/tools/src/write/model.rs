//! The model that is written: nodes between tensors, and the messages they become. Numbers of fields are those of ONNX's `onnx.proto`.

use super::wire::Message;
use kiln_ir::{DType, Shape};
use std::collections::HashSet;

/// The least version of ONNX's own operators that is written. Newer ones only where something needs them: fewer tools know those.
const OPSET: i64 = 19;

/// The first version that has Gelu.
pub(super) const OPSET_OF_GELU: i64 = 20;

/// The first version that quantises to 16 and 4 bits.
pub(super) const OPSET_OF_OTHER_BITS: i64 = 21;

/// Handle of a tensor in its [`Model`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TensorId(usize);

/// An attribute of a node.
#[derive(Clone, Debug)]
pub(super) enum Attribute {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Text(&'static str),
}

/// How an element is stored in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Element {
    Of(DType),
    /// Two in a byte, the first one in the low bits.
    I4,
}

impl Element {
    /// The number in `TensorProto.DataType`.
    pub(super) fn number(self) -> i64 {
        match self {
            Element::Of(DType::F32) => 1,
            Element::Of(DType::U8) => 2,
            Element::Of(DType::I8) => 3,
            Element::Of(DType::I16) => 5,
            Element::Of(DType::I32) => 6,
            Element::Of(DType::I64) => 7,
            Element::Of(DType::Bool) => 9,
            Element::I4 => 22,
        }
    }
}

#[derive(Clone, Debug)]
struct Node {
    operator: &'static str,
    inputs: Vec<Option<TensorId>>,
    outputs: Vec<Option<TensorId>>,
    attributes: Vec<(&'static str, Attribute)>,
}

#[derive(Clone, Debug)]
struct Constant {
    tensor: TensorId,
    element: Element,
    dims: Vec<usize>,
    bytes: Vec<u8>,
}

/// An input or an output.
#[derive(Clone, Debug)]
struct Interface {
    tensor: TensorId,
    name: String,
    dtype: DType,
    shape: Shape,
}

/// A model under way.
#[derive(Clone, Debug)]
pub(super) struct Model {
    /// Version of ONNX's own operators.
    opset: i64,
    /// What each tensor would like to be called.
    names: Vec<String>,
    nodes: Vec<Node>,
    constants: Vec<Constant>,
    inputs: Vec<Interface>,
    outputs: Vec<Interface>,
    /// What tensors of the node that is being written are called.
    pub(super) hint: String,
}

impl Model {
    /// An empty one.
    pub(super) fn new() -> Self {
        Model {
            opset: OPSET,
            names: Vec::new(),
            nodes: Vec::new(),
            constants: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            hint: String::new(),
        }
    }

    /// Operators of this version are needed.
    pub(super) fn needs(&mut self, opset: i64) {
        self.opset = self.opset.max(opset);
    }

    fn tensor(&mut self, name: String) -> TensorId {
        self.names.push(name);
        TensorId(self.names.len() - 1)
    }

    /// Adds an input.
    pub(super) fn input(&mut self, name: &str, dtype: DType, shape: &Shape) -> TensorId {
        let tensor = self.tensor(name.into());
        self.inputs.push(Interface { tensor, name: name.into(), dtype, shape: shape.clone() });
        tensor
    }

    /// Adds an output.
    pub(super) fn output(&mut self, tensor: TensorId, name: &str, dtype: DType, shape: &Shape) {
        self.outputs.push(Interface { tensor, name: name.into(), dtype, shape: shape.clone() });
    }

    /// Adds a constant; of [`Element::I4`] a byte for each element.
    pub(super) fn constant(
        &mut self,
        name: &str,
        element: Element,
        dims: &[usize],
        bytes: &[u8],
    ) -> TensorId {
        let tensor = self.tensor(name.into());
        let bytes = match element {
            Element::Of(_) => bytes.to_vec(),
            Element::I4 => {
                bytes.chunks(2).map(|pair| pair[0] & 15 | pair.get(1).map_or(0, |high| high << 4)).collect()
            }
        };
        self.constants.push(Constant { tensor, element, dims: dims.to_vec(), bytes });
        tensor
    }

    /// Adds a list of integers.
    pub(super) fn ints(&mut self, name: &str, list: &[i64]) -> TensorId {
        let bytes: Vec<u8> = list.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, Element::Of(DType::I64), &[list.len()], &bytes)
    }

    /// Adds a number.
    pub(super) fn number(&mut self, name: &str, number: f32) -> TensorId {
        self.constant(name, Element::Of(DType::F32), &[], &number.to_le_bytes())
    }

    /// Adds a node of one result.
    pub(super) fn node(
        &mut self,
        operator: &'static str,
        inputs: &[TensorId],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> TensorId {
        let inputs: Vec<Option<TensorId>> = inputs.iter().copied().map(Some).collect();
        self.node_of(operator, &inputs, &[true], attributes)[0]
    }

    /// Adds a node, of which operands may be left out; and the results that are not wanted. Gives those that are.
    pub(super) fn node_of(
        &mut self,
        operator: &'static str,
        inputs: &[Option<TensorId>],
        wanted: &[bool],
        attributes: Vec<(&'static str, Attribute)>,
    ) -> Vec<TensorId> {
        let outputs: Vec<Option<TensorId>> =
            wanted.iter().map(|&wanted| wanted.then(|| self.tensor(self.hint.clone()))).collect();
        self.nodes.push(Node { operator, inputs: inputs.to_vec(), outputs: outputs.clone(), attributes });
        outputs.into_iter().flatten().collect()
    }

    /// The file.
    pub(super) fn into_bytes(mut self, name: &str) -> Vec<u8> {
        self.part_outputs();
        let names = self.final_names();
        let mut graph = Message::default();
        let mut taken = HashSet::new();
        for node in &self.nodes {
            let mut message = Message::default();
            for input in &node.inputs {
                message.bytes(1, input.map_or("", |id| &names[id.0]));
            }
            for output in &node.outputs {
                message.bytes(2, output.map_or("", |id| &names[id.0]));
            }
            let result = node.outputs.iter().flatten().next().map_or("", |id| &names[id.0]);
            message.bytes(3, unique(&format!("{result}/{}", node.operator), &mut taken));
            message.bytes(4, node.operator);
            for (name, attribute) in &node.attributes {
                message.message(5, attribute_message(name, attribute));
            }
            graph.message(1, message);
        }
        graph.bytes(2, if name.is_empty() { "model" } else { name });
        for constant in &self.constants {
            let mut message = Message::default();
            constant.dims.iter().for_each(|&dim| {
                message.int(1, dim as i64);
            });
            message.int(2, constant.element.number());
            message.bytes(8, &names[constant.tensor.0]).bytes(9, &constant.bytes);
            graph.message(5, message);
        }
        for (field, list) in [(11, &self.inputs), (12, &self.outputs)] {
            for interface in list {
                graph.message(field, interface.message(&names[interface.tensor.0]));
            }
        }
        let mut opset = Message::default();
        opset.bytes(1, "").int(2, self.opset);
        let mut model = Message::default();
        // Of the format, the version that came with those of the operators.
        let version = if self.opset < OPSET_OF_OTHER_BITS { 9 } else { 10 };
        model.int(1, version).bytes(2, "Kiln").bytes(3, env!("CARGO_PKG_VERSION"));
        model.message(7, graph).message(8, opset);
        model.into_bytes()
    }

    /// Gives each output a tensor of its own: one that a node computes and no other output is.
    fn part_outputs(&mut self) {
        let computed: HashSet<TensorId> =
            self.nodes.iter().flat_map(|node| node.outputs.iter().flatten().copied()).collect();
        let mut taken = HashSet::new();
        for k in 0..self.outputs.len() {
            let tensor = self.outputs[k].tensor;
            if !computed.contains(&tensor) || !taken.insert(tensor) {
                self.hint.clone_from(&self.outputs[k].name);
                self.outputs[k].tensor = self.node("Identity", &[tensor], Vec::new());
            }
        }
    }

    /// A name for each tensor: inputs and outputs have theirs, others a number where there are several of one name.
    fn final_names(&self) -> Vec<String> {
        let mut names = self.names.clone();
        let mut taken = HashSet::new();
        let ends: Vec<&Interface> = self.inputs.iter().chain(&self.outputs).collect();
        for end in &ends {
            names[end.tensor.0] = unique(&end.name, &mut taken);
        }
        let ends: HashSet<usize> = ends.iter().map(|end| end.tensor.0).collect();
        for (_, name) in names.iter_mut().enumerate().filter(|(id, _)| !ends.contains(id)) {
            *name = unique(name, &mut taken);
        }
        names
    }
}

/// The name, with a number if it is taken.
fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let name = if name.is_empty() { "tensor" } else { name };
    let numbered = (1..).map(|k| format!("{name}_{k}"));
    let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !taken.contains(name));
    let free = free.unwrap_or_default();
    taken.insert(free.clone());
    free
}

impl Interface {
    fn message(&self, name: &str) -> Message {
        let mut shape = Message::default();
        for &dim in self.shape.dims() {
            let mut size = Message::default();
            size.int(1, dim as i64);
            shape.message(1, size);
        }
        let mut tensor = Message::default();
        tensor.int(1, Element::Of(self.dtype).number()).message(2, shape);
        let mut ty = Message::default();
        ty.message(1, tensor);
        let mut message = Message::default();
        message.bytes(1, name).message(2, ty);
        message
    }
}

fn attribute_message(name: &str, attribute: &Attribute) -> Message {
    let mut message = Message::default();
    message.bytes(1, name);
    match attribute {
        Attribute::Float(value) => message.float(2, *value).int(20, 1),
        Attribute::Int(value) => message.int(3, *value).int(20, 2),
        Attribute::Text(text) => message.bytes(4, text).int(20, 3),
        Attribute::Ints(list) => {
            list.iter().for_each(|&value| {
                message.int(8, value);
            });
            message.int(20, 7)
        }
    };
    message
}
