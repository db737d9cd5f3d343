//! Depthwise convolutions of channels one after the other in assembly.

use super::{last_shift, multiplied, narrowed, one};
use crate::arch::mve::affine::End;
use crate::arch::mve::depthwise::{Group, Space, Tile};
use crate::arch::mve::LANES;
use core::marker::PhantomData;

/// What the block reads of channels, in its order: addresses, bytes and counts.
#[repr(C)]
pub(crate) struct Prepared<'a> {
    /// From the end of the last tile of a channel to the window of the next.
    x_next: usize,
    w_end: usize,
    /// Halves of tiles of a channel.
    halves: usize,
    /// Keeps the stack aligned.
    _unused: usize,
    x: usize,
    y: usize,
    w: usize,
    of: PhantomData<&'a i32>,
}

impl<'a> Prepared<'a> {
    /// Of channels with these words.
    #[inline(always)]
    pub(crate) fn of(space: &Space<'_>, w: &'a [i32]) -> Self {
        let tiles = space.row / 8;
        Prepared {
            x_next: space.window.wrapping_sub(8 * tiles * space.tile.step),
            w_end: w.as_ptr_range().end as usize,
            halves: space.row / 4,
            _unused: 0,
            x: space.windows.as_ptr() as usize,
            y: space.results.as_ptr() as usize,
            w: w.as_ptr() as usize,
            of: PhantomData,
        }
    }
}

/// All pixels of a group's channels. With `TURNS`, the first line of a window is its `phase`th.
#[inline(never)]
pub(crate) fn eights_of_pixels<
    const LINES: usize,
    const ALONG: usize,
    const STRIDE: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const TURNS: bool,
>(
    group: &Group<'_>,
    phase: usize,
) {
    if let Some(places) = const { turned::<LINES>(Tile::of(LINES, ALONG, STRIDE).before()) }.get(phase) {
        // SAFETY: the group has windows, as far as the vectors of the last tile reach, results, and weights of its channels.
        unsafe { block::<LINES, ALONG, STRIDE, SHIFT, EXACT, CLAMPED, TURNS>(&group.prepared, places) }
    }
}

/// For each line that may come first, where the weight of each lane is, behind so many bytes: turned in each complete group of lines. What follows those is zero.
const fn turned<const LINES: usize>(before: usize) -> [[u8; LANES]; LINES] {
    let mut turned = [[0; LANES]; LINES];
    let (mut phase, mut lane) = (0, 0);
    while phase < LINES {
        let (group, line) = (lane / LINES * LINES, lane % LINES);
        let place = if group + LINES > LANES { lane } else { group + (line + LINES - phase) % LINES };
        turned[phase][lane] = (before + place) as u8;
        lane += 1;
        if lane == LANES {
            (phase, lane) = (phase + 1, 0);
        }
    }
    turned
}

/// Assembly: the sum `$sum` of the pixel whose taps begin `$at` steps behind those of the first, of one to four vectors.
#[rustfmt::skip]
macro_rules! alone {
    ($sum:literal, $at:literal) => {
        concat!(
            "vldrb.8 q0, [r9, #(", $at, " * {step})]\n",
            "vmladav.s8 ", $sum, ", q0, q4\n",
            ".if {vectors} > 1\n",
            "vldrb.8 q1, [r9, #(", $at, " * {step} + 16)]\n",
            "vmladava.s8 ", $sum, ", q1, q5\n",
            ".endif\n",
            ".if {vectors} > 2\n",
            "vldrb.8 q2, [r9, #(", $at, " * {step} + 32)]\n",
            "vmladava.s8 ", $sum, ", q2, q6\n",
            ".endif\n",
            ".if {vectors} > 3\n",
            "vldrb.8 q0, [r9, #(", $at, " * {step} + 48)]\n",
            "vmladava.s8 ", $sum, ", q0, q7\n",
            ".endif\n",
        )
    };
}

/// The assembly.
///
/// r0, r2, r4, r6, r8, r10, r12, lr are the sums of eight pixels; r9 points to the window of a channel, r5 to its weights, r1 to its results; r3 and r11 are its first value and its constant, q3 is its multiplier, q4 to q7
/// are its taps, for up to three pixels whose taps begin one step after the other; q7 may be the places of taps that are turned, or the shift; r7 counts halves of tiles.
///
/// # Safety
///
/// What is prepared is of a [`Group`].
#[inline(always)]
unsafe fn block<
    const LINES: usize,
    const ALONG: usize,
    const STRIDE: usize,
    const SHIFT: u32,
    const EXACT: bool,
    const CLAMPED: bool,
    const TURNS: bool,
