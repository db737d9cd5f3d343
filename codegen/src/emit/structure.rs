//! The model's type, and who holds its memory.
//!
//! `Kws` owns its arena and what it keeps. `Kws<&mut Arena, &mut Kept>` is lent both: [`kiln::share_arena!`] lends the same arena to several
//! models in turn, and a user places an arena where it belongs. There is one implementation of the methods, for all of them.

use super::{bytes, feed, Names};
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
    quote! {
        type Arena = kiln::Arena<#arena_bytes>;

        #[doc = #doc]
        ///
        /// It owns its memory, unless it is given another holder of it: see `with_arena` and `kiln::share_arena!`.
        pub struct #ty<A = Arena, K = Kept> {
            arena: A,
            kept: K,
            #tick
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

/// The first value of the field that counts rows, if there is one.
pub(super) fn expand_tick(program: &Program) -> Option<TokenStream> {
    feed::counts_in_model(program).then(|| quote! { tick: 0, })
}

/// `new`, `with_arena` and `Default`, and the model as one of several that share an arena.
pub(super) fn expand_holders(program: &Program, names: &Names) -> TokenStream {
    let ty = &names.ty;
    let tick = expand_tick(program);
    quote! {
        impl<A: BorrowMut<Arena>> #ty<A> {
            /// A model in an arena that is elsewhere: `&'static mut kiln::Arena<{ ARENA_BYTES }>`, placed by its `#[link_section]`.
            pub const fn with_arena(arena: A) -> Self {
                Self { arena, kept: Kept::NEW, #tick }
            }
        }

        impl Default for #ty {
            fn default() -> Self {
                Self::new()
            }
        }

        impl kiln::Share for #ty {
            type Kept = Kept;

            type Lent<'a> = #ty<&'a mut Arena, &'a mut Kept>;

            const KEPT: Kept = Kept::NEW;

            fn lend<'a, const BYTES: usize>(
                arena: &'a mut kiln::Arena<BYTES>,
                kept: &'a mut Kept,
            ) -> Self::Lent<'a> {
                #ty { arena: arena.first_mut(), kept, #tick }
            }
        }
    }
}
