//! The arguments of `features!`, and the streaming type around the graph of a frame.

use super::request::Head;
use super::{built_target, out_folder, write_whole};
use crate::features::{Features, Keys, Start};
use crate::{compile_graph, formatted};
use kiln_ir::error::{Error, Problem};
use kiln_ir::options::Options;
use kiln_ir::DType;
use proc_macro2::{Literal, Span, TokenStream};
use quote::{format_ident, quote};
use std::path::PathBuf;
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Lit, Token, Visibility};

/// Options of the compiler that are keys, too.
const OPTIONS: [&str; 6] = ["optimize", "float", "target", "weights_section", "ram", "flash"];

/// Expands the arguments of `features!`.
///
/// # Errors
/// At the key that does not fit, or at the name for one that is missing.
pub fn features(arguments: TokenStream) -> syn::Result<TokenStream> {
    syn::parse2::<Request>(arguments)?.expand()
}

/// Compiles a description of features in a build script, in the form that `kiln::features!` takes: `pub Mel = { like = "librosa", … }`. It becomes `OUT_DIR/Mel.rs`, whose path is returned. The crate then says
/// `kiln::include_compiled!(Mel);`.
///
/// # Errors
/// [`Error::Options`] for what is wrong with the description, or outside a build script.
pub fn build_features(description: &str) -> Result<PathBuf, Error> {
    let wrong = |error: syn::Error| {
        let what = error.to_string();
        Error::Options(Problem { place: "build_features".into(), what, help: String::new() })
    };
    let out = out_folder("build_features", "call it from a build script, or use `kiln::features!`")?;
    let mut request = syn::parse_str::<Request>(description).map_err(wrong)?;
    request.options.target = request.options.target.or_else(built_target);
    let code = formatted(request.expand().map_err(wrong)?)?;
    let file = out.join(format!("{}.rs", request.name));
    write_whole(&file, code)?;
    Ok(file)
}

/// `pub Name = { key = value, … }`, behind `@ "target"` where the runtime knows what it is compiled for.
struct Request {
    vis: Visibility,
    name: Ident,
    keys: Keys,
    options: Options,
    /// Where each key's value stands, by the key's name.
    spans: Vec<(String, Span)>,
}

impl Parse for Request {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let head: Head = input.parse()?;
        let form = "the keys stand in braces: features!(Name = { like = \"librosa\", … })";
        if !input.peek(syn::token::Brace) {
            return Err(input.error(form));
        }
        let description;
        syn::braced!(description in input);
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error(form));
        }
        // The frame's own type stands in the module of this one.
        let options = Options { name: Some("Frame".into()), ..Options::default() };
        let (vis, name) = (head.vis.clone(), head.name.clone());
        let mut request = Request { vis, name, keys: Keys::default(), options, spans: Vec::new() };
        while !description.is_empty() {
            request.parse_key(&description)?;
            if !description.is_empty() {
                description.parse::<Token![,]>()?;
            }
        }
        head.set_target(&mut request.options)?;
        Ok(request)
    }
}

impl Request {
    fn parse_key(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let key: Ident = input.parse()?;
        input.parse::<Token![=]>()?;
        let value: Lit = input.parse()?;
        let text = match &value {
            Lit::Str(text) => text.value(),
            Lit::Int(number) => number.base10_digits().into(),
            Lit::Float(number) => number.base10_digits().into(),
            Lit::Bool(flag) => flag.value.to_string(),
            other => {
                return Err(syn::Error::new(other.span(), "a value is a string, a number, true or false"))
            }
        };
        let name = key.to_string();
        let is_option = OPTIONS.contains(&name.as_str());
        let is_key = Keys::names().any(|known| known == name);
        let set = match is_option {
            true => self.options.set(&name, &text),
            false => self.keys.set(&name, &text),
        };
        let span = if is_option || is_key { value.span() } else { key.span() };
        set.map_err(|error| syn::Error::new(span, error))?;
        self.spans.push((name, span));
        Ok(())
    }

    /// An error at the key or option that it names.
    fn at_key(&self, error: Error) -> syn::Error {
        let place = match &error {
            Error::Options(problem) => problem.place.as_str(),
            Error::OverBudget(_) => "option `ram`",
            _ => "",
        };
        let named = |(name, _): &&(String, Span)| place.ends_with(&format!("`{name}`"));
        let span = self.spans.iter().find(named).map_or(self.name.span(), |(_, span)| *span);
        syn::Error::new(span, error)
    }

