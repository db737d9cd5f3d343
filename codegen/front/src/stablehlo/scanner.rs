//! The characters of a text, read in one pass, with what keeps readers in bounds: an allowance of memory and of steps in proportion to the text, and a
//! limit of nesting.

use kiln_ir::error::{Error, Problem};
use std::borrow::Cow;

/// Why a text cannot be read, and where.
#[derive(Debug)]
pub(super) struct Broken {
    pub(super) at: usize,
    pub(super) what: String,
    /// The way out, where the text is sound but not supported.
    pub(super) help: Option<&'static str>,
}

pub(super) type Parsed<T> = Result<T, Broken>;

/// How deep regions, lists and types may be nested together.
const DEPTH: usize = 64;
/// Bytes of what is read for every text, besides those for each byte.
const BASE: usize = 16 << 10;
/// Steps for each byte of text, and for every text. More are needed only where aliases stand for each other.
const STEPS_PER_BYTE: usize = 16;
const STEPS: usize = 1 << 16;

/// A text, of which the first part has been read.
pub(super) struct Scanner<'m> {
    text: &'m str,
    at: usize,
    steps: usize,
    depth: usize,
    left: usize,
    /// A place and its line, from which lines are counted on.
    counted: (usize, usize),
}

impl<'m> Scanner<'m> {
    /// A text that may make the reader allocate so many bytes for each of its own. Fails where the bytes are no text.
    pub(super) fn new(bytes: &'m [u8], per_byte: usize) -> Result<Self, Error> {
        let text = std::str::from_utf8(bytes).map_err(|error| {
            let place = place(bytes, error.valid_up_to());
            Error::malformed(place, "the text is not UTF-8")
        })?;
        let steps = bytes.len().saturating_mul(STEPS_PER_BYTE).saturating_add(STEPS);
        let left = bytes.len().saturating_mul(per_byte).saturating_add(BASE);
        Ok(Scanner { text, at: 0, steps, depth: 0, left, counted: (0, 1) })
    }

    /// Whether not many levels are left below this one.
    pub(super) fn is_deep(&self) -> bool {
        self.depth > 3 * DEPTH / 4
    }

    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// Reads on at a place that [`at`](Self::at) gave.
    pub(super) fn jump(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    /// The text between two places.
    pub(super) fn between(&self, from: usize, to: usize) -> &'m str {
        self.text.get(from..to).unwrap_or_default()
    }

    pub(super) fn broken<T>(&self, what: impl Into<String>) -> Parsed<T> {
        self.broken_at(self.at, what)
    }

    pub(super) fn broken_at<T>(&self, at: usize, what: impl Into<String>) -> Parsed<T> {
        Err(Broken { at, what: what.into(), help: None })
    }

    pub(super) fn unsupported<T>(&self, at: usize, what: impl Into<String>, help: &'static str) -> Parsed<T> {
        Err(Broken { at, what: what.into(), help: Some(help) })
    }

    /// The error, with line and column.
    pub(super) fn error(&self, broken: Broken) -> Error {
        let place = place(self.text.as_bytes(), broken.at);
        match broken.help {
            None => Error::malformed(place, broken.what),
            Some(help) => Error::Unsupported(vec![Problem { place, what: broken.what, help: help.into() }]),
        }
    }

