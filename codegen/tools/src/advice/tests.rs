//! Advice on graphs that each have one fault, and on a model that has none of them.

use super::{advise, Advice, Topic};
use kiln_codegen::{compile_graph, Optimize, Options, Target};
use kiln_ir::Graph;

fn advice(text: &str) -> Vec<Advice> {
    advice_for(text, Optimize::Speed)
}

fn advice_for(text: &str, optimize: Optimize) -> Vec<Advice> {
    let graph = Graph::parse(text).unwrap();
    kiln_ir::verify::verify(&graph).unwrap();
    let options = Options { optimize, target: Some(Target::CortexMDsp), ..Options::default() };
    let compiled = compile_graph(graph.clone(), &options).unwrap();
    advise(&graph, &compiled)
}

/// A convolution of an image 8 × 8 with four channels.
fn conv(filters: usize, weights: &str, window: &str, clamp: &str, out: usize, after: &str) -> String {
    format!(
        "graph \"g\" {{
           input %x: i8[1,8,8,4] q(0.5 : -128)
           const %w: i8[{filters},3,3,4] {weights}
           %y: i8[1,{out},{out},{filters}] q(0.5 : -128) = conv2d(%x, %w) {{window = {window}, groups = 1, rescale = [1073741824 * 2^-7], clamp = {clamp}}} from \"0 CONV_2D\"
           {after}
         }}"
    )
}

const PER_CHANNEL: &str = "q(axis 0, [0.5, 0.5, 0.5, 0.5] : 0) = splat 3";

fn topics(found: &[Advice]) -> Vec<Topic> {
    found.iter().map(|advice| advice.topic).collect()
}

#[test]
fn nothing_to_say_of_a_plain_convolution() {
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3]", "-128..=127", 6, "return %y"));
    assert_eq!(found, []);
}

/// Five filters, and something that is no end of a model.
fn five(after: &str) -> String {
    conv(5, "q(axis 0, [0.5, 0.5, 0.5, 0.5, 0.5] : 0) = splat 3", "[3, 3]", "-128..=127", 6, after)
}

const POOLED: &str = "%m: i8[1,3,3,5] q(0.5 : -128) = max_pool2d(%y) {window = [2, 2] stride [2, 2], clamp = -128..=127} from \"1 MAX_POOL_2D\"
                      return %m";

#[test]
fn the_number_of_results_is_not_for_choosing() {
    assert_eq!(advice(&five("return %y")), []);
}

#[test]
fn filters_that_fill_no_group() {
    let found = advice(&five(POOLED));
    assert_eq!(topics(&found), [Topic::Padding], "{found:?}");
    assert!(found[0].what.contains("5 filters") && found[0].what.contains("3 zero filters"), "{found:?}");
    assert_eq!(found[0].bytes, 3 * 36);
    assert!(found[0].cycles > 0 && found[0].place.starts_with("0 CONV_2D"));
}

#[test]
fn dilated_windows_are_computed_in_plain_rust() {
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3] dilation [2, 2]", "-128..=127", 4, "return %y"));
    assert_eq!(topics(&found), [Topic::Kernel]);
    assert!(found[0].what.contains("dilated"), "{found:?}");
}

#[test]
fn clamps_within_the_eight_bits() {
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3]", "-128..=-100", 6, "return %y"));
    assert_eq!(topics(&found), [Topic::Requantisation]);
    assert!(found[0].what.contains("-128..=-100"), "{found:?}");
}

#[test]
fn padding_is_counted() {
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3] pad [1, 1, 1, 1]", "-128..=127", 8, "return %y"));
    // 22 of 24 taps along either axis: 16 % are by padding.
    assert_eq!(topics(&found), [Topic::Padding]);
    assert!(found[0].what.starts_with("16 %"), "{found:?}");
}

