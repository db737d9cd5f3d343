//! A single NumPy array: the format `.npy`, versions 1 to 3.
//!
//! The file is taken at its word nowhere: its header has at most [`MOST_HEADER`] bytes, and elements are read as they come, never into memory of the size that it
//! says. The format is that of `numpy.lib.format`.

use super::npz::Array;
use super::{Error, Result};
use kiln_ir::{DType, Data};
use std::io::Read;

/// What each file begins with.
pub(super) const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Most bytes of a header: arrays of numbers have 118.
const MOST_HEADER: usize = 1 << 16;

/// What a header says.
#[derive(Debug, PartialEq, Eq)]
struct Header {
    /// Byte order, kind and size of an element, as in `<f4`.
    element: String,
    is_column_major: bool,
    shape: Vec<u64>,
}

/// Reads an array that has `bytes` with its header. With `round`, doubles are rounded to floats.
pub(super) fn read(bytes: u64, file: impl Read, round: bool) -> Result<Array> {
    let mut file = file.take(bytes);
    let (header, before) = header(&mut file)?;
    if header.is_column_major {
        return Err(Error::new("is in column-major order; save it with numpy.ascontiguousarray"));
    }
    let (order, kind, size) = element(&header.element)?;
    let count = header.shape.iter().try_fold(1u64, |n, &dim| n.checked_mul(dim));
    let needed = count.and_then(|count| count.checked_mul(size as u64)?.checked_add(before));
    let Some(needed) = needed.filter(|&needed| needed <= bytes) else {
        return Err(Error::new(format!("has the shape {:?}, but only {bytes} bytes", header.shape)));
    };
    let mut elements = Vec::new();
    file.by_ref().take(needed - before).read_to_end(&mut elements).map_err(damaged)?;
    if elements.len() as u64 != needed - before {
        return Err(Error::new(format!("has the shape {:?}, but ends early", header.shape)));
    }
    if order == '>' {
        elements.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    let (dtype, elements) = match (kind, size) {
        ('f', 4) => (DType::F32, elements),
        ('f', 8) if round => (DType::F32, rounded(&elements)),
        ('i', 1) => (DType::I8, elements),
        ('u', 1) => (DType::U8, elements),
        ('i', 2) => (DType::I16, elements),
        ('i', 4) => (DType::I32, elements),
        ('i', 8) => (DType::I64, elements),
        ('b', 1) => (DType::Bool, elements.iter().map(|&byte| u8::from(byte != 0)).collect()),
        ('U' | 'S', _) => {
            return Err(Error::new(
                "has texts; save numbers, such as numpy.unique(labels, return_inverse=True)[1]",
            ))
        }
        _ => {
            let element = &header.element;
            return Err(Error::new(format!(
                "has elements of type {element}; save it in the model's own type, with numpy.astype"
            )));
        }
    };
    let shape = header.shape.iter().map(|&dim| usize::try_from(dim)).collect::<std::result::Result<_, _>>();
    let shape =
        shape.map_err(|_| Error::new(format!("has the shape {:?}, which is too large", header.shape)))?;
    Ok(Array { dtype, shape, data: Data::new(elements) })
}

/// An array as a file.
pub(super) fn written(array: &Array) -> Vec<u8> {
    let element = match array.dtype {
        DType::F32 => "<f4",
        DType::I8 => "|i1",
        DType::U8 => "|u1",
        DType::Bool => "|b1",
        DType::I16 => "<i2",
        DType::I32 => "<i4",
        DType::I64 => "<i8",
    };
    let dims: Vec<String> = array.shape.iter().map(usize::to_string).collect();
    // A tuple of one has a comma.
    let shape = if let [dim] = &dims[..] { format!("{dim},") } else { dims.join(", ") };
    let text = format!("{{'descr': '{element}', 'fortran_order': False, 'shape': ({shape}), }}");
    // Elements begin at a multiple of 64 bytes. A tensor has few dimensions: the length fits.
    let padded = (text.len() + 11).next_multiple_of(64) - 10;
    let mut file = MAGIC.to_vec();
    file.extend([1, 0]);
    file.extend((padded as u16).to_le_bytes());
    file.extend(format!("{text:<width$}\n", width = padded - 1).into_bytes());
    file.extend_from_slice(array.data.bytes());
    file
}

/// The header, and how many bytes stand before the elements.
fn header(file: &mut impl Read) -> Result<(Header, u64)> {
    let mut fixed = [0; 8];
    file.read_exact(&mut fixed).map_err(damaged)?;
    if !fixed.starts_with(MAGIC) {
        return Err(Error::new("is no NumPy array (.npy)"));
    }
    let mut length = [0; 4];
    let digits = match fixed[6] {
        1 => 2,
        2 | 3 => 4,
        version => {
            return Err(Error::new(format!("is of version {version} of NumPy's format, which is not known")))
        }
    };
    file.read_exact(&mut length[..digits]).map_err(damaged)?;
    let length = u32::from_le_bytes(length) as usize;
    if length > MOST_HEADER {
        return Err(Error::new(format!(
            "has a header of {length} bytes: it is damaged, or no array of numbers"
        )));
    }
    let mut text = vec![0; length];
    file.read_exact(&mut text).map_err(damaged)?;
    let text = String::from_utf8_lossy(&text);
    Ok((Words(&text).header()?, (8 + digits + length) as u64))
}

/// Byte order, kind and bytes of an element.
fn element(text: &str) -> Result<(char, char, usize)> {
    let mut letters = text.chars();
    let (order, kind) = (letters.next(), letters.next());
    match (order, kind, letters.as_str().parse()) {
        (Some(order @ ('<' | '>' | '|' | '=')), Some(kind), Ok(size)) => Ok((order, kind, size)),
        // Objects have no size.
        _ => Err(Error::new(format!(
            "has elements of type {text}; save it in the model's own type, with numpy.astype"
        ))),
    }
}

fn rounded(doubles: &[u8]) -> Vec<u8> {
    let double = |bytes: &[u8]| f64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
    doubles.chunks_exact(8).flat_map(|bytes| (double(bytes) as f32).to_le_bytes()).collect()
}

fn damaged(error: std::io::Error) -> Error {
    Error::new(format!("is damaged: {error}"))
}

/// The rest of a header: a dictionary of Python with `descr`, `fortran_order` and `shape`.
struct Words<'t>(&'t str);

