//! Archives that are made here: what they become, what is said of those that cannot be read, and damaged ones.

use super::testing::{branches, history, image, layer, list, Net};
use crate::testing::zip;
use crate::testing::Random;
use crate::torch::testing::{tensor, text};
use crate::{inspect, read, read_with};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::options::{CustomOp, InputShape, Options};
use kiln_ir::verify::verify;
use kiln_ir::{Data, Graph, Op};
use std::time::{Duration, Instant};

fn shaped(name: &str, dims: &[usize]) -> Options {
    let shape = InputShape { name: Some(name.into()), dims: dims.to_vec() };
    Options { input_shapes: vec![shape], ..Options::default() }
}

fn run(machine: &mut Machine, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let inputs: Vec<Data> = inputs.iter().map(|input| Data::from_f32(input)).collect();
    machine.run(&inputs).unwrap().iter().map(Data::to_f32).collect()
}

fn results(graph: &Graph, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    assert_eq!(verify(graph), Ok(()));
    run(&mut Machine::new(graph), inputs)
}

fn refused(bytes: &[u8]) -> String {
    read(bytes, "net").unwrap_err().to_string()
}

#[test]
fn a_layer_is_read_with_its_batch() {
    let bytes = layer().bytes();
    let graph = read(&bytes, "net").unwrap();
    assert_eq!(results(&graph, &[&[1.0, 1.0, 1.0]]), [[6.5, 0.0]]);
    let graph = read_with(&bytes, "net", &shaped("x", &[2, 3])).unwrap();
    assert_eq!(results(&graph, &[&[1.0, 1.0, 1.0, 0.0, 0.0, 2.0]]), [[6.5, 0.0, 6.5, 1.5]]);
    let misfit = read_with(&bytes, "net", &shaped("x", &[5, 3])).unwrap_err().to_string();
    assert!(misfit.contains("s0 is from 1 to 4"), "{misfit}");
    let misfit = read_with(&bytes, "net", &shaped("x", &[2, 4])).unwrap_err().to_string();
    assert!(misfit.contains("axis 1 does not fit [s0, 3] in the file"), "{misfit}");
}

#[test]
fn writes_into_parts_of_a_buffer_make_it_a_state() {
    let graph = read(&history().bytes(), "net").unwrap();
    assert_eq!(verify(&graph), Ok(()));
    assert_eq!((graph.states.len(), graph.inputs.len()), (1, 1));
    assert_eq!(graph.states[0].init, Data::from_f32(&[1.0; 6]));
    let mut machine = Machine::new(&graph);
    let mut step = |x: [f32; 2]| run(&mut machine, &[&x]).remove(0);
    assert_eq!([step([2.0, 0.0]), step([3.0, 5.0]), step([4.0, 0.0])], [[4.0, 2.0], [6.0, 6.0], [9.0, 5.0]]);
    assert_eq!(step([0.0, 1.0]), [7.0, 6.0]);
}

#[test]
fn buffers_with_a_next_value_are_states() {
    let net = Net::default()
        .weight("b_n", &[1], &[3.0])
        .input("x", &[1])
        .node("add.Tensor", &[("self", "b_n"), ("other", "x")], "add", &[1])
        .mutation("add", "n")
        .output("add");
    let graph = read(&net.bytes(), "net").unwrap();
    let mut machine = Machine::new(&graph);
    assert_eq!([run(&mut machine, &[&[1.0]]), run(&mut machine, &[&[2.0]])], [[[4.0]], [[6.0]]]);
}

#[test]
fn outputs_in_dictionaries_have_their_keys() {
    let graph = read(&image().bytes(), "net").unwrap();
    let names: Vec<&str> = graph.outputs.iter().map(|&id| graph.value(id).name.as_str()).collect();
    assert_eq!(names, ["map", "cls"]);
    let sum: f32 = results(&graph, &[&[0.5; 36]])[1].iter().sum();
    assert!((sum - 1.0).abs() < 1e-6, "{sum}");
}

