//! `invoke_async` computes what `invoke` does, and other tasks have a turn after each step.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

kiln::include_model!(Steps = "../examples/digits/models/digits_int8.tflite");
// Plain Rust: the workspaces of kernels in vectors take as much as a pipeline saves.
kiln::include_model!(
    Pipelined = "../examples/digits/models/digits_int8.tflite",
    optimize = "memory",
    target = "portable"
);
kiln::include_model!(Stream = "../host-tests/models/tflite/stream_int8.tflite");

/// Counts how often a task asked to be polled again.
#[derive(Default)]
struct Wakes(AtomicUsize);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls a future until it is ready; returns how often others had a turn. Every time it asked to be polled again, or an executor would
/// forget it; and it can be sent to another thread.
fn turns(future: impl Future<Output = ()> + Send) -> usize {
    let wakes = Arc::new(Wakes::default());
    let waker = Waker::from(wakes.clone());
    let mut future = pin!(future);
    let mut turns = 0;
    while future.as_mut().poll(&mut Context::from_waker(&waker)) == Poll::Pending {
        turns += 1;
        assert_eq!(wakes.0.load(Ordering::Relaxed), turns);
    }
    turns
}

fn noise(seed: usize) -> impl Iterator<Item = i8> {
    (0..).map(move |k: usize| (((k + 1) * (seed + 1) * 40_503) >> 7) as i8)
}

fn fill(input: &mut [i8], seed: usize) {
    for (to, from) in input.iter_mut().zip(noise(seed)) {
        *to = from;
    }
}

#[test]
fn the_same_bits_step_by_step_and_tick_by_tick() {
    let (mut whole, mut steps, mut pipelined) = (Steps::new(), Steps::new(), Pipelined::new());
    let mut counts = Vec::new();
    for seed in 0..3 {
        fill(whole.input_mut(), seed);
        fill(steps.input_mut(), seed);
        fill(pipelined.input_mut(), seed);
        whole.invoke();
        counts.push((turns(steps.invoke_async()), turns(pipelined.invoke_async())));
        assert_eq!(steps.output(), whole.output());
        assert_eq!(pipelined.output(), whole.output());
    }
    let (by_step, by_tick) = counts[0];
    assert!(by_step > 3, "{by_step} turns");
    assert!(by_tick > by_step, "steps of a pipeline have their turns at each tick: {by_tick}");
    assert_eq!(counts, [counts[0]; 3]);
}

/// Over several steps of the state; then a future is dropped half-way, and `reset` starts anew.
#[test]
fn models_with_state() {
    let (mut whole, mut turned) = (Stream::new(), Stream::new());
    for _ in 0..2 {
        for seed in 0..8 {
            fill(whole.input_mut(), seed);
            fill(turned.input_mut(), seed);
            whole.invoke();
            turns(turned.invoke_async());
            assert_eq!(turned.output(), whole.output());
        }
        {
            let mut dropped = pin!(turned.invoke_async());
            assert!(dropped.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        whole.reset();
        turned.reset();
    }
}
