//! The kernels that generated code calls, and the targets that it is compiled for, as values.
//!
//! [`KernelId`] has a value for each function of `kiln::kernels`. What the compiler knows of a kernel is a row of the table in `table.rs`: its name, its number formats,
//! its processor, its arithmetic, and the other forms of the same kernel. The name stands nowhere else in the compiler.
//!
//! [`Target`] has a value for each kind of processor that code is compiled for. The compiler and the build script of the runtime read its rows, so that both decide alike.

#![no_std]

mod cost;
#[macro_use]
mod table;
mod target;

pub use cost::{Count, Cycles, Work};
pub use table::{Core, Isa, Target};
pub use target::UnknownTarget;

/// What a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Op {
    /// Convolutions.
    Conv,
    /// Convolutions with a filter for each channel.
    Depthwise,
    /// Products with a matrix of weights.
    Dense,
    /// Products of two matrices that are computed.
    MatMul,
    /// Recurrent cells.
    Recurrent,
    /// Largest elements and means of windows.
    Pool,
    /// Sums, means, extremes and positions along axes.
    Reduce,
    /// Softmax and other normalisations.
    Normalise,
    /// Images of another size.
    Resize,
    /// Elementwise functions of two operands.
    Pairs,
    /// Elementwise functions of one operand.
    Function,
    /// Comparisons.
    Compare,
    /// Changes of the number format.
    Convert,
    /// Copies, which do not look at elements.
    Movement,
    /// Steps of audio front ends.
    Signal,
    /// Trees, distances and votes of classical models.
    Classical,
}

/// A number format. Biases, tables and scales are not listed: of a layer, the activations and the weights are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// Any, as the arguments of the call are.
    Any,
    /// Any of 8 bits.
    Byte,
    /// A byte that is 0 or 1.
    Bool,
    /// Weights of 4 bits, two to a byte.
    I4,
    /// `i8`.
    I8,
    /// `u8`.
    U8,
    /// `i16`.
    I16,
    /// `i32`.
    I32,
    /// `i64`.
    I64,
    /// Weights of half precision.
    F16,
    /// `f32`.
    F32,
}

impl Format {
    /// The name: that of the Rust type where there is one.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Any => "any",
            Format::Byte => "8 bits",
            Format::Bool => "bool",
            Format::I4 => "i4",
            Format::I8 => "i8",
            Format::U8 => "u8",
            Format::I16 => "i16",
            Format::I32 => "i32",
            Format::I64 => "i64",
            Format::F16 => "f16",
            Format::F32 => "f32",
        }
    }
}

/// The number formats of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formats {
    /// Of its operands, weights included.
    pub operands: &'static [Format],
    /// Of its result.
    pub result: Format,
}

/// How sums become stored integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// As the reference does it: rounded twice in 64 bits.
    Reference,
    /// As the reference of single rounding does it.
    Once,
    /// By float factors, as the model has them.
    Floats,
    /// By one product of 32 bits, with const or run-time arguments that say which.
    Fitted,
    /// By two products of 16 bits.
    Halves,
    /// By the upper half of a product of 64 bits.
    Upper,
    /// By multiply-add and shift, of elements.
    Linear,
    /// By a factor of each filter that is proven equal to the reference.
    Factors,
    /// By a table of all results.
    Table,
}

/// Of a kernel what its row says.
struct Row {
    name: &'static str,
    op: Op,
    isa: Isa,
    formats: Formats,
    arithmetic: Option<Arithmetic>,
    filters_at_once: Option<usize>,
    floating: Option<KernelId>,
    packed: Option<KernelId>,
    in_bytes: Option<KernelId>,
    in_nibbles: Option<KernelId>,
    of_pixels: Option<KernelId>,
    in_vectors: Option<KernelId>,
    in_helium: Option<KernelId>,
    reproducible: Option<KernelId>,
    on_crew: Option<KernelId>,
    cycles: Option<&'static [(Core, Cycles)]>,
    small: Option<&'static [(Core, Cycles)]>,
}

