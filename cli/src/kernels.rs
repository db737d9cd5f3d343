//! Which kernels a model gets on a processor: `cargo kiln explain --kernels`.

use kiln_codegen::select::CODE_BYTES;
use kiln_codegen::Compiled;
use kiln_tools::report::kernels::{self, Requantisation, StepKernels};
use kiln_tools::report::memory::computed;
use std::fmt::Write;

/// A line for each step: its kernel with its constants, multiplications, predicted cycles, bytes of constants and workspace, and how sums become results.
pub fn kernels(compiled: &Compiled) -> String {
    let mut out = format!("\nkernels for {}:\n", compiled.options.target().name());
    let steps = kernels::kernels(compiled);
    let width = steps.iter().map(|step| step.kernels.join(", ").len()).max().unwrap_or(0);
    let _ = writeln!(
        out,
        "{:>4}  {:<width$}  {:>10}  {:>10}  {:>9}  {:>9}  requantisation, of what",
        "step", "kernel", "MACs", "cycles", "constants", "workspace"
    );
    for step in &steps {
        let (op, value) = computed(compiled, step.step);
        let how = match step.requantisation {
            Requantisation::None => String::new(),
            form => format!("{form}: "),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "{:>4}  {:<width$}  {:>10}  {:>10}  {:>9}  {:>9}  {how}{op} {value:?}",
            step.step,
            step.kernels.join(", "),
            step.macs,
            step.cycles.map_or("–".into(), |cycles| format!("~{cycles}")),
            step.constant_bytes,
            step.workspace_bytes,
        );
    }
    out += &shared_code(&steps);
    out
}

/// With `optimize = "size"`: the kernels that layers share, and what each is in code.
fn shared_code(steps: &[StepKernels]) -> String {
    let shared: Vec<_> = CODE_BYTES
        .iter()
        .map(|&(kernel, bytes)| {
            (kernel, bytes, steps.iter().filter(|step| step.ids.contains(&kernel)).count())
        })
        .filter(|kernel| kernel.2 > 0)
        .collect();
    if shared.is_empty() {
        return String::new();
    }
    let mut out =
        String::from("\ncode that layers share, of all kernels that could compute them the fewest bytes:\n");
    for (kernel, bytes, layers) in shared {
        let _ = writeln!(out, "  {kernel:<24} {bytes:>5} bytes, {layers} layers");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::{compile_file, Optimize, Options, Target};

    #[test]
    fn shared_kernels_are_listed_with_their_code() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../host-tests/models/tflite/residual_int8.tflite");
        let options =
            Options { target: Some(Target::CortexMDsp), optimize: Optimize::Size, ..Options::default() };
        let text = kernels(&compile_file(model.as_ref(), &options).unwrap());
        let (steps, shared) = text.split_once("code that layers share").unwrap();
        assert!(steps.contains("instructions, shift "), "{text}");
        for kernel in ["conv2d_i8_dsp_compact", "add_i8_dsp_compact"] {
            assert!(steps.contains(kernel) && shared.contains(kernel), "{text}");
        }
        assert!(!text.contains("conv2d_i8_dsp::"), "{text}");
    }

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
