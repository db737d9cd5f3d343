//! Convolutions, dense layers and pooling.

use super::shape::Shape as Sizes;
use super::*;
use crate::ir::{Clamp, Layout, Order, Real, Window};
use crate::requant::folded_bias;

/// The largest batch. Each of its images is a kernel call of its own.
pub(super) const MOST_IMAGES: usize = 64;

/// The images of an operand and a result.
#[derive(Clone, Copy)]
pub(super) struct Images {
    /// The rows of all of them.
    pub(super) x: Strip,
    /// And those of the results.
    pub(super) y: Strip,
    /// How many images there are.
    pub(super) count: usize,
    /// Rows of a result.
    pub(super) out_h: usize,
}

impl<'a> Selector<'a> {
    pub(super) fn conv(
        &mut self,
        node: &'a Node,
        groups: usize,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Selected {
        let (x, w) = (node.operands[0], node.operands[1]);
        let (tx, tw, ty) = (self.ty(x), self.ty(w), self.ty(node.result));
        let ([batch, _, _, in_c], [_, out_h, _, out_c]) = self.images(node)?;
        if node.op.layout() != Layout::default() {
            return Err(self.no_kernel(node));
        }
        if [tx.dtype, tw.dtype] == [DType::I16; 2] {
            return self.conv_of_16_bits(node, groups, rescale, clamp);
        }
        let depthwise = groups == in_c && groups > 1;
        let conv = Sizes::of(self.graph, node).ok_or_else(|| self.no_kernel(node))?;
        let conv = self.conv_params(&conv);
        let weights = self.data(node, w, "weights")?;
        let packed = if depthwise {
            taps_first(weights, out_c, tw.dtype.size())
        } else {
            alternating(weights, out_c, groups, tw.dtype.size())
        };
        let packed = self.stored(node, packed);
        let (kernel, constants, after_x) = match (tx.dtype, tw.dtype, ty.dtype) {
            (DType::I8, DType::I8 | DType::I16, DType::I8) => {
                let (constants, requant) = self.integer_constants(node, packed, rescale, clamp)?;
                let pad = Arg::Int(tx.zero_point().into());
                let once = matches!(rescale, Rescale::Once(_));
                let kernel = match (depthwise, tw.dtype, once) {
                    (false, DType::I8, false) => KernelId::Conv2dI8,
                    (false, DType::I8, true) => KernelId::Conv2dI8Once,
                    (false, _, false) => KernelId::Conv2dI8xi16,
                    (false, _, true) => KernelId::Conv2dI8xi16Once,
                    (true, DType::I8, false) => KernelId::Depthwise2dI8,
                    (true, DType::I8, true) => KernelId::Depthwise2dI8Once,
                    (true, _, false) => KernelId::Depthwise2dI8xi16,
                    (true, _, true) => KernelId::Depthwise2dI8xi16Once,
                };
                (floating(kernel, rescale), constants, vec![pad, requant])
            }
            (DType::I16, DType::I8, DType::I16) => {
                let (constants, requant, narrow) = self.int16_constants(node, packed, rescale, clamp)?;
                let kernel = match (depthwise, narrow) {
                    (false, false) => KernelId::Conv2dI16,
                    (false, true) => KernelId::Conv2dI16Narrow,
                    (true, false) => KernelId::Depthwise2dI16,
                    (true, true) => return Err(self.no_kernel(node)),
                };
                (kernel, constants, vec![requant])
            }
            (DType::F32, DType::F32, DType::F32) => {
                let order = |ints: &Data| match depthwise {
                    true => taps_first(ints, out_c, 1),
                    false => alternating(ints, out_c, groups, 1),
                };
                let constants = self.float_constants(node, packed, order, out_c)?;
                let (lo, hi) = clamp.float_bounds();
                let kernel = if depthwise { KernelId::Depthwise2dF32 } else { KernelId::Conv2dF32 };
                (kernel, constants, vec![Arg::Float(lo), Arg::Float(hi)])
            }
            _ => return Err(self.no_kernel(node)),
        };
        let (kernel, constants) = self.packed_layer(node, kernel, constants);
        let images = Images { x: self.rows(x)?, y: self.rows(node.result)?, count: batch, out_h };
        self.call_on(images, kernel, &[], &[Arg::Struct(conv)], &[constants, after_x].concat(), &[]);
        Ok(())
    }

    /// How the weights of a layer are packed.
    pub(super) fn packing(&self, node: &Node) -> Option<Packing> {
        packing(self.graph, node, self.options)
    }

    /// A layer's weights as flash holds them, in their order.
    pub(super) fn stored(&self, node: &Node, weights: Data) -> Data {
        self.packing(node).map_or_else(|| weights.clone(), |packing| packing.pack(&weights))
    }

    /// The kernel for packed weights, if the layer's are, with their elements' type.
    fn packed_layer(&self, node: &Node, kernel: KernelId, mut constants: Vec<Arg>) -> (KernelId, Vec<Arg>) {
        let Some(packing) = self.packing(node) else { return (kernel, constants) };
        if let Some(Arg::Constant(_, element)) = constants.first_mut() {
            *element = packing.into();
        }
        (packing.kernel(kernel), constants)
    }

    /// The kernels' `Conv`.
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

    pub(super) fn dense(&mut self, node: &'a Node, rescale: &Rescale, clamp: &Clamp) -> Selected {
        let (x, w) = (node.operands[0], node.operands[1]);
        let (tx, tw, ty) = (self.ty(x), self.ty(w), self.ty(node.result));
        let n = ty.shape.last();
        let weights = alternating(self.data(node, w, "weights")?, n, 1, tw.dtype.size());
        let weights = self.stored(node, weights);
        let (kernel, constants, after_x) = match (tx.dtype, tw.dtype, ty.dtype) {
            (DType::I8, DType::I8 | DType::I16, DType::I8) => {
                let (constants, requant) = self.integer_constants(node, weights, rescale, clamp)?;
                let kernel = match (tw.dtype, rescale) {
                    (DType::I8, Rescale::Once(_)) => KernelId::DenseI8Once,
                    (DType::I8, _) => KernelId::DenseI8,
                    (_, Rescale::Once(_)) => KernelId::DenseI8xi16Once,
                    _ => KernelId::DenseI8xi16,
                };
                (floating(kernel, rescale), constants, vec![requant])
            }
            (DType::I8, DType::I8, DType::I16) => {
                let by = self.one_factor(node, rescale, clamp).ok_or_else(|| self.no_kernel(node))?;
                let (constants, _) = self.integer_constants(node, weights, rescale, clamp)?;
                (KernelId::DenseI8I16, constants, vec![by])
            }
            (DType::I16, DType::I8, DType::I16) => {
                let (constants, requant, narrow) = self.int16_constants(node, weights, rescale, clamp)?;
                (if narrow { KernelId::DenseI16Narrow } else { KernelId::DenseI16 }, constants, vec![requant])
            }
            (DType::F32, DType::F32, DType::F32) => {
                let order = |ints: &Data| alternating(ints, n, 1, 1);
                let constants = self.float_constants(node, weights, order, n)?;
                let (lo, hi) = clamp.float_bounds();
                (KernelId::DenseF32, constants, vec![Arg::Float(lo), Arg::Float(hi)])
            }
            _ => return Err(self.no_kernel(node)),
        };
        let (kernel, constants) = self.packed_layer(node, kernel, constants);
        if let Some(pixels) = kernel.of_pixels() {
            if let Some([conv, x, y]) = self.rows_as_pixels(node)? {
                let between = [constants, after_x].concat();
                self.call(pixels, [vec![conv, x], between, vec![y, Arg::Band(1)]].concat());
                return Ok(());
            }
        }
        let [x, y, band] = self.matrix_rows(node)?;
        let mut args = vec![x];
        args.extend(constants);
        args.extend(after_x);
        args.extend([y, band]);
        self.call(kernel, args);
        Ok(())
    }

    /// Calls a kernel for convolutions that also computes matrix products: with the parameters of a convolution, what stands `between` operand and result, and a band.
    pub(super) fn layer_of_floats(
        &mut self,
        node: &'a Node,
        shape: &Sizes,
        kernel: KernelId,
        between: &[Arg],
    ) -> Selected {
        let conv = Arg::Struct(self.conv_params(shape));
        if let Op::Dense { .. } = node.op {
            let [x, y, band] = self.matrix_rows(node)?;
            self.call(kernel, [&[conv, x], between, &[y, band]].concat());
            return Ok(());
        }
        let x = self.image_rows(node.operands[0], shape.images, shape.in_h)?;
        let y = self.image_rows(node.result, shape.images, shape.out_h)?;
        let images = Images { x, y, count: shape.images, out_h: shape.out_h };
        self.call_on(images, kernel, &[], &[conv], between, &[]);
        Ok(())
    }

    /// The rows of a matrix product's operand and result, and the band of all of them. They are those of all leading axes, while a schedule's are those of one.
    pub(super) fn matrix_rows(&self, node: &Node) -> Result<[Arg; 3], Problem> {
        let (x, y) = (node.operands[0], node.result);
        let (k, n) = (self.ty(x).shape.last(), self.ty(y).shape.last());
        let band = Arg::Band(self.ty(y).shape.numel() / n.max(1));
        Ok([whole(self.region(x)?, k), whole(self.region(y)?, n), band])
    }

    /// The same where each row is an image.
    pub(super) fn matrix_of_images(&self, node: &Node, images: usize) -> Result<[Arg; 3], Problem> {
        let rows = |id: ValueId| Ok(whole(self.region(id)?, self.ty(id).shape.numel() / images.max(1)));
        Ok([rows(node.operands[0])?, rows(node.result)?, Arg::Band(images)])
    }

    pub(super) fn pool(&mut self, node: &'a Node, window: &Window, clamp: &Clamp) -> Selected {
        let (tx, ty) = (self.ty(node.operands[0]), self.ty(node.result));
        let average = matches!(node.op, Op::AvgPool2d { .. });
        let (kernel, lo, hi) = match (average, tx.dtype, ty.dtype) {
            (true, DType::I8, DType::I8) => int_range(KernelId::AvgPool2dI8, clamp),
            (true, DType::I16, DType::I16) => int_range(KernelId::AvgPool2dI16, clamp),
            (false, DType::I16, DType::I16) => int_range(KernelId::MaxPool2dI16, clamp),
            (true, DType::U8, DType::U8) => int_range(KernelId::AvgPool2dU8, clamp),
            (false, DType::I8, DType::I8) => int_range(KernelId::MaxPool2dI8, clamp),
            (true, DType::F32, DType::F32) => float_range(KernelId::AvgPool2dF32, clamp),
            (false, DType::F32, DType::F32) => float_range(KernelId::MaxPool2dF32, clamp),
            _ => return Err(self.no_kernel(node)),
        };
        self.pool_calls(node, window, kernel, Vec::new(), &[lo, hi])
    }

    /// Calls of a kernel of windows for each image of a batch.
    pub(super) fn pool_calls(
        &mut self,
        node: &'a Node,
        window: &Window,
        kernel: KernelId,
        generics: Vec<Generic>,
        parameters: &[Arg],
    ) -> Selected {
        let ([count, ..], [_, out_h, ..]) = self.images(node)?;
        let pool = Arg::Struct(self.pool_params(node, window)?);
        let images = Images { x: self.rows(node.operands[0])?, y: self.rows(node.result)?, count, out_h };
        self.call_on(images, kernel, &generics, &[pool], parameters, &[]);
        Ok(())
    }

    /// Calls a kernel for each of some images. Its arguments: what stands before the operand's rows, between those and the result's, and behind them, and the band.
    pub(super) fn call_on(
        &mut self,
        images: Images,
        kernel: KernelId,
        generics: &[Generic],
        before: &[Arg],
        between: &[Arg],
        behind: &[Arg],
    ) {
        let Images { x, y, count, out_h } = images;
        for image in 0..count {
            let mut args = before.to_vec();
            args.push(rows(x, count, image));
            args.extend_from_slice(between);
            args.push(rows(y, count, image));
            args.extend_from_slice(behind);
            args.push(self.band(out_h));
            self.call_generic(kernel, generics.to_vec(), args);
        }
    }

    /// The kernels' `Pool`.
    pub(super) fn pool_params(&self, node: &Node, window: &Window) -> Result<Struct, Problem> {
        let ([_, in_h, in_w, c], [_, _, out_w, _]) = self.images(node)?;
        let fields = vec![
            ("in_h", int(self.height(in_h))),
            ("in_w", int(in_w)),
            ("c", int(c)),
            ("out_w", int(out_w)),
            ("k_h", int(window.size[0])),
            ("k_w", int(window.size[1])),
            ("stride_h", int(window.stride[0])),
            ("stride_w", int(window.stride[1])),
            ("pad_top", int(window.pad.top)),
            ("pad_left", int(window.pad.left)),
        ];
        Ok(Struct { name: "Pool", fields })
    }

    /// The dimensions `[n, h, w, c]` of a layer's operand and result.
    pub(super) fn images(&self, node: &Node) -> Result<([usize; 4], [usize; 4]), Problem> {
        let image = |id: ValueId, order: Order| {
            order.image(self.ty(id).shape.dims()).ok_or_else(|| self.no_kernel(node))
        };
        let layout = node.op.layout();
        let (x, y) = (image(node.operands[0], layout.x)?, image(node.result, layout.y)?);
        if x[0] > MOST_IMAGES {
            return Err(Problem {
                place: node.origin.clone(),
                what: format!("it works on {} images at once, at most {MOST_IMAGES} are possible", x[0]),
                help: "convert the model with a batch of 1, and call it once for each image".into(),
            });
        }
        Ok((x, y))
    }

    /// Weights, folded bias, and the `Requant` of an integer layer.
    pub(super) fn integer_constants(
        &mut self,
        node: &'a Node,
        weights: Data,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Result<(Vec<Arg>, Arg), Problem> {
        if !matches!(rescale, Rescale::FixedPoint(_) | Rescale::Once(_) | Rescale::Float(_)) {
            return Err(self.no_kernel(node));
        }
        let w = node.operands[1];
        let tw = self.ty(w);
        if tw.quant.as_ref().is_some_and(|q| q.zero_points.iter().any(|&z| z != 0)) {
            return Err(Problem {
                place: node.origin.clone(),
                what: "its weights have a zero point other than 0".into(),
                help: "convert the model with symmetric int8 weights".into(),
            });
        }
        let out_c = tw.shape.dims().first().copied().unwrap_or(1);
        let bias = match node.operands.get(2) {
            Some(&b) => self.data(node, b, "biases")?.to_i32(),
            None => vec![0; out_c],
        };
        let zero = self.ty(node.operands[0]).zero_point();
        let unpacked = self.data(node, w, "weights")?.to_ints(tw.dtype);
        // Weights of verified graphs have at most 16 bits.
        let unpacked: Vec<i32> = unpacked.into_iter().map(|w| w as i32).collect();
        let bias = folded_bias(&unpacked, &bias, zero, out_c);
        let weights = self.step_constant("WEIGHTS", weights);
        let bias = self.step_constant("BIAS", Data::from_i32(&bias));
        let requant = match rescale {
            Rescale::FixedPoint(multipliers) | Rescale::Once(multipliers) => {
                self.requant_struct(node, multipliers, clamp)
            }
            Rescale::Float(factors) => self.float_requant(node, factors, clamp),
            Rescale::Real | Rescale::FloatSum { .. } => return Err(self.no_kernel(node)),
        };
        Ok((
            vec![Arg::Constant(weights, Element::from(tw.dtype)), Arg::Constant(bias, Element::I32)],
            Arg::Struct(requant),
        ))
    }

    /// Weights and bias, and the `Requant`, of a layer of `i16`; whether its sums have 32 bits.
    fn int16_constants(
        &mut self,
        node: &'a Node,
        weights: Data,
        rescale: &Rescale,
        clamp: &Clamp,
    ) -> Result<(Vec<Arg>, Arg, bool), Problem> {
        let Rescale::FixedPoint(multipliers) = rescale else { return Err(self.no_kernel(node)) };
        let zeros = [node.operands[0], node.operands[1], node.result].map(|id| self.ty(id).zero_point());
        if zeros != [0; 3] {
            return Err(self.no_kernel(node));
        }
        let out_c = self.ty(node.operands[1]).shape.dims().first().copied().unwrap_or(1);
        let (bias, narrow) = match node.operands.get(2) {
            Some(&b) => (self.data(node, b, "biases")?.clone(), self.ty(b).dtype != DType::I64),
            None => (Data::from_i32(&vec![0; out_c]), true),
        };
        let weights = self.step_constant("WEIGHTS", weights);
        let bias = self.step_constant("BIAS", bias);
        let requant = self.requant_struct(node, multipliers, clamp);
        let bias = Arg::Constant(bias, if narrow { Element::I32 } else { Element::I64 });
        Ok((vec![Arg::Constant(weights, Element::I8), bias], Arg::Struct(requant), narrow))
    }

    /// How a layer of integers with filters rescales and clamps its sums.
    pub(super) fn fixed_point(&self, node: &'a Node) -> Result<(&'a [Multiplier], &'a Clamp), Problem> {
        match &node.op {
            Op::Conv2d { rescale: Rescale::FixedPoint(multipliers), clamp, .. }
            | Op::Dense { rescale: Rescale::FixedPoint(multipliers), clamp } => Ok((multipliers, clamp)),
            _ => Err(self.no_kernel(node)),
        }
    }

    /// The step's workspace, as words.
    pub(super) fn workspace(&self) -> Result<Arg, Problem> {
        let buffer = self.schedule.steps.get(self.step).and_then(|step| step.workspace);
        let buffer = buffer.ok_or_else(|| self.not_by_row())?;
        let (memory, offset) = self.address(Place::whole(buffer, 0));
        let len = self.schedule.storage.buffer(buffer).bytes / 4;
        Ok(Arg::Cells(Cells::All(Region { memory, offset, element: Element::I32, len })))
    }

    /// The rows of so many images, which may be other ones than those of the tensor: all rows of an image as one, or all images of a batch.
    pub(super) fn image_rows(&self, id: ValueId, images: usize, rows: usize) -> Result<Strip, Problem> {
        let strip = self.rows(id)?;
        let all = self.ty(id).shape.numel() / strip.row.max(1);
        if images * rows == all || self.in_loop {
            return Ok(strip);
        }
        let region = self.region(id)?;
        Ok(Strip { region, row: region.len / (images * rows).max(1), ring: None, slot: 0 })
    }

    /// The kernels' `Requant`, of the reference's arithmetic.
    pub(super) fn requant_struct(
        &mut self,
        node: &'a Node,
        multipliers: &[Multiplier],
        clamp: &Clamp,
    ) -> Struct {
        let values: Vec<i32> = multipliers.iter().map(|m| m.value).collect();
        // Shifts of verified graphs are within -31..=30.
        let shifts: Vec<i8> = multipliers.iter().map(|m| m.shift as i8).collect();
        let values = self.step_constant("MULTIPLIERS", Data::from_i32(&values));
        let shifts = self.step_constant("SHIFTS", Data::from_i8(&shifts));
        let (lo, hi) = clamp.int_bounds();
        Struct {
            name: "Requant",
            fields: vec![
                ("multipliers", Field::Constant(values, Element::I32)),
                ("shifts", Field::Constant(shifts, Element::I8)),
                ("zero_point", Field::Int(self.ty(node.result).zero_point().into())),
                ("lo", Field::Int(lo.into())),
                ("hi", Field::Int(hi.into())),
            ],
        }
    }

    /// The kernels' `FloatRequant`.
    pub(super) fn float_requant(&mut self, node: &'a Node, factors: &[Real], clamp: &Clamp) -> Struct {
        let factors: Vec<f32> = factors.iter().map(|factor| factor.0).collect();
        let factors = self.step_constant("FACTORS", Data::from_f32(&factors));
        let (lo, hi) = clamp.int_bounds();
        Struct {
            name: "FloatRequant",
            fields: vec![
                ("factors", Field::Constant(factors, Element::F32)),
                ("zero_point", Field::Int(self.ty(node.result).zero_point().into())),
                ("lo", Field::Int(lo.into())),
                ("hi", Field::Int(hi.into())),
            ],
        }
    }

    /// Weights and bias of a float layer. Where its weights are integers with scales in flash, `order` puts those in order.
    pub(super) fn float_constants(
        &mut self,
        node: &'a Node,
        weights: Data,
        order: impl Fn(&Data) -> Data,
        out_c: usize,
    ) -> Result<Vec<Arg>, Problem> {
        let bias = match node.operands.get(2) {
            Some(&b) => self.data(node, b, "biases")?.clone(),
            None => Data::from_f32(&vec![0.0; out_c]),
        };
        let weights = match self.scaled_weights(node, order) {
            Some(scaled) => scaled,
            None => Arg::Constant(self.step_constant("WEIGHTS", weights), Element::F32),
        };
        let bias = self.step_constant("BIAS", bias);
        Ok(vec![weights, Arg::Constant(bias, Element::F32)])
    }
}

/// The kernel of the same layer whose sums are rescaled as floats, if they are.
pub(super) fn floating(kernel: KernelId, rescale: &Rescale) -> KernelId {
    match rescale {
        Rescale::Float(_) => kernel.floating().unwrap_or(kernel),
        _ => kernel,
    }
}

pub(super) fn int_range(kernel: KernelId, clamp: &Clamp) -> (KernelId, Arg, Arg) {
    let (lo, hi) = clamp.int_bounds();
    (kernel, Arg::Int(lo.into()), Arg::Int(hi.into()))
}

pub(super) fn float_range(kernel: KernelId, clamp: &Clamp) -> (KernelId, Arg, Arg) {
    let (lo, hi) = clamp.float_bounds();
    (kernel, Arg::Float(lo), Arg::Float(hi))
}

/// All of a region as rows of so many elements.
pub(super) fn whole(region: Region, row: usize) -> Arg {
    Arg::Rows(Strip { region, row, ring: None, slot: 0 })
}

/// The rows of one image of a batch.
pub(super) fn rows(strip: Strip, batch: usize, image: usize) -> Arg {
    let len = strip.region.len / batch.max(1);
    Arg::Rows(Strip { region: strip.region.part(image * len, len), ..strip })
}

/// Depthwise weights `[o][kh][kw]` as `[kh][kw][o]`.
pub(super) fn taps_first(weights: &Data, out_c: usize, element: usize) -> Data {
    let bytes = weights.bytes();
    let taps = bytes.len() / (out_c * element).max(1);
    let mut packed = Vec::with_capacity(bytes.len());
    for tap in 0..taps {
        for o in 0..out_c {
            let at = (o * taps + tap) * element;
            packed.extend_from_slice(&bytes[at..at + element]);
        }
    }
    Data::new(packed)
}

/// How many filters alternate.
pub(super) const LANES: usize = 4;

/// Filters `[o][…]` as the kernels read them: in each group four filters alternate element by element, as long as there are
/// four; the others follow one by one.
pub(super) fn alternating(weights: &Data, out_c: usize, groups: usize, element: usize) -> Data {
    let bytes = weights.bytes();
    let filter = bytes.len() / out_c.max(1);
    let group = filter * (out_c / groups.max(1));
    let mut packed = Vec::with_capacity(bytes.len());
    for filters in bytes.chunks(group.max(1)) {
        for block in filters.chunks((LANES * filter).max(1)) {
            let lanes = if block.len() == LANES * filter { LANES } else { 1 };
            for block in block.chunks((lanes * filter).max(1)) {
                for at in (0..filter).step_by(element) {
                    for lane in 0..lanes {
                        packed.extend_from_slice(&block[lane * filter + at..][..element]);
                    }
                }
            }
        }
    }
    Data::new(packed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_filters_alternate() {
        let weights = Data::from_i8(&[1, 2, 11, 12, 21, 22, 31, 32, 41, 42, 51, 52]);
        assert_eq!(alternating(&weights, 6, 1, 1).to_i8(), [1, 11, 21, 31, 2, 12, 22, 32, 41, 42, 51, 52]);
        assert_eq!(alternating(&weights, 6, 2, 1).to_i8(), weights.to_i8());
        let weights = Data::from_f32(&[1.0, 2.0, 3.0, 4.0]);
        assert_eq!(alternating(&weights, 4, 1, 4), weights);
        assert_eq!(alternating(&weights, 4, 1, 1).bytes().len(), 16);
    }

    #[test]
    fn depthwise_weights_are_packed_tap_by_tap() {
        let weights = Data::from_i8(&[1, 2, 3, 10, 20, 30]);
        assert_eq!(taps_first(&weights, 2, 1).to_i8(), [1, 10, 2, 20, 3, 30]);
        let weights = Data::from_f32(&[1.0, 2.0, 10.0, 20.0]);
        assert_eq!(taps_first(&weights, 2, 4).to_f32(), [1.0, 10.0, 2.0, 20.0]);
    }
}
