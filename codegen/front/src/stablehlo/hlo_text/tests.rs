//! Texts of HLO against the same in MLIR's text, and damaged ones.

use super::*;
use crate::stablehlo::testing::{self, canonical, damage, files};
use crate::stablehlo::text;

/// Computations of all kinds, …
const HLO: &str = r#"
// A comment.
HloModule jit_f, entry_computation_layout={(f32[2,3]{1,0}, (s32[], f32[4]{0}))->(f32[2]{0}, s32[])}, is_scheduled=true

FileNames
1 "f.py"

StackFrames
1 {file_location_id=1}

%add.1 (a: f32[], b: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0)
  %b.1 = f32[] parameter(1)
  ROOT %add.2 = f32[] add(f32[] %a.1, f32[] %b.1)
}

better.1 {
  p.4 = f32[] parameter(0)
  q.4 = s32[] parameter(1)
  p.5 = f32[] parameter(2)
  q.5 = s32[] parameter(3)
  ge.1 = pred[] compare(p.4, p.5), direction=GE
  select.1 = f32[] select(ge.1, p.4, p.5)
  select.2 = s32[] select(ge.1, q.4, q.5)
  ROOT tuple.9 = (f32[], s32[]) tuple(select.1, select.2)
}

less.1 {
  l.1 = s32[] parameter(0)
  r.1 = s32[] parameter(1)
  ROOT lt.9 = pred[] compare(l.1, r.1), direction=LT, type=SIGNED
}

step.1 {
  x.9 = f32[4]{0} parameter(0)
  ROOT erf.1 = f32[4]{0} erf(x.9), metadata={op_type="erf" op_name="jit(f)/erf" source_file="f.py" source_line=3}
}

condition.1 {
  arg.1 = (s32[], (f32[4]{0}, /*index=1*/u8[])) parameter(0)
  i.1 = s32[] get-tuple-element(arg.1), index=0
  ten.1 = s32[] constant(10)
  ROOT lt.1 = pred[] compare(i.1, ten.1), direction=LT
}

body.1 {
  arg.2 = (s32[], (f32[4]{0}, u8[])) parameter(0)
  i.2 = s32[] get-tuple-element(arg.2), index=0
  pair.1 = (f32[4]{0}, u8[]) get-tuple-element(arg.2), index=1
  x.2 = f32[4]{0} get-tuple-element(pair.1), index=0
  call.1 = f32[4]{0} call(x.2), to_apply=step.1
  u.2 = u8[] get-tuple-element(pair.1), index=1
  pair.2 = (f32[4]{0}, u8[]) tuple(call.1, u.2)
  ROOT tuple.2 = (s32[], (f32[4]{0}, u8[])) tuple(i.2, pair.2)
}

then.1 {
  t.1 = f32[4]{0} parameter(0)
  ROOT neg.1 = f32[4]{0} negate(t.1)
}

else.1 {
  e.1 = f32[4]{0} parameter(0)
  ROOT copy.1 = f32[4]{0} copy(e.1)
}

