//! Arrays: in one piece, or in chunks, which may be compressed.

use super::element::Element;
use super::object::{DATASPACE, DATATYPE, FILL, FILTERS, LAYOUT};
use super::text::charge;
use super::{Broken, Cursor, File, Object, Parsed};
use crate::budget::Budget;
use kiln_ir::{DType, Data};
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use std::borrow::Cow;

/// Most axes.
const LARGEST_RANK: usize = 8;
/// Most bytes of an array.
const MOST_BYTES: usize = 1 << 28;
/// How deep the tree of chunks may be.
const DEEPEST: u8 = 32;

/// The axes of an array.
pub(super) struct Space {
    dims: Vec<usize>,
    is_null: bool,
}

impl Space {
    pub(in crate::keras) fn read(body: &mut Cursor<'_>) -> Parsed<Space> {
        let (version, rank) = (body.byte()?, usize::from(body.byte()?));
        body.skip(1)?;
        let is_null = match version {
            1 => {
                body.skip(5)?;
                false
            }
            2 => body.byte()? == 2,
            version => return Broken::unknown(format!("an array's shape has version {version}")),
        };
        if rank > LARGEST_RANK {
            return Broken::unknown(format!("an array has {rank} axes"));
        }
        let size = |size: u64| usize::try_from(size).or(Broken::damaged("an array is too large"));
        let dims = (0..rank).map(|_| size(body.length()?)).collect::<Parsed<_>>()?;
        Ok(Space { dims, is_null })
    }

    /// How many elements there are.
    pub(super) fn count(&self) -> Option<usize> {
        match self.is_null {
            true => Some(0),
            false => self.dims.iter().try_fold(1, |all: usize, &dim| all.checked_mul(dim)),
        }
    }
}

/// An array.
pub(in crate::keras) struct Dataset<'a> {
    pub(in crate::keras) dims: Vec<usize>,
    element: Element,
    layout: Layout<'a>,
    filters: Vec<Filter>,
    fill: Option<&'a [u8]>,
}

enum Layout<'a> {
    Here(&'a [u8]),
    /// Elements one after the other; nowhere for an array that was never written.
    Piece(Option<(u64, u64)>),
    Chunks {
        tree: Option<u64>,
        dims: Vec<usize>,
    },
}

#[derive(Clone, Copy)]
enum Filter {
    Deflate,
    Shuffle,
    /// Four bytes behind the chunk.
    Checksum,
}

impl<'a> File<'a> {
    /// The array that an object is; `None` for a group.
    pub(in crate::keras) fn dataset(&self, object: Object) -> Parsed<Option<Dataset<'a>>> {
        let Some(layout) = self.message(object, LAYOUT)? else { return Ok(None) };
        let (Some(mut space), Some(mut element)) =
            (self.message(object, DATASPACE)?, self.message(object, DATATYPE)?)
        else {
            return Broken::damaged("an array has no shape or type");
        };
        let element = Element::read(&mut element)?;
        let space = Space::read(&mut space)?;
        if space.is_null {
            return Broken::unknown("an array has no elements");
        }
        let filters = self.message(object, FILTERS)?.map_or(Ok(Vec::new()), filters)?;
        let fill = self.message(object, FILL)?.map_or(Ok(None), fill)?;
        let layout = layout_of(layout, element, space.dims.len())?;
        Ok(Some(Dataset { dims: space.dims, element, layout, filters, fill }))
    }
}

fn fill(mut body: Cursor<'_>) -> Parsed<Option<&[u8]>> {
    let version = body.byte()?;
    let is_defined = match version {
        1 | 2 => {
            body.skip(2)?;
            body.byte()? != 0
        }
        _ => body.byte()? & 0x20 != 0,
    };
    if !is_defined {
        return Ok(None);
    }
    let size = body.word()? as usize;
    body.take(size).map(Some)
}

