//! Tiles of Winograd's algorithm in assembly: their transformation, their products, and results of their sums.
//!
//! Sums are not begun anew for each frequency, only for each row of four. Of the sums so far, R0 to R3, results need R2 and 2 · R1 − R0 − R3.

use crate::arch::dsp::winograd::Fitted;
use crate::arch::winograd::{Sums, FILTERS};
use core::arch::asm;
use core::cell::Cell;

/// Words of four channels of a patch, and of a transformed one.
const PATCH: usize = 24;
const TRANSFORMED: usize = 64;

/// Assembly: the elements of a column of the patch, two channels each, by the rotation of their words.
#[rustfmt::skip]
macro_rules! patch_column {
    ($ror:literal, $column:literal, $a:literal $b:literal $c:literal $d:literal) => {
        concat!(
            "ldr ", $a, ", [r0, #(4 * ", $column, ")]\n",
            "ldr ", $b, ", [r0, #(4 * ", $column, " + 24)]\n",
            "ldr ", $c, ", [r0, #(4 * ", $column, " + 48)]\n",
            "ldr ", $d, ", [r0, #(4 * ", $column, " + 72)]\n",
            "sxtb16 ", $a, ", ", $a, $ror, "\n",
            "sxtb16 ", $b, ", ", $b, $ror, "\n",
            "sxtb16 ", $c, ", ", $c, $ror, "\n",
            "sxtb16 ", $d, ", ", $d, $ror, "\n",
        )
    };
}

/// Assembly: a transformed column of the patch. `$free` is changed.
#[rustfmt::skip]
macro_rules! transformed {
    ($ror:literal, $column:literal, $a:literal $b:literal $c:literal $d:literal, $free:literal) => {
        concat!(
            patch_column!($ror, $column, $a $free $c $d),
            "ssub16 ", $a, ", ", $a, ", ", $c, "\n",
            "sadd16 ", $b, ", ", $free, ", ", $c, "\n",
            "ssub16 ", $c, ", ", $c, ", ", $free, "\n",
            "ssub16 ", $d, ", ", $free, ", ", $d, "\n",
        )
    };
}

/// Assembly: four differences or sums, written to column `$j` of the frequencies of tile `$tile`.
#[rustfmt::skip]
macro_rules! frequencies {
    ($tile:literal, $j:literal, $($i:literal: $op:literal $to:literal = $a:literal, $b:literal);+) => {
        concat!($(
            $op, " ", $to, ", ", $a, ", ", $b, "\n",
            "str ", $to, ", [r1, #(8 * (4 * ", $i, " + ", $j, ") + 4 * ", $tile, ")]\n",
        )+)
    };
}

/// Assembly: a tile, whose first two columns are in `a` and `b`. Columns `$c` and `$d` of the patch are its others. They are f0, a0, f2, f1 and f3, b0, a2, a1 then.
#[rustfmt::skip]
macro_rules! tile {
    (
        $ror:literal, $tile:literal, $c:literal, $d:literal,
        $a0:literal $a1:literal $a2:literal $a3:literal, $b0:literal $b1:literal $b2:literal $b3:literal,
        $f0:literal $f1:literal $f2:literal $f3:literal
    ) => {
        concat!(
            patch_column!($ror, $c, $f0 $f1 $f2 $f3),
            "ssub16 ", $f0, ", ", $f0, ", ", $f2, "\n",
            frequencies!($tile, 0, 0: "ssub16" $a0 = $a0, $f0),
            "sadd16 ", $a0, ", ", $f1, ", ", $f2, "\n",
            "ssub16 ", $f2, ", ", $f2, ", ", $f1, "\n",
            "ssub16 ", $f1, ", ", $f1, ", ", $f3, "\n",
            frequencies!($tile, 0, 1: "ssub16" $a1 = $a1, $a0; 2: "ssub16" $a2 = $a2, $f2; 3: "ssub16" $a3 = $a3, $f1),
            frequencies!($tile, 1, 0: "sadd16" $f3 = $b0, $f0; 1: "sadd16" $a1 = $b1, $a0; 2: "sadd16" $a2 = $b2, $f2; 3: "sadd16" $a3 = $b3, $f1),
            frequencies!($tile, 2, 0: "ssub16" $f3 = $f0, $b0; 1: "ssub16" $a1 = $a0, $b1; 2: "ssub16" $a2 = $f2, $b2; 3: "ssub16" $a3 = $f1, $b3),
            patch_column!($ror, $d, $f3 $a1 $a2 $a3),
            "ssub16 ", $f3, ", ", $f3, ", ", $a2, "\n",
            frequencies!($tile, 3, 0: "ssub16" $b0 = $b0, $f3),
            "sadd16 ", $b0, ", ", $a1, ", ", $a2, "\n",
            "ssub16 ", $a2, ", ", $a2, ", ", $a1, "\n",
            "ssub16 ", $a1, ", ", $a1, ", ", $a3, "\n",
            frequencies!($tile, 3, 1: "ssub16" $b1 = $b1, $b0; 2: "ssub16" $b2 = $b2, $a2; 3: "ssub16" $b3 = $b3, $a1),
        )
    };
}