    /// Takes bytes from what the text may make the reader allocate.
    pub(super) fn charge(&mut self, bytes: usize) -> Parsed<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => return self.broken("it declares more data than a text of its size can contain"),
        }
        Ok(())
    }

    /// Gives bytes back to the allowance that are not kept.
    pub(super) fn release(&mut self, bytes: usize) {
        self.left = self.left.saturating_add(bytes);
    }

    /// Reads something that may contain its like.
    pub(super) fn step(&mut self) -> Parsed<()> {
        match self.steps.checked_sub(1) {
            Some(steps) => self.steps = steps,
            None => return self.broken("its aliases stand for more than a text of its size can contain"),
        }
        Ok(())
    }

    /// Goes one level down. Whoever calls it calls [`leave`](Self::leave) behind it; after an error, nothing is read any more.
    pub(super) fn enter(&mut self) -> Parsed<()> {
        self.step()?;
        if self.depth == DEPTH {
            return self.unsupported(
                self.at,
                format!("it is nested deeper than {DEPTH} levels"),
                "export the model without so many regions in each other",
            );
        }
        self.depth += 1;
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth = self.depth.saturating_sub(1);
    }

    /// The line of a place. It is cheap where places come in the order of the text.
    pub(super) fn line(&mut self, at: usize) -> usize {
        let (from, line) = if self.counted.0 <= at { self.counted } else { (0, 1) };
        let between = self.text.as_bytes().get(from..at).unwrap_or_default();
        self.counted = (at, line + between.iter().filter(|&&byte| byte == b'\n').count());
        self.counted.1
    }

    /// Leaves out spaces and comments.
    pub(super) fn space(&mut self) {
        let bytes = self.text.as_bytes();
        loop {
            match bytes.get(self.at) {
                Some(byte) if byte.is_ascii_whitespace() => self.at += 1,
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'/') => {
                    let rest = bytes.get(self.at..).unwrap_or_default();
                    let length = rest.iter().position(|&byte| byte == b'\n');
                    self.at += length.unwrap_or(rest.len());
                }
                Some(b'/') if bytes.get(self.at + 1) == Some(&b'*') => {
                    let rest = self.text.get(self.at + 2..).unwrap_or_default();
                    self.at = rest.find("*/").map_or(bytes.len(), |length| self.at + length + 4);
                }
                _ => return,
            }
        }
    }

    /// The next byte that is no space; 0 at the end.
    pub(super) fn peek(&mut self) -> u8 {
        self.space();
        self.text.as_bytes().get(self.at).copied().unwrap_or(0)
    }

    /// Whether this byte is next behind no space.
    pub(super) fn next_is(&self, byte: u8) -> bool {
        self.text.as_bytes().get(self.at) == Some(&byte)
    }

    /// Leaves out a character.
    pub(super) fn advance(&mut self) {
        self.at = self.text.len().min(self.at + 1);
        while !self.text.is_char_boundary(self.at) {
            self.at += 1;
        }
    }

    /// Leaves out the rest of a line.
    pub(super) fn line_rest(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        self.at += rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    }

    /// Whether nothing is left.
    pub(super) fn ends(&mut self) -> bool {
        self.space();
        self.at == self.text.len()
    }

    /// Whether this is next.
    pub(super) fn sees(&mut self, token: &str) -> bool {
        self.space();
        self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(token.as_bytes()))
    }

    /// Whether this is next; then it is read.
    pub(super) fn takes(&mut self, token: &str) -> bool {
        let sees = self.sees(token);
        self.at += if sees { token.len() } else { 0 };
        sees
    }

    /// Reads what must be next.
    pub(super) fn wants(&mut self, token: &str) -> Parsed<()> {
        match self.takes(token) {
            true => Ok(()),
            false => self.broken(format!("\"{token}\" is wanted here")),
        }
    }

    /// Reads what must be next behind no space.
    pub(super) fn joins(&mut self, token: &str) -> bool {
        let joins =
            self.text.as_bytes().get(self.at..).is_some_and(|rest| rest.starts_with(token.as_bytes()));
        self.at += if joins { token.len() } else { 0 };
        joins
    }

    /// Reads bytes as long as they are such.
    pub(super) fn run(&mut self, is_such: impl Fn(u8) -> bool) -> &'m str {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let length = rest.iter().take_while(|&&byte| byte < 128 && is_such(byte)).count();
        let run = self.between(self.at, self.at + length);
        self.at += run.len();
        run
    }

    /// The word that is next: letters, digits, `_`, `.` and `$`. Empty where none is.
    pub(super) fn word(&mut self) -> &'m str {
        match self.peek() {
            first if first.is_ascii_alphabetic() || first == b'_' => {
                self.run(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'$'))
            }
            _ => "",
        }
    }

    /// The word that is next, not read.
    pub(super) fn peek_word(&mut self) -> &'m str {
        let word = self.word();
        self.at -= word.len();
        word
    }

    /// Whether this word is next; then it is read.
    pub(super) fn takes_word(&mut self, word: &str) -> bool {
        let is_next = self.peek_word() == word;
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    /// Reads a list behind its opening token: the function reads each element, up to the closing token.
    pub(super) fn list(&mut self, close: &str, mut each: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if self.takes(close) {
            return Ok(());
        }
        loop {
            self.step()?;
            each(self)?;
            if self.takes(close) {
                return Ok(());
            }
            if !self.takes(",") {
                return self.broken(format!("\",\" or \"{close}\" is wanted here"));
            }
        }
    }

    /// Reads a text in quotation marks.
    pub(super) fn string(&mut self) -> Parsed<Cow<'m, str>> {
        let start = self.at;
        self.wants("\"")?;
        let inside = self.at;
        let mut is_plain = true;
        loop {
            match self.text.as_bytes().get(self.at) {
                None | Some(b'\n') => return self.broken_at(start, "a text has no end"),
                Some(b'"') => break,
                Some(b'\\') => {
                    is_plain = false;
                    self.at += 2;
                }
                Some(_) => self.at += 1,
            }
        }
        let inside = self.between(inside, self.at);
        self.at += 1;
        match is_plain {
            true => Ok(Cow::Borrowed(inside)),
            false => {
                self.charge(inside.len())?;
                Ok(Cow::Owned(unescaped(inside)))
            }
        }
    }

    /// The characters of a number: sign, digits, point and exponent, or hexadecimal digits.
    pub(super) fn number(&mut self) -> Parsed<&'m str> {
        self.space();
        let start = self.at;
        let _sign = self.joins("-") || self.joins("+");
        if self.joins("0x") {
            self.run(|byte| byte.is_ascii_hexdigit());
            return Ok(self.between(start, self.at));
        }
        let digits = self.run(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            self.at = start;
            return self.broken("a number is wanted here");
        }
        if self.joins(".") {
            self.run(|byte| byte.is_ascii_digit());
        }
        let before = self.at;
        if self.joins("e") || self.joins("E") {
            let _sign = self.joins("-") || self.joins("+");
            if self.run(|byte| byte.is_ascii_digit()).is_empty() {
                self.at = before;
            }
        }
        Ok(self.between(start, self.at))
    }

    /// Reads a whole number.
    pub(super) fn integer(&mut self) -> Parsed<i64> {
        self.space();
        let start = self.at;
        let number = self.number()?;
        match integer(number) {
            Some(number) => Ok(number),
            None => self.broken_at(start, "a whole number of 64 bits is wanted here"),
        }
    }

    /// Leaves out what is between brackets, the first of which is next. Gives the text with them.
    pub(super) fn balanced(&mut self) -> Parsed<&'m str> {
        self.space();
        let start = self.at;
        let bytes = self.text.as_bytes();
        let mut open: Vec<u8> = Vec::new();
        loop {
            match bytes.get(self.at) {
                None => return self.broken_at(start, "a bracket is not closed"),
                Some(b'"') => {
                    self.string()?;
                    continue;
                }
                Some(b'-') if bytes.get(self.at + 1) == Some(&b'>') => self.at += 1,
                Some(byte @ (b'(' | b'[' | b'{' | b'<')) => {
                    if open.len() == DEPTH {
                        return self.broken(format!("it is nested deeper than {DEPTH} levels"));
                    }
                    open.push(*byte);
                }
                Some(byte @ (b')' | b']' | b'}' | b'>')) => {
                    let opening = match byte {
                        b')' => b'(',
                        b']' => b'[',
                        b'}' => b'{',
                        _ => b'<',
                    };
                    if open.pop() != Some(opening) {
                        return self.broken("a bracket is closed that is not open");
                    }
                }
                Some(_) => {}
            }
            self.at += 1;
            if open.is_empty() {
                // What is no character of ASCII is inside brackets or ends here.
                return match self.text.is_char_boundary(self.at) {
                    true => Ok(self.between(start, self.at)),
                    false => self.broken_at(start, "a bracket is wanted here"),
                };
            }
        }
    }
}

