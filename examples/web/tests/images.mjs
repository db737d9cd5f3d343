// Classifies the test set in Node, with the module and the images that the server at the given address has: prints the scores of each image.
import { load } from "../page/digits.js";

const address = process.argv[2];
const fetched = async (name) => new Uint8Array(await (await fetch(address + name)).arrayBuffer());
const bytes = await fetched("digits.wasm");
const [features] = WebAssembly.Module.customSections(new WebAssembly.Module(bytes), "target_features");
if (!new TextDecoder().decode(features).includes("simd128")) throw new Error("the module was not compiled for SIMD");
if (bytes.length >= 100 * 1024) throw new Error(`the module has ${bytes.length} bytes`);
const digits = await load(bytes);
const images = await fetched("images.bin");
for (let i = 0; i < images.length; i += 64) {
  const digit = digits.classify(images.subarray(i, i + 64));
  console.log([digit, ...digits.stored()].join(" "));
}
