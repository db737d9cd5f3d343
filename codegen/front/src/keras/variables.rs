//! Which variables layers have, in Keras's order. Files of Keras 3 (`.keras`) name them by path; old ones (`.h5`) list those of a whole layer, first the ones that are trained.

use super::model::{numbered, Layer, Model};
use super::value::Value;
use crate::{Lowered, Refusal};
use std::collections::HashMap;

/// How deep layers may be nested.
pub(super) const DEEPEST: usize = 24;

/// A variable: where files of Keras 3 have it, and whether it is trained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Variable {
    pub(super) path: String,
    pub(super) trained: bool,
}

/// The path of a layer's own variable of that number.
pub(super) fn path(layer: &str, number: usize) -> String {
    format!("{layer}/vars/{number}")
}

/// All variables of a layer at a path.
pub(super) fn variables(layer: &Layer<'_>, at: &str) -> Lowered<Vec<Variable>> {
    let mut all = Vec::new();
    collect(layer, at, true, DEEPEST, &mut all)?;
    Ok(all)
}

fn collect(layer: &Layer<'_>, at: &str, trained: bool, most: usize, all: &mut Vec<Variable>) -> Lowered {
    let Some(most) = most.checked_sub(1) else {
        return Err(Refusal::unsupported("layers are nested too deep", "build the model of fewer levels"));
    };
    let trained = trained && layer.config.get("trainable").flag(true);
    let (own, fixed) = own(layer);
    all.extend((0..own + fixed).map(|k| Variable { path: path(at, k), trained: trained && k < own }));
    for (name, inner) in inner(layer)? {
        collect(&inner, &format!("{at}/{name}"), trained, most, all)?;
    }
    Ok(())
}

/// Layers inside of a layer, with their paths.
fn inner<'v>(layer: &Layer<'v>) -> Lowered<Vec<(String, Layer<'v>)>> {
    let config = layer.config;
    let child = |key: &str| -> Lowered<Vec<(String, Layer<'v>)>> {
        Ok(vec![(key.to_owned(), Layer::read(config.get(key))?)])
    };
    if layer.is_model() {
        let model = Model::read(layer)?;
        return Ok(model
            .stored()
            .into_iter()
            .map(|(name, layer)| (format!("layers/{name}"), layer))
            .collect());
    }
    Ok(match layer.class {
        "TimeDistributed" | "SpectralNormalization" => child("layer")?,
        "RNN" => child("cell")?,
        "SimpleRNN" | "LSTM" | "GRU" | "ConvLSTM1D" | "ConvLSTM2D" | "ConvLSTM3D" => {
            vec![("cell".into(), cell_of(layer))]
        }
        "Bidirectional" => {
            let forward = Layer::read(config.get("layer"))?;
            let backward = match config.has("backward_layer") {
                true => Layer::read(config.get("backward_layer"))?,
                false => forward,
            };
            vec![("forward_layer".into(), forward), ("backward_layer".into(), backward)]
        }
        "StackedRNNCells" => {
            let mut used = HashMap::new();
            let cell = |value: &'v Value| {
                let cell = Layer::read(value)?;
                Ok((format!("cells/{}", numbered(&mut used, cell.class)), cell))
            };
            config.get("cells").list().iter().map(cell).collect::<Lowered<_>>()?
        }
        "MultiHeadAttention" | "GroupedQueryAttention" | "GroupQueryAttention" => {
            let gate = config.get("use_gate").flag(false).then_some("gate");
            let names = ["query", "key"].into_iter().chain(gate).chain(["value", "output"]);
            let projection = Layer { class: PROJECTION, ..*layer };
            names.map(|name| (format!("{name}_dense"), projection)).collect()
        }
        _ => Vec::new(),
    })
}

/// What a projection of an attention layer is called here.
const PROJECTION: &str = " projection";

/// The cell of a recurrent layer, which has the layer's configuration.
pub(super) fn cell_of<'v>(layer: &Layer<'v>) -> Layer<'v> {
    let class = match layer.class {
        "SimpleRNN" => "SimpleRNNCell",
        "LSTM" => "LSTMCell",
        "GRU" => "GRUCell",
        _ => "ConvLSTMCell",
    };
    Layer { class, ..*layer }
}

/// How many variables a layer has itself: those that are trained, and behind them those that are not.
fn own(layer: &Layer<'_>) -> (usize, usize) {
    let config = layer.config;
    let flag = |key: &str, otherwise: bool| usize::from(config.get(key).flag(otherwise));
    let bias = flag("use_bias", true);
    match layer.class {
        "Dense"
        | "Conv1D"
        | "Conv2D"
        | "Conv3D"
        | "DepthwiseConv1D"
        | "DepthwiseConv2D"
        | "Conv1DTranspose"
        | "Conv2DTranspose"
        | "Conv3DTranspose"
        | "Convolution1D"
        | "Convolution2D"
        | "Convolution3D"
        | "Convolution1DTranspose"
        | "Convolution2DTranspose"
        | "Convolution3DTranspose"
        | PROJECTION => (1 + bias, 0),
        "EinsumDense" => (1 + usize::from(config.has("bias_axes")), 0),
        "SeparableConv1D"
        | "SeparableConv2D"
        | "SeparableConvolution1D"
        | "SeparableConvolution2D"
        | "SimpleRNNCell"
        | "LSTMCell"
        | "GRUCell"
        | "ConvLSTMCell" => (2 + bias, 0),
        "Embedding" | "PReLU" | "RMSNormalization" => (1, 0),
        "BatchNormalization" | "SyncBatchNormalization" => (flag("scale", true) + flag("center", true), 2),
        "LayerNormalization" => match flag("rms_scaling", false) {
            0 => (flag("scale", true) + flag("center", true), 0),
            _ => (1, 0),
        },
        "GroupNormalization" => (flag("scale", true) + flag("center", true), 0),
        "Normalization" => match config.has("mean") || config.has("variance") {
            true => (0, 0),
            false => (0, 3),
        },
        "SpectralNormalization" => (0, 1),
        "Attention" => {
            let concat = usize::from(config.get("score_mode").text() == "concat");
            (flag("use_scale", false) + concat, 0)
        }
        "AdditiveAttention" => (flag("use_scale", true), 0),
        _ => (0, 0),
    }
}
