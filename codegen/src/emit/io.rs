//! Typed access to inputs and outputs, and the `kiln::Model` implementation.

use super::argument::float;
use super::{described, feed, structure, Names};
use crate::ir::{DType, Graph};
use crate::select::{Element, Memory, Port, Program};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// A direction of I/O, with the words its items are named by.
#[derive(Clone, Copy)]
enum Direction {
    Input,
    Output,
}

/// `INPUT`, `OUTPUT` and quantisation helpers; numbered where there are several.
pub(super) fn expand_descriptions(program: &Program) -> TokenStream {
    each_port(program, expand_description)
}

/// `input_mut` (unless it is fed by rows) and `output`; numbered where there are several.
pub(super) fn expand_accessors(program: &Program) -> TokenStream {
    let valid = match program.fed.map(|fed| fed.slide.is_some()) {
        None => "after `invoke`, until an input is written",
        Some(false) => "when an input is complete, until the next row is pushed",
        Some(true) => "when a window is complete, until the next frame is taken",
    };
    each_port(program, |port, number, direction| match direction {
        Direction::Input if program.fed.is_some() => TokenStream::new(),
        Direction::Input => expand_input(port, number),
        Direction::Output => expand_output(port, number, valid),
    })
}

/// Expands every port, inputs first. The text is what distinguishes it from others of its direction.
fn each_port(program: &Program, expand: impl Fn(&Port, &str, Direction) -> TokenStream) -> TokenStream {
    let all = [(&program.inputs, Direction::Input), (&program.outputs, Direction::Output)];
    let ports = all.into_iter().flat_map(|(ports, direction)| {
        let several = ports.len() > 1;
        let expand = &expand;
        ports.iter().enumerate().map(move |(i, port)| {
            let number = if several { format!("_{i}") } else { String::new() };
            expand(port, &number, direction)
        })
    });
    quote! { #(#ports)* }
}

fn expand_description(port: &Port, number: &str, direction: Direction) -> TokenStream {
    let info = expand_info(port);
    let what = described(port);
    let (constant, doc, helper) = match direction {
        Direction::Input => {
            (format_ident!("INPUT{}", number), format!(" Input {what}."), expand_quantize(port, number))
        }
        Direction::Output => {
            (format_ident!("OUTPUT{}", number), format!(" Output {what}."), expand_dequantize(port, number))
        }
    };
    quote! {
        #[doc = #doc]
        pub const #constant: kiln::TensorInfo = #info;

        #helper
    }
}

fn expand_input(port: &Port, number: &str) -> TokenStream {
    let method = format_ident!("input{}_mut", number);
    let doc = format!(" The input {}, to be written before `invoke`.", described(port));
    let (arena, (element, offset, len)) = (arena_of(port), expand_region(port));
    quote! {
        #[doc = #doc]
        pub fn #method(&mut self) -> &mut [#element; #len] {
            self.#arena.borrow_mut().get_mut::<#element, #offset, #len>()
        }
    }
}

fn expand_output(port: &Port, number: &str, valid: &str) -> TokenStream {
    let method = format_ident!("output{}", number);
    let doc = format!(" The output {}. Valid {valid}.", described(port));
    let (arena, (element, offset, len)) = (arena_of(port), expand_region(port));
    quote! {
        #[doc = #doc]
        pub fn #method(&self) -> &[#element; #len] {
            self.#arena.borrow().get::<#element, #offset, #len>()
        }
    }
}

/// The field that holds the arena of a port.
fn arena_of(port: &Port) -> Ident {
    let fast = port.region.memory == Memory::Fast;
    Ident::new(if fast { "fast" } else { "arena" }, Span::call_site())
}

/// Element type, offset and number of elements.
fn expand_region(port: &Port) -> (Element, Literal, Literal) {
    let element = port.region.element;
    (element, Literal::usize_unsuffixed(port.region.offset), Literal::usize_unsuffixed(port.region.len))
}

/// `quantize_input(real) -> stored` of a quantised input.
fn expand_quantize(port: &Port, number: &str) -> Option<TokenStream> {
    let (scale, zero, element) = quantization(port)?;
    let method = format_ident!("quantize_input{}", number);
    Some(quote! {
        /// The stored value nearest to a real one.
        pub fn #method(real: f32) -> #element {
            kiln::quantize(real, #scale, #zero)
        }
    })
}

