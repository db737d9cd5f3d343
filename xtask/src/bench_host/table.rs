//! What the race says, for people.
use super::models::{Entry, Kind};
use super::peers::Peer;
use super::process::Batch;
use std::fmt::Write;

/// The race of one model.
#[derive(Clone, Debug)]
pub(super) struct Race {
    pub(super) entry: Entry,
    pub(super) macs: u64,
    /// Kiln's batch of each round.
    pub(super) kiln: Vec<Batch>,
    /// The same with reproducible floats; none where most of the model is integers.
    pub(super) reproducible: Vec<Batch>,
    /// Those of the peers that took part.
    pub(super) peers: Vec<(Peer, Vec<Batch>)>,
}

/// What the core can do at most, in multiply-accumulates in a nanosecond.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peaks(Vec<(String, String, f64)>);

impl Peaks {
    /// From the words of an answer, `KIND:INSTRUCTIONS:MACS_PER_NS` each.
    ///
    /// # Errors
    /// Where it is none.
    pub(super) fn parse(words: &[String]) -> Result<Peaks, String> {
        let way = |word: &String| {
            let (kind, rest) = word.split_once(':')?;
            let (instructions, rate) = rest.split_once(':')?;
            Some((kind.to_owned(), instructions.to_owned(), rate.parse().ok()?))
        };
        let ways = words.iter().map(|word| way(word).ok_or_else(|| format!("no peak: {word}")));
        Ok(Peaks(ways.collect::<Result<_, _>>()?))
    }

    /// The highest of a kind; `None` where this kind of processor is not measured.
    pub(super) fn of(&self, kind: Kind) -> Option<f64> {
        self.best(kind).map(|(_, rate)| rate)
    }

