//! Tiles of Winograd's algorithm in assembly: their transformation, their products, and results of their sums.
//!
//! A channel of two tiles and four filters takes 30 cycles for eight products: one instruction for each, one for its sum, and two for its weight, of which two lie in a word.

use crate::arch::winograd::{Sums, FILTERS};
use crate::kernels::HalfRequant;
use core::arch::asm;
use core::cell::Cell;

/// Words of four channels of a patch, and of a transformed one.
const PATCH: usize = 24;
const TRANSFORMED: usize = 128;

/// Assembly: a column of the patch, of two channels each word, transformed. r1 is 0 or 8, for channels 0 and 2, or 1 and 3.
#[rustfmt::skip]
macro_rules! patch_column {
    ($column:literal) => {
        concat!(
            "ldr r2, [r0, #4*", $column, "]\n",
            "ldr r3, [r0, #24+4*", $column, "]\n",
            "ldr r4, [r0, #48+4*", $column, "]\n",
            "ldr r5, [r0, #72+4*", $column, "]\n",
            patch_column!(@ "r2" "r3" "r4" "r5"),
            "subs r2, r2, r4\n",
            "str r2, [sp, #4*", $column, "]\n",
            "adds r2, r3, r4\n",
            "str r2, [sp, #24+4*", $column, "]\n",
            "subs r4, r4, r3\n",
            "str r4, [sp, #48+4*", $column, "]\n",
            "subs r3, r3, r5\n",
            "str r3, [sp, #72+4*", $column, "]\n",
        )
    };
    // Elements and 128, as halves.
    (@ $($word:literal)+) => {
        concat!($("lsrs ", $word, ", r1\n", "ands ", $word, ", r7\n", "eors ", $word, ", r6\n",)+)
    };
}

/// Assembly: a frequency of both channels and tiles, whose halves are in r6 and r7.
#[rustfmt::skip]
macro_rules! frequency {
    () => {
        "
        sxth r4, r6
        sxth r5, r7
        subs r6, r6, r4
        subs r7, r7, r5
        asrs r6, r6, #16
        asrs r7, r7, #16
        stm r1!, {{r4, r5, r6, r7}}
        add r1, r9
        "
    };
}

/// Assembly: a row of frequencies. `$lifted` is what has to be done to the second one.
#[rustfmt::skip]
macro_rules! row {
    ($row:literal, $lifted:literal) => {
        concat!(
            "ldr r0, [sp, #24*", $row, "]\n",
            "ldr r2, [sp, #24*", $row, "+8]\n",
            "ldr r3, [sp, #24*", $row, "+16]\n",
            "subs r6, r0, r2\n",
            "subs r7, r2, r3\n",
            frequency!(),
            "ldr r0, [sp, #24*", $row, "+4]\n",
            "ldr r4, [sp, #24*", $row, "+12]\n",
            "adds r6, r0, r2\n",
            "adds r7, r4, r3\n",
            $lifted,
            frequency!(),
            "subs r6, r2, r0\n",
            "ldr r2, [sp, #24*", $row, "+12]\n",
            "subs r7, r3, r2\n",
            frequency!(),
            "ldr r3, [sp, #24*", $row, "+20]\n",
            "subs r6, r0, r2\n",
            "subs r7, r2, r3\n",
            frequency!(),
        )
    };
}

