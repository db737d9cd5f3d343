//! Convolutions in tiles of two pixels and four filters, and what all layers with filters have in common.

use super::*;
use crate::select::conv::Images;

/// Tiles that the kernel of Winograd's algorithm computes together.
pub(super) const TILES: usize = 2;

/// Winograd's algorithm, where it computes the layer and there is flash for its weights.
pub(super) fn winograd(asked: &Asked<'_>, shape: Sizes) -> Vec<Kernel> {
    let proof = asked.winograd.and_then(|_| asked.proof(Gains::None)).filter(|proof| proof.form.is_some());
    let Some(proof) = proof else { return Vec::new() };
    Side::up_to(asked.winograd).map(|side| Kernel::Winograd(shape, side, proof.clone())).collect()
}

impl<'a> Selector<'a> {
    /// Tiles by Winograd's algorithm.
    pub(super) fn winograd(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        side: Side,
        kernel: KernelId,
        proof: &Proof,
    ) -> Selected {
        let (layer, form) = (&proof.layer, proof.form.as_deref());
        let mut words = Vec::new();
        for first in winograd::fours(layer) {
            words.extend(winograd::pack(layer, shape, side, first, winograd::Shared::Channels));
            words.extend((first..first + 4).map(|o| pack::first(layer, form, o)));
            words.extend(pack::corrections_first(form, first..first + 4));
        }
        let generics = self.requant(node, proof)?.generics();
        let pad = Arg::Int(self.ty(node.operands[0]).zero_point().into());
        let between = [self.words(&words), pad, self.workspace()?];
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = [Arg::Struct(self.conv_params(shape))];
        self.call_on(images, kernel, &generics, &conv, &between, &[]);
        Ok(())
    }

    /// Pairs of pixels, from a window of 16-bit elements.
    pub(super) fn tiled(&mut self, node: &'a Node, shape: &Sizes, proof: &Proof) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pairs = pack::columns_first(shape);
        let (weights, requant) = self.packed(node, proof, &pairs, Tiling::Quads)?;
        let (unroll, out) = (special::unroll(pairs.len()), shape.out_strides());
        let special = self.special.contains(&special::Instance::of(shape));
        let (kernel, sizes) = match (&requant, points(shape), special) {
            (Requant::Affine(_), true, true) => {
                (KernelId::Conv2dI8DspPoints, vec![pairs.len(), out.0, out.1])
            }
            (Requant::Affine(_), true, false) => (KernelId::Conv2dI8DspPointsSmall, Vec::new()),
            (Requant::Affine(_), false, true) => {
                (KernelId::Conv2dI8Dsp, vec![shape.second_pixel(), pairs.len(), unroll, out.0, out.1])
            }
            (Requant::Affine(_), false, false) => (KernelId::Conv2dI8DspSmall, Vec::new()),
            (Requant::Exact(_), ..) => (KernelId::Conv2dI8DspExact, Vec::new()),
        };
        let is_special = matches!(kernel, KernelId::Conv2dI8Dsp | KernelId::Conv2dI8DspPoints);
        let mut generics: Vec<Generic> = sizes.into_iter().map(Generic::Size).collect();
        generics.extend(requant.generics());
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let work = self.workspace()?;
        let fields = vec![("pixel", int(out.0)), ("channel", int(out.1))];
        // What is no part of the instance is told at run time.
        let out = (!is_special).then_some(Arg::Struct(Struct { name: "Stride", fields }));
        let x = self.image_rows(x, shape.images, shape.in_h)?;
        let y = self.image_rows(y, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let conv = Arg::Struct(self.conv_params(shape));
        let between: Vec<Arg> = [weights, pad, work].into_iter().chain(requant.argument()).collect();
        self.call_on(images, kernel, &generics, &[conv], &between, out.as_slice());
        Ok(())
    }

    /// Pairs of pixels, from copies of their taps.
    pub(super) fn patches(&mut self, node: &'a Node, shape: &Sizes, proof: &Proof) -> Selected {
        let pairs = pack::crossed(1, shape.taps());
        let (weights, requant) = self.packed(node, proof, &pairs, Tiling::Quads)?;
        let (pixel, channel) = shape.out_strides();
        let special = self.special.contains(&special::Instance::of_patches(shape));
        let sizes = if special { [pairs.len(), channel] } else { [0; 2] };
        let generics: Vec<Generic> = sizes.map(Generic::Size).into_iter().chain(requant.generics()).collect();
        let pad = Arg::Int(self.ty(node.operands[0]).zero_point().into());
        let between = [weights, pad, self.workspace()?];
        let fields = vec![("pixel", int(pixel)), ("channel", int(channel))];
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        let (conv, out) =
            (Arg::Struct(self.conv_params(shape)), Arg::Struct(Struct { name: "Stride", fields }));
        self.call_on(images, KernelId::Conv2dI8DspPatches, &generics, &[conv], &between, &[out]);
        Ok(())
    }

    /// The packed filters of a layer as an argument, and how their sums become results.
    pub(super) fn packed(
        &mut self,
        node: &'a Node,
        proof: &Proof,
        pairs: &pack::Pairs,
        tiling: Tiling,
    ) -> Result<(Arg, Requant), Problem> {
        let words = pack::filters(&proof.layer, pairs, proof.form.as_deref(), tiling);
        let requant = self.requant(node, proof)?;
        Ok((self.words(&words), requant))
    }

    /// Packed filters as an argument.
    pub(super) fn words(&mut self, words: &[i32]) -> Arg {
        self.constant_arg("WEIGHTS", Data::from_i32(words), Element::I32)
    }

    /// A kernel's arguments for how sums become results.
    pub(super) fn requant(&mut self, node: &'a Node, proof: &Proof) -> Result<Requant, Problem> {
        if let Some(fitted) = &proof.form {
            return Ok(Requant::Affine(fitted.form));
        }
        let (multipliers, clamp) = self.fixed_point(node)?;
        Ok(Requant::Exact(self.requant_struct(node, multipliers, clamp)))
    }
}

/// How sums become results.
pub(super) enum Requant {
    /// In the cheap form, whose parameters are packed with the weights.
    Affine(Form),
    /// As the reference does, with these parameters.
    Exact(Struct),
}

impl Requant {
    pub(super) fn argument(&self) -> Option<Arg> {
        match self {
            Requant::Affine(_) => None,
            Requant::Exact(parameters) => Some(Arg::Struct(parameters.clone())),
        }
    }

    /// What a kernel is told of the form: its shift, and whether it is signed.
    pub(super) fn generics(&self) -> Vec<Generic> {
        match self {
            Requant::Affine(form) => vec![Generic::Size(form.shift as usize), Generic::Flag(form.signed)],
            Requant::Exact(_) => Vec::new(),
        }
    }
}
