//! Products of matrices.

use super::super::module::Element;
use super::attributes;
use super::complex;
use super::cx::Cx;
use super::shape;
use super::slot::{self, Slot, Tensor};
use super::{bits, convert, elementwise, reduce, All, Lowered, Operators, Refusal};
use kiln_ir::{DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[("dot", All(dot)), ("dot_general", All(dot_general))];

/// So many products of bytes have a sum of at most 2²⁴, which is exact in a float.
pub(super) fn most_exact(x: &Tensor, y: &Tensor) -> usize {
    match slot::is_unsigned(&x.element) || slot::is_unsigned(&y.element) {
        true => 1 << 8,
        false => 1 << 10,
    }
}

/// Most products that are written out.
const MOST_PRODUCTS: usize = 1 << 22;

/// Axes of both operands: those that go together, and those that are summed over.
struct Numbers {
    batch: [Vec<usize>; 2],
    summed: [Vec<usize>; 2],
}

fn dot(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let rank = |k: usize| -> Lowered<usize> {
        Ok(match cx.slot(k)? {
            Slot::Complex(re, _) => re.dims.len(),
            other => other.tensor()?.dims.len(),
        })
    };
    let last = rank(0)?.checked_sub(1).ok_or_else(|| malformed!("its first operand has no axes"))?;
    let numbers = Numbers { batch: [Vec::new(), Vec::new()], summed: [vec![last], vec![0]] };
    any(cx, &numbers)
}

fn dot_general(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let parts = attributes::parts(&cx.operation.attributes, "dot_dimension_numbers")?;
    let list = |name: &str| attributes::sizes(parts, name);
    let numbers = Numbers {
        batch: [list("lhs_batching_dimensions")?, list("rhs_batching_dimensions")?],
        summed: [list("lhs_contracting_dimensions")?, list("rhs_contracting_dimensions")?],
    };
    any(cx, &numbers)
}

fn any(cx: &mut Cx<'_, '_, '_>, numbers: &Numbers) -> Lowered<Vec<Slot>> {
    let out = cx.result_dims(0)?;
    if let [Slot::Complex(a, b), Slot::Complex(c, d)] = &cx.operands[..] {
        let (a, b, c, d) = (a.clone(), b.clone(), c.clone(), d.clone());
        let part = a.element.clone();
        let mut of = |x: &Tensor, y: &Tensor| product(cx, numbers, x, y, &out, &part);
        let (ac, bd, ad, bc) = (of(&a, &c)?, of(&b, &d)?, of(&a, &d)?, of(&b, &c)?);
        let re = elementwise::arithmetic(cx, '-', &ac, &bd)?;
        let im = elementwise::arithmetic(cx, '+', &ad, &bc)?;
        return complex::result(re, im);
    }
    let (x, y, element) = (cx.tensor(0)?, cx.tensor(1)?, cx.element(0)?);
    Ok(vec![Slot::Tensor(product(cx, numbers, &x, &y, &out, &element)?)])
}

/// An operand as \[batch, rows, summed\], and the sizes of its rows.
fn matrix(
    cx: &mut Cx<'_, '_, '_>,
    x: &Tensor,
    batch: &[usize],
    summed: &[usize],
) -> Lowered<(Tensor, [usize; 3], Vec<usize>)> {
    let rank = x.dims.len();
    malformed_if!(
        batch.iter().chain(summed).any(|&axis| axis >= rank),
        "it has no axes {batch:?}, {summed:?}"
    );
    let free: Vec<usize> = (0..rank).filter(|axis| !batch.contains(axis) && !summed.contains(axis)).collect();
    let perm: Vec<usize> = batch.iter().chain(&free).chain(summed).copied().collect();
    let turned = shape::transposed(cx, x, &perm)?;
    let size = |axes: &[usize]| axes.iter().map(|&axis| x.dims[axis]).product::<usize>();
    let sizes = [size(batch), size(&free), size(summed)];
    Ok((turned, sizes, free.iter().map(|&axis| x.dims[axis]).collect()))
}

fn product(
    cx: &mut Cx<'_, '_, '_>,
    numbers: &Numbers,
    x: &Tensor,
    y: &Tensor,
    out: &[usize],
    element: &Element,
) -> Lowered<Tensor> {
    let (a, [batch, m, k], _) = matrix(cx, x, &numbers.batch[0], &numbers.summed[0])?;
    let (b, [other, n, depth], _) = matrix(cx, y, &numbers.batch[1], &numbers.summed[1])?;
    let all = batch.checked_mul(m).and_then(|all| all.checked_mul(n));
    let fits = batch == other && k == depth && all == Some(out.iter().product());
    malformed_if!(!fits, "{:?} and {:?} cannot be multiplied to {out:?}", x.dims, y.dims);
    let dtype = slot::dtype(element)?;
    if out.contains(&0) {
        let value = cx.means().empty(dtype, out);
        return Ok(Tensor::of(value, out, element));
    }
    if k == 0 {
        let zero = Tensor::of(
            cx.means().int_constant("zero", DType::I32, &vec![1; out.len()], &[0])?,
            out,
            &Element::Signed(32),
        );
        return convert::converted(cx, &zero, element);
    }
    let is_float = slot::is_float(&x.element) && slot::is_float(&y.element);
    let is_small = [x, y].iter().all(|x| matches!(x.element.bytes(), Some(1)));
    if !is_float && !is_small {
        return written_out(cx, &a, &b, [batch, m, n, k], out, element);
    }
    let (single, most) = (Element::Float(32), most_exact(x, y));
    let (a, b) = match is_float {
        true => (a, b),
        false => (convert::converted(cx, &a, &single)?, convert::converted(cx, &b, &single)?),
    };
    let (a, b) = (cx.spread(&a)?, cx.spread(&b)?);
    let value = match is_float || k <= most {
        true => matrices(cx, a, b, [batch, m, n, k])?,
        false => {
            // Sums of a part are exact, and are added as integers.
            let (a, b) = (cx.reshaped(a, &[batch, m, k])?, cx.reshaped(b, &[batch, n, k])?);
            let mut sum = None;
            for from in (0..k).step_by(most) {
                let count = most.min(k - from);
                let (a, b) = (cx.means().part(a, 2, from, count, 1)?, cx.means().part(b, 2, from, count, 1)?);
                let part = matrices(cx, a, b, [batch, m, n, count])?;
                let part = cx.means().cast(part, DType::I32)?;
                sum = Some(match sum {
                    None => part,
                    Some(sum) => cx.means().sum(sum, part)?,
                });
            }
            sum.ok_or_else(|| malformed!("it has no products"))?
        }
    };
    let value = match (is_float, dtype) {
        (true, DType::F32) => value,
        // Integers wrap.
        _ => {
            let wide = cx.means().cast(value, DType::I32)?;
            cx.means().cast(wide, dtype)?
        }
    };
    let value = cx.reshaped(value, out)?;
    bits::narrowed(cx, Tensor::of(value, out, element))
}

/// Products of floats.
fn matrices(
    cx: &mut Cx<'_, '_, '_>,
    a: ValueId,
    b: ValueId,
    [batch, m, n, k]: [usize; 4],
) -> Lowered<ValueId> {
    if batch == 1 && cx.data(b).is_some() {
        let (a, b) = (cx.reshaped(a, &[m, k])?, cx.reshaped(b, &[n, k])?);
        return cx.means().layer(a, b);
    }
    if batch == 1 && cx.data(a).is_some() {
        let (a, b) = (cx.reshaped(a, &[m, k])?, cx.reshaped(b, &[n, k])?);
        let y = cx.means().layer(b, a)?;
        return cx.means().transposed(y, &[1, 0]);
    }
    let front: &[usize] = if batch == 1 { &[] } else { &[batch] };
    let (a, b) = (cx.reshaped(a, &[front, &[m, k]].concat())?, cx.reshaped(b, &[front, &[n, k]].concat())?);
    cx.means().matrix_product(a, b)
}

/// Products of wide integers, each for itself.
fn written_out(
    cx: &mut Cx<'_, '_, '_>,
    a: &Tensor,
    b: &Tensor,
    [batch, m, n, k]: [usize; 4],
    out: &[usize],
    element: &Element,
) -> Lowered<Tensor> {
    let count = [batch, m, n, k].into_iter().try_fold(1usize, usize::checked_mul);
    if count.is_none_or(|count| count > MOST_PRODUCTS) {
        let what = format!("a product of matrices of {:?} is too large", a.element);
        return Err(Refusal::unsupported(what, "convert its operands to float32 or int8"));
    }
    let (a, b) = (convert::converted(cx, a, element)?, convert::converted(cx, b, element)?);
    let (a, b) = (shape::reshaped(cx, &a, &[batch, m, 1, k])?, shape::reshaped(cx, &b, &[batch, 1, n, k])?);
    let products = elementwise::arithmetic(cx, '*', &a, &b)?;
    let function = if *element == Element::Bool { Reduction::Max } else { Reduction::Sum };
    let sums = reduce::reduced(cx, &products, function, &[3])?;
    shape::reshaped(cx, &sums, out)
}
