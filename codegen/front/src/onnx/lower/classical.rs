//! Operators of `ai.onnx.ml`: linear models, and what prepares features.
//!
//! Labels that are texts become indices: a chip has no use for texts, and the caller knows their list. For the same reason ZipMap, which makes a map of labels to scores, does nothing.

use super::cx::NodeCx;
use super::{describe, All, Lowered, One, Operators, Refusal};
use kiln_ir::{
    AddRescale, Binary, Clamp, CompareRescale, Comparison, DType, Op, Real, Reduction, Rescale, SoftmaxScale,
    Type, Unary, ValueId,
};

pub(super) const OPERATORS: Operators = &[
    ("ai.onnx.ml.ArrayFeatureExtractor", One(array_feature_extractor)),
    ("ai.onnx.ml.Binarizer", One(binarizer)),
    ("ai.onnx.ml.FeatureVectorizer", All(feature_vectorizer)),
    ("ai.onnx.ml.Imputer", One(imputer)),
    ("ai.onnx.ml.LabelEncoder", One(label_encoder)),
    ("ai.onnx.ml.LinearClassifier", All(linear_classifier)),
    ("ai.onnx.ml.LinearRegressor", One(linear_regressor)),
    ("ai.onnx.ml.Normalizer", One(normalizer)),
    ("ai.onnx.ml.OneHotEncoder", One(one_hot_encoder)),
    ("ai.onnx.ml.Scaler", One(scaler)),
    ("ai.onnx.ml.ZipMap", One(zip_map)),
];

pub(super) const PRODUCT: Op = Op::Mul { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
const DIFFERENCE: Op = Op::Sub { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
pub(super) const DENSE: Op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };

/// Operand 0 as rows of float features.
pub(super) fn rows(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    as_rows(cx, x)
}

fn as_rows(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let x = match cx.ty(x).dtype {
        DType::F32 => x,
        _ => cx.add(Op::Cast {}, &[x], Type::plain(DType::F32, &dims))?,
    };
    match dims[..] {
        [_, _] => Ok(x),
        [features] => cx.reshaped(x, &[1, features]),
        _ => Err(malformed!("its operand {} is not a matrix", cx.shown(x))),
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
            0 => Err(malformed!("it has no labels")),
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

    /// Label `k`.
    pub(super) fn constant(&self, cx: &mut NodeCx<'_, '_, '_>, k: usize) -> Lowered<ValueId> {
        cx.int_constant("label", DType::I64, &[], &self.numbers[k..=k])
    }

    /// The second of two labels where a score \[n, 1\] is above a bound.
    pub(super) fn of_two(&self, cx: &mut NodeCx<'_, '_, '_>, score: ValueId, bound: f32) -> Lowered<ValueId> {
        malformed_if!(self.count() != 2, "it has {} labels for two classes", self.count());
        let rows = cx.dims(score)[0];
        let score = cx.reshaped(score, &[rows])?;
        let bound = cx.float_constant("bound", &[], &[bound])?;
        let op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };
        let above = cx.add(op, &[score, bound], Type::plain(DType::Bool, &[rows]))?;
        let (first, second) = (self.constant(cx, 0)?, self.constant(cx, 1)?);
        cx.add(Op::Select {}, &[above, second, first], Type::plain(DType::I64, &[rows]))
    }
}

/// The two scores that one number \[n, 1\] stands for: it and the rest to 1, or to 0. Of the transforms only LOGISTIC does anything to them, as in ONNX Runtime.
pub(super) fn of_two(cx: &mut NodeCx<'_, '_, '_>, score: ValueId, share: bool) -> Lowered<ValueId> {
    let is_logistic = match cx.text("post_transform") {
        b"LOGISTIC" => true,
        b"" | b"NONE" | b"SOFTMAX" | b"SOFTMAX_ZERO" => false,
        other => return Err(no_transform(other)),
    };
    let dims = cx.dims(score);
    let rest = match share && !is_logistic {
        true => {
            let one = cx.float_constant("one", &[], &[1.0])?;
            cx.add_like(DIFFERENCE, &[one, score], &dims)?
        }
        false => cx.add_like(Op::Unary { function: Unary::Neg }, &[score], &dims)?,
    };
    let dims = [dims[0], 2];
    let pair = cx.add_like(Op::Concat { axis: 1 }, &[rest, score], &dims)?;
    match is_logistic {
        true => cx.add_like(Op::Logistic {}, &[pair], &dims),
        false => Ok(pair),
    }
}

fn no_transform(transform: &[u8]) -> Refusal {
    let what =
        format!("scores transformed by {} cannot be compiled here", String::from_utf8_lossy(transform));
    Refusal::unsupported(
        what,
        "export the model with post_transform NONE, and transform the scores in your own code",
    )
}

/// Scores \[n, classes\] as `post_transform` says.
pub(super) fn transformed(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    transform(cx, x, cx.text("post_transform"))
}

/// Scores \[n, classes\] transformed by the function of that name.
pub(super) fn transform(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, name: &[u8]) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    match name {
        b"" | b"NONE" => Ok(x),
        b"LOGISTIC" => cx.add_like(Op::Logistic {}, &[x], &dims),
        b"SOFTMAX" => cx.add_like(Op::Softmax { beta: Real(1.0), scale: SoftmaxScale::Real }, &[x], &dims),
        b"SOFTMAX_ZERO" => softmax_but_zeros(cx, x),
        other => Err(no_transform(other)),
    }
}