ENTRY main.1 {
  x.1 = f32[2,3]{1,0} parameter(0)
  state.1 = (s32[], f32[4]{0}) parameter(1)
  zero.1 = f32[] constant(0)
  reduce.1 = f32[2]{0} reduce(x.1, zero.1), dimensions={1}, to_apply=%add.1
  index.1 = s32[2]{0} constant({1, -2})
  best.1 = (f32[], s32[]) reduce(reduce.1, index.1, zero.1, state.0), dimensions={0}, to_apply=better.1
  loop.1 = (s32[], (f32[4]{0}, u8[])) while(loop.0), condition=condition.1, body=body.1
  conv.1 = f32[1,4,5,4]{3,2,1,0} convolution(image.1, kernel.1), window={size=3x3 stride=2x1 pad=1_0x-1_2 rhs_dilate=1x2 rhs_reversal=0x1}, dim_labels=b01f_01io->bf10, operand_precision={highest,default}
  dot.1 = f32[2]{0} dot(x.1, x.1), lhs_batch_dims={0}, lhs_contracting_dims={1}, rhs_batch_dims={0}, rhs_contracting_dims={1}
  pad.1 = f32[1,8]{1,0} pad(x.1, zero.1), padding=0_-1x1_0_2
  slice.1 = f32[1,3]{1,0} slice(pad.1), slice={[0:1], [1:8:3]}
  transpose.1 = f32[3,1]{0,1} transpose(slice.1), dimensions={1,0}
  window.1 = f32[1,2]{1,0} reduce-window(x.1, zero.1), window={size=2x2 stride=1x1}, to_apply=add.1
  gather.1 = f32[1,2]{1,0} gather(x.1, index.1), offset_dims={0}, collapsed_slice_dims={1}, start_index_map={1}, index_vector_dim=1, slice_sizes={1,1}
  scatter.1 = f32[2]{0} scatter(reduce.1, index.2, reduce.1), update_window_dims={}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, unique_indices=true, to_apply=add.1
  sort.1 = (s32[2]{0}, s32[2]{0}) sort(index.1, index.1), dimensions={0}, is_stable=true, to_apply=less4.1
  top.1 = (f32[1]{0}, s32[1]{0}) topk(reduce.1), k=1, largest=true
  choice.1 = f32[4]{0} conditional(yes.1, vector.1, vector.1), true_computation=then.1, false_computation=else.1
  choice.2 = f32[4]{0} conditional(number.1, vector.1, vector.1), branch_computations={then.1, else.1}
  fusion.1 = f32[4]{0} fusion(choice.2), kind=kLoop, calls=step.1
  custom.1 = f32[4]{0} custom-call(fusion.1), literal=( s32[1]{0} {4}, pred[] 1 ), custom_call_target="my target", sharding={devices=[2,1]<=[2]}, backend_config={"a": [1, {"b": "}"}]}
  iota.1 = u32[2,3]{1,0} iota(), iota_dimension=1
  small.1 = f32[4]{0} dynamic-slice(custom.1, number.1), dynamic_slice_sizes={4}
  fft.1 = c64[3]{0} fft(small.1), fft_type=RFFT, fft_length={4}
  rng.1 = f32[4]{0} rng(zero.1, zero.1), distribution=rng_uniform
  round.1 = f32[4]{0} round-nearest-even(rng.1)
  number.2 = s32[] get-tuple-element(best.1), index=1
  ROOT tuple.1 = (f32[2]{0}, s32[]) tuple(dot.1, number.2)
}
"#;

/// The instructions that the entry needs besides, at their places.
fn hlo() -> String {
    let text = HLO.replace(
        "  best.1 =",
        "  state.0 = s32[] get-tuple-element(state.1), index=0\n  vector.1 = f32[4]{0} get-tuple-element(state.1), index=1\n  best.1 =",
    );
    let text = text.replace(
        "  loop.1 =",
        "  byte.1 = u8[] constant(7)\n  pair.9 = (f32[4]{0}, u8[]) tuple(vector.1, byte.1)\n  loop.0 = (s32[], (f32[4]{0}, u8[])) tuple(state.0, pair.9)\n  loop.1 =",
    );
    let text = text.replace(
        "  conv.1 =",
        "  image.1 = f32[1,8,8,3]{3,2,1,0} broadcast(zero.1), dimensions={}\n  kernel.1 = f32[3,3,3,4]{3,2,1,0} broadcast(zero.1), dimensions={}\n  conv.1 =",
    );
    let text = text.replace("  scatter.1 =", "  index.2 = s32[2,1]{1,0} reshape(index.1)\n  scatter.1 =");
    let text = text.replace(
        "  choice.1 =",
        "  yes.1 = pred[] constant(true)\n  number.1 = s32[] get-tuple-element(loop.1), index=0\n  choice.1 =",
    );
    text.replace(
        "step.1 {",
        "less4.1 {\n  a.4 = s32[] parameter(0)\n  b.4 = s32[] parameter(1)\n  c.4 = s32[] parameter(2)\n  d.4 = s32[] parameter(3)\n  ROOT lt.4 = pred[] compare(a.4, b.4), direction=LT\n}\n\nstep.1 {",
    )
}

