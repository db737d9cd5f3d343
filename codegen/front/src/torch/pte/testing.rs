//! Small programs for tests.

use crate::testing::flatbuffer::{file, Field};

/// Numbers of `ScalarType`s in memory.
pub(super) const CHAR: u8 = 1;
pub(super) const FLOAT: u8 = 6;

/// A program that is being written.
#[derive(Default)]
pub(super) struct Draft {
    values: Vec<Vec<Field>>,
    operators: Vec<(String, String)>,
    instructions: Vec<Vec<Field>>,
    delegates: Vec<String>,
    constants: Vec<Vec<u8>>,
    /// Memory that tensors have been given.
    memory: u32,
    /// Names of further methods.
    pub(super) others: Vec<&'static str>,
    /// Whether constants lie in the flatbuffer, as in older files.
    pub(super) is_old: bool,
}

fn floats(list: &[f32]) -> Vec<u8> {
    list.iter().flat_map(|x| x.to_le_bytes()).collect()
}

impl Draft {
    fn value(&mut self, kind: u8, fields: Vec<Field>) -> i32 {
        self.values.push(vec![Field::U8(kind), Field::Table(fields)]);
        self.values.len() as i32 - 1
    }

    pub(super) fn null(&mut self) -> i32 {
        self.value(1, vec![])
    }

    pub(super) fn int(&mut self, number: i64) -> i32 {
        self.value(2, vec![Field::I64(number)])
    }

    pub(super) fn truth(&mut self, truth: bool) -> i32 {
        self.value(3, vec![Field::U8(truth.into())])
    }

    pub(super) fn real(&mut self, number: f64) -> i32 {
        self.value(4, vec![Field::F64(number)])
    }

    pub(super) fn ints(&mut self, list: &[i64]) -> i32 {
        let items: Vec<i64> = list.iter().map(|&number| self.int(number).into()).collect();
        self.value(7, vec![Field::Longs(items)])
    }

    pub(super) fn list(&mut self, items: &[i32]) -> i32 {
        self.value(10, vec![Field::Ints(items.to_vec())])
    }

    /// A tensor with data `data` at a place of memory.
    pub(super) fn stored(&mut self, scalar: u8, dims: &[i32], data: u32, place: Option<u32>) -> i32 {
        let order = (0..dims.len() as u8).collect();
        let plan = place.map_or(Field::None, |at| Field::Table(vec![Field::U32(1), Field::U32(at)]));
        let fields = vec![
            Field::U8(scalar),
            Field::None,
            Field::Ints(dims.to_vec()),
            Field::Bytes(order),
            Field::None,
            Field::U32(data),
            plan,
        ];
        self.value(5, fields)
    }

    /// A tensor with memory of its own.
    pub(super) fn tensor(&mut self, scalar: u8, dims: &[i32]) -> i32 {
        self.memory += 64;
        self.stored(scalar, dims, 0, Some(self.memory))
    }

    /// A tensor in the memory of the last one.
    pub(super) fn again(&mut self, dims: &[i32]) -> i32 {
        self.stored(FLOAT, dims, 0, Some(self.memory))
    }

    /// A constant of floats.
    pub(super) fn constant(&mut self, dims: &[i32], data: &[f32]) -> i32 {
        self.constants.push(floats(data));
        self.stored(FLOAT, dims, self.constants.len() as u32, None)
    }

    /// A tensor whose data is in a file of weights.
    pub(super) fn external(&mut self, dims: &[i32], name: &str) -> i32 {
        let value = self.stored(FLOAT, dims, 0, None);
        let Some([_, Field::Table(fields)]) = self.values.last_mut().map(Vec::as_mut_slice) else {
            return value;
        };
        let extra = vec![Field::None, Field::Bytes(name.as_bytes().to_vec()), Field::U8(1)];
        fields.extend([Field::None, Field::None, Field::Table(extra)]);
        value
    }

    fn instruction(&mut self, kind: u8, fields: Vec<Field>) {
        self.instructions.push(vec![Field::U8(kind), Field::Table(fields)]);
    }

