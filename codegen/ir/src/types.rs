//! Element types, shapes and quantisation.

use super::{Clamp, Real};

/// How one element is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DType {
    /// IEEE 754 single precision.
    F32,
    /// Signed 8-bit integer.
    I8,
    /// Unsigned 8-bit integer.
    U8,
    /// Signed 16-bit integer.
    I16,
    /// Signed 32-bit integer.
    I32,
    /// Signed 64-bit integer.
    I64,
    /// One byte, 0 or 1.
    Bool,
}

impl DType {
    /// Every element type, in the order of the enum.
    pub const ALL: [DType; 7] =
        [DType::F32, DType::I8, DType::U8, DType::I16, DType::I32, DType::I64, DType::Bool];

    /// Bytes per element (also its alignment).
    pub const fn size(self) -> usize {
        match self {
            DType::I8 | DType::U8 | DType::Bool => 1,
            DType::I16 => 2,
            DType::F32 | DType::I32 => 4,
            DType::I64 => 8,
        }
    }

    /// The name in the textual form, which is also the Rust type (`bool` aside).
    pub const fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::I8 => "i8",
            DType::U8 => "u8",
            DType::I16 => "i16",
            DType::I32 => "i32",
            DType::I64 => "i64",
            DType::Bool => "bool",
        }
    }

    /// Smallest and largest value an integer element can hold; `None` for floats.
    pub const fn int_range(self) -> Option<(i64, i64)> {
        match self {
            DType::F32 => None,
            DType::I8 => Some((i8::MIN as i64, i8::MAX as i64)),
            DType::U8 => Some((0, u8::MAX as i64)),
            DType::I16 => Some((i16::MIN as i64, i16::MAX as i64)),
            DType::I32 => Some((i32::MIN as i64, i32::MAX as i64)),
            DType::I64 => Some((i64::MIN, i64::MAX)),
            DType::Bool => Some((0, 1)),
        }
    }

    /// The clamp of a result without activation: all of the range, as far as `i32` reaches.
    pub fn whole_range(self) -> Clamp {
        let narrow = |x: i64| x.clamp(i32::MIN.into(), i32::MAX.into()) as i32;
        self.int_range().map_or(Clamp::NO_FLOAT, |(lo, hi)| Clamp::Int { lo: narrow(lo), hi: narrow(hi) })
    }
}

/// A static shape, outermost dimension first. The empty shape is a scalar.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Shape(pub Vec<usize>);

impl Shape {
    /// The common shape of two, as NumPy broadcasts them, if there is one.
    pub fn common(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
        let rank = a.len().max(b.len());
        let dim =
            |dims: &[usize], axis: usize| (axis + dims.len()).checked_sub(rank).map_or(1, |own| dims[own]);
        let join = |axis| match (dim(a, axis), dim(b, axis)) {
            (p, q) if p == q || q == 1 => Some(p),
            (1, q) => Some(q),
            _ => None,
        };
        (0..rank).map(join).collect()
    }

    /// Number of elements: the product of the dimensions. Readers bound it (see
    /// [`Shape::checked_numel`]), so that it does not overflow in a verified graph.
    pub fn numel(&self) -> usize {
        self.0.iter().product()
    }

    /// [`Shape::numel`], or `None` if it exceeds `isize::MAX`.
    pub fn checked_numel(&self) -> Option<usize> {
        let n = self.0.iter().try_fold(1usize, |n, &d| n.checked_mul(d))?;
        (n <= isize::MAX as usize).then_some(n)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The dimensions.
    pub fn dims(&self) -> &[usize] {
        &self.0
    }

    /// The last dimension; 1 for a scalar.
    pub fn last(&self) -> usize {
        self.0.last().copied().unwrap_or(1)
    }

    /// Row-major strides in elements.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.rank()];
        for axis in (0..self.rank().saturating_sub(1)).rev() {
            strides[axis] = strides[axis + 1] * self.0[axis + 1];
        }
        strides
    }
}

impl From<&[usize]> for Shape {
    fn from(dims: &[usize]) -> Self {
        Shape(dims.to_vec())
    }
}

/// Affine quantisation: real = scale · (stored − zero point).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quant {
    /// One scale per tensor, or one per index of `axis`.
    pub scales: Vec<Real>,
    /// As many zero points as scales.
    pub zero_points: Vec<i32>,
    /// The axis the scales belong to; `None` for per-tensor quantisation (then there is one scale).
    pub axis: Option<usize>,
}

impl Quant {
    /// Per-tensor quantisation.
    pub fn per_tensor(scale: f32, zero_point: i32) -> Self {
        Quant { scales: vec![Real(scale)], zero_points: vec![zero_point], axis: None }
    }
}

/// The type of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Type {
    /// Storage element.
    pub dtype: DType,
    /// Static shape.
    pub shape: Shape,
    /// Quantisation of the storage; `None` for plain numbers.
    pub quant: Option<Quant>,
}

impl Type {
    /// A plain, unquantised type.
    pub fn plain(dtype: DType, dims: &[usize]) -> Self {
        Type { dtype, shape: Shape(dims.to_vec()), quant: None }
    }

    /// A per-tensor quantised type.
    pub fn quantized(dtype: DType, dims: &[usize], scale: f32, zero_point: i32) -> Self {
        Type { dtype, shape: Shape(dims.to_vec()), quant: Some(Quant::per_tensor(scale, zero_point)) }
    }

    /// Bytes the value occupies.
    pub fn bytes(&self) -> usize {
        self.shape.numel() * self.dtype.size()
    }

    /// The per-tensor zero point; 0 where there is none or where it differs along an axis.
    pub fn zero_point(&self) -> i32 {
        match &self.quant {
            Some(q) if q.axis.is_none() => q.zero_points.first().copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// The per-tensor scale, if the type has one.
    pub fn scale(&self) -> Option<f32> {
        match &self.quant {
            Some(q) if q.axis.is_none() => q.scales.first().map(|s| s.0),
            _ => None,
        }
    }

    /// Whether scales and zero points belong to indices of an axis, which a reshape or a transpose may not move.
    pub fn is_per_axis(&self) -> bool {
        self.quant.as_ref().is_some_and(|quant| quant.axis.is_some())
    }

    /// The same storage and quantisation with another shape. Only for per-tensor quantisation.
    pub fn with_shape(&self, dims: &[usize]) -> Self {
        Type { dtype: self.dtype, shape: Shape(dims.to_vec()), quant: self.quant.clone() }
    }
}

/// Whether a type has the quantisation that a softmax in 16 bits has: the scale 1/65536, of which converters leave out a step, and the zero point −32768. (The
/// tolerance is that of TFLite's own check.)
pub fn softmax_of_16_bits(ty: &Type) -> bool {
    let step = 1.0 / 65536.0;
    let near = ty.scale().is_some_and(|scale| (scale - step).abs() <= 0.001 * step);
    ty.dtype == DType::I16 && near && ty.zero_point() == -32768
}
