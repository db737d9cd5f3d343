use crate::*;

/// A small generator, so that cases are the same everywhere (xorshift64*).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() >> 33) as usize % n
    }

    fn real(&mut self) -> Real {
        let special =
            [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, 1.0, 3e38];
        match self.below(4) {
            0 => Real(special[self.below(special.len())]),
            1 => Real(self.below(1000) as f32 / 8.0),
            _ => Real(f32::from_bits(self.bits() as u32)),
        }
    }

    fn name(&mut self) -> String {
        let names = ["", "conv", "a/b:0", "quo\"te\\", "new\nline", "ü…{}[]//", "%1", " "];
        names[self.below(names.len())].into()
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(5)).map(|_| item(self)).collect()
    }

    fn int(&mut self) -> i32 {
        [0, 1, -1, i32::MIN, i32::MAX, self.bits() as i32][self.below(6)]
    }

    fn multiplier(&mut self) -> Multiplier {
        Multiplier { value: self.int(), shift: self.below(63) as i32 - 31 }
    }

    fn rescale(&mut self) -> Rescale {
        match self.below(5) {
            0 => Rescale::Real,
            1 => Rescale::Once(self.list(Self::multiplier)),
            2 => Rescale::Float(self.list(Self::real)),
            3 => Rescale::FloatSum { by: self.real(), plus: self.int() },
            _ => Rescale::FixedPoint(self.list(Self::multiplier)),
        }
    }

    fn add_rescale(&mut self) -> AddRescale {
        match self.below(4) {
            0 => return AddRescale::Real,
            1 => {
                let (x, y, constant) = (self.real(), self.real(), self.real());
                return AddRescale::Float { x, y, constant, offset: self.int() };
            }
            _ => {}
        }
        let (x, y, out) = (self.multiplier(), self.multiplier(), self.multiplier());
        AddRescale::FixedPoint { left_shift: self.below(30) as u32, x, y, out }
    }

    fn clamp(&mut self) -> Clamp {
        match self.below(2) {
            0 => Clamp::Int { lo: self.int(), hi: self.int() },
            _ => Clamp::Float { lo: self.real(), hi: self.real() },
        }
    }

    fn window(&mut self) -> Window {
        let mut pair = || [self.below(4), self.below(4)];
        let (size, stride, dilation, a, b) = (pair(), pair(), pair(), pair(), pair());
        Window { size, stride, dilation, pad: Padding { top: a[0], bottom: a[1], left: b[0], right: b[1] } }
    }

    fn order(&mut self) -> Order {
        [Order::ChannelLast, Order::Planar][self.below(2)]
    }

    fn op(&mut self) -> Op {
        match self.below(23) {
            22 => Op::ComputedConv2d {
                window: self.window(),
                groups: self.below(9),
                rescale: self.rescale(),
                clamp: self.clamp(),
            },
            0 => Op::Conv2d {
                window: self.window(),
                groups: self.below(9),
                rescale: self.rescale(),
                clamp: self.clamp(),
                layout: Layout { x: self.order(), y: self.order() },
            },
            1 => Op::Dense { rescale: self.rescale(), clamp: self.clamp() },
            2 => Op::AvgPool2d { window: self.window(), clamp: self.clamp() },
            3 => Op::MaxPool2d { window: self.window(), clamp: self.clamp() },
            4 => Op::Add { rescale: self.add_rescale(), clamp: self.clamp() },
            5 => Op::Sub { rescale: self.add_rescale(), clamp: self.clamp() },
            6 => Op::Mul { rescale: self.rescale(), clamp: self.clamp() },
            7 => Op::Clip { clamp: self.clamp() },
            8 => Op::LeakyRelu { alpha: self.real(), rescale: LeakyRescale::Real },
            9 => {
                let (identity, alpha) = (self.multiplier(), self.multiplier());
                Op::LeakyRelu { alpha: self.real(), rescale: LeakyRescale::FixedPoint { identity, alpha } }
            }
            10 => Op::Logistic {},
            11 => Op::Softmax { beta: self.real(), scale: SoftmaxScale::Real },
            12 => {
                let scale = SoftmaxScale::FixedPoint { multiplier: self.multiplier(), diff_min: self.int() };
                Op::Softmax { beta: self.real(), scale }
            }
            13 => Op::Lookup {},
            14 => Op::Requantize { rescale: self.rescale(), clamp: self.clamp() },
            15 => Op::Mean { axes: self.list(|r| r.below(5)), rescale: self.rescale(), clamp: self.clamp() },
            16 => Op::Pad {
                before: self.list(|r| r.below(5)),
                after: self.list(|r| r.below(5)),
                value: self.bits() as i64,
            },
            17 => Op::Concat { axis: self.below(5) },
            18 => Op::Slice { begin: self.list(|r| r.below(9)), step: self.list(|r| r.int().into()) },
            19 => Op::Transpose { perm: self.list(|r| r.below(5)) },
            20 => Op::Quantize {
                rounding: [
                    Rounding::Away,
                    Rounding::Even,
                    Rounding::EvenInverse,
                    Rounding::EvenSum(self.int()),
                ][self.below(4)],
            },
            _ => Op::Reshape {},
        }
    }

    fn ty(&mut self) -> Type {
        let dtype = DType::ALL[self.below(DType::ALL.len())];
        let dims = self.list(|r| r.below(5));
        let quant = match self.below(3) {
            0 => None,
            1 => Some(Quant { scales: vec![self.real()], zero_points: vec![self.int()], axis: None }),
            _ => {
                let zero = self.int();
                let zero_points = self.list(|r| if r.below(3) == 0 { r.int() } else { zero });
                Some(Quant { scales: self.list(Self::real), zero_points, axis: Some(self.below(4)) })
            }
        };
        Type { dtype, shape: Shape(dims), quant }
    }

    fn data(&mut self, ty: &Type) -> Data {
        let bytes = ty.bytes();
        match self.below(4) {
            // Does not fit the type.
            0 => Data::new((0..self.below(9)).map(|_| self.bits() as u8).collect::<Vec<_>>()),
            1 => Data::new(vec![self.bits() as u8; bytes]),
            _ if ty.dtype == DType::Bool => {
                Data::new((0..bytes).map(|_| self.below(2) as u8).collect::<Vec<_>>())
            }
            _ => Data::new((0..bytes).map(|_| self.bits() as u8).collect::<Vec<_>>()),
        }
    }

    fn graph(&mut self) -> Graph {
        let mut graph = Graph::new(self.name());
        let mut values = Vec::new();
        for _ in 0..1 + self.below(12) {
            let (name, ty) = (self.name(), self.ty());
            let id = match self.below(6) {
                0 => graph.add_input(name, ty),
                1 => {
                    let data = self.data(&ty);
                    graph.add_const(name, ty, data)
                }
                2 => {
                    let data = self.data(&ty);
                    graph.add_state(name, ty, data)
                }
                _ if values.is_empty() => continue,
                kind => {
                    let operands: Vec<ValueId> = self.list(|r| values[r.below(values.len())]);
                    let origin = self.name();
                    let op = self.op();
                    // One in three nodes is dead, unless something uses it below.
                    if kind == 3 {
                        graph.add_detached_node(op, &operands, name, ty, origin);
                        continue;
                    }
                    graph.add_node(op, &operands, name, ty, origin)
                }
            };
            values.push(id);
        }
        if !values.is_empty() {
            graph.outputs = self.list(|r| values[r.below(values.len())]);
            for state in 0..graph.states.len() {
                if self.below(2) == 0 {
                    graph.states[state].next = values[self.below(values.len())];
                }
            }
        }
        graph
    }
}

