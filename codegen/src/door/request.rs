//! The arguments of `include_model!`.

use super::kept::{with_visibility, Depends, Keeper};
use super::{model_name, read_files, read_schedule};
use crate::{compile, type_name_of};
use kiln_ir::error::Error;
use kiln_ir::options::{Options, StatePair};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use quote::ToTokens;
use std::path::Path;
use syn::parse::{Parse, ParseStream};
use syn::{ExprPath, Ident, Lit, LitStr, Token, Visibility};

/// Expands the arguments of `include_model!`. `root` is the folder that the path is relative to.
///
/// # Errors
/// At the path for what is wrong with the model, at an option for what is wrong with it.
pub fn include_model(arguments: TokenStream, root: &Path) -> syn::Result<TokenStream> {
    syn::parse2::<Request>(arguments)?.expand(root)
}

/// `pub Name = "path", option = value, …`, behind `@ "target"` where the runtime knows what it is compiled for.
struct Request {
    vis: Visibility,
    path: LitStr,
    options: Options,
    /// Where each option's value stands, by the option's name.
    spans: Vec<(String, Span)>,
    /// The functions of custom operators, as they were written.
    paths: Vec<ExprPath>,
}

/// What the arguments of all macros begin with: `@ "target"`, where the runtime knows what it is compiled for, and `pub Name =`.
pub(super) struct Head {
    target: Option<String>,
    pub(super) vis: Visibility,
    pub(super) name: Ident,
}

impl Parse for Head {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let target = match input.parse::<Option<Token![@]>>()? {
            Some(_) => Some(input.parse::<LitStr>()?.value()),
            None => None,
        };
        if input.peek(LitStr) {
            let path: LitStr = input.parse()?;
            let name = type_name_of(&model_name(Path::new(&path.value())));
            let message =
                format!("a name for the model's type stands before the path: {name} = {:?}", path.value());
            return Err(syn::Error::new(path.span(), message));
        }
        let (vis, name) = (input.parse()?, input.parse()?);
        input.parse::<Token![=]>()?;
        Ok(Head { target, vis, name })
    }
}

impl Head {
    /// Sets the target, unless the options have one.
    pub(super) fn set_target(&self, options: &mut Options) -> syn::Result<()> {
        match (&self.target, options.target) {
            (Some(target), None) => {
                options.set("target", target).map_err(|e| syn::Error::new(Span::call_site(), e))
            }
            _ => Ok(()),
        }
    }
}

impl Parse for Request {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let head: Head = input.parse()?;
        let path = input.parse()?;
        let mut options = Options { name: Some(head.name.to_string()), ..Options::default() };
        let (mut spans, mut paths) = (Vec::new(), Vec::new());
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            spans.push(parse_option(input, &mut options, &mut paths)?);
        }
        head.set_target(&mut options)?;
        Ok(Request { vis: head.vis, path, options, spans, paths })
    }
}

/// Sets an option, and returns its name and where its value stands.
fn parse_option(
    input: ParseStream<'_>,
    options: &mut Options,
    paths: &mut Vec<ExprPath>,
) -> syn::Result<(String, Span)> {
    let name: Ident = input.parse()?;
    if name == "custom_op" && input.peek(syn::token::Paren) {
        return parse_custom_op(input, options, paths);
    }
    if name == "input_shape" && input.peek(syn::token::Paren) {
        return parse_input_shape(input, options);
    }
    if name == "state" && input.peek(syn::token::Paren) {
        return parse_state(input, options);
    }
    if name == "name" {
        return Err(syn::Error::new(
            name.span(),
            "the name stands before the path: include_model!(Name = \"…\")",
        ));
    }
    input.parse::<Token![=]>()?;
    let value: Lit = input.parse()?;
    let text = match &value {
        Lit::Str(s) => s.value(),
        Lit::Int(i) => i.base10_digits().to_string(),
        other => return Err(syn::Error::new(other.span(), "an option's value is a string or an integer")),
    };
    let known = Options::NAMES.contains(&name.to_string().as_str());
    let span = if known { value.span() } else { name.span() };
    options.set(&name.to_string(), &text).map_err(|e| syn::Error::new(span, e))?;
    Ok((name.to_string(), value.span()))
}

/// The end of arguments in parentheses, behind a comma or not.
fn end(arguments: ParseStream<'_>, wanted: &str) -> syn::Result<()> {
    arguments.parse::<Option<Token![,]>>()?;
    match arguments.is_empty() {
        true => Ok(()),
        false => Err(arguments.error(wanted)),
    }
}

