//! Weights that flash holds in fewer bits than they are computed with.
//!
//! It is their values that count, not how the file stores them: `i8` weights that fit 4 bits, floats that are numbers of half precision, and floats that are
//! integers with scales ([`scaled`](super::scaled)). Kernels unpack them as they read them.

use super::scaled::Scaled;
use super::{Arg, Element, Field, Selector, Struct};
use crate::ir::{DType, Data, Graph, Node, Op, Rescale};
use crate::{Optimize, Options, Weights};
use kiln_kernel_table::KernelId;

/// How a layer's weights are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Two's complement of 4 bits, two to a byte, the first in the low half.
    Nibbles,
    /// IEEE 754 half precision.
    Halves,
    /// Integers of 8 bits with scales, of floats.
    ScaledBytes,
    /// Integers of 4 bits with scales, of floats.
    ScaledNibbles,
}

/// Bytes that packing one layer has to save where nobody asked for it: its kernels are code of their own.
const LEAST_SAVED: usize = 1024;

/// How the weights of a node are packed; `None` where they are as wide as they are computed with.
pub fn packing(graph: &Graph, node: &Node, options: &Options) -> Option<Packing> {
    packed(graph, node, options).map(|(packing, _)| packing)
}

/// Bytes of flash that the packed weights of a node take less; 0 where they are not packed.
pub fn packing_saves(graph: &Graph, node: &Node, options: &Options) -> usize {
    packed(graph, node, options).map_or(0, |(_, saved)| saved)
}

/// How the weights of a node are packed, and how many bytes that saves.
fn packed(graph: &Graph, node: &Node, options: &Options) -> Option<(Packing, usize)> {
    let least = match (options.weights, options.optimize) {
        (Some(Weights::Packed), _) => 1,
        (None, Optimize::Size) => LEAST_SAVED,
        _ => return None,
    };
    let weights = match node.op {
        // Its kernel knows whole weights only.
        Op::Dense { rescale: Rescale::Float(_), .. } => return None,
        Op::Conv2d { rescale: Rescale::Float(_) | Rescale::Once(_), .. } => return None,
        Op::Conv2d { .. } | Op::Dense { .. } => 1,
        Op::DynamicConv2d { .. } | Op::DynamicDense { .. } => 2,
        _ => return None,
    };
    let (&x, &w) = (node.operands.first()?, node.operands.get(weights)?);
    let data = graph.const_data(w)?;
    let layer = [x, w, node.result].map(|id| graph.ty(id).dtype);
    let bytes = data.bytes().len();
    if bytes < least {
        return None;
    }
    let packed = match layer {
        [DType::I8, DType::I8, DType::I8 | DType::F32] if are_nibbles(data) => (Packing::Nibbles, bytes / 2),
        [DType::F32, DType::F32, DType::F32] => floats(graph, node, data)?,
        _ => return None,
    };
    (packed.1 >= least).then_some(packed)
}

/// How float weights are packed best, and how many bytes that saves.
fn floats(graph: &Graph, node: &Node, weights: &Data) -> Option<(Packing, usize)> {
    let bytes = weights.bytes().len();
    let scaled = scaled(graph, node).map(|scaled| {
        let packing = if scaled.are_nibbles { Packing::ScaledNibbles } else { Packing::ScaledBytes };
        (packing, bytes.saturating_sub(scaled.bytes()))
    });
    match scaled {
        Some((_, saved)) if saved > bytes / 2 => scaled,
        _ if are_halves(weights) => Some((Packing::Halves, bytes / 2)),
        _ => scaled,
    }
}

/// The weights of a float layer as integers with scales.
fn scaled(graph: &Graph, node: &Node) -> Option<Scaled> {
    let &w = node.operands.get(1)?;
    let filters = graph.ty(w).shape.dims().first().copied()?;
    // Of depthwise kernels, a channel has one scale.
    let by_parts = match node.op {
        Op::Conv2d { groups, .. } => groups == 1,
        _ => true,
    };
    Scaled::of(&graph.const_data(w)?.to_f32(), filters, by_parts)
}

/// Whether the weights of any layer are packed.
pub fn packs_any(graph: &Graph, options: &Options) -> bool {
    graph.nodes().any(|(_, node)| packing(graph, node, options).is_some())
}

fn are_nibbles(weights: &Data) -> bool {
    weights.bytes().iter().all(|&w| (-8..8).contains(&(w as i8)))
}

fn are_halves(weights: &Data) -> bool {
    weights.to_f32().into_iter().all(|w| half(w).is_some())
}

/// Bytes of 4 bits, two to a byte, the first in the low half.
fn pairs(weights: &[u8]) -> Data {
    let pair = |pair: &[u8]| pair[0] & 15 | pair.get(1).copied().unwrap_or(0) << 4;
    Data::new(weights.chunks(2).map(pair).collect::<Vec<_>>())
}

impl Packing {
    /// The weights, packed in their order. Those with scales are no longer the layer's numbers, and stay as they are.
    pub fn pack(self, weights: &Data) -> Data {
        match self {
            Packing::Nibbles => pairs(weights.bytes()),
            Packing::Halves => {
                let halves = weights.to_f32().into_iter().filter_map(half);
                Data::new(halves.flat_map(u16::to_le_bytes).collect::<Vec<_>>())
            }
            Packing::ScaledBytes | Packing::ScaledNibbles => weights.clone(),
        }
    }

