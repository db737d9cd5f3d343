//! What a user can ask for. Macro arguments, `Build` methods and command-line flags are the same set.

mod given;
#[cfg(test)]
mod tests;

use crate::error::{Error, Problem};
use crate::near::near;
use crate::source::Source;
use crate::{Isa, Target, UnknownTarget};
use kiln_kernel_table::Core;

/// The names that users write for the values of an option.
macro_rules! names {
    ($option:literal $type:ident: $($value:ident $name:literal),+) => {
        impl $type {
            /// The names users write.
            pub const NAMES: [&'static str; [$($name),+].len()] = [$($name),+];

            /// The name users write.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }
        }

        impl std::str::FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                match name {
                    $($name => Ok($type::$value),)+
                    _ => Err(bad_name($option, name, &Self::NAMES)),
                }
            }
        }
    };
}

/// What to favour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimize {
    /// Fewest cycles: whole tensors, one kernel call for each layer, unless a RAM budget asks for less.
    #[default]
    Speed,
    /// Least flash. The schedule is that of [`Optimize::Speed`]; the crate's own build decides how rustc optimises.
    Size,
    /// Least RAM: layers take turns row by row if that needs less, at the price of one kernel call for each row. With a RAM budget,
    /// the schedule with the fewest predicted cycles that fits.
    Memory,
}

names! { "optimize" Optimize: Speed "speed", Size "size", Memory "memory" }

/// How flash holds weights of few bits: `i8` between −8 and 7, floats that are integers of 4 or 8 bits with scales, and floats that are exact in half precision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weights {
    /// In 4, 8 or 16 bits. Portable kernels unpack them while reading: less flash, more cycles.
    Packed,
    /// In the width that kernels compute with.
    Widened,
}

names! { "weights" Weights: Packed "packed", Widened "widened" }

/// Which types the model's inputs and outputs have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Io {
    /// Those of the model file.
    #[default]
    Native,
    /// Quantised ones. A QUANTIZE that is the only reader of an input, and a DEQUANTIZE that writes an output, are dropped.
    Quantized,
}

names! { "io" Io: Native "native", Quantized "quantized" }

/// The reference to reproduce where TensorFlow Lite's two sets of reference kernels disagree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Reference {
    /// Those of TensorFlow Lite Micro.
    #[default]
    Tflm,
    /// Those of LiteRT: FULLY_CONNECTED of int8 rounds once.
    Litert,
}

names! { "reference" Reference: Tflm "tflm", Litert "litert" }

/// How layers of ONNX files in QDQ format are computed, which are floats between quantise and dequantise operators.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Qdq {
    /// In integers, which may differ from the floats by one step.
    #[default]
    Integers,
    /// In the floats that the file describes.
    Float,
}

names! { "qdq" Qdq: Integers "integers", Float "float" }

/// Which bits floats have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Float {
    /// Those that are computed fastest. Vectors of hosts add in another order, may round a product and a sum once, and have their own functions.
    #[default]
    Fast,
    /// The same on every processor: those of the portable kernels, which round each product and each sum, in one order.
    Reproducible,
}

names! { "float" Float: Fast "fast", Reproducible "reproducible" }

/// How a model is given its input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Input {
    /// All of it, before `invoke`.
    #[default]
    Whole,
    /// Row by row, to `push_row`: rows of the second axis, such as camera lines or audio frames. Only the rows that are needed are held. For models
    /// with one input, whose first layers go row by row.
    Rows,
    /// Row by row, to `slide`: with each row, the window of the latest rows is the input. Only what is new is computed. For models
    /// with one input that do not pad along the rows.
    Sliding,
}

names! { "input" Input: Whole "whole", Rows "rows", Sliding "sliding" }

/// What a model reports while it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Events {
    /// Nothing: there is no code for it.
    #[default]
    None,
    /// Each layer: how long it took, and the range of its values, to the observer of `kiln::events`.
    Layers,
}

names! { "events" Events: None "none", Layers "layers" }

/// A custom operator of a model, and the function that computes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomOp {
    /// Name of the operator in the model file.
    pub name: String,
    /// Path of the function, as the module that includes the model would write it: `crate::kernels::my_op`.
    pub path: String,
}

