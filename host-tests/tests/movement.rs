//! Operators that move, choose, compare and reduce elements, of every element type: generated code against the interpreter, on this machine and on a core without
//! a floating-point unit.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use kiln_codegen::ir::{Binary, Comparison, DType, Data, Graph, Reduction, Type};
use kiln_host_tests::assert_generated_as_interpreted;

/// A graph in text that grows line by line.
struct Draft {
    text: String,
    results: Vec<String>,
}

impl Draft {
    fn input(&mut self, name: &str, ty: &str) {
        self.text += &format!("input %{name}: {ty}\n");
    }

    fn result(&mut self, name: &str, ty: &str, op: &str) {
        self.text += &format!("%{name}: {ty} = {op}\n");
        self.results.push(format!("%{name}"));
    }

    fn parse(self) -> Graph {
        let Draft { text, results } = self;
        Graph::parse(&format!("graph \"movement\" {{\n{text} return {}\n}}", results.join(", "))).unwrap()
    }
}

fn draft() -> Draft {
    let mut draft = Draft { text: String::new(), results: Vec::new() };
    draft.input("i", "i32[2,2]");
    draft.input("j", "i64[2,3,1]");
    draft.input("v", "i8[2,3,4] q(0.05 : 3)");
    draft.input("w", "i8[4] q(0.075 : -1)");
    for dtype in DType::ALL {
        let t = dtype.name();
        for (name, dims) in [("x", "2,3,4"), ("y", "3,1"), ("z", "2,3,4")] {
            draft.input(&format!("{name}_{t}"), &format!("{t}[{dims}]"));
        }
    }
    draft
}

/// Is arithmetic on plain numbers of that type defined?
fn is_arithmetic(dtype: DType) -> bool {
    matches!(dtype, DType::F32 | DType::I32 | DType::I64)
}

/// Parts, repetitions and choices, which only move elements, and changes of type.
fn moving() -> Graph {
    let mut draft = draft();
    for dtype in DType::ALL {
        let t = dtype.name();
        let image = format!("{t}[2,3,4]");
        draft.result(&format!("c_{t}"), &image, &format!("select(%x_bool, %x_{t}, %y_{t})"));
        draft.result(&format!("s_{t}"), &image, &format!("select(%y_bool, %y_{t}, %z_{t})"));
        draft.result(&format!("b_{t}"), &format!("{t}[2,2,3,5]"), &format!("broadcast(%y_{t})"));
        let op = format!("gather(%x_{t}, %i) {{batch = 0, axis = 0, depth = 2}}");
        draft.result(&format!("g_{t}"), &format!("{t}[2,4]"), &op);
        let op = format!("gather(%x_{t}, %j) {{batch = 1, axis = 2, depth = 1}}");
        draft.result(&format!("h_{t}"), &format!("{t}[2,3,3]"), &op);
        for to in DType::ALL {
            let to = to.name();
            draft.result(&format!("t_{t}_{to}"), &format!("{to}[2,3,4]"), &format!("cast(%x_{t})"));
        }
    }
    draft.parse()
}

/// Comparisons, reductions and arithmetic on plain integers.
fn computing() -> Graph {
    let mut draft = draft();
    for dtype in DType::ALL {
        let t = dtype.name();
        let image = format!("{t}[2,3,4]");
        for function in Comparison::ALL {
            let name = function.name();
            let op = format!("compare(%x_{t}, %y_{t}) {{function = {name}, rescale = stored}}");
            draft.result(&format!("q_{t}_{name}"), "bool[2,3,4]", &op);
        }
        for function in Reduction::ALL {
            if !is_arithmetic(dtype) && matches!(function, Reduction::Sum | Reduction::Product) {
                continue;
            }
            let name = function.name();
            for (k, (axes, dims)) in [("1", "2,4"), ("0, 2", "3"), ("0, 1, 2", "1,1,1")].iter().enumerate() {
                let op = format!("reduce(%x_{t}) {{function = {name}, axes = [{axes}], rescale = real}}");
                draft.result(&format!("r_{t}_{name}_{k}"), &format!("{t}[{dims}]"), &op);
            }
        }
        for (axis, largest, to, dims) in [(1, true, "i32", "2,4"), (2, false, "i64", "2,3")] {
            let op = format!("arg_reduce(%x_{t}) {{axis = {axis}, largest = {largest}}}");
            draft.result(&format!("a_{t}_{axis}"), &format!("{to}[{dims}]"), &op);
        }
        if dtype != DType::Bool {
            draft.result(&format!("k_{t}"), "i32[2,3,3]", &format!("top_k(%x_{t})"));
        }
        for (k, (exclusive, reverse)) in
            [(false, false), (true, false), (false, true), (true, true)].iter().enumerate()
        {
            if is_arithmetic(dtype) {
                let op = format!("cumsum(%x_{t}) {{axis = 1, exclusive = {exclusive}, reverse = {reverse}}}");
                draft.result(&format!("u_{t}_{k}"), &image, &op);
            }
        }
        if matches!(dtype, DType::I32 | DType::I64) {
            for op in ["add", "sub", "mul"] {
                let clamp = "clamp = -2147483648..=2147483647";
                let call = format!("{op}(%x_{t}, %y_{t}) {{rescale = real, {clamp}}}");
                draft.result(&format!("p_{t}_{op}"), &image, &call);
            }
            for function in Binary::ALL.iter().filter(|function| function.of_integers()) {
                let name = function.name();
                let op = format!(
                    "binary(%x_{t}, %y_{t}) {{function = {name}, rescale = real, clamp = -100..=2147483647}}"
                );
                draft.result(&format!("o_{t}_{name}"), &image, &op);
            }
        }
    }
    for function in Comparison::ALL {
        let name = function.name();
        let rescale = "(left_shift 8, x 1717986918 * 2^-4, y 1288490188 * 2^-3)";
        let op = format!("compare(%v, %w) {{function = {name}, rescale = {rescale}}}");
        draft.result(&format!("q_{name}"), "bool[2,3,4]", &op);
    }
    let op = "reduce(%v) {function = sum, axes = [0, 1], rescale = [1073741824 * 2^0]}";
    draft.result("sum", "i8[4] q(0.1 : -2)", op);
    let op = "reduce(%v) {function = product, axes = [1], rescale = [1503238554 * 2^-1]}";
    draft.result("product", "i8[2,4] q(0.1 : -2)", op);
    draft.parse()
}

