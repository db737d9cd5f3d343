//! Writes a [`Program`] as Rust.
//!
//! The result is one private module and a `pub use` of the model's type, so that several models can stand in one file. Tokens are the
//! same through every door; [`pretty`] formats them for a file.
//!
//! | file | what it writes |
//! |---|---|
//! | this one | the module, constants, `new`, `invoke`, `invoke_async`, `reset` |
//! | `structure.rs` | the model's fields, `with_arena`, sharing of an arena |
//! | `io.rs` | accessors of inputs and outputs, the trait `kiln::Model` |
//! | `feed.rs` | `push_row` and `slide` |
//! | `camera.rs` | `push_line` |
//! | `call.rs`, `argument.rs` | calls of kernels and their arguments |
//! | `pipeline.rs`, `turns.rs` | loops over rows, and when their steps take turns |
//! | `event.rs`, `custom.rs` | events of layers, calls of the user's functions |

mod argument;
mod call;
mod camera;
mod custom;
mod event;
mod feed;
mod io;
mod pipeline;
#[cfg(test)]
mod pipeline_tests;
mod structure;
mod turns;

use crate::ir::Graph;
use crate::select::{Element, Port, Program};
use kiln_ir::options::{Float, Options};
use kiln_kernel_table::KernelId;
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// Where generated code stands.
#[derive(Clone, Copy, Debug)]
pub enum Place<'a> {
    /// In what a macro expands to. The functions of custom operators have these paths where the user wrote them: errors point there.
    Macro(&'a [syn::ExprPath]),
    /// In a file of a crate, whose lints and format are not meant for it. The data is in the file of that name beside it, or else in the code.
    File(Option<&'a str>),
}

/// The Rust of a compiled model: `vis use …::Name;` and the module that holds it.
pub fn emit(
    graph: &Graph,
    program: &Program,
    options: &Options,
    vis: &TokenStream,
    place: Place<'_>,
) -> TokenStream {
    let (paths, data, is_file) = match place {
        Place::Macro(paths) => (paths, None, false),
        Place::File(data) => (&[][..], data, true),
    };
    let names = Names::new(&type_name(graph, options));
    let (ty, module) = (&names.ty, &names.module);
    let doc = model_doc(graph, program, options);
    let weights = expand_constants(program, options, data);
    let structure = structure::expand_struct(program, &names, &doc);
    let holders = structure::expand_holders(program, &names);
    let inherent = expand_inherent(program, &names, options);
    let model = io::expand_model(graph, program, &names);
    let loops = pipeline::expand_loops(program, options.trace);
    let steps = call::expand_steps(program);
    let source = camera::expand_module(program, options);
    let budget = camera::expand_budget(program, options);
    let customs = custom::expand_customs(program, paths);
    let reproducible = expand_reproducible(options);
    let (skip, lint) = match is_file {
        false => (None, None),
        true => (Some(quote! { #[rustfmt::skip] }), Some(quote! { missing_debug_implementations, })),
    };
    quote! {
        #[allow(unreachable_pub)]
        #vis use #module::#ty;

        // Nobody uses every accessor of a model, and the lints of the crate that includes it are not meant for it.
        #[doc(hidden)]
        #skip
        #[allow(dead_code, #lint unreachable_pub, unused_imports, clippy::all, clippy::pedantic)]
        mod #module {
            use ::core::borrow::{Borrow, BorrowMut};
            use ::kiln::{self, kernels as k};

            #reproducible
            #structure
            #inherent
            #holders
            #model
            #loops
            #steps
            #customs
            #source
            #budget
            #weights
        }
    }
}

/// What reproducible floats ask of the runtime, checked where it is compiled.
fn expand_reproducible(options: &Options) -> Option<TokenStream> {
    (options.float == Float::Reproducible).then(|| {
        quote! {
            const _: () = assert!(
                !kiln::APPROXIMATES,
                "float = \"reproducible\" needs the functions of libm: leave out the feature `micromath` of the crate `kiln`",
            );
        }
    })
}

/// Tokens as a formatted file.
///
/// # Errors
/// The parser's message where the tokens are no Rust file, which is a bug in the emitter.
pub fn pretty(tokens: TokenStream) -> Result<String, String> {
    let file = syn::parse2(tokens).map_err(|e| e.to_string())?;
    Ok(spaced(&prettyplease::unparse(&file)))
}

/// Columns of a line in a file, where its data is broken.
const COLUMNS: usize = 100;

/// A file with data in strings of bytes: these go on in the next line, rather than beyond 100 columns.
pub fn broken(code: &str) -> String {
    let mut out = String::with_capacity(code.len() + code.len() / 32);
    for line in code.lines() {
        match line.split_once("*b\"").filter(|_| line.len() > COLUMNS) {
            Some((before, data)) => {
                out += before;
                out += "*b\"";
                break_bytes(data, before.len() + 3, &mut out);
            }
            None => out += line,
        }
        out.push('\n');
    }
    out
}

/// Appends the rest of a string of bytes, which begins at a column, and what follows.
fn break_bytes(mut data: &str, mut column: usize, out: &mut String) {
    while let Some(first) = data.chars().next() {
        let len = match (first, data.as_bytes().get(1)) {
            ('"', _) => break,
            ('\\', Some(b'x')) => 4,
            ('\\', _) => 2,
            _ => first.len_utf8(),
        };
        let (byte, rest) = data.split_at_checked(len).unwrap_or((data, ""));
        if column + len >= COLUMNS {
            *out += "\\\n        ";
            column = 8;
        }
        // A space there would be skipped with those that indent the line.
        let byte = if column == 8 && byte == " " { "\\x20" } else { byte };
        *out += byte;
        column += byte.len();
        data = rest;
    }
    *out += data;
}

/// With an empty line between items, as people write them.
fn spaced(code: &str) -> String {
    let starts = ["///", "#[", "pub ", "fn ", "impl ", "impl<", "mod ", "const ", "type "];
    let mut out = String::with_capacity(code.len() + code.len() / 16);
    let mut before = "";
    for line in code.lines() {
        let begins_item = starts.iter().any(|start| line.trim_start().starts_with(start));
        let ends_item = before == "}" || before.ends_with(" }") || before.ends_with(';');
        if begins_item && ends_item && indent(before) == indent(line) {
            out.push('\n');
        }
        out += line;
        out.push('\n');
        before = line;
    }
    out
}

fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// The identifiers of one model.
pub(crate) struct Names {
    pub(crate) ty: Ident,
    pub(crate) module: Ident,
}

impl Names {
    fn new(ty: &str) -> Self {
        Names { ty: Ident::new(ty, Span::call_site()), module: format_ident!("{}_model", snake_case(ty)) }
    }
}

/// Types and traits that emitted code names in its module, parameters of its types included, and those of the standard prelude; its modules, and primitive types.
#[rustfmt::skip]
const TAKEN: &[&str] = &[
    "A", "Arena", "Borrow", "BorrowMut", "F", "FastArena", "K", "Kept", "Lent", "T",
    "AsMut", "AsRef", "Box", "Clone", "Copy", "Default", "DoubleEndedIterator", "Drop", "Eq", "Err", "ExactSizeIterator", "Extend", "Fn", "FnMut", "FnOnce", "From", "FromIterator",
    "Into", "IntoIterator", "Iterator", "None", "Ok", "Option", "Ord", "PartialEq", "PartialOrd", "Result", "Send", "Sized", "Some", "String", "Sync", "ToOwned", "ToString", "TryFrom",
    "TryInto", "Unpin", "Vec",
    "BYTES", "bool", "char", "core", "custom", "f32", "f64", "i128", "i16", "i32", "i64", "i8", "isize", "k", "kiln", "source", "str", "u128", "u16", "u32", "u64", "u8", "usize", "weights",
];

/// The model's type name: the option, or the file's name in camel case; with `Model` in front where that alone is no identifier, or means something else already.
pub fn type_name(graph: &Graph, options: &Options) -> String {
    options.name.as_ref().map_or_else(|| type_name_of(&graph.name), |name| free_name(name.clone()))
}

/// The type's name of the model in a file of that name, without its ending.
pub fn type_name_of(model: &str) -> String {
    free_name(camel_case(model))
}

fn free_name(wanted: String) -> String {
    match is_identifier(&wanted) && !TAKEN.contains(&wanted.as_str()) {
        true => wanted,
        false => format!("Model{}", camel_case(&wanted)),
    }
}

/// Whether the text is one identifier and nothing else: no keyword, no `r#`, no spaces or comments around it.
fn is_identifier(text: &str) -> bool {
    syn::parse_str::<Ident>(text).is_ok_and(|ident| ident == text && !text.starts_with("r#"))
}

fn camel_case(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|w| !w.is_empty());
    words.map(|w| w[..1].to_ascii_uppercase() + &w[1..]).collect()
}

fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for (i, c) in name.chars().enumerate() {
        if c.is_ascii_uppercase() && i > 0 && !out.ends_with('_') {
            out.push('_');
        }
        out.push(c.to_ascii_lowercase());
    }
    out
}

fn model_doc(graph: &Graph, program: &Program, options: &Options) -> String {
    let floats = match options.float {
        Float::Fast => "",
        Float::Reproducible => " Floats have the same bits on every processor.",
    };
    let fast = program.fast_bytes.map_or(String::new(), |bytes| format!("{bytes} bytes of fast arena, "));
    format!(
        " The model `{}`, compiled by Kiln: {} steps, {fast}{} bytes of arena, {} bytes of state, {} bytes of constants.{floats}",
        graph.name,
        program.calls.last().map_or(0, |c| c.step + 1),
        program.arena_bytes,
        program.state_bytes,
        program.constant_bytes()
    )
}

fn expand_inherent(program: &Program, names: &Names, options: &Options) -> TokenStream {
    let ty = &names.ty;
    let (arena_bytes, state_bytes) = (bytes(program.arena_bytes), bytes(program.state_bytes));
    let constant_bytes = bytes(program.constant_bytes());
    let needs_start = structure::needs_start(program);
    let start = needs_start.then(|| {
        quote! {
            if !self.kept.borrow().started {
                self.reset();
            }
        }
    });
    let fast_constant = structure::expand_fast_constant(program);
    let new_fast = structure::expand_new_fast(program);
    let (parameters, holders) = structure::expand_generics(program);
    let descriptions = io::expand_descriptions(program);
    let rows = program.fed.as_ref().map(feed::expand_constants);
    let counts = structure::expand_counts(program);
    let camera = camera::expand_methods(program);
    let lines = camera::expand_constants(program);
    let accessors = io::expand_accessors(program);
    let methods = match &program.fed {
        Some(fed) => feed::expand_methods(program, fed, start, options.trace),
        None => expand_invoke(program, start, options.trace),
    };
    let reset = expand_reset(program, needs_start);
    quote! {
        impl #ty {
            /// Bytes of RAM for activations, inputs and outputs included.
            pub const ARENA_BYTES: usize = #arena_bytes;
            #fast_constant
            /// Bytes of RAM that keep their contents from one inference to the next.
            pub const STATE_BYTES: usize = #state_bytes;
            /// Bytes of weights and other model data in flash.
            pub const CONSTANT_BYTES: usize = #constant_bytes;
            #rows
            #lines

            #descriptions

            /// A model ready to run. Usable in a `static`.
            pub const fn new() -> Self {
                Self { arena: kiln::Arena::new(), kept: Kept::NEW, #new_fast #counts }
            }
        }

        impl<#parameters> #ty<#holders> {
            #accessors

            #methods

            #camera

            #reset
        }
    }
}

