// The page: a canvas to draw on, and what the network says of it.
import { load } from "./digits.js";

const element = (id) => document.getElementById(id);
const fetched = async (name) => {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name}: ${response.status}`);
  return response.arrayBuffer();
};

// The page counts as loaded when its test has ended: a document in a frame is open until then.
const testing = new URLSearchParams(location.search).has("selftest") && document.body.appendChild(document.createElement("iframe")).contentDocument;
if (testing) testing.open();

const digits = await load(await fetched("digits.wasm"));
const canvas = element("drawing");
const { side } = digits;
canvas.width = canvas.height = side;
const pen = canvas.getContext("2d", { willReadFrequently: true });
Object.assign(pen, { lineWidth: side / 7, lineCap: "round", lineJoin: "round" });

const meters = Array.from({ length: 10 }, (_, digit) => {
  const item = document.createElement("li");
  const meter = document.createElement("meter");
  item.append(`${digit} `, meter);
  element("scores").append(item);
  return meter;
});

/** Where a pointer is in the drawing. */
function place(event) {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  return [((event.clientX - left) / width) * side, ((event.clientY - top) / height) * side];
}

let last = null;
canvas.addEventListener("pointerdown", (event) => {
  last = place(event);
  line(last);
});
canvas.addEventListener("pointermove", (event) => {
  if (last) line(place(event));
});
for (const end of ["pointerup", "pointercancel", "pointerleave"]) {
  canvas.addEventListener(end, () => { last = null; });
}
element("clear").addEventListener("click", clear);

function line(to) {
  pen.beginPath();
  pen.moveTo(...last);
  pen.lineTo(...to);
  pen.stroke();
  last = to;
  look();
}

function clear() {
  pen.clearRect(0, 0, side, side);
  look();
}

/** Shows what the network says of the drawing. */
function look() {
  const { data } = pen.getImageData(0, 0, side, side);
  const drawing = Uint8Array.from({ length: side * side }, (_, i) => data[4 * i + 3]);
  const start = performance.now();
  const digit = digits.see(drawing);
  const time = performance.now() - start;
  element("digit").textContent = digit < 0 ? "" : digit;
  element("time").textContent = digit < 0 ? "" : `seen in ${time.toFixed(2)} ms`;
  const probabilities = digit < 0 ? new Float32Array(10) : digits.probabilities();
  meters.forEach((meter, i) => { meter.value = probabilities[i]; });
  show(digit < 0 ? new Uint8Array(64) : digits.ink());
}

/** Shows the image that the network sees. */
function show(ink) {
  const context = element("ink").getContext("2d");
  const image = context.createImageData(8, 8);
  ink.forEach((ink, i) => { image.data[4 * i + 3] = (ink * 255) / 16; });
  context.putImageData(image, 0, 0);
}

look();
if (testing) {
  const { selftest } = await import("./selftest.js");
  element("selftest").textContent = await selftest({ digits, canvas, clear, fetched, seen: () => element("digit").textContent });
  testing.close();
}
