//! All formats, ways to another size and flips, against vectors of OpenCV and Pillow (`host-tests/camera/make.py`).

use kiln::camera::{
    most_taps, Area, Bayer, Bgr888, Camera, Filter, Filtered, Format, Gray8, Linear, Mosaic, Nearest, OpenCv,
    Pillow, Resize, Rgb565, Rgb888, Source, View, Yuv422,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// A line of `vectors.txt`.
struct Case<'a> {
    like: &'a str,
    format: &'a str,
    channels: usize,
    mirrored: bool,
    /// Width and height of the frame.
    frame: [usize; 2],
    /// Width, height, left and top.
    view: [usize; 4],
    size: [usize; 2],
    resize: &'a str,
    result: &'a str,
}

impl<'a> Case<'a> {
    fn read(line: &'a str) -> Self {
        let words: Vec<&str> = line.split(' ').collect();
        let [like, format, channels, flip, frame, view, size, resize, result] = words[..] else {
            panic!("{line}")
        };
        Case {
            like,
            format,
            channels: channels.parse().unwrap(),
            mirrored: flip == "flip",
            frame: numbers(frame),
            view: numbers(view),
            size: numbers(size),
            resize,
            result,
        }
    }

    fn bytes_per_pixel(&self) -> usize {
        match self.format {
            "gray8" | "rggb" | "bggr" | "grbg" | "gbrg" => 1,
            "rgb888" | "bgr888" => 3,
            _ => 2,
        }
    }

    /// The frame that the vectors were made of.
    fn frame(&self) -> Vec<u8> {
        let [width, height] = self.frame;
        let mut state = (width + self.bytes_per_pixel()) as u32;
        let byte = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        (0..width * height * self.bytes_per_pixel()).map(byte).collect()
    }

    fn view(&self) -> View {
        let ([_, lines], [width, height, left, top]) = (self.frame, self.view);
        View { lines, left, top, width, height, mirrored: self.mirrored }
    }

    /// What becomes of two frames, one behind the other.
    fn rows<F: Format, R: Resize, const CHANNELS: usize, const HELD: usize>(&self, resize: R) -> Vec<u8> {
        let source = Source::<F, R>::new(self.view(), resize);
        let mut camera = Camera::<R, CHANNELS, HELD>::new();
        let mut bayer = Bayer::<R, CHANNELS, HELD, { 3 * 40 + 1 }>::new();
        let is_bayer = ["rggb", "bggr", "grbg", "gbrg"].contains(&self.format);
        let frame = self.frame();
        let mut row = vec![0; R::WIDTH * CHANNELS];
        let mut push = |line: &[u8], row: &mut [u8]| match is_bayer {
            true => bayer.push(&source, line, row, |_, value| value),
            false => camera.push(&source, line, row, |_, value| value),
        };
        let mut frames = [0, 1].map(|_| {
            let mut rows = Vec::new();
            for line in frame.chunks_exact(self.frame[0] * self.bytes_per_pixel()) {
                while push(line, &mut row) {
                    rows.extend_from_slice(&row);
                }
            }
            rows
        });
        assert_eq!(frames[0], frames[1]);
        std::mem::take(&mut frames[0])
    }
}

