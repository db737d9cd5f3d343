//! Readers of PyTorch's models: programs of ATen operators, and what they become.
//!
//! - [`export`]: programs of `torch.export` (`.pt2`), which are lists of operators.
//! - [`script`]: modules of TorchScript (`.pt`), whose code calls operators.
//! - [`pte`]: programs of ExecuTorch (`.pte`), which are instructions on numbered values.
//! - [`lower`]: what each operator becomes, whoever calls it.
//!
//! Files of the first two are zip files, whose weights are not compressed; those of the third are flatbuffers. The bytes are not trusted: every length is checked, and memory stays
//! in proportion to the file. What operators mean is what ATen computes in float32.
//!
//! Tensors of PyTorch are channel-first, as those of ONNX. So operators are lowered by the means of ONNX's ([`NodeCx`](crate::onnx::lower::NodeCx)), and what
//! means the same becomes the same ops.

pub(crate) mod export;
#[cfg(any(feature = "executorch", feature = "pt2", feature = "torchscript"))]
mod lower;
#[cfg(any(feature = "pt2", feature = "torchscript"))]
mod pickle;
#[cfg(any(feature = "executorch", feature = "pt2", feature = "torchscript"))]
mod program;
pub(crate) mod pte;
pub(crate) mod script;
#[cfg(all(test, any(feature = "pt2", feature = "torchscript")))]
mod testing;
#[cfg(any(feature = "executorch", feature = "pt2", feature = "torchscript"))]
mod weights;
