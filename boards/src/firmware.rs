//! Building firmware: one generated model, the harness around it, linked for a board.
use crate::board::Region;
use crate::error::{at, Error};
use crate::project::{main_rs, Package};
use crate::work::unique_name;
use crate::{toolchain, Board};
use std::fs;
use std::path::{Path, PathBuf};

/// What a program does with its model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Runs every case of a file and writes the outputs: `kiln_harness::validate`.
    Validate,
    /// Runs once between markers: `kiln_harness::bench`.
    Bench,
    /// Runs once, and measures each layer by a counter of the processor: `kiln_harness::bench_layers`. For models with `events = "layers"`.
    Layers,
}

impl Mode {
    pub(crate) fn function(self) -> &'static str {
        match self {
            Mode::Validate => "validate",
            Mode::Bench => "bench",
            Mode::Layers => "bench_layers",
        }
    }
}

/// What rustc optimises for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OptLevel {
    /// `opt-level = 3`.
    #[default]
    Speed,
    /// `opt-level = "s"`.
    Size,
}

/// What to build.
#[derive(Debug, Clone)]
pub struct BuildRequest<'a> {
    /// For which board.
    pub board: &'a Board,
    /// Rust that Kiln emitted.
    pub model_rs: &'a Path,
    /// Name of the model's type in `model_rs`: it implements `kiln::Model` and has a `const fn new()`.
    pub model_type: &'a str,
    /// What the firmware does.
    pub mode: Mode,
    /// What rustc optimises for.
    pub opt_level: OptLevel,
    /// Features of the crate `kiln`.
    pub runtime_features: &'a [String],
}

/// What to build where there is no model: a program of one's own.
#[derive(Debug, Clone)]
pub struct ProgramRequest<'a> {
    /// For which board.
    pub board: &'a Board,
    /// Its name.
    pub name: &'a str,
    /// The whole of `main.rs`. The crate `kiln-harness` gives it an entry point, and ways to print and to end.
    pub main_rs: String,
    /// Crates it depends on, besides `kiln` and `kiln-harness`: names and folders.
    pub dependencies: &'a [(&'a str, &'a Path)],
}

/// A linked image.
#[derive(Debug, Clone)]
pub struct Firmware {
    /// The ELF file.
    pub elf: PathBuf,
    /// The board it was linked for.
    pub board: Board,
    /// What it does.
    pub mode: Mode,
    /// Where its parts were put.
    pub placement: Placement,
    /// What the compiler had to say about it: empty where there was nothing to warn of.
    pub warnings: String,
}

/// Where the linker puts the parts of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Placement {
    /// As `memory.x` says.
    Board,
    /// Constants in the extra memory, code and statics as `memory.x` says.
    ConstantsInExtra,
    /// Constants in the lower half of the extra memory, statics and stack in the upper.
    ConstantsAndStaticsInExtra,
}

/// From this size of generated source on, its constants (about three characters a byte) cannot fit 4 MB of flash.
const SURELY_LARGE: u64 = 16 << 20;

/// What all firmware profiles have in common. The harness is not what is measured: it should be small.
macro_rules! profile {
    () => {
        "lto = \"fat\"\ncodegen-units = 1\npanic = \"abort\"\ndebug = false\n\n\
         [profile.release.package.kiln-harness]\nopt-level = \"s\"\n"
    };
}

/// Builds firmware for `request`.
///
/// Dependencies are compiled once per target and kept under [`work_dir`](crate::work_dir). Installs the target if it is missing. An image
/// that does not fit the board's memories is linked again with its constants (and then its statics) in the board's extra
/// memory, if it has one.
///
/// # Errors
/// [`Error::TooLarge`] where the image does not fit, [`Error::Failed`] where the model does not compile.
pub fn build(request: &BuildRequest) -> Result<Firmware, Error> {
    let model_rs = request.model_rs.canonicalize().map_err(at(request.model_rs))?;
    let size = fs::metadata(&model_rs).map_err(at(&model_rs))?.len();
    let what = format!("building firmware for {} from {}", request.board.name, model_rs.display());

    let mut too_large = String::new();
    for placement in placements(request.board, size) {
        match link(&package(request, &model_rs, placement), request.board, &what)? {
            Linked::Image { elf, warnings } => {
                let (board, mode) = (request.board.clone(), request.mode);
                return Ok(Firmware { elf, board, mode, placement, warnings });
            }
            Linked::TooLarge(output) => too_large = output,
        }
    }
    let reasons: Vec<&str> =
        too_large.lines().filter(|line| line.contains("will not fit in region")).collect();
    Err(Error::TooLarge { board: request.board.name.clone(), output: reasons.join("\n") })
}

