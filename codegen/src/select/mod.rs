//! Chooses a kernel for every step, its parameters, and packs its constants.
//!
//! The kernels and their contracts are those of `docs/internals/kernels.md`. A combination of op and element types that has no kernel is
//! reported as a [`Problem`]; all of them are collected.
//!
//! | file | what it does |
//! |---|---|
//! | `kernel.rs` | chooses the kernel of a node: candidates, cycles, workspace |
//! | `processors/` | candidates and calls of each processor |
//! | this one | the calls of portable kernels, by op (`portable`), and what all calls have in common |
//! | `layer.rs`, `shape.rs`, `packed.rs` | a layer in numbers, its sizes, weights that are packed in flash |
//! | `conv.rs`, `elementwise.rs`, `movement.rs`, … | calls of portable kernels, a file per family |
//! | `absorbed.rs` | calls of kernels that take rows into sums |
//! | `rows.rs`, `fed.rs` | rows of a pipeline, and of a model that is fed row by row |
//! | `camera.rs` | lines of a camera in front of a model |
//! | `predict.rs`, `moved.rs` | predicted cycles of steps, and what those of copies are predicted by |
//! | `tables.rs` | tables that kernels read |
//! | `program.rs` | the result, as data |

mod absorbed;
mod banded;
mod camera;
mod choose;
mod computed;
mod conv;
mod counted;
mod custom;
mod dynamic;
mod element;
mod elementwise;
mod fed;
mod kernel;
mod layer;
mod lstm;
mod means;
mod moved;
mod movement;
mod normalise;
mod packed;
mod portable;
mod predict;
mod processors;
mod program;
mod quantize;
mod recurrent;
mod rows;
mod scaled;
mod shape;
mod signal;
mod spectrum;
mod sums;
mod tables;
#[cfg(test)]
mod tests;
mod wide;
mod winograd;

use crate::ir::{
    Clamp, DType, Data, Graph, Multiplier, Node, Op, Reduction, Rescale, Rows, Type, Value, ValueId,
};
use crate::plan::Plan;
use crate::schedule::{self, Feed, Place, Role, Schedule, Step, StepKind};
use crate::{Events, Float, Options};
use kiln_ir::error::{Error, Problem};
use kiln_kernel_table::{Count, Isa, KernelId, Work};
use movement::{Moves, Source};
use processors::dsp::special;
use std::rc::Rc;

pub(crate) use absorbed::absorbed_cycles;
pub use camera::{camera, Camera, Elements};
pub use element::Element;
pub use fed::{Fed, Slide};
pub use kernel::{names, planar_operand, planar_result, work, Choice, Kernels};
pub use packed::{packing, packing_saves, packs_any, Packing};
pub use processors::dsp::smallest::CODE_BYTES;
pub use program::*;
pub use shape::Shape;
pub use winograd::CODE as FLASH_FOR_CODE;

/// Turns a planned schedule into kernel calls, for the processor that the options name.
///
/// # Errors
/// [`Error::Unsupported`] with every step that has no kernel.
pub fn select(graph: &Graph, schedule: &Schedule, plan: &Plan, options: &Options) -> Result<Program, Error> {
    match select_all(graph, schedule, plan, options, Kernels::default())? {
        (program, problems) if problems.is_empty() => Ok(program),
        (_, problems) => Err(Error::Unsupported(problems)),
    }
}

