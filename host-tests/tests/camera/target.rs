//! Firmware that takes the lines of a camera: its outputs are those of the interpreter on the image, and the lines take little RAM.

use kiln::camera::{Camera, Linear, OpenCv, Rgb565, Source, View};
use kiln_boards::firmware::{build_program, ProgramRequest};
use kiln_boards::image::Image;
use kiln_boards::{qemu, Board};
use kiln_codegen::interp::Machine;
use kiln_codegen::ir::Data;
use kiln_codegen::{compile, import, Options};
use kiln_host_tests::corpus_folder;
use std::path::Path;
use std::time::Duration;

/// What lines may take besides the model's own rows.
const MOST_BYTES: usize = 1024;

/// The bytes of a frame, as the firmware makes them.
fn frame(bytes: usize) -> Vec<u8> {
    let mut state = 1u32;
    let byte = |_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(byte).collect()
}

/// Runs a model of `SIDE` · `SIDE` grey pixels, `CELLS` of them two rows, on lines of a frame in RGB565.
fn check<const SIDE: usize, const CELLS: usize>(path: &Path, width: usize, lines: usize) {
    let bytes = std::fs::read(path).unwrap();
    let plain = [("input", "rows"), ("optimize", "memory"), ("name", "Seen"), ("target", "cortex-m4")];
    let set = |list: &[(&str, &str)]| {
        let mut options = Options::default();
        list.iter().for_each(|(name, value)| options.set(name, value).unwrap());
        options
    };
    let source = format!("rgb565 {width}x{lines}, crop = centre, resize = bilinear");
    let options = set(&[&plain[..], &[("source", &source)]].concat());
    let [rows, compiled] = [&set(&plain), &options].map(|options| compile(&bytes, "seen", options).unwrap());
    assert_eq!(rows.plan.ram_bytes(), compiled.plan.ram_bytes());

    let view =
        View { lines, left: (width - lines) / 2, top: 0, width: lines, height: lines, mirrored: false };
    let through = Source::<Rgb565<OpenCv, true>, Linear<SIDE, SIDE>>::new(view, Linear::new(&view));
    let mut camera = Camera::<Linear<SIDE, SIDE>, 1, CELLS>::new();
    assert!(size_of_val(&camera) <= MOST_BYTES);
    let (mut image, mut row) = (Vec::new(), [0i8; SIDE]);
    for line in frame(2 * width * lines).chunks_exact(2 * width) {
        while camera.push(&through, line, &mut row, |_, value| (value ^ 0x80) as i8) {
            image.extend_from_slice(&row);
        }
    }
    let graph = import(&bytes, "seen", &options).unwrap();
    let expected = Machine::new(&graph).run(&[Data::from_i8(&image)]).unwrap();
    let expected = format!("{:?}", expected[0].to_i8());

    let code = compiled.file(&quote::quote!(pub)).unwrap();
    let main = format!(
        "#![no_std]
#![no_main]

{code}

#[kiln_harness::entry]
fn main() -> ! {{
    const {{ assert!(Seen::SOURCE_BYTES <= {MOST_BYTES}) }};
    let mut model = Seen::new();
    let mut found = 0;
    for _ in 0..2 {{
        let mut state = 1u32;
        for _ in 0..Seen::LINES {{
            let mut line = [0; Seen::LINE_BYTES];
            for byte in &mut line {{
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *byte = (state >> 24) as u8;
            }}
            if let Some(scores) = model.push_line(&line) {{
                if *scores == {expected} {{
                    found += 1;
                }}
            }}
        }}
    }}
    kiln_harness::exit((found != 2).into())
}}
"
    );
    let board = Board::find("qemu-cortex-m4").unwrap();
    let request = ProgramRequest { board, name: "camera", main_rs: main, dependencies: &[] };
    let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    let unwanted: Vec<String> =
        Image::read(&elf).unwrap().unwanted().iter().map(|symbol| symbol.name.clone()).collect();
    assert_eq!(unwanted, Vec::<String>::new());
    qemu::run(board, &elf, Duration::from_secs(120)).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn firmware_sees_what_the_interpreter_sees() {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("models/tflite/residual_int8.tflite");
    check::<8, 16>(&own, 40, 30);
    match corpus_folder() {
        Some(folder) => check::<96, 192>(&folder.join("tflite/tflm_person_detect_int8.tflite"), 320, 240),
        None => println!("KILN_CORPUS is not set: person_detect did not see anything"),
    }
}

/// Estimated cycles of a frame of 320 · 240 pixels in RGB565, of which the middle becomes 96 · 96 pixels, on a Cortex-M4: at most so many millions.
#[test]
fn frames_take_few_cycles() {
    const WAYS: [(&str, &str, f64); 5] = [
        ("nearest", "Nearest<96, 96>, Nearest::new(&VIEW)", 0.6),
        ("bilinear", "Linear<96, 96>, Linear::new(&VIEW)", 2.0),
        ("area", "Area<96, 96>, Area::new(&VIEW)", 4.5),
        ("Pillow's bilinear", "Filtered<96, 96, 5, 5>, Filtered::new(&VIEW, Filter::Triangle)", 6.0),
        ("Pillow's area", "Filtered<96, 96, 3, 3>, Filtered::new(&VIEW, Filter::Box)", 4.0),
    ];
    let mut steps = String::new();
    for (number, (_, way, _)) in WAYS.iter().enumerate() {
        let (resize, new) = way.split_at(way.find(">, ").unwrap() + 1);
        let new = &new[2..];
        steps += &format!(
            "static SOURCE_{number}: Source<Rgb565<OpenCv, true>, {resize}> = Source::new(VIEW, {new});
    let mut camera = Camera::<{resize}, 1, {{ <{resize} as Resize>::ROWS * 96 }}>::new();
    mark();
    for _ in 0..240 {{
        while camera.push(&SOURCE_{number}, black_box(&line), &mut row, |_, value| (value ^ 0x80) as i8) {{}}
    }}
    black_box(&row);
    "
        );
    }
    let main = format!(
        "#![no_std]
#![no_main]

use core::hint::black_box;
use kiln::camera::*;

const VIEW: View = View {{ lines: 240, left: 40, top: 0, width: 240, height: 240, mirrored: false }};

#[no_mangle]
#[inline(never)]
extern \"C\" fn mark() {{
    black_box(1);
}}

#[no_mangle]
#[inline(never)]
extern \"C\" fn window_begin() {{
    black_box(2);
}}

#[no_mangle]
#[inline(never)]
extern \"C\" fn window_end() {{
    black_box(3);
}}

#[kiln_harness::entry]
fn main() -> ! {{
    let line = black_box([0x5a; 640]);
    let mut row = [0i8; 96];
    window_begin();
    {steps}mark();
    window_end();
    kiln_harness::exit(0)
}}
"
    );
    let board = Board::find("qemu-cortex-m4").unwrap();
    let request = ProgramRequest { board, name: "camera-cycles", main_rs: main, dependencies: &[] };
    let elf = build_program(&request).unwrap_or_else(|error| panic!("{error}"));
    let markers = qemu::Markers { begin: "window_begin", end: "window_end", step: Some("mark") };
    let counted = qemu::count_steps(board, &elf, &markers, Duration::from_secs(120)).unwrap();
    assert_eq!(counted.steps.len(), WAYS.len() + 1);
    for ((name, _, most), count) in WAYS.iter().zip(&counted.steps) {
        let millions = count.cycles as f64 / 1e6;
        println!("{name}: {millions:.2} million cycles");
        assert!(millions <= *most, "{name}: {millions:.2} million cycles");
    }
}
