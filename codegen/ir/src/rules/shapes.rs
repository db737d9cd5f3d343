//! Rules for shapes. Types are well formed: no empty dimensions, no overflowing products.

use super::{ensure, Checked};
use crate::{DType, Layout, Order, Shape, Type, Window};

/// The op has no rule of its own.
pub(crate) fn any(_: &[&Type], _: &Type) -> Checked {
    Ok(())
}

/// The result has the first operand's shape.
pub(crate) fn same(operands: &[&Type], y: &Type) -> Checked {
    expect(y, operands[0].shape.dims())
}

/// As [`same`], of tensors that have a last axis.
pub(crate) fn rows(operands: &[&Type], y: &Type) -> Checked {
    ensure!(operands[0].shape.rank() >= 1, "a scalar has no last axis");
    same(operands, y)
}

/// As [`same`], of tensors that have that axis.
pub(crate) fn along(axis: usize, operands: &[&Type], y: &Type) -> Checked {
    let axes = operands[0].shape.rank();
    ensure!(axis < axes, "axis {axis} of a tensor of {axes} axes");
    same(operands, y)
}

/// The result has the common shape of all operands, as NumPy broadcasts them.
pub(crate) fn broadcast(operands: &[&Type], y: &Type) -> Checked {
    let all = operands.iter().try_fold(Shape(Vec::new()), |all, x| common(&all, &x.shape))?;
    expect(y, all.dims())
}

/// The operand broadcasts to the result.
pub(crate) fn broadcast_to(operands: &[&Type], y: &Type) -> Checked {
    let (x, y) = (&operands[0].shape, &y.shape);
    ensure!(common(x, y)? == *y, "{} does not broadcast to {}", list(x.dims()), list(y.dims()));
    Ok(())
}

/// As [`same`], with a table of so many entries.
pub(crate) fn table(entries: usize, operands: &[&Type], y: &Type) -> Checked {
    let table = operands[1].shape.dims();
    ensure!(table == [entries], "the table has the shape {}, [{entries}] wanted", list(table));
    same(operands, y)
}

/// The result has as many elements.
pub(crate) fn reshape(operands: &[&Type], y: &Type) -> Checked {
    let (have, want) = (y.shape.numel(), operands[0].shape.numel());
    ensure!(have == want, "the result has {have} elements, the operand {want}");
    Ok(())
}

/// The operand's shape without that axis.
pub(crate) fn without(axis: usize, operands: &[&Type], y: &Type) -> Checked {
    let x = &operands[0].shape;
    ensure!(axis < x.rank(), "axis {axis} of a tensor of {} axes", x.rank());
    let mut kept = x.0.clone();
    kept.remove(axis);
    expect(y, &kept)
}

pub(crate) fn dynamic_scale(operands: &[&Type], y: &Type) -> Checked {
    let rows = operands[0].shape.dims().first().ok_or("a scalar has no first axis")?;
    expect(y, &[*rows, 3])
}

pub(crate) fn dynamic_quantize(operands: &[&Type], y: &Type) -> Checked {
    let rows = operands[0].shape.dims().first().copied().unwrap_or(0);
    expect(operands[1], &[rows, 3])?;
    same(operands, y)
}

pub(crate) fn dynamic_conv2d(window: &Window, groups: usize, operands: &[&Type], y: &Type) -> Checked {
    conv2d(window, groups, Layout::default(), &dynamic_layer(operands)?, y)
}

pub(crate) fn dynamic_dense(operands: &[&Type], y: &Type) -> Checked {
    let axes = operands[0].shape.rank();
    ensure!(axes == 2, "the operand has {axes} axes, 2 wanted");
    dense(&dynamic_layer(operands)?, y)
}

pub(crate) fn top_k(operands: &[&Type], y: &Type) -> Checked {
    let (x, k) = (&operands[0].shape, y.shape.last());
    ensure!(x.rank() >= 1, "a scalar has no last axis");
    ensure!(k <= x.last(), "the {k} largest of {}", x.last());
    let mut want = x.0.clone();
    want.pop();
    want.push(k);
    expect(y, &want)
}

pub(crate) fn squared_distances(operands: &[&Type], y: &Type) -> Checked {
    let (x, v) = (&operands[0].shape, &operands[1].shape);
    ensure!(x.rank() == 2 && v.rank() == 2, "{} and {} axes, rows wanted", x.rank(), v.rank());
    ensure!(x.last() == v.last(), "rows of {} and {}", x.last(), v.last());
    expect(y, &[x.dims()[0], v.dims()[0]])
}

