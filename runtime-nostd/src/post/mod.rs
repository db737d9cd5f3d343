//! What comes after the output: from scores to an answer.
//!
//! | question | answer |
//! |---|---|
//! | which class is it? | [`argmax`], `top_k`, both by name with [`Labels`] |
//! | how sure is the model? | [`TensorInfo::real`](crate::TensorInfo::real) of a score |
//! | is a score high enough? | [`TensorInfo::at_least`](crate::TensorInfo::at_least): the threshold as a stored value, to compare integers |
//! | what do the last scores say together? | [`MovingAverage`], [`Exponential`] |
//! | when was the wake word said? | [`StreamDetector`]; [`Hysteresis`] for what lasts, such as speech |
//! | where is it? | [`SsdHead`], [`GridHead`]: boxes; `Detections`: the best of them, without duplicates |
//!
//! Scores are taken as a model stores them ([`Score`]): ranking, averaging and thresholds need no floating point for a quantised model.
//! Nothing here allocates or panics. What returns lists of bounded length (`top_k`, `Detections`) needs the feature `heapless`.
//!
//! ```
//! use kiln::post::{argmax, Labels};
//! # use kiln::{DType, TensorInfo};
//! # struct Kws;
//! # impl Kws {
//! #     const OUTPUT: TensorInfo = TensorInfo { name: "scores", dtype: DType::I8, shape: &[1, 3], scale: 1.0 / 256.0, zero_point: -128 };
//! # }
//! const WORDS: Labels<3> = Labels(["silence", "yes", "no"]);
//!
//! let scores: &[i8; 3] = &[-120, 102, -110]; // kws.output()
//! let heard = WORDS.argmax(scores);
//! assert_eq!((heard.label, heard.index), ("yes", 1));
//! assert!(Kws::OUTPUT.real(heard.score) > 0.89);
//!
//! // The same threshold, without floating point at run time:
//! const SURE: i32 = Kws::OUTPUT.at_least(0.9);
//! assert!(i32::from(heard.score) < SURE); // 0.8984 is not 0.9
//! ```

mod boxes;
mod detect;
#[cfg(feature = "heapless")]
mod list;
mod rank;
mod score;
mod smooth;

pub use boxes::{Anchor, BoxOrder, Detection, GridHead, Offsets, Rect, SsdHead, Variances};
pub use detect::{Hysteresis, StreamDetector};
#[cfg(feature = "heapless")]
pub use list::{top_k, Detections};
pub use rank::{argmax, Labelled, Labels, Ranked};
pub use score::Score;
pub use smooth::{Exponential, MovingAverage};
