//! Single pixels, one, four or eight filters at a time: dense layers, and convolutions of images one pixel wide.

use super::conv::Requant;
use super::*;
use crate::select::conv::rows;

/// Weights from which on a layer is worth the code for eight filters at a time, and filters from which on it is worth that for the last ones too.
const MANY_WEIGHTS: usize = 1024;
const MANY_FILTERS: usize = 32;

/// Filters up to which each of them by itself is faster than a quad that is mostly zeros.
const FEW_FILTERS: usize = 2;

/// How many filters of a layer of so many taps can be taken at a time, with the proofs; `dense`: in a product with a matrix. Without a cheap form they are taken four at a time.
pub(super) fn tilings(asked: &Asked<'_>, filters: usize, taps: usize, dense: bool) -> Vec<(Tiling, Proof)> {
    let fitted = |tiling: Tiling| {
        let proof = asked.proof(tiling.gains()).filter(|proof| proof.form.is_some())?;
        Some((tiling, proof))
    };
    let few = dense && filters <= FEW_FILTERS;
    if let Some(dots) = (few && !asked.all).then(|| fitted(Tiling::Dots)).flatten() {
        return vec![dots];
    }
    let (eights, left) = ((filters + 3) / 8, filters % 8);
    let no_quad = left == 0 || left > 4;
    let worth_eights = filters * taps >= MANY_WEIGHTS && (no_quad || filters >= MANY_FILTERS);
    let eights = (worth_eights || asked.all && eights > 0).then(|| fitted(Tiling::Eights(eights))).flatten();
    let quads = asked.proof(Tiling::Quads.gains()).map(|proof| (Tiling::Quads, proof));
    let dots = (asked.all && dense).then(|| fitted(Tiling::Dots)).flatten();
    quads.into_iter().chain(eights).chain(dots).collect()
}

impl<'a> Selector<'a> {
    /// Images one pixel wide, row by row.
    pub(super) fn column(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        tiling: Tiling,
        proof: &Proof,
    ) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let run = shape.k_w * shape.in_c;
        let dense = is_dense(shape);
        let (weights, requant) = self.packed(node, proof, &pack::crossed(shape.k_h, run), tiling)?;
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let rx = self.image_rows(x, shape.images, shape.in_h)?;
        let ry = self.image_rows(y, shape.images, shape.out_h)?;
        for image in 0..shape.images {
            let (rx, ry) = (rows(rx, shape.images, image), rows(ry, shape.images, image));
            let mut args = match dense {
                true => vec![rx, weights.clone()],
                false => vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), pad.clone()],
            };
            args.extend(requant.argument());
            args.extend([ry, self.band(shape.out_h)]);
            self.single(dense, shape.out_c, tiling, &requant, args);
        }
        Ok(())
    }

    /// Rows of a matrix.
    pub(super) fn dense_rows(&mut self, node: &'a Node, tiling: Tiling, proof: &Proof) -> Selected {
        let [x, y, band] = self.matrix_rows(node)?;
        let (k, n) = (self.ty(node.operands[0]).shape.last(), self.ty(node.result).shape.last());
        let (weights, requant) = self.packed(node, proof, &pack::crossed(1, k), tiling)?;
        let mut args = vec![x, weights];
        args.extend(requant.argument());
        args.extend([y, band]);
        self.single(true, n, tiling, &requant, args);
        Ok(())
    }

    /// Rows of a matrix, with results of 16 bits.
    pub(super) fn dense_wide(&mut self, node: &'a Node, layer: &Layer) -> Selected {
        let by = match &node.op {
            Op::Dense { rescale, clamp } => self.one_factor(node, rescale, clamp),
            _ => None,
        };
        let by = by.ok_or_else(|| self.no_kernel(node))?;
        let [x, y, band] = self.matrix_rows(node)?;
        let k = self.ty(node.operands[0]).shape.last();
        let words: Vec<i32> = layer.weights.chunks(k.max(1)).flat_map(pack::bytes).collect();
        let weights = self.words(&words);
        let bias = self.constant_arg("BIAS", Data::from_i32(&layer.bias), Element::I32);
        self.call(KernelId::DenseI8I16Dsp, vec![x, weights, bias, by, y, band]);
        Ok(())
    }

    /// A call of the kernel that takes as many filters at a time, and requantises so.
    fn single(&mut self, dense: bool, filters: usize, tiling: Tiling, requant: &Requant, args: Vec<Arg>) {
        let mut generics = requant.generics();
        let kernel = match (requant, tiling) {
            (Requant::Exact(_), _) if dense => KernelId::DenseI8DspExact,
            (Requant::Exact(_), _) => KernelId::Conv1I8DspExact,
            (_, Tiling::Eights(eights)) => {
                generics.push(Generic::Flag(filters > 8 * eights));
                if dense {
                    KernelId::DenseI8DspEights
                } else {
                    KernelId::Conv1I8DspEights
                }
            }
            (_, Tiling::Dots) => KernelId::DenseI8DspDot,
            (_, Tiling::Quads) if dense => KernelId::DenseI8Dsp,
            (_, Tiling::Quads) => KernelId::Conv1I8Dsp,
        };
        self.call_generic(kernel, generics, args);
    }
}
