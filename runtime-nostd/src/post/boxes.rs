//! Boxes of object detectors.

use super::score::Cutoff;
use super::Score;
use crate::arch::portable::math::exp;
use crate::TensorInfo;

/// An upright rectangle. In a detection, in parts of the image: `x` from 0, left, to 1, right, and `y` from 0, top, to 1, bottom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rect {
    /// Least `x`.
    pub left: f32,
    /// Least `y`.
    pub top: f32,
    /// Greatest `x`.
    pub right: f32,
    /// Greatest `y`.
    pub bottom: f32,
}

impl Rect {
    /// Of that centre and size.
    pub fn centered(x: f32, y: f32, width: f32, height: f32) -> Rect {
        let (w, h) = (width / 2.0, height / 2.0);
        Rect { left: x - w, top: y - h, right: x + w, bottom: y + h }
    }

    /// The part that is in the image.
    pub fn clipped(&self) -> Rect {
        let clip = |x: f32| x.clamp(0.0, 1.0);
        Rect {
            left: clip(self.left),
            top: clip(self.top),
            right: clip(self.right),
            bottom: clip(self.bottom),
        }
    }

    /// Width times height; 0 where one of them is negative.
    pub fn area(&self) -> f32 {
        (self.right - self.left).max(0.0) * (self.bottom - self.top).max(0.0)
    }

    /// Intersection over union (the Jaccard index): 0 for rectangles that do not overlap, 1 for equal ones. 0 if both are empty.
    ///
    /// ```
    /// use kiln::post::Rect;
    ///
    /// let left = Rect { left: 0.0, top: 0.0, right: 0.5, bottom: 1.0 };
    /// let most = Rect { right: 0.75, ..left };
    /// assert_eq!(left.iou(&most), 2.0 / 3.0);
    /// ```
    pub fn iou(&self, other: &Rect) -> f32 {
        let both = Rect {
            left: self.left.max(other.left),
            top: self.top.max(other.top),
            right: self.right.min(other.right),
            bottom: self.bottom.min(other.bottom),
        };
        let intersection = both.area();
        let union = self.area() + other.area() - intersection;
        if union > 0.0 {
            intersection / union
        } else {
            0.0
        }
    }
}

/// Something that was seen.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Detection {
    /// Where, in parts of the image. It may reach over the edges: see [`Rect::clipped`].
    pub rect: Rect,
    /// What: the index of the class.
    pub class: usize,
    /// How likely, 0 to 1.
    pub score: f32,
}

/// A box that a detector's offsets refer to (also: prior, default box), in parts of the image.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Anchor {
    /// Of the centre.
    pub x: f32,
    /// Of the centre.
    pub y: f32,
    /// Not negative.
    pub width: f32,
    /// Not negative.
    pub height: f32,
}

/// What a detector says about a box, relative to its anchor.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Offsets {
    /// Of the centre, in widths of the anchor.
    pub x: f32,
    /// Of the centre, in heights of the anchor.
    pub y: f32,
    /// Logarithm of the width in widths of the anchor.
    pub width: f32,
    /// Logarithm of the height in heights of the anchor.
    pub height: f32,
}

/// What offsets are multiplied by: the detector was trained on offsets divided by them. (TensorFlow's `scale_factors` are their reciprocals.)
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Variances {
    /// For `x` and `y`.
    pub center: f32,
    /// For width and height.
    pub size: f32,
}

impl Variances {
    /// 0.1 and 0.2: SSD's, and nearly everybody's (scale factors 10, 10, 5, 5).
    pub const SSD: Variances = Variances { center: 0.1, size: 0.2 };
}

impl Anchor {
    /// The box that offsets mean (W. Liu et al., "SSD: Single Shot MultiBox Detector", 2016, equation 2):
    /// `center + variance · offset · size`, and `size · exp(variance · offset)`.
    ///
    /// ```
    /// use kiln::post::{Anchor, Offsets, Rect, Variances};
    ///
    /// let anchor = Anchor { x: 0.5, y: 0.5, width: 0.5, height: 0.25 };
    /// let offsets = Offsets { x: 5.0, y: 0.0, width: 0.0, height: 0.0 };
    /// let rect = anchor.decode(offsets, Variances::SSD);
    /// assert_eq!(rect, Rect { left: 0.5, top: 0.375, right: 1.0, bottom: 0.625 });
    /// ```
    pub fn decode(&self, offsets: Offsets, variances: Variances) -> Rect {
        Rect::centered(
            self.x + variances.center * offsets.x * self.width,
            self.y + variances.center * offsets.y * self.height,
            self.width * exp(variances.size * offsets.width),
            self.height * exp(variances.size * offsets.height),
        )
    }
}

