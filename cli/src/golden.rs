//! Golden files: NumPy archives with inputs and expected outputs.
//!
//! `in_k` and `out_k` are the model's k-th input and output, in the model's own types; the first axis counts cases. The cases of a
//! stateful model are consecutive steps of one sequence.

use anyhow::{bail, Context, Result};
use kiln_codegen::ir::{DType, Data};
use npyz::{DType as NpyType, NpyFile, TypeChar};
use std::io::Read;
use std::path::Path;
use zip::result::ZipError;
use zip::ZipArchive;

/// Cases of one model.
#[derive(Clone, Debug)]
pub struct Golden {
    /// `inputs[case][k]`.
    pub inputs: Vec<Vec<Data>>,
    /// `outputs[case][k]`.
    pub outputs: Vec<Vec<Data>>,
    /// Element types of the outputs.
    pub output_types: Vec<DType>,
}

impl Golden {
    /// Reads an archive.
    ///
    /// # Errors
    /// Says which array is missing or odd.
    pub fn read(path: &Path) -> Result<Golden> {
        let file = std::fs::File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
        let mut archive = ZipArchive::new(std::io::BufReader::new(file))
            .with_context(|| format!("`{}` is no NumPy archive (.npz)", path.display()))?;
        let mut read_all = |prefix: &str| -> Result<Vec<Array>> {
            let mut arrays = Vec::new();
            loop {
                let name = format!("{prefix}_{}", arrays.len());
                match archive.by_name(&format!("{name}.npy")) {
                    Ok(entry) => arrays.push(Array::read(entry).with_context(|| format!("array `{name}`"))?),
                    Err(ZipError::FileNotFound) => return Ok(arrays),
                    Err(error) => return Err(error).with_context(|| format!("array `{name}`")),
                }
            }
        };
        let (inputs, outputs) = (read_all("in")?, read_all("out")?);
        if inputs.is_empty() || outputs.is_empty() {
            bail!("`{}` has no arrays `in_0` and `out_0`", path.display());
        }
        let cases = inputs[0].cases;
        if inputs.iter().chain(&outputs).any(|a| a.cases != cases) {
            bail!("the arrays of `{}` differ in their first axis, which counts the cases", path.display());
        }
        let by_case =
            |arrays: &[Array]| (0..cases).map(|c| arrays.iter().map(|a| a.case(c)).collect()).collect();
        Ok(Golden {
            inputs: by_case(&inputs),
            outputs: by_case(&outputs),
            output_types: outputs.iter().map(|a| a.dtype).collect(),
        })
    }
}

struct Array {
    dtype: DType,
    cases: usize,
    bytes: Vec<u8>,
}

impl Array {
    fn read(entry: impl Read) -> Result<Array> {
        let file = NpyFile::new(entry)?;
        let header = file.header().clone();
        let NpyType::Plain(plain) = header.dtype() else { bail!("has a structured type") };
        let dtype = match (plain.type_char(), plain.size_field()) {
            (TypeChar::Float, 4) => DType::F32,
            (TypeChar::Int, 1) => DType::I8,
            (TypeChar::Uint, 1) => DType::U8,
            (TypeChar::Int, 2) => DType::I16,
            (TypeChar::Int, 4) => DType::I32,
            (TypeChar::Int, 8) => DType::I64,
            (TypeChar::Bool, 1) => DType::Bool,
            _ => bail!("has elements of type {plain}"),
        };
        if header.order() != npyz::Order::C {
            bail!("is in column-major order; save it with numpy.ascontiguousarray");
        }
        let cases = header.shape().first().copied().unwrap_or(0) as usize;
        let bytes = match dtype {
            DType::F32 => le(file.into_vec::<f32>()?, f32::to_le_bytes),
            DType::I8 => le(file.into_vec::<i8>()?, i8::to_le_bytes),
            DType::U8 => file.into_vec::<u8>()?,
            DType::I16 => le(file.into_vec::<i16>()?, i16::to_le_bytes),
            DType::I32 => le(file.into_vec::<i32>()?, i32::to_le_bytes),
            DType::I64 => le(file.into_vec::<i64>()?, i64::to_le_bytes),
            DType::Bool => file.into_vec::<bool>()?.into_iter().map(u8::from).collect(),
        };
        Ok(Array { dtype, cases, bytes })
    }

    fn case(&self, index: usize) -> Data {
        let size = self.bytes.len() / self.cases.max(1);
        Data::new(&self.bytes[index * size..(index + 1) * size])
    }
}

fn le<T, const N: usize>(values: Vec<T>, bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.into_iter().flat_map(bytes).collect()
}
