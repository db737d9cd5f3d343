//! What firmware costs and contains: memory and instructions against TensorFlow Lite Micro's, no path that panics, formats or allocates.

use cargo_kiln::bench::bench;
use cargo_kiln::place::build_firmware;
use kiln_boards::firmware::Mode;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::{compile_file, Options};
use kiln_host_tests::{corpus_folder, own_models};
use std::path::Path;

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
        no_unwanted_symbols(&path);
    }
}

#[test]
fn firmware_of_own_models_cannot_panic_format_or_allocate() {
    for model in own_models()
        .iter()
        .filter(|m| ["residual_int8", "stream_int8", "temporal_f32"].contains(&m.name.as_str()))
    {
        no_unwanted_symbols(&model.path);
    }
}

fn no_unwanted_symbols(model: &Path) {
    let compiled = compile_file(model, &Options::default()).unwrap();
    let board = Board::find("qemu-cortex-m4").unwrap();
    let firmware = build_firmware(&compiled, board, Mode::Bench).unwrap();
    let image = Image::read(&firmware.elf).unwrap();
    assert!(image.symbols().iter().any(|s| s.name.contains("kiln::")), "the image has no symbols");
    let unwanted: Vec<&str> = image.unwanted().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(unwanted, Vec::<&str>::new(), "{}", model.display());
}
