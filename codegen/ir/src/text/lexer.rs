//! Tokens of the textual form, and the pieces that attributes are read with.

use crate::Attr;
use std::fmt;

/// What is wrong with a textual graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// 1-based line.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'a> {
    /// A word: letters, digits, `_`, not beginning with a digit.
    Word(&'a str),
    /// `%name`, without the sign.
    Value(&'a str),
    /// Digits with an optional sign.
    Int(&'a str),
    /// A number with a point or an exponent, or `-inf`.
    Float(&'a str),
    /// A quoted string, unescaped.
    Text(String),
    /// A character, `..=` as `'~'`.
    Punct(char),
    /// The end of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(s) | Token::Int(s) | Token::Float(s) => write!(f, "`{s}`"),
            Token::Value(s) => write!(f, "`%{s}`"),
            Token::Text(s) => write!(f, "{s:?}"),
            Token::Punct(RANGE) => f.write_str("`..=`"),
            Token::Punct(c) => write!(f, "`{c}`"),
            Token::End => f.write_str("the end"),
        }
    }
}

/// Stands for `..=` among the punctuation.
pub(super) const RANGE: char = '~';

/// Splits the textual form into tokens.
#[derive(Clone)]
pub struct Lexer<'a> {
    /// What is not yet read.
    rest: &'a str,
    line: usize,
}

impl<'a> Lexer<'a> {
    /// Starts at the beginning of a text.
    pub fn new(text: &'a str) -> Self {
        Lexer { rest: text, line: 1 }
    }

    /// An error at the current position.
    pub fn error(&self, message: String) -> ParseError {
        ParseError { line: self.line, message }
    }

    /// The next token, taken.
    pub(super) fn next(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank();
        let Some(first) = self.rest.chars().next() else { return Ok(Token::End) };
        let second = self.rest[first.len_utf8()..].chars().next();
        let negative = first == '-' && second.is_some_and(|c| c.is_ascii_digit());
        if first.is_ascii_digit() || negative {
            return Ok(self.number());
        }
        if let Some(rest) = self.rest.strip_prefix("-inf") {
            let token = Token::Float(&self.rest[..4]);
            self.rest = rest;
            return Ok(token);
        }
        if let Some(rest) = self.rest.strip_prefix("..=") {
            self.rest = rest;
            return Ok(Token::Punct(RANGE));
        }
        match first {
            '"' => self.text(),
            '%' => {
                self.rest = &self.rest[1..];
                match self.word() {
                    "" => Err(self.error("a name is wanted after `%`".into())),
                    name => Ok(Token::Value(name)),
                }
            }
            c if c.is_alphabetic() || c == '_' => Ok(Token::Word(self.word())),
            '{' | '}' | '[' | ']' | '(' | ')' | ',' | ':' | '=' | '*' | '^' | '…' => {
                self.rest = &self.rest[first.len_utf8()..];
                Ok(Token::Punct(first))
            }
            c => Err(self.error(format!("{c:?} means nothing here"))),
        }
    }

