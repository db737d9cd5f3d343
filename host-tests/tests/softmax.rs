//! Softmax of rows so long that the fixed-point sum leaves its range: kernel and interpreter agree.
//!
//! TFLite's reference is undefined there (it shifts by 32 bits from 512 equal elements on). Both sides of Kiln say 0, which is what is
//! nearest to the true share.

use kiln_codegen::interp::{eval, softmax_exp_table};
use kiln_codegen::ir::{DType, Data, Multiplier, Op, Quant, Real, SoftmaxScale, Type};
use std::cell::Cell;

fn both(row: &[i8]) -> (Vec<i8>, Vec<i8>) {
    // A step of the operand is 1/16: 2^22 in Q5.26.
    let multiplier = Multiplier { value: 1 << 30, shift: 23 };
    let scale = SoftmaxScale::FixedPoint { multiplier, diff_min: -248 };
    let ty = |quant| Type { quant: Some(quant), ..Type::plain(DType::I8, &[1, row.len()]) };
    let (x, y) = (ty(Quant::per_tensor(1.0 / 16.0, 0)), ty(Quant::per_tensor(1.0 / 256.0, -128)));
    let exps = softmax_exp_table(&scale);
    let op = Op::Softmax { beta: Real(1.0), scale };
    let meant = eval(&op, &[(&x, &Data::from_i8(row))], &y).unwrap().to_i8();

    let cells: Vec<Cell<i8>> = row.iter().copied().map(Cell::new).collect();
    kiln::kernels::softmax_i8(row.len(), &exps, &cells, &cells);
    (meant, cells.iter().map(Cell::get).collect())
}

#[test]
fn equal_elements_of_any_number() {
    for depth in [1, 2, 255, 256, 257, 511, 512, 513, 1023, 1024, 4095, 4096, 4097, 8191, 8192, 8193, 20_000]
    {
        let (meant, computed) = both(&vec![7; depth]);
        assert_eq!(meant, computed, "{depth} elements");
        let share = (256.0 / depth as f64).round().min(255.0) as i32 - 128;
        assert!((i32::from(meant[0]) - share).abs() <= 1, "{depth} elements: {} for {share}", meant[0]);
    }
}

#[test]
fn one_large_among_many() {
    for depth in [600, 4096, 8192, 20_000] {
        let row: Vec<i8> =
            (0..depth).map(|i| if i == depth / 2 { 127 } else { (i % 128) as i8 + i8::MIN }).collect();
        let (meant, computed) = both(&row);
        assert_eq!(meant, computed, "{depth} elements");
    }
}
