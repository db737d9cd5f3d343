//! TensorFlow Lite Micro's signal operators, which are custom operators of the file: the steps of an audio front end.
//!
//! What some of them remember becomes states: the estimate of noise; the samples, frames or sums that SignalFramer, SignalStacker, SignalDelay and SignalOverlapAdd hold back, by `concat` and `slice`; and whether these have
//! seen enough, as a list of truth values that moves on by one in each invocation. Where a result is not valid yet, TensorFlow Lite Micro leaves whatever its memory held; here it is what there is so far, behind
//! zeros.

use super::cx::{describe, OpCx};
use super::{Lower, Lowered, Refusal};
use kiln_ir::{DType, Data, Op, Shape, Signal, Type, ValueId};

/// The operators, by name.
const OPERATORS: &[(&str, Lower)] = &[
    ("SignalDelay", delay),
    ("SignalEnergy", energy),
    ("SignalFftAutoScale", auto_scale),
    ("SignalFilterBank", filter_bank),
    ("SignalFilterBankLog", log),
    ("SignalFilterBankSpectralSubtraction", spectral_subtraction),
    ("SignalFilterBankSquareRoot", square_root),
    ("SignalFramer", framer),
    ("SignalIrfft", irfft),
    ("SignalOverlapAdd", overlap_add),
    ("SignalPCAN", pcan),
    ("SignalRfft", rfft),
    ("SignalStacker", stacker),
    ("SignalWindow", window),
];

/// Most frames that SignalFramer makes of one operand: operands of a `concat`.
const MOST_FRAMES: usize = 64;
/// Most invocations until a result is valid, and most frames that are held.
const LONGEST: usize = 1 << 16;

/// The lowering of the custom operator of that name.
pub(super) fn find(name: &str) -> Option<Lower> {
    OPERATORS.iter().find(|(known, _)| *known == name).map(|(_, lower)| *lower)
}

/// SignalWindow.
fn window(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, weights) = (cx.input(0)?, cx.input(1)?);
    let shift = number(cx, "shift")?;
    step(cx, Signal::Window { shift }, &[x, weights], 0)
}

/// SignalFftAutoScale: the samples shifted left, and by how many bits.
fn auto_scale(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    step(cx, Signal::Headroom {}, &[x], 1)?;
    let bits = cx.result(1)?;
    step(cx, Signal::ShiftLeft {}, &[x, bits], 0)
}

/// SignalRfft.
fn rfft(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let length = transform_length(cx)?;
    step(cx, Signal::Rfft { length }, &[x], 0)
}

/// SignalIrfft.
fn irfft(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let length = transform_length(cx)?;
    step(cx, Signal::Irfft { length }, &[x], 0)
}

fn transform_length(cx: &OpCx<'_, '_, '_>) -> Lowered<i64> {
    let length = number(cx, "fft_length")?;
    let fits = (4..=LONGEST as i64).contains(&length) && length.count_ones() == 1;
    fits.then_some(length).ok_or_else(|| {
        let what = format!("a transform of length {length} cannot be compiled");
        Refusal::unsupported(what, format!("choose a power of two from 4 to {LONGEST}"))
    })
}

/// SignalEnergy.
fn energy(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let (start, end) = (number(cx, "start_index")?, number(cx, "end_index")?);
    step(cx, Signal::Energy { start, end }, &[x], 0)
}

/// SignalFilterBank.
fn filter_bank(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let mut operands = Vec::new();
    for k in 0..6 {
        operands.push(cx.input(k)?);
    }
    let channels = number(cx, "num_channels")?;
    let listed = operands.last().map_or(0, |&widths| cx.ty(widths).shape.numel());
    if channels.checked_add(1).and_then(|n| usize::try_from(n).ok()) != Some(listed) {
        return Err(malformed!("it has {channels} channels, but widths for {listed}"));
    }
    step(cx, Signal::FilterBank {}, &operands, 0)
}

/// SignalFilterBankSquareRoot.
fn square_root(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (x, bits) = (cx.input(0)?, cx.input(1)?);
    step(cx, Signal::SquareRoot {}, &[x, bits], 0)
}

