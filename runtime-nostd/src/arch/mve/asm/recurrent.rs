//! Four units of an LSTM in assembly.
//!
//! The table's entries are loaded for four lanes at once. Indices are bounded by sixteen bits of the gates' sums, or by a minimum.

use crate::arch::mve::recurrent::{Four, Sums, FOUR};
use crate::arch::portable::sigmoid::SIGMOID;
use crate::params::Lstm;

/// What the block reads of a layer, in its order.
#[repr(C)]
pub(crate) struct Prepared {
    by: [Factor; 11],
    tanh_shift: i32,
    lo: i32,
    hi: i32,
    zero_point: i32,
}

/// A factor as the vectors apply it.
#[derive(Clone, Copy)]
#[repr(C)]
struct Factor {
    /// A shift to the left, before the multiplication.
    left: i32,
    multiplier: i32,
    /// 1 if a shift to the right follows, whose halves go away from zero.
    rounds: i32,
    /// That shift, negated.
    right: i32,
}

impl Prepared {
    /// `None` where there are too few.
    pub(crate) fn of(p: &Lstm<'_>) -> Option<Self> {
        let (&multipliers, &shifts) = (p.multipliers.first_chunk::<11>()?, p.shifts.first_chunk::<11>()?);
        let mut by = [Factor { left: 0, multiplier: 0, rounds: 0, right: 0 }; 11];
        for ((by, multiplier), shift) in by.iter_mut().zip(multipliers).zip(shifts) {
            let shift = i32::from(shift).clamp(-31, 31);
            *by = Factor { left: shift.max(0), multiplier, rounds: (shift < 0).into(), right: shift.min(0) };
        }
        let Lstm { lo, hi, zero_point, .. } = *p;
        Some(Prepared { by, tanh_shift: p.tanh_shift.clamp(-31, 31), lo, hi, zero_point })
    }
}

/// Assembly: the vector `$x` times factor `$i` of those at r0, or the one `$behind` bytes behind it. `$free` is overwritten, and r3, r4, r5, r12.
#[rustfmt::skip]
macro_rules! scaled {
    ($x:literal, $free:literal, $i:literal) => {
        scaled!($x, $free, $i, 0)
    };
    ($x:literal, $free:literal, $i:literal, $behind:literal) => {
        concat!(
            "ldrd r3, r4, [r0, #(16 * ", $i, " + ", $behind, ")]\n",
            "ldrd r5, r12, [r0, #(16 * ", $i, " + ", $behind, " + 8)]\n",
            "vshl.s32 ", $x, ", r3\n",
            "vqrdmulh.s32 ", $x, ", ", $x, ", r4\n",
            "vshr.s32 ", $free, ", ", $x, ", #31\n",
            "vmla.s32 ", $x, ", ", $free, ", r5\n",
            "vrshl.s32 ", $x, ", r12\n",
        )
    };
}

/// Assembly: numbers within 16 bits.
macro_rules! saturated {
    ($x:literal) => {
        concat!("vqmovnb.s32 ", $x, ", ", $x, "\n", "vmovlb.s16 ", $x, ", ", $x, "\n")
    };
}

/// Assembly: gate `$i`, before its function, in q0. Its sums are at r1.
macro_rules! gate {
    ($i:literal) => {
        concat!(
            "vldrw.32 q0, [r1, #(16 * ",
            $i,
            ")]\n",
            "vldrw.32 q2, [r1, #(16 * ",
            $i,
            " + 64)]\n",
            scaled!("q0", "q1", $i),
            scaled!("q2", "q1", $i, 64),
            saturated!("q0"),
            saturated!("q2"),
            "vadd.i32 q0, q0, q2\n",
            saturated!("q0"),
        )
    };
}

/// Assembly: σ of q0, in steps of a third of a table's step, in q0. q1 to q4 and r3 are overwritten.
macro_rules! sigmoid {
    () => {
        concat!(
            "movs r3, #3\n",
            "vmul.i32 q0, q0, r3\n",
            "vabs.s32 q1, q0\n",
            "vshr.u32 q2, q1, #9\n",
            "movs r3, #1\n",
            "vldrh.u32 q3, [r8, q2, uxtw #1]\n",
            "vadd.i32 q2, q2, r3\n",
            "vldrh.u32 q4, [r8, q2, uxtw #1]\n",
            // Behind the entry, so many 512ths of the step to the next one.
            "vshl.i32 q1, q1, #23\n",
            "vshr.u32 q1, q1, #23\n",
            "vsub.i32 q4, q4, q3\n",
            "vmul.i32 q1, q1, q4\n",
            "vshl.i32 q3, q3, #9\n",
            "vadd.i32 q1, q1, q3\n",
            "mov r3, #512\n",
            "vadd.i32 q1, q1, r3\n",
            // Of a negative number 1 less that, and half a unit less.
            "movw r3, #1023\n",
            "movt r3, #(1 << 9)\n",
            "vdup.32 q3, r3\n",
            "vpt.s32 lt, q0, zr\n",
            "vsubt.i32 q1, q3, q1\n",
            "vshr.s32 q0, q1, #10\n",
        )
    };
}

