//! An evaluation for people.

use super::data::{Against, PlaceReport, Report};
use super::metrics::{Detection, Latency, Measures, Quantiles};
use std::fmt::{Result, Write};

/// Most samples that are listed.
const LISTED: usize = 10;

/// Classes up to which a matrix is shown.
const MATRIX: usize = 24;

impl Report {
    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, out: &mut String) -> Result {
        let of = if self.samples < self.of_set { format!(" of {}", self.of_set) } else { String::new() };
        writeln!(
            out,
            "{}: {}{of} samples of {}, {} classes",
            self.model,
            self.samples,
            self.data,
            self.classes.len()
        )?;
        writeln!(out, "  input             {}", self.input)?;
        for warning in self.warnings() {
            writeln!(out, "  warning           {warning}")?;
        }
        for place in &self.places {
            writeln!(out)?;
            self.write_place(out, place)?;
        }
        match &self.against {
            Some(against) => self.write_against(out, against),
            None => Ok(()),
        }
    }

    /// What may make figures worth less than they seem.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.clipped > 0.01 {
            warnings.push(format!(
                "{} of the numbers are outside of what the model's input can store: --mean and --scale say how numbers become its values",
                percent(self.clipped)
            ));
        }
        if self.left_out > 0 {
            warnings.push(format!("{} files that are neither WAV nor PNG were left out", self.left_out));
        }
        warnings
    }

    fn write_place(&self, out: &mut String, place: &PlaceReport) -> Result {
        writeln!(out, "{}: {}", place.place, rightness(&place.measures, self.samples))?;
        if let Some(same) = self.sameness(place) {
            writeln!(out, "  beside {:<10} {same}", self.places[0].place)?;
        }
        if let Some(latency) = &place.latency {
            let (what, quantiles) = duration(latency);
            writeln!(out, "  {what:<17} {quantiles}")?;
        }
        if place.resumed > 0 {
            writeln!(out, "  from the file     {} results, not computed again", place.resumed)?;
        }
        // The same answers have the same tables.
        if place.same_answers != Some(self.samples) {
            writeln!(out)?;
            write_measures(out, &place.measures)?;
        }
        if let Some(detection) = place.detection.as_ref().filter(|_| place.same_scores != Some(self.samples))
        {
            writeln!(out)?;
            write_detection(out, detection)?;
        }
        if place.same_answers == Some(self.samples) || place.wrong.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n  wrong answers")?;
        for wrong in place.wrong.iter().take(LISTED) {
            write!(
                out,
                "    {}: {}, answered {} ({:.3}",
                wrong.sample, wrong.label, wrong.answer, wrong.score
            )?;
            match wrong.label_score {
                Some(score) => writeln!(out, ", {} has {score:.3})", wrong.label)?,
                None => writeln!(out, ")")?,
            }
        }
        write_more(out, place.wrong.len())
    }

    /// How a place's answers are beside the first place's.
    pub(super) fn sameness(&self, place: &PlaceReport) -> Option<String> {
        let (answers, scores) = (place.same_answers?, place.same_scores?);
        Some(match (answers == self.samples, scores == self.samples) {
            (true, true) => "the same scores, to the bit".into(),
            (true, false) => {
                format!("the same answers; the scores of {} samples differ", self.samples - scores)
            }
            (false, _) => format!("{} of {} answers differ", self.samples - answers, self.samples),
        })
    }

    fn write_against(&self, out: &mut String, against: &Against) -> Result {
        let own = &self.places[0].measures;
        writeln!(out, "\n{} beside {}, on {}", self.model, against.model, against.place)?;
        for (what, value) in against.facts(self, own) {
            writeln!(out, "  {what:<28} {value}")?;
        }
        if let Some(detection) = &against.detection {
            writeln!(out, "\n  {}", against.model)?;
            write_detection(out, detection)?;
        }
        if against.differing.is_empty() {
            return Ok(());
        }
        writeln!(out, "\n  different answers")?;
        for sample in against.differing.iter().take(LISTED) {
            writeln!(
                out,
                "    {}: {}, answered {} ({:.3}) and {} ({:.3})",
                sample.sample,
                sample.label,
                sample.answer,
                sample.score,
                sample.other_answer,
                sample.other_score
            )?;
        }
        write_more(out, against.differing.len())
    }
}

impl Against {
    /// Both models in a few figures.
    pub(super) fn facts(&self, report: &Report, own: &Measures) -> Vec<(String, String)> {
        let all = report.samples;
        let share = |part: usize| format!("{part} ({})", percent(part as f64 / all.max(1) as f64));
        let mut facts = vec![
            (report.model.clone(), rightness(own, all)),
            (self.model.clone(), rightness(&self.measures, all)),
            ("the same answers".into(), share(self.same_answers)),
            ("both right".into(), share(self.both_right)),
            (format!("only {} right", report.model), share(self.only_this)),
            (format!("only {} right", self.model), share(self.only_other)),
            ("both wrong".into(), share(self.both_wrong)),
        ];
        facts.retain(|(what, _)| !what.is_empty());
        facts
    }
}

