//! What one instruction costs on Hazard3, the RISC-V core of the RP2350.
//!
//! Source: "Hazard3" (the core's documentation, "Instruction Cycle Counts"), for memory without wait states, with the fast multiplier that the
//! RP2350 has. Of compressed instructions each costs what it stands for.
//!
//! | instructions | cycles |
//! |---|---|
//! | arithmetic, bit manipulation (Zba, Zbb, Zbs, Zbkb), `MUL`, `MULH` and their kin, store | 1 |
//! | load | 1, or 2 where the next instruction uses what it loads; taken as 2 |
//! | branch | 1, or 2 if it is taken |
//! | `JAL`, `JALR` | 2 |
//! | `DIV`, `REM` | 18 or 19; taken as 18 |
//! | `LR`, `SC` | 1 or 2; taken as 2 |
//! | atomic operations in memory | 4 |
use super::model::{Class, Cost, Flow};

const LOAD: u32 = 2;
const DIVIDE: u32 = 18;
const TAKEN: u32 = 1;
const EXCLUSIVE: u32 = 2;
const ATOMIC: u32 = 4;

/// Whether an instruction that begins with this halfword has a second one.
pub fn is_wide(first: u16) -> bool {
    first & 0b11 == 0b11
}

/// The cost of an instruction of one halfword, or of two.
pub fn hazard3(first: u16, second: Option<u16>) -> Cost {
    let (class, cycles, refill) = match second {
        Some(second) => wide(u32::from(second) << 16 | u32::from(first)),
        None => compressed(first),
    };
    Cost { flow: Flow::refilling(refill), ..Cost::new(class, cycles) }
}

/// "The RISC-V Instruction Set Manual", volume I: table of opcodes.
fn wide(instruction: u32) -> (Class, u32, u32) {
    let (opcode, funct3, funct7) = (instruction & 0x7f, instruction >> 12 & 7, instruction >> 25);
    match opcode {
        0x03 => (Class::Load, LOAD, 0),
        0x23 => (Class::Store, 1, 0),
        0x63 => (Class::Branch, 1, TAKEN),
        0x67 | 0x6f => (Class::Branch, 1, TAKEN),
        0x33 if funct7 == 1 && funct3 >= 4 => (Class::Divide, DIVIDE, 0),
        0x33 if funct7 == 1 => (Class::Multiply, 1, 0),
        0x13 | 0x17 | 0x33 | 0x37 => (Class::Alu, 1, 0),
        0x2f if funct7 >> 2 == 0b00010 => (Class::Load, EXCLUSIVE, 0),
        0x2f if funct7 >> 2 == 0b00011 => (Class::Store, EXCLUSIVE, 0),
        0x2f => (Class::Other, ATOMIC, 0),
        _ => (Class::Other, 1, 0),
    }
}

/// The same, table of compressed instructions: quadrant in the lowest bits, function in the highest.
fn compressed(instruction: u16) -> (Class, u32, u32) {
    let (quadrant, function) = (instruction & 3, instruction >> 13);
    match (quadrant, function) {
        (0, 2) | (2, 2) => (Class::Load, LOAD, 0),
        (0, 6) | (2, 6) => (Class::Store, 1, 0),
        (1, 1 | 5 | 6 | 7) => (Class::Branch, 1, TAKEN),
        // JR and JALR, where the second register is none; but not MV, ADD and EBREAK.
        (2, 4) if instruction >> 2 & 0x1f == 0 && instruction >> 7 & 0x1f != 0 => (Class::Branch, 1, TAKEN),
        (2, 4) if instruction == 0x9002 => (Class::Other, 1, 0),
        _ => (Class::Alu, 1, 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_are_told_apart() {
        for (instruction, class, cycles, refill) in [
            (0x00b5_0533u32, Class::Alu, 1, 0),   // add a0, a0, a1
            (0x02b5_0533, Class::Multiply, 1, 0), // mul
            (0x02b5_1533, Class::Multiply, 1, 0), // mulh
            (0x02b5_4533, Class::Divide, 18, 0),  // div
            (0x02b5_7533, Class::Divide, 18, 0),  // remu
            (0x0005_0503, Class::Load, 2, 0),     // lb a0, 0(a0)
            (0x00b5_2023, Class::Store, 1, 0),    // sw a1, 0(a0)
            (0x00b5_0463, Class::Branch, 1, 1),   // beq
            (0x0080_00ef, Class::Branch, 1, 1),   // jal
            (0x0000_8067, Class::Branch, 1, 1),   // ret
            (0x0000_1537, Class::Alu, 1, 0),      // lui
            (0x20b5_2533, Class::Alu, 1, 0),      // sh1add a0, a0, a1
            (0x0ab5_6533, Class::Alu, 1, 0),      // max a0, a0, a1
            (0x0ab5_4533, Class::Alu, 1, 0),      // min
            (0x08b5_4533, Class::Alu, 1, 0),      // pack
            (0x6005_1513, Class::Alu, 1, 0),      // clz a0, a0
            (0x6045_1513, Class::Alu, 1, 0),      // sext.b a0, a0
            (0x48b5_5533, Class::Alu, 1, 0),      // bext a0, a0, a1
            (0x1005_a52f, Class::Load, 2, 0),     // lr.w a0, (a1)
            (0x18c5_a52f, Class::Store, 2, 0),    // sc.w a0, a2, (a1)
            (0x00c5_a52f, Class::Other, 4, 0),    // amoadd.w a0, a2, (a1)
            (0xb000_2573, Class::Other, 1, 0),    // csrr a0, mcycle
        ] {
            let (first, second) = (instruction as u16, (instruction >> 16) as u16);
            assert!(is_wide(first), "{instruction:#010x}");
            let cost = hazard3(first, Some(second));
            assert_eq!(
                (cost.class, cost.cycles, cost.refill()),
                (class, cycles, refill),
                "{instruction:#010x}"
            );
        }
    }

    #[test]
    fn compressed_instructions_are_told_apart() {
        for (instruction, class, cycles, refill) in [
            (0x4108, Class::Load, 2, 0),   // c.lw a0, 0(a0)
            (0x4502, Class::Load, 2, 0),   // c.lwsp a0, 0(sp)
            (0xc10c, Class::Store, 1, 0),  // c.sw a1, 0(a0)
            (0xc02a, Class::Store, 1, 0),  // c.swsp a0, 0(sp)
            (0x0505, Class::Alu, 1, 0),    // c.addi a0, 1
            (0x852e, Class::Alu, 1, 0),    // c.mv a0, a1
            (0x952e, Class::Alu, 1, 0),    // c.add a0, a1
            (0x8082, Class::Branch, 1, 1), // ret
            (0x9502, Class::Branch, 1, 1), // c.jalr a0
            (0xa001, Class::Branch, 1, 1), // c.j
            (0xc111, Class::Branch, 1, 1), // c.beqz a0
            (0x9002, Class::Other, 1, 0),  // c.ebreak
        ] {
            assert!(!is_wide(instruction), "{instruction:#06x}");
            let cost = hazard3(instruction, None);
            assert_eq!(
                (cost.class, cost.cycles, cost.refill()),
                (class, cycles, refill),
                "{instruction:#06x}"
            );
        }
    }
}
