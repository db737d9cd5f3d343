//! Einsum: operands are brought to common axes, two at a time become a product of matrices.

use super::cx::NodeCx;
use super::{Lowered, One, Operators};
use kiln_ir::{Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[("Einsum", One(einsum))];

/// A value, and a letter for each of its axes.
#[derive(Clone)]
struct Term {
    value: ValueId,
    axes: Vec<u8>,
}

/// Einsum.
fn einsum(cx: &mut NodeCx<'_, '_, '_>) -> Lowered<ValueId> {
    let equation: Vec<u8> =
        cx.text("equation").iter().copied().filter(|c| !c.is_ascii_whitespace()).collect();
    let text = String::from_utf8_lossy(&equation).into_owned();
    let wrong = || malformed!("its equation is {text:?}");
    let operands = cx.inputs()?;
    let (left, right) = match text.split_once("->") {
        Some((left, right)) => (left, Some(right)),
        None => (&*text, None),
    };
    let names: Vec<&str> = left.split(',').collect();
    if names.len() != operands.len() {
        return Err(wrong());
    }
    let mut terms = Vec::new();
    let mut most = 0;
    for (&value, name) in operands.iter().zip(&names) {
        cx.want_float(value)?;
        let rank = cx.dims(value).len();
        let (axes, dots) = letters(name, rank).ok_or_else(wrong)?;
        most = most.max(dots);
        terms.push(diagonal(cx, value, axes)?);
    }
    // Without a right side: the dots, then the letters that stand once, in alphabetical order.
    let result = match right {
        Some(right) => {
            let letters_only = right.bytes().filter(u8::is_ascii_alphabetic).count();
            let dots = if right.contains("...") { most } else { 0 };
            letters(right, letters_only + dots).ok_or_else(wrong)?.0
        }
        None => {
            let all: Vec<u8> = left.bytes().filter(u8::is_ascii_alphabetic).collect();
            let once = |c: &u8| all.iter().filter(|other| *other == c).count() == 1;
            let mut once: Vec<u8> = all.iter().copied().filter(once).collect();
            once.sort_unstable();
            (0..most).rev().map(|k| k as u8).chain(once).collect()
        }
    };
    let mut all: Vec<u8> = terms.iter().flat_map(|term| term.axes.iter().copied()).collect();
    all.sort_unstable();
    all.dedup();
    let repeats = (1..result.len()).any(|k| result[..k].contains(&result[k]));
    if repeats || result.iter().any(|axis| !all.contains(axis)) {
        return Err(wrong());
    }
    let mut terms = terms.into_iter();
    let Some(mut product) = terms.next() else { return Err(wrong()) };
    let mut rest: Vec<Term> = terms.collect();
    while !rest.is_empty() {
        let next = rest.remove(0);
        let wanted = |axis: u8| result.contains(&axis) || rest.iter().any(|term| term.axes.contains(&axis));
        product = joined(cx, product, next, wanted)?;
    }
    let product = summed(cx, product, |axis| result.contains(&axis))?;
    ordered(cx, &product, &result)
}

/// The letters of a term of so many axes; dots are numbered from the last one, which is 0. And how many dots there are.
fn letters(name: &str, rank: usize) -> Option<(Vec<u8>, usize)> {
    let (front, back) = name.split_once("...").unwrap_or((name, ""));
    let dots = rank.checked_sub(front.len() + back.len())?;
    if (dots > 0 && !name.contains("...")) || dots > 6 {
        return None;
    }
    let dotted = (0..dots).rev().map(|k| k as u8);
    let axes: Vec<u8> = front.bytes().chain(dotted).chain(back.bytes()).collect();
    axes.iter().all(|c| c.is_ascii_alphabetic() || *c < 8).then_some((axes, dots))
}

/// A term in which no letter stands twice: of such axes only the diagonal counts.
fn diagonal(cx: &mut NodeCx<'_, '_, '_>, mut value: ValueId, mut axes: Vec<u8>) -> Lowered<Term> {
    while let Some((a, b)) =
        (1..axes.len()).find_map(|b| Some((axes[..b].iter().position(|c| *c == axes[b])?, b)))
    {
        let dims = cx.dims(value);
        let size = dims[a];
        malformed_if!(dims[b] != size, "{} has no diagonal", cx.shown(value));
        // With both axes in front, as one axis, of which elements are taken at equal distances.
        let others = (0..dims.len()).filter(|axis| ![a, b].contains(axis));
        let perm: Vec<usize> = [a, b].into_iter().chain(others).collect();
        let turned = cx.transposed(value, &perm)?;
        let kept: Vec<usize> = perm[2..].iter().map(|&axis| dims[axis]).collect();
        let flat = cx.reshaped(turned, &[&[size * size], &kept[..]].concat())?;
        value = cx.part(flat, 0, 0, size, size as i64 + 1)?;
        axes = perm.iter().filter(|&&axis| axis != b).map(|&axis| axes[axis]).collect();
    }
    Ok(Term { value, axes })
}

/// Sums over the axes that are not wanted.
fn summed(cx: &mut NodeCx<'_, '_, '_>, term: Term, wanted: impl Fn(u8) -> bool) -> Lowered<Term> {
    let gone: Vec<usize> = (0..term.axes.len()).filter(|&at| !wanted(term.axes[at])).collect();
    if gone.is_empty() {
        return Ok(term);
    }
    let value = cx.reduced(Reduction::Sum, term.value, &gone)?;
    let dims = cx.dims(value);
    let kept: Vec<usize> = (0..dims.len()).filter(|at| !gone.contains(at)).collect();
    let value = cx.reshaped(value, &kept.iter().map(|&at| dims[at]).collect::<Vec<_>>())?;
    Ok(Term { value, axes: kept.iter().map(|&at| term.axes[at]).collect() })
}

/// The value with its axes in that order; those that it has not have a size of 1.
fn ordered(cx: &mut NodeCx<'_, '_, '_>, term: &Term, axes: &[u8]) -> Lowered<ValueId> {
    let perm: Vec<usize> =
        axes.iter().filter_map(|axis| term.axes.iter().position(|own| own == axis)).collect();
    let turned = cx.transposed(term.value, &perm)?;
    let own = cx.dims(turned);
    let mut own = own.iter();
    let dims: Vec<usize> = axes
        .iter()
        .map(|axis| if term.axes.contains(axis) { *own.next().unwrap_or(&1) } else { 1 })
        .collect();
    cx.reshaped(turned, &dims)
}

/// The product of two terms, summed over what is not wanted behind it.
fn joined(cx: &mut NodeCx<'_, '_, '_>, x: Term, y: Term, wanted: impl Fn(u8) -> bool) -> Lowered<Term> {
    // What stands in one term alone and is not wanted is summed there.
    let x_axes = x.axes.clone();
    let y_axes = y.axes.clone();
    let x = summed(cx, x, |axis| wanted(axis) || y_axes.contains(&axis))?;
    let y = summed(cx, y, |axis| wanted(axis) || x_axes.contains(&axis))?;
    let both = |axis: &&u8| x.axes.contains(axis) && y.axes.contains(axis);
    let of =
        |list: &[u8], keep: &dyn Fn(&&u8) -> bool| -> Vec<u8> { list.iter().filter(keep).copied().collect() };
    let batch = of(&x.axes, &|axis| both(axis) && wanted(**axis));
    let inner = of(&x.axes, &|axis| both(axis) && !wanted(**axis));
    let rows = of(&x.axes, &|axis| !both(axis));
    let columns = of(&y.axes, &|axis| !both(axis));
    let a = ordered(cx, &x, &[&batch[..], &rows, &inner].concat())?;
    let b = ordered(cx, &y, &[&batch[..], &columns, &inner].concat())?;
    let (dims_a, dims_b) = (cx.dims(a), cx.dims(b));
    let (front_a, front_b) = (&dims_a[..batch.len()], &dims_b[..batch.len()]);
    let front = kiln_ir::Shape::common(front_a, front_b);
    let size = |list: &[usize]| list.iter().product::<usize>();
    let (depth_a, depth_b) = (&dims_a[batch.len() + rows.len()..], &dims_b[batch.len() + columns.len()..]);
    let Some(front) = front.filter(|_| depth_a == depth_b) else {
        let (x, y) = (cx.shown(x.value), cx.shown(y.value));
        return Err(malformed!("{x} and {y} do not fit its equation"));
    };
    let own_a = &dims_a[batch.len()..batch.len() + rows.len()];
    let own_b = &dims_b[batch.len()..batch.len() + columns.len()];
    let a = cx.reshaped(a, &[front_a, &[size(own_a), size(depth_a)]].concat())?;
    let b = cx.reshaped(b, &[front_b, &[size(own_b), size(depth_b)]].concat())?;
    let product = cx.matrix_product(a, b)?;
    let value = cx.reshaped(product, &[&front[..], own_a, own_b].concat())?;
    Ok(Term { value, axes: [batch, rows, columns].concat() })
}
