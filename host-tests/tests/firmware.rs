//! What firmware costs and contains: memory and instructions against TensorFlow Lite Micro's, no path that panics, formats or allocates.

#[path = "../streamed.rs"]
#[allow(dead_code)]
mod streamed;

use cargo_kiln::bench::bench;
use cargo_kiln::place::{build_firmware, for_board};
use kiln_boards::firmware::Mode;
use kiln_boards::image::Image;
use kiln_boards::Board;
use kiln_codegen::{compile_file, Compiled, Optimize, Options};
use kiln_host_tests::{corpus_folder, own_models};

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

fn board() -> &'static Board {
    Board::find("qemu-cortex-m4").unwrap()
}

fn no_unwanted_symbols(compiled: &Compiled) {
    let firmware = build_firmware(compiled, board(), Mode::Bench).unwrap();
    let image = Image::read(&firmware.elf).unwrap();
    assert!(image.symbols().iter().any(|s| s.name.contains("kiln::")), "the image has no symbols");
    let unwanted: Vec<&str> = image.unwanted().iter().map(|s| s.name.as_str()).collect();
    assert_eq!(unwanted, Vec::<&str>::new(), "{}", compiled.graph.name);
}
