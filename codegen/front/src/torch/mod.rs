//! Readers of PyTorch's models: programs of ATen operators, and what they become.
//!
//! - [`export`]: programs of `torch.export` (`.pt2`), which are lists of operators.
//! - [`script`]: modules of TorchScript (`.pt`), whose code calls operators.
//! - [`lower`]: what each operator becomes, whoever calls it.
//!
//! All files are zip files. The bytes are not trusted: every length is checked, memory stays in proportion to the file, and weights are not compressed. What
//! operators mean is what ATen computes in float32.
//!
//! Tensors of PyTorch are channel-first, as those of ONNX. So operators are lowered by the means of ONNX's ([`NodeCx`](crate::onnx::lower::NodeCx)), and what
//! means the same becomes the same ops.

pub(crate) mod export;
#[cfg(any(feature = "pt2", feature = "torchscript"))]
mod lower;
#[cfg(any(feature = "pt2", feature = "torchscript"))]
mod pickle;
#[cfg(any(feature = "pt2", feature = "torchscript"))]
mod program;
pub(crate) mod script;
#[cfg(all(test, any(feature = "pt2", feature = "torchscript")))]
mod testing;
#[cfg(any(feature = "pt2", feature = "torchscript"))]
mod weights;
