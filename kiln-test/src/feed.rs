//! Inputs on their way into a model, whole or row by row.

use crate::Failure;
use kiln::{Feed, Model};
use kiln_codegen::ir::{Data, Type};
use std::collections::VecDeque;

/// Gives a model that does not slide one case, until its outputs are complete.
pub(crate) fn give<M: Model>(model: &mut M, case: &[Data]) -> Result<(), Failure> {
    let complete = match (M::INFO.feed, case) {
        (Feed::Whole, _) => {
            for (k, x) in case.iter().enumerate() {
                write(model, k, x.bytes())?;
            }
            model.invoke()
        }
        (_, [x]) => {
            let row = row_bytes(model, x.bytes().len())?;
            let mut complete = false;
            for (r, row) in x.bytes().chunks(row).enumerate() {
                if complete {
                    let what = format!(
                        "the outputs are complete after {r} rows, {} bytes early",
                        x.bytes().len() - r * row.len()
                    );
                    return Err(Failure::Interface(what));
                }
                write(model, 0, row)?;
                complete = model.invoke();
            }
            complete
        }
        _ => return Err(Failure::Interface(format!("it is fed by rows, and has {} inputs", case.len()))),
    };
    match complete {
        true => Ok(()),
        false => Err(Failure::Interface("the outputs are not complete when the input is".into())),
    }
}

/// The windows that a sliding model has seen.
pub(crate) struct Windows {
    /// Rows that are yet to be given.
    rows: VecDeque<Vec<u8>>,
    /// The latest rows that were given.
    window: VecDeque<Vec<u8>>,
    /// Rows of a window.
    height: usize,
    row: usize,
}

/// Most rows from one output of a sliding model to the next, in windows: more is taken for a model that gives none.
const PATIENCE: usize = 64;

impl Windows {
    /// Begins with a reset.
    pub(crate) fn new<M: Model>(model: &mut M, inputs: &[Type]) -> Result<Self, Failure> {
        let [ty] = inputs else {
            return Err(Failure::Interface(format!("it slides, and has {} inputs", inputs.len())));
        };
        model.reset();
        let row = row_bytes(model, ty.bytes())?;
        Ok(Windows { rows: VecDeque::new(), window: VecDeque::new(), height: ty.bytes() / row, row })
    }

    /// Gives rows until the outputs are complete, and returns the window they are of. `more` makes more rows.
    pub(crate) fn next<M: Model>(
        &mut self,
        model: &mut M,
        mut more: impl FnMut() -> Vec<Data>,
    ) -> Result<Vec<Data>, Failure> {
        for _ in 0..PATIENCE * self.height {
            if self.rows.is_empty() {
                let fresh = more();
                self.rows.extend(fresh.iter().flat_map(|x| x.bytes().chunks(self.row)).map(<[u8]>::to_vec));
            }
            let Some(row) = self.rows.pop_front() else { break };
            write(model, 0, &row)?;
            self.window.push_back(row);
            if self.window.len() > self.height {
                self.window.pop_front();
            }
            if model.invoke() {
                if self.window.len() < self.height {
                    let what =
                        format!("it gives outputs after {} of {} rows", self.window.len(), self.height);
                    return Err(Failure::Interface(what));
                }
                return Ok(vec![Data::new(self.window.iter().flatten().copied().collect::<Vec<u8>>())]);
            }
        }
        Err(Failure::Interface("it slides, and gives no outputs".into()))
    }
}

fn row_bytes<M: Model>(model: &mut M, input: usize) -> Result<usize, Failure> {
    match model.input_bytes_mut(0).len() {
        row if row > 0 && input % row == 0 => Ok(row),
        row => Err(Failure::Interface(format!("a row has {row} bytes, the input {input}"))),
    }
}

fn write<M: Model>(model: &mut M, input: usize, bytes: &[u8]) -> Result<(), Failure> {
    let to = model.input_bytes_mut(input);
    if to.len() != bytes.len() {
        let what = format!("input {input} has {} bytes, not {}", to.len(), bytes.len());
        return Err(Failure::Interface(what));
    }
    to.copy_from_slice(bytes);
    Ok(())
}
