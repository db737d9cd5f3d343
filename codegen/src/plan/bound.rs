//! How small a packing can be at best.

use super::problem::Problem;

/// No solution is smaller: the largest sum of sizes live at one time, less what overlays can save there.
///
/// Items that are live together cover at least the sum of their sizes minus, for each item in any fixed order, the bytes that it
/// shares with those before it: at most its own, and at most the sum over its overlays with them of what one overlay can share. Of two
/// orders the better one counts.
pub fn lower_bound(problem: &Problem) -> usize {
    let items = &problem.items;
    let end = items.iter().map(|item| item.last + 2).max().unwrap_or(0);
    let mut changes = vec![Change::default(); end];
    for item in items {
        changes[item.first].live += item.bytes as isize;
        changes[item.last + 1].live -= item.bytes as isize;
    }
    for earlier in [false, true] {
        for (k, saving) in savings(problem, earlier).into_iter().enumerate() {
            let Some((first, last, bytes)) = saving else { continue };
            let bytes = bytes.min(items[k].bytes) as isize;
            changes[first].saved[usize::from(earlier)] += bytes;
            changes[last + 1].saved[usize::from(earlier)] -= bytes;
        }
    }
    let mut now = Change::default();
    let mut most = problem.floor;
    for change in changes {
        now.live += change.live;
        now.saved = [now.saved[0] + change.saved[0], now.saved[1] + change.saved[1]];
        let least = now.live - now.saved[0].min(now.saved[1]);
        most = most.max(least.max(0).unsigned_abs());
    }
    most
}

#[derive(Clone, Copy, Default)]
struct Change {
    live: isize,
    saved: [isize; 2],
}

/// By item: when overlays can save some of its bytes, and how many they share with it in all. The overlays of two items count for the
/// one that is born earlier, or for the other.
fn savings(problem: &Problem, earlier: bool) -> Vec<Option<(usize, usize, usize)>> {
    let items = &problem.items;
    let mut savings: Vec<Option<(usize, usize, usize)>> = vec![None; items.len()];
    for overlay in &problem.overlays {
        let (upper, lower) = (&items[overlay.upper], &items[overlay.lower]);
        if !upper.conflicts(lower) {
            continue;
        }
        let shared = upper.bytes.min(lower.bytes.saturating_sub(overlay.gap));
        let upper_first = (upper.first, overlay.upper) < (lower.first, overlay.lower);
        let counted = if upper_first == earlier { overlay.upper } else { overlay.lower };
        let (first, last) = (upper.first.max(lower.first), upper.last.min(lower.last));
        let slot = savings[counted].get_or_insert((first, last, 0));
        *slot = (slot.0.min(first), slot.1.max(last), slot.2.saturating_add(shared));
    }
    savings
}
