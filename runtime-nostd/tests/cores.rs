//! Kernels of microcontrollers that two cores compute, against the same kernels alone, bit for bit: on random shapes, apart from the operand and over it.
//!
//! Weights are any words, but for tiles, where those of two filters stand in one word. Results over the operand are as close as the kernel alone allows, or up to some rows further away.
#![allow(clippy::unwrap_used)]
// WebAssembly has no threads of its own.
#![cfg(not(target_family = "wasm"))]

use kiln::kernels::{self, conv2d_work_words, Band, Conv, HalfRequant, Requant, Rows, Stride};
use kiln::Crew;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.below(256) as u8 as i8).collect()
    }

    /// Small enough for sums that do not wrap, and for results that differ.
    fn words(&mut self, count: usize) -> Vec<i32> {
        (0..count).map(|_| self.below(1 << 30) as i32 - (1 << 29)).collect()
    }

    /// A convolution, and the rows of its result.
    fn conv(&mut self, points: bool, depthwise: bool) -> (Conv, usize) {
        let (k_h, k_w) = if points { (1, 1) } else { (1 + self.below(3), 1 + self.below(3)) };
        let stride = if points { 1 } else { 1 + self.below(2) };
        let share = if cfg!(miri) { 3 } else { 1 };
        let in_c = if depthwise { 4 + self.below(9) } else { 1 + self.below(9) };
        let p = Conv {
            in_h: k_h + self.below(24 / share),
            in_w: k_w + self.below(9 / share),
            in_c,
            out_w: 0,
            out_c: if depthwise { in_c } else { 1 + self.below(12) },
            k_h,
            k_w,
            stride_h: stride,
            stride_w: stride,
            dilation_h: 1,
            dilation_w: 1,
            pad_top: self.below(k_h),
            pad_left: self.below(k_w),
            groups: if depthwise { in_c } else { 1 },
        };
        let out = |size: usize, pad: usize, k: usize| (size + 2 * pad - k) / stride + 1;
        let out_h = out(p.in_h, p.pad_top, p.k_h);
        (Conv { out_w: out(p.in_w, p.pad_left, p.k_w), ..p }, out_h)
    }
}

fn cells<T>(of: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(of).as_slice_of_cells()
}

/// A kernel with an operand, a workspace and a result.
type Kernel<'k> = dyn Fn(Rows<'_, i8>, &[Cell<i32>], Rows<'_, i8>) + 'k;

/// A row of the operand and one of the result, in elements, and how many there are of each.
struct Sizes {
    rows: [usize; 2],
    counts: [usize; 2],
}

/// Calls a kernel alone, with one workspace, and on the crew, in the same memory, and compares all that is in it.
fn compare(random: &mut Random, p: &Conv, sizes: &Sizes, work: usize, kernels: [&Kernel<'_>; 2]) {
    let Sizes { rows: [x_row, y_row], counts: [x_rows, y_rows] } = *sizes;
    let (x_len, y_len) = (x_row * x_rows, y_row * y_rows);
    // How far behind the result the operand must begin for a kernel alone: what a row writes, no later row reads.
    let first = |row: usize| (row * p.stride_h).saturating_sub(p.pad_top) * x_row;
    let least = (0..y_rows).map(|r| ((r + 1) * y_row).saturating_sub(first(r).min(x_len))).max().unwrap();
    let gap = match random.below(4) {
        0 => y_len,
        1 => least,
        _ => least + random.below(5) * y_row + random.below(y_row),
    };
    let x = random.bytes(x_len);
    let mut memory = vec![77; (gap + x_len).max(y_len)];
    memory[gap..][..x_len].copy_from_slice(&x);
    let work = work.next_multiple_of(16);
    let [alone, together] = [(kernels[0], work), (kernels[1], 2 * work)].map(|(kernel, work)| {
        let mut memory = memory.clone();
        let mut work = vec![0; work];
        let memory_cells = cells(&mut memory);
        let (x, y) = (&memory_cells[gap..][..x_len], &memory_cells[..y_len]);
        kernel(Rows::whole(x, x_row), cells(&mut work), Rows::whole(y, y_row));
        memory
    });
    let same = alone.iter().zip(&together).take_while(|(alone, together)| alone == together).count();
    assert!(
        same == alone.len(),
        "{p:?}, the operand {gap} behind the result, at least {least}: element {same} of {y_len}"
    );
    assert!(y_len < 40 || alone[..y_len] != memory[..y_len], "{p:?}: nothing was computed");
}

/// Random layers of each kernel, with a second thread that helps.
fn rounds(seed: u64, one: impl Fn(&Crew, &mut Random)) {
    let (crew, leave) = (Crew::new(), AtomicBool::new(false));
    let mut random = Random(seed);
    thread::scope(|scope| {
        scope.spawn(|| {
            crew.help(|| {
                thread::yield_now();
                !leave.load(Ordering::Relaxed)
            });
        });
        while crew.helpers() == 0 {
            thread::yield_now();
        }
        let all = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            for _ in 0..if cfg!(miri) { 6 } else { 400 } {
                one(&crew, &mut random);
            }
        }));
        leave.store(true, Ordering::Relaxed);
        all.unwrap();
    });
}

