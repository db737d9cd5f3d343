//! Sliding models with strides, branches and rows that no window needs: every output of a long sequence of frames is the interpreter's on
//! that window, on the host and as firmware.

use cargo_kiln::bench::bench;
use cargo_kiln::place::build_firmware;
use cargo_kiln::slide::Sequence;
use cargo_kiln::validate::validate;
use kiln_boards::firmware::Mode;
use kiln_boards::image::Image;
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::select::Slide;
use kiln_codegen::{compile_graph, Compiled, Input, Options, Target};
use kiln_host_tests::assert_slides;

const POOLS: &str = "clamp = -128..=127";
const FLOATS: &str = "clamp = -inf..=inf";

/// The graph of those lines, and it compiled to slide.
fn compiled(name: &str, lines: &str) -> (Graph, Compiled) {
    let graph = Graph::parse(&format!("graph \"{name}\" {{\n{lines}\n}}")).unwrap();
    kiln_codegen::verify::verify(&graph).unwrap();
    let options = Options { input: Input::Sliding, ..Options::default() };
    let compiled = compile_graph(graph.clone(), &options).unwrap();
    (graph, compiled)
}

/// Compares all outputs of a sequence, and returns how the model slides.
fn slide(name: &str, lines: &str) -> Slide {
    let (graph, compiled) = compiled(name, lines);
    let fed = compiled.program.fed.unwrap();
    let slide = fed.slide.unwrap();
    // Floats of a few different sizes; integers get noise as well.
    let ty = graph.ty(graph.inputs[0]);
    let window: Vec<f32> = (0..ty.shape.numel()).map(|k| ((k * 37 + 11) % 101) as f32 / 16.0 - 3.0).collect();
    let window = match ty.dtype.size() {
        4 => Data::from_f32(&window),
        _ => Data::from_i8(&window.iter().map(|x| (x * 40.0) as i8).collect::<Vec<_>>()),
    };
    let sequence = Sequence::new(&graph, &[vec![window]], fed.rows, slide.hop).unwrap();
    assert!(
        sequence.frames.len() > fed.rows + 2 * slide.period,
        "the count of frames does not go back twice"
    );
    assert_slides(&graph, &compiled, &sequence);
    let board = kiln_boards::Board::find("qemu-cortex-m4").unwrap();
    let image = build_firmware(&compiled, board, Mode::Bench).unwrap();
    assert!(Image::read(&image.elf).unwrap().unwanted().is_empty(), "{name} may panic");
    slide
}

#[test]
fn strides_make_hops() {
    let lines = format!(
        "input %x: i8[1,9,2,3] q(0.5 : 3)
         %a: i8[1,7,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [3, 2], {POOLS}}}
         %b: i8[1,3,1,3] q(0.5 : 3) = avg_pool2d(%a) {{window = [3, 1] stride [2, 1], {POOLS}}}
         %d: i8[1,1,1,3] q(0.5 : 3) = avg_pool2d(%b) {{window = [3, 1], {POOLS}}}
         return %d"
    );
    assert_eq!(slide("strides", &lines).hop, 2);
}

/// A window of ten frames, of which the path with the strides needs nine.
#[test]
fn the_last_frame_may_be_of_no_use() {
    let lines = format!(
        "input %x: i8[1,10,2,3] q(0.5 : 3)
         %a: i8[1,8,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [3, 2], {POOLS}}}
         %b: i8[1,3,1,3] q(0.5 : 3) = avg_pool2d(%a) {{window = [3, 1] stride [2, 1], {POOLS}}}
         %d: i8[1,1,1,3] q(0.5 : 3) = avg_pool2d(%b) {{window = [3, 1], {POOLS}}}
         return %d"
    );
    assert_eq!(slide("unused", &lines).hop, 2);
}

/// One branch needs all rows of the window, the other all but the last.
#[test]
fn branches_join() {
    let lines = format!(
        "input %x: i8[1,10,2,3] q(0.5 : 3)
         %a: i8[1,8,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [3, 2], {POOLS}}}
         %b: i8[1,3,1,3] q(0.5 : 3) = avg_pool2d(%a) {{window = [3, 1] stride [2, 1], {POOLS}}}
         %d: i8[1,1,1,3] q(0.5 : 3) = avg_pool2d(%b) {{window = [3, 1], {POOLS}}}
         %m: i8[1,5,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [2, 2] stride [2, 1], {POOLS}}}
         %e: i8[1,1,1,3] q(0.5 : 3) = max_pool2d(%m) {{window = [5, 1], {POOLS}}}
         %c: i8[1,1,1,6] q(0.5 : 3) = concat(%d, %e) {{axis = 3}}
         return %c, %d"
    );
    assert_eq!(slide("branches", &lines).hop, 2);
}

