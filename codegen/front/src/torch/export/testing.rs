//! Little archives for tests, as torch.export.save writes them.

use crate::testing::zip;
use std::fmt::Write;

/// A program that is being written.
#[derive(Default)]
pub(super) struct Net {
    tensors: Vec<String>,
    nodes: Vec<String>,
    inputs: Vec<String>,
    outputs: Vec<String>,
    config: Vec<String>,
    files: Vec<(String, Vec<u8>)>,
    /// JSON of the structure of the outputs.
    pub(super) out_spec: String,
    /// JSON of `range_constraints`.
    pub(super) ranges: String,
}

/// `ScalarType`s.
const FLOAT: u8 = 7;
const BOOL: u8 = 12;

/// A tensor's sizes as JSON; a symbol stands for a negative one.
fn sizes(dims: &[i64]) -> String {
    let size = |dim: &i64| match dim {
        0.. => format!("{{\"as_int\": {dim}}}"),
        _ => "{\"as_expr\": {\"expr_str\": \"Symbol('s0', positive=True, integer=True)\", \"hint\": null}}"
            .into(),
    };
    dims.iter().map(size).collect::<Vec<_>>().join(", ")
}

fn meta(dtype: u8, dims: &[i64], strides: &[i64], offset: i64) -> String {
    format!(
        "{{\"dtype\": {dtype}, \"sizes\": [{}], \"requires_grad\": false, \"strides\": [{}], \"storage_offset\": {{\"as_int\": {offset}}}, \"layout\": 7}}",
        sizes(dims),
        sizes(strides)
    )
}

fn dense(dims: &[i64]) -> Vec<i64> {
    (0..dims.len()).map(|k| dims[k + 1..].iter().map(|dim| dim.abs()).product()).collect()
}

impl Net {
    /// Adds a tensor: of truth values if it is called `is_…`, otherwise of floats.
    fn tensor(&mut self, name: &str, dims: &[i64]) {
        self.tensors.push(format!(
            "\"{name}\": {}",
            meta(if name.starts_with("is_") { BOOL } else { FLOAT }, dims, &dense(dims), 0)
        ));
    }

    pub(super) fn input(mut self, name: &str, dims: &[i64]) -> Self {
        self.tensor(name, dims);
        self.inputs
            .push(format!("{{\"user_input\": {{\"arg\": {{\"as_tensor\": {{\"name\": \"{name}\"}}}}}}}}"));
        self
    }

    /// A parameter or buffer (`p_…`, `b_…`), dense in a file of its own.
    pub(super) fn weight(mut self, name: &str, dims: &[i64], numbers: &[f32]) -> Self {
        let file = format!("weight_{}", self.files.len());
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.files.push((format!("net/data/weights/{file}"), bytes));
        self.view(name, &file, dims, &dense(dims), 0)
    }

    /// A view of a file with weights.
    pub(super) fn view(mut self, name: &str, file: &str, dims: &[i64], strides: &[i64], offset: i64) -> Self {
        self.tensor(name, dims);
        let kind = if name.starts_with("b_") { "buffer" } else { "parameter" };
        let of = name[2..].replace('_', ".");
        self.inputs.push(format!(
            "{{\"{kind}\": {{\"arg\": {{\"name\": \"{name}\"}}, \"{kind}_name\": \"{of}\"}}}}"
        ));
        self.config.push(format!(
            "\"{of}\": {{\"path_name\": \"{file}\", \"is_param\": true, \"use_pickle\": false, \"tensor_meta\": {}}}",
            meta(FLOAT, dims, strides, offset)
        ));
        self
    }

    /// A node: `x` and `p_w` are tensors, everything else is JSON: `dim {"as_int": 1}`.
    pub(super) fn node(self, target: &str, inputs: &[(&str, &str)], result: &str, dims: &[i64]) -> Self {
        self.nodes(target, inputs, &[(result, dims)])
    }

    /// A node with several results.
    pub(super) fn nodes(mut self, target: &str, inputs: &[(&str, &str)], results: &[(&str, &[i64])]) -> Self {
        results.iter().for_each(|(result, dims)| self.tensor(result, dims));
        let arg = |value: &str| match value.starts_with('{') {
            true => value.to_owned(),
            false => format!("{{\"as_tensor\": {{\"name\": \"{value}\"}}}}"),
        };
        let target = match target.split('.').count() {
            2 if !target.starts_with("higher_order.") => format!("aten.{target}"),
            _ => target.to_owned(),
        };
        let mut list = String::new();
        for (k, (name, value)) in inputs.iter().enumerate() {
            let comma = if k > 0 { ", " } else { "" };
            write!(list, "{comma}{{\"name\": \"{name}\", \"arg\": {}, \"kind\": 1}}", arg(value)).unwrap();
        }
        self.nodes.push(format!(
            "{{\"target\": \"torch.ops.{target}\", \"inputs\": [{list}], \"outputs\": [{}], \"metadata\": {{\"nn_module_stack\": \
             \"L__self__,,__main__.Net;L__self___enc_0,enc.0,torch.nn.modules.linear.Linear\", \"stack_trace\": \"  File \\\"/home/me/net.py\\\", \
             line 12, in forward\\n    return self.enc(x)\\n\"}}}}",
            results.iter().map(|(result, _)| arg(result)).collect::<Vec<_>>().join(", ")
        ));
        self
    }

