//! Whatever is accepted keeps its meaning: imported graph, compiled graph and the plan on real bytes agree, and the emitted Rust parses.

use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};
use kiln_codegen::plan::replay;
use kiln_codegen::Compiled;

/// Compares an imported graph with what it was compiled to. Graphs of more than so many multiplications are not run: the interpreter is slow.
///
/// # Errors
/// What differs.
pub fn check(imported: &Graph, compiled: &Compiled, most_work: usize) -> Result<(), String> {
    if work(imported).max(work(&compiled.graph)) > most_work {
        return Ok(());
    }
    compiled.file(&quote::quote!(pub)).map_err(|error| error.to_string())?;
    if is_custom(imported) {
        return Ok(());
    }
    let mut noise = Noise(imported.inputs.len() as u64 + 1);
    replay::compare(&compiled.graph, &compiled.schedule, &compiled.plan, || noise.inputs(&compiled.graph))
        .map_err(|difference| format!("the plan changes the meaning: {difference:?}"))?;
    let inputs = noise.inputs(imported);
    let before = Machine::new(imported).run(&inputs).map_err(|e| format!("imported, {e}"))?;
    let after = Machine::new(&compiled.graph).run(&inputs).map_err(|e| format!("compiled, {e}"))?;
    // Passes are exact on integers. On floats they may change the sign of a zero, and a file can hold any number.
    let is_integer = imported.values().all(|(_, value)| value.ty.dtype != DType::F32);
    match before == after || !is_integer {
        true => Ok(()),
        false => Err("the passes change the meaning".into()),
    }
}

fn is_custom(graph: &Graph) -> bool {
    graph.nodes().any(|(_, node)| node.op.name() == "custom")
}

/// A bound on multiplications of one evaluation.
fn work(graph: &Graph) -> usize {
    let nodes = graph.nodes().map(|(_, node)| {
        let result = graph.ty(node.result).shape.numel();
        let reads = node.operands.iter().map(|&o| graph.ty(o).shape.numel());
        // Convolutions read their weights once per pixel; pools at most the operand per pixel.
        let largest = reads.max().unwrap_or(1);
        match node.op.name() {
            "conv2d" | "dense" | "avg_pool2d" | "max_pool2d" | "mean" | "matmul" => {
                result.saturating_mul(largest)
            }
            _ => result.saturating_add(largest),
        }
    });
    let inputs = graph.inputs.iter().map(|&id| graph.ty(id).shape.numel());
    nodes.chain(inputs).fold(0, usize::saturating_add)
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