/// Assembly: tanh of q0, shifted by r3 to the left, in q0. q1 to q5 and r3, r4 are overwritten.
macro_rules! tanh {
    () => {
        concat!(
            "movs r4, #3\n",
            "vmul.i32 q0, q0, r4\n",
            "vrshl.s32 q0, r3\n",
            "vabs.s32 q1, q0\n",
            "movs r3, #255\n",
            "vdup.32 q5, r3\n",
            "vshr.u32 q2, q1, #8\n",
            "vmin.u32 q2, q2, q5\n",
            "movs r3, #1\n",
            "vldrh.u32 q3, [r8, q2, uxtw #1]\n",
            "vadd.i32 q2, q2, r3\n",
            "vmin.u32 q2, q2, q5\n",
            "vldrh.u32 q4, [r8, q2, uxtw #1]\n",
            "vshl.i32 q1, q1, #24\n",
            "vshr.u32 q1, q1, #24\n",
            "vsub.i32 q4, q4, q3\n",
            "vmul.i32 q1, q1, q4\n",
            "vshl.i32 q3, q3, #8\n",
            "vadd.i32 q1, q1, q3\n",
            // 1 less, and half a unit more.
            "movw r3, #128\n",
            "movt r3, #0xff80\n",
            "vadd.i32 q1, q1, r3\n",
            "vpt.s32 lt, q0, zr\n",
            "vsubt.i32 q1, q5, q1\n",
            "vshr.s32 q0, q1, #8\n",
        )
    };
}

/// Cell states and outputs of four units, from the sums of their gates and their cell states so far.
#[inline(never)]
pub(crate) fn update(p: &Prepared, sums: &mut Sums, states: &mut Four) -> [i8; FOUR] {
    let mut results = [0; FOUR];
    // SAFETY: sums, the layer and states are as the references say. No index into the table is above 255: three times 16 bits are below 512 · 255, and others are bounded by `vmin`. Every register
    // is declared.
    unsafe {
        core::arch::asm!(
            gate!("0"),
            sigmoid!(),
            "vstrw.32 q0, [r1]",
            gate!("1"),
            sigmoid!(),
            "vstrw.32 q0, [r1, #16]",
            gate!("3"),
            sigmoid!(),
            "vstrw.32 q0, [r1, #48]",
            gate!("2"),
            "movs r3, #0",
            tanh!(),
            // Of the cell state what the forget gate keeps, and of the cell gate what the input gate takes.
            "vldrw.32 q1, [r1]",
            "vmul.i32 q1, q1, q0",
            scaled!("q1", "q2", "9"),
            saturated!("q1"),
            "vldrw.32 q0, [r9]",
            "vldrw.32 q2, [r1, #16]",
            "vmul.i32 q0, q0, q2",
            scaled!("q0", "q2", "8"),
            saturated!("q0"),
            "vadd.i32 q0, q0, q1",
            saturated!("q0"),
            "ldrd r3, r4, [r0, #(16 * 11 + 4)]",
            "vdup.32 q1, r3",
            "vmax.s32 q0, q0, q1",
            "vdup.32 q1, r4",
            "vmin.s32 q0, q0, q1",
            "vstrw.32 q0, [r9]",
            "ldr r3, [r0, #(16 * 11)]",
            tanh!(),
            "vldrw.32 q1, [r1, #48]",
            "vmul.i32 q0, q0, q1",
            scaled!("q0", "q1", "10"),
            "ldr r3, [r0, #(16 * 11 + 12)]",
            "vqadd.s32 q0, q0, r3",
            "vqmovnb.s32 q0, q0",
            "vqmovnb.s16 q0, q0",
            "vstrb.32 q0, [r2]",
            in("r0") p, in("r1") sums.0.as_mut_ptr(), in("r2") results.as_mut_ptr(),
            in("r8") SIGMOID.as_ptr(), in("r9") states.0.as_mut_ptr(),
            out("r3") _, out("r4") _, out("r5") _, out("r12") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _,
        );
    }
    results
}
