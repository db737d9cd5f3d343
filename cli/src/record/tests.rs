use super::frames::tests::frame;
use super::*;
use kiln_tools::cases::feed::picture::Picture;
use std::fs;
use std::io::{BufReader, Cursor};
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex};

/// A folder of a test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("kiln-record-{}-{name}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        Folder(folder)
    }

    fn settings(&self) -> Settings {
        Settings { rate: Some(10), ..Settings::new(self.0.clone()) }
    }

    /// The samples of a WAV file.
    fn wav(&self, name: &str) -> Vec<i16> {
        let mut reader = hound::WavReader::open(self.0.join(name)).unwrap();
        assert_eq!((reader.spec().sample_rate, reader.spec().bits_per_sample), (10, 16));
        reader.samples().map(Result::unwrap).collect()
    }

    /// Paths of all files.
    fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        list(&self.0, &self.0, &mut files);
        files.sort();
        files
    }
}

fn list(root: &Path, folder: &Path, files: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => list(root, &path, files),
            false => files.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned()),
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Frames of five samples of 16 bits each: sample k is k.
fn mic(blocks: impl IntoIterator<Item = i16>) -> Vec<u8> {
    let block = |block: i16| {
        let samples: Vec<u8> = (block * 5..block * 5 + 5).flat_map(i16::to_le_bytes).collect();
        frame("mic", 2, 1, block as u32 * 10, &samples)
    };
    blocks.into_iter().flat_map(block).collect()
}

fn run(bytes: Vec<u8>, settings: &Settings) -> Result<Summary> {
    record(Source::of(Cursor::new(bytes)), settings, None, false, &AtomicBool::new(false))
}

fn error(bytes: Vec<u8>, settings: &Settings) -> String {
    format!("{:#}", run(bytes, settings).unwrap_err())
}

/// What two readers say in turns.
struct Turns {
    /// By which reader, and what.
    steps: Vec<(usize, Vec<u8>)>,
    at: Mutex<usize>,
    moved: Condvar,
}

struct Turn {
    turns: Arc<Turns>,
    me: usize,
    said: Option<usize>,
}

impl Read for Turn {
    /// Whoever reads again has handed on what was read before.
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut at = self.turns.at.lock().unwrap();
        if let Some(said) = self.said.take() {
            *at = said + 1;
            self.turns.moved.notify_all();
        }
        loop {
            let Some((who, bytes)) = self.turns.steps.get(*at) else { return Ok(0) };
            if *who == self.me {
                buffer[..bytes.len()].copy_from_slice(bytes);
                self.said = Some(*at);
                return Ok(bytes.len());
            }
            at = self.turns.moved.wait(at).unwrap();
        }
    }
}

/// Records frames (0) and typed lines (1) in turns.
fn turns(steps: Vec<(usize, Vec<u8>)>, settings: &Settings) -> Summary {
    let turns = Arc::new(Turns { steps, at: Mutex::new(0), moved: Condvar::new() });
    let turn = |me| Turn { turns: turns.clone(), me, said: None };
    let typed = Box::new(BufReader::new(turn(1)));
    record(Source::of(turn(0)), settings, Some(typed), false, &AtomicBool::new(false)).unwrap()
}

fn typed(line: &str) -> (usize, Vec<u8>) {
    (1, format!("{line}\n").into_bytes())
}

#[test]
fn labels_are_typed_while_it_runs() {
    let folder = Folder::new("typed");
    let settings = Settings { seconds: Some(0.5), ..folder.settings() };
    let steps = vec![
        (0, mic(0..2)),
        typed("yes"),
        (0, mic(2..4)),
        typed(" no "),
        (0, mic(4..5)),
        typed(""),
        (0, mic(5..6)),
        typed("../up"),
        (0, mic(6..7)),
        typed("yes"),
        (0, mic(7..8)),
    ];
    let summary = turns(steps, &settings);
    assert_eq!(folder.files(), ["no/0001.wav", "yes/0001.wav", "yes/0002.wav", "yes/0003.wav"]);
    assert_eq!(folder.wav("yes/0002.wav"), [15, 16, 17, 18, 19]);
    assert_eq!(folder.wav("yes/0003.wav"), [35, 36, 37, 38, 39]);
    assert_eq!(folder.wav("no/0001.wav"), [20, 21, 22, 23, 24]);
    assert_eq!((summary.samples, summary.gaps, summary.unfinished), (40, 0, 0));
    let text = summary.text(&settings);
    assert_eq!(text, "no: 1 clip\nyes: 3 clips\nlength of the stream: 4.000 s\nlosses: none\n");
}

