//! Calls every function of `kiln::post`, `kiln::frontend`, `kiln::camera`, `kiln::sensor` and `kiln::any`, with each type of scores, on values and lengths that the compiler does not know: if there are any for
//! which one could panic, panics are linked, and `host-tests/tests/firmware.rs` finds them.

use core::hint::black_box;
use kiln::any::{batch, bytes_of, bytes_of_mut, AnyModel, Typed};
use kiln::camera::{
    most_taps, Area, Bayer, Bgr, Bgr888, Camera, Filter, Filtered, Format, Gray8, Linear, Nearest,
};
use kiln::camera::{Mosaic, OpenCv, Pillow, Resize, Rgb565, Rgb888, Source, View, Yuv422};
use kiln::frontend::Frames;
use kiln::post::{
    argmax, top_k, Anchor, BoxOrder, Detection, Detections, Exponential, GridHead, Hysteresis, Labels,
    MovingAverage, Offsets, Rect, Score, SsdHead, StreamDetector, Variances,
};
use kiln::sensor::{Biquads, Resampler, Units};
use kiln::{Arena, DType, Feed, Model, ModelInfo, TensorInfo};

const LABELS: Labels<4> = Labels(["silence", "yes", "no", "stop"]);
const ANCHOR: Anchor = Anchor { x: 0.5, y: 0.5, width: 0.5, height: 0.25 };

/// How many classes and boxes were found, over all types of scores: the same on every processor.
pub fn run() -> usize {
    let info =
        |dtype, scale, zero_point| TensorInfo { name: "scores", dtype, shape: &[4], scale, zero_point };
    everything(&[3i8, -7, 90, 12], &info(DType::I8, 0.0625, 0))
        + everything(&[131u8, 121, 218, 140], &info(DType::U8, 0.0625, 128))
        + everything(&[3i16, -7, 90, 12], &info(DType::I16, 0.0625, 0))
        + everything(&[0.1875f32, -0.4375, 5.625, 0.75], &info(DType::F32, 1.0, 0))
        + frames()
        + images()
        + motion()
        + models()
}

/// How many frames a stream of 500 samples has, with each beginning.
#[inline(never)]
fn frames() -> usize {
    let beginnings: [Frames<i16, 40, 16>; 4] = [
        Frames::new(0),
        Frames::behind_silence(0, black_box(7)),
        Frames::behind_samples(0, black_box(9)),
        Frames::mirrored(0),
    ];
    let mut count = 0;
    for mut frames in black_box(beginnings) {
        let samples = black_box([3i16; 500]);
        let mut rest = &samples[..];
        while let Some(frame) = frames.push(&mut rest) {
            count += usize::from(frame.iter().any(|&sample| sample != 0));
        }
    }
    count
}

/// How many of a sensor's samples, resampled and filtered, are positive.
#[inline(never)]
fn motion() -> usize {
    let units = Units::full_scale(black_box([4.0; 2])).with_zero(black_box([0.5, -3.0]));
    let mut resampler = black_box(Resampler::<3, 2, 2, 2>::new(&[[0.5, 1.0, 0.5], [0.25, 0.0, 0.25]]));
    let mut filter = black_box(Biquads::<2, 2>::new([[0.25, 0.5, 0.25, 1.0, -0.5, 0.25]; 2]));
    let mut count = 0;
    for turn in 0..black_box(90i16) {
        let samples = [units.of(&[turn.wrapping_mul(2111), turn]), Units::new([0.5; 2]).of(&[-turn, 7])];
        let mut rest = samples.get(..black_box(usize::from(turn % 3 != 0) + 1)).unwrap_or_default();
        while let Some(sample) = resampler.push(&mut rest) {
            count += filter.push(&sample).iter().filter(|&&value| value > 0.0).count();
        }
        match turn {
            30 => filter.settle(&[0.5, -1.0]),
            60 => filter.reset(),
            75 => resampler.reset(),
            _ => {}
        }
    }
    count
}

const VIEW: View = View { lines: 30, left: 5, top: 1, width: 29, height: 28, mirrored: true };
const TAPS: [usize; 2] =
    [most_taps(Filter::Triangle, VIEW.width, 12), most_taps(Filter::Triangle, VIEW.height, 10)];

