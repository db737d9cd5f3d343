//! Which kernels compute the steps, with what constants, and how their sums become results.

use super::macs;
use kiln_codegen::requant::Form;
use kiln_codegen::select::{Arg, Call, Callee, ConstantId, Field, Generic, Operand, Program, Struct};
use kiln_codegen::Compiled;
use kiln_kernel_table::{Arithmetic, KernelId};

/// The kernels of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepKernels {
    /// Index of the step.
    pub step: usize,
    /// Its kernels as the emitted code names them, each once.
    pub kernels: Vec<String>,
    /// The same as values, without functions of the user's.
    pub ids: Vec<KernelId>,
    /// Calls in an inference of whole tensors; each is repeated for every band in a pipeline.
    pub calls: usize,
    /// Multiply-accumulates for a whole input.
    pub macs: u64,
    /// Bytes of the constants that it reads. Several steps may share some.
    pub constant_bytes: usize,
    /// Bytes of the arena that its kernel works in.
    pub workspace_bytes: usize,
    /// Predicted cycles for a whole input, on the core that the processor's kernels are made for; `None` where nothing is known.
    pub cycles: Option<u64>,
    /// How its sums become results.
    pub requantisation: Requantisation,
}

/// How sums become 8-bit results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requantisation {
    /// There are no sums, or they are stored as they are.
    None,
    /// As TensorFlow Lite's reference does it: double rounding in 64 bits.
    Reference,
    /// By float factors, as the model has them.
    Floats,
    /// By a factor of each filter, compared with the reference at every step.
    Factors,
    /// In so many instructions, with this shift, compared with the reference at every step of every channel.
    Fitted {
        /// Instructions per result.
        instructions: usize,
        /// Bits shifted out.
        shift: usize,
    },
    /// By two products of 16 bits, compared likewise: for cores without a long product.
    Halves,
    /// By the upper half of a product of 64 bits, compared likewise: for RISC-V.
    Upper,
    /// By multiply-add and shift, compared with the reference for all operands.
    Linear,
    /// By a table of all 256 results.
    Table,
}

impl Requantisation {
    /// Whether cheaper arithmetic than the reference's was proven equal to it.
    pub fn is_proven(self) -> bool {
        !matches!(self, Requantisation::None | Requantisation::Reference | Requantisation::Floats)
    }

    fn of(call: &Call, form: Option<Form>) -> Requantisation {
        let fitted = |Form { shift, signed }| Requantisation::Fitted {
            instructions: if signed { 4 } else { 2 },
            shift: shift as usize,
        };
        match call.kernel().and_then(KernelId::arithmetic) {
            None => Requantisation::None,
            Some(Arithmetic::Reference | Arithmetic::Once) => Requantisation::Reference,
            Some(Arithmetic::Floats) => Requantisation::Floats,
            Some(Arithmetic::Factors) => Requantisation::Factors,
            Some(Arithmetic::Fitted) => form.map_or(Requantisation::None, fitted),
            Some(Arithmetic::Halves) => Requantisation::Halves,
            Some(Arithmetic::Upper) => Requantisation::Upper,
            Some(Arithmetic::Linear) => Requantisation::Linear,
            Some(Arithmetic::Table) => Requantisation::Table,
        }
    }
}

impl std::fmt::Display for Requantisation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Requantisation::None => Ok(()),
            Requantisation::Reference => f.write_str("as the reference"),
            Requantisation::Floats => f.write_str("float factors"),
            Requantisation::Factors => f.write_str("proven factors"),
            Requantisation::Fitted { instructions, shift } => {
                write!(f, "{instructions} instructions, shift {shift}")
            }
            Requantisation::Halves => f.write_str("two 16-bit products"),
            Requantisation::Upper => f.write_str("upper half of a product"),
            Requantisation::Linear => f.write_str("multiply-add and shift"),
            Requantisation::Table => f.write_str("table"),
        }
    }
}

/// The kernels of every step that calls some, in order.
pub fn kernels(compiled: &Compiled) -> Vec<StepKernels> {
    let steps = compiled.program.calls.chunk_by(|a, b| a.step == b.step);
    steps.filter_map(|calls| of_step(compiled, calls)).collect()
}

fn of_step(compiled: &Compiled, calls: &[Call]) -> Option<StepKernels> {
    let first = calls.first()?;
    let step = compiled.schedule.steps.get(first.step)?;
    let mut kernels: Vec<String> = calls.iter().map(|call| name(&compiled.program, call)).collect();
    kernels.dedup();
    let mut ids: Vec<KernelId> = calls.iter().filter_map(Call::kernel).collect();
    ids.dedup();
    let mut constants: Vec<ConstantId> = calls.iter().flat_map(|c| &c.args).flat_map(constants).collect();
    constants.sort_by_key(|id| id.0);
    constants.dedup();
    let bytes = |id: &ConstantId| compiled.program.constants.get(id.0).map_or(0, |c| c.data.bytes().len());
    let macs = step.kind.node().map_or(0, |id| macs(&compiled.graph, compiled.graph.node(id)));
    let chosen = compiled.program.chosen(first.step);
    Some(StepKernels {
        step: first.step,
        kernels,
        ids,
        calls: calls.len(),
        macs,
        constant_bytes: constants.iter().map(bytes).sum(),
        workspace_bytes: step.workspace.map_or(0, |id| compiled.schedule.storage.buffer(id).bytes),
        cycles: chosen.and_then(|chosen| chosen.cycles),
        requantisation: Requantisation::of(first, chosen.and_then(|chosen| chosen.form)),
    })
}

/// The kernel as the emitted code names it.
fn name(program: &Program, call: &Call) -> String {
    let kernel = match call.callee {
        Callee::Kernel(kernel) => kernel.name(),
        Callee::Custom(index) => program.customs.get(index).map_or("", |custom| &custom.path),
    };
    let generic = |generic: &Generic| match generic {
        Generic::Size(size) => Some(size.to_string()),
        Generic::Flag(flag) => Some(flag.to_string()),
        // Those of the layer, which stand beside the name.
        Generic::Sizes(_) => None,
    };
    let generics: Vec<String> = call.generics.iter().filter_map(generic).collect();
    match generics.is_empty() {
        true => kernel.into(),
        false => format!("{kernel}::<{}>", generics.join(", ")),
    }
}

/// The constants of an argument.
fn constants(arg: &Arg) -> Vec<ConstantId> {
    match arg {
        Arg::Constant(id, _) | Arg::ConstantRow(id, ..) | Arg::Table(id) => vec![*id],
        Arg::Input(Operand::Constant(id), _) => vec![*id],
        Arg::Struct(value) => of_struct(value),
        _ => Vec::new(),
    }
}

fn of_struct(value: &Struct) -> Vec<ConstantId> {
    let field = |(_, field): &(&str, Field)| match field {
        Field::Constant(id, _) => vec![*id],
        Field::Struct(inner) => of_struct(inner),
        _ => Vec::new(),
    };
    value.fields.iter().flat_map(field).collect()
}
