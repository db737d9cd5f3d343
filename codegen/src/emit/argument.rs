//! What stands in calls: memories, what lies in them, constants and numbers.

use crate::select::{Arg, Call, ConstantId, Element, Memory, Program, Region, Strip};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, ToTokens};

/// The memories that some calls use.
pub(super) fn memories<'a>(calls: impl Iterator<Item = &'a Call> + Clone) -> impl Iterator<Item = Memory> {
    let is_in = |arg: &Arg, memory: Memory| arg.region().is_some_and(|region| region.memory == memory);
    let uses = |&memory: &Memory| calls.clone().flat_map(|call| &call.args).any(|arg| is_in(arg, memory));
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
        Some(ring) if strip.slot > 0 => {
            let slot = Literal::usize_unsuffixed(strip.slot);
            quote! { kiln::Rows::ring(#cells, #row, #ring).from_slot(#slot) }
        }
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

pub(super) fn integer(value: i64) -> TokenStream {
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
