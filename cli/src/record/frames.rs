//! The frames that firmware sends (`kiln::record`), found in whatever bytes come: among text, behind damage, in pieces.

use std::collections::VecDeque;

/// How a frame begins. Its first byte is in no text.
const MAGIC: [u8; 4] = [0xf5, 0x4b, 0x52, 0x01];
/// Bytes before the name.
const HEADER: usize = 14;
/// Bytes behind the elements.
const CHECKSUM: usize = 4;
/// Most bytes of a name.
const MOST_NAME: usize = 32;
/// Most bytes of elements.
const MOST_BYTES: usize = 8192;
/// How a line begins that `kiln::record::to_defmt` prints.
const MARKER: &str = "kiln-record [";
/// Longest line of text that is kept.
const MOST_LINE: usize = 4096;

/// Type of elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    U8,
    I16,
    F32,
}

impl Kind {
    fn of(byte: u8) -> Option<Kind> {
        Some(match byte {
            1 => Kind::U8,
            2 => Kind::I16,
            3 => Kind::F32,
            _ => return None,
        })
    }

    /// Bytes of an element.
    pub(super) fn size(self) -> usize {
        match self {
            Kind::U8 => 1,
            Kind::I16 => 2,
            Kind::F32 => 4,
        }
    }

    /// Its name in Rust.
    pub(super) fn name(self) -> &'static str {
        match self {
            Kind::U8 => "u8",
            Kind::I16 => "i16",
            Kind::F32 => "f32",
        }
    }
}

/// A frame whose checksum is right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    /// Of the stream.
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) channels: usize,
    /// How many bytes the stream has sent before, modulo 2³².
    pub(super) sent: u32,
    /// The elements.
    pub(super) bytes: Vec<u8>,
}

/// What is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Frame(Frame),
    /// Something that begins as a frame, and is none.
    Damaged,
    /// A line that the firmware has printed.
    Line(String),
}

/// Finds frames, raw ones and those that defmt's decoder has printed.
#[derive(Debug, Default)]
pub(super) struct Finder {
    raw: Raw,
    /// The line of text in the making: what is in no frame.
    line: Vec<u8>,
    /// Frames in lines of text.
    printed: Raw,
    found: VecDeque<Item>,
}

impl Finder {
    /// Takes bytes as they come.
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.raw.bytes.extend_from_slice(bytes);
        self.search(false);
    }

    /// Nothing more comes.
    pub(super) fn end(&mut self) {
        self.search(true);
        self.end_line();
        self.search_printed(true);
    }

    /// What was found next.
    pub(super) fn next(&mut self) -> Option<Item> {
        self.found.pop_front()
    }

    fn search(&mut self, is_all: bool) {
        while let Some(piece) = self.raw.next(is_all) {
            match piece {
                Piece::Text(text) => text.into_iter().for_each(|byte| self.push_text(byte)),
                Piece::Frame(frame) => self.found.push_back(Item::Frame(frame)),
                Piece::Damaged => self.push_damaged(),
            }
        }
    }

    fn search_printed(&mut self, is_all: bool) {
        while let Some(piece) = self.printed.next(is_all) {
            match piece {
                Piece::Text(_) => {}
                Piece::Frame(frame) => self.found.push_back(Item::Frame(frame)),
                Piece::Damaged => self.push_damaged(),
            }
        }
    }

    /// What comes up to the next sound frame is one damage, although more in it may look like a beginning.
    fn push_damaged(&mut self) {
        if self.found.back() != Some(&Item::Damaged) {
            self.found.push_back(Item::Damaged);
        }
    }

    fn push_text(&mut self, byte: u8) {
        match byte {
            b'\n' => self.end_line(),
            // No text: it begins anew.
            _ if self.line.len() >= MOST_LINE => self.line.clear(),
            _ => self.line.push(byte),
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let Ok(line) = String::from_utf8(line) else { return };
        let line = line.trim_end();
        if let Some(bytes) = printed(line) {
            self.printed.bytes.extend(bytes);
            self.search_printed(false);
        } else if !line.is_empty() && !line.contains(|c: char| c.is_control() && c != '\t' && c != '\x1b') {
            self.found.push_back(Item::Line(line.to_owned()));
        }
    }
}

/// The bytes in a line that defmt's decoder has printed: `… kiln-record [f5, 4b] …`.
fn printed(line: &str) -> Option<Vec<u8>> {
    let (_, rest) = line.split_once(MARKER)?;
    let (bytes, _) = rest.split_once(']')?;
    bytes.split(',').map(|byte| u8::from_str_radix(byte.trim().trim_start_matches("0x"), 16).ok()).collect()
}

/// Bytes in which frames are searched.
#[derive(Debug, Default)]
struct Raw {
    bytes: Vec<u8>,
    /// How many of them are done with.
    done: usize,
}

