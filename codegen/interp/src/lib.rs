//! The interpreter: what every op means.
//!
//! Slow and obvious. Integers are computed exactly as TFLite Micro's reference kernels do, floats in `f32` with the
//! reference's order of additions, each product and each sum rounded, and with the functions of libm, so that results have the same bits wherever
//! the compiler runs. (Tables of integers alone are filled by the standard library's functions, as the references' tables are.) Every other part of
//! the compiler is measured against it: passes, generated code, constant folding (which calls it). With `float = "reproducible"` generated code has its bits.
//!
//! Graphs are expected to be [verified](kiln_ir::verify).

mod activation;
mod block;
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
mod recurrent;
mod reduce;
mod requantise;
mod resize;
mod sigmoid;
mod signal;
mod softmax;
mod tensor;
mod trees;

pub use kiln_ir::verify::check_op;
use kiln_ir::{Data, Graph, Multiplier, Op, Rescale, Type, ValueDef, ValueId};
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

/// A tensor: its type and its elements.
pub type Tensor<'a> = (&'a Type, &'a Data);

/// The elements of a result.
type Computed = Result<Data, InterpError>;

/// What an op computes, if it is one of the family. Operands and result are [verified](kiln_ir::verify).
type Family = fn(&Op, &[Tensor<'_>], &Type) -> Evaluated;

/// The result of an op; `None` for an op of another family.
type Evaluated = Result<Option<Data>, InterpError>;

/// Every op is one of a family; a test asks for each.
const FAMILIES: &[Family] = &[
    activation::compute,
    choose::compute,
    classical::compute,
    conv::compute,
    dynamic::compute,
    elementwise::compute,
    function::compute,
    lstm::compute,
    matmul::compute,
    movement::compute,
    normalise::compute,
    pool::compute,
    quantise::compute,
    recurrent::compute,
    reduce::compute,
    resize::compute,
    signal::compute,
    softmax::compute,
];

/// Computes one op: the definition of all of them.
///
/// Fails, and never panics, where the op is not [verified](kiln_ir::verify) for these types or data does not fit its type.
pub fn eval(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Result<Data, InterpError> {
    let types: Vec<&Type> = operands.iter().map(|(ty, _)| *ty).collect();
    let problems = check_op(op, &types, result);
    if !problems.is_empty() {
        return Err(InterpError::new(problems.join("; ")));
    }
    for (ty, data) in operands {
        check_length(ty, data)?;
    }
    for family in FAMILIES {
        if let Some(y) = family(op, operands, result)? {
            check_length(result, &y)?;
            return Ok(y);
        }
    }
    Err(InterpError::new(match op {
        Op::Custom { name, function, .. } => format!(
            "the custom operator `{name}` is the function `{function}`, which only generated code can call: the interpreter cannot evaluate it"
        ),
        _ => format!("no family of ops has `{}`", op.name()),
    }))
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