/// … and what they are in MLIR's text.
const MLIR: &str = r#"
module @jit_f {
  func.func public @main.1(%x: tensor<2x3xf32> {name = "x.1"}, %state: tensor<i32> {name = "state.1.0"}, %vector: tensor<4xf32> {name = "state.1.1"}) -> (tensor<2xf32>, tensor<i32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %reduce = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    %index = stablehlo.constant dense<[1, -2]> : tensor<2xi32>
    %best:2 = stablehlo.reduce(%reduce init: %zero), (%index init: %state) across dimensions = [0] : (tensor<2xf32>, tensor<2xi32>, tensor<f32>, tensor<i32>) -> (tensor<f32>, tensor<i32>)
      reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %p = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %q = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
      %r = stablehlo.select %p, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %q, %r : tensor<f32>, tensor<i32>
    }
    %byte = stablehlo.constant dense<7> : tensor<ui8>
    %loop:3 = stablehlo.while(%i = %state, %v = %vector, %u = %byte) : tensor<i32>, tensor<4xf32>, tensor<ui8>
    cond {
      %ten = stablehlo.constant dense<10> : tensor<i32>
      %p = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %p = func.call @step.1(%v) : (tensor<4xf32>) -> tensor<4xf32>
      stablehlo.return %i, %p, %u : tensor<i32>, tensor<4xf32>, tensor<ui8>
    }
    %image = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x8x8x3xf32>
    %kernel = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<3x3x3x4xf32>
    %conv = stablehlo.convolution(%image, %kernel) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, f, 1, 0], window = {stride = [2, 1], pad = [[1, 0], [-1, 2]], rhs_dilate = [1, 2], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x4x5x4xf32>
    %dot = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
    %pad = stablehlo.pad %x, %zero, low = [0, 1], high = [-1, 0], interior = [0, 2] : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x8xf32>
    %slice = stablehlo.slice %pad [0:1, 1:8:3] : (tensor<1x8xf32>) -> tensor<1x3xf32>
    %transpose = stablehlo.transpose %slice, dims = [1, 0] : (tensor<1x3xf32>) -> tensor<3x1xf32>
    %window = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<1x2xf32>
    %gather = "stablehlo.gather"(%x, %index) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 1>}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<1x2xf32>
    %index2 = stablehlo.reshape %index : (tensor<2xi32>) -> tensor<2x1xi32>
    %scatter = "stablehlo.scatter"(%reduce, %index2, %reduce) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %c = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %c : tensor<f32>
    }) : (tensor<2xf32>, tensor<2x1xi32>, tensor<2xf32>) -> tensor<2xf32>
    %sort:2 = "stablehlo.sort"(%index, %index) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
      %e = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %e : tensor<i1>
    }) : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
    %top:2 = chlo.top_k(%reduce, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)
    %yes = stablehlo.constant dense<true> : tensor<i1>
    %choice = "stablehlo.if"(%yes) ({
      %a = stablehlo.negate %vector : tensor<4xf32>
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %vector : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %choice2 = "stablehlo.case"(%loop#0) ({
      %a = stablehlo.negate %vector : tensor<4xf32>
      stablehlo.return %a : tensor<4xf32>
    }, {
      stablehlo.return %vector : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %fusion = call @step.1(%choice2) : (tensor<4xf32>) -> tensor<4xf32>
    %custom = stablehlo.custom_call @"my target"(%fusion) : (tensor<4xf32>) -> tensor<4xf32>
    %iota = stablehlo.iota dim = 1 : tensor<2x3xui32>
    %small = stablehlo.dynamic_slice %custom, %loop#0, sizes = [4] : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>
    %fft = stablehlo.fft %small, type = RFFT, length = [4] : (tensor<4xf32>) -> tensor<3xcomplex<f32>>
    %rng = "stablehlo.rng"(%zero, %zero) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}> : (tensor<f32>, tensor<f32>) -> tensor<4xf32>
    %round = stablehlo.round_nearest_even %rng : tensor<4xf32>
    return %dot, %best#1 : tensor<2xf32>, tensor<i32>
  }
  func.func private @step.1(%x: tensor<4xf32> {name = "x.9"}) -> tensor<4xf32> {
    %0 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32> loc("jit(f)/erf")
    return %0 : tensor<4xf32>
  }
}
"#;

fn refused(text: &str) -> String {
    read(text.as_bytes()).map(|module| canonical(&module)).unwrap_err().to_string()
}

/// An entry with these instructions.
fn entry(instructions: &str) -> String {
    format!("HloModule m\n\nENTRY main {{\n  x = f32[2]{{0}} parameter(0)\n  {instructions}\n}}\n")
}

#[test]
fn the_module_is_that_of_mlir() {
    let (hlo, mlir) = (hlo(), MLIR);
    let (hlo, mlir) = (read(hlo.as_bytes()).unwrap(), text::read(mlir.as_bytes()).unwrap());
    assert_eq!(hlo.name, mlir.name);
    let place = |module: &Module<'_>| module.functions[1].body.operations[0].place.to_string();
    assert_eq!((place(&hlo), place(&mlir)), ("jit(f)/erf".into(), "jit(f)/erf".into()));
    let (hlo, mlir) = (canonical(&hlo), canonical(&mlir));
    for (hlo, mlir) in hlo.lines().zip(mlir.lines()) {
        assert_eq!(hlo, mlir);
    }
    assert_eq!(hlo.lines().count(), mlir.lines().count());
}

