//! The model compiled so that it fits the board.

use super::platform::{platform, Flavour, Room};
use crate::place::for_board;
use anyhow::{bail, Result};
use kiln_boards::Board;
use kiln_codegen::{compile, Compiled, Options};

/// RAM that is left for the stack and the statics of the rest of the firmware, in bytes: kernels need up to 1.5 KB.
const OTHER_RAM: usize = 6 * 1024;
/// Flash that is left for code, in bytes. Most models need more; the linker says so.
const OTHER_FLASH: usize = 16 * 1024;

/// Compiles the model for the board, within that room. Where it does not fit with these options alone, the board's RAM is the budget: the options of what is returned
/// have it.
///
/// # Errors
/// Those of the compiler; among them how many bytes there are too many, and which.
pub(super) fn compile_for(
    bytes: &[u8],
    name: &str,
    options: &Options,
    board: &Board,
    room: Room,
    sample_bytes: usize,
) -> Result<Compiled> {
    let ram = room.ram.saturating_sub(OTHER_RAM);
    let flash = room.flash.saturating_sub(OTHER_FLASH + sample_bytes);
    let does_not_fit = || {
        format!(
            "the model does not fit the board {}: of its {} bytes of RAM it can have {ram}, of its {} bytes of flash {flash} \
             (the rest is for the stack and for code)",
            board.name, room.ram, room.flash
        )
    };
    let options = for_board(options, board);
    let whole = compile(bytes, name, &options)?;
    let need = (whole.plan.ram_bytes(), whole.program.constant_bytes());
    if need.0 <= ram && need.1 <= flash {
        return Ok(whole);
    }
    let least = |wanted: Option<usize>, room: usize| Some(wanted.map_or(room, |wanted| wanted.min(room)));
    let budgets = Options { ram: least(options.ram, ram), flash: least(options.flash, flash), ..options };
    match compile(bytes, name, &budgets) {
        Ok(compiled) => Ok(compiled),
        Err(error) => {
            bail!("{}: {error}\n    help: {}", does_not_fit(), boards_with_room(board, need, sample_bytes))
        }
    }
}

/// Which boards, as real or as emulated as this one, have room for what a model needs: RAM and constants, in bytes.
fn boards_with_room(like: &Board, need: (usize, usize), sample_bytes: usize) -> String {
    let has_room = |board: &&Board| {
        platform(board, Flavour::Bare).is_ok_and(|platform| {
            let room = platform.room(board);
            need.0 + OTHER_RAM <= room.ram && need.1 + OTHER_FLASH + sample_bytes <= room.flash
        })
    };
    let boards = Board::all().iter().filter(|board| board.is_emulated() == like.is_emulated());
    let names: Vec<&str> = boards.filter(has_room).map(|board| board.name.as_str()).collect();
    match names.is_empty() {
        true => "no other board of `cargo kiln boards` has room for it either".into(),
        false => format!("boards with room for it: {}", names.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::read_file;

    const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");

    /// On a board like the nRF52840-DK with other memories.
    fn fitted(flash: usize, ram: usize) -> Result<Compiled> {
        let (bytes, board) = (read_file(DIGITS.as_ref()).unwrap(), Board::find("nrf52840-dk").unwrap());
        compile_for(&bytes, "digits_int8", &Options::default(), board, Room { flash, ram }, 74)
    }

    #[test]
    fn a_schedule_that_fits_is_found() {
        let roomy = fitted(1 << 20, 1 << 18).unwrap();
        assert_eq!(roomy.options.ram, None);
        let need = roomy.plan.ram_bytes();

        let tight = fitted(1 << 20, OTHER_RAM + need - 1).unwrap();
        assert_eq!(tight.options.ram, Some(need - 1));
        assert!(tight.plan.ram_bytes() < need);
    }

    #[test]
    fn too_many_bytes_are_counted() {
        let constants = fitted(1 << 20, 1 << 18).unwrap().program.constant_bytes();
        let flash = OTHER_FLASH + 74 + constants - 7;
        let message = format!("{:#}", fitted(flash, 1 << 18).map(|_| ()).unwrap_err());
        assert!(message.contains("does not fit the board nrf52840-dk"), "{message}");
        assert!(
            message.contains(&format!("{constants} bytes of constants are needed, 7 more than")),
            "{message}"
        );
        assert!(message.contains("boards with room for it: esp32-c3, esp32-c6, microbit-v2"), "{message}");

        let message = format!("{:#}", fitted(1 << 20, 6 * 1024 + 100).map(|_| ()).unwrap_err());
        assert!(message.contains("more than the budget of 100"), "{message}");
    }
}
