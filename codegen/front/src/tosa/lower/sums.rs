//! Sums of layers in plain integers: convolutions of floats that hold all their sums exactly, of parts where one would not.

use super::cx::Cx;
use super::layer::Sums;
use super::Lowered;
use kiln_ir::{Clamp, DType, Op, Rescale, ValueId};

/// Floats hold all integers up to that.
const EXACT: i64 = 1 << 24;

impl Cx<'_, '_, '_> {
    /// The sums as integers of 32 bits, or of 64 for images of 16.
    pub(super) fn plain_sums(&mut self, sums: &Sums) -> Lowered<ValueId> {
        let dtype = self.ty(sums.image).dtype;
        let wide = if dtype == DType::I16 { DType::I64 } else { DType::I32 };
        let image = self.plain(sums.image)?;
        let image = self.means().cast(image, DType::I32)?;
        let (lo, hi) = dtype.int_range().unwrap_or((0, 0));
        let most = (lo - sums.zero).abs().max((hi - sums.zero).abs());
        let mut cx = self.means();
        let centred = cx.plus(image, -(sums.zero as f64))?;
        // Numbers of 16 bits are 256 times one plus another, both of 8.
        let parts: Vec<(ValueId, i64, i64)> = match dtype {
            DType::I16 => {
                let step = cx.number(centred, 256.0)?;
                let high = cx.binary(kiln_ir::Binary::FloorDiv, centred, step)?;
                let low = cx.binary(kiln_ir::Binary::FloorMod, centred, step)?;
                vec![(high, 256, most / 256 + 1), (low, 1, 255)]
            }
            _ => vec![(centred, 1, most)],
        };
        let mut all = None;
        for (part, factor, most) in parts {
            let part = self.means().cast(part, DType::F32)?;
            let mut sum = self.exact(sums, part, most, wide)?;
            let mut cx = self.means();
            if factor != 1 {
                sum = cx.times(sum, factor as f64)?;
            }
            all = Some(match all {
                Some(all) => cx.sum(all, sum)?,
                None => sum,
            });
        }
        let all = all.ok_or_else(|| malformed!("it has no sums"))?;
        let mut cx = self.means();
        let bias = cx.int_constant("bias", wide, &[sums.bias.len()], &sums.bias)?;
        let y = cx.sum(all, bias)?;
        self.moved(y, &sums.then)
    }

    /// Sums of an image of floats whose numbers are at most `most`, without the bias.
    fn exact(&mut self, sums: &Sums, image: ValueId, most: i64, wide: DType) -> Lowered<ValueId> {
        let [o, kh, kw, depth] = sums.filter_dims;
        let taps = kh * kw;
        // Weights beyond bytes are made of two; so are all sums.
        let largest = sums.filters.iter().map(|w| i64::from(w.unsigned_abs())).max().unwrap_or(0).max(1);
        let fit = EXACT / most.max(1) / largest / taps.max(1) as i64;
        let share = usize::try_from(fit).unwrap_or(0).min(depth);
        if share == 0 {
            let what = "its sums have more digits than floats hold";
            return Err(crate::Refusal::unsupported(
                what,
                "quantise the layer to 8 bits, with a RESCALE behind it",
            ));
        }
        let mut all = None;
        for begin in (0..depth).step_by(share) {
            let count = share.min(depth - begin);
            let weights: Vec<f32> = sums
                .filters
                .chunks(depth)
                .flat_map(|tap| tap.get(begin..begin + count).unwrap_or_default())
                .map(|&w| f32::from(w))
                .collect();
            let part = self.channels(image, sums.groups, depth, begin, count)?;
            let mut cx = self.means();
            let filters = cx.float_constant("weights", &[o, kh, kw, count], &weights)?;
            let op = Op::Conv2d {
                window: sums.window,
                groups: sums.groups,
                rescale: Rescale::Real,
                clamp: Clamp::NO_FLOAT,
                layout: Default::default(),
            };
            let y = cx.add_like(op, &[part, filters], &sums.dims)?;
            let y = cx.cast(y, wide)?;
            all = Some(match all {
                Some(all) => cx.sum(all, y)?,
                None => y,
            });
        }
        all.ok_or_else(|| malformed!("it has no channels"))
    }

    /// Some channels of each group of an image.
    fn channels(
        &mut self,
        x: ValueId,
        groups: usize,
        depth: usize,
        begin: usize,
        count: usize,
    ) -> Lowered<ValueId> {
        if count == depth {
            return Ok(x);
        }
        let mut cx = self.means();
        let &[n, h, w, _] = &*cx.dims(x) else { return Err(malformed!("no image")) };
        let split = cx.reshaped(x, &[n, h, w, groups, depth])?;
        let part = cx.part(split, 4, begin, count, 1)?;
        cx.reshaped(part, &[n, h, w, groups * count])
    }
}
