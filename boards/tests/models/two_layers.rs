// A model written by hand that tells about its layers: doubles its input, in two bands of rows, and adds it up.
use core::cell::Cell;
use kiln::{events, Band, DType, Feed, ModelInfo, Rows, TensorInfo};

pub struct TwoLayers {
    x: [u8; 4],
    sum: [u8; 1],
}

impl TwoLayers {
    pub const fn new() -> Self {
        Self { x: [0; 4], sum: [0; 1] }
    }
}

const fn tensor(name: &'static str, shape: &'static [usize]) -> TensorInfo {
    TensorInfo { name, dtype: DType::I8, shape, scale: 1.0, zero_point: 0 }
}

impl kiln::Model for TwoLayers {
    const INFO: ModelInfo = ModelInfo {
        name: "two_layers",
        arena_bytes: 5,
        state_bytes: 0,
        feed: Feed::Whole,
        inputs: &[tensor("x", &[1, 4])],
        outputs: &[tensor("sum", &[1])],
    };

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        match index {
            0 => &mut self.x,
            _ => &mut [],
        }
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        match index {
            0 => &self.sum,
            _ => &[],
        }
    }

    fn invoke(&mut self) -> bool {
        let x = Cell::from_mut(&mut self.x[..]).as_slice_of_cells();
        let sum = Cell::from_mut(&mut self.sum[..]).as_slice_of_cells();
        for first in [0, 2] {
            let event = events::begin();
            for x in x.iter().skip(first).take(2) {
                x.set(x.get().wrapping_mul(2));
            }
            event.end(0, kiln::__layer_name!("double"), Rows::whole(x, 1), Band { first, rows: 2 });
        }
        let event = events::begin();
        for y in sum {
            y.set(x.iter().fold(0, |sum, x| sum.wrapping_add(x.get())));
            // As long as the emulator needs for the clock to advance.
            for _ in 0..100_000 {
                core::hint::black_box(y);
            }
        }
        event.end(1, kiln::__layer_name!("sum"), Rows::whole(sum, 1), Band { first: 0, rows: 1 });
        true
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
