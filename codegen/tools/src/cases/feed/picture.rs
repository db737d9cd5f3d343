//! Pictures: PNG files as pixels, and pixels as PNG files.

use super::refuse;
use crate::cases::{Error, Result};
use png::{BitDepth, ColorType, Decoder, DecodingError, Encoder, EncodingError, Transformations};
use std::io::{BufRead, Seek};

/// A picture of gray or red, green and blue, a byte each, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Pixels of a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// 1 or 3.
    pub channels: usize,
    /// `height · width · channels` bytes.
    pub pixels: Vec<u8>,
}

/// Most bytes of a picture.
const MOST: usize = 1 << 28;

impl Picture {
    /// Reads a PNG file. Palettes become colours; what is transparent nowhere loses its transparency.
    ///
    /// # Errors
    /// Says what the file is instead.
    pub fn read(file: impl BufRead + Seek) -> Result<Picture> {
        let mut decoder = Decoder::new_with_limits(file, png::Limits { bytes: MOST });
        decoder.set_transformations(Transformations::EXPAND);
        let is = |what: &'static str| move |error: DecodingError| Error::new(format!("{what}: {error}"));
        let mut reader = decoder.read_info().map_err(is("it is no PNG file"))?;
        let size = reader.output_buffer_size().filter(|&size| size <= MOST);
        let mut pixels = vec![0; size.ok_or_else(|| Error::new("it is too large"))?];
        let info = reader.next_frame(&mut pixels).map_err(is("it is damaged"))?;
        pixels.truncate(info.buffer_size());
        if info.bit_depth != BitDepth::Eight {
            return refuse("it has 16 bits per colour; save it with 8");
        }
        let (width, height) = (info.width as usize, info.height as usize);
        let (channels, stored) = match info.color_type {
            ColorType::Grayscale => (1, 1),
            ColorType::GrayscaleAlpha => (1, 2),
            ColorType::Rgb => (3, 3),
            ColorType::Rgba => (3, 4),
            ColorType::Indexed => return refuse("its palette is missing"),
        };
        if stored != channels {
            if pixels.chunks_exact(stored).any(|pixel| pixel[channels] != u8::MAX) {
                return refuse("parts of it are transparent; save it without transparency, on the background that the model is to see");
            }
            pixels = pixels.chunks_exact(stored).flat_map(|pixel| &pixel[..channels]).copied().collect();
        }
        Ok(Picture { width, height, channels, pixels })
    }

    /// The same picture in so many channels: gray becomes a colour, and a picture whose colours are all gray becomes gray.
    ///
    /// # Errors
    /// Where it has other colours than gray: there are several ways to weigh them.
    pub fn with_channels(mut self, channels: usize) -> Result<Picture> {
        match (self.channels, channels) {
            (1, 3) => self.pixels = self.pixels.iter().flat_map(|&gray| [gray; 3]).collect(),
            (3, 1) => {
                if self.pixels.chunks_exact(3).any(|pixel| pixel[0] != pixel[1] || pixel[1] != pixel[2]) {
                    return refuse("it has colours, the model takes gray\n    help: convert the files as in training, for example with Pillow's Image.convert(\"L\")");
                }
                self.pixels = self.pixels.iter().step_by(3).copied().collect();
            }
            _ => {}
        }
        self.channels = channels;
        Ok(self)
    }

    /// Its colours as gray, weighed as Pillow's `Image.convert("L")` does it: (19595 · red + 38470 · green + 7471 · blue + 2¹⁵) / 2¹⁶.
    pub fn gray(mut self) -> Picture {
        let gray = |pixel: &[u8]| {
            let sum: u32 =
                pixel.iter().zip([19_595, 38_470, 7_471]).map(|(&c, weight)| u32::from(c) * weight).sum();
            // At most 255: the weights sum up to 2¹⁶.
            ((sum + (1 << 15)) >> 16) as u8
        };
        if self.channels == 3 {
            self.pixels = self.pixels.chunks_exact(3).map(gray).collect();
            self.channels = 1;
        }
        self
    }

    /// Resized by nearest neighbours: a pixel is that in which its centre lies.
    pub fn resized(&self, width: usize, height: usize) -> Picture {
        let nearest = |at: usize, of: usize, from: usize| ((2 * at + 1) * from / (2 * of)).min(from - 1);
        let mut pixels = Vec::with_capacity(width * height * self.channels);
        for y in 0..height {
            let row = nearest(y, height, self.height) * self.width;
            for x in 0..width {
                let pixel = (row + nearest(x, width, self.width)) * self.channels;
                pixels.extend_from_slice(&self.pixels[pixel..pixel + self.channels]);
            }
        }
        Picture { width, height, channels: self.channels, pixels }
    }