/// As [`select`], with the kernels that are chosen already, and every step that has no kernel beside the program: where there are such steps, it has the calls of the others alone, and cannot run.
///
/// # Errors
/// [`Error::Unsupported`] where a sliding model cannot count its rows.
pub fn select_all(
    graph: &Graph,
    schedule: &Schedule,
    plan: &Plan,
    options: &Options,
    mut kernels: Kernels,
) -> Result<(Program, Vec<Problem>), Error> {
    let mut selector = Selector {
        graph,
        options,
        special: special::instances(graph, schedule, options, &mut kernels),
        kernels,
        schedule,
        plan,
        program: Program {
            arena_bytes: plan.arena_bytes,
            fast_bytes: plan.fast_bytes,
            state_bytes: plan.state_bytes,
            cores: options.cores(),
            constants: Vec::new(),
            customs: Vec::new(),
            calls: Vec::new(),
            chosen: Vec::new(),
            loops: Vec::new(),
            fed: None,
            camera: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
            results: Vec::new(),
            state_inits: Vec::new(),
        },
        step: 0,
        in_loop: false,
        endless: false,
        by_row: false,
        comment: String::new(),
        label: String::new(),
    };
    let mut problems = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        match selector.step(index, step) {
            Ok(()) if options.events == Events::Layers => selector.result(step),
            Ok(()) => {}
            Err(problem) => problems.push(problem),
        }
    }
    if problems.is_empty() {
        selector.loops();
        selector.ports()?;
        selector.program.fed = fed::fed(&selector.program)?;
    }
    Ok((selector.program, problems))
}

/// A failed selection: what has no kernel.
type Selected = Result<(), Problem>;

struct Selector<'a> {
    graph: &'a Graph,
    options: &'a Options,
    kernels: Kernels,
    /// The convolutions that have code of their own.
    special: Vec<special::Instance>,
    schedule: &'a Schedule,
    plan: &'a Plan,
    program: Program,
    step: usize,
    /// Whether the step runs in a loop, and there without end.
    in_loop: bool,
    endless: bool,
    /// Whether the step's calls are for the rows that are due.
    by_row: bool,
    /// What the step computes, with types.
    comment: String,
    /// The same in short: op and name.
    label: String,
}

impl<'a> Selector<'a> {
    fn step(&mut self, index: usize, step: &Step) -> Selected {
        self.begin(index, step);
        match step.kind {
            StepKind::Compute(id) => {
                let node = self.graph.node(id);
                self.comment = describe(self.graph, node);
                self.label = format!("{} {:?}", node.op.name(), self.graph.value(node.result).label());
                let choice = self.kernels.of(self.graph, id, self.options, !self.in_loop);
                let first = self.program.calls.len();
                let selected = self.node(node, &choice);
                let (work, cycles) = match self.predicted_copies(first, step) {
                    Some(predicted) => predicted,
                    None => {
                        let work = self.work(step, &choice);
                        (work, self.predicted(first, &choice, &work))
                    }
                };
                let (name, form) = (choice.name(), choice.form);
                self.program.chosen.push(Chosen { step: index, name, cycles, work, form });
                selected
            }
            StepKind::Absorb { node, sums } => {
                let node = self.graph.node(node);
                self.comment = describe(self.graph, node);
                self.label = format!("{} {:?}", node.op.name(), self.graph.value(node.result).label());
                self.absorb(node, sums)
            }
            StepKind::Copy { value, from, to } => {
                let Value { ty, .. } = self.graph.value(value);
                self.label = format!("copy {:?}", self.graph.value(value).label());
                self.comment = format!("copy {} {:?}", short_type(ty), self.graph.value(value).label());
                let cells = |place| match self.by_row {
                    true => Cells::Row(self.strip_at(place, ty, rows::row_axis(ty.shape.rank()))),
                    false => Cells::All(self.region_at(place, ty)),
                };
                let from = match from {
                    Some(place) => Source::Cells(cells(place)),
                    None => self.source_of(value, value)?,
                };
                let to = cells(to);
                let len = self.by_row.then(|| self.shape_of_call(value, value).numel());
                let first = self.program.calls.len();
                self.moves(from, to, Moves::linear(len.unwrap_or(ty.shape.numel())))?;
                if let Some((work, cycles)) = self.predicted_copies(first, step) {
                    // No schedule names such a kernel.
                    let name = "copy".into();
                    self.program.chosen.push(Chosen { step: index, name, cycles, work, form: None });
                }
                Ok(())
            }
        }
    }

