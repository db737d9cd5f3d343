//! The program of an archive: typed views of its JSON, as `torch/_export/serde/schema.py` defines it. What Kiln does not look at is not kept.

use super::union::{deserialize, skip, Float, Union};
use serde::de::MapAccess;
use serde::Deserialize;
use std::collections::HashMap;

/// An exported program.
#[derive(Deserialize)]
pub(super) struct Program {
    pub(super) graph_module: GraphModule,
    /// Bounds of symbolic sizes, by symbol.
    #[serde(default)]
    pub(super) range_constraints: HashMap<String, Range>,
    pub(super) schema_version: Version,
    #[serde(default)]
    pub(super) torch_version: Option<String>,
}

#[derive(Deserialize)]
pub(super) struct Version {
    pub(super) major: i64,
}

/// Bounds of a size.
#[derive(Clone, Copy, Deserialize)]
pub(super) struct Range {
    pub(super) min_val: Option<i64>,
    pub(super) max_val: Option<i64>,
}

#[derive(Deserialize)]
pub(super) struct GraphModule {
    pub(super) graph: Graph,
    pub(super) signature: Signature,
    #[serde(default)]
    pub(super) module_call_graph: Vec<ModuleCall>,
}

/// How a module is called: the first one is the model.
#[derive(Deserialize)]
pub(super) struct ModuleCall {
    #[serde(default)]
    pub(super) signature: Option<CallSignature>,
}

#[derive(Deserialize)]
pub(super) struct CallSignature {
    /// The structure of the outputs: JSON in a text.
    pub(super) out_spec: String,
}

#[derive(Deserialize)]
pub(super) struct Graph {
    pub(super) nodes: Vec<Node>,
    /// Types of tensors, by name.
    pub(super) tensor_values: HashMap<String, TensorMeta>,
}

/// A tensor as it was traced.
#[derive(Deserialize)]
pub(super) struct TensorMeta {
    /// `ScalarType`.
    pub(super) dtype: i64,
    pub(super) sizes: Vec<Size>,
    #[serde(default)]
    pub(super) strides: Vec<Size>,
    #[serde(default)]
    pub(super) storage_offset: Option<Size>,
}

/// A size: a number, or an expression of symbols.
pub(super) enum Size {
    Known(i64),
    Symbolic(String),
}

#[derive(Deserialize)]
struct Expression {
    expr_str: String,
}

/// An integer argument: a number, or the name of a node that computes it.
pub(super) enum SymInt {
    Known(i64),
    Named(String),
}

#[derive(Deserialize)]
pub(super) struct Signature {
    pub(super) input_specs: Vec<InputSpec>,
    pub(super) output_specs: Vec<OutputSpec>,
}

#[derive(Deserialize)]
struct Name {
    name: String,
}

/// What an input of the graph is: its name in the graph, and that of the weight.
pub(super) enum InputSpec {
    Weight {
        kind: WeightKind,
        arg: String,
        of: String,
    },
    User(Arg),
    /// Something else, by its kind.
    Other(String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum WeightKind {
    Parameter,
    Buffer,
    Constant,
}

/// What an output of the graph is.
pub(super) enum OutputSpec {
    User(Arg),
    /// The next value of a buffer.
    Buffer {
        arg: String,
        of: String,
    },
    /// What no caller reads.
    Silent,
    Other(String),
}

/// A node.
#[derive(Deserialize)]
pub(super) struct Node {
    /// `torch.ops.aten.conv2d.default`.
    pub(super) target: String,
    pub(super) inputs: Vec<Named>,
    pub(super) outputs: Vec<Arg>,
    #[serde(default)]
    pub(super) metadata: Metadata,
}

#[derive(Deserialize)]
pub(super) struct Named {
    pub(super) name: String,
    pub(super) arg: Arg,
}

/// Where a node comes from.
#[derive(Default, Deserialize)]
pub(super) struct Metadata {
    #[serde(default)]
    pub(super) nn_module_stack: Option<String>,
    #[serde(default)]
    pub(super) stack_trace: Option<String>,
}

/// An argument or result.
pub(super) enum Arg {
    None,
    Tensor(String),
    Tensors(Vec<String>),
    OptionalTensors(Vec<Option<String>>),
    Int(i64),
    Ints(Vec<SymInt>),
    Float(f64),
    Floats(Vec<f64>),
    Bool(bool),
    Text(String),
    Dtype(i64),
    /// A number that a node computes, by name.
    Computed(String),
    /// What no operator that Kiln knows looks at.
    Other,
}

impl Arg {
    /// Names of the tensors that it is.
    pub(super) fn names(&self) -> Vec<&str> {
        match self {
            Arg::Tensor(name) => vec![name],
            Arg::Tensors(list) => list.iter().map(String::as_str).collect(),
            Arg::OptionalTensors(list) => list.iter().flatten().map(String::as_str).collect(),
            _ => Vec::new(),
        }
    }
}

deserialize!(Arg, InputSpec, OptionalTensor, OutputSpec, Size, SymInt, SymScalar);

impl Union for Size {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "as_int" => Size::Known(map.next_value()?),
            "as_expr" => Size::Symbolic(map.next_value::<Expression>()?.expr_str),
            other => {
                skip(map)?;
                Size::Symbolic(other.into())
            }
        })
    }
}