#[test]
fn weights_are_views_of_storages() {
    // Three rows of four, of which columns 1 and 3 are the columns of a matrix, turned.
    let numbers: Vec<f32> = (0..12).map(|k| k as f32).collect();
    let net = |strides: &[i64], offset| {
        Net::default()
            .weight("p_all", &[3, 4], &numbers)
            .view("p_part", "weight_0", &[2, 3], strides, offset)
            .input("x", &[2, 3])
            .node("add.Tensor", &[("self", "x"), ("other", "p_part")], "add", &[2, 3])
            .output("add")
            .bytes()
    };
    let graph = read(&net(&[2, 4], 1), "net").unwrap();
    assert_eq!(results(&graph, &[&[0.0; 6]]), [[1.0, 5.0, 9.0, 3.0, 7.0, 11.0]]);
    let graph = read(&net(&[0, 4], 2), "net").unwrap();
    assert_eq!(results(&graph, &[&[0.0; 6]]), [[2.0, 6.0, 10.0, 2.0, 6.0, 10.0]]);
    assert!(refused(&net(&[2, 4], 2)).contains("\"part\" reaches beyond its data"));
    assert!(refused(&net(&[i64::MAX, 4], 2)).contains("reaches beyond its data"));
}

#[test]
fn what_cannot_be_compiled_has_its_place() {
    let net = Net::default()
        .input("x", &[2])
        .node("svd.default", &[("self", "x")], "svd", &[2])
        .node("qr.default", &[("self", "svd")], "qr", &[2])
        .output("qr");
    let message = refused(&net.bytes());
    assert!(
        message.contains("operator 0 aten.svd \"svd\" in enc.0 (Linear), net.py:12: this operator"),
        "{message}"
    );
    assert!(message.contains("operator 1 aten.qr"), "{message}");
}

#[test]
fn branches_are_selected_and_loops_written_out() {
    let graph = read(&branches(false).bytes(), "net").unwrap();
    // Sums: 4, 2, 0, 0; −4, −2, −1, −1/2; 8, 6, 4, 2.
    assert_eq!(results(&graph, &[&[2.0, 2.0]]), [[0.0, 0.0]]);
    assert_eq!(results(&graph, &[&[-2.0, -2.0]]), [[-0.25, -0.25]]);
    assert_eq!(results(&graph, &[&[8.0, 0.0]]), [[5.0, -3.0]]);
    // A part of the condition follows from data.
    let graph = read(&branches(true).bytes(), "net").unwrap();
    assert_eq!(results(&graph, &[&[2.0, 2.0]]), [[0.0, 0.0]]);
    assert_eq!(results(&graph, &[&[-2.0, -2.0]]), [[-2.0, -2.0]]);
    assert_eq!(results(&graph, &[&[8.0, 0.0]]), [[5.0, -3.0]]);
}

#[test]
fn loops_without_a_known_end_are_refused() {
    let one = "{\"as_int\": 1}";
    let going =
        Net::default().node("gt.Scalar", &[("self", "k"), ("other", "{\"as_int\": 0}")], "is_going", &[]);
    let more = Net::default().node("add.Tensor", &[("self", "k"), ("other", one)], "more", &[]);
    let (going, more) = (going.as_graph(&["k"], &["is_going"]), more.as_graph(&["k"], &["more"]));
    let net = |start: &str| {
        Net::default()
            .input("x", &[])
            .node("full.default", &[("size", "{\"as_ints\": []}"), ("fill_value", one)], "one", &[])
            .node("higher_order.while_loop", &[("", &going), ("", &more), ("", &list(&[start]))], "y", &[])
            .output("y")
            .bytes()
    };
    assert!(refused(&net("x")).contains("after 128 passes, its condition still depends on values"));
    assert!(refused(&net("one")).contains("the passes of its loop, have too many operators"));
}

/// A graph in a graph, so many times.
fn nested(depth: usize) -> Net {
    let call = |net: Net, graph: &str| net.node("higher_order.wrap", &[("", graph), ("", "a")], "b", &[1]);
    let mut inner = Net::default().node("neg.default", &[("self", "a")], "b", &[1]);
    for _ in 1..depth {
        let graph = inner.as_graph(&["a"], &["b"]);
        inner = call(Net::default(), &graph);
    }
    call(Net::default().input("a", &[1]), &inner.as_graph(&["a"], &["b"])).output("b")
}

#[test]
fn graphs_are_not_nested_without_end() {
    let graph = read(&nested(3).bytes(), "net").unwrap();
    assert_eq!(results(&graph, &[&[2.0]]), [[-2.0]]);
    assert!(refused(&nested(20).bytes()).contains("graphs are nested more than 16 deep"));
    assert!(refused(&nested(40).bytes()).contains("it is nested too deep"));
}

