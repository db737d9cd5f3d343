//! The public kernels. What generics and `impl Read` leave open is chosen here.

mod elementwise;
mod layers;
mod processors;
mod reductions;

use crate::draw::Draw;
use kiln::kernels::Conv;

/// A kernel, and how it is called.
pub(crate) struct Fuzzed {
    /// Its name in `kiln::kernels`. Several entries may have the same.
    pub(crate) name: &'static str,
    /// What is to be so in most layers, for it to get anywhere.
    pub(crate) preset: Option<fn(&mut Conv)>,
    /// Calls it once.
    pub(crate) call: fn(&Draw),
}

/// All of them.
pub(crate) const KERNELS: &[&[Fuzzed]] =
    &[elementwise::PAIRS, elementwise::OTHERS, layers::KERNELS, processors::KERNELS, reductions::KERNELS];

/// Entries: of a function without open types; of one with arguments of given types; each with a layer that it wants, if it does.
macro_rules! fuzzed {
    ($( $name:ident $(::<$($generic:tt),+>)? $([ $($field:ident = $value:expr),+ ])? ),* $(,)?) => {
        &[$(
            Fuzzed {
                name: stringify!($name),
                preset: fuzzed!(@preset $($($field = $value),+)?),
                call: |d| Kernel::call($name $(::<$($generic),+>)?, d),
            },
        )*]
    };
    (@preset) => { None };
    (@preset $($field:ident = $value:expr),+) => { Some(|p| { $( p.$field = $value; )+ }) };
}

/// Entries of functions with two operands that are cells or constants, behind these parameters.
macro_rules! pairs {
    (@ ($($p:ident: $t:ty),*) $of:ty, $to:ty, $name:ident) => {
        Fuzzed {
            name: stringify!($name),
            preset: None,
            call: |d| {
                let call = |$($p: $t,)* a: Operand<'_, $of>, b: Operand<'_, $of>, y: &[Cell<$to>]| match (a, b) {
                    (Operand::Cells(a), Operand::Cells(b)) => $name($($p,)* a, b, y),
                    (Operand::Constants(a), Operand::Cells(b)) => $name($($p,)* a, b, y),
                    (Operand::Cells(a), Operand::Constants(b)) => $name($($p,)* a, b, y),
                    (Operand::Constants(a), Operand::Constants(b)) => $name($($p,)* a, b, y),
                };
                Kernel::call(call, d)
            },
        }
    };
    ($( $parameters:tt $of:ty => $to:ty: $($name:ident)+; )*) => {
        &[$($( pairs!(@ $parameters $of, $to, $name), )+)*]
    };
}
use {fuzzed, pairs};
