//! `cargo kiln eval`.

use super::answer::{file, status, write_or_print};
use super::kiln::KilnArgs;
use super::model::ModelArgs;
use anyhow::{bail, Context, Result};
use cargo_kiln::eval::{evaluate, Columns, Evaluation, Numbers, Pool, Settings};
use clap::Args;
use std::path::PathBuf;
use std::process::ExitCode;

pub(super) const EXAMPLES: &str = "\
A labelled set is one of these:
  a folder of folders   WAV files (16-bit PCM, one channel) or PNG files; a folder's name is the label of its files
  a table (.csv)        one sample a line: numbers, and a label in the last column or in --label COLUMN
  an archive (.npz)     numpy.savez(\"set.npz\", x=…, y=…): the first axis counts samples, y has a number for each; several inputs are in_0, in_1 …

Labels that are numbers are those of the classes, from 0 on. Names of labels are in alphabetical order, as Keras and torchvision order folders; --classes gives another order.

Numbers become real values, (number - mean) * scale, and real values become what the model's input stores. Without --mean and --scale, numbers of tables and float arrays are \
the real values; arrays in the type of the input are taken as they are. Pixels and samples of recordings fill the range of a quantised input, if it is that of pixels / 255, \
(pixels - 127.5) / 127.5, samples / 32768 or of the numbers themselves. For other inputs, and for models that take floats, say it as it was in training. \
A float model of --against gets the real values of the first model.

A model with state is reset before each sample. A sample may have several steps: as many inputs one after the other. With --input sliding, a sample may have more rows than a window. \
--pool says which of the outputs count.

With --resume FILE, results are kept in the file, and not computed again: also after the command was ended. The exit status is 1 if the accuracy is below --min-accuracy.

Examples:
  cargo kiln eval digits.tflite --data test/ --on host
  cargo kiln eval digits.tflite --data test.npz --on host,qemu-cortex-m4,nrf52840-dk -o page.html
      On this machine, on an emulated and on a real board; the page shows what went wrong
  cargo kiln eval digits_int8.onnx --data test.npz --against digits_f32.onnx
      Two models side by side
  cargo kiln eval net.onnx --data photos/ --mean 123.675,116.28,103.53 --scale 0.01712,0.01751,0.01743 --fit
      Normalised as torchvision does; files are resized by nearest neighbours
  cargo kiln eval wake.tflite --data clips/ --detect wake --thresholds 0.5,0.7,0.9
      Misses and false accepts per hour
  cargo kiln eval iris.tflite --data iris.csv --label species --format json --min-accuracy 95
  cargo kiln eval kws.tflite --data clips/ --on qemu-cortex-m4 --resume kws.results --limit 500";

#[derive(Args)]
pub(crate) struct Arguments {
    /// The labelled set: a folder of folders with WAV or PNG files, a table (.csv) or a NumPy archive (.npz)
    #[arg(long, value_name = "SET")]
    data: PathBuf,
    /// Where to run the model: interp, host, aarch64 or wasm32 (emulated), a board, or BOARD@SERIAL of its debug probe
    #[arg(long, value_name = "PLACE", value_delimiter = ',', default_value = "host")]
    on: Vec<String>,
    /// The column of a table with the labels: its name, or its number from 1 on [default: the last]
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// The array of an archive with the inputs [default: x, or in_0]
    #[arg(long, value_name = "NAME")]
    x: Option<String>,
    /// The array of an archive with the labels [default: y]
    #[arg(long, value_name = "NAME")]
    y: Option<String>,
    /// Names of the classes, in the order of the model's output
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    classes: Option<Vec<String>>,
    /// What is subtracted from each number: one for all, or one for each channel
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = number, allow_hyphen_values = true)]
    mean: Vec<f64>,
    /// By what each number is multiplied then, such as 1/255: one for all, or one for each channel
    #[arg(long, value_name = "NUMBERS", value_delimiter = ',', value_parser = number, allow_hyphen_values = true)]
    scale: Vec<f64>,
    /// Resize pictures of another size by nearest neighbours; cut recordings of another length, or fill them with silence, at the end
    #[arg(long)]
    fit: bool,
    /// The output with the scores of the classes, counted from 0
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    output_index: usize,
    /// Of a sample with several steps or windows: the scores after the last one, or the largest or the mean of each class
    #[arg(long, value_name = "WHICH", default_value = "last", value_parser = ["last", "max", "mean"])]
    pool: String,
    /// Also count how often the label is among the best COUNT classes
    #[arg(long, value_name = "COUNT")]
    top: Option<usize>,
    /// A detector of this class: show misses and false accepts by threshold
    #[arg(long, value_name = "CLASS")]
    detect: Option<String>,
    /// Thresholds to show [default: between the lowest and the highest score]
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        requires = "detect",
        allow_hyphen_values = true
    )]
    thresholds: Vec<f32>,
    /// How long a sample lasts, for false accepts per hour [default: of a recording its own length]
    #[arg(long, value_name = "SECONDS", requires = "detect", value_parser = number)]
    seconds_per_sample: Option<f64>,
    /// From which score on the answer of a model with one output is the second class
    #[arg(long, value_name = "NUMBER", default_value_t = 0.5, allow_hyphen_values = true)]
    threshold: f32,
    /// Evaluate only COUNT samples, spread evenly over the set
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u64).range(1..))]
    limit: Option<u64>,
    /// Keep results in this file, and take those that it has
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
    /// Another model to compare with on the same samples, such as the float model; it runs on this machine
    #[arg(long, value_name = "MODEL")]
    against: Option<PathBuf>,
    /// Fail if fewer percent of the answers are right, in any place
    #[arg(long, value_name = "PERCENT", value_parser = number)]
    min_accuracy: Option<f64>,
    /// The file to write, completely or not at all; - is standard output, the default
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Format of the report [default: by the file's extension, otherwise text]
    #[arg(long, value_name = "FORMAT", value_parser = ["html", "text", "json"])]
    format: Option<String>,
    #[command(flatten)]
    kiln: KilnArgs,
    #[command(flatten)]
    model: ModelArgs,
}

