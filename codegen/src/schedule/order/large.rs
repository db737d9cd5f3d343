//! Segments that are too large for one exact search: a greedy order, and windows around the peak that are ordered exactly.

use super::model::{profile, Model, Progress};
use super::window::{Outcome, Window};
use std::collections::{BTreeSet, HashMap};

/// Sizes of the windows, in the order in which they are tried.
const WINDOWS: [usize; 3] = [24, 48, 96];

/// How many items the improvement may run in all, to see what is live where.
const WORK: usize = 150_000;

/// A better order of the items than the one in which they are, if one is found.
pub(super) fn sort(
    model: &Model,
    progress: &Progress<'_>,
    items: Vec<usize>,
    budget: &mut usize,
) -> Vec<usize> {
    let peak = |order: &[usize]| profile(progress.clone(), order).into_iter().max().unwrap_or(0);
    let greedy = greedy(model, progress.clone(), &items);
    let mut best = if peak(&greedy) < peak(&items) { greedy } else { items };
    improve(model, progress, &mut best, budget);
    best
}

/// Runs, of the items that can run, the one that leaves least live; of several the first.
fn greedy(model: &Model, mut progress: Progress<'_>, items: &[usize]) -> Vec<usize> {
    let mut waits: HashMap<usize, usize> = items.iter().map(|&item| (item, 0)).collect();
    let mut users: HashMap<usize, Vec<usize>> = HashMap::new();
    for &item in items {
        let inside = model.items[item].needs.iter().filter(|need| waits.contains_key(need)).count();
        waits.insert(item, inside);
        model.items[item].touches.iter().for_each(|t| users.entry(t.root).or_default().push(item));
    }
    let growth =
        |progress: &Progress<'_>, item: usize| progress.effect(item).after as i64 - progress.live as i64;
    // What can run, by what it adds; and the other way round.
    let mut ready: BTreeSet<(i64, usize)> = BTreeSet::new();
    let mut keys: HashMap<usize, i64> = HashMap::new();
    for &item in items.iter().filter(|item| waits.get(item) == Some(&0)) {
        let key = growth(&progress, item);
        ready.insert((key, item));
        keys.insert(item, key);
    }
    let mut order = Vec::with_capacity(items.len());
    while let Some((_, item)) = ready.pop_first() {
        keys.remove(&item);
        let fresh: Vec<bool> =
            model.items[item].touches.iter().map(|t| !progress.uses[t.root].started).collect();
        progress.run(item);
        order.push(item);
        for (touch, fresh) in model.items[item].touches.iter().zip(fresh) {
            let at = progress.uses[touch.root];
            // Nothing changes for the others until one of them is the last.
            if !fresh && at.uses > 1 && at.holders != 1 {
                continue;
            }
            for &other in users.get(&touch.root).into_iter().flatten() {
                let Some(key) = keys.get_mut(&other) else { continue };
                let new = growth(&progress, other);
                ready.remove(&(*key, other));
                ready.insert((new, other));
                *key = new;
            }
        }
        for &user in &model.items[item].users {
            let Some(left) = waits.get_mut(&user) else { continue };
            *left -= 1;
            if *left == 0 {
                let key = growth(&progress, user);
                ready.insert((key, user));
                keys.insert(user, key);
            }
        }
    }
    order
}

/// Orders windows around the peak exactly, as long as that lowers it.
fn improve(model: &Model, start: &Progress<'_>, order: &mut [usize], budget: &mut usize) {
    let mut live = profile(start.clone(), order);
    let mut work = 0;
    let mut sizes = WINDOWS.iter();
    let mut size = sizes.next();
    while let Some(&width) = size {
        let Some(peak) = (0..order.len()).max_by_key(|&i| (live[i], std::cmp::Reverse(i))) else { return };
        let first = peak.saturating_sub(width / 2);
        let end = (first + width).min(order.len());
        work += end;
        if work > WORK {
            return;
        }
        let mut progress = start.clone();
        for &item in &order[..first] {
            progress.run(item);
        }
        let items = &mut order[first..end];
        match Window::new(model, &progress, items).better(budget) {
            Outcome::Better(found) => {
                let sorted: Vec<usize> = found.into_iter().map(|i| items[i]).collect();
                items.copy_from_slice(&sorted);
                live[first..end].copy_from_slice(&profile(progress, items));
            }
            Outcome::Optimal => size = sizes.next(),
            Outcome::Unknown => return,
        }
    }
}
