//! Damaged model files end in an error or in a valid compilation, quickly and in proportion: no panic, no internal error, no hang, none over a second, and none over sixteen times the file's size in
//! memory (and [`BASE`]).
//!
//! ```sh
//! KILN_MUTATIONS=1000000 KILN_MUTATION_SEED=7 cargo test -p kiln-host-tests --test mutations -- --nocapture
//! ```
//!
//! makes so many mutants of each format's files in `kiln_host_tests::mutate::seeds`, in `KILN_MUTATION_JOBS` processes at once, each with debug assertions and overflow checks on (the compiler is optimised in a
//! debug build too). `KILN_MUTATION_FORMAT=onnx` makes those of one format alone. `KILN_MUTATION=12345` with that and the same seed compiles one mutant alone and writes its file to
//! `target/kiln/mutants`.
//!
//! What is accepted has been verified and its plan checked by [`compile`] itself; of one small model in four (of all, in a sweep and with `KILN_MUTATIONS`) the emitted Rust parses, and the compiled graph
//! computes what the imported one does.

use kiln_codegen::{compile, front::FORMATS, import, Error, Options};
use kiln_host_tests::mutate::{meaning, mutant, seeds, Mutant, Seed};
use kiln_host_tests::{cpu_time, sweeps};
use peak_alloc::PeakAlloc;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Mutants of each format that every test run makes. A sweep makes four times as many.
const MUTANTS: usize = 5_000;

/// Time of a processor that compiling one may take.
const LIMIT: Duration = Duration::from_secs(1);

/// Bytes of memory that compiling a file may take for each of its own.
const PER_BYTE: usize = 16;

/// Bytes on top of that, however small the file: what a few bytes can ask for. Loops and layers that are written out are 16 MB at most (`front/budget.rs`); all else that was ever seen stays below 4 MB.
const BASE: usize = 16 << 20;

/// A mutant that is not done after so long hangs.
const HANG: Duration = Duration::from_secs(60);

/// Most multiplications of models that are run.
const MOST_WORK: usize = 1 << 16;

/// Before the first, models are drawn and written.
const START: Duration = Duration::from_secs(600);

/// Faults that are listed.
const MOST_FAULTS: usize = 40;

#[test]
fn damaged_files_are_refused_or_compiled() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<usize>().unwrap());
    let run = number("KILN_MUTATION_SEED").unwrap_or(1) as u64;
    let chosen = std::env::var("KILN_MUTATION_FORMAT").ok();
    let formats = FORMATS.iter().map(|format| format.ending);
    let formats: Vec<_> =
        formats.filter(|format| chosen.as_ref().is_none_or(|chosen| chosen == format)).collect();
    assert!(!formats.is_empty(), "KILN_MUTATION_FORMAT={chosen:?} is no format");
    if let Some(range) = std::env::var_os("KILN_MUTATION_RANGE") {
        let range = range.into_string().unwrap();
        let (from, to) = range.split_once("..").unwrap();
        return work(formats[0], run, from.parse().unwrap(), to.parse().unwrap());
    }
    if let Some(index) = number("KILN_MUTATION") {
        return alone(formats[0], run, index);
    }
    let usual = if sweeps() { 4 * MUTANTS } else { MUTANTS };
    formats.into_iter().for_each(|format| damaged(format, run, number("KILN_MUTATIONS").unwrap_or(usual)));
}

/// Has so many mutants of a format compiled.
fn damaged(format: &'static str, run: u64, count: usize) {
    let jobs = std::env::var("KILN_MUTATION_JOBS").map_or(2, |jobs| jobs.parse::<usize>().unwrap().max(1));
    let share = |job: usize| count * job / jobs;
    let (sender, receiver) = channel();
    let mut total = Total::default();
    std::thread::scope(|scope| {
        for job in 0..jobs {
            let sender = sender.clone();
            scope.spawn(move || supervise(format, run, share(job), share(job + 1), &sender));
        }
        drop(sender);
        for message in receiver {
            total.add(&message);
        }
    });
    println!("{format}: {total}");
    assert!(
        total.faults.is_empty(),
        "{} faults of {format}, seed {run}:\n{}",
        total.faults.len(),
        total.faults.join("\n")
    );
    assert_eq!(total.done, count);
    // Damage in names, weights and unused fields is harmless; damage elsewhere is found.
    assert!(total.accepted > count / 100 && total.accepted < count);
}

