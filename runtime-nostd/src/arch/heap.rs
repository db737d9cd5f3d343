//! Arenas on the heap.
#![allow(unsafe_code)]

use super::memory::Arena;
use core::alloc::Layout;
use core::ptr::NonNull;
use std::alloc::{alloc_zeroed, handle_alloc_error};
use std::boxed::Box;

impl<const N: usize> Arena<N> {
    /// A zeroed arena on the heap, made there: it is never on the stack, which is too small for the arenas of large models.
    ///
    /// `with_arena` makes a model around it:
    ///
    #[cfg_attr(feature = "macros", doc = "```")]
    #[cfg_attr(not(feature = "macros"), doc = "```ignore")]
    /// # use kiln::{any::AnyModel, Arena};
    /// kiln::include_model!(Kws = "../host-tests/models/tflite/temporal_int8.tflite");
    ///
    /// let mut kws = Kws::with_arena(Arena::boxed());
    /// kws.input_mut().fill(3);
    /// kws.invoke();
    /// let any: Box<dyn AnyModel> = Box::new(kws); // what is moved is a pointer
    /// ```
    pub fn boxed() -> Box<Self> {
        let layout = Layout::new::<Self>();
        // No branch may have an arena by value: there would be room for it on the stack, whether it is taken or not.
        if layout.size() == 0 {
            // SAFETY: what has no size is nowhere, at an aligned address.
            return unsafe { Box::from_raw(NonNull::dangling().as_ptr()) };
        }
        // SAFETY: the layout has a size.
        let arena = unsafe { alloc_zeroed(layout) }.cast::<Self>();
        if arena.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the memory is of that layout, from the allocator that `Box` gives it back to, and zeroed, which is a valid arena.
        unsafe { Box::from_raw(arena) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_arenas_do_not_pass_over_the_stack() {
        // The stack of a test has two megabytes.
        let mut arena = Arena::<{ 64 << 20 }>::boxed();
        let last = arena.get_mut::<u64, { (64 << 20) - 8 }, 1>();
        assert_eq!(*last, [0]);
        *last = [7];
        assert_eq!(core::ptr::from_ref(&*arena) as usize % 16, 0);
    }

    #[test]
    fn empty_arenas_need_no_memory() {
        assert_eq!(Arena::<0>::boxed().get::<u8, 0, 0>(), &[]);
    }
}