/// Products of matrices, rows normalised, images of another size: floats, and integers of several scales.
fn rows_and_images() -> Graph {
    let mut draft = draft();
    draft.input("a", "f32[1,3,5,2]");
    draft.input("b", "i8[2,3,5,2] q(0.05 : 3)");
    draft.input("m", "f32[3,2,4]");
    draft.input("m1", "f32[4,4]");
    draft.input("n", "i8[1,7,4] q(0.5 : 5)");
    draft.result("mf", "f32[2,3,3]", "matmul(%x_f32, %z_f32) {rescale = real, clamp = -50.0..=inf}");
    draft.result("mg", "f32[3,2,4]", "matmul(%m, %m1) {rescale = real, clamp = -inf..=inf}");
    draft.result(
        "mi",
        "i8[2,3,7] q(0.3 : -4)",
        "matmul(%v, %n) {rescale = [1431655765 * 2^-3], clamp = -100..=127}",
    );
    draft.result("lf", "f32[2,3,4]", "log_softmax(%x_f32) {scale = real, divisor = real}");
    let op = "log_softmax(%v) {scale = (multiplier 1717986918 * 2^22, diff_min -495), divisor = [1342177280 * 2^-21]}";
    draft.result("li", "i8[2,3,4] q(0.0625 : 127)", op);
    draft.result("nf", "f32[2,3,4]", "l2_normalize(%x_f32)");
    draft.result("ni", "i8[2,3,4] q(0.0078125 : 0)", "l2_normalize(%v)");
    draft.input("s", "u8[2,3,4] q(0.05 : 131)");
    draft.input("u", "u8[2,3,5,2] q(0.05 : 131)");
    draft.result("nu", "u8[2,3,4] q(0.0078125 : 128)", "l2_normalize(%s)");
    let op = "local_normalize(%m) {radius = 2, bias = 1.5, alpha = 0.25, beta = 0.75}";
    draft.result("nl", "f32[3,2,4]", op);
    for (k, (corners, half)) in [(false, false), (true, false), (false, true)].iter().enumerate() {
        for (size, h, w) in [("up", 7, 9), ("down", 2, 3), ("one", 1, 1)] {
            let op =
                |x: &str| format!("resize_bilinear(%{x}) {{align_corners = {corners}, half_pixel = {half}}}");
            draft.result(&format!("af_{size}_{k}"), &format!("f32[1,{h},{w},2]"), &op("a"));
            draft.result(&format!("ai_{size}_{k}"), &format!("i8[2,{h},{w},2] q(0.05 : 3)"), &op("b"));
            draft.result(&format!("au_{size}_{k}"), &format!("u8[2,{h},{w},2] q(0.05 : 131)"), &op("u"));
        }
    }
    draft.parse()
}

/// Numbers of a type, some of them equal, at its ends, or beyond those of narrower ones.
fn sample(ty: &Type, seed: usize) -> Data {
    let small = |i: usize| ((i * 7 + seed * 3) % 11) as i64 - 5;
    let each = 0..ty.shape.numel();
    match ty.dtype {
        DType::F32 => {
            let of =
                |i: usize| [small(i) as f32, small(i) as f32 * 0.75, 70_000.5, -1e20][(i + seed) % 9 % 4];
            Data::from_f32(&each.map(of).collect::<Vec<_>>())
        }
        DType::Bool => Data::new(each.map(|i| u8::from(small(i) > 0)).collect::<Vec<_>>()),
        dtype => {
            let (lo, hi) = dtype.int_range().unwrap();
            let of = |i: usize| match (i + seed) % 13 {
                0 => hi,
                1 => lo,
                2 => hi / 3,
                _ => small(i).max(lo),
            };
            let bytes = each.flat_map(|i| of(i).to_le_bytes()[..dtype.size()].to_vec());
            Data::new(bytes.collect::<Vec<_>>())
        }
    }
}

fn check(graph: Graph) {
    let inputs = graph.inputs.iter().enumerate();
    let mut case: Vec<Data> = inputs.map(|(k, &id)| sample(graph.ty(id), k)).collect();
    // Indices, of which some are outside.
    case[0] = Data::from_i32(&[1, 2, -3, 7]);
    let wide: [i64; 6] = [0, 3, i64::MAX, 2, i64::MIN, 1];
    case[1] = Data::new(wide.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<_>>());
    assert_generated_as_interpreted(&graph, &case, &["host", "qemu-cortex-m3"]);
}

#[test]
fn generated_movements_are_those_of_the_interpreter() {
    check(moving());
}

#[test]
fn generated_comparisons_and_reductions_are_those_of_the_interpreter() {
    check(computing());
}

#[test]
fn generated_products_and_images_are_those_of_the_interpreter() {
    check(rows_and_images());
}
