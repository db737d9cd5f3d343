//! Curves.

use crate::eval::metrics::{Detection, Latency, Point};
use maud::{html, Markup};
use std::fmt::Write;

const WIDTH: f64 = 480.0;
const HEIGHT: f64 = 200.0;
/// Room for the axes.
const LEFT: f64 = 56.0;
const TOP: f64 = 12.0;

/// Misses and false accepts against the threshold.
pub(super) fn detection(detection: &Detection) -> Markup {
    let points = &detection.points;
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return html! {} };
    let span = f64::from(last.threshold - first.threshold).max(f64::MIN_POSITIVE);
    let x = |point: &Point| LEFT + WIDTH * f64::from(point.threshold - first.threshold) / span;
    let rates = points.iter().flat_map(|point| [point.miss_rate, point.false_accept_rate]).flatten();
    let highest = rates.fold(0.0, f64::max);
    // Of a good detector, all rates are low.
    let top = [0.02, 0.05, 0.1, 0.2, 0.5].into_iter().find(|&top| highest <= top).unwrap_or(1.0);
    let y = |rate: f64| TOP + HEIGHT * (1.0 - rate / top);
    let line = |rate: fn(&Point) -> Option<f64>| {
        let mut line = String::new();
        for point in points {
            if let Some(rate) = rate(point) {
                // Writing to a string cannot fail.
                let _ = write!(line, "{:.1},{:.1} ", x(point), y(rate));
            }
        }
        line
    };
    let (right, bottom) = (LEFT + WIDTH, TOP + HEIGHT);
    html! {
        div.scroll role="region" aria-label="Misses and false accepts by threshold" tabindex="0" {
            svg width=(right + 120.0) height=(bottom + 28.0) role="img" aria-label="Misses fall, false accepts rise as the threshold falls" {
                @for quarter in 0u8..=4 {
                    @let rate = top * f64::from(quarter) / 4.0;
                    @let at = y(rate);
                    line.frame x1=(LEFT) x2=(right) y1=(at) y2=(at) {}
                    text.axis x=(LEFT - 6.0) y=(at + 4.0) text-anchor="end" { (format!("{} %", (1e4 * rate).round() / 100.0)) }
                }
                text.axis x=(LEFT) y=(bottom + 18.0) { (format!("{:.2}", first.threshold)) }
                text.axis x=(right) y=(bottom + 18.0) text-anchor="end" { (format!("{:.2}", last.threshold)) }
                text.axis x=(LEFT + WIDTH / 2.0) y=(bottom + 18.0) text-anchor="middle" { "threshold" }
                polyline.misses points=(line(|point| point.miss_rate)) {}
                polyline.accepts points=(line(|point| point.false_accept_rate)) {}
                text.misses x=(right + 6.0) y=(last.miss_rate.map_or(TOP, y) + 4.0) { "misses" }
                text.accepts x=(right + 6.0) y=(last.false_accept_rate.map_or(bottom, y) + 4.0) { "false accepts" }
            }
        }
    }
}

/// How many inferences took how long; nothing where all took the same.
pub(super) fn latency(latency: &Latency) -> Markup {
    const HEIGHT: f64 = 60.0;
    let quantiles = latency.micros;
    if quantiles.p90 - quantiles.least < quantiles.p90 / 1000.0 {
        return html! {};
    }
    let most = latency.histogram.iter().max().copied().unwrap_or(0).max(1) as f64;
    let width = WIDTH / latency.histogram.len().max(1) as f64;
    html! {
        svg width=(WIDTH) height=(HEIGHT + 18.0) role="img" aria-label="How many inferences took how long" {
            @for (part, &count) in latency.histogram.iter().enumerate() {
                @let height = HEIGHT * count as f64 / most;
                rect.bar x=(width * part as f64) y=(HEIGHT - height) width=(width - 1.0) height=(height) {
                    title { (count) }
                }
            }
            line.frame x1="0" x2=(WIDTH) y1=(HEIGHT) y2=(HEIGHT) {}
            text.axis x="0" y=(HEIGHT + 14.0) { (format!("{:.1} µs", quantiles.least)) }
            text.axis x=(WIDTH) y=(HEIGHT + 14.0) text-anchor="end" { (format!("{:.1} µs and more", quantiles.p90)) }
        }
    }
}

/// A recording, or a list of numbers: for each column of the picture from the least to the largest.
pub(super) fn wave(values: &[f32]) -> Markup {
    const COLUMNS: usize = 160;
    const HEIGHT: f32 = 64.0;
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f32| HEIGHT * (1.0 - (value - low) / span);
    let columns = COLUMNS.min(values.len()).max(1);
    let mut path = String::new();
    for column in 0..columns {
        // One more, so that columns meet.
        let end = ((column + 1) * values.len() / columns + 1).min(values.len());
        let part = &values[column * values.len() / columns..end];
        let part = part.iter().copied().filter(|value| value.is_finite());
        let (low, high) = part.fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
        if low <= high {
            let x = column * COLUMNS / columns;
            // Writing to a string cannot fail.
            let _ = write!(path, "M{x} {:.1}V{:.1}", y(high) - 0.5, y(low) + 0.5);
            if columns < COLUMNS {
                let _ = write!(path, "h{}", COLUMNS / columns);
            }
        }
    }
    html! {
        svg.wave viewBox={ "0 -1 " (COLUMNS) " " (HEIGHT + 2.0) } role="img" aria-label="Its values" preserveAspectRatio="none" {
            path d=(path) {}
        }
    }
}
