//! Rules for the operands and the result of an op, of which each row of the op table names two. They know no ops: what they need of an op's attributes is given to them.

pub(crate) mod shapes;
pub(crate) mod types;

use crate::Type;

/// What a rule answers: what is wrong.
pub(crate) type Checked = Result<(), String>;

/// Asks a rule, which has no types of its own where it stands in the table.
pub(crate) fn obey(
    rule: impl FnOnce(&[&Type], &Type) -> Checked,
    operands: &[&Type],
    result: &Type,
) -> Checked {
    rule(operands, result)
}

/// Fails with a formatted message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($arg:tt)+) => {
        match $condition {
            true => {}
            false => return Err(format!($($arg)+)),
        }
    };
}
pub(crate) use ensure;
