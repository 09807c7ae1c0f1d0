// Builds the page: `node build.mjs OUT WASM` makes OUT a folder that any static server can serve, with the modules that lie
// in WASM. Reads the project's pages and the colours of its pictures where they stand.

import { createHash } from 'node:crypto';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { FIRST, parts } from './contents.js';
import { bare, split } from './split.js';
import { unpack } from './unpack.js';

const HERE = dirname(fileURLToPath(import.meta.url));
const PROJECT = join(HERE, '../..');

/** The most that a first visitor may have to fetch until the prompt is there, compressed, in bytes, … */
const MOST_FIRST = 2_830_000;
/** … and the most that all files may have, which the service worker fetches afterwards, for offline use. */
const MOST_EVER = 3_200_000;

const SESSIONS = ['frombuffer', 'storage', 'view-shape', 'view-dtype', 'tensor-views'];
const GUIDES = ['storage', 'explain', 'rhai', 'files', 'shell', 'web', 'pytorch-differences', 'reference'];

/** The pages, in the order in which they are listed: sessions, guides, and whatever else lies in docs. */
function pages() {
  const rest = readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md')).map((name) => name.slice(0, -3));
  const others = rest.filter((name) => !GUIDES.includes(name));
  const of = (group, names, path) => names.map((name) => ({ name: path.startsWith('tests') ? `session-${name}` : name, group, source: `${path}/${name}.md` }));
  const all = [
    ...of('Sessions of PyTorch’s pages', SESSIONS, 'tests/transcripts'), ...of('Guides', GUIDES, 'docs'), ...of('More', others, 'docs'),
  ];
  return all.map((page) => {
    const text = readFileSync(join(PROJECT, page.source), 'utf8');
    const title = /^# (.*)$/m.exec(text)[1];
    const prose = /^# .*\n\n((?:.+\n)+)/m.exec(text)[1].replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*]/g, '').replace(/\s+/g, ' ');
    const about = /^.*?[.?!](?= |$)/.exec(prose.trim())?.[0] ?? prose.trim();
    return { ...page, title: title.replaceAll('`', ''), about, text };
  });
}

/** The style of the pictures, as it stands in the program that draws them. */
function pictureStyle() {
  const source = readFileSync(join(PROJECT, 'src/explain/page.rs'), 'utf8');
  const [, style] = /const STYLE: &str = "\\\n([\s\S]*?)";/.exec(source) ?? [];
  if (!style?.includes(':root')) throw new Error('src/explain/page.rs has no STYLE that could be read');
  return style.replace(/\\\n\s*/g, '');
}

function bundle(entry, { format = 'esm', define = {} } = {}) {
  const { outputFiles } = buildSync({
    entryPoints: [join(HERE, entry)], bundle: true, write: false, minify: true, format, target: 'es2022', define,
    // They stand alone: one begins before the others, and one is fetched when it is needed.
    external: ['./begin.js', './lexer.js'], charset: 'utf8', legalComments: 'none',
  });
  return outputFiles[0].contents;
}

/** The program as wasm/unpack reads it: streams, each packed by xz, behind a table with what is in the headers of xz. */
async function packed(path, unpacker) {
  const whole = bare(readFileSync(path));
  const heads = [];
  const contents = [];
  for (const { properties, bytes } of split(whole)) {
    const options = ['--format=lzma', `--lzma1=preset=9e,dict=16MiB,${properties}`, '--stdout'];
    const file = execFileSync('xz', options, { input: bytes, maxBuffer: bytes.length + 1024 });
    const content = file.subarray(13);
    const head = Buffer.alloc(9);
    head[0] = file[0];
    head.writeUInt32LE(bytes.length, 1);
    head.writeUInt32LE(content.length, 5);
    heads.push(head);
    contents.push(content);
  }
  const content = Buffer.concat([...heads, ...contents]);
  const unpacked = [];
  for await (const piece of unpack(unpacker, content)) unpacked.push(piece);
  if (!whole.equals(Buffer.concat(unpacked))) throw new Error('what was packed comes out otherwise');
  return content;
}

