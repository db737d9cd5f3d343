//! A report as one page that needs nothing else: no network, no file beside it.
//!
//! `maud` escapes all that is written into it: names come from a model's file, and may be anything.

mod arena;
mod graph;
mod tables;

use super::Report;
use crate::page;
use maud::{html, Markup, PreEscaped};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The sections: id and title.
const SECTIONS: [(&str, &str); 7] = [
    ("graph", "Graph as compiled"),
    ("arena", "Arena over time"),
    ("layers", "Layers"),
    ("passes", "Passes"),
    ("advice", "What could be better"),
    ("certificate", "Certificate"),
    ("modes", "Modes"),
];

impl Report {
    /// The page.
    pub fn page(&self) -> String {
        let title = format!("{}: Kiln report", self.model.name);
        let body = html! {
            header {
                h1 { (self.model.name) }
                p { "Compiled by Kiln " (self.kiln) ", " (self.options.describe()) }
                nav aria-label="Sections" {
                    ul { @for (id, title) in SECTIONS { li { a href={ "#" (id) } { (title) } } } }
                }
            }
            main {
                (self.body())
            }
            script { (PreEscaped(SCRIPT)) }
        };
        page::document(&title, page::WITH_SCRIPTS, STYLE, &body)
    }

    /// Summary and sections as HTML, for pages that have the style sheet of [`Report::page`].
    pub fn sections(&self) -> String {
        self.body().into_string()
    }

    fn body(&self) -> Markup {
        html! {
            (self.summary())
            (section(0, self.graph_section()))
            (section(1, self.arena_section()))
            (section(2, self.layers_section()))
            (section(3, self.passes_section()))
            (section(4, self.advice_section()))
            (section(5, self.certificate_section()))
            (section(6, self.modes_section()))
        }
    }

    fn summary(&self) -> Markup {
        let tensors = [("Input", &self.model.inputs), ("Output", &self.model.outputs)];
        html! {
            section #summary aria-label="Summary" {
                dl.facts {
                    @for (what, value) in self.facts() {
                        div { dt { (what) } dd { (value) } }
                    }
                    @for front in &self.model.in_front {
                        div { dt { "In front" } dd { (front) } }
                    }
                    @for (what, tensors) in tensors {
                        @for tensor in tensors {
                            div {
                                dt { (what) }
                                dd {
                                    code { (tensor.ty) } " " (tensor.name)
                                    @if let Some(quantization) = &tensor.quantization { br; small { (quantization) } }
                                }
                            }
                        }
                    }
                    div { dt { "Type" } dd { code { (self.totals.type_name) } } }
                }
            }
        }
    }
}

fn section(index: usize, content: Markup) -> Markup {
    let Some((id, title)) = SECTIONS.get(index) else { return content };
    html! {
        section id=(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (title) }
            (content)
        }
    }
}

/// Something wider than a phone: it scrolls by itself, by keyboard too.
fn scroll(label: &str, content: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (content) } }
}

/// The size of letters in pictures, and of small ones: those of the style sheet.
const FONT: usize = 13;
const SMALL: usize = 12;

/// The beginning of a text that is at most so wide in a font of that size, both in pixels.
fn short(text: &str, width: usize, font: usize) -> String {
    if text_width(text, font) <= width {
        return text.into();
    }
    let room = 100 * width / font.max(1);
    let mut room = room.saturating_sub(letter_width('…'));
    let fits = |letter: &char| {
        let left = room.checked_sub(letter_width(*letter));
        room = left.unwrap_or_default();
        left.is_some()
    };
    text.chars().take_while(fits).chain(['…']).collect()
}

/// How wide a text is, in pixels.
fn text_width(text: &str, font: usize) -> usize {
    (text.chars().map(letter_width).sum::<usize>() * font).div_ceil(100)
}

/// How wide a letter is in the widest of the usual fonts without serifs, in hundredths of the font's size.
fn letter_width(letter: char) -> usize {
    match letter {
        'M' | 'W' | 'm' | 'w' | '…' | '%' | '@' => 100,
        'A'..='Z' | '+' | '=' | '<' | '>' => 84,
        ' ' | '.' | ',' | ':' | ';' | '/' | 'i' | 'j' | 'l' | '(' | ')' | '[' | ']' => 40,
        letter if letter.is_ascii() => 65,
        _ => 100,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_stay_in_their_boxes() {
        let name = "DEPTHWISE_CONV_2D + CONV_2D + MAX_POOL_2D + FULLY_CONNECTED";
        for width in [0, 13, 60, 290] {
            let shown = short(name, width, SMALL);
            assert!(text_width(&shown, SMALL) <= width.max(12) && shown.ends_with('…'), "{shown}");
        }
        assert_eq!(short("conv", 290, FONT), "conv");
    }
}
