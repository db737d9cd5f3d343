//! The three doors give the same Rust.

use kiln_codegen::{compile, emit, Build, Error, Float, Input, Options, Target};
use kiln_host_tests::door::{by_command_line, command_line};
use quote::quote;
use std::path::Path;

/// A model that quantises its input.
const FLOAT_EDGES: &str = "diabetes_floatedges_int8";

/// `Build` writes what `compile` gives, as a file of a crate. The command line writes it through the same call, with a header of its own.
#[test]
fn build_script_and_command_line_write_the_same_file() {
    let models = kiln_host_tests::own_models();
    let model = models.iter().find(|model| model.name == "residual_int8").unwrap();
    let out = std::env::temp_dir().join(format!("kiln-doors-{}", std::process::id()));
    std::fs::create_dir_all(&out).unwrap();
    std::env::set_var("OUT_DIR", &out);
    let bytes = std::fs::read(&model.path).unwrap();
    for input in [Input::Whole, Input::Rows] {
        let written = Build::new(&model.path).input(input).compile().unwrap();
        let by_build = std::fs::read_to_string(written).unwrap();
        let options = Options { input, ..Options::default() };
        let compiled = compile(&bytes, &model.name, &options).unwrap();
        let code = compiled.source_file(&quote!(pub), None).unwrap();
        assert_eq!(by_build, format!("{}\n\n{code}", compiled.generated()));
        assert_eq!(by_build, by_command_line(&model.path, &["--input", input.name()]));
    }
    let written = Build::new(&model.path).fast_ram(256).compile().unwrap();
    let by_build = std::fs::read_to_string(written).unwrap();
    assert!(by_build.contains("pub const FAST_BYTES: usize = 256;"));
    assert_eq!(by_build, by_command_line(&model.path, &["--fast-ram", "256"]));
    let floats = models.iter().find(|model| model.name == "temporal_f32").unwrap();
    let written =
        Build::new(&floats.path).float(Float::Reproducible).target(Target::Vectors).compile().unwrap();
    let by_build = std::fs::read_to_string(written).unwrap();
    let kernels: Vec<&str> =
        by_build.match_indices("conv2d_f32_simd").map(|(at, _)| &by_build[at..]).collect();
    let reproducible = |kernel: &&str| kernel.starts_with("conv2d_f32_simd_reproducible");
    assert!(!kernels.is_empty() && kernels.iter().all(reproducible), "{by_build}");
    let flags = ["--float", "reproducible", "--target", "x86-64"];
    assert_eq!(by_build, by_command_line(&floats.path, &flags));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/custom/weighted_sum.tflite");
    let function = ["WeightedSum", "crate::kernels::weighted_sum"];
    let written = Build::new(&file).custom_op(function[0], function[1]).unwrap().compile().unwrap();
    let by_build = std::fs::read_to_string(written).unwrap();
    assert!(by_build.contains("= crate::kernels::weighted_sum;"), "{by_build}");
    assert_eq!(by_build, by_command_line(&file, &["--custom-op", &function.join("=")]));
    // A written schedule, which other paths than the rules' come of.
    let file = out.join("residual.schedule");
    let options = Options { target: Some(Target::CortexM0), ..Options::default() };
    let rules = compile(&bytes, &model.name, &options).unwrap();
    let text = rules.written_as(&[], |_| Some("portable"));
    std::fs::write(&file, &text).unwrap();
    let path = file.to_str().unwrap();
    let written = Build::new(&model.path).target(Target::CortexM0).schedule(path).compile().unwrap();
    let by_build = std::fs::read_to_string(written).unwrap();
    assert!(by_build.contains("conv2d_i8(") && !by_build.contains("conv2d_i8_v6m"), "{by_build}");
    assert_eq!(by_build, by_command_line(&model.path, &["--target", "cortex-m0", "--schedule", path]));
    let error = Build::new(&model.path).schedule("none.schedule").compile().unwrap_err().to_string();
    assert!(error.contains("none.schedule") && error.contains("cargo kiln tune"), "{error}");
    let edges = models.iter().find(|model| model.name == FLOAT_EDGES).unwrap();
    let error = Build::new(&edges.path).ram(10).compile().unwrap_err();
    // As a build script ends with it.
    assert!(format!("{error:?}").contains("give integers: .io(Io::Quantized) "), "{error:?}");
    std::fs::remove_dir_all(out).unwrap();
}

/// Each door's messages name options as it has them.
#[test]
fn hints_are_what_the_door_understands() {
    let models = kiln_host_tests::own_models();
    let model = models.iter().find(|model| model.name == FLOAT_EDGES).unwrap();
    let path = model.path.to_str().unwrap();
    let error = kiln_codegen::include_model(quote!(Model = #path, ram = 10), Path::new("/")).unwrap_err();
    assert!(error.to_string().contains("give integers: io = \"quantized\" "), "{error}");
    let output = command_line(&model.path, &["--ram", "10"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && message.contains("give integers: --io quantized "), "{message}");
}

/// The macro gives the same items, and one more that makes the compiler watch the model file.
#[test]
fn the_macro_gives_the_same_items() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let each = kiln_host_tests::own_models().into_iter().flat_map(|model| {
        [Input::Whole, Input::Rows].map(|input| (model.clone(), Options { input, ..Options::default() }))
    });
    for (model, options) in each {
        let bytes = std::fs::read(&model.path).unwrap();
        let compiled = match compile(&bytes, &model.name, &options) {
            // Not every model takes rows.
            Err(Error::Options(_)) if options.input == Input::Rows => continue,
            compiled => compiled.unwrap(),
        };
        let name = quote::format_ident!("{}", compiled.type_name());
        let (path, input) = (model.path.to_str().unwrap(), options.input.name());
        let expanded = kiln_codegen::include_model(quote!(pub #name = #path, input = #input), root).unwrap();
        let file = compiled.file(&quote!(pub)).unwrap();
        let of_macro = emit::pretty(expanded).unwrap();
        let (items, watch) = of_macro.rsplit_once("const _:").unwrap();
        assert!(file.trim_end().ends_with(items.trim_end()), "{} differs", model.name);
        assert!(watch.contains("include_bytes!"));
    }
}
