//! FULLY_CONNECTED, whose weights and bias may be computed at run time.

use super::conv::{bias_of_sums, biased, factors, layer, weights_and_bias, Filtering};
use super::cx::{Format, OpCx};
use super::quant::Activation;
use super::{dynamic, Layout, Lowered, Operators, Refusal};
use kiln_ir::options::Reference;
use kiln_ir::{Clamp, DType, Op, Padding, Rescale, Type, ValueId, Window};

pub(super) const OPERATORS: Operators = &[(9, fully_connected)];

/// FULLY_CONNECTED: the operand is read as rows of as many elements as the weights have columns.
fn fully_connected(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(8)?;
    let (weights_format, keep_dims) = options.fully_connected()?;
    let activation = Activation::fused(options.activation()?)?;
    if weights_format != 0 {
        return Err(Refusal::unsupported("its weights are stored shuffled", "convert the model again"));
    }
    let x = cx.input(0)?;
    let weights = cx.filters(1, Layout::Rows)?;
    let is_dynamic = dynamic::applies(cx, x, weights)?;
    let (weights, bias, format) = match is_dynamic {
        true => (weights, None, Format::Float),
        false => weights_and_bias(cx, x, weights)?,
    };
    let bias = match format {
        Format::Int16 => bias_of_sums(cx, weights, bias, options.has_narrow_sums(4)?)?,
        _ => bias,
    };
    let x_dims = cx.dims(x);
    let misfit = || {
        let what = format!("operand {} does not fit weights {}", cx.shown(x), cx.shown(weights));
        Refusal::malformed(what)
    };
    let &[n, k] = &*cx.dims(weights) else { return Err(misfit()) };
    let count = cx.ty(x).shape.numel();
    if k == 0 || n == 0 || count % k != 0 || (keep_dims && x_dims.last() != Some(&k)) {
        return Err(misfit());
    }
    let rows = match (keep_dims, x_dims.split_last()) {
        (true, Some((_, leading))) => leading.to_vec(),
        _ => vec![count / k],
    };
    let with_last = |last: usize| rows.iter().copied().chain([last]).collect::<Vec<_>>();
    let result = cx.declared(0)?;
    let clamp = activation.clamp(&result);
    if is_dynamic {
        let flat = [rows.iter().product(), k];
        let x = cx.node(Op::Reshape {}, &[x], 0, cx.ty(x).with_shape(&flat))?;
        let symmetric = !options.asymmetric_inputs()?;
        let (operands, late) = dynamic::operands(cx, x, weights, Some(symmetric))?;
        let ty = result.with_shape(&[flat[0], n]);
        let product = biased(cx, |clamp| Op::DynamicDense { clamp }, &operands, late, clamp, ty)?;
        return cx.emit(Op::Reshape {}, &[product], 0, &with_last(n));
    }
    let rescale = match format {
        Format::Float => Rescale::Real,
        Format::Int8 | Format::Int16 => {
            let rescale = factors(cx, [x, weights], &result, false)?;
            let bytes = [cx.ty(x), &result].iter().all(|ty| ty.dtype == DType::I8);
            // LiteRT alone computes uint8, and int4 with a scale for each filter.
            let several = matches!(&rescale, Rescale::FixedPoint(list) if list.len() > 1);
            let litert = cx.reference() == Reference::Litert
                || cx.as_stored(x).is_some()
                || several && cx.is_int4_input(1);
            match (rescale, litert) {
                (Rescale::FixedPoint(list), true) if bytes => Rescale::Once(list),
                (rescale, _) => rescale,
            }
        }
    };
    let late = bias.filter(|&bias| !cx.is_const(bias));
    if !cx.is_const(weights) || (late.is_some() && rescale != Rescale::Real) {
        let product = computed(cx, [x, weights], bias, rescale, clamp, result)?;
        let product = reshaped(cx, product, &with_last(n))?;
        return cx.bind(0, product);
    }
    let x = match with_last(k) {
        dims if dims == x_dims => x,
        dims => cx.node(Op::Reshape {}, &[x], 0, cx.ty(x).with_shape(&dims))?,
    };
    let bias = bias.filter(|_| late.is_none());
    let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
    let op = |clamp| Op::Dense { rescale: rescale.clone(), clamp };
    let product = biased(cx, op, &operands, late, clamp, result.with_shape(&with_last(n)))?;
    cx.bind(0, product)
}

/// The product of `x`, as rows, with weights \[n, k\] or a bias that are computed at run time: of floats a product of matrices, of integers a convolution of single
/// pixels, which has their ways of rounding.
fn computed(
    cx: &mut OpCx<'_, '_, '_>,
    [x, weights]: [ValueId; 2],
    bias: Option<ValueId>,
    rescale: Rescale,
    clamp: Clamp,
    result: Type,
) -> Lowered<ValueId> {
    let &[n, k] = &*cx.dims(weights) else { return Err(malformed!("its weights are not a matrix")) };
    let rows = cx.ty(x).shape.numel().checked_div(k).unwrap_or(0);
    if rescale == Rescale::Real {
        let x = reshaped(cx, x, &[rows, k])?;
        let op = |clamp| Op::MatMul { rescale: Rescale::Real, clamp };
        return biased(cx, op, &[x, weights], bias, clamp, result.with_shape(&[rows, n]));
    }
    let (x, weights) = (reshaped(cx, x, &[1, rows, 1, k])?, reshaped(cx, weights, &[n, 1, 1, k])?);
    let window = Window {
        size: [1; 2],
        stride: [1; 2],
        dilation: [1; 2],
        pad: Padding { top: 0, bottom: 0, left: 0, right: 0 },
    };
    let filtering = Filtering { window, groups: 1, rescale, clamp };
    layer(cx, [x, weights], bias, filtering, result.with_shape(&[1, rows, 1, n]))
}

fn reshaped(cx: &mut OpCx<'_, '_, '_>, x: ValueId, dims: &[usize]) -> Lowered<ValueId> {
    if cx.dims(x) == dims {
        return Ok(x);
    }
    let ty = cx.ty(x).with_shape(dims);
    match cx.data(x) {
        Some(data) => Ok(cx.constant("operand", ty, data)),
        None => cx.node(Op::Reshape {}, &[x], 0, ty),
    }
}
