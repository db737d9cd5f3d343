//! How far apart two conflicting items must be.

use super::problem::Problem;

/// Of the items that may overlap: how far behind the other one each must begin.
pub(super) struct Distances {
    /// By item: the other, how far behind the other the item must begin, and the other behind the item. In ascending order.
    partners: Vec<Vec<(usize, usize, usize)>>,
}

impl Distances {
    pub(super) fn of(problem: &Problem) -> Distances {
        let items = &problem.items;
        let mut partners: Vec<Vec<(usize, usize, usize)>> = vec![Vec::new(); items.len()];
        for overlay in &problem.overlays {
            let (upper, lower) = (overlay.upper, overlay.lower);
            if upper == lower || !items[upper].conflicts(&items[lower]) {
                continue;
            }
            let gap = overlay.gap.min(items[lower].bytes);
            partners[upper].push((lower, gap, items[upper].bytes));
            partners[lower].push((upper, items[upper].bytes, gap));
        }
        for list in &mut partners {
            list.sort_unstable();
            list.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                if same {
                    *kept = (kept.0, kept.1.min(next.1), kept.2.min(next.2));
                }
                same
            });
        }
        Distances { partners }
    }

    /// How far behind the beginning of `other` the item must begin, and `other` behind the item: one of both must hold. `None` if
    /// they must not overlap.
    pub(super) fn get(&self, item: usize, other: usize) -> Option<(usize, usize)> {
        let list = self.partners.get(item)?;
        let at = list.binary_search_by_key(&other, |partner| partner.0).ok()?;
        list.get(at).map(|&(_, above, below)| (above, below))
    }
}
