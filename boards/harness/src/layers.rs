//! Cycles of each layer, of a model that was compiled with `events = "layers"`.
use crate::counter::Counter;
use crate::report::Line;
use core::sync::atomic::{AtomicU32, Ordering};
use kiln::events::{self, Layer, Observer};

/// Layers behind these are not measured.
const MOST: usize = 512;

/// Cycles of each layer: a sum, where it is computed some rows at a time.
static CYCLES: [AtomicU32; MOST] = [const { AtomicU32::new(0) }; MOST];
/// How many layers there have been.
static LAYERS: AtomicU32 = AtomicU32::new(0);
/// What it takes to measure nothing.
static NOTHING: AtomicU32 = AtomicU32::new(0);

static OBSERVER: Observer = Observer { clock, sink };

fn clock() -> u32 {
    Counter::running().now() as u32
}

// Loads and stores, since Armv6-M cannot add in one go: nobody else writes.
fn sink(layer: &Layer) {
    let Some(sum) = CYCLES.get(layer.index) else { return };
    let cycles = layer.cycles.saturating_sub(NOTHING.load(Ordering::Relaxed));
    sum.store(sum.load(Ordering::Relaxed).wrapping_add(cycles), Ordering::Relaxed);
    let layers = LAYERS.load(Ordering::Relaxed).max(layer.index as u32 + 1);
    LAYERS.store(layers, Ordering::Relaxed);
}

/// Measures all layers from now on.
pub(crate) fn observe() {
    Counter::start();
    // The first time instructions may have to be fetched that are at hand later.
    let nothing = (0..8).map(|_| {
        let start = (OBSERVER.clock)();
        (OBSERVER.clock)().wrapping_sub(start)
    });
    NOTHING.store(nothing.min().unwrap_or(0), Ordering::Relaxed);
    events::observe(&OBSERVER);
}

/// Prints a line for each layer.
pub(crate) fn print() {
    events::ignore();
    for (index, cycles) in CYCLES.iter().enumerate().take(LAYERS.load(Ordering::Relaxed) as usize) {
        let cycles = cycles.load(Ordering::Relaxed);
        Line::new("kiln-layer ").number(index as u32).text(" ").number(cycles).print();
    }
}
