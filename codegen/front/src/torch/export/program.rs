//! The program of an archive: typed views of its JSON, as `torch/_export/serde/schema.py` defines it. What Kiln does not look at is not kept.

use crate::json::{Json, Parsed};
use crate::torch::lower::short;
use crate::torch::program::{Arg, Named, Node, Size, Subgraph, SymInt, TensorMeta};
use std::collections::HashMap;

/// An exported program.
#[derive(Default)]
pub(super) struct Program {
    pub(super) nodes: Vec<Node>,
    /// Types of tensors, by name.
    pub(super) tensors: HashMap<String, TensorMeta>,
    pub(super) inputs: Vec<InputSpec>,
    pub(super) outputs: Vec<OutputSpec>,
    /// The structure of the outputs: JSON in a text.
    pub(super) out_spec: Option<String>,
    /// Bounds of symbolic sizes, by symbol.
    pub(super) ranges: HashMap<String, Range>,
    /// Version of the schema.
    pub(super) schema: i64,
    pub(super) torch_version: Option<String>,
}

/// Bounds of a size.
#[derive(Clone, Copy, Default)]
pub(super) struct Range {
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
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

impl Program {
    pub(super) fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut program = Program::default();
        let mut has_graph = false;
        json.object(|key, json| match key {
            "graph_module" => {
                has_graph = true;
                program.module(json)
            }
            "range_constraints" => {
                program.ranges = json.map(Range::read)?;
                Ok(())
            }
            "schema_version" => json.object(|key, json| match key {
                "major" => {
                    program.schema = json.integer()?;
                    Ok(())
                }
                _ => json.skip(),
            }),
            "torch_version" => {
                program.torch_version = json.optional_text()?;
                Ok(())
            }
            _ => json.skip(),
        })?;
        match has_graph {
            true => Ok(program),
            false => json.broken("it has no graph_module"),
        }
    }

    fn module(&mut self, json: &mut Json<'_>) -> Parsed<()> {
        json.object(|key, json| match key {
            "graph" => json.object(|key, json| {
                match key {
                    "nodes" => self.nodes = json.list(Node::read)?,
                    "tensor_values" => self.tensors = json.map(TensorMeta::read)?,
                    _ => json.skip()?,
                }
                Ok(())
            }),
            "signature" => json.object(|key, json| {
                match key {
                    "input_specs" => self.inputs = json.list(InputSpec::read)?,
                    "output_specs" => self.outputs = json.list(OutputSpec::read)?,
                    _ => json.skip()?,
                }
                Ok(())
            }),
            // How modules are called: the first one is the model.
            "module_call_graph" => {
                let calls = json.list(out_spec)?;
                self.out_spec = calls.into_iter().next().flatten();
                Ok(())
            }
            _ => json.skip(),
        })
    }
}

/// The structure of a module's outputs.
fn out_spec(json: &mut Json<'_>) -> Parsed<Option<String>> {
    let mut spec = None;
    json.object(|key, json| match key {
        "signature" if !json.is_null() => json.object(|key, json| match key {
            "out_spec" => {
                spec = json.optional_text()?;
                Ok(())
            }
            _ => json.skip(),
        }),
        "signature" => Ok(()),
        _ => json.skip(),
    })?;
    Ok(spec)
}

impl Range {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut range = Range::default();
        json.object(|key, json| {
            let bound = match key {
                "min_val" => &mut range.least,
                "max_val" => &mut range.most,
                _ => return json.skip(),
            };
            *bound = if json.is_null() { None } else { Some(json.integer()?) };
            Ok(())
        })?;
        Ok(range)
    }
}

