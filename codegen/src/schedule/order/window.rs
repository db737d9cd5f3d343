//! The exact search: the best order of a few items between a fixed beginning and a fixed end.
//!
//! What is live depends only on which items have run, not on their order. So the search walks over *sets* of items that are closed under
//! what they need, from the empty one to all, always from the set that was reached with the lowest peak; the first time that all have
//! run, no order has a lower peak. Three things keep the sets few: no peak is below what some item needs alone; a set is entered once; and
//! an item that stays below the peak so far and leaves no more live than before runs at once, since later it could do no better.

use super::model::{Effect, Item, Model, Progress, Touch, Use};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet};

/// The largest number of items of a window.
pub(super) const MOST: usize = 128;

/// A set of items of a window.
type Set = u128;

/// What a search found.
pub(super) enum Outcome {
    /// No order has a lower peak than the one in which the items are.
    Optimal,
    /// No order has a lower peak than this one. Of those that are as good it is, as a rule, the first, if items that come early in the
    /// window should run early.
    Better(Vec<usize>),
    /// The search took too long.
    Unknown,
}

/// Items to be ordered.
pub(super) struct Window {
    /// The items and the roots they touch, numbered anew.
    model: Model,
    needs: Vec<Set>,
    roots: Vec<Span>,
    live: usize,
}

/// Who uses a root inside the window.
#[derive(Clone, Copy)]
struct Span {
    /// Its use before the window.
    before: Use,
    writers: Set,
    users: Set,
    holders: Set,
}

impl Span {
    fn at(&self, done: Set) -> Use {
        let of = |set: Set| (set & done).count_ones() as usize;
        Use {
            started: self.before.started || of(self.writers) > 0,
            uses: self.before.uses.saturating_sub(of(self.users)),
            holders: self.before.holders.saturating_sub(of(self.holders)),
        }
    }
}

impl Window {
    /// At most [`MOST`] items, each of which needs what has run and items of the window.
    pub(super) fn new(model: &Model, progress: &Progress<'_>, items: &[usize]) -> Self {
        let local: HashMap<usize, usize> = items.iter().enumerate().map(|(i, &item)| (item, i)).collect();
        let mut names: HashMap<usize, usize> = HashMap::new();
        let mut window = Window {
            model: Model { items: Vec::new(), roots: Vec::new() },
            needs: Vec::new(),
            roots: Vec::new(),
            live: progress.live,
        };
        for (i, &item) in items.iter().enumerate().take(MOST) {
            let item = &model.items[item];
            let bit: Set = 1 << i;
            let mut copy = Item { touches: Vec::new(), overlays: Vec::new(), writes: None, ..item.clone() };
            for touch in &item.touches {
                let root = *names.entry(touch.root).or_insert_with(|| {
                    window.model.roots.push(model.roots[touch.root]);
                    let before = progress.uses[touch.root];
                    window.roots.push(Span { before, writers: 0, users: 0, holders: 0 });
                    window.roots.len() - 1
                });
                let span = &mut window.roots[root];
                span.users |= if touch.uses { bit } else { 0 };
                span.holders |= if touch.holds { bit } else { 0 };
                if item.writes == Some(touch.root) {
                    span.writers |= bit;
                    copy.writes = Some(root);
                }
                copy.touches.push(Touch { root, ..*touch });
            }
            copy.overlays
                .extend(item.overlays.iter().filter_map(|&(r, bytes)| Some((*names.get(&r)?, bytes))));
            window.model.items.push(copy);
            window.needs.push(item.needs.iter().filter_map(|n| local.get(n)).fold(0, |set, &n| set | 1 << n));
        }
        window
    }

    fn all(&self) -> Set {
        (0..self.needs.len()).fold(0, |set, i| set | 1 << i)
    }

