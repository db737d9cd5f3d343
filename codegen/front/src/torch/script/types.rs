//! Types that do not follow from what the graph knows: element types of results, and of inputs, which the file does not state.

use crate::torch::pickle::scalar_type;
use crate::torch::weights;
use kiln_ir::DType;

/// An operand of an operator, as far as its type is known.
#[derive(Clone, Copy)]
pub(super) struct Operand {
    pub(super) dtype: DType,
    /// It has axes, and is not a number alone.
    pub(super) has_axes: bool,
    /// It is a number of the code, and no tensor.
    pub(super) is_number: bool,
}

/// Operators whose result has the type that all operands become.
const PROMOTED: &[&str] = &[
    "add",
    "addcdiv",
    "addcmul",
    "cat",
    "clamp",
    "clip",
    "column_stack",
    "concat",
    "concatenate",
    "div",
    "dstack",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "hstack",
    "max",
    "maximum",
    "min",
    "minimum",
    "mul",
    "multiply",
    "pow",
    "remainder",
    "rsub",
    "stack",
    "sub",
    "subtract",
    "vstack",
    "where",
];

/// Operators whose result is a float also of integers.
const FLOATS: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cosh",
    "mean",
    "sinh",
    "softmax",
    "log_softmax",
    "true_divide",
    "tan",
];

/// Operators whose result is an integer of 64 bits, unless they are told another type.
const LONGS: &[&str] = &["argmax", "argmin", "argsort", "bucketize", "count_nonzero", "searchsorted"];

/// Sums, which of integers are those of 64 bits.
const SUMS: &[&str] = &["cumprod", "cumsum", "nansum", "prod", "sum"];

/// Operators that make tensors from sizes, of floats unless they are told another type.
const MADE: &[&str] = &["empty", "eye", "linspace", "ones", "zeros"];

/// Operators that make tensors like another one.
const LIKE: &[&str] =
    &["empty_like", "full_like", "new_empty", "new_full", "new_ones", "new_zeros", "ones_like", "zeros_like"];

/// The type of the first result, where it may be another one than that of the operands. `asked` is the argument `dtype`.
pub(super) fn declared(name: &str, asked: Option<i64>, operands: &[Operand]) -> Option<DType> {
    let asked = asked.and_then(|number| weights::dtype(scalar_type(number)).ok());
    let first = operands.first().copied();
    match name {
        "to" | "_to_copy" => asked,
        "type_as" => operands.get(1).map(|operand| operand.dtype),
        _ if FLOATS.contains(&name) => asked.or(Some(DType::F32)),
        _ if LONGS.contains(&name) => Some(DType::I64),
        _ if SUMS.contains(&name) => match first?.dtype {
            _ if asked.is_some() => asked,
            DType::F32 => None,
            _ => Some(DType::I64),
        },
        _ if MADE.contains(&name) => asked.or(Some(DType::F32)),
        "tril_indices" | "triu_indices" => asked.or(Some(DType::I64)),
        "arange" => match operands.iter().any(|operand| operand.dtype == DType::F32) {
            _ if asked.is_some() => asked,
            true => Some(DType::F32),
            false => Some(DType::I64),
        },
        "full" | "scalar_tensor" => asked.or(first.map(|operand| operand.dtype)),
        _ if LIKE.contains(&name) => asked.or(first.map(|operand| operand.dtype)),
        _ if PROMOTED.contains(&name) => promoted(operands),
        _ => None,
    }
}

/// The type that all operands become. Those without axes count only where they are of a wider kind, and numbers less than those.
pub(super) fn promoted(operands: &[Operand]) -> Option<DType> {
    let kind = |dtype: DType| match dtype {
        DType::Bool => 0,
        DType::F32 => 2,
        _ => 1,
    };
    let of = |has_axes: bool, is_number: bool| {
        let own = operands.iter().filter(|o| o.has_axes == has_axes && o.is_number == is_number);
        own.map(|operand| operand.dtype).reduce(both)
    };
    let mut result: Option<DType> = None;
    for weaker in [of(true, false), of(false, false), of(false, true)].into_iter().flatten() {
        result = Some(match result {
            Some(own) if kind(weaker) <= kind(own) => own,
            _ => weaker,
        });
    }
    result
}

/// The type that two tensors become.
fn both(a: DType, b: DType) -> DType {
    let is_either = |dtype| a == dtype || b == dtype;
    match () {
        () if a == b => a,
        () if is_either(DType::F32) => DType::F32,
        () if a == DType::Bool => b,
        () if b == DType::Bool => a,
        () if is_either(DType::I64) => DType::I64,
        () if is_either(DType::I32) => DType::I32,
        () => DType::I16,
    }
}

/// Arguments that hold indices, truth values or whole numbers. An input that is used so has that type.
pub(super) fn wanted(name: &str, argument: &str) -> Option<DType> {
    Some(match (name, argument) {
        ("embedding" | "index" | "index_put" | "take_along_dim", "indices")
        | ("embedding_bag", "indices" | "offsets")
        | (
            "gather" | "index_add" | "index_copy" | "index_fill" | "index_select" | "scatter" | "scatter_add"
            | "scatter_reduce" | "take" | "select",
            "index",
        )
        | ("one_hot", "self")
        | (
            "__and__"
            | "__or__"
            | "__xor__"
            | "__lshift__"
            | "__rshift__"
            | "bitwise_and"
            | "bitwise_or"
            | "bitwise_xor"
            | "bitwise_left_shift"
            | "bitwise_right_shift",
            "self" | "other",
        ) => DType::I64,
        ("masked_fill", "mask") | ("where", "condition") | ("bitwise_not", "self") => DType::Bool,
        _ => return None,
    })
}

/// Operators that give numbers of the type of their first operand, so that what is said of them is said of it.
pub(super) const KEEPING: &[&str] = &[
    "add",
    "add_",
    "chunk",
    "clamp",
    "clone",
    "contiguous",
    "detach",
    "expand",
    "flatten",
    "narrow",
    "permute",
    "remainder",
    "reshape",
    "roll",
    "select",
    "slice",
    "split",
    "squeeze",
    "sub",
    "t",
    "transpose",
    "unbind",
    "unsqueeze",
    "view",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_count_less_than_tensors() {
        let tensor = |dtype| Operand { dtype, has_axes: true, is_number: false };
        let alone = |dtype| Operand { dtype, has_axes: false, is_number: false };
        let number = |dtype| Operand { dtype, has_axes: false, is_number: true };
        assert_eq!(promoted(&[tensor(DType::I32), alone(DType::I64)]), Some(DType::I32));
        assert_eq!(promoted(&[tensor(DType::I32), number(DType::F32)]), Some(DType::F32));
        assert_eq!(promoted(&[tensor(DType::Bool), number(DType::I64)]), Some(DType::I64));
        assert_eq!(promoted(&[tensor(DType::U8), tensor(DType::I8)]), Some(DType::I16));
        assert_eq!(declared("sum", None, &[tensor(DType::Bool)]), Some(DType::I64));
        assert_eq!(declared("zeros", Some(4), &[]), Some(DType::I64));
        assert_eq!(declared("relu", None, &[tensor(DType::F32)]), None);
    }
}
