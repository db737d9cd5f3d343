//! Golden cases: what a model is given, and what it has to answer.
use crate::step::Failure;
use std::fs;
use std::io::Read;
use std::path::Path;

/// Inputs and outputs of some cases.
#[derive(Debug)]
pub(super) struct Golden {
    /// Case by case, all inputs in the model's order and types.
    pub(super) inputs: Vec<u8>,
    /// NumPy's type and the shape of each input: `<f4:1x96x96x3`.
    pub(super) kinds: Vec<String>,
    /// Case by case, the elements of all outputs.
    pub(super) outputs: Vec<f32>,
    /// How many elements each output has.
    pub(super) sizes: Vec<usize>,
}

impl Golden {
    /// Reads `in_k` and `out_k` of an archive, whose first axis counts cases.
    ///
    /// # Errors
    /// Where it is no such archive.
    pub(super) fn read(path: &Path) -> Result<Golden, Failure> {
        let file = fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut archive = zip::ZipArchive::new(file)?;
        let mut arrays = |prefix: &str| -> Result<Vec<Array>, Failure> {
            let mut found = Vec::new();
            while let Some(index) = archive.index_for_name(&format!("{prefix}_{}.npy", found.len())) {
                let mut bytes = Vec::new();
                archive.by_index(index)?.read_to_end(&mut bytes)?;
                found.push(Array::parse(&bytes).map_err(|why| format!("{}: {why}", path.display()))?);
            }
            Ok(found)
        };
        let (inputs, outputs) = (arrays("in")?, arrays("out")?);
        Golden::of(&inputs, &outputs).ok_or_else(|| format!("{}: no cases", path.display()).into())
    }

    fn of(inputs: &[Array], outputs: &[Array]) -> Option<Golden> {
        let cases = inputs.first()?.cases;
        let mut golden = Golden { inputs: vec![], kinds: vec![], outputs: vec![], sizes: vec![] };
        if cases == 0 || inputs.iter().chain(outputs).any(|array| array.cases != cases) {
            return None;
        }
        for case in 0..cases {
            inputs.iter().for_each(|array| golden.inputs.extend(array.case(case)));
            for array in outputs {
                golden.outputs.extend(array.floats(case)?);
            }
        }
        golden.kinds.extend(inputs.iter().map(Array::kind));
        golden.sizes.extend(outputs.iter().map(|array| array.shape.iter().product::<usize>()));
        Some(golden)
    }
}

/// How far outputs lie from those that were expected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Difference {
    /// The part of them that lie further than is allowed.
    pub(super) share: f64,
    /// What is allowed.
    limit: f32,
    /// The largest.
    pub(super) most: f32,
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Difference { share, limit, most } = self;
        write!(f, "{:.1} % of the outputs differ by more than {limit}, at most by {most}", 100.0 * share)
    }
}

/// Compares outputs. What is no number differs without end, but from what is none either.
///
/// # Errors
/// Where they are not as many.
pub(super) fn compare(expected: &[f32], given: &[f32], allowed: Allowed) -> Result<Difference, String> {
    if expected.len() != given.len() {
        return Err(format!("it gives {} outputs for {}", given.len(), expected.len()));
    }
    let largest = expected.iter().fold(0.0f32, |most, x| most.max(x.abs()));
    let limit = match allowed {
        Allowed::Steps(steps) => steps,
        Allowed::OfLargest(part) => part * largest.max(f32::MIN_POSITIVE),
    };
    let difference = |(a, b): (&f32, &f32)| match (a.is_nan(), b.is_nan()) {
        (false, false) => (a - b).abs(),
        (true, true) => 0.0,
        _ => f32::INFINITY,
    };
    let differences = || expected.iter().zip(given).map(difference);
    let wrong = differences().filter(|difference| *difference > limit).count();
    let share = wrong as f64 / expected.len().max(1) as f64;
    Ok(Difference { share, limit, most: differences().fold(0.0, f32::max) })
}

/// How much outputs may differ before a model counts as another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Allowed {
    /// Integers.
    Steps(f32),
    /// Floats, as a part of the largest magnitude.
    OfLargest(f32),
}

/// An array of NumPy's, little-endian and row-major.
#[derive(Debug, PartialEq)]
struct Array {
    /// NumPy's name of the elements' type, `<f4`.
    descr: String,
    /// The first axis.
    cases: usize,
    /// The axes behind it.
    shape: Vec<usize>,
    data: Vec<u8>,
}

impl Array {
    /// Reads a file of NumPy's format, version 1 or 2.
    fn parse(bytes: &[u8]) -> Result<Array, String> {
        let damaged = || "no array of NumPy's".to_owned();
        let (magic, rest) = bytes.split_at_checked(8).ok_or_else(damaged)?;
        let (length, rest) = match magic {
            [0x93, b'N', b'U', b'M', b'P', b'Y', 1, _] => rest.split_at_checked(2),
            [0x93, b'N', b'U', b'M', b'P', b'Y', 2, _] => rest.split_at_checked(4),
            _ => None,
        }
        .ok_or_else(damaged)?;
        let length = length.iter().rev().fold(0usize, |sum, byte| (sum << 8) | usize::from(*byte));
        let (header, data) = rest.split_at_checked(length).ok_or_else(damaged)?;
        let header = std::str::from_utf8(header).map_err(|_| damaged())?;
        if header.contains("'fortran_order': True") {
            return Err("an array is column-major".into());
        }
        let between = |left: &str, right: char| Some(header.split_once(left)?.1.split_once(right)?.0);
        let descr = between("'descr': '", '\'').ok_or_else(damaged)?.to_owned();
        let axes = between("'shape': (", ')').ok_or_else(damaged)?;
        let axes = axes.split(',').map(str::trim).filter(|axis| !axis.is_empty());
        let axes: Vec<usize> = axes.map(str::parse).collect::<Result<_, _>>().map_err(|_| damaged())?;
        let (cases, shape) = axes.split_first().ok_or("an array has no axis of cases")?;
        Ok(Array { descr, cases: *cases, shape: shape.to_vec(), data: data.to_vec() })
    }

