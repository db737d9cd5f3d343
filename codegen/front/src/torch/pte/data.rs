//! Where the data of tensors lies: in the flatbuffer, in segments behind it, or in a file of weights (`.ptd`) that stands behind the program.
//!
//! The *extended header* says where segments begin. It is between the identifier and the first table, in files that have segments.

use super::schema::{at, text, Tensor};
use crate::budget::Budget;
use crate::flatbuffer::{Table, Vector};
use crate::torch::program::{Size, TensorMeta};
use crate::torch::weights::{stored, view};
use crate::{External, Fetch, Lowered, Refusal};
use kiln_ir::error::Error;
use kiln_ir::{Data, Type};
use std::collections::HashMap;

/// The name that `to_executorch()` gives to a file of weights.
const WEIGHTS_FILE: &str = "_default_external_constant.ptd";

/// What stands at the end of a program with a file of weights behind it, after the place where that file begins.
const MARK: &[u8; 8] = b"kiln ptd";

/// The data of a program.
pub(super) struct Segments<'a> {
    /// Constants that lie in the flatbuffer, of older files.
    inline: Vec<&'a [u8]>,
    /// Constants that lie in a segment, each up to its end.
    constants: Vec<&'a [u8]>,
    /// Initial values of tensors that are written.
    initial: Vec<&'a [u8]>,
    /// Those of the file of weights, by name; `None` without such a file.
    named: Option<HashMap<&'a [u8], &'a [u8]>>,
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

/// Where the segments begin, as the extended header says; 0 for files without one, which have no segments.
fn base(file: &[u8]) -> u64 {
    match file.get(8..12) {
        Some(b"eh00") => number(file, 24).unwrap_or(0),
        _ => 0,
    }
}

/// The bytes of each segment of a list.
fn segments<'a>(
    file: &'a [u8],
    base: u64,
    root: &Table<'a>,
    slot: usize,
    budget: &mut Budget,
) -> Result<Vec<&'a [u8]>, Error> {
    let tables = root.tables(slot).map_err(at("segments"))?;
    budget.charge(tables.len().saturating_mul(16))?;
    let mut all = Vec::with_capacity(tables.len());
    for table in tables.iter() {
        let table = table.map_err(at("segments"))?;
        let (offset, size) =
            (table.scalar(0, 0u64).map_err(at("segments"))?, table.scalar(1, 0u64).map_err(at("segments"))?);
        let first = base.checked_add(offset).and_then(|first| usize::try_from(first).ok());
        let range = first.zip(usize::try_from(size).ok()).and_then(|(a, size)| Some(a..a.checked_add(size)?));
        let bytes = range.and_then(|range| file.get(range));
        let what = || format!("segment {} lies outside the file", all.len());
        all.push(bytes.ok_or_else(|| Error::malformed("segments", what()))?);
    }
    Ok(all)
}

/// What begins at each offset of a list into a segment, up to the segment's end.
fn parts<'a>(
    table: Option<Table<'a>>,
    segments: &[&'a [u8]],
    budget: &mut Budget,
) -> Result<Vec<&'a [u8]>, Error> {
    let place = "constants";
    let Some(table) = table else { return Ok(Vec::new()) };
    let index = table.scalar::<u32>(0, 0).map_err(at(place))? as usize;
    let offsets = table.vector::<u64>(1).map_err(at(place))?.unwrap_or(Vector::empty());
    if offsets.is_empty() {
        return Ok(Vec::new());
    }
    let segment = segments.get(index);
    let segment = segment.ok_or_else(|| Error::malformed(place, format!("there is no segment {index}")))?;
    budget.charge(offsets.len() * 16)?;
    let part = |offset: u64| {
        let bytes = usize::try_from(offset).ok().and_then(|offset| segment.get(offset..));
        bytes.ok_or_else(|| Error::malformed(place, "its data begins behind the end of its segment"))
    };
    offsets.iter().map(part).collect()
}

impl<'a> Segments<'a> {
    pub(super) fn parse(file: &'a [u8], root: &Table<'a>, budget: &mut Budget) -> Result<Self, Error> {
        let all = segments(file, base(file), root, 4, budget)?;
        let place = "constants";
        let buffers = root.tables(2).map_err(at(place))?;
        budget.charge(buffers.len().saturating_mul(16))?;
        let mut inline = Vec::with_capacity(buffers.len());
        for table in buffers.iter() {
            inline.push(table.and_then(|table| table.string(0)).map_err(at(place))?);
        }
        let constants = parts(root.table(5).map_err(at(place))?, &all, budget)?;
        let mutable = root.tables(6).and_then(|tables| tables.get(0)).map_err(at(place))?;
        let initial = parts(mutable, &all, budget)?;
        let named = appended(file).map(|weights| named(weights, budget)).transpose()?;
        Ok(Segments { inline, constants, initial, named })
    }

