//! What one instruction costs on a Cortex-M4: its class, its cycles, and how it interacts with its neighbours. What other cores
//! do otherwise is in `cores`; the whole model, and what it leaves out, is described in `docs/cycles.md`.
//!
//! Source: Cortex-M4 Technical Reference Manual (Arm 100166), section 3.3, tables 3-1 to 3-3, for memory without wait states.
//!
//! | instructions | cycles |
//! |---|---|
//! | data processing, multiply (also long, also accumulating), all of the DSP extension | 1 |
//! | `SDIV`, `UDIV` | 2 to 12; taken as [`DIVIDE`] |
//! | load of one register | 2, or 1 right after another load or store of one register (their address and data phases overlap) |
//! | store of one register | immediate offset: 1 (write buffer); register offset: 2, or 1 right after another load or store |
//! | `LDRD`, `STRD` | 3 |
//! | `LDM`, `STM`, `PUSH`, `POP` of N registers | 1 + N |
//! | anything that writes PC, if it does | + P, the refill of the pipeline, taken as [`REFILL`] |
//! | branch not taken | 1 |
//! | `TBB`, `TBH` | 2 + P |
//! | `MRS`, `MSR` | 2 |
//! | barriers, `IT`, hints | 1 |
//! | `VLDR`, `VSTR` | 1 + N words |
//! | `VLDM`, `VSTM`, `VPUSH`, `VPOP` of N words | 1 + N |
//! | `VDIV`, `VSQRT` | 14 |
//! | `VMLA`, `VMLS`, `VFMA` and their kin | 3 |
//! | `VMOV` of two core registers | 2 |
//! | other float instructions | 1 |
use super::pipeline::Issue;

/// Extra cycles of a change of flow. The manual says 1 to 3, depending on alignment and prefetch.
pub const REFILL: u32 = 2;

/// Cycles of a division. The manual says 2 to 12, depending on the operands.
pub const DIVIDE: u32 = 6;

/// What kind of work an instruction does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Class {
    /// Data processing: arithmetic, logic, shifts, moves, extension, saturation.
    Alu,
    /// Multiplication, also long and accumulating.
    Multiply,
    /// Multiplication of halfwords and of pairs of halfwords (`SMLAD` and its kin), and `SMMLA`.
    DspMultiply,
    /// Integer division.
    Divide,
    /// Load of one register.
    Load,
    /// Store of one register.
    Store,
    /// Load or store of several registers.
    Multiple,
    /// Branch.
    Branch,
    /// Floating point, loads and stores included.
    Float,
    /// Vectors of Helium, loads, stores and predicates included.
    Vector,
    /// System instructions, hints, barriers, other coprocessors.
    Other,
}

impl Class {
    /// Every class, in order of its discriminant.
    pub const ALL: [Class; 11] = [
        Class::Alu,
        Class::Multiply,
        Class::DspMultiply,
        Class::Divide,
        Class::Load,
        Class::Store,
        Class::Multiple,
        Class::Branch,
        Class::Float,
        Class::Vector,
        Class::Other,
    ];

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Class::Alu => "alu",
            Class::Multiply => "multiply",
            Class::DspMultiply => "dsp-multiply",
            Class::Divide => "divide",
            Class::Load => "load",
            Class::Store => "store",
            Class::Multiple => "multiple",
            Class::Branch => "branch",
            Class::Float => "float",
            Class::Vector => "vector",
            Class::Other => "other",
        }
    }
}

/// How a load or store overlaps with the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// Not at all, nor may the next one overlap with it.
    None,
    /// Takes one cycle after another load or store of one register.
    Takes,
    /// Always takes one cycle; the next one may overlap with it.
    Gives,
}

/// Where an instruction goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next one.
    Straight,
    /// Perhaps elsewhere.
    Branch {
        /// What it costs more if it goes elsewhere.
        taken: u32,
        /// What it costs more if it does not.
        passed: u32,
    },
}

impl Flow {
    /// Of what costs so much more if it goes elsewhere; 0 for what never does.
    pub const fn refilling(taken: u32) -> Self {
        match taken {
            0 => Flow::Straight,
            _ => Flow::Branch { taken, passed: 0 },
        }
    }
}

