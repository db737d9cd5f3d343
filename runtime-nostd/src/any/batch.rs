//! Many inputs through one model.

use super::{check_count, copy, AnyError, AnyModel, Which};
use crate::{ModelInfo, TensorInfo};

/// Runs a model on many inputs, one after the other, and says on how many.
///
/// `inputs` has the bytes of each input of the model: those of the first inference, behind them those of the second, and so on. So has `outputs`
/// room for each output. The inferences do not depend on each other: a model with state is [`reset`](AnyModel::reset) before each of them.
///
#[cfg_attr(feature = "macros", doc = "```")]
#[cfg_attr(not(feature = "macros"), doc = "```ignore")]
/// use kiln::any::{batch, bytes_of_mut};
///
/// kiln::include_model!(Digits = "../examples/digits/models/digits_int8.tflite");
///
/// let mut digits = Digits::new();
/// let images = [7; 3 * 64]; // of i8, as of u8: bytes
/// let mut scores = [[0i8; 10]; 3];
/// assert_eq!(batch(&mut digits, &[&images], &mut [bytes_of_mut(scores.as_flattened_mut())]), Ok(3));
/// assert_eq!(scores[0], scores[2]);
/// ```
///
/// # Errors
/// Where inputs or outputs are not as many as the model's, or their bytes are no whole number of tensors, the same for all. Nothing is computed then.
pub fn batch(
    model: &mut (dyn AnyModel + '_),
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<usize, AnyError> {
    let info = model.info();
    let count = count(info, inputs, outputs)?;
    run(model, count, inputs, outputs)?;
    Ok(count)
}

/// How many inferences the bytes are for.
pub(super) fn count(info: &ModelInfo, inputs: &[&[u8]], outputs: &[&mut [u8]]) -> Result<usize, AnyError> {
    check_count(info, inputs.len())?;
    match info.outputs.len() {
        expected if expected != outputs.len() => {
            return Err(AnyError::Outputs { expected, given: outputs.len() });
        }
        _ => {}
    }
    let inputs = inputs.iter().map(|bytes| bytes.len()).zip(info.inputs).enumerate();
    let outputs = outputs.iter().map(|bytes| bytes.len()).zip(info.outputs).enumerate();
    let inputs = inputs.map(|(index, (given, tensor))| (Which::Input(index), tensor.bytes(), given));
    let tensors =
        inputs.chain(outputs.map(|(index, (given, tensor))| (Which::Output(index), tensor.bytes(), given)));
    let mut count = None;
    for (which, each, given) in tensors {
        match count {
            Some(count) => {
                let expected = each.saturating_mul(count);
                if given != expected {
                    return Err(AnyError::Bytes { which, expected, given });
                }
            }
            None if given.checked_rem(each).unwrap_or(given) == 0 => count = given.checked_div(each),
            None => return Err(AnyError::Uneven { which, each, given }),
        }
    }
    Ok(count.unwrap_or(0))
}

/// Runs a model `count` times, on tensors that are as many.
pub(super) fn run(
    model: &mut (dyn AnyModel + '_),
    count: usize,
    inputs: &[&[u8]],
    outputs: &mut [&mut [u8]],
) -> Result<(), AnyError> {
    let info = model.info();
    for item in 0..count {
        if info.state_bytes > 0 {
            model.reset();
        }
        model.feed(|index, start, to| {
            let each = info.inputs.get(index).map_or(0, TensorInfo::bytes);
            copy(
                inputs.get(index).and_then(|bytes| bytes.get(item * each + start..)).unwrap_or_default(),
                to,
            );
        })?;
        for (index, (output, tensor)) in outputs.iter_mut().zip(info.outputs).enumerate() {
            if let Some(to) = output.get_mut(item * tensor.bytes()..) {
                copy(model.output_bytes(index), to);
            }
        }
    }
    Ok(())
}
