//! Passes: graph to better graph.

pub mod quantized_io;
pub mod zero_point;

use crate::error::Error;
use crate::ir::Graph;

/// Runs every pass. `observer` sees the graph after each, with the pass's name.
///
/// # Errors
/// [`Error::Internal`] naming the pass that broke an invariant.
pub fn run(graph: &mut Graph, observer: &mut dyn FnMut(&str, &Graph)) -> Result<(), Error> {
    observer("import", graph);
    Ok(())
}
