//! Parts that indices name, choices, comparisons, reductions, products of matrices, rows normalised and images of another size.

use super::support::{assert_same, cells, rescale, rounds, Rng};
use kiln::kernels::*;

#[test]
fn parts_are_those_that_indices_name() {
    let mut rng = Rng::new(1);
    for _ in 0..rounds(500) {
        let [batch, between, count, inner] = [0; 4].map(|_| rng.size(1, 3));
        let depth = rng.size(1, 3);
        let axes = [0; 6].map(|_| rng.size(1, 4));
        let p = Gather { batch, between, axes, depth, count, inner };
        let image: usize = axes[..depth].iter().product();
        let x: Vec<u16> = (0..batch * between * image * inner).map(|_| rng.next() as u16).collect();
        let indices: Vec<i32> = (0..batch * count * depth).map(|_| rng.int(-2, 5) as i32).collect();
        let mut expected = Vec::new();
        for b in 0..batch {
            for o in 0..between {
                for k in 0..count {
                    let at = &indices[(b * count + k) * depth..][..depth];
                    let along = |(&i, &n): (&i32, &usize)| (i.max(0) as usize).min(n - 1);
                    let part = at.iter().zip(&axes).fold(0, |part, (i, n)| part * n + along((i, n)));
                    let first = ((b * between + o) * image + part) * inner;
                    expected.extend_from_slice(&x[first..first + inner]);
                }
            }
        }
        let mut y = vec![0; expected.len()];
        gather_i32(&p, &x[..], &indices[..], cells(&mut y));
        assert_same(&y, &expected, p);
        let wide: Vec<i64> =
            indices.iter().map(|&i| i64::from(i) * if i < 0 { i64::MAX / 2 } else { 1 }).collect();
        let mut y = vec![0; expected.len()];
        gather_i64(&p, &x[..], &wide[..], cells(&mut y));
        assert_same(&y, &expected, p);
    }
}

/// Right-aligned dimensions of two axes.
fn two(a: usize, b: usize) -> [usize; 6] {
    [0, 0, 0, 0, a, b]
}

/// A factor that comparisons are defined for: TFLite's function does not shift to the left.
fn below_one(rng: &mut Rng) -> Scale {
    let scale = rng.scale(30_000.0);
    Scale { shift: scale.shift.min(0), ..scale }
}

#[test]
fn comparisons_rescale_both_operands() {
    let mut rng = Rng::new(2);
    for _ in 0..rounds(300) {
        let (rows, columns) = (rng.size(1, 4), rng.size(1, 9));
        let (a, b) = (rng.i8s(rows * columns), rng.i8s(columns));
        let p = CompareParams {
            left_shift: 8,
            x_zero: rng.zero_point().into(),
            x: below_one(&mut rng),
            y_zero: rng.zero_point().into(),
            y: below_one(&mut rng),
        };
        let shape = Broadcast { dims: [1, 1, 1, 1, rows, columns], a: two(columns, 1), b: two(0, 1) };
        let value = |x: i8, zero: i32, by| rescale((i64::from(x) - i64::from(zero)) << 8, by);
        let pairs: Vec<(i64, i64)> = (0..rows * columns)
            .map(|i| (value(a[i], p.x_zero, p.x), value(b[i % columns], p.y_zero, p.y)))
            .collect();
        let of = |holds: fn(i64, i64) -> bool| {
            pairs.iter().map(|&(a, b)| u8::from(holds(a, b))).collect::<Vec<_>>()
        };
        let mut y = vec![2; pairs.len()];
        less_i8_scaled(&shape, &p, &a[..], &b[..], cells(&mut y));
        assert_same(&y, &of(|a, b| a < b), p);
        equal_i8_scaled(&shape, &p, &a[..], &b[..], cells(&mut y));
        assert_same(&y, &of(|a, b| a == b), p);
        greater_equal_i8_scaled(&shape, &p, &a[..], &b[..], cells(&mut y));
        assert_same(&y, &of(|a, b| a >= b), p);

        let condition: Vec<u8> = (0..rows).map(|_| rng.int(0, 1) as u8).collect();
        let choice = Choice { dims: shape.dims, c: two(1, 0), a: shape.a, b: shape.b };
        let chosen: Vec<i8> =
            (0..a.len()).map(|i| if condition[i / columns] != 0 { a[i] } else { b[i % columns] }).collect();
        let mut y = vec![0; chosen.len()];
        select(&choice, &condition[..], &a[..], &b[..], cells(&mut y));
        assert_same(&y, &chosen, choice);
    }
}

