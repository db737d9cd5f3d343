//! Attributes that are texts, or lists of them.

use super::dataset::Space;
use super::element::{Class, Element};
use super::object::{Message, ATTRIBUTE, ATTRIBUTE_INFO};
use super::{Broken, Cursor, File, Object, Parsed};
use crate::budget::Budget;
use std::borrow::Cow;

/// An attribute.
struct Attribute<'a> {
    element: Element,
    count: usize,
    data: Cursor<'a>,
}

impl<'a> File<'a> {
    /// The texts of an attribute; `None` where there is none of that name.
    pub(in crate::keras) fn texts(
        &self,
        object: Object,
        name: &str,
        budget: &mut Budget,
    ) -> Parsed<Option<Vec<Cow<'a, str>>>> {
        let found = self.find(object, |message| match message.kind {
            ATTRIBUTE => attribute(message, name),
            ATTRIBUTE_INFO => {
                let mut body = message.body()?;
                body.skip(1)?;
                let has_order = body.byte()? & 1 != 0;
                body.skip(if has_order { 2 } else { 0 })?;
                match body.optional_address()? {
                    None => Ok(None),
                    Some(_) => Broken::unknown("attributes are stored as the newest version of HDF5 does it"),
                }
            }
            _ => Ok(None),
        })?;
        let Some(mut found) = found else { return Ok(None) };
        let mut texts = Vec::new();
        for _ in 0..found.count {
            let bytes = found.data.take(found.element.size)?;
            let bytes = match found.element.class {
                Class::Text => {
                    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
                    bytes.get(..end).unwrap_or_default()
                }
                Class::LongText => self.heap_text(Cursor::new(bytes, self.sizes))?,
                // An empty list has no type of its own.
                _ => return Broken::unknown(format!("its attribute {name} is no text")),
            };
            charge(budget, size_of::<Cow<'_, str>>())?;
            texts.push(match std::str::from_utf8(bytes) {
                Ok(text) => Cow::Borrowed(text),
                Err(_) => return Broken::damaged(format!("its attribute {name} is not UTF-8")),
            });
        }
        Ok(Some(texts))
    }

    /// The text of an attribute.
    pub(in crate::keras) fn text(
        &self,
        object: Object,
        name: &str,
        budget: &mut Budget,
    ) -> Parsed<Option<Cow<'a, str>>> {
        Ok(self.texts(object, name, budget)?.and_then(|texts| texts.into_iter().next()))
    }
}

pub(super) fn charge(budget: &mut Budget, bytes: usize) -> Parsed<()> {
    budget.charge(bytes).or(Broken::damaged("it declares more data than a file of its size can contain"))
}

fn attribute<'a>(message: &Message<'a>, wanted: &str) -> Parsed<Option<Attribute<'a>>> {
    let mut body = message.body()?;
    let version = body.byte()?;
    let flags = body.byte()?;
    let sizes = [body.short()?, body.short()?, body.short()?];
    if version == 3 {
        body.skip(1)?;
    }
    let mut part = |size: usize| -> Parsed<Cursor<'a>> {
        let padded = if version == 1 { size.next_multiple_of(8) } else { size };
        Ok(Cursor::new(body.take(padded)?.get(..size).unwrap_or_default(), body.sizes()))
    };
    let [mut name, mut datatype, mut space] = [part(sizes[0])?, part(sizes[1])?, part(sizes[2])?];
    if name.until_zero()? != wanted.as_bytes() {
        return Ok(None);
    }
    if version != 1 && flags & 3 != 0 {
        return Broken::unknown("a part of an attribute is shared with others");
    }
    let space = Space::read(&mut space)?;
    let Some(count) = space.count() else { return Broken::damaged("an attribute is too large") };
    if count == 0 {
        let element = Element { class: Class::Text, size: 1 };
        return Ok(Some(Attribute { element, count, data: body }));
    }
    Ok(Some(Attribute { element: Element::read(&mut datatype)?, count, data: body }))
}
