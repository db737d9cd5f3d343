//! Test cases on their way to a model, and its outputs on their way back.
//!
//! Both files are little-endian and hold tensors as the raw bytes of their elements, with no padding anywhere.
//!
//! | case file | | output file | |
//! |---|---|---|---|
//! | `KILNCASE` | 8 bytes | `KILNOUTS` | 8 bytes |
//! | flags | u32: bit 0 = the cases are one sequence | | |
//! | cases | u32 | cases | u32 |
//! | inputs | u32 | outputs | u32 |
//! | length of each input | u32 each, in bytes | length of each output | u32 each, in bytes |
//! | cases, each with its inputs in order | | cases: u8, whether its outputs are complete; if so, they in order | |
//!
//! A model is reset before every case, or only before the first where the cases are one sequence. A case of a model that is fed by rows
//! is its whole input, or a single row of it: the cases of a sequence of rows have outputs whenever one completes them.
use crate::Error;

/// One tensor's elements, little-endian.
pub type Bytes = Vec<u8>;

/// Inputs for a number of runs of one model.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Cases {
    /// Whether the cases are steps of one sequence: state is kept from one to the next.
    pub sequence: bool,
    /// Inputs of each case, in the model's order.
    pub inputs: Vec<Vec<Bytes>>,
}

/// Outputs of each case, in the model's order; none where a row completed no outputs.
pub type Outputs = Vec<Vec<Bytes>>;

const CASES_MAGIC: &[u8; 8] = b"KILNCASE";
const OUTPUTS_MAGIC: &[u8; 8] = b"KILNOUTS";

impl Cases {
    /// The case file.
    ///
    /// # Errors
    /// [`Error::Malformed`] where cases differ in the number or the lengths of their inputs.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let lengths: Vec<usize> = self.inputs.first().map(|case| lengths(case)).unwrap_or_default();
        for (index, case) in self.inputs.iter().enumerate() {
            let found = self::lengths(case);
            if found != lengths {
                return Err(malformed(
                    "cases",
                    format!("case 0 has inputs of {lengths:?} bytes, case {index} of {found:?}"),
                ));
            }
        }
        let mut bytes = CASES_MAGIC.to_vec();
        let counts = [usize::from(self.sequence), self.inputs.len(), lengths.len()];
        for word in counts.iter().chain(&lengths) {
            let word =
                u32::try_from(*word).map_err(|_| malformed("cases", format!("{word} is too large")))?;
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(self.inputs.iter().flatten().flatten());
        Ok(bytes)
    }
}

/// Reads an output file.
///
/// # Errors
/// [`Error::Malformed`] where it is not one, or is longer or shorter than it says.
pub fn parse_outputs(bytes: &[u8]) -> Result<Outputs, Error> {
    let mut rest = Reader(bytes);
    if rest.take(8) != Some(OUTPUTS_MAGIC) {
        return Err(malformed("output file", "it does not start with KILNOUTS".to_owned()));
    }
    rest.outputs().filter(|_| rest.0.is_empty()).ok_or_else(|| {
        malformed("output file", format!("its {} bytes are not what its header says", bytes.len()))
    })
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<usize> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes) as usize)
    }

    fn outputs(&mut self) -> Option<Outputs> {
        let (cases, outputs) = (self.word()?, self.word()?);
        // Collecting stops at the first `None`, so a hostile count ends with the bytes.
        let lengths: Vec<usize> = (0..outputs).map(|_| self.word()).collect::<Option<_>>()?;
        let case = |_| match self.take(1)? {
            [0] => Some(Vec::new()),
            _ => lengths.iter().map(|&length| Some(self.take(length)?.to_vec())).collect(),
        };
        (0..cases).map(case).collect()
    }
}

fn lengths(tensors: &[Bytes]) -> Vec<usize> {
    tensors.iter().map(Vec::len).collect()
}

fn malformed(what: &str, why: String) -> Error {
    Error::Malformed { what: what.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_file_is_laid_out_as_documented() {
        let cases = Cases {
            sequence: true,
            inputs: vec![vec![vec![1, 2, 3], vec![4]], vec![vec![5, 6, 7], vec![8]]],
        };
        let words: Vec<u8> = [1u32, 2, 2, 3, 1].iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(
            cases.to_bytes().unwrap(),
            [b"KILNCASE".as_slice(), &words, &[1, 2, 3, 4, 5, 6, 7, 8]].concat()
        );
    }

    #[test]
    fn cases_of_different_shape_are_refused() {
        let cases = Cases { sequence: false, inputs: vec![vec![vec![1]], vec![vec![1, 2]]] };
        assert!(cases
            .to_bytes()
            .unwrap_err()
            .to_string()
            .contains("case 0 has inputs of [1] bytes, case 1 of [2]"));
    }

    #[test]
    fn outputs_are_read_back() {
        let words: Vec<u8> = [3u32, 2, 1, 2].iter().flat_map(|word| word.to_le_bytes()).collect();
        let file = [b"KILNOUTS".as_slice(), &words, &[1, 1, 2, 3, 0, 1, 4, 5, 6]].concat();
        let cases = vec![vec![vec![1], vec![2, 3]], vec![], vec![vec![4], vec![5, 6]]];
        assert_eq!(parse_outputs(&file).unwrap(), cases);
        for end in 0..file.len() {
            assert!(parse_outputs(&file[..end]).is_err(), "truncated at {end}");
        }
        assert!(parse_outputs(&[file.as_slice(), &[0]].concat()).is_err());
    }
}
