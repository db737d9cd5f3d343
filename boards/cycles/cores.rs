//! What other cores than the Cortex-M4 do otherwise. `docs/cycles.md` has the tables and says what is left out.
use super::cortex_m55::cortex_m55;
use super::cortex_m7::cortex_m7;
use super::model::{cost as cortex_m4, Class, Cost, Flow, Overlap};
use super::riscv;

/// A processor core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Core {
    /// Armv6-M with two stages: [`Core::cost`] assumes the single-cycle multiplier.
    CortexM0Plus,
    /// Armv7-M.
    CortexM3,
    /// Armv7E-M.
    #[default]
    CortexM4,
    /// Armv7E-M with two issue slots.
    CortexM7,
    /// Armv8-M Mainline. Arm publishes no timing of its instructions: those of the Cortex-M4 stand in.
    CortexM33,
    /// Armv8.1-M Mainline with Helium, half a vector at a time.
    CortexM55,
    /// RISC-V with three stages, as in the RP2350.
    Hazard3,
}

/// Cycles that the small multiplier of a Cortex-M0+ takes more than the fast one.
pub const SLOW_MULTIPLIER: u64 = 31;

impl Core {
    /// Every core.
    pub const ALL: [Core; 7] = [
        Core::CortexM0Plus,
        Core::CortexM3,
        Core::CortexM4,
        Core::CortexM7,
        Core::CortexM33,
        Core::CortexM55,
        Core::Hazard3,
    ];

    /// Its name in `board.toml`, and as an argument of the plugin.
    pub fn name(self) -> &'static str {
        match self {
            Core::CortexM0Plus => "cortex-m0plus",
            Core::CortexM3 => "cortex-m3",
            Core::CortexM4 => "cortex-m4",
            Core::CortexM7 => "cortex-m7",
            Core::CortexM33 => "cortex-m33",
            Core::CortexM55 => "cortex-m55",
            Core::Hazard3 => "hazard3",
        }
    }

    /// The core of that name.
    pub fn named(name: &str) -> Option<Core> {
        Core::ALL.into_iter().find(|core| core.name() == name)
    }

    /// What an estimate of its cycles is, in a few words.
    pub fn estimate(self) -> &'static str {
        match self {
            Core::CortexM0Plus => "Cortex-M0+ with single-cycle multiplier, no wait states",
            Core::CortexM3 => "Cortex-M3, no wait states",
            Core::CortexM4 => "Cortex-M4, no wait states",
            Core::CortexM7 => "Cortex-M7 by published scheduling models, no wait states",
            Core::CortexM33 => "as a Cortex-M4 would take, no wait states",
            Core::CortexM55 => "Cortex-M55 by published scheduling models, no wait states",
            Core::Hazard3 => "Hazard3, each load as if its result was waited for, no wait states",
        }
    }

    /// The cost of an instruction of one halfword, or of two.
    pub fn cost(self, first: u16, second: Option<u16>) -> Cost {
        let cost = match self {
            Core::Hazard3 => return riscv::hazard3(first, second),
            _ => cortex_m4(first, second),
        };
        match self {
            Core::CortexM0Plus => cortex_m0plus(cost, second),
            Core::CortexM3 => cortex_m3(cost, first, second),
            Core::CortexM7 => cortex_m7(cost, first, second),
            Core::CortexM55 => cortex_m55(cost, first, second),
            Core::CortexM4 | Core::CortexM33 | Core::Hazard3 => cost,
        }
    }

    /// Whether an instruction that begins with this halfword has a second one.
    pub fn is_wide(self, first: u16) -> bool {
        match self {
            Core::Hazard3 => riscv::is_wide(first),
            _ => super::model::is_wide(first),
        }
    }

    /// Whether loads from unaligned addresses take longer, and not a trap.
    pub fn loads_unaligned(self) -> bool {
        !matches!(self, Core::CortexM0Plus | Core::Hazard3)
    }
}

