//! What is refused, and where; what streams begin with.

use super::*;

fn keys(text: &str) -> Result<Keys, Error> {
    let mut keys = Keys::default();
    for pair in text.split(", ").filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap();
        keys.set(key, value)?;
    }
    Ok(keys)
}

fn features(text: &str) -> Result<Features, Error> {
    Features::of(&keys(text)?)
}

#[test]
fn streams_begin_as_the_packages_pad() {
    let of = |text: &str| {
        let features = features(&format!("sample_rate=16000, {text}")).unwrap();
        (features.start(), features.length(), features.hop())
    };
    assert_eq!(of("like=librosa, n_fft=512, hop=160"), (Start::Zeros(256), 512, 160));
    assert_eq!(of("like=librosa, n_fft=512, win_length=400"), (Start::Zeros(200), 400, 512));
    assert_eq!(of("like=librosa, n_fft=512, output=spectrum"), (Start::Zeros(256), 512, 128));
    assert_eq!(of("like=librosa, n_fft=512, win_length=400, center=false"), (Start::Skipped(56), 400, 512));
    assert_eq!(of("like=torchaudio, n_fft=512, win_length=400"), (Start::Mirrored(200), 400, 200));
    assert_eq!(of("like=kaldi"), (Start::Skipped(0), 400, 160));
    assert_eq!(of("like=python_speech_features"), (Start::Zeros(1), 401, 160));
    assert_eq!(of("like=tf.signal, win_length=480, hop=320"), (Start::Skipped(0), 480, 320));
}

#[test]
fn nonsense_is_refused_at_its_key() {
    for (text, key) in [
        ("", "like"),
        ("like=numpy", "like"),
        ("like=librosa", "sample_rate"),
        ("like=librosa, sample_rate=16000, hops=3", "hops"),
        ("like=librosa, sample_rate=16000, hop=0", "hop"),
        ("like=librosa, sample_rate=16000, hop=160, hop=160", "hop"),
        ("like=librosa, sample_rate=16000, n_fft=401", "n_fft"),
        ("like=librosa, sample_rate=16000, n_fft=5000", "n_fft"),
        ("like=librosa, sample_rate=16000, n_fft=512, win_length=600", "win_length"),
        ("like=kaldi, sample_rate=16000, n_fft=256", "n_fft"),
        ("like=librosa, sample_rate=16000, f_max=8001", "f_max"),
        ("like=librosa, sample_rate=16000, f_min=900, f_max=800", "f_min"),
        ("like=librosa, sample_rate=16000, f_max=0", "f_max"),
        ("like=tf.signal, sample_rate=4000, win_length=256, hop=128", "sample_rate"),
        ("like=tf.signal, sample_rate=16000, hop=128", "win_length"),
        ("like=tf.signal, sample_rate=16000, win_length=256", "hop"),
        ("like=librosa, sample_rate=16000, n_fft=64, n_mels=34", "n_mels"),
        ("like=librosa, sample_rate=16000, n_fft=64", "n_fft"),
        ("like=librosa, sample_rate=16000, n_mfcc=129", "n_mfcc"),
        ("like=librosa, sample_rate=16000, output=mel, n_mfcc=13", "n_mfcc"),
        ("like=librosa, sample_rate=16000, output=spectrum, n_mels=13", "n_mels"),
        ("like=librosa, sample_rate=16000, lifter=22", "lifter"),
        ("like=torchaudio, sample_rate=16000, n_mfcc=13, lifter=22", "lifter"),
        ("like=librosa, sample_rate=16000, window=povey", "window"),
        ("like=kaldi, sample_rate=16000, center=true", "center"),
        ("like=librosa, sample_rate=16000, center=false, pad_mode=reflect", "pad_mode"),
        ("like=torchaudio, sample_rate=16000, preemphasis=0.97", "preemphasis"),
        ("like=torchaudio, sample_rate=16000, n_fft=512, win_length=401", "win_length"),
        ("like=librosa, sample_rate=16000, log_floor=1e-3", "log_floor"),
        ("like=librosa, sample_rate=16000, log=natural", "log"),
        ("like=librosa, sample_rate=16000, log=db, log_floor=0", "log_floor"),
        ("like=librosa, sample_rate=16000, n_mfcc=13, log=none", "log"),
        ("like=kaldi, sample_rate=16000, mel_scale=slaney", "mel_scale"),
        ("like=kaldi, sample_rate=16000, mel_norm=slaney", "mel_norm"),
        ("like=librosa, sample_rate=16000, energy=true", "energy"),
        ("like=librosa, sample_rate=16000, normalized=window", "normalized"),
        ("like=librosa, sample_rate=16000, samples=f32, full_scale=1", "full_scale"),
        ("like=librosa, sample_rate=16000, power=3", "power"),
        ("like=librosa, sample_rate=16000, pcan=false", "pcan"),
        ("like=librosa, sample_rate=16000, deltas=3", "deltas"),
        ("like=tf.signal, sample_rate=16000, win_length=256, hop=128, deltas=1", "deltas"),
        ("like=librosa, sample_rate=16000, deltas=1, delta_width=4", "delta_width"),
        ("like=librosa, sample_rate=16000, delta_width=5", "delta_width"),
        ("like=librosa, sample_rate=16000, log=db, pcen_gain=1", "pcen_gain"),
        ("like=librosa, sample_rate=16000, log=pcen, n_mfcc=13", "log"),
        ("like=librosa, sample_rate=16000, log=pcen, log_floor=1", "log_floor"),
        ("like=librosa, sample_rate=16000, log=pcen, pcen_eps=0", "pcen_eps"),
        ("like=librosa, sample_rate=16000, log=pcen, pcen_b=1.5", "pcen_b"),
        ("like=librosa, sample_rate=16000, log=pcen, pcen_b=0.1, pcen_time_constant=0.4", "pcen_b"),
        ("like=tflm, sample_rate=16000, deltas=1", "deltas"),
        ("like=librosa, sample_rate=16000, n_fft=442, arithmetic=fixed", "n_fft"),
        ("like=librosa, sample_rate=16000, samples=f32, arithmetic=fixed", "samples"),
        ("like=kaldi, sample_rate=16000, preemphasis=1.5, arithmetic=fixed", "preemphasis"),
        ("like=kaldi, sample_rate=16000, arithmetic=integer", "arithmetic"),
        ("like=tflm, sample_rate=16000, arithmetic=fixed", "arithmetic"),
        ("like=tflm, sample_rate=16000, log=db", "log"),
        ("like=tflm, sample_rate=16000, samples=f32", "samples"),
        ("like=tflm, sample_rate=16000, n_fft=480", "n_fft"),
        ("like=tflm, sample_rate=16000, win_length=20", "win_length"),
        ("like=tflm, sample_rate=48000, win_length=1440, n_fft=1024", "n_fft"),
        ("like=tflm, sample_rate=8000", "sample_rate"),
        ("like=tflm, sample_rate=16000, f_max=8000", "f_max"),
        ("like=tflm, sample_rate=16000, f_min=7600", "f_min"),
        ("like=tflm, sample_rate=16000, f_min=1001, f_max=1002", "f_max"),
        ("like=tflm, sample_rate=16000, n_mels=300", "n_mels"),
        ("like=tflm, sample_rate=16000, odd_smoothing=1.5", "odd_smoothing"),
        ("like=tflm, sample_rate=16000, pcan_gain_bits=12", "pcan_gain_bits"),
        ("like=tflm, sample_rate=16000, pcan=false, pcan_offset=1", "pcan_offset"),
    ] {
        let error = features(text).map(|_| ()).unwrap_err();
        let Error::Options(problem) = &error else { panic!("{error}") };
        assert_eq!(problem.place, format!("key `{key}`"), "{text:?}: {error}");
        assert!(!problem.help.is_empty(), "{error}");
    }
}

