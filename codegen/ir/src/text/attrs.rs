//! The textual form of attribute types.

use super::lexer::{Lexer, ParseError, Token, CANONICAL_NAN, RANGE};
use crate::{
    AddRescale, Attr, Clamp, CompareRescale, Layout, LeakyRescale, Multiplier, Order, Padding, Real, Rescale,
    Rounding, SoftmaxScale, Window,
};
use std::fmt::Write as _;

/// Appends formatted text; writing to a string does not fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => {{ let _ = write!($out, $($arg)*); }};
}
pub(super) use put;

/// Appends a quoted string; the lexer undoes the escapes.
pub(super) fn quote(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => put!(out, "\\{c}"),
            c if c.is_control() => put!(out, "\\u{{{:x}}}", c as u32),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn print_list<T>(items: &[T], out: &mut String, mut print: impl FnMut(&T, &mut String)) {
    out.push('[');
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.push_str(", ");
        }
        print(item, out);
    }
    out.push(']');
}

macro_rules! integer_attr {
    ($($t:ty),+) => { $(
        impl Attr for $t {
            fn print(&self, out: &mut String) {
                put!(out, "{self}");
            }

            fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
                lexer.integer()
            }
        }

        impl Attr for Vec<$t> {
            fn print(&self, out: &mut String) {
                print_list(self, out, |x, out| x.print(out));
            }

            fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
                lexer.list(Lexer::integer)
            }
        }
    )+ };
}
integer_attr!(usize, i64, u8);

impl Attr for String {
    fn print(&self, out: &mut String) {
        quote(self, out);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        lexer.quoted()
    }
}

