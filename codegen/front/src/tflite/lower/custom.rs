//! Custom operators, bound to functions of the user's by the option `custom_op`.

use super::cx::{describe, OpCx};
use super::{Importer, Lowered, Refusal};
use crate::interface::no_custom_op;
use kiln_ir::error::Error;
use kiln_ir::{Op, Type};

/// A custom operator: one node, whose result has the type and shape that the file declares.
pub(super) fn custom(cx: &mut OpCx<'_, '_, '_>) -> Lowered {
    let (name, far) = cx.custom_name()?;
    let bound = cx.importer.options.custom_ops.iter().find(|bound| bound.name == name);
    let Some(function) = bound.map(|bound| bound.path.clone()) else {
        let what = format!("no function is given for this custom operator{}", cx.describe());
        return Err(Refusal::unbound(what, &name));
    };
    if far {
        let help = "make the model smaller than two gigabytes";
        return Err(Refusal::unsupported(
            "its attributes are stored after the model, as in files above two gigabytes",
            help,
        ));
    }
    if cx.output_count() != 1 || cx.input_count() == 0 {
        let what = format!(
            "it has {} operands and {} results; a custom operator has exactly one result, and at least one operand",
            cx.input_count(),
            cx.output_count()
        );
        return Err(Refusal::unsupported(what, "split it into one operator for each result"));
    }
    let mut operands = Vec::new();
    for k in 0..cx.input_count() {
        let Some(x) = cx.optional_input(k)? else {
            let what = format!("its operand {k} is left out");
            return Err(Refusal::unsupported(what, "give the operator all of its operands"));
        };
        // As the file has it.
        let x = match cx.as_stored(x) {
            Some(ty) => cx.same_number(x, ty),
            None => x,
        };
        operands.push(x);
    }
    let tensor = cx.output_tensor(0)?;
    let open = tensor.open_axes();
    if open.iter().any(|&axis| axis > 0) {
        let what = format!("the file leaves the shape of its result open{}", cx.describe());
        return Err(Refusal::unsupported(what, "convert the model with a fixed input shape"));
    }
    let mut stored = cx.importer.stored_type(&tensor)?;
    if let (false, Some(batch)) = (open.is_empty(), stored.shape.0.first_mut()) {
        *batch = cx.importer.batch;
    }
    let types = operands.iter().map(|&x| cx.ty(x)).chain([&stored]);
    let per_channel = |ty: &&Type| ty.quant.as_ref().is_some_and(|quant| quant.axis.is_some());
    if let Some(ty) = types.into_iter().find(per_channel) {
        let what = format!("its function takes one scale per tensor, but gets {}", describe(ty));
        return Err(Refusal::unsupported(what, "pass the scales as another operand"));
    }
    let options = cx.custom_options().to_vec();
    cx.charge(options.len())?;
    let value = cx.node(Op::Custom { name, function, options }, &operands, 0, stored)?;
    let declared = cx.declared(0)?.with_shape(&cx.dims(value));
    let value = cx.same_number(value, declared);
    cx.bind(0, value)
}

impl Importer<'_, '_> {
    /// Refuses functions of custom operators that the model does not have.
    pub(super) fn check_custom_ops(&self) -> Result<(), Error> {
        let names = self.model.custom_names();
        let Some(bound) = self.options.custom_ops.iter().find(|bound| !names.contains(&bound.name)) else {
            return Ok(());
        };
        Err(no_custom_op(&bound.name, &names))
    }
}
