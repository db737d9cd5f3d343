//! `invoke_async`: an inference that gives other tasks a turn after each step.

use super::argument::memory_borrows;
use super::call::asks_for_crew;
use super::pipeline::step_name;
use super::pipeline::{calls, calls_of, loop_name, stages, Stage};
use crate::select::Program;
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// Every step in order, those of a pipeline tick by tick, each followed by a turn for other tasks. Each borrows its memories anew: held
/// across an `await`, they would keep the future from being sent to another thread.
pub(super) fn expand_turns(program: &Program) -> TokenStream {
    let turns = stages(program).into_iter().map(|stage| match stage {
        Stage::Step(step) => {
            let (name, memories) = (step_name(step), memory_borrows(calls_of(program, step)));
            let nobody = asks_for_crew(calls_of(program, step)).then(|| quote! { &kiln::Crew::new() });
            let arguments = memories.chain(nobody);
            quote! {
                #name(#(#arguments),*);
                kiln::yield_now().await;
            }
        }
        Stage::Loop(index, body) => {
            let (name, memories) = (loop_name(index), memory_borrows(calls(program, body)));
            let ticks = Literal::usize_unsuffixed(body.ticks);
            quote! {
                for tick in 0..#ticks {
                    #name(#(#memories,)* tick);
                    kiln::yield_now().await;
                }
            }
        }
    });
    quote! { #(#turns)* }
}
