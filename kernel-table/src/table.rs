//! The tables: processors, the targets that run their kernels, and the kernels.

use crate::target::{Facts, Triple};

/// The processors that a kernel is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Isa {
    /// All: plain Rust.
    Portable,
    /// Cortex-M without DSP extension.
    V6m,
    /// Cortex-M with DSP extension.
    Dsp,
    /// Cortex-M with Helium, vectors of 16 bytes.
    Mve,
    /// RISC-V with 32 bits.
    Rv32,
    /// Hosts with vectors.
    Simd,
}

impl Isa {
    /// What people call it.
    pub const fn title(self) -> &'static str {
        match self {
            Isa::Portable => "all",
            Isa::V6m => "Cortex-M0",
            Isa::Dsp => "Cortex-M4",
            Isa::Mve => "Cortex-M55",
            Isa::Rv32 => "RISC-V",
            Isa::Simd => "hosts",
        }
    }

    /// The `cfg` that turns on its assembly in the runtime; `None` where there is none to turn on.
    pub const fn cfg(self) -> Option<&'static str> {
        match self {
            Isa::V6m => Some("kiln_v6m"),
            Isa::Dsp => Some("kiln_dsp"),
            Isa::Mve => Some("kiln_mve"),
            Isa::Rv32 => Some("kiln_rv32"),
            Isa::Portable | Isa::Simd => None,
        }
    }
}

/// A core whose cycles are predicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Core {
    /// Cortex-M0 and M0+, with a multiplier of one cycle.
    M0,
    /// Cortex-M4, and what is told its cycles: Cortex-M7, which takes fewer, and M33.
    M4,
    /// Cortex-M55. Kernels without vectors are told the cycles of Cortex-M4.
    M55,
    /// Hazard3, the RISC-V core of RP2350, and what is told its cycles: ESP32-C3 and C6.
    Hazard3,
    /// A core of a server, a few years old.
    Host,
}

impl Core {
    /// The core whose cycles are told of kernels that have none for this one.
    pub const fn stand_in(self) -> Option<Core> {
        match self {
            Core::M55 => Some(Core::M4),
            Core::M0 | Core::M4 | Core::Hazard3 | Core::Host => None,
        }
    }
}

/// A kind of processor that code is compiled for. What is compiled for one runs on every other as well, with the same results, but not fast.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Target {
    /// Any: plain Rust.
    #[default]
    Portable,
    /// Armv6-M and Armv8-M Baseline: Cortex-M0, M0+ and M23. No long multiplication, eight low registers. Cortex-M3, and Cortex-M33 without the DSP
    /// extension, have both, but nothing that multiplies more at once: the same kernels are the fastest there.
    CortexM0,
    /// Armv7E-M, and Armv8-M Mainline with the DSP extension: Cortex-M4, M7, M33 and M35P. Two 16-bit products in one instruction.
    CortexMDsp,
    /// Armv8.1-M with Helium (MVE), vectors of 16 bytes: Cortex-M52, M55 and M85.
    CortexMHelium,
    /// RV32IM and what extends it: ESP32-C3 and C6, Hazard3. One instruction for a product of 32 bits, one for its upper half, 26 free registers.
    Rv32,
    /// x86-64, AArch64 and WebAssembly: vectors, of what width is decided when the program runs.
    Vectors,
}

/// The rows of targets.
pub(crate) static TARGETS: [(Target, Facts); 6] = [
    (Target::Portable, Facts { names: &["portable"], isas: &[], core: Core::M0, alignment: 1, cores: 1 }),
    (
        Target::CortexM0,
        Facts {
            names: &["cortex-m0", "cortex-m0plus", "cortex-m3"],
            isas: &[Isa::V6m],
            core: Core::M0,
            alignment: 1,
            cores: 2,
        },
    ),
    (
        Target::CortexMDsp,
        Facts {
            names: &["cortex-m4", "cortex-m7", "cortex-m33"],
            isas: &[Isa::Dsp, Isa::V6m],
            core: Core::M4,
            alignment: 1,
            cores: 2,
        },
    ),
    (
        Target::CortexMHelium,
        Facts {
            names: &["cortex-m55", "cortex-m85", "cortex-m52"],
            isas: &[Isa::Mve, Isa::Dsp, Isa::V6m],
            core: Core::M55,
            alignment: 1,
            cores: 1,
        },
    ),
    (
        Target::Rv32,
        Facts {
            names: &["rv32imc", "rv32imac", "esp32-c3", "esp32-c6", "hazard3"],
            isas: &[Isa::Rv32],
            core: Core::Hazard3,
            alignment: 1,
            cores: 2,
        },
    ),
    (
        Target::Vectors,
        Facts {
            names: &["x86-64", "aarch64", "wasm32"],
            isas: &[Isa::Simd],
            core: Core::Host,
            alignment: 64,
            cores: 64,
        },
    ),
];

/// The Rust targets that are not [`Target::Portable`]. The first row that fits counts. The DSP extension of Armv8-M is an option of the chip: flags name a core that has it, or the extension.
pub(crate) static TRIPLES: &[Triple] = &[
    Triple { name: "cortex-m0", ..Triple::any("thumbv6m") },
    Triple { name: "cortex-m3", cfgs: LONG, ..Triple::any("thumbv7m") },
    Triple { name: "cortex-m4", cfgs: LONG, hard_float: FPU, ..Triple::any("thumbv7em") },
    Triple { name: "cortex-m0", ..Triple::any("thumbv8m.base") },
    Triple {
        name: "cortex-m55",
        cfgs: LONG,
        flags: &["cortex-m52", "cortex-m55", "cortex-m85", "+mve"],
        unless: "-mve",
        hard_float: FPU,
        ..Triple::any("thumbv8m.main")
    },
    Triple {
        name: "cortex-m33",
        cfgs: LONG,
        flags: &["cortex-m33", "cortex-m35p", "cortex-m52", "cortex-m55", "cortex-m85", "+dsp"],
        unless: "-dsp",
        hard_float: FPU,
        ..Triple::any("thumbv8m.main")
    },
    Triple { name: "cortex-m3", cfgs: LONG, hard_float: FPU, ..Triple::any("thumbv8m.main") },
    Triple { name: "rv32imc", ..Triple::any("riscv32imc") },
    Triple { name: "rv32imac", ..Triple::any("riscv32imac") },
    Triple { name: "rv32imac", ..Triple::any("riscv32imafc") },
    Triple { name: "x86-64", ..Triple::any("x86_64") },
    Triple { name: "aarch64", ..Triple::any("aarch64") },
    Triple { name: "wasm32", ..Triple::any("wasm32") },
];

/// Cores with a long multiplication.
const LONG: &[&str] = &["kiln_long_product"];
/// The instructions of Cortex-M4's floating-point unit, which Cortex-M7 and M33 have as well.
const FPU: &[&str] = &["kiln_fpu"];