/// Assembly: both tiles of two channels.
#[rustfmt::skip]
macro_rules! two_channels {
    ($ror:literal) => {
        concat!(
            transformed!($ror, 0, "r2" "r3" "r4" "r5", "lr"),
            transformed!($ror, 1, "r6" "r7" "r8" "r9", "lr"),
            tile!($ror, 0, 2, 3, "r2" "r3" "r4" "r5", "r6" "r7" "r8" "r9", "r10" "r11" "r12" "lr"),
            tile!($ror, 1, 4, 5, "r10" "r2" "r12" "r11", "lr" "r6" "r4" "r3", "r5" "r7" "r8" "r9"),
            "add r1, r1, #128\n",
        )
    };
}

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles.
#[inline(never)]
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let fours = (patch.len() / PATCH).min(v.len() / TRANSFORMED);
    if fours == 0 {
        return;
    }
    // SAFETY: it reads so many words of the patch, and writes those that they become. Both are in cells. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "push {{r2}}",
            "2:",
            two_channels!(""),
            two_channels!(", ror #8"),
            "ldr r2, [sp]",
            "add r0, r0, #96",
            "cmp r0, r2",
            "bne 2b",
            "add sp, sp, #4",
            "pop {{r6, r7}}",
            inout("r0") patch.as_ptr() => _,
            inout("r1") v.as_ptr() => _,
            inout("r2") patch.as_ptr().wrapping_add(PATCH * fours) => _,
            out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            // What four times r8 is from the sums behind the last pair of a frequency; from there to the first pair of the next one; the first pair of all, and the one behind their last.
            "add lr, r8, r12",
            "sub r10, r10, lr, lsl #2",
            "mov r11, r8",
            "sub r12, r12, #8",
            "push {{r10, r11, r12, lr}}",
            // A row of frequencies. The first pair makes the sums, the others add to them.
            "2:",
            pair_of_channels!("smuad", "128"),
            "ldr r12, [sp, #8]",
            "tst r12, #512",
            "beq 6f",
            "b 4f",
            // Eight pairs, or four, which are half a turn.
            "3:",
            pair_of_channels!("smlad", "128"),
            "4:",
            ".rept 3",
            pair_of_channels!("smlad", "128"),
            ".endr",
            "5:",
            pair_of_channels!("smlad", "128"),
            "6:",
            ".rept 3",
            pair_of_channels!("smlad", "128"),
            ".endr",
            "ldr lr, [sp, #12]",
            "cmp r8, lr",
            "blo 3b",
            // The next frequency.
            "ldm sp, {{r10, r11, r12}}",
            "add r10, r10, r8, lsl #2",
            "stm r10, {{r0, r1, r2, r3, r4, r5, r6, r7}}",
            "sub r8, r8, r12",
            "sub r11, r8, r11",
            "tst r11, #31",
            "beq 7f",
            "tst r12, #512",
            "bne 3b",
            "b 5b",
            "7:",
            "cmp r11, #128",
            "bne 2b",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            inout("r8") v => _,
            inout("r9") u => _,
            inout("r10") m => _,
            inout("r12") 128 * pairs => _,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r11") _, out("lr") _,
        )
    }
}

/// Assembly: of two rows of sums from `$row` on, those of results' columns: of the left one in `$p` and `$q`, of the right one in `$m` and `$n`.
#[rustfmt::skip]
macro_rules! two_rows {
    ($tile:literal, $row:literal, $p:literal $m:literal, $q:literal $n:literal) => {
        concat!(
            ".set kiln_row, 128 * ", $row, " + 16 * ", $tile, "\n",
            "ldr ", $p, ", [r0, #(kiln_row + 64)]\n",
            "ldr ", $m, ", [r0, #(kiln_row + 32)]\n",
            "ldr r10, [r0, #kiln_row]\n",
            "ldr r11, [r0, #(kiln_row + 96)]\n",
            "ldr ", $q, ", [r0, #(kiln_row + 192)]\n",
            "ldr ", $n, ", [r0, #(kiln_row + 160)]\n",
            "ldr r12, [r0, #(kiln_row + 128)]\n",
            "ldr lr, [r0, #(kiln_row + 224)]\n",
            "rsb ", $m, ", r10, ", $m, ", lsl #1\n",
            "sub ", $m, ", ", $m, ", r11\n",
            "rsb ", $n, ", r12, ", $n, ", lsl #1\n",
            "sub ", $n, ", ", $n, ", lr\n",
        )
    };
}

