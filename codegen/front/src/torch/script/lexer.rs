//! Words of the code.

use crate::{Lowered, Refusal};

/// A word.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    Int(i64),
    Float(f64),
    Text(String),
    /// Brackets, operators and other signs.
    Sign(&'t str),
}

/// Signs of several characters before those that they begin with.
const SIGNS: &[&str] = &[
    "**", "//", "->", "==", "!=", "<=", ">=", "<<", ">>", "(", ")", "[", "]", "{", "}", ",", ":", ".", "=",
    "+", "-", "*", "/", "%", "<", ">", "&", "|", "^", "~", "@",
];

/// The words of a line, which may go over several lines within brackets.
pub(super) fn tokens(text: &str) -> Lowered<Vec<Token<'_>>> {
    let mut all = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, tail) = match first {
            '#' => {
                rest = rest.split_once('\n').map_or("", |(_, tail)| tail).trim_start();
                continue;
            }
            '"' | '\'' => {
                let (text, tail) = quoted(rest, first)?;
                (Token::Text(text), tail)
            }
            'a'..='z' | 'A'..='Z' | '_' => {
                let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
                (Token::Name(&rest[..end]), &rest[end..])
            }
            '0'..='9' => number(rest)?,
            '.' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest)?,
            _ => match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
                Some(sign) => (Token::Sign(sign), &rest[sign.len()..]),
                None => return Err(malformed!("{first:?} has no meaning")),
            },
        };
        all.push(token);
        rest = tail.trim_start();
    }
    Ok(all)
}

fn number(rest: &str) -> Lowered<(Token<'_>, &str)> {
    let bytes = rest.as_bytes();
    let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    let mut end = 0;
    while digit(end) {
        end += 1;
    }
    let mut is_float = false;
    if bytes.get(end) == Some(&b'.') {
        is_float = true;
        end += 1;
        while digit(end) {
            end += 1;
        }
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if digit(end + 1 + sign) {
            is_float = true;
            end += 1 + sign;
            while digit(end) {
                end += 1;
            }
        }
    }
    let (text, tail) = rest.split_at(end);
    if tail.starts_with('j') {
        return Err(Refusal::unsupported(
            "complex numbers cannot be compiled",
            "use real and imaginary parts",
        ));
    }
    let wrong = || malformed!("{text:?} is no number");
    let token = match is_float {
        true => Token::Float(text.parse().map_err(|_| wrong())?),
        // The most negative one is written with a sign in front of what has no sign.
        false => Token::Int(text.parse::<u64>().map_err(|_| wrong())? as i64),
    };
    Ok((token, tail))
}

/// A text in quotes, and what stands behind it.
fn quoted(rest: &str, quote: char) -> Lowered<(String, &str)> {
    let mut text = String::new();
    let mut characters = rest.char_indices();
    characters.next();
    let wrong = || malformed!("a text does not end");
    loop {
        let (at, c) = characters.next().ok_or_else(wrong)?;
        if c == quote {
            return Ok((text, &rest[at + 1..]));
        }
        if c != '\\' {
            text.push(c);
            continue;
        }
        let (at, c) = characters.next().ok_or_else(wrong)?;
        text.push(match c {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' | 'b' | 'f' | 'v' => ' ',
            '0'..='7' => {
                let digits: String = rest[at..].chars().take(3).take_while(|c| c.is_digit(8)).collect();
                for _ in 1..digits.len() {
                    characters.next();
                }
                char::from(u8::from_str_radix(&digits, 8).unwrap_or(b'?'))
            }
            other => other,
        });
    }
}
