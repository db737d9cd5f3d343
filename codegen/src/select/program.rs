//! What `select` decides and `emit` writes down: a model as a list of kernel calls.

use super::{Camera, Element, Fed};
use crate::ir::{Data, Type};
use crate::requant::Form;
use crate::schedule::{Beat, Feed};
use kiln_kernel_table::{KernelId, Work};
use std::borrow::Cow;

/// A compiled model, ready to be written as Rust.
#[derive(Clone, Debug)]
pub struct Program {
    /// Bytes of the arena; of the slow one, where there are two.
    pub arena_bytes: usize,
    /// Bytes of the fast arena; `None` where there is one arena only.
    pub fast_bytes: Option<usize>,
    /// Bytes of retained state.
    pub state_bytes: usize,
    /// How many threads may compute a step together, at most.
    pub cores: usize,
    /// Model data in flash.
    pub constants: Vec<Constant>,
    /// Functions of the user's that calls name.
    pub customs: Vec<Custom>,
    /// Kernel calls in order.
    pub calls: Vec<Call>,
    /// What was chosen for the steps that compute a node or copy a value, in order.
    pub chosen: Vec<Chosen>,
    /// Which of their steps take turns in a loop, in order. All others run once.
    pub loops: Vec<Loop>,
    /// How the first of them takes the model's only input row by row, if it does.
    pub fed: Option<Fed>,
    /// What becomes of the lines of a camera in front of it.
    pub camera: Option<Camera>,
    /// Inputs in the model's order.
    pub inputs: Vec<Port>,
    /// Outputs in the model's order.
    pub outputs: Vec<Port>,
    /// What each step computes, where the model is to tell about it (`events`): otherwise empty.
    pub results: Vec<StepResult>,
    /// What a reset writes where, for states that do not start as zeros.
    pub state_inits: Vec<StateInit>,
}

/// What was chosen for a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// Index of the step.
    pub step: usize,
    /// What written schedules call its kernel.
    pub name: Cow<'static, str>,
    /// Predicted cycles for a whole input; `None` where nothing is known of the kernel.
    pub cycles: Option<u64>,
    /// What it does, counted.
    pub work: Work,
    /// The cheap form of requantisation, of kernels that have this kind.
    pub form: Option<Form>,
}

impl Program {
    /// What was chosen for a step; `None` of one that takes rows into sums and of which nothing is known.
    pub fn chosen(&self, step: usize) -> Option<&Chosen> {
        self.chosen.iter().find(|chosen| chosen.step == step)
    }

    /// Bytes of all constants.
    pub fn constant_bytes(&self) -> usize {
        self.constants.iter().map(|c| c.data.bytes().len()).sum()
    }

    /// Indices of the steps in the order in which an inference of a traced model marks them: in a loop each at every tick, whether its
    /// rows are due or not. An inference of a sliding model is one hop.
    pub fn marks(&self) -> Vec<usize> {
        let mut steps: Vec<usize> = self.calls.iter().map(|call| call.step).collect();
        steps.dedup();
        let mut marks = Vec::new();
        for step in steps {
            match self.loops.iter().find(|body| body.steps.iter().any(|turn| turn.step == step)) {
                None => marks.push(step),
                Some(body) if body.steps[0].step == step => {
                    let slide = self.fed.and_then(|fed| fed.slide).filter(|_| body.feed == Feed::Sliding);
                    let ticks = slide.map_or(body.ticks, |slide| slide.hop);
                    (0..ticks).for_each(|_| marks.extend(body.steps.iter().map(|turn| turn.step)));
                }
                Some(_) => {}
            }
        }
        marks
    }
}

/// Steps that take turns: at every tick, each whose rows are due runs, in order.
#[derive(Clone, Debug)]
pub struct Loop {
    /// Its steps, of which each has a call at least.
    pub steps: Vec<Turn>,
    /// Number of ticks; for [`Feed::Sliding`], until the first window is complete.
    pub ticks: usize,
    /// Where the rows of its input come from.
    pub feed: Feed,
}

