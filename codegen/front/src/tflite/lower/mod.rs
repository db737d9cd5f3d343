//! Lowering of a parsed model to a [`Graph`].
//!
//! One file per family of operators. Each operator is given an [`OpCx`], through which it sees its operands and adds
//! nodes. An operator that cannot be lowered says why ([`Refusal`]); lowering goes on behind it, so that one run
//! reports everything that stands in the way.
//!
//! Shapes are inferred, not believed: what the file declares for a computed tensor is compared with what its operator
//! computes, and only the inferred shape enters the graph. So the shapes downstream of a computed RESHAPE, which some
//! files leave open, come out right.

mod activation;
mod arithmetic;
mod choose;
mod consts;
mod control;
mod conv;
mod custom;
mod cx;
mod dense;
mod dynamic;
mod function;
mod gather;
mod inputs;
mod lstm;
mod matmul;
mod mean;
mod mirror;
mod movement;
mod normalise;
mod packed;
mod pool;
mod quant;
mod quantize;
mod reduce;
mod repeat;
mod shape;
mod signal;
mod slice;
mod space;
mod svdf;
mod table;
mod tensor;
mod top;
mod transpose_conv;
mod update;
mod variable;

use super::schema::{Model, Operator, SubGraph, CUSTOM};
use crate::budget::Budget;
use crate::report::{self, Report};
use crate::{Lowered, Read, Refusal};
use cx::OpCx;
use kiln_ir::error::Error;
use kiln_ir::options::Options as UserOptions;
use kiln_ir::{DType, Data, Graph, Op, Type, ValueId};
use std::collections::HashMap;
use variable::Resources;

impl From<crate::flatbuffer::Broken> for Refusal {
    fn from(broken: crate::flatbuffer::Broken) -> Self {
        Refusal::Malformed(broken.to_string())
    }
}

/// What a tensor of the model's subgraph stands for, so far.
#[derive(Clone, Copy)]
enum Slot {
    /// Not defined yet.
    Empty,
    /// A value of the graph.
    Value(ValueId),
    /// A handle of a resource variable.
    Handle(usize),
    /// What the constant of another tensor is, in any layout.
    Constant(i32),
    /// The result of an operator that was refused.
    Refused,
}

/// How a constant's elements are to be laid out.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Layout {
    /// As in the file.
    Plain,
    /// As in the file; scales belong to axis 0.
    Rows,
    /// From `[1, kh, kw, c]` to `[c, kh, kw, 1]`; scales belong to the channels.
    Depthwise,
}

/// The state of one import.
pub(super) struct Importer<'m, 'a> {
    model: &'m Model<'a>,
    /// What the user says about the model.
    options: &'m UserOptions,
    /// The subgraph being imported: the model's first, or one that a control operator calls.
    sub: &'m SubGraph<'a>,
    /// Indices of the subgraphs that are being imported, each called by the one before it: the first is the model's.
    calls: Vec<usize>,
    /// What stands before the place of an operator in a subgraph: `12 WHILE/`.
    caller: String,
    graph: Graph,
    /// By tensor.
    slots: Vec<Slot>,
    /// Constants already in the graph, by subgraph and tensor.
    constants: HashMap<(usize, i32, Layout), ValueId>,
    /// Data already copied, by position in the file (many tensors may share a buffer).
    copies: HashMap<(usize, usize), Data>,
    resources: Resources<'a>,
    /// How many times variables were written.
    writes: usize,
    /// Whether the model computes on uint8, the old scheme of quantisation. The graph then has int8 in its place, but for inputs and outputs.
    is_unsigned: bool,
    /// Size of the first axis, where the file leaves it open.
    batch: usize,
    /// Whether sizes were given that are not those of the file's placeholders: what it declares for computed tensors is worth nothing then.
    is_resized: bool,
    budget: Budget,
    report: Report,
}

