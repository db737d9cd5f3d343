//! Which instructions a Cortex-M7 begins together, and what they wait for.
//!
//! Arm publishes no table. Sources: the model of this core in LLVM (`ARMScheduleM7.td`), and that of SLOTHY (`cortex_m7.py`). Where they differ, LLVM's
//! counts. For memory without wait states.
//!
//! - Two loads, two arithmetic instructions, a store, a product, a shift, a branch and a float instruction can begin in a cycle: two
//!   of them, next to each other, of which the second reads and writes nothing that the first writes.
//! - Instructions of the DSP extension that do not multiply, extensions, `REV`, `CLZ` and `BFI` only go first.
//! - Pairs and lists of registers, divisions, `IT`, hints, barriers and `TBB` go alone.
//! - Results come after a cycle; those of products and of loads of bytes and halfwords after two, those of floats after three.
//! - Addresses, and what is shifted, are needed a cycle earlier. What is stored, and what products are added to, is needed a cycle later.
use super::model::{Class, Cost, Flow};
use super::operands::{operands, Operands};
use super::pipeline::{Issue, Registers, Slot, Unit};

/// Cycles of a branch that was not predicted: backwards, and not taken.
pub const MISPREDICTED: u32 = 6;

/// Cycles of a float division, or a square root.
const FLOAT_DIVIDE: u8 = 14;

const STORE: u8 = 1;
const MULTIPLY: u8 = 2;
const SHIFT: u8 = 4;
const BRANCH: u8 = 8;
const FLOAT: u8 = 16;
const DSP: u8 = 32;

/// What a Cortex-M4 takes becomes what this core waits.
pub fn cortex_m7(cost: Cost, first: u16, second: Option<u16>) -> Cost {
    let flow = flow(cost, first, second);
    Cost { flow, issue: Some(issue(&cost, first, second)), ..cost }
}

/// Branches to an address in the instruction are predicted: backwards they are taken.
fn flow(cost: Cost, first: u16, second: Option<u16>) -> Flow {
    let conditional = |backwards| Flow::Branch { taken: 0, passed: if backwards { MISPREDICTED } else { 0 } };
    match (first >> 12, second) {
        (_, Some(_)) if cost.class == Class::Branch && first >> 11 == 0b11110 => {
            conditional(first & 0x0400 != 0)
        }
        (0xd, None) if cost.class == Class::Branch => conditional(first & 0x80 != 0),
        (0xe | 0xb, None) if cost.class == Class::Branch => conditional(false),
        _ => cost.flow,
    }
}

fn issue(cost: &Cost, first: u16, second: Option<u16>) -> Issue {
    if cost.class == Class::Float {
        return float(cost, first, second.unwrap_or(0));
    }
    let Operands { reads, address, shifted, sum, stored, writes, moves } = operands(first, second);
    let (needs, slot) = place(cost.class, first, second, shifted);
    let latency = match cost.class {
        Class::Multiply | Class::DspMultiply => 2,
        Class::Load if !word(first, second) => 2,
        _ => 1,
    };
    Issue {
        hold: if slot != Slot::Alone || is_pair(first, second) { 0 } else { (cost.cycles - 1) as u8 },
        reads: reads.without(Registers::FLAGS.when(cost.class == Class::Branch)),
        early: (address.and(shifted), 1),
        late: (stored.and(sum), 1),
        writes: (writes, latency),
        moves: (moves, 0),
        slot,
        needs,
        ..Issue::alone()
    }
}

/// What it needs for itself in its cycle, and its place in a pair.
fn place(class: Class, first: u16, second: Option<u16>, shifted: Registers) -> (u8, Slot) {
    match class {
        Class::Load if !is_pair(first, second) => (0, Slot::Any),
        Class::Store if !is_pair(first, second) => (STORE, Slot::Any),
        Class::Multiply | Class::DspMultiply => (MULTIPLY, Slot::Any),
        Class::Branch if first & 0xfff0 != 0xe8d0 => (BRANCH, Slot::Any),
        Class::Alu if only_first(first, second) => (DSP | SHIFT, Slot::First),
        Class::Alu if shifted != Registers::NONE || is_shift(first) => (SHIFT, Slot::Any),
        Class::Alu => (0, Slot::Any),
        _ => (0, Slot::Alone),
    }
}

/// Pairs of registers, and exclusive loads and stores.
fn is_pair(first: u16, second: Option<u16>) -> bool {
    second.is_some() && first >> 9 == 0b111_0100 && first & 0x40 != 0
}

/// Loads of a word: their results come a cycle sooner.
fn word(first: u16, second: Option<u16>) -> bool {
    match second {
        Some(_) => first >> 5 & 3 == 2,
        None => matches!(first >> 11, 0b01001 | 0b01101 | 0b10011) || first >> 9 == 0b010_1100,
    }
}

/// Shifts by a constant, or by a register.
fn is_shift(first: u16) -> bool {
    first < 0x1800 || first >> 10 == 0x10 && matches!(first >> 6 & 0xf, 2 | 3 | 4 | 7)
}

/// Instructions of the DSP extension that do not multiply, extensions, `REV`, `CLZ`, saturation, bit fields.
fn only_first(first: u16, second: Option<u16>) -> bool {
    let Some(second) = second else { return matches!(first >> 8, 0xb2 | 0xba) };
    let parallel = first >> 8 == 0xfa && (first & 0x80 != 0 || second & 0x80 != 0);
    let packs = first & 0xfff0 == 0xeac0;
    let fields = first & 0xfb00 == 0xf300 && second & 0x8000 == 0;
    parallel || packs || fields
}