#[test]
fn what_is_printed_reads_back_equal() {
    let mut random = Random(7);
    for case in 0..5000 {
        let graph = random.graph();
        let text = graph.to_string();
        let parsed = Graph::parse(&text).unwrap_or_else(|e| panic!("case {case}: {e}\n{text}"));
        let compact = graph.compact();
        assert!(parsed == compact, "case {case}: {text}\nreads back as\n{parsed}\nwants\n{compact}");
        assert_eq!(parsed.to_string(), compact.to_string(), "case {case}");
        assert!(compact.compact() == compact, "case {case}: compact twice differs\n{text}");
    }
}

#[test]
fn the_form_is_pleasant() {
    let mut graph = Graph::new("example");
    let x = graph.add_input("samples", Type::quantized(DType::I8, &[1, 4], 0.5, -3));
    let old =
        graph.add_state("history", Type::quantized(DType::I8, &[1, 4], 0.5, -3), Data::from_i8(&[-3; 4]));
    let w = graph.add_const("", Type::plain(DType::F32, &[3]), Data::from_f32(&[1.0, -0.25, 1e-7]));
    let scaled = Type {
        quant: Some(Quant { scales: vec![Real(0.1), Real(0.2)], zero_points: vec![0, 0], axis: Some(1) }),
        ..Type::plain(DType::I32, &[17, 2])
    };
    let big = graph.add_const("big", scaled, Data::from_i32(&(0..34).collect::<Vec<_>>()));
    let sum = Op::Add {
        rescale: AddRescale::FixedPoint {
            left_shift: 20,
            x: Multiplier { value: 1 << 30, shift: 0 },
            y: Multiplier { value: 1 << 30, shift: -1 },
            out: Multiplier { value: 1 << 30, shift: -18 },
        },
        clamp: Clamp::I8,
    };
    let y = graph.add_node(sum, &[x, old], "sum", Type::quantized(DType::I8, &[1, 4], 1.0, 0), "3 ADD");
    graph.states[0].next = y;
    graph.outputs = vec![y, w, big];
    let expected = r#"graph "example" {
  input %0 "samples": i8[1,4] q(0.5 : -3)
  state %1 "history": i8[1,4] q(0.5 : -3) = splat -3
  %4 "sum": i8[1,4] q(1.0 : 0) = add(%0, %1) {rescale = (left_shift 20, x 1073741824 * 2^0, y 1073741824 * 2^-1, out 1073741824 * 2^-18), clamp = -128..=127} from "3 ADD"
  const %2: f32[3] = [1.0, -0.25, 1e-7]
  const %3 "big": i32[17,2] q(axis 1, [0.1, 0.2] : 0) = …
  next %1 = %4
  return %4, %2, %3
}
"#;
    assert_eq!(graph.print_short(), expected);
}