/// Softmax over the scores that are not 0 (±10⁻⁷); the others stay about 0.
fn softmax_but_zeros(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let reduce = |function| Op::Reduce { function, axes: vec![1], rescale: Rescale::Real };
    let largest = cx.add_like(reduce(Reduction::Max), &[x], &[dims[0], 1])?;
    let below = cx.add_like(DIFFERENCE, &[x, largest], &dims)?;
    let powers = cx.add_like(Op::Unary { function: Unary::Exp }, &[below], &dims)?;
    let size = cx.add_like(Op::Unary { function: Unary::Abs }, &[x], &dims)?;
    let (bound, zero) = (cx.float_constant("bound", &[], &[1e-7])?, cx.float_constant("zero", &[], &[0.0])?);
    let op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };
    let counts = cx.add(op, &[size, bound], Type::plain(DType::Bool, &dims))?;
    let powers = cx.add(Op::Select {}, &[counts, powers, zero], Type::plain(DType::F32, &dims))?;
    let sum = cx.add_like(reduce(Reduction::Sum), &[powers], &[dims[0], 1])?;
    let op = Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.add_like(op, &[powers, sum], &dims)
}

/// X · coefficientsᵀ + intercepts.
fn linear(cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
    let &[n, width] = &*cx.dims(x) else { return Err(malformed!("no rows")) };
    let (weights, bias) = (cx.numbers("coefficients"), cx.numbers("intercepts"));
    let bias = if bias.is_empty() { vec![0.0; weights.len() / width.max(1)] } else { bias };
    let rows = bias.len();
    // Coefficients of more features than there are do not count, as in ONNX Runtime.
    let Some(weights) = weights.get(..rows * width).filter(|_| rows > 0) else {
        let what = format!(
            "{} coefficients and {} intercepts do not fit {}",
            weights.len(),
            bias.len(),
            cx.shown(x)
        );
        return Err(Refusal::malformed(what));
    };
    let weights = cx.float_constant("coefficients", &[rows, width], weights)?;
    let bias = cx.float_constant("intercepts", &[rows], &bias)?;
    cx.add_like(DENSE, &[x, weights, bias], &[n, rows])
}

/// LinearRegressor.
fn linear_regressor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = rows(cx)?;
    let sums = linear(cx, x)?;
    transformed(cx, sums)
}