    /// As a PNG file.
    ///
    /// # Errors
    /// Where the size is none that a file can have.
    pub fn png(&self) -> Result<Vec<u8>> {
        let written = || -> std::result::Result<Vec<u8>, EncodingError> {
            let size = [self.width, self.height].map(|pixels| u32::try_from(pixels).unwrap_or(0));
            let mut file = Vec::new();
            let mut encoder = Encoder::new(&mut file, size[0], size[1]);
            encoder.set_color(if self.channels == 3 { ColorType::Rgb } else { ColorType::Grayscale });
            encoder.set_depth(BitDepth::Eight);
            encoder.write_header()?.write_image_data(&self.pixels)?;
            Ok(file)
        };
        written().map_err(|error| Error::new(format!("no PNG file can be made of it: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn read(color: ColorType, depth: BitDepth, bytes: &[u8], palette: Option<&[u8]>) -> Result<Picture> {
        let mut file = Vec::new();
        let mut encoder = Encoder::new(&mut file, 2, 1);
        encoder.set_color(color);
        encoder.set_depth(depth);
        if let Some(palette) = palette {
            encoder.set_palette(palette.to_vec());
        }
        encoder.write_header().unwrap().write_image_data(bytes).unwrap();
        Picture::read(Cursor::new(file))
    }

    #[test]
    fn every_kind_of_png_is_read() {
        let eight = BitDepth::Eight;
        let gray = Picture { width: 2, height: 1, channels: 1, pixels: vec![7, 9] };
        assert_eq!(read(ColorType::Grayscale, eight, &[7, 9], None).unwrap(), gray);
        assert_eq!(read(ColorType::GrayscaleAlpha, eight, &[7, 255, 9, 255], None).unwrap(), gray);
        let bits = read(ColorType::Grayscale, BitDepth::One, &[0b0100_0000], None).unwrap();
        assert_eq!(bits.pixels, [0, 255]);
        let colours = Picture { width: 2, height: 1, channels: 3, pixels: vec![1, 2, 3, 4, 5, 6] };
        assert_eq!(read(ColorType::Rgb, eight, &[1, 2, 3, 4, 5, 6], None).unwrap(), colours);
        assert_eq!(read(ColorType::Indexed, eight, &[0, 1], Some(&[1, 2, 3, 4, 5, 6])).unwrap(), colours);
        let rgba = read(ColorType::Rgba, eight, &[1, 2, 3, 255, 4, 5, 6, 255], None).unwrap();
        assert_eq!(rgba, colours);
    }

    #[test]
    fn what_is_refused_says_why() {
        let message = |picture: Result<Picture>| picture.unwrap_err().to_string();
        let deep = read(ColorType::Grayscale, BitDepth::Sixteen, &[0; 4], None);
        assert!(message(deep).contains("16 bits"));
        let glass = read(ColorType::GrayscaleAlpha, BitDepth::Eight, &[7, 255, 9, 0], None);
        assert!(message(glass).contains("transparent"));
        let colours = Picture { width: 1, height: 1, channels: 3, pixels: vec![1, 2, 2] };
        assert!(message(colours.with_channels(1)).contains("has colours, the model takes gray"));
    }

    /// By hand: red is (19595 · 255 + 32768) / 65536 = 76.7.
    #[test]
    fn colours_are_weighed_as_pillow_weighs_them() {
        let colours = Picture {
            width: 5,
            height: 1,
            channels: 3,
            pixels: vec![255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 10, 200, 30],
        };
        let gray = colours.gray();
        assert_eq!((gray.channels, &gray.pixels[..]), (1, &[76, 150, 29, 255, 124][..]));
        assert_eq!(gray.clone().gray(), gray);
    }

    #[test]
    fn channels_and_sizes_change_without_loss() {
        let gray = Picture { width: 2, height: 1, channels: 1, pixels: vec![7, 9] };
        let colours = gray.clone().with_channels(3).unwrap();
        assert_eq!(colours.pixels, [7, 7, 7, 9, 9, 9]);
        assert_eq!(colours.with_channels(1).unwrap(), gray);
        assert_eq!(gray.resized(4, 2).pixels, [7, 7, 9, 9, 7, 7, 9, 9]);
        assert_eq!(gray.resized(4, 2).resized(2, 1), gray);
        let three = Picture { width: 3, height: 1, channels: 1, pixels: vec![1, 2, 3] };
        assert_eq!(three.resized(1, 1).pixels, [2]);
    }

    #[test]
    fn what_is_written_is_read() {
        let picture = Picture { width: 3, height: 2, channels: 3, pixels: (0..18).collect() };
        assert_eq!(Picture::read(Cursor::new(picture.png().unwrap())).unwrap(), picture);
    }
}
