//! Dense layers, embeddings, and layers that do nothing at inference.

use super::activation::fused;
use super::cx::{Cx, Weights};
use super::{mask, Layers, Lowered, One, Refusal, Slot, Slots};
use kiln_ir::{Clamp, DType, Op, Rescale, Type, ValueId};

pub(super) const LAYERS: Layers = &[
    ("ActivityRegularization", One(same)),
    ("AlphaDropout", One(same)),
    ("AugMix", One(same)),
    ("CutMix", One(same)),
    ("Dense", One(dense)),
    ("Dropout", One(same)),
    ("EinsumDense", One(einsum_dense)),
    ("Embedding", Slots(embedding)),
    ("GaussianDropout", One(same)),
    ("GaussianNoise", One(same)),
    ("Identity", One(same)),
    ("Masking", Slots(masking)),
    ("MixUp", One(same)),
    ("RandAugment", One(same)),
    ("RandomBrightness", One(same)),
    ("RandomColorDegeneration", One(same)),
    ("RandomColorJitter", One(same)),
    ("RandomContrast", One(same)),
    ("RandomElasticTransform", One(same)),
    ("RandomErasing", One(same)),
    ("RandomFlip", One(same)),
    ("RandomGaussianBlur", One(same)),
    ("RandomGrayscale", One(same)),
    ("RandomHue", One(same)),
    ("RandomInvert", One(same)),
    ("RandomPerspective", One(same)),
    ("RandomPosterization", One(same)),
    ("RandomRotation", One(same)),
    ("RandomSaturation", One(same)),
    ("RandomSharpness", One(same)),
    ("RandomShear", One(same)),
    ("RandomTranslation", One(same)),
    ("RandomZoom", One(same)),
    ("SpatialDropout1D", One(same)),
    ("SpatialDropout2D", One(same)),
    ("SpatialDropout3D", One(same)),
];

/// What vanishes at inference.
fn same(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let value = cx.slot()?.value;
    Ok(value)
}

fn dense(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let kernel = cx.weights("", 0)?;
    let &[_, n] = kernel.dims() else { return Err(malformed!("its kernel is {:?}", kernel.dims())) };
    let bias = cx.bias("", 1, n)?;
    let y = product(cx, x, &kernel, bias)?;
    fused(cx, y)
}

/// x · kernel + bias, with a kernel \[k, n\].
pub(super) fn product(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    kernel: &Weights,
    bias: Option<ValueId>,
) -> Lowered<ValueId> {
    let (dims, shape) = (cx.dims(x), kernel.dims());
    let (Some((&last, front)), &[k, n]) = (dims.split_last(), shape) else {
        return Err(malformed!("its kernel is {shape:?}"));
    };
    malformed_if!(last != k, "its kernel {shape:?} does not fit {}", cx.shown(x));
    let weights = cx.constant("kernel", kernel, &[1, 0], &[n, k])?;
    let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
    let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    cx.add_like(op, &operands, &[front, &[n]].concat())
}

/// A product by an equation `abc,cd->abd`, plus a bias along some axes.
fn einsum_dense(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x()?;
    let y = einsum(cx, "", x, cx.word("equation"))?;
    let y = match cx.config().has("bias_axes") {
        true => {
            let bias = cx.weights("", 1)?;
            added(cx, y, &bias)?
        }
        false => y,
    };
    fused(cx, y)
}

/// `y` plus a bias, whose axes are the last ones.
pub(super) fn added(cx: &mut Cx<'_, '_, '_>, y: ValueId, bias: &Weights) -> Lowered<ValueId> {
    let order: Vec<usize> = (0..bias.dims().len()).collect();
    let bias = cx.constant("bias", bias, &order, bias.dims())?;
    cx.sum(y, bias)
}