impl std::str::FromStr for CustomOp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let help = "write the operator's name and the path of its function: MyOp=crate::kernels::my_op";
        let wrong = || bad_option("custom_op", text, help);
        // No path has an equals sign before its generic arguments; a name may have any.
        let (name, path) = text.rsplit_once('=').ok_or_else(wrong)?;
        CustomOp::new(name.trim(), path).ok_or_else(wrong)
    }
}

impl CustomOp {
    /// `None` where one is empty. Whether the path is one is found when the model is compiled.
    pub(crate) fn new(name: &str, path: &str) -> Option<Self> {
        // Spaces mean nothing in a path.
        let path: String = path.split_whitespace().collect();
        (!name.is_empty() && !path.is_empty()).then(|| CustomOp { name: name.into(), path })
    }
}

/// The shape of an input, whose sizes the model file leaves open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputShape {
    /// Name of the input in the model file; absent where the model has one input.
    pub name: Option<String>,
    /// Its sizes, outermost first.
    pub dims: Vec<usize>,
}

impl std::str::FromStr for InputShape {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let help = "write sizes of at least 1, [1, 49, 40]; with the input's name if there are several inputs: audio=[1, 49, 40]";
        let wrong = || bad_option("input_shape", text, help);
        let (name, list) = text.rsplit_once('[').ok_or_else(wrong)?;
        let list = list.trim_end().strip_suffix(']').ok_or_else(wrong)?;
        let name = match name.trim() {
            "" => None,
            name => Some(name.strip_suffix('=').ok_or_else(wrong)?.trim().to_string()),
        };
        let size = |size: &str| size.trim().parse().ok().filter(|&size: &usize| size > 0);
        let dims = list.split(',').map(size).collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        Ok(InputShape { name, dims })
    }
}

impl<const N: usize> From<[usize; N]> for InputShape {
    fn from(dims: [usize; N]) -> Self {
        InputShape { name: None, dims: dims.to_vec() }
    }
}

impl<const N: usize> From<(&str, [usize; N])> for InputShape {
    fn from((name, dims): (&str, [usize; N])) -> Self {
        InputShape { name: Some(name.into()), dims: dims.to_vec() }
    }
}

/// A file with a written schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleFile {
    /// Its path: in a firmware crate relative to the crate's folder, on the command line to the current one.
    pub path: String,
    /// What is in it. The doors of the compiler read it: `None` before.
    pub text: Option<String>,
}

/// An output that becomes a state, and the input that it feeds in the next inference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatePair {
    /// Name of the output in the model file.
    pub output: String,
    /// Name of the input.
    pub input: String,
}

impl std::str::FromStr for StatePair {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let help = "write the name of the output and the name of the input that it feeds: h_out=h_in";
        let wrong = || bad_option("state", text, help);
        let (output, input) = text.split_once('=').ok_or_else(wrong)?;
        let (output, input) = (output.trim(), input.trim());
        match output.is_empty() || input.is_empty() || input.contains('=') {
            true => Err(wrong()),
            false => Ok(StatePair { output: output.into(), input: input.into() }),
        }
    }
}