/// What the model knows of one instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    /// Its class.
    pub class: Class,
    /// Its cycles by itself, without a change of flow.
    pub cycles: u32,
    /// How it overlaps.
    pub overlap: Overlap,
    /// Where it goes.
    pub flow: Flow,
    /// How it goes through a pipeline that is modelled. Its cycles are then what it waits there, and `cycles` and `overlap` say nothing.
    pub issue: Option<Issue>,
}

impl Cost {
    /// Of an instruction that overlaps with nothing and goes on to the next one.
    pub const fn new(class: Class, cycles: u32) -> Self {
        Cost { class, cycles, overlap: Overlap::None, flow: Flow::Straight, issue: None }
    }

    const fn load() -> Self {
        Cost { overlap: Overlap::Takes, ..Cost::new(Class::Load, 2) }
    }

    const fn store_immediate() -> Self {
        Cost { overlap: Overlap::Gives, ..Cost::new(Class::Store, 1) }
    }

    const fn store_register() -> Self {
        Cost { overlap: Overlap::Takes, ..Cost::new(Class::Store, 2) }
    }

    const fn multiple(registers: u32) -> Self {
        Cost::new(Class::Multiple, 1 + registers)
    }

    const fn branch() -> Self {
        Cost::new(Class::Branch, 1).branching_if(true)
    }

    const fn branching_if(self, branches: bool) -> Self {
        Cost { flow: Flow::refilling(if branches { REFILL } else { 0 }), ..self }
    }

    /// What it costs more if it goes elsewhere; 0 for what never does.
    pub fn refill(&self) -> u32 {
        match self.flow {
            Flow::Straight => 0,
            Flow::Branch { taken, .. } => taken,
        }
    }

    /// Its cycles after `before`.
    pub fn cycles_after(&self, before: Overlap) -> u32 {
        if self.overlap == Overlap::Takes && before != Overlap::None {
            1
        } else {
            self.cycles
        }
    }
}

/// Whether an instruction that starts with this halfword has a second one.
pub fn is_wide(first: u16) -> bool {
    first >> 11 > 0b11100
}

/// The cost of an instruction of one halfword, or of two.
pub fn cost(first: u16, second: Option<u16>) -> Cost {
    match second {
        None => narrow(first),
        Some(second) => wide(first, second),
    }
}

/// 16-bit encodings: Armv7-M Architecture Reference Manual, A5.2.
fn narrow(op: u16) -> Cost {
    let is = |mask: u16, value: u16| op & mask == value;
    match op >> 12 {
        // MUL is the only data-processing instruction of its group that is not of the ALU.
        0x4 if is(0xffc0, 0x4340) => Cost::new(Class::Multiply, 1),
        0x4 if is(0xff00, 0x4700) => Cost::branch(), // BX, BLX
        0x4 if is(0xff87, 0x4487) || is(0xff87, 0x4687) => Cost::branch(), // ADD, MOV to PC
        0x4 if is(0xf800, 0x4800) => Cost::load(),   // LDR literal
        0x5 if op >> 9 & 7 >= 3 => Cost::load(),     // register offset
        0x5 => Cost::store_register(),
        0x6..=0x9 if is(0x0800, 0x0800) => Cost::load(), // immediate offset
        0x6..=0x9 => Cost::store_immediate(),
        0xb if is(0xf600, 0xb400) => {
            // PUSH, POP: bit 8 adds LR or PC.
            Cost::multiple((op & 0x1ff).count_ones()).branching_if(is(0x0f00, 0x0d00))
        }
        0xb if is(0xf500, 0xb100) => Cost::branch(), // CBZ, CBNZ
        0xb if is(0xff00, 0xbf00) => Cost::new(Class::Other, 1), // IT, hints
        0xc => Cost::multiple((op & 0xff).count_ones()), // STM, LDM
        0xd if op >> 8 & 0xf < 0xe => Cost::branch(), // Bcc; the rest is UDF and SVC
        0xe if is(0xf800, 0xe000) => Cost::branch(), // B
        _ => Cost::new(Class::Alu, 1),
    }
}

