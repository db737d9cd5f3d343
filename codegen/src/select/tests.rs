//! What has no kernel is refused, with its place and the way out.

use crate::ir::Graph;
use crate::{plan, schedule, verify};

/// The message about a graph, of which the lines between the braces are given.
fn refusal(lines: &str) -> String {
    let graph = Graph::parse(&format!("graph \"test\" {{\n{lines}\n}}")).unwrap();
    verify::verify(&graph).unwrap();
    let schedule = schedule::schedule(&graph);
    let plan = plan::plan(&graph, &schedule).unwrap();
    super::select(&graph, &schedule, &plan, &crate::Options::default()).unwrap_err().to_string()
}

#[test]
fn types_without_a_kernel() {
    let message = refusal(
        "input %x: i32[1,4] q(0.5 : 0)
         %y: f32[1,4] = dequantize(%x) from \"3 DEQUANTIZE\"
         return %y",
    );
    assert!(
        message.contains("3 DEQUANTIZE: there is no kernel for `dequantize` on (i32[1, 4]) giving f32[1, 4]"),
        "{message}"
    );
    assert!(
        message.contains("help: it has kernels for int8 or uint8, quantised per tensor, to float32;"),
        "{message}"
    );
}

#[test]
fn too_many_axes() {
    let seven = "f32[1,2,1,2,1,2,1]";
    let message = refusal(&format!(
        "input %x: {seven}
         input %z: {seven}
         %y: {seven} = add(%x, %z) {{rescale = real, clamp = -inf..=inf}} from \"0 ADD\"
         return %y"
    ));
    assert!(message.contains("0 ADD: `add` of 7 axes, at most 6 are possible"), "{message}");
    assert!(message.contains("help: reshape"), "{message}");
}

/// A small file can declare a batch of any size, and each of its images is a call.
#[test]
fn huge_batches() {
    let message = refusal(
        "input %x: f32[100000000,1,1,1]
         %y: f32[100000000,1,1,1] = max_pool2d(%x) {window = [1, 1], clamp = -inf..=inf} from \"0 MAX_POOL_2D\"
         return %y",
    );
    assert!(message.contains("0 MAX_POOL_2D: it works on 100000000 images at once, at most 64"), "{message}");
    assert!(message.contains("help: convert the model with a batch of 1"), "{message}");
}

#[test]
fn weights_that_are_computed() {
    let message = refusal(
        "input %x: f32[1,2]
         input %w: f32[3,2]
         %y: f32[1,3] = dense(%x, %w) {rescale = real, clamp = -inf..=inf} from \"0 FULLY_CONNECTED\"
         return %y",
    );
    assert!(
        message.contains("0 FULLY_CONNECTED: its weights are computed while the model runs"),
        "{message}"
    );
}

#[test]
fn all_problems_at_once() {
    let message = refusal(
        "input %x: i32[1,4] q(0.5 : 0)
         %y: f32[1,4] = dequantize(%x) from \"0 A\"
         %z: f32[1,4] = dequantize(%x) from \"1 B\"
         return %y, %z",
    );
    assert!(message.contains("0 A:") && message.contains("1 B:"), "{message}");
}

/// A dense layer needs all rows of its operand.
#[test]
fn rows_of_what_has_none() {
    let graph = Graph::parse(
        "graph \"test\" {
           input %x: f32[4,2]
           const %w: f32[3,2] = splat 1.0
           %a: f32[4,2] = tanh(%x)
           %y: f32[4,3] = dense(%a, %w) {rescale = real, clamp = -inf..=inf}
           return %y
         }",
    )
    .unwrap();
    verify::verify(&graph).unwrap();
    let mut schedule = schedule::schedule(&graph);
    let a = graph.node(graph.order[0]).result;
    let place = schedule.storage.places[a.0 as usize].as_mut().unwrap();
    place.ring = Some(2);
    let plan = plan::plan(&graph, &schedule).unwrap();
    let message =
        super::select(&graph, &schedule, &plan, &crate::Options::default()).unwrap_err().to_string();
    assert!(message.contains("it is scheduled row by row, and has no kernel for that"), "{message}");
}

/// What is refused at one stage does not hide what another one refuses.
#[test]
fn budgets_are_told_beside_missing_kernels() {
    let graph = Graph::parse(
        "graph \"test\" {
           input %x: i32[1,400] q(0.5 : 0)
           %y: f32[1,400] = dequantize(%x) from \"3 DEQUANTIZE\"
           return %y
         }",
    )
    .unwrap();
    let options = crate::Options { ram: Some(1000), ..crate::Options::default() };
    let message = crate::compile_graph(graph.clone(), &options).unwrap_err().to_string();
    assert!(message.contains("there is no kernel") && message.contains("ram: 1600 bytes"), "{message}");

    let options = crate::Options { input: crate::Input::Sliding, ..crate::Options::default() };
    let message = crate::compile_graph(graph, &options).unwrap_err().to_string();
    assert!(message.contains("there is no kernel") && message.contains("option `input"), "{message}");
}
