//! What one operator sees while it is lowered.

use super::packed::Packed;
use super::packed::UINT8;
use super::tensor::{check_size, depthwise, is_wide_unsigned, some_elements};
use super::{consts, Importer, Layout, Lowered, Refusal, Slot};
use crate::tflite::flexbuffer;
use crate::tflite::names;
use crate::tflite::options::Options;
use crate::tflite::schema::{Operator, Tensor};
use kiln_ir::options::Reference;
use kiln_ir::{DType, Data, Op, Quant, Shape, Type, ValueDef, ValueId};

/// By how much scales differ that are the same: the tolerance of TFLite's own checks.
pub(super) const SAME_SCALE: f32 = 1e-6;

/// The number formats whose arithmetic Kiln compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// Single-precision floats.
    Float,
    /// 8-bit signed integers, quantised per tensor.
    Int8,
    /// 16-bit integers, quantised per tensor around zero.
    Int16,
}

/// One operator, its operands and its place in the import.
pub(super) struct OpCx<'c, 'm, 'a> {
    pub(super) importer: &'c mut Importer<'m, 'a>,
    operator: &'c Operator<'a>,
    /// `12 CONV_2D`.
    origin: String,
}

impl<'c, 'm, 'a> OpCx<'c, 'm, 'a> {
    pub(super) fn new(
        importer: &'c mut Importer<'m, 'a>,
        operator: &'c Operator<'a>,
        origin: String,
    ) -> Self {
        OpCx { importer, operator, origin }
    }

    // ---- Operands and attributes

    /// Where the operator stands: `12 CONV_2D`.
    pub(super) fn origin(&self) -> &str {
        &self.origin
    }

    /// Number of operands, absent ones included.
    pub(super) fn input_count(&self) -> usize {
        self.operator.inputs.len()
    }

    /// Number of results.
    pub(super) fn output_count(&self) -> usize {
        self.operator.outputs.len()
    }

    /// Operand `k`, which must be there.
    pub(super) fn input(&mut self, k: usize) -> Lowered<ValueId> {
        self.input_as(k, Layout::Plain)
    }

    /// Operand `k`, if it is there.
    pub(super) fn optional_input(&mut self, k: usize) -> Lowered<Option<ValueId>> {
        match self.operator.inputs.get(k) {
            None | Some(-1) => Ok(None),
            Some(_) => self.input(k).map(Some),
        }
    }

    /// Operand `k` in a layout of its own, if it is a constant of the file.
    pub(super) fn input_as(&mut self, k: usize, layout: Layout) -> Lowered<ValueId> {
        let index = self.input_tensor(k)?;
        self.importer.read(index, layout)
    }

    /// Operand `k`, weights of a convolution, with the filters along the first axis, whether they are constants or computed.
    pub(super) fn filters(&mut self, k: usize, layout: Layout) -> Lowered<ValueId> {
        let weights = self.input_as(k, layout)?;
        let is_computed = matches!(self.importer.slot(self.input_tensor(k)?), Slot::Value(_));
        if !is_computed || layout != Layout::Depthwise {
            return Ok(weights);
        }
        let ty = self.ty(weights).clone();
        if let Some(data) = self.data(weights) {
            self.charge(ty.bytes())?;
            let (ty, data) = depthwise(ty, data.bytes())?;
            return Ok(self.constant("weights", ty, data));
        }
        let &[1, kh, kw, channels] = ty.shape.dims() else {
            return Err(malformed!("depthwise weights {}, expected [1, h, w, c]", describe(&ty)));
        };
        let axis = |axis: usize| [3, 1, 2, 0].iter().position(|&from| from == axis);
        let quant = ty.quant.as_ref().map(|q| Quant { axis: q.axis.and_then(axis), ..q.clone() });
        let ty = Type { quant, ..ty.with_shape(&[channels, kh, kw, 1]) };
        self.node(Op::Transpose { perm: vec![3, 1, 2, 0] }, &[weights], 0, ty)
    }

