//! The attributes of operators, as far as Kiln compiles them.

use crate::flatbuffer::{Broken, Table, Vector};

/// Options tables may be absent: every field then has its default.
#[derive(Clone, Copy)]
pub(super) struct Options<'a>(pub(super) Option<Table<'a>>);

/// `Padding`: how far a window may reach beyond the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Padding {
    /// As far as needed for `ceil(size / stride)` results.
    Same,
    /// Not at all.
    Valid,
}

/// Windowed operators.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowOptions {
    pub(super) padding: Padding,
    /// `[height, width]`.
    pub(super) stride: [i32; 2],
    /// `[height, width]`.
    pub(super) dilation: [i32; 2],
    /// `[height, width]` of a pooling window; 0 for convolutions.
    pub(super) size: [i32; 2],
    pub(super) activation: i8,
}

/// `StridedSliceOptions`: bit `i` of a mask belongs to entry `i` of begin, end and strides.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceMasks {
    pub(super) begin: i32,
    pub(super) end: i32,
    pub(super) ellipsis: i32,
    pub(super) new_axis: i32,
    pub(super) shrink_axis: i32,
    /// Whether `end` counts from `begin`.
    pub(super) offset: bool,
}

impl<'a> Options<'a> {
    fn i32(self, slot: usize, default: i32) -> Result<i32, Broken> {
        self.0.map_or(Ok(default), |t| t.scalar(slot, default))
    }

    fn i8(self, slot: usize) -> Result<i8, Broken> {
        self.0.map_or(Ok(0), |t| t.scalar(slot, 0))
    }

    fn f32(self, slot: usize) -> Result<f32, Broken> {
        self.0.map_or(Ok(0.0), |t| t.scalar(slot, 0.0))
    }

    fn flag(self, slot: usize) -> Result<bool, Broken> {
        self.0.map_or(Ok(false), |t| t.flag(slot))
    }

