//! Every case of a case file, outputs to a file.
use crate::bench::run;
use crate::platform::{self, Input, Output, Times};
use crate::report::{fail, Line};
use crate::{CASES, OUTPUTS};
use kiln::Model;

/// Runs every case of `cases.bin` and writes the outputs to `outputs.bin`, then ends the program with status 0.
///
/// The model is reset before each case, or only before the first where the file is one sequence. A case of a model that is fed by
/// rows is its input, or a single row of it. Where the file does not fit the model, the program says so and ends with status 2.
///
/// Every invocation stands between the markers of [`bench`](crate::bench()). A process also writes how long each case took.
pub fn validate<M: Model>(model: &mut M) -> ! {
    if !platform::prepare() {
        fail("this machine has not the instruction set that KILN_LEVEL names");
    }
    let Some(mut cases) = Input::open(CASES) else { fail("cases.bin is missing") };
    let header = Header::read(model, &mut cases);
    let Some(mut outputs) = Output::create(OUTPUTS) else { fail("cannot create outputs.bin") };
    let mut written = outputs.write(b"KILNOUTS")
        && outputs.write(&header.cases.to_le_bytes())
        && outputs.write(&(M::INFO.outputs.len() as u32).to_le_bytes());
    for index in 0..M::INFO.outputs.len() {
        written &= outputs.write(&(model.output_bytes(index).len() as u32).to_le_bytes());
    }
    let mut times = Times::create();
    for case in 0..header.cases {
        if case == 0 || !header.sequence {
            model.reset();
        }
        let mut complete = false;
        for _ in 0..header.pieces {
            read_inputs(model, &mut cases);
            complete = times.measure(|| run(model));
        }
        written &= times.write_case();
        written &= outputs.write(&[complete.into()]);
        for index in 0..M::INFO.outputs.len() {
            written &= !complete || outputs.write(model.output_bytes(index));
        }
    }
    if !(written && outputs.close() && times.close()) {
        fail("cannot write outputs.bin or times.bin");
    }
    Line::new("kiln-cases ").number(header.cases).print();
    platform::exit(0)
}

/// Reads what the next invocation takes: the inputs, or the next row.
pub(crate) fn read_inputs<M: Model>(model: &mut M, cases: &mut Input) {
    for index in 0..M::INFO.inputs.len() {
        if !cases.read(model.input_bytes_mut(index)) {
            fail("cases.bin is truncated");
        }
    }
}

/// The start of a case file.
pub(crate) struct Header {
    cases: u32,
    sequence: bool,
    /// Invocations of each case: rows of a case that is given row by row.
    pieces: u32,
}

impl Header {
    /// Reads the header up to the first case, and checks that it was written for this model.
    pub(crate) fn read<M: Model>(model: &mut M, file: &mut Input) -> Self {
        let mut magic = [0; 8];
        if !(file.read(&mut magic) && magic == *b"KILNCASE") {
            fail("cases.bin is not a case file");
        }
        let flags = word(file);
        let cases = word(file);
        let inputs = word(file);
        if inputs as usize != M::INFO.inputs.len() {
            fail("cases.bin has another number of inputs than the model");
        }
        let mut pieces = 1;
        for (index, info) in M::INFO.inputs.iter().enumerate() {
            let (has, wants) = (word(file), info.bytes() as u32);
            // What one invocation takes: `wants` unless the model is fed by rows.
            let piece = model.input_bytes_mut(index).len() as u32;
            if has != wants && has != piece {
                Line::new("kiln-harness: input ")
                    .number(index as u32)
                    .text(" has ")
                    .number(wants)
                    .text(" bytes, in cases.bin ")
                    .number(has)
                    .print();
                platform::exit(2)
            }
            pieces = has.checked_div(piece).unwrap_or(1);
        }
        Self { cases, sequence: flags & 1 != 0, pieces }
    }
}

fn word(file: &mut Input) -> u32 {
    let mut bytes = [0; 4];
    if !file.read(&mut bytes) {
        fail("cases.bin is truncated");
    }
    u32::from_le_bytes(bytes)
}