impl<'t> Words<'t> {
    fn header(mut self) -> Result<Header> {
        let (mut element, mut order, mut shape) = (None, None, None);
        self.dictionary(&mut element, &mut order, &mut shape)
            .filter(|()| self.0.trim().is_empty())
            .and_then(|()| {
                Some(Header { element: element.clone()?, is_column_major: order?, shape: shape.clone()? })
            })
            .ok_or_else(|| match &element {
                None if shape.is_none() && self.0.starts_with('[') => Error::new("has a structured type"),
                _ => Error::new("has a header that is not NumPy's: it is damaged"),
            })
    }

    /// What does not stand there stays empty; nothing is where something else stands there.
    fn dictionary(
        &mut self,
        element: &mut Option<String>,
        order: &mut Option<bool>,
        shape: &mut Option<Vec<u64>>,
    ) -> Option<()> {
        self.sign('{')?;
        while self.sign('}').is_none() {
            let key = self.text()?;
            self.sign(':')?;
            match key {
                "descr" => *element = Some(self.text()?.to_owned()),
                "fortran_order" => *order = Some(self.truth()?),
                "shape" => *shape = Some(self.numbers()?),
                _ => return None,
            }
            if self.sign(',').is_none() && !self.0.trim_start().starts_with('}') {
                return None;
            }
        }
        Some(())
    }

    fn sign(&mut self, sign: char) -> Option<()> {
        self.0 = self.0.trim_start();
        self.0 = self.0.strip_prefix(sign)?;
        Some(())
    }

