//! Cycles as time and energy on boards.

use crate::place::for_board;
use kiln_boards::cycles::cores::Core;
use kiln_boards::{Board, Energy};
use kiln_codegen::{Compiled, Options, Target};
use kiln_tools::number::significant;
use kiln_tools::report::on_board::OnBoard;

/// The title of a table of estimates.
pub(crate) const ESTIMATED: &str = "on boards with this core, estimated without wait states";

/// What cycles take on a board.
pub(crate) fn on_board(board: &Board, cycles: u64) -> OnBoard {
    let energy = board.energy.as_ref();
    OnBoard {
        board: board.name.clone(),
        clock_hz: board.clock_hz,
        milliseconds: 1e3 * cycles as f64 / f64::from(board.clock_hz.max(1)),
        millijoules: energy.map(|energy| 1e-6 * cycles as f64 * energy.nanojoules_per_cycle()),
        energy_from: energy.map(source),
    }
}

/// Cycles of an emulated board as time and energy of the real boards that it stands for: those that run the same code on the same core. If there are none, it is the emulated board
/// itself, at the clock of what it emulates.
pub(crate) fn on_boards_like(board: &Board, cycles: u64) -> Vec<OnBoard> {
    // How a chip of one core would share the work is not known.
    let has_one_core = !board.harness_features.iter().any(|feature| feature == "second-core");
    let same = |other: &&Board| {
        has_one_core
            && !other.is_emulated()
            && other.core == board.core
            && (&other.target, &other.rustflags) == (&board.target, &board.rustflags)
    };
    let like: Vec<OnBoard> = Board::all().iter().filter(same).map(|board| on_board(board, cycles)).collect();
    if like.is_empty() {
        vec![on_board(board, cycles)]
    } else {
        like
    }
}

/// The cycles that were predicted for the schedule as time and energy of the boards whose core they are predicted for; none if several cores share the work. With
/// the number of steps that are not predicted, and count as nothing.
pub(crate) fn predicted(compiled: &Compiled) -> (Vec<OnBoard>, usize) {
    let options = &compiled.options;
    let Some(predicted) = compiled.kept().map(|kept| kept.predicted) else { return (Vec::new(), 0) };
    if options.cores.is_some_and(|cores| cores > 1) {
        return (Vec::new(), 0);
    }
    (on_boards_of(options.target(), predicted.cycles), predicted.unknown)
}

/// Cycles that were predicted for a target, as time and energy of the boards whose core they are predicted for.
pub(crate) fn on_boards_of(target: Target, cycles: u64) -> Vec<OnBoard> {
    let core = match target {
        Target::CortexM0 => Core::CortexM0Plus,
        Target::CortexMDsp => Core::CortexM4,
        Target::CortexMHelium => Core::CortexM55,
        Target::Rv32 => Core::Hazard3,
        Target::Portable | Target::Vectors => return Vec::new(),
    };
    let same = |board: &&Board| {
        !board.is_emulated()
            && board.core == core
            && for_board(&Options::default(), board).target == Some(target)
    };
    Board::all().iter().filter(same).map(|board| on_board(board, cycles)).collect()
}

/// Where the energy of a cycle comes from, for people.
fn source(energy: &Energy) -> String {
    format!(
        "{} nJ a cycle at {} V, as in {}",
        significant(energy.nanojoules_per_cycle()),
        energy.volts,
        energy.source
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::compile_file;

    fn names(boards: &[OnBoard]) -> Vec<&str> {
        boards.iter().map(|board| board.board.as_str()).collect()
    }

    #[test]
    fn boards_that_an_emulated_one_stands_for() {
        let like = |name: &str| on_boards_like(Board::find(name).unwrap(), 1_200_000);
        let m4 = like("qemu-cortex-m4");
        assert_eq!(names(&m4), ["microbit-v2", "nrf52840-dk", "stm32f411-blackpill", "stm32l4r5zi-nucleo"]);
        assert_eq!((m4[1].milliseconds, m4[1].millijoules), (18.75, None));
        // 10 ms at the 41.7 mW that MLPerf's models took on average.
        assert_eq!((m4[3].milliseconds, m4[3].millijoules.map(significant)), (10.0, Some("0.417".into())));
        assert_eq!(names(&like("qemu-cortex-m0")), ["raspberry-pi-pico"]);
        // Its image has instructions that an ESP32-C6 lacks.
        assert_eq!(names(&like("qemu-rv32imac-zb")), ["raspberry-pi-pico-2-riscv"]);
        let m3 = like("qemu-cortex-m3");
        assert_eq!((names(&m3), m3[0].milliseconds), (vec!["qemu-cortex-m3"], 48.0));
        assert_eq!(names(&like("qemu-cortex-m33-dual")), ["qemu-cortex-m33-dual"]);
    }

    #[test]
    fn predictions_are_for_the_core_that_they_are_made_for() {
        let model = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");
        let of = |target| {
            let options = Options { target: Some(target), ..Options::default() };
            predicted(&compile_file(model.as_ref(), &options).unwrap()).0
        };
        let m4 = of(Target::CortexMDsp);
        // Not boards with a Cortex-M7 or M33, which run the same code in other cycles.
        assert_eq!(names(&m4), ["microbit-v2", "nrf52840-dk", "stm32f411-blackpill", "stm32l4r5zi-nucleo"]);
        assert!(m4.iter().all(|board| board.milliseconds > 0.0));
        assert_eq!(names(&of(Target::Rv32)), ["esp32-c3", "esp32-c6", "raspberry-pi-pico-2-riscv"]);
        assert!(of(Target::Portable).is_empty());
    }
}