/// When a step of a [`Loop`] runs.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Index of the step.
    pub step: usize,
    /// When its rows are due.
    pub beat: Beat,
    /// How many rows in all; `None` where they never end.
    pub rows: Option<usize>,
    /// How many rows of its operands and its result are held, in words.
    pub held: String,
}

/// Handle of a [`Constant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantId(pub usize);

/// Data in flash, packed in the order in which its kernel reads it.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Identifier of the static.
    pub ident: String,
    /// What it is, for the reader of the emitted file.
    pub doc: String,
    /// Little-endian elements, 16-byte aligned in flash.
    pub data: Data,
}

/// An input or output.
#[derive(Clone, Debug)]
pub struct Port {
    /// Name in the model file.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Where it is: all of its memory, whose rows are a ring if `ring` says so.
    pub region: Region,
    /// How many rows are held, where it is a ring: row `r` is `(r % ring)` rows behind the region's start.
    pub ring: Option<usize>,
}

/// What a step computes.
#[derive(Clone, Debug)]
pub struct StepResult {
    /// Index of the step.
    pub step: usize,
    /// Operator and name.
    pub name: String,
    /// Where it is.
    pub strip: Strip,
    /// Where the step absorbs rows: how many, until the result is there.
    pub absorbs: Option<usize>,
}

/// The first value of a state.
#[derive(Clone, Debug)]
pub struct StateInit {
    /// Where it goes.
    pub region: Region,
    /// What it is; `None` for zeros.
    pub constant: Option<ConstantId>,
}

/// Which memory a region is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// The arena; the slow one, where there are two.
    Arena,
    /// The fast arena.
    Fast,
    /// Retained state.
    State,
}

/// Elements of one type in one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The memory.
    pub memory: Memory,
    /// Bytes from its start.
    pub offset: usize,
    /// Type of the elements.
    pub element: Element,
    /// Number of elements.
    pub len: usize,
}

impl Region {
    /// The `len` elements from the one at index `first` on.
    pub fn part(self, first: usize, len: usize) -> Region {
        Region { offset: self.offset + first * self.element.bytes(), len, ..self }
    }

    /// The same memory seen as elements of another Rust type: as many as are whole.
    pub fn seen_as(self, element: Element) -> Region {
        let bytes = self.len * self.element.bytes();
        let seen = Region { element, ..self };
        Region { len: bytes / seen.element.bytes(), ..seen }
    }
}

/// Rows of equal length in one memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strip {
    /// All elements that are held.
    pub region: Region,
    /// Elements of a row.
    pub row: usize,
    /// How many rows are held, if not all: row `r` is `((r + slot) % ring)` rows behind the region's start.
    pub ring: Option<usize>,
    /// The slot of row 0 in the ring.
    pub slot: usize,
}

impl Strip {
    /// The same memory seen as elements of another Rust type: as many as are whole.
    pub fn seen_as(self, element: Element) -> Strip {
        let region = self.region.seen_as(element);
        let row = self.row * self.region.element.bytes() / region.element.bytes();
        Strip { region, row, ..self }
    }
}

/// Cells that a kernel reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// All of a region.
    All(Region),
    /// The row that a call is made for.
    Row(Strip),
}

impl Cells {
    /// All elements that are held, of which these are some.
    pub fn region(&self) -> Region {
        match self {
            Cells::All(region) => *region,
            Cells::Row(strip) => strip.region,
        }
    }

    /// The same memory seen as elements of another Rust type: as many as are whole.
    pub fn seen_as(self, element: Element) -> Cells {
        match self {
            Cells::All(region) => Cells::All(region.seen_as(element)),
            Cells::Row(strip) => Cells::Row(strip.seen_as(element)),
        }
    }

    /// Whether they begin and end on words of so many bytes.
    pub fn in_words(&self, word: usize) -> bool {
        let row = match self {
            Cells::All(_) => 0,
            Cells::Row(strip) => strip.row * strip.region.element.bytes(),
        };
        self.region().offset % word == 0 && row % word == 0
    }
}

