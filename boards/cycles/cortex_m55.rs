//! What instructions wait for on a Cortex-M55. Those of vectors are in `helium`.
//!
//! Sources: the model of this core in LLVM (`ARMScheduleM55.td`), and that of SLOTHY (`cortex_m55r1.py`, issue 463). Where they differ, LLVM's counts. For
//! memory without wait states. What they do not tell is taken from the Cortex-M4: lists of registers, divisions, branches.
//!
//! - One instruction begins in a cycle. Two of one halfword begin together if one is a branch, or `ADD` or `SUB` of a constant, `MOV`, `SXTB` or its kin.
//! - Results come after a cycle; those of loads and products after two, also for sums of products.
//! - What is shifted is needed a cycle earlier.
//! - Float instructions take a cycle, their results come after two, those of `VMLA` after four.
//! - `LE` and `LETP` cost nothing where they go back, except once per loop.
use super::helium;
use super::model::{Class, Cost, Flow, REFILL};
use super::operands::{operands, Operands};
use super::pipeline::{Issue, Registers, Slot, Unit};

/// Cycles of a float division, or a square root.
const FLOAT_DIVIDE: u8 = 14;

/// What two instructions that begin together may not both be: anything but a companion.
const MAIN: u8 = 1;
const BRANCH: u8 = 2;

/// What a Cortex-M4 takes becomes what this core waits.
pub fn cortex_m55(cost: Cost, first: u16, second: Option<u16>) -> Cost {
    let Some(more) = second else { return Cost { issue: Some(scalar(&cost, first, None)), ..cost } };
    if is_loop_end(first, more) {
        // Going back is free once the loop is known. What the first turn takes more is counted where the loop is left.
        let flow = Flow::Branch { taken: 0, passed: 1 + REFILL };
        return Cost { flow, ..Cost::new(Class::Branch, 0) };
    }
    match helium::issue(first, more) {
        Some(issue) => Cost { issue: Some(issue), ..Cost::new(Class::Vector, 1) },
        None if cost.class == Class::Float => Cost { issue: Some(float(&cost, first, more)), ..cost },
        None => Cost { issue: Some(scalar(&cost, first, second)), ..cost },
    }
}

/// `LE` with a count, `LETP`, and `LE` without a count.
fn is_loop_end(first: u16, second: u16) -> bool {
    matches!(first, 0xf00f | 0xf01f | 0xf02f) && second & 0xf001 == 0xc001
}

/// Of core registers.
fn scalar(cost: &Cost, first: u16, second: Option<u16>) -> Issue {
    let Operands { reads, address, shifted, sum, stored, writes, moves } = operands(first, second);
    let latency = match cost.class {
        Class::Load | Class::Multiple | Class::Multiply | Class::DspMultiply => 2,
        _ => 1,
    };
    let memory = matches!(cost.class, Class::Load | Class::Store | Class::Multiple);
    let pair = second.is_some() && first >> 9 == 0b111_0100 && first & 0x40 != 0; // 64 bits in a cycle
    let hold = if pair || matches!(cost.class, Class::Load | Class::Store) { 0 } else { cost.cycles - 1 };
    Issue {
        unit: memory.then_some((Unit::Memory, 1)),
        hold: hold as u8,
        reads: reads.and(address).and(sum).and(stored),
        early: (shifted, 1),
        writes: (writes, latency),
        moves: (moves, 1),
        slot: if second.is_some() || hold > 0 { Slot::Alone } else { Slot::Any },
        needs: match cost.class {
            Class::Branch => BRANCH,
            _ if is_companion(first) => 0,
            _ => MAIN,
        },
        ..Issue::alone()
    }
}

/// `ADD`, `SUB` and `MOV` of a constant, `MOV` of a register, `SXTB` and its kin.
fn is_companion(first: u16) -> bool {
    matches!(first >> 11, 0b00100 | 0b00110 | 0b00111)
        || first >> 10 == 0b000111
        || matches!(first >> 8, 0x46 | 0xb2)
}

/// Of floats that are no vectors.
fn float(cost: &Cost, first: u16, second: u16) -> Issue {
    let [n, d, m] = [first >> 1, second >> 13, second >> 1].map(Registers::q);
    let core = Registers::r(second >> 12);
    if first & 0xfe00 == 0xec00 && first & 0xffe0 != 0xec40 {
        let (load, one) = (first & 0x10 != 0, first & 0x0120 == 0x0100);
        return Issue {
            unit: Some((Unit::Memory, 1)),
            hold: if one { 0 } else { (cost.cycles - 1) as u8 },
            reads: Registers::r(first).and(d.when(!load)),
            writes: (d.when(load), 2),
            ..Issue::alone()
        };
    }
    let moves = second & 0x10 != 0 && first >> 8 == 0xee;
    let to_core = first & 0x10 != 0;
    let (reads, writes) = match (moves, to_core) {
        (true, true) => (n, (core, 1)),
        (true, false) => (core, (n, 2)),
        (false, _) => match cost.cycles {
            14 => (n.and(m), (d, FLOAT_DIVIDE + 2)),
            3 if first & 0x80 == 0 => (n.and(m).and(d), (d, 4)), // VMLA and its kin
            3 => (n.and(m).and(d), (d, 2)),                      // VFMA and its kin
            _ => (n.and(m), (d, 2)),
        },
    };
    let busy = if cost.cycles == 14 && !moves { FLOAT_DIVIDE } else { 1 };
    Issue { unit: Some((Unit::Multiply, busy)), reads, writes, ..Issue::alone() }
}