/// A whole number; unsigned ones of 64 bits have the same bits.
pub(super) fn integer(number: &str) -> Option<i64> {
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let magnitude = match digits.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => digits.parse(),
    };
    match (negative, magnitude.ok()?) {
        (false, magnitude) => Some(magnitude as i64),
        (true, magnitude) if magnitude <= 1 << 63 => Some((magnitude as i64).wrapping_neg()),
        (true, _) => None,
    }
}

/// Line and column of a place.
fn place(text: &[u8], at: usize) -> String {
    let before = text.get(..at).unwrap_or(text);
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = 1 + String::from_utf8_lossy(before.get(start..).unwrap_or_default()).chars().count();
    format!("line {line}, column {column}")
}

/// A text whose escapes are what they stand for.
fn unescaped(text: &str) -> String {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            plain.push(byte);
            continue;
        }
        let Some(escape) = rest.next() else { break };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        let next = rest.clone().next().and_then(digit);
        match (escape, digit(escape), next) {
            (_, Some(high), Some(low)) => {
                rest.next();
                plain.push((high * 16 + low) as u8);
            }
            (b'n', ..) => plain.push(b'\n'),
            (b't', ..) => plain.push(b'\t'),
            (b'r', ..) => plain.push(b'\r'),
            (other, ..) => plain.push(other),
        }
    }
    String::from_utf8_lossy(&plain).into_owned()
}
