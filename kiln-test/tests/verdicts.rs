//! Models written by hand, right and wrong ones: the check has to tell them apart.

use kiln::{Feed, Model, ModelInfo, TensorInfo};
use kiln_codegen::ir::{AddRescale, Clamp, DType, Data, Graph, Op, Type};
use kiln_test::{check_graph, Failure, Number, Options};

const fn tensor(dtype: kiln::DType, shape: &'static [usize]) -> TensorInfo {
    TensorInfo { name: "x", dtype, shape, scale: 1.0, zero_point: 0 }
}

/// `op_concat_twice_int8`: int8[1, 5, 2] to int8[1, 10, 2], the input twice. `WRONG` replaces the last element by 0.
#[derive(Default)]
struct Twice<const WRONG: bool> {
    input: [u8; 10],
    output: [u8; 20],
}

impl<const WRONG: bool> Twice<WRONG> {
    fn new() -> Self {
        Self::default()
    }
}

impl<const WRONG: bool> Model for Twice<WRONG> {
    const INFO: ModelInfo = ModelInfo {
        name: "twice",
        arena_bytes: 30,
        state_bytes: 0,
        feed: Feed::Whole,
        inputs: &[tensor(kiln::DType::I8, &[1, 5, 2])],
        outputs: &[tensor(kiln::DType::I8, &[1, 10, 2])],
    };

    fn input_bytes_mut(&mut self, _: usize) -> &mut [u8] {
        &mut self.input
    }

    fn output_bytes(&self, _: usize) -> &[u8] {
        &self.output
    }

    fn invoke(&mut self) -> bool {
        self.output[..10].copy_from_slice(&self.input);
        self.output[10..].copy_from_slice(&self.input);
        if WRONG {
            self.output[19] = 0;
        }
        true
    }

    fn reset(&mut self) {}
}

type Right = Twice<false>;
type Wrong = Twice<true>;
const TWICE: &str = "../host-tests/models/tflite/op_concat_twice_int8.tflite";

#[test]
fn the_macro_accepts_a_right_model() {
    kiln_test::assert_equivalent!(Right, TWICE);
    kiln_test::assert_equivalent!(
        Right,
        "../host-tests/models/tflite/op_concat_twice_int8.tflite",
        cases = 10,
        seed = 9,
    );
}

#[test]
#[should_panic(expected = "case 0, output 0, index [0, 9, 1]: generated code gives 0, interpreter")]
fn the_macro_fails_a_wrong_model() {
    kiln_test::assert_equivalent!(Wrong, TWICE, cases = 20);
}

#[test]
#[should_panic(expected = "another model: input 0 is i8[1, 5, 2], not i8[1, 6, 5]")]
fn the_macro_fails_on_the_file_of_another_model() {
    kiln_test::assert_equivalent!(Right, "../host-tests/models/tflite/op_expand_dims_int8.tflite");
}

#[test]
#[should_panic(expected = "cannot read")]
fn the_macro_fails_without_a_file() {
    kiln_test::assert_equivalent!(Right, "models/none.tflite");
}

/// A delay line of one step: the output is the input of the step before, at first 7. `FORGETS` makes `reset` do nothing.
struct Delay<const FORGETS: bool> {
    input: [u8; 4],
    state: [u8; 4],
    output: [u8; 4],
}

impl<const FORGETS: bool> Delay<FORGETS> {
    fn new() -> Self {
        Delay { input: [0; 4], state: [7; 4], output: [0; 4] }
    }
}

impl<const FORGETS: bool> Model for Delay<FORGETS> {
    const INFO: ModelInfo = ModelInfo {
        name: "delay",
        arena_bytes: 8,
        state_bytes: 4,
        feed: Feed::Whole,
        inputs: &[tensor(kiln::DType::I8, &[1, 4])],
        outputs: &[tensor(kiln::DType::I8, &[1, 4])],
    };

    fn input_bytes_mut(&mut self, _: usize) -> &mut [u8] {
        &mut self.input
    }

    fn output_bytes(&self, _: usize) -> &[u8] {
        &self.output
    }

    fn invoke(&mut self) -> bool {
        self.output = self.state;
        self.state = self.input;
        true
    }

    fn reset(&mut self) {
        if !FORGETS {
            self.state = [7; 4];
        }
    }
}

fn delay_graph() -> Graph {
    let mut graph = Graph::new("delay");
    let ty = Type::plain(DType::I8, &[1, 4]);
    let x = graph.add_input("x", ty.clone());
    let state = graph.add_state("last", ty.clone(), Data::from_i8(&[7; 4]));
    let y = graph.add_node(Op::Reshape {}, &[state], "y", ty, "0 RESHAPE");
    graph.states[0].next = x;
    graph.outputs.push(y);
    graph
}

fn options(cases: usize) -> Options {
    let mut options = Options::default();
    options.cases = cases;
    options
}

#[test]
fn state_is_kept_within_a_sequence_and_reset_between_sequences() {
    let summary = check_graph(Delay::<false>::new, &delay_graph(), &options(30)).unwrap();
    assert_eq!((summary.cases, summary.elements), (30, 120));
    let Err(Failure::Mismatch(found)) = check_graph(Delay::<true>::new, &delay_graph(), &options(30)) else {
        panic!("a reset that does nothing was not noticed");
    };
    assert_eq!((found.case, found.step, found.expected), (12, Some(0), Number::Int(7)));
}

