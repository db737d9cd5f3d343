//! Cells of recurrent layers: what a step computes from its input and the states before.

use super::activation::{activation, name_of};
use super::conv_lstm::Images;
use super::cx::Cx;
use super::{short, Lowered, Refusal};
use crate::keras::model::{numbered, Layer};
use crate::keras::value::Value;
use kiln_ir::{Clamp, Op, Rescale, ValueId};
use std::collections::HashMap;

/// A cell.
pub(super) enum Cell<'c> {
    Simple(Gates<'c>),
    Lstm(Gates<'c>),
    Gru(Gates<'c>),
    Images(Box<Images<'c>>),
    /// One cell on top of another.
    Stack(Vec<Cell<'c>>),
}

/// The numbers of a cell.
pub(super) struct Gates<'c> {
    pub(super) units: usize,
    pub(super) inputs: usize,
    /// \[gates · units, inputs\], in Keras's order of gates.
    pub(super) kernel: Vec<f32>,
    /// \[gates · units, units\].
    pub(super) recurrent: Vec<f32>,
    /// Of products with inputs, and with states: \[gates · units\].
    pub(super) bias: [Vec<f32>; 2],
    pub(super) has_bias: bool,
    pub(super) reset_after: bool,
    pub(super) activation: &'c Value,
    pub(super) recurrent_activation: &'c Value,
    constants: Option<Constants>,
}

/// The same, in the graph.
#[derive(Clone, Copy)]
struct Constants {
    kernel: ValueId,
    bias: Option<ValueId>,
    /// All gates, or of a GRU the first two.
    recurrent: (ValueId, Option<ValueId>),
    /// The last gate of a GRU.
    hidden: Option<(ValueId, Option<ValueId>)>,
}

/// A state's size without the batch.
pub(super) type Size = Vec<usize>;

impl<'c> Cell<'c> {
    /// The cell of that layer, whose variables are at a path inside of the layer that is lowered.
    pub(super) fn read(cx: &mut Cx<'_, '_, '_>, layer: Layer<'c>, inner: &str) -> Lowered<Cell<'c>> {
        Ok(match layer.class {
            "SimpleRNNCell" => Cell::Simple(Gates::read(cx, layer, inner, 1)?),
            "LSTMCell" => Cell::Lstm(Gates::read(cx, layer, inner, 4)?),
            "GRUCell" => Cell::Gru(Gates::read(cx, layer, inner, 3)?),
            "ConvLSTMCell" => Cell::Images(Box::new(Images::read(cx, layer, inner)?)),
            "StackedRNNCells" => {
                let mut used = HashMap::new();
                let mut cells = Vec::new();
                for value in layer.config.get("cells").list() {
                    let cell = Layer::read(value)?;
                    if cell.class == layer.class {
                        return Err(Refusal::unsupported(
                            "stacks of stacks of cells cannot be compiled",
                            "use one stack",
                        ));
                    }
                    let name = numbered(&mut used, cell.class);
                    cells.push(Cell::read(cx, cell, &format!("{inner}/cells/{name}"))?);
                }
                malformed_if!(cells.is_empty(), "it has no cells");
                Cell::Stack(cells)
            }
            other => {
                let what = format!("cells of the class {} cannot be compiled", short(other));
                return Err(Refusal::unsupported(what, "use SimpleRNNCell, GRUCell or LSTMCell"));
            }
        })
    }

    /// The sizes of its states, where a step has inputs of that size.
    pub(super) fn sizes(&self, input: &[usize]) -> Lowered<Vec<Size>> {
        Ok(match self {
            Cell::Simple(gates) | Cell::Gru(gates) => vec![vec![gates.units]],
            Cell::Lstm(gates) => vec![vec![gates.units]; 2],
            Cell::Images(images) => vec![images.size(input)?; 2],
            Cell::Stack(cells) => {
                let mut all = Vec::new();
                for cell in cells {
                    all.extend(cell.sizes(input)?);
                }
                all
            }
        })
    }

    /// What each step has of its inputs, for all steps of \[batch, steps, …\] at once.
    pub(super) fn projected(&mut self, cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
        match self {
            Cell::Simple(gates) | Cell::Lstm(gates) => gates.projected(cx, x, false),
            Cell::Gru(gates) => gates.projected(cx, x, true),
            Cell::Images(images) => images.projected(cx, x),
            Cell::Stack(_) => Ok(x),
        }
    }

    /// The output of a step, and the states behind it.
    pub(super) fn step(
        &mut self,
        cx: &mut Cx<'_, '_, '_>,
        x: ValueId,
        states: &[ValueId],
    ) -> Lowered<(ValueId, Vec<ValueId>)> {
        match self {
            Cell::Simple(gates) => gates.simple(cx, x, states),
            Cell::Lstm(gates) => gates.lstm(cx, x, states),
            Cell::Gru(gates) => gates.gru(cx, x, states),
            Cell::Images(images) => images.step(cx, x, states),
            Cell::Stack(cells) => {
                let (mut y, mut after, mut first) = (x, Vec::new(), 0);
                for cell in cells {
                    let own = cell.count();
                    let x = cell.projected(cx, y)?;
                    let states =
                        states.get(first..first + own).ok_or_else(|| malformed!("it has too few states"))?;
                    let (out, new) = cell.step(cx, x, states)?;
                    (y, first) = (out, first + own);
                    after.extend(new);
                }
                Ok((y, after))
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Cell::Simple(_) | Cell::Gru(_) => 1,
            Cell::Lstm(_) | Cell::Images(_) => 2,
            Cell::Stack(cells) => cells.iter().map(Cell::count).sum(),
        }
    }

    /// About how many operations a step is.
    pub(super) fn work(&self) -> usize {
        match self {
            Cell::Simple(_) => 5,
            Cell::Gru(_) => 16,
            Cell::Lstm(_) => 18,
            Cell::Images(_) => 24,
            Cell::Stack(cells) => cells.iter().map(Cell::work).sum(),
        }
    }
}

/// A matrix \[rows, columns\] turned.
fn turned(numbers: &[f32], rows: usize, columns: usize) -> Vec<f32> {
    (0..columns)
        .flat_map(|column| (0..rows).map(move |row| (row, column)))
        .map(|(row, column)| numbers[row * columns + column])
        .collect()
}

impl<'c> Gates<'c> {
    fn read(cx: &mut Cx<'_, '_, '_>, layer: Layer<'c>, inner: &str, gates: usize) -> Lowered<Self> {
        let config = layer.config;
        let (kernel, recurrent) = (cx.weights(inner, 0)?, cx.weights(inner, 1)?);
        let (&[inputs, columns], &[units, others]) = (kernel.dims(), recurrent.dims()) else {
            return Err(malformed!("its kernel is {:?}", kernel.dims()));
        };
        let all = gates.saturating_mul(units);
        malformed_if!(columns != all || others != all || units == 0, "its kernel is {:?}", kernel.dims());
        cx.importer.budget.charge(kernel.ty.bytes() + recurrent.ty.bytes())?;
        let reset_after = config.get("reset_after").flag(!cx.shared.is_old || gates == 3);
        let has_bias = config.get("use_bias").flag(true);
        let none = vec![0.0; all];
        let bias = match (has_bias, gates == 3 && reset_after) {
            (false, _) => [none.clone(), none],
            (true, true) => {
                let both = cx.floats_of(inner, 2, 2 * all)?;
                [both[..all].to_vec(), both[all..].to_vec()]
            }
            (true, false) => [cx.floats_of(inner, 2, all)?, none],
        };
        let is_float = [&kernel, &recurrent].iter().all(|weights| weights.ty.dtype == kiln_ir::DType::F32);
        malformed_if!(!is_float, "its weights are no floats");
        Ok(Gates {
            units,
            inputs,
            kernel: turned(&kernel.data.to_f32(), inputs, all),
            recurrent: turned(&recurrent.data.to_f32(), units, all),
            bias,
            has_bias,
            reset_after,
            activation: config.get("activation"),
            recurrent_activation: config.get("recurrent_activation"),
            constants: None,
        })
    }

    /// The names of its activations, where ONNX has them: of gates, and of states.
    pub(super) fn plain(&self) -> Option<[&'static str; 2]> {
        let known = |value: &Value| match name_of(value) {
            "tanh" => Some("Tanh"),
            "sigmoid" => Some("Sigmoid"),
            "relu" => Some("Relu"),
            _ => None,
        };
        let of_gates = if self.recurrent_activation.is_null() {
            Some("Sigmoid")
        } else {
            known(self.recurrent_activation)
        };
        Some([of_gates?, known(self.activation)?])
    }

    fn constants(&mut self, cx: &mut Cx<'_, '_, '_>, is_gru: bool) -> Lowered<Constants> {
        if let Some(constants) = self.constants {
            return Ok(constants);
        }
        let (units, all) = (self.units, self.bias[0].len());
        let first = if is_gru { 2 * units } else { all };
        let mut bias = |numbers: &[f32], has: bool| match has && self.has_bias {
            true => cx.float_constant("bias", &[numbers.len()], numbers).map(Some),
            false => Ok(None),
        };
        let after = is_gru && self.reset_after;
        let (own, of_states) = (bias(&self.bias[0], true)?, bias(&self.bias[1][..first], after)?);
        let of_hidden = bias(&self.bias[1][first..], after)?;
        let kernel = cx.float_constant("kernel", &[all, self.inputs], &self.kernel)?;
        let recurrent = &self.recurrent[..first * units];
        let recurrent = cx.float_constant("recurrent_kernel", &[first, units], recurrent)?;
        let hidden = match is_gru {
            true => {
                let numbers = &self.recurrent[first * units..];
                Some((cx.float_constant("recurrent_kernel", &[units, units], numbers)?, of_hidden))
            }
            false => None,
        };
        let constants = Constants { kernel, bias: own, recurrent: (recurrent, of_states), hidden };
        self.constants = Some(constants);
        Ok(constants)
    }

    fn projected(&mut self, cx: &mut Cx<'_, '_, '_>, x: ValueId, is_gru: bool) -> Lowered<ValueId> {
        let constants = self.constants(cx, is_gru)?;
        malformed_if!(cx.dims(x).last() != Some(&self.inputs), "its kernel does not fit {}", cx.shown(x));
        product(cx, x, constants.kernel, constants.bias)
    }

    fn gate(&self, cx: &mut Cx<'_, '_, '_>, gates: ValueId, k: usize) -> Lowered<ValueId> {
        cx.part(gates, 1, k * self.units, self.units, 1)
    }

    fn of_gates(&self, cx: &mut Cx<'_, '_, '_>, x: ValueId) -> Lowered<ValueId> {
        match self.recurrent_activation.is_null() {
            true => cx.sigmoid(x),
            false => activation(cx, self.recurrent_activation, x),
        }
    }

    fn simple(
        &mut self,
        cx: &mut Cx<'_, '_, '_>,
        x: ValueId,
        states: &[ValueId],
    ) -> Lowered<(ValueId, Vec<ValueId>)> {
        let &[hidden] = states else { return Err(malformed!("it has {} states", states.len())) };
        let (recurrent, bias) = self.constants(cx, false)?.recurrent;
        let kept = product(cx, hidden, recurrent, bias)?;
        let sum = cx.sum(x, kept)?;
        let y = activation(cx, self.activation, sum)?;
        Ok((y, vec![y]))
    }

    fn lstm(
        &mut self,
        cx: &mut Cx<'_, '_, '_>,
        x: ValueId,
        states: &[ValueId],
    ) -> Lowered<(ValueId, Vec<ValueId>)> {
        let &[hidden, cell] = states else { return Err(malformed!("it has {} states", states.len())) };
        let (recurrent, bias) = self.constants(cx, false)?.recurrent;
        let kept = product(cx, hidden, recurrent, bias)?;
        let sums = cx.sum(x, kept)?;
        let mut gates = Vec::new();
        for k in [0, 1, 3] {
            let gate = self.gate(cx, sums, k)?;
            gates.push(self.of_gates(cx, gate)?);
        }
        let new = self.gate(cx, sums, 2)?;
        let new = activation(cx, self.activation, new)?;
        let (kept, added) = (cx.product(gates[1], cell)?, cx.product(gates[0], new)?);
        let cell = cx.sum(kept, added)?;
        let shown = activation(cx, self.activation, cell)?;
        let y = cx.product(gates[2], shown)?;
        Ok((y, vec![y, cell]))
    }

    fn gru(
        &mut self,
        cx: &mut Cx<'_, '_, '_>,
        x: ValueId,
        states: &[ValueId],
    ) -> Lowered<(ValueId, Vec<ValueId>)> {
        let &[hidden] = states else { return Err(malformed!("it has {} states", states.len())) };
        let constants = self.constants(cx, true)?;
        let Some(of_hidden) = constants.hidden else { return Err(malformed!("it has no gates")) };
        let both = cx.part(x, 1, 0, 2 * self.units, 1)?;
        let kept = product(cx, hidden, constants.recurrent.0, constants.recurrent.1)?;
        let sum = cx.sum(both, kept)?;
        let gates = self.of_gates(cx, sum)?;
        let (update, reset) = (self.gate(cx, gates, 0)?, self.gate(cx, gates, 1)?);
        let own = self.gate(cx, x, 2)?;
        let kept = match self.reset_after {
            true => {
                let product = product(cx, hidden, of_hidden.0, of_hidden.1)?;
                cx.product(reset, product)?
            }
            false => {
                let kept = cx.product(reset, hidden)?;
                product(cx, kept, of_hidden.0, of_hidden.1)?
            }
        };
        let sum = cx.sum(own, kept)?;
        let new = activation(cx, self.activation, sum)?;
        let one = cx.number(update, 1.0)?;
        let rest = cx.difference(one, update)?;
        let (old, new) = (cx.product(update, hidden)?, cx.product(rest, new)?);
        let y = cx.sum(old, new)?;
        Ok((y, vec![y]))
    }
}

fn product(cx: &mut Cx<'_, '_, '_>, x: ValueId, weights: ValueId, bias: Option<ValueId>) -> Lowered<ValueId> {
    let mut dims = cx.dims(x);
    let rows = cx.dims(weights)[0];
    if let Some(last) = dims.last_mut() {
        *last = rows;
    }
    let operands: Vec<ValueId> = [x, weights].into_iter().chain(bias).collect();
    cx.add_like(Op::Dense { rescale: Rescale::Real, clamp: Clamp::NO_FLOAT }, &operands, &dims)
}
