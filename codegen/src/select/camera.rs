//! What becomes of the lines of a camera in front of a model: the option `source`, with what the model's input says.

use super::{Element, Port, Program};
use crate::Options;
use kiln_ir::error::{Error, Problem};
use kiln_ir::source::{Like, Number, Rectangle, Resize, Source};

/// What is done to the lines of a camera.
#[derive(Clone, Debug)]
pub struct Camera {
    /// What the user asked for.
    pub source: Source,
    /// What is seen of a frame.
    pub view: Rectangle,
    /// Pixels of a row of the input.
    pub width: usize,
    /// Its rows.
    pub height: usize,
    /// 1 or 3.
    pub channels: usize,
    /// How the view becomes as large as the input.
    pub resize: Resize,
    /// What 0 to 255 become.
    pub elements: Elements,
}

/// What the values of a pixel, 0 to 255, become.
#[derive(Clone, Debug)]
pub enum Elements {
    /// Themselves.
    Same,
    /// −128 to 127.
    Signed,
    /// Entries of a table: one for all channels, or one for each.
    Table(Vec<[u8; 256]>),
    /// Floats: the difference from a mean, times a scale. For all channels, or for each.
    Floats {
        /// What is subtracted.
        mean: Vec<f32>,
        /// What the difference is multiplied by.
        scale: Vec<f32>,
    },
}

/// What becomes of the lines, if there are any.
///
/// # Errors
/// [`Error::Options`] where the model's input is no image that a camera can give, or the option does not say how.
pub fn camera(program: &Program, options: &Options) -> Result<Option<Camera>, Error> {
    let Some(source) = &options.source else { return Ok(None) };
    let [port] = &program.inputs[..] else {
        let what = format!("the model has {} inputs, and a camera gives one", program.inputs.len());
        return Err(refused(what, "write the inputs yourself, without a source"));
    };
    let [height, width, channels] = image(port)?;
    if program.fed.is_some_and(|fed| fed.rows != height || fed.row != width * channels) {
        return Err(Error::internal("select", "rows of the input are no lines"));
    }
    let view = source.rectangle(width, height);
    let resize = resize(source, view, width, height)?;
    let elements = elements(source, port, channels)?;
    Ok(Some(Camera { source: source.clone(), view, width, height, channels, resize, elements }))
}

fn refused(what: String, help: &str) -> Error {
    Error::Options(Problem { place: "option `source`".into(), what, help: help.into() })
}

/// Height, width and channels.
fn image(port: &Port) -> Result<[usize; 3], Error> {
    let (name, kind) = (&port.name, port.ty.dtype.name());
    let dims = port.ty.shape.dims();
    let refuse =
        |help: &str| Err(refused(format!("the input {name:?} is {kind}{dims:?}, which is no image"), help));
    if !matches!(port.region.element, Element::I8 | Element::U8 | Element::F32) {
        return refuse("images are int8, uint8 or float32; io = \"quantized\" drops a QUANTIZE in front");
    }
    match *dims {
        [1, 1 | 3, _, last] if !matches!(last, 1 | 3) => {
            refuse(&format!("it is channel-first: add channels_last = {name:?}"))
        }
        [1, height, width, channels @ (1 | 3)] if height > 0 && width > 0 => Ok([height, width, channels]),
        [1, height, width] if height > 0 && width > 0 => Ok([height, width, 1]),
        _ => refuse("an image is [1, height, width, channels] with 1 or 3 channels, or [1, height, width]"),
    }
}

/// The way to another size; that of images that keep it is any.
fn resize(source: &Source, view: Rectangle, width: usize, height: usize) -> Result<Resize, Error> {
    let Rectangle { width: from, height: lines, .. } = view;
    let is_same = from == width && lines == height;
    match source.resize {
        _ if is_same => Ok(Resize::Nearest),
        None => Err(refused(
            format!("what is seen has {from}x{lines} pixels, and the model takes {width}x{height}"),
            "say how one becomes the other: resize = bilinear, nearest or area; or crop = centre for the same shape",
        )),
        Some(Resize::Area) if source.like == Like::OpenCv && (from < width || lines < height) => Err(refused(
            format!("resize = area makes images smaller, and {width}x{height} is not smaller than {from}x{lines}"),
            "use resize = bilinear",
        )),
        Some(resize) => Ok(resize),
    }
}

fn elements(source: &Source, port: &Port, channels: usize) -> Result<Elements, Error> {
    let numbers = |word: &str, numbers: &Option<Vec<Number>>, otherwise: f32| {
        let list: Vec<f32> = numbers.iter().flatten().map(|number| number.get()).collect();
        match list.len() {
            0 => Ok(vec![otherwise]),
            count if count == 1 || count == channels => Ok(list),
            count => Err(refused(
                format!("{word} has {count} numbers, and the input {:?} has {channels} channels", port.name),
                "write one number, or one for each channel",
            )),
        }
    };
    let is_said = source.mean.is_some() || source.scale.is_some();
    let mean = numbers("mean", &source.mean, 0.0)?;
    let scale = numbers("scale", &source.scale, 1.0)?;
    let element = port.region.element;
    if element == Element::F32 {
        return match is_said {
            true => Ok(Elements::Floats { mean, scale }),
            false => Err(refused(
                format!("the input {:?} is float32, and nothing says which numbers it expects", port.name),
                "add what it was trained with: scale = 1/255 for 0 to 1; mean = 127.5, scale = 1/127.5 for -1 to 1; scale = 1 for 0 to 255",
            )),
        };
    }
    if !is_said {
        return Ok(if element == Element::I8 { Elements::Signed } else { Elements::Same });
    }
    let Some(step) = port.ty.scale() else {
        let what =
            format!("the input {:?} has no scale, so that no real numbers can be stored in it", port.name);
        return Err(refused(what, "leave out mean and scale"));
    };
    let zero = port.ty.zero_point();
    let table = |channel: usize| {
        let of = |list: &[f32]| list.get(channel).or(list.first()).copied().unwrap_or_default();
        let (mean, scale) = (of(&mean), of(&scale));
        std::array::from_fn(|value| {
            // As `kiln::quantize`.
            let real = (value as f32 - mean) * scale;
            let stored = ((real / step).round() as i32).saturating_add(zero);
            match element {
                Element::I8 => stored.clamp(-128, 127) as i8 as u8,
                _ => stored.clamp(0, 255) as u8,
            }
        })
    };
    let count = mean.len().max(scale.len());
    let tables: Vec<[u8; 256]> = (0..count).map(table).collect();
    let is =
        |offset: u8| tables.iter().all(|table| table.iter().enumerate().all(|(i, &e)| e == i as u8 ^ offset));
    Ok(match element {
        Element::I8 if is(0x80) => Elements::Signed,
        Element::U8 if is(0) => Elements::Same,
        _ => Elements::Table(tables),
    })
}
