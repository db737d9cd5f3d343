//! What templates say about an input or output.

use kiln_codegen::ir::DType;
use kiln_codegen::select;
use serde::Serialize;

/// An input or output of a model.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Port {
    /// What people call it: `output`, `output 1`.
    label: String,
    /// The same with its name in the model file.
    title: String,
    /// The call that lends it: `output()`.
    method: String,
    /// The expression that is printed: at most ten elements.
    shown: String,
    pub(super) element: &'static str,
    /// Number of elements.
    len: usize,
    shape: String,
    /// Scale and zero point in words; empty where there are none.
    scale: String,
    /// The function that turns real values into elements (inputs) or the other way round.
    quantised: Option<String>,
}

impl Port {
    /// All ports of one direction, whose accessors are called `word` (with a number where there are several) and `suffix`.
    pub(super) fn all(ports: &[select::Port], word: &str, suffix: &str) -> Vec<Port> {
        let single = ports.len() == 1;
        ports
            .iter()
            .enumerate()
            .map(|(index, port)| {
                let number = if single { String::new() } else { format!("_{index}") };
                let label = if single { word.to_owned() } else { format!("{word} {index}") };
                let (ty, len) = (&port.ty, port.region.len);
                let method = format!("{word}{number}{suffix}()");
                let range = if len > 10 { "[..10]" } else { "" };
                let borrow = if len > 10 { "&" } else { "" };
                let scaled =
                    matches!(ty.dtype, DType::I8 | DType::U8 | DType::I16).then(|| ty.scale()).flatten();
                let verb = if word == "input" { "quantize" } else { "dequantize" };
                Port {
                    title: match port.name.replace(['|', '`', '\n'], "_") {
                        name if name.is_empty() => label.clone(),
                        name => format!("{label} `{name}`"),
                    },
                    label,
                    shown: format!("{borrow}model.{method}{range}"),
                    method,
                    element: port.region.element.name(),
                    len,
                    shape: format!("{:?}", ty.shape.dims()),
                    scale: scaled.map_or(String::new(), |scale| {
                        format!(", value = {scale} · (element − {})", ty.zero_point()).replace("− -", "+ ")
                    }),
                    quantised: scaled.map(|_| format!("{verb}_{word}{number}")),
                }
            })
            .collect()
    }
}
