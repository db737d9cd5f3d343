//! NumPy archives with elements of any width, which become those that tensors have.

use kiln_codegen::ir::{DType, Data};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// One array, row-major.
pub struct Array {
    /// Its sizes.
    pub dims: Vec<usize>,
    /// The type of its elements, as tensors have it.
    pub dtype: DType,
    bytes: Vec<u8>,
}

impl Array {
    /// The array at a place along the first axis.
    pub fn at(&self, index: usize) -> (&[usize], Data) {
        let each = self.bytes.len() / self.dims[0];
        (&self.dims[1..], Data::new(&self.bytes[index * each..][..each]))
    }

    /// As one of a list of one.
    pub fn alone(self) -> Array {
        Array { dims: [&[1], &self.dims[..]].concat(), ..self }
    }

    fn parse(bytes: &[u8]) -> Array {
        let (first, length) = match bytes[6] {
            1 => (10, u16::from_le_bytes([bytes[8], bytes[9]]).into()),
            _ => (12, u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize),
        };
        let header = std::str::from_utf8(&bytes[first..first + length]).unwrap();
        let between = |begin: &str, end: char| {
            let rest = header.split_once(begin).unwrap().1;
            rest.split_once(end).unwrap().0
        };
        let dims = between("(", ')').split(',').map(str::trim).filter(|dim| !dim.is_empty());
        let dims: Vec<usize> = dims.map(|dim| dim.parse().unwrap()).collect();
        let is_flat = dims.iter().filter(|&&dim| dim > 1).count() < 2;
        assert!(is_flat || header.contains("'fortran_order': False"), "{header}");
        let data = &bytes[first + length..];
        let floats = |list: Vec<f32>| (DType::F32, list.into_iter().flat_map(f32::to_le_bytes).collect());
        let (dtype, bytes) = match &between("'descr': '", '\'')[1..] {
            "f4" => (DType::F32, data.to_vec()),
            "f8" => {
                let doubles = data.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()) as f32);
                floats(doubles.collect())
            }
            "f2" => floats(data.chunks_exact(2).map(|b| widened(u16::from_le_bytes([b[0], b[1]]))).collect()),
            "i8" => (DType::I64, data.to_vec()),
            "i4" => (DType::I32, data.to_vec()),
            "i2" => (DType::I16, data.to_vec()),
            "i1" => (DType::I8, data.to_vec()),
            "u1" => (DType::U8, data.to_vec()),
            // Wider unsigned integers are signed ones of the same bits.
            "u2" => (DType::I16, data.to_vec()),
            "u4" => (DType::I32, data.to_vec()),
            "u8" => (DType::I64, data.to_vec()),
            "b1" => (DType::Bool, data.to_vec()),
            other => panic!("elements of type {other}"),
        };
        Array { dims, dtype, bytes }
    }
}

/// A half-precision float.
fn widened(half: u16) -> f32 {
    let (sign, exponent, fraction) = (half >> 15, half >> 10 & 31, half & 1023);
    let size = match exponent {
        0 => f32::from(fraction) * 2f32.powi(-24),
        31 if fraction == 0 => f32::INFINITY,
        31 => f32::NAN,
        _ => (1.0 + f32::from(fraction) / 1024.0) * 2f32.powi(i32::from(exponent) - 15),
    };
    if sign == 1 {
        -size
    } else {
        size
    }
}

/// The arrays of an archive, by name.
///
/// # Panics
/// Where it cannot be read.
pub fn archive(path: &Path) -> BTreeMap<String, Array> {
    let file = std::fs::File::open(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let mut archive = zip::ZipArchive::new(std::io::BufReader::new(file)).unwrap();
    let mut arrays = BTreeMap::new();
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).unwrap();
        let name = entry.name().trim_end_matches(".npy").to_owned();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        arrays.insert(name, Array::parse(&bytes));
    }
    arrays
}

/// The array of a file.
///
/// # Panics
/// Where it cannot be read.
pub fn file(path: &Path) -> Array {
    Array::parse(&std::fs::read(path).unwrap_or_else(|e| panic!("{}: {e}", path.display())))
}
