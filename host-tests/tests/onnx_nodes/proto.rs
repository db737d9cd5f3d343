//! As much of ONNX's `onnx.proto` as the cases are stored in: tensors, and what a model calls its inputs. Written for the tests, so that they do not
//! believe what the compiler reads.

/// The contents of a field.
#[derive(Clone, Copy)]
enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// The fields of a message, with their numbers.
fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut list = Vec::new();
    while !bytes.is_empty() {
        let key = varint(&mut bytes);
        let field = match key & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => Field::Number(u64::from_le_bytes(take(&mut bytes, 8).try_into().unwrap())),
            2 => {
                let len = varint(&mut bytes) as usize;
                Field::Bytes(take(&mut bytes, len))
            }
            5 => Field::Number(u32::from_le_bytes(take(&mut bytes, 4).try_into().unwrap()).into()),
            kind => panic!("a field of kind {kind}"),
        };
        list.push((key >> 3, field));
    }
    list
}

fn take<'a>(bytes: &mut &'a [u8], len: usize) -> &'a [u8] {
    let (taken, rest) = bytes.split_at(len);
    *bytes = rest;
    taken
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let byte = take(bytes, 1)[0];
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            break;
        }
    }
    number
}

fn varints(field: Field<'_>) -> Vec<u64> {
    match field {
        Field::Number(number) => vec![number],
        Field::Bytes(mut bytes) => {
            let mut list = Vec::new();
            while !bytes.is_empty() {
                list.push(varint(&mut bytes));
            }
            list
        }
    }
}

/// The elements of a tensor.
#[derive(Clone, Debug)]
pub(crate) enum Elements {
    Floats(Vec<f64>),
    Ints(Vec<i64>),
    /// Texts, and formats of numbers that the graph has not.
    Other,
}

/// A `TensorProto`.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub name: String,
    /// `TensorProto.DataType`.
    pub element: u64,
    pub dims: Vec<usize>,
    pub elements: Elements,
}

impl Tensor {
    /// Whether its elements are integers of 32 or 64 bits, as those of shapes and axes are.
    pub fn is_index(&self) -> bool {
        matches!(self.element, 6 | 7)
    }

    pub fn parse(bytes: &[u8]) -> Tensor {
        let (mut name, mut element, mut dims) = (String::new(), 0, Vec::new());
        let (mut raw, mut floats, mut ints): (&[u8], Vec<f64>, Vec<i64>) = (&[], Vec::new(), Vec::new());
        for (number, field) in fields(bytes) {
            match (number, field) {
                (1, field) => dims.extend(varints(field).into_iter().map(|dim| dim as usize)),
                (2, Field::Number(kind)) => element = kind,
                (4, Field::Bytes(bytes)) => floats.extend(singles(bytes)),
                (4, Field::Number(bits)) => floats.push(f32::from_bits(bits as u32).into()),
                (5 | 7 | 11, field) => ints.extend(varints(field).into_iter().map(|x| x as i64)),
                (8, Field::Bytes(text)) => name = String::from_utf8_lossy(text).into_owned(),
                (9, Field::Bytes(bytes)) => raw = bytes,
                (10, Field::Bytes(bytes)) => floats.extend(doubles(bytes)),
                (10, Field::Number(bits)) => floats.push(f64::from_bits(bits)),
                _ => {}
            }
        }
        let elements = match element {
            1 if !raw.is_empty() => Elements::Floats(singles(raw).collect()),
            11 if !raw.is_empty() => Elements::Floats(doubles(raw).collect()),
            10 if !raw.is_empty() => {
                let bits = raw.chunks_exact(2).map(|b| u16::from_le_bytes([b[0], b[1]]));
                Elements::Floats(bits.map(half).collect())
            }
            10 => Elements::Floats(ints.iter().map(|&bits| half(bits as u16)).collect()),
            1 | 11 => Elements::Floats(floats),
            2 | 3 | 4 | 5 | 6 | 7 | 9 | 12 | 13 if raw.is_empty() => Elements::Ints(ints),
            2 | 9 => Elements::Ints(raw.iter().map(|&x| x.into()).collect()),
            3 => Elements::Ints(raw.iter().map(|&x| (x as i8).into()).collect()),
            4 => Elements::Ints(words(raw, |b| u16::from_le_bytes(b).into())),
            5 => Elements::Ints(words(raw, |b| i16::from_le_bytes(b).into())),
            6 => Elements::Ints(words(raw, |b| i32::from_le_bytes(b).into())),
            7 | 13 => Elements::Ints(words(raw, i64::from_le_bytes)),
            12 => Elements::Ints(words(raw, |b| u32::from_le_bytes(b).into())),
            _ => Elements::Other,
        };
        Tensor { name, element, dims, elements }
    }
}

fn words<const N: usize>(bytes: &[u8], number: impl Fn([u8; N]) -> i64) -> Vec<i64> {
    bytes.chunks_exact(N).map(|bytes| number(bytes.try_into().unwrap())).collect()
}

fn singles(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap()).into())
}

fn doubles(bytes: &[u8]) -> impl Iterator<Item = f64> + '_ {
    bytes.chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap()))
}

fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 0x3ff) / 1024.0);
    sign * match exponent {
        0 => fraction * 2f64.powi(-14),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction) * 2f64.powi(exponent - 15),
    }
}

/// The names of a model's inputs that are no constants.
pub(crate) fn inputs(model: &[u8]) -> Vec<String> {
    let (mut inputs, mut constants) = (Vec::new(), Vec::new());
    let named = |bytes: &[u8], number: u64| {
        let name = fields(bytes).into_iter().find_map(|(n, field)| match field {
            Field::Bytes(text) if n == number => Some(String::from_utf8_lossy(text).into_owned()),
            _ => None,
        });
        name.unwrap_or_default()
    };
    for (number, field) in fields(model) {
        let (7, Field::Bytes(graph)) = (number, field) else { continue };
        for (number, field) in fields(graph) {
            match (number, field) {
                (5, Field::Bytes(tensor)) => constants.push(named(tensor, 8)),
                (11, Field::Bytes(info)) => inputs.push(named(info, 1)),
                _ => {}
            }
        }
    }
    inputs.retain(|name| !constants.contains(name));
    inputs
}

/// Adds a constant of that name to a model: where a message stands twice in a file, both are one.
pub(crate) fn add_constant(model: &mut Vec<u8>, name: &str, tensor: &[u8]) {
    let mut tensor = tensor.to_vec();
    field(&mut tensor, 8, name.as_bytes());
    let mut graph = Vec::new();
    field(&mut graph, 5, &tensor);
    field(model, 7, &graph);
}

fn field(message: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    message.push(number << 3 | 2);
    let mut len = bytes.len();
    while len > 0x7f {
        message.push(len as u8 | 0x80);
        len >>= 7;
    }
    message.push(len as u8);
    message.extend_from_slice(bytes);
}
