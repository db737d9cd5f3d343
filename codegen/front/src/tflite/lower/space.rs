//! SPACE_TO_DEPTH, DEPTH_TO_SPACE, SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: blocks of an image become channels or images, and back. All
//! of them split axes, turn them and join them again.

use super::cx::OpCx;
use super::{Lowered, Operators, Refusal};
use kiln_ir::{Op, ValueId};

pub(super) const OPERATORS: Operators =
    &[(5, depth_to_space), (26, space_to_depth), (37, batch_to_space_nd), (38, space_to_batch_nd)];

/// SPACE_TO_DEPTH: the pixels of each block follow each other as channels.
fn space_to_depth(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let block = block_size(cx, 19)?;
    let x = cx.input(0)?;
    let [n, h, w, c] = image(cx, x)?;
    if h % block != 0 || w % block != 0 {
        return Err(malformed!("blocks of {block}×{block} pixels do not divide {}", cx.shown(x)));
    }
    let split = [n, h / block, block, w / block, block, c];
    turned(cx, x, &split, &[0, 1, 3, 2, 4, 5], &[n, h / block, w / block, product(&[block, block, c])?])
}

/// DEPTH_TO_SPACE: the inverse of SPACE_TO_DEPTH.
fn depth_to_space(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let block = block_size(cx, 94)?;
    let x = cx.input(0)?;
    let [n, h, w, c] = image(cx, x)?;
    let pixels = product(&[block, block])?;
    malformed_if!(c % pixels != 0, "blocks of {block}×{block} pixels do not divide {}", cx.shown(x));
    let split = [n, h, w, block, block, c / pixels];
    let joined = [n, product(&[h, block])?, product(&[w, block])?, c / pixels];
    turned(cx, x, &split, &[0, 1, 3, 2, 4, 5], &joined)
}

/// SPACE_TO_BATCH_ND: the image is padded with zeros, and each pixel of a block goes to an image of its own.
fn space_to_batch_nd(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let blocks = blocks(cx, x)?;
    let amounts = amounts(cx, &blocks, "paddings")?;
    let mut dims = cx.dims(x);
    let (mut before, mut after) = (vec![0; dims.len()], vec![0; dims.len()]);
    for (axis, &[lead, trail]) in (1..).zip(&amounts) {
        (before[axis], after[axis]) = (lead, trail);
        let padded = dims[axis].checked_add(lead).and_then(|d| d.checked_add(trail));
        dims[axis] = padded.ok_or_else(too_large)?;
    }
    let mut padded = x;
    if amounts.iter().any(|amount| amount != &[0, 0]) {
        let value = i64::from(cx.ty(x).zero_point());
        padded = cx.node(Op::Pad { before, after, value }, &[x], 0, cx.ty(x).with_shape(&dims))?;
    }
    let (mut split, mut joined) = (vec![dims[0]], vec![dims[0]]);
    for (&block, &size) in blocks.iter().zip(&dims[1..]) {
        malformed_if!(size % block != 0, "blocks {blocks:?} do not divide the padded {dims:?}");
        split.extend([size / block, block]);
        joined[0] = product(&[joined[0], block])?;
        joined.push(size / block);
    }
    let rest = &dims[1 + blocks.len()..];
    split.push(rest.iter().product());
    joined.extend(rest);
    // Pixels within a block come first, the images next.
    let within = (0..blocks.len()).map(|k| 2 + 2 * k);
    let between = (0..blocks.len()).map(|k| 1 + 2 * k);
    let perm: Vec<usize> = within.chain([0]).chain(between).chain([split.len() - 1]).collect();
    turned(cx, padded, &split, &perm, &joined)
}