#[test]
fn short_form_elides_long_lists() {
    let text = r#"graph "g" {
  input %0: i8[1,2,3,4,5] q(axis 0, [0.5, 0.5, 0.5, 0.5, 0.5] : 0)
  return %0
}
"#;
    let short = Graph::parse(text).unwrap().print_short();
    assert!(short.contains("i8[1,2,3,4,5] q(axis 0, [0.5, …] : 0)"), "{short}");
    let error = Graph::parse("graph \"g\" { const %0: i8[2] = … }").unwrap_err();
    assert_eq!(error.message, "elided data cannot be read");
}

#[test]
fn errors_name_line_and_reason() {
    let cases = [
        ("", 1, "`graph` wanted, the end found"),
        ("graph \"g\" {\n", 2, "a value wanted, the end found"),
        ("graph \"g\" {\n  input %0: i9[1]\n}", 2, "`i9` is no element type"),
        ("graph \"g\" {\n  input %0: i8[1]\n  input %0: i8[1]\n}", 3, "%0 is declared twice"),
        ("graph \"g\" {\n  // nothing\n  return %3\n}", 3, "%3 is not declared"),
        ("graph \"g\" {\n  %0: i8[1] = swirl()\n}", 2, "there is no op named `swirl`"),
        ("graph \"g\" {\n  const %0: u8[1] = [256]\n}", 2, "256 is no u8"),
        (
            "graph \"g\" {\n  const %0: i8[1000000000000] = splat 1\n}",
            2,
            "a splat of more than 67108864 bytes",
        ),
        (
            "graph \"g\" {\n  const %0: i8[1] = hex \"0\"\n}",
            2,
            "a pair of hexadecimal digits per byte wanted",
        ),
        ("graph \"g\" {\n  input %x: i8[1]\n  next %x = %x\n}", 3, "%x is no state"),
        ("graph \"g\" {\n} }", 2, "`}` after the graph"),
        ("graph \"g", 1, "a string has no end"),
        ("graph \"g\" {\n  %0: i8[1] = concat(%0) {axes = 1}\n}", 2, "`axis` wanted, `axes` found"),
        (
            "graph \"g\" {\n  %0: i8[1] = max_pool2d(%0) {window = [1], clamp = 0..=1}\n}",
            2,
            "2 numbers wanted, 1 found",
        ),
    ];
    for (text, line, message) in cases {
        let error = Graph::parse(text).expect_err(text);
        assert_eq!((error.line, error.message.as_str()), (line, message), "{text}");
    }
}

#[test]
fn garbage_is_an_error_or_a_graph() {
    let mut random = Random(99);
    let pieces = [
        "{",
        "}",
        "[",
        "]",
        "%",
        "\"",
        "\\u{",
        "9999999999999999999",
        "-",
        "..=",
        "…",
        "graph",
        "//",
        "e9",
        "1e",
    ];
    for _ in 0..3000 {
        let mut text: Vec<char> = random.graph().to_string().chars().collect();
        for _ in 0..1 + random.below(6) {
            let at = random.below(text.len());
            match random.below(4) {
                0 => text.truncate(at),
                1 => drop(text.remove(at)),
                2 => text[at] = char::from_u32(random.below(300) as u32).unwrap(),
                _ => {
                    let piece: Vec<char> = pieces[random.below(pieces.len())].chars().collect();
                    text.splice(at..at, piece);
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text: String = text.into_iter().collect();
        if let Ok(graph) = Graph::parse(&text) {
            // What was understood is stable.
            assert!(Graph::parse(&graph.to_string()).unwrap() == graph.compact(), "{text}");
        }
    }
}
