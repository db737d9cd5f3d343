//! Headers of objects: lists of messages, in one or several blocks.

use super::{Broken, Cursor, File, Object, Parsed};

/// Kinds of messages.
pub(super) const DATASPACE: u16 = 0x01;
pub(super) const LINK_INFO: u16 = 0x02;
pub(super) const DATATYPE: u16 = 0x03;
pub(super) const FILL: u16 = 0x05;
pub(super) const LINK: u16 = 0x06;
pub(super) const LAYOUT: u16 = 0x08;
pub(super) const FILTERS: u16 = 0x0B;
pub(super) const ATTRIBUTE: u16 = 0x0C;
pub(super) const SYMBOL_TABLE: u16 = 0x11;
pub(super) const ATTRIBUTE_INFO: u16 = 0x15;
const CONTINUATION: u16 = 0x10;

/// Most blocks of one header.
const MOST_BLOCKS: usize = 1 << 12;

/// A flag of a message: it is stored somewhere else.
const SHARED: u8 = 2;

/// A message.
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    flags: u8,
    body: Cursor<'a>,
}

impl<'a> Message<'a> {
    /// What it says.
    pub(super) fn body(&self) -> Parsed<Cursor<'a>> {
        match self.flags & SHARED {
            0 => Ok(self.body),
            _ => Broken::unknown("a part of an object is shared with others"),
        }
    }
}

/// A block of messages.
struct Block<'a> {
    messages: Cursor<'a>,
    /// Bytes in front of each message, for version 2 of headers.
    creation_order: bool,
}

impl<'a> File<'a> {
    /// Looks at the messages of an object, up to one of which the function makes something.
    pub(super) fn find<T>(
        &self,
        object: Object,
        mut of: impl FnMut(&Message<'a>) -> Parsed<Option<T>>,
    ) -> Parsed<Option<T>> {
        let mut head = self.at(object.0)?;
        match head.takes(b"OHDR") {
            true => self.second(head, &mut of),
            false => self.first(head, &mut of),
        }
    }

    /// The first message of a kind.
    pub(super) fn message(&self, object: Object, kind: u16) -> Parsed<Option<Cursor<'a>>> {
        self.find(object, |message| match message.kind == kind {
            true => message.body().map(Some),
            false => Ok(None),
        })
    }

    /// A header of version 1.
    fn first<T>(
        &self,
        mut head: Cursor<'a>,
        of: &mut impl FnMut(&Message<'a>) -> Parsed<Option<T>>,
    ) -> Parsed<Option<T>> {
        let version = head.byte()?;
        if version != 1 {
            return Broken::damaged(format!("the header of an object has version {version}"));
        }
        // Reserved, the number of messages and of references.
        head.skip(1 + 2 + 4)?;
        let length = head.word()? as usize;
        head.skip(4)?;
        let mut blocks = vec![Cursor::new(head.take(length)?, self.sizes)];
        let mut next = 0;
        while let Some(&block) = blocks.get(next) {
            let mut block = block;
            next += 1;
            while block.rest().len() >= 8 {
                self.visit()?;
                let (kind, size) = (block.short()? as u16, block.short()?);
                let flags = block.byte()?;
                block.skip(3)?;
                let body = Cursor::new(block.take(size)?, self.sizes);
                if kind == CONTINUATION {
                    blocks.push(self.continued(body, blocks.len())?);
                    continue;
                }
                if let Some(found) = of(&Message { kind, flags, body })? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }

    fn continued(&self, mut body: Cursor<'a>, blocks: usize) -> Parsed<Cursor<'a>> {
        if blocks >= MOST_BLOCKS {
            return Broken::damaged("the header of an object has no end");
        }
        let (address, length) = (body.address()?, body.length()?);
        self.block(address, length)
    }

    /// A header of version 2, behind its signature.
    fn second<T>(
        &self,
        mut head: Cursor<'a>,
        of: &mut impl FnMut(&Message<'a>) -> Parsed<Option<T>>,
    ) -> Parsed<Option<T>> {
        let (version, flags) = (head.byte()?, head.byte()?);
        if version != 2 {
            return Broken::damaged(format!("the header of an object has version {version}"));
        }
        let (times, limits) = (flags & 0x20 != 0, flags & 0x10 != 0);
        head.skip(if times { 16 } else { 0 } + if limits { 4 } else { 0 })?;
        let length = head.number(1 << (flags & 3))?;
        let length = usize::try_from(length).or(Broken::damaged("a block is longer than the file"))?;
        let creation_order = flags & 4 != 0;
        let mut blocks =
            vec![Block { messages: Cursor::new(head.take(length)?, self.sizes), creation_order }];
        let mut next = 0;
        while let Some(block) = blocks.get(next) {
            let (mut messages, creation_order) = (block.messages, block.creation_order);
            next += 1;
            let front = if creation_order { 6 } else { 4 };
            // A gap at the end is shorter than the front of a message.
            while messages.rest().len() >= front {
                self.visit()?;
                let (kind, size, flags) = (messages.byte()?.into(), messages.short()?, messages.byte()?);
                messages.skip(front - 4)?;
                let body = Cursor::new(messages.take(size)?, self.sizes);
                if kind == CONTINUATION {
                    let mut block = self.continued(body, blocks.len())?;
                    if !block.takes(b"OCHK") || block.rest().len() < 4 {
                        return Broken::damaged("the header of an object is not continued");
                    }
                    let messages = block.take(block.rest().len() - 4)?;
                    let messages = Cursor::new(messages, self.sizes);
                    blocks.push(Block { messages, creation_order });
                    continue;
                }
                if let Some(found) = of(&Message { kind, flags, body })? {
                    return Ok(Some(found));
                }
            }
        }
        Ok(None)
    }
}
