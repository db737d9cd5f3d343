//! Boxes, and what is left of them.

use super::support::Rng;
use super::tensor;
use kiln::post::{Anchor, BoxOrder, Detection, Detections, GridHead, Rect, SsdHead, Variances};

fn rect(rng: &mut Rng) -> Rect {
    // On a grid of sixteenths, so that areas are exact and some rectangles touch.
    let mut side = || {
        let (a, b) = (rng.size(0, 16), rng.size(0, 16));
        (a.min(b), a.max(b))
    };
    let ((left, right), (top, bottom)) = (side(), side());
    let [left, top, right, bottom] = [left, top, right, bottom].map(|x| x as f32 / 16.0);
    Rect { left, top, right, bottom }
}

#[test]
fn overlaps_are_counted_cells() {
    let rng = &mut Rng::new(21);
    for _ in 0..1000 {
        let (a, b) = (rect(rng), rect(rng));
        let holds = |rect: &Rect, x: f32, y: f32| {
            rect.left <= x && x < rect.right && rect.top <= y && y < rect.bottom
        };
        let (mut both, mut any) = (0, 0);
        for cell in 0..256 {
            let (x, y) = ((cell % 16) as f32 / 16.0, (cell / 16) as f32 / 16.0);
            both += usize::from(holds(&a, x, y) && holds(&b, x, y));
            any += usize::from(holds(&a, x, y) || holds(&b, x, y));
        }
        let expected = if any == 0 { 0.0 } else { both as f32 / any as f32 };
        assert_eq!(a.iou(&b), expected);
        assert_eq!(b.iou(&a), expected);
    }
}

#[test]
fn clipping_leaves_what_is_in_the_image() {
    let over = Rect { left: -0.5, top: 0.25, right: 1.5, bottom: 2.0 };
    assert_eq!(over.clipped(), Rect { left: 0.0, top: 0.25, right: 1.0, bottom: 1.0 });
    assert_eq!(Rect { left: 1.0, right: 0.0, top: 1.0, bottom: 0.0 }.area(), 0.0);
}

/// Non-maximum suppression on a list without bounds: as long as there is one, take the best, and drop what repeats it.
fn suppressed(all: &[Detection], limit: f32) -> Vec<Detection> {
    let (mut left, mut kept) = (all.to_vec(), Vec::new());
    while !left.is_empty() {
        let best = (0..left.len()).fold(0, |best, i| if left[i].score > left[best].score { i } else { best });
        let best = left.remove(best);
        left.retain(|other| other.class != best.class || best.rect.iou(&other.rect) <= limit);
        kept.push(best);
    }
    kept
}

#[test]
fn suppression_keeps_the_best_of_each_heap() {
    let rng = &mut Rng::new(22);
    let mut dropped = 0;
    for _ in 0..1000 {
        let count = rng.size(0, 20);
        let all: Vec<Detection> = (0..count)
            .map(|_| Detection {
                rect: rect(rng),
                class: rng.size(0, 2),
                score: rng.int(0, 10) as f32 / 10.0,
            })
            .collect();
        let limit = rng.int(0, 8) as f32 / 8.0;

        let mut detections = Detections::<20>::new();
        all.iter().for_each(|&d| detections.push(d));
        detections.suppress(limit);
        let expected = suppressed(&all, limit);
        assert_eq!(detections.as_slice(), expected);
        dropped += count - expected.len();

        // With less room, those with the highest scores take part.
        let mut best = all.clone();
        best.sort_by(|a, b| b.score.total_cmp(&a.score));
        best.truncate(6);
        let mut bounded = Detections::<6>::new();
        all.iter().for_each(|&d| bounded.push(d));
        assert_eq!(bounded.as_slice(), best);
        bounded.suppress(limit);
        assert_eq!(bounded.iter().copied().collect::<Vec<_>>(), suppressed(&best, limit));
    }
    assert!(dropped > 500, "{dropped}");
}

#[test]
fn what_is_no_number_is_left_out() {
    let mut detections = Detections::<2>::new();
    detections.push(Detection { rect: Rect::default(), class: 0, score: f32::NAN });
    assert!(detections.as_slice().is_empty());
    // Rectangles that are no numbers overlap with nothing.
    let nowhere = Rect { left: f32::NAN, ..Rect::default() };
    assert_eq!(nowhere.iou(&nowhere), 0.0);
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// A box from its centre and size.
fn from_center([x, y, w, h]: [f64; 4]) -> [f64; 4] {
    [x - w / 2.0, y - h / 2.0, x + w / 2.0, y + h / 2.0]
}

fn assert_near(rect: &Rect, expected: [f64; 4]) {
    let seen = [rect.left, rect.top, rect.right, rect.bottom].map(f64::from);
    let size = expected.iter().fold(1.0, |size: f64, x| size.max(x.abs()));
    let off = seen.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off <= 1e-5 * size, "{seen:?} {expected:?}");
}

