//! Bars, on standard error where that is a terminal.
use crate::Event;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use std::collections::BTreeMap;
use std::time::Duration;

/// Draws a bar for each step.
#[derive(Debug, Default)]
pub struct Bars {
    all: MultiProgress,
    bars: BTreeMap<&'static str, ProgressBar>,
}

impl Bars {
    /// Draws an event.
    pub fn show(&mut self, event: Event) {
        match event {
            Event::Begins(step, total) => {
                // A chip with several flashes does each step several times.
                let bar = self.bars.entry(step).or_insert_with(|| self.all.add(bar(step, total)));
                bar.enable_steady_tick(Duration::from_millis(100));
            }
            Event::Advances(step, bytes) => {
                if let Some(bar) = self.bars.get(step) {
                    bar.inc(bytes);
                }
            }
            Event::Ends(step) => {
                if let Some(bar) = self.bars.get(step) {
                    bar.finish();
                }
            }
        }
    }
}

fn bar(step: &'static str, total: Option<u64>) -> ProgressBar {
    let (bar, template) = match total {
        Some(total) => {
            (ProgressBar::new(total), "{msg:>12} {wide_bar} {bytes:>10}/{total_bytes} {bytes_per_sec:>12}")
        }
        None => (ProgressBar::new_spinner(), "{msg:>12} {spinner} {elapsed}"),
    };
    // The templates above are sound; a bar without style is better than none.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.with_message(step)
}
