//! Lists of tensors, as recurrent layers use them, and arrays of old graphs: both are lists while the model is read.

use super::call::Call;
use super::slot::{List, Slot};
use super::variables::Kind;
use super::{Cx, Deep, Importer, Lowered, Operators, Refusal, Slots};
use kiln_ir::{DType, ValueId};
use std::rc::Rc;

pub(super) const OPERATORS: Operators = &[
    ("EmptyTensorList", Slots(|cx| made(cx, 0))),
    ("TensorArrayCloseV3", Slots(|_| Ok(Vec::new()))),
    ("TensorArrayConcatV3", Deep(|importer, call| of_array(importer, call, 1, concat))),
    ("TensorArrayGatherV3", Deep(|importer, call| of_array(importer, call, 2, gather))),
    ("TensorArrayReadV3", Deep(|importer, call| of_array(importer, call, 2, get))),
    ("TensorArrayScatterV3", Deep(array_scatter)),
    ("TensorArraySizeV3", Deep(|importer, call| of_array(importer, call, 1, length))),
    ("TensorArrayV3", Deep(array)),
    ("TensorArrayWriteV3", Deep(array_write)),
    ("TensorListConcatLists", Slots(joined)),
    ("TensorListConcatV2", Slots(concat)),
    ("TensorListElementShape", Slots(element_shape)),
    ("TensorListFromTensor", Slots(from_tensor)),
    ("TensorListGather", Slots(gather)),
    ("TensorListGetItem", Slots(get)),
    ("TensorListLength", Slots(length)),
    ("TensorListPopBack", Slots(pop)),
    ("TensorListPushBack", Slots(push)),
    (
        "TensorListReserve",
        Slots(|cx| {
            let count = count(cx.known_int(1, "number of elements")?)?;
            made(cx, count)
        }),
    ),
    ("TensorListResize", Slots(resize)),
    ("TensorListScatterV2", Slots(scatter)),
    ("TensorListSetItem", Slots(set)),
    ("TensorListStack", Slots(stack)),
];

/// Most elements.
const MOST: i64 = 1 << 14;

type Results<'p> = Lowered<Vec<Slot<'p>>>;

fn count(count: i64) -> Lowered<usize> {
    match count {
        0..=MOST => Ok(count as usize),
        _ => Err(Refusal::unsupported(
            format!("a list of {count} elements cannot be compiled"),
            format!("use at most {MOST}"),
        )),
    }
}

fn list(cx: &Cx<'_, '_, '_>, k: usize) -> Lowered<Rc<List>> {
    match cx.slot(k)? {
        Slot::List(list) => Ok(list),
        Slot::Refused => Err(Refusal::Follows),
        _ => Err(malformed!("operand {k} is no list")),
    }
}

fn one<'p>(list: List) -> Results<'p> {
    Ok(vec![Slot::List(Rc::new(list))])
}

/// The shape of elements in operand `k`, if all of it is known.
fn dims_in(cx: &Cx<'_, '_, '_>, k: usize) -> Option<Vec<usize>> {
    let value = cx.x(k).ok()?;
    let dtype = cx.ty(value).dtype;
    if cx.dims(value).len() != 1 || dtype == DType::F32 {
        return None;
    }
    let list = cx.data(value)?.to_ints(dtype);
    list.iter().map(|&dim| usize::try_from(dim).ok()).collect()
}

fn made<'p>(cx: &mut Cx<'_, '_, 'p>, count: usize) -> Results<'p> {
    let dtype = cx.dtype_of("element_dtype")?.ok_or_else(|| malformed!("its elements have no type"))?;
    one(List { dtype, dims: dims_in(cx, 0), items: vec![None; count] })
}

/// Elements of a tensor along its first axis.
fn parts(cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<Vec<ValueId>> {
    let dims = cx.dims(x);
    let Some((&own, rest)) = dims.split_first() else {
        return Err(malformed!("{} has no elements", cx.shown(x)));
    };
    let own = count(own as i64)?;
    cx.written_out(2 * own)?;
    (0..own)
        .map(|k| {
            let part = cx.part(x, 0, k, 1, 1)?;
            cx.reshaped(part, rest)
        })
        .collect()
}

fn from_tensor<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let x = cx.x(0)?;
    let items = parts(cx, x)?.into_iter().map(Some).collect();
    one(List { dtype: cx.ty(x).dtype, dims: Some(cx.dims(x)[1..].to_vec()), items })
}

impl List {
    /// The shape that elements have, if it is known.
    fn shape(&self, cx: &Cx<'_, '_, '_>) -> Option<Vec<usize>> {
        self.dims.clone().or_else(|| self.items.iter().flatten().next().map(|&item| cx.dims(item)))
    }