/// SignalFilterBankSpectralSubtraction: the signal without the noise, and the estimate of that.
fn spectral_subtraction(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let smoothing_bits = number(cx, "smoothing_bits")?;
    let bits = number(cx, "spectral_subtraction_bits")?;
    let estimate = Signal::NoiseEstimate {
        smoothing: number(cx, "smoothing")?,
        one_minus_smoothing: number(cx, "one_minus_smoothing")?,
        alternate_smoothing: number(cx, "alternate_smoothing")?,
        alternate_one_minus_smoothing: number(cx, "alternate_one_minus_smoothing")?,
        smoothing_bits,
        bits,
        clamping: number(cx, "clamping")?.min(1),
    };
    let min_signal_remaining = number(cx, "min_signal_remaining")?;
    let subtract = Signal::SubtractNoise { min_signal_remaining, smoothing_bits, bits };
    let ty = Type::plain(DType::I32, &cx.dims(x));
    let before = zeros(cx, "noise_estimate", ty)?;
    step(cx, estimate, &[x, before], 1)?;
    let noise = cx.result(1)?;
    cx.set_state(before, noise)?;
    step(cx, subtract, &[x, noise], 0)
}

/// SignalPCAN.
fn pcan(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let operands = [cx.input(0)?, cx.input(1)?, cx.input(2)?];
    let snr_shift = number(cx, "snr_shift")?;
    step(cx, Signal::Pcan { snr_shift }, &operands, 0)
}

/// SignalFilterBankLog.
fn log(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let (scale, correction_bits) = (number(cx, "output_scale")?, number(cx, "input_correction_bits")?);
    step(cx, Signal::Log { scale, correction_bits }, &[x], 0)
}

/// SignalOverlapAdd.
fn overlap_add(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let &[ref outer @ .., frames, size] = &dims[..] else {
        return Err(malformed!("{} does not consist of frames", cx.shown(x)));
    };
    let step = size_of(cx, "frame_step")?;
    malformed_if!(step > size, "frames of {size} samples cannot be added every {step} samples");
    let length = frames * step;
    let of = |last: usize| [outer, &[last]].concat();
    if step == size {
        return cx.emit_reshaped(x, 0, &of(length));
    }
    let left = zeros(cx, "overlap", cx.ty(x).with_shape(&of(size - step)))?;
    let sums = computed(cx, Signal::OverlapAdd { step: step as i64 }, &[x, left], 0)?;
    let rest = part(cx, sums, length, size - step)?;
    cx.set_state(left, rest)?;
    let y = part(cx, sums, 0, length)?;
    cx.emit_reshaped(y, 0, &of(length))
}

/// SignalDelay.
fn delay(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let dims = cx.dims(x);
    let delay = size_or_zero(cx, "delay_length")?;
    let Some((&size, outer)) = dims.split_last() else {
        return Err(malformed!("a scalar has no samples"));
    };
    if delay == 0 {
        return cx.emit_reshaped(x, 0, &dims);
    }
    let earlier = zeros(cx, "delay", cx.ty(x).with_shape(&[outer, &[delay]].concat()))?;
    let all = joined(cx, &[earlier, x], outer.len())?;
    let kept = part(cx, all, size, delay)?;
    cx.set_state(earlier, kept)?;
    let y = part(cx, all, 0, size)?;
    cx.emit_reshaped(y, 0, &dims)
}

