//! The held-out scenes: pictures of one to three digits that training never saw. `../train.py` writes the files, and draws with the same integers.

use crate::{FindDigits, Found, SIZE};
use core::str::FromStr;
use digits_data::{images, Image};
use kiln::post::{Detection, Rect};

static SCENES: &[u8] = include_bytes!("../../data/scenes.bin");
static TFLM: &str = include_str!("../../data/tflm.txt");

/// Pixels of this brightness belong to a digit's box.
const VISIBLE: u8 = 32;

/// A box is right if it overlaps the digit's by that much.
const LEAST_OVERLAP: f32 = 0.5;

/// Scores and edges may differ by this from those computed in double precision.
const TOLERANCE: f32 = 1e-4;

/// Brightness of pixels, row by row.
pub type Picture = [[u8; SIZE]; SIZE];

/// The lines of a camera that sees a picture in the middle of its frame, five times as large.
pub fn frame(picture: &Picture) -> impl Iterator<Item = [u8; FindDigits::LINE_BYTES]> + '_ {
    let margin = (FindDigits::LINE_BYTES - FindDigits::LINES) / 2;
    let times = FindDigits::LINES / SIZE;
    (0..FindDigits::LINES).map(move |y| {
        let row = picture.get(y / times);
        core::array::from_fn(|x| {
            let x = x.checked_sub(margin).map(|x| x / times);
            row.zip(x).and_then(|(row, x)| row.get(x)).copied().unwrap_or(0)
        })
    })
}

/// A picture, as what is on it.
#[derive(Clone, Copy, Debug)]
pub struct Scene {
    placed: &'static [u8],
}

/// All scenes.
pub fn scenes() -> impl Iterator<Item = Scene> {
    let mut rest = SCENES;
    core::iter::from_fn(move || {
        let (&count, behind) = rest.split_first()?;
        let (placed, behind) = behind.split_at_checked(usize::from(count) * 8)?;
        rest = behind;
        Some(Scene { placed })
    })
}

/// What is found on a scene with TensorFlow Lite Micro's outputs, decoded in double precision; best first.
pub fn found_with_tflm(scene: usize) -> impl Iterator<Item = Detection> {
    let lines = TFLM
        .lines()
        .filter_map(move |line| line.split_once(' ').filter(|(of, _)| usize::from_str(of) == Ok(scene)));
    lines.filter_map(|(_, line)| {
        let mut words = line.split(' ');
        let class = usize::from_str(words.next()?).ok()?;
        let mut number = || f32::from_str(words.next()?).ok();
        let score = number()?;
        let rect = Rect { left: number()?, top: number()?, right: number()?, bottom: number()? };
        Some(Detection { rect, class, score })
    })
}

/// Whether that is what is found on a scene with TensorFlow Lite Micro's outputs.
pub fn agrees(scene: usize, found: &Found) -> bool {
    let near = |a: f32, b: f32| (a - b).abs() < TOLERANCE;
    let same = |a: &Detection, b: &Detection| {
        let edges = |rect: &Rect| [rect.left, rect.top, rect.right, rect.bottom];
        let edges = edges(&a.rect).into_iter().zip(edges(&b.rect));
        a.class == b.class && near(a.score, b.score) && edges.into_iter().all(|(a, b)| near(a, b))
    };
    let mut expected = found_with_tflm(scene);
    found.iter().all(|found| expected.next().is_some_and(|expected| same(found, &expected)))
        && expected.next().is_none()
}

impl Scene {
    /// The digits on it.
    pub fn digits(self) -> impl Iterator<Item = Placed> {
        self.placed.chunks_exact(8).filter_map(|entry| {
            let &[low, high, left, top, size, bright, ..] = entry else { return None };
            let image = images().nth(u16::from_le_bytes([low, high]).into())?;
            let [left, top, size] = [left, top, size].map(usize::from);
            Some(Placed { image, left, top, size, bright: bright.into() })
        })
    }

