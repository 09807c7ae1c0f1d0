// What the page consists of: what a first visitor fetches before the prompt runs what is typed, and the parts of the program
// that are fetched when a session first needs them. For the build and the tests.

import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));

/** The files that a first visitor fetches before the prompt is there. A test compares them with what a browser fetches. */
export const FIRST = new Set([
  'index.html', 'icon.svg', 'style.css', 'main.js', 'begin.js', 'fetch.js', 'unpack.wasm', 'tensorsh.wasm.lzma', 'worker.js', 'sw.js',
]);

/** The modules of Python's library, by the paths of their files. The build of the program writes them. */
function library() {
  const folder = fileURLToPath(new URL('../../target/web/library', import.meta.url));
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith('.py')).sort();
  return names.map((name) => [`library/${name}`, readFileSync(join(folder, name))]);
}

/**
 * The parts of the program, by their names: functions of PyTorch and NumPy that are written in Python, and the modules of
 * Python's library.
 */
export function parts() {
  const sources = (room) => {
    const folder = join(SOURCES, room, 'python');
    const names = readdirSync(folder).filter((name) => name.endsWith('.py')).sort();
    return names.map((name) => [`${room}/${name}`, readFileSync(join(folder, name))]);
  };
  return new Map([...['torch', 'numpy'].flatMap(sources), ...library()]);
}
