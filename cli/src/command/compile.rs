//! `cargo kiln compile`.

use super::answer::{file, status, write_or_print};
use super::model::ModelArgs;
use anyhow::{bail, Result};
use cargo_kiln::compile::generate;
use cargo_kiln::{emit, plan};
use clap::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Examples:
  cargo kiln compile kws.tflite -o src/kws.rs
      Then, in the crate: `mod kws;` and `use kws::Kws;`
  cargo kiln compile kws.tflite -o src/kws.rs --name Keywords --optimize size --ram 20K --flash 64K
  cargo kiln compile kws.tflite -o src/kws.rs --custom-op MyOp=crate::kernels::my_op
      A function of your crate computes a custom operator of the model
  cargo kiln compile kws.tflite -o src/kws.rs --check
      For continuous integration: is the file that is checked in what these options give?
  cargo kiln compile kws.tflite --emit ir-after-each-pass
      For work on the compiler: the graph after each pass";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The file to write, with the model's data in a file beside it that ends in .bin: both or none; - is standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "emit")]
    output: Option<PathBuf>,
    /// Write the data into the code, and no file beside it; always so on standard output
    #[arg(long, conflicts_with = "emit")]
    inline: bool,
    /// Write nothing; the exit status is 1 if the files are not what would be written, and what differs is named: model, options, target, version, data or code
    #[arg(long, conflicts_with = "emit")]
    check: bool,
    /// What to write, for work on the compiler [default: rust]; without a file, to standard output
    #[arg(long, value_name = "STAGE", value_parser = emit::STAGES)]
    emit: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Arguments { model, output, inline, check, emit } = self;
        let file = output.as_deref().and_then(file);
        // Cargo would be run in the crate that the file is a part of.
        let folder = file.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        let options = model.options_in(folder.unwrap_or(Path::new(".")))?;
        let model = &model.model;
        if let Some(stage) = emit {
            return write_or_print(output.as_deref(), &emit::emit(model, &options, &stage)?);
        }
        let Some(file) = file else {
            if check {
                bail!("--check compares a file: name it with --output");
            }
            say!("{}", generate(model, &options, Path::new("-"), true)?.code);
            return Ok(ExitCode::SUCCESS);
        };
        let generated = generate(model, &options, file, inline)?;
        ModelArgs::say_unused(&generated.compiled);
        if !check {
            generated.write(file)?;
            sayln!("{}: {}", file.display(), plan::summary(&generated.compiled));
            return Ok(ExitCode::SUCCESS);
        }
        let differences = generated.differences(file)?;
        match differences.is_empty() {
            true => sayln!("{}: is what would be written", file.display()),
            false => {
                sayln!("{}: is not what would be written", file.display());
                differences.iter().for_each(|difference| sayln!("  {difference}"));
            }
        }
        Ok(status(differences.is_empty()))
    }
}
