//! One inference between two marker functions.
use crate::platform::{self, Input};
use crate::report::Line;
use crate::validate::{read_inputs, Header};
use crate::CASES;
use kiln::{DType, Model};

/// Resets the model, fills its inputs with the first case of `cases.bin` (or, where there is none, with reproducible noise),
/// invokes it once between [`kiln_bench_begin`] and [`kiln_bench_end`], prints `kiln-stack-bytes N` and ends the program.
///
/// `N` is the most stack that `invoke` and everything below it had in use, in bytes (0 on a host, where it is not measured).
pub fn bench<M: Model>(model: &mut M) -> ! {
    model.reset();
    match Input::open(CASES) {
        Some(mut cases) => {
            Header::read(model, &mut cases);
            read_inputs(model, &mut cases);
        }
        None => fill_inputs(model),
    }
    #[cfg(target_os = "none")]
    let stack = crate::stack::used_by(|| run(model));
    #[cfg(not(target_os = "none"))]
    let stack = {
        run(model);
        0
    };
    Line::new("kiln-stack-bytes ").number(stack).print();
    platform::exit(0)
}

// Its own function, so that a frame of `invoke` cannot merge with one that is not measured.
#[inline(never)]
fn run<M: Model>(model: &mut M) {
    kiln_bench_begin();
    model.invoke();
    kiln_bench_end();
}

/// The measured window starts where this is called.
#[no_mangle]
#[inline(never)]
extern "C" fn kiln_bench_begin() {
    core::hint::black_box(0xbe);
}

/// The measured window ends where this is called.
#[no_mangle]
#[inline(never)]
extern "C" fn kiln_bench_end() {
    core::hint::black_box(0xed);
}

/// Noise from a fixed seed: any byte for integers, numbers in [-1, 1) for floats.
fn fill_inputs<M: Model>(model: &mut M) {
    let mut noise = 0x9e37_79b9_u32;
    let mut next = || {
        // Marsaglia's xorshift32.
        noise ^= noise << 13;
        noise ^= noise >> 17;
        noise ^= noise << 5;
        noise
    };
    for (index, info) in M::INFO.inputs.iter().enumerate() {
        let float = info.dtype == DType::F32;
        for bytes in model.input_bytes_mut(index).chunks_mut(4) {
            let word =
                if float { ((next() as i32 >> 8) as f32 / (1 << 23) as f32).to_bits() } else { next() };
            for (byte, value) in bytes.iter_mut().zip(word.to_le_bytes()) {
                *byte = value;
            }
        }
    }
}
