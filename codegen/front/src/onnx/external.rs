//! Constants that lie in other files than the model, as exporters write them for large models: the model with all of them in it.
//!
//! A tensor whose `data_location` is `EXTERNAL` names a file, relative to the model's folder, and what part of it is its data. What reads the files is
//! given by the caller: nothing here touches any.

use super::proto::{entry_of, DEEPEST};
use crate::protobuf::{put, Broken, Message, Value};
use crate::{External, Fetch};
use kiln_ir::error::Error;

/// The model with the data of all its constants; `None` where it has it already. Also of files that are no sound messages: whoever reads the model says so.
///
/// # Errors
/// Those of `fetch`, and [`Error::Malformed`] for a tensor that says what no file can hold.
pub(super) fn embed(model: &[u8], fetch: &mut Fetch<'_>) -> Result<Option<Vec<u8>>, Error> {
    let mut embedding = Embedding { fetch, found: false };
    match embedding.copy(Kind::Model, model, 0) {
        Ok(bytes) => Ok(embedding.found.then_some(bytes)),
        Err(Failure::Broken) => Ok(None),
        Err(Failure::Data(error)) => Err(error),
    }
}

enum Failure {
    /// The file is no message, or is nested too deep.
    Broken,
    /// Of data in other files.
    Data(Error),
}

impl From<Broken> for Failure {
    fn from(_: Broken) -> Self {
        Failure::Broken
    }
}

/// The messages with tensors in them.
#[derive(Clone, Copy)]
enum Kind {
    Model,
    Graph,
    Node,
    Attribute,
    Tensor,
}

impl Kind {
    /// The message in that field, if there are tensors in it.
    fn field(self, number: u32) -> Option<Kind> {
        match (self, number) {
            (Kind::Model, 7) | (Kind::Attribute, 6) => Some(Kind::Graph),
            (Kind::Graph, 1) => Some(Kind::Node),
            (Kind::Node, 5) => Some(Kind::Attribute),
            (Kind::Graph | Kind::Attribute, 5) => Some(Kind::Tensor),
            _ => None,
        }
    }
}

struct Embedding<'e, 'f> {
    fetch: &'e mut Fetch<'f>,
    /// Whether any data was elsewhere.
    found: bool,
}

impl Embedding<'_, '_> {
    /// A message, with the data of its tensors. Fields without tensors are copied as they are.
    fn copy(&mut self, kind: Kind, bytes: &[u8], depth: usize) -> Result<Vec<u8>, Failure> {
        if depth > DEEPEST {
            return Err(Failure::Broken);
        }
        let external = match kind {
            Kind::Tensor => external(bytes)?,
            _ => None,
        };
        if let Some(external) = external {
            self.found = true;
            let data = (self.fetch)(&external.map_err(Failure::Data)?).map_err(Failure::Data)?;
            return with_data(bytes, &data);
        }
        let mut copy = Vec::with_capacity(bytes.len());
        let mut rest = Message(bytes);
        while let Some((number, value, field)) = next(&mut rest)? {
            match (kind.field(number), value) {
                (Some(inner), Value::Bytes(message)) => {
                    let deeper = depth + usize::from(matches!((kind, inner), (Kind::Attribute, Kind::Graph)));
                    let message = self.copy(inner, message, deeper)?;
                    put(&mut copy, number, &message);
                }
                _ => copy.extend_from_slice(field),
            }
        }
        Ok(copy)
    }
}

/// Where the data of a tensor lies, if in another file.
fn external(tensor: &[u8]) -> Result<Option<Result<External, Error>>, Broken> {
    let (mut is_external, mut entries, mut name) = (false, Vec::new(), &[][..]);
    for field in Message(tensor) {
        match field? {
            (8, text) => name = text.bytes()?,
            (13, entry) => entries.push(entry_of(entry.bytes()?)?),
            (14, location) => is_external = location.int()? == 1,
            _ => {}
        }
    }
    if !is_external {
        return Ok(None);
    }
    let place = format!("constant \"{}\"", super::proto::Name(name));
    let entry = |key: &[u8]| {
        let found = entries.iter().find(|(name, _)| name.0 == key)?;
        Some(std::str::from_utf8(found.1 .0).map(str::trim).unwrap_or_default())
    };
    let number = |key: &str| match entry(key.as_bytes()).map(str::parse::<u64>) {
        None => Ok(None),
        Some(Ok(number)) => Ok(Some(number)),
        Some(Err(_)) => Err(Error::malformed(&place, format!("the {key} of its data is not a number"))),
    };
    let read = || {
        let location = entry(b"location").filter(|location| !location.is_empty());
        Ok(External {
            place: place.clone(),
            location: location
                .ok_or_else(|| {
                    Error::malformed(&place, "its data lies in another file, which has no readable name")
                })?
                .into(),
            offset: number("offset")?.unwrap_or(0),
            length: number("length")?,
        })
    };
    Ok(Some(read()))
}

