//! Models that take the lines of a camera: the same as the model on the image that `kiln::camera` makes of the frame. (That it is the image of OpenCV or Pillow shows
//! `host-tests/tests/camera.rs`.)
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use kiln::camera::{
    most_taps, Area, Bayer, Bgr, Camera, Filter, Filtered, Format, Gray8, Linear, Mosaic, Nearest, OpenCv,
    Pillow,
};
use kiln::camera::{Resize, Rgb565, Rgb888, Source, View, Yuv422};

kiln::include_model!(Whole = "../host-tests/models/tflite/residual_int8.tflite");
kiln::include_model!(
    Lines = "../host-tests/models/tflite/residual_int8.tflite",
    input = "rows",
    optimize = "memory",
    source = "rgb565 40x30, crop = centre, resize = bilinear"
);
kiln::include_model!(
    WholeLines = "../host-tests/models/tflite/residual_int8.tflite",
    source = "gray8 40x30, crop = 20x16+3+2, resize = area, flip = both"
);
kiln::include_model!(
    Normalised = "../host-tests/models/tflite/residual_int8.tflite",
    input = "rows",
    source = "yuyv 40x30, crop = centre, resize = bilinear, like = pillow, mean = 100, scale = 1/60"
);
kiln::include_model!(Floats = "../host-tests/models/tflite/residual_f32.tflite");
kiln::include_model!(
    FloatLines = "../host-tests/models/tflite/residual_f32.tflite",
    input = "rows",
    source = "uyvy 40x30, crop = centre, resize = nearest, flip = horizontal, mean = 127.5, scale = 1/127.5"
);
kiln::include_model!(Colours = "../host-tests/models/tflite/op_uint8_edges_int8.tflite");
kiln::include_model!(
    ColourLines = "../host-tests/models/tflite/op_uint8_edges_int8.tflite",
    source = "rgb888 6x6, order = bgr"
);
kiln::include_model!(
    ColoursNormalised = "../host-tests/models/tflite/op_uint8_edges_int8.tflite",
    source = "rgb888 6x6, mean = [123.675, 116.28, 103.53], scale = [1/58.4, 1/57.1, 1/57.4]"
);
kiln::include_model!(
    Heat = "../host-tests/models/onnx_small/image.onnx",
    channels_last = "image",
    channels_last = "heat"
);
kiln::include_model!(
    HeatLines = "../host-tests/models/onnx_small/image.onnx",
    channels_last = "image",
    channels_last = "heat",
    input = "rows",
    source = "rgb565-le 40x30, resize = bilinear, scale = 1/255"
);

kiln::include_model!(
    BayerLines = "../host-tests/models/tflite/op_uint8_edges_int8.tflite",
    source = "gbrg 40x30, resize = area"
);

kiln::share_arena! {
    struct Both {
        lines: Lines,
        whole: WholeLines,
    }
}

/// Bytes that do not repeat soon.
fn frame(bytes: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(byte).collect()
}

/// The rows of an image, and whether they are the model's last first.
fn image<F: Format, R: Resize, const CHANNELS: usize, const HELD: usize>(
    view: View,
    resize: R,
    frame: &[u8],
) -> Vec<u8> {
    let source = Source::<F, R>::new(view, resize);
    let mut camera = Camera::<R, CHANNELS, HELD>::new();
    let (mut image, mut row) = (Vec::new(), vec![0; R::WIDTH * CHANNELS]);
    for line in frame.chunks_exact(frame.len() / view.lines) {
        while camera.push(&source, line, &mut row, |_, value| value) {
            image.extend_from_slice(&row);
        }
    }
    image
}

const CENTRE: View = View { lines: 30, left: 5, top: 0, width: 30, height: 30, mirrored: false };

fn signed(value: u8) -> i8 {
    (value ^ 0x80) as i8
}

fn scores(input: &[i8]) -> [i8; 10] {
    let mut model = Whole::new();
    model.input_mut().copy_from_slice(input);
    model.invoke();
    *model.output()
}

