//! Ops row by row that no model of the project's own has: operands that are the same for all rows, constants with rows of their own, tables,
//! changes of type. Generated code against the interpreter.

#[path = "../streamed.rs"]
mod streamed;

use cargo_kiln::compare::compare;
use cargo_kiln::place::{interpret, Place};
use kiln_codegen::ir::{DType, Data, Graph, Type};
use kiln_codegen::select::Call;
use kiln_codegen::{compile_graph, verify, Compiled, Input, Optimize, Options, Weights};
use kiln_kernel_table::KernelId;

/// Constants and nodes; `const NAME TYPE` becomes a constant with elements of its own.
fn graph(lines: &[&str]) -> Graph {
    let text: Vec<String> = lines.iter().map(|line| with_elements(line)).collect();
    let graph = Graph::parse(&format!("graph \"pipelines\" {{\n{}\n}}", text.join("\n"))).unwrap();
    verify::verify(&graph).unwrap();
    graph
}

fn with_elements(line: &str) -> String {
    let Some(declared) = line.strip_prefix("const ").filter(|line| !line.contains('=')) else {
        return line.into();
    };
    let dims = declared.split_once('[').and_then(|(_, dims)| dims.split_once(']')).unwrap().0;
    let count: usize = dims.split(',').map(|dim| dim.parse::<usize>().unwrap()).product();
    let element = |i: usize| match declared.contains("f32") {
        true => format!("{:?}", (i * 7 % 23) as f32 / 8.0 - 1.3),
        false => format!("{}", (i * 37 % 251) as i32 - 128),
    };
    format!("const {declared} = [{}]", (0..count).map(element).collect::<Vec<_>>().join(", "))
}

/// Inputs that differ from each other and from case to case.
fn inputs(graph: &Graph, case: usize) -> Vec<Data> {
    let data = |(k, ty): (usize, &Type)| {
        let number = |i: usize| (i * (2 * case + 5) + k * 11 + case * 31) * 2_654_435_761 % 4093;
        match ty.dtype {
            DType::F32 => Data::from_f32(
                &(0..ty.shape.numel()).map(|i| number(i) as f32 / 1024.0 - 2.0).collect::<Vec<_>>(),
            ),
            _ => Data::new((0..ty.bytes()).map(|i| number(i) as u8).collect::<Vec<_>>()),
        }
    };
    graph.inputs.iter().map(|&id| graph.ty(id)).enumerate().map(data).collect()
}

/// Runs the graph row by row and in bands; returns the compiled pipelines.
#[track_caller]
fn check(graph: &Graph) -> Compiled {
    let options = || Options { name: Some("Model".into()), ..Options::default() };
    let long = streamed::in_long_pipelines(graph.clone(), options()).unwrap().unwrap();
    let bands = streamed::in_bands(graph.clone(), options()).unwrap().unwrap();
    let again = streamed::computing_again(graph.clone(), options()).unwrap();
    let cases: Vec<Vec<Data>> = (0..4).map(|case| inputs(graph, case)).collect();
    let expected = interpret(graph, &cases).unwrap();
    for compiled in [&long, &bands].into_iter().chain(&again) {
        let got = Place::Host.run(graph, compiled, &cases).unwrap();
        for (case, (got, expected)) in got.iter().zip(&expected).enumerate() {
            for (k, (got, expected)) in got.iter().zip(expected).enumerate() {
                let difference = compare(graph.ty(graph.outputs[k]).dtype, got, expected);
                assert!(difference.passes(), "case {case}, output {k}: {difference:?}");
            }
        }
    }
    long
}

/// Layers that compute rows again: in kernels that take several rows, and in those that are called for each row; with windows of even and odd height, and with strides.
#[test]
fn rows_again() {
    let graph = graph(&[
        "input %x: i8[1,12,6,4] q(0.5 : -3)",
        "const %w: i8[5,1,1,4] q(0.5 : 0)",
        "const %d: i8[5,3,3,1] q(0.5 : 0)",
        "const %v: i8[3,2,2,5] q(0.5 : 0)",
        "const %u: i8[2,5,5,3] q(0.5 : 0)",
        "const %t: i8[256]",
        "%a: i8[1,12,6,5] q(0.5 : -3) = conv2d(%x, %w) {window = [1, 1], groups = 1, rescale = [1073741824 * 2^-6], clamp = -128..=127}",
        "%b: i8[1,12,6,5] q(0.5 : -3) = conv2d(%a, %d) {window = [3, 3] pad [1, 1, 1, 1], groups = 5, rescale = [1073741824 * 2^-7], clamp = -128..=127}",
        "%c: i8[1,12,6,5] q(0.5 : -3) = lookup(%b, %t)",
        "%e: i8[1,6,3,3] q(0.5 : -3) = conv2d(%c, %v) {window = [2, 2] stride [2, 2], groups = 1, rescale = [1073741824 * 2^-7], clamp = -128..=127}",
        "%f: i8[1,6,3,3] q(0.5 : -3) = lookup(%e, %t)",
        "%g: i8[1,6,3,2] q(0.5 : -3) = conv2d(%f, %u) {window = [5, 5] pad [2, 2, 2, 2], groups = 1, rescale = [1073741824 * 2^-8], clamp = -128..=127}",
        "return %g",
    ]);
    check(&graph);
    let options = Options { name: Some("Model".into()), ..Options::default() };
    let again = streamed::computing_again(graph, options).unwrap().unwrap();
    let repeats = |step: &&kiln_codegen::schedule::Step| step.beat.again.is_some();
    assert_eq!(again.schedule.steps.iter().filter(repeats).count(), 3, "{:#?}", again.schedule.steps);
}

