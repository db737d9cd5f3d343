//! Convolutions and matrix products.

use super::support::{assert_same, cells, rescale, rounds, Rng};
use super::table::{impossible_convolutions, random_convolution, Shape, CONVOLUTIONS, DEPTHWISE};
use kiln::kernels::{
    conv2d_f32, conv2d_i8, dense_f32, dense_i8, depthwise2d_f32, depthwise2d_i8, Band, Conv, Requant, Rows,
    Scale,
};

/// Weight of output channel `o`, tap `(ky, kx)`, channel `c` of its group, in the order of the kernel: depthwise weights tap by
/// tap, others filter by filter, with four filters alternating as long as there are four in their group.
fn weight(p: &Conv, depthwise: bool, o: usize, ky: usize, kx: usize, c: usize) -> usize {
    if depthwise {
        return (ky * p.k_w + kx) * p.out_c + o;
    }
    let size = p.k_h * p.k_w * p.in_c / p.groups;
    let tap = (ky * p.k_w + kx) * (p.in_c / p.groups) + c;
    let per_group = p.out_c / p.groups;
    let (first, lane) = (o - o % per_group, o % per_group);
    if lane / 4 * 4 + 4 <= per_group {
        (first + lane / 4 * 4) * size + tap * 4 + lane % 4
    } else {
        o * size + tap
    }
}

/// Filters `[n][k]` in the order of the dense kernels.
fn packed<T: Copy>(w: &[T], k: usize, n: usize) -> Vec<T> {
    let p = Conv { in_c: k, out_c: n, k_h: 1, k_w: 1, groups: 1, ..CONVOLUTIONS[0].conv };
    let mut packed = w.to_vec();
    for o in 0..n {
        for c in 0..k {
            packed[weight(&p, false, o, 0, 0, c)] = w[o * k + c];
        }
    }
    packed
}

/// Calls `tap(operand index if inside the image, weight index)` for all taps of a result element, in order.
fn taps(p: &Conv, depthwise: bool, y: [usize; 3], mut tap: impl FnMut(Option<usize>, usize)) {
    let [oy, ox, o] = y;
    let group_c = p.in_c / p.groups;
    let group = o / (p.out_c / p.groups);
    for ky in 0..p.k_h {
        for kx in 0..p.k_w {
            for c in 0..group_c {
                let iy = (oy * p.stride_h + ky * p.dilation_h).checked_sub(p.pad_top).filter(|&i| i < p.in_h);
                let ix =
                    (ox * p.stride_w + kx * p.dilation_w).checked_sub(p.pad_left).filter(|&i| i < p.in_w);
                let x = iy.zip(ix).map(|(iy, ix)| (iy * p.in_w + ix) * p.in_c + group * group_c + c);
                tap(x, weight(p, depthwise, o, ky, kx, c));
            }
        }
    }
}

/// A quantised layer with random operands, and its result by definition.
struct Case {
    shape: Shape,
    depthwise: bool,
    x: Vec<i8>,
    x_zero: i8,
    w: Vec<i8>,
    /// Zero point folded in.
    bias: Vec<i32>,
    multipliers: Vec<i32>,
    shifts: Vec<i8>,
    zero_point: i32,
    lo: i32,
    hi: i32,
    y: Vec<i8>,
}

impl Case {
    fn new(shape: Shape, depthwise: bool, rng: &mut Rng) -> Self {
        let p = shape.conv;
        let x = rng.i8s(p.in_h * shape.in_row());
        let taps_per_output = p.k_h * p.k_w * p.in_c / p.groups;
        let w = rng.i8s(p.out_c * taps_per_output);
        let x_zero = rng.zero_point();
        let bias: Vec<i32> = (0..p.out_c).map(|_| rng.int(-20_000, 20_000) as i32).collect();
        let per_channel = rng.int(0, 3) > 0;
        let scales: Vec<Scale> = (0..if per_channel { p.out_c } else { 1 })
            .map(|_| rng.scale(taps_per_output as f64 * 8192.0))
            .collect();
        let zero_point = i32::from(rng.zero_point());
        let (lo, hi) = if rng.int(0, 1) == 0 {
            (-128, 127)
        } else {
            (zero_point, rng.int(zero_point.into(), 127) as i32)
        };
        let mut y = Vec::new();
        for oy in 0..shape.out_h {
            for ox in 0..p.out_w {
                for o in 0..p.out_c {
                    let mut acc = i64::from(bias[o]);
                    taps(&p, depthwise, [oy, ox, o], |at, weight| {
                        let x = at.map_or(x_zero, |at| x[at]);
                        acc += (i64::from(x) - i64::from(x_zero)) * i64::from(w[weight]);
                    });
                    let scaled =
                        rescale(acc, scales[if per_channel { o } else { 0 }]) + i64::from(zero_point);
                    y.push(scaled.clamp(lo.into(), hi.into()) as i8);
                }
            }
        }
        let mut folded = bias;
        for (o, bias) in folded.iter_mut().enumerate() {
            taps(&p, depthwise, [0, 0, o], |_, weight| *bias -= i32::from(x_zero) * i32::from(w[weight]));
        }
        let multipliers = scales.iter().map(|s| s.multiplier).collect();
        let shifts = scales.iter().map(|s| s.shift as i8).collect();
        Case { shape, depthwise, x, x_zero, w, bias: folded, multipliers, shifts, zero_point, lo, hi, y }
    }

