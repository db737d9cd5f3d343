//! Models behind `dyn AnyModel`, against the same models called by their own methods.

// Helpers may unwrap as tests do.
#![allow(clippy::unwrap_used)]

use kiln::any::{batch, batch_in_threads, bytes_of, bytes_of_mut, AnyError, AnyModel, Which};
use kiln::{Arena, DType, Feed, Model, ModelInfo, TensorInfo};

kiln::include_model!(Float = "../examples/digits/models/digits_f32.tflite");
kiln::include_model!(Int8 = "../examples/digits/models/digits_int8.tflite");
kiln::include_model!(Rows = "../examples/digits/models/digits_int8.tflite", input = "rows");
kiln::include_model!(Window = "../examples/wake-digit/models/wake_digit_int8.tflite");
kiln::include_model!(Sliding = "../examples/wake-digit/models/wake_digit_int8.tflite", input = "sliding");
kiln::include_model!(Recurrent = "../host-tests/models/onnx_small/gru_step.onnx", state("h_out", "h_in"));

/// Bytes without a pattern.
fn noise(count: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}

/// Handwritten digits, as the integer network takes them.
fn digits(count: usize) -> Vec<u8> {
    let ink = include_bytes!("../../examples/digits/data/images.bin");
    ink[..64 * count].iter().map(|&ink| Int8::quantize_input(f32::from(ink) / 16.0) as u8).collect()
}

fn reals(count: usize) -> Vec<f32> {
    noise(count).iter().map(|&byte| f32::from(byte) / 255.0).collect()
}

#[test]
fn tensors_are_those_of_the_model() {
    let mut own = Int8::new();
    let mut boxed: Box<dyn AnyModel> = Box::new(Int8::with_arena(Arena::boxed()));
    assert_eq!(boxed.info(), &<Int8 as Model>::INFO);
    assert_eq!(boxed.input_info(0), Ok(&Int8::INPUT));
    assert_eq!(boxed.output_info(0), Ok(&Int8::OUTPUT));
    for (i, (x, y)) in own.input_mut().iter_mut().zip(boxed.input_mut::<i8>(0).unwrap()).enumerate() {
        *x = i as i8;
        *y = i as i8;
    }
    own.invoke();
    assert!(boxed.invoke());
    assert_eq!(boxed.output::<i8>(0).unwrap(), own.output());
    assert_eq!(boxed.output_bytes(0), bytes_of(own.output()));
}

#[test]
fn what_does_not_fit_is_said() {
    let model: &mut dyn AnyModel = &mut Int8::new();
    let (input, output) = (Which::Input(0), Which::Output(0));
    let of_type = |which, given| AnyError::Type { which, expected: DType::I8, given };
    assert_eq!(model.input_mut::<i8>(1), Err(AnyError::Missing(Which::Input(1))));
    assert_eq!(model.output::<i8>(3), Err(AnyError::Missing(Which::Output(3))));
    assert_eq!(model.input_mut::<f32>(0), Err(of_type(input, DType::F32)));
    assert_eq!(model.output::<u8>(0), Err(of_type(output, DType::U8)));
    assert_eq!(model.reals(1).err(), Some(AnyError::Missing(Which::Output(1))));
    let wrong = |error: AnyError, text: &str| assert_eq!(error.to_string(), text);
    wrong(model.infer(&[]).err().unwrap(), "the model has 1 inputs; given: 0");
    wrong(model.infer(&[&[0; 63]]).err().unwrap(), "input 0 takes 64 bytes; given: 63");
    wrong(model.infer_real(&[&[0.0; 65]]).err().unwrap(), "input 0 takes 64 elements; given: 65");
    wrong(of_type(input, DType::F32), "input 0 has elements of type I8, not F32");
    wrong(AnyError::Missing(output), "the model has no output 0");
    let error: Box<dyn std::error::Error> = Box::new(AnyError::NoModel);
    assert_eq!(error.to_string(), "there is no model to run the batch");
}

