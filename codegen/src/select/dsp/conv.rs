//! Convolutions and dense layers in tiles of four filters.

use super::*;
use crate::ir::Clamp;

/// An integer layer in numbers.
pub(super) struct Layer {
    /// Of one filter after the other.
    pub(super) weights: Vec<i8>,
    /// Of each filter, with the operand's zero point folded in.
    pub(super) bias: Vec<i32>,
    /// What becomes of the sums of each filter.
    pub(super) references: Vec<Reference>,
}

impl<'a> Selector<'a> {
    /// Pairs of pixels, from a window of 16-bit elements.
    pub(super) fn tiled(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pairs = pack::columns_first(shape);
        let (weights, requant) = self.quads(node, &pairs)?;
        let (unroll, out) = (pairs.len().min(special::UNROLL), shape.out_strides());
        let special = self.special.contains(&special::Instance::of(shape));
        let (kernel, sizes) = match (&requant, special) {
            (Requant::Affine(_), true) => {
                ("conv2d_i8_dsp", vec![shape.second_pixel(), pairs.len(), unroll, out.0, out.1])
            }
            (Requant::Affine(_), false) => ("conv2d_i8_dsp_small", Vec::new()),
            (Requant::Exact(_), _) => {
                ("conv2d_i8_dsp_exact", vec![shape.second_pixel(), pairs.len(), unroll])
            }
        };
        let generics: Vec<Generic> = sizes.into_iter().map(Generic::Size).collect();
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let work = self.workspace()?;
        let fields = vec![("pixel", int(out.0)), ("channel", int(out.1))];
        // What is no part of the instance is told at run time.
        let out = (kernel != "conv2d_i8_dsp").then_some(Arg::Struct(Struct { name: "Stride", fields }));
        let (rx, ry) = (self.image_rows(x, shape.in_h)?, self.image_rows(y, shape.out_h)?);
        for image in 0..shape.images {
            let (rx, ry) = (image_of(rx, shape.images, image), image_of(ry, shape.images, image));
            let mut args =
                vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), pad.clone(), work.clone()];
            args.extend(requant.argument());
            args.push(ry);
            args.extend(out.clone());
            args.push(self.band(shape.out_h));
            self.tile_call(kernel, &generics, &requant, args);
        }
        Ok(())
    }

    /// Images one pixel wide, row by row.
    pub(super) fn column(&mut self, node: &'a Node, shape: &Sizes) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let pairs = pack::crossed(shape.k_h, shape.k_w * shape.in_c);
        let (weights, requant) = self.quads(node, &pairs)?;
        let pad = Arg::Int(self.ty(x).zero_point().into());
        let (rx, ry) = (self.image_rows(x, shape.in_h)?, self.image_rows(y, shape.out_h)?);
        for image in 0..shape.images {
            let (rx, ry) = (image_of(rx, shape.images, image), image_of(ry, shape.images, image));
            let mut args = vec![Arg::Struct(self.conv_params(shape)), rx, weights.clone(), pad.clone()];
            args.extend(requant.argument());
            args.extend([ry, self.band(shape.out_h)]);
            self.tile_call("conv1_i8_dsp", &[], &requant, args);
        }
        Ok(())
    }

    /// Rows of a matrix.
    pub(super) fn dense_rows(&mut self, node: &'a Node) -> Selected {
        let (x, y) = (node.operands[0], node.result);
        let (k, n) = (self.ty(x).shape.last(), self.ty(y).shape.last());
        let (weights, requant) = self.quads(node, &pack::crossed(1, k))?;
        let rows = |region, row| Arg::Rows(Strip { region, row, ring: None });
        let mut args = vec![rows(self.region(x)?, k), weights];
        args.extend(requant.argument());
        args.extend([rows(self.region(y)?, n), Arg::Band(self.ty(y).shape.numel() / n.max(1))]);
        self.tile_call("dense_i8_dsp", &[], &requant, args);
        Ok(())
    }

    /// A call of the kernel that requantises so.
    fn tile_call(&mut self, kernel: &'static str, generics: &[Generic], requant: &Requant, args: Vec<Arg>) {
        let mut generics = generics.to_vec();
        let kernel = match (requant, kernel) {
            (Requant::Affine(form), kernel) => {
                generics.extend([Generic::Size(form.shift as usize), Generic::Flag(form.signed)]);
                kernel
            }
            (Requant::Exact(_), "conv1_i8_dsp") => "conv1_i8_dsp_exact",
            (Requant::Exact(_), "dense_i8_dsp") => "dense_i8_dsp_exact",
            (Requant::Exact(_), kernel) => kernel,
        };
        self.call_generic(kernel, generics, args);
    }

    /// The packed filters of a layer as an argument, and how their sums become results.
    fn quads(&mut self, node: &'a Node, pairs: &pack::Pairs) -> Result<(Arg, Requant), Problem> {
        let (Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp }) = &node.op else {
            return Err(self.no_kernel(node));
        };
        let Rescale::FixedPoint(multipliers) = rescale else { return Err(self.no_kernel(node)) };
        let layer = self.layer(node, multipliers, clamp)?;
        let taps = layer.weights.len().checked_div(layer.bias.len()).unwrap_or(0);
        let channel = |(o, reference): (usize, &Reference)| {
            let weights = layer.weights.iter().skip(o * taps).take(taps).copied();
            let range = requant::reachable(weights, layer.bias[o], (i8::MIN.into(), i8::MAX.into()));
            // Every other filter's sums come multiplied by 256.
            Channel { reference: *reference, range, gain_bits: if o % 2 == 0 { 0 } else { 8 } }
        };
        let channels: Vec<Channel> = layer.references.iter().enumerate().map(channel).collect();
        let (words, requant) = match requant::choose(&channels, &self.shifts) {
            Ok(Choice { form, affine }) => {
                if !self.shifts.contains(&form.shift) {
                    self.shifts.push(form.shift);
                }
                let words = pack::quads(&layer.weights, &layer.bias, pairs, &Tail::Affine(form, &affine));
                (words, Requant::Affine(form))
            }
            Err(_) => {
                let words = pack::quads(&layer.weights, &layer.bias, pairs, &Tail::Sums);
                (words, Requant::Exact(self.requant_struct(node, multipliers, clamp)))
            }
        };
        let weights = self.step_constant("WEIGHTS", Data::from_i32(&words));
        Ok((Arg::Constant(weights, "i32"), requant))
    }

    pub(super) fn layer(
        &self,
        node: &'a Node,
        multipliers: &[Multiplier],
        clamp: &Clamp,
    ) -> Result<Layer, Problem> {
        let (x, w) = (node.operands[0], node.operands[1]);
        let weights = self.data(node, w, "weights")?.to_i8();
        let filters = self.ty(w).shape.dims().first().copied().unwrap_or(1);
        let bias = match node.operands.get(2) {
            Some(&b) => self.data(node, b, "biases")?.to_i32(),
            None => vec![0; filters],
        };
        let bias = folded_bias(&weights, &bias, self.ty(x).zero_point(), filters);
        let zero_point = self.ty(node.result).zero_point();
        let (lo, hi) = clamp.int_bounds();
        // One factor for all filters, or one for each.
        let factors = multipliers.iter().cycle().take(filters);
        let references = factors.map(|&multiplier| Reference { multiplier, zero_point, lo, hi }).collect();
        Ok(Layer { weights, bias, references })
    }

    /// The step's workspace, as words.
    fn workspace(&self) -> Result<Arg, Problem> {
        let buffer = self.schedule.steps.get(self.step).and_then(|step| step.workspace);
        let buffer = buffer.ok_or_else(|| self.not_by_row())?;
        let (memory, offset) = self.address(Place::whole(buffer, 0));
        let len = self.schedule.storage.buffer(buffer).bytes / 4;
        Ok(Arg::Cells(Cells::All(Region { memory, offset, element: "i32", len })))
    }

    /// The rows of an image, or all of it as one.
    fn image_rows(&self, id: ValueId, rows: usize) -> Result<Strip, Problem> {
        let strip = self.rows(id)?;
        let all = schedule::rows(&self.ty(id).shape);
        if rows == all || self.in_loop {
            return Ok(strip);
        }
        let region = self.region(id)?;
        Ok(Strip { region, row: region.len / rows.max(1), ring: None })
    }

    pub(super) fn conv_params(&self, shape: &Sizes) -> Struct {
        let fields = vec![
            ("in_h", int(self.height(shape.in_h))),
            ("in_w", int(shape.in_w)),
            ("in_c", int(shape.in_c)),
            ("out_w", int(shape.out_w)),
            ("out_c", int(shape.out_c)),
            ("k_h", int(shape.k_h)),
            ("k_w", int(shape.k_w)),
            ("stride_h", int(shape.stride_h)),
            ("stride_w", int(shape.stride_w)),
            ("dilation_h", int(shape.dilation_h)),
            ("dilation_w", int(shape.dilation_w)),
            ("pad_top", int(shape.pad_top)),
            ("pad_left", int(shape.pad_left)),
            ("groups", int(shape.groups)),
        ];
        Struct { name: "Conv", fields }
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
}

/// One image of a batch.
pub(super) fn image_of(strip: Strip, images: usize, image: usize) -> Arg {
    let len = strip.region.len / images.max(1);
    Arg::Rows(Strip { region: strip.region.part(image * len, len), ..strip })
}
