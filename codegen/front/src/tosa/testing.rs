//! Small files for tests: a writer of operators.

use crate::testing::flatbuffer::{self, Field};

/// A file whose root is this table.
pub(super) fn file(root: &[Field]) -> Vec<u8> {
    flatbuffer::file(b"TOSA", root)
}

/// Numbers of element types.
pub(super) const BOOL: u32 = 1;
pub(super) const INT8: u32 = 3;
pub(super) const INT16: u32 = 4;
pub(super) const INT32: u32 = 5;
pub(super) const FP32: u32 = 7;

/// A block that is being written.
#[derive(Default)]
pub(super) struct Draft {
    operators: Vec<Vec<Field>>,
    tensors: Vec<Vec<Field>>,
    shapes: Vec<Vec<Field>>,
    inputs: Vec<String>,
    outputs: Vec<String>,
}

impl Draft {
    fn tensor(&mut self, name: &str, element: u32, dims: &[i32], data: &[u8]) {
        let text = Field::Bytes(name.as_bytes().to_vec());
        self.tensors.push(vec![
            text,
            Field::Ints(dims.to_vec()),
            Field::U32(element),
            Field::Bytes(data.to_vec()),
        ]);
    }

    /// An input.
    pub(super) fn input(&mut self, name: &str, element: u32, dims: &[i32]) {
        self.tensor(name, element, dims, &[]);
        self.inputs.push(name.into());
    }

    /// A constant.
    pub(super) fn constant(&mut self, name: &str, element: u32, dims: &[i32], data: &[u8]) {
        self.tensor(name, element, dims, data);
        self.operator("CONST", Field::Table(vec![]), &[], &[name]);
    }

    /// A constant of bytes, each a number.
    pub(super) fn bytes(&mut self, name: &str, dims: &[i32], data: &[i8]) {
        let data: Vec<u8> = data.iter().map(|&x| x as u8).collect();
        self.constant(name, INT8, dims, &data);
    }

    /// A constant of integers of 32 bits.
    pub(super) fn ints(&mut self, name: &str, data: &[i32]) {
        let bytes: Vec<u8> = data.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.constant(name, INT32, &[data.len() as i32], &bytes);
    }

    /// A shape.
    pub(super) fn shape(&mut self, name: &str, sizes: &[i64]) {
        let data: Vec<u8> = sizes.iter().flat_map(|x| x.to_le_bytes()).collect();
        let text = Field::Bytes(name.as_bytes().to_vec());
        self.shapes.push(vec![text, Field::U32(sizes.len() as u32), Field::Bytes(data)]);
        self.operator("CONST_SHAPE", Field::Table(vec![]), &[], &[name]);
    }

    /// An operator whose result is a new tensor.
    pub(super) fn result(
        &mut self,
        kind: &str,
        attribute: Field,
        operands: &[&str],
        (name, element, dims): (&str, u32, &[i32]),
    ) {
        self.tensor(name, element, dims, &[]);
        self.operator(kind, attribute, operands, &[name]);
    }

    fn operator(&mut self, kind: &str, attribute: Field, operands: &[&str], results: &[&str]) {
        let number = (1..200).find(|&number| super::names::operator(number) == kind).unwrap();
        let texts = |list: &[&str]| Field::Texts(list.iter().map(|name| name.to_string()).collect());
        let fields =
            vec![Field::U32(number), Field::U8(number as u8), attribute, texts(operands), texts(results)];
        self.operators.push(fields);
    }

    /// A RESCALE by one factor, to bytes or to integers of 32 bits.
    pub(super) fn rescale(&mut self, x: &str, by: (i32, i8), zeros: [i8; 2], to: (&str, u32, &[i32])) {
        let name = to.0.to_owned();
        let own = |what: &str| format!("{name} {what}");
        self.ints(&own("multiplier"), &[by.0]);
        self.bytes(&own("shift"), &[1], &[by.1]);
        let narrow = to.1 == INT8;
        for (k, zero) in zeros.into_iter().enumerate() {
            match narrow == (k == 1) {
                true => self.bytes(&own(&k.to_string()), &[1], &[zero]),
                false => self.ints(&own(&k.to_string()), &[zero.into()]),
            }
        }
        let operands = [x.to_owned(), own("multiplier"), own("shift"), own("0"), own("1")];
        let operands: Vec<&str> = operands.iter().map(String::as_str).collect();
        let attribute = Field::Table(vec![Field::U8(1), Field::U32(1)]);
        self.result("RESCALE", attribute, &operands, to);
    }

    /// The file, of which these are the outputs.
    pub(super) fn finish(mut self, outputs: &[&str]) -> Vec<u8> {
        self.outputs = outputs.iter().map(|name| name.to_string()).collect();
        let name = || Field::Bytes(b"main".to_vec());
        let block = vec![
            name(),
            Field::Tables(self.operators),
            Field::Tables(self.tensors),
            Field::Texts(self.inputs),
            Field::Texts(self.outputs),
            Field::Tables(self.shapes),
        ];
        let version = Field::Table(vec![Field::I32(1), Field::I32(0), Field::I32(0), Field::U8(0)]);
        file(&[version, Field::Tables(vec![vec![name(), Field::Tables(vec![block])]])])
    }
}
