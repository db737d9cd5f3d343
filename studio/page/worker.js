"use strict";
// The compiler, beside the page: questions come in one after the other, answers go back as bytes.
let compiled = null;
let wasm = null;
let model = new Uint8Array();
let inputs = new Uint8Array();

/** A new instance, with the files in it: the first, or after one that has trapped. */
async function start() {
  wasm = (await WebAssembly.instantiate(compiled, {})).exports;
  write(model);
  wasm.studio_model();
  write(inputs);
  wasm.studio_inputs();
}

/** Writes what the next call takes. */
function write(bytes) {
  const place = wasm.studio_room(bytes.length);
  // Made anew each time: a memory that grows leaves its views behind.
  new Uint8Array(wasm.memory.buffer, place, bytes.length).set(bytes);
}

async function answer({ module, bytes, cases, question }) {
  if (module) compiled = await WebAssembly.compile(module);
  if (bytes) model = bytes;
  if (cases) inputs = cases;
  if (!wasm || bytes || cases) await start();
  if (!question) return new Uint8Array();
  try {
    write(new TextEncoder().encode(question));
    const length = wasm.studio_ask();
    return new Uint8Array(wasm.memory.buffer, wasm.studio_said(), length).slice();
  } catch (trap) {
    wasm = null;
    const error = `the compiler stopped: ${trap.message}. This is a bug in Kiln, or the model needs more memory than the browser gives: \`cargo kiln\` on your machine has more.`;
    return new TextEncoder().encode(JSON.stringify({ error }));
  }
}

let last = Promise.resolve();
onmessage = ({ data }) => {
  last = last.then(async () => {
    const began = performance.now();
    const said = await answer(data);
    postMessage({ id: data.id, said, took: performance.now() - began }, [said.buffer]);
  });
};
