//! Checks a compiled model against Kiln's interpreter, in a crate's own tests.
//!
//! ```ignore
//! kiln::include_model!(pub Kws = "models/kws.tflite");
//!
//! #[test]
//! fn generated_code_means_what_the_model_means() {
//!     kiln_test::assert_equivalent!(Kws, "models/kws.tflite", cases = 100);
//! }
//! ```
//!
//! The generated code and the interpreter share nothing but the reader of the model file: the interpreter evaluates the graph as it
//! was read (with its edges dropped where it was compiled with `io = "quantized"`, and integers made of floats between integers), before any optimisation, schedule or plan, with
//! arithmetic of its own. Whatever the compiler did to the model has to give the same numbers. The crate under test may be
//! `#![no_std]`; `kiln-nn-test` is one of its `[dev-dependencies]`.
//!
//! - **Inputs** are random, from a fixed seed: integers over their full range, floats over [`Options::range`]. Among them are all lowest,
//!   all highest and all zero (zero point). Not NaN or infinities.
//! - **Integer outputs** have to be equal.
//! - **Float outputs** may differ by [`Options::float_bound`] times the largest magnitude in that output of that case.
//! - **Models with state** run sequences of [`Options::steps`] cases, each from a reset; others run all cases one after the other, so that
//!   nothing may be left over from one to the next.
//! - **Models fed by rows** get each case row by row. A sliding model gets one case behind the other without an end, and each of its outputs is
//!   one of the cases that are counted: the interpreter computes it from the whole window. Neither needs an option.

mod compare;
mod feed;
mod inputs;

use compare::Tally;
use inputs::Source;
use kiln::{Feed, Model, TensorInfo};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph, Type};
use std::fmt;
use std::path::Path;

pub use compare::{Mismatch, Number};

/// For [`assert_equivalent!`], whose caller may have no `std`.
#[doc(hidden)]
pub use std::path as __path;

/// Asserts that a generated model computes what its model file means. See the [crate documentation](crate).
///
/// `assert_equivalent!(Type, "path/to/model.tflite")`, the path relative to the crate that calls it. Then, in any order, fields of
/// [`Options`]: `cases = 100`, `seed = 7`, `range = (-60.0, 15.0)`, `float_bound = 1e-4`, `steps = 40`,
/// `io = "quantized"`, `reference = "litert"`, `features = "…"`, `qdq = "float"`, `float = "reproducible"`, `input_shapes = &["[1, 49, 40]"]`.
///
/// # Panics
///
/// With the first mismatch, their number, and the largest difference; or if the file cannot be read or is another model.
#[macro_export]
macro_rules! assert_equivalent {
    ($model:ty, $path:expr $(, $option:ident = $value:expr)* $(,)?) => {{
        #[allow(unused_mut)]
        let mut options = $crate::Options::default();
        $(options.$option = $value;)*
        let path = $crate::__path::Path::new(env!("CARGO_MANIFEST_DIR")).join($path);
        if let Err(failure) = $crate::check(|| <$model>::new(), &path, &options) {
            panic!("{} is not equivalent to {}: {failure}", stringify!($model), $path);
        }
    }};
}

/// How a model is tried.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Options {
    /// Number of inputs that are tried. Default 100.
    pub cases: usize,
    /// Seed of the random inputs; the same seed gives the same inputs. Default 1.
    pub seed: u64,
    /// Lowest and highest value of float inputs. Default -4 to 4, which suits normalised inputs and lies dense around the kinks
    /// of activations; choose the range of the real data where it is another.
    pub range: (f32, f32),
    /// Largest difference of a float output, relative to the largest magnitude in that output of that case. Default 1e-5.
    pub float_bound: f32,
    /// Steps of a sequence of a model with state, from a reset. Default 12.
    pub steps: usize,
    /// The option `io` that the model was compiled with. Default "native".
    pub io: &'static str,
    /// The option `reference` that the model was compiled with. Default "tflm".
    pub reference: &'static str,
    /// The option `features` that the model was compiled with; "" if none, the default.
    pub features: &'static str,
    /// The option `qdq` that the model was compiled with. Default "integers".
    pub qdq: &'static str,
    /// The option `qdq_drift` that the model was compiled with, if any.
    pub qdq_drift: Option<u32>,
    /// The option `float` that the model was compiled with. Default "fast". With "reproducible" floats have to have the interpreter's bits, whatever the bound.
    pub float: &'static str,
    /// The option `input_shape` that the model was compiled with, once for each input that has one. Default none.
    pub input_shapes: &'static [&'static str],
    /// The option `channels_last`, once for each input and output that is. Default none.
    pub channels_last: &'static [&'static str],
    /// The option `state`, `"h_out=h_in"` once for each pair. Default none.
    pub states: &'static [&'static str],
}

