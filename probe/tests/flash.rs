//! Flashing, from the ELF file to the bytes in flash: probe-rs's own algorithm runs on an emulated chip and drives its flash controller.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]
#![cfg(unix)]
mod support;

use kiln_probe::{attach, flash, reset, Chip, Error, Event, Image, Plan, Unlock};
use probe_rs::MemoryInterface;
use std::path::Path;
use support::{elf, EmulatedProbe};

const FLASH: std::ops::Range<u32> = 0..0x4_0000;

#[test]
fn erase_program_verify_reset_in_order() {
    let board = support::board(support::MICROBIT);
    let chip = Chip::find(&board, &support::registry()).unwrap();
    // Two parts with a gap, the second across the end of a page.
    let image = Image::parse(Path::new("x"), elf::arm(&[(0, 1500), (0x2100, 900)])).unwrap();
    let plan = Plan::new(&board, &chip, &image).unwrap();
    assert_eq!(plan.sectors, [0..0x400, 0x400..0x800, 0x2000..0x2400, 0x2400..0x2800]);

    let probe = EmulatedProbe::open("microbit", FLASH);
    let mut session = attach(probe, &board, &chip, &chip.flash_target, Unlock::No).unwrap();
    // What was there before and is not overwritten: beside the image, and in a sector of its own.
    let mut events = Vec::new();
    flash(&mut session, &image, |event| events.push(event)).unwrap();
    reset(&mut session, |event| events.push(event)).unwrap();

    let steps: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::Begins(step, _) => Some(*step),
            _ => None,
        })
        .collect();
    assert_eq!(steps, ["erasing", "programming", "verifying", "resetting"]);
    let advanced = |wanted: &str| -> u64 {
        let bytes = events.iter().map(|event| match event {
            Event::Advances(step, bytes) if *step == wanted => *bytes,
            _ => 0,
        });
        bytes.sum()
    };
    assert_eq!(advanced("erasing"), plan.erased_bytes());
    for step in ["erasing", "programming", "verifying"] {
        let total = events.iter().find_map(|event| match event {
            Event::Begins(name, total) if *name == step => *total,
            _ => None,
        });
        assert_eq!(total, Some(advanced(step)), "{step}");
        assert_eq!(events.iter().filter(|event| **event == Event::Ends(step)).count(), 1, "{step}");
    }

    let mut core = session.core(0).unwrap();
    for segment in &image.segments {
        let mut data = vec![0; segment.data.len()];
        core.read(segment.address, &mut data).unwrap();
        assert_eq!(data, segment.data);
    }
}

#[test]
fn another_chip_is_told_before_anything_is_touched() {
    let board = support::board(support::AN386);
    let chip = Chip::find(&board, &support::registry()).unwrap();
    // A Cortex-M3 in the place of the Cortex-M4.
    let probe = EmulatedProbe::open("mps2-an385", 0..0);
    let error = attach(probe, &board, &chip, &chip.target, Unlock::No).unwrap_err();
    assert!(
        matches!(error, Error::OtherChip { found: 0x410f_c230, .. } | Error::OtherChip { .. }),
        "{error}"
    );
    let text = error.to_string();
    assert!(text.contains("not the Emulated_AN386") && text.contains("nothing was touched"), "{text}");
}

#[test]
fn the_board_that_has_such_a_chip_is_named() {
    let text = Error::OtherChip {
        chip: "STM32F411CEUx".to_owned(),
        board: "stm32f411-blackpill".to_owned(),
        address: 0xe004_2000,
        found: 0x470,
        other: vec!["stm32l4r5zi-nucleo".to_owned()],
    }
    .to_string();
    assert!(text.contains("is 0x470, that of stm32l4r5zi-nucleo: nothing"), "{text}");
}

#[test]
fn a_locked_chip_is_left_alone() {
    let board = kiln_boards::Board::find("nrf52840-dk").unwrap();
    let chip = Chip::of(board).unwrap();
    let error =
        attach(EmulatedProbe::locked("mps2-an386"), board, &chip, &chip.target, Unlock::No).unwrap_err();
    assert!(matches!(error, Error::Locked { .. }), "{error}");
    assert!(error.to_string().contains("`--unlock` erases the whole chip"), "{error}");
}
