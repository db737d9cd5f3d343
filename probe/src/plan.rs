//! What flashing an image will do, before any of it is done.
use crate::{Chip, Error, Image, Processor, Segment};
use kiln_boards::Board;
use probe_rs_target::{NvmRegion, RawFlashAlgorithm};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

/// What goes where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// The chip's name.
    pub chip: String,
    /// What is written, by address.
    pub parts: Vec<Part>,
    /// Flash that is erased for that: whole sectors, by address.
    pub sectors: Vec<Range<u64>>,
}

/// A segment of an image.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Sections it holds.
    pub sections: String,
    /// Addresses it takes.
    pub range: Range<u64>,
    /// Whether that is flash; otherwise it is RAM.
    pub flash: bool,
}

impl Plan {
    /// The plan for an image on a board.
    ///
    /// # Errors
    /// [`Error::OtherProcessor`], [`Error::TooLarge`] and [`Error::Elsewhere`] where the image is not for this board, or too large for it.
    pub fn new(board: &Board, chip: &Chip, image: &Image) -> Result<Plan, Error> {
        let expected = Processor::of_target(&board.target);
        if image.processor != expected {
            return Err(Error::OtherProcessor {
                found: image.processor.name(),
                expected: expected.name(),
                board: board.name.clone(),
                target: board.target.clone(),
            });
        }
        let parts =
            image.segments.iter().map(|segment| part(board, chip, segment)).collect::<Result<_, _>>()?;
        let mut plan = Plan { chip: chip.target.name.clone(), parts, sectors: Vec::new() };
        plan.sectors = sectors(chip, &plan.parts);
        Ok(plan)
    }

    /// Bytes that are written to flash.
    pub fn flash_bytes(&self) -> u64 {
        let flash = self.parts.iter().filter(|part| part.flash);
        flash.map(|part| part.range.end - part.range.start).sum()
    }

    /// Bytes that are erased.
    pub fn erased_bytes(&self) -> u64 {
        self.sectors.iter().map(|sector| sector.end - sector.start).sum()
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { start, end } = self.range;
        let memory = if self.flash { "flash" } else { "RAM" };
        write!(f, "{start:#010x}..{end:#010x} {memory:<5} {:>9} bytes  {}", end - start, self.sections)
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sectors, kib) = (self.sectors.len(), self.erased_bytes() / 1024);
        write!(f, "{}: {} bytes of flash in {sectors} sectors ({kib} KB)", self.chip, self.flash_bytes())?;
        let ram = self.parts.iter().filter(|part| !part.flash);
        match ram.map(|part| part.range.end - part.range.start).sum::<u64>() {
            0 => Ok(()),
            bytes => write!(f, ", {bytes} bytes of RAM"),
        }
    }
}

/// Where a segment goes.
fn part(board: &Board, chip: &Chip, segment: &Segment) -> Result<Part, Error> {
    let (range, memory) = (segment.range(), &board.memory);
    let flash = memory.flash.range();
    let place = |end: u64, flash: bool| match range.end <= end {
        true => Ok(Part { sections: segment.sections.clone(), range: range.clone(), flash }),
        false => Err(Error::TooLarge {
            board: board.name.clone(),
            section: segment.sections.clone(),
            end: range.end,
            over: range.end - end,
            memory: if flash { "flash" } else { "RAM" },
        }),
    };
    match chip.flash_at(range.start) {
        // Including what lies before it, a boot loader.
        Some(region) if region.range.contains(&flash.start) => return place(flash.end, true),
        // Settings, or a second address of the flash.
        Some(region) => return place(region.range.end, true),
        None => {}
    }
    // A boot loader with a format of its own also fills RAM, as it likes.
    if chip.target.default_format.is_some() {
        if let Some(ram) = chip.ram().iter().find(|ram| ram.contains(&range.start)) {
            return place(ram.end, false);
        }
    }
    let fast = memory.fast.iter().map(|fast| fast.region.range());
    let extra = memory.extra.iter().map(|extra| extra.range());
    // Boards may have RAM where others have flash.
    match extra.chain(fast).chain([memory.ram.range(), flash.clone()]).find(|ram| ram.contains(&range.start))
    {
        Some(ram) => place(ram.end, false),
        None => Err(Error::Elsewhere {
            board: board.name.clone(),
            section: segment.sections.clone(),
            start: range.start,
            flash: flash.start,
        }),
    }
}

/// Every sector that holds a part, once.
fn sectors(chip: &Chip, parts: &[Part]) -> Vec<Range<u64>> {
    let mut sectors = BTreeSet::new();
    for part in parts.iter().filter(|part| part.flash) {
        let Some(algorithm) = chip.flash_at(part.range.start).and_then(|region| algorithm(chip, region))
        else {
            continue;
        };
        let mut address = part.range.start;
        while address < part.range.end {
            let Some(sector) = sector_at(algorithm, address) else { break };
            address = sector.end;
            sectors.insert((sector.start, sector.end));
        }
    }
    sectors.into_iter().map(|(start, end)| start..end).collect()
}

/// The algorithm that probe-rs takes for a flash: the default one of those that reach all of it.
fn algorithm<'c>(chip: &'c Chip, region: &NvmRegion) -> Option<&'c RawFlashAlgorithm> {
    let mut fitting = chip.flash_target.flash_algorithms.iter().filter(|algorithm| {
        let range = &algorithm.flash_properties.address_range;
        range.start <= region.range.start && region.range.end <= range.end
    });
    fitting.clone().find(|algorithm| algorithm.default).or_else(|| fitting.next())
}

/// Sectors of one size follow each other from an offset on, to where those of the next size begin.
fn sector_at(algorithm: &RawFlashAlgorithm, address: u64) -> Option<Range<u64>> {
    let flash = &algorithm.flash_properties;
    let offset = address.checked_sub(flash.address_range.start)?;
    let kind = flash.sectors.iter().filter(|kind| kind.address <= offset).max_by_key(|kind| kind.address)?;
    let start = address - (offset - kind.address).checked_rem(kind.size)?;
    Some(start..start + kind.size)
}
