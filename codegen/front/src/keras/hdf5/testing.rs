//! Little HDF5 files for tests, in the oldest version of the format.

/// An object that is written.
pub(in crate::keras) enum Item {
    Group(Vec<(&'static str, Item)>, Vec<(&'static str, Vec<String>)>),
    /// Sizes and numbers.
    Floats(Vec<usize>, Vec<f32>),
}

/// The file whose root is that group.
pub(in crate::keras) fn file(root: &Item) -> Vec<u8> {
    let mut bytes = super::SIGNATURE.to_vec();
    bytes.extend([0, 0, 0, 0, 0, 8, 8, 0, 4, 0, 16, 0, 0, 0, 0, 0]);
    // Base, free space, end, driver.
    for address in [0, u64::MAX, 0, u64::MAX] {
        bytes.extend(address.to_le_bytes());
    }
    let entry = bytes.len();
    bytes.extend([0; 40]);
    let at = object(&mut bytes, root);
    bytes[entry + 8..entry + 16].copy_from_slice(&at.to_le_bytes());
    bytes
}

fn aligned(bytes: &mut Vec<u8>) -> u64 {
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    bytes.len() as u64
}

fn object(bytes: &mut Vec<u8>, item: &Item) -> u64 {
    let mut messages = Vec::new();
    match item {
        Item::Group(children, texts) => {
            let children: Vec<(&str, u64)> =
                children.iter().map(|(name, child)| (*name, object(bytes, child))).collect();
            let (tree, heap) = table(bytes, &children);
            messages.push((0x11, [tree.to_le_bytes(), heap.to_le_bytes()].concat()));
            for (name, list) in texts {
                messages.push((0x0C, attribute(name, list)));
            }
        }
        Item::Floats(dims, numbers) => {
            messages.push((0x01, space(dims)));
            messages
                .push((0x03, vec![0x11, 0x20, 31, 0, 4, 0, 0, 0, 0, 0, 32, 0, 23, 8, 0, 23, 127, 0, 0, 0]));
            let at = aligned(bytes);
            bytes.extend(numbers.iter().flat_map(|x| x.to_le_bytes()));
            let length = 4 * numbers.len() as u64;
            messages.push((0x08, [&[3, 1], &at.to_le_bytes()[..], &length.to_le_bytes()].concat()));
        }
    }
    header(bytes, &messages)
}

fn header(bytes: &mut Vec<u8>, messages: &[(u16, Vec<u8>)]) -> u64 {
    let mut body = Vec::new();
    for (kind, message) in messages {
        let size = message.len().next_multiple_of(8);
        body.extend(kind.to_le_bytes());
        body.extend((size as u16).to_le_bytes());
        body.extend([0; 4]);
        body.extend(message);
        body.resize(body.len() + size - message.len(), 0);
    }
    let at = aligned(bytes);
    bytes.extend([1, 0]);
    bytes.extend((messages.len() as u16).to_le_bytes());
    bytes.extend(1u32.to_le_bytes());
    bytes.extend((body.len() as u32).to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(body);
    at
}

/// A group's tree of one table, and its heap of names.
fn table(bytes: &mut Vec<u8>, children: &[(&str, u64)]) -> (u64, u64) {
    let mut names = vec![0; 8];
    let mut offsets = Vec::new();
    for (name, _) in children {
        offsets.push(names.len() as u64);
        names.extend(name.as_bytes());
        names.resize((names.len() + 1).next_multiple_of(8), 0);
    }
    let heap = aligned(bytes);
    bytes.extend(b"HEAP\0\0\0\0");
    for number in [names.len() as u64, u64::MAX, heap + 32] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(names);
    let symbols = aligned(bytes);
    bytes.extend(b"SNOD\x01\0");
    bytes.extend((children.len() as u16).to_le_bytes());
    for ((_, object), name) in children.iter().zip(offsets) {
        bytes.extend(name.to_le_bytes());
        bytes.extend(object.to_le_bytes());
        bytes.extend([0; 24]);
    }
    let tree = aligned(bytes);
    bytes.extend(b"TREE\0\0\x01\0");
    for number in [u64::MAX, u64::MAX, 0, symbols, 0] {
        bytes.extend(number.to_le_bytes());
    }
    (tree, heap)
}

fn space(dims: &[usize]) -> Vec<u8> {
    let mut body = vec![1, dims.len() as u8, 0, 0, 0, 0, 0, 0];
    dims.iter().for_each(|dim| body.extend((*dim as u64).to_le_bytes()));
    body
}

/// An attribute of texts of one length; a single one has no axes.
fn attribute(name: &str, texts: &[String]) -> Vec<u8> {
    let size = texts.iter().map(String::len).max().unwrap_or(1).max(1);
    let dims = if texts.len() == 1 { vec![] } else { vec![texts.len()] };
    let space = space(&dims);
    let name_size = name.len() + 1;
    let mut body = vec![1, 0];
    for size in [name_size, 8, space.len()] {
        body.extend((size as u16).to_le_bytes());
    }
    body.extend(name.as_bytes());
    body.resize(8 + name_size.next_multiple_of(8), 0);
    body.extend([0x13, 0, 0, 0]);
    body.extend((size as u32).to_le_bytes());
    body.extend(space);
    for text in texts {
        let end = body.len() + size;
        body.extend(text.as_bytes());
        body.resize(end, 0);
    }
    body
}
