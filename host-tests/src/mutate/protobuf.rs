//! Changes of ONNX files that know what they change: fields of messages, whose lengths follow.

use super::{float, integer};
use crate::draw::Random;

/// A message that is understood as far as the schema below goes.
type Message = Vec<(u64, Value)>;

#[derive(Clone)]
enum Value {
    Varint(u64),
    Fixed32([u8; 4]),
    Fixed64([u8; 8]),
    Bytes(Vec<u8>),
    Message(Message),
    /// Integers one after the other.
    Packed(Vec<u64>),
}

/// What a field of bytes is.
#[derive(Clone, Copy)]
enum Kind {
    Message(usize),
    Packed,
}

use Kind::{Message as Of, Packed as Ints};

const MODEL: usize = 0;
const GRAPH: usize = 1;
const NODE: usize = 2;
const ATTRIBUTE: usize = 3;
const TENSOR: usize = 4;
const VALUE: usize = 5;
const TYPE: usize = 6;
const TENSOR_TYPE: usize = 7;
const SHAPE: usize = 8;
const DIM: usize = 9;
const OPSET: usize = 10;
const FUNCTION: usize = 11;

/// The fields that are messages or packed integers, by kind of message.
const KINDS: [&[(u64, Kind)]; 12] = [
    &[(7, Of(GRAPH)), (8, Of(OPSET)), (25, Of(FUNCTION))],
    &[(1, Of(NODE)), (5, Of(TENSOR)), (11, Of(VALUE)), (12, Of(VALUE)), (13, Of(VALUE))],
    &[(5, Of(ATTRIBUTE))],
    &[(5, Of(TENSOR)), (6, Of(GRAPH)), (8, Ints)],
    &[(1, Ints), (5, Ints), (7, Ints)],
    &[(2, Of(TYPE))],
    &[(1, Of(TENSOR_TYPE))],
    &[(2, Of(SHAPE))],
    &[(1, Of(DIM))],
    &[],
    &[],
    &[(7, Of(NODE)), (9, Of(OPSET)), (11, Of(ATTRIBUTE))],
];

/// The file with one to four changes.
pub(super) fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let Some(mut model) = parse(seed, MODEL) else { return seed.to_vec() };
    let changes = if random.below(3) > 0 { 1 } else { 2 + random.below(3) };
    for _ in 0..changes {
        let mut names = Vec::new();
        collect_names(&model, &mut names);
        let fields = count(&model);
        if fields == 0 {
            break;
        }
        let mut at = random.below(fields);
        change(&mut model, &mut at, &names, random);
    }
    let mut out = Vec::new();
    write(&model, &mut out);
    out
}

// ---- Changes

/// Fields of a message and of those in it.
fn count(message: &Message) -> usize {
    let inner = |value: &Value| match value {
        Value::Message(inner) => count(inner),
        _ => 0,
    };
    message.iter().map(|(_, value)| 1 + inner(value)).sum()
}

/// Strings that are short enough for names: of values, operators and attributes.
fn collect_names(message: &Message, names: &mut Vec<Vec<u8>>) {
    for (_, value) in message {
        match value {
            Value::Message(inner) => collect_names(inner, names),
            Value::Bytes(bytes) if bytes.len() <= 24 => names.push(bytes.clone()),
            _ => {}
        }
    }
}

/// Changes field number `at`, counted from the outside in.
fn change(message: &mut Message, at: &mut usize, names: &[Vec<u8>], random: &mut Random) -> bool {
    for index in 0..message.len() {
        if *at == 0 {
            change_field(message, index, names, random);
            return true;
        }
        *at -= 1;
        if let Value::Message(inner) = &mut message[index].1 {
            if change(inner, at, names, random) {
                return true;
            }
        }
    }
    false
}

