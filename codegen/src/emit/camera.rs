//! `push_line` of a model that takes the lines of a camera, and the module `source` with what is done to them.
//!
//! A line is given to `kiln::camera::Camera::push` until it completes no more rows of the input. Each row is written to its place: in the ring of a model that takes rows, which then advances; or in
//! the whole input.

use super::argument::float;
use super::{bytes, docs, feed};
use crate::select::{Camera, Elements, Port, Program};
use kiln_ir::options::Options;
use kiln_ir::source::{Like, Order, PixelFormat, Resize};
use proc_macro2::{Literal, TokenStream};
use quote::quote;

/// The module with what is done to lines.
pub(super) fn expand_module(program: &Program, options: &Options) -> Option<TokenStream> {
    let camera = program.camera.as_ref()?;
    let port = program.inputs.first()?;
    let section = options.weights_section.as_ref().map(|name| quote! { #[link_section = #name] });
    let (format, view) = (expand_format(camera), expand_view(camera));
    let (resized, new) = expand_resize(camera);
    let (width, channels) = (bytes(camera.width), bytes(camera.channels));
    let element = expand_element(camera, port, section.as_ref());
    let held = quote! { { <Resized as kiln::camera::Resize>::ROWS * #width * #channels } };
    let kept = match camera.source.red_at() {
        None => quote! { kiln::camera::Camera<Resized, #channels, #held> },
        Some(_) => {
            let raw = bytes(3 * camera.source.line_bytes() + 1);
            quote! { kiln::camera::Bayer<Resized, #channels, #held, #raw> }
        }
    };
    Some(quote! {
        /// What is done to the lines of the camera.
        mod source {
            use ::kiln;

            const VIEW: kiln::camera::View = #view;
            type Format = #format;
            type Resized = #resized;
            pub(super) type Camera = #kept;
            /// Formats, places and weights.
            #section
            pub(super) static SOURCE: kiln::camera::Source<Format, Resized> =
                kiln::camera::Source::new(VIEW, Resized::#new);

            #element
        }
    })
}

fn expand_format(camera: &Camera) -> TokenStream {
    let like = match camera.source.like {
        Like::OpenCv => quote! { kiln::camera::OpenCv },
        Like::Pillow => quote! { kiln::camera::Pillow },
    };
    let format = match camera.source.format {
        PixelFormat::Rgb565Be => quote! { kiln::camera::Rgb565<#like, true> },
        PixelFormat::Rgb565Le => quote! { kiln::camera::Rgb565<#like, false> },
        PixelFormat::Rgb888 => quote! { kiln::camera::Rgb888<#like> },
        PixelFormat::Bgr888 => quote! { kiln::camera::Bgr888<#like> },
        PixelFormat::Gray8 => quote! { kiln::camera::Gray8 },
        PixelFormat::Yuyv => quote! { kiln::camera::Yuv422<#like, false> },
        PixelFormat::Uyvy => quote! { kiln::camera::Yuv422<#like, true> },
        PixelFormat::Rggb | PixelFormat::Bggr | PixelFormat::Grbg | PixelFormat::Gbrg => {
            let [x, y] = camera.source.red_at().unwrap_or_default().map(bytes);
            quote! { kiln::camera::Mosaic<#like, #x, #y> }
        }
    };
    match camera.source.order {
        Order::Rgb => format,
        Order::Bgr => quote! { kiln::camera::Bgr<#format> },
    }
}

fn expand_view(camera: &Camera) -> TokenStream {
    let view = camera.view;
    let [lines, left, top, width, height] =
        [camera.source.height, view.left, view.top, view.width, view.height].map(bytes);
    let mirrored = camera.source.is_mirrored();
    quote! {
        kiln::camera::View {
            lines: #lines,
            left: #left,
            top: #top,
            width: #width,
            height: #height,
            mirrored: #mirrored,
        }
    }
}

/// The way to another size, and the call that makes its tables.
fn expand_resize(camera: &Camera) -> (TokenStream, TokenStream) {
    let [width, height] = [camera.width, camera.height].map(bytes);
    let filter = match (camera.resize, camera.source.like) {
        (Resize::Nearest, Like::OpenCv) => {
            return (quote! { kiln::camera::Nearest<#width, #height> }, quote! { new(&VIEW) });
        }
        (Resize::Nearest, Like::Pillow) => {
            return (quote! { kiln::camera::Nearest<#width, #height> }, quote! { centre(&VIEW) });
        }
        (Resize::Bilinear, Like::OpenCv) => {
            return (quote! { kiln::camera::Linear<#width, #height> }, quote! { new(&VIEW) });
        }
        (Resize::Area, Like::OpenCv) => {
            return (quote! { kiln::camera::Area<#width, #height> }, quote! { new(&VIEW) });
        }
        (Resize::Bilinear, Like::Pillow) => quote! { kiln::camera::Filter::Triangle },
        (Resize::Area, Like::Pillow) => quote! { kiln::camera::Filter::Box },
    };
    let resized = quote! {
        kiln::camera::Filtered<
            #width,
            #height,
            { kiln::camera::most_taps(#filter, VIEW.width, #width) },
            { kiln::camera::most_taps(#filter, VIEW.height, #height) },
        >
    };
    (resized, quote! { new(&VIEW, #filter) })
}

/// `fn element`: what a value of a channel becomes.
fn expand_element(camera: &Camera, port: &Port, section: Option<&TokenStream>) -> TokenStream {
    let element = port.region.element;
    let (constants, value) = match &camera.elements {
        Elements::Same => (None, quote! { value }),
        Elements::Signed => (None, quote! { (value ^ 0x80) as i8 }),
        Elements::Table(tables) => {
            let (count, tables) =
                (bytes(tables.len()), tables.iter().map(|table| Literal::byte_string(table)));
            let constants = quote! {
                /// The elements of values 0 to 255: of all channels, or of each.
                #section
                static ELEMENTS: [[u8; 256]; #count] = [#(*#tables),*];
            };
            let value = quote! {
                let table = ELEMENTS.get(channel).or(ELEMENTS.first());
                table.and_then(|table| table.get(usize::from(value))).map_or(0, |&element| element as #element)
            };
            (Some(constants), value)
        }
        Elements::Floats { mean, scale } => {
            let (means, scales) = (mean.len(), scale.len());
            let [means, scales] = [means, scales].map(bytes);
            let (mean, scale) = (mean.iter().copied().map(float), scale.iter().copied().map(float));
            let constants = quote! {
                /// What is subtracted: for all channels, or for each.
                const MEAN: [f32; #means] = [#(#mean),*];
                /// What the difference is multiplied by.
                const SCALE: [f32; #scales] = [#(#scale),*];
            };
            let value = quote! {
                let [mean, scale] = [MEAN.get(channel).or(MEAN.first()), SCALE.get(channel).or(SCALE.first())]
                    .map(|number| number.copied().unwrap_or(0.0));
                (f32::from(value) - mean) * scale
            };
            (Some(constants), value)
        }
    };
    quote! {
        #constants

        /// The element of a value of a channel.
        pub(super) fn element(channel: usize, value: u8) -> #element {
            #value
        }
    }
}

/// The field that holds what is kept between lines.
pub(super) fn expand_field(program: &Program) -> Option<TokenStream> {
    program.camera.as_ref().map(|_| quote! { camera: source::Camera, })
}

/// Its first value.
pub(super) fn expand_new(program: &Program) -> Option<TokenStream> {
    program.camera.as_ref().map(|_| quote! { camera: source::Camera::new(), })
}

/// Holds the lines of the camera to the budget, too, where rustc knows how many bytes they take.
pub(super) fn expand_budget(program: &Program, options: &Options) -> Option<TokenStream> {
    program.camera.as_ref()?;
    let budget = options.ram?;
    let planned = program.arena_bytes + program.fast_bytes.unwrap_or(0) + program.state_bytes;
    let over = format!(
        "option `ram`: arena and state take {planned} of {budget} bytes, and the lines of the camera more than the rest: \
         raise the budget, or resize by `nearest`, which holds the least"
    );
    let [planned, budget] = [planned, budget].map(bytes);
    Some(quote! {
        const _: () = assert!(#planned + ::core::mem::size_of::<source::Camera>() <= #budget, #over);
    })
}

/// Drops the lines of a frame that is not complete.
pub(super) fn expand_restart(program: &Program) -> Option<TokenStream> {
    program.camera.as_ref().map(|_| quote! { self.camera.restart(); })
}

/// Numbers that firmware needs.
pub(super) fn expand_constants(program: &Program) -> Option<TokenStream> {
    let source = &program.camera.as_ref()?.source;
    let (lines, line) = (bytes(source.height), bytes(source.line_bytes()));
    Some(quote! {
        /// Lines of a frame of the camera.
        pub const LINES: usize = #lines;
        /// Bytes of a line of the camera.
        pub const LINE_BYTES: usize = #line;
        /// Bytes of RAM that are kept between lines, beside arena and state.
        pub const SOURCE_BYTES: usize = ::core::mem::size_of::<source::Camera>();
    })
}

/// `push_line`, and `restart` of a model that takes its input whole.
pub(super) fn expand_methods(program: &Program) -> Option<TokenStream> {
    let (camera, port) = (program.camera.as_ref()?, program.inputs.first()?);
    let answer = feed::Answer::of(program);
    let element = port.region.element;
    let (offset, len) = (bytes(port.region.offset), bytes(port.region.len));
    let (memory, row) = (feed::memory_mut(port), bytes(camera.width * camera.channels));
    let line = bytes(camera.source.line_bytes());
    let (index, complete, end) = match &program.fed {
        Some(fed) => {
            let tick = feed::tick(fed);
            (tick, quote! { complete |= self.advance(); }, None)
        }
        None => {
            let last = bytes(camera.height - 1);
            let index = match camera.source.is_upside_down() {
                // Beyond the last row nothing is written.
                true => quote! { (#last as usize).wrapping_sub(self.camera.row()) },
                false => quote! { self.camera.row() },
            };
            (
                index,
                quote! { complete |= self.camera.row() > #last; },
                Some(quote! {
                    if complete {
                        self.invoke();
                    }
                }),
            )
        }
    };
    let give = match answer.one {
        true => quote! { if complete { Some(self.output()) } else { None } },
        false => quote! { complete },
    };
    let ret = &answer.option;
    let docs = docs(&[
        &format!(
            "Takes the next line of the camera: {} pixels, of a frame of {} lines.",
            camera.source.width, camera.source.height
        ),
        "",
        &format!("With the line that completes the input, {}", answer.given("the next frame begins")),
        "The other lines of a frame are pushed all the same. The line after the last is the first of the next frame.",
        &expand_values(camera, port),
    ]);
    let restart = program.fed.is_none().then(|| {
        quote! {
            /// Drops the lines of a frame that is not complete: the next line is the first of a new one.
            pub fn restart(&mut self) {
                self.camera.restart();
            }
        }
    });
    Some(quote! {
        #(#[doc = #docs])*
        pub fn push_line(&mut self, line: &[u8; #line]) -> #ret {
            let mut complete = false;
            loop {
                let index = #index;
                let row = kiln::row_mut(#memory.get_mut::<#element, #offset, #len>(), #row, index);
                if !self.camera.push(&source::SOURCE, line, row, source::element) {
                    break;
                }
                #complete
            }
            #end
            #give
        }

        #restart
    })
}

/// What pixels become, in words.
fn expand_values(camera: &Camera, port: &Port) -> String {
    let real = |stored: i32| port.ty.scale().map(|scale| (stored - port.ty.zero_point()) as f32 * scale);
    let range = |low: i32, high: i32| match (real(low), real(high)) {
        (Some(from), Some(to)) => format!(": for the model {from} to {to}"),
        _ => String::new(),
    };
    match &camera.elements {
        Elements::Same => format!("Pixels of 0 to 255 are stored as they are{}.", range(0, 255)),
        Elements::Signed => format!("Pixels of 0 to 255 are stored as -128 to 127{}.", range(-128, 127)),
        Elements::Table(_) => "Pixels are normalised and quantised by a table.".into(),
        Elements::Floats { .. } => "Pixels are floats: less the mean, times the scale.".into(),
    }
}
