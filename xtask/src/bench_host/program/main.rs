//! Kiln's side of `cargo xtask bench-host`: a program that holds compiled models, and runs them when it is
//! told to.
//!
//! A line on standard input is a command, its words apart by tabs; each is answered by one line on standard
//! output.
//!
//! | command | what it does | answer |
//! |---|---|---|
//! | `load NAME - IN OUT …` | reads cases of inputs from the file IN, and writes the outputs to OUT as `f32` | `loaded` |
//! | `run NAME MS` | runs the first case for at least that many milliseconds | `times MIN MEDIAN COUNT`, in ns |
//! | `layers NAME MS` | the same, of each layer | `layers INDEX:NS …`, the least time of each |
//! | `peaks` | measures what this core can do at most | `peaks KIND:INSTRUCTIONS:MACS_PER_NS …` |
//!
//! What goes wrong is answered by `error` and why.
mod entrant;
mod level;
mod peaks;

/// Written for the models that are chosen.
mod models {
    include!("models/list.rs");
}

use entrant::Entrant;
use std::collections::HashMap;
use std::io::{BufRead, Write};

/// Models own their arenas, and begin on the stack: of this thread, whose pages count only where they are
/// used.
const STACK_BYTES: usize = 1 << 30;

fn main() {
    let worker = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(serve);
    let served = worker.map_err(|error| error.to_string()).and_then(|worker| {
        let ended = worker.join().map_err(|_| "a model panicked".to_owned())?;
        ended.map_err(|error| error.to_string())
    });
    if let Err(error) = served {
        eprintln!("{error}");
        std::process::exit(1);
    }
}

/// Answers until the input ends.
fn serve() -> std::io::Result<()> {
    let limited = level::limit();
    let cores = std::env::var("KILN_CORES").ok().and_then(|cores| cores.parse().ok());
    entrant::gather(cores.unwrap_or(1));
    let mut loaded: HashMap<String, Box<dyn Entrant>> = HashMap::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split('\t').collect();
        let answer = limited.clone().and_then(|()| obey(&words, &mut loaded));
        let answer = answer.unwrap_or_else(|why| format!("error\t{why}"));
        let mut out = std::io::stdout().lock();
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}

fn obey(words: &[&str], loaded: &mut HashMap<String, Box<dyn Entrant>>) -> Result<String, String> {
    let milliseconds = |text: &str| text.parse::<u64>().map_err(|error| format!("{text}: {error}"));
    let missing = |name: &str| format!("{name} is not loaded");
    match words {
        ["load", name, _, inputs, outputs, ..] => {
            let make = models::ALL.iter().find(|(known, _)| known == name);
            let (_, make) = make.ok_or_else(|| format!("{name} is not in this program"))?;
            let mut entrant = make();
            let bytes = std::fs::read(inputs).map_err(|error| format!("{inputs}: {error}"))?;
            let results = entrant.load(bytes)?;
            std::fs::write(outputs, results).map_err(|error| format!("{outputs}: {error}"))?;
            loaded.insert((*name).to_owned(), entrant);
            Ok("loaded".into())
        }
        ["run", name, at_least] => {
            let entrant = loaded.get_mut(*name).ok_or_else(|| missing(name))?;
            Ok(entrant::timed(entrant.as_mut(), milliseconds(at_least)?))
        }
        ["layers", name, at_least] => {
            let entrant = loaded.get_mut(*name).ok_or_else(|| missing(name))?;
            Ok(entrant::layers(entrant.as_mut(), milliseconds(at_least)?))
        }
        ["peaks"] => Ok(peaks::measured()),
        _ => Err(format!("no such command: {}", words.join(" "))),
    }
}
