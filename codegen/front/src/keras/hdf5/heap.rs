//! The global heap: texts of any length, each with a number in its collection.

use super::{Broken, Cursor, File, Parsed};

impl<'a> File<'a> {
    /// The text that a reference of an element means: its length, the collection, and the number in that.
    pub(super) fn heap_text(&self, mut reference: Cursor<'a>) -> Parsed<&'a [u8]> {
        let length = reference.word()? as usize;
        let (collection, wanted) = (reference.optional_address()?, reference.word()?);
        let Some(collection) = collection.filter(|_| length > 0) else { return Ok(&[]) };
        let mut head = self.at(collection)?;
        if !head.takes(b"GCOL") {
            return Broken::damaged("a text is in no heap");
        }
        head.skip(4)?;
        let size = head.length()?;
        let mut heap = self.block(collection, size)?;
        heap.skip(8 + self.sizes.length)?;
        while heap.rest().len() >= 8 + self.sizes.length {
            self.visit()?;
            let number = heap.short()? as u64;
            heap.skip(2 + 4)?;
            let size = heap.length()?;
            let size = usize::try_from(size).or(Broken::damaged("a text is longer than the file"))?;
            if number == wanted {
                return heap
                    .take(size)?
                    .get(..length)
                    .map_or_else(|| Broken::damaged("a text is shorter than it says"), Ok);
            }
            // The rest is free.
            if number == 0 {
                break;
            }
            heap.skip(size.checked_next_multiple_of(8).unwrap_or(usize::MAX))?;
        }
        Broken::damaged("a text is not in its heap")
    }
}
