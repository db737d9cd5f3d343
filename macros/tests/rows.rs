//! Models that take their input row by row, by their typed methods.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

kiln::include_model!(Whole = "../host-tests/models/tflite/residual_int8.tflite");
kiln::include_model!(Rows = "../host-tests/models/tflite/residual_int8.tflite", input = "rows");
kiln::include_model!(
    RowsSmall = "../host-tests/models/tflite/residual_int8.tflite",
    input = "rows",
    optimize = "memory"
);
kiln::include_model!(Conv = "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite");
kiln::include_model!(
    Slide = "../host-tests/models/tflite/op_conv2d_whole_image_int8.tflite",
    input = "sliding"
);

kiln::share_arena! {
    struct Both {
        rows: Rows,
        slide: Slide,
    }
}

/// Numbers that do not repeat soon.
fn noise(seed: usize) -> impl Iterator<Item = i8> {
    (0..).map(move |k: usize| (((k + 1) * (seed + 1) * 40_503) >> 7) as i8)
}

fn image(seed: usize) -> [i8; 64] {
    let mut noise = noise(seed);
    std::array::from_fn(|_| noise.next().unwrap())
}

fn whole(image: &[i8; 64]) -> [i8; 10] {
    let mut model = Whole::new();
    model.input_mut().copy_from_slice(image);
    model.invoke();
    *model.output()
}

fn row(image: &[i8; 64], index: usize) -> &[i8; Rows::ROW_LEN] {
    image[index * Rows::ROW_LEN..][..Rows::ROW_LEN].try_into().unwrap()
}

#[test]
fn the_output_comes_with_the_last_row() {
    assert_eq!((Rows::ROWS, Rows::ROW_LEN), (8, 8));
    let mut model = Rows::new();
    for seed in 0..5 {
        let image = image(seed);
        for index in 0..7 {
            assert_eq!(model.push_row(row(&image, index)), None, "row {index}");
        }
        assert_eq!(model.push_row(row(&image, 7)), Some(&whole(&image)));
        assert_eq!(model.output(), &whole(&image));
    }
}

#[test]
fn a_whole_input_drops_rows_that_were_pushed() {
    let mut model = RowsSmall::new();
    for seed in 0..5 {
        let image = image(seed);
        assert_eq!(model.invoke(&image), &whole(&image));
        for index in 0..3 {
            model.push_row(row(&image, index));
        }
    }
}

#[test]
fn half_an_input_can_be_dropped() {
    let (first, second) = (image(1), image(2));
    let drops: [fn(&mut RowsSmall); 2] = [RowsSmall::restart, RowsSmall::reset];
    for drop in drops {
        let mut model = RowsSmall::new();
        for index in 0..5 {
            model.push_row(row(&first, index));
        }
        drop(&mut model);
        let outputs: Vec<Option<[i8; 10]>> =
            (0..8).map(|index| model.push_row(row(&second, index)).copied()).collect();
        assert_eq!(outputs[..7], [None; 7]);
        assert_eq!(outputs[7], Some(whole(&second)));
    }
}

/// Far more frames than the rings have rows, so that the count of frames goes back many times.
#[test]
fn every_frame_slides_the_window() {
    const FRAMES: usize = 300;
    assert_eq!((Slide::ROWS, Slide::ROW_LEN, Slide::HOP), (5, 24, 1));
    let mut noise = noise(3);
    let frames: Vec<[i8; 24]> = (0..FRAMES).map(|_| std::array::from_fn(|_| noise.next().unwrap())).collect();
    let (mut slide, mut window) = (Slide::new(), Conv::new());
    for run in 0..2 {
        for (k, frame) in frames.iter().enumerate() {
            let output = slide.slide(frame);
            if k < 4 {
                assert_eq!(output, None, "frame {k} of run {run}");
                continue;
            }
            window.input_mut().copy_from_slice(frames[k - 4..=k].as_flattened());
            window.invoke();
            assert_eq!(output, Some(window.output()), "frame {k} of run {run}");
        }
        slide.reset();
    }
}

/// Frames are kept while another model has the arena; rows of an input are not.
#[test]
fn frames_outlast_another_model() {
    let mut both = Both::new();
    let mut alone = Slide::new();
    let image = image(4);
    let mut noise = noise(5);
    for k in 0..12 {
        let frame: [i8; 24] = std::array::from_fn(|_| noise.next().unwrap());
        assert_eq!(both.slide().slide(&frame), alone.slide(&frame));
        let mut rows = both.rows();
        if k % 2 == 0 {
            assert_eq!(rows.invoke(&image), &whole(&image));
        } else {
            assert_eq!(rows.push_row(row(&image, 0)), None);
        }
    }
}

/// What is held of the input are the rows that are still to be read.
#[test]
fn the_input_is_not_held() {
    assert_eq!(Slide::STATE_BYTES, Slide::ROWS * Slide::ROW_LEN);
    const { assert!(Slide::ARENA_BYTES < Conv::ARENA_BYTES) };
    const { assert!(RowsSmall::ARENA_BYTES <= Whole::ARENA_BYTES) };
}