#[test]
fn files_are_read() {
    for path in files("frameworks/jax", ".hlo.txt") {
        let bytes = std::fs::read(&path).unwrap();
        assert!(is_hlo_text(&bytes), "{}", path.display());
        let module = read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        check(&module);
        // The arguments and results are those of the same model in MLIR's text.
        let other = path.to_string_lossy().replace(".hlo.txt", ".mlir");
        let other = std::fs::read(other).unwrap();
        let other = text::read(&other).unwrap();
        let interface = |module: &Module<'_>| {
            let entry = module.functions.iter().find(|function| function.public).unwrap();
            let arguments = entry.body.arguments.iter().map(|value| entry.types[value.0].clone());
            (arguments.collect::<Vec<_>>(), entry.results.clone())
        };
        assert_eq!(interface(&module), interface(&other), "{}", path.display());
    }
}

#[test]
fn literals() {
    let bytes = |shape: &str, literal: &str| {
        let text = entry(&format!("ROOT c = {shape} constant({literal})"));
        let module = read(text.as_bytes()).unwrap_or_else(|error| panic!("{literal}: {error}"));
        let mut all = Vec::new();
        for operation in &module.functions[0].body.operations {
            if let Some(crate::stablehlo::module::Attribute::Dense(dense)) = operation.attributes.get("value")
            {
                all.push((dense.bytes.to_vec(), dense.splat));
            }
        }
        all
    };
    assert_eq!(bytes("s8[2,2]{1,0}", "{ {1, -2}, { /*i1=1*/ 3, 4 } }"), [(vec![1, 254, 3, 4], false)]);
    assert_eq!(bytes("s8[2,2]{1,0}", "s8[2,2] { {1, -2}, {3, 4} }"), [(vec![1, 254, 3, 4], false)]);
    assert_eq!(bytes("s8[2]{0}", "s8[2]{0} {1, -2}"), [(vec![1, 254], false)]);
    assert_eq!(bytes("pred[3]{0}", "{1, 0, true}"), [(vec![1, 0, 1], false)]);
    assert_eq!(bytes("f16[]", "-inf"), [(vec![0, 0xfc], true)]);
    assert_eq!(bytes("bf16[2]{0}", "{nan(0x41), -nan}").len(), 1);
    assert_eq!(bytes("c64[1]{0}", "{(1, -2)}"), [(vec![0, 0, 128, 63, 0, 0, 0, 192], false)]);
    assert_eq!(bytes("c64[]", "(0, 0)"), [(vec![0; 8], true)]);
    assert_eq!(bytes("s32[2,0]{1,0}", "{ {}, {} }"), [(vec![], false)]);
    assert_eq!(bytes("(u8[], u8[2]{0})", "(3, {4, 5})"), [(vec![3], true), (vec![4, 5], false)]);
    assert_eq!(bytes("u64[]", "18446744073709551615"), [(vec![255; 8], true)]);
    for (shape, literal, what) in [
        ("f32[1000]{0}", "{...}", "left out"),
        ("s8[2]{0}", "{1}", "a list of 1 elements"),
        ("s8[2]{0}", "{1, 300}", "\"300\" is no element"),
        ("f8e4m3fn[]", "1", "f8e4m3fn are not read"),
        ("token[]", "1", "no array"),
        ("s8[99999999999,99999999999]{1,0}", "{1}", "\"{\" is wanted"),
    ] {
        let message = refused(&entry(&format!("ROOT c = {shape} constant({literal})")));
        assert!(message.contains("line 5, column") && message.contains(what), "{literal}: {message}");
    }
}

