//! Names of the arguments of operators, in order. A program gives arguments by their places; the lowering looks for them by name.
//!
//! Each line of the table has names of arguments in parentheses, and the operators that take these, without those that results are written into. An operator without a
//! namespace is one of ATen.

/// Names of an operator's arguments, such as those of `aten::add.out`.
pub(super) fn arguments(operator: &str) -> Option<Vec<&'static str>> {
    let own = operator.strip_prefix("aten::").unwrap_or(operator);
    TABLE.lines().find_map(|line| {
        let (names, operators) = line.strip_prefix('(')?.split_once(')')?;
        let is_known = operators.split_whitespace().any(|known| known == own);
        is_known.then(|| names.split(", ").collect())
    })
}

const TABLE: &str = include_str!("signatures.txt");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_have_arguments_by_overload() {
        assert_eq!(arguments("aten::add.out").unwrap(), ["self", "other", "alpha"]);
        assert_eq!(arguments("aten::any.all_out").unwrap(), ["self"]);
        assert_eq!(arguments("aten::any.out").unwrap(), ["self", "dim", "keepdim"]);
        assert_eq!(arguments("executorch_prim::et_view.default").unwrap(), ["self", "size"]);
        assert_eq!(arguments("aten::add"), None);
        assert_eq!(arguments("other::add.out"), None);
    }

    #[test]
    fn each_operator_stands_once() {
        let mut all: Vec<&str> = TABLE
            .lines()
            .filter_map(|line| Some(line.split_once(')')?.1.split_whitespace()))
            .flatten()
            .collect();
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
