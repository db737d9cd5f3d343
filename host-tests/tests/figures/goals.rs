//! What Kiln may need at most, as `baselines/tflm.toml` says.

use crate::measured::Measured;
use cargo_kiln::bench::Report;

/// A goal, and what was measured.
pub struct Goal<'a> {
    pub model: &'a str,
    pub what: &'static str,
    pub most: u64,
    pub measured: u64,
    /// Why it is known to be missed.
    pub missed: Option<&'a str>,
}

/// All goals of a model that was measured.
pub fn goals(measured: &Measured) -> Vec<Goal<'_>> {
    let Some(baseline) = &measured.baseline else { return Vec::new() };
    let most = &baseline.most;
    let (speed, size, m0) = (&measured.speed, &measured.size, &measured.m0);
    let cycles = |report: &Report| report.result().total.cycles;
    let code = |report: &Report| report.result().flash.model_code;
    let all = [
        ("cycles", most.cycles, speed.as_ref().map(cycles)),
        ("instructions", most.instructions, speed.as_ref().map(Report::instructions)),
        ("code", most.code, speed.as_ref().map(code)),
        ("size_code", most.size_code, size.as_ref().map(code)),
        ("size_cycles", most.size_cycles, size.as_ref().map(cycles)),
        ("m0_instructions", most.m0_instructions, m0.as_ref().map(Report::instructions)),
        ("m55_instructions", most.m55_instructions, measured.m55.as_ref().map(Report::instructions)),
        ("rv32_instructions", most.rv32_instructions, measured.rv32.as_ref().map(Report::instructions)),
    ];
    let goal = |(what, most, found): (&'static str, Option<u64>, Option<u64>)| {
        let missed = baseline.missed.get(what).map(String::as_str);
        Some(Goal { model: &measured.name, what, most: most?, measured: found?, missed })
    };
    all.into_iter().filter_map(goal).collect()
}

impl Goal<'_> {
    /// Whether it is as the file says: reached, or known to be missed.
    pub fn is_as_known(&self) -> bool {
        (self.measured <= self.most) == self.missed.is_none()
    }
}

impl std::fmt::Display for Goal<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Goal { model, what, most, measured, missed } = self;
        let verdict = if measured <= most { "reached" } else { "MISSED" };
        write!(f, "{model} {what}: {measured}, at most {most}: {verdict}")?;
        match missed {
            Some(reason) => write!(f, " (known: {reason})"),
            None => Ok(()),
        }
    }
}
