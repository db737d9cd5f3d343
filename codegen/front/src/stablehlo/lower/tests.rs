//! What modules become: layers that were taken apart are put together again, and hostile modules are refused.

use crate::stablehlo::reader::READER;
use kiln_interp::Machine;
use kiln_ir::options::Options;
use kiln_ir::{DType, Data, Graph, Op, Unary};

fn read(text: &str) -> Result<Graph, String> {
    let read = (READER.read)(text.as_bytes(), "test", &Options::default()).map_err(|e| e.to_string())?;
    match read.problems.first() {
        Some(problem) => Err(format!("{}: {} ({})", problem.place, problem.what, problem.help)),
        None => Ok(read.graph),
    }
}

/// The graph of a function `main` with this body.
fn main(inputs: &str, result: &str, body: &str) -> Graph {
    let text = format!("module {{\n  func.func public @main({inputs}) -> {result} {{\n{body}\n  }}\n}}\n");
    read(&text).unwrap()
}

/// The ops that outputs need.
fn ops(graph: &Graph) -> Vec<Op> {
    let mut open = graph.outputs.clone();
    let mut seen = Vec::new();
    while let Some(value) = open.pop() {
        let Some(id) = graph.producer(value) else { continue };
        if !seen.contains(&id) {
            seen.push(id);
            open.extend(&graph.node(id).operands);
        }
    }
    seen.iter().map(|&id| graph.node(id).op.clone()).collect()
}

fn floats(graph: &Graph, inputs: &[&[f32]]) -> Vec<f32> {
    let inputs: Vec<Data> = inputs.iter().map(|list| Data::from_f32(list)).collect();
    Machine::new(graph).run(&inputs).unwrap()[0].to_f32()
}

fn ints(graph: &Graph, dtype: DType, inputs: &[&[i64]]) -> Vec<i64> {
    let inputs: Vec<Data> = inputs.iter().map(|list| Data::from_ints(dtype, list.iter().copied())).collect();
    Machine::new(graph).run(&inputs).unwrap()[0].to_ints(dtype)
}

#[test]
fn softmax_is_one_op() {
    let graph = main(
        "%x: tensor<2x3xf32>",
        "tensor<2x3xf32>",
        "    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %d = stablehlo.subtract %x, %mb : tensor<2x3xf32>
    %e = stablehlo.exponential %d : tensor<2x3xf32>
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
    %y = stablehlo.divide %e, %sb : tensor<2x3xf32>
    return %y : tensor<2x3xf32>",
    );
    assert!(matches!(ops(&graph)[..], [Op::Softmax { .. }]), "{:?}", ops(&graph));
}

