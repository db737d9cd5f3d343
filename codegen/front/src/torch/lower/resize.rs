//! Interpolation.

use super::cx::Cx;
use super::{Lowered, One, Operators};
use crate::onnx::lower::Set;
use crate::torch::program::Arg;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("_upsample_bicubic2d_aa", One(|cx| resize(cx, 2, Mode::Cubic, true))),
    ("_upsample_bilinear2d_aa", One(|cx| resize(cx, 2, Mode::Linear, true))),
    ("_upsample_nearest_exact1d", One(|cx| resize(cx, 1, Mode::NearestExact, false))),
    ("_upsample_nearest_exact2d", One(|cx| resize(cx, 2, Mode::NearestExact, false))),
    ("upsample_bicubic2d", One(|cx| resize(cx, 2, Mode::Cubic, false))),
    ("upsample_bilinear2d", One(|cx| resize(cx, 2, Mode::Linear, false))),
    ("upsample_linear1d", One(|cx| resize(cx, 1, Mode::Linear, false))),
    ("upsample_nearest1d", One(|cx| resize(cx, 1, Mode::Nearest, false))),
    ("upsample_nearest2d", One(|cx| resize(cx, 2, Mode::Nearest, false))),
    ("upsample_nearest3d", One(|cx| resize(cx, 3, Mode::Nearest, false))),
    ("upsample_trilinear3d", One(|cx| resize(cx, 3, Mode::Linear, false))),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
}

fn resize(cx: &mut Cx<'_, '_, '_>, axes: usize, mode: Mode, antialias: bool) -> Lowered<ValueId> {
    let x = cx.float_tensor(if cx.has("input") { "input" } else { "self" })?;
    let rank = axes + 2;
    malformed_if!(cx.dims(x).len() != rank, "its operand is {}", cx.shown(x));
    let corners = cx.flag("align_corners", false)?;
    let coordinates = match mode {
        Mode::Nearest => "asymmetric",
        _ if corners => "align_corners",
        _ => "half_pixel",
    };
    // With antialiasing, the cubic is that of Pillow.
    let cubic = if antialias { -0.5 } else { -0.75 };
    let attributes = [
        (
            "mode",
            Set::Text(match mode {
                Mode::Nearest | Mode::NearestExact => "nearest",
                Mode::Linear => "linear",
                Mode::Cubic => "cubic",
            }),
        ),
        ("coordinate_transformation_mode", Set::Text(coordinates)),
        ("nearest_mode", Set::Text(if mode == Mode::Nearest { "floor" } else { "round_prefer_ceil" })),
        ("cubic_coeff_a", Set::Float(cubic)),
        ("antialias", Set::Int(antialias.into())),
        ("exclude_outside", Set::Int(antialias.into())),
    ];
    let factors: Option<Vec<f32>> = match cx.arg("scale_factors") {
        Some(Arg::Floats(list)) if list.len() == axes => {
            Some(list.iter().map(|&scale| scale as f32).collect())
        }
        _ => {
            let names: &[&str] = match axes {
                1 => &["scales"],
                2 => &["scales_h", "scales_w"],
                _ => &["scales_d", "scales_h", "scales_w"],
            };
            let all = names.iter().map(|name| Ok(cx.real(name)?.map(|scale| scale as f32)));
            all.collect::<Lowered<Option<Vec<f32>>>>()?
        }
    };
    let operands = match factors {
        Some(factors) => {
            let scales = [&[1.0, 1.0], &factors[..]].concat();
            [Some(x), None, Some(cx.float_constant("scales", &[rank], &scales)?), None]
        }
        None => {
            let sizes = cx.sizes("output_size", 1, axes)?;
            let dims = cx.dims(x);
            let sizes: Vec<i64> = dims[..2].iter().chain(&sizes).map(|&size| size as i64).collect();
            [Some(x), None, None, Some(cx.int_constant("sizes", DType::I64, &[rank], &sizes)?)]
        }
    };
    cx.call("Resize", &operands, &attributes)
}
