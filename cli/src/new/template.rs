//! The files of a new crate, from the templates in `cli/templates`.

mod port;

use super::destination::Destination;
use super::include::{self, include_model};
use super::operators::{self, Module};
use super::platform::{is_riscv, Platform};
use crate::number::grouped;
use anyhow::{Context, Result};
use kiln_boards::source::{Releases, RUNTIME, TEST};
use kiln_boards::{toolchain, Board, Runner, Source};
use kiln_codegen::Compiled;
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{context, Environment, UndefinedBehavior};
use port::Port;

/// Templates by name; those without an ending are files as they are.
const TEMPLATES: &[(&str, &str)] = &[
    ("Cargo.toml.j2", include_str!("../../templates/Cargo.toml.j2")),
    ("README.md.j2", include_str!("../../templates/README.md.j2")),
    ("bare.rs.j2", include_str!("../../templates/bare.rs.j2")),
    ("boot.j2", include_str!("../../templates/boot.j2")),
    ("build.rs.j2", include_str!("../../templates/build.rs.j2")),
    ("config.toml.j2", include_str!("../../templates/config.toml.j2")),
    ("device.rs.j2", include_str!("../../templates/device.rs.j2")),
    ("device.x", include_str!("../../templates/device.x")),
    ("embassy.rs.j2", include_str!("../../templates/embassy.rs.j2")),
    ("embassy_emulated.rs.j2", include_str!("../../templates/embassy_emulated.rs.j2")),
    ("embassy_esp.rs.j2", include_str!("../../templates/embassy_esp.rs.j2")),
    ("esp.rs.j2", include_str!("../../templates/esp.rs.j2")),
    ("gitignore", include_str!("../../templates/gitignore")),
    ("inputs.j2", include_str!("../../templates/inputs.j2")),
    ("lib.rs.j2", include_str!("../../templates/lib.rs.j2")),
    ("on_target.rs.j2", include_str!("../../templates/on_target.rs.j2")),
    ("operators.rs.j2", include_str!("../../templates/operators.rs.j2")),
    ("outputs.j2", include_str!("../../templates/outputs.j2")),
    ("rtic.rs.j2", include_str!("../../templates/rtic.rs.j2")),
    ("run.j2", include_str!("../../templates/run.j2")),
    ("run_async.j2", include_str!("../../templates/run_async.j2")),
    ("sample.rs.j2", include_str!("../../templates/sample.rs.j2")),
];

/// All that the templates are filled with.
pub(super) struct Project<'a> {
    pub(super) destination: &'a Destination,
    pub(super) board: &'a Board,
    pub(super) platform: &'a Platform,
    /// Whether there is a test for the board.
    pub(super) embedded_test: bool,
    /// Where Kiln's crates come from.
    pub(super) kiln: &'a Source,
    pub(super) model_file: &'a str,
    /// The feature of Kiln that reads the model's format.
    pub(super) feature: &'a str,
    pub(super) compiled: &'a Compiled,
    /// Multiply-accumulates of one inference.
    pub(super) macs: u64,
}

/// The files that come from templates: path in the crate, and content.
///
/// # Errors
/// Where a template is broken: a bug in Kiln.
pub(super) fn render(project: &Project<'_>) -> Result<Vec<(String, Vec<u8>)>> {
    let environment = environment()?;
    let modules = operators::modules(project.compiled)?;
    let context = values(project, &modules);
    let files = [
        ("Cargo.toml.j2", "Cargo.toml"),
        ("README.md.j2", "README.md"),
        ("build.rs.j2", "build.rs"),
        ("config.toml.j2", ".cargo/config.toml"),
        ("gitignore", ".gitignore"),
        ("lib.rs.j2", "src/lib.rs"),
        ("sample.rs.j2", "src/sample.rs"),
        (project.platform.main, "src/main.rs"),
    ];
    let test = project.embedded_test.then_some(("on_target.rs.j2", "tests/on_target.rs"));
    let rendered = |template: &str, path: String, context: &minijinja::Value| {
        let text = environment.get_template(template).and_then(|template| template.render(context));
        Ok((path, text.with_context(|| format!("template {template}: a bug in Kiln"))?.into_bytes()))
    };
    let files = files.into_iter().chain(project.platform.files.iter().copied()).chain(test);
    let files = files.map(|(template, path)| rendered(template, path.into(), &context));
    let modules = modules.iter().map(|module| {
        let path = format!("src/{}.rs", module.name);
        rendered("operators.rs.j2", path, &context! { module => Serde(module) })
    });
    files.chain(modules).collect()
}