/// Cortex-M0+ Technical Reference Manual (Arm DDI 0484), table 3-1. Nothing overlaps.
fn cortex_m0plus(cost: Cost, second: Option<u16>) -> Cost {
    let flow = Flow::refilling(cost.refill().min(1));
    let cycles = match (cost.class, second) {
        (Class::Load | Class::Store, _) => 2,
        // POP of PC: 3 + N with the refill.
        (Class::Multiple, _) if cost.refill() > 0 => cost.cycles + 1,
        (Class::Branch, Some(_)) => 2, // BL: 3
        (Class::Other, Some(_)) => 3,  // MRS, MSR, barriers
        _ => cost.cycles,
    };
    Cost { cycles, flow, overlap: Overlap::None, ..cost }
}

/// Cortex-M3 Technical Reference Manual (Arm DDI 0337), table 3-1: multipliers that take several cycles. Those that end early where
/// operands are small are taken at their longest, which the multiplier of a rescaling asks for.
fn cortex_m3(cost: Cost, first: u16, second: Option<u16>) -> Cost {
    let Some(second) = second.filter(|_| cost.class == Class::Multiply) else { return cost };
    let cycles = match first & 0xfff0 {
        0xfb00 if second & 0xf000 == 0xf000 => 1, // MUL
        0xfb00 => 2,                              // MLA, MLS
        0xfb80 | 0xfba0 => 5,                     // SMULL, UMULL: 3 to 5
        _ => 7,                                   // SMLAL, UMLAL: 4 to 7
    };
    Cost { cycles, ..cost }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found() {
        for core in Core::ALL {
            assert_eq!(Core::named(core.name()), Some(core));
        }
        assert_eq!(Core::named("cortex-m1"), None);
    }

    #[test]
    fn a_small_core_overlaps_nothing() {
        for (first, second, cycles, refill) in [
            (0x1840, None, 1, 0),         // adds
            (0x4348, None, 1, 0),         // muls
            (0x6808, None, 2, 0),         // ldr
            (0x6008, None, 2, 0),         // str
            (0x5088, None, 2, 0),         // str, register offset
            (0x4800, None, 2, 0),         // ldr literal
            (0xc80e, None, 4, 0),         // ldmia r0!, {r1-r3}
            (0xb5f0, None, 6, 0),         // push {r4-r7, lr}
            (0xbdf0, None, 7, 1),         // pop {r4-r7, pc}: 3 + 5
            (0xd1fb, None, 1, 1),         // bne: 1, or 2 if taken
            (0xe7fe, None, 1, 1),         // b: 2
            (0x4770, None, 1, 1),         // bx lr: 2
            (0xf7ff, Some(0xfffe), 2, 1), // bl: 3
            (0xf3ef, Some(0x8010), 3, 0), // mrs
            (0xf3bf, Some(0x8f5f), 3, 0), // dmb
        ] {
            let cost = Core::CortexM0Plus.cost(first, second);
            assert_eq!(
                (cost.cycles, cost.refill(), cost.overlap),
                (cycles, refill, Overlap::None),
                "{first:#06x}"
            );
        }
    }

    #[test]
    fn multiplication_takes_longer_on_a_cortex_m3() {
        for (first, second, cycles) in [
            (0xfb01, 0xf002, 1), // mul
            (0xfb01, 0x3002, 2), // mla
            (0xfb01, 0x3012, 2), // mls
            (0xfb82, 0x0103, 5), // smull
            (0xfba2, 0x0103, 5), // umull
            (0xfbc2, 0x0103, 7), // smlal
            (0xfbe2, 0x0103, 7), // umlal
        ] {
            assert_eq!(Core::CortexM3.cost(first, Some(second)).cycles, cycles, "{first:#06x} {second:#06x}");
            assert_eq!(Core::CortexM4.cost(first, Some(second)).cycles, 1, "{first:#06x} {second:#06x}");
        }
        assert_eq!(Core::CortexM3.cost(0x6808, None), Core::CortexM4.cost(0x6808, None));
    }
}