/// Options of one compilation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Name of the generated type; from the file's name where absent.
    pub name: Option<String>,
    /// What to favour.
    pub optimize: Optimize,
    /// Budget for constants (weights, biases, multipliers, tables) in bytes.
    pub flash: Option<usize>,
    /// Budget for arena and state in bytes. Of the schedules that fit, the one with the fewest predicted cycles is taken.
    pub ram: Option<usize>,
    /// Budget for the predicted cycles of an inference. Of the schedules that take no more, the one with the least RAM is taken.
    pub cycles: Option<u64>,
    /// How many multiply-accumulates an inference may take, in thousandths of those of the model: more than 1000 let rows be computed again where less RAM is asked for than
    /// it takes to keep them.
    pub recompute: Option<u32>,
    /// Bytes of fast memory: an arena of at most that many holds the values with the most accesses, another one the rest.
    pub fast_ram: Option<usize>,
    /// How flash holds weights of few bits. By default they are widened; with [`Optimize::Size`], a layer is packed if that saves a kilobyte; and all are packed if the budget `flash` is missed otherwise.
    pub weights: Option<Weights>,
    /// Link section of the constants, e.g. `.flash2`.
    pub weights_section: Option<String>,
    /// Types of inputs and outputs.
    pub io: Io,
    /// How the input is given.
    pub input: Input,
    /// The lines of a camera that become the input, to `push_line`.
    pub source: Option<Source>,
    /// The reference to reproduce.
    pub reference: Reference,
    /// How layers in QDQ format are computed.
    pub qdq: Qdq,
    /// By how many steps outputs may drift when layers in QDQ format become integer layers: see [`Options::qdq_drift`].
    pub qdq_drift: Option<u32>,
    /// Which bits floats have.
    pub float: Float,
    /// Audio features in front of the model, as `kiln_codegen::features` reads them: the input is samples then.
    pub features: Option<String>,
    /// Sizes of inputs that the model file leaves open.
    pub input_shapes: Vec<InputShape>,
    /// Inputs and outputs of ONNX models, by name, that are channel-last: [n, h, w, c] where the file has [n, c, h, w].
    pub channels_last: Vec<String>,
    /// Outputs that the model keeps as states and feeds to inputs in the next inference.
    pub states: Vec<StatePair>,
    /// The functions of the model's custom operators.
    pub custom_ops: Vec<CustomOp>,
    /// The processor to compile for; [`Target::Portable`] if absent.
    pub target: Option<Target>,
    /// How many threads may compute a step together: see [`Options::cores`].
    pub cores: Option<usize>,
    /// What the model reports while it runs.
    pub events: Events,
    /// A schedule that was written by a person or by `cargo kiln tune`: the order of steps, which of them take turns, and their kernels.
    pub schedule: Option<ScheduleFile>,
    /// Emits a call of `kiln::trace` before every step, for measurements.
    pub trace: bool,
}

impl Options {
    /// Every option that a user sets by name.
    pub const NAMES: [&'static str; 25] = [
        "name",
        "optimize",
        "flash",
        "ram",
        "cycles",
        "recompute",
        "fast_ram",
        "weights",
        "weights_section",
        "io",
        "input",
        "source",
        "reference",
        "qdq",
        "qdq_drift",
        "float",
        "features",
        "input_shape",
        "channels_last",
        "state",
        "custom_op",
        "target",
        "cores",
        "events",
        "schedule",
    ];

    /// The processor to compile for.
    pub fn target(&self) -> Target {
        self.target.unwrap_or_default()
    }

    /// How many threads of the crew that `invoke_on` gets may compute a step together: on microcontrollers two cores. One by default.
    pub fn cores(&self) -> usize {
        self.cores.unwrap_or(1)
    }

    /// By how many steps outputs may drift when layers in QDQ format become integer layers; [`DRIFT`](Self::DRIFT) by default.
    pub fn qdq_drift(&self) -> u32 {
        self.qdq_drift.unwrap_or(Self::DRIFT)
    }

    /// The default of [`qdq_drift`](Self::qdq_drift): a quarter of the range of 8 bits. Behind a softmax, one step of its operand may be nearly as much.
    pub const DRIFT: u32 = 64;

    /// Whether cycles are predicted for the target: those of hosts are not.
    pub fn predicts_cycles(&self) -> bool {
        self.target().core() != Core::Host
    }

    /// Refuses options that do not go together.
    ///
    /// # Errors
    /// [`Error::Options`] for `cycles` where none are predicted, for `cores` where there are no cores to share steps, or no steps to share; and for a `source` that is not an input from above to below.
    pub fn check(&self) -> Result<(), Error> {
        self.check_source()?;
        if self.cycles.is_some() && !self.predicts_cycles() {
            return Err(Error::Options(Problem {
                place: "option `cycles`".into(),
                what: format!(
                    "cycles are predicted for microcontrollers, not for `{}`",
                    self.target().name()
                ),
                help: "remove the option, or name the processor: target = \"cortex-m4\"".into(),
            }));
        }
        let refused = |what: &str, help: &str| {
            Err(Error::Options(Problem {
                place: "option `cores`".into(),
                what: what.into(),
                help: help.into(),
            }))
        };
        let (target, most) = (self.target().name(), self.target().most_cores());
        match most {
            most if self.cores() <= most => {}
            2 => {
                return refused(
                    &format!("two cores share the steps of code for `{target}`, and no more"),
                    "use cores = 2",
                );
            }
            _ => {
                return refused(
                    &format!("code for `{target}` runs on one core: it has no kernels that can be shared"),
                    "remove the option, or compile for cortex-m0, cortex-m4, cortex-m33, rv32imac, or a host",
                );
            }
        }
        if self.cores() > 1 && !self.target().runs(Isa::Simd) && self.optimize == Optimize::Size {
            return refused(
                "with `optimize = \"size\"` one function serves all layers, and none of them is shared between two cores",
                "remove the option, or use optimize = \"speed\", or optimize = \"memory\"",
            );
        }
        if self.cores() > 1 && self.input != Input::Whole {
            let input = self.input.name();
            return refused(
                &format!("with `input = \"{input}\"` steps compute a row at a time, and cannot be shared"),
                "remove the option, or use input = \"whole\"",
            );
        }
        Ok(())
    }