/// 32-bit encodings: Armv7-M Architecture Reference Manual, A5.3. `op` and `more` are the first and second halfword.
fn wide(op: u16, more: u16) -> Cost {
    match op >> 9 & 0x3f {
        0b11_0100 => multiple_or_dual(op, more),
        0b11_0101 => Cost::new(Class::Alu, 1), // shifted register
        0b11_0110 | 0b11_0111 | 0b11_1110 | 0b11_1111 => coprocessor(op, more),
        0b11_1000..=0b11_1011 if more & 0x8000 != 0 => branch_or_system(op, more),
        0b11_1000..=0b11_1011 => Cost::new(Class::Alu, 1), // immediate
        0b11_1100 => load_or_store(op, more),
        0b11_1101 if op & 0x0100 == 0 => Cost::new(Class::Alu, 1), // register: shifts, extension, parallel arithmetic
        0b11_1101 => multiply_or_divide(op, more),
        _ => Cost::new(Class::Alu, 1),
    }
}

fn multiple_or_dual(op: u16, more: u16) -> Cost {
    let load = op & 0x10 != 0;
    if op & 0x40 == 0 {
        return Cost::multiple(more.count_ones()).branching_if(load && more & 0x8000 != 0);
    }
    if op & 0xfff0 == 0xe8d0 && more & 0xffe0 == 0xf000 {
        return Cost { cycles: 2, ..Cost::branch() }; // TBB, TBH
    }
    if op & 0x0120 == 0 {
        return Cost::new(if load { Class::Load } else { Class::Store }, 2); // exclusive
    }
    Cost::multiple(2) // LDRD, STRD
}

fn coprocessor(op: u16, more: u16) -> Cost {
    let double = match more >> 8 & 0xf {
        10 => false,
        11 => true,
        _ => return Cost::new(Class::Other, 1),
    };
    let cycles = if op & 0xfe00 == 0xec00 {
        if op & 0xffe0 == 0xec40 {
            2 // VMOV of two core registers
        } else if op & 0x0120 == 0x0100 {
            2 + u32::from(double) // VLDR, VSTR
        } else {
            1 + u32::from(more & 0xff) // VLDM, VSTM: the number of words
        }
    } else if op & 0x1100 == 0 && more & 0x10 == 0 {
        // Data processing. Bits 7, 5 and 4 of the first halfword are the operation.
        match op >> 4 & 0xb {
            0x0 | 0x1 | 0x9 | 0xa => 3, // VMLA, VMLS, VNMLA, VNMLS, VFMA, VFMS, VFNMA, VFNMS
            0x8 => 14,                  // VDIV
            0xb if op & 0xf == 1 && more & 0xc0 == 0xc0 => 14, // VSQRT
            _ => 1,
        }
    } else {
        1
    };
    Cost::new(Class::Float, cycles)
}

fn branch_or_system(op: u16, more: u16) -> Cost {
    let unconditional = more & 0x5000 != 0; // B, BL
    if unconditional || op & 0x0380 != 0x0380 {
        return Cost::branch();
    }
    let special_register = op & 0xffe0 == 0xf3e0 || op & 0xffe0 == 0xf380; // MRS, MSR
    Cost::new(Class::Other, 1 + u32::from(special_register))
}

fn load_or_store(op: u16, more: u16) -> Cost {
    if op & 0x10 == 0 {
        let register_offset = op & 0x80 == 0 && more & 0x0800 == 0;
        return if register_offset { Cost::store_register() } else { Cost::store_immediate() };
    }
    let to_pc = more >> 12 == 15;
    match op & 0x60 {
        _ if !to_pc => Cost::load(),
        0x40 => Cost::new(Class::Load, 2).branching_if(true),
        _ => Cost::new(Class::Other, 1), // preload hints
    }
}