#[test]
fn errors_name_line_and_column() {
    for (instructions, what) in [
        ("ROOT y = f32[2]{0} negate(z)", "line 5, column 29: z is not defined here"),
        (
            "ROOT y = (f32[2]{0}) tuple(x)\n  z = f32[2]{0} get-tuple-element(y), index=1",
            "a tuple has no such element",
        ),
        ("ROOT y = f32[2]{0} get-tuple-element(x), index=0", "a tuple has no such element"),
        ("ROOT y = f32[2]{0} call(x), to_apply=f", "line 5, column 40: the computation f is not defined"),
        ("ROOT y = f32[2]{0} call(x)", "a call names no computation"),
        ("ROOT y = f32[2]{0} while(x), body=f", "a loop has no condition"),
        ("ROOT y = f32[3]{0} copy(x)", "y has another shape than its operands say"),
        ("ROOT y = f32[2]{0} conditional(x, x), branch_computations={}", "not as many branches"),
        ("ROOT y = f32[2]{0} convolution(x, x), dim_labels=bf_oi->b", "not complete"),
        (
            "ROOT y = f32[2]{0} convolution(x, x), window={sizes=1}, dim_labels=bf_oi->bf",
            "no property of a window",
        ),
        ("ROOT y = f32[2]{0} concatenate(x), dimensions={0,1}", "has not one dimension"),
        ("ROOT y = f32[2]{0} iota()", "y has no iota_dimension"),
        ("ROOT y = f32[-2]{0} negate(x)", "a size is negative"),
        ("ROOT y = 2 negate(x)", "a shape is wanted"),
        ("x = f32[2]{0} negate(x)", "x is defined twice"),
        ("y = f32[2]{0} parameter(2)", "not numbered from 0"),
        ("ROOT y = f32[2]{0} negate(x", "\",\" or \")\" is wanted"),
    ] {
        let message = refused(&entry(instructions));
        assert!(message.contains(what), "{instructions}: {message}");
    }
    for (text, what) in [
        ("HloModule m", "line 1, column 12: the module has no computation"),
        ("HloModule m\nf {\n}", "a computation has no instructions"),
        ("HloModule m\nf {\n  a = f32[] constant(1)\n}\nHloModule n\n", "several modules"),
        (
            "HloModule m\nf {\n  a = f32[] constant(1)\n}\nf {\n  a = f32[] constant(1)\n}",
            "f is defined twice",
        ),
    ] {
        let message = refused(text);
        assert!(message.contains(what), "{text}: {message}");
    }
}

#[test]
fn what_would_grow_without_end_is_refused() {
    let shape = format!("HloModule m\nf {{\n  x = {}f32[]", "(".repeat(100_000));
    assert!(refused(&shape).contains("nested deeper"));
    // Each computation applies the one before it twice.
    let mut text = "HloModule m\n".to_owned();
    for index in 0..40 {
        let of = match index {
            0 => "y = f32[] negate(x)\n  z = f32[] negate(y)".to_owned(),
            _ => {
                ["y", "z"].map(|name| format!("{name} = f32[] map(x), to_apply=f{}", index - 1)).join("\n  ")
            }
        };
        text += &format!("f{index} {{\n  x = f32[] parameter(0)\n  {of}\n}}\n");
    }
    let message = refused(&text);
    assert!(message.contains("more data") || message.contains("more than a text"), "{message}");
    // A tuple with many elements, many times in another.
    let (many, times) = (vec!["f32[]"; 2000].join(","), vec!["t"; 2000].join(","));
    let tuple = vec!["x"; 2000].join(",");
    let message = refused(&format!("HloModule m\nf {{\n  x = f32[] parameter(0)\n  t = ({many}) tuple({tuple})\n  ROOT u = () tuple({times})\n}}\n"));
    assert!(message.contains("more data"), "{message}");
    // A computation that applies itself.
    let message = refused("HloModule m\nf {\n  x = f32[] parameter(0)\n  y = f32[] map(x), to_apply=f\n}\n");
    assert!(message.contains("nested deeper") || message.contains("more data"), "{message}");
}

#[test]
fn damaged_texts_neither_panic_nor_hang() {
    damage(&hlo(), |bytes| {
        let _ = is_hlo_text(bytes);
        if let Ok(module) = read(bytes) {
            check(&module);
        }
    });
}

/// What holds for all modules of HLO: tuples are taken apart.
fn check(module: &Module<'_>) {
    let types = module.functions.iter().flat_map(|function| &function.types);
    assert!(!types.into_iter().any(|ty| matches!(ty, Type::Tuple(_))));
    testing::check(module);
}

#[test]
fn texts_are_recognised_by_how_they_begin() {
    assert!(is_hlo_text(HLO.as_bytes()) && is_hlo_text(b"HloModule m\n"));
    for text in ["", "HloModule", "HloModules x", "module @x {", "// HloModule"] {
        assert!(!is_hlo_text(text.as_bytes()), "{text}");
    }
}