    fn text(&mut self) -> Option<&'t str> {
        let quote = if self.sign('\'').is_some() { '\'' } else { self.sign('"').map(|()| '"')? };
        let (text, rest) = self.0.split_once(quote)?;
        self.0 = rest;
        Some(text)
    }

    fn truth(&mut self) -> Option<bool> {
        let rest = self.0.trim_start();
        let (truth, rest) = match rest.strip_prefix("True") {
            Some(rest) => (true, rest),
            None => (false, rest.strip_prefix("False")?),
        };
        self.0 = rest;
        Some(truth)
    }

    fn numbers(&mut self) -> Option<Vec<u64>> {
        self.sign('(')?;
        let mut numbers = Vec::new();
        while self.sign(')').is_none() {
            self.0 = self.0.trim_start();
            let end = self.0.find(|c: char| !c.is_ascii_digit())?;
            let (digits, rest) = self.0.split_at(end);
            numbers.push(digits.parse().ok()?);
            // Python 2 wrote long integers so.
            self.0 = rest.strip_prefix('L').unwrap_or(rest);
            if self.sign(',').is_none() && !self.0.trim_start().starts_with(')') {
                return None;
            }
        }
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, header: &str, elements: &[u8]) -> Vec<u8> {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        match version {
            1 => file.extend((header.len() as u16).to_le_bytes()),
            _ => file.extend((header.len() as u32).to_le_bytes()),
        }
        file.extend(header.as_bytes());
        file.extend(elements);
        file
    }

    fn read_whole(file: &[u8]) -> Result<Array> {
        read(file.len() as u64, file, false)
    }

    #[test]
    fn headers_are_those_of_numpy() {
        let header = "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 1), }         \n";
        for version in 1..=3 {
            let array = read_whole(&file(version, header, &[1, 0, 255, 255])).unwrap();
            assert_eq!(
                (array.dtype, &array.shape[..], array.data.bytes()),
                (DType::I16, &[2, 1][..], &[1, 0, 255, 255][..])
            );
        }
        let swapped = file(1, &header.replace('<', ">").replace("(2, 1)", "(2L,)"), &[0, 1, 255, 255]);
        assert_eq!(read_whole(&swapped).unwrap().data.bytes(), [1, 0, 255, 255]);
        let scalar = file(1, "{'shape': (), 'fortran_order':False,'descr':'|b1'}", &[2]);
        let array = read_whole(&scalar).unwrap();
        assert_eq!((array.dtype, array.shape.len(), array.data.bytes()), (DType::Bool, 0, &[1][..]));
        let doubles =
            file(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", &0.1f64.to_le_bytes());
        assert!(read_whole(&doubles).unwrap_err().to_string().contains("elements of type <f8"));
        assert_eq!(read(doubles.len() as u64, &doubles[..], true).unwrap().data.to_f32(), [0.1]);
    }

    #[test]
    fn what_is_refused_says_why() {
        let plain = "{'descr': '|i1', 'fortran_order': False, 'shape': (2,), }";
        let deep = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {}", "(".repeat(60_000));
        let cases = [
            (file(1, &plain.replace("False", "True"), &[0; 2]), "column-major"),
            (file(1, &plain.replace("'|i1'", "[('a', '<f4')]"), &[0; 8]), "has a structured type"),
            (file(1, &plain.replace("|i1", "<U4"), &[0; 32]), "has texts"),
            (file(1, &plain.replace("|i1", "|O"), &[0; 2]), "elements of type |O"),
            (file(1, &plain.replace("|i1", "<f2"), &[0; 4]), "elements of type <f2"),
            (file(1, plain, &[0]), "has the shape [2], but only"),
            (file(1, &plain.replace("(2,)", "(4294967296, 4294967296)"), &[]), "but only"),
            (file(1, &plain.replace("(2,)", "(-2,)"), &[0; 2]), "not NumPy's"),
            (file(1, &plain.replace("shape", "size"), &[0; 2]), "not NumPy's"),
            (file(1, &deep, &[]), "not NumPy's"),
            (file(2, "", &[])[..8].iter().copied().chain([255; 4]).collect(), "a header of 4294967295 bytes"),
            (file(9, plain, &[0; 2]), "version 9"),
            (b"PK\x03\x04 and more".to_vec(), "no NumPy array"),
            (MAGIC.to_vec(), "is damaged"),
        ];
        for (file, says) in cases {
            let message = read_whole(&file).unwrap_err().to_string();
            assert!(message.contains(says), "{message}: {says}");
        }
        let cut = file(1, plain, &[0]);
        let message = read(1000, &cut[..], false).unwrap_err().to_string();
        assert!(message.contains("ends early"), "{message}");
    }
}
