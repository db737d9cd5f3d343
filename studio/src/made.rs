//! Cases made of a picture or a recording, by the rules of `cargo kiln eval`.

use crate::request::Request;
use kiln_codegen::features::Features;
use kiln_codegen::ir::Graph;
use kiln_tools::cases::feed::picture::Picture;
use kiln_tools::cases::feed::sound::Sound;
use kiln_tools::cases::feed::{frame_of, Feed, Numbers, Raw};
use kiln_tools::cases::golden::Golden;
use kiln_tools::cases::{Error, Result};
use kiln_tools::number::grouped;
use std::io::Cursor;

/// Cases, and what was done to make them.
pub(crate) struct Made {
    pub(crate) cases: Golden,
    /// In words.
    pub(crate) says: String,
    /// What the model sees.
    pub(crate) picture: Option<Picture>,
}

/// Cases of a file; none where it is neither a PNG nor a WAV file.
///
/// # Errors
/// Says why the model cannot take it.
pub(crate) fn made(
    graph: &Graph,
    file: &[u8],
    request: &Request,
) -> std::result::Result<Option<Made>, String> {
    let made = match file {
        [0x89, b'P', b'N', b'G', ..] => of_picture(graph, file, request),
        [b'R', b'I', b'F', b'F', ..] => of_sound(graph, file, request),
        _ => return Ok(None),
    };
    made.map(Some).map_err(|error| format!("`{}`: {}", request.inputs, for_the_page(&error)))
}

fn of_picture(graph: &Graph, file: &[u8], request: &Request) -> Result<Made> {
    let mut picture = Picture::read(Cursor::new(file))?;
    let mut says = vec![format!("{} × {} pixels", picture.width, picture.height)];
    if let Some((width, height, channels, _)) = frame_of(graph) {
        if (picture.channels, channels) == (3, 1) {
            picture = picture.gray();
            says.push("gray as Pillow's convert(\"L\") makes it".into());
        }
        if (picture.width, picture.height) != (width, height) {
            picture = picture.resized(width, height);
            says.push(format!("resized to {width} × {height} by nearest neighbours"));
        }
    }
    let numbers = numbers(&request.values, 255.0, 127.5);
    let (cases, rule) = cases(graph, numbers, vec![Raw::Picture(picture.clone())])?;
    says.push(rule);
    Ok(Made { cases, says: says.join("; "), picture: Some(picture) })
}

fn of_sound(graph: &Graph, file: &[u8], request: &Request) -> Result<Made> {
    let sound = Sound::read(file)?;
    check_rate(request, sound.rate)?;
    let samples = sound.samples.len();
    let mut says =
        vec![format!("{} samples, {} a second", grouped(samples as u64), grouped(sound.rate.into()))];
    let input = graph.inputs.first().map(|&id| &graph.ty(id).shape);
    let takes_samples = input.is_some_and(|shape| shape.dims().iter().filter(|&&dim| dim != 1).count() <= 1);
    let window = input.map_or(0, |shape| shape.numel()).max(1);
    // Without state, a longer recording is several cases.
    let pieces = match takes_samples && graph.states.is_empty() && samples > window {
        true => {
            says.push(format!("cases of {}, one behind the other", grouped(window as u64)));
            sound.samples.chunks(window).map(|piece| Sound { samples: piece.into(), ..sound }).collect()
        }
        false => vec![sound],
    };
    if samples % window != 0 {
        says.push("silence behind them".into());
    }
    let numbers = numbers(&request.values, 32768.0, 0.0);
    let (cases, rule) = cases(graph, numbers, pieces.into_iter().map(Raw::Sound).collect())?;
    says.push(rule);
    Ok(Made { cases, says: says.join("; "), picture: None })
}

/// The cases, and how numbers become those that the model takes.
fn cases(graph: &Graph, numbers: Numbers, samples: Vec<Raw>) -> Result<(Golden, String)> {
    let feed = Feed::new(graph, numbers, true, None);
    let rule = samples.first().map_or(Ok(String::new()), |first| feed.rule(first));
    let mut steps = Vec::new();
    for sample in samples {
        steps.extend(feed.inputs(sample)?.steps);
    }
    // What does not fit is said first.
    Ok((Golden::of_inputs(graph, steps), rule?))
}

/// What the page lets choose: which real values numbers become whose largest is `most`, and whose middle is `middle`.
fn numbers(choice: &str, most: f64, middle: f64) -> Numbers {
    let plain = |mean: f64, scale: f64| Numbers { mean: vec![mean], scale: vec![scale] };
    match choice {
        "unit" => plain(0.0, 1.0 / most),
        "signed" => plain(middle, 1.0 / (most - middle)),
        "plain" => plain(0.0, 1.0),
        // Mean and deviation of ImageNet's pixels, as torchvision has them.
        "imagenet" => Numbers {
            mean: [0.485, 0.456, 0.406].map(|mean| mean * most).into(),
            scale: [0.229, 0.224, 0.225].map(|deviation| 1.0 / (deviation * most)).into(),
        },
        _ => Numbers::default(),
    }
}

/// Refuses recordings whose rate is not that of the features in front of the model.
fn check_rate(request: &Request, rate: u32) -> Result<()> {
    let Some(features) = &request.options.features else { return Ok(()) };
    match Features::of_text(features) {
        Ok(features) if features.sample_rate() != rate as usize => Err(Error::new(format!(
            "it has {rate} samples a second, the features take {}\n    help: convert the file, for example with `ffmpeg -i IN.wav -ar {} OUT.wav`",
            features.sample_rate(),
            features.sample_rate()
        ))),
        _ => Ok(()),
    }
}

/// In the words of the page, which has no flags.
fn for_the_page(error: &Error) -> String {
    let text = error.to_string();
    match text.split_once("\n    help: ") {
        Some((what, help)) if help.contains("--") => {
            format!("{what}\n    help: choose below what pixels and samples become")
        }
        _ => text,
    }
}
