//! Functions of custom operators, with the types that the model wants of them.

use super::argument::{cells, constant, float};
use crate::ir::Type;
use crate::select::{Custom, Element, Operand, Program, Region};
use proc_macro2::{Ident, Literal, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, ToTokens};
use syn::{ExprPath, PathSegment};

/// The module with a constant for each function. Its type is written out there, so that a function of another one is an error at its path.
///
/// `paths` are those of the functions as the user wrote them, if there are such: errors then point there.
pub(super) fn expand_customs(program: &Program, paths: &[ExprPath]) -> Option<TokenStream> {
    let functions = program.customs.iter().enumerate().map(|(index, custom)| {
        let doc = format!(" The custom operator `{}`.", custom.name.escape_debug());
        let ident = ident(index);
        let operands = custom.operands.iter().map(|ty| expand_type("Input", ty));
        let result = expand_type("Output", &custom.result);
        let path = expand_path(custom, paths);
        quote! {
            #[doc = #doc]
            pub(super) const #ident: fn(#(#operands,)* #result, &'static [u8]) = #path;
        }
    });
    (!program.customs.is_empty()).then(|| {
        quote! {
            /// Functions of custom operators.
            mod custom {
                // Paths mean what they mean beside the model.
                use super::super::*;
                #(#functions)*
            }
        }
    })
}

/// The constant that holds a function.
pub(super) fn ident(index: usize) -> Ident {
    format_ident!("CUSTOM{:02}", index)
}

/// The path of a function, two modules further in than it was written.
fn expand_path(custom: &Custom, paths: &[ExprPath]) -> TokenStream {
    let written =
        paths.iter().find(|path| path.to_token_stream().to_string().replace(' ', "") == custom.path);
    let Some(mut path) = written.cloned().or_else(|| syn::parse_str(&custom.path).ok()) else {
        return TokenStream::new();
    };
    let first = path.path.segments.first().map(|segment| segment.ident.clone());
    let up = match first.filter(|_| path.path.leading_colon.is_none()) {
        Some(first) if first == "self" => [first.span(); 2].as_slice().to_vec(),
        Some(first) if first == "super" => [first.span(); 2].as_slice().to_vec(),
        _ => return path.to_token_stream(),
    };
    let inner: Vec<PathSegment> =
        path.path.segments.iter().skip_while(|s| s.ident == "self").cloned().collect();
    let outer = up.into_iter().map(|span| PathSegment::from(Ident::new("super", span)));
    path.path.segments = outer.chain(inner).collect();
    path.to_token_stream()
}

/// `kiln::custom::Input<'_, i8, kiln::custom::Dims2<1, 10>>`.
fn expand_type(view: &str, ty: &Type) -> TokenStream {
    let (view, element, dims) =
        (Ident::new(view, Span::call_site()), Element::from(ty.dtype), expand_dims(ty));
    quote! { ::kiln::custom::#view<'_, #element, #dims> }
}

fn expand_dims(ty: &Type) -> TokenStream {
    let dims = ty.shape.dims();
    let name = format_ident!("Dims{}", dims.len());
    let sizes = dims.iter().map(|&d| TokenTree::from(Literal::usize_unsuffixed(d)));
    match dims.is_empty() {
        true => quote! { ::kiln::custom::#name },
        false => quote! { ::kiln::custom::#name<#(#sizes),*> },
    }
}

/// An operand.
pub(super) fn expand_input(program: &Program, operand: &Operand, ty: &Type) -> TokenStream {
    let (scale, zero_point) = expand_quant(ty);
    match operand {
        Operand::Cells(region) => {
            let cells = cells(region);
            quote! { kiln::custom::Input::of_cells(#cells, #scale, #zero_point) }
        }
        Operand::Constant(id) => {
            let constant = constant(program, *id, ty.dtype.into());
            quote! { kiln::custom::Input::of_constant(#constant, #scale, #zero_point) }
        }
    }
}

/// The result.
pub(super) fn expand_output(region: &Region, ty: &Type) -> TokenStream {
    let (cells, (scale, zero_point)) = (cells(region), expand_quant(ty));
    quote! { kiln::custom::Output::of_cells(#cells, #scale, #zero_point) }
}

/// Scale and zero point; 1 and 0 of what is not quantised.
fn expand_quant(ty: &Type) -> (TokenStream, Literal) {
    (float(ty.scale().unwrap_or(1.0)), Literal::i32_unsuffixed(ty.zero_point()))
}