/// A number, or a quotient of two.
fn number(text: &str) -> Result<f64, String> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let value = match text.split_once('/') {
        Some((a, b)) => number(a).zip(number(b)).map(|(a, b)| a / b),
        None => number(text),
    };
    value.filter(|value| value.is_finite()).ok_or_else(|| "write a number, such as 0.5 or 1/255".into())
}

impl Arguments {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.kiln.prefer()?;
        let options = self.model.options()?;
        if self.top == Some(0) {
            bail!("--top counts classes from 1 on");
        }
        let settings = Settings {
            data: self.data,
            columns: Columns { label: self.label, x: self.x, y: self.y },
            on: self.on,
            numbers: Numbers { mean: self.mean, scale: self.scale },
            fit: self.fit,
            classes: self.classes,
            output: self.output_index,
            pool: match self.pool.as_str() {
                "max" => Pool::Max,
                "mean" => Pool::Mean,
                _ => Pool::Last,
            },
            threshold: Some(self.threshold),
            top: self.top,
            detect: self.detect,
            thresholds: self.thresholds,
            seconds_per_sample: self.seconds_per_sample,
            limit: self.limit.map(usize::try_from).transpose().context("--limit")?,
            resume: self.resume,
            against: self.against,
        };
        let evaluation = evaluate(&self.model.model, &options, &settings)?;
        let ending = self.output.as_ref().and_then(|path| path.extension()?.to_str());
        let text = match self.format.as_deref().or(ending) {
            Some("html") => evaluation.page(),
            Some("json") => evaluation.report.json()?,
            _ => evaluation.report.text(),
        };
        let path = self.output.as_deref();
        // Figures are seen where a page is written, too.
        if path.and_then(file).is_some() && ending == Some("html") {
            say!("{}\n", evaluation.report.text());
        }
        write_or_print(path, &text)?;
        Ok(status(is_accurate(&evaluation, self.min_accuracy)))
    }
}

fn is_accurate(evaluation: &Evaluation, percent: Option<f64>) -> bool {
    let least = percent.unwrap_or(0.0) / 100.0;
    evaluation.report.places.iter().all(|place| place.measures.accuracy >= least)
}
