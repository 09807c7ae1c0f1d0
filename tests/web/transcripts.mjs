// Runs recorded sessions in the WebAssembly module, each file in an instance of its own:
//     node tests/web/transcripts.mjs MODULE FILE|FOLDER...
//     node tests/web/transcripts.mjs MODULE --as REPORT
// Every example of the files has to print what is recorded. Those in REPORT, which the native program's `test --json` has
// written, have to print what it printed, right or wrong.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parts } from '../../docs/play/contents.js';
import { load } from '../../docs/play/session.js';

// The seconds that one file may take.
const LIMIT = 120;

function markdown(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path).sort().flatMap((name) => markdown(join(path, name))).filter((file) => file.endsWith('.md'));
}

// What sessions import: they run in the project's folder.
const scripts = readdirSync('scripts').filter((name) => name.endsWith('.rhai')).map((name) => join('scripts', name));

const known = parts();
const fetchPart = (name) => known.get(name) ?? null;

const [module, ...paths] = process.argv.slice(2);
const compiled = await WebAssembly.compile(readFileSync(module));

/** Returns a file's report, or a message if there is none. */
async function run(file) {
  const begun = performance.now();
  const shouldStop = () => performance.now() - begun > LIMIT * 1000;
  const complaints = [];
  const session = await load(compiled, { onEvent: () => {}, shouldStop, fetchPart, complain: (text) => complaints.push(text) });
  for (const script of scripts) assert.ok(session.putFile(script, readFileSync(script)));
  try {
    const answer = session.answer({ ask: 'test', name: basename(file), source: readFileSync(file, 'utf8') });
    return answer.report?.files[0] ?? `${file}: ${JSON.stringify(answer)}`;
  } catch (death) {
    return `${file}: the instance died: ${death.message}\n${complaints.join('')}`;
  }
}

const examplesOf = (report) => report.sessions.flatMap(({ examples }) => examples);
const passes = ({ verdict }) => ['passed', 'ran', 'skipped'].includes(verdict);

// Each file, with the examples that the native program reports.
const files = paths[0] === '--as'
  ? JSON.parse(readFileSync(paths[1])).files.map((report) => {
    assert.ok(report.sessions, `${paths[1]} has no examples of ${report.file}: ${report.error}`);
    return [report.file, examplesOf(report)];
  })
  : paths.flatMap(markdown).map((file) => [file, null]);
let count = 0;
const wrong = [];
for (const [file, native] of files) {
  const report = await run(file);
  if (typeof report === 'string') {
    wrong.push(report);
    continue;
  }
  const examples = examplesOf(report);
  count += examples.length;
  if (native && native.length !== examples.length) {
    wrong.push(`${file}: ${examples.length} examples, and ${native.length} natively`);
  }
  examples.forEach((example, index) => {
    if (native ? isDeepStrictEqual(example, native[index]) : passes(example)) return;
    const { line, input, verdict, ...rest } = example;
    wrong.push(`${file}:${line}: ${input}\n${JSON.stringify(rest, null, 1)}`);
  });
}
for (const message of wrong) console.error(message);
console.log(`WebAssembly: ${count} examples, ${wrong.length} wrong`);
process.exit(wrong.length > 0 || count === 0 ? 1 : 0);
