//! Where a model can be run.

use anyhow::{bail, Context, Result};
use kiln_boards::cases::Cases;
use kiln_boards::{firmware, host, probe, qemu, Board, EmulatedHost};
use kiln_codegen::ir::{Data, Graph};
use kiln_codegen::{write_whole, Compiled, Optimize, Options, Target};
use kiln_tools::cases::run::interpret_as;
use quote::quote;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::time::Duration;

pub use kiln_tools::cases::run::{interpret, is_sequence};

/// The longest a run of all cases may take.
pub const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The instruction sets of kernels on hosts (`kiln::Level::name`).
const LEVELS: [&str; 7] = ["portable", "avx2", "avx-vnni", "avx512", "neon", "dotprod", "simd128"];

/// The processor of this machine, as Rust's triples begin.
pub(crate) const HOST: &str = std::env::consts::ARCH;

/// A place to run a model.
#[derive(Clone, Debug)]
pub enum Place {
    /// The interpreter, on the graph as imported: no pass has touched it.
    Interp,
    /// Generated code in a process of this machine, with the best instruction set that it has.
    Host,
    /// The same with the instruction set of that name.
    HostAt(&'static str),
    /// Generated code in a process of an emulated host.
    EmulatedHost(&'static EmulatedHost),
    /// Generated code as firmware on an emulated board.
    Emulated(&'static Board),
    /// Generated code as firmware on a real board, with the serial number of its debug probe where there are several.
    Real(&'static Board, Option<String>),
}

impl Place {
    /// The place of that name. A real board may have the serial number of its debug probe behind it: `nrf52840-dk@1050001234`.
    ///
    /// # Errors
    /// Lists the names there are.
    pub fn find(name: &str) -> Result<Place> {
        if let Some(host) = EmulatedHost::find(name) {
            return Ok(Place::EmulatedHost(host));
        }
        match name {
            "interp" => Ok(Place::Interp),
            "host" => Ok(Place::Host),
            _ if name.starts_with("host@") => {
                let names = LEVELS.join("`, `host@");
                let level = LEVELS.iter().find(|level| name.ends_with(&format!("@{level}")));
                let level = level.with_context(|| format!("instruction sets of hosts are `host@{names}`"))?;
                Ok(Place::HostAt(level))
            }
            _ => {
                let (board, serial) = match name.split_once('@') {
                    Some((board, serial)) => (board, Some(serial.to_owned())),
                    None => (name, None),
                };
                let board = Board::find(board).with_context(|| {
                    let names: Vec<&str> = EmulatedHost::all().iter().map(|host| host.name).collect();
                    format!(
                        "a place is `interp`, `host`, an emulated host (`{}`) or a board",
                        names.join("`, `")
                    )
                })?;
                match (board.is_emulated(), serial) {
                    (true, Some(_)) => bail!("board `{}` is emulated: it has no debug probe", board.name),
                    (true, None) => Ok(Place::Emulated(board)),
                    (false, serial) => Ok(Place::Real(board, serial)),
                }
            }
        }
    }

    /// The options with which code is compiled that runs here: for the board's processor, unless another target is asked for.
    pub fn options(&self, options: &Options) -> Options {
        let (triple, flags): (&str, &[String]) = match self {
            // One thread, for no processor.
            Place::Interp => return Options { cores: None, ..options.clone() },
            Place::Host | Place::HostAt(_) => (HOST, &[]),
            Place::EmulatedHost(host) => (host.target, &[]),
            Place::Emulated(board) | Place::Real(board, _) => (&board.target, &board.rustflags),
        };
        for_processor(options, triple, flags)
    }

    /// The outputs of every case, which are the steps of one sequence if the model has state.
    ///
    /// # Errors
    /// Where the model cannot be built or run there.
    pub fn run(&self, imported: &Graph, compiled: &Compiled, cases: &[Vec<Data>]) -> Result<Vec<Vec<Data>>> {
        self.build(imported, compiled)?.run(cases, is_sequence(imported))
    }

    /// The model in this place, ready to run.
    ///
    /// # Errors
    /// Where the model cannot be built for it.
    pub fn build<'g>(&self, imported: &'g Graph, compiled: &Compiled) -> Result<Built<'g>> {
        Ok(match self {
            Place::Interp => Built::Interp(imported),
            Place::Host => Built::Host(build_program(compiled, None)?, None),
            Place::HostAt(level) => Built::Host(build_program(compiled, None)?, Some(level)),
            Place::EmulatedHost(host) => Built::Host(build_program(compiled, Some(host))?, None),
            Place::Emulated(board) => {
                Built::Emulated(Box::new(build_firmware(compiled, board, firmware::Mode::Validate)?))
            }
            Place::Real(board, serial) => {
                probe::expect_usb()?;
                let image = build_firmware(compiled, board, firmware::Mode::Validate)?;
                Built::Real(Box::new(image), serial.clone())
            }
        })
    }
}

/// What became of a case.
#[derive(Clone, Debug)]
pub struct Ran {
    /// Its outputs; none where a row completed none.
    pub outputs: Vec<Data>,
    /// What it took, where that is known.
    pub took: Option<Took>,
}

/// What a case took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Took {
    /// Nanoseconds, measured on this machine.
    Nanos(u64),
    /// Cycles, estimated from what an emulator executed.
    Cycles(u64),
}

/// A model that is ready to run in a place.
#[derive(Debug)]
pub enum Built<'g> {
    /// As a graph.
    Interp(&'g Graph),
    /// As a program of this machine or of an emulated host, with the instruction set of that name or the best.
    Host(host::Program, Option<&'static str>),
    /// As firmware for QEMU.
    Emulated(Box<firmware::Firmware>),
    /// As firmware for a real board, with the serial number of its debug probe.
    Real(Box<firmware::Firmware>, Option<String>),
}

impl<'g> Built<'g> {
    /// The same program in a place that another instruction set alone tells from this one; none where the model has to be built anew.
    pub fn at(&self, place: &Place) -> Option<Built<'g>> {
        match (self, place) {
            (Built::Host(program, _), Place::Host) if program.on.is_none() => {
                Some(Built::Host(program.clone(), None))
            }
            (Built::Host(program, _), Place::HostAt(level)) if program.on.is_none() => {
                Some(Built::Host(program.clone(), Some(level)))
            }
            _ => None,
        }
    }

    /// Every case as [`run`](Built::run) runs it, and what each took, where that is known.
    ///
    /// # Errors
    /// Where the model cannot run.
    pub fn run_measured(&self, cases: &[Vec<Data>], sequence: bool) -> Result<Vec<Ran>> {
        let inputs = || cases.iter().map(|case| case.iter().map(|d| d.bytes().to_vec()).collect()).collect();
        let file = || Cases { sequence, inputs: inputs() };
        let (outputs, took) = match self {
            Built::Host(program, level) if program.on.is_none() => {
                let (outputs, times) = host::validate_timed(program, &file(), *level, TIME_LIMIT)?;
                (data(outputs), times.iter().map(|time| Took::Nanos(time.as_nanos() as u64)).collect())
            }
            Built::Emulated(image) => {
                let (outputs, counts) = qemu::validate_counted(image, &file(), TIME_LIMIT)?;
                // A case that is given row by row has as many invocations as rows.
                let each = (counts.len() / cases.len().max(1)).max(1);
                let cycles = counts.chunks(each).map(|counts| counts.iter().map(|count| count.cycles).sum());
                (data(outputs), cycles.map(Took::Cycles).collect())
            }
            Built::Interp(_) | Built::Host(..) | Built::Real(..) => (self.run(cases, sequence)?, Vec::new()),
        };
        let took = took.into_iter().map(Some).chain(std::iter::repeat(None));
        Ok(outputs.into_iter().zip(took).map(|(outputs, took)| Ran { outputs, took }).collect())
    }

    /// The outputs of every case; none where a case is a row (of a model that is fed by rows) that completes none. `sequence`: the model
    /// is reset before the first case only. The interpreter takes no rows.
    ///
    /// # Errors
    /// Where the model cannot run.
    pub fn run(&self, cases: &[Vec<Data>], sequence: bool) -> Result<Vec<Vec<Data>>> {
        let inputs = || cases.iter().map(|case| case.iter().map(|d| d.bytes().to_vec()).collect()).collect();
        let file = || Cases { sequence, inputs: inputs() };
        Ok(match self {
            Built::Interp(graph) => interpret_as(graph, cases, sequence)?,
            Built::Host(program, level) => data(host::validate(program, &file(), *level, TIME_LIMIT)?),
            Built::Emulated(image) => data(qemu::validate(image, &file(), TIME_LIMIT)?),
            Built::Real(image, serial) => {
                data(probe::validate(image, &file(), serial.as_deref(), TIME_LIMIT)?)
            }
        })
    }
}

/// The options with which code is compiled for a board: for its processor, unless another target is asked for.
pub fn for_board(options: &Options, board: &Board) -> Options {
    for_processor(options, &board.target, &board.rustflags)
}

fn for_processor(options: &Options, triple: &str, flags: &[String]) -> Options {
    let flags: Vec<&str> = flags.iter().map(String::as_str).collect();
    let target = options.target.unwrap_or_else(|| Target::of_triple(triple, &flags));
    Options { target: Some(target), ..options.clone() }
}

/// The emulated board of that name.
///
/// # Errors
/// Lists the names there are.
pub fn emulated(name: &str) -> Result<&'static Board> {
    let boards: Vec<&Board> = Board::all().iter().filter(|board| board.is_emulated()).collect();
    let Some(board) = boards.iter().find(|board| board.name == name) else {
        let names: Vec<&str> = boards.iter().map(|board| board.name.as_str()).collect();
        bail!("there is no emulated board `{name}`; there are {}", names.join(", "));
    };
    Ok(board)
}

