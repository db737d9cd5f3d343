//! QuantizeLinear and DequantizeLinear, and what all operators on quantised tensors share.
//!
//! ONNX keeps scales beside tensors, the graph in types: a tensor gets its scale where an operator names it. Unsigned activations are stored as signed ones, which are less
//! by 128, as their zero points are: every number stays what it is, and the kernels are those for `i8`. Where a file looks at the unsigned ones, a requantisation by one stands
//! between them, which passes remove again.

use super::cx::NodeCx;
use super::{describe, All, Lowered, One, Operators, Refusal};
use kiln_ir::{
    AddRescale, Clamp, DType, Data, Op, Quant, Real, Rescale, Rounding, Shape, Type, Unary, ValueId,
};

pub(super) const OPERATORS: Operators = &[
    ("DequantizeLinear", One(dequantize_linear)),
    ("QuantizeLinear", All(quantize_linear)),
    ("com.microsoft.DequantizeLinear", One(dequantize_linear)),
    ("com.microsoft.QuantizeLinear", All(quantize_linear)),
];

/// Scales and zero points that an operator names.
#[derive(Clone, Debug)]
pub(super) struct Scales {
    /// One, or one per index of an axis.
    pub(super) scales: Vec<f32>,
    /// As many.
    pub(super) zeros: Vec<i64>,
    /// Element type of the zero points, if they are given.
    pub(super) dtype: Option<DType>,
}

impl Scales {
    /// Those of operands `scale` and `zero`.
    pub(super) fn read(cx: &mut NodeCx<'_, '_, '_>, scale: usize, zero: usize) -> Lowered<Scales> {
        let scales = cx.floats(scale, "scale")?;
        if let Some(odd) = scales.iter().find(|scale| !(scale.is_finite() && **scale > 0.0)) {
            return Err(malformed!("its scale (operand {scale}) is {odd}"));
        }
        let (zeros, dtype) = match cx.optional(zero)? {
            None => (vec![0; scales.len()], None),
            Some(value) => {
                let dtype = cx.ty(value).dtype;
                let Some(data) = cx.data(value) else {
                    let help = "export the model with constant scales and zero points";
                    let what = format!("its zero point (operand {zero}) is computed at run time");
                    return Err(Refusal::unsupported(what, help));
                };
                (data.to_ints(dtype), Some(dtype))
            }
        };
        // One zero point may stand for all.
        let zeros = if zeros.len() == 1 { vec![zeros[0]; scales.len()] } else { zeros };
        if scales.is_empty() || zeros.len() != scales.len() {
            return Err(malformed!("it has {} scales and {} zero points", scales.len(), zeros.len()));
        }
        Ok(Scales { scales, zeros, dtype })
    }

    /// The scale and zero point of a whole tensor.
    pub(super) fn single(&self) -> Lowered<(f32, i64)> {
        match (&self.scales[..], &self.zeros[..]) {
            (&[scale], &[zero]) => Ok((scale, zero)),
            _ => {
                let help = "quantise activations per tensor";
                let what = format!("its activations have {} scales, one per channel", self.scales.len());
                Err(Refusal::unsupported(what, help))
            }
        }
    }

    /// The type's quantisation.
    pub(super) fn quant(&self, axis: Option<usize>) -> Quant {
        Quant {
            scales: self.scales.iter().map(|&scale| Real(scale)).collect(),
            zero_points: self.zeros.iter().map(|&zero| zero as i32).collect(),
            axis: axis.filter(|_| self.scales.len() > 1),
        }
    }

    /// The axis that belongs to the scales, if they are several.
    fn axis(&self, cx: &NodeCx<'_, '_, '_>, dims: &[usize]) -> Lowered<Option<usize>> {
        if self.scales.len() == 1 {
            return Ok(None);
        }
        let axis = cx.axis(cx.int("axis", 1), dims.len())?;
        match dims[axis] == self.scales.len() {
            true => Ok(Some(axis)),
            false => Err(malformed!("{} scales do not fit axis {axis} of {dims:?}", self.scales.len())),
        }
    }
}

/// Scales and zero points of every element, where blocks of elements along an axis have scales of their own.
fn of_blocks(cx: &mut NodeCx<'_, '_, '_>, named: &Scales, dims: &[usize]) -> Lowered<Option<Scales>> {
    let size = match usize::try_from(cx.int("block_size", 0)) {
        Ok(0) => return Ok(None),
        Ok(size) => size,
        Err(_) => return Err(malformed!("its block size is negative")),
    };
    let axis = cx.axis(cx.int("axis", 1), dims.len())?;
    let scale = cx.input(1)?;
    let mut wanted = Shape(dims.to_vec());
    wanted.0[axis] = dims[axis].div_ceil(size);
    if cx.dims(scale) != wanted.dims() {
        let what =
            format!("scales {:?} do not fit blocks of {size} along axis {axis} of {dims:?}", cx.dims(scale));
        return Err(Refusal::malformed(what));
    }
    let (own, blocks) = (Shape(dims.to_vec()), wanted.strides());
    let strides = own.strides();
    let block = |element: usize| -> usize {
        let index = |k: usize| element / strides[k] % dims[k] / if k == axis { size } else { 1 };
        (0..dims.len()).map(|k| index(k) * blocks[k]).sum()
    };
    let count = own.numel();
    cx.importer.budget.charge(8 * count)?;
    let missing = || malformed!("a block has no scale");
    let scales = (0..count).map(|k| named.scales.get(block(k)).copied()).collect::<Option<_>>();
    let zeros = (0..count).map(|k| named.zeros.get(block(k)).copied()).collect::<Option<_>>();
    let (scales, zeros) = (scales.ok_or_else(missing)?, zeros.ok_or_else(missing)?);
    Ok(Some(Scales { scales, zeros, dtype: named.dtype }))
}