/// LinearClassifier: labels \[n\], and scores \[n, classes\].
fn linear_classifier(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = rows(cx)?;
    let labels = Labels::read(cx)?;
    let sums = linear(cx, x)?;
    let width = cx.dims(sums)[1];
    let (label, scores) = match (width, labels.count()) {
        (1, 2) => (labels.of_two(cx, sums, 0.0)?, of_two(cx, sums, true)?),
        (width, count) if width == count => (labels.largest(cx, sums)?, transformed(cx, sums)?),
        (width, count) => return Err(malformed!("it has {width} scores for {count} labels")),
    };
    cx.bind(0, label)?;
    cx.bind(1, scores)
}

/// Normalizer: rows divided by their largest element, the sum of magnitudes, or the length.
fn normalizer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
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
            return Err(malformed!("its norm is {:?}", String::from_utf8_lossy(other)));
        }
    };
    // Rows of zeros stay zeros.
    let (zero, one) = (cx.float_constant("zero", &[], &[0.0])?, cx.float_constant("one", &[], &[1.0])?);
    let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
    let empty = cx.add(op, &[norm, zero], Type::plain(DType::Bool, &reduced))?;
    let norm = cx.add(Op::Select {}, &[empty, one, norm], Type::plain(DType::F32, &reduced))?;
    let op = Op::Binary { function: Binary::Div, rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.add_like(op, &[x, norm], &dims)
}

/// Scaler: (x − offset) · scale.
fn scaler(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = rows(cx)?;
    let dims = cx.dims(x);
    let mut value = x;
    for (name, op) in [("offset", DIFFERENCE), ("scale", PRODUCT)] {
        let numbers = cx.numbers(name);
        if !numbers.is_empty() {
            if numbers.len() != 1 && numbers.len() != dims[1] {
                return Err(malformed!("its {name} has {} numbers for {}", numbers.len(), cx.shown(x)));
            }
            let numbers = cx.float_constant(name, &[numbers.len()], &numbers)?;
            value = cx.add_like(op, &[value, numbers], &dims)?;
        }
    }
    Ok(value)
}

/// Binarizer: 1 above the threshold, else 0.
fn binarizer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    cx.want_float(x)?;
    let (dims, threshold) = (cx.dims(x), cx.float("threshold", 0.0));
    let threshold = cx.float_constant("threshold", &[], &[threshold])?;
    let op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };
    let above = cx.add(op, &[x, threshold], Type::plain(DType::Bool, &dims))?;
    cx.add(Op::Cast {}, &[above], Type::plain(DType::F32, &dims))
}

/// Imputer: elements that are one value, or no numbers, replaced by others.
fn imputer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let (ty, dims) = (cx.ty(x).clone(), cx.dims(x));
    let bools = Type::plain(DType::Bool, &dims);
    let equal = |function| Op::Compare { function, rescale: CompareRescale::Stored };
    let (found, others) = match ty.dtype {
        DType::F32 => {
            let replaced = cx.float("replaced_value_float", 0.0);
            let found = match replaced.is_nan() {
                true => cx.add(equal(Comparison::NotEqual), &[x, x], bools)?,
                false => {
                    let replaced = cx.float_constant("replaced", &[], &[replaced])?;
                    cx.add(equal(Comparison::Equal), &[x, replaced], bools)?
                }
            };
            let others = cx.numbers("imputed_value_floats");
            (found, (others.len(), cx.float_constant("imputed", &[others.len()], &others)?))
        }
        DType::I64 => {
            let replaced = cx.int("replaced_value_int64", 0);
            let replaced = cx.int_constant("replaced", DType::I64, &[], &[replaced])?;
            let found = cx.add(equal(Comparison::Equal), &[x, replaced], bools)?;
            let others = cx.list("imputed_value_int64s").unwrap_or_default();
            (found, (others.len(), cx.int_constant("imputed", DType::I64, &[others.len()], others)?))
        }
        _ => return Err(malformed!("its operand is {}", describe(&ty))),
    };
    let (count, others) = others;
    if count != 1 && dims.last() != Some(&count) {
        return Err(malformed!("{count} imputed values do not fit {}", describe(&ty)));
    }
    cx.add(Op::Select {}, &[found, others, x], Type::plain(ty.dtype, &dims))
}