/// Assembly: four rows of a column become a result of the upper row, in `$a`, and one of the lower row, in `$b`.
#[rustfmt::skip]
macro_rules! results {
    ($a:literal $b:literal $c:literal $d:literal) => {
        concat!(
            "add ", $a, ", ", $a, ", ", $b, "\n",
            "sub ", $b, ", ", $b, ", ", $c, "\n",
            "add ", $a, ", ", $a, ", ", $c, "\n",
            "sub ", $b, ", ", $b, ", ", $d, "\n",
        )
    };
}

/// Assembly: a quarter of four times the sums, and the first value.
#[rustfmt::skip]
macro_rules! quarters {
    ($($sum:literal)+) => { concat!($("add ", $sum, ", r4, ", $sum, ", asr #2\n",)+) };
}

/// Assembly: the results of a filter for the four pixels of a tile.
///
/// r0 is the filter's first sum, r1 its first value. On the stack are the pixels, the number of the filter, and its factor and constant. The first pixel comes last: what pixels that there are not
/// have written there is overwritten.
#[rustfmt::skip]
macro_rules! four_pixels {
    ($tile:literal) => {
        concat!(
            two_rows!($tile, 0, "r2" "r6", "r3" "r7"),
            two_rows!($tile, 2, "r4" "r8", "r5" "r9"),
            results!("r2" "r3" "r4" "r5"),
            results!("r6" "r7" "r8" "r9"),
            "ldr r8, [sp, #8]\n",
            "ldr r4, [r1]\n",
            ".if {signed}\n",
            "ldr r5, [r1, #16]\n",
            ".endif\n",
            "ldr r9, [r8]\n",
            "ldr r8, [r8, #4]\n",
            quarters!("r2" "r3" "r6" "r7"),
            ".if {signed}\n",
            corrected!(even "r2" by "r5" in "r10", even "r3" by "r5" in "r11", even "r6" by "r5" in "r12", even "r7" by "r5" in "lr"),
            ".endif\n",
            "smmlar r2, r2, r9, r8\n",
            "smmlar r3, r3, r9, r8\n",
            "smmlar r6, r6, r9, r8\n",
            "smmlar r7, r7, r9, r8\n",
            saturated!("{shift}": "r2" "r3" "r6" "r7"),
            "ldr r10, [sp]\n",
            "ldr r11, [sp, #4]\n",
            "ldr r12, [r10, #(16 * ", $tile, " + 12)]\n",
            "ldr r8, [r10, #(16 * ", $tile, " + 8)]\n",
            "ldr r5, [r10, #(16 * ", $tile, " + 4)]\n",
            "ldr r4, [r10, #(16 * ", $tile, ")]\n",
            "strb r7, [r12, r11]\n",
            "strb r3, [r8, r11]\n",
            "strb r6, [r5, r11]\n",
            "strb r2, [r4, r11]\n",
        )
    };
}

/// What the assembly of results is told, for so many results along a side of a tile: the addresses of pixels, the first filter, the addresses of its factor and of the end of first values, of its sums
/// and of its first value. There is a filter, there are sums of all tiles, and constants of four filters. `None` where these are missing.
#[inline(always)]
pub(super) fn registers<const SIDE: usize, const PIXELS: usize, const SIGNED: bool>(
    sums: &Sums<'_, PIXELS>,
    words: &[i32],
) -> Option<[usize; 6]> {
    let (first, filters) = sums.filters::<SIDE>()?;
    let factors = words.get(if SIGNED { 2 * FILTERS } else { FILTERS }..)?;
    let registers = [
        sums.places.pixels.as_ptr() as usize,
        first,
        factors.as_ptr() as usize,
        words.as_ptr().wrapping_add(filters) as usize,
        sums.m.as_ptr() as usize,
        words.as_ptr() as usize,
    ];
    (factors.len() >= 2 * FILTERS).then_some(registers)
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles, of the sums that [`products`] writes.
#[inline(always)]
pub(crate) fn finish<const SHIFT: u32, const SIGNED: bool>(
    _: &Fitted<SHIFT, SIGNED>,
    sums: &Sums<'_, 8>,
    words: &[i32],
) -> Option<()> {
    let registers = registers::<2, 8, SIGNED>(sums, words)?;
    // SAFETY: there are sums of two tiles, constants of four filters, and pixels of both tiles that have channels of these filters.
    unsafe { block::<SHIFT, SIGNED>(&registers) };
    Some(())
}

/// The assembly of [`finish`].
///
/// # Safety
/// As [`registers`] has them.
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller says. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            first_filter!(),
            "2:",
            four_pixels!("1"),
            four_pixels!("0"),
            next_filter!(),
            signed = const { SIGNED as usize },
            shift = const { if SIGNED { SHIFT.saturating_add(8) } else { SHIFT } },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