impl Default for Options {
    fn default() -> Self {
        Options {
            cases: 100,
            seed: 1,
            range: (-4.0, 4.0),
            float_bound: 1e-5,
            steps: 12,
            io: "native",
            reference: "tflm",
            features: "",
            qdq: "integers",
            qdq_drift: None,
            float: "fast",
            input_shapes: &[],
            channels_last: &[],
            states: &[],
        }
    }
}

impl Options {
    /// How much floats may differ; `None` where they have to have the same bits.
    fn bound(&self) -> Option<f64> {
        (self.float != "reproducible").then_some(f64::from(self.float_bound))
    }
}

/// What a check that passed has seen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// Inputs tried.
    pub cases: usize,
    /// Output elements compared.
    pub elements: usize,
    /// Largest difference of a float output that was within the bound, as [`Options::float_bound`] measures it.
    pub largest_relative: f64,
}

/// Why a check failed.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Failure {
    /// The model file could not be read or is no model that Kiln knows.
    Model(kiln_codegen::Error),
    /// The generated type has other inputs or outputs than the model.
    Interface(String),
    /// The interpreter refused the model or its inputs: a bug in Kiln.
    Interpreter(String),
    /// The outputs differ.
    Mismatch(Box<Mismatch>),
    /// The generated code panicked, or no thread could be had to run it in.
    Thread(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Model(error) => error.fmt(f),
            Failure::Interface(what) => write!(f, "the generated type belongs to another model: {what}"),
            Failure::Interpreter(what) => write!(f, "the interpreter failed: {what}"),
            Failure::Mismatch(mismatch) => mismatch.fmt(f),
            Failure::Thread(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for Failure {}

/// Checks the model that `new` makes against the model file. [`assert_equivalent!`] calls it.
///
/// `new` runs in a thread whose stack has room for the model, which may be larger than a test thread's.
pub fn check<M: Model>(
    new: impl FnOnce() -> M + Send,
    file: &Path,
    options: &Options,
) -> Result<Summary, Failure> {
    let bytes = kiln_codegen::read_file(file).map_err(Failure::Model)?;
    let name = kiln_codegen::model_name(file);
    let mut compiled_with = kiln_codegen::Options::default();
    compiled_with.set("io", options.io).map_err(Failure::Model)?;
    compiled_with.set("reference", options.reference).map_err(Failure::Model)?;
    if !options.features.is_empty() {
        compiled_with.set("features", options.features).map_err(Failure::Model)?;
    }
    compiled_with.set("qdq", options.qdq).map_err(Failure::Model)?;
    compiled_with.qdq_drift = options.qdq_drift;
    compiled_with.set("float", options.float).map_err(Failure::Model)?;
    let lists = [
        ("input_shape", options.input_shapes),
        ("channels_last", options.channels_last),
        ("state", options.states),
    ];
    for (option, values) in lists {
        for value in values {
            compiled_with.set(option, value).map_err(Failure::Model)?;
        }
    }
    let graph = kiln_codegen::import(&bytes, &name, &compiled_with).map_err(Failure::Model)?;
    check_graph(new, &kiln_codegen::reference(&graph, &compiled_with).map_err(Failure::Model)?, options)
}

/// As [`check`], for a graph that was read or built before.
pub fn check_graph<M: Model>(
    new: impl FnOnce() -> M + Send,
    graph: &Graph,
    options: &Options,
) -> Result<Summary, Failure> {
    // A debug build may hold several copies of the model on the stack while it is made.
    let stack = (16 << 20) + 4 * size_of::<M>();
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(stack).spawn_scoped(scope, || {
            let mut model = Box::new(new());
            run(model.as_mut(), graph, options)
        });
        let thread =
            thread.map_err(|error| Failure::Thread(format!("no thread to run the model in: {error}")))?;
        thread.join().unwrap_or_else(|_| Err(Failure::Thread("the model panicked".into())))
    })
}

