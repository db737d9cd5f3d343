//! From a probe to a chip that is the board's.
use crate::error::lost;
use crate::{Chip, Error};
use kiln_boards::{Board, Runner};
use probe_rs::architecture::arm::ArmError;
use probe_rs::probe::Probe;
use probe_rs::{MemoryInterface, Permissions, Session, Target};

/// Whether a locked chip may be erased to unlock it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unlock {
    /// No: it is an error.
    No,
    /// Yes, with all that is on it.
    EraseAll,
}

/// Connects to the chip as `target` and sees that it is the board's. Nothing on it is changed, but for a locked chip with
/// [`Unlock::EraseAll`].
///
/// # Errors
/// [`Error::Attach`], [`Error::Locked`], [`Error::OtherChip`].
pub fn attach(
    probe: Probe,
    board: &Board,
    chip: &Chip,
    target: &Target,
    unlock: Unlock,
) -> Result<Session, Error> {
    let permissions = match unlock {
        Unlock::No => Permissions::new(),
        Unlock::EraseAll => Permissions::new().allow_erase_all(),
    };
    let mut session = probe.attach(target.clone(), permissions).map_err(|error| match error {
        probe_rs::Error::MissingPermissions(_) | probe_rs::Error::Arm(ArmError::MissingPermissions(_)) => {
            Error::Locked { chip: target.name.clone(), board: board.name.clone() }
        }
        error => {
            Error::Attach { chip: target.name.clone(), board: board.name.clone(), source: Box::new(error) }
        }
    })?;
    identify(&mut session, board, chip)?;
    Ok(session)
}

/// Asks the chip for its part number.
///
/// # Errors
/// [`Error::OtherChip`] where it is not that of the board's chip, [`Error::Lost`] where it does not answer.
pub fn identify(session: &mut Session, board: &Board, chip: &Chip) -> Result<(), Error> {
    let identity = &chip.identity;
    let mut core = session.core(0).map_err(lost("asking the chip what it is"))?;
    let register = core.read_word_32(identity.address.into()).map_err(lost("asking the chip what it is"))?;
    if identity.matches(register) {
        return Ok(());
    }
    let has_such_a_chip = |other: &&Board| match &other.runner {
        Runner::ProbeRs { identity: theirs, .. } => {
            theirs.address == identity.address && theirs.matches(register)
        }
        Runner::Qemu { .. } => false,
    };
    Err(Error::OtherChip {
        chip: chip.target.name.clone(),
        board: board.name.clone(),
        address: identity.address,
        found: register & identity.mask,
        other: Board::all().iter().filter(has_such_a_chip).map(|board| board.name.clone()).collect(),
    })
}
