//! The code of an archive: files, their lines, and where functions and classes stand in them.

use crate::{Lowered, Refusal};
use std::borrow::Cow;
use std::cell::OnceCell;

/// A file with code.
pub(super) struct File<'a> {
    /// `code/__torch__/net.py`.
    pub(super) name: &'a str,
    text: Cow<'a, str>,
    lines: OnceCell<Vec<Line>>,
}

/// A statement, which may go over several lines of text within brackets.
#[derive(Clone, Copy)]
pub(super) struct Line {
    begin: u32,
    end: u32,
    /// Number of its first line in the file, from 1 on.
    pub(super) number: u32,
    pub(super) indent: u32,
}

/// A place in the code: a file, and a line of it.
#[derive(Clone, Copy)]
pub(super) struct Place<'p> {
    pub(super) file: &'p File<'p>,
    pub(super) line: usize,
}

impl<'a> File<'a> {
    pub(super) fn new(name: &'a str, text: Cow<'a, [u8]>) -> Option<Self> {
        let text = match text {
            Cow::Borrowed(bytes) => Cow::Borrowed(std::str::from_utf8(bytes).ok()?),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8(bytes).ok()?),
        };
        u32::try_from(text.len()).ok()?;
        Some(File { name, text, lines: OnceCell::new() })
    }

    /// Bytes that the list of its lines takes, at most.
    pub(super) fn line_bytes(&self) -> usize {
        (1 + self.text.bytes().filter(|&byte| byte == b'\n').count()) * size_of::<Line>()
    }

    /// Its name in programs: `__torch__.net`.
    fn is_module(&self, module: &str) -> bool {
        let name = self.name.trim_start_matches("code/").trim_end_matches(".py");
        name.len() == module.len()
            && name.bytes().zip(module.bytes()).all(|(a, b)| a == b || (a == b'/' && b == b'.'))
    }

    pub(super) fn lines(&self) -> &[Line] {
        self.lines.get_or_init(|| lines(&self.text))
    }

    pub(super) fn text(&self, line: usize) -> &str {
        let line = self.lines().get(line);
        line.and_then(|line| self.text.get(line.begin as usize..line.end as usize)).unwrap_or_default()
    }

    /// The line behind a block, whose head stands at a line.
    pub(super) fn behind(&self, head: usize) -> usize {
        let lines = self.lines();
        let Some(indent) = lines.get(head).map(|line| line.indent) else { return lines.len() };
        let inside = lines[head + 1..].iter().take_while(|line| line.indent > indent).count();
        head + 1 + inside
    }

    /// The line with a class or function of that name, among those of an indentation from `first` on.
    fn find(&self, keyword: &str, name: &str, first: usize, end: usize) -> Option<usize> {
        let indent = self.lines().get(first)?.indent;
        (first..end.min(self.lines().len())).find(|&line| {
            let is_level = self.lines()[line].indent == indent;
            is_level && defined(self.text(line), keyword) == Some(name)
        })
    }
}

/// The name that a line defines behind a keyword.
pub(super) fn defined<'t>(text: &'t str, keyword: &str) -> Option<&'t str> {
    let rest = text.strip_prefix(keyword)?.strip_prefix(' ')?;
    Some(rest.split(['(', ':', ' ']).next().unwrap_or(rest))
}

/// Splits a text into statements.
fn lines(text: &str) -> Vec<Line> {
    let mut all = Vec::with_capacity(1 + text.bytes().filter(|&byte| byte == b'\n').count());
    let (mut at, mut number) = (0, 0);
    let mut open: Option<(Line, i32)> = None;
    for physical in text.split_inclusive('\n') {
        let begin = at;
        at += physical.len();
        number += 1;
        let trimmed = physical.trim();
        let (line, depth) = match open.take() {
            Some(open) => open,
            None if trimmed.is_empty() || trimmed.starts_with('#') => continue,
            None => {
                let indent = physical.len() - physical.trim_start().len();
                let first = begin + indent;
                (Line { begin: first as u32, end: 0, number, indent: indent as u32 }, 0)
            }
        };
        let depth = depth + balance(physical);
        let line = Line { end: at as u32, ..line };
        match depth > 0 {
            true => open = Some((line, depth)),
            false => all.push(line),
        }
    }
    all.extend(open.map(|(line, _)| line));
    all
}

