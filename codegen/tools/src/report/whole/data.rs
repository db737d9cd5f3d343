//! What a report says. Text, JSON and page are three views of it.

use crate::report::on_board::OnBoard;
use serde::Serialize;

/// Everything that is said about a compiled model. Bytes and cycles are whole numbers; names are as the model's file has them.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The version of Kiln.
    pub kiln: &'static str,
    /// The model's file.
    pub model: Model,
    /// What was asked for.
    pub options: Chosen,
    /// The whole model in numbers.
    pub totals: Totals,
    /// By how much outputs differ from the floats that the file describes, where layers of a QDQ file became integer layers.
    pub drift: Option<String>,
    /// What runs, in order: the graph as it was compiled.
    pub steps: Vec<Step>,
    /// Steps that take turns.
    pub pipelines: Vec<Pipeline>,
    /// Operators of the file that have no step, and why.
    pub without_step: Vec<WithoutStep>,
    /// The arena over time.
    pub arena: Arena,
    /// What each pass did, in order.
    pub passes: Vec<Pass>,
    /// What could be better, that which costs most first.
    pub advice: Vec<Advice>,
    /// What is proven.
    pub certificate: Vec<Claim>,
    /// What is not.
    pub not_proven: Vec<&'static str>,
    /// The ways to optimise, side by side; the first is that of the report where it compiles with all.
    pub modes: Vec<Mode>,
}

/// A model's file.
#[derive(Clone, Debug, Serialize)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// What its author or converter wrote about it.
    pub description: String,
    /// Size of the file.
    pub file_bytes: usize,
    /// Number of its operators.
    pub operators: usize,
    /// Multiply-accumulates of an inference, before any pass.
    pub macs: u64,
    /// Bytes of its constants.
    pub weight_bytes: u64,
    /// What stands in front of it by its options, in words.
    pub in_front: Vec<String>,
    /// Inputs of the compiled model.
    pub inputs: Vec<Tensor>,
    /// Outputs of the compiled model.
    pub outputs: Vec<Tensor>,
}

/// An input or output.
#[derive(Clone, Debug, Serialize)]
pub struct Tensor {
    /// Its name.
    pub name: String,
    /// Element type and shape: `i8[1,49,10,1]`.
    pub ty: String,
    /// Scale and zero point, where it has them.
    pub quantization: Option<String>,
}

/// Options of the compilation.
#[derive(Clone, Debug, Serialize)]
pub struct Chosen {
    /// What was favoured.
    pub optimize: &'static str,
    /// The processor that code is made for.
    pub target: &'static str,
    /// How the input is given.
    pub input: &'static str,
    /// Which bits floats have.
    pub float: &'static str,
    /// RAM budget in bytes.
    pub ram: Option<usize>,
    /// Flash budget in bytes.
    pub flash: Option<usize>,
    /// The emulated board that was measured on.
    pub measured_on: Option<String>,
}

/// The whole model.
#[derive(Clone, Debug, Serialize)]
pub struct Totals {
    /// Name of the generated type.
    pub type_name: String,
    /// Bytes of RAM: arenas and state.
    pub ram_bytes: usize,
    /// Bytes of the arena, or of both.
    pub arena_bytes: usize,
    /// No arena of this schedule is smaller.
    pub arena_lower_bound: usize,
    /// Bytes of retained state.
    pub state_bytes: usize,
    /// Bytes of constants in flash.
    pub constant_bytes: usize,
    /// Bytes of flash that packed weights save: these constants would take so many more as they are computed with.
    pub packed_bytes: usize,
    /// Multiply-accumulates of an inference, after all passes.
    pub macs: u64,
    /// Calls of kernels in an inference.
    pub kernel_calls: usize,
    /// What was measured, with a board.
    pub measured: Option<Measured>,
    /// The same cycles as time and energy, on boards that the emulated one stands for.
    pub on_boards: Vec<OnBoard>,
}

/// One inference on an emulated board.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Measured {
    /// Executed instructions.
    pub instructions: u64,
    /// Estimated cycles.
    pub cycles: u64,
    /// Bytes of stack.
    pub stack_bytes: u64,
    /// Bytes of code of the model and its kernels.
    pub code_bytes: u64,
    /// Bytes of other constants than weights.
    pub flash_const_bytes: u64,
}

/// One step.
#[derive(Clone, Debug, Serialize)]
pub struct Step {
    /// Its index.
    pub step: usize,
    /// Its op, or `copy`.
    pub op: &'static str,
    /// The name of what it computes.
    pub name: String,
    /// The operators of the file whose work it does.
    pub holds: Vec<String>,
    /// What it reads, but for constants.
    pub reads: Vec<Read>,
    /// Element type and shape of its result, with the layout where it is planar.
    pub result: String,
    /// How many rows of its result are held at a time; `None`: all.
    pub ring_rows: Option<usize>,
    /// The name of the operand in whose place the result is computed.
    pub in_place_of: Option<String>,
    /// Index of the pipeline it is in.
    pub pipeline: Option<usize>,
    /// Its kernels.
    pub kernels: Vec<String>,
    /// How sums become results; empty where there are none.
    pub requantisation: String,
    /// Multiply-accumulates for a whole input.
    pub macs: u64,
    /// Bytes of the arena in use while it runs.
    pub ram_bytes: usize,
    /// Bytes of the constants that it reads.
    pub flash_bytes: usize,
    /// Bytes of the arena that its kernel works in.
    pub workspace_bytes: usize,
    /// Estimated cycles, where they were measured.
    pub cycles: Option<u64>,
    /// Executed instructions, where they were measured.
    pub instructions: Option<u64>,
}

