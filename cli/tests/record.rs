//! Firmware on emulated boards plays known signals through `kiln::record!`, `cargo kiln record` makes files of them, and `cargo kiln eval` reads these.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used, clippy::panic)]

use cargo_kiln::eval::{evaluate, Numbers};
use cargo_kiln::record::{record, script_of, Format, OnBoard, Settings, Source, Summary};
use cargo_kiln::{eval, npz};
use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::image::Image;
use kiln_boards::{qemu, Board};
use kiln_codegen::ir::Graph;
use kiln_codegen::Options;
use kiln_tools::write;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Samples of 16 bits: sample `k` is `(k * 977) as i16`. Lines of pixels: byte `k` is `(k * 7) as u8`. Readings of three channels: number `k` is `k / 4`.
const MAIN: &str = "#![no_std]
#![no_main]

kiln_harness::main!([i16; 160] = [0; 160], run);

fn run(block: &mut [i16; 160]) -> ! {
    for index in 0..50u32 {
        let first = index * 160;
        for (sample, k) in block.iter_mut().zip(first..) {
            *sample = (k * 977) as i16;
        }
        kiln::record!(kiln_harness::send, \"mic\", block);
        // A transport that loses what comes once.
        let send = |bytes: &[u8]| if index != 17 { kiln_harness::send(bytes) };
        kiln::record!(send, \"lossy\", block);
        if index % 10 == 3 {
            kiln_harness::send(b\"text from elsewhere\\n\");
        }
        let mut line = [0; 24];
        for (pixel, k) in line.iter_mut().zip(index * 24..) {
            *pixel = (k * 7) as u8;
        }
        kiln::record!(kiln_harness::send, \"camera\", &line, channels = 3);
        let mut readings = [0.0; 6];
        for (reading, k) in readings.iter_mut().zip(index * 6..) {
            *reading = k as f32 / 4.0;
        }
        kiln::record!(kiln_harness::send, \"motion\", &readings, channels = 3);
    }
    kiln_harness::exit(0)
}
";

/// A folder of a test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("kiln-recorded-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn settings(&self, stream: &str) -> Settings {
        let stream = Some(stream.to_owned());
        Settings { stream, rate: Some(1600), ..Settings::new(self.0.clone()) }
    }

    fn wav(&self, name: &str) -> Vec<i16> {
        hound::WavReader::open(self.0.join(name)).unwrap().samples().map(Result::unwrap).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The firmware, once for each board.
fn firmware(board: &str) -> OnBoard {
    let request = ProgramRequest {
        board: Board::find(board).unwrap(),
        name: "record",
        main_rs: MAIN.to_owned(),
        dependencies: &[],
    };
    let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    // Nothing in it can panic, format or allocate.
    let unwanted = Image::read(&elf).unwrap().unwanted().iter().map(|s| s.name.clone()).collect::<Vec<_>>();
    assert!(unwanted.is_empty(), "{unwanted:?}");
    OnBoard { board: board.to_owned(), elf: Some(elf), ..OnBoard::default() }
}

fn run(firmware: &OnBoard, settings: &Settings) -> Summary {
    let source = Source::run(firmware).unwrap();
    let summary = record(source, settings, None, false, &AtomicBool::new(false)).unwrap();
    assert_eq!((summary.status, summary.damaged, summary.restarts), (None, 0, 0));
    summary
}

fn samples(range: std::ops::Range<u32>) -> Vec<i16> {
    range.map(|k| k.wrapping_mul(977) as i16).collect()
}

#[test]
fn clips_have_exactly_the_samples_of_the_firmware() {
    for board in ["qemu-cortex-m4", "qemu-rv32imc"] {
        let folder = Folder::new(board);
        let firmware = firmware(board);
        let script = script_of("0 rise\n2 fall\n4\n4.5 rise").unwrap();
        let settings = Settings { seconds: Some(0.5), script, ..folder.settings("mic") };
        let summary = run(&firmware, &settings);
        assert_eq!((summary.samples, summary.gaps, summary.unfinished), (8000, 0, 0));
        assert_eq!((summary.clips["rise"], summary.clips["fall"]), (5, 4));
        for (clip, first) in [0, 800, 1600, 2400, 7200].into_iter().enumerate() {
            assert_eq!(
                folder.wav(&format!("rise/000{}.wav", clip + 1)),
                samples(first..first + 800),
                "{board}"
            );
        }
        assert_eq!(folder.wav("fall/0004.wav"), samples(5600..6400));
        evaluates(&folder.0);
    }
}

/// `eval` takes the folder as it is.
fn evaluates(data: &Path) {
    let text = "graph \"m\" {
        input %x: f32[1,800]
        const %w: f32[2,800] = [SIGNS]
        %y: f32[1,2] = dense(%x, %w) {rescale = real, clamp = -inf..=inf}
        return %y
    }";
    let signs: Vec<String> = (0..1600).map(|k| if k < 800 { "1.0" } else { "-1.0" }.to_owned()).collect();
    let graph = Graph::parse(&text.replace("SIGNS", &signs.join(", "))).unwrap();
    let path = std::env::temp_dir().join(format!("kiln-recorded-{}.onnx", std::process::id()));
    std::fs::write(&path, write::onnx(&graph, &write::Settings::default()).unwrap()).unwrap();
    let settings = eval::Settings {
        data: data.to_owned(),
        on: vec!["interp".into()],
        numbers: Numbers { scale: vec![1.0 / 32768.0], ..Numbers::default() },
        ..eval::Settings::default()
    };
    let report = evaluate(&path, &Options::default(), &settings).unwrap().report;
    std::fs::remove_file(path).unwrap();
    let confusion = &report.places[0].measures.confusion;
    assert_eq!(report.samples, 9);
    assert_eq!([confusion[0].iter().sum::<usize>(), confusion[1].iter().sum()], [4, 5]);
}

#[test]
fn what_the_transport_loses_is_in_no_clip() {
    let folder = Folder::new("lossy");
    let settings = Settings { seconds: Some(0.5), label: Some("a".into()), ..folder.settings("lossy") };
    let summary = run(&firmware("qemu-cortex-m4"), &settings);
    assert_eq!((summary.samples, summary.missing, summary.gaps, summary.dropped), (8000, 160, 1, 1));
    assert_eq!(summary.clips["a"], 3 + 6);
    assert_eq!(folder.wav("a/0003.wav"), samples(1600..2400));
    // Block 17 is missing: the next clip begins behind it.
    assert_eq!(folder.wav("a/0004.wav"), samples(18 * 160..18 * 160 + 800));
}

#[test]
fn pictures_and_readings() {
    let folder = Folder::new("others");
    let firmware = firmware("qemu-cortex-m4");
    let settings = Settings {
        format: Format::Png,
        width: Some(8),
        height: Some(10),
        label: Some("cat".into()),
        ..folder.settings("camera")
    };
    assert_eq!(run(&firmware, &settings).clips["cat"], 5);
    let file = std::fs::File::open(folder.0.join("cat/0003.png")).unwrap();
    let mut reader = png::Decoder::new(std::io::BufReader::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!((info.width, info.height, info.color_type), (8, 10, png::ColorType::Rgb));
    assert_eq!(pixels, (480..720u32).map(|k| (k * 7) as u8).collect::<Vec<u8>>());

    let settings = Settings {
        format: Format::Npz,
        rate: Some(100),
        seconds: Some(0.25),
        label: Some("walk".into()),
        ..folder.settings("motion")
    };
    let (path, classes) = run(&firmware, &settings).archive.unwrap();
    let arrays = npz::read(&path).unwrap();
    assert_eq!((classes.join(" "), arrays["x"].shape.as_slice()), ("walk".to_owned(), [4, 25, 3].as_slice()));
    assert_eq!(arrays["x"].data.to_f32(), (0..300).map(|k| k as f32 / 4.0).collect::<Vec<f32>>());
    assert_eq!(arrays["y"].data.to_i32(), [0; 4]);
}

/// The program itself: firmware's output comes through a pipe, labels through standard input, and Ctrl-C ends it.
#[test]
fn labels_come_from_standard_input() {
    let folder = Folder::new("typed");
    std::fs::create_dir_all(&folder.0).unwrap();
    let firmware = firmware("qemu-cortex-m4");
    let mut emulator = qemu::command(Board::find("qemu-cortex-m4").unwrap()).unwrap();
    let output = emulator.arg(firmware.elf.unwrap()).output().unwrap();
    let bytes = [output.stdout, output.stderr].concat();
    // The frame of the 26th block.
    let header =
        [&[0xf5, 0x4b, 0x52, 1, 2, 1][..], &320u16.to_le_bytes(), &(25 * 320u32).to_le_bytes(), &[3]]
            .concat();
    let half = bytes.windows(header.len()).position(|window| window == header).unwrap();

    let pipe = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut program = Command::new(env!("CARGO_BIN_EXE_cargo-kiln"));
    program.args(["record", "--rate", "1600", "--seconds", "0.5", "--stream", "mic", "--from"]).arg(&pipe);
    program.arg("--out").arg(&folder.0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = program.spawn().unwrap();
    let mut stdin = program.stdin.take().unwrap();
    let mut said = BufReader::new(program.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut pipe = std::fs::OpenOptions::new().write(true).open(pipe).unwrap();
    for (label, bytes) in [("rise", &bytes[..half]), ("fall", &bytes[half..])] {
        writeln!(stdin, "{label}").unwrap();
        let expected = format!("kiln: label `{label}`");
        assert!(said.any(|line| line == expected), "{label}");
        pipe.write_all(bytes).unwrap();
        let last = folder.0.join(label).join("0005.wav");
        let begun = Instant::now();
        while !last.exists() {
            assert!(begun.elapsed() < Duration::from_secs(60), "{} is missing", last.display());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    let interrupt = Command::new("kill").args(["-INT", &program.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let mut printed = String::new();
    program.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert!(program.wait().unwrap().success());
    let expected = "fall: 5 clips\nrise: 5 clips\nlength of the stream: 5.000 s\nlosses: none\n";
    assert_eq!(printed, expected);
    for clip in 0..5 {
        let name = format!("000{}.wav", clip + 1);
        assert_eq!(folder.wav(&format!("rise/{name}")), samples(clip * 800..clip * 800 + 800));
        assert_eq!(folder.wav(&format!("fall/{name}")), samples(4000 + clip * 800..4800 + clip * 800));
    }
}

#[test]
fn firmware_that_is_not_there_is_said() {
    let error = |firmware: &OnBoard| format!("{:#}", Source::run(firmware).err().unwrap());
    let elf = Some("none.elf".into());
    let firmware = OnBoard { board: "qemu-cortex-m4".into(), elf, ..OnBoard::default() };
    assert!(error(&firmware).contains("there is no file `none.elf`: build the firmware first"));
    let unknown = OnBoard { board: "qemu-cortex-m5".into(), ..firmware };
    assert!(error(&unknown).contains("there is no board `qemu-cortex-m5`; there are"));
}
