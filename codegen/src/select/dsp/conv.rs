//! Convolutions in tiles of two pixels and four filters, and what all layers with filters have in common.

use super::pack::Tiling;
use super::*;
use crate::ir::Clamp;
use crate::kernel::needs_cheap_form;
use crate::select::conv::rows;

/// An integer layer in numbers.
pub(in crate::select) struct Layer {
    /// Of one filter after the other.
    pub(in crate::select) weights: Vec<i8>,
    /// Of each filter, with the operand's zero point folded in.
    pub(in crate::select) bias: Vec<i32>,
    /// What becomes of the sums of each filter.
    pub(in crate::select) references: Vec<Reference>,
}

impl Layer {
    /// The weights of filter `o`; none where there is no such filter.
    pub(in crate::select) fn filter(&self, o: usize) -> &[i8] {
        let taps = self.weights.len().checked_div(self.bias.len()).unwrap_or(0);
        self.weights.get(o * taps..(o + 1) * taps).unwrap_or(&[])
    }
}

impl<'a> Selector<'a> {
    /// Pairs of pixels, from a window of 16-bit elements.
    pub(super) fn tiled(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pairs = pack::columns_first(shape);
        let (weights, requant) = self.packed(node, &pairs, Tiling::Quads)?;
        let (unroll, out) = (pairs.len().min(special::UNROLL), shape.out_strides());
        let special = self.special.contains(&special::Instance::of(shape));
        let (kernel, sizes) = match (&requant, special) {
            (Requant::Affine(_), true) => {
                (KernelId::Conv2dI8Dsp, vec![shape.second_pixel(), pairs.len(), unroll, out.0, out.1])
            }
            (Requant::Affine(_), false) => (KernelId::Conv2dI8DspSmall, Vec::new()),
            (Requant::Exact(_), _) => (KernelId::Conv2dI8DspExact, Vec::new()),
        };
        let mut generics: Vec<Generic> = sizes.into_iter().map(Generic::Size).collect();
        generics.extend(requant.generics());
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let work = self.workspace()?;
        let fields = vec![("pixel", int(out.0)), ("channel", int(out.1))];
        // What is no part of the instance is told at run time.
        let out = (kernel != KernelId::Conv2dI8Dsp).then_some(Arg::Struct(Struct { name: "Stride", fields }));
        let rx = self.image_rows(x, shape.images, shape.in_h)?;
        let ry = self.image_rows(y, shape.images, shape.out_h)?;
        for image in 0..shape.images {
            let (rx, ry) = (rows(rx, shape.images, image), rows(ry, shape.images, image));
            let mut args =
                vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), pad.clone(), work.clone()];
            args.extend(requant.argument());
            args.push(ry);
            args.extend(out.clone());
            args.push(self.band(shape.out_h));
            self.call_generic(kernel, generics.clone(), args);
        }
        Ok(())
    }

    /// The packed filters of a layer as an argument, and how their sums become results: in quads where there is no cheap form.
    pub(super) fn packed(
        &mut self,
        node: &'a Node,
        pairs: &pack::Pairs,
        tiling: Tiling,
    ) -> Result<(Arg, Requant), Problem> {
        let (layer, choice) = self.layer(node, |o| tiling.gain_bits(o))?;
        let tiling = if choice.is_some() { tiling } else { Tiling::Quads };
        let words = pack::filters(&layer, pairs, choice.as_ref(), tiling);
        let requant = self.requant(node, choice.as_ref())?;
        Ok((self.words(&words), requant))
    }

    /// Packed filters as an argument.
    pub(super) fn words(&mut self, words: &[i32]) -> Arg {
        Arg::Constant(self.step_constant("WEIGHTS", Data::from_i32(words)), Element::I32)
    }

    /// A layer in numbers, and the cheap form in which all its filters are requantised, if there is one; `gain_bits`: of the sums that the kernel has of each filter.
    pub(super) fn layer(
        &mut self,
        node: &'a Node,
        gain_bits: impl Fn(usize) -> u32,
    ) -> Result<(Layer, Option<Choice>), Problem> {
        let layer = self.numbers(node)?;
        let choice = self.choice(&layer, gain_bits);
        if choice.is_none() && needs_cheap_form(node) {
            // Only portable kernels compute with floats, or round once.
            return Err(self.no_kernel(node));
        }
        Ok((layer, choice))
    }

    /// What a kernel is told of how sums become results.
    pub(super) fn requant(&mut self, node: &'a Node, choice: Option<&Choice>) -> Result<Requant, Problem> {
        if let Some(choice) = choice {
            return Ok(Requant::Affine(choice.form));
        }
        let (multipliers, clamp) = self.fixed_point(node)?;
        Ok(Requant::Exact(self.requant_struct(node, multipliers, clamp)))
    }

    /// How a layer of integers with filters rescales and clamps its sums.
    fn fixed_point(&self, node: &'a Node) -> Result<(&'a [Multiplier], &'a Clamp), Problem> {
        match &node.op {
            Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), clamp, .. }
            | Op::Dense { rescale: Rescale::FixedPoint(multipliers), clamp } => Ok((multipliers, clamp)),
            _ => Err(self.no_kernel(node)),
        }
    }

    /// The cheap form, which later layers prefer.
    fn choice(&mut self, layer: &Layer, gain_bits: impl Fn(usize) -> u32) -> Option<Choice> {
        let channel = |(o, reference): (usize, &Reference)| {
            let weights = layer.filter(o).iter().copied();
            let range = requant::reachable(weights, layer.bias[o], (i8::MIN.into(), i8::MAX.into()));
            Channel { reference: *reference, range, gain_bits: gain_bits(o) }
        };
        let channels: Vec<Channel> = layer.references.iter().enumerate().map(channel).collect();
        let choice = requant::choose(&channels, &self.shifts).ok()?;
        if !self.shifts.contains(&choice.form.shift) {
            self.shifts.push(choice.form.shift);
        }
        Some(choice)
    }

    /// Weights, biases and what is to become of sums.
    pub(in crate::select) fn numbers(&self, node: &'a Node) -> Result<Layer, Problem> {
        let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else {
            return Err(self.no_kernel(node));
        };
        let (x, w) = (node.operands[0], node.operands[1]);
        let weights = self.data(node, w, "weights")?.to_i8();
        let filters = self.ty(w).shape.dims().first().copied().unwrap_or(1);
        let bias = match node.operands.get(2) {
            Some(&b) => self.data(node, b, "biases")?.to_i32(),
            None => vec![0; filters],
        };
        let bias = folded_bias(&weights, &bias, self.ty(x).zero_point(), filters);
        let zero_point = self.ty(node.result).zero_point();
        let references = (0..filters).map(|o| Reference::of(rescale, o, zero_point, clamp.int_bounds()));
        let references = references.collect::<Option<_>>().ok_or_else(|| self.no_kernel(node))?;
        Ok(Layer { weights, bias, references })
    }

    /// The step's workspace, as words.
    pub(in crate::select) fn workspace(&self) -> Result<Arg, Problem> {
        let buffer = self.schedule.steps.get(self.step).and_then(|step| step.workspace);
        let buffer = buffer.ok_or_else(|| self.not_by_row())?;
        let (memory, offset) = self.address(Place::whole(buffer, 0));
        let len = self.schedule.storage.buffer(buffer).bytes / 4;
        Ok(Arg::Cells(Cells::All(Region { memory, offset, element: Element::I32, len })))
    }

    /// The rows of so many images, which may be other ones than those of the tensor: all rows of an image as one, or all images of a batch.
    pub(in crate::select) fn image_rows(
        &self,
        id: ValueId,
        images: usize,
        rows: usize,
    ) -> Result<Strip, Problem> {
        let strip = self.rows(id)?;
        let all = self.ty(id).shape.numel() / strip.row.max(1);
        if images * rows == all || self.in_loop {
            return Ok(strip);
        }
        let region = self.region(id)?;
        Ok(Strip { region, row: region.len / (images * rows).max(1), ring: None })
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