#[test]
fn one_scale_for_filters_of_different_size() {
    let weights: Vec<String> = (0..4 * 36).map(|i| if i < 36 { "5" } else { "120" }.to_string()).collect();
    let weights = format!("q(0.5 : 0) = [{}]", weights.join(", "));
    let found = advice(&conv(4, &weights, "[3, 3]", "-128..=127", 6, "return %y"));
    assert_eq!(topics(&found), [Topic::Weights]);
    assert!(found[0].what.contains("8-bit range: 1;") && found[0].what.contains("5 of 127"), "{found:?}");
}

#[test]
fn an_activation_beside_another_reader() {
    let after = "%r: i8[1,6,6,4] q(0.5 : -128) = clip(%y) {clamp = -100..=127} from \"1 RELU\"
                 return %r, %y";
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3]", "-128..=127", 6, after));
    assert_eq!(topics(&found), [Topic::Fusion]);
    assert!(found[0].place.starts_with("1 RELU") && found[0].what.contains("other readers (1)"), "{found:?}");
}

#[test]
fn a_float_island() {
    let after = "%f: f32[1,6,6,4] = dequantize(%y) from \"1 DEQUANTIZE\"
                 %t: f32[1,6,6,4] = tanh(%f) from \"2 TANH\"
                 %s: f32[1,6,6,4] = mul(%t, %f) {rescale = real, clamp = -inf..=inf} from \"3 MUL\"
                 %q: i8[1,6,6,4] q(0.00390625 : -128) = quantize(%s) from \"4 QUANTIZE\"
                 return %q";
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3]", "-128..=127", 6, after));
    let islands: Vec<_> = found.iter().filter(|advice| advice.topic == Topic::Float).collect();
    assert_eq!(islands.len(), 1, "{found:?}");
    assert!(islands[0].what.starts_with("2 float ops (mul, tanh)"), "{found:?}");
    // Who names a package does not choose the operators of its features.
    let features = after.replace("2 TANH", "features log").replace("3 MUL", "features scale");
    let found = advice(&conv(4, PER_CHANNEL, "[3, 3]", "-128..=127", 6, &features));
    assert!(!topics(&found).contains(&Topic::Float), "{found:?}");
}

#[test]
fn a_model_of_floats() {
    let text = "graph \"g\" {
        input %x: f32[1,8,8,4]
        const %w: f32[4,3,3,4] = splat 0.5
        %y: f32[1,6,6,4] = conv2d(%x, %w) {window = [3, 3], groups = 1, rescale = real, clamp = -inf..=inf} from \"0 CONV_2D\"
        return %y
      }";
    let found = advice(text);
    let whole = found.iter().find(|advice| advice.topic == Topic::Float).unwrap();
    assert!(whole.what.starts_with("all layers compute in floats"), "{found:?}");
    assert!(whole.cycles > 0 && whole.bytes > 400, "{whole:?}");
}

#[test]
fn integers_with_scales_that_flash_holds_as_floats() {
    let text = "graph \"g\" {
        input %x: f32[1,64]
        const %q: i8[32,64] q(0.3 : 2) = splat 77
        %w: f32[32,64] = dequantize(%q)
        %y: f32[1,32] = dense(%x, %w) {rescale = real, clamp = -inf..=inf} from \"0 FULLY_CONNECTED\"
        return %y
      }";
    let weights =
        |optimize| advice_for(text, optimize).into_iter().find(|found| found.topic == Topic::Weights);
    let found = weights(Optimize::Speed).unwrap();
    assert!(
        found.what.starts_with("weights of 1 float layers") && found.help.contains("packed"),
        "{found:?}"
    );
    // All weights are one, which fits 4 bits.
    assert_eq!(found.bytes, 4 * 2048 - 1024 - 4);
    assert_eq!(weights(Optimize::Size), None);
}

