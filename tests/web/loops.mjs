// Compares the loops that only the WebAssembly module has with the native ones, to the bit:
//     node tests/web/loops.mjs MODULE PROGRAM
// Functions of float32 on a sample of all numbers and on lengths around a group, and sums of many shapes.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { instance, printed } from './python.mjs';

const SCRIPT = `import torch
positive = torch.arange(0, 2139095040, 9973).int().view(torch.float32)
x = torch.cat([positive, -positive])
weights = torch.arange(len(x)) % 65537 + 1
def told(y):
    return (y.nan_to_num(7.0).view(torch.int32).long() * weights[:len(y)]).sum().item()
names = 'exp exp2 expm1 log log2 log10 log1p sinh cosh tanh sin cos tan asin acos atan atanh erf erfc erfinv sigmoid'
for name in names.split():
    f = getattr(torch, name)
    print(name, told(f(x)), sum(told(f(x[100000 + 7 * n:100000 + 8 * n])) for n in range(40)))
for rows, columns in [(1, 1000), (3, 129), (64, 64), (1000, 3), (257, 300), (5, 4099)]:
    m = (x[:rows * columns * 3] % 3.7).view(rows, columns, 3)
    for t in [m[:, :, 0], m[:, :, 0].contiguous(), m.reshape(rows, -1), m.reshape(rows, -1).half()]:
        print(rows, columns, told(t.sum().float().view(1)), told(t.sum(0).float()), told(t.sum(1).float()), told(t.t().sum(1).float()))
`;

const [module, program] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'loops-'));
writeFileSync(join(folder, 'loops.py'), SCRIPT);
const native = execFileSync(program, [join(folder, 'loops.py')], { encoding: 'utf8' }).trimEnd().split('\n');
rmSync(folder, { recursive: true });

const page = printed(await instance(module), SCRIPT);
const wrong = native.filter((line, at) => line !== page[at]);
for (const line of wrong) console.error(`native: ${line}\npage:   ${page[native.indexOf(line)]}`);
console.log(`WebAssembly: ${native.length} rows of loops, ${wrong.length} differ`);
process.exit(wrong.length > 0 || native.length !== page.length || native.length < 40 ? 1 : 0);
