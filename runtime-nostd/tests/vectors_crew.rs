//! Kernels that several threads compute, against the same kernels alone, bit for bit: on random shapes, with crews of none to several threads, for more cores and fewer than there are
//! threads, at every level that this processor has.
//!
//! Results lie between elements that nothing may change, and workspaces are as large as documented and not larger.
#![allow(clippy::unwrap_used)]

use kiln::kernels::{self, Band, Conv, FilterBlocks, Rounding, Rows};
use kiln::{is_available, limit_level, Crew, Level};
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

/// Kernels of float convolutions, alone and with a crew.
type FloatConv = fn(&Conv, Rows<'_, f32>, &[f32], f32, f32, &[Cell<f32>], Rows<'_, f32>, Band);
type FloatConvOn =
    fn(&Crew, usize, &Conv, Rows<'_, f32>, &[f32], f32, f32, &[Cell<f32>], Rows<'_, f32>, Band);

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn bytes(&mut self, count: usize) -> Vec<i8> {
        (0..count).map(|_| self.below(256) as u8 as i8).collect()
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.below(2001) as f32 / 512.0 - 2.0).collect()
    }

    /// A convolution, and the rows of its result.
    fn conv(&mut self, depthwise: bool) -> (Conv, usize) {
        let point = self.below(3) == 0 && !depthwise;
        let size = |random: &mut Random| if point { 1 } else { 1 + random.below(4) };
        let (k_h, k_w) = (size(self), size(self));
        let strided = self.below(3) == 0;
        let step = |random: &mut Random| if strided { 1 + random.below(2) } else { 1 };
        let (stride_h, stride_w, dilation_h, dilation_w) = (step(self), step(self), step(self), step(self));
        // Small ones under Miri.
        let share = if cfg!(miri) { 4 } else { 1 };
        let (out_h, out_w) = (1 + self.below(20 / share), 1 + self.below(12 / share));
        let (pad_top, pad_left) = (self.below(k_h), self.below(k_w));
        let extent = |out: usize, stride: usize, k: usize, dilation: usize, pad: usize| {
            ((out - 1) * stride + (k - 1) * dilation + 1).saturating_sub(2 * pad).max(1)
        };
        let in_c = 1 + self.below(40 / share);
        let (out_c, groups) = if depthwise { (in_c, in_c) } else { (1 + self.below(40 / share), 1) };
        let conv = Conv {
            in_h: extent(out_h, stride_h, k_h, dilation_h, pad_top),
            in_w: extent(out_w, stride_w, k_w, dilation_w, pad_left),
            in_c,
            out_w,
            out_c,
            k_h,
            k_w,
            stride_h,
            stride_w,
            dilation_h,
            dilation_w,
            pad_top,
            pad_left,
            groups,
        };
        (conv, out_h)
    }

    /// Blocks of filters whose taps come in so many runs, each completed to groups of four by zeros.
    fn blocks(&mut self, blocks: usize, runs: usize, run: usize) -> Vec<i8> {
        let mut packed = Vec::new();
        for _ in 0..blocks {
            let mut words: Vec<u32> = (0..32).map(|_| self.below(4000) as u32).collect();
            words.extend((0..16).map(|_| ((1 + self.below(1000)) as f32 / 3e5).to_bits()));
            words.extend([0.5f32.to_bits(); 16]);
            packed.extend(words.iter().flat_map(|word| word.to_le_bytes().map(|byte| byte as i8)));
            for group in (0..runs).flat_map(|_| (0..run).step_by(4)) {
                for _ in 0..16 {
                    packed.extend((group..group + 4).map(|tap| {
                        if tap < run {
                            self.below(256) as u8 as i8
                        } else {
                            0
                        }
                    }));
                }
            }
        }
        packed
    }
}

fn cells<T>(values: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(values).as_slice_of_cells()
}

fn filters(blocks: &[i8]) -> FilterBlocks<'_> {
    FilterBlocks { blocks, rounding: Rounding::Nearest, zero_point: 3, lo: -120, hi: 119 }
}

/// Elements of a row in the workspace, in so many phases, and how many rows there are.
fn ring(p: &Conv, phases: usize) -> (usize, usize) {
    let columns = ((p.out_w - 1) * p.stride_w + (p.k_w - 1) * p.dilation_w + 1).max(p.in_w + p.pad_left);
    ((columns.div_ceil(phases) * phases * p.in_c).next_multiple_of(64), (p.k_h - 1) * p.dilation_h + 1)
}

