//! Tiles of two pixels and two or three filters in assembly.

use crate::arch::v6m::pair::{First, Part, Weights, Work};
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
    // Slot 14.
    rests: *const i8,
}

impl Parameters {
    /// Of `count` tiles of so many filters.
    fn new<const TAPS: usize>(
        work: &Work<'_, TAPS>,
        filters: usize,
        count: usize,
        weights: &Weights<'_>,
    ) -> Self {
        // The loop takes four windows at a time; the first time it begins with the one that leaves a multiple of four.
        let skipped = work.windows.wrapping_neg() % 4;
        let (code, early) = match (TAPS, filters) {
            (2, 3) => (58, 6),
            (2, _) => (40, 4),
            (_, 3) => (98, 0),
            _ => (68, 0),
        };
        let words = work.words.as_ptr().cast::<i32>();
        Parameters {
            tiles: count,
            shift: 0,
            hi: 0,
            span: 0,
            jump: skipped * code,
            early: early * skipped,
            finished: 0,
            words,
            end: words.wrapping_add((TAPS + 1) * work.windows),
            sums: null_mut(),
            channels: null(),
            out: [null_mut(); 2],
            w: weights.w.as_ptr(),
            rests: weights.rests.as_ptr(),
        }
    }

    /// The same, whose sums become results.
    fn finished<const TAPS: usize>(work: &Work<'_, TAPS>, part: &Part<'_>, q: &HalfRequant<'_>) -> Self {
        let Part { filters, count, weights, first, channels } = part;
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
            ..Parameters::new(work, *filters, *count, weights)
        }
    }

    /// Runs the tiles, if there are any.
    ///
    /// # Safety
    /// There are words of all windows, and [`NAMED`](crate::arch::v6m::pair) of windows of four taps. `count` tiles have their [`Weights`], and two accumulators for each filter. If their sums become results, there are constants
    /// of each filter, and a result of each for both pixels.
    #[inline(always)]
    unsafe fn run<const TAPS: usize>(&self, filters: usize) {
        if self.tiles == 0 {
            return;
        }
        // SAFETY: as the caller says. What is written are cells.
        unsafe {
            match (TAPS, filters) {
                (2, 3) => three(self),
                (2, _) => two(self),
                (_, 3) => three_wide(self),
                _ => two_wide(self),
            }
        }
    }
}

impl<const TAPS: usize> Work<'_, TAPS> {
    /// Adds the products of `count` tiles of so many filters to the accumulators of `sums`.
    #[inline(never)]
    pub(crate) fn run(&self, filters: usize, count: usize, weights: &Weights<'_>, sums: &[Cell<i32>]) {
        let needed = filters * count;
        let fits = self.is_there() && sums.len() >= 2 * needed && weights.w.len() >= needed * self.bytes();
        if !fits {
            return;
        }
        let sums = sums.as_ptr().cast_mut().cast();
        let parameters = Parameters { sums, ..Parameters::new(self, filters, count, weights) };
        // SAFETY: windows, accumulators and weights are there (`fits`), in products that do not wrap below `MOST_FILTERS`. Rests have been counted (`Weights::next`).
        unsafe { parameters.run::<TAPS>(filters) };
    }
}

/// Filters whose sums become results.
pub(crate) struct Blocks<'a, const TAPS: usize> {
    threes: Parameters,
    twos: Parameters,
    of: PhantomData<&'a [Cell<i32>]>,
}

impl<'a, const TAPS: usize> Blocks<'a, TAPS> {
    pub(crate) fn new(work: Work<'a, TAPS>, [threes, twos]: [Part<'a>; 2], q: &HalfRequant<'a>) -> Self {
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
        // SAFETY: a `Part` has weights for the words of all windows, and two first values and constants for each filter of its tiles. There is a result of each for both pixels (compared above).
        unsafe {
            threes.run::<TAPS>(3);
            twos.run::<TAPS>(2);
        }
    }
}

