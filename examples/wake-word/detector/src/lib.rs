//! Hears "hey kiln" in a stream of samples: audio features and a network as one pipeline, and a detector of what its scores mean.
#![no_std]

pub mod clips;

use kiln::post::StreamDetector;

// Features as TensorFlow computes them in ../train.py. What the network remembers of earlier rows are its states.
kiln::include_model!(
    pub WakeWord = "../models/wake_word_int8.onnx",
    features = "microfrontend, sample_rate = 16000, hop = 320",
    state("rows_0.next", "rows_0"),
    state("rows_1.next", "rows_1"),
    state("rows_2.next", "rows_2"),
    state("rows_3.next", "rows_3"),
    state("rows_4.next", "rows_4"),
    state("rows_5.next", "rows_5"),
);

/// Samples of 16 kHz between two scores of the network: 20 ms.
pub const HOP: usize = 320;

/// Hops of a second.
pub const HOPS_A_SECOND: u32 = 16_000 / HOP as u32;

/// Reports where the average of five scores is 0.75 or more, and then nothing for a second.
const DETECTOR: StreamDetector<i8, 5> = StreamDetector::new(&WakeWord::OUTPUT, 0.75, HOPS_A_SECOND);

/// Network and detector: to be put into a `static`.
pub struct Listener {
    network: WakeWord,
    detector: StreamDetector<i8, 5>,
}

impl Listener {
    /// Nothing was heard yet.
    pub const fn new() -> Self {
        Listener { network: WakeWord::new(), detector: DETECTOR }
    }

    /// Takes the next samples. Says once when the wake word has been heard, and how sure that is, 0 to 1.
    pub fn hear(&mut self, samples: &[i16; HOP]) -> Option<f32> {
        *self.network.input_mut() = *samples;
        self.network.invoke();
        self.detector.push(self.network.output()).map(|heard| heard.score)
    }
}

impl Default for Listener {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
