//! FULLY_CONNECTED.

use super::conv::{bias_of_sums, per_channel, weights_and_bias};
use super::cx::{describe, Format, OpCx};
use super::quant::Activation;
use super::{dynamic, Layout, Lowered, Refusal};
use crate::ir::{DType, Op, Rescale, Type, ValueId};
use crate::options::Reference;

/// FULLY_CONNECTED: the operand is read as rows of as many elements as the weights have columns.
pub(super) fn fully_connected(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(8)?;
    let (weights_format, keep_dims) = options.fully_connected()?;
    let activation = Activation::fused(options.activation()?)?;
    if weights_format != 0 {
        return Err(Refusal::unsupported("its weights are stored shuffled", "convert the model again"));
    }
    let x = cx.input(0)?;
    let is_dynamic = dynamic::applies(cx, x, Layout::Rows)?;
    let (weights, bias, format) = match is_dynamic {
        true => (cx.input_as(1, Layout::Rows)?, None, Format::Float),
        false => weights_and_bias(cx, x, Layout::Rows)?,
    };
    let bias = match format {
        Format::Int16 => bias_of_sums(cx, weights, bias, options.has_narrow_sums(4)?),
        _ => bias,
    };
    let x_dims = cx.dims(x);
    let misfit = || {
        let what =
            format!("operand {} does not fit weights {}", describe(cx.ty(x)), describe(cx.ty(weights)));
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
        let operands = dynamic::operands(cx, x, Layout::Rows, Some(symmetric))?;
        let product = Type {
            shape: flat[..1].iter().copied().chain([n]).collect::<Vec<_>>().as_slice().into(),
            ..result
        };
        let product = cx.node(Op::DynamicDense { clamp }, &operands, 0, product)?;
        return cx.emit(Op::Reshape {}, &[product], 0, &with_last(n));
    }
    let rescale = match format {
        Format::Float => Rescale::Real,
        Format::Int8 | Format::Int16 => {
            let rescale = per_channel(cx, x, weights, &result)?;
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
    let x = match with_last(k) {
        dims if dims == x_dims => x,
        dims => cx.node(Op::Reshape {}, &[x], 0, cx.ty(x).with_shape(&dims))?,
    };
    let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
    cx.emit(Op::Dense { rescale, clamp }, &operands, 0, &with_last(n))
}
