//! What vector instructions of Helium wait for on a Cortex-M55.
//!
//! Sources: the models of this core in LLVM and SLOTHY (see `cortex_m55`), and Arm's notes on optimisation for Helium
//! (Arm-Examples/Helium-Optimization, "Processor specific details"), which say what gathers take.
//!
//! - A vector instruction occupies its unit for two cycles: loads and stores, integers, or products and floats. The next instruction begins
//!   a cycle later if it needs another unit, and two cycles later if it needs the same one.
//! - Loads and stores with a vector of addresses take two elements in a cycle, as if no two were in the same bank. Their addresses are needed four cycles earlier.
//! - Results come after a cycle; those of products, of shifts that round or saturate, and of gathers after two, those of narrowing after three,
//!   those of a minimum or maximum across a vector after two to four.
//! - What is stored is needed a cycle later.
//! - Predicates take a cycle. Nothing waits for them.
use super::pipeline::{Issue, Registers, Unit};

/// Cycles in which a unit computes a vector.
const BEATS: u8 = 2;

/// Cycles by which a vector of addresses is needed earlier.
const GATHER_LEAD: u8 = 4;

/// A vector instruction; `None` for any other.
///
/// Encodings: Armv8-M Architecture Reference Manual (Arm DDI 0553), C2.4.
pub fn issue(first: u16, second: u16) -> Option<Issue> {
    let coprocessor = second >> 8 & 0xf;
    match first >> 8 {
        0xec | 0xed | 0xfc | 0xfd if coprocessor >= 14 => Some(memory_or_move(first, second)),
        0xfc | 0xfd if coprocessor == 8 => Some(three(Unit::Multiply, first, second, 2)), // VCMLA, VCADD
        0xee | 0xfe if coprocessor >= 14 => Some(data(first, second)),
        0xee if coprocessor == 11 && second & 0x1f == 0x10 => Some(lane(first, second)),
        0xef | 0xff => Some(same_width(first, second)),
        0xf0 if first & 0xffc0 == 0xf000 && second == 0xe801 => {
            Some(Issue { reads: Registers::r(first), ..Issue::alone() }) // VCTP
        }
        _ => None,
    }
}

fn vector(unit: Unit, reads: Registers, writes: Registers, latency: u8) -> Issue {
    Issue { unit: Some((unit, BEATS)), reads, writes: (writes, latency), ..Issue::alone() }
}

fn d(second: u16) -> Registers {
    Registers::q(second >> 13)
}

fn n(first: u16) -> Registers {
    Registers::q(first >> 1)
}

fn m(second: u16) -> Registers {
    Registers::q(second >> 1)
}

/// Two vectors, and perhaps what is in the result.
fn three(unit: Unit, first: u16, second: u16, latency: u8) -> Issue {
    vector(unit, n(first).and(m(second)), d(second), latency)
}

/// A vector and a core register.
fn scalar(unit: Unit, first: u16, second: u16, latency: u8) -> Issue {
    vector(unit, n(first).and(Registers::r(second)), d(second), latency)
}

fn two(unit: Unit, second: u16, latency: u8) -> Issue {
    vector(unit, m(second), d(second), latency)
}

fn memory_or_move(first: u16, second: u16) -> Issue {
    let bit = |word: u16, at: u16| word >> at & 1 != 0;
    let (load, back, before) = (bit(first, 4), bit(first, 5), bit(first, 8));
    let whole = bit(second, 12);
    if first & 0xffa0 == 0xec00 {
        // VMOV of two lanes and two core registers.
        let pair = Registers::r(first).and(Registers::r(second));
        return if load {
            vector(Unit::Multiply, pair, d(second), 1)
        } else {
            vector(Unit::Multiply, d(second), pair, 1)
        };
    }
    if before && whole && first >> 8 == 0xfd {
        return gather(load, second, n(first), if bit(second, 8) { 2 } else { 4 });
    }
    if !before && !back && !whole {
        let issue = gather(load, second, m(second), 16 >> (second >> 7 & 3));
        return Issue { reads: Registers::r(first), ..issue };
    }
    if !before && whole && first >> 8 == 0xfc {
        let count = if second & 1 == 0 { 2 } else { 4 };
        let all = (0..count).fold(Registers::NONE, |all, at| all.and(Registers::q((second >> 13) + at)));
        return access(load, all, Registers::r(first), back, 2); // VLD2, VLD4, VST2, VST4
    }
    let base = Registers::r(if whole { first & 15 } else { first & 7 });
    access(load, d(second), base, back, 1)
}

