//! Steps and the kernel calls in them.

use super::pipeline::{self, Stage};
use super::{custom, event, uses_memory};
use crate::select::{
    Arg, Call, Callee, Cells, ConstantId, Element, Field, Generic, Memory, Program, Region, Strip, Struct,
};
use kiln_kernel_table::KernelId;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, ToTokens};

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

/// The memories that some calls use.
fn memories<'a>(calls: impl Iterator<Item = &'a Call> + Clone) -> impl Iterator<Item = Memory> {
    let uses = |&memory: &Memory| calls.clone().any(|c| uses_memory(&c.args, memory));
    let used: Vec<Memory> = [Memory::Arena, Memory::Fast, Memory::State].into_iter().filter(uses).collect();
    used.into_iter()
}

/// The memories that some calls use, as arguments.
pub(super) fn memory_idents<'a>(
    calls: impl Iterator<Item = &'a Call> + Clone,
) -> impl Iterator<Item = Ident> {
    memories(calls).map(memory_ident)
}

/// The memories that some calls use, as arguments that borrow them from the model.
pub(super) fn memory_borrows<'a>(
    calls: impl Iterator<Item = &'a Call> + Clone,
) -> impl Iterator<Item = TokenStream> {
    memories(calls).map(borrow_memory)
}

/// A memory of the model, borrowed.
pub(super) fn borrow_memory(memory: Memory) -> TokenStream {
    match memory {
        Memory::Arena => quote! { self.arena.borrow_mut().memory() },
        Memory::Fast => quote! { self.fast.borrow_mut().memory() },
        Memory::State => quote! { self.kept.borrow_mut().state.memory() },
    }
}

/// The memories that some calls use, as parameters.
pub(super) fn memory_parameters<'a>(
    program: &Program,
    calls: impl Iterator<Item = &'a Call> + Clone,
) -> Vec<TokenStream> {
    let parameter = |memory| {
        let ident = memory_ident(memory);
        let size = Literal::usize_unsuffixed(match memory {
            Memory::Arena => program.arena_bytes,
            Memory::Fast => program.fast_bytes.unwrap_or(0),
            Memory::State => program.state_bytes,
        });
        quote! { #ident: kiln::Memory<'_, #size> }
    };
    memories(calls).map(parameter).collect()
}

pub(super) fn memory_ident(memory: Memory) -> Ident {
    let name = match memory {
        Memory::Arena => "m",
        Memory::Fast => "f",
        Memory::State => "s",
    };
    Ident::new(name, Span::call_site())
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

/// `&Copy` of consecutive elements: a constant in flash, which a call in an ordinary expression would not be.
pub(super) fn linear(len: usize) -> TokenStream {
    let len = Literal::usize_unsuffixed(len);
    quote! { const { &k::Copy::linear(#len) } }
}

/// `&[Cell<T>; N]` of a region.
pub(super) fn cells(region: &Region) -> TokenStream {
    let (memory, element) = (memory_ident(region.memory), region.element);
    let (offset, len) = (Literal::usize_unsuffixed(region.offset), Literal::usize_unsuffixed(region.len));
    quote! { #memory.cells::<#element, #offset, #len>() }
}

/// `Rows` of a strip.
pub(super) fn rows(strip: &Strip) -> TokenStream {
    let (cells, row) = (cells(&strip.region), Literal::usize_unsuffixed(strip.row));
    match strip.ring.map(Literal::usize_unsuffixed) {
        Some(ring) => quote! { kiln::Rows::ring(#cells, #row, #ring) },
        None => quote! { kiln::Rows::whole(#cells, #row) },
    }
}

/// `&[T]` of a constant.
pub(super) fn constant(program: &Program, id: ConstantId, element: Element) -> TokenStream {
    let ident = Ident::new(&program.constants[id.0].ident, Span::call_site());
    let accessor = format_ident!("as_{}", element.name());
    quote! { weights::#ident.#accessor() }
}

/// The type of an element.
impl ToTokens for Element {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        Ident::new(self.name(), Span::call_site()).to_tokens(tokens);
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

fn integer(value: i64) -> TokenStream {
    let literal = Literal::u64_unsuffixed(value.unsigned_abs());
    match value < 0 {
        true => quote! { -#literal },
        false => quote! { #literal },
    }
}

/// A float literal of the same bits.
pub(super) fn float(value: f32) -> TokenStream {
    if value == f32::INFINITY {
        quote! { f32::INFINITY }
    } else if value == f32::NEG_INFINITY {
        quote! { f32::NEG_INFINITY }
    } else if value == f32::MAX {
        quote! { f32::MAX }
    } else if value == f32::MIN {
        quote! { f32::MIN }
    } else if value.is_nan() {
        let bits = Literal::u32_unsuffixed(value.to_bits());
        quote! { f32::from_bits(#bits) }
    } else {
        let literal = Literal::f32_unsuffixed(value.abs());
        match value.is_sign_negative() {
            true => quote! { -#literal },
            false => quote! { #literal },
        }
    }
}