    fn node(&mut self, node: &'a Node, choice: &Choice) -> Selected {
        if self.by_row && !has_rows(&node.op) {
            return Err(self.not_by_row());
        }
        if choice.images > 1 {
            // Refuses too many: each is a call.
            self.images(node)?;
        }
        choice.kernel.calls(self, node)
    }

    /// The calls of portable kernels.
    fn portable(&mut self, node: &'a Node) -> Selected {
        match &node.op {
            Op::Conv2d { groups, rescale, clamp, .. } => self.conv(node, *groups, rescale, clamp),
            Op::Dense { rescale, clamp } => self.dense(node, rescale, clamp),
            Op::ComputedConv2d { window, groups, rescale, clamp } => {
                self.computed_conv(node, window, *groups, rescale, clamp)
            }
            Op::DynamicScale { symmetric } => self.dynamic_scale(node, *symmetric),
            Op::DynamicQuantize {} => self.dynamic_quantize(node),
            Op::DynamicConv2d { groups, clamp, .. } => self.dynamic_conv(node, *groups, clamp),
            Op::DynamicDense { clamp } => self.dynamic_dense(node, clamp),
            Op::AvgPool2d { window, clamp } => self.pool(node, window, clamp),
            Op::MaxPool2d { window, clamp } => self.pool(node, window, clamp),
            Op::Add { rescale, clamp } => self.add(node, rescale, clamp),
            Op::Sub { rescale, clamp } => self.add(node, rescale, clamp),
            Op::Mul { rescale, clamp } => self.mul(node, rescale, clamp),
            Op::Unary { function } => self.float_unary(node, elementwise::unary_kernel(*function)),
            Op::Binary { function, rescale, clamp } => self.function_of_two(node, *function, rescale, clamp),
            Op::Compare { function, rescale } => self.compare(node, *function, rescale),
            Op::Select {} => self.select(node),
            Op::Cast {} => self.cast(node),
            Op::Reduce { function, axes, rescale } => self.reduce(node, *function, axes, rescale),
            Op::ArgReduce { axis, largest } => self.arg_reduce(node, *axis, *largest),
            Op::CumSum { axis, exclusive, reverse } => self.cumsum(node, *axis, *exclusive, *reverse),
            Op::Gather { batch, axis, depth } => self.gather(node, *batch, *axis, *depth),
            Op::Broadcast {} => self.broadcast(node),
            Op::Clip { clamp } => self.clip(node, clamp),
            Op::LeakyRelu { alpha, rescale } => self.leaky_relu(node, alpha.0, rescale),
            Op::Logistic {} if self.ty(node.result).dtype == DType::I16 => {
                self.sigmoid_of_16_bits(node, false)
            }
            Op::Tanh {} if self.ty(node.result).dtype == DType::I16 => self.sigmoid_of_16_bits(node, true),
            Op::Logistic {} => self.float_unary(node, KernelId::LogisticF32),
            Op::Tanh {} => self.float_unary(node, KernelId::TanhF32),
            Op::Softmax { beta, scale } => self.softmax(node, beta.0, scale),
            Op::LogSoftmax { scale, divisor } => self.log_softmax(node, scale, divisor),
            Op::L2Normalize {} => self.l2_normalize(node),
            Op::LocalNormalize { radius, bias, alpha, beta } => {
                self.local_normalize(node, *radius, [bias.0, alpha.0, beta.0])
            }
            Op::InverseRoot { rescale } => self.inverse_root(node, rescale),
            Op::TopK {} => self.top_k(node),
            Op::Trees { least } => self.trees(node, *least),
            Op::SquaredDistances {} => self.squared_distances(node),
            Op::Couple {} => {
                let classes = Arg::Int(self.ty(node.result).shape.last() as i64);
                self.unary(node, KernelId::CoupleF32, vec![classes])
            }
            Op::MatMul { rescale, clamp } => self.matmul(node, rescale, clamp, None),
            Op::ResizeBilinear { align_corners, half_pixel } => {
                self.resize_bilinear(node, *align_corners, *half_pixel)
            }
            Op::Lstm { input, recurrent, cell, tanh_shift, clip } => {
                self.lstm(node, [input, recurrent, cell], *tanh_shift, clip)
            }
            Op::Gru { linear_before_reset } => self.gru(node, *linear_before_reset),
            Op::Rnn { relu } => self.rnn(node, *relu),
            Op::Custom { name, function, options } => self.custom(node, name, function, options),
            Op::Signal { function } => self.signal(node, *function),
            Op::Lookup {} => self.lookup(node),
            Op::Interpolate {} => self.interpolate(node),
            Op::Quantize { rounding } => self.quantize(node, *rounding),
            Op::Dequantize {} => self.dequantize(node),
            Op::Requantize { rescale, clamp } => self.requantize(node, rescale, clamp),
            Op::Mean { axes, rescale, clamp } => self.mean(node, axes, rescale, clamp),
            Op::Pad { before, value, .. } => self.pad(node, before, *value),
            Op::Concat { axis } => self.concat(node, *axis),
            Op::Slice { begin, step } => self.slice(node, begin, step),
            Op::Transpose { perm } => self.transpose(node, perm),
            Op::Reshape {} => self.reshape(node),
        }
    }

