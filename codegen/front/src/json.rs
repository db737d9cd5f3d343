//! JSON, read in one pass: whoever reads asks for what should come next. Nothing is kept that nobody asks for, and lists are charged to an allowance in proportion to the text.

use std::borrow::Cow;

/// Why a text cannot be read, and where.
pub(crate) struct Broken {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

pub(crate) type Parsed<T> = Result<T, Broken>;

/// Bytes of what is read for each byte of text, and for every text.
const PER_BYTE: usize = 12;
const BASE: usize = 16 << 10;

/// A text, of which the first part has been read.
pub(crate) struct Json<'a> {
    text: &'a [u8],
    at: usize,
    left: usize,
    depth: usize,
}

/// Deepest nesting of what may hold itself.
const DEEPEST: usize = 32;

impl<'a> Json<'a> {
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Json { text, at: 0, left: text.len().saturating_mul(PER_BYTE).saturating_add(BASE), depth: 0 }
    }

    pub(crate) fn broken<T>(&self, what: &'static str) -> Parsed<T> {
        Err(Broken { at: self.at, what })
    }

    pub(crate) fn charge(&mut self, bytes: usize) -> Parsed<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => self.left = left,
            None => return self.broken("it declares more than a file of its size can contain"),
        }
        Ok(())
    }

    /// The next byte that is no space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    /// Whether this is next; then it is read.
    fn takes(&mut self, token: &[u8]) -> bool {
        self.peek();
        let is_next = self.text.get(self.at..).is_some_and(|rest| rest.starts_with(token));
        self.at += if is_next { token.len() } else { 0 };
        is_next
    }

    /// Whether nothing is left.
    pub(crate) fn ends(&mut self) -> bool {
        self.peek().is_none()
    }

    /// Reads `null`, if it is next.
    pub(crate) fn is_null(&mut self) -> bool {
        self.takes(b"null")
    }

    /// Reads an object: for each key, the function reads the value.
    pub(crate) fn object(&mut self, mut each: impl FnMut(&str, &mut Self) -> Parsed<()>) -> Parsed<()> {
        if !self.takes(b"{") {
            return self.broken("an object is wanted");
        }
        if self.takes(b"}") {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            if !self.takes(b":") {
                return self.broken("a colon is wanted");
            }
            each(&key, self)?;
            if self.takes(b"}") {
                return Ok(());
            }
            if !self.takes(b",") {
                return self.broken("a comma or the end of an object is wanted");
            }
        }
    }

    /// Reads an object that has one key, which says what the value is. Old files write all keys, of which the others are null.
    pub(crate) fn union<T>(&mut self, mut of: impl FnMut(&str, &mut Self) -> Parsed<T>) -> Parsed<T> {
        let mut found = None;
        self.object(|key, json| {
            if found.is_some() || json.is_null() {
                return if found.is_some() { json.skip() } else { Ok(()) };
            }
            found = Some(of(key, json)?);
            Ok(())
        })?;
        match found {
            Some(found) => Ok(found),
            None => self.broken("an object with a key is wanted"),
        }
    }

    /// Reads a list: the function reads each element.
    pub(crate) fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut list = Vec::new();
        self.elements(|json| {
            json.charge(2 * size_of::<T>())?;
            list.push(each(json)?);
            Ok(())
        })?;
        Ok(list)
    }

    fn elements(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<()>) -> Parsed<()> {
        if !self.takes(b"[") {
            return self.broken("a list is wanted");
        }
        if self.takes(b"]") {
            return Ok(());
        }
        loop {
            each(self)?;
            if self.takes(b"]") {
                return Ok(());
            }
            if !self.takes(b",") {
                return self.broken("a comma or the end of a list is wanted");
            }
        }
    }

    /// Reads an object whose keys are names: the function reads each value.
    pub(crate) fn map<T>(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Parsed<T>,
    ) -> Parsed<std::collections::HashMap<String, T>> {
        let mut map = std::collections::HashMap::new();
        self.object(|key, json| {
            json.charge(key.len() + 2 * size_of::<(String, T)>())?;
            map.insert(key.to_owned(), each(json)?);
            Ok(())
        })?;
        Ok(map)
    }

    /// Reads a text.
    pub(crate) fn string(&mut self) -> Parsed<Cow<'a, str>> {
        if !self.takes(b"\"") {
            return self.broken("a text is wanted");
        }
        let start = self.at;
        let mut is_plain = true;
        loop {
            match self.text.get(self.at) {
                None => return self.broken("a text has no end"),
                Some(b'"') => break,
                Some(b'\\') => {
                    is_plain = false;
                    self.at += 2;
                }
                Some(_) => self.at += 1,
            }
        }
        let inside = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        let Ok(inside) = std::str::from_utf8(inside) else { return self.broken("a text is not UTF-8") };
        match is_plain {
            true => Ok(Cow::Borrowed(inside)),
            false => self.unescaped(inside).map(Cow::Owned),
        }
    }

    fn unescaped(&self, text: &str) -> Parsed<String> {
        let mut plain = String::with_capacity(text.len());
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            if c != '\\' {
                plain.push(c);
                continue;
            }
            plain.push(match rest.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some('r') => '\r',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('u') => {
                    let digits: String = rest.by_ref().take(4).collect();
                    let number = u32::from_str_radix(&digits, 16);
                    // Halves of pairs stand for characters that no name needs.
                    number.ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
                }
                Some(c @ ('"' | '\\' | '/')) => c,
                _ => return self.broken("a text has an escape that JSON does not know"),
            });
        }
        Ok(plain)
    }

    /// Reads a text to keep.
    pub(crate) fn text(&mut self) -> Parsed<String> {
        let text = self.string()?.into_owned();
        self.charge(text.len())?;
        Ok(text)
    }

    /// Reads a text, or null.
    pub(crate) fn optional_text(&mut self) -> Parsed<Option<String>> {
        match self.is_null() {
            true => Ok(None),
            false => self.text().map(Some),
        }
    }

    /// The characters of a number or word.
    pub(crate) fn word(&mut self) -> &'a str {
        self.peek();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let is_inside = |c: &&u8| c.is_ascii_alphanumeric() || matches!(c, b'+' | b'-' | b'.');
        let length = rest.iter().take_while(is_inside).count();
        self.at += length;
        std::str::from_utf8(&rest[..length]).unwrap_or_default()
    }

    /// Reads a whole number.
    pub(crate) fn integer(&mut self) -> Parsed<i64> {
        match self.word().parse() {
            Ok(number) => Ok(number),
            Err(_) => self.broken("a whole number is wanted"),
        }
    }

    /// Reads a number, which is a text or a word where JSON has none for it: `Infinity`.
    pub(crate) fn float(&mut self) -> Parsed<f64> {
        let word = match self.peek() {
            Some(b'"') => self.string()?,
            _ => Cow::Borrowed(self.word()),
        };
        match word.parse() {
            Ok(number) => Ok(number),
            Err(_) => self.broken("a number is wanted"),
        }
    }

    /// Reads what may hold itself, as deep as the stack bears.
    pub(crate) fn deeper<T>(&mut self, of: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEEPEST {
            return self.broken("it is nested too deep");
        }
        self.depth += 1;
        let value = of(self);
        self.depth -= 1;
        value
    }

    /// Reads a truth value.
    pub(crate) fn truth(&mut self) -> Parsed<bool> {
        match self.word() {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => self.broken("true or false is wanted"),
        }
    }

    /// Leaves out a value, however deep.
    pub(crate) fn skip(&mut self) -> Parsed<()> {
        let mut depth = 0usize;
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.string()?;
                }
                Some(b'{' | b'[') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b'}' | b']') if depth > 0 => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b',' | b':') if depth > 0 => self.at += 1,
                _ if !self.word().is_empty() => {}
                _ => return self.broken("a value is wanted"),
            }
            if depth == 0 {
                return Ok(());
            }
        }
    }
}

