//! What firmware costs and contains: memory and instructions against TensorFlow Lite Micro's, no path that panics, formats or allocates.

#[path = "../streamed.rs"]
#[allow(dead_code)]
mod streamed;

#[path = "../firmware/post/src/all.rs"]
mod post;

use cargo_kiln::bench::{bench, Benchmark};
use cargo_kiln::place::{build_firmware, for_board};
use kiln_boards::firmware::{build_program, Mode, ProgramRequest};
use kiln_boards::image::Image;
use kiln_boards::{qemu, Board};
use kiln_codegen::{compile_file, Compiled, Optimize, Options};
use kiln_host_tests::{corpus_folder, own_models};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// TensorFlow Lite Micro on the MLPerf Tiny models: its arena in bytes, and half of the instructions that its reference kernels execute
/// on a Cortex-M4 (arm-none-eabi-gcc 12.2, -O3, August 2026).
const MLPERF: &[(&str, usize, u64)] = &[
    ("mlperf_kws_int8", 22_820, 48_600_000),
    ("mlperf_ic_int8", 54_996, 132_000_000),
    ("mlperf_vww_int8", 100_708, 116_000_000),
    ("mlperf_ad_int8", 2_580, 1_950_000),
    ("mlperf_strww_int8", 16_596, 10_100_000),
];

/// Most flash besides model data for `mlperf_kws_int8`, in bytes.
const KWS_FLASH: u64 = 24 * 1024;

#[test]
fn mlperf_models_are_within_their_bounds() {
    let Some(folder) = corpus_folder() else {
        println!("KILN_CORPUS is not set: the MLPerf models were not measured");
        return;
    };
    for (name, arena, instructions) in MLPERF {
        let path = folder.join("tflite").join(name).with_extension("tflite");
        let report = bench(&path, &Options::default(), "qemu-cortex-m4", false).unwrap();
        print!("{}", report.text());
        assert!(
            report.ram_bytes() <= *arena,
            "{name}: {} bytes of RAM, TFLM has {arena}",
            report.ram_bytes()
        );
        let executed = report.instructions();
        assert!(executed <= *instructions, "{name}: {executed} instructions, the bound is {instructions}");
        if *name == "mlperf_kws_int8" {
            let flash = report.flash_besides_weights();
            assert!(flash <= KWS_FLASH, "{name}: {flash} bytes of flash besides weights");
        }
        for optimize in [Optimize::Speed, Optimize::Memory] {
            let options = for_board(&Options { optimize, ..Options::default() }, board());
            no_unwanted_symbols(&compile_file(&path, &options).unwrap());
        }
    }
}

#[test]
fn firmware_of_own_models_cannot_panic_format_or_allocate() {
    for model in own_models()
        .iter()
        .filter(|m| ["residual_int8", "stream_int8", "temporal_f32"].contains(&m.name.as_str()))
    {
        no_unwanted_symbols(&compile_file(&model.path, &Options::default()).unwrap());
        no_unwanted_symbols(&compile_file(&model.path, &for_board(&Options::default(), board())).unwrap());
        let graph =
            kiln_codegen::import(&std::fs::read(&model.path).unwrap(), &model.name, &Options::default());
        let row_by_row = streamed::in_long_pipelines(graph.unwrap(), Options::default()).unwrap();
        row_by_row.iter().for_each(no_unwanted_symbols);
    }
}

/// Compiled for this machine and for two kinds of core the same functions of `kiln::post`, `kiln::frontend`, `kiln::camera`, `kiln::sensor` and `kiln::any` have the same answers; the firmware can do nothing but return them.
#[test]
fn what_comes_after_the_output_cannot_panic_format_or_allocate() {
    let expected = post::run();
    for name in ["qemu-cortex-m0", "qemu-cortex-m4"] {
        let board = Board::find(name).unwrap();
        let request = ProgramRequest {
            board,
            name: "post",
            main_rs: format!(
                "#![no_std]
#![no_main]

#[kiln_harness::entry]
fn main() -> ! {{
    kiln_harness::exit((kiln_post_firmware::run() != {expected}).into())
}}
"
            ),
            dependencies: &[("kiln-post-firmware", &post_firmware())],
        };
        let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(unwanted(&elf), Vec::<String>::new(), "{name}");
        qemu::run(board, &elf, Duration::from_secs(60)).unwrap_or_else(|error| panic!("{error}"));
    }
}

/// The firmware of the test above would say nothing about a function that it does not call.
#[test]
fn that_firmware_calls_every_function() {
    let calls = std::fs::read_to_string(post_firmware().join("src/all.rs")).unwrap();
    let calls: Vec<&str> = calls.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let mut functions = 0;
    let folder = |name: &str| Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime-nostd/src").join(name);
    let files = ["post", "frontend", "camera", "sensor", "any"]
        .map(|name| std::fs::read_dir(folder(name)).unwrap().flatten());
    for file in files.into_iter().flatten() {
        if ["array.rs", "threads.rs"].iter().any(|name| file.file_name() == *name) {
            // Behind features that firmware has not.
            continue;
        }
        let text = std::fs::read_to_string(file.path()).unwrap();
        for line in text.lines().map(str::trim) {
            let public = ["pub fn ", "pub const fn "].iter().find_map(|start| line.strip_prefix(start));
            let Some(name) = public.and_then(|rest| rest.split(['(', '<']).next()) else { continue };
            assert!(calls.contains(&name), "{name} of {:?}", file.path());
            functions += 1;
        }
    }
    assert!(functions > 30, "{functions}");
}

fn post_firmware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("firmware/post").canonicalize().unwrap()
}

fn board() -> &'static Board {
    Board::find("qemu-cortex-m4").unwrap()
}

fn no_unwanted_symbols(compiled: &Compiled) {
    let firmware = build_firmware(compiled, board(), Mode::Bench).unwrap();
    assert_eq!(unwanted(&firmware.elf), Vec::<String>::new(), "{}", compiled.graph.name);
}

/// What can panic, format or allocate.
fn unwanted(elf: &Path) -> Vec<String> {
    let image = Image::read(elf).unwrap();
    assert!(image.symbols().iter().any(|s| s.name.contains("kiln::")), "the image has no symbols");
    image.unwanted().iter().map(|s| s.name.clone()).collect()
}