/// Makes the kernels and their rows of the table.
macro_rules! define {
    ($( $op:ident { $( $isa:ident { $(
        $id:ident = $name:ident($($operand:ident),*) -> $result:ident $({ $($field:ident: $value:expr),+ })?;
    )* } )* } )*) => {
        /// A kernel: a function of `kiln::kernels`.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum KernelId {
            $($($( #[doc = concat!("`", stringify!($name), "`")] $id, )*)*)*
        }

        impl KernelId {
            /// All kernels, in the order of the table.
            pub const ALL: &'static [KernelId] = &[$($($( KernelId::$id, )*)*)*];
        }

        /// The rows, in the same order.
        static ROWS: &[Row] = {
            use {cost::cycles, Arithmetic::*, Core::*, Count::*, KernelId::*};
            &[$($($( Row {
                $($( $field: Some($value), )+)?
                ..row(
                    stringify!($name),
                    Op::$op,
                    Isa::$isa,
                    Formats { operands: &[$(Format::$operand),*], result: Format::$result },
                )
            }, )*)*)*]
        };
    };
}

/// A row without optional fields.
const fn row(name: &'static str, op: Op, isa: Isa, formats: Formats) -> Row {
    Row {
        name,
        op,
        isa,
        formats,
        arithmetic: None,
        filters_at_once: None,
        floating: None,
        packed: None,
        in_bytes: None,
        in_nibbles: None,
        of_pixels: None,
        in_vectors: None,
        in_helium: None,
        reproducible: None,
        on_crew: None,
        cycles: None,
        small: None,
    }
}

kernel_table!(define);

impl KernelId {
    fn row(self) -> &'static Row {
        // There is a row for each.
        &ROWS[self as usize]
    }

    /// The function's name.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What it computes.
    pub fn op(self) -> Op {
        self.row().op
    }

    /// The processors that it is made for.
    pub fn isa(self) -> Isa {
        self.row().isa
    }

    /// Its number formats.
    pub fn formats(self) -> Formats {
        self.row().formats
    }

    /// How its sums become stored integers; `None` where there are no sums or no integers, or where they are stored as they are.
    pub fn arithmetic(self) -> Option<Arithmetic> {
        self.row().arithmetic
    }

    /// How many filters it computes at a time, if filters of zeros fill up the last of them.
    pub fn filters_at_once(self) -> Option<usize> {
        self.row().filters_at_once
    }

    /// The same with [`Arithmetic::Floats`].
    pub fn floating(self) -> Option<KernelId> {
        self.row().floating
    }

    /// The same with packed weights, of 4 bits or half precision.
    pub fn packed(self) -> Option<KernelId> {
        self.row().packed
    }

    /// The same, of floats, with weights that are integers of 8 bits with scales.
    pub fn in_bytes(self) -> Option<KernelId> {
        self.row().in_bytes
    }

    /// The same, of floats, with weights that are integers of 4 bits with scales.
    pub fn in_nibbles(self) -> Option<KernelId> {
        self.row().in_nibbles
    }

    /// Of a matrix product, the convolution that unpacks weights once for many pixels of a row.
    pub fn of_pixels(self) -> Option<KernelId> {
        self.row().of_pixels
    }

    /// The kernel for cores with Helium that takes the same arguments.
    pub fn in_helium(self) -> Option<KernelId> {
        self.row().in_helium
    }

    /// The kernel in vectors of hosts that takes the same arguments.
    pub fn in_vectors(self) -> Option<KernelId> {
        self.row().in_vectors
    }

    /// Of a kernel whose floats depend on the processor, the one whose floats do not.
    pub fn reproducible(self) -> Option<KernelId> {
        self.row().reproducible
    }

    /// The same in parts for several threads: a crew and the number of parts come before the other arguments.
    pub fn on_crew(self) -> Option<KernelId> {
        self.row().on_crew
    }

    /// What it takes on a core; `None` where that is not known.
    pub fn cycles(self, core: Core) -> Option<Cycles> {
        on(core, self.row().cycles?)
    }

    /// The same where it is compiled to be small; as it is fast, where the table has nothing else.
    pub fn cycles_if_small(self, core: Core) -> Option<Cycles> {
        self.row().small.and_then(|small| on(core, small)).or_else(|| self.cycles(core))
    }
}

/// What a list has of a core, or of the one that stands in for it.
fn on(core: Core, cycles: &[(Core, Cycles)]) -> Option<Cycles> {
    let of = |core| cycles.iter().find(|(of, _)| *of == core).map(|&(_, cycles)| cycles);
    of(core).or_else(|| of(core.stand_in()?))
}

impl core::fmt::Display for KernelId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.pad(self.name())
    }
}