fn layout_of<'a>(mut body: Cursor<'a>, element: Element, rank: usize) -> Parsed<Layout<'a>> {
    let version = body.byte()?;
    let class = match version {
        1 | 2 => {
            let own = usize::from(body.byte()?);
            let class = body.byte()?;
            body.skip(5)?;
            let address = if class == 0 { None } else { body.optional_address()? };
            let dims = (0..own.min(LARGEST_RANK + 1)).map(|_| Ok(body.word()? as usize));
            let dims = dims.collect::<Parsed<Vec<usize>>>()?;
            return Ok(match class {
                0 => {
                    let size = body.word()? as usize;
                    Layout::Here(body.take(size)?)
                }
                // Its length is that of its elements.
                1 => Layout::Piece(address.map(|address| (address, u64::MAX))),
                2 => chunks(address, &dims, element, rank)?,
                _ => return Broken::damaged("the layout of an array is unknown"),
            });
        }
        3 | 4 => body.byte()?,
        version => return Broken::unknown(format!("the layout of an array has version {version}")),
    };
    match (version, class) {
        (_, 0) => {
            let size = body.short()?;
            Ok(Layout::Here(body.take(size)?))
        }
        (_, 1) => {
            let address = body.optional_address()?;
            let length = body.length()?;
            Ok(Layout::Piece(address.map(|address| (address, length))))
        }
        (3, 2) => {
            let own = usize::from(body.byte()?).min(LARGEST_RANK + 1);
            let address = body.optional_address()?;
            let dims = (0..own).map(|_| Ok(body.word()? as usize)).collect::<Parsed<Vec<usize>>>()?;
            chunks(address, &dims, element, rank)
        }
        _ => Broken::unknown("an array is stored as the newest version of HDF5 does it"),
    }
}

fn chunks<'a>(tree: Option<u64>, dims: &[usize], element: Element, rank: usize) -> Parsed<Layout<'a>> {
    match dims.split_last() {
        Some((&size, dims)) if size == element.size && dims.len() == rank && !dims.contains(&0) => {
            Ok(Layout::Chunks { tree, dims: dims.to_vec() })
        }
        _ => Broken::damaged("the chunks of an array do not fit its shape"),
    }
}

fn filters(mut body: Cursor<'_>) -> Parsed<Vec<Filter>> {
    let (version, count) = (body.byte()?, body.byte()?);
    body.skip(if version == 1 { 6 } else { 0 })?;
    let mut filters = Vec::new();
    for _ in 0..count {
        let id = body.short()?;
        let name = if version == 1 || id >= 256 { body.short()? } else { 0 };
        body.skip(2)?;
        let values = body.short()?;
        let name = if version == 1 { name.next_multiple_of(8) } else { name };
        body.skip(name + 4 * values)?;
        body.skip(if version == 1 && values % 2 == 1 { 4 } else { 0 })?;
        filters.push(match id {
            1 => Filter::Deflate,
            2 => Filter::Shuffle,
            3 => Filter::Checksum,
            id => return Broken::unknown(format!("an array is compressed by HDF5's filter {id}")),
        });
    }
    Ok(filters)
}

impl<'a> Dataset<'a> {
    /// The type that its elements have in the graph.
    pub(in crate::keras) fn dtype(&self) -> Parsed<DType> {
        self.element.dtype()
    }

    /// Its elements as they are stored.
    pub(in crate::keras) fn read(&self, file: &File<'a>, budget: &mut Budget) -> Parsed<Data> {
        let count = self.dims.iter().try_fold(1, |all: usize, &dim| all.checked_mul(dim));
        let bytes = count.and_then(|count| count.checked_mul(self.element.size.max(4)));
        let Some(bytes) = bytes.filter(|&bytes| bytes <= MOST_BYTES) else {
            return Broken::damaged("an array is too large");
        };
        charge(budget, bytes)?;
        let length = count.unwrap_or(0) * self.element.size;
        let stored = match &self.layout {
            Layout::Here(bytes) => Cow::Borrowed(*bytes),
            Layout::Piece(Some((address, _))) => Cow::Borrowed(file.block(*address, length as u64)?.rest()),
            Layout::Piece(None) => Cow::Owned(self.blank(length)),
            Layout::Chunks { tree, dims } => {
                let mut all = self.blank(length);
                // A chunk is as large in memory, and larger than the array at its edges.
                let chunk = dims.iter().try_fold(self.element.size, |all: usize, &dim| all.checked_mul(dim));
                charge(budget, chunk.unwrap_or(usize::MAX).saturating_mul(2))?;
                if let Some(tree) = *tree {
                    let whole = Chunked { dataset: self, file, chunk: dims };
                    whole.tree(tree, DEEPEST, &mut all)?;
                }
                Cow::Owned(all)
            }
        };
        match stored.get(..length) {
            Some(bytes) => self.element.numbers(bytes),
            None => Broken::damaged("an array is shorter than its shape"),
        }
    }

    /// The bytes of an array that nothing is written to.
    fn blank(&self, length: usize) -> Vec<u8> {
        match self.fill.filter(|fill| fill.len() == self.element.size) {
            Some(fill) => fill.iter().copied().cycle().take(length).collect(),
            None => vec![0; length],
        }
    }
}

