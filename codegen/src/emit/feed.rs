//! The methods of a model that takes its input row by row: `push_row` and `invoke`, or `slide`.
//!
//! The model counts its rows in `tick`. A row is written to its place in the input's ring, then `advance` runs the tick of the first
//! pipeline that the row was missing for; when it was the last row, what is left of the pipeline and all steps behind it.
//!
//! A sliding model counts on for ever: before the count repeats, it goes back by the period after which every ring is as it was.

use super::call::expand_stage;
use super::pipeline::{self, expand_trace_end, Stage};
use super::{bytes, camera, described, docs, expand_memories};
use crate::select::{Element, Fed, Memory, Port, Program, Slide};
use proc_macro2::TokenStream;
use quote::quote;

/// `ROWS` and `ROW_LEN`, and `HOP` of a sliding model.
pub(super) fn expand_constants(fed: &Fed) -> TokenStream {
    let (rows, row) = (bytes(fed.rows), bytes(fed.row));
    let hop = fed.slide.map(|slide| {
        let hop = bytes(slide.hop);
        quote! {
            /// Frames from one output to the next.
            pub const HOP: usize = #hop;
        }
    });
    let doc = match fed.slide {
        Some(_) => " Frames of a window.",
        None => " Rows of an input.",
    };
    let row_doc = match fed.slide {
        Some(_) => " Elements of a frame.",
        None => " Elements of a row.",
    };
    quote! {
        #[doc = #doc]
        pub const ROWS: usize = #rows;
        #[doc = #row_doc]
        pub const ROW_LEN: usize = #row;
        #hop
    }
}

/// The field that counts rows, where that is not kept: rows in the arena are lost when the arena is lent to another model.
pub(super) fn counts_in_model(program: &Program) -> bool {
    program.fed.is_some_and(|fed| fed.slide.is_none())
}

/// The field that counts rows, where they are kept.
pub(super) fn counts_in_kept(program: &Program) -> bool {
    program.fed.is_some_and(|fed| fed.slide.is_some())
}

