//! Operators that remember, over several invocations: the interpreter, generated code on this machine and as firmware of cores with and without DSP instructions. SVDF against its
//! definition, written out here in whole numbers; LSTM against one of real numbers, which integers come close to, and these against each other.

// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::compare::compare;
use cargo_kiln::limits::Limits;
use cargo_kiln::place::Place;
use cargo_kiln::validate::{validate_on, Source, Start};
use kiln_codegen::front::read;
use kiln_codegen::front::tflite::testing::{Element, ModelBuilder, Options as Attributes, Table, Tensor};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data};
use kiln_codegen::{compile, Optimize, Options, Target};
use kiln_host_tests::differential::keep::golden;

/// Numbers that look random.
struct Random(u32);

impl Random {
    /// A number of that many bits, signed.
    fn signed(&mut self, bits: u32) -> i64 {
        self.0 = self.0.wrapping_mul(0x9e37_79b1).wrapping_add(0x7f4a_7c15) ^ (self.0 >> 13);
        i64::from((self.0.rotate_left(9) as i32) >> (32 - bits))
    }

    fn many(&mut self, count: usize, bits: u32) -> Vec<i64> {
        (0..count).map(|_| self.signed(bits)).collect()
    }
}

fn bytes(values: &[i64], width: usize) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()[..width].to_vec()).collect()
}

/// `x` times a factor, as TensorFlow Lite does it: a 31-bit mantissa, and rounded twice, to nearest with ties upwards and to nearest with ties away from zero.
fn times(x: i64, factor: f64) -> i64 {
    let exponent = factor.log2().floor() as i32 + 1;
    let mantissa = (factor / 2f64.powi(exponent) * 2f64.powi(31)).round() as i64;
    let product = ((x << exponent.max(0)) * mantissa + (1 << 30)).div_euclid(1 << 31);
    let divisor = 1i64 << (-exponent).max(0);
    product.signum() * ((2 * product.abs() + divisor) / (2 * divisor))
}

/// What the test compiles, and the outputs it expects of each invocation.
struct Sequence {
    name: String,
    model: Vec<u8>,
    inputs: Vec<Data>,
    expected: Vec<Data>,
    dtype: DType,
}

impl Sequence {
    /// Runs it everywhere.
    fn check(&self) {
        let cases: Vec<Vec<Data>> = self.inputs.iter().map(|x| vec![x.clone()]).collect();
        let graph = read(&self.model, &self.name).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let places = [
            ("interp", Options::default()),
            ("host", Options::default()),
            // The same arithmetic without the instructions.
            ("host", Options { target: Some(Target::CortexMDsp), ..Options::default() }),
            ("qemu-cortex-m4", Options::default()),
            ("qemu-cortex-m3", Options { optimize: Optimize::Size, ..Options::default() }),
        ];
        for (name, options) in places {
            let place = Place::find(name).unwrap();
            let compiled = compile(&self.model, &self.name, &place.options(&options)).unwrap();
            let actual = place.run(&graph, &compiled, &cases).unwrap();
            for (step, (actual, expected)) in actual.iter().zip(&self.expected).enumerate() {
                let difference = compare(self.dtype, &actual[0], expected);
                assert!(difference.passes(), "{} on {name}, step {step}: {difference}", self.name);
            }
            assert_eq!(actual.len(), self.expected.len());
        }
    }
}

/// The sizes of an SVDF.
#[derive(Clone, Copy)]
struct Svdf {
    features: usize,
    filters: usize,
    rank: usize,
    memory: usize,
    /// Bits of a state's elements; 32 for floats.
    state: u32,
}

const STEPS: usize = 7;
const ZERO: i64 = -5;
const RESULT_ZERO: i64 = 9;

