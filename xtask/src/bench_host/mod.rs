//! `cargo xtask bench-host`: Kiln beside LiteRT, ONNX Runtime and tract on this machine, all in turns on one
//! core, one inference at a time.
mod golden;
mod kiln;
mod layers;
mod limit;
mod models;
mod peers;
mod process;
mod table;

use crate::compiling::BENCH_HOST;
use crate::step::{root, say, Failure};
use golden::{compare, Allowed, Difference, Golden};
use kiln::{Model, Rustc};
use kiln_codegen::{Events, Float};
use limit::Limit;
use models::{Entry, Kind, ENTRIES};
use peers::Peer;
use process::Contestant;
use std::fs;
use std::path::{Path, PathBuf};
use table::{Peaks, Race};

/// How long a batch of inferences takes at least.
const BATCH_MILLISECONDS: u64 = 30;

/// What was asked for.
#[derive(Clone, Debug, PartialEq)]
struct Arguments {
    rounds: usize,
    models: Option<String>,
    peers: String,
    core: Option<usize>,
    cores: usize,
    level: Option<String>,
    layers: Option<String>,
    float: Float,
    write_docs: bool,
}

impl Arguments {
    fn parse(words: &[&str]) -> Result<Arguments, String> {
        let peers = Peer::USUAL.map(Peer::name).join(",");
        let mut arguments = Arguments {
            rounds: 12,
            models: None,
            peers,
            core: None,
            cores: 1,
            level: None,
            layers: None,
            float: Float::Fast,
            write_docs: false,
        };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            let mut value = || words.next().map(|text| text.to_string()).ok_or(format!("{word} what?"));
            let number =
                |text: String| text.parse::<usize>().map_err(|_| format!("{word} {text}: no number"));
            match word {
                "--rounds" => arguments.rounds = number(value()?)?.max(1),
                "--models" => arguments.models = Some(value()?),
                "--peers" => arguments.peers = value()?,
                "--core" => arguments.core = Some(number(value()?)?),
                "--cores" => arguments.cores = number(value()?)?.clamp(1, 64),
                "--level" => arguments.level = Some(value()?),
                "--layers" => arguments.layers = Some(value()?),
                "--float" => {
                    arguments.float =
                        value()?.parse().map_err(|error: kiln_codegen::Error| error.to_string())?
                }
                "--write-docs" => arguments.write_docs = true,
                _ => return Err(format!("bench-host has no argument {word}\n{BENCH_HOST}")),
            }
        }
        Ok(arguments)
    }
}

/// Does what the arguments say.
pub(crate) fn run_all(words: &[&str]) -> Result<(), Failure> {
    let arguments = Arguments::parse(words)?;
    let corpus = std::env::var_os("KILN_CORPUS").map(PathBuf::from);
    let corpus =
        corpus.ok_or("the models are those of the corpus, whose folder KILN_CORPUS names: it is not set")?;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let core = arguments.core.unwrap_or(cores - 1);
    if kiln_boards::toolchain::find_program("taskset").is_none() {
        say("nothing is pinned to a core: there is no `taskset`");
    }
    let host = Rustc::find()?;
    match &arguments.layers {
        Some(name) => print_layers(&arguments, &models::find(name)?, &corpus, &host, core),
        None => race(&arguments, &corpus, &host, core),
    }
}

