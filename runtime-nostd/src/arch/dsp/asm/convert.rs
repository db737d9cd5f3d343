//! Stored values from real ones in assembly.
#![allow(unsafe_code)]

use crate::params::QuantizeLinear;

/// `trunc(x / scale · 2⁵)`, saturated to 16 bits, times 2¹⁵ + 1, rounds half away from zero by adding half and shifting: the 1 lowers what is negative,
/// and does not lift what is not half.
///
/// # Safety
/// `n` elements may be read and written.
#[inline(always)]
pub(crate) unsafe fn quantize<const LOW: bool>(p: &QuantizeLinear, x: *const f32, y: *mut i8, n: usize) {
    #[rustfmt::skip]
    macro_rules! quotient {
        ($($x:literal $q:literal),*) => {
            concat!(
                ".if {two}\n",
                $("vmul.f32 ", $q, ", ", $x, ", s17\n",)*
                $("vfma.f32 ", $q, ", ", $x, ", s16\n",)*
                ".else\n",
                $("vmul.f32 ", $q, ", ", $x, ", s16\n",)*
                ".endif\n",
                $("vcvt.s16.f32 ", $q, ", ", $q, ", #5\n",)*
                $(
                    "vmov {t}, ", $q, "\n",
                    "mla {t}, {t}, {stretch}, {start}\n",
                    "ssat {t}, #8, {t}, asr #20\n",
                    "strb {t}, [{y}], #1\n",
                )*
            )
        };
    }
    // SAFETY: it reads and writes what the caller allows.
    unsafe {
        core::arch::asm!(
            "vmov s16, {high}",
            "vmov s17, {low}",
            "subs {n}, #8",
            "blo 3f",
            "2:",
            "vldmia {x}!, {{s0-s7}}",
            quotient!("s0" "s8", "s1" "s9", "s2" "s10", "s3" "s11", "s4" "s12", "s5" "s13", "s6" "s14", "s7" "s15"),
            "subs {n}, #8",
            "bhs 2b",
            "3:",
            "adds {n}, #8",
            "beq 5f",
            "4:",
            "vldmia {x}!, {{s0}}",
            quotient!("s0" "s8"),
            "subs {n}, #1",
            "bne 4b",
            "5:",
            x = inout(reg) x => _,
            y = inout(reg) y => _,
            n = inout(reg) n => _,
            stretch = in(reg) (1 << 15) + 1,
            start = in(reg) (p.zero_point << 20).wrapping_add(1 << 19),
            t = out(reg) _,
            high = in(reg) p.high.to_bits(),
            low = in(reg) p.low.to_bits(),
            out("s16") _, out("s17") _,
            out("s0") _, out("s1") _, out("s2") _, out("s3") _,
            out("s4") _, out("s5") _, out("s6") _, out("s7") _,
            out("s8") _, out("s9") _, out("s10") _, out("s11") _,
            out("s12") _, out("s13") _, out("s14") _, out("s15") _,
            two = const LOW as u32,
            options(nostack),
        );
    }
}