/// A file of 8 KB can ask for a layer of many steps, each of which is some ninety operations. As many as are compiled are in proportion.
#[test]
fn layers_of_many_steps_are_refused_or_compiled() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings/onnx/dynamic_lstm_wide.onnx");
    let file = std::fs::read(path).unwrap();
    // The dimensions of its input: 3 steps of 2 sequences of 300 numbers.
    let dims = [0x0a, 2, 8, 3, 0x0a, 2, 8, 2, 0x0a, 3, 8, 0xac, 2];
    let at = file.windows(dims.len()).position(|window| window == dims).unwrap() + 3;
    let seed = Seed { name: "steps".into(), bytes: file.clone(), format: "onnx", input_shapes: Vec::new() };
    let mut accepted = Vec::new();
    for steps in [3, 60, 70, 75, 127] {
        let mut file = file.clone();
        file[at] = steps;
        let outcome = attempt(&Mutant { seed: &seed, file, options: Options::default() }, true);
        assert_eq!(outcome.fault, None, "of {steps} steps");
        accepted.extend(outcome.accepted.then_some(steps));
    }
    assert_eq!(accepted, [3, 60, 70]);
}

// ---- One process

/// Compiles the mutants of these numbers, and says of each when it begins and what is wrong with it.
fn work(format: &'static str, run: u64, from: usize, to: usize) {
    let seeds = seeds(format);
    let all = sweeps() || std::env::var_os("KILN_MUTATIONS").is_some();
    std::panic::set_hook(Box::new(|info| println!("\npanic {}", info.to_string().replace('\n', " "))));
    let (mut slowest, mut most) = ((0, 0), (0, 0));
    for index in from..to {
        say(&format!("begin {index}"));
        let mutant = mutant(&seeds, run, index);
        let Outcome { accepted, fault, took, memory } = attempt(&mutant, all || index % 4 == 0);
        if let Some(fault) = fault {
            say(&format!("fault {index} of {}: {}", mutant.seed.name, fault.replace('\n', " ")));
        }
        say(if accepted { "accepted" } else { "refused" });
        let beyond = memory.saturating_sub(PER_BYTE * mutant.file.len());
        slowest = slowest.max((took.as_micros() as usize, index));
        most = most.max((beyond, index));
    }
    say(&format!("slowest {} {}", slowest.0, slowest.1));
    say(&format!("most {} {}", most.0, most.1));
}

/// A line for the process that waits for it. The first part of a line is libtest's.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "\nmutants: {line}");
    let _ = out.flush();
}

struct Outcome {
    accepted: bool,
    fault: Option<String>,
    took: Duration,
    memory: usize,
}

/// Compiles a mutant; what it means is checked, too, if it is small.
fn attempt(mutant: &Mutant<'_>, has_meaning: bool) -> Outcome {
    let Mutant { file, options, .. } = mutant;
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let started = cpu_time();
    let result = std::panic::catch_unwind(|| compile(file, "mutant", options));
    let took = cpu_time().saturating_sub(started);
    let memory = ALLOCATOR.peak_usage().saturating_sub(before);
    let mut fault = match &result {
        Err(_) => Some("a panic".to_owned()),
        Ok(Err(Error::Internal { stage, message })) => Some(format!("{stage}: {message}")),
        // Some are told as refusals.
        Ok(Err(error)) if error.to_string().contains("a bug in Kiln") => Some(error.to_string()),
        Ok(_) => None,
    };
    let compiled = result.ok().and_then(Result::ok);
    if took > LIMIT {
        fault = Some(format!("it took {took:?}"));
    }
    if memory > PER_BYTE * file.len() + BASE {
        fault = Some(format!("it took {} KB of memory, and is of {} bytes", memory >> 10, file.len()));
    }
    let accepted = compiled.is_some();
    if let Some(compiled) = compiled.filter(|_| has_meaning) {
        let imported = import(file, "mutant", options).expect("what compiles can be imported");
        let checked = std::panic::catch_unwind(|| meaning::check(&imported, &compiled, MOST_WORK));
        fault = fault.or(match checked {
            Ok(result) => result.err(),
            Err(_) => Some("a panic of what was compiled".into()),
        });
    }
    Outcome { accepted, fault, took, memory }
}