#[test]
fn rows_are_gone_through_one_by_one() {
    let step = Net::default()
        .node("add.Tensor", &[("self", "sum"), ("other", "row")], "next", &[2])
        .node("mul.Tensor", &[("self", "next"), ("other", "factor")], "scaled", &[2])
        .as_graph(&["sum", "row", "factor"], &["next", "scaled"]);
    let net = Net::default()
        .input("x", &[3, 2])
        .input("start", &[2])
        .weight("p_f", &[2], &[10.0, 1.0])
        .nodes(
            "higher_order.scan",
            &[("", &step), ("", &list(&["start"])), ("", &list(&["x"])), ("", &list(&["p_f"]))],
            &[("last", &[2]), ("all", &[3, 2])],
        )
        .output("last")
        .output("all");
    let graph = read(&net.bytes(), "net").unwrap();
    let rows = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let expected = [vec![10.0, 13.0], vec![20.0, 3.0, 50.0, 7.0, 100.0, 13.0]];
    assert_eq!(results(&graph, &[&rows, &[1.0, 1.0]]), expected);
}

#[test]
fn operators_of_the_users_are_calls_of_functions() {
    let net = |target| {
        let mode = "{\"as_string\": \"a\\\"b\"}";
        Net::default()
            .input("x", &[2, 3])
            .weight("p_w", &[3], &[1.0, 2.0, 3.0])
            .node(
                target,
                &[("x", "x"), ("f", "{\"as_float\": 2.5}"), ("w", "p_w"), ("mode", mode)],
                "y",
                &[2, 1],
            )
            .output("y")
            .bytes()
    };
    let bytes = net("mylib.sums.default");
    let error = refused(&bytes);
    assert!(error.contains("custom_op(\"mylib::sums\", crate::kernels::my_op)"), "{error}");
    let bound = |name: &str| Options {
        custom_ops: vec![CustomOp { name: name.into(), path: "crate::sums".into() }],
        ..Options::default()
    };
    for name in ["mylib::sums", "mylib.sums"] {
        let graph = read_with(&bytes, "net", &bound(name)).unwrap();
        assert_eq!(verify(&graph), Ok(()));
        let [(_, node)] = &graph.nodes().collect::<Vec<_>>()[..] else { panic!("one node") };
        let Op::Custom { function, options, .. } = &node.op else { panic!("{:?}", node.op) };
        assert_eq!((function.as_str(), node.operands.len()), ("crate::sums", 2));
        assert_eq!(String::from_utf8_lossy(options), "{\"f\":2.5,\"mode\":\"a\\\"b\"}");
    }
    let error = read_with(&layer().bytes(), "net", &bound("mylib::sums")).unwrap_err().to_string();
    assert!(error.contains("the model has no custom operator \"mylib::sums\""), "{error}");
    let error =
        read_with(&net("mylib.sums_.default"), "net", &bound("mylib::sums_")).unwrap_err().to_string();
    assert!(error.contains("writes into its operand"), "{error}");
}

/// What torch.save writes: a pickle, and storages.
fn saved(pickle: &[u8], storages: &[&[u8]]) -> Vec<u8> {
    let mut files = vec![("archive/data.pkl".to_owned(), [b"\x80\x02", pickle, b"."].concat())];
    for (k, storage) in storages.iter().enumerate() {
        files.push((format!("archive/data/{k}"), storage.to_vec()));
    }
    zip(&files)
}

