//! Which tensors of the file hold which values of the graph, and in which order.

use super::model::{Attribute, Element, Model, TensorId, OPSET_OF_OTHER_BITS};
use super::{Settings, Written};
use kiln_ir::{Clamp, DType, Data, Graph, Node, Op, Quant, Rounding, Type, ValueDef, ValueId};
use std::collections::HashMap;

/// Channel-last to channel-first: axis `i` of the result is axis `FIRST[i]` of the operand.
pub(super) const FIRST: [usize; 4] = [0, 3, 1, 2];
/// And back.
pub(super) const LAST: [usize; 4] = [0, 2, 3, 1];

/// The order of a tensor's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Axes {
    /// As in the graph.
    Own,
    /// Of an image \[n, h, w, c\]: \[n, c, h, w\].
    ChannelFirst,
}

impl Axes {
    /// What is given for each axis of the graph's, in this order.
    pub(super) fn ordered<T: Copy>(self, list: &[T]) -> Vec<T> {
        match (self, list) {
            (Axes::ChannelFirst, &[n, h, w, c]) => vec![n, c, h, w],
            _ => list.to_vec(),
        }
    }

    /// The place of an axis of the graph's.
    pub(super) fn place(self, axis: usize) -> usize {
        match self {
            Axes::Own => axis,
            Axes::ChannelFirst => *LAST_PLACES.get(axis).unwrap_or(&axis),
        }
    }
}

/// Where n, h, w and c are, channel-first.
const LAST_PLACES: [usize; 4] = [0, 2, 3, 1];

/// The state of one file.
pub(super) struct Writer<'g> {
    pub(super) graph: &'g Graph,
    pub(super) model: Model,
    settings: Settings,
    tensors: HashMap<(ValueId, Axes), TensorId>,
    /// Tensors that `DequantizeLinear` computes: from which one, and of which type.
    dequantised: HashMap<TensorId, (TensorId, DType, Quant)>,
    /// The other way round.
    quantised: HashMap<TensorId, TensorId>,
}

impl<'g> Writer<'g> {
    pub(super) fn new(graph: &'g Graph, settings: Settings) -> Self {
        let mut writer = Writer {
            graph,
            model: Model::new(),
            settings,
            tensors: HashMap::new(),
            dequantised: HashMap::new(),
            quantised: HashMap::new(),
        };
        for &id in &graph.inputs {
            let value = graph.value(id);
            let tensor = writer.model.input(&value.name, value.ty.dtype, &value.ty.shape);
            writer.tensors.insert((id, Axes::Own), tensor);
        }
        writer
    }

