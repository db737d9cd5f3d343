//! Detectors of events in a stream of scores.

use super::score::Cutoff;
use super::{MovingAverage, Ranked, Score};
use crate::TensorInfo;

/// Says once when something was heard, from the scores of a streaming model: wake words, keywords, glass that breaks.
///
/// At every step the scores of each class are averaged over the last `WINDOW` steps. If the average of the highest class reaches the
/// threshold, it is reported: once, since the window is then emptied, and nothing is reported for a *refractory* time. So, after a
/// report at step `t`, the next is at step `t + max(refractory + 1, WINDOW)` at the earliest. Nothing is reported before the window is full.
///
/// A *background* class (silence, other words) is never reported: it only keeps others from being highest.
///
/// A quantised model's scores are summed and compared as integers: the threshold is quantised once, exactly, for the whole window.
///
/// ```
/// use kiln::post::StreamDetector;
/// # use kiln::{DType, TensorInfo};
/// # struct WakeWord;
/// # impl WakeWord {
/// #     const OUTPUT: TensorInfo = TensorInfo { name: "p", dtype: DType::U8, shape: &[1, 1], scale: 1.0 / 256.0, zero_point: 0 };
/// # }
/// // Five steps with an average of 0.97, then 100 steps of silence; computed while the firmware compiles.
/// const NABU: StreamDetector<u8, 5> = StreamDetector::new(&WakeWord::OUTPUT, 0.97, 100);
///
/// let mut detector = NABU;
/// let mut reports = (0u8..).zip([0, 20, 251, 254, 255, 255, 255, 255, 12]).filter_map(|(step, score)| {
///     let output: &[u8; 1] = &[score]; // model.output()
///     detector.push(output).map(|heard| (step, heard.score))
/// });
/// assert_eq!(reports.next(), Some((6, 0.9921875)));
/// assert_eq!(reports.next(), None);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct StreamDetector<T, const WINDOW: usize, const CLASSES: usize = 1> {
    average: MovingAverage<T, WINDOW, CLASSES>,
    cutoff: Cutoff,
    scale: f32,
    zero_point: i32,
    background: &'static [usize],
    refractory: u32,
    /// Steps that are still to be quiet.
    quiet: u32,
}

impl<T: Score, const WINDOW: usize, const CLASSES: usize> StreamDetector<T, WINDOW, CLASSES> {
    /// For the scores of the tensor `scores`, whose average has to be `threshold` (a real value) at least; silent for `refractory` steps
    /// after each report. Usable in a `static`.
    pub const fn new(scores: &TensorInfo, threshold: f32, refractory: u32) -> Self {
        StreamDetector {
            average: MovingAverage::new(),
            cutoff: Cutoff::new(scores, threshold, WINDOW),
            scale: scores.scale,
            zero_point: scores.zero_point,
            background: &[],
            refractory,
            quiet: 0,
        }
    }

    /// The same detector, to which those classes are background.
    ///
    /// ```
    /// # use kiln::{DType, TensorInfo};
    /// # struct Kws;
    /// # impl Kws {
    /// #     const OUTPUT: TensorInfo = TensorInfo { name: "p", dtype: DType::I8, shape: &[1, 4], scale: 1.0 / 256.0, zero_point: -128 };
    /// # }
    /// use kiln::post::{Labels, StreamDetector};
    ///
    /// const WORDS: Labels<4> = Labels(["silence", "unknown", "yes", "no"]);
    /// const KWS: StreamDetector<i8, 2, 4> = StreamDetector::new(&Kws::OUTPUT, 0.8, 25).with_background(&[0, 1]);
    ///
    /// let mut detector = KWS;
    ///
    /// assert_eq!(detector.push(&[127, -128, -128, -128]), None);
    /// assert_eq!(detector.push(&[127, -128, -128, -128]), None); // certainly silence
    /// assert_eq!(detector.push(&[-128, -128, 127, -128]), None);
    /// let heard = detector.push(&[-128, -128, 125, -125]).map(|heard| WORDS.name(heard.index));
    /// assert_eq!(heard, Some("yes"));
    /// ```
    pub const fn with_background(mut self, classes: &'static [usize]) -> Self {
        self.background = classes;
        self
    }

    /// Takes the scores of the next step. Returns the class that is reported, with its average as a real value.
    pub fn push(&mut self, scores: &[T; CLASSES]) -> Option<Ranked<f32>> {
        self.average.push(scores);
        if self.quiet > 0 {
            self.quiet -= 1;
            return None;
        }
        if !self.average.is_full() {
            return None;
        }
        let index = self.highest()?;
        if self.background.contains(&index) || !self.average.reaches(index, &self.cutoff) {
            return None;
        }
        let score = self.real(self.average.mean(index));
        self.average.clear();
        self.quiet = self.refractory;
        Some(Ranked { index, score })
    }

    /// Starts over: forgets all scores and the last report. After a gap in the stream.
    pub fn reset(&mut self) {
        self.average.clear();
        self.quiet = 0;
    }

    /// The class with the highest average, the first of equals.
    fn highest(&self) -> Option<usize> {
        let sums = (0..CLASSES).map(|class| (class, self.average.sum(class)));
        sums.reduce(|best, next| if next.1 > best.1 { next } else { best }).map(|(class, _)| class)
    }

    /// The real value of an average of stored values.
    fn real(&self, mean: f32) -> f32 {
        // The description of a tensor of floats has scale 1 and zero point 0.
        self.scale * (mean - self.zero_point as f32)
    }
}

/// On or off, for what lasts: on once a score reaches the upper threshold, off once it falls below the lower one.
///
/// ```
/// use kiln::post::Hysteresis;
/// # use kiln::{DType, TensorInfo};
/// # struct Vad;
/// # impl Vad {
/// #     const OUTPUT: TensorInfo = TensorInfo { name: "p", dtype: DType::U8, shape: &[1, 1], scale: 1.0 / 256.0, zero_point: 0 };
/// # }
/// let mut speaking = Hysteresis::new(&Vad::OUTPUT, 0.75, 0.25);
/// let heard = [100u8, 192, 100, 64, 63, 191].map(|score| speaking.push(score));
/// assert_eq!(heard, [false, true, true, true, false, false]);
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hysteresis {
    on: Cutoff,
    off: Cutoff,
    is_on: bool,
}

impl Hysteresis {
    /// For a score of the tensor `scores`: on at `on`, off below `off`, both real values. Usable in a `static`.
    pub const fn new(scores: &TensorInfo, on: f32, off: f32) -> Self {
        Hysteresis { on: Cutoff::new(scores, on, 1), off: Cutoff::new(scores, off, 1), is_on: false }
    }

    /// Takes the next score; whether it is on.
    pub fn push<T: Score>(&mut self, score: T) -> bool {
        let cutoff = if self.is_on { &self.off } else { &self.on };
        self.is_on = T::reaches(score.widen(), cutoff);
        self.is_on
    }

    /// Whether it is on.
    pub const fn is_on(&self) -> bool {
        self.is_on
    }
}