/// Passes the rows of all kernels to another macro. They are grouped by what kernels compute ([`Op`](crate::Op)), and by their processors ([`Isa`](crate::Isa)):
///
/// ```text
/// Conv {
///     Portable {
///         Conv2dI8 = conv2d_i8(I8, I8) -> I8 { arithmetic: Reference, packed: Conv2dI8xi4 };
///     }
/// }
/// ```
///
/// This is [`KernelId::Conv2dI8`](crate::KernelId), the function `conv2d_i8`, with these number formats ([`Format`](crate::Format)) of operands and result. The fields in
/// braces are optional: the methods of `KernelId` of the same names say what they mean.
#[macro_export]
macro_rules! kernel_table {
    ($use:ident) => { $use! {
    Conv {
        Portable {
            ComputedConv2dF32 = computed_conv2d_f32(F32, F32) -> F32;
            ComputedConv2dI16 = computed_conv2d_i16(I16, I8) -> I16 { arithmetic: Reference };
            ComputedConv2dI16Narrow = computed_conv2d_i16_narrow(I16, I8) -> I16 { arithmetic: Reference };
            ComputedConv2dI8 = computed_conv2d_i8(I8, I8) -> I8 { arithmetic: Reference };
            ComputedConv2dI8Float = computed_conv2d_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            ComputedConv2dI8Once = computed_conv2d_i8_once(I8, I8) -> I8 { arithmetic: Once };
            Conv1I16I8 = conv1_i16_i8(I16, I16) -> I8 {
                arithmetic: Reference,
                cycles: &[(M4, cycles(12131, 92141, 0)), (M0, cycles(24500, 197300, 0)), (M55, cycles(8107, 72000, 0)), (Hazard3, cycles(8398, 83100, 0))]
            };
            Conv2dI8F32Dynamic = conv2d_i8_f32_dynamic(I8, I8) -> F32 {
                packed: Conv2dI8xi4F32Dynamic,
                cycles: &[
                    (M4, cycles(2858, 38666, 0).each(&[(Piece, 514249), (Run, 179573)])),
                    (M0, cycles(11273, 796399, 0).each(&[(Piece, 455844), (Run, 272497)])),
                    (M55, cycles(795, 50364, 0).each(&[(Piece, 514838), (Run, 140185)])),
                    (Hazard3, cycles(6052, 348802, 0).each(&[(Piece, 121025), (Run, 127990)])),
                ],
                small: &[
                    (M4, cycles(3101, 24059, 0).each(&[(Piece, 313020), (Run, 206948)])),
                    (M0, cycles(11592, 787256, 0).each(&[(Piece, 443033), (Run, 286853)])),
                    (M55, cycles(1081, 29659, 0).each(&[(Piece, 201593), (Run, 142821)])),
                    (Hazard3, cycles(6056, 340572, 0).each(&[(Piece, 119319), (Run, 130757)])),
                ]
            };
            Conv2dI8xi4F32Dynamic = conv2d_i8xi4_f32_dynamic(I8, I4) -> F32;
            Conv2dF32 = conv2d_f32(F32, F32) -> F32 {
                packed: Conv2dF32xf16, in_bytes: Conv2dF32xi8, in_nibbles: Conv2dF32xi4,
                cycles: &[
                    (M4, cycles(3643, 13693, 1082).each(&[(Piece, 339958), (Run, 135092), (Moved, 3670), (Left, 159078), (LeftProduct, 5353)])),
                    (M0, cycles(221809, 1093862, 0).each(&[(Moved, 473519)])),
                    (M55, cycles(1325, 36113, 685).each(&[(Piece, 255268), (Run, 110863), (Moved, 1055), (Left, 64835), (LeftProduct, 3818)])),
                    (Hazard3, cycles(93964, 444061, 0).each(&[(Moved, 175113)])),
                ],
                small: &[
                    (M4, cycles(3638, 14307, 1493).each(&[(Piece, 336993), (Run, 114319), (Moved, 6769), (Left, 141425), (LeftProduct, 7214)])),
                    (M55, cycles(1326, 40968, 874).each(&[(Piece, 244543), (Run, 96043), (Moved, 2557), (Left, 54995), (LeftProduct, 5782)])),
                ]
            };
            Conv2dF32xf16 = conv2d_f32xf16(F32, F16) -> F32;
            Conv2dF32xi4 = conv2d_f32xi4(F32, I4) -> F32;
            Conv2dF32xi8 = conv2d_f32xi8(F32, I8) -> F32;
            Conv2dI16 = conv2d_i16(I16, I8) -> I16 { arithmetic: Reference };
            Conv2dI16Narrow = conv2d_i16_narrow(I16, I8) -> I16 { arithmetic: Reference };
            Conv2dI8 = conv2d_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: Conv2dI8Float, packed: Conv2dI8xi4,
                cycles: &[
                    (M0, cycles(11380, 183414, 0).each(&[(Left, 868181), (Piece, 492896), (Run, 274203), (Moved, 3318)])),
                    (M4, cycles(2250, 241000, 1000)),
                    (Hazard3, cycles(5196, 111680, 0).each(&[(Line, 47133), (Left, 47711), (LeftProduct, 7278), (Piece, 104669), (Moved, 14022)])),
                ],
                small: &[(M0, cycles(11737, 173079, 0).each(&[(LeftProduct, 2686), (Piece, 362323), (Run, 283849), (Moved, 3118)]))]
            };
            Conv2dI8Float = conv2d_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            Conv2dI8Once = conv2d_i8_once(I8, I8) -> I8 { arithmetic: Once };
            Conv2dI8xi4 = conv2d_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            Conv2dI8xi16 = conv2d_i8xi16(I8, I16) -> I8 {
                arithmetic: Reference, floating: Conv2dI8xi16Float,
                cycles: &[
                    (M4, cycles(2234, 51503, 0).each(&[(Line, 385511)])),
                    (M0, cycles(11167, 178520, 0).each(&[(Line, 452316)])),
                    (M55, cycles(744, 20448, 0).each(&[(Line, 330933)])),
                    (Hazard3, cycles(5628, 84395, 0).each(&[(Line, 244354)])),
                ]
            };
            Conv2dI8xi16Float = conv2d_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            Conv2dI8xi16Once = conv2d_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            Conv2dI8V6mPairs = conv2d_i8_v6m_pairs(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Conv2dI8V6mPairsCrew,
                cycles: &[
                    (M0, cycles(3282, 29892, 2502).each(&[(Left, 40278), (LeftProduct, 3695), (Window, 484680), (Piece, 109316), (Run, 317861), (Word, 6570), (Other, 6085), (Corrected, 8222), (Moved, 18309), (Far, 130000)])),
                    (M4, cycles(3780, 77700, 2500).each(&[(LeftProduct, 3780), (Left, 77700)])),
                ],
                small: &[
                    (M0, cycles(3286, 29660, 3310).each(&[(Tile, 19120), (Left, 37507), (LeftProduct, 3712), (Window, 538319), (Piece, 175606), (Run, 336194), (Word, 6373), (Other, 6682), (Corrected, 8011), (Moved, 21741), (Far, 130000)])),
                ]
            };
            Conv2dI8V6mPairsCrew = conv2d_i8_v6m_pairs_crew(I8, I8) -> I8 { arithmetic: Halves };
            Conv2dI8V6mPairsWide = conv2d_i8_v6m_pairs_wide(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Conv2dI8V6mPairsWideCrew,
                cycles: &[
                    (M0, cycles(2774, 33202, 2952).each(&[(Tile, 16848), (Left, 45298), (LeftProduct, 2984), (Rest, 18462), (Window, 487770), (Piece, 85558), (Run, 333993), (Word, 6948), (Other, 6175), (Corrected, 7986), (Moved, 29493), (Far, 130000)])),
                    (M4, cycles(3300, 77700, 2500).each(&[(LeftProduct, 3300), (Left, 77700), (Rest, 18000)])),
                ]
            };
            Conv2dI8V6mPairsWideCrew = conv2d_i8_v6m_pairs_wide_crew(I8, I8) -> I8 { arithmetic: Halves };
            Conv2dI8V6mSingles = conv2d_i8_v6m_singles(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Conv2dI8V6mSinglesCrew,
                cycles: &[
                    (M0, cycles(3829, 22260, 1844).each(&[(Pixel, 634341), (Piece, 190143), (Run, 329966), (Word, 13770), (Other, 2136), (Moved, 37715), (Far, 130000)])),
                    (M4, cycles(4000, 150000, 7000)),
                ],
                small: &[
                    (M0, cycles(3952, 37403, 2285).each(&[(Tile, 534656), (Pixel, 172796), (Piece, 329989), (Run, 277413), (Word, 12846), (Other, 2638), (Moved, 13077), (Far, 130000)])),
                ]
            };
            Conv2dI8V6mSinglesCrew = conv2d_i8_v6m_singles_crew(I8, I8) -> I8 { arithmetic: Halves };
            Conv2dI8V6mWinograd = conv2d_i8_v6m_winograd(I8, I8) -> I8 {
                arithmetic: Halves, filters_at_once: 4, on_crew: Conv2dI8V6mWinogradCrew,
                cycles: &[
                    (M0, cycles(3860, 52000, 1000).each(&[(Tap, 12_200), (Tile, 830_000), (Window, 2_300_000), (Corrected, 7344)])),
                    (M4, cycles(4500, 60000, 1000).each(&[(Tap, 13_000), (Tile, 900_000), (Window, 2_300_000), (Corrected, 8000)])),
                ]
            };
            Conv2dI8V6mWinogradCrew = conv2d_i8_v6m_winograd_crew(I8, I8) -> I8 { arithmetic: Halves, filters_at_once: 4 };
        }
        Dsp {
            Conv1I16I8Dsp = conv1_i16_i8_dsp(I16, I16) -> I8 {
                arithmetic: Reference,
                cycles: &[(M4, cycles(3147, 34900, 0))]
            };
            Conv1I8Dsp = conv1_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv1I8DspEights = conv1_i8_dsp_eights(I8, I8) -> I8 { arithmetic: Fitted };
            Conv1I8DspExact = conv1_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            Conv2dI8DspCompact = conv2d_i8_dsp_compact(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[
                    (M4, cycles(1094, 10489, 10).each(&[(Pixel, 15607), (Tile, 178173), (Window, 467362), (Piece, 200460), (Run, 6647), (Other, 8476), (Word, 2684), (Corrected, 2089)])),
                ]
            };
            Conv2dI8Dsp = conv2d_i8_dsp(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspCrew,
                cycles: &[
                    (M4, cycles(933, 6287, 418).each(&[(Turn, 6151), (Pixel, 8149), (Tile, 262329), (Window, 249740), (Piece, 175013), (One, 4628), (Moved, 1697), (Padding, 45940), (Run, 22621), (Word, 1473), (Three, 2920), (Corrected, 2687), (Left, 97834), (LeftProduct, 1580), (Other, 10508)])),
                ]
            };
            Conv2dI8DspCrew = conv2d_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspExact = conv2d_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4, on_crew: Conv2dI8DspExactCrew };
            Conv2dI8DspExactCrew = conv2d_i8_dsp_exact_crew(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            Conv2dI8DspPatches = conv2d_i8_dsp_patches(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspPatchesCrew,
                cycles: &[
                    (M4, cycles(938, 6500, 300).each(&[(Pixel, 90000), (Window, 300000), (Run, 12000), (Word, 1500), (Piece, 95000), (Other, 6000), (Moved, 1200), (Corrected, 2625)])),
                ]
            };
            Conv2dI8DspPatchesCrew = conv2d_i8_dsp_patches_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspPoints = conv2d_i8_dsp_points(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspPointsCrew,
                cycles: &[
                    (M4, cycles(938, 6500, 100).each(&[(Turn, 6000), (Pixel, 20000), (Window, 300000), (Run, 130000), (Word, 1600), (Corrected, 2625)])),
                ]
            };
            Conv2dI8DspPointsCrew = conv2d_i8_dsp_points_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspPointsSmall = conv2d_i8_dsp_points_small(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspPointsSmallCrew,
                cycles: &[
                    (M4, cycles(938, 7875, 100).each(&[(Turn, 6000), (Pixel, 20000), (Window, 300000), (Run, 130000), (Word, 1600), (Corrected, 2625)])),
                ]
            };
            Conv2dI8DspPointsSmallCrew = conv2d_i8_dsp_points_small_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspSmall = conv2d_i8_dsp_small(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspSmallCrew,
                cycles: &[
                    (M4, cycles(1084, 7690, 628).each(&[(Window, 249740), (Piece, 175013), (One, 4628), (Moved, 1697), (Padding, 45940), (Run, 22621), (Word, 1473), (Three, 2920), (Left, 97834), (LeftProduct, 1580), (Other, 10508), (Pixel, 12191), (Tile, 273772), (Turn, 1718), (Corrected, 2456)])),
                ]
            };
            Conv2dI8DspSmallCrew = conv2d_i8_dsp_small_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspWinograd = conv2d_i8_dsp_winograd(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspWinogradCrew,
                cycles: &[(M4, cycles(1045, 17750, 500).each(&[(Tap, 4200), (Tile, 560_000), (Window, 850_000), (Corrected, 2250)]))]
            };
            Conv2dI8DspWinogradCrew = conv2d_i8_dsp_winograd_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspWinograd4x4 = conv2d_i8_dsp_winograd_4x4(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspWinograd4x4Crew,
                cycles: &[(M4, cycles(1071, 19200, 500).each(&[(Tap, 7930), (Tile, 1_300_000), (Window, 4_600_000), (Corrected, 2620)]))]
            };
            Conv2dI8DspWinograd4x4Crew = conv2d_i8_dsp_winograd_4x4_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
        }
        Mve {
            Conv2dI8Mve = conv2d_i8_mve(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[
                    (M55, cycles(161, 7058, 530).each(&[(Pixel, 6204), (Tile, 156383), (Left, 9374), (LeftProduct, 177), (Window, 200731), (Piece, 156738), (One, 661), (Padding, 64770), (Three, 1050), (Run, 3950), (Corrected, 1002), (Word, 714), (Line, 45807), (Turn, 5956), (Other, 119134), (Far, 50000)])),
                ]
            };
            Conv2dI8MveSmall = conv2d_i8_mve_small(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[
                    (M55, cycles(184, 8643, 465).each(&[(Pixel, 8614), (Tile, 201808), (Left, 10447), (LeftProduct, 187), (Window, 356056), (Piece, 150189), (One, 465), (Padding, 81656), (Three, 518), (Run, 3983), (Corrected, 1011), (Word, 590), (Other, 154792), (Far, 50000)])),
                ]
            };
            Conv2dI8MvePoints = conv2d_i8_mve_points(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[
                    (M55, cycles(161, 7058, 228).each(&[(Pixel, 6204), (Tile, 156383), (Left, 9374), (LeftProduct, 177), (Window, 200731), (Piece, 156738), (One, 661), (Padding, 64770), (Three, 1050), (Run, 3950), (Corrected, 1002), (Word, 714), (Line, 45807), (Turn, 5956), (Other, 119134), (Border, 138215)])),
                ]
            };
            Conv2dI8MvePointsSmall = conv2d_i8_mve_points_small(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[
                    (M55, cycles(184, 8643, 20).each(&[(Pixel, 8614), (Tile, 201808), (Left, 10447), (LeftProduct, 187), (Window, 356056), (Piece, 150189), (One, 465), (Padding, 81656), (Three, 518), (Run, 3983), (Corrected, 1011), (Word, 590), (Other, 154792), (Border, 278734)])),
                ]
            };
            Conv2dI16Mve = conv2d_i16_mve(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(330, 9000, 1000))] };
            Conv2dI16MveLong = conv2d_i16_mve_long(I16, I8) -> I16 {
                arithmetic: Reference, filters_at_once: 8,
                cycles: &[(M55, cycles(420, 27000, 1000))]
            };
            Conv2dI16MvePoints = conv2d_i16_mve_points(I16, I8) -> I16 {
                arithmetic: Reference, filters_at_once: 8,
                cycles: &[(M55, cycles(300, 6600, 500))]
            };
            Conv1I16I8Mve = conv1_i16_i8_mve(I16, I16) -> I8 { arithmetic: Reference, cycles: &[(M55, cycles(1896, 8632, 0))] };
        }
        Rv32 {
            Conv1I16I8Rv32 = conv1_i16_i8_rv32(I16, I16) -> I8 {
                arithmetic: Reference,
                cycles: &[(Hazard3, cycles(6440, 28300, 471))]
            };
            Conv2dI8Rv32Pairs = conv2d_i8_rv32_pairs(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Conv2dI8Rv32PairsCrew,
                cycles: &[
                    (Hazard3, cycles(2236, 16229, 1206).each(&[(Turn, 2024), (Pixel, 14673), (Tile, 390684), (Window, 29836), (Piece, 24058), (Word, 8490), (Other, 74454)])),
                ]
            };
            Conv2dI8Rv32PairsCrew = conv2d_i8_rv32_pairs_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Quads = conv2d_i8_rv32_quads(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Conv2dI8Rv32QuadsCrew,
                cycles: &[
                    (Hazard3, cycles(1902, 22821, 2702).each(&[(Turn, 2126), (Pixel, 26300), (Tile, 229980), (Window, 26999), (Run, 492919), (Word, 8347), (Other, 121557), (Border, 161170), (Piece, 224822), (Corrected, 2121)])),
                ]
            };
            Conv2dI8Rv32QuadsCrew = conv2d_i8_rv32_quads_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Mixed = conv2d_i8_rv32_mixed(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Conv2dI8Rv32MixedCrew,
                cycles: &[
                    (Hazard3, cycles(1743, 14441, 1269).each(&[(Turn, 1739), (Pixel, 16827), (Tile, 46296), (LeftProduct, 2627), (Window, 33938), (Word, 8530), (Other, 112493), (Border, 1002984), (Padding, 40907), (Corrected, 6989), (Piece, 8642)])),
                ]
            };
            Conv2dI8Rv32MixedCrew = conv2d_i8_rv32_mixed_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Winograd = conv2d_i8_rv32_winograd(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Conv2dI8Rv32WinogradCrew,
                cycles: &[(Hazard3, cycles(3000, 47000, 1000).each(&[(Tap, 7200)]))]
            };
            Conv2dI8Rv32WinogradCrew = conv2d_i8_rv32_winograd_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Winograd4x4 = conv2d_i8_rv32_winograd_4x4(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Conv2dI8Rv32Winograd4x4Crew,
                cycles: &[(Hazard3, cycles(3027, 33430, 1000).each(&[(Tap, 25_350), (Window, 1_443_000), (Corrected, 1670)]))]
            };
            Conv2dI8Rv32Winograd4x4Crew = conv2d_i8_rv32_winograd_4x4_crew(I8, I8) -> I8 { arithmetic: Upper };
        }
        Simd {
            Conv2dF32SimdReproducible = conv2d_f32_simd_reproducible(F32, F32) -> F32 { on_crew: Conv2dF32SimdReproducibleCrew };
            Conv2dF32SimdReproducibleCrew = conv2d_f32_simd_reproducible_crew(F32, F32) -> F32;
            Conv2dF32Simd = conv2d_f32_simd(F32, F32) -> F32 {
                reproducible: Conv2dF32SimdReproducible, on_crew: Conv2dF32SimdCrew,
                cycles: &[(Host, cycles(75, 0, 0))]
            };
            Conv2dF32SimdCrew = conv2d_f32_simd_crew(F32, F32) -> F32;
            Conv2dI8Simd = conv2d_i8_simd(I8, I8) -> I8 { arithmetic: Factors, on_crew: Conv2dI8SimdCrew, cycles: &[(Host, cycles(30, 0, 0))] };
            Conv2dI8SimdSized = conv2d_i8_simd_sized(I8, I8) -> I8 { arithmetic: Factors };
            Conv2dI8SimdCrew = conv2d_i8_simd_crew(I8, I8) -> I8 { arithmetic: Factors };
        }
    }
    Depthwise {
        Portable {
            Depthwise2dI8F32Dynamic = depthwise2d_i8_f32_dynamic(I8, I8) -> F32 { packed: Depthwise2dI8xi4F32Dynamic };
            Depthwise2dI8xi4F32Dynamic = depthwise2d_i8xi4_f32_dynamic(I8, I4) -> F32;
            Depthwise2dF32 = depthwise2d_f32(F32, F32) -> F32 {
                packed: Depthwise2dF32xf16, in_bytes: Depthwise2dF32xi8, in_nibbles: Depthwise2dF32xi4,
                cycles: &[
                    (M4, cycles(2793, 29999, 0).each(&[(Tap, 29926), (LeftProduct, 34301)])),
                    (M0, cycles(253683, 0, 0).each(&[(Tap, 1053429)])),
                    (M55, cycles(4073, 0, 0).each(&[(Tap, 80374), (Line, 30078)])),
                    (Hazard3, cycles(0, 1043372, 0).each(&[(Tap, 426597)])),
                ],
                small: &[(M55, cycles(14297, 0, 0).each(&[(Tap, 101257), (Line, 32589)]))]
            };
            Depthwise2dF32xf16 = depthwise2d_f32xf16(F32, F16) -> F32;
            Depthwise2dF32xi4 = depthwise2d_f32xi4(F32, I4) -> F32;
            Depthwise2dF32xi8 = depthwise2d_f32xi8(F32, I8) -> F32;
            Depthwise2dI16 = depthwise2d_i16(I16, I8) -> I16 { arithmetic: Reference };
            Depthwise2dI8 = depthwise2d_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: Depthwise2dI8Float, packed: Depthwise2dI8xi4,
                cycles: &[
                    (M0, cycles(14972, 185728, 0).each(&[(Tap, 158697)])),
                    (M4, cycles(10600, 94500, 6500)),
                    (Hazard3, cycles(15000, 90000, 3000)),
                ],
                small: &[(M0, cycles(16302, 164194, 0).each(&[(Tap, 202538)]))]
            };
            Depthwise2dI8Float = depthwise2d_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            Depthwise2dI8Once = depthwise2d_i8_once(I8, I8) -> I8 { arithmetic: Once };
            Depthwise2dI8xi4 = depthwise2d_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            Depthwise2dI8xi16 = depthwise2d_i8xi16(I8, I16) -> I8 {
                arithmetic: Reference, floating: Depthwise2dI8xi16Float,
                cycles: &[
                    (M4, cycles(0, 115703, 0).each(&[(Tap, 55703)])),
                    (M0, cycles(0, 290499, 0).each(&[(Tap, 177058)])),
                    (M55, cycles(0, 47825, 0).each(&[(Tap, 48582)])),
                    (Hazard3, cycles(0, 190788, 0).each(&[(Tap, 90442)])),
                ]
            };
            Depthwise2dI8xi16Float = depthwise2d_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            Depthwise2dI8xi16Once = depthwise2d_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            Depthwise2dI8V6mColumn = depthwise2d_i8_v6m_column(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Depthwise2dI8V6mColumnCrew,
                cycles: &[
                    (M0, cycles(5000, 40400, 1500).each(&[(Tile, 880_000), (Tap, 90_700)])),
                    (M4, cycles(5000, 40400, 1500).each(&[(Tile, 880_000), (Tap, 90_700)])),
                ]
            };
            Depthwise2dI8V6mColumnCrew = depthwise2d_i8_v6m_column_crew(I8, I8) -> I8 { arithmetic: Halves };
            Depthwise2dI8V6m = depthwise2d_i8_v6m(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Depthwise2dI8V6mCrew,
                cycles: &[
                    (M0, cycles(8983, 32590, 597).each(&[(Pixel, 486757), (Piece, 165465), (Moved, 37228), (Border, 447495), (Corrected, 13239), (Far, 130000)])),
                    (M4, cycles(5340, 83800, 8200)),
                ]
            };
            Depthwise2dI8V6mCrew = depthwise2d_i8_v6m_crew(I8, I8) -> I8 { arithmetic: Halves };
            Depthwise2dI8V6mRolling = depthwise2d_i8_v6m_rolling(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Depthwise2dI8V6mRollingCrew,
                cycles: &[
                    (M0, cycles(0, 0, 1000).each(&[(Turn, 114500), (Tile, 145600), (Line, 142900), (Piece, 1500000)])),
                    (M4, cycles(0, 0, 1000).each(&[(Turn, 111000), (Tile, 140000), (Line, 140000), (Piece, 1500000)])),
                ]
            };
            Depthwise2dI8V6mRollingCrew = depthwise2d_i8_v6m_rolling_crew(I8, I8) -> I8 { arithmetic: Halves };
        }
        Dsp {
            Depthwise1dI8Dsp = depthwise1d_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M4, cycles(2078, 11579, 67).each(&[(Tap, 2555)]))] };
            Depthwise2dI8DspCompact = depthwise2d_i8_dsp_compact(I8, I8) -> I8 {
                arithmetic: Fitted,
                cycles: &[(M4, cycles(4205, 18696, 218).each(&[(Turn, 7853), (Pixel, 237562), (Piece, 215041), (Corrected, 1371)]))]
            };
            Depthwise2dI8Dsp = depthwise2d_i8_dsp(I8, I8) -> I8 {
                arithmetic: Fitted, on_crew: Depthwise2dI8DspCrew,
                cycles: &[(M4, cycles(2210, 14666, 166).each(&[(Tap, 326961), (Turn, 16873), (Run, 37730), (Corrected, 11988)]))]
            };
            Depthwise2dI8DspCrew = depthwise2d_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted };
            Depthwise2dI8DspExact = depthwise2d_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, on_crew: Depthwise2dI8DspExactCrew };
            Depthwise2dI8DspExactCrew = depthwise2d_i8_dsp_exact_crew(I8, I8) -> I8 { arithmetic: Reference };
            Depthwise2dI8DspPlanar = depthwise2d_i8_dsp_planar(I8, I8) -> I8 {
                arithmetic: Fitted, on_crew: Depthwise2dI8DspPlanarCrew,
                cycles: &[
                    (M4, cycles(258, 15136, 175).each(&[(Turn, 10395), (Piece, 548347), (Run, 33716), (Line, 73027), (LeftProduct, 584)])),
                ]
            };
            Depthwise2dI8DspPlanarCrew = depthwise2d_i8_dsp_planar_crew(I8, I8) -> I8 { arithmetic: Fitted };
            Depthwise2dI8DspPlanarExact = depthwise2d_i8_dsp_planar_exact(I8, I8) -> I8 { arithmetic: Reference, on_crew: Depthwise2dI8DspPlanarExactCrew };
            Depthwise2dI8DspPlanarExactCrew = depthwise2d_i8_dsp_planar_exact_crew(I8, I8) -> I8 { arithmetic: Reference };
        }
        Mve {
            Depthwise2dI16Mve = depthwise2d_i16_mve(I16, I8) -> I16 { arithmetic: Reference, cycles: &[(M55, cycles(1830, 3700, 500))] };
            Depthwise2dI8Mve = depthwise2d_i8_mve(I8, I8) -> I8 {
                arithmetic: Fitted,
                cycles: &[
                    (M55, cycles(152, 6169, 1799).each(&[(Line, 14555), (Turn, 4512), (Tile, 107420), (Run, 105818), (Word, 459)])),
                ],
                small: &[
                    (M55, cycles(152, 6169, 1971).each(&[(Turn, 4512), (Line, 14555), (Word, 459), (Tile, 91961), (Run, 134758)])),
                ]
            };
            Depthwise2dI8MveChannels = depthwise2d_i8_mve_channels(I8, I8) -> I8 {
                arithmetic: Fitted,
                cycles: &[(M55, cycles(1092, 4228, 0).each(&[(Tap, 273), (Piece, 709919), (Other, 29934), (Pixel, 5289)]))],
                small: &[(M55, cycles(800, 6313, 176).each(&[(Tap, 34013), (Piece, 42475), (Run, 149356), (Other, 59272)]))]
            };
            Depthwise2dI8MveColumns = depthwise2d_i8_mve_columns(I8, I8) -> I8 {
                arithmetic: Fitted,
                cycles: &[
                    (M55, cycles(188, 5594, 1440).each(&[(Line, 29077), (Turn, 4243), (Tile, 375344), (Run, 8623), (Word, 416), (Corrected, 116)])),
                ],
                small: &[
                    (M55, cycles(198, 5509, 1578).each(&[(Line, 31351), (Turn, 4442), (Tile, 372231), (Run, 26807), (Word, 444), (Corrected, 5)])),
                ]
            };
        }
        Rv32 {
            Depthwise2dI8Rv32 = depthwise2d_i8_rv32(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Depthwise2dI8Rv32Crew,
                cycles: &[(Hazard3, cycles(7540, 4332, 258).each(&[(Corrected, 24838), (Tap, 50045), (Pixel, 358031)]))],
                small: &[(Hazard3, cycles(17474, 52606, 250).each(&[(Pixel, 739146)]))]
            };
            Depthwise2dI8Rv32Crew = depthwise2d_i8_rv32_crew(I8, I8) -> I8 { arithmetic: Upper };
            Depthwise2dI8Rv32Rolling = depthwise2d_i8_rv32_rolling(I8, I8) -> I8 {
                arithmetic: Upper, on_crew: Depthwise2dI8Rv32RollingCrew,
                cycles: &[(Hazard3, cycles(0, 39316, 117).each(&[(Line, 83866), (Piece, 235176), (Corrected, 45989)]))]
            };
            Depthwise2dI8Rv32RollingCrew = depthwise2d_i8_rv32_rolling_crew(I8, I8) -> I8 { arithmetic: Upper };
        }
        Simd {
            Depthwise2dF32SimdReproducible = depthwise2d_f32_simd_reproducible(F32, F32) -> F32 { on_crew: Depthwise2dF32SimdReproducibleCrew };
            Depthwise2dF32SimdReproducibleCrew = depthwise2d_f32_simd_reproducible_crew(F32, F32) -> F32;
            Depthwise2dF32Simd = depthwise2d_f32_simd(F32, F32) -> F32 {
                reproducible: Depthwise2dF32SimdReproducible, on_crew: Depthwise2dF32SimdCrew,
                cycles: &[(Host, cycles(375, 0, 0))]
            };
            Depthwise2dF32SimdCrew = depthwise2d_f32_simd_crew(F32, F32) -> F32;
            Depthwise2dI8Simd = depthwise2d_i8_simd(I8, I8) -> I8 {
                arithmetic: Factors, on_crew: Depthwise2dI8SimdCrew,
                cycles: &[(Host, cycles(150, 0, 0))]
            };
            Depthwise2dI8SimdSized = depthwise2d_i8_simd_sized(I8, I8) -> I8 { arithmetic: Factors };
            Depthwise2dI8SimdCrew = depthwise2d_i8_simd_crew(I8, I8) -> I8 { arithmetic: Factors };
        }
    }
    Dense {
        Portable {
            DenseI8F32Dynamic = dense_i8_f32_dynamic(I8, I8) -> F32 {
                packed: DenseI8xi4F32Dynamic,
                cycles: &[
                    (M4, cycles(2500, 65400, 0).each(&[(Line, 758000), (Left, 130000), (LeftProduct, 3020)])),
                    (M0, cycles(11199, 788906, 0).each(&[(Line, 1711222)])),
                    (M55, cycles(750, 56610, 0).each(&[(Line, 688366)])),
                    (Hazard3, cycles(5592, 367363, 0).each(&[(Line, 1008431)])),
                ]
            };
            DenseI8xi4F32Dynamic = dense_i8xi4_f32_dynamic(I8, I4) -> F32;
            BandedF32 = banded_f32(F32, F32) -> F32;
            DenseF32 = dense_f32(F32, F32) -> F32 {
                packed: DenseF32xf16, in_bytes: DenseF32xi8, in_nibbles: DenseF32xi4,
                cycles: &[
                    (M4, cycles(3630, 15402, 0).each(&[(Line, 1397068), (Left, 171651), (LeftProduct, 5071)])),
                    (M0, cycles(262395, 240969, 0).each(&[(Line, 2310376)])),
                    (M55, cycles(1313, 37132, 0).each(&[(Line, 903706), (Left, 84618), (LeftProduct, 3437)])),
                    (Hazard3, cycles(109780, 125164, 0).each(&[(Line, 1761962)])),
                ],
                small: &[
                    (M55, cycles(1313, 41996, 0).each(&[(Line, 924329), (Left, 76463), (LeftProduct, 5708)])),
                    (M4, cycles(3627, 15661, 0).each(&[(Line, 1450680), (Left, 138946), (LeftProduct, 7386)])),
                ]
            };
            DenseF32xf16 = dense_f32xf16(F32, F16) -> F32;
            DenseF32xi4 = dense_f32xi4(F32, I4) -> F32 { of_pixels: Conv2dF32xi4 };
            DenseF32xi8 = dense_f32xi8(F32, I8) -> F32 { of_pixels: Conv2dF32xi8 };
            DenseI16 = dense_i16(I16, I8) -> I16 { arithmetic: Reference };
            DenseI16Narrow = dense_i16_narrow(I16, I8) -> I16 { arithmetic: Reference };
            DenseI8 = dense_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: DenseI8Float, packed: DenseI8xi4,
                cycles: &[
                    (M0, cycles(10269, 474957, 0).each(&[(Line, 1117950)])),
                    (M4, cycles(2500, 52900, 698)),
                    (Hazard3, cycles(4730, 55800, 0).and(5000, 949000)),
                ],
                small: &[(M0, cycles(11590, 570122, 0).each(&[(Line, 1280172)]))]
            };
            DenseI8Float = dense_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            DenseRowsF32 = dense_rows_f32(F32, F32) -> F32;
            DenseRowsI8 = dense_rows_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: DenseRowsI8Float,
                cycles: &[
                    (M4, cycles(2144, 346700, 0).each(&[(Piece, 436150)])),
                    (M0, cycles(12094, 143500, 0).each(&[(Piece, 40950)])),
                    (M55, cycles(303, 351560, 0).each(&[(Piece, 437690)])),
                    (Hazard3, cycles(5583, 190360, 0).each(&[(Piece, 240560)])),
                ]
            };
            DenseRowsI8Float = dense_rows_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            DenseRowsI8Once = dense_rows_i8_once(I8, I8) -> I8 { arithmetic: Once };
            DenseI8I16 = dense_i8_i16(I8, I8) -> I16 {
                arithmetic: Reference,
                cycles: &[
                    (M4, cycles(2563, 89750, 0).each(&[(Line, 107000)])),
                    (M0, cycles(11315, 152449, 0).each(&[(Line, 182628)])),
                    (Hazard3, cycles(5668, 75328, 0).each(&[(Line, 120447)])),
                ],
                small: &[(M0, cycles(11435, 160681, 0).each(&[(Line, 156402)]))]
            };
            DenseI8xi4 = dense_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            DenseI8Once = dense_i8_once(I8, I8) -> I8 { arithmetic: Once, packed: DenseI8xi4Once };
            DenseI8xi4Once = dense_i8xi4_once(I8, I4) -> I8 { arithmetic: Once };
            DenseI8xi16 = dense_i8xi16(I8, I16) -> I8 { arithmetic: Reference, floating: DenseI8xi16Float };
            DenseI8xi16Float = dense_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            DenseI8xi16Once = dense_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            DenseI8V6mWide = dense_i8_v6m_wide(I8, I8) -> I8 {
                arithmetic: Halves,
                cycles: &[
                    (M0, cycles(2930, 49382, 0).each(&[(Tile, 196949), (Pixel, 523651), (Piece, 1062955), (Word, 22531), (Moved, 14748), (Rest, 14157)])),
                    (M4, cycles(3200, 100000, 7000).each(&[(Rest, 18000)])),
                ]
            };
            DenseI8V6mPairs = dense_i8_v6m_pairs(I8, I8) -> I8 {
                arithmetic: Halves,
                cycles: &[
                    (M0, cycles(3320, 29352, 0).each(&[(Corrected, 3595), (Tile, 119551), (Left, 18538), (LeftProduct, 3541), (Window, 1307816), (Pixel, 1020890), (Word, 4881), (Moved, 7627)])),
                ],
                small: &[
                    (M0, cycles(3318, 29408, 0).each(&[(Corrected, 4258), (Tile, 90481), (Left, 15347), (LeftProduct, 3538), (Window, 1436702), (Pixel, 1311845), (Word, 5181), (Moved, 9002)])),
                ]
            };
            DenseI8V6mSingles = dense_i8_v6m_singles(I8, I8) -> I8 {
                arithmetic: Halves,
                cycles: &[
                    (M0, cycles(4010, 49259, 0).each(&[(Tile, 475398), (Piece, 2035584), (Word, 10090)])),
                ],
                small: &[
                    (M0, cycles(4013, 48365, 0).each(&[(Tile, 531912), (Piece, 2639175), (Word, 11422)])),
                ]
            };
        }
        Dsp {
            DenseI8DspCompact = dense_i8_dsp_compact(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4,
                cycles: &[(M4, cycles(1568, 14291, 0).each(&[(Line, 144509)]))]
            };
            DenseI8Dsp = dense_i8_dsp(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: DenseI8DspCrew,
                cycles: &[(M4, cycles(1229, 17057, 0).each(&[(Line, 210832), (Left, 7025), (LeftProduct, 195)])), (M55, cycles(1193, 12830, 230))]
            };
            DenseI8DspCrew = dense_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            DenseI8DspDot = dense_i8_dsp_dot(I8, I8) -> I8 {
                arithmetic: Fitted,
                cycles: &[(M4, cycles(2375, 39989, 155)), (M55, cycles(255, 38000, 105))],
                small: &[(M55, cycles(2375, 39989, 155))]
            };
            DenseI8DspEights = dense_i8_dsp_eights(I8, I8) -> I8 {
                arithmetic: Fitted, on_crew: DenseI8DspEightsCrew,
                cycles: &[(M4, cycles(1222, 11929, 0).each(&[(Line, 91235)]))]
            };
            DenseI8DspEightsCrew = dense_i8_dsp_eights_crew(I8, I8) -> I8 { arithmetic: Fitted };
            DenseI8DspExact = dense_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            DenseI8I16Dsp = dense_i8_i16_dsp(I8, I8) -> I16 { arithmetic: Reference, cycles: &[(M4, cycles(2375, 57983, 155))] };
        }
        Mve {
            DenseI8Mve = dense_i8_mve(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 8,
                cycles: &[(M55, cycles(144, 4833, 0).each(&[(Pixel, 120815), (Tile, 98532), (Left, 22573), (Corrected, 2260)]))]
            };
            DenseI8MveSmall = dense_i8_mve_small(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 8,
                cycles: &[(M55, cycles(170, 4499, 0).each(&[(Pixel, 304341), (Corrected, 2293)]))],
                small: &[(M55, cycles(171, 5260, 0).each(&[(Pixel, 151730), (Tile, 86423), (Left, 11902), (Corrected, 2320)]))]
            };
            DenseI16Mve = dense_i16_mve(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(310, 8000, 240))] };
            DenseI16MveLong = dense_i16_mve_long(I16, I8) -> I16 {
                arithmetic: Reference, filters_at_once: 8,
                cycles: &[(M55, cycles(355, 30000, 100))]
            };
            DenseI8I16Mve = dense_i8_i16_mve(I8, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(172, 6232, 210))] };
        }
        Rv32 {
            DenseI8Rv32Pairs = dense_i8_rv32_pairs(I8, I8) -> I8 {
                arithmetic: Upper,
                cycles: &[
                    (Hazard3, cycles(2236, 16229, 0).each(&[(Turn, 2024), (Pixel, 14673), (Tile, 390684), (Window, 29836), (Piece, 24058), (Word, 8490), (Other, 74454)])),
                ]
            };
            DenseI8Rv32Singles = dense_i8_rv32_singles(I8, I8) -> I8 {
                arithmetic: Upper,
                cycles: &[(Hazard3, cycles(2254, 28531, 0).each(&[(Line, 203006), (LeftProduct, 2476), (Window, 45751), (Tile, 161514), (Corrected, 4023)]))],
                small: &[(Hazard3, cycles(2245, 44773, 0).each(&[(Tile, 508616), (Window, 45970), (Line, 181891), (Corrected, 8803), (LeftProduct, 2268)]))]
            };
            DenseI8I16Rv32 = dense_i8_i16_rv32(I8, I8) -> I16 { arithmetic: Reference, cycles: &[(Hazard3, cycles(4626, 22700, 239))] };
            DenseI8I16Rv32Singles = dense_i8_i16_rv32_singles(I8, I8) -> I16 {
                arithmetic: Reference,
                cycles: &[(Hazard3, cycles(2262, 48800, 130).each(&[(Window, 46900), (LeftProduct, 2517)]))]
            };
            DenseI8Rv32Quads = dense_i8_rv32_quads(I8, I8) -> I8 {
                arithmetic: Upper,
                cycles: &[
                    (Hazard3, cycles(1902, 22821, 645).each(&[(Turn, 2126), (Pixel, 26300), (Tile, 229980), (Window, 26999), (Run, 492919), (Word, 8347), (Other, 121557), (Border, 161170), (Piece, 224822), (Corrected, 2121)])),
                ]
            };
        }
        Simd {
            DenseF32SimdReproducible = dense_f32_simd_reproducible(F32, F32) -> F32 { on_crew: DenseF32SimdReproducibleCrew };
            DenseF32SimdReproducibleCrew = dense_f32_simd_reproducible_crew(F32, F32) -> F32;
            DenseF32Simd = dense_f32_simd(F32, F32) -> F32 {
                reproducible: DenseF32SimdReproducible, on_crew: DenseF32SimdCrew,
                cycles: &[(Host, cycles(75, 0, 0))]
            };
            DenseF32SimdCrew = dense_f32_simd_crew(F32, F32) -> F32;
            DenseI8Simd = dense_i8_simd(I8, I8) -> I8 { arithmetic: Factors, on_crew: DenseI8SimdCrew, cycles: &[(Host, cycles(30, 0, 0))] };
            DenseI8SimdSized = dense_i8_simd_sized(I8, I8) -> I8 { arithmetic: Factors };
            DenseI8SimdCrew = dense_i8_simd_crew(I8, I8) -> I8 { arithmetic: Factors };
        }
    }
    MatMul {
        Portable {
            MatmulF32 = matmul_f32(F32, F32) -> F32;
            MatmulI16 = matmul_i16(I16, I16) -> I16 { arithmetic: Reference };
            MatmulI8 = matmul_i8(I8, I8) -> I8 { arithmetic: Reference };
            MatmulI8Float = matmul_i8_float(I8, I8) -> I8 { arithmetic: Floats };
        }
        Simd {
            MatmulF32SimdReproducible = matmul_f32_simd_reproducible(F32, F32) -> F32;
            MatmulF32Simd = matmul_f32_simd(F32, F32) -> F32 { reproducible: MatmulF32SimdReproducible };
        }
    }
    Recurrent {
        Portable {
            GruF32 = gru_f32(F32, F32) -> F32;
            LstmF32 = lstm_f32(F32, F32) -> F32;
            LstmI8 = lstm_i8(I8, I8) -> I8 {
                arithmetic: Reference,
                cycles: &[
                    (M4, cycles(2116, 0, 0).each(&[(Tap, 842216)])),
                    (M0, cycles(6512, 0, 0).each(&[(Tap, 1607394)])),
                    (M55, cycles(0, 0, 0).each(&[(Tap, 463729)])),
                    (Hazard3, cycles(4309, 0, 0).each(&[(Tap, 539023)])),
                ],
                small: &[(M4, cycles(579, 0, 0).each(&[(Tap, 782868)])), (M55, cycles(900, 0, 0).each(&[(Tile, 660000)])), (Hazard3, cycles(3452, 0, 0).each(&[(Tap, 875636)]))]
            };
            RnnF32 = rnn_f32(F32, F32) -> F32;
        }
        Dsp {
            LstmI8Dsp = lstm_i8_dsp(I8, I8) -> I8 { arithmetic: Reference, cycles: &[(M4, cycles(659, 0, 0).each(&[(Tap, 695910)]))] };
        }
        Mve {
            LstmI8Mve = lstm_i8_mve(I8, I8) -> I8 { arithmetic: Reference, cycles: &[(M55, cycles(198, 0, 0).each(&[(Tile, 285000)]))] };
        }
    }
    Pool {
        Portable {
            AvgPool2dF32 = avg_pool2d_f32(F32) -> F32 {
                in_vectors: AvgPool2dF32Simd,
                cycles: &[
                    (M4, cycles(7567, 31399, 0).each(&[(Turn, 24977)])),
                    (M0, cycles(174379, 187195, 0).each(&[(One, 10171), (Turn, 35602)])),
                    (M55, cycles(4403, 34633, 0).each(&[(Turn, 20560)])),
                    (Hazard3, cycles(90951, 75198, 0).each(&[(One, 10357)])),
                ],
                small: &[
                    (M4, cycles(19430, 58495, 0).each(&[(One, 1565)])),
                    (M0, cycles(183028, 219450, 0).each(&[(One, 17608)])),
                    (M55, cycles(13440, 45954, 0).each(&[(One, 2236), (Turn, 549)])),
                    (Hazard3, cycles(93441, 95016, 0).each(&[(One, 6074)])),
                ]
            };
            AvgPool2dI16 = avg_pool2d_i16(I16) -> I16;
            AvgPool2dI8 = avg_pool2d_i8(I8) -> I8 {
                cycles: &[
                    (M0, cycles(10356, 34345, 0).each(&[(Turn, 99825)])),
                    (Hazard3, cycles(7243, 33670, 0).each(&[(One, 10334)])),
                ],
                small: &[
                    (M0, cycles(14726, 78795, 0).each(&[(One, 8202), (Turn, 63825)])),
                    (Hazard3, cycles(14280, 50577, 0).each(&[(One, 1548)])),
                ]
            };
            AvgPool2dU8 = avg_pool2d_u8(U8) -> U8;
            AvgPoolRowsF32 = avg_pool_rows_f32(F32) -> F32;
            AvgPoolRowsI16 = avg_pool_rows_i16(I16) -> I16;
            AvgPoolRowsI8 = avg_pool_rows_i8(I8) -> I8;
            AvgPoolRowsU8 = avg_pool_rows_u8(U8) -> U8;
            MaxPool2dF32 = max_pool2d_f32(F32) -> F32 {
                in_vectors: MaxPool2dF32Simd,
                cycles: &[
                    (M4, cycles(10799, 16623, 0).each(&[(One, 39), (Turn, 23397)])),
                    (M0, cycles(61732, 32259, 0).each(&[(One, 8765), (Turn, 13336)])),
                    (M55, cycles(4159, 9850, 0).each(&[(One, 4635), (Turn, 21160)])),
                    (Hazard3, cycles(35493, 17355, 0).each(&[(One, 7150)])),
                ],
                small: &[
                    (M4, cycles(22409, 44988, 0).each(&[(One, 641), (Turn, 3155)])),
                    (M0, cycles(68649, 69245, 0).each(&[(One, 12446)])),
                    (M55, cycles(16776, 29231, 0).each(&[(One, 3243)])),
                    (Hazard3, cycles(40854, 35636, 0).each(&[(One, 4258)])),
                ]
            };
            MaxPool2dI16 = max_pool2d_i16(I16) -> I16;
            MaxPool2dI8 = max_pool2d_i8(I8) -> I8 {
                cycles: &[
                    (M0, cycles(12249, 27987, 0).each(&[(Turn, 61968)])),
                    (Hazard3, cycles(7770, 23423, 0).each(&[(One, 6835)])),
                ],
                small: &[
                    (M0, cycles(20239, 73992, 0).each(&[(One, 10001)])),
                    (Hazard3, cycles(16047, 37385, 0)),
                ]
            };
        }
        Dsp {
            MaxPool2dI8Dsp = max_pool2d_i8_dsp(I8) -> I8 {
                cycles: &[(M4, cycles(901, 1360, 189).each(&[(Piece, 127298), (Other, 3394)]))],
                small: &[(M4, cycles(763, 1639, 78).each(&[(Piece, 289740), (Other, 6614)]))]
            };
            MeanPool2dI8DspCompact = mean_pool2d_i8_dsp_compact(I8) -> I8 {
                arithmetic: Linear,
                cycles: &[(M4, cycles(4330, 6028, 0).each(&[(Run, 71839)]))]
            };
            MeanPool2dI8Dsp = mean_pool2d_i8_dsp(I8) -> I8 {
                arithmetic: Linear,
                cycles: &[(M4, cycles(0, 0, 477).each(&[(Word, 564), (Line, 185723)]))]
            };
        }
        Mve {
            MaxPool2dI8Mve = max_pool2d_i8_mve(I8) -> I8 {
                cycles: &[(M55, cycles(0, 0, 245).each(&[(Window, 15732), (Piece, 132947)]))],
                small: &[(M55, cycles(0, 0, 349).each(&[(Tile, 8863), (Piece, 298266), (LeftProduct, 266)]))]
            };
            MeanPool2dI8Mve = mean_pool2d_i8_mve(I8) -> I8 {
                arithmetic: Linear,
                cycles: &[(M55, cycles(0, 0, 1190).each(&[(Window, 117648), (Piece, 63114)]))],
                small: &[(M55, cycles(0, 0, 0).each(&[(LeftProduct, 422), (Window, 137156), (Piece, 160399)]))]
            };
        }
        Simd {
            AvgPool2dF32Simd = avg_pool2d_f32_simd(F32) -> F32;
            MaxPool2dF32Simd = max_pool2d_f32_simd(F32) -> F32;
            MeanPool2dI8Simd = mean_pool2d_i8_simd(I8) -> I8 { arithmetic: Linear };
        }
    }
    Reduce {
        Portable {
            ArgMax = arg_max(Any) -> Any;
            ArgMin = arg_min(Any) -> Any;
            CumsumF32 = cumsum_f32(F32) -> F32;
            CumsumI32 = cumsum_i32(I32) -> I32;
            CumsumI64 = cumsum_i64(I64) -> I64;
            MeanF32 = mean_f32(F32) -> F32 {
                in_vectors: MeanF32Simd,
                cycles: &[
                    (M4, cycles(3352, 285704, 0)),
                    (M0, cycles(156040, 535674, 0)),
                    (M55, cycles(3186, 214254, 0)),
                    (Hazard3, cycles(76985, 138782, 0)),
                ]
            };
            MeanI16 = mean_i16(I16) -> I16 { arithmetic: Reference };
            MeanI8 = mean_i8(I8) -> I8 {
                arithmetic: Reference,
                cycles: &[(M0, cycles(22587, 0, 5615).each(&[(Run, 306552)])), (Hazard3, cycles(11684, 0, 468).each(&[(Run, 174827)]))],
                small: &[(M0, cycles(29774, 0, 6916).each(&[(Run, 518157)])), (Hazard3, cycles(16118, 0, 0).each(&[(Run, 430526)]))]
            };
            MeanI8Float = mean_i8_float(I8) -> I8 { arithmetic: Floats };
            MeanRowsF32 = mean_rows_f32(F32) -> F32;
            MeanRowsI16 = mean_rows_i16(I16) -> I16 { arithmetic: Reference };
            MeanRowsI8 = mean_rows_i8(I8) -> I8 { arithmetic: Reference };
            ReduceMax = reduce_max(Any) -> Any;
            ReduceMin = reduce_min(Any) -> Any;
            ReduceProduct = reduce_product(Any) -> Any;
            ReduceProductI8 = reduce_product_i8(I8) -> I8 { arithmetic: Reference };
            ReduceSum = reduce_sum(Any) -> Any;
            TopK = top_k(Any) -> I32;
        }
        Simd {
            MeanF32SimdReproducible = mean_f32_simd_reproducible(F32) -> F32;
            MeanF32Simd = mean_f32_simd(F32) -> F32 { reproducible: MeanF32SimdReproducible };
        }
    }
    Normalise {
        Portable {
            L2NormalizeF32 = l2_normalize_f32(F32) -> F32;
            L2NormalizeI8 = l2_normalize_i8(I8) -> I8;
            L2NormalizeU8 = l2_normalize_u8(U8) -> U8;
            LocalNormalizeF32 = local_normalize_f32(F32) -> F32;
            LogSoftmaxF32 = log_softmax_f32(F32) -> F32;
            LogSoftmaxI8 = log_softmax_i8(I8) -> I8;
            SoftmaxF32 = softmax_f32(F32) -> F32 {
                in_vectors: SoftmaxF32Simd,
                cycles: &[
                    (M4, cycles(0, 109659, 0)),
                    (M0, cycles(0, 2538276, 0)),
                    (M55, cycles(0, 113916, 0)),
                    (Hazard3, cycles(0, 1225931, 0)),
                ]
            };
            SoftmaxI16 = softmax_i16(I16) -> I16 { arithmetic: Reference };
            SoftmaxI8 = softmax_i8(I8) -> I8 {
                in_helium: SoftmaxI8Mve,
                cycles: &[(M0, cycles(0, 103800, 460)), (Hazard3, cycles(0, 55133, 153)), (M4, cycles(0, 34281, 148))],
                small: &[(M0, cycles(0, 129251, 502)), (Hazard3, cycles(0, 69657, 195)), (M4, cycles(0, 59340, 155))]
            };
            SoftmaxI8I16 = softmax_i8_i16(I8) -> I16 { in_helium: SoftmaxI8I16Mve };
        }
        Mve {
            SoftmaxI8Mve = softmax_i8_mve(I8) -> I8 { cycles: &[(M55, cycles(0, 7610, 180))], small: &[(M55, cycles(0, 7754, 187))] };
            SoftmaxI8I16Mve = softmax_i8_i16_mve(I8) -> I16;
        }
        Simd {
            SoftmaxF32SimdReproducible = softmax_f32_simd_reproducible(F32) -> F32;
            SoftmaxF32Simd = softmax_f32_simd(F32) -> F32 { reproducible: SoftmaxF32SimdReproducible };
        }
    }
    Resize {
        Portable {
            ResizeBilinearF32 = resize_bilinear_f32(F32) -> F32;
            ResizeBilinearI16 = resize_bilinear_i16(I16) -> I16;
            ResizeBilinearI8 = resize_bilinear_i8(I8) -> I8;
            ResizeBilinearU8 = resize_bilinear_u8(U8) -> U8;
        }
    }
    Pairs {
        Portable {
            AddF32 = add_f32(F32, F32) -> F32 {
                in_vectors: AddF32Simd, in_helium: AddF32Mve,
                cycles: &[(M4, cycles(0, 12179, 329)), (M0, cycles(0, 181792, 398)), (Hazard3, cycles(0, 94643, 281))]
            };
            AddI16 = add_i16(I16, I16) -> I16 { arithmetic: Reference };
            AddI32 = add_i32(I32, I32) -> I32;
            AddI64 = add_i64(I64, I64) -> I64;
            AddI8 = add_i8(I8, I8) -> I8 { arithmetic: Reference };
            AddI8Float = add_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            Atan2F32 = atan2_f32(F32, F32) -> F32;
            DivF32 = div_f32(F32, F32) -> F32 { in_vectors: DivF32Simd };
            DivI32 = div_i32(I32, I32) -> I32;
            DivI64 = div_i64(I64, I64) -> I64;
            DivI8 = div_i8(I8, I8) -> I8 { arithmetic: Reference };
            FloorDivF32 = floor_div_f32(F32, F32) -> F32;
            FloorDivI32 = floor_div_i32(I32, I32) -> I32;
            FloorDivI64 = floor_div_i64(I64, I64) -> I64;
            FloorModF32 = floor_mod_f32(F32, F32) -> F32;
            FloorModI32 = floor_mod_i32(I32, I32) -> I32;
            FloorModI64 = floor_mod_i64(I64, I64) -> I64;
            MaxF32 = max_f32(F32, F32) -> F32;
            MaxI16 = max_i16(I16, I16) -> I16;
            MaxI32 = max_i32(I32, I32) -> I32;
            MaxI64 = max_i64(I64, I64) -> I64;
            MaxI8 = max_i8(I8, I8) -> I8 { in_helium: MaxI8Mve };
            MinF32 = min_f32(F32, F32) -> F32;
            MinI16 = min_i16(I16, I16) -> I16;
            MinI32 = min_i32(I32, I32) -> I32;
            MinI64 = min_i64(I64, I64) -> I64;
            MinI8 = min_i8(I8, I8) -> I8 { in_helium: MinI8Mve };
            MulF32 = mul_f32(F32, F32) -> F32 {
                in_vectors: MulF32Simd, in_helium: MulF32Mve,
                cycles: &[(M4, cycles(0, 12342, 323)), (M0, cycles(0, 190445, 399)), (Hazard3, cycles(0, 65676, 292))]
            };
            MulI16 = mul_i16(I16, I16) -> I16 { arithmetic: Reference };
            MulI32 = mul_i32(I32, I32) -> I32;
            MulI64 = mul_i64(I64, I64) -> I64;
            MulI8 = mul_i8(I8, I8) -> I8 { arithmetic: Reference, in_vectors: MulI8Simd, in_helium: MulI8Mve };
            MulI8Float = mul_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            PowF32 = pow_f32(F32, F32) -> F32;
            PowI32 = pow_i32(I32, I32) -> I32;
            PowI64 = pow_i64(I64, I64) -> I64;
            PreluF32 = prelu_f32(F32, F32) -> F32;
            PreluI8 = prelu_i8(I8, I8) -> I8 { arithmetic: Reference };
            SquaredDifferenceF32 = squared_difference_f32(F32, F32) -> F32;
            SquaredDifferenceI16 = squared_difference_i16(I16, I16) -> I16 { arithmetic: Reference };
            SquaredDifferenceI32 = squared_difference_i32(I32, I32) -> I32;
            SquaredDifferenceI64 = squared_difference_i64(I64, I64) -> I64;
            SquaredDifferenceI8 = squared_difference_i8(I8, I8) -> I8 { arithmetic: Reference };
            SubF32 = sub_f32(F32, F32) -> F32 { in_vectors: SubF32Simd, in_helium: SubF32Mve };
            SubI16 = sub_i16(I16, I16) -> I16 { arithmetic: Reference };
            SubI32 = sub_i32(I32, I32) -> I32;
            SubI64 = sub_i64(I64, I64) -> I64;
            SubI8 = sub_i8(I8, I8) -> I8 { arithmetic: Reference };
        }
        V6m {
            AddI8V6m = add_i8_v6m(I8, I8) -> I8 {
                arithmetic: Linear,
                cycles: &[(M0, cycles(0, 28365, 140)), (M4, cycles(0, 7900, 100))],
                small: &[(M0, cycles(0, 32000, 74))]
            };
        }
        Dsp {
            AddI8DspCompact = add_i8_dsp_compact(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M4, cycles(0, 15000, 68))] };
            AddI8Dsp = add_i8_dsp(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M4, cycles(0, 5812, 98))] };
        }
        Mve {
            AddF32Mve = add_f32_mve(F32, F32) -> F32;
            AddI8Mve = add_i8_mve(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M55, cycles(0, 3954, 102))] };
            MaxI8Mve = max_i8_mve(I8, I8) -> I8;
            MinI8Mve = min_i8_mve(I8, I8) -> I8;
            MulF32Mve = mul_f32_mve(F32, F32) -> F32;
            MulI8Mve = mul_i8_mve(I8, I8) -> I8 { arithmetic: Reference };
            SubF32Mve = sub_f32_mve(F32, F32) -> F32;
        }
        Rv32 {
            AddI8Rv32 = add_i8_rv32(I8, I8) -> I8 {
                arithmetic: Linear,
                cycles: &[(Hazard3, cycles(0, 15027, 122))],
                small: &[(Hazard3, cycles(0, 23750, 52))]
            };
        }
        Simd {
            AddF32Simd = add_f32_simd(F32, F32) -> F32;
            AddI8Simd = add_i8_simd(I8, I8) -> I8 { arithmetic: Linear };
            DivF32Simd = div_f32_simd(F32, F32) -> F32;
            MulF32Simd = mul_f32_simd(F32, F32) -> F32;
            MulI8Simd = mul_i8_simd(I8, I8) -> I8 { arithmetic: Reference };
            SubF32Simd = sub_f32_simd(F32, F32) -> F32;
        }
    }
    Function {
        Portable {
            AbsF32 = abs_f32(F32) -> F32;
            CeilF32 = ceil_f32(F32) -> F32;
            ClipF32 = clip_f32(F32) -> F32;
            ClipI16 = clip_i16(I16) -> I16;
            CosF32 = cos_f32(F32) -> F32;
            EluF32 = elu_f32(F32) -> F32;
            ErfF32 = erf_f32(F32) -> F32;
            ExpF32 = exp_f32(F32) -> F32 { in_vectors: ExpF32Simd };
            FloorF32 = floor_f32(F32) -> F32;
            GeluF32 = gelu_f32(F32) -> F32 { in_vectors: GeluF32Simd };
            GeluTanhF32 = gelu_tanh_f32(F32) -> F32;
            HardSwishF32 = hard_swish_f32(F32) -> F32;
            InterpolateI16 = interpolate_i16(I16) -> I16;
            InverseRootI16 = inverse_root_i16(I16) -> I16 { arithmetic: Reference };
            LeakyReluF32 = leaky_relu_f32(F32) -> F32;
            LeakyReluI16 = leaky_relu_i16(I16) -> I16 { arithmetic: Reference };
            LogF32 = log_f32(F32) -> F32;
            LogisticF32 = logistic_f32(F32) -> F32 {
                in_vectors: LogisticF32Simd,
                cycles: &[
                    (M4, cycles(0, 133753, 0)),
                    (M0, cycles(0, 3767333, 0)),
                    (M55, cycles(0, 129306, 0)),
                    (Hazard3, cycles(0, 1615420, 0)),
                ]
            };
            LogisticI16 = logistic_i16(I16) -> I16;
            Lookup8 = lookup_8(Byte) -> Byte {
                arithmetic: Table, in_helium: Lookup8Mve,
                cycles: &[(M4, cycles(0, 5412, 128)), (M0, cycles(0, 8528, 0)), (Hazard3, cycles(0, 10009, 17))],
                small: &[(M4, cycles(0, 8522, 411)), (M0, cycles(0, 10998, 43))]
            };
            NegF32 = neg_f32(F32) -> F32;
            RoundF32 = round_f32(F32) -> F32;
            RsqrtF32 = rsqrt_f32(F32) -> F32 { in_vectors: RsqrtF32Simd };
            SignF32 = sign_f32(F32) -> F32;
            SinF32 = sin_f32(F32) -> F32;
            SoftplusF32 = softplus_f32(F32) -> F32;
            SqrtF32 = sqrt_f32(F32) -> F32 { in_vectors: SqrtF32Simd };
            SquareF32 = square_f32(F32) -> F32;
            TanhF32 = tanh_f32(F32) -> F32 {
                cycles: &[(M4, cycles(0, 152000, 0)), (M0, cycles(0, 5462000, 0)), (M55, cycles(0, 153000, 0)), (Hazard3, cycles(0, 2347000, 0))]
            };
            TanhI16 = tanh_i16(I16) -> I16;
        }
        Mve {
            Lookup8Mve = lookup_8_mve(Byte) -> Byte { arithmetic: Table, cycles: &[(M55, cycles(0, 767, 59))] };
        }
        Simd {
            ExpF32SimdReproducible = exp_f32_simd_reproducible(F32) -> F32;
            ExpF32Simd = exp_f32_simd(F32) -> F32 { reproducible: ExpF32SimdReproducible };
            GeluF32SimdReproducible = gelu_f32_simd_reproducible(F32) -> F32;
            GeluF32Simd = gelu_f32_simd(F32) -> F32 { reproducible: GeluF32SimdReproducible };
            LogisticF32SimdReproducible = logistic_f32_simd_reproducible(F32) -> F32;
            LogisticF32Simd = logistic_f32_simd(F32) -> F32 { reproducible: LogisticF32SimdReproducible };
            RsqrtF32Simd = rsqrt_f32_simd(F32) -> F32;
            SqrtF32Simd = sqrt_f32_simd(F32) -> F32;
        }
    }
    Compare {
        Portable {
            EqualF32 = equal_f32(F32, F32) -> Bool;
            EqualI16 = equal_i16(I16, I16) -> Bool;
            EqualI32 = equal_i32(I32, I32) -> Bool;
            EqualI64 = equal_i64(I64, I64) -> Bool;
            EqualI8 = equal_i8(I8, I8) -> Bool;
            EqualI8Scaled = equal_i8_scaled(I8, I8) -> Bool;
            EqualU8 = equal_u8(U8, U8) -> Bool;
            GreaterEqualF32 = greater_equal_f32(F32, F32) -> Bool;
            GreaterEqualI16 = greater_equal_i16(I16, I16) -> Bool;
            GreaterEqualI32 = greater_equal_i32(I32, I32) -> Bool;
            GreaterEqualI64 = greater_equal_i64(I64, I64) -> Bool;
            GreaterEqualI8 = greater_equal_i8(I8, I8) -> Bool;
            GreaterEqualI8Scaled = greater_equal_i8_scaled(I8, I8) -> Bool;
            GreaterEqualU8 = greater_equal_u8(U8, U8) -> Bool;
            GreaterF32 = greater_f32(F32, F32) -> Bool;
            GreaterI16 = greater_i16(I16, I16) -> Bool;
            GreaterI32 = greater_i32(I32, I32) -> Bool;
            GreaterI64 = greater_i64(I64, I64) -> Bool;
            GreaterI8 = greater_i8(I8, I8) -> Bool;
            GreaterI8Scaled = greater_i8_scaled(I8, I8) -> Bool;
            GreaterU8 = greater_u8(U8, U8) -> Bool;
            LessEqualF32 = less_equal_f32(F32, F32) -> Bool;
            LessEqualI16 = less_equal_i16(I16, I16) -> Bool;
            LessEqualI32 = less_equal_i32(I32, I32) -> Bool;
            LessEqualI64 = less_equal_i64(I64, I64) -> Bool;
            LessEqualI8 = less_equal_i8(I8, I8) -> Bool;
            LessEqualI8Scaled = less_equal_i8_scaled(I8, I8) -> Bool;
            LessEqualU8 = less_equal_u8(U8, U8) -> Bool;
            LessF32 = less_f32(F32, F32) -> Bool;
            LessI16 = less_i16(I16, I16) -> Bool;
            LessI32 = less_i32(I32, I32) -> Bool;
            LessI64 = less_i64(I64, I64) -> Bool;
            LessI8 = less_i8(I8, I8) -> Bool;
            LessI8Scaled = less_i8_scaled(I8, I8) -> Bool;
            LessU8 = less_u8(U8, U8) -> Bool;
            NotEqualF32 = not_equal_f32(F32, F32) -> Bool;
            NotEqualI16 = not_equal_i16(I16, I16) -> Bool;
            NotEqualI32 = not_equal_i32(I32, I32) -> Bool;
            NotEqualI64 = not_equal_i64(I64, I64) -> Bool;
            NotEqualI8 = not_equal_i8(I8, I8) -> Bool;
            NotEqualI8Scaled = not_equal_i8_scaled(I8, I8) -> Bool;
            NotEqualU8 = not_equal_u8(U8, U8) -> Bool;
        }
    }
    Convert {
        Portable {
            Cast = cast(Any) -> Any;
            CastToBool = cast_to_bool(Any) -> Bool;
            DequantizeI16F32 = dequantize_i16_f32(I16) -> F32;
            DequantizeI8F32 = dequantize_i8_f32(I8) -> F32 {
                cycles: &[(M4, cycles(0, 8302, 31)), (M0, cycles(0, 263299, 70)), (M55, cycles(0, 1718, 68)), (Hazard3, cycles(0, 113106, 23))],
                small: &[(M4, cycles(0, 13000, 31)), (M0, cycles(0, 266925, 82)), (Hazard3, cycles(0, 113035, 57))]
            };
            DequantizeU8F32 = dequantize_u8_f32(U8) -> F32;
            QuantizeF32I8Dynamic = quantize_f32_i8_dynamic(F32, F32) -> I8 {
                cycles: &[
                    (M4, cycles(0, 50501, 111)),
                    (M0, cycles(0, 634580, 565)),
                    (M55, cycles(0, 11792, 150)),
                    (Hazard3, cycles(0, 289504, 247)),
                ],
                small: &[(M55, cycles(0, 46000, 119))]
            };
            DynamicScaleF32Asymmetric = dynamic_scale_f32_asymmetric(F32) -> F32;
            DynamicScaleF32Symmetric = dynamic_scale_f32_symmetric(F32) -> F32 {
                cycles: &[
                    (M4, cycles(0, 0, 113).each(&[(Tap, 11752)])),
                    (M0, cycles(0, 0, 700).each(&[(Tap, 95494)])),
                    (M55, cycles(0, 0, 100).each(&[(Tap, 11252)])),
                    (Hazard3, cycles(0, 0, 315).each(&[(Tap, 58938)])),
                ],
                small: &[(M55, cycles(0, 0, 138).each(&[(Tap, 13002)]))]
            };
            QuantizeF32I16 = quantize_f32_i16(F32) -> I16;
            QuantizeF32I16Even = quantize_f32_i16_even(F32) -> I16;
            QuantizeF32I16EvenInverse = quantize_f32_i16_even_inverse(F32) -> I16;
            QuantizeF32I8 = quantize_f32_i8(F32) -> I8 { cycles: &[(M0, cycles(0, 633706, 263)), (Hazard3, cycles(0, 290647, 126))] };
            QuantizeF32I8Even = quantize_f32_i8_even(F32) -> I8;
            QuantizeF32I8EvenInverse = quantize_f32_i8_even_inverse(F32) -> I8;
            QuantizeF32I8EvenSum = quantize_f32_i8_even_sum(F32) -> I8;
            QuantizeF32U8 = quantize_f32_u8(F32) -> U8;
            RequantizeI16 = requantize_i16(I16) -> I16 { arithmetic: Reference };
            RequantizeI16I32 = requantize_i16_i32(I16) -> I32 { arithmetic: Reference };
            RequantizeI16I8 = requantize_i16_i8(I16) -> I8 {
                arithmetic: Reference,
                cycles: &[(M4, cycles(0, 15000, 34)), (M0, cycles(0, 66000, 78)), (M55, cycles(0, 15000, 42)), (Hazard3, cycles(0, 26000, 48))],
                small: &[(M4, cycles(0, 19000, 39)), (M55, cycles(0, 13000, 41))]
            };
            RequantizeI32I16 = requantize_i32_i16(I32) -> I16 { arithmetic: Reference };
            RequantizeI32I8 = requantize_i32_i8(I32) -> I8 { arithmetic: Reference };
            RequantizeI8I16 = requantize_i8_i16(I8) -> I16 { arithmetic: Reference };
            RequantizeI8I32 = requantize_i8_i32(I8) -> I32 { arithmetic: Reference };
        }
        Dsp {
            QuantizeF32I8Dsp = quantize_f32_i8_dsp(F32) -> I8 {
                arithmetic: Linear,
                cycles: &[(M4, cycles(0, 10163, 140))],
                small: &[(M4, cycles(0, 9905, 159))]
            };
        }
        Mve {
            QuantizeF32I8Mve = quantize_f32_i8_mve(F32) -> I8 {
                arithmetic: Linear,
                cycles: &[(M55, cycles(0, 3326, 124))],
                small: &[(M55, cycles(0, 3375, 49))]
            };
        }
    }
    Movement {
        Portable {
            Copy = copy(Any) -> Any {
                cycles: &[
                    (M4, cycles(0, 0, 0).each(&[(Run, 43000), (Word, 397), (Window, 430000), (Other, 19930)])),
                    (M0, cycles(0, 0, 0).each(&[(Run, 91000), (Word, 4792), (One, 1124), (Window, 649000), (Other, 24900)])),
                    (M55, cycles(0, 0, 0).each(&[(Run, 43000), (Word, 397), (Window, 360000), (Other, 18200)])),
                    (Hazard3, cycles(0, 0, 0).each(&[(Run, 23000), (Word, 4428), (One, 9145), (Window, 345000), (Other, 11960)])),
                ],
                small: &[
                    (M4, cycles(0, 0, 0).each(&[(Run, 57000), (Word, 18193), (One, 6529), (Window, 774000), (Other, 15930)])),
                    (M0, cycles(0, 0, 0).each(&[(Run, 56000), (Word, 23778), (One, 8198), (Window, 1067000), (Other, 26900)])),
                    (M55, cycles(0, 0, 0).each(&[(Run, 70000), (Word, 10942), (One, 3663), (Window, 622000), (Other, 10940)])),
                    (Hazard3, cycles(0, 0, 0).each(&[(Run, 34000), (Word, 16275), (One, 7660), (Window, 859000), (Other, 11950)])),
                ]
            };
            Fill = fill() -> Any;
            GatherI32 = gather_i32(Any, I32) -> Any;
            GatherI64 = gather_i64(Any, I64) -> Any;
            PadRows = pad_rows(Any) -> Any;
            Select = select(Bool, Any, Any) -> Any;
        }
        Dsp {
            CopyDsp = copy_dsp(Any) -> Any { cycles: &[(M4, cycles(0, 2242, 71))] };
        }
        Mve {
            CopyMve = copy_mve(Any) -> Any { cycles: &[(M55, cycles(0, 0, 33).each(&[(Word, 4004)]))] };
        }
    }
    Signal {
        Portable {
            BlockRfftI16 = block_rfft_i16(I16) -> I16;
            BlockRfftMixedI16 = block_rfft_mixed_i16(I16) -> I16;
            BlockWindowI16 = block_window_i16(I16) -> I16;
            BlockWindowI32 = block_window_i32(I32) -> I16;
            EnergyI16 = energy_i16(I16) -> I32;
            FilterBankI32 = filter_bank_i32(I32) -> I64;
            HeadroomI16 = headroom_i16(I16) -> I32;
            IrfftF32 = irfft_f32(F32) -> F32;
            IrfftI16 = irfft_i16(I16) -> I16;
            IrfftI32 = irfft_i32(I32) -> I32;
            LogI32I16 = log_i32_i16(I32) -> I16;
            NoiseEstimateI32 = noise_estimate_i32(I32, I32) -> I32;
            OverlapAddF32 = overlap_add_f32(F32, F32) -> F32;
            OverlapAddI16 = overlap_add_i16(I16, I16) -> I16;
            PcanI32 = pcan_i32(I32, I32) -> I32;
            RfftF32 = rfft_f32(F32) -> F32;
            RfftI16 = rfft_i16(I16) -> I16;
            RfftI32 = rfft_i32(I32) -> I32;
            ShiftLeftI16 = shift_left_i16(I16, I32) -> I16;
            SpectrumF32 = spectrum_f32(F32) -> F32;
            SquareRootI64 = square_root_i64(I64, I32) -> I32;
            SubtractNoiseI32 = subtract_noise_i32(I32, I32) -> I32;
            WindowI16 = window_i16(I16) -> I16;
        }
    }
    Classical {
        Portable {
            CoupleF32 = couple_f32(F32) -> F32;
            SquaredDistancesF32 = squared_distances_f32(F32, F32) -> F32;
            TreesF32 = trees_f32(F32) -> F32;
            TreesLeastF32 = trees_least_f32(F32) -> F32;
        }
    }
    } };
}