    /// The file, with the graph's outputs.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for &id in &self.graph.outputs {
            let value = self.graph.value(id);
            self.model.hint.clone_from(&value.name);
            let tensor = self.tensor(id, Axes::Own);
            self.model.output(tensor, &value.name, value.ty.dtype, &value.ty.shape);
        }
        self.model.into_bytes(&self.graph.name)
    }

    /// The dimensions of a value in the graph.
    pub(super) fn dims(&self, id: ValueId) -> &'g [usize] {
        self.graph.ty(id).shape.dims()
    }

    /// Whether a node's result is a tensor already.
    pub(super) fn has_any(&self, id: ValueId) -> bool {
        [Axes::Own, Axes::ChannelFirst].iter().any(|&axes| self.tensors.contains_key(&(id, axes)))
    }

    /// The order in which there is a computed value already: channel-first where there is a choice.
    pub(super) fn native(&self, id: ValueId) -> Axes {
        match self.tensors.contains_key(&(id, Axes::ChannelFirst)) {
            true => Axes::ChannelFirst,
            false => Axes::Own,
        }
    }

    /// The order in which an op that takes its operands in any computes: that of its first image. Of results of other ranks their own.
    pub(super) fn axes_of(&self, node: &Node) -> Axes {
        let computed = |&&id: &&ValueId| self.dims(id).len() == 4 && self.constant_of(id).is_none();
        match node.operands.iter().find(computed) {
            Some(&id) if self.dims(node.result).len() == 4 => self.native(id),
            _ => Axes::Own,
        }
    }

    /// The first operand of an op that takes it in any order, and that order.
    pub(super) fn operand(&mut self, node: &Node) -> (Axes, TensorId) {
        let axes = self.axes_of(node);
        (axes, self.tensor(node.operands[0], axes))
    }

    /// A tensor with a value.
    pub(super) fn tensor(&mut self, id: ValueId, axes: Axes) -> TensorId {
        if let Some(&tensor) = self.tensors.get(&(id, axes)) {
            return tensor;
        }
        let tensor = match self.constant_of(id) {
            Some((ty, data)) => {
                let (ty, data) = (ty.clone(), data.clone());
                let dims = axes.ordered(ty.shape.dims());
                let data = match axes {
                    Axes::Own => data,
                    Axes::ChannelFirst => permuted(&ty, &data, &FIRST),
                };
                self.constant(id, &ty, &dims, &data)
            }
            None => self.turned(id, axes),
        };
        self.tensors.insert((id, axes), tensor);
        tensor
    }

    /// A computed image in the other order. Between quantised ones, the transpose is one of stored values.
    fn turned(&mut self, id: ValueId, axes: Axes) -> TensorId {
        let other = if axes == Axes::Own { Axes::ChannelFirst } else { Axes::Own };
        let from = self.tensors[&(id, other)];
        let dims = self.dims(id);
        let perm = if axes == Axes::Own { LAST } else { FIRST };
        let to = axes.ordered(dims);
        let moves_nothing = dims.len() == 4 && (dims[3] == 1 || dims[1] * dims[2] == 1);
        let moved = match moves_nothing {
            true => self.reshaped(from, &to),
            false => self.transposed(from, &perm),
        };
        match self.dequantised.get(&from).cloned() {
            Some((_, dtype, quant)) => {
                let quantised = self.linear("QuantizeLinear", moved, dtype, &quant, None);
                self.dequantise(quantised, dtype, &quant, None)
            }
            None => moved,
        }
    }

    /// An operand of an op with broadcasting, whose result has these axes.
    pub(super) fn aligned(&mut self, id: ValueId, axes: Axes) -> TensorId {
        let dims = self.dims(id);
        if axes == Axes::Own || dims.len() == 4 || dims.iter().product::<usize>() == 1 {
            return self.tensor(id, if dims.len() == 4 { axes } else { Axes::Own });
        }
        let mut image = vec![1; 4 - dims.len()];
        image.extend(dims);
        let perm = FIRST.map(|axis| image[axis]);
        match self.constant_of(id) {
            Some((ty, data)) => {
                let ty = ty.with_shape(&image);
                let data = permuted(&ty, data, &FIRST);
                self.constant(id, &ty, &perm, &data)
            }
            None => {
                let own = self.tensor(id, Axes::Own);
                let own = self.reshaped(own, &image);
                self.transposed(own, &FIRST)
            }
        }
    }

    /// Makes a tensor the node's result.
    pub(super) fn bind(&mut self, node: &Node, axes: Axes, tensor: TensorId) -> Written {
        self.tensors.insert((node.result, axes), tensor);
        Ok(())
    }

    /// Makes a tensor, within bounds, the node's result.
    pub(super) fn bind_clamped(
        &mut self,
        node: &Node,
        axes: Axes,
        tensor: TensorId,
        clamp: &Clamp,
    ) -> Written {
        let tensor = self.clamped(tensor, clamp);
        self.bind(node, axes, tensor)
    }

    pub(super) fn clamped(&mut self, tensor: TensorId, clamp: &Clamp) -> TensorId {
        // (Clamps of infinite numbers to the largest one are left out.)
        let (lo, hi) = clamp.float_bounds();
        let open = |bound: f32| if bound.abs() == f32::MAX { f32::INFINITY.copysign(bound) } else { bound };
        match (open(lo), open(hi)) {
            (f32::NEG_INFINITY, f32::INFINITY) => tensor,
            (0.0, f32::INFINITY) => self.model.node("Relu", &[tensor], Vec::new()),
            _ => {
                let bounds =
                    [lo, hi].map(|bound| bound.is_finite().then(|| self.model.number("bound", bound)));
                let operands: Vec<Option<TensorId>> = match bounds {
                    [low, None] => vec![Some(tensor), low],
                    [low, high] => vec![Some(tensor), low, high],
                };
                self.model.node_of("Clip", &operands, &[true], Vec::new())[0]
            }
        }
    }

    pub(super) fn transposed(&mut self, tensor: TensorId, perm: &[usize]) -> TensorId {
        let perm = Attribute::Ints(perm.iter().map(|&axis| axis as i64).collect());
        self.model.node("Transpose", &[tensor], vec![("perm", perm)])
    }

    pub(super) fn reshaped(&mut self, tensor: TensorId, dims: &[usize]) -> TensorId {
        let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
        let shape = self.model.ints("shape", &dims);
        self.model.node("Reshape", &[tensor, shape], Vec::new())
    }

    /// Type and elements of a constant, also of a quantised one that is dequantised: then the type has a scale.
    pub(super) fn constant_of(&self, id: ValueId) -> Option<(&'g Type, &'g Data)> {
        let graph = self.graph;
        match graph.const_data(id) {
            Some(data) => Some((graph.ty(id), data)),
            None => self.quantised_constant(id),
        }
    }

    /// The constant that a value is dequantised from.
    pub(super) fn quantised_constant(&self, id: ValueId) -> Option<(&'g Type, &'g Data)> {
        let graph = self.graph;
        let ValueDef::Node(node) = graph.value(id).def else { return None };
        let node = graph.node(node);
        let &from = node.operands.first().filter(|_| matches!(node.op, Op::Dequantize {}))?;
        Some((graph.ty(from), graph.const_data(from)?))
    }

    /// A constant of these dimensions; a quantised one with its `DequantizeLinear`, along the first axis if it has scales along one.
    pub(super) fn constant(&mut self, id: ValueId, ty: &Type, dims: &[usize], data: &Data) -> TensorId {
        let name = self.graph.value(id).label();
        let name = if name.is_empty() { "constant" } else { name };
        let few = ty.dtype == DType::I8 && data.to_i8().iter().all(|&w| (-8..8).contains(&w));
        let plain = self.graph.const_data(id).is_some();
        let narrow = !plain && few && self.settings.narrow_weights;
        let element = if narrow { Element::I4 } else { Element::Of(ty.dtype) };
        let quant = ty.quant.as_ref().filter(|_| !plain);
        let tensor = self.model.constant(
            &if quant.is_some() { format!("{name}_quantized") } else { name.into() },
            element,
            dims,
            data.bytes(),
        );
        match quant {
            Some(quant) => {
                let hint = std::mem::replace(&mut self.model.hint, name.to_owned());
                let result = self.dequantise(tensor, ty.dtype, quant, Some(element));
                self.model.hint = hint;
                result
            }
            None => tensor,
        }
    }

    /// Quantize.
    pub(super) fn quantize(&mut self, node: &Node) -> Written {
        let (ty, (axes, x)) = (self.graph.ty(node.result), self.operand(node));
        let quant = ty.quant.clone().unwrap_or_else(|| Quant::per_tensor(1.0, 0));
        let tensor = match self.dequantised.get(&x) {
            // It had these stored values before.
            Some((from, dtype, before)) if *dtype == ty.dtype && *before == quant => *from,
            _ if node.op == (Op::Quantize { rounding: Rounding::EvenInverse }) => {
                let scales = quant.scales.iter().map(|scale| 1.0 / scale.0).collect::<Vec<_>>();
                let inverse = self.model.constant(
                    "inverse",
                    Element::Of(DType::F32),
                    &[],
                    Data::from_f32(&scales).bytes(),
                );
                let x = self.model.node("Mul", &[x, inverse], Vec::new());
                let whole = Quant::per_tensor(1.0, quant.zero_points.first().copied().unwrap_or(0));
                self.linear("QuantizeLinear", x, ty.dtype, &whole, None)
            }
            _ => self.linear("QuantizeLinear", x, ty.dtype, &quant, None),
        };
        self.bind(node, axes, tensor)
    }

    /// Dequantize. That of a constant is written where it is needed.
    pub(super) fn dequantize(&mut self, node: &Node) -> Written {
        if self.quantised_constant(node.result).is_some() {
            return Ok(());
        }
        let (ty, (axes, x)) = (self.graph.ty(node.operands[0]), self.operand(node));
        let quant = ty.quant.clone().unwrap_or_else(|| Quant::per_tensor(1.0, 0));
        let tensor = self.dequantise(x, ty.dtype, &quant, None);
        self.bind(node, axes, tensor)
    }

    fn dequantise(&mut self, x: TensorId, dtype: DType, quant: &Quant, element: Option<Element>) -> TensorId {
        if let Some(&tensor) = self.quantised.get(&x) {
            return tensor;
        }
        let tensor = self.linear("DequantizeLinear", x, dtype, quant, element);
        self.dequantised.insert(tensor, (x, dtype, quant.clone()));
        self.quantised.insert(x, tensor);
        tensor
    }

    fn linear(
        &mut self,
        operator: &'static str,
        x: TensorId,
        dtype: DType,
        quant: &Quant,
        element: Option<Element>,
    ) -> TensorId {
        if dtype == DType::I16 || element == Some(Element::I4) {
            self.model.needs(OPSET_OF_OTHER_BITS);
        }
        let dims: &[usize] = if quant.axis.is_some() { &[quant.scales.len()] } else { &[] };
        let scales: Vec<f32> = quant.scales.iter().map(|scale| scale.0).collect();
        let bytes = Data::from_f32(&scales);
        let scale = self.model.constant("scale", Element::Of(DType::F32), dims, bytes.bytes());
        let zeros = Data::from_ints(dtype, quant.zero_points.iter().map(|&zero| i64::from(zero)));
        let zero =
            self.model.constant("zero_point", element.unwrap_or(Element::Of(dtype)), dims, zeros.bytes());
        let axis = quant.axis.map(|axis| ("axis", Attribute::Int(axis as i64)));
        self.model.node(operator, &[x, scale, zero], axis.into_iter().collect())
    }
}

/// The elements of a constant, which fit its type, with their axes in another order.
pub(super) fn permuted(ty: &Type, data: &Data, perm: &[usize]) -> Data {
    data.transposed(&ty.shape, ty.dtype.size(), perm).unwrap_or_else(|| data.clone())
}
