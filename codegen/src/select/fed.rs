//! How a model whose first loop is fed takes its rows: when its outputs are complete and, where the rows never end, when its rings are
//! where they were before.

use super::{Arg, Cells, Loop, Program, Strip};
use crate::schedule::{rows, Feed};
use kiln_ir::error::{Error, Problem};

/// The longest period of a sliding model: its rows are counted in 32 bits, with room for all that is added to an index.
const LONGEST_PERIOD: usize = 1 << 28;

/// A model that takes its only input row by row, into a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fed {
    /// Rows of an input or, sliding, of a window.
    pub rows: usize,
    /// Elements of a row.
    pub row: usize,
    /// Ticks of its loop: one for each row, then those in which nothing more comes.
    pub ticks: usize,
    /// Whether and how it slides.
    pub slide: Option<Slide>,
}

/// The two periods of a sliding model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slide {
    /// Ticks from one complete window to the next.
    pub hop: usize,
    /// Ticks after which each step is as far on its way, and each row of a ring in the same place, as before: a multiple of `hop`.
    pub period: usize,
}

/// The model's feed, if its first loop has one.
///
/// # Errors
/// [`Error::Unsupported`] where the period of a sliding model is too long to be counted.
pub(super) fn fed(program: &Program) -> Result<Option<Fed>, Error> {
    let Some(body) = program.loops.first().filter(|body| body.feed != Feed::Whole) else { return Ok(None) };
    let broken = |what: &str| Err(Error::internal("select", what));
    let [input] = &program.inputs[..] else { return broken("a model with several inputs is fed") };
    let first = program.calls.first().map(|call| call.step);
    if body.steps.first().map(|turn| turn.step) != first {
        return broken("a fed pipeline does not come first");
    }
    let rows = rows(&input.ty.shape);
    if input.ty.shape.numel() == 0 || body.ticks < rows {
        return broken("a fed pipeline ends before its input");
    }
    let row = input.ty.shape.numel() / rows;
    let slide = match body.feed {
        Feed::Sliding if body.ticks != rows => return broken("a window is complete after its last row"),
        Feed::Sliding => Some(slide(program, body, input.ring)?),
        Feed::Whole | Feed::Rows => None,
    };
    Ok(Some(Fed { rows, row, ticks: body.ticks, slide }))
}

/// The periods of an endless loop. A ring of `n` rows, one every `every` ticks, is as it was after `n · every` ticks.
fn slide(program: &Program, body: &Loop, input: Option<usize>) -> Result<Slide, Error> {
    let (mut hop, mut period) = (Some(1), Some(input.unwrap_or(1)));
    for turn in &body.steps {
        let every = turn.beat.every;
        hop = hop.and_then(|hop| common_multiple(hop, every));
        let calls = program.calls.iter().filter(|call| call.step == turn.step);
        for ring in calls.flat_map(|call| &call.args).filter_map(strip).map(|strip| strip.ring.unwrap_or(1)) {
            period = period.zip(ring.checked_mul(every)).and_then(|(p, ring)| common_multiple(p, ring));
        }
    }
    let period = hop.zip(period).and_then(|(hop, period)| common_multiple(hop, period));
    match (hop, period) {
        (Some(hop), Some(period)) if period <= LONGEST_PERIOD => Ok(Slide { hop, period }),
        _ => Err(Error::Unsupported(vec![Problem {
            place: "option `input`".into(),
            what: format!("the rows that this model holds repeat their places only after more than {LONGEST_PERIOD} rows"),
            help: "use input = \"rows\", or kernel sizes with common factors along the rows".into(),
        }])),
    }
}

fn strip(arg: &Arg) -> Option<Strip> {
    match arg {
        Arg::Rows(strip) | Arg::Cells(Cells::Row(strip)) => Some(*strip),
        _ => None,
    }
}

/// The least common multiple, if it is a number of 32 bits.
fn common_multiple(a: usize, b: usize) -> Option<usize> {
    let (mut divisor, mut rest) = (a, b);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (a / divisor.max(1)).checked_mul(b).filter(|&multiple| u32::try_from(multiple).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_multiples_are_bounded() {
        assert_eq!(common_multiple(6, 10), Some(30));
        assert_eq!(common_multiple(1, 7), Some(7));
        assert_eq!(common_multiple(0, 7), Some(0));
        assert_eq!(common_multiple(usize::MAX, usize::MAX - 1), None);
        assert_eq!(common_multiple(1 << 20, (1 << 20) + 1), None);
    }
}
