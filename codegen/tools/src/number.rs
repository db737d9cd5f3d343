//! Numbers for people.

/// A number with commas between groups of three digits.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A quantity in three significant digits; whole numbers from 100 on.
pub fn significant(quantity: f64) -> String {
    // The exponent of what it is rounded to.
    let scientific = format!("{quantity:.2e}");
    let exponent: i32 = scientific.split('e').nth(1).and_then(|text| text.parse().ok()).unwrap_or(0);
    match usize::try_from(2 - exponent) {
        Ok(decimals @ 1..) => format!("{quantity:.decimals$}"),
        _ => grouped(quantity.round() as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_have_three_digits() {
        let quantities = [0.000_123_4, 0.085_49, 1.0, 9.999, 99.96, 412.6, 5312.4];
        let texts = ["0.000123", "0.0855", "1.00", "10.0", "100", "413", "5,312"];
        assert_eq!(quantities.map(significant), texts);
        assert_eq!(significant(0.0), "0.00");
    }

    #[test]
    fn digits_are_in_groups_of_three() {
        assert_eq!([0, 999, 1000, 2_656_768].map(grouped), ["0", "999", "1,000", "2,656,768"]);
    }
}
