//! What a step tells about itself, around its kernel calls: `kiln::events`.

use super::argument::rows;
use crate::select::{StepResult, Turn};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// What stands before the calls.
pub(super) fn expand_begin() -> TokenStream {
    quote! { let event = kiln::events::begin(); }
}

/// What stands behind them. Sums are told about when they are complete.
pub(super) fn expand_end(result: &StepResult, turn: Option<&Turn>) -> TokenStream {
    let StepResult { step, name, strip, absorbs } = result;
    let (index, values) = (Literal::usize_unsuffixed(*step), rows(strip));
    let held = strip.region.len.checked_div(strip.row).unwrap_or(0);
    let all = Literal::usize_unsuffixed(held);
    let (band, complete) = match (turn, absorbs) {
        (Some(_), None) => (quote! { band }, None),
        (Some(_), Some(rows)) => {
            let rows = Literal::usize_unsuffixed(*rows);
            (quote! { kiln::Band { first: 0, rows: #all } }, Some(quote! { band.range().end >= #rows }))
        }
        (None, _) => (quote! { kiln::Band { first: 0, rows: #all } }, None),
    };
    let end = quote! { event.end(#index, kiln::__layer_name!(#name), #values, #band); };
    match complete {
        Some(complete) => quote! { if #complete { #end } },
        None => end,
    }
}
