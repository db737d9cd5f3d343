//! Golden files: NumPy archives with inputs and expected outputs.
//!
//! `in_k` and `out_k` are the model's k-th input and output, in the model's own types; the first axis counts cases. The cases of a
//! stateful model are consecutive steps of one sequence, unless the array `fresh` says that each starts afresh. A single array
//! (`.npy`, as numpy.save writes it) is `in_0`.

use super::noise::Noise;
use super::npz::{self, Array};
use super::run::interpret;
use super::{npy, Error, Result};
use kiln_ir::{DType, Data, Graph, ValueId};
use std::collections::BTreeMap;
use std::io::{BufReader, Read, Seek};
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

/// Inputs or outputs of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Its inputs.
    In,
    /// Its outputs.
    Out,
}

impl Golden {
    /// Reads a file.
    ///
    /// # Errors
    /// Says which array is missing or odd.
    pub fn read(path: &Path) -> Result<Golden> {
        let golden = Self::read_inputs(path)?;
        if golden.outputs.is_empty() {
            return Err(Error::new(format!(
                "`{}` lacks `out_0`: write it with numpy.savez(file, in_0=…, out_0=…), out_1 … where there are more",
                path.display()
            )));
        }
        Ok(golden)
    }

    /// The same of a file that may have inputs alone.
    ///
    /// # Errors
    /// As [`Golden::read`].
    pub fn read_inputs(path: &Path) -> Result<Golden> {
        let name = path.display();
        if !path.exists() {
            return Err(Error::new(format!(
                "there is no file `{name}`\n    help: `cargo kiln validate --help` says how to write one; without --golden, Kiln's interpreter answers noise"
            )));
        }
        let file = std::fs::File::open(path)
            .map_err(|error| Error::new(format!("cannot open `{name}`: {error}")))?;
        Self::read_from(BufReader::new(file), &name.to_string(), npz::MOST_BYTES)
    }

    /// Reads a file that may have inputs alone. Messages call it `name`. All its arrays together have at most `most` bytes.
    ///
    /// # Errors
    /// As [`Golden::read`].
    pub fn read_from(file: impl Read + Seek, name: &str, most: u64) -> Result<Golden> {
        let mut arrays = arrays(file, name, most)?;
        let found: Vec<String> = arrays.keys().map(|array| format!("`{array}`")).collect();
        let mut numbered = |prefix: &str| -> Vec<Array> {
            (0..).map_while(|k| arrays.remove(&format!("{prefix}_{k}"))).collect()
        };
        let (inputs, outputs) = (numbered("in"), numbered("out"));
        let fresh = arrays.remove("fresh").map(|array| array.data.bytes().iter().any(|&byte| byte != 0));
        if inputs.is_empty() {
            let found = if found.is_empty() { "no array".into() } else { found.join(", ") };
            return Err(Error::new(format!(
                "`{name}` lacks `in_0`, and has {found}: write it with numpy.savez(file, in_0=…), in_1 … where there are more"
            )));
        }
        let cases = inputs[0].shape.first();
        if inputs.iter().chain(&outputs).any(|a| a.shape.first() != cases) {
            return Err(Error::new(format!(
                "the arrays of `{name}` differ in their first axis, which counts the cases"
            )));
        }
        Ok(Golden {
            inputs: by_case(&inputs),
            outputs: by_case(&outputs),
            fresh,
            input_types: inputs.iter().map(|a| a.dtype).collect(),
            output_types: outputs.iter().map(|a| a.dtype).collect(),
        })
    }

    /// So many cases of noise, without outputs.
    pub fn noise(graph: &Graph, cases: usize) -> Golden {
        let mut noise = Noise::default();
        Self::of_inputs(graph, (0..cases).map(|_| noise.inputs(graph)).collect())
    }

    /// Cases without outputs: of each the model's inputs, as it stores them.
    pub fn of_inputs(graph: &Graph, inputs: Vec<Vec<Data>>) -> Golden {
        let types = |ids: &[ValueId]| ids.iter().map(|&id| graph.ty(id).dtype).collect();
        Golden {
            inputs,
            outputs: Vec::new(),
            fresh: None,
            input_types: types(&graph.inputs),
            output_types: types(&graph.outputs),
        }
    }

    /// So many cases of noise, and what the interpreter makes of them: the meaning of the model, but for what is wrong with the interpreter.
    ///
    /// # Errors
    /// Where the interpreter cannot run the model: a bug in Kiln.
    pub fn of_noise(graph: &Graph, cases: usize) -> Result<Golden> {
        let golden = Self::noise(graph, cases);
        Ok(Golden { outputs: interpret(graph, &golden.inputs)?, ..golden })
    }

