//! The graph: values, nodes, state.

use super::{DType, Op, Shape, Type};
use std::sync::Arc;

/// Handle of a value in its [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Handle of a node in its [`Graph`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Elements as little-endian bytes, row-major. Cheap to clone.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Data(pub Arc<[u8]>);

impl Data {
    /// The elements of a tensor of that shape with its axes in another order; `None` where they do not fit.
    pub fn transposed(&self, shape: &Shape, element: usize, perm: &[usize]) -> Option<Data> {
        let from = shape.strides();
        let to = Shape(perm.iter().map(|&axis| shape.dims().get(axis).copied()).collect::<Option<_>>()?);
        let strides = to.strides();
        let mut bytes = Vec::with_capacity(self.bytes().len());
        for position in 0..to.numel() {
            let index = |axis: usize| position / strides[axis] % to.dims()[axis];
            let at: usize = perm.iter().enumerate().map(|(axis, &own)| index(axis) * from[own]).sum();
            bytes.extend_from_slice(self.bytes().get(at * element..(at + 1) * element)?);
        }
        Some(Data::new(bytes))
    }

    /// Takes the bytes of a tensor.
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Self {
        Data(bytes.into())
    }

    /// Zero as a tensor of that type stores it: its zero point.
    pub fn zeros(ty: &Type) -> Self {
        match (ty.dtype, ty.zero_point()) {
            (DType::F32, _) | (_, 0) => Data::new(vec![0; ty.bytes()]),
            (dtype, zero) => Data::from_ints(dtype, std::iter::repeat_n(i64::from(zero), ty.shape.numel())),
        }
    }

    /// Whether all `f32` elements are finite.
    pub fn is_finite(&self) -> bool {
        self.to_f32().iter().all(|x| x.is_finite())
    }

    /// From `i8` elements.
    pub fn from_i8(v: &[i8]) -> Self {
        Data(v.iter().map(|&x| x as u8).collect())
    }

    /// From `i16` elements.
    pub fn from_i16(v: &[i16]) -> Self {
        Data(v.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    /// From `i32` elements.
    pub fn from_i32(v: &[i32]) -> Self {
        Data(v.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    /// From `f32` elements.
    pub fn from_f32(v: &[f32]) -> Self {
        Data(v.iter().flat_map(|x| x.to_le_bytes()).collect())
    }

    /// From integers as elements of a type, of which the low bits are kept: the inverse of [`Data::to_ints`]. Of floats they are the bits.
    pub fn from_ints(dtype: DType, values: impl IntoIterator<Item = i64>) -> Self {
        let values = values.into_iter();
        Data(match dtype {
            DType::I8 | DType::U8 | DType::Bool => values.map(|x| x as u8).collect(),
            DType::I16 => values.flat_map(|x| (x as i16).to_le_bytes()).collect(),
            DType::I32 | DType::F32 => values.flat_map(|x| (x as i32).to_le_bytes()).collect(),
            DType::I64 => values.flat_map(i64::to_le_bytes).collect(),
        })
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The elements as `i8`.
    pub fn to_i8(&self) -> Vec<i8> {
        self.0.iter().map(|&b| b as i8).collect()
    }

    /// The elements as `i32`. Trailing bytes that make no element are ignored.
    pub fn to_i32(&self) -> Vec<i32> {
        self.0.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    /// The elements as `f32`. Trailing bytes that make no element are ignored.
    pub fn to_f32(&self) -> Vec<f32> {
        self.0.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    }

    /// The elements of an integer type widened to `i64`; empty for `F32`.
    pub fn to_ints(&self, dtype: DType) -> Vec<i64> {
        let b = &self.0;
        match dtype {
            DType::F32 => Vec::new(),
            DType::I8 => b.iter().map(|&x| i64::from(x as i8)).collect(),
            DType::U8 | DType::Bool => b.iter().map(|&x| i64::from(x)).collect(),
            DType::I16 => b.chunks_exact(2).map(|c| i64::from(i16::from_le_bytes([c[0], c[1]]))).collect(),
            DType::I32 => self.to_i32().into_iter().map(i64::from).collect(),
            DType::I64 => {
                let word = |c: &[u8]| i64::from_le_bytes([c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]]);
                b.chunks_exact(8).map(word).collect()
            }
        }
    }
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Data({} bytes)", self.0.len())
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueDef {
    /// An input of the graph.
    Input,
    /// What a state held when the evaluation began.
    State,
    /// Known at compile time.
    Const(Data),
    /// Computed by a node.
    Node(NodeId),
}

/// One SSA value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// The name from the model file, for messages and generated identifiers. Not unique; may be empty.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its one definition.
    pub def: ValueDef,
}

impl Value {
    /// The name for people: converters join the names of all that they fused with `;`, of which this is the first.
    pub fn label(&self) -> &str {
        self.name.split(';').next().unwrap_or_default()
    }
}

/// One operation: operands in, one result out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// What it computes, with its attributes.
    pub op: Op,
    /// Operands, in the order of the op table. Optional operands may be missing from the end only.
    pub operands: Vec<ValueId>,
    /// Its result.
    pub result: ValueId,
    /// Where it came from, for messages: `12 CONV_2D` in a TFLite file.
    pub origin: String,
}

/// A variable that lives from one evaluation to the next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// Its name in the model file.
    pub name: String,
    /// The value it has when an evaluation begins ([`ValueDef::State`]).
    pub current: ValueId,
    /// The value it takes when the evaluation ends (same type but for quantisation). `current` if it is never written.
    pub next: ValueId,
    /// What it holds after a reset.
    pub init: Data,
}

/// A model as one function. See the [module documentation](super) for what it means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// The model's name.
    pub name: String,
    values: Vec<Value>,
    nodes: Vec<Node>,
    /// Nodes in evaluation order; a node that is not listed is dead.
    pub order: Vec<NodeId>,
    /// Inputs in the model's order.
    pub inputs: Vec<ValueId>,
    /// Outputs in the model's order. A value may be listed twice, or be an input or constant.
    pub outputs: Vec<ValueId>,
    /// The model's variables.
    pub states: Vec<State>,
}

impl Graph {
    /// An empty graph.
    pub fn new(name: impl Into<String>) -> Self {
        Graph {
            name: name.into(),
            values: Vec::new(),
            nodes: Vec::new(),
            order: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            states: Vec::new(),
        }
    }

    /// Makes room for so many values and nodes, and no more.
    pub(crate) fn reserve(&mut self, values: usize, nodes: usize) {
        self.values.reserve_exact(values);
        self.nodes.reserve_exact(nodes);
        self.order.reserve_exact(nodes);
    }

    fn push_value(&mut self, name: impl Into<String>, ty: Type, def: ValueDef) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { name: name.into(), ty, def });
        id
    }