    /// Keeps what the step computes, for the model to tell about.
    fn result(&mut self, step: &Step) {
        let (value, place) = match step.kind {
            StepKind::Compute(id) | StepKind::Absorb { node: id, .. } => {
                let value = self.graph.node(id).result;
                (value, self.schedule.storage.place(value))
            }
            StepKind::Copy { value, to, .. } => (value, Some(to)),
        };
        let Some(place) = place else { return };
        let ty = self.ty(value);
        let absorbs = match step.kind {
            StepKind::Absorb { .. } => Some(step.rows),
            _ => None,
        };
        let strip = match absorbs {
            // Its rows are those of the operand.
            Some(_) => {
                let region = self.region_at(place, ty);
                Strip { region, row: region.len, ring: None, slot: 0 }
            }
            None => self.strip_at(place, ty, rows::row_axis(ty.shape.rank())),
        };
        let name = self.label.clone();
        self.program.results.push(StepResult { step: self.step, name, strip, absorbs });
    }

    fn loops(&mut self) {
        for pipeline in &self.schedule.pipelines {
            let mut turns: Vec<(usize, String)> = Vec::new();
            for call in self.program.calls.iter().filter(|call| pipeline.steps.contains(&call.step)) {
                if turns.last().is_none_or(|&(step, _)| step != call.step) {
                    turns.push((call.step, self.held(&self.schedule.steps[call.step].kind)));
                }
            }
            self.program.loops.push(rows::looped(pipeline, &self.schedule.steps, turns));
        }
    }

    fn ports(&mut self) -> Result<(), Error> {
        let missing = |what: &str| Error::internal("select", format!("{what} has no place"));
        for &id in &self.graph.inputs {
            let value = self.graph.value(id);
            let Ok(Strip { region, ring, .. }) = self.rows(id) else { return Err(missing("an input")) };
            self.program.inputs.push(Port { name: value.name.clone(), ty: value.ty.clone(), region, ring });
        }
        for (k, &id) in self.graph.outputs.iter().enumerate() {
            let value = self.graph.value(id);
            let place = *self.schedule.outputs.get(k).ok_or_else(|| missing("an output"))?;
            let region = self.region_at(place, &value.ty);
            let (name, ty) = (value.name.clone(), value.ty.clone());
            self.program.outputs.push(Port { name, ty, region, ring: None });
        }
        for (index, state) in self.graph.states.iter().enumerate() {
            let Some(place) = self.schedule.storage.place(state.current) else { continue };
            let ty = bytes_type(self.graph.ty(state.current));
            let region = self.region_at(place, &ty);
            let zero = state.init.bytes().iter().all(|&b| b == 0);
            let constant = (!zero).then(|| {
                let doc = format!("first value of state {:?}", state.name);
                self.constant(format!("STATE{index:02}"), doc, state.init.clone())
            });
            self.program.state_inits.push(StateInit { region, constant });
        }
        Ok(())
    }

