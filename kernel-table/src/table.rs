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
            Conv1I16I8 = conv1_i16_i8(I16, I16) -> I8 { arithmetic: Reference };
            Conv2dI8F32Dynamic = conv2d_i8_f32_dynamic(I8, I8) -> F32 { packed: Conv2dI8xi4F32Dynamic };
            Conv2dI8xi4F32Dynamic = conv2d_i8xi4_f32_dynamic(I8, I4) -> F32;
            Conv2dF32 = conv2d_f32(F32, F32) -> F32 { packed: Conv2dF32xf16, in_bytes: Conv2dF32xi8, in_nibbles: Conv2dF32xi4 };
            Conv2dF32xf16 = conv2d_f32xf16(F32, F16) -> F32;
            Conv2dF32xi4 = conv2d_f32xi4(F32, I4) -> F32;
            Conv2dF32xi8 = conv2d_f32xi8(F32, I8) -> F32;
            Conv2dI16 = conv2d_i16(I16, I8) -> I16 { arithmetic: Reference };
            Conv2dI16Narrow = conv2d_i16_narrow(I16, I8) -> I16 { arithmetic: Reference };
            Conv2dI8 = conv2d_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: Conv2dI8Float, packed: Conv2dI8xi4,
                cycles: &[(M0, cycles(11247, 189571, 416).and(180, 508568)), (M4, cycles(2250, 241000, 1000)), (Hazard3, cycles(8000, 100000, 1000))]
            };
            Conv2dI8Float = conv2d_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            Conv2dI8Once = conv2d_i8_once(I8, I8) -> I8 { arithmetic: Once };
            Conv2dI8xi4 = conv2d_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            Conv2dI8xi16 = conv2d_i8xi16(I8, I16) -> I8 { arithmetic: Reference, floating: Conv2dI8xi16Float };
            Conv2dI8xi16Float = conv2d_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            Conv2dI8xi16Once = conv2d_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            Conv2dI8V6mPairs = conv2d_i8_v6m_pairs(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Conv2dI8V6mPairsCrew, cycles: &[(M0, cycles(3140, 36500, 4400).and(14500, 400000)), (M4, cycles(3780, 77700, 2500))]
            };
            Conv2dI8V6mPairsCrew = conv2d_i8_v6m_pairs_crew(I8, I8) -> I8 { arithmetic: Halves };
            Conv2dI8V6mSingles = conv2d_i8_v6m_singles(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Conv2dI8V6mSinglesCrew, cycles: &[(M0, cycles(3650, 153000, 7300).and(14500, 400000)), (M4, cycles(4000, 150000, 7000))]
            };
            Conv2dI8V6mSinglesCrew = conv2d_i8_v6m_singles_crew(I8, I8) -> I8 { arithmetic: Halves };
        }
        Dsp {
            Conv1I16I8Dsp = conv1_i16_i8_dsp(I16, I16) -> I8 { arithmetic: Reference };
            Conv1I8Dsp = conv1_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv1I8DspEights = conv1_i8_dsp_eights(I8, I8) -> I8 { arithmetic: Fitted };
            Conv1I8DspExact = conv1_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            Conv2dI8DspCompact = conv2d_i8_dsp_compact(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8Dsp = conv2d_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspCrew, cycles: &[(M4, cycles(1028, 6170, 3000).and(1700, 11500))] };
            Conv2dI8DspCrew = conv2d_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspExact = conv2d_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4, on_crew: Conv2dI8DspExactCrew };
            Conv2dI8DspExactCrew = conv2d_i8_dsp_exact_crew(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            Conv2dI8DspSmall = conv2d_i8_dsp_small(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspSmallCrew };
            Conv2dI8DspSmallCrew = conv2d_i8_dsp_small_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8DspWinograd = conv2d_i8_dsp_winograd(I8, I8) -> I8 {
                arithmetic: Fitted, filters_at_once: 4, on_crew: Conv2dI8DspWinogradCrew, cycles: &[(M4, cycles(1060, 70000, 1000))]
            };
            Conv2dI8DspWinogradCrew = conv2d_i8_dsp_winograd_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
        }
        Mve {
            Conv2dI8Mve = conv2d_i8_mve(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4, cycles: &[(M55, cycles(180, 4300, 2200).and(0, 10000))] };
            Conv2dI8MveSmall = conv2d_i8_mve_small(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI8MvePoints = conv2d_i8_mve_points(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4, cycles: &[(M55, cycles(156, 4440, 480).and(330, 0))] };
            Conv2dI8MvePointsSmall = conv2d_i8_mve_points_small(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            Conv2dI16Mve = conv2d_i16_mve(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(330, 9000, 1000))] };
            Conv2dI16MveLong = conv2d_i16_mve_long(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(420, 27000, 1000))] };
            Conv2dI16MvePoints = conv2d_i16_mve_points(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(300, 6600, 500))] };
            Conv1I16I8Mve = conv1_i16_i8_mve(I16, I16) -> I8 { arithmetic: Reference };
        }
        Rv32 {
            Conv2dI8Rv32Pairs = conv2d_i8_rv32_pairs(I8, I8) -> I8 { arithmetic: Upper, on_crew: Conv2dI8Rv32PairsCrew, cycles: &[(Hazard3, cycles(2940, 18900, 4800).and(4100, 67600))] };
            Conv2dI8Rv32PairsCrew = conv2d_i8_rv32_pairs_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Quads = conv2d_i8_rv32_quads(I8, I8) -> I8 { arithmetic: Upper, on_crew: Conv2dI8Rv32QuadsCrew, cycles: &[(Hazard3, cycles(2340, 18900, 4800).and(4100, 67600))] };
            Conv2dI8Rv32QuadsCrew = conv2d_i8_rv32_quads_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Mixed = conv2d_i8_rv32_mixed(I8, I8) -> I8 { arithmetic: Upper, on_crew: Conv2dI8Rv32MixedCrew, cycles: &[(Hazard3, cycles(2340, 18900, 4800).and(4100, 67600))] };
            Conv2dI8Rv32MixedCrew = conv2d_i8_rv32_mixed_crew(I8, I8) -> I8 { arithmetic: Upper };
            Conv2dI8Rv32Winograd = conv2d_i8_rv32_winograd(I8, I8) -> I8 { arithmetic: Upper, on_crew: Conv2dI8Rv32WinogradCrew, cycles: &[(Hazard3, cycles(3000, 47000, 1000))] };
            Conv2dI8Rv32WinogradCrew = conv2d_i8_rv32_winograd_crew(I8, I8) -> I8 { arithmetic: Upper };
        }
        Simd {
            Conv2dF32SimdReproducible = conv2d_f32_simd_reproducible(F32, F32) -> F32 { on_crew: Conv2dF32SimdReproducibleCrew };
            Conv2dF32SimdReproducibleCrew = conv2d_f32_simd_reproducible_crew(F32, F32) -> F32;
            Conv2dF32Simd = conv2d_f32_simd(F32, F32) -> F32 {
                reproducible: Conv2dF32SimdReproducible, on_crew: Conv2dF32SimdCrew, cycles: &[(Host, cycles(75, 0, 0))]
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
                packed: Depthwise2dF32xf16, in_bytes: Depthwise2dF32xi8, in_nibbles: Depthwise2dF32xi4
            };
            Depthwise2dF32xf16 = depthwise2d_f32xf16(F32, F16) -> F32;
            Depthwise2dF32xi4 = depthwise2d_f32xi4(F32, I4) -> F32;
            Depthwise2dF32xi8 = depthwise2d_f32xi8(F32, I8) -> F32;
            Depthwise2dI16 = depthwise2d_i16(I16, I8) -> I16 { arithmetic: Reference };
            Depthwise2dI8 = depthwise2d_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: Depthwise2dI8Float, packed: Depthwise2dI8xi4,
                cycles: &[(M0, cycles(13300, 174000, 9500)), (M4, cycles(10600, 94500, 6500)), (Hazard3, cycles(15000, 90000, 3000))]
            };
            Depthwise2dI8Float = depthwise2d_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            Depthwise2dI8Once = depthwise2d_i8_once(I8, I8) -> I8 { arithmetic: Once };
            Depthwise2dI8xi4 = depthwise2d_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            Depthwise2dI8xi16 = depthwise2d_i8xi16(I8, I16) -> I8 { arithmetic: Reference, floating: Depthwise2dI8xi16Float };
            Depthwise2dI8xi16Float = depthwise2d_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            Depthwise2dI8xi16Once = depthwise2d_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            Depthwise2dI8V6m = depthwise2d_i8_v6m(I8, I8) -> I8 {
                arithmetic: Halves, on_crew: Depthwise2dI8V6mCrew, cycles: &[(M0, cycles(10600, 22000, 830).and(82500, 50000)), (M4, cycles(5340, 83800, 8200))]
            };
            Depthwise2dI8V6mCrew = depthwise2d_i8_v6m_crew(I8, I8) -> I8 { arithmetic: Halves };
        }
        Dsp {
            Depthwise1dI8Dsp = depthwise1d_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M4, cycles(2050, 11800, 200))] };
            Depthwise2dI8DspCompact = depthwise2d_i8_dsp_compact(I8, I8) -> I8 { arithmetic: Fitted };
            Depthwise2dI8Dsp = depthwise2d_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, on_crew: Depthwise2dI8DspCrew, cycles: &[(M4, cycles(5000, 0, 8000).and(50000, 0))] };
            Depthwise2dI8DspCrew = depthwise2d_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted };
            Depthwise2dI8DspExact = depthwise2d_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, on_crew: Depthwise2dI8DspExactCrew };
            Depthwise2dI8DspExactCrew = depthwise2d_i8_dsp_exact_crew(I8, I8) -> I8 { arithmetic: Reference };
            Depthwise2dI8DspPlanar = depthwise2d_i8_dsp_planar(I8, I8) -> I8 { arithmetic: Fitted, on_crew: Depthwise2dI8DspPlanarCrew, cycles: &[(M4, cycles(2050, 300, 0).and(0, 62000))] };
            Depthwise2dI8DspPlanarCrew = depthwise2d_i8_dsp_planar_crew(I8, I8) -> I8 { arithmetic: Fitted };
            Depthwise2dI8DspPlanarExact = depthwise2d_i8_dsp_planar_exact(I8, I8) -> I8 { arithmetic: Reference, on_crew: Depthwise2dI8DspPlanarExactCrew };
            Depthwise2dI8DspPlanarExactCrew = depthwise2d_i8_dsp_planar_exact_crew(I8, I8) -> I8 { arithmetic: Reference };
        }
        Mve {
            Depthwise2dI16Mve = depthwise2d_i16_mve(I16, I8) -> I16 { arithmetic: Reference, cycles: &[(M55, cycles(1830, 3700, 500))] };
            Depthwise2dI8Mve = depthwise2d_i8_mve(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M55, cycles(500, 6500, 2000))] };
            Depthwise2dI8MveChannels = depthwise2d_i8_mve_channels(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M55, cycles(1000, 4700, 500))] };
            Depthwise2dI8MveColumns = depthwise2d_i8_mve_columns(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M55, cycles(500, 6500, 2000))] };
        }
        Rv32 {
            Depthwise2dI8Rv32 = depthwise2d_i8_rv32(I8, I8) -> I8 { arithmetic: Upper, on_crew: Depthwise2dI8Rv32Crew, cycles: &[(Hazard3, cycles(7414, 35900, 500).and(93445, 0))] };
            Depthwise2dI8Rv32Crew = depthwise2d_i8_rv32_crew(I8, I8) -> I8 { arithmetic: Upper };
            Depthwise2dI8Rv32Rolling = depthwise2d_i8_rv32_rolling(I8, I8) -> I8 { arithmetic: Upper, on_crew: Depthwise2dI8Rv32RollingCrew, cycles: &[(Hazard3, cycles(4595, 0, 2100).and(0, 77000))] };
            Depthwise2dI8Rv32RollingCrew = depthwise2d_i8_rv32_rolling_crew(I8, I8) -> I8 { arithmetic: Upper };
        }
        Simd {
            Depthwise2dF32SimdReproducible = depthwise2d_f32_simd_reproducible(F32, F32) -> F32 { on_crew: Depthwise2dF32SimdReproducibleCrew };
            Depthwise2dF32SimdReproducibleCrew = depthwise2d_f32_simd_reproducible_crew(F32, F32) -> F32;
            Depthwise2dF32Simd = depthwise2d_f32_simd(F32, F32) -> F32 {
                reproducible: Depthwise2dF32SimdReproducible, on_crew: Depthwise2dF32SimdCrew, cycles: &[(Host, cycles(375, 0, 0))]
            };
            Depthwise2dF32SimdCrew = depthwise2d_f32_simd_crew(F32, F32) -> F32;
            Depthwise2dI8Simd = depthwise2d_i8_simd(I8, I8) -> I8 { arithmetic: Factors, on_crew: Depthwise2dI8SimdCrew, cycles: &[(Host, cycles(150, 0, 0))] };
            Depthwise2dI8SimdSized = depthwise2d_i8_simd_sized(I8, I8) -> I8 { arithmetic: Factors };
            Depthwise2dI8SimdCrew = depthwise2d_i8_simd_crew(I8, I8) -> I8 { arithmetic: Factors };
        }
    }
    Dense {
        Portable {
            DenseI8F32Dynamic = dense_i8_f32_dynamic(I8, I8) -> F32 { packed: DenseI8xi4F32Dynamic };
            DenseI8xi4F32Dynamic = dense_i8xi4_f32_dynamic(I8, I4) -> F32;
            BandedF32 = banded_f32(F32, F32) -> F32;
            DenseF32 = dense_f32(F32, F32) -> F32 { packed: DenseF32xf16, in_bytes: DenseF32xi8, in_nibbles: DenseF32xi4 };
            DenseF32xf16 = dense_f32xf16(F32, F16) -> F32;
            DenseF32xi4 = dense_f32xi4(F32, I4) -> F32 { of_pixels: Conv2dF32xi4 };
            DenseF32xi8 = dense_f32xi8(F32, I8) -> F32 { of_pixels: Conv2dF32xi8 };
            DenseI16 = dense_i16(I16, I8) -> I16 { arithmetic: Reference };
            DenseI16Narrow = dense_i16_narrow(I16, I8) -> I16 { arithmetic: Reference };
            DenseI8 = dense_i8(I8, I8) -> I8 {
                arithmetic: Reference, floating: DenseI8Float, packed: DenseI8xi4, cycles: &[(M0, cycles(11200, 180000, 1900)), (M4, cycles(4260, 93800, 1150)), (Hazard3, cycles(4730, 55800, 0).and(5000, 949000))]
            };
            DenseI8Float = dense_i8_float(I8, I8) -> I8 { arithmetic: Floats };
            DenseI8I16 = dense_i8_i16(I8, I8) -> I16 { arithmetic: Reference };
            DenseI8xi4 = dense_i8xi4(I8, I4) -> I8 { arithmetic: Reference };
            DenseI8Once = dense_i8_once(I8, I8) -> I8 { arithmetic: Once, packed: DenseI8xi4Once };
            DenseI8xi4Once = dense_i8xi4_once(I8, I4) -> I8 { arithmetic: Once };
            DenseI8xi16 = dense_i8xi16(I8, I16) -> I8 { arithmetic: Reference, floating: DenseI8xi16Float };
            DenseI8xi16Float = dense_i8xi16_float(I8, I16) -> I8 { arithmetic: Floats };
            DenseI8xi16Once = dense_i8xi16_once(I8, I16) -> I8 { arithmetic: Once };
        }
        V6m {
            DenseI8V6mPairs = dense_i8_v6m_pairs(I8, I8) -> I8 { arithmetic: Halves, cycles: &[(M0, cycles(3407, 131200, 0).and(10745, 2716500))] };
            DenseI8V6mSingles = dense_i8_v6m_singles(I8, I8) -> I8 { arithmetic: Halves, cycles: &[(M0, cycles(3893, 118300, 0).and(20031, 1661500))] };
        }
        Dsp {
            DenseI8DspCompact = dense_i8_dsp_compact(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            DenseI8Dsp = dense_i8_dsp(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4, on_crew: DenseI8DspCrew, cycles: &[(M4, cycles(1263, 14500, 0).and(0, 197800))] };
            DenseI8DspCrew = dense_i8_dsp_crew(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 4 };
            DenseI8DspDot = dense_i8_dsp_dot(I8, I8) -> I8 { arithmetic: Fitted, cycles: &[(M4, cycles(2164, 117600, 0).and(408, 0))] };
            DenseI8DspEights = dense_i8_dsp_eights(I8, I8) -> I8 { arithmetic: Fitted, on_crew: DenseI8DspEightsCrew, cycles: &[(M4, cycles(1209, 11670, 0).and(400, 141300))] };
            DenseI8DspEightsCrew = dense_i8_dsp_eights_crew(I8, I8) -> I8 { arithmetic: Fitted };
            DenseI8DspExact = dense_i8_dsp_exact(I8, I8) -> I8 { arithmetic: Reference, filters_at_once: 4 };
            DenseI8I16Dsp = dense_i8_i16_dsp(I8, I8) -> I16 { arithmetic: Reference, cycles: &[(M4, cycles(2400, 60000, 0))] };
        }
        Mve {
            DenseI8Mve = dense_i8_mve(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 8, cycles: &[(M55, cycles(144, 6300, 100))] };
            DenseI8MveSmall = dense_i8_mve_small(I8, I8) -> I8 { arithmetic: Fitted, filters_at_once: 8 };
            DenseI16Mve = dense_i16_mve(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(310, 8000, 240))] };
            DenseI16MveLong = dense_i16_mve_long(I16, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(355, 30000, 100))] };
            DenseI8I16Mve = dense_i8_i16_mve(I8, I8) -> I16 { arithmetic: Reference, filters_at_once: 8, cycles: &[(M55, cycles(300, 8000, 60))] };
        }
        Rv32 {
            DenseI8Rv32Pairs = dense_i8_rv32_pairs(I8, I8) -> I8 { arithmetic: Upper, cycles: &[(Hazard3, cycles(2900, 20000, 1000))] };
            DenseI8Rv32Singles = dense_i8_rv32_singles(I8, I8) -> I8 { arithmetic: Upper, cycles: &[(Hazard3, cycles(2593, 56700, 0).and(9034, 375300))] };
            DenseI8I16Rv32Singles = dense_i8_i16_rv32_singles(I8, I8) -> I16 { arithmetic: Reference, cycles: &[(Hazard3, cycles(4300, 55000, 700))] };
            DenseI8Rv32Quads = dense_i8_rv32_quads(I8, I8) -> I8 { arithmetic: Upper, cycles: &[(Hazard3, cycles(2300, 20000, 1000))] };
        }
        Simd {
            DenseF32SimdReproducible = dense_f32_simd_reproducible(F32, F32) -> F32 { on_crew: DenseF32SimdReproducibleCrew };
            DenseF32SimdReproducibleCrew = dense_f32_simd_reproducible_crew(F32, F32) -> F32;
            DenseF32Simd = dense_f32_simd(F32, F32) -> F32 {
                reproducible: DenseF32SimdReproducible, on_crew: DenseF32SimdCrew, cycles: &[(Host, cycles(75, 0, 0))]
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
            LstmI8 = lstm_i8(I8, I8) -> I8 { arithmetic: Reference };
            RnnF32 = rnn_f32(F32, F32) -> F32;
        }
        Dsp {
            LstmI8Dsp = lstm_i8_dsp(I8, I8) -> I8 { arithmetic: Reference };
        }
        Mve {
            LstmI8Mve = lstm_i8_mve(I8, I8) -> I8 { arithmetic: Reference };
        }
    }
    Pool {
        Portable {
            AvgPool2dF32 = avg_pool2d_f32(F32) -> F32 { in_vectors: AvgPool2dF32Simd };
            AvgPool2dI16 = avg_pool2d_i16(I16) -> I16;
            AvgPool2dI8 = avg_pool2d_i8(I8) -> I8;
            AvgPool2dU8 = avg_pool2d_u8(U8) -> U8;
            AvgPoolRowsF32 = avg_pool_rows_f32(F32) -> F32;
            AvgPoolRowsI16 = avg_pool_rows_i16(I16) -> I16;
            AvgPoolRowsI8 = avg_pool_rows_i8(I8) -> I8;
            AvgPoolRowsU8 = avg_pool_rows_u8(U8) -> U8;
            MaxPool2dF32 = max_pool2d_f32(F32) -> F32 { in_vectors: MaxPool2dF32Simd };
            MaxPool2dI16 = max_pool2d_i16(I16) -> I16;
            MaxPool2dI8 = max_pool2d_i8(I8) -> I8;
        }
        Dsp {
            MaxPool2dI8Dsp = max_pool2d_i8_dsp(I8) -> I8;
            MeanPool2dI8DspCompact = mean_pool2d_i8_dsp_compact(I8) -> I8 { arithmetic: Linear };
            MeanPool2dI8Dsp = mean_pool2d_i8_dsp(I8) -> I8 { arithmetic: Linear };
        }
        Mve {
            MaxPool2dI8Mve = max_pool2d_i8_mve(I8) -> I8 { cycles: &[(M55, cycles(0, 1000, 200))] };
            MeanPool2dI8Mve = mean_pool2d_i8_mve(I8) -> I8 { arithmetic: Linear, cycles: &[(M55, cycles(0, 40000, 150))] };
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
            MeanF32 = mean_f32(F32) -> F32 { in_vectors: MeanF32Simd };
            MeanI16 = mean_i16(I16) -> I16 { arithmetic: Reference };
            MeanI8 = mean_i8(I8) -> I8 { arithmetic: Reference };
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
            SoftmaxF32 = softmax_f32(F32) -> F32 { in_vectors: SoftmaxF32Simd };
            SoftmaxI16 = softmax_i16(I16) -> I16 { arithmetic: Reference };
            SoftmaxI8 = softmax_i8(I8) -> I8 { in_helium: SoftmaxI8Mve };
            SoftmaxI8I16 = softmax_i8_i16(I8) -> I16 { in_helium: SoftmaxI8I16Mve };
        }
        Mve {
            SoftmaxI8Mve = softmax_i8_mve(I8) -> I8;
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
            AddF32 = add_f32(F32, F32) -> F32 { in_vectors: AddF32Simd, in_helium: AddF32Mve };
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
            MulF32 = mul_f32(F32, F32) -> F32 { in_vectors: MulF32Simd, in_helium: MulF32Mve };
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
            AddI8V6m = add_i8_v6m(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M0, cycles(0, 28400, 100)), (M4, cycles(0, 7900, 100))] };
        }
        Dsp {
            AddI8DspCompact = add_i8_dsp_compact(I8, I8) -> I8 { arithmetic: Linear };
            AddI8Dsp = add_i8_dsp(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M4, cycles(0, 5800, 100))] };
        }
        Mve {
            AddF32Mve = add_f32_mve(F32, F32) -> F32;
            AddI8Mve = add_i8_mve(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(M55, cycles(0, 4000, 60))] };
            MaxI8Mve = max_i8_mve(I8, I8) -> I8;
            MinI8Mve = min_i8_mve(I8, I8) -> I8;
            MulF32Mve = mul_f32_mve(F32, F32) -> F32;
            MulI8Mve = mul_i8_mve(I8, I8) -> I8 { arithmetic: Reference };
            SubF32Mve = sub_f32_mve(F32, F32) -> F32;
        }
        Rv32 {
            AddI8Rv32 = add_i8_rv32(I8, I8) -> I8 { arithmetic: Linear, cycles: &[(Hazard3, cycles(0, 15078, 0))] };
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
            LogisticF32 = logistic_f32(F32) -> F32 { in_vectors: LogisticF32Simd };
            LogisticI16 = logistic_i16(I16) -> I16;
            Lookup8 = lookup_8(Byte) -> Byte { arithmetic: Table, in_helium: Lookup8Mve };
            NegF32 = neg_f32(F32) -> F32;
            RoundF32 = round_f32(F32) -> F32;
            RsqrtF32 = rsqrt_f32(F32) -> F32 { in_vectors: RsqrtF32Simd };
            SignF32 = sign_f32(F32) -> F32;
            SinF32 = sin_f32(F32) -> F32;
            SoftplusF32 = softplus_f32(F32) -> F32;
            SqrtF32 = sqrt_f32(F32) -> F32 { in_vectors: SqrtF32Simd };
            SquareF32 = square_f32(F32) -> F32;
            TanhF32 = tanh_f32(F32) -> F32;
            TanhI16 = tanh_i16(I16) -> I16;
        }
        Mve {
            Lookup8Mve = lookup_8_mve(Byte) -> Byte { arithmetic: Table };
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
            DequantizeI8F32 = dequantize_i8_f32(I8) -> F32;
            DequantizeU8F32 = dequantize_u8_f32(U8) -> F32;
            QuantizeF32I8Dynamic = quantize_f32_i8_dynamic(F32, F32) -> I8;
            DynamicScaleF32Asymmetric = dynamic_scale_f32_asymmetric(F32) -> F32;
            DynamicScaleF32Symmetric = dynamic_scale_f32_symmetric(F32) -> F32;
            QuantizeF32I16 = quantize_f32_i16(F32) -> I16;
            QuantizeF32I16Even = quantize_f32_i16_even(F32) -> I16;
            QuantizeF32I16EvenInverse = quantize_f32_i16_even_inverse(F32) -> I16;
            QuantizeF32I8 = quantize_f32_i8(F32) -> I8;
            QuantizeF32I8Even = quantize_f32_i8_even(F32) -> I8;
            QuantizeF32I8EvenInverse = quantize_f32_i8_even_inverse(F32) -> I8;
            QuantizeF32I8EvenSum = quantize_f32_i8_even_sum(F32) -> I8;
            QuantizeF32U8 = quantize_f32_u8(F32) -> U8;
            RequantizeI16 = requantize_i16(I16) -> I16 { arithmetic: Reference };
            RequantizeI16I32 = requantize_i16_i32(I16) -> I32 { arithmetic: Reference };
            RequantizeI16I8 = requantize_i16_i8(I16) -> I8 { arithmetic: Reference };
            RequantizeI32I16 = requantize_i32_i16(I32) -> I16 { arithmetic: Reference };
            RequantizeI32I8 = requantize_i32_i8(I32) -> I8 { arithmetic: Reference };
            RequantizeI8I16 = requantize_i8_i16(I8) -> I16 { arithmetic: Reference };
            RequantizeI8I32 = requantize_i8_i32(I8) -> I32 { arithmetic: Reference };
        }
        Dsp {
            QuantizeF32I8Dsp = quantize_f32_i8_dsp(F32) -> I8 { arithmetic: Linear };
        }
        Mve {
            QuantizeF32I8Mve = quantize_f32_i8_mve(F32) -> I8 { arithmetic: Linear, cycles: &[(M55, cycles(0, 3374, 52))] };
        }
    }
    Movement {
        Portable {
            Copy = copy(Any) -> Any;
            Fill = fill() -> Any;
            GatherI32 = gather_i32(Any, I32) -> Any;
            GatherI64 = gather_i64(Any, I64) -> Any;
            PadRows = pad_rows(Any) -> Any;
            Select = select(Bool, Any, Any) -> Any;
        }
        Dsp {
            CopyDsp = copy_dsp(Any) -> Any;
        }
        Mve {
            CopyMve = copy_mve(Any) -> Any;
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