/// Requantisation by one: unsigned numbers as signed ones, and back.
fn same_number(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, ty: Type) -> Lowered<ValueId> {
    cx.add(Op::same_number(ty.dtype), &[x], ty)
}

/// A tensor with that scale and zero point: what an operator says that it has.
pub(super) fn scaled(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, quant: Quant) -> Lowered<ValueId> {
    let ty = cx.ty(x).clone();
    if ty.quant.as_ref() == Some(&quant) {
        return Ok(x);
    }
    let (lo, hi) = ty.dtype.int_range().unwrap_or((0, 0));
    if let Some(zero) = quant.zero_points.iter().find(|&&zero| i64::from(zero) < lo || i64::from(zero) > hi) {
        return Err(malformed!("the zero point {zero} does not fit {}", describe(&ty)));
    }
    let wanted = Type { quant: Some(quant), ..ty.clone() };
    if let Some(data) = cx.data(x) {
        let name = cx.importer.graph.value(x).name.clone();
        return Ok(cx.importer.graph.add_const(name, wanted, data));
    }
    // An input has the scale that its first reader names.
    if ty.quant.is_none() && cx.importer.graph.inputs.contains(&x) {
        cx.importer.graph.value_mut(x).ty = wanted;
        return Ok(x);
    }
    // The same stored values, read with another scale.
    cx.add_unfolded(Op::Reshape {}, &[x], wanted)
}

/// An activation of 8 or 16 bits as signed integers, with the scale and zero point that an operator names.
pub(super) fn signed(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, scale: f32, zero: i64) -> Lowered<ValueId> {
    let x = scaled(cx, x, Quant::per_tensor(scale, zero as i32))?;
    let ty = cx.ty(x).clone();
    match ty.dtype {
        DType::I8 | DType::I16 => Ok(x),
        DType::U8 => {
            let wanted = Type::quantized(DType::I8, ty.shape.dims(), scale, zero as i32 - 128);
            if let Some(data) = cx.data(x) {
                let less: Vec<i8> = data.bytes().iter().map(|&byte| (byte ^ 0x80) as i8).collect();
                return Ok(cx.importer.graph.add_const("signed", wanted, Data::from_i8(&less)));
            }
            // What was made unsigned before.
            let graph = &cx.importer.graph;
            let before = graph.producer(x).map(|id| graph.node(id));
            let before = before.filter(|node| matches!(node.op, Op::Requantize { .. }));
            let before = before.and_then(|node| node.operands.first().copied());
            match before.filter(|&before| *graph.ty(before) == wanted) {
                Some(before) => Ok(before),
                None => same_number(cx, x, wanted),
            }
        }
        _ => {
            let what = format!("arithmetic on quantised {} cannot be compiled", describe(&ty));
            Err(Refusal::unsupported(what, "quantise activations to int8, uint8 or int16"))
        }
    }
}

/// The type in which a result of that element type is computed.
pub(super) fn computed(dtype: DType, dims: &[usize], scale: f32, zero: i64) -> Lowered<Type> {
    let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
    malformed_if!(!(lo..=hi).contains(&zero), "the zero point {zero} does not fit {}", dtype.name());
    match dtype {
        DType::I8 | DType::I16 => Ok(Type::quantized(dtype, dims, scale, zero as i32)),
        DType::U8 => Ok(Type::quantized(DType::I8, dims, scale, zero as i32 - 128)),
        _ => {
            let what = format!("quantisation to {} cannot be compiled", dtype.name());
            Err(Refusal::unsupported(what, "quantise activations to int8, uint8 or int16"))
        }
    }
}

/// Binds the only result, of that element type in the file.
pub(super) fn bind_stored(cx: &mut NodeCx<'_, '_, '_>, y: ValueId, dtype: DType) -> Lowered {
    let y = in_file(cx, y, dtype)?;
    cx.bind(0, y)
}

/// What was computed, in that element type of the file.
fn in_file(cx: &mut NodeCx<'_, '_, '_>, y: ValueId, dtype: DType) -> Lowered<ValueId> {
    if dtype != DType::U8 {
        return Ok(y);
    }
    let ty = cx.ty(y).clone();
    let unsigned = Type::quantized(
        DType::U8,
        ty.shape.dims(),
        ty.scale().unwrap_or(1.0),
        ty.zero_point().saturating_add(128),
    );
    same_number(cx, y, unsigned)
}

