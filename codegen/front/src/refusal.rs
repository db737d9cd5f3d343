//! Why an operator is not lowered: one vocabulary for all formats.

use kiln_ir::error::Error;

/// Why an operator is not lowered.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// It is sound, but Kiln cannot compile it: what, and the way out.
    Unsupported(String, String),
    /// It contradicts itself.
    Malformed(String),
    /// The whole file is to be given up.
    Fatal(Error),
    /// An operand comes from an operator that was refused itself; nothing more to say.
    Follows,
}

/// The way out where an operator is not known.
pub(crate) const REPLACE: &str =
    "replace it with supported operators, or move the computation out of the model";

/// What lowering gives.
pub(crate) type Lowered<T = ()> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Self {
        Refusal::Unsupported(what.into(), help.into())
    }

    /// An operator that Kiln does not know.
    pub(crate) fn unknown() -> Self {
        Refusal::unsupported("this operator cannot be compiled", REPLACE)
    }

    /// Branches and passes of loops that come to more than [`Budget::inline`](crate::budget::Budget::inline) allows.
    pub(crate) fn too_long() -> Self {
        let what = "its branches, or the passes of its loop, have too many operators";
        let help =
            "let the loop run fewer times, or compile only its body and write the loop in your own code";
        Refusal::unsupported(what, help)
    }

    /// A loop that has no known end after so many passes.
    pub(crate) fn endless(passes: usize) -> Self {
        let what = format!(
            "after {passes} passes, its condition still depends on values that are computed at run time"
        );
        let help = "let a counter run from a constant to a constant, or write the loop in your own code around the model";
        Refusal::unsupported(what, help)
    }

    /// An operator that a function of the user's can compute.
    pub(crate) fn unbound(what: impl Into<String>, name: &str) -> Self {
        let help =
            format!("name a function of yours that computes it: custom_op({name:?}, crate::kernels::my_op)");
        Refusal::unsupported(what, help)
    }

    /// A custom operator with so many results.
    pub(crate) fn results(name: &str, count: usize) -> Self {
        let what = format!("\"{name}\" has {count} results; a custom operator has exactly one");
        Refusal::unsupported(what, "split it into one operator for each result")
    }

    pub(crate) fn malformed(what: impl Into<String>) -> Self {
        Refusal::Malformed(what.into())
    }
}

/// The [`Refusal::Malformed`] of a formatted text.
macro_rules! malformed {
    ($($what:tt)+) => {
        $crate::Refusal::Malformed(format!($($what)+))
    };
}

/// Refuses what contradicts itself: where the condition holds, the function returns the [`Refusal::Malformed`] of a formatted text.
macro_rules! malformed_if {
    ($condition:expr, $($what:tt)+) => {
        if $condition {
            return Err(malformed!($($what)+));
        }
    };
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal::Fatal(error)
    }
}
