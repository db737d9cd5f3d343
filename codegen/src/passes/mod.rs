//! Passes: rewrites of the graph that do not change what it computes.
//!
//! [`run`] is the pass manager. The order, and why:
//!
//! 1. `fold` first, so that everything after it sees constants.
//! 2. `simplify` removes what does nothing, and `narrow_operands` what is there twice; `constant_gathers` has slices; `reciprocals` has products in place of quotients; `subtract_means` has one form of
//!    normalisation in place of several, and `hard_swish` one op. That brings the partners of fusions together.
//! 3. `cse` and `dce` leave one copy of what is used, so that the fusions see true use counts.
//! 4. `fuse_pad` and `fuse_activation` make fewer, larger ops, and `merge_depthwise` and `spectra` one of several.
//! 5. `constant_channels` finds channels that never change, now that activations are fused, and `dead_channels` removes them.
//! 6. `sink_transposes`, `sink_reshapes`, `permute_dense`, `mean_of_transposed`, `sink_quantize`, `integer_states` and `turn_states` move ops to where there is less to do, or nothing: they count uses too.
//! 7. `fold_scale` makes batch normalisations part of the layers before them.
//!
//! These repeat until nothing changes. Then `recurrent` ([`RECURRENT`]) has one op for recurrent layers that are written out, and if there were any, the others repeat again. Quantising
//! does without it: it makes integers of the layers of steps. Then, once:
//!
//! 8. `plain_spectra` takes biases and activations off spectra, which become transforms. Last, because a pass above has them in the layer.
//! 9. `odd_weights` keeps infinite weights and NaNs away from padding.
//! 10. `lower_tables` turns 8-bit unary ops into tables. Last, because a table can no longer be fused into a convolution.
//! 11. `cse` and `dce` again, for tables that are alike.
//!
//! Every pass goes towards fewer or cheaper ops, so that the repetition ends; [`MOST_ROUNDS`] bounds it all the same. A pass says
//! whether it changed the graph; after each change the graph is [verified](crate::verify). Everything is deterministic.
//!
//! [`qdq`] and [`quantized_io`] are not among them: the one may change an output by a rounding, the other changes the model's interface, so that they belong to what
//! [`import`](crate::import) reads, before the others. What options
//! ask for comes behind the others ([`run_for`]): [`TURNED`] and [`FED`] for inputs that arrive row by row, [`BY_ROWS`] and [`SUMMED`] for pipelines, [`SLIDING`] for models that
//! slide. They make operations that go row by row of some that do not, at the price of a few cycles. Layouts come last of all: [`DSP`], for processors whose
//! kernels know several. [`channel_groups`] belongs to none of them: the search divides what saves memory.
//!
//! Integers are exact. On floats the passes are exact too, but for the sign of zeros and NaNs where a padding of zeros is
//! skipped instead of added, for `fold_scale`, which rounds products of constants, for `subtract_means` and `hard_swish`, whose factors have another order, and for
//! `permute_dense`, `turn_images` and `recurrent`, which add in another order.

pub mod channel_groups;
pub mod constant_channels;
pub mod constant_gathers;
pub mod cse;
pub mod dce;
pub mod dead_channels;
pub mod flatten_dense;
pub mod fold;
pub mod fold_scale;
pub mod fuse_activation;
pub mod fuse_pad;
pub mod hard_swish;
pub mod integer_states;
pub mod lower_tables;
pub mod mean_of_transposed;
pub mod merge_depthwise;
pub mod narrow_operands;
pub mod odd_weights;
pub mod permute_dense;
pub mod plain_spectra;
pub mod planar;
pub mod qdq;
pub mod quantized_io;
pub mod reciprocals;
pub mod recurrent;
pub mod reshaped_input;
mod rewrite;
pub mod rows_first;
pub mod simplify;
pub mod sink_quantize;
pub mod sink_reshapes;
pub mod sink_transposes;
pub mod spectra;
pub mod subtract_means;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod turn_images;
pub mod turn_states;
pub mod window_means;

use crate::ir::Graph;
use crate::select::packs_any;
use crate::verify;
use kiln_ir::error::Error;
use kiln_ir::options::{Float, Input, Optimize, Options};
use kiln_ir::{Isa, Op};

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name, as the observer and error messages give it.
    pub name: &'static str,
    /// Rewrites the graph; says whether anything changed.
    pub run: fn(&mut Graph) -> bool,
}

/// Passes by the names of their modules.
macro_rules! passes {
    ($($name:ident),+ $(,)?) => {
        &[$(Pass { name: stringify!($name), run: $name::run }),+]
    };
}

/// The passes that repeat.
pub const REPEATED: &[Pass] = passes![
    fold,
    simplify,
    narrow_operands,
    constant_gathers,
    reciprocals,
    subtract_means,
    hard_swish,
    cse,
    dce,
    sink_transposes,
    sink_reshapes,
    permute_dense,
    fold_scale,
    fuse_pad,
    fuse_activation,
    merge_depthwise,
    spectra,
    constant_channels,
    dead_channels,
    mean_of_transposed,
    sink_quantize,
    integer_states,
    turn_states,
];

/// The pass for recurrent layers that are written out.
pub const RECURRENT: &[Pass] = passes![recurrent];

