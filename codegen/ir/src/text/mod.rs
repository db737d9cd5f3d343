//! The textual form of a graph: printed, and parsed back to an equal graph.
//!
//! ```text
//! graph "example" {
//!   input %0 "samples": i8[1,4] q(0.5 : -3)
//!   state %1 "history": i8[1,4] q(0.5 : -3) = splat -3
//!   const %2: i8[4] q(0.25 : 0) = [1, 2, 3, 4]
//!   %3 "sum": i8[1,4] q(0.5 : -3) = mul(%0, %2) {rescale = [1073741824 * 2^-1], clamp = -128..=127} from "0 MUL"
//!   next %1 = %3
//!   return %3
//! }
//! ```
//!
//! - A value is declared with `%name`, an optional quoted name from the model, and its type. Numbers are only names:
//!   the printer writes the handle, the parser accepts any word and counts handles in the order of declarations. A use may
//!   precede the declaration in the text (the verifier refuses it).
//! - A type is the element, the shape, and `q(scale : zero point)` or `q(axis 0, [scales] : [zero points])`; one zero point
//!   may stand for all.
//! - Data is a list of elements, `splat x`, or `hex "…"` of the bytes in memory.
//! - Floats are written with the fewest digits that read back to the same bits, `inf`, `-inf`, `nan`, or
//!   `bits "7fc00001"` for other NaNs.
//! - A multiplier is `mantissa * 2^shift`, its mantissa in Q0.31.
//! - An attribute `layout = planar to channel_last` is left out where all is channel-last.
//! - `//` starts a comment.
//!
//! Only what is live is printed: dead nodes and unused constants are not, so `parse(g.to_string()) == g.compact()`.

mod attrs;
mod compact;
mod lexer;
mod parse;
mod print;

pub(super) use lexer::{print_fields, Field, FieldReader};
pub use lexer::{Lexer, ParseError};

#[cfg(test)]
mod tests;
