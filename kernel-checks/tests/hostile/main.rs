//! Calls every public kernel with whatever its types allow, and no compiler would write: sizes whose products wrap, strides of 0, short slices, rings of no rows. Safe code may pass all that, so a
//! kernel must neither touch what is not its operands, nor panic, nor go on for ever. What it computes is not looked at.
//!
//! Calls are drawn from a seed, the kernel's name and a number, so that each of them can be repeated alone:
//!
//! | variable | meaning |
//! |---|---|
//! | `KILN_FUZZ_SECONDS` | how long; a few seconds if it is not set |
//! | `KILN_FUZZ_SEED` | a number or any other text |
//! | `KILN_FUZZ_KERNEL` | kernels whose names contain it |
//! | `KILN_FUZZ_ROUND` | that call of each of them alone |
//! | `KILN_LEVEL` | the highest instruction set (`kiln::Level::name`); without it each in turn |

mod args;
mod draw;
mod kernels;
mod memory;

use draw::Draw;
use kernels::{Fuzzed, KERNELS};
use kiln::{is_available, limit_level, Level};
use kiln_kernel_table::KernelId;
use memory::watch;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{self, AssertUnwindSafe};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Calls of a kernel in a turn.
const TURN: u32 = if cfg!(miri) { 1 } else { 64 };

/// Place and message of the last panic.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn setting(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

#[test]
fn kernels_touch_nothing_but_their_operands() {
    let seconds = setting("KILN_FUZZ_SECONDS").map_or(4.0, |seconds| seconds.parse::<f64>().unwrap());
    let seed = setting("KILN_FUZZ_SEED").unwrap_or_default();
    let wanted = setting("KILN_FUZZ_KERNEL").unwrap_or_default();
    let only: Option<u32> = setting("KILN_FUZZ_ROUND").map(|round| round.parse().unwrap());
    let highest = setting("KILN_LEVEL").map(|name| Level::of_name(&name).expect("a level's name"));
    let levels: Vec<Level> = Level::ALL
        .into_iter()
        .filter(|&level| is_available(level) && highest.is_none_or(|h| h == level))
        .collect();
    assert!(!levels.is_empty(), "this processor has none of the levels");
    let chosen: Vec<(&Fuzzed, String)> = KERNELS
        .iter()
        .copied()
        .flatten()
        .filter(|kernel| kernel.name.contains(&wanted))
        .map(|kernel| (kernel, format!("{seed} {}", kernel.name)))
        .collect();
    assert!(!chosen.is_empty(), "no kernel has `{wanted}` in its name");
    let before = panic::take_hook();
    panic::set_hook(Box::new(|info| *PANIC.lock().unwrap() = info.to_string()));
    watch::begin();
    let mut draw = Draw::new();
    let mut failures = Failures::default();
    let (begun, mut calls, mut first) = (Instant::now(), 0u64, 0);
    let mut times: BTreeMap<&str, Duration> = BTreeMap::new();
    loop {
        for &level in &levels {
            limit_level(level);
            for (kernel, name) in &chosen {
                let rounds = only.map_or(first..first + TURN, |round| round..round + 1);
                let begun = Instant::now();
                for round in rounds {
                    failures.extend(call(&mut draw, kernel, name, round));
                    calls += 1;
                }
                *times.entry(kernel.name).or_default() += begun.elapsed();
            }
            first += TURN;
        }
        if only.is_some() || cfg!(miri) || begun.elapsed() >= Duration::from_secs_f64(seconds) {
            break;
        }
    }
    watch::end();
    panic::set_hook(before);
    let names: Vec<&str> = levels.iter().map(|level| level.name()).collect();
    println!(
        "{calls} calls of {} entries in {:.0} s, at levels {}",
        chosen.len(),
        begun.elapsed().as_secs_f64(),
        names.join(", ")
    );
    let mut slowest: Vec<(Duration, &str)> = times.into_iter().map(|(name, time)| (time, name)).collect();
    slowest.sort_unstable();
    let slowest =
        slowest.iter().rev().take(12).map(|(time, name)| format!("{name} {:.1} s", time.as_secs_f64()));
    println!("most of it in {}", slowest.collect::<Vec<_>>().join(", "));
    assert!(failures.0.is_empty(), "{failures}");
}

/// One call, and what is wrong with it.
fn call(draw: &mut Draw, kernel: &Fuzzed, name: &str, round: u32) -> Option<(String, (&'static str, u32))> {
    Draw::announce(kernel.name, round);
    draw.begin(name, round, kernel.preset);
    let arguments = &*draw;
    let wrong = match panic::catch_unwind(AssertUnwindSafe(|| (kernel.call)(arguments))) {
        Err(_) => PANIC.lock().unwrap().clone(),
        Ok(()) if !draw.is_clean() => format!("{} wrote beside an operand", kernel.name),
        Ok(()) => return None,
    };
    Some((wrong, (kernel.name, round)))
}

/// What is wrong, with the first call that shows it of each kernel.
#[derive(Default)]
struct Failures(BTreeMap<String, BTreeMap<&'static str, u32>>);

impl Extend<(String, (&'static str, u32))> for Failures {
    fn extend<I: IntoIterator<Item = (String, (&'static str, u32))>>(&mut self, all: I) {
        for (wrong, (name, round)) in all {
            self.0.entry(wrong).or_default().entry(name).or_insert(round);
        }
    }
}

impl std::fmt::Display for Failures {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (wrong, calls) in &self.0 {
            writeln!(f, "{wrong}")?;
            for (name, round) in calls.iter().take(6) {
                writeln!(f, "    {name}, round {round}")?;
            }
        }
        Ok(())
    }
}

/// Names of the functions of `kiln::kernels`: those of the table of kernels (`host-tests/tests/kernel_table.rs` compares both), and those that compute sizes.
fn exported() -> BTreeSet<String> {
    let kernels = KernelId::ALL.iter().map(|kernel| kernel.name().to_owned());
    let sizes = [
        "conv2d_work_words",
        "conv2d_mve_work_words",
        "depthwise2d_mve_padding_words",
        "depthwise2d_mve_work_words",
    ];
    kernels.chain(sizes.map(str::to_owned)).collect()
}

#[test]
fn every_public_kernel_is_called() {
    let fuzzed: BTreeSet<String> =
        KERNELS.iter().copied().flatten().map(|kernel| kernel.name.to_owned()).collect();
    let exported = exported();
    assert!(exported.len() > 300);
    let missing: Vec<&String> = exported.difference(&fuzzed).collect();
    assert!(missing.is_empty(), "kernels that are not in tests/hostile/kernels: {missing:?}");
    let unknown: Vec<&String> = fuzzed.difference(&exported).collect();
    assert!(unknown.is_empty(), "no kernels: {unknown:?}");
}
