//! The front end of the runtime: its features are those of TensorFlow Lite Micro's audio preprocessors, whatever blocks its samples come in. (That they are the same as firmware shows
//! `host-tests/tests/firmware.rs`.)

use cargo_kiln::golden::Golden;
use kiln::frontend::{to_f32, to_i8, Frontend, MicroSpeech, MicroWakeWord, Parameters, Tables, MICRO_SPEECH};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::{DType, Data};
use kiln_host_tests::corpus;

static TABLES: Tables<480, 257, 40> = Tables::new(&MICRO_SPEECH);

fn samples(data: &Data) -> Vec<i16> {
    data.to_ints(DType::I16).iter().map(|&sample| sample as i16).collect()
}

/// Two tones that grow louder, over noise.
fn sound(count: usize) -> Vec<i16> {
    let mut state = 1u32;
    let sample = |t: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let noise = f64::from((state >> 16) as i16) / 300.0;
        let t = t as f64 / 16000.0;
        (noise + 9000.0 * t.min(1.0) * ((2765.0 * t).sin() + (9000.0 * t).sin())) as i16
    };
    (0..count).map(sample).collect()
}

/// TensorFlow Lite Micro's own outputs, window by window.
#[test]
fn features_are_those_of_the_golden_cases() {
    let mut windows = 0;
    for model in corpus().iter().filter(|model| model.name.starts_with("tflm_audio_preprocessor")) {
        let golden = Golden::read(&model.golden).unwrap();
        // Its windows do not overlap.
        let mut frontend = Frontend::<480, 480, 257, 40>::new(&TABLES);
        for (inputs, outputs) in golden.inputs.iter().zip(&golden.outputs) {
            let samples = samples(&inputs[0]);
            let mut rest = &samples[..];
            let row = frontend.push(&mut rest).copied().unwrap();
            match model.name.ends_with("_int8") {
                true => assert_eq!(row.map(to_i8).to_vec(), outputs[0].to_i8(), "{}", model.name),
                false => assert_eq!(row.map(to_f32).to_vec(), outputs[0].to_f32(), "{}", model.name),
            }
            assert!(frontend.push(&mut rest).is_none());
            windows += 1;
        }
    }
    assert!(corpus().is_empty() || windows == 24, "{windows}");
}

/// The same samples through the model and through the front end: windows that overlap, in blocks of any length.
#[test]
fn features_are_those_of_the_model() {
    let Some(model) = corpus().into_iter().find(|model| model.name == "tflm_audio_preprocessor_int8") else {
        return;
    };
    let graph = kiln_codegen::front::read(&std::fs::read(&model.path).unwrap(), &model.name).unwrap();
    let sound = sound(8000);
    let mut machine = Machine::new(&graph);
    let mut frontend: MicroSpeech = Frontend::new(&TABLES);
    let mut rows = Vec::new();
    for block in sound.chunks(77) {
        let mut rest = block;
        while let Some(row) = frontend.push(&mut rest) {
            rows.push(row.map(to_i8));
        }
        assert!(rest.is_empty());
    }
    for (k, row) in rows.iter().enumerate() {
        let window = Data::from_i16(&sound[k * 320..][..480]);
        assert_eq!(machine.run(&[window]).unwrap()[0].to_i8(), row, "window {k}");
    }
    assert_eq!(rows.len(), (8000 - 480) / 320 + 1);
}

fn rows<const STEP: usize>(samples: &[i16], block: usize) -> Vec<[i16; 40]> {
    let mut frontend = Frontend::<480, STEP, 257, 40>::new(&TABLES);
    let mut rows = Vec::new();
    for block in samples.chunks(block) {
        let mut rest = block;
        while let Some(row) = frontend.push(&mut rest) {
            rows.push(*row);
        }
    }
    rows
}

#[test]
fn blocks_may_have_any_length() {
    let sound = sound(4000);
    let whole = rows::<160>(&sound, 4000);
    assert_eq!(whole.len(), (4000 - 480) / 160 + 1);
    for block in [1, 160, 333, 480, 481] {
        assert_eq!(rows::<160>(&sound, block), whole, "{block}");
    }
    // Windows that do not touch: the samples between them are passed over.
    let apart = rows::<700>(&sound, 999);
    assert_eq!(apart, rows::<700>(&sound, 1));
    assert_eq!(apart.len(), (4000 - 480) / 700 + 1);
}

#[test]
fn tones_are_in_their_channels_and_forgotten_by_a_reset() {
    let tone = |hertz: f64| -> Vec<i16> {
        let sample =
            |t: usize| (8000.0 * (2.0 * std::f64::consts::PI * hertz * t as f64 / 16000.0).sin()) as i16;
        (0..480).map(sample).collect()
    };
    let mut frontend: MicroWakeWord = Frontend::new(&TABLES);
    let loudest = |frontend: &mut MicroWakeWord, hertz: f64| {
        frontend.reset();
        let samples = tone(hertz);
        let row = *frontend.push(&mut &samples[..]).unwrap();
        let channel = (0..40).max_by_key(|&channel| row[channel]).unwrap();
        (channel, row)
    };
    // 40 channels, equally far from each other in mel from 125 to 7500 Hz.
    let mel = |hertz: f64| 1127.0 * (1.0 + hertz / 700.0).ln();
    let width = (mel(7500.0) - mel(125.0)) / 41.0;
    for hertz in [300.0, 440.0, 1000.0, 2500.0, 6000.0] {
        let (channel, row) = loudest(&mut frontend, hertz);
        let centre = (mel(hertz) - mel(125.0)) / width - 1.0;
        assert!((channel as f64 - centre).abs() <= 1.0, "{hertz} Hz in channel {channel}, {centre} wanted");
        assert_eq!(loudest(&mut frontend, hertz).1, row, "{hertz} Hz again");
    }
}

/// The sizes that documents name, on a machine whose pointers are twice as long as a microcontroller's.
#[test]
fn memory_is_what_is_said() {
    let kilobytes = |bytes: usize| (bytes as f64 / 100.0).round() / 10.0;
    let sizes = [std::mem::size_of::<MicroSpeech>(), std::mem::size_of::<Tables<480, 257, 40>>()];
    assert_eq!(sizes.map(kilobytes), [4.7, 4.6], "{sizes:?}");
}

/// Another front end altogether: 8 kHz, windows of 256 samples, 16 channels.
#[test]
fn parameters_make_other_front_ends() {
    const PARAMETERS: Parameters =
        Parameters { sample_rate: 8000, lower: 60.0, upper: 3800.0, clamping: true, ..MICRO_SPEECH };
    static TABLES: Tables<256, 129, 16> = Tables::new(&PARAMETERS);
    let mut frontend = Frontend::<256, 128, 129, 16>::new(&TABLES);
    let sound = sound(1024);
    let (mut rest, mut count, mut loud) = (&sound[..], 0, 0);
    while let Some(row) = frontend.push(&mut rest) {
        count += 1;
        loud = loud.max(*row.iter().max().unwrap());
    }
    assert_eq!(count, (1024 - 256) / 128 + 1);
    assert!(loud > 100, "{loud}");
}
