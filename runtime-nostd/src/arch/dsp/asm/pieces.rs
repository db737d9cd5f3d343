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

/// Tells the compiler how many bytes of code repetitions make: it takes the size of assembly from its lines.
macro_rules! size {
    ($bytes:literal) => {
        concat!(".if 0\n.space ", $bytes, "\n.endif\n")
    };
}

/// Loads four words from the address in `$from`, which moves behind them.
#[rustfmt::skip]
macro_rules! four_words {
    ($a:literal $b:literal $c:literal $d:literal from $from:literal) => {
        concat!(
            "ldr ", $a, ", [", $from, "], #16\n",
            "ldr ", $b, ", [", $from, ", #-12]\n",
            "ldr ", $c, ", [", $from, ", #-8]\n",
            "ldr ", $d, ", [", $from, ", #-4]\n",
        )
    };
}

/// A pair of taps of two pixels, in lr and r12, and their weights of four filters, in r10 and r11, are added to r0–r7: see [`steps`]. r10 and r11 are changed.
#[rustfmt::skip]
macro_rules! pair_of_taps {
    () => { pair_of_taps!(behind "r0" "r1" "r2" "r3" "r4" "r5" "r6" "r7") };
    // What is in those registers, and becomes r0–r7 with the products.
    (behind $r0:literal $r1:literal $r2:literal $r3:literal $r4:literal $r5:literal $r6:literal $r7:literal) => {
        concat!(
            "smlad r3, lr, r10, ", $r3, "\n",
            "smlad r2, r12, r10, ", $r2, "\n",
            "sxtb16 r10, r10\n",
            "smlad r7, lr, r11, ", $r7, "\n",
            "smlad r6, r12, r11, ", $r6, "\n",
            "sxtb16 r11, r11\n",
            "smlad r1, lr, r10, ", $r1, "\n",
            "smlad r0, r12, r10, ", $r0, "\n",
            "smlad r5, lr, r11, ", $r5, "\n",
            "smlad r4, r12, r11, ", $r4, "\n",
        )
    };
}

/// As [`pair_of_taps`], for the first pair of a tile: r0, r2, r4 and r6 hold the first values of either pixel's sums.
macro_rules! first_pair_of_taps {
    () => {
        pair_of_taps!(behind "r0" "r0" "r2" "r2" "r4" "r4" "r6" "r6")
    };
}

/// Sums of two pixels in r0 to r7 become results there. r8 is the word before the corrections and factors, and the last of them then; r9 is what lies on top of the stack then; r10, r11, r12
/// and lr are changed.
#[rustfmt::skip]
macro_rules! results_of_tile {
    () => {
        concat!(
            "sub r2, r2, r0\n",
            "sub r3, r3, r1\n",
            "sub r6, r6, r4\n",
            "sub r7, r7, r5\n",
            ".if {signed}\n",
            "ldr r10, [r8, #4]\n",
            "ldr r11, [r8, #8]\n",
            "ldr r12, [r8, #12]\n",
            "ldr lr, [r8, #16]!\n",
            corrected_pair!(),
            ".endif\n",
            "ldr r10, [r8, #4]\n",
            "ldr r11, [r8, #8]\n",
            "ldr r12, [r8, #12]\n",
            "ldr lr, [r8, #16]\n",
            "smmlar r0, r0, r10, r11\n",
            "smmlar r1, r1, r10, r11\n",
            "smmlar r2, r2, r12, lr\n",
            "smmlar r3, r3, r12, lr\n",
            "ldr r10, [r8, #20]\n",
            "ldr r11, [r8, #24]\n",
            "ldr r12, [r8, #28]\n",
            "ldr lr, [r8, #32]!\n",
            "ldr r9, [sp]\n",
            "smmlar r4, r4, r10, r11\n",
            "smmlar r5, r5, r10, r11\n",
            "smmlar r6, r6, r12, lr\n",
            "smmlar r7, r7, r12, lr\n",
            saturated!("{even_shift}": "r0" "r1" "r4" "r5"),
            saturated!("{odd_shift}": "r2" "r3" "r6" "r7"),
        )
    };
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
            ",
            pair_of_taps!(),
            ".endr
            .if (. - 4b) != ({unroll} * {step})
            .error \"the steps of the loop are not as long as their entry assumes\"
            .endif"
        )
    };
}

/// The sum in `$sum` of a signed form, multiplied by 256 if it is not yet (`even`: of a filter a or c), and corrected by `$k` if it is negative. `$free` is changed.
#[rustfmt::skip]
macro_rules! corrected {
    ($($which:ident $sum:literal by $k:literal in $free:literal),+) => {
        concat!($(
            "and ", $free, ", ", $k, ", ", $sum, ", asr #31\n",
            corrected!(@ $which $sum $free),
        )+)
    };
    (@ even $sum:literal $free:literal) => { concat!("add ", $sum, ", ", $free, ", ", $sum, ", lsl #8\n") };
    (@ odd $sum:literal $free:literal) => { concat!("add ", $sum, ", ", $sum, ", ", $free, "\n") };
}