/// Lowers the model's first subgraph.
pub(super) fn lower(
    model: &Model<'_>,
    name: &str,
    options: &UserOptions,
    budget: Budget,
) -> Result<Read, Error> {
    let Some(sub) = model.subgraphs.first() else {
        return Err(Error::malformed("model", "the model has no subgraph"));
    };
    let mut importer = Importer {
        model,
        options,
        sub,
        calls: vec![0],
        caller: String::new(),
        graph: Graph::new(name),
        slots: vec![Slot::Empty; sub.tensors.len()],
        constants: HashMap::new(),
        copies: HashMap::new(),
        resources: Resources::default(),
        writes: 0,
        is_unsigned: model.subgraphs.iter().any(|sub| computes_on_uint8(model, sub)),
        batch: 1,
        is_resized: false,
        budget,
        report: Report::default(),
    };
    importer.check_custom_ops()?;
    importer.inputs()?;
    for (index, operator) in sub.operators.iter().enumerate() {
        importer.operator(index, operator)?;
    }
    importer.outputs()?;
    importer.finish_states();
    let outputs = importer.output_names();
    Read::of(importer.graph, importer.report, options, &outputs)
}

/// Whether an operator other than a conversion works on quantised uint8.
fn computes_on_uint8(model: &Model<'_>, sub: &SubGraph<'_>) -> bool {
    /// CAST, DEQUANTIZE, QUANTIZE: models that compute on int8 or floats may take and give bytes, too.
    const CONVERSIONS: [i32; 3] = [53, 6, 114];
    let is_quantised_byte = |index: i32| {
        sub.tensor(index).is_some_and(|t| t.element == packed::UINT8 && t.quantization.is_some())
    };
    sub.operators.iter().any(|operator| {
        let converts = model.code(operator).is_none_or(|code| CONVERSIONS.contains(&code.builtin));
        !converts && operator.inputs.iter().any(is_quantised_byte)
    })
}

/// Why numbers without a sign stay inside of models.
fn unsigned_interface() -> Refusal {
    let what = "inputs and outputs of uint32 and uint64 cannot be compiled";
    Refusal::unsupported(what, "cast to int32 in the model, which keeps the bits")
}

/// Bytes of graph that an operator takes: its nodes and values with their names.
const OPERATOR_BYTES: usize = 512;

impl<'m, 'a> Importer<'m, 'a> {
    fn operator(&mut self, index: usize, operator: &Operator<'a>) -> Result<(), Error> {
        let sub = self.sub;
        let results = operator.outputs.len();
        let listed = operator.inputs.len().saturating_add(results);
        self.budget.charge(OPERATOR_BYTES.saturating_add(listed.saturating_mul(64)))?;
        let Some(code) = self.model.code(operator) else {
            return Err(Error::malformed(format!("operator {index}"), "its operator code does not exist"));
        };
        let name = code.name();
        let origin = format!("{}{index} {name}", self.caller);
        let first_result = operator.outputs.get(0).and_then(|i| sub.tensor(i));
        let place = match first_result {
            Some(tensor) => format!("operator {origin} \"{}\"", tensor.name),
            None => format!("operator {origin}"),
        };
        for result in operator.outputs.iter() {
            let Some(tensor) = sub.tensor(result) else {
                return Err(Error::malformed(place, format!("its result tensor {result} does not exist")));
            };
            if !matches!(self.slot(result), Slot::Empty) && !tensor.is_variable {
                return Err(Error::malformed(place, format!("tensor {result} is computed a second time")));
            }
        }
        let before = self.graph.order.len();
        let lowered = lower_operator(code.builtin, &name, &mut OpCx::new(self, operator, origin));
        if let Err(refusal) = lowered {
            // In a subgraph an operator's index alone does not say where it is.
            let listed = self.caller.is_empty().then_some((index, name.as_str()));
            self.refuse(place.clone(), listed, refusal)?;
            // What was made of it so far is not part of the model.
            self.graph.order.truncate(before);
            for result in operator.outputs.iter() {
                let slot = self.stand_in(result);
                self.set_slot(result, slot);
            }
        }
        let undefined = operator.outputs.iter().find(|&result| matches!(self.slot(result), Slot::Empty));
        match undefined {
            Some(result) => Err(Error::malformed(place, format!("its result tensor {result} is too many"))),
            None => Ok(()),
        }
    }

