//! SVMClassifier and SVMRegressor, as ONNX Runtime computes them where ONNX says little.

use super::classical::{self, Labels, DENSE, PRODUCT};
use super::cx::NodeCx;
use super::{All, Lowered, One, Operators, Refusal};
use kiln_ir::{
    AddRescale, Binary, Clamp, CompareRescale, Comparison, DType, Op, Real, Reduction, Rescale, Type, Unary,
    ValueId,
};

pub(super) const OPERATORS: Operators =
    &[("ai.onnx.ml.SVMClassifier", All(classifier)), ("ai.onnx.ml.SVMRegressor", One(regressor))];

const SUM: Op = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
const GREATER: Op = Op::Compare { function: Comparison::Greater, rescale: CompareRescale::Stored };

/// SVMRegressor: kernels with the support vectors, weighted, plus ρ.
fn regressor(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = classical::rows(cx)?;
    let &[n, k] = &*cx.dims(x) else { return Err(malformed!("no rows")) };
    let (vectors, coefficients, rho) =
        (cx.numbers("support_vectors"), cx.numbers("coefficients"), cx.numbers("rho"));
    let count = usize::try_from(cx.int("n_supports", 0)).unwrap_or(0);
    // Without support vectors the coefficients are those of features.
    let (features, m) = match count {
        0 => (x, k),
        count if count.checked_mul(k) == Some(vectors.len()) => (kernels(cx, x, &vectors)?, count),
        count => return Err(misfit(cx, x, count, vectors.len())),
    };
    let &[rho] = &rho[..] else { return Err(malformed!("it has {} ρ", rho.len())) };
    malformed_if!(coefficients.len() != m, "it has {} coefficients, but needs {m}", coefficients.len());
    let w = cx.float_constant("coefficients", &[1, m], &coefficients)?;
    let b = cx.float_constant("rho", &[1], &[rho])?;
    let mut y = cx.add_like(DENSE, &[features, w, b], &[n, 1])?;
    if cx.int("one_class", 0) != 0 {
        // 1 for what is like the samples, −1 for the rest.
        let zero = cx.float_constant("zero", &[], &[0.0])?;
        let above = cx.add(GREATER, &[y, zero], Type::plain(DType::Bool, &[n, 1]))?;
        let [one, minus] = [1.0, -1.0].map(|number| cx.float_constant("one", &[], &[number]));
        y = cx.add(Op::Select {}, &[above, one?, minus?], Type::plain(DType::F32, &[n, 1]))?;
    }
    classical::transformed(cx, y)
}

/// SVMClassifier: labels \[n\], and scores: probabilities \[n, classes\] where the file has their parameters, else the sums of pairs of classes.
fn classifier(cx: &mut NodeCx<'_, '_, '_>) -> Lowered {
    let x = classical::rows(cx)?;
    let labels = Labels::read(cx)?;
    let counts = cx.sizes("vectors_per_class")?.unwrap_or_default();
    if counts.iter().sum::<usize>() == 0 {
        return without_vectors(cx, x, &labels);
    }
    let pairs = Pairs::read(cx, x, &labels, counts)?;
    let sums = pairs.sums(cx, x)?;
    let label = pairs.elected(cx, &labels, sums)?;
    cx.bind(0, label)?;
    let scores = match (pairs.probabilities(cx, sums)?, pairs.classes, cx.text("post_transform")) {
        (Some(scores), ..) => classical::transformed(cx, scores)?,
        (None, 2, transform) => classical::of_two(cx, sums, !matches!(transform, b"" | b"NONE"))?,
        (None, ..) => classical::transformed(cx, sums)?,
    };
    cx.bind(1, scores)
}

/// A classifier whose coefficients are those of features.
fn without_vectors(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, labels: &Labels) -> Lowered {
    let (weights, rho) = (cx.numbers("coefficients"), cx.numbers("rho"));
    let &[n, k] = &*cx.dims(x) else { return Err(malformed!("no rows")) };
    let classes = labels.count();
    let (true, Some(&rho)) = (classes.checked_mul(k) == Some(weights.len()), rho.first()) else {
        let what = format!("{} coefficients do not fit {classes} labels and {}", weights.len(), cx.shown(x));
        return Err(Refusal::malformed(what));
    };
    let w = cx.float_constant("coefficients", &[classes, k], &weights)?;
    let b = cx.float_constant("rho", &[classes], &vec![rho; classes])?;
    let sums = cx.add_like(DENSE, &[x, w, b], &[n, classes])?;
    let mut label = labels.largest(cx, sums)?;
    if classes == 2 && cx.numbers("prob_a").is_empty() {
        // The second class where any sum is above the bound.
        let op = Op::Reduce { function: Reduction::Max, axes: vec![1], rescale: Rescale::Real };
        let largest = cx.add_like(op, &[sums], &[n, 1])?;
        let largest = cx.reshaped(largest, &[n])?;
        let (function, bound) = match weights.iter().all(|&weight| weight >= 0.0) {
            true => (Comparison::GreaterEqual, 0.5),
            false => (Comparison::Greater, 0.0),
        };
        let bound = cx.float_constant("bound", &[], &[bound])?;
        let op = Op::Compare { function, rescale: CompareRescale::Stored };
        let above = cx.add(op, &[largest, bound], Type::plain(DType::Bool, &[n]))?;
        let second = labels.constant(cx, 1)?;
        label = cx.add(Op::Select {}, &[above, second, label], Type::plain(DType::I64, &[n]))?;
    }
    cx.bind(0, label)?;
    let scores = classical::transformed(cx, sums)?;
    cx.bind(1, scores)
}

