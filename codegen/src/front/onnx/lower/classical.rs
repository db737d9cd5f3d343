//! Operators of `ai.onnx.ml`: linear and support-vector models, and what prepares features.
//!
//! Labels that are texts become indices: a chip has no use for texts, and the caller knows their list. For the same reason ZipMap, which makes a map of labels to scores, does nothing.

use super::cx::NodeCx;
use super::{describe, Lowered, Refusal};
use crate::ir::{
    AddRescale, Binary, Clamp, CompareRescale, Comparison, DType, Op, Real, Reduction, Rescale, SoftmaxScale,
    Type, Unary, ValueId,
};

const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
const DIFFERENCE: Op = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const DENSE: Op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// Operand 0 as rows of float features.
pub(super) fn rows(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let x = match cx.ty(x).dtype {
        DType::F32 => x,
        _ => cx.add(Op::Cast {}, &[x], Type::plain(DType::F32, &dims))?,
    };
    match dims[..] {
        [_, _] => Ok(x),
        [features] => cx.reshaped(x, &[1, features]),
        _ => Err(Refusal::malformed(format!("its operand {} is no list of rows", describe(cx.ty(x))))),
    }
}

/// The labels of classes.
pub(super) struct Labels {
    numbers: Vec<i64>,
}

impl Labels {
    /// From the attributes that the operators name them by.
    pub(super) fn read(cx: &NodeCx<'_, '_, '_>) -> Lowered<Labels> {
        for name in ["classlabels_int64s", "classlabels_ints"] {
            if let Some(numbers) = cx.list(name).filter(|numbers| !numbers.is_empty()) {
                return Ok(Labels { numbers: numbers.to_vec() });
            }
        }
        match cx.attribute("classlabels_strings").map_or(0, |labels| labels.strings.len()) {
            0 => Err(Refusal::malformed("it has no labels")),
            count => Ok(Labels { numbers: (0..count as i64).collect() }),
        }
    }

    /// How many classes there are.
    pub(super) fn count(&self) -> usize {
        self.numbers.len()
    }

    /// The label of the largest score of each row.
    pub(super) fn largest(&self, cx: &mut NodeCx<'_, '_, '_>, scores: ValueId) -> Lowered<ValueId> {
        let rows = cx.dims(scores)[0];
        let op = Op::ArgReduce { axis: 1, largest: true };
        let index = cx.add(op, &[scores], Type::plain(DType::I64, &[rows]))?;
        if self.numbers.iter().copied().eq(0..self.numbers.len() as i64) {
            return Ok(index);
        }
        let table = cx.int_constant("labels", DType::I64, &[self.numbers.len()], &self.numbers)?;
        let index = cx.reshaped(index, &[rows, 1])?;
        cx.add_like(Op::Gather { batch: 0, axis: 0, depth: 1 }, &[table, index], &[rows])
    }

    /// The second of two labels where a score \[n, 1\] is above a bound.
    pub(super) fn of_two(&self, cx: &mut NodeCx<'_, '_, '_>, score: ValueId, bound: f32) -> Lowered<ValueId> {
        let &[first, second] = &self.numbers[..] else {
            return Err(Refusal::malformed(format!("{} labels for two classes", self.numbers.len())));
        };
        let rows = cx.dims(score)[0];
        let score = cx.reshaped(score, &[rows])?;
        let bound = cx.float_constant("bound", &[], &[bound])?;
        let op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };
        let above = cx.add(op, &[score, bound], Type::plain(DType::Bool, &[rows]))?;
        let [second, first] =
            [second, first].map(|label| cx.int_constant("label", DType::I64, &[], &[label]));
        cx.add(Op::Select {}, &[above, second?, first?], Type::plain(DType::I64, &[rows]))
    }
}

