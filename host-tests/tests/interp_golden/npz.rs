//! Arrays of a NumPy archive.

use kiln_codegen::ir::{DType, Data};
use npyz::{DType as NpyType, NpyFile, Order};
use std::collections::HashMap;
use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use zip::ZipArchive;

/// One array, row-major.
pub(crate) struct Array {
    pub dtype: DType,
    pub shape: Vec<usize>,
    pub data: Data,
}

impl Array {
    /// The sub-arrays along the first axis.
    pub(crate) fn split(&self) -> Vec<Data> {
        let count = self.shape.first().copied().unwrap_or(0);
        let size = self.data.bytes().len() / count.max(1);
        (0..count).map(|i| Data::new(&self.data.bytes()[i * size..(i + 1) * size])).collect()
    }
}

/// Reads every array of an archive. Arrays of types that no tensor has are left out.
pub(crate) fn read(path: &Path) -> HashMap<String, Array> {
    read_all(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn read_all(path: &Path) -> Result<HashMap<String, Array>, Box<dyn Error>> {
    let mut archive = ZipArchive::new(BufReader::new(File::open(path)?))?;
    let mut arrays = HashMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index)?;
        let name = entry.name().trim_end_matches(".npy").to_string();
        let file = NpyFile::new(entry)?;
        assert_eq!(file.order(), Order::C, "{name} of {} is not row-major", path.display());
        let shape: Vec<usize> = file.shape().iter().map(|&d| d as usize).collect();
        let NpyType::Plain(kind) = file.dtype() else { continue };
        let (dtype, data) = match kind.to_string().trim_start_matches(['<', '|', '>', '=']) {
            "f4" => (DType::F32, Data::from_f32(&file.into_vec()?)),
            "i1" => (DType::I8, Data::from_i8(&file.into_vec()?)),
            "u1" => (DType::U8, Data::new(file.into_vec::<u8>()?)),
            "b1" => {
                let bools = file.into_vec::<bool>()?;
                (DType::Bool, Data::new(bools.into_iter().map(u8::from).collect::<Vec<_>>()))
            }
            "i2" => (DType::I16, words(file.into_vec()?, i16::to_le_bytes)),
            "i4" => (DType::I32, Data::from_i32(&file.into_vec()?)),
            "i8" => (DType::I64, words(file.into_vec()?, i64::to_le_bytes)),
            _ => continue,
        };
        arrays.insert(name, Array { dtype, shape, data });
    }
    Ok(arrays)
}

fn words<T, const N: usize>(values: Vec<T>, bytes: impl Fn(T) -> [u8; N]) -> Data {
    Data::new(values.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}
