//! Several models in one arena, and a model in an arena that is elsewhere.

use std::mem::size_of;

kiln::include_model!(Temporal = "../host-tests/models/tflite/temporal_int8.tflite");
kiln::include_model!(Stream = "../host-tests/models/tflite/stream_int8.tflite");
kiln::include_model!(Float = "../host-tests/models/tflite/stream_f32.tflite");

kiln::share_arena! {
    /// Models of different size, two of them with state.
    pub struct Trio {
        temporal: Temporal,
        /// Integers.
        stream: Stream,
        float: Float,
    }
}

kiln::include_model!(
    Digits = "../examples/digits/models/digits_int8.tflite",
    optimize = "memory",
    input = "rows"
);
kiln::include_model!(
    Window = "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite",
    input = "sliding"
);

kiln::share_arena! {
    struct Fed { digits: Digits, window: Window }
}

static IN_A_STATIC: std::sync::Mutex<Trio> = std::sync::Mutex::new(Trio::new());

/// As much as the largest model needs, and the states: no byte more but for alignment.
#[test]
fn memory_is_that_of_the_largest() {
    assert_eq!(Trio::ARENA_BYTES, Temporal::ARENA_BYTES.max(Stream::ARENA_BYTES).max(Float::ARENA_BYTES));
    assert_eq!(Trio::STATE_BYTES, Stream::STATE_BYTES + Float::STATE_BYTES);
    let apart = [size_of::<Temporal>(), size_of::<Stream>(), size_of::<Float>()];
    let arenas =
        [Temporal::ARENA_BYTES, Stream::ARENA_BYTES, Float::ARENA_BYTES].map(|b| b.next_multiple_of(16));
    let kept: usize = apart.iter().zip(&arenas).map(|(all, arena)| all - arena).sum();
    assert_eq!(size_of::<Trio>(), Trio::ARENA_BYTES.next_multiple_of(16) + kept);
    assert!(size_of::<Trio>() < apart.iter().sum::<usize>());
    assert_eq!(size_of::<Temporal>(), arenas[0], "a model without state keeps nothing");
}

/// The same outputs as with an arena for each, in turns, over several steps of the states.
#[test]
fn lent_models_compute_the_same() {
    let mut trio = IN_A_STATIC.lock().unwrap();
    let (mut temporal, mut stream, mut float) = (Temporal::new(), Stream::new(), Float::new());
    let mut outputs = Vec::new();
    for step in 0..12_i8 {
        let mut lent = trio.stream();
        for (k, x) in lent.input_mut().iter_mut().zip(stream.input_mut()).enumerate() {
            *x.0 = step.wrapping_mul(29).wrapping_add(k as i8 * 17);
            *x.1 = *x.0;
        }
        lent.invoke();
        stream.invoke();
        assert_eq!(lent.output(), stream.output(), "step {step}");
        outputs.push(*lent.output());

        let mut lent = trio.float();
        for (k, x) in lent.input_mut().iter_mut().zip(float.input_mut()).enumerate() {
            *x.0 = f32::from(step) * 0.1 - k as f32 * 0.05;
            *x.1 = *x.0;
        }
        lent.invoke();
        float.invoke();
        assert_eq!(lent.output(), float.output(), "step {step}");

        let mut lent = trio.temporal();
        lent.input_mut().fill(step);
        temporal.input_mut().fill(step);
        lent.invoke();
        temporal.invoke();
        assert_eq!(lent.output(), temporal.output(), "step {step}");
    }
    outputs.dedup();
    assert!(outputs.len() > 6, "the inputs make no difference: {outputs:?}");

    trio.stream().reset();
    stream.reset();
    let mut lent = trio.stream();
    lent.input_mut().fill(3);
    stream.input_mut().fill(3);
    lent.invoke();
    stream.invoke();
    assert_eq!(lent.output(), stream.output());
}

/// An arena of the user's own, larger than needed.
#[test]
fn an_arena_elsewhere() {
    const BYTES: usize = Stream::ARENA_BYTES + 100;
    let mut arena = kiln::Arena::<BYTES>::new();
    let (mut here, mut there) = (Stream::new(), Stream::with_arena(arena.first_mut()));
    for step in 0..4 {
        here.input_mut().fill(step);
        there.input_mut().fill(step);
        here.invoke();
        there.invoke();
        assert_eq!(here.output(), there.output());
    }
    assert_ne!(arena.get::<u8, 0, BYTES>(), &[0; BYTES]);
}

/// What is kept in a place of its own as well, and lent anew for each step.
#[test]
fn arena_and_state_elsewhere() {
    let mut arena = kiln::Arena::<{ Stream::ARENA_BYTES }>::new();
    let mut kept = <Stream as kiln::Share>::KEPT;
    let mut here = Stream::new();
    for step in 0..4 {
        let mut there = <Stream as kiln::Share>::lend(&mut arena, &mut kept);
        here.input_mut().fill(step);
        there.input_mut().fill(step);
        here.invoke();
        there.invoke();
        assert_eq!(here.output(), there.output());
    }
}

/// Through the trait that harnesses use.
#[test]
fn lent_models_are_models() {
    fn run(mut model: impl kiln::Model) -> Vec<u8> {
        model.input_bytes_mut(0).fill(5);
        model.invoke();
        model.output_bytes(0).to_vec()
    }
    assert_eq!(run(Trio::default().temporal()), run(Temporal::default()));
}

/// A sliding model's rows are kept, and it carries on where it was; a model fed by rows begins a new input each time it is lent.
#[test]
fn rows_of_lent_models() {
    let mut fed = Fed::new();
    assert_eq!(Fed::STATE_BYTES, Window::STATE_BYTES);
    let (mut digits, mut window) = (Digits::new(), Window::new());
    let row =
        |k: usize| -> [i8; Digits::ROW_LEN] { std::array::from_fn(|x| ((k * 8 + x) * 7 % 251) as u8 as i8) };
    let image: Vec<i8> = (0..Digits::ROWS).flat_map(row).collect();
    let expected = *digits.invoke(image.as_slice().try_into().unwrap());
    for frame in 0..3 * Window::ROWS as i8 {
        // Most of an input, which is lost when the other model is lent.
        let mut lent = fed.digits();
        (0..Digits::ROWS - 1).for_each(|k| assert!(lent.push_row(&row(k)).is_none()));

        let frame = std::array::from_fn(|k| frame.wrapping_mul(31).wrapping_add(k as i8));
        let output = fed.window().slide(&frame).copied();
        assert_eq!(output, window.slide(&frame).copied());

        let mut lent = fed.digits();
        let outputs: Vec<bool> = (0..Digits::ROWS).map(|k| lent.push_row(&row(k)).is_some()).collect();
        assert_eq!(outputs.iter().position(|&complete| complete), Some(Digits::ROWS - 1));
        assert_eq!(lent.output(), &expected);
    }
    assert!(fed.window().slide(&[0; Window::ROW_LEN]).is_some());
    fed.window().reset();
    assert!(fed.window().slide(&[0; Window::ROW_LEN]).is_none());
}
