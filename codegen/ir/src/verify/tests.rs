//! One bad graph per invariant: a good one with one thing replaced.

use super::{verify, Violation};
use crate::{DType, Data, Graph, NodeId, Op, Type, ValueId};

const CONV: &str = r#"graph "conv" {
  input %x: i8[1,5,5,4] q(0.5 : 3)
  const %w: i8[6,3,3,2] q(axis 0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] : 0) = splat 1
  const %b: i32[6] = splat 0
  %y: i8[1,3,3,6] q(0.25 : -4) = conv2d(%x, %w, %b) {window = [3, 3] stride [2, 2] pad [1, 1, 1, 1], groups = 2, rescale = [1073741824 * 2^-3], clamp = -4..=127}
  return %y
}"#;

const DENSE: &str = r#"graph "dense" {
  input %x: f32[2,3]
  const %w: f32[4,3] = splat 0.5
  const %b: f32[4] = splat 0.5
  %y: f32[2,4] = dense(%x, %w, %b) {rescale = real, clamp = 0.0..=6.0}
  return %y
}"#;

const POOL: &str = r#"graph "pool" {
  input %x: i8[1,4,4,2] q(0.5 : 0)
  %y: i8[1,2,2,2] q(0.5 : 0) = avg_pool2d(%x) {window = [3, 3] stride [2, 2] pad [0, 1, 0, 1], clamp = -128..=127}
  return %y
}"#;

const ADD: &str = r#"graph "add" {
  input %x: i8[2,3,4] q(0.5 : 1)
  input %c: i8[3,1] q(0.25 : 0)
  %y: i8[2,3,4] q(1.0 : 2) = add(%x, %c) {rescale = (left_shift 20, x 1073741824 * 2^0, y 1073741824 * 2^-1, out 1073741824 * 2^-18), clamp = -128..=127}
  %z: i8[2,3,4] q(1.0 : 2) = mul(%y, %x) {rescale = [1073741824 * 2^0], clamp = -128..=127}
  %r: i8[2,3,4] q(2.0 : 0) = leaky_relu(%z) {alpha = 0.5, rescale = (identity 1073741824 * 2^0, alpha 1073741824 * 2^-1)}
  %q: i8[2,3,4] q(4.0 : 0) = requantize(%r) {rescale = [1073741824 * 2^0], clamp = -128..=127}
  return %q
}"#;

const MOVE: &str = r#"graph "move" {
  input %x: i8[2,6] q(0.5 : 1)
  %p: i8[3,8] q(0.5 : 1) = pad(%x) {before = [1, 0], after = [0, 2], value = 1}
  %s: i8[3,3] q(0.5 : 1) = slice(%p) {begin = [0, 7], step = [1, -3]}
  %c: i8[3,11] q(0.5 : 1) = concat(%p, %s) {axis = 1}
  %t: i8[11,3] q(0.5 : 1) = transpose(%c) {perm = [1, 0]}
  %v: i8[33] q(0.5 : 1) = reshape(%t)
  return %v
}"#;

const FUNCTIONS: &str = r#"graph "functions" {
  input %x: i8[2,6] q(0.5 : 1)
  const %table: u8[256] = splat 3
  %m: i8[2,1] q(0.5 : 1) = mean(%x) {axes = [1], rescale = [178956970 * 2^3], clamp = -128..=127}
  %l: i8[2,1] q(0.00390625 : -128) = logistic(%m)
  %t: i8[2,1] q(0.0078125 : 0) = tanh(%l)
  %s: i8[2,1] q(0.00390625 : -128) = softmax(%t) {beta = 1.0, scale = (multiplier 1073741824 * 2^20, diff_min -248)}
  %u: u8[2,1] q(1.0 : 0) = lookup(%s, %table)
  %f: f32[2,1] = dequantize(%u)
  %g: f32[2,1] = clip(%f) {clamp = 0.0..=inf}
  %q: i8[2,1] q(0.5 : 0) = quantize(%g)
  return %q
}"#;

const STATE: &str = r#"graph "state" {
  input %x: f32[4]
  state %s: f32[4] = splat 0.0
  %y: f32[4] = add(%x, %s) {rescale = real, clamp = -inf..=inf}
  next %s = %y
  return %s
}"#;

