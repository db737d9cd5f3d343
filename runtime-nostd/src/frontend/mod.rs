//! Frames of a stream of samples, as the features of speech models need them. The types that `kiln::features!` makes hold one.
//!
//! ```
//! use kiln::frontend::Frames;
//!
//! // 30 ms every 20 ms, at 16 kHz.
//! let mut frames = Frames::<i16, 480, 320>::new(0);
//!
//! let block = [0i16; 1000]; // what the microphone gave, of any length
//! let mut rest = &block[..];
//! let mut count = 0;
//! while let Some(frame) = frames.push(&mut rest) {
//!     let _: &[i16; 480] = frame;
//!     count += 1;
//! }
//! assert_eq!(count, 2); // samples 0 to 479 and 320 to 799
//! ```

mod frames;

pub use frames::Frames;