impl Svdf {
    fn sequence(self) -> Sequence {
        let Svdf { features, filters, rank, memory, state } = self;
        let mut random = Random((features * 977 + filters * 31 + memory) as u32);
        let units = filters / rank;
        let first = random.many(features * filters, 8);
        let second = random.many(filters * memory, if state == 16 { 12 } else { 8 });
        let bias = random.many(units, 12);
        let x: Vec<Vec<i64>> = (0..STEPS).map(|_| random.many(features, 8)).collect();
        let name = format!("svdf_{features}_{filters}_{rank}_{memory}_{state}");
        let float = state == 32;
        let state_zero = if state == 8 { 3 } else { 0 };
        // A new feature of each filter, and a result of each unit, are about as large as their elements allow.
        let spread = (features as f64).sqrt() * 5500.0;
        let to_state = 2f64.powi(state.min(16) as i32 - 1) / spread / 2.5;
        let to_result =
            100.0 / ((memory * rank) as f64).sqrt() / 2f64.powi(if state == 16 { 13 + 10 } else { 6 + 6 });
        let scales = [1.0f32, to_state as f32, to_result as f32];
        let model = self.model(&first, &second, &bias, scales, state_zero, &name);
        let effective = [
            scales[0] * 0.5 / (0.5 / scales[1]),
            0.5 / scales[1] * 0.25 / (0.5 / scales[1] * 0.25 / scales[2]),
        ];

        let mut memories = vec![vec![0f64; memory]; filters];
        let mut expected = Vec::new();
        for x in &x {
            for (filter, memories) in memories.iter_mut().enumerate() {
                let products = x.iter().zip(&first[filter * features..]);
                let sum: i64 = products.map(|(x, w)| (x - if float { 0 } else { ZERO }) * w).sum();
                let limit = 1i64 << (state.min(16) - 1);
                let newest = match float {
                    true => sum as f64,
                    false => {
                        ((times(sum, effective[0].into()) + state_zero).clamp(-limit, limit - 1) - state_zero)
                            as f64
                    }
                };
                memories.rotate_left(1);
                memories[memory - 1] = newest;
            }
            let of_filter = |filter: usize| -> f64 {
                memories[filter].iter().zip(&second[filter * memory..]).map(|(m, w)| m * *w as f64).sum()
            };
            let of_unit = |unit: usize| {
                (unit * rank..(unit + 1) * rank).map(of_filter).sum::<f64>() + bias[unit] as f64
            };
            let units: Vec<f64> = (0..units).map(of_unit).collect();
            expected.push(match float {
                // RELU.
                true => Data::from_f32(&units.iter().map(|&y| y.max(0.0) as f32).collect::<Vec<_>>()),
                false => {
                    let stored = |y: &f64| {
                        (times(*y as i64, effective[1].into()) + RESULT_ZERO).clamp(-128, 127) as i8
                    };
                    Data::from_i8(&units.iter().map(stored).collect::<Vec<_>>())
                }
            });
        }
        // There is something to see.
        let last = expected.last().unwrap();
        assert!(last.bytes().iter().any(|b| b != &last.bytes()[0]), "{name}: {:?}", last.bytes());
        let inputs = x.iter().map(|x| match float {
            true => Data::from_f32(&x.iter().map(|&x| x as f32).collect::<Vec<_>>()),
            false => Data::new(bytes(x, 1)),
        });
        let dtype = if float { DType::F32 } else { DType::I8 };
        Sequence { name, model, inputs: inputs.collect(), expected, dtype }
    }

    fn model(
        &self,
        first: &[i64],
        second: &[i64],
        bias: &[i64],
        scales: [f32; 3],
        state_zero: i64,
        name: &str,
    ) -> Vec<u8> {
        let [features, filters, units, memory] =
            [self.features, self.filters, self.filters / self.rank, self.memory].map(|n| n as i32);
        let float = self.state == 32;
        let tensor = |element: Element, dims: &[i32], scale: f32, zero: i64| match float {
            true => Tensor::new(Element::Float32, dims),
            false => Tensor::new(element, dims).quantized(scale, zero),
        };
        let data = |values: &[i64], width: usize| match float {
            true => values.iter().flat_map(|&v| (v as f32).to_le_bytes()).collect(),
            false => bytes(values, width),
        };
        let (kept, width) = if self.state == 8 { (Element::Int8, 1) } else { (Element::Int16, 2) };
        let of_state = 0.5 / scales[1];
        let of_result = of_state * 0.25 / scales[2];
        let mut m = ModelBuilder::new();
        let x = m.input("x", tensor(Element::Int8, &[1, features], scales[0], ZERO));
        let w = m.constant("first", tensor(Element::Int8, &[filters, features], 0.5, 0), &data(first, 1));
        let t = m.constant("second", tensor(kept, &[filters, memory], 0.25, 0), &data(second, width));
        let b = m.constant("bias", tensor(Element::Int32, &[units], of_state * 0.25, 0), &data(bias, 4));
        let state = m.value("state", tensor(kept, &[1, filters * memory], of_state, state_zero).variable());
        let y = m.value(name, tensor(Element::Int8, &[1, units], of_result, RESULT_ZERO));
        // RELU, which integers of these scales do without: it is in their range.
        let options = Table::new().with(0, self.rank as i32).with(1, i8::from(float));
        m.operator(27, Attributes::table(6, options), &[x, w, t, b, state], &[y]);
        m.outputs(&[y]);
        m.build()
    }
}

