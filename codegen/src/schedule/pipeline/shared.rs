//! Rings that share a ring.
//!
//! The oldest row of a ring is dead as soon as its reader has read it, and its place is free until the next row comes. In between another ring, whose rows are
//! as long, can put a row there. Three rings of three rows, each of whose rows is made of three rows of the one before, need eight slots:
//!
//! ```text
//! | a4 a5 a6 | b3 b4 -- | c2 c3 |   row 5 of b is made of rows 4 to 6 of a; row 4 of a is dead then
//! | c4 a5 a6 | b3 b4 b5 | c2 c3 |   row 4 of c is made of rows 3 to 5 of b, and goes where row 4 of a was; row 3 of b is dead then
//! | c4 a5 a6 | a7 b4 b5 | c2 c3 |   row 7 of a goes where row 3 of b was
//! ```
//!
//! Where another layer computes in between, as depthwise and pointwise ones in turn, rows are dead before the next ring's row comes, and all but one ring hold a row less.
//!
//! In a shared ring every value goes round at the same pace, each with its row 0 in a slot of its own. Row `r` of a value lies where row `r - gap` of the value
//! ahead lay before. The least `gap` of any two follows from when rows are written and last read. A shared ring is a cycle of values, and has as many slots as
//! the gaps along it add up to; a ring of its own is the cycle of one. The cycles that need fewest slots in all are an assignment of least cost: of each value to the one
//! behind it.

use super::{Draft, Ring};
use crate::ir::Graph;
use crate::schedule::flow::Flow;
use crate::schedule::Feed;
use std::collections::BTreeMap;

/// The slots of a shared ring, and which is that of row 0 of one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Index of the ring whose memory it is, in [`Draft::rings`]: the first one that shares it.
    pub with: usize,
    /// How many rows it holds.
    pub slots: usize,
    /// Where row 0 is.
    pub slot: usize,
}

/// The runtime takes fewer slots.
const MOST_SLOTS: usize = 1 << 15;

/// A point in time: a tick, and the lane that runs, from 1 on. Rows of the input come before the first one.
type Time = (usize, usize);

/// When rows are written and last read.
struct Rows {
    /// Index of the ring.
    ring: usize,
    written: Vec<Time>,
    dead: Vec<Time>,
}

impl Rows {
    fn of(graph: &Graph, flow: &Flow, draft: &Draft, index: usize) -> Option<Rows> {
        let ring = &draft.rings[index];
        let root = *ring.values.first()?;
        let from = flow.producer(root)? - draft.nodes.start;
        let lane = draft.lanes.get(from)?;
        let written: Vec<Time> = (0..draft.horizon(lane)).map(|row| (lane.tick(row), from + 1)).collect();
        let mut dead = written.clone();
        for &(reader, k) in ring.values.iter().flat_map(|&id| flow.readers(id)) {
            let there = reader - draft.nodes.start;
            let lane = draft.lanes.get(there)?;
            for turn in 0..draft.horizon(lane) {
                for row in draft.reads(graph, lane, k, turn)? {
                    let dead = dead.get_mut(row)?;
                    *dead = (*dead).max((lane.tick(turn), there + 1));
                }
            }
        }
        Some(Rows { ring: index, written, dead })
    }

    /// How many rows of `next` lie behind those of these rows, at least: its row `r + gap` is written when row `r` is dead.
    fn gap(&self, next: &Rows) -> i64 {
        let mut gap = i64::MIN;
        let mut at = 0;
        let mut last = self.dead.clone();
        // Where rows die out of order, a later one is as good as the last.
        (1..last.len()).for_each(|row| last[row] = last[row].max(last[row - 1]));
        for (row, &dead) in last.iter().enumerate() {
            while next.written.get(at).is_some_and(|&written| written <= dead) {
                at += 1;
            }
            gap = gap.max(at as i64 - row as i64);
        }
        gap
    }
}

/// Lets rings share a ring where that takes fewer rows.
pub(super) fn share(graph: &Graph, flow: &Flow, draft: &mut Draft) {
    // Rows that never end are counted until all rings are as they were: shared ones would make that too long.
    if draft.feed == Feed::Sliding || !flow.shares() {
        return;
    }
    // Of rows that are as long and as frequent.
    let mut classes: BTreeMap<(usize, usize), Vec<Rows>> = BTreeMap::new();
    for (index, ring) in draft.rings.iter().enumerate() {
        let lane = ring.values.first().and_then(|&id| draft.lane_of(flow, id));
        let Some(lane) = lane.filter(|lane| lane.beat.again.is_none()) else { continue };
        if ring.transient || ring.within.is_some() || ring.row_bytes == 0 {
            continue;
        }
        let class = (ring.row_bytes, lane.beat.every);
        if let Some(rows) = Rows::of(graph, flow, draft, index) {
            classes.entry(class).or_default().push(rows);
        }
    }
    for rows in classes.into_values() {
        cycles(&mut draft.rings, &rows);
    }
}

