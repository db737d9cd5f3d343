//! What every target asks of a model: whatever is accepted keeps its meaning. Imported graph, compiled graph and the plan on real bytes agree, and the
//! emitted Rust parses.

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::plan::replay;
use kiln_codegen::{compile, import, Options};

/// Larger graphs are compiled, but not run: the interpreter is slow.
const MOST_WORK: usize = 1 << 22;

/// Checks a file, which need not be a model.
///
/// # Panics
/// Where something that is accepted loses its meaning.
pub fn check(bytes: &[u8]) {
    let options = Options::default();
    let Ok(compiled) = compile(bytes, "fuzz", &options) else { return };
    let imported = import(bytes, "fuzz", &options).expect("what compiles can be imported");
    if work(&imported).max(work(&compiled.graph)) > MOST_WORK {
        return;
    }
    compiled.file(&quote::quote!(pub)).expect("the emitted Rust parses");
    let mut noise = Noise(bytes.len() as u64 | 1);
    replay::compare(&compiled.graph, &compiled.schedule, &compiled.plan, || noise.inputs(&compiled.graph))
        .expect("the plan keeps the graph's meaning");
    let inputs = noise.inputs(&imported);
    let before = Machine::new(&imported).run(&inputs).expect("an imported graph runs");
    let after = Machine::new(&compiled.graph).run(&inputs).expect("a compiled graph runs");
    for ((&id, before), after) in imported.outputs.iter().zip(&before).zip(&after) {
        // Passes are exact on integers. On floats they may change the sign of a zero, and a file can hold any number.
        if imported.ty(id).dtype != DType::F32 && is_integer(&imported) {
            assert_eq!(before, after, "the passes keep the meaning");
        }
    }
}

/// A bound on multiplications of one evaluation.
fn work(graph: &Graph) -> usize {
    let nodes = graph.nodes().map(|(_, node)| {
        let result = graph.ty(node.result).shape.numel();
        let reads = node.operands.iter().map(|&o| graph.ty(o).shape.numel());
        // Convolutions read their weights once per pixel; pools at most the operand per pixel.
        let largest = reads.max().unwrap_or(1);
        match node.op.name() {
            "conv2d" | "dense" | "avg_pool2d" | "max_pool2d" | "mean" => result.saturating_mul(largest),
            _ => result.saturating_add(largest),
        }
    });
    nodes.fold(0, usize::saturating_add)
}

/// Whether no float takes part.
fn is_integer(graph: &Graph) -> bool {
    graph.values().all(|(_, value)| value.ty.dtype != DType::F32)
}

struct Noise(u64);

impl Noise {
    fn inputs(&mut self, graph: &Graph) -> Vec<Data> {
        graph.inputs.iter().map(|&id| self.data(graph.ty(id).dtype, graph.ty(id).shape.numel())).collect()
    }

    fn data(&mut self, dtype: DType, len: usize) -> Data {
        match dtype {
            DType::F32 => {
                Data::from_f32(&(0..len).map(|_| (self.next() as i8) as f32 / 16.0).collect::<Vec<_>>())
            }
            DType::Bool => Data::new((0..len).map(|_| self.next() as u8 & 1).collect::<Vec<_>>()),
            _ => Data::new((0..len * dtype.size()).map(|_| self.next() as u8).collect::<Vec<_>>()),
        }
    }

    /// Marsaglia's xorshift64.
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}
