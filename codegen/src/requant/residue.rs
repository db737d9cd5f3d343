//! The smallest multiple of a number that lies in a window, modulo another.

/// The smallest `x ≥ 0` with `lo ≤ a·x mod m ≤ hi`, for `0 ≤ lo ≤ hi < m` and `0 ≤ a < m`.
///
/// Like Euclid's algorithm: where no multiple of `a` lies in the window before the first wrap, the number of wraps is the solution of the
/// same problem modulo `a`.
fn smallest_factor(a: i128, m: i128, lo: i128, hi: i128) -> Option<i128> {
    if lo == 0 {
        return Some(0);
    }
    if a == 0 {
        return None;
    }
    if 2 * a > m {
        return smallest_factor(m - a, m, m - hi, m - lo);
    }
    let x = (lo + a - 1) / a;
    if x * a <= hi {
        return Some(x);
    }
    let wraps = smallest_factor(m % a, a, (-hi).rem_euclid(a), (-lo).rem_euclid(a))?;
    Some((lo + m * wraps + a - 1) / a)
}

/// The `x` nearest to zero with `a·x ≡ k (mod m)` for some `k` in `lo..=hi`. `None` if there is none.
pub(super) fn nearest_factor(a: i64, m: i64, lo: i64, hi: i64) -> Option<i64> {
    let (a, m) = (i128::from(a).rem_euclid(m.into()), i128::from(m));
    let begin = i128::from(lo).rem_euclid(m);
    let end = begin + (i128::from(hi) - i128::from(lo));
    if end < begin {
        return None;
    }
    // The window holds a multiple of m.
    if end >= m {
        return Some(0);
    }
    let up = smallest_factor(a, m, begin, end);
    let down = smallest_factor((m - a) % m, m, begin, end);
    let nearest = match (up, down) {
        (Some(up), Some(down)) if down < up => -down,
        (Some(up), _) => up,
        (None, down) => -down?,
    };
    i64::try_from(nearest).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_trying_all() {
        for m in 1..24i64 {
            for a in -3..m {
                for lo in -5..m {
                    for hi in lo - 1..lo + m {
                        let hits = |x: i64| (lo..=hi).any(|k| (a * x - k).rem_euclid(m) == 0);
                        let expected = (0..=m).find(|&x| hits(x) || hits(-x));
                        let found = nearest_factor(a, m, lo, hi);
                        assert_eq!(found.map(i64::abs), expected, "{a}·x in {lo}..={hi} mod {m}");
                        assert!(found.is_none_or(hits));
                    }
                }
            }
        }
    }

    #[test]
    fn large_numbers() {
        let (a, m) = (0x6b3f_19d7i64, 1i64 << 32);
        for target in [1, 12_345, 0x8000_0000i64, m - 1] {
            let x = nearest_factor(a, m, target, target).unwrap();
            assert_eq!((i128::from(a) * i128::from(x)).rem_euclid(m.into()), target.into());
        }
        assert_eq!(nearest_factor(2, 1 << 32, 1, 1), None);
    }
}
