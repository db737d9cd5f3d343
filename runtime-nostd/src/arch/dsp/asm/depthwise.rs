//! Pixels of a depthwise convolution of a channel-last image in assembly.
//!
//! Four channels at a time: `SXTAB16` makes two pairs of 16-bit numbers of their bytes and subtracts the padding, `SXTB16` two pairs of their weights, and
//! `SMLABB` and `SMLATT` add the products of halves to four sums. The taps are *runs* at equal distances, which Rust has listed; a run enters the unrolled loop
//! where as many taps are left as it has.
//!
//! | r0–r3 | r4, r6 | r5, r7 | r8 | r9 | r10 | r11 | r12 | lr |
//! |---|---|---|---|---|---|---|---|---|
//! | sums | pixels | weights | next tap | next weights | −padding twice | next run | turns that are left | channel |

use crate::arch::dsp::depthwise::Pixel;
use crate::arch::extent::{product, product_of};
use crate::params::Conv;
use core::arch::asm;
use core::cell::Cell;

/// Taps at equal distances.
#[repr(C)]
#[derive(Clone, Copy)]
struct Run {
    /// The first one, in the first channel.
    at: *const i8,
    /// Bytes of weights that are left out before it.
    skipped: usize,
    /// Turns of the loop.
    turns: usize,
    /// Where the first turn begins: bytes of code.
    entry: usize,
}

/// Runs of a pixel at most, with the one that ends the list.
const RUNS: usize = 9;

/// Bytes of code per tap.
const fn tap_bytes(step: usize) -> usize {
    if step < 256 {
        40
    } else {
        44
    }
}

/// What the loops find on the stack. The offsets are in the assembly.
#[repr(C)]
struct Frame {
    /// 0: the list.
    runs: *mut Run,
    /// 4: the result.
    out: *mut i8,
    /// 8: the channel with which the last four begin.
    last: usize,
}

/// Assembly that is made for one distance of taps.
pub(crate) struct Block {
    step: usize,
    unroll: usize,
    signed: bool,
    quads: unsafe fn(*const Frame, *const i32, u32, usize),
}

impl Block {
    pub(crate) const fn of<const STEP: usize, const UNROLL: usize, const SHIFT: u32, const SIGNED: bool>(
    ) -> Self {
        let quads = quads_of::<STEP, UNROLL, SHIFT, SIGNED>;
        Block { step: STEP, unroll: UNROLL, signed: SIGNED, quads }
    }
}

/// One pixel of the result; nothing where it has another shape than the block is made for.
#[inline(never)]
pub(crate) fn pixel(
    p: &Conv,
    pixel: &Pixel<'_>,
    w: &[i32],
    pad: i8,
    out: &[Cell<i8>],
    block: &Block,
) -> bool {
    let column = p.k_w == 1;
    let step =
        if column { product_of([p.in_w, p.in_c, p.dilation_h]) } else { product(p.in_c, p.dilation_w) };
    // `for_pixels` has compared the taps with the weights.
    let words = 4 + p.k_h * p.k_w + if block.signed { 12 } else { 8 };
    let quads = p.in_c.div_ceil(4);
    let sizes =
        p.in_c >= 4 && p.out_c == p.in_c && out.len() >= p.in_c && w.len() >= quads.saturating_mul(words);
    if step != block.step || step > 4095 || block.unroll == 0 || !sizes {
        return false;
    }
    let zero = (-i32::from(pad) as u32 & 0xffff) * 0x1_0001;
    let frame = |runs: *mut Run| Frame { runs, out: out.as_ptr().cast_mut().cast(), last: p.in_c - 4 };
    let end_of_list = Run { at: core::ptr::null(), skipped: 0, turns: 0, entry: 0 };
    // The usual case of a column: its taps lie one behind the other.
    if column && p.dilation_h == 1 {
        if let (Some(row), Some(last)) = (pixel.row(p, 0), pixel.row(p, p.k_h.wrapping_sub(1))) {
            if !row.is_empty() && !last.is_empty() && pixel.run(p, 0) == p.k_h {
                let turns = p.k_h.div_ceil(block.unroll.max(1));
                let entry = (turns * block.unroll - p.k_h) * tap_bytes(step);
                let mut runs = [Run { at: row.as_ptr().cast(), skipped: 0, turns, entry }, end_of_list];
                // SAFETY: as below, with one run that reads all weights.
                unsafe { (block.quads)(&frame(runs.as_mut_ptr()), w.as_ptr(), zero, 1) }
                return true;
            }
        }
    }
    let (first, end) = pixel.columns;
    let mut runs = [end_of_list; RUNS];
    // Taps of a run stand in `turns` until all are known. `at` counts the weights that have been passed.
    let (mut count, mut at) = (0, 0);
    let mut ky = 0;
    while ky < p.k_h {
        let Some(row) = pixel.row(p, ky) else {
            ky += 1;
            continue;
        };
        let taps = if column { pixel.run(p, ky) } else { end - first };
        // The last row of the run is there as well.
        let rows = if column { taps } else { 1 };
        let (Some(run), true) = (runs.get_mut(..RUNS - 1).and_then(|runs| runs.get_mut(count)), taps > 0)
        else {
            return false;
        };
        if pixel.row(p, ky + rows - 1).is_none_or(<[_]>::is_empty) || row.is_empty() {
            return false;
        }
        *run = Run { at: row.as_ptr().cast(), skipped: 4 * (ky * p.k_w + first - at), turns: taps, entry: 0 };
        count += 1;
        at = if column { ky + taps } else { ky * p.k_w + end };
        ky += rows;
    }
    for run in runs.iter_mut().take(count) {
        let taps = run.turns;
        run.turns = taps.div_ceil(block.unroll.max(1));
        run.entry = (run.turns * block.unroll - taps) * tap_bytes(step);
    }
    if let Some(run) = runs.get_mut(count) {
        run.skipped = 4 * (p.k_h * p.k_w - at);
    }
    // SAFETY: a run's taps are pixels of the operand, each `in_c` bytes that are there: in a row, they are `step` apart (compared with the block's) between the first and the last column inside
    // of the image, which `for_pixels` has compared with the row; in a column, they are no more than lie behind each other up to the end of the ring, and the last of their rows is there.
    // Channels go up to `last` + 4 = `in_c`, which `out` has as well (`sizes`). Each four channels take `words` words of `w` (`sizes`): those that the runs skip and read are all its weights.
    // `count` runs and the last one are in the list.
    // Cells may be written through a shared reference.
    unsafe { (block.quads)(&frame(runs.as_mut_ptr()), w.as_ptr(), zero, count) }
    true
}