impl TensorMeta {
    pub(super) fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut meta = TensorMeta::default();
        json.object(|key, json| {
            match key {
                "dtype" => meta.dtype = json.integer()?,
                "sizes" => meta.sizes = json.list(Size::read)?,
                "strides" => meta.strides = json.list(Size::read)?,
                "storage_offset" if !json.is_null() => meta.storage_offset = Some(Size::read(json)?),
                "storage_offset" => {}
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(meta)
    }
}

impl Size {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        json.union(|key, json| match key {
            "as_int" => json.integer().map(Size::Known),
            _ => {
                let mut text = String::new();
                json.object(|key, json| match key {
                    "expr_str" => {
                        text = json.text()?;
                        Ok(())
                    }
                    _ => json.skip(),
                })?;
                Ok(Size::Symbolic(text))
            }
        })
    }
}

impl Node {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut node = Node::default();
        json.object(|key, json| {
            match key {
                "target" => node.target = json.text()?,
                "inputs" => node.inputs = json.list(Named::read)?,
                "outputs" => node.outputs = json.list(Arg::read)?,
                "metadata" => json.object(|key, json| {
                    match key {
                        "nn_module_stack" => node.module = json.optional_text()?.as_deref().and_then(module),
                        "stack_trace" => node.line = json.optional_text()?.as_deref().and_then(line),
                        _ => json.skip()?,
                    }
                    Ok(())
                })?,
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(node)
    }
}

/// The innermost module of a stack of modules, `encoder.layers.0.attn`, and its class.
fn module(stack: &str) -> Option<(String, String)> {
    let innermost = stack.rsplit(';').next()?;
    let mut fields = innermost.split(',');
    let (_, path, class) = (fields.next()?, fields.next()?, fields.next()?);
    let path = path.trim_start_matches("L['self']").trim_start_matches('.');
    Some((short(path), short(class.rsplit('.').next().unwrap_or(class))))
}

/// The innermost line of a stack trace: `model.py:12`.
fn line(trace: &str) -> Option<String> {
    let last = trace.lines().rev().find_map(|line| line.trim().strip_prefix("File \""))?;
    let (file, rest) = last.split_once("\", line ")?;
    let number: String = rest.chars().take_while(char::is_ascii_digit).collect();
    let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
    Some(format!("{}:{number}", short(file)))
}

impl Named {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut named = Named { name: String::new(), arg: Arg::None };
        json.object(|key, json| {
            match key {
                "name" => named.name = json.text()?,
                "arg" => named.arg = Arg::read(json)?,
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(named)
    }
}

/// The name of a tensor.
fn name(json: &mut Json<'_>) -> Parsed<String> {
    let mut name = None;
    json.object(|key, json| match key {
        "name" => {
            name = Some(json.text()?);
            Ok(())
        }
        _ => json.skip(),
    })?;
    name.map_or_else(|| json.broken("a tensor has no name"), Ok)
}

impl Arg {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        json.union(|key, json| {
            Ok(match key {
                "as_none" => {
                    json.skip()?;
                    Arg::None
                }
                "as_tensor" => Arg::Tensor(name(json)?),
                "as_tensors" => Arg::Tensors(json.list(name)?),
                "as_optional_tensors" => Arg::OptionalTensors(json.list(|json| {
                    json.union(|key, json| match key {
                        "as_tensor" => name(json).map(Some),
                        _ => json.skip().map(|()| None),
                    })
                })?),
                "as_int" => Arg::Int(json.integer()?),
                "as_ints" => Arg::Ints(json.list(|json| json.integer().map(SymInt::Known))?),
                "as_sym_ints" => Arg::Ints(json.list(|json| {
                    json.union(|key, json| match key {
                        "as_int" => json.integer().map(SymInt::Known),
                        _ => json.text().map(SymInt::Named),
                    })
                })?),
                "as_float" => Arg::Float(json.float()?),
                "as_floats" => Arg::Floats(json.list(Json::float)?),
                "as_bool" => Arg::Bool(json.truth()?),
                "as_string" => Arg::Text(json.text()?),
                "as_scalar_type" => Arg::Dtype(json.integer()?),
                "as_graph" => Arg::Graph(Box::new(json.deeper(subgraph)?)),
                "as_sym_int" | "as_sym_float" | "as_sym_bool" => json.union(|key, json| {
                    Ok(match key {
                        "as_int" => Arg::Int(json.integer()?),
                        "as_float" => Arg::Float(json.float()?),
                        "as_bool" => Arg::Bool(json.truth()?),
                        _ => Arg::Computed(json.text()?),
                    })
                })?,
                _ => {
                    json.skip()?;
                    Arg::Other
                }
            })
        })
    }
}

/// A graph with its name, which says nothing.
fn subgraph(json: &mut Json<'_>) -> Parsed<Subgraph> {
    let mut graph = Subgraph::default();
    json.object(|key, json| match key {
        "graph" => json.object(|key, json| {
            match key {
                "inputs" => graph.inputs = json.list(Arg::read)?,
                "nodes" => graph.nodes = json.list(Node::read)?,
                "outputs" => graph.outputs = json.list(Arg::read)?,
                "tensor_values" => graph.tensors = json.map(TensorMeta::read)?,
                _ => json.skip()?,
            }
            Ok(())
        }),
        _ => json.skip(),
    })?;
    Ok(graph)
}

/// A weight in a signature: its name in the graph, and in the model.
fn weight(json: &mut Json<'_>) -> Parsed<(String, String)> {
    let (mut arg, mut of) = (String::new(), String::new());
    json.object(|key, json| {
        match key {
            "arg" => arg = name(json)?,
            "parameter_name" | "buffer_name" | "tensor_constant_name" => of = json.text()?,
            _ => json.skip()?,
        }
        Ok(())
    })?;
    Ok((arg, of))
}

/// An input or output of the caller.
fn user(json: &mut Json<'_>) -> Parsed<Arg> {
    let mut arg = Arg::None;
    json.object(|key, json| match key {
        "arg" => {
            arg = Arg::read(json)?;
            Ok(())
        }
        _ => json.skip(),
    })?;
    Ok(arg)
}

impl InputSpec {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        json.union(|key, json| {
            let kind = match key {
                "parameter" => WeightKind::Parameter,
                "buffer" => WeightKind::Buffer,
                "tensor_constant" => WeightKind::Constant,
                "user_input" => return user(json).map(InputSpec::User),
                other => {
                    json.skip()?;
                    return Ok(InputSpec::Other(other.into()));
                }
            };
            let (arg, of) = weight(json)?;
            Ok(InputSpec::Weight { kind, arg, of })
        })
    }
}

impl OutputSpec {
    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        json.union(|key, json| {
            Ok(match key {
                "user_output" => OutputSpec::User(user(json)?),
                "buffer_mutation" => {
                    let (arg, of) = weight(json)?;
                    OutputSpec::Buffer { arg, of }
                }
                "user_input_mutation" | "token" => {
                    json.skip()?;
                    OutputSpec::Silent
                }
                other => {
                    json.skip()?;
                    OutputSpec::Other(other.into())
                }
            })
        })
    }
}

/// The weights of an archive, by their names in the model.
pub(super) type Weights = HashMap<String, Weight>;

/// Where a weight lies.
#[derive(Default)]
pub(super) struct Weight {
    pub(super) path_name: String,
    pub(super) use_pickle: bool,
    pub(super) tensor_meta: Option<TensorMeta>,
}

impl Weight {
    /// Reads the list of an archive's weights.
    pub(super) fn read_all(json: &mut Json<'_>) -> Parsed<Weights> {
        let mut weights = Weights::new();
        json.object(|key, json| match key {
            "config" => {
                weights = json.map(Weight::read)?;
                Ok(())
            }
            _ => json.skip(),
        })?;
        Ok(weights)
    }