/// Builds a program of one's own, for [`qemu::run`](crate::qemu::run), and returns the ELF file.
///
/// # Errors
/// [`Error::Failed`] where it does not compile, [`Error::TooLarge`] where it does not fit.
pub fn build_program(request: &ProgramRequest) -> Result<PathBuf, Error> {
    let board = request.board;
    let package = Package {
        name: unique_name(Path::new(request.name), (&board.name, &request.main_rs)),
        main_rs: request.main_rs.clone(),
        harness_features: board.harness_features.clone(),
        runtime_features: &[],
        dependencies: request.dependencies,
        profile: concat!("[profile.release]\nopt-level = 3\n", profile!()),
        files: files(board, Placement::Board),
    };
    match link(&package, board, &format!("building {} for {}", request.name, board.name))? {
        Linked::Image { elf, .. } => Ok(elf),
        Linked::TooLarge(output) => Err(Error::TooLarge { board: board.name.clone(), output }),
    }
}

enum Linked {
    Image {
        elf: PathBuf,
        warnings: String,
    },
    /// With what the linker said.
    TooLarge(String),
}

fn link(package: &Package, board: &Board, what: &str) -> Result<Linked, Error> {
    let toolchain = toolchain::ensure_target(&board.target)?;
    let ended = package.build(what, |cargo| {
        toolchain.apply(cargo);
        Ok(())
    })?;
    if !ended.status.success() && ended.output.contains("will not fit in region") {
        return Ok(Linked::TooLarge(ended.output));
    }
    let warnings = ended.succeed(what)?;
    Ok(Linked::Image { elf: package.executable(&board.target, "")?, warnings })
}

/// The placements to try, in order.
fn placements(board: &Board, model_rs_size: u64) -> Vec<Placement> {
    let mut placements = vec![Placement::Board];
    if board.memory.extra.is_some() {
        if model_rs_size >= SURELY_LARGE {
            placements.clear();
        }
        placements.extend([Placement::ConstantsInExtra, Placement::ConstantsAndStaticsInExtra]);
    }
    placements
}

fn package<'a>(request: &BuildRequest<'a>, model_rs: &Path, placement: Placement) -> Package<'a> {
    let board = request.board;
    let mut harness_features = board.harness_features.clone();
    if request.mode == Mode::Layers || (request.mode == Mode::Bench && !board.is_emulated()) {
        harness_features.push("counter".to_owned());
    }
    let different = (
        model_rs,
        request.model_type,
        &board.name,
        request.mode,
        request.opt_level,
        request.runtime_features,
        placement,
    );
    Package {
        name: unique_name(model_rs, different),
        main_rs: main_rs(&board.name, model_rs, request.model_type, request.mode.function()),
        harness_features,
        runtime_features: request.runtime_features,
        profile: match request.opt_level {
            OptLevel::Speed => concat!("[profile.release]\nopt-level = 3\n", profile!()),
            OptLevel::Size => concat!("[profile.release]\nopt-level = \"s\"\n", profile!()),
        },
        dependencies: &[],
        files: files(board, placement),
    }
}

/// What a package for a board has besides its source.
fn files(board: &Board, placement: Placement) -> Vec<(&'static str, String)> {
    vec![("memory.x", memory_x(board, placement)), (".cargo/config.toml", config_toml(board))]
}

/// Makes `cargo run` in the package's folder do the right thing, also without this crate: on a real board, flash and print.
fn config_toml(board: &Board) -> String {
    let mut rustflags = board.rustflags.clone();
    // The linker is run in the package's folder, and finds memory.x there.
    rustflags.push("-Clink-arg=-Tlink.x".to_owned());
    format!(
        "[build]\ntarget = {target:?}\ntarget-dir = \"../../target\"\n\n\
         [target.{target}]\nrunner = {runner:?}\nrustflags = {rustflags:?}\n",
        target = board.target,
        runner = board.runner.command(),
    )
}

/// The linker's memory map for a placement.
fn memory_x(board: &Board, placement: Placement) -> String {
    // Section patterns of an earlier statement win over those of `link.x`, whose `.rodata` stays empty.
    const CONSTANTS: &str = "\nSECTIONS\n{\n  .kiln.constants : ALIGN(16)\n  {\n    *(.rodata .rodata.*);\n  } > EXTRA\n} INSERT AFTER .text;\n";
    match (placement, board.memory.extra) {
        (Placement::ConstantsInExtra, Some(_)) => board.memory_x.clone() + CONSTANTS,
        (Placement::ConstantsAndStaticsInExtra, Some(extra)) => {
            let half = extra.length / 2;
            let regions = [
                ("FLASH", board.memory.flash),
                ("EXTRA", Region { origin: extra.origin, length: half }),
                ("RAM", Region { origin: extra.origin + half, length: half }),
            ];
            let lines: String = regions
                .iter()
                .map(|(name, Region { origin, length })| {
                    format!("  {name} : ORIGIN = {origin:#010x}, LENGTH = {length:#x}\n")
                })
                .collect();
            format!("MEMORY\n{{\n{lines}}}\n{CONSTANTS}")
        }
        _ => board.memory_x.clone(),
    }
}
