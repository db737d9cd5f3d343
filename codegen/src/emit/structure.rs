//! The model's type, and who holds its memory.
//!
//! `Kws` owns its arena and what it keeps. `Kws<&mut Arena, &mut Kept>` is lent both: [`kiln::share_arena!`] lends the same arena to several
//! models in turn, and a user places an arena where it belongs. With an arena in fast RAM, `Kws<&mut Arena, Kept, &mut FastArena>` is lent both arenas. There is one implementation of the methods, for all of them.

use super::{bytes, camera, feed, Names};
use crate::select::Program;
use proc_macro2::TokenStream;
use quote::quote;

/// Whether there is a state that starts with other values than zero. It is set on the first use, so that the whole model stays in `.bss`.
pub(super) fn needs_start(program: &Program) -> bool {
    program.state_inits.iter().any(|s| s.constant.is_some())
}

/// `struct Name`, and `struct Kept`: every field that outlasts an inference belongs in there.
pub(super) fn expand_struct(program: &Program, names: &Names, doc: &str) -> TokenStream {
    let ty = &names.ty;
    let (arena_bytes, state_bytes) = (bytes(program.arena_bytes), bytes(program.state_bytes));
    let has_state = program.state_bytes > 0;
    let needs_start = needs_start(program);
    let state_field = has_state.then(|| quote! { state: kiln::Arena<#state_bytes>, });
    let state_new = has_state.then(|| quote! { state: kiln::Arena::new(), });
    let started_field = needs_start.then(|| quote! { started: bool, });
    let started_new = needs_start.then(|| quote! { started: false, });
    let kept_tick = feed::counts_in_kept(program).then(|| quote! { tick: usize, });
    let kept_tick_new = feed::counts_in_kept(program).then(|| quote! { tick: 0, });
    let tick = feed::counts_in_model(program).then(|| quote! { tick: usize, });
    let camera = camera::expand_field(program);
    let fast_arena = program.fast_bytes.map(|fast_bytes| {
        let fast_bytes = bytes(fast_bytes);
        quote! { type FastArena = kiln::Arena<#fast_bytes>; }
    });
    let fast_parameter = program.fast_bytes.map(|_| quote! { , F = FastArena });
    let fast_field = program.fast_bytes.map(|_| quote! { fast: F, });
    let elsewhere = match program.fast_bytes {
        None => " It owns its memory, unless it is given another holder of it: see `with_arena` and `kiln::share_arena!`.",
        Some(_) => " It owns its memory, unless it is given other holders of its arenas: see `with_arenas`.",
    };
    quote! {
        type Arena = kiln::Arena<#arena_bytes>;

        #fast_arena

        #[doc = #doc]
        ///
        #[doc = #elsewhere]
        pub struct #ty<A = Arena, K = Kept #fast_parameter> {
            arena: A,
            kept: K,
            #fast_field
            #tick
            #camera
        }

        /// What the model keeps from one inference to the next.
        pub struct Kept {
            #state_field
            #started_field
            #kept_tick
        }

        impl Kept {
            const NEW: Kept = Kept { #state_new #started_new #kept_tick_new };
        }
    }
}

/// The first values of the fields that are not kept: that which counts rows, and what is held of a camera's lines.
pub(super) fn expand_counts(program: &Program) -> TokenStream {
    let tick = feed::counts_in_model(program).then(|| quote! { tick: 0, });
    let camera = camera::expand_new(program);
    quote! { #tick #camera }
}

/// The type parameters of a model with any holders of its memory, with their bounds and without.
pub(super) fn expand_generics(program: &Program) -> (TokenStream, TokenStream) {
    let (bound, name) = match program.fast_bytes {
        None => (None, None),
        Some(_) => (Some(quote! { , F: BorrowMut<FastArena> }), Some(quote! { , F })),
    };
    (quote! { A: BorrowMut<Arena>, K: BorrowMut<Kept> #bound }, quote! { A, K #name })
}

/// The constant that is as large as the fast arena, if there is one.
pub(super) fn expand_fast_constant(program: &Program) -> Option<TokenStream> {
    let fast_bytes = bytes(program.fast_bytes?);
    Some(quote! {
        /// Bytes of fast RAM for those activations, inputs and outputs that are accessed most. `ARENA_BYTES` are the others'.
        pub const FAST_BYTES: usize = #fast_bytes;
    })
}

/// The first value of the field that holds the fast arena, if there is one.
pub(super) fn expand_new_fast(program: &Program) -> Option<TokenStream> {
    program.fast_bytes.map(|_| quote! { fast: kiln::Arena::new(), })
}

/// `with_arena` or `with_arenas`, `Default`, and the model as one of several that share an arena.
pub(super) fn expand_holders(program: &Program, names: &Names) -> TokenStream {
    let ty = &names.ty;
    let elsewhere = match program.fast_bytes {
        None => expand_elsewhere(program, names),
        Some(_) => expand_two_elsewhere(program, names),
    };
    let share = program.fast_bytes.is_none().then(|| expand_share(program, names));
    quote! {
        #elsewhere

        impl Default for #ty {
            fn default() -> Self {
                Self::new()
            }
        }

        #share
    }
}

fn expand_elsewhere(program: &Program, names: &Names) -> TokenStream {
    let (ty, counts) = (&names.ty, expand_counts(program));
    quote! {
        impl<A: BorrowMut<Arena>> #ty<A> {
            /// A model in an arena that is elsewhere: `&'static mut kiln::Arena<{ ARENA_BYTES }>`, placed by its `#[link_section]`.
            pub const fn with_arena(arena: A) -> Self {
                Self { arena, kept: Kept::NEW, #counts }
            }
        }
    }
}

fn expand_two_elsewhere(program: &Program, names: &Names) -> TokenStream {
    let (ty, counts) = (&names.ty, expand_counts(program));
    quote! {
        impl<A: BorrowMut<Arena>, F: BorrowMut<FastArena>> #ty<A, Kept, F> {
            /// A model in arenas that are elsewhere: `&'static mut kiln::Arena<{ FAST_BYTES }>` and
            /// `&'static mut kiln::Arena<{ ARENA_BYTES }>`, each placed by its `#[link_section]`.
            pub const fn with_arenas(fast: F, arena: A) -> Self {
                Self { arena, kept: Kept::NEW, fast, #counts }
            }
        }
    }
}

fn expand_share(program: &Program, names: &Names) -> TokenStream {
    let (ty, counts) = (&names.ty, expand_counts(program));
    quote! {
        impl kiln::Share for #ty {
            type Kept = Kept;

            type Lent<'a> = #ty<&'a mut Arena, &'a mut Kept>;

            const KEPT: Kept = Kept::NEW;

            fn lend<'a, const BYTES: usize>(
                arena: &'a mut kiln::Arena<BYTES>,
                kept: &'a mut Kept,
            ) -> Self::Lent<'a> {
                #ty { arena: arena.first_mut(), kept, #counts }
            }
        }
    }
}