    /// Refuses cases whose inputs or outputs are not those of a model.
    ///
    /// # Errors
    /// Says which array has what instead of what.
    pub fn check(&self, graph: &Graph, side: Side) -> Result<()> {
        let (what, ids, cases, types) = match side {
            Side::In => ("in", &graph.inputs, &self.inputs, &self.input_types),
            Side::Out => ("out", &graph.outputs, &self.outputs, &self.output_types),
        };
        let Some(arrays) = cases.first() else { return Err(Error::new("the file has no case")) };
        if ids.len() != arrays.len() {
            return Err(Error::new(format!(
                "the model has {} {what}puts, the file {}",
                ids.len(),
                arrays.len()
            )));
        }
        for (k, ((&id, data), dtype)) in ids.iter().zip(arrays).zip(types).enumerate() {
            let (ty, elements) = (graph.ty(id), data.bytes().len() / dtype.size());
            if ty.dtype != *dtype || ty.shape.numel() != elements {
                let dims: Vec<String> = ty.shape.dims().iter().map(usize::to_string).collect();
                return Err(Error::new(format!(
                    "the file is not of this model: `{what}_{k}` holds {elements} elements of {} a case, the model's {what}put {k} is {}{:?}\n    help: save it as {} of the shape [cases, {}]",
                    dtype.name(),
                    ty.dtype.name(),
                    ty.shape.dims(),
                    ty.dtype.name(),
                    dims.join(", "),
                )));
            }
        }
        Ok(())
    }
}

/// The arrays of an archive, or the only one of a `.npy` file.
fn arrays(mut file: impl Read + Seek, name: &str, most: u64) -> Result<BTreeMap<String, Array>> {
    let failed = |error: std::io::Error| Error::new(format!("cannot read `{name}`: {error}"));
    let mut begin = Vec::new();
    file.by_ref().take(npy::MAGIC.len() as u64).read_to_end(&mut begin).map_err(failed)?;
    file.rewind().map_err(failed)?;
    match begin == npy::MAGIC {
        true => Ok(BTreeMap::from([("in_0".into(), npz::read_single(file, name, most)?)])),
        false => npz::read_from(file, name, most),
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
    use std::io::Cursor;

    fn read(bytes: &[u8]) -> Result<Golden> {
        Golden::read_from(Cursor::new(bytes), "x.npz", 1 << 20)
    }

    #[test]
    fn a_file_that_is_missing_has_a_way_out() {
        let message = Golden::read(Path::new("none.npz")).unwrap_err().to_string();
        assert!(message.contains("no file `none.npz`\n    help: "), "{message}");
    }

    #[test]
    fn what_does_not_fit_says_what_would() {
        let graph = Graph::parse(
            "graph \"n\" {\n input %x: i8[1,2]\n %y: i8[1,2] = clip(%x) {clamp = 0..=9}\n return %y\n }",
        );
        let graph = graph.unwrap();
        let array = |dtype, shape: &[usize]| {
            let bytes = shape.iter().product::<usize>() * DType::size(dtype);
            Array { dtype, shape: shape.to_vec(), data: Data::new(vec![0; bytes]) }
        };
        let file = |arrays: &[(&str, Array)]| {
            let arrays: Vec<(&str, &Array)> = arrays.iter().map(|(name, array)| (*name, array)).collect();
            read(&npz::written(&arrays).unwrap())
        };
        let good =
            file(&[("in_0", array(DType::I8, &[3, 1, 2])), ("out_0", array(DType::I8, &[3, 2]))]).unwrap();
        assert_eq!((good.inputs.len(), good.fresh), (3, None));
        good.check(&graph, Side::In).and_then(|()| good.check(&graph, Side::Out)).unwrap();
        let refused =
            |golden: Result<Golden>| golden.and_then(|g| g.check(&graph, Side::In)).unwrap_err().to_string();
        let message = refused(file(&[("in_0", array(DType::F32, &[3, 1, 3]))]));
        assert!(
            message.contains("`in_0` holds 3 elements of f32 a case, the model's input 0 is i8[1, 2]"),
            "{message}"
        );
        assert!(message.contains("save it as i8 of the shape [cases, 1, 2]"), "{message}");
        let message =
            refused(file(&[("in_0", array(DType::I8, &[3, 2])), ("in_1", array(DType::I8, &[3, 2]))]));
        assert!(message.contains("the model has 1 inputs, the file 2"), "{message}");
        let message =
            refused(file(&[("x", array(DType::I8, &[3, 2])), ("out_0", array(DType::I8, &[3, 2]))]));
        assert!(message.contains("`x.npz` lacks `in_0`, and has `out_0`, `x`"), "{message}");
        let message =
            refused(file(&[("in_0", array(DType::I8, &[3, 2])), ("out_0", array(DType::I8, &[2, 2]))]));
        assert!(message.contains("differ in their first axis"), "{message}");
        let message = refused(file(&[("in_0", array(DType::I8, &[0, 2]))]));
        assert!(message.contains("no case"), "{message}");
        let single = read(&npy::written(&array(DType::I8, &[4, 1, 2]))).unwrap();
        assert_eq!((single.inputs.len(), single.outputs.len()), (4, 0));
        let large = refused(read(&npy::written(&array(DType::I8, &[1 << 21, 1]))));
        assert!(large.contains("more than 1048576 bytes"), "{large}");
    }
}
