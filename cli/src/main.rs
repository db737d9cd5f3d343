//! `cargo kiln`: the compiler on the command line.

mod command;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::Parser;
use command::Command;
use kiln_codegen::ir::near::near;
use kiln_codegen::Door;
use std::process::ExitCode;

/// Compile trained neural networks to plain no_std Rust for microcontrollers
///
/// Results go to standard output, errors and progress to standard error. The exit status is 0 on success, 1 on failure
/// (the model does not compile, outputs differ, any other error), and 2 for wrong arguments.
#[derive(Parser)]
#[command(name = "cargo-kiln", bin_name = "cargo kiln", version)]
#[command(after_help = "`cargo kiln <COMMAND> --help` has examples.", after_long_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXAMPLES: &str = "\
Examples:
  cargo kiln explain kws.tflite
      Show operators, shapes and MACs, whether the model compiles, and what makes it slow or large
  cargo kiln new kws-demo --board qemu-cortex-m4 --model kws.tflite
      Create a firmware crate; `cargo run --release` in it builds the firmware and runs it under QEMU
  cargo kiln compile kws.tflite -o src/kws.rs --ram 20K
      Write a Rust file to check in; fail if arena and state need more than 20 KiB
  cargo kiln quantize kws_f32.onnx --calibration samples.npz -o kws.onnx
      Quantise a float model, and show the noise that each layer adds
  cargo kiln validate kws.tflite --golden kws.npz --on interp,host,qemu-cortex-m4
      Compare generated code with recorded outputs, in three places
  cargo kiln bench kws.tflite --per-layer
      Measure instructions, cycles, RAM and flash on an emulated Cortex-M4
  cargo kiln eval kws.tflite --data clips/ --on host,qemu-cortex-m4 -o page.html
      Accuracy, confusion and latency on a labelled set, in two places
  cargo kiln report kws.tflite -o report.html
      Write everything about the compiled model on one page
  cargo kiln run --board nrf52840-dk
      Build the firmware in this folder, flash it and print its output

`cargo kiln <COMMAND> --help` has more examples.";

fn main() -> ExitCode {
    // Cargo runs `cargo-kiln kiln …` for `cargo kiln …`.
    let mut args: Vec<_> = std::env::args_os().collect();
    if args.get(1).is_some_and(|arg| arg == "kiln") {
        args.remove(1);
    }
    let cli = Cli::try_parse_from(args).unwrap_or_else(|error| {
        // Where standard error is closed, the exit status still says it.
        let _ = error.print();
        if let Some(tip) = tip(&error) {
            eprintln!("\n  tip: {tip}");
        }
        std::process::exit(error.exit_code())
    });
    match cli.command.run() {
        Ok(status) => status,
        Err(error) => {
            // Messages of the compiler name options as the macro does.
            eprintln!("error: {}", Door::CommandLine.translate(&format!("{error:#}")));
            ExitCode::FAILURE
        }
    }
}

/// What helps, where clap does not know it.
fn tip(error: &clap::Error) -> Option<String> {
    if lacks_board(error) {
        return Some(
            "`cargo kiln boards` lists the boards; `--board qemu-cortex-m4` needs no hardware".into(),
        );
    }
    let Some(ContextValue::String(written)) = error.get(ContextKind::InvalidValue) else { return None };
    let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else { return None };
    if error.get(ContextKind::SuggestedValue).is_some() {
        return None;
    }
    let near = near(written, values.iter().map(String::as_str));
    (!near.is_empty()).then(|| format!("did you mean {}?", near.join(", ")))
}

/// Whether what is missing is a board, whose names nobody can guess.
fn lacks_board(error: &clap::Error) -> bool {
    let missing = error.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
    error.kind() == ErrorKind::MissingRequiredArgument && missing.contains("--board")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn arguments_are_sound() {
        Cli::command().debug_assert();
    }

    /// A line for each command, as a terminal shows it without breaking it.
    #[test]
    fn the_list_of_commands_fits_a_terminal() {
        let help = Cli::command().term_width(500).render_help().to_string();
        assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
    }

    #[test]
    fn every_command_has_examples() {
        for command in Cli::command().get_subcommands_mut() {
            let help = command.render_long_help().to_string();
            assert!(help.contains("Examples:\n  cargo kiln "), "{help}");
        }
    }

    #[test]
    fn a_board_that_is_missing_is_told_from_others() {
        let error = |arguments: &[&str]| Cli::try_parse_from(arguments).err().unwrap();
        assert!(lacks_board(&error(&["cargo-kiln", "flash"])));
        assert!(lacks_board(&error(&["cargo-kiln", "new", "kws"])));
        assert!(!lacks_board(&error(&["cargo-kiln", "new", "kws", "--board", "qemu-cortex-m4"])));
        assert!(!lacks_board(&error(&["cargo-kiln", "flash", "--board", "nrf52840"])));
    }

    #[test]
    fn a_wrong_board_gets_the_list_and_the_nearest() {
        let wrong = ["cargo-kiln", "bench", "kws.tflite", "--board", "nrf52840"];
        let message = Cli::try_parse_from(wrong).err().unwrap().to_string();
        for board in kiln_boards::Board::all() {
            assert!(message.contains(&board.name), "{message}");
        }
        assert!(message.contains("a similar value exists: 'nrf52840-dk'"), "{message}");
    }

    #[test]
    fn a_part_of_a_name_finds_the_boards_that_have_it() {
        let wrong = ["cargo-kiln", "new", "kws", "--model", "kws.tflite", "--board", "pico"];
        let error = Cli::try_parse_from(wrong).err().unwrap();
        let expected = "did you mean raspberry-pi-pico, raspberry-pi-pico-2, raspberry-pi-pico-2-riscv?";
        assert_eq!(tip(&error).as_deref(), Some(expected));
    }
}
