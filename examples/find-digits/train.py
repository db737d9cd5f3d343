#!/usr/bin/env python3
"""Trains a detector of handwritten digits in a picture, and writes everything this example commits.

    python3.11 -m venv venv
    venv/bin/pip install tensorflow-cpu==2.21.0 keras==3.15.1 numpy==2.4.6 scikit-learn==1.9.1 \\
                         tflite-micro==0.dev20261023182759
    venv/bin/python train.py

The data is scikit-learn's copy of the "Optical Recognition of Handwritten Digits" test set (E. Alpaydin and C. Kaynak, UCI Machine
Learning Repository, CC BY 4.0). One to three of its images of 8x8 pixels, enlarged to 14 to 26, are put on a picture of 48x48. The last 360
images are held out: training never sees them, and the scenes below show nothing else. `../digits/data/` has them.

    models/find_digits_f32.tflite    float32[1, 48, 48, 1] -> offsets of boxes, float32[1, 288, 4], and logits of classes, float32[1, 288, 10]
    models/find_digits_int8.tflite   the same in int8, with a scale for each channel of the weights
    data/scenes.bin                  400 scenes of held-out digits: for each a byte with their number, and for each of them as below
    data/tflm.txt                    what is found on them with TensorFlow Lite Micro's outputs of the int8 network: scene, digit, score, left,
                                     top, right, bottom; decoded here, in double precision
    data/precision.txt               the mean average precision of both, from TensorFlow Lite Micro's outputs
    golden/find_digits_int8.npz      in_0, out_0, out_1: TensorFlow Lite Micro's inputs and outputs for the first scenes (`cargo kiln validate`)

A digit on a scene is eight bytes: its image (little-endian u16, index among the held-out ones), the left and upper edge of the enlarged image
in pixels, its size in pixels, how bright it is (255: as bright as can be), and two bytes of zero. Its box is that of all pixels of at least an eighth of full
brightness, before others are put over them. `detector/src/scenes.rs` draws scenes with the same integers.

It takes a quarter of an hour of a CPU's time. Seeds are fixed; another CPU may round differently while training, and all files with it change a little.
"""
import os
from pathlib import Path

os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
import tensorflow as tf
from keras import layers
from sklearn.datasets import load_digits

HERE = Path(__file__).resolve().parent
HELD_OUT = 360
SEED = 5
SIZE = 48  # of a picture
SCENES, TRAINED, EPOCHS, BATCH = 400, 24_000, 15, 128
# Of detector/src/lib.rs: the grid, width and height of its anchors in pixels, SSD's variances, and what is a detection.
GRID, SHAPES = 12, [(9, 16), (15, 20)]
CENTER, EXTENT = 0.1, 0.2
SCORE, OVERLAP, MOST = 0.5, 0.45, 16


# Scenes. Pixels are 0..255.

