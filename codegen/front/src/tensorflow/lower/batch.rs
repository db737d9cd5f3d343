//! Blocks of pixels as images of their own, or as channels.

use super::conv::{is_channel_first, spatial, windows_of};
use super::{Cx, Lowered, One, Operators, Refusal};
use kiln_ir::ValueId;

pub(super) const OPERATORS: Operators = &[
    ("BatchToSpace", One(|cx| old(cx, batch_to_space))),
    ("BatchToSpaceND", One(|cx| given(cx, batch_to_space))),
    ("DepthToSpace", One(depth_to_space)),
    ("ExtractImagePatches", One(patches)),
    ("SpaceToBatch", One(|cx| old(cx, space_to_batch))),
    ("SpaceToBatchND", One(|cx| given(cx, space_to_batch))),
    ("SpaceToDepth", One(space_to_depth)),
];

type Lower = fn(&mut Cx<'_, '_, '_>, ValueId, &[usize], &[(usize, usize)]) -> Lowered<ValueId>;

fn pairs(list: &[usize]) -> Vec<(usize, usize)> {
    list.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect()
}

/// Blocks and edges as operands.
fn given(cx: &mut Cx<'_, '_, '_>, lower: Lower) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let (block, edges) = (cx.known_sizes(1, "block")?, pairs(&cx.known_sizes(2, "edges")?));
    checked(cx, x, &block, &edges, lower)
}

/// Square blocks over height and width.
fn old(cx: &mut Cx<'_, '_, '_>, lower: Lower) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let block = usize::try_from(cx.int_of("block_size", 0)?).unwrap_or(0);
    let edges = pairs(&cx.known_sizes(1, "edges")?);
    checked(cx, x, &[block, block], &edges, lower)
}

fn checked(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    block: &[usize],
    edges: &[(usize, usize)],
    lower: Lower,
) -> Lowered<ValueId> {
    let rank = cx.dims(x).len();
    let fits = block.len() == edges.len() && block.len() < rank && !block.contains(&0);
    malformed_if!(!fits, "blocks {block:?} do not fit {}", cx.shown(x));
    // Axes that are not divided need no axis of their own.
    let axes = rank + block.iter().filter(|&&size| size > 1).count();
    if axes > 6 {
        let what = format!("blocks {block:?} of {} cannot be compiled", cx.shown(x));
        return Err(Refusal::unsupported(what, "use blocks over at most two axes"));
    }
    lower(cx, x, block, edges)
}

/// The order of axes in which those of blocks stand in front.
fn order(dims: &[usize], block: &[usize], pixels: &[usize]) -> (Vec<usize>, Vec<usize>, Vec<usize>) {
    let (mut apart, mut front, mut rest) = (vec![dims[0]], Vec::new(), Vec::new());
    for (k, &size) in pixels.iter().enumerate() {
        rest.push(apart.len());
        apart.push(size);
        if block[k] > 1 {
            front.push(apart.len());
            apart.push(block[k]);
        }
    }
    for &dim in &dims[block.len() + 1..] {
        rest.push(apart.len());
        apart.push(dim);
    }
    (apart, front, rest)
}

fn space_to_batch(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    block: &[usize],
    pads: &[(usize, usize)],
) -> Lowered<ValueId> {
    let mut sides = [vec![0; cx.dims(x).len()], vec![0; cx.dims(x).len()]];
    for (k, &(before, after)) in pads.iter().enumerate() {
        (sides[0][k + 1], sides[1][k + 1]) = (before, after);
    }
    let x = cx.padded(x, &sides[0], &sides[1], 0)?;
    let dims = cx.dims(x);
    let mut pixels = Vec::new();
    for (&dim, &size) in dims[1..].iter().zip(block) {
        malformed_if!(dim % size != 0, "blocks {block:?} do not fit {}", cx.shown(x));
        pixels.push(dim / size);
    }
    let (apart, front, rest) = order(&dims, block, &pixels);
    let y = cx.reshaped(x, &apart)?;
    let perm: Vec<usize> = front.iter().copied().chain([0]).chain(rest).collect();
    let y = cx.transposed(y, &perm)?;
    let images = dims[0] * block.iter().product::<usize>();
    cx.reshaped(y, &[&[images], &pixels[..], &dims[block.len() + 1..]].concat())
}

fn batch_to_space(
    cx: &mut Cx<'_, '_, '_>,
    x: ValueId,
    block: &[usize],
    crops: &[(usize, usize)],
) -> Lowered<ValueId> {
    let dims = cx.dims(x);
    let blocks: usize = block.iter().product();
    malformed_if!(dims[0] % blocks != 0, "blocks {block:?} do not fit {}", cx.shown(x));
    let images = dims[0] / blocks;
    let divided: Vec<usize> = block.iter().copied().filter(|&size| size > 1).collect();
    let y = cx.reshaped(x, &[&divided[..], &[images], &dims[1..]].concat())?;
    let first = divided.len();
    let (mut perm, mut next) = (vec![first], 0);
    for (k, &size) in block.iter().enumerate() {
        perm.push(first + 1 + k);
        if size > 1 {
            perm.push(next);
            next += 1;
        }
    }
    perm.extend(first + 1 + block.len()..first + dims.len());
    let y = cx.transposed(y, &perm)?;
    let pixels: Vec<usize> = dims[1..].iter().zip(block).map(|(dim, size)| dim * size).collect();
    let mut y = cx.reshaped(y, &[&[images], &pixels[..], &dims[block.len() + 1..]].concat())?;
    for (k, &(before, after)) in crops.iter().enumerate() {
        let left = pixels[k].checked_sub(before + after);
        let left = left.ok_or_else(|| malformed!("more is cut off than there is"))?;
        y = cx.part(y, k + 1, before, left, 1)?;
    }
    Ok(y)
}

/// The pixels of each window as channels.
fn patches(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let &[n, h, w, c] = &*cx.dims(x) else { return Err(malformed!("{} is no image", cx.shown(x))) };
    let taps = spatial(cx, "ksizes", false, 2)?;
    let axes = windows_of(cx, [h, w], &taps, "rates")?;
    let [rows, columns] = [axes[0].windows(), axes[1].windows()];
    let (Some(rows), Some(columns)) = (rows, columns) else {
        return Err(malformed!("windows of {taps:?} do not fit {}", cx.shown(x)));
    };
    cx.written_out(2 * taps[0] * taps[1])?;
    let (before, after) = ([0, axes[0].pad.0, axes[1].pad.0, 0], [0, axes[0].pad.1, axes[1].pad.1, 0]);
    let padded = cx.padded(x, &before, &after, 0)?;
    let mut parts = Vec::new();
    for i in 0..taps[0] {
        for j in 0..taps[1] {
            let part = cx.part(padded, 1, i * axes[0].dilation, rows, axes[0].stride as i64)?;
            parts.push(cx.part(part, 2, j * axes[1].dilation, columns, axes[1].stride as i64)?);
        }
    }
    let y = cx.joined(&parts, 3)?;
    cx.reshaped(y, &[n, rows, columns, taps[0] * taps[1] * c])
}

/// The image, its block, and its height, width and channels.
fn image(cx: &Cx<'_, '_, '_>) -> Lowered<(ValueId, usize, [usize; 4])> {
    let x = cx.x(0)?;
    let block = usize::try_from(cx.int_of("block_size", 0)?).unwrap_or(0);
    let (&[n, a, b, c], true) = (&*cx.dims(x), block > 0) else {
        return Err(malformed!("blocks of {block} do not fit {}", cx.shown(x)));
    };
    Ok((x, block, if is_channel_first(cx)? { [n, b, c, a] } else { [n, a, b, c] }))
}

fn depth_to_space(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, k, [n, h, w, c]) = image(cx)?;
    malformed_if!(c % (k * k) != 0, "blocks of {k} do not fit {}", cx.shown(x));
    let left = c / (k * k);
    if is_channel_first(cx)? {
        let y = cx.reshaped(x, &[n, k, k, left, h, w])?;
        let y = cx.transposed(y, &[0, 3, 4, 1, 5, 2])?;
        return cx.reshaped(y, &[n, left, h * k, w * k]);
    }
    let y = cx.reshaped(x, &[n, h, w, k, k, left])?;
    let y = cx.transposed(y, &[0, 1, 3, 2, 4, 5])?;
    cx.reshaped(y, &[n, h * k, w * k, left])
}

fn space_to_depth(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, k, [n, h, w, c]) = image(cx)?;
    malformed_if!(h % k != 0 || w % k != 0, "blocks of {k} do not fit {}", cx.shown(x));
    let (h, w) = (h / k, w / k);
    if is_channel_first(cx)? {
        let y = cx.reshaped(x, &[n, c, h, k, w, k])?;
        let y = cx.transposed(y, &[0, 3, 5, 1, 2, 4])?;
        return cx.reshaped(y, &[n, k * k * c, h, w]);
    }
    let y = cx.reshaped(x, &[n, h, k, w, k, c])?;
    let y = cx.transposed(y, &[0, 1, 3, 2, 4, 5])?;
    cx.reshaped(y, &[n, h, w, k * k * c])
}