pub(crate) fn couple(operands: &[&Type], y: &Type) -> Checked {
    let x = &operands[0].shape;
    let (from, to) = (x.rank(), y.shape.rank());
    ensure!(from == 2 && to == 2, "{from} and {to} axes, rows wanted");
    let classes = y.shape.last();
    let pairs = classes.checked_sub(1).and_then(|others| others.checked_mul(classes)).map(|both| both / 2);
    ensure!(pairs == Some(x.last()), "{} pairs of {classes} classes", x.last());
    expect(y, &[x.dims()[0], classes])
}

pub(crate) fn trees(operands: &[&Type], y: &Type) -> Checked {
    let [x, table, roots] = operands else { return Err("three operands wanted".into()) };
    let (x, table, roots) = (&x.shape, &table.shape, &roots.shape);
    ensure!(x.rank() == 2, "{} axes, rows of features wanted", x.rank());
    ensure!(table.rank() == 2 && table.last() == 2, "records of {:?}, two numbers wanted", table.dims());
    ensure!(roots.rank() == 1, "roots of {} axes", roots.rank());
    ensure!(y.shape.rank() == 2, "a result of {} axes, rows of targets wanted", y.shape.rank());
    expect(y, &[x.dims()[0], y.shape.last()])
}

pub(crate) fn resize(operands: &[&Type], y: &Type) -> Checked {
    let [n, _, _, c] = image(&operands[0].shape, Order::ChannelLast)?;
    let [_, h, w, _] = image(&y.shape, Order::ChannelLast)?;
    expect(y, &[n, h, w, c])
}

/// Operand, weights and bias of a layer whose second operand describes the rows of the first.
fn dynamic_layer<'t>(operands: &[&'t Type]) -> Result<[&'t Type; 3], String> {
    let [x, scales, weights, bias] = operands else { return Err("four operands are wanted".into()) };
    let rows = x.shape.dims().first().copied().unwrap_or(0);
    expect(scales, &[rows, 3])?;
    Ok([x, weights, bias])
}

fn list(dims: &[usize]) -> String {
    format!("{dims:?}")
}

/// The result has that shape.
pub(crate) fn expect(y: &Type, want: &[usize]) -> Checked {
    let have = y.shape.dims();
    ensure!(have == want, "the result has the shape {}, {} follows", list(have), list(want));
    Ok(())
}

/// The dimensions of a tensor that must have `N` of them.
fn axes<const N: usize>(what: &str, shape: &Shape) -> Result<[usize; N], String> {
    let wrong = |_| format!("{what} has the shape {}, {N} axes wanted", list(shape.dims()));
    shape.dims().try_into().map_err(wrong)
}

/// The dimensions \[n, h, w, c\] of an image in that order.
fn image(shape: &Shape, order: Order) -> Result<[usize; 4], String> {
    axes("the image", shape).map(|dims: [usize; 4]| order.image(&dims).unwrap_or(dims))
}

fn window_output(window: &Window, input: [usize; 2]) -> Result<[usize; 2], String> {
    for (what, pair) in [("size", window.size), ("stride", window.stride), ("dilation", window.dilation)] {
        ensure!(!pair.contains(&0), "the window's {what} is {pair:?}");
    }
    window
        .output(input)
        .ok_or_else(|| format!("the window {:?} does not fit the image {input:?}", window.size))
}

pub(crate) fn conv2d(
    window: &Window,
    groups: usize,
    layout: Layout,
    operands: &[&Type],
    y: &Type,
) -> Checked {
    let [n, h, w, c] = image(&operands[0].shape, layout.x)?;
    let [o, k_h, k_w, group_c] = axes("the weights tensor", &operands[1].shape)?;
    ensure!(window.size == [k_h, k_w], "the window is {:?}, the weights {:?}", window.size, [k_h, k_w]);
    ensure!(groups >= 1, "there are no groups");
    ensure!(c % groups == 0 && o % groups == 0, "{groups} groups of {c} input and {o} output channels");
    ensure!(
        c / groups == group_c,
        "{group_c} input channels in the weights, {} in each of {groups} groups",
        c / groups
    );
    bias(operands, o)?;
    let [out_h, out_w] = window_output(window, [h, w])?;
    expect(y, &layout.y.stored([n, out_h, out_w, o]))
}

pub(crate) fn dense(operands: &[&Type], y: &Type) -> Checked {
    let x = &operands[0].shape;
    let [n, k] = axes("the weights tensor", &operands[1].shape)?;
    let Some((last, outer)) = x.dims().split_last() else { return Err("a scalar has no last axis".into()) };
    ensure!(*last == k, "rows of {last} elements, weights for {k}");
    bias(operands, n)?;
    expect(y, &[outer, &[n]].concat())
}

