//! CAST: numbers of one type as those of another.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use kiln_ir::{DType, Unary, ValueId};

pub(super) const OPERATORS: Operators = &[("CAST", One(cast))];

/// CAST. Floats are rounded half to even and saturate; wider integers lose their high bits.
fn cast(cx: &mut Cx<'_, '_, '_>) -> Lowered<ValueId> {
    let (x, to) = (cx.value(0)?, cx.result_dtype(0)?);
    let x = cx.plain(x)?;
    let from = cx.ty(x).dtype;
    let mut means = cx.means();
    let x = match (from, to) {
        (DType::F32, DType::I8 | DType::I16 | DType::I32 | DType::I64) => means.unary(Unary::Round, x)?,
        _ => x,
    };
    means.cast(x, to)
}
