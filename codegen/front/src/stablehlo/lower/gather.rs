//! gather: slices of a tensor at computed places.

use super::attributes;
use super::cx::Cx;
use super::shape;
use super::slot::{Slot, Tensor};
use super::{bits, complex, All, Lowered, Operators};
use crate::onnx::lower::check_size;
use kiln_ir::{Binary, DType, Op, ValueId};

pub(super) const OPERATORS: Operators =
    &[("dynamic_gather", All(gather)), ("gather", All(gather)), ("torch_index_select", All(index_select))];

/// A start of slices, not less than 0 and not more than `most`.
pub(super) fn clamped(cx: &mut Cx<'_, '_, '_>, start: ValueId, most: usize) -> Lowered<ValueId> {
    let mut means = cx.means();
    let (zero, most) = (means.number(start, 0.0)?, means.number(start, most as f64)?);
    let start = means.binary(Binary::Max, start, zero)?;
    means.binary(Binary::Min, start, most)
}

/// The places of a slice of so many elements from a start on, as one axis.
pub(super) fn window_places(cx: &mut Cx<'_, '_, '_>, start: ValueId, size: usize) -> Lowered<ValueId> {
    let start = cx.reshaped(start, &[1])?;
    let mut means = cx.means();
    let dtype = means.ty(start).dtype;
    let counted = means.counted(dtype, size)?;
    means.sum(start, counted)
}

/// The places that indices name: their coordinates, for axes of the operand that are not taken whole.
pub(super) struct Places {
    /// Axes of the operand that are indexed.
    pub(super) axes: Vec<usize>,
    /// Axes of the operand with more than one element in a slice, among them, and how many.
    pub(super) windows: Vec<(usize, usize)>,
    /// The first sizes of the indices: those of slices.
    pub(super) batch: Vec<usize>,
    /// A coordinate for each of the axes: integers, as the slices and the windows.
    pub(super) coordinates: Vec<ValueId>,
    /// The indices themselves, where coordinates are nothing but their last axis.
    pub(super) whole: Option<ValueId>,
}

/// How indices are to be understood.
pub(super) struct Numbers {
    /// Which axis of the operand each index is for.
    pub(super) map: Vec<usize>,
    /// The axis of the indices that has them side by side.
    pub(super) vector: usize,
    /// Axes of operand and indices that go together.
    pub(super) operand_batch: Vec<usize>,
    pub(super) indices_batch: Vec<usize>,
}

impl Numbers {
    /// What the attribute says, by the names that it has for gather or scatter.
    pub(super) fn read(cx: &Cx<'_, '_, '_>, attribute: &str, names: [&str; 3]) -> Lowered<Numbers> {
        let parts = attributes::parts(&cx.operation.attributes, attribute)?;
        Ok(Numbers {
            map: attributes::sizes(parts, names[0])?,
            vector: attributes::size(parts, "index_vector_dim")?.unwrap_or(0),
            operand_batch: attributes::sizes(parts, names[1])?,
            indices_batch: attributes::sizes(parts, names[2])?,
        })
    }