/// Something that a step reads.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Read {
    /// An input of the model.
    Input(String),
    /// A state, as the inference before left it.
    State(String),
    /// The result of an earlier step.
    Step(usize),
}

/// Steps that take turns.
#[derive(Clone, Debug, Serialize)]
pub struct Pipeline {
    /// The first step.
    pub first_step: usize,
    /// How many.
    pub steps: usize,
    /// How often they take turns.
    pub ticks: usize,
}

/// An operator of the file without a step.
#[derive(Clone, Debug, Serialize)]
pub struct WithoutStep {
    /// Its index and name in the file.
    pub operator: String,
    /// Why it has none.
    pub why: String,
}

/// The arena over time. Time 0 is before the first step, step `i` runs at time `i + 1`, and outputs are read at the last time.
#[derive(Clone, Debug, Serialize)]
pub struct Arena {
    /// Bytes; of both, where there are two.
    pub bytes: usize,
    /// The number of times.
    pub times: usize,
    /// The step at which most of it is in use.
    pub peak_step: Option<usize>,
    /// What lies in it.
    pub buffers: Vec<Buffer>,
}

/// A buffer in the arena.
#[derive(Clone, Debug, Serialize)]
pub struct Buffer {
    /// The name of the largest value in it.
    pub name: String,
    /// Bytes from the start of its arena; a fast arena counts as lying behind the other.
    pub offset: usize,
    /// Its size.
    pub bytes: usize,
    /// Whether it is in the fast arena.
    pub fast: bool,
    /// The rows it holds at a time, where it is a ring.
    pub ring_rows: Option<usize>,
    /// The time at which it is first written.
    pub first: usize,
    /// The time at which it is last used.
    pub last: usize,
}

impl Buffer {
    /// Its life in words: `from step 3 to 5`.
    pub fn life(&self, times: usize) -> String {
        let at = |time: usize| match time {
            0 => "the input".to_string(),
            _ if time + 1 == times => "the output".to_string(),
            _ => format!("step {}", time - 1),
        };
        match self.first == self.last {
            true => format!("at {}", at(self.first)),
            false => format!("from {} to {}", at(self.first), at(self.last)),
        }
    }

    /// Name, bytes, offset and life in words.
    pub fn describe(&self, times: usize) -> String {
        let arena = if self.fast { " of the fast arena" } else { "" };
        let ring = match self.ring_rows {
            Some(1) => ", a ring of 1 row".to_string(),
            Some(rows) => format!(", a ring of {rows} rows"),
            None => String::new(),
        };
        format!("{}: {} B at {}{arena}{ring}, {}", self.name, self.bytes, self.offset, self.life(times))
    }
}

/// A pass that changed something.
#[derive(Clone, Debug, Serialize)]
pub struct Pass {
    /// Its name.
    pub pass: String,
    /// Ops before and after.
    pub ops: [usize; 2],
    /// Multiply-accumulates before and after.
    pub macs: [u64; 2],
    /// Bytes of constants before and after.
    pub constant_bytes: [usize; 2],
    /// Operators that went, and what became of them.
    pub gone: Vec<WithoutStep>,
    /// Operators that it changed.
    pub changed: Vec<String>,
}

/// Something that could be better.
#[derive(Clone, Debug, Serialize)]
pub struct Advice {
    /// What it is about: `kernel`, `padding` …
    pub topic: &'static str,
    /// The operator; empty for the model as a whole.
    pub place: String,
    /// What costs, and why it is so.
    pub what: String,
    /// What to do about it.
    pub help: String,
    /// About so many cycles would be saved.
    pub cycles: u64,
    /// About so many bytes of RAM or flash would be saved.
    pub bytes: u64,
}

/// Something that is proven, or not.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// What is claimed.
    pub claim: &'static str,
    /// Whether it holds.
    pub holds: bool,
    /// What was counted or compared.
    pub evidence: String,
}

/// One way to optimise.
#[derive(Clone, Debug, Serialize)]
pub struct Mode {
    /// What was favoured.
    pub optimize: &'static str,
    /// Whether it is the one of this report.
    pub chosen: bool,
    /// Bytes of arenas and state.
    pub ram_bytes: usize,
    /// Bytes of constants.
    pub constant_bytes: usize,
    /// Calls of kernels in an inference.
    pub kernel_calls: usize,
    /// What was measured, with a board.
    pub measured: Option<Measured>,
    /// Why it does not compile so; then there are no numbers.
    pub error: Option<String>,
}