#[test]
fn extremes_and_sums_along_an_axis() {
    let mut rng = Rng::new(3);
    for _ in 0..rounds(300) {
        let (outer, len, inner) = (rng.size(1, 3), rng.size(1, 6), rng.size(1, 4));
        let p = Along { outer, len, inner };
        let mut x: Vec<i32> = (0..outer * len * inner).map(|_| rng.int(-3, 3) as i32).collect();
        let at = |o: usize, i: usize, k: usize| (o * len + i) * inner + k;
        let (mut largest, mut smallest) = (Vec::new(), Vec::new());
        let mut sums = vec![0; x.len()];
        for o in 0..outer {
            for k in 0..inner {
                let run: Vec<i32> = (0..len).map(|i| x[at(o, i, k)]).collect();
                let first = |wanted: &i32| run.iter().position(|x| x == wanted).unwrap();
                largest.push(first(run.iter().max().unwrap()) as i32);
                smallest.push(first(run.iter().min().unwrap()) as i64);
                // From the end on, without the element itself.
                (0..len).for_each(|i| sums[at(o, i, k)] = run[i + 1..].iter().sum());
            }
        }
        let (mut y, mut z, mut s) =
            (vec![-1i32; largest.len()], vec![-1i64; smallest.len()], vec![9; x.len()]);
        arg_max(&p, cells(&mut x), cells(&mut y));
        arg_min(&p, cells(&mut x), cells(&mut z));
        cumsum_i32::<true, true>(&p, cells(&mut x), cells(&mut s));
        assert_same(&y, &largest, p);
        assert_same(&z, &smallest, p);
        assert_same(&s, &sums, p);
    }
}

#[test]
fn products_of_matrices_are_exact() {
    let mut rng = Rng::new(4);
    for _ in 0..rounds(200) {
        let (images, m, n, k) = (rng.size(1, 3), rng.size(1, 4), rng.size(1, 4), rng.size(1, 9));
        let (a, b) = (rng.i8s(images * m * k), rng.i8s(n * k));
        let p = MatMul {
            dims: [1, 1, 1, 1, 1, images],
            a: [0, 0, 0, 0, 0, m * k],
            // One matrix for all.
            b: [0; 6],
            m,
            n,
            k,
        };
        let q = MulParams {
            x_zero: rng.zero_point().into(),
            y_zero: rng.zero_point().into(),
            out_zero: rng.zero_point().into(),
            out: rng.scale(60_000.0 * k as f64),
            lo: -100,
            hi: 127,
        };
        let mut expected = Vec::new();
        for row in a.chunks(k) {
            for column in b.chunks(k) {
                let product = |(&a, &b): (&i8, &i8)| {
                    (i64::from(a) - i64::from(q.x_zero)) * (i64::from(b) - i64::from(q.y_zero))
                };
                let sum: i64 = row.iter().zip(column).map(product).sum();
                expected.push((rescale(sum, q.out) + i64::from(q.out_zero)).clamp(-100, 127) as i8);
            }
        }
        let mut y = vec![0; expected.len()];
        matmul_i8(&p, &q, &a[..], &b[..], cells(&mut y));
        assert_same(&y, &expected, (p, q));
    }
}

