//! From costs of instructions to totals of a run: blocks, which are decoded once, and a counter, which sees them executed.
use super::cores::Core;
use super::model::{Class, Cost, Flow};
use super::pipeline::Pipeline;
use std::ops::{Add, Sub};

/// Executed instructions, and what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// Executed instructions.
    pub instructions: u64,
    /// Their cycles by the model.
    pub cycles: u64,
    /// Branches that were taken, and other instructions that changed the flow.
    pub taken: u64,
    /// Cycles that loads from unaligned addresses take more. They are not in `cycles`.
    pub unaligned: u64,
    /// Executed instructions of each class, by its discriminant.
    pub classes: [u64; Class::ALL.len()],
}

impl Totals {
    /// Nothing executed.
    pub const ZERO: Totals =
        Totals { instructions: 0, cycles: 0, taken: 0, unaligned: 0, classes: [0; Class::ALL.len()] };
}

impl Add for Totals {
    type Output = Totals;

    fn add(self, other: Totals) -> Totals {
        Totals {
            instructions: self.instructions + other.instructions,
            cycles: self.cycles + other.cycles,
            taken: self.taken + other.taken,
            unaligned: self.unaligned + other.unaligned,
            classes: std::array::from_fn(|class| self.classes[class] + other.classes[class]),
        }
    }
}

/// What happened since an earlier moment.
impl Sub for Totals {
    type Output = Totals;

    fn sub(self, before: Totals) -> Totals {
        Totals {
            instructions: self.instructions.saturating_sub(before.instructions),
            cycles: self.cycles.saturating_sub(before.cycles),
            taken: self.taken.saturating_sub(before.taken),
            unaligned: self.unaligned.saturating_sub(before.unaligned),
            classes: std::array::from_fn(|class| self.classes[class].saturating_sub(before.classes[class])),
        }
    }
}

/// A straight run of instructions, left only at its end.
#[derive(Debug)]
pub struct Block {
    start: u32,
    end: u32,
    /// Each with its cycles after those before it.
    instructions: Vec<(Cost, u32)>,
    /// What is on its way at the end.
    pipeline: Pipeline,
    whole: Totals,
}

impl Block {
    /// An empty block at an address.
    pub fn new(start: u32) -> Self {
        Block {
            start,
            end: start,
            instructions: Vec::new(),
            pipeline: Pipeline::EMPTY,
            whole: Totals::default(),
        }
    }

    /// Appends an instruction of one halfword, or of two, as a core executes it.
    pub fn push(&mut self, core: Core, first: u16, second: Option<u16>) {
        let cost = core.cost(first, second);
        let cycles = self.pipeline.step(&cost);
        self.instructions.push((cost, cycles));
        self.whole = self.whole + totals(&cost, cycles);
        self.end = self.end.wrapping_add(if second.is_some() { 4 } else { 2 });
    }

    /// What executing the instructions before the one at `index` costs.
    fn before(&self, index: usize) -> Totals {
        self.instructions
            .iter()
            .take(index)
            .fold(Totals::default(), |sum, (cost, cycles)| sum + totals(cost, *cycles))
    }

    /// What it costs more (or less) that `next` was executed after this: cycles, and whether the flow changed.
    fn transition(&self, next: &Block) -> (i64, bool) {
        let Some((last, _)) = self.instructions.last() else { return (0, false) };
        let straight = self.end == next.start;
        match last.flow {
            Flow::Branch { taken: 0, .. } if !straight => (next.entered(self.pipeline.turn()), true),
            Flow::Branch { taken, .. } if !straight => (i64::from(taken), true),
            Flow::Branch { passed, .. } if passed > 0 => (i64::from(passed), false),
            // The emulator also ends blocks where no branch is.
            _ if straight => (next.entered(self.pipeline), false),
            Flow::Branch { .. } | Flow::Straight => (0, false),
        }
    }

    /// What it costs more (or less) to come here with something on its way. Looks at instructions until it is forgotten.
    fn entered(&self, mut pipeline: Pipeline) -> i64 {
        let (mut empty, mut more) = (Pipeline::EMPTY, 0);
        for (cost, cycles) in &self.instructions {
            if pipeline == empty {
                break;
            }
            empty.step(cost);
            more += i64::from(pipeline.step(cost)) - i64::from(*cycles);
        }
        more
    }
}

fn totals(cost: &Cost, cycles: u32) -> Totals {
    let mut totals = Totals { instructions: 1, cycles: u64::from(cycles), ..Totals::default() };
    totals.classes[cost.class as usize] = 1;
    totals
}

