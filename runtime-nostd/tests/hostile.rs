//! Safe code that passes what no compiler would: sizes whose products wrap, rows that are too short, strides of 0. Kernels read and write nothing but their operands, and return.
//! In a debug build, arithmetic that overflows panics here.
#![forbid(unsafe_code)]

use kiln::kernels::*;
use std::cell::Cell;

/// Half of the bits: the product of two wraps to 0.
const HALF: usize = 1 << (usize::BITS / 2);

fn cells<T>(data: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(data).as_slice_of_cells()
}

/// A list, or what there is time for under Miri: a few of it.
fn some<T: std::marker::Copy>(all: &[T]) -> impl Iterator<Item = T> + '_ {
    all.iter().copied().step_by(if cfg!(miri) { 6 } else { 1 })
}

fn point() -> Conv {
    Conv {
        in_h: 1,
        in_w: 1,
        in_c: 16,
        out_w: 1,
        out_c: 16,
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

fn window() -> Pool {
    Pool {
        in_h: 1,
        in_w: 1,
        c: 16,
        out_w: 1,
        k_h: 1,
        k_w: 1,
        stride_h: 1,
        stride_w: 1,
        pad_top: 0,
        pad_left: 0,
    }
}

const ONE: Band = Band { first: 0, rows: 1 };

#[test]
fn rows_of_a_convolution_may_be_too_short() {
    let p = Conv { in_w: 4096, out_w: 4096, ..point() };
    let (mut x, mut y) = (vec![1.0f32; 16], vec![7.0f32; 4096 * 16]);
    let w = vec![0.5f32; 16 * 17];
    let (x, y) = (cells(&mut x), cells(&mut y));
    conv2d_f32_simd(&p, Rows::whole(x, 16), &w, f32::MIN, f32::MAX, &[], Rows::whole(y, 4096 * 16), ONE);
    assert!(y.iter().all(|y| y.get() == 7.0));
}

#[test]
fn rows_of_results_may_wrap() {
    for (out_w, stride_w) in [(1 << (usize::BITS - 4), 0), (HALF, HALF), (usize::MAX, usize::MAX)] {
        let p = Pool { out_w, stride_w, ..window() };
        let (mut x, mut y) = (vec![1.0f32; 16], vec![7.0f32; 16]);
        let (x, y) = (cells(&mut x), cells(&mut y));
        avg_pool2d_f32_simd(&p, Rows::whole(x, 16), f32::MIN, f32::MAX, Rows::whole(y, 16), ONE);
        max_pool2d_f32_simd(&p, Rows::whole(x, 16), f32::MIN, f32::MAX, Rows::whole(y, 16), ONE);
        assert!(y.iter().all(|y| y.get() == 7.0));
    }
}

#[test]
fn windows_may_wrap() {
    for (k_h, k_w) in [(1, (1 << (usize::BITS - 4)) + 1), (usize::MAX, 1), (1, usize::MAX), (1, 0), (0, 1)] {
        let p = Pool { k_h, k_w, ..window() };
        let (mut x, mut y) = (vec![1i8; 16], vec![7i8; 16]);
        let (x, y) = (cells(&mut x), cells(&mut y));
        let mean = MeanLinear { factor: 1, start: 0 };
        mean_pool2d_i8_simd(&p, Rows::whole(x, 16), &mean, Rows::whole(y, 16), ONE);
        assert!(x.iter().all(|x| x.get() == 1));
    }
}

#[test]
fn columns_may_stand_still() {
    for out_w in [1, 5, 1 << (usize::BITS - 4), usize::MAX] {
        for channels in [16, 3, 1001] {
            let size =
                Conv { out_w, in_c: channels, out_c: channels, stride_w: 0, groups: channels, ..point() };
            let (mut x, mut y) = (vec![1.0f32; channels], vec![7.0f32; channels]);
            let (w, mut work) = (vec![0.5f32; 2 * 1008], vec![0.0f32; 4096]);
            let (x, y, work) = (cells(&mut x), cells(&mut y), cells(&mut work));
            let (x, y) = (Rows::whole(x, channels), Rows::whole(y, channels));
            depthwise2d_f32_simd(&size, x, &w, f32::MIN, f32::MAX, work, y, ONE);
            assert!(y.row(0).iter().all(|y| y.get() == 7.0));
        }
    }
}

#[test]
fn sizes_of_a_convolution_may_be_anything() {
    let odd = [0, 1, 2, 3, 17, HALF, HALF + 1, usize::MAX / 16 + 1, usize::MAX / 2, usize::MAX];
    let w = vec![0.5f32; 16 * 65];
    let (mut x, mut y, mut work) = (vec![1.0f32; 64], vec![7.0f32; 64], vec![0.0f32; 1024]);
    let (x, y, work) = (cells(&mut x), cells(&mut y), cells(&mut work));
    let fields: [fn(&mut Conv) -> &mut usize; 13] = [
        |p| &mut p.in_h,
        |p| &mut p.in_w,
        |p| &mut p.in_c,
        |p| &mut p.out_w,
        |p| &mut p.out_c,
        |p| &mut p.k_h,
        |p| &mut p.k_w,
        |p| &mut p.stride_h,
        |p| &mut p.stride_w,
        |p| &mut p.dilation_h,
        |p| &mut p.dilation_w,
        |p| &mut p.pad_top,
        |p| &mut p.pad_left,
    ];
    for first in some(&fields) {
        for second in some(&fields) {
            for a in some(&odd) {
                for b in some(&odd) {
                    let mut p = point();
                    *first(&mut p) = a;
                    *second(&mut p) = b;
                    for band in
                        [ONE, Band { first: 1, rows: 3 }, Band { first: usize::MAX, rows: usize::MAX }]
                    {
                        let (xs, ys) = (Rows::ring(x, 16, 4), Rows::ring(y, 16, 4));
                        conv2d_f32_simd(&p, xs, &w, f32::MIN, f32::MAX, work, ys, band);
                        depthwise2d_f32_simd(&p, xs, &w, f32::MIN, f32::MAX, work, ys, band);
                        conv2d_f32_simd_reproducible(&p, xs, &w, f32::MIN, f32::MAX, work, ys, band);
                        depthwise2d_f32_simd_reproducible(&p, xs, &w, f32::MIN, f32::MAX, work, ys, band);
                    }
                }
            }
        }
    }
}

#[test]
fn bytes_of_a_convolution_may_be_anything() {
    let odd = [0, 1, 2, 3, 17, HALF, HALF + 1, usize::MAX / 16 + 1, usize::MAX];
    let blocks = vec![1i8; 4096];
    let filters =
        FilterBlocks { blocks: &blocks, rounding: Rounding::Twice, zero_point: 0, lo: -128, hi: 127 };
    let (mut x, mut y, mut work) = (vec![1i8; 64], vec![7i8; 64], vec![0i32; 1024]);
    let (x, y, work) = (cells(&mut x), cells(&mut y), cells(&mut work));
    for in_w in some(&odd) {
        for in_c in some(&odd) {
            for k_h in some(&odd) {
                for k_w in some(&odd) {
                    for stride_w in some(&[0, 1, 2, HALF, usize::MAX]) {
                        for dilation_w in some(&[0, 1, 3, HALF]) {
                            let (out_w, out_c) = (in_w, in_c);
                            let p =
                                Conv { in_w, in_c, k_h, k_w, stride_w, dilation_w, out_w, out_c, ..point() };
                            let (xs, ys) = (Rows::ring(x, 16, 4), Rows::ring(y, 16, 4));
                            let band = Band { first: 1, rows: usize::MAX };
                            conv2d_i8_simd::<false>(&p, xs, &filters, 0, work, ys, band);
                            depthwise2d_i8_simd::<false>(&p, xs, &filters, 0, work, ys, band);
                        }
                    }
                }
            }
        }
    }
}