/// Quads of filters, with so many words behind the taps that requantise: pixels are computed in pairs or alone, which is the same for sums that are not too large.
fn quads(random: &mut Random, p: &Conv, requant: usize) -> Vec<i32> {
    let mut words = Vec::new();
    let mut small = |most: i32| random.below(2 * most as usize + 1) as i32 - most;
    for _ in 0..p.out_c.div_ceil(4) {
        for _ in 0..2 {
            let (a, b) = (small(900), small(900));
            words.extend([a, a + 256 * b]);
        }
        let taps = p.k_h * p.k_w * p.in_c;
        for word in 0..2 * taps.div_ceil(2) {
            let [low, high] = [0; 2].map(|_: i32| small(60) + 256 * small(60));
            // Where the number of taps is odd, there is a zero at the end.
            let there = 2 * (word / 2) + 1 < taps;
            words.push(if there { high << 16 } else { 0 } | low & 0xffff);
        }
        words.extend((0..requant).map(|k| if requant == 12 && k < 4 { small(9) } else { small(1 << 29) }));
    }
    words
}

#[test]
fn convolutions_in_tiles() {
    rounds(1, |crew, random| {
        let points = random.below(2) == 0;
        let (p, out_h) = random.conv(points, false);
        let (w, pad) = (quads(random, &p, 12), -3);
        let planar = random.below(3) == 0;
        let out = if planar {
            Stride { pixel: 1, channel: p.out_w }
        } else {
            Stride { pixel: p.out_c, channel: 1 }
        };
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let band = Band { first: 0, rows: out_h };
        let work = conv2d_work_words(&p, 2 + random.below(4));
        compare(
            random,
            &p,
            &sizes,
            work,
            [
                &|x, work, y| kernels::conv2d_i8_dsp_small::<3, true>(&p, x, &w, pad, work, y, &out, band),
                &|x, work, y| {
                    kernels::conv2d_i8_dsp_small_crew::<3, true>(
                        crew, 2, &p, x, &w, pad, work, y, &out, band,
                    );
                },
            ],
        );
        if points {
            let p = Conv { in_c: 8, out_c: 12, stride_h: 1, stride_w: 1, in_h: out_h, in_w: p.out_w, ..p };
            let (w, work) = (quads(random, &p, 12), conv2d_work_words(&p, 2 + 2 * random.below(3)));
            let out = if planar { out } else { Stride { pixel: p.out_c, channel: 1 } };
            let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
            let plain: &Kernel<'_> = &|x, work, y| {
                kernels::conv2d_i8_dsp_points_small::<3, true>(&p, x, &w, pad, work, y, &out, band);
            };
            let in_parts: &Kernel<'_> = &|x, work, y| {
                kernels::conv2d_i8_dsp_points_small_crew::<3, true>(
                    crew, 2, &p, x, &w, pad, work, y, &out, band,
                );
            };
            compare(random, &p, &sizes, work, [plain, in_parts]);
        }
        let w = quads(random, &p, 0);
        let (multipliers, shifts) = (vec![1 << 30; p.out_c], vec![-9; p.out_c]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -128, hi: 127 };
        compare(
            random,
            &p,
            &sizes,
            work,
            [
                &|x, work, y| kernels::conv2d_i8_dsp_exact(&p, x, &w, pad, work, &q, y, &out, band),
                &|x, work, y| {
                    kernels::conv2d_i8_dsp_exact_crew(crew, 2, &p, x, &w, pad, work, &q, y, &out, band);
                },
            ],
        );
    });
}

