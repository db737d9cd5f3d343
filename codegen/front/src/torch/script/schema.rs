//! Names of the arguments of ATen operators, in order. TorchScript gives arguments by their places; the lowering looks for them by name.
//!
//! Each line is an operator with its overloads, in the order in which they are tried. `dim:i` is an argument of one kind; one without a kind may be anything. Arguments behind
//! `*` are given by name. `-> 2` is the number of results where it is not one, and `-> list` a list of them.

/// What an argument has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Any,
    Tensor,
    Tensors,
    Int,
    Ints,
    /// A number.
    Number,
    Truth,
    Text,
}

/// The results of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Results {
    Count(usize),
    List,
}

/// An overload.
#[derive(Debug)]
pub(super) struct Schema {
    /// Names and kinds of arguments.
    pub(super) arguments: Vec<(&'static str, Kind)>,
    /// How many may be given by place.
    pub(super) places: usize,
    pub(super) results: Results,
}

/// The overloads of an operator.
pub(super) fn overloads(name: &str) -> impl Iterator<Item = Schema> {
    let line = TABLE.lines().find(|line| line.split('(').next() == Some(name));
    let known = line.into_iter().flat_map(|line| line.split(" | ")).map(parsed);
    // Functions of one tensor are many.
    let of_one = ONE.split_whitespace().any(|one| one == name).then(|| parsed("f(self)"));
    let of_two = TWO.split_whitespace().any(|two| two == name).then(|| parsed("f(self, other)"));
    known.chain(of_one).chain(of_two)
}

fn parsed(overload: &'static str) -> Schema {
    let (call, results) = overload.trim().split_once(" -> ").unwrap_or((overload.trim(), "1"));
    let list = call.split_once('(').map_or("", |(_, list)| list.trim_end_matches(')'));
    let (mut arguments, mut places) = (Vec::new(), None);
    for argument in list.split(", ").filter(|argument| !argument.is_empty()) {
        if argument == "*" {
            places = Some(arguments.len());
            continue;
        }
        let (name, kind) = argument.split_once(':').unwrap_or((argument, ""));
        arguments.push((
            name,
            match kind {
                "t" => Kind::Tensor,
                "l" => Kind::Tensors,
                "i" => Kind::Int,
                "I" => Kind::Ints,
                "n" => Kind::Number,
                "b" => Kind::Truth,
                "s" => Kind::Text,
                _ => Kind::Any,
            },
        ));
    }
    let results = match results {
        "list" => Results::List,
        count => Results::Count(count.parse().unwrap_or(1)),
    };
    Schema { places: places.unwrap_or(arguments.len()), arguments, results }
}

/// Operators with one argument.
const ONE: &str = "
    _conj abs absolute acos acosh alias angle arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh atleast_1d atleast_2d atleast_3d
    bitwise_not ceil conj conj_physical cos cosh deg2rad detach digamma erf erfc erfinv exp exp2 expit expm1 fix fliplr flipud floor frac
    hardsigmoid hardswish isfinite isinf isnan isneginf isposinf lift lift_fresh lift_fresh_copy log log10 log1p log2 log_sigmoid logical_not
    mish neg negative numel numpy_T matrix_H mT adjoint positive rad2deg ravel real reciprocal relu relu6 resolve_conj resolve_neg rsqrt selu sgn
    sigmoid sign silu sin sinc sinh softsign special_erf special_erfc special_exp2 special_expm1 special_log1p special_expit special_sinc
    special_log_softmax sqrt square t tan tanh trace trunc zero";

/// Operators with two arguments.
const TWO: &str = "
    __and__ __lshift__ __or__ __rshift__ __xor__ arctan2 atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign
    eq expand_as floor_divide fmax fmin fmod ge greater greater_equal gt hypot inner kron le less less_equal logaddexp logaddexp2 logical_and
    logical_or logical_xor lt matmul linalg_matmul maximum minimum mul multiply ne not_equal remainder reshape_as special_xlogy true_divide type_as
    vdot view_as xlogy";

/// The others.
const TABLE: &str = include_str!("schema.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_that_are_lowered_have_arguments() {
        // What only exported programs have: numbers of the program, quantisation, and forms that compilers write.
        let foreign = [
            "_operator.",
            "sym_",
            "torch.",
            "_assert",
            "quantize",
            "dequantize",
            "choose",
            "_fused",
            "_scaled",
            "_native_batch",
        ];
        let others = ["_cdist_forward", "_weight_norm_interface", "log_sigmoid_forward"];
        let is_foreign =
            |name: &str| foreign.iter().any(|prefix| name.starts_with(prefix)) || others.contains(&name);
        let missing: Vec<&str> = crate::torch::lower::operators()
            .filter(|name| !is_foreign(name) && overloads(name).next().is_none())
            .collect();
        assert_eq!(missing, [] as [&str; 0]);
    }

    #[test]
    fn overloads_have_kinds_and_results() {
        let all: Vec<Schema> = overloads("max").collect();
        assert_eq!(all.len(), 3);
        assert_eq!(all[1].arguments, [("self", Kind::Any), ("other", Kind::Tensor)]);
        assert_eq!((all[2].results, all[0].results), (Results::Count(2), Results::Count(1)));
        let add = overloads("chunk").next().unwrap();
        assert_eq!((add.places, add.results), (3, Results::List));
        assert_eq!(overloads("cumsum").next().unwrap().places, 2);
        assert!(overloads("relu").next().is_some() && overloads("relu6 relu").next().is_none());
    }
}