    fn run(&self, x: Rows<'_, i8>, y: Rows<'_, i8>, band: Band) {
        let q = Requant {
            multipliers: &self.multipliers,
            shifts: &self.shifts,
            zero_point: self.zero_point,
            lo: self.lo,
            hi: self.hi,
        };
        let kernel = if self.depthwise { depthwise2d_i8 } else { conv2d_i8 };
        kernel(&self.shape.conv, x, &self.w, &self.bias, self.x_zero, &q, y, band);
    }

    fn check_whole(&self) {
        let (mut x, mut y) = (self.x.clone(), vec![99; self.y.len()]);
        let (rows_x, rows_y) = (cells(&mut x), cells(&mut y));
        let band = Band { first: 0, rows: self.shape.out_h };
        self.run(Rows::whole(rows_x, self.shape.in_row()), Rows::whole(rows_y, self.shape.out_row()), band);
        assert_same(&y, &self.y, (self.shape.name, self.shape.conv));
    }

    /// Row by row, with no more rows held than one row of the result needs.
    fn check_ring(&self, rng: &mut Rng) {
        let (shape, p) = (self.shape, self.shape.conv);
        let (in_row, out_row) = (shape.in_row(), shape.out_row());
        let (ring_x, ring_y) = (shape.reach() + rng.size(0, 2), rng.size(1, 3));
        let (mut x, mut y) = (rng.i8s(ring_x * in_row), vec![99; ring_y * out_row]);
        let (x, y) = (cells(&mut x), cells(&mut y));
        let mut loaded = 0;
        for oy in 0..shape.out_h {
            let needed = (oy * p.stride_h + shape.reach()).saturating_sub(p.pad_top).min(p.in_h);
            for row in loaded.max(needed.saturating_sub(ring_x))..needed {
                for (i, &value) in self.x[row * in_row..][..in_row].iter().enumerate() {
                    x[row % ring_x * in_row + i].set(value);
                }
            }
            loaded = loaded.max(needed);
            self.run(
                Rows::ring(x, in_row, ring_x),
                Rows::ring(y, out_row, ring_y),
                Band { first: oy, rows: 1 },
            );
            let got: Vec<i8> = y[oy % ring_y * out_row..][..out_row].iter().map(|c| c.get()).collect();
            assert_same(&got, &self.y[oy * out_row..][..out_row], (oy, shape));
        }
    }
}

#[test]
fn i8_equals_the_definition() {
    let mut rng = Rng::new(1);
    for (shapes, depthwise) in [(CONVOLUTIONS, false), (DEPTHWISE, true)] {
        for &shape in shapes.iter().filter(|shape| shape.is_tried()) {
            for _ in 0..if cfg!(miri) { 1 } else { 3 } {
                let case = Case::new(shape, depthwise, &mut rng);
                case.check_whole();
                case.check_ring(&mut rng);
            }
        }
        for _ in 0..rounds(1500) {
            let shape = random_convolution(&mut rng, depthwise);
            let case = Case::new(shape, depthwise, &mut rng);
            case.check_whole();
            case.check_ring(&mut rng);
        }
    }
}

