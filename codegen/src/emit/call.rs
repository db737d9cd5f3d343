//! Steps and the kernel calls in them.

use super::argument::{cells, constant, float, integer, linear, memory_idents, memory_parameters, rows};
use super::pipeline::{self, expand_trace, expand_trace_end, step_name, Stage};
use super::{custom, event};
use crate::select::{Arg, Call, Callee, Cells, Field, Generic, Program, Struct};
use kiln_kernel_table::KernelId;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{quote, ToTokens};

/// One documented function per step.
pub(super) fn expand_steps(program: &Program) -> TokenStream {
    let steps = program.calls.chunk_by(|a, b| a.step == b.step).map(|calls| expand_step(program, calls));
    quote! { #(#steps)* }
}

/// The body of `invoke`: every step in order, those of a pipeline in a loop.
pub(super) fn expand_stages(program: &Program, trace: bool) -> TokenStream {
    let stages = pipeline::stages(program);
    let stages = stages.iter().map(|stage| expand_stage(program, stage, trace));
    let end = expand_trace_end(trace);
    quote! { #(#stages)* #end }
}

/// One step, or one pipeline.
pub(super) fn expand_stage(program: &Program, stage: &Stage<'_>, trace: bool) -> TokenStream {
    match stage {
        Stage::Loop(index, body) => pipeline::expand_loop(program, *index, body),
        Stage::Step(step) => expand_step_call(program, *step, trace),
    }
}

/// The call of a step that runs once.
fn expand_step_call(program: &Program, step: usize, trace: bool) -> TokenStream {
    let name = step_name(step);
    let calls = program.calls.iter().filter(|call| call.step == step);
    let arguments: Vec<Ident> = memory_idents(calls.clone()).chain(asks_for_crew(calls).then(crew)).collect();
    let mark = expand_trace(step, trace);
    quote! { #mark #name(#(#arguments),*); }
}

/// Whether some calls are made on a crew.
pub(super) fn asks_for_crew<'a>(mut calls: impl Iterator<Item = &'a Call>) -> bool {
    calls.any(|call| call.args.iter().any(|arg| matches!(arg, Arg::Crew)))
}

/// The crew, as an argument.
fn crew() -> Ident {
    Ident::new("crew", Span::call_site())
}

fn expand_step(program: &Program, calls: &[Call]) -> TokenStream {
    let step = calls[0].step;
    let name = step_name(step);
    let turn = pipeline::turn_of(program, step);
    let doc = format!(" {}", calls[0].comment);
    let beat = turn.map(|turn| {
        let doc = format!(" {}", pipeline::describe(turn));
        quote! { #[doc = ""] #[doc = #doc] }
    });
    let parameters = memory_parameters(program, calls.iter());
    let tick = turn.map(|_| quote! { tick: usize });
    let crew = asks_for_crew(calls.iter()).then(|| quote! { crew: &kiln::Crew });
    let parameters = parameters.into_iter().chain(tick).chain(crew);
    let result = program.results.iter().find(|result| result.step == step);
    let due = turn.map(|turn| pipeline::expand_due(turn, calls, result.is_some()));
    let begin = result.map(|_| event::expand_begin());
    let end = result.map(|result| event::expand_end(result, turn));
    let parameters_in_flash = expand_statics(program, calls);
    // Calls that follow each other are for the same row, if they are for single rows.
    let groups = calls.chunk_by(|a, b| by_row(a) && by_row(b)).map(|group| {
        let calls = group.iter().map(|call| {
            let kernel = expand_kernel(call);
            let args = call.args.iter().map(|arg| expand_arg(program, arg));
            quote! { #kernel(#(#args),*); }
        });
        match by_row(&group[0]) {
            true => quote! { for row in band.range() { #(#calls)* } },
            false => quote! { #(#calls)* },
        }
    });
    quote! {
        #[doc = #doc]
        #beat
        fn #name(#(#parameters),*) {
            #parameters_in_flash
            #due
            #begin
            #(#groups)*
            #end
        }
    }
}

/// Structs that refer to constants, as statics: in an ordinary expression they would be put together on the stack at each call. The calls of a step that
/// have one share it.
fn expand_statics(program: &Program, calls: &[Call]) -> Option<TokenStream> {
    let value = calls.iter().flat_map(|call| &call.args).find_map(|arg| match arg {
        Arg::Struct(value) if refers(value) => Some(value),
        _ => None,
    })?;
    let (ident, name, value) = (static_name(value), type_name(value), expand_struct(program, value));
    Some(quote! { static #ident: #name<'static> = #value; })
}

fn refers(value: &Struct) -> bool {
    value.fields.iter().any(|(_, field)| matches!(field, Field::Constant(..)))
}

fn static_name(value: &Struct) -> Ident {
    Ident::new(&value.name.to_ascii_uppercase(), Span::call_site())
}

/// The function that a call calls.
fn expand_kernel(call: &Call) -> TokenStream {
    match call.callee {
        Callee::Custom(index) => {
            let ident = custom::ident(index);
            quote! { custom::#ident }
        }
        Callee::Kernel(kernel) => {
            let (kernel, generics) = (expand_name(kernel), expand_generics(&call.generics));
            quote! { #kernel #generics }
        }
    }
}

/// The function of a kernel.
pub(super) fn expand_name(kernel: KernelId) -> TokenStream {
    let name = Ident::new(kernel.name(), Span::call_site());
    quote! { k::#name }
}

/// `::<32, false>`, or nothing.
fn expand_generics(generics: &[Generic]) -> Option<TokenStream> {
    let generics = generics.iter().map(|generic| match generic {
        Generic::Size(value) => Literal::usize_unsuffixed(*value).to_token_stream(),
        Generic::Sizes(sizes) => {
            let sizes = sizes.iter().map(|&size| Literal::usize_unsuffixed(size));
            quote! { k::Sizes<#(#sizes),*> }
        }
        Generic::Flag(value) => value.to_token_stream(),
    });
    (generics.len() > 0).then(|| quote! { ::<#(#generics),*> })
}

fn by_row(call: &Call) -> bool {
    call.args.iter().any(Arg::by_row)
}

fn expand_arg(program: &Program, arg: &Arg) -> TokenStream {
    match arg {
        Arg::Cells(Cells::All(region)) => cells(region),
        Arg::Cells(Cells::Row(strip)) => {
            let rows = rows(strip);
            quote! { #rows.row(row) }
        }
        Arg::Rows(strip) => rows(strip),
        Arg::Input(source, ty) => custom::expand_input(program, source, ty),
        Arg::Output(region, ty) => custom::expand_output(region, ty),
        Arg::Constant(id, element) => constant(program, *id, *element),
        Arg::ConstantRow(id, element, len) => {
            let (all, len) = (constant(program, *id, *element), Literal::usize_unsuffixed(*len));
            quote! { kiln::constant_row(#all, #len, row) }
        }
        Arg::Table(id) => {
            let ident = Ident::new(&program.constants[id.0].ident, Span::call_site());
            quote! { &weights::#ident.0 }
        }
        Arg::Band(rows) => {
            let rows = Literal::usize_unsuffixed(*rows);
            quote! { kiln::Band { first: 0, rows: #rows } }
        }
        Arg::Due => quote! { band },
        Arg::Struct(value) if refers(value) => {
            let ident = static_name(value);
            quote! { &#ident }
        }
        Arg::Struct(value) => {
            let value = expand_struct(program, value);
            quote! { &#value }
        }
        Arg::Linear(len) => linear(*len),
        Arg::Int(value) => integer(*value),
        Arg::Float(value) => float(*value),
        Arg::Crew => crew().into_token_stream(),
    }
}

fn expand_struct(program: &Program, value: &Struct) -> TokenStream {
    let name = type_name(value);
    let fields = value.fields.iter().map(|(field, value)| {
        let field = Ident::new(field, Span::call_site());
        let value = match value {
            Field::Int(v) => integer(*v),
            Field::Ints(list) => {
                let list = list.iter().map(|&v| integer(v));
                quote! { [#(#list),*] }
            }
            Field::Float(value) => float(*value),
            Field::Flag(value) => value.to_token_stream(),
            Field::Variant(name, variant) => {
                let [name, variant] = [name, variant].map(|ident| Ident::new(ident, Span::call_site()));
                quote! { k::#name::#variant }
            }
            Field::Constant(id, element) => constant(program, *id, *element),
            Field::Nothing => quote! { &[] },
            Field::Struct(inner) => expand_struct(program, inner),
        };
        quote! { #field: #value }
    });
    quote! { #name { #(#fields),* } }
}

fn type_name(value: &Struct) -> TokenStream {
    let name = Ident::new(value.name, Span::call_site());
    quote! { k::#name }
}
