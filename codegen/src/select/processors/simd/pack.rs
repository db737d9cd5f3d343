//! Filters in blocks of sixteen.

use super::integers::{depthwise_taps, period, BLOCK};
use crate::ir::{DType, Data, Multiplier};
use crate::requant::{choose_floats, Channel, Constants, FloatChoice, Reference, Scaling};
use crate::select::kernel::Asked;
use crate::select::layer::Layer as Numbers;
use crate::select::{Generic, Shape};
use std::rc::Rc;

/// A layer of integers whose factors are proven for every channel.
#[derive(Clone, Debug)]
pub(in crate::select) struct Layer {
    numbers: Rc<Numbers>,
    /// Of each filter, as [`settle`] leaves them.
    bias: Vec<i32>,
    /// What becomes of the sums of each filter.
    pub(super) choice: FloatChoice,
    /// Smallest and largest result.
    pub(super) clamp: (i32, i32),
}

impl Layer {
    /// The layer of a node; `None` where a channel has no proof.
    pub(super) fn of(asked: &Asked<'_>) -> Option<Layer> {
        let numbers = asked.layer().filter(|_| asked.graph.ty(asked.node.result).dtype == DType::I8)?;
        let (mut bias, mut references) = (numbers.bias.clone(), numbers.references.clone());
        settle(&numbers, &mut bias, &mut references);
        let channel = |(o, reference): (usize, &Reference)| {
            // A settled filter has no weights.
            let range = numbers.range(o).plus(bias[o].wrapping_sub(numbers.bias[o]));
            Channel { reference: *reference, range, gain_bits: 0 }
        };
        let channels: Vec<Channel> = references.iter().enumerate().map(channel).collect();
        let choice = choose_floats(&channels).ok()?;
        Some(Layer { clamp: numbers.clamp, numbers, bias, choice })
    }

    /// The kernels' argument `SYMMETRIC`: that no weight is −128.
    pub(super) fn symmetric(&self) -> Generic {
        let lowest = |o: usize| self.numbers.filter(o).contains(&i8::MIN);
        Generic::Flag(!(0..self.bias.len()).any(lowest))
    }
}

/// Gives filters without weights, whose result never changes, a factor of a quarter: theirs may be one that no kernel takes, or nothing.
fn settle(numbers: &Numbers, bias: &mut [i32], references: &mut [Reference]) {
    for (o, (bias, reference)) in bias.iter_mut().zip(references).enumerate() {
        if numbers.filter(o).iter().all(|&w| w == 0) && !matches!(reference.scaling, Scaling::Float(_)) {
            let result = reference.apply(*bias);
            *bias = 4 * (result - reference.zero_point);
            reference.multiplier = Multiplier { value: 1 << 30, shift: -1 };
        }
    }
}

/// What a block begins with: of its filters the first values for unsigned operands, for signed ones, and both constants of the rounding. Filters that are not there are zeros.
fn header(layer: &Layer, filters: &[usize; BLOCK], packed: &mut Vec<u8>) {
    let bias = |o: usize| layer.bias.get(o).copied().unwrap_or(0);
    let sum = |o: usize| layer.numbers.filter(o).iter().map(|&w| i32::from(w)).sum::<i32>();
    let constants = |o: usize| match layer.choice.constants.get(o) {
        Some(Constants::Floats(factor, constant)) => [factor.to_le_bytes(), constant.to_le_bytes()],
        Some(Constants::Integers(multiplier, shift)) => [multiplier.to_le_bytes(), shift.to_le_bytes()],
        None => [[0; 4]; 2],
    };
    packed.extend(filters.iter().flat_map(|&o| bias(o).wrapping_sub(sum(o).wrapping_mul(128)).to_le_bytes()));
    packed.extend(filters.iter().flat_map(|&o| bias(o).to_le_bytes()));
    for which in 0..2 {
        packed.extend(filters.iter().flat_map(|&o| constants(o)[which]));
    }
}

/// Filters over all channels: of each block and of each run of taps sixteen times four taps, one after the other.
pub(super) fn conv(layer: &Layer, shape: &Shape) -> Data {
    let joined = shape.dilation_w == 1 || shape.k_w == 1;
    let run = if joined { shape.k_w * shape.in_c } else { shape.in_c };
    let runs = shape.taps() / run.max(1);
    let mut packed = Vec::new();
    for first in (0..layer.bias.len()).step_by(BLOCK) {
        let filters = std::array::from_fn(|lane| first + lane);
        header(layer, &filters, &mut packed);
        for (base, tap) in (0..runs).flat_map(|r| (0..run).step_by(4).map(move |tap| (r * run, tap))) {
            for filter in filters.map(|o| layer.numbers.filter(o)) {
                let weight =
                    |tap: usize| filter.get(base + tap).filter(|_| tap < run).map_or(0, |&w| w as u8);
                packed.extend((tap..tap + 4).map(weight));
            }
        }
    }
    Data::new(packed)
}

/// One filter for each channel: blocks of elements of a row, until the channels begin again.
pub(super) fn depthwise(layer: &Layer, shape: &Shape) -> Data {
    let channels = shape.in_c;
    let groups = depthwise_taps(shape);
    let mut packed = Vec::new();
    for block in 0..period(channels) {
        let filters = std::array::from_fn(|lane| (block * BLOCK + lane) % channels.max(1));
        header(layer, &filters, &mut packed);
        for taps in &groups {
            for filter in filters.map(|c| layer.numbers.filter(c)) {
                let inside = |ky: usize, kx: usize| ky < shape.k_h && kx < shape.k_w;
                let weight = |&(ky, kx): &(usize, usize)| {
                    filter.get(ky * shape.k_w + kx).filter(|_| inside(ky, kx)).map_or(0, |&w| w as u8)
                };
                packed.extend(taps.iter().map(weight));
            }
        }
    }
    Data::new(packed)
}