/// `([1, 49, 40])` or `("audio", [1, 49, 40])`.
fn parse_input_shape(input: ParseStream<'_>, options: &mut Options) -> syn::Result<(String, Span)> {
    let arguments;
    syn::parenthesized!(arguments in input);
    let name: Option<LitStr> = arguments.parse()?;
    if name.is_some() {
        arguments.parse::<Token![,]>()?;
    }
    let sizes: syn::ExprArray = arguments.parse()?;
    end(&arguments, "an input has a name and a shape: input_shape(\"…\", [1, 49, 40])")?;
    let text = name.map_or(String::new(), |name| name.value() + "=") + &sizes.to_token_stream().to_string();
    options.set("input_shape", &text).map_err(|e| syn::Error::new_spanned(&sizes, e))?;
    let span = sizes.bracket_token.span.join();
    let index = options.input_shapes.len();
    Ok((format!("input_shape` {index}"), span))
}

/// `("h_out", "h_in")`.
fn parse_state(input: ParseStream<'_>, options: &mut Options) -> syn::Result<(String, Span)> {
    let arguments;
    syn::parenthesized!(arguments in input);
    let output: LitStr = arguments.parse()?;
    arguments.parse::<Token![,]>()?;
    let taken: LitStr = arguments.parse()?;
    end(&arguments, "a state has the names of an output and of an input: state(\"…\", \"…\")")?;
    options.states.push(StatePair { output: output.value(), input: taken.value() });
    Ok(("state".into(), output.span()))
}

/// `("MyOp", crate::kernels::my_op)`.
fn parse_custom_op(
    input: ParseStream<'_>,
    options: &mut Options,
    paths: &mut Vec<ExprPath>,
) -> syn::Result<(String, Span)> {
    let arguments;
    syn::parenthesized!(arguments in input);
    let name: LitStr = arguments.parse()?;
    arguments.parse::<Token![,]>()?;
    let path: ExprPath = arguments.parse()?;
    end(&arguments, "an operator has a name and a function: custom_op(\"…\", path::to::function)")?;
    let text = format!("{}={}", name.value(), path.to_token_stream());
    options.set("custom_op", &text).map_err(|e| syn::Error::new(name.span(), e))?;
    paths.push(path);
    Ok((format!("custom_op({:?}, …)", name.value()), name.span()))
}

impl Request {
    /// Where the option stands that an error is about.
    fn option_span(&self, error: &Error) -> Option<Span> {
        let Error::Options(problem) = error else { return None };
        let named = |(name, _): &&(String, Span)| problem.place.starts_with(&format!("option `{name}"));
        self.spans.iter().find(named).map(|(_, span)| *span)
    }

    fn expand(mut self, root: &Path) -> syn::Result<TokenStream> {
        let path = root.join(self.path.value());
        let at_schedule = |error| {
            let span = self.spans.iter().find(|(name, _)| name == "schedule").map(|(_, span)| *span);
            let message =
                format!("{error}\n    help: the path is relative to the folder of the crate's Cargo.toml");
            syn::Error::new(span.unwrap_or(self.path.span()), message)
        };
        let schedule = read_schedule(&mut self.options, root).map_err(at_schedule)?;
        let here = |error: Error| match error {
            Error::Io { .. } => syn::Error::new(
                self.path.span(),
                format!("{error}\n    help: the path is relative to the folder of the crate's Cargo.toml"),
            ),
            error => syn::Error::new(self.option_span(&error).unwrap_or(self.path.span()), error),
        };
        let (bytes, files) = read_files(&path).map_err(here)?;
        let (name, vis) = (model_name(&path), &self.vis);
        let expand = || {
            let compiled = compile(&bytes, &name, &self.options)?;
            let (code, warnings) =
                (compiled.tokens_with(&quote!(), &self.paths), self.warnings(&compiled.unused));
            Ok(quote!(#code #warnings))
        };
        // Paths of functions stand where the user wrote them: they cannot be kept.
        let code = match Keeper::of_process().filter(|_| self.paths.is_empty()) {
            Some(keeper) => {
                let depends = Depends { bytes: &bytes, name: &name, options: &self.options };
                keeper.or(&depends, expand)
            }
            None => expand(),
        };
        let code = with_visibility(code.map_err(here)?, &quote!(#vis));
        let watched = files.iter().chain(&schedule).map(|file| file.to_string_lossy());
        Ok(quote! {
            #code
            // Makes the compiler watch the model's files.
            #(const _: &[u8] = include_bytes!(#watched);)*
        })
    }

    /// Warnings at the option `schedule`: macros have none of their own, so a constant is used that is deprecated.
    fn warnings(&self, lines: &[String]) -> TokenStream {
        let named = |(name, _): &&(String, Span)| name == "schedule";
        let span = self.spans.iter().find(named).map_or(Span::call_site(), |(_, span)| *span);
        let warnings = lines.iter().map(|line| {
            let unused = Ident::new("UNUSED_LINE_OF_SCHEDULE", span);
            quote! {
                const _: () = {
                    #[deprecated(note = #line)]
                    const #unused: () = ();
                    #unused
                };
            }
        });
        warnings.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_missing_is_made_of_the_file() {
        let error = include_model(quote!("models/person-detect.tflite"), Path::new(".")).unwrap_err();
        let expected = "a name for the model's type stands before the path: PersonDetect = \"models/person-detect.tflite\"";
        assert_eq!(error.to_string(), expected);
    }
}
