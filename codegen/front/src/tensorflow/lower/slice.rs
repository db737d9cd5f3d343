//! Parts of tensors.

use super::{Cx, Lowered, One, Operators, Refusal};
use kiln_ir::{DType, Op, ValueId};

pub(super) const OPERATORS: Operators = &[("Slice", One(slice)), ("StridedSlice", One(strided))];

fn slice(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let dims = cx.dims(x);
    let sizes = cx.known_list(2, "size")?;
    malformed_if!(sizes.len() != dims.len(), "a part of {sizes:?} does not fit {}", cx.shown(x));
    if cx.data(cx.x(1)?).is_none() {
        return computed(cx, x, &sizes);
    }
    let begins = cx.known_sizes(1, "begin")?;
    malformed_if!(begins.len() != dims.len(), "a part from {begins:?} on does not fit {}", cx.shown(x));
    let mut y = x;
    for (axis, (&begin, &size)) in begins.iter().zip(&sizes).enumerate() {
        let left = dims[axis]
            .checked_sub(begin)
            .ok_or_else(|| malformed!("a part begins at {begin} of {}", dims[axis]))?;
        let size = if size == -1 { left } else { usize::try_from(size).unwrap_or(usize::MAX) };
        malformed_if!(size > left, "a part of {size} from {begin} on does not fit {}", cx.shown(x));
        y = cx.part(y, axis, begin, size, 1)?;
    }
    Ok(y)
}

/// A part that begins where is computed: along one axis only.
fn computed(cx: &mut Cx<'_, '_, '_>, x: ValueId, sizes: &[i64]) -> Lowered<ValueId> {
    let (dims, begin) = (cx.dims(x), cx.x(1)?);
    let mut y = x;
    for (axis, &size) in sizes.iter().enumerate() {
        if size == dims[axis] as i64 {
            continue;
        }
        let size = usize::try_from(size).map_err(|_| {
            let what = "where its part begins, and how large it is, are computed at run time";
            Refusal::unsupported(what, "give it a constant size")
        })?;
        malformed_if!(size > dims[axis], "a part of {size} does not fit {}", cx.shown(x));
        let own = cx.part(begin, 0, axis, 1, 1)?;
        cx.importer.budget.make(8 * size);
        let dtype = cx.ty(own).dtype;
        let places = cx.counted(dtype, size)?;
        let places = cx.sum(places, own)?;
        y = cx.call(
            "Gather",
            &[Some(y), Some(places)],
            &[("axis", crate::onnx::lower::Set::Int(axis as i64))],
        )?;
    }
    Ok(y)
}

/// The masks of a strided slice: bits of what a list says for each of its places.
struct Masks {
    begin: i64,
    end: i64,
    ellipsis: i64,
    new: i64,
    shrink: i64,
}

/// A part of a tensor, axis by axis, and the shape that it is given.
#[derive(Default)]
struct Part {
    begin: Vec<usize>,
    step: Vec<i64>,
    sizes: Vec<usize>,
    result: Vec<usize>,
}

impl Part {
    fn axis(&mut self, begin: usize, step: i64, size: usize) {
        self.begin.push(begin);
        self.step.push(step);
        self.sizes.push(size);
    }

    /// A whole axis, which stays.
    fn all(&mut self, size: usize) {
        self.axis(0, 1, size);
        self.result.push(size);
    }
}