/// All models against all peers.
fn race(arguments: &Arguments, corpus: &Path, host: &Rustc, core: usize) -> Result<(), Failure> {
    let entries = match &arguments.models {
        Some(names) => models::chosen(names)?,
        None => ENTRIES.to_vec(),
    };
    let peers = Peer::chosen(&arguments.peers)?;
    let (mut models, mut notes) = (Vec::new(), Vec::new());
    for entry in entries {
        let compile = |float| kiln::compile(&entry, corpus, host, Events::None, arguments.cores, float);
        let reproducible = (entry.kind == Kind::Float32).then(|| compile(Float::Reproducible)).transpose();
        match compile(Float::Fast)
            .and_then(|model| Ok(Contender { entry, model, reproducible: reproducible? }))
        {
            Ok(contender) => models.push(contender),
            Err(why) => notes.push(format!("{}: left out: {why}", entry.name)),
        }
    }
    let named: Vec<(String, &Model)> = models.iter().flat_map(Contender::named).collect();
    let program = kiln::build("race", &named, host)?;
    let mut kiln = kiln::start(&program, core, arguments.cores, arguments.level.as_deref())?;
    let peaks = Peaks::parse(&kiln.ask(&["peaks"], "peaks")?)?;
    let mut others = Vec::new();
    if !peers.is_empty() {
        let python = peers::python()?;
        let limit = match is_limited(arguments.level.as_deref()) {
            true => Some(Limit::prepare(&python)?),
            false => None,
        };
        for peer in &peers {
            let mut contestant = peer.start(&python, core, limit.as_ref())?;
            let call = table::micros(contestant.empty_calls(BATCH_MILLISECONDS)?.least);
            notes.push(format!("{}: a call that computes nothing takes {call} µs", peer.title()));
            others.push((*peer, contestant));
        }
    }
    let mut races = Vec::new();
    for contender in &models {
        say(contender.entry.name);
        match race_one(arguments.rounds, corpus, contender, &mut kiln, &mut others, &mut notes) {
            Ok(race) => races.push(race),
            Err(why) => notes.push(format!("{}: left out: {why}", contender.entry.name)),
        }
    }
    let machine = machine(arguments.level.as_deref(), host);
    let packages: Vec<&str> = peers.iter().map(|peer| peer.package()).collect();
    println!("\n{machine}, {} rounds; {}", arguments.rounds, packages.join(", "));
    println!("{}\n{}", peaks.text(), table::text(&races, &peers, &peaks));
    notes.iter().for_each(|note| println!("{note}"));
    if arguments.write_docs {
        let versions = packages.join(", ").replace("==", " ");
        let table = table::markdown(&races, &peers, &peaks);
        let text = format!("One core of {machine}; {versions}.{}\n\n{table}", peaks.sentence());
        let path = root().join("docs/benchmarks.md");
        let page = table::between_markers(&fs::read_to_string(&path)?, arguments.level.as_deref(), &text)?;
        kiln_codegen::write_whole(&path, page)?;
    }
    Ok(())
}

/// A model of the race.
struct Contender {
    entry: Entry,
    model: Model,
    /// The same with reproducible floats, where most of it is floats.
    reproducible: Option<Model>,
}

impl Contender {
    /// Its models, by their names in the program.
    fn named(&self) -> Vec<(String, &Model)> {
        let mut named = vec![(self.entry.name.to_owned(), &self.model)];
        named.extend(self.reproducible.as_ref().map(|model| (self.entry.reproducible(), model)));
        named
    }
}