#[test]
fn defaults_are_those_of_the_packages() {
    let count = |text: &str| features(text).unwrap().count();
    assert_eq!(count("like=librosa, sample_rate=22_050, f_max=8_000.0"), 128);
    assert_eq!(count("like=librosa, sample_rate=22050"), 128);
    assert_eq!(count("like=librosa, sample_rate=22050, output=mfcc"), 20);
    assert_eq!(count("like=torchaudio, sample_rate=16000, output=mfcc"), 40);
    assert_eq!(count("like=torchaudio, sample_rate=16000, output=spectrum"), 201);
    assert_eq!(count("like=kaldi, sample_rate=16000"), 23);
    assert_eq!(count("like=kaldi, sample_rate=16000, energy=true"), 24);
    assert_eq!(count("like=kaldi, sample_rate=16000, output=mfcc, energy=true"), 13);
    assert_eq!(count("like=python_speech_features, sample_rate=16000"), 26);
    assert_eq!(count("like=tflm, sample_rate=16000"), 40);
    assert_eq!(count("like=kaldi, sample_rate=16000, output=mfcc, deltas=2"), 39);
    let delay = |text: &str| features(text).unwrap().delay();
    assert_eq!(delay("like=librosa, sample_rate=16000, deltas=2"), 4);
    assert_eq!(delay("like=kaldi, sample_rate=16000, deltas=2"), 4);
    assert_eq!(delay("like=torchaudio, sample_rate=16000, deltas=1"), 2);
    assert_eq!(delay("like=torchaudio, sample_rate=16000"), 0);
}

/// The kernels recognise the transform: no matrix of it is stored.
#[test]
fn transforms_are_fast() {
    let keys = keys("like=librosa, sample_rate=16000, n_fft=512, win_length=400, hop=160, n_mels=40, log=db")
        .unwrap();
    let graph = Features::of(&keys).unwrap().graph("mel");
    let compiled = crate::compile_graph(graph, &crate::Options::default()).unwrap();
    assert!(compiled.program.constant_bytes() < 60_000, "{}", compiled.program.constant_bytes());
}

/// Filters that are taken apart are those that they were, within the last bit of their weights.
#[test]
fn banks_are_their_filters() {
    for text in [
        "like=librosa, sample_rate=16000, n_fft=512, n_mels=40",
        "like=librosa, sample_rate=22050",
        "like=torchaudio, sample_rate=16000, n_fft=512",
        "like=kaldi, sample_rate=16000, n_mels=80",
        "like=tf.signal, sample_rate=16000, win_length=512, hop=160",
        "like=python_speech_features, sample_rate=16000",
    ] {
        let features = features(text).unwrap();
        let filters = features.mel.as_ref().unwrap().filters(features.rate, features.n_fft);
        let bank = fixed::Bank::of(&filters);
        for (band, filter) in filters.iter().enumerate() {
            let mut sum = vec![0.0; filter.len()];
            for (at, weights) in [(band + 1, &bank.weights), (band, &bank.rest)] {
                let [first, start, width] =
                    [&bank.first, &bank.start, &bank.width].map(|table| table[at] as usize);
                for i in 0..width {
                    sum[first + i] += weights[start + i] as f64 * f64::from(bank.factors[band]);
                }
            }
            let largest = filter.iter().fold(0.0, |largest: f64, x| largest.max(*x));
            for (bin, (x, y)) in filter.iter().zip(&sum).enumerate() {
                assert!((x - y).abs() <= largest / 65000.0, "{text}, band {band}, {bin}: {x} and {y}");
            }
        }
    }
}
