//! Changes of TFLite files that know what they change: a scalar, an element of a list, a reference.

use super::{float, integer, overwrite};
use crate::draw::Random;

/// What a field of a table is.
#[derive(Clone, Copy)]
enum Field {
    /// An integer of so many bytes.
    Int(usize),
    /// A list of integers of so many bytes.
    Ints(usize),
    /// A list of `f32`.
    Floats,
    /// A list of bytes, or a string: what is in it is not looked at.
    Bytes,
    /// A table of the kind with that index.
    Table(usize),
    /// A list of such tables.
    Tables(usize),
    /// A table of which nothing is known: words.
    Words,
}

use Field::*;

const MODEL: usize = 0;

/// The tables of the schema, by their index: fields by slot.
const KINDS: [&[(usize, Field)]; 7] = [
    // Model: version, operator codes, subgraphs, description, buffers.
    &[(0, Int(4)), (1, Tables(1)), (2, Tables(2)), (3, Bytes), (4, Tables(5))],
    // OperatorCode: old code, custom name, version, code.
    &[(0, Int(1)), (1, Bytes), (2, Int(4)), (3, Int(4))],
    // SubGraph: tensors, inputs, outputs, operators, name.
    &[(0, Tables(3)), (1, Ints(4)), (2, Ints(4)), (3, Tables(4)), (4, Bytes)],
    // Tensor: shape, type, buffer, name, quantization, is variable, sparsity, signature, has rank.
    &[
        (0, Ints(4)),
        (1, Int(1)),
        (2, Int(4)),
        (3, Bytes),
        (4, Table(6)),
        (5, Int(1)),
        (6, Words),
        (7, Ints(4)),
        (8, Int(1)),
    ],
    // Operator: code, inputs, outputs, kind of options, options, custom options, intermediates, kind of the other options, the other options.
    &[
        (0, Int(4)),
        (1, Ints(4)),
        (2, Ints(4)),
        (3, Int(1)),
        (4, Words),
        (5, Bytes),
        (8, Ints(4)),
        (11, Int(1)),
        (12, Words),
    ],
    // Buffer: data.
    &[(0, Bytes)],
    // Quantization: min, max, scale, zero point, kind of details, details, axis.
    &[(0, Floats), (1, Floats), (2, Floats), (3, Ints(8)), (4, Int(1)), (5, Words), (6, Int(4))],
];

/// Something that can be changed.
#[derive(Clone, Copy)]
enum Place {
    /// An integer there, of so many bytes.
    Int(usize, usize),
    /// An `f32` there.
    Float(usize),
    /// A count there.
    Count(usize),
    /// A reference there, to a table or list of the kind with that number.
    Reference(usize, usize),
    /// An entry of a table's list of fields there: 0 makes it absent.
    Entry(usize),
}

/// The file with one to four changes.
pub(super) fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut file = seed.to_vec();
    let mut places = Vec::new();
    let mut walk = Walk { file: &file, places: &mut places, left: 20_000 };
    walk.table(walk.target(0).unwrap_or(0), MODEL);
    if places.is_empty() {
        return file;
    }
    let changes = if random.below(3) > 0 { 1 } else { 2 + random.below(3) };
    for _ in 0..changes {
        match places[random.below(places.len())] {
            Place::Int(at, bytes) => {
                let value = integer(read(&file, at, bytes), random);
                overwrite(&mut file, at, &value.to_le_bytes()[..bytes]);
            }
            Place::Float(at) => overwrite(&mut file, at, &float(random).to_le_bytes()),
            Place::Count(at) => {
                let count = read(&file, at, 4);
                let new = match random.below(4) {
                    0 => integer(count, random),
                    _ => random.below(count.max(0) as usize + 2) as i64,
                };
                overwrite(&mut file, at, &(new as u32).to_le_bytes());
            }
            Place::Reference(at, kind) => {
                // To what another of its kind refers to: references go forward.
                let others = places.iter().filter_map(|place| match *place {
                    Place::Reference(other, of) if of == kind => {
                        other.checked_add(read(&file, other, 4) as usize)?.checked_sub(at)
                    }
                    _ => None,
                });
                let others: Vec<usize> = others.collect();
                if !others.is_empty() {
                    let to = others[random.below(others.len())] as u32;
                    overwrite(&mut file, at, &to.to_le_bytes());
                }
            }
            Place::Entry(at) => {
                if random.below(4) == 0 {
                    overwrite(&mut file, at, &[0, 0]);
                }
            }
        }
    }
    file
}

