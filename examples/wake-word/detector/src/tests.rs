//! The generated code against the interpreter, TensorFlow, PyTorch, and what is to be heard in the clips.
extern crate std;

use crate::clips::{Tally, CLIPS};
use crate::{Listener, WakeWord, HOP};
use std::vec::Vec;

kiln::include_model!(
    pub Network = "../models/wake_word_int8.onnx",
    state("rows_0.next", "rows_0"),
    state("rows_1.next", "rows_1"),
    state("rows_2.next", "rows_2"),
    state("rows_3.next", "rows_3"),
    state("rows_4.next", "rows_4"),
    state("rows_5.next", "rows_5"),
);

kiln::features!(pub Mel = { like = "microfrontend", sample_rate = 16_000, hop = 320 });

/// Bands of a row of features.
const BANDS: usize = 40;

/// Rows of the features of the first clip, by TensorFlow.
static FEATURES: &[u8] = include_bytes!("../../golden/features.bin");

/// For each clip, the probabilities behind its rows by the float network in PyTorch.
static PROBABILITIES: &str = include_str!("../../golden/probabilities.txt");

/// What a network of floats is given for a feature of 1.
const FACTOR: f32 = 0.039_062_5;

/// A clip's features. The stream begins behind silence.
fn features(hops: impl Iterator<Item = [i16; HOP]>) -> Vec<[i16; BANDS]> {
    let (mut mel, mut rows) = (Mel::new(), Vec::new());
    for hop in core::iter::once([0; 160].to_vec()).chain(hops.map(|hop| hop.to_vec())) {
        let mut rest = &hop[..];
        while let Some(row) = mel.push(&mut rest) {
            rows.push(*row);
        }
    }
    rows
}

fn scores(hops: impl Iterator<Item = [i16; HOP]>) -> Vec<i8> {
    let mut network = WakeWord::new();
    hops.map(|hop| {
        *network.input_mut() = hop;
        network.invoke();
        network.output()[0]
    })
    .collect()
}

#[test]
fn generated_code_means_what_the_network_means() {
    kiln_test::assert_equivalent!(
        Network,
        "../models/wake_word_int8.onnx",
        cases = 100,
        steps = 40,
        states = &[
            "rows_0.next=rows_0",
            "rows_1.next=rows_1",
            "rows_2.next=rows_2",
            "rows_3.next=rows_3",
            "rows_4.next=rows_4",
            "rows_5.next=rows_5",
        ]
    );
}

#[test]
fn features_are_those_of_tensorflow() {
    let expected = FEATURES.chunks_exact(2).map(|bytes| i16::from_le_bytes([bytes[0], bytes[1]]));
    let clip = CLIPS.iter().find(|clip| clip.name == "hey_kiln/0").expect("a clip of that name");
    let actual = features(clip.hops());
    assert_eq!(actual.concat(), expected.collect::<Vec<_>>());
}

/// Features and network as one pipeline have the bits of features first, quantised, and the network then.
#[test]
fn one_pipeline_has_the_bits_of_two() {
    for clip in &CLIPS {
        let mut network = Network::new();
        let separate: Vec<i8> = features(clip.hops())
            .iter()
            .map(|row| {
                *network.input_mut() =
                    row.map(|feature| Network::quantize_input(f32::from(feature) * FACTOR));
                network.invoke();
                network.output()[0]
            })
            .collect();
        assert_eq!(scores(clip.hops()), separate, "{}", clip.name);
        assert_eq!(separate.len(), 72, "{}", clip.name);
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
        let clip = CLIPS.iter().find(|clip| clip.name == name).expect("a clip of that name");
        let scores: Vec<f32> = scores(clip.hops()).into_iter().map(WakeWord::dequantize_output).collect();
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
