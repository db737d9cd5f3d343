//! The generated code against the interpreter, torchaudio, PyTorch, and what is to be heard in the clips.
extern crate std;

use crate::clips::{Tally, CLIPS};
use crate::{Listener, WakeWord, HOP};
use std::vec::Vec;

kiln::include_model!(pub Network = "../models/wake_word_int8.onnx", input = "sliding");

kiln::features!(pub Mel = {
    like = "torchaudio", sample_rate = 16_000, n_fft = 512, hop = 480, n_mels = 40,
    f_min = 60.0, f_max = 7600.0, center = false, log = "natural", log_offset = 1e-5,
});

/// Rows of the features of the first clip, by torchaudio.
static FEATURES: &[u8] = include_bytes!("../../golden/features.bin");

/// For each clip, the probabilities of its windows by the float network in PyTorch.
static PROBABILITIES: &str = include_str!("../../golden/probabilities.txt");

fn samples(name: &str) -> Vec<i16> {
    let clip = CLIPS.iter().find(|clip| clip.name == name).expect("a clip of that name");
    clip.hops().flatten().collect()
}

#[test]
fn generated_code_means_what_the_network_means() {
    kiln_test::assert_equivalent!(Network, "../models/wake_word_int8.onnx", cases = 100);
}

#[test]
fn features_are_those_of_torchaudio() {
    let expected: Vec<f32> = FEATURES
        .chunks_exact(4)
        .map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
        .collect();
    let samples = samples("hey_kiln/0");
    let (mut mel, mut rest, mut features) = (Mel::new(), &samples[..], Vec::new());
    while let Some(row) = mel.push(&mut rest) {
        features.extend_from_slice(row);
    }
    assert_eq!(features.len(), expected.len());
    let largest = expected.iter().fold(0.0, |largest: f32, x| largest.max(x.abs()));
    for (actual, expected) in features.iter().zip(&expected) {
        assert!((actual - expected).abs() <= 1e-5 * largest, "{actual}, and {expected} by torchaudio");
    }
}

/// Features and network as one pipeline have the bits of features first, quantised, and the network then.
#[test]
fn one_pipeline_has_the_bits_of_two() {
    for clip in &CLIPS {
        let (mut both, mut mel, mut network) = (WakeWord::new(), Mel::new(), Network::new());
        let (mut scores, mut separate) = (Vec::new(), Vec::new());
        for hop in clip.hops() {
            scores.extend(hop.iter().filter_map(|&sample| both.slide(&[sample]).copied()));
            let mut rest = &hop[..];
            while let Some(row) = mel.push(&mut rest) {
                separate.extend(network.slide(&row.map(Network::quantize_input)).copied());
            }
        }
        assert_eq!(scores, separate, "{}", clip.name);
        assert!(scores.len() >= 9, "{}", clip.name);
    }
}

/// Integers move a probability: by little on average, and by more where it rises.
#[test]
fn probabilities_are_close_to_those_of_pytorch() {
    let mut differences = Vec::new();
    for line in PROBABILITIES.lines() {
        let (name, expected) = line.split_once(' ').expect("a name and numbers");
        let expected: Vec<f32> =
            expected.split(' ').map(|number| number.parse().expect("a number")).collect();
        let mut network = WakeWord::new();
        let scores: Vec<f32> = samples(name)
            .iter()
            .filter_map(|&sample| network.slide(&[sample]).map(|score| WakeWord::dequantize_output(score[0])))
            .collect();
        assert_eq!(scores.len(), expected.len(), "{name}");
        differences.extend(scores.iter().zip(&expected).map(|(score, expected)| (score - expected).abs()));
    }
    let mean = differences.iter().sum::<f32>() / differences.len() as f32;
    let largest = differences.iter().copied().fold(0.0, f32::max);
    assert!(mean <= 0.02 && largest <= 0.25, "{mean} on average, {largest} at most");
}

#[test]
fn wake_words_are_heard_and_nothing_else() {
    let (mut listener, mut tally) = (Listener::new(), Tally::default());
    for (index, clip) in CLIPS.iter().enumerate() {
        for (hop, samples) in clip.hops().enumerate() {
            if listener.hear(&samples).is_some() {
                tally.count(index, (hop + 1) * HOP);
            }
        }
    }
    assert_eq!(tally, Tally::expected());
}

/// A block may have any length: reports are the same.
#[test]
fn blocks_of_any_length_are_heard() {
    let samples: Vec<i16> = CLIPS.iter().flat_map(|clip| clip.hops()).flatten().collect();
    let reports = |length: usize| {
        let mut listener = Listener::new();
        samples.chunks(length).filter_map(|block| listener.hear(block)).collect::<Vec<_>>()
    };
    assert_eq!(reports(160), reports(997));
}
