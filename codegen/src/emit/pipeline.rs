//! Pipelines: steps that take turns, as a function that runs one tick, and the loop that calls it.

use super::argument::{memory_idents, memory_parameters};
use crate::schedule::{Again, Beat};
use crate::select::{Arg, Call, Loop, Program, Turn};
use proc_macro2::{Ident, Literal, TokenStream};
use quote::{format_ident, quote};

/// Consecutive steps that run once, or as a loop.
pub(super) enum Stage<'a> {
    /// One step.
    Step(usize),
    /// A pipeline, by its number.
    Loop(usize, &'a Loop),
}

/// What an inference runs, in order.
pub(super) fn stages(program: &Program) -> Vec<Stage<'_>> {
    let mut stages = Vec::new();
    let mut loops = program.loops.iter().enumerate().filter(|(_, l)| !l.steps.is_empty()).peekable();
    let mut steps: Vec<usize> = program.calls.iter().map(|call| call.step).collect();
    steps.dedup();
    for step in steps {
        match loops.peek() {
            Some((_, body)) if !body.steps.iter().any(|turn| turn.step == step) => {
                stages.push(Stage::Step(step))
            }
            None => stages.push(Stage::Step(step)),
            Some(&(index, body)) => {
                if body.steps.first().is_some_and(|turn| turn.step == step) {
                    stages.push(Stage::Loop(index, body));
                }
                if body.steps.last().is_some_and(|turn| turn.step == step) {
                    loops.next();
                }
            }
        }
    }
    stages
}

/// The loop over all ticks of a pipeline.
pub(super) fn expand_loop(program: &Program, index: usize, body: &Loop) -> TokenStream {
    let (call, ticks) = (expand_tick(program, index, body), Literal::usize_unsuffixed(body.ticks));
    quote! { for tick in 0..#ticks { #call } }
}

/// The call that runs tick `tick` of a pipeline.
pub(super) fn expand_tick(program: &Program, index: usize, body: &Loop) -> TokenStream {
    let (name, memories) = (loop_name(index), memory_idents(calls(program, body)));
    quote! { #name(#(#memories,)* tick); }
}

/// One documented function per pipeline, which runs one tick.
pub(super) fn expand_loops(program: &Program, trace: bool) -> TokenStream {
    let loops = program.loops.iter().enumerate().filter(|(_, l)| !l.steps.is_empty());
    let functions = loops.map(|(index, body)| {
        let name = loop_name(index);
        let doc = doc(body);
        let parameters = memory_parameters(program, calls(program, body));
        let steps = body.steps.iter().map(|turn| {
            let mark = expand_trace(turn.step, trace);
            let step = step_name(turn.step);
            let memories = memory_idents(calls_of(program, turn.step));
            quote! { #mark #step(#(#memories,)* tick); }
        });
        quote! {
            #(#[doc = #doc])*
            fn #name(#(#parameters,)* tick: usize) {
                #(#steps)*
            }
        }
    });
    quote! { #(#functions)* }
}

fn doc(body: &Loop) -> [String; 3] {
    let (first, last) = (body.steps.first(), body.steps.last());
    let step = |turn: Option<&Turn>| turn.map_or(0, |turn| turn.step);
    [
        format!(
            " One of the {} ticks in which steps {} to {} take turns: each computes the rows that are due, as soon as the rows it reads",
            body.ticks,
            step(first),
            step(last)
        ),
        " are there, and only those rows are kept that are still to be read. A tensor of which `n` rows are kept is a ring: its row `r` is".into(),
        " the `r % n`-th one there, or the `(r + s) % n`-th where several tensors share a ring and its row 0 is in slot `s`.".into(),
    ]
}

/// `let band = …`: the rows of a step that are due at this tick, or the end of it. Without a name if neither `named` nor any kernel asks for them.
pub(super) fn expand_due(turn: &Turn, calls: &[Call], named: bool) -> TokenStream {
    let Beat { first, every, band, again } = turn.beat;
    let [first, every, band] = [first, every, band].map(Literal::usize_unsuffixed);
    let rows = match turn.rows {
        Some(rows) => {
            let rows = Literal::usize_unsuffixed(rows);
            quote! { #rows }
        }
        None => quote! { usize::MAX },
    };
    let asks = |arg: &Arg| matches!(arg, Arg::Due) || arg.by_row();
    let asked = named || calls.iter().flat_map(|call| &call.args).any(asks);
    let name = if asked {
        quote! { band }
    } else {
        quote! { _ }
    };
    let Some(Again { stride, before, times }) = again else {
        return quote! { let Some(#name) = kiln::due(tick, #first, #every, #band, #rows) else { return }; };
    };
    let [stride, before, times] = [stride, before, times].map(Literal::usize_unsuffixed);
    quote! {
        let again = kiln::Again { times: #times, stride: #stride, before: #before };
        let Some(#name) = again.due(tick, #first, #every, #band, #rows) else { return };
    }
}

/// When a step computes how many rows, and how many are held, in words.
pub(super) fn describe(turn: &Turn) -> String {
    let Beat { first, every, band, again } = turn.beat;
    let what = match (band, turn.rows) {
        (1, Some(1)) => "Its one row".into(),
        (1, Some(rows)) => format!("One of its {rows} rows"),
        (1, None) => "One row".into(),
        (_, Some(rows)) if band >= rows => format!("Its {rows} rows"),
        (_, Some(rows)) => format!("{band} of its {rows} rows"),
        (_, None) => format!("{band} rows"),
    };
    let what = match again {
        Some(Again { stride, .. }) => format!("{what}, {stride} further each time, some again,"),
        None => what,
    };
    let once = again.is_none() && turn.rows.is_some_and(|rows| band >= rows);
    let when = match (once, every, first) {
        (true, _, _) => format!("at tick {first}"),
        (_, 1, 0) => "at every tick".into(),
        (_, 1, _) => format!("at every tick from tick {first} on"),
        (_, _, _) => format!("every {every} ticks from tick {first} on"),
    };
    format!("{what} {when}. {}", turn.held).trim_end().into()
}

/// The marker before a step.
pub(super) fn expand_trace(step: usize, trace: bool) -> Option<TokenStream> {
    let index = Literal::usize_unsuffixed(step);
    trace.then(|| quote! { kiln::trace(#index); })
}

/// The marker behind the last step.
pub(super) fn expand_trace_end(trace: bool) -> Option<TokenStream> {
    trace.then(|| quote! { kiln::trace(u32::MAX); })
}

pub(super) fn step_name(step: usize) -> Ident {
    format_ident!("step_{:02}", step)
}

/// The turn of a step, if it is in a loop.
pub(super) fn turn_of(program: &Program, step: usize) -> Option<&Turn> {
    program.loops.iter().flat_map(|l| &l.steps).find(|turn| turn.step == step)
}

pub(super) fn loop_name(index: usize) -> Ident {
    format_ident!("pipeline_{:02}", index)
}

/// The calls of a pipeline.
pub(super) fn calls<'a>(program: &'a Program, body: &'a Loop) -> impl Iterator<Item = &'a Call> + Clone {
    program.calls.iter().filter(|call| body.steps.iter().any(|turn| turn.step == call.step))
}

/// The calls of a step.
pub(super) fn calls_of(program: &Program, step: usize) -> impl Iterator<Item = &Call> + Clone {
    program.calls.iter().filter(move |call| call.step == step)
}