#[cfg(test)]
mod tests {
    use super::super::cores::Core;
    use super::super::count::testing::{each, turn};

    type Instruction = (u16, Option<u16>);

    const VLDRB_Q0: Instruction = (0xecb4, Some(0x1e10)); // vldrb.u8 q0, [r4], #16
    const VLDRB_Q1: Instruction = (0xecb5, Some(0x3e10)); // vldrb.u8 q1, [r5], #16
    const VMLADAVA: Instruction = (0xeef0, Some(0x2f22)); // vmladava.s8 r2, q0, q1
    const VADD: Instruction = (0xef22, Some(0x0844)); // vadd.i32 q0, q1, q2
    const VMUL: Instruction = (0xef22, Some(0x0954)); // vmul.i32 q0, q1, q2
    const VSHR: Instruction = (0xefbd, Some(0x4050)); // vshr.s32 q2, q0, #3
    const VQMOVNB: Instruction = (0xee33, Some(0x0e01)); // vqmovnb.s16 q0, q0
    const VSTRW: Instruction = (0xed84, Some(0x1f00)); // vstrw.32 q0, [r4]
    const GATHER_WORDS: Instruction = (0xfc91, Some(0x0f45)); // vldrw.u32 q0, [r1, q2, uxtw #2]
    const GATHER_BYTES: Instruction = (0xfc91, Some(0x0e04)); // vldrb.u8 q0, [r1, q2]
    const LE: Instruction = (0xf00f, Some(0xc009));
    const SUBS: Instruction = (0x3e01, None); // subs r6, #1
    const BNE: Instruction = (0xd1f8, None);
    const LDR: Instruction = (0x6811, None); // ldr r1, [r2]
    const ADDS: Instruction = (0x1840, None); // adds r0, r0, r1
    const ADDS_3: Instruction = (0x3301, None); // adds r3, #1

    #[test]
    fn loads_and_products_alternate() {
        // Cycle 0 the load, 1 its second half and the product, 2 the next load and the second half of the product.
        assert_eq!(turn(Core::CortexM55, &[VLDRB_Q0, VMLADAVA, LE]), 2);
        // The loads begin in cycles 0 and 2, the product in 3, the next load in 4.
        assert_eq!(turn(Core::CortexM55, &[VLDRB_Q0, VLDRB_Q1, VMLADAVA, LE]), 4);
        // A branch that is no loop end: load 0, product 1, subs 2, bne 3 and the refill of 2.
        assert_eq!(turn(Core::CortexM55, &[VLDRB_Q0, VMLADAVA, SUBS, BNE]), 6);
    }

    #[test]
    fn a_tile_of_a_convolution() {
        // Two pixels, and one filter for both: loads in 0, 2 and 4, products in 5 and 7; the next load begins behind the last product, in 8.
        let filter = [VLDRB_Q0, VMLADAVA, VMLADAVA];
        assert_eq!(turn(Core::CortexM55, &[&[VLDRB_Q1, VLDRB_Q1][..], &filter, &[LE]].concat()), 8);
        // Each further filter takes four: its load begins in the second half of the last product, a cycle before its own products.
        assert_eq!(turn(Core::CortexM55, &[&[VLDRB_Q1, VLDRB_Q1][..], &filter, &filter, &[LE]].concat()), 12);
    }

    #[test]
    fn instructions_of_one_unit_wait() {
        assert_eq!(turn(Core::CortexM55, &[VADD, VADD, LE]), 4);
        assert_eq!(turn(Core::CortexM55, &[VADD, VMUL, LE]), 2);
        assert_eq!(each(Core::CortexM55, &[VADD, LDR, VADD]), [1, 1, 1], "something else is between them");
    }

    #[test]
    fn gathers_take_two_elements_in_a_cycle() {
        assert_eq!(turn(Core::CortexM55, &[GATHER_WORDS, LE]), 2);
        assert_eq!(turn(Core::CortexM55, &[GATHER_BYTES, LE]), 8);
        // The addresses come one cycle after vshr began, and are needed four cycles before the gather begins.
        assert_eq!(each(Core::CortexM55, &[VSHR, GATHER_WORDS]), [1, 5]);
    }

    #[test]
    fn results_are_waited_for() {
        assert_eq!(each(Core::CortexM55, &[VADD, VSTRW]), [1, 1]);
        assert_eq!(each(Core::CortexM55, &[VMUL, VSHR]), [1, 2]);
        assert_eq!(each(Core::CortexM55, &[VMUL, VSTRW]), [1, 1], "stores need it later");
        assert_eq!(each(Core::CortexM55, &[VQMOVNB, VSTRW]), [1, 2]);
        assert_eq!(each(Core::CortexM55, &[LDR, ADDS]), [1, 2]);
        let (shifted, eors) = ((0xea81, Some(0x1032)), (0x404a, None)); // eor.w r0, r1, r2, ror #4; eors r2, r1
        assert_eq!(each(Core::CortexM55, &[eors, shifted]), [1, 2]);
    }

    #[test]
    fn some_pairs_begin_together() {
        assert_eq!(each(Core::CortexM55, &[ADDS_3, LDR]), [1, 0]);
        assert_eq!(each(Core::CortexM55, &[LDR, ADDS_3]), [1, 0]);
        assert_eq!(each(Core::CortexM55, &[ADDS, LDR]), [1, 1], "neither is a companion");
        assert_eq!(each(Core::CortexM55, &[SUBS, BNE]), [1, 1], "the branch needs the flags");
        assert_eq!(each(Core::CortexM55, &[ADDS_3, VADD]), [1, 1], "a vector goes alone");
    }
}