/// Who computes: a crew, how many threads it has by now, and for how many cores.
struct Hands<'a> {
    crew: &'a Crew,
    cores: usize,
}

/// A kernel with an operand, a workspace and a result.
type Kernel<'k, T, W> = dyn Fn(Rows<'_, T>, &[Cell<W>], Rows<'_, T>) + 'k;

/// Elements around a result.
const MARGIN: usize = 40;

impl Hands<'_> {
    /// Calls a kernel alone, with the first workspace, and on the crew, and compares what it leaves. `work` are the elements of one workspace.
    fn compare<T, W>(
        &self,
        (x, row): (&[T], usize),
        (results, y_row): (usize, usize),
        band: Band,
        work: usize,
        what: &str,
        kernels: [&Kernel<'_, T, W>; 2],
    ) where
        T: Copy + Default + PartialEq,
        W: Copy + Default,
    {
        let work = work.next_multiple_of(16);
        let found = [(kernels[0], work), (kernels[1], self.cores * work)].map(|(kernel, work)| {
            let (mut x, mut y) = (x.to_vec(), vec![T::default(); 2 * MARGIN + results * y_row]);
            let mut work = vec![W::default(); work];
            let to = &cells(&mut y)[MARGIN..MARGIN + results * y_row];
            kernel(Rows::whole(cells(&mut x), row), cells(&mut work), Rows::whole(to, y_row));
            y
        });
        let same = found[0].iter().zip(&found[1]).take_while(|(alone, parts)| alone == parts).count();
        let helpers = self.crew.helpers();
        assert!(
            same == found[0].len(),
            "{what}, {band:?}, {} cores, {helpers} helpers: element {same}",
            self.cores
        );
        let some = |y: &[T]| y.iter().any(|y| *y != T::default());
        assert!(
            some(&found[0][MARGIN..MARGIN + results * y_row]) || results * y_row < 40,
            "{what}: nothing was computed"
        );
        assert!(!some(&found[1][..MARGIN]) && !some(&found[1][MARGIN + results * y_row..]));
    }

    fn integers(&self, random: &mut Random) {
        let (p, out_h) = random.conv(false);
        let first = random.below(out_h);
        let band = Band { first, rows: 1 + random.below(out_h - first) };
        let x = random.bytes(p.in_h * p.in_w * p.in_c);
        let joined = p.dilation_w == 1 || p.k_w == 1;
        let (runs, run) = if joined { (p.k_h, p.k_w * p.in_c) } else { (p.k_h * p.k_w, p.in_c) };
        let blocks = random.blocks(p.out_c.div_ceil(16), runs, run);
        let (filters, pad) = (filters(&blocks), 5);
        let (row, rows) = ring(&p, 1);
        self.compare(
            (&x, p.in_w * p.in_c),
            (out_h, p.out_w * p.out_c),
            band,
            (rows * row + 256) / 4,
            &format!("{p:?}"),
            [
                &|x, work, y| kernels::conv2d_i8_simd::<false>(&p, x, &filters, pad, work, y, band),
                &|x, work, y| {
                    kernels::conv2d_i8_simd_crew::<false>(
                        self.crew, self.cores, &p, x, &filters, pad, work, y, band,
                    );
                },
            ],
        );
    }

    fn integers_depthwise(&self, random: &mut Random) {
        let (p, out_h) = random.conv(true);
        let band = Band { first: 0, rows: out_h };
        let x = random.bytes(p.in_h * p.in_w * p.in_c);
        let period = p.in_c >> p.in_c.trailing_zeros().min(4);
        // No filter has more than four rows or columns.
        let blocks = match p.k_h {
            1 => random.blocks(period, 1, p.k_w),
            _ => random.blocks(period, p.k_w, p.k_h),
        };
        let (filters, pad) = (filters(&blocks), -7);
        let (row, rows) = ring(&p, if p.in_c % 16 == 0 { 1 } else { p.stride_w });
        self.compare(
            (&x, p.in_w * p.in_c),
            (out_h, p.out_w * p.out_c),
            band,
            (rows * row + 256 + 4 * (row + 256)) / 4,
            &format!("{p:?}"),
            [
                &|x, work, y| kernels::depthwise2d_i8_simd::<false>(&p, x, &filters, pad, work, y, band),
                &|x, work, y| {
                    kernels::depthwise2d_i8_simd_crew::<false>(
                        self.crew, self.cores, &p, x, &filters, pad, work, y, band,
                    );
                },
            ],
        );
    }

    fn integers_dense(&self, random: &mut Random) {
        let (k, n) = (1 + random.below(100), 1 + random.below(400));
        let (x, blocks) = (random.bytes(2 * k), random.blocks(n.div_ceil(16), 1, k));
        let (filters, band) = (filters(&blocks), Band { first: random.below(2), rows: 1 });
        self.compare(
            (&x, k),
            (2, n),
            band,
            k.next_multiple_of(32) / 4,
            &format!("{k} times {n}"),
            [&|x, work, y| kernels::dense_i8_simd::<false>(x, &filters, work, y, band), &|x, work, y| {
                kernels::dense_i8_simd_crew::<false>(self.crew, self.cores, x, &filters, work, y, band);
            }],
        );
    }

    fn floats(&self, random: &mut Random) {
        let (p, out_h) = random.conv(false);
        let first = random.below(out_h);
        let band = Band { first, rows: 1 + random.below(out_h - first) };
        let x = random.floats(p.in_h * p.in_w * p.in_c);
        let w = random.floats(p.out_c.next_multiple_of(16) * (1 + p.k_h * p.k_w * p.in_c));
        let (row, rows) = ring(&p, 1);
        for (alone, on) in [
            (kernels::conv2d_f32_simd as FloatConv, kernels::conv2d_f32_simd_crew as FloatConvOn),
            (kernels::conv2d_f32_simd_reproducible, kernels::conv2d_f32_simd_reproducible_crew),
        ] {
            self.compare(
                (&x, p.in_w * p.in_c),
                (out_h, p.out_w * p.out_c),
                band,
                rows * row + 256,
                &format!("{p:?}"),
                [&|x, work, y| alone(&p, x, &w, -9.0, 9.0, work, y, band), &|x, work, y| {
                    on(self.crew, self.cores, &p, x, &w, -9.0, 9.0, work, y, band);
                }],
            );
        }
    }

    fn floats_depthwise(&self, random: &mut Random) {
        let (p, out_h) = random.conv(true);
        let band = Band { first: 0, rows: out_h };
        let x = random.floats(p.in_h * p.in_w * p.in_c);
        let period = p.in_c >> p.in_c.trailing_zeros().min(4);
        let flat = period > 1 && period <= 15;
        let count = if flat { period } else { p.in_c.div_ceil(16) };
        let w = random.floats(count * 16 * (1 + p.k_h * p.k_w));
        let (row, rows) = ring(&p, if flat { p.stride_w } else { 1 });
        for (alone, on) in [
            (kernels::depthwise2d_f32_simd as FloatConv, kernels::depthwise2d_f32_simd_crew as FloatConvOn),
            (kernels::depthwise2d_f32_simd_reproducible, kernels::depthwise2d_f32_simd_reproducible_crew),
        ] {
            self.compare(
                (&x, p.in_w * p.in_c),
                (out_h, p.out_w * p.out_c),
                band,
                rows * row + 256,
                &format!("{p:?}"),
                [&|x, work, y| alone(&p, x, &w, -9.0, 9.0, work, y, band), &|x, work, y| {
                    on(self.crew, self.cores, &p, x, &w, -9.0, 9.0, work, y, band);
                }],
            );
        }
    }

    fn floats_dense(&self, random: &mut Random) {
        let (k, n, m) = (1 + random.below(80), 1 + random.below(300), 1 + random.below(50));
        let (x, w) = (random.floats(m * k), random.floats(n.next_multiple_of(16) * (k + 1)));
        let band = match random.below(2) {
            0 => Band { first: random.below(m), rows: 1 },
            _ => Band { first: 0, rows: m },
        };
        self.compare(
            (&x, k),
            (m, n),
            band,
            0,
            &format!("{m} times {k} times {n}"),
            [&|x, work, y| kernels::dense_f32_simd(x, &w, -9.0, 9.0, work, y, band), &|x, work, y| {
                kernels::dense_f32_simd_crew(self.crew, self.cores, x, &w, -9.0, 9.0, work, y, band);
            }],
        );
        self.compare(
            (&x, k),
            (m, n),
            band,
            0,
            &format!("{m} times {k} times {n}, reproducible"),
            [
                &|x, work, y| kernels::dense_f32_simd_reproducible(x, &w, -9.0, 9.0, work, y, band),
                &|x, work, y| {
                    kernels::dense_f32_simd_reproducible_crew(
                        self.crew, self.cores, x, &w, -9.0, 9.0, work, y, band,
                    );
                },
            ],
        );
    }

    fn all(&self, random: &mut Random) {
        self.integers(random);
        self.integers_depthwise(random);
        self.integers_dense(random);
        self.floats(random);
        self.floats_depthwise(random);
        self.floats_dense(random);
    }
}

