//! What a sample looks like.

use super::chart;
use crate::eval::Evaluation;
use anyhow::{Context, Result};
use kiln_tools::cases::feed::picture::Picture;
use kiln_tools::cases::feed::{frame_of, Raw};
use maud::{html, Markup};

impl Evaluation {
    /// A picture of a sample: of a PNG file or of an input that could be a picture in pixels, of others a curve.
    pub(super) fn picture(&self, index: usize) -> Markup {
        // A file that is gone by now has no picture.
        self.try_picture(index).unwrap_or_else(|error| html! { p.soft { (format!("{error:#}")) } })
    }

    fn try_picture(&self, index: usize) -> Result<Markup> {
        let sample = self.set.samples.get(index).context("there is no such sample")?;
        let numbers: Vec<f32> = match self.set.read(sample)? {
            Raw::Picture(picture) => return image(&picture),
            Raw::Sound(sound) => sound.samples.iter().map(|&sample| f32::from(sample)).collect(),
            Raw::Numbers(numbers) => numbers.iter().map(|&number| number as f32).collect(),
            Raw::Tensors(tensors) => {
                let first = tensors.first().context("there is no input")?;
                first.numbers().iter().map(|&number| number as f32).collect()
            }
        };
        match self.as_picture(&numbers) {
            Some(picture) => image(&picture),
            None => Ok(chart::wave(&numbers)),
        }
    }

    /// Numbers as the picture that the input could be, from the least in black to the largest in white.
    fn as_picture(&self, numbers: &[f32]) -> Option<Picture> {
        let (width, height, channels, planar) = frame_of(&self.graph)?;
        let is_picture = width.min(height) >= 4 && width * height * channels == numbers.len();
        if !is_picture {
            return None;
        }
        let finite = || numbers.iter().copied().filter(|number| number.is_finite());
        let (low, high) = finite().fold((f32::INFINITY, f32::NEG_INFINITY), |(l, h), n| (l.min(n), h.max(n)));
        let span = if high > low { high - low } else { 1.0 };
        let pixel = |number: f32| (255.0 * (number - low) / span).round() as u8;
        let pixels = match planar {
            false => numbers.iter().copied().map(pixel).collect(),
            true => {
                let at = |k: usize| numbers.get(k % channels * width * height + k / channels).copied();
                (0..numbers.len()).filter_map(at).map(pixel).collect()
            }
        };
        Some(Picture { width, height, channels, pixels })
    }
}

/// Longest side of a picture in pixels: photographs would make a page of many megabytes.
const LONGEST: usize = 256;

fn image(picture: &Picture) -> Result<Markup> {
    let side = picture.width.max(picture.height);
    let short = |length: usize| (length * LONGEST / side.max(1)).max(1);
    let smaller = (side > LONGEST).then(|| picture.resized(short(picture.width), short(picture.height)));
    let picture = smaller.as_ref().unwrap_or(picture);
    let source = format!("data:image/png;base64,{}", base64(&picture.png()?));
    Ok(html! { img src=(source) alt="The sample" width=(picture.width) height=(picture.height); })
}

/// As RFC 4648 has it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = (0..3).fold(0u32, |word, k| word << 8 | u32::from(group.get(k).copied().unwrap_or(0)));
        for digit in 0..4 {
            let is_there = digit <= group.len();
            text.push(if is_there {
                char::from(DIGITS[(word >> (18 - 6 * digit) & 63) as usize])
            } else {
                '='
            });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_that_of_the_rfc() {
        let texts = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in texts {
            assert_eq!(super::base64(bytes.as_bytes()), text);
        }
        assert_eq!(super::base64(&[255, 239, 190]), "/+++");
    }
}