    /// Tensor index of operand `k`.
    pub(super) fn input_tensor(&self, k: usize) -> Lowered<i32> {
        let index = self.operator.inputs.get(k).filter(|&index| index != -1);
        index.ok_or_else(|| malformed!("operand {k} is missing"))
    }

    /// The resource variable that operand `k` is a handle of.
    pub(super) fn handle(&self, k: usize) -> Lowered<usize> {
        match self.importer.slot(self.input_tensor(k)?) {
            Slot::Handle(resource) => Ok(resource),
            Slot::Refused => Err(Refusal::Follows),
            _ => Err(malformed!("operand {k} is not the handle of a variable")),
        }
    }

    /// The integers of operand `k`, which must be a constant.
    pub(super) fn ints(&mut self, k: usize, what: &str) -> Lowered<Vec<i64>> {
        let value = self.input(k)?;
        let not_constant = || {
            let help = "convert the model with fixed shapes, so that it can be computed from constants";
            Refusal::unsupported(format!("its {what} (operand {k}) is computed at run time"), help)
        };
        let ty = self.ty(value).clone();
        let data = self.importer.graph.const_data(value).ok_or_else(not_constant)?;
        if !matches!(ty.dtype, DType::I32 | DType::I64) || ty.shape.rank() > 2 || ty.shape.numel() > 64 {
            return Err(malformed!("its {what} (operand {k}) is {}", describe(&ty)));
        }
        Ok(data.to_ints(ty.dtype))
    }

