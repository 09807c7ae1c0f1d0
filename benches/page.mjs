// Times twelve operations in the WebAssembly module, beside the native program on one thread:
//     node benches/page.mjs MODULE PROGRAM
// Prints a table in Markdown: microseconds of a call, the median of five, and how many times as long the module takes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instance, printed } from '../tests/web/python.mjs';

// `a` and `b` have 100,000 elements of float32, `m` and `n` 256 rows of 256.
const ROWS = [
  'a + b', 'a < b', 'torch.where(c, a, b)', 'a.exp()', 'a.log()', 'a.tanh()', 'a.sum()', 'm.sum(0)', 'a.max()', 'm @ n',
  'torch.softmax(m, 1)', 'a.sort()',
];

const source = (call) => `import time, torch
torch.set_num_threads(1)
a = torch.rand(100000) + 0.5
b = torch.rand(100000)
c = a > b
m = torch.rand(256, 256)
n = torch.rand(256, 256)
def seconds(times):
    begun = time.perf_counter()
    for i in range(times):
        ${call}
    return (time.perf_counter() - begun) / times
times = max(5, int(0.05 / max(seconds(20), 1e-6)))
print(round(sorted(seconds(times) for i in range(5))[2] * 1e6, 1))
`;

const [module, program] = process.argv.slice(2);
const page = await instance(module);

function onPage(call) {
  const text = printed(page, source(call)).at(-1);
  if (!(Number(text) > 0)) throw new Error(`${call}: ${text}`);
  return Number(text);
}

const folder = mkdtempSync(join(tmpdir(), 'page-'));
const script = join(folder, 'row.py');
console.log('| call | native | page | ratio |\n| --- | ---: | ---: | ---: |');
// The first call also waits for the engine to compile the module's functions well.
onPage(ROWS[0]);
for (const call of ROWS) {
  writeFileSync(script, source(call));
  const native = Number(execFileSync(program, [script], { encoding: 'utf8' }));
  const here = onPage(call);
  console.log(`| \`${call}\` | ${native} | ${here} | ${(here / native).toFixed(1)} |`);
}
rmSync(folder, { recursive: true });
