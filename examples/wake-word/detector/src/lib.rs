//! Hears "hey kiln" in a stream of samples: audio features and a network as one pipeline, and a detector of what its scores mean.
#![no_std]

pub mod clips;

use kiln::post::StreamDetector;

// Features as torchaudio computes them in ../train.py.
kiln::include_model!(
    pub WakeWord = "../models/wake_word_int8.onnx",
    features = "torchaudio, sample_rate = 16000, n_fft = 512, hop = 480, n_mels = 40, f_min = 60.0, f_max = 7600.0, center = false, log = natural, log_offset = 1e-5",
    input = "sliding",
);

/// Samples of 16 kHz between two scores of the network: 30 ms.
pub const HOP: usize = WakeWord::HOP;

/// The least number of hops that takes a second.
pub const HOPS_A_SECOND: u32 = 16_000_u32.div_ceil(HOP as u32);

/// Reports where the average of four scores is 0.7 or more, and then nothing for a second.
const DETECTOR: StreamDetector<i8, 4> = StreamDetector::new(&WakeWord::OUTPUT, 0.7, HOPS_A_SECOND);

/// Network and detector: to be put into a `static`.
pub struct Listener {
    network: WakeWord,
    detector: StreamDetector<i8, 4>,
}

impl Listener {
    /// Nothing was heard yet.
    pub const fn new() -> Self {
        Listener { network: WakeWord::new(), detector: DETECTOR }
    }

    /// Takes the next samples, any number of them up to a second. Says once when the wake word has been heard, and how sure that is, 0 to 1.
    pub fn hear(&mut self, samples: &[i16]) -> Option<f32> {
        let (mut report, mut rest) = (None, samples);
        // A score for each hop, once the first window is full.
        while let Some(score) = self.network.slide_samples(&mut rest) {
            report = self.detector.push(score).map(|heard| heard.score).or(report);
        }
        report
    }
}

impl Default for Listener {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
