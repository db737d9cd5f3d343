//! Functions that are applied element by element.

use super::text::{Lexer, ParseError};
use super::{Attr, DType};

macro_rules! functions {
    ($(#[doc = $doc:literal])+ $name:ident { $( $(#[doc = $each:literal])+ $variant:ident $word:literal, )+ }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $( $(#[doc = $each])+ $variant, )+ }

        impl $name {
            /// Every function, in the order of the table.
            pub const ALL: &'static [$name] = &[$( $name::$variant ),+];

            /// Its name in the textual form.
            pub fn name(self) -> &'static str {
                match self { $( $name::$variant => $word ),+ }
            }
        }

        impl Attr for $name {
            fn print(&self, out: &mut String) {
                out.push_str(self.name());
            }

            fn parse(lexer: &mut Lexer<'_>) -> Result<Self, ParseError> {
                match lexer.any_word()? {
                    $( $word => Ok($name::$variant), )+
                    other => Err(lexer.error(format!("there is no function named `{other}`"))),
                }
            }
        }
    };
}

functions! {
    /// A function of one real number.
    Unary {
        /// |x|.
        Abs "abs",
        /// The least integer that is not below x.
        Ceil "ceil",
        /// cos x, x in radians.
        Cos "cos",
        /// x where it is not negative, else eˣ − 1.
        Elu "elu",
        /// 2/√π · ∫ e^(−t²) dt from 0 to x.
        Erf "erf",
        /// eˣ.
        Exp "exp",
        /// The greatest integer that is not above x.
        Floor "floor",
        /// x · Φ(x), Φ the standard normal distribution.
        Gelu "gelu",
        /// `gelu` by the approximation 0.5·x·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
        GeluTanh "gelu_tanh",
        /// x · min(max(x + 3, 0), 6) / 6.
        HardSwish "hard_swish",
        /// The natural logarithm.
        Log "log",
        /// −x.
        Neg "neg",
        /// The nearest integer; the even one of two.
        Round "round",
        /// 1 / √x.
        Rsqrt "rsqrt",
        /// −1, 0 or 1, as x is negative, zero or positive.
        Sign "sign",
        /// sin x, x in radians.
        Sin "sin",
        /// log(1 + eˣ), with as many digits far below zero as near it.
        Softplus "softplus",
        /// √x.
        Sqrt "sqrt",
        /// x².
        Square "square",
    }
}

functions! {
    /// A function of two real numbers.
    Binary {
        /// The angle of the point (b, a), in radians.
        Atan2 "atan2",
        /// a / b; of plain integers rounded towards zero.
        Div "div",
        /// The greatest integer that is not above a / b.
        FloorDiv "floor_div",
        /// What `floor_div` leaves: it has the sign of b.
        FloorMod "floor_mod",
        /// The larger one; b where one of them is NaN.
        Max "max",
        /// The smaller one; b where one of them is NaN.
        Min "min",
        /// aᵇ.
        Pow "pow",
        /// a where it is not negative, else a · b.
        Prelu "prelu",
        /// (a − b)².
        SquaredDifference "squared_difference",
    }
}

functions! {
    /// What two numbers are asked.
    Comparison {
        /// a = b.
        Equal "equal",
        /// a > b.
        Greater "greater",
        /// a ≥ b.
        GreaterEqual "greater_equal",
        /// a < b.
        Less "less",
        /// a ≤ b.
        LessEqual "less_equal",
        /// a ≠ b.
        NotEqual "not_equal",
    }
}

functions! {
    /// What several numbers become one by.
    Reduction {
        /// The largest.
        Max "max",
        /// The smallest.
        Min "min",
        /// Their product.
        Product "product",
        /// Their sum.
        Sum "sum",
    }
}

impl Comparison {
    /// The answer for two numbers.
    pub fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Comparison::Equal => a == b,
            Comparison::Greater => a > b,
            Comparison::GreaterEqual => a >= b,
            Comparison::Less => a < b,
            Comparison::LessEqual => a <= b,
            Comparison::NotEqual => a != b,
        }
    }
}

impl Binary {
    /// Whether it is defined on plain integers, too.
    pub fn of_integers(self) -> bool {
        matches!(
            self,
            Binary::Div
                | Binary::FloorDiv
                | Binary::FloorMod
                | Binary::Max
                | Binary::Min
                | Binary::Pow
                | Binary::SquaredDifference
        )
    }

    /// Whether the result is always one of the operands, so that it needs no arithmetic on stored values either.
    pub fn chooses(self) -> bool {
        matches!(self, Binary::Max | Binary::Min)
    }

    /// Bits by which stored operands are shifted left before anything else.
    pub fn left_shift(self, dtype: DType) -> u32 {
        match (self, dtype) {
            (Binary::SquaredDifference, DType::I8) => 7,
            _ => 0,
        }
    }

    /// Number of multipliers of its arithmetic on `i8`; `None` where it has none.
    pub fn multipliers(self) -> Option<usize> {
        match self {
            Binary::Div => Some(1),
            Binary::Prelu => Some(2),
            Binary::SquaredDifference => Some(3),
            _ => None,
        }
    }
}
