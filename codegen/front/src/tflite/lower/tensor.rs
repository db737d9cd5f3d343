//! Tensors of the file to types and constants of the graph.

use super::packed::{Packed, UINT8};
use super::{Importer, Layout, Lowered, Refusal, Slot};
use crate::tflite::names;
use crate::tflite::schema::{Quantization, Tensor};
use kiln_ir::{DType, Data, Quant, Real, Shape, Type, ValueId};

/// Largest tensor that is compiled, in bytes. No microcontroller has as much memory, and every stage may assume that
/// sizes in bytes fit in 32 bits.
const LARGEST_TENSOR: usize = 1 << 30;
/// Most axes a tensor may have; the kernels' strides are arrays of this length.
pub(super) const LARGEST_RANK: usize = 6;

impl<'m, 'a> Importer<'m, 'a> {
    /// The type of a tensor as the file declares it. Open dimensions count 1.
    ///
    /// Where the model [computes on uint8](Importer::is_unsigned), quantised bytes are int8: 128 less, their zero point too.
    pub(super) fn tensor_type(&mut self, tensor: &Tensor<'a>) -> Lowered<Type> {
        let mut ty = self.stored_type(tensor)?;
        if self.is_signed_here(tensor) {
            ty.dtype = DType::I8;
            let zero_points = ty.quant.iter_mut().flat_map(|quant| &mut quant.zero_points);
            zero_points.for_each(|zero_point| *zero_point -= 128);
        }
        Ok(ty)
    }

    /// Whether a tensor's bytes are unsigned in the file and signed in the graph.
    fn is_signed_here(&self, tensor: &Tensor<'a>) -> bool {
        self.is_unsigned && tensor.element == UINT8 && tensor.quantization.is_some()
    }

    /// The type of a tensor, with its elements as the file has them.
    pub(super) fn stored_type(&mut self, tensor: &Tensor<'a>) -> Lowered<Type> {
        let dtype = dtype(tensor.element)?;
        let dims = dims(tensor)?;
        check_size(dtype, &dims)?;
        let quant = match (&tensor.quantization, dtype) {
            // Converters leave training ranges on float tensors; they mean nothing.
            (None, _) | (_, DType::F32 | DType::I64 | DType::Bool) => None,
            // A bias gets its scale from its operator; some files leave zeros here.
            (Some(q), DType::I32) if q.scales.iter().any(|s| s.is_nan() || s <= 0.0) => None,
            (Some(q), _) => Some(self.quant(tensor, q, dtype, &dims)?),
        };
        Ok(Type { dtype, shape: Shape(dims), quant })
    }

    fn quant(
        &mut self,
        tensor: &Tensor<'a>,
        q: &Quantization<'_>,
        dtype: DType,
        dims: &[usize],
    ) -> Lowered<Quant> {
        let count = q.scales.len();
        self.budget.charge(count.saturating_mul(16)).map_err(Refusal::Fatal)?;
        let mut scales: Vec<Real> = q.scales.iter().map(Real).collect();
        if scales.iter().any(|s| s.0 == 0.0) {
            if !self.holds_zeros(tensor, q, dtype, dims) {
                let what = format!(
                    "\"{}\" has the scale 0, but is not a constant whose stored values are all its zero point",
                    tensor.name
                );
                return Err(Refusal::unsupported(
                    what,
                    "check the quantisation of the model, or convert it again",
                ));
            }
            // All numbers are 0, whatever the scale: with this one factors of fixed point are 0, as the runtimes' are.
            scales.iter_mut().filter(|s| s.0 == 0.0).for_each(|s| *s = Real(f32::MIN_POSITIVE));
        }
        if scales.iter().any(|s| !s.0.is_finite() || s.0 <= 0.0) {
            return Err(malformed!("a quantisation scale is not a positive number"));
        }
        let (lo, hi) = dtype.int_range().unwrap_or((i64::MIN, i64::MAX));
        let zero_point = |i: usize| {
            let stated = q.zero_points.get(i).or(q.zero_points.get(0)).unwrap_or(0);
            let fits = i32::try_from(stated).ok().filter(|_| (lo..=hi).contains(&stated));
            fits.ok_or_else(|| malformed!("zero point {stated} lies outside {}", names::dtype(dtype)))
        };
        let zero_points = (0..count).map(zero_point).collect::<Lowered<Vec<_>>>()?;
        let axis = match count {
            1 => None,
            _ => Some(channel_axis(q.axis, count, dims).ok_or_else(|| {
                malformed!("{count} quantisation scales do not fit any axis of shape {dims:?}")
            })?),
        };
        Ok(Quant { scales, zero_points, axis })
    }