/// Sums of two pixels in r0 to r7 are [`corrected`] by r10, r11, r12 and lr, one for each filter. r9 is changed.
macro_rules! corrected_pair {
    () => {
        corrected!(
            even "r0" by "r10" in "r9", even "r1" by "r10" in "r9",
            odd "r2" by "r11" in "r9", odd "r3" by "r11" in "r9",
            even "r4" by "r12" in "r9", even "r5" by "r12" in "r9",
            odd "r6" by "lr" in "r9", odd "r7" by "lr" in "r9"
        )
    };
}

/// Sums of a single pixel in r0 to r3 are [`corrected`] by r4 to r7, which are changed.
macro_rules! corrected_single {
    () => {
        corrected!(
            even "r0" by "r4" in "r4", odd "r1" by "r5" in "r5",
            even "r2" by "r6" in "r6", odd "r3" by "r7" in "r7"
        )
    };
}

/// Sums, multiplied, become results: shifted by `$shift`, which may be 0, and saturated.
#[rustfmt::skip]
macro_rules! saturated {
    ($shift:literal: $($sum:literal)+) => {
        concat!(
            ".if ", $shift, "\n",
            $("ssat ", $sum, ", #8, ", $sum, ", asr #", $shift, "\n",)+
            ".else\n",
            $("ssat ", $sum, ", #8, ", $sum, "\n",)+
            ".endif\n",
        )
    };
}

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

/// The sum in `$sum` becomes a result: by M, C and, where `{signed}` is 1, the correction in registers `$m`, `$c`, `$k`, of which `$k` is changed. `{shift}` is
/// the last shift.
#[rustfmt::skip]
macro_rules! affine {
    ($sum:literal, $m:literal, $c:literal, $k:literal) => {
        concat!(
            ".if {signed}\n",
            corrected!(even $sum by $k in $k),
            ".endif\n",
            "smmlar ", $sum, ", ", $sum, ", ", $m, ", ", $c, "\n",
            saturated!("{shift}": $sum),
        )
    };
}

/// A pair of channels of two transformed tiles at r8, which is moved on by `$bytes`, and four filters at r9, for Winograd's algorithm: six loads and eight products of two channels, 16 cycles.
/// Sums are in r0 to r3 and r4 to r7. `$op` is `smlad`, or `smuad`, which has no sums to add to. r10, r11, r12 and lr are changed.
#[rustfmt::skip]
macro_rules! pair_of_channels {
    (@ $op:literal, $to:literal, $v:literal, $u:literal) => {
        concat!(
            ".ifc ", $op, ", smuad\n", $op, " ", $to, ", ", $v, ", ", $u, "\n",
            ".else\n", $op, " ", $to, ", ", $v, ", ", $u, ", ", $to, "\n.endif\n",
        )
    };
    ($op:literal, $bytes:literal) => {
        concat!(
            "ldr r10, [r8], #", $bytes, "\n",
            "ldr r11, [r8, #(4 - ", $bytes, ")]\n",
            "ldr r12, [r9], #16\n",
            "ldr lr, [r9, #-12]\n",
            pair_of_channels!(@ $op, "r0", "r10", "r12"),
            pair_of_channels!(@ $op, "r4", "r11", "r12"),
            pair_of_channels!(@ $op, "r1", "r10", "lr"),
            pair_of_channels!(@ $op, "r5", "r11", "lr"),
            "ldr r12, [r9, #-8]\n",
            "ldr lr, [r9, #-4]\n",
            pair_of_channels!(@ $op, "r2", "r10", "r12"),
            pair_of_channels!(@ $op, "r6", "r11", "r12"),
            pair_of_channels!(@ $op, "r3", "r10", "lr"),
            pair_of_channels!(@ $op, "r7", "r11", "lr"),
        )
    };
}

/// Begins with the first filter of a tile by Winograd's algorithm, whose `registers` are at r0: its sums are at r0 then, its first value at r1. On the stack are the pixels, the number of the filter, the
/// address of its factor, and the end of first values.
macro_rules! first_filter {
    () => {
        "push {{r6, r7}}
        ldm r0, {{r2, r3, r4, r5, r6, r7}}
        push {{r2, r3, r4, r5}}
        mov r0, r6
        mov r1, r7"
    };
}

/// Goes on to the next filter, at `2`. Behind the last one the stack is as it was before [`first_filter`].
macro_rules! next_filter {
    () => {
        "ldr r2, [sp, #4]
        ldr r3, [sp, #8]
        ldr r4, [sp, #12]
        add r0, r0, #4
        add r1, r1, #4
        add r2, r2, #1
        add r3, r3, #8
        str r2, [sp, #4]
        str r3, [sp, #8]
        cmp r1, r4
        bne 2b
        add sp, sp, #16
        pop {{r6, r7}}"
    };
}