impl Attr for Real {
    fn print(&self, out: &mut String) {
        let x = self.0;
        match x.to_bits() {
            CANONICAL_NAN => out.push_str("nan"),
            bits if x.is_nan() => put!(out, "bits \"{bits:08x}\""),
            // Always with a point or an exponent, unlike an integer.
            _ => put!(out, "{x:?}"),
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        lexer.float().map(Real)
    }
}

impl Attr for Multiplier {
    fn print(&self, out: &mut String) {
        put!(out, "{} * 2^{}", self.value, self.shift);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        let value = lexer.integer()?;
        lexer.expect('*')?;
        if lexer.integer::<i32>()? != 2 {
            return Err(lexer.error("a multiplier is `mantissa * 2^shift`".into()));
        }
        lexer.expect('^')?;
        Ok(Multiplier { value, shift: lexer.integer()? })
    }
}

impl Attr for Window {
    fn print(&self, out: &mut String) {
        put!(out, "{:?}", self.size);
        if self.stride != [1, 1] {
            put!(out, " stride {:?}", self.stride);
        }
        if self.dilation != [1, 1] {
            put!(out, " dilation {:?}", self.dilation);
        }
        let Padding { top, bottom, left, right } = self.pad;
        if self.pad != Padding::default() {
            put!(out, " pad [{top}, {bottom}, {left}, {right}]");
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        let size = numbers(lexer)?;
        let stride = if lexer.accept_word("stride")? { numbers(lexer)? } else { [1, 1] };
        let dilation = if lexer.accept_word("dilation")? { numbers(lexer)? } else { [1, 1] };
        let [top, bottom, left, right] = if lexer.accept_word("pad")? { numbers(lexer)? } else { [0; 4] };
        Ok(Window { size, stride, dilation, pad: Padding { top, bottom, left, right } })
    }
}

/// Takes a list of exactly `N` numbers.
fn numbers<const N: usize>(lexer: &mut Lexer<'_>) -> Result<[usize; N], ParseError> {
    let list: Vec<usize> = lexer.list(Lexer::integer)?;
    list.try_into()
        .map_err(|list: Vec<usize>| lexer.error(format!("{N} numbers wanted, {} found", list.len())))
}

impl Attr for bool {
    fn print(&self, out: &mut String) {
        out.push_str(if *self { "true" } else { "false" });
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        match lexer.any_word()? {
            "true" => Ok(true),
            "false" => Ok(false),
            other => Err(lexer.error(format!("`{other}` is neither true nor false"))),
        }
    }
}

impl Attr for Rescale {
    fn print(&self, out: &mut String) {
        match self {
            Rescale::Real => out.push_str("real"),
            Rescale::FixedPoint(multipliers) => print_list(multipliers, out, Multiplier::print),
            Rescale::Once(multipliers) => {
                out.push_str("once ");
                print_list(multipliers, out, Multiplier::print);
            }
            Rescale::Float(factors) => {
                out.push_str("float ");
                print_list(factors, out, Real::print);
            }
            Rescale::FloatSum { by, plus } => {
                out.push_str("float_sum ");
                by.print(out);
                put!(out, " plus {plus}");
            }
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(Rescale::Real);
        }
        if lexer.accept_word("once")? {
            return lexer.list(Multiplier::parse).map(Rescale::Once);
        }
        if lexer.accept_word("float")? {
            return lexer.list(Real::parse).map(Rescale::Float);
        }
        if lexer.accept_word("float_sum")? {
            let by = Real::parse(lexer)?;
            lexer.expect_word("plus")?;
            return Ok(Rescale::FloatSum { by, plus: lexer.integer()? });
        }
        lexer.list(Multiplier::parse).map(Rescale::FixedPoint)
    }
}

impl Attr for AddRescale {
    fn print(&self, out: &mut String) {
        let (left_shift, x, y, sum) = match self {
            AddRescale::Real => return out.push_str("real"),
            AddRescale::FixedPoint { left_shift, x, y, out } => (left_shift, x, y, out),
            AddRescale::Float { x, y, constant, offset } => {
                out.push_str("float (x ");
                x.print(out);
                out.push_str(", y ");
                y.print(out);
                out.push_str(", constant ");
                constant.print(out);
                put!(out, ", offset {offset})");
                return;
            }
        };
        put!(out, "(left_shift {left_shift}, x ");
        x.print(out);
        out.push_str(", y ");
        y.print(out);
        out.push_str(", out ");
        sum.print(out);
        out.push(')');
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(AddRescale::Real);
        }
        if lexer.accept_word("float")? {
            lexer.expect('(')?;
            lexer.expect_word("x")?;
            let x = Real::parse(lexer)?;
            lexer.expect(',')?;
            lexer.expect_word("y")?;
            let y = Real::parse(lexer)?;
            lexer.expect(',')?;
            lexer.expect_word("constant")?;
            let constant = Real::parse(lexer)?;
            lexer.expect(',')?;
            lexer.expect_word("offset")?;
            let offset = lexer.integer()?;
            lexer.expect(')')?;
            return Ok(AddRescale::Float { x, y, constant, offset });
        }
        lexer.expect('(')?;
        lexer.expect_word("left_shift")?;
        let left_shift = lexer.integer()?;
        let x = next_multiplier(lexer, "x")?;
        let y = next_multiplier(lexer, "y")?;
        let out = next_multiplier(lexer, "out")?;
        lexer.expect(')')?;
        Ok(AddRescale::FixedPoint { left_shift, x, y, out })
    }
}

/// Takes `, name multiplier`.
fn next_multiplier(lexer: &mut Lexer<'_>, name: &str) -> Result<Multiplier, ParseError> {
    lexer.expect(',')?;
    lexer.expect_word(name)?;
    Multiplier::parse(lexer)
}

impl Attr for Rounding {
    fn print(&self, out: &mut String) {
        match self {
            Rounding::Away => out.push_str("away"),
            Rounding::Even => out.push_str("even"),
            Rounding::EvenSum(plus) => put!(out, "even_sum {plus}"),
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        match lexer.any_word()? {
            "away" => Ok(Rounding::Away),
            "even" => Ok(Rounding::Even),
            "even_sum" => lexer.integer().map(Rounding::EvenSum),
            other => Err(lexer.error(format!("`{other}` is no rounding"))),
        }
    }

    fn implied() -> Option<Self> {
        Some(Rounding::Away)
    }
}

impl Attr for LeakyRescale {
    fn print(&self, out: &mut String) {
        let LeakyRescale::FixedPoint { identity, alpha } = self else { return out.push_str("real") };
        out.push_str("(identity ");
        identity.print(out);
        out.push_str(", alpha ");
        alpha.print(out);
        out.push(')');
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(LeakyRescale::Real);
        }
        lexer.expect('(')?;
        lexer.expect_word("identity")?;
        let identity = Multiplier::parse(lexer)?;
        let alpha = next_multiplier(lexer, "alpha")?;
        lexer.expect(')')?;
        Ok(LeakyRescale::FixedPoint { identity, alpha })
    }
}

impl Attr for CompareRescale {
    fn print(&self, out: &mut String) {
        let CompareRescale::FixedPoint { left_shift, x, y } = self else { return out.push_str("stored") };
        put!(out, "(left_shift {left_shift}, x ");
        x.print(out);
        out.push_str(", y ");
        y.print(out);
        out.push(')');
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("stored")? {
            return Ok(CompareRescale::Stored);
        }
        lexer.expect('(')?;
        lexer.expect_word("left_shift")?;
        let left_shift = lexer.integer()?;
        let x = next_multiplier(lexer, "x")?;
        let y = next_multiplier(lexer, "y")?;
        lexer.expect(')')?;
        Ok(CompareRescale::FixedPoint { left_shift, x, y })
    }
}

impl Attr for SoftmaxScale {
    fn print(&self, out: &mut String) {
        let SoftmaxScale::FixedPoint { multiplier, diff_min } = self else { return out.push_str("real") };
        out.push_str("(multiplier ");
        multiplier.print(out);
        put!(out, ", diff_min {diff_min})");
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(SoftmaxScale::Real);
        }
        lexer.expect('(')?;
        lexer.expect_word("multiplier")?;
        let multiplier = Multiplier::parse(lexer)?;
        lexer.expect(',')?;
        lexer.expect_word("diff_min")?;
        let diff_min = lexer.integer()?;
        lexer.expect(')')?;
        Ok(SoftmaxScale::FixedPoint { multiplier, diff_min })
    }
}