#[test]
fn lines_are_rows() {
    assert_eq!((Lines::LINES, Lines::LINE_BYTES, Lines::ROWS), (30, 80, 8));
    assert_eq!(Lines::SOURCE_BYTES, size_of::<Camera<Linear<8, 8>, 1, 16>>());
    let mut model = Lines::new();
    for seed in 0..4 {
        let frame = frame(30 * 80, seed);
        let image = image::<Rgb565<OpenCv, true>, _, 1, 16>(CENTRE, Linear::<8, 8>::new(&CENTRE), &frame);
        let expected = scores(&image.iter().copied().map(signed).collect::<Vec<_>>());
        let answers: Vec<_> =
            frame.chunks_exact(80).map(|line| model.push_line(line.try_into().unwrap()).copied()).collect();
        let complete: Vec<_> = (0..30).filter(|&line| answers[line].is_some()).collect();
        // Between lines 27 and 28, at 7.5 · 3.75 − 0.5.
        assert_eq!((complete, answers[28]), (vec![28], Some(expected)));
        assert_eq!(model.output(), &expected);
        // Half a frame, which is dropped.
        for _ in 0..seed * 5 {
            model.push_line(&[7; 80]);
        }
        let drop = [Lines::restart, Lines::reset];
        drop[seed as usize % 2](&mut model);
    }
}

#[test]
fn lines_are_a_whole_input() {
    let mut model = WholeLines::new();
    let view = View { lines: 30, left: 3, top: 2, width: 20, height: 16, mirrored: true };
    for seed in 0..4 {
        let frame = frame(30 * 40, seed);
        let image = image::<Gray8, _, 1, 8>(view, Area::<8, 8>::new(&view), &frame);
        let upside_down: Vec<i8> = image.chunks_exact(8).rev().flatten().copied().map(signed).collect();
        let mut answers =
            frame.chunks_exact(40).map(|line| model.push_line(line.try_into().unwrap()).copied());
        assert!(answers.by_ref().take(17).all(|answer| answer.is_none()));
        assert_eq!(answers.next(), Some(Some(scores(&upside_down))));
        assert!(answers.all(|answer| answer.is_none()));
        if seed == 2 {
            model.push_line(&[7; 40]);
            model.restart();
        }
    }
}

#[test]
fn pixels_are_normalised_and_quantised() {
    const TAPS: usize = most_taps(Filter::Triangle, 30, 8);
    let frame = frame(30 * 80, 9);
    let resize = Filtered::<8, 8, TAPS, TAPS>::new(&CENTRE, Filter::Triangle);
    let image = image::<Yuv422<Pillow, false>, _, 1, { 8 * TAPS }>(CENTRE, resize, &frame);
    let real = image.iter().map(|&value| (f32::from(value) - 100.0) * (1.0f64 / 60.0) as f32);
    let expected = scores(&real.map(Whole::quantize_input).collect::<Vec<_>>());
    let mut model = Normalised::new();
    let mut found = Vec::new();
    for line in frame.chunks_exact(80) {
        found.extend(model.push_line(line.try_into().unwrap()).copied());
    }
    assert_eq!(found, [expected]);
}

#[test]
fn pixels_are_floats() {
    let view = View { mirrored: true, ..CENTRE };
    let frame = frame(30 * 80, 11);
    let image = image::<Yuv422<OpenCv, true>, _, 1, 0>(view, Nearest::<8, 8>::new(&view), &frame);
    let mut floats = Floats::new();
    for (to, value) in floats.input_mut().iter_mut().zip(image) {
        *to = (f32::from(value) - 127.5) * (1.0f64 / 127.5) as f32;
    }
    floats.invoke();
    let mut model = FloatLines::new();
    let mut found = Vec::new();
    for line in frame.chunks_exact(80) {
        found.extend(model.push_line(line.try_into().unwrap()).copied());
    }
    assert_eq!(found, [*floats.output()]);
}