fn access(load: bool, data: Registers, base: Registers, back: bool, latency: u8) -> Issue {
    Issue {
        late: (data.when(!load), 1),
        moves: (base.when(back), 1),
        ..vector(Unit::Memory, base, data.when(load), latency)
    }
}

/// So many elements at addresses in a vector.
fn gather(load: bool, second: u16, addresses: Registers, elements: u8) -> Issue {
    let issue = access(load, d(second), Registers::NONE, false, 2);
    Issue { unit: Some((Unit::Memory, BEATS.max(elements / 2))), early: (addresses, GATHER_LEAD), ..issue }
}

/// VDUP, and VMOV of a lane.
fn lane(first: u16, second: u16) -> Issue {
    let (q, core, copies) = (n(first), Registers::r(second >> 12), first & 0x80 != 0);
    match first & 0x10 != 0 {
        true => vector(Unit::Multiply, q, core, 1),
        false if copies => vector(Unit::Integer, core, q, 1),
        false => vector(Unit::Integer, core.and(q), q, 1),
    }
}

/// Vectors of the same width, in encodings that Neon has too.
fn same_width(first: u16, second: u16) -> Issue {
    let (operation, bit_4) = (second >> 8 & 0xf, second & 0x10 != 0);
    if first & 0x80 == 0 {
        return match operation {
            0x9 | 0xb => three(Unit::Multiply, first, second, 2),
            0xc => with_result(three(Unit::Multiply, first, second, 2)), // VFMA, VFMS
            0xd if first & 0x1000 != 0 && bit_4 => three(Unit::Multiply, first, second, 2), // VMUL
            0xd..=0xf => three(Unit::Multiply, first, second, 1),
            0x5 => three(Unit::Integer, first, second, 2), // VRSHL, VQRSHL
            0x4 if bit_4 => three(Unit::Integer, first, second, 2), // VQSHL
            _ => three(Unit::Integer, first, second, 1),
        };
    }
    if !bit_4 {
        return match (first & 3, operation) {
            (2 | 3, _) => two(Unit::Multiply, second, 2), // VRINT, VCVT
            (1, 0x7) => two(Unit::Multiply, second, 1),
            _ => two(Unit::Integer, second, 1),
        };
    }
    if first & 0x38 == 0 {
        return vector(Unit::Multiply, Registers::NONE, d(second), 2); // VMOV of a constant
    }
    match operation {
        0xc.. => two(Unit::Multiply, second, 2), // VCVT
        0x2 | 0x6 | 0x7 => two(Unit::Integer, second, 2),
        0x4 => with_result(two(Unit::Integer, second, 1)),
        0x5 if first & 0x1000 != 0 => with_result(two(Unit::Integer, second, 1)),
        _ => two(Unit::Integer, second, 1),
    }
}

/// It also reads what it changes.
fn with_result(issue: Issue) -> Issue {
    Issue { reads: issue.reads.and(issue.writes.0), ..issue }
}

fn data(first: u16, second: u16) -> Issue {
    match (first & 0x80 != 0, second & 0x40 != 0) {
        (true, true) => other_width(first, second),
        (true, false) => across(first, second),
        (false, _) if second & 0x100 == 0 => products(first, second),
        (false, _) => sums(first, second),
    }
}

/// Narrowing and widening shifts.
fn other_width(first: u16, second: u16) -> Issue {
    if first & 0x20 == 0 {
        return with_result(two(Unit::Integer, second, 3));
    }
    if second & 0x80 == 0 {
        return two(Unit::Integer, second, 1);
    }
    let carry = Registers::r(second); // VSHLC
    Issue { moves: (carry, 1), ..vector(Unit::Integer, d(second).and(carry), d(second), 1) }
}