    /// The highest of a kind, and the instructions that reach it.
    fn best(&self, kind: Kind) -> Option<(&str, f64)> {
        let ways = self.0.iter().filter(|way| way.0 == kind.name());
        ways.map(|way| (way.1.as_str(), way.2)).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The highest of each kind, in a sentence; empty where nothing is measured.
    pub(super) fn sentence(&self) -> String {
        let best = [Kind::Int8, Kind::Float32].map(|kind| Some((kind.name(), self.best(kind)?)));
        let best = best.into_iter().flatten();
        let best = best.map(|(kind, (with, rate))| format!("{rate:.0} GMAC/s of {kind} with {with}"));
        let best: Vec<String> = best.collect();
        if best.is_empty() {
            String::new()
        } else {
            format!(" The core's peak: {}.", best.join(", "))
        }
    }

    /// All of them in a line for each kind.
    pub(super) fn text(&self) -> String {
        let mut out = String::new();
        for kind in [Kind::Int8, Kind::Float32] {
            let ways = self.0.iter().filter(|way| way.0 == kind.name());
            let ways: Vec<String> = ways.map(|way| format!("{} {:.0}", way.1, way.2)).collect();
            let ways =
                if ways.is_empty() { "not measured on this processor".into() } else { ways.join(", ") };
            // Writing to a string cannot fail.
            let _ = writeln!(out, "peak of {}, GMAC/s: {ways}", kind.name());
        }
        out
    }

    /// Percent of the peak, where there is one.
    fn percent(&self, kind: Kind, rate: f64) -> Option<f64> {
        self.of(kind).map(|peak| 100.0 * rate / peak)
    }
}

/// The least time of all rounds, in nanoseconds.
pub(super) fn least(batches: &[Batch]) -> f64 {
    batches.iter().map(|batch| batch.least).fold(f64::INFINITY, f64::min)
}

/// The median of the rounds' medians, in nanoseconds.
fn median(batches: &[Batch]) -> f64 {
    middle(batches.iter().map(|batch| batch.median).collect())
}

/// The median of some numbers; of an even count, the greater of the two in the middle.
fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Race {
    /// Multiply-accumulates in a nanosecond, of Kiln at its best.
    pub(super) fn rate(&self) -> f64 {
        self.macs as f64 / least(&self.kiln)
    }

    /// The least time with reproducible floats, and over the one without.
    fn reproducible(&self) -> Option<(f64, f64)> {
        let time = least(&self.reproducible);
        (!self.reproducible.is_empty()).then(|| (time, time / least(&self.kiln)))
    }

    fn of(&self, peer: Peer) -> Option<&[Batch]> {
        self.peers.iter().find(|(other, _)| *other == peer).map(|(_, batches)| &batches[..])
    }

    /// Kiln's least time over the peer's.
    fn ratio(&self, peer: Peer) -> Option<f64> {
        self.of(peer).map(|batches| least(&self.kiln) / least(batches))
    }

    /// The same ratio in each round: its median.
    fn ratio_of_rounds(&self, peer: Peer) -> Option<f64> {
        let rounds = self.kiln.iter().zip(self.of(peer)?);
        Some(middle(rounds.map(|(kiln, peer)| kiln.least / peer.least).collect()))
    }
}

/// The table for a terminal.
pub(super) fn text(races: &[Race], peers: &[Peer], peaks: &Peaks) -> String {
    let mut rows = vec![vec!["".into(), "".into(), "Kiln µs".into(), "".into(), "".into(), "of".into()]];
    let mut head: Vec<String> = ["model", "MACs", "least", "median", "GMAC/s", "peak"].map(Into::into).into();
    for peer in peers {
        rows[0].extend([format!("{} µs", peer.title()), "".into(), "Kiln /".into(), "by round".into()]);
        head.extend(["least", "median", "least", "median"].map(String::from));
    }
    rows[0].extend(["reproducible".into(), "/".into()]);
    head.extend(["µs".into(), "fast".into()]);
    rows.push(head);
    for race in races {
        let mut row = vec![race.entry.name.to_owned(), thousands(race.macs)];
        row.extend([micros(least(&race.kiln)), micros(median(&race.kiln)), figure(race.rate(), 1)]);
        row.push(or_dash(peaks.percent(race.entry.kind, race.rate()).map(|p| format!("{p:.0} %"))));
        for peer in peers {
            let times = race.of(*peer).map(|of| (micros(least(of)), micros(median(of))));
            let (best, usual) = times.unwrap_or_else(|| ("–".into(), "–".into()));
            let ratio = |ratio: Option<f64>| or_dash(ratio.map(|ratio| figure(ratio, 2)));
            row.extend([best, usual, ratio(race.ratio(*peer)), ratio(race.ratio_of_rounds(*peer))]);
        }
        row.extend(reproducible(race));
        rows.push(row);
    }
    aligned(&rows, &[0])
}

/// The table for `docs/benchmarks.md`.
pub(super) fn markdown(races: &[Race], peers: &[Peer], peaks: &Peaks) -> String {
    let mut out = String::from("| model | MACs | Kiln, µs | GMAC/s |");
    let mut rule = String::from("\n|---|--:|--:|--:|");
    for peer in peers {
        out += &format!(" {}, µs | Kiln / {} |", peer.title(), peer.title());
        rule += "--:|--:|";
    }
    out += " Kiln, reproducible, µs | / fast |";
    out += &rule;
    out += "--:|--:|\n";
    for race in races {
        let share = peaks.percent(race.entry.kind, race.rate());
        let share = share.map(|share| format!(" ({share:.0} %)")).unwrap_or_default();
        let rate = figure(race.rate(), 1);
        let (macs, time) = (thousands(race.macs), micros(least(&race.kiln)));
        out += &format!("| {} | {macs} | {time} | {rate}{share} |", race.entry.file);
        for peer in peers {
            let time = or_dash(race.of(*peer).map(|of| micros(least(of))));
            out += &format!(" {time} | {} |", or_dash(race.ratio(*peer).map(|ratio| figure(ratio, 2))));
        }
        let [time, ratio] = reproducible(race);
        out += &format!(" {time} | {ratio} |\n");
    }
    out
}

/// The cells of reproducible floats.
fn reproducible(race: &Race) -> [String; 2] {
    let found = race.reproducible();
    [found.map(|(time, _)| micros(time)), found.map(|(_, ratio)| figure(ratio, 2))].map(or_dash)
}

/// Rows of cells, each column as wide as its widest cell; those of numbers are right-aligned.
pub(super) fn aligned(rows: &[Vec<String>], words: &[usize]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let length = |cell: &String| cell.chars().count();
    let width = |column| rows.iter().filter_map(|row| row.get(column)).map(length).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let mut out = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
            _ if words.contains(&column) => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        out += cells.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// Nanoseconds as microseconds, to four figures or the nanosecond.
pub(super) fn micros(nanoseconds: f64) -> String {
    let micros = nanoseconds / 1000.0;
    match micros {
        m if m >= 1000.0 => format!("{m:.0}"),
        m if m >= 100.0 => format!("{m:.1}"),
        m if m >= 10.0 => format!("{m:.2}"),
        m => format!("{m:.3}"),
    }
}

/// A whole number with commas.
pub(super) fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let comma = |(index, digit)| match index > 0 && (digits.len() - index) % 3 == 0 {
        true => vec![',', digit],
        false => vec![digit],
    };
    digits.chars().enumerate().flat_map(comma).collect()
}

/// A number with so many decimals.
pub(super) fn figure(number: f64, decimals: usize) -> String {
    format!("{number:.decimals$}")
}

fn or_dash(cell: Option<String>) -> String {
    cell.unwrap_or_else(|| "–".into())
}

/// A page with that between the markers, of all levels or of one.
///
/// # Errors
/// Where it has not both markers.
pub(super) fn between_markers(page: &str, level: Option<&str>, text: &str) -> Result<String, String> {
    let level = level.map(|level| format!(" {level}")).unwrap_or_default();
    let (begin, end) = (format!("<!-- bench-host{level} -->\n"), format!("<!-- /bench-host{level} -->"));
    let missing = || format!("the page has no place between `{}` and `{end}`", begin.trim_end());
    let (before, rest) = page.split_once(&begin).ok_or_else(missing)?;
    let (_, after) = rest.split_once(&end).ok_or_else(missing)?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench_host::models;

    fn batches(least: &[f64]) -> Vec<Batch> {
        least.iter().map(|&least| Batch { least, median: least * 2.0 }).collect()
    }

    fn races() -> Vec<Race> {
        let kws = Race {
            entry: models::find("kws").unwrap(),
            macs: 2_000_000,
            kiln: batches(&[20_000.0, 25_000.0, 30_000.0]),
            reproducible: vec![],
            peers: vec![(Peer::LiteRt, batches(&[40_000.0, 100_000.0, 50_000.0]))],
        };
        let ad = Race {
            entry: models::find("ad_f32").unwrap(),
            peers: vec![],
            reproducible: batches(&[30_000.0, 28_000.0]),
            ..kws.clone()
        };
        vec![kws, ad]
    }

    fn peaks() -> Peaks {
        let words = ["int8:vpmaddwd ymm:100", "int8:vpdpbusd zmm:400.5", "float32:fma zmm:80"];
        Peaks::parse(&words.map(String::from)).unwrap()
    }

    #[test]
    fn peaks_are_the_best_of_their_kind() {
        let peaks = peaks();
        assert_eq!((peaks.of(Kind::Int8), peaks.of(Kind::Float32)), (Some(400.5), Some(80.0)));
        assert!(
            peaks.text().contains("int8, GMAC/s: vpmaddwd ymm 100, vpdpbusd zmm 400"),
            "{}",
            peaks.text()
        );
        assert_eq!(Peaks::default().of(Kind::Int8), None);
        let sentence =
            " The core's peak: 400 GMAC/s of int8 with vpdpbusd zmm, 80 GMAC/s of float32 with fma zmm.";
        assert_eq!((peaks.sentence().as_str(), Peaks::default().sentence().as_str()), (sentence, ""));
        assert!(Peaks::default().text().contains("not measured"));
        assert!(Peaks::parse(&["int8:100".into()]).is_err());
    }

    #[test]
    fn ratios_are_of_the_least_and_of_each_round() {
        let races = races();
        assert_eq!(races[0].ratio(Peer::LiteRt), Some(0.5));
        // 0.5, 0.25 and 0.6.
        assert_eq!(races[0].ratio_of_rounds(Peer::LiteRt), Some(0.5));
        assert_eq!(races[0].ratio(Peer::OnnxRuntime), None);
        assert_eq!(races[0].rate(), 100.0);
        assert_eq!(median(&races[0].kiln), 50_000.0);
    }

    #[test]
    fn rows_have_a_cell_for_each_peer() {
        let text = text(&races(), &Peer::USUAL, &peaks());
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let expected = "kws 2,000,000 20.00 50.00 100.0 25 % 40.00 100.0 0.50 0.50 – – – – – –";
        assert_eq!(rows[2].join(" "), expected);
        assert_eq!(rows[3].join(" "), "ad_f32 2,000,000 20.00 50.00 100.0 125 % – – – – – – – – 28.00 1.40");
    }

    #[test]
    fn the_table_has_the_least_times() {
        let text = markdown(&races(), &[Peer::LiteRt], &peaks());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[2], "| mlperf_kws_int8 | 2,000,000 | 20.00 | 100.0 (25 %) | 40.00 | 0.50 | – | – |");
        assert_eq!(lines[3], "| mlperf_ad_f32 | 2,000,000 | 20.00 | 100.0 (125 %) | – | – | 28.00 | 1.40 |");
        let columns = |line: &str| line.matches('|').count();
        assert!(lines.iter().all(|line| columns(line) == columns(lines[0])));
    }

    #[test]
    fn columns_are_aligned() {
        let rows = [vec!["a".to_owned(), "µs".into()], vec!["longer".into(), "1.25".into()]];
        assert_eq!(aligned(&rows, &[0]), "a         µs\nlonger  1.25\n");
    }

    #[test]
    fn large_numbers_have_commas() {
        assert_eq!([7, 999, 1000, 12_501_632].map(thousands), ["7", "999", "1,000", "12,501,632"]);
    }

    #[test]
    fn times_have_four_figures() {
        let times = [1_234_567.0, 123_456.0, 12_345.0, 1_234.0, 12.0].map(micros);
        assert_eq!(times, ["1235", "123.5", "12.35", "1.234", "0.012"]);
    }

    #[test]
    fn pages_keep_what_is_around_the_markers() {
        let page = "a\n<!-- bench-host -->\nold\n<!-- /bench-host -->\nb\n";
        let new = between_markers(page, None, "new\n").unwrap();
        assert_eq!(new, "a\n<!-- bench-host -->\nnew\n<!-- /bench-host -->\nb\n");
        assert_eq!(between_markers(&new, None, "new\n").unwrap(), new);
        assert!(between_markers("a\n<!-- bench-host -->\nold\n", None, "new\n").is_err());
    }
}
