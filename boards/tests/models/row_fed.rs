// Models written by hand that take i8[1, 4, 3] row by row, and give the sums of its columns: of one input after the other, or
// (sliding) of the latest four rows after every second row.
use kiln::{DType, Feed, ModelInfo, TensorInfo};

const ROWS: usize = 4;
const ROW: usize = 3;

pub struct RowFed<const SLIDING: bool> {
    rows: [u8; ROWS * ROW],
    sums: [u8; ROW],
    count: usize,
}

pub type ColumnSums = RowFed<false>;
pub type MovingSums = RowFed<true>;

impl<const SLIDING: bool> RowFed<SLIDING> {
    pub const fn new() -> Self {
        Self { rows: [0; ROWS * ROW], sums: [0; ROW], count: 0 }
    }
}

const fn tensor(name: &'static str, shape: &'static [usize]) -> TensorInfo {
    TensorInfo { name, dtype: DType::I8, shape, scale: 1.0, zero_point: 0 }
}

impl<const SLIDING: bool> kiln::Model for RowFed<SLIDING> {
    const INFO: ModelInfo = ModelInfo {
        name: "row_fed",
        arena_bytes: ROWS * ROW + ROW,
        state_bytes: 0,
        feed: if SLIDING { Feed::Sliding } else { Feed::Rows },
        inputs: &[tensor("x", &[1, ROWS, ROW])],
        outputs: &[tensor("sums", &[1, ROW])],
    };

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        match index {
            0 => kiln::row_mut(&mut self.rows, ROW, self.count),
            _ => &mut [],
        }
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        match index {
            0 => &self.sums,
            _ => &[],
        }
    }

    fn invoke(&mut self) -> bool {
        self.count += 1;
        let window = self.count.checked_sub(ROWS);
        let complete = window.is_some_and(|past| past % 2 == 0);
        if complete {
            kiln::trace(0);
            self.sums = [0; ROW];
            for row in self.rows.chunks(ROW) {
                for (sum, x) in self.sums.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(*x);
                }
            }
            if !SLIDING {
                self.count = 0;
            }
        }
        complete
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}
