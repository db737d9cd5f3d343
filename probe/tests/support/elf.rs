//! ELF files of a few bytes.

const ARM: u16 = 40;
const RISCV: u16 = 243;
const HEADER: u32 = 52;
const PROGRAM_HEADER: u32 = 32;
const SECTION_HEADER: u32 = 40;

/// An Arm image that loads `length` bytes at each address, in sections `.part0`, `.part1` …
pub(crate) fn arm(parts: &[(u32, u32)]) -> Vec<u8> {
    image(ARM, parts)
}

/// The same for RISC-V.
pub(crate) fn riscv(parts: &[(u32, u32)]) -> Vec<u8> {
    image(RISCV, parts)
}

fn image(machine: u16, parts: &[(u32, u32)]) -> Vec<u8> {
    let count = parts.len() as u32;
    let data = HEADER + count * PROGRAM_HEADER;
    let mut names = b"\0.shstrtab\0".to_vec();
    let mut starts = Vec::new();
    for index in 0..count {
        starts.push(names.len() as u32);
        names.extend(format!(".part{index}\0").bytes());
    }
    let mut offset = data;
    let mut offsets = Vec::new();
    for part in parts {
        offsets.push(offset);
        offset += part.1;
    }
    let (strings, sections) = (offset, offset + names.len() as u32);

    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    let halves = |values: &[u16]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let words = |values: &[u32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    file.extend(halves(&[2, machine]));
    file.extend(words(&[1, 0, HEADER, sections, 0]));
    file.extend(halves(&[52, 32, count as u16, 40, count as u16 + 2, count as u16 + 1]));
    for (part, offset) in parts.iter().zip(&offsets) {
        file.extend(words(&[1, *offset, part.0, part.0, part.1, part.1, 5, 1]));
    }
    for part in parts {
        file.extend((0..part.1).map(|index| index as u8));
    }
    file.extend(&names);
    file.extend([0; SECTION_HEADER as usize]);
    for ((part, offset), name) in parts.iter().zip(&offsets).zip(&starts) {
        file.extend(words(&[*name, 1, 2, part.0, *offset, part.1, 0, 0, 1, 0]));
    }
    file.extend(words(&[1, 3, 0, 0, strings, names.len() as u32, 0, 0, 1, 0]));
    file
}
