//! Inputs and outputs: those of the signature of a SavedModel; of a graph its placeholders, and what nobody reads.

use super::run::{Done, Run};
use super::slot::Slot;
use super::{short, Importer, Lowered, OPERATOR_BYTES};
use crate::interface::{self, Wanted};
use crate::onnx::lower::check_size;
use crate::tensorflow::body::Source;
use crate::tensorflow::proto::{dims, natural, Node, TensorInfo};
use crate::tensorflow::tensor;
use kiln_ir::error::Error;
use kiln_ir::{Shape, Type};

/// An input of the model: a result of a node that is given.
pub(super) struct End {
    pub(super) name: String,
    pub(super) node: usize,
    pub(super) result: usize,
    /// `DataType`.
    pub(super) dtype: i64,
    pub(super) dims: Option<Vec<i64>>,
}

/// Inputs and outputs.
pub(super) struct Ends {
    pub(super) inputs: Vec<End>,
    pub(super) outputs: Vec<End>,
}

impl Ends {
    pub(super) fn output_names(&self) -> Vec<String> {
        self.outputs.iter().map(|end| end.name.clone()).collect()
    }
}

/// Operators that give no results, or none that is worth being an output.
const NO_OUTPUTS: &[&str] =
    &["Assert", "Const", "NoOp", "Placeholder", "Print", "PrintV2", "VarHandleOp", "Variable", "VariableV2"];

