//! Every real board's chip, held against what probe-rs knows about it.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
use kiln_boards::{Board, Region};
use kiln_probe::{Chip, Processor};
use probe_rs::Architecture;
use std::ops::Range;

fn real_boards() -> impl Iterator<Item = (&'static Board, Chip)> {
    let real = Board::all().iter().filter(|board| !board.is_emulated());
    real.map(|board| (board, Chip::of(board).unwrap_or_else(|error| panic!("{error}"))))
}

fn covers(ranges: &[Range<u64>], region: &Region) -> bool {
    let wanted = region.range();
    ranges.iter().any(|range| range.start <= wanted.start && wanted.end <= range.end)
}

/// Whether the board's map is that of programs in RAM: code is there too.
fn in_ram(board: &Board, chip: &Chip) -> bool {
    covers(&chip.ram(), &board.memory.flash)
}

/// Ranges that touch become one.
fn joined(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match joined.last_mut().filter(|last| last.end >= range.start) {
            Some(last) => last.end = last.end.max(range.end),
            None => joined.push(range),
        }
    }
    joined
}

#[test]
fn every_chip_is_known_by_its_full_name() {
    assert!(real_boards().count() >= 9);
    for (board, chip) in real_boards() {
        let kiln_boards::Runner::ProbeRs { chip: name, .. } = &board.runner else { unreachable!() };
        // The registry would also take a prefix, or another package of the same chip.
        assert_eq!(&chip.target.name, name, "{}", board.name);
        let processor = match chip.target.architecture() {
            Architecture::Arm => Processor::Arm,
            _ => Processor::RiscV,
        };
        assert_eq!(processor, Processor::of_target(&board.target), "{}", board.name);
    }
}

#[test]
fn memories_are_the_chips() {
    for (board, chip) in real_boards() {
        let ram = chip.ram();
        let code = chip.flashes().map(|region| region.range.clone()).collect();
        assert!(in_ram(board, &chip) || covers(&joined(code), &board.memory.flash), "{}: flash", board.name);
        assert!(covers(&ram, &board.memory.ram), "{}: RAM, {ram:#x?}", board.name);
        for fast in &board.memory.fast {
            assert!(covers(&ram, &fast.region), "{}: {}, {ram:#x?}", board.name, fast.name);
        }
    }
}

#[test]
fn all_flash_of_a_chip_that_contains_it_is_used() {
    // Elsewhere flash is a chip of its own, and probe-rs's range what the controller can address.
    for (board, chip) in
        real_boards().filter(|(board, chip)| !board.name.starts_with("raspberry") && !in_ram(board, chip))
    {
        let flash = joined(
            chip.flashes().filter(|region| !region.is_alias).map(|region| region.range.clone()).collect(),
        );
        let whole = flash.iter().find(|range| range.contains(&board.memory.flash.range().start)).unwrap();
        assert_eq!(board.memory.flash.range(), *whole, "{}", board.name);
    }
}

#[test]
fn part_numbers_are_those_by_which_probe_rs_detects_chips() {
    let registry = probe_rs::config::Registry::from_builtin_families();
    let mut compared = 0;
    for (board, chip) in real_boards() {
        for info in registry.families().iter().flat_map(|family| &family.chip_detection) {
            let name = &chip.target.name;
            if let Some(nordic) = info.as_nordic_ficr().filter(|it| it.variants.values().any(|v| v == name)) {
                assert_eq!(chip.identity.address, nordic.part_address, "{}", board.name);
                assert!(chip.identity.matches(nordic.part), "{}", board.name);
                compared += 1;
            }
            // The part number's letters from the fifth to the eighth.
            if let Some(renesas) = info.as_renesas_pnr().filter(|it| it.variants.contains(name)) {
                assert_eq!(chip.identity.address, renesas.mcu_pn_base + 4, "{}", board.name);
                let letters = u32::from_le_bytes(name.as_bytes()[4..8].try_into().unwrap());
                assert_eq!(
                    (chip.identity.values.as_slice(), renesas.reverse_string),
                    (&[letters][..], false)
                );
                compared += 1;
            }
            if let Some(espressif) = info.as_espressif().filter(|it| it.variants.values().any(|v| v == name))
            {
                let mut values: Vec<u32> = espressif.variants.keys().copied().collect();
                let mut ours = chip.identity.values.clone();
                values.sort_unstable();
                ours.sort_unstable();
                assert_eq!(ours, values, "{}", board.name);
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}
