//! Which layers the noise comes from, and what becomes of the worst where there is a budget.

use super::build::Built;
use super::simulate::{each, outputs, powers, ratio, values, workers, Progress};
use super::{layers, spread, Layer, Precision, Quantised, Trial, MEASURED_ALONE};
use kiln_codegen::passes;
use kiln_ir::error::Error;
use kiln_ir::{Data, NodeId};
use std::collections::BTreeMap;

/// Less of a gain, in dB, is none.
const LEAST_GAIN: f64 = 0.1;

/// Quantises each layer alone, lets the worst fall back until the budget is kept, and builds the graph.
///
/// # Errors
/// Where the graph is not sound: a bug in Kiln.
pub(super) fn finish(
    mut trial: Trial<'_>,
    samples: &[Vec<Data>],
    progress: Progress<'_>,
) -> Result<Quantised, Error> {
    let alone = each_alone(&trial, &spread(samples, MEASURED_ALONE), progress)?;
    let (mut built, mut snr) = compiled(&trial, true, progress)?;
    let first_snr = snr;
    let mut fallen = Vec::new();
    if let Some(budget) = trial.settings.budget_snr.filter(|&budget| snr < budget) {
        fallen = fall_back(&mut trial, budget, &alone, progress)?;
        (built, snr) = compiled(&trial, true, progress)?;
        if snr < budget && trial.snr >= budget {
            (built, snr) = compiled(&trial, false, progress)?;
        }
    }
    let list = layers(&trial.graph).into_iter().map(|(number, name, id)| Layer {
        number,
        name,
        op: trial.graph.node(id).op.name(),
        precision: trial.precision.get(&id).copied().unwrap_or(Precision::Float),
        alone: alone.get(&id).copied().unwrap_or(f64::INFINITY),
    });
    Ok(Quantised {
        graph: built.graph,
        states: Vec::new(),
        calls: None,
        layers: list.collect(),
        snr,
        first_snr,
        measured: trial.samples.len(),
        method: trial.method,
        equalised: trial.equalised,
        corrected: !trial.corrections.is_empty(),
        fallen,
    })
}

/// The graph, where `cheap` with scales that are cheap to rescale by, and its ratio as it is compiled.
fn compiled(trial: &Trial<'_>, cheap: bool, progress: Progress<'_>) -> Result<(Built, f64), Error> {
    let built = trial.built(&trial.precision, cheap)?;
    let snr = trial.measured(built.graph.clone(), passes::qdq::run, progress)?;
    Ok((built, snr))
}

/// The ratio of the outputs with each layer quantised alone.
fn each_alone(
    trial: &Trial<'_>,
    samples: &[&Vec<Data>],
    progress: Progress<'_>,
) -> Result<BTreeMap<NodeId, f64>, Error> {
    let quantised =
        |id: &NodeId| trial.precision.get(id).is_some_and(|&precision| precision != Precision::Float);
    let ids: Vec<NodeId> = layers(&trial.graph).into_iter().map(|(.., id)| id).filter(quantised).collect();
    let alone = |id: &NodeId| trial.build(&[(*id, trial.precision[id])].into_iter().collect());
    let built = ids.iter().map(alone).collect::<Result<Vec<_>, Error>>()?;
    // All layers of a sample: what is before a layer is computed once.
    let all = each(workers(&trial.graph), samples.len(), (progress, "measuring layers"), |sample| {
        let values = values(&trial.graph, samples[sample])?;
        let float = trial.float_outputs(&values)?;
        let one = |built| Ok(powers(&float, &outputs(built, samples[sample], &values)?));
        built.iter().map(one).collect::<Result<Vec<_>, Error>>()
    })?;
    let of = |k: usize| ratio(&trial.graph, &all.iter().map(|sample| sample[k].clone()).collect::<Vec<_>>());
    Ok(ids.into_iter().enumerate().map(|(k, id)| (id, of(k))).collect())
}

/// The worst layer and those that read it get 16 bits; where that does not help, it stays in floats; and so on, until the budget is kept. Gives the numbers of the layers that fell back.
fn fall_back(
    trial: &mut Trial<'_>,
    budget: f64,
    alone: &BTreeMap<NodeId, f64>,
    progress: Progress<'_>,
) -> Result<Vec<usize>, Error> {
    let before = trial.precision.clone();
    let mut worst: Vec<(NodeId, f64)> = alone.iter().map(|(&id, &ratio)| (id, ratio)).collect();
    worst.sort_by(|a, b| a.1.total_cmp(&b.1));
    // What a layer gains shows only where others do not drown it: so 16 bits are tried twice.
    let attempts = match trial.settings.wide {
        true => vec![Precision::Float],
        false => vec![Precision::I16, Precision::I16, Precision::Float],
    };
    for to in attempts {
        for &(id, _) in &worst {
            if trial.snr >= budget {
                break;
            }
            let mut precision = trial.precision.clone();
            for id in [vec![id], readers(trial, id)].concat() {
                match (to, precision.get_mut(&id)) {
                    (Precision::I16, Some(own @ Precision::I8)) => *own = to,
                    (Precision::Float, Some(own)) => *own = to,
                    _ => {}
                }
            }
            if precision == trial.precision {
                continue;
            }
            let snr = trial.measure(&precision, progress)?;
            if snr >= trial.snr + LEAST_GAIN {
                (trial.precision, trial.snr) = (precision, snr);
            }
        }
    }
    let fell = |(number, _, id): (usize, String, NodeId)| {
        (before.get(&id) != trial.precision.get(&id)).then_some(number)
    };
    Ok(layers(&trial.graph).into_iter().filter_map(fell).collect())
}

/// The nodes that read a layer's result, also behind ops that only move it.
fn readers(trial: &Trial<'_>, id: NodeId) -> Vec<NodeId> {
    let mut values = vec![trial.graph.node(id).result];
    let mut found = Vec::new();
    for (id, node) in trial.graph.nodes() {
        if node.operands.iter().any(|operand| values.contains(operand)) {
            found.push(id);
            if super::prepare::shares(&node.op) {
                values.push(node.result);
            }
        }
    }
    found
}