pub(crate) fn lstm(operands: &[&Type], y: &Type) -> Checked {
    let [x, h, c, w, r, bias] = operands else { return Err("six operands wanted".into()) };
    let [b, t, k] = axes("the operand", &x.shape)?;
    let [_, n] = axes("the output before", &h.shape)?;
    // Bytes, or floats.
    let kept = n * (if c.dtype == DType::F32 { 1 } else { 2 });
    for (what, ty, want) in [
        ("output before", h, &[b, n][..]),
        ("cell state", c, &[b, kept]),
        ("weights of inputs", w, &[4 * n, k]),
        ("weights of outputs", r, &[4 * n, n]),
        ("bias", bias, &[4 * n]),
    ] {
        let dims = ty.shape.dims();
        ensure!(dims == want, "the {what} has the shape {}, {} follows", list(dims), list(want));
    }
    match c.dtype {
        DType::F32 => last_outputs([b, t, n], kept, y),
        _ => expect(y, &[b, kept + t * n]),
    }
}

pub(crate) fn gru(linear_before_reset: bool, operands: &[&Type], y: &Type) -> Checked {
    let [x, h, w, r, biases @ ..] = operands else { return Err("six operands wanted".into()) };
    let [b, t, n] = recurrent(3, [x, h, w, r], biases)?;
    last_outputs([b, t, n], if linear_before_reset { 0 } else { n }, y)
}

pub(crate) fn rnn(operands: &[&Type], y: &Type) -> Checked {
    let [x, h, w, r, biases @ ..] = operands else { return Err("five operands wanted".into()) };
    let [b, t, n] = recurrent(1, [x, h, w, r], biases)?;
    last_outputs([b, t, n], 0, y)
}

/// The result has the outputs of all steps behind so many elements, or of some last ones.
fn last_outputs([b, t, n]: [usize; 3], kept: usize, y: &Type) -> Checked {
    let room = y.shape.last().saturating_sub(kept).checked_div(n).unwrap_or(0);
    let outputs = if (2..t).contains(&room) { room } else { t };
    expect(y, &[b, kept + outputs * n])
}

/// Sequences, steps and units of a recurrent layer.
fn recurrent(gates: usize, [x, h, w, r]: [&Type; 4], biases: &[&Type]) -> Result<[usize; 3], String> {
    let [b, t, k] = axes("the operand", &x.shape)?;
    let [_, n] = axes("the output before", &h.shape)?;
    let operands = [
        ("output before", h, vec![b, n]),
        ("weights of inputs", w, vec![gates * n, k]),
        ("weights of outputs", r, vec![gates * n, n]),
    ];
    let biases = biases.iter().map(|bias| ("bias", *bias, vec![gates * n]));
    for (what, ty, want) in operands.into_iter().chain(biases) {
        let dims = ty.shape.dims();
        ensure!(dims == want, "the {what} has the shape {}, {} follows", list(dims), list(&want));
    }
    Ok([b, t, n])
}

/// The optional third operand has one element per output channel.
fn bias(operands: &[&Type], channels: usize) -> Checked {
    let Some(bias) = operands.get(2) else { return Ok(()) };
    let dims = bias.shape.dims();
    ensure!(dims == [channels], "the bias has the shape {}, [{channels}] wanted", list(dims));
    Ok(())
}

pub(crate) fn pool(window: &Window, operands: &[&Type], y: &Type) -> Checked {
    let [n, h, w, c] = image(&operands[0].shape, Order::ChannelLast)?;
    let out = window_output(window, [h, w])?;
    ensure!(window.dilation == [1, 1], "pooling with the dilation {:?}", window.dilation);
    ensure!(window.meets([h, w]), "a window {:?} holds nothing but padding", window.size);
    expect(y, &[n, out[0], out[1], c])
}

pub(crate) fn matmul(operands: &[&Type], y: &Type) -> Checked {
    let (a, b) = (&operands[0].shape, &operands[1].shape);
    let matrix = |shape: &Shape| shape.rank().checked_sub(2);
    let (Some(lead_a), Some(lead_b)) = (matrix(a), matrix(b)) else {
        return Err(format!("{} and {} are not both matrices", list(a.dims()), list(b.dims())));
    };
    let ((front_a, rows_a), (front_b, rows_b)) = (a.dims().split_at(lead_a), b.dims().split_at(lead_b));
    ensure!(rows_a[1] == rows_b[1], "rows of {} and {} elements", rows_a[1], rows_b[1]);
    let mut want = common(&Shape::from(front_a), &Shape::from(front_b))?.0;
    want.extend([rows_a[0], rows_b[0]]);
    expect(y, &want)
}

