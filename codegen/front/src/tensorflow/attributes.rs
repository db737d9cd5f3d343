//! Attributes of a node: messages of the kind `AttrValue`, which are read where they are asked for.

use super::proto::{entry, text, Failure, Parsed};
use crate::protobuf::{floats, ints, Message, Value};

/// The attributes of a node, by name.
#[derive(Clone, Default)]
pub(super) struct Attributes<'a>(Vec<(&'a str, &'a [u8])>);

/// The largest number of an attribute's list.
const MOST_LISTED: usize = 1 << 16;

impl<'a> Attributes<'a> {
    pub(super) fn add(&mut self, bytes: &'a [u8]) -> Parsed<()> {
        let (key, value) = entry(bytes)?;
        self.0.push((text(key)?, value));
        Ok(())
    }

    fn message(&self, name: &str) -> Option<&'a [u8]> {
        self.0.iter().find(|(own, _)| *own == name).map(|(_, value)| *value)
    }

    /// The field of that number in the attribute of that name.
    fn field(&self, name: &str, number: u32) -> Parsed<Option<Value<'a>>> {
        let Some(message) = self.message(name) else { return Ok(None) };
        for field in Message(message) {
            let (own, value) = field?;
            if own == number {
                return Ok(Some(value));
            }
        }
        Ok(None)
    }

    /// Bytes or a text.
    pub(super) fn bytes(&self, name: &str) -> Parsed<Option<&'a [u8]>> {
        Ok(self.field(name, 2)?.map(Value::bytes).transpose()?)
    }

    pub(super) fn int(&self, name: &str) -> Parsed<Option<i64>> {
        Ok(self.field(name, 3)?.map(Value::int).transpose()?)
    }

    pub(super) fn float(&self, name: &str) -> Parsed<Option<f32>> {
        Ok(self.field(name, 4)?.map(Value::float).transpose()?)
    }

    pub(super) fn flag(&self, name: &str) -> Parsed<Option<bool>> {
        Ok(self.field(name, 5)?.map(Value::int).transpose()?.map(|number| number != 0))
    }

    /// A `DataType`.
    pub(super) fn dtype(&self, name: &str) -> Parsed<Option<i64>> {
        Ok(self.field(name, 6)?.map(Value::int).transpose()?)
    }

    /// A `TensorShapeProto`.
    pub(super) fn shape(&self, name: &str) -> Parsed<Option<&'a [u8]>> {
        Ok(self.field(name, 7)?.map(Value::bytes).transpose()?)
    }

    /// A `TensorProto`.
    pub(super) fn tensor(&self, name: &str) -> Parsed<Option<&'a [u8]>> {
        Ok(self.field(name, 8)?.map(Value::bytes).transpose()?)
    }

    /// The name of a function.
    pub(super) fn function(&self, name: &str) -> Parsed<Option<&'a str>> {
        let Some(value) = self.field(name, 10)? else { return Ok(None) };
        function_name(value.bytes()?).map(Some)
    }

    /// The fields of a list, if the attribute is one.
    fn list(&self, name: &str) -> Parsed<Option<Message<'a>>> {
        Ok(self.field(name, 1)?.map(Value::bytes).transpose()?.map(Message))
    }

    /// A list of integers, or of types.
    pub(super) fn ints(&self, name: &str) -> Parsed<Option<Vec<i64>>> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let mut found = Vec::new();
        for field in list {
            if let (3 | 6, value) = field? {
                ints(value, |number| {
                    found.push(number);
                    Ok(())
                })?;
            }
            if found.len() > MOST_LISTED {
                return Err(Failure::Broken(format!("its attribute {name} is too long")));
            }
        }
        Ok(Some(found))
    }

    /// A list of floats.
    pub(super) fn floats(&self, name: &str) -> Parsed<Option<Vec<f32>>> {
        let Some(list) = self.list(name)? else { return Ok(None) };
        let mut found = Vec::new();
        for field in list {
            if let (4, value) = field? {
                floats(value, |number| {
                    found.push(number);
                    Ok(())
                })?;
            }
            if found.len() > MOST_LISTED {
                return Err(Failure::Broken(format!("its attribute {name} is too long")));
            }
        }
        Ok(Some(found))
    }

    /// Shapes of a list, as messages.
    pub(super) fn shapes(&self, name: &str) -> Parsed<Vec<&'a [u8]>> {
        let Some(list) = self.list(name)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for field in list.take(MOST_LISTED) {
            if let (7, shape) = field? {
                found.push(shape.bytes()?);
            }
        }
        Ok(found)
    }

    /// Names of functions in a list.
    pub(super) fn functions(&self, name: &str) -> Parsed<Vec<&'a str>> {
        let Some(list) = self.list(name)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for field in list.take(MOST_LISTED) {
            if let (9, function) = field? {
                found.push(function_name(function.bytes()?)?);
            }
        }
        Ok(found)
    }
}

/// The name in a `NameAttrList`.
fn function_name(bytes: &[u8]) -> Parsed<&str> {
    for field in Message(bytes) {
        if let (1, name) = field? {
            return text(name.bytes()?);
        }
    }
    Err(Failure::Broken("a function has no name".into()))
}