/// A little-endian integer with a sign.
fn read(file: &[u8], at: usize, bytes: usize) -> i64 {
    let mut value = 0i64;
    for (k, &byte) in file.iter().skip(at).take(bytes).enumerate() {
        value |= i64::from(byte) << (8 * k);
    }
    let unused = 64 - 8 * bytes as u32;
    value << unused >> unused
}

struct Walk<'a> {
    file: &'a [u8],
    places: &'a mut Vec<Place>,
    /// How many tables may still be looked at.
    left: usize,
}

impl Walk<'_> {
    /// Where a reference leads.
    fn target(&self, at: usize) -> Option<usize> {
        let to = at.checked_add(read(self.file, at, 4) as usize)?;
        (to + 4 <= self.file.len()).then_some(to)
    }

    /// The position of a field, and of its entry.
    fn field(&self, table: usize, slot: usize) -> Option<(usize, usize)> {
        let list = usize::try_from(table as i64 - read(self.file, table, 4)).ok()?;
        let size = read(self.file, list, 2) as usize;
        let entry = 4 + 2 * slot;
        let offset = read(self.file, list + entry, 2) as u16 as usize;
        (entry + 2 <= size && offset > 0 && table + offset + 4 <= self.file.len())
            .then_some((table + offset, list + entry))
    }

    fn table(&mut self, table: usize, kind: usize) {
        let Some(left) = self.left.checked_sub(1) else { return };
        self.left = left;
        for &(slot, field) in KINDS[kind] {
            let Some((at, entry)) = self.field(table, slot) else { continue };
            self.places.push(Place::Entry(entry));
            match field {
                Int(bytes) => self.places.push(Place::Int(at, bytes)),
                Table(of) => {
                    self.places.push(Place::Reference(at, of));
                    if let Some(to) = self.target(at) {
                        self.table(to, of);
                    }
                }
                Words => {
                    self.places.push(Place::Reference(at, 100));
                    if let Some(to) = self.target(at) {
                        self.words(to);
                    }
                }
                Ints(_) | Floats | Bytes | Tables(_) => self.list(at, field),
            }
        }
    }

    fn list(&mut self, at: usize, field: Field) {
        let Some(list) = self.target(at) else { return };
        let kind = match field {
            Ints(bytes) => 200 + bytes,
            Floats => 300,
            Tables(of) => 400 + of,
            _ => 500,
        };
        self.places.push(Place::Reference(at, kind));
        self.places.push(Place::Count(list));
        let count = read(self.file, list, 4).clamp(0, 64) as usize;
        for k in 0..count {
            match field {
                Ints(bytes) => self.places.push(Place::Int(list + 4 + k * bytes, bytes)),
                Floats => self.places.push(Place::Float(list + 4 + 4 * k)),
                Tables(of) => {
                    let at = list + 4 + 4 * k;
                    self.places.push(Place::Reference(at, of));
                    if let Some(to) = self.target(at) {
                        self.table(to, of);
                    }
                }
                _ => {}
            }
        }
    }

    /// Options of an operator: bytes and words, some of them floats.
    fn words(&mut self, table: usize) {
        for slot in 0..16 {
            let Some((at, entry)) = self.field(table, slot) else { continue };
            self.places.extend([Place::Entry(entry), Place::Int(at, 1), Place::Int(at, 4), Place::Float(at)]);
        }
    }
}
