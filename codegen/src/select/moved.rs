//! What copies do, counted from their calls: one step may make several, of more than one kernel.

use super::*;

/// Elements that a copy moves at once, where they are consecutive.
const BLOCK: usize = 4;

/// Bytes of a vector.
const VECTOR: usize = 16;

/// What the calls of a step do that computes so many rows, each with its kernel; `None` where one of them is no copy.
pub(super) fn works(calls: &[Call], rows: usize) -> Option<Vec<(KernelId, Work)>> {
    let of = |call: &Call| {
        let by_row = call.args.iter().any(|arg| arg.by_row() || matches!(arg, Arg::Due));
        Some((call.kernel()?, work(call)?.times(if by_row { rows } else { 1 })))
    };
    calls.iter().map(of).collect()
}

/// What a call does, once.
fn work(call: &Call) -> Option<Work> {
    let written = call.args.iter().rev().find_map(Arg::region);
    match (call.kernel()?, call.args.first()) {
        (KernelId::Copy, Some(Arg::Linear(len))) => Some(run(*len).with(Count::Call, 1)),
        (KernelId::Copy, Some(Arg::Struct(moves))) => strided(moves),
        (KernelId::CopyDsp | KernelId::Fill, _) => Some(Work::of_call().with(Count::Result, written?.len)),
        (KernelId::CopyMve, _) => {
            let Region { len, element, .. } = written?;
            Some(Work::of_call().with(Count::Word, (len * element.bytes()).div_ceil(VECTOR)))
        }
        (KernelId::PadRows, Some(Arg::Struct(pad))) => {
            let moves = pad.fields.iter().find_map(|(_, field)| match field {
                Field::Struct(moves) => Some(moves),
                _ => None,
            });
            let row = call.args.iter().rev().find_map(|arg| match arg {
                Arg::Rows(strip) => Some(strip.row),
                _ => None,
            });
            Some(strided(moves?)?.with(Count::Result, row?))
        }
        _ => None,
    }
}

/// What moves consecutive elements.
fn run(len: usize) -> Work {
    Work::default().with(Count::Run, 1).with(Count::Word, len / BLOCK * BLOCK).with(Count::One, len % BLOCK)
}

/// What moves elements along several axes: runs along the last one, or elements that are not consecutive one by one.
fn strided(moves: &Struct) -> Option<Work> {
    let ints = |name: &str| {
        moves.fields.iter().find_map(|(field, value)| match value {
            Field::Ints(ints) if *field == name => Some(&ints[..]),
            _ => None,
        })
    };
    let dims: Vec<usize> = ints("dims")?.iter().map(|&dim| usize::try_from(dim).unwrap_or(0)).collect();
    let [outer @ .., inner, len] = &dims[..] else { return None };
    let turns = outer.iter().product::<usize>();
    let runs = turns * inner;
    let consecutive = ints("src")?.last() == Some(&1) && ints("dst")?.last() == Some(&1);
    let work = match consecutive {
        true => run(*len).times(runs),
        false => Work::default().with(Count::Line, runs).with(Count::Other, runs * len),
    };
    Some(work.with(Count::Call, 1).with(Count::Window, 1).with(Count::Turn, turns))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of `len` elements along three axes, whose elements lie `step` apart in the result.
    fn moves(dims: [i64; 3], step: i64) -> Struct {
        let dims = movement::pad6(&dims, 1);
        let strides = movement::pad6(&[100, 10, step], 0);
        let fields = vec![
            ("dims", Field::Ints(dims)),
            ("src", Field::Ints(movement::pad6(&[100, 10, 1i64], 0))),
            ("src_offset", Field::Int(0)),
            ("dst", Field::Ints(strides)),
            ("dst_offset", Field::Int(0)),
        ];
        Struct { name: "Copy", fields }
    }

    #[test]
    fn consecutive_elements_are_moved_in_blocks() {
        let counts = [Count::Run, Count::Word, Count::One];
        assert_eq!(counts.map(|count| run(30).of(count)), [1, 28, 2]);
        let work = strided(&moves([2, 3, 7], 1)).unwrap();
        assert_eq!(counts.map(|count| work.of(count)), [6, 24, 18]);
        assert_eq!([Count::Call, Count::Turn, Count::Other].map(|count| work.of(count)), [1, 2, 0]);
    }

    #[test]
    fn other_elements_are_moved_one_by_one() {
        let work = strided(&moves([2, 3, 7], 2)).unwrap();
        assert_eq!([Count::Line, Count::Other, Count::Word].map(|count| work.of(count)), [6, 42, 0]);
    }
}