    /// Names of the outputs, in their order.
    fn output_names(&self) -> Vec<String> {
        let name = |index| self.sub.tensor(index).map_or(String::new(), |tensor| tensor.name.text().into());
        self.sub.outputs.iter().map(name).collect()
    }

    fn outputs(&mut self) -> Result<(), Error> {
        for (k, index) in self.sub.outputs.iter().enumerate() {
            self.budget.charge(std::mem::size_of::<ValueId>())?;
            let place = match self.sub.tensor(index) {
                Some(tensor) => format!("output {k} \"{}\"", tensor.name),
                None => {
                    return Err(Error::malformed(
                        format!("output {k}"),
                        format!("there is no tensor {index}"),
                    ))
                }
            };
            if self.sub.tensor(index).is_some_and(tensor::is_wide_unsigned) {
                self.refuse(place, None, unsigned_interface())?;
                continue;
            }
            let output = self.sub.tensor(index).copied().map(|tensor| self.stored_type(&tensor)).transpose();
            let value = self.read(index, Layout::Plain).and_then(|value| Ok((value, output?)));
            let value = value.and_then(|(value, stored)| {
                tensor::some_elements(self.graph.ty(value), "an output")?;
                Ok((value, stored))
            });
            match value {
                Ok((value, Some(stored))) if stored.dtype == DType::U8 => {
                    let ty = Type { shape: self.graph.ty(value).shape.clone(), ..stored };
                    let value = self.same_number(value, ty);
                    self.graph.outputs.push(value);
                }
                Ok((value, _)) => self.graph.outputs.push(value),
                Err(refusal) => self.refuse(place, None, refusal)?,
            }
        }
        match self.sub.outputs.is_empty() {
            true => Err(Error::malformed("model", "it has no outputs")),
            false => Ok(()),
        }
    }

    /// `value` as one of type `ty`, which differs at most in signedness: every number stays what it is.
    fn same_number(&mut self, value: ValueId, ty: Type) -> ValueId {
        if *self.graph.ty(value) == ty {
            return value;
        }
        if ty.shape.numel() == 0 {
            return self.graph.add_const("", ty, Data::new(Vec::<u8>::new()));
        }
        let name = self.graph.value(value).name.clone();
        self.graph.add_node(Op::same_number(ty.dtype), &[value], &name, ty, "uint8 as int8".to_string())
    }

    /// Notes what was refused, or gives up. `operator` is the index and name of a refused operator.
    fn refuse(
        &mut self,
        place: String,
        operator: Option<(usize, &str)>,
        refusal: Refusal,
    ) -> Result<(), Error> {
        let refusal = match refusal {
            Refusal::Malformed(what) if self.is_resized && self.report.is_empty() => Refusal::unsupported(
                what,
                "use other sizes in the option `input_shape`: these do not fit the model",
            ),
            refusal => refusal,
        };
        self.report.refuse(place, operator, refusal)
    }

    /// A value to stand for a result of a refused operator, so that the operators behind it are looked at too. Integers may be a shape or an index, which has
    /// to be constant: what follows from them is not looked at.
    fn stand_in(&mut self, index: i32) -> Slot {
        let Some(tensor) = self.sub.tensor(index) else { return Slot::Refused };
        match self.tensor_type(tensor) {
            Ok(ty) if matches!(ty.dtype, DType::I32 | DType::I64) => Slot::Refused,
            Ok(ty) if !self.is_resized && tensor.open_axes().iter().all(|&axis| axis == 0) => {
                let value = self.graph.add_input(tensor.name.text(), ty);
                self.graph.inputs.pop();
                Slot::Value(value)
            }
            _ => Slot::Refused,
        }
    }