    /// The bytes of a tensor, perhaps with others behind them; `None` for one without data.
    fn bytes(&self, tensor: &Tensor<'_>) -> Lowered<Option<&'a [u8]>> {
        if tensor.is_external {
            let name = text(tensor.name);
            let Some(named) = &self.named else {
                let what = format!("the data of \"{name}\" is in a file of weights (.ptd)");
                let help = format!("put that file beside the model as {WEIGHTS_FILE}, or export the program without external_constants");
                return Err(Refusal::unsupported(what, help));
            };
            let bytes = named.get(tensor.name).copied();
            return bytes.map(Some).ok_or_else(|| malformed!("\"{name}\" is not in the file of weights"));
        }
        if tensor.data == 0 {
            return Ok(None);
        }
        let index = tensor.data as usize;
        let list = match tensor.place.is_some() {
            true if !self.initial.is_empty() => &self.initial,
            _ if self.inline.is_empty() => &self.constants,
            _ => &self.inline,
        };
        let bytes = list.get(index).copied();
        bytes.map(Some).ok_or_else(|| malformed!("the program has no data {index}"))
    }

    /// The type and the elements of a tensor; zeros for one without data.
    pub(super) fn tensor(&self, of: &str, tensor: &Tensor<'_>, budget: &mut Budget) -> Lowered<(Type, Data)> {
        let meta = meta(tensor)?;
        if let Some(bytes) = self.bytes(tensor)? {
            return view(of, bytes, &meta, budget);
        }
        // One element, for all of them.
        let zero = [0; 8];
        let strides = meta.sizes.iter().map(|_| Size::Known(0)).collect();
        view(of, &zero[..stored(meta.dtype).unwrap_or(8)], &TensorMeta { strides, ..meta }, budget)
    }

    /// How many bytes the data of a tensor has; 0 where it has none.
    pub(super) fn size(&self, tensor: &Tensor<'_>) -> u64 {
        let Ok(Some(_)) = self.bytes(tensor) else { return 0 };
        let sizes = tensor.sizes.iter().map(|size| u64::try_from(size).unwrap_or(0));
        let width = stored(super::arguments::scalar(i64::from(tensor.scalar))).unwrap_or(0) as u64;
        sizes.fold(width, u64::saturating_mul)
    }
}

/// What the file says of a tensor whose sizes are known: its strides follow from the order of its axes in memory.
pub(super) fn meta(tensor: &Tensor<'_>) -> Lowered<TensorMeta> {
    let rank = tensor.sizes.len();
    malformed_if!(rank > 16, "it has {rank} axes");
    let order: Vec<usize> = tensor.order.iter().take(16).map(usize::from).collect();
    let mut sorted = order.clone();
    sorted.sort_unstable();
    let is_permutation = sorted.into_iter().eq(0..rank) && tensor.order.len() == rank;
    malformed_if!(!is_permutation, "its order of axes does not fit its {rank} axes");
    let sizes: Vec<i64> = tensor.sizes.iter().map(i64::from).collect();
    malformed_if!(sizes.iter().any(|&size| size < 0), "its sizes are {sizes:?}");
    let mut strides = vec![0i64; rank];
    let mut dense = 1i64;
    for &axis in order.iter().rev() {
        strides[axis] = dense;
        dense = dense.saturating_mul(sizes[axis]);
    }
    let known = |list: Vec<i64>| list.into_iter().map(Size::Known).collect();
    Ok(TensorMeta {
        dtype: super::arguments::scalar(i64::from(tensor.scalar)),
        sizes: known(sizes),
        strides: known(strides),
        storage_offset: None,
    })
}

/// The file of weights that stands behind a program.
fn appended(file: &[u8]) -> Option<&[u8]> {
    let whole = file.strip_suffix(MARK)?;
    let end = whole.len().checked_sub(8)?;
    let first = usize::try_from(number(whole, end)?).ok()?;
    whole.get(first..end)
}

/// The tensors of a file of weights, by name.
fn named<'a>(file: &'a [u8], budget: &mut Budget) -> Result<HashMap<&'a [u8], &'a [u8]>, Error> {
    let place = "file of weights";
    let base = match (file.get(4..8), file.get(8..12)) {
        (Some(b"FT01"), Some(b"FH01")) => number(file, 32),
        _ => None,
    };
    let base = base.ok_or_else(|| Error::malformed(place, "it has no header"))?;
    let root = Table::root(file).map_err(at(place))?;
    let all = segments(file, base, &root, 1, budget)?;
    let tables = root.tables(2).map_err(at(place))?;
    budget.charge(tables.len().saturating_mul(64))?;
    let mut named = HashMap::new();
    for table in tables.iter() {
        let table = table.map_err(at(place))?;
        let (name, index) =
            (table.string(0).map_err(at(place))?, table.scalar::<u32>(1, 0).map_err(at(place))?);
        let segment = usize::try_from(index).ok().and_then(|index| all.get(index));
        let what = || format!("there is no segment {index}");
        named.insert(name, *segment.ok_or_else(|| Error::malformed(place, what()))?);
    }
    Ok(named)
}

/// The program with its file of weights behind it, where tensors lie in one.
pub(super) fn embed(file: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    let mut budget = Budget::new(file.len());
    // What is wrong with a program is said when it is read.
    let Ok(program) = super::schema::Program::parse(file, &mut budget) else { return Ok(None) };
    let external = program.method.values.iter().find_map(|value| match value {
        super::schema::Value::Tensor(tensor) if tensor.is_external => Some(tensor),
        _ => None,
    });
    let (Some(tensor), None) = (external, &program.data.named) else { return Ok(None) };
    let weights = fetch(&External {
        place: format!("constant \"{}\"", text(tensor.name)),
        location: WEIGHTS_FILE.into(),
        offset: 0,
        length: None,
    })?;
    let mut whole = file.to_vec();
    whole.extend(weights);
    whole.extend((file.len() as u64).to_le_bytes());
    whole.extend(MARK);
    Ok(Some(whole))
}
