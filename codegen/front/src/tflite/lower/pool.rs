//! AVERAGE_POOL_2D, MAX_POOL_2D and L2_POOL_2D.

use super::conv::window;
use super::cx::{Format, OpCx};
use super::quant::Activation;
use super::{Lowered, Operators, Refusal};
use crate::tflite::options::WindowOptions;
use kiln_ir::{Clamp, DType, Op, Type, Unary, ValueId, Window};

pub(super) const OPERATORS: Operators = &[
    (1, |cx| pool(cx, |window, clamp| Op::AvgPool2d { window, clamp }, true)), // AVERAGE_POOL_2D
    (12, l2),
    (17, |cx| pool(cx, |window, clamp| Op::MaxPool2d { window, clamp }, false)), // MAX_POOL_2D
];

fn pool(cx: &mut OpCx<'_, '_, '_>, op: fn(Window, Clamp) -> Op, rounds: bool) -> Lowered {
    let options = cx.options(5)?.pool()?;
    let x = cx.input(0)?;
    cx.format(&[x])?;
    let (window, dims) = pooled(cx, x, &options)?;
    let result = cx.declared(0)?;
    let activation = Activation::fused(options.activation)?;
    match (cx.as_stored(x), rounds) {
        // Half of a step is rounded away from zero, so that it matters which number is zero.
        (Some(stored), true) => {
            // LiteRT's kernel averages stored values, whatever the result's scale and zero point are.
            let unsigned_result = |ty: &Type| {
                let scale = cx.scale(ty, "result")?;
                Ok::<_, Refusal>(Type::quantized(DType::U8, &dims, scale, ty.zero_point() + 128))
            };
            let result = result.with_shape(&dims);
            let as_result = unsigned_result(&result)?;
            let clamp = activation.clamp(&as_result);
            let unsigned = cx.same_number(x, stored);
            let unsigned = cx.reinterpret(unsigned, as_result.quant.clone(), 0)?;
            let pooled = cx.node(op(window, clamp), &[unsigned], 0, as_result)?;
            let signed = cx.same_number(pooled, result);
            cx.bind(0, signed)
        }
        _ => cx.emit_moved(op(window, activation.clamp(&result)), &[x], 0, &dims),
    }
}

/// The window, and the shape of what comes of it.
fn pooled(cx: &OpCx<'_, '_, '_>, x: ValueId, options: &WindowOptions) -> Lowered<(Window, [usize; 4])> {
    let &[n, h, w, c] = &*cx.dims(x) else {
        return Err(malformed!("image {} must have four axes", cx.shown(x)));
    };
    let window = window(options, [h, w])?;
    let Some([out_h, out_w]) = window.output([h, w]) else {
        let [kh, kw] = window.size;
        return Err(malformed!("a {kh}×{kw} window does not fit a {h}×{w} image"));
    };
    Ok((window, [n, out_h, out_w, c]))
}

/// L2_POOL_2D, of floats only: the root of the mean of squares.
fn l2(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let options = cx.options(5)?.pool()?;
    let x = cx.input(0)?;
    if cx.format(&[x])? != Format::Float {
        let help = "leave this operator out of the quantisation of the model";
        return Err(Refusal::unsupported("it has no integer arithmetic in TFLite", help));
    }
    let (window, dims) = pooled(cx, x, &options)?;
    let ty = cx.ty(x).clone();
    let squares = cx.node(Op::Unary { function: Unary::Square }, &[x], 0, ty.clone())?;
    let mean = Op::AvgPool2d { window, clamp: Clamp::NO_FLOAT };
    let mean = cx.node(mean, &[squares], 0, ty.with_shape(&dims))?;
    let root = Op::Unary { function: Unary::Sqrt };
    let clamp = Activation::fused(options.activation)?.clamp(&ty);
    let root = cx.node(root, &[mean], 0, ty.with_shape(&dims))?;
    cx.emit(Op::Clip { clamp }, &[root], 0, &dims)
}