fn multiply_or_divide(op: u16, more: u16) -> Cost {
    let operation = op >> 4 & 7;
    if op & 0x80 == 0 {
        // MUL, MLA, MLS; then SMLAxy, SMLAD, SMLAWy, SMLSD, SMMLA, SMMLS, USADA8 and their kin.
        return Cost::new(if operation == 0 { Class::Multiply } else { Class::DspMultiply }, 1);
    }
    match operation {
        1 | 3 if more & 0xf0 == 0xf0 => Cost::new(Class::Divide, DIVIDE),
        4 if more & 0xf0 != 0 => Cost::new(Class::DspMultiply, 1), // SMLALxy, SMLALD
        5 => Cost::new(Class::DspMultiply, 1),                     // SMLSLD
        _ => Cost::new(Class::Multiply, 1),                        // SMULL, UMULL, SMLAL, UMLAL, UMAAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Class, cycles by itself, and whether it may branch.
    fn of(first: u16, second: Option<u16>) -> (Class, u32, bool) {
        let cost = cost(first, second);
        (cost.class, cost.cycles, cost.refill() > 0)
    }

    #[test]
    fn narrow_instructions() {
        for (op, expected) in [
            (0x1840, (Class::Alu, 1, false)),      // adds r0, r0, r1
            (0x4348, (Class::Multiply, 1, false)), // muls r0, r1
            (0x4770, (Class::Branch, 1, true)),    // bx lr
            (0x4687, (Class::Branch, 1, true)),    // mov pc, r0
            (0x4608, (Class::Alu, 1, false)),      // mov r0, r1
            (0x4801, (Class::Load, 2, false)),     // ldr r0, [pc, #4]
            (0x5888, (Class::Load, 2, false)),     // ldr r0, [r1, r2]
            (0x5688, (Class::Load, 2, false)),     // ldrsb r0, [r1, r2]
            (0x5488, (Class::Store, 2, false)),    // strb r0, [r1, r2]
            (0x6008, (Class::Store, 1, false)),    // str r0, [r1]
            (0x7808, (Class::Load, 2, false)),     // ldrb r0, [r1]
            (0x9801, (Class::Load, 2, false)),     // ldr r0, [sp, #4]
            (0xb081, (Class::Alu, 1, false)),      // sub sp, #4
            (0xb5f0, (Class::Multiple, 6, false)), // push {r4-r7, lr}
            (0xbdf0, (Class::Multiple, 6, true)),  // pop {r4-r7, pc}
            (0xbc0c, (Class::Multiple, 3, false)), // pop {r2, r3}
            (0xb108, (Class::Branch, 1, true)),    // cbz r0, …
            (0xb240, (Class::Alu, 1, false)),      // sxtb r0, r0
            (0xbf08, (Class::Other, 1, false)),    // it eq
            (0xc90f, (Class::Multiple, 5, false)), // ldm r1!, {r0-r3}
            (0xd1fe, (Class::Branch, 1, true)),    // bne .
            (0xdf00, (Class::Alu, 1, false)),      // svc 0
            (0xe7fe, (Class::Branch, 1, true)),    // b .
        ] {
            assert!(!is_wide(op));
            assert_eq!(of(op, None), expected, "{op:#06x}");
        }
    }

    #[test]
    fn wide_instructions() {
        for (first, second, expected) in [
            (0xe92d, 0x47f0, (Class::Multiple, 9, false)), // push {r4-r10, lr}
            (0xe8bd, 0x87f0, (Class::Multiple, 9, true)),  // pop {r4-r10, pc}
            (0xe9d0, 0x1200, (Class::Multiple, 3, false)), // ldrd r1, r2, [r0]
            (0xe8d1, 0xf000, (Class::Branch, 2, true)),    // tbb [r1, r0]
            (0xe850, 0x1f00, (Class::Load, 2, false)),     // ldrex r1, [r0]
            (0xeb00, 0x0081, (Class::Alu, 1, false)),      // add.w r0, r0, r1, lsl #2
            (0xf100, 0x0001, (Class::Alu, 1, false)),      // add.w r0, r0, #1
            (0xf7ff, 0xfffe, (Class::Branch, 1, true)),    // bl
            (0xf7ff, 0xbffe, (Class::Branch, 1, true)),    // b.w
            (0xf43f, 0xaffe, (Class::Branch, 1, true)),    // beq.w
            (0xf3ef, 0x8010, (Class::Other, 2, false)),    // mrs r0, primask
            (0xf3bf, 0x8f5f, (Class::Other, 1, false)),    // dmb
            (0xf8d0, 0x1004, (Class::Load, 2, false)),     // ldr.w r1, [r0, #4]
            (0xf850, 0x1b04, (Class::Load, 2, false)),     // ldr r1, [r0], #4
            (0xf8df, 0xf004, (Class::Load, 2, true)),      // ldr pc, [pc, #4]
            (0xf840, 0x1002, (Class::Store, 2, false)),    // str.w r1, [r0, r2]
            (0xf840, 0x1b04, (Class::Store, 1, false)),    // str r1, [r0], #4
            (0xf8c0, 0x1004, (Class::Store, 1, false)),    // str.w r1, [r0, #4]
            (0xfa0f, 0xf182, (Class::Alu, 1, false)),      // sxth-like register operation
            (0xfa21, 0xf102, (Class::Alu, 1, false)),      // lsr.w
            (0xfb01, 0xf002, (Class::Multiply, 1, false)), // mul r0, r1, r2
            (0xfb01, 0x3002, (Class::Multiply, 1, false)), // mla r0, r1, r2, r3
            (0xfb21, 0x3002, (Class::DspMultiply, 1, false)), // smlad r0, r1, r2, r3
            (0xfb51, 0x3012, (Class::DspMultiply, 1, false)), // smmlar
            (0xfb82, 0x0103, (Class::Multiply, 1, false)), // smull r0, r1, r2, r3
            (0xfbc2, 0x0103, (Class::Multiply, 1, false)), // smlal r0, r1, r2, r3
            (0xfbc2, 0x01c3, (Class::DspMultiply, 1, false)), // smlald r0, r1, r2, r3
            (0xfb91, 0xf0f2, (Class::Divide, 6, false)),   // sdiv r0, r1, r2
            (0xfbb1, 0xf0f2, (Class::Divide, 6, false)),   // udiv r0, r1, r2
        ] {
            assert!(is_wide(first));
            assert_eq!(of(first, Some(second)), expected, "{first:#06x} {second:#06x}");
        }
    }

    #[test]
    fn float_instructions() {
        for (first, second, cycles) in [
            (0xee30, 0x0a20, 1),  // vadd.f32 s0, s0, s1
            (0xee20, 0x0a20, 1),  // vmul.f32
            (0xee00, 0x0a20, 3),  // vmla.f32
            (0xeea0, 0x0a20, 3),  // vfma.f32
            (0xee80, 0x0a20, 14), // vdiv.f32
            (0xeeb1, 0x0ae0, 14), // vsqrt.f32 s0, s1
            (0xeeb0, 0x0a60, 1),  // vmov.f32 s0, s1
            (0xee00, 0x0a10, 1),  // vmov s0, r0
            (0xec41, 0x0a10, 2),  // vmov s0, s1, r0, r1
            (0xed90, 0x0a00, 2),  // vldr s0, [r0]
            (0xed90, 0x0b00, 3),  // vldr d0, [r0]
            (0xed2d, 0x8b04, 5),  // vpush {d8, d9}
            (0xecb0, 0x0a04, 5),  // vldmia r0!, {s0-s3}
        ] {
            assert_eq!(of(first, Some(second)), (Class::Float, cycles, false), "{first:#06x} {second:#06x}");
        }
    }

    #[test]
    fn loads_and_stores_overlap() {
        let (load, store, store_register) = (cost(0x6808, None), cost(0x6008, None), cost(0x5088, None));
        for before in [load.overlap, store.overlap, store_register.overlap] {
            assert_eq!(load.cycles_after(before), 1);
            assert_eq!(store.cycles_after(before), 1);
            assert_eq!(store_register.cycles_after(before), 1);
        }
        let add = cost(0x1840, None);
        assert_eq!((load.cycles_after(add.overlap), store_register.cycles_after(add.overlap)), (2, 2));
    }

    #[test]
    fn classes_are_in_order() {
        for (index, class) in Class::ALL.into_iter().enumerate() {
            assert_eq!(class as usize, index);
        }
    }
}
