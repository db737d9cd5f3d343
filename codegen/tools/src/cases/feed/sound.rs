//! Recordings: WAV files.

use super::refuse;
use crate::cases::{Error, Result};
use std::io::Read;

/// A recording of one channel, in 16 bits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sound {
    /// Samples per second.
    pub rate: u32,
    /// Each from −32768 to 32767.
    pub samples: Vec<i16>,
}

/// Most samples of a recording: an hour at 48 kHz.
const MOST: u32 = 48_000 * 3600;

impl Sound {
    /// Reads a WAV file of 16-bit PCM with one channel.
    ///
    /// # Errors
    /// Says what the file is instead.
    pub fn read(file: impl Read) -> Result<Sound> {
        let is = |what: &'static str| move |error: hound::Error| Error::new(format!("{what}: {error}"));
        let mut reader = hound::WavReader::new(file).map_err(is("it is no WAV file of PCM"))?;
        let spec = reader.spec();
        let integers = spec.sample_format == hound::SampleFormat::Int;
        if spec.channels != 1 || spec.bits_per_sample != 16 || !integers {
            let kind = if integers { "integers" } else { "floats" };
            return refuse(format!(
                "it has {} channel(s) of {}-bit {kind}, and is to have one of 16-bit integers\n    help: convert the files, for example with `ffmpeg -i IN.wav -ac 1 -sample_fmt s16 OUT.wav`",
                spec.channels,
                spec.bits_per_sample
            ));
        }
        if reader.duration() > MOST {
            return refuse(format!("it has {} samples: more than {MOST}", reader.duration()));
        }
        let samples =
            reader.samples::<i16>().collect::<std::result::Result<_, _>>().map_err(is("it is damaged"))?;
        Ok(Sound { rate: spec.sample_rate, samples })
    }

    /// How long it is.
    pub fn seconds(&self) -> f64 {
        self.samples.len() as f64 / f64::from(self.rate.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hound::{SampleFormat, WavSpec, WavWriter};
    use std::io::Cursor;

    fn read(channels: u16, bits_per_sample: u16, sample_format: SampleFormat) -> Result<Sound> {
        let mut file = Cursor::new(Vec::new());
        let spec = WavSpec { channels, sample_rate: 8000, bits_per_sample, sample_format };
        let mut writer = WavWriter::new(&mut file, spec).unwrap();
        for sample in [0, 1, -1, 77] {
            match sample_format {
                SampleFormat::Int => writer.write_sample(sample).unwrap(),
                SampleFormat::Float => writer.write_sample(sample as f32).unwrap(),
            }
        }
        writer.finalize().unwrap();
        Sound::read(&file.into_inner()[..])
    }

    #[test]
    fn one_channel_of_16_bits_is_read() {
        let sound = read(1, 16, SampleFormat::Int).unwrap();
        assert_eq!(sound, Sound { rate: 8000, samples: vec![0, 1, -1, 77] });
        assert_eq!(sound.seconds(), 4.0 / 8000.0);
    }

    #[test]
    fn others_are_told_how_to_become_one() {
        let message = |sound: Result<Sound>| sound.unwrap_err().to_string();
        assert!(message(read(2, 16, SampleFormat::Int)).contains("2 channel(s) of 16-bit integers"));
        assert!(message(read(1, 24, SampleFormat::Int)).contains("help: convert"));
        assert!(message(read(1, 32, SampleFormat::Float)).contains("32-bit floats"));
    }
}
