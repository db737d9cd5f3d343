//! Cycles as time and energy.

use crate::number::{grouped, significant};
use serde::Serialize;
use std::fmt::Write;

/// What an inference takes on a board at its clock: an estimate, as no wait states are counted.
#[derive(Clone, Debug, Serialize)]
pub struct OnBoard {
    /// The board's name.
    pub board: String,
    /// Its clock.
    pub clock_hz: u32,
    /// Cycles divided by the clock.
    pub milliseconds: f64,
    /// Cycles times the energy of one, where measurements of the chip are published.
    pub millijoules: Option<f64>,
    /// Those measurements.
    pub energy_from: Option<String>,
}

/// A table of boards, and below it where energy comes from. Inferences of several kinds, by their names, stand side by side, each on the same boards.
pub fn table(inferences: &[(&str, Vec<OnBoard>)]) -> String {
    let Some((_, boards)) = inferences.first().filter(|(_, boards)| !boards.is_empty()) else {
        return String::new();
    };
    let any_energy = boards.iter().any(|board| board.energy_from.is_some());
    let width = boards.iter().map(|board| board.board.len()).max().unwrap_or(0).max("board".len());
    let mut out = format!("  {:<width$}  {:>5}", "board", "MHz");
    // Writing to a string cannot fail.
    for (name, _) in inferences {
        let column = |unit| if name.is_empty() { String::from(unit) } else { format!("{name}, {unit}") };
        let _ = write!(out, "  {:>12}", column("ms"));
        if any_energy {
            let _ = write!(out, "  {:>12}", column("mJ"));
        }
    }
    out += "\n";
    for (row, board) in boards.iter().enumerate() {
        let _ = write!(out, "  {:<width$}  {:>5}", board.board, grouped(mhz(board)));
        for on in inferences.iter().filter_map(|(_, boards)| boards.get(row)) {
            let _ = write!(out, "  {:>12}", significant(on.milliseconds));
            if any_energy {
                let _ = write!(out, "  {:>12}", on.millijoules.map_or("–".into(), significant));
            }
        }
        out += "\n";
    }
    out + &energy_note(boards)
}

/// Where energy comes from, and that of others nothing is known.
fn energy_note(boards: &[OnBoard]) -> String {
    let mut out = String::new();
    for board in boards {
        if let Some(from) = &board.energy_from {
            // Writing to a string cannot fail.
            let _ = writeln!(out, "  energy of {}: {from}", board.board);
        }
    }
    match boards.iter().all(|board| board.energy_from.is_some()) {
        true => out,
        false if out.is_empty() => "  energy: no published measurements of these chips are known\n".into(),
        false => out + "  –: no published measurements of this chip are known\n",
    }
}

/// Time and energy in a line each: what, and how much.
pub(super) fn facts(boards: &[OnBoard]) -> Vec<(&'static str, String)> {
    let times: Vec<String> = boards
        .iter()
        .map(|on| format!("{} ms on {} at {} MHz", significant(on.milliseconds), on.board, mhz(on)))
        .collect();
    let energies: Vec<String> = boards
        .iter()
        .filter_map(|on| Some((on, on.millijoules?, on.energy_from.as_ref()?)))
        .map(|(on, energy, from)| format!("{} mJ on {} ({from})", significant(energy), on.board))
        .collect();
    if times.is_empty() {
        return Vec::new();
    }
    let energy = match energies.len() {
        0 => "no published measurements of these chips are known".into(),
        known if known < boards.len() => {
            format!("{}; of other chips no published measurements are known", energies.join("; "))
        }
        _ => energies.join("; "),
    };
    vec![("time, estimated", times.join("; ")), ("energy, estimated", energy)]
}

fn mhz(on: &OnBoard) -> u64 {
    u64::from(on.clock_hz) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;

    fn board(name: &str, milliseconds: f64, millijoules: Option<f64>) -> OnBoard {
        let energy_from = millijoules.map(|_| "a source".into());
        OnBoard { board: name.into(), clock_hz: 64_000_000, milliseconds, millijoules, energy_from }
    }

    #[test]
    fn unknown_energy_is_said_to_be_unknown() {
        let both = [board("a-board", 5.312, Some(0.118)), board("b", 12.0, None)];
        let text = table(&[("", both.to_vec())]);
        assert_eq!(
            text,
            "  board      MHz            ms            mJ\n  \
               a-board     64          5.31         0.118\n  \
               b           64          12.0             –\n  \
               energy of a-board: a source\n  \
               –: no published measurements of this chip are known\n"
        );
        assert!(table(&[("", both[1..].to_vec())]).contains("energy: no published measurements"));
        assert!(!table(&[("", both[..1].to_vec())]).contains("no published measurements"));
        let facts = facts(&both);
        assert_eq!(facts[0].1, "5.31 ms on a-board at 64 MHz; 12.0 ms on b at 64 MHz");
        assert_eq!(
            facts[1].1,
            "0.118 mJ on a-board (a source); of other chips no published measurements are known"
        );
        assert_eq!(super::facts(&both[1..])[1].1, "no published measurements of these chips are known");
    }

    #[test]
    fn several_inferences_stand_side_by_side() {
        let text = table(&[("speed", vec![board("b", 1.0, None)]), ("size", vec![board("b", 2.0, None)])]);
        let first: Vec<&str> = text.lines().take(2).collect();
        assert_eq!(
            first,
            ["  board    MHz     speed, ms      size, ms", "  b         64          1.00          2.00"]
        );
        assert_eq!(table(&[("speed", Vec::new())]), "");
    }
}