#[test]
fn svdf_is_what_it_is_defined_to_be() {
    let svdf = |features, filters, rank, memory, state| Svdf { features, filters, rank, memory, state };
    let all = [
        svdf(16, 64, 1, 8, 16),
        svdf(7, 8, 2, 4, 16),
        svdf(9, 6, 3, 5, 16),
        svdf(8, 12, 3, 5, 8),
        svdf(7, 8, 2, 4, 32),
        svdf(6, 5, 1, 3, 32),
    ];
    all.iter().for_each(|svdf| svdf.sequence().check());
}

/// The sizes of an LSTM.
#[derive(Clone, Copy)]
struct Lstm {
    steps: usize,
    inputs: usize,
    units: usize,
    float: bool,
    /// The scale of its cell state is 2 to this power.
    power: i32,
    /// The largest cell state, 0 for any.
    clip: f32,
}

/// Steps of integers: of the input, of the weights, of the output.
const OF_INPUT: f32 = 1.0 / 64.0;
const OF_WEIGHTS: f32 = 1.0 / 160.0;
const OF_OUTPUT: f32 = 1.0 / 128.0;

impl Lstm {
    fn sequence(self) -> Sequence {
        let Lstm { steps, inputs, units, float, power, clip } = self;
        let mut random = Random((steps * 977 + inputs * 31 + units) as u32);
        let mut gates = |row: usize| [0; 4].map(|_| random.many(units * row, 8));
        let (weights, recurrent) = (gates(inputs), gates(units));
        let biases = [0; 4].map(|_| random.many(units, 13));
        let x: Vec<Vec<i64>> = (0..STEPS).map(|_| random.many(steps * inputs, 8)).collect();
        let name = format!("lstm_{steps}_{inputs}_{units}_{float}_{power}");
        let model = self.model([&weights, &recurrent, &biases], &name);

        let (mut hidden, mut cells) = (vec![0f64; units], vec![0f64; units]);
        let mut real = Vec::new();
        for x in &x {
            let mut outputs = Vec::new();
            for x in x.chunks(inputs) {
                let x: Vec<f64> = x.iter().map(|&x| (x - ZERO) as f64 * f64::from(OF_INPUT)).collect();
                let product = |w: &[i64], unit: usize, x: &[f64]| -> f64 {
                    w[unit * x.len()..]
                        .iter()
                        .zip(x)
                        .map(|(&w, x)| w as f64 * f64::from(OF_WEIGHTS) * x)
                        .sum()
                };
                let sigmoid = |x: f64| 1.0 / (1.0 + (-x).exp());
                let before = hidden.clone();
                for unit in 0..units {
                    let [i, f, g, o] = [0, 1, 2, 3].map(|gate: usize| {
                        let bias = biases[gate][unit] as f64 * f64::from(OF_INPUT) * f64::from(OF_WEIGHTS);
                        product(&weights[gate], unit, &x) + bias + product(&recurrent[gate], unit, &before)
                    });
                    let bound = if clip > 0.0 { f64::from(clip) } else { f64::INFINITY };
                    cells[unit] = (sigmoid(f) * cells[unit] + sigmoid(i) * g.tanh()).clamp(-bound, bound);
                    hidden[unit] = cells[unit].tanh() * sigmoid(o);
                }
                outputs.extend_from_slice(&hidden);
            }
            real.push(outputs);
        }
        let inputs: Vec<Data> = match float {
            true => {
                let real = |&x: &i64| (x - ZERO) as f32 * OF_INPUT;
                x.iter().map(|x| Data::from_f32(&x.iter().map(real).collect::<Vec<_>>())).collect()
            }
            false => x.iter().map(|x| Data::new(bytes(x, 1))).collect(),
        };
        let expected = match float {
            true => real
                .iter()
                .map(|y| Data::from_f32(&y.iter().map(|&y| y as f32).collect::<Vec<_>>()))
                .collect(),
            false => {
                let mut machine = Machine::new(&read(&model, &name).unwrap());
                let mut close = |(x, real): (&Data, &Vec<f64>)| {
                    let y = machine.run(std::slice::from_ref(x)).unwrap().remove(0);
                    for (k, (y, real)) in y.to_i8().into_iter().zip(real).enumerate() {
                        let error = f64::from(y) - RESULT_ZERO as f64 - real / f64::from(OF_OUTPUT);
                        assert!(error.abs() < 4.0, "{name}, output {k}: {y} is {error} off");
                    }
                    y
                };
                inputs.iter().zip(&real).map(&mut close).collect()
            }
        };
        let dtype = if float { DType::F32 } else { DType::I8 };
        Sequence { name, model, inputs, expected, dtype }
    }

