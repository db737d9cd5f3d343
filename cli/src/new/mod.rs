//! `cargo kiln new`: a firmware crate for a model and a board.
//!
//! Everything is checked, computed and rendered first; only then is anything written, and then all of it or nothing.

mod destination;
mod fit;
mod include;
mod operators;
mod platform;
mod sample;
mod template;

pub use platform::{flavours, Flavour};

use anyhow::{bail, Context, Result};
use destination::Destination;
use kiln_boards::{toolchain, Board, Runner, Source};
use kiln_codegen::front::{format_of, inspect};
use kiln_codegen::{import, model_name, read_file, Options};
use std::fmt;
use std::path::{Path, PathBuf};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// The folder to be made: its name is the crate's.
    pub folder: PathBuf,
    /// Name of the board.
    pub board: String,
    /// The model: a file of any format that Kiln reads.
    pub model: PathBuf,
    /// What the firmware is built around.
    pub flavour: Flavour,
    /// Whether the crate has a test for the board, of the crate `embedded-test`.
    pub embedded_test: bool,
    /// The options of the compiler, those of the board's processor aside.
    pub options: Options,
    /// Checkout of Kiln that the crate depends on; otherwise the one this program was built in, or else the release of its version.
    pub kiln: Option<PathBuf>,
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Created {
    /// The folder.
    pub folder: PathBuf,
    /// Its files, relative to it.
    pub files: Vec<String>,
    /// Bytes of RAM the model needs, and bytes of constants.
    pub ram_and_constants: (usize, usize),
    /// The board.
    pub board: &'static Board,
    /// Whether it has a test for the board.
    pub embedded_test: bool,
}

impl fmt::Display for Created {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ram, constants) = self.ram_and_constants;
        let folder = self.folder.display();
        writeln!(
            f,
            "{folder}: {} files; the model takes {ram} B of RAM and {constants} B of constants",
            self.files.len()
        )?;
        let missing = missing(self);
        if !missing.is_empty() {
            writeln!(f, "first, since it is missing here:")?;
            missing.iter().try_for_each(|what| writeln!(f, "    {what}"))?;
            writeln!(f, "then:")?;
        }
        let place = if self.board.is_emulated() { "under QEMU" } else { "on the board" };
        writeln!(f, "    cd {folder}")?;
        writeln!(f, "    cargo run --release    # {place}")?;
        writeln!(f, "    cargo host-test        # its tests, on this machine")?;
        match self.embedded_test {
            true => writeln!(f, "    cargo test --release   # its test on the board"),
            false => Ok(()),
        }
    }
}

/// What firmware for the board needs that is not here, and how to get it.
fn missing(created: &Created) -> Vec<String> {
    let board = created.board;
    let target = (!toolchain::has_target_already(&board.target))
        .then(|| format!("rustup target add {}", board.target));
    let emulator = match &board.runner {
        Runner::Qemu { program, .. } if toolchain::find_program(program).is_none() => {
            Some(format!("install {program} ({})", toolchain::how_to_install(program)))
        }
        _ => None,
    };
    let probe_rs = (created.embedded_test && toolchain::find_program("probe-rs").is_none())
        .then(|| "cargo install probe-rs-tools".to_owned());
    target.into_iter().chain(emulator).chain(probe_rs).collect()
}

/// Makes the crate.
///
/// # Errors
/// Where the name is none for a crate, the folder is not empty, the board is not known or has no template of that flavour, the model
/// does not compile or does not fit the board, or a file cannot be written. Nothing is written then.
pub fn create(request: &Request) -> Result<Created> {
    let destination = Destination::check(&request.folder)?;
    include::check(&request.options)?;
    let board = Board::find(&request.board)?;
    let platform = platform::platform(board, request.flavour)?;
    if request.embedded_test && board.is_emulated() {
        bail!(
            "board `{}` is emulated, and probe-rs, which runs tests on a board, needs a real one\n    help: leave out --tests; `cargo run` compares the sample's answer under QEMU, too",
            board.name
        );
    }
    let kiln = request.kiln.as_deref().map_or(Ok(Source::find()), Source::named)?;

    let bytes = read_file(&request.model)?;
    let file = model_file(&request.model);
    let name = model_name(Path::new(&file));
    let graph = import(&bytes, &name, &request.options)?;
    let sample = sample::answered(&operators::with_zeros(graph))
        .context("the interpreter cannot run the model: a bug in Kiln")?;
    let sample_bytes = sample.inputs.len() + sample.outputs.len();
    let room = platform.room(board);
    let mut options = request.options.clone();
    // Its copy stands beside that of the model.
    let schedule = options.schedule.as_mut().and_then(|schedule| {
        schedule.path = format!("models/{name}.schedule");
        Some((schedule.path.clone(), schedule.text.clone()?.into_bytes()))
    });
    let compiled = fit::compile_for(&bytes, &name, &options, board, room, sample_bytes)?;

    let mut files = template::render(&template::Project {
        destination: &destination,
        board,
        platform: &platform,
        embedded_test: request.embedded_test,
        kiln: &kiln,
        model_file: &file,
        feature: format_of(&bytes)?.feature,
        compiled: &compiled,
        macs: inspect(&bytes)?.macs,
    })?;
    files.push((format!("models/{file}"), bytes));
    files.extend(schedule);
    files.push(("models/sample.in".into(), sample.inputs));
    files.push(("models/sample.out".into(), sample.outputs));
    if platform.has_memory_x() {
        files.push(("memory.x".into(), board.memory_x.clone().into_bytes()));
    }
    files.sort();
    destination.write(&files)?;
    Ok(Created {
        folder: request.folder.clone(),
        files: files.into_iter().map(|(path, _)| path).collect(),
        ram_and_constants: (compiled.plan.ram_bytes(), compiled.program.constant_bytes()),
        board,
        embedded_test: request.embedded_test,
    })
}

/// The name of the model's copy: that of the file, without what manifests, shells and source code trip over.
fn model_file(model: &Path) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '_' };
    let name: String = model.file_name().unwrap_or_default().to_string_lossy().chars().map(plain).collect();
    name.trim_start_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_plain_names() {
        assert_eq!(model_file(Path::new("a b/kws-v1.2.tflite")), "kws-v1.2.tflite");
        assert_eq!(model_file(Path::new("my \"model\" (3).tflite")), "my__model___3_.tflite");
    }
}