#[test]
fn colours_of_three_channels() {
    let view = View { lines: 6, left: 0, top: 0, width: 6, height: 6, mirrored: false };
    let frame = frame(6 * 18, 13);
    let mut colours = Colours::new();
    let mut scores = |input: Vec<u8>| {
        colours.input_mut().copy_from_slice(&input);
        colours.invoke();
        *colours.output()
    };
    let turned = image::<Bgr<Rgb888<OpenCv>>, _, 3, 0>(view, Nearest::<6, 6>::new(&view), &frame);
    assert_eq!(turned[..3], [frame[2], frame[1], frame[0]]);
    let (means, scales) = ([123.675f32, 116.28, 103.53], [58.4f64, 57.1, 57.4]);
    let normalised = frame.iter().enumerate().map(|(i, &value)| {
        let scale = (1.0 / scales[i % 3]) as f32;
        Colours::quantize_input((f32::from(value) - means[i % 3]) * scale)
    });
    let expected = [scores(turned), scores(normalised.collect())];
    assert_ne!(expected[0], expected[1]);
    let (mut model, mut other) = (ColourLines::new(), ColoursNormalised::new());
    let mut found = [Vec::new(), Vec::new()];
    for line in frame.chunks_exact(18) {
        found[0].extend(model.push_line(line.try_into().unwrap()).copied());
        found[1].extend(other.push_line(line.try_into().unwrap()).copied());
    }
    assert_eq!(found, expected.map(|expected| vec![expected]));
}

#[test]
fn a_colour_in_each_pixel() {
    let view = View { lines: 30, left: 0, top: 0, width: 40, height: 30, mirrored: false };
    let frame = frame(30 * 40, 23);
    let source = Source::<Mosaic<OpenCv, 0, 1>, _>::new(view, Area::<6, 6>::new(&view));
    let mut camera = Bayer::<_, 3, 18, 121>::new();
    let (mut image, mut row) = (Vec::new(), [0; 18]);
    let mut colours = Colours::new();
    let mut model = BayerLines::new();
    let mut found = Vec::new();
    for line in frame.chunks_exact(40) {
        while camera.push(&source, line, &mut row, |_, value| value) {
            image.extend_from_slice(&row);
        }
        found.extend(model.push_line(line.try_into().unwrap()).copied());
    }
    colours.input_mut().copy_from_slice(&image);
    colours.invoke();
    assert_eq!(found, [*colours.output()]);
}

/// It has several outputs, and is channel-first in the file.
#[test]
fn images_of_onnx() {
    let view = View { lines: 30, left: 0, top: 0, width: 40, height: 30, mirrored: false };
    let frame = frame(30 * 80, 17);
    let image = image::<Rgb565<OpenCv, false>, _, 3, 60>(view, Linear::<10, 8>::new(&view), &frame);
    let mut heat = Heat::new();
    for (to, value) in heat.input_mut().iter_mut().zip(image) {
        *to = f32::from(value) * (1.0f64 / 255.0) as f32;
    }
    heat.invoke();
    let mut model = HeatLines::new();
    let complete = frame.chunks_exact(80).filter(|line| model.push_line((*line).try_into().unwrap())).count();
    assert_eq!(complete, 1);
    assert_eq!((model.output_0(), model.output_1()), (heat.output_0(), heat.output_1()));
}

/// Lines of a frame are dropped when another model gets the arena.
#[test]
fn models_that_share_an_arena_begin_a_frame() {
    let mut both = Both::new();
    let frame = frame(30 * 80, 19);
    let answers = |both: &mut Both| {
        let mut lines = both.lines();
        frame
            .chunks_exact(80)
            .filter_map(|line| lines.push_line(line.try_into().unwrap()).copied())
            .collect::<Vec<_>>()
    };
    let first = answers(&mut both);
    both.whole().push_line(&[3; 40]);
    both.lines().push_line(&[5; 80]);
    assert_eq!((first.len(), answers(&mut both)), (1, first));
}