/// A layer whose weights are a tensor of that class, in blocks of four and two numbers, with scales.
fn quantised_layer(module: &str, class: &str) -> Vec<u8> {
    let inner = |name: &str, result: &str, net: Net, dims: &[i64]| {
        let attr = format!("{{\"as_string\": \"{name}\"}}");
        let inputs = [("src_subclass_tensor", "p_w"), ("attr", &attr)];
        net.node("export.access_subclass_inner_tensor.default", &inputs, result, dims)
    };
    let net = Net::default().input("x", &[1, 4]).weight("p_w", &[2, 4], &[0.0; 8]);
    let net = inner("qdata", "q", net, &[2, 4]);
    let net = inner("scale", "s", net, &[2, 2]);
    let blocks = ("block_size", "{\"as_ints\": [1, 2]}");
    let net = net
        .node("torchao.dequantize_affine.default", &[("input", "q"), blocks, ("scale", "s")], "d", &[2, 4])
        .node("linear.default", &[("input", "x"), ("weight", "d")], "y", &[1, 2])
        .output("y");
    let names = format!("{module}\n{class}\n");
    let pickle = [
        &b"ctorch._tensor\n_rebuild_from_type_v2\n(ctorch._utils\n_rebuild_wrapper_subclass\nc"[..],
        names.as_bytes(),
        b"(ctorch\nint4\nt}(",
        &text("qdata"),
        &tensor("CharStorage", "0", &[2, 4]),
        &text("scale"),
        &tensor("FloatStorage", "1", &[2, 2]),
        b"utR",
    ];
    let scales = [0.5f32, 2.0, 1.0, 0.25].map(f32::to_le_bytes).concat();
    let saved = saved(&pickle.concat(), &[&[1, 2, 3, 255, 4, 0, 8, 8], &scales]);
    let mut files = net.files();
    for (name, bytes) in &mut files {
        if name.ends_with("weight_0") {
            bytes.clone_from(&saved);
        }
        if name.ends_with("config.json") {
            let text = String::from_utf8(std::mem::take(bytes)).unwrap();
            *bytes = text.replace("\"use_pickle\": false", "\"use_pickle\": true").into_bytes();
        }
    }
    zip(&files)
}

#[test]
fn tensors_of_torchao_are_the_tensors_in_them() {
    let graph = read(&quantised_layer("torchao.quantization", "Int8Tensor"), "net").unwrap();
    // 0.5, 1, 6, −2 and 4, 0, 2, 2.
    assert_eq!(results(&graph, &[&[1.0, 1.0, 1.0, 1.0]]), [[5.5, 8.0]]);
    assert_eq!(results(&graph, &[&[1.0, 0.0, 0.0, 0.0]]), [[0.5, 4.0]]);
    for (module, class) in [("os", "system"), ("torchaox", "T"), ("builtins", "eval")] {
        let error = refused(&quantised_layer(module, class));
        assert!(error.contains(&format!("refers to {module}.{class}")), "{error}");
    }
}

#[test]
fn other_layouts_are_told_apart() {
    let files = layer().files();
    let without =
        |end: &str| files.iter().filter(|(name, _)| !name.ends_with(end)).cloned().collect::<Vec<_>>();
    // Up to torch 2.8 weights are what torch.save writes.
    let dictionary = [
        &b"ccollections\nOrderedDict\n)R("[..],
        &text("w"),
        b"ctorch._utils\n_rebuild_parameter\n(",
        &tensor("FloatStorage", "0", &[2, 3]),
        b"\x89ccollections\nOrderedDict\n)RtR",
        &text("b"),
        &tensor("FloatStorage", "1", &[2]),
        b"u",
    ];
    let numbers = [1.0f32, 2.0, 3.0, -1.0, 0.0, 1.0].map(f32::to_le_bytes).concat();
    let saved = saved(&dictionary.concat(), &[&numbers, &[0.5f32, -0.5].map(f32::to_le_bytes).concat()]);
    for name in ["net/data/weights/model.pt", "serialized_state_dict.pt"] {
        let mut older = without("model_weights_config.json");
        older.push((name.into(), saved.clone()));
        let graph = read(&zip(&older), "net").unwrap();
        assert_eq!(results(&graph, &[&[1.0, 1.0, 1.0]]), [[6.5, 0.0]]);
        older.pop();
        older.push((name.into(), b"PK".to_vec()));
        assert!(refused(&zip(&older)).contains("is no zip file"));
    }
    // Up to torch 2.7 the program has another place.
    let mut old = without("models/model.json");
    old.push(("serialized_exported_program.json".into(), layer().program().into_bytes()));
    assert!(read(&zip(&old), "net").is_ok());
    let mut two = files.clone();
    two.push(("net/models/other.json".into(), Vec::new()));
    assert!(refused(&zip(&two)).contains("several models"));
    let newer = layer().program().replace("\"major\": 8", "\"major\": 9");
    let mut next = without("models/model.json");
    next.push(("net/models/model.json".into(), newer.into_bytes()));
    assert!(refused(&zip(&next)).contains("version 9 of torch's schema"));
    assert!(refused(&zip(&without("weight_1"))).contains("(data/weights/weight_1) is not in the archive"));
    // A file that says that it is compressed.
    let mut bytes = layer().bytes();
    let at = bytes.windows(4).position(|w| w == b"PK\x01\x02").unwrap();
    bytes[at + 10] = 8;
    assert!(refused(&bytes).contains("is compressed"));
}

