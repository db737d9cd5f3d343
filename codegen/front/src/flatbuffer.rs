//! A checked view of a flatbuffer: tables, vectors and strings.
//!
//! The view copies and allocates nothing, and follows a reference only when it is asked to: a file whose
//! references form a cycle is as finite as any other. Every position is checked against the buffer before it
//! is read, and elements are assembled from bytes, so that alignment does not matter.
//!
//! Format: a *table* begins with a signed offset back to its *vtable*, which holds the vtable's and the table's
//! size and then one 16-bit offset per field (0 = absent). Vectors and strings are a 32-bit count followed by the
//! elements; references are unsigned 32-bit offsets from their own position.

use std::fmt;
use std::marker::PhantomData;

/// Why a flatbuffer cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken {
    /// Byte position of the reference or count that is wrong.
    pub(crate) at: usize,
    /// What is wrong with it.
    pub(crate) what: &'static str,
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "byte {}: {}", self.at, self.what)
    }
}

/// An element that can be read from little-endian bytes.
pub(crate) trait Scalar: Copy + Default {
    /// Bytes per element.
    const SIZE: usize;
    /// Reads the element at `at`, if it lies in `bytes`.
    fn read(bytes: &[u8], at: usize) -> Option<Self>;
}

macro_rules! scalar {
    ($($t:ty),+) => { $(impl Scalar for $t {
        const SIZE: usize = std::mem::size_of::<$t>();
        fn read(bytes: &[u8], at: usize) -> Option<Self> {
            let end = at.checked_add(Self::SIZE)?;
            Some(<$t>::from_le_bytes(bytes.get(at..end)?.try_into().ok()?))
        }
    })+ };
}
scalar!(i8, u8, u16, i32, u32, i64, u64, f32, f64);

/// A vector of scalars.
#[derive(Clone, Copy)]
pub(crate) struct Vector<'a, T> {
    bytes: &'a [u8],
    element: PhantomData<T>,
}

impl<'a, T: Scalar> Vector<'a, T> {
    /// A vector without elements.
    pub(crate) fn empty() -> Self {
        Vector { bytes: &[], element: PhantomData }
    }

    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() / T::SIZE
    }

    /// Whether there are no elements.
    pub(crate) fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Element `index`.
    pub(crate) fn get(&self, index: usize) -> Option<T> {
        T::read(self.bytes, index.checked_mul(T::SIZE)?)
    }

    /// All elements.
    pub(crate) fn iter(&self) -> impl Iterator<Item = T> + 'a {
        let bytes = self.bytes;
        (0..self.len()).map(move |i| T::read(bytes, i * T::SIZE).unwrap_or_default())
    }
}

impl<'a> Vector<'a, u8> {
    /// The elements themselves.
    pub(crate) fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// A vector of references to tables.
#[derive(Clone, Copy)]
pub(crate) struct Tables<'a> {
    file: &'a [u8],
    first: usize,
    len: usize,
}

impl<'a> Tables<'a> {
    /// Number of tables.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Table `index`; `None` past the end.
    pub(crate) fn get(&self, index: usize) -> Result<Option<Table<'a>>, Broken> {
        if index >= self.len {
            return Ok(None);
        }
        let at = self.first + 4 * index;
        Table::new(self.file, follow(self.file, at)?).map(Some)
    }

    /// All tables.
    pub(crate) fn iter(self) -> impl Iterator<Item = Result<Table<'a>, Broken>> {
        (0..self.len).map(move |i| Table::new(self.file, follow(self.file, self.first + 4 * i)?))
    }
}

/// A vector of references to strings.
#[derive(Clone, Copy)]
pub(crate) struct Strings<'a> {
    file: &'a [u8],
    first: usize,
    len: usize,
}

