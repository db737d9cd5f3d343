//! Models as their configuration has them: layers, and calls of them.
//!
//! Keras 3 writes the arguments of a call as `args` and `kwargs`, Keras 2 as a list of tensors. Both become [`Call`]s.

use super::value::Value;
use crate::{Lowered, Refusal};
use std::collections::HashMap;

/// A layer, or an operation of `keras.ops`.
#[derive(Clone, Copy)]
pub(super) struct Layer<'v> {
    pub(super) name: &'v str,
    pub(super) class: &'v str,
    /// The module that its class is in; empty in files of Keras 2.
    pub(super) module: &'v str,
    pub(super) config: &'v Value,
    /// The name of a class that was registered by the model's author.
    pub(super) registered: &'v str,
    pub(super) nodes: &'v Value,
}

/// One call of a layer.
#[derive(Clone, Debug, Default)]
pub(super) struct Call {
    pub(super) args: Vec<Value>,
    pub(super) kwargs: Vec<(Box<str>, Value)>,
}

/// A result of a call: which layer, which of its calls, which of its results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Link<'v> {
    pub(super) layer: &'v str,
    pub(super) call: usize,
    pub(super) result: usize,
}

/// A model.
pub(super) struct Model<'v> {
    pub(super) layers: Vec<Layer<'v>>,
    pub(super) kind: Kind<'v>,
}

pub(super) enum Kind<'v> {
    /// Layers one after the other. The shape of the input is where none of them says it.
    Sequential {
        built: &'v Value,
    },
    Functional {
        inputs: Vec<Link<'v>>,
        outputs: Vec<Link<'v>>,
    },
}

impl<'v> Layer<'v> {
    pub(super) fn read(value: &'v Value) -> Lowered<Layer<'v>> {
        let config = value.get("config");
        let own = [value.get("name"), config.get("name")].into_iter().map(Value::text);
        let layer = Layer {
            name: own.clone().find(|name| !name.is_empty()).unwrap_or_default(),
            class: value.get("class_name").text(),
            module: value.get("module").text(),
            config,
            registered: value.get("registered_name").text(),
            nodes: value.get("inbound_nodes"),
        };
        match layer.class.is_empty() {
            true => Err(malformed!("a layer has no class")),
            false => Ok(layer),
        }
    }

    /// Whether it is an operation, and no layer: it has no variables. HDF5 files do not name modules; layers have what operations do not have in their
    /// configurations.
    pub(super) fn is_operation(&self) -> bool {
        let is_of_layer = |key| self.config.get(key) != &Value::Null;
        match self.module.is_empty() {
            true => {
                !self.is_input() && !self.is_model() && !is_of_layer("trainable") && !is_of_layer("dtype")
            }
            false => self.module.starts_with("keras.src.ops") || self.module.starts_with("keras.ops"),
        }
    }

    /// Whether its class is one of Keras's own.
    pub(super) fn is_own(&self) -> bool {
        let is_keras = ["", "keras", "tf_keras"].contains(&self.module.split('.').next().unwrap_or(""));
        is_keras && !self.registered.contains('>')
    }

    pub(super) fn is_input(&self) -> bool {
        self.class == "InputLayer"
    }

    pub(super) fn is_model(&self) -> bool {
        matches!(self.class, "Functional" | "Model" | "Sequential")
            && self.config.get("layers") != &Value::Null
            || self.class == "Sequential"
    }

    /// Its calls.
    pub(super) fn calls(&self) -> Lowered<Vec<Call>> {
        self.nodes.list().iter().map(call).collect()
    }
}

/// A call in either form.
fn call(node: &Value) -> Lowered<Call> {
    if let Value::Object(_) = node {
        return Ok(Call {
            args: node.get("args").list().to_vec(),
            kwargs: node.get("kwargs").entries().to_vec(),
        });
    }
    // Keras 2: a list of [layer, call, result, further arguments].
    let mut links: &[Value] = node.list();
    if links.first().is_some_and(|first| !first.text().is_empty()) {
        links = std::slice::from_ref(node);
    }
    let mut tensors = Vec::new();
    let mut kwargs = Vec::new();
    for link in links {
        match link.list() {
            [name, call, result, rest @ ..] if !name.text().is_empty() => {
                tensors.push(Value::List(vec![name.clone(), call.clone(), result.clone()]));
                for (key, value) in rest.first().map(Value::entries).unwrap_or_default() {
                    kwargs.push((key.clone(), value.clone()));
                }
            }
            _ => return Err(malformed!("one of its calls is not of a known form")),
        }
    }
    let args = match tensors.len() {
        1 => tensors,
        _ => vec![Value::List(tensors)],
    };
    Ok(Call { args, kwargs })
}

/// What a value links to, if it is a tensor of the model.
pub(super) fn link(value: &Value) -> Option<Link<'_>> {
    let list = match value {
        Value::Object(_) if value.get("class_name").text() == "__keras_tensor__" => {
            value.get("config").get("keras_history").list()
        }
        Value::List(list) => list,
        _ => return None,
    };
    let [name, call, result] = list else { return None };
    let (Value::Int(call), Value::Int(result)) = (call, result) else { return None };
    let (call, result) = (usize::try_from(*call).ok()?, usize::try_from(*result).ok()?);
    (!name.text().is_empty()).then_some(Link { layer: name.text(), call, result })
}

/// All links in a value, in Keras's order: of a dictionary by keys.
pub(super) fn links<'v>(value: &'v Value, all: &mut Vec<Link<'v>>) {
    if let Some(link) = link(value) {
        all.push(link);
        return;
    }
    match value {
        Value::List(list) => list.iter().for_each(|value| links(value, all)),
        Value::Object(entries) => {
            let mut entries: Vec<_> = entries.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(&b.0));
            entries.into_iter().for_each(|(_, value)| links(value, all));
        }
        _ => {}
    }
}

