//! NumPy archives.

use anyhow::{bail, Context, Result};
use kiln_codegen::ir::{DType, Data};
use npyz::{AutoSerialize, DType as NpyType, NpyFile, TypeChar, WriteOptions, WriterBuilder as _};
use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Read, Write};
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

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

/// Most bytes of all arrays of an archive, unpacked.
const MOST_BYTES: u64 = 1 << 30;

/// Reads every array of an archive, by name.
///
/// # Errors
/// Says which file or array cannot be read: one that is column-major, of elements that no tensor has, or too large: all arrays together have at most 1 GiB.
pub fn read(path: &Path) -> Result<BTreeMap<String, Array>> {
    read_within(path, MOST_BYTES, false)
}

/// As [`read`], and doubles become floats.
///
/// # Errors
/// As [`read`].
pub fn read_rounded(path: &Path) -> Result<BTreeMap<String, Array>> {
    read_within(path, MOST_BYTES, true)
}

fn read_within(path: &Path, most: u64, round: bool) -> Result<BTreeMap<String, Array>> {
    let file = std::fs::File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut archive = ZipArchive::new(BufReader::new(file)).with_context(|| {
        format!("`{}` is no NumPy archive (.npz, as numpy.savez writes it)", path.display())
    })?;
    let (mut arrays, mut left) = (BTreeMap::new(), most);
    for index in 0..archive.len() {
        let entry = archive.by_index(index)?;
        let name = entry.name().trim_end_matches(".npy").to_string();
        let place = || format!("array `{name}` of `{}`", path.display());
        left = left
            .checked_sub(entry.size())
            .with_context(|| {
                format!(
                    "with it, the arrays have more than {most} bytes unpacked; save fewer cases in a file"
                )
            })
            .with_context(place)?;
        let array = read_array(entry.size(), entry, round).with_context(place)?;
        arrays.insert(name, array);
    }
    Ok(arrays)
}

/// An array that has `bytes` with its header. With `round`, doubles are rounded to floats.
fn read_array(bytes: u64, entry: impl Read, round: bool) -> Result<Array> {
    let file = NpyFile::new(entry.take(bytes))?;
    let header = file.header().clone();
    let NpyType::Plain(plain) = header.dtype() else { bail!("has a structured type") };
    if header.order() != npyz::Order::C {
        bail!("is in column-major order; save it with numpy.ascontiguousarray");
    }
    let count = header.shape().iter().try_fold(1u64, |n, &dim| n.checked_mul(dim));
    let needed = count.and_then(|count| count.checked_mul(plain.num_bytes()? as u64));
    if needed.is_none_or(|needed| needed > bytes) {
        bail!("has the shape {:?}, but only {bytes} bytes", header.shape());
    }
    let shape = header.shape().iter().map(|&d| Ok(usize::try_from(d)?)).collect::<Result<Vec<_>>>()?;
    let (dtype, data) = match (plain.type_char(), plain.size_field()) {
        (TypeChar::Float, 4) => (DType::F32, Data::from_f32(&file.into_vec()?)),
        (TypeChar::Float, 8) if round => {
            let doubles: Vec<f64> = file.into_vec()?;
            (DType::F32, Data::from_f32(&doubles.iter().map(|&double| double as f32).collect::<Vec<_>>()))
        }
        (TypeChar::Int, 1) => (DType::I8, Data::from_i8(&file.into_vec()?)),
        (TypeChar::Uint, 1) => (DType::U8, Data::new(file.into_vec::<u8>()?)),
        (TypeChar::Int, 2) => (DType::I16, words(file.into_vec()?, i16::to_le_bytes)),
        (TypeChar::Int, 4) => (DType::I32, Data::from_i32(&file.into_vec()?)),
        (TypeChar::Int, 8) => (DType::I64, words(file.into_vec()?, i64::to_le_bytes)),
        (TypeChar::Bool, 1) => (DType::Bool, words(file.into_vec()?, |b: bool| [u8::from(b)])),
        (TypeChar::UnicodeStr | TypeChar::ByteStr, _) => {
            bail!("has texts; save numbers, such as numpy.unique(labels, return_inverse=True)[1]")
        }
        _ => bail!("has elements of type {plain}; save it in the model's own type, with numpy.astype"),
    };
    Ok(Array { dtype, shape, data })
}