    // What the op families share.

    fn ty(&self, id: ValueId) -> &'a Type {
        self.graph.ty(id)
    }

    /// The memory of a place, and the first byte in it.
    fn address(&self, place: Place) -> (Memory, usize) {
        let memory = match self.schedule.storage.buffer(place.buffer).role {
            Role::Scratch | Role::Transient if self.plan.fast[place.buffer.0 as usize] => Memory::Fast,
            Role::Scratch | Role::Transient => Memory::Arena,
            Role::State(_) | Role::Retained => Memory::State,
        };
        (memory, self.plan.offsets[place.buffer.0 as usize] + place.offset)
    }

    /// A whole value at a place.
    fn region_at(&self, place: Place, ty: &Type) -> Region {
        let (memory, offset) = self.address(place);
        let before = place.slot * (ty.bytes() / schedule::rows(&ty.shape).max(1));
        Region { memory, offset: offset + before, element: Element::from(ty.dtype), len: ty.shape.numel() }
    }

    fn place(&self, id: ValueId) -> Result<Place, Problem> {
        // Only constants have none, and those with nothing but constants are computed ahead, if that is not too costly.
        self.schedule.storage.place(id).ok_or_else(|| Problem {
            place: self.label.clone(),
            what: format!(
                "its operand {:?} is a constant, and its result too costly to compute ahead",
                self.graph.value(id).label()
            ),
            help: "compute it once, and store the result in the model".into(),
        })
    }

    /// All of a value.
    fn region(&self, id: ValueId) -> Result<Region, Problem> {
        let (place, ty) = (self.place(id)?, self.ty(id));
        match place.wraps(schedule::rows(&ty.shape)) {
            true => Err(self.not_by_row()),
            false => Ok(self.region_at(place, ty)),
        }
    }

    /// A constant operand's data.
    fn data(&self, node: &Node, id: ValueId, what: &str) -> Result<&'a Data, Problem> {
        self.graph.const_data(id).ok_or_else(|| Problem {
            place: node.origin.clone(),
            what: format!("its {what} are computed while the model runs"),
            help: format!("convert the model so that the {what} are constants"),
        })
    }

    fn constant(&mut self, ident: String, doc: String, data: Data) -> ConstantId {
        if let Some(same) = self.program.constants.iter().position(|c| c.data == data) {
            return ConstantId(same);
        }
        self.program.constants.push(Constant { ident, doc, data });
        ConstantId(self.program.constants.len() - 1)
    }

    /// A constant of the current step.
    fn step_constant(&mut self, what: &str, data: Data) -> ConstantId {
        let doc = format!("{} of step {} {}", what.to_lowercase(), self.step, self.label);
        let first = format!("STEP{:02}_{what}", self.step);
        let names = (2..).map(|k| format!("{first}_{k}"));
        let is_free = |name: &String| self.program.constants.iter().all(|c| c.ident != *name);
        let ident = std::iter::once(first.clone()).chain(names).find(is_free);
        self.constant(ident.unwrap_or(first), doc, data)
    }

    /// As [`Selector::step_constant`], as an argument.
    fn constant_arg(&mut self, what: &str, data: Data, element: Element) -> Arg {
        Arg::Constant(self.step_constant(what, data), element)
    }

    /// Calls a kernel, in the form for the processor; in parts, if threads share the step.
    fn call(&mut self, kernel: KernelId, args: Vec<Arg>) {
        self.call_generic(kernel, Vec::new(), args);
    }

    fn call_generic(&mut self, kernel: KernelId, generics: Vec<Generic>, mut args: Vec<Arg>) {
        let mut kernel = self.on_target(kernel);
        let mut comment = self.comment.clone();
        if let Some(shared) = kernel.on_crew().filter(|_| self.is_shared()) {
            kernel = shared;
            let cores = self.program.cores as i64;
            args.splice(..0, [Arg::Crew, Arg::Int(cores)]);
            comment += &format!(", in parts for up to {cores} threads");
        }
        let callee = Callee::Kernel(kernel);
        // Arguments are large, and kept until the model is written.
        args.shrink_to_fit();
        self.program.calls.push(Call { step: self.step, comment, callee, generics, args });
    }

    /// The kernel, or the one in vectors that takes the same arguments; on hosts with the floats that the options ask for.
    fn on_target(&self, kernel: KernelId) -> KernelId {
        if self.options.target().runs(Isa::Mve) {
            return kernel.in_helium().unwrap_or(kernel);
        }
        if !self.options.target().runs(Isa::Simd) {
            return kernel;
        }
        let kernel = kernel.in_vectors().unwrap_or(kernel);
        match self.options.float {
            Float::Fast => kernel,
            Float::Reproducible => kernel.reproducible().unwrap_or(kernel),
        }
    }

    /// Of kernels for several processors, the best first, the first one that the target runs; where code is to be small, the last one.
    fn best_of<const N: usize>(&self, kernels: [KernelId; N]) -> KernelId {
        let runs = |kernel: &KernelId| self.options.target().runs(kernel.isa());
        let fast = self.options.optimize != crate::Optimize::Size;
        kernels.into_iter().find(|kernel| fast && runs(kernel)).unwrap_or(kernels[N - 1])
    }

    /// Whether several threads share the step.
    fn is_shared(&self) -> bool {
        self.schedule.steps.get(self.step).is_some_and(|step| step.shared)
    }

    fn no_kernel(&self, node: &Node) -> Problem {
        let types: Vec<String> = node.operands.iter().map(|&o| short_type(self.ty(o))).collect();
        Problem {
            place: node.origin.clone(),
            what: format!(
                "there is no kernel for `{}` on ({}) giving {}",
                node.op.name(),
                types.join(", "),
                short_type(self.ty(node.result))
            ),
            help: format!(
                "it has kernels for {}; convert the model with full-integer int8 quantisation, or without any",
                kernel_types(&node.op)
            ),
        }
    }

    /// The schedule holds rows of what can only be computed as a whole.
    fn not_by_row(&self) -> Problem {
        Problem {
            place: self.label.clone(),
            what: "it is scheduled row by row, and has no kernel for that".into(),
            help: "this is a bug in Kiln: please report it with the model".into(),
        }
    }

    fn too_many_axes(&self, node: &Node, axes: usize) -> Problem {
        Problem {
            place: node.origin.clone(),
            what: format!("`{}` of {axes} axes, at most {} are possible", node.op.name(), movement::MAX_RANK),
            help: "reshape its operands in the model so that they have fewer axes".into(),
        }
    }
}

