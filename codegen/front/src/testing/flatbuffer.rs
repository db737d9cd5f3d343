//! A writer of flatbuffers. In front of the first table there is room for a header.

// Each format uses some kinds of fields.
#![allow(dead_code)]

/// What a field of a table holds.
#[derive(Clone)]
pub(crate) enum Field {
    None,
    U8(u8),
    U32(u32),
    I32(i32),
    I64(i64),
    F64(f64),
    Bytes(Vec<u8>),
    Ints(Vec<i32>),
    Longs(Vec<i64>),
    Texts(Vec<String>),
    Table(Vec<Field>),
    Tables(Vec<Vec<Field>>),
}

/// A file with that identifier, whose root is this table.
pub(crate) fn file(identifier: &[u8; 4], root: &[Field]) -> Vec<u8> {
    let mut bytes = vec![0; 48];
    bytes[4..8].copy_from_slice(identifier);
    let at = table(&mut bytes, root);
    bytes[0..4].copy_from_slice(&(at as u32).to_le_bytes());
    bytes
}

/// Writes a table and all that it refers to, and gives its position.
fn table(bytes: &mut Vec<u8>, fields: &[Field]) -> usize {
    let vtable = bytes.len();
    let size = 4 + 8 * fields.len();
    bytes.extend((4 + 2 * fields.len() as u16).to_le_bytes());
    bytes.extend((size as u16).to_le_bytes());
    for (k, field) in fields.iter().enumerate() {
        let offset = if matches!(field, Field::None) { 0 } else { 4 + 8 * k as u16 };
        bytes.extend(offset.to_le_bytes());
    }
    let at = bytes.len();
    bytes.extend(((at - vtable) as i32).to_le_bytes());
    bytes.resize(at + size, 0);
    for (k, field) in fields.iter().enumerate() {
        let place = at + 4 + 8 * k;
        match field {
            Field::None => {}
            Field::U8(x) => bytes[place] = *x,
            Field::U32(x) => bytes[place..place + 4].copy_from_slice(&x.to_le_bytes()),
            Field::I32(x) => bytes[place..place + 4].copy_from_slice(&x.to_le_bytes()),
            Field::I64(x) => bytes[place..place + 8].copy_from_slice(&x.to_le_bytes()),
            Field::F64(x) => bytes[place..place + 8].copy_from_slice(&x.to_le_bytes()),
            other => {
                let to = refer(bytes, other);
                bytes[place..place + 4].copy_from_slice(&((to - place) as u32).to_le_bytes());
            }
        }
    }
    at
}

/// Writes what a field refers to, and gives its position.
fn refer(bytes: &mut Vec<u8>, field: &Field) -> usize {
    if let Field::Table(fields) = field {
        return table(bytes, fields);
    }
    let at = bytes.len();
    match field {
        Field::Bytes(list) => {
            bytes.extend((list.len() as u32).to_le_bytes());
            bytes.extend(list);
        }
        Field::Ints(list) => {
            bytes.extend((list.len() as u32).to_le_bytes());
            list.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        Field::Longs(list) => {
            bytes.extend((list.len() as u32).to_le_bytes());
            list.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        Field::Texts(list) => {
            let all: Vec<Field> = list.iter().map(|text| Field::Bytes(text.clone().into_bytes())).collect();
            references(bytes, &all);
        }
        Field::Tables(list) => {
            let all: Vec<Field> = list.iter().map(|fields| Field::Table(fields.clone())).collect();
            references(bytes, &all);
        }
        _ => {}
    }
    at
}

fn references(bytes: &mut Vec<u8>, list: &[Field]) {
    let at = bytes.len();
    bytes.extend((list.len() as u32).to_le_bytes());
    bytes.resize(at + 4 + 4 * list.len(), 0);
    for (k, field) in list.iter().enumerate() {
        let (place, to) = (at + 4 + 4 * k, refer(bytes, field));
        bytes[place..place + 4].copy_from_slice(&((to - place) as u32).to_le_bytes());
    }
}