/// QuantizeLinear.
fn quantize_linear(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let named = Scales::read(cx, 1, 2)?;
    let dims = cx.dims(x);
    let blocks = of_blocks(cx, &named, &dims)?;
    let axis = match blocks {
        Some(_) => None,
        None => named.axis(cx, &dims)?,
    };
    let dtype = match (named.dtype, cx.int("output_dtype", 0)) {
        (Some(dtype), _) => dtype,
        (None, 0) => DType::U8,
        (None, element) => super::tensor::dtype(element)?,
    };
    let x = match cx.ty(x).dtype {
        DType::F32 => x,
        DType::I32 => cx.add(Op::Cast {}, &[x], Type::plain(DType::F32, &dims))?,
        _ => {
            let what = format!("its operand {} is already quantised", cx.shown(x));
            return Err(Refusal::unsupported(what, "quantise only floats"));
        }
    };
    if axis.is_none() && blocks.is_none() {
        let (scale, zero) = named.single()?;
        let y = quantised(cx, x, (dtype, scale, zero), Rounding::Even)?;
        return cx.bind(0, y);
    }
    let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
    let (named, along) = match blocks {
        Some(blocks) => (blocks, dims.clone()),
        None => (named.clone(), along(axis, dims.len(), named.scales.len())),
    };
    let scale = cx.float_constant("scale", &along, &named.scales)?;
    let zeros: Vec<f32> = named.zeros.iter().map(|&zero| zero as f32).collect();
    let zero = cx.float_constant("zero point", &along, &zeros)?;
    let op = Op::Binary { function: kiln_ir::Binary::Div, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    let y = cx.add_like(op, &[x, scale], &dims)?;
    let y = cx.add_like(Op::Unary { function: Unary::Round }, &[y], &dims)?;
    let clamp = Clamp::Float { lo: Real(lo as f32), hi: Real(hi as f32) };
    let y = cx.add_like(Op::Add { rescale: AddRescale::Real, clamp }, &[y, zero], &dims)?;
    let y = cx.add(Op::Cast {}, &[y], Type::plain(dtype, &dims))?;
    cx.bind(0, y)
}

/// Floats as stored values of that element type, scale and zero point.
pub(crate) fn quantised(
    cx: &mut NodeCx<'_, '_, '_>,
    x: ValueId,
    (dtype, scale, zero): (DType, f32, i64),
    rounding: Rounding,
) -> Lowered<ValueId> {
    let ty = computed(dtype, &cx.dims(x), scale, zero)?;
    let y = cx.add(Op::Quantize { rounding }, &[x], ty)?;
    in_file(cx, y, dtype)
}

/// The shape of a constant with so many elements along an axis.
fn along(axis: Option<usize>, rank: usize, len: usize) -> Vec<usize> {
    match axis {
        Some(axis) => (0..rank).map(|own| if own == axis { len } else { 1 }).collect(),
        None => vec![],
    }
}

/// DequantizeLinear.
fn dequantize_linear(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let named = Scales::read(cx, 1, 2)?;
    let (dims, dtype) = (cx.dims(x), cx.ty(x).dtype);
    let blocks = of_blocks(cx, &named, &dims)?;
    let axis = match blocks {
        Some(_) => None,
        None => named.axis(cx, &dims)?,
    };
    let ty = Type::plain(DType::F32, &dims);
    if !matches!(dtype, DType::I8 | DType::U8 | DType::I16 | DType::I32) {
        let what = format!("its operand {} has a scale, which cannot be compiled", cx.shown(x));
        return Err(Refusal::unsupported(what, "quantise to int8, uint8, int16 or int32"));
    }
    if cx.data(x).is_some() && blocks.is_none() {
        // It stays a node: passes look for it.
        let stored = scaled(cx, x, named.quant(axis))?;
        let y = cx.add_unfolded(Op::Dequantize {}, &[stored], ty)?;
        return Ok(y);
    }
    if axis.is_none() && dtype != DType::I32 && blocks.is_none() {
        let (scale, zero) = named.single()?;
        let stored = signed(cx, x, scale, zero)?;
        let y = cx.add(Op::Dequantize {}, &[stored], ty)?;
        return Ok(y);
    }
    let (named, along) = match blocks {
        // Constants become floats.
        Some(blocks) => (blocks, dims.clone()),
        None => (named.clone(), along(axis, dims.len(), named.scales.len())),
    };
    let scale = cx.float_constant("scale", &along, &named.scales)?;
    let zeros: Vec<f32> = named.zeros.iter().map(|&zero| zero as f32).collect();
    let zero = cx.float_constant("zero point", &along, &zeros)?;
    let y = cx.add(Op::Cast {}, &[x], ty)?;
    let y = cx.add_like(Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT }, &[y, zero], &dims)?;
    cx.add_like(Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[y, scale], &dims)
}
