//! Changes of files that are text: words, numbers and lines.

use super::{float, integer};
use crate::draw::Random;

/// What stands in place of a word.
const WORDS: [&str; 20] = [
    "0",
    "-1",
    "1",
    "2",
    "7",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551616",
    "1e999",
    "nan",
    "null",
    "true",
    "\"",
    "[]",
    "{}",
    "()",
    "?",
    "x",
    "i1",
    "f32",
];

/// Openings of what may be nested.
const OPENINGS: [&str; 6] = ["(", "[", "{", "<", "\"a\"({", "tuple<"];

/// Depth of what is nested in one place.
const DEPTH: usize = 2000;

/// The text with one to four changes.
pub(super) fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut text = seed.to_vec();
    for _ in 0..1 + random.below(4) {
        if text.is_empty() {
            break;
        }
        match random.below(12) {
            0 => lines(&mut text, random),
            1 => {
                let at = random.below(text.len());
                text[at] ^= 1 << random.below(8);
            }
            2 if random.below(8) == 0 => {
                let at = random.below(text.len());
                let nested = OPENINGS[random.below(OPENINGS.len())].repeat(random.below(DEPTH));
                text.splice(at..at, nested.into_bytes());
            }
            _ => {
                let place = word(&text, random);
                let new = other(&text, &text[place.clone()], random);
                text.splice(place, new);
            }
        }
    }
    text
}

/// Where a word or a number is.
fn word(text: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.%@#".contains(&byte);
    let at = random.below(text.len());
    let from = (at..text.len()).find(|&k| is_word(text[k])).unwrap_or(at);
    let to = (from..text.len()).find(|&k| !is_word(text[k])).unwrap_or(text.len());
    from..to
}

/// What stands in its place: something hostile, another word of the text, or a number near it.
fn other(text: &[u8], old: &[u8], random: &mut Random) -> Vec<u8> {
    let old = String::from_utf8_lossy(old);
    match (random.below(4), old.parse::<i64>()) {
        (0, _) => WORDS[random.below(WORDS.len())].into(),
        (1, Ok(number)) => integer(number, random).to_string().into_bytes(),
        (1, Err(_)) if old.parse::<f64>().is_ok() => float(random).to_string().into_bytes(),
        _ => text[word(text, random)].to_vec(),
    }
}

/// Leaves out a line, or puts it elsewhere as well.
fn lines(text: &mut Vec<u8>, random: &mut Random) {
    let line = |text: &[u8], at: usize| {
        let from = text[..at].iter().rposition(|&byte| byte == b'\n').map_or(0, |k| k + 1);
        let to = text[at..].iter().position(|&byte| byte == b'\n').map_or(text.len(), |k| at + k + 1);
        from..to
    };
    let place = line(text, random.below(text.len()));
    let copy = match random.below(2) {
        0 => text.drain(place).collect::<Vec<u8>>(),
        _ => text[place].to_vec(),
    };
    if !text.is_empty() && random.below(2) == 0 {
        let at = line(text, random.below(text.len())).start;
        text.splice(at..at, copy);
    }
}
