//! Runs the models beside it on cases from a file; `cargo xtask differential` writes both.
//!
//! All files are little-endian. In: for each model its number, the number of cases, and the bytes of all inputs of all cases. Out: for each model
//! its number, 1 and the bytes of all outputs of all cases, or 0 where it panics.
use kiln::Model;
use std::fs::File;
use std::io::{Read, Write};

include!("models/list.rs");

fn number(cases: &mut &[u8]) -> usize {
    let (number, rest) = cases.split_first_chunk().unwrap();
    *cases = rest;
    u32::from_le_bytes(*number) as usize
}

/// The outputs of all cases; states go on from one to the next.
fn run<M: Model>(model: &mut M, count: usize, cases: &mut &[u8]) -> Vec<u8> {
    let mut outputs = Vec::new();
    model.reset();
    for _ in 0..count {
        for index in 0..M::INFO.inputs.len() {
            let input = model.input_bytes_mut(index);
            let (bytes, rest) = cases.split_at(input.len());
            input.copy_from_slice(bytes);
            *cases = rest;
        }
        model.invoke();
        for index in 0..M::INFO.outputs.len() {
            outputs.extend_from_slice(model.output_bytes(index));
        }
    }
    outputs
}

fn main() {
    // Models lie on the stack.
    let thread = std::thread::Builder::new().stack_size(1 << 29).spawn(run_all).unwrap();
    thread.join().unwrap();
}

fn run_all() {
    let (mut file, mut out) = (Vec::new(), File::create("outputs.bin").unwrap());
    File::open("cases.bin").unwrap().read_to_end(&mut file).unwrap();
    let mut cases = &file[..];
    while !cases.is_empty() {
        let (model, count, length) = (number(&mut cases), number(&mut cases), number(&mut cases));
        let (mut own, rest) = cases.split_at(length);
        cases = rest;
        // Told before it runs: what ends the process is the last one.
        out.write_all(&(model as u32).to_le_bytes()).unwrap();
        let outputs = std::panic::catch_unwind(move || MODELS[model](count, &mut own));
        let (status, outputs) = match outputs {
            Ok(outputs) => (1, outputs),
            Err(_) => (0, Vec::new()),
        };
        out.write_all(&[status]).unwrap();
        out.write_all(&(outputs.len() as u32).to_le_bytes()).unwrap();
        out.write_all(&outputs).unwrap();
    }
}
