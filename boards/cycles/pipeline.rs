//! Cores that begin instructions in order and finish them later: what an instruction waits for, and what it makes others wait for.
//!
//! A core may begin one instruction in each cycle, or two that go together. An instruction waits until its registers have arrived, and
//! until its unit is free. Times are in cycles from the last instruction that began.
use super::model::{Cost, Overlap};

/// Registers: r0 to r15, the flags, q0 to q7. The registers s and d of floats count as the q that contains them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Registers(u32);

impl Registers {
    /// None.
    pub const NONE: Registers = Registers(0);
    /// The flags.
    pub const FLAGS: Registers = Registers(1 << 16);
    const COUNT: usize = 32;

    /// The core register of that number.
    pub const fn r(number: u16) -> Self {
        Registers(1 << (number & 15))
    }

    /// A list of core registers, as `LDM` has it.
    pub const fn list(bits: u16) -> Self {
        Registers(bits as u32)
    }

    /// The vector register of that number.
    pub const fn q(number: u16) -> Self {
        Registers(1 << (24 + (number & 7)))
    }

    /// These and those.
    pub const fn and(self, other: Registers) -> Self {
        Registers(self.0 | other.0)
    }

    /// These if `condition` holds.
    pub const fn when(self, condition: bool) -> Self {
        if condition {
            self
        } else {
            Registers::NONE
        }
    }

    /// These, except those.
    pub const fn without(self, other: Registers) -> Self {
        Registers(self.0 & !other.0)
    }

    /// Whether there is one of those among these.
    pub const fn meets(self, other: Registers) -> bool {
        self.0 & other.0 != 0
    }

    fn numbers(self) -> impl Iterator<Item = usize> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let number = (left != 0).then_some(left.trailing_zeros() as usize)?;
            left &= left - 1;
            Some(number)
        })
    }
}

/// A unit that an instruction can occupy for several cycles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Loads and stores.
    Memory,
    /// Arithmetic of integers in vectors.
    Integer,
    /// Products and floats.
    Multiply,
}

impl Unit {
    const COUNT: usize = 3;
}

/// Whether an instruction begins in the same cycle as a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Slot {
    /// Never.
    Alone,
    /// With the one behind it.
    First,
    /// With the one before it, or the one behind it.
    Any,
}

/// How an instruction goes through the pipeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Issue {
    /// The unit that it occupies, and for how many cycles.
    pub unit: Option<(Unit, u8)>,
    /// Cycles in which nothing else begins, besides its first one.
    pub hold: u8,
    /// What it reads when it begins.
    pub reads: Registers,
    /// What it needs some cycles earlier, and how many.
    pub early: (Registers, u8),
    /// What it needs some cycles later, and how many.
    pub late: (Registers, u8),
    /// What it writes, and after how many cycles others can begin with it.
    pub writes: (Registers, u8),
    /// Addresses that it moves on, likewise.
    pub moves: (Registers, u8),
    /// Its place in a pair.
    pub slot: Slot,
    /// What there is only one of in each cycle, as bits that each core defines.
    pub needs: u8,
}

impl Issue {
    /// One cycle, alone.
    pub const fn alone() -> Self {
        let nothing = (Registers::NONE, 1);
        Issue {
            unit: None,
            hold: 0,
            reads: Registers::NONE,
            early: nothing,
            late: nothing,
            writes: nothing,
            moves: nothing,
            slot: Slot::Alone,
            needs: 0,
        }
    }

    fn changes(&self) -> Registers {
        self.writes.0.and(self.moves.0)
    }

    fn uses(&self) -> Registers {
        self.reads.and(self.early.0).and(self.late.0)
    }
}

/// The first half of what may become a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Open {
    changes: Registers,
    needs: u8,
}

impl Open {
    /// Flags that both write are no reason to part.
    fn joins(&self, next: &Issue) -> bool {
        let hazard = next.uses().and(next.changes().without(Registers::FLAGS));
        next.slot == Slot::Any && self.needs & next.needs == 0 && !self.changes.meets(hazard)
    }
}

/// So long ago that nobody waits for it.
const SETTLED: i8 = -8;

/// What is on its way when an instruction has begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    /// Of cores without [`Issue`]s.
    before: Overlap,
    /// When each register arrives.
    ready: [i8; Registers::COUNT],
    /// When each unit is free.
    free: [i8; Unit::COUNT],
    open: Option<Open>,
}