impl Attr for Clamp {
    fn print(&self, out: &mut String) {
        match self {
            Clamp::Int { lo, hi } => put!(out, "{lo}..={hi}"),
            Clamp::Float { lo, hi } => {
                lo.print(out);
                out.push_str("..=");
                hi.print(out);
            }
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if matches!(lexer.peek()?, Token::Int(_)) {
            let lo = lexer.integer()?;
            lexer.expect(RANGE)?;
            return Ok(Clamp::Int { lo, hi: lexer.integer()? });
        }
        let lo = Real::parse(lexer)?;
        lexer.expect(RANGE)?;
        Ok(Clamp::Float { lo, hi: Real::parse(lexer)? })
    }
}

impl Attr for Order {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Order::ChannelLast => "channel_last",
            Order::Planar => "planar",
        });
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        match lexer.any_word()? {
            "channel_last" => Ok(Order::ChannelLast),
            "planar" => Ok(Order::Planar),
            other => Err(lexer.error(format!("`channel_last` or `planar` wanted, `{other}` found"))),
        }
    }
}

impl Attr for Layout {
    fn print(&self, out: &mut String) {
        self.x.print(out);
        out.push_str(" to ");
        self.y.print(out);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        let x = Order::parse(lexer)?;
        lexer.expect_word("to")?;
        Ok(Layout { x, y: Order::parse(lexer)? })
    }

    fn implied() -> Option<Self> {
        Some(Layout::default())
    }
}
