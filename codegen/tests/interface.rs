//! What callers are told of inputs is what the model declares, whatever passes make of them.

use kiln_codegen::ir::Graph;
use kiln_codegen::{compile_graph, Input, Options};

#[test]
fn inputs_keep_their_quantisation() {
    let graph = Graph::parse(
        "graph \"g\" {
           input %x: i8[1,48] q(0.5 : -3)
           %i: i8[1,6,4,2] q(0.25 : 4) = reshape(%x)
           %y: i8[1,3,2,2] q(0.25 : 4) = max_pool2d(%i) {window = [2, 2] stride [2, 2], clamp = -128..=127}
           return %y
         }",
    )
    .unwrap();
    for input in [Input::Whole, Input::Rows] {
        let compiled = compile_graph(graph.clone(), &Options { input, ..Options::default() }).unwrap();
        let ty = &compiled.program.inputs[0].ty;
        assert_eq!((ty.scale(), ty.zero_point()), (Some(0.5), -3), "{input:?}");
    }
}