    /// The picture. Where digits lie over each other, the brightest pixel is seen.
    pub fn draw(self) -> Picture {
        let mut picture = [[0; SIZE]; SIZE];
        for digit in self.digits() {
            for (y, row) in picture.iter_mut().skip(digit.top).take(digit.size).enumerate() {
                for (x, pixel) in row.iter_mut().skip(digit.left).take(digit.size).enumerate() {
                    *pixel = digit.pixel(x, y).max(*pixel);
                }
            }
        }
        picture
    }
}

/// A digit on a picture: an image, enlarged.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    image: Image,
    left: usize,
    top: usize,
    size: usize,
    bright: usize,
}

impl Placed {
    /// Which digit it is.
    pub fn class(&self) -> usize {
        self.image.label.into()
    }

    /// The box around what is visible of it, in parts of the picture.
    pub fn rect(&self) -> Rect {
        let (mut left, mut top, mut right, mut bottom) = (self.size, self.size, 0, 0);
        for (x, y) in (0..self.size).flat_map(|y| (0..self.size).map(move |x| (x, y))) {
            if self.pixel(x, y) >= VISIBLE {
                (left, top) = (left.min(x), top.min(y));
                (right, bottom) = (right.max(x + 1), bottom.max(y + 1));
            }
        }
        let part = |pixels: usize| pixels as f32 / SIZE as f32;
        Rect {
            left: part(self.left + left),
            top: part(self.top + top),
            right: part(self.left + right),
            bottom: part(self.top + bottom),
        }
    }

    /// A pixel of the enlarged image, between the four nearest of the image.
    fn pixel(&self, x: usize, y: usize) -> u8 {
        // In sixteenths of a pixel of the image, whose pixels' centres are whole.
        let position = |at: usize| ((2 * at + 1) * 64 / self.size).saturating_sub(8).min(112);
        let (x, y) = (position(x), position(y));
        let ink = |x: usize, y: usize| {
            self.image.ink.get(8 * y.min(7) + x.min(7)).map_or(0, |&ink| usize::from(ink))
        };
        let row = |y: usize| ink(x / 16, y) * (16 - x % 16) + ink(x / 16 + 1, y) * (x % 16);
        let both = row(y / 16) * (16 - y % 16) + row(y / 16 + 1) * (y % 16);
        (both * self.bright / 4096) as u8
    }
}

/// How much was found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Digits that there are.
    pub digits: usize,
    /// What was found.
    pub found: usize,
    /// What was found and is there: the right digit in a box that overlaps its own by half.
    pub right: usize,
}

impl Tally {
    /// Takes what was found on a scene.
    pub fn count(&mut self, scene: Scene, found: &Found) {
        self.digits += scene.digits().count();
        self.found += found.iter().len();
        self.right += judged(scene, found).filter(|&(_, right)| right).count();
    }

    /// Whether nine in ten digits are found, and nine in ten of what is found is right.
    pub fn is_good(&self) -> bool {
        self.right * 10 >= self.digits * 9 && self.right * 10 >= self.found * 9
    }
}

/// What was found on a scene, best first, and whether it is right. What repeats is not.
pub fn judged(scene: Scene, found: &Found) -> impl Iterator<Item = (&Detection, bool)> {
    // A bit for each digit of the scene.
    let mut taken = 0u64;
    found.iter().map(move |found| {
        let overlaps = scene.digits().enumerate().filter_map(|(index, digit)| {
            let overlap = digit.rect().iou(&found.rect);
            let is_free = taken & (1 << index) == 0;
            (is_free && digit.class() == found.class && overlap >= LEAST_OVERLAP).then_some((index, overlap))
        });
        let best = overlaps.reduce(|best, next| if next.1 > best.1 { next } else { best });
        taken |= best.map_or(0, |(index, _)| 1 << index);
        (found, best.is_some())
    })
}