/// What cannot slide says which node prevents it.
#[test]
fn obstacles_are_named() {
    let refused = |lines: &str| {
        let graph = Graph::parse(&format!("graph \"g\" {{\n{lines}\n}}")).unwrap();
        let options = Options { input: Input::Sliding, ..Options::default() };
        compile_graph(graph, &options).unwrap_err().to_string()
    };
    let strides = refused(&format!(
        "input %x: i8[1,10,2,3] q(0.5 : 3)
         %m \"every\": i8[1,1,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [10, 2], {POOLS}}}
         %a \"other\": i8[1,5,1,3] q(0.5 : 3) = max_pool2d(%x) {{window = [2, 2] stride [2, 1], {POOLS}}}
         %e \"pace\": i8[1,1,1,3] q(0.5 : 3) = max_pool2d(%a) {{window = [5, 1], {POOLS}}}
         return %m, %e"
    ));
    assert!(strides.contains("max_pool2d \"pace\""), "{strides}");
    let numbers: Vec<String> = (0..24).map(|k| format!("{k}.0")).collect();
    let rows = refused(&format!(
        "input %x: f32[1,4,2,3]
         const %k: f32[1,4,2,3] = [{}]
         %y \"embedded\": f32[1,4,2,3] = add(%x, %k) {{rescale = real, {FLOATS}}}
         %z: f32[1,1,1,3] = max_pool2d(%y) {{window = [4, 2], {FLOATS}}}
         return %z",
        numbers.join(", ")
    ));
    assert!(rows.contains("add \"embedded\" has constants that differ from row to row"), "{rows}");
}

/// Means over all rows, of a mantissa as TensorFlow Lite's converter and its division by 49 leave it.
#[test]
fn means_slide() {
    for (name, mean) in [
        ("means", "%y: i8[1,3] q(0.25 : -5) = mean(%a) {axes = [1, 2], rescale = [701408733 * 2^-3], POOLS}"),
        (
            "means_of_columns",
            "%y: i8[1,1,7,3] q(0.5 : 3) = mean(%a) {axes = [1], rescale = [613566756 * 2^-1], POOLS}",
        ),
    ] {
        let lines = format!(
            "input %x: i8[1,9,7,3] q(0.5 : 3)
             %a: i8[1,7,7,3] q(0.5 : 3) = max_pool2d(%x) {{window = [3, 1], {POOLS}}}
             {}
             return %y",
            mean.replace("POOLS", POOLS)
        );
        assert_eq!(slide(name, &lines).hop, 1);
    }
    let lines = format!(
        "input %x: f32[1,8,3,2]
         %a: f32[1,7,2,2] = max_pool2d(%x) {{window = [2, 2], {FLOATS}}}
         %m: f32[1,2] = mean(%a) {{axes = [1, 2], rescale = real, {FLOATS}}}
         return %m"
    );
    assert_eq!(slide("means_of_floats", &lines).hop, 1);
}

#[test]
fn floats_slide() {
    let lines = format!(
        "input %x: f32[1,8,3,2]
         const %w: f32[2,3,1,2] = [0.5, -1, 2, 0.25, 1.5, -0.5, 1, 1, -2, 0.125, 3, -1]
         const %b: f32[2] = [0.5, -4]
         %a: f32[1,6,3,2] = conv2d(%x, %w, %b) {{window = [3, 1], groups = 1, rescale = real, {FLOATS}}}
         %t: f32[1,6,3,2] = tanh(%a)
         %m: f32[1,6,3,2] = mul(%t, %a) {{rescale = real, {FLOATS}}}
         %p: f32[1,1,1,2] = max_pool2d(%m) {{window = [6, 3], {FLOATS}}}
         %y: f32[1,1,1,2] = softmax(%p) {{beta = 1.0, scale = real}}
         return %y"
    );
    assert_eq!(slide("floats", &lines).hop, 1);
}

/// MLPerf's streaming wake word: 230 frames and the golden windows. With the same plain kernels for both, on a core without blocks of assembly for their
/// sums, a frame takes no more than 6 % of an inference's instructions; with those for a Cortex-M4, on which one row at a time costs more than its share, no more than 90,000 cycles.
#[test]
fn a_frame_costs_a_fraction_of_a_window() {
    let Some(folder) = kiln_host_tests::corpus_folder() else {
        println!("KILN_CORPUS is not set: the streaming wake word was not measured");
        return;
    };
    let model = folder.join("tflite/mlperf_strww_int8.tflite");
    let golden = folder.join("golden/mlperf_strww_int8.npz");
    let options = Options { input: Input::Sliding, ..Options::default() };
    let places = ["host".to_string(), "qemu-cortex-m4".to_string()];
    let report = validate(&model, &options, &golden, &places).unwrap();
    assert!(report.passes() && report.frames >= 200, "{}", report.text());
    let plain = Options { target: Some(Target::Portable), ..options.clone() };
    let report = bench(&model, &plain, "qemu-cortex-m0", false).unwrap();
    let (hop, window) = (report.instructions(), report.window_instructions().unwrap());
    assert!(hop * 100 <= window * 6, "{hop} of {window} instructions");
    let report = bench(&model, &options, "qemu-cortex-m4", false).unwrap();
    assert!(report.result().total.cycles <= 90_000, "{} cycles", report.result().total.cycles);
    assert!(report.ram_bytes() <= 4500, "{} bytes", report.ram_bytes());
    assert!(report.result().stack_bytes < 1024, "{} bytes of stack", report.result().stack_bytes);
}
