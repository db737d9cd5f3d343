//! Sequences of machine code whose cycles are counted by hand, from the tables of the cores' Technical Reference Manuals
//! (`docs/cycles.md`), executed under QEMU with the plugin that counts them.
// Helpers of tests are tests too, which clippy does not see.
#![allow(clippy::unwrap_used, clippy::panic)]

use kiln_boards::cycles::Count;
use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::qemu::{count_steps, Markers, Steps};
use kiln_boards::Board;
use std::time::Duration;

/// Assembly, executed instructions, cycles.
///
/// `r4` is the address of 64 bytes, aligned to 16; `r5` is 4, `r6` 1, `r7` 0. `r0` to `r3` are free. `leaf` and `leaf_pop` are functions.
type Sequence = (&'static str, u64, u64);

/// Of every Armv7E-M.
const CORTEX_M4: &[Sequence] = &[
    // Data processing.
    ("adds r0, r1, r2", 1, 1),
    (
        "add.w r0, r1, r2, lsl #3; sxtb16 r0, r1, ror #8; ssat r0, #8, r1, asr #4; pkhbt r0, r1, r2, lsl #16",
        4,
        4,
    ),
    ("mul r0, r1, r2; mla r0, r1, r2, r3; smull r0, r1, r2, r3; smlal r0, r1, r2, r3", 4, 4),
    ("smlad r0, r1, r2, r3; smmlar r0, r1, r2, r3; smlabb r0, r1, r2, r3; smlald r0, r1, r2, r3", 4, 4),
    ("sdiv r0, r5, r6; udiv r0, r5, r6", 2, 12),
    // Loads overlap with what is loaded or stored right before.
    ("ldr r0, [r4]", 1, 2),
    ("ldr r0, [r4]; ldr r1, [r4, #4]", 2, 3),
    ("ldr r0, [r4]; ldr.w r1, [r4, #4]; ldrsb r2, [r4, r5]; ldrh r3, [r4, #2]", 4, 5),
    ("ldr r0, [r4]; adds r1, r2, r3; ldr r0, [r4]", 3, 5),
    ("mov r1, r4; ldr r0, [r1], #4; ldr r2, [r1, #4]!", 3, 4),
    ("ldr r0, 2f; b 3f; .balign 4; 2: .word 0; 3:", 2, 5),
    // Stores.
    ("str r0, [r4]; str r0, [r4, #4]; strb r0, [r4, #8]", 3, 3),
    ("str r0, [r4, r5]", 1, 2),
    ("str.w r0, [r4, r5, lsl #1]; adds r0, r1, r2", 2, 3),
    ("ldr r0, [r4]; str r0, [r4, r5]", 2, 3),
    ("mov r1, r4; str r0, [r1], #4; strh r0, [r1, #2]!", 3, 3),
    // Several registers: nothing overlaps with them.
    ("ldrd r0, r1, [r4]", 1, 3),
    ("ldrd r0, r1, [r4]; ldr r2, [r4]", 2, 5),
    ("ldr r2, [r4]; ldrd r0, r1, [r4]", 2, 5),
    ("strd r0, r1, [r4, #8]", 1, 3),
    ("ldm r4, {r0-r3}", 1, 5),
    ("ldm.w r4, {r0, r3, r12}", 1, 4),
    ("mov r0, r4; stmia r0!, {r1-r3}", 2, 5),
    ("push {r0-r3}; pop {r0-r3}", 2, 10),
    // Changes of flow.
    ("b 2f; nop; 2:", 1, 3),
    ("cmp r5, #4; bne 2f; nop; 2:", 3, 3),
    ("cmp r5, #4; beq 2f; nop; 2:", 2, 4),
    ("cmp r5, #4; beq.w 2f; nop; 2:", 2, 4),
    ("cbz r7, 2f; nop; 2:", 1, 3),
    ("cbnz r7, 2f; nop; 2:", 2, 2),
    ("movs r0, #10; 2: subs r0, #1; bne 2b", 21, 1 + 10 * 2 + 9 * 2),
    ("movs r0, #5; 2: ldr r1, [r4]; ldr r2, [r4, #4]; subs r0, #1; bne 2b", 21, 1 + 5 * 5 + 4 * 2),
    ("bl leaf", 2, 6),
    ("bl leaf_pop", 3, 3 + 3 + 5),
    ("tbb [pc, r7]; 2: .byte (3f - 2b) / 2, 0; nop; 3:", 1, 4),
    // Both branches of an IT block are fetched, and count.
    ("cmp r5, #4; ite eq; moveq r0, #1; movne r0, #2", 4, 4),
    ("mrs r0, apsr", 1, 2),
    ("dmb", 1, 1),
    // The emulator translates no block across a border of 1 KiB. The overlap of loads goes on, also where an instruction lies across it.
    ("b.w 2f; .balign 1024; .space 1020; 2: ldr.w r0, [r4]; ldr.w r1, [r4]", 3, 3 + 3),
    ("b.w 2f; .balign 1024; .space 1022; 2: ldr.w r0, [r4]; ldr.w r1, [r4]", 3, 3 + 3),
    ("b.w 2f; .balign 1024; .space 1020; 2: smlad r0, r1, r2, r3; b 3f; nop; 3:", 3, 3 + 1 + 3),
    // Float.
    ("vldr s0, [r4]; vldr s1, [r4]", 2, 4),
    ("vadd.f32 s0, s1, s2; vmul.f32 s0, s1, s2; vmov r0, s0", 3, 3),
    ("vmla.f32 s0, s1, s2; vfma.f32 s0, s1, s2", 2, 6),
    ("vdiv.f32 s0, s1, s2; vsqrt.f32 s0, s1", 2, 28),
    ("vldm r4, {s0-s3}; vmov r0, r1, s0, s1", 2, 7),
];

/// Of Armv7-M: what is as on a Cortex-M4, and the multipliers, which are not.
const CORTEX_M3: &[Sequence] = &[
    ("ldr r0, [r4]; ldr r1, [r4, #4]; ldm r4, {r0-r3}", 3, 8),
    ("mul r0, r1, r2", 1, 1),
    ("mla r0, r1, r2, r3; mls r0, r1, r2, r3", 2, 4),
    ("smull r0, r1, r2, r3", 1, 5),
    ("smlal r0, r1, r2, r3", 1, 7),
    ("movs r0, #10; 2: subs r0, #1; bne 2b", 21, 39),
];

/// Of Armv6-M.
const CORTEX_M0PLUS: &[Sequence] = &[
    ("adds r0, r1, r2; muls r0, r1; sxtb r0, r1; lsls r0, r1, #3", 4, 4),
    ("ldr r0, [r4]; ldr r1, [r4, #4]; ldrb r2, [r4, r5]", 3, 6),
    ("str r0, [r4]; str r0, [r4, r5]", 2, 4),
    ("mov r0, r4; ldmia r0!, {r1-r3}; push {r0-r3}; pop {r0-r3}", 4, 1 + 4 + 5 + 5),
    ("b 2f; nop; 2:", 1, 2),
    ("cmp r5, #4; bne 2f; nop; 2:", 3, 3),
    ("cmp r5, #4; beq 2f; nop; 2:", 2, 3),
    ("movs r0, #10; 2: subs r0, #1; bne 2b", 21, 1 + 10 * 2 + 9),
    ("bl leaf", 2, 3 + 2),
    ("bl leaf_pop", 3, 3 + 3 + 5),
    ("mrs r0, apsr; dmb", 2, 6),
];

#[test]
fn sequences_on_a_cortex_m4() {
    // From one mark to the next: the return from it, and the call of the other.
    check("qemu-cortex-m4", CORTEX_M4, Count { instructions: 2, cycles: 3 + 3 });
}

#[test]
fn the_same_on_a_core_whose_timing_nobody_knows() {
    check("qemu-cortex-m33", CORTEX_M4, Count { instructions: 2, cycles: 3 + 3 });
}

/// Of a Cortex-M7. `dmb` goes alone, so that the next mark begins no pair with what is before it.
const CORTEX_M7: &[Sequence] = &[
    ("dmb", 1, 1),
    ("adds r0, r1, r2; adds r3, r1, r2; dmb", 3, 1 + 1),
    ("adds r0, r1, r2; adds r3, r0, r2; dmb", 3, 1 + 1 + 1),
    ("ldr r0, [r4]; ldr r1, [r4, #4]; dmb", 3, 1 + 1),
    ("ldr r0, [r4]; smlad r1, r0, r0, r1; adds r2, r2, r3; dmb", 4, 1 + 1 + 1),
    // Each turn begins together. The last branch was predicted to go back.
    ("movs r0, #10; 2: subs r0, #1; bne 2b; dmb", 22, 1 + 10 + 6 + 1),
];

#[test]
fn sequences_on_a_cortex_m7() {
    // The call is predicted, the return is not.
    check("qemu-cortex-m7", CORTEX_M7, Count { instructions: 2, cycles: 3 + 1 });
}

/// Of a Cortex-M55.
const CORTEX_M55: &[Sequence] = &[
    ("ldr r0, [r4]; ldr r1, [r4, #4]", 2, 2),
    ("ldr r0, [r4]; adds r1, r0, r2", 2, 1 + 2),
    ("adds r1, r2, r3; movs r0, #1", 2, 1),
    ("vldrb.u8 q0, [r4]; vmladava.s8 r0, q0, q1; vldrb.u8 q0, [r4]; vmladava.s8 r0, q0, q1", 4, 4),
    ("vldrb.u8 q0, [r4]; vldrb.u8 q1, [r4]; vmladava.s8 r0, q0, q1", 3, 1 + 2 + 1),
    // Two cycles each turn, and once what the first turn takes to be known.
    (
        "movs r0, #5; dls lr, r0; 2: vldrb.u8 q0, [r4]; vmladava.s8 r0, q0, q1; le lr, 2b",
        17,
        1 + 1 + 5 * 2 + 3,
    ),
    // Loads wait across a border of 1 KiB too.
    ("b.w 2f; .balign 1024; .space 1020; 2: vldrb.u8 q0, [r4]; vldrb.u8 q0, [r4]", 3, 3 + 1 + 2),
];

#[test]
fn sequences_on_a_cortex_m55() {
    check("qemu-cortex-m55", CORTEX_M55, Count { instructions: 2, cycles: 3 + 3 });
}

#[test]
fn sequences_on_a_cortex_m3() {
    check("qemu-cortex-m3", CORTEX_M3, Count { instructions: 2, cycles: 3 + 3 });
}

#[test]
fn sequences_on_a_cortex_m0plus() {
    check("qemu-cortex-m0", CORTEX_M0PLUS, Count { instructions: 2, cycles: 2 + 3 });
}

/// Of Hazard3.
const HAZARD3: &[Sequence] = &[
    ("add a0, a1, a2; slli a0, a0, 3; lui a0, 5", 3, 3),
    ("lw a0, 0(s0); lbu a1, 4(s0)", 2, 4),
    ("sw a0, 0(s0); sb a0, 4(s0)", 2, 2),
    ("mul a0, a1, a2; mulh a0, a1, a2", 2, 2),
    ("div a0, s1, s1; remu a0, s1, s1", 2, 36),
    ("beq s1, s1, 2f; nop; 2:", 1, 2),
    ("bne s1, s1, 2f; nop; 2:", 2, 2),
    ("j 2f; nop; 2:", 1, 2),
    ("li a0, 10; 2: addi a0, a0, -1; bnez a0, 2b", 21, 1 + 10 * 2 + 9),
    ("jal leaf", 2, 2 + 2),
    ("csrr a0, mstatus", 1, 1),
    // Bit manipulation, and atomic accesses.
    ("sh2add a0, a1, a2; andn a0, a1, a2; max a0, a1, a2; clz a0, a1; sext.b a0, a1; rev8 a0, a1", 6, 6),
    ("bset a0, a1, a2; bexti a0, a1, 3; pack a0, a1, a2; packh a0, a1, a2", 4, 4),
    ("lr.w a0, (s0); sc.w a1, a0, (s0); amoadd.w a0, a1, (s0)", 3, 2 + 2 + 4),
];

#[test]
fn sequences_on_hazard3() {
    check("qemu-rv32imac-zb", HAZARD3, Count { instructions: 2, cycles: 2 + 2 });
}

#[test]
fn unaligned_loads_are_counted_apart() {
    const SEQUENCES: &[Sequence] = &[
        ("adds r0, r4, #1; ldr r1, [r0]; ldrh r1, [r0]; ldrsb r1, [r0]", 4, 1 + 4),
        ("adds r0, r4, #2; ldr r1, [r0]; ldrh r1, [r0]; str r1, [r0]", 4, 1 + 4),
    ];
    let counted = check("qemu-cortex-m4", SEQUENCES, Count { instructions: 2, cycles: 3 + 3 });
    // From an odd address two for a word and one for a halfword, from an even one one for a word, nothing for stores.
    assert_eq!(counted.unaligned_cycles, 2 + 1 + 1);
}

/// Runs the sequences one after the other, and compares each with what was counted by hand. `mark` is what a mark costs.
#[track_caller]
fn check(board: &str, sequences: &[Sequence], mark: Count) -> Steps {
    let board = Board::find(board).unwrap();
    let assembly = if board.target.starts_with("riscv") { riscv(sequences) } else { cortex_m(sequences) };
    let request = ProgramRequest { board, name: "sequences", main_rs: main_rs(&assembly), dependencies: &[] };
    let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    let markers = Markers { begin: "sequences_begin", end: "sequences_end", step: Some("mark") };
    let counted = count_steps(board, &elf, &markers, Duration::from_secs(60)).unwrap();
    assert_eq!(counted.steps.len(), sequences.len() + 1, "one mark before each, and one behind the last");
    let wrong: Vec<String> = sequences
        .iter()
        .zip(&counted.steps)
        .filter_map(|((text, instructions, cycles), step)| {
            let counted = (step.instructions - mark.instructions, step.cycles.saturating_sub(mark.cycles));
            (counted != (*instructions, *cycles)).then(|| {
                format!(
                    "{text}: counted {counted:?} instructions and cycles, by hand {:?}",
                    (instructions, cycles)
                )
            })
        })
        .collect();
    assert!(wrong.is_empty(), "{}:\n{}", board.name, wrong.join("\n"));
    counted
}

/// Calls `sequences(memory)`, which `assembly` defines.
fn main_rs(assembly: &str) -> String {
    format!(
        r##"#![no_std]
#![no_main]
core::arch::global_asm!(r#"{assembly}"#, options(raw));

#[repr(align(16))]
struct Memory([u32; 16]);

extern "C" {{
    fn sequences(memory: *mut Memory);
}}

kiln_harness::main!(Memory = Memory([0; 16]), |memory| {{
    unsafe {{ sequences(memory) }};
    kiln_harness::exit(0)
}});
"##
    )
}

fn cortex_m(sequences: &[Sequence]) -> String {
    let body: String = sequences.iter().map(|(text, ..)| format!("bl mark\n{text}\n")).collect();
    // In places of their own, so that no sequence depends on the addresses of the others.
    format!(
        r#"
.section .text.sequences, "ax"
.balign 1024
.global sequences, sequences_begin, sequences_end, mark
.thumb_func
sequences:
    push {{r4-r7, lr}}
    mov r4, r0
    movs r5, #4
    movs r6, #1
    movs r7, #0
    bl sequences_begin
    {body}
    bl mark
    bl sequences_end
    pop {{r4-r7, pc}}
.thumb_func
sequences_begin:
    bx lr
.thumb_func
sequences_end:
    bx lr
.thumb_func
mark:
    bx lr
.thumb_func
leaf:
    bx lr
.thumb_func
leaf_pop:
    push {{r0, lr}}
    pop {{r0, pc}}
"#
    )
}

fn riscv(sequences: &[Sequence]) -> String {
    let body: String = sequences.iter().map(|(text, ..)| format!("jal mark\n{text}\n")).collect();
    format!(
        r#"
.section .text.sequences, "ax"
.balign 1024
.global sequences, sequences_begin, sequences_end, mark
sequences:
    addi sp, sp, -16
    sw ra, 0(sp)
    sw s0, 4(sp)
    sw s1, 8(sp)
    mv s0, a0
    li s1, 4
    jal sequences_begin
    {body}
    jal mark
    jal sequences_end
    lw ra, 0(sp)
    lw s0, 4(sp)
    lw s1, 8(sp)
    addi sp, sp, 16
    ret
sequences_begin:
    ret
sequences_end:
    ret
mark:
    ret
leaf:
    ret
"#
    )
}
