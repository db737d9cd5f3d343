//! Steps of audio front ends.

use super::*;
use crate::ir::Signal;

impl<'a> Selector<'a> {
    pub(super) fn signal(&mut self, node: &'a Node, function: Signal) -> Selected {
        let Some(&x) = node.operands.first() else { return Err(self.no_kernel(node)) };
        let dtype = self.ty(x).dtype;
        let row = self.ty(x).shape.last();
        // Tables are constants; all else comes from memory.
        let second = |selector: &Self| match node.operands.get(1) {
            Some(&id) => selector.all_of(id),
            None => Err(selector.no_kernel(node)),
        };
        let (kernel, args) = match function {
            Signal::Window { shift } => {
                let weights = self.table(node, 1, "WINDOW", Element::I16)?;
                (KernelId::WindowI16, vec![Arg::Int(shift), weights, self.all_of(x)?])
            }
            Signal::Headroom {} => (KernelId::HeadroomI16, vec![self.all_of(x)?]),
            Signal::ShiftLeft {} => (KernelId::ShiftLeftI16, vec![self.all_of(x)?, second(self)?]),
            Signal::Rfft { length } => {
                let kernel = match dtype {
                    DType::F32 => KernelId::RfftF32,
                    DType::I16 => KernelId::RfftI16,
                    _ => KernelId::RfftI32,
                };
                let [twiddles, halves] = self.twiddles(dtype, length, false);
                (kernel, vec![Arg::Int(length), Arg::Int(row as i64), twiddles, halves, self.all_of(x)?])
            }
            Signal::Irfft { length } => {
                let kernel = match dtype {
                    DType::F32 => KernelId::IrfftF32,
                    DType::I16 => KernelId::IrfftI16,
                    _ => KernelId::IrfftI32,
                };
                let [twiddles, halves] = self.twiddles(dtype, length, true);
                (kernel, vec![Arg::Int(length), twiddles, halves, self.all_of(x)?])
            }
            Signal::BlockWindow {} => {
                let kernel =
                    if dtype == DType::I16 { KernelId::BlockWindowI16 } else { KernelId::BlockWindowI32 };
                let weights = self.table(node, 1, "WINDOW", Element::I16)?;
                (kernel, vec![weights, self.all_of(x)?])
            }
            Signal::BlockRfft { length } => {
                let [twiddles, halves] = self.twiddles(dtype, length, false);
                let row = Arg::Int(row as i64 - 1);
                let args = vec![Arg::Int(length), row, twiddles, halves, self.all_of(x)?];
                let kernel = match length.count_ones() {
                    1 => KernelId::BlockRfftI16,
                    _ => KernelId::BlockRfftMixedI16,
                };
                (kernel, args)
            }
            Signal::Energy { start, end } => {
                (KernelId::EnergyI16, vec![Arg::Int(start), Arg::Int(end), self.all_of(x)?])
            }
            Signal::FilterBank {} => {
                let [channels, weights] = self.channels(node)?;
                (KernelId::FilterBankI32, vec![channels, weights, self.all_of(x)?])
            }
            Signal::SquareRoot {} => (KernelId::SquareRootI64, vec![self.all_of(x)?, second(self)?]),
            Signal::NoiseEstimate {
                smoothing,
                one_minus_smoothing,
                alternate_smoothing,
                alternate_one_minus_smoothing,
                smoothing_bits,
                bits,
                clamping,
            } => {
                let fields = vec![
                    ("even", Field::Ints(vec![smoothing, one_minus_smoothing])),
                    ("odd", Field::Ints(vec![alternate_smoothing, alternate_one_minus_smoothing])),
                    ("smoothing_bits", Field::Int(smoothing_bits)),
                    ("bits", Field::Int(bits)),
                    ("clamping", Field::Flag(clamping == 1)),
                ];
                let params = Arg::Struct(Struct { name: "Noise", fields });
                (KernelId::NoiseEstimateI32, vec![params, self.all_of(x)?, second(self)?])
            }
            Signal::SubtractNoise { min_signal_remaining, smoothing_bits, bits } => {
                let fields = vec![
                    ("min_signal_remaining", Field::Int(min_signal_remaining)),
                    ("smoothing_bits", Field::Int(smoothing_bits)),
                    ("bits", Field::Int(bits)),
                ];
                let params = Arg::Struct(Struct { name: "NoiseFloor", fields });
                (KernelId::SubtractNoiseI32, vec![params, self.all_of(x)?, second(self)?])
            }
            Signal::Pcan { snr_shift } => {
                let gains = self.table(node, 2, "GAINS", Element::I16)?;
                (KernelId::PcanI32, vec![Arg::Int(snr_shift), gains, self.all_of(x)?, second(self)?])
            }
            Signal::Log { scale, correction_bits } => {
                (KernelId::LogI32I16, vec![Arg::Int(scale), Arg::Int(correction_bits), self.all_of(x)?])
            }
            Signal::OverlapAdd { step } => {
                let kernel =
                    if dtype == DType::F32 { KernelId::OverlapAddF32 } else { KernelId::OverlapAddI16 };
                (kernel, vec![Arg::Int(step), Arg::Int(row as i64), self.all_of(x)?, second(self)?])
            }
        };
        let mut args = args;
        args.push(self.all_of(node.result)?);
        self.call(kernel, args);
        Ok(())
    }

    fn all_of(&self, id: ValueId) -> Result<Arg, Problem> {
        Ok(Arg::Cells(Cells::All(self.region(id)?)))
    }

    /// An operand that has to be a constant.
    fn table(
        &mut self,
        node: &'a Node,
        operand: usize,
        what: &'static str,
        element: Element,
    ) -> Result<Arg, Problem> {
        let Some(&id) = node.operands.get(operand) else { return Err(self.no_kernel(node)) };
        let data = self.data(node, id, "tables")?.clone();
        Ok(self.constant_arg(what, data, element))
    }

    fn twiddles(&mut self, dtype: DType, length: i64, inverse: bool) -> [Arg; 2] {
        // Lengths of verified graphs are small.
        let length = length as usize;
        let element = Element::from(dtype);
        let tables = [
            ("TWIDDLES", tables::twiddles(dtype, length, inverse)),
            ("HALVES", tables::half_twiddles(dtype, length, inverse)),
        ];
        tables.map(|(what, data)| self.constant_arg(what, data, element))
    }

    /// Of each channel its first frequency, its first weight and the number of both; and weights and complements by turns.
    fn channels(&mut self, node: &'a Node) -> Result<[Arg; 2], Problem> {
        let mut tables = Vec::new();
        for &id in node.operands.iter().skip(1) {
            tables.push(self.data(node, id, "tables")?.to_ints(DType::I16));
        }
        let [weights, complements, frequencies, starts, widths] = &tables[..] else {
            return Err(self.no_kernel(node));
        };
        let of_channels = frequencies.iter().zip(starts).zip(widths).flat_map(|((f, s), w)| [*f, *s, *w]);
        let of_weights = weights.iter().zip(complements).flat_map(|(w, c)| [*w, *c]);
        let [channels, weights] = [of_channels.collect(), of_weights.collect::<Vec<_>>()]
            .map(|numbers| Data::from_ints(DType::I16, numbers));
        Ok([("CHANNELS", channels), ("WEIGHTS", weights)]
            .map(|(what, data)| self.constant_arg(what, data, Element::I16)))
    }
}
