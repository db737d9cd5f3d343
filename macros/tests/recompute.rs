//! Models that compute rows again: less RAM, and the same bits.

kiln::include_model!(Plain = "../examples/embassy/models/digits32_int8.tflite", optimize = "memory");
kiln::include_model!(
    Again = "../examples/embassy/models/digits32_int8.tflite",
    optimize = "memory",
    recompute = "2"
);
kiln::include_model!(
    AgainByRows = "../examples/embassy/models/digits32_int8.tflite",
    optimize = "memory",
    input = "rows",
    recompute = "2"
);
kiln::include_model!(Floats = "../examples/digits/models/digits_f32.tflite", optimize = "memory");
kiln::include_model!(
    FloatsAgain = "../examples/digits/models/digits_f32.tflite",
    optimize = "memory",
    recompute = "2"
);

#[test]
fn less_ram_is_needed() {
    const { assert!(Again::ARENA_BYTES * 5 < Plain::ARENA_BYTES * 4) };
    const { assert!(AgainByRows::ARENA_BYTES < Again::ARENA_BYTES) };
    const { assert!(FloatsAgain::ARENA_BYTES < Floats::ARENA_BYTES) };
}

/// Pixels of all values.
fn pixel(seed: usize, at: usize) -> i8 {
    (((at + 1) * (seed + 1) * 40_503) >> 7) as i8
}

#[test]
fn integers_are_the_same() {
    let (mut plain, mut again, mut by_rows) = (Plain::new(), Again::new(), AgainByRows::new());
    for seed in 0..8 {
        let fill = |input: &mut [i8]| input.iter_mut().enumerate().for_each(|(k, x)| *x = pixel(seed, k));
        fill(plain.input_mut());
        fill(again.input_mut());
        plain.invoke();
        again.invoke();
        let mut image = *plain.input_mut();
        fill(&mut image);
        for row in image.chunks_exact(image.len() / 32) {
            by_rows.push_row(row.try_into().unwrap());
        }
        assert_eq!(plain.output(), again.output(), "seed {seed}");
        assert_eq!(plain.output(), by_rows.output(), "seed {seed}, by rows");
    }
}

#[test]
fn floats_are_the_same() {
    let (mut plain, mut again) = (Floats::new(), FloatsAgain::new());
    for seed in 0..8 {
        let fill = |input: &mut [f32]| {
            input.iter_mut().enumerate().for_each(|(k, x)| *x = f32::from(pixel(seed, k)) / 128.0);
        };
        fill(plain.input_mut());
        fill(again.input_mut());
        plain.invoke();
        again.invoke();
        assert_eq!(plain.output(), again.output(), "seed {seed}");
    }
}
