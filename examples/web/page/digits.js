// The module's exports as an object. All that goes in and out lies in the module's memory.

/** Compiles the module of these bytes. */
export async function load(bytes) {
  const { instance } = await WebAssembly.instantiate(bytes, {});
  const wasm = instance.exports;
  // Made anew each time: a memory that grows leaves its views behind.
  const view = (type, address, length) => new type(wasm.memory.buffer, address, length);
  return {
    /** Width and height of a drawing. */
    side: wasm.digits_side(),

    /** The digit of an image: 64 bytes of ink, 0 to 16. */
    classify(ink) {
      view(Uint8Array, wasm.digits_ink(), 64).set(ink);
      return wasm.digits_classify();
    },

    /** The digit of a drawing: the opacity of each point, row by row. -1 where nothing is drawn. */
    see(drawing) {
      view(Uint8Array, wasm.digits_drawing(), this.side * this.side).set(drawing);
      return wasm.digits_see();
    },

    /** The image that was classified. */
    ink: () => view(Uint8Array, wasm.digits_ink(), 64).slice(),

    /** What the network said: its outputs as they are stored, and as probabilities. */
    stored: () => view(Int8Array, wasm.digits_stored(), 10).slice(),
    probabilities: () => view(Float32Array, wasm.digits_probabilities(), 10).slice(),
  };
}