    /// The places of slices of these sizes. Starts are kept inside the operand if `inside`. All axes that are indexed count where `all`.
    pub(super) fn places(
        &self,
        cx: &mut Cx<'_, '_, '_>,
        indices: &Tensor,
        dims: &[usize],
        sizes: &[usize],
        is_gather: bool,
    ) -> Lowered<Places> {
        let value = cx.spread(indices)?;
        let as_i64 = Tensor { value, ..indices.clone() };
        let mut value = match cx.ty(value).dtype {
            DType::I32 if !super::slot::is_unsigned(&indices.element) => value,
            _ => bits::as_i64(cx, &as_i64)?,
        };
        let rank = indices.dims.len();
        malformed_if!(self.vector > rank, "its index_vector_dim is {} of {:?}", self.vector, indices.dims);
        let mut named = indices.dims.clone();
        if self.vector == rank {
            named.push(1);
            value = cx.reshaped(value, &named)?;
        } else if self.vector + 1 < rank {
            let perm: Vec<usize> = (0..rank).filter(|&k| k != self.vector).chain([self.vector]).collect();
            named = perm.iter().map(|&axis| named[axis]).collect();
            value = cx.means().transposed(value, &perm)?;
        }
        let depth = named.pop().unwrap_or(0);
        let batch = named;
        let fits = depth == self.map.len()
            && self.map.iter().chain(&self.operand_batch).all(|&axis| axis < dims.len())
            && self.operand_batch.len() == self.indices_batch.len();
        malformed_if!(!fits, "indices {:?} do not fit {dims:?}", indices.dims);
        let is_placed = |&axis: &usize| {
            let is_indexed = self.map.contains(&axis) || self.operand_batch.contains(&axis);
            match is_gather {
                true => is_indexed && sizes[axis] < dims[axis],
                false => is_indexed || sizes[axis] < dims[axis],
            }
        };
        let axes: Vec<usize> = (0..dims.len()).filter(is_placed).collect();
        let windows: Vec<(usize, usize)> =
            axes.iter().map(|&axis| (axis, sizes[axis])).filter(|&(_, size)| size > 1).collect();
        let is_whole = axes == self.map && windows.is_empty() && !axes.is_empty();
        let mut coordinates = Vec::new();
        let dtype = cx.ty(value).dtype;
        let around = vec![1; windows.len()];
        for &axis in &axes {
            let column = self.map.iter().position(|&of| of == axis);
            let of_batch = self.operand_batch.iter().position(|&of| of == axis);
            let mut own = match (column, of_batch) {
                (Some(column), _) => {
                    let part = cx.means().part(value, batch.len(), column, 1, 1)?;
                    let part = cx.means().reshaped(part, &[&batch[..], &around].concat())?;
                    let most = dims[axis] - sizes[axis].min(dims[axis]);
                    if is_gather && sizes[axis] > 1 {
                        clamped(cx, part, most)?
                    } else {
                        part
                    }
                }
                (None, Some(k)) => {
                    // Their place among the indices, without the axis of index vectors.
                    let of = self.indices_batch[k];
                    let of = if of > self.vector { of - 1 } else { of };
                    malformed_if!(of >= batch.len(), "axis {of} of the indices is no batch");
                    let counted = cx.means().counted(dtype, batch[of])?;
                    let mut along = vec![1; batch.len() + windows.len()];
                    along[of] = batch[of];
                    cx.means().reshaped(counted, &along)?
                }
                (None, None) => {
                    cx.means().int_constant("start", dtype, &vec![1; batch.len() + windows.len()], &[0])?
                }
            };
            if let Some(k) = windows.iter().position(|&(of, _)| of == axis) {
                let mut along = vec![1; batch.len() + windows.len()];
                along[batch.len() + k] = sizes[axis];
                let counted = cx.means().counted(dtype, sizes[axis])?;
                let counted = cx.means().reshaped(counted, &along)?;
                own = cx.means().sum(own, counted)?;
            }
            coordinates.push(own);
        }
        Ok(Places { axes, windows, batch, coordinates, whole: is_whole.then_some(value) })
    }
}

fn gather(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let names = ["start_index_map", "operand_batching_dims", "start_indices_batching_dims"];
    let numbers = Numbers::read(cx, "dimension_numbers", names)?;
    let indices = cx.tensor(1)?;
    let parts = attributes::parts(&cx.operation.attributes, "dimension_numbers")?;
    let (offset, collapsed) =
        (attributes::sizes(parts, "offset_dims")?, attributes::sizes(parts, "collapsed_slice_dims")?);
    let mut sizes = cx.sizes("slice_sizes")?;
    if sizes.is_empty() {
        if let Some(of) = cx.operands.get(2) {
            let value = of.tensor()?.value;
            let known = cx.known_ints(value).unwrap_or_default();
            sizes = known.iter().filter_map(|&size| usize::try_from(size).ok()).collect();
        }
    }
    let slices = Slices { numbers, sizes, offset, collapsed, out: cx.result_dims(0)? };
    if complex::is_complex(cx) {
        return complex::each(cx, |cx, x| slices.taken(cx, x, &indices));
    }
    let x = cx.tensor(0)?;
    Ok(vec![Slot::Tensor(slices.taken(cx, &x, &indices)?)])
}

/// What an axis of the gathered tensor is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Axis {
    /// An axis of the indices.
    Batch(usize),
    /// An axis of slices.
    Slice(usize),
}

/// The slices that are gathered.
struct Slices {
    numbers: Numbers,
    /// How many elements of each axis are in a slice.
    sizes: Vec<usize>,
    /// Axes of the result that are those of slices.
    offset: Vec<usize>,
    /// Axes of slices that the result has not.
    collapsed: Vec<usize>,
    /// The shape of the result.
    out: Vec<usize>,
}

