//! This side: Kiln reads a file, interprets it and compiles it.

use super::Format;
use kiln_codegen::interp::{eval, Machine};
use kiln_codegen::ir::{DType, Data, Graph, Op, Unary, ValueDef};
use kiln_codegen::{compile_graph, import, Error, Float, Optimize, Options, Qdq, Target};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::time::{Duration, Instant};

/// The longest that a graph of this size may take to compile.
const MOST: Duration = Duration::from_secs(1);

/// A model that Kiln read, and compiled.
#[derive(Debug)]
pub struct Ready {
    /// As imported.
    pub graph: Graph,
    /// The generated module, whose model is `Network`.
    pub code: String,
}

/// Why Kiln has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It says that it cannot compile the model.
    Refused(String),
    /// What must not happen: a panic, an internal error, too long a time.
    Broken(String),
}

/// Reads and compiles a file, which will be given these inputs. Options differ from number to number.
///
/// # Errors
/// [`Refusal`].
pub fn compile(
    file: &[u8],
    format: Format,
    number: usize,
    inputs: &[Vec<Vec<u8>>],
) -> Result<Ready, Refusal> {
    let began = Clock::start();
    let done = catch_unwind(AssertUnwindSafe(|| {
        let mut options = options(format, number);
        let graph = import(file, "graph", &options)?;
        // Sums that overflow on the way depend on the order, of which fast floats promise nothing.
        if number % 4 == 3 || is_odd(&graph, inputs) {
            options.float = Float::Reproducible;
        }
        let compiled = compile_graph(graph.clone(), &options)?;
        let code = compiled.file(&quote::quote!(pub))?;
        Ok(Ready { graph, code })
    }));
    let took = began.elapsed();
    match done {
        Err(payload) => Err(Refusal::Broken(format!("panic: {}", said(&*payload)))),
        Ok(Err(error @ Error::Internal { .. })) => Err(Refusal::Broken(error.to_string())),
        Ok(_) if took > MOST => Err(Refusal::Broken(format!("slow: over {} s to compile", MOST.as_secs()))),
        Ok(Err(error)) => Err(Refusal::Refused(error.to_string())),
        Ok(Ok(ready)) => Ok(ready),
    }
}

/// Most graphs as users compile them; some for little memory or small code.
fn options(format: Format, number: usize) -> Options {
    let optimize =
        [Optimize::Speed, Optimize::Speed, Optimize::Size, Optimize::Speed, Optimize::Memory][number % 5];
    let qdq = match format {
        Format::Tflite => Qdq::default(),
        // ONNX Runtime computes the floats that the file describes.
        Format::Onnx => Qdq::Float,
    };
    let target = Some(Target::of_triple(std::env::consts::ARCH, &[]));
    Options { name: Some("Network".into()), optimize, qdq, target, ..Options::default() }
}

/// Whether floats among its constants and inputs are not finite, or so large that their products are not.
fn is_odd(graph: &Graph, inputs: &[Vec<Vec<u8>>]) -> bool {
    let odd = |data: &Data| data.to_f32().iter().any(|x| !x.is_finite() || x.abs() > 1e18);
    let constants = graph.values().any(|(_, value)| match &value.def {
        ValueDef::Const(data) => value.ty.dtype == DType::F32 && odd(data),
        _ => false,
    });
    let floats = |case: &Vec<Vec<u8>>| {
        let mut pairs = graph.inputs.iter().zip(case).filter(|(&id, _)| graph.ty(id).dtype == DType::F32);
        pairs.any(|(_, bytes)| odd(&Data::new(bytes.clone())))
    };
    constants || inputs.iter().any(floats)
}

/// The interpreter's outputs of every case; states go on from one to the next.
///
/// # Errors
/// What is wrong: a panic among others.
pub fn interpret(graph: &Graph, cases: &[Vec<Data>]) -> Result<Vec<Vec<Data>>, String> {
    let run = || {
        let mut machine = Machine::new(graph);
        cases.iter().map(|case| machine.run(case).map_err(|error| error.to_string())).collect()
    };
    catch_unwind(run).unwrap_or_else(|payload| Err(format!("panic in the interpreter: {}", said(&*payload))))
}

/// How floats are off in rough arithmetic.
#[derive(Clone, Copy, Debug)]
pub enum Off {
    /// All, operands included, by so much of themselves.
    OfThemselves(f32),
    /// Those that an operator computes, by so much of the largest beside them.
    OfTheLargest(f32),
}

