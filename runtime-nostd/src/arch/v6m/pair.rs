//! Tiles of two pixels and two or three filters.
//!
//! A filter's accumulators are `q` and `h` (see [`super`]). Weights of a tile are bytes, 128 more than the weight: for each tap one of each filter.

use super::operand::Words;
use super::steps::HalfRequant;
use core::cell::Cell;

/// Weights as the tiles read them, from the next tile on.
#[derive(Clone, Copy)]
pub(super) struct Stream<'a>(pub &'a [i8]);

impl<'a> Stream<'a> {
    /// The weights of some tiles, which are then behind.
    pub(super) fn next(&mut self, len: usize) -> Option<&'a [i8]> {
        if len > self.0.len() {
            return None;
        }
        let (taken, rest) = self.0.split_at(len);
        self.0 = rest;
        Some(taken)
    }
}

/// The tiles of some filters.
#[derive(Clone, Copy)]
pub(super) struct Tiles {
    /// Of three filters.
    threes: usize,
    /// Of two.
    twos: usize,
}

impl Tiles {
    /// The tiles of at least two filters: as many threes as leave no single one.
    pub(super) fn of(filters: usize) -> Self {
        let (threes, left) = (filters / 3, filters % 3);
        match left {
            0 => Tiles { threes, twos: 0 },
            1 => Tiles { threes: threes.saturating_sub(1), twos: 2 },
            _ => Tiles { threes, twos: 1 },
        }
    }
}

/// What tiles do: `windows` windows of operands with the next weights.
pub(super) struct Work<'a> {
    /// Operands.
    pub words: &'a Words,
    /// How many windows of them.
    pub windows: usize,
}

impl Work<'_> {
    /// Adds to the accumulators of `sums`, a `q` and an `h` per filter.
    pub(super) fn add(&self, tiles: Tiles, stream: &mut Stream<'_>, sums: &[Cell<i32>]) {
        let Tiles { threes, twos } = tiles;
        let (three, two) = sums.split_at(sums.len().min(6 * threes));
        let mut run = |filters: usize, count: usize, sums: &[Cell<i32>]| {
            if let Some(w) = stream.next(2 * filters * self.windows * count) {
                self.run(filters, count, w, Sums::Kept(sums));
            }
        };
        run(3, threes, three);
        run(2, twos, two);
    }

    /// Results of both pixels, from accumulators with these first values, for channels with the constants that `channels` begins with. The pixels may
    /// be the same.
    pub(super) fn finish(
        &self,
        tiles: Tiles,
        stream: &mut Stream<'_>,
        first: First<'_>,
        channels: &[i32],
        q: &HalfRequant<'_>,
        out: [&[Cell<i8>]; 2],
    ) {
        let mut done = 0;
        for (filters, count) in [(3, tiles.threes), (2, tiles.twos)] {
            if count == 0 {
                continue;
            }
            let Some(w) = stream.next(2 * filters * self.windows * count) else { return };
            let (Some(first), Some(channels), [Some(a), Some(b)]) =
                (first.from(2 * done), channels.get(q.words * done..), out.map(|out| out.get(done..)))
            else {
                return;
            };
            self.run(filters, count, w, Sums::Finished { first, channels, q, out: [a, b] });
            done += filters * count;
        }
    }
}

/// First values of accumulators, two for each filter.
#[derive(Clone, Copy)]
pub(super) enum First<'a> {
    Constant(&'a [i32]),
    Kept(&'a [Cell<i32>]),
}

impl First<'_> {
    fn from(self, start: usize) -> Option<Self> {
        match self {
            First::Constant(all) => all.get(start..).map(First::Constant),
            First::Kept(all) => all.get(start..).map(First::Kept),
        }
    }

    fn len(self) -> usize {
        match self {
            First::Constant(all) => all.len(),
            First::Kept(all) => all.len(),
        }
    }
}

