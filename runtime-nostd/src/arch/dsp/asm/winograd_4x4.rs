//! Tiles of 4 × 4 results of Winograd's algorithm in assembly: their transformation, their products, and results of their sums.
//!
//! Of a transformed tile, the first three rows of frequencies of all pairs of channels come first, then the others: a load steps from pair to pair by no more than 255 bytes.

use super::winograd::registers;
use crate::arch::dsp::winograd::{Fitted, HALF, PATCH_4X4};
use crate::arch::winograd::{Sums, NINTH};
use core::arch::asm;
use core::cell::Cell;

/// Assembly: six frequencies from as many elements, of two channels. `$to` writes each with its number as soon as it is known. `$x3`, `$x4` and `$x5` are kept.
#[rustfmt::skip]
macro_rules! frequencies {
    (
        $x0:literal $x1:literal $x2:literal $x3:literal $x4:literal $x5:literal,
        $a:literal $b:literal $free:literal: $to:ident $of:literal
    ) => {
        concat!(
            "ssub16 ", $a, ", ", $x4, ", ", $x2, "\n",
            "ssub16 ", $b, ", ", $x3, ", ", $x1, "\n",
            "sadd16 ", $b, ", ", $b, ", ", $b, "\n",
            "sadd16 ", $free, ", ", $a, ", ", $b, "\n",
            $to!($free, 3, $of),
            "ssub16 ", $free, ", ", $a, ", ", $b, "\n",
            $to!($free, 4, $of),
            "ssub16 ", $x0, ", ", $x0, ", ", $x2, "\n",
            "sadd16 ", $x0, ", ", $x0, ", ", $x0, "\n",
            "sadd16 ", $x0, ", ", $x0, ", ", $x0, "\n",
            "sadd16 ", $x0, ", ", $x0, ", ", $a, "\n",
            $to!($x0, 0, $of),
            "sadd16 ", $b, ", ", $b, ", ", $b, "\n",
            "ssub16 ", $free, ", ", $x5, ", ", $x3, "\n",
            "ssub16 ", $free, ", ", $free, ", ", $b, "\n",
            $to!($free, 5, $of),
            "sadd16 ", $x2, ", ", $x2, ", ", $x2, "\n",
            "sadd16 ", $x2, ", ", $x2, ", ", $x2, "\n",
            "ssub16 ", $a, ", ", $x4, ", ", $x2, "\n",
            "sadd16 ", $x1, ", ", $x1, ", ", $x1, "\n",
            "sadd16 ", $x1, ", ", $x1, ", ", $x1, "\n",
            "ssub16 ", $b, ", ", $x3, ", ", $x1, "\n",
            "sadd16 ", $free, ", ", $a, ", ", $b, "\n",
            $to!($free, 1, $of),
            "ssub16 ", $free, ", ", $a, ", ", $b, "\n",
            $to!($free, 2, $of),
        )
    };
}

/// Assembly: writes an element of a column to a row of frequencies. r1 is the column's place in the first row, r2 in the fourth one. [`frequencies`] writes them in the order 3, 4, 0, 5, 1, 2:
/// the first one moves r2 on to the next column, the last one r1.
macro_rules! to_row {
    ($x:literal, 0, $of:literal) => {
        concat!("str ", $x, ", [r1]\n")
    };
    ($x:literal, 1, $of:literal) => {
        concat!("str ", $x, ", [r1, #48]\n")
    };
    ($x:literal, 2, $of:literal) => {
        concat!("str ", $x, ", [r1, #96]\n", "add r1, r1, #4\n")
    };
    ($x:literal, 3, $of:literal) => {
        concat!("str ", $x, ", [r2], #4\n")
    };
    ($x:literal, 4, $of:literal) => {
        concat!("str ", $x, ", [r2, #44]\n")
    };
    ($x:literal, 5, $of:literal) => {
        concat!("str ", $x, ", [r2, #92]\n")
    };
}

/// Assembly: writes a frequency of tile `$tile` to its row at r1.
macro_rules! to_frequency {
    ($x:literal, $j:literal, $tile:literal) => {
        concat!("str ", $x, ", [r1, #(8 * ", $j, " + 4 * ", $tile, ")]\n")
    };
}

