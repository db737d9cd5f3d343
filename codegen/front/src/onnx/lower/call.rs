//! ONNX's operators as functions of values. Another format lowers through them what means the same there, so that both end at the same ops.

use super::{find, Importer, Lowered, NodeCx, Refusal};
use crate::budget::Budget;
use crate::onnx::proto::{Attribute, Model, Name, Node};
use kiln_ir::options::Options;
use kiln_ir::ValueId;
use std::mem::swap;

/// The operator set that is meant.
const OPSET: i64 = 22;

/// What stands for a file in an import of another format: a model without anything.
#[derive(Default)]
pub(crate) struct Host {
    model: Model<'static>,
    node: Node<'static>,
}

/// The value of an attribute.
#[derive(Clone, Copy)]
pub(crate) enum Set<'s> {
    Int(i64),
    Float(f32),
    Ints(&'s [i64]),
    Text(&'s str),
    Texts(&'s [&'s str]),
}

impl<'m> Importer<'m, 'static> {
    /// An import of another format.
    pub(crate) fn hosted(host: &'m Host, name: &str, options: &'m Options, budget: Budget) -> Self {
        Importer::new(&host.model, name, options, OPSET, budget)
    }

    /// What an operator of the other format sees, of that name and place.
    pub(crate) fn hosted_cx<'c>(
        &'c mut self,
        host: &'m Host,
        name: String,
        origin: String,
    ) -> NodeCx<'c, 'm, 'static> {
        NodeCx { importer: self, node: &host.node, origin, name }
    }
}

impl NodeCx<'_, '_, '_> {
    /// The first result of an ONNX operator.
    pub(crate) fn call(
        &mut self,
        operator: &str,
        operands: &[Option<ValueId>],
        attributes: &[(&str, Set<'_>)],
    ) -> Lowered<ValueId> {
        let [value] = self.call_all(operator, operands, attributes)?;
        Ok(value)
    }

    /// The first results of an ONNX operator.
    pub(crate) fn call_all<const N: usize>(
        &mut self,
        operator: &str,
        operands: &[Option<ValueId>],
        attributes: &[(&str, Set<'_>)],
    ) -> Lowered<[ValueId; N]> {
        let unknown = || Refusal::unsupported(format!("it needs ONNX's {operator}"), "use another operator");
        let lower = find(operator).ok_or_else(unknown)?;
        let labels: Vec<String> = (0..operands.len().max(N)).map(|k| k.to_string()).collect();
        let given = |k: usize| operands.get(k).copied().flatten();
        let input = |k: usize| given(k).map_or(Name(&[]), |_| Name(labels[k].as_bytes()));
        let results: Vec<String> = (0..N).map(|k| format!("result {k}")).collect();
        let node = Node {
            inputs: (0..operands.len()).map(input).collect(),
            outputs: results.iter().map(|label| Name(label.as_bytes())).collect(),
            attributes: attributes.iter().map(attribute).collect(),
            ..Node::default()
        };
        let (model, options) = (Model::default(), Options::default());
        let mut importer = Importer::new(&model, "", &options, OPSET, Budget::new(0));
        for k in 0..operands.len() {
            importer.values.insert(input(k), given(k));
        }
        swap(&mut importer.graph, &mut self.importer.graph);
        swap(&mut importer.budget, &mut self.importer.budget);
        let (origin, name) = (self.origin.clone(), self.name.clone());
        let lowered = lower.run(&mut NodeCx { importer: &mut importer, node: &node, origin, name });
        swap(&mut importer.graph, &mut self.importer.graph);
        swap(&mut importer.budget, &mut self.importer.budget);
        lowered?;
        let mut values = [ValueId(0); N];
        for (value, label) in values.iter_mut().zip(&node.outputs) {
            let found = importer.values.get(label).copied().flatten();
            *value = found.ok_or_else(|| malformed!("{operator} has no {label}"))?;
        }
        Ok(values)
    }
}

fn attribute<'s>((name, set): &(&'s str, Set<'s>)) -> Attribute<'s> {
    let mut attribute = Attribute { name: Name(name.as_bytes()), ..Attribute::default() };
    match *set {
        Set::Int(int) => attribute.int = int,
        Set::Float(float) => attribute.float = float,
        Set::Ints(ints) => attribute.ints = ints.to_vec(),
        Set::Text(text) => attribute.string = Name(text.as_bytes()),
        Set::Texts(texts) => attribute.strings = texts.iter().map(|text| Name(text.as_bytes())).collect(),
    }
    attribute
}
