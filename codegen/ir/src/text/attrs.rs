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

/// Appends attributes with their names: `(x 1.0, y 2.0)`.
macro_rules! put_fields {
    ($out:expr, $first:ident: $value:expr $(, $name:ident: $next:expr)*) => {{
        $out.push_str(concat!("(", stringify!($first), " "));
        $value.print($out);
        $(
            $out.push_str(concat!(", ", stringify!($name), " "));
            $next.print($out);
        )*
        $out.push(')');
    }};
}

/// Takes what `put_fields` appends into variables of these names.
macro_rules! take_fields {
    ($lexer:expr, $first:ident $(, $name:ident)*) => {
        $lexer.expect('(')?;
        $lexer.expect_word(stringify!($first))?;
        let $first = Attr::parse($lexer)?;
        $(
            $lexer.expect(',')?;
            $lexer.expect_word(stringify!($name))?;
            let $name = Attr::parse($lexer)?;
        )*
        $lexer.expect(')')?;
    };
}

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
integer_attr!(usize, i64, i32, u32, u8);

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
        match self {
            AddRescale::Real => out.push_str("real"),
            AddRescale::FixedPoint { left_shift, x, y, out: sum } => {
                put_fields!(out, left_shift: left_shift, x: x, y: y, out: sum);
            }
            AddRescale::Float { x, y, constant, offset } => {
                out.push_str("float ");
                put_fields!(out, x: x, y: y, constant: constant, offset: offset);
            }
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(AddRescale::Real);
        }
        if lexer.accept_word("float")? {
            take_fields!(lexer, x, y, constant, offset);
            return Ok(AddRescale::Float { x, y, constant, offset });
        }
        take_fields!(lexer, left_shift, x, y, out);
        Ok(AddRescale::FixedPoint { left_shift, x, y, out })
    }
}

impl Attr for Rounding {
    fn print(&self, out: &mut String) {
        match self {
            Rounding::Away => out.push_str("away"),
            Rounding::Even => out.push_str("even"),
            Rounding::EvenInverse => out.push_str("even_inverse"),
            Rounding::EvenSum(plus) => put!(out, "even_sum {plus}"),
        }
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        match lexer.any_word()? {
            "away" => Ok(Rounding::Away),
            "even" => Ok(Rounding::Even),
            "even_inverse" => Ok(Rounding::EvenInverse),
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
        put_fields!(out, identity: identity, alpha: alpha);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(LeakyRescale::Real);
        }
        take_fields!(lexer, identity, alpha);
        Ok(LeakyRescale::FixedPoint { identity, alpha })
    }
}

impl Attr for CompareRescale {
    fn print(&self, out: &mut String) {
        let CompareRescale::FixedPoint { left_shift, x, y } = self else { return out.push_str("stored") };
        put_fields!(out, left_shift: left_shift, x: x, y: y);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("stored")? {
            return Ok(CompareRescale::Stored);
        }
        take_fields!(lexer, left_shift, x, y);
        Ok(CompareRescale::FixedPoint { left_shift, x, y })
    }
}

impl Attr for SoftmaxScale {
    fn print(&self, out: &mut String) {
        let SoftmaxScale::FixedPoint { multiplier, diff_min } = self else { return out.push_str("real") };
        put_fields!(out, multiplier: multiplier, diff_min: diff_min);
    }

    fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
        if lexer.accept_word("real")? {
            return Ok(SoftmaxScale::Real);
        }
        take_fields!(lexer, multiplier, diff_min);
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