/// A sum of images of noise, in which each pixel has its own weight.
fn images() -> usize {
    static BY_PIXEL: Source<Rgb565<Pillow, true>, Nearest<12, 10>> = Source::new(VIEW, Nearest::new(&VIEW));
    static BY_CENTRE: Source<Bgr<Yuv422<Pillow, false>>, Nearest<12, 10>> =
        Source::new(VIEW, Nearest::centre(&VIEW));
    static BETWEEN: Source<Yuv422<OpenCv, true>, Linear<12, 10>> = Source::new(VIEW, Linear::new(&VIEW));
    static MEANS: Source<Bgr888<OpenCv>, Area<12, 10>> = Source::new(VIEW, Area::new(&VIEW));
    static WHOLE_MEANS: Source<Gray8, Area<1, 14>> = Source::new(VIEW, Area::new(&VIEW));
    static MOSAIC: Source<Mosaic<OpenCv, 1, 0>, Linear<12, 10>> = Source::new(VIEW, Linear::new(&VIEW));
    static FILTERED: Source<Rgb888<Pillow>, Filtered<12, 10, { TAPS[0] }, { TAPS[1] }>> =
        Source::new(VIEW, Filtered::new(&VIEW, Filter::Triangle));
    image::<_, _, 3, 0>(&BY_PIXEL)
        ^ image::<_, _, 1, 0>(&BY_CENTRE)
        ^ image::<_, _, 3, 72>(&BETWEEN)
        ^ image::<_, _, 1, 12>(&MEANS)
        ^ image::<_, _, 3, 3>(&WHOLE_MEANS)
        ^ image::<_, _, 3, { 36 * TAPS[1] }>(&FILTERED)
        ^ mosaic(&MOSAIC)
}

#[inline(never)]
fn image<F: Format, R: Resize, const CHANNELS: usize, const HELD: usize>(source: &Source<F, R>) -> usize {
    let (source, mut camera) = (black_box(source), black_box(Camera::<R, CHANNELS, HELD>::new()));
    let (mut state, mut sum) = (1u32, 0u32);
    for turn in 0..black_box(75) {
        let mut line = [0; 120];
        for byte in &mut line {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *byte = (state >> 24) as u8;
        }
        let mut row = [0; 36];
        // Lines and rows that are too short, too.
        let (length, width) = black_box(if turn < 45 { (120, 36) } else { (turn, turn % 40) });
        let line = line.get(..length).unwrap_or_default();
        while camera.push(source, line, row.get_mut(..width).unwrap_or_default(), |_, value| value) {
            sum = row.iter().fold(sum, |sum, &value| sum.wrapping_mul(31).wrapping_add(value.into()));
        }
        if turn == 42 {
            sum = sum.wrapping_add(camera.row() as u32);
            camera.restart();
        }
    }
    (sum as u16).into()
}

#[inline(never)]
fn mosaic<F: Format, R: Resize>(source: &Source<F, R>) -> usize {
    let (source, mut camera) = (black_box(source), black_box(Bayer::<R, 3, 72, 121>::new()));
    let mut sum = 0u32;
    for turn in 0..black_box(75) {
        let line = [(turn * turn) as u8; 50];
        let mut row = [0; 36];
        while camera.push(
            source,
            line.get(..black_box(turn % 51)).unwrap_or_default(),
            &mut row,
            |_, value| value,
        ) {
            sum = row.iter().fold(sum, |sum, &value| sum.wrapping_mul(31).wrapping_add(value.into()));
        }
        if turn == 42 {
            sum = sum.wrapping_add(camera.row() as u32);
            camera.restart();
        }
    }
    (sum as u16).into()
}

#[inline(never)]
fn everything<T: Score>(scores: &[T; 4], info: &TensorInfo) -> usize {
    let (scores, info) = black_box((scores, info));
    thresholds(scores, info) + ranks(scores, info) + streams(scores, info) + boxes(scores, info)
}

#[inline(never)]
fn thresholds<T: Score>(scores: &[T; 4], info: &TensorInfo) -> usize {
    black_box((T::ZERO, info.at_least(black_box(0.5))));
    let real = |score: &&T| info.real(**score) > 0.5 && score.real(info.scale, info.zero_point) > 0.5;
    black_box(scores.map(|score| score.widen()));
    scores.iter().filter(real).count()
}

