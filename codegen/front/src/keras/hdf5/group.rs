//! Groups: names of objects. Those of the old kind are B-trees of symbol tables, with their names in a heap. Small ones of the new kind are messages.

use super::object::{LINK, LINK_INFO, SYMBOL_TABLE};
use super::{Broken, Cursor, File, Object, Parsed};
use std::ops::ControlFlow;

/// How deep a B-tree may be.
const DEEPEST: u8 = 32;

/// A link that is no hard one. Keras writes none.
const SOFT: &str = "an object is a link to another place";

type Each<'e> = dyn FnMut(&[u8], Object) -> Parsed<ControlFlow<()>> + 'e;

impl<'a> File<'a> {
    /// The object that a path leads to, from a group on; `None` where there is none.
    pub(in crate::keras) fn follow(&self, from: Object, path: &str) -> Parsed<Option<Object>> {
        let mut object = from;
        for name in path.split('/').filter(|name| !name.is_empty()) {
            match self.child(object, name)? {
                Some(child) => object = child,
                None => return Ok(None),
            }
        }
        Ok(Some(object))
    }

    /// The object of that name in a group.
    pub(in crate::keras) fn child(&self, group: Object, name: &str) -> Parsed<Option<Object>> {
        let mut found = None;
        self.each_child(group, &mut |own, object| {
            if own != name.as_bytes() {
                return Ok(ControlFlow::Continue(()));
            }
            found = Some(object);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }

    /// Names of all objects in a group.
    pub(super) fn each_child(&self, group: Object, each: &mut Each<'_>) -> Parsed<()> {
        let table = self.find(group, |message| match message.kind {
            SYMBOL_TABLE => message.body().map(Some),
            LINK => Ok(match link(message.body()?)? {
                Some((name, object)) => {
                    each(name, object)?.is_break().then_some(Cursor::new(&[], self.sizes))
                }
                None => None,
            }),
            LINK_INFO => {
                let mut body = message.body()?;
                body.skip(1)?;
                let has_order = body.byte()? & 1 != 0;
                body.skip(if has_order { 8 } else { 0 })?;
                match body.optional_address()? {
                    None => Ok(None),
                    Some(_) => Broken::unknown("a group is stored as the newest version of HDF5 does it"),
                }
            }
            _ => Ok(None),
        })?;
        let Some(mut table) = table.filter(|table| !table.is_empty()) else { return Ok(()) };
        let (tree, heap) = (table.address()?, table.address()?);
        let names = self.local_heap(heap)?;
        self.tree(tree, names, DEEPEST, each).map(drop)
    }

    /// The names of a group.
    fn local_heap(&self, address: u64) -> Parsed<Cursor<'a>> {
        let mut head = self.at(address)?;
        if !head.takes(b"HEAP") {
            return Broken::damaged("a group has no names");
        }
        head.skip(4)?;
        let length = head.length()?;
        head.length()?;
        let data = head.address()?;
        self.block(data, length)
    }

    fn tree(
        &self,
        address: u64,
        names: Cursor<'a>,
        most: u8,
        each: &mut Each<'_>,
    ) -> Parsed<ControlFlow<()>> {
        let mut node = self.at(address)?;
        if node.takes(b"SNOD") {
            return self.symbols(node, names, each);
        }
        let (is_tree, kind, level) = (node.takes(b"TREE"), node.byte()?, node.byte()?);
        if !is_tree || kind != 0 || level >= most {
            return Broken::damaged("the tree of a group is damaged");
        }
        let count = node.short()?;
        node.address()?;
        node.address()?;
        for _ in 0..count {
            node.length()?;
            let child = node.address()?;
            if self.tree(child, names, level, each)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn symbols(
        &self,
        mut node: Cursor<'a>,
        names: Cursor<'a>,
        each: &mut Each<'_>,
    ) -> Parsed<ControlFlow<()>> {
        node.skip(2)?;
        for _ in 0..node.short()? {
            self.visit()?;
            let (name, object) = (node.address()?, node.address()?);
            let cache = node.word()?;
            node.skip(4 + 16)?;
            if cache == 2 {
                return Broken::unknown(SOFT);
            }
            let mut name_at = names;
            name_at.skip(usize::try_from(name).or(Broken::damaged("a name lies outside of the file"))?)?;
            if each(name_at.until_zero()?, Object(object))?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// The name and object of a link; `None` for one that is not hard.
fn link<'a>(mut body: Cursor<'a>) -> Parsed<Option<(&'a [u8], Object)>> {
    body.skip(1)?;
    let flags = body.byte()?;
    let kind = if flags & 8 != 0 { body.byte()? } else { 0 };
    body.skip(if flags & 4 != 0 { 8 } else { 0 })?;
    body.skip(usize::from(flags & 0x10 != 0))?;
    let length = body.number(1 << (flags & 3))?;
    let length = usize::try_from(length).or(Broken::damaged("a name is longer than the file"))?;
    let name = body.take(length)?;
    match kind {
        0 => Ok(Some((name, Object(body.address()?)))),
        _ => Broken::unknown(SOFT),
    }
}