def enlarged(ink, size, bright):
    """An image of 8x8 pixels of ink, 0..16, bilinearly to size x size pixels, in integers."""
    position = np.clip((2 * np.arange(size) + 1) * 64 // size - 8, 0, 112)  # in sixteenths of a pixel
    first, part = position // 16, position % 16
    second = np.minimum(first + 1, 7)
    ink = ink.astype(np.int64)
    rows = ink[first] * (16 - part)[:, None] + ink[second] * part[:, None]
    both = rows[:, first] * (16 - part) + rows[:, second] * part
    return both * bright // 4096


def box_of(pixels, left, top):
    rows, columns = np.nonzero((pixels >= 32).any(1))[0], np.nonzero((pixels >= 32).any(0))[0]
    return left + columns[0], top + rows[0], left + columns[-1] + 1, top + rows[-1] + 1


def iou(a, b):
    """Of boxes in the last axis."""
    low, high = np.maximum(a[..., :2], b[..., :2]), np.minimum(a[..., 2:], b[..., 2:])
    both = np.prod(np.maximum(high - low, 0), -1)
    area = lambda box: np.prod(np.maximum(box[..., 2:] - box[..., :2], 0), -1)
    return both / np.maximum(area(a) + area(b) - both, 1e-9)


def scene(images, rng):
    """A picture and what is on it: (index of the image, left, top, size, brightness), and the boxes."""
    picture, digits, boxes = np.zeros((SIZE, SIZE), np.int64), [], []
    for _ in range(int(rng.integers(1, 4))):
        for _ in range(50):
            size, index, bright = int(rng.integers(14, 27)), int(rng.integers(len(images))), int(rng.integers(128, 256))
            left, top = (int(rng.integers(0, SIZE - size + 1)) for _ in range(2))
            pixels = enlarged(images[index], size, bright)
            box = box_of(pixels, left, top)
            if all(iou(np.array(box, float), np.array(other, float)) < 0.05 for other in boxes):
                region = picture[top:top + size, left:left + size]
                np.maximum(region, pixels, out=region)
                digits.append((index, left, top, size, bright))
                boxes.append(box)
                break
    return picture.astype(np.uint8), digits, boxes


# The network, and what it is trained on.

def anchors():
    """Centre, width and height of each, in parts of the picture: of each cell of the grid both shapes."""
    return np.array([((x + 0.5) / GRID, (y + 0.5) / GRID, w / SIZE, h / SIZE)
                     for y in range(GRID) for x in range(GRID) for w, h in SHAPES])


def corners(centred):
    return np.concatenate([centred[..., :2] - centred[..., 2:] / 2, centred[..., :2] + centred[..., 2:] / 2], -1)


def targets_of(boxes, labels):
    """For each anchor offsets as y, x, height, width, a one-hot class, and whether it has an object (1), has none (0) or is not sure (-1)."""
    prior = anchors()
    offsets, classes = np.zeros((len(prior), 4), np.float32), np.zeros((len(prior), 10), np.float32)
    boxes = np.array(boxes, float) / SIZE
    overlaps = iou(corners(prior)[:, None], boxes[None])
    nearest, best = overlaps.argmax(1), overlaps.max(1)
    for object, anchor in enumerate(overlaps.argmax(0)):
        nearest[anchor], best[anchor] = object, 1.0
    is_object = np.where(best >= 0.5, 1.0, np.where(best < 0.4, 0.0, -1.0)).astype(np.float32)
    taken = boxes[nearest]
    centre, extent = (taken[:, :2] + taken[:, 2:]) / 2, taken[:, 2:] - taken[:, :2]
    offsets[:, [1, 0]] = (centre - prior[:, :2]) / prior[:, 2:] / CENTER
    offsets[:, [3, 2]] = np.log(extent / prior[:, 2:]) / EXTENT
    found = is_object == 1
    classes[found, np.array(labels)[nearest[found]]] = 1
    return offsets, classes, is_object


def network():
    """Twelve cells of four pixels along each edge; of a cell the network sees 51 pixels, more than the largest digit."""
    image = layers.Input((SIZE, SIZE, 1), name="picture")

    def done(x):
        return layers.ReLU(6.0)(layers.BatchNormalization()(x))

    def separable(x, filters, stride=1):
        x = done(layers.DepthwiseConv2D(3, stride, padding="same", use_bias=False)(x))
        return done(layers.Conv2D(filters, 1, use_bias=False)(x))

    x = done(layers.Conv2D(16, 3, 2, padding="same", use_bias=False)(image))
    x = separable(x, 24)
    x = separable(x, 48, 2)
    for _ in range(3):
        x = separable(x, 48)
    x = separable(x, 64)
    shapes = len(SHAPES)
    offsets = layers.Reshape((-1, 4), name="offsets")(layers.Conv2D(4 * shapes, 1)(x))
    # At first nearly nothing is an object: log(0.01 / 0.99).
    bias = keras.initializers.Constant(-4.6)
    logits = layers.Reshape((-1, 10), name="logits")(layers.Conv2D(10 * shapes, 1, bias_initializer=bias)(x))
    return keras.Model(image, [offsets, logits])


def loss_of(offsets, logits, wanted, classes, is_object):
    """The focal loss of the classes (T.-Y. Lin et al., 2017) and Huber's of the offsets, for each object."""
    count = tf.maximum(tf.reduce_sum(tf.cast(is_object == 1, tf.float32)), 1.0)
    p = tf.sigmoid(logits)
    entropy = tf.nn.sigmoid_cross_entropy_with_logits(classes, logits)
    right = classes * p + (1 - classes) * (1 - p)
    focal = (classes * 0.5 + (1 - classes) * 0.5) * (1 - right) ** 2 * entropy
    focal = tf.reduce_sum(focal * tf.cast(is_object >= 0, tf.float32)[..., None])
    error = tf.abs(offsets - wanted)
    huber = tf.where(error < 1, error ** 2 / 2, error - 0.5)
    huber = tf.reduce_sum(huber * tf.cast(is_object == 1, tf.float32)[..., None])
    return (4 * focal + huber) / count


def train(images, labels):
    rng = np.random.default_rng(SEED)
    drawn = [scene(images, rng) for _ in range(TRAINED)]
    pictures = np.stack([picture for picture, _, _ in drawn])
    targets = [targets_of(boxes, [labels[digit[0]] for digit in digits]) for _, digits, boxes in drawn]
    offsets, classes, is_object = (np.stack(part) for part in zip(*targets))
    model = network()
    steps = EPOCHS * (TRAINED // BATCH)
    optimizer = keras.optimizers.Adam(keras.optimizers.schedules.CosineDecay(4e-3, steps))
    optimizer.build(model.trainable_variables)

    @tf.function
    def step(picture, offsets, classes, is_object):
        with tf.GradientTape() as tape:
            found, logits = model(picture, training=True)
            loss = loss_of(found, logits, offsets, classes, is_object)
        optimizer.apply_gradients(zip(tape.gradient(loss, model.trainable_variables), model.trainable_variables))
        return loss

    for epoch in range(EPOCHS):
        losses = []
        for batch in np.array_split(rng.permutation(TRAINED), TRAINED // BATCH):
            picture = tf.constant(pictures[batch][..., None] / np.float32(255), tf.float32)
            losses.append(step(picture, offsets[batch], classes[batch].astype(np.float32), is_object[batch]))
        print(f"epoch {epoch}: {np.mean(losses):.3f}", flush=True)
    return model, pictures


def convert(model, calibration=None):
    spec = tf.TensorSpec([1, SIZE, SIZE, 1], tf.float32, name="picture")
    function = tf.function(lambda picture: model(picture, training=False)).get_concrete_function(spec)
    converter = tf.lite.TFLiteConverter.from_concrete_functions([function])
    if calibration is not None:
        converter.optimizations = [tf.lite.Optimize.DEFAULT]
        converter.representative_dataset = lambda: ([picture[None, ..., None] / np.float32(255)] for picture in calibration)
        converter.target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS_INT8]
        converter.inference_input_type = converter.inference_output_type = tf.int8
    return converter.convert()


# What the networks find.

def run_tflm(tflite, pictures):
    """Inputs, offsets and logits as TensorFlow Lite Micro stores them, and the last two as real values."""
    from tflite_micro import runtime

    interpreter = runtime.Interpreter.from_bytes(tflite, arena_size=1 << 22)

    def parameters(details):
        of = details["quantization_parameters"]
        return (of["scales"][0], of["zero_points"][0]) if details["dtype"] == np.int8 else (1.0, 0)

    inputs = (pictures / np.float32(255))[:, None, ..., None]
    if interpreter.get_input_details(0)["dtype"] == np.int8:
        scale, zero = parameters(interpreter.get_input_details(0))
        # As kiln's `quantize`: nearest, ties away from zero (the inputs are not negative).
        inputs = np.clip(np.floor(inputs / np.float32(scale) + np.float32(0.5)) + zero, -128, 127).astype(np.int8)
    raw = []
    for picture in inputs:
        interpreter.set_input(picture, 0)
        interpreter.invoke()
        raw.append([np.array(interpreter.get_output(k)) for k in range(2)])
    raw = [np.stack([outputs[k] for outputs in raw]) for k in range(2)]
    real = []
    for k, output in enumerate(raw):
        scale, zero = parameters(interpreter.get_output_details(k))
        real.append(float(scale) * (output[:, 0].astype(float) - float(zero)))
    assert [output.shape[-1] for output in raw] == [4, 10], "the outputs are in another order"
    return inputs, raw, real


def detections(offsets, logits, threshold=SCORE):
    """(class, score, left, top, right, bottom) of all that is found on a picture, best first."""
    prior = anchors()
    centre = prior[:, :2] + CENTER * offsets[:, [1, 0]] * prior[:, 2:]
    boxes = corners(np.concatenate([centre, prior[:, 2:] * np.exp(EXTENT * offsets[:, [3, 2]])], -1))
    scores = 1 / (1 + np.exp(-logits))
    found = sorted(((-scores[a, c], a, c) for a, c in zip(*np.nonzero(scores >= threshold))))[:MOST]
    kept = []
    for score, a, c in found:
        if not any(c == other and iou(boxes[a], box) > OVERLAP for other, _, box in kept):
            kept.append((c, -score, boxes[a]))
    return kept


def mean_average_precision(found, wanted):
    """At an overlap of 0.5, over the ten classes; of each the area below the curve of precision over recall."""
    areas = []
    for digit in range(10):
        of = [(score, k, box) for k, scene in enumerate(found) for c, score, box in scene if c == digit]
        total = sum(label == digit for scene in wanted for label, _ in scene)
        used, hits = set(), []
        for _, k, box in sorted(of, key=lambda entry: -entry[0]):
            best = max(((iou(box, np.array(other, float) / SIZE), n) for n, (label, other) in enumerate(wanted[k])
                        if label == digit and (k, n) not in used), default=(0, 0))
            hits.append(best[0] >= 0.5)
            if hits[-1]:
                used.add((k, best[1]))
        hits = np.cumsum(hits)
        precision = hits / np.arange(1, len(hits) + 1)
        precision = np.maximum.accumulate(precision[::-1])[::-1]
        recall = np.concatenate([[0], hits / total])
        areas.append(np.sum(np.diff(recall) * precision))
    return np.mean(areas)


def main():
    keras.utils.set_random_seed(SEED)
    tf.config.experimental.enable_op_determinism()
    for folder in ["models", "data", "golden"]:
        (HERE / folder).mkdir(exist_ok=True)

    digits = load_digits()
    images, labels = digits.images.astype(int), digits.target
    model, pictures = train(images[:-HELD_OUT], labels[:-HELD_OUT])
    print(f"{model.count_params()} parameters")
    networks = {"f32": convert(model), "int8": convert(model, pictures[:500])}

    rng = np.random.default_rng(SEED + 1)
    drawn = [scene(images[-HELD_OUT:], rng) for _ in range(SCENES)]
    file = b""
    for _, placed, _ in drawn:
        file += bytes([len(placed)])
        file += b"".join(index.to_bytes(2, "little") + bytes([left, top, size, bright, 0, 0]) for index, left, top, size, bright in placed)
    (HERE / "data/scenes.bin").write_bytes(file)
    wanted = [[(labels[-HELD_OUT:][digit[0]], box) for digit, box in zip(placed, boxes)] for _, placed, boxes in drawn]

    held_out, precisions = np.stack([picture for picture, _, _ in drawn]), []
    for kind, tflite in networks.items():
        (HERE / f"models/find_digits_{kind}.tflite").write_bytes(tflite)
        inputs, raw, (offsets, logits) = run_tflm(tflite, held_out)
        found = [detections(*outputs, threshold=0.05) for outputs in zip(offsets, logits)]
        precision = mean_average_precision(found, wanted)
        print(f"{kind}: {len(tflite)} bytes, mean average precision {precision:.4f}")
        precisions.append(f"{kind} {precision:.5f}\n")
        if kind == "int8":
            np.savez_compressed(HERE / "golden/find_digits_int8.npz", in_0=inputs[:10], out_0=raw[0][:10], out_1=raw[1][:10])
            lines = [f"{k} {c} {score:.6f} " + " ".join(f"{edge:.6f}" for edge in box)
                     for k, outputs in enumerate(zip(offsets, logits)) for c, score, box in detections(*outputs)]
            (HERE / "data/tflm.txt").write_text("\n".join(lines) + "\n")
    (HERE / "data/precision.txt").write_text("".join(precisions))


if __name__ == "__main__":
    main()