#[test]
fn a_model_whose_weights_alone_are_integers() {
    let text = "graph \"g\" {
        input %x: f32[1,16]
        const %w: i8[4,16] q(0.5 : 0) = splat 3
        const %b: f32[4] = splat 0.0
        %s: f32[1,3] = dynamic_scale(%x) {symmetric = true} from \"0 FULLY_CONNECTED\"
        %q: i8[1,16] = dynamic_quantize(%x, %s) from \"0 FULLY_CONNECTED\"
        %y: f32[1,4] = dynamic_dense(%q, %s, %w, %b) {clamp = -inf..=inf} from \"0 FULLY_CONNECTED\"
        return %y
      }";
    let found = advice(text);
    let whole = found.iter().find(|advice| advice.topic == Topic::Float).unwrap();
    assert!(
        whole.what.starts_with("weights are integers, but everything else is computed in floats"),
        "{found:?}"
    );
    // Its weights stay.
    assert!(whole.cycles > 0 && whole.bytes > 0 && whole.bytes < 200, "{whole:?}");
}

#[test]
fn what_ends_a_pipeline() {
    let text = "graph \"g\" {
        input %x: f32[1,16,16,2]
        %a: f32[1,16,16,2] = max_pool2d(%x) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf} from \"0 MAX_POOL_2D\"
        %t: f32[1,16,16,2] = transpose(%a) {perm = [0, 2, 1, 3]} from \"1 TRANSPOSE\"
        %b: f32[1,16,16,2] = max_pool2d(%t) {window = [3, 3] pad [1, 1, 1, 1], clamp = -inf..=inf} from \"2 MAX_POOL_2D\"
        return %b
    }";
    let ends = |optimize| {
        let found = advice_for(text, optimize).into_iter().filter(|advice| advice.topic == Topic::Rows);
        found.map(|advice| (advice.place, advice.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(ends(Optimize::Memory), [("1 TRANSPOSE \"\"".to_string(), 2048)]);
    assert_eq!(ends(Optimize::Speed), []);
}

#[test]
fn rows_are_advised_where_they_save_something() {
    let bytes = |from: &str, to: &str| {
        let found = advice(&format!(
            "graph \"g\" {{
               input %x: f32[{from}]
               %t: f32[{to}] = transpose(%x) {{perm = [0, 2, 1, 3]}} from \"0 TRANSPOSE\"
               return %t
             }}"
        ));
        found.iter().find(|advice| advice.topic == Topic::Rows).map(|advice| advice.bytes)
    };
    assert_eq!(bytes("1,16,8,2", "1,8,16,2"), Some(1024));
    assert_eq!(bytes("1,6,5,1", "1,5,6,1"), None);
}

#[test]
fn what_costs_most_comes_first() {
    let after = "%t: i8[1,5,6,6] q(0.5 : -128) = transpose(%y) {perm = [0, 3, 1, 2]} from \"1 TRANSPOSE\"
                 return %t";
    let found = advice(&five(after));
    assert_eq!(topics(&found), [Topic::Padding, Topic::Movement], "{found:?}");
    assert!(found[0].cycles >= found[1].cycles);
}

#[test]
fn branches_that_are_both_computed() {
    let found = advice(
        "graph \"g\" {
           input %x: i8[1,100] q(0.5 : 0)
           input %b: bool[]
           %m: i8[1,100] q(0.5 : 0) = binary(%x, %x) {function = max, rescale = real, clamp = -128..=100} from \"0 IF/0 MAXIMUM\"
           %n: i8[1,100] q(0.5 : 0) = binary(%x, %x) {function = min, rescale = real, clamp = -100..=127} from \"0 IF/0 MINIMUM\"
           %y: i8[1,100] q(0.5 : 0) = select(%b, %m, %n) from \"0 IF\"
           return %y
         }",
    );
    let branches: Vec<&Advice> = found.iter().filter(|advice| advice.topic == Topic::Branches).collect();
    assert_eq!(branches.len(), 1, "{found:?}");
    assert!(
        branches[0].place.starts_with("0 IF ") && branches[0].what.contains("both branches"),
        "{found:?}"
    );
    assert_eq!(branches[0].cycles, 600);
}