    /// The next token, left in place.
    pub(super) fn peek(&self) -> Result<Token<'a>, ParseError> {
        self.clone().next()
    }

    fn skip_blank(&mut self) {
        loop {
            let trimmed = self.rest.trim_start();
            self.line += self.rest[..self.rest.len() - trimmed.len()].matches('\n').count();
            self.rest = trimmed;
            if !trimmed.starts_with("//") {
                return;
            }
            self.rest = &trimmed[trimmed.find('\n').unwrap_or(trimmed.len())..];
        }
    }

    /// Takes the characters of a word, which may be none.
    fn word(&mut self) -> &'a str {
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// Takes a number; the next character is a digit, or a sign before one.
    fn number(&mut self) -> Token<'a> {
        let bytes = self.rest.as_bytes();
        let digits = |mut at: usize| {
            while bytes.get(at).is_some_and(u8::is_ascii_digit) {
                at += 1;
            }
            at
        };
        let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let mut end = digits(1);
        let mut float = false;
        if bytes.get(end) == Some(&b'.') && is_digit(end + 1) {
            (end, float) = (digits(end + 1), true);
        }
        if bytes.get(end) == Some(&b'e') {
            let sign = usize::from(bytes.get(end + 1) == Some(&b'-'));
            if is_digit(end + 1 + sign) {
                (end, float) = (digits(end + 1 + sign), true);
            }
        }
        let (number, rest) = self.rest.split_at(end);
        self.rest = rest;
        if float {
            Token::Float(number)
        } else {
            Token::Int(number)
        }
    }

    /// Takes a quoted string; the next character is the quote.
    fn text(&mut self) -> Result<Token<'a>, ParseError> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(Token::Text(text));
                }
                '\n' => break,
                '\\' => match chars.next() {
                    Some((_, c @ ('"' | '\\'))) => text.push(c),
                    Some((_, 'u')) => {
                        let code: String = chars.by_ref().map(|(_, c)| c).take_while(|&c| c != '}').collect();
                        let code = code.strip_prefix('{').and_then(|hex| u32::from_str_radix(hex, 16).ok());
                        match code.and_then(char::from_u32) {
                            Some(c) => text.push(c),
                            None => return Err(self.error("an escape is no character".into())),
                        }
                    }
                    _ => return Err(self.error("an escape is none of \\\", \\\\, \\u{…}".into())),
                },
                c => text.push(c),
            }
        }
        Err(self.error("a string has no end".into()))
    }

    /// Takes a certain character (or [`RANGE`]).
    pub(super) fn expect(&mut self, wanted: char) -> Result<(), ParseError> {
        match self.next()? {
            Token::Punct(c) if c == wanted => Ok(()),
            other => Err(self.error(format!("{} wanted, {other} found", Token::Punct(wanted)))),
        }
    }

    /// Takes a certain word.
    pub(super) fn expect_word(&mut self, wanted: &str) -> Result<(), ParseError> {
        match self.next()? {
            Token::Word(word) if word == wanted => Ok(()),
            other => Err(self.error(format!("`{wanted}` wanted, {other} found"))),
        }
    }

    /// Takes a character if it comes next.
    pub(super) fn accept(&mut self, wanted: char) -> Result<bool, ParseError> {
        let found = self.peek()? == Token::Punct(wanted);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Takes a word if it comes next.
    pub(super) fn accept_word(&mut self, wanted: &str) -> Result<bool, ParseError> {
        let found = self.peek()? == Token::Word(wanted);
        if found {
            self.next()?;
        }
        Ok(found)
    }

    /// Takes any word.
    pub(crate) fn any_word(&mut self) -> Result<&'a str, ParseError> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => Err(self.error(format!("a word wanted, {other} found"))),
        }
    }

    /// Takes the name of a value.
    pub(super) fn value(&mut self) -> Result<&'a str, ParseError> {
        match self.next()? {
            Token::Value(name) => Ok(name),
            other => Err(self.error(format!("a value wanted, {other} found"))),
        }
    }

    /// Takes a quoted string.
    pub(super) fn quoted(&mut self) -> Result<String, ParseError> {
        match self.next()? {
            Token::Text(text) => Ok(text),
            other => Err(self.error(format!("a quoted string wanted, {other} found"))),
        }
    }

    /// Takes an integer of any type.
    pub(super) fn integer<T: std::str::FromStr>(&mut self) -> Result<T, ParseError> {
        match self.next()? {
            Token::Int(digits) => {
                let range = || self.error(format!("{digits} is out of range"));
                digits.parse().map_err(|_| range())
            }
            other => Err(self.error(format!("an integer wanted, {other} found"))),
        }
    }

    /// Takes a float, which an integer is too.
    pub(super) fn float(&mut self) -> Result<f32, ParseError> {
        let token = self.next()?;
        let value = match &token {
            Token::Int(digits) | Token::Float(digits) => digits.parse().ok(),
            Token::Word("inf") => Some(f32::INFINITY),
            Token::Word("nan") => Some(f32::from_bits(CANONICAL_NAN)),
            Token::Word("bits") => u32::from_str_radix(&self.quoted()?, 16).ok().map(f32::from_bits),
            _ => None,
        };
        value.ok_or_else(|| self.error(format!("a number wanted, {token} found")))
    }

    /// Takes `[item, item]`, which may be empty.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        self.expect('[')?;
        let mut items = Vec::new();
        if self.accept(']')? {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.accept(']')? {
                return Ok(items);
            }
            self.expect(',')?;
        }
    }
}

/// The NaN that is printed as `nan`.
pub(super) const CANONICAL_NAN: u32 = 0x7fc0_0000;

/// One attribute: its name, whether it is left out, and what appends its textual form.
pub(crate) type Field<'a> = (&'a str, bool, &'a dyn Fn(&mut String));

/// Appends ` {name = value, …}`, or nothing where there are no fields.
pub(crate) fn print_fields(fields: &[Field<'_>], out: &mut String) {
    let mut any = false;
    for (name, _, print) in fields.iter().filter(|(_, implied, _)| !implied) {
        out.push_str(if any { ", " } else { " {" });
        out.push_str(name);
        out.push_str(" = ");
        print(out);
        any = true;
    }
    if any {
        out.push('}');
    }
}

/// Reads what [`print_fields`] prints.
pub(crate) struct FieldReader<'l, 'a> {
    lexer: &'l mut Lexer<'a>,
    any: bool,
}

impl<'l, 'a> FieldReader<'l, 'a> {
    pub(crate) fn new(lexer: &'l mut Lexer<'a>) -> Self {
        FieldReader { lexer, any: false }
    }

    /// Takes a field, which may be missing if something is implied then.
    pub(crate) fn read<T: Attr>(&mut self, name: &str) -> Result<T, ParseError> {
        let implied = T::implied();
        match implied {
            Some(value) if !self.follows(name)? => Ok(value),
            _ => {
                self.lexer.expect(self.before())?;
                self.any = true;
                self.lexer.expect_word(name)?;
                self.lexer.expect('=')?;
                T::parse(self.lexer)
            }
        }
    }

    /// What stands before the next field.
    fn before(&self) -> char {
        match self.any {
            true => ',',
            false => '{',
        }
    }

    /// Whether the next field is the one of that name.
    fn follows(&self, name: &str) -> Result<bool, ParseError> {
        let mut ahead = self.lexer.clone();
        Ok(ahead.accept(self.before())? && ahead.accept_word(name)?)
    }

    /// Takes the closing brace.
    pub(crate) fn end(self) -> Result<(), ParseError> {
        if self.any {
            self.lexer.expect('}')?;
        }
        Ok(())
    }
}
