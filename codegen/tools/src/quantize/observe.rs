//! What the calibration set tells: where the numbers of each value lie, and by how much rounded weights shift a layer's results.

use super::format;
use super::histogram::Histogram;
use super::simulate::{each, internal, values, workers, Progress};
use super::{Bits, Settings};
use kiln_interp::eval;
use kiln_ir::error::{Error, Problem};
use kiln_ir::{Clamp, DType, Data, Graph, NodeId, Op, ValueDef, ValueId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

/// What is known of the values of a graph.
#[derive(Clone, Debug, Default)]
pub(super) struct Observed {
    /// Where their numbers lie.
    pub(super) histograms: HashMap<ValueId, Histogram>,
    /// Of those asked for, the largest magnitude of each index of the last axis.
    pub(super) largest: HashMap<ValueId, Vec<f32>>,
}

/// Computes every sample and counts the numbers of all values. Of a sample nothing is kept.
///
/// # Errors
/// Where a number is not finite.
pub(super) fn observe(
    graph: &Graph,
    channels_of: &[ValueId],
    samples: &[Vec<Data>],
    progress: Progress<'_>,
) -> Result<Observed, Error> {
    let computed = |(id, value): (ValueId, &kiln_ir::Value)| {
        let live = match value.def {
            ValueDef::Node(node) => graph.order.contains(&node),
            ValueDef::Input => true,
            _ => false,
        };
        (live && value.ty.dtype == DType::F32).then_some(id)
    };
    let ids: Vec<ValueId> = graph.values().filter_map(computed).collect();
    let new = || {
        let channels = |&id: &ValueId| vec![0f32; graph.ty(id).shape.last()];
        (vec![Histogram::default(); ids.len()], channels_of.iter().map(channels).collect::<Vec<_>>())
    };
    let idle = Mutex::new(Vec::new());
    let lock = || idle.lock().map_err(|_| Error::internal("quantize", "a thread ended early"));
    each(workers(graph), samples.len(), (progress, "calibrating"), |sample| {
        let values = values(graph, &samples[sample])?;
        let mut own = lock()?.pop().unwrap_or_else(new);
        for (&id, histogram) in ids.iter().zip(&mut own.0) {
            if !histogram.add(&values.get(id).map_err(internal)?.to_f32()) {
                let place = format!("\"{}\"", graph.value(id).label());
                let what = format!("sample {sample} makes numbers that are not finite");
                let help = "look for infinities, or numbers much too large, in the calibration set".into();
                return Err(Error::Options(Problem { place, what, help }));
            }
        }
        for (&id, largest) in channels_of.iter().zip(&mut own.1) {
            let channels = largest.len();
            for (i, x) in values.get(id).map_err(internal)?.to_f32().into_iter().enumerate() {
                largest[i % channels] = largest[i % channels].max(x.abs());
            }
        }
        lock()?.push(own);
        Ok(())
    })?;
    let (mut histograms, mut largest) = new();
    for part in idle.into_inner().unwrap_or_default() {
        histograms.iter_mut().zip(part.0).for_each(|(all, part)| all.merge(part));
        for (all, part) in largest.iter_mut().zip(part.1) {
            all.iter_mut().zip(part).for_each(|(all, part)| *all = all.max(part));
        }
    }
    Ok(Observed {
        histograms: ids.into_iter().zip(histograms).collect(),
        largest: channels_of.iter().copied().zip(largest).collect(),
    })
}

/// What has to be added to biases, so that results have the same mean with rounded weights as with those of the file (bias correction: M. Nagel et al., "Data-Free
/// Quantization Through Weight Equalization and Bias Correction", 2019, section 4.2, with means measured instead of estimated).
pub(super) fn corrections(
    graph: &Graph,
    layers: &[NodeId],
    samples: &[Vec<Data>],
    settings: &Settings,
    progress: Progress<'_>,
) -> Result<BTreeMap<NodeId, Vec<f32>>, Error> {
    // By how much weights are off.
    let mut off = Vec::new();
    for &id in layers {
        let node = graph.node(id);
        if let (Op::Conv2d { .. } | Op::Dense { .. }, Some(data)) =
            (&node.op, node.operands.get(1).and_then(|&weights| graph.const_data(weights)))
        {
            let (ty, numbers) = (graph.ty(node.operands[1]), data.to_f32());
            let four = settings.weights == Bits::Four;
            let stored =
                format::weights(ty.shape.dims(), (&numbers, None), 1.0, four, settings.per_channel, &[]);
            let quant = stored.ty.quant.as_ref();
            let taps = numbers.len() / ty.shape.dims()[0].max(1);
            let scale = |i: usize| {
                let scales = quant.map_or(&[][..], |quant| &quant.scales);
                scales.get(if scales.len() > 1 { i / taps } else { 0 }).map_or(0.0, |scale| scale.0)
            };
            let stored = stored.data.to_i8();
            let differences: Vec<f32> =
                numbers.iter().enumerate().map(|(i, w)| f32::from(stored[i]) * scale(i) - w).collect();
            off.push((id, Data::from_f32(&differences)));
        }
    }
    let shifts = each(workers(graph), samples.len(), (progress, "correcting biases"), |sample| {
        let values = values(graph, &samples[sample])?;
        let shift = |(id, weights): &(NodeId, Data)| -> Result<Vec<f64>, Error> {
            let node = graph.node(*id);
            let mut op = node.op.clone();
            if let Op::Conv2d { clamp, .. } | Op::Dense { clamp, .. } = &mut op {
                *clamp = Clamp::NO_FLOAT;
            }
            let x = values.get(node.operands[0]).map_err(internal)?;
            let operands = [(graph.ty(node.operands[0]), x), (graph.ty(node.operands[1]), weights)];
            let result = eval(&op, &operands, graph.ty(node.result)).map_err(internal)?.to_f32();
            let channels = graph.ty(node.result).shape.last();
            let mut sums = vec![0.0; channels];
            result.iter().enumerate().for_each(|(i, &x)| sums[i % channels] += f64::from(x));
            let count = (result.len() / channels) as f64;
            Ok(sums.into_iter().map(|sum| sum / count).collect())
        };
        off.iter().map(shift).collect::<Result<Vec<_>, Error>>()
    })?;
    let mut corrections = BTreeMap::new();
    for (k, (id, _)) in off.iter().enumerate() {
        let channels = graph.ty(graph.node(*id).result).shape.last();
        let mean = |channel: usize| {
            shifts.iter().map(|sample| sample[k][channel]).sum::<f64>() / samples.len() as f64
        };
        corrections.insert(*id, (0..channels).map(|channel| -mean(channel) as f32).collect());
    }
    Ok(corrections)
}
