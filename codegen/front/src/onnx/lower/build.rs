//! Short names for the nodes of which operators are made up. Shapes are those of NumPy broadcasting.

use super::cx::NodeCx;
use super::elementwise::{broadcast, unlimited};
use super::{describe, Lowered, Refusal};
use kiln_ir::{
    AddRescale, Binary, Clamp, CompareRescale, Comparison, DType, Data, Op, Real, Reduction, Rescale, Type,
    Unary, ValueId,
};

impl NodeCx<'_, '_, '_> {
    /// A number, as an element of the type of `like`.
    pub(crate) fn number(&mut self, like: ValueId, number: f64) -> Lowered<ValueId> {
        match self.ty(like).dtype {
            DType::F32 => self.float_constant("number", &[], &[number as f32]),
            dtype => self.int_constant("number", dtype, &[], &[number as i64]),
        }
    }

    /// x + y.
    pub(crate) fn sum(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        self.arithmetic(x, y, |clamp| Op::Add { rescale: AddRescale::Real, clamp })
    }

    /// x − y.
    pub(crate) fn difference(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        self.arithmetic(x, y, |clamp| Op::Sub { rescale: AddRescale::Real, clamp })
    }

    /// x · y.
    pub(crate) fn product(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        self.arithmetic(x, y, |clamp| Op::Mul { rescale: Rescale::Real, clamp })
    }

    /// x / y; integers are rounded towards zero.
    pub(crate) fn quotient(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        self.binary(Binary::Div, x, y)
    }

    /// A function of two.
    pub(crate) fn binary(&mut self, function: Binary, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        self.arithmetic(x, y, |clamp| Op::Binary { function, rescale: Rescale::Real, clamp })
    }

    /// x + a number.
    pub(crate) fn plus(&mut self, x: ValueId, number: f64) -> Lowered<ValueId> {
        let number = self.number(x, number)?;
        self.sum(x, number)
    }

    /// x · a number.
    pub(crate) fn times(&mut self, x: ValueId, number: f64) -> Lowered<ValueId> {
        let number = self.number(x, number)?;
        self.product(x, number)
    }

    /// Arithmetic on two of one type. That of 8 and 16 bits is done in 32 bits, of which the upper ones are dropped.
    pub(crate) fn arithmetic(
        &mut self,
        x: ValueId,
        y: ValueId,
        op: impl Fn(Clamp) -> Op,
    ) -> Lowered<ValueId> {
        let dtype = self.ty(x).dtype;
        if dtype != self.ty(y).dtype || dtype == DType::Bool {
            let (x, y) = (self.shown(x), self.shown(y));
            let what = format!("arithmetic on {x} and {y} cannot be compiled");
            return Err(Refusal::unsupported(what, "cast both to float32, int32 or int64"));
        }
        if matches!(dtype, DType::I8 | DType::U8 | DType::I16) {
            let (x, y) = (self.cast(x, DType::I32)?, self.cast(y, DType::I32)?);
            let wide = self.arithmetic(x, y, op)?;
            return self.cast(wide, dtype);
        }
        let dims = broadcast(self, x, y)?;
        self.add_like(op(unlimited(dtype)), &[x, y], &dims)
    }

    /// A function of each float.
    pub(crate) fn unary(&mut self, function: Unary, x: ValueId) -> Lowered<ValueId> {
        self.want_float(x)?;
        let dims = self.dims(x);
        self.add_like(Op::Unary { function }, &[x], &dims)
    }

    /// tanh x.
    pub(crate) fn tanh(&mut self, x: ValueId) -> Lowered<ValueId> {
        self.want_float(x)?;
        let dims = self.dims(x);
        self.add_like(Op::Tanh {}, &[x], &dims)
    }

    /// 1 / (1 + e⁻ˣ).
    pub(crate) fn sigmoid(&mut self, x: ValueId) -> Lowered<ValueId> {
        self.want_float(x)?;
        let dims = self.dims(x);
        self.add_like(Op::Logistic {}, &[x], &dims)
    }

    /// Floats between two bounds.
    pub(crate) fn clipped(&mut self, x: ValueId, lo: f32, hi: f32) -> Lowered<ValueId> {
        self.want_float(x)?;
        malformed_if!(lo.is_nan() || hi.is_nan(), "its bounds are {lo} and {hi}");
        let dims = self.dims(x);
        let clamp = Clamp::Float { lo: Real(lo.min(hi)), hi: Real(hi) };
        self.add_like(Op::Clip { clamp }, &[x], &dims)
    }

    /// Whether a comparison holds.
    pub(crate) fn compared(&mut self, function: Comparison, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        if self.ty(x).dtype != self.ty(y).dtype {
            return Err(malformed!("{} cannot be compared with {}", self.shown(x), self.shown(y)));
        }
        let dims = broadcast(self, x, y)?;
        let op = Op::Compare { function, rescale: CompareRescale::Stored };
        self.add(op, &[x, y], Type::plain(DType::Bool, &dims))
    }

    /// `x` where the condition holds, else `y`.
    pub(crate) fn choice(&mut self, condition: ValueId, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        if self.ty(condition).dtype != DType::Bool {
            return Err(malformed!("{} is not a condition", self.shown(condition)));
        }
        let ty = self.ty(x).clone();
        if ty.dtype != self.ty(y).dtype {
            let what = format!("{} or {}", describe(&ty), self.shown(y));
            return Err(malformed!("it cannot select between {what}"));
        }
        let both = broadcast(self, x, y)?;
        let of_all = kiln_ir::Shape::common(&self.dims(condition), &both);
        let dims = of_all.ok_or_else(|| malformed!("condition {} does not fit", self.shown(condition)))?;
        match self.decided(condition, x, y).filter(|&chosen| self.dims(chosen) == dims) {
            Some(chosen) => Ok(chosen),
            None => self.add(Op::Select {}, &[condition, x, y], ty.with_shape(&dims)),
        }
    }

    /// Which of both it is, if one condition decides and is known, or if both are the same.
    fn decided(&self, condition: ValueId, x: ValueId, y: ValueId) -> Option<ValueId> {
        let single = |value: ValueId| match self.ty(value).shape.numel() {
            1 => self.data(value),
            _ => None,
        };
        match single(condition) {
            Some(known) => Some(if known.bytes().contains(&1) { x } else { y }),
            None => (x == y || single(x).is_some_and(|x| single(y) == Some(x))).then_some(x),
        }
    }

    /// `size`, which is not negative, with the sign of `x`.
    pub(crate) fn with_sign(&mut self, size: ValueId, x: ValueId) -> Lowered<ValueId> {
        let (zero, less) = (self.number(x, 0.0)?, self.unary(Unary::Neg, size)?);
        let is_below = self.compared(Comparison::Less, x, zero)?;
        self.choice(is_below, less, size)
    }

    /// Truth values for `&&`.
    pub(crate) fn both(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        let no = self.truth(false);
        self.choice(x, y, no)
    }

    /// A truth value.
    pub(crate) fn truth(&mut self, truth: bool) -> ValueId {
        let data = Data::new(vec![u8::from(truth)]);
        self.importer.graph.add_const("truth", Type::plain(DType::Bool, &[]), data)
    }

    /// The same numbers in another type.
    pub(crate) fn cast(&mut self, x: ValueId, dtype: DType) -> Lowered<ValueId> {
        if self.ty(x).dtype == dtype {
            return Ok(x);
        }
        let ty = Type { dtype, shape: self.ty(x).shape.clone(), quant: None };
        self.add(Op::Cast {}, &[x], ty)
    }

    /// The mean along these axes, which stay with a size of 1.
    pub(crate) fn mean(&mut self, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
        self.want_float(x)?;
        let dims = self.without(x, axes);
        let op = Op::Mean { axes: axes.to_vec(), rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
        self.add_like(op, &[x], &dims)
    }

    /// All elements along these axes made one; the axes stay with a size of 1.
    pub(crate) fn reduced(&mut self, function: Reduction, x: ValueId, axes: &[usize]) -> Lowered<ValueId> {
        let dims = self.without(x, axes);
        self.add_like(Op::Reduce { function, axes: axes.to_vec(), rescale: Rescale::Real }, &[x], &dims)
    }

    /// `x` in a type that is reduced: narrow integers and truth values as integers of 32 bits.
    pub(crate) fn widened(&mut self, x: ValueId) -> Lowered<ValueId> {
        match self.ty(x).dtype {
            DType::F32 | DType::I32 | DType::I64 => Ok(x),
            _ => self.cast(x, DType::I32),
        }
    }

    /// The dimensions of `x` with 1 for these axes.
    fn without(&self, x: ValueId, axes: &[usize]) -> Vec<usize> {
        let one = |(axis, dim)| if axes.contains(&axis) { 1 } else { dim };
        self.dims(x).into_iter().enumerate().map(one).collect()
    }

    /// `count` elements along an axis, from `first` on, `step` apart.
    pub(crate) fn part(
        &mut self,
        x: ValueId,
        axis: usize,
        first: usize,
        count: usize,
        step: i64,
    ) -> Lowered<ValueId> {
        let mut dims = self.dims(x);
        self.check_axis(x, axis)?;
        if (first, count, step) == (0, dims[axis], 1) {
            return Ok(x);
        }
        let (mut begin, mut steps) = (vec![0; dims.len()], vec![1; dims.len()]);
        (begin[axis], steps[axis], dims[axis]) = (first, step, count);
        self.add_like(Op::Slice { begin, step: steps }, &[x], &dims)
    }

    fn check_axis(&self, x: ValueId, axis: usize) -> Lowered {
        malformed_if!(axis >= self.dims(x).len(), "{} has no axis {axis}", self.shown(x));
        Ok(())
    }

    /// Values of one type side by side along an axis.
    pub(crate) fn joined(&mut self, parts: &[ValueId], axis: usize) -> Lowered<ValueId> {
        let &[first, ..] = parts else { return Err(malformed!("it has no operands")) };
        if parts.len() == 1 {
            return Ok(first);
        }
        // An op joins a limited number of operands.
        if parts.len() > MOST_JOINED {
            let groups = parts.chunks(MOST_JOINED).map(|group| self.joined(group, axis));
            let groups = groups.collect::<Lowered<Vec<ValueId>>>()?;
            return self.joined(&groups, axis);
        }
        parts.iter().try_for_each(|&part| self.check_axis(part, axis))?;
        let mut dims = self.dims(first);
        dims[axis] = parts.iter().map(|&part| self.dims(part)[axis]).sum();
        self.add_like(Op::Concat { axis }, parts, &dims)
    }

    /// `x` surrounded by a stored value (a float's bits).
    pub(crate) fn padded(
        &mut self,
        x: ValueId,
        before: &[usize],
        after: &[usize],
        value: i64,
    ) -> Lowered<ValueId> {
        if before.iter().chain(after).all(|&amount| amount == 0) {
            return Ok(x);
        }
        let dims = self.dims(x).into_iter().zip(before.iter().zip(after));
        let dims: Vec<usize> = dims.map(|(dim, (before, after))| dim + before + after).collect();
        self.add_like(Op::Pad { before: before.to_vec(), after: after.to_vec(), value }, &[x], &dims)
    }

    /// Repeats `x` to a shape.
    pub(crate) fn repeated(&mut self, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
        match self.dims(x) == dims {
            true => Ok(x),
            false => self.add_like(Op::Broadcast {}, &[x], dims),
        }
    }

    /// Elements along an axis, in the order of a list of known indices.
    pub(crate) fn picked(&mut self, x: ValueId, axis: usize, indices: &[usize]) -> Lowered<ValueId> {
        let mut dims = self.dims(x);
        self.check_axis(x, axis)?;
        if indices.iter().copied().eq(0..dims[axis]) {
            return Ok(x);
        }
        dims[axis] = indices.len();
        let list: Vec<i64> = indices.iter().map(|&index| index as i64).collect();
        let list = self.int_constant("indices", DType::I32, &[indices.len(), 1], &list)?;
        self.add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[x, list], &dims)
    }

    /// `x` with an axis and the last one in each other's place. Twice is nothing.
    pub(crate) fn swapped(&mut self, x: ValueId, axis: usize) -> Lowered<ValueId> {
        self.check_axis(x, axis)?;
        let rank = self.dims(x).len();
        let mut perm: Vec<usize> = (0..rank).collect();
        perm.swap(axis, rank - 1);
        self.transposed(x, &perm)
    }

    /// Products of matrices: \[…, m, k\] and \[…, n, k\] to \[…, m, n\].
    pub(crate) fn matrix_product(&mut self, x: ValueId, y: ValueId) -> Lowered<ValueId> {
        let (a, b) = (self.dims(x), self.dims(y));
        let misfit = || malformed!("{a:?} and {b:?} cannot be multiplied");
        let ([front_a @ .., m, k], [front_b @ .., n, depth]) = (&*a, &*b) else { return Err(misfit()) };
        let front = kiln_ir::Shape::common(front_a, front_b).filter(|_| k == depth).ok_or_else(misfit)?;
        let dims = [&front[..], &[*m, *n]].concat();
        self.add_like(Op::MatMul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, y], &dims)
    }

    /// A layer with constant weights \[n, k\].
    pub(crate) fn layer(&mut self, x: ValueId, weights: ValueId) -> Lowered<ValueId> {
        let mut dims = self.dims(x);
        let n = self.dims(weights)[0];
        if let Some(last) = dims.last_mut() {
            *last = n;
        }
        self.add_like(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &[x, weights], &dims)
    }

    /// exp x / Σ exp x along the last axis.
    pub(crate) fn softmax(&mut self, x: ValueId) -> Lowered<ValueId> {
        let dims = self.dims(x);
        let op = Op::Softmax { beta: Real(1.0), scale: kiln_ir::SoftmaxScale::Real };
        self.add_like(op, &[x], &dims)
    }

    /// x − log Σ exp x along the last axis.
    pub(crate) fn log_softmax(&mut self, x: ValueId) -> Lowered<ValueId> {
        let dims = self.dims(x);
        let op = Op::LogSoftmax { scale: kiln_ir::SoftmaxScale::Real, divisor: Rescale::Real };
        self.add_like(op, &[x], &dims)
    }

    /// The index of the first one of the largest elements along an axis, which stays with a size of 1.
    pub(crate) fn index_of_largest(&mut self, x: ValueId, axis: usize) -> Lowered<ValueId> {
        let kept = self.without(x, &[axis]);
        let mut dims = kept.clone();
        dims.remove(axis);
        let op = Op::ArgReduce { axis, largest: true };
        let index = self.add(op, &[x], Type::plain(DType::I64, &dims))?;
        self.reshaped(index, &kept)
    }

    /// Numbers counted from 0, as one axis.
    pub(crate) fn counted(&mut self, dtype: DType, count: usize) -> Lowered<ValueId> {
        self.importer.budget.charge(8 * count)?;
        let list: Vec<i64> = (0..count as i64).collect();
        self.int_constant("counted", dtype, &[count], &list)
    }
}

/// Most operands of an op.
const MOST_JOINED: usize = 64;
