//! Lists of what is best: of bounded length, on the stack or in a `static`.

use super::rank::numbers;
use super::{Detection, Ranked, Score};
use heapless::Vec;

/// The classes with the `K` highest scores, best first; of equals the first. Fewer if there are fewer scores that are numbers.
///
/// ```
/// use kiln::post::{top_k, Ranked};
///
/// let best = top_k::<_, 2>(&[3i8, 90, -7, 90, 12]);
/// assert_eq!(best, [Ranked { index: 1, score: 90 }, Ranked { index: 3, score: 90 }]);
/// ```
pub fn top_k<T: Score, const K: usize>(scores: &[T]) -> Vec<Ranked<T>, K> {
    let mut best = Vec::new();
    for ranked in numbers(scores) {
        insert(&mut best, ranked, |a, b| a.score > b.score);
    }
    best
}

/// Puts an item before the first that it is better than; the last falls out if there is no room.
fn insert<T, const K: usize>(list: &mut Vec<T, K>, item: T, better: impl Fn(&T, &T) -> bool) {
    let mut carried = item;
    let mut found = false;
    for held in list.iter_mut() {
        found = found || better(&carried, held);
        if found {
            core::mem::swap(held, &mut carried);
        }
    }
    // What does not fit is worse than all that is held.
    let _ = list.push(carried);
}

/// The best detections of an image, `K` at most, best first.
///
/// ```
/// use kiln::post::{Detection, Detections, Rect};
///
/// let cat = Detection { rect: Rect::centered(0.5, 0.5, 0.5, 0.5), class: 0, score: 0.75 };
/// let same_cat = Detection { rect: Rect::centered(0.52, 0.5, 0.5, 0.5), class: 0, score: 0.875 };
/// let dog = Detection { class: 1, ..cat };
///
/// let mut seen = Detections::<8>::new();
/// [cat, same_cat, dog].map(|detection| seen.push(detection)); // SsdHead::decode(…, |detection| seen.push(detection))
/// seen.suppress(0.5);
/// assert_eq!(seen.as_slice(), [same_cat, dog]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Detections<const K: usize>(Vec<Detection, K>);

impl<const K: usize> Detections<K> {
    /// None. Usable in a `static`.
    pub const fn new() -> Self {
        Detections(Vec::new())
    }

    /// Adds a detection, if it is among the `K` with the highest scores, or there is still room; of equals the first ones stay.
    /// One whose score is no number is left out.
    pub fn push(&mut self, detection: Detection) {
        if !detection.score.is_nan() {
            insert(&mut self.0, detection, |a, b| a.score > b.score);
        }
    }

    /// Non-maximum suppression: of detections of one class whose rectangles overlap by more than `limit` (intersection over union,
    /// 0 to 1; 0.5 is usual) only the best stays. Greedy: what has been suppressed suppresses nothing.
    pub fn suppress(&mut self, limit: f32) {
        let mut kept = Vec::<Detection, K>::new();
        for detection in &self.0 {
            let repeats =
                |best: &Detection| best.class == detection.class && best.rect.iou(&detection.rect) > limit;
            if !kept.iter().any(repeats) {
                // There is room: no more are kept than there were.
                let _ = kept.push(*detection);
            }
        }
        self.0 = kept;
    }

    /// All of them, best first.
    pub fn as_slice(&self) -> &[Detection] {
        self.0.as_slice()
    }

    /// All of them, best first.
    pub fn iter(&self) -> core::slice::Iter<'_, Detection> {
        self.0.iter()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

impl<'a, const K: usize> IntoIterator for &'a Detections<K> {
    type Item = &'a Detection;
    type IntoIter = core::slice::Iter<'a, Detection>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(feature = "defmt")]
impl<const K: usize> defmt::Format for Detections<K> {
    fn format(&self, f: defmt::Formatter) {
        self.as_slice().format(f);
    }
}
