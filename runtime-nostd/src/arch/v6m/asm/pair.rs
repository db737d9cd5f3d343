//! Tiles of two pixels and two or three filters in assembly.

use crate::arch::v6m::pair::{First, Part, Work};
use crate::kernels::HalfRequant;
use core::cell::Cell;
use core::marker::PhantomData;
use core::ptr::{null, null_mut};

/// What the blocks find in memory, in the order in which `enter` moves it to their stack.
#[repr(C)]
struct Parameters {
    // Slots 7 to 12.
    tiles: usize,
    shift: u32,
    hi: i32,
    span: i32,
    jump: usize,
    early: usize,
    // Slots 0 to 6.
    finished: usize,
    words: *const i32,
    end: *const i32,
    sums: *mut i32,
    channels: *const i32,
    out: [*mut i8; 2],
    w: *const i8,
}

impl Parameters {
    /// Of `count` tiles of so many filters.
    fn new(work: &Work<'_>, filters: usize, count: usize, w: &[i8]) -> Self {
        // The loop takes four windows at a time; the first time it begins with the one that leaves a multiple of four.
        let skipped = work.windows.wrapping_neg() % 4;
        let code = if filters == 3 { 58 } else { 40 };
        let words = work.words.as_ptr().cast::<i32>();
        Parameters {
            tiles: count,
            shift: 0,
            hi: 0,
            span: 0,
            jump: skipped * code,
            early: 2 * filters * skipped,
            finished: 0,
            words,
            end: words.wrapping_add(3 * work.windows),
            sums: null_mut(),
            channels: null(),
            out: [null_mut(); 2],
            w: w.as_ptr(),
        }
    }

    /// The same, whose sums become results.
    fn finished(work: &Work<'_>, part: &Part<'_>, q: &HalfRequant<'_>) -> Self {
        let Part { filters, count, w, first, channels } = part;
        Parameters {
            shift: q.shift,
            hi: q.hi,
            span: q.hi.wrapping_sub(q.lo),
            finished: if q.is_signed() { 2 } else { 1 },
            // Only read where results are finished.
            sums: match first {
                First::Constant(first) => first.as_ptr().cast_mut(),
                First::Kept(first) => first.as_ptr().cast_mut().cast(),
            },
            channels: channels.as_ptr(),
            ..Parameters::new(work, *filters, *count, w)
        }
    }
}

impl Work<'_> {
    /// Adds the products of `count` tiles of so many filters to the accumulators of `sums`.
    #[inline(never)]
    pub(crate) fn run(&self, filters: usize, count: usize, w: &[i8], sums: &[Cell<i32>]) {
        let enough = sums.len() >= 2 * filters * count && w.len() == 2 * filters * self.windows * count;
        if !enough || count == 0 || self.windows == 0 || self.windows > self.words.len() / 3 {
            return;
        }
        let sums = sums.as_ptr().cast_mut().cast();
        let parameters = Parameters { sums, ..Parameters::new(self, filters, count, w) };
        // SAFETY: `count` tiles read the words of `windows` windows and as many weights for each filter, and add to two accumulators of each. All of them are there: they have been compared above, in products
        // that do not wrap below `MOST_FILTERS`. What is written are cells.
        unsafe {
            if filters == 3 {
                three(&parameters);
            } else {
                two(&parameters);
            }
        }
    }
}

/// Filters whose sums become results.
pub(crate) struct Blocks<'a> {
    threes: Parameters,
    twos: Parameters,
    of: PhantomData<&'a [Cell<i32>]>,
}

impl<'a> Blocks<'a> {
    pub(crate) fn new(work: Work<'a>, [threes, twos]: [Part<'a>; 2], q: &HalfRequant<'a>) -> Self {
        let parameters = |part: &Part<'_>| Parameters::finished(&work, part, q);
        Blocks { threes: parameters(&threes), twos: parameters(&twos), of: PhantomData }
    }

    /// Results of both pixels, of all filters. The pixels may be the same. Nothing is written where there is no memory for them.
    #[inline(never)]
    pub(crate) fn run(&mut self, [a, b]: [&[Cell<i8>]; 2]) {
        let Blocks { threes, twos, .. } = self;
        let (behind, least) = (3 * threes.tiles, a.len().min(b.len()));
        if least < behind + 2 * twos.tiles {
            return;
        }
        threes.out = [a, b].map(|out| out.as_ptr().cast_mut().cast());
        twos.out = threes.out.map(|out| out.wrapping_add(behind));
        // SAFETY: a `Part` has weights for the words of all windows, two first values and constants for each filter of its tiles. There is a result of each for both pixels (compared above). What is written are
        // cells.
        unsafe {
            if threes.tiles > 0 {
                three(threes);
            }
            if twos.tiles > 0 {
                two(twos);
            }
        }
    }
}