const PLAIN: &str = r#"graph "plain" {
  input %x: i64[4]
  const %c: i64[1] = [2]
  %y: i64[4] = sub(%x, %c) {rescale = real, clamp = -5..=6}
  %z: i64[4] = mul(%y, %c) {rescale = real, clamp = -5..=6}
  return %z
}"#;

#[test]
fn good_graphs_pass() {
    for text in [CONV, DENSE, POOL, ADD, MOVE, FUNCTIONS, STATE, PLAIN] {
        let graph = Graph::parse(text).unwrap();
        assert_eq!(verify(&graph), Ok(()), "{text}");
    }
}

#[test]
fn each_broken_invariant_is_reported() {
    // Graph, what is replaced, by what, and the violation.
    let cases: &[(&str, &str, &str, &str)] = &[
        // Order and references.
        (ADD, "add(%x, %c)", "add(%x, %z)", "%2 = add: uses %3 before it is defined"),
        (ADD, "add(%x, %c)", "add(%x, %y)", "%2 = add: uses %2 before it is defined"),
        (ADD, "add(%x, %c)", "add(%x)", "has 1 operands, 2 wanted"),
        (CONV, "(%x, %w, %b)", "(%x, %w, %b, %b)", "has 4 operands, 2 to 3 wanted"),
        // Types.
        (STATE, "input %x: f32[4]", "input %x: f32[0]", "input %0: the shape [0] has no elements"),
        (STATE, "input %x: f32[4]", "input %x: f32[99999,99999,99999,99999]", "is too large"),
        (CONV, "0.5, 0.6] : 0)", "0.5] : 0)", "5 scales for the 6 indices of axis 0"),
        (CONV, "0.6] : 0)", "0.6] : [0, 0])", "6 scales and 2 zero points"),
        (CONV, "q(axis 0,", "q(axis 4,", "quantised along axis 4 of 4"),
        (CONV, "q(axis 0,", "q(", "6 scales for the whole tensor"),
        (CONV, "q(0.25 : -4)", "q(0.0 : -4)", "the scale 0"),
        (CONV, "q(0.25 : -4)", "q(nan : -4)", "the scale NaN"),
        (CONV, "q(0.25 : -4)", "q(0.25 : -129)", "the zero point -129 is no i8"),
        (STATE, "input %x: f32[4]", "input %x: f32[4] q(0.5 : 0)", "f32 is quantised"),
        // Data.
        (CONV, "i32[6] = splat 0", "i32[6] = [0, 0]", "const %2: has 8 bytes of data, 24 wanted"),
        (STATE, "= splat 0.0", "= [0.0]", "state %1: has 4 bytes of data, 16 wanted"),
        (
            STATE,
            "next %s = %y",
            "%z: f32[2,2] = reshape(%y) next %s = %z",
            "is of type f32[4], its next value of type f32[2,2]",
        ),
        // Convolution.
        (CONV, "i8[1,5,5,4]", "i8[5,5,4]", "the image has the shape [5, 5, 4], 4 axes wanted"),
        (CONV, "window = [3, 3]", "window = [3, 1]", "the window is [3, 1], the weights [3, 3]"),
        (CONV, "stride [2, 2]", "stride [2, 0]", "the window's stride is [2, 0]"),
        (CONV, "stride [2, 2]", "stride [2, 2] dilation [0, 1]", "the window's dilation is [0, 1]"),
        (
            CONV,
            "stride [2, 2]",
            "stride [2, 2] dilation [1, 4]",
            "the window [3, 3] does not fit the image [5, 5]",
        ),
        (CONV, "pad [1, 1, 1, 1]", "pad [1, 1, 1, 18446744073709551615]", "does not fit the image"),
        (CONV, "groups = 2", "groups = 0", "there are no groups"),
        (CONV, "groups = 2", "groups = 3", "3 groups of 4 input and 6 output channels"),
        (CONV, "groups = 2", "groups = 1", "2 input channels in the weights, 4 in each of 1 groups"),
        (CONV, "i32[6]", "i32[5]", "the bias has the shape [5], [6] wanted"),
        (CONV, "i32[6] = splat 0", "i64[6] = splat 0", "a bias of i64"),
        (CONV, "i8[1,3,3,6]", "i8[1,3,3,5]", "the result has the shape [1, 3, 3, 5], [1, 3, 3, 6] follows"),
        (
            CONV,
            "[1073741824 * 2^-3]",
            "[1073741824 * 2^-3, 1073741824 * 2^-3]",
            "2 multipliers for 6 channels",
        ),
        (CONV, "[1073741824 * 2^-3]", "[]", "0 multipliers for 6 channels"),
        (CONV, "[1073741824 * 2^-3]", "[107374182 * 2^-3]", "a multiplier's mantissa is 107374182"),
        (CONV, "[1073741824 * 2^-3]", "[1073741824 * 2^31]", "a multiplier's shift is 31"),
        (CONV, "[1073741824 * 2^-3]", "[1073741824 * 2^-32]", "a multiplier's shift is -32"),
        (CONV, "clamp = -4..=127", "clamp = -4..=128", "a clamp of i8 to -4..=128"),
        (CONV, "clamp = -4..=127", "clamp = 4..=-4", "a clamp of i8 to 4..=-4"),
        (CONV, "clamp = -4..=127", "clamp = 0.0..=6.0", "the clamp is of another kind than i8"),
        (CONV, "clamp = -4..=127", "clamp = -4..=127", ""),
        (
            CONV,
            "i8[1,5,5,4] q(0.5 : 3)",
            "i8[1,5,5,4]",
            "the operand of type i8[1,5,5,4] has no scale of its own",
        ),
        (
            CONV,
            "%y: i8[1,3,3,6] q(0.25 : -4)",
            "%y: i8[1,3,3,6]",
            "the result of type i8[1,3,3,6] has no scale of its own",
        ),
        (
            CONV,
            "q(axis 0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] : 0)",
            "q(axis 1, [0.1, 0.2, 0.3] : 0)",
            "the weights are quantised along axis 1",
        ),
        (
            CONV,
            "i8[6,3,3,2] q(axis 0, [0.1, 0.2, 0.3, 0.4, 0.5, 0.6] : 0)",
            "i8[6,3,3,2]",
            "the weights of type i8[6,3,3,2] have no scale",
        ),
        (CONV, "i8[1,5,5,4] q(0.5 : 3)", "i32[1,5,5,4] q(0.5 : 3)", "in integer arithmetic"),
        // Dense.
        (DENSE, "f32[4,3] = splat", "f32[4,2] = splat", "rows of 3 elements, weights for 2"),
        (DENSE, "%y: f32[2,4]", "%y: f32[8]", "the result has the shape [8], [2, 4] follows"),
        (DENSE, "input %x: f32[2,3]", "input %x: f32[]", "a scalar has no last axis"),
        (DENSE, "rescale = real", "rescale = [1073741824 * 2^0]", "in integer arithmetic"),
        (DENSE, "const %b: f32[4] = splat 0.5", "const %b: i32[4] = splat 0", "i32 to f32, f32 wanted"),
        (DENSE, "0.0..=6.0", "0.0..=nan", "a clamp to 0.0..=NaN"),
        // Pooling.
        (POOL, "stride [2, 2]", "stride [2, 2] dilation [2, 2]", "pooling with the dilation [2, 2]"),
        (POOL, "pad [0, 1, 0, 1]", "pad [3, 0, 0, 1]", "a window [3, 3] holds nothing but padding"),
        (POOL, "pad [0, 1, 0, 1]", "pad [0, 3, 0, 1]", "a window [3, 3] holds nothing but padding"),
        (POOL, "%y: i8[1,2,2,2] q(0.5 : 0)", "%y: i8[1,2,2,2] q(0.5 : 1)", "stored values of type"),
        (POOL, "%y: i8[1,2,2,2] q(0.5 : 0)", "%y: i8[1,2,2,2]", "stored values of type"),
        (POOL, "[1,4,4,2]", "[1,4,4,3]", "[1, 2, 2, 3] follows"),
        // Elementwise.
        (ADD, "i8[3,1] q", "i8[2,1] q", "[2, 3, 4] and [2, 1] do not broadcast"),
        (ADD, "%y: i8[2,3,4]", "%y: i8[1,3,4]", "the result has the shape [1, 3, 4], [2, 3, 4] follows"),
        (ADD, "left_shift 20", "left_shift 31", "a left shift by 31"),
        (ADD, "out 1073741824", "out -1073741824", "a multiplier's mantissa is -1073741824"),
        (ADD, "%c: i8[3,1]", "%c: u8[3,1]", "an operand of type u8[3,1] q(0.25 : 0), a result of i8"),
        (
            ADD,
            "rescale = [1073741824 * 2^0], clamp = -128..=127}\n  %r",
            "rescale = real, clamp = -128..=127}\n  %r",
            "arithmetic on i8",
        ),
        (
            ADD,
            "rescale = [1073741824 * 2^0], clamp = -128..=127}\n  return",
            "rescale = real, clamp = -128..=127}\n  return",
            "one multiplier wanted",
        ),
        (
            ADD,
            "rescale = [1073741824 * 2^0], clamp = -128..=127}\n  return",
            "rescale = [], clamp = -128..=127}\n  return",
            "0 multipliers, one wanted",
        ),
        (ADD, "alpha 1073741824", "alpha 1073741", "a multiplier's mantissa is 1073741"),
        (ADD, "alpha 1073741824", "alpha -1073741824", ""),
        (ADD, "%r: i8[2,3,4]", "%r: i8[2,3,5]", "[2, 3, 4] follows"),
        (ADD, "%q: i8[2,3,4] q(4.0 : 0)", "%q: f32[2,3,4]", "the result is f32"),
        (
            PLAIN,
            "const %c: i64[1] = [2]",
            "const %c: i32[1] = [2]",
            "an operand of type i32[1], a result of i64[4]",
        ),
        // Movement.
        (MOVE, "before = [1, 0]", "before = [1]", "1 entries of `before` for a tensor of 2 axes"),
        (MOVE, "after = [0, 2]", "after = [0, 3]", "[3, 9] follows"),
        (MOVE, "after = [0, 2]", "after = [0, 18446744073709551615]", "a padded dimension overflows"),
        (MOVE, "value = 1", "value = 128", "the padding 128 is no i8"),
        (MOVE, "step = [1, -3]", "step = [1, 0]", "the step along axis 1 is 0"),
        (MOVE, "step = [1, -3]", "step = [1, -4]", "elements 7 to -1 along axis 1, which has 8"),
        (MOVE, "begin = [0, 7]", "begin = [1, 7]", "elements 1 to 3 along axis 0, which has 3"),
        (MOVE, "begin = [0, 7]", "begin = [0]", "1 entries of `begin` for a tensor of 2 axes"),
        (MOVE, "axis = 1", "axis = 2", "axis 2 of a tensor of 2 axes"),
        (MOVE, "axis = 1", "axis = 0", "do not join along axis 0"),
        (MOVE, "%s: i8[3,3] q(0.5 : 1)", "%s: i8[3,3] q(0.5 : 2)", "stored values of type"),
        (MOVE, "perm = [1, 0]", "perm = [1, 1]", "[1, 1] is no permutation"),
        (MOVE, "perm = [1, 0]", "perm = [0, 1]", "the result has the shape [11, 3], [3, 11] follows"),
        (MOVE, "i8[33] q(0.5 : 1)", "i8[32] q(0.5 : 1)", "the result has 32 elements, the operand 33"),
        (MOVE, "i8[33] q(0.5 : 1)", "u8[33] q(0.5 : 1)", "i8 becomes u8"),
        // Functions.
        (FUNCTIONS, "axes = [1]", "axes = [2]", "axes [2] of a tensor of 2 axes"),
        (FUNCTIONS, "axes = [1]", "axes = [1, 1]", "axes [1, 1] of a tensor of 2 axes"),
        (FUNCTIONS, "%m: i8[2,1]", "%m: i8[1,2]", "the result has the shape [1, 2], [2] or [2, 1] follows"),
        (FUNCTIONS, "178956970", "-178956970", "a multiplier's mantissa is -178956970"),
        (
            FUNCTIONS,
            "%l: i8[2,1] q(0.00390625 : -128)",
            "%l: i8[2,1] q(0.0039 : -128)",
            "its scale is 1/256 and its zero point -128",
        ),
        (
            FUNCTIONS,
            "%t: i8[2,1] q(0.0078125 : 0)",
            "%t: i8[2,1] q(0.0078125 : 1)",
            "its scale is 1/128 and its zero point 0",
        ),
        (FUNCTIONS, "%m: i8[2,1] q(0.5 : 1)", "%m: i8[2,1]", "has no scale of its own"),
        (FUNCTIONS, "diff_min -248", "diff_min 1", "the smallest difference is 1"),
        (
            FUNCTIONS,
            "multiplier 1073741824 * 2^20",
            "multiplier 1073741824 * 2^-1",
            "a multiplier's shift is -1",
        ),
        (
            FUNCTIONS,
            "scale = (multiplier 1073741824 * 2^20, diff_min -248)",
            "scale = real",
            "i8 to i8, f32 wanted",
        ),
        (FUNCTIONS, "u8[256]", "u8[255]", "the table has the shape [255], [256] wanted"),
        (FUNCTIONS, "const %table: u8[256]", "const %table: i8[256]", "a table of i8 for u8"),
        (FUNCTIONS, "%u: u8[2,1] q(1.0 : 0)", "%u: u8[2,1]", "the operand of type u8[2,1] has no scale"),
        (FUNCTIONS, "%q: i8[2,1] q(0.5 : 0)", "%q: f32[2,1]", "the result is f32"),
        (FUNCTIONS, "clamp = 0.0..=inf", "clamp = 0..=1", "the clamp is of another kind than f32"),
    ];
    for (text, from, to, message) in cases {
        assert!(text.contains(from), "no `{from}` in {text}");
        let graph = Graph::parse(&text.replacen(from, to, 1)).unwrap();
        let violations = verify(&graph).err().unwrap_or_default();
        let said: Vec<String> = violations.iter().map(Violation::to_string).collect();
        let found =
            if message.is_empty() { said.is_empty() } else { said.iter().any(|v| v.contains(message)) };
        assert!(found, "`{from}` → `{to}`: wanted `{message}`, got {said:#?}");
    }
}

