//! Pictures and recordings as inputs. What the model should get is computed here once more, and given to `cargo kiln infer`.

use super::{archive, arrays, file, npy, DIGITS};
use crate::native::infer_with;
use crate::{drop_file, look, saved};
use serde_json::{json, Value};

/// A network over the features of ten frames.
static WAKE: &[u8] = include_bytes!("../../../examples/wake-digit/models/wake_digit_int8.tflite");
const FEATURES: &str =
    "librosa, sample_rate = 8000, samples = i16, n_fft = 64, win_length = 50, hop = 20, n_mels = 8, center = false, log = db";
/// Samples of ten frames.
const WINDOW: usize = 9 * 20 + 50;

/// Red, green and blue of a pixel.
fn colour(x: usize, y: usize) -> [u8; 3] {
    [(16 * x) as u8, (15 * y + 7) as u8, ((x * y) % 256) as u8]
}

/// A picture of 16 × 16 colours.
fn png_file() -> Vec<u8> {
    let pixels: Vec<u8> = (0..16).flat_map(|y| (0..16).flat_map(move |x| colour(x, y))).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, 16, 16);
    encoder.set_color(png::ColorType::Rgb);
    encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
    bytes
}

/// The same as a BMP file, which the compiler does not read, and browsers do.
fn bmp_file() -> Vec<u8> {
    let mut bytes = b"BM".to_vec();
    let numbers: [u32; 6] = [54 + 768, 0, 54, 40, 16, 16];
    bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    bytes.extend([1, 0, 24, 0]);
    bytes.extend([0; 24]);
    // The lowest row is the first, blue comes before green and red.
    for y in (0..16).rev() {
        bytes.extend((0..16).flat_map(|x| colour(x, y).into_iter().rev()));
    }
    bytes
}