/// One in a cycle. Sums of products need what they are added to three cycles later.
fn float(cost: &Cost, first: u16, second: u16) -> Issue {
    let q = Registers::q;
    let (n, d, m) = (q(first >> 1), q(second >> 13), q(second >> 1));
    let core = Registers::r(second >> 12);
    if first & 0xfe00 == 0xec00 && first & 0xffe0 != 0xec40 {
        let load = first & 0x10 != 0;
        let (one, word) = (first & 0x0120 == 0x0100, cost.cycles == 2);
        return Issue {
            hold: if one { 0 } else { (cost.cycles - 1) as u8 },
            early: (Registers::r(first), 1),
            late: (d.when(!load), 2),
            writes: (d.when(load), 1),
            needs: if load { 0 } else { STORE },
            slot: if one && word { Slot::Any } else { Slot::Alone },
            ..Issue::alone()
        };
    }
    let moves = second & 0x10 != 0 && first >> 8 == 0xee; // VMOV of a core register
    let to_core = first & 0x10 != 0;
    let (latency, sum) = match cost.cycles {
        3 => (6, true),
        14 => (FLOAT_DIVIDE + 2, false),
        _ => (3, false),
    };
    Issue {
        unit: Some((Unit::Multiply, if cost.cycles == 14 { FLOAT_DIVIDE } else { 1 })),
        reads: if moves { n.when(to_core).and(core.when(!to_core)) } else { n.and(m) },
        late: (d.when(sum), 3),
        writes: (if moves { core.when(to_core).and(n.when(!to_core)) } else { d }, latency),
        needs: FLOAT,
        slot: Slot::Any,
        ..Issue::alone()
    }
}

#[cfg(test)]
mod tests {
    use super::super::cores::Core;
    use super::super::count::testing::{each, turn};

    type Instruction = (u16, Option<u16>);

    const LDR_0: Instruction = (0xf854, Some(0x0b04)); // ldr r0, [r4], #4
    const LDR_1: Instruction = (0xf855, Some(0x1b04)); // ldr r1, [r5], #4
    const LDRSB_0: Instruction = (0xf914, Some(0x0b01)); // ldrsb r0, [r4], #1
    const LDRSB_1: Instruction = (0xf915, Some(0x1b01)); // ldrsb r1, [r5], #1
    const SMLAD: Instruction = (0xfb20, Some(0x2201)); // smlad r2, r0, r1, r2
    const MLA: Instruction = (0xfb00, Some(0x2201)); // mla r2, r0, r1, r2
    const ADD: Instruction = (0xf103, Some(0x0304)); // add.w r3, r3, #4
    const SUBS: Instruction = (0x3e01, None); // subs r6, #1
    const BNE: Instruction = (0xd1f8, None);
    const STR: Instruction = (0xf843, Some(0x2b04)); // str r2, [r3], #4
    const SXTB16: Instruction = (0xfa2f, Some(0xf081)); // sxtb16 r0, r1
    const EOR: Instruction = (0xea81, Some(0x1032)); // eor.w r0, r1, r2, ror #4
    const EOR_8: Instruction = (0xea81, Some(0x1832)); // eor.w r8, r1, r2, ror #4
    const LDRD: Instruction = (0xe8f4, Some(0x8902)); // ldrd r8, r9, [r4], #8

    #[test]
    fn loops_by_hand() {
        // Cycle 0 both loads, 1 the product and subs, 2 the branch, which is predicted.
        assert_eq!(turn(Core::CortexM7, &[LDR_0, LDR_1, SMLAD, SUBS, BNE]), 3);
        // Bytes come a cycle later: 0 both loads, 2 the product and subs, 3 the branch.
        assert_eq!(turn(Core::CortexM7, &[LDRSB_0, LDRSB_1, MLA, SUBS, BNE]), 4);
        // 0 a load and the addition, 1 a load, 2 the product and subs, 3 the branch.
        assert_eq!(turn(Core::CortexM7, &[LDR_0, ADD, LDR_1, MLA, SUBS, BNE]), 4);
        assert_eq!(turn(Core::CortexM7, &[SUBS, BNE]), 1);
    }

    #[test]
    fn what_begins_together() {
        assert_eq!(each(Core::CortexM7, &[LDR_0, STR]), [1, 0]);
        assert_eq!(each(Core::CortexM7, &[STR, STR]), [1, 1]);
        assert_eq!(
            each(Core::CortexM7, &[SMLAD, MLA]),
            [1, 1],
            "one product in a cycle, whose sum is there in time"
        );
        assert_eq!(each(Core::CortexM7, &[EOR, EOR_8]), [1, 1], "one shift in a cycle");
        assert_eq!(each(Core::CortexM7, &[SXTB16, ADD]), [1, 0]);
        assert_eq!(each(Core::CortexM7, &[ADD, SXTB16]), [1, 1], "it only goes first");
        assert_eq!(each(Core::CortexM7, &[LDRD, ADD]), [1, 1], "a pair of registers goes alone");
        let (vldr_s, vldr_d) = ((0xed91, Some(0x0a00)), (0xed91, Some(0x0b00)));
        assert_eq!(each(Core::CortexM7, &[vldr_s, ADD, vldr_d, ADD]), [1, 0, 1, 1]);
    }

    #[test]
    fn what_is_waited_for() {
        assert_eq!(each(Core::CortexM7, &[LDR_1, SXTB16]), [1, 2], "what is extended is needed early");
        assert_eq!(each(Core::CortexM7, &[ADD, STR]), [1, 2], "an address too");
        assert_eq!(each(Core::CortexM7, &[SMLAD, STR]), [1, 1], "what is stored is needed late");
        assert_eq!(each(Core::CortexM7, &[(0xfb91, Some(0xf0f2)), ADD]), [6, 1], "a division");
    }
}
