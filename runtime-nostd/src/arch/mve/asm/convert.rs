//! Stored values from real ones in assembly.

use crate::params::QuantizeLinear;

/// Quotients, rounded, and saturated with the zero point.
///
/// # Safety
///
/// `n` elements may be read and written.
#[inline(always)]
pub(crate) unsafe fn quantize<const LOW: bool, const EVEN: bool>(
    p: &QuantizeLinear,
    x: *const f32,
    y: *mut i8,
    n: usize,
) {
    /// The quotients of a vector, as integers.
    #[rustfmt::skip]
    macro_rules! rounded {
        ($($x:literal $q:literal),*) => {
            concat!(
                ".if {two}\n",
                $("vmul.f32 ", $q, ", ", $x, ", {low}\n",)*
                $("vfma.f32 ", $q, ", ", $x, ", {high}\n",)*
                ".else\n",
                $("vmul.f32 ", $q, ", ", $x, ", {high}\n",)*
                ".endif\n",
                ".if {even}\n",
                $("vcvtn.s32.f32 ", $q, ", ", $q, "\n",)*
                ".else\n",
                $("vcvta.s32.f32 ", $q, ", ", $q, "\n",)*
                ".endif\n",
            )
        };
    }
    // SAFETY: as the caller promises. Every register is declared.
    unsafe {
        core::arch::asm!(
            "lsrs {eights}, {n}, #3",
            "beq 3f",
            "dls lr, {eights}",
            "2:",
            // Elements with even and with odd indices.
            "vld20.32 {{q0, q1}}, [r0]",
            "vld21.32 {{q0, q1}}, [r0]!",
            rounded!("q0" "q2", "q1" "q3"),
            "vqmovnb.s32 q2, q2",
            "vqmovnt.s32 q2, q3",
            "vqadd.s16 q2, q2, {zero_point}",
            "vqmovnb.s16 q2, q2",
            "vstrb.16 q2, [r1], #8",
            "le lr, 2b",
            "3:",
            "ands {n}, {n}, #7",
            "beq 5f",
            "dlstp.32 lr, {n}",
            "4:",
            "vldrw.32 q0, [r0], #16",
            rounded!("q0" "q2"),
            "vqmovnb.s32 q2, q2",
            "vqadd.s16 q2, q2, {zero_point}",
            "vqmovnb.s16 q2, q2",
            "vstrb.32 q2, [r1], #4",
            "letp lr, 4b",
            "5:",
            n = inout(reg) n => _, eights = out(reg) _,
            high = in(reg) p.high.to_bits(), low = in(reg) p.low.to_bits(), zero_point = in(reg) p.zero_point,
            two = const LOW as u32, even = const EVEN as u32,
            inout("r0") x => _, inout("r1") y => _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
        );
    }
}