#[inline(never)]
fn ranks<T: Score>(scores: &[T; 4], info: &TensorInfo) -> usize {
    let some = black_box(&scores[..3]);
    let best = argmax(some).map(|best| best.real(info).index);
    let named = black_box(&LABELS).argmax(scores).real(info);
    let ranked = top_k::<T, 2>(some).len() + top_k::<T, 0>(some).len() + top_k::<T, 9>(some).len();
    let labelled = LABELS.top_k::<T, 3>(scores).len() + LABELS.top_k::<T, 4>(scores).len();
    let name = LABELS.name(black_box(7)).len() + named.label.len();
    best.unwrap_or_default() + ranked + labelled + name
}

#[inline(never)]
fn streams<T: Score>(scores: &[T; 4], info: &TensorInfo) -> usize {
    let mut average = black_box(MovingAverage::<T, 3, 4>::default());
    let mut smoothed = black_box(Exponential::<T, 4>::new(black_box(0.25)));
    let detector = StreamDetector::<T, 2, 4>::new(info, black_box(0.5), black_box(2));
    let mut detector = black_box(detector.with_background(&[0]));
    let mut switch = black_box(Hysteresis::new(info, black_box(0.75), black_box(0.25)));
    let mut found = 0;
    for _ in 0..black_box(9) {
        average.push(scores);
        smoothed.push(scores);
        found += usize::from(detector.push(scores).is_some()) + usize::from(switch.push(scores[2]));
    }
    for class in 0..black_box(6) {
        black_box((average.sum(class), average.mean(class), smoothed.value(class)));
    }
    found += average.len() + usize::from(average.is_full() && switch.is_on());
    average.clear();
    smoothed.clear();
    detector.reset();
    black_box((smoothed.value(0), detector.push(scores)));
    found + usize::from(average.is_empty()) + black_box(MovingAverage::<T, 1>::new()).len()
}

#[inline(never)]
fn boxes<T: Score>(scores: &[T; 4], info: &TensorInfo) -> usize {
    let mut seen = Detections::<3>::new();
    let anchors = black_box(&[ANCHOR; 5][..]);
    for order in black_box([BoxOrder::Yxhw, BoxOrder::Xywh]) {
        for (background, logits) in black_box([(None, true), (Some(1), false)]) {
            let classes = black_box(4);
            let head = SsdHead { anchors, variances: Variances::SSD, order, classes, background, logits };
            let scores = black_box(&scores[..]);
            head.decode(scores, info, scores, info, black_box(0.5), |found| seen.push(found));
        }
    }
    let grid = [*scores; 6];
    let grid = black_box(grid.as_flattened());
    for (columns, classes) in black_box([(1, 3), (1, 0), (0, usize::MAX)]) {
        let head = GridHead { columns, anchors: black_box(&[[0.25, 0.5]]), classes };
        head.decode(grid, info, black_box(0.25), |found| seen.push(found));
    }
    let offsets = black_box(Offsets { x: 5.0, y: 0.0, width: 1.0, height: 0.0 });
    let rect = ANCHOR.decode(offsets, black_box(Variances::SSD)).clipped();
    let other = black_box(Rect::centered(rect.area(), 0.5, 0.5, 0.5));
    seen.push(Detection { rect, class: black_box(0), score: rect.iou(&other) });
    let before = seen.as_slice().len();
    seen.suppress(black_box(0.5));
    let kept =
        seen.iter().count() + (&seen).into_iter().count() + black_box(Detections::<0>::new()).iter().count();
    seen.clear();
    before + kept + seen.as_slice().len()
}

/// Gives what it was given, in tensors of all types: at once, or row by row, where rows are of `ROW` bytes.
struct Echo<const ROW: usize> {
    memory: Arena<64>,
    rows: usize,
}

const fn tensor(dtype: DType, shape: &'static [usize]) -> TensorInfo {
    TensorInfo { name: "", dtype, shape, scale: 0.5, zero_point: 3 }
}