/// SignalFramer: frames of `frame_size` samples, `frame_step` apart, and whether all of them are of samples.
fn framer(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let (size, step) = (size_of(cx, "frame_size")?, size_of(cx, "frame_step")?);
    let prefill = number(cx, "prefill")? != 0;
    let dims = cx.dims(x);
    let Some((&samples, outer)) = dims.split_last() else {
        return Err(malformed!("a scalar has no samples"));
    };
    if samples % step != 0 || samples == 0 || (prefill && step > size) {
        return Err(malformed!("frames of {size} every {step} samples do not fit {samples} samples"));
    }
    let frames = samples / step;
    if frames > MOST_FRAMES {
        let what = format!("it makes {frames} frames at once; at most {MOST_FRAMES} can be compiled");
        return Err(Refusal::unsupported(what, "feed the model fewer samples at once"));
    }
    // Without zeros in front, the first frame begins when a whole number of steps holds it.
    let first = size.div_ceil(step);
    let held = if prefill { size } else { first * step } - step;
    let all = match held {
        0 => x,
        _ => {
            let earlier = zeros(cx, "samples", cx.ty(x).with_shape(&[outer, &[held]].concat()))?;
            let all = joined(cx, &[earlier, x], outer.len())?;
            let kept = part(cx, all, samples, held)?;
            cx.set_state(earlier, kept)?;
            all
        }
    };
    let mut parts = Vec::new();
    for frame in 0..frames {
        let y = part(cx, all, frame * step, size)?;
        let ty = cx.ty(y).with_shape(&[outer, &[1, size]].concat());
        parts.push(cx.node(Op::Reshape {}, &[y], 0, ty)?);
    }
    let y = joined(cx, &parts, outer.len())?;
    cx.emit_reshaped(y, 0, &[outer, &[frames, size]].concat())?;
    let invalid = if prefill { 0 } else { (first - 1).div_ceil(frames) };
    let mut flags = vec![false; invalid];
    flags.push(true);
    valid(cx, &flags, invalid)
}

/// SignalStacker: the last frames, one behind the other, the very first one standing for those before it; and whether it is time for the next result.
fn stacker(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let channels = size_of(cx, "num_channels")?;
    let left = size_or_zero(cx, "stacker_left_context")?;
    let right = size_or_zero(cx, "stacker_right_context")?;
    let step = size_of(cx, "stacker_step")?;
    let frames = left + right + 1;
    if cx.dims(x) != [channels] || step > frames {
        let what = format!(
            "it cannot stack {frames} frames of {channels} channels, every {step} frames, from {}",
            cx.shown(x)
        );
        return Err(Refusal::malformed(what));
    }
    let rows = |cx: &OpCx<'_, '_, '_>, count: usize| cx.ty(x).with_shape(&[count, channels]);
    let ty = rows(cx, 1);
    let newest = cx.node(Op::Reshape {}, &[x], 0, ty)?;
    let all = match frames {
        1 => newest,
        _ => {
            let ty = rows(cx, frames - 1);
            let earlier = zeros(cx, "frames", ty.clone())?;
            let before = match left {
                0 => earlier,
                _ => {
                    let begun = zeros(cx, "begun", Type::plain(DType::Bool, &[1]))?;
                    let always = truth(cx, &[1], true);
                    cx.set_state(begun, always)?;
                    let first = cx.node(Op::Broadcast {}, &[newest], 0, ty.clone())?;
                    cx.node(Op::Select {}, &[begun, earlier, first], 0, ty)?
                }
            };
            let all = cx.node(Op::Concat { axis: 0 }, &[before, newest], 0, rows(cx, frames))?;
            let op = Op::Slice { begin: vec![1, 0], step: vec![1, 1] };
            let kept = cx.node(op, &[all], 0, rows(cx, frames - 1))?;
            cx.set_state(earlier, kept)?;
            all
        }
    };
    cx.emit_reshaped(all, 0, &[frames * channels])?;
    let flags: Vec<bool> = (0..right + step).map(|at| at == right).collect();
    valid(cx, &flags, right)
}

/// Lets result 1 be the next of `flags`, one in each invocation: behind the last one those from index `from` on again.
fn valid(cx: &mut OpCx<'_, '_, '_>, flags: &[bool], from: usize) -> Lowered {
    if flags.iter().all(|&flag| flag) {
        let always = truth(cx, &[], true);
        return cx.bind(1, always);
    }
    let ty = Type::plain(DType::Bool, &[flags.len()]);
    let bytes: Vec<u8> = flags.iter().map(|&flag| flag.into()).collect();
    let now = cx.state("valid", ty, Data::new(bytes))?;
    let (rest, again) = (part(cx, now, 1, flags.len() - 1)?, part(cx, now, from, 1)?);
    let next = joined(cx, &[rest, again], 0)?;
    cx.set_state(now, next)?;
    let flag = part(cx, now, 0, 1)?;
    cx.emit_reshaped(flag, 1, &[])
}

