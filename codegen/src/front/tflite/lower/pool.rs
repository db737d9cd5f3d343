//! AVERAGE_POOL_2D and MAX_POOL_2D.

use super::conv::window;
use super::cx::{describe, OpCx};
use super::quant::Activation;
use super::{Lowered, Refusal};
use crate::ir::{Clamp, Op, Window};

/// AVERAGE_POOL_2D.
pub(super) fn average(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    pool(cx, |window, clamp| Op::AvgPool2d { window, clamp }, true)
}

/// MAX_POOL_2D.
pub(super) fn max(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    pool(cx, |window, clamp| Op::MaxPool2d { window, clamp }, false)
}

fn pool(cx: &mut OpCx<'_, '_, '_>, op: fn(Window, Clamp) -> Op, rounds: bool) -> Lowered {
    let options = cx.options(5)?.pool()?;
    let x = cx.input(0)?;
    cx.format(&[x])?;
    let &[n, h, w, c] = &*cx.dims(x) else {
        return Err(Refusal::malformed(format!("image {} must have four axes", describe(cx.ty(x)))));
    };
    let window = window(&options, [h, w])?;
    let Some([out_h, out_w]) = window.output([h, w]) else {
        let [kh, kw] = window.size;
        return Err(Refusal::malformed(format!("a {kh}×{kw} window does not fit a {h}×{w} image")));
    };
    let result = cx.declared(0)?;
    let activation = Activation::fused(options.activation)?;
    let dims = [n, out_h, out_w, c];
    match (cx.as_stored(x), rounds) {
        // Half of a step is rounded away from zero, so that it matters which number is zero.
        (Some(stored), true) => {
            let unsigned = cx.same_number(x, stored.clone());
            let clamp = activation.clamp(&stored);
            let pooled = cx.node(op(window, clamp), &[unsigned], 0, stored.with_shape(&dims))?;
            let signed = cx.same_number(pooled, cx.ty(x).with_shape(&dims));
            cx.bind(0, signed)
        }
        _ => cx.emit_moved(op(window, activation.clamp(&result)), &[x], 0, &dims),
    }
}
