//! A linked image, as it is flashed.
use crate::error::at;
use crate::Error;
use object::elf::{FileHeader32, PT_LOAD};
use object::read::elf::{ElfFile, FileHeader, ProgramHeader};
use object::{Architecture, Endianness, Object, ObjectSection, ObjectSymbol};
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The kind of processor that code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Processor {
    /// Cortex-M.
    Arm,
    /// RISC-V, 32 bits.
    RiscV,
}

impl Processor {
    /// Its name, for people.
    pub fn name(self) -> &'static str {
        match self {
            Processor::Arm => "Arm",
            Processor::RiscV => "RISC-V",
        }
    }

    /// That of a Rust target.
    pub fn of_target(triple: &str) -> Processor {
        match triple.starts_with("riscv") {
            true => Processor::RiscV,
            false => Processor::Arm,
        }
    }
}

/// Bytes of an image that have to be in memory before it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// Where they are loaded (for initial values of statics: in flash, from where start-up code copies them).
    pub address: u64,
    /// They.
    pub data: Vec<u8>,
    /// Sections they belong to.
    pub sections: String,
}

impl Segment {
    /// Addresses it takes.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address + self.data.len() as u64
    }
}

/// An ELF file.
#[derive(Debug, Clone)]
pub struct Image {
    /// Where it was read.
    pub path: PathBuf,
    /// All of it.
    pub bytes: Vec<u8>,
    /// What it is for.
    pub processor: Processor,
    /// What is loaded, by address.
    pub segments: Vec<Segment>,
    /// Address of the vector table, if it has one.
    pub vectors: Option<u64>,
    /// Address of the first instruction.
    pub entry: u64,
    /// Address of the control block of RTT, if it logs that way.
    pub rtt: Option<u64>,
    /// Functions by address, without bit 0.
    functions: Vec<(u64, String)>,
}

impl Image {
    /// Reads an ELF file.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be read, [`Error::NoFirmware`] where it is none.
    pub fn read(path: &Path) -> Result<Image, Error> {
        Image::parse(path, fs::read(path).map_err(at(path))?)
    }

    /// An image from the bytes of an ELF file; errors name `path`.
    ///
    /// # Errors
    /// [`Error::NoFirmware`] where it is none.
    pub fn parse(path: &Path, bytes: Vec<u8>) -> Result<Image, Error> {
        let wrong = |why: &str| Error::NoFirmware { path: path.to_owned(), why: why.to_owned() };
        let file = ElfFile::<FileHeader32<Endianness>>::parse(bytes.as_slice())
            .map_err(|_| wrong("this is no ELF file for 32-bit processors"))?;
        let processor = match file.architecture() {
            Architecture::Arm => Processor::Arm,
            Architecture::Riscv32 => Processor::RiscV,
            _ => return Err(wrong("it is code of another kind of processor")),
        };
        let segments = segments(&file).map_err(|error| wrong(&error.to_string()))?;
        if segments.is_empty() {
            return Err(wrong("nothing in it is to be loaded"));
        }
        let address = |name: &str| {
            let symbol = file.symbols().find(|s| s.name() == Ok(name) && !s.is_undefined());
            symbol.map(|symbol| symbol.address())
        };
        let mut functions: Vec<(u64, String)> = file
            .symbols()
            .filter(|symbol| symbol.kind() == object::SymbolKind::Text && !symbol.is_undefined())
            .filter_map(|symbol| Some((symbol.address() & !1, symbol.name().ok()?.to_owned())))
            .filter(|(_, name)| !name.starts_with('$'))
            .collect();
        functions.sort();
        let vectors = file.section_by_name(".vector_table").map(|section| section.address());
        let rtt = address("_SEGGER_RTT");
        let path = path.to_owned();
        let entry = file.entry();
        Ok(Image { path, processor, segments, vectors, entry, rtt, functions, bytes })
    }

    /// The function at an address, and the address.
    pub fn place(&self, address: u64) -> String {
        let behind = self.functions.partition_point(|(start, _)| *start <= address);
        match behind.checked_sub(1).and_then(|index| self.functions.get(index)) {
            Some((_, name)) => format!("`{name}` ({address:#010x})"),
            None => format!("{address:#010x}"),
        }
    }
}

fn segments(file: &ElfFile<FileHeader32<Endianness>>) -> object::Result<Vec<Segment>> {
    let endian = file.endian();
    let mut segments = Vec::new();
    for header in file.elf_header().program_headers(endian, file.data())? {
        let data = header.data(endian, file.data()).unwrap_or_default();
        if header.p_type(endian) != PT_LOAD || data.is_empty() {
            continue;
        }
        let (start, length) = header.file_range(endian);
        let within =
            |range: (u64, u64)| range.1 > 0 && range.0 >= start && range.0 + range.1 <= start + length;
        let names: Vec<&str> = file
            .sections()
            .filter(|section| section.file_range().is_some_and(within))
            .filter_map(|section| section.name().ok())
            .collect();
        // Linkers may let the first segment hold the file's own header, which is not to be loaded.
        if !names.is_empty() {
            let address = u64::from(header.p_paddr(endian));
            segments.push(Segment { address, data: data.to_vec(), sections: names.join(" ") });
        }
    }
    segments.sort_by_key(|segment| segment.address);
    Ok(segments)
}