#[test]
fn a_mean_and_a_logistic_function_are_one_op_each() {
    let graph = main(
        "%x: tensor<2x4xf32>",
        "tensor<2xf32>",
        "    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %one = stablehlo.constant dense<1.0> : tensor<2x4xf32>
    %n = stablehlo.constant dense<4.0> : tensor<2xf32>
    %m = stablehlo.negate %x : tensor<2x4xf32>
    %e = stablehlo.exponential %m : tensor<2x4xf32>
    %p = stablehlo.add %one, %e : tensor<2x4xf32>
    %g = stablehlo.divide %one, %p : tensor<2x4xf32>
    %s = stablehlo.reduce(%g init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %y = stablehlo.divide %s, %n : tensor<2xf32>
    return %y : tensor<2xf32>",
    );
    let ops = ops(&graph);
    assert!(matches!(ops[..], [Op::Reshape {}, Op::Mean { .. }, Op::Logistic {}]), "{ops:?}");
}

#[test]
fn gelu_is_one_op() {
    let erf = |gate: &str| {
        main(
            "%x: tensor<8xf32>",
            "tensor<8xf32>",
            &format!(
                "    %half = stablehlo.constant dense<0.5> : tensor<8xf32>
    %one = stablehlo.constant dense<1.0> : tensor<8xf32>
    %c = stablehlo.constant dense<0.707106769> : tensor<8xf32>
    %h = stablehlo.multiply %half, %x : tensor<8xf32>
{gate}
    %y = stablehlo.multiply %h, %g : tensor<8xf32>
    return %y : tensor<8xf32>"
            ),
        )
    };
    let with_erf = erf("    %a = stablehlo.multiply %x, %c : tensor<8xf32>
    %e = chlo.erf %a : tensor<8xf32> -> tensor<8xf32>
    %g = stablehlo.add %one, %e : tensor<8xf32>");
    let with_erfc = erf("    %m = stablehlo.negate %x : tensor<8xf32>
    %a = stablehlo.multiply %m, %c : tensor<8xf32>
    %g = chlo.erfc %a : tensor<8xf32> -> tensor<8xf32>");
    for graph in [with_erf, with_erfc] {
        let ops = ops(&graph);
        assert!(matches!(ops[..], [Op::Unary { function: Unary::Gelu }]), "{ops:?}");
    }
    let with_other_erf = erf("    %m = stablehlo.multiply %x, %c : tensor<8xf32>
    %a = stablehlo.multiply %m, %half : tensor<8xf32>
    %e = chlo.erf %a : tensor<8xf32> -> tensor<8xf32>
    %g = stablehlo.add %one, %e : tensor<8xf32>");
    let with_branch = erf("    %a = stablehlo.multiply %x, %c : tensor<8xf32>
    %e = chlo.erf %a : tensor<8xf32> -> tensor<8xf32>
    %near = stablehlo.add %one, %e : tensor<8xf32>
    %is_near = stablehlo.compare LT, %x, %one : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %g = stablehlo.select %is_near, %near, %e : tensor<8xi1>, tensor<8xf32>");
    for graph in [with_other_erf, with_branch] {
        let has_gelu = ops(&graph).iter().any(|op| matches!(op, Op::Unary { function: Unary::Gelu }));
        assert!(!has_gelu, "{graph:?}");
    }
}

#[test]
fn hard_swish_is_one_op() {
    let graph = main(
        "%x: tensor<8xf32>",
        "tensor<8xf32>",
        "    %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
    %three = stablehlo.constant dense<3.0> : tensor<8xf32>
    %six = stablehlo.constant dense<6.0> : tensor<8xf32>
    %a = stablehlo.add %x, %three : tensor<8xf32>
    %b = stablehlo.maximum %a, %zero : tensor<8xf32>
    %c = stablehlo.minimum %b, %six : tensor<8xf32>
    %d = stablehlo.divide %c, %six : tensor<8xf32>
    %y = stablehlo.multiply %x, %d : tensor<8xf32>
    return %y : tensor<8xf32>",
    );
    let ops = ops(&graph);
    assert!(matches!(ops[..], [Op::Unary { function: Unary::HardSwish }]), "{ops:?}");
}

#[test]
fn a_mean_over_windows_is_a_pooling() {
    let graph = main(
        "%x: tensor<1x4x4x2xf32>",
        "tensor<1x2x2x2xf32>",
        "    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<4.0> : tensor<1x2x2x2xf32>
    %s = \"stablehlo.reduce_window\"(%x, %zero) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x2x2x2xf32>
    %y = stablehlo.divide %s, %n : tensor<1x2x2x2xf32>
    return %y : tensor<1x2x2x2xf32>",
    );
    let ops = ops(&graph);
    let is_movement = |op: &&Op| !matches!(op, Op::Transpose { .. });
    let layers: Vec<&Op> = ops.iter().filter(is_movement).collect();
    assert!(matches!(layers[..], [Op::AvgPool2d { .. }]), "{ops:?}");
}

#[test]
fn unsigned_numbers_keep_their_order() {
    let of_two = |operator: &str| {
        main(
            "%x: tensor<4xui32>, %y: tensor<4xui32>",
            "tensor<4xui32>",
            &format!("    %z = stablehlo.{operator} %x, %y : tensor<4xui32>\n    return %z : tensor<4xui32>"),
        )
    };
    let bits = |x: u32| i64::from(x as i32);
    let (x, y) = ([5, u32::MAX, 1 << 31, 7], [3, 2, u32::MAX, 0]);
    let given: [Vec<i64>; 2] = [x, y].map(|list| list.map(bits).to_vec());
    for (operator, function) in [
        ("maximum", u32::max as fn(u32, u32) -> u32),
        ("minimum", u32::min),
        ("divide", |x, y| x.checked_div(y).unwrap_or(u32::MAX)),
        ("remainder", |x, y| x.checked_rem(y).unwrap_or(x)),
        ("add", u32::wrapping_add),
        ("xor", |x, y| x ^ y),
        ("and", |x, y| x & y),
        ("or", |x, y| x | y),
        ("shift_left", |x, y| x.checked_shl(y).unwrap_or(0)),
        ("shift_right_logical", |x, y| x.checked_shr(y).unwrap_or(0)),
    ] {
        let result = ints(&of_two(operator), DType::I32, &[&given[0], &given[1]]);
        let expected: Vec<i64> = x.iter().zip(y).map(|(&x, y)| bits(function(x, y))).collect();
        assert_eq!(result, expected, "{operator}");
    }
}

#[test]
fn wide_unsigned_numbers_are_divided_and_shifted() {
    let of_two = |operator: &str| {
        main(
            "%x: tensor<5xui64>, %y: tensor<5xui64>",
            "tensor<5xui64>",
            &format!("    %z = stablehlo.{operator} %x, %y : tensor<5xui64>\n    return %z : tensor<5xui64>"),
        )
    };
    let (x, y) = ([5, u64::MAX, 1 << 63, u64::MAX - 1, 9], [3, 2, u64::MAX, 1 << 63, 1]);
    let given: [Vec<i64>; 2] = [x, y].map(|list| list.map(|x| x as i64).to_vec());
    for (operator, function) in [
        ("divide", (|x, y| x / y) as fn(u64, u64) -> u64),
        ("remainder", |x, y| x % y),
        ("shift_right_logical", |x, y| if y < 64 { x >> y } else { 0 }),
        ("shift_left", |x, y| if y < 64 { x << y } else { 0 }),
    ] {
        let result = ints(&of_two(operator), DType::I64, &[&given[0], &given[1]]);
        let expected: Vec<i64> = x.iter().zip(y).map(|(&x, y)| function(x, y) as i64).collect();
        assert_eq!(result, expected, "{operator}");
    }
}

#[test]
fn bits_of_floats_are_exact() {
    let there = main(
        "%x: tensor<12xf32>",
        "tensor<12xi32>",
        "    %y = stablehlo.bitcast_convert %x : (tensor<12xf32>) -> tensor<12xi32>\n    return %y : tensor<12xi32>",
    );
    let back = main(
        "%x: tensor<12xi32>",
        "tensor<12xf32>",
        "    %y = stablehlo.bitcast_convert %x : (tensor<12xi32>) -> tensor<12xf32>\n    return %y : tensor<12xf32>",
    );
    let list = [
        0.0,
        -0.0,
        1.0,
        -1.5,
        f32::MAX,
        f32::MIN_POSITIVE,
        1e-45,
        -3e-40,
        f32::INFINITY,
        f32::NEG_INFINITY,
        123_456.79,
        0.1,
    ];
    let bits: Vec<i64> = list.iter().map(|x: &f32| i64::from(x.to_bits() as i32)).collect();
    let found = Machine::new(&there).run(&[Data::from_f32(&list)]).unwrap()[0].to_ints(DType::I32);
    assert_eq!(found, bits);
    let found = Machine::new(&back).run(&[Data::from_ints(DType::I32, bits.iter().copied())]).unwrap();
    let found: Vec<u32> = found[0].to_f32().iter().map(|x| x.to_bits()).collect();
    assert_eq!(found, list.map(f32::to_bits));
}

#[test]
fn a_loop_ends_where_its_condition_says() {
    // Doubles until it is above the limit, at most four times.
    let graph = main(
        "%x: tensor<f32>",
        "(tensor<f32>, tensor<i32>)",
        "    %zero = stablehlo.constant dense<0> : tensor<i32>
    %r:2 = stablehlo.while(%v = %x, %k = %zero) : tensor<f32>, tensor<i32>
    cond {
      %most = stablehlo.constant dense<4> : tensor<i32>
      %limit = stablehlo.constant dense<10.0> : tensor<f32>
      %a = stablehlo.compare LT, %k, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %b = stablehlo.compare LT, %v, %limit, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %c = stablehlo.and %a, %b : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %w = stablehlo.add %v, %v : tensor<f32>
      %l = stablehlo.add %k, %one : tensor<i32>
      stablehlo.return %w, %l : tensor<f32>, tensor<i32>
    }
    return %r#0, %r#1 : tensor<f32>, tensor<i32>",
    );
    for (x, y) in [(20.0, 20.0), (3.0, 12.0), (9.0, 18.0), (0.25, 4.0)] {
        assert_eq!(floats(&graph, &[&[x]]), [y]);
    }
}

#[test]
fn what_has_no_end_is_refused() {
    let endless = |body: &str| {
        read(&format!(
            "module {{
  func.func public @main(%x: tensor<f32>) -> tensor<f32> {{
{body}
  }}
  func.func private @f(%x: tensor<f32>) -> tensor<f32> {{
    %y = call @f(%x) : (tensor<f32>) -> tensor<f32>
    return %y : tensor<f32>
  }}
}}"
        ))
        .unwrap_err()
    };
    let recursion =
        endless("    %y = call @f(%x) : (tensor<f32>) -> tensor<f32>\n    return %y : tensor<f32>");
    assert!(recursion.contains("nested"), "{recursion}");
    for condition in [
        "%c = stablehlo.constant dense<true> : tensor<i1>",
        "%c = stablehlo.compare EQ, %v, %v, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>",
    ] {
        let error = endless(&format!(
            "    %y = stablehlo.while(%v = %x) : tensor<f32>
    cond {{
      {condition}
      stablehlo.return %c : tensor<i1>
    }} do {{
      %w = stablehlo.add %v, %v : tensor<f32>
      stablehlo.return %w : tensor<f32>
    }}
    return %y : tensor<f32>"
        ));
        assert!(error.contains("stablehlo.while") && error.contains("passes"), "{error}");
    }
}

#[test]
fn messages_name_the_operator_and_the_way_out() {
    let error = read(
        "module {
  func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %y = stablehlo.custom_call @my.function(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}",
    )
    .unwrap_err();
    assert!(error.contains("stablehlo.custom_call") && error.contains("my.function"), "{error}");
    assert!(error.contains("line 3") && error.contains("custom_op"), "{error}");
}

#[test]
fn gatherings_of_rows_and_of_windows() {
    // Rows 2 and 0; and windows of two columns, whose starts are kept inside.
    let gather = |numbers: &str, sizes: &str, result: &str| {
        main(
            "%x: tensor<3x4xf32>, %i: tensor<2x1xf32>",
            result,
            &format!(
                "    %k = stablehlo.convert %i : (tensor<2x1xf32>) -> tensor<2x1xi32>
    %y = \"stablehlo.gather\"(%x, %k) <{{dimension_numbers = #stablehlo.gather<{numbers}, index_vector_dim = 1>, slice_sizes = array<i64: {sizes}>}}> : (tensor<3x4xf32>, tensor<2x1xi32>) -> {result}
    return %y : {result}"
            ),
        )
    };
    let x: Vec<f32> = (0..12u8).map(f32::from).collect();
    let rows = gather(
        "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0]",
        "1, 4",
        "tensor<2x4xf32>",
    );
    assert_eq!(floats(&rows, &[&x, &[2.0, 0.0]]), [8.0, 9.0, 10.0, 11.0, 0.0, 1.0, 2.0, 3.0]);
    let windows = gather("offset_dims = [0, 2], start_index_map = [1]", "3, 2", "tensor<3x2x2xf32>");
    let found = floats(&windows, &[&x, &[1.0, 9.0]]);
    assert_eq!(found, [1.0, 2.0, 2.0, 3.0, 5.0, 6.0, 6.0, 7.0, 9.0, 10.0, 10.0, 11.0]);
}

#[test]
fn a_fourier_transform_and_its_inverse() {
    let graph = main(
        "%x: tensor<2x6xf32>",
        "(tensor<2x4xf32>, tensor<2x6xf32>)",
        "    %y = stablehlo.fft %x, type = RFFT, length = [6] : (tensor<2x6xf32>) -> tensor<2x4xcomplex<f32>>
    %r = stablehlo.real %y : (tensor<2x4xcomplex<f32>>) -> tensor<2x4xf32>
    %z = stablehlo.fft %y, type = IRFFT, length = [6] : (tensor<2x4xcomplex<f32>>) -> tensor<2x6xf32>
    return %r, %z : tensor<2x4xf32>, tensor<2x6xf32>",
    );
    let x: [f32; 12] = [1.0, 2.0, 0.0, -1.0, 3.0, 5.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
    let results = Machine::new(&graph).run(&[Data::from_f32(&x)]).unwrap();
    let near = |own: Vec<f32>, wanted: &[f32]| {
        assert_eq!(own.len(), wanted.len());
        assert!(own.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5), "{own:?}, {wanted:?} expected");
    };
    // Σ x cos(2πjk / 6).
    near(results[0].to_f32(), &[10.0, 4.0, -5.0, -2.0, 3.0, 0.0, 0.0, -3.0]);
    near(results[1].to_f32(), &x);
}

#[test]
fn systems_of_equations() {
    let graph = main(
        "%a: tensor<2x2xf32>, %b: tensor<2x1xf32>",
        "tensor<2x1xf32>",
        "    %y = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    return %y : tensor<2x1xf32>",
    );
    assert_eq!(floats(&graph, &[&[2.0, 9.0, 3.0, 4.0], &[6.0, 1.0]]), [3.0, -2.0]);
    let root = main(
        "%a: tensor<2x2xf32>",
        "tensor<2x2xf32>",
        "    %y = \"stablehlo.cholesky\"(%a) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    return %y : tensor<2x2xf32>",
    );
    assert_eq!(floats(&root, &[&[4.0, 2.0, 2.0, 10.0]]), [2.0, 0.0, 1.0, 3.0]);
}
