//! What `select` decides and `emit` writes down: a model as a list of kernel calls.

use crate::ir::{Data, Type};

/// A compiled model, ready to be written as Rust.
#[derive(Clone, Debug)]
pub struct Program {
    /// Bytes of the arena.
    pub arena_bytes: usize,
    /// Bytes of retained state.
    pub state_bytes: usize,
    /// Model data in flash.
    pub constants: Vec<Constant>,
    /// Kernel calls in order.
    pub calls: Vec<Call>,
    /// Inputs in the model's order.
    pub inputs: Vec<Port>,
    /// Outputs in the model's order.
    pub outputs: Vec<Port>,
    /// What a reset writes where, for states that do not start as zeros.
    pub state_inits: Vec<StateInit>,
}

impl Program {
    /// Bytes of all constants.
    pub fn constant_bytes(&self) -> usize {
        self.constants.iter().map(|c| c.data.bytes().len()).sum()
    }
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
    /// Where it is.
    pub region: Region,
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
    /// The arena.
    Arena,
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
    /// Rust element type.
    pub element: &'static str,
    /// Number of elements.
    pub len: usize,
}

impl Region {
    /// The `len` elements from the one at index `first` on.
    pub fn part(self, first: usize, len: usize) -> Region {
        Region { offset: self.offset + first * self.element_bytes(), len, ..self }
    }

    /// The same memory seen as elements of another Rust type: as many as are whole.
    pub fn seen_as(self, element: &'static str) -> Region {
        let bytes = self.len * self.element_bytes();
        let seen = Region { element, ..self };
        Region { len: bytes / seen.element_bytes(), ..seen }
    }

    fn element_bytes(self) -> usize {
        // The name of a Rust number ends in its bits.
        let bits = self.element.trim_start_matches(|c: char| !c.is_ascii_digit());
        bits.parse().map_or(1, |bits: usize| (bits / 8).max(1))
    }
}

/// One kernel call.
#[derive(Clone, Debug)]
pub struct Call {
    /// Index of the step it belongs to.
    pub step: usize,
    /// What is computed; written above the call where the step begins.
    pub comment: String,
    /// Function in `kiln::kernels`.
    pub kernel: &'static str,
    /// Its arguments.
    pub args: Vec<Arg>,
}

/// An argument of a kernel call.
#[derive(Clone, Debug)]
pub enum Arg {
    /// `&[Cell<T>]`.
    Cells(Region),
    /// `Rows` over a whole region, with elements per row.
    Rows(Region, usize),
    /// `&[T]` of a constant, read as elements of that Rust type.
    Constant(ConstantId, &'static str),
    /// `&[u8; N]` of a constant.
    Table(ConstantId),
    /// `Band { first, rows }`.
    Band(usize, usize),
    /// A parameter struct of `kiln::kernels`, by reference.
    Struct(Struct),
    /// `&Copy::linear(len)`: the parameters of a copy of consecutive elements.
    Linear(usize),
    /// An integer literal.
    Int(i64),
    /// A `f32` literal.
    Float(f32),
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
    /// An array of integers.
    Ints(Vec<i64>),
    /// `&[T]` of a constant.
    Constant(ConstantId, &'static str),
    /// A nested struct.
    Struct(Struct),
}