/// Shares rings along the cycles of least slots.
fn cycles(rings: &mut [Ring], rows: &[Rows]) {
    let gap =
        |a: usize, b: usize| if a == b { rings[rows[a].ring].rows as i64 } else { rows[a].gap(&rows[b]) };
    let gaps: Vec<Vec<i64>> = (0..rows.len()).map(|a| (0..rows.len()).map(|b| gap(a, b)).collect()).collect();
    // Of two that are as good, the one in which more rings are alone.
    let alone = |a: usize, b: usize| gaps[a][b] * (rows.len() as i64 + 1) - i64::from(a == b);
    let costs: Vec<Vec<i64>> =
        (0..rows.len()).map(|a| (0..rows.len()).map(|b| alone(a, b)).collect()).collect();
    let behind = assign(&costs);
    let mut seen = vec![false; rows.len()];
    for first in 0..rows.len() {
        let mut cycle = Vec::new();
        let mut at = first;
        while !std::mem::replace(&mut seen[at], true) {
            cycle.push(at);
            at = behind[at];
        }
        if cycle.len() < 2 {
            continue;
        }
        let slots = cycle.iter().map(|&at| gaps[at][behind[at]]).sum::<i64>();
        let Some(count) = usize::try_from(slots).ok().filter(|&count| count < MOST_SLOTS) else { continue };
        let with = rows[first].ring;
        let mut slot = 0i64;
        for at in cycle {
            let Ok(own) = usize::try_from(slot.rem_euclid(slots.max(1))) else { continue };
            rings[rows[at].ring].shared = Some(Shared { with, slots: count, slot: own });
            slot -= gaps[at][behind[at]];
        }
    }
}

/// Of a square of costs, a column for each row, all different, with the least sum: the Hungarian algorithm, with potentials, a row at a time.
fn assign(costs: &[Vec<i64>]) -> Vec<usize> {
    let count = costs.len();
    // Row and column 0 stand for none.
    let (mut of_rows, mut of_columns) = (vec![0i64; count + 1], vec![0i64; count + 1]);
    let mut row_of = vec![0usize; count + 1];
    for row in 1..=count {
        row_of[0] = row;
        let mut column = 0;
        let (mut least, mut before) = (vec![i64::MAX; count + 1], vec![0usize; count + 1]);
        let mut seen = vec![false; count + 1];
        while row_of[column] != 0 {
            seen[column] = true;
            let (row, mut step, mut next) = (row_of[column], i64::MAX, 0);
            for other in (1..=count).filter(|&other| !seen[other]) {
                let cost = costs[row - 1][other - 1] - of_rows[row] - of_columns[other];
                if cost < least[other] {
                    (least[other], before[other]) = (cost, column);
                }
                if least[other] < step {
                    (step, next) = (least[other], other);
                }
            }
            for other in 0..=count {
                if seen[other] {
                    of_rows[row_of[other]] += step;
                    of_columns[other] -= step;
                } else if least[other] < i64::MAX {
                    least[other] -= step;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[before[column]];
            column = before[column];
        }
    }
    let mut columns = vec![0; count];
    (1..=count).for_each(|column| columns[row_of[column] - 1] = column - 1);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The least sum of all permutations.
    fn least(costs: &[Vec<i64>], row: usize, taken: &mut Vec<usize>) -> i64 {
        if row == costs.len() {
            return 0;
        }
        let mut best = i64::MAX;
        for column in 0..costs.len() {
            if !taken.contains(&column) {
                taken.push(column);
                best = best.min(costs[row][column] + least(costs, row + 1, taken));
                taken.pop();
            }
        }
        best
    }

    #[test]
    fn assignments_cost_least() {
        let mut seed = 7u64;
        let mut random = |most: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % most
        };
        for count in (0..7).cycle().take(300) {
            let costs: Vec<Vec<i64>> =
                (0..count).map(|_| (0..count).map(|_| random(20) as i64 - 5).collect()).collect();
            let columns = assign(&costs);
            let mut sorted = columns.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..count));
            let sum: i64 = columns.iter().enumerate().map(|(row, &column)| costs[row][column]).sum();
            assert_eq!(sum, least(&costs, 0, &mut Vec::new()), "{costs:?}");
        }
    }
}