fn write_more(out: &mut String, count: usize) -> Result {
    match count.saturating_sub(LISTED) {
        0 => Ok(()),
        more => writeln!(out, "    and {more} more: -o page.html shows them, --format json lists them"),
    }
}

/// How many answers are right.
pub(super) fn rightness(measures: &Measures, all: usize) -> String {
    let top = match measures.top {
        Some(top) => format!("; {} among the best {}", percent(top.accuracy), top.k),
        None => String::new(),
    };
    format!("{} of {all} right, {}{top}", measures.right, percent(measures.accuracy))
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A share, where there is one.
pub(super) fn share(share: Option<f64>) -> String {
    share.map_or("–".into(), |share| format!("{share:.3}"))
}

/// What is known of the time of an inference, and its distribution.
pub(super) fn duration(latency: &Latency) -> (&'static str, String) {
    let quantiles = |Quantiles { least, median, p90, p99, most }: Quantiles| {
        let is_same = most - least < most / 1000.0;
        let [least, median, p90, p99, most] = [least, median, p90, p99, most].map(number);
        match is_same {
            true => format!("{median} each"),
            false => format!("{median} (median), {least} to {most}; 90 % up to {p90}, 99 % up to {p99}"),
        }
    };
    match (latency.cycles, latency.clock_hz) {
        (Some(cycles), Some(hz)) => (
            "cycles, estimated",
            format!(
                "{}: {} µs at {} MHz",
                quantiles(cycles),
                number(latency.micros.median),
                f64::from(hz) / 1e6
            ),
        ),
        _ => ("time, measured", format!("µs: {}", quantiles(latency.micros))),
    }
}

/// Large numbers without, small ones with a fraction.
fn number(value: f64) -> String {
    match value {
        value if value >= 100.0 => crate::number::grouped(value.round() as u64),
        value => format!("{value:.1}"),
    }
}

fn write_measures(out: &mut String, measures: &Measures) -> Result {
    let width = measures.classes.iter().map(|class| class.name.chars().count()).max().unwrap_or(0).max(5);
    writeln!(out, "  {:<width$}  samples  precision  recall     F1", "class")?;
    for class in &measures.classes {
        let [precision, recall, f1] = [class.precision, class.recall, class.f1].map(share);
        writeln!(
            out,
            "  {:<width$}  {:>7}  {precision:>9}  {recall:>6}  {f1:>5}",
            class.name, class.samples
        )?;
    }
    if let Some(f1) = measures.macro_f1 {
        writeln!(out, "  {:<width$}  {:>7}  {:>9}  {:>6}  {f1:>5.3}", "mean", "", "", "")?;
    }
    let count = measures.classes.len();
    if count > MATRIX {
        return writeln!(
            out,
            "\n  {count} classes: -o page.html and --format json have the confusion matrix"
        );
    }
    let name = |index: usize| &measures.classes[index].name;
    let digits = measures.confusion.iter().flatten().max().map_or(1, |most| most.to_string().len());
    // Long names of columns become numbers.
    let short = width <= 6;
    let heads = (0..count).map(|k| if short { name(k).clone() } else { k.to_string() });
    let longest = heads.clone().map(|head| head.chars().count()).max().unwrap_or(1);
    let column = digits.max(longest) + 1;
    writeln!(out, "\n  label \\ answer")?;
    let width = if short { width } else { width + 3 };
    write!(out, "  {:<width$}", "")?;
    heads.clone().try_for_each(|head| write!(out, " {head:>column$}"))?;
    writeln!(out)?;
    for (index, row) in measures.confusion.iter().enumerate() {
        let label = if short { name(index).clone() } else { format!("{index} {}", name(index)) };
        write!(out, "  {label:<width$}")?;
        for count in row {
            let cell = if *count == 0 { ".".into() } else { count.to_string() };
            write!(out, " {cell:>column$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_detection(out: &mut String, detection: &Detection) -> Result {
    let hours = match detection.negative_hours {
        Some(hours) => format!(", {hours:.3} hours"),
        None => String::new(),
    };
    let Detection { class, positives, negatives, .. } = detection;
    writeln!(out, "  detecting {class}: {positives} samples of it, {negatives} others{hours}")?;
    let per_hour = if detection.negative_hours.is_some() { "  per hour" } else { "" };
    writeln!(out, "  threshold  misses          false accepts{per_hour}")?;
    for point in &detection.points {
        let rate = |count: usize, rate: Option<f64>| match rate {
            Some(rate) => format!("{count} ({})", percent(rate)),
            None => count.to_string(),
        };
        let misses = rate(point.misses, point.miss_rate);
        let accepts = rate(point.false_accepts, point.false_accept_rate);
        let per_hour = point.per_hour.map_or(String::new(), |rate| format!("  {rate:>8.2}"));
        let line = format!("  {:>9.3}  {misses:<14}  {accepts:<13}{per_hour}", point.threshold);
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}