/// An archive of arrays, by name, as numpy.savez writes it.
///
/// # Errors
/// Where the archive cannot be written.
pub fn written(arrays: &[(&str, &Array)]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default())?;
        let shape: Vec<u64> = array.shape.iter().map(|&dim| dim as u64).collect();
        match array.dtype {
            DType::U8 => write_array(&mut archive, &shape, array.data.bytes().iter().copied())?,
            DType::I16 => write_array(&mut archive, &shape, halves(&array.data))?,
            DType::I32 => write_array(&mut archive, &shape, array.data.to_i32().into_iter())?,
            DType::F32 => write_array(&mut archive, &shape, array.data.to_f32().into_iter())?,
            DType::I8 => write_array(&mut archive, &shape, array.data.to_i8().into_iter())?,
            DType::I64 => write_array(&mut archive, &shape, array.data.to_ints(DType::I64).into_iter())?,
            DType::Bool => {
                write_array(&mut archive, &shape, array.data.bytes().iter().map(|&byte| byte != 0))?
            }
        }
    }
    Ok(archive.finish()?.into_inner())
}

fn halves(data: &Data) -> impl Iterator<Item = i16> + '_ {
    data.bytes().chunks_exact(2).map(|half| i16::from_le_bytes([half[0], half[1]]))
}

fn write_array<T: AutoSerialize>(
    to: impl Write,
    shape: &[u64],
    values: impl Iterator<Item = T>,
) -> Result<()> {
    let mut writer = WriteOptions::new().default_dtype().shape(shape).writer(to).begin_nd()?;
    writer.extend(values)?;
    Ok(writer.finish()?)
}

fn words<T, const N: usize>(values: Vec<T>, bytes: impl Fn(T) -> [u8; N]) -> Data {
    Data::new(values.into_iter().flat_map(bytes).collect::<Vec<u8>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let path = std::env::temp_dir().join(format!("kiln-written-{}.npz", std::process::id()));
        let array = |dtype, data| Array { dtype, shape: vec![2, 1], data };
        let x = array(DType::I16, Data::from_i16(&[-5, 300]));
        let y = array(DType::I32, Data::from_i32(&[1, 0]));
        let z = array(DType::F32, Data::from_f32(&[0.5, -1e9]));
        let a = array(DType::I8, Data::from_i8(&[-128, 3]));
        let b = array(DType::Bool, Data::new([1, 0]));
        let c = array(DType::I64, words(vec![-1, i64::MAX], i64::to_le_bytes));
        let all = [("x", &x), ("y", &y), ("z", &z), ("a", &a), ("b", &b), ("c", &c)];
        std::fs::write(&path, written(&all).unwrap()).unwrap();
        let read = read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        for (name, array) in [("x", x), ("y", y), ("z", z), ("a", a), ("b", b), ("c", c)] {
            let read = &read[name];
            assert_eq!((read.dtype, &read.shape), (array.dtype, &array.shape));
            assert_eq!(read.data.bytes(), array.data.bytes());
        }
    }

    /// An array of zeros packs a thousand times smaller; one that says that it is large need not be.
    #[test]
    fn archives_that_unpack_to_much_are_refused() {
        let path = std::env::temp_dir().join(format!("kiln-large-{}.npz", std::process::id()));
        let header = |len: u64| {
            let text = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': ({len},), }}");
            let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
            let padded = (text.len() + 11).next_multiple_of(64) - 10;
            bytes.extend((padded as u16).to_le_bytes());
            bytes.extend(format!("{text:<width$}\n", width = padded - 1).into_bytes());
            bytes
        };
        let write = |said: u64, len: u64| {
            let mut archive = zip::ZipWriter::new(std::fs::File::create(&path).unwrap());
            archive.start_file("input_0.npy", SimpleFileOptions::default()).unwrap();
            archive.write_all(&header(said)).unwrap();
            let zeros = vec![0; 1 << 20];
            (0..len >> 20).for_each(|_| archive.write_all(&zeros).unwrap());
            archive.finish().unwrap();
        };
        write(1 << 20, 1 << 20);
        assert_eq!(read_within(&path, 1 << 21, false).unwrap()["input_0"].shape, [1 << 20]);
        write((1 << 21) + 1, 3 << 20);
        let error = format!("{:#}", read_within(&path, 1 << 21, false).unwrap_err());
        assert!(error.contains("more than 2097152 bytes"), "{error}");
        write(1 << 60, 1 << 20);
        let error = format!("{:#}", read_within(&path, 1 << 21, false).unwrap_err());
        assert!(error.contains("but only"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }
}
