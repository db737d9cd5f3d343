//! Operators that move elements, and those that tell shapes.

use super::{attributes, row, Draw, Format, Kind, Row, Value};
use kiln_codegen::front::tflite::testing::{Element, Options as Attributes, Table};

pub(super) const ROWS: &[Row] = &[
    row(2, concatenation),
    row(83, pack),
    row(88, unpack),
    row(34, |d, f| pad(d, f, 34)),
    row(60, |d, f| pad(d, f, 60)),
    row(100, mirror_pad),
    row(39, transpose),
    row(105, reverse),
    row(22, reshape),
    row(43, squeeze),
    row(70, expand_dims),
    row(45, strided_slice),
    row(65, slice),
    row(49, split),
    row(102, split_v),
    row(36, gather),
    row(107, gather_nd),
    row(7, embedding_lookup),
    row(48, top_k),
    row(109, indices_where),
    row(112, reverse_sequence),
    row(151, dynamic_update_slice),
    row(69, tile),
    row(130, broadcast_to),
    row(145, broadcast_args),
    row(94, fill),
    row(77, |d, f| told(d, f, 77)),
    row(110, |d, f| told(d, f, 110)),
    row(85, one_hot),
    row(5, depth_to_space),
    row(26, space_to_depth),
    row(38, space_to_batch),
    row(37, batch_to_space),
];

fn none() -> Attributes {
    Attributes::none()
}

fn axis_of(d: &mut Draw, x: &Value) -> (usize, i32) {
    let rank = x.dims.len();
    let axis = d.below(rank);
    (axis, if d.one_in(4) { axis as i32 - rank as i32 } else { axis as i32 })
}

fn concatenation(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=5);
    let (axis, stated) = axis_of(d, &x);
    let mut operands = vec![x.clone()];
    for _ in 0..d.below(4) {
        let mut dims = x.dims.clone();
        dims[axis] = d.between(1, 3);
        operands.push(d.other(x.kind, &dims));
    }
    let operands: Vec<&Value> = operands.iter().collect();
    d.emit_moved(2, Attributes::concatenation(stated), &operands, &[], x.kind)
}

fn pack(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 0..=4);
    let mut operands = vec![x.clone()];
    for _ in 0..d.below(3) {
        operands.push(d.other(x.kind, &x.dims));
    }
    let table = Table::new().with(0, operands.len() as i32).with(1, d.below(x.dims.len() + 1) as i32);
    let operands: Vec<&Value> = operands.iter().collect();
    d.emit_moved(83, attributes(59, table), &operands, &[], x.kind)
}

fn unpack(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let (axis, stated) = axis_of(d, &x);
    let table = Table::new().with(0, x.dims[axis]).with(1, stated);
    d.emit_all(88, attributes(64, table), &[x.tensor], &vec![x.kind; x.dims[axis].min(12) as usize])?;
    d.keep_exact(&[&x]);
    Some(())
}

/// Amounts before and behind each axis, not above `most` of its size.
fn amounts(d: &mut Draw, x: &Value, most: impl Fn(i32) -> i32) -> Vec<i32> {
    let mut amounts = Vec::new();
    for &dim in &x.dims {
        let most = most(dim).min(2);
        amounts.extend([d.between(0, most), d.between(0, most)]);
    }
    amounts
}

/// A constant of pairs.
fn pairs(d: &mut Draw, amounts: &[i32]) -> i32 {
    let data: Vec<u8> = amounts.iter().flat_map(|x| x.to_le_bytes()).collect();
    let name = d.name();
    let kind = Kind::plain(Element::Int32);
    d.model.constant(&name, kind.tensor(&[amounts.len() as i32 / 2, 2]), &data)
}

fn pad(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 1..=5);
    let amounts = amounts(d, &x, |_| 2);
    let mut others = vec![pairs(d, &amounts)];
    if code == 60 {
        others.push(d.constant(x.kind, &[1]).tensor);
    }
    d.emit_moved(code, none(), &[&x], &others, x.kind)
}

