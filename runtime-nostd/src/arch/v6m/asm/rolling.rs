//! Filters of 3 × 3 along rows in assembly.

use crate::arch::v6m::rolling::{Layer, Part, ROWS};
use core::cell::Cell;

/// What the blocks find on their stack from slot 15 on.
#[repr(C)]
struct Parameters {
    shift: u32,
    /// As if each result were written at the offset of the column that the code behind reads next.
    out: [*const Cell<i8>; 2],
    /// Elements from one column to the next.
    step: usize,
    rows: [*const Cell<i8>; ROWS],
    w: *const i32,
    channels: *const i32,
    c: usize,
    count: usize,
    /// Elements of a row of the operand; with a stride of 1 before the last column, padding included.
    inside: usize,
    /// Whether this is padding.
    pads_right: usize,
    hi: i32,
    span: i32,
    /// An element of padding in both fields.
    pad: i32,
    pads_left: usize,
}

/// The results of a part.
#[inline(never)]
pub(crate) fn roll(part: &Part<'_>) {
    let Layer { w, q, pad, channels, stride } = part.layer;
    let Some([inside, _]) = part.lengths() else { return };
    let padded = usize::from(part.pads_left);
    // Column and pixel move together with a stride of 1: when a result is written, the next column is two further on, and one more without padding.
    let ahead = if stride == 1 { channels.wrapping_mul(3_usize.wrapping_sub(padded)) } else { 0 };
    let parameters = Parameters {
        shift: q.shift,
        out: part.out.map(|out| out.as_ptr().wrapping_sub(ahead)),
        step: channels,
        rows: part.rows.map(|row| row.as_ptr()),
        w: w.as_ptr(),
        channels: q.channels.as_ptr(),
        c: 0,
        count: channels,
        inside: if stride == 1 && !part.pads_right { inside.wrapping_sub(channels) } else { inside },
        pads_right: part.pads_right.into(),
        hi: q.hi,
        span: q.hi.wrapping_sub(q.lo),
        pad: i32::from(pad).wrapping_add(i32::from(pad) << 16),
        pads_left: padded,
    };
    // SAFETY: each of `count` channels reads three words of weights, four constants, and of each row its own elements of the columns that are not padding, of which a pixel has one at least. It writes its own results. All of them are
    // there: `lengths` has compared them. What is written are cells.
    unsafe {
        if stride == 1 {
            by_one(&parameters);
        } else {
            by_two(&parameters);
        }
    }
}