fn change_field(message: &mut Message, index: usize, names: &[Vec<u8>], random: &mut Random) {
    match random.below(10) {
        0 => {
            message.remove(index);
            return;
        }
        1 => {
            let copy = message[index].clone();
            message.push(copy);
            return;
        }
        2 => {
            let other = random.below(message.len());
            message.swap(index, other);
            return;
        }
        3 => {
            // The value of another field.
            let other = random.below(message.len());
            message[index].1 = message[other].1.clone();
            return;
        }
        _ => {}
    }
    match &mut message[index].1 {
        Value::Varint(value) => *value = integer(*value as i64, random) as u64,
        Value::Fixed32(bytes) => *bytes = float(random).to_le_bytes(),
        Value::Fixed64(bytes) => *bytes = f64::from(float(random)).to_le_bytes(),
        Value::Packed(list) => change_list(list, random),
        Value::Bytes(bytes) if bytes.len() <= 24 && random.below(3) > 0 => {
            *bytes = names[random.below(names.len())].clone();
        }
        Value::Bytes(bytes) => {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => bytes.truncate(at),
                1 => bytes.push(random.next() as u8),
                2 => {
                    let at = at & !3;
                    super::overwrite(bytes, at, &float(random).to_le_bytes());
                }
                _ => super::overwrite(bytes, at, &[random.next() as u8]),
            }
        }
        Value::Message(inner) => {
            // Parts of it in another order, or fewer.
            if !inner.is_empty() {
                let at = random.below(inner.len());
                match random.below(2) {
                    0 => inner.rotate_left(at),
                    _ => inner.truncate(at),
                }
            }
        }
    }
}

fn change_list(list: &mut Vec<u64>, random: &mut Random) {
    let at = random.below(list.len());
    match random.below(6) {
        0 => list.truncate(at),
        1 => list.push(integer(1, random) as u64),
        2 if !list.is_empty() => list.rotate_left(at),
        _ => list.iter_mut().skip(at).take(1).for_each(|x| *x = integer(*x as i64, random) as u64),
    }
}

// ---- The wire

fn parse(bytes: &[u8], kind: usize) -> Option<Message> {
    let mut rest = bytes;
    let mut message = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let number = tag >> 3;
        let value = match tag & 7 {
            0 => Value::Varint(varint(&mut rest)?),
            1 => Value::Fixed64(take(&mut rest, 8)?.try_into().ok()?),
            5 => Value::Fixed32(take(&mut rest, 4)?.try_into().ok()?),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).ok()?;
                let bytes = take(&mut rest, length)?;
                match KINDS[kind].iter().find(|(of, _)| *of == number) {
                    Some((_, Kind::Message(inner))) => Value::Message(parse(bytes, *inner)?),
                    Some((_, Kind::Packed)) => {
                        let mut list = Vec::new();
                        let mut rest = bytes;
                        while !rest.is_empty() {
                            list.push(varint(&mut rest)?);
                        }
                        Value::Packed(list)
                    }
                    None => Value::Bytes(bytes.to_vec()),
                }
            }
            _ => return None,
        };
        message.push((number, value));
    }
    Some(message)
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..70).step_by(7) {
        let byte = take(rest, 1)?[0];
        value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

fn write(message: &Message, out: &mut Vec<u8>) {
    for (number, value) in message {
        let mut tag = |wire: u64| write_varint(number << 3 | wire, out);
        match value {
            Value::Varint(value) => {
                tag(0);
                write_varint(*value, out);
            }
            Value::Fixed64(bytes) => {
                tag(1);
                out.extend(bytes);
            }
            Value::Fixed32(bytes) => {
                tag(5);
                out.extend(bytes);
            }
            Value::Bytes(bytes) => {
                tag(2);
                write_varint(bytes.len() as u64, out);
                out.extend(bytes);
            }
            Value::Message(message) => {
                tag(2);
                let mut inner = Vec::new();
                write(message, &mut inner);
                write_varint(inner.len() as u64, out);
                out.extend(inner);
            }
            Value::Packed(list) => {
                tag(2);
                let mut inner = Vec::new();
                list.iter().for_each(|&value| write_varint(value, &mut inner));
                write_varint(inner.len() as u64, out);
                out.extend(inner);
            }
        }
    }
}

fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_written_again() {
        let file = [0x08, 8, 0x42, 2, 0x10, 17, 0x3a, 6, 0x0a, 4, 0x22, 2, b'a', b'b'];
        let model = parse(&file, MODEL).unwrap();
        assert_eq!(count(&model), 6);
        let mut out = Vec::new();
        write(&model, &mut out);
        assert_eq!(out, file);
    }
}