fn truth(cx: &mut OpCx<'_, '_, '_>, dims: &[usize], value: bool) -> ValueId {
    cx.constant("true", Type::plain(DType::Bool, dims), Data::new(vec![u8::from(value)]))
}

/// Operands one behind the other along an axis.
fn joined(cx: &mut OpCx<'_, '_, '_>, parts: &[ValueId], axis: usize) -> Lowered<ValueId> {
    let &[first, ref others @ ..] = parts else {
        return Err(malformed!("it has nothing to concatenate"));
    };
    if others.is_empty() {
        return Ok(first);
    }
    let mut dims = cx.dims(first);
    for &other in others {
        let len = cx.dims(other).get(axis).copied().unwrap_or(0);
        dims[axis] = dims[axis].saturating_add(len);
    }
    let ty = Type { shape: Shape(dims), ..cx.ty(first).clone() };
    cx.node(Op::Concat { axis }, parts, 0, ty)
}

/// The `len` elements from index `begin` of the last axis on.
fn part(cx: &mut OpCx<'_, '_, '_>, x: ValueId, begin: usize, len: usize) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let last = dims.len().saturating_sub(1);
    let mut first = vec![0; dims.len()];
    (first[last], dims[last]) = (begin, len);
    let op = Op::Slice { begin: first, step: vec![1; dims.len()] };
    let ty = cx.ty(x).with_shape(&dims);
    cx.node(op, &[x], 0, ty)
}

/// A state that begins with zeros.
fn zeros(cx: &mut OpCx<'_, '_, '_>, what: &str, ty: Type) -> Lowered<ValueId> {
    let bytes = ty.shape.checked_numel().and_then(|n| n.checked_mul(ty.dtype.size())).unwrap_or(usize::MAX);
    cx.charge(bytes)?;
    let init = Data::new(vec![0u8; bytes]);
    cx.state(what, ty, init)
}

/// Adds a step that computes result `k`.
fn step(cx: &mut OpCx<'_, '_, '_>, function: Signal, operands: &[ValueId], k: usize) -> Lowered {
    let value = computed(cx, function, operands, k)?;
    cx.bind(k, value)
}

fn computed(cx: &mut OpCx<'_, '_, '_>, function: Signal, operands: &[ValueId], k: usize) -> Lowered<ValueId> {
    let types: Vec<&Type> = operands.iter().map(|&id| cx.ty(id)).collect();
    let result = function.result(&types).map_err(Refusal::malformed)?;
    let declared = cx.declared(k)?;
    if declared.dtype != result.dtype {
        let what = format!(
            "its result is declared as {}, but {} is computed",
            describe(&declared),
            describe(&result)
        );
        return Err(Refusal::malformed(what));
    }
    cx.node(Op::Signal { function }, operands, k, Type { quant: declared.quant, ..result })
}

/// An option, which must be there.
fn number(cx: &OpCx<'_, '_, '_>, name: &str) -> Lowered<i64> {
    let all = cx.custom_numbers()?;
    let found = all.iter().find(|(known, _)| *known == name.as_bytes()).map(|&(_, number)| number);
    found.ok_or_else(|| malformed!("it has no option `{name}`"))
}

/// An option that is a number of elements.
fn size_or_zero(cx: &OpCx<'_, '_, '_>, name: &str) -> Lowered<usize> {
    let size = number(cx, name)?;
    let fits = usize::try_from(size).ok().filter(|&size| size <= LONGEST);
    fits.ok_or_else(|| malformed!("its option `{name}` is {size}, at most {LONGEST} is possible"))
}

/// An option that is a number of elements, of which there is one at least.
fn size_of(cx: &OpCx<'_, '_, '_>, name: &str) -> Lowered<usize> {
    match size_or_zero(cx, name)? {
        0 => Err(malformed!("its option `{name}` is 0")),
        size => Ok(size),
    }
}