#[test]
fn logarithms_and_lengths_are_near_the_real_ones() {
    let mut rng = Rng::new(5);
    for _ in 0..rounds(500) {
        let depth = rng.size(1, 40);
        let mut x = rng.i8s(depth);
        // Differences of 1/16 in Q5.26: 2²² a step.
        let step = 1.0 / 16.0;
        let diff = Scale { multiplier: 1 << 30, shift: 23 };
        let p = LogSoftmax { diff, diff_min: -496, divisor: Scale { multiplier: 1 << 30, shift: -21 } };
        let exps: [i32; 256] = std::array::from_fn(|d| {
            ((-(d as f64) * step).exp() * 2f64.powi(31)).round().min(f64::from(i32::MAX)) as i32
        });
        let mut y = vec![0; depth];
        log_softmax_i8(depth, &p, &exps, cells(&mut x), cells(&mut y));
        let max = f64::from(*x.iter().max().unwrap());
        let log = x.iter().map(|&x| ((f64::from(x) - max) * step).exp()).sum::<f64>().ln();
        for (&x, &y) in x.iter().zip(&y) {
            let real = ((f64::from(x) - max) * step - log) * 16.0 + 127.0;
            assert!((f64::from(y) - real.max(-128.0)).abs() <= 1.0, "{y} for {real}");
        }

        let zero = i32::from(rng.zero_point());
        l2_normalize_i8(depth, zero, cells(&mut x), cells(&mut y));
        let length = x.iter().map(|&x| f64::from(i32::from(x) - zero).powi(2)).sum::<f64>().sqrt().max(1.0);
        for (&x, &y) in x.iter().zip(&y) {
            let real = (f64::from(i32::from(x) - zero) / length * 128.0).min(127.0);
            assert!((f64::from(y) - real).abs() <= 0.51, "{y} for {real}");
        }
    }
}

#[test]
fn resized_images_are_near_the_real_ones() {
    let mut rng = Rng::new(6);
    for _ in 0..rounds(200) {
        let [in_h, in_w, out_h, out_w] = [0; 4].map(|_| rng.size(1, 9));
        let (images, c) = (rng.size(1, 2), rng.size(1, 3));
        let p = Resize { images, in_h, in_w, c, out_h, out_w };
        let half = rng.int(0, 1) == 1;
        let scales = [in_h as f32 / out_h as f32, in_w as f32 / out_w as f32];
        let mut x = rng.i8s(images * in_h * in_w * c);
        let mut floats: Vec<f32> = x.iter().map(|&x| x.into()).collect();
        let mut real = vec![0f32; images * out_h * out_w * c];
        let start = if half { 0.5 } else { 0.0 };
        resize_bilinear_f32(&p, scales[0], scales[1], start, cells(&mut floats), cells(&mut real));
        // Between four neighbours, weighted by the nearness in each direction.
        for (at, &y) in real.iter().enumerate() {
            let (k, j, i, n) = (at % c, at / c % out_w, at / c / out_w % out_h, at / c / out_w / out_h);
            let place = |i: usize, scale: f32| f64::from((i as f32 + start) * scale - start);
            let (v, u) = (place(i, scales[0]), place(j, scales[1]));
            let weight = |i: usize, at: f64, size: usize| {
                let at = at.clamp(0.0, size as f64 - 1.0);
                (1.0 - (i as f64 - at).abs()).max(0.0)
            };
            let mut sum = 0.0;
            for (a, b) in (0..in_h).flat_map(|a| (0..in_w).map(move |b| (a, b))) {
                let pixel = f64::from(floats[((n * in_h + a) * in_w + b) * c + k]);
                sum += pixel * weight(a, v, in_h) * weight(b, u, in_w);
            }
            assert!((sum - f64::from(y)).abs() < 1e-3, "{y} for {sum}: {p:?}");
        }
        let [sy, sx] = [(in_h, out_h), (in_w, out_w)].map(|(from, to)| ((1024 * from + to / 2) / to) as i32);
        let begin = |scale: i32| if half { scale / 2 - 512 } else { 0 };
        let mut y = vec![0; real.len()];
        resize_bilinear_i8(&p, sy, begin(sy), sx, begin(sx), cells(&mut x), cells(&mut y));
        for (&y, &real) in y.iter().zip(&real) {
            // Scales are rounded to 1/1024 of a pixel: at most nine of which, and 255 from neighbour to neighbour in each direction.
            assert!((f32::from(y) - real).abs() <= 0.5 + 2.0 * 255.0 * 5.0 / 1024.0, "{y} for {real}: {p:?}");
        }
    }
}