#[test]
fn summaries_have_shapes_and_work() {
    let summary = inspect(&image().bytes()).unwrap();
    assert_eq!((summary.format, summary.description.as_str()), ("PyTorch", "torch 2.15.0"));
    assert_eq!(summary.inputs[0].dims, [1, 1, 6, 6]);
    assert_eq!((summary.operators[0].name.as_str(), summary.operators[0].macs), ("aten.conv2d", 648));
    assert_eq!((summary.operators[0].weight_bytes, summary.weight_bytes), (72, 72));
    assert_eq!(summary.outputs[1].name, "cls");
    assert_eq!(inspect(&layer().bytes()).unwrap().inputs[0].dims, [1, 3]);
}

/// Longest that one file may take, in a build without optimisation.
const TOO_LONG: Duration = Duration::from_secs(1);

/// Damaged files of each seed.
const ROUNDS: usize = 400;

/// What may stand in place of a number, name or word of a program.
const TOKENS: &[&str] = &[
    "0",
    "-1",
    "1",
    "3",
    "9223372036854775807",
    "-9223372036854775808",
    "1e999",
    "\"NaN\"",
    "null",
    "true",
    "[]",
    "{}",
    "\"x\"",
    "\"b_h\"",
    "\"p_w\"",
    "[[[[[[[[",
    "12345678",
    "7",
    "13",
];

/// Puts another token in a place of a program, or a part of it elsewhere.
fn mutate(program: &str, random: &mut Random) -> Vec<u8> {
    let mut bytes = program.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let is_token = |c: u8| c.is_ascii_alphanumeric() || b"-_.'\"".contains(&c);
        let at = random.below(bytes.len());
        let first = (at..bytes.len()).find(|&k| is_token(bytes[k])).unwrap_or(at);
        let end = (first..bytes.len()).find(|&k| !is_token(bytes[k])).unwrap_or(bytes.len());
        let new = match random.below(4) {
            0 => {
                let from = random.below(bytes.len());
                let length = random.below(64).min(bytes.len() - from);
                bytes[from..from + length].to_vec()
            }
            1 => {
                bytes[at] ^= 1 << random.below(8);
                continue;
            }
            _ => TOKENS[random.below(TOKENS.len())].as_bytes().to_vec(),
        };
        bytes.splice(first..end, new);
    }
    bytes
}

/// Reads a file: it ends soon, in a graph that verifies or in an error.
fn check(bytes: &[u8]) -> bool {
    let start = Instant::now();
    let (result, _) = (read(bytes, "net"), inspect(bytes));
    assert!(start.elapsed() < TOO_LONG, "reading took {:?}", start.elapsed());
    match result {
        Ok(graph) => {
            assert_eq!(verify(&graph), Ok(()));
            true
        }
        Err(Error::Malformed(_) | Error::Unsupported(_)) => false,
        Err(other) => panic!("a reader does not report {other:?}"),
    }
}

#[test]
fn damaged_programs_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(0x7074_3200);
    for net in [layer(), history(), image(), branches(true)] {
        let (program, mut files, mut accepted) = (net.program(), net.files(), 0);
        assert!(check(&zip(&files)));
        let place = files.iter().position(|(name, _)| name.ends_with("model.json")).unwrap();
        for _ in 0..ROUNDS {
            files[place].1 = mutate(&program, &mut random);
            accepted += usize::from(check(&zip(&files)));
        }
        assert!((1..ROUNDS).contains(&accepted), "{accepted} of {ROUNDS} are sound");
    }
}

#[test]
fn damaged_archives_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(0x7a69_7000);
    let quantised = quantised_layer("torchao.quantization", "Int8Tensor");
    for bytes in [layer().bytes(), history().bytes(), quantised] {
        for _ in 0..ROUNDS {
            let mut damaged = bytes.clone();
            for _ in 0..=random.below(4) {
                // Most of what matters is in the directory.
                let from = if random.below(2) == 0 { bytes.len().saturating_sub(500) } else { 0 };
                let at = from + random.below(bytes.len() - from);
                damaged[at] = [0, 1, 0x7f, 0xff, damaged[at] ^ 1][random.below(5)];
            }
            check(&damaged);
            check(&bytes[..random.below(bytes.len())]);
        }
    }
}
