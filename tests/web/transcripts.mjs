// Runs recorded sessions in the WebAssembly module, each file in an instance of its own:
//     node tests/web/transcripts.mjs MODULE FILE|FOLDER...
// Every example has to print what is recorded, as the native program does.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
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
let examples = 0;
const wrong = [];
for (const file of paths.flatMap(markdown)) {
  const name = basename(file);
  const begun = performance.now();
  const shouldStop = () => performance.now() - begun > LIMIT * 1000;
  const complaints = [];
  const session = await load(compiled, { onEvent: () => {}, shouldStop, fetchPart, complain: (text) => complaints.push(text) });
  for (const script of scripts) assert.ok(session.putFile(script, readFileSync(script)));
  let answer;
  try {
    answer = session.answer({ ask: 'test', name, source: readFileSync(file, 'utf8') });
  } catch (death) {
    wrong.push(`${name}: the instance died: ${death.message}\n${complaints.join('')}`);
    continue;
  }
  if (!answer.report) {
    wrong.push(`${name}: ${JSON.stringify(answer)}`);
    continue;
  }
  for (const { sessions } of answer.report.files) {
    for (const { examples: found } of sessions) {
      for (const { line, input, verdict, ...rest } of found) {
        examples += 1;
        if (['passed', 'ran', 'skipped'].includes(verdict)) continue;
        wrong.push(`${file}:${line}: ${input}\n${JSON.stringify(rest, null, 1)}`);
      }
    }
  }
}
for (const message of wrong) console.error(message);
console.log(`WebAssembly: ${examples} examples, ${wrong.length} wrong`);
process.exit(wrong.length > 0 || examples === 0 ? 1 : 0);
