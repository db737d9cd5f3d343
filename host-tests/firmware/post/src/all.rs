//! Calls every function of `kiln::post` and of `kiln::frontend`, with each type of scores, on values and lengths that the compiler does not know: if there are any for
//! which one could panic, panics are linked, and `host-tests/tests/firmware.rs` finds them.

use core::hint::black_box;
use kiln::frontend::{to_f32, to_i8, Frontend, MicroWakeWord, Tables, MICRO_SPEECH};
use kiln::post::{
    argmax, top_k, Anchor, BoxOrder, Detection, Detections, Exponential, GridHead, Hysteresis, Labels,
    MovingAverage, Offsets, Rect, Score, SsdHead, StreamDetector, Variances,
};
use kiln::{DType, TensorInfo};

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
        + features()
}

static TABLES: Tables<480, 257, 40> = Tables::new(&MICRO_SPEECH);

/// A sum of features of something like speech, in which each has its own weight: two chirps, and a pause.
#[inline(never)]
fn features() -> usize {
    let mut frontend: MicroWakeWord = Frontend::new(black_box(&TABLES));
    let (mut sum, mut count) = (0i32, 0);
    let (mut state, mut block) = (1u32, [0i16; 333]);
    for turn in 0..black_box(9) {
        for sample in &mut block {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            *sample = if turn % 4 == 3 { 0 } else { (state >> 16) as i16 >> turn };
        }
        let mut rest = black_box(&block[..]);
        while let Some(row) = frontend.push(&mut rest) {
            for &feature in row {
                let stored = i32::from(to_i8(feature)) + (to_f32(feature) * 10.0) as i32;
                sum = sum.wrapping_mul(31).wrapping_add(stored);
            }
            count += 1;
        }
    }
    frontend.reset();
    count + (sum as u16) as usize
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
