//! The end of sums in plain Rust, as kernels share it.

/// `SSAT8((d·M + C·2³² + 2³¹) >> 32 >> shift)`, as `SMMLAR` and `SSAT` compute it.
#[inline(always)]
pub(super) fn affine(d: i32, [m, c]: [i32; 2], shift: u32) -> i8 {
    let product = i64::from(d).wrapping_mul(m.into()).wrapping_add(i64::from(c) << 32).wrapping_add(1 << 31);
    ((product >> 32) as i32 >> shift.min(31)).clamp(-128, 127) as i8
}

/// `d` of a signed form: the sum times 2^`gain`, and the correction more if it is negative.
#[inline(always)]
pub(super) fn corrected(sum: i32, gain: u32, correction: i32) -> i32 {
    sum.wrapping_shl(gain).wrapping_add(correction & (sum >> 31))
}

/// Words at the end of a quad: factors and constants, behind the corrections of signed layers.
pub(super) const fn requant_words(signed: bool) -> usize {
    if signed {
        12
    } else {
        8
    }
}

/// Results of a quad's sums, with the words at the end of `w`. Those of b and d are multiplied by 2^`gain` already.
#[inline(always)]
pub(super) fn quad(sums: [i32; 4], gain: u32, w: &[i32], shift: u32, signed: bool) -> [i8; 4] {
    let mut results = [0; 4];
    let end = w.get(w.len().saturating_sub(requant_words(signed))..).unwrap_or(&[]);
    let (corrections, factors) = end.split_at(end.len().saturating_sub(8));
    for (f, ((result, sum), factor)) in results.iter_mut().zip(sums).zip(factors.chunks_exact(2)).enumerate()
    {
        let &[m, c] = factor else { return results };
        let gain = if f % 2 == 1 { gain } else { 0 };
        let (d, gain) = match corrections.get(f) {
            None => (sum, gain),
            Some(&correction) => (corrected(sum, 8 - gain, correction), 8),
        };
        *result = affine(d, [m, c], shift.saturating_add(gain));
    }
    results
}