    /// JSON of an argument that is a graph: the nodes, with inputs and results by name.
    pub(super) fn as_graph(&self, inputs: &[&str], results: &[&str]) -> String {
        let names = |names: &[&str]| {
            let name = |name: &&str| format!("{{\"as_tensor\": {{\"name\": \"{name}\"}}}}");
            names.iter().map(name).collect::<Vec<_>>().join(", ")
        };
        format!(
            "{{\"as_graph\": {{\"name\": \"graph\", \"graph\": {{\"inputs\": [{}], \"outputs\": [{}], \"nodes\": [{}], \"tensor_values\": {{{}}}}}}}}}",
            names(inputs),
            names(results),
            self.nodes.join(", "),
            self.tensors.join(", ")
        )
    }

    pub(super) fn output(mut self, name: &str) -> Self {
        self.outputs
            .push(format!("{{\"user_output\": {{\"arg\": {{\"as_tensor\": {{\"name\": \"{name}\"}}}}}}}}"));
        self
    }

    /// A buffer whose next value is a tensor.
    pub(super) fn mutation(mut self, name: &str, buffer: &str) -> Self {
        self.outputs.push(format!(
            "{{\"buffer_mutation\": {{\"arg\": {{\"name\": \"{name}\"}}, \"buffer_name\": \"{buffer}\"}}}}"
        ));
        self
    }

    pub(super) fn program(&self) -> String {
        let spec = match self.out_spec.is_empty() {
            true => "[1, {\"type\": null, \"context\": null, \"children_spec\": []}]",
            false => &self.out_spec,
        };
        format!(
            "{{\"graph_module\": {{\"graph\": {{\"inputs\": [], \"nodes\": [{}], \"tensor_values\": {{{}}}}}, \"signature\": {{\"input_specs\": [{}], \
             \"output_specs\": [{}]}}, \"module_call_graph\": [{{\"fqn\": \"\", \"signature\": {{\"in_spec\": \"\", \"out_spec\": \"{}\"}}}}]}}, \
             \"opset_version\": {{\"aten\": 10}}, \"range_constraints\": {{{}}}, \"schema_version\": {{\"major\": 8, \"minor\": 20}}, \
             \"torch_version\": \"2.15.0\"}}",
            self.nodes.join(", "),
            self.tensors.join(", "),
            self.inputs.join(", "),
            self.outputs.join(", "),
            spec.replace('"', "\\\""),
            self.ranges,
        )
    }

    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = self.files.clone();
        let config = format!("{{\"config\": {{{}}}}}", self.config.join(", "));
        files.push(("net/data/weights/model_weights_config.json".into(), config.into_bytes()));
        files.push(("net/models/model.json".into(), self.program().into_bytes()));
        files.push(("net/archive_format".into(), b"pt2".to_vec()));
        files
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        zip(&self.files())
    }
}

/// A layer, relu(x · Wᵀ + b), with its batch left open.
pub(super) fn layer() -> Net {
    Net { ranges: "\"s0\": {\"min_val\": 1, \"max_val\": 4}".into(), ..Net::default() }
        .weight("p_w", &[2, 3], &[1.0, 2.0, 3.0, -1.0, 0.0, 1.0])
        .weight("p_b", &[2], &[0.5, -0.5])
        .input("x", &[-1, 3])
        .node("linear.default", &[("input", "x"), ("weight", "p_w"), ("bias", "p_b")], "linear", &[-1, 2])
        .node("relu.default", &[("self", "linear")], "relu", &[-1, 2])
        .output("relu")
}