/// OneHotEncoder: for each element a row with 1 at the place of its category, zeros if it is none of them.
fn one_hot_encoder(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let mut dims = cx.dims(x);
    let categories = cx.list("cats_int64s").unwrap_or_default();
    if categories.is_empty() || cx.ty(x).dtype == DType::Bool {
        let help = "encode integers; strings cannot be in the model";
        return Err(Refusal::unsupported("categories other than integers cannot be encoded", help));
    }
    let x = match cx.ty(x).dtype {
        DType::I64 => x,
        _ => cx.add(Op::Cast {}, &[x], Type::plain(DType::I64, &dims))?,
    };
    dims.push(1);
    let x = cx.reshaped(x, &dims)?;
    let count = categories.len();
    let categories = cx.int_constant("categories", DType::I64, &[count], categories)?;
    dims.pop();
    dims.push(count);
    let op = Op::Compare { function: Comparison::Equal, rescale: CompareRescale::Stored };
    let equal = cx.add(op, &[x, categories], Type::plain(DType::Bool, &dims))?;
    cx.add(Op::Cast {}, &[equal], Type::plain(DType::F32, &dims))
}

/// FeatureVectorizer: all operands side by side, as floats.
fn feature_vectorizer(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let mut parts = Vec::new();
    for x in cx.inputs()? {
        let part = as_rows(cx, x)?;
        parts.push(part);
    }
    let Some(&first) = parts.first() else { return Err(malformed!("it has no operands")) };
    let rows = cx.dims(first)[0];
    if let Some(&odd) = parts.iter().find(|&&part| cx.dims(part)[0] != rows) {
        return Err(malformed!("{rows} rows do not fit {}", cx.shown(odd)));
    }
    let width = parts.iter().map(|&part| cx.dims(part)[1]).sum();
    match parts[..] {
        [alone] => cx.bind(0, alone),
        _ => cx.emit(Op::Concat { axis: 1 }, &parts, &[rows, width]),
    }
}

/// ArrayFeatureExtractor: the columns that constant indices name.
fn array_feature_extractor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let columns = cx.input(1)?;
    let count = cx.ty(columns).shape.numel();
    let dims = cx.dims(x);
    let Some((_, front)) = dims.split_last() else {
        return Err(malformed!("{} has no columns", cx.shown(x)));
    };
    let axis = front.len();
    let result = match front {
        [] => vec![1, count],
        front => [front, &[count]].concat(),
    };
    let columns = cx.reshaped(columns, &[count, 1])?;
    let flat = [front, &[count]].concat();
    let y = cx.add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[x, columns], &flat)?;
    cx.reshaped(y, &result)
}

/// LabelEncoder from integers to integers or floats: the value of a key, else the default.
fn label_encoder(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let keys = cx.list("keys_int64s").unwrap_or_default();
    let (dtype, values): (DType, Vec<f64>) = match (cx.list("values_int64s"), cx.numbers("values_floats")) {
        (Some(values), _) if !values.is_empty() => (DType::I64, values.iter().map(|&v| v as f64).collect()),
        (_, values) => (DType::F32, values.iter().map(|&v| v.into()).collect()),
    };
    if cx.ty(x).dtype != DType::I64 || keys.is_empty() || keys.len() != values.len() {
        let help = "encode integers as integers or floats; strings cannot be in the model";
        return Err(Refusal::unsupported("labels other than integers cannot be encoded", help));
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
    Ok(y)
}

/// ZipMap does nothing: scores stay a row.
fn zip_map(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    cx.input(0)
}