/// `dequantize_output(stored) -> real` of a quantised output.
fn expand_dequantize(port: &Port, number: &str) -> Option<TokenStream> {
    let (scale, zero, element) = quantization(port)?;
    let method = format_ident!("dequantize_output{}", number);
    Some(quote! {
        /// The real value of a stored one.
        pub fn #method(stored: #element) -> f32 {
            kiln::dequantize(stored, #scale, #zero)
        }
    })
}

fn quantization(port: &Port) -> Option<(TokenStream, TokenStream, Element)> {
    if !matches!(port.ty.dtype, DType::I8 | DType::U8 | DType::I16) {
        return None;
    }
    let scale = float(port.ty.scale()?);
    let zero = Literal::i32_unsuffixed(port.ty.zero_point());
    Some((scale, quote! { #zero }, port.region.element))
}

fn expand_info(port: &Port) -> TokenStream {
    let name = &port.name;
    let dtype = format_ident!("{}", dtype_variant(port.ty.dtype));
    let shape = port.ty.shape.dims().iter().map(|&d| Literal::usize_unsuffixed(d));
    let scale = float(port.ty.scale().unwrap_or(1.0));
    let zero_point = Literal::i32_unsuffixed(port.ty.zero_point());
    quote! {
        kiln::TensorInfo {
            name: #name,
            dtype: kiln::DType::#dtype,
            shape: &[#(#shape),*],
            scale: #scale,
            zero_point: #zero_point,
        }
    }
}

fn dtype_variant(dtype: DType) -> &'static str {
    match dtype {
        DType::F32 => "F32",
        DType::I8 => "I8",
        DType::U8 => "U8",
        DType::I16 => "I16",
        DType::I32 => "I32",
        DType::I64 => "I64",
        DType::Bool => "Bool",
    }
}

/// `impl kiln::Model`.
pub(super) fn expand_model(graph: &Graph, program: &Program, names: &Names) -> TokenStream {
    let ty = &names.ty;
    let name = &graph.name;
    let infos = |ports: &[Port], word: &str| {
        let all = (0..ports.len()).map(|i| match ports.len() {
            1 => format_ident!("{}", word),
            _ => format_ident!("{}_{}", word, i),
        });
        quote! { &[#(#ty::#all),*] }
    };
    let (inputs, outputs) = (infos(&program.inputs, "INPUT"), infos(&program.outputs, "OUTPUT"));
    let arms = |ports: &[Port], holder: &str, method: &str| {
        let (holder, method) = (format_ident!("{}", holder), format_ident!("{}", method));
        let arms = ports.iter().enumerate().map(|(i, port)| {
            let index = Literal::usize_unsuffixed(i);
            let offset = Literal::usize_unsuffixed(port.region.offset);
            let len = Literal::usize_unsuffixed(port.ty.bytes());
            let arena = arena_of(port);
            quote! { #index => self.#arena.#holder().#method::<u8, #offset, #len>(), }
        });
        quote! { #(#arms)* }
    };
    let read = arms(&program.outputs, "borrow", "get");
    let (write, invoke, feed) = match &program.fed {
        None => {
            let arms = arms(&program.inputs, "borrow_mut", "get_mut");
            let invoke = quote! { #ty::invoke(self); true };
            (quote! { match index { #arms _ => &mut [], } }, invoke, "Whole")
        }
        Some(fed) => {
            let feed = if fed.slide.is_some() { "Sliding" } else { "Rows" };
            let write = feed::expand_row_bytes(program, fed);
            (quote! { #write }, quote! { self.advance() }, feed)
        }
    };
    let feed = Ident::new(feed, Span::call_site());
    let invoke_on = (program.cores > 1).then(|| {
        quote! {
            fn invoke_on(&mut self, crew: &kiln::Crew) -> bool {
                #ty::invoke_on(self, crew);
                true
            }
        }
    });
    let (parameters, holders) = structure::expand_generics(program);
    let fast = program.fast_bytes.map(|_| quote! { + #ty::FAST_BYTES });
    quote! {
        impl<#parameters> kiln::Model for #ty<#holders> {
            const INFO: kiln::ModelInfo = kiln::ModelInfo {
                name: #name,
                arena_bytes: #ty::ARENA_BYTES #fast,
                state_bytes: #ty::STATE_BYTES,
                feed: kiln::Feed::#feed,
                inputs: #inputs,
                outputs: #outputs,
            };

            fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
                #write
            }

            fn output_bytes(&self, index: usize) -> &[u8] {
                match index {
                    #read
                    _ => &[],
                }
            }

            fn invoke(&mut self) -> bool {
                #invoke
            }

            #invoke_on

            fn reset(&mut self) {
                #ty::reset(self);
            }
        }
    }
}
