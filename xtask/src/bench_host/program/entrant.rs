//! A model in the race, whatever its type.
use kiln::events::{Layer, Observer};
use kiln::{Crew, DType, Model, TensorInfo};
use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The threads that compute together.
static CREW: Crew = Crew::new();

/// Starts threads that help whoever runs a model, until there are so many with that one.
pub fn gather(cores: usize) {
    let stay = || {
        CREW.help(|| {
            std::thread::yield_now();
            true
        });
    };
    (1..cores).for_each(|_| drop(std::thread::spawn(stay)));
}

/// What commands ask of a model.
pub trait Entrant {
    /// Takes cases of inputs, in the model's own types, one after the other, and answers with all outputs of
    /// all cases, as little-endian `f32`.
    fn load(&mut self, inputs: Vec<u8>) -> Result<Vec<u8>, String>;

    /// One inference on the first case: how long it takes, without what writing the inputs takes.
    fn infer(&mut self) -> Duration;
}

/// A model that begins on a cache line. Whether it does would otherwise be up to the allocator, and differ
/// from model to model.
#[repr(align(64))]
struct Lane<M> {
    model: M,
    inputs: Vec<u8>,
}

/// A model without inputs.
pub fn entrant<M: Model + Default + 'static>() -> Box<dyn Entrant> {
    Box::new(Lane { model: M::default(), inputs: Vec::new() })
}

impl<M: Model> Lane<M> {
    fn bytes_of_a_case() -> usize {
        M::INFO.inputs.iter().map(TensorInfo::bytes).sum()
    }

    fn write(&mut self, case: usize) {
        let mut at = case * Self::bytes_of_a_case();
        for (index, info) in M::INFO.inputs.iter().enumerate() {
            self.model.input_bytes_mut(index).copy_from_slice(&self.inputs[at..at + info.bytes()]);
            at += info.bytes();
        }
    }
}

impl<M: Model> Entrant for Lane<M> {
    fn load(&mut self, inputs: Vec<u8>) -> Result<Vec<u8>, String> {
        let size = Self::bytes_of_a_case();
        if size == 0 || inputs.is_empty() || inputs.len() % size != 0 {
            return Err(format!("{} bytes are no cases of inputs of {size} bytes", inputs.len()));
        }
        let cases = inputs.len() / size;
        self.inputs = inputs;
        let mut results = Vec::new();
        for case in 0..cases {
            self.model.reset();
            self.write(case);
            self.model.invoke_on(&CREW);
            for (index, info) in M::INFO.outputs.iter().enumerate() {
                results.extend(floats(self.model.output_bytes(index), info.dtype));
            }
        }
        Ok(results)
    }

    fn infer(&mut self) -> Duration {
        // The inputs' memory is reused.
        self.write(0);
        let started = Instant::now();
        std::hint::black_box(&mut self.model).invoke_on(&CREW);
        let took = started.elapsed();
        std::hint::black_box(self.model.output_bytes(0));
        took
    }
}

/// Elements as `f32`, little-endian.
fn floats(bytes: &[u8], dtype: DType) -> Vec<u8> {
    let element = |raw: &[u8]| match (dtype, raw) {
        (DType::I8, &[a]) => f32::from(i8::from_le_bytes([a])),
        (DType::U8 | DType::Bool, &[a]) => f32::from(a),
        (DType::I16, &[a, b]) => f32::from(i16::from_le_bytes([a, b])),
        (DType::I32, &[a, b, c, d]) => i32::from_le_bytes([a, b, c, d]) as f32,
        (DType::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
        (DType::I64, &[a, b, c, d, e, f, g, h]) => i64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32,
        _ => f32::NAN,
    };
    bytes.chunks(dtype.size()).flat_map(|raw| element(raw).to_le_bytes()).collect()
}

/// Infers until the time is up, after a few inferences that do not count.
fn repeat(entrant: &mut dyn Entrant, milliseconds: u64, mut each: impl FnMut(Duration)) {
    let (mut warm, mut timed) = (Duration::ZERO, Duration::ZERO);
    while warm < Duration::from_millis(milliseconds / 10) {
        warm += entrant.infer().max(Duration::from_nanos(1));
    }
    while timed < Duration::from_millis(milliseconds) {
        let took = entrant.infer().max(Duration::from_nanos(1));
        each(took);
        timed += took;
    }
}

/// The least and the median time of inferences that take so many milliseconds together.
pub fn timed(entrant: &mut dyn Entrant, milliseconds: u64) -> String {
    let mut times = Vec::with_capacity(1 << 16);
    repeat(entrant, milliseconds.max(1), |took| times.push(took.as_nanos()));
    times.sort_unstable();
    format!("times\t{}\t{}\t{}", times[0], times[times.len() / 2], times.len())
}

/// Nanoseconds of each layer in one inference: bands of rows add up.
static LAYERS: Mutex<BTreeMap<usize, u64>> = Mutex::new(BTreeMap::new());

fn note(layer: &Layer) {
    let mut layers = LAYERS.lock().unwrap_or_else(PoisonError::into_inner);
    *layers.entry(layer.index).or_default() += u64::from(layer.cycles);
}

/// Nanoseconds, which wrap as an observer's clock may.
fn clock() -> u32 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u32
}

/// The least time of each layer of a model that was compiled with events.
pub fn layers(entrant: &mut dyn Entrant, milliseconds: u64) -> String {
    static OBSERVER: Observer = Observer { clock, sink: note };
    kiln::events::observe(&OBSERVER);
    let mut least: BTreeMap<usize, u64> = BTreeMap::new();
    let take = || std::mem::take(&mut *LAYERS.lock().unwrap_or_else(PoisonError::into_inner));
    entrant.infer();
    take();
    repeat(entrant, milliseconds.max(1), |_| {
        for (index, nanoseconds) in take() {
            let least = least.entry(index).or_insert(u64::MAX);
            *least = nanoseconds.min(*least);
        }
    });
    kiln::events::ignore();
    let layers = least.iter().map(|(index, nanoseconds)| format!("\t{index}:{nanoseconds}"));
    format!("layers{}", layers.collect::<String>())
}
