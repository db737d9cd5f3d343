//! `cargo kiln compile`.

use super::answer::{file, write_or_print};
use super::model::{note_target, ModelArgs};
use anyhow::Result;
use cargo_kiln::{emit, plan};
use clap::Args;
use kiln_codegen::write_whole;
use quote::quote;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
Examples:
  cargo kiln compile kws.tflite -o src/kws.rs
      Then, in the crate: `mod kws;` and `use kws::Kws;`
  cargo kiln compile kws.tflite -o src/kws.rs --name Keywords --optimize size --ram 20K --flash 64K
  cargo kiln compile kws.tflite -o src/kws.rs --custom-op MyOp=crate::kernels::my_op
      A function of your crate computes a custom operator of the model
  cargo kiln compile kws.tflite --emit ir-after-each-pass
      For work on the compiler: the graph after each pass";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The file to write, completely or not at all; - is standard output
    #[arg(short, long, value_name = "FILE", required_unless_present = "emit")]
    output: Option<PathBuf>,
    /// What to write, for work on the compiler [default: rust]; without a file, to standard output
    #[arg(long, value_name = "STAGE", value_parser = emit::STAGES)]
    emit: Option<String>,
    #[command(flatten)]
    model: ModelArgs,
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        let Arguments { model, output, emit } = self;
        let Some(stage) = emit else {
            let compiled = model.compile()?;
            let code = compiled.file(&quote!(pub))?;
            match output.as_deref().and_then(file) {
                Some(output) => {
                    write_whole(output, &code)?;
                    sayln!("{}: {}", output.display(), plan::summary(&compiled));
                }
                None => say!("{code}"),
            }
            note_target(&compiled.options);
            return Ok(ExitCode::SUCCESS);
        };
        write_or_print(output.as_deref(), &emit::emit(&model.model, &model.options()?, &stage)?)
    }
}