/// A classifier for each pair of classes, in the order (0, 1), (0, 2), …, (1, 2), …
struct Pairs {
    classes: usize,
    /// Support vectors of each class.
    counts: Vec<usize>,
    /// \[vectors, features\], class by class.
    vectors: Vec<f32>,
    /// \[classes − 1, vectors\]: of each vector, the coefficients against the other classes.
    coefficients: Vec<f32>,
    /// One number for each pair.
    rho: Vec<f32>,
}

impl Pairs {
    fn read(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, labels: &Labels, counts: Vec<usize>) -> Lowered<Pairs> {
        let (classes, k) = (labels.count(), cx.dims(x)[1]);
        let (vectors, coefficients, rho) =
            (cx.numbers("support_vectors"), cx.numbers("coefficients"), cx.numbers("rho"));
        if counts.len() != classes || classes < 2 {
            return Err(malformed!(
                "it has support vectors of {} classes for {classes} labels",
                counts.len()
            ));
        }
        let count: usize = counts.iter().sum();
        if count.checked_mul(k) != Some(vectors.len()) {
            return Err(misfit(cx, x, count, vectors.len()));
        }
        let pairs = classes.checked_mul(classes - 1).map(|both| both / 2);
        if count.checked_mul(classes - 1) != Some(coefficients.len()) || pairs != Some(rho.len()) {
            let what = format!(
                "{} coefficients and {} ρ do not fit {count} support vectors of {classes} classes",
                coefficients.len(),
                rho.len()
            );
            return Err(Refusal::malformed(what));
        }
        cx.importer.budget.charge(8 * classes * rho.len())?;
        Ok(Pairs { classes, counts, vectors, coefficients, rho })
    }