/// Saves what a block may not change, and moves the parameters to the stack. Then slot `n` is at `sp + 4·n`, slot 13 is free, slot 14 are the rests, and r2 points to the
/// weights.
macro_rules! enter {
    () => {
        "
        push {{r6, r7}}
        mov r6, r11
        push {{r6}}
        sub sp, #8
        ldm r0!, {{r1, r2, r3, r4, r5, r6}}
        push {{r1, r2, r3, r4, r5, r6}}
        ldm r0!, {{r1, r2, r3, r4, r5, r6, r7}}
        push {{r1, r2, r3, r4, r5, r6, r7}}
        ldr r2, [r0]
        ldr r0, [r0, #4]
        str r0, [sp, #4*14]
        "
    };
}

/// Undoes `enter`.
macro_rules! leave {
    () => {
        "
        add sp, #60
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
/// `$window` adds the products of a window to the accumulators, `$windows` are four of them, `$rests` adds those of the rests.
#[rustfmt::skip]
macro_rules! tiles {
    (
        $name:ident, $filters:literal, $window:expr, $windows:literal, $rests:expr, $first:literal, $kept:literal;
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
                    $windows,
                    "
                    ldr r0, [sp, #4*2]
                    cmp r3, r0
                    beq 3f
                    b 2b
                    3:",
                    $rests,
                    "
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

/// Assembly: products of a window's first tap, whose operand is in `$x`, with the weight that is so many bytes on, for each filter's sum.
macro_rules! first_tap {
    ($x:literal, $($at:literal $sum:literal),+) => {
        concat!($("ldrb ", $sum, ", [r2, #", $at, "]\nmuls ", $sum, ", ", $x, ", ", $sum, "\n",)+)
    };
}

/// Assembly: the same for another tap.
macro_rules! more_tap {
    ($x:literal, $($at:literal $sum:literal),+) => {
        concat!($(
            "ldrb r1, [r2, #", $at, "]\nmuls r1, ", $x, ", r1\nadds ", $sum, ", ", $sum, ", r1\n",
        )+)
    };
}

/// Assembly: a window's sums with their correction, parted.
macro_rules! parted {
    ($($sum:literal $q:literal $h:literal),+) => {
        concat!(
            "ldm r3!, {{r4}}\n",
            $(
                "adds ", $sum, ", ", $sum, ", r4\nasrs r1, ", $sum, ", #16\n",
                "add ", $q, ", ", $sum, "\nadd ", $h, ", r1\n",
            )+
        )
    };
}

/// Assembly: the rests of a tile's filters, for each of which there are its accumulators and its number.
macro_rules! rests {
    ($filters:literal, $($q:literal $h:literal $at:literal),+) => {
        concat!(
            "
            ldr r3, [sp, #4*14]
            ldr r6, [sp, #4*1]
            movs r5, #128
            lsls r5, r5, #8
            ",
            $(
                concat!("ldrb r1, [r2, #", $at, "]\n"),
                "
                cmp r1, #0
                beq 4f
                3:
                ldrb r0, [r3, #0]
                lsls r0, r0, #2
                ldr r0, [r6, r0]
                ldrb r4, [r3, #1]
                sxtb r4, r4
                muls r4, r0, r4
                ",
                concat!("add ", $q, ", r4\n"),
                "
                adds r4, r4, r5
                asrs r4, r4, #16
                ",
                concat!("add ", $h, ", r4\n"),
                "
                adds r3, r3, #2
                subs r1, r1, #1
                bne 3b
                4:
                ",
            )+
            "str r3, [sp, #4*14]\n",
            "adds r2, r2, #", $filters, "\n",
        )
    };
}

// 29 instructions for 12 products: operands in r0 and r4, sums of the window in r5, r6, r7.
tiles! {
    three, "3",
    concat!(
        "ldm r3!, {{r0, r4}}\n",
        first_tap!("r0", "\\at" "r5", "\\at+1" "r6", "\\at+2" "r7"),
        more_tap!("r4", "\\at+3" "r5", "\\at+4" "r6", "\\at+5" "r7"),
        parted!("r5" "r8" "r11", "r6" "r9" "r12", "r7" "r10" "lr"),
    ),
    "kiln_window 0\nkiln_window 6\nkiln_window 12\nkiln_window 18\nadds r2, r2, #24", "",
    "r0, r1, r4, r5, r6, r7", "r1, r3, r4, r5, r6, r7";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
    "2" "r10" "lr" "r6" "r7" "r6" "r7"
}

tiles! {
    two, "2",
    concat!(
        "ldm r3!, {{r0, r4}}\n",
        first_tap!("r0", "\\at" "r5", "\\at+1" "r6"),
        more_tap!("r4", "\\at+2" "r5", "\\at+3" "r6"),
        parted!("r5" "r8" "r11", "r6" "r9" "r12"),
    ),
    "kiln_window 0\nkiln_window 4\nkiln_window 8\nkiln_window 12\nadds r2, r2, #16", "",
    "r0, r1, r4, r5", "r1, r3, r4, r5";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
}

// 49 instructions for 24 products.
tiles! {
    three_wide, "3",
    concat!(
        "ldm r3!, {{r0, r4}}\n",
        first_tap!("r0", "0" "r5", "1" "r6", "2" "r7"),
        more_tap!("r4", "3" "r5", "4" "r6", "5" "r7"),
        "ldm r3!, {{r0, r4}}\n",
        more_tap!("r0", "6" "r5", "7" "r6", "8" "r7"),
        more_tap!("r4", "9" "r5", "10" "r6", "11" "r7"),
        "adds r2, r2, #12\n",
        parted!("r5" "r8" "r11", "r6" "r9" "r12", "r7" "r10" "lr"),
    ),
    ".rept 4\nkiln_window 0\n.endr",
    rests!("3", "r8" "r11" "0", "r9" "r12" "1", "r10" "lr" "2"),
    "r0, r1, r4, r5, r6, r7", "r1, r3, r4, r5, r6, r7";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
    "2" "r10" "lr" "r6" "r7" "r6" "r7"
}

tiles! {
    two_wide, "2",
    concat!(
        "ldm r3!, {{r0, r4}}\n",
        first_tap!("r0", "0" "r5", "1" "r6"),
        more_tap!("r4", "2" "r5", "3" "r6"),
        "ldm r3!, {{r0, r4}}\n",
        more_tap!("r0", "4" "r5", "5" "r6"),
        more_tap!("r4", "6" "r5", "7" "r6"),
        "adds r2, r2, #8\n",
        parted!("r5" "r8" "r11", "r6" "r9" "r12"),
    ),
    ".rept 4\nkiln_window 0\n.endr",
    rests!("2", "r8" "r11" "0", "r9" "r12" "1"),
    "r0, r1, r4, r5", "r1, r3, r4, r5";
    "0" "r8" "r11" "r0" "r1" "r1" "r3"
    "1" "r9" "r12" "r4" "r5" "r4" "r5"
}