#[test]
fn however_a_model_is_fed_it_infers_from_whole_inputs() {
    let image = digits(1);
    let (whole, rows): (&mut dyn AnyModel, &mut dyn AnyModel) = (&mut Int8::new(), &mut Rows::new());
    assert_eq!(rows.info().feed, Feed::Rows);
    let expected = whole.infer(&[&image]).unwrap().output_bytes(0).to_vec();
    for _ in 0..2 {
        assert_eq!(rows.infer(&[&image]).unwrap().output_bytes(0), expected);
        // Some rows of another image, which are forgotten.
        for _ in 0..3 {
            rows.input_mut(0).unwrap().fill(9i8);
            assert!(!rows.invoke());
        }
    }

    let (window, sliding): (&mut dyn AnyModel, &mut dyn AnyModel) = (&mut Window::new(), &mut Sliding::new());
    let bytes = window.info().inputs[0].bytes();
    let frames = noise(2 * bytes);
    for start in [0, bytes, 0, 3] {
        let frames = &frames[start..start + bytes];
        let expected = window.infer(&[frames]).unwrap().output_bytes(0);
        assert_eq!(sliding.infer(&[frames]).unwrap().output_bytes(0), expected);
    }
}

#[test]
fn reals_are_quantised_as_the_model_asks() {
    let image = reals(64);
    let (mut own_float, mut own_int8) = (Float::new(), Int8::new());
    own_float.input_mut().copy_from_slice(&image);
    own_float.invoke();
    own_int8.input_mut().iter_mut().zip(&image).for_each(|(x, &real)| *x = Int8::quantize_input(real));
    own_int8.invoke();
    let mut models: [Box<dyn AnyModel>; 3] =
        [Box::new(Float::new()), Box::new(Int8::new()), Box::new(Rows::new())];
    let int8 = own_int8.output().map(Int8::dequantize_output).to_vec();
    let expected = [own_float.output().to_vec(), int8.clone(), int8];
    for (model, expected) in models.iter_mut().zip(&expected) {
        let scores = model.infer_real(&[&image]).unwrap().reals(0).unwrap();
        assert_eq!(scores.len(), 10);
        assert_eq!(&scores.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn state_stays_but_not_in_a_batch() {
    let model: &mut dyn AnyModel = &mut Recurrent::new();
    let info = model.info();
    assert!(info.state_bytes > 0);
    let (input, outputs) = (info.inputs[0].bytes(), info.outputs.len());
    assert_eq!((info.inputs.len(), outputs), (1, 1));
    let x = reals(input / 4);
    let first: Vec<f32> = model.infer_real(&[&x]).unwrap().reals(0).unwrap().collect();
    let second: Vec<f32> = model.infer_real(&[&x]).unwrap().reals(0).unwrap().collect();
    assert_ne!(first, second);
    let mut scores = vec![0.0; 2 * first.len()];
    let inputs = [&x[..], &x].concat();
    assert_eq!(batch(model, &[bytes_of(&inputs)], &mut [bytes_of_mut(&mut scores)]), Ok(2));
    assert_eq!(scores, [&first[..], &first].concat());
}

#[test]
fn a_batch_is_one_inference_after_the_other() {
    let model: &mut dyn AnyModel = &mut Int8::new();
    let images = digits(5);
    let mut scores = [0; 50];
    assert_eq!(batch(model, &[&images], &mut [&mut scores]), Ok(5));
    assert_ne!(scores[..10], scores[10..20]);
    for (image, scores) in images.chunks(64).zip(scores.chunks(10)) {
        assert_eq!(model.infer(&[image]).unwrap().output_bytes(0), scores);
    }
    assert_eq!(batch(model, &[&[]], &mut [&mut []]), Ok(0));
}

#[test]
fn batches_that_do_not_fit_are_not_begun() {
    let model: &mut dyn AnyModel = &mut Int8::new();
    let images = [0; 128];
    let mut scores = [0xaa; 20];
    fn given(model: &mut dyn AnyModel, images: &[&[u8]], scores: &mut [&mut [u8]]) -> String {
        batch(model, images, scores).unwrap_err().to_string()
    }
    assert_eq!(given(model, &[], &mut [&mut scores]), "the model has 1 inputs; given: 0");
    assert_eq!(given(model, &[&images], &mut []), "the model has 1 outputs; given: 0");
    assert_eq!(
        given(model, &[&images[1..]], &mut [&mut scores]),
        "input 0 takes 64 bytes for each of a batch; given, no whole number of that: 127"
    );
    assert_eq!(given(model, &[&images], &mut [&mut scores[1..]]), "output 0 takes 20 bytes; given: 19");
    let none: &mut [Box<dyn AnyModel>] = &mut [];
    assert_eq!(batch_in_threads(none, &[&images], &mut [&mut scores]), Err(AnyError::NoModel));
    let different: &mut [Box<dyn AnyModel>] = &mut [Box::new(Int8::new()), Box::new(Rows::new())];
    assert_eq!(batch_in_threads(different, &[&images], &mut [&mut scores]), Err(AnyError::DifferentModels));
    assert_eq!(scores, [0xaa; 20]);
}

#[test]
fn threads_give_what_one_model_gives() {
    for count in [0, 1, 2, 7, 100] {
        let images = digits(count);
        let mut expected = vec![0; count * 10];
        assert_eq!(batch(&mut Int8::new(), &[&images], &mut [&mut expected]), Ok(count));
        for threads in 1..6 {
            let mut models: Vec<Box<dyn AnyModel>> =
                (0..threads).map(|_| Box::new(Int8::with_arena(Arena::boxed())) as _).collect();
            let mut scores = vec![0; count * 10];
            assert_eq!(batch_in_threads(&mut models, &[&images], &mut [&mut scores]), Ok(count));
            assert_eq!(scores, expected, "{count} images in {threads} threads");
        }
    }
}

#[test]
fn threads_take_models_by_reference() {
    let (mut here, mut there) = (Int8::new(), Int8::new());
    let models: &mut [&mut dyn AnyModel] = &mut [&mut here, &mut there];
    let (images, mut scores) = (digits(3), [0; 30]);
    assert_eq!(batch_in_threads(models, &[&images], &mut [&mut scores]), Ok(3));
    assert_eq!(models[0].infer(&[&images[..64]]).unwrap().output_bytes(0), &scores[..10]);
}

/// Gives what it was given: tensors of all other types, two of which stand where their elements are not aligned.
struct Echo {
    memory: Arena<64>,
    runs: usize,
    shares: Vec<std::thread::ThreadId>,
}

impl Echo {
    fn new() -> Echo {
        Echo { memory: Arena::new(), runs: 0, shares: Vec::new() }
    }
}

const fn tensor(dtype: DType, shape: &'static [usize], scale: f32, zero_point: i32) -> TensorInfo {
    TensorInfo { name: "", dtype, shape, scale, zero_point }
}

const ECHOED: &[TensorInfo] = &[
    tensor(DType::I64, &[2], 1.0, 0),
    tensor(DType::I32, &[], 0.5, 3),
    tensor(DType::I16, &[2, 1], 0.25, 0),
    tensor(DType::Bool, &[3], 1.0, 0),
    tensor(DType::U8, &[1], 0.5, 128),
    tensor(DType::I16, &[1], 1.0, 0),
];

/// Where the bytes of a tensor are.
fn place(index: usize) -> std::ops::Range<usize> {
    let bytes = |tensors: &[TensorInfo]| tensors.iter().map(TensorInfo::bytes).sum::<usize>();
    // Behind three booleans and a byte, one byte further: not aligned.
    let start = bytes(&ECHOED[..index]) + usize::from(index == 5);
    start..start + ECHOED[index].bytes()
}

impl Model for Echo {
    const INFO: ModelInfo = ModelInfo {
        name: "echo",
        arena_bytes: 64,
        state_bytes: 0,
        feed: Feed::Whole,
        inputs: ECHOED,
        outputs: ECHOED,
    };

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        &mut self.memory.get_mut::<u8, 0, 64>()[place(index)]
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        &self.memory.get::<u8, 0, 64>()[place(index)]
    }

    fn invoke(&mut self) -> bool {
        self.runs += 1;
        self.shares.push(std::thread::current().id());
        true
    }

    fn reset(&mut self) {}
}

#[test]
fn all_types_can_be_told() {
    let model: &mut dyn AnyModel = &mut Echo::new();
    model.input_mut::<i64>(0).unwrap().copy_from_slice(&[-1, i64::MAX]);
    model.input_mut::<i32>(1).unwrap()[0] = -7;
    model.input_mut::<i16>(2).unwrap().copy_from_slice(&[1, -2]);
    model.input_mut::<u8>(3).unwrap().copy_from_slice(&[0, 1, 0]);
    model.input_mut::<u8>(4).unwrap()[0] = 130;
    assert_eq!(model.input_mut::<i16>(5), Err(AnyError::Misaligned(Which::Input(5))));
    assert_eq!(model.output::<i16>(5), Err(AnyError::Misaligned(Which::Output(5))));
    let given = AnyError::Type { which: Which::Input(4), expected: DType::U8, given: DType::I8 };
    assert_eq!(model.input_mut::<i8>(4), Err(given));
    assert_eq!(model.output::<i64>(0), Ok(&[-1, i64::MAX][..]));
    let reals = |index| model.reals(index).unwrap().collect::<Vec<_>>();
    assert_eq!(reals(0), [-1.0, i64::MAX as f32]);
    assert_eq!(reals(1), [-5.0]);
    assert_eq!(reals(2), [0.25, -0.5]);
    assert_eq!(reals(3), [0.0, 1.0, 0.0]);
    assert_eq!(reals(4), [1.0]);
}

#[test]
fn all_types_take_reals() {
    let model: &mut dyn AnyModel = &mut Echo::new();
    let inputs: [&[f32]; 6] =
        [&[-1.6, f32::MAX], &[7.2], &[0.3, -1e9], &[0.0, -3.0, 1.0], &[-1000.0], &[5.0]];
    model.infer_real(&inputs).unwrap();
    assert_eq!(model.output::<i64>(0), Ok(&[-2, i64::MAX][..]));
    assert_eq!(model.output::<i32>(1), Ok(&[14 + 3][..]));
    assert_eq!(model.output::<i16>(2), Ok(&[1, i16::MIN][..]));
    assert_eq!(model.output::<u8>(3), Ok(&[0, 1, 1][..]));
    assert_eq!(model.output::<u8>(4), Ok(&[0][..]));
    assert_eq!(model.output_bytes(5), [5, 0]);
    let given = AnyError::Elements { which: Which::Input(2), expected: 2, given: 1 };
    assert_eq!(model.infer_real(&[&[0.0; 2], &[0.0], &[0.0], &[], &[], &[]]).err(), Some(given));
}

#[test]
fn threads_share_all_tensors_of_a_batch_evenly() {
    let mut models: Vec<Echo> = (0..3).map(|_| Echo::new()).collect();
    let mut any: Vec<&mut dyn AnyModel> = models.iter_mut().map(|model| model as _).collect();
    let bytes: Vec<Vec<u8>> = ECHOED.iter().map(|tensor| noise(8 * tensor.bytes())).collect();
    let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let mut outputs: Vec<Vec<u8>> = bytes.iter().map(|bytes| vec![0; bytes.len()]).collect();
    let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(Vec::as_mut_slice).collect();
    assert_eq!(batch_in_threads(&mut any, &inputs, &mut outputs), Ok(8));
    assert_eq!(outputs, inputs);
    let mut runs: Vec<usize> = models.iter().map(|model| model.runs).collect();
    runs.sort_unstable();
    assert_eq!(runs, [2, 3, 3]);
    let mut threads: Vec<_> = models.iter().map(|model| model.shares[0]).collect();
    assert!(models.iter().zip(&threads).all(|(model, thread)| model.shares.iter().all(|id| id == thread)));
    assert_eq!(threads.remove(0), std::thread::current().id());
    assert!(threads[0] != threads[1] && !threads.contains(&std::thread::current().id()));
}

/// A model with state that is fed by rows: it gives the sum of all rows so far, after three of them.
struct Sum {
    memory: Arena<16>,
    rows: usize,
}

impl Model for Sum {
    const INFO: ModelInfo = ModelInfo {
        name: "sum",
        arena_bytes: 16,
        state_bytes: 1,
        feed: Feed::Rows,
        inputs: &[tensor(DType::U8, &[1, 3, 2], 1.0, 0)],
        outputs: &[tensor(DType::U8, &[2], 1.0, 0)],
    };

    fn input_bytes_mut(&mut self, _: usize) -> &mut [u8] {
        self.memory.get_mut::<u8, 0, 2>()
    }

    fn output_bytes(&self, _: usize) -> &[u8] {
        self.memory.get::<u8, 2, 2>()
    }

    fn invoke(&mut self) -> bool {
        let [x, y, sum_x, sum_y] = self.memory.get_mut::<u8, 0, 4>();
        *sum_x += *x;
        *sum_y += *y;
        self.rows += 1;
        self.rows % 3 == 0
    }

    fn reset(&mut self) {
        *self = Sum { memory: Arena::new(), rows: 0 };
    }
}

#[test]
fn a_begun_input_is_noticed_where_it_cannot_be_forgotten() {
    let model: &mut dyn AnyModel = &mut Sum { memory: Arena::new(), rows: 0 };
    let rows: [&[u8]; 1] = [&[1, 2, 3, 4, 5, 6]];
    assert_eq!(model.infer(&rows).unwrap().output(0), Ok(&[9u8, 12][..]));
    assert_eq!(model.infer(&rows).unwrap().output(0), Ok(&[18u8, 24][..]));
    model.invoke();
    assert_eq!(model.infer(&rows).err(), Some(AnyError::Begun));
    model.reset();
    assert_eq!(model.infer(&rows).unwrap().output(0), Ok(&[9u8, 12][..]));
}

#[cfg(feature = "ndarray")]
#[test]
fn tensors_are_views() {
    let image = reals(64);
    let (plain, viewed): (&mut dyn AnyModel, &mut dyn AnyModel) = (&mut Float::new(), &mut Float::new());
    let expected = plain.infer_real(&[&image]).unwrap();
    let array = ndarray::Array::from_shape_vec((1, 8, 8, 1), image).unwrap();
    viewed.input_view_mut::<f32>(0).unwrap().assign(&array);
    viewed.invoke();
    let scores = viewed.output_view::<f32>(0).unwrap();
    assert_eq!(scores.shape(), [1, 10]);
    assert_eq!(scores.as_slice().unwrap(), expected.output::<f32>(0).unwrap());
    assert_eq!(viewed.output_view::<f32>(1), Err(AnyError::Missing(Which::Output(1))));
    let given = AnyError::Type { which: Which::Input(0), expected: DType::F32, given: DType::U8 };
    assert_eq!(viewed.input_view_mut::<u8>(0), Err(given));
}

#[cfg(feature = "ndarray")]
#[test]
fn views_of_rows_have_their_shape() {
    let model: &mut dyn AnyModel = &mut Rows::new();
    assert_eq!(model.input_view_mut::<i8>(0).unwrap().shape(), [1, 1, 8, 1]);
    let scalars: &mut dyn AnyModel = &mut Echo::new();
    assert_eq!(scalars.output_view::<i32>(1).unwrap().shape(), [0; 0]);
    assert_eq!(scalars.output_view::<i16>(2).unwrap().shape(), [2, 1]);
}