/// As [`interpret`], in arithmetic that is a little wrong: floats are off at random.
///
/// # Errors
/// As [`interpret`].
pub fn interpret_roughly(
    graph: &Graph,
    cases: &[Vec<Data>],
    off: Off,
    seed: u32,
) -> Result<Vec<Vec<Data>>, String> {
    let (most, of_the_largest) = match off {
        Off::OfThemselves(most) => (most, 0.0),
        Off::OfTheLargest(most) => (0.0, most),
    };
    let mut random = Rough { state: seed.wrapping_mul(0x9e37_79b9) | 1, most };
    let mut states: Vec<Data> = graph.states.iter().map(|state| state.init.clone()).collect();
    let mut outputs = Vec::new();
    for case in cases {
        let mut values: Vec<Option<Data>> = graph.values().map(|_| None).collect();
        for (id, value) in graph.values() {
            if let ValueDef::Const(data) = &value.def {
                values[id.0 as usize] = Some(random.disturb(value.ty.dtype, data));
            }
        }
        for (&id, data) in graph.inputs.iter().zip(case) {
            values[id.0 as usize] = Some(random.disturb(graph.ty(id).dtype, data));
        }
        for (state, data) in graph.states.iter().zip(&states) {
            values[state.current.0 as usize] = Some(data.clone());
        }
        let find = |values: &[Option<Data>], id: kiln_codegen::ir::ValueId| {
            values[id.0 as usize].clone().ok_or_else(|| "a value is read before it is computed".to_owned())
        };
        for (_, node) in graph.nodes() {
            let operands =
                node.operands.iter().map(|&id| find(&values, id)).collect::<Result<Vec<_>, _>>()?;
            let typed: Vec<_> = node.operands.iter().map(|&id| graph.ty(id)).zip(&operands).collect();
            let ty = graph.ty(node.result);
            let result = catch_unwind(|| eval(&node.op, &typed, ty)).map_err(|payload| said(&*payload))?;
            let result = result.map_err(|error| error.to_string())?;
            // GELU is small where it is a difference of numbers as large as its operand.
            let result = match (&node.op, operands.first()) {
                (Op::Unary { function: Unary::Gelu | Unary::GeluTanh }, Some(x)) => random.near(&result, x),
                (Op::Softmax { .. }, _) if ty.dtype == DType::F32 && of_the_largest == 0.0 => {
                    random.tiny(&result)
                }
                _ => result,
            };
            let result = match ty.dtype {
                DType::F32 if of_the_largest > 0.0 => random.shaken(&result, of_the_largest),
                _ => result,
            };
            values[node.result.0 as usize] = Some(random.disturb(ty.dtype, &result));
        }
        states = graph.states.iter().map(|state| find(&values, state.next)).collect::<Result<_, _>>()?;
        outputs.push(graph.outputs.iter().map(|&id| find(&values, id)).collect::<Result<_, _>>()?);
    }
    Ok(outputs)
}

struct Rough {
    state: u32,
    most: f32,
}

impl Rough {
    fn disturb(&mut self, dtype: DType, data: &Data) -> Data {
        if dtype != DType::F32 {
            return data.clone();
        }
        let disturbed: Vec<f32> = data.to_f32().into_iter().map(|x| x + x * self.share()).collect();
        Data::from_f32(&disturbed)
    }

    /// Off by a share of the largest number.
    fn shaken(&mut self, data: &Data, share: f32) -> Data {
        let numbers = data.to_f32();
        let largest = numbers.iter().filter(|x| x.is_finite()).fold(0f32, |most, x| most.max(x.abs()));
        self.most = share;
        let shaken: Vec<f32> = numbers.into_iter().map(|x| x + largest * self.share()).collect();
        self.most = 0.0;
        Data::from_f32(&shaken)
    }

    /// Of results of softmax that are subnormal or zero, fast floats only promise that they are small (docs/floats.md).
    fn tiny(&mut self, data: &Data) -> Data {
        let mut any = |x: f32| match x <= f32::MIN_POSITIVE {
            true => f32::MIN_POSITIVE * (self.share() / self.most).abs(),
            false => x,
        };
        Data::from_f32(&data.to_f32().into_iter().map(&mut any).collect::<Vec<f32>>())
    }

    /// As if a difference of numbers that are as large as `large`.
    fn near(&mut self, data: &Data, large: &Data) -> Data {
        let pairs = data.to_f32().into_iter().zip(large.to_f32());
        Data::from_f32(&pairs.map(|(x, large)| x + large * self.share()).collect::<Vec<f32>>())
    }

    /// Marsaglia's xorshift32, as a number from `-most` to `most`.
    fn share(&mut self) -> f32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 17;
        self.state ^= self.state << 5;
        (self.state as i32) as f32 / 2f32.powi(31) * self.most
    }
}

/// Time that this thread had a processor: others that compute at the same time do not count, where the system tells.
struct Clock {
    began: Instant,
    of_thread: Option<u64>,
}

impl Clock {
    fn start() -> Clock {
        Clock { began: Instant::now(), of_thread: Clock::nanoseconds() }
    }

    fn nanoseconds() -> Option<u64> {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split_whitespace().next()?.parse().ok()
    }

    fn elapsed(&self) -> Duration {
        match (self.of_thread, Clock::nanoseconds()) {
            (Some(began), Some(ended)) => Duration::from_nanos(ended.saturating_sub(began)),
            _ => self.began.elapsed(),
        }
    }
}

/// What a panic said.
pub(super) fn said(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("no words").to_owned()
}