/// One test, since the level is the whole program's.
#[test]
fn parts_are_what_the_kernel_computes_alone() {
    let levels: Vec<Level> = Level::ALL.into_iter().filter(|&level| is_available(level)).collect();
    assert!(levels.contains(&Level::Portable));
    // WebAssembly has no threads of its own.
    let has_threads = !cfg!(target_family = "wasm");
    // Threads that wait take time of Miri's, too.
    let few: fn(usize) -> bool = if cfg!(miri) { |threads| threads != 1 && threads < 3 } else { |_| true };
    for threads in [0, 1, 2, 5].into_iter().filter(|&threads| few(threads) && (has_threads || threads == 0)) {
        let (crew, leave) = (Crew::new(), AtomicBool::new(false));
        thread::scope(|scope| {
            let _leave = Leave(&leave);
            for _ in 0..threads {
                scope.spawn(|| {
                    crew.help(|| {
                        thread::yield_now();
                        !leave.load(Ordering::Relaxed)
                    });
                });
            }
            while crew.helpers() < threads {
                thread::yield_now();
            }
            for &level in &levels {
                assert_eq!(limit_level(level), level);
                let mut random = Random(level as u64 + 100 * threads as u64);
                for _ in 0..if cfg!(miri) { 1 } else { 30 } {
                    let cores = [1, 2, 3, 4, 9][random.below(5)];
                    Hands { crew: &crew, cores }.all(&mut random);
                }
            }
        });
    }
    if has_threads {
        overlapping();
    }
}

