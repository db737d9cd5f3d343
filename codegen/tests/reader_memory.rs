//! Reading a file, however hostile, allocates no more than sixteen times its size; and no more than 16 MB for the passes of its loops.

use kiln_codegen::front::{read, tflite};
use peak_alloc::PeakAlloc;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Bytes that are allocated at the highest point of `work`, beyond those allocated before.
fn peak<T>(work: impl FnOnce() -> T) -> usize {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = work();
    let peak = ALLOCATOR.peak_usage().saturating_sub(before);
    drop(result);
    peak
}

/// Bytes that branches and passes of loops may come to: as many operators and tensors as `front::tflite::budget` lets them, with what it allows for each.
const UNROLLED: usize = (1 << 13) * (2 << 10);

/// One test, because the allocator counts for the whole process.
#[test]
fn memory_stays_in_proportion_to_the_file() {
    let mut worst: (f64, String) = (0.0, String::new());
    let mut check = |name: &str, file: &[u8]| {
        let read = peak(|| read(file, name));
        let inspected = peak(|| kiln_codegen::front::inspect(file));
        // A few bytes can make a loop of thousands of passes.
        let unrolled = if name == "control" { UNROLLED } else { 0 };
        let ratio = read.saturating_sub(unrolled).max(inspected) as f64 / file.len().max(512) as f64;
        if ratio > worst.0 {
            worst =
                (ratio, format!("{name} of {} bytes: {read} to read, {inspected} to inspect", file.len()));
        }
        assert!(ratio <= 16.0, "{name} of {} bytes: {read} to read, {inspected} to inspect", file.len());
    };
    for (name, file) in tflite::seeds::all() {
        check(name, &file);
        for at in (0..file.len() - 4).step_by(4) {
            for value in [0, 1, 64, 0x7fff_ffff, 0x0001_0000, (at as u32).wrapping_neg()] {
                let mut file = file.clone();
                file[at..at + 4].copy_from_slice(&u32::to_le_bytes(value));
                check(name, &file);
            }
        }
    }
    for (tensors, operators, subgraphs) in [(1000, 0, 1), (50_000, 1, 1), (501, 50_000, 1), (501, 1, 50_000)]
    {
        check("amplified", &amplified(tensors, operators, subgraphs));
    }
    eprintln!("worst case: {} ({:.1} times the file)", worst.1, worst.0);
}

/// Lists that name one table thousands of times: a few bytes each in the file, and much more once read.
fn amplified(tensors: usize, operators: usize, subgraphs: usize) -> Vec<u8> {
    use tflite::testing::{Node, Table};
    let quantization = Table::new().with(2, &[1.0f32; 500][..]).with(3, &[0i64; 500][..]);
    let tensor = Table::new().with(0, &[1i32, 500][..]).with(1, 9i8).with(2, 1u32).with(4, quantization);
    let tensor = tensor.with(3, "x".repeat(2000).as_str());
    let operator = Table::new().with(1, &[0i32; 1000][..]).with(2, &[1i32][..]);
    let sub = Table::new()
        .with(0, Node::Repeated(tensors, Box::new(tensor)))
        .with(1, &(0..500).collect::<Vec<i32>>()[..])
        .with(2, &[0i32; 500][..])
        .with(3, Node::Repeated(operators, Box::new(operator)));
    let code = Table::new().with(0, 2i8).with(3, 2i32);
    let buffers = vec![Table::new(), Table::new().with(0, &[7u8; 500][..])];
    let root =
        Table::new().with(0, 3u32).with(1, vec![code]).with(2, Node::Repeated(subgraphs, Box::new(sub)));
    root.with(4, buffers).finish(b"TFL3")
}
