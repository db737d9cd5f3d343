//! Labelled sets of every kind, through the interpreter: nothing is built.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]

use cargo_kiln::eval::{evaluate, Columns, Evaluation, Numbers, Pool, Settings};
use hound::{SampleFormat, WavSpec, WavWriter};
use kiln_codegen::ir::Graph;
use kiln_codegen::Options;
use kiln_tools::write;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The held-out digits, as the ink of 64 pixels, 0 to 16, and the digit.
fn digits() -> PathBuf {
    root().join("examples/classify/data/held_out.csv")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn model(name: &str) -> PathBuf {
    root().join(format!("examples/digits/models/{name}.tflite"))
}

/// A folder of a test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("kiln-eval-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn join(&self, name: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        path
    }

    /// A model that is written as a graph.
    fn model(&self, lines: &str) -> PathBuf {
        let graph = Graph::parse(&format!("graph \"m\" {{\n{lines}\n}}")).unwrap();
        let path = self.join("m.onnx");
        std::fs::write(&path, write::onnx(&graph, &write::Settings::default()).unwrap()).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn settings(data: &Path) -> Settings {
    Settings { data: data.into(), on: vec!["interp".into()], ..Settings::default() }
}

/// Ink as the digits' models take it.
fn ink() -> Numbers {
    Numbers { mean: Vec::new(), scale: vec![1.0 / 16.0] }
}

fn run(model: &Path, settings: &Settings) -> Evaluation {
    evaluate(model, &Options::default(), settings).unwrap()
}

fn error(model: &Path, settings: &Settings) -> String {
    format!("{:#}", evaluate(model, &Options::default(), settings).unwrap_err())
}

/// The pixels of each digit, and its label.
fn rows() -> Vec<(Vec<u8>, String)> {
    let text = std::fs::read_to_string(digits()).unwrap();
    let row = |line: &str| {
        let (ink, label) = line.rsplit_once(',').unwrap();
        (ink.split(',').map(|ink| ink.parse().unwrap()).collect(), label.to_owned())
    };
    text.lines().map(row).collect()
}

/// The right answers of TensorFlow Lite Micro.
fn right_with_tflm(model: &str) -> usize {
    let text = std::fs::read_to_string(root().join("examples/digits/data/tflm.txt")).unwrap();
    text.lines().find_map(|line| line.strip_prefix(model)?.trim().parse().ok()).unwrap()
}

/// As numpy.save writes it.
fn npy(kind: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = (text.len() + 11).next_multiple_of(64) - 10;
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend((padded as u16).to_le_bytes());
    file.extend(format!("{text:<width$}\n", width = padded - 1).into_bytes());
    file.extend(bytes);
    file
}

fn archive(path: &Path, arrays: &[(&str, Vec<u8>)]) {
    let mut archive = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, file) in arrays {
        archive.start_file(format!("{name}.npy"), zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(file).unwrap();
    }
    archive.finish().unwrap();
}

fn png(path: &Path, width: u32, height: u32, pixels: &[u8]) {
    let mut encoder = png::Encoder::new(std::fs::File::create(path).unwrap(), width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
}

fn wav(path: &Path, rate: u32, samples: &[i16]) {
    let spec =
        WavSpec { channels: 1, sample_rate: rate, bits_per_sample: 16, sample_format: SampleFormat::Int };
    let mut writer = WavWriter::create(path, spec).unwrap();
    samples.iter().for_each(|&sample| writer.write_sample(sample).unwrap());
    writer.finalize().unwrap();
}

#[test]
fn a_table_has_the_right_answers_of_tflm() {
    for name in ["digits_int8", "digits_f32"] {
        let settings = Settings { numbers: ink(), top: Some(3), ..settings(&digits()) };
        let report = run(&model(name), &settings).report;
        let measures = &report.places[0].measures;
        assert_eq!((report.samples, measures.right), (360, right_with_tflm(name)), "{name}");
        assert_eq!(report.places[0].wrong.len(), 360 - measures.right);
        assert!(measures.top.is_some_and(|top| top.right > measures.right && top.right <= 360));
        let samples: usize = measures.confusion.iter().flatten().sum();
        assert_eq!(samples, 360);
    }
}

/// The same digits in every format: pictures, float arrays, the model's own integers.
#[test]
fn every_format_gives_the_same_answers() {
    let folder = Folder::new("formats");
    let rows = rows();
    let model = model("digits_int8");
    let confusion = |settings: &Settings| run(&model, settings).report.places.remove(0).measures.confusion;
    let expected = confusion(&Settings { numbers: ink(), ..settings(&digits()) });

    for (index, (ink, label)) in rows.iter().enumerate() {
        let pixels: Vec<u8> = ink.iter().map(|&ink| (f32::from(ink) * 255.0 / 16.0).round() as u8).collect();
        png(&folder.join(&format!("pictures/{label}/{index:03}.png")), 8, 8, &pixels);
    }
    assert_eq!(confusion(&settings(&folder.join("pictures"))), expected);

    let labels: Vec<u8> =
        rows.iter().flat_map(|(_, label)| label.parse::<i64>().unwrap().to_le_bytes()).collect();
    let floats = rows.iter().flat_map(|(ink, _)| ink).flat_map(|&ink| (f32::from(ink) / 16.0).to_le_bytes());
    let x = npy("<f4", "360, 8, 8, 1", &floats.collect::<Vec<u8>>());
    let y = || npy("<i8", "360,", &labels);
    let file = folder.join("floats.npz");
    archive(&file, &[("x", x.clone()), ("y", y())]);
    assert_eq!(confusion(&settings(&file)), expected);

    let file = folder.join("named.npz");
    archive(&file, &[("images", x), ("digits", y())]);
    let columns = Columns { label: None, x: Some("images".into()), y: Some("digits".into()) };
    assert_eq!(confusion(&Settings { columns, ..settings(&file) }), expected);
    let said = error(&model, &settings(&file));
    assert!(said.contains("no array `y`; it has `digits`, `images`") && said.contains("--y NAME"), "{said}");

    let ink = rows.iter().flat_map(|(ink, _)| ink.iter().copied()).collect::<Vec<u8>>();
    let stored: Vec<u8> =
        ink.iter().map(|&ink| ((f32::from(ink) / 16.0 * 255.0).round() as i32 - 128) as u8).collect();
    let file = folder.join("stored.npz");
    archive(&file, &[("in_0", npy("|i1", "360, 8, 8", &stored)), ("y", y())]);
    let evaluation = run(&model, &settings(&file));
    assert_eq!(evaluation.report.input, "taken as it is");
    assert_eq!(evaluation.report.places[0].measures.confusion, expected);
}

#[test]
fn classes_have_names() {
    let folder = Folder::new("names");
    let names = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
    let line = |(ink, label): (Vec<u8>, String)| {
        let ink: Vec<String> = ink.iter().map(u8::to_string).collect();
        format!("{},{}\n", names[label.parse::<usize>().unwrap()], ink.join(","))
    };
    let path = folder.join("named.csv");
    std::fs::write(&path, rows().into_iter().map(line).collect::<String>()).unwrap();
    let columns = Columns { label: Some("1".into()), ..Columns::default() };
    let classes = Some(names.map(str::to_owned).to_vec());
    let named = Settings { numbers: ink(), columns, classes, ..settings(&path) };
    let report = run(&model("digits_int8"), &named).report;
    assert_eq!(report.places[0].measures.right, right_with_tflm("digits_int8"));
    let text = report.text();
    assert!(text.contains("\n  zero  ") && text.contains(", answered five ("), "{text}");
    // In alphabetical order they would be other classes.
    let alphabetical = Settings { classes: None, ..named };
    assert!(run(&model("digits_int8"), &alphabetical).report.places[0].measures.accuracy < 0.3);
}

#[test]
fn results_are_resumed_from_wherever_a_run_ended() {
    let folder = Folder::new("resume");
    let file = folder.join("digits.results");
    let with = |limit: Option<usize>| Settings {
        numbers: ink(),
        limit,
        resume: Some(file.clone()),
        ..settings(&digits())
    };
    let model = model("digits_int8");
    let expected = run(&model, &Settings { resume: None, ..with(None) }).report;
    assert_eq!(expected.places[0].resumed, 0);
    let known = |limit| run(&model, &with(limit)).report.places[0].resumed;
    assert_eq!(known(Some(90)), 0);
    assert_eq!(known(Some(90)), 90);
    // A run that was ended in the middle of a line.
    let bytes = std::fs::read(&file).unwrap();
    std::fs::write(&file, &bytes[..bytes.len() / 2 + 7]).unwrap();
    let resumed = known(Some(90));
    assert!((40..50).contains(&resumed), "{resumed}");
    let report = run(&model, &with(None)).report;
    assert_eq!(report.places[0].resumed, 90);
    assert_eq!(report.places[0].measures.confusion, expected.places[0].measures.confusion);
    // Other numbers, and another model, are other samples.
    let scale = Numbers { scale: vec![1.0 / 17.0], ..Numbers::default() };
    let report = run(&model, &Settings { numbers: scale, ..with(Some(20)) }).report;
    assert_eq!(report.places[0].resumed, 0);
    let other = root().join("examples/digits/models/digits_f32.tflite");
    assert_eq!(run(&other, &with(Some(20))).report.places[0].resumed, 0);
}

#[test]
fn two_models_are_compared_sample_by_sample() {
    let against = Some(model("digits_f32"));
    let settings = Settings { numbers: ink(), against, detect: Some("9".into()), ..settings(&digits()) };
    let evaluation = run(&model("digits_int8"), &settings);
    let own = &evaluation.report.places[0].measures;
    let against = evaluation.report.against.as_ref().unwrap();
    assert_eq!((own.right, against.measures.right), (354, 355));
    let parts = [against.both_right, against.only_this, against.only_other, against.both_wrong];
    assert_eq!((parts.iter().sum::<usize>(), parts[0] + parts[1], parts[0] + parts[2]), (360, 354, 355));
    assert_eq!(against.same_answers + against.differing.len(), 360);
    let differing = &against.differing[0];
    assert_ne!(differing.answer, differing.other_answer);
    let text = evaluation.report.text();
    assert!(
        text.contains("digits_int8 beside digits_f32, on interp") && text.contains("different answers"),
        "{text}"
    );
    let page = evaluation.page();
    assert!(page.contains("digits_int8 beside digits_f32") && page.contains("Different answers"));
    let other = root().join("examples/build-script/models/tumour.tflite");
    let said = error(&model("digits_int8"), &Settings { against: Some(other), ..settings });
    assert!(said.contains("has 1 scores, the model 10"), "{said}");
}

/// The mean of a recording, and the mean of the recording upside down.
const MEANS: &str = "input %x: f32[1,8]
    const %w: f32[2,8] = [0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, 0.125, -0.125, -0.125, -0.125, -0.125, -0.125, -0.125, -0.125, -0.125]
    %y: f32[1,2] = dense(%x, %w) {rescale = real, clamp = -inf..=inf}
    return %y";

#[test]
fn recordings_of_a_detector_have_hours() {
    let folder = Folder::new("recordings");
    let model = folder.model(MEANS);
    let data = folder.join("clips");
    // At 8 samples in 4 seconds.
    for (name, sample) in
        [("high/a", 16384), ("high/b", 3277), ("high/c", -3277), ("low/a", -16384), ("low/b", 9830)]
    {
        wav(&folder.join(&format!("clips/{name}.wav")), 2, &[sample; 8]);
    }
    let scale = Numbers { scale: vec![1.0 / 32768.0], ..Numbers::default() };
    let settings = Settings {
        numbers: scale,
        detect: Some("high".into()),
        thresholds: vec![0.2, -0.2, 0.4],
        ..settings(&data)
    };
    let said = error(&model, &Settings { numbers: Numbers::default(), ..settings.clone() });
    assert!(
        said.contains("high/a.wav") && said.contains("which values samples of a recording have"),
        "{said}"
    );
    let evaluation = run(&model, &settings);
    let report = &evaluation.report;
    assert_eq!(report.input, "sample / 32768, as f32");
    assert_eq!(report.places[0].measures.confusion, [[2, 1], [1, 1]]);
    let detection = report.places[0].detection.as_ref().unwrap();
    assert_eq!((detection.positives, detection.negatives), (3, 2));
    let points: Vec<(usize, usize)> = detection.points.iter().map(|p| (p.misses, p.false_accepts)).collect();
    assert_eq!(points, [(0, 1), (2, 1), (2, 0)]);
    assert!((detection.negative_hours.unwrap() - 8.0 / 3600.0).abs() < 1e-9);
    assert!((detection.points[0].per_hour.unwrap() - 450.0).abs() < 1e-6);
    let page = evaluation.page();
    assert!(page.contains("<svg class=\"wave\"") && page.contains("false accepts"), "{page}");

    wav(&folder.join("clips/low/c.wav"), 2, &[0; 7]);
    let said = error(&model, &settings);
    assert!(said.contains("low/c.wav") && said.contains("7 samples") && said.contains("--fit"), "{said}");
    run(&model, &Settings { fit: true, ..settings.clone() });
    wav(&folder.join("clips/low/c.wav"), 3, &[0; 8]);
    let said = error(&model, &settings);
    assert!(said.contains("low/c.wav") && said.contains("3 samples per second, high/a.wav has 2"), "{said}");
}

/// Three frames of 40 features, and what two models make of them.
fn on_features(weights: [&str; 2]) -> String {
    let filter = |weight: &str| [weight; 120].join(", ");
    format!(
        "input %x: f32[1,3,40]
         const %w: f32[2,120] = [{}, {}]
         %f: f32[1,120] = reshape(%x)
         %y: f32[1,2] = dense(%f, %w) {{rescale = real, clamp = -inf..=inf}}
         return %y",
        filter(weights[0]),
        filter(weights[1]),
    )
}

/// Recordings of a model with features in front have the rate of the features. Another model beside it gets the same features.
#[test]
fn features_stand_in_front_of_both_models() {
    let folder = Folder::new("features");
    let model = folder.model(&on_features(["1.0", "-1.0"]));
    let other = folder.join("other.onnx");
    std::fs::rename(&model, &other).unwrap();
    let model = folder.model(&on_features(["-1.0", "1.0"]));
    let data = folder.join("clips");
    for (name, loudness) in [("quiet/a", 3), ("loud/b", 9000)] {
        let samples: Vec<i16> = (0..800).map(|k| if k % 7 < 3 { loudness } else { -loudness }).collect();
        wav(&folder.join(&format!("clips/{name}.wav")), 16_000, &samples);
    }
    let mut options = Options::default();
    let features =
        "tf.signal, sample_rate = 16000, win_length = 480, hop = 160, n_mels = 40, log = natural, log_offset = 1.0";
    options.set("features", features).unwrap();
    let against = Some(other);
    let settings = Settings { against, ..settings(&data) };
    let report = evaluate(&model, &options, &settings).unwrap().report;
    // All features are positive, so that each model has one answer.
    assert_eq!(report.places[0].measures.confusion, [[0, 1], [0, 1]]);
    let against = report.against.unwrap();
    assert_eq!((against.same_answers, against.measures.confusion), (0, vec![vec![1, 0], vec![1, 0]]));

    wav(&folder.join("clips/loud/b.wav"), 8_000, &[0; 800]);
    let error = evaluate(&model, &options, &settings).unwrap_err();
    let said = format!("{error:#}");
    assert!(said.contains("loud/b.wav: it has 8000 samples per second") && said.contains("16000"), "{said}");
}

#[test]
fn a_part_of_a_set_has_the_classes_of_the_whole() {
    let folder = Folder::new("part");
    let data = folder.join("set.csv");
    std::fs::write(&data, "1,1,1,1,1,1,1,1,a\n1,1,1,1,1,1,1,1,a\n-1,1,1,1,1,1,1,1,b\n").unwrap();
    let report = run(&folder.model(MEANS), &Settings { limit: Some(1), ..settings(&data) }).report;
    assert_eq!((report.samples, report.classes), (1, vec!["a".to_owned(), "b".to_owned()]));
}

#[test]
fn numbers_of_long_names_stand_above_their_columns() {
    let folder = Folder::new("long");
    let data = folder.join("set.csv");
    std::fs::write(&data, "1,1,1,1,1,1,1,1,nothing\n-1,-1,-1,-1,-1,-1,-1,-1,something\n").unwrap();
    let text = run(&folder.model(MEANS), &settings(&data)).report.text();
    let (_, matrix) = text.split_once("label \\ answer\n").unwrap();
    let lines: Vec<&str> = matrix.lines().take(3).collect();
    assert_eq!(lines, ["                0  1", "  0 nothing     1  .", "  1 something   .  1"]);
}

#[test]
fn a_model_with_state_is_reset_before_each_sample() {
    let folder = Folder::new("state");
    // A sum of all steps, and its negative.
    let model = folder.model(
        "input %x: f32[1,1]
         input %s: f32[1,1]
         const %w: f32[2,1] = [1.0, -1.0]
         %n: f32[1,1] = add(%x, %s) {rescale = real, clamp = -inf..=inf}
         %y: f32[1,2] = dense(%n, %w) {rescale = real, clamp = -inf..=inf}
         return %y, %n",
    );
    let graph = kiln_codegen::import(&std::fs::read(&model).unwrap(), "m", &Options::default()).unwrap();
    let name = |id| graph.value(id).name.clone();
    let (output, input) = (name(graph.outputs[1]), name(graph.inputs[1]));
    let mut options = Options::default();
    options.set("state", &format!("{output}={input}")).unwrap();
    let data = folder.join("steps.csv");
    // Sums after each step: twice 3 2 -1, then 1 -3 1.1, 1 2 -2.5 and -9 -8 -7.
    let lines = ["3,-1,-3,0", "3,-1,-3,0", "1,-4,4.1,0", "1,1,-4.5,0", "-9,1,1,1"];
    std::fs::write(&data, lines.join("\n")).unwrap();
    let confusion = |pool: Pool| {
        let evaluation = evaluate(&model, &options, &Settings { pool, ..settings(&data) }).unwrap();
        evaluation.report.places[0].measures.confusion.clone()
    };
    assert_eq!(confusion(Pool::Last), [[1, 3], [0, 1]]);
    assert_eq!(confusion(Pool::Max), [[2, 2], [0, 1]]);
    assert_eq!(confusion(Pool::Mean), [[3, 1], [0, 1]]);
}

#[test]
fn what_went_wrong_is_on_the_page() {
    let settings = Settings {
        numbers: ink(),
        detect: Some("9".into()),
        seconds_per_sample: Some(2.0),
        ..settings(&digits())
    };
    let evaluation = run(&model("digits_int8"), &settings);
    let page = evaluation.page();
    assert_eq!(page.matches("<figure>").count(), 6);
    assert_eq!(page.matches("src=\"data:image/png;base64,iVBORw0KGgo").count(), 6);
    assert!(!page.contains("http:") && !page.contains("https:") && !page.contains("<script"), "{page}");
    let json: serde_json::Value = serde_json::from_str(&evaluation.report.json().unwrap()).unwrap();
    assert_eq!(json["places"][0]["right"], 354);
    assert_eq!(json["places"][0]["wrong"].as_array().unwrap().len(), 6);
    assert!(
        (json["places"][0]["detection"]["negative_hours"].as_f64().unwrap() - 323.0 * 2.0 / 3600.0).abs()
            < 1e-9
    );
}

#[test]
fn names_from_files_are_no_markup() {
    let folder = Folder::new("markup");
    let data = folder.join("set.csv");
    std::fs::write(&data, "1,1,1,1,1,1,1,1,<b>&\n-1,1,1,1,1,1,1,1,<i>\n").unwrap();
    let page = run(&folder.model(MEANS), &settings(&data)).page();
    assert!(page.contains("&lt;b&gt;&amp;") && !page.contains("<b>") && !page.contains("<i>"));
}

#[test]
fn numbers_that_do_not_fit_are_told() {
    let report = run(&model("digits_int8"), &Settings { limit: Some(10), ..settings(&digits()) }).report;
    assert!(report.clipped > 0.3, "{}", report.clipped);
    assert!(report.text().contains("of the numbers are outside"), "{}", report.text());
}

#[test]
fn errors_name_the_place_and_the_way_out() {
    let folder = Folder::new("errors");
    let digits_model = model("digits_int8");
    let wrong = |settings: Settings| error(&digits_model, &settings);
    let data = folder.join("pictures");
    png(&folder.join("pictures/3/a.png"), 8, 8, &[0; 64]);
    png(&folder.join("pictures/3/b.png"), 10, 12, &[0; 120]);
    let said = wrong(settings(&data));
    assert!(
        said.contains("3/b.png: it is a picture of 10 × 12 pixels, the model takes 8 × 8\n    help: "),
        "{said}"
    );
    run(&digits_model, &Settings { fit: true, ..settings(&data) });
    std::fs::write(data.join("3/b.png"), "no picture").unwrap();
    let said = wrong(settings(&data));
    assert!(said.contains("3/b.png: it is no PNG file"), "{said}");

    let said = wrong(Settings { detect: Some("ten".into()), ..settings(&digits()) });
    assert!(said.contains("--detect ten: the classes are 0, 1, 2"), "{said}");
    let said = wrong(Settings { output: 1, ..settings(&digits()) });
    assert!(said.contains("there is no output 1"), "{said}");
    let said = wrong(Settings { on: vec!["nucleo".into()], ..settings(&digits()) });
    assert!(said.contains("a place is `interp`"), "{said}");
    let said = wrong(Settings { resume: Some(data.join("3/b.png")), ..settings(&digits()) });
    assert!(said.contains("it is no file of results"), "{said}");
    let numbers = Numbers { mean: vec![1.0, 2.0], scale: Vec::new() };
    std::fs::remove_file(data.join("3/b.png")).unwrap();
    let said = wrong(Settings { numbers, ..settings(&data) });
    assert!(said.contains("2 means or scales are given for 1 channel(s)"), "{said}");
    let labels: Vec<u8> = [0.5f64, 1.0].iter().flat_map(|label| label.to_le_bytes()).collect();
    let file = folder.join("labels.npz");
    archive(&file, &[("x", npy("|i1", "2, 8, 8", &[0; 128])), ("y", npy("<f8", "2,", &labels))]);
    let said = wrong(settings(&file));
    assert!(said.contains("`y[0]` is 0.5, which is no class"), "{said}");
    archive(&file, &[("x", npy("|i1", "0, 8, 8", &[])), ("y", npy("<f8", "0,", &[]))]);
    assert!(wrong(settings(&file)).contains("has no sample"));
    let short = folder.join("short.csv");
    std::fs::write(&short, "1,2,3\n").unwrap();
    let said = wrong(settings(&short));
    assert!(said.contains("line 1: it has 2 values, the model's input [1, 8, 8, 1] takes 64"), "{said}");
}

/// The program, in a folder.
fn kiln(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_cargo-kiln")).args(["kiln", "eval"]).args(arguments).output().unwrap()
}

#[test]
fn the_command_writes_what_is_asked_for() {
    let folder = Folder::new("command");
    let (model, data) = (model("digits_int8"), digits());
    let common =
        [model.to_str().unwrap(), "--data", data.to_str().unwrap(), "--scale", "1/16", "--on", "interp"];
    let run = |more: &[&str]| kiln(&[&common[..], more].concat());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();

    let good = run(&["--min-accuracy", "98"]);
    assert!(
        good.status.success() && text(&good.stdout).contains("354 of 360 right, 98.33 %"),
        "{}",
        text(&good.stderr)
    );
    assert_eq!(run(&["--min-accuracy", "99"]).status.code(), Some(1));
    let json = run(&["--format", "json", "--limit", "36"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!((&json["samples"], &json["of_set"]), (&36.into(), &360.into()));
    let page = folder.join("page.html");
    let written = run(&["-o", page.to_str().unwrap()]);
    assert!(text(&written.stdout).contains("98.33 %"), "{}", text(&written.stderr));
    assert!(std::fs::read_to_string(&page).unwrap().starts_with("<!DOCTYPE html>"));

    let wrong = run(&["--thresholds", "0.5"]);
    assert_eq!(wrong.status.code(), Some(2));
    let wrong = run(&["--mean", "a/b"]);
    assert!(text(&wrong.stderr).contains("write a number, such as 0.5 or 1/255"), "{}", text(&wrong.stderr));
}
