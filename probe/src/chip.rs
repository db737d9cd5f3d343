//! What probe-rs knows about a board's chip.
use crate::Error;
use kiln_boards::{Board, Identity, Runner};
use probe_rs::config::Registry;
use probe_rs::Target;
use probe_rs_target::{MemoryRegion, NvmRegion};
use std::ops::Range;
use std::sync::Once;

/// A board's chip, in probe-rs's registry.
#[derive(Debug, Clone)]
pub struct Chip {
    /// As it is debugged.
    pub target: Target,
    /// As it is flashed: the same, but for chips whose processors have entries of their own.
    pub flash_target: Target,
    /// How it says what it is.
    pub identity: Identity,
}

/// Makes the chips known that come in crates of their own (Espressif's). [`Chip::of`] does so by itself.
pub fn register_chips() {
    static ONCE: Once = Once::new();
    ONCE.call_once(probe_rs_espressif::register_plugin);
}

impl Chip {
    /// The chip of a board.
    ///
    /// # Errors
    /// [`Error::Emulated`] for a board of QEMU's, [`Error::UnknownChip`] where probe-rs does not know its chip.
    pub fn of(board: &Board) -> Result<Chip, Error> {
        register_chips();
        Chip::find(board, &Registry::from_builtin_families())
    }

    /// The chip of a board, in a registry of one's own.
    ///
    /// # Errors
    /// As [`Chip::of`].
    pub fn find(board: &Board, registry: &Registry) -> Result<Chip, Error> {
        let Runner::ProbeRs { chip, flash_chip, identity } = &board.runner else {
            return Err(Error::Emulated { board: board.name.clone() });
        };
        let target = |name: &str| {
            registry.get_target_by_name(name).map_err(|source| Error::UnknownChip {
                chip: name.to_owned(),
                board: board.name.clone(),
                source,
            })
        };
        Ok(Chip {
            target: target(chip)?,
            flash_target: target(flash_chip.as_ref().unwrap_or(chip))?,
            identity: identity.clone(),
        })
    }

    /// The flash that holds an address.
    pub fn flash_at(&self, address: u64) -> Option<&NvmRegion> {
        self.flashes().find(|flash| flash.range.contains(&address))
    }

    /// Every flash, and what is written like flash.
    pub fn flashes(&self) -> impl Iterator<Item = &NvmRegion> {
        self.flash_target.memory_map.iter().filter_map(MemoryRegion::as_nvm_region)
    }

    /// Ranges of RAM, those that touch as one.
    pub fn ram(&self) -> Vec<Range<u64>> {
        let regions = self.target.memory_map.iter().filter_map(MemoryRegion::as_ram_region);
        let mut ranges: Vec<Range<u64>> = regions.map(|region| region.range.clone()).collect();
        ranges.sort_by_key(|range| range.start);
        ranges.dedup_by(|next, range| {
            let touches = range.end >= next.start;
            if touches {
                range.end = range.end.max(next.end);
            }
            touches
        });
        ranges
    }
}