fn numbers<const N: usize>(text: &str) -> [usize; N] {
    let numbers: Vec<usize> = text.split(['x', '+']).map(|number| number.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn fnv(bytes: &[u8]) -> String {
    let hash = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x100000001b3);
    format!("{:016x}", bytes.iter().fold(0xcbf29ce484222325, hash))
}

/// The rows of a case, whose sizes are constants.
macro_rules! of_sizes {
    ($case:ident, $format:ty: $([$vw:literal, $vh:literal] => [$w:literal, $h:literal]),+) => {
        match ($case.view, $case.size, $case.channels) {
            $(
                ([$vw, $vh, ..], [$w, $h], 1) => of_sizes!(@ $case, $format, $vw, $vh, $w, $h, 1),
                ([$vw, $vh, ..], [$w, $h], 3) => of_sizes!(@ $case, $format, $vw, $vh, $w, $h, 3),
            )+
            _ => panic!("sizes that this test has no types for"),
        }
    };
    (@ $case:ident, $format:ty, $vw:literal, $vh:literal, $w:literal, $h:literal, $channels:literal) => {{
        const TRIANGLE: [usize; 2] = [most_taps(Filter::Triangle, $vw, $w), most_taps(Filter::Triangle, $vh, $h)];
        const BOX: [usize; 2] = [most_taps(Filter::Box, $vw, $w), most_taps(Filter::Box, $vh, $h)];
        const ROW: usize = $w * $channels;
        let view = $case.view();
        match ($case.like, $case.resize) {
            ("opencv", "nearest") => $case.rows::<$format, _, $channels, 0>(Nearest::<$w, $h>::new(&view)),
            ("pillow", "nearest") => $case.rows::<$format, _, $channels, 0>(Nearest::<$w, $h>::centre(&view)),
            ("opencv", "bilinear") => {
                $case.rows::<$format, _, $channels, { 2 * ROW }>(Linear::<$w, $h>::new(&view))
            }
            ("opencv", "area") => $case.rows::<$format, _, $channels, ROW>(Area::<$w, $h>::new(&view)),
            ("pillow", "bilinear") => $case.rows::<$format, _, $channels, { TRIANGLE[1] * ROW }>(
                Filtered::<$w, $h, { TRIANGLE[0] }, { TRIANGLE[1] }>::new(&view, Filter::Triangle),
            ),
            ("pillow", "area") => $case.rows::<$format, _, $channels, { BOX[1] * ROW }>(
                Filtered::<$w, $h, { BOX[0] }, { BOX[1] }>::new(&view, Filter::Box),
            ),
            other => panic!("{other:?}"),
        }
    }};
}

fn of_format<F: Format>(case: &Case<'_>) -> Vec<u8> {
    of_sizes!(case, F: [30, 30] => [12, 12], [40, 30] => [12, 10], [31, 17] => [13, 7], [24, 24] => [12, 12],
        [36, 30] => [6, 10], [20, 15] => [32, 20], [12, 10] => [12, 10], [240, 240] => [96, 96])
}

fn result(case: &Case<'_>) -> Vec<u8> {
    match (case.like, case.format) {
        (_, "gray8") => of_format::<Gray8>(case),
        ("opencv", "rgb565-le") => of_format::<Rgb565<OpenCv, false>>(case),
        ("opencv", "rgb565-be") => of_format::<Rgb565<OpenCv, true>>(case),
        ("opencv", "rgb888") => of_format::<Rgb888<OpenCv>>(case),
        ("opencv", "yuyv") => of_format::<Yuv422<OpenCv, false>>(case),
        ("opencv", "uyvy") => of_format::<Yuv422<OpenCv, true>>(case),
        ("pillow", "rgb565-le") => of_format::<Rgb565<Pillow, false>>(case),
        ("pillow", "rgb565-be") => of_format::<Rgb565<Pillow, true>>(case),
        ("pillow", "rgb888") => of_format::<Rgb888<Pillow>>(case),
        ("pillow", "yuyv") => of_format::<Yuv422<Pillow, false>>(case),
        ("pillow", "uyvy") => of_format::<Yuv422<Pillow, true>>(case),
        ("opencv", "bgr888") => of_format::<Bgr888<OpenCv>>(case),
        ("pillow", "bgr888") => of_format::<Bgr888<Pillow>>(case),
        ("opencv", "rggb") => of_format::<Mosaic<OpenCv, 0, 0>>(case),
        ("opencv", "grbg") => of_format::<Mosaic<OpenCv, 1, 0>>(case),
        ("opencv", "gbrg") => of_format::<Mosaic<OpenCv, 0, 1>>(case),
        ("opencv", "bggr") => of_format::<Mosaic<OpenCv, 1, 1>>(case),
        ("pillow", "rggb") => of_format::<Mosaic<Pillow, 0, 0>>(case),
        ("pillow", "grbg") => of_format::<Mosaic<Pillow, 1, 0>>(case),
        ("pillow", "gbrg") => of_format::<Mosaic<Pillow, 0, 1>>(case),
        ("pillow", "bggr") => of_format::<Mosaic<Pillow, 1, 1>>(case),
        other => panic!("{other:?}"),
    }
}

const VECTORS: &str = include_str!("../../camera/vectors.txt");

/// What was compared for a cell of the table.
#[derive(Default)]
struct Cell {
    cases: usize,
    bytes: usize,
    /// Bytes that differ, by a step.
    steps: usize,
}

const BEGIN: &str = "<!-- parity: begin -->\n";
const END: &str = "<!-- parity: end -->";
const WAYS: [&str; 3] = ["nearest", "bilinear", "area"];

/// The same bits; but for means that OpenCV computes in floats. `KILN_BLESS=1` writes the table of `docs/camera.md`.
#[test]
fn lines_become_what_opencv_and_pillow_make_of_the_frame() {
    let (mut wrong, mut cases) = (Vec::new(), 0);
    let mut cells: BTreeMap<(&str, &str, &str), Cell> = BTreeMap::new();
    let mut lines = VECTORS.lines();
    let made_by = lines.next().unwrap();
    for line in lines {
        let case = Case::read(line);
        let rows = result(&case);
        let cell = cells.entry((case.like, case.format, case.resize)).or_default();
        cell.cases += 1;
        cell.bytes += rows.len();
        let is_right = match case.result.strip_prefix('=') {
            None => fnv(&rows) == case.result,
            // In floats there.
            Some(hex) => {
                let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let bytes: Vec<u8> = (0..hex.len()).step_by(2).map(byte).collect();
                let steps = rows.iter().zip(&bytes).map(|(&a, &b)| a.abs_diff(b));
                cell.steps += steps.clone().filter(|&steps| steps > 0).count();
                rows.len() == bytes.len() && steps.max() <= Some(1)
            }
        };
        if !is_right {
            wrong.push(line);
        }
        cases += 1;
    }
    assert!(wrong.is_empty(), "{} of {cases}:\n{}", wrong.len(), wrong.join("\n"));
    assert!(cases >= 880, "{cases}");
    let versions = made_by.trim_start_matches("# Made by make.py with ");
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/camera.md");
    let old = std::fs::read_to_string(&page).unwrap();
    let (before, rest) = old.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let fresh = format!("{before}{BEGIN}{}{END}{after}", table(&cells, versions));
    match std::env::var_os("KILN_BLESS") {
        Some(_) => std::fs::write(&page, fresh).unwrap(),
        None => assert!(old == fresh, "docs/camera.md is not fresh (KILN_BLESS=1 writes it)"),
    }
}

fn table(cells: &BTreeMap<(&str, &str, &str), Cell>, versions: &str) -> String {
    let cases: usize = cells.values().map(|cell| cell.cases).sum();
    let mut text = format!("{cases} cases, with {versions}:\n\n| `like` | format | nearest | bilinear | area |\n|---|---|---|---|---|\n");
    let mut rows: Vec<(&str, &str)> = cells.keys().map(|&(like, format, _)| (like, format)).collect();
    rows.dedup();
    for (like, format) in rows {
        write!(text, "| {like} | {format} |").unwrap();
        for way in WAYS {
            let cell = &cells[&(like, format, way)];
            let share = 100.0 * cell.steps as f64 / cell.bytes as f64;
            match cell.steps {
                0 => write!(text, " same bits: {} |", cell.cases),
                _ => write!(text, " at most one step, in {share:.2} % of values: {} |", cell.cases),
            }
            .unwrap();
        }
        text.push('\n');
    }
    text
}

/// What is shorter than it should be is black, or stays away.
#[test]
fn short_lines_and_rows_are_taken() {
    fn take<R: Resize, const HELD: usize>(resize: R) {
        const VIEW: View = View { lines: 30, left: 5, top: 0, width: 30, height: 30, mirrored: true };
        let source = Source::<Yuv422<OpenCv, true>, R>::new(VIEW, resize);
        let mut camera = Camera::<R, 3, HELD>::new();
        for length in 0..90 {
            let line = vec![7; length];
            let mut row = vec![0; length % 50];
            while camera.push(&source, &line, &mut row, |_, value| value) {}
            assert!(camera.row() <= R::HEIGHT);
        }
        for _ in 0..30 {
            let mut row = [1; 36];
            while camera.push(&source, &[], &mut row, |_, value| value) {
                assert_ne!(row, [1; 36]);
            }
        }
    }
    const VIEW: View = View { lines: 30, left: 5, top: 0, width: 30, height: 30, mirrored: true };
    take::<_, 0>(Nearest::<12, 12>::new(&VIEW));
    take::<_, 72>(Linear::<12, 12>::new(&VIEW));
    take::<_, 36>(Area::<12, 12>::new(&VIEW));
    take::<_, 252>(Filtered::<12, 12, 7, 7>::new(&VIEW, Filter::Triangle));
}