/// As [`Processor::transform`](crate::arch::winograd::Processor::transform), for two tiles: a word for each frequency, channel and tile.
///
/// Two channels share a word on the way, 128 more than they are. That only counts in the one frequency that is a sum of four elements.
#[inline(never)]
pub(crate) fn transform(patch: &[Cell<i32>], v: &[Cell<i32>]) {
    let fours = patch.len() / PATCH;
    if fours == 0 || v.len() < TRANSFORMED * fours {
        return;
    }
    // SAFETY: it reads so many words of the patch, and writes those that they become: `frequency` has been compared. Both are in cells. Every register is declared, or saved and restored; the stack has
    // its pointer back at the end.
    unsafe {
        asm!(
            "
            push {{r6, r7}}
            sub sp, #104
            str r2, [sp, #96]
            mov r9, r3
            2:
            mov r8, r0
            mov r10, r1
            movs r1, #0
            3:
            mov r0, r8
            ldr r7, =0x00ff00ff
            ldr r6, =0x00800080
            ",
            patch_column!("0"),
            patch_column!("1"),
            patch_column!("2"),
            patch_column!("3"),
            patch_column!("4"),
            patch_column!("5"),
            "
            str r1, [sp, #100]
            mov r1, r10
            ",
            row!("0", ""),
            row!("1", "ldr r5, =0x02000200\nsubs r6, r6, r5\nsubs r7, r7, r5\n"),
            row!("2", ""),
            row!("3", ""),
            "
            mov r1, r10
            adds r1, r1, #16
            mov r10, r1
            ldr r1, [sp, #100]
            adds r1, r1, #8
            cmp r1, #8
            bne 4f
            b 3b
            4:
            mov r1, r10
            mov r0, r8
            adds r0, r0, #96
            ldr r2, [sp, #96]
            cmp r0, r2
            beq 5f
            b 2b
            .pool
            5:
            add sp, #104
            pop {{r6, r7}}
            ",
            inout("r0") patch.as_ptr() => _,
            inout("r1") v.as_ptr() => _,
            inout("r2") patch.as_ptr().wrapping_add(PATCH * fours) => _,
            // From the last word of a frequency that two channels have to the first one of the next frequency.
            inout("r3") 32 * fours - 16 => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _,
        )
    }
}

/// Assembly: products of a channel. r0 and r1 are its elements in both tiles.
#[rustfmt::skip]
macro_rules! two_tiles {
    () => {
        "
        ldm r3!, {{r0, r1}}
        ldm r2!, {{r4}}
        sxth r5, r4
        muls r5, r0, r5
        add r8, r5
        sxth r5, r4
        muls r5, r1, r5
        add r11, r5
        asrs r5, r4, #16
        muls r5, r0, r5
        add r9, r5
        asrs r4, r4, #16
        muls r4, r1, r4
        add r12, r4
        ldm r2!, {{r4}}
        sxth r5, r4
        muls r5, r0, r5
        add r10, r5
        sxth r5, r4
        muls r5, r1, r5
        add lr, r5
        asrs r4, r4, #16
        muls r0, r4, r0
        adds r6, r6, r0
        muls r1, r4, r1
        adds r7, r7, r1
        "
    };
}

/// As [`Processor::products`](crate::arch::winograd::Processor::products), for two tiles. `u` has halves for each frequency, channel and filter.
///
/// # Safety
/// As there.
#[inline(never)]
pub(crate) unsafe fn products(v: *const i32, u: *const i32, pairs: usize, m: *mut i32) {
    // SAFETY: as the caller says. Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            "
            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            lsls r4, r1, #4
            adds r4, r4, r3
            push {{r0, r1, r3, r4}}
            // A frequency: where it ends.
            2:
            ldr r0, [sp, #8]
            ldr r1, [sp, #4]
            adds r0, r0, r1
            str r0, [sp, #8]
            movs r6, #0
            movs r7, #0
            mov r8, r6
            mov r9, r6
            mov r10, r6
            mov r11, r6
            mov r12, r6
            mov lr, r6
            3:
            .rept 8
            ",
            two_tiles!(),
            "
            .endr
            ldr r0, [sp, #8]
            cmp r3, r0
            beq 4f
            b 3b
            4:
            ldr r0, [sp, #0]
            mov r1, r8
            mov r4, r9
            mov r5, r10
            stm r0!, {{r1, r4, r5, r6}}
            mov r1, r11
            mov r4, r12
            mov r5, lr
            stm r0!, {{r1, r4, r5, r7}}
            str r0, [sp, #0]
            ldr r0, [sp, #12]
            cmp r3, r0
            beq 5f
            b 2b
            5:
            add sp, #16
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            ",
            inout("r0") m => _,
            // Bytes of a frequency.
            inout("r1") 16 * pairs => _,
            inout("r2") u => _,
            inout("r3") v => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        )
    }
}

/// What the code of results reads, in the order in which it moves it to its stack.
#[repr(C)]
struct Parameters {
    /// The sums of the next filter for the first tile.
    m: *const Cell<i32>,
    /// The constants of the next filter.
    channel: *const i32,
    /// Filters that are left.
    left: usize,
    /// The first value of the next filter.
    first: *const i32,
    span: i32,
    hi: i32,
    shift: u32,
    /// Bytes of a filter's constants.
    bytes: usize,
    pixels: *const *const Cell<i8>,
    filter: usize,
}

/// Assembly: a row of sums; of its first four, results of the upper row have the sum in `$l` of the left and `$r` of the right column. `$t` is changed.
#[rustfmt::skip]
macro_rules! sums_row {
    ($l:literal $r:literal, $t:literal) => {
        concat!(
            "ldr ", $l, ", [r0, #0]\n",
            "ldr ", $r, ", [r0, #32]\n",
            "adds ", $l, ", ", $l, ", ", $r, "\n",
            "ldr ", $t, ", [r0, #64]\n",
            "adds ", $l, ", ", $l, ", ", $t, "\n",
            "subs ", $r, ", ", $r, ", ", $t, "\n",
            "ldr ", $t, ", [r0, #96]\n",
            "subs ", $r, ", ", $r, ", ", $t, "\n",
            "adds r0, r0, #128\n",
        )
    };
}

/// Assembly: the results of all four pixels, by the macro for one.
macro_rules! four_pixels {
    ($result:literal) => {
        concat!(
            $result,
            " 12\n",
            "mov r4, r10\n",
            $result,
            " 8\n",
            "mov r4, r9\n",
            $result,
            " 4\n",
            "mov r4, r8\n",
            $result,
            " 0\n",
        )
    };
}

/// As [`Places::finish`](crate::arch::winograd::Places::finish), for two tiles.
#[inline(never)]
pub(crate) fn finish(q: &HalfRequant<'_>, sums: &Sums<'_, 8>, words: &[i32]) -> Option<()> {
    let (filter, left) = sums.filters::<2>()?;
    let channels = q.channels_from(filter, left)?;
    let parameters = Parameters {
        m: sums.m.as_ptr(),
        channel: channels.as_ptr(),
        left,
        first: words.get(..FILTERS)?.as_ptr(),
        span: q.hi.wrapping_sub(q.lo),
        hi: q.hi,
        shift: q.shift,
        bytes: 4 * q.words,
        pixels: sums.places.pixels.as_ptr(),
        filter,
    };
    // SAFETY: there are sums of two tiles, at most four filters (`FILTERS`), as many first values, and constants of all of them, three or five words each (`channels_from`). There are pixels of both
    // tiles that have channels of these filters (`Sums::filters`). The first pixel comes last: what pixels that there are not have written there is overwritten.
    // Every register is declared, or saved and restored; the stack has its pointer back at the end.
    unsafe {
        asm!(
            requantised!("#16", "#20"),
            "
            .macro kiln_pixel at
            kiln_requantised
            mov r6, r11
            add r6, lr
            ldr r6, [r6, #\\at]
            mov r4, r12
            strb r5, [r6, r4]
            .endm
            .macro kiln_signed_pixel at
            ldr r5, [r0, #0]
            ldr r2, [r0, #12]
            cmp r4, r5
            bge 3f
            ldr r2, [r0, #4]
            3:
            kiln_pixel \\at
            .endm
            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            ldr r1, [r0, #28]
            ldr r2, [r0, #32]
            ldr r3, [r0, #36]
            mov r11, r2
            mov r12, r3
            push {{r1}}
            ldm r0!, {{r1, r2, r3, r4, r5, r6, r7}}
            push {{r1, r2, r3, r4, r5, r6, r7}}
            // A filter; a tile, of which lr are the bytes of sums and pixels.
            1:
            movs r1, #16
            mov lr, r1
            2:
            ldr r0, [sp, #0]
            add r0, lr
            ",
            sums_row!("r4" "r5", "r3"),
            sums_row!("r6" "r7", "r3"),
            "
            adds r4, r4, r6
            adds r5, r5, r7
            ",
            sums_row!("r1" "r2", "r3"),
            "
            adds r4, r4, r1
            adds r5, r5, r2
            subs r6, r6, r1
            subs r7, r7, r2
            ",
            sums_row!("r1" "r2", "r3"),
            "
            subs r6, r6, r1
            subs r7, r7, r2
            ldr r1, [sp, #12]
            ldr r1, [r1]
            asrs r4, r4, #2
            asrs r5, r5, #2
            asrs r6, r6, #2
            asrs r7, r7, #2
            adds r4, r4, r1
            adds r5, r5, r1
            adds r6, r6, r1
            mov r8, r4
            mov r9, r5
            mov r10, r6
            adds r4, r7, r1
            ldr r0, [sp, #4]
            ldr r7, [sp, #24]
            ldr r1, [sp, #28]
            cmp r1, #12
            beq 5f
            b 6f
            5:
            ldm r0!, {{r1, r2, r3}}
            ",
            four_pixels!("kiln_pixel"),
            "
            b 7f
            6:
            ldr r1, [r0, #8]
            ldr r3, [r0, #16]
            ",
            four_pixels!("kiln_signed_pixel"),
            "
            7:
            mov r0, lr
            subs r0, r0, #16
            mov lr, r0
            bmi 8f
            b 2b
            8:
            ldr r0, [sp, #0]
            adds r0, r0, #4
            str r0, [sp, #0]
            ldr r0, [sp, #4]
            ldr r1, [sp, #28]
            adds r0, r0, r1
            str r0, [sp, #4]
            ldr r0, [sp, #12]
            adds r0, r0, #4
            str r0, [sp, #12]
            movs r0, #1
            add r12, r0
            ldr r0, [sp, #8]
            subs r0, r0, #1
            str r0, [sp, #8]
            beq 9f
            b 1b
            9:
            add sp, #32
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_requantised
            .purgem kiln_pixel
            .purgem kiln_signed_pixel
            ",
            inout("r0") &parameters => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        )
    }
    Some(())
}
