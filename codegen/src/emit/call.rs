//! Steps and the kernel calls in them.

use super::uses_memory;
use crate::select::{Arg, Call, ConstantId, Field, Memory, Program, Region, Struct};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// One documented function per step.
pub(super) fn expand_steps(program: &Program) -> TokenStream {
    let steps = by_step(program).into_iter().map(|calls| expand_step(program, calls));
    quote! { #(#steps)* }
}

/// The body of `invoke`: every step in order.
pub(super) fn expand_step_calls(program: &Program, trace: bool) -> TokenStream {
    let steps = by_step(program).into_iter().map(|calls| {
        let name = step_name(calls[0].step);
        let memories = memories(calls).map(|(memory, _)| memory_ident(memory));
        let index = Literal::u32_unsuffixed(calls[0].step as u32);
        let mark = trace.then(|| quote! { kiln::trace(#index); });
        quote! { #mark #name(#(#memories),*); }
    });
    let end = trace.then(|| quote! { kiln::trace(u32::MAX); });
    quote! { #(#steps)* #end }
}

fn by_step(program: &Program) -> Vec<&[Call]> {
    program.calls.chunk_by(|a, b| a.step == b.step).collect()
}

fn step_name(step: usize) -> Ident {
    format_ident!("step_{:02}", step)
}

fn memories(calls: &[Call]) -> impl Iterator<Item = (Memory, TokenStream)> + '_ {
    let all = [(Memory::Arena, quote!(ARENA_BYTES)), (Memory::State, quote!(STATE_BYTES))];
    all.into_iter().filter(|(memory, _)| calls.iter().any(|c| uses_memory(&c.args, *memory)))
}

fn memory_ident(memory: Memory) -> Ident {
    let name = match memory {
        Memory::Arena => "m",
        Memory::State => "s",
    };
    Ident::new(name, Span::call_site())
}

fn expand_step(program: &Program, calls: &[Call]) -> TokenStream {
    let name = step_name(calls[0].step);
    let doc = format!(" {}", calls[0].comment);
    let parameters = memories(calls).map(|(memory, _)| {
        let ident = memory_ident(memory);
        let size = Literal::usize_unsuffixed(match memory {
            Memory::Arena => program.arena_bytes,
            Memory::State => program.state_bytes,
        });
        quote! { #ident: kiln::Memory<'_, #size> }
    });
    let calls = calls.iter().map(|call| {
        let kernel = Ident::new(call.kernel, Span::call_site());
        let args = call.args.iter().map(|arg| expand_arg(program, arg));
        quote! { k::#kernel(#(#args),*); }
    });
    quote! {
        #[doc = #doc]
        fn #name(#(#parameters),*) {
            #(#calls)*
        }
    }
}

fn expand_arg(program: &Program, arg: &Arg) -> TokenStream {
    match arg {
        Arg::Cells(region) => cells(region),
        Arg::Rows(region, row) => {
            let (cells, row) = (cells(region), Literal::usize_unsuffixed(*row));
            quote! { kiln::Rows::whole(#cells, #row) }
        }
        Arg::Constant(id, element) => constant(program, *id, element),
        Arg::Table(id) => {
            let ident = Ident::new(&program.constants[id.0].ident, Span::call_site());
            quote! { &weights::#ident.0 }
        }
        Arg::Band(first, rows) => {
            let (first, rows) = (Literal::usize_unsuffixed(*first), Literal::usize_unsuffixed(*rows));
            quote! { kiln::Band { first: #first, rows: #rows } }
        }
        Arg::Struct(value) => {
            let value = expand_struct(program, value);
            quote! { &#value }
        }
        Arg::Linear(len) => linear(*len),
        Arg::Int(value) => integer(*value),
        Arg::Float(value) => float(*value),
    }
}

/// `&Copy` of consecutive elements: a constant in flash, which a call in an ordinary expression would not be.
pub(super) fn linear(len: usize) -> TokenStream {
    let len = Literal::usize_unsuffixed(len);
    quote! { const { &k::Copy::linear(#len) } }
}

/// `&[Cell<T>; N]` of a region.
pub(super) fn cells(region: &Region) -> TokenStream {
    let memory = memory_ident(region.memory);
    let element = Ident::new(region.element, Span::call_site());
    let (offset, len) = (Literal::usize_unsuffixed(region.offset), Literal::usize_unsuffixed(region.len));
    quote! { #memory.cells::<#element, #offset, #len>() }
}

/// `&[T]` of a constant.
pub(super) fn constant(program: &Program, id: ConstantId, element: &str) -> TokenStream {
    let ident = Ident::new(&program.constants[id.0].ident, Span::call_site());
    let accessor = format_ident!("as_{}", element);
    quote! { weights::#ident.#accessor() }
}

fn expand_struct(program: &Program, value: &Struct) -> TokenStream {
    let name = Ident::new(value.name, Span::call_site());
    let fields = value.fields.iter().map(|(field, value)| {
        let field = Ident::new(field, Span::call_site());
        let value = match value {
            Field::Int(v) => integer(*v),
            Field::Ints(list) => {
                let list = list.iter().map(|&v| integer(v));
                quote! { [#(#list),*] }
            }
            Field::Constant(id, element) => constant(program, *id, element),
            Field::Struct(inner) => expand_struct(program, inner),
        };
        quote! { #field: #value }
    });
    quote! { k::#name { #(#fields),* } }
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