/// An array in chunks.
struct Chunked<'d, 'a> {
    dataset: &'d Dataset<'a>,
    file: &'d File<'a>,
    chunk: &'d [usize],
}

impl Chunked<'_, '_> {
    fn tree(&self, address: u64, most: u8, all: &mut [u8]) -> Parsed<()> {
        let mut node = self.file.at(address)?;
        let (is_tree, kind, level) = (node.takes(b"TREE"), node.byte()?, node.byte()?);
        if !is_tree || kind != 1 || level >= most {
            return Broken::damaged("the tree of an array's chunks is damaged");
        }
        let count = node.short()?;
        node.address()?;
        node.address()?;
        for _ in 0..count {
            let (size, mask) = (node.word()?, node.word()?);
            let mut from = Vec::with_capacity(self.chunk.len());
            for _ in self.chunk {
                from.push(usize::try_from(node.number(8)?).or(Broken::damaged("a chunk is out of place"))?);
            }
            node.skip(8)?;
            let child = node.address()?;
            match level {
                0 => self.chunk_at(child, size, mask, &from, all)?,
                _ => self.tree(child, level, all)?,
            }
        }
        Ok(())
    }

    fn chunk_at(&self, address: u64, size: u64, mask: u64, from: &[usize], all: &mut [u8]) -> Parsed<()> {
        let element = self.dataset.element.size;
        let length = self.chunk.iter().try_fold(element, |all: usize, &dim| all.checked_mul(dim));
        let Some(length) = length.filter(|&length| length <= MOST_BYTES) else {
            return Broken::damaged("a chunk of an array is too large");
        };
        let mut bytes = Cow::Borrowed(self.file.block(address, size)?.rest());
        for (k, filter) in self.dataset.filters.iter().enumerate().rev() {
            if mask >> k & 1 == 0 {
                bytes = undone(*filter, bytes, element, length)?;
            }
        }
        if bytes.len() < length {
            return Broken::damaged("a chunk of an array is too short");
        }
        self.copy(&bytes, from, all)
    }

    /// Copies rows of a chunk to their place. What lies beyond the array is left out.
    fn copy(&self, bytes: &[u8], from: &[usize], all: &mut [u8]) -> Parsed<()> {
        let (dims, element) = (&self.dataset.dims, self.dataset.element.size);
        let Some((&last, outer)) = self.chunk.split_last() else {
            return Broken::damaged("a number is stored in chunks");
        };
        let start = from.last().copied().unwrap_or(0);
        let inside = dims.last().map_or(0, |&dim| dim.saturating_sub(start).min(last));
        let rows: usize = outer.iter().product();
        for row in 0..rows {
            let (mut left, mut place, mut stride) = (row, Some(0usize), 1usize);
            for axis in (0..outer.len()).rev() {
                let index = from[axis].saturating_add(left % outer[axis]);
                left /= outer[axis];
                place = place.filter(|_| index < dims[axis]).and_then(|at| at.checked_add(index * stride));
                stride = stride.saturating_mul(dims[axis]);
            }
            let Some(place) = place.filter(|_| inside > 0) else { continue };
            let to = (place * dims.last().copied().unwrap_or(0) + start) * element;
            let source = bytes.get(row * last * element..).and_then(|rest| rest.get(..inside * element));
            let target = all.get_mut(to..).and_then(|rest| rest.get_mut(..inside * element));
            match (source, target) {
                (Some(source), Some(target)) => target.copy_from_slice(source),
                _ => return Broken::damaged("a chunk is out of place"),
            }
        }
        Ok(())
    }
}

/// The bytes of a chunk before a filter.
fn undone<'b>(filter: Filter, bytes: Cow<'b, [u8]>, element: usize, length: usize) -> Parsed<Cow<'b, [u8]>> {
    Ok(Cow::Owned(match filter {
        Filter::Deflate => match decompress_to_vec_zlib_with_limit(&bytes, length.saturating_add(4)) {
            Ok(bytes) => bytes,
            Err(_) => return Broken::damaged("a compressed chunk of an array is damaged"),
        },
        Filter::Shuffle => {
            let count = bytes.len() / element;
            let mut plain = bytes.to_vec();
            for (k, byte) in plain.iter_mut().enumerate().take(count * element) {
                *byte = bytes[k % element * count + k / element];
            }
            plain
        }
        Filter::Checksum => match bytes.len().checked_sub(4) {
            Some(length) => bytes[..length].to_vec(),
            None => return Broken::damaged("a chunk of an array is too short"),
        },
    }))
}
