//! Typed access to inputs and outputs, and the `kiln::Model` implementation.

use super::call::float;
use super::Names;
use crate::ir::{DType, Graph};
use crate::select::{Port, Program};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// A direction of I/O, with the words its items are named by.
#[derive(Clone, Copy)]
enum Direction {
    Input,
    Output,
}

/// `input_mut`, `output`, their constants and quantisation helpers; numbered where there are several.
pub(super) fn expand_accessors(program: &Program) -> TokenStream {
    let ports = |ports: &[Port], direction| {
        let all =
            ports.iter().enumerate().map(|(i, p)| expand_port(p, (ports.len() > 1).then_some(i), direction));
        quote! { #(#all)* }
    };
    let inputs = ports(&program.inputs, Direction::Input);
    let outputs = ports(&program.outputs, Direction::Output);
    quote! { #inputs #outputs }
}

fn expand_port(port: &Port, index: Option<usize>, direction: Direction) -> TokenStream {
    let number = index.map_or(String::new(), |i| format!("_{i}"));
    let element = Ident::new(port.region.element, Span::call_site());
    let (offset, len) =
        (Literal::usize_unsuffixed(port.region.offset), Literal::usize_unsuffixed(port.region.len));
    let info = expand_info(port);
    // As code: rustdoc would take `[10]` for a link.
    let what = format!("`{:?}`, `{}{:?}`, row-major", port.name, port.ty.dtype.name(), port.ty.shape.dims());
    match direction {
        Direction::Input => {
            let (constant, method) = (format_ident!("INPUT{}", number), format_ident!("input{}_mut", number));
            let info_doc = format!(" Input {what}.");
            let doc = format!(" The input {what}, to be written before `invoke`.");
            let quantize = expand_quantize(port, &number);
            quote! {
                #[doc = #info_doc]
                pub const #constant: kiln::TensorInfo = #info;

                #[doc = #doc]
                pub fn #method(&mut self) -> &mut [#element; #len] {
                    self.arena.get_mut::<#element, #offset, #len>()
                }

                #quantize
            }
        }
        Direction::Output => {
            let (constant, method) = (format_ident!("OUTPUT{}", number), format_ident!("output{}", number));
            let info_doc = format!(" Output {what}.");
            let doc = format!(" The output {what}. Valid after `invoke`, until an input is written.");
            let dequantize = expand_dequantize(port, &number);
            quote! {
                #[doc = #info_doc]
                pub const #constant: kiln::TensorInfo = #info;

                #[doc = #doc]
                pub fn #method(&self) -> &[#element; #len] {
                    self.arena.get::<#element, #offset, #len>()
                }

                #dequantize
            }
        }
    }
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

fn quantization(port: &Port) -> Option<(TokenStream, TokenStream, Ident)> {
    if !matches!(port.ty.dtype, DType::I8 | DType::U8 | DType::I16) {
        return None;
    }
    let scale = float(port.ty.scale()?);
    let zero = Literal::i32_unsuffixed(port.ty.zero_point());
    Some((scale, quote! { #zero }, Ident::new(port.region.element, Span::call_site())))
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
    let arms = |ports: &[Port], method: &str| {
        let method = format_ident!("{}", method);
        let arms = ports.iter().enumerate().map(|(i, port)| {
            let index = Literal::usize_unsuffixed(i);
            let offset = Literal::usize_unsuffixed(port.region.offset);
            let len = Literal::usize_unsuffixed(port.ty.bytes());
            quote! { #index => self.arena.#method::<u8, #offset, #len>(), }
        });
        quote! { #(#arms)* }
    };
    let (read, write) = (arms(&program.outputs, "get"), arms(&program.inputs, "get_mut"));
    quote! {
        impl kiln::Model for #ty {
            const INFO: kiln::ModelInfo = kiln::ModelInfo {
                name: #name,
                arena_bytes: #ty::ARENA_BYTES,
                state_bytes: #ty::STATE_BYTES,
                feed: kiln::Feed::Whole,
                inputs: #inputs,
                outputs: #outputs,
            };

            fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
                match index {
                    #write
                    _ => &mut [],
                }
            }

            fn output_bytes(&self, index: usize) -> &[u8] {
                match index {
                    #read
                    _ => &[],
                }
            }

            fn invoke(&mut self) -> bool {
                #ty::invoke(self);
                true
            }

            fn reset(&mut self) {
                #ty::reset(self);
            }
        }
    }
}