    /// The bytes of a case.
    fn case(&self, case: usize) -> &[u8] {
        let size = self.data.len() / self.cases.max(1);
        &self.data[case * size..(case + 1) * size]
    }

    /// The elements of a case; `None` of a type that no output has.
    fn floats(&self, case: usize) -> Option<Vec<f32>> {
        let element: fn(&[u8]) -> Option<f32> = match self.descr.as_str() {
            "|i1" => |raw| Some(f32::from(i8::from_le_bytes(raw.try_into().ok()?))),
            "|u1" | "|b1" => |raw| Some(f32::from(u8::from_le_bytes(raw.try_into().ok()?))),
            "<i2" => |raw| Some(f32::from(i16::from_le_bytes(raw.try_into().ok()?))),
            "<i4" => |raw| Some(i32::from_le_bytes(raw.try_into().ok()?) as f32),
            "<i8" => |raw| Some(i64::from_le_bytes(raw.try_into().ok()?) as f32),
            "<f4" => |raw| Some(f32::from_le_bytes(raw.try_into().ok()?)),
            _ => return None,
        };
        let size = self.descr.get(2..)?.parse().ok()?;
        self.case(case).chunks(size).map(element).collect()
    }

    fn kind(&self) -> String {
        let axes: Vec<String> = self.shape.iter().map(usize::to_string).collect();
        format!("{}:{}", self.descr, axes.join("x"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As NumPy 1 writes it.
    fn file(descr: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}\n");
        let length = (header.len() as u16).to_le_bytes();
        [&b"\x93NUMPY\x01\x00"[..], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn cases_are_along_the_first_axis() {
        let x = Array::parse(&file("|i1", "2, 3", &[1, 2, 3, 255, 5, 6])).unwrap();
        let y = Array::parse(&file("<f4", "2,", &[0, 0, 128, 63, 0, 0, 0, 192])).unwrap();
        assert_eq!((x.kind(), y.kind()), ("|i1:3".into(), "<f4:".into()));
        let golden = Golden::of(&[x], &[y]).unwrap();
        assert_eq!(golden.inputs, [1, 2, 3, 255, 5, 6]);
        assert_eq!((golden.outputs, golden.sizes), (vec![1.0, -2.0], vec![1]));
    }

    #[test]
    fn inputs_of_a_case_stand_together() {
        let x = Array::parse(&file("|i1", "2, 1", &[1, 2])).unwrap();
        let y = Array::parse(&file("|i1", "2, 2", &[3, 4, 5, 6])).unwrap();
        let golden = Golden::of(&[x, y], &[]).unwrap();
        assert_eq!(golden.inputs, [1, 3, 4, 2, 5, 6]);
    }

    #[test]
    fn what_is_no_array_is_refused() {
        assert!(Array::parse(b"PK").is_err());
        assert!(Array::parse(&file("<f4", "", &[0; 4])).is_err());
        let fortran = file("<f4", "2, 2", &[0; 16]);
        let fortran = String::from_utf8_lossy(&fortran[10..]).replace("False", "True ");
        let mut bytes = file("<f4", "2, 2", &[0; 16]);
        bytes.splice(10.., fortran.bytes());
        assert!(Array::parse(&bytes).unwrap_err().contains("column-major"));
    }

    #[test]
    fn differences_are_counted() {
        let expected = [10.0, -100.0, 3.0, 0.0];
        let share = |given: &[f32], allowed| compare(&expected, given, allowed).map(|found| found.share);
        assert_eq!(share(&[12.0, -100.0, 1.0, 1.0], Allowed::Steps(2.0)), Ok(0.0));
        let difference = compare(&expected, &[13.0, -100.0, 3.0, 0.0], Allowed::Steps(2.0)).unwrap();
        assert_eq!((difference.share, difference.most), (0.25, 3.0));
        let text = "25.0 % of the outputs differ by more than 2, at most by 3";
        assert_eq!(difference.to_string(), text);
        assert_eq!(share(&[10.05, -100.0, 3.0, 0.0], Allowed::OfLargest(1e-3)), Ok(0.0));
        assert_eq!(share(&[10.2, -100.0, 3.0, 0.0], Allowed::OfLargest(1e-3)), Ok(0.25));
        assert_eq!(share(&[f32::NAN, -100.0, 3.0, 0.0], Allowed::Steps(2.0)), Ok(0.25));
        assert!(share(&[10.0], Allowed::Steps(2.0)).is_err());
    }
}
