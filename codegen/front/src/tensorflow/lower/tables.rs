//! Tables of numbers by numbers, whose contents do not change: the place of a key is found by comparing it with all.

use super::call::Call;
use super::slot::Slot;
use super::variables::{variable_name, Kind};
use super::{Deep, Importer, Lowered, Operators, Refusal, Slots};
use kiln_ir::{Comparison, DType, Reduction, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("HashTableV2", Deep(table)),
    ("InitializeTableV2", Deep(import)),
    ("LookupTableFindV2", Deep(find)),
    ("LookupTableImportV2", Deep(import)),
    ("LookupTableSizeV2", Deep(size)),
    ("StaticRegexFullMatch", Slots(|_| Ok(vec![Slot::Opaque]))),
    ("StringJoin", Slots(|_| Ok(vec![Slot::Opaque]))),
];

fn table<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let number = importer.resource(variable_name(call.node), Kind::Table(None))?;
    Ok(vec![Slot::Resource(number)])
}

fn import<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let Slot::Resource(number) = *call.slot(0)? else { return Err(malformed!("operand 0 is no table")) };
    let contents = (call.slot(1)?.tensor()?, call.slot(2)?.tensor()?);
    match importer.resources.get_mut(number).map(|resource| &mut resource.kind) {
        Some(Kind::Table(own)) => *own = Some(contents),
        _ => return Err(malformed!("operand 0 is no table")),
    }
    Ok(Vec::new())
}

fn contents(importer: &Importer<'_, '_>, call: &Call<'_>) -> Lowered<(ValueId, ValueId)> {
    let Slot::Resource(number) = *call.slot(0)? else { return Err(malformed!("operand 0 is no table")) };
    match importer.resources.get(number).map(|resource| &resource.kind) {
        Some(Kind::Table(Some(contents))) => Ok(*contents),
        _ => {
            let what = "the contents of its table are not constant numbers";
            Err(Refusal::unsupported(
                what,
                "look up texts in your own code, and give the model their numbers",
            ))
        }
    }
}

fn size<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let (keys, _) = contents(importer, call)?;
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let count = cx.ty(keys).shape.numel() as i64;
    Ok(vec![Slot::Tensor(cx.int_constant("size", DType::I64, &[], &[count])?)])
}

fn find<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Vec<Slot<'p>>> {
    let (x, other) = (call.slot(1)?.tensor()?, call.slot(2)?.tensor()?);
    let (keys, values) = contents(importer, call)?;
    let mut cx = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let (dims, count) = (cx.dims(x), cx.ty(keys).shape.numel());
    malformed_if!(
        cx.dims(keys).len() != 1 || cx.dims(values) != [count] || cx.ty(other).shape.numel() != 1,
        "keys {} and values {} do not fit",
        cx.shown(keys),
        cx.shown(values)
    );
    if count == 0 {
        let other = cx.reshaped(other, &vec![1; dims.len()])?;
        return Ok(vec![Slot::Tensor(cx.repeated(other, &dims)?)]);
    }
    let apart = [&dims[..], &[1]].concat();
    let own = cx.reshaped(x, &apart)?;
    let is_it = cx.compared(Comparison::Equal, own, keys)?;
    let is_it = cx.cast(is_it, DType::I32)?;
    let axis = dims.len();
    let place = cx.index_of_largest(is_it, axis)?;
    let place = cx.reshaped(place, &dims)?;
    let known = cx.reduced(Reduction::Max, is_it, &[axis])?;
    let known = cx.reshaped(known, &dims)?;
    let known = cx.cast(known, DType::Bool)?;
    let found = cx.call("Gather", &[Some(values), Some(place)], &[])?;
    let other = cx.reshaped(other, &[])?;
    Ok(vec![Slot::Tensor(cx.choice(known, found, other)?)])
}