fn mirror_pad(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let symmetric = d.one_in(2);
    let amounts = amounts(d, &x, |dim| if symmetric { dim } else { dim - 1 });
    let amounts = pairs(d, &amounts);
    let table = Table::new().with(0, i8::from(symmetric));
    d.emit_moved(100, attributes(77, table), &[&x], &[amounts], x.kind)
}

fn shuffled(d: &mut Draw, n: usize) -> Vec<i32> {
    let mut list: Vec<i32> = (0..n as i32).collect();
    for i in (1..n).rev() {
        list.swap(i, d.below(i + 1));
    }
    list
}

fn transpose(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=5);
    let perm = shuffled(d, x.dims.len());
    let perm = d.ints(&perm);
    d.emit_moved(39, none(), &[&x], &[perm], x.kind)
}

fn reverse(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let axes: Vec<i32> = shuffled(d, x.dims.len()).into_iter().take(1 + d.below(2)).collect();
    let axes = d.ints(&axes);
    d.emit_moved(105, none(), &[&x], &[axes], x.kind)
}

/// Another shape of as many elements.
fn reshape(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 0..=5);
    let (mut rest, mut dims) = (x.numel(), Vec::new());
    while rest > 1 && dims.len() < 4 {
        let divisors: Vec<i32> = (1..=rest).filter(|n| rest % n == 0).collect();
        let next = d.pick(&divisors);
        dims.push(next);
        rest /= next;
    }
    if rest > 1 || d.one_in(4) {
        dims.push(if d.one_in(2) { -1 } else { rest });
    }
    let dims = d.ints(&dims);
    d.emit_moved(22, none(), &[&x], &[dims], x.kind)
}

fn squeeze(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=5);
    let single = |(axis, &dim): (usize, &i32)| (dim == 1).then_some(axis as i32);
    let axes: Vec<i32> = x.dims.iter().enumerate().filter_map(single).collect();
    let named: Vec<i32> = axes.into_iter().filter(|_| d.one_in(2)).collect();
    d.emit_moved(43, attributes(30, Table::new().with(0, &*named)), &[&x], &[], x.kind)
}

fn expand_dims(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 0..=5);
    let axis = d.below(x.dims.len() + 1) as i32;
    let axis = d.ints(&[axis]);
    d.emit_moved(70, none(), &[&x], &[axis], x.kind)
}

fn strided_slice(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let (mut begin, mut end, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for &dim in &x.dims {
        let (first, count) = (d.between(0, dim - 1), d.between(1, dim));
        let stride = d.pick(&[1, 1, 2, -1]);
        begin.push(if d.one_in(4) { first - dim } else { first });
        end.push(if stride > 0 { (first + count).min(dim) } else { (first - count).max(-dim - 1) });
        strides.push(stride);
    }
    let mut mask = |odds| (0..x.dims.len()).filter(|_| d.one_in(odds)).map(|i| 1 << i).sum::<i32>();
    let (from, to, shrink) = (mask(4), mask(3), mask(6));
    let others = [d.ints(&begin), d.ints(&end), d.ints(&strides)];
    d.emit_moved(45, Attributes::strided_slice(from, to, shrink), &[&x], &others, x.kind)
}

fn slice(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=5);
    let (mut begin, mut size) = (Vec::new(), Vec::new());
    for &dim in &x.dims {
        let first = d.between(0, dim - 1);
        begin.push(first);
        size.push(if d.one_in(4) { -1 } else { d.between(1, dim - first) });
    }
    let others = [d.ints(&begin), d.ints(&size)];
    d.emit_moved(65, none(), &[&x], &others, x.kind)
}

fn split(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let (axis, stated) = axis_of(d, &x);
    let parts: Vec<i32> = (1..=x.dims[axis].min(8)).filter(|n| x.dims[axis] % n == 0).collect();
    let parts = d.pick(&parts);
    let stated = d.ints(&[stated]);
    let options = attributes(35, Table::new().with(0, parts));
    d.emit_all(49, options, &[stated, x.tensor], &vec![x.kind; parts as usize])?;
    d.keep_exact(&[&x]);
    Some(())
}