/// `invoke` of a model that is given its inputs whole. `start` sets the state on the first use.
fn expand_invoke(program: &Program, start: Option<TokenStream>, trace: bool) -> TokenStream {
    let memories = expand_memories(program);
    let calls = call::expand_stages(program, trace);
    let turns = turns::expand_turns(program);
    let body = quote! { #start #memories #calls };
    let invoke = match program.cores {
        ..=1 => quote! {
            /// Runs the model once. The inputs' memory is reused: write every input before each call.
            pub fn invoke(&mut self) {
                #body
            }
        },
        cores => {
            let doc = format!(
                " As `invoke`, with the help of a crew: of {cores} threads at most, the caller's among them."
            );
            let crew = match call::asks_for_crew(program.calls.iter()) {
                true => quote! { crew },
                false => quote! { _crew },
            };
            quote! {
                /// Runs the model once. The inputs' memory is reused: write every input before each call.
                pub fn invoke(&mut self) {
                    self.invoke_on(&kiln::Crew::new());
                }

                #[doc = #doc]
                pub fn invoke_on(&mut self, #crew: &kiln::Crew) {
                    #body
                }
            }
        }
    };
    quote! {
        #invoke

        /// As `invoke`, and lets other tasks run after each step: for models that would hold up an async executor for too long.
        ///
        /// A future that is dropped before it is ready leaves a model with state between two inferences: `reset` it.
        pub async fn invoke_async(&mut self) {
            #start
            #turns
        }
    }
}

/// `let` bindings of the memories that the steps use.
fn expand_memories(program: &Program) -> TokenStream {
    let bindings = argument::memories(program.calls.iter()).map(|memory| {
        let (ident, borrow) = (argument::memory_ident(memory), argument::borrow_memory(memory));
        quote! { let #ident = #borrow; }
    });
    quote! { #(#bindings)* }
}

fn expand_reset(program: &Program, needs_start: bool) -> TokenStream {
    let body = program.state_inits.iter().map(|init| {
        let region = argument::cells(&init.region.seen_as(Element::U8));
        let [copy, fill] = [KernelId::Copy, KernelId::Fill].map(call::expand_name);
        match init.constant {
            Some(id) => {
                let constant = argument::constant(program, id, Element::U8);
                let linear = argument::linear(init.region.len);
                quote! { #copy(#linear, #constant, #region); }
            }
            None => quote! { #fill(0u8, #region); },
        }
    });
    let memory =
        (!program.state_inits.is_empty()).then(|| quote! { let s = self.kept.borrow_mut().state.memory(); });
    let started = needs_start.then(|| quote! { self.kept.borrow_mut().started = true; });
    let restart = feed::expand_restart(program);
    let lines = camera::expand_restart(program);
    let doc = match program.fed.map(|fed| fed.slide.is_some()) {
        None => " Sets the model's state to what it was at first. Models without state have nothing to reset.",
        Some(false) => " Sets the model's state to what it was at first, and drops the rows of an input that is not complete.",
        Some(true) => " Starts over, as a new model: forgets all frames.",
    };
    quote! {
        #[doc = #doc]
        pub fn reset(&mut self) {
            #memory
            #(#body)*
            #started
            #restart
            #lines
        }
    }
}

/// The module with the model's data: in its code, or read from a file beside it.
fn expand_constants(program: &Program, options: &Options, file: Option<&str>) -> TokenStream {
    let section = options.weights_section.as_ref().map(|name| quote! { #[link_section = #name] });
    let mut begin = 0;
    let statics = program.constants.iter().map(|constant| {
        let ident = Ident::new(&constant.ident, Span::call_site());
        let doc = format!(" {}", constant.doc);
        let data = constant.data.bytes();
        let len = bytes(data.len());
        let value = match file {
            None => {
                let data = Literal::byte_string(data);
                quote! { kiln::Bytes(*#data) }
            }
            Some(_) => {
                let begin = bytes(begin);
                quote! { part(#begin) }
            }
        };
        begin += data.len();
        quote! {
            #[doc = #doc]
            #section
            pub(super) static #ident: kiln::Bytes<#len> = #value;
        }
    });
    let statics: Vec<TokenStream> = statics.collect();
    let part = file.filter(|_| begin > 0).map(|file| expand_part(file, begin));
    quote! {
        /// Model data in flash, little-endian, packed in the order in which the kernels read it. Biases include the operand's zero point.
        mod weights {
            use ::kiln;
            #part
            #(#statics)*
        }
    }
}

/// What reads data from a file of that many bytes while the crate is compiled.
fn expand_part(file: &str, len: usize) -> TokenStream {
    let len = bytes(len);
    quote! {
        /// All data. A file of another length does not compile.
        const DATA: &[u8; #len] = include_bytes!(#file);

        const fn part<const LEN: usize>(begin: usize) -> kiln::Bytes<LEN> {
            match DATA.split_at(begin).1.first_chunk() {
                Some(part) => kiln::Bytes(*part),
                // Never: all parts lie in it.
                None => kiln::Bytes([0; LEN]),
            }
        }
    }
}

/// Name and type of a port, as code: rustdoc would take `[10]` for a link.
fn described(port: &Port) -> String {
    format!("`{:?}`, `{}{:?}`, row-major", port.name, port.ty.dtype.name(), port.ty.shape.dims())
}

/// Lines of documentation.
fn docs(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|line| if line.is_empty() { String::new() } else { format!(" {line}") }).collect()
}

fn bytes(count: usize) -> Literal {
    Literal::usize_unsuffixed(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_is_broken_into_lines_and_stays_the_same() {
        let data: Vec<u8> = (0..=255).chain([b' '; 300]).chain(*b"\"\\x").collect();
        let literal = Literal::byte_string(&data);
        let code = broken(&pretty(quote! { static A: kiln::Bytes<559> = kiln::Bytes(*#literal); }).unwrap());
        assert!(code.lines().count() > 8 && code.lines().all(|line| line.len() <= COLUMNS), "{code}");
        let parsed: syn::ItemStatic = syn::parse_str(&code).unwrap();
        let syn::Expr::Call(call) = *parsed.expr else { panic!("{code}") };
        let syn::Expr::Unary(star) = &call.args[0] else { panic!("{code}") };
        let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::ByteStr(bytes), .. }) = &*star.expr else {
            panic!("{code}")
        };
        assert_eq!(bytes.value(), data);
    }

    #[test]
    fn names_become_identifiers() {
        let named = |name: &str| type_name(&Graph::new(name), &Options::default());
        assert_eq!(named("kws"), "Kws");
        assert_eq!(named("person-detect_v2"), "PersonDetectV2");
        assert_eq!(named("96x96"), "Model96x96");
        assert_eq!(named("self"), "ModelSelf");
        assert_eq!(named("…"), "Model");
        let taken = ["default", "arena", "kept", "fast-arena", "a", "option"].map(named);
        assert_eq!(
            taken,
            ["ModelDefault", "ModelArena", "ModelKept", "ModelFastArena", "ModelA", "ModelOption"]
        );
        assert_eq!(snake_case("PersonDetectV2"), "person_detect_v2");
    }

    #[test]
    fn names_that_users_give_become_identifiers() {
        let named = |name: &str| {
            let options = Options { name: Some(name.into()), ..Options::default() };
            type_name(&Graph::new("kws"), &options)
        };
        assert_eq!(named("kws_v2"), "kws_v2");
        for (name, ident) in
            [("r#type", "ModelRType"), (" Kws ", "ModelKws"), ("Kws /**/", "ModelKws"), ("_", "Model")]
        {
            assert_eq!(named(name), ident);
            assert!(is_identifier(ident));
        }
    }
}