impl<'a> Strings<'a> {
    /// Number of strings.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of all strings.
    pub(crate) fn iter(self) -> impl Iterator<Item = Result<&'a [u8], Broken>> {
        (0..self.len).map(move |i| {
            let at = follow(self.file, self.first + 4 * i)?;
            let outside = Broken { at, what: "a string lies outside the file" };
            let count =
                u32::read(self.file, at).and_then(|count| usize::try_from(count).ok()).ok_or(outside)?;
            let end = at.checked_add(4).and_then(|first| first.checked_add(count));
            end.and_then(|end| self.file.get(at + 4..end)).ok_or(outside)
        })
    }
}

/// A table: fields by slot, in the order of the schema.
#[derive(Clone, Copy)]
pub(crate) struct Table<'a> {
    file: &'a [u8],
    at: usize,
    vtable: usize,
    vtable_len: usize,
}

impl<'a> Table<'a> {
    /// The root table.
    pub(crate) fn root(file: &'a [u8]) -> Result<Self, Broken> {
        Table::new(file, follow(file, 0)?)
    }

    fn new(file: &'a [u8], at: usize) -> Result<Self, Broken> {
        let broken = |what| Broken { at, what };
        let back = i32::read(file, at).ok_or(broken("a table lies outside the file"))?;
        let vtable = i64::try_from(at).ok().and_then(|at| usize::try_from(at - i64::from(back)).ok());
        let vtable = vtable.ok_or(broken("a table's field list lies outside the file"))?;
        let vtable_len = u16::read(file, vtable).map(usize::from);
        let vtable_len = vtable_len.ok_or(broken("a table's field list lies outside the file"))?;
        if vtable_len < 4 || vtable.saturating_add(vtable_len) > file.len() {
            return Err(broken("a table's field list has an impossible length"));
        }
        Ok(Table { file, at, vtable, vtable_len })
    }

    /// Position of the field's data, if it is present.
    fn field(&self, slot: usize) -> Option<usize> {
        let entry = 4 + 2 * slot;
        if entry + 2 > self.vtable_len {
            return None;
        }
        match u16::read(self.file, self.vtable + entry)? {
            0 => None,
            offset => self.at.checked_add(usize::from(offset)),
        }
    }

    /// A scalar field, or `default` where it is absent.
    pub(crate) fn scalar<T: Scalar>(&self, slot: usize, default: T) -> Result<T, Broken> {
        match self.field(slot) {
            None => Ok(default),
            Some(at) => T::read(self.file, at).ok_or(Broken { at, what: "a field lies outside the file" }),
        }
    }

    /// A boolean field, `false` where it is absent.
    pub(crate) fn flag(&self, slot: usize) -> Result<bool, Broken> {
        Ok(self.scalar::<u8>(slot, 0)? != 0)
    }

    /// A table field.
    pub(crate) fn table(&self, slot: usize) -> Result<Option<Table<'a>>, Broken> {
        match self.field(slot) {
            None => Ok(None),
            Some(at) => Table::new(self.file, follow(self.file, at)?).map(Some),
        }
    }

    /// Whether a field is present.
    pub(crate) fn has(&self, slot: usize) -> bool {
        self.field(slot).is_some()
    }

    /// First byte and count of a vector whose elements have `size` bytes each.
    fn span(&self, slot: usize, size: usize) -> Result<Option<(usize, usize)>, Broken> {
        let Some(field) = self.field(slot) else { return Ok(None) };
        let at = follow(self.file, field)?;
        let count = u32::read(self.file, at).ok_or(Broken { at, what: "a vector lies outside the file" })?;
        let fits = usize::try_from(count).ok().and_then(|n| {
            let end = at.checked_add(4)?.checked_add(n.checked_mul(size)?)?;
            (end <= self.file.len()).then_some(n)
        });
        let count = fits.ok_or(Broken { at, what: "a vector is longer than the rest of the file" })?;
        Ok(Some((at + 4, count)))
    }

    /// A vector of scalars, if it is present.
    pub(crate) fn vector<T: Scalar>(&self, slot: usize) -> Result<Option<Vector<'a, T>>, Broken> {
        let Some((first, count)) = self.span(slot, T::SIZE)? else { return Ok(None) };
        let bytes = self.file.get(first..first + count * T::SIZE).unwrap_or_default();
        Ok(Some(Vector { bytes, element: PhantomData }))
    }

    /// A vector of tables; empty where it is absent.
    pub(crate) fn tables(&self, slot: usize) -> Result<Tables<'a>, Broken> {
        let (first, len) = self.span(slot, 4)?.unwrap_or((0, 0));
        Ok(Tables { file: self.file, first, len })
    }

    /// A vector of strings; empty where it is absent.
    pub(crate) fn strings(&self, slot: usize) -> Result<Strings<'a>, Broken> {
        let (first, len) = self.span(slot, 4)?.unwrap_or((0, 0));
        Ok(Strings { file: self.file, first, len })
    }

    /// A string's bytes; empty where it is absent.
    pub(crate) fn string(&self, slot: usize) -> Result<&'a [u8], Broken> {
        Ok(self.vector::<u8>(slot)?.map_or(&[][..], |v| v.bytes()))
    }
}