    fn expand(&self) -> syn::Result<TokenStream> {
        let features = Features::of(&self.keys).map_err(|error| self.at_key(error))?;
        let graph = features.graph(&self.name.to_string());
        let has_state = !graph.states.is_empty();
        let frame =
            compile_graph(graph, &self.options).map_err(|error| self.at_key(error))?.tokens(&quote!(pub));
        let (vis, name) = (&self.vis, &self.name);
        let module = format_ident!("{}_features", name.to_string().to_lowercase());
        let stream = expand_stream(name, &features, has_state);
        Ok(quote! {
            #[allow(unreachable_pub)]
            #vis use #module::#name;

            // Nobody uses every constant, and the lints of the crate around it are not meant for it.
            #[doc(hidden)]
            #[allow(dead_code, unreachable_pub, clippy::all, clippy::pedantic)]
            mod #module {
                #frame

                #stream
            }
        })
    }
}

/// The type that takes a stream of samples.
fn expand_stream(name: &Ident, features: &Features, has_state: bool) -> TokenStream {
    let [rate, hop, length, count] =
        [features.sample_rate(), features.hop(), features.length(), features.count()]
            .map(Literal::usize_unsuffixed);
    let (sample, silence) = match features.samples() {
        DType::F32 => (quote!(f32), quote!(0.0)),
        _ => (quote!(i16), quote!(0)),
    };
    let start = match features.start() {
        Start::Zeros(0) | Start::Skipped(0) => quote!(new(#silence)),
        Start::Zeros(zeros) => {
            let zeros = Literal::usize_unsuffixed(zeros);
            quote!(behind_silence(#silence, #zeros))
        }
        Start::Mirrored(_) => quote!(mirrored(#silence)),
        Start::Skipped(samples) => {
            let samples = Literal::usize_unsuffixed(samples);
            quote!(behind_samples(#silence, #samples))
        }
    };
    let value = match features.values() {
        DType::I16 => quote!(i16),
        DType::I8 => quote!(i8),
        _ => quote!(f32),
    };
    // The first frames are those of no features yet.
    let delay = Literal::usize_unsuffixed(features.delay());
    let is_late = features.delay() > 0;
    let early = is_late.then(|| quote!(early: usize,));
    let [none_yet, none_again] =
        [is_late.then(|| quote!(early: Self::DELAY,)), is_late.then(|| quote!(self.early = Self::DELAY;))];
    let push = match is_late {
        false => quote! {
            let frame = self.frames.push(samples)?;
            *self.frame.input_mut() = *frame;
            self.frame.invoke();
            Some(self.frame.output())
        },
        true => quote! {
            loop {
                let frame = self.frames.push(samples)?;
                *self.frame.input_mut() = *frame;
                self.frame.invoke();
                match self.early {
                    0 => return Some(self.frame.output()),
                    early => self.early = early.wrapping_sub(1),
                }
            }
        },
    };
    // What is remembered beside samples: the estimate of noise, and frames.
    let forget = has_state.then(|| quote!(self.frame.reset();));
    let doc = format!(
        " Features like those of {}: {count} for every {hop} samples, of frames of {length} samples at {rate} Hz.",
        features.like().name()
    );
    quote! {
        type Frames = ::kiln::frontend::Frames<#sample, #length, #hop>;

        #[doc = #doc]
        pub struct #name {
            frames: Frames,
            #early
            frame: Frame,
        }

        impl #name {
            /// Samples a second.
            pub const SAMPLE_RATE: u32 = #rate;
            /// Samples from a frame to the next.
            pub const HOP: usize = #hop;
            /// Samples of a frame, which are held.
            pub const LENGTH: usize = #length;
            /// Features of a frame.
            pub const FEATURES: usize = #count;
            /// Frames that come behind a frame before its features are returned.
            pub const DELAY: usize = #delay;
            /// Bytes of RAM to compute in.
            pub const ARENA_BYTES: usize = Frame::ARENA_BYTES;
            /// Bytes of tables in flash.
            pub const CONSTANT_BYTES: usize = Frame::CONSTANT_BYTES;

            const START: Frames = Frames::#start;

            /// One that has heard nothing yet. Usable in a `static`.
            pub const fn new() -> Self {
                Self { frames: Self::START, #none_yet frame: Frame::new() }
            }

            /// Takes samples from the beginning of `samples` until a frame is complete, and returns its features. `None` once all samples are taken, so that a loop until then takes them all.
            pub fn push(&mut self, samples: &mut &[#sample]) -> Option<&[#value; #count]> {
                #push
            }

            /// Forgets all samples.
            pub fn reset(&mut self) {
                self.frames = Self::START;
                #none_again
                #forget
            }
        }

        impl Default for #name {
            fn default() -> Self {
                Self::new()
            }
        }
    }
}