/// Whether kernels of the op compute single rows.
fn has_rows(op: &Op) -> bool {
    let facts = op.facts();
    facts.elementwise > 0
        || facts.rows != Rows::default()
        || matches!(
            op,
            Op::DynamicScale { .. }
                | Op::DynamicQuantize {}
                | Op::DynamicConv2d { .. }
                | Op::DynamicDense { .. }
        )
}

/// The element types an op has kernels for, in words.
fn kernel_types(op: &Op) -> &'static str {
    match op {
        Op::Conv2d { .. } | Op::Dense { .. } => "int8 operands with int8 weights, and float32",
        Op::ComputedConv2d { .. } => "int8, int16 with int8 weights, and float32",
        Op::AvgPool2d { .. } | Op::MaxPool2d { .. } | Op::Mean { .. } => "int8 and float32",
        Op::Add { .. } | Op::Sub { .. } | Op::Mul { .. } => "int8, float32, and plain int32 and int64",
        Op::Softmax { .. } | Op::LogSoftmax { .. } => "int8 and float32",
        Op::L2Normalize {} => "int8, uint8 and float32",
        Op::LocalNormalize { .. } | Op::Trees { .. } => "float32",
        Op::SquaredDistances {} | Op::Couple {} => "float32",
        Op::InverseRoot { .. } => "int16",
        Op::TopK {} => "all types but bool",
        Op::MatMul { .. } => "int8, int16 and float32",
        Op::ResizeBilinear { .. } => "int8, uint8, int16 and float32",
        Op::Compare { .. } => "8-bit types, int16, int32, int64 and float32",
        Op::Reduce { function: Reduction::Sum | Reduction::Product, .. } => {
            "int8, float32, and plain int32 and int64"
        }
        Op::CumSum { .. } => "float32, int32 and int64",
        Op::Unary { .. } => "float32",
        Op::Binary { function, .. } if function.chooses() => "int8, float32, and plain int32 and int64",
        Op::Binary { function, .. } if function.multipliers().is_some() => "int8 and float32",
        Op::Binary { function, .. } if function.of_integers() => "float32, int32 and int64",
        Op::Binary { .. } => "float32",
        Op::Clip { .. } | Op::LeakyRelu { .. } | Op::Logistic {} | Op::Tanh {} => {
            "int8 and uint8 (as a table), and float32"
        }
        Op::DynamicScale { .. } | Op::DynamicQuantize {} => "float32",
        Op::DynamicConv2d { .. } | Op::DynamicDense { .. } => "int8 weights with float32 activations",
        Op::Lstm { .. } => "int8 operands with int8 weights, and float32",
        Op::Gru { .. } | Op::Rnn { .. } => "float32",
        Op::Custom { .. } => "all types",
        Op::Signal { .. } => "int16, and transforms and overlaps of float32",
        Op::Lookup {} => "8-bit types",
        Op::Interpolate {} => "int16",
        Op::Quantize { .. } => "float32 to int8 or uint8",
        Op::Dequantize {} => "int8 or uint8, quantised per tensor, to float32",
        Op::Requantize { .. } => "8-bit types (as a table), int16, and int32 to or from these",
        Op::Pad { .. } | Op::Concat { .. } | Op::Slice { .. } | Op::Transpose { .. } | Op::Reshape {} => {
            "all types"
        }
        Op::Select {} | Op::Cast {} | Op::Reduce { .. } | Op::ArgReduce { .. } => "all types",
        Op::Gather { .. } | Op::Broadcast {} => "all types",
    }
}