impl<'p> Importer<'_, 'p> {
    /// The model's inputs and outputs.
    pub(super) fn ends(&self) -> Result<Ends, Error> {
        let body = &self.model.body;
        let Some(signature) = &self.model.signature else { return self.of_graph() };
        let end = |info: &TensorInfo<'_>| {
            let place = || format!("\"{}\" of the signature", short(info.key));
            let (node, result) = body.find(info.name).ok_or_else(|| {
                Error::malformed(place(), format!("the graph has no \"{}\"", short(info.name)))
            })?;
            Ok(End { name: short(info.key), node, result, dtype: info.dtype, dims: info.dims.clone() })
        };
        let all = |list: &[TensorInfo<'_>]| list.iter().map(end).collect::<Result<Vec<End>, Error>>();
        Ok(Ends { inputs: all(&signature.inputs)?, outputs: all(&signature.outputs)? })
    }

    fn of_graph(&self) -> Result<Ends, Error> {
        let body = &self.model.body;
        let mut is_read = vec![false; body.nodes.len()];
        for edges in &body.edges {
            edges.controls.iter().for_each(|&node| is_read[node] = true);
            for source in &edges.operands {
                if let Source::Node(node, _) = source {
                    is_read[*node] = true;
                }
            }
        }
        let end = |(node, own): (usize, &Node<'_>)| End {
            name: short(own.name),
            node,
            result: 0,
            dtype: own.attributes.dtype("dtype").ok().flatten().unwrap_or(0),
            dims: declared_dims(own),
        };
        let nodes = || body.nodes.iter().enumerate();
        let is_input = |node: &Node<'_>| node.op == "Placeholder" && !node.name.starts_with(UNUSED);
        let inputs = nodes().filter(|(_, node)| is_input(node)).map(end).collect();
        let ends: Vec<(usize, &Node<'_>)> =
            nodes().filter(|(k, node)| !is_read[*k] && !NO_OUTPUTS.contains(&node.op)).collect();
        // TensorFlow 2 names the outputs of a function so. Beside them, other nodes may be left over.
        let mut named: Vec<(usize, &Node<'_>)> =
            ends.iter().copied().filter(|(_, node)| is_output_name(node)).collect();
        named.sort_by(|a, b| natural(a.1.name, b.1.name));
        let outputs = if named.is_empty() { ends } else { named };
        let outputs: Vec<End> = outputs.into_iter().map(end).collect();
        match outputs.is_empty() {
            true => {
                Err(Error::malformed("model", "it has no outputs: each of its nodes is read by another one"))
            }
            false => Ok(Ends { inputs, outputs }),
        }
    }

    /// Adds all inputs to the graph.
    pub(super) fn inputs(&mut self, ends: &Ends, run: &mut Run<'p>) -> Result<(), Error> {
        let names: Vec<String> = ends.inputs.iter().map(|end| end.name.clone()).collect();
        interface::check_input_shapes(&self.options.input_shapes, &names)?;
        interface::check_channels_last(self.options, &names, &ends.output_names())?;
        for end in &ends.inputs {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let slot = match self.input_type(end, names.len()) {
                Ok(ty) => Slot::Tensor(self.means.input(&end.name, ty)?),
                Err(refusal) => {
                    self.means.report.refuse(format!("input \"{}\"", end.name), None, refusal)?;
                    Slot::Refused
                }
            };
            if end.result > 0 || run.done[end.node].is_some() {
                let what = "it is no placeholder of its own";
                return Err(Error::malformed(format!("input \"{}\"", end.name), what));
            }
            run.done[end.node] = Some(Done::of(vec![slot]));
        }
        Ok(())
    }

    fn input_type(&self, end: &End, inputs: usize) -> Lowered<Type> {
        let dtype = tensor::dtype(end.dtype)?;
        let known = |size: &i64| usize::try_from(*size).ok().filter(|&size| size > 0);
        let own: Option<Vec<_>> = end.dims.as_ref().map(|dims| dims.iter().map(known).collect());
        let size = |(axis, size): (usize, &Option<usize>)| match size {
            Some(size) => size.to_string(),
            None if axis == 0 => "1".into(),
            None => "?".into(),
        };
        let shown = own.as_ref().map_or_else(
            || "[…]".into(),
            |own| format!("[{}]", own.iter().take(64).enumerate().map(size).collect::<Vec<_>>().join(", ")),
        );
        let input = Wanted::of(self.options, end.name.clone(), inputs, &shown);
        let dims = input.dims(own.as_deref(), "export the model with a fixed input shape")?;
        check_size(dtype, &dims)?;
        Ok(Type { dtype, shape: Shape(dims), quant: None })
    }

    /// Adds the outputs.
    pub(super) fn outputs(&mut self, ends: &Ends, run: &mut Run<'p>) -> Result<(), Error> {
        for end in &ends.outputs {
            self.means.budget.charge(OPERATOR_BYTES)?;
            let source = Source::Node(end.node, end.result);
            let value = self.value(run, source).and_then(|slot| slot.tensor());
            self.means.add_output(&end.name, value)?;
        }
        Ok(())
    }

    /// Gives variables their values, and tables their contents, as the model's own operators do. What cannot be restored is said where it is needed.
    pub(super) fn restore(&mut self, ends: &Ends) -> Result<(), Error> {
        let roots: Vec<usize> = ends.outputs.iter().map(|end| end.node).collect();
        let (report, trace) = (std::mem::take(&mut self.means.report), self.trace.take());
        let mut run = Run::of(&self.model.body, Vec::new(), String::new());
        for root in [self.model.restore.filter(|_| self.model.bundle.is_some()), self.model.init]
            .into_iter()
            .flatten()
        {
            self.demand(&mut run, root)?;
        }
        (self.means.report, self.trace) = (report, trace);
        // Until here nothing was a state.
        self.find_written(&roots);
        for resource in &mut self.resources {
            (resource.is_written, resource.is_set) = (self.written.contains(&resource.name), false);
        }
        self.count = 0;
        Ok(())
    }
}

/// What names of placeholders begin with that stand for nothing: TensorFlow adds them to loops.
const UNUSED: &str = "unused_control_flow_input";

/// Whether a node has the name of an output of a function: `Identity`, `Identity_1`.
fn is_output_name(node: &Node<'_>) -> bool {
    let rest = node.name.strip_prefix("Identity").filter(|_| matches!(node.op, "Identity" | "IdentityN"));
    rest.is_some_and(|rest| {
        rest.is_empty() || rest.strip_prefix('_').is_some_and(|k| k.parse::<u32>().is_ok())
    })
}

/// The shape that a placeholder has in the file.
fn declared_dims(node: &Node<'_>) -> Option<Vec<i64>> {
    let budget = &mut crate::budget::Budget::new(1 << 10);
    let own =
        node.attributes.shape("shape").ok().flatten().and_then(|shape| dims(shape, budget).ok().flatten());
    let listed = node.attributes.shapes("_output_shapes").unwrap_or_default();
    // Old programs write a shape without axes where they know none.
    let listed = listed.first().and_then(|shape| dims(shape, budget).ok().flatten());
    own.filter(|own| !own.is_empty()).or(listed).or_else(|| {
        node.attributes.shape("shape").ok().flatten().and_then(|shape| dims(shape, budget).ok().flatten())
    })
}
