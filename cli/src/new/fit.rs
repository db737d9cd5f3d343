//! The model compiled so that it fits the board.

use crate::place::for_board;
use anyhow::{Context, Result};
use kiln_boards::Board;
use kiln_codegen::{compile, Compiled, Optimize, Options};

/// RAM that is left for the stack and the statics of the rest of the firmware, in bytes: kernels need up to 1.5 KB.
const OTHER_RAM: usize = 6 * 1024;
/// Flash that is left for code, in bytes. Most models need more; the linker says so.
const OTHER_FLASH: usize = 16 * 1024;

/// A model that fits.
pub(super) struct Fitting {
    pub(super) compiled: Compiled,
    /// The budget that the crate has to compile it with, in bytes, where the first schedule needs more.
    pub(super) ram: Option<usize>,
}

/// The options without budgets.
pub(super) fn options(board: &Board, optimize: Optimize) -> Options {
    for_board(&Options { optimize, ..Options::default() }, board)
}

/// Compiles the model for the board, within its memories: as fast as that goes.
///
/// # Errors
/// Those of the compiler; among them how many bytes there are too many, and which.
pub(super) fn compile_for(
    bytes: &[u8],
    name: &str,
    optimize: Optimize,
    board: &Board,
    sample_bytes: usize,
) -> Result<Fitting> {
    let memory = &board.memory;
    let ram = (memory.ram.length as usize).saturating_sub(OTHER_RAM);
    let flash = (memory.flash.length as usize).saturating_sub(OTHER_FLASH + sample_bytes);
    let does_not_fit = || {
        format!(
            "the model does not fit the board {}: of its {} bytes of RAM it can have {ram}, of its {} bytes of flash {flash} \
             (the rest is for the stack and for code)",
            board.name, memory.ram.length, memory.flash.length
        )
    };
    let whole = compile(bytes, name, &options(board, optimize))?;
    let need = (whole.plan.ram_bytes(), whole.program.constant_bytes());
    if need.0 <= ram && need.1 <= flash {
        return Ok(Fitting { compiled: whole, ram: None });
    }
    let budgets = Options { ram: Some(ram), flash: Some(flash), ..options(board, optimize) };
    let compiled = compile(bytes, name, &budgets).with_context(does_not_fit)?;
    Ok(Fitting { compiled, ram: Some(ram) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kiln_codegen::read_file;

    const DIGITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/digits/models/digits_int8.tflite");

    /// A board like the nRF52840-DK with other memories.
    fn board(flash: u32, ram: u32) -> Board {
        let mut board = Board::find("nrf52840-dk").unwrap().clone();
        (board.memory.flash.length, board.memory.ram.length) = (flash, ram);
        board
    }

    fn fitted(flash: u32, ram: u32) -> Result<Fitting> {
        let bytes = read_file(DIGITS.as_ref()).unwrap();
        compile_for(&bytes, "digits_int8", Optimize::Speed, &board(flash, ram), 74)
    }

    #[test]
    fn a_schedule_that_fits_is_found() {
        let roomy = fitted(1 << 20, 1 << 18).unwrap();
        assert_eq!(roomy.ram, None);
        let need = roomy.compiled.plan.ram_bytes();

        let tight = fitted(1 << 20, (OTHER_RAM + need - 1) as u32).unwrap();
        assert_eq!(tight.ram, Some(need - 1));
        assert!(tight.compiled.plan.ram_bytes() < need);
    }

    #[test]
    fn too_many_bytes_are_counted() {
        let constants = fitted(1 << 20, 1 << 18).unwrap().compiled.program.constant_bytes();
        let flash = OTHER_FLASH + 74 + constants - 7;
        let message = format!("{:#}", fitted(flash as u32, 1 << 18).map(|_| ()).unwrap_err());
        assert!(message.contains("does not fit the board nrf52840-dk"), "{message}");
        assert!(
            message.contains(&format!("{constants} bytes of constants are needed, 7 more than")),
            "{message}"
        );

        let message = format!("{:#}", fitted(1 << 20, 6 * 1024 + 100).map(|_| ()).unwrap_err());
        assert!(message.contains("more than the budget of 100"), "{message}");
    }
}