/** What the licences of the bundled packages ask for: their text, beside what is made of them. */
function licences() {
  const lock = JSON.parse(readFileSync(join(HERE, 'package-lock.json'), 'utf8'));
  const bundled = Object.keys(lock.packages).filter((path) => path.startsWith('node_modules/') && !path.includes('esbuild'));
  return bundled.map((path) => {
    const folder = join(HERE, path);
    const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
    if (!file) throw new Error(`${path} comes without a licence`);
    return `${relative('node_modules', path)} ${lock.packages[path].version}\n\n${readFileSync(join(folder, file), 'utf8')}`;
  }).join('\n\n');
}

async function build(out, wasm) {
  const unpacker = readFileSync(join(wasm, 'unpack.wasm'));
  const all = pages();
  const known = parts();
  const digest = createHash('sha256');
  for (const [name, content] of known) digest.update(name).update('\0').update(content);
  // Named after what is in it, so that a program never gets the parts of another version.
  const folder = `parts/${digest.digest('hex').slice(0, 12)}`;
  const index = JSON.stringify(all.map(({ name, title, about, group, source }) => ({ name, title, about, group, source })));
  const files = new Map([
    ['index.html', readFileSync(join(HERE, 'index.html'))],
    ['icon.svg', readFileSync(join(HERE, 'icon.svg'))],
    ['style.css', Buffer.from(`${pictureStyle()}\n${readFileSync(join(HERE, 'style.css'), 'utf8')}`)],
    ['main.js', bundle('main.js', { define: { BUILT_PAGES: index } })],
    ['begin.js', bundle('begin.js')],
    ['worker.js', bundle('worker.js', { define: { BUILT_PARTS: JSON.stringify(folder) } })],
    ['lexer.js', bundle('lexer.js')],
    ['embed.js', bundle('embed.js', { format: 'iife' })],
    ['licences.txt', Buffer.from(licences())],
    ['fetch.js', bundle('fetch.js')],
    ['unpack.wasm', unpacker],
    ['tensorsh.wasm.lzma', await packed(join(wasm, 'tensorsh.wasm'), unpacker)],
    ...[...known].map(([name, content]) => [`${folder}/${name}`, content]),
    ...all.map(({ name, text }) => [`pages/${name}.md`, Buffer.from(text)]),
  ]);
  const hash = createHash('sha256');
  for (const [name, content] of files) hash.update(name).update('\0').update(content);
  // Python's library is kept as far as a session has imported it.
  const library = `${folder}/library/`;
  const kept = [...files.keys()].filter((name) => !name.startsWith(library));
  const built = JSON.stringify({ version: hash.digest('hex').slice(0, 16), files: kept, onceAsked: library });
  files.set('sw.js', bundle('sw.js', { define: { BUILT: built } }));

  rmSync(out, { recursive: true, force: true });
  const sums = { first: 0, ever: 0, library: 0 };
  for (const [name, content] of files) {
    const path = join(out, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    const nbytes = name.endsWith('.lzma') ? content.length : gzipSync(content).length;
    if (name.startsWith(library)) {
      sums.library += nbytes;
      continue;
    }
    sums.ever += nbytes;
    if (FIRST.has(name)) sums.first += nbytes;
  }
  const program = files.get('tensorsh.wasm.lzma').length;
  console.log(`first visit: ${FIRST.size} files, ${sums.first} bytes compressed, of which the program has ${program}`);
  console.log(`with all that follows: ${files.size} files, ${sums.ever} bytes compressed`);
  console.log(`Python's library, as far as sessions import it: ${sums.library} bytes compressed`);
  const missing = [...FIRST].filter((name) => !files.has(name));
  if (missing.length > 0) throw new Error(`there is no ${missing.join(', ')}`);
  if (sums.first > MOST_FIRST) throw new Error(`a first visit has more than ${MOST_FIRST} bytes`);
  if (sums.ever > MOST_EVER) throw new Error(`all files have more than ${MOST_EVER} bytes`);
}

const [out, wasm] = process.argv.slice(2);
if (!out || !wasm) {
  console.error('usage: node build.mjs OUT WASM');
  process.exit(2);
}
await build(out, wasm);
