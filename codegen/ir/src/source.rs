//! The option `source`: what the lines of a camera are, and what becomes of them in front of a model.

use crate::error::{Error, Problem};
use std::fmt;
use std::str::FromStr;

/// A named value of a word in the option.
macro_rules! words {
    ($(#[doc = $doc:literal])* $type:ident $word:literal: $($(#[doc = $of_value:literal])* $value:ident $name:literal),+) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $type {
            $($(#[doc = $of_value])* $value,)+
        }

        impl $type {
            /// The names users write.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name users write.
            pub fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name,)+
                }
            }

            fn read(text: &str) -> Result<Self, Error> {
                match text {
                    $($name => Ok($type::$value),)+
                    _ => Err(wrong(format!("`{text}` is no {}", $word), format!("use {}", listed(Self::NAMES)))),
                }
            }
        }
    };
}

words! {
    /// How a line holds its pixels.
    PixelFormat "format of pixels":
    /// 5 bits of red, 6 of green and 5 of blue, the low byte first.
    Rgb565Le "rgb565-le",
    /// The same, the high byte first, as most sensors send it.
    Rgb565Be "rgb565",
    /// Bytes of red, green and blue.
    Rgb888 "rgb888",
    /// Bytes of blue, green and red.
    Bgr888 "bgr888",
    /// A byte of grey.
    Gray8 "gray8",
    /// Luma, U, luma, V of two pixels.
    Yuyv "yuyv",
    /// U, luma, V, luma of two pixels.
    Uyvy "uyvy",
    /// A colour in each pixel: red, green; green, blue.
    Rggb "rggb",
    /// Blue, green; green, red.
    Bggr "bggr",
    /// Green, red; blue, green.
    Grbg "grbg",
    /// Green, blue; red, green.
    Gbrg "gbrg"
}

words! {
    /// How an image gets the size of the model's input.
    Resize "way to another size":
    /// One pixel for each.
    Nearest "nearest",
    /// Between pixels; in Pillow a filter that is as wide as the image shrinks.
    Bilinear "bilinear",
    /// The mean of the pixels of an area.
    Area "area"
}

words! {
    /// What is exchanged, behind all else.
    Flip "side":
    /// Left and right.
    Horizontal "horizontal",
    /// Above and below.
    Vertical "vertical",
    /// Both: turned by 180°.
    Both "both"
}

words! {
    /// Whose arithmetic colours and sizes have.
    Like "library":
    /// OpenCV's.
    OpenCv "opencv",
    /// Pillow's.
    Pillow "pillow"
}

words! {
    /// The order of channels in the model's input.
    Order "order of channels":
    /// Red, green, blue.
    Rgb "rgb",
    /// Blue, green, red.
    Bgr "bgr"
}

/// What is seen of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crop {
    /// All of it, whatever its shape.
    Whole,
    /// As much as there is in the middle, in the shape of the model's input.
    Centre,
    /// This rectangle.
    At(Rectangle),
}

/// A part of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    /// Pixels of a line.
    pub width: usize,
    /// Lines.
    pub height: usize,
    /// Pixels to the left of it.
    pub left: usize,
    /// Lines above it.
    pub top: usize,
}

/// A number of single precision, by its bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number(u32);

impl Number {
    /// It.
    pub fn get(self) -> f32 {
        f32::from_bits(self.0)
    }
}

/// The lines of a camera, and what becomes of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// How a line holds its pixels.
    pub format: PixelFormat,
    /// Pixels of a line.
    pub width: usize,
    /// Lines of a frame.
    pub height: usize,
    /// What is seen.
    pub crop: Crop,
    /// How it gets another size. Needed if it has another.
    pub resize: Option<Resize>,
    /// What is exchanged.
    pub flip: Option<Flip>,
    /// Whose arithmetic that has.
    pub like: Like,
    /// The order of channels.
    pub order: Order,
    /// What is subtracted from a pixel: one number, or one for each channel.
    pub mean: Option<Vec<Number>>,
    /// What the difference is multiplied by.
    pub scale: Option<Vec<Number>>,
}

/// Longest side of a frame.
const MOST: usize = 4095;

