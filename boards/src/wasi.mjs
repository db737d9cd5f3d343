// Runs a program of WebAssembly with WASI in Node: node --no-warnings wasi.mjs PROGRAM ARGUMENT...
// It sees the current folder, and ends with the program's status.
import { readFile } from "node:fs/promises";
import { argv, cwd, env, exit } from "node:process";
import { WASI } from "node:wasi";

const [program, ...rest] = argv.slice(2);
const wasi = new WASI({ version: "preview1", args: [program, ...rest], env, preopens: { ".": cwd() } });
const module = await WebAssembly.compile(await readFile(program));
exit(wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject())));