    /// Element `k`; zeros where it was not written.
    fn item(&self, cx: &mut Cx<'_, '_, '_>, k: usize, dims: Option<&[usize]>) -> Lowered<ValueId> {
        match self.items.get(k) {
            Some(Some(item)) => Ok(*item),
            Some(None) => {
                let own = self.shape(cx);
                let Some(dims) = dims.or(own.as_deref()) else {
                    let what =
                        "it reads an element of a list that was not written, and whose shape is not known";
                    return Err(Refusal::unsupported(what, "export the model with fixed shapes"));
                };
                let zero = cx.zeros(self.dtype, dims)?;
                Ok(zero)
            }
            None => Err(malformed!("the list has no element {k}")),
        }
    }

    fn all(&self, cx: &mut Cx<'_, '_, '_>, dims: Option<&[usize]>) -> Lowered<Vec<ValueId>> {
        (0..self.items.len()).map(|k| self.item(cx, k, dims)).collect()
    }
}

/// Tensors of one shape as one, along a new axis in front.
fn stacked(cx: &mut Cx<'_, '_, '_>, items: &[ValueId]) -> Lowered<ValueId> {
    let mut rows = Vec::new();
    for &item in items {
        let dims = [&[1], &cx.dims(item)[..]].concat();
        rows.push(cx.reshaped(item, &dims)?);
    }
    cx.joined(&rows, 0)
}

fn stack<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let list = list(cx, 0)?;
    let dims = dims_in(cx, 1);
    let items = list.all(cx, dims.as_deref())?;
    if items.is_empty() {
        let dims = [&[0], &dims.or(list.shape(cx)).unwrap_or_default()[..]].concat();
        return Ok(vec![Slot::Tensor(cx.empty(list.dtype, &dims))]);
    }
    Ok(vec![Slot::Tensor(stacked(cx, &items)?)])
}

fn get<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (list, index) = (list(cx, 0)?, cx.x(1)?);
    let dims = dims_in(cx, 2);
    if cx.data(index).is_some() {
        let index = cx.known_int(1, "index")?;
        let k = usize::try_from(index).map_err(|_| malformed!("its index is {index}"))?;
        return Ok(vec![Slot::Tensor(list.item(cx, k, dims.as_deref())?)]);
    }
    let items = list.all(cx, dims.as_deref())?;
    let all = stacked(cx, &items)?;
    let index = cx.reshaped(index, &[])?;
    Ok(vec![Slot::Tensor(cx.call("Gather", &[Some(all), Some(index)], &[])?)])
}

fn set<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (list, item) = (list(cx, 0)?, cx.x(2)?);
    let index = cx.known_int(1, "index")?;
    let k = usize::try_from(index).map_err(|_| malformed!("its index is {index}"))?;
    let mut own = (*list).clone();
    if k >= own.items.len() && cx.flag("resize_if_index_out_of_bounds")? {
        own.items.resize(count(index + 1)?, None);
    }
    cx.importer.budget.charge(8 * own.items.len())?;
    *own.items.get_mut(k).ok_or_else(|| malformed!("the list has no element {k}"))? = Some(item);
    one(own)
}

fn push<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (list, item) = (list(cx, 0)?, cx.x(1)?);
    let mut own = (*list).clone();
    cx.importer.budget.charge(8 * own.items.len())?;
    own.items.push(Some(item));
    count(own.items.len() as i64)?;
    one(own)
}

fn pop<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let list = list(cx, 0)?;
    let last = list.items.len().checked_sub(1).ok_or_else(|| malformed!("the list is empty"))?;
    let dims = dims_in(cx, 1);
    let item = list.item(cx, last, dims.as_deref())?;
    let mut own = (*list).clone();
    own.items.truncate(last);
    Ok(vec![Slot::List(Rc::new(own)), Slot::Tensor(item)])
}

fn length<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let count = list(cx, 0)?.items.len();
    Ok(vec![Slot::Tensor(cx.int_constant("length", DType::I32, &[], &[count as i64])?)])
}

fn resize<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let mut own = (*list(cx, 0)?).clone();
    let count = count(cx.known_int(1, "number of elements")?)?;
    own.items.resize(count, None);
    one(own)
}

fn joined<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let (a, b) = (list(cx, 0)?, list(cx, 1)?);
    count((a.items.len() + b.items.len()) as i64)?;
    let items = a.items.iter().chain(&b.items).copied().collect();
    one(List { items, ..(*a).clone() })
}

fn element_shape<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let dims = list(cx, 0)?.shape(cx).ok_or_else(|| malformed!("the shape of its elements is not known"))?;
    let dims: Vec<i64> = dims.iter().map(|&dim| dim as i64).collect();
    let dtype = cx.dtype_of("shape_type")?.unwrap_or(DType::I32);
    Ok(vec![Slot::Tensor(cx.int_constant("shape", dtype, &[dims.len()], &dims)?)])
}