    /// Adds an input after those already there.
    pub fn add_input(&mut self, name: impl Into<String>, ty: Type) -> ValueId {
        let id = self.push_value(name, ty, ValueDef::Input);
        self.inputs.push(id);
        id
    }

    /// Adds a constant.
    pub fn add_const(&mut self, name: impl Into<String>, ty: Type, data: Data) -> ValueId {
        self.push_value(name, ty, ValueDef::Const(data))
    }

    /// Adds a state that keeps its value until its `next` is set.
    pub fn add_state(&mut self, name: impl Into<String>, ty: Type, init: Data) -> ValueId {
        let name = name.into();
        let current = self.push_value(name.clone(), ty, ValueDef::State);
        self.states.push(State { name, current, next: current, init });
        current
    }

    /// Adds a node at the end of the evaluation order and returns its result.
    pub fn add_node(
        &mut self,
        op: Op,
        operands: &[ValueId],
        name: impl Into<String>,
        ty: Type,
        origin: impl Into<String>,
    ) -> ValueId {
        let id = self.add_detached_node(op, operands, name, ty, origin);
        self.order.push(id);
        self.nodes[id.0 as usize].result
    }

    /// Adds a node that is not yet in the evaluation order; the caller puts it there.
    pub fn add_detached_node(
        &mut self,
        op: Op,
        operands: &[ValueId],
        name: impl Into<String>,
        ty: Type,
        origin: impl Into<String>,
    ) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let result = self.push_value(name, ty, ValueDef::Node(id));
        self.nodes.push(Node { op, operands: operands.to_vec(), result, origin: origin.into() });
        id
    }

    /// A value. Panics only on a handle of another graph.
    pub fn value(&self, id: ValueId) -> &Value {
        &self.values[id.0 as usize]
    }

    /// A value, if there is one of that handle.
    pub fn get_value(&self, id: ValueId) -> Option<&Value> {
        self.values.get(id.0 as usize)
    }

    /// A value, to be changed.
    pub fn value_mut(&mut self, id: ValueId) -> &mut Value {
        &mut self.values[id.0 as usize]
    }

    /// The type of a value.
    pub fn ty(&self, id: ValueId) -> &Type {
        &self.value(id).ty
    }

    /// A node. Panics only on a handle of another graph.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// A node, if there is one of that handle.
    pub fn get_node(&self, id: NodeId) -> Option<&Node> {
        self.nodes.get(id.0 as usize)
    }

    /// A node, to be changed.
    pub fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.nodes[id.0 as usize]
    }

    /// The live nodes in evaluation order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.order.iter().map(|&id| (id, self.node(id)))
    }

    /// All values, used or not.
    pub fn values(&self) -> impl Iterator<Item = (ValueId, &Value)> {
        self.values.iter().enumerate().map(|(i, v)| (ValueId(i as u32), v))
    }

    /// The data of a constant.
    pub fn const_data(&self, id: ValueId) -> Option<&Data> {
        match &self.value(id).def {
            ValueDef::Const(data) => Some(data),
            _ => None,
        }
    }

    /// Bytes of the constants that live nodes read.
    pub fn live_constant_bytes(&self) -> usize {
        let uses = self.use_counts();
        let used = self.values().filter(|(id, _)| uses[id.0 as usize] > 0);
        used.filter_map(|(id, _)| self.const_data(id)).map(|data| data.bytes().len()).sum()
    }

    /// The node that computes a value.
    pub fn producer(&self, id: ValueId) -> Option<NodeId> {
        match self.value(id).def {
            ValueDef::Node(node) => Some(node),
            _ => None,
        }
    }

    /// How often each value is used: by live nodes, as an output, and as a state's next value.
    pub fn use_counts(&self) -> Vec<usize> {
        let mut uses = vec![0; self.values.len()];
        let operands = self.nodes().flat_map(|(_, node)| node.operands.iter().copied());
        let ends = self.outputs.iter().copied().chain(self.states.iter().map(|s| s.next));
        for id in operands.chain(ends).collect::<Vec<_>>() {
            uses[id.0 as usize] += 1;
        }
        uses
    }

    /// Lets every use of `old` (operand, output, next state) name `new` instead.
    pub fn replace_uses(&mut self, old: ValueId, new: ValueId) {
        let swap = |id: &mut ValueId| {
            if *id == old {
                *id = new;
            }
        };
        self.nodes.iter_mut().flat_map(|n| &mut n.operands).for_each(swap);
        self.outputs.iter_mut().for_each(swap);
        self.states.iter_mut().for_each(|s| swap(&mut s.next));
    }
}