/// Follows an execution, block by block.
#[derive(Debug, Default)]
pub struct Counter<'a> {
    /// Of all blocks before the current one.
    done: Totals,
    current: Option<&'a Block>,
}

impl<'a> Counter<'a> {
    /// A counter that has seen nothing.
    pub const fn new() -> Self {
        Counter { done: Totals::ZERO, current: None }
    }

    /// `block` is about to be executed.
    pub fn enter(&mut self, block: &'a Block) {
        if let Some(left) = self.current.replace(block) {
            self.done = self.done + left.whole;
            let (cycles, taken) = left.transition(block);
            self.done.cycles = self.done.cycles.saturating_add_signed(cycles);
            self.done.taken += u64::from(taken);
        }
    }

    /// Totals when the instruction at `index` of the current block is about to be executed.
    pub fn before(&self, index: usize) -> Totals {
        self.done + self.current.map_or(Totals::default(), |block| block.before(index))
    }

    /// Totals when all of the current block has been executed.
    pub fn finish(&self) -> Totals {
        self.done + self.current.map_or(Totals::default(), |block| block.whole)
    }
}

/// For tests of pipelines.
#[cfg(test)]
pub(super) mod testing {
    use super::*;

    fn block(core: Core, start: u32, instructions: &[(u16, Option<u16>)]) -> Block {
        let mut block = Block::new(start);
        instructions.iter().for_each(|&(first, second)| block.push(core, first, second));
        block
    }

    /// Cycles of each instruction after those before it.
    pub(in super::super) fn each(core: Core, instructions: &[(u16, Option<u16>)]) -> Vec<u32> {
        block(core, 0x100, instructions).instructions.iter().map(|(_, cycles)| *cycles).collect()
    }

    /// Cycles of a turn of a loop, whose last instruction goes back.
    pub(in super::super) fn turn(core: Core, instructions: &[(u16, Option<u16>)]) -> u64 {
        let body = block(core, 0x100, instructions);
        let mut counter = Counter::new();
        let mut after = |turns| {
            (0..turns).for_each(|_| counter.enter(&body));
            counter.finish().cycles
        };
        let first = after(2);
        (after(10) - first) / 10
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDS: u16 = 0x1840; // adds r0, r0, r1
    const LDR: u16 = 0x6808; // ldr r0, [r1]
    const STR: u16 = 0x6008; // str r0, [r1]
    const BNE: u16 = 0xd1fb; // bne
    const BX_LR: u16 = 0x4770;

    fn block(start: u32, instructions: &[u16]) -> Block {
        let mut block = Block::new(start);
        for &op in instructions {
            block.push(Core::CortexM4, op, None);
        }
        block
    }

    #[test]
    fn a_loop_by_hand() {
        // ldr 2, ldr 1 (overlapped), adds 1, str 1, bne 1: 6 cycles, and 2 more whenever it goes back.
        let body = block(0x100, &[LDR, LDR, ADDS, STR, BNE]);
        let after = block(0x10a, &[BX_LR]);
        let mut counter = Counter::new();
        for _ in 0..10 {
            counter.enter(&body);
        }
        counter.enter(&after);
        let totals = counter.finish();
        assert_eq!((totals.instructions, totals.cycles, totals.taken), (51, 10 * 6 + 9 * 2 + 1, 9));
        assert_eq!(totals.classes[Class::Load as usize], 20);
        assert_eq!(totals.classes[Class::Store as usize], 10);
        assert_eq!(totals.classes[Class::Branch as usize], 11);
    }

    #[test]
    fn loads_overlap_across_an_end_that_is_no_branch() {
        let (first, second, elsewhere) =
            (block(0x100, &[ADDS, LDR]), block(0x104, &[LDR]), block(0x200, &[LDR]));
        let mut counter = Counter::new();
        counter.enter(&first);
        counter.enter(&second);
        assert_eq!(counter.finish().cycles, 1 + 2 + 1);
        let mut counter = Counter::new();
        counter.enter(&first);
        counter.enter(&elsewhere);
        assert_eq!(counter.finish().cycles, 1 + 2 + 2);
    }

    #[test]
    fn a_moment_inside_a_block() {
        let body = block(0x100, &[ADDS, LDR, STR, BNE]);
        let mut counter = Counter::new();
        counter.enter(&body);
        let begin = counter.before(1);
        counter.enter(&body);
        let end = counter.before(2);
        // From the first ldr to the second str: ldr 2, str 1, bne 1 + 2, adds 1, ldr 2.
        assert_eq!(((end - begin).instructions, (end - begin).cycles), (5, 9));
    }
}
