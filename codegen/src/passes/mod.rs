//! Passes: rewrites of the graph that do not change what it computes.
//!
//! [`run`] is the pass manager. The order, and why:
//!
//! 1. `fold` first, so that everything after it sees constants.
//! 2. `simplify` removes what does nothing, which brings the partners of fusions together.
//! 3. `cse` and `dce` leave one copy of what is used, so that the fusions see true use counts.
//! 4. `fuse_pad` and `fuse_activation` make fewer, larger ops, and `merge_depthwise` one of several.
//!
//! These repeat until nothing changes. Then, once:
//!
//! 5. `lower_tables` turns 8-bit unary ops into tables. Last, because a table can no longer be fused into a convolution.
//! 6. `cse` and `dce` again, for tables that are alike.
//!
//! Every pass goes towards fewer or cheaper ops, so that the repetition ends; [`MOST_ROUNDS`] bounds it all the same. A pass says
//! whether it changed the graph; after each change the graph is [verified](crate::verify). Everything is deterministic.
//!
//! [`quantized_io`] is not among them: it changes the model's interface, so that callers ask for it, before the others. Those that
//! want rows ask for more, behind the others: [`run_by_rows`] for pipelines, and [`run_sliding`] for models that slide. Both make
//! operations that go row by row of some that do not, at the price of a few cycles.
//!
//! Integers are exact. On floats the passes are exact too, but for the sign of zeros and NaNs where a padding of zeros is
//! skipped instead of added.

pub mod cse;
pub mod dce;
pub mod flatten_dense;
pub mod fold;
pub mod fuse_activation;
pub mod fuse_pad;
pub mod lower_tables;
pub mod merge_depthwise;
pub mod quantized_io;
mod rewrite;
pub mod rows_first;
pub mod simplify;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod zero_point;

use crate::error::Error;
use crate::ir::Graph;
use crate::verify;

/// A pass.
#[derive(Clone, Copy, Debug)]
pub struct Pass {
    /// Its name, as the observer and error messages give it.
    pub name: &'static str,
    /// Rewrites the graph; says whether anything changed.
    pub run: fn(&mut Graph) -> bool,
}

const FOLD: Pass = Pass { name: "fold", run: fold::run };
const SIMPLIFY: Pass = Pass { name: "simplify", run: simplify::run };
const CSE: Pass = Pass { name: "cse", run: cse::run };
const DCE: Pass = Pass { name: "dce", run: dce::run };
const FUSE_PAD: Pass = Pass { name: "fuse_pad", run: fuse_pad::run };
const FUSE_ACTIVATION: Pass = Pass { name: "fuse_activation", run: fuse_activation::run };
const MERGE_DEPTHWISE: Pass = Pass { name: "merge_depthwise", run: merge_depthwise::run };
const ROWS_FIRST: Pass = Pass { name: "rows_first", run: rows_first::run };
const FLATTEN_DENSE: Pass = Pass { name: "flatten_dense", run: flatten_dense::run };
const LOWER_TABLES: Pass = Pass { name: "lower_tables", run: lower_tables::run };

/// The passes that repeat.
pub const REPEATED: &[Pass] = &[FOLD, SIMPLIFY, CSE, DCE, FUSE_PAD, FUSE_ACTIVATION, MERGE_DEPTHWISE];

/// The passes that run once, at the end.
pub const FINAL: &[Pass] = &[LOWER_TABLES, CSE, DCE];

/// The passes for graphs that shall run row by row.
pub const BY_ROWS: &[Pass] = &[ROWS_FIRST, SIMPLIFY, CSE, DCE, FUSE_PAD, FUSE_ACTIVATION, DCE];

/// The passes for models that slide along their input.
pub const SLIDING: &[Pass] = &[FLATTEN_DENSE, DCE];

/// How often the repeated passes run at most. Real models need two or three rounds.
pub const MOST_ROUNDS: usize = 10;

/// Runs all passes on a verified graph. The observer sees the graph after each pass that changed it.
///
/// # Errors
/// [`Error::Internal`] naming the pass that broke an invariant.
pub fn run(graph: &mut Graph, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    for _ in 0..MOST_ROUNDS {
        if !run_each(REPEATED, graph, observer)? {
            break;
        }
    }
    run_each(FINAL, graph, observer)?;
    Ok(())
}

/// Runs [`BY_ROWS`] on a graph behind [`run`].
///
/// # Errors
/// As [`run`].
pub fn run_by_rows(graph: &mut Graph, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    run_each(BY_ROWS, graph, observer).map(drop)
}

/// Runs [`SLIDING`] on a graph behind [`run_by_rows`].
///
/// # Errors
/// As [`run`].
pub fn run_sliding(graph: &mut Graph, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    run_each(SLIDING, graph, observer).map(drop)
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