/// Twice the input, float32[1, 3]; `ERROR` millionths too much.
struct Double<const ERROR: u32> {
    input: [u8; 12],
    output: [u8; 12],
}

impl<const ERROR: u32> Double<ERROR> {
    fn new() -> Self {
        Double { input: [0; 12], output: [0; 12] }
    }
}

impl<const ERROR: u32> Model for Double<ERROR> {
    const INFO: ModelInfo = ModelInfo {
        name: "double",
        arena_bytes: 24,
        state_bytes: 0,
        feed: Feed::Whole,
        inputs: &[tensor(kiln::DType::F32, &[1, 3])],
        outputs: &[tensor(kiln::DType::F32, &[1, 3])],
    };

    fn input_bytes_mut(&mut self, _: usize) -> &mut [u8] {
        &mut self.input
    }

    fn output_bytes(&self, _: usize) -> &[u8] {
        &self.output
    }

    fn invoke(&mut self) -> bool {
        let x = Data::new(&self.input[..]).to_f32();
        let y: Vec<f32> = x.iter().map(|x| 2.0 * x * (1.0 + ERROR as f32 * 1e-6)).collect();
        self.output.copy_from_slice(Data::from_f32(&y).bytes());
        true
    }

    fn reset(&mut self) {}
}

fn double_graph() -> Graph {
    let mut graph = Graph::new("double");
    let ty = Type::plain(DType::F32, &[1, 3]);
    let x = graph.add_input("x", ty.clone());
    let y = graph.add_node(Op::Concat { axis: 1 }, &[x], "copy", ty.clone(), "0 CONCATENATION");
    let add = Op::Add { rescale: AddRescale::Real, clamp: Clamp::NO_FLOAT };
    let y = graph.add_node(add, &[x, y], "y", ty, "1 ADD");
    graph.outputs.push(y);
    graph
}

#[test]
fn floats_have_a_bound() {
    let summary = check_graph(Double::<5>::new, &double_graph(), &options(50)).unwrap();
    assert!(summary.largest_relative > 3e-6 && summary.largest_relative < 1e-5);
    assert!(matches!(
        check_graph(Double::<100>::new, &double_graph(), &options(50)),
        Err(Failure::Mismatch(_))
    ));
    let mut wide = options(50);
    wide.float_bound = 2e-4;
    assert!(check_graph(Double::<100>::new, &double_graph(), &wide).is_ok());
}

/// `Twice`, fed by rows; sliding, the output is the latest row behind the one before. `LATE` outputs do not come with the last row.
struct ByRow<const SLIDING: bool, const LATE: bool> {
    rows: Vec<u8>,
    output: Vec<u8>,
    count: usize,
}

impl<const SLIDING: bool, const LATE: bool> ByRow<SLIDING, LATE> {
    fn new() -> Self {
        ByRow { rows: vec![0; 10], output: vec![0; 20], count: 0 }
    }
}

impl<const SLIDING: bool, const LATE: bool> Model for ByRow<SLIDING, LATE> {
    const INFO: ModelInfo = ModelInfo {
        name: "by_row",
        arena_bytes: 30,
        state_bytes: 0,
        feed: if SLIDING { Feed::Sliding } else { Feed::Rows },
        inputs: &[tensor(kiln::DType::I8, &[1, 5, 2])],
        outputs: &[tensor(kiln::DType::I8, &[1, 10, 2])],
    };

    fn input_bytes_mut(&mut self, _: usize) -> &mut [u8] {
        &mut self.rows[8..]
    }

    fn output_bytes(&self, _: usize) -> &[u8] {
        &self.output
    }

    fn invoke(&mut self) -> bool {
        self.output = [&self.rows[..], &self.rows[..]].concat();
        self.rows.copy_within(2.., 0);
        self.count += 1;
        let due = if LATE { 6 } else { 5 };
        if SLIDING {
            self.count >= due
        } else {
            self.count % due == 0
        }
    }

    fn reset(&mut self) {
        *self = Self::new();
    }
}

#[test]
fn models_fed_by_rows_get_rows() {
    let bytes = std::fs::read(TWICE).unwrap();
    let graph = kiln_codegen::import(&bytes, "twice", &kiln_codegen::Options::default()).unwrap();
    let summary = check_graph(ByRow::<false, false>::new, &graph, &options(30)).unwrap();
    assert_eq!((summary.cases, summary.elements), (30, 600));
    let summary = check_graph(ByRow::<true, false>::new, &graph, &options(30)).unwrap();
    assert_eq!((summary.cases, summary.elements), (30, 600));
    let late = check_graph(ByRow::<false, true>::new, &graph, &options(30)).unwrap_err().to_string();
    assert!(late.contains("the outputs are not complete when the input is"), "{late}");
}

#[test]
fn a_panic_of_the_model_is_a_failure() {
    let failure = check_graph(|| -> Delay<false> { panic!("made to fail") }, &delay_graph(), &options(1));
    assert!(matches!(failure, Err(Failure::Thread(_))));
}