/// References that the textual form cannot even say.
#[test]
fn dangling_references_are_reported() {
    let graph = Graph::parse(STATE).unwrap();
    type Break = fn(&mut Graph);
    let cases: &[(Break, &str)] = &[
        (|g| g.inputs.push(ValueId(99)), "input %99: does not exist"),
        (|g| g.inputs.push(ValueId(0)), "input %0: is listed twice"),
        (|g| g.inputs.push(ValueId(1)), "input %1: is defined as a state"),
        (|g| g.inputs.clear(), "%0: is defined as an input, but not listed"),
        (|g| g.states.clear(), "%1: is defined as a state, but not listed"),
        (|g| g.order.push(NodeId(99)), "node 99 in the evaluation order does not exist"),
        (|g| g.order.push(NodeId(0)), "%2 = add: is evaluated twice"),
        (|g| g.order.clear(), "state %1: its next value %2 is never defined"),
        (|g| g.outputs.push(ValueId(99)), "output %99: is never defined"),
        (|g| g.states[0].next = ValueId(99), "its next value %99 is never defined"),
        (|g| g.node_mut(NodeId(0)).operands[0] = ValueId(99), "uses %99 before it is defined"),
        (|g| g.node_mut(NodeId(0)).result = ValueId(99), "the result %99 of node 0 does not exist"),
        (|g| g.node_mut(NodeId(0)).result = ValueId(0), "its result is defined as an input"),
    ];
    for (break_it, message) in cases {
        let mut broken = graph.clone();
        break_it(&mut broken);
        let said: Vec<String> = verify(&broken).unwrap_err().iter().map(Violation::to_string).collect();
        assert!(said.iter().any(|v| v.contains(message)), "wanted `{message}`, got {said:#?}");
        let _ = broken.to_string();
    }
}

#[test]
fn all_violations_are_reported_at_once() {
    let mut graph = Graph::new("three");
    let x = graph.add_input("x", Type::plain(DType::F32, &[2]));
    let c = graph.add_const("c", Type::plain(DType::F32, &[2]), Data::from_f32(&[1.0]));
    let y = graph.add_node(Op::Reshape {}, &[x], "y", Type::plain(DType::F32, &[3]), "0 RESHAPE");
    let z = graph.add_node(Op::Tanh {}, &[c], "z", Type::plain(DType::I8, &[2]), "1 TANH");
    graph.outputs = vec![y, z];
    let violations = verify(&graph).unwrap_err();
    let places: Vec<&str> = violations.iter().map(|v| v.place.as_str()).collect();
    assert_eq!(places, ["const %1 \"c\"", "%2 \"y\" = reshape (0 RESHAPE)", "%3 \"z\" = tanh (1 TANH)"]);
}
