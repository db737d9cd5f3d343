//! Golden files: NumPy archives with inputs and expected outputs.
//!
//! `in_k` and `out_k` are the model's k-th input and output, in the model's own types; the first axis counts cases. The cases of a
//! stateful model are consecutive steps of one sequence, unless the array `fresh` says that each starts afresh.

use crate::noise::Noise;
use crate::npz::{self, Array};
use crate::place::interpret;
use anyhow::{bail, Result};
use kiln_codegen::ir::{DType, Data, Graph, ValueId};
use std::path::Path;

/// Cases of one model.
#[derive(Clone, Debug)]
pub struct Golden {
    /// `inputs[case][k]`.
    pub inputs: Vec<Vec<Data>>,
    /// `outputs[case][k]`.
    pub outputs: Vec<Vec<Data>>,
    /// What the array `fresh` says: whether a model with state is reset before each case. Without it, the cases are steps of one sequence.
    pub fresh: Option<bool>,
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
        let golden = Self::read_inputs(path)?;
        if golden.outputs.is_empty() {
            bail!(
                "`{}` lacks `out_0`: write it with numpy.savez(file, in_0=…, out_0=…), out_1 … where there are more",
                path.display()
            );
        }
        Ok(golden)
    }

    /// The same of an archive that may have inputs alone.
    ///
    /// # Errors
    /// As [`Golden::read`].
    pub fn read_inputs(path: &Path) -> Result<Golden> {
        if !path.exists() {
            bail!(
                "there is no file `{}`\n    help: `cargo kiln validate --help` says how to write one; without --golden, Kiln's interpreter answers noise",
                path.display()
            );
        }
        let mut arrays = npz::read(path)?;
        let mut numbered = |prefix: &str| -> Vec<Array> {
            (0..).map_while(|k| arrays.remove(&format!("{prefix}_{k}"))).collect()
        };
        let (inputs, outputs) = (numbered("in"), numbered("out"));
        let fresh = arrays.remove("fresh").map(|array| array.data.bytes().iter().any(|&byte| byte != 0));
        if inputs.is_empty() {
            bail!(
                "`{}` lacks `in_0`: write it with numpy.savez(file, in_0=…), in_1 … where there are more",
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
            fresh,
            input_types: inputs.iter().map(|a| a.dtype).collect(),
            output_types: outputs.iter().map(|a| a.dtype).collect(),
        })
    }

    /// So many cases of noise, and what the interpreter makes of them: the meaning of the model, but for what is wrong with the interpreter.
    ///
    /// # Errors
    /// Where the interpreter cannot run the model: a bug in Kiln.
    pub fn of_noise(graph: &Graph, cases: usize) -> Result<Golden> {
        let mut noise = Noise::default();
        let inputs: Vec<Vec<Data>> = (0..cases).map(|_| noise.inputs(graph)).collect();
        let types = |ids: &[ValueId]| ids.iter().map(|&id| graph.ty(id).dtype).collect();
        Ok(Golden {
            outputs: interpret(graph, &inputs)?,
            inputs,
            fresh: None,
            input_types: types(&graph.inputs),
            output_types: types(&graph.outputs),
        })
    }
}

/// `[k][case]` as `[case][k]`.
fn by_case(arrays: &[Array]) -> Vec<Vec<Data>> {
    let split: Vec<Vec<Data>> = arrays.iter().map(Array::split).collect();
    let cases = split.first().map_or(0, Vec::len);
    (0..cases).map(|case| split.iter().map(|cases| cases[case].clone()).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_missing_has_a_way_out() {
        let message = Golden::read(Path::new("none.npz")).unwrap_err().to_string();
        assert!(message.contains("no file `none.npz`\n    help: "), "{message}");
    }
}