/// BATCH_TO_SPACE_ND: the inverse of SPACE_TO_BATCH_ND, cutting off what was padded.
fn batch_to_space_nd(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let x = cx.input(0)?;
    let blocks = blocks(cx, x)?;
    let crops = amounts(cx, &blocks, "crops")?;
    let dims = cx.dims(x);
    let images = product(&blocks)?;
    malformed_if!(dims[0] % images != 0, "{} images do not divide into blocks {blocks:?}", dims[0]);
    let (spatial, rest) = dims[1..].split_at(blocks.len());
    let mut split = blocks.clone();
    split.push(dims[0] / images);
    split.extend(spatial);
    split.push(rest.iter().product());
    let mut perm = vec![blocks.len()];
    let (mut whole, mut begin, mut cut) = (vec![dims[0] / images], vec![0], vec![dims[0] / images]);
    for (k, ((&block, &size), &[lead, trail])) in blocks.iter().zip(spatial).zip(&crops).enumerate() {
        perm.extend([blocks.len() + 1 + k, k]);
        let size = product(&[block, size])?;
        whole.push(size);
        begin.push(lead);
        let left = size.checked_sub(lead).and_then(|left| left.checked_sub(trail)).filter(|&left| left > 0);
        let nothing = || malformed!("crops {crops:?} leave nothing of {size} rows");
        cut.push(left.ok_or_else(nothing)?);
    }
    perm.push(split.len() - 1);
    for &size in rest {
        whole.push(size);
        begin.push(0);
        cut.push(size);
    }
    if whole == cut {
        return turned(cx, x, &split, &perm, &whole);
    }
    let (element, turned) = (cx.ty(x).clone(), turn(cx, x, &split, &perm)?);
    let joined = cx.node(Op::Reshape {}, &[turned], 0, element.with_shape(&whole))?;
    let step = vec![1; begin.len()];
    cx.emit_moved(Op::Slice { begin, step }, &[joined], 0, &cut)
}

/// Lets result 0 be `x` seen as `split`, its axes permuted, seen as `joined`.
fn turned(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    split: &[usize],
    perm: &[usize],
    joined: &[usize],
) -> Lowered {
    let turned = turn(cx, x, split, perm)?;
    cx.emit_moved(Op::Reshape {}, &[turned], 0, joined)
}

/// `x` seen as `split`, its axes permuted.
pub(super) fn turn(
    cx: &mut OpCx<'_, '_, '_>,
    x: ValueId,
    split: &[usize],
    perm: &[usize],
) -> Lowered<ValueId> {
    let element = cx.ty(x).clone();
    let parts = cx.node(Op::Reshape {}, &[x], 0, element.with_shape(split))?;
    let dims: Vec<usize> = perm.iter().map(|&axis| split[axis]).collect();
    cx.node(Op::Transpose { perm: perm.to_vec() }, &[parts], 0, element.with_shape(&dims))
}

fn image(cx: &OpCx<'_, '_, '_>, x: ValueId) -> Lowered<[usize; 4]> {
    let no_image = |_| malformed!("{} is not an image with four axes", cx.shown(x));
    cx.dims(x).try_into().map_err(no_image)
}

fn block_size(cx: &OpCx<'_, '_, '_>, kind: u8) -> Lowered<usize> {
    let size = cx.options(kind)?.block_size()?;
    let positive = usize::try_from(size).ok().filter(|&size| size > 0);
    positive.ok_or_else(|| malformed!("its block size is {size}"))
}

/// Sizes of blocks along the axes behind the first.
fn blocks(cx: &mut OpCx<'_, '_, '_>, x: ValueId) -> Lowered<Vec<usize>> {
    let given = cx.ints(1, "block shape")?;
    let axes = cx.dims(x).len();
    let misfit = || malformed!("blocks {given:?} do not fit {}", cx.shown(x));
    if given.is_empty() || given.len() > 2 || axes < given.len() + 1 {
        return Err(misfit());
    }
    let positive = |&size: &i64| usize::try_from(size).ok().filter(|&size| size > 0).ok_or_else(misfit);
    given.iter().map(positive).collect()
}

/// Amounts before and behind each blocked axis.
fn amounts(cx: &mut OpCx<'_, '_, '_>, blocks: &[usize], what: &str) -> Lowered<Vec<[usize; 2]>> {
    let given = cx.ints(2, what)?;
    let misfit = || malformed!("{what} {given:?} do not fit blocks {blocks:?}");
    let amount = |&amount: &i64| u32::try_from(amount).map(|amount| amount as usize).map_err(|_| misfit());
    let given = given.iter().map(amount).collect::<Lowered<Vec<usize>>>()?;
    if given.len() != 2 * blocks.len() {
        return Err(misfit());
    }
    Ok(given.chunks_exact(2).map(|pair| [pair[0], pair[1]]).collect())
}

fn product(sizes: &[usize]) -> Lowered<usize> {
    sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size)).ok_or_else(too_large)
}

fn too_large() -> Refusal {
    malformed!("its result is too large")
}