    fn model(&self, [weights, recurrent, biases]: [&[Vec<i64>; 4]; 3], name: &str) -> Vec<u8> {
        let Lstm { float, power, clip, .. } = *self;
        let [steps, inputs, units] = [self.steps, self.inputs, self.units].map(|n| n as i32);
        let tensor = |element: Element, dims: &[i32], scale: f32, zero: i64| match float {
            true => Tensor::new(Element::Float32, dims),
            false => Tensor::new(element, dims).quantized(scale, zero),
        };
        let data = |values: &[i64], width: usize, scale: f32| match float {
            true => values.iter().flat_map(|&v| (v as f32 * scale).to_le_bytes()).collect(),
            false => bytes(values, width),
        };
        let mut m = ModelBuilder::new();
        let x = m.input("x", tensor(Element::Int8, &[1, steps, inputs], OF_INPUT, ZERO));
        let mut operands = vec![x];
        for (matrices, row) in [(weights, inputs), (recurrent, units)] {
            for matrix in matrices {
                let ty = tensor(Element::Int8, &[units, row], OF_WEIGHTS, 0);
                operands.push(m.constant("weights", ty, &data(matrix, 1, OF_WEIGHTS)));
            }
        }
        operands.extend([-1; 3]);
        for bias in biases {
            let scale = OF_INPUT * OF_WEIGHTS;
            let ty = tensor(Element::Int32, &[units], scale, 0);
            operands.push(m.constant("bias", ty, &data(bias, 4, scale)));
        }
        operands.extend([-1; 2]);
        operands
            .push(m.value("hidden", tensor(Element::Int8, &[1, units], OF_OUTPUT, RESULT_ZERO).variable()));
        operands.push(m.value("cells", tensor(Element::Int16, &[1, units], 2f32.powi(power), 0).variable()));
        operands.extend([-1; 4]);
        let y = m.value(name, tensor(Element::Int8, &[1, steps, units], OF_OUTPUT, RESULT_ZERO));
        m.operator(44, Attributes::table(71, Table::new().with(0, 4i8).with(1, clip)), &operands, &[y]);
        m.outputs(&[y]);
        m.build()
    }
}

/// Cases that start afresh are no sequence: the golden file says so, or an option does.
#[test]
fn golden_cases_start_afresh_where_the_file_says_so() {
    let Sequence { model, inputs, .. } =
        Svdf { features: 5, filters: 6, rank: 2, memory: 4, state: 16 }.sequence();
    let graph = read(&model, "afresh").unwrap();
    let cases: Vec<Vec<Data>> = inputs.iter().map(|x| vec![x.clone()]).collect();
    let run = |afresh: bool| -> Vec<Vec<Data>> {
        let mut machine = Machine::new(&graph);
        let mut one = |case: &Vec<Data>| {
            if afresh {
                machine.reset();
            }
            machine.run(case).unwrap()
        };
        cases.iter().map(&mut one).collect()
    };
    let raw = |cases: &[Vec<Data>]| -> Vec<Vec<Vec<u8>>> {
        cases.iter().map(|case| case.iter().map(|data| data.bytes().to_vec()).collect()).collect()
    };
    let folder = kiln_boards::work_dir().unwrap().join("afresh");
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("afresh.tflite");
    std::fs::write(&file, &model).unwrap();
    let places: Vec<String> = ["interp", "host"].map(String::from).to_vec();
    let validate = |afresh: bool, said: Option<bool>, start: Start| {
        let golden = golden(&graph, &raw(&cases), &raw(&run(afresh)), said).unwrap();
        let path = folder.join("afresh.npz");
        std::fs::write(&path, golden).unwrap();
        validate_on(&file, &Options::default(), Source::Golden(path), start, Limits::default(), &places)
            .unwrap()
    };
    assert!(validate(false, None, Start::AsTheFileSays).passes());
    assert!(validate(false, Some(false), Start::AsTheFileSays).passes());
    assert!(validate(true, Some(true), Start::AsTheFileSays).passes());
    assert!(validate(true, None, Start::Fresh).passes());
    assert!(validate(false, Some(true), Start::Sequence).passes());
    let report = validate(true, None, Start::AsTheFileSays);
    assert!(!report.passes() && report.text().contains("--fresh"), "{}", report.text());
    let report = validate(false, None, Start::Fresh);
    assert!(!report.passes() && report.text().contains("--sequence"), "{}", report.text());
}

#[test]
fn lstm_is_what_it_is_defined_to_be() {
    let lstm = |steps, inputs, units, float, power, clip| Lstm { steps, inputs, units, float, power, clip };
    let all = [
        lstm(3, 5, 4, false, -12, 0.0),
        lstm(1, 9, 7, false, -14, 1.5),
        lstm(4, 6, 3, false, -11, 10.0),
        lstm(3, 5, 4, true, 0, 0.75),
    ];
    all.iter().for_each(|lstm| lstm.sequence().check());
}