fn split_v(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let (axis, stated) = axis_of(d, &x);
    let first = d.between(1, x.dims[axis]);
    let mut sizes = vec![first];
    if first < x.dims[axis] {
        sizes.push(if d.one_in(3) { -1 } else { x.dims[axis] - first });
    }
    let count = sizes.len();
    let (sizes, stated) = (d.ints(&sizes), d.ints(&[stated]));
    let options = attributes(79, Table::new().with(0, count as i32));
    d.emit_all(102, options, &[x.tensor, sizes, stated], &vec![x.kind; count])?;
    d.keep_exact(&[&x]);
    Some(())
}

/// Indices below `size`, computed at run time or constant.
fn indices(d: &mut Draw, dims: &[i32], size: i32) -> Value {
    let element = d.pick(&[Element::Int32, Element::Int64]);
    let kind = Kind::plain(element);
    if d.one_in(2) {
        return d.input(kind, dims);
    }
    let count = dims.iter().product::<i32>();
    let numbers: Vec<i32> = (0..count).map(|_| d.between(0, size - 1)).collect();
    let data: Vec<u8> = match element {
        Element::Int32 => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
        _ => numbers.iter().flat_map(|&n| i64::from(n).to_le_bytes()).collect(),
    };
    let name = d.name();
    let tensor = d.model.constant(&name, kind.tensor(dims), &data);
    Value { tensor, kind, dims: dims.to_vec(), is_exact: true, is_read: true }
}

fn gather(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let (axis, stated) = axis_of(d, &x);
    let shared = if d.one_in(4) { d.below(axis + 1) } else { 0 };
    let mut dims = x.dims[..shared].to_vec();
    for _ in 0..d.below(3) {
        dims.push(d.between(1, 4));
    }
    let indices = indices(d, &dims, x.dims[axis]);
    let table = Table::new().with(0, stated).with(1, shared as i32);
    d.emit_moved(36, attributes(23, table), &[&x], &[indices.tensor], x.kind)
}

fn gather_nd(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let depth = 1 + d.below(x.dims.len());
    let mut dims = d.dims(1);
    dims.push(depth as i32);
    let least = x.dims[..depth].iter().copied().min()?;
    let indices = indices(d, &dims, least);
    d.emit_moved(107, none(), &[&x], &[indices.tensor], x.kind)
}

fn embedding_lookup(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 2..=3);
    let dims = d.dims(1);
    let indices = indices(d, &dims, x.dims[0]);
    d.emit_moved(7, none(), &[&indices, &x], &[], x.kind)
}

fn top_k(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.exact(format, 1..=4);
    let k = d.between(1, *x.dims.last()?);
    let name = d.name();
    let number = Kind::plain(Element::Int32);
    let k = d.model.constant(&name, number.tensor(&[]), &k.to_le_bytes());
    d.emit_all(48, none(), &[x.tensor, k], &[x.kind, number])?;
    d.keep_exact(&[&x]);
    Some(())
}

/// Of a constant: how many there are has to be known.
fn indices_where(d: &mut Draw, format: Format) -> Option<()> {
    let rank = 1 + d.below(3);
    let dims = d.dims(rank);
    let kind = d.kind(format);
    let x = d.constant(kind, &dims);
    d.emit(109, none(), &[x.tensor], Kind::plain(Element::Int64))
}

fn reverse_sequence(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 2..=4);
    let axes = shuffled(d, x.dims.len());
    let lengths = indices(d, &[x.dims[axes[1] as usize]], x.dims[axes[0] as usize]);
    let table = Table::new().with(0, axes[0]).with(1, axes[1]);
    d.emit_moved(112, attributes(87, table), &[&x], &[lengths.tensor], x.kind)
}

fn dynamic_update_slice(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let part: Vec<i32> = x.dims.iter().map(|&dim| d.between(1, dim)).collect();
    let update = d.other(x.kind, &part);
    let first = indices(d, &[x.dims.len() as i32], *x.dims.iter().min()?);
    d.emit_moved(151, none(), &[&x, &update], &[first.tensor], x.kind)
}

fn tile(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 1..=4);
    let times: Vec<i32> = x.dims.iter().map(|_| d.pick(&[1, 1, 2, 3])).collect();
    let times = d.ints(&times);
    d.emit_moved(69, none(), &[&x], &[times], x.kind)
}

