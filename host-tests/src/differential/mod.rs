//! Random graphs of all operators, by Kiln and by the runtimes that it is held to: what `cargo xtask differential` runs.
//!
//! A graph is drawn, and run by its runtimes, in `differential/oracle.py` ([`oracle`]). Kiln reads it, interprets it and compiles it ([`kiln`]); its generated code
//! runs with that of many others in one program ([`code`]). [`judge`] compares ([`compare`]) and asks for the reasons that are known ([`explained`]); [`report`] counts.

pub mod code;
pub mod compare;
pub mod explained;
pub mod judge;
pub mod keep;
pub mod kiln;
pub mod oracle;
pub mod report;
pub mod run;

/// A format of model files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// TensorFlow Lite.
    Tflite,
    /// ONNX.
    Onnx,
}

impl Format {
    /// Its name, which is the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            Format::Tflite => "tflite",
            Format::Onnx => "onnx",
        }
    }
}
