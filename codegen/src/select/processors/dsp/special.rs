//! Which convolutions get code of their own: shapes as constants, loops unrolled. All others share one function, which takes one cycle in sixteen more.

use super::Kernel;
use crate::ir::{Graph, Order};
use crate::schedule::{Schedule, StepKind};
use crate::select::kernel::Kernels;
use crate::select::Shape;
use crate::{Optimize, Options};

/// Pairs of taps in a turn of the loop for so many of them: what is around the loop has the first one, and those that make no full turn.
pub(in crate::select) fn unroll(pairs: usize) -> usize {
    match pairs.saturating_sub(1) {
        others @ 1..=MOST => others,
        0 => 1,
        _ => PER_TURN,
    }
}

/// Turns of that loop. Where there is one, it is none.
pub(in crate::select) fn turns(pairs: usize) -> usize {
    let others = pairs.saturating_sub(1);
    if others <= MOST {
        0
    } else {
        others / PER_TURN
    }
}

/// Pairs of taps behind the first one that stand in the code without a loop, at most.
const MOST: usize = 31;
/// Pairs in a turn of a loop.
const PER_TURN: usize = 16;

/// Bytes of code that layers may have of their own, without a budget of flash.
const SPEEDY_CODE: usize = 10 * 1024;

/// Where there are many constants, code may be one byte for so many of theirs.
const CONSTANTS_PER_CODE: usize = 32;

/// Bytes of code that a depthwise kernel takes for each shape it is made for.
const PLANAR_CODE: usize = 1300;
const CHANNEL_LAST_CODE: usize = 450;
/// Besides 32 for each tap.
const TEMPORAL_CODE: usize = 250;

/// What a function of its own is made for; layers that agree in it share one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::select) struct Instance {
    second_pixel: usize,
    pairs: usize,
    out: (usize, usize),
}

impl Instance {
    pub(in crate::select) fn of(shape: &Shape) -> Instance {
        Instance {
            // The taps of single pixels are neighbours.
            second_pixel: if super::points(shape) { 0 } else { shape.second_pixel() },
            pairs: shape.taps().div_ceil(2),
            out: shape.out_strides(),
        }
    }

    /// Of a layer whose taps are copied, which are neighbours, too.
    pub(in crate::select) fn of_patches(shape: &Shape) -> Instance {
        Instance { second_pixel: 0, ..Instance::of(shape) }
    }

    /// Bytes of its code: 56 for each pair of taps that stands in it, and what is around them.
    fn code_bytes(&self) -> usize {
        let others = self.pairs.saturating_sub(1);
        let unrolled = if others <= MOST { others } else { PER_TURN + others % PER_TURN };
        56 * (1 + unrolled) + 500
    }
}

/// The part of all multiplications that a planar depthwise convolution is worth code for its number of channels: one in so many. Less where a model has several times so many
/// bytes of constants, beside which a little code does not count.
const WORTH: usize = 100;
const LARGE_MODEL: usize = 64 * 1024;

/// Whether a planar depthwise convolution gets code for its number of channels. Others share code, which takes a cycle more for each pixel of the result.
pub(in crate::select) fn has_own_planar(graph: &Graph, shape: &Shape) -> bool {
    let worth = WORTH * (graph.live_constant_bytes() / LARGE_MODEL).max(1);
    let all: usize =
        graph.nodes().filter_map(|(_, node)| Shape::of(graph, node)).map(|shape| shape.macs()).sum();
    shape.layout.y == Order::Planar || shape.macs() * worth >= all
}

/// Cycles that a layer takes less with code of its own: in each tile of two pixels and four filters some, and two and a half more for each pair of taps where the shared code has to look up
/// how far the pixels are from each other.
fn gain(shape: &Shape) -> usize {
    let tiles = shape.out_h * shape.out_w.div_ceil(2) * (shape.out_c / 4);
    let pairs = shape.taps().div_ceil(2);
    tiles * if super::points(shape) { 11 + pairs / 32 * 6 } else { 16 + pairs * 5 / 2 }
}

/// The instances that a model has: those that save the most for their code first, as long as the code fits what `optimize` and `flash` leave.
pub(in crate::select) fn instances(
    graph: &Graph,
    schedule: &Schedule,
    options: &Options,
    kernels: &mut Kernels,
) -> Vec<Instance> {
    if options.optimize == Optimize::Size {
        // All layers share one.
        return Vec::new();
    }
    let constants = graph.live_constant_bytes();
    let mut depthwise: Vec<(usize, usize, [usize; 2])> = Vec::new();
    let mut found: Vec<(Instance, usize)> = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        let StepKind::Compute(id) = step.kind else { continue };
        let whole = schedule.pipeline_of(index).is_none();
        let choice = kernels.of(graph, id, options, whole);
        let Some(kernel) = choice.kernel.as_any().downcast_ref::<Kernel>() else { continue };
        let (shape, instance) = match kernel {
            Kernel::Tiled(shape, ..) => (*shape, Instance::of(shape)),
            Kernel::Patches(shape, ..) => (*shape, Instance::of_patches(shape)),
            Kernel::DepthwisePlanar(shape, _) => {
                let own = has_own_planar(graph, shape);
                let width = super::depthwise::width_in_registers(shape);
                depthwise.push((PLANAR_CODE, if own { shape.out_c } else { 0 }, [width, shape.stride_w]));
                continue;
            }
            Kernel::Depthwise(shape, _) => {
                depthwise.push((CHANNEL_LAST_CODE, shape.out_c, [0; 2]));
                continue;
            }
            Kernel::Temporal(shape, ..) => {
                depthwise.push((TEMPORAL_CODE + 32 * shape.taps(), shape.out_c, [0; 2]));
                continue;
            }
            _ => continue,
        };
        match found.iter_mut().find(|(other, _)| *other == instance) {
            Some((_, saved)) => *saved += gain(&shape),
            None => found.push((instance, gain(&shape))),
        }
    }
    depthwise.sort_unstable();
    depthwise.dedup();
    let depthwise: usize = depthwise.iter().map(|(bytes, ..)| bytes).sum();
    let speedy = SPEEDY_CODE.saturating_sub(depthwise).max(constants / CONSTANTS_PER_CODE);
    let mut left = options.flash.map_or(speedy, |flash| speedy.min(flash.saturating_sub(constants)));
    found.sort_by_key(|(instance, saved)| std::cmp::Reverse(1000 * saved / instance.code_bytes()));
    found.retain(|(instance, _)| {
        let fits = instance.code_bytes() <= left;
        left -= if fits { instance.code_bytes() } else { 0 };
        fits
    });
    found.into_iter().map(|(instance, _)| instance).collect()
}