#[test]
fn f32_sums_in_order() {
    let mut rng = Rng::new(2);
    for depthwise in [false, true] {
        for _ in 0..rounds(500) {
            let shape = random_convolution(&mut rng, depthwise);
            let p = shape.conv;
            let mut x = rng.f32s(p.in_h * shape.in_row());
            let w = rng.f32s(p.out_c * p.k_h * p.k_w * p.in_c / p.groups);
            let bias = rng.f32s(p.out_c);
            let (lo, hi) = if rng.int(0, 1) == 0 { (f32::NEG_INFINITY, f32::INFINITY) } else { (0.0, 6.0) };
            let mut expected = Vec::new();
            for oy in 0..shape.out_h {
                for ox in 0..p.out_w {
                    for o in 0..p.out_c {
                        let mut total = 0f32;
                        taps(&p, depthwise, [oy, ox, o], |at, weight| {
                            if let Some(at) = at {
                                total += x[at] * w[weight];
                            }
                        });
                        expected.push((total + bias[o]).max(lo).min(hi));
                    }
                }
            }
            let mut y = vec![9e9; expected.len()];
            let kernel = if depthwise { depthwise2d_f32 } else { conv2d_f32 };
            let (rows_x, rows_y) =
                (Rows::whole(cells(&mut x), shape.in_row()), Rows::whole(cells(&mut y), shape.out_row()));
            kernel(&p, rows_x, &w, &bias, lo, hi, rows_y, Band { first: 0, rows: shape.out_h });
            assert_same(&y, &expected, shape);
        }
    }
}

#[test]
fn dense_equals_the_definition() {
    let mut rng = Rng::new(3);
    let fixed = [(1, 1), (3, 2), (5, 9), (128, 8), (640, 128)];
    for case in 0..rounds(300) {
        let (k, n) = fixed.get(case).copied().unwrap_or_else(|| (rng.size(1, 40), rng.size(1, 13)));
        let rows = rng.size(1, 4);
        let (mut x, w) = (rng.i8s(rows * k), rng.i8s(n * k));
        let bias: Vec<i32> = (0..n).map(|_| rng.int(-5000, 5000) as i32).collect();
        let scale = rng.scale(k as f64 * 8192.0);
        let zero_point = i32::from(rng.zero_point());
        let mut expected = Vec::new();
        for row in x.chunks(k) {
            for (w, &bias) in w.chunks(k).zip(&bias) {
                let acc = row.iter().zip(w).map(|(&x, &w)| i64::from(x) * i64::from(w)).sum::<i64>()
                    + i64::from(bias);
                expected.push((rescale(acc, scale) + i64::from(zero_point)).clamp(-128, 127) as i8);
            }
        }
        let (multipliers, shifts) = ([scale.multiplier], [scale.shift as i8]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point, lo: -128, hi: 127 };
        let mut y = vec![99; rows * n];
        let (rows_x, rows_y) = (Rows::whole(cells(&mut x), k), Rows::whole(cells(&mut y), n));
        // In two bands.
        dense_i8(rows_x, &packed(&w, k, n), &bias, &q, rows_y, Band { first: 1, rows: rows - 1 });
        dense_i8(rows_x, &packed(&w, k, n), &bias, &q, rows_y, Band { first: 0, rows: 1 });
        assert_same(&y, &expected, (k, n));

        let (mut x, w, bias) = (rng.f32s(rows * k), rng.f32s(n * k), rng.f32s(n));
        let mut expected = Vec::new();
        for row in x.chunks(k) {
            for (w, bias) in w.chunks(k).zip(&bias) {
                expected.push((row.iter().zip(w).fold(0.0, |sum, (x, w)| sum + x * w) + bias).max(-1.0));
            }
        }
        let mut y = vec![9e9; rows * n];
        let (rows_x, rows_y) = (Rows::whole(cells(&mut x), k), Rows::whole(cells(&mut y), n));
        dense_f32(rows_x, &packed(&w, k, n), &bias, -1.0, f32::INFINITY, rows_y, Band { first: 0, rows });
        assert_same(&y, &expected, (k, n));
    }
}

#[test]
fn impossible_parameters_end_early() {
    let mut rng = Rng::new(4);
    let (w, bias) = (rng.i8s(16), [0; 2]);
    let q = Requant { multipliers: &[1 << 30], shifts: &[0], zero_point: 0, lo: -128, hi: 127 };
    impossible_convolutions(&mut rng, 20_000, |p, x, y, band| {
        conv2d_i8(p, x, &w, &bias, 3, &q, y, band);
        depthwise2d_i8(p, x, &w, &bias, 3, &q, y, band);
    });
}
