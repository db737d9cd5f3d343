//! NumPy archives.

use anyhow::{bail, Context, Result};
use kiln_codegen::ir::{DType, Data};
use npyz::{DType as NpyType, NpyFile, TypeChar};
use std::collections::BTreeMap;
use std::io::{BufReader, Read};
use std::path::Path;
use zip::ZipArchive;

/// One array, row-major.
#[derive(Clone, Debug)]
pub struct Array {
    /// Element type.
    pub dtype: DType,
    /// Dimensions.
    pub shape: Vec<usize>,
    /// Elements.
    pub data: Data,
}

impl Array {
    /// The arrays along the first axis.
    pub fn split(&self) -> Vec<Data> {
        let count = self.shape.first().copied().unwrap_or(0);
        let size = self.data.bytes().len() / count.max(1);
        (0..count).map(|i| Data::new(&self.data.bytes()[i * size..(i + 1) * size])).collect()
    }
}

/// Reads every array of an archive, by name.
///
/// # Errors
/// Says which file or array cannot be read: one that is column-major, or of elements that no tensor has.
pub fn read(path: &Path) -> Result<BTreeMap<String, Array>> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).with_context(|| {
        format!("`{}` is no NumPy archive (.npz, as numpy.savez writes it)", path.display())
    })?;
    let mut arrays = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index)?;
        let name = entry.name().trim_end_matches(".npy").to_string();
        let array = read_array(entry).with_context(|| format!("array `{name}` of `{}`", path.display()))?;
        arrays.insert(name, array);
    }
    Ok(arrays)
}

fn read_array(entry: impl Read) -> Result<Array> {
    let file = NpyFile::new(entry)?;
    let header = file.header().clone();
    let NpyType::Plain(plain) = header.dtype() else { bail!("has a structured type") };
    if header.order() != npyz::Order::C {
        bail!("is in column-major order; save it with numpy.ascontiguousarray");
    }
    let shape = header.shape().iter().map(|&d| Ok(usize::try_from(d)?)).collect::<Result<Vec<_>>>()?;
    let (dtype, data) = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 4) => (DType::F32, Data::from_f32(&file.into_vec()?)),
        (TypeChar::Int, 1) => (DType::I8, Data::from_i8(&file.into_vec()?)),
        (TypeChar::Uint, 1) => (DType::U8, Data::new(file.into_vec::<u8>()?)),
        (TypeChar::Int, 2) => (DType::I16, words(file.into_vec()?, i16::to_le_bytes)),
        (TypeChar::Int, 4) => (DType::I32, Data::from_i32(&file.into_vec()?)),
        (TypeChar::Int, 8) => (DType::I64, words(file.into_vec()?, i64::to_le_bytes)),
        (TypeChar::Bool, 1) => (DType::Bool, words(file.into_vec()?, |b: bool| [u8::from(b)])),
        _ => bail!("has elements of type {plain}; save it in the model's own type, with numpy.astype"),
    };
    Ok(Array { dtype, shape, data })
}

fn words<T, const N: usize>(values: Vec<T>, bytes: impl Fn(T) -> [u8; N]) -> Data {
    Data::new(values.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}
