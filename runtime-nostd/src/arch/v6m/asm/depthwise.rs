//! Depthwise convolution in assembly.

use crate::arch::v6m::depthwise::Table;
use crate::kernels::HalfRequant;
use core::cell::Cell;
use core::marker::PhantomData;

/// One tap: where elements and weights of the block's first channel are. Those of the others are behind.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Tap<'a> {
    x: *const Cell<i8>,
    w: *const i8,
    of: PhantomData<&'a [Cell<i8>]>,
}

impl<'a> Tap<'a> {
    pub(crate) const NONE: Self = Tap { x: core::ptr::null(), w: core::ptr::null(), of: PhantomData };

    pub(crate) fn new(x: &'a [Cell<i8>], w: &'a [i8]) -> Self {
        Tap { x: x.as_ptr(), w: w.as_ptr(), of: PhantomData }
    }

    pub(crate) fn read(&mut self, x: &'a [Cell<i8>]) {
        self.x = x.as_ptr();
    }

    /// Where that many elements more are in the row.
    pub(crate) fn advance(&mut self, step: usize) {
        self.x = self.x.wrapping_add(step);
    }
}

/// Results of the channels of a block, with the constants that `channels` begins with.
#[inline(never)]
pub(crate) fn sum(table: &Table<'_>, channels: &[i32], q: &HalfRequant<'_>, out: &[Cell<i8>]) {
    if table.len == 0 || table.len % 3 != 0 || out.is_empty() {
        return;
    }
    if !matches!(q.words, 4 | 6) || channels.len() < q.words * out.len() {
        return;
    }
    // The loop takes two groups of three taps at a time, behind the first: it begins with the second one if their number is odd.
    let jump = match table.len / 3 {
        1 => 56,
        groups if groups % 2 == 0 => 26,
        _ => 0,
    };
    let taps = table.taps.as_ptr_range().start as usize;
    let parameters: [usize; 10] = [
        q.shift as usize,
        out.len(),
        q.hi as usize,
        q.hi.wrapping_sub(q.lo) as usize,
        q.words - 4,
        taps,
        jump,
        taps + 8 * table.len,
        channels.as_ptr() as usize,
        out.as_ptr() as usize,
    ];
    // SAFETY: each tap has as many elements and weights as there are results: `Layer` made both for as many channels, and only lets taps
    // advance in rows that have all columns (`full`), to columns that they have (`is_inside`, whose `reach` does not wrap); `words` constants are read
    // (compared above) and one result, a cell, is written for each. r6, r7, r11 and the stack are restored.
    unsafe {
        core::arch::asm!(
            // Three taps: 13 instructions.
            "
            .macro kiln_taps first
            ldm r0!, {{r2, r3, r4, r5, r6, r7}}
            ldrsb r2, [r2, r1]
            ldrsb r3, [r3, r1]
            muls r2, r3, r2
            .if \\first
            mov r8, r2
            .else
            add r8, r2
            .endif
            ldrsb r4, [r4, r1]
            ldrsb r5, [r5, r1]
            muls r4, r5, r4
            add r8, r4
            ldrsb r6, [r6, r1]
            ldrsb r7, [r7, r1]
            muls r6, r7, r6
            add r8, r6
            .endm

            push {{r6, r7}}
            mov r6, r11
            push {{r6}}
            ldm r0!, {{r1, r2, r3, r4, r5}}
            push {{r1, r2, r3, r4, r5}}
            ldm r0!, {{r1, r2, r3, r4, r5}}
            mov r9, r1
            mov r10, r2
            mov r11, r3
            mov r12, r4
            mov lr, r5
            movs r1, #0

            2:
            mov r0, r9
            kiln_taps 1
            add pc, r10
            nop
            3:
            kiln_taps 0
            kiln_taps 0
            cmp r0, r11
            bne 3b

            mov r0, r12
            ldm r0!, {{r2, r3, r4, r5}}
            mov r12, r0
            ldr r6, [sp, #16]
            cmp r6, #0
            bne 6f
            mov r0, r8
            adds r0, r0, r2
            7:
            cmp r0, r3
            blo 4f
            ldr r2, [sp, #12]
            asrs r0, r0, #31
            ands r0, r0, r2
            ldr r2, [sp, #8]
            subs r2, r2, r0
            b 5f
            4:
            uxth r2, r5
            muls r2, r0, r2
            lsrs r2, r2, #14
            lsrs r5, r5, #16
            muls r5, r0, r5
            adds r2, r2, r5
            adds r2, r2, r4
            ldr r3, [sp, #0]
            asrs r2, r2, r3
            5:
            mov r3, lr
            strb r2, [r3, r1]
            adds r1, r1, #1
            ldr r3, [sp, #4]
            cmp r1, r3
            bne 2b
            b 8f

            // Signed layers: origin and the constant below.
            6:
            ldm r0!, {{r6, r7}}
            mov r12, r0
            mov r0, r8
            adds r0, r0, r2
            cmp r0, r6
            bge 7b
            mov r4, r7
            b 7b

            8:
            add sp, #20
            pop {{r6}}
            mov r11, r6
            pop {{r6, r7}}
            .purgem kiln_taps
            ",
            inout("r0") parameters.as_ptr() => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