/// One model, in turns. A peer that cannot run it, or computes something else, is left out, with a note.
fn race_one(
    rounds: usize,
    corpus: &Path,
    Contender { entry, model, reproducible }: &Contender,
    kiln: &mut Contestant,
    others: &mut [(Peer, Contestant)],
    notes: &mut Vec<String>,
) -> Result<Race, Failure> {
    let golden = Golden::read(&corpus.join(entry.golden()))?;
    let allowed = allowed(entry, model);
    let reproducible = reproducible.as_ref().map(|_| entry.reproducible());
    for name in [Some(entry.name), reproducible.as_deref()].into_iter().flatten() {
        let difference = load(kiln, name, Path::new("-"), &golden, allowed)?;
        if difference.share > 0.0 {
            return Err(difference.to_string().into());
        }
    }
    let (mut ready, mut of_litert) = (Vec::new(), None);
    for (peer, contestant) in others {
        let file = match peer.file(entry, corpus) {
            Ok(Some(file)) => Ok(file),
            Ok(None) => continue,
            Err(why) => Err(why),
        };
        match file.and_then(|file| load(contestant, entry.name, &file, &golden, allowed)) {
            Ok(difference) if is_same_network(*peer, difference, of_litert) => {
                if difference.share > 0.0 {
                    notes.push(format!("{}: in {}, {difference}", entry.name, peer.title()));
                }
                of_litert = of_litert.or((*peer == Peer::LiteRt).then_some(difference));
                ready.push((*peer, contestant, Vec::new()));
            }
            Ok(difference) => notes.push(format!(
                "{}: not compared with {}: {difference}, further than LiteRT's",
                entry.name,
                peer.title()
            )),
            Err(why) => notes.push(format!("{}: not compared with {}: {why}", entry.name, peer.title())),
        }
    }
    let (mut of_kiln, mut of_reproducible) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        of_kiln.push(kiln.batch(entry.name, BATCH_MILLISECONDS)?);
        if let Some(name) = &reproducible {
            of_reproducible.push(kiln.batch(name, BATCH_MILLISECONDS)?);
        }
        for (_, contestant, batches) in &mut ready {
            batches.push(contestant.batch(entry.name, BATCH_MILLISECONDS)?);
        }
    }
    let peers = ready.into_iter().map(|(peer, _, batches)| (peer, batches)).collect();
    Ok(Race { entry: *entry, macs: model.macs, kiln: of_kiln, reproducible: of_reproducible, peers })
}

/// Whether outputs of a peer are those of the same network. LiteRT runs the very file that Kiln compiled: it
/// rounds in other ways, which shows in deep networks and behind steep functions. What it may differ by,
/// twice that, a converted network may, too.
fn is_same_network(peer: Peer, difference: Difference, of_litert: Option<Difference>) -> bool {
    let as_litert = of_litert.is_some_and(|of_litert| difference.most <= 2.0 * of_litert.most);
    peer == Peer::LiteRt || difference.share == 0.0 || as_litert
}

/// Has a contestant load a model, and compares what it computes of the golden cases.
fn load(
    contestant: &mut Contestant,
    name: &str,
    file: &Path,
    golden: &Golden,
    allowed: Allowed,
) -> Result<Difference, Failure> {
    let cases = kiln::work_dir().join("cases");
    fs::create_dir_all(&cases)?;
    let inputs = cases.join(format!("{name}.in"));
    let outputs = cases.join(format!("{name}.{}.out", contestant.name()));
    fs::write(&inputs, &golden.inputs)?;
    let sizes: Vec<String> = golden.sizes.iter().map(usize::to_string).collect();
    let path = |path: &Path| path.display().to_string();
    let (file, inputs, answer) = (path(file), path(&inputs), path(&outputs));
    let (kinds, sizes) = (golden.kinds.join(","), sizes.join(","));
    contestant.ask(&["load", name, &file, &inputs, &answer, &kinds, &sizes], "loaded")?;
    let given = fs::read(&outputs)?;
    let given: Vec<f32> =
        given.chunks_exact(4).map(|raw| f32::from_le_bytes([raw[0], raw[1], raw[2], raw[3]])).collect();
    Ok(compare(&golden.outputs, &given, allowed)?)
}

/// How far outputs may lie from the golden ones.
fn allowed(entry: &Entry, model: &Model) -> Allowed {
    let graph = &model.compiled.graph;
    let integers = graph.outputs.iter().all(|output| graph.ty(*output).dtype != kiln_codegen::ir::DType::F32);
    match (integers, entry.kind) {
        (true, _) => Allowed::Steps(2.0),
        (false, Kind::Int8) => Allowed::OfLargest(0.02),
        (false, Kind::Float32) => Allowed::OfLargest(1e-3),
    }
}