/// Elements side by side along their first axis, and how long each one is.
fn concat<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let items = list(cx, 0)?.all(cx, None)?;
    let lengths: Vec<i64> =
        items.iter().map(|&item| cx.dims(item).first().map_or(0, |&dim| dim as i64)).collect();
    let all = cx.joined(&items, 0)?;
    let lengths = cx.int_constant("lengths", DType::I64, &[lengths.len()], &lengths)?;
    Ok(vec![Slot::Tensor(all), Slot::Tensor(lengths)])
}

fn gather<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let list = list(cx, 0)?;
    let indices = cx.known_sizes(1, "indices")?;
    cx.importer.budget.charge(8 * indices.len())?;
    let items = indices.iter().map(|&k| list.item(cx, k, None)).collect::<Lowered<Vec<ValueId>>>()?;
    Ok(vec![Slot::Tensor(stacked(cx, &items)?)])
}

/// A list of the elements of a tensor, at these places.
fn scatter<'p>(cx: &mut Cx<'_, '_, 'p>) -> Results<'p> {
    let x = cx.x(0)?;
    let indices = cx.known_sizes(1, "indices")?;
    let asked = cx.known_int(3, "number of elements")?;
    let most = indices.iter().max().map_or(0, |&most| most + 1);
    let mut items = vec![None; count(asked.max(most as i64))?];
    for (&k, part) in indices.iter().zip(parts(cx, x)?) {
        items[k] = Some(part);
    }
    one(List { dtype: cx.ty(x).dtype, dims: Some(cx.dims(x)[1..].to_vec()), items })
}

// ---- Arrays: a list that operators change, one after the other, as a second operand (the flow) orders them.

fn array<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Results<'p> {
    let size = call.slot(0)?.tensor()?;
    let size = importer.integer(size);
    let size = size.ok_or_else(|| {
        Refusal::unsupported("its size is computed at run time", "export the model with fixed shapes")
    })?;
    let dtype =
        super::declared(call.node, "dtype")?.ok_or_else(|| malformed!("its elements have no type"))?;
    let list = List { dtype, dims: None, items: vec![None; count(size)?] };
    let name = format!("array {}", importer.count);
    let number = importer.resource(name, Kind::Array(Rc::new(list)))?;
    Ok(vec![Slot::Resource(number), Slot::Opaque])
}

fn number(call: &Call<'_>) -> Lowered<usize> {
    match call.slot(0)? {
        Slot::Resource(number) => Ok(*number),
        Slot::Refused => Err(Refusal::Follows),
        _ => Err(malformed!("operand 0 is no array")),
    }
}

fn array_of<'p>(importer: &Importer<'_, 'p>, call: &Call<'p>) -> Lowered<Rc<List>> {
    match importer.resources.get(number(call)?).map(|resource| &resource.kind) {
        Some(Kind::Array(list)) => Ok(list.clone()),
        _ => Err(malformed!("operand 0 is no array")),
    }
}

/// An operator of lists, of which so many operands are those of an operator of arrays.
fn of_array<'p>(
    importer: &mut Importer<'_, 'p>,
    call: &Call<'p>,
    operands: usize,
    lower: fn(&mut Cx<'_, '_, 'p>) -> Results<'p>,
) -> Results<'p> {
    let list = array_of(importer, call)?;
    let mut own = vec![Slot::List(list)];
    own.extend(call.operands.get(1..operands).unwrap_or_default().iter().cloned());
    let means = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    lower(&mut Cx { means, node: call.node, operands: own })
}

fn set_array<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>, list: List) -> Results<'p> {
    let number = number(call)?;
    if let Some(resource) = importer.resources.get_mut(number) {
        resource.kind = Kind::Array(Rc::new(list));
    }
    Ok(vec![Slot::Opaque])
}

fn array_write<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Results<'p> {
    let mut list = (*array_of(importer, call)?).clone();
    let (index, item) = (call.slot(1)?.tensor()?, call.slot(2)?.tensor()?);
    let index = importer.integer(index);
    let index = index.ok_or_else(|| {
        Refusal::unsupported("its index is computed at run time", "write elements in order")
    })?;
    importer.means.budget.charge(8 * list.items.len())?;
    let k = count(index)?;
    if k >= list.items.len() {
        list.items.resize(k + 1, None);
    }
    list.items[k] = Some(item);
    set_array(importer, call, list)
}

fn array_scatter<'p>(importer: &mut Importer<'_, 'p>, call: &Call<'p>) -> Results<'p> {
    let mut list = (*array_of(importer, call)?).clone();
    let means = importer.means.hosted_cx(importer.host, call.name(), call.origin());
    let mut cx = Cx { means, node: call.node, operands: call.operands.clone() };
    let (indices, x) = (cx.known_sizes(1, "indices")?, cx.x(2)?);
    for (k, part) in indices.into_iter().zip(parts(&mut cx, x)?) {
        count(k as i64)?;
        if k >= list.items.len() {
            list.items.resize(k + 1, None);
        }
        list.items[k] = Some(part);
    }
    set_array(importer, call, list)
}