/// Lets threads leave, whatever happens.
struct Leave<'a>(&'a AtomicBool);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A result that lies over its operand, as it may for the kernel alone, and a ring that holds fewer rows than are computed: nothing is divided.
fn overlapping() {
    let (crew, leave) = (Crew::new(), AtomicBool::new(false));
    let rows = if cfg!(miri) { 10 } else { 40 };
    let p = Conv {
        in_h: rows,
        in_w: 8,
        in_c: 16,
        out_w: 8,
        out_c: 16,
        k_h: 3,
        k_w: 3,
        stride_h: 1,
        stride_w: 1,
        dilation_h: 1,
        dilation_w: 1,
        pad_top: 1,
        pad_left: 1,
        groups: 1,
    };
    let mut random = Random(7);
    let (blocks, x) = (random.blocks(1, 3, 48), random.bytes(rows * 128));
    let (filters, band) = (filters(&blocks), Band { first: 0, rows });
    let (row, held) = ring(&p, 1);
    let words = ((held * row + 256) / 4).next_multiple_of(16);
    thread::scope(|scope| {
        let _leave = Leave(&leave);
        scope.spawn(|| crew.help(|| !leave.load(Ordering::Relaxed)));
        while crew.helpers() == 0 {
            thread::yield_now();
        }
        for _ in 0..if cfg!(miri) { 1 } else { 50 } {
            let run = |cores: usize, held: usize, above: usize| {
                let mut memory = vec![0; above];
                memory.extend(&x);
                let (mut work, mut apart) = (vec![0; cores * words], vec![0; rows * 128]);
                let all = cells(&mut memory);
                let x = Rows::whole(&all[above..], 128);
                let y = if held < rows { &cells(&mut apart)[..held * 128] } else { &all[..rows * 128] };
                let (y, work) = (Rows::ring(y, 128, held), cells(&mut work));
                match cores {
                    1 => kernels::conv2d_i8_simd::<false>(&p, x, &filters, 1, work, y, band),
                    _ => {
                        kernels::conv2d_i8_simd_crew::<false>(&crew, cores, &p, x, &filters, 1, work, y, band)
                    }
                }
                (memory, apart)
            };
            // One row and padding above the operand, or a ring of seven rows.
            assert!(run(1, rows, 128) == run(2, rows, 128));
            assert!(run(1, 7, 0) == run(2, 7, 0));
        }
    });
}
