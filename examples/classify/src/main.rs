//! `classify FILE`: reads handwritten digits from a file and says which they are, with each of several models.

mod classify;
mod file;
mod models;
mod table;

use classify::{classify, Outcome};
use file::Digit;
use models::{Make, MODELS};
use std::process::ExitCode;
use std::thread::available_parallelism;

const USAGE: &str = "\
usage: classify [--model NAME] [--threads N] FILE

FILE has one digit a line: the ink of 8x8 pixels, 0 to 16, row by row, and behind that the digit that was meant,
all with commas between them. That is the format of the UCI repository's optdigits.tes.

  --model NAME    one model, and what it took for what; all models where this is not given
  --threads N     threads, each with a model of its own; as many as there are processors where this is not given
";

/// Times are those of the fastest of so many rounds.
const ROUNDS: usize = 50;

fn main() -> ExitCode {
    let Some(request) = Request::parse(std::env::args().skip(1)) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&request) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What the arguments ask for.
#[derive(Debug, PartialEq)]
struct Request {
    path: String,
    model: Option<String>,
    threads: usize,
}

impl Request {
    fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Request> {
        let (mut path, mut model, mut threads) = (None, None, None);
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--model" => model = Some(arguments.next()?),
                "--threads" => threads = Some(arguments.next()?.parse().ok().filter(|&threads| threads > 0)?),
                flag if flag.starts_with("--") => return None,
                _ if path.is_some() => return None,
                _ => path = Some(argument),
            }
        }
        let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
        Some(Request { path: path?, model, threads })
    }
}

fn run(request: &Request) -> Result<(), String> {
    let Request { path, model, threads } = request;
    let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let digits = file::parse(&text).map_err(|error| format!("{path}: {error}"))?;
    let chosen: Vec<Make> = MODELS
        .into_iter()
        .filter(|make| model.as_ref().is_none_or(|name| make().info().name == name))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = MODELS.iter().map(|make| make().info().name).collect();
        return Err(format!("there is no such model; there are {}", names.join(", ")));
    }
    println!("{:<18}{:>14}{:>24}{:>24}", "model", "right", "each, in one thread", format!("in {threads}"));
    for make in &chosen {
        let outcome = report(*make, *threads, &digits).map_err(|error| error.to_string())?;
        if model.is_some() {
            print!("\n{}", outcome.table);
        }
    }
    Ok(())
}

/// Prints what a model made of the digits, and how fast.
fn report(make: Make, threads: usize, digits: &[Digit]) -> Result<Outcome, kiln::any::AnyError> {
    let alone = classify(make, 1, ROUNDS, digits)?;
    let shared = classify(make, threads, ROUNDS, digits)?;
    let each = |outcome: &Outcome| {
        format!("{:.2} us", 1e6 * outcome.time.as_secs_f64() / digits.len().max(1) as f64)
    };
    let right = format!("{} of {}", alone.table.right(), digits.len());
    println!("{:<18}{right:>14}{:>24}{:>24}", alone.model, each(&alone), each(&shared));
    Ok(alone)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Option<Request> {
        Request::parse(line.split_whitespace().map(str::to_owned))
    }

    #[test]
    fn arguments_come_in_any_order() {
        let asked = Request { path: "a.csv".into(), model: Some("x".into()), threads: 3 };
        assert_eq!(parse("--model x --threads 3 a.csv").as_ref(), Some(&asked));
        assert_eq!(parse("a.csv --threads 3 --model x"), Some(asked));
        assert!(parse("a.csv").is_some_and(|request| request.threads > 0 && request.model.is_none()));
    }

    #[test]
    fn other_arguments_are_refused() {
        for line in ["", "a b", "--threads", "a --threads 0", "a --threads two", "a --model", "--fast a"] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
