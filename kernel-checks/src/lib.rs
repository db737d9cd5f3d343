//! Checks that the kernels of [`kiln::kernels`] compute what they mean: each compares a kernel with its portable twin, or with
//! its plain definition, on random operands.
//!
//! A kernel for one kind of core may consist of instructions that no other core has, so a test on the host says little about it.
//! These checks need neither `std` nor an allocator: the same ones run on the host (`tests/host.rs`) and as firmware on every
//! emulated board (`host-tests/tests/kernels_on_target.rs`).
//!
//! # To add a check
//!
//! Write a function `fn(&mut Rng, Scratch) -> Result<(), Mismatch>` in the file of the kernel's family and name it in that
//! file's `CHECKS`. Each call is one round: draw a shape, parameters and operands, run both, compare. Draw widths, tails,
//! alignments ([`scratch::Pool::take_at`]), zero points and clamps, extreme ones too: a round is cheap and there are many.
//! Results come from [`scratch::Pool::twins`], which also notices what a kernel writes beside them.
#![no_std]
// A message that says everything is large, and there is no allocator to keep it elsewhere.
#![allow(clippy::result_large_err)]

mod affine;
mod channels;
mod conv;
mod conv_dsp;
mod dense;
mod depthwise;
mod depthwise_last;
mod elementwise;
mod floats;
mod hostile;
mod int16;
mod movement;
mod mve;
mod pool;
pub mod reference;
mod requant;
pub mod rng;
// Of cores with Arm's instructions, the one with the most code has no memory left for these.
#[cfg(not(target_arch = "arm"))]
mod rv32;
pub mod scratch;
mod softmax;
mod temporal;
mod v6m;
mod vectors;
mod wide;
mod winograd;

pub use rng::Rng;
pub use scratch::{cells, Scratch, Storage};

use core::fmt;

/// Where cores meet for kernels that two of them compute. Whoever runs the checks may have another core help.
pub static CREW: kiln::Crew = kiln::Crew::new();

/// One kernel against what it should compute.
pub struct Check {
    /// Kernel, and what is special about the operands.
    pub name: &'static str,
    /// One round with operands drawn from the generator.
    pub run: fn(&mut Rng, Scratch<'_>) -> Result<(), Mismatch>,
}

/// The checks of each family of kernels.
pub const CHECKS: &[&[Check]] = &[
    channels::CHECKS,
    conv::CHECKS,
    conv_dsp::CHECKS,
    dense::CHECKS,
    depthwise::CHECKS,
    depthwise_last::CHECKS,
    elementwise::CHECKS,
    floats::CHECKS,
    hostile::CHECKS,
    int16::CHECKS,
    movement::CHECKS,
    mve::CHECKS,
    pool::CHECKS,
    requant::CHECKS,
    #[cfg(not(target_arch = "arm"))]
    rv32::CHECKS,
    softmax::CHECKS,
    temporal::CHECKS,
    v6m::CHECKS,
    vectors::CHECKS,
    wide::CHECKS,
    winograd::CHECKS,
];

/// Every `step`th family from the first one on, for programs that would be too large with all of them.
pub const fn part(first: usize, step: usize) -> [&'static [Check]; CHECKS.len()] {
    let mut part: [&'static [Check]; CHECKS.len()] = [&[]; CHECKS.len()];
    let mut at = first;
    while at < CHECKS.len() && step > 0 {
        part[at] = CHECKS[at];
        at += step;
    }
    part
}

/// Every check, family by family.
pub fn all() -> impl Iterator<Item = &'static Check> {
    CHECKS.iter().copied().flatten()
}

impl Check {
    /// Runs `rounds` rounds and stops at the first that fails. The operands of a round depend on the check's name and the
    /// round's number alone.
    ///
    /// # Errors
    /// The round that failed, and how.
    pub fn run(&self, storage: &mut Storage, rounds: u32) -> Result<(), Failure> {
        for round in 0..rounds {
            self.round(storage, round)?;
        }
        Ok(())
    }

    /// Runs one round.
    ///
    /// # Errors
    /// How it failed.
    pub fn round(&self, storage: &mut Storage, round: u32) -> Result<(), Failure> {
        let mut rng = Rng::new(self.name, round);
        let fail = |mismatch| Failure { check: self.name, round, mismatch };
        (self.run)(&mut rng, storage.scratch()).map_err(fail)
    }
}

/// Names and values of what was drawn for a round, for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Case {
    numbers: [(&'static str, i32); 20],
    len: usize,
}

impl Case {
    /// A case of which nothing is said yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number. From the 21st on they are dropped.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl TryInto<i32>) -> Self {
        if let Some(slot) = self.numbers.get_mut(self.len) {
            *slot = (name, value.try_into().unwrap_or(i32::MAX));
            self.len += 1;
        }
        self
    }
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.numbers.iter().take(self.len).enumerate() {
            write!(f, "{}{name} {value}", if index > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

/// The first element that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// What was drawn.
    pub case: Case,
    /// Which element; negative before the result's first.
    pub index: i32,
    /// What it should be.
    pub expected: i32,
    /// What the kernel made of it.
    pub got: i32,
    /// Whether the element lies outside of the result, where nothing may be written.
    pub outside: bool,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Mismatch { case, index, expected, got, outside } = self;
        let outside = if *outside { " (outside of the result)" } else { "" };
        write!(f, "element {index}{outside} is {got} instead of {expected}: {case}")
    }
}

/// A round of a check that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The check's name.
    pub check: &'static str,
    /// Which round.
    pub round: u32,
    /// How.
    pub mismatch: Mismatch,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, round {}: {}", self.check, self.round, self.mismatch)
    }
}