impl<const ROW: usize> Echo<ROW> {
    const TENSORS: &'static [TensorInfo] = match ROW {
        0 => &[
            tensor(DType::I64, &[1]),
            tensor(DType::I32, &[2]),
            tensor(DType::F32, &[]),
            tensor(DType::I16, &[2]),
            tensor(DType::I8, &[3]),
            tensor(DType::U8, &[4]),
            tensor(DType::Bool, &[1]),
        ],
        _ => &[tensor(DType::I16, &[1, 4, ROW / 2])],
    };

    /// Where the bytes of a tensor are.
    fn place(&self, index: usize) -> core::ops::Range<usize> {
        let before: usize = Self::TENSORS.iter().take(index).map(TensorInfo::bytes).sum();
        before..before + Self::TENSORS.get(index).map_or(0, TensorInfo::bytes)
    }
}

impl<const ROW: usize> Model for Echo<ROW> {
    const INFO: ModelInfo = ModelInfo {
        name: "echo",
        arena_bytes: 64,
        state_bytes: ROW,
        feed: if ROW == 0 { Feed::Whole } else { Feed::Rows },
        inputs: Self::TENSORS,
        outputs: Self::TENSORS,
    };

    fn input_bytes_mut(&mut self, index: usize) -> &mut [u8] {
        let mut place = self.place(index);
        if ROW > 0 {
            let start = self.rows % 4 * ROW;
            place = start..start + ROW;
        }
        self.memory.get_mut::<u8, 0, 64>().get_mut(place).unwrap_or_default()
    }

    fn output_bytes(&self, index: usize) -> &[u8] {
        self.memory.get::<u8, 0, 64>().get(self.place(index)).unwrap_or_default()
    }

    fn invoke(&mut self) -> bool {
        self.rows = self.rows.wrapping_add(1);
        ROW == 0 || self.rows % 4 == 0
    }

    fn reset(&mut self) {
        self.rows = 0;
    }
}

/// What models behind one interface give, and how often something is wrong.
#[inline(never)]
fn models() -> usize {
    let whole: &mut dyn AnyModel = &mut Echo::<0> { memory: Arena::new(), rows: 0 };
    let rows: &mut dyn AnyModel = &mut Echo::<6> { memory: Arena::new(), rows: 0 };
    let mut sum = 0usize;
    for model in black_box([whole, rows]) {
        sum += any_type::<i64>(model) + any_type::<i32>(model) + any_type::<f32>(model);
        sum += any_type::<i16>(model) + any_type::<i8>(model) + any_type::<u8>(model);
        let reals = black_box([1.5; 12]);
        let inputs: [&[f32]; 7] = black_box([
            &reals[..1],
            &reals[..2],
            &reals[..1],
            &reals[..2],
            &reals[..3],
            &reals[..4],
            &reals[..1],
        ]);
        let given = if model.info().inputs.len() == 1 { &[&reals[..]][..] } else { &inputs[..] };
        for given in black_box([given, &inputs[1..], &[]]) {
            let Ok(model) = model.infer_real(given) else { continue };
            for index in 0..black_box(8) {
                sum += model.reals(index).map_or(1, |reals| reals.sum::<f32>() as usize);
            }
        }
        let (bytes, mut to) = (black_box([7; 48]), [0; 48]);
        sum += batch(model, black_box(&[&bytes]), black_box(&mut [&mut to])).unwrap_or(1);
        sum += usize::from(model.infer(black_box(&[&bytes[..24]])).is_ok()) + usize::from(to[47]);
        sum += usize::from(model.input_info(black_box(7)).is_ok() == model.output_info(black_box(1)).is_ok());
        model.reset();
    }
    let info = tensor(black_box(DType::I16), black_box(&[2]));
    let mut stored = [0i16; 3];
    info.store_reals(&black_box([2.0, 1e9]), bytes_of_mut(black_box(&mut stored)));
    sum + info.load_reals(bytes_of(&stored)).sum::<f32>() as usize
}

/// How many tensors are of that type, and how many not.
fn any_type<T: Typed>(model: &mut dyn AnyModel) -> usize {
    let mut sum = usize::from(T::fits(black_box(DType::Bool)));
    for index in 0..black_box(8) {
        sum += model.input_mut::<T>(index).map_or(100, |elements| elements.len());
        sum += model.output::<T>(index).map_or(100, |elements| elements.len());
    }
    sum
}
