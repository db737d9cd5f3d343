//! Little archives for tests, as torch.jit.save writes them.

use crate::testing::zip;
pub(super) use crate::torch::testing::{int, tensor, text};

/// A module that is being written.
#[derive(Default)]
pub(super) struct Net {
    /// Code of files, by module: `__torch__`.
    code: Vec<(String, String)>,
    constants: Vec<Vec<u8>>,
    attributes: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

/// The pickle of an object with attributes, whose pickles these are.
pub(super) fn object(module: &str, class: &str, attributes: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let state: Vec<u8> =
        attributes.iter().flat_map(|(name, value)| [text(name), value.clone()].concat()).collect();
    [format!("c{module}\n{class}\n").as_bytes(), b")\x81}(", &state, b"ub"].concat()
}

impl Net {
    /// A module whose class `M` has this code: lines of its body.
    pub(super) fn new(body: &str) -> Self {
        let mut net = Net::default();
        let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
        net.code.push(("__torch__".into(), format!("class M(Module):\n{body}")));
        net
    }

    /// More code.
    pub(super) fn file(mut self, module: &str, code: &str) -> Self {
        self.code.push((module.into(), code.into()));
        self
    }

    /// A constant of floats.
    pub(super) fn constant(mut self, dims: &[i32], numbers: &[f32]) -> Self {
        let file = self.constants.len().to_string();
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.files.push((format!("net/constants/{file}"), bytes));
        self.constants.push(tensor("FloatStorage", &file, dims));
        self
    }

    /// A constant of integers.
    pub(super) fn long(mut self, dims: &[i32], numbers: &[i64]) -> Self {
        let file = self.constants.len().to_string();
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.files.push((format!("net/constants/{file}"), bytes));
        self.constants.push(tensor("LongStorage", &file, dims));
        self
    }

    /// The pickle of a tensor for an attribute.
    pub(super) fn weight(&mut self, dims: &[i32], numbers: &[f32]) -> Vec<u8> {
        let file = self.files.len().to_string();
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        self.files.push((format!("net/data/{file}"), bytes));
        tensor("FloatStorage", &file, dims)
    }

    /// An attribute, with its pickle.
    pub(super) fn attribute(mut self, name: &str, value: &[u8]) -> Self {
        self.attributes.extend(text(name));
        self.attributes.extend(value);
        self
    }

    /// An attribute that is a tensor.
    pub(super) fn buffer(mut self, name: &str, dims: &[i32], numbers: &[f32]) -> Self {
        let pickle = self.weight(dims, numbers);
        self.attribute(name, &pickle)
    }

    pub(super) fn files(&self) -> Vec<(String, Vec<u8>)> {
        let data = [&b"\x80\x02c__torch__\nM\n)\x81}("[..], &self.attributes, b"ub."].concat();
        let constants = [&b"\x80\x02("[..], &self.constants.concat(), b"t."].concat();
        let mut files = vec![("net/data.pkl".to_owned(), data)];
        for (module, code) in &self.code {
            files.push((format!("net/code/{}.py", module.replace('.', "/")), code.clone().into_bytes()));
        }
        files.extend(self.files.iter().cloned());
        files.push(("net/constants.pkl".into(), constants));
        files.push(("net/byteorder".into(), b"little".to_vec()));
        files
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        zip(&self.files())
    }
}

/// A layer with a loop, a condition and a dictionary.
pub(super) fn layer() -> Net {
    Net::new(
        "def forward(self: __torch__.M,
  x: Tensor) -> Dict[str, Tensor]:
  y = torch.linear(x, CONSTANTS.c0, CONSTANTS.c1)
  for i in range(torch.size(x, 0)):
    y = torch.relu(torch.sub(y, i))
  if torch.ne(torch.dim(x), 2):
    ops.prim.RaiseException(torch.format(\"2 axes, not {}\", torch.dim(x)), \"builtins.ValueError\")
  else:
    pass
  return {\"rows\": y, \"sum\": torch.sum(y, [-1])}",
    )
    .constant(&[2, 3], &[1.0, 2.0, 3.0, -1.0, 0.0, 1.0])
    .constant(&[2], &[0.5, -0.5])
}

/// The last three inputs, and their sum: written into parts of a buffer of a module within the module.
pub(super) fn history() -> Net {
    let mut net = Net::new(
        "h : __torch__.parts.History
def forward(self: __torch__.M,
  x: Tensor) -> Tensor:
  h = self.h
  return (h).forward(x, )",
    )
    .file(
        "__torch__.parts",
        "class History(Module):
  __buffers__ = [\"b\", ]
  b : Tensor
  steps : Final[int] = 3
  def forward(self: __torch__.parts.History,
    x: Tensor) -> Tensor:
    b = self.b
    kept = torch.clone(torch.slice(b, 0, 1))
    _0 = torch.copy_(torch.slice(b, 0, 0, torch.sub(self.steps, 1)), kept)
    _1 = torch.copy_(torch.select(self.b, 0, -1), torch.squeeze(x, 0))
    return __torch__.parts.total(self.b, )
def total(x: Tensor, axis: int=0) -> Tensor:
  return torch.sum(x, [axis])
",
    );
    let buffer = net.weight(&[3, 2], &[1.0; 6]);
    net.attribute("h", &object("__torch__.parts", "History", &[("b", buffer)]))
}