#[test]
fn floats() {
    let graph = graph(&[
        "input %x: f32[1,9,6,4]",
        "input %gate: f32[1,1,1,4]",
        "input %column: f32[1,9,1,1]",
        "const %rows: f32[1,9,6,4]",
        "const %rank3: f32[9,6,4]",
        "const %channels: f32[4]",
        "const %beside: f32[1,9,6,3]",
        "const %w: f32[5,3,3,8]",
        "%a: f32[1,9,6,4] = add(%x, %rows) {rescale = real, clamp = -inf..=inf}",
        "%b: f32[1,9,6,4] = sub(%rank3, %a) {rescale = real, clamp = -2.0..=inf}",
        "%c: f32[1,9,6,4] = mul(%b, %gate) {rescale = real, clamp = -inf..=inf}",
        "%d: f32[1,9,6,4] = mul(%channels, %c) {rescale = real, clamp = -inf..=inf}",
        "%e: f32[1,9,6,4] = add(%d, %column) {rescale = real, clamp = -inf..=inf}",
        "%f: f32[1,9,6,4] = leaky_relu(%e) {alpha = 0.25, rescale = real}",
        "%g: f32[1,9,6,4] = tanh(%f)",
        "%h: f32[1,9,6,4] = logistic(%g)",
        "%i: f32[1,9,6,7] = concat(%beside, %h) {axis = 3}",
        "%j: f32[1,12,8,8] = pad(%i) {before = [0, 2, 1, 1], after = [0, 1, 1, 0], value = 0}",
        "%k: f32[1,5,6,5] = conv2d(%j, %w) {window = [3, 3] stride [2, 1], groups = 1, rescale = real, clamp = -inf..=inf}",
        "%l: f32[1,5,6,5] = softmax(%k) {beta = 2.0, scale = real}",
        "%m: f32[1,5,12,5] = concat(%l, %k) {axis = 2}",
        "%n: f32[1,1,1,5] = mean(%m) {axes = [1, 2], rescale = real, clamp = -inf..=inf}",
        "return %n, %l",
    ]);
    let compiled = check(&graph);
    assert_eq!(compiled.schedule.pipelines.len(), 1);
    let kernels: Vec<KernelId> = compiled.program.calls.iter().filter_map(Call::kernel).collect();
    use KernelId::{Conv2dF32, Copy, MeanRowsF32, MulF32, PadRows, SoftmaxF32};
    for kernel in [PadRows, MeanRowsF32, SoftmaxF32, Conv2dF32, Copy, MulF32] {
        assert!(kernels.contains(&kernel), "{kernel}: {kernels:?}");
    }
}

#[test]
fn bytes() {
    let q = "q(0.25 : -3)";
    let graph = graph(&[
        "input %x: f32[1,7,5,4]",
        &format!("const %beside: i8[1,7,5,4] {q}"),
        "const %table: i8[256]",
        &format!("%a: i8[1,7,5,4] {q} = quantize(%x)"),
        &format!("%b: i8[1,7,5,4] {q} = lookup(%a, %table)"),
        &format!("%c: i8[1,7,5,8] {q} = concat(%b, %beside) {{axis = 3}}"),
        &format!(
            "%d: i8[1,10,6,9] {q} = pad(%c) {{before = [0, 1, 0, 1], after = [0, 2, 1, 0], value = -3}}"
        ),
        &format!(
            "%e: i8[1,10,2,9] {q} = avg_pool2d(%d) {{window = [1, 3] stride [1, 3], clamp = -128..=127}}"
        ),
        &format!("%f: i8[1,1,2,9] {q} = avg_pool2d(%e) {{window = [10, 1], clamp = -128..=127}}"),
        "%g: f32[1,10,2,9] = dequantize(%e)",
        "return %f, %g",
    ]);
    let compiled = check(&graph);
    let kernels: Vec<KernelId> = compiled.program.calls.iter().filter_map(Call::kernel).collect();
    use KernelId::{AvgPoolRowsI8, Copy, DequantizeI8F32, Lookup8, PadRows, QuantizeF32I8};
    for kernel in [QuantizeF32I8, Lookup8, Copy, PadRows, AvgPoolRowsI8, DequantizeI8F32] {
        assert!(kernels.contains(&kernel), "{kernel}: {kernels:?}");
    }
}