#[test]
fn without_a_length_labels_cut() {
    let folder = Folder::new("labels");
    let settings = Settings { label: Some("a".into()), ..folder.settings() };
    let steps = vec![(0, mic(0..3)), typed("b"), (0, mic(3..4)), typed("b"), (0, mic(4..6))];
    turns(steps, &settings);
    assert_eq!(folder.files(), ["a/0001.wav", "b/0001.wav", "b/0002.wav"]);
    assert_eq!(folder.wav("a/0001.wav"), (0..15).collect::<Vec<i16>>());
    assert_eq!(folder.wav("b/0002.wav"), (20..30).collect::<Vec<i16>>());
    // Once more: numbers go on.
    run(mic(0..1), &settings).unwrap();
    assert_eq!(folder.files(), ["a/0001.wav", "a/0002.wav", "b/0001.wav", "b/0002.wav"]);
}

#[test]
fn losses_are_in_no_clip_and_are_said() {
    let folder = Folder::new("losses");
    let settings = Settings { label: Some("a".into()), seconds: Some(1.0), ..folder.settings() };
    let mut damaged = mic(5..6);
    damaged[30] ^= 1;
    let bytes = [mic(0..3), mic(4..5), damaged, mic(6..8), mic(0..2)].concat();
    let summary = run(bytes, &settings).unwrap();
    assert_eq!(folder.wav("a/0002.wav"), (30..40).collect::<Vec<i16>>());
    assert_eq!(folder.wav("a/0003.wav"), (0..10).collect::<Vec<i16>>());
    assert_eq!(folder.files().len(), 3);
    let expected = (10, 2, 1, 1, 2);
    let Summary { missing, gaps, restarts, damaged, dropped, .. } = summary;
    assert_eq!((missing, gaps, restarts, damaged, dropped), expected);
    let text = summary.text(&settings);
    assert!(
        text.contains("losses: 10 samples missing in 2 places, 1 damaged frames, 1 restarts; 2 clips"),
        "{text}"
    );
}

#[test]
fn archives_have_classes_in_alphabetical_order() {
    let folder = Folder::new("archive");
    let script = script_of("0 zebra\n0.5 ant\n1 \n1.5 zebra\n").unwrap();
    let settings = Settings { format: Format::Npz, seconds: Some(0.5), script, ..folder.settings() };
    let summary = run(mic(0..4), &settings).unwrap();
    let (path, classes) = summary.archive.clone().unwrap();
    assert_eq!((path.clone(), classes), (folder.0.join("0001.npz"), vec!["ant".into(), "zebra".into()]));
    let arrays = crate::npz::read(&path).unwrap();
    assert_eq!((arrays["x"].shape.as_slice(), arrays["y"].data.to_i32()), ([3, 5].as_slice(), vec![1, 0, 1]));
    let x = arrays["x"].data.bytes();
    assert_eq!(x[..6], [0, 0, 1, 0, 2, 0]);
    assert_eq!(x[20..24], [15, 0, 16, 0]);
    run(mic(0..4), &settings).unwrap();
    assert_eq!(folder.files(), ["0001.npz", "0002.npz"]);
}

#[test]
fn pictures_become_png_files() {
    let folder = Folder::new("pictures");
    let settings = Settings {
        format: Format::Png,
        width: Some(2),
        height: Some(2),
        label: Some("cat".into()),
        ..Settings::new(folder.0.clone())
    };
    // Lines of two pixels; one line of the second picture is missing.
    let line = |line: u8| frame("camera", 1, 3, u32::from(line) * 6, &[line; 6]);
    let bytes = [0, 1, 2, 4, 5, 6].map(line).concat();
    let summary = run(bytes, &settings).unwrap();
    assert_eq!((folder.files(), summary.dropped), (vec!["cat/0001.png".into(), "cat/0002.png".into()], 1));
    let picture = Picture::read(Cursor::new(fs::read(folder.0.join("cat/0002.png")).unwrap())).unwrap();
    assert_eq!((picture.width, picture.height, picture.channels), (2, 2, 3));
    assert_eq!(picture.pixels, [[4; 6], [5; 6]].concat());
}

/// What goes wrong later does not cost what is complete.
#[test]
fn an_error_keeps_the_archive() {
    let folder = Folder::new("kept");
    let settings =
        Settings { format: Format::Npz, seconds: Some(0.5), label: Some("a".into()), ..folder.settings() };
    let said = error([mic(0..2), frame("mic", 1, 1, 20, &[0; 8])].concat(), &settings);
    assert!(said.contains("now has u8"), "{said}");
    assert_eq!(crate::npz::read(&folder.0.join("0001.npz")).unwrap()["x"].shape, [2, 5]);
}

