//! Archives that are made here: what they become, what is said of those that cannot be read, and damaged ones.

use super::testing::{history, int, layer, object, text, Net};
use crate::testing::zip;
use crate::testing::Random;
use crate::{inspect, read, read_with};
use kiln_interp::Machine;
use kiln_ir::error::Error;
use kiln_ir::options::{InputShape, Options};
use kiln_ir::verify::verify;
use kiln_ir::{DType, Data, Graph};
use std::time::{Duration, Instant};

fn shaped(dims: &[&[usize]]) -> Options {
    let names = ["x", "y", "z"];
    let shape =
        |(name, dims): (&&str, &&[usize])| InputShape { name: Some((*name).into()), dims: dims.to_vec() };
    Options { input_shapes: names.iter().zip(dims).map(shape).collect(), ..Options::default() }
}

fn run(machine: &mut Machine, inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    let inputs: Vec<Data> = inputs.iter().map(|input| Data::from_f32(input)).collect();
    machine.run(&inputs).unwrap().iter().map(Data::to_f32).collect()
}

fn graph(net: &Net, dims: &[&[usize]]) -> Graph {
    let graph = read_with(&net.bytes(), "net", &shaped(dims)).unwrap();
    assert_eq!(verify(&graph), Ok(()));
    graph
}

fn results(net: &Net, dims: &[&[usize]], inputs: &[&[f32]]) -> Vec<Vec<f32>> {
    run(&mut Machine::new(&graph(net, dims)), inputs)
}

/// A module of one tensor, with these lines.
fn forward(lines: &str) -> Net {
    let lines: String = lines.lines().map(|line| format!("  {line}\n")).collect();
    Net::new(&format!("def forward(self: __torch__.M,\n  x: Tensor) -> Tensor:\n{lines}"))
}

fn refused(net: &Net, dims: &[&[usize]]) -> String {
    read_with(&net.bytes(), "net", &shaped(dims)).unwrap_err().to_string()
}

#[test]
fn code_is_executed_for_the_shapes_of_inputs() {
    let net = layer();
    let graph = graph(&net, &[&[2, 3]]);
    let names: Vec<&str> = graph.outputs.iter().map(|&id| graph.value(id).name.as_str()).collect();
    assert_eq!(names, ["rows", "sum"]);
    let expected = [vec![5.5, 0.0, 5.5, 0.5], vec![5.5, 6.0]];
    assert_eq!(run(&mut Machine::new(&graph), &[&[1.0, 1.0, 1.0, 0.0, 0.0, 2.0]]), expected);
    let raised = refused(&net, &[&[1, 1, 3]]);
    assert!(raised.contains("ValueError: 2 axes, not 3"), "{raised}");
    assert!(raised.contains("M, code/__torch__.py:8"), "{raised}");
}

#[test]
fn shapes_have_to_be_given() {
    let error = read(&layer().bytes(), "net").unwrap_err().to_string();
    assert!(error.contains("input \"x\"") && error.contains("input_shape([1, 3, 32, 32])"), "{error}");
    let summary = inspect(&layer().bytes()).unwrap();
    assert_eq!(
        (summary.format, summary.inputs[0].name.as_str(), summary.weight_bytes),
        ("TorchScript", "x", 32)
    );
    let names: Vec<&str> = summary.operators.iter().map(|operator| operator.name.as_str()).collect();
    assert_eq!(names, ["aten.linear", "aten.relu", "aten.sub", "aten.ne", "aten.sum"]);
}

#[test]
fn buffers_that_are_written_into_are_states() {
    let graph = graph(&history(), &[&[1, 2]]);
    assert_eq!((graph.states.len(), graph.inputs.len()), (1, 1));
    assert_eq!((graph.states[0].name.as_str(), &graph.states[0].init), ("h.b", &Data::from_f32(&[1.0; 6])));
    let mut machine = Machine::new(&graph);
    let mut step = |x: [f32; 2]| run(&mut machine, &[&x]).remove(0);
    assert_eq!([step([2.0, 0.0]), step([3.0, 5.0]), step([4.0, 0.0])], [[4.0, 2.0], [6.0, 6.0], [9.0, 5.0]]);
    assert_eq!(step([0.0, 1.0]), [7.0, 6.0]);
}