/// Where accumulators begin and end.
enum Sums<'a> {
    /// In memory.
    Kept(&'a [Cell<i32>]),
    /// With first values, and as results.
    Finished { first: First<'a>, channels: &'a [i32], q: &'a HalfRequant<'a>, out: [&'a [Cell<i8>]; 2] },
}

impl Sums<'_> {
    /// Whether they are as many as `filters` need.
    fn suffice(&self, filters: usize) -> bool {
        match self {
            Sums::Kept(sums) => sums.len() >= 2 * filters,
            Sums::Finished { first, channels, q, out: [a, b] } => {
                let channels = matches!(q.words, 3 | 5) && channels.len() >= q.words * filters;
                channels && first.len() >= 2 * filters && a.len() >= filters && b.len() >= filters
            }
        }
    }
}

#[cfg(not(kiln_v6m))]
impl Work<'_> {
    /// Runs `count` tiles of so many filters.
    fn run(&self, filters: usize, count: usize, w: &[i8], sums: Sums<'_>) {
        let tile = 2 * filters * self.windows;
        let windows = self.windows;
        if !sums.suffice(filters * count) || w.len() != tile * count || windows > self.words.len() / 3 {
            return;
        }
        for o in 0..filters * count {
            let (Some(w), lane) = (w.get(o / filters * tile..), o % filters) else { return };
            let pair = |at: usize| match &sums {
                Sums::Kept(sums) => sums.get(at).map_or(0, Cell::get),
                Sums::Finished { first: First::Constant(first), .. } => first.get(at).copied().unwrap_or(0),
                Sums::Finished { first: First::Kept(first), .. } => first.get(at).map_or(0, Cell::get),
            };
            let (mut q, mut h) = (pair(2 * o), pair(2 * o + 1));
            let windows = self.words.chunks_exact(3).zip(w.chunks_exact(2 * filters)).take(windows);
            for (words, w) in windows {
                let [x0, x1, correction] = words else { return };
                let weight = |tap: usize| w.get(tap * filters + lane).map_or(0, |&w| i32::from(w as u8));
                let window = (x0.get().wrapping_mul(weight(0)))
                    .wrapping_add(x1.get().wrapping_mul(weight(1)))
                    .wrapping_add(correction.get());
                (q, h) = (q.wrapping_add(window), h.wrapping_add(window >> 16));
            }
            match &sums {
                Sums::Kept(sums) => {
                    for (at, value) in [(2 * o, q), (2 * o + 1, h)] {
                        if let Some(sum) = sums.get(at) {
                            sum.set(value);
                        }
                    }
                }
                Sums::Finished { channels, q: requant, out, .. } => {
                    for (v, out) in [h, q.wrapping_sub(h << 16)].into_iter().zip(out.iter().rev()) {
                        let (Some(channel), Some(out)) = (channels.get(requant.words * o..), out.get(o))
                        else {
                            return;
                        };
                        out.set(requant.result(v, channel));
                    }
                }
            }
        }
    }
}

#[cfg(kiln_v6m)]
mod assembly {
    #![allow(unsafe_code)]
    use super::{First, Sums, Work};
    use core::ptr::{null, null_mut};

    /// What the blocks find in memory: half of it is on their stack as they run, in the order of `SLOTS`.
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