/// The last three inputs, and their sum: written into parts of a buffer.
pub(super) fn history() -> Net {
    let (axis, first) = ("{\"as_int\": 0}", "{\"as_int\": 1}");
    Net::default()
        .weight("b_h", &[3, 2], &[1.0; 6])
        .input("x", &[1, 2])
        .node("slice.Tensor", &[("self", "b_h"), ("dim", axis), ("start", first)], "tail", &[2, 2])
        .node("clone.default", &[("self", "tail")], "kept", &[2, 2])
        .node("slice.Tensor", &[("self", "b_h"), ("dim", axis), ("end", "{\"as_int\": 2}")], "head", &[2, 2])
        .node("copy_.default", &[("self", "head"), ("src", "kept")], "copy_", &[2, 2])
        .node("select.int", &[("self", "b_h"), ("dim", axis), ("index", "{\"as_int\": -1}")], "last", &[2])
        .node("squeeze.dim", &[("self", "x"), ("dim", axis)], "row", &[2])
        .node("copy_.default", &[("self", "last"), ("src", "row")], "copy__1", &[2])
        .node("sum.dim_IntList", &[("self", "b_h"), ("dim", "{\"as_ints\": [0]}")], "sum_1", &[2])
        .output("sum_1")
}

/// JSON of a list of tensors.
pub(super) fn list(names: &[&str]) -> String {
    let name = |name: &&str| format!("{{\"name\": \"{name}\"}}");
    format!("{{\"as_tensors\": [{}]}}", names.iter().map(name).collect::<Vec<_>>().join(", "))
}

/// x − 1 where the sum of x is positive, else x / 2, three times; a loop may end earlier.
pub(super) fn branches(ends: bool) -> Net {
    let one = ("other", "{\"as_float\": 1.0}");
    let less =
        Net::default().node("sub.Tensor", &[("self", "a"), one], "less", &[2]).as_graph(&["a"], &["less"]);
    let half = ("other", "{\"as_float\": 0.5}");
    let half =
        Net::default().node("mul.Tensor", &[("self", "a"), half], "half", &[2]).as_graph(&["a"], &["half"]);
    let zero = ("other", "{\"as_int\": 0}");
    let is_positive = |net: Net, of| {
        net.node("sum.default", &[("self", of)], "sum", &[]).node(
            "gt.Scalar",
            &[("self", "sum"), zero],
            "is_positive",
            &[],
        )
    };
    let branches = ("", list(&["v"]));
    let body = is_positive(Net::default(), "v")
        .node("add.Tensor", &[("self", "k"), ("other", "{\"as_int\": 1}")], "next", &[])
        .node(
            "higher_order.cond",
            &[("", "is_positive"), ("", &less), ("", &half), (branches.0, &branches.1)],
            "picked",
            &[2],
        )
        .as_graph(&["k", "v"], &["next", "picked"]);
    let counted =
        Net::default().node("lt.Scalar", &[("self", "k"), ("other", "{\"as_int\": 3}")], "is_going", &[]);
    let condition = match ends {
        false => counted.as_graph(&["k", "v"], &["is_going"]),
        true => is_positive(counted, "v")
            .node("bitwise_and.Tensor", &[("self", "is_going"), ("other", "is_positive")], "is_both", &[])
            .as_graph(&["k", "v"], &["is_both"]),
    };
    let carried = list(&["zero", "x"]);
    let loops = [("", &*condition), ("", &*body), ("", &*carried), ("", "{\"as_ints\": []}")];
    Net::default()
        .input("x", &[2])
        .node(
            "full.default",
            &[("size", "{\"as_ints\": []}"), ("fill_value", "{\"as_int\": 0}")],
            "zero",
            &[],
        )
        .nodes("higher_order.while_loop", &loops, &[("count", &[]), ("y", &[2])])
        .output("y")
}

/// A convolution, a pooling and a softmax, with two outputs in a dictionary.
pub(super) fn image() -> Net {
    let leaf = "{\"type\": null, \"context\": null, \"children_spec\": []}";
    let spec = format!(
        "[1, {{\"type\": \"builtins.dict\", \"context\": \"[\\\"map\\\", \\\"cls\\\"]\", \"children_spec\": [{leaf}, {leaf}]}}]"
    );
    let net = Net::default()
        .weight("p_w", &[2, 1, 3, 3], &(0..18).map(|k| k as f32 / 10.0 - 1.0).collect::<Vec<_>>())
        .input("x", &[1, 1, 6, 6])
        .node(
            "conv2d.default",
            &[("input", "x"), ("weight", "p_w"), ("padding", "{\"as_ints\": [1, 1]}")],
            "conv2d",
            &[1, 2, 6, 6],
        )
        .node(
            "max_pool2d.default",
            &[("self", "conv2d"), ("kernel_size", "{\"as_ints\": [2, 2]}")],
            "pool",
            &[1, 2, 3, 3],
        )
        .node("flatten.using_ints", &[("self", "pool"), ("start_dim", "{\"as_int\": 1}")], "flat", &[1, 18])
        .node("softmax.int", &[("self", "flat"), ("dim", "{\"as_int\": -1}")], "softmax", &[1, 18])
        .output("pool")
        .output("softmax");
    Net { out_spec: spec.replace('\\', "\\\\"), ..net }
}
