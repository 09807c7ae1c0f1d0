// The package in node: its files lie beside this one.

import { readFile } from 'node:fs/promises';
import { begin } from './open.js';

const read = (name) => readFile(new URL(name, import.meta.url));

// Compiled once for all sessions.
let files;

export async function open(options) {
  files ??= Promise.all([read('tensorsh.wasm').then((bytes) => WebAssembly.compile(bytes)), read('parts.json').then(JSON.parse)]);
  return begin(...(await files), options);
}
