//! Which convolutions get code of their own: shapes as constants, loops unrolled. All others share one function, which takes one cycle in sixteen more.

use super::Kernel;
use crate::ir::Graph;
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
const SPEEDY_CODE: usize = 9 * 1024;

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

    /// Bytes of its code: 56 for each pair of taps that stands in it, and what is around them.
    fn code_bytes(&self) -> usize {
        let others = self.pairs.saturating_sub(1);
        let unrolled = if others <= MOST { others } else { PER_TURN + others % PER_TURN };
        56 * (1 + unrolled) + 500
    }
}

/// The instances that a model has: those with most multiplications first, as long as the code fits what `optimize` and `flash` leave.
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
    let mut depthwise: Vec<(usize, usize)> = Vec::new();
    let mut found: Vec<(Instance, usize)> = Vec::new();
    for (index, step) in schedule.steps.iter().enumerate() {
        let StepKind::Compute(id) = step.kind else { continue };
        let whole = schedule.pipeline_of(index).is_none();
        let choice = kernels.of(graph, id, options, whole);
        let Some(kernel) = choice.kernel.as_any().downcast_ref::<Kernel>() else { continue };
        let shape = match kernel {
            Kernel::Tiled(shape, ..) => *shape,
            Kernel::DepthwisePlanar(shape, _) => {
                depthwise.push((PLANAR_CODE, shape.out_c));
                continue;
            }
            Kernel::Depthwise(shape, _) => {
                depthwise.push((CHANNEL_LAST_CODE, shape.out_c));
                continue;
            }
            Kernel::Temporal(shape, ..) => {
                depthwise.push((TEMPORAL_CODE + 32 * shape.taps(), shape.out_c));
                continue;
            }
            _ => continue,
        };
        let instance = Instance::of(&shape);
        match found.iter_mut().find(|(other, _)| *other == instance) {
            Some((_, macs)) => *macs += shape.macs(),
            None => found.push((instance, shape.macs())),
        }
    }
    depthwise.sort_unstable();
    depthwise.dedup();
    let depthwise: usize = depthwise.iter().map(|(bytes, _)| bytes).sum();
    let speedy = SPEEDY_CODE.saturating_sub(depthwise).max(constants / CONSTANTS_PER_CODE);
    let mut left = options.flash.map_or(speedy, |flash| speedy.min(flash.saturating_sub(constants)));
    found.sort_by_key(|&(_, macs)| std::cmp::Reverse(macs));
    found.retain(|(instance, _)| {
        let fits = instance.code_bytes() <= left;
        left -= if fits { instance.code_bytes() } else { 0 };
        fits
    });
    found.into_iter().map(|(instance, _)| instance).collect()
}