fn strided(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let masks = Masks {
        begin: cx.int_of("begin_mask", 0)?,
        end: cx.int_of("end_mask", 0)?,
        ellipsis: cx.int_of("ellipsis_mask", 0)?,
        new: cx.int_of("new_axis_mask", 0)?,
        shrink: cx.int_of("shrink_axis_mask", 0)?,
    };
    if cx.data(cx.x(1)?).is_none() {
        return at_computed(cx, x, &masks);
    }
    let begins = cx.known_list(1, "begin")?;
    let strides = cx.known_list(3, "strides")?;
    let ends = match cx.data(cx.x(2)?) {
        Some(_) => cx.known_list(2, "end")?,
        // Where an end is not looked at, it may be computed.
        None if unread_ends(&masks, begins.len()) => vec![0; begins.len()],
        None => cx.known_list(2, "end")?,
    };
    malformed_if!(
        ends.len() != begins.len() || strides.len() != begins.len() || begins.len() > 32,
        "its begin, end and strides have different numbers of elements"
    );
    let dims = cx.dims(x);
    let has = |mask: i64, k: usize| mask >> k & 1 == 1;
    let named = (0..begins.len()).filter(|&k| !has(masks.new, k) && !has(masks.ellipsis, k)).count();
    let skipped =
        dims.len().checked_sub(named).ok_or_else(|| malformed!("{} has too few axes", cx.shown(x)))?;
    let mut part = Part::default();
    let mut is_open = true;
    for k in 0..begins.len() {
        if has(masks.ellipsis, k) {
            malformed_if!(!is_open, "it has several ellipses");
            is_open = false;
            for _ in 0..skipped {
                let size = dims[part.sizes.len()];
                part.all(size);
            }
            continue;
        }
        if has(masks.new, k) {
            part.result.push(1);
            continue;
        }
        let size = dims[part.sizes.len()] as i64;
        let counted = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
        if has(masks.shrink, k) {
            let at = counted(begins[k]);
            malformed_if!(!(0..size).contains(&at), "there is no index {} of {size}", begins[k]);
            part.axis(at as usize, 1, 1);
            continue;
        }
        let by = strides[k];
        malformed_if!(by == 0, "a stride is 0");
        let (lo, hi) = if by > 0 { (0, size) } else { (-1, size - 1) };
        let first = if has(masks.begin, k) {
            if by > 0 {
                lo
            } else {
                hi
            }
        } else {
            counted(begins[k]).clamp(lo, hi)
        };
        let last = if has(masks.end, k) {
            if by > 0 {
                hi
            } else {
                lo
            }
        } else {
            counted(ends[k]).clamp(lo, hi)
        };
        let reach = if by > 0 { last - first } else { first - last };
        let count = if reach > 0 { (reach as u64).div_ceil(by.unsigned_abs()) as usize } else { 0 };
        // Of a single element the step may be any.
        part.axis(usize::try_from(first).unwrap_or(0), if count > 1 { by } else { 1 }, count);
        part.result.push(count);
    }
    for &size in &dims[part.sizes.len()..] {
        part.all(size);
    }
    let Part { begin, step, sizes, result } = part;
    let y = match sizes == dims && step.iter().all(|&by| by == 1) {
        true => x,
        false => cx.add_like(Op::Slice { begin, step }, &[x], &sizes)?,
    };
    cx.reshaped(y, &result)
}

/// Whether no place has an end that counts.
fn unread_ends(masks: &Masks, places: usize) -> bool {
    (0..places).all(|k| (masks.end | masks.shrink | masks.new | masks.ellipsis) >> k & 1 == 1)
}

/// One element along the first axis, at an index that is computed.
fn at_computed(cx: &mut Cx<'_, '_, '_>, x: ValueId, masks: &Masks) -> Lowered<ValueId> {
    let index = cx.x(1)?;
    let count = cx.ty(index).shape.numel();
    let dims = cx.dims(x);
    // Places after the first that take all there is.
    let takes_all = (1..count).all(|k| (masks.begin & masks.end) >> k & 1 == 1);
    let is_element = masks.shrink & 1 == 1 && masks.new == 0 && masks.shrink >> 1 == 0 && masks.ellipsis == 0;
    if !is_element || !takes_all || dims.is_empty() || count == 0 {
        let what = "where its part begins is computed at run time";
        return Err(Refusal::unsupported(what, "use tf.gather, or constant bounds"));
    }
    let index = cx.part(index, 0, 0, 1, 1)?;
    let index = cx.reshaped(index, &[])?;
    let index = cx.cast(index, DType::I32)?;
    cx.onnx("Gather", &[x, index])
}