/// Builds a compiled model as firmware of a board.
///
/// # Errors
/// Where it does not build or does not fit.
pub fn build_firmware(
    compiled: &Compiled,
    board: &Board,
    mode: firmware::Mode,
) -> Result<firmware::Firmware> {
    Ok(firmware::build(&firmware::BuildRequest {
        board,
        model_rs: &write_model(compiled)?,
        model_type: &compiled.type_name(),
        mode,
        opt_level: match compiled.options.optimize {
            Optimize::Size => firmware::OptLevel::Size,
            Optimize::Speed | Optimize::Memory => firmware::OptLevel::Speed,
        },
        runtime_features: &[],
    })?)
}

/// Builds a compiled model as a program of this machine, or of an emulated host.
fn build_program(compiled: &Compiled, on: Option<&'static EmulatedHost>) -> Result<host::Program> {
    let request = host::BuildRequest {
        model_rs: &write_model(compiled)?,
        model_type: &compiled.type_name(),
        runtime_features: &[],
    };
    Ok(host::build_on(on, &request)?)
}

fn write_model(compiled: &Compiled) -> Result<PathBuf> {
    if let Some(custom) = compiled.program.customs.first() {
        bail!(
            "the custom operator `{}` is the function `{}` of your crate, which is not known here: run the model in a test of that crate",
            custom.name,
            custom.path
        );
    }
    let folder = kiln_boards::work_dir()?.join("models");
    std::fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
    // Named after its contents, so that processes that compile one model with different options do not meet.
    let code = compiled.file(&quote!(pub))?;
    let mut hasher = DefaultHasher::new();
    code.hash(&mut hasher);
    let path = folder.join(format!("{}-{:016x}.rs", compiled.graph.name, hasher.finish()));
    write_whole(&path, &code)?;
    Ok(path)
}

fn data(outputs: Vec<Vec<Vec<u8>>>) -> Vec<Vec<Data>> {
    outputs.into_iter().map(|case| case.into_iter().map(Data::new).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_name_lists_the_right_ones() {
        for name in ["nucleo", "", "nrf52840"] {
            let message = format!("{:#}", Place::find(name).unwrap_err());
            assert!(message.contains("`interp`, `host`") && message.contains("qemu-cortex-m33"), "{message}");
            assert!(message.contains("raspberry-pi-pico") && message.contains("`aarch64`"), "{message}");
        }
    }

    #[test]
    fn a_real_board_may_say_which_probe() {
        let Place::Real(board, serial) = Place::find("nrf52840-dk@1234").unwrap() else { panic!() };
        assert_eq!((board.name.as_str(), serial.as_deref()), ("nrf52840-dk", Some("1234")));
        assert!(matches!(Place::find("nrf52840-dk").unwrap(), Place::Real(_, None)));
        let message = Place::find("qemu-cortex-m4@1234").unwrap_err().to_string();
        assert!(message.contains("has no debug probe"), "{message}");
    }
}
