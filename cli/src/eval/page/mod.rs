//! An evaluation as one page that needs nothing else: no network, no file beside it.
//!
//! `maud` escapes all that is written into it: names come from files, and may be anything.

mod chart;
mod sample;

use super::data::{Against, PlaceReport, Report};
use super::metrics::{Detection, Measures};
use super::text::{duration, percent, rightness, share};
use super::Evaluation;
use crate::page;
use maud::{html, Markup};

const STYLE: &str = include_str!("style.css");

/// Most samples that are shown of one kind.
const SHOWN: usize = 60;

impl Evaluation {
    /// The page.
    pub fn page(&self) -> String {
        let report = &self.report;
        let title = format!("{}: Kiln evaluation", report.model);
        let body = html! {
            header {
                h1 { (report.model) }
                p { "Evaluated by Kiln " (env!("CARGO_PKG_VERSION")) " on " (report.data) }
            }
            main {
                (summary(report))
                @for (index, place) in report.places.iter().enumerate() {
                    section aria-labelledby={ "place-" (index) } {
                        h2 id={ "place-" (index) } { (place.place) }
                        (self.place(place))
                    }
                }
                @if let Some(against) = &report.against { (self.against(against)) }
            }
        };
        page::document(&title, page::WITHOUT_SCRIPTS, STYLE, &body)
    }

    fn place(&self, place: &PlaceReport) -> Markup {
        let all = self.report.samples;
        html! {
            p { (rightness(&place.measures, all)) }
            @if let Some(same) = self.report.sameness(place) {
                p { "Beside " (self.report.places[0].place) ": " (same) "." }
            }
            @if let Some(latency) = &place.latency {
                @let (what, quantiles) = duration(latency);
                p { (what) ": " (quantiles) }
                (chart::latency(latency))
            }
            // The same answers have the same tables and pictures.
            @if place.same_answers != Some(all) {
                (measures(&place.measures))
                @if let Some(detection) = &place.detection { (detector(detection)) }
                (self.samples("Wrong answers", &place.wrong, |wrong| wrong.index, |wrong| html! {
                    span.bad { (wrong.answer) } " " (score(wrong.score)) br;
                    "is " strong { (wrong.label) }
                    @if let Some(of_label) = wrong.label_score { " " (score(of_label)) } br;
                    small { (wrong.sample) }
                }))
            }
        }
    }

    fn against(&self, against: &Against) -> Markup {
        let report = &self.report;
        html! {
            section aria-labelledby="against" {
                h2 #against { (report.model) " beside " (against.model) ", on " (against.place) }
                dl.facts {
                    @for (what, value) in against.facts(report, &report.places[0].measures) {
                        div { dt { (what) } dd { (value) } }
                    }
                }
                h3 { (against.model) }
                (measures(&against.measures))
                @if let Some(detection) = &against.detection { (detector(detection)) }
                (self.samples("Different answers", &against.differing, |sample| sample.index, |sample| html! {
                    "is " strong { (sample.label) } br;
                    span.bad[sample.answer != sample.label] { (sample.answer) } " " (score(sample.score))
                    " " small { (report.model) } br;
                    span.bad[sample.other_answer != sample.label] { (sample.other_answer) } " " (score(sample.other_score))
                    " " small { (against.model) } br;
                    small { (sample.sample) }
                }))
            }
        }
    }

    /// The first of some samples, each with its picture, under a title; nothing if there are none.
    fn samples<T>(
        &self,
        title: &str,
        samples: &[T],
        index: impl Fn(&T) -> usize,
        caption: impl Fn(&T) -> Markup,
    ) -> Markup {
        html! {
            @if !samples.is_empty() {
                h3 { (title) }
                @if samples.len() > SHOWN { p.soft { "The first " (SHOWN) " of " (samples.len()) "." } }
                div.samples {
                    @for sample in samples.iter().take(SHOWN) {
                        figure { (self.picture(index(sample))) figcaption { (caption(sample)) } }
                    }
                }
            }
        }
    }
}

fn score(score: f32) -> String {
    format!("({score:.3})")
}

fn summary(report: &Report) -> Markup {
    html! {
        section aria-label="Summary" {
            dl.facts {
                @for place in &report.places {
                    div { dt { "Right on " (place.place) } dd { (percent(place.measures.accuracy)) } }
                }
                div { dt { "Samples" } dd { (report.samples) @if report.samples < report.of_set { " of " (report.of_set) } } }
                div { dt { "Classes" } dd { (report.classes.len()) } }
                div { dt { "Input" } dd { (report.input) } }
            }
            @for warning in report.warnings() { p.bad { "Warning: " (warning) "." } }
        }
    }
}

fn measures(measures: &Measures) -> Markup {
    html! {
        h3 { "Confusion" }
        (scroll("Confusion matrix", html! {
            table.matrix {
                thead { tr { th scope="col" { "label \\ answer" } @for class in &measures.classes { th scope="col" { (class.name) } } } }
                tbody {
                    @for (label, row) in measures.confusion.iter().enumerate() {
                        tr {
                            th scope="row" { (measures.classes[label].name) }
                            @for (answer, count) in row.iter().enumerate() {
                                (cell(*count, measures.classes[label].samples, label == answer))
                            }
                        }
                    }
                }
            }
        }))
        h3 { "Classes" }
        (scroll("Classes", html! {
            table {
                thead { tr { th scope="col" { "class" } @for head in ["samples", "precision", "recall", "F1"] { th.n scope="col" { (head) } } } }
                tbody {
                    @for class in &measures.classes {
                        tr {
                            th scope="row" { (class.name) }
                            td.n { (class.samples) }
                            td.n { (share(class.precision)) }
                            td.n { (share(class.recall)) }
                            td.n { (share(class.f1)) }
                        }
                    }
                }
            }
        }))
    }
}

/// A cell of the matrix, the darker the larger its share of the row.
fn cell(count: usize, of: usize, right: bool) -> Markup {
    let shade = (100 * count).checked_div(of).unwrap_or(0);
    html! {
        td.n.right[right].wrong[!right] style={ "--shade: " (shade) "%" } {
            @if count > 0 { (count) } @else { span.soft { "·" } }
        }
    }
}

fn detector(detection: &Detection) -> Markup {
    let rate = |count: usize, rate: Option<f64>| match rate {
        Some(rate) => format!("{count} ({})", percent(rate)),
        None => count.to_string(),
    };
    html! {
        h3 { "Detecting " (detection.class) }
        p {
            (detection.positives) " samples of it, " (detection.negatives) " others"
            @if let Some(hours) = detection.negative_hours { ", " (format!("{hours:.3}")) " hours" }
        }
        (chart::detection(detection))
        (scroll("Thresholds", html! {
            table {
                thead { tr {
                    @for head in ["threshold", "misses", "false accepts"] { th.n scope="col" { (head) } }
                    @if detection.negative_hours.is_some() { th.n scope="col" { "per hour" } }
                } }
                tbody {
                    @for point in &detection.points {
                        tr {
                            td.n { (format!("{:.3}", point.threshold)) }
                            td.n { (rate(point.misses, point.miss_rate)) }
                            td.n { (rate(point.false_accepts, point.false_accept_rate)) }
                            @if let Some(rate) = point.per_hour { td.n { (format!("{rate:.2}")) } }
                        }
                    }
                }
            }
        }))
    }
}

/// Something wider than a phone: it scrolls by itself, by keyboard too.
fn scroll(label: &str, content: Markup) -> Markup {
    html! { div.scroll role="region" aria-label=(label) tabindex="0" { (content) } }
}