/// The layers of one model.
fn print_layers(
    arguments: &Arguments,
    entry: &Entry,
    corpus: &Path,
    host: &Rustc,
    core: usize,
) -> Result<(), Failure> {
    let model = kiln::compile(entry, corpus, host, Events::Layers, arguments.cores, arguments.float)?;
    let program = kiln::build("layers", &[(entry.name.to_owned(), &model)], host)?;
    let mut kiln = kiln::start(&program, core, arguments.cores, arguments.level.as_deref())?;
    let peaks = Peaks::parse(&kiln.ask(&["peaks"], "peaks")?)?;
    let golden = Golden::read(&corpus.join(entry.golden()))?;
    let difference = load(&mut kiln, entry.name, Path::new("-"), &golden, allowed(entry, &model))?;
    if difference.share > 0.0 {
        return Err(difference.to_string().into());
    }
    let table = layers::table(&mut kiln, entry, &model, &peaks, arguments.rounds, BATCH_MILLISECONDS)?;
    println!("\n{} on {}\n{}\n{table}", entry.file, machine(arguments.level.as_deref(), host), peaks.text());
    Ok(())
}

/// Whether peers are limited, too.
fn is_limited(level: Option<&str>) -> bool {
    level == Some(limit::LEVEL) && cfg!(all(target_os = "linux", target_arch = "x86_64"))
}

/// This machine, in words.
fn machine(level: Option<&str>, host: &Rustc) -> String {
    let information = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let who = if is_limited(level) { "all" } else { "Kiln" };
    let level = level.map(|level| format!(", {who} limited to {level}")).unwrap_or_default();
    format!(
        "{} ({}, Rust {}.{}){level}",
        processor(&information),
        host.triple,
        host.version.0,
        host.version.1
    )
}

/// The processor's name.
fn processor(information: &str) -> String {
    let field = |name: &str| {
        let value = information.lines().find_map(|line| line.strip_prefix(name)?.trim().strip_prefix(':'));
        value.map(|value| value.trim().to_owned())
    };
    let Some(name) = field("model name") else { return "unknown processor".into() };
    match (field("cpu family"), field("model\t")) {
        (Some(family), Some(model)) => format!("{name}, family {family}, model {model}"),
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_have_defaults() {
        let arguments = Arguments::parse(&[]).unwrap();
        assert_eq!((arguments.rounds, arguments.peers.as_str()), (12, "litert,onnxruntime"));
        let arguments =
            Arguments::parse(&["--rounds", "3", "--models", "kws,ad", "--level", "avx2"]).unwrap();
        assert_eq!((arguments.rounds, arguments.models.as_deref()), (3, Some("kws,ad")));
        assert_eq!((arguments.level.as_deref(), arguments.write_docs), (Some("avx2"), false));
        for wrong in [&["--rounds"][..], &["--rounds", "many"], &["kws"]] {
            assert!(Arguments::parse(wrong).unwrap_err().contains(wrong[0]));
        }
    }

    #[test]
    fn networks_are_the_same_where_litert_differs_as_much() {
        let expected = [0.0; 4];
        let by = |most: f32| compare(&expected, &[most, 0.0, 0.0, 0.0], Allowed::Steps(2.0)).unwrap();
        assert!(is_same_network(Peer::LiteRt, by(80.0), None));
        assert!(is_same_network(Peer::OnnxRuntime, by(2.0), None));
        assert!(!is_same_network(Peer::OnnxRuntime, by(3.0), None));
        assert!(is_same_network(Peer::OnnxRuntime, by(80.0), Some(by(40.0))));
        assert!(!is_same_network(Peer::OnnxRuntime, by(81.0), Some(by(40.0))));
    }

    #[test]
    fn the_document_has_a_place_for_the_table() {
        let page = fs::read_to_string(root().join("docs/benchmarks.md")).unwrap();
        for (level, end) in
            [(None, "a table\n<!-- /bench-host -->"), (Some("avx2"), "a table\n<!-- /bench-host avx2 -->")]
        {
            assert!(table::between_markers(&page, level, "a table\n").unwrap().contains(end));
        }
        assert!(table::between_markers(&page, Some("portable"), "a table\n").is_err());
    }

    #[test]
    fn processors_have_names() {
        let information = "processor\t: 0\ncpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n";
        assert_eq!(processor(information), "AMD EPYC, family 26, model 2");
        assert_eq!(processor(""), "unknown processor");
    }
}
