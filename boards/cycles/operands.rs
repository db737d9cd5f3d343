//! The registers of instructions on core registers, by what they are needed for.
//!
//! Source: Armv7-M Architecture Reference Manual, A5.2 and A5.3. Registers of rare instructions (system, exclusive, coprocessors) are not told.
use super::pipeline::Registers;

/// The registers of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operands {
    /// Operands of arithmetic.
    pub reads: Registers,
    /// Of an address.
    pub address: Registers,
    /// What is shifted before it is used.
    pub shifted: Registers,
    /// What a sum is added to.
    pub sum: Registers,
    /// What is stored.
    pub stored: Registers,
    /// Results.
    pub writes: Registers,
    /// Addresses that move on.
    pub moves: Registers,
}

/// The registers of an instruction of one halfword, or of two.
pub fn operands(first: u16, second: Option<u16>) -> Operands {
    match second {
        None => narrow(first),
        Some(second) => wide(first, second),
    }
}

fn arithmetic(reads: Registers, writes: Registers) -> Operands {
    Operands { reads, writes, ..Operands::default() }
}

fn access(load: bool, register: u16, address: Registers) -> Operands {
    let data = Registers::r(register);
    Operands { address, stored: data.when(!load), writes: data.when(load), ..Operands::default() }
}

fn narrow(op: u16) -> Operands {
    let low = |at: u16| Registers::r(op >> at & 7);
    let (flags, stack) = (Registers::FLAGS, Registers::r(13));
    match op >> 10 {
        0x00..=0x05 => arithmetic(low(3), low(0).and(flags)), // shifts by constants
        0x06 => arithmetic(low(3).and(low(6)), low(0).and(flags)), // ADD, SUB
        0x07 => arithmetic(low(3), low(0).and(flags)),        // of a constant
        0x08 | 0x09 => arithmetic(Registers::NONE, low(8).and(flags)), // MOV
        0x0a | 0x0b => arithmetic(low(8), flags),             // CMP
        0x0c..=0x0f => arithmetic(low(8), low(8).and(flags)), // ADD, SUB of a byte
        0x10 => {
            let operation = op >> 6 & 0xf;
            let compares = matches!(operation, 8 | 10 | 11);
            let carry = flags.when(matches!(operation, 5 | 6));
            arithmetic(low(0).and(low(3)).and(carry), flags.and(low(0).when(!compares)))
        }
        0x11 => {
            let (from, to) = (Registers::r(op >> 3 & 0xf), Registers::r(op >> 4 & 8 | op & 7));
            match op >> 8 & 3 {
                0 => arithmetic(from.and(to), to),    // ADD
                1 => arithmetic(from.and(to), flags), // CMP
                2 => arithmetic(from, to),            // MOV
                _ => arithmetic(from, Registers::NONE),
            }
        }
        0x12 | 0x13 => access(true, op >> 8 & 7, Registers::NONE), // LDR literal
        0x14..=0x17 => access(op >> 9 & 7 >= 3, op & 7, low(3).and(low(6))),
        0x18..=0x23 => access(op & 0x0800 != 0, op & 7, low(3)),
        0x24..=0x27 => access(op & 0x0800 != 0, op >> 8 & 7, stack),
        0x28..=0x2b => arithmetic(stack.when(op & 0x0800 != 0), low(8)), // ADR, ADD of SP
        0x2c | 0x2e if op & 0xff00 == 0xb200 || op & 0xff00 == 0xba00 => arithmetic(low(3), low(0)),
        0x2c..=0x2f if op & 0xff00 == 0xb000 => arithmetic(stack, stack),
        0x2c..=0x2f if op & 0xf500 == 0xb100 => arithmetic(low(0), Registers::NONE), // CBZ
        0x2c..=0x2f if op & 0xf600 == 0xb400 => {
            several(op & 0x0800 != 0, stack, Registers::list(op & 0xff), true)
        }
        0x30..=0x33 => several(op & 0x0800 != 0, low(8), Registers::list(op & 0xff), true),
        0x34..=0x37 => arithmetic(flags, Registers::NONE), // Bcc
        _ => Operands::default(),
    }
}

