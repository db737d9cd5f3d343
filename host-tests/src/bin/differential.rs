//! `cargo xtask differential` runs it: random graphs, by Kiln and by the runtimes that it is held to.

use kiln_host_tests::differential::explained::Rule;
use kiln_host_tests::differential::run::{run, Request};
use kiln_host_tests::differential::Format;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "\
cargo xtask differential [--graphs N] [--seed S] [--format tflite|onnx|both] [--minutes M] [--keep DIR] [--only OPERATORS] [--first K] [--batch B] [--jobs J]";

fn main() -> ExitCode {
    // A panic of the compiler is a verdict, told with its graph.
    std::panic::set_hook(Box::new(|_| ()));
    match all() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(why) => {
            eprintln!("differential: {why}");
            ExitCode::from(2)
        }
    }
}

struct Arguments {
    formats: Vec<Format>,
    request: Request,
}

fn parse(words: &[String]) -> Result<Arguments, String> {
    let mut formats = vec![Format::Tflite, Format::Onnx];
    let mut request = Request {
        python: std::env::var_os("KILN_PYTHON").map_or_else(|| "python3".into(), PathBuf::from),
        numbers: 0..1000,
        seed: 1,
        only: String::new(),
        until: None,
        keep: kiln_boards::work_dir().map_err(|error| error.to_string())?.join("differential/failed"),
        batch: 100,
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let (mut first, mut count) = (0, 1000);
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or_else(|| format!("{word} what?\n{HELP}"))?;
        let number = || value.parse::<usize>().map_err(|_| format!("{word} {value}: no number"));
        match word.as_str() {
            "--graphs" => count = number()?,
            "--first" => first = number()?,
            "--seed" => request.seed = number()? as u64,
            "--batch" => request.batch = number()?,
            "--jobs" => request.jobs = number()?.clamp(1, 64),
            "--minutes" => request.until = Some(Instant::now() + Duration::from_secs(60 * number()? as u64)),
            "--keep" => request.keep = PathBuf::from(value),
            "--only" => request.only = value.clone(),
            "--format" => {
                formats = match value.as_str() {
                    "tflite" => vec![Format::Tflite],
                    "onnx" => vec![Format::Onnx],
                    "both" => vec![Format::Tflite, Format::Onnx],
                    _ => return Err(format!("--format is tflite, onnx or both, not {value}")),
                }
            }
            _ => return Err(format!("there is no argument {word}\n{HELP}")),
        }
    }
    request.numbers = first..first + count;
    Ok(Arguments { formats, request })
}

/// Whether nothing failed.
fn all() -> Result<bool, String> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let Arguments { formats, request } = parse(&words)?;
    let rules = Rule::all()?;
    let (mut passes, mut reports) = (true, Vec::new());
    for format in formats {
        let began = Instant::now();
        let report = run(&request, format, &rules)?;
        passes &= report.passes();
        print!("{}", report.text(format, request.seed, &rules));
        println!("  in {:.0} s", began.elapsed().as_secs_f64());
        reports.push(report.json(format, request.seed, &rules));
    }
    let path = request.keep.join("report.json");
    let text = format!("{:#}\n", serde_json::Value::from(reports));
    std::fs::create_dir_all(&request.keep)
        .and_then(|()| std::fs::write(&path, text))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    println!("{}", path.display());
    Ok(passes)
}