impl Slices {
    fn taken(&self, cx: &mut Cx<'_, '_, '_>, x: &Tensor, indices: &Tensor) -> Lowered<Tensor> {
        let Slices { numbers, sizes, offset, collapsed, out } = self;
        let rank = x.dims.len();
        let fits = sizes.len() == rank && sizes.iter().zip(&x.dims).all(|(size, dim)| size <= dim);
        malformed_if!(!fits, "slices of {sizes:?} do not fit {:?}", x.dims);
        if out.contains(&0) {
            let dtype = cx.ty(x.value).dtype;
            let value = cx.means().empty(dtype, out);
            return Ok(Tensor::of(value, out, &x.element));
        }
        let places = numbers.places(cx, indices, &x.dims, sizes, true)?;
        // Axes that nobody indexes, and of which only the first elements are wanted.
        let limit: Vec<usize> = (0..rank)
            .map(|axis| if places.axes.contains(&axis) { x.dims[axis] } else { sizes[axis] })
            .collect();
        let part = shape::sliced(cx, x, &vec![0; rank], &limit, &vec![1; rank])?;
        let mut value = cx.spread(&part)?;
        // The axes that are indexed side by side.
        let first = places.axes.first().copied().unwrap_or(0);
        let depth = places.axes.len();
        let mut order: Vec<usize> = (0..rank).collect();
        if !places.axes.iter().copied().eq(first..first + depth) {
            order = places
                .axes
                .iter()
                .copied()
                .chain((0..rank).filter(|axis| !places.axes.contains(axis)))
                .collect();
            value = cx.means().transposed(value, &order)?;
        }
        let start = order.iter().position(|&axis| axis == first).unwrap_or(0);
        let windows: Vec<usize> = places.windows.iter().map(|&(_, size)| size).collect();
        let named = [&places.batch[..], &windows].concat();
        let mut labels: Vec<Axis> = order[..start].iter().map(|&axis| Axis::Slice(axis)).collect();
        labels.extend((0..places.batch.len()).map(Axis::Batch));
        labels.extend(places.windows.iter().map(|&(axis, _)| Axis::Slice(axis)));
        labels.extend(order[start + depth..].iter().map(|&axis| Axis::Slice(axis)));
        let own = cx.dims(value);
        let dims = [&own[..start], &named, &own[start + depth..]].concat();
        if depth == 0 {
            let wide = [&vec![1; named.len()][..], &own].concat();
            value = cx.reshaped(value, &wide)?;
            value = cx.repeated(value, &dims)?;
        } else {
            let each = match places.whole {
                Some(whole) => whole,
                None => {
                    let mut columns = Vec::new();
                    for &coordinate in &places.coordinates {
                        let column = cx.repeated(coordinate, &named)?;
                        columns.push(cx.reshaped(column, &[&named[..], &[1]].concat())?);
                    }
                    cx.means().joined(&columns, named.len())?
                }
            };
            value = merged_gather(cx, value, each, start, depth, &dims)?;
        }
        // The order of the result, and axes of one element.
        let mut slices =
            (0..rank).filter(|axis| !collapsed.contains(axis) && !numbers.operand_batch.contains(axis));
        let mut batches = 0..places.batch.len();
        let mut perm = Vec::new();
        for k in 0..out.len() {
            let label = match offset.contains(&k) {
                true => slices.next().map(Axis::Slice),
                false => batches.next().map(Axis::Batch),
            };
            let label = label.ok_or_else(|| malformed!("its result {out:?} has other axes"))?;
            perm.extend(labels.iter().position(|&own| own == label));
        }
        let others: Vec<usize> = (0..labels.len()).filter(|at| !perm.contains(at)).collect();
        perm.extend(others);
        let value = cx.means().transposed(value, &perm)?;
        malformed_if!(
            cx.ty(value).shape.numel() != out.iter().product::<usize>(),
            "its result {out:?} does not fit slices of {sizes:?}"
        );
        let value = cx.reshaped(value, out)?;
        Ok(Tensor::of(value, out, &x.element))
    }
}

/// A gathering. Axes that are too many for one op are made one.
fn merged_gather(
    cx: &mut Cx<'_, '_, '_>,
    value: ValueId,
    each: ValueId,
    axis: usize,
    depth: usize,
    dims: &[usize],
) -> Lowered<ValueId> {
    let op = Op::Gather { batch: 0, axis, depth };
    let index_dims = cx.dims(each);
    if check_size(DType::F32, dims).is_ok() && check_size(DType::F32, &index_dims).is_ok() {
        return cx.means().add_like(op, &[value, each], dims);
    }
    let own = cx.dims(value);
    let (front, back) =
        (own[..axis].iter().product::<usize>(), own[axis + depth..].iter().product::<usize>());
    let flat = [&[front][..], &own[axis..axis + depth], &[back]].concat();
    let count = index_dims[..index_dims.len() - 1].iter().product::<usize>();
    let value = cx.reshaped(value, &flat)?;
    let each = cx.reshaped(each, &[count, depth])?;
    let op = Op::Gather { batch: 0, axis: 1, depth };
    let y = cx.means().add_like(op, &[value, each], &[front, count, back])?;
    cx.reshaped(y, dims)
}

/// torch_index_select: along an axis, in the order of indices.
fn index_select(cx: &mut Cx<'_, '_, '_>) -> Lowered<Vec<Slot>> {
    let (x, indices) = (cx.tensor(0)?, cx.tensor(1)?);
    let axis = cx.axis("dim", x.dims.len())?;
    malformed_if!(cx.size("batch_dims")?.unwrap_or(0) != 0, "its batch_dims are not 0");
    let value = cx.spread(&x)?;
    let dims = [&x.dims[..axis], &indices.dims, &x.dims[axis + 1..]].concat();
    let each = cx.spread(&indices)?;
    let each = cx.reshaped(each, &[&indices.dims[..], &[1]].concat())?;
    let y = cx.means().add_like(Op::Gather { batch: 0, axis, depth: 1 }, &[value, each], &dims)?;
    Ok(vec![Slot::Tensor(Tensor::of(y, &dims, &x.element))])
}