/// One kernel call, or one for each row that is due where an argument is a row.
#[derive(Clone, Debug)]
pub struct Call {
    /// Index of the step it belongs to.
    pub step: usize,
    /// What is computed; written above the call where the step begins.
    pub comment: String,
    /// The function.
    pub callee: Callee,
    /// Its const arguments.
    pub generics: Vec<Generic>,
    /// Its arguments.
    pub args: Vec<Arg>,
}

impl Call {
    /// The kernel, unless it is a function of the user's.
    pub fn kernel(&self) -> Option<KernelId> {
        match self.callee {
            Callee::Kernel(kernel) => Some(kernel),
            Callee::Custom(_) => None,
        }
    }

    /// The kernel's name, or what stands for one of the user's.
    pub fn name(&self) -> &'static str {
        self.kernel().map_or("custom", KernelId::name)
    }
}

/// What a call calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Callee {
    /// A function of `kiln::kernels`.
    Kernel(KernelId),
    /// Of the program's [`customs`](Program::customs) the one with this index.
    Custom(usize),
}

/// A const argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Generic {
    /// A size, or a number of bits.
    Size(usize),
    /// A choice.
    Flag(bool),
    /// The type `kiln::kernels::Sizes` of a convolution's sizes.
    Sizes(Vec<usize>),
}

/// An argument of a kernel call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// `&[Cell<T>]`.
    Cells(Cells),
    /// `Rows`.
    Rows(Strip),
    /// `Input` of a custom operator: cells or a constant of that type.
    Input(Operand, Type),
    /// `Output` of a custom operator.
    Output(Region, Type),
    /// `&[T]` of a constant, read as such elements.
    Constant(ConstantId, Element),
    /// The same of the row that the call is made for, with elements per row.
    ConstantRow(ConstantId, Element, usize),
    /// `&[u8; N]` of a constant.
    Table(ConstantId),
    /// `Band` of that many rows from the first on.
    Band(usize),
    /// The `Band` that is due, in a loop.
    Due,
    /// A parameter struct of `kiln::kernels`, by reference.
    Struct(Struct),
    /// `&Copy::linear(len)`: the parameters of a copy of consecutive elements.
    Linear(usize),
    /// An integer literal.
    Int(i64),
    /// A `f32` literal.
    Float(f32),
    /// The `Crew` that computes parts.
    Crew,
}

impl Arg {
    /// Whether it is another one for each row, so that the call is made row by row.
    pub fn by_row(&self) -> bool {
        matches!(self, Arg::Cells(Cells::Row(_)) | Arg::ConstantRow(..))
    }

    /// The memory it is in, unless it is a constant.
    pub fn region(&self) -> Option<Region> {
        match self {
            Arg::Cells(cells) => Some(cells.region()),
            Arg::Rows(strip) => Some(strip.region),
            Arg::Input(Operand::Cells(region), _) | Arg::Output(region, _) => Some(*region),
            _ => None,
        }
    }
}

/// What a custom operator reads.
#[derive(Clone, Copy, Debug)]
pub enum Operand {
    /// Activations.
    Cells(Region),
    /// A constant.
    Constant(ConstantId),
}

/// A function of the user's, of a custom operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Custom {
    /// The operator's name in the file.
    pub name: String,
    /// The function's path.
    pub path: String,
    /// The types of its operands.
    pub operands: Vec<Type>,
    /// The type of its result.
    pub result: Type,
}

/// A struct literal.
#[derive(Clone, Debug)]
pub struct Struct {
    /// Type in `kiln::kernels`.
    pub name: &'static str,
    /// Fields in order.
    pub fields: Vec<(&'static str, Field)>,
}

/// A field of a [`Struct`].
#[derive(Clone, Debug)]
pub enum Field {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f32),
    /// A choice.
    Flag(bool),
    /// A variant of an enumeration of `kiln::kernels`.
    Variant(&'static str, &'static str),
    /// An array of integers.
    Ints(Vec<i64>),
    /// `&[T]` of a constant.
    Constant(ConstantId, Element),
    /// `&[]`.
    Nothing,
    /// A nested struct.
    Struct(Struct),
}