/// Saves what a block may not change, and moves the parameters to the stack. Then slot `n` is at `sp + 4·n`, slot 13 is free, and r2 points to the
/// weights.
macro_rules! enter {
    () => {
        "
        push {{r6, r7}}
        mov r6, r11
        push {{r6}}
        sub sp, #4
        ldm r0!, {{r1, r2, r3, r4, r5, r6}}
        push {{r1, r2, r3, r4, r5, r6}}
        ldm r0!, {{r1, r2, r3, r4, r5, r6, r7}}
        push {{r1, r2, r3, r4, r5, r6, r7}}
        ldr r2, [r0]
        "
    };
}

/// Undoes `enter`.
macro_rules! leave {
    () => {
        "
        add sp, #56
        pop {{r6}}
        mov r11, r6
        pop {{r6, r7}}
        "
    };
}

/// The assembler's macro `kiln_result`: stores the result that `kiln_requantised` makes as result `at` of the pixel whose results slot `slot` points to.
macro_rules! define_result {
    () => {
        concat!(
            requantised!("#4*10", "#4*9"),
            "
            .macro kiln_result slot, at
            kiln_requantised
            ldr r6, [sp, #4*\\slot]
            strb r5, [r6, #\\at]
            .endm
            "
        )
    };
}

/// The assembler's macros `kiln_filter` and, for signed layers, `kiln_signed_filter`: results of both pixels from the accumulators in registers `q` and `h`. The upper field comes first: where
/// the pixels are the same, the lower one stays.
macro_rules! define_filter {
    () => {
        "
        .macro kiln_filter q, h, at
        ldm r0!, {{r1, r2, r3}}
        mov r4, \\h
        kiln_result 6, \\at
        mov r4, \\q
        mov r5, \\h
        lsls r5, r5, #16
        subs r4, r4, r5
        kiln_result 5, \\at
        .endm
        .macro kiln_signed_result slot, at
        ldr r5, [r0, #0]
        ldr r2, [r0, #12]
        cmp r4, r5
        bge 3f
        ldr r2, [r0, #4]
        3:
        kiln_result \\slot, \\at
        .endm
        .macro kiln_signed_filter q, h, at
        ldr r1, [r0, #8]
        ldr r3, [r0, #16]
        mov r4, \\h
        kiln_signed_result 6, \\at
        mov r4, \\q
        mov r5, \\h
        lsls r5, r5, #16
        subs r4, r4, r5
        kiln_signed_result 5, \\at
        adds r0, r0, #20
        .endm
        "
    };
}

/// Behind a tile's results: constants and results of the next one; whether there is one.
macro_rules! next_tile {
    ($filters:literal) => {
        concat!(
            "
            str r0, [sp, #4*4]
            ldr r0, [sp, #4*5]
            adds r0, r0, #",
            $filters,
            "
            str r0, [sp, #4*5]
            ldr r0, [sp, #4*6]
            adds r0, r0, #",
            $filters,
            "
            str r0, [sp, #4*6]
            ldr r2, [sp, #4*13]
            7:
            ldr r0, [sp, #4*7]
            subs r0, r0, #1
            str r0, [sp, #4*7]
            beq 8f
            b 1b
            8:
            .purgem kiln_requantised
            .purgem kiln_result
            .purgem kiln_filter
            .purgem kiln_signed_result
            .purgem kiln_signed_filter
            .purgem kiln_window
            "
        )
    };
}

/// Tiles of filters, for each of which a line has: its number; its accumulators `q` and `h`; the registers in which these are loaded; and those in which they are kept.
/// `$window` adds the products of a window to the accumulators.
#[rustfmt::skip]
macro_rules! tiles {
    (
        $name:ident, $filters:literal, $window:literal, $first:literal, $kept:literal;
        $($at:literal $q:literal $h:literal $first_q:literal $first_h:literal $kept_q:literal $kept_h:literal)+
    ) => {
        /// Tiles of so many filters.
        ///
        /// # Safety
        /// As for [`Work::run`] and [`Blocks::run`].
        #[inline(never)]
        unsafe fn $name(parameters: *const Parameters) {
            // SAFETY: as the caller says. What the compiler must not know of changes (r6, r7, r11, the stack) is restored.
            unsafe {
                core::arch::asm!(
                    define_result!(),
                    define_filter!(),
                    concat!(".macro kiln_window at\n", $window, "\n.endm"),
                    enter!(),
                    "
                    1:
                    ldr r3, [sp, #4*3]",
                    concat!("ldm r3!, {{", $first, "}}"),
                    "str r3, [sp, #4*3]",
                    $(concat!("mov ", $q, ", ", $first_q), concat!("mov ", $h, ", ", $first_h),)+
                    "
                    ldr r3, [sp, #4*1]
                    ldr r0, [sp, #4*12]
                    subs r2, r2, r0
                    ldr r0, [sp, #4*11]
                    add pc, r0
                    nop
                    2:",
                    concat!("kiln_window 0*", $filters),
                    concat!("kiln_window 2*", $filters),
                    concat!("kiln_window 4*", $filters),
                    concat!("kiln_window 6*", $filters),
                    concat!("adds r2, r2, #8*", $filters),
                    "
                    ldr r0, [sp, #4*2]
                    cmp r3, r0
                    bne 2b
                    ldr r0, [sp, #4*0]
                    cmp r0, #1
                    beq 6f
                    blo 5f
                    b 9f
                    5:
                    ldr r0, [sp, #4*3]",
                    concat!("subs r0, r0, #8*", $filters),
                    $(concat!("mov ", $kept_q, ", ", $q), concat!("mov ", $kept_h, ", ", $h),)+
                    concat!("stm r0!, {{", $kept, "}}"),
                    "
                    b 7f
                    6:
                    str r2, [sp, #4*13]
                    ldr r0, [sp, #4*4]
                    ldr r7, [sp, #4*8]",
                    $(concat!("kiln_filter ", $q, ", ", $h, ", ", $at),)+
                    "
                    b 6f
                    9:
                    str r2, [sp, #4*13]
                    ldr r0, [sp, #4*4]
                    ldr r7, [sp, #4*8]",
                    $(concat!("kiln_signed_filter ", $q, ", ", $h, ", ", $at),)+
                    "6:",
                    next_tile!($filters),
                    leave!(),
                    inout("r0") parameters => _,
                    out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                    out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
                );
            }
        }
    };
}

// 29 instructions for 12 products: operands in r0 and r4, sums of the window in r5, r6, r7.
tiles! {
    three, "3",
    "
    ldm r3!, {{r0, r4}}
    ldrb r5, [r2, #\\at]
    muls r5, r0, r5
    ldrb r6, [r2, #\\at+1]
    muls r6, r0, r6
    ldrb r7, [r2, #\\at+2]
    muls r7, r0, r7
    ldrb r1, [r2, #\\at+3]
    muls r1, r4, r1
    adds r5, r5, r1
    ldrb r1, [r2, #\\at+4]
    muls r1, r4, r1
    adds r6, r6, r1
    ldrb r1, [r2, #\\at+5]
    muls r1, r4, r1
    adds r7, r7, r1
    ldm r3!, {{r4}}
    adds r5, r5, r4
    asrs r1, r5, #16
    add r8, r5
    add r11, r1
    adds r6, r6, r4
    asrs r1, r6, #16
    add r9, r6
    add r12, r1
    adds r7, r7, r4
    asrs r1, r7, #16
    add r10, r7
    add lr, r1",
    "r0, r1, r4, r5, r6, r7", "r1, r3, r4, r5, r6, r7";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
    "2" "r10" "lr" "r6" "r7" "r6" "r7"
}

tiles! {
    two, "2",
    "
    ldm r3!, {{r0, r4}}
    ldrb r5, [r2, #\\at]
    muls r5, r0, r5
    ldrb r6, [r2, #\\at+1]
    muls r6, r0, r6
    ldrb r1, [r2, #\\at+2]
    muls r1, r4, r1
    adds r5, r5, r1
    ldrb r1, [r2, #\\at+3]
    muls r1, r4, r1
    adds r6, r6, r1
    ldm r3!, {{r4}}
    adds r5, r5, r4
    asrs r1, r5, #16
    add r8, r5
    add r11, r1
    adds r6, r6, r4
    asrs r1, r6, #16
    add r9, r6
    add r12, r1",
    "r0, r1, r4, r5", "r1, r3, r4, r5";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
}