    /// Whether a tensor is a constant whose stored values are the zero point wherever the scale is 0.
    fn holds_zeros(&self, tensor: &Tensor<'a>, q: &Quantization<'_>, dtype: DType, dims: &[usize]) -> bool {
        let Ok(Some(bytes)) = self.model.buffer(tensor.buffer) else { return false };
        let zero_point = |channel: usize| q.zero_points.get(channel).or(q.zero_points.get(0)).unwrap_or(0);
        let numel = Shape(dims.to_vec()).checked_numel().unwrap_or(usize::MAX);
        if Some(bytes.len()) != numel.checked_mul(dtype.size()) {
            // Elements of four bits, two to a byte.
            return bytes.iter().all(|&byte| byte == 0) && (0..q.scales.len()).all(|c| zero_point(c) == 0);
        }
        let count = q.scales.len();
        let Some(axis) = (if count == 1 { Some(0) } else { channel_axis(q.axis, count, dims) }) else {
            return false;
        };
        let inner = dims.iter().skip(axis + 1).product::<usize>().max(1);
        let channel = |i: usize| if count == 1 { 0 } else { i / inner % count };
        let is_zero = |c: usize| q.scales.get(c).is_some_and(|scale| scale == 0.0);
        let each = bytes.chunks_exact(dtype.size());
        let stored = each.map(|element| match *element {
            [byte] if dtype == DType::U8 => i64::from(byte),
            [byte] => i64::from(byte as i8),
            [low, high] => i64::from(i16::from_le_bytes([low, high])),
            [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
            _ => i64::MIN,
        });
        stored.enumerate().all(|(i, x)| !is_zero(channel(i)) || x == zero_point(channel(i)))
    }

    /// The value of a tensor: computed before, or a constant, or a variable's.
    pub(super) fn read(&mut self, index: i32, layout: Layout) -> Lowered<ValueId> {
        match self.slot(index) {
            Slot::Value(value) => return Ok(value),
            // A constant of the file, and not another such name: this goes no deeper.
            Slot::Constant(constant) => return self.read(constant, layout),
            Slot::Refused => return Err(Refusal::Follows),
            Slot::Handle(_) => return Err(malformed!("tensor {index} is a variable's handle")),
            Slot::Empty => {}
        }
        if let Some(&value) = self.constants.get(&(self.sub_index(), index, layout)) {
            return Ok(value);
        }
        let Some(tensor) = self.sub.tensor(index) else {
            return Err(malformed!("there is no tensor {index}"));
        };
        if let Some((ty, data)) = self.constant(tensor, layout)? {
            let value = self.graph.add_const(tensor.name.text(), ty, data);
            self.constants.insert((self.sub_index(), index, layout), value);
            return Ok(value);
        }
        if tensor.is_variable {
            self.check_state_here()?;
            let ty = self.tensor_type(tensor)?;
            some_elements(&ty, "a variable")?;
            let init = self.cleared(&ty)?;
            let value = self.graph.add_state(tensor.name.text(), ty, init);
            self.set_slot(index, Slot::Value(value));
            return Ok(value);
        }
        Err(malformed!("tensor {index} \"{}\" is used before it is computed", tensor.name))
    }

    /// Whether the file has data for a tensor: it is no operator's result.
    pub(super) fn has_data(&self, index: i32) -> bool {
        let buffer = self.sub.tensor(index).map(|tensor| self.model.buffer(tensor.buffer));
        buffer.is_some_and(|bytes| !matches!(bytes, Ok(None)))
    }

    /// What a variable of that type holds before it is first written: every byte is the zero point's low byte.
    pub(super) fn cleared(&mut self, ty: &Type) -> Lowered<Data> {
        let bytes = ty.bytes();
        self.budget.charge(bytes.saturating_mul(2)).map_err(Refusal::Fatal)?;
        let fill = if ty.dtype == DType::I8 { ty.zero_point() as i8 as u8 } else { 0 };
        Ok(Data::new(vec![fill; bytes]))
    }

    /// Type and data of a constant tensor; `None` for one that has no data.
    pub(super) fn constant(&mut self, tensor: &Tensor<'a>, layout: Layout) -> Lowered<Option<(Type, Data)>> {
        if tensor.is_external {
            let help = "convert the model into a single file";
            return Err(Refusal::unsupported("its data lies in another file", help));
        }
        let bytes = self.model.buffer(tensor.buffer).map_err(Refusal::Fatal)?;
        let empty = tensor.shape.iter().any(|d| d == 0);
        let Some(bytes) = bytes.or(empty.then_some(&[][..])) else { return Ok(None) };
        if tensor.is_sparse {
            let what = format!("constant \"{}\" is stored as a sparse tensor", tensor.name);
            return Err(Refusal::unsupported(what, "convert the model without sparsity"));
        }
        let packed = match self.is_signed_here(tensor) {
            true => Some(Packed::Unsigned),
            false => Packed::of(tensor.element),
        };
        let mut tensor = *tensor;
        tensor.element = packed.map_or(tensor.element, Packed::element);
        let mut ty = self.tensor_type(&tensor)?;
        let expected = packed.map_or(ty.bytes(), |packed| packed.bytes(ty.shape.numel()));
        if bytes.len() != expected {
            let (name, have) = (tensor.name, bytes.len());
            return Err(malformed!("constant \"{name}\" has {have} bytes, expected {expected}"));
        }
        if let (Layout::Rows, Some(q)) = (layout, &mut ty.quant) {
            if q.axis.is_some() && ty.shape.dims().first() == Some(&q.scales.len()) {
                q.axis = Some(0);
            }
        }
        let unpacked;
        let (bytes, shared) = match packed {
            None => (bytes, true),
            Some(packed) => {
                self.budget.charge(2 * ty.bytes()).map_err(Refusal::Fatal)?;
                unpacked = packed.unpack(bytes, ty.shape.numel());
                (&unpacked[..], false)
            }
        };
        if layout == Layout::Depthwise {
            self.budget.charge(bytes.len()).map_err(Refusal::Fatal)?;
            return depthwise(ty, bytes).map(Some);
        }
        let key = (bytes.as_ptr() as usize, bytes.len());
        let data = match self.copies.get(&key) {
            _ if !shared => Data::new(bytes),
            Some(data) => data.clone(),
            None => {
                self.budget.charge(bytes.len()).map_err(Refusal::Fatal)?;
                let data = Data::new(bytes);
                self.copies.insert(key, data.clone());
                data
            }
        };
        Ok(Some((ty, data)))
    }
}

/// `TensorType` of uint64 and of uint32: signed elements of the graph hold their bits.
const UINT64: i8 = 12;
const UINT32: i8 = 15;

/// Whether a tensor's elements have no sign and more than eight bits.
pub(super) fn is_wide_unsigned(tensor: &Tensor<'_>) -> bool {
    matches!(tensor.element, UINT64 | UINT32)
}

/// The element type, if the graph has it.
pub(super) fn dtype(element: i8) -> Lowered<DType> {
    Ok(match element {
        0 => DType::F32,
        2 | UINT32 => DType::I32,
        UINT8 => DType::U8,
        4 | UINT64 => DType::I64,
        6 => DType::Bool,
        7 => DType::I16,
        9 => DType::I8,
        _ => {
            let what = format!("tensors of {} cannot be compiled", names::element(element));
            return Err(Refusal::unsupported(what, "convert the model to float32 or to full-integer int8"));
        }
    })
}

/// The dimensions; open ones count 1.
fn dims(tensor: &Tensor<'_>) -> Lowered<Vec<usize>> {
    if tensor.shape.len() > LARGEST_RANK {
        let what =
            format!("a tensor has {} axes; at most {LARGEST_RANK} can be compiled", tensor.shape.len());
        return Err(Refusal::unsupported(what, "split the operation into operations with fewer axes"));
    }
    let size = |d: i32| match d {
        -1 => Ok(1),
        _ => usize::try_from(d).map_err(|_| malformed!("dimension {d} of a shape is negative")),
    };
    tensor.shape.iter().map(size).collect()
}

/// Refuses tensors beyond [`LARGEST_TENSOR`].
pub(super) fn check_size(dtype: DType, dims: &[usize]) -> Lowered {
    let bytes = Shape(dims.to_vec()).checked_numel().and_then(|n| n.checked_mul(dtype.size()));
    if bytes.is_some_and(|b| b <= LARGEST_TENSOR) && dims.iter().all(|&d| d <= LARGEST_TENSOR) {
        return Ok(());
    }
    let what =
        format!("a {} tensor of shape {dims:?} is larger than {LARGEST_TENSOR} bytes", names::dtype(dtype));
    Err(Refusal::unsupported(what, "use a smaller input shape"))
}

/// Refuses a value without elements where it is more than a step on the way to others.
pub(super) fn some_elements(ty: &Type, what: &str) -> Lowered {
    match ty.shape.numel() {
        0 => {
            let what = format!("{what} of shape {:?} has no elements", ty.shape.dims());
            Err(Refusal::unsupported(what, "remove it from the model, or give its axes sizes of at least 1"))
        }
        _ => Ok(()),
    }
}

/// The axis that `count` scales belong to: the stated one if it fits, else the channels (last or first axis).
fn channel_axis(stated: i32, count: usize, dims: &[usize]) -> Option<usize> {
    let fits = |axis: &usize| dims.get(*axis) == Some(&count);
    let stated = usize::try_from(stated).ok().filter(fits);
    stated.or(dims.len().checked_sub(1).filter(fits)).or(Some(0).filter(fits))
}

/// Weights `[1, kh, kw, c]` as `[c, kh, kw, 1]`.
pub(super) fn depthwise(ty: Type, bytes: &[u8]) -> Lowered<(Type, Data)> {
    let &[1, kh, kw, channels] = ty.shape.dims() else {
        let dims = ty.shape.dims();
        return Err(malformed!("depthwise weights of shape {dims:?}, expected [1, h, w, c]"));
    };
    let size = ty.dtype.size();
    let mut out = Vec::with_capacity(bytes.len());
    for c in 0..channels {
        for tap in 0..kh * kw {
            let at = (tap * channels + c) * size;
            out.extend_from_slice(bytes.get(at..at + size).unwrap_or_default());
        }
    }
    let quant = ty.quant.map(|q| Quant { axis: q.axis.map(|_| 0), ..q });
    Ok((Type { dtype: ty.dtype, shape: Shape(vec![channels, kh, kw, 1]), quant }, Data::new(out)))
}