    fn slot(&self, index: i32) -> Slot {
        usize::try_from(index).ok().and_then(|i| self.slots.get(i)).copied().unwrap_or(Slot::Empty)
    }

    fn set_slot(&mut self, index: i32, slot: Slot) {
        if let Some(place) = usize::try_from(index).ok().and_then(|i| self.slots.get_mut(i)) {
            *place = slot;
        }
    }
}

/// Whether [`lower_operator`] knows the operator at all.
pub(super) fn is_known(builtin: i32, name: &str) -> bool {
    lowering(builtin, name).is_some()
}

/// The lowering of an operator, of a custom one by its name.
fn lowering(builtin: i32, name: &str) -> Option<Lower> {
    match builtin {
        CUSTOM => name.strip_prefix("CUSTOM:").and_then(signal::find),
        _ => operators().find(|(code, _)| *code == builtin).map(|(_, lower)| lower),
    }
}

/// The numbers of all operators that [`lower_operator`] knows.
pub(super) fn builtins() -> impl Iterator<Item = i32> {
    operators().map(|(code, _)| code)
}

fn operators() -> impl Iterator<Item = (i32, Lower)> {
    FAMILIES.iter().copied().flatten().copied()
}

type Lower = fn(&mut OpCx<'_, '_, '_>) -> Lowered;

/// The operators of a family: schema number, and lowering.
type Operators = &'static [(i32, Lower)];

/// The operators that Kiln compiles.
const FAMILIES: &[Operators] = &[
    activation::OPERATORS,
    arithmetic::OPERATORS,
    choose::OPERATORS,
    control::OPERATORS,
    conv::OPERATORS,
    dense::OPERATORS,
    function::OPERATORS,
    gather::OPERATORS,
    lstm::OPERATORS,
    matmul::OPERATORS,
    mean::OPERATORS,
    mirror::OPERATORS,
    movement::OPERATORS,
    normalise::OPERATORS,
    pool::OPERATORS,
    quantize::OPERATORS,
    reduce::OPERATORS,
    repeat::OPERATORS,
    shape::OPERATORS,
    slice::OPERATORS,
    space::OPERATORS,
    svdf::OPERATORS,
    top::OPERATORS,
    transpose_conv::OPERATORS,
    update::OPERATORS,
    variable::OPERATORS,
];

/// Operators that move elements, whatever they mean, and CAST, which looks at the file's types: CONCATENATION, RESHAPE, SQUEEZE, STRIDED_SLICE, SPLIT, CAST, SLICE, EXPAND_DIMS, PACK, UNPACK, SPLIT_V; IF and WHILE.
const UNSIGNED: [i32; 13] = [2, 22, 43, 45, 49, 53, 65, 70, 83, 88, 102, 118, 119];

fn lower_operator(builtin: i32, name: &str, cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    // A function of the user's comes first, also where Kiln knows the operator.
    let is_bound = builtin == CUSTOM && cx.is_bound()?;
    let lowering = lowering(builtin, name).filter(|_| !is_bound);
    let any_sign = UNSIGNED.contains(&builtin) || (builtin == CUSTOM && lowering.is_some());
    if (lowering.is_some() || is_bound) && !any_sign && cx.has_wide_unsigned() {
        let what = format!("arithmetic on uint32 and uint64 cannot be compiled{}", cx.describe());
        return Err(Refusal::unsupported(what, "cast to int32 in the model, or compute with float32"));
    }
    match lowering {
        Some(lower) => lower(cx),
        None if builtin == CUSTOM => custom::custom(cx),
        None => {
            let what = format!("this operator cannot be compiled{}", cx.describe());
            Err(Refusal::unsupported(what, report::way_out(name)))
        }
    }
}
