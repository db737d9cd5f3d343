//! Inputs that nobody has to bring along.

use kiln_ir::{DType, Data, Graph, Type};

/// Reproducible noise: Marsaglia's xorshift32.
#[derive(Clone, Debug)]
pub struct Noise(u32);

impl Default for Noise {
    fn default() -> Self {
        Noise(0x9e37_79b9)
    }
}

impl Noise {
    /// All inputs of one inference: any integers; numbers in [-1, 1) for floats; 0 or 1 for truth values.
    pub fn inputs(&mut self, graph: &Graph) -> Vec<Data> {
        graph.inputs.iter().map(|&id| self.tensor(graph.ty(id))).collect()
    }

    fn tensor(&mut self, ty: &Type) -> Data {
        let bytes = ty.bytes();
        Data::new(match ty.dtype {
            DType::F32 => (0..bytes / 4)
                .flat_map(|_| ((self.next() as i32 >> 8) as f32 / (1 << 23) as f32).to_le_bytes())
                .collect::<Vec<u8>>(),
            DType::Bool => (0..bytes).map(|_| (self.next() >> 31) as u8).collect(),
            _ => (0..bytes).map(|_| (self.next() >> 24) as u8).collect(),
        })
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
}