    impl Work<'_> {
        /// Runs `count` tiles of so many filters.
        #[inline(never)]
        pub(super) fn run(&self, filters: usize, count: usize, w: &[i8], sums: Sums<'_>) {
            let size = 2 * filters * self.windows;
            let enough = sums.suffice(filters * count) && w.len() == size * count;
            if !enough || count == 0 || self.windows == 0 || self.windows > self.words.len() / 3 {
                return;
            }
            // The loop takes four windows at a time; the first time it begins with the one that leaves a multiple of four.
            let skipped = self.windows.wrapping_neg() % 4;
            let code = if filters == 3 { 58 } else { 40 };
            let words = self.words.as_ptr().cast::<i32>();
            let mut parameters = Parameters {
                tiles: count,
                shift: 0,
                hi: 0,
                span: 0,
                jump: skipped * code,
                early: 2 * filters * skipped,
                finished: 0,
                words,
                // SAFETY: there are that many words (checked above).
                end: unsafe { words.add(3 * self.windows) },
                sums: null_mut(),
                channels: null(),
                out: [null_mut(); 2],
                w: w.as_ptr(),
            };
            match sums {
                Sums::Kept(sums) => parameters.sums = sums.as_ptr().cast_mut().cast(),
                Sums::Finished { first, channels, q, out: [a, b] } => {
                    parameters.finished = if q.is_signed() { 2 } else { 1 };
                    // Only read where results are finished.
                    parameters.sums = match first {
                        First::Constant(first) => first.as_ptr().cast_mut(),
                        First::Kept(first) => first.as_ptr().cast_mut().cast(),
                    };
                    parameters.channels = channels.as_ptr();
                    parameters.out = [a.as_ptr().cast_mut().cast(), b.as_ptr().cast_mut().cast()];
                    (parameters.shift, parameters.hi, parameters.span) = (q.shift, q.hi, q.hi - q.lo);
                }
            }
            // SAFETY: `count` tiles read `size` weights each, the words of `windows` windows, and two accumulators for each filter, which they write
            // if they are kept. Else they read `words` constants of each filter and write one result of each pixel. All of them are there (`suffice`
            // and the checks above), and what is written are cells.
            unsafe {
                if filters == 3 {
                    three(&parameters);
                } else {
                    two(&parameters);
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

    /// The assembler's macro `kiln_result`: result r5 of accumulator r4, with limit r1, constant r2, multiplier r3 and shift r7; destroys r4 and r6. Then
    /// stores it as result `at` of the pixel whose results slot `slot` points to.
    macro_rules! define_result {
        () => {
            "
            .macro kiln_result slot, at
            cmp r4, r1
            blo 3f
            ldr r6, [sp, #4*10]
            asrs r4, r4, #31
            ands r4, r4, r6
            ldr r5, [sp, #4*9]
            subs r5, r5, r4
            b 4f
            3:
            uxth r5, r3
            muls r5, r4, r5
            lsrs r5, r5, #14
            lsrs r6, r3, #16
            muls r6, r4, r6
            adds r5, r5, r6
            adds r5, r5, r2
            asrs r5, r5, r7
            4:
            ldr r6, [sp, #4*\\slot]
            strb r5, [r6, #\\at]
            .endm
            "
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
                .purgem kiln_result
                .purgem kiln_filter
                .purgem kiln_signed_result
                .purgem kiln_signed_filter
                .purgem kiln_window
                "
            )
        };
    }

    /// Tiles of three filters: accumulators `q` are r8, r9, r10, `h` are r11, r12, lr.
    ///
    /// # Safety
    /// As for [`Work::run`].
    unsafe fn three(parameters: *const Parameters) {
        // SAFETY: as the caller says. What the compiler must not know of changes (r6, r7, r11, the stack) is restored.
        unsafe {
            core::arch::asm!(
                define_result!(),
                define_filter!(),
                // 29 instructions for 12 products: operands in r0 and r4, sums of the window in r5, r6, r7.
                "
                .macro kiln_window at
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
                add lr, r1
                .endm
                ",
                enter!(),
                "
                1:
                ldr r3, [sp, #4*3]
                ldm r3!, {{r0, r1, r4, r5, r6, r7}}
                str r3, [sp, #4*3]
                mov r8, r0
                mov r11, r1
                mov r9, r4
                mov r12, r5
                mov r10, r6
                mov lr, r7
                ldr r3, [sp, #4*1]
                ldr r0, [sp, #4*12]
                subs r2, r2, r0
                ldr r0, [sp, #4*11]
                add pc, r0
                nop
                2:
                kiln_window 0
                kiln_window 6
                kiln_window 12
                kiln_window 18
                adds r2, r2, #24
                ldr r0, [sp, #4*2]
                cmp r3, r0
                bne 2b
                ldr r0, [sp, #4*0]
                cmp r0, #1
                beq 6f
                blo 5f
                b 9f
                5:
                ldr r0, [sp, #4*3]
                subs r0, r0, #24
                mov r1, r8
                mov r3, r11
                mov r4, r9
                mov r5, r12
                mov r6, r10
                mov r7, lr
                stm r0!, {{r1, r3, r4, r5, r6, r7}}
                b 7f
                6:
                str r2, [sp, #4*13]
                ldr r0, [sp, #4*4]
                ldr r7, [sp, #4*8]
                kiln_filter r8, r11, 0
                kiln_filter r9, r12, 1
                kiln_filter r10, lr, 2
                b 6f
                9:
                str r2, [sp, #4*13]
                ldr r0, [sp, #4*4]
                ldr r7, [sp, #4*8]
                kiln_signed_filter r8, r11, 0
                kiln_signed_filter r9, r12, 1
                kiln_signed_filter r10, lr, 2
                6:
                ",
                next_tile!("3"),
                leave!(),
                inout("r0") parameters => _,
                out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
            );
        }
    }

    /// Tiles of two filters: accumulators `q` are r8, r9, `h` are r11, r12.
    ///
    /// # Safety
    /// As for [`Work::run`].
    unsafe fn two(parameters: *const Parameters) {
        // SAFETY: as the caller says. What the compiler must not know of changes (r6, r7, r11, the stack) is restored.
        unsafe {
            core::arch::asm!(
                define_result!(),
                define_filter!(),
                "
                .macro kiln_window at
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
                add r12, r1
                .endm
                ",
                enter!(),
                "
                1:
                ldr r3, [sp, #4*3]
                ldm r3!, {{r0, r1, r4, r5}}
                str r3, [sp, #4*3]
                mov r8, r0
                mov r11, r1
                mov r9, r4
                mov r12, r5
                ldr r3, [sp, #4*1]
                ldr r0, [sp, #4*12]
                subs r2, r2, r0
                ldr r0, [sp, #4*11]
                add pc, r0
                nop
                2:
                kiln_window 0
                kiln_window 4
                kiln_window 8
                kiln_window 12
                adds r2, r2, #16
                ldr r0, [sp, #4*2]
                cmp r3, r0
                bne 2b
                ldr r0, [sp, #4*0]
                cmp r0, #1
                beq 6f
                blo 5f
                b 9f
                5:
                ldr r0, [sp, #4*3]
                subs r0, r0, #16
                mov r1, r8
                mov r3, r11
                mov r4, r9
                mov r5, r12
                stm r0!, {{r1, r3, r4, r5}}
                b 7f
                6:
                str r2, [sp, #4*13]
                ldr r0, [sp, #4*4]
                ldr r7, [sp, #4*8]
                kiln_filter r8, r11, 0
                kiln_filter r9, r12, 1
                b 6f
                9:
                str r2, [sp, #4*13]
                ldr r0, [sp, #4*4]
                ldr r7, [sp, #4*8]
                kiln_signed_filter r8, r11, 0
                kiln_signed_filter r9, r12, 1
                6:
                ",
                next_tile!("2"),
                leave!(),
                inout("r0") parameters => _,
                out("r1") _, out("r2") _, out("r3") _, out("r4") _, out("r5") _,
                out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
            );
        }
    }
}
