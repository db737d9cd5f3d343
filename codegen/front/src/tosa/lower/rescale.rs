//! RESCALE and TABLE: how integers become narrower or wider ones.

use super::cx::Cx;
use super::lazy::Kind;
use super::scale::Scale;
use super::{Kept, Lowered, One, Operators, Slot};
use kiln_ir::{DType, Data, Op, Type, ValueId};

pub(super) const OPERATORS: Operators = &[("RESCALE", Kept(rescale)), ("TABLE", One(table))];

/// RESCALE.
fn rescale(cx: &mut Cx<'_, '_, '_>) -> Lowered<Slot> {
    let dtype = match cx.slot(0)? {
        Slot::Lazy(id) => cx.importer.lazies.get(*id).dtype,
        _ => {
            let value = cx.value(0)?;
            cx.ty(value).dtype
        }
    };
    let scale = Scale::read(cx, dtype)?;
    if let Some(id) = cx.lazy(0) {
        if let Some(value) = cx.narrowed(id, &scale)? {
            return Ok(Slot::Value(value));
        }
        if scale.is_single() && cx.is_expression(id) {
            let dims = cx.operand_dims(0)?;
            return cx.kept(Kind::Rescaled(id, scale.clone()), &dims, scale.dtypes[1]);
        }
    }
    let x = cx.value(0)?;
    if dtype == DType::I8 && scale.is_single() {
        return of_bytes(cx, x, scale);
    }
    cx.rescaled(x, &scale).map(Slot::Value)
}

/// RESCALE of bytes: to bytes by a table; to wider integers as an expression, until it is clear what becomes of them.
fn of_bytes(cx: &mut Cx<'_, '_, '_>, x: ValueId, scale: Scale) -> Lowered<Slot> {
    let dims = cx.dims(x);
    if scale.dtypes[1] == DType::I8 {
        return cx.tabulated(x, |byte| scale.apply(byte), &scale).map(Slot::Value);
    }
    if scale.dtypes[1] != DType::I32 {
        return cx.rescaled(x, &scale).map(Slot::Value);
    }
    let uniform = cx.uniform(x);
    let kind = match uniform {
        Some(number) => Kind::Known(scale.apply(number)),
        None => match cx.importer.lazies.add(Kind::Leaf(x), &dims, DType::I8) {
            Some(leaf) => Kind::Rescaled(leaf, scale),
            None => return cx.rescaled(x, &scale).map(Slot::Value),
        },
    };
    cx.kept(kind, &dims, DType::I32)
}

impl Cx<'_, '_, '_> {
    /// A function of each byte, with results of a scale.
    pub(super) fn tabulated(
        &mut self,
        x: ValueId,
        of: impl Fn(i64) -> i64,
        scale: &Scale,
    ) -> Lowered<ValueId> {
        let list: Vec<i64> = (-128..128).map(of).collect();
        // A zero point of unsigned results is none of theirs.
        let zero = if scale.unsigned[1] { i64::MAX } else { scale.zeros[1] };
        self.of_each_byte(x, &list, zero)
    }

    /// A byte for each byte from −128 on, with that zero point.
    pub(super) fn of_each_byte(&mut self, x: ValueId, list: &[i64], zero: i64) -> Lowered<ValueId> {
        let is_same = list.iter().copied().eq(-128..128);
        if is_same && (-128..128).contains(&zero) {
            return self.stored(x, zero);
        }
        // The stored byte counts as unsigned there.
        let (below, above) = list.split_at(list.len() / 2);
        let dims = self.dims(x);
        let ty = Cx::stored_type(DType::I8, &[256], zero);
        self.importer.means.budget.charge(256)?;
        let entries = Data::from_ints(DType::I8, above.iter().chain(below).copied());
        let table = self.importer.means.graph.add_const("table", ty.clone(), entries);
        self.means().add(Op::Lookup {}, &[x, table], ty.with_shape(&dims))
    }
}

/// TABLE: a byte for each byte, or an integer of 32 bits for each one of 16.
fn table(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, table) = (cx.value(0)?, cx.value(1)?);
    let (dtype, dims) = (cx.ty(x).dtype, cx.dims(x));
    let own = cx.ty(table).clone();
    match (dtype, own.dtype, own.shape.dims()) {
        (DType::I8, DType::I8, [256]) => bytes(cx, x, table, &dims),
        (DType::I16, DType::I16, [513]) => words(cx, x, table),
        _ => Err(malformed!("a table {own} does not fit {}", cx.ty(x))),
    }
}

/// The table begins at −128, while that of the graph begins at 0.
fn bytes(cx: &mut Cx<'_, '_, '_>, x: ValueId, table: ValueId, dims: &[usize]) -> Lowered<ValueId> {
    let table = cx.plain(table)?;
    let mut means = cx.means();
    let (low, high) = (means.part(table, 0, 0, 128, 1)?, means.part(table, 0, 128, 128, 1)?);
    let turned = means.joined(&[high, low], 0)?;
    means.add(Op::Lookup {}, &[x, turned], Type::plain(DType::I8, dims))
}

/// Between entries, of which there is one for 128 numbers: 128 · entry + (next entry − entry) · the rest.
fn words(cx: &mut Cx<'_, '_, '_>, x: ValueId, table: ValueId) -> Lowered<ValueId> {
    let table = cx.plain(table)?;
    let mut means = cx.means();
    let (table, x) = (means.cast(table, DType::I32)?, means.cast(x, DType::I32)?);
    let step = means.number(x, 128.0)?;
    let (whole, rest) = {
        let whole = means.binary(kiln_ir::Binary::FloorDiv, x, step)?;
        (whole, means.binary(kiln_ir::Binary::FloorMod, x, step)?)
    };
    let at = means.plus(whole, 256.0)?;
    let next = means.plus(at, 1.0)?;
    let dims = means.dims(x);
    let index = [&dims[..], &[1]].concat();
    let mut entry = |at: ValueId| -> Lowered<ValueId> {
        let at = means.reshaped(at, &index)?;
        means.add_like(Op::Gather { batch: 0, axis: 0, depth: 1 }, &[table, at], &dims)
    };
    let (first, second) = (entry(at)?, entry(next)?);
    let slope = means.difference(second, first)?;
    let (base, more) = (means.product(first, step)?, means.product(slope, rest)?);
    means.sum(base, more)
}
