//! What functions of custom operators take.
//!
//! A custom operator of a model is bound to a function by `custom_op("Name", path::to::function)`. The function is given the operator's
//! operands in the order of the file as [`Input`]s, its result as an [`Output`], and its attributes, bytes of a format of its own.
//! Element types and shapes stand in its signature: those of another model are a compile error at the function's path. A function
//! can also be generic in any of them:
//!
//! ```
//! use kiln::custom::{Dims, Dims2, Input, Output};
//! use kiln::Element;
//!
//! /// Of each row the largest element.
//! fn largest<const N: usize, const C: usize>(
//!     x: Input<'_, i8, Dims2<N, C>>,
//!     y: Output<'_, i8, Dims2<N, 1>>,
//!     _attributes: &'static [u8],
//! ) {
//!     for (n, y) in y.cells().iter().enumerate() {
//!         y.set((0..C).filter_map(|c| x.get([n, c])).max().unwrap_or(i8::MIN));
//!     }
//! }
//!
//! /// Elementwise, of any shape.
//! fn squares<D: Dims>(x: Input<'_, f32, D>, y: Output<'_, f32, D>, _attributes: &'static [u8]) {
//!     for (y, x) in y.cells().iter().zip(x.iter()) {
//!         y.set(x * x);
//!     }
//! }
//! # let mut arena = kiln::Arena::<32>::new();
//! # let memory = arena.memory();
//! # let (x, y) = (memory.cells::<i8, 0, 6>(), memory.cells::<i8, 16, 2>());
//! # for (i, x) in x.iter().enumerate() { x.set([1, 5, 3, -4, -9, -2][i]); }
//! # largest::<2, 3>(Input::of_cells(x, 1.0, 0), Output::of_cells(y, 1.0, 0), &[]);
//! # assert_eq!([y[0].get(), y[1].get()], [5, -2]);
//! # let _: fn(Input<'_, f32, Dims2<1, 2>>, Output<'_, f32, Dims2<1, 2>>, &'static [u8]) = squares;
//! ```
//!
//! Bytes of an [`Output`] hold anything when the function is called; it writes all of them. Operands and result do not overlap.
//! The function is called once in each inference, unless nothing needs its result. What it may not do is panic, if the firmware is to be
//! free of panics.

use crate::Element;
use core::cell::Cell;
use core::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// The dimensions of a tensor, outermost first.
pub trait Dims: sealed::Sealed + 'static {
    /// An index along each axis.
    type Index: AsRef<[usize]> + Copy;
    /// The size of each axis.
    const SIZES: &'static [usize];
    /// Number of elements.
    const LEN: usize;
}

macro_rules! dims {
    ($($name:ident $rank:literal $($axis:ident)*,)+) => { $(
        #[doc = concat!("The dimensions of a tensor of rank ", stringify!($rank), ".")]
        pub enum $name<$(const $axis: usize),*> {}
        impl<$(const $axis: usize),*> sealed::Sealed for $name<$($axis),*> {}
        impl<$(const $axis: usize),*> Dims for $name<$($axis),*> {
            type Index = [usize; $rank];
            const SIZES: &'static [usize] = &[$($axis),*];
            const LEN: usize = 1usize $(.saturating_mul($axis))*;
        }
    )+ };
}
dims! {
    Dims0 0,
    Dims1 1 A,
    Dims2 2 A B,
    Dims3 3 A B C,
    Dims4 4 A B C D,
    Dims5 5 A B C D E,
    Dims6 6 A B C D E F,
}

/// Where an element is in row-major order; `None` outside of the tensor.
fn position<D: Dims>(index: D::Index) -> Option<usize> {
    let mut position = 0usize;
    for (&i, &size) in index.as_ref().iter().zip(D::SIZES) {
        if i >= size {
            return None;
        }
        position = position.wrapping_mul(size).wrapping_add(i);
    }
    Some(position)
}

/// An operand of a custom operator: elements of type `T` (bytes for booleans) in row-major order.
///
/// A stored value means `scale · (stored − zero point)`; the scale is 1 and the zero point 0 where the tensor is not quantised.
#[derive(Clone, Copy)]
pub struct Input<'a, T, D> {
    source: Source<'a, T>,
    /// Real value of one step of the stored value.
    pub scale: f32,
    /// Stored value that means zero.
    pub zero_point: i32,
    dims: PhantomData<fn() -> D>,
}