fn environment() -> Result<Environment<'static>> {
    let mut environment = Environment::new();
    let syntax =
        SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    environment.set_syntax(syntax.context("the templates' syntax is wrong: a bug in Kiln")?);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_auto_escape_callback(|_| minijinja::AutoEscape::None);
    for (name, source) in TEMPLATES {
        environment.add_template(name, source).context("a template does not parse: a bug in Kiln")?;
    }
    Ok(environment)
}

fn values(project: &Project<'_>, modules: &[Module]) -> minijinja::Value {
    let Project { destination, board, platform, embedded_test, kiln, model_file, feature, compiled, macs } =
        project;
    let (plan, program) = (&compiled.plan, &compiled.program);
    let outputs = Port::all(&program.outputs, "output", "");
    // The reader of the model's format alone.
    let features = format!("features = [\"macros\", {feature:?}]");
    let runtime_keys: &[&str] = match *feature {
        "tflite" => &[],
        _ => &["default-features = false", &features],
    };
    context! {
        // The crate.
        name => destination.name.as_str(),
        crate => destination.crate_ident(),
        kiln => kiln.dependency(RUNTIME, Releases::Compatible, runtime_keys),
        kiln_test => kiln.dependency(TEST, Releases::Compatible, &[]),
        dependencies => Serde(&platform.dependencies),
        embedded_test => *embedded_test,
        test_dependencies => Serde(platform.test_dependencies()),
        // The board.
        board => board.name.as_str(),
        board_description => board.description.as_str(),
        target => board.target.as_str(),
        rustflags => Serde(&board.rustflags),
        runner => runner(board, *embedded_test),
        emulated => board.is_emulated(),
        riscv => is_riscv(board),
        emulator => emulator(board),
        emulator_install => toolchain::how_to_install(emulator(board)),
        hal_links => !platform.has_memory_x(),
        priority_bits => if board.target.starts_with("thumbv6m") { 2 } else { 3 },
        bench_board => if board.is_emulated() { board.name.as_str() } else { "qemu-cortex-m4" },
        chip => chip(board),
        hal => platform.hal,
        led => platform.led,
        led_column => platform.led_column,
        device => platform.device,
        dispatchers => platform.dispatchers,
        // The model.
        model_file => *model_file,
        type => compiled.type_name(),
        cases => cases(*macs),
        optimize => compiled.options.optimize.name(),
        include_model => include_model(compiled, model_file),
        include_model_for_tests => include::for_tests(compiled, model_file),
        equivalence => include::equivalence(compiled),
        modules => modules.iter().map(|module| module.name.clone()).collect::<Vec<_>>(),
        fed => compiled.options.input.name(),
        float_outputs => outputs.iter().any(|output| output.element == "f32"),
        inputs => Serde(Port::all(&program.inputs, "input", "_mut")),
        outputs => Serde(outputs),
        arena_bytes => grouped(plan.scratch_bytes() as u64),
        state_bytes => grouped(plan.state_bytes as u64),
        constant_bytes => grouped(program.constant_bytes() as u64),
    }
}

/// What `cargo run` calls: QEMU itself, or the command that flashes. Tests on the board are run by probe-rs, which runs all else, too.
fn runner(board: &Board, embedded_test: bool) -> Vec<String> {
    match board.is_emulated() || embedded_test {
        true => board.runner.command(),
        false => ["cargo", "kiln", "run", "--board", &board.name].map(str::to_owned).to_vec(),
    }
}

/// The chip as probe-rs knows it; empty for an emulated one.
fn chip(board: &Board) -> &str {
    match &board.runner {
        Runner::Qemu { .. } => "",
        Runner::ProbeRs { chip, .. } => chip,
    }
}

/// The program that emulates the board; empty for a real one.
fn emulator(board: &Board) -> &str {
    match &board.runner {
        Runner::Qemu { program, .. } => program,
        Runner::ProbeRs { .. } => "",
    }
}

/// How many random inputs the test of a new crate compares: fewer where the interpreter, which is not optimised there, would take minutes.
fn cases(macs: u64) -> u64 {
    const MACS: u64 = 20_000_000;
    (MACS / macs.max(1)).clamp(2, 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_template_is_known_and_parses() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("templates");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, TEMPLATES.iter().map(|template| template.0).collect::<Vec<_>>());
        environment().unwrap();
    }

    #[test]
    fn large_models_are_tested_on_fewer_inputs() {
        assert_eq!([0, 91_136, 5_709_472, 50_000_000].map(cases), [20, 20, 3, 2]);
    }
}