/// The two scores that one number \[n, 1\] stands for: as its share of 1, or its distance from 0.
pub(super) fn of_two(cx: &mut NodeCx<'_, '_, '_>, score: ValueId, share: bool) -> Lowered<ValueId> {
    let dims = cx.dims(score);
    let pair = |cx: &mut NodeCx<'_, '_, '_>, first: ValueId, second: ValueId| {
        cx.add_like(Op::Concat { axis: 1 }, &[first, second], &[dims[0], 2])
    };
    let minus = cx.add_like(Op::Unary { function: Unary::Neg }, &[score], &dims)?;
    match (share, cx.text("post_transform")) {
        (true, b"" | b"NONE") => {
            let one = cx.float_constant("one", &[], &[1.0])?;
            let rest = cx.add_like(DIFFERENCE, &[one, score], &dims);
            pair(cx, rest?, score)
        }
        (false, b"" | b"NONE") => pair(cx, minus, score),
        (false, b"LOGISTIC") => {
            let both = pair(cx, minus, score)?;
            cx.add_like(Op::Logistic {}, &[both], &[dims[0], 2])
        }
        (_, transform) => Err(no_transform(transform)),
    }
}

fn no_transform(transform: &[u8]) -> Refusal {
    let what =
        format!("scores transformed by {} cannot be compiled here", String::from_utf8_lossy(transform));
    Refusal::unsupported(what, "export the model with post_transform NONE, and transform its scores")
}

/// Scores \[n, classes\] as `post_transform` says.
pub(super) fn transformed(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    match cx.text("post_transform") {
        b"" | b"NONE" => Ok(x),
        b"LOGISTIC" => cx.add_like(Op::Logistic {}, &[x], &dims),
        b"SOFTMAX" => cx.add_like(Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }, &[x], &dims),
        other => Err(no_transform(other)),
    }
}

/// X · coefficientsᵀ + intercepts.
fn linear(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let &[n, width] = &*cx.dims(x) else { return Err(Refusal::malformed("no rows")) };
    let (weights, bias) = (cx.numbers("coefficients"), cx.numbers("intercepts"));
    let bias = if bias.is_empty() { vec![0.0; weights.len() / width.max(1)] } else { bias };
    let rows = bias.len();
    // Coefficients of more features than there are do not count, as in ONNX Runtime.
    let Some(weights) = weights.get(..rows * width).filter(|_| rows > 0) else {
        let what = format!(
            "{} coefficients and {} intercepts do not fit {}",
            weights.len(),
            bias.len(),
            describe(cx.ty(x))
        );
        return Err(Refusal::malformed(what));
    };
    let weights = cx.float_constant("coefficients", &[rows, width], weights)?;
    let bias = cx.float_constant("intercepts", &[rows], &bias)?;
    cx.add_like(DENSE, &[x, weights, bias], &[n, rows])
}

/// LinearRegressor.
pub(super) fn linear_regressor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let sums = linear(cx, x)?;
    let y = transformed(cx, sums)?;
    cx.bind(0, y)
}

/// LinearClassifier: labels \[n\], and scores \[n, classes\].
pub(super) fn linear_classifier(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let labels = Labels::read(cx)?;
    let sums = linear(cx, x)?;
    let width = cx.dims(sums)[1];
    let (label, scores) = match (width, labels.count()) {
        (1, 2) => (labels.of_two(cx, sums, 0.0)?, of_two(cx, sums, false)?),
        (width, count) if width == count => (labels.largest(cx, sums)?, transformed(cx, sums)?),
        (width, count) => return Err(Refusal::malformed(format!("{width} scores for {count} labels"))),
    };
    cx.bind(0, label)?;
    cx.bind(1, scores)
}

/// Normalizer: rows divided by their largest element, the sum of magnitudes, or the length.
pub(super) fn normalizer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let dims = cx.dims(x);
    let reduced = [dims[0], 1];
    let reduce = |function| Op::Reduce { function, axes: vec![1], rescale: Rescale::Real };
    let norm = match cx.text("norm") {
        b"" | b"MAX" => cx.add_like(reduce(Reduction::Max), &[x], &reduced)?,
        b"L1" => {
            let magnitudes = cx.add_like(Op::Unary { function: Unary::Abs }, &[x], &dims)?;
            cx.add_like(reduce(Reduction::Sum), &[magnitudes], &reduced)?
        }
        b"L2" => {
            let squares = cx.add_like(PRODUCT, &[x, x], &dims)?;
            let sum = cx.add_like(reduce(Reduction::Sum), &[squares], &reduced)?;
            cx.add_like(Op::Unary { function: Unary::Sqrt }, &[sum], &reduced)?
        }
        other => {
            return Err(Refusal::malformed(format!("its norm is {:?}", String::from_utf8_lossy(other))));
        }
    };
    // Rows of zeros stay zeros.
    let (zero, one) = (cx.float_constant("zero", &[], &[0.0])?, cx.float_constant("one", &[], &[1.0])?);
    let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
    let empty = cx.add(op, &[norm, zero], Type::plain(DType::Bool, &reduced))?;
    let norm = cx.add(Op::Select {}, &[empty, one, norm], Type::plain(DType::F32, &reduced))?;
    let op = Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.emit(op, &[x, norm], &dims)
}