/// In which order the four offsets of a box stand in a tensor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum BoxOrder {
    /// `y, x, height, width`: TensorFlow's Object Detection API.
    #[default]
    Yxhw,
    /// `x, y, width, height`: the SSD paper, PyTorch, MediaPipe.
    Xywh,
}

/// The two outputs of an SSD detector: offsets, `[anchors, 4]`, and scores, `[anchors, classes]`.
///
/// ```
/// use kiln::post::{Anchor, BoxOrder, SsdHead, Variances};
/// # use kiln::{DType, TensorInfo};
/// # struct Faces;
/// # impl Faces {
/// #     const OUTPUT_0: TensorInfo = TensorInfo { name: "b", dtype: DType::I8, shape: &[2, 4], scale: 0.0625, zero_point: 0 };
/// #     const OUTPUT_1: TensorInfo = TensorInfo { name: "s", dtype: DType::I8, shape: &[2, 1], scale: 0.0625, zero_point: 0 };
/// # }
///
/// static ANCHORS: [Anchor; 2] = [
///     Anchor { x: 0.25, y: 0.5, width: 0.5, height: 0.5 },
///     Anchor { x: 0.75, y: 0.5, width: 0.5, height: 0.5 },
/// ];
/// let head = SsdHead {
///     anchors: &ANCHORS,
///     variances: Variances::SSD,
///     order: BoxOrder::Yxhw,
///     classes: 1,
///     background: None,
///     logits: true,
/// };
///
/// let (boxes, scores): (&[i8; 8], &[i8; 2]) = (&[0, 0, 0, 0, 0, -16, 0, 0], &[-90, 90]); // faces.output_0(), faces.output_1()
/// let mut count = 0;
/// head.decode(boxes, &Faces::OUTPUT_0, scores, &Faces::OUTPUT_1, 0.5, |face| {
///     count += 1;
///     assert!((face.rect.left - 0.45).abs() < 1e-6 && face.score > 0.99);
/// });
/// assert_eq!(count, 1);
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct SsdHead<'a> {
    /// The anchors, in the order of the outputs.
    pub anchors: &'a [Anchor],
    /// What offsets are multiplied by.
    pub variances: Variances,
    /// How the offsets of a box are ordered.
    pub order: BoxOrder,
    /// Scores of each box.
    pub classes: usize,
    /// The class that means that there is nothing, if there is one.
    pub background: Option<usize>,
    /// Whether scores are logits: the model does not end with a logistic function.
    pub logits: bool,
}

impl SsdHead<'_> {
    /// Calls `found` for every box and class whose score is `threshold` (0 to 1) at least. Anchors without offsets or scores are passed over.
    ///
    /// The threshold is quantised once. Boxes whose scores do not reach it, nearly all of them, cost one comparison of integers for each class.
    pub fn decode<B: Score, S: Score>(
        &self,
        boxes: &[B],
        boxes_info: &TensorInfo,
        scores: &[S],
        scores_info: &TensorInfo,
        threshold: f32,
        mut found: impl FnMut(Detection),
    ) {
        let raw = if self.logits { logit(threshold) } else { threshold };
        let cutoff = Cutoff::new(scores_info, raw, 1);
        for (index, anchor) in self.anchors.iter().enumerate() {
            let Some(scores) = piece(scores, self.classes, index) else { return };
            let Some(&[a, b, c, d]) = piece(boxes, 4, index) else { return };
            for (class, &score) in scores.iter().enumerate() {
                if self.background == Some(class) || !S::reaches(score.widen(), &cutoff) {
                    continue;
                }
                let [a, b, c, d] = [a, b, c, d].map(|offset| boxes_info.real(offset));
                let offsets = match self.order {
                    BoxOrder::Yxhw => Offsets { x: b, y: a, width: d, height: c },
                    BoxOrder::Xywh => Offsets { x: a, y: b, width: c, height: d },
                };
                let rect = anchor.decode(offsets, self.variances);
                let score = scores_info.real(score);
                found(Detection { rect, class, score: if self.logits { logistic(score) } else { score } });
            }
        }
    }
}