impl Union for SymInt {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "as_int" => SymInt::Known(map.next_value()?),
            _ => SymInt::Named(map.next_value()?),
        })
    }
}

/// A number or truth value of an argument, or the name of the node that computes it.
enum SymScalar {
    Int(i64),
    Float(f64),
    Bool(bool),
    Named(String),
}

impl Union for SymScalar {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "as_int" => SymScalar::Int(map.next_value()?),
            "as_float" => SymScalar::Float(map.next_value::<Float>()?.0),
            "as_bool" => SymScalar::Bool(map.next_value()?),
            _ => SymScalar::Named(map.next_value()?),
        })
    }
}

/// A tensor that may be left out.
struct OptionalTensor(Option<String>);

impl Union for OptionalTensor {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        match key {
            "as_tensor" => Ok(OptionalTensor(Some(map.next_value::<Name>()?.name))),
            _ => skip(map).map(|()| OptionalTensor(None)),
        }
    }
}

impl Union for Arg {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "as_none" => {
                skip(map)?;
                Arg::None
            }
            "as_tensor" => Arg::Tensor(map.next_value::<Name>()?.name),
            "as_tensors" => {
                Arg::Tensors(map.next_value::<Vec<Name>>()?.into_iter().map(|name| name.name).collect())
            }
            "as_optional_tensors" => {
                let list: Vec<OptionalTensor> = map.next_value()?;
                Arg::OptionalTensors(list.into_iter().map(|tensor| tensor.0).collect())
            }
            "as_int" => Arg::Int(map.next_value()?),
            "as_ints" => Arg::Ints(map.next_value::<Vec<i64>>()?.into_iter().map(SymInt::Known).collect()),
            "as_sym_ints" => Arg::Ints(map.next_value()?),
            "as_float" => Arg::Float(map.next_value::<Float>()?.0),
            "as_floats" => Arg::Floats(map.next_value::<Vec<Float>>()?.into_iter().map(|x| x.0).collect()),
            "as_bool" => Arg::Bool(map.next_value()?),
            "as_string" => Arg::Text(map.next_value()?),
            "as_scalar_type" => Arg::Dtype(map.next_value()?),
            "as_sym_int" | "as_sym_float" | "as_sym_bool" => match map.next_value()? {
                SymScalar::Int(number) => Arg::Int(number),
                SymScalar::Float(number) => Arg::Float(number),
                SymScalar::Bool(truth) => Arg::Bool(truth),
                SymScalar::Named(name) => Arg::Computed(name),
            },
            _ => {
                skip(map)?;
                Arg::Other
            }
        })
    }
}

/// A weight in a signature.
#[derive(Deserialize)]
struct OfWeight {
    arg: Name,
    #[serde(alias = "parameter_name", alias = "buffer_name", alias = "tensor_constant_name")]
    of: String,
}

#[derive(Deserialize)]
struct OfUser {
    arg: Arg,
}

impl Union for InputSpec {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        let kind = match key {
            "parameter" => WeightKind::Parameter,
            "buffer" => WeightKind::Buffer,
            "tensor_constant" => WeightKind::Constant,
            "user_input" => return Ok(InputSpec::User(map.next_value::<OfUser>()?.arg)),
            other => {
                skip(map)?;
                return Ok(InputSpec::Other(other.into()));
            }
        };
        let OfWeight { arg, of } = map.next_value()?;
        Ok(InputSpec::Weight { kind, arg: arg.name, of })
    }
}

impl Union for OutputSpec {
    fn of<'de, A: MapAccess<'de>>(key: &str, map: &mut A) -> Result<Self, A::Error> {
        Ok(match key {
            "user_output" => OutputSpec::User(map.next_value::<OfUser>()?.arg),
            "buffer_mutation" => {
                let OfWeight { arg, of } = map.next_value()?;
                OutputSpec::Buffer { arg: arg.name, of }
            }
            "user_input_mutation" | "token" => {
                skip(map)?;
                OutputSpec::Silent
            }
            other => {
                skip(map)?;
                OutputSpec::Other(other.into())
            }
        })
    }
}

/// The weights of an archive, by their names in the model.
#[derive(Default, Deserialize)]
pub(super) struct Weights {
    pub(super) config: HashMap<String, Weight>,
}

/// Where a weight lies.
#[derive(Deserialize)]
pub(super) struct Weight {
    pub(super) path_name: String,
    #[serde(default)]
    pub(super) use_pickle: bool,
    pub(super) tensor_meta: Option<TensorMeta>,
}
