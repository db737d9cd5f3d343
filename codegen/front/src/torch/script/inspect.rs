//! What a module contains, as far as its code says: shapes follow only from those of inputs.

use super::code::{split, Place};
use super::eval::interface::{input, Input};
use super::model::{Heap, Model};
use super::short;
use super::syntax::parameters;
use crate::budget::Budget;
use crate::torch::lower::{find, Target, OPERATOR_BYTES};
use crate::torch::pickle::Item;
use crate::{Lowered, OperatorSummary, QuantizationSummary, Summary, TensorSummary};
use kiln_ir::error::Error;

/// Most operators that are listed.
const MOST: usize = 1 << 14;

/// A summary of a module.
pub(super) fn summary(model: &Model<'_>, budget: &mut Budget) -> Result<Summary, Error> {
    let forward = forward(model).map_err(|refusal| match refusal {
        crate::Refusal::Malformed(what) => Error::malformed("code", what),
        crate::Refusal::Fatal(error) => error,
        _ => Error::malformed("code", "it cannot be read"),
    })?;
    let mut inputs = Vec::new();
    for parameter in parameters(forward.text()).unwrap_or_default().iter().skip(1) {
        budget.charge(OPERATOR_BYTES)?;
        match input(parameter, |_| false) {
            Input::Tensor(name) => inputs.push(tensor(name)),
            Input::Several(names) => inputs.extend(names.into_iter().map(tensor)),
            Input::Optional(_) | Input::Other => {}
        }
    }
    let mut operators = Vec::new();
    for file in &model.code.files {
        for line in 0..file.lines().len() {
            for name in called(file.text(line)).take(MOST.saturating_sub(operators.len())) {
                if crate::torch::script::schema::overloads(plain(name).as_str()).next().is_none() {
                    continue;
                }
                budget.charge(OPERATOR_BYTES)?;
                let target = format!("torch.ops.aten.{}.default", short(name));
                let target = Target::of(&target);
                operators.push(OperatorSummary {
                    index: operators.len(),
                    name: target.whole(),
                    is_known: find(&target).is_some(),
                    inputs: Vec::new(),
                    outputs: Vec::new(),
                    macs: 0,
                    weight_bytes: 0,
                });
            }
        }
    }
    Ok(Summary {
        format: "TorchScript",
        description: "shapes are known only with the option input_shape".into(),
        file_bytes: 0,
        inputs,
        outputs: Vec::new(),
        operators,
        other_subgraphs: Vec::new(),
        macs: 0,
        weight_bytes: model.bytes(),
    })
}

/// The method `forward` of the module.
fn forward<'p>(model: &'p Model<'p>) -> Lowered<Place<'p>> {
    let Item::Object(class, _) = *model.pickle(Heap::Data).item(model.root()) else {
        return Err(malformed!("the archive holds no module"));
    };
    let (module, name) = split(class)?;
    let place = model.code.class(module, name).and_then(|class| class.method("forward"));
    place.ok_or_else(|| malformed!("the code of {}.forward is not in the archive", short(name)))
}

fn tensor(name: String) -> TensorSummary {
    let quantization = QuantizationSummary::None;
    TensorSummary { name, element: String::new(), dims: Vec::new(), is_constant: false, quantization }
}

/// Names behind `torch.` and in front of a bracket.
fn called(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("torch.").filter_map(|(at, found)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + found.len()..];
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        let is_call =
            rest[end..].starts_with('(') && !before.is_some_and(|c| c.is_alphanumeric() || "._".contains(c));
        is_call.then_some(&rest[..end])
    })
}

fn plain(name: &str) -> String {
    let target = format!("torch.ops.aten.{name}.default");
    Target::of(&target).name.to_owned()
}