    fn check_source(&self) -> Result<(), Error> {
        let refused = |what: &str, help: &str| {
            let place = "option `source`".into();
            Err(Error::Options(Problem { place, what: what.into(), help: help.into() }))
        };
        let Some(source) = &self.source else { return Ok(()) };
        match self.input {
            Input::Sliding => refused(
                "frames of a camera do not slide: each is an input of its own",
                "use input = \"rows\", or input = \"whole\"",
            ),
            Input::Rows if source.is_upside_down() => refused(
                "the last line of a frame would be the first row, and rows are computed as they come",
                "use input = \"whole\", or turn the sensor's own image",
            ),
            Input::Rows | Input::Whole => Ok(()),
        }
    }

    /// Multiply-accumulates that a model of so many may take beyond them: `None` where no row may be computed again.
    pub fn extra_macs(&self, macs: u64) -> Option<u64> {
        let more = u64::from(self.recompute?.saturating_sub(1000));
        (more > 0).then(|| (u128::from(macs) * u128::from(more) / 1000).try_into().unwrap_or(u64::MAX))
    }

    /// Sets one option from the text a user wrote. `name` is the option's name in the macro.
    ///
    /// # Errors
    /// [`Error::Options`] for an unknown option or a value that does not fit it.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), Error> {
        match name {
            "name" => self.name = Some(value.into()),
            "optimize" => self.optimize = value.parse()?,
            "flash" => self.flash = Some(parse_bytes("flash", value)?),
            "ram" => self.ram = Some(parse_bytes("ram", value)?),
            "cycles" => self.cycles = Some(parse_cycles(value)?),
            "recompute" => self.recompute = Some(parse_recompute(value)?),
            "fast_ram" => self.fast_ram = Some(parse_bytes("fast_ram", value)?),
            "weights" => self.weights = Some(value.parse()?),
            "weights_section" => self.weights_section = Some(value.into()),
            "io" => self.io = value.parse()?,
            "input" => self.input = value.parse()?,
            "source" => self.source = Some(value.parse()?),
            "reference" => self.reference = value.parse()?,
            "qdq" => self.qdq = value.parse()?,
            "qdq_drift" => self.qdq_drift = Some(parse_steps(value)?),
            "float" => self.float = value.parse()?,
            "features" => self.features = Some(value.into()),
            "input_shape" => self.input_shapes.push(value.parse()?),
            "channels_last" => self.channels_last.push(value.into()),
            "state" => self.states.push(value.parse()?),
            "custom_op" => self.bind(value.parse()?)?,
            "target" => self.target = Some(parse_target(value)?),
            "cores" => self.cores = Some(parse_cores(value)?),
            "events" => self.events = value.parse()?,
            "schedule" => self.schedule = Some(ScheduleFile { path: value.into(), text: None }),
            _ => {
                return Err(Error::Options(Problem {
                    place: String::new(),
                    what: format!("there is no option `{name}`"),
                    help: match near(name, Self::NAMES).first() {
                        Some(nearest) => format!("did you mean `{nearest}`?"),
                        None => format!("the options are {}", Self::NAMES.join(", ")),
                    },
                }))
            }
        }
        Ok(())
    }
}