/// Assembly: the ten columns of the patch, of the two channels that a rotation of its words selects. r1 and r2 are moved on to the next pair of channels.
#[rustfmt::skip]
macro_rules! columns {
    ($ror:literal) => {
        concat!(
            "add r7, r0, #40\n",
            "3:\n",
            columns!(@ load "1" "r4", "2" "r5", "3" "r8", "4" "r9", "5" "r10"),
            "ldr r3, [r0], #4\n",
            columns!(@ unpack $ror, "r4" "r5" "r8" "r9" "r10" "r3"),
            frequencies!("r3" "r4" "r5" "r8" "r9" "r10", "r11" "r12" "lr": to_row ""),
            "cmp r0, r7\n",
            "bne 3b\n",
            "sub r0, r0, #40\n",
            "add r1, r1, #104\n",
            "add r2, r2, #104\n",
        )
    };
    (@ load $($row:literal $x:literal),+) => { concat!($("ldr ", $x, ", [r0, #(40 * ", $row, ")]\n",)+) };
    (@ unpack $ror:literal, $($x:literal)+) => { concat!($("sxtb16 ", $x, ", ", $x, $ror, "\n",)+) };
}

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles.
///
/// Columns first: each row of frequencies has ten of them then, in the place of its twelve words.
#[inline(never)]
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let fours = (patch.len() / PATCH_4X4).min(v.len() / (4 * HALF));
    if fours == 0 {
        return;
    }
    // SAFETY: it reads so many words of the patch, and writes those that they become. Both are in cells. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "push {{r6, r7}}",
            "push {{r0, r1, r2, r3}}",
            "2:",
            columns!(""),
            columns!(", ror #8"),
            // The rows of both pairs of channels: half of them behind each other, and the other half.
            "add r0, r0, #240",
            "stm sp, {{r0, r1, r2}}",
            "sub r1, r1, #288",
            "4:",
            ".rept 2",
            "ldm r1, {{r3, r4, r5, r6, r7, r8, r9, r10, r11, r12}}",
            frequencies!("r3" "r4" "r5" "r6" "r7" "r8", "r0" "r2" "lr": to_frequency 0),
            frequencies!("r7" "r8" "r9" "r10" "r11" "r12", "r0" "r2" "lr": to_frequency 1),
            "add r1, r1, #48",
            ".endr",
            "ldr r0, [sp, #4]",
            "ldr r2, [sp, #8]",
            "cmp r1, r0",
            "it eq",
            "subeq r1, r2, #288",
            "beq 4b",
            "cmp r1, r2",
            "bne 4b",
            "ldm sp, {{r0, r1, r2, r3}}",
            "cmp r0, r3",
            "bne 2b",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            inout("r0") patch.as_ptr() => _,
            inout("r1") v.as_ptr() => _,
            inout("r2") v.as_ptr().wrapping_add(v.len() / 2) => _,
            inout("r3") patch.as_ptr().wrapping_add(PATCH_4X4 * fours) => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _,
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
            // Where the next sums are written, and where all of them end; bytes of half of the frequencies, and their end.
            "add r11, r10, #(36 * 32)",
            "add lr, r8, r12",
            "push {{r10, r11, r12, lr}}",
            // A frequency: four pairs, and what is left of them in eights, of which the first one may be half a turn.
            "2:",
            pair_of_channels!("smuad", "144"),
            ".rept 3",
            pair_of_channels!("smlad", "144"),
            ".endr",
            "ldr lr, [sp, #12]",
            "cmp r8, lr",
            "bhs 5f",
            "ldr r12, [sp, #8]",
            "tst r12, #64",
            "beq 4f",
            "3:",
            ".rept 4",
            pair_of_channels!("smlad", "144"),
            ".endr",
            "4:",
            ".rept 4",
            pair_of_channels!("smlad", "144"),
            ".endr",
            "ldr lr, [sp, #12]",
            "cmp r8, lr",
            "blo 3b",
            // The next one, of which there are 18 in each half.
            "5:",
            "ldm sp, {{r10, r11, r12}}",
            "stm r10!, {{r0, r1, r2, r3, r4, r5, r6, r7}}",
            "str r10, [sp]",
            "sub r0, r8, lr",
            "sub r8, r8, r12",
            "add r8, r8, #8",
            "cmp r0, #(17 * 8)",
            "bne 2b",
            "mov r8, lr",
            "add lr, lr, r12",
            "str lr, [sp, #12]",
            "cmp r10, r11",
            "bne 2b",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            inout("r8") v => _,
            inout("r9") u => _,
            inout("r10") m => _,
            inout("r12") 4 * HALF * pairs => _,
            out("r0") _, out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r11") _, out("lr") _,
        )
    }
}

/// Assembly: six sums, `$bytes` apart from r0 on, become four: in r2 the first one, in r12 half of the second one, in r11 and r9 quarters of the others.
#[rustfmt::skip]
macro_rules! four_of_six {
    ($bytes:literal) => {
        concat!(
            four_of_six!(@ $bytes, "0" "r2", "1" "r3", "2" "r4", "3" "r5", "4" "r8", "5" "r9"),
            "add r10, r3, r4\n",
            "sub r3, r3, r4\n",
            "add r11, r5, r8\n",
            "sub r5, r5, r8\n",
            "add r2, r2, r11\n",
            "sub r2, r2, r10, lsl #2\n",
            "sub r12, r5, r3, lsl #1\n",
            "sub r11, r11, r10\n",
            "add r9, r9, r5, lsl #1\n",
            "sub r9, r9, r3\n",
        )
    };
    (@ $bytes:literal, $($of:literal $m:literal),+) => {
        concat!($("ldr ", $m, ", [r0, #(", $bytes, " * ", $of, ")]\n",)+)
    };
}

