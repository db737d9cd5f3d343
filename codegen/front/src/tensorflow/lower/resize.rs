//! Images of another size.

use super::conv::{channels_first, channels_last};
use super::{Cx, Lowered, One, Operators};
use crate::onnx::lower::Set;
use kiln_ir::{DType, ValueId};

pub(super) const OPERATORS: Operators = &[
    ("ResizeBicubic", One(|cx| resize(cx, "cubic"))),
    ("ResizeBilinear", One(|cx| resize(cx, "linear"))),
    ("ResizeNearestNeighbor", One(|cx| resize(cx, "nearest"))),
];

fn resize(cx: &mut Cx<'_, '_, '_>, mode: &str) -> Lowered<ValueId> {
    let x = cx.x(0)?;
    // All but neighbours are interpolated in floats.
    let x = if mode == "nearest" { x } else { cx.cast(x, DType::F32)? };
    let size = cx.known_sizes(1, "size")?;
    malformed_if!(cx.dims(x).len() != 4 || size.len() != 2, "{} cannot become {size:?}", cx.shown(x));
    let (corners, centres) = (cx.flag("align_corners")?, cx.flag("half_pixel_centers")?);
    let image = channels_first(cx, x)?;
    let dims = cx.dims(image);
    let sizes = [dims[0], dims[1], size[0], size[1]].map(|size| size as i64);
    let sizes = cx.int_constant("size", DType::I64, &[4], &sizes)?;
    let coordinates = match (corners, centres, mode) {
        (true, ..) => "align_corners",
        (_, true, "nearest") => "tf_half_pixel_for_nn",
        (_, true, _) => "half_pixel",
        _ => "asymmetric",
    };
    let nearest = if corners { "round_prefer_ceil" } else { "floor" };
    // With pixels that have centres, weights are Keys's, and those outside of the image do not count.
    let (cubic, exclude) = if centres && !corners { (-0.5, 1) } else { (-0.75, 0) };
    let attributes = [
        ("mode", Set::Text(mode)),
        ("coordinate_transformation_mode", Set::Text(coordinates)),
        ("nearest_mode", Set::Text(nearest)),
        ("cubic_coeff_a", Set::Float(cubic)),
        ("exclude_outside", Set::Int(if mode == "cubic" { exclude } else { 0 })),
    ];
    let y = cx.call("Resize", &[Some(image), None, None, Some(sizes)], &attributes)?;
    channels_last(cx, y)
}