impl Options {
    /// Binds a custom operator to a function.
    ///
    /// # Errors
    /// [`Error::Options`] where it is bound already.
    pub fn bind(&mut self, custom_op: CustomOp) -> Result<(), Error> {
        if let Some(bound) = self.custom_ops.iter().find(|bound| bound.name == custom_op.name) {
            return Err(Error::Options(Problem {
                place: "option `custom_op`".into(),
                what: format!("`{}` is already bound to `{}`", bound.name, bound.path),
                help: "bind each custom operator once".into(),
            }));
        }
        self.custom_ops.push(custom_op);
        Ok(())
    }
}

/// A size such as `20480`, `20K` or `1M` (powers of 1024).
fn parse_bytes(option: &str, text: &str) -> Result<usize, Error> {
    let wrong = || bad_option(option, text, "write bytes (20480) or a multiple of 1024 (20K, 1M)");
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let factor = match text[digits.len()..].trim() {
        "" | "B" => 1,
        "K" | "k" | "KB" | "KiB" => 1024,
        "M" | "MB" | "MiB" => 1024 * 1024,
        _ => return Err(wrong()),
    };
    let count: usize = digits.replace('_', "").parse().map_err(|_| wrong())?;
    count.checked_mul(factor).ok_or_else(wrong)
}

/// A factor between 1 and 10, such as `1.25`, in thousandths.
fn parse_recompute(text: &str) -> Result<u32, Error> {
    let wrong =
        || bad_option("recompute", text, "write a factor from 1 to 10, with up to three decimals (1.25)");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let is_digits = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|c| c.is_ascii_digit())
    };
    if !is_digits(whole, 2) || !is_digits(part, 3) {
        return Err(wrong());
    }
    let thousandths = format!("{whole}{part:0<3}").parse().map_err(|_| wrong())?;
    if (1000..=10_000).contains(&thousandths) {
        Ok(thousandths)
    } else {
        Err(wrong())
    }
}

/// A number of cycles such as `5000000`, `5_000_000`, `500K` or `5M` (powers of 1000).
fn parse_cycles(text: &str) -> Result<u64, Error> {
    let wrong = || {
        bad_option(
            "cycles",
            text,
            "write cycles (5000000), or a multiple of a thousand or a million (500K, 5M, 1.5M)",
        )
    };
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let zeros = match text[digits.len()..].trim() {
        "" => 0,
        "K" | "k" => 3,
        "M" => 6,
        _ => return Err(wrong()),
    };
    let digits = digits.replace('_', "");
    let (whole, part) = digits.split_once('.').unwrap_or((&digits, ""));
    let left =
        u32::try_from(part.len()).ok().and_then(|len| u32::checked_sub(zeros, len)).ok_or_else(wrong)?;
    let count: u64 = format!("{whole}{part}").parse().map_err(|_| wrong())?;
    count.checked_mul(10u64.checked_pow(left).ok_or_else(wrong)?).ok_or_else(wrong)
}

/// A number of steps.
fn parse_steps(text: &str) -> Result<u32, Error> {
    text.parse().map_err(|_| bad_option("qdq_drift", text, "write a number of steps, such as 64"))
}

fn parse_target(name: &str) -> Result<Target, Error> {
    name.parse().map_err(|unknown: UnknownTarget| bad_option("target", name, &unknown.to_string()))
}

/// A number of threads.
fn parse_cores(text: &str) -> Result<usize, Error> {
    let help = format!("write a number of threads, from 1 to {MOST_CORES}");
    let wrong = || bad_option("cores", text, &help);
    text.parse().ok().filter(|cores| (1..=MOST_CORES).contains(cores)).ok_or_else(wrong)
}

/// Each has workspaces of its own.
pub const MOST_CORES: usize = 64;

/// A value that is none of the names.
fn bad_name(option: &str, value: &str, names: &[&str]) -> Error {
    let names: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
    let help = match names.split_last() {
        Some((last, others)) => format!("use {} or {last}", others.join(", ")),
        None => String::new(),
    };
    bad_option(option, value, &help)
}

fn bad_option(option: &str, value: &str, help: &str) -> Error {
    Error::Options(Problem {
        place: format!("option `{option}`"),
        what: format!("`{value}` is not a value of this option"),
        help: help.into(),
    })
}