#[test]
fn attributes_that_are_set_are_states() {
    let net = forward("n = self.n\nself.n = torch.add(n, x)\nreturn torch.mul(self.n, n)").buffer(
        "n",
        &[1],
        &[3.0],
    );
    let graph = graph(&net, &[&[1]]);
    let mut machine = Machine::new(&graph);
    assert_eq!(run(&mut machine, &[&[1.0]]), [[12.0]]);
    assert_eq!(run(&mut machine, &[&[2.0]]), [[24.0]]);
    let net = forward("self.n = torch.add(self.n, 1)\nreturn torch.mul(x, self.n)").attribute("n", &int(3));
    let error = refused(&net, &[&[1]]);
    assert!(error.contains("changes the attribute \"n\", which is no tensor"), "{error}");
}

#[test]
fn lists_loops_and_functions_are_known() {
    let net = forward(
        "sizes = annotate(List[int], [])
i = 0
_0 = torch.lt(i, 3)
while _0:
  _1 = torch.append(sizes, torch.mul(i, i))
  i = torch.add(i, 1)
  _0 = torch.lt(i, 3)
a, b, c, = sizes
d = {\"k\": torch.add(sizes, [7])}
_2 = torch.slice(d[\"k\"], 1, None, 2)
n = (self.parts)[1]
_3 = __torch__.tools.scaled(x, by=torch.add(b, c))
return torch.add(_3, torch.sub(torch.len(_2), torch.mul(n, (_2)[-1])))",
    )
    .file("__torch__.tools", "def scaled(x: Tensor, by: int, power: Optional[int]=None) -> Tensor:\n  if torch.__is__(power, None):\n    y = torch.mul(x, by)\n  else:\n    y = torch.pow(x, power)\n  return y\n")
    .attribute("parts", &[&b"("[..], &text("a"), &int(2), b"t"].concat());
    // sizes [0, 1, 4], _2 [1, 7], n 2.
    assert_eq!(results(&net, &[&[2]], &[&[1.0, 2.0]]), [[-7.0, -2.0]]);
}

#[test]
fn tuples_have_named_elements() {
    let net = forward("p = __torch__.tools.Pair(x, b=torch.neg(x))\nreturn torch.sub((p).b, (p).a)")
        .file("__torch__.tools", "class Pair(NamedTuple):\n  a : Tensor\n  b : Tensor\n");
    assert_eq!(results(&net, &[&[1]], &[&[1.5]]), [[-3.0]]);
}

#[test]
fn long_code_is_read() {
    // A recurrence that a trace has written out.
    let steps: String = (0..400)
        .map(|k| format!("a{k}, b{k}, = torch.chunk(x{k}, 2, 0)\nx{} = torch.cat([b{k}, a{k}])\n", k + 1))
        .collect();
    let net = forward(&format!("x0 = torch.relu(x)\n{steps}v, i = torch.max(x400, 0)\nreturn v"));
    assert_eq!(results(&net, &[&[2]], &[&[1.0, 2.0]]), [[2.0]]);
}

#[test]
fn loops_begin_anywhere() {
    let net = forward(
        "for i in range(torch.__range_length(5, 0, -2)):
  x = torch.add(x, torch.__derive_index(i, 5, -2))
return x",
    );
    assert_eq!(results(&net, &[&[1]], &[&[0.0]]), [[9.0]]);
}

#[test]
fn buffers_that_share_memory_are_refused() {
    let mut net = forward("_0 = torch.add_(self.a, x)\nreturn torch.add(self.a, self.b)");
    let weight = net.weight(&[1], &[3.0]);
    let net = net.attribute("a", &weight).attribute("b", &weight);
    let error = refused(&net, &[&[1]]);
    assert!(error.contains("\"a\" is written into, and shares its memory"), "{error}");
}

#[test]
fn conditions_at_run_time_select() {
    let net = forward(
        "if bool(torch.gt(torch.sum(x), 0)):
  y, k = torch.mul(x, 2), 1
else:
  if bool(torch.lt(torch.sum(x), -10)):
    ops.prim.RaiseException(\"too small\")
  else:
    pass
  y, k = torch.neg(x), 1
return torch.add(y, k)",
    );
    let graph = graph(&net, &[&[2]]);
    let mut machine = Machine::new(&graph);
    assert_eq!(run(&mut machine, &[&[1.0, 2.0]]), [[3.0, 5.0]]);
    assert_eq!(run(&mut machine, &[&[-1.0, -2.0]]), [[2.0, 3.0]]);
    let net =
        forward("if bool(torch.gt(torch.sum(x), 0)):\n  y = torch.add_(x, 2)\nelse:\n  y = x\nreturn y");
    assert!(refused(&net, &[&[2]]).contains("changed in a branch"));
    let net = forward("y = x\nwhile bool(torch.gt(torch.sum(y), 0)):\n  y = torch.sub(y, 1)\nreturn y");
    assert!(refused(&net, &[&[2]]).contains("how often its loop runs"));
}

#[test]
fn inputs_that_are_indices_are_integers() {
    let net = Net::new(
        "def forward(self: __torch__.M,
  x: Tensor,
  y: Optional[Tensor]=None) -> Tensor:
  z = torch.embedding(CONSTANTS.c0, torch.add(torch.unsqueeze(x, 0), 1))
  if torch.__isnot__(y, None):
    z = torch.masked_fill(z, unchecked_cast(Tensor, y), 0.)
  else:
    pass
  return z",
    )
    .constant(&[3, 1], &[1.0, 2.0, 3.0]);
    let graph = graph(&net, &[&[2], &[2, 1]]);
    let types: Vec<DType> = graph.inputs.iter().map(|&id| graph.ty(id).dtype).collect();
    assert_eq!(types, [DType::I64, DType::Bool]);
    assert_eq!(super::tests::graph(&net, &[&[2]]).inputs.len(), 1);
}

#[test]
fn numbers_from_constants_are_known() {
    let net =
        forward("n = int(torch.add(CONSTANTS.c0, 1))\nreturn torch.reshape(x, [n, -1])").long(&[], &[2]);
    let graph = graph(&net, &[&[6]]);
    assert_eq!(graph.ty(graph.outputs[0]).shape.dims(), [3, 2]);
}

#[test]
fn writes_into_what_may_be_a_copy_are_refused() {
    let net = forward("t = torch.transpose(x, 0, 1)\nf = torch.flatten(t)\n_0 = torch.add_(x, 1)\nreturn f");
    let error = refused(&net, &[&[2, 2]]);
    assert!(error.contains("may be a view or a copy"), "{error}");
    // Of what lies densely, it is a view.
    let net = forward("f = torch.flatten(x)\n_0 = torch.add_(x, 1)\nreturn f");
    assert_eq!(results(&net, &[&[2, 1]], &[&[1.0, 2.0]]), [[2.0, 3.0]]);
}

#[test]
fn refusals_have_their_place() {
    let net = Net::new("def forward(self: __torch__.M,\n  x: Tensor) -> Tensor:\n  return (self.enc).forward(x, )")
        .file("__torch__.parts", "class Enc(Module):\n  def forward(self: __torch__.parts.Enc,\n    x: Tensor) -> Tensor:\n    return torch.lgamma(torch.polygamma(1, x))\n")
        .attribute("enc", &object("__torch__.parts", "Enc", &[]));
    let error = refused(&net, &[&[2]]);
    assert!(error.contains("enc (Enc), code/__torch__/parts.py:4"), "{error}");
    assert!(error.contains("aten::polygamma cannot be compiled"), "{error}");
    let net = forward("return torch.relu(self.missing)");
    assert!(refused(&net, &[&[2]]).contains("torch.jit.freeze"));
    let net = forward("return torch.relu(y)");
    assert!(refused(&net, &[&[2]]).contains("the variable \"y\" has no value"));
}

#[test]
fn pickles_name_nothing_foreign() {
    for (module, name) in [("os", "system"), ("builtins", "eval"), ("torch", "load"), ("__torch__x", "M")] {
        let call = format!("c{module}\n{name}\n(Vecho\ntR");
        let net = forward("return x").attribute("n", call.as_bytes());
        let error = refused(&net, &[&[1]]);
        assert!(error.contains(&format!("refers to {module}.{name}")), "{error}");
        assert!(error.contains("data.pkl, byte"), "{error}");
    }
    let net = forward("return x").attribute("n", &[&text("os")[..], &text("system"), b"\x93"].concat());
    assert!(refused(&net, &[&[1]]).contains("refers to os.system"));
}

#[test]
fn circles_and_depth_are_bounded() {
    // A list that holds itself, and lists within lists.
    let net = forward("return torch.add(x, torch.len(self.n))").attribute("n", b"]q\x01h\x01a");
    assert!(refused(&net, &[&[1]]).contains("nested too deep"));
    let deep = [&b"]".repeat(60)[..], &b"a".repeat(59)].concat();
    let net = forward("return torch.add(x, torch.len(self.n))").attribute("n", &deep);
    assert!(refused(&net, &[&[1]]).contains("nested too deep"));
    // An object that holds itself.
    let own = b"c__torch__\nM\n)\x81q\x01}(X\x01\0\0\0sh\x01ub";
    let net = forward("return ((((self.o).s).s).s).forward(x, )").attribute("o", own);
    let _ = refused(&net, &[&[1]]);
    let net = forward("return self.forward(x, )");
    assert!(refused(&net, &[&[1]]).contains("nested too deep"));
    let net =
        forward("l = [1]\n_0 = torch.append(l, l)\nif torch.eq(l, l):\n  pass\nelse:\n  pass\nreturn x");
    assert!(refused(&net, &[&[1]]).contains("nested too deep"));
    let net = forward("l = [1]\nfor i in range(100000):\n  l = [l]\nreturn x");
    let _ = read_with(&net.bytes(), "net", &shaped(&[&[1]]));
}

#[test]
fn work_is_bounded() {
    for lines in [
        "while True:\n  pass\nreturn x",
        "for i in range(9223372036854775807):\n  x = torch.relu(x)\nreturn x",
        "l = [1]\nfor i in range(1000):\n  l = torch.add(l, l)\nreturn x",
        "s = \"a\"\nfor i in range(1000):\n  s = torch.add(s, s)\nwhile True:\n  s = torch.format(\"{}{}\", s, s)\nreturn x",
        "l = torch.mul([1], 9223372036854775807)\nreturn x",
        "return torch.zeros([9223372036854775807, 9223372036854775807])",
        "return torch.cat(torch.unbind(torch.zeros([100000])))",
    ] {
        let begin = Instant::now();
        let error = refused(&forward(lines), &[&[1]]);
        assert!(begin.elapsed() < Duration::from_secs(5), "{lines}: {error}");
    }
}

#[test]
fn code_may_be_compressed() {
    let mut files = layer().files();
    let code = files.iter_mut().find(|(name, _)| name.ends_with(".py")).unwrap();
    let (name, size) = (code.0.clone(), code.1.len());
    // One block, stored as it is.
    let length = (size as u16).to_le_bytes();
    let stream = [&[1][..], &length, &length.map(|byte| !byte), &code.1].concat();
    let packed = stream.len();
    code.1 = stream;
    let mut bytes = zip(&files);
    let listed = bytes.windows(name.len()).rposition(|window| window == name.as_bytes()).unwrap() - 46;
    bytes[listed + 10] = 8;
    bytes[listed + 20..][..4].copy_from_slice(&(packed as u32).to_le_bytes());
    bytes[listed + 24..][..4].copy_from_slice(&(size as u32).to_le_bytes());
    assert!(read_with(&bytes, "net", &shaped(&[&[2, 3]])).is_ok());
    // Of a declared size that is not its own, it is damaged.
    bytes[listed + 24] ^= 1;
    assert!(matches!(read_with(&bytes, "net", &shaped(&[&[2, 3]])), Err(Error::Malformed(_))));
}

/// A file is read to a sound graph or an error, in short time.
fn survives(bytes: &[u8], dims: &[&[usize]]) {
    let begin = Instant::now();
    if let Ok(graph) = read_with(bytes, "net", &shaped(dims)) {
        assert_eq!(verify(&graph), Ok(()));
    }
    let _ = inspect(bytes);
    assert!(begin.elapsed() < Duration::from_secs(5));
}

#[test]
fn damaged_archives_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(1);
    for (net, dims) in [(layer(), [2usize, 3]), (history(), [1, 2])] {
        let bytes = net.bytes();
        for end in 0..bytes.len() {
            survives(&bytes[..end], &[&dims]);
        }
        for _ in 0..4000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(3) {
                let at = random.below(damaged.len());
                damaged[at] = match random.below(3) {
                    0 => random.below(256) as u8,
                    1 => damaged[at] ^ 1 << random.below(8),
                    _ => bytes[random.below(bytes.len())],
                };
            }
            survives(&damaged, &[&dims]);
        }
    }
}

#[test]
fn damaged_code_and_pickles_end_in_an_error_or_a_sound_graph() {
    let mut random = Random(7);
    for (net, dims) in [(layer(), [2usize, 3]), (history(), [1, 2])] {
        let files = net.files();
        for _ in 0..4000 {
            let mut damaged = files.clone();
            let readable: Vec<usize> = (0..files.len())
                .filter(|&k| files[k].0.ends_with(".py") || files[k].0.ends_with(".pkl"))
                .collect();
            let bytes = &mut damaged[readable[random.below(readable.len())]].1;
            // Parts are lost, repeated, or stand elsewhere.
            let (at, length) = (random.below(bytes.len()), 1 + random.below(12));
            let part: Vec<u8> = bytes[at..(at + length).min(bytes.len())].to_vec();
            match random.below(3) {
                0 => drop(bytes.drain(at..at + part.len())),
                _ => {
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, part.repeat(1 + random.below(3)));
                }
            }
            survives(&zip(&damaged), &[&dims]);
        }
    }
}
