//! Layers whose filters are [waves](crate::waves) become Fourier transforms. The results are those of the layer but for rounding.

use super::kernel::{self, Asked, Choice};
use super::shape::Shape;
use super::*;
use crate::ir::Layout;
use crate::waves::{radices, Waves};
use std::any::Any;
use std::borrow::Cow;
use std::f64::consts::TAU;

/// Where each of `n` complex numbers comes before the first butterflies: decimation in time.
fn places(n: usize, radices: &[u8]) -> Vec<u16> {
    let place = |index: usize| {
        let (mut index, mut block, mut place) = (index, n, 0);
        for &radix in radices.iter().rev() {
            block /= usize::from(radix);
            place += index % usize::from(radix) * block;
            index /= usize::from(radix);
        }
        place as u16
    };
    (0..n).map(place).collect()
}

/// Factors of butterflies, but for the first ones: real and imaginary parts.
fn twiddles(radices: &[u8]) -> Vec<f32> {
    let (mut width, mut all) = (1, Vec::new());
    for (at, &radix) in radices.iter().enumerate() {
        let radix = usize::from(radix);
        let factors = (0..width).flat_map(|k| (1..radix).map(move |q| k * q));
        if at > 0 {
            all.extend(factors.flat_map(|turn| {
                let angle = -TAU * turn as f64 / (width * radix) as f64;
                [angle.cos() as f32, angle.sin() as f32]
            }));
        }
        width *= radix;
    }
    all
}

/// The transform that a layer is, if it is one.
pub(super) fn find(asked: &Asked<'_>) -> Option<Choice> {
    let Asked { graph, node, .. } = *asked;
    let (shape, clamp) = match &node.op {
        Op::Conv2d { groups: 1, clamp, .. } => (Shape::of(graph, node)?, clamp),
        Op::Dense { clamp, .. } => (rows(Shape::of_dense(graph, node)?), clamp),
        _ => return None,
    };
    let floats =
        [node.operands[0], node.operands[1], node.result].iter().all(|&id| graph.ty(id).dtype == DType::F32);
    let bias = node.operands.get(2).map(|&id| graph.const_data(id));
    let no_bias = bias.is_none_or(|data| data.is_some_and(|data| data.to_f32().iter().all(|&b| b == 0.0)));
    if !floats
        || !no_bias
        || clamp.float_bounds() != (f32::NEG_INFINITY, f32::INFINITY)
        || node.op.layout() != Layout::default()
    {
        return None;
    }
    let weights = graph.const_data(node.operands[1])?;
    let waves = Waves::of(weights, shape.out_c)?;
    if !waves.is_faster(shape.out_c) {
        return None;
    }
    let pixels = (shape.images * shape.out_h * shape.out_w) as u64;
    let cycles = pixels * waves.cycles(shape.out_c);
    let workspace = 4 * (waves.length + 2);
    Some(Choice { workspace, images: shape.images, ..Choice::new(Rc::new(Spectrum(shape, waves)), cycles) })
}

/// The rows of a matrix product, whose pixels are those of one row, as rows of one pixel: they may come one by one.
fn rows(shape: Shape) -> Shape {
    Shape { in_h: shape.in_w, in_w: 1, out_h: shape.out_w, out_w: 1, ..shape }
}

/// The kernel of such a layer.
#[derive(Debug)]
struct Spectrum(Shape, Waves);

impl kernel::Kernel for Spectrum {
    fn name(&self) -> Cow<'static, str> {
        KernelId::SpectrumF32.name().into()
    }

    fn calls<'a>(&self, selector: &mut Selector<'a>, node: &'a Node) -> Selected {
        selector.spectrum(node, &self.0, &self.1)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl<'a> Selector<'a> {
    fn spectrum(&mut self, node: &'a Node, shape: &Shape, waves: &Waves) -> Selected {
        let length = waves.length;
        let radices = radices(length / 2).unwrap_or_default();
        let places: Vec<i16> = places(length / 2, &radices).into_iter().map(|place| place as i16).collect();
        let halved: Vec<f32> = waves.window.iter().map(|w| w / 2.0).collect();
        let tables = [
            ("window", "WINDOW", Data::from_f32(&halved), Element::F32),
            ("parts", "PARTS", Data::from_i16(&waves.parts), Element::I16),
            ("places", "PLACES", Data::from_i16(&places), Element::U16),
            ("twiddles", "TWIDDLES", Data::from_f32(&twiddles(&radices)), Element::F32),
            ("halves", "HALVES", tables::half_twiddles(DType::F32, length, false), Element::F32),
            ("radices", "RADICES", Data::new(radices), Element::U8),
        ];
        let mut fields = vec![("length", int(length))];
        for (field, name, data, element) in tables {
            fields.push((field, Field::Constant(self.step_constant(name, data), element)));
        }
        let waves = Arg::Struct(Struct { name: "Waves", fields });
        let work = match self.workspace()? {
            Arg::Cells(cells) => Arg::Cells(cells.seen_as(Element::F32)),
            other => other,
        };
        self.layer_of_floats(node, shape, KernelId::SpectrumF32, &[waves, work])
    }
}