/// The same storage seen as bytes.
fn bytes_type(ty: &Type) -> Type {
    Type::plain(DType::U8, &[ty.bytes()])
}

fn short_type(ty: &Type) -> String {
    format!("{}{:?}", ty.dtype.name(), ty.shape.dims())
}

fn describe(graph: &Graph, node: &Node) -> String {
    let operands: Vec<String> = node
        .operands
        .iter()
        .filter(|&&o| graph.const_data(o).is_none())
        .map(|&o| short_type(graph.ty(o)))
        .collect();
    let name = graph.value(node.result).label();
    format!("{} {} → {} {:?}", node.op.name(), operands.join(", "), short_type(graph.ty(node.result)), name)
}

fn int(value: usize) -> Field {
    // Sizes of verified graphs fit: every tensor is smaller than isize::MAX bytes.
    Field::Int(value as i64)
}

fn scale(m: &Multiplier) -> Struct {
    let fields = vec![("multiplier", Field::Int(m.value.into())), ("shift", Field::Int(m.shift.into()))];
    Struct { name: "Scale", fields }
}

/// The one multiplier of a per-tensor rescale.
fn single(rescale: &Rescale) -> Option<&Multiplier> {
    match rescale {
        Rescale::FixedPoint(list) if list.len() == 1 => list.first(),
        _ => None,
    }
}