/// The words that are followed by a value.
const WORDS: [&str; 7] = ["crop", "resize", "flip", "like", "order", "mean", "scale"];

impl Source {
    /// Bytes of a line.
    pub fn line_bytes(&self) -> usize {
        match self.format {
            PixelFormat::Rgb565Le | PixelFormat::Rgb565Be | PixelFormat::Yuyv | PixelFormat::Uyvy => {
                2 * self.width
            }
            PixelFormat::Rgb888 | PixelFormat::Bgr888 => 3 * self.width,
            _ => self.width,
        }
    }

    /// Parities of the columns and of the lines with red, of sensors with a colour in each pixel.
    pub fn red_at(&self) -> Option<[usize; 2]> {
        match self.format {
            PixelFormat::Rggb => Some([0, 0]),
            PixelFormat::Grbg => Some([1, 0]),
            PixelFormat::Gbrg => Some([0, 1]),
            PixelFormat::Bggr => Some([1, 1]),
            _ => None,
        }
    }

    /// Whether left and right are exchanged.
    pub fn is_mirrored(&self) -> bool {
        matches!(self.flip, Some(Flip::Horizontal | Flip::Both))
    }

    /// Whether above and below are.
    pub fn is_upside_down(&self) -> bool {
        matches!(self.flip, Some(Flip::Vertical | Flip::Both))
    }

    /// What is seen, where the model takes images of that width and height.
    pub fn rectangle(&self, width: usize, height: usize) -> Rectangle {
        match self.crop {
            Crop::Whole => Rectangle { width: self.width, height: self.height, left: 0, top: 0 },
            Crop::At(rectangle) => rectangle,
            Crop::Centre => {
                let is_wide = self.width * height > self.height * width;
                let (w, h) = match is_wide {
                    true => (self.height * width / height.max(1), self.height),
                    false => (self.width, self.width * height / width.max(1)),
                };
                let (w, h) = (w.max(1), h.max(1));
                Rectangle { width: w, height: h, left: (self.width - w) / 2, top: (self.height - h) / 2 }
            }
        }
    }

    fn set(&mut self, word: &str, value: &str) -> Result<(), Error> {
        match word {
            "crop" => self.crop = self.read_crop(value)?,
            "resize" => self.resize = Some(Resize::read(value)?),
            "flip" => self.flip = Some(Flip::read(value)?),
            "like" => self.like = Like::read(value)?,
            "order" => self.order = Order::read(value)?,
            "mean" => self.mean = Some(numbers(word, value)?),
            "scale" => self.scale = Some(numbers(word, value)?),
            _ => return Err(unknown(word)),
        }
        Ok(())
    }