fn run<M: Model>(model: &mut M, graph: &Graph, options: &Options) -> Result<Summary, Failure> {
    let types = |ids: &[_]| ids.iter().map(|&id| graph.ty(id).clone()).collect::<Vec<Type>>();
    let (inputs, outputs) = (types(&graph.inputs), types(&graph.outputs));
    // An input that is fed by rows may have another shape than in the file: that of the rows. The elements are the same.
    let same_shape = M::INFO.feed == Feed::Whole;
    compare_interfaces("input", M::INFO.inputs, &inputs, same_shape)?;
    compare_interfaces("output", M::INFO.outputs, &outputs, true)?;

    let stateful = !graph.states.is_empty();
    let mut machine = Machine::new(graph);
    let mut source = Source::new(options.seed, options.range);
    let mut tally = Tally::new(&outputs, options.bound());
    if M::INFO.feed == Feed::Sliding {
        let mut windows = feed::Windows::new(model, &inputs)?;
        for case in 0..options.cases {
            let window = windows.next(model, || source.case(case, &inputs))?;
            compare(model, &mut machine, case, &window, &mut tally)?;
        }
        return tally.finish(options.cases, None);
    }
    for case in 0..options.cases {
        if stateful && case % options.steps.max(1) == 0 {
            machine.reset();
            model.reset();
        }
        let data = source.case(case, &inputs);
        feed::give(model, &data)?;
        compare(model, &mut machine, case, &data, &mut tally)?;
    }
    tally.finish(options.cases, stateful.then_some(options.steps.max(1)))
}

/// The model's outputs against what the interpreter computes from `inputs`.
fn compare<M: Model>(
    model: &M,
    machine: &mut Machine,
    case: usize,
    inputs: &[Data],
    tally: &mut Tally<'_>,
) -> Result<(), Failure> {
    let expected = machine.run(inputs).map_err(|error| Failure::Interpreter(error.to_string()))?;
    for (k, y) in expected.iter().enumerate() {
        tally.compare(case, k, model.output_bytes(k), y).map_err(Failure::Interface)?;
    }
    Ok(())
}

fn compare_interfaces(
    what: &str,
    generated: &[TensorInfo],
    model: &[Type],
    same_shape: bool,
) -> Result<(), Failure> {
    if generated.len() != model.len() {
        let text = format!("{} {what}s, not {}", generated.len(), model.len());
        return Err(Failure::Interface(text));
    }
    for (k, (info, ty)) in generated.iter().zip(model).enumerate() {
        let same = match same_shape {
            true => info.shape == ty.shape.dims(),
            false => info.shape.iter().product::<usize>() == ty.shape.numel(),
        };
        if element(info.dtype) != ty.dtype || !same {
            let (dtype, shape) = (element(info.dtype).name(), info.shape);
            let text =
                format!("{what} {k} is {dtype}{shape:?}, not {}{:?}", ty.dtype.name(), ty.shape.dims());
            return Err(Failure::Interface(text));
        }
    }
    Ok(())
}

/// The compiler's name for an element type of the runtime.
fn element(dtype: kiln::DType) -> DType {
    match dtype {
        kiln::DType::F32 => DType::F32,
        kiln::DType::I8 => DType::I8,
        kiln::DType::U8 => DType::U8,
        kiln::DType::I16 => DType::I16,
        kiln::DType::I32 => DType::I32,
        kiln::DType::I64 => DType::I64,
        kiln::DType::Bool => DType::Bool,
    }
}
