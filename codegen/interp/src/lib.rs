//! The interpreter: what every op means.
//!
//! Slow and obvious. Integers are computed exactly as TFLite Micro's reference kernels do, floats in `f32` with the
//! reference's order of additions, each product and each sum rounded, and with the functions of libm, so that results have the same bits wherever
//! the compiler runs. (Tables of integers alone are filled by the standard library's functions, as the references' tables are.) Every other part of
//! the compiler is measured against it: passes, generated code, constant folding (which calls it). With `float = "reproducible"` generated code has its bits.
//!
//! Graphs are expected to be [verified](kiln_ir::verify).

mod activation;
mod choose;
mod classical;
mod conv;
mod dynamic;
mod elementwise;
pub mod fixed_point;
mod function;
mod interpolate;
mod lstm;
mod matmul;
mod movement;
mod normalise;
mod pool;
mod quantise;
mod reduce;
mod requantise;
mod resize;
mod sigmoid;
mod signal;
mod softmax;
mod tensor;
mod trees;

pub use kiln_ir::verify::check_op;
use kiln_ir::{Data, Graph, Layout, Multiplier, Op, Rescale, Type, ValueDef, ValueId};
use std::fmt;

pub use activation::unary_table;
pub use function::{div_reciprocals, of_one as function_of};
pub use interpolate::interpolation_table;
pub use requantise::rescaled;
pub use resize::{integer_scale, real_scale};
pub use sigmoid::Steps;
pub use signal::{half_twiddles, twiddles};
pub use softmax::{softmax_exp_table, softmax_tables_16};

/// Why an evaluation was not possible: data that does not fit its type, or a graph that is not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterpError {
    /// The node, where there is one: its origin and op.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl InterpError {
    fn new(message: impl Into<String>) -> Self {
        InterpError { place: String::new(), message: message.into() }
    }
}

impl fmt::Display for InterpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.message)
    }
}

impl std::error::Error for InterpError {}

/// A graph with the state it has reached.
#[derive(Clone, Debug)]
pub struct Machine {
    graph: Graph,
    state: Vec<Data>,
}

impl Machine {
    /// A machine in the state after a reset. (Constants are shared with the graph, not copied.)
    pub fn new(graph: &Graph) -> Self {
        let mut machine = Machine { graph: graph.clone(), state: Vec::new() };
        machine.reset();
        machine
    }

    /// Gives every state its initial value.
    pub fn reset(&mut self) {
        self.state = self.graph.states.iter().map(|state| state.init.clone()).collect();
    }

    /// The current value of every state, in the order of [`Graph::states`].
    pub fn state(&self) -> &[Data] {
        &self.state
    }

    /// Evaluates the graph once: inputs in, outputs out, both in the order of the graph. The state moves on.
    pub fn run(&mut self, inputs: &[Data]) -> Result<Vec<Data>, InterpError> {
        let values = self.run_values(inputs)?;
        self.graph.outputs.iter().map(|&id| values.get(id).cloned()).collect()
    }

    /// As [`Machine::run`], giving every value of the graph.
    pub fn run_values(&mut self, inputs: &[Data]) -> Result<Values, InterpError> {
        let graph = &self.graph;
        if inputs.len() != graph.inputs.len() {
            let (given, wanted) = (inputs.len(), graph.inputs.len());
            return Err(InterpError::new(format!("{given} inputs given, {wanted} wanted")));
        }
        let of_value = |value: &kiln_ir::Value| match &value.def {
            ValueDef::Const(data) => Some(data.clone()),
            _ => None,
        };
        let mut values = Values(graph.values().map(|(_, value)| of_value(value)).collect());
        for (&id, data) in graph.inputs.iter().zip(inputs) {
            check_length(graph.ty(id), data).map_err(|e| at(format!("input {}", graph.value(id).name), e))?;
            values.set(id, data.clone());
        }
        for (state, data) in graph.states.iter().zip(&self.state) {
            values.set(state.current, data.clone());
        }
        for (_, node) in graph.nodes() {
            let place = || format!("{} ({})", node.origin, node.op.name());
            let operands = node
                .operands
                .iter()
                .map(|&id| Ok((graph.ty(id), values.get(id)?)))
                .collect::<Result<Vec<_>, InterpError>>()
                .map_err(|e| at(place(), e))?;
            let result = eval(&node.op, &operands, graph.ty(node.result)).map_err(|e| at(place(), e))?;
            values.set(node.result, result);
        }
        self.state = graph.states.iter().map(|s| values.get(s.next).cloned()).collect::<Result<_, _>>()?;
        Ok(values)
    }
}

