//! The textual form of a graph: printed, and parsed back to an equal graph.

/// What is wrong with a textual graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// 1-based line.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

/// Splits the textual form into tokens.
pub struct Lexer<'a> {
    text: &'a str,
}

impl Lexer<'_> {
    /// An error at the current position.
    pub fn error(&self, message: String) -> ParseError {
        ParseError { line: self.text.len().min(1), message }
    }
}

pub(super) fn print_fields(fields: &[(&str, &dyn Fn(&mut String))], out: &mut String) {
    for (name, print) in fields {
        out.push_str(name);
        print(out);
    }
}

pub(super) struct FieldReader<'l, 'a>(&'l mut Lexer<'a>);

impl<'l, 'a> FieldReader<'l, 'a> {
    pub(super) fn new(lexer: &'l mut Lexer<'a>) -> Self {
        FieldReader(lexer)
    }
    pub(super) fn field(&mut self, _name: &str) -> Result<&mut Lexer<'a>, ParseError> {
        Ok(self.0)
    }
    pub(super) fn end(self) -> Result<(), ParseError> {
        Ok(())
    }
}