/// Scaler: (x − offset) · scale.
pub(super) fn scaler(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let dims = cx.dims(x);
    let mut value = x;
    for (name, op) in [("offset", DIFFERENCE), ("scale", PRODUCT)] {
        let numbers = cx.numbers(name);
        if !numbers.is_empty() {
            if numbers.len() != 1 && numbers.len() != dims[1] {
                let what = format!("its {name} has {} numbers for {}", numbers.len(), describe(cx.ty(x)));
                return Err(Refusal::malformed(what));
            }
            let numbers = cx.float_constant(name, &[numbers.len()], &numbers)?;
            value = cx.add_like(op, &[value, numbers], &dims)?;
        }
    }
    cx.bind(0, value)
}

/// Binarizer: 1 above the threshold, else 0.
pub(super) fn binarizer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (dims, threshold) = (cx.dims(x), cx.float("threshold", 0.0));
    let threshold = cx.float_constant("threshold", &[], &[threshold])?;
    let op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };
    let above = cx.add(op, &[x, threshold], Type::plain(DType::Bool, &dims))?;
    let y = cx.add(Op::Cast {}, &[above], Type::plain(DType::F32, &dims))?;
    cx.bind(0, y)
}

/// ArrayFeatureExtractor: the columns that constant indices name.
pub(super) fn array_feature_extractor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let columns = cx.input(1)?;
    let count = cx.ty(columns).shape.numel();
    let dims = cx.dims(x);
    let Some((_, front)) = dims.split_last() else {
        return Err(Refusal::malformed(format!("{} has no columns", describe(cx.ty(x)))));
    };
    let axis = front.len();
    let result = match front {
        [] => vec![1, count],
        front => [front, &[count]].concat(),
    };
    let columns = cx.reshaped(columns, &[count, 1])?;
    let flat = [front, &[count]].concat();
    let y = cx.add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[x, columns], &flat)?;
    let y = cx.reshaped(y, &result)?;
    cx.bind(0, y)
}

/// LabelEncoder from integers to integers or floats: the value of a key, else the default.
pub(super) fn label_encoder(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let keys = cx.list("keys_int64s").unwrap_or_default();
    let (dtype, values): (DType, Vec<f64>) = match (cx.list("values_int64s"), cx.numbers("values_floats")) {
        (Some(values), _) if !values.is_empty() => (DType::I64, values.iter().map(|&v| v as f64).collect()),
        (_, values) => (DType::F32, values.iter().map(|&v| v.into()).collect()),
    };
    if cx.ty(x).dtype != DType::I64 || keys.is_empty() || keys.len() != values.len() {
        let help = "encode integers as integers or floats, and keep texts out of the model";
        return Err(Refusal::unsupported("labels that are no integers cannot be encoded", help));
    }
    let number = |cx: &mut NodeCx<'_, '_, '_>, value: f64| match dtype {
        DType::I64 => cx.int_constant("value", DType::I64, &[], &[value as i64]),
        _ => cx.float_constant("value", &[], &[value as f32]),
    };
    let default = match dtype {
        DType::I64 => cx.int("default_int64", -1) as f64,
        _ => cx.float("default_float", -0.0).into(),
    };
    let mut y = number(cx, default)?;
    for (&key, &value) in keys.iter().zip(&values) {
        let key = cx.int_constant("key", DType::I64, &[], &[key])?;
        let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
        let found = cx.add(op, &[x, key], Type::plain(DType::Bool, &dims))?;
        let value = number(cx, value)?;
        y = cx.add(Op::Select {}, &[found, value, y], Type::plain(dtype, &dims))?;
    }
    cx.bind(0, y)
}

/// ZipMap does nothing: scores stay a row.
pub(super) fn zip_map(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    cx.bind(0, x)
}