pub(crate) fn gather(batch: usize, axis: usize, depth: usize, operands: &[&Type], y: &Type) -> Checked {
    let (x, indices) = (&operands[0].shape, &operands[1].shape);
    let end = axis.checked_add(depth).filter(|&end| depth >= 1 && end <= x.rank());
    let Some(end) = end else {
        return Err(format!("{depth} axes from axis {axis} on of {}", list(x.dims())));
    };
    ensure!(batch <= axis && batch < indices.rank(), "{batch} axes in front of axis {axis} are shared");
    let (named, last) = (&indices.dims()[batch..indices.rank() - 1], indices.last());
    ensure!(last == depth, "{last} coordinates along {depth} axes");
    let shared = x.dims()[..batch] == indices.dims()[..batch];
    ensure!(shared, "{} and {} differ in the first {batch} axes", list(x.dims()), list(indices.dims()));
    expect(y, &[&x.dims()[..axis], named, &x.dims()[end..]].concat())
}

/// The common shape of two operands.
fn common(a: &Shape, b: &Shape) -> Result<Shape, String> {
    let (a, b) = (a.dims(), b.dims());
    Shape::common(a, b).map(Shape).ok_or_else(|| format!("{} and {} do not broadcast", list(a), list(b)))
}

/// The operand's shape with these axes removed or of size 1.
pub(crate) fn reduced(axes: &[usize], operands: &[&Type], y: &Type) -> Checked {
    let (x, y) = (&operands[0].shape, &y.shape);
    let ascending = axes.windows(2).all(|pair| pair[0] < pair[1]);
    ensure!(
        ascending && axes.iter().all(|&a| a < x.rank()),
        "axes {axes:?} of a tensor of {} axes",
        x.rank()
    );
    let kept = |axis: &usize| !axes.contains(axis);
    let removed: Vec<usize> = (0..x.rank()).filter(kept).map(|axis| x.dims()[axis]).collect();
    let ones: Vec<usize> = (0..x.rank()).map(|axis| if kept(&axis) { x.dims()[axis] } else { 1 }).collect();
    ensure!(
        y.dims() == removed || y.dims() == ones,
        "the result has the shape {}, {} or {} follows",
        list(y.dims()),
        list(&removed),
        list(&ones)
    );
    Ok(())
}

/// An attribute has one entry per axis.
fn per_axis(what: &str, len: usize, x: &Shape) -> Checked {
    ensure!(len == x.rank(), "{len} entries of `{what}` for a tensor of {} axes", x.rank());
    Ok(())
}

pub(crate) fn pad(before: &[usize], after: &[usize], operands: &[&Type], y: &Type) -> Checked {
    let x = &operands[0].shape;
    per_axis("before", before.len(), x)?;
    per_axis("after", after.len(), x)?;
    let sum = |axis: usize| x.dims()[axis].checked_add(before[axis])?.checked_add(after[axis]);
    let want: Option<Vec<usize>> = (0..x.rank()).map(sum).collect();
    expect(y, &want.ok_or("a padded dimension overflows")?)
}

pub(crate) fn concat(axis: usize, operands: &[&Type], y: &Type) -> Checked {
    let first = &operands[0].shape;
    ensure!(axis < first.rank(), "axis {axis} of a tensor of {} axes", first.rank());
    let mut want = first.0.clone();
    want[axis] = 0;
    for ty in operands {
        let dims = ty.shape.dims();
        let fits = dims.len() == want.len() && (0..dims.len()).all(|a| a == axis || dims[a] == want[a]);
        ensure!(fits, "{} and {} do not join along axis {axis}", list(first.dims()), list(dims));
        want[axis] = want[axis].checked_add(dims[axis]).ok_or("the joined dimension overflows")?;
    }
    expect(y, &want)
}

pub(crate) fn slice(begin: &[usize], step: &[i64], operands: &[&Type], y: &Type) -> Checked {
    let (x, y) = (&operands[0].shape, &y.shape);
    per_axis("begin", begin.len(), x)?;
    per_axis("step", step.len(), x)?;
    per_axis("shape", y.rank(), x)?;
    for axis in 0..x.rank() {
        let (dim, count) = (x.dims()[axis], y.dims()[axis]);
        ensure!(step[axis] != 0, "the step along axis {axis} is 0");
        // Both ends are inside; so is what lies between.
        let last = begin[axis] as i128 + (count as i128 - 1) * i128::from(step[axis]);
        let inside = begin[axis] < dim && (0..dim as i128).contains(&last);
        ensure!(inside, "elements {} to {last} along axis {axis}, which has {dim}", begin[axis]);
    }
    Ok(())
}

pub(crate) fn transpose(perm: &[usize], operands: &[&Type], y: &Type) -> Checked {
    let x = &operands[0].shape;
    per_axis("perm", perm.len(), x)?;
    let permutes = (0..perm.len()).all(|axis| perm.contains(&axis));
    ensure!(permutes, "{perm:?} is no permutation");
    expect(y, &perm.iter().map(|&axis| x.dims()[axis]).collect::<Vec<_>>())
}