/// A number as it is written, or a text for what JSON has no number for.
pub(crate) fn number(number: f64) -> String {
    match number.is_finite() {
        true => format!("{number:?}"),
        false => format!("\"{number}\""),
    }
}

/// A text as it is written.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\0'..='\x1f' => quoted += &format!("\\u{:04x}", u32::from(c)),
            _ => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// A list of what is written already.
pub(crate) fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(","))
}

/// An object of names and what is written already.
pub(crate) fn object(entries: impl Iterator<Item = (String, String)>) -> String {
    let entry = |(name, value): (String, String)| format!("{}:{value}", quoted(&name));
    format!("{{{}}}", entries.map(entry).collect::<Vec<_>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(text: &str, of: impl FnOnce(&mut Json<'_>) -> Parsed<T>) -> Option<T> {
        let mut json = Json::new(text.as_bytes());
        let value = of(&mut json).ok()?;
        json.ends().then_some(value)
    }

    #[test]
    fn writes_what_it_reads() {
        let name = "a\"\\\n";
        let text = object([(name.to_owned(), list([number(1.0), number(-2.5e-7)].into_iter()))].into_iter());
        assert_eq!(text, "{\"a\\\"\\\\\\u000a\":[1.0,-2.5e-7]}");
        let read = read(&text, |json| json.map(|json| json.list(Json::float))).unwrap();
        assert_eq!(read[name], [1.0, -2.5e-7]);
    }

    #[test]
    fn reads_what_is_asked_for() {
        assert_eq!(read(" [1, -2 ,3]", |json| json.list(Json::integer)), Some(vec![1, -2, 3]));
        assert_eq!(read("\"a\\n\\u00e9\\\"\"", |json| json.text()).as_deref(), Some("a\né\""));
        let floats = read("[1e-5, 2, \"-Infinity\", NaN]", |json| json.list(Json::float)).unwrap();
        assert_eq!(
            (floats[0], floats[1], floats[2], floats[3].is_nan()),
            (1e-5, 2.0, f64::NEG_INFINITY, true)
        );
        let union = read("{\"as_int\": null, \"as_x\": 4, \"z\": []}", |json| {
            json.union(|key, json| Ok((key.to_owned(), json.integer()?)))
        });
        assert_eq!(union, Some(("as_x".into(), 4)));
        assert_eq!(read("{\"a\": [{}, [[\"]\"]], true], \"b\": null}", |json| json.skip()), Some(()));
    }

    #[test]
    fn refuses_what_is_no_json() {
        for text in
            ["", "[1", "[1 2]", "[1,]", "{\"a\" 1}", "{1: 2}", "\"abc", "\"\\", "]", "[}", "nul", "\"\\q\""]
        {
            let is_list = read(text, |json| json.list(Json::integer)).is_some();
            assert!(!is_list && read(text, |json| json.text()).is_none(), "{text}");
        }
        assert!(read(&"[".repeat(1 << 20), |json| json.skip()).is_none());
        assert!(read(&format!("[{}1]", "1,".repeat(1 << 16)), |json| json.list(|json| json.text())).is_none());
    }

    #[test]
    fn lists_are_in_proportion_to_the_text() {
        let text = format!("[{}{{}}]", "{},".repeat(1 << 16));
        let wide =
            |json: &mut Json<'_>| json.list(|json| json.object(|_, json| json.skip()).map(|()| [0u64; 8]));
        assert!(read(&text, wide).is_none());
    }
}