/// How many brackets a line opens and does not close.
fn balance(text: &str) -> i32 {
    let (mut depth, mut quote) = (0, None);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (Some(_), b'\\') => {
                bytes.next();
            }
            (Some(own), byte) if byte == own => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(' | b'[' | b'{') => depth += 1,
            (None, b')' | b']' | b'}') => depth -= 1,
            (None, b'#') => break,
            (None, _) => {}
        }
    }
    depth
}

/// All files with code.
pub(super) struct Code<'a> {
    pub(super) files: Vec<File<'a>>,
}

impl<'a> Code<'a> {
    fn file<'p>(&'p self, module: &str) -> Option<&'p File<'p>>
    where
        'a: 'p,
    {
        let file: Option<&'p File<'a>> = self.files.iter().find(|file| file.is_module(module));
        file.map(|file| {
            let file: &'p File<'p> = file;
            file
        })
    }

    /// A class, by its file and name.
    pub(super) fn class<'p>(&'p self, module: &str, name: &str) -> Option<Place<'p>> {
        let file = self.file(module)?;
        let line = file.find("class", name, 0, usize::MAX)?;
        Some(Place { file, line })
    }

    /// A function outside of classes.
    pub(super) fn function<'p>(&'p self, module: &str, name: &str) -> Option<Place<'p>> {
        let file = self.file(module)?;
        let line = file.find("def", name, 0, usize::MAX)?;
        Some(Place { file, line })
    }
}

impl<'p> Place<'p> {
    pub(super) fn text(self) -> &'p str {
        self.file.text(self.line)
    }

    /// A method of a class.
    pub(super) fn method(self, name: &str) -> Option<Place<'p>> {
        let line = self.file.find("def", name, self.line + 1, self.file.behind(self.line))?;
        Some(Place { line, ..self })
    }

    /// What a class says of an attribute: `Final[bool] = False`.
    pub(super) fn declared(self, name: &str) -> Option<&'p str> {
        let lines = self.line + 1..self.file.behind(self.line);
        lines.map(|line| self.file.text(line)).find_map(|text| {
            let (own, kind) = text.split_once(':')?;
            (own.trim() == name && !text.starts_with("def ")).then(|| kind.trim())
        })
    }

    /// Names of the attributes of a class, in order.
    pub(super) fn fields(self) -> impl Iterator<Item = &'p str> {
        let lines = self.line + 1..self.file.behind(self.line);
        lines.filter_map(move |line| {
            let (name, _) = self.file.text(line).split_once(':')?;
            let name = name.trim();
            name.chars().all(|c| c.is_alphanumeric() || c == '_').then_some(name)
        })
    }

    /// `code/__torch__/net.py:12`.
    pub(super) fn shown(self) -> String {
        let number = self.file.lines().get(self.line).map_or(0, |line| line.number);
        format!("{}:{number}", super::short(self.file.name))
    }
}

/// The module and name of `__torch__.net.Net`.
pub(super) fn split(qualified: &str) -> Lowered<(&str, &str)> {
    let split = qualified.rsplit_once(['.', '\n']);
    split.ok_or_else(|| Refusal::malformed(format!("{:?} is no class", super::short(qualified))))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "class M(Module):\n  __parameters__ = []\n  w : Tensor\n  n : Final[int] = 3\n  def forward(self: __torch__.M,\n    x: \
                        Tensor) -> Tensor:\n    if a:\n      b = \"(\\\"\"\n\n    else:\n      pass\n    return x\n  def f(s):\n    pass\ndef \
                        g(x):\n  pass\n";

    #[test]
    fn functions_and_blocks_are_found() {
        let file = File::new("code/__torch__/a/b.py", Cow::Borrowed(TEXT.as_bytes())).unwrap();
        let code = Code { files: vec![file] };
        let class = code.class("__torch__.a.b", "M").unwrap();
        let forward = class.method("forward").unwrap();
        assert_eq!(
            (forward.shown().as_str(), forward.file.behind(forward.line)),
            ("code/__torch__/a/b.py:5", 10)
        );
        assert!(forward.text().ends_with("-> Tensor:\n"));
        assert_eq!(class.declared("n"), Some("Final[int] = 3"));
        assert!(class.method("g").is_none() && class.method("f").is_some());
        assert!(code.function("__torch__.a.b", "g").is_some() && code.function("__torch__.a", "g").is_none());
    }
}