#[test]
fn convolutions_compiled_for_their_shape() {
    rounds(2, |crew, random| {
        let (p, out_h) = random.conv(true, false);
        let p = Conv { in_c: 8, out_c: 12, ..p };
        let (w, band) = (quads(random, &p, 8), Band { first: 0, rows: out_h });
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let work = conv2d_work_words(&p, 4);
        compare(
            random,
            &p,
            &sizes,
            work,
            [
                &|x, work, y| {
                    kernels::conv2d_i8_dsp::<16, 4, 4, 12, 1, 5, false>(&p, x, &w, 0, work, y, band)
                },
                &|x, work, y| {
                    kernels::conv2d_i8_dsp_crew::<16, 4, 4, 12, 1, 5, false>(
                        crew, 2, &p, x, &w, 0, work, y, band,
                    );
                },
            ],
        );
    });
}

#[test]
fn depthwise_convolutions() {
    rounds(3, |crew, random| {
        let (p, out_h) = random.conv(false, true);
        let fours = p.in_c.div_ceil(4);
        let (w, pad) = (random.words(fours * (4 + p.k_h * p.k_w + 12)), 5);
        let (multipliers, shifts) = (vec![1 << 30; p.out_c], vec![-7; p.out_c]);
        let q = Requant { multipliers: &multipliers, shifts: &shifts, zero_point: 3, lo: -128, hi: 127 };
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let band = Band { first: 0, rows: out_h };
        compare(
            random,
            &p,
            &sizes,
            0,
            [&|x, _, y| kernels::depthwise2d_i8_dsp_exact(&p, x, &w, pad, &q, y, band), &|x, _, y| {
                kernels::depthwise2d_i8_dsp_exact_crew(crew, 2, &p, x, &w, pad, &q, y, band)
            }],
        );
        let p = Conv { in_c: 8, out_c: 8, groups: 8, ..p };
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], ..sizes };
        compare(
            random,
            &p,
            &sizes,
            0,
            [&|x, _, y| kernels::depthwise2d_i8_dsp::<8, 3, 5, true>(&p, x, &w, pad, y, band), &|x, _, y| {
                kernels::depthwise2d_i8_dsp_crew::<8, 3, 5, true>(crew, 2, &p, x, &w, pad, y, band)
            }],
        );
    });
}

#[test]
fn depthwise_convolutions_of_planar_rows() {
    rounds(4, |crew, random| {
        let (p, out_h) = random.conv(false, true);
        let p = Conv { k_w: 3, pad_left: 1, out_w: p.in_w, stride_w: 1, ..p };
        let (w, pad) = (random.words(p.in_c * (2 * p.k_h + 8)), 5);
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let band = Band { first: 0, rows: out_h };
        compare(
            random,
            &p,
            &sizes,
            0,
            [
                &|x, _, y| {
                    kernels::depthwise2d_i8_dsp_planar::<0, 1, 1, 5, true>(&p, x, &w, pad, y, p.out_w, band)
                },
                &|x, _, y| {
                    kernels::depthwise2d_i8_dsp_planar_crew::<0, 1, 1, 5, true>(
                        crew, 2, &p, x, &w, pad, y, p.out_w, band,
                    );
                },
            ],
        );
    });
}

#[test]
fn cores_without_dsp() {
    rounds(5, |crew, random| {
        let points = random.below(2) == 0;
        let (p, out_h) = random.conv(points, false);
        // No window has one tap.
        let p = Conv { in_c: p.in_c.next_multiple_of(2), ..p };
        let row = (p.k_w * p.in_c).next_multiple_of(2);
        let words = random.words(p.k_h * row * (p.out_c + 3));
        let (first, part) = (random.words(4 * p.out_c + 8), 2 + random.below(40));
        let channels = random.words(4 * (p.out_c + 12));
        let q = HalfRequant { channels: &channels, words: 3, shift: 4, lo: -100, hi: 100 };
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let band = Band { first: 0, rows: out_h };
        compare(
            random,
            &p,
            &sizes,
            0,
            [
                &|x, _, y| kernels::conv2d_i8_v6m_singles(&p, x, &words, &first, part, 3, &q, y, band),
                &|x, _, y| {
                    kernels::conv2d_i8_v6m_singles_crew(crew, 2, &p, x, &words, &first, part, 3, &q, y, band)
                },
            ],
        );
    });
}

