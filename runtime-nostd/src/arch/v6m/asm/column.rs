//! Depthwise convolution with filters of one column, in assembly.
//!
//! A tap of three rows takes 14 cycles for three products. The elements of three rows are in r5, r6 and r7, whose turns are three taps.

use crate::arch::v6m::column::{Part, ROWS};
use core::arch::asm;
use core::cell::Cell;
use core::marker::PhantomData;

/// Where the elements of a row are.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Row<'a> {
    first: *const Cell<i8>,
    of: PhantomData<&'a [Cell<i8>]>,
}

impl<'a> Row<'a> {
    pub(crate) const NONE: Self = Row { first: core::ptr::null(), of: PhantomData };

    pub(crate) fn new(elements: &'a [Cell<i8>]) -> Self {
        Row { first: elements.as_ptr(), of: PhantomData }
    }
}

/// Assembly: a tap of rows whose elements are in these registers, of which the last one is loaded.
#[rustfmt::skip]
macro_rules! tap {
    ($a:literal, $b:literal, $c:literal) => {
        concat!(
            "ldm r0!, {{r4}}\n",
            "ldrsb ", $c, ", [r4, r1]\n",
            "ldm r2!, {{r3}}\n",
            "mov r4, r3\n",
            "muls r4, ", $a, ", r4\n",
            "add r8, r4\n",
            "mov r4, r3\n",
            "muls r4, ", $b, ", r4\n",
            "add r9, r4\n",
            "muls r3, ", $c, ", r3\n",
            "add r10, r3\n",
        )
    };
}

/// Assembly: the results of three rows, by the macro for one, the first one last.
macro_rules! three_rows {
    ($result:literal) => {
        concat!(
            "mov r4, r10\n",
            $result,
            " 5\n",
            "mov r4, r9\n",
            $result,
            " 4\n",
            "mov r4, r8\n",
            $result,
            " 3\n",
        )
    };
}

/// Results of all rows. The first one comes last: what rows that there are not have written there is overwritten.
#[inline(never)]
pub(crate) fn sums(part: &Part<'_>) {
    let Some(taps) = part.taps() else { return };
    // The code for a tap, from that of the first one on: the loop begins where its third tap is the last one.
    let entry = match taps % 3 {
        0 => 12,
        1 => 0,
        _ => 6,
    };
    let [a, b, c] = part.out.map(|out| out.as_ptr() as usize);
    // The first ten go to the stack of the assembly, then follow the end of the rows, the constants of the next channel, and the entry.
    let parameters: [usize; 13] = [
        part.count,
        part.q.hi.wrapping_sub(part.q.lo) as usize,
        part.q.hi as usize,
        a,
        b,
        c,
        part.q.shift as usize,
        part.rows.as_ptr() as usize,
        // Of signed layers, the constant of steps that are not below the zero point.
        0,
        part.q.words,
        part.rows.as_ptr_range().end as usize,
        part.channels.as_ptr() as usize,
        entry,
    ];
    const { assert!(ROWS == 3) };
    // SAFETY: each of the rows has `count` elements: the kernel made them so. There are as many results of each row, weights of as many filters, and constants, four or six words each (`Part::taps`). What is written are cells. r6, r7, r11 and the stack are restored.
    unsafe {
        asm!(
            requantised!("#4*1", "#4*2"),
            "
            .macro kiln_row slot
            kiln_requantised
            ldr r6, [sp, #4*\\slot]
            mov r4, lr
            strb r5, [r6, r4]
            .endm
            .macro kiln_signed_row slot
            ldr r5, [r0, #0]
            ldr r2, [sp, #4*8]
            cmp r4, r5
            bge 3f
            ldr r2, [r0, #4]
            3:
            kiln_row \\slot
            .endm
            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            sub sp, #8
            mov r1, r0
            ldr r3, [r0, #4*12]
            str r3, [sp, #4]
            adds r1, r1, #20
            ldm r1!, {{r3, r4, r5, r6, r7}}
            push {{r3, r4, r5, r6, r7}}
            ldm r0!, {{r3, r4, r5, r6, r7}}
            push {{r3, r4, r5, r6, r7}}
            ldm r1!, {{r3, r4}}
            mov r11, r3
            mov r12, r4
            movs r1, #0
            // A channel.
            2:
            mov r3, r12
            ldr r3, [r3]
            mov r8, r3
            mov r9, r3
            mov r10, r3
            ldr r0, [sp, #4*7]
            ldm r0!, {{r3, r4}}
            ldr r5, [sp, #4*11]
            add pc, r5
            nop
            ldrsb r7, [r3, r1]
            ldrsb r5, [r4, r1]
            b 5f
            ldrsb r6, [r3, r1]
            ldrsb r7, [r4, r1]
            b 4f
            ldrsb r5, [r3, r1]
            ldrsb r6, [r4, r1]
            3:
            ",
            tap!("r5", "r6", "r7"),
            "4:",
            tap!("r6", "r7", "r5"),
            "5:",
            tap!("r7", "r5", "r6"),
            "
            cmp r0, r11
            bne 3b
            mov lr, r1
            str r2, [sp, #4*10]
            mov r0, r12
            adds r0, r0, #4
            ldm r0!, {{r1, r2, r3}}
            ldr r7, [sp, #4*6]
            ldr r4, [sp, #4*9]
            cmp r4, #4
            bne 6f
            ",
            three_rows!("kiln_row"),
            "
            b 7f
            6:
            str r2, [sp, #4*8]
            ",
            three_rows!("kiln_signed_row"),
            "
            adds r0, r0, #8
            7:
            mov r12, r0
            ldr r2, [sp, #4*10]
            mov r1, lr
            adds r1, r1, #1
            ldr r0, [sp, #4*0]
            cmp r1, r0
            beq 8f
            b 2b
            8:
            add sp, #48
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_requantised
            .purgem kiln_row
            .purgem kiln_signed_row
            ",
            inout("r0") parameters.as_ptr() => _,
            inout("r2") part.w.as_ptr() => _,
            out("r1") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