impl Pipeline {
    /// Nothing is on its way.
    pub const EMPTY: Pipeline = Pipeline {
        before: Overlap::None,
        ready: [SETTLED; Registers::COUNT],
        free: [SETTLED; Unit::COUNT],
        open: None,
    };

    /// Goes on by an instruction; its cycles, 0 for the second one of a pair.
    pub fn step(&mut self, cost: &Cost) -> u32 {
        match &cost.issue {
            Some(issue) => self.issue(issue),
            None => {
                let before = std::mem::replace(&mut self.before, cost.overlap);
                cost.cycles_after(before)
            }
        }
    }

    /// The flow changes: nothing goes together with what was before.
    pub fn turn(self) -> Self {
        Pipeline { open: None, ..self }
    }

    fn issue(&mut self, issue: &Issue) -> u32 {
        let wait = self.wait(issue);
        let joins = wait <= 0 && self.open.is_some_and(|open| open.joins(issue));
        let delay = if joins { 0 } else { wait.max(1) };
        self.pass(delay);
        for (registers, latency) in [issue.writes, issue.moves] {
            registers.numbers().for_each(|number| self.ready[number] = latency as i8);
        }
        if let Some((unit, cycles)) = issue.unit {
            self.free[unit as usize] = cycles as i8;
        }
        self.pass(issue.hold as i8);
        let open = Open { changes: issue.changes(), needs: issue.needs };
        self.open = (!joins && issue.slot != Slot::Alone).then_some(open);
        delay as u32 + u32::from(issue.hold)
    }

    fn wait(&self, issue: &Issue) -> i8 {
        let arrive = |registers: Registers| registers.numbers().map(|number| self.ready[number]).max();
        let of = |registers: Registers, shift: i8| arrive(registers).map_or(SETTLED, |ready| ready + shift);
        let free = issue.unit.map_or(SETTLED, |(unit, _)| self.free[unit as usize]);
        let (early, late) = (issue.early, issue.late);
        of(issue.reads, 0).max(of(early.0, early.1 as i8)).max(of(late.0, -(late.1 as i8))).max(free)
    }

    fn pass(&mut self, cycles: i8) {
        for time in self.ready.iter_mut().chain(&mut self.free) {
            *time = (*time - cycles).max(SETTLED);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn adds(to: u16, from: u16) -> Issue {
        Issue { reads: Registers::r(from), writes: (Registers::r(to), 1), slot: Slot::Any, ..Issue::alone() }
    }

    fn cycles(issues: &[Issue]) -> Vec<u32> {
        let mut pipeline = Pipeline::EMPTY;
        issues.iter().map(|issue| pipeline.issue(issue)).collect()
    }

    #[test]
    fn two_go_together_and_no_third() {
        assert_eq!(cycles(&[adds(0, 1), adds(2, 3), adds(4, 5), adds(6, 7)]), [1, 0, 1, 0]);
        assert_eq!(cycles(&[adds(0, 1), adds(2, 0)]), [1, 1], "the second reads what the first writes");
        assert_eq!(cycles(&[adds(0, 1), adds(0, 2)]), [1, 1], "both write the same");
        let only = Issue { needs: 1, ..adds(2, 3) };
        assert_eq!(cycles(&[only, Issue { needs: 1, ..adds(0, 1) }, adds(4, 5)]), [1, 1, 0]);
    }

    #[test]
    fn a_register_is_waited_for() {
        let slow = Issue { writes: (Registers::r(0), 3), ..adds(0, 1) };
        assert_eq!(cycles(&[slow, adds(2, 0)]), [1, 3]);
        assert_eq!(cycles(&[slow, Issue::alone(), adds(2, 0)]), [1, 1, 2]);
        let early = Issue { early: (Registers::r(0), 1), ..Issue::alone() };
        let late = Issue { late: (Registers::r(0), 1), ..Issue::alone() };
        assert_eq!((cycles(&[slow, early]), cycles(&[slow, late])), (vec![1, 4], vec![1, 2]));
    }

    #[test]
    fn a_unit_is_waited_for() {
        let vector = |unit| Issue { unit: Some((unit, 2)), ..Issue::alone() };
        let (load, product) = (vector(Unit::Memory), vector(Unit::Multiply));
        assert_eq!(cycles(&[load, load, product, product, load]), [1, 2, 1, 2, 1]);
        assert_eq!(cycles(&[Issue { hold: 3, ..load }, load]), [4, 1], "it is free by then");
    }
}