#[test]
fn depthwise_convolutions_without_dsp() {
    rounds(7, |crew, random| {
        let (p, out_h) = random.conv(false, true);
        let (w, channels) = (random.bytes(2 * p.k_h * p.k_w * (p.in_c + 8)), random.words(4 * (p.in_c + 8)));
        let q = HalfRequant { channels: &channels, words: 4, shift: 4, lo: -100, hi: 100 };
        let sizes = Sizes { rows: [p.in_w * p.in_c, p.out_w * p.out_c], counts: [p.in_h, out_h] };
        let band = Band { first: 0, rows: out_h };
        compare(
            random,
            &p,
            &sizes,
            0,
            [&|x, _, y| kernels::depthwise2d_i8_v6m(&p, x, &w, 3, &q, y, band), &|x, _, y| {
                kernels::depthwise2d_i8_v6m_crew(crew, 2, &p, x, &w, 3, &q, y, band)
            }],
        );
    });
}

#[test]
fn matrix_products() {
    rounds(6, |crew, random| {
        let (taps, filters) = (4 + random.below(90), 1 + random.below(50));
        let p = Conv { in_c: taps, out_c: filters, ..point() };
        let sizes = Sizes { rows: [taps, filters], counts: [1, 1] };
        let band = Band { first: 0, rows: 1 };
        let w = random.words(filters.div_ceil(4) * (4 + 2 * taps.div_ceil(2) + 12));
        compare(
            random,
            &p,
            &sizes,
            0,
            [&|x, _, y| kernels::dense_i8_dsp::<5, true>(x, &w, y, band), &|x, _, y| {
                kernels::dense_i8_dsp_crew::<5, true>(crew, 2, x, &w, y, band)
            }],
        );
        let w = random.words(filters.div_ceil(8) * (8 + 4 * taps.div_ceil(2) + 24) + 100);
        compare(
            random,
            &p,
            &sizes,
            0,
            [&|x, _, y| kernels::dense_i8_dsp_eights::<5, false, true>(x, &w, y, band), &|x, _, y| {
                kernels::dense_i8_dsp_eights_crew::<5, false, true>(crew, 2, x, &w, y, band)
            }],
        );
    });
}

/// Rows of a ring lie where others do: one core computes them.
#[test]
fn rings() {
    rounds(8, |crew, random| {
        let (p, out_h) = random.conv(false, true);
        let (w, pad) = (random.bytes(2 * p.k_h * p.k_w * (p.in_c + 8)), 3);
        let channels = random.words(4 * (p.in_c + 8));
        let q = HalfRequant { channels: &channels, words: 4, shift: 4, lo: -100, hi: 100 };
        let (x_row, y_row) = (p.in_w * p.in_c, p.out_w * p.out_c);
        let (held, ring) = (1 + random.below(p.in_h), 1 + random.below(out_h));
        let sizes = Sizes { rows: [x_row, y_row], counts: [p.in_h, out_h] };
        // In memory for all rows there are fewer.
        let in_rings = |x: Rows<'_, i8>, y: Rows<'_, i8>, kernel: &dyn Fn(Rows<'_, i8>, Rows<'_, i8>)| {
            let of = |rows: Rows<'_, i8>, count: usize| -> Vec<i8> {
                (0..count).flat_map(|r| rows.row(r).iter().map(Cell::get).collect::<Vec<_>>()).collect()
            };
            let (mut from, mut to) = (of(x, p.in_h), of(y, out_h));
            kernel(Rows::ring(cells(&mut from), x_row, held), Rows::ring(cells(&mut to), y_row, ring));
            for (r, row) in to.chunks(y_row).enumerate() {
                y.row(r).iter().zip(row).for_each(|(y, value)| y.set(*value));
            }
        };
        let band = Band { first: random.below(3), rows: out_h };
        compare(
            random,
            &p,
            &sizes,
            0,
            [
                &|x, _, y| in_rings(x, y, &|x, y| kernels::depthwise2d_i8_v6m(&p, x, &w, pad, &q, y, band)),
                &|x, _, y| {
                    in_rings(x, y, &|x, y| {
                        kernels::depthwise2d_i8_v6m_crew(crew, 2, &p, x, &w, pad, &q, y, band);
                    });
                },
            ],
        );
    });
}

/// A convolution of points.
fn point() -> Conv {
    Conv {
        in_h: 1,
        in_w: 1,
        in_c: 1,
        out_w: 1,
        out_c: 1,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 0,
        pad_left: 0,
        groups: 1,
    }
}
