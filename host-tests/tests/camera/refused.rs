//! Models that no camera has an input for, and sources that do not say enough.

use kiln_codegen::{compile, Build, Error, Input, Options};
use kiln_host_tests::door::by_command_line;
use std::path::Path;

fn compiled(model: &str, options: &[(&str, &str)]) -> Result<String, Error> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(model);
    let mut all = Options::default();
    for (name, value) in options {
        all.set(name, value)?;
    }
    let compiled = compile(&std::fs::read(path).unwrap(), "model", &all)?;
    compiled.file(&quote::quote!(pub))
}

#[test]
fn what_no_camera_can_give_is_refused() {
    let residual = "tflite/residual_int8.tflite";
    let image = "onnx_small/image.onnx";
    for (model, options, message) in [
        ("tflite/autoencoder_int8.tflite", &[("source", "gray8 64x1")][..], "which is no image"),
        ("tflite/computed_conv_channels_int8.tflite", &[("source", "rgb888 5x5")], "the model has 2 inputs"),
        ("tflite/op_conv2d_pointwise_int8.tflite", &[("source", "rgb888 5x5")], "with 1 or 3 channels"),
        (image, &[("source", "rgb888 10x8, scale = 1/255")], "channels_last = \"image\""),
        (residual, &[("source", "gray8 40x30")], "what is seen has 40x30 pixels, and the model takes 8x8"),
        (
            residual,
            &[("source", "gray8 40x30, crop = 20x4+0+0, resize = area")],
            "8x8 is not smaller than 20x4",
        ),
        (residual, &[("source", "gray8 8x8, mean = [1, 2, 3]")], "mean has 3 numbers"),
        ("tflite/residual_f32.tflite", &[("source", "gray8 8x8")], "scale = 1/255 for 0 to 1"),
        (residual, &[("source", "gray8 8x8"), ("input", "sliding")], "do not slide"),
        (residual, &[("source", "gray8 8x8, flip = vertical"), ("input", "rows")], "use input = \"whole\""),
        (residual, &[("source", "gray8 8x8, turn = 90")], "there is no `turn`"),
    ] {
        let error = compiled(model, options).unwrap_err();
        assert!(matches!(&error, Error::Options(problem) if problem.place == "option `source`"), "{error:?}");
        assert!(error.to_string().contains(message), "{error}");
    }
    // Nothing to resize, and Pillow's mean of larger images.
    assert!(compiled(residual, &[("source", "gray8 40x30, crop = 8x8+32+22")]).is_ok());
    assert!(compiled(residual, &[("source", "gray8 4x4, resize = area, like = pillow")]).is_ok());
}

#[test]
fn doors_write_the_same() {
    let out = std::env::temp_dir().join(format!("kiln-camera-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    std::env::set_var("OUT_DIR", &out);
    let source = "rgb565 40x30, crop = centre, resize = bilinear";
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tflite/residual_int8.tflite");
    let build = Build::new(&model).input(Input::Rows).source(source).unwrap().compile().unwrap();
    let by_build = std::fs::read_to_string(build).unwrap();
    assert!(by_build.contains("pub fn push_line(&mut self, line: &[u8; 80])"));
    assert_eq!(by_build, by_command_line(&model, &["--input", "rows", "--source", source]));
    std::fs::remove_dir_all(out).unwrap();
}
