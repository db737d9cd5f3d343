//! Models in two arenas, by their typed methods.

use std::sync::Mutex;

kiln::include_model!(Whole = "../host-tests/models/tflite/residual_int8.tflite");
kiln::include_model!(Fast = "../host-tests/models/tflite/residual_int8.tflite", fast_ram = "1K");
kiln::include_model!(
    FastRows = "../host-tests/models/tflite/residual_int8.tflite",
    input = "rows",
    optimize = "memory",
    fast_ram = "256"
);
kiln::include_model!(Stream = "../host-tests/models/tflite/stream_int8.tflite");
kiln::include_model!(FastStream = "../host-tests/models/tflite/stream_int8.tflite", fast_ram = "16");
kiln::include_model!(OnlyFast = "../host-tests/models/tflite/stream_int8.tflite", fast_ram = "1M");
kiln::include_model!(OnlySlow = "../host-tests/models/tflite/stream_int8.tflite", fast_ram = "0");

/// Each arena in a section of its own.
#[cfg_attr(target_os = "linux", link_section = ".bss.fast")]
static FAST: Mutex<kiln::Arena<{ Fast::FAST_BYTES }>> = Mutex::new(kiln::Arena::new());
#[cfg_attr(target_os = "linux", link_section = ".bss.slow")]
static SLOW: Mutex<kiln::Arena<{ Fast::ARENA_BYTES }>> = Mutex::new(kiln::Arena::new());

fn image(seed: usize) -> [i8; 64] {
    std::array::from_fn(|k| (((k + 1) * (seed + 1) * 40_503) >> 7) as i8)
}

fn whole(image: &[i8; 64]) -> [i8; 10] {
    let mut model = Whole::new();
    model.input_mut().copy_from_slice(image);
    model.invoke();
    *model.output()
}

#[test]
fn no_more_fast_ram_than_asked_for() {
    const { assert!(0 < Fast::FAST_BYTES && Fast::FAST_BYTES <= 1024 && Fast::ARENA_BYTES < Whole::ARENA_BYTES) };
    const { assert!(0 < FastRows::FAST_BYTES && FastRows::FAST_BYTES <= 256) };
    const { assert!(0 < FastStream::FAST_BYTES && FastStream::FAST_BYTES <= 16 && FastStream::ARENA_BYTES > 0) };
    assert_eq!((OnlyFast::FAST_BYTES, OnlyFast::ARENA_BYTES), (Stream::ARENA_BYTES, 0));
    assert_eq!((OnlySlow::FAST_BYTES, OnlySlow::ARENA_BYTES), (0, Stream::ARENA_BYTES));
    assert_eq!(<Fast as kiln::Model>::INFO.arena_bytes, Fast::FAST_BYTES + Fast::ARENA_BYTES);
}

#[test]
fn arenas_in_sections() {
    let (mut fast, mut slow) = (FAST.lock().unwrap(), SLOW.lock().unwrap());
    for seed in 0..4 {
        let mut model = Fast::with_arenas(&mut *fast, &mut *slow);
        model.input_mut().copy_from_slice(&image(seed));
        model.invoke();
        assert_eq!(*model.output(), whole(&image(seed)));
    }
    assert_ne!(fast.get::<u8, 0, { Fast::FAST_BYTES }>(), &[0; Fast::FAST_BYTES]);
    assert_ne!(slow.get::<u8, 0, { Fast::ARENA_BYTES }>(), &[0; Fast::ARENA_BYTES]);
}

#[test]
fn one_arena_of_its_own() {
    let mut fast = kiln::Arena::<{ Fast::FAST_BYTES }>::new();
    let mut model = Fast::with_arenas(&mut fast, kiln::Arena::new());
    model.input_mut().copy_from_slice(&image(5));
    model.invoke();
    assert_eq!(*model.output(), whole(&image(5)));
}

#[test]
fn rows() {
    let mut model = FastRows::new();
    for seed in 0..4 {
        let image = image(seed);
        let mut scores = None;
        for row in image.chunks_exact(FastRows::ROW_LEN) {
            assert!(scores.is_none());
            scores = model.push_row(row.try_into().unwrap()).copied();
        }
        assert_eq!(scores, Some(whole(&image)));
    }
}

/// What is kept is in neither arena.
#[test]
fn states() {
    let (mut one, mut two) = (Stream::new(), FastStream::new());
    let (mut fast, mut slow) = (OnlyFast::new(), OnlySlow::default());
    for step in 0..6 {
        macro_rules! run {
            ($model:ident) => {
                $model.input_mut().fill(3 * step);
                $model.invoke();
            };
        }
        run!(one);
        run!(two);
        run!(fast);
        run!(slow);
        assert_eq!(one.output(), two.output());
        assert_eq!(one.output(), fast.output());
        assert_eq!(one.output(), slow.output());
    }
}
