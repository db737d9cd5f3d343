//! Elements of outputs as numbers.

use kiln_ir::{DType, Data, Type};

/// The numbers that a tensor's elements stand for: those that are quantised stand for `scale · (stored − zero point)`.
pub fn numbers(ty: &Type, data: &Data) -> Vec<f64> {
    if ty.dtype == DType::F32 {
        return data.to_f32().into_iter().map(f64::from).collect();
    }
    let scale =
        ty.quant.as_ref().and_then(|quant| quant.scales.first()).map_or(1.0, |scale| f64::from(scale.0));
    let zero = i64::from(ty.zero_point());
    data.to_ints(ty.dtype).into_iter().map(|stored| scale * (stored - zero) as f64).collect()
}

/// The indices of the largest numbers, the largest first and of equal ones the first. What is no number comes last.
pub fn largest(numbers: &[f64], count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    let key = |index: usize| if numbers[index].is_nan() { f64::NEG_INFINITY } else { numbers[index] };
    let compare = |&a: &usize, &b: &usize| key(b).total_cmp(&key(a)).then(a.cmp(&b));
    if count < order.len() {
        order.select_nth_unstable_by(count, compare);
        order.truncate(count);
    }
    order.sort_unstable_by(compare);
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_come_first() {
        let numbers = [0.5, f64::NAN, 2.0, -1.0, 2.0, 0.0];
        assert_eq!(largest(&numbers, 3), [2, 4, 0]);
        assert_eq!(largest(&numbers, 9), [2, 4, 0, 5, 3, 1]);
        assert_eq!(largest(&[], 5), [0; 0]);
    }

    #[test]
    fn quantised_elements_are_what_they_stand_for() {
        let ty = Type::quantized(DType::I8, &[3], 0.5, -128);
        assert_eq!(numbers(&ty, &Data::from_i8(&[-128, -28, 127])), [0.0, 50.0, 127.5]);
        assert_eq!(numbers(&Type::plain(DType::I32, &[1]), &Data::from_i32(&[-7])), [-7.0]);
    }
}