/// Of all columns, tiles and filters, six sums become four, in place of the first four.
#[inline(never)]
fn columns_of_sums(m: &[Cell<i32>; 288]) {
    // SAFETY: it reads and writes these words, which are in cells. Every register is declared.
    unsafe {
        asm!(
            "2:",
            ".rept 2",
            four_of_six!("192"),
            "str r12, [r0, #192]",
            "str r11, [r0, #384]",
            "str r9, [r0, #576]",
            "str r2, [r0], #4",
            ".endr",
            "cmp r0, r1",
            "bne 2b",
            inout("r0") m.as_ptr() => _,
            in("r1") m.as_ptr().wrapping_add(48),
            out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _,
            out("r11") _, out("r12") _,
        )
    }
}

/// Assembly: the results of a row, whose sums are at r0 and divided by two as often as `$halved` says. r1 is the first value, r6 [`NINTH`], r7 the pixels of the tile. On the stack are the number of the filter,
/// and its factor and constant.
#[rustfmt::skip]
macro_rules! row_of_results {
    ($row:literal, $halved:literal) => {
        concat!(
            four_of_six!("32"),
            "ldr r4, [r1]\n",
            "mul r2, r2, r6\n",
            "mul r12, r12, r6\n",
            "mul r11, r11, r6\n",
            "mul r9, r9, r6\n",
            ".if {signed}\n",
            "ldr r5, [r1, #16]\n",
            ".endif\n",
            "ldr r8, [sp, #8]\n",
            "add r2, r4, r2, asr #(6 - ", $halved, ")\n",
            "add r12, r4, r12, asr #(5 - ", $halved, ")\n",
            "add r11, r4, r11, asr #(4 - ", $halved, ")\n",
            "add r9, r4, r9, asr #(4 - ", $halved, ")\n",
            ".if {signed}\n",
            corrected!(even "r2" by "r5" in "r10", even "r12" by "r5" in "r4", even "r11" by "r5" in "r3", even "r9" by "r5" in "lr"),
            ".endif\n",
            "ldr r10, [r8]\n",
            "ldr r8, [r8, #4]\n",
            "smmlar r2, r2, r10, r8\n",
            "smmlar r12, r12, r10, r8\n",
            "smmlar r11, r11, r10, r8\n",
            "smmlar r9, r9, r10, r8\n",
            saturated!("{shift}": "r2" "r12" "r11" "r9"),
            "ldr r5, [sp, #4]\n",
            "ldr r3, [r7, #(16 * ", $row, " + 12)]\n",
            "ldr r4, [r7, #(16 * ", $row, " + 8)]\n",
            "ldr r8, [r7, #(16 * ", $row, " + 4)]\n",
            "ldr r10, [r7, #(16 * ", $row, ")]\n",
            "strb r9, [r3, r5]\n",
            "strb r11, [r4, r5]\n",
            "strb r12, [r8, r5]\n",
            "strb r2, [r10, r5]\n",
        )
    };
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles, of the sums that [`products`] writes.
#[inline(always)]
pub(crate) fn finish<const SHIFT: u32, const SIGNED: bool>(
    _: &Fitted<SHIFT, SIGNED>,
    sums: &Sums<'_, 32>,
    words: &[i32],
) -> Option<()> {
    let registers = registers::<4, 32, SIGNED>(sums, words)?;
    columns_of_sums(sums.m.first_chunk()?);
    // SAFETY: there are sums of two tiles, constants of four filters, and pixels of both tiles that have channels of these filters.
    unsafe { block::<SHIFT, SIGNED>(&registers) };
    Some(())
}

/// The assembly of [`finish`]: of each filter the second tile and the first one, and of each tile rows from below. The first pixel comes last: what pixels that there are not have written there is
/// overwritten.
///
/// # Safety
/// As [`registers`] has them.
#[inline(never)]
unsafe fn block<const SHIFT: u32, const SIGNED: bool>(registers: &[usize; 6]) {
    // SAFETY: as the caller says. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            first_filter!(),
            "movw r6, #({ninth} & 0xffff)",
            "movt r6, #({ninth} >> 16)",
            "2:",
            "ldr r7, [sp]",
            "add r7, r7, #64",
            "add r0, r0, #(16 + 3 * 192)",
            "3:",
            row_of_results!("3", "2"),
            "sub r0, r0, #192",
            row_of_results!("2", "2"),
            "sub r0, r0, #192",
            row_of_results!("1", "1"),
            "sub r0, r0, #192",
            row_of_results!("0", "0"),
            "ldr r2, [sp]",
            "cmp r7, r2",
            "itt ne",
            "addne r0, r0, #(3 * 192 - 16)",
            "movne r7, r2",
            "bne 3b",
            next_filter!(),
            ninth = const NINTH,
            signed = const { SIGNED as usize },
            shift = const { if SIGNED { SHIFT.saturating_add(8) } else { SHIFT } },
            inout("r0") registers.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("r12") _, out("lr") _,
        )
    }
}
