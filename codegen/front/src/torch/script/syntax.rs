//! Statements and expressions of the code: the part of Python's grammar that TorchScript writes.
//!
//! A line is read when it is executed, and forgotten. So a file's code takes no more memory than its text.

use super::lexer::{tokens, Token};
use crate::{Lowered, Refusal};

/// An expression.
#[derive(Debug, PartialEq)]
pub(super) enum Expr<'t> {
    Name(&'t str),
    Int(i64),
    Float(f64),
    Text(String),
    Attribute(Box<Expr<'t>>, &'t str),
    Call(Box<Expr<'t>>, Vec<Expr<'t>>, Vec<(&'t str, Expr<'t>)>),
    Index(Box<Expr<'t>>, Box<Expr<'t>>),
    List(Vec<Expr<'t>>),
    Tuple(Vec<Expr<'t>>),
    Dict(Vec<(Expr<'t>, Expr<'t>)>),
    /// An operator of ATen that is written as a sign: its name, and operands.
    Operator(&'static str, Vec<Expr<'t>>),
    /// The one or the other, by a condition.
    Choice(Box<[Expr<'t>; 3]>),
}

/// A statement on one line, or the head of a block.
#[derive(Debug)]
pub(super) enum Statement<'t> {
    Pass,
    Assign(Vec<Expr<'t>>, Expr<'t>),
    Expression(Expr<'t>),
    Return(Option<Expr<'t>>),
    Raise,
    Assert(Expr<'t>),
    If(Expr<'t>),
    Elif(Expr<'t>),
    Else,
    While(Expr<'t>),
    For(Vec<Expr<'t>>, Expr<'t>),
    With,
}

/// A parameter of a function, and what it is where it is not given.
pub(super) struct Parameter<'t> {
    pub(super) name: &'t str,
    /// Its type, as it is written.
    pub(super) kind: String,
    pub(super) default: Option<Expr<'t>>,
}

/// Deepest nesting of an expression.
const DEEPEST: usize = 64;

/// Longest statement, in bytes.
const LONGEST: usize = 1 << 14;

const TOO_DEEP: &str = "use more, shorter statements";

/// Reads a line.
pub(super) fn statement(text: &str) -> Lowered<Statement<'_>> {
    let mut parser = Parser::new(text)?;
    let statement = parser.statement()?;
    parser.end()?;
    Ok(statement)
}

/// The parameters of a function, whose head this is.
pub(super) fn parameters(text: &str) -> Lowered<Vec<Parameter<'_>>> {
    let mut parser = Parser::new(text)?;
    parser.expect_name("def")?;
    parser.name()?;
    parser.expect("(")?;
    let mut all = Vec::new();
    while !parser.accept(")") {
        let name = parser.name()?;
        let kind = match parser.accept(":") {
            true => shown(&parser.expression(0)?),
            false => "Tensor".into(),
        };
        let default = if parser.accept("=") { Some(parser.expression(0)?) } else { None };
        all.push(Parameter { name, kind, default });
        if !parser.accept(",") {
            parser.expect(")")?;
            break;
        }
    }
    Ok(all)
}

/// A type as it is written.
fn shown(kind: &Expr<'_>) -> String {
    let list = |all: &[Expr<'_>]| all.iter().map(shown).collect::<Vec<_>>().join(", ");
    match kind {
        Expr::Name(name) => (*name).to_owned(),
        Expr::Attribute(of, name) => format!("{}.{name}", shown(of)),
        Expr::Index(of, by) => format!("{}[{}]", shown(of), shown(by)),
        Expr::Tuple(all) => list(all),
        _ => "?".into(),
    }
}

struct Parser<'t> {
    tokens: Vec<Token<'t>>,
    at: usize,
}

/// Signs between two operands: how strongly they bind, and the operators of ATen.
const BINARY: &[(&str, u8, &str)] = &[
    ("or", 1, "__or__"),
    ("and", 2, "__and__"),
    ("==", 4, "eq"),
    ("!=", 4, "ne"),
    ("<=", 4, "le"),
    (">=", 4, "ge"),
    ("<", 4, "lt"),
    (">", 4, "gt"),
    ("|", 5, "__or__"),
    ("^", 6, "__xor__"),
    ("&", 7, "__and__"),
    ("<<", 8, "__lshift__"),
    (">>", 8, "__rshift__"),
    ("+", 9, "add"),
    ("-", 9, "sub"),
    ("*", 10, "mul"),
    ("//", 10, "floordiv"),
    ("/", 10, "div"),
    ("%", 10, "remainder"),
    ("@", 10, "matmul"),
    ("**", 12, "pow"),
];

impl<'t> Parser<'t> {
    fn new(text: &'t str) -> Lowered<Self> {
        if text.len() > LONGEST {
            let what = format!("a statement has {} characters; at most {LONGEST} are read", text.len());
            return Err(Refusal::unsupported(what, TOO_DEEP));
        }
        Ok(Parser { tokens: tokens(text)?, at: 0 })
    }

    fn peek(&self) -> Option<&Token<'t>> {
        self.tokens.get(self.at)
    }

    fn accept(&mut self, sign: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Sign(own)) if *own == sign);
        self.at += usize::from(is_it);
        is_it
    }

    fn accept_name(&mut self, name: &str) -> bool {
        let is_it = matches!(self.peek(), Some(Token::Name(own)) if *own == name);
        self.at += usize::from(is_it);
        is_it
    }

    fn wrong<T>(&self, wanted: &str) -> Lowered<T> {
        let found = match self.peek() {
            None => "the end of the line".to_owned(),
            Some(Token::Name(text) | Token::Sign(text)) => format!("{:?}", super::short(text)),
            Some(_) => "a constant".into(),
        };
        Err(malformed!("{wanted} is missing before {found}"))
    }

    fn expect(&mut self, sign: &str) -> Lowered {
        if self.accept(sign) {
            Ok(())
        } else {
            self.wrong(&format!("{sign:?}"))
        }
    }

    fn expect_name(&mut self, name: &str) -> Lowered {
        if self.accept_name(name) {
            Ok(())
        } else {
            self.wrong(&format!("{name:?}"))
        }
    }

    fn name(&mut self) -> Lowered<&'t str> {
        match self.peek() {
            Some(&Token::Name(name)) => {
                self.at += 1;
                Ok(name)
            }
            _ => self.wrong("a name"),
        }
    }

    fn end(&self) -> Lowered {
        if self.peek().is_none() {
            Ok(())
        } else {
            self.wrong("the end of the line")
        }
    }

    fn statement(&mut self) -> Lowered<Statement<'t>> {
        let head = match self.peek() {
            Some(&Token::Name(name)) => name,
            _ => "",
        };
        let has_head = matches!(
            head,
            "pass" | "return" | "raise" | "assert" | "if" | "elif" | "else" | "while" | "for" | "with"
        );
        if !has_head {
            return self.assignment();
        }
        self.at += 1;
        let block = |parser: &mut Self, statement| parser.expect(":").map(|()| statement);
        match head {
            "pass" => Ok(Statement::Pass),
            "return" if self.peek().is_none() => Ok(Statement::Return(None)),
            "return" => Ok(Statement::Return(Some(self.list()?))),
            "raise" | "with" => {
                self.at = self.tokens.len();
                Ok(if head == "raise" { Statement::Raise } else { Statement::With })
            }
            "assert" => {
                let condition = self.expression(0)?;
                if self.accept(",") {
                    self.expression(0)?;
                }
                Ok(Statement::Assert(condition))
            }
            "else" => block(self, Statement::Else),
            "for" => {
                let target = self.targets()?;
                self.expect_name("in")?;
                let all = self.expression(0)?;
                block(self, Statement::For(target, all))
            }
            _ => {
                let condition = self.expression(0)?;
                let statement = match head {
                    "if" => Statement::If(condition),
                    "elif" => Statement::Elif(condition),
                    _ => Statement::While(condition),
                };
                block(self, statement)
            }
        }
    }

    fn targets(&mut self) -> Lowered<Vec<Expr<'t>>> {
        let mut all = vec![self.postfix(0)?];
        while self.accept(",") {
            if matches!(self.peek(), None | Some(Token::Sign("=" | ":"))) {
                break;
            }
            all.push(self.postfix(0)?);
        }
        Ok(all)
    }

    fn assignment(&mut self) -> Lowered<Statement<'t>> {
        let first = self.list()?;
        if self.accept(":") {
            self.expression(0)?;
        }
        if !self.accept("=") {
            return Ok(Statement::Expression(first));
        }
        let value = self.list()?;
        let targets = match first {
            Expr::Tuple(mut targets) => {
                // One name with a comma behind it is a list of one.
                if targets.len() == 1 {
                    targets.push(Expr::Name("_"));
                }
                targets
            }
            target => vec![target],
        };
        Ok(Statement::Assign(targets, value))
    }

    /// Expressions with commas between them.
    fn list(&mut self) -> Lowered<Expr<'t>> {
        let first = self.expression(0)?;
        if !matches!(self.peek(), Some(Token::Sign(","))) {
            return Ok(first);
        }
        let mut all = vec![first];
        while self.accept(",") {
            if matches!(self.peek(), None | Some(Token::Sign("=" | ":"))) {
                break;
            }
            all.push(self.expression(0)?);
        }
        Ok(Expr::Tuple(all))
    }

    fn expression(&mut self, depth: usize) -> Lowered<Expr<'t>> {
        let first = self.binary(0, depth)?;
        if !self.accept_name("if") {
            return Ok(first);
        }
        let condition = self.binary(0, depth + 1)?;
        self.expect_name("else")?;
        let second = self.expression(depth + 1)?;
        Ok(Expr::Choice(Box::new([condition, first, second])))
    }

    fn binary(&mut self, least: u8, depth: usize) -> Lowered<Expr<'t>> {
        if depth > DEEPEST {
            return Err(Refusal::unsupported("an expression is nested too deep", TOO_DEEP));
        }
        let mut left = self.unary(depth)?;
        let mut count = 0;
        loop {
            // What stands to the left is nested, too.
            count += 1;
            if depth + count > DEEPEST {
                return Err(Refusal::unsupported("an expression is nested too deep", TOO_DEEP));
            }
            let word = match self.peek() {
                Some(&Token::Sign(word) | &Token::Name(word)) => word,
                _ => return Ok(left),
            };
            // `is`, `is not`, `in` and `not in`.
            if matches!(word, "is" | "in" | "not") && least <= 4 {
                let begin = self.at;
                self.at += 1;
                let inverted = match word {
                    "is" => self.accept_name("not"),
                    "in" => false,
                    _ if self.accept_name("in") => true,
                    _ => {
                        self.at = begin;
                        return Ok(left);
                    }
                };
                let right = self.binary(5, depth + 1)?;
                left = match (word, inverted) {
                    ("is", false) => Expr::Operator("__is__", vec![left, right]),
                    ("is", true) => Expr::Operator("__isnot__", vec![left, right]),
                    (_, false) => Expr::Operator("__contains__", vec![right, left]),
                    (_, true) => {
                        Expr::Operator("__not__", vec![Expr::Operator("__contains__", vec![right, left])])
                    }
                };
                continue;
            }
            let Some(&(_, strength, name)) =
                BINARY.iter().find(|(sign, strength, _)| *sign == word && *strength >= least)
            else {
                return Ok(left);
            };
            self.at += 1;
            let right = self.binary(strength + u8::from(name != "pow"), depth + 1)?;
            left = Expr::Operator(name, vec![left, right]);
        }
    }

    fn unary(&mut self, depth: usize) -> Lowered<Expr<'t>> {
        if depth > DEEPEST {
            return Err(Refusal::unsupported("an expression is nested too deep", TOO_DEEP));
        }
        if self.accept_name("not") {
            let of = self.binary(3, depth + 1)?;
            return Ok(Expr::Operator("__not__", vec![of]));
        }
        if self.accept("~") {
            let of = self.unary(depth + 1)?;
            return Ok(Expr::Operator("bitwise_not", vec![of]));
        }
        if self.accept("+") {
            return self.unary(depth + 1);
        }
        if !self.accept("-") {
            return self.postfix(depth);
        }
        Ok(match self.binary(12, depth + 1)? {
            Expr::Int(number) => Expr::Int(number.wrapping_neg()),
            Expr::Float(number) => Expr::Float(-number),
            of => Expr::Operator("neg", vec![of]),
        })
    }

    fn postfix(&mut self, depth: usize) -> Lowered<Expr<'t>> {
        let mut of = self.atom(depth)?;
        let mut count = 0;
        loop {
            // Chains of them are nested, too.
            count += 1;
            if depth + count > DEEPEST {
                return Err(Refusal::unsupported("an expression is nested too deep", TOO_DEEP));
            }
            if self.accept(".") {
                of = Expr::Attribute(Box::new(of), self.name()?);
            } else if self.accept("(") {
                let (mut given, mut named) = (Vec::new(), Vec::new());
                while !self.accept(")") {
                    let is_named = matches!(
                        self.tokens.get(self.at..self.at + 2),
                        Some([Token::Name(_), Token::Sign("=")])
                    );
                    if is_named {
                        let name = self.name()?;
                        self.at += 1;
                        named.push((name, self.expression(depth + 1)?));
                    } else {
                        given.push(self.expression(depth + 1)?);
                    }
                    if !self.accept(",") {
                        self.expect(")")?;
                        break;
                    }
                }
                of = Expr::Call(Box::new(of), given, named);
            } else if self.accept("[") {
                let mut all = self.until("]", depth)?;
                let by = match all.len() {
                    1 => all.swap_remove(0),
                    _ => Expr::Tuple(all),
                };
                of = Expr::Index(Box::new(of), Box::new(by));
            } else {
                return Ok(of);
            }
        }
    }

    /// Expressions with commas between them, up to a closing bracket.
    fn until(&mut self, end: &str, depth: usize) -> Lowered<Vec<Expr<'t>>> {
        let mut all = Vec::new();
        while !self.accept(end) {
            all.push(self.expression(depth + 1)?);
            if !self.accept(",") {
                self.expect(end)?;
                break;
            }
        }
        Ok(all)
    }

    fn atom(&mut self, depth: usize) -> Lowered<Expr<'t>> {
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Name(name)) => Ok(Expr::Name(name)),
            Some(Token::Int(number)) => Ok(Expr::Int(number)),
            Some(Token::Float(number)) => Ok(Expr::Float(number)),
            Some(Token::Text(mut text)) => {
                // Texts side by side are one.
                while let Some(Token::Text(more)) = self.peek() {
                    text += more;
                    self.at += 1;
                }
                Ok(Expr::Text(text))
            }
            Some(Token::Sign("[")) => Ok(Expr::List(self.until("]", depth)?)),
            Some(Token::Sign("(")) => {
                let begin = self.at;
                let mut all = self.until(")", depth)?;
                let has_comma = self.tokens[begin..self.at - 1].last() == Some(&Token::Sign(","));
                Ok(if all.len() == 1 && !has_comma { all.swap_remove(0) } else { Expr::Tuple(all) })
            }
            Some(Token::Sign("{")) => {
                let mut all = Vec::new();
                while !self.accept("}") {
                    let key = self.expression(depth + 1)?;
                    self.expect(":")?;
                    all.push((key, self.expression(depth + 1)?));
                    if !self.accept(",") {
                        self.expect("}")?;
                        break;
                    }
                }
                Ok(Expr::Dict(all))
            }
            _ => {
                self.at -= 1;
                self.wrong("an expression")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        format!("{:?}", statement(text).unwrap())
    }

    #[test]
    fn reads_what_torchscript_writes() {
        assert_eq!(
            shown("a, b, = torch.chunk(x, 2, dim=-1)"),
            "Assign([Name(\"a\"), Name(\"b\")], Call(Attribute(Name(\"torch\"), \"chunk\"), [Name(\"x\"), Int(2)], [(\"dim\", Int(-1))]))"
        );
        assert_eq!(shown("_0, = _1"), "Assign([Name(\"_0\"), Name(\"_\")], Name(\"_1\"))");
        assert_eq!(shown("x : Optional[Tensor] = None"), "Assign([Name(\"x\")], Name(\"None\"))");
        assert_eq!(shown("return (_72)[0]"), "Return(Some(Index(Name(\"_72\"), Int(0))))");
        assert_eq!(
            shown("y = a - b * -2 ** 2 if not c else 'd\\'e' \"\\015\""),
            "Assign([Name(\"y\")], Choice([Operator(\"__not__\", [Name(\"c\")]), Operator(\"sub\", [Name(\"a\"), Operator(\"mul\", \
             [Name(\"b\"), Operator(\"neg\", [Operator(\"pow\", [Int(2), Int(2)])])])]), Text(\"d'e\\r\")]))"
        );
        assert_eq!(
            shown("for _3 in range(n):"),
            "For([Name(\"_3\")], Call(Name(\"range\"), [Name(\"n\")], []))"
        );
        assert_eq!(shown("x = [1., (2,), {\"k\": inf}, -9223372036854775808]").matches("Tuple").count(), 1);
    }

    #[test]
    fn refuses_what_is_no_statement() {
        for text in ["x = ", "x = (1", "x = \"a", "f(x", "if x", "x y", "1j", "a = ?", "= 1", "{1}", ")"] {
            assert!(statement(text).is_err(), "{text}");
        }
        for sign in ["(", "[", "-", "not ", "~", "f(", "x[", "1+(", "a if "] {
            assert!(statement(&sign.repeat(10_000)).is_err(), "{sign}");
        }
        for sign in [".a", "()", "[0]", "+1", "**1", " if a else b", " is a"] {
            let _ = statement(&format!("x{}", sign.repeat(10_000)));
        }
    }
}
