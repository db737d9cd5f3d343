//! `classify FILE`: reads handwritten digits from a file and says which they are.

mod file;
mod table;

use file::Digit;
use kiln::post::argmax;
use std::process::ExitCode;
use table::Table;

kiln::include_model!(Network = "models/digits_dense_f32.tflite");

const USAGE: &str = "\
usage: classify FILE

FILE has one digit a line: the ink of 8x8 pixels, 0 to 16, row by row, and behind that the digit that was meant,
all with commas between them. That is the format of the UCI repository's optdigits.tes.
";

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(path), None) = (arguments.next(), arguments.next()) else {
        eprint!("{USAGE}");
        return ExitCode::from(2);
    };
    match std::fs::read_to_string(&path)
        .map_err(|error| error.to_string())
        .and_then(|text| file::parse(&text))
    {
        Ok(digits) => {
            print!("{}", classify(&digits));
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {}: {error}", path.to_string_lossy());
            ExitCode::FAILURE
        }
    }
}

fn classify(digits: &[Digit]) -> Table {
    let mut network = Box::new(Network::new());
    let mut table = Table::default();
    for digit in digits {
        *network.input_mut() = digit.ink.map(|ink| f32::from(ink) / 16.0);
        network.invoke();
        if let Some(best) = argmax(network.output()) {
            table.count(usize::from(digit.label), best.index);
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_code_means_what_the_model_means() {
        kiln_test::assert_equivalent!(
            Network,
            "models/digits_dense_f32.tflite",
            cases = 200,
            range = (0.0, 1.0)
        );
    }

    #[test]
    fn as_many_are_right_as_with_tflite() {
        let digits = file::parse(include_str!("../data/held_out.csv")).unwrap();
        let right: usize = include_str!("../data/tflite.txt").trim().parse().unwrap();
        assert_eq!(classify(&digits).right(), right);
    }
}
