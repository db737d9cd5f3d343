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

/// What lowering gives.
pub(crate) type Lowered<T = ()> = Result<T, Refusal>;

impl Refusal {
    pub(crate) fn unsupported(what: impl Into<String>, help: impl Into<String>) -> Self {
        Refusal::Unsupported(what.into(), help.into())
    }

    /// An operator that a function of the user's can compute.
    pub(crate) fn unbound(what: impl Into<String>, name: &str) -> Self {
        let help = format!(
            "name a function of yours that computes it: custom_op({name:?}, crate::path::to::function)"
        );
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
