//! Recordings of held-out voices, for the tests and the emulated firmware. `../data.py` makes them.

use crate::HOP;

/// A recording of 1.44 s.
#[derive(Clone, Copy)]
pub struct Clip {
    /// What it is called.
    pub name: &'static str,
    /// Whether the wake word is in it.
    pub has_wake_word: bool,
    wav: &'static [u8],
}

/// Bytes of a WAV file in front of its samples.
const HEADER: usize = 44;

/// Where the wake word ends in a clip that has it.
pub const END: usize = 19_200;

/// The latest sample of a report that is about it.
pub const LATEST: usize = END + 6_400;

macro_rules! clips {
    ($($name:literal),* $(,)?) => {
        [$(Clip {
            name: $name,
            has_wake_word: matches!($name.as_bytes(), [b'h', ..]),
            wav: include_bytes!(concat!("../../clips/", $name, ".wav")),
        }),*]
    };
}

/// All clips: wake words and others, one behind the other.
pub static CLIPS: [Clip; 12] = clips![
    "hey_kiln/0",
    "other/0",
    "hey_kiln/1",
    "other/1",
    "hey_kiln/2",
    "other/2",
    "hey_kiln/3",
    "other/3",
    "hey_kiln/4",
    "other/4",
    "hey_kiln/5",
    "other/5",
];

impl Clip {
    /// Its samples, by hops.
    pub fn hops(&self) -> impl Iterator<Item = [i16; HOP]> {
        let samples = self.wav.get(HEADER..).unwrap_or_default();
        samples.chunks_exact(2 * HOP).map(|bytes| {
            let mut hop = [0; HOP];
            for (sample, bytes) in hop.iter_mut().zip(bytes.chunks_exact(2)) {
                *sample = i16::from_le_bytes([bytes[0], bytes[1]]);
            }
            hop
        })
    }
}

/// Reports about the clips, as one stream.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Wake words that were reported.
    pub heard: usize,
    /// Reports of something else.
    pub false_accepts: usize,
}

impl Tally {
    /// Takes a report in that clip, behind so many samples of it. Samples of the clip before count on from its own.
    pub fn count(&mut self, clip: usize, samples: usize) {
        let length = |clip: &Clip| (clip.wav.len() - HEADER) / 2;
        let about = |clip: Option<&Clip>, samples| {
            clip.is_some_and(|clip| clip.has_wake_word && (END - HOP..=LATEST).contains(&samples))
        };
        let before = clip.checked_sub(1).and_then(|before| CLIPS.get(before));
        match about(CLIPS.get(clip), samples) || about(before, samples + before.map_or(0, length)) {
            true => self.heard += 1,
            false => self.false_accepts += 1,
        }
    }

    /// All wake words, and nothing else.
    pub fn expected() -> Self {
        Tally { heard: Self::wake_words(), false_accepts: 0 }
    }

    /// Wake words in the clips.
    pub fn wake_words() -> usize {
        CLIPS.iter().filter(|clip| clip.has_wake_word).count()
    }
}