/// A product with a kernel by an equation. Where the axes that vanish are the last ones of `x`, and those of the kernel the last ones of the result, it is a dense layer.
fn einsum(cx: &mut Cx<'_, '_, '_>, inner: &str, x: ValueId, equation: &str) -> Lowered<ValueId> {
    let kernel = cx.weights(inner, 0)?;
    let plain: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let parts = plain.split_once("->").and_then(|(from, to)| Some((from.split_once(',')?, to)));
    let Some(((a, b), to)) = parts else { return Err(malformed!("its equation is {plain:?}")) };
    let rank = cx.dims(x).len();
    let a = spread(a, rank, 0);
    // What dots stand for is the same in the result.
    let dots = rank.saturating_sub(a.1);
    let to = spread(to, to.chars().filter(|c| c.is_alphabetic()).count() + dots, 0).0;
    let (a, b): (Vec<char>, Vec<char>) = (a.0, b.chars().collect());
    malformed_if!(a.len() != rank || b.len() != kernel.dims().len(), "its equation is {plain:?}");
    let is_summed = |c: &char| a.contains(c) && b.contains(c) && !to.contains(c);
    let kept: Vec<char> = a.iter().copied().filter(|c| !is_summed(c)).collect();
    let new: Vec<char> = b.iter().copied().filter(|c| !is_summed(c)).collect();
    let summed: Vec<char> = a[kept.len()..].to_vec();
    let is_dense = summed.iter().all(is_summed) && [&kept[..], &new[..]].concat() == to;
    if !is_dense || summed.is_empty() {
        let order: Vec<usize> = (0..b.len()).collect();
        let kernel = cx.constant("kernel", &kernel, &order, kernel.dims())?;
        let text = |list: &[char]| list.iter().collect::<String>();
        let equation = format!("{},{}->{}", text(&a), text(&b), text(&to));
        let attributes = [("equation", crate::onnx::lower::Set::Text(&equation))];
        return cx.call("Einsum", &[Some(x), Some(kernel)], &attributes);
    }
    let place = |c: &char| b.iter().position(|own| own == c).unwrap_or(0);
    let perm: Vec<usize> = new.iter().chain(&summed).map(place).collect();
    let shape = kernel.dims().to_vec();
    let size = |list: &[char]| list.iter().map(|c| shape[place(c)]).product::<usize>();
    let (n, k) = (size(&new), size(&summed));
    let weights = cx.constant("kernel", &kernel, &perm, &[n, k])?;
    let dims = cx.dims(x);
    let front = &dims[..kept.len()];
    malformed_if!(dims[kept.len()..].iter().product::<usize>() != k, "{shape:?} does not fit {dims:?}");
    let rows = cx.reshaped(x, &[front, &[k]].concat())?;
    let op = Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT };
    let y = cx.add_like(op, &[rows, weights], &[front, &[n]].concat())?;
    let new: Vec<usize> = new.iter().map(|c| shape[place(c)]).collect();
    cx.reshaped(y, &[front, &new[..]].concat())
}

/// The letters of an operand with others for its dots, and how many letters it had.
fn spread(part: &str, rank: usize, first: u32) -> (Vec<char>, usize) {
    let letters = part.chars().filter(|c| c.is_alphabetic()).count();
    let mut dots = (first..).map(|k| char::from_u32(u32::from('A') + k).unwrap_or('Z'));
    let mut all = Vec::new();
    let mut is_open = part.contains('.');
    for c in part.chars() {
        match c {
            '.' if is_open => {
                all.extend(dots.by_ref().take(rank.saturating_sub(letters).min(8)));
                is_open = false;
            }
            '.' => {}
            c => all.push(c),
        }
    }
    (all, letters)
}

/// Rows of a table.
fn embedding(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let ids = cx.slot()?.value;
    let table = cx.weights("", 0)?;
    let &[rows, columns] = table.dims() else { return Err(malformed!("its table is {:?}", table.dims())) };
    let ids = cx.cast(ids, DType::I32)?;
    let value = {
        let table = cx.constant("embeddings", &table, &[0, 1], &[rows, columns])?;
        let dims = [&cx.dims(ids)[..], &[columns]].concat();
        let list = [&cx.dims(ids)[..], &[1]].concat();
        let list = cx.reshaped(ids, &list)?;
        let ty = Type::plain(DType::F32, &dims);
        cx.add(Op::Gather { batch: 0, axis: 0, depth: 1 }, &[table, list], ty)?
    };
    let mask = match cx.flag("mask_zero", false) {
        true => Some(mask::truth(cx, ids)?),
        false => None,
    };
    Ok(vec![Slot { value, mask }])
}

/// Steps at which all numbers are a certain one do not count, and become zeros.
fn masking(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let x = cx.x()?;
    let counts = mask::unlike(cx, x, cx.number_of("mask_value", 0.0))?;
    let rank = cx.dims(x).len();
    malformed_if!(rank < 2, "{} has no steps", cx.shown(x));
    let wide = mask::widened(cx, counts, rank)?;
    let factor = cx.cast(wide, DType::F32)?;
    let value = cx.product(x, factor)?;
    let is_mask = cx.dims(counts).len() == 2;
    if !is_mask {
        let what = "masks of other shapes than [batch, steps] cannot be compiled";
        return Err(Refusal::unsupported(what, "use Masking only on [batch, steps, features]"));
    }
    Ok(vec![Slot { value, mask: Some(counts) }])
}
