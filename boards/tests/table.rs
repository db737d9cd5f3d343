//! The table of boards in `boards/README.md` is what their folders say. `KILN_BLESS=1` writes it.
// Helpers of tests may unwrap, as tests may.
#![allow(clippy::unwrap_used)]
use kiln_boards::{Board, Region, Runner};
use std::fmt::Write;

const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const BEGIN: &str = "<!-- boards: begin -->\n";
const END: &str = "<!-- boards: end -->";

fn table() -> String {
    let mut table = String::from(
        "| board | what it is | target | clock | nJ a cycle | flash | RAM | more RAM | LED | runs on |\n|---|---|---|---|---|---|---|---|---|---|\n",
    );
    for board in Board::all() {
        let memory = &board.memory;
        let fast = memory.fast.iter().map(|fast| format!("{} {}, fast", bytes(&fast.region), fast.name));
        let extra = memory.extra.iter().map(|extra| format!("{}, slow", bytes(extra)));
        let more: Vec<String> = fast.chain(extra).collect();
        let runs_on = match &board.runner {
            Runner::Qemu { machine, .. } => format!("QEMU `{machine}`"),
            Runner::ProbeRs { chip, .. } => format!("debug probe, `{chip}`"),
        };
        writeln!(
            table,
            "| `{}` | {} | `{}` | {} MHz | {} | {} | {} | {} | {} | {runs_on} |",
            board.name,
            board.description,
            board.target,
            board.clock_hz / 1_000_000,
            board
                .energy
                .as_ref()
                .map_or(String::new(), |energy| format!("{:.3}", energy.nanojoules_per_cycle())),
            bytes(&memory.flash),
            bytes(&memory.ram),
            more.join("; "),
            board.led.as_deref().unwrap_or_default(),
        )
        .unwrap();
    }
    table
}

fn bytes(region: &Region) -> String {
    // The part of a flash that a boot loader takes is not worth a fraction.
    match region.length.div_ceil(1024) {
        kib if kib % 1024 == 0 => format!("{} MB", kib / 1024),
        kib => format!("{kib} KB"),
    }
}

#[test]
fn the_table_of_boards_is_fresh() {
    let readme = std::fs::read_to_string(README).unwrap();
    let (before, rest) = readme.split_once(BEGIN).unwrap();
    let (present, after) = rest.split_once(END).unwrap();
    let table = table();
    if std::env::var_os("KILN_BLESS").is_some() {
        std::fs::write(README, format!("{before}{BEGIN}{table}{END}{after}")).unwrap();
    } else {
        assert_eq!(present, table, "the table is not fresh (KILN_BLESS=1 writes it)");
    }
}
