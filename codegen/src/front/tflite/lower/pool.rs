//! AVERAGE_POOL_2D and MAX_POOL_2D.

use super::conv::window;
use super::cx::{describe, OpCx};
use super::quant::Activation;
use super::{Lowered, Refusal};
use crate::ir::{Clamp, Op, Window};

/// AVERAGE_POOL_2D.
pub(super) fn average(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    pool(cx, |window, clamp| Op::AvgPool2d { window, clamp })
}

/// MAX_POOL_2D.
pub(super) fn max(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    pool(cx, |window, clamp| Op::MaxPool2d { window, clamp })
}

fn pool(cx: &mut OpCx<'_, '_, '_>, op: fn(Window, Clamp) -> Op) -> Lowered {
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
    let clamp = Activation::fused(options.activation)?.clamp(&result);
    cx.emit_moved(op(window, clamp), &[x], 0, &[n, out_h, out_w, c])
}
