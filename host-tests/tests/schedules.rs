//! Written schedules: what the compiler decides can be written down, read back and edited; and every kernel that it offers computes the same bits.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::noise::Noise;
use cargo_kiln::place::Place;
use cargo_kiln::tune::{offers, tune};
use kiln_boards::Board;
use kiln_codegen::ir::NodeId;
use kiln_codegen::schedule::StepKind;
use kiln_codegen::search::written::{replaced, Key};
use kiln_codegen::{
    compile_graph, import, read_file, Compiled, Error, Input, Optimize, Options, ScheduleFile, Target,
};
use kiln_host_tests::{corpus, own_models, sweeps, Model};
use std::path::Path;

/// Processors with kernels of their own.
const TARGETS: [Target; 6] = [
    Target::Portable,
    Target::CortexM0,
    Target::CortexMDsp,
    Target::CortexMHelium,
    Target::Rv32,
    Target::Vectors,
];

fn with(options: &Options, text: String) -> Options {
    let schedule = Some(ScheduleFile { path: "test.schedule".into(), text: Some(text) });
    Options { schedule, ..options.clone() }
}

/// Compiles by the schedule that is written of what the rules decided: the same Rust comes of it.
fn assert_reads_back(model: &Model, options: &Options) -> Option<Compiled> {
    let graph = import(&read_file(&model.path).unwrap(), &model.name, options).ok()?;
    // A model that does not go row by row, say.
    let rules = compile_graph(graph.clone(), options).ok()?;
    let text = rules.written();
    let what = || format!("{} with {:?}\n{text}", model.name, options.given());
    let again =
        compile_graph(graph, &with(options, text.clone())).unwrap_or_else(|e| panic!("{}: {e}", what()));
    assert!(again.unused.is_empty(), "{}: {:?}", what(), again.unused);
    let rust = |compiled: &Compiled| compiled.tokens(&Default::default()).to_string();
    assert!(rust(&rules) == rust(&again), "{}", what());
    assert_eq!(again.written(), text);
    Some(rules)
}

