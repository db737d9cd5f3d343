//! Packings of small random problems, compared with all that are possible.

use crate::plan::exact::{self, Outcome};
use crate::plan::{lower_bound, solve, Item, Overlay, Problem};
use crate::schedule::random::Random;

/// A random problem of at most `most` items of at most `bytes` bytes.
fn problem(random: &mut Random, most: usize, bytes: usize) -> Problem {
    let n = 1 + random.below(most);
    let items: Vec<Item> = (0..n)
        .map(|_| {
            let first = random.below(5);
            let align = [1, 1, 1, 2, 4][random.below(5)];
            Item { bytes: random.below(bytes + 1), align, first, last: first + random.below(4) }
        })
        .collect();
    let overlays = (0..random.below(2 * n))
        .map(|_| (random.below(n), random.below(n), random.below(bytes)))
        .filter(|&(upper, lower, _)| upper != lower && items[lower].bytes > 0)
        .map(|(upper, lower, gap)| Overlay { upper, lower, gap: gap % items[lower].bytes })
        .collect();
    Problem { items, overlays, floor: 0 }
}

/// The fewest bytes of any packing, by trying all offsets.
fn fewest(problem: &Problem) -> usize {
    (0..).find(|&bytes| extend(problem, bytes, &mut Vec::new())).unwrap()
}

/// Whether some offsets of the first items can be completed.
fn extend(problem: &Problem, bytes: usize, offsets: &mut Vec<usize>) -> bool {
    let i = offsets.len();
    let Some(item) = problem.items.get(i) else { return true };
    let Some(highest) = bytes.checked_sub(item.bytes) else { return false };
    (0..=highest).step_by(item.align).any(|offset| {
        let over = |upper: usize, above: usize, lower: usize, below: usize| {
            let mut gaps = problem.overlays.iter().filter(|o| (o.upper, o.lower) == (upper, lower));
            above >= below + problem.items[lower].bytes || gaps.any(|o| above >= below + o.gap)
        };
        let fits = offsets.iter().enumerate().all(|(j, &other)| {
            !item.conflicts(&problem.items[j]) || over(i, offset, j, other) || over(j, other, i, offset)
        });
        offsets.push(offset);
        let done = fits && extend(problem, bytes, offsets);
        offsets.pop();
        done
    })
}

#[test]
fn bounds_and_solutions_enclose_the_optimum() {
    let mut random = Random::new(3);
    let (mut overlaid, mut above_bound) = (0, 0);
    for case in 0..3000 {
        let problem = problem(&mut random, 6, 7);
        let fewest = fewest(&problem);
        let bound = lower_bound(&problem);
        assert!(bound <= fewest, "case {case}: {bound} > {fewest} of {problem:?}");
        let solution = solve(&problem);
        assert!(problem.accepts(&solution), "case {case}: {solution:?} of {problem:?}");
        assert!(
            solution.bound <= fewest && fewest <= solution.bytes,
            "case {case}: {solution:?} {problem:?}"
        );
        assert_eq!(solution.bytes, fewest, "case {case}: {problem:?}");
        let mut nodes = 100_000;
        if let Some(less) = fewest.checked_sub(1) {
            let found = exact::search(&problem, less, &mut nodes);
            assert!(!matches!(found, Outcome::Found(_)), "case {case}: {found:?} of {problem:?}");
        }
        match exact::search(&problem, fewest, &mut nodes) {
            Outcome::Found(solution) => assert!(problem.accepts(&solution), "case {case}"),
            outcome => assert_eq!(outcome, Outcome::Unknown, "case {case}: {problem:?}"),
        }
        let apart = solve(&Problem::new(problem.items.clone())).bytes;
        overlaid += usize::from(fewest < apart);
        above_bound += usize::from(fewest > bound);
    }
    assert!(overlaid > 500 && above_bound > 100, "{overlaid} are smaller, {above_bound} above the bound");
}
