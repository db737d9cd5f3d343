//! Records of decision trees, as the op `trees` has them.

/// How a branch compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The feature is at most the number.
    AtMost,
    /// The feature is the number.
    Equal,
}

/// A record of a tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Record {
    /// Goes on at the next record, or further on.
    Branch {
        /// What is asked.
        test: Test,
        /// Of which feature; at most [`Record::MOST_FEATURES`].
        feature: u16,
        /// What it is compared with.
        number: f32,
        /// Whether a feature that is no number goes on at the next record.
        missing: bool,
        /// How many records further on it goes otherwise.
        otherwise: u16,
    },
    /// An end.
    Leaf {
        /// To which target the number is added.
        target: u16,
        /// What is added.
        number: f32,
        /// Whether the next record belongs to the same leaf.
        more: bool,
    },
}

const LEAF: u16 = 1 << 15;
const MISSING: u16 = 1 << 14;
const EQUAL: u16 = 1 << 13;
const MORE: u16 = 1;

impl Record {
    /// Most features that records can name.
    pub const MOST_FEATURES: usize = EQUAL as usize;

    /// The two numbers of the table.
    pub fn write(self) -> [i32; 2] {
        let (number, what, link) = match self {
            Record::Branch { test, feature, number, missing, otherwise } => {
                let equal = if test == Test::Equal { EQUAL } else { 0 };
                let missing = if missing { MISSING } else { 0 };
                (number, feature & (EQUAL - 1) | equal | missing, otherwise)
            }
            Record::Leaf { target, number, more } => (number, LEAF | if more { MORE } else { 0 }, target),
        };
        [number.to_bits() as i32, (u32::from(link) << 16 | u32::from(what)) as i32]
    }

    /// From the two numbers of the table.
    pub fn read([number, what]: [i32; 2]) -> Record {
        let number = f32::from_bits(number as u32);
        let (link, what) = ((what as u32 >> 16) as u16, what as u16);
        match what & LEAF {
            0 => Record::Branch {
                test: if what & EQUAL == 0 { Test::AtMost } else { Test::Equal },
                feature: what & (EQUAL - 1),
                number,
                missing: what & MISSING != 0,
                otherwise: link,
            },
            _ => Record::Leaf { target: link, number, more: what & MORE != 0 },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        for test in [Test::AtMost, Test::Equal] {
            for missing in [false, true] {
                let branch = Record::Branch { test, feature: 8191, number: -1.5, missing, otherwise: 65535 };
                assert_eq!(Record::read(branch.write()), branch);
                let leaf = Record::Leaf { target: 65535, number: 0.25, more: missing };
                assert_eq!(Record::read(leaf.write()), leaf);
            }
        }
    }
}
