//! What holds of an op besides what it computes: the facts that stand in its row of the op table.

use super::Window;

/// Facts about an op. What a row leaves out is the answer that is true of any op.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts<'o> {
    /// Which rows of the operands a row of the result is computed from.
    pub rows: Rows<'o>,
    /// How many operands, from the first on, the op takes element by element: element `i` of the result depends on element `i` of
    /// those that have its shape, in whatever order the elements are stored. The result may take the place of one of them.
    pub elementwise: usize,
    /// The operand whose elements are each multiplied once for an element of the result, those of one index of its first axis.
    pub filters: Option<usize>,
}

/// Which rows of an operand a row of the result is computed from. Rows are those of an image: the indices of the second axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows<'o> {
    /// All of them; of an op that works element by element, those of the same index in operands of the result's shape.
    #[default]
    All,
    /// The one of the same index.
    Same,
    /// The one of the same index: a part of it, or as a part of the row.
    Part,
    /// Those of the first operand, an image, that the window touches.
    Window(&'o Window),
    /// The one of the same index in an operand that lies behind so many new ones, per axis.
    Behind(&'o [usize]),
}
