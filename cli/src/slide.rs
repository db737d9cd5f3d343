//! A long sequence of frames for a sliding model, with what the interpreter makes of each window.

use anyhow::{bail, Result};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data, Graph};

/// Frames of a sequence, at least: those of three windows, and these.
const FRAMES: usize = 200;

/// Frames, and the outputs after each of them.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The input of each step: one frame.
    pub frames: Vec<Vec<Data>>,
    /// The outputs after each step; none where no window is complete.
    pub outputs: Vec<Vec<Data>>,
}

impl Sequence {
    /// The rows of some windows one after the other and, for integers, noise in turns. A window has so many `rows`, and there is one every
    /// `hop` frames.
    ///
    /// # Errors
    /// Where the windows do not fit the graph.
    pub fn new(graph: &Graph, windows: &[Vec<Data>], rows: usize, hop: usize) -> Result<Sequence> {
        let [input] = graph.inputs[..] else { bail!("a sliding model has one input") };
        let row = graph.ty(input).bytes() / rows.max(1);
        let window = |k: usize| windows.get(k % windows.len().max(1)).and_then(|inputs| inputs.first());
        let mut noise = 0x9e37_79b9_u32;
        let mut frames: Vec<Vec<u8>> = Vec::new();
        let mut next = 0;
        while frames.len() < FRAMES.max(3 * rows) {
            let Some(data) = window(next) else { bail!("there is no window to begin with") };
            frames.extend(data.bytes().chunks(row.max(1)).map(<[u8]>::to_vec));
            next += 1;
            if !matches!(graph.ty(input).dtype, DType::F32 | DType::Bool) {
                frames.extend((0..rows / 2 + 1).map(|_| (0..row).map(|_| random(&mut noise)).collect()));
            }
        }
        let mut machine = Machine::new(graph);
        let mut outputs = Vec::new();
        for count in 1..=frames.len() {
            let complete = count >= rows && (count - rows) % hop.max(1) == 0;
            outputs.push(match complete {
                true => machine.run(&[Data::new(frames[count - rows..count].concat())])?,
                false => Vec::new(),
            });
        }
        Ok(Sequence { frames: frames.into_iter().map(|frame| vec![Data::new(frame)]).collect(), outputs })
    }
}

/// Marsaglia's xorshift32.
fn random(state: &mut u32) -> u8 {
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    (*state >> 24) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outputs_are_those_of_the_latest_rows() {
        let graph = Graph::parse(
            "graph \"sum\" {
               input %x: i8[1,3,1,1]
               %y: i8[1,1,1,1] = max_pool2d(%x) {window = [3, 1], clamp = -128..=127}
               return %y
             }",
        )
        .unwrap();
        let windows = [vec![Data::from_i8(&[1, 5, 2])], vec![Data::from_i8(&[3, -4, -5])]];
        let Sequence { frames, outputs } = Sequence::new(&graph, &windows, 3, 2).unwrap();
        assert!(frames.len() >= FRAMES && outputs.len() == frames.len());
        assert!(outputs.iter().enumerate().all(|(k, o)| o.len() == usize::from(k >= 2 && k % 2 == 0)));
        assert_eq!(outputs[2][0].to_i8(), [5]);
        for (k, output) in outputs.iter().enumerate().filter(|(_, o)| !o.is_empty()) {
            let latest = frames[k - 2..=k].iter().flat_map(|f| f[0].to_i8()).max();
            assert_eq!(output[0].to_i8()[0], latest.unwrap());
        }
    }
}
