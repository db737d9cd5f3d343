//! Which operators Kiln compiles, in which number formats, with which kernels: the matrix of `cargo kiln ops`.
//!
//! `operators.tsv` is what random draws of each operator compile to: `host-tests/tests/operators.rs` holds it to that, and writes it.

use anyhow::{bail, Result};
use std::fmt::Write;

const MATRIX: &str = include_str!("operators.tsv");

/// An operator in a number format.
struct Line {
    operator: &'static str,
    format: &'static str,
    /// On each processor of the heading, separated by spaces.
    kernels: Vec<&'static str>,
}

impl Line {
    fn mark(&self, processors: &[&str]) -> char {
        let on = |name: &str| processors.iter().position(|processor| *processor == name);
        let (Some(portable), Some(hosts)) = (on("portable"), on("hosts")) else { return ' ' };
        let is_special = |at: usize| self.kernels.get(at) != self.kernels.get(portable);
        let own = (0..processors.len()).any(|at| at != hosts && is_special(at));
        match (own, is_special(hosts)) {
            (true, true) => '●',
            (true, false) => '◐',
            (false, true) => '◑',
            (false, false) if self.kernels.get(portable).is_none_or(|kernels| kernels.is_empty()) => '–',
            (false, false) => '○',
        }
    }
}

/// The processors, and the lines.
fn matrix() -> (Vec<&'static str>, Vec<Line>) {
    let mut lines = MATRIX.lines();
    let processors = lines.next().unwrap_or_default().split('\t').skip(2).collect();
    let line = |line: &'static str| {
        let mut columns = line.split('\t');
        let (operator, format) = (columns.next()?, columns.next()?);
        Some(Line { operator, format, kernels: columns.collect() })
    };
    (processors, lines.filter_map(line).collect())
}

/// A line for each operator, with a mark for each format in which it compiles.
pub fn table() -> String {
    let (processors, lines) = matrix();
    let mut formats: Vec<(&str, usize)> = Vec::new();
    for line in &lines {
        if !formats.iter().any(|(format, _)| *format == line.format) {
            formats.push((line.format, 0));
        }
    }
    // Those that only layers with weights have, last.
    formats.sort_by_key(|(format, _)| format.ends_with("weights") || *format == "hybrid");
    let width = lines.iter().map(|line| line.operator.len()).max().unwrap_or(0);
    let mut out = format!("{:width$}", "operator");
    for (format, column) in &mut formats {
        *column = format.len();
        // Writing to a string cannot fail.
        let _ = write!(out, "  {format}");
    }
    out.push('\n');
    for of_operator in lines.chunk_by(|a, b| a.operator == b.operator) {
        let mut row = format!("{:width$}", of_operator[0].operator);
        for (format, column) in &formats {
            let line = of_operator.iter().find(|line| line.format == *format);
            let _ = write!(row, "  {:<column$}", line.map_or(' ', |line| line.mark(&processors)));
        }
        out.push_str(row.trim_end());
        out.push('\n');
    }
    out.push_str(
        "
● special kernels on some microcontrollers and on all hosts, portable kernels elsewhere
◐ special kernels on some microcontrollers, portable kernels elsewhere
◑ vector kernels on hosts (x86-64, AArch64, WebAssembly), portable kernels elsewhere
○ portable kernels everywhere
– nothing is computed at run time
hybrid: int8 weights, float32 activations. int16: int16 activations, int8 weights
",
    );
    out
}

/// The kernels of operators, on every processor.
///
/// # Errors
/// Where there is no operator of that name: says which are similar.
pub fn kernels(operators: &[String]) -> Result<String> {
    let (processors, lines) = matrix();
    let mut out = String::new();
    for name in operators {
        let name = name.to_uppercase();
        let found: Vec<&Line> = lines.iter().filter(|line| line.operator == name).collect();
        if found.is_empty() {
            let mut similar: Vec<&str> = lines.iter().map(|line| line.operator).collect();
            similar.dedup();
            similar.retain(|other| other.split('_').any(|word| name.split('_').any(|mine| mine == word)));
            match similar.is_empty() {
                true => {
                    bail!("Kiln compiles no operator `{name}`; `cargo kiln ops` lists those that it does")
                }
                false => bail!("Kiln compiles no operator `{name}`; similar ones are {}", similar.join(", ")),
            }
        }
        for line in found {
            let _ = writeln!(out, "{name}, {}", line.format);
            for (processor, kernels) in processors.iter().zip(&line.kernels) {
                let kernels = if kernels.is_empty() { "–" } else { kernels };
                let _ = writeln!(out, "  {processor:<10} {}", kernels.replace(' ', ", "));
            }
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_marks() {
        let table = table();
        let line = table.lines().find(|line| line.starts_with("CONV_2D ")).unwrap();
        assert!(line.contains('●') && line.contains('◑') && line.contains('○'), "{line}");
        let line = table.lines().find(|line| line.starts_with("SHAPE ")).unwrap();
        assert!(line.contains('–') && !line.contains('●'), "{line}");
    }

    #[test]
    fn marks_tell_hosts_from_microcontrollers_in_any_order() {
        let line = |kernels: [&'static str; 3]| Line { operator: "", format: "", kernels: kernels.into() };
        let processors = ["portable", "hosts", "another"];
        assert_eq!(line(["a", "a a_simd", "a"]).mark(&processors), '◑');
        assert_eq!(line(["a", "a", "a_another"]).mark(&processors), '◐');
        assert_eq!(line(["a", "a_simd", "a_another"]).mark(&processors), '●');
        assert_eq!(line(["", "", ""]).mark(&processors), '–');
    }

    #[test]
    fn a_wrong_name_is_told_similar_ones() {
        let kernels = |name: &str| kernels(&[name.to_owned()]);
        let told = kernels("conv_2d").unwrap();
        assert!(told.contains("CONV_2D, int8\n  portable ") && told.contains("conv2d_i8_dsp"), "{told}");
        assert!(told.contains("  hosts      conv2d_f32, conv2d_f32_simd\n"), "{told}");
        let message = kernels("CONV_3D").unwrap_err().to_string();
        assert!(message.contains("similar ones are CONV_2D"), "{message}");
        assert!(kernels("STFT").unwrap_err().to_string().contains("lists those"));
    }
}
