//! NumPy archives.

use super::{npy, Error, Result};
use kiln_ir::{DType, Data};
use std::collections::BTreeMap;
use std::io::{BufReader, Cursor, Read, Seek, Write};
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
pub const MOST_BYTES: u64 = 1 << 30;

/// Reads every array of an archive, by name.
///
/// # Errors
/// Says which file or array cannot be read: one that is column-major, of elements that no tensor has, damaged or too large: all arrays together have at most 1 GiB.
pub fn read(path: &Path) -> Result<BTreeMap<String, Array>> {
    read_path(path, false)
}

/// As [`read`], and doubles become floats.
///
/// # Errors
/// As [`read`].
pub fn read_rounded(path: &Path) -> Result<BTreeMap<String, Array>> {
    read_path(path, true)
}

/// Reads every array of an archive, by name. Messages call the file `name`. All arrays together have at most `most` bytes.
///
/// # Errors
/// As [`read`].
pub fn read_from(file: impl Read + Seek, name: &str, most: u64) -> Result<BTreeMap<String, Array>> {
    read_within(file, name, most, false)
}

/// Reads a single array, as numpy.save writes it.
pub(super) fn read_single(mut file: impl Read + Seek, name: &str, most: u64) -> Result<Array> {
    let place = || format!("`{name}`");
    let failed = |error: std::io::Error| Error::new(error.to_string()).within(place());
    let bytes = file.seek(std::io::SeekFrom::End(0)).map_err(failed)?;
    file.rewind().map_err(failed)?;
    if bytes > most {
        return Err(
            Error::new(format!("has more than {most} bytes; save fewer cases in a file")).within(place())
        );
    }
    npy::read(bytes, file, false).map_err(|error| error.within(place()))
}

fn read_path(path: &Path, round: bool) -> Result<BTreeMap<String, Array>> {
    let name = path.display().to_string();
    let file =
        std::fs::File::open(path).map_err(|error| Error::new(format!("cannot open `{name}`: {error}")))?;
    read_within(BufReader::new(file), &name, MOST_BYTES, round)
}

fn read_within(
    file: impl Read + Seek,
    name: &str,
    most: u64,
    round: bool,
) -> Result<BTreeMap<String, Array>> {
    let said = |error: zip::result::ZipError| Error::new(error.to_string());
    let mut archive = ZipArchive::new(file).map_err(|error| {
        said(error).within(format!("`{name}` is no NumPy archive (.npz, as numpy.savez writes it)"))
    })?;
    let (mut arrays, mut left) = (BTreeMap::new(), most);
    for index in 0..archive.len() {
        let entry =
            archive.by_index(index).map_err(|error| said(error).within(format!("`{name}` is damaged")))?;
        let array = entry.name().trim_end_matches(".npy").to_string();
        let place = format!("array `{array}` of `{name}`");
        // What is read of it is never more than this.
        let Some(rest) = left.checked_sub(entry.size()) else {
            let text = format!(
                "with it, the arrays have more than {most} bytes unpacked; save fewer cases in a file"
            );
            return Err(Error::new(text).within(place));
        };
        left = rest;
        arrays.insert(array, read_entry(entry.size(), entry, round).map_err(|error| error.within(place))?);
    }
    Ok(arrays)
}

/// An entry that says that it has so many bytes; the archive has a checksum of them.
fn read_entry(bytes: u64, mut entry: impl Read, round: bool) -> Result<Array> {
    let array = npy::read(bytes, &mut entry, round)?;
    // The checksum is compared where the entry ends.
    let mut rest = entry.take(bytes.saturating_add(1));
    match std::io::copy(&mut rest, &mut std::io::sink()) {
        Ok(more) if more <= bytes => Ok(array),
        Ok(_) => Err(Error::new("is damaged: it is longer than the archive says")),
        Err(error) => Err(Error::new(format!("is damaged: {error}"))),
    }
}

/// An archive of arrays, by name, as numpy.savez_compressed writes it.
///
/// # Errors
/// Where the archive cannot be written.
pub fn written(arrays: &[(&str, &Array)]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let failed =
        |error: &dyn std::error::Error| Error::new(format!("the archive cannot be written: {error}"));
    for (name, array) in arrays {
        archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).map_err(|e| failed(&e))?;
        archive.write_all(&npy::written(array)).map_err(|e| failed(&e))?;
    }
    Ok(archive.finish().map_err(|e| failed(&e))?.into_inner())
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
        let c = array(DType::I64, Data::from_ints(DType::I64, [-1, i64::MAX]));
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
        let read = || read_from(std::fs::File::open(&path).unwrap(), "large.npz", 1 << 21);
        write(1 << 20, 1 << 20);
        assert_eq!(read().unwrap()["input_0"].shape, [1 << 20]);
        write((1 << 21) + 1, 3 << 20);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("more than 2097152 bytes"), "{error}");
        write(1 << 60, 1 << 20);
        let error = read().unwrap_err().to_string();
        assert!(error.contains("but only"), "{error}");
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn damaged_archives_say_so() {
        let x = Array { dtype: DType::I8, shape: vec![64], data: Data::new([3; 64]) };
        let whole = written(&[("x", &x)]).unwrap();
        let read = |bytes: &[u8]| read_from(Cursor::new(bytes), "x.npz", MOST_BYTES);
        assert_eq!(read(&whole).unwrap()["x"].data.bytes(), [3; 64]);
        let error = read(&whole[..whole.len() - 30]).unwrap_err().to_string();
        assert!(error.contains("`x.npz` is no NumPy archive"), "{error}");
        // No byte that is another makes it panic, and those of the array are found.
        let mut found = 0;
        for at in 0..whole.len() {
            let mut other = whole.clone();
            other[at] ^= 0x10;
            match read(&other) {
                Ok(arrays) => {
                    assert!(arrays.get("x").is_none_or(|x| x.data.bytes() == [3; 64]), "{at}");
                }
                Err(error) => found += usize::from(error.to_string().contains("array `x` of `x.npz`: ")),
            }
        }
        assert!(found > 20, "{found}");
    }
}