#[test]
fn what_cannot_be_recorded_is_said() {
    let folder = Folder::new("errors");
    let said = error(b"hello\n".to_vec(), &folder.settings());
    assert!(said.contains("no frame came\n    help: the firmware calls kiln::record!"), "{said}");
    let said = error(mic(0..1), &Settings { stream: Some("motion".into()), ..folder.settings() });
    assert!(said.contains("no frame came of the stream that was asked for; there are `mic`"), "{said}");
    let said = error(mic(0..1)[..20].to_vec(), &folder.settings());
    assert!(said.contains("1 damaged ones did"), "{said}");
    let said = error(frame("m", 3, 1, 0, &[0; 8]), &folder.settings());
    assert!(said.contains("`m` has blocks of f32; WAV files have 16-bit samples"), "{said}");
    let picture = Settings { format: Format::Png, width: Some(4), height: Some(4), ..folder.settings() };
    let said = error(frame("m", 3, 1, 0, &[0; 8]), &picture);
    assert!(said.contains("PNG files have bytes\n    help: record u8"), "{said}");
    assert!(error(frame("m", 1, 2, 0, &[0; 8]), &picture).contains("2 channels"));
    let said = error([mic(0..1), frame("mic", 1, 1, 10, &[0; 8])].concat(), &folder.settings());
    assert!(said.contains("had blocks of i16 in 1 channels, and now has u8"), "{said}");

    let said = error(vec![], &Settings { rate: None, ..folder.settings() });
    assert!(said.contains("--rate 16000"), "{said}");
    let said = error(vec![], &Settings { format: Format::Png, ..folder.settings() });
    assert!(said.contains("--width W --height H"), "{said}");
    let said = error(vec![], &Settings { format: Format::Npz, ..folder.settings() });
    assert!(said.contains("--rate R --seconds S"), "{said}");
    let said = error(vec![], &Settings { seconds: Some(f64::NAN), ..folder.settings() });
    assert!(said.contains("--seconds NaN"), "{said}");
    assert!(error(vec![], &Settings { label: Some("a/b".into()), ..folder.settings() }).contains("no label"));
    assert!(!folder.0.exists());
}

#[test]
fn a_source_that_says_nothing_is_not_waited_for() {
    struct Silent;
    impl Read for Silent {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            thread::sleep(Duration::from_secs(60));
            Ok(0)
        }
    }
    let folder = Folder::new("silent");
    let settings = Settings { wait: Some(Duration::ZERO), ..folder.settings() };
    let stop = AtomicBool::new(false);
    let said = record(Source::of(Silent), &settings, None, false, &stop).unwrap_err().to_string();
    assert!(said.contains("no frame came within 0 s"), "{said}");
}

#[test]
fn a_limit_ends_an_endless_stream() {
    struct Endless(i16);
    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let bytes = mic(self.0..self.0 + 1);
            self.0 += 1;
            buffer[..bytes.len()].copy_from_slice(&bytes);
            Ok(bytes.len())
        }
    }
    let folder = Folder::new("limit");
    let settings = Settings { limit: Some(2.0), label: Some("a".into()), ..folder.settings() };
    let stop = AtomicBool::new(false);
    let summary = record(Source::of(Endless(0)), &settings, None, false, &stop).unwrap();
    assert_eq!((summary.samples, folder.wav("a/0001.wav").len()), (20, 20));
}

/// All comes at once.
#[test]
fn a_limit_is_the_same_where_more_comes_in_one_piece() {
    let folder = Folder::new("piece");
    let settings = Settings { limit: Some(1.2), label: Some("a".into()), ..folder.settings() };
    let stop = AtomicBool::new(false);
    record(Source::of(Cursor::new(mic(0..40))), &settings, None, false, &stop).unwrap();
    assert_eq!(folder.wav("a/0001.wav"), (0..12).collect::<Vec<i16>>());
    assert_eq!(folder.files(), ["a/0001.wav"]);
}

#[test]
fn scripts_have_seconds_and_labels() {
    let script = script_of("0 a b\n\n 1.5\n2\tno\n").unwrap();
    assert_eq!(script, [(0.0, Some("a b".into())), (1.5, None), (2.0, Some("no".into()))]);
    for (text, said) in [
        ("x yes", "line 1: `x yes`: a line is `SECONDS LABEL`"),
        ("-1 yes", "a line is"),
        ("2 a\n1 b", "line 2: `1 b`: it comes before"),
        ("1 a/b", "`a/b` is no label"),
    ] {
        let error = format!("{:#}", script_of(text).unwrap_err());
        assert!(error.contains(said), "{error}");
    }
}
