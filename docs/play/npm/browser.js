// The package in a browser. Bundlers know this way of naming a file: they copy it and write its new address here.

import { begin } from './open.js';

async function got(response) {
  const found = await response;
  if (!found.ok) throw new Error(`${found.url} could not be fetched: ${found.status}`);
  return found;
}

// Fetched and compiled once for all sessions.
let files;

export async function open(options) {
  files ??= Promise.all([
    got(fetch(new URL('./tensorsh.wasm', import.meta.url))).then(async (found) => WebAssembly.compile(await found.arrayBuffer())),
    got(fetch(new URL('./parts.json', import.meta.url))).then((found) => found.json()),
  ]);
  return begin(...(await files), options);
}
