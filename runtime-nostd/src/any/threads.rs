//! Many inputs through several instances of a model at once.

use super::{batch, AnyError, AnyModel};
use core::borrow::BorrowMut;
use std::thread::{Builder, Scope, ScopedJoinHandle};
use std::vec::Vec;

/// As [`batch`](super::batch()), in as many threads as there are instances of the model: each runs on a share of the inputs, one of them in the caller's thread.
///
/// Outputs are in the order of the inputs, and the same as one instance would give. Threads end before this returns.
///
#[cfg_attr(feature = "macros", doc = "```")]
#[cfg_attr(not(feature = "macros"), doc = "```ignore")]
/// use kiln::any::{batch_in_threads, AnyModel};
/// use std::thread::available_parallelism;
///
/// kiln::include_model!(Digits = "../examples/digits/models/digits_int8.tflite");
///
/// let threads = available_parallelism().map_or(1, usize::from);
/// let mut digits: Vec<Box<dyn AnyModel>> = (0..threads).map(|_| Box::new(Digits::new()) as _).collect();
/// let (images, mut scores) = (vec![7; 1000 * 64], vec![0; 1000 * 10]);
/// assert_eq!(batch_in_threads(&mut digits, &[&images], &mut [&mut scores]), Ok(1000));
/// assert_eq!(scores[..10], scores[9990..]);
/// ```
///
/// # Errors
/// As [`batch`](super::batch()), and where there is no model, the models differ, or the system gives no further thread: then some of the outputs may have been written.
pub fn batch_in_threads<'m, M: BorrowMut<dyn AnyModel + 'm> + Send>(
    models: &mut [M],
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<usize, AnyError> {
    let (first, others) = models.split_first_mut().ok_or(AnyError::NoModel)?;
    let info = first.borrow_mut().info();
    if others.iter().any(|other| other.borrow().info() != info) {
        return Err(AnyError::DifferentModels);
    }
    let count = batch::count(info, inputs, outputs)?;
    let mut rest = Share {
        inputs: inputs.to_vec(),
        outputs: outputs.iter_mut().map(|bytes| &mut **bytes).collect(),
        count,
    };
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        let mut left = others.len();
        for model in others {
            // As even as can be, the larger ones last: the caller's thread begins when all others have.
            let share = rest.split(rest.count / (left + 1));
            left -= 1;
            if share.count > 0 {
                threads.push(spawn(scope, model, share)?);
            }
        }
        rest.run(first.borrow_mut())?;
        for thread in threads {
            // Whatever panics is no model of Kiln's.
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        }
        Ok(count)
    })
}

fn spawn<'scope, 'm, M: BorrowMut<dyn AnyModel + 'm> + Send>(
    scope: &'scope Scope<'scope, '_>,
    model: &'scope mut M,
    mut share: Share<'scope>,
) -> Result<ScopedJoinHandle<'scope, Result<(), AnyError>>, AnyError> {
    let run = move || share.run(model.borrow_mut());
    Builder::new().spawn_scoped(scope, run).map_err(|_| AnyError::NoThread)
}

/// Inputs and outputs of some inferences that follow each other.
struct Share<'a> {
    inputs: Vec<&'a [u8]>,
    outputs: Vec<&'a mut [u8]>,
    count: usize,
}

impl<'a> Share<'a> {
    /// The first `count` of them, which are no longer part of this.
    fn split(&mut self, count: usize) -> Share<'a> {
        let all = self.count.max(1);
        let mut first = Share { inputs: Vec::new(), outputs: Vec::new(), count };
        for bytes in &mut self.inputs {
            let (before, after) = bytes.split_at(bytes.len() / all * count);
            first.inputs.push(before);
            *bytes = after;
        }
        for bytes in &mut self.outputs {
            let end = bytes.len() / all * count;
            let (before, after) = core::mem::take(bytes).split_at_mut(end);
            first.outputs.push(before);
            *bytes = after;
        }
        self.count -= count;
        first
    }

    fn run(&mut self, model: &mut (dyn AnyModel + '_)) -> Result<(), AnyError> {
        batch::run(model, self.count, &self.inputs, &mut self.outputs)
    }
}