/// Saves what a block may not change, and moves the parameters to its stack. Slot `n` is at `sp + 4·n`:
///
/// | slots | |
/// |---|---|
/// | 0 to 8 | weights: of the result that a column ends, of the next one, of the one that it begins |
/// | 9 and 10 | what a result begins with: in the upper field, and the sum of both fields |
/// | 11 to 14 | limit, constant, low and high multiplier |
/// | 15 to 33 | `Parameters` |
macro_rules! enter {
    () => {
        "
        push {{r6, r7}}
        mov r6, r11
        push {{r6}}
        sub sp, #4*34
        add r7, sp, #4*15
        ldm r0!, {{r1, r2, r3, r4, r5, r6}}
        stm r7!, {{r1, r2, r3, r4, r5, r6}}
        ldm r0!, {{r1, r2, r3, r4, r5, r6}}
        stm r7!, {{r1, r2, r3, r4, r5, r6}}
        ldm r0!, {{r1, r2, r3, r4, r5, r6}}
        stm r7!, {{r1, r2, r3, r4, r5, r6}}
        ldr r1, [r0]
        str r1, [r7]

        .macro kiln_weights word
        sxtb r5, \\word
        lsls r6, \\word, #16
        asrs r6, r6, #24
        asrs r7, \\word, #24
        stm r4!, {{r5, r6, r7}}
        .endm

        // The constants of a channel; r11 is where its first element is in a row, lr where its last one is, and a column behind.
        .macro kiln_channel
        ldr r0, [sp, #4*24]
        ldm r0!, {{r1, r2, r3}}
        str r0, [sp, #4*24]
        mov r4, sp
        kiln_weights r1
        kiln_weights r2
        kiln_weights r3
        ldr r0, [sp, #4*25]
        ldm r0!, {{r1, r2, r3, r5}}
        str r0, [sp, #4*25]
        lsls r6, r1, #16
        adds r6, r6, r1
        stm r4!, {{r1, r6}}
        uxth r6, r5
        lsrs r7, r5, #16
        stm r4!, {{r2, r3, r6, r7}}
        ldr r0, [sp, #4*26]
        mov r11, r0
        ldr r1, [sp, #4*28]
        adds r1, r1, r0
        mov lr, r1
        .endm

        // What a result begins with whose first column is padding.
        .macro kiln_padded_first
        ldr r0, [sp, #4*32]
        sxth r0, r0
        ldr r1, [sp, #4*9]
        ldr r2, [sp, #4*6]
        ldr r3, [sp, #4*7]
        adds r2, r2, r3
        ldr r3, [sp, #4*8]
        adds r2, r2, r3
        muls r0, r2, r0
        adds r1, r1, r0
        mov r9, r1
        lsls r0, r1, #16
        adds r0, r0, r1
        mov r8, r0
        .endm

        // To the next channel, if there is one.
        .macro kiln_next_channel
        ldr r0, [sp, #4*26]
        adds r0, r0, #1
        str r0, [sp, #4*26]
        ldr r1, [sp, #4*27]
        cmp r0, r1
        beq 9f
        b 1b
        .endm

        // Results of v and u, with the constants behind r4, which it destroys.
        .macro kiln_requantise v, u, limit, constant, low, high, shift
        ldm r4!, {{\\limit, \\constant, \\low, \\high, \\shift}}
        cmp \\v, \\limit
        bhs 6f
        mov r4, \\v
        muls r4, \\low, r4
        lsrs r4, r4, #14
        muls \\v, \\high, \\v
        adds \\v, \\v, r4
        adds \\v, \\v, \\constant
        asrs \\v, \\v, \\shift
        4:
        cmp \\u, \\limit
        bhs 7f
        muls \\low, \\u, \\low
        lsrs \\low, \\low, #14
        muls \\u, \\high, \\u
        adds \\u, \\u, \\low
        adds \\u, \\u, \\constant
        asrs \\u, \\u, \\shift
        5:
        .endm

        // Results beyond the limit.
        .macro kiln_clamp v, temporary, back
        ldr \\temporary, [sp, #4*31]
        asrs \\v, \\v, #31
        ands \\v, \\v, \\temporary
        ldr \\temporary, [sp, #4*30]
        subs \\v, \\temporary, \\v
        b \\back
        .endm
        "
    };
}

/// Undoes `enter`.
macro_rules! leave {
    () => {
        "
        add sp, #4*34
        pop {{r6}}
        mov r11, r6
        pop {{r6, r7}}
        .purgem kiln_weights
        .purgem kiln_channel
        .purgem kiln_padded_first
        .purgem kiln_next_channel
        .purgem kiln_requantise
        .purgem kiln_clamp
        "
    };
}

/// Two rows that are one row apart.
///
/// Sums of the result that begins are in r8 (both fields) and r9 (the upper one), of the next one in r10 and r12. Behind r11 is the column that is read next.
///
/// # Safety
/// As for [`roll`].
unsafe fn by_one(parameters: *const Parameters) {
    // SAFETY: as the caller says. What the compiler must not know of changes (r6, r7, r11, the stack) is restored.
    unsafe {
        core::arch::asm!(
            enter!(),
            "
            // Where a column is: its rows in r0 to r3, and its offset in r4.
            .macro kiln_rows
            add r4, sp, #4*18
            ldm r4!, {{r7}}
            ldm r4!, {{r0, r1, r2, r3}}
            mov r4, r11
            add r11, r7
            .endm

            // Its words, in r5 to r7.
            .macro kiln_column
            ldrsb r5, [r0, r4]
            ldrsb r6, [r1, r4]
            ldrsb r7, [r2, r4]
            ldrsb r3, [r3, r4]
            lsls r0, r6, #16
            adds r5, r5, r0
            lsls r0, r7, #16
            adds r6, r6, r0
            lsls r3, r3, #16
            adds r7, r7, r3
            .endm

            .macro kiln_padding
            ldr r5, [sp, #4*32]
            mov r6, r5
            mov r7, r5
            .endm

            // Of the result that a column begins. Behind r4 are the constants of its requantisation then.
            .macro kiln_first
            add r4, sp, #4*6
            ldm r4!, {{r1, r2}}
            muls r5, r1, r5
            muls r6, r2, r6
            adds r5, r5, r6
            ldm r4!, {{r1, r2, r6}}
            muls r7, r1, r7
            adds r6, r6, r5
            adds r6, r6, r7
            mov r8, r6
            asrs r5, r5, #16
            adcs r2, r2, r5
            asrs r7, r7, #16
            adcs r2, r2, r7
            mov r9, r2
            .endm

            // Of the result that it ends: results in r0 and r3, and the weights of the next one behind r4.
            .macro kiln_last
            mov r4, sp
            ldm r4!, {{r0, r1, r2}}
            muls r0, r5, r0
            muls r1, r6, r1
            muls r2, r7, r2
            adds r0, r0, r1
            mov r3, r12
            asrs r1, r0, #16
            adcs r3, r3, r1
            asrs r1, r2, #16
            adcs r3, r3, r1
            adds r0, r0, r2
            add r0, r10
            lsls r1, r3, #16
            subs r0, r0, r1
            .endm

            // Writes both; r4 points to the rows of the next column, and r7 is the step to it.
            .macro kiln_store
            add r4, sp, #4*16
            ldm r4!, {{r5, r6, r7}}
            mov r1, r11
            strb r3, [r6, r1]
            strb r0, [r5, r1]
            .endm

            // Of the one before, with its weights behind r4.
            .macro kiln_second
            ldm r4!, {{r1, r2}}
            muls r1, r5, r1
            muls r2, r6, r2
            adds r1, r1, r2
            ldm r4!, {{r2}}
            muls r2, r7, r2
            mov r10, r1
            add r10, r2
            add r10, r8
            mov r4, r9
            asrs r1, r1, #16
            adcs r4, r4, r1
            asrs r2, r2, #16
            adcs r4, r4, r2
            mov r12, r4
            .endm

            1:
            kiln_channel
            ldr r0, [sp, #4*33]
            cmp r0, #0
            beq 2f
            kiln_padded_first
            b 3f
            2:
            kiln_rows
            kiln_column
            kiln_first
            3:
            kiln_rows
            kiln_column
            add r4, sp, #4*3
            kiln_second
            kiln_first
            kiln_rows
            cmp r4, lr
            bhs 8f

            2:
            kiln_column
            kiln_last
            kiln_second
            kiln_first
            kiln_requantise r0, r3, r1, r2, r5, r6, r7
            kiln_store
            ldm r4!, {{r0, r1, r2, r3}}
            mov r4, r11
            add r11, r7
            cmp r4, lr
            blo 2b
            b 8f
            6:
            kiln_clamp r0, r4, 4b
            7:
            kiln_clamp r3, r5, 5b

            // The last column begins no result.
            8:
            ldr r5, [sp, #4*29]
            cmp r5, #0
            beq 2f
            kiln_padding
            b 3f
            2:
            kiln_column
            3:
            kiln_last
            add r4, sp, #4*11
            kiln_requantise r0, r3, r1, r2, r5, r6, r7
            kiln_store
            kiln_next_channel
            6:
            kiln_clamp r0, r4, 4b
            7:
            kiln_clamp r3, r5, 5b
            9:
            .purgem kiln_rows
            .purgem kiln_column
            .purgem kiln_padding
            .purgem kiln_first
            .purgem kiln_last
            .purgem kiln_store
            .purgem kiln_second
            ",
            leave!(),
            inout("r0") parameters => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}

/// Two rows that are two rows apart.
///
/// Sums of the result that begins are in r8 (both fields) and r9 (the upper one). Behind r10 is its offset, behind r11 the column that is read next, r12 is the step of both.
///
/// # Safety
/// As for [`roll`].
unsafe fn by_two(parameters: *const Parameters) {
    // SAFETY: as the caller says. What the compiler must not know of changes (r6, r7, r11, the stack) is restored.
    unsafe {
        core::arch::asm!(
            enter!(),
            "
            // Where a column is: its rows in r0 to r4, and its offset in r5.
            .macro kiln_rows
            add r4, sp, #4*19
            ldm r4, {{r0, r1, r2, r3, r4}}
            mov r5, r11
            add r11, r12
            .endm

            // Its words, in r6, r7 and r0.
            .macro kiln_column
            ldrsb r6, [r0, r5]
            ldrsb r7, [r1, r5]
            ldrsb r0, [r2, r5]
            ldrsb r1, [r3, r5]
            ldrsb r2, [r4, r5]
            lsls r3, r0, #16
            adds r6, r6, r3
            lsls r1, r1, #16
            adds r7, r7, r1
            lsls r2, r2, #16
            adds r0, r0, r2
            .endm

            .macro kiln_padding
            ldr r0, [sp, #4*32]
            mov r6, r0
            mov r7, r0
            .endm

            // Of the result that a column begins. Behind r4 are the constants of its requantisation then.
            .macro kiln_first
            add r4, sp, #4*6
            ldm r4!, {{r3, r5}}
            muls r6, r3, r6
            muls r7, r5, r7
            adds r6, r6, r7
            ldm r4!, {{r3, r5, r7}}
            muls r0, r3, r0
            adds r7, r7, r6
            adds r7, r7, r0
            mov r8, r7
            asrs r6, r6, #16
            adcs r5, r5, r6
            asrs r0, r0, #16
            adcs r5, r5, r0
            mov r9, r5
            .endm

            1:
            kiln_channel
            mov r10, r0
            ldr r0, [sp, #4*18]
            mov r12, r0
            ldr r0, [sp, #4*33]
            cmp r0, #0
            beq 2f
            kiln_padded_first
            b 12f
            2:
            kiln_rows
            kiln_column
            kiln_first
            12:
            kiln_rows
            cmp r5, lr
            bhs 8f
            kiln_column
            add r4, sp, #4*3
            ldm r4!, {{r1, r2, r3}}
            muls r1, r6, r1
            muls r2, r7, r2
            muls r3, r0, r3
            adds r1, r1, r2
            add r8, r1
            add r8, r3
            mov r2, r9
            asrs r1, r1, #16
            adcs r2, r2, r1
            asrs r3, r3, #16
            adcs r2, r2, r3
            mov r9, r2
            kiln_rows
            cmp r5, lr
            bhs 11f
            kiln_column
            3:
            mov r4, sp
            ldm r4!, {{r1, r2, r3}}
            muls r1, r6, r1
            muls r2, r7, r2
            muls r3, r0, r3
            adds r1, r1, r2
            mov r2, r9
            asrs r5, r1, #16
            adcs r2, r2, r5
            asrs r5, r3, #16
            adcs r2, r2, r5
            adds r1, r1, r3
            add r1, r8
            lsls r5, r2, #16
            subs r1, r1, r5
            kiln_first
            kiln_requantise r1, r2, r0, r3, r5, r6, r7
            add r4, sp, #4*16
            ldm r4!, {{r6, r7}}
            mov r5, r10
            strb r2, [r7, r5]
            strb r1, [r6, r5]
            add r10, r12
            b 12b
            8:
            kiln_next_channel

            11:
            kiln_padding
            b 3b
            6:
            kiln_clamp r1, r4, 4b
            7:
            kiln_clamp r2, r5, 5b
            9:
            .purgem kiln_rows
            .purgem kiln_column
            .purgem kiln_padding
            .purgem kiln_first
            ",
            leave!(),
            inout("r0") parameters => _,
            out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
            out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