/// The passes that run once, at the end.
pub const FINAL: &[Pass] = passes![plain_spectra, odd_weights, lower_tables, cse, dce];

/// The passes for models whose input arrives row by row, and that see an image whose rows are the columns of what arrives. They repeat, as long as something changes.
pub const TURNED: &[Pass] =
    passes![turn_images, simplify, sink_transposes, sink_reshapes, permute_dense, mean_of_transposed, dce];

/// The passes for models whose input arrives row by row.
pub const FED: &[Pass] = passes![reshaped_input, simplify];

/// The passes for graphs that shall run row by row.
pub const BY_ROWS: &[Pass] =
    passes![rows_first, simplify, cse, dce, fuse_pad, fuse_activation, plain_spectra, dce];

/// The passes for graphs that shall take little memory: matrix products that may take an image row by row. Of packed weights there are no such kernels.
pub const SUMMED: &[Pass] = passes![flatten_dense, dce];

/// The passes for models that slide along their input.
pub const SLIDING: &[Pass] = passes![flatten_dense, window_means, dce];

/// The passes for processors with DSP instructions.
pub const DSP: &[Pass] = passes![planar];

/// How often the repeated passes run at most. Real models need two or three rounds.
pub const MOST_ROUNDS: usize = 10;

/// Runs all passes on a verified graph. The observer sees the graph after each pass that changed it.
///
/// # Errors
/// [`Error::Internal`] naming the pass that broke an invariant.
pub fn run(graph: &mut Graph, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    repeat(REPEATED, MOST_ROUNDS, graph, observer)?;
    if run_each(RECURRENT, graph, observer)? {
        repeat(REPEATED, MOST_ROUNDS, graph, observer)?;
    }
    run_each(FINAL, graph, observer)?;
    Ok(())
}

/// As [`run`], for a graph that is quantised: recurrent layers stay written out.
///
/// # Errors
/// As [`run`].
pub fn run_to_quantize(graph: &mut Graph) -> Result<(), Error> {
    let observer: &mut dyn FnMut(&str, &Graph) = &mut |_, _| {};
    repeat(REPEATED, MOST_ROUNDS, graph, observer)?;
    run_each(FINAL, graph, observer)?;
    Ok(())
}

/// Runs passes as long as something changes, and so many rounds at most.
fn repeat(
    passes: &[Pass],
    most_rounds: usize,
    graph: &mut Graph,
    observer: &mut dyn FnMut(&str, &Graph),
) -> Result<(), Error> {
    for _ in 0..most_rounds {
        if !run_each(passes, graph, observer)? {
            break;
        }
    }
    Ok(())
}

/// Runs all passes, and those that the options ask for.
///
/// # Errors
/// As [`run`].
pub fn run_for(graph: &mut Graph, options: &Options) -> Result<(), Error> {
    run_observed(graph, options, &mut |_, _| {})
}

/// As [`run_for`], with an observer as [`run`] has one.
///
/// # Errors
/// As [`run`].
pub fn run_observed(
    graph: &mut Graph,
    options: &Options,
    observer: &mut dyn FnMut(&str, &Graph),
) -> Result<(), Error> {
    run(graph, observer)?;
    if options.input != Input::Whole {
        turn(graph, options, observer)?;
    }
    if options.input != Input::Whole || options.optimize == Optimize::Memory {
        run_each(BY_ROWS, graph, observer)?;
    }
    if options.input != Input::Whole {
        run_each(FED, graph, observer)?;
    }
    if options.input == Input::Sliding {
        run_each(SLIDING, graph, observer)?;
    } else if options.optimize == Optimize::Memory && !packs_any(graph, options) {
        run_each(SUMMED, graph, observer)?;
    }
    // Processors with better kernels have none for planar images.
    let dsp = options.target().isas().first() == Some(&Isa::Dsp) && options.optimize != Optimize::Size;
    // Kernels that unpack weights know channel-last images only.
    if dsp && !packs_any(graph, options) {
        run_each(DSP, graph, observer)?;
    }
    Ok(())
}

/// Turns images of which height and width were exchanged, with all that reads them, if fewer transposes are left by it.
fn turn(graph: &mut Graph, options: &Options, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    let transposes =
        |graph: &Graph| graph.nodes().filter(|(_, node)| matches!(node.op, Op::Transpose { .. })).count();
    let before = transposes(graph);
    if before == 0 {
        return Ok(());
    }
    let mut passes = TURNED.to_vec();
    if options.float == Float::Reproducible {
        passes[0].run = turn_images::run_exact;
    }
    let mut trial = graph.clone();
    repeat(&passes, graph.order.len() + 1, &mut trial, &mut |_, _| {})?;
    if transposes(&trial) < before {
        *graph = trial;
        observer(TURNED[0].name, graph);
    }
    Ok(())
}

fn run_each(
    passes: &[Pass],
    graph: &mut Graph,
    observer: &mut dyn FnMut(&str, &Graph),
) -> Result<bool, Error> {
    let mut changed = false;
    for pass in passes {
        if (pass.run)(graph) {
            changed = true;
            verify::after_stage(&format!("pass {}", pass.name), graph)?;
            observer(pass.name, graph);
        }
    }
    Ok(changed)
}
