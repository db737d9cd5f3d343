//! Several models in the memory of one: [`Share`] and [`share_arena!`](crate::share_arena).

use crate::{Arena, Model};

/// A model that can be lent an arena.
///
/// Implemented by every compiled model. What it keeps from one inference to the next ([`Share::Kept`]) stays apart from the arena, so that
/// other models may use the arena in between. [`share_arena!`](crate::share_arena) is the way to use it.
pub trait Share: Model {
    /// What outlasts an inference: state, and whether it has been initialised. Zero-sized for models without.
    type Kept: 'static;

    /// The model while it has an arena.
    type Lent<'a>: Model;

    /// What a new model keeps.
    const KEPT: Self::Kept;

    /// The model in the first bytes of an arena. Too small an arena does not compile.
    ///
    /// A model that takes its input row by row begins a new input.
    fn lend<'a, const BYTES: usize>(arena: &'a mut Arena<BYTES>, kept: &'a mut Self::Kept) -> Self::Lent<'a>;
}

/// The largest of some sizes.
#[doc(hidden)]
pub const fn largest(sizes: &[usize]) -> usize {
    let (mut rest, mut most) = (sizes, 0);
    while let [first, others @ ..] = rest {
        if *first > most {
            most = *first;
        }
        rest = others;
    }
    most
}

/// The sum of some sizes.
#[doc(hidden)]
pub const fn sum(sizes: &[usize]) -> usize {
    let (mut rest, mut sum) = (sizes, 0usize);
    while let [first, others @ ..] = rest {
        sum = sum.saturating_add(*first);
        rest = others;
    }
    sum
}

/// Several models with one arena, as large as the largest of them needs.
///
/// The models do not run at the same time: each method lends one of them, until the last use of what it returns. An output is read, and an
/// input that is given row by row is completed, before another model is lent. State persists.
///
#[cfg_attr(feature = "macros", doc = "```")]
#[cfg_attr(not(feature = "macros"), doc = "```ignore")]
/// # mod models {
/// #     kiln::include_model!(pub Kws = "../host-tests/models/tflite/temporal_int8.tflite");
/// #     kiln::include_model!(pub Vad = "../host-tests/models/tflite/stream_int8.tflite");
/// # }
/// # use models::{Kws, Vad};
/// kiln::share_arena! {
///     /// What the device hears.
///     pub struct Ears {
///         kws: Kws,
///         vad: Vad,
///     }
/// }
///
/// let mut ears = Ears::new(); // in firmware: a static
/// let mut vad = ears.vad();
/// vad.input_mut().fill(0);
/// vad.invoke();
/// let heard = vad.output()[0] > 0;
/// if heard {
///     ears.kws().invoke();
/// }
/// assert_eq!(Ears::ARENA_BYTES, Kws::ARENA_BYTES.max(Vad::ARENA_BYTES));
/// assert_eq!(Ears::STATE_BYTES, Kws::STATE_BYTES + Vad::STATE_BYTES);
/// ```
///
/// While one is lent, the others are not:
///
/// ```compile_fail,E0499
/// # mod models {
/// #     kiln::include_model!(pub Kws = "../host-tests/models/tflite/temporal_int8.tflite");
/// #     kiln::include_model!(pub Vad = "../host-tests/models/tflite/stream_int8.tflite");
/// # }
/// # use models::{Kws, Vad};
/// kiln::share_arena! { struct Ears { kws: Kws, vad: Vad } }
///
/// let mut ears = Ears::new();
/// let vad = ears.vad();
/// ears.kws().invoke();
/// vad.output();
/// ```
#[macro_export]
macro_rules! share_arena {
    ($(#[$attribute:meta])* $vis:vis struct $name:ident { $($(#[$note:meta])* $model:ident: $ty:ty),+ $(,)? }) => {
        $(#[$attribute])*
        $vis struct $name {
            kiln_arena: $crate::Arena<{ $crate::largest(&[$(<$ty as $crate::Model>::INFO.arena_bytes),+]) }>,
            $($model: <$ty as $crate::Share>::Kept,)+
        }

        #[allow(dead_code)]
        impl $name {
            /// Bytes of RAM that the models share: as many as the largest needs.
            $vis const ARENA_BYTES: usize = $crate::largest(&[$(<$ty as $crate::Model>::INFO.arena_bytes),+]);
            /// Bytes of RAM that keep their contents from one inference to the next, of all models.
            $vis const STATE_BYTES: usize = $crate::sum(&[$(<$ty as $crate::Model>::INFO.state_bytes),+]);

            /// The models, ready to run. Usable in a `static`.
            $vis const fn new() -> Self {
                $name { kiln_arena: $crate::Arena::new(), $($model: <$ty as $crate::Share>::KEPT,)+ }
            }

            $(
                $(#[$note])*
                #[doc = concat!("Lends the arena to `", stringify!($ty), "`. What another model left there is lost.")]
                $vis fn $model(&mut self) -> <$ty as $crate::Share>::Lent<'_> {
                    <$ty as $crate::Share>::lend(&mut self.kiln_arena, &mut self.$model)
                }
            )+
        }

        impl Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}