fn several(load: bool, base: Registers, list: Registers, moves: bool) -> Operands {
    Operands {
        address: base,
        stored: list.when(!load),
        writes: list.when(load),
        moves: base.when(moves).without(list.when(load)),
        ..Operands::default()
    }
}

fn wide(op: u16, more: u16) -> Operands {
    let (n, d, m, t) =
        (Registers::r(op), Registers::r(more >> 8), Registers::r(more), Registers::r(more >> 12));
    let (named_n, named_d) = (n.when(op & 0xf != 15), d.when(more >> 8 & 0xf != 15));
    let flags = Registers::FLAGS.when(op & 0x10 != 0);
    match op >> 9 {
        0b111_0100 if op & 0x40 == 0 => several(op & 0x10 != 0, n, Registers::list(more), op & 0x20 != 0),
        0b111_0100 => {
            let moves = n.when(op & 0x20 != 0);
            Operands { moves, ..several(op & 0x10 != 0, n, t.and(d), false) } // LDRD, STRD
        }
        0b111_0101 => {
            let shifts = more & 0x70f0 != 0;
            let (reads, shifted) = (named_n.and(m.when(!shifts)), m.when(shifts));
            Operands { shifted, ..arithmetic(reads, named_d.and(flags)) }
        }
        0b111_1000..=0b111_1011 if more & 0x8000 == 0 => {
            let plain = op & 0x0200 != 0;
            match op >> 4 & 0x1f {
                0x04 if plain => arithmetic(Registers::NONE, d), // MOVW
                0x0c if plain => arithmetic(d, d),               // MOVT
                0x16 if plain => Operands { shifted: named_n, ..arithmetic(d, d) }, // BFI, BFC
                0x10..=0x1f if plain => Operands { shifted: n, ..arithmetic(Registers::NONE, d) }, // SSAT, USAT, SBFX, UBFX
                _ if plain => arithmetic(named_n, d),
                _ => arithmetic(named_n, named_d.and(flags)),
            }
        }
        0b111_1000..=0b111_1011 if op & 0x0380 != 0x0380 && more & 0x5000 == 0 => {
            arithmetic(Registers::FLAGS, Registers::NONE) // Bcc
        }
        0b111_1100 => {
            let register = op & 0x80 == 0 && more & 0x0fc0 == 0 && op & 0xf != 15;
            let moves = n.when(op & 0x80 == 0 && more & 0x0900 == 0x0900 && op & 0xf != 15);
            Operands { moves, ..access(op & 0x10 != 0, more >> 12, named_n.and(m.when(register))) }
        }
        0b111_1101 if op & 0x0100 == 0 => {
            let shifts = op & 0x80 != 0 || more & 0x80 != 0;
            match (op >> 7 & 1, more >> 7 & 1) {
                (0, 1) => Operands { shifted: m, ..arithmetic(named_n, d) }, // extension
                _ if !shifts => Operands { shifted: n, ..arithmetic(m, d.and(flags)) }, // shifts by registers
                _ => arithmetic(n.and(m), d),
            }
        }
        0b111_1101 if op & 0x80 == 0 => Operands { sum: t.when(more >> 12 != 15), ..arithmetic(n.and(m), d) },
        0b111_1101 if op & 0x20 != 0 && op & 0x40 == 0 && more & 0xf0 == 0xf0 => arithmetic(n.and(m), d), // UDIV
        0b111_1101 if op & 0xfff0 == 0xfb90 => arithmetic(n.and(m), d), // SDIV
        0b111_1101 => Operands { sum: t.and(d).when(op & 0x40 != 0), ..arithmetic(n.and(m), t.and(d)) }, // long products
        _ => Operands::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn r<const N: usize>(numbers: [u16; N]) -> Registers {
        numbers.into_iter().fold(Registers::NONE, |all, number| all.and(Registers::r(number)))
    }

    #[test]
    fn registers_of_arithmetic() {
        let flags = Registers::FLAGS;
        for (first, second, reads, writes) in [
            (0x1888, None, r([1, 2]), r([0]).and(flags)), // adds r0, r1, r2
            (0x3904, None, r([1]), r([1]).and(flags)),    // subs r1, #4
            (0x4148, None, r([0, 1]).and(flags), r([0]).and(flags)), // adcs r0, r1
            (0x4288, None, r([0, 1]), flags),             // cmp r0, r1
            (0x46a8, None, r([5]), r([8])),               // mov r8, r5
            (0xb248, None, r([1]), r([0])),               // sxtb r0, r1
            (0xb082, None, r([13]), r([13])),             // sub sp, #8
            (0xd1fb, None, flags, r([])),                 // bne
            (0xeb01, Some(0x0002), r([1, 2]), r([0])),    // add.w r0, r1, r2
            (0xf101, Some(0x0004), r([1]), r([0])),       // add.w r0, r1, #4
            (0xf241, Some(0x2034), r([]), r([0])),        // movw r0, #0x1234
            (0xf2c1, Some(0x2034), r([0]), r([0])),       // movt r0, #0x1234
            (0xfb01, Some(0xf002), r([1, 2]), r([0])),    // mul r0, r1, r2
            (0xfa81, Some(0xf002), r([1, 2]), r([0])),    // sadd8 r0, r1, r2
            (0xfb91, Some(0xf0f2), r([1, 2]), r([0])),    // sdiv r0, r1, r2
        ] {
            let found = operands(first, second);
            assert_eq!(found, arithmetic(reads, writes), "{first:#06x} {second:x?}");
        }
    }

    #[test]
    fn registers_with_a_purpose() {
        let shifted = operands(0xeb01, Some(0x00c2)); // add.w r0, r1, r2, lsl #3
        assert_eq!((shifted.reads, shifted.shifted, shifted.writes), (r([1]), r([2]), r([0])));
        let extended = operands(0xfa2f, Some(0xf081)); // sxtb16 r0, r1
        assert_eq!((extended.shifted, extended.writes), (r([1]), r([0])));
        let sum = operands(0xfb21, Some(0x3002)); // smlad r0, r1, r2, r3
        assert_eq!((sum.reads, sum.sum, sum.writes), (r([1, 2]), r([3]), r([0])));
        let long = operands(0xfbc2, Some(0x0103)); // smlal r0, r1, r2, r3
        assert_eq!((long.reads, long.sum, long.writes), (r([2, 3]), r([0, 1]), r([0, 1])));
    }

    #[test]
    fn registers_of_loads_and_stores() {
        for (first, second, address, stored, writes, moves) in [
            (0x6808, None, r([1]), r([]), r([0]), r([])),    // ldr r0, [r1]
            (0x5888, None, r([1, 2]), r([]), r([0]), r([])), // ldr r0, [r1, r2]
            (0x5088, None, r([1, 2]), r([0]), r([]), r([])), // str r0, [r1, r2]
            (0x9001, None, r([13]), r([0]), r([]), r([])),   // str r0, [sp, #4]
            (0xf851, Some(0x0b04), r([1]), r([]), r([0]), r([1])), // ldr r0, [r1], #4
            (0xf8d1, Some(0x0004), r([1]), r([]), r([0]), r([])), // ldr.w r0, [r1, #4]
            (0xf851, Some(0x0022), r([1, 2]), r([]), r([0]), r([])), // ldr.w r0, [r1, r2, lsl #2]
            (0xe9d1, Some(0x2302), r([1]), r([]), r([2, 3]), r([])), // ldrd r2, r3, [r1, #8]
            (0xe9c1, Some(0x2302), r([1]), r([2, 3]), r([]), r([])), // strd r2, r3, [r1, #8]
            (0xc80e, None, r([0]), r([]), r([1, 2, 3]), r([0])), // ldmia r0!, {r1-r3}
        ] {
            let found = operands(first, second);
            assert_eq!(
                (found.address, found.stored, found.writes, found.moves),
                (address, stored, writes, moves),
                "{first:#06x} {second:x?}"
            );
        }
    }
}