/// From a vector to core registers: sums of products, sums, minimum and maximum.
fn across(first: u16, second: u16) -> Issue {
    let (low, high) = (Registers::r(second >> 12 & 0xe), Registers::r((first >> 3 & 0xe) | 1));
    let (eight, adds) = (second & 0x100 != 0, second & 0x20 != 0);
    let plain = eight && first & 1 != 0; // VADDV, VADDLV
    let reads = if plain { m(second) } else { n(first).and(m(second)) };
    match first >> 4 & 7 {
        7 => vector(Unit::Multiply, reads.and(low.when(adds)), low, 2),
        6 => {
            let result = Registers::r(second >> 12);
            let latency = 2 + (first >> 2 & 3).min(2) as u8;
            vector(Unit::Integer, m(second).and(result), result, latency)
        }
        _ if eight && second & 1 != 0 && first & 0x1000 == 0 => {
            let sum = Registers::r(second >> 12);
            vector(Unit::Integer, n(first).and(m(second)).and(sum), sum, 3) // VABAV
        }
        _ => {
            let sum = low.and(high);
            vector(Unit::Multiply, reads.and(sum.when(adds)), sum, 2)
        }
    }
}

/// Products, with vectors and with a core register; narrowing moves, and shifts by a core register.
fn products(first: u16, second: u16) -> Issue {
    let (core, floats, odd) = (second & 0x40 != 0, first & 0x30 == 0x30, first & 1 != 0);
    let high = second & 0x1000 != 0;
    match (floats, odd, core) {
        (true, false, _) => three(Unit::Multiply, first, second, 2), // VCMUL
        (true, true, false) if second & 1 == 0 => three(Unit::Integer, first, second, 2), // products of polynomials
        (true, true, false) if first & 0xf == 0xf => with_result(two(Unit::Multiply, second, 3)), // VCVT to other widths
        (true, true, false) if first & 3 == 3 && second & 0x80 != 0 => {
            with_result(two(Unit::Integer, second, 1))
        } // VMAXA
        (true, true, false) => with_result(two(Unit::Integer, second, 3)), // VMOVN, VQMOVN
        (true, true, true) if high && second & 0x20 != 0 => {
            let latency = if first & 2 != 0 || second & 0x80 != 0 { 2 } else { 1 };
            vector(Unit::Integer, d(second).and(Registers::r(second)), d(second), latency)
            // VSHL and its kin
        }
        (false, true, true) if first & 0x1000 != 0 && high && second & 0x20 != 0 => {
            scalar(Unit::Integer, first, second, 1)
        } // VBRSR
        (_, _, true) if second & 0x20 == 0 => with_result(scalar(Unit::Multiply, first, second, 2)), // VMLA and its kin
        (_, false, true) => with_result(scalar(Unit::Multiply, first, second, 2)), // VQDMLAH
        (_, _, true) => scalar(Unit::Multiply, first, second, 2),
        (false, false, false) => with_result(three(Unit::Multiply, first, second, 2)), // VQDMLADH
        (false, true, false) => three(Unit::Multiply, first, second, 2),
    }
}