/// Every value of one evaluation.
#[derive(Clone, Debug)]
pub struct Values(Vec<Option<Data>>);

impl Values {
    /// The data of a value; an error for one that was not computed (its node is dead).
    pub fn get(&self, id: ValueId) -> Result<&Data, InterpError> {
        let value = self.0.get(id.0 as usize).and_then(Option::as_ref);
        value.ok_or_else(|| InterpError::new(format!("value %{} was not computed", id.0)))
    }

    fn set(&mut self, id: ValueId, data: Data) {
        if let Some(slot) = self.0.get_mut(id.0 as usize) {
            *slot = Some(data);
        }
    }
}

fn at(place: String, error: InterpError) -> InterpError {
    if error.place.is_empty() {
        InterpError { place, ..error }
    } else {
        error
    }
}

fn check_length(ty: &Type, data: &Data) -> Result<(), InterpError> {
    let (have, want) = (data.bytes().len(), ty.bytes());
    if have == want {
        return Ok(());
    }
    Err(InterpError::new(format!("{have} bytes of data for a {ty}, {want} wanted")))
}

/// Computes one op: the definition of all of them.
///
/// Fails, and never panics, where the op is not [verified](kiln_ir::verify) for these types or data does not fit its type.
pub fn eval(op: &Op, operands: &[(&Type, &Data)], result: &Type) -> Result<Data, InterpError> {
    let types: Vec<&Type> = operands.iter().map(|(ty, _)| *ty).collect();
    let problems = check_op(op, &types, result);
    if !problems.is_empty() {
        return Err(InterpError::new(problems.join("; ")));
    }
    for (ty, data) in operands {
        check_length(ty, data)?;
    }
    let first = operands[0];
    let y = match op {
        Op::Conv2d { window, groups, rescale, clamp, layout } => {
            conv::conv2d(window, *groups, rescale, clamp, *layout, operands, result)?
        }
        Op::ComputedConv2d { window, groups, rescale, clamp } => {
            conv::conv2d(window, *groups, rescale, clamp, Layout::default(), operands, result)?
        }
        Op::Dense { rescale, clamp } => conv::dense(rescale, clamp, operands, result)?,
        Op::DynamicScale { symmetric } => dynamic::scale(*symmetric, first),
        Op::DynamicQuantize {} => dynamic::quantize(operands),
        Op::DynamicConv2d { window, groups, clamp } => {
            dynamic::conv2d(window, *groups, clamp, operands, result)?
        }
        Op::DynamicDense { clamp } => dynamic::dense(clamp, operands)?,
        Op::AvgPool2d { window, clamp } => pool::avg(window, clamp, first, result)?,
        Op::MaxPool2d { window, clamp } => pool::max(window, clamp, first, result)?,
        Op::Add { rescale, clamp } => {
            elementwise::add_sub(elementwise::Binary::Add, rescale, clamp, operands, result)
        }
        Op::Sub { rescale, clamp } => {
            elementwise::add_sub(elementwise::Binary::Sub, rescale, clamp, operands, result)
        }
        Op::Unary { function } => function::unary(*function, first.1),
        Op::Binary { function, rescale, clamp } => {
            function::binary(*function, rescale, clamp, operands, result)?
        }
        Op::Compare { function, rescale } => choose::compare(*function, rescale, operands, result),
        Op::Select {} => choose::select(operands, result),
        Op::Cast {} => choose::cast(first, result),
        Op::Reduce { function, axes, rescale } => reduce::reduce(*function, axes, rescale, first, result)?,
        Op::ArgReduce { axis, largest } => reduce::arg_reduce(*axis, *largest, first, result),
        Op::CumSum { axis, exclusive, reverse } => reduce::cumsum(*axis, *exclusive, *reverse, first, result),
        Op::Gather { batch, axis, depth } => movement::gather_at(*batch, *axis, *depth, operands, result)?,
        Op::Broadcast {} => movement::broadcast(first, result)?,
        Op::Mul { rescale, clamp } => elementwise::mul(rescale, clamp, operands, result),
        Op::Clip { clamp } => elementwise::clip(clamp, first, result),
        Op::LeakyRelu { alpha, rescale } => elementwise::leaky_relu(alpha.0, rescale, first, result),
        Op::Logistic {} => activation::logistic(first, result)?,
        Op::Tanh {} => activation::tanh(first, result)?,
        Op::Softmax { beta, scale } => softmax::softmax(beta.0, scale, first, result),
        Op::LogSoftmax { scale, divisor } => normalise::log_softmax(scale, divisor, first, result)?,
        Op::L2Normalize {} => normalise::l2_normalize(first, result),
        Op::LocalNormalize { radius, bias, alpha, beta } => {
            normalise::local_normalize(*radius, [bias.0, alpha.0, beta.0], first)
        }
        Op::InverseRoot { rescale } => normalise::inverse_root(single(rescale)?, first.1),
        Op::TopK {} => reduce::top_k(first, result),
        Op::Trees { least } => trees::trees(*least, operands, result)?,
        Op::SquaredDistances {} => classical::squared_distances(operands),
        Op::Couple {} => classical::couple(first, result),
        Op::MatMul { rescale, clamp } => matmul::matmul(rescale, clamp, operands, result)?,
        Op::ResizeBilinear { align_corners, half_pixel } => {
            resize::bilinear(*align_corners, *half_pixel, first, result)
        }
        Op::Lstm { input, recurrent, cell, tanh_shift, clip } => {
            lstm::lstm([input, recurrent, cell], *tanh_shift, clip, operands, result)?
        }
        Op::Custom { name, function, .. } => {
            return Err(InterpError::new(format!(
                "the custom operator `{name}` is the function `{function}`, which only generated code can call: the interpreter cannot evaluate it"
            )))
        }
        Op::Signal { function } => signal::eval(*function, operands, result)?,
        Op::Lookup {} => activation::lookup(operands)?,
        Op::Interpolate {} => interpolate::interpolate(first.1, operands[1].1)?,
        Op::Quantize { rounding } => quantise::quantize(*rounding, first.1, result)?,
        Op::Dequantize {} => quantise::dequantize(first)?,
        Op::Requantize { rescale, clamp } => elementwise::requantize(single(rescale)?, clamp, first, result),
        Op::Mean { axes, rescale, clamp } => reduce::mean(axes, rescale, clamp, first, result),
        Op::Pad { before, value, .. } => movement::pad(before, *value, first, result)?,
        Op::Concat { axis } => movement::concat(*axis, operands, result),
        Op::Slice { begin, step } => movement::slice(begin, step, first, result)?,
        Op::Transpose { perm } => movement::transpose(perm, first, result)?,
        Op::Reshape {} => first.1.clone(),
    };
    check_length(result, &y)?;
    Ok(y)
}

/// The one multiplier of a per-tensor rescale.
fn single(rescale: &Rescale) -> Result<Multiplier, InterpError> {
    match rescale {
        Rescale::FixedPoint(multipliers) if multipliers.len() == 1 => Ok(multipliers[0]),
        _ => Err(InterpError::new("one multiplier wanted")),
    }
}

#[cfg(test)]
mod tests;