impl<'v> Model<'v> {
    /// The model whose configuration a layer has.
    pub(super) fn read(layer: &Layer<'v>) -> Lowered<Model<'v>> {
        let config = layer.config;
        // The oldest files have a list of layers alone.
        let list = if let Value::List(list) = config { list } else { config.get("layers").list() };
        let layers: Vec<Layer<'v>> = list.iter().map(Layer::read).collect::<Lowered<_>>()?;
        if layer.class == "Sequential" {
            return Ok(Model { layers, kind: Kind::Sequential { built: config.get("build_input_shape") } });
        }
        if !config.has("input_layers") || !config.has("output_layers") {
            let what = format!("its class {} is no model of layers", layer.class);
            return Err(Refusal::unsupported(what, "build the model as a Sequential or functional one"));
        }
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        links(config.get("input_layers"), &mut inputs);
        links(config.get("output_layers"), &mut outputs);
        Ok(Model { layers, kind: Kind::Functional { inputs, outputs } })
    }

    /// The layers that hold variables, with the names that files of Keras 3 have for them: by class and number.
    pub(super) fn stored(&self) -> Vec<(String, Layer<'v>)> {
        let mut used: HashMap<String, usize> = HashMap::new();
        let mut named = Vec::new();
        let is_first_input = |k: usize, layer: &Layer<'_>| {
            k == 0 && layer.is_input() && matches!(self.kind, Kind::Sequential { .. })
        };
        for (k, layer) in self.layers.iter().enumerate() {
            if layer.is_operation() || is_first_input(k, layer) {
                continue;
            }
            named.push((numbered(&mut used, layer.class), *layer));
        }
        named
    }
}

/// The name of another object of a class in a list.
pub(super) fn numbered(used: &mut HashMap<String, usize>, class: &str) -> String {
    // Names in Python of classes that configurations call otherwise.
    let class = match class {
        "Model" => "Functional",
        "GroupQueryAttention" => "GroupedQueryAttention",
        class => class,
    };
    let name = snake_case(class);
    let count = used.entry(name.clone()).or_default();
    *count += 1;
    match *count {
        1 => name,
        count => format!("{name}_{}", count - 1),
    }
}

/// `global_max_pooling2d` of `GlobalMaxPooling2D`, as Keras has it.
fn snake_case(class: &str) -> String {
    let letters: Vec<char> = class.chars().filter(|c| c.is_alphanumeric() || *c == '_').collect();
    // An underscore before each capital that small letters follow, without overlap.
    let mut first = Vec::new();
    let mut at = 0;
    while let Some(&letter) = letters.get(at) {
        first.push(letter);
        at += 1;
        let is_capital = letters.get(at).is_some_and(char::is_ascii_uppercase);
        if is_capital && letters.get(at + 1).is_some_and(char::is_ascii_lowercase) {
            first.extend(['_', letters[at]]);
            at += 1;
            while letters.get(at).is_some_and(char::is_ascii_lowercase) {
                first.push(letters[at]);
                at += 1;
            }
        }
    }
    // And between a small letter and a capital.
    let mut second = String::new();
    for (k, &letter) in first.iter().enumerate() {
        if k > 0 && letter.is_ascii_uppercase() && first[k - 1].is_ascii_lowercase() {
            second.push('_');
        }
        second.push(letter.to_ascii_lowercase());
    }
    second
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes() {
        let names = [
            ("Conv2D", "conv2d"),
            ("SimpleRNN", "simple_rnn"),
            ("PReLU", "p_re_lu"),
            ("LSTMCell", "lstm_cell"),
            ("GlobalAveragePooling2D", "global_average_pooling2d"),
            ("Conv1DTranspose", "conv1d_transpose"),
            ("StackedRNNCells", "stacked_rnn_cells"),
            ("ConvLSTM2D", "conv_lstm2d"),
            ("BatchNormalization", "batch_normalization"),
            ("GroupedQueryAttention", "grouped_query_attention"),
        ];
        for (class, name) in names {
            assert_eq!(snake_case(class), name);
        }
        let mut used = HashMap::new();
        let all = ["Dense", "Dense", "Model"].map(|class| numbered(&mut used, class));
        assert_eq!(all, ["dense", "dense_1", "functional"]);
    }

    #[test]
    fn calls_in_both_forms() {
        let text = |text: &str| {
            let mut json = crate::json::Json::new(text.as_bytes());
            Value::read(&mut json).ok().unwrap()
        };
        let new = text(
            "{\"args\": [{\"class_name\": \"__keras_tensor__\", \"config\": {\"keras_history\": [\"a\", 1, 0]}}], \"kwargs\": {\"training\": false}}",
        );
        let new = call(&new).unwrap();
        let expected = Link { layer: "a", call: 1, result: 0 };
        assert_eq!(link(&new.args[0]), Some(expected));
        assert_eq!(&*new.kwargs[0].0, "training");
        let old = call(&text("[[\"a\", 1, 0, {\"mask\": null}], [\"b\", 0, 2, {}]]")).unwrap();
        let mut all = Vec::new();
        old.args.iter().for_each(|arg| links(arg, &mut all));
        assert_eq!(all, [expected, Link { layer: "b", call: 0, result: 2 }]);
        let dictionary = text("{\"z\": [\"a\", 1, 0], \"b\": [\"b\", 0, 0]}");
        let mut all = Vec::new();
        links(&dictionary, &mut all);
        assert_eq!(all.iter().map(|link| link.layer).collect::<Vec<_>>(), ["b", "a"]);
        assert!(call(&text("[1, 2]")).is_err());
    }
}