/// Kernels of rows of `x` \[n, k\] with the support vectors, which are \[m, k\]: \[n, m\].
fn kernels(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, vectors: &[f32]) -> Lowered<ValueId> {
    let &[n, k] = &*cx.dims(x) else { return Err(Refusal::malformed("no rows")) };
    let m = vectors.len() / k.max(1);
    let parameters = cx.numbers("kernel_params");
    let [gamma, coef, degree] = [0, 1, 2].map(|i| parameters.get(i).copied().unwrap_or(0.0));
    let weights = |factor: f32| -> Vec<f32> { vectors.iter().map(|v| v * factor).collect() };
    let dense = |cx: &mut NodeCx<'_, '_, '_>, factor: f32, bias: Vec<f32>| {
        let w = cx.float_constant("support vectors", &[m, k], &weights(factor))?;
        let b = cx.float_constant("bias", &[m], &bias)?;
        cx.add_like(DENSE, &[x, w, b], &[n, m])
    };
    match cx.text("kernel_type") {
        b"" | b"LINEAR" => dense(cx, 1.0, vec![0.0; m]),
        b"POLY" => {
            let sums = dense(cx, gamma, vec![coef; m])?;
            let degree = cx.float_constant("degree", &[], &[degree])?;
            let op = Op::Binary { function: Binary::Pow, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
            cx.add_like(op, &[sums, degree], &[n, m])
        }
        b"SIGMOID" => {
            let sums = dense(cx, gamma, vec![coef; m])?;
            cx.add_like(Op::Tanh {}, &[sums], &[n, m])
        }
        b"RBF" => {
            // exp(−γ · Σ (x − v)²), of differences: the sum of squares and products would cancel.
            let apart = cx.reshaped(x, &[n, 1, k])?;
            let v = cx.float_constant("support vectors", &[1, m, k], vectors)?;
            let difference = cx.add_like(DIFFERENCE, &[apart, v], &[n, m, k])?;
            let squares = cx.add_like(PRODUCT, &[difference, difference], &[n, m, k])?;
            let op = Op::Reduce { function: Reduction::Sum, axes: vec![2], rescale: Rescale::Real };
            let sum = cx.add_like(op, &[squares], &[n, m])?;
            let factor = cx.float_constant("gamma", &[], &[-gamma])?;
            let power = cx.add_like(PRODUCT, &[sum, factor], &[n, m])?;
            cx.add_like(Op::Unary { function: Unary::Exp }, &[power], &[n, m])
        }
        other => Err(Refusal::malformed(format!("its kernel is {:?}", String::from_utf8_lossy(other)))),
    }
}

/// SVMRegressor: kernels with the support vectors, weighted, plus ρ.
pub(super) fn svm_regressor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let &[n, k] = &*cx.dims(x) else { return Err(Refusal::malformed("no rows")) };
    let (vectors, coefficients, rho) =
        (cx.numbers("support_vectors"), cx.numbers("coefficients"), cx.numbers("rho"));
    let count = usize::try_from(cx.int("n_supports", 0)).unwrap_or(0);
    if cx.int("one_class", 0) != 0 {
        let help = "use a regressor";
        return Err(Refusal::unsupported("one-class support vectors cannot be compiled", help));
    }
    // Without support vectors the coefficients are those of features.
    let (features, m) = match count {
        0 => (x, k),
        count if vectors.len() == count * k => (kernels(cx, x, &vectors)?, count),
        count => {
            let what =
                format!("{count} support vectors of {} numbers for {}", vectors.len(), describe(cx.ty(x)));
            return Err(Refusal::malformed(what));
        }
    };
    let &[rho] = &rho[..] else { return Err(Refusal::malformed(format!("it has {} ρ", rho.len()))) };
    if coefficients.len() != m {
        return Err(Refusal::malformed(format!("{} coefficients, {m} wanted", coefficients.len())));
    }
    let w = cx.float_constant("coefficients", &[1, m], &coefficients)?;
    let b = cx.float_constant("rho", &[1], &[rho])?;
    let sums = cx.add_like(DENSE, &[features, w, b], &[n, 1])?;
    let y = transformed(cx, sums)?;
    cx.bind(0, y)
}