    /// The kernel that reads such weights.
    pub(super) fn kernel(self, kernel: KernelId) -> KernelId {
        let packed = match self {
            Packing::Nibbles | Packing::Halves => kernel.packed(),
            Packing::ScaledBytes => kernel.in_bytes(),
            Packing::ScaledNibbles => kernel.in_nibbles(),
        };
        packed.unwrap_or(kernel)
    }
}

impl<'a> Selector<'a> {
    /// The kernels' `ScaledWeights` of a float layer, whose integers `order` puts in the order in which the kernel reads them; `None` where the layer's weights are floats in flash.
    pub(super) fn scaled_weights(&mut self, node: &'a Node, order: impl Fn(&Data) -> Data) -> Option<Arg> {
        let packing = self.packing(node);
        packing.filter(|packing| matches!(packing, Packing::ScaledBytes | Packing::ScaledNibbles))?;
        let scaled = scaled(self.graph, node)?;
        let ints = order(&Data::from_i8(&scaled.ints));
        let ints = if scaled.are_nibbles { pairs(ints.bytes()) } else { ints };
        let ints = self.step_constant("WEIGHTS", ints);
        let scales = self.step_constant("SCALES", Data::from_f32(&scaled.scales));
        let zero_points = match &scaled.zero_points[..] {
            [] => Field::Nothing,
            zeros => Field::Constant(self.step_constant("ZERO_POINTS", Data::from_i8(zeros)), Element::I8),
        };
        let fields = vec![
            ("ints", Field::Constant(ints, Element::I8)),
            ("scales", Field::Constant(scales, Element::F32)),
            ("zero_points", zero_points),
            ("group", Field::Int(scaled.group as i64)),
        ];
        Some(Arg::Struct(Struct { name: "ScaledWeights", fields }))
    }
}

/// The same number in half precision, if there is one with the same bits when it is widened.
fn half(single: f32) -> Option<u16> {
    let bits = single.to_bits();
    let (sign, magnitude) = ((bits >> 16) as u16 & 0x8000, bits & 0x7fff_ffff);
    let exponent = (magnitude >> 23) as i32 - 127;
    let mantissa = magnitude & 0x7f_ffff;
    let exact = |half: u32, lost: u32| (lost == 0).then_some(sign | half as u16);
    match exponent {
        -127 => exact(0, mantissa),
        // Multiples of 2⁻²⁴.
        -24..=-15 => {
            let (whole, shift) = (mantissa | 0x80_0000, (-1 - exponent) as u32);
            exact(whole >> shift, whole & ((1 << shift) - 1))
        }
        -14..=15 => exact(((exponent + 15) as u32) << 10 | mantissa >> 13, mantissa & 0x1fff),
        128 => exact(0x7c00 | mantissa >> 13, mantissa & 0x1fff),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the definition of half precision.
    fn single(half: u16) -> f32 {
        let (exponent, mantissa) = (i32::from(half >> 10 & 31), f32::from(half & 1023));
        let magnitude = match exponent {
            0 => mantissa * 2f32.powi(-24),
            31 => f32::from_bits(0x7f80_0000 | u32::from(half & 1023) << 13),
            _ => (1024.0 + mantissa) * 2f32.powi(exponent - 25),
        };
        f32::from_bits(magnitude.to_bits() | u32::from(half & 0x8000) << 16)
    }

    #[test]
    fn halves_are_found_if_and_only_if_there_are_any() {
        for bits in 0..=u16::MAX {
            assert_eq!(half(single(bits)), Some(bits), "{bits:#x}");
        }
        let others = [1.0 + f32::EPSILON, 65520.0, 2f32.powi(-25), 2f32.powi(-24) * 1.5, 1e-40, -1e30];
        assert!(others.iter().all(|&x| half(x).is_none()));
        assert_eq!(half(f32::from_bits(0x7f80_0001)), None);
    }

    #[test]
    fn small_code_packs_where_it_pays() {
        let saves = |weight: i32, filters: usize, options: &Options| {
            let graph = Graph::parse(&format!(
                "graph \"g\" {{
                   input %x: i8[1,64] q(0.5 : -3)
                   const %w: i8[{filters},64] q(0.5 : 0) = splat {weight}
                   %y: i8[1,{filters}] q(0.5 : -3) = dense(%x, %w) {{rescale = [1073741824 * 2^-1], clamp = -128..=127}}
                   return %y
                 }}"
            ));
            packs_any(&graph.unwrap(), options)
        };
        let (speed, size) = (Options::default(), Options { optimize: Optimize::Size, ..Options::default() });
        assert!(saves(7, 32, &size) && !saves(7, 31, &size) && !saves(8, 32, &size) && !saves(7, 32, &speed));
        let widened = Options { weights: Some(Weights::Widened), ..size };
        let packed = Options { weights: Some(Weights::Packed), ..speed };
        assert!(!saves(7, 32, &widened) && saves(7, 31, &packed) && !saves(-9, 31, &packed));
    }

    #[test]
    fn nibbles_are_packed_the_first_low() {
        let weights = Data::from_i8(&[7, -8, 0, -1, -3]);
        assert!(are_nibbles(&weights));
        assert_eq!(Packing::Nibbles.pack(&weights).bytes(), [0x87, 0xf0, 0x0d]);
        assert!(!are_nibbles(&Data::from_i8(&[8])) && !are_nibbles(&Data::from_i8(&[-9])));
    }
}
