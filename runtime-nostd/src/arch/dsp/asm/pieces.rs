//! Pieces of assembly that blocks share.

/// Pairs of taps in a turn of the loop of [`steps`].
pub(super) const UNROLL: usize = 4;

/// Bytes of code of each of them.
pub(super) const STEP: usize = 60;

/// Where the loop of [`steps`] is entered for so many pairs of taps, in bytes from its beginning.
pub(super) const fn entry(pairs: usize) -> usize {
    pairs.wrapping_neg() % UNROLL * STEP
}

/// Last shifts of a quad's filters a and c, and of b and d, whose sums are multiplied by 256. In a signed form all are.
pub(super) const fn shifts(shift: u32, signed: bool) -> [u32; 2] {
    let more = shift.saturating_add(8);
    [if signed { more } else { shift }, more]
}

/// `{unroll}` pairs of taps of two pixels and four filters, of `{step}` bytes each, behind the label 4.
///
/// r8 is the next weight, r9 the next tap of the first pixel; the distance of the second one's is on the stack, `$distance` bytes up. r0–r7 accumulate A and A' (the second pixel's),
/// A + 256 · B and its like, and the same of C and D; r10, r11, r12 and lr are changed.
macro_rules! steps {
    ($distance:literal) => {
        concat!(
            "4:
            .rept {unroll}
            ldr lr, [sp, #",
            $distance,
            "]
            ldr r10, [r8], #8
            ldr r11, [r8, #-4]
            ldr lr, [r9, lr]
            ldr r12, [r9], #4
            smlad r3, lr, r10, r3
            smlad r2, r12, r10, r2
            sxtb16 r10, r10
            smlad r7, lr, r11, r7
            smlad r6, r12, r11, r6
            sxtb16 r11, r11
            smlad r1, lr, r10, r1
            smlad r0, r12, r10, r0
            smlad r5, lr, r11, r5
            smlad r4, r12, r11, r4
            .endr
            .if (. - 4b) != ({unroll} * {step})
            .error \"the steps of the loop are not as long as their entry assumes\"
            .endif"
        )
    };
}
pub(super) use steps;

/// Sums of two pixels in r0 to r7, in a signed form: multiplied by 256 where they are not yet, and corrected by r10, r11, r12 and lr, one for each filter. r9 is changed.
macro_rules! corrected {
    () => {
        "and r9, r10, r0, asr #31
        add r0, r9, r0, lsl #8
        and r9, r10, r1, asr #31
        add r1, r9, r1, lsl #8
        and r9, r11, r2, asr #31
        add r2, r2, r9
        and r9, r11, r3, asr #31
        add r3, r3, r9
        and r9, r12, r4, asr #31
        add r4, r9, r4, lsl #8
        and r9, r12, r5, asr #31
        add r5, r9, r5, lsl #8
        and r9, lr, r6, asr #31
        add r6, r6, r9
        and r9, lr, r7, asr #31
        add r7, r7, r9"
    };
}
pub(super) use corrected;

/// The sums in r0 to r7, multiplied, become results.
macro_rules! saturated {
    () => {
        ".if {even_shift}
        ssat r0, #8, r0, asr #{even_shift}
        ssat r1, #8, r1, asr #{even_shift}
        ssat r4, #8, r4, asr #{even_shift}
        ssat r5, #8, r5, asr #{even_shift}
        .else
        ssat r0, #8, r0
        ssat r1, #8, r1
        ssat r4, #8, r4
        ssat r5, #8, r5
        .endif
        ssat r2, #8, r2, asr #{odd_shift}
        ssat r3, #8, r3, asr #{odd_shift}
        ssat r6, #8, r6, asr #{odd_shift}
        ssat r7, #8, r7, asr #{odd_shift}"
    };
}
pub(super) use saturated;

/// Four elements of a single pixel in r4, and their weights of four filters in r10, r11, r12 and lr, are added to r0–r3: A, A + 256 · B, C and C + 256 · D. All but the sums are
/// changed, and r5.
macro_rules! four_elements {
    () => {
        "sxtb16 r5, r4
        sxtb16 r4, r4, ror #8
        smlad r1, r5, r10, r1
        sxtb16 r10, r10
        smlad r3, r5, r11, r3
        sxtb16 r11, r11
        smlad r0, r5, r10, r0
        smlad r2, r5, r11, r2
        smlad r1, r4, r12, r1
        sxtb16 r12, r12
        smlad r3, r4, lr, r3
        sxtb16 lr, lr
        smlad r0, r4, r12, r0
        smlad r2, r4, lr, r2"
    };
}
pub(super) use four_elements;

/// As [`corrected`], sums of a single pixel in r0 to r3 by r4 to r7, which are changed.
macro_rules! corrected_single {
    () => {
        "and r4, r4, r0, asr #31
        add r0, r4, r0, lsl #8
        and r5, r5, r1, asr #31
        add r1, r1, r5
        and r6, r6, r2, asr #31
        add r2, r6, r2, lsl #8
        and r7, r7, r3, asr #31
        add r3, r3, r7"
    };
}
pub(super) use corrected_single;

/// The sum in `$sum` becomes a result: by M, C and, where `{signed}` is 1, the correction in registers `$m`, `$c`, `$k`, of which `$k` is changed. `{shift}` is
/// the last shift.
macro_rules! affine {
    ($sum:literal, $m:literal, $c:literal, $k:literal) => {
        concat!(
            ".if {signed}\n",
            "and ",
            $k,
            ", ",
            $k,
            ", ",
            $sum,
            ", asr #31\n",
            "add ",
            $sum,
            ", ",
            $k,
            ", ",
            $sum,
            ", lsl #8\n",
            ".endif\n",
            "smmlar ",
            $sum,
            ", ",
            $sum,
            ", ",
            $m,
            ", ",
            $c,
            "\n",
            ".if {shift}\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            ", asr #{shift}\n",
            ".else\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            "\n",
            ".endif\n",
        )
    };
}
pub(super) use affine;
