//! A module of StableHLO in one form, whatever it was written in: MLIR's text (pretty or generic), its bytecode, or XLA's HLO text.
//!
//! It is MLIR's generic form. Operations have the names and attributes of StableHLO's specification (`dimensions`, `window_strides`,
//! `dot_dimension_numbers` …), also where a reader met another spelling. Readers check names, types and structure; what operations mean is left to the
//! lowering.

use std::borrow::Cow;

/// A value of a function: an argument or a result. Numbers are unique in a function with all its regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Value(pub(super) usize);

/// A module.
#[derive(Clone, Debug, Default)]
pub(super) struct Module<'m> {
    /// Its name, or nothing.
    pub(super) name: Cow<'m, str>,
    pub(super) functions: Vec<Function<'m>>,
}

/// A function. Its body ends in an operation `func.return`; that of a function which is only declared has no operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Function<'m> {
    /// Its name without `@`.
    pub(super) name: Cow<'m, str>,
    /// Whether other modules see it. Of several functions the entry is `main`, or else the only public one.
    pub(super) public: bool,
    /// The types of its results.
    pub(super) results: Vec<Type>,
    /// What is said of each argument and result: `jax.result_info`, names of HLO's parameters (`name`).
    pub(super) argument_attributes: Vec<Attributes<'m>>,
    pub(super) result_attributes: Vec<Attributes<'m>>,
    /// The type of each [`Value`] in it.
    pub(super) types: Vec<Type>,
    pub(super) body: Region<'m>,
}

/// A region: one block, because StableHLO's regions have no more.
#[derive(Clone, Debug, Default)]
pub(super) struct Region<'m> {
    pub(super) arguments: Vec<Value>,
    pub(super) operations: Vec<Operation<'m>>,
}

/// An operation.
#[derive(Clone, Debug, Default)]
pub(super) struct Operation<'m> {
    /// Its name with its dialect: `stablehlo.add`, `chlo.erf`, `func.call`; always `stablehlo.return` or `func.return` at the end of a region.
    pub(super) name: Cow<'m, str>,
    pub(super) operands: Vec<Value>,
    pub(super) results: Vec<Value>,
    pub(super) attributes: Attributes<'m>,
    pub(super) regions: Vec<Region<'m>>,
    /// What a person calls this place: the location's text, such as `jit(f)/encoder/dot_general`, else the line: `line 12`.
    pub(super) place: Cow<'m, str>,
}

/// Attributes with their names, in the order of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Attributes<'m>(pub(super) Vec<(Cow<'m, str>, Attribute<'m>)>);

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(super) enum Attribute<'m> {
    /// An attribute without a value.
    Unit,
    Bool(bool),
    Int(i64),
    /// No operation that is lowered has one; tests compare what readers give.
    #[allow(dead_code)]
    Float(f64),
    /// A string, the name of an enumerator (`GT`, `SIGNED`), or a symbol without `@`; an attribute of a dialect that no reader knows, as it is written.
    Text(Cow<'m, str>),
    Type(Type),
    /// Integers or truth values in an `array<i64: …>`, in a dense tensor that is not the `value` of a constant, or in the parts of an attribute:
    /// `offset_dims = [0]`. Of a tensor with several dimensions (`padding`), all of them in row-major order.
    Ints(Vec<i64>),
    /// A list.
    List(Vec<Attribute<'m>>),
    /// A dictionary, or an attribute of StableHLO's with parts: `#stablehlo.gather<offset_dims = [1], …>`. Its keys are those of the specification's text.
    /// Parts that are empty lists may be left out.
    ///
    /// Dimensions of convolutions are parts, too: `input_batch_dimension`, `input_spatial_dimensions` …, as the specification names them.
    Parts(Attributes<'m>),
    /// Elements of a constant, or of an attribute that is a tensor.
    Dense(Dense<'m>),
}

/// Names of a convolution's dimensions: three of its operand, three of its weights and three of its result. Of each three the last names the list of spatial ones.
pub(super) const CONVOLUTION: [&str; 9] = [
    "input_batch_dimension",
    "input_feature_dimension",
    "input_spatial_dimensions",
    "kernel_input_feature_dimension",
    "kernel_output_feature_dimension",
    "kernel_spatial_dimensions",
    "output_batch_dimension",
    "output_feature_dimension",
    "output_spatial_dimensions",
];

/// Elements of a tensor.
#[derive(Clone, Debug)]
pub(super) struct Dense<'m> {
    pub(super) ty: Type,
    /// The elements in row-major order, little-endian, in [`Element::bytes`] each; booleans and integers of less than a byte in one byte each.
    /// One element where `splat`.
    pub(super) bytes: Cow<'m, [u8]>,
    /// Whether all elements are the one that is there.
    pub(super) splat: bool,
}

/// A type. A scalar type (`i32`) is a tensor without dimensions.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Type {
    Tensor(Tensor),
    /// Results of HLO's operations with several results, and of functions that return them.
    Tuple(Vec<Type>),
    /// `!stablehlo.token`.
    Token,
    /// A function's type, or another of which the lowering need not know more than that it is there.
    Other,
}

/// A tensor's type.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Tensor {
    pub(super) element: Element,
    /// The size of each dimension; `None` where it is `?`.
    pub(super) shape: Vec<Option<usize>>,
}

/// The type of elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Element {
    Bool,
    /// Signed integers of 2, 4, 8, 16, 32 or 64 bits.
    Signed(u8),
    /// Unsigned integers.
    Unsigned(u8),
    /// IEEE floats of 16, 32 and 64 bits.
    Float(u8),
    BFloat16,
    /// Complex numbers with parts of 32 or 64 bits.
    Complex(u8),
    Index,
    /// Quantised numbers: `!quant.uniform<i8:f32, 0.5:3>`.
    Quantised(Box<Quantised>),
    /// Another, such as floats of 8 bits, by its name.
    Other(String),
}

/// How integers stand for real numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quantised {
    /// The integers that are stored.
    pub(super) storage: Element,
    /// The least and the greatest of them.
    pub(super) range: (i64, i64),
    /// The floats that they stand for.
    pub(super) expressed: Element,
    /// The dimension along which scales differ.
    pub(super) dimension: Option<usize>,
    /// Scale and zero point, one for each index of the dimension.
    pub(super) scales: Vec<(f64, i64)>,
}

impl<'m> Attributes<'m> {
    /// The attribute of that name.
    pub(super) fn get(&self, name: &str) -> Option<&Attribute<'m>> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

impl Element {
    /// Bytes of one element in [`Dense::bytes`]; `None` for those that are not known.
    pub(super) fn bytes(&self) -> Option<usize> {
        Some(match self {
            Element::Bool => 1,
            Element::Signed(bits) | Element::Unsigned(bits) | Element::Float(bits) => {
                usize::from(*bits).div_ceil(8)
            }
            Element::BFloat16 => 2,
            Element::Complex(bits) => usize::from(*bits) / 4,
            Element::Index => 8,
            Element::Quantised(of) => return of.storage.bytes(),
            Element::Other(_) => return None,
        })
    }
}