#[test]
fn what_is_decided_is_read_as_it_is_written() {
    let mut models: Vec<Model> = own_models();
    if sweeps() {
        models.extend(corpus());
    } else {
        // Models of a single operator are many, and much the same here.
        let mut count = 0;
        models.retain(|model| {
            count += usize::from(model.name.starts_with("op_"));
            !model.name.starts_with("op_") && !model.name.starts_with("computed_") || count % 48 == 1
        });
    }
    let mut count = 0;
    for model in &models {
        for target in TARGETS {
            for (optimize, input, half) in [
                (Optimize::Speed, Input::Whole, true),
                (Optimize::Size, Input::Whole, false),
                (Optimize::Memory, Input::Rows, false),
                (Optimize::Memory, Input::Whole, false),
                (Optimize::Speed, Input::Sliding, false),
            ] {
                let options = Options { optimize, input, target: Some(target), ..Options::default() };
                let Some(rules) = assert_reads_back(model, &options) else { continue };
                count += 1;
                // A budget, under which the graph may be rewritten for less memory.
                if half {
                    let ram = Some(rules.plan.ram_bytes() * 3 / 4);
                    count += usize::from(assert_reads_back(model, &Options { ram, ..options }).is_some());
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

/// Runs a model with each kernel that is offered for each layer, and compares all outputs with the interpreter's. Returns how many layers had another kernel than that of the rules.
fn assert_all_compute_the_same(model: &Model, place: &str, input: Input) -> usize {
    let at = Place::find(place).unwrap();
    let options = at.options(&Options { input, ..Options::default() });
    let Ok(graph) = import(&read_file(&model.path).unwrap(), &model.name, &options) else { return 0 };
    let Ok(rules) = compile_graph(graph.clone(), &options) else { return 0 };
    let mut noise = Noise::default();
    let cases = [noise.inputs(&graph), noise.inputs(&graph)];
    let expected = Place::Interp.run(&graph, &rules, &cases).unwrap();
    let (offers, runs) = (offers(&rules), rules.kept().unwrap().nodes.clone());
    for chosen in &rules.program.chosen {
        let StepKind::Compute(node) = rules.schedule.steps[chosen.step].kind else { continue };
        let whole = rules.schedule.pipeline_of(chosen.step).is_none();
        let names: Vec<_> = rules.offers(node, whole).iter().map(|choice| choice.name()).collect();
        assert!(names.contains(&chosen.name), "{chosen:?} is none of {names:?}");
    }
    let rounds = offers.values().map(Vec::len).max().unwrap_or(0);
    let mut others = 0;
    for round in 0..rounds {
        let name = |node: NodeId| offers.get(&node).and_then(|names| names.get(round)).map(String::as_str);
        let options = with(&options, rules.written_as(&runs, name));
        let compiled =
            compile_graph(graph.clone(), &options).unwrap_or_else(|e| panic!("{}: {e}", model.name));
        assert!(compiled.unused.is_empty(), "{:?}", compiled.unused);
        let chosen = |c: &Compiled| c.program.chosen.iter().map(|c| c.name.to_string()).collect::<Vec<_>>();
        others += chosen(&compiled).iter().zip(chosen(&rules)).filter(|(name, own)| **name != *own).count();
        let actual = at.run(&graph, &compiled, &cases).unwrap();
        for (case, (actual, expected)) in actual.iter().zip(&expected).enumerate() {
            for ((actual, expected), &output) in actual.iter().zip(expected).zip(&graph.outputs) {
                let difference = compare(graph.ty(output).dtype, actual, expected);
                let written = rules.written_as(&runs, name);
                assert!(
                    difference.passes(),
                    "{} on {place}, case {case}: {difference:?}\n{written}",
                    model.name
                );
            }
        }
    }
    others
}

#[test]
fn every_kernel_that_is_offered_computes_the_same() {
    let boards = ["qemu-cortex-m4", "qemu-cortex-m0", "qemu-cortex-m55", "qemu-rv32imc", "host"];
    // Convolutions, also of one axis, depthwise ones and matrix products of each kind.
    let wanted = ["residual_int8", "op_conv2d_whole_image_int8", "op_dense_rows_int8"];
    // Its first layers are planar.
    let digits = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/digits/models/digits_int8.tflite");
    let digits = Model { name: "digits_int8".into(), golden: digits.with_extension("npz"), path: digits };
    let models: Vec<Model> = own_models()
        .into_iter()
        .filter(|model| sweeps() || wanted.iter().any(|name| model.name == *name))
        .chain([digits])
        .collect();
    assert!(!models.is_empty());
    for board in boards {
        let counts: Vec<usize> = models
            .iter()
            .flat_map(|model| {
                let by_rows = sweeps() || model.name == "residual_int8" && board == boards[0];
                let inputs = [Input::Whole, Input::Rows];
                inputs.map(|input| match input == Input::Whole || by_rows {
                    true => assert_all_compute_the_same(model, board, input),
                    false => 0,
                })
            })
            .collect();
        assert!(counts.iter().sum::<usize>() > 3, "{board}: {counts:?}");
    }
}

/// Lines of a schedule in another order, with other groups, and with other kernels: each is refused with its line, or gives a model that computes the same.
#[test]
fn edited_schedules_are_refused_or_right() {
    let models = own_models();
    let model = models.iter().find(|model| model.name == "residual_int8").unwrap();
    let options = Options { target: Some(Target::Portable), ..Options::default() };
    let graph = import(&read_file(&model.path).unwrap(), &model.name, &options).unwrap();
    let rules = compile_graph(graph.clone(), &options).unwrap();
    let cases = [Noise::default().inputs(&graph)];
    let expected = Place::Interp.run(&graph, &rules, &cases).unwrap();
    let text = rules.written();
    let lines: Vec<&str> = text.lines().collect();
    let nodes = lines.len() - 2;
    let (mut refused, mut other, mut places) = (0, 0, Vec::new());
    let mut attempt =
        |edited: Vec<&str>| match compile_graph(graph.clone(), &with(&options, edited.join("\n"))) {
            Err(Error::Options(problem)) => {
                assert!(problem.place.starts_with("option `schedule`: test.schedule, line "), "{problem:?}");
                refused += 1;
            }
            Err(error) => panic!("{error}\n{}", edited.join("\n")),
            Ok(compiled) => {
                other += 1;
                assert!(compiled.unused.is_empty());
                places.push(compiled);
            }
        };
    for a in 1..=nodes {
        for b in a + 1..=nodes {
            let mut swapped = lines.clone();
            swapped.swap(a, b);
            attempt(swapped);
            let mut grouped = lines.clone();
            grouped.insert(b + 1, "}");
            grouped.insert(a, "rows {");
            attempt(grouped);
        }
    }
    assert!(refused > 5 && other > 5, "{refused} refused, {other} compiled");
    // Each arena is one of its own. A few are run.
    places.sort_by_key(|compiled| compiled.plan.ram_bytes());
    for compiled in places.iter().step_by((places.len() / 3).max(1)) {
        let actual = Place::Host.run(&graph, compiled, &cases).unwrap();
        assert_eq!(actual, expected, "{}", compiled.written());
    }
}

/// What is tuned is measured again, and no worse; and a file keeps what was tuned for others.
#[test]
fn tuning_writes_what_it_measured() {
    let models = own_models();
    let model = models.iter().find(|model| model.name == "residual_int8").unwrap();
    let board = Board::find("qemu-cortex-m0").unwrap();
    let tuned = tune(&model.path, &Options::default(), board, None, None).unwrap();
    let [before, after] = tuned.cycles;
    assert!(after <= before && tuned.measured > 1 && tuned.unmeasured == 0, "{tuned:?}");
    let file = ScheduleFile { path: "test.schedule".into(), text: Some("# other\n".into()) };
    let text = replaced(&file, tuned.key, &tuned.text).unwrap();
    assert!(
        text.starts_with("# other\n\nschedule cortex-m0 speed whole {\n  # estimated on qemu-cortex-m0: "),
        "{text}"
    );
    let options = with(&Options::default(), text);
    let cycles = |options: &Options| {
        let report = cargo_kiln::bench::bench(&model.path, options, &board.name, false).unwrap();
        report.result().total.cycles
    };
    assert_eq!([cycles(&Options::default()), cycles(&options)], [before, after]);
    assert_eq!(tuned.key, Key { target: Target::CortexM0, optimize: Optimize::Speed, input: Input::Whole });
    // No time: nothing is measured but what the rules choose.
    let hasty = tune(&model.path, &Options::default(), board, None, Some(0)).unwrap();
    assert!(
        hasty.unmeasured > 0 && hasty.changes.is_empty() && hasty.cycles == [before, before],
        "{hasty:?}"
    );
}
