// A model written by hand: adds its input to its state, and gives the state. Two inputs, two outputs.
use kiln::{DType, Feed, ModelInfo, TensorInfo};

pub struct RunningSum {
    x: [u8; 4],
    gain: [u8; 1],
    sum: [u8; 4],
    steps: [u8; 1],
}

impl RunningSum {
    pub const fn new() -> Self {
        Self { x: [0; 4], gain: [0; 1], sum: [0; 4], steps: [0; 1] }
    }
}

const fn tensor(name: &'static str, shape: &'static [usize]) -> TensorInfo {
    TensorInfo { name, dtype: DType::I8, shape, scale: 1.0, zero_point: 0 }
}

impl kiln::Model for RunningSum {
    const INFO: ModelInfo = ModelInfo {
        name: "running_sum",
        arena_bytes: 5,
        state_bytes: 5,
        feed: Feed::Whole,
        inputs: &[tensor("x", &[1, 4]), tensor("gain", &[1])],
        outputs: &[tensor("sum", &[1, 4]), tensor("steps", &[1])],
    };

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        match index {
            0 => &mut self.x,
            1 => &mut self.gain,
            _ => &mut [],
        }
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        match index {
            0 => &self.sum,
            1 => &self.steps,
            _ => &[],
        }
    }

    fn invoke(&mut self) -> bool {
        kiln::trace(0);
        let [gain] = self.gain;
        for ((sum, x), weight) in self.sum.iter_mut().zip(self.x).zip(weights::ONES.iter()) {
            *sum = sum.wrapping_add(x.wrapping_mul(gain).wrapping_mul(*weight));
        }
        kiln::trace(1);
        for steps in &mut self.steps {
            *steps = steps.wrapping_add(1);
        }
        true
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

mod weights {
    // Volatile in effect: a constant that the compiler could see through would leave no symbol to measure.
    pub(super) static ONES: super::Opaque = super::Opaque([1; 100]);
}

pub struct Opaque([u8; 100]);

impl Opaque {
    fn iter(&'static self) -> impl Iterator<Item = &'static u8> {
        core::hint::black_box(&self.0).iter()
    }
}
