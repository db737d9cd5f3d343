//! The end of a sum in assembly, as depthwise kernels share it.

/// The sum in `$sum` becomes a result: by M, C and, where `{signed}` is 1, the correction in registers `$m`, `$c`, `$k`, of which `$k` is changed. `{shift}` is
/// the last shift.
macro_rules! affine {
    ($sum:literal, $m:literal, $c:literal, $k:literal) => {
        concat!(
            ".if {signed}\n",
            "and ",
            $k,
            ", ",
            $k,
            ", ",
            $sum,
            ", asr #31\n",
            "add ",
            $sum,
            ", ",
            $k,
            ", ",
            $sum,
            ", lsl #8\n",
            ".endif\n",
            "smmlar ",
            $sum,
            ", ",
            $sum,
            ", ",
            $m,
            ", ",
            $c,
            "\n",
            ".if {shift}\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            ", asr #{shift}\n",
            ".else\n",
            "ssat ",
            $sum,
            ", #8, ",
            $sum,
            "\n",
            ".endif\n",
        )
    };
}
pub(super) use affine;