/// A tensor with its data instead of where that lies.
fn with_data(tensor: &[u8], data: &[u8]) -> Result<Vec<u8>, Failure> {
    let mut copy = Vec::with_capacity(tensor.len() + data.len() + 16);
    let mut rest = Message(tensor);
    while let Some((number, _, field)) = next(&mut rest)? {
        if !matches!(number, 9 | 13 | 14) {
            copy.extend_from_slice(field);
        }
    }
    put(&mut copy, 9, data);
    Ok(copy)
}

/// A field's number, its contents, and its bytes with both.
type Field<'a> = (u32, Value<'a>, &'a [u8]);

fn next<'a>(message: &mut Message<'a>) -> Result<Option<Field<'a>>, Broken> {
    let before = message.0;
    let Some(field) = message.next() else { return Ok(None) };
    let (number, value) = field?;
    let taken = before.len() - message.0.len();
    Ok(Some((number, value, before.get(..taken).unwrap_or(before))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A field of bytes.
    fn field(number: u32, bytes: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        put(&mut message, number, bytes);
        message
    }

    fn entry(key: &str, value: &str) -> Vec<u8> {
        field(13, &[field(1, key.as_bytes()), field(2, value.as_bytes())].concat())
    }

    fn tensor(name: &str, entries: &[Vec<u8>]) -> Vec<u8> {
        let elsewhere = b"\x70\x01".to_vec();
        [field(8, name.as_bytes()), entries.concat(), elsewhere].concat()
    }

    /// Tensors of a graph, and of one in an attribute of a node. Around them are fields of other kinds under the numbers that a tensor's have.
    fn model(tensor: &[u8], inner: &[u8]) -> Vec<u8> {
        let list = b"\x40\x03\x40\x05";
        let attribute = [list, &*field(13, b"\xff"), &field(6, &field(5, inner)), &field(5, inner)].concat();
        let node = [field(4, b"If"), field(5, &attribute), field(8, b"a")].concat();
        let graph = [field(13, b"\x0a\x01x"), field(14, b""), field(1, &node), field(5, tensor)].concat();
        [b"\x08\x07", &*field(14, b""), &field(7, &graph)].concat()
    }

    fn embedded(model: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let data = |e: &External| format!("{}@{}+{:?}", e.location, e.offset, e.length).into_bytes();
        embed(model, &mut |external| Ok(data(external)))
    }

    #[test]
    fn data_stands_in_the_place_of_where_it_lies() {
        let outer =
            tensor("w", &[entry("location", "a/m.data"), entry("offset", "16"), entry("length", "8")]);
        let inner = tensor("v", &[entry("location", "m.data"), entry("checksum", "5eed")]);
        let with = |name: &str, data: &str| [field(8, name.as_bytes()), field(9, data.as_bytes())].concat();
        let wanted = model(&with("w", "a/m.data@16+Some(8)"), &with("v", "m.data@0+None"));
        assert_eq!(embedded(&model(&outer, &inner)).unwrap().unwrap(), wanted);
        assert_eq!(embedded(&wanted).unwrap(), None);
        // Cut anywhere, it is no message, or one that has lost the tensors.
        let whole = model(&outer, &inner);
        assert!((0..whole.len()).all(|len| embedded(&whole[..len]).unwrap().is_none()));
    }

    #[test]
    fn what_no_file_can_hold() {
        let refused = |entries: &[Vec<u8>]| {
            let message = embedded(&model(&tensor("w", entries), b"")).unwrap_err().to_string();
            assert!(message.contains("constant \"w\""), "{message}");
            message
        };
        assert!(refused(&[]).contains("no readable name"));
        assert!(refused(&[entry("location", "")]).contains("no readable name"));
        let at = entry("location", "m.data");
        assert!(
            refused(&[at.clone(), entry("offset", "-1")]).contains("the offset of its data is not a number")
        );
        assert!(refused(&[at, entry("length", "1e3")]).contains("the length of its data is not a number"));
    }
}