    /// The operator's attributes. `kind` is their number in the schema's `BuiltinOptions`.
    pub(super) fn options(&self, kind: u8) -> Lowered<Options<'a>> {
        match (self.operator.options, self.operator.options_type) {
            (None, _) => Ok(Options(None)),
            (Some(table), stated) if stated == kind => Ok(Options(Some(table))),
            (_, stated) => Err(malformed!("its options are of kind {stated}, expected {kind}")),
        }
    }

    /// Name of a custom operator, and whether its attributes are where they are not read.
    pub(super) fn custom_name(&self) -> Lowered<(String, bool)> {
        let code = self.importer.model.code(self.operator);
        let code = code.ok_or_else(|| malformed!("its operator code does not exist"))?;
        Ok((code.custom.text().into_owned(), self.operator.has_far_options))
    }

    /// Whether a custom operator is a function of the user's.
    pub(super) fn is_bound(&self) -> Lowered<bool> {
        let (name, _) = self.custom_name()?;
        Ok(self.importer.options.custom_ops.iter().any(|bound| bound.name == name))
    }

    /// The attributes of a custom operator.
    pub(super) fn custom_options(&self) -> &'a [u8] {
        self.operator.custom_options
    }

    /// Whose arithmetic is wanted.
    pub(super) fn reference(&self) -> Reference {
        self.importer.options.reference
    }

    /// The type of a value.
    pub(super) fn ty(&self, value: ValueId) -> &Type {
        self.importer.graph.ty(value)
    }

    /// The type of a value for messages.
    pub(super) fn shown(&self, value: ValueId) -> String {
        describe(self.ty(value))
    }

    /// The dimensions of a value.
    pub(super) fn dims(&self, value: ValueId) -> Vec<usize> {
        self.ty(value).shape.0.clone()
    }

    /// The constant data of a value.
    pub(super) fn data(&self, value: ValueId) -> Option<Data> {
        self.importer.graph.const_data(value).cloned()
    }

    /// What a value is, if it follows from constants.
    pub(super) fn known(&self, value: ValueId) -> Option<Data> {
        consts::known(&self.importer.graph, value, &mut 64)
    }

    // ---- Results

    /// The tensor of result `k`.
    pub(super) fn output_tensor(&self, k: usize) -> Lowered<Tensor<'a>> {
        let tensor = self.operator.outputs.get(k).and_then(|index| self.importer.sub.tensor(index));
        tensor.copied().ok_or_else(|| malformed!("result {k} is missing"))
    }

    /// Whether the file says which shape result `k` has, and that is its shape with the sizes that were given for inputs.
    pub(super) fn has_static_shape(&self, k: usize) -> Lowered<bool> {
        Ok(!self.importer.is_resized && self.output_tensor(k)?.has_static_shape())
    }

    /// The type of result `k` as the file declares it.
    pub(super) fn declared(&mut self, k: usize) -> Lowered<Type> {
        let tensor = self.output_tensor(k)?;
        self.importer.tensor_type(&tensor)
    }

    /// Adds a node that computes result `k`, of the declared element type and quantisation and of shape `dims`.
    pub(super) fn emit(&mut self, op: Op, operands: &[ValueId], k: usize, dims: &[usize]) -> Lowered {
        let ty = Type { shape: Shape(dims.to_vec()), ..self.declared(k)? };
        let value = self.node(op, operands, k, ty)?;
        self.bind(k, value)
    }

    /// Adds a node that computes result `k` from stored values that it moves or compares but does not change: operands and
    /// result have one element type and, up to the tolerance of TFLite's own checks, one quantisation.
    pub(super) fn emit_moved(&mut self, op: Op, operands: &[ValueId], k: usize, dims: &[usize]) -> Lowered {
        self.emit_within(SAME_SCALE, op, operands, k, dims)
    }

    /// As [`emit_moved`](Self::emit_moved), for scales that differ by so much at most.
    pub(super) fn emit_within(
        &mut self,
        tolerance: f32,
        op: Op,
        operands: &[ValueId],
        k: usize,
        dims: &[usize],
    ) -> Lowered {
        let declared = self.declared(k)?;
        let Some(&first) = operands.first() else { return Err(malformed!("it has no operands")) };
        let moved = Type { shape: Shape(dims.to_vec()), ..self.ty(first).clone() };
        let mut alike = Vec::new();
        for &x in operands {
            self.quant_within(tolerance, self.ty(x), &declared)?;
            alike.push(self.reinterpret(x, moved.quant.clone(), k)?);
        }
        let value = self.node(op, &alike, k, moved)?;
        let value = self.reinterpret(value, declared.quant, k)?;
        self.bind(k, value)
    }

    /// Lets result `k` be `x` with shape `dims`, and with the quantisation that the file declares for the result.
    pub(super) fn emit_reshaped(&mut self, x: ValueId, k: usize, dims: &[usize]) -> Lowered {
        let declared = self.declared(k)?;
        if self.ty(x).dtype != declared.dtype {
            let what =
                format!("operand {} and result {} have different types", self.shown(x), describe(&declared));
            return Err(Refusal::malformed(what));
        }
        self.emit(Op::Reshape {}, &[x], k, dims)
    }

    /// The stored values of `x` with the quantisation that the file declares for result `k`, which is the same up to the tolerance of TFLite's
    /// own checks.
    pub(super) fn as_result(&mut self, x: ValueId, k: usize) -> Lowered<ValueId> {
        let declared = self.declared(k)?;
        self.same_quant(self.ty(x), &declared)?;
        self.reinterpret(x, declared.quant, k)
    }

    /// The same stored values with another quantisation.
    pub(super) fn reinterpret(&mut self, x: ValueId, quant: Option<Quant>, k: usize) -> Lowered<ValueId> {
        match self.ty(x).quant == quant {
            true => Ok(x),
            false => self.node(Op::Reshape {}, &[x], k, Type { quant, ..self.ty(x).clone() }),
        }
    }

    /// Adds a node on the way to result `k`, after which it is named.
    pub(super) fn node(&mut self, op: Op, operands: &[ValueId], k: usize, ty: Type) -> Lowered<ValueId> {
        check_size(ty.dtype, ty.shape.dims())?;
        let each = ty.quant.as_ref().and_then(|quant| Some((quant.axis?, quant.scales.len())));
        if each.is_some_and(|(axis, scales)| ty.shape.dims().get(axis) != Some(&scales)) {
            let what =
                format!("it moves {}, which has a separate scale for each index of an axis", describe(&ty));
            return Err(Refusal::unsupported(what, "quantise with one scale for the whole tensor"));
        }
        let name = self.output_tensor(k)?.name.text();
        let is_empty = ty.shape.numel() == 0;
        // Lists of dimensions may be empty.
        if !is_empty || matches!(ty.dtype, DType::I32 | DType::I64) {
            let in_subgraph = !self.importer.caller.is_empty();
            if let Some(data) = consts::evaluate(&self.importer.graph, &op, operands, &ty, in_subgraph) {
                return Ok(self.importer.graph.add_const(name, ty, data));
            }
        }
        // Nothing is left to compute: loops slice off no rows at their beginning and end.
        if is_empty {
            return Ok(self.importer.graph.add_const(name, ty, Data::new(Vec::<u8>::new())));
        }
        let has_elements = |&id: &ValueId| self.ty(id).shape.numel() > 0;
        let kept: Vec<ValueId> = operands.iter().copied().filter(has_elements).collect();
        let operands = match (&op, &kept[..]) {
            _ if kept.len() == operands.len() => operands,
            (Op::Concat { .. }, &[one]) => return Ok(one),
            (Op::Concat { .. }, several) => several,
            (Op::Pad { value, .. }, _) => {
                self.charge(ty.bytes())?;
                let element = value.to_le_bytes();
                let element = element.get(..ty.dtype.size()).unwrap_or_default();
                let data = Data::new(element.repeat(ty.shape.numel()));
                return Ok(self.constant(&name, ty, data));
            }
            _ => {
                let what = "its operand has no elements";
                return Err(Refusal::unsupported(what, "remove the operator, or use a larger input shape"));
            }
        };
        self.importer.budget.node(operands.len())?;
        Ok(self.importer.graph.add_node(op, operands, name, ty, self.origin.clone()))
    }

    /// Accounts for so many bytes that the compiler makes of the file.
    pub(super) fn charge(&mut self, bytes: usize) -> Lowered {
        self.importer.budget.charge(bytes).map_err(Refusal::Fatal)
    }

    /// Adds a constant.
    pub(super) fn constant(&mut self, name: &str, ty: Type, data: Data) -> ValueId {
        self.importer.graph.add_const(name, ty, data)
    }

    /// Lets result `k` be `value`. If the file declares another shape of as many elements, the value takes it.
    pub(super) fn bind(&mut self, k: usize, value: ValueId) -> Lowered {
        let tensor = self.output_tensor(k)?;
        let declared = self.importer.tensor_type(&tensor)?;
        let inferred = self.ty(value).clone();
        let mut value = value;
        // Where the rank is open, files say so by calling it a scalar.
        let is_open = declared.shape.rank() == 0 && inferred.shape.numel() != 1;
        if self.has_static_shape(k)? && !is_open && declared.shape != inferred.shape {
            if declared.shape.checked_numel() != inferred.shape.checked_numel() {
                return Err(malformed!(
                    "the file says that result {k} has shape {:?}, but the operator computes {:?}",
                    declared.shape.dims(),
                    inferred.shape.dims()
                ));
            }
            value = self.node(Op::Reshape {}, &[value], k, Type { shape: declared.shape, ..inferred })?;
        }
        let Some(index) = self.operator.outputs.get(k) else { return Ok(()) };
        if let Slot::Value(old) = self.importer.slot(index) {
            self.importer.write_variable(old, value)?;
        }
        self.importer.set_slot(index, Slot::Value(value));
        Ok(())
    }

    /// Lets result `k` be the handle of a resource variable.
    pub(super) fn bind_handle(&mut self, k: usize, resource: usize) {
        if let Some(index) = self.operator.outputs.get(k) {
            self.importer.set_slot(index, Slot::Handle(resource));
        }
    }

    /// The type that an operand has in the file where that is uint8, and the graph has int8 instead.
    pub(super) fn as_stored(&self, value: ValueId) -> Option<Type> {
        let ty = self.ty(value);
        let (scale, zero_point) = (ty.scale()?, ty.zero_point());
        // Other operators of the file may have int8.
        let tensors = self.operator.inputs.iter().filter_map(|index| self.importer.sub.tensor(index));
        let reads_unsigned = tensors.map(|tensor| tensor.element).any(|element| element == UINT8);
        let signed_here = self.importer.is_unsigned && ty.dtype == DType::I8 && reads_unsigned;
        signed_here.then(|| Type::quantized(DType::U8, ty.shape.dims(), scale, zero_point + 128))
    }

    /// `value` as one of type `ty`, which differs at most in signedness.
    pub(super) fn same_number(&mut self, value: ValueId, ty: Type) -> ValueId {
        self.importer.same_number(value, ty)
    }

    /// Lets result `k` be the constant that operand `of` is, or is a name of.
    pub(super) fn bind_constant(&mut self, k: usize, of: usize) -> Lowered {
        let operand = self.input_tensor(of)?;
        let constant = match self.importer.slot(operand) {
            Slot::Constant(constant) => constant,
            _ => operand,
        };
        let Some(index) = self.operator.outputs.get(k) else { return Ok(()) };
        // So that no name leads back to itself.
        malformed_if!(self.importer.has_data(index), "its result (tensor {index}) is a constant");
        self.importer.set_slot(index, Slot::Constant(constant));
        Ok(())
    }

    /// The value that result `k` is bound to.
    pub(super) fn result(&mut self, k: usize) -> Lowered<ValueId> {
        let index = self.operator.outputs.get(k);
        let index = index.ok_or_else(|| malformed!("result {k} is missing"))?;
        self.importer.read(index, Layout::Plain)
    }

    /// What the operator remembers of earlier invocations: a new state, and its value so far.
    pub(super) fn state(&mut self, what: &str, ty: Type, init: Data) -> Lowered<ValueId> {
        check_size(ty.dtype, ty.shape.dims())?;
        some_elements(&ty, "a state")?;
        self.charge(super::OPERATOR_BYTES)?;
        let name = format!("{}/{what}", self.output_tensor(0)?.name.text());
        Ok(self.importer.graph.add_state(name, ty, init))
    }

    /// Lets a state whose value was `old` so far have the value `new` when the invocation ends.
    pub(super) fn set_state(&mut self, old: ValueId, new: ValueId) -> Lowered {
        self.importer.write_variable(old, new)
    }

    // ---- Checks

    /// Whether an operand or a result is of uint32 or uint64.
    pub(super) fn has_wide_unsigned(&self) -> bool {
        let tensors = self.operator.inputs.iter().chain(self.operator.outputs.iter());
        tensors.filter_map(|index| self.importer.sub.tensor(index)).any(is_wide_unsigned)
    }

    /// Whether operand `k` has no sign in the file, and more than eight bits.
    pub(super) fn is_unsigned_input(&self, k: usize) -> bool {
        let tensor = self.operator.inputs.get(k).and_then(|index| self.importer.sub.tensor(index));
        tensor.is_some_and(is_wide_unsigned)
    }

    /// Whether operand `k` has elements of four bits in the file.
    pub(super) fn is_int4_input(&self, k: usize) -> bool {
        let tensor = self.operator.inputs.get(k).and_then(|index| self.importer.sub.tensor(index));
        tensor.is_some_and(|tensor| Packed::of(tensor.element) == Some(Packed::Int4))
    }

    /// The whole numbers among the options of a custom operator, by name.
    pub(super) fn custom_numbers(&self) -> Lowered<Vec<(&'a [u8], i64)>> {
        flexbuffer::numbers(self.operator.custom_options)
            .map_err(|broken| malformed!("its options are damaged: {broken}"))
    }

    /// Whether all of `values` and result 0 are integers of one type without quantisation.
    pub(super) fn is_plain(&mut self, values: &[ValueId]) -> Lowered<bool> {
        let result = self.declared(0)?;
        let plain = matches!(result.dtype, DType::I32 | DType::I64) && result.quant.is_none();
        let alike = |&v: &ValueId| self.ty(v).dtype == result.dtype && self.ty(v).quant.is_none();
        Ok(plain && values.iter().all(alike))
    }

    /// The format in which all of `values` and result 0 are, if it is one that Kiln computes in.
    pub(super) fn format(&mut self, values: &[ValueId]) -> Lowered<Format> {
        let result = self.declared(0)?;
        let mut types: Vec<Type> = values.iter().map(|&v| self.ty(v).clone()).collect();
        types.push(result);
        if types.iter().all(|t| t.dtype == DType::F32) {
            return Ok(Format::Float);
        }
        let list = types.iter().map(describe).collect::<Vec<_>>().join(", ");
        let has = |dtype| types.iter().any(|t| t.dtype == dtype);
        if types.iter().all(|t| t.dtype == DType::I16 && t.scale().is_some()) {
            if let Some(ty) = types.iter().find(|t| t.zero_point() != 0) {
                let what =
                    format!("{} has the zero point {}, but it has to be 0", describe(ty), ty.zero_point());
                return Err(Refusal::unsupported(what, "convert the model again with a current converter"));
            }
            return Ok(Format::Int16);
        }
        if types.iter().any(|t| t.dtype != DType::I8) {
            let help = match has(DType::F32) {
                true => "convert with full-integer quantisation (a representative dataset), or without quantisation",
                false if has(DType::U8) => "convert again with int8 quantisation (uint8 is the old scheme)",
                false => "convert the model to float32 or to full-integer int8",
            };
            let hybrid = has(DType::F32) && has(DType::I8);
            let what = if hybrid {
                "hybrid arithmetic (int8 weights with float32 activations)"
            } else {
                "arithmetic"
            };
            return Err(Refusal::unsupported(format!("{what} on {list} cannot be compiled"), help));
        }
        match types.iter().all(|t| t.quant.is_some()) {
            true => Ok(Format::Int8),
            false => Err(malformed!("an int8 tensor has no quantisation: {list}")),
        }
    }

    /// The per-tensor scale of a quantised type.
    pub(super) fn scale(&self, ty: &Type, role: &str) -> Lowered<f32> {
        match ty.scale() {
            Some(scale) if scale > 0.0 => Ok(scale),
            Some(scale) => Err(malformed!("the scale of its {role} is {scale}")),
            None => Err(Refusal::unsupported(
                format!("its {role} is not quantised per tensor"),
                "quantise activations per tensor; only weights may be quantised per channel",
            )),
        }
    }

    /// ` (operands; results)` for messages, from what the file declares.
    pub(super) fn describe(&self) -> String {
        let sub = self.importer.sub;
        let list = |indices: Vec<i32>| {
            let one = |i: i32| sub.tensor(i).map_or_else(|| "-".to_string(), describe_tensor);
            indices.into_iter().map(one).collect::<Vec<_>>().join(", ")
        };
        let inputs = list(self.operator.inputs.iter().take(8).collect());
        let outputs = list(self.operator.outputs.iter().take(8).collect());
        format!(" ({inputs} → {outputs})")
    }

    /// Whether result `k` is a constant of the graph.
    pub(super) fn is_const(&self, value: ValueId) -> bool {
        matches!(self.importer.graph.value(value).def, ValueDef::Const(_))
    }
}

/// `int8[1, 8]` of a tensor in the file.
pub(in crate::tflite) fn describe_tensor(tensor: &Tensor<'_>) -> String {
    let dims: Vec<i32> = tensor.signature.unwrap_or(tensor.shape).iter().take(8).collect();
    format!("{}{dims:?}", names::element(tensor.element))
}

/// `int8[1, 8]` of a type, with a word on its quantisation where it is per channel.
pub(super) fn describe(ty: &Type) -> String {
    let per_channel = matches!(&ty.quant, Some(Quant { axis: Some(_), .. }));
    let element = names::dtype(ty.dtype);
    format!("{element}{:?}{}", ty.shape.dims(), if per_channel { " per channel" } else { "" })
}

/// An axis that may count from the end.
pub(super) fn axis(index: i64, rank: usize) -> Lowered<usize> {
    let from_end =
        i64::try_from(rank)
            .ok()
            .and_then(|rank| if index < 0 { index.checked_add(rank) } else { Some(index) });
    let axis = from_end.and_then(|i| usize::try_from(i).ok()).filter(|&i| i < rank);
    axis.ok_or_else(|| malformed!("there is no axis {index}: the tensor has {rank} axes"))
}