    /// The classes of each pair.
    fn all(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.classes).flat_map(|first| (first + 1..self.classes).map(move |second| (first, second)))
    }

    /// The place of a pair in their order.
    fn place(&self, first: usize, second: usize) -> usize {
        first * (2 * self.classes - first - 1) / 2 + second - first - 1
    }

    /// The sums \[n, pairs\]: above 0 for the first class.
    fn sums(&self, cx: &mut NodeCx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
        let (n, others, count) = (cx.dims(x)[0], self.classes - 1, self.counts.iter().sum::<usize>());
        let kernels = kernels(cx, x, &self.vectors)?;
        if self.classes == 2 {
            let w = cx.float_constant("coefficients", &[1, count], &self.coefficients)?;
            let b = cx.float_constant("rho", &[1], &self.rho)?;
            return cx.add_like(DENSE, &[kernels, w, b], &[n, 1]);
        }
        // What the vectors of each class say against the others; those of the first of a pair with ρ.
        let (mut parts, mut start) = (Vec::new(), 0);
        for (class, &len) in self.counts.iter().enumerate() {
            let rho = |row: usize| if row >= class { self.rho[self.place(class, row + 1)] } else { 0.0 };
            let rho: Vec<f32> = (0..others).map(rho).collect();
            let b = cx.float_constant("rho", &[others], &rho)?;
            parts.push(match len {
                0 => {
                    let op = Op::Broadcast {};
                    cx.add_like(op, &[b], &[n, others])?
                }
                len => {
                    let op = Op::Slice { begin: vec![0, start], step: vec![1, 1] };
                    let own = cx.add_like(op, &[kernels], &[n, len])?;
                    let rows = (0..others).flat_map(|row| &self.coefficients[row * count + start..][..len]);
                    let w: Vec<f32> = rows.copied().collect();
                    let w = cx.float_constant("coefficients", &[others, len], &w)?;
                    cx.add_like(DENSE, &[own, w, b], &[n, others])?
                }
            });
            start += len;
        }
        let said = cx.add_like(Op::Concat { axis: 1 }, &parts, &[n, self.classes * others])?;
        let pairs = self.rho.len();
        let mut half = |of: &dyn Fn((usize, usize)) -> usize| -> Lowered<ValueId> {
            let columns: Vec<i64> = self.all().map(|pair| of(pair) as i64).collect();
            let columns = cx.int_constant("pairs", DType::I32, &[pairs, 1], &columns)?;
            cx.add_like(Op::Gather { batch: 0, axis: 1, depth: 1 }, &[said, columns], &[n, pairs])
        };
        let first = half(&|(first, second)| first * others + second - 1)?;
        let second = half(&|(first, second)| second * others + first)?;
        cx.add_like(SUM, &[first, second], &[n, pairs])
    }

    /// The label of the class that most pairs are for, of several the first.
    fn elected(&self, cx: &mut NodeCx<'_, '_, '_>, labels: &Labels, sums: ValueId) -> Lowered<ValueId> {
        let (n, pairs) = (cx.dims(sums)[0], self.rho.len());
        let zero = cx.float_constant("zero", &[], &[0.0])?;
        let above = cx.add(GREATER, &[sums, zero], Type::plain(DType::Bool, &[n, pairs]))?;
        if self.classes == 2 {
            let above = cx.reshaped(above, &[n])?;
            let (first, second) = (labels.constant(cx, 0)?, labels.constant(cx, 1)?);
            return cx.add(Op::Select {}, &[above, first, second], Type::plain(DType::I64, &[n]));
        }
        let above = cx.add(Op::Cast {}, &[above], Type::plain(DType::F32, &[n, pairs]))?;
        // A pair that is above counts for its first class, and else for its second one.
        let (mut w, mut b) = (vec![0.0; self.classes * pairs], vec![0.0; self.classes]);
        for (first, second) in self.all() {
            let place = self.place(first, second);
            w[first * pairs + place] = 1.0;
            w[second * pairs + place] = -1.0;
            b[second] += 1.0;
        }
        let w = cx.float_constant("votes", &[self.classes, pairs], &w)?;
        let b = cx.float_constant("votes", &[self.classes], &b)?;
        let votes = cx.add_like(DENSE, &[above, w, b], &[n, self.classes])?;
        labels.largest(cx, votes)
    }

    /// The probabilities \[n, classes\], if the file has parameters for them: those of pairs are logistic functions of sums (Platt, 1999).
    fn probabilities(&self, cx: &mut NodeCx<'_, '_, '_>, sums: ValueId) -> Lowered<Option<ValueId>> {
        let (a, b) = (cx.numbers("prob_a"), cx.numbers("prob_b"));
        if a.is_empty() && b.is_empty() {
            return Ok(None);
        }
        let (n, pairs) = (cx.dims(sums)[0], self.rho.len());
        if a.len() != pairs || b.len() != pairs {
            let what =
                format!("it has {} and {} parameters of probabilities for {pairs} pairs", a.len(), b.len());
            return Err(Refusal::malformed(what));
        }
        // 1 − σ(A · sum + B) = σ(−A · sum − B).
        let negated = |numbers: Vec<f32>| -> Vec<f32> { numbers.into_iter().map(|number| -number).collect() };
        let a = cx.float_constant("prob_a", &[pairs], &negated(a))?;
        let b = cx.float_constant("prob_b", &[pairs], &negated(b))?;
        let dims = [n, pairs];
        let product = cx.add_like(PRODUCT, &[sums, a], &dims)?;
        let sum = cx.add_like(SUM, &[product, b], &dims)?;
        let share = cx.add_like(Op::Logistic {}, &[sum], &dims)?;
        let clamp = Clamp::Float { lo: Real(1e-7), hi: Real(1.0 - 1e-7) };
        let share = cx.add_like(Op::Clip { clamp }, &[share], &dims)?;
        cx.add_like(Op::Couple {}, &[share], &[n, self.classes]).map(Some)
    }
}

fn misfit(cx: &NodeCx<'_, '_, '_>, x: ValueId, count: usize, numbers: usize) -> Refusal {
    malformed!("{count} support vectors of {numbers} numbers do not fit {}", cx.shown(x))
}

/// Kernels of rows of `x` \[n, k\] with the support vectors, which are \[m, k\]: \[n, m\].
fn kernels(cx: &mut NodeCx<'_, '_, '_>, x: ValueId, vectors: &[f32]) -> Lowered<ValueId> {
    let &[n, k] = &*cx.dims(x) else { return Err(malformed!("no rows")) };
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
            let v = cx.float_constant("support vectors", &[m, k], vectors)?;
            let sum = cx.add_like(Op::SquaredDistances {}, &[x, v], &[n, m])?;
            let factor = cx.float_constant("gamma", &[], &[-gamma])?;
            let power = cx.add_like(PRODUCT, &[sum, factor], &[n, m])?;
            cx.add_like(Op::Unary { function: Unary::Exp }, &[power], &[n, m])
        }
        other => Err(malformed!("its kernel is {:?}", String::from_utf8_lossy(other))),
    }
}