    /// The items that can run next, the first of the window first.
    fn ready(&self, done: Set) -> impl Iterator<Item = usize> + '_ {
        (0..self.needs.len()).filter(move |&i| done & 1 << i == 0 && self.needs[i] & !done == 0)
    }

    fn effect(&self, done: Set, live: usize, item: usize) -> Effect {
        self.model.effect(&self.model.items[item], live, |root| self.roots[root].at(done))
    }

    /// No order has a lower peak: the most that an item needs when everything else that can be dead or not yet born is.
    fn floor(&self) -> usize {
        let through = |span: &Span, bytes: usize| match span.before {
            Use { started: true, uses, .. } if uses > span.users.count_ones() as usize => bytes,
            _ => 0,
        };
        let spans = || self.model.roots.iter().zip(&self.roots).enumerate();
        // What the window does not touch is live throughout.
        let mine: usize = spans().map(|(_, (root, span))| root.charge(span.before)).sum();
        let outside = self.live - mine.min(self.live);
        let needs = |item: &Item| {
            let covered = item.overlays.iter().map(|&(_, bytes)| bytes).max().unwrap_or(0);
            let live: usize = spans()
                .map(|(i, (root, span))| {
                    let used = item.touches.iter().any(|t| t.root == i && t.uses);
                    if root.state {
                        0
                    } else if used {
                        root.bytes
                    } else {
                        through(span, root.bytes)
                    }
                })
                .sum();
            outside + live.saturating_sub(covered)
        };
        self.model.items.iter().map(needs).max().unwrap_or(0)
    }

    /// The peak of the order in which the items are.
    fn peak(&self) -> usize {
        let (mut done, mut live, mut most) = (0, self.live, 0);
        for item in 0..self.needs.len() {
            let effect = self.effect(done, live, item);
            most = most.max(effect.during);
            (done, live) = (done | 1 << item, effect.after);
        }
        most
    }

    /// Looks for an order with a lower peak than the one in which the items are. The search may look at `budget` sets, which is reduced
    /// by those that it took.
    pub(super) fn better(&self, budget: &mut usize) -> Outcome {
        let peak = self.peak();
        if peak <= self.floor() {
            return Outcome::Optimal;
        }
        match self.lowest(budget) {
            None => Outcome::Unknown,
            Some((lowest, _)) if lowest >= peak => Outcome::Optimal,
            Some((lowest, order)) => Outcome::Better(self.first(lowest, budget).unwrap_or(order)),
        }
    }

    /// The best-first search.
    fn lowest(&self, budget: &mut usize) -> Option<(usize, Vec<usize>)> {
        /// A set that was reached, and how.
        struct Reached {
            done: Set,
            live: usize,
            from: usize,
            ran: usize,
        }
        let all = self.all();
        let mut reached = vec![Reached { done: 0, live: self.live, from: 0, ran: 0 }];
        let mut seen: HashSet<Set> = HashSet::new();
        let mut queue = BinaryHeap::new();
        queue.push((Reverse(self.floor()), 0, Reverse(0)));
        while let Some((Reverse(peak), _, Reverse(index))) = queue.pop() {
            let Reached { done, live, .. } = reached[index];
            if done == all {
                let mut order = Vec::new();
                let mut at = index;
                while at != 0 {
                    order.push(reached[at].ran);
                    at = reached[at].from;
                }
                order.reverse();
                return Some((peak, order));
            }
            if !seen.insert(done) {
                continue;
            }
            *budget = budget.checked_sub(1)?;
            let mut next: Vec<(usize, Effect)> = Vec::new();
            for item in self.ready(done) {
                let effect = self.effect(done, live, item);
                if effect.during <= peak && effect.after <= live {
                    next = vec![(item, effect)];
                    break;
                }
                next.push((item, effect));
            }
            for (item, effect) in next {
                let done = done | 1 << item;
                if !seen.contains(&done) {
                    let entry = (Reverse(peak.max(effect.during)), done.count_ones(), Reverse(reached.len()));
                    queue.push(entry);
                    reached.push(Reached { done, live: effect.after, from: index, ran: item });
                }
            }
        }
        None
    }

    /// The first order, item by item, whose peak is not above `peak`.
    fn first(&self, peak: usize, budget: &mut usize) -> Option<Vec<usize>> {
        let all = self.all();
        let mut dead_ends: HashSet<Set> = HashSet::new();
        // The items so far, with what was done and live before each, and which item to try next.
        let mut path: Vec<(Set, usize, usize)> = vec![(0, self.live, 0)];
        while let Some(&mut (done, live, ref mut tried)) = path.last_mut() {
            if done == all {
                return Some(path.iter().take(path.len() - 1).map(|&(_, _, tried)| tried - 1).collect());
            }
            let start = *tried;
            let fits = |&item: &usize| {
                item >= start
                    && !dead_ends.contains(&(done | 1 << item))
                    && self.effect(done, live, item).during <= peak
            };
            match self.ready(done).find(fits) {
                Some(item) => {
                    *budget = budget.checked_sub(1)?;
                    *tried = item + 1;
                    let after = self.effect(done, live, item).after;
                    path.push((done | 1 << item, after, 0));
                }
                None => {
                    dead_ends.insert(done);
                    path.pop();
                }
            }
        }
        None
    }
}