    pub(super) fn call(&mut self, name: &str, overload: &str, args: &[i32]) {
        self.operators.push((name.into(), overload.into()));
        let number = self.operators.len() as i32 - 1;
        self.instruction(1, vec![Field::I32(number), Field::Ints(args.to_vec())]);
    }

    /// Calls an operator of ATen with one result.
    pub(super) fn aten(&mut self, name: &str, args: &[i32], to: i32) {
        let args: Vec<i32> = args.iter().copied().chain([to, to]).collect();
        self.call(&format!("aten::{name}"), "out", &args);
    }

    pub(super) fn delegate(&mut self, name: &str, args: &[i32]) {
        self.delegates.push(name.into());
        let number = self.delegates.len() as i32 - 1;
        self.instruction(2, vec![Field::I32(number), Field::Ints(args.to_vec())]);
    }

    pub(super) fn moved(&mut self, from: i32, to: i32) {
        self.instruction(3, vec![Field::I32(from), Field::I32(to)]);
    }

    pub(super) fn jump_unless(&mut self, condition: i32, to: i32) {
        self.instruction(4, vec![Field::I32(condition), Field::I32(to)]);
    }

    /// The number of the next instruction.
    pub(super) fn here(&self) -> i32 {
        self.instructions.len() as i32
    }

    /// The program, with these inputs and outputs.
    pub(super) fn finish(self, inputs: &[i32], outputs: &[i32]) -> Vec<u8> {
        let text = |text: &str| Field::Bytes(text.as_bytes().to_vec());
        let operators = self.operators.iter().map(|(name, overload)| vec![text(name), text(overload)]);
        let delegates = self.delegates.iter().map(|name| vec![text(name)]);
        let chain = vec![Field::None, Field::None, Field::Tables(self.instructions.clone())];
        let mut methods = vec![vec![
            text("forward"),
            Field::None,
            Field::Tables(self.values.clone()),
            Field::Ints(inputs.to_vec()),
            Field::Ints(outputs.to_vec()),
            Field::Tables(vec![chain]),
            Field::Tables(operators.collect()),
            Field::Tables(delegates.collect()),
        ]];
        methods.extend(self.others.iter().map(|name| vec![text(name)]));
        // The first one is that of tensors without data.
        let all: Vec<Vec<u8>> = [Vec::new()].into_iter().chain(self.constants.clone()).collect();
        let mut root = vec![Field::U32(0), Field::Tables(methods)];
        if self.is_old {
            root.push(Field::Tables(all.into_iter().map(|data| vec![Field::Bytes(data)]).collect()));
            return file(b"ET12", &root);
        }
        let mut offsets = Vec::new();
        let mut segment = Vec::new();
        for data in all {
            offsets.push(segment.len() as i64);
            segment.extend(data);
        }
        let size = segment.len();
        let own = vec![Field::I64(0), Field::I64(size as i64)];
        let parts = Field::Table(vec![Field::U32(0), Field::Longs(offsets)]);
        root.extend([Field::None, Field::None, Field::Tables(vec![own]), parts]);
        let mut bytes = file(b"ET12", &root);
        let end = bytes.len();
        bytes[8..12].copy_from_slice(b"eh00");
        bytes[12..16].copy_from_slice(&32u32.to_le_bytes());
        for (at, number) in [(16, end), (24, end), (32, size)] {
            bytes[at..at + 8].copy_from_slice(&(number as u64).to_le_bytes());
        }
        bytes.extend(segment);
        bytes
    }
}

/// A file of weights with one tensor.
pub(super) fn weights(name: &str, data: &[f32]) -> Vec<u8> {
    let data = floats(data);
    let segment = vec![Field::I64(0), Field::I64(data.len() as i64)];
    let named = vec![Field::Bytes(name.as_bytes().to_vec()), Field::U32(0)];
    let mut bytes = file(b"FT01", &[Field::U32(0), Field::Tables(vec![segment]), Field::Tables(vec![named])]);
    let end = bytes.len();
    bytes[8..12].copy_from_slice(b"FH01");
    bytes[32..40].copy_from_slice(&(end as u64).to_le_bytes());
    bytes.extend(data);
    bytes
}
