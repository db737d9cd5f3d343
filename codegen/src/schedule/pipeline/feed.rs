//! Pipelines whose input arrives row by row.

use super::admit::pads_rows;
use super::{Draft, Obstacle, Ring};
use crate::ir::{Graph, NodeId, Op};
use crate::schedule::{rows, views, Feed, Flow};
use std::ops::Range;

/// Why a model cannot take its input row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is not one input, or nothing reads it.
    Inputs(usize),
    /// It has state, which a window would share with the one before.
    State,
    /// So many rows of the input have to come before all is as it was: too many to be tried.
    Period(usize),
    /// Windows are so many rows apart, and only so many high.
    Gap(usize, usize),
    /// A node stands in the way.
    At(Obstacle),
}

impl Refused {
    /// The reason, as a sentence.
    pub fn describe(&self, graph: &Graph) -> String {
        match self {
            Refused::Inputs(1) => "nothing reads its input".into(),
            Refused::Inputs(count) => format!("it has {count} inputs, not one"),
            Refused::State => {
                "it has state: it keeps what it needs of earlier inputs, and streams already".into()
            }
            Refused::Period(rows) => {
                format!("what it holds is tried for {rows} rows, and no more than {MOST_TICKS} can be")
            }
            Refused::Gap(apart, high) => {
                format!("its windows are {apart} rows apart and {high} high: no window reads the rows between them")
            }
            Refused::At(Obstacle { node, why }) => {
                let node = graph.node(*node);
                format!("{} {:?} {why}", node.op.name(), graph.value(node.result).label())
            }
        }
    }

    /// What lets the model slide, or what to do instead.
    pub fn way_out(&self, graph: &Graph) -> &'static str {
        let obstacle = match self {
            Refused::State => return "leave out the option, and give `invoke` each new input",
            Refused::Inputs(_) | Refused::Period(_) | Refused::Gap(..) => {
                return "use input = \"rows\" or input = \"whole\"";
            }
            Refused::At(obstacle) => graph.node(obstacle.node),
        };
        match obstacle.op {
            _ if pads_rows(obstacle) => {
                "train the model without padding along the rows, or use input = \"rows\" or input = \"whole\""
            }
            Op::Reshape {} | Op::Transpose { .. } => {
                "export the model with time as the second axis, as in [1, time, features, channels], and let no layer move it; or use input = \"rows\" or input = \"whole\""
            }
            _ => {
                "let convolutions, poolings and elementwise operators alone read rows, and a mean, a pooling or a dense layer make one row of all of them; or use input = \"rows\" or input = \"whole\""
            }
        }
    }

    /// The node that stands in the way.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Refused::Inputs(_) | Refused::State | Refused::Period(_) | Refused::Gap(..) => None,
            Refused::At(obstacle) => Some(obstacle.node),
        }
    }
}

/// The shortest run of nodes from the first on that reads all of the model's only input.
fn readers(graph: &Graph, flow: &Flow) -> Result<Range<usize>, Refused> {
    let &[input] = &graph.inputs[..] else { return Err(Refused::Inputs(graph.inputs.len())) };
    // What reads it under another shape reads it, too.
    let (mut same, mut last, mut next) = (vec![input], None, 0);
    while let Some(&id) = same.get(next) {
        for &(at, _) in flow.readers(id) {
            let node = graph.node(graph.order[at]);
            same.extend(views::keeps_rows(graph, node).then_some(node.result));
            last = last.max(Some(at));
        }
        next += 1;
    }
    match last.filter(|_| !flow.is_kept(input)) {
        Some(last) => Ok(0..last + 1),
        None => Err(Refused::Inputs(1)),
    }
}

/// The shortest pipeline that takes the model's only input row by row. Longer ones start with its nodes.
///
/// # Errors
/// Why there is none.
pub fn fed(graph: &Graph, flow: &Flow) -> Result<Draft, Refused> {
    Draft::new(graph, flow, readers(graph, flow)?, Feed::Rows).map_err(Refused::At)
}

/// The longest pipeline that slides along the model's only input: of each window it leaves one row of each value to the nodes behind it.
///
/// # Errors
/// Why there is none: the node that depends on where in the window a row is, or that needs many rows at once.
pub fn sliding(graph: &Graph, flow: &Flow) -> Result<Draft, Refused> {
    let least = readers(graph, flow)?.end;
    if !graph.states.is_empty() {
        return Err(Refused::State);
    }
    let mut refusal = None;
    for end in (least..=graph.order.len()).rev() {
        match Draft::new(graph, flow, 0..end, Feed::Sliding) {
            Ok(draft) => {
                let ticks = ticks_to_check(graph, &draft);
                if ticks > MOST_TICKS {
                    return Err(Refused::Period(ticks));
                }
                let apart = hop(&draft);
                let high = graph.inputs.first().map_or(0, |&id| rows(&graph.ty(id).shape));
                return if apart > high { Err(Refused::Gap(apart, high)) } else { Ok(draft) };
            }
            Err(obstacle) => refusal = Some(farther(graph, refusal, obstacle)),
        }
    }
    Err(refusal.map_or(Refused::Inputs(1), Refused::At))
}

/// Rows of the input from one window to the next.
fn hop(draft: &Draft) -> usize {
    draft.lanes.iter().map(|lane| lane.beat.every).max().unwrap_or(1)
}

/// Most ticks of a sliding pipeline that are executed to check it.
const MOST_TICKS: usize = 1 << 18;

/// How many ticks are executed to check a sliding pipeline, at most: until all rings have gone round twice, and 16 windows.
fn ticks_to_check(graph: &Graph, draft: &Draft) -> usize {
    let hop = hop(draft);
    // Ticks from one row of a ring to the next; those of the input come with each tick.
    let every = |ring: &Ring| {
        let lane = draft.lanes.iter().find(|lane| ring.values.contains(&graph.node(lane.node).result));
        lane.map_or(1, |lane| lane.beat.every)
    };
    let rounds = draft.rings.iter().map(|ring| ring.rows.saturating_mul(every(ring)));
    let round = rounds.max().unwrap_or(1).saturating_mul(2);
    draft.ticks.saturating_add(round).saturating_add(hop.saturating_mul(16))
}

/// Of two reasons, the one that lets more of the model slide. What is said of a node first is about the node itself, not about what would be
/// left to it.
fn farther(graph: &Graph, before: Option<Obstacle>, obstacle: Obstacle) -> Obstacle {
    let at = |o: &Obstacle| graph.order.iter().position(|&id| id == o.node);
    match before {
        Some(before) if at(&before) >= at(&obstacle) => before,
        _ => obstacle,
    }
}