/// What `reset` does besides setting the state.
pub(super) fn expand_restart(program: &Program) -> Option<TokenStream> {
    let fed = program.fed?;
    let tick = tick_mut(&fed);
    Some(quote! { #tick = 0; })
}

/// All that takes rows. `start` sets the state on the first use.
pub(super) fn expand_methods(
    program: &Program,
    fed: &Fed,
    start: Option<TokenStream>,
    trace: bool,
) -> TokenStream {
    let Some(port) = program.inputs.first() else { return TokenStream::new() };
    let advance = expand_advance(program, fed, start, trace);
    let api = match fed.slide {
        Some(slide) => expand_slide(program, fed, slide, port),
        None => expand_push_row(program, fed, port),
    };
    quote! { #api #advance }
}

/// `kiln::Model::input_bytes_mut` of the only input: the place of the next row.
pub(super) fn expand_row_bytes(program: &Program, fed: &Fed) -> Option<TokenStream> {
    let port = program.inputs.first()?;
    let element = port.region.element.bytes();
    let (offset, len) = (bytes(port.region.offset), bytes(port.region.len * element));
    let (memory, tick, row) = (memory_mut(port), tick(fed), bytes(fed.row * element));
    Some(quote! {
        let tick = #tick;
        match index {
            0 => kiln::row_mut(#memory.get_mut::<u8, #offset, #len>(), #row, tick),
            _ => &mut [],
        }
    })
}

fn expand_push_row(program: &Program, fed: &Fed, port: &Port) -> TokenStream {
    let answer = Answer::of(program);
    let element = port.region.element;
    let (row, all) = (bytes(fed.row), bytes(fed.rows * fed.row));
    let write = expand_write(fed, port);
    let what = described(port);
    let push_docs = docs(&[
        &format!(
            "Takes the next row of the input {what}: the {} elements of one index of its second axis.",
            fed.row
        ),
        "",
        &format!(
            "With row {} the input is complete, and {}",
            fed.rows,
            answer.given("the next row is pushed")
        ),
        "The row after that is the first of the next input.",
    ]);
    let restart = camera::expand_restart(program);
    let (ret, give) = (&answer.option, &answer.when_complete);
    let (all_ret, give_all) = (&answer.always, &answer.give);
    let invoke_docs = docs(&["Takes a whole input, row by row. Rows that were pushed before are dropped."]);
    quote! {
        #(#[doc = #push_docs])*
        pub fn push_row(&mut self, row: &[#element; #row]) -> #ret {
            #write
            #give
        }

        /// Drops the rows of an input that is not complete: the next row is the first of a new one.
        pub fn restart(&mut self) {
            self.tick = 0;
            #restart
        }

        #(#[doc = #invoke_docs])*
        pub fn invoke(&mut self, input: &[#element; #all]) #all_ret {
            self.restart();
            for row in input.chunks_exact(#row) {
                #write
                self.advance();
            }
            #give_all
        }
    }
}

fn expand_slide(program: &Program, fed: &Fed, slide: Slide, port: &Port) -> TokenStream {
    let answer = Answer::of(program);
    let element = port.region.element;
    let row = bytes(fed.row);
    let write = expand_write(fed, port);
    let what = described(port);
    let then = match slide.hop {
        1 => "With every frame from then on".to_string(),
        hop => format!("With every {hop} frames from then on"),
    };
    let docs = docs(&[
        &format!("Takes the next frame: the {} elements of one index of the second axis of the input {what}.", fed.row),
        "",
        &format!("With frame {} the first window is complete, and {}", fed.rows, answer.given("the next frame is taken")),
        &format!("{then}, the window is that of the latest {} frames. The bits are those of an inference on the whole window.", fed.rows),
    ]);
    let (ret, give) = (&answer.option, &answer.when_complete);
    let samples = (fed.row == 1).then(|| expand_slide_samples(&answer, element));
    quote! {
        #(#[doc = #docs])*
        pub fn slide(&mut self, row: &[#element; #row]) -> #ret {
            #write
            #give
        }

        #samples
    }
}

/// Frames of one element are samples, which come in blocks.
fn expand_slide_samples(answer: &Answer, element: Element) -> TokenStream {
    let (is_given, give, nothing) = match answer.one {
        true => (quote! { .is_some() }, quote! { Some(self.output()) }, quote! { None }),
        false => (quote! {}, quote! { true }, quote! { false }),
    };
    let docs = docs(&[
        "Takes samples from the beginning of `rest` until `slide` has an answer, and gives it.",
        "Without an answer all samples are taken, so that a loop until then takes them all.",
    ]);
    let ret = &answer.option;
    quote! {
        #(#[doc = #docs])*
        pub fn slide_samples(&mut self, rest: &mut &[#element]) -> #ret {
            while let Some((sample, after)) = rest.split_first() {
                *rest = after;
                if self.slide(&[*sample]) #is_given {
                    return #give;
                }
            }
            #nothing
        }
    }
}

/// What the methods give: a model's only output, or whether there are outputs.
pub(super) struct Answer {
    /// The type of what may be missing.
    pub(super) option: TokenStream,
    /// It, after a row was written.
    when_complete: TokenStream,
    /// The type of what is always there.
    always: TokenStream,
    /// It.
    give: TokenStream,
    /// Whether it is the only output.
    pub(super) one: bool,
}

impl Answer {
    pub(super) fn of(program: &Program) -> Answer {
        let [port] = &program.outputs[..] else {
            return Answer {
                option: quote! { bool },
                when_complete: quote! { self.advance() },
                always: TokenStream::new(),
                give: TokenStream::new(),
                one: false,
            };
        };
        let (element, len) = (port.region.element, bytes(port.region.len));
        Answer {
            option: quote! { Option<&[#element; #len]> },
            when_complete: quote! { if self.advance() { Some(self.output()) } else { None } },
            always: quote! { -> &[#element; #len] },
            give: quote! { self.output() },
            one: true,
        }
    }

    /// What is given, as the end of a sentence.
    pub(super) fn given(&self, until: &str) -> String {
        match self.one {
            true => format!("the output is given; it is valid until {until}. Before, there is none."),
            false => format!("`true` is given: the outputs are valid until {until}. Before, it is `false`."),
        }
    }
}

/// `fn advance`: runs what the row that was just written was missing for.
fn expand_advance(program: &Program, fed: &Fed, start: Option<TokenStream>, trace: bool) -> TokenStream {
    let memories = expand_memories(program);
    let (mut run, mut rest, mut tail) = (TokenStream::new(), TokenStream::new(), Vec::new());
    for stage in pipeline::stages(program) {
        match stage {
            Stage::Loop(0, body) => {
                run = pipeline::expand_tick(program, 0, body);
                if fed.ticks > fed.rows {
                    let (rows, ticks) = (bytes(fed.rows), bytes(fed.ticks));
                    rest = quote! { for tick in #rows..#ticks { #run } };
                }
            }
            stage => tail.push(expand_stage(program, &stage, trace)),
        }
    }
    let end = expand_trace_end(trace);
    let (tick, tick_mut) = (tick(fed), tick_mut(fed));
    let body = match fed.slide {
        None => {
            let last = bytes(fed.rows - 1);
            quote! {
                let tick = #tick;
                #memories
                #run
                if tick < #last {
                    #tick_mut = tick.wrapping_add(1);
                    return false;
                }
                #rest
                #(#tail)*
                #tick_mut = 0;
            }
        }
        Some(Slide { hop, period }) => {
            let (window, end) = (bytes(fed.rows), bytes(fed.rows + period));
            let between = (hop > 1).then(|| {
                let hop = bytes(hop);
                quote! { || next.wrapping_sub(#window) % #hop != 0 }
            });
            let doc = format!(" After {period} frames, every ring is where it was.");
            quote! {
                let tick = #tick;
                #[doc = #doc]
                const END: usize = #end;
                let next = if tick.wrapping_add(1) < END { tick.wrapping_add(1) } else { #window };
                #tick_mut = next;
                #memories
                #run
                if next < #window #between {
                    return false;
                }
                #(#tail)*
            }
        }
    };
    quote! {
        /// Runs what the row that was just written was missing for, and says whether the outputs are complete.
        fn advance(&mut self) -> bool {
            #start
            #body
            #end
            true
        }
    }
}

/// Writes `row` to its place.
fn expand_write(fed: &Fed, port: &Port) -> TokenStream {
    let element = port.region.element;
    let (offset, len) = (bytes(port.region.offset), bytes(port.region.len));
    let (memory, tick) = (memory_mut(port), tick(fed));
    quote! {
        let tick = #tick;
        kiln::write_row(#memory.get_mut::<#element, #offset, #len>(), tick, row);
    }
}

pub(super) fn memory_mut(port: &Port) -> TokenStream {
    match port.region.memory {
        Memory::Arena => quote! { self.arena.borrow_mut() },
        Memory::Fast => quote! { self.fast.borrow_mut() },
        Memory::State => quote! { self.kept.borrow_mut().state },
    }
}

pub(super) fn tick(fed: &Fed) -> TokenStream {
    match fed.slide {
        Some(_) => quote! { self.kept.borrow().tick },
        None => quote! { self.tick },
    }
}

fn tick_mut(fed: &Fed) -> TokenStream {
    match fed.slide {
        Some(_) => quote! { self.kept.borrow_mut().tick },
        None => quote! { self.tick },
    }
}
