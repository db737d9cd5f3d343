//! Constants, and what follows from sizes.

use super::call::Call;
use super::slot::Slot;
use super::{Cx, Deep, Importer, Lowered, One, Operators, Refusal, Slots};
use crate::tensorflow::tensor::{Stored, TEXT};
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("Const", Deep(constant)),
    ("Empty", One(|cx| filled_with(cx, 0.0))),
    ("Fill", One(fill)),
    ("HostConst", Deep(constant)),
    ("LinSpace", One(linear)),
    ("OnesLike", One(|cx| like(cx, 1.0))),
    ("Placeholder", Slots(placeholder)),
    ("PlaceholderV2", Slots(placeholder)),
    ("Range", One(range)),
    ("ZerosLike", Slots(zeros_like)),
];

fn constant<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let bytes = call.node.attributes.tensor("value")?.ok_or_else(|| malformed!("it has no value"))?;
    // A function that is called again has the same constants.
    let key = bytes.as_ptr() as usize;
    if let Some(&value) = importer.constants.get(&key) {
        return Ok(vec![Slot::Tensor(value)]);
    }
    let tensor = Stored::parse(bytes, &mut importer.means.budget)?;
    if tensor.dtype == TEXT {
        return Ok(vec![Slot::Texts(tensor.texts.into())]);
    }
    let (ty, data) = tensor.data(&mut importer.means.budget)?;
    let value = importer.means.graph.add_const(call.name(), ty, data);
    importer.constants.insert(key, value);
    Ok(vec![Slot::Tensor(value)])
}

/// A placeholder that is no input: a text that only saves or restores, or something that is missing.
fn placeholder<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    match cx.node.attributes.dtype("dtype")? {
        Some(TEXT) => Ok(vec![Slot::Opaque]),
        _ => Err(Refusal::unsupported("it is no input of the signature", "give the model all of its inputs")),
    }
}

fn fill(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (dims, number) = (cx.known_sizes(0, "shape")?, cx.x(1)?);
    let number = cx.reshaped(number, &vec![1; dims.len()])?;
    cx.spread(number, &dims)
}

fn filled_with(cx: &mut Cx<'_, '_, '_>, number: f64) -> Lowered<ValueId> {
    let dims = cx.known_sizes(0, "shape")?;
    let dtype = cx.dtype_of("dtype")?.unwrap_or(DType::F32);
    let zero = cx.zeros(dtype, &vec![1; dims.len()])?;
    let number = cx.plus(zero, number)?;
    cx.spread(number, &dims)
}

fn like(cx: &mut Cx<'_, '_, '_>, number: f64) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let ones = vec![1; dims.len()];
    let one = match dtype {
        DType::F32 => cx.float_constant("number", &ones, &[number as f32])?,
        _ => cx.int_constant("number", dtype, &ones, &[number as i64])?,
    };
    cx.spread(one, &dims)
}

fn zeros_like<'p>(cx: &mut Cx<'_, '_, 'p>) -> Lowered<Vec<Slot<'p>>> {
    if let Slot::Complex(re, _) = cx.slot(0)? {
        let dims = cx.dims(re);
        let zeros = cx.zeros(DType::F32, &dims)?;
        return Ok(vec![Slot::Complex(zeros, zeros)]);
    }
    Ok(vec![Slot::Tensor(like(cx, 0.0)?)])
}

/// Most numbers of a list that is made.
const MOST: f64 = 65536.0;

fn too_many(count: f64) -> Refusal {
    Refusal::unsupported(format!("a list of {count} numbers cannot be compiled"), "use fewer numbers")
}

fn range(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let [first, limit, step] =
        [(0, "start"), (1, "limit"), (2, "step")].map(|(k, what)| cx.known_number(k, what));
    let (first, limit, step) = (first?, limit?, step?);
    malformed_if!(step == 0.0 || !step.is_finite(), "its step is {step}");
    let count = ((limit - first) / step).ceil().max(0.0);
    if count > MOST || count.is_nan() {
        return Err(too_many(count));
    }
    let numbers: Vec<f64> = (0..count as usize).map(|k| first + k as f64 * step).collect();
    let dtype = cx.ty(cx.x(0)?).dtype;
    listed(cx, dtype, &numbers)
}

fn listed(cx: &mut Cx<'_, '_, '_>, dtype: DType, numbers: &[f64]) -> Lowered<ValueId> {
    cx.importer.budget.make(8 * numbers.len());
    match dtype {
        DType::F32 => {
            let list: Vec<f32> = numbers.iter().map(|&number| number as f32).collect();
            cx.float_constant("range", &[list.len()], &list)
        }
        dtype => {
            let list: Vec<i64> = numbers.iter().map(|&number| number as i64).collect();
            cx.int_constant("range", dtype, &[list.len()], &list)
        }
    }
}

fn linear(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (first, last) = (cx.known_number(0, "start")?, cx.known_number(1, "stop")?);
    let count = cx.known_int(2, "number of elements")?;
    if !(1..=MOST as i64).contains(&count) {
        return Err(too_many(count as f64));
    }
    let step = (last - first) / (count - 1).max(1) as f64;
    let numbers: Vec<f64> = (0..count).map(|k| first + k as f64 * step).collect();
    listed(cx, DType::F32, &numbers)
}