/// Sums with a core register, comparisons, predicates, counted vectors.
fn sums(first: u16, second: u16) -> Issue {
    let (core, floats, odd) = (second & 0x40 != 0, first & 0x30 == 0x30, first & 1 != 0);
    let unsigned = first & 0x1000 != 0;
    if first & 0xffbf == 0xfe31 && second == 0x0f4d {
        return Issue::alone(); // VPST, VPNOT
    }
    if odd && unsigned && floats && second & 0x1051 == 0x0001 {
        return three(Unit::Integer, first, second, 1); // VPSEL
    }
    if odd && (unsigned || floats) {
        let other = if core { Registers::r(second) } else { m(second) };
        return vector(Unit::Multiply, n(first).and(other), Registers::NONE, 1); // VCMP, VPT
    }
    if odd && second & 0x60 == 0x60 {
        let start = Registers::r(first & 0xe); // VIDUP and its kin
        return Issue { moves: (start, 1), ..vector(Unit::Integer, start, d(second), 1) };
    }
    match (floats, core) {
        (true, true) if second & 0x20 != 0 => scalar(Unit::Multiply, first, second, 2), // VQDMULL
        (true, true) => scalar(Unit::Multiply, first, second, 2),
        (true, false) if second & 1 != 0 => three(Unit::Multiply, first, second, 2), // VQDMULL
        (true, false) => three(Unit::Integer, first, second, 2),                     // VADC, VSBC
        (false, true) => scalar(Unit::Integer, first, second, 1),
        (false, false) => three(Unit::Integer, first, second, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: Option<Unit> = Some(Unit::Memory);
    const INTEGER: Option<Unit> = Some(Unit::Integer);
    const MULTIPLY: Option<Unit> = Some(Unit::Multiply);

    #[test]
    fn units_and_latencies() {
        for (first, second, unit, busy, latency) in [
            (0xecb5, 0x5e10, MEMORY, 2, 1),   // vldrb.u8 q2, [r5], #16
            (0xed91, 0x7f04, MEMORY, 2, 1),   // vldrw.u32 q3, [r1, #16]
            (0xfcb1, 0x6e84, MEMORY, 2, 1),   // vldrb.u16 q3, [r1], #4
            (0xfc91, 0x0e04, MEMORY, 8, 2),   // vldrb.u8 q0, [r1, q2]
            (0xfc91, 0x0e95, MEMORY, 4, 2),   // vldrh.u16 q0, [r1, q2, uxtw #1]
            (0xfc91, 0x0f45, MEMORY, 2, 2),   // vldrw.u32 q0, [r1, q2, uxtw #2]
            (0xfd94, 0x1e01, MEMORY, 2, 2),   // vldrw.u32 q0, [q2, #4]
            (0xfc91, 0x1f00, MEMORY, 2, 2),   // vld20.32 {q0, q1}, [r1]
            (0xeef2, 0x8f24, MULTIPLY, 2, 2), // vmladava.s8 r8, q1, q2
            (0xee93, 0x2e2e, MULTIPLY, 2, 2), // vmlaldava.s32 r2, r3, q1, q7
            (0xeef9, 0x0f02, MULTIPLY, 2, 2), // vaddv.s32 r0, q1
            (0xee82, 0x0f05, INTEGER, 2, 3),  // vabav.s8 r0, q1, q2
            (0xeee2, 0x0f02, INTEGER, 2, 2),  // vmaxv.s8 r0, q1
            (0xeeea, 0x0f02, INTEGER, 2, 4),  // vmaxv.s32 r0, q1
            (0xef22, 0x0844, INTEGER, 2, 1),  // vadd.i32 q0, q1, q2
            (0xee13, 0x0f42, INTEGER, 2, 1),  // vadd.i16 q0, q1, r2
            (0xef22, 0x0054, INTEGER, 2, 1),  // vqadd.s32 q0, q1, q2
            (0xef22, 0x0654, INTEGER, 2, 1),  // vmin.s32 q0, q1, q2
            (0xef24, 0x0442, INTEGER, 2, 1),  // vshl.s32 q0, q1, q2
            (0xef24, 0x0542, INTEGER, 2, 2),  // vrshl.s32 q0, q1, q2
            (0xee39, 0x1e62, INTEGER, 2, 1),  // vshl.s32 q0, r2
            (0xee3b, 0x1e62, INTEGER, 2, 2),  // vrshl.s32 q0, r2
            (0xefbd, 0x0052, INTEGER, 2, 1),  // vshr.s32 q0, q1, #3
            (0xefbd, 0x0252, INTEGER, 2, 2),  // vrshr.s32 q0, q1, #3
            (0xee33, 0x0e03, INTEGER, 2, 3),  // vqmovnb.s16 q0, q1
            (0xee9d, 0x0f42, INTEGER, 2, 3),  // vqshrnb.s32 q0, q1, #3
            (0xeea8, 0x0f42, INTEGER, 2, 1),  // vmovlb.s8 q0, q1
            (0xee33, 0x0e83, INTEGER, 2, 1),  // vmaxa.s8 q0, q1
            (0xee13, 0x0f6e, INTEGER, 2, 1),  // vidup.u16 q0, r2, #1
            (0xfe33, 0x0f05, INTEGER, 2, 1),  // vpsel q0, q1, q2
            (0xeea0, 0x1b10, INTEGER, 2, 1),  // vdup.32 q0, r1
            (0xffb9, 0x0342, INTEGER, 2, 1),  // vabs.s32 q0, q1
            (0xef22, 0x0954, MULTIPLY, 2, 2), // vmul.i32 q0, q1, q2
            (0xee13, 0x1e62, MULTIPLY, 2, 2), // vmul.i16 q0, q1, r2
            (0xee23, 0x1e05, MULTIPLY, 2, 2), // vrmulh.s32 q0, q1, q2
            (0xff22, 0x0b44, MULTIPLY, 2, 2), // vqrdmulh.s32 q0, q1, q2
            (0xee13, 0x0e04, MULTIPLY, 2, 2), // vmullb.s16 q0, q1, q2
            (0xee23, 0x0e42, MULTIPLY, 2, 2), // vmla.s32 q0, q1, r2
            (0xff02, 0x0d54, MULTIPLY, 2, 2), // vmul.f32 q0, q1, q2
            (0xef02, 0x0d44, MULTIPLY, 2, 1), // vadd.f32 q0, q1, q2
            (0xef02, 0x0c54, MULTIPLY, 2, 2), // vfma.f32 q0, q1, q2
            (0xffbb, 0x0642, MULTIPLY, 2, 2), // vcvt.f32.s32 q0, q1
            (0xfe21, 0x1f03, MULTIPLY, 2, 1), // vcmp.s32 gt, q0, q1
            (0xfe61, 0x1fc1, MULTIPLY, 2, 1), // vpt.s32 lt, q0, r1
            (0xee31, 0x1f03, MULTIPLY, 2, 1), // vcmp.f32 gt, q0, q1
            (0xfcb2, 0x0844, MULTIPLY, 2, 2), // vcmla.f32 q0, q1, q2, #90
            (0xec12, 0x0f01, MULTIPLY, 2, 1), // vmov q0[2], q0[0], r1, r2
            (0xfe71, 0x0f4d, None, 1, 1),     // vpst
            (0xf009, 0xe801, None, 1, 1),     // vctp.8 r9
        ] {
            let issue = issue(first, second).unwrap();
            let occupied = (issue.unit.map(|(unit, _)| unit), issue.unit.map_or(1, |(_, busy)| busy));
            assert_eq!((occupied, issue.writes.1), ((unit, busy), latency), "{first:#06x} {second:#06x}");
        }
    }

    #[test]
    fn others_are_no_vectors() {
        for (first, second) in [
            (0xed91, 0x0a00), // vldr s0, [r1]
            (0xee00, 0x1a10), // vmov s0, r1
            (0xee30, 0x0a81), // vadd.f32 s0, s1, s2
            (0xf041, 0xe001), // dls lr, r1
            (0xf00f, 0xc007), // le lr
            (0xea51, 0x8002), // csel r0, r1, r2, eq
            (0xe9d1, 0x2302), // ldrd r2, r3, [r1, #8]
        ] {
            assert_eq!(issue(first, second), None, "{first:#06x} {second:#06x}");
        }
    }

    #[test]
    fn registers() {
        let (q, r) = (Registers::q, Registers::r);
        let mac = issue(0xeef2, 0x8f24).unwrap(); // vmladava.s8 r8, q1, q2
        assert_eq!((mac.reads, mac.writes.0), (q(1).and(q(2)).and(r(8)), r(8)));
        let first = issue(0xeef0, 0x0f04).unwrap(); // vmladav.s8 r0, q0, q2
        assert_eq!((first.reads, first.writes.0), (q(0).and(q(2)), r(0)));
        let load = issue(0xecb5, 0x5e10).unwrap(); // vldrb.u8 q2, [r5], #16
        assert_eq!((load.reads, load.writes.0, load.moves.0), (r(5), q(2), r(5)));
        let store = issue(0xed81, 0xff00).unwrap(); // vstrw.32 q7, [r1]
        assert_eq!((store.reads, store.late.0, store.writes.0), (r(1), q(7), Registers::NONE));
        let gather = issue(0xfc91, 0x0f45).unwrap(); // vldrw.u32 q0, [r1, q2, uxtw #2]
        assert_eq!((gather.reads, gather.early, gather.writes.0), (r(1), (q(2), 4), q(0)));
        let shift = issue(0xefbd, 0x0052).unwrap(); // vshr.s32 q0, q1, #3
        assert_eq!((shift.reads, shift.writes.0), (q(1), q(0)));
    }
}