/// Matrix products of images as vectors, with each way that sums become results: generated code against the interpreter, whole and by rows.
#[test]
fn images_as_vectors() {
    let bytes = |factors: &str| {
        let q = "q(0.5 : -3)";
        graph(&[
            &format!("input %x: i8[1,12,4,3] {q}"),
            "const %w: i8[5,3,3,3] q(0.5 : 0)",
            "const %d: i8[7,240] q(0.5 : 0)",
            "const %b: i32[7] = [100, -200, 300, 0, 5, 6, -7]",
            &format!("%a: i8[1,12,4,5] {q} = conv2d(%x, %w) {{window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = [1073741824 * 2^-7], clamp = -128..=127}}"),
            &format!("%v: i8[1,240] {q} = reshape(%a)"),
            &format!("%y: i8[1,7] {q} = dense(%v, %d, %b) {{rescale = {factors}, clamp = -100..=127}}"),
            "return %y",
        ])
    };
    let floats = graph(&[
        "input %x: f32[1,12,4,3]",
        "const %w: f32[5,3,3,3]",
        "const %d: f32[7,240]",
        "%a: f32[1,12,4,5] = conv2d(%x, %w) {window = [3, 3] pad [1, 1, 1, 1], groups = 1, rescale = real, clamp = -inf..=inf}",
        "%v: f32[1,240] = reshape(%a)",
        "%y: f32[1,7] = dense(%v, %d) {rescale = real, clamp = -9.0..=inf}",
        "return %y",
    ]);
    use KernelId::{DenseRowsF32, DenseRowsI8, DenseRowsI8Float, DenseRowsI8Once};
    let models = [
        (bytes("[1073741824 * 2^-9]"), DenseRowsI8),
        (bytes("once [1073741824 * 2^-9]"), DenseRowsI8Once),
        (bytes("float [0.001]"), DenseRowsI8Float),
        (floats, DenseRowsF32),
    ];
    for (graph, kernel) in models {
        for input in [Input::Whole, Input::Rows] {
            let name = Some("Model".into());
            let options = Options { name, input, optimize: Optimize::Memory, ..Options::default() };
            let compiled = compile_graph(graph.clone(), &options).unwrap();
            let called =
                compiled.program.calls.iter().filter_map(Call::kernel).any(|called| called == kernel);
            assert!(called, "{kernel}: {:#?}", compiled.program.calls);
            let cases: Vec<Vec<Data>> = (0..4).map(|case| inputs(&graph, case)).collect();
            let expected = interpret(&graph, &cases).unwrap();
            let got = Place::Host.run(&graph, &compiled, &cases).unwrap();
            for (got, expected) in got.iter().zip(&expected) {
                let difference = compare(graph.ty(graph.outputs[0]).dtype, &got[0], &expected[0]);
                assert!(difference.passes(), "{kernel}, {input:?}: {difference:?}");
            }
        }
    }
}

/// Packed weights have no such kernels: their layers take whole images, and keep their bytes.
#[test]
fn packed_weights_take_whole_images() {
    let nibbles = (0..7 * 240).map(|i| (i * 5 % 15 - 7).to_string()).collect::<Vec<_>>().join(", ");
    let graph = graph(&[
        "input %x: i8[1,12,4,5] q(0.5 : -3)",
        &format!("const %d: i8[7,12,4,5] q(0.5 : 0) = [{nibbles}]"),
        "%a: i8[1,12,4,5] q(0.5 : -3) = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -128..=127}",
        "%y: i8[1,1,1,7] q(0.5 : -3) = conv2d(%a, %d) {window = [12, 4], groups = 1, rescale = [1073741824 * 2^-9], clamp = -128..=127}",
        "return %y",
    ]);
    let bytes = |weights: Option<Weights>| {
        let options = Options {
            name: Some("Model".into()),
            optimize: Optimize::Memory,
            input: Input::Rows,
            weights,
            ..Options::default()
        };
        let compiled = compile_graph(graph.clone(), &options).unwrap();
        let rows = compiled.program.calls.iter().any(|call| call.kernel() == Some(KernelId::DenseRowsI8));
        (rows, compiled.program.constant_bytes())
    };
    let (whole, packed) = (bytes(None), bytes(Some(Weights::Packed)));
    assert!(whole.0 && !packed.0 && packed.1 < whole.1, "{whole:?}, {packed:?}");
}
