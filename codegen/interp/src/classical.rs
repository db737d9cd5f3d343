//! Classical machine learning: support-vector machines, and [decision trees](trees).

use super::{trees, Evaluated, Tensor};
use kiln_ir::{Data, Op, Type};

pub(super) fn compute(op: &Op, operands: &[Tensor<'_>], result: &Type) -> Evaluated {
    let first = operands[0];
    Ok(Some(match op {
        Op::SquaredDistances {} => squared_distances(operands),
        Op::Couple {} => couple(first, result),
        Op::Trees { least } => trees::trees(*least, operands, result)?,
        _ => return Ok(None),
    }))
}

/// See `squared_distances` in the op table.
fn squared_distances(operands: &[Tensor<'_>]) -> Data {
    let ((x, xs), (_, vs)) = (operands[0], operands[1]);
    let width = x.shape.last().max(1);
    let (xs, vs) = (xs.to_f32(), vs.to_f32());
    let mut sums = Vec::new();
    for x in xs.chunks_exact(width) {
        for v in vs.chunks_exact(width) {
            sums.push(x.iter().zip(v).fold(0f32, |sum, (x, v)| sum + (x - v) * (x - v)));
        }
    }
    Data::from_f32(&sums)
}

/// Most rounds of [`couple`].
const ROUNDS: usize = 100;

/// See `couple` in the op table. In the letters of Wu, Lin and Weng, equation 43 and algorithm 2.
fn couple(x: Tensor<'_>, result: &Type) -> Data {
    let classes = result.shape.last();
    let pairs = x.0.shape.last();
    let mut all = Vec::new();
    for shares in x.1.to_f32().chunks_exact(pairs.max(1)) {
        let mut r = vec![vec![0f32; classes]; classes];
        let mut next = shares.iter();
        for i in 0..classes {
            for j in i + 1..classes {
                let share = next.next().copied().unwrap_or(0.5);
                (r[i][j], r[j][i]) = (share, 1.0 - share);
            }
        }
        let mut q = vec![vec![0f32; classes]; classes];
        for (i, row) in q.iter_mut().enumerate() {
            for j in (0..classes).filter(|&j| j != i) {
                row[i] += r[j][i] * r[j][i];
                row[j] = -r[j][i] * r[i][j];
            }
        }
        let mut p = vec![1.0 / classes as f32; classes];
        let row = |i: usize, p: &[f32]| q[i].iter().zip(p).fold(0f32, |sum, (q, p)| sum + q * p);
        for _ in 0..ROUNDS {
            let rows: Vec<f32> = (0..classes).map(|i| row(i, &p)).collect();
            let mut total = p.iter().zip(&rows).fold(0f32, |sum, (p, row)| sum + p * row);
            let worst = rows.iter().map(|row| (row - total).abs()).fold(0f32, f32::max);
            if worst < 0.005 / classes as f32 {
                break;
            }
            for (i, equation) in q.iter().enumerate() {
                let (own, sum) = (equation[i], row(i, &p));
                let step = (total - sum) / own;
                p[i] += step;
                total = (total + step * (step * own + 2.0 * sum)) / (1.0 + step) / (1.0 + step);
                for p in &mut p {
                    *p /= 1.0 + step;
                }
            }
        }
        all.extend(p);
    }
    Data::from_f32(&all)
}