#[derive(Clone, Copy)]
enum Source<'a, T> {
    Cells(&'a [Cell<T>]),
    Constant(&'a [T]),
}

impl<'a, T: Element, D: Dims> Input<'a, T, D> {
    /// Of activations. Another number of elements does not compile.
    #[inline(always)]
    pub fn of_cells<const N: usize>(cells: &'a [Cell<T>; N], scale: f32, zero_point: i32) -> Self {
        const { assert!(N == D::LEN, "the shape has another number of elements") };
        Input { source: Source::Cells(cells), scale, zero_point, dims: PhantomData }
    }

    /// Of a constant.
    #[inline(always)]
    pub fn of_constant(constant: &'a [T], scale: f32, zero_point: i32) -> Self {
        Input { source: Source::Constant(constant), scale, zero_point, dims: PhantomData }
    }

    /// The element at an index along each axis; `None` outside of the tensor.
    #[inline(always)]
    pub fn get(&self, index: D::Index) -> Option<T> {
        self.at(position::<D>(index)?)
    }

    /// The element at a position in row-major order; `None` behind the last one.
    #[inline(always)]
    pub fn at(&self, position: usize) -> Option<T> {
        match self.source {
            Source::Cells(cells) => cells.get(position).map(Cell::get),
            Source::Constant(constant) => constant.get(position).copied(),
        }
    }

    /// All elements in row-major order.
    #[inline(always)]
    pub fn iter(&self) -> impl Iterator<Item = T> + 'a {
        let input = Input { ..*self };
        (0..D::LEN).filter_map(move |position| input.at(position))
    }
}

/// The result of a custom operator: as an [`Input`], to be written.
#[derive(Clone, Copy)]
pub struct Output<'a, T, D> {
    cells: &'a [Cell<T>],
    /// Real value of one step of the stored value.
    pub scale: f32,
    /// Stored value that means zero.
    pub zero_point: i32,
    dims: PhantomData<fn() -> D>,
}

impl<'a, T: Element, D: Dims> Output<'a, T, D> {
    /// To be written there. Another number of elements does not compile.
    #[inline(always)]
    pub fn of_cells<const N: usize>(cells: &'a [Cell<T>; N], scale: f32, zero_point: i32) -> Self {
        const { assert!(N == D::LEN, "the shape has another number of elements") };
        Output { cells, scale, zero_point, dims: PhantomData }
    }

    /// The elements in row-major order.
    #[inline(always)]
    pub fn cells(&self) -> &'a [Cell<T>] {
        self.cells
    }

    /// The element at an index along each axis; `None` outside of the tensor.
    #[inline(always)]
    pub fn cell(&self, index: D::Index) -> Option<&'a Cell<T>> {
        self.cells.get(position::<D>(index)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Arena;

    #[test]
    fn elements_are_found_by_index() {
        let mut arena = Arena::<16>::new();
        let cells = arena.memory().cells::<i16, 0, 6>();
        let y = Output::<_, Dims2<3, 2>>::of_cells(cells, 0.5, 3);
        y.cells().iter().zip(0..).for_each(|(y, value)| y.set(value));
        y.cell([2, 0]).unwrap().set(-4);
        assert_eq!((y.cell([0, 2]), y.cell([3, 0])), (None, None));
        let x = Input::<_, Dims3<1, 2, 3>>::of_cells(cells, 0.5, 3);
        assert_eq!((x.get([0, 1, 1]), x.get([0, 1, 2])), (Some(-4), Some(5)));
        assert_eq!((x.get([0, 2, 0]), x.get([1, 0, 0]), x.at(6)), (None, None, None));
        assert_eq!((x.iter().count(), x.iter().sum::<i16>(), x.scale, x.zero_point), (6, 7, 0.5, 3));
        let scalar = Input::<i8, Dims0>::of_constant(&[7], 1.0, 0);
        assert_eq!((scalar.get([]), Dims4::<2, 3, 4, 5>::LEN), (Some(7), 120));
    }
}
