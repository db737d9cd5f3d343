//! Which forms of requantisation the channels of real models get. `KILN_CORPUS` names the models.

use kiln_codegen::ir::{Graph, Node, Op, Rescale};
use kiln_codegen::passes;
use kiln_codegen::requant::{
    choose, choose_halves, folded_bias, reachable, Affine, Channel, Choice, Reference, Scaling,
};
use kiln_codegen::{import, Options};
use std::path::PathBuf;

/// All channels of these have a form, on all cores.
const MLPERF: [&str; 5] =
    ["mlperf_ad_int8", "mlperf_ic_int8", "mlperf_kws_int8", "mlperf_strww_int8", "mlperf_vww_int8"];

/// Whether a kernel has four filters per tile, of which every second comes with a gain of 8 bits.
#[derive(Clone, Copy, PartialEq)]
enum Tile {
    Pairs,
    Single,
}

/// The channels of an integer convolution or dense layer.
fn channels(graph: &Graph, node: &Node, tile: Tile) -> Option<Vec<Channel>> {
    let (rescale, clamp) = match &node.op {
        Op::Conv2d { rescale, clamp, .. } | Op::Dense { rescale, clamp, .. } => (rescale, clamp),
        _ => return None,
    };
    let Rescale::FixedPoint(multipliers) = rescale else { return None };
    let weights = graph.const_data(node.operands[1])?.to_i8();
    let (x, y) = (graph.ty(node.operands[0]), graph.ty(node.result));
    let n = y.shape.last();
    let bias = node.operands.get(2).and_then(|&bias| graph.const_data(bias));
    let bias = bias.map_or(vec![0; n], |bias| bias.to_i32());
    let bias = folded_bias(&weights, &bias, x.zero_point(), n);
    let (lo, hi) = clamp.int_bounds();
    let taps = weights.len() / n;
    Some(
        (0..n)
            .map(|o| Channel {
                reference: Reference {
                    scaling: Scaling::Twice,
                    multiplier: multipliers[if multipliers.len() == 1 { 0 } else { o }],
                    zero_point: y.zero_point(),
                    lo,
                    hi,
                },
                range: reachable(weights[o * taps..][..taps].iter().copied(), bias[o], (-128, 127)),
                gain_bits: if tile == Tile::Pairs && o % 2 == 1 { 8 } else { 0 },
            })
            .collect(),
    )
}

/// Layers and channels of a model, and how many have a form.
#[derive(Default)]
struct Count {
    channels: usize,
    unsigned: usize,
    signed: usize,
    largest_delta: i32,
    halves: usize,
}

impl Count {
    fn add(&mut self, channels: &[Channel], choice: Option<&Choice>) {
        self.channels += channels.len();
        let fitted = |fits: bool| if fits { channels.len() } else { 0 };
        let plain: Vec<_> = channels.iter().map(|channel| (channel.reference, channel.range)).collect();
        self.halves += fitted(choose_halves(&plain).is_some());
        let Some(choice) = choice else { return };
        *(if choice.form.signed { &mut self.signed } else { &mut self.unsigned }) += channels.len();
        let deltas = choice.affine.iter().map(|a: &Affine| a.delta.abs()).max();
        self.largest_delta = self.largest_delta.max(deltas.unwrap_or(0));
    }
}

/// The models of the folder that `KILN_CORPUS` names, by name.
fn corpus() -> Vec<(String, PathBuf)> {
    let Some(folder) = std::env::var_os("KILN_CORPUS") else {
        println!("KILN_CORPUS is not set: no channels of real models were fitted");
        return Vec::new();
    };
    let files = std::fs::read_dir(PathBuf::from(folder).join("tflite")).into_iter().flatten().flatten();
    let mut models: Vec<_> =
        files.map(|file| (kiln_codegen::model_name(&file.path()), file.path())).collect();
    models.retain(|(name, _)| !name.contains("f32"));
    models.sort();
    models
}

#[test]
fn channels_of_real_models() {
    let mut failed = Vec::new();
    for (name, path) in corpus() {
        let bytes = std::fs::read(path).unwrap();
        let options = Options::default();
        let Ok(mut graph) = import(&bytes, &name, &options) else { continue };
        if passes::run_for(&mut graph, &options).is_err() {
            continue;
        }
        for tile in [Tile::Single, Tile::Pairs] {
            let (mut count, mut preferred) = (Count::default(), Vec::new());
            for (_, node) in graph.nodes() {
                let Some(channels) = channels(&graph, node, tile) else { continue };
                let choice = choose(&channels, &preferred);
                match &choice {
                    Ok(choice) if !preferred.contains(&choice.form.shift) => {
                        preferred.push(choice.form.shift)
                    }
                    Ok(_) => {}
                    Err(best) => {
                        let Channel { reference, .. } = &channels[0];
                        println!("  {}: {best} of {}, {reference:?}", node.origin, channels.len());
                    }
                }
                count.add(&channels, choice.as_ref().ok());
            }
            let Count { channels, unsigned, signed, largest_delta, halves } = count;
            if channels == 0 {
                continue;
            }
            println!(
                "{}{}: {channels} channels, {unsigned} unsigned, {signed} signed, shifts {preferred:?}, delta up to {largest_delta}; {halves} in halves",
                name,
                if tile == Tile::Pairs { ", pairs" } else { "" },
            );
            let all = [unsigned + signed, halves].iter().all(|&fitted| fitted == channels);
            if MLPERF.contains(&name.as_str()) && !all {
                failed.push(name.clone());
            }
        }
    }
    assert!(failed.is_empty(), "channels without a form in {failed:?}");
}