/// Recorded at so many samples a second.
fn wav_file(rate: u32, samples: &[i16]) -> Vec<u8> {
    let data = 2 * samples.len() as u32;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((36 + data).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(rate.to_le_bytes());
    bytes.extend((2 * rate).to_le_bytes());
    bytes.extend(b"\x02\0\x10\0data");
    bytes.extend(data.to_le_bytes());
    bytes.extend(samples.iter().flat_map(|sample| sample.to_le_bytes()));
    bytes
}

/// The outputs for inputs of such a type: what the page saves.
fn outputs(
    model: &[u8],
    name: &str,
    header: &str,
    inputs: &[u8],
    options: &[&str],
) -> Vec<(String, Vec<u8>)> {
    let inputs = archive(&[("in_0".into(), npy(header, inputs))]);
    arrays(&infer_with(model, name, &inputs, options).unwrap())
}

#[test]
fn pictures_become_inputs() {
    let mut bmp = file("picture.bmp", &bmp_file());
    bmp["type"] = "image/bmp".into();
    let mut broken = file("picture.jpg", b"This is no picture.");
    broken["type"] = "image/jpeg".into();
    let steps = [
        json!({ "both": [file("digits.tflite", DIGITS), file("picture.png", &png_file())] }),
        json!({ "save": "outputs" }),
        json!({ "cases": bmp }),
        json!({ "save": "outputs" }),
        json!({ "values": "signed" }),
        json!({ "save": "outputs" }),
        json!({ "values": "imagenet" }),
        json!({ "cases": file("half.png", &png_file()[..100]) }),
        json!({ "cases": broken }),
    ];
    let Some(seen) = look(&steps) else { return };
    let [first, png, bitmap, bmp, signed_seen, signed, imagenet, half, broken] = &seen[..] else {
        panic!("{seen:?}")
    };
    for seen in &seen {
        assert_eq!((&seen["violations"], &seen["unnamed"]), (&json!([]), &json!([])));
        assert!(seen["width"][1].as_u64() <= seen["width"][0].as_u64(), "{}", seen["width"]);
    }
    // A pixel of the model is the one in which its centre lies.
    let gray = |index: usize| {
        let [r, g, b] = colour(index % 8 * 2 + 1, index / 8 * 2 + 1).map(u32::from);
        (19_595 * r + 38_470 * g + 7_471 * b + 32_768) >> 16
    };
    let header = "{'descr': '|i1', 'fortran_order': False, 'shape': (1, 1, 8, 8, 1), }";
    let expected = |stored: &dyn Fn(u32) -> i32| {
        let inputs: Vec<u8> = (0..64).map(|index| stored(gray(index)) as i8 as u8).collect();
        outputs(DIGITS, "digits.tflite", header, &inputs, &[])
    };
    // The scale is 1 / 255, the zero point −128.
    let unit = expected(&|gray| gray as i32 - 128);
    assert_eq!(arrays(&saved(png)), unit);
    assert_eq!(arrays(&saved(bmp)), unit);
    let says = first["run"]["status"].as_str().unwrap();
    for part in [
        "16 × 16 pixels",
        "Pillow",
        "resized to 8 × 8 by nearest neighbours",
        "pixel / 255, stored as i8",
        "1 case, ",
    ] {
        assert!(says.contains(part), "{says}");
    }
    let picture: Vec<Value> = (0..64).map(|index| json!(gray(index))).collect();
    for seen in [first, bitmap] {
        assert_eq!(seen["run"]["seen"], json!(picture), "what the model sees is shown");
    }
    assert_eq!(signed_seen["run"]["seen"], json!(picture));
    let clipped = |gray: u32| ((2 * gray as i32 - 255).max(0)) - 128;
    assert_eq!(arrays(&saved(signed)), expected(&clipped));

    let error = |seen: &Value| seen["run"]["error"].as_str().unwrap().to_owned();
    assert!(error(imagenet).contains("3 means or scales are given"), "{}", error(imagenet));
    assert!(error(half).contains("`half.png`: it is damaged"), "{}", error(half));
    assert!(
        error(broken).contains("`picture.jpg` is no picture that this browser can read"),
        "{}",
        error(broken)
    );
    assert_eq!(half["run"]["seen"], json!(null));
}

#[test]
fn recordings_become_inputs() {
    let samples: Vec<i16> = (0..600).map(|t| (t * 7919 % 20_000 - 10_000) as i16).collect();
    let steps = [
        drop_file("wake.tflite", WAKE),
        json!({ "set": { "features": FEATURES } }),
        json!({ "cases": file("clip.wav", &wav_file(8000, &samples)) }),
        json!({ "save": "outputs" }),
        json!({ "cases": file("fast.wav", &wav_file(16_000, &samples)) }),
        json!({ "set": { "features": "" } }),
    ];
    let Some(seen) = look(&steps) else { return };
    let [_, _, heard, written, fast, without] = &seen[..] else { panic!("{seen:?}") };
    let mut padded = samples;
    padded.resize(padded.len().next_multiple_of(WINDOW), 0);
    let cases = padded.len() / WINDOW;
    let bytes: Vec<u8> = padded.iter().flat_map(|sample| sample.to_le_bytes()).collect();
    let header = format!("{{'descr': '<i2', 'fortran_order': False, 'shape': ({cases}, {WINDOW}), }}");
    let expected = outputs(WAKE, "wake.tflite", &header, &bytes, &["--features", FEATURES]);
    assert_eq!(arrays(&saved(written)), expected);
    let says = heard["run"]["status"].as_str().unwrap();
    for part in [
        "600 samples, 8,000 a second",
        "cases of 230, one behind the other",
        "silence behind them",
        "3 cases, ",
    ] {
        assert!(says.contains(part), "{says}");
    }
    let error = |seen: &Value| seen["run"]["error"].as_str().unwrap().to_owned();
    assert!(error(fast).contains("it has 16000 samples a second, the features take 8000"), "{}", error(fast));
    assert!(error(without).contains("features, as it seems"), "{}", error(without));
}