/// The output of a detector of the YOLO family, `[rows, columns, anchors, 5 + classes]`: for each cell of a grid and each anchor
/// `x, y, width, height`, a logit that there is something, and a logit of each class.
///
/// Boxes are those of J. Redmon and A. Farhadi, "YOLO9000", 2016, section 2: the centre is within the cell, `(column + σ(x)) / columns`, the
/// size is `anchor · exp(width)`. Scores are those of their "YOLOv3", 2018: `σ(something) · σ(class)`; without classes, `σ(something)` of class 0.
///
/// ```
/// use kiln::post::GridHead;
/// # use kiln::{DType, TensorInfo};
/// # struct Cups;
/// # impl Cups {
/// #     const OUTPUT: TensorInfo = TensorInfo { name: "g", dtype: DType::I8, shape: &[1, 2, 1, 5], scale: 0.0625, zero_point: 0 };
/// # }
/// let head = GridHead { columns: 2, anchors: &[[0.25, 0.5]], classes: 0 };
/// let grid: &[i8; 10] = &[0, 0, 0, 0, -100, 0, 0, 0, 0, 100]; // one row of two cells: cups.output()
/// let mut left = None;
/// head.decode(grid, &Cups::OUTPUT, 0.5, |cup| left = Some(cup.rect.left));
/// assert_eq!(left, Some(0.625));
/// ```
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct GridHead<'a> {
    /// Columns of the grid. Its rows are as many as there are in the output.
    pub columns: usize,
    /// Width and height of each anchor, in parts of the image.
    pub anchors: &'a [[f32; 2]],
    /// Number of classes.
    pub classes: usize,
}

impl GridHead<'_> {
    /// Calls `found` for every box and class whose score is `threshold` (0 to 1) at least.
    ///
    /// No score is higher than the one that there is something. Boxes where that does not reach the threshold cost one comparison of integers.
    pub fn decode<T: Score>(
        &self,
        grid: &[T],
        info: &TensorInfo,
        threshold: f32,
        mut found: impl FnMut(Detection),
    ) {
        let size = self.classes.saturating_add(5);
        let row = size.saturating_mul(self.anchors.len()).saturating_mul(self.columns);
        let rows = grid.len().checked_div(row).unwrap_or(0);
        let cutoff = Cutoff::new(info, logit(threshold), 1);
        let mut index = 0;
        for y in 0..rows {
            for x in 0..self.columns {
                for anchor in self.anchors {
                    let cell = piece(grid, size, index).unwrap_or_default();
                    index += 1;
                    let [bx, by, bw, bh, something, classes @ ..] = cell else { return };
                    if !T::reaches(something.widen(), &cutoff) {
                        continue;
                    }
                    let real = |stored: &T| info.real(*stored);
                    let [width, height] = *anchor;
                    let rect = Rect::centered(
                        (x as f32 + logistic(real(bx))) / self.columns as f32,
                        (y as f32 + logistic(real(by))) / rows as f32,
                        width * exp(real(bw)),
                        height * exp(real(bh)),
                    );
                    let something = logistic(real(something));
                    if classes.is_empty() {
                        found(Detection { rect, class: 0, score: something });
                    }
                    for (class, logit) in classes.iter().enumerate() {
                        let score = something * logistic(real(logit));
                        if score >= threshold {
                            found(Detection { rect, class, score });
                        }
                    }
                }
            }
        }
    }
}

/// Piece `index` of pieces of `size` elements.
fn piece<T>(values: &[T], size: usize, index: usize) -> Option<&[T]> {
    let start = index.checked_mul(size)?;
    values.get(start..start.checked_add(size)?)
}

/// `1 / (1 + e⁻ˣ)`.
fn logistic(x: f32) -> f32 {
    1.0 / (1.0 + exp(-x))
}

/// Inverse of the logistic function, of what is between 0 and 1: −∞ for 0 and below, ∞ for 1 and above.
fn logit(p: f32) -> f32 {
    let p = p.clamp(0.0, 1.0);
    libm::logf(p / (1.0 - p))
}
