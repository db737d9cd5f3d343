//! Multiplications by padding.

use super::{cost, place, Advice, Topic};
use crate::report::macs;
use kiln_codegen::select::Shape;
use kiln_codegen::Compiled;
use kiln_ir::{Graph, Node};
use std::collections::BTreeMap;

/// Shares below this many hundredths are not worth a word.
const WORTH: u64 = 10;

/// Layers whose windows and images are of one size.
#[derive(Default)]
struct Group<'g> {
    layers: Vec<&'g Node>,
    macs: u64,
    cycles: u64,
    share: u64,
}

pub(super) fn advise(compiled: &Compiled) -> Vec<Advice> {
    let (graph, target) = (&compiled.graph, compiled.options.target());
    let mut groups: BTreeMap<[usize; 4], Group<'_>> = BTreeMap::new();
    for (_, node) in graph.nodes() {
        let Some(shape) = Shape::of(graph, node) else { continue };
        let share = padded(&shape);
        if share >= WORTH {
            let group = groups.entry([shape.k_h, shape.k_w, shape.in_h, shape.in_w]).or_default();
            group.layers.push(node);
            group.macs += macs(graph, node);
            group.cycles += cost::fast_layer(graph, node, target) * share / 100;
            group.share = group.share.max(share);
        }
    }
    groups.iter().filter_map(|(sizes, group)| advice(graph, *sizes, group)).collect()
}

fn advice(graph: &Graph, [k_h, k_w, in_h, in_w]: [usize; 4], group: &Group<'_>) -> Option<Advice> {
    let first = place(graph, group.layers.first()?);
    Some(Advice {
        topic: Topic::Padding,
        place: match group.layers.len() {
            1 => first,
            layers => format!("{first} and {} more", layers - 1),
        },
        what: format!(
            "{} % of {} multiplications are with padding: a window of {k_h} × {k_w} on an image of {in_h} × {in_w}",
            group.share, group.macs
        ),
        help: "use padding = \"valid\", or a smaller window where the image is small".into(),
        cycles: group.cycles,
        bytes: 0,
    })
}

/// Of all multiplications of a convolution, the hundredths that are by padding.
fn padded(shape: &Shape) -> u64 {
    let all = (shape.out_h * shape.out_w * shape.k_h * shape.k_w) as u64;
    let real = inside(shape.out_h, shape.k_h, shape.stride_h, shape.dilation_h, shape.pad_top, shape.in_h)
        * inside(shape.out_w, shape.k_w, shape.stride_w, shape.dilation_w, shape.pad_left, shape.in_w);
    (100 * all.saturating_sub(real) + all / 2) / all.max(1)
}

/// Of all taps along an axis, those that lie in the image.
fn inside(outputs: usize, taps: usize, stride: usize, dilation: usize, pad: usize, size: usize) -> u64 {
    let within = |&(y, k): &(usize, usize)| (pad..pad + size).contains(&(y * stride + k * dilation));
    (0..outputs).flat_map(|y| (0..taps).map(move |k| (y, k))).filter(within).count() as u64
}

#[cfg(test)]
mod tests {
    use super::inside;

    #[test]
    fn taps_in_the_image() {
        // Three taps around each of four elements: the outer two each lose one.
        assert_eq!(inside(4, 3, 1, 1, 1, 4), 10);
        assert_eq!(inside(2, 3, 1, 1, 0, 4), 6);
        assert_eq!(inside(1, 3, 1, 2, 2, 1), 1);
    }
}