#[test]
fn anchored_boxes_are_decoded_as_defined() {
    let rng = &mut Rng::new(23);
    let mut total = 0;
    for round in 0..300 {
        let (count, classes) = (rng.size(1, 12), rng.size(1, 4));
        let part = |rng: &mut Rng| rng.int(1, 1000) as f32 / 1000.0;
        let anchors: Vec<Anchor> = (0..count)
            .map(|_| Anchor { x: part(rng), y: part(rng), width: part(rng), height: part(rng) })
            .collect();
        let (mut boxes_info, scores_info) = (tensor(rng), tensor(rng));
        boxes_info.scale = 0.05;
        let (boxes, scores) = (rng.i8s(count * 4), rng.i8s(count * classes));
        let order = [BoxOrder::Yxhw, BoxOrder::Xywh][round % 2];
        let background = (round % 3 == 0).then_some(0);
        let logits = round % 5 < 2;
        let variances = Variances { center: part(rng), size: 0.2 };
        let head = SsdHead { anchors: &anchors, variances, order, classes, background, logits };
        let threshold = part(rng);

        let mut seen = Vec::new();
        head.decode(&boxes, &boxes_info, &scores, &scores_info, threshold, |found| seen.push(found));
        let mut seen = seen.into_iter();

        let real = |stored: i8, info: &kiln::TensorInfo| {
            f64::from(info.scale) * f64::from(i32::from(stored) - info.zero_point)
        };
        for (index, anchor) in anchors.iter().enumerate() {
            for class in 0..classes {
                let score = real(scores[index * classes + class], &scores_info);
                let score = if logits { logistic(score) } else { score };
                if score < f64::from(threshold) || background == Some(class) {
                    continue;
                }
                let found = seen.next().unwrap();
                total += 1;
                assert_eq!(found.class, class);
                assert!((f64::from(found.score) - score).abs() < 1e-5);
                let raw: Vec<f64> = (0..4).map(|i| real(boxes[index * 4 + i], &boxes_info)).collect();
                let [x, y, w, h] = match order {
                    BoxOrder::Yxhw => [raw[1], raw[0], raw[3], raw[2]],
                    BoxOrder::Xywh => [raw[0], raw[1], raw[2], raw[3]],
                };
                let [ax, ay, aw, ah] = [anchor.x, anchor.y, anchor.width, anchor.height].map(f64::from);
                let (center, size) = (f64::from(variances.center), f64::from(variances.size));
                let expected = [
                    ax + center * x * aw,
                    ay + center * y * ah,
                    aw * (size * w).exp(),
                    ah * (size * h).exp(),
                ];
                assert_near(&found.rect, from_center(expected));
            }
        }
        assert_eq!(seen.next(), None);
    }
    assert!(total > 500, "{total}");
}

#[test]
fn boxes_of_a_grid_are_decoded_as_defined() {
    let rng = &mut Rng::new(24);
    let mut total = 0;
    for _ in 0..300 {
        let (rows, columns, classes) = (rng.size(1, 4), rng.size(1, 4), rng.size(0, 3));
        let anchors: Vec<[f32; 2]> =
            (0..rng.size(1, 3)).map(|_| [0.5, rng.int(1, 10) as f32 / 10.0]).collect();
        let mut info = tensor(rng);
        info.scale = rng.int(1, 80) as f32 / 1024.0;
        let size = 5 + classes;
        let grid = rng.i8s(rows * columns * anchors.len() * size);
        let threshold = rng.int(1, 9) as f32 / 10.0;
        let head = GridHead { columns, anchors: &anchors, classes };

        let mut seen = Vec::new();
        head.decode(&grid, &info, threshold, |found| seen.push(found));
        let mut seen = seen.into_iter();

        let real = |stored: i8| f64::from(info.scale) * f64::from(i32::from(stored) - info.zero_point);
        for (index, cell) in grid.chunks(size).enumerate() {
            let anchor = anchors[index % anchors.len()].map(f64::from);
            let (x, y) = (index / anchors.len() % columns, index / anchors.len() / columns);
            let cell: Vec<f64> = cell.iter().map(|&stored| real(stored)).collect();
            for class in 0..classes.max(1) {
                let score = logistic(cell[4]) * cell.get(5 + class).map_or(1.0, |&x| logistic(x));
                if score < f64::from(threshold) {
                    continue;
                }
                let found = seen.next().unwrap();
                total += 1;
                assert_eq!(found.class, class);
                assert!((f64::from(found.score) - score).abs() < 1e-5);
                let expected = [
                    (x as f64 + logistic(cell[0])) / columns as f64,
                    (y as f64 + logistic(cell[1])) / rows as f64,
                    anchor[0] * cell[2].exp(),
                    anchor[1] * cell[3].exp(),
                ];
                assert_near(&found.rect, from_center(expected));
            }
        }
        assert_eq!(seen.next(), None);
    }
    assert!(total > 500, "{total}");
}

#[test]
fn sizes_that_do_not_fit_find_nothing() {
    let info = super::FLOATS;
    let never = |_| panic!("there is nothing to find");
    GridHead { columns: 0, anchors: &[[1.0, 1.0]], classes: 1 }.decode(&[9f32; 12], &info, 0.1, never);
    GridHead { columns: 1, anchors: &[], classes: 1 }.decode(&[9f32; 12], &info, 0.1, never);
    GridHead { columns: 1, anchors: &[[1.0, 1.0]], classes: usize::MAX }
        .decode(&[9f32; 5], &info, 0.1, never);
    let anchors = [Anchor { x: 0.5, y: 0.5, width: 1.0, height: 1.0 }; 2];
    let head = SsdHead {
        anchors: &anchors,
        variances: Variances::SSD,
        order: BoxOrder::Xywh,
        classes: 3,
        background: None,
        logits: false,
    };
    head.decode(&[0f32; 3], &info, &[1f32; 6], &info, 0.1, never);
    head.decode(&[0f32; 8], &info, &[1f32; 2], &info, 0.1, never);
}