fn broadcast_to(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.x(format, 0..=4);
    let mut dims: Vec<i32> = x.dims.iter().map(|&dim| if dim == 1 { d.between(1, 4) } else { dim }).collect();
    if d.one_in(2) {
        dims.insert(0, d.between(1, 3));
    }
    let dims = d.ints(&dims);
    d.emit_moved(130, none(), &[&x], &[dims], x.kind)
}

fn integers(format: Format) -> Option<Kind> {
    matches!(format, Format::Int32 | Format::Int64).then(|| Kind::plain(format.element()))
}

fn broadcast_args(d: &mut Draw, format: Format) -> Option<()> {
    let kind = integers(format)?;
    let dims = d.dims(3);
    let (x, y) = (d.ints(&dims), d.ints(&dims[1..]));
    d.emit(145, none(), &[x, y], kind)
}

fn fill(d: &mut Draw, format: Format) -> Option<()> {
    let kind = d.kind(format);
    let value = d.other(kind, &[]);
    let dims = d.dims(3);
    let dims = d.ints(&dims);
    let tensors = [dims, value.tensor];
    d.emit(94, none(), &tensors, kind)?;
    d.keep_exact(&[&value]);
    Some(())
}

/// SHAPE and RANK.
fn told(d: &mut Draw, format: Format, code: i32) -> Option<()> {
    let x = d.x(format, 0..=5);
    d.emit(code, none(), &[x.tensor], Kind::plain(Element::Int32))
}

fn one_hot(d: &mut Draw, format: Format) -> Option<()> {
    let rank = d.below(3);
    let dims = d.dims(rank);
    let depth = d.between(1, 5);
    let indices = indices(d, &dims, depth);
    let kind = d.kind(format);
    let (on, off) = (d.constant(kind, &[]).tensor, d.constant(kind, &[]).tensor);
    let axis = d.between(-1, rank as i32);
    let data = depth.to_le_bytes();
    let name = d.name();
    let depth = d.model.constant(&name, Kind::plain(Element::Int32).tensor(&[]), &data);
    d.emit_moved(85, attributes(61, Table::new().with(0, axis)), &[&indices], &[depth, on, off], kind)
}

fn depth_to_space(d: &mut Draw, format: Format) -> Option<()> {
    let (h, w, c) = (d.between(1, 4), d.between(1, 4), d.between(1, 3));
    let kind = d.kind(format);
    let x = d.input(kind, &[1, h, w, 4 * c]);
    d.emit_moved(5, attributes(94, Table::new().with(0, 2)), &[&x], &[], x.kind)
}

fn space_to_depth(d: &mut Draw, format: Format) -> Option<()> {
    let (h, w, c) = (d.between(1, 4), d.between(1, 4), d.between(1, 3));
    let kind = d.kind(format);
    let x = d.input(kind, &[1, 2 * h, 2 * w, c]);
    d.emit_moved(26, attributes(19, Table::new().with(0, 2)), &[&x], &[], x.kind)
}

fn space_to_batch(d: &mut Draw, format: Format) -> Option<()> {
    let x = d.image(format);
    let blocks = [d.between(1, 2), d.between(1, 3)];
    let mut amounts = Vec::new();
    for (axis, block) in blocks.into_iter().enumerate() {
        let lead = d.between(0, 2);
        let rest = (x.dims[1 + axis] + lead) % block;
        amounts.extend([lead, if rest == 0 { 0 } else { block - rest }]);
    }
    let others = [d.ints(&blocks), pairs(d, &amounts)];
    d.emit_moved(38, none(), &[&x], &others, x.kind)
}

fn batch_to_space(d: &mut Draw, format: Format) -> Option<()> {
    let kind = d.kind(format);
    let (h, w, c) = (d.between(1, 4), d.between(1, 4), d.between(1, 3));
    let blocks = [d.between(1, 2), d.between(1, 3)];
    let x = d.input(kind, &[blocks[0] * blocks[1], h, w, c]);
    let cuts: Vec<i32> = blocks.iter().flat_map(|&block| [d.between(0, block - 1), 0]).collect();
    let others = [d.ints(&blocks), pairs(d, &cuts)];
    d.emit_moved(37, none(), &[&x], &others, x.kind)
}