impl Pixel<'_> {
    /// How many taps of the only column of filters are read from one row of the operand behind the other, from row `ky` on: up to the end of the ring, and of
    /// the operand. None where rows have another length than `p` says.
    #[inline(always)]
    fn run(&self, p: &Conv, ky: usize) -> usize {
        if self.x.row_len() != product(p.in_w, p.in_c) {
            return 0;
        }
        let row = self.top.wrapping_add(ky.wrapping_mul(p.dilation_h));
        let rows = self.x.run_from(row).min(p.in_h.saturating_sub(row));
        rows.div_ceil(p.dilation_h.max(1)).min(p.k_h - ky)
    }
}

/// One sum in `$sum` becomes a result. The next multiplier is read.
#[rustfmt::skip]
macro_rules! rescale {
    ($sum:literal) => {
        concat!(
            ".if {signed}\n",
            "ldmia r9!, {{r4, r5, r6}}\n",
            ".else\n",
            "ldmia r9!, {{r4, r5}}\n",
            ".endif\n",
            affine!($sum, "r4", "r5", "r6"),
        )
    };
}

/// All channels of a pixel.
///
/// # Safety
/// `frame` describes a list of `count` runs and one more, and results that are there; `w` has the weights of all channels.
// Never inlined: the compiler does not know how long repeated code is, and might place constants out of reach.
#[inline(never)]
unsafe fn quads_of<const STEP: usize, const UNROLL: usize, const SHIFT: u32, const SIGNED: bool>(
    frame: *const Frame,
    w: *const i32,
    zero: u32,
    count: usize,
) {
    // SAFETY: as the caller promises. The stack pointer, r6, r7 and r11 are as they were when the block ends.
    unsafe {
        asm!(
            "push {{r6, r7, r11}}",
            "mov r9, r1",
            "mov r10, r2",
            "ldmia r0, {{r0, r1, r2}}",
            "push {{r0, r1, r2}}",
            "b 9f",
            // Four channels.
            "2:",
            "ldmia r9!, {{r0, r1, r2, r3}}",
            "ldr r11, [sp]",
            "ldmia r11!, {{r4, r5, r12}}",
            "add r8, r4, lr",
            "add r9, r9, r5",
            "ldr pc, [r11], #4",
            // Called once for the address behind it.
            "9:",
            "bl 8f",
            "4:",
            ".rept {unroll}",
            ".if {step} < 256",
            "ldr.w r4, [r8], #{step}",
            ".else",
            "ldr.w r4, [r8]",
            "addw r8, r8, #{step}",
            ".endif",
            "ldr.w r5, [r9], #4",
            "sxtab16 r6, r10, r4",
            "sxtab16 r4, r10, r4, ror #8",
            "sxtb16 r7, r5",
            "sxtb16 r5, r5, ror #8",
            "smlabb r0, r6, r7, r0",
            "smlatt r2, r6, r7, r2",
            "smlabb r1, r4, r5, r1",
            "smlatt r3, r4, r5, r3",
            ".endr",
            "subs r12, r12, #1",
            "bne 4b",
            "ldmia r11!, {{r4, r5, r12}}",
            "add r8, r4, lr",
            "add r9, r9, r5",
            "ldr pc, [r11], #4",
            // No more runs. Called once, too.
            "7:",
            "bl 5f",
            rescale!("r0"),
            rescale!("r1"),
            rescale!("r2"),
            rescale!("r3"),
            "ldr r4, [sp, #4]",
            "ldr r5, [sp, #8]",
            "add r4, r4, lr",
            "strb r0, [r4]",
            "strb r1, [r4, #1]",
            "strb r2, [r4, #2]",
            "strb r3, [r4, #3]",
            "cmp lr, r5",
            "beq 6f",
            "add lr, lr, #4",
            "cmp lr, r5",
            "it hi",
            "movhi lr, r5",
            "b 2b",
            "8:",
            "mov r4, lr",
            "b 7b",
            // Where the runs enter becomes an address.
            "5:",
            "mov r11, r0",
            "cmp r3, #0",
            "beq 3f",
            "4:",
            "ldr r6, [r11, #12]",
            "add r6, r6, r4",
            "str r6, [r11, #12]",
            "add r11, r11, #16",
            "subs r3, r3, #1",
            "bne 4b",
            "3:",
            "str lr, [r11, #12]",
            "mov lr, r3",
            "b 2b",
            "6:",
            "add sp, sp, #12",
            "pop {{r6, r7, r11}}",
            step = const STEP,
            unroll = const UNROLL,
            signed = const SIGNED as u32,
            shift = const SHIFT + if SIGNED { 8 } else { 0 },
            inout("r0") frame => _, inout("r1") w => _, inout("r2") zero => _, inout("r3") count => _,
            out("r4") _, out("r5") _, out("r8") _, out("r9") _, out("r10") _, out("r12") _, out("lr") _,
        );
    }
}
