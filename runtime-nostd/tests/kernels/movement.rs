//! Copies and fills.

use super::support::{assert_same, cells, rounds, Rng};
use kiln::kernels::{copy, fill, Copy};
use kiln::Element;

/// Random strided places in `src` and `dst` elements, and the element that goes from where to where, in order.
fn random_copy(rng: &mut Rng) -> (Copy, usize, usize, Vec<(usize, usize)>) {
    let dims = [0; 6].map(|_| if rng.int(0, 2) == 0 { rng.size(0, 4) } else { rng.size(1, 3) });
    let mut p = Copy { dims, src: [0; 6], src_offset: 0, dst: [0; 6], dst_offset: rng.size(0, 3) };
    let (mut src_len, mut dst_len) = (rng.size(1, 4), p.dst_offset + 1);
    let mut axes = [0, 1, 2, 3, 4, 5];
    axes.sort_by_key(|_| rng.next());
    for axis in axes {
        let reach = dims[axis].saturating_sub(1);
        let stride = src_len + rng.size(0, 1);
        p.src[axis] = stride as isize;
        src_len += reach * stride;
        if rng.int(0, 2) == 0 {
            p.src[axis] = -p.src[axis];
            p.src_offset += reach * stride;
        }
    }
    if rng.int(0, 1) == 0 {
        axes = [0, 1, 2, 3, 4, 5];
    }
    for axis in axes.into_iter().rev() {
        p.dst[axis] = dst_len - p.dst_offset;
        dst_len += dims[axis].saturating_sub(1) * p.dst[axis];
    }
    let mut moves = vec![(p.src_offset as isize, p.dst_offset)];
    for axis in 0..6 {
        let step =
            |&(from, to): &(isize, usize), i: usize| (from + i as isize * p.src[axis], to + i * p.dst[axis]);
        moves = moves.iter().flat_map(|at| (0..dims[axis]).map(move |i| step(at, i))).collect();
    }
    (p, src_len, dst_len, moves.into_iter().map(|(from, to)| (from as usize, to)).collect())
}

fn check<T: Element + PartialEq + std::fmt::Debug>(seed: u64, element: fn(u64) -> T) {
    let mut rng = Rng::new(seed);
    for _ in 0..rounds(1000) {
        let (p, src_len, dst_len, moves) = random_copy(&mut rng);
        let mut x: Vec<T> = (0..src_len).map(|_| element(rng.next())).collect();
        let start: Vec<T> = (0..dst_len).map(|_| element(rng.next())).collect();
        let mut expected = start.clone();
        for &(from, to) in &moves {
            expected[to] = x[from];
        }
        let mut y = start.clone();
        copy(&p, &x[..], cells(&mut y));
        assert_same(&y, &expected, p);
        let mut y = start.clone();
        copy(&p, cells(&mut x), cells(&mut y));
        assert_same(&y, &expected, p);
    }
}

#[test]
fn copies_go_where_strides_say() {
    check::<u8>(30, |x| x as u8);
    check::<u16>(31, |x| x as u16);
    check::<u32>(32, |x| x as u32);
    check::<u64>(33, |x| x);
}

#[test]
fn copies_may_overlap_downwards() {
    let mut memory: Vec<u32> = (0..12).collect();
    let cells = cells(&mut memory);
    let p = Copy {
        dims: [1, 1, 1, 1, 2, 5],
        src: [0, 0, 0, 0, 5, 1],
        src_offset: 2,
        dst: [0, 0, 0, 0, 5, 1],
        dst_offset: 0,
    };
    copy(&p, cells, cells);
    assert_eq!(memory, [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 10, 11]);
}

#[test]
fn runs_of_any_length_move_by_any_distance() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(element: fn(usize) -> T) {
        for n in 0..40 {
            for (from, to) in [(0, 0), (1, 0), (2, 0), (3, 1), (4, 0), (5, 0), (7, 2), (11, 3), (23, 1)] {
                let mut memory: Vec<T> = (0..70).map(element).collect();
                let start = memory.clone();
                let mut expected = memory.clone();
                expected.copy_within(from..from + n, to);
                let p = Copy { src_offset: from, dst_offset: to, ..Copy::linear(n) };
                let all = cells(&mut memory);
                copy(&p, all, all);
                assert_same(&memory, &expected, p);
                let mut y = start.clone();
                copy(&Copy::linear(n), &start[from..from + n], &cells(&mut y)[to..to + n]);
                assert_same(&y, &expected, p);
            }
        }
    }
    check::<u8>(|i| i as u8);
    check::<u32>(|i| i as u32);
    check::<u64>(|i| i as u64);
}

#[test]
fn runs_that_are_not_all_there_do_not_move() {
    for (from, to, n) in
        [(0, 0, 7), (1, 0, 6), (0, 3, 5), (usize::MAX, 0, 2), (0, usize::MAX, 2), (0, 0, usize::MAX)]
    {
        let mut y = [0u8; 7];
        let p = Copy { src_offset: from, dst_offset: to, ..Copy::linear(n) };
        copy(&p, &[1u8, 2, 3, 4, 5, 6], cells(&mut y));
        assert_eq!(y, [0; 7], "{p:?}");
    }
}

#[test]
fn impossible_copies_end_early() {
    let mut y = [0u8; 6];
    let p = Copy {
        dims: [1, 1, 1, 1, 3, 2],
        src: [0, 0, 0, 0, 2, 1],
        src_offset: 0,
        dst: [0, 0, 0, 0, 4, 1],
        dst_offset: 0,
    };
    copy(&p, &[1u8, 2, 3, 4], cells(&mut y));
    assert_eq!(y, [1, 2, 0, 0, 3, 4]);
    let far = Copy { src_offset: usize::MAX / 2, dst_offset: usize::MAX / 2, ..p };
    copy(&far, &[1u8, 2, 3, 4], cells(&mut y));
    assert_eq!(y, [1, 2, 0, 0, 3, 4]);
    fill(9, cells(&mut y));
    assert_eq!(y, [9; 6]);
}