/// A part of the bytes.
enum Piece {
    /// What is no frame.
    Text(Vec<u8>),
    Frame(Frame),
    Damaged,
}

impl Raw {
    /// The next part; none where more bytes have to come.
    fn next(&mut self, is_all: bool) -> Option<Piece> {
        let rest = self.bytes.get(self.done..).unwrap_or_default();
        let (piece, count) = match first(rest, is_all) {
            First::Skip(0) => {
                self.bytes.drain(..self.done.min(self.bytes.len()));
                self.done = 0;
                return None;
            }
            First::Skip(count) => (Piece::Text(rest.get(..count).unwrap_or_default().to_vec()), count),
            First::Frame(frame, count) => (Piece::Frame(frame), count),
            First::Damaged => (Piece::Damaged, 1),
        };
        self.done += count;
        Some(piece)
    }
}

/// What some bytes begin with.
enum First {
    /// So many bytes of no frame; none where more bytes have to come.
    Skip(usize),
    /// A frame, and its length.
    Frame(Frame, usize),
    /// The beginning of a frame that does not go on as one.
    Damaged,
}

fn first(bytes: &[u8], is_all: bool) -> First {
    let begins = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.iter().zip(&MAGIC).all(|(byte, magic)| byte == magic)
    };
    let start = (0..bytes.len()).find(|&at| begins(at)).unwrap_or(bytes.len());
    if start > 0 {
        return First::Skip(start);
    }
    // Where nothing more comes, what is incomplete is damaged, if there is anything.
    let incomplete = || if is_all && !bytes.is_empty() { First::Damaged } else { First::Skip(0) };
    let Some(&header) = bytes.first_chunk::<HEADER>() else { return incomplete() };
    let [_, _, _, _, kind, channels, length_0, length_1, sent_0, sent_1, sent_2, sent_3, name, sum] = header;
    let added = header.iter().take(HEADER - 1).fold(0u8, |sum, &byte| sum.wrapping_add(byte));
    let length = usize::from(u16::from_le_bytes([length_0, length_1]));
    let name = usize::from(name);
    let kind = match Kind::of(kind) {
        Some(kind)
            if added == sum
                && channels > 0
                && length <= MOST_BYTES
                && length % kind.size() == 0
                && name <= MOST_NAME =>
        {
            kind
        }
        _ => return First::Damaged,
    };
    let end = HEADER + name + length;
    let (Some(checked), Some(crc)) =
        (bytes.get(..end), bytes.get(end..).and_then(|rest| rest.first_chunk::<CHECKSUM>()))
    else {
        return incomplete();
    };
    if crc32fast::hash(checked) != u32::from_le_bytes(*crc) {
        return First::Damaged;
    }
    let (name, elements) = checked.split_at(HEADER).1.split_at(name);
    let frame = Frame {
        name: String::from_utf8_lossy(name).into_owned(),
        kind,
        channels: channels.into(),
        sent: u32::from_le_bytes([sent_0, sent_1, sent_2, sent_3]),
        bytes: elements.to_vec(),
    };
    First::Frame(frame, end + CHECKSUM)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// As `kiln::record` writes it.
    pub(crate) fn frame(name: &str, kind: u8, channels: u8, sent: u32, bytes: &[u8]) -> Vec<u8> {
        let mut frame = [&MAGIC[..], &[kind, channels]].concat();
        frame.extend((bytes.len() as u16).to_le_bytes());
        frame.extend(sent.to_le_bytes());
        frame.push(name.len() as u8);
        frame.push(frame.iter().fold(0, |sum: u8, &byte| sum.wrapping_add(byte)));
        frame.extend(name.as_bytes());
        frame.extend(bytes);
        frame.extend(crc32fast::hash(&frame).to_le_bytes());
        frame
    }

    fn mic(sent: u32, bytes: &[u8]) -> Vec<u8> {
        frame("mic", 2, 1, sent, bytes)
    }

    /// Everything in pieces of that size.
    fn found(bytes: &[u8], piece: usize) -> Vec<Item> {
        let mut finder = Finder::default();
        bytes.chunks(piece).for_each(|piece| finder.push(piece));
        finder.end();
        std::iter::from_fn(|| finder.next()).collect()
    }

    fn sent(items: &[Item]) -> Vec<u32> {
        let sent = |item: &Item| match item {
            Item::Frame(frame) => Some(frame.sent),
            _ => None,
        };
        items.iter().filter_map(sent).collect()
    }

    fn damages(items: &[Item]) -> usize {
        items.iter().filter(|item| **item == Item::Damaged).count()
    }

    #[test]
    fn frames_among_text_in_pieces() {
        let bytes = [
            b"booting\r\n".as_slice(),
            &mic(0, &[1, 2, 3, 4]),
            b"\xf5 is no text\nsecond ",
            &mic(4, &[5, 6]),
            "line: µ\n".as_bytes(),
        ]
        .concat();
        for piece in [1, 2, 7, 1000] {
            let items = found(&bytes, piece);
            assert_eq!(sent(&items), [0, 4], "{piece}");
            assert_eq!(items[0], Item::Line("booting".into()));
            assert!(items.contains(&Item::Line("second line: µ".into())), "{items:?}");
            let Item::Frame(first) = &items[1] else { panic!("{items:?}") };
            assert_eq!((first.name.as_str(), first.kind, first.channels), ("mic", Kind::I16, 1));
            assert_eq!((first.bytes.as_slice(), damages(&items)), ([1, 2, 3, 4].as_slice(), 0));
        }
    }

    /// Whatever byte is lost, changed or inserted: only its frame is lost, and that is noticed, here or by what the next one says.
    #[test]
    fn damage_costs_the_frame_that_has_it() {
        let frames = [mic(0, &[9; 20]), mic(20, &[0xf5; 20]), mic(40, &[7; 20])];
        let all = frames.concat();
        for at in frames[0].len()..frames[0].len() + frames[1].len() {
            let mut lost = all.clone();
            lost.remove(at);
            let mut changed = all.clone();
            changed[at] ^= 0x40;
            let mut inserted = all.clone();
            inserted.insert(at + 1, 0xf5);
            for bytes in [lost, changed] {
                let items = found(&bytes, 5);
                assert_eq!(sent(&items), [0, 40], "{at}");
                assert!(damages(&items) <= 1);
            }
            let items = found(&inserted, 5);
            assert!([vec![0, 40], vec![0, 20, 40]].contains(&sent(&items)), "{at}: {items:?}");
        }
        // Text of an interrupt in the middle.
        let mut bytes = all.clone();
        bytes.splice(60..60, *b"panic!\n");
        assert_eq!((sent(&found(&bytes, 64)), damages(&found(&bytes, 64))), (vec![0, 40], 1));
    }

    #[test]
    fn a_cut_stream_has_the_frames_before_the_cut() {
        let all = [mic(0, &[1; 6]), mic(6, &[2; 6])].concat();
        for end in 0..all.len() {
            let items = found(&all[..end], 3);
            let whole = end / (all.len() / 2);
            assert_eq!(
                (sent(&items).len(), damages(&items)),
                (whole, usize::from(end % (all.len() / 2) != 0))
            );
        }
    }

    #[test]
    fn hostile_headers_hold_nothing_up() {
        let sound = mic(0, &[1, 2]);
        for (at, byte) in [(4, 0), (4, 4), (5, 0), (6, 3), (7, 0xff), (12, 33), (12, 0xff), (13, 0)] {
            let mut hostile = mic(0, &[0; 4]);
            hostile[at] = byte;
            if at != 13 {
                hostile[13] = hostile[..13].iter().fold(0, |sum: u8, &byte| sum.wrapping_add(byte));
            }
            let mut finder = Finder::default();
            finder.push(&[hostile, sound.clone()].concat());
            let items: Vec<Item> = std::iter::from_fn(|| finder.next()).collect();
            // Where the header says more than there is, a sound frame waits for that many bytes, or for the end.
            assert_eq!((sent(&items), damages(&items)), (vec![0], 1), "byte {at} is {byte}: {items:?}");
        }
        let mut long = mic(0, &[0; 4]);
        long[6..8].copy_from_slice(&8192u16.to_le_bytes());
        long[13] = long[..13].iter().fold(0, |sum: u8, &byte| sum.wrapping_add(byte));
        assert_eq!(sent(&found(&[long, sound].concat(), 9)), [0]);
    }

    /// Reproducible noise, with many beginnings of frames in it.
    #[test]
    fn noise_is_survived() {
        let mut state = 1u32;
        let mut bytes = Vec::new();
        for _ in 0..20_000 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            match state >> 28 {
                0 => bytes.extend(MAGIC),
                1 => bytes.extend(b"kiln-record [f5, "),
                2 => bytes.push(b'\n'),
                _ => bytes.push((state >> 16) as u8),
            }
        }
        let items = found(&bytes, 61);
        assert!(sent(&items).is_empty());
        assert!(damages(&items) > 0);
    }

    #[test]
    fn frames_that_defmt_has_printed_are_read() {
        let frame = mic(0, &[1, 2, 3, 4]);
        let line = |bytes: &[u8]| {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("0.5 INFO kiln-record [{}] (src/main.rs:7)\n", bytes.join(", "))
        };
        let text = format!("hello\n{}other\n{}", line(&frame[..10]), line(&frame[10..]));
        let items = found(text.as_bytes(), 11);
        assert_eq!((sent(&items), items.len()), (vec![0], 3));
        assert_eq!(printed("kiln-record [f5, 4b"), None);
        assert_eq!(printed("kiln-record [zz]"), None);
        // The first half is lost.
        assert!(sent(&found(line(&frame[10..]).as_bytes(), 100)).is_empty());
    }
}