/// Compiles one mutant, and keeps its file.
fn alone(format: &'static str, run: u64, index: usize) {
    let seeds = seeds(format);
    let mutant = mutant(&seeds, run, index);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/kiln/mutants");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{run}_{index}.{format}"));
    std::fs::write(&path, &mutant.file).unwrap();
    println!("{} of {}, with {:?}", path.display(), mutant.seed.name, mutant.options);
    if let Err(error) = compile(&mutant.file, "mutant", &mutant.options) {
        println!("{error}");
    }
    let Outcome { accepted, fault, took, memory } = attempt(&mutant, true);
    println!("accepted: {accepted}, {took:?}, {memory} bytes of memory, {fault:?}");
    assert_eq!(fault, None);
}

// ---- All processes

/// Has mutants compiled by a process of its own, and by another one where that dies or hangs.
fn supervise(format: &str, run: u64, mut from: usize, to: usize, messages: &Sender<String>) {
    while from < to {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "damaged_files_are_refused_or_compiled", "--nocapture"])
            .env("KILN_MUTATION_RANGE", format!("{from}..{to}"))
            .env("KILN_MUTATION_FORMAT", format)
            .env("KILN_MUTATION_SEED", run.to_string())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (sender, receiver) = channel();
        let reader = std::thread::spawn(move || {
            lines.map_while(Result::ok).try_for_each(|line| sender.send(line)).ok();
        });
        let (mut at, mut is_done, mut limit) = (from, false, START);
        loop {
            match receiver.recv_timeout(limit) {
                Ok(line) => {
                    let Some(line) = line.strip_prefix("mutants: ") else {
                        if line.starts_with("panic ") {
                            messages.send(line).unwrap();
                        }
                        continue;
                    };
                    if let Some(index) = line.strip_prefix("begin ") {
                        at = index.parse().unwrap();
                        limit = HANG;
                    }
                    is_done |= line.starts_with("most ");
                    messages.send(line.to_owned()).unwrap();
                }
                Err(RecvTimeoutError::Timeout) => {
                    messages.send(format!("fault {at}: it hangs")).unwrap();
                    child.kill().unwrap();
                    break;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let status = child.wait().unwrap();
        drop(receiver);
        reader.join().unwrap();
        if is_done {
            return;
        }
        messages.send(format!("fault {at}: its process ended, {status}")).unwrap();
        messages.send("refused".into()).unwrap();
        from = at + 1;
    }
}

/// What all processes said.
#[derive(Default)]
struct Total {
    done: usize,
    accepted: usize,
    faults: Vec<String>,
    panic: String,
    slowest: (usize, usize),
    most: (usize, usize),
}

impl Total {
    fn add(&mut self, message: &str) {
        let (what, rest) = message.split_once(' ').unwrap_or((message, ""));
        let pair = || {
            let (a, b) = rest.split_once(' ').unwrap();
            (a.parse().unwrap(), b.parse().unwrap())
        };
        match what {
            "accepted" | "refused" => {
                self.done += 1;
                self.accepted += usize::from(what == "accepted");
                if self.done % 10_000 == 0 {
                    println!(
                        "{} mutants, {} accepted, {} faults",
                        self.done,
                        self.accepted,
                        self.faults.len()
                    );
                }
            }
            "panic" => self.panic = rest.to_owned(),
            "fault" => {
                let fault = match rest.contains("a panic") {
                    true => format!("{rest}: {}", self.panic),
                    false => rest.to_owned(),
                };
                println!("fault {fault}");
                if self.faults.len() < MOST_FAULTS {
                    self.faults.push(fault);
                }
            }
            "slowest" => self.slowest = self.slowest.max(pair()),
            "most" => self.most = self.most.max(pair()),
            _ => {}
        }
    }
}

impl std::fmt::Display for Total {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ((took, slowest), (memory, largest)) = (self.slowest, self.most);
        write!(f, "{} mutants, {} accepted; ", self.done, self.accepted)?;
        write!(f, "the slowest, {slowest}, took {:.1} ms; ", took as f64 / 1000.0)?;
        write!(f, "{largest} took {} KB of memory beyond {PER_BYTE} times its size", memory >> 10)
    }
}