    fn read_crop(&self, value: &str) -> Result<Crop, Error> {
        match value {
            "centre" | "center" => return Ok(Crop::Centre),
            "none" => return Ok(Crop::Whole),
            _ => {}
        }
        let read = || {
            let (size, place) = value.split_once('+')?;
            let ((width, height), (left, top)) = (pair(size, 'x')?, pair(place, '+')?);
            Some(Rectangle { width, height, left, top })
        };
        let help = "use centre, none, or a size and a place: 240x240+40+0";
        let Some(rectangle) = read() else { return Err(wrong(format!("`{value}` is no crop"), help.into())) };
        let Rectangle { width, height, left, top } = rectangle;
        let is_inside = |from: usize, count: usize, all: usize| {
            count > 0 && from.checked_add(count).is_some_and(|end| end <= all)
        };
        match is_inside(left, width, self.width) && is_inside(top, height, self.height) {
            true => Ok(Crop::At(rectangle)),
            false => Err(wrong(
                format!("the crop {value} is not inside of a frame of {}x{}", self.width, self.height),
                "a crop is WIDTHxHEIGHT+LEFT+TOP, in pixels of the frame".into(),
            )),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}x{}", self.format.name(), self.width, self.height)?;
        match self.crop {
            Crop::Whole => {}
            Crop::Centre => write!(f, ", crop = centre")?,
            Crop::At(Rectangle { width, height, left, top }) => {
                write!(f, ", crop = {width}x{height}+{left}+{top}")?;
            }
        }
        let words = [
            ("resize", self.resize.map(Resize::name)),
            ("flip", self.flip.map(Flip::name)),
            ("like", (self.like != Like::OpenCv).then(|| self.like.name())),
            ("order", (self.order != Order::Rgb).then(|| self.order.name())),
        ];
        for (word, value) in words {
            value.map_or(Ok(()), |value| write!(f, ", {word} = {value}"))?;
        }
        for (word, numbers) in [("mean", &self.mean), ("scale", &self.scale)] {
            match numbers.as_deref() {
                None => {}
                Some([number]) => write!(f, ", {word} = {}", number.get())?,
                Some(numbers) => {
                    let numbers: Vec<String> =
                        numbers.iter().map(|number| number.get().to_string()).collect();
                    write!(f, ", {word} = [{}]", numbers.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

impl FromStr for Source {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let mut parts = parts(text).into_iter();
        let first = parts.next().unwrap_or_default();
        let example = "it begins with the format of pixels and the size of a frame: rgb565 320x240";
        let words: Vec<&str> = first.split_whitespace().collect();
        let [format, size] = words[..] else {
            return Err(wrong(format!("`{first}` is not a format and a size"), example.into()));
        };
        let format = match format {
            "rgb565-be" => PixelFormat::Rgb565Be,
            format => PixelFormat::read(format)?,
        };
        let sides = pair(size, 'x').filter(|&(w, h)| (1..=MOST).contains(&w) && (1..=MOST).contains(&h));
        let Some((width, height)) = sides else {
            let help = format!("write width and height of a frame, of at most {MOST} pixels: 320x240");
            return Err(wrong(format!("`{size}` is no size of a frame"), help));
        };
        if matches!(format, PixelFormat::Yuyv | PixelFormat::Uyvy) && width % 2 == 1 {
            let help = "use an even width: two pixels share their colour".into();
            return Err(wrong(format!("lines of this format have no {width} pixels"), help));
        }
        let mut source = Source {
            format,
            width,
            height,
            crop: Crop::Whole,
            resize: None,
            flip: None,
            like: Like::OpenCv,
            order: Order::Rgb,
            mean: None,
            scale: None,
        };
        if source.red_at().is_some() && (width < 3 || height < 3) {
            let help =
                "use a frame of at least 3x3: the colours of a pixel are those of its neighbours".into();
            return Err(wrong(format!("`{size}` is too small for this format"), help));
        }
        let mut said = Vec::new();
        for part in parts {
            let Some((word, value)) = part.split_once('=') else { return Err(unknown(part.trim())) };
            let (word, value) = (word.trim(), value.trim());
            if said.contains(&word) {
                return Err(wrong(format!("`{word}` stands twice"), "say it once".into()));
            }
            source.set(word, value)?;
            said.push(word);
        }
        Ok(source)
    }
}

/// What stands between commas that are not in brackets.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, c) in text.char_indices() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

fn pair(text: &str, between: char) -> Option<(usize, usize)> {
    let (a, b) = text.split_once(between)?;
    Some((a.trim().parse().ok()?, b.trim().parse().ok()?))
}

/// `127.5`, `1/255`, or `[0.485, 0.456, 0.406]`.
fn numbers(word: &str, text: &str) -> Result<Vec<Number>, Error> {
    let one = |text: &str| {
        let number = |text: &str| text.trim().parse::<f64>().ok();
        let value = match text.split_once('/') {
            None => number(text)?,
            Some((a, b)) => number(a)? / number(b)?,
        } as f32;
        value.is_finite().then(|| Number(value.to_bits()))
    };
    let list = text.strip_prefix('[').map(|text| text.strip_suffix(']'));
    let numbers: Option<Vec<Number>> = match list {
        None => one(text).map(|number| vec![number]),
        Some(list) => list.and_then(|list| list.split(',').map(one).collect()),
    };
    let zero = |number: &Number| word == "scale" && number.get() == 0.0;
    numbers.filter(|numbers| matches!(numbers.len(), 1 | 3) && !numbers.iter().any(zero)).ok_or_else(|| {
        let help = format!(
            "write one number for all channels ({word} = 127.5), a quotient ({word} = 1/255), or one for each: {word} = [124, 116, 104]"
        );
        wrong(format!("`{text}` is no {word}"), help)
    })
}

fn unknown(word: &str) -> Error {
    let words: Vec<String> = WORDS.iter().map(|word| format!("{word} = …")).collect();
    wrong(
        format!("there is no `{word}` in a source"),
        format!("behind format and size may stand {}", words.join(", ")),
    )
}

fn listed(names: &[&str]) -> String {
    match names.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

fn wrong(what: String, help: String) -> Error {
    Error::Options(Problem { place: "option `source`".into(), what, help })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources() {
        let source: Source =
            "rgb565 320x240, crop = centre, resize = bilinear, flip=both, mean = [1, 2.5,3], scale = 1/255, like = pillow"
                .parse()
                .unwrap();
        assert_eq!((source.format, source.width, source.height), (PixelFormat::Rgb565Be, 320, 240));
        assert_eq!((source.line_bytes(), source.resize), (640, Some(Resize::Bilinear)));
        assert!(source.is_mirrored() && source.is_upside_down());
        assert_eq!((source.like, source.order), (Like::Pillow, Order::Rgb));
        let numbers = |list: Option<Vec<Number>>| list.unwrap().iter().map(|n| n.get()).collect::<Vec<_>>();
        assert_eq!(numbers(source.mean.clone()), [1.0, 2.5, 3.0]);
        assert_eq!(numbers(source.scale.clone()), [1.0 / 255.0]);
        assert_eq!(source.rectangle(96, 96), Rectangle { width: 240, height: 240, left: 40, top: 0 });
        assert_eq!(source.rectangle(160, 80), Rectangle { width: 320, height: 160, left: 0, top: 40 });
        let plain: Source = "gray8 28x28".parse().unwrap();
        assert_eq!(plain.rectangle(10, 5), Rectangle { width: 28, height: 28, left: 0, top: 0 });
        let part: Source = "rgb888 40x30, crop = 12x10+28+20".parse().unwrap();
        assert_eq!(part.rectangle(1, 1), Rectangle { width: 12, height: 10, left: 28, top: 20 });
    }

    #[test]
    fn what_is_no_source_is_refused() {
        for (text, message) in [
            ("", "rgb565 320x240"),
            ("rgb565", "is not a format and a size"),
            ("rgb666 320x240", "use rgb565-le, rgb565, rgb888"),
            ("rgb565 320", "`320` is no size"),
            ("rgb565 0x240", "is no size"),
            ("rgb565 5000x240", "at most 4095"),
            ("yuyv 321x240", "even width"),
            ("rggb 40x2", "at least 3x3"),
            ("gray8 320x240, crop = 240x240", "centre, none"),
            ("gray8 320x240, crop = 240x240+81+0", "not inside of a frame of 320x240"),
            ("gray8 320x240, crop = 0x240+0+0", "not inside"),
            ("gray8 320x240, crop = 1x1+18446744073709551615+0", "not inside"),
            ("gray8 320x240, resize = lanczos", "use nearest, bilinear or area"),
            ("gray8 320x240, flip = yes", "use horizontal, vertical or both"),
            ("gray8 320x240, like = torch", "use opencv or pillow"),
            ("gray8 320x240, order = grb", "use rgb or bgr"),
            ("gray8 320x240, size = 1", "there is no `size`"),
            ("gray8 320x240, bilinear", "resize = …"),
            ("gray8 320x240, ", "crop = …"),
            ("gray8 320x240, mean = [1, 2]", "one for each"),
            ("gray8 320x240, mean = [1, 2, 3", "one for each"),
            ("gray8 320x240, mean = nan", "is no mean"),
            ("gray8 320x240, scale = 0", "is no scale"),
            ("gray8 320x240, scale = 1/0", "is no scale"),
            ("gray8 320x240, flip = both, flip = both", "stands twice"),
        ] {
            let error = text.parse::<Source>().unwrap_err().to_string();
            assert!(error.contains("option `source`") && error.contains(message), "{text}: {error}");
        }
    }
}
