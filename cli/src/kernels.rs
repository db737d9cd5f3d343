//! Which kernels a model gets on a processor: `cargo kiln explain --kernels`.

use crate::bench::macs::macs;
use kiln_codegen::report::memory::computed;
use kiln_codegen::select::{Arg, Call, ConstantId, Field, Generic, Struct};
use kiln_codegen::Compiled;
use std::fmt::Write;

/// A line for each step: its kernel with its constants, multiplications, bytes of constants and workspace, and how sums become results.
pub fn kernels(compiled: &Compiled) -> String {
    let mut out = format!("\nkernels for {}:\n", compiled.options.target().name());
    let calls: Vec<&[Call]> = compiled.program.calls.chunk_by(|a, b| a.step == b.step).collect();
    let names: Vec<String> = calls.iter().map(|calls| kernel(&calls[0])).collect();
    let width = names.iter().map(String::len).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{:>4}  {:<width$}  {:>10}  {:>9}  {:>9}  requantisation, of what",
        "step", "kernel", "MACs", "constants", "workspace"
    );
    for (calls, name) in calls.iter().zip(&names) {
        let step = calls[0].step;
        let mut constants: Vec<ConstantId> = calls.iter().flat_map(|c| &c.args).flat_map(constants).collect();
        constants.sort_by_key(|id| id.0);
        constants.dedup();
        let bytes: usize =
            constants.iter().map(|id| compiled.program.constants[id.0].data.bytes().len()).sum();
        let storage = &compiled.schedule.storage;
        let workspace = compiled.schedule.steps[step].workspace.map_or(0, |id| storage.buffer(id).bytes);
        let (op, value) = computed(compiled, step);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{step:>4}  {name:<width$}  {:>10}  {bytes:>9}  {workspace:>9}  {}{op} {value:?}",
            macs(compiled, step),
            requantisation(&calls[0]),
        );
    }
    out
}

/// The kernel as the emitted code names it.
fn kernel(call: &Call) -> String {
    if call.generics.is_empty() {
        return call.kernel.into();
    }
    let generic = |generic: &Generic| match generic {
        Generic::Size(size) => size.to_string(),
        Generic::Flag(flag) => flag.to_string(),
    };
    let generics: Vec<String> = call.generics.iter().map(generic).collect();
    format!("{}::<{}>", call.kernel, generics.join(", "))
}

/// How sums become results, where the call says so. The kernels with a proven form end their constants with its shift, and whether negative sums are
/// corrected.
fn requantisation(call: &Call) -> String {
    let reference = |arg: &Arg| matches!(arg, Arg::Struct(Struct { name: "Requant", .. }));
    match call.generics.as_slice() {
        [.., Generic::Size(shift), Generic::Flag(false)] => format!("2 instructions, shift {shift}: "),
        [.., Generic::Size(shift), Generic::Flag(true)] => format!("4 instructions, shift {shift}: "),
        _ if call.args.iter().any(reference) => "as the reference: ".into(),
        _ => String::new(),
    }
}

/// The constants of an argument.
fn constants(arg: &Arg) -> Vec<ConstantId> {
    match arg {
        Arg::Constant(id, _) | Arg::ConstantRow(id, ..) | Arg::Table(id) => vec![*id],
        Arg::Struct(value) => of_struct(value),
        _ => Vec::new(),
    }
}

fn of_struct(value: &Struct) -> Vec<ConstantId> {
    let field = |(_, field): &(&str, Field)| match field {
        Field::Constant(id, _) => vec![*id],
        Field::Struct(inner) => of_struct(inner),
        _ => Vec::new(),
    };
    value.fields.iter().flat_map(field).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::{compile_file, Options, Target};

    #[test]
    fn every_step_has_a_line() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/tflite/residual_int8.tflite");
        let compiled = |target| {
            compile_file(model.as_ref(), &Options { target: Some(target), ..Options::default() }).unwrap()
        };
        let dsp = kernels(&compiled(Target::CortexMDsp));
        assert!(dsp.contains("kernels for cortex-m4") && dsp.contains("conv2d_i8_dsp"), "{dsp}");
        assert!(dsp.contains("instructions, shift "), "{dsp}");
        let portable = compiled(Target::Portable);
        let text = kernels(&portable);
        assert!(text.contains("as the reference: conv2d"), "{text}");
        assert_eq!(text.lines().count(), 3 + portable.schedule.steps.len(), "{text}");
    }
}
