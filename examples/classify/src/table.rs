//! What was seen as what.

use std::fmt;

/// How often each digit was seen as each.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// By the digit that was meant, then by the one that was seen.
    counts: [[usize; 10]; 10],
}

impl Table {
    /// Counts a digit.
    pub fn count(&mut self, meant: usize, seen: usize) {
        self.counts[meant][seen] += 1;
    }

    /// Digits that were seen as what they are.
    pub fn right(&self) -> usize {
        (0..10).map(|digit| self.counts[digit][digit]).sum()
    }

    fn all(&self) -> usize {
        self.counts.iter().flatten().sum()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "meant  seen as 0   1   2   3   4   5   6   7   8   9")?;
        for (digit, row) in self.counts.iter().enumerate() {
            write!(f, "{digit:5}        ")?;
            for count in row {
                match count {
                    0 => write!(f, "   ·")?,
                    count => write!(f, "{count:4}")?,
                }
            }
            writeln!(f)?;
        }
        let (right, all) = (self.right(), self.all());
        writeln!(f, "{right} of {all} right, {:.2} %", 100.0 * right as f64 / all.max(1) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_shown() {
        let mut table = Table::default();
        table.count(3, 3);
        table.count(3, 3);
        table.count(9, 4);
        assert_eq!(table.right(), 2);
        let text = table.to_string();
        assert!(text.contains("    3           ·   ·   ·   2   ·"), "{text}");
        assert!(text.ends_with("2 of 3 right, 66.67 %\n"), "{text}");
    }
}
