//! One inference between two marker functions.
use crate::platform::{self, Input};
use crate::report::Line;
use crate::validate::{read_inputs, Header};
use crate::CASES;
use kiln::{DType, Feed, Model};

/// Resets the model and invokes it, on the first case of `cases.bin` or (where there is none) on reproducible noise, until its outputs
/// are complete; then prints `kiln-stack-bytes N` and ends the program. A model that is fed by rows takes one invocation per row; a
/// sliding model is measured in steady state, from the outputs of its first window to the next.
///
/// Every invocation that is measured stands between [`kiln_bench_begin`] and [`kiln_bench_end`], the writing of its input before it.
///
/// `N` is the most stack that `invoke` and everything below it had in use, in bytes (0 on a host, where it is not measured). With the feature
/// `counter` a line `kiln-cycles HIGH LOW` comes before it: the upper and lower 32 bits of the cycles that were measured.
pub fn bench<M: Model>(model: &mut M) -> ! {
    let mut source = prepare(model);
    let mut window = Window::new();
    let infer = || {
        while !window.measure(|| run(model)) {
            source.write(model);
        }
    };
    let stack = stack_of(infer);
    window.print();
    Line::new("kiln-stack-bytes ").number(stack).print();
    platform::exit(0)
}

/// As [`bench`], of a model that was compiled with `events = "layers"`: prints `kiln-layer INDEX CYCLES` for each layer.
#[cfg(all(target_os = "none", feature = "counter"))]
pub fn bench_layers<M: Model>(model: &mut M) -> ! {
    let mut source = prepare(model);
    crate::layers::observe();
    while !crate::invoke(model) {
        source.write(model);
    }
    crate::layers::print();
    platform::exit(0)
}

/// Brings the model to where measuring begins, with its next input written.
fn prepare<M: Model>(model: &mut M) -> Source {
    model.reset();
    let mut source = Source::open(model);
    if M::INFO.feed == Feed::Sliding {
        source.write(model);
        while !crate::invoke(model) {
            source.write(model);
        }
    }
    source.write(model);
    source
}

#[cfg(target_os = "none")]
use crate::stack::used_by as stack_of;

#[cfg(not(target_os = "none"))]
fn stack_of(run: impl FnOnce()) -> u32 {
    run();
    0
}

/// Cycles of several invocations.
#[cfg(all(target_os = "none", feature = "counter"))]
struct Window {
    counter: crate::counter::Counter,
    /// What it takes to measure nothing.
    nothing: u64,
    cycles: u64,
}

#[cfg(all(target_os = "none", feature = "counter"))]
impl Window {
    fn new() -> Self {
        let counter = crate::counter::Counter::start();
        let mut window = Window { counter, nothing: 0, cycles: 0 };
        // The first time instructions may have to be fetched that are at hand later.
        for _ in 0..2 {
            window.cycles = 0;
            window.measure(|| {
                kiln_bench_begin();
                kiln_bench_end();
                true
            });
        }
        window.nothing = core::mem::take(&mut window.cycles);
        window
    }

    #[inline(never)]
    fn measure(&mut self, run: impl FnOnce() -> bool) -> bool {
        let start = self.counter.now();
        let complete = run();
        self.cycles += self.counter.since(start).saturating_sub(self.nothing);
        complete
    }

    fn print(&self) {
        let (high, low) = ((self.cycles >> 32) as u32, self.cycles as u32);
        Line::new("kiln-cycles ").number(high).text(" ").number(low).print();
    }
}

/// Without a counter, nothing is measured.
#[cfg(not(all(target_os = "none", feature = "counter")))]
struct Window;

#[cfg(not(all(target_os = "none", feature = "counter")))]
impl Window {
    fn new() -> Self {
        Window
    }

    #[inline(always)]
    fn measure(&mut self, run: impl FnOnce() -> bool) -> bool {
        run()
    }

    fn print(&self) {}
}

// Its own function, so that a frame of `invoke` cannot merge with one that is not measured.
#[inline(never)]
pub(crate) fn run<M: Model>(model: &mut M) -> bool {
    kiln_bench_begin();
    let complete = crate::invoke(model);
    kiln_bench_end();
    complete
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

/// Where inputs come from.
enum Source {
    File(Input),
    /// State of a generator with a fixed seed.
    Noise(u32),
}

impl Source {
    fn open<M: Model>(model: &mut M) -> Self {
        match Input::open(CASES) {
            Some(mut cases) => {
                Header::read(model, &mut cases);
                Source::File(cases)
            }
            None => Source::Noise(0x9e37_79b9),
        }
    }

    /// Writes what the next invocation takes.
    fn write<M: Model>(&mut self, model: &mut M) {
        match self {
            Source::File(cases) => read_inputs(model, cases),
            Source::Noise(state) => write_noise(model, state),
        }
    }
}

/// Any byte for integers, numbers in [-1, 1) for floats.
fn write_noise<M: Model>(model: &mut M, noise: &mut u32) {
    let mut next = || {
        // Marsaglia's xorshift32.
        *noise ^= *noise << 13;
        *noise ^= *noise >> 17;
        *noise ^= *noise << 5;
        *noise
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
