//! Golden files: NumPy archives with inputs and expected outputs.
//!
//! `in_k` and `out_k` are the model's k-th input and output, in the model's own types; the first axis counts cases. The cases of a
//! stateful model are consecutive steps of one sequence.

use crate::npz::{self, Array};
use anyhow::{bail, Result};
use kiln_codegen::ir::{DType, Data};
use std::path::Path;

/// Cases of one model.
#[derive(Clone, Debug)]
pub struct Golden {
    /// `inputs[case][k]`.
    pub inputs: Vec<Vec<Data>>,
    /// `outputs[case][k]`.
    pub outputs: Vec<Vec<Data>>,
    /// Element types of the inputs.
    pub input_types: Vec<DType>,
    /// Element types of the outputs.
    pub output_types: Vec<DType>,
}

impl Golden {
    /// Reads an archive.
    ///
    /// # Errors
    /// Says which array is missing or odd.
    pub fn read(path: &Path) -> Result<Golden> {
        let mut arrays = npz::read(path)?;
        let mut numbered = |prefix: &str| -> Vec<Array> {
            (0..).map_while(|k| arrays.remove(&format!("{prefix}_{k}"))).collect()
        };
        let (inputs, outputs) = (numbered("in"), numbered("out"));
        if inputs.is_empty() || outputs.is_empty() {
            bail!(
                "`{}` lacks `in_0` or `out_0`: inputs are named in_0, in_1, …, outputs out_0, out_1, …",
                path.display()
            );
        }
        let cases = inputs[0].shape.first();
        if inputs.iter().chain(&outputs).any(|a| a.shape.first() != cases) {
            bail!("the arrays of `{}` differ in their first axis, which counts the cases", path.display());
        }
        Ok(Golden {
            inputs: by_case(&inputs),
            outputs: by_case(&outputs),
            input_types: inputs.iter().map(|a| a.dtype).collect(),
            output_types: outputs.iter().map(|a| a.dtype).collect(),
        })
    }
}

/// `[k][case]` as `[case][k]`.
fn by_case(arrays: &[Array]) -> Vec<Vec<Data>> {
    let split: Vec<Vec<Data>> = arrays.iter().map(Array::split).collect();
    let cases = split.first().map_or(0, Vec::len);
    (0..cases).map(|case| split.iter().map(|cases| cases[case].clone()).collect()).collect()
}