    fn ints(self, slot: usize) -> Result<Vector<'a, i32>, Broken> {
        Ok(self.0.map_or(Ok(None), |t| t.vector(slot))?.unwrap_or(Vector::empty()))
    }

    fn string(self, slot: usize) -> Result<&'a [u8], Broken> {
        self.0.map_or(Ok(&[][..]), |t| t.string(slot))
    }

    fn padding(self) -> Result<Padding, Broken> {
        Ok(if self.i8(0)? == 0 { Padding::Same } else { Padding::Valid })
    }

    /// What all windowed operators have, with the activation in this slot: no dilation, and no size.
    fn window(self, activation: usize) -> Result<WindowOptions, Broken> {
        Ok(WindowOptions {
            padding: self.padding()?,
            stride: [self.i32(2, 0)?, self.i32(1, 0)?],
            dilation: [1; 2],
            size: [0; 2],
            activation: self.i8(activation)?,
        })
    }

    /// `Conv2DOptions`.
    pub(super) fn conv(self) -> Result<WindowOptions, Broken> {
        Ok(WindowOptions { dilation: [self.i32(5, 1)?, self.i32(4, 1)?], ..self.window(3)? })
    }

    /// `DepthwiseConv2DOptions`. The multiplier of channels follows from the shapes.
    pub(super) fn depthwise(self) -> Result<WindowOptions, Broken> {
        Ok(WindowOptions { dilation: [self.i32(6, 1)?, self.i32(5, 1)?], ..self.window(4)? })
    }

    /// `Pool2DOptions`.
    pub(super) fn pool(self) -> Result<WindowOptions, Broken> {
        Ok(WindowOptions { size: [self.i32(4, 0)?, self.i32(3, 0)?], ..self.window(5)? })
    }

    /// Whether a bias that is absent would be of 32 bits (`quantized_bias_type` at this place), and sums with it.
    pub(super) fn has_narrow_sums(self, place: usize) -> Result<bool, Broken> {
        /// `TensorType::INT32` in the schema.
        const INT32: i8 = 2;
        Ok(self.i8(place)? == INT32)
    }

    /// Fused activation of `AddOptions`, `SubOptions`, `MulOptions` and `FullyConnectedOptions`.
    pub(super) fn activation(self) -> Result<i8, Broken> {
        self.i8(0)
    }

    /// `FullyConnectedOptions`: weights format (0 is row-major) and whether the leading axes are kept.
    pub(super) fn fully_connected(self) -> Result<(i8, bool), Broken> {
        Ok((self.i8(1)?, self.flag(2)?))
    }

    /// `FullyConnectedOptions`: whether float operands of integer weights are quantised with a zero point.
    pub(super) fn asymmetric_inputs(self) -> Result<bool, Broken> {
        self.flag(3)
    }

    /// `SVDFOptions`: rank and fused activation.
    pub(super) fn svdf(self) -> Result<(i32, i8), Broken> {
        Ok((self.i32(0, 0)?, self.i8(1)?))
    }

    /// `UnidirectionalSequenceLSTMOptions`: activation, largest cell state (0 for any), and whether steps are the first axis of the input.
    pub(super) fn sequence_lstm(self) -> Result<(i8, f32, bool), Broken> {
        Ok((self.i8(0)?, self.f32(1)?, self.flag(3)?))
    }

    /// `LocalResponseNormalizationOptions`: radius, bias, α and β.
    pub(super) fn local_response(self) -> Result<(i32, [f32; 3]), Broken> {
        Ok((self.i32(0, 0)?, [self.f32(1)?, self.f32(2)?, self.f32(3)?]))
    }

    /// `ReverseSequenceOptions`: the axis of the sequence, and that of the batch.
    pub(super) fn reverse_sequence(self) -> Result<(i32, i32), Broken> {
        Ok((self.i32(0, 0)?, self.i32(1, 0)?))
    }

    /// β of `SoftmaxOptions`.
    pub(super) fn beta(self) -> Result<f32, Broken> {
        self.f32(0)
    }

    /// α of `LeakyReluOptions`.
    pub(super) fn alpha(self) -> Result<f32, Broken> {
        self.f32(0)
    }

    /// `GeluOptions`: whether the approximation with tanh is meant.
    pub(super) fn approximate(self) -> Result<bool, Broken> {
        self.flag(0)
    }

    /// `ReshapeOptions` and `SqueezeOptions`: the list of dimensions.
    pub(super) fn dims(self) -> Result<Vector<'a, i32>, Broken> {
        self.ints(0)
    }

    /// `ReducerOptions`: whether reduced axes stay, with size 1.
    pub(super) fn keep_dims(self) -> Result<bool, Broken> {
        self.flag(0)
    }

    /// `ConcatenationOptions`: axis and fused activation.
    pub(super) fn concatenation(self) -> Result<(i32, i8), Broken> {
        Ok((self.i32(0, 0)?, self.i8(1)?))
    }

    /// Axis of `PackOptions`.
    pub(super) fn pack_axis(self) -> Result<i32, Broken> {
        self.i32(1, 0)
    }

    /// `StridedSliceOptions`.
    pub(super) fn strided_slice(self) -> Result<SliceMasks, Broken> {
        Ok(SliceMasks {
            begin: self.i32(0, 0)?,
            end: self.i32(1, 0)?,
            ellipsis: self.i32(2, 0)?,
            new_axis: self.i32(3, 0)?,
            shrink_axis: self.i32(4, 0)?,
            offset: self.flag(5)?,
        })
    }

    /// `SpaceToDepthOptions` and `DepthToSpaceOptions`: pixels along a side of a block.
    pub(super) fn block_size(self) -> Result<i32, Broken> {
        self.i32(0, 0)
    }

    /// `GatherOptions`: axis, and how many leading axes are shared.
    pub(super) fn gather(self) -> Result<(i32, i32), Broken> {
        Ok((self.i32(0, 0)?, self.i32(1, 0)?))
    }

    /// Axis of `OneHotOptions`.
    pub(super) fn axis(self) -> Result<i32, Broken> {
        self.i32(0, 0)
    }

    /// `CumsumOptions`: whether an element itself is left out of its sum, and whether sums begin at the end.
    pub(super) fn cumsum(self) -> Result<(bool, bool), Broken> {
        Ok((self.flag(0)?, self.flag(1)?))
    }

    /// `BatchMatMulOptions`: which of the operands are transposed.
    pub(super) fn adjoint(self) -> Result<(bool, bool), Broken> {
        Ok((self.flag(0)?, self.flag(1)?))
    }

    /// `ResizeBilinearOptions`: whether corners are aligned, and whether pixels are at their centres.
    pub(super) fn resize_bilinear(self) -> Result<(bool, bool), Broken> {
        Ok((self.flag(2)?, self.flag(3)?))
    }

    /// `ResizeNearestNeighborOptions`: whether corners are aligned, and whether pixels are at their centres.
    pub(super) fn resize_nearest(self) -> Result<(bool, bool), Broken> {
        Ok((self.flag(0)?, self.flag(1)?))
    }

    /// `MirrorPadOptions`: 0 leaves the edge out (reflect), 1 repeats it (symmetric).
    pub(super) fn mirror_mode(self) -> Result<i8, Broken> {
        self.i8(0)
    }

    /// `TransposeConvOptions`.
    pub(super) fn transpose_conv(self) -> Result<WindowOptions, Broken> {
        self.window(3)
    }

    /// Subgraph that `CallOnceOptions` runs.
    pub(super) fn init_subgraph(self) -> Result<i32, Broken> {
        self.i32(0, 0)
    }

    /// Two subgraphs: of `IfOptions` where the condition holds and where it does not, of `WhileOptions` condition and body.
    pub(super) fn subgraphs(self) -> Result<(i32, i32), Broken> {
        Ok((self.i32(0, 0)?, self.i32(1, 0)?))
    }

    /// `VarHandleOptions`: container and shared name.
    pub(super) fn variable(self) -> Result<(&'a [u8], &'a [u8]), Broken> {
        Ok((self.string(0)?, self.string(1)?))
    }
}
