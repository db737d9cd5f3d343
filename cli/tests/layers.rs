//! Layers of a compiled model as a real board measures them, by events and a counter of the processor: the same firmware under QEMU.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::place::{build_firmware, for_board, TIME_LIMIT};
use kiln_boards::firmware::Mode;
use kiln_boards::{probe, qemu, Board};
use kiln_codegen::{compile_file, Events, Input, Optimize, Options};

const MODEL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");

#[test]
fn every_layer_is_measured_whole_or_by_rows() {
    let by_rows = Options { optimize: Optimize::Memory, input: Input::Rows, ..Options::default() };
    for (board, options) in [("qemu-cortex-m4", Options::default()), ("qemu-rv32imc", by_rows)] {
        let board = Board::find(board).unwrap();
        let options = for_board(&Options { events: Events::Layers, ..options }, board);
        let compiled = compile_file(MODEL.as_ref(), &options).unwrap();
        let firmware = build_firmware(&compiled, board, Mode::Layers).unwrap();
        let printed = qemu::run(board, &firmware.elf, TIME_LIMIT).unwrap();
        let cycles = probe::parse_layers(&printed).unwrap();
        assert_eq!(cycles.len(), compiled.schedule.steps.len(), "{}: {printed}", board.name);
    }
}
