//! Several models as one graph, so that compilers start once for all of them.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::golden::Golden;
use cargo_kiln::place::Place;
use kiln_codegen::ir::{Data, Graph, ValueDef, ValueId};
use kiln_codegen::{compile_graph, Options};
use std::collections::HashMap;
use std::path::Path;

/// Models side by side, with their golden cases.
pub struct SideBySide {
    graph: Graph,
    /// `inputs[case][k]`; the cases of a model that has fewer begin again.
    inputs: Vec<Vec<Data>>,
    /// `outputs[case][k]`.
    outputs: Vec<Vec<Data>>,
    /// Of each output, the model and its place among the model's own.
    sources: Vec<(String, usize)>,
}

impl SideBySide {
    /// The ONNX models of a folder, each with its golden cases beside it (`<name>.onnx`, `<name>.npz`), whose names are `wanted`.
    ///
    /// # Panics
    /// Where a file cannot be read, or a golden file does not fit its model.
    pub fn of_folder(folder: &Path, name: &str, wanted: impl Fn(&str) -> bool) -> Self {
        let mut files: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        files.retain(|path| path.extension().is_some_and(|ending| ending == "onnx"));
        files.sort();
        let mut models = Vec::new();
        for path in files {
            let name = kiln_codegen::model_name(&path);
            if wanted(&name) {
                let bytes = std::fs::read(&path).unwrap();
                let graph = kiln_codegen::import(&bytes, &name, &Options::default());
                let graph = graph.unwrap_or_else(|error| panic!("{name}: {error}"));
                models.push((graph, Golden::read(&path.with_extension("npz")).unwrap()));
            }
        }
        Self::of(name, &models)
    }

    /// Models with their golden cases as one of that name.
    ///
    /// # Panics
    /// Where golden cases do not fit their model, or it has states.
    pub fn of(name: &str, models: &[(Graph, Golden)]) -> Self {
        let count = models.iter().map(|(_, golden)| golden.inputs.len()).max().unwrap_or(0);
        let mut all = SideBySide {
            graph: Graph::new(name),
            inputs: vec![Vec::new(); count],
            outputs: vec![Vec::new(); count],
            sources: Vec::new(),
        };
        for (graph, golden) in models {
            assert!(graph.states.is_empty(), "{}: what a model keeps is not known beside others", graph.name);
            for (types, ids) in [(&golden.input_types, &graph.inputs), (&golden.output_types, &graph.outputs)]
            {
                let own: Vec<_> = ids.iter().map(|&id| graph.ty(id).dtype).collect();
                assert_eq!(&own, types, "{}", graph.name);
            }
            all.add(graph);
            for case in 0..count {
                let own = case % golden.inputs.len();
                all.inputs[case].extend(golden.inputs[own].iter().cloned());
                all.outputs[case].extend(golden.outputs[own].iter().cloned());
            }
        }
        all
    }

    fn add(&mut self, model: &Graph) {
        let mut known: HashMap<ValueId, ValueId> = HashMap::new();
        for (k, &id) in model.inputs.iter().enumerate() {
            let name = format!("{}_in_{k}", model.name);
            known.insert(id, self.graph.add_input(name, model.ty(id).clone()));
        }
        let find = |all: &mut Graph, known: &mut HashMap<ValueId, ValueId>, id: ValueId| {
            *known.entry(id).or_insert_with(|| {
                let value = model.value(id);
                let ValueDef::Const(data) = &value.def else { panic!("{} is used before", value.name) };
                all.add_const(value.name.clone(), value.ty.clone(), data.clone())
            })
        };
        for (_, node) in model.nodes() {
            let operands: Vec<ValueId> =
                node.operands.iter().map(|&id| find(&mut self.graph, &mut known, id)).collect();
            let value = model.value(node.result);
            let origin = format!("{} {}", model.name, node.origin);
            let result =
                self.graph.add_node(node.op.clone(), &operands, value.name.clone(), value.ty.clone(), origin);
            known.insert(node.result, result);
        }
        for (k, &id) in model.outputs.iter().enumerate() {
            let output = find(&mut self.graph, &mut known, id);
            self.graph.outputs.push(output);
            self.sources.push((model.name.clone(), k));
        }
    }

    /// How many models there are.
    pub fn len(&self) -> usize {
        let mut names: Vec<&str> = self.sources.iter().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        names.len()
    }

    /// All of them as one graph, and the inputs of each case.
    pub fn graph_and_inputs(&self) -> (&Graph, &[Vec<Data>]) {
        (&self.graph, &self.inputs)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.sources.is_empty()
    }

    /// Holds the models, compiled for a place and run there, to their golden outputs: integers to the bit, floats as `cargo kiln validate` does.
    ///
    /// # Panics
    /// Where outputs differ, with the models that do.
    pub fn assert_golden(&self, place: &str) {
        let name = place;
        let place = Place::find(name).unwrap();
        let compiled = compile_graph(self.graph.clone(), &place.options(&Options::default())).unwrap();
        let actual = place.run(&self.graph, &compiled, &self.inputs).unwrap();
        assert_eq!(actual.len(), self.outputs.len());
        let mut failed = Vec::new();
        for (case, (actual, expected)) in actual.iter().zip(&self.outputs).enumerate() {
            assert_eq!(actual.len(), expected.len());
            for (k, (actual, expected)) in actual.iter().zip(expected).enumerate() {
                let dtype = self.graph.ty(self.graph.outputs[k]).dtype;
                let difference = compare(dtype, actual, expected);
                if !difference.passes() {
                    let (model, output) = &self.sources[k];
                    failed.push(format!("{model}, case {case}, output {output}: {difference}"));
                }
            }
        }
        failed.sort();
        assert!(failed.is_empty(), "{} differ on {name}:\n{}", failed.len(), failed.join("\n"));
        println!("{} models, {} cases on {name}", self.len(), self.inputs.len());
    }
}