    fn read(json: &mut Json<'_>) -> Parsed<Self> {
        let mut weight = Weight::default();
        json.object(|key, json| {
            match key {
                "path_name" => weight.path_name = json.text()?,
                "use_pickle" => weight.use_pickle = json.truth()?,
                "tensor_meta" if !json.is_null() => weight.tensor_meta = Some(TensorMeta::read(json)?),
                "tensor_meta" => {}
                _ => json.skip()?,
            }
            Ok(())
        })?;
        Ok(weight)
    }
}

/// The structure of a result: a tuple, list or dictionary, or a tensor.
#[derive(Default)]
pub(super) struct Structure {
    /// `None` for a tensor.
    pub(super) kind: Option<String>,
    /// Of a dictionary: its keys.
    pub(super) keys: Vec<String>,
    pub(super) children: Vec<Structure>,
}

/// Deepest nesting of a structure.
const DEEPEST: usize = 16;

impl Structure {
    /// Reads what stands behind the version.
    pub(super) fn of(spec: &str) -> Option<Self> {
        let rest = spec.trim_start().strip_prefix('[')?;
        let mut json = Json::new(rest.split_once(',')?.1.as_bytes());
        Structure::read(&mut json, 0).ok()
    }

    fn read(json: &mut Json<'_>, depth: usize) -> Parsed<Self> {
        if depth > DEEPEST {
            return json.broken("it is nested too deep");
        }
        let mut structure = Structure::default();
        let mut context = None;
        json.object(|key, json| {
            match key {
                "type" => structure.kind = json.optional_text()?,
                "context" => context = json.optional_text()?,
                "children_spec" => {
                    structure.children = json.list(|json| Structure::read(json, depth + 1))?;
                }
                _ => json.skip()?,
            }
            Ok(())
        })?;
        let is_dict = structure.kind.as_ref().is_some_and(|kind| kind.to_lowercase().ends_with("dict"));
        if let Some(context) = context.filter(|_| is_dict) {
            // Keys are texts or numbers.
            let keys = Json::new(context.as_bytes()).list(|json| match json.string() {
                Ok(key) => Ok(key.into_owned()),
                Err(_) => json.integer().map(|key| key.to_string()),
            });
            structure.keys = keys.unwrap_or_default();
        }
        Ok(structure)
    }
}
