//! Texts in both forms, with constants and types of all kinds, and damaged ones.

use super::*;
use crate::stablehlo::module::{Attribute, Dense, Element};
use crate::stablehlo::testing::{canonical, check, damage, files};

/// Operations with a pretty form of their own, …
const PRETTY: &str = r#"
// A comment.
#loc1 = loc("x")
!alias = tensor<2x3xf32>
module @net attributes {mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: !alias {mhlo.sharding = "{replicated}"} loc("x"), %arg1: tensor<i32>, %arg2: tensor<1x8x8x3xf32>, %arg3: tensor<3x3x3x4xf32>) -> (tensor<2xf32> {jax.result_info = "a[0]"}, tensor<i32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [1] : (!alias, tensor<f32>) -> tensor<2xf32>
    %c = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%0 init: %cst), (%c init: %c_0) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
     reducer(%arg4: tensor<f32> loc("a"), %arg5: tensor<f32>) (%arg6: tensor<i32>, %arg7: tensor<i32>)  {
      %20 = stablehlo.compare  GE, %arg4, %arg5,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %21 = stablehlo.select %20, %arg4, %arg5 : tensor<i1>, tensor<f32>
      %22 = stablehlo.select %20, %arg6, %arg7 : tensor<i1>, tensor<i32>
      stablehlo.return %21, %22 : tensor<f32>, tensor<i32>
    }
    %2:2 = stablehlo.while(%iterArg = %1#0, %iterArg_0 = %arg1) : tensor<f32>, tensor<i32> attributes {mine}
    cond {
      %20 = stablehlo.compare LT, %iterArg_0, %c_0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %20 : tensor<i1>
    } do {
      %20 = func.call @step(%iterArg) : (tensor<f32>) -> tensor<f32>
      stablehlo.return %20, %iterArg_0 : tensor<f32>, tensor<i32>
    }
    %3 = stablehlo.convolution(%arg2, %arg3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 0], [-1, 2]], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x5x4xf32>
    %4 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGH] : (!alias, !alias) -> tensor<2xf32>
    %5 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (!alias, !alias) -> tensor<2x2xf32>
    %6 = stablehlo.pad %arg0, %cst, low = [0, 1], high = [-1, 0], interior = [0, 2] : (!alias, tensor<f32>) -> tensor<1x8xf32>
    %7 = stablehlo.slice %6 [0:1, 1:8:3] : (tensor<1x8xf32>) -> tensor<1x3xf32>
    %8 = stablehlo.transpose %7, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x1xf32>
    %9 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %10 = stablehlo.iota dim = 0 : tensor<3xi32>
    %11 = stablehlo.concatenate %9, %10, dim = 0 : (tensor<3xi32>, tensor<3xi32>) -> tensor<6xi32>
    %12 = stablehlo.reverse %11, dims = [0] : tensor<6xi32>
    %13 = stablehlo.dynamic_slice %12, %arg1, sizes = [2] : (tensor<6xi32>, tensor<i32>) -> tensor<2xi32>
    %14 = stablehlo.custom_call @"my-target"(%13) {api_version = 1 : i32, backend_config = "a\22b\\\0A", operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xi32>) -> tensor<2xi32>
    %15 = stablehlo.composite "my.op" %14 {composite_attributes = {k = 0x7FC00000 : f32, n = 2.5 : f64}, decomposition = @step, version = 1 : i32} : (tensor<2xi32>) -> tensor<2xi32>
    %values, %indices = chlo.top_k(%0, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
    %16 = stablehlo.reduce_precision %0, format = e5m10 : tensor<2xf32>
    %17 = stablehlo.tuple %16, %15 : tuple<tensor<2xf32>, tensor<2xi32>>
    %18 = stablehlo.get_tuple_element %17[0] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xf32>
    %19:2 = stablehlo.optimization_barrier %18, %1#1 : tensor<2xf32>, tensor<i32>
    return %19#0, %19#1 : tensor<2xf32>, tensor<i32> loc(#loc1)
  } loc(#loc1)
  func.func private @step(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = chlo.erf %arg0 : tensor<f32> -> tensor<f32>
    %1 = stablehlo.exponential %0 {result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>} : tensor<f32>
    %2 = stablehlo.clamp %0, %1, %0 : tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @outside(tensor<f32>) -> tensor<f32>
} loc(#loc1)
"#;

/// … and the same in the generic form.
const GENERIC: &str = r#"
#map = {k = 0x7FC00000 : f32, n = 2.5 : f64}
"builtin.module"() <{sym_name = "net"}> ({
  "func.func"() <{arg_attrs = [{mhlo.sharding = "{replicated}"}, {}, {}, {}], function_type = (tensor<2x3xf32>, tensor<i32>, tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> (tensor<2xf32>, tensor<i32>), res_attrs = [{jax.result_info = "a[0]"}, {}], sym_name = "main", sym_visibility = "public"}> ({
  ^bb0(%arg0: tensor<2x3xf32> loc("x"), %arg1: tensor<i32>, %arg2: tensor<1x8x8x3xf32>, %arg3: tensor<3x3x3x4xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.0> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%s) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %2 = "stablehlo.constant"() <{value = dense<[1, -2]> : tensor<2xi32>}> : () -> tensor<2xi32>
    %3 = "stablehlo.constant"() {value = dense<0> : tensor<i32>} : () -> tensor<i32>
    %4:2 = "stablehlo.reduce"(%1, %2, %0, %3) ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
      %p = "stablehlo.compare"(%a, %c) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = "stablehlo.select"(%p, %a, %c) : (tensor<i1>, tensor<f32>, tensor<f32>) -> tensor<f32>
      %r = "stablehlo.select"(%p, %b, %d) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
      "stablehlo.return"(%q, %r) : (tensor<f32>, tensor<i32>) -> ()
    }) {dimensions = dense<0> : tensor<1xi64>} : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    %5:2 = "stablehlo.while"(%4#0, %arg1) ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>):
      %p = "stablehlo.compare"(%b, %3) <{comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<i32>, tensor<i32>) -> tensor<i1>
      "stablehlo.return"(%p) : (tensor<i1>) -> ()
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<i32>):
      %p = "func.call"(%a) <{callee = @step}> : (tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%p, %b) : (tensor<f32>, tensor<i32>) -> ()
    }) {mine} : (tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
    %6 = "stablehlo.convolution"(%arg2, %arg3) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0]>, feature_group_count = 1 : i64, padding = dense<[[1, 0], [-1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 1, 2>, window_reversal = array<i1: false, true>, window_strides = array<i64: 2, 1>}> : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x5x4xf32>
    %7 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %8 = "stablehlo.dot_general"(%arg0, %arg0) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
    %9 = "stablehlo.pad"(%arg0, %0) <{edge_padding_high = array<i64: -1, 0>, edge_padding_low = array<i64: 0, 1>, interior_padding = array<i64: 0, 2>}> : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x8xf32>
    %10 = "stablehlo.slice"(%9) <{limit_indices = array<i64: 1, 8>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 3>}> : (tensor<1x8xf32>) -> tensor<1x3xf32>
    %11 = "stablehlo.transpose"(%10) <{permutation = array<i64: 1, 0>}> : (tensor<1x3xf32>) -> tensor<3x1xf32>
    %12 = "stablehlo.broadcast_in_dim"(%arg1) <{broadcast_dimensions = array<i64>}> : (tensor<i32>) -> tensor<3xi32>
    %13 = "stablehlo.iota"() <{iota_dimension = 0 : i64}> : () -> tensor<3xi32>
    %14 = "stablehlo.concatenate"(%12, %13) <{dimension = 0 : i64}> : (tensor<3xi32>, tensor<3xi32>) -> tensor<6xi32>
    %15 = "stablehlo.reverse"(%14) <{dimensions = array<i64: 0>}> : (tensor<6xi32>) -> tensor<6xi32>
    %16 = "stablehlo.dynamic_slice"(%15, %arg1) <{slice_sizes = array<i64: 2>}> : (tensor<6xi32>, tensor<i32>) -> tensor<2xi32>
    %17 = "stablehlo.custom_call"(%16) <{api_version = 1 : i32, backend_config = "a\22b\\\0A", call_target_name = "my-target", operand_layouts = [dense<0> : tensor<1xindex>]}> : (tensor<2xi32>) -> tensor<2xi32>
    %18 = "stablehlo.composite"(%17) <{composite_attributes = #map, decomposition = @step, name = "my.op", version = 1 : i32}> : (tensor<2xi32>) -> tensor<2xi32>
    %19:2 = "chlo.top_k"(%1) <{k = 1 : i64}> : (tensor<2xf32>) -> (tensor<1xf32>, tensor<1xi32>)
    %20 = "stablehlo.reduce_precision"(%1) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<2xf32>) -> tensor<2xf32>
    %21 = "stablehlo.tuple"(%20, %18) : (tensor<2xf32>, tensor<2xi32>) -> tuple<tensor<2xf32>, tensor<2xi32>>
    %22 = "stablehlo.get_tuple_element"(%21) <{index = 0 : i32}> : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xf32>
    %23:2 = "stablehlo.optimization_barrier"(%22, %4#1) : (tensor<2xf32>, tensor<i32>) -> (tensor<2xf32>, tensor<i32>)
    "func.return"(%23#0, %23#1) : (tensor<2xf32>, tensor<i32>) -> ()
  }) : () -> ()
  "func.func"() ({
  ^bb0(%arg0: tensor<f32>):
    %0 = "chlo.erf"(%arg0) : (tensor<f32>) -> tensor<f32>
    %1 = "mhlo.exponential"(%0) <{result_accuracy = #stablehlo.result_accuracy<mode = #stablehlo.result_accuracy_mode<HIGHEST>>}> : (tensor<f32>) -> tensor<f32>
    %2 = "stablehlo.clamp"(%0, %1, %0) : (tensor<f32>, tensor<f32>, tensor<f32>) -> tensor<f32>
    "func.return"(%2) : (tensor<f32>) -> ()
  }) {function_type = (tensor<f32>) -> tensor<f32>, sym_name = "step", sym_visibility = "private"} : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "outside", sym_visibility = "private"}> ({
  }) : () -> ()
}) {mhlo.num_replicas = 1 : i32} : () -> ()
"#;

fn module(text: &str) -> Module<'_> {
    read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn refused(text: &str) -> String {
    read(text.as_bytes()).map(|module| canonical(&module)).unwrap_err().to_string()
}

/// A function with this text in it, which gives nothing.
fn body(inside: &str) -> String {
    format!("func.func @main(%x: tensor<2xf32>) {{\n  {inside}\n  return\n}}\n")
}

/// The value of the constant that is the only operation of a function.
fn constant(text: &str) -> Dense<'static> {
    let text = body(&format!("%c = stablehlo.constant {text}"));
    let module = module(&text);
    match module.functions[0].body.operations[0].attributes.get("value") {
        Some(Attribute::Dense(Dense { ty, bytes, splat })) => {
            Dense { ty: ty.clone(), bytes: bytes.to_vec().into(), splat: *splat }
        }
        other => panic!("{other:?}"),
    }
}

fn assert_same(first: &str, second: &str) {
    for (first, second) in first.lines().zip(second.lines()) {
        assert_eq!(first, second);
    }
    assert_eq!(first.lines().count(), second.lines().count());
}

#[test]
fn both_forms_are_the_same_module() {
    assert_same(&canonical(&module(PRETTY)), &canonical(&module(GENERIC)));
    assert_eq!((module(PRETTY).name, module(GENERIC).name), ("net".into(), "net".into()));
}

#[test]
fn files_in_both_forms_are_the_same_modules() {
    for generic in files("frameworks/jax", ".generic.mlir") {
        let pretty = generic.to_string_lossy().replace(".generic.", ".");
        let [generic, pretty] = [generic, pretty.into()].map(|path| std::fs::read_to_string(path).unwrap());
        assert_same(&canonical(&module(&generic)), &canonical(&module(&pretty)));
    }
}

#[test]
fn files_of_the_specification_are_read() {
    for path in files("stablehlo", ".mlir") {
        let bytes = std::fs::read(&path).unwrap();
        assert!(is_stablehlo_text(&bytes), "{}", path.display());
        read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    }
}

#[test]
fn constants_of_all_kinds() {
    let bytes = |text: &str| {
        let dense = constant(text);
        (dense.bytes.into_owned(), dense.splat)
    };
    assert_eq!(bytes("dense<[[1, -2], [3, 0x7F]]> : tensor<2x2xi8>"), (vec![1, 254, 3, 127], false));
    assert_eq!(bytes("dense<7> : tensor<1000x1000xui16>"), (vec![7, 0], true));
    assert_eq!(bytes("dense<[-8, 7]> : tensor<2xi4>"), (vec![248, 7], false));
    assert_eq!(bytes("dense<[true, false]> : tensor<2xi1>"), (vec![1, 0], false));
    assert_eq!(bytes("dense<\"0x0102FF7F\"> : tensor<2xi16>"), (vec![1, 2, 255, 127], false));
    assert_eq!(bytes("dense<\"0x0500\"> : tensor<200xi16>"), (vec![5, 0], true));
    // Truth values in a byte each, eight in a byte, and one for all.
    assert_eq!(bytes("dense<\"0x0100FF\"> : tensor<3xi1>"), (vec![1, 0, 1], false));
    assert_eq!(bytes("dense<\"0x8101\"> : tensor<9xi1>"), (vec![1, 0, 0, 0, 0, 0, 0, 1, 1], false));
    assert_eq!(bytes("dense<\"0xFF\"> : tensor<9xi1>"), (vec![1], true));
    assert_eq!(bytes("dense<\"0x05\"> : tensor<4xi1>"), (vec![1, 0, 1, 0], false));
    assert_eq!(bytes("dense<\"0x01\"> : tensor<4xi1>"), (vec![1], true));
    assert_eq!(bytes("dense<> : tensor<0x3xf32>"), (vec![], false));
    assert_eq!(bytes("dense<1.5> : tensor<f16>"), (vec![0, 0x3e], true));
    assert_eq!(bytes("dense<0xFF80> : tensor<bf16>"), (vec![0x80, 0xff], true));
    assert_eq!(bytes("dense<[1.0, 0xFF800000]> : tensor<2xf32>").0, [0, 0, 128, 63, 0, 0, 128, 255]);
    assert_eq!(bytes("dense<-1.0e-1> : tensor<f64>").0, (-0.1f64).to_le_bytes());
    assert_eq!(bytes("dense<(1.0, -2.0)> : tensor<complex<f32>>").0, [0, 0, 128, 63, 0, 0, 0, 192]);
    assert_eq!(bytes("dense<18446744073709551615> : tensor<ui64>").0, [255; 8]);
    assert_eq!(constant("dense<3> : tensor<2x!quant.uniform<i8:f32, 0.5:1>>").bytes[..], [3]);
}

#[test]
fn constants_that_contradict_their_type() {
    for (text, what) in [
        ("dense<[1, 2, 3]> : tensor<2xi8>", "column 33: a list of 3 elements is not what the type says"),
        ("dense<[[1, 2]]> : tensor<2xi8>", "a number is wanted"),
        ("dense<[1, 2]> : tensor<2x1xi8>", "\"[\" is wanted"),
        ("dense<[1, 200]> : tensor<2xi8>", "200 is no element"),
        ("dense<true> : tensor<i32>", "true is no element"),
        ("dense<\"0x01\"> : tensor<2xi16>", "1 bytes are not the elements"),
        ("dense<\"0x012\"> : tensor<i8>", "no pairs of hexadecimal digits"),
        ("dense<\"12\"> : tensor<i8>", "begin with 0x"),
        ("dense<1> : tensor<?xi8>", ""),
        ("dense<[1]> : tensor<?xi8>", "not what the type says"),
        ("dense<0x1FFFF> : tensor<f16>", "no element"),
        ("dense<1.0> : tensor<f8E4M3FN>", "constants with elements of f8E4M3FN are not read"),
        ("dense<1> : i32x", "constants with elements of i32x are not read"),
        ("dense_resource<weights> : tensor<2xi8>", "the resource weights is not in the text"),
        ("dense_resource<__elided__> : tensor<2xi8>", "left out"),
        ("sparse<[[0]], 1> : tensor<2xi8>", "sparse"),
    ] {
        match what {
            "" => drop(constant(text)),
            _ => {
                let message = refused(&body(&format!("%c = stablehlo.constant {text}")));
                assert!(message.contains("line 2, column") && message.contains(what), "{text}: {message}");
            }
        }
    }
}

#[test]
fn resources_stand_at_the_end() {
    let text = body("%c = stablehlo.constant dense_resource<w> : tensor<2xi16>")
        + "{-#\n  dialect_resources: {\n    builtin: {\n      v: \"0x04000000FF\",\n      w: \"0x0400000001000200\"\n    }\n  }\n#-}\n";
    let module = module(&text);
    let Some(Attribute::Dense(dense)) = module.functions[0].body.operations[0].attributes.get("value") else {
        panic!("no constant");
    };
    assert_eq!(dense.bytes[..], [1, 0, 2, 0]);
}

#[test]
fn types_of_quantised_numbers() {
    let element = |ty: &str| {
        let text = format!("func.func private @f(tensor<4x2x{ty}>)\n");
        match read(text.as_bytes()).map(|module| module.functions[0].types[0].clone()) {
            Ok(Type::Tensor(tensor)) => Ok(tensor.element),
            Ok(other) => panic!("{other:?}"),
            Err(error) => Err(error.to_string()),
        }
    };
    let Ok(Element::Quantised(all)) = element("!quant.uniform<i8:f32, 3.4E-2:-12>") else { panic!() };
    assert_eq!(
        (all.storage, all.range, all.expressed),
        (Element::Signed(8), (-128, 127), Element::Float(32))
    );
    assert_eq!((all.dimension, all.scales), (None, vec![(0.034, -12)]));
    let Ok(Element::Quantised(each)) = element("!quant.uniform<u8<1:255>:f32:1, {0.5:3, 2.0}>") else {
        panic!()
    };
    assert_eq!((each.storage, each.range), (Element::Unsigned(8), (1, 255)));
    assert_eq!((each.dimension, each.scales), (Some(1), vec![(0.5, 3), (2.0, 0)]));
    for (ty, what) in [
        ("!quant.uniform<f32:f32, 0.5>", "stored in integers"),
        ("!quant.uniform<i8<-200:3>:f32, 0.5>", "outside of their storage"),
        ("!quant.uniform<i8:f32:{0:1}, {{0.5}}>", "by blocks"),
        ("!quant.uniform<i8:f32, x>", "a number is wanted"),
    ] {
        let message = element(ty).unwrap_err();
        assert!(message.contains(what), "{ty}: {message}");
    }
}

#[test]
fn types_and_attributes_that_nobody_looks_at() {
    let text = r#"
    module attributes {a = #sdy.mesh<["x"=2]>, b = affine_map<(d0) -> (d0 + 1)>, c = [1 : i8, 2.0 : f32, unit], d = array<f32: 1.0>, e = !tf.x<"y">, f = i32, "g h" = @a::@b, h = true} {
      sdy.mesh @mesh = <["x"=2]>
      func.func @main(%arg0: tensor<?x3xf32, #stablehlo.bounds<3, ?>>, %arg1: !stablehlo.token, %arg2: index) -> (tensor<?x3xf32>, !stablehlo.token) attributes {x = dense<[[1, 2]]> : tensor<1x2xi64>} {
        return %arg0, %arg1 : tensor<?x3xf32>, !stablehlo.token
      }
    }"#;
    let module = module(text);
    let function = &module.functions[0];
    assert!(function.public);
    assert_eq!(function.types[1], Type::Token);
    let Type::Tensor(tensor) = &function.types[0] else { panic!() };
    assert_eq!(tensor.shape, [None, Some(3)]);
}

#[test]
fn places_are_what_a_person_knows() {
    let place = |location: &str| {
        let text = body(&format!("\n  %0 = stablehlo.abs %x : tensor<2xf32> {location}"))
            + "#loc = loc(unknown)\n#loc1 = loc(\"f.py\":3:6 to :12)\n#loc2 = loc(\"jit(f)/abs\"(#loc1))\n#loc3 = loc(callsite(#loc1 at #loc2))\n#loc4 = loc(fused<\"m\">[#loc, #loc1, \"named\"])\n#loc6 = loc(fused[#loc1, #loc])\n";
        read(text.as_bytes()).map(|module| module.functions[0].body.operations[0].place.clone().into_owned())
    };
    for (location, expected) in [
        ("", "line 3"),
        ("loc(#loc)", "line 3"),
        ("loc(unknown)", "line 3"),
        ("loc(#loc1)", "f.py:3:6"),
        ("loc(#loc2)", "jit(f)/abs"),
        ("loc(#loc3)", "jit(f)/abs"),
        ("loc(#loc4)", "named"),
        ("loc(#loc6)", "f.py:3:6"),
        ("loc(\"here\"(\"f.py\":1:2))", "here"),
    ] {
        assert_eq!(place(location).unwrap(), expected, "{location}");
    }
    assert!(place("loc(#loc7)")
        .unwrap_err()
        .to_string()
        .contains("line 3, column 45: the location #loc7 is not"));
    // A location that is itself, and one behind many others.
    let mut text = body("%0 = stablehlo.abs %x : tensor<2xf32> loc(#a)")
        + "#a = loc(callsite(#b at #l0))\n#b = loc(#a)\n";
    for index in 0..1000 {
        text += &format!("#l{index} = loc(callsite(#l{} at #b))\n", index + 1);
    }
    text += "#l1000 = loc(unknown)\n";
    assert_eq!(module(&text).functions[0].body.operations[0].place, "line 2");
}

#[test]
fn errors_name_line_and_column() {
    for (inside, what) in [
        ("%0 = stablehlo.abs %y : tensor<2xf32>", "line 2, column 22: %y is not defined here"),
        ("%0 = stablehlo.abs %x : tensor<3xf32>", "line 2, column 27: operand 0 has another type"),
        ("%0 = stablehlo.abs %x#1 : tensor<2xf32>", "column 22: %x has no result 1"),
        ("%0 = stablehlo.abs %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "2 types are said of 1 operands"),
        ("%0:2 = stablehlo.abs %x : tensor<2xf32>", "stablehlo.abs has 1 results, but other ones are named"),
        ("%x = stablehlo.abs %x : tensor<2xf32>", "%x is defined twice"),
        ("%0 = stablehlo.abs %x, dims : tensor<2xf32>", "dims says nothing here"),
        ("%0 = tosa.abs %x : tensor<2xf32>", "column 8: tosa.abs is no operation of StableHLO"),
        ("%0 = abs %x : tensor<2xf32>", "abs is no operation"),
        ("%0 = stablehlo.abs %x", "line 3, column 3: \":\" is wanted here"),
        ("cf.br ^bb1", "cf.br is no operation"),
        ("\"cf.br\"()[^bb1] : () -> ()", "jumps to another block"),
        ("return\n  ^bb1:", "line 3, column 3: a region has several blocks"),
        ("%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 0, f]x[0, i, i]->[b, 0, f] : () -> ()", "i is no dimension of a convolution here"),
        ("%0 = stablehlo.convolution(%x, %x) dim_numbers = [b, 1, f]x[0, i, o]->[b, 0, f] : () -> ()", "not complete"),
        ("%0 = stablehlo.abs %x {a = #undefined} : tensor<2xf32>", "the attribute #undefined is not defined"),
        ("%0 = stablehlo.abs %x : !undefined", "the type !undefined is not defined"),
        ("%0 = stablehlo.abs %x {a = \"no end} : tensor<2xf32>", "a text has no end"),
        ("%0 = stablehlo.abs %x : tensor<*xf32>", "rank is not known"),
        ("%0 = stablehlo.abs %x : tensor<99999999999999999999xf32>", "does not fit 64 bits"),
        ("%0 = stablehlo.reduce(%x init: %x) applies add across dimensions = [0] : (tensor<2xf32>, tensor<2xf32>) -> tensor<f32>", "the name of an operation is wanted"),
    ] {
        let message = refused(&body(inside));
        assert!(message.contains(what), "{inside}: {message}");
    }
    for (text, what) in [
        ("", "line 1, column 1: the module has no function"),
        ("module {\n  module {\n  }\n}", "line 2, column 3: a module is inside of another"),
        ("module {\n  func.func @f() {\n    return\n  }\n}\nmodule {}", "several modules"),
        ("func.func @f() {\n  return\n}\nfunc.func @f() {\n  return\n}", "the function f is defined twice"),
        ("func.func @f() -> tensor<f32> {\n  return\n}", "returns other types"),
        ("func.func @f() {\n}", "does not end in return"),
        ("func.func @f(tensor<f32>) {\n  return\n}", "has no name"),
        ("\u{e9}\n  \u{e9}", "line 1, column 1: a function is wanted"),
        ("func.func @f() attributes {\u{e9}\u{e9} = 1} {", "line 1, column 28"),
    ] {
        let message = refused(text);
        assert!(message.contains(what), "{text}: {message}");
    }
    let message = read(b"func.func @f\n  \xff").unwrap_err().to_string();
    assert!(message.contains("line 2, column 3: the text is not UTF-8"), "{message}");
}

#[test]
fn what_is_nested_too_deep_is_refused() {
    let deep = |open: &str, middle: &str, close: &str| {
        let text = format!("{}{middle}{}", open.repeat(100_000), close.repeat(100_000));
        refused(&body(&text))
    };
    let region = "\"stablehlo.if\"() ({ ";
    let types = format!("%0 = stablehlo.abs %x : {}", "tuple<".repeat(100_000));
    let list = format!("%0 = stablehlo.abs %x {{a = {}", "[".repeat(100_000));
    for message in
        [deep(region, "", "}) : () -> ()"), refused(&body(&types)), refused(&body(&list)), deep("<", "", ">")]
    {
        assert!(message.contains("nested deeper") || message.contains("wanted"), "{message}");
    }
}

#[test]
fn memory_and_time_are_in_proportion_to_the_text() {
    let sizes = "99999999999x99999999999";
    assert_eq!(constant(&format!("dense<1> : tensor<{sizes}xi8>")).bytes[..], [1]);
    let message = refused(&body(&format!("%c = stablehlo.constant dense<[[1]]> : tensor<{sizes}xi8>")));
    assert!(message.contains("a list of 1 elements"), "{message}");
    for (attribute, what) in [
        ("dense<1> : tensor<99999999999xi64>", "more data"),
        ("dense<1> : tensor<99999999999x99999999999xi64>", "more elements than can be"),
        ("dense<1> : tensor<?xi64>", "a size that is open"),
        ("dense<\"0x01\"> : tensor<99999999xi1>", "more data"),
    ] {
        let message = refused(&body(&format!("%0 = stablehlo.abs %x {{a = {attribute}}} : tensor<2xf32>")));
        assert!(message.contains(what), "{attribute}: {message}");
    }
    // Each alias stands for ten of the next.
    let mut text = body("%0 = stablehlo.abs %x {a = #a0} : tensor<2xf32>");
    for index in 0..12 {
        let next = format!("#a{}", index + 1);
        text += &format!("#a{index} = [{}]\n", [&*next; 10].join(", "));
    }
    let message = refused(&(text + "#a12 = 1\n"));
    assert!(message.contains("more than a text of its size") || message.contains("more data"), "{message}");
}

#[test]
fn damaged_texts_neither_panic_nor_hang() {
    let constants = body("%c = stablehlo.constant dense<[[1.0, 0x7F], [\"0x\", 3]]> : tensor<2x2xf32> loc(fused[#a, \"x\":1:2])")
        + "#a = loc(callsite(\"x\" at #b))\n#b = loc(unknown)\n{-# dialect_resources: { builtin: { v: \"0x04000000FF\" } } #-}";
    for text in [PRETTY, GENERIC, &constants] {
        damage(text, |bytes| {
            let _ = is_stablehlo_text(bytes);
            if let Ok(module) = read(bytes) {
                check(&module);
            }
        });
    }
}

#[test]
fn texts_are_recognised_by_how_they_begin() {
    for text in [
        PRETTY,
        GENERIC,
        "// RUN: x\n\n  module {",
        "module @a {",
        "module attributes {",
        "func.func @main",
        "#loc = loc(unknown)",
        "!t = tensor<f32>",
        "\"builtin.module\"() (",
    ] {
        assert!(is_stablehlo_text(text.as_bytes()), "{text}");
    }
    for text in [
        "",
        "module",
        "module.exports = {}",
        "modules {",
        "# Title",
        "#!/bin/sh",
        "// only",
        "HloModule x",
        "ML\u{ef}R",
    ] {
        assert!(!is_stablehlo_text(text.as_bytes()), "{text}");
    }
}
