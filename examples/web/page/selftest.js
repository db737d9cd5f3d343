// What the page tests of itself, opened with `?selftest`: the network on all images of the test set, and the way from the pen to the digit.

/** Says what holds, beginning with "passed" or "failed". */
export async function selftest({ digits, canvas, clear, fetched, seen }) {
  const [images, labels, record] = await Promise.all(["images.bin", "labels.bin", "tflm.txt"].map(fetched));
  const found = classifyAll(digits, new Uint8Array(images), new Uint8Array(labels));
  const expected = Number(/^digits_int8 (\d+)$/m.exec(new TextDecoder().decode(record))[1]);
  const drawn = Object.keys(STROKES).join("");
  const read = Object.values(STROKES).map((strokes) => {
    clear();
    strokes.forEach((stroke) => draw(canvas, stroke));
    return seen();
  }).join("");
  const result = found.right === expected && read === drawn ? "passed" : "failed";
  return `${result}: ${found.right} of ${found.all} images right, scores ${found.scores}, drawn ${drawn}, seen ${read}`;
}

/** How many images are right, and a hash (FNV-1a) of all scores. */
export function classifyAll(digits, images, labels) {
  let right = 0;
  let hash = 0x811c9dc5;
  labels.forEach((label, i) => {
    if (digits.classify(images.subarray(64 * i, 64 * i + 64)) === label) right += 1;
    for (const score of digits.stored()) {
      hash = Math.imul(hash ^ (score & 255), 0x01000193);
    }
  });
  return { right, all: labels.length, scores: (hash >>> 0).toString(16).padStart(8, "0") };
}

/** Part of an ellipse, by its middle, its radii and two angles in degrees, from the top and clockwise. */
const arc = (x, y, width, height, from, to) => Array.from({ length: 17 }, (_, i) => {
  const angle = ((from + ((to - from) * i) / 16) * Math.PI) / 180;
  return [x + width * Math.sin(angle), y - height * Math.cos(angle)];
});

/** The strokes of each digit, as the pen goes: parts of the canvas's width and height. */
const STROKES = {
  0: [arc(0.5, 0.5, 0.2, 0.35, 0, 360)],
  1: [[[0.54, 0.15], [0.48, 0.85]]],
  2: [[...arc(0.5, 0.35, 0.2, 0.2, -80, 130), [0.3, 0.85], [0.72, 0.85]]],
  3: [[...arc(0.48, 0.32, 0.2, 0.17, -70, 180), ...arc(0.48, 0.67, 0.23, 0.18, 0, 250)]],
  4: [[[0.45, 0.12], [0.28, 0.6], [0.75, 0.6]], [[0.6, 0.35], [0.57, 0.9]]],
  5: [[[0.7, 0.15], [0.36, 0.15], [0.33, 0.45], ...arc(0.48, 0.64, 0.22, 0.21, -30, 240)]],
  6: [[[0.58, 0.12], [0.38, 0.4], ...arc(0.5, 0.66, 0.18, 0.2, -90, 270)]],
  7: [[[0.28, 0.2], [0.72, 0.2], [0.42, 0.85]]],
  8: [[...arc(0.5, 0.32, 0.16, 0.18, 180, -180), ...arc(0.5, 0.68, 0.2, 0.18, 0, 360)]],
  9: [[...arc(0.5, 0.34, 0.18, 0.19, 90, -270), [0.66, 0.55], [0.55, 0.88]]],
};

/** Draws as a pointer does. */
function draw(canvas, stroke) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  stroke.forEach(([x, y], i) => {
    const place = { clientX: left + x * width, clientY: top + y * height };
    canvas.dispatchEvent(new PointerEvent(i === 0 ? "pointerdown" : "pointermove", place));
  });
  canvas.dispatchEvent(new PointerEvent("pointerup"));
}
