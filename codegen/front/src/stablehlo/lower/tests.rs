//! What modules become.

use crate::stablehlo::reader::READER;
use kiln_ir::options::Options;
use kiln_ir::{Data, Graph};

fn graph(text: &str) -> Graph {
    let read = (READER.read)(text.as_bytes(), "test", &Options::default()).unwrap();
    assert!(read.problems.is_empty(), "{:?}", read.problems);
    read.graph
}

#[test]
fn explore() {
    let Ok(path) = std::env::var("HLO") else { return };
    for path in path.split(',') {
        let text = std::fs::read_to_string(path).unwrap();
        let graph = graph(&text);
        let mut live = std::collections::HashSet::new();
        let mut open: Vec<_> = graph.outputs.clone();
        let mut counts = std::collections::BTreeMap::new();
        while let Some(value) = open.pop() {
            let Some(id) = graph.producer(value) else { continue };
            if live.insert(id.0) {
                let node = graph.node(id);
                let text = format!("{:?}", node.op);
                let name: String = text
                    .split(['{', ','])
                    .take(
                        if text.starts_with("Unary")
                            || text.starts_with("Binary")
                            || text.starts_with("Reduce")
                        {
                            2
                        } else {
                            1
                        },
                    )
                    .collect();
                *counts.entry(name).or_insert(0) += 1;
                open.extend(node.operands.iter());
            }
        }
        println!("{path}: {counts:?}");
    }
}