/// The position a reference at `at` points to.
fn follow(file: &[u8], at: usize) -> Result<usize, Broken> {
    let offset = u32::read(file, at).ok_or(Broken { at, what: "a reference lies outside the file" })?;
    let target = usize::try_from(offset).ok().and_then(|offset| at.checked_add(offset));
    target.filter(|&t| t < file.len()).ok_or(Broken { at, what: "a reference points outside the file" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Root table at 12 with one i32 field (slot 1) and a vector of i32 (slot 2); slot 0 absent.
    fn small() -> Vec<u8> {
        let mut b = vec![];
        b.extend(16u32.to_le_bytes()); // root
        b.extend([0; 2]);
        b.extend([10u16, 12, 0, 4, 8].iter().flat_map(|x| x.to_le_bytes())); // vtable at 6
        b.extend(10i32.to_le_bytes()); // table at 16
        b.extend((-7i32).to_le_bytes());
        b.extend(4u32.to_le_bytes()); // reference at 24 to 28
        b.extend(2u32.to_le_bytes());
        b.extend([5i32, 6].iter().flat_map(|x| x.to_le_bytes()));
        b
    }

    #[test]
    fn reads_fields_and_defaults() {
        let bytes = small();
        let table = Table::root(&bytes).unwrap();
        assert_eq!(table.scalar::<i32>(0, 3), Ok(3));
        assert_eq!(table.scalar::<i32>(1, 3), Ok(-7));
        assert_eq!(table.scalar::<i32>(9, 3), Ok(3));
        let v = table.vector::<i32>(2).unwrap().unwrap();
        assert_eq!(v.iter().collect::<Vec<_>>(), [5, 6]);
        assert_eq!(v.get(2), None);
        assert!(table.vector::<i32>(0).unwrap().is_none());
    }

    #[test]
    fn refuses_what_leaves_the_file() {
        let bytes = small();
        for len in 0..bytes.len() {
            let Ok(table) = Table::root(&bytes[..len]) else { continue };
            assert!(table.vector::<i32>(2).is_err(), "cut to {len} bytes");
        }
        let mut long = small();
        long[28..32].copy_from_slice(&u32::MAX.to_le_bytes());
        let what = Table::root(&long).unwrap().vector::<i32>(2).err().unwrap();
        assert_eq!(what, Broken { at: 28, what: "a vector is longer than the rest of the file" });
    }

    #[test]
    fn a_table_that_refers_to_itself_is_finite() {
        let mut bytes = small();
        bytes[24..28].copy_from_slice(&(-8i32 as u32).to_le_bytes());
        assert!(Table::root(&bytes).unwrap().table(2).is_err());
        bytes[24..28].copy_from_slice(&0u32.to_le_bytes());
        let table = Table::root(&bytes).unwrap();
        let _ = table.table(2);
        let _ = table.vector::<u8>(2);
    }
}