>(
    prepared: &Prepared<'_>,
    places: &[u8; LANES],
) {
    // SAFETY: as the caller promises. Every register is declared, or saved and restored.
    unsafe {
        core::arch::asm!(
            "push {{r6, r7}}",
            ".if {turns}",
            "vldrb.8 q7, [r1]",
            ".endif",
            "ldrd r9, r1, [r0, #16]",
            "ldr r5, [r0, #24]",
            "ldm r0, {{r2, r3, r4, r8}}",
            "push {{r2, r3, r4, r8}}",
            // Each channel.
            "2:",
            "ldrd r3, r11, [r5], #8",
            ".if {shifts}",
            "ldr r2, [r5, #4]",
            "vdup.32 q7, r2",
            ".endif",
            "ldr r0, [r5], #(4 * ({words} - 2))",
            "vdup.32 q3, r0",
            ".if {vectors} > 1",
            "vldrb.8 q4, [r5]",
            "vldrb.8 q5, [r5, #16]",
            ".if {vectors} > 2",
            "vldrb.8 q6, [r5, #32]",
            ".endif",
            ".if {vectors} > 3",
            "vldrb.8 q7, [r5, #48]",
            ".endif",
            ".elseif {turns}",
            "vldrb.u8 q4, [r5, q7]",
            ".if {together} > 1",
            "sub r0, r5, #{step}",
            "vldrb.u8 q5, [r0, q7]",
            ".endif",
            ".if {together} > 2",
            "sub r0, r0, #{step}",
            "vldrb.u8 q6, [r0, q7]",
            ".endif",
            ".else",
            // The last of them moves on.
            ".if {together} == 3",
            "vldrb.8 q4, [r5, #{before}]",
            "vldrb.8 q5, [r5, #({before} - {step})]",
            "vldrb.8 q6, [r5], #{bytes}",
            ".elseif {together} == 2",
            "vldrb.8 q4, [r5, #{before}]",
            "vldrb.8 q5, [r5], #{bytes}",
            ".else",
            "vldrb.8 q4, [r5], #{bytes}",
            ".endif",
            ".endif",
            ".if {vectors} > 1 || {turns}",
            "add r5, r5, #{bytes}",
            ".endif",
            "ldr r7, [sp, #8]",
            "subs r7, r7, #2",
            "blt 4f",
            // Each tile: sums.
            "3:",
            ".if {together} == 3",
            "vldrb.8 q0, [r9], #(3 * {step})",
            "vmladav.s8 r0, q0, q4",
            "vldrb.8 q1, [r9], #(3 * {step})",
            "vmladav.s8 r2, q0, q5",
            "vmladav.s8 r4, q0, q6",
            "vldrb.8 q2, [r9], #(2 * {step})",
            "vmladav.s8 r6, q1, q4",
            "vmladav.s8 r8, q1, q5",
            "vmladav.s8 r10, q1, q6",
            "vmladav.s8 r12, q2, q4",
            "vmladav.s8 lr, q2, q5",
            ".elseif {together} == 2",
            "vldrb.8 q0, [r9], #(2 * {step})",
            "vmladav.s8 r0, q0, q4",
            "vldrb.8 q1, [r9], #(2 * {step})",
            "vmladav.s8 r2, q0, q5",
            "vmladav.s8 r4, q1, q4",
            "vldrb.8 q2, [r9], #(2 * {step})",
            "vmladav.s8 r6, q1, q5",
            "vmladav.s8 r8, q2, q4",
            "vldrb.8 q0, [r9], #(2 * {step})",
            "vmladav.s8 r10, q2, q5",
            "vmladav.s8 r12, q0, q4",
            "vmladav.s8 lr, q0, q5",
            ".else",
            alone!("r0", "0"),
            alone!("r2", "1"),
            alone!("r4", "2"),
            alone!("r6", "3"),
            alone!("r8", "4"),
            alone!("r10", "5"),
            alone!("r12", "6"),
            alone!("lr", "7"),
            "add r9, r9, #(8 * {step})",
            ".endif",
            // Results: even pixels, then odd ones.
            "vmov q0[2], q0[0], r0, r8",
            "vmov q0[3], q0[1], r4, r12",
            "vmov q1[2], q1[0], r2, r10",
            "vmov q1[3], q1[1], r6, lr",
            "vadd.i32 q0, q0, r3",
            "vadd.i32 q1, q1, r3",
            one!("r0"),
            multiplied!("q0", "q3", "r11", "r0"),
            multiplied!("q1", "q3", "r11", "r0"),
            ".if {exact}",
            ".if {shifts}",
            "vshl.s32 q0, q0, q7",
            "vshl.s32 q1, q1, q7",
            ".else",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 3))]",
            "vshl.s32 q0, r0",
            "vshl.s32 q1, r0",
            ".endif",
            ".if {clamped}",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 4))]",
            "vdup.32 q2, r0",
            "vmax.s32 q0, q0, q2",
            "vmax.s32 q1, q1, q2",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 5))]",
            "vdup.32 q2, r0",
            "vmin.s32 q0, q0, q2",
            "vmin.s32 q1, q1, q2",
            ".endif",
            ".endif",
            narrowed!("b", "q0", "q0"),
            narrowed!("t", "q0", "q1"),
            "vqmovnb.s16 q0, q0",
            "vstrb.16 q0, [r1], #8",
            "subs r7, r7, #2",
            "bge 3b",
            // Half a tile.
            "4:",
            "adds r7, r7, #1",
            "bne 5f",
            ".if {together} > 1",
            "vldrb.8 q0, [r9]",
            "vmladav.s8 r0, q0, q4",
            "vldrb.8 q1, [r9, #({together} * {step})]",
            "vmladav.s8 r2, q0, q5",
            ".if {together} == 3",
            "vmladav.s8 r4, q0, q6",
            "vmladav.s8 r6, q1, q4",
            ".else",
            "vmladav.s8 r4, q1, q4",
            "vmladav.s8 r6, q1, q5",
            ".endif",
            ".else",
            alone!("r0", "0"),
            alone!("r2", "1"),
            alone!("r4", "2"),
            alone!("r6", "3"),
            ".endif",
            "vmov q0[2], q0[0], r0, r4",
            "vmov q0[3], q0[1], r2, r6",
            "vadd.i32 q0, q0, r3",
            one!("r0"),
            multiplied!("q0", "q3", "r11", "r0"),
            ".if {exact}",
            ".if {shifts}",
            "vshl.s32 q0, q0, q7",
            ".else",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 3))]",
            "vshl.s32 q0, r0",
            ".endif",
            ".if {clamped}",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 4))]",
            "vdup.32 q2, r0",
            "vmax.s32 q0, q0, q2",
            "ldr r0, [r5, #-({bytes} + 4 * ({words} - 5))]",
            "vdup.32 q2, r0",
            "vmin.s32 q0, q0, q2",
            ".endif",
            ".endif",
            narrowed!("b", "q0", "q0"),
            "vqmovnb.s16 q0, q0",
            "vstrb.32 q0, [r1], #4",
            // The next channel.
            "5:",
            "ldrd r0, r2, [sp]",
            "add r9, r9, r0",
            "cmp r5, r2",
            "bne 2b",
            "add sp, sp, #16",
            "pop {{r6, r7}}",
            step = const LINES * STRIDE,
            before = const Tile::of(LINES, ALONG, STRIDE).before(),
            bytes = const Tile::of(LINES, ALONG, STRIDE).bytes(),
            vectors = const Tile::of(LINES, ALONG, STRIDE).vectors,
            together = const Tile::of(LINES, ALONG, STRIDE).together,
            words = const End::of(SHIFT, EXACT, CLAMPED).words(),
            exact = const EXACT as usize,
            // Where its register is free.
            shifts = const (EXACT && !TURNS && Tile::of(LINES, ALONG, STRIDE).vectors < 4) as usize,
            left = const 0,
            turns = const TURNS as usize,
            clamped = const CLAMPED as usize,
            shift = const last_shift(SHIFT),
            inout("r0") prepared => _, inout("r1") places.as_ptr() => _, out("r2") _, out("r3") _, out("r4") _, out("r5") _, out("r8") _, out("r9") _,
            out("r10") _, out("r11") _, out("r12") _, out("lr") _,
            out("d0") _, out("d1") _, out("d2") _, out("d3") _, out("d4") _, out("d5") _, out("d6") _, out("d7") _,
            out("d8") _, out("d9") _, out("d10") _, out("d11") _, out("d12") _, out("d13") _, out("d14") _, out("d15") _,
        )
    }
}
