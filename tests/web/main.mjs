// The page in Chromium, used as a person would: `node tests/web/main.mjs SITE SHOTS [NAME]` serves the built page from SITE,
// writes pictures of what was seen into SHOTS, and runs the tests, or those whose name contains NAME.

import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lexer } from '../../docs/play/node_modules/marked/lib/marked.esm.js';
import { serve } from '../../docs/play/serve.mjs';
import { FIRST } from '../../docs/play/contents.js';
import { pieces } from '../../docs/play/page/signs.js';
import { Browser, installed } from './browser.mjs';
import { lessons } from './lessons.mjs';
import { Person } from './person.mjs';

const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
const read = (path) => readFileSync(join(PROJECT, path), 'utf8');

/** How long a first visit may take to a prompt that runs what is typed, in milliseconds. */
const FIRST_PROMPT = 1000;
/** How many first visits may take longer because the machine is busy. */
const VISITS = 12;
/** How long `WORK` takes on an idle machine, in milliseconds. On a busy one, a first visit may take as many times longer. */
const IDLE = 150;
const WORK = `(() => {
  const began = performance.now();
  let x = 1;
  for (let i = 0; i < 3e7; i += 1) { x ^= x << 13; x ^= x >>> 17; x ^= x << 5; }
  return x === 0 ? 0 : performance.now() - began;
})()`;

const tests = {
  ...lessons,

  async 'a first visit leads to a prompt within a second'({ visitor }) {
    const times = [];
    let best = Infinity;
    // The machine may be busy with something else; it is not always.
    for (let i = 0; i < VISITS && best >= FIRST_PROMPT; i += 1) {
      const person = await visitor();
      await person.visit();
      times.push(await person.page.value(`performance.getEntriesByName('prompt')[0].startTime`));
      best = Math.min(best, times[i] / Math.max(1, (await person.page.value(WORK)) / IDLE));
      if (i === 0) assert.match(await person.enter('torch.arange(3)'), /^tensor\(\[0, 1, 2\]\)$/);
    }
    assert.ok(best < FIRST_PROMPT, `${times.map(Math.round)} ms`);
    return `${times.map(Math.round).join(', ')} ms`;
  },

  async 'a first visit fetches what is counted as one'({ browser, site }) {
    const { server, port } = await serve(site);
    const asked = new Set();
    server.on('request', ({ url, headers }) => {
      // The service worker fetches the rest for offline use, once the prompt is there.
      if (!headers.referer?.endsWith('/sw.js')) asked.add(url.slice(1) || 'index.html');
    });
    const person = new Person(await browser.page({ context: await browser.context() }), `http://127.0.0.1:${port}/`);
    try {
      await person.visit();
      const others = [...asked].filter((name) => !FIRST.has(name) && !name.startsWith('stopped/'));
      assert.deepEqual(others, []);
      assert.ok(asked.has('tensorsh.wasm.lzma'));
    } finally {
      await person.page.close();
      server.closeAllConnections();
      server.close();
    }
  },

  async 'parts that few sessions need are fetched when they are used'({ browser, site }) {
    const folder = mkdtempSync(join(tmpdir(), 'tensorsh-parts-'));
    cpSync(site, folder, { recursive: true });
    const away = join(folder, 'away');
    renameSync(join(folder, 'parts'), away);
    const { server, port } = await serve(folder);
    const person = new Person(await browser.page({ context: await browser.context() }), `http://127.0.0.1:${port}/`);
    try {
      await person.visit();
      await person.enter('import numpy as np');
      await person.enter('np.linalg.norm(np.array([3., 4.]))');
      const [{ error }] = (await person.entries()).at(-1);
      assert.match(error, /RuntimeError: this page could not fetch numpy\/linalg_norm\.py from its site/);
      assert.equal(await person.enter('np.arange(3) + 1'), 'array([1, 2, 3])', 'the session goes on');
      renameSync(away, join(folder, 'parts'));
      assert.equal(await person.enter('np.linalg.norm(np.array([3., 4.]))'), 'np.float64(5.0)');
      assert.match(await person.enter('torch.signal.windows.hann(4)'), /^tensor\(/);
    } finally {
      await person.page.close();
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  },

  async 'what is typed is coloured, completed, explained and recalled'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const typed = () => page.value(`[...document.querySelectorAll('#prompt .cm-line')].map((line) => line.textContent).join('\\n')`);
    await page.type('for i in "a"');
    await page.holds(`document.querySelector('#prompt .kind-keyword')?.textContent === 'for' && document.querySelector('#prompt .kind-text')?.textContent === '"a"'`);
    await page.press('Ctrl+c');
    assert.equal(await typed(), '', 'Ctrl-C clears the line');
    await page.type('torch.aran');
    await page.press('Tab');
    await page.holds(`document.querySelector('#prompt .cm-line').textContent.startsWith('torch.arange')`);
    await page.press('Ctrl+c');
    await person.enter('x = torch.arange(6).view(2, 3)');
    await page.type('x.view(');
    await page.holds(`document.querySelector('.usages').textContent.includes('view(')`);
    await page.press('Ctrl+c');
    await page.type('x.t');
    await page.press('Tab');
    await page.holds(`document.querySelectorAll('.cm-tooltip-autocomplete li').length > 1`);
    await shot(page, 'completion');
    await page.press('Escape');
    await page.press('Ctrl+c');
    await page.type('for i in range(2):\nprint(i)');
    assert.equal(await typed(), 'for i in range(2):\nprint(i)', 'what is incomplete takes another line');
    await page.press('Ctrl+c');
    await person.enter('x.shape');
    await page.press('ArrowUp');
    await page.press('ArrowUp');
    assert.equal(await typed(), 'x = torch.arange(6).view(2, 3)');
    await page.press('ArrowDown');
    await page.press('ArrowDown');
    assert.equal(await typed(), '');
    await page.reload();
    await person.ready();
    await page.press('ArrowUp');
    assert.equal(await typed(), 'x.shape', 'the history is kept');
  },

  async 'an input of several lines, and typing ahead'({ visitor }) {
    const person = await visitor();
    await person.visit();
    await person.page.type('def f(n):\n    return n + 1\n\nf(1)\nf(2)\n');
    await person.page.holds(`document.querySelectorAll('#log .entry').length === 3`);
    await person.idle();
    const entries = await person.entries();
    assert.deepEqual(entries.map(([first]) => first.output), ['', '2', '3']);
    assert.equal(entries[0][0].source, 'def f(n):\n    return n + 1');
  },

  async 'typing ahead of a session that takes its time'({ visitor }) {
    const person = await visitor();
    await person.visit();
    await person.page.value(`{
      const { postMessage } = Worker.prototype;
      Worker.prototype.postMessage = function later(...message) { setTimeout(() => postMessage.apply(this, message), 300); };
    }`);
    for (const character of 'def f(n):\n    return n + 1\n\nf(1)\nf(2)\n') {
      await person.page.type(character);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await person.page.holds(`document.querySelectorAll('#log .entry').length === 3`);
    await person.idle();
    assert.deepEqual((await person.entries()).map(([first]) => first.output), ['', '2', '3']);
  },

  async 'the unfinished end of a pasted session comes back'({ visitor }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const typed = () => page.value(`[...document.querySelectorAll('#prompt .cm-line')].map((line) => line.textContent).join('\\n')`);
    await page.paste('>>> x = 1\n>>> x\n1\n>>> f(x,');
    await page.holds(`document.querySelectorAll('#log .input').length === 2`);
    await person.idle();
    await page.until('the end is back', async () => (await typed()).trim() === 'f(x,');
    await page.press('Ctrl+c');
    await page.paste('def g(n):\n    return max(n,');
    await person.idle();
    assert.equal((await typed()).trimEnd(), 'def g(n):\n    return max(n,');
    assert.equal((await person.entries()).length, 1, 'what was not run is not in the session');
    await page.type('0)\n\n');
    await page.holds(`document.querySelectorAll('#log .entry').length === 2`);
    await person.idle();
    assert.equal(await person.enter('g(x)'), '1');
  },

  async 'errors are underlined where they are'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    await person.enter('x = torch.arange(6).view(2, 3)');
    await person.enter('x.t().view(6)');
    await person.enter('x.viw(6)');
    const [, [refused], [misspelt]] = await person.entries();
    assert.match(refused.error, /RuntimeError: view size is not compatible/);
    assert.match(misspelt.error, /AttributeError/);
    assert.notEqual(misspelt.fault, null, 'the fault is underlined');
    await shot(person.page, 'errors');
  },

  async 'the sessions of the documentation pages, pasted'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    let count = 0;
    for (const name of ['storage', 'frombuffer', 'view-shape', 'view-dtype', 'tensor-views']) {
      for (const section of sections(read(`tests/transcripts/${name}.md`))) {
        await person.press('Start afresh');
        await person.page.holds(`document.activeElement.closest('#prompt')`);
        for (const text of section.blocks) {
          const before = (await person.entries()).length;
          await person.page.paste(text);
          await person.page.holds(`document.querySelectorAll('#log .entry').length > ${before}`);
          await person.idle();
          const shown = (await person.entries()).slice(before).flat();
          const expected = recorded(text);
          assert.deepEqual(shown.map(comparable), expected, `${name}: ${section.title}`);
          count += expected.length;
        }
      }
      await shot(person.page, `pasted-${name}`);
    }
    return `${count} inputs`;
  },

  async 'pictures follow the bytes'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    await person.enter('x = torch.arange(6).view(2, 3)');
    await person.enter('explain(x.t())');
    await page.value(`document.querySelector('.picture').dataset.first = 'yes'`);
    await person.enter('x[0, 0] = 777');
    await page.holds(`document.querySelector('.picture[data-first] svg').textContent.includes('777')`);
    await person.enter('x.view(torch.uint8).numel()');
    assert.match(await page.value(`document.querySelector('#variables').textContent`), /x/);
    await shot(page, 'picture');
    await person.enter('aliases()');
    await person.enter('bits(torch.tensor(1.5))');
    await person.enter('why_view(x.t(), 6)');
    await shot(page, 'pictures', { whole: true });
    const cells = await page.value(`document.querySelectorAll('.picture .at[tabindex="0"]').length`);
    assert.ok(cells >= 1);
    assert.deepEqual(await person.faults(), []);
    assert.deepEqual(await person.mute(), []);
    await page.show({ width: 1280, theme: 'dark' });
    assert.deepEqual(await person.faults(), []);
    await shot(page, 'pictures-dark', { whole: true });
  },

  async 'pictures are as wide as their column'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const wide = `[...document.querySelectorAll('.picture .scroll')].filter((box) => box.scrollWidth > box.clientWidth + 1).length`;
    await page.show({ width: 1280 });
    await person.enter('x = torch.arange(24).view(4, 6); even = x[:, ::2]; odd = x[:, 1::2]; n = x.numpy()');
    for (const line of ['explain(x.t())', 'why_view(x.t(), 24)', 'aliases()']) await person.enter(line);
    assert.equal(await page.value(wide), 0);
    // Columns light up in every row, with the indices in them.
    await page.value(`[...document.querySelectorAll('.picture')].at(-1).querySelector('.at[tabindex]').focus()`);
    const lit = await page.value(`[...document.querySelectorAll('.at.lit text')].map((text) => text.textContent)`);
    assert.deepEqual(lit, ['0', '0,0', '0,0', '·', '0,0']);
    // The panel lists an array with the tensors on its bytes, and draws both.
    await page.holds(`document.querySelectorAll('#variables .storage').length === 1`);
    await page.value(`document.querySelector('#variables summary').click()`);
    assert.ok(await page.value(`(() => { const box = document.querySelector('#variables details .scroll'); return box.scrollWidth <= box.clientWidth + 1; })()`));
    await shot(page, 'fitted', { whole: true });
    await page.show({ width: 400, height: 800 });
    await page.holds(`${wide} === 0`);
    await shot(page, 'fitted-400', { whole: true });
    assert.deepEqual(await person.faults(), []);
  },

  async 'an endless loop is stopped, and the variables stay'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    await person.enter('x = torch.arange(6)');
    await person.enter('m = torch.rand(300, 300)');
    const times = [];
    // The last begins with thousands of quick calls, and goes on with slow ones.
    const loops = [
      ['while True: pass', 'Ctrl+c'], ['while True: x.sum()', 'Escape'], ['while True: print(x)', 'Ctrl+c'],
      ['for i in range(10 ** 9): y = x.sum() if i < 30000 else torch.linalg.svdvals(m)', 'Ctrl+c'],
    ];
    for (const [loop, key] of loops) {
      await page.type(`${loop}\n\n`);
      await page.holds(`document.querySelector('#state').dataset.state === 'running'`);
      await new Promise((resolve) => setTimeout(resolve, 300));
      const before = Date.now();
      await page.press(key);
      await person.idle();
      times.push(Date.now() - before);
      assert.match((await person.entries()).at(-1)[0].error, /KeyboardInterrupt/);
    }
    assert.equal(await person.enter('x'), 'tensor([0, 1, 2, 3, 4, 5])');
    await shot(page, 'stopped');
    return `${times.join(', ')} ms`;
  },

  async 'without a service worker a stopped session is begun anew, and its lines are offered'({ visitor, shot }) {
    const person = await visitor();
    await person.page.ask('Network.setBypassServiceWorker', { bypass: true });
    await person.visit();
    const { page } = person;
    await person.enter('x = torch.arange(6)');
    await page.type('while True: pass\n\n');
    await page.holds(`document.querySelector('#state').dataset.state === 'running'`);
    await person.press('Stop');
    await page.holds(`document.querySelector('.lost')?.textContent.includes('variables are gone')`);
    await person.ready();
    assert.equal(await page.value(`document.querySelectorAll('#prompt .cm-line').length`), 1);
    await shot(page, 'lost');
    await person.press('Run the input before it again');
    await person.idle();
    assert.equal(await person.enter('x'), 'tensor([0, 1, 2, 3, 4, 5])');
  },

  async 'a checkpoint is dropped, inspected, loaded and saved'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    await page.drop([join(PROJECT, 'tests/files/dtypes.safetensors'), join(PROJECT, 'tests/files/views.pt')]);
    await page.holds(`document.querySelectorAll('#log .notice .example').length === 6`);
    await person.idle();
    await shot(page, 'dropped');
    await person.press('x = load("views.pt")', '#log');
    await page.press('Enter');
    await page.holds(`document.querySelectorAll('#log .entry').length === 1`);
    await person.idle();
    assert.deepEqual((await person.entries())[0][0].error, null);
    await person.enter('torch.save(torch.arange(3), "new.pt")');
    await page.holds(`document.querySelector('#files').textContent.includes('new.pt')`);
    await page.drop([join(PROJECT, 'tests/files/hostile.rs')]);
    await page.holds(`document.querySelectorAll('#log .notice pre').length === 3`);
    assert.equal(await person.enter('1 + 1'), '2');
  },

  async 'a lesson is done'({ visitor, shot }) {
    const person = await visitor();
    await person.visit('#/lessons');
    const { page } = person;
    const own = readdirSync(join(PROJECT, 'docs/learn')).filter((name) => name.endsWith('.md')).length;
    await page.holds(`document.querySelectorAll('#lessons .list li').length === ${own}`);
    await shot(page, 'lessons');
    await person.press('What a storage is');
    await page.holds(`document.querySelectorAll('#lessons .exercise').length >= 2`);
    await page.holds(`[...document.querySelectorAll('#lessons .block .output')].some((output) => output.textContent.includes('[1, 0, 244, 1, 3, 0]'))`);
    await page.holds(`document.querySelector('#lessons .block svg') !== null`);
    assert.equal(await page.value(`document.querySelector('#lessons .block:has(svg) .input').textContent`), '>>> show_bytes(t)');
    await shot(page, 'lesson', { whole: true });
    await page.click('#exercise-1 .buttons .run');
    await page.holds(`document.activeElement.closest('#exercise-1 .prompt') && document.querySelector('#exercise-1 .entry')`);
    await page.type('15\n');
    await page.holds(`Boolean(document.querySelector('#exercise-1 .verdict.fault')?.textContent)`);
    await person.press('Hint', '#exercise-1');
    await page.click('#exercise-1 .cm-content');
    await page.type('3 * 5 * 8\n');
    await page.holds(`document.querySelector('#exercise-1 .verdict.good')`);
    await shot(page, 'exercise');
    await person.press('Next exercise');
    await page.holds(`document.activeElement.closest('#exercise-2 .prompt') && document.querySelector('#exercise-2 .entry')`);
    await page.type('t[1] = 1\n');
    await page.holds(`document.querySelector('#exercise-2 .verdict.fault')`);
    await person.press('Begin again', '#exercise-2');
    await page.holds(`document.activeElement.closest('#exercise-2 .prompt') && document.querySelector('#exercise-2 .verdict').textContent === ''`);
    await page.type('t.untyped_storage()[2] = 1\n');
    await page.holds(`document.querySelector('#exercise-2 .verdict.good')`);
    await person.press('Solution', '#exercise-2');
    await page.reload();
    await page.holds(`document.querySelectorAll('#lessons .exercise .done').length >= 2 && [...document.querySelectorAll('#lessons .exercise .done')].slice(0, 2).every((mark) => mark.textContent !== '')`);
  },

  async 'a page is read, changed and run'({ visitor, shot }) {
    const person = await visitor();
    await person.visit('#/pages');
    const { page } = person;
    await page.holds(`document.querySelectorAll('#pages .list li').length > 10`);
    await shot(page, 'pages');
    for (const path of readdirSync(join(PROJECT, 'docs')).filter((name) => name.endsWith('.md'))) {
      await page.open(`${person.origin}#/pages/${path.slice(0, -3)}`);
      const title = /^# (.*)$/m.exec(read(`docs/${path}`))[1].replaceAll('`', '');
      await page.holds(`document.querySelector('#pages h1')?.textContent === ${JSON.stringify(title)}`);
    }
    await page.open(`${person.origin}#/pages/session-view-shape`);
    await page.holds(`document.querySelectorAll('#pages .block').length >= 8`);
    await person.press('Run', '#pages .block');
    await page.holds(`!document.querySelector('#pages .block .stop:not([hidden])') && document.querySelector('#pages .block .role-number')`);
    await shot(page, 'page');
    await person.press('Edit', '#pages .block');
    await page.holds(`document.activeElement.closest('#pages .block .editor')`);
    await page.press('Ctrl+End');
    await page.press('End');
    await page.type('\n');
    await page.holds(`/(>>> |rhai> )$/.test(document.activeElement.innerText.replace(/\\n+$/, ''))`);
    await page.type('6 * 7');
    await shot(page, 'page-edited');
    await page.press('Ctrl+Enter');
    await page.holds(`[...document.querySelectorAll('#pages .block')][0].textContent.includes('42')`);
    assert.deepEqual(await person.faults(), []);
    await person.press('To the prompt', '#pages .block');
    await page.holds(`location.hash.startsWith('#s=') && document.querySelector('#log').textContent.includes('42')`);
    await person.idle();
  },

  async 'a link holds a session'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    await person.enter('x = torch.arange(6).view(2, 3)');
    await person.enter('x.t()');
    await person.page.type('x.t().view(6)  # héllo 漢');
    await person.press('Copy link');
    await person.page.holds(`document.querySelector('.link')`);
    await shot(person.page, 'link');
    const link = await person.page.value(`document.querySelector('.link').value`);
    const other = await visitor();
    await other.page.open(link);
    await other.page.holds(`document.querySelectorAll('#log .entry').length === 2`);
    await other.ready();
    const entries = await other.entries();
    assert.equal(entries[1][0].output, 'tensor([[0, 3],\n        [1, 4],\n        [2, 5]])');
    assert.equal(await other.page.value(`document.querySelector('#prompt .cm-line').textContent`), 'x.t().view(6)  # héllo 漢');
    // A link opened upon a session asks first.
    await other.page.press('Ctrl+c');
    await other.page.value(`location.hash = '#/'`);
    await other.page.value(`location.hash = ${JSON.stringify(link.replace(/^.*#/, ''))}`);
    await other.press('Run it here');
    await other.page.holds(`document.querySelectorAll('#log .entry').length >= 2`);
    await other.idle();
    for (const broken of ['AAAA', link.replace(/^.*#s=/, '').slice(0, 20), '%%%']) {
      const third = await visitor();
      await third.visit(`#s=${broken}`);
      await third.page.holds(`document.querySelector('#log').textContent.includes('holds no session')`);
    }
  },

  async 'a session is embedded in a page of somebody else'({ visitor, shot }) {
    const person = await visitor();
    const html = `<!doctype html><title>A blog</title><h1>A blog</h1><p>Before.</p>
      <script src="${person.origin}embed.js" data-code="torch.arange(3)" data-title="Three numbers" data-height="300"></script><p>After.</p>`;
    const server = createServer((_, response) => response.writeHead(200, { 'Content-Type': 'text/html' }).end(html));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const blog = `http://127.0.0.1:${server.address().port}/`;
    try {
      await person.page.open(blog);
      await person.page.holds(`document.querySelector('iframe')?.title === 'Three numbers'`);
      await person.page.until('the frame shows its result', () => person.page.valueInFrame(person.origin, `document.querySelector('#log')?.textContent.includes('tensor([0, 1, 2])')`));
      await shot(person.page, 'embedded');
      const complaints = person.page.complaints(person.origin).filter((text) => !text.includes(blog));
      assert.deepEqual(complaints, []);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },

  async 'everything works offline, once loaded'({ visitor, stopServer, startServer, files }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const cached = `(async () => {
      const [name] = await caches.keys();
      return name ? (await (await caches.open(name)).keys()).length : 0;
    })()`;
    await page.until('all files are kept', async () => (await page.value(cached)) === files);
    // Of Python's library is kept what has been imported.
    assert.equal(await person.enter('import bisect'), '');
    await page.until('the module is kept', async () => (await page.value(cached)) === files + 1);
    await stopServer();
    try {
      await page.reload();
      await person.ready();
      assert.equal(await person.enter('torch.ones(2)'), 'tensor([1., 1.])');
      assert.equal(await person.enter('torch.signal.windows.hann(3)'), 'tensor([0., 1., 0.])');
      assert.equal(await person.enter('import bisect'), '');
      assert.equal(await person.enter('bisect.bisect([1, 3], 2)'), '1');
      await page.open(`${person.origin}#/pages/session-storage`);
      await page.holds(`document.querySelectorAll('#pages .block').length > 5`);
      await page.open(`${person.origin}#/lessons/storage`);
      await page.holds(`document.querySelectorAll('#lessons .exercise').length >= 2`);
    } finally {
      await startServer();
    }
  },

  async 'a newer page takes over when the older one is closed'({ browser, site }) {
    const folder = mkdtempSync(join(tmpdir(), 'tensorsh-newer-'));
    cpSync(site, folder, { recursive: true });
    const { server, port } = await serve(folder);
    const context = await browser.context();
    const origin = `http://127.0.0.1:${port}/`;
    const visit = async () => {
      const person = new Person(await browser.page({ context }), origin);
      await person.visit();
      return person;
    };
    const change = (file, from, to) => {
      const text = readFileSync(join(folder, file), 'utf8');
      assert.ok(text.includes(from), `${file} has ${from}`);
      writeFileSync(join(folder, file), text.replaceAll(from, to));
    };
    const name = (person) => person.page.value(`document.querySelector('.top .name').textContent`);
    try {
      const first = await visit();
      await first.page.until('all is kept', () => first.page.value(`(async () => (await (await caches.open((await caches.keys())[0])).keys()).length > 20)()`));
      const [, version] = /version:"(\w+)"/.exec(readFileSync(join(folder, 'sw.js'), 'utf8'));
      change('index.html', '>tensorsh</a>', '>newer</a>');
      change('sw.js', version, 'newer');
      const second = await visit();
      assert.equal(await name(second), 'tensorsh', 'pages of two versions are never open together');
      await second.page.until('the newer one is there', () => second.page.value(`caches.keys().then((names) => names.length === 2)`));
      await second.page.until('it waits', () => second.page.value(`navigator.serviceWorker.getRegistration().then(({ waiting }) => waiting !== null)`));
      await first.page.close();
      await second.page.close();
      await new Promise((resolve) => setTimeout(resolve, 500));
      const third = await visit();
      assert.equal(await name(third), 'newer');
      assert.equal(await third.enter('1 + 1'), '2');
      await third.page.close();
    } finally {
      server.closeAllConnections();
      server.close();
      rmSync(folder, { recursive: true });
    }
  },

  async 'a transpose turned by hand, and a byte changed'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    await person.enter('x = torch.arange(6, dtype=torch.float32).view(2, 3)');
    await person.enter('explain(x)');
    await page.click('.turn summary');
    const field = (label) => `.turn [aria-label=${JSON.stringify(label)}]`;
    const value = (label) => `document.querySelector(${JSON.stringify(field(label))})?.value`;
    await page.holds(`${value('Size of dimension 0')} === '2'`);
    // By the mouse: the handle stops at the end of the storage and says why.
    await page.click(field('Size of dimension 0: more'));
    await page.holds(`document.querySelector('.turn [role=status]').textContent === 'size 3 would reach cell 8; the storage has 6'`);
    const lines = `[...document.querySelectorAll('.turn code')].map((line) => line.textContent)`;
    const isAnswered = `document.querySelector('.turn').getAttribute('aria-busy') === 'false'`;
    const set = async (label, number) => {
      await page.value(`document.querySelector(${JSON.stringify(field(label))}).select()`);
      await page.value(`document.querySelector(${JSON.stringify(field(label))}).focus()`);
      await page.type(String(number));
      await page.press('Enter');
      await page.holds(`${isAnswered} && ${value(label)} === '${number}' && document.activeElement.getAttribute('aria-label') === ${JSON.stringify(label)}`);
    };
    // By the keyboard.
    await set('Size of dimension 1', 2);
    await set('Stride of dimension 0, in cells', 1);
    await set('Size of dimension 0', 3);
    await set('Stride of dimension 1, in cells', 3);
    await page.holds(`${lines}[0] === 'x.t()' && ${lines}[1] === 'x.as_strided((3, 2), (1, 3), 0)'`);
    await page.holds(`document.querySelector('.turn svg').textContent.includes('3.0 @3')`);
    // A cell chooses its byte; a bit changes it, and everything that shows it.
    await page.click(`.turn .at[aria-label^="cell 1,"]`);
    await page.holds(`${value('Byte')} === '4'`);
    await set('Byte', 7);
    await page.click(field('Bit 6 of byte 7'));
    await page.holds(`document.querySelector(${JSON.stringify(field('Bit 6 of byte 7'))}).getAttribute('aria-pressed') === 'true'`);
    const shows = (text) => `[...document.querySelectorAll('.picture > .scroll > svg')].every((svg) => svg.textContent.includes('${text}'))`;
    await page.holds(shows('inf @1'));
    assert.equal((await person.entries()).at(-1)[0].source, 'x.untyped_storage()[7] = 127');
    await person.press('Next element', '.turn');
    await person.press('Next element', '.turn');
    await page.holds(`document.querySelector('.turn output').textContent === '2. [0, 1]: cell 0 + 0·1 + 1·3 = 3'`);
    await page.holds(`document.querySelectorAll('.turn .at.read').length > 0`);
    for (const [width, theme] of [[1600, 'light'], [800, 'dark'], [400, 'light'], [400, 'dark']]) {
      await page.show({ width, theme, touch: width === 400 });
      assert.deepEqual(await person.faults(), [], `${width} ${theme}`);
      assert.deepEqual(await person.mute(), [], `${width} ${theme}`);
      await page.value(`document.querySelector('.turn').scrollIntoView()`);
      await shot(page, `turn-${width}-${theme}`);
    }
    await page.show({ width: 1280 });
    await person.press('Insert as_strided', '.turn');
    await page.holds(`document.querySelector('#prompt .cm-line').textContent === 'x.as_strided((3, 2), (1, 3), 0)'`);
    await page.press('Enter');
    await person.idle();
    await person.enter(':undo 2');
    await page.holds(`!${shows('inf @1')}`);
  },

  async 'a phone of 400 pixels, light and dark'({ visitor, shot }) {
    const person = await visitor();
    const { page } = person;
    await page.show({ width: 400, height: 800, touch: true });
    await person.visit();
    for (const text of ['x = torch.arange(600).view(2, 300)', 'x', 'explain(torch.arange(12).view(3, 4))', 'x.t().view(600)']) await person.enter(text);
    await page.drop([join(PROJECT, 'tests/files/dtypes.safetensors')]);
    await page.holds(`document.querySelector('#log .notice pre')`);
    await person.press('Copy link');
    await page.holds(`document.querySelector('.link')`);
    for (const theme of ['light', 'dark']) {
      await page.show({ width: 400, height: 800, touch: true, theme });
      for (const place of ['#/', '#/lessons', '#/lessons/storage', '#/pages', '#/pages/session-view-shape', '#/pages/shell', '#/pages/files']) {
        await page.open(person.origin + place);
        await page.holds(`document.querySelector('.view:not([hidden]) h1')`);
        await new Promise((resolve) => setTimeout(resolve, 300));
        assert.deepEqual(await person.faults(), [], `${place} ${theme}`);
        await shot(page, `phone-${theme}${place.replace(/[#/]+/g, '-')}`);
      }
    }
  },

  async 'a quiz of twenty, by keys alone, at 400 pixels'({ visitor, shot }) {
    const person = await visitor();
    const { page } = person;
    await page.show({ width: 400, height: 800 });
    await person.visit('#/quiz');
    await person.tabTo('Start');
    await page.press('Enter');
    let wrong = 0;
    for (let number = 1; number <= 20; number += 1) {
      await page.holds(`document.querySelector('#question h2')?.textContent.startsWith('${number}. ') && document.activeElement.matches('.answer input')`);
      const ask = await page.value(`document.querySelector('#question p').textContent`);
      // Whatever can be read as an answer is one.
      for (const guess of ['a', 'no', 'view', 'float32', '1', '1 2']) {
        await page.value(`document.querySelector('.answer .verdict').textContent = ''`);
        for (let i = 0; i < 7; i += 1) await page.press('Backspace');
        await page.type(`${guess}\n`);
        await page.holds(`document.querySelector('.answer .verdict').textContent !== ''`);
        if (await page.value(`document.querySelector('.answer .verdict').matches('.good, .fault')`)) break;
      }
      const seen = await page.value(`(() => {
        const boxes = [...document.querySelectorAll('.answer input, .answer .verdict')].map((e) => e.getBoundingClientRect());
        const picture = document.querySelector('#question svg');
        return {
          together: boxes.every((box) => box.top >= 0 && box.bottom <= innerHeight),
          fits: document.documentElement.scrollWidth <= innerWidth,
          explained: document.querySelector('.answer .verdict').matches('.good') || Boolean(picture),
        };
      })()`);
      assert.deepEqual(seen, { together: true, fits: true, explained: true }, `question ${number}: ${ask}`);
      if (await page.value(`document.querySelector('.answer .verdict').matches('.fault')`)) wrong += 1;
      if (wrong === 1) await shot(page, 'quiz-400');
      await page.press('Enter');
    }
    const score = await page.value(`document.querySelector('#quiz .note').textContent`);
    assert.match(score, new RegExp(`^${20 - wrong} of 20 right\\. The same questions again: tensorsh quiz --seed \\d+$`));
    assert.ok(wrong > 0, 'a picture was seen');
    return `${20 - wrong} of 20 right`;
  },

  async 'blank parts of a picture are clicked, filled in and marked'({ visitor, shot }) {
    const person = await visitor();
    const { page } = person;
    await person.visit();
    await person.enter('x = torch.arange(6).view(2, 3)');
    await person.enter("blank(x.t(), 'index', 'stride')");
    await page.holds(`document.querySelectorAll('.blanks input').length === 7`);
    await page.click('svg .at[aria-label^="Blank 3"]');
    await page.holds(`document.activeElement === document.querySelectorAll('.blanks input')[2]`);
    await page.type('1 0\n');
    await page.holds(`document.querySelectorAll('.blanks label')[2].dataset.verdict === 'right'`);
    await page.type('0,1\n');
    await page.holds(`document.querySelectorAll('.blanks label')[3].dataset.verdict === 'wrong'`);
    await shot(page, 'blanks');
    await person.press('Show');
    await page.holds(`!document.querySelector('.blanks') && document.querySelector('.picture').textContent.includes('[1, 3]')`);
  },

  async 'a sum is followed to its elements'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const title = (text) => page.holds(`[...document.querySelectorAll('.picture .scroll')].at(-1)?.getAttribute('aria-label') === ${JSON.stringify(text)}`);
    const last = `[...document.querySelectorAll('.picture')].at(-1)`;
    await person.enter('x = torch.arange(1, 7).view(2, 3)');
    for (const [width, theme] of [[1600, 'light'], [400, 'dark']]) {
      await page.show({ width, theme });
      await page.value(`document.querySelector('#play .cm-content').focus()`);
      await person.enter('origin(x[[1, 0]].sum(1))');
      await title('element [0] of x[[1, 0]].sum(1) = 15');
      // The second element of the sum, then by a key an element of the step before it.
      await page.value(`${last}.querySelector('[data-choice="7"]').dispatchEvent(new MouseEvent('click', { bubbles: true }))`);
      await title('element [1] of x[[1, 0]].sum(1) = 6');
      await page.value(`${last}.querySelector('[data-choice="5"]').focus()`);
      await page.press('Enter');
      await title('element [1, 2] of x[[1, 0]] = 3');
      assert.deepEqual(await person.faults(), []);
      await shot(page, `origin-${width}`);
    }
  },

  async 'the keyboard alone is enough'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    await person.enter('explain(torch.arange(4).view(2, 2))');
    // Out of the editor, which keeps Tab for itself while something stands in it.
    await page.type('1 + 1');
    await page.press('Escape');
    const stops = await person.tabTo('Start afresh');
    assert.ok(stops.some(({ name }) => name === 'Open files …'));
    assert.deepEqual(stops.filter(({ isSeen }) => !isSeen), [], 'the focus is always seen');
    await page.value(`document.activeElement.blur(), scrollTo(0, 0)`);
    await page.value(`document.querySelector('.skip').focus()`);
    await shot(page, 'skip');
    await page.press('Enter');
    assert.equal(await page.value(`document.activeElement.id`), 'content');
    await person.tabTo('Prompt', 80, 'Shift+Tab');
    await person.tabTo('Lessons');
    await page.press('Enter');
    await page.holds(`document.activeElement.matches('#lessons h1')`);
    await person.tabTo('What a storage is');
    await page.press('Enter');
    await page.holds(`document.activeElement.textContent === 'What a storage is' && document.activeElement.tagName === 'H1'`);
    await page.holds(`document.querySelector('#lessons .block svg')`);
    await person.tabTo('Try it');
    await page.press('Enter');
    await page.holds(`document.activeElement.closest('.exercise .prompt') && document.querySelector('#exercise-1 .entry')`);
    await page.type('120\n');
    await page.holds(`document.querySelector('.verdict.good')`);
    assert.deepEqual(await person.mute(), []);
    // Cells of a picture: Tab comes to one, arrows go on.
    await page.open(`${person.origin}#/`);
    await page.value(`document.querySelector('#log .picture .at[tabindex="0"]').focus()`);
    const cell = () => page.value(`document.activeElement.getAttribute('aria-label')`);
    const first = await cell();
    await page.press('ArrowRight');
    assert.notEqual(await cell(), first);
    assert.ok(await page.value(`document.querySelectorAll('.at.lit').length > 0`));
  },

  async 'a screen reader has something to say everywhere'({ visitor }) {
    const person = await visitor();
    const { page } = person;
    for (const place of ['', '#/lessons', '#/lessons/views', '#/pages', '#/pages/session-storage', '#/pages/rhai']) {
      await person.visit(place);
      await page.holds(`document.querySelector('.view:not([hidden]) h1')`);
      await new Promise((resolve) => setTimeout(resolve, 500));
      assert.deepEqual(await person.mute(), [], place);
      const heard = await page.heard();
      assert.equal(heard.filter(({ role }) => role === 'main').length, 1, place);
      assert.ok(heard.some(({ role }) => role === 'heading'), place);
    }
    await person.visit();
    const heard = await page.heard();
    assert.ok(heard.some(({ role, name }) => role === 'log' && name === 'Session'));
    assert.ok(heard.some(({ role, name }) => role === 'textbox' && name === 'Input'));
  },

  async 'nothing is lost where nothing may be kept'({ visitor }) {
    const person = await visitor();
    await person.page.ask('Page.addScriptToEvaluateOnNewDocument', {
      source: `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('no', 'SecurityError'); } });`,
    });
    await person.visit();
    await person.enter('1 + 2');
    await person.page.press('ArrowUp');
    assert.equal(await person.page.value(`document.querySelector('#prompt .cm-line').textContent`), '1 + 2');
  },

  async 'what prints without end fills nothing'({ visitor }) {
    const person = await visitor();
    await person.visit();
    await person.page.type('for i in range(300000): print(i, "abcdefgh")\n\n');
    await person.page.holds(`document.querySelector('#log .entry')`);
    await person.idle(60_000);
    const text = await person.page.value(`document.querySelector('#log').textContent`);
    assert.ok(text.length < 300_000, `${text.length}`);
    assert.ok(text.includes('more characters were printed'), 'the page says what it leaves out');
    assert.ok(text.includes('299999 abcdefgh'), 'the end is shown');
    // Wide lines of a long output can be scrolled to.
    await person.enter('for i in range(3000): print("wide " * 60)\n');
    const [reach, room] = await person.page.value(`(() => { const output = [...document.querySelectorAll('#log .output')].at(-1); return [output.scrollWidth, output.clientWidth]; })()`);
    assert.ok(reach > 2 * room, `${reach} of ${room}`);
  },
};

/** The sections of a page, each with the sessions below its heading. */
function sections(text) {
  const found = [];
  for (const token of lexer(text)) {
    if (token.type === 'heading') found.push({ title: token.text, blocks: [] });
    else if (token.type === 'code' && ['pycon', 'rhai-session'].includes(token.lang)) found.at(-1).blocks.push(token.text);
  }
  return found.filter(({ blocks }) => blocks.length > 0);
}

/** What is recorded: every input with its output, or the last line of its error. */
function recorded(text) {
  const inputs = [];
  for (const { language, source, output } of pieces(text)) {
    if (language) inputs.push({ source, said: '' });
    else inputs.at(-1).said = output.startsWith('Traceback') ? output.trimEnd().split('\n').at(-1) : output.trimEnd();
  }
  return inputs;
}

function comparable({ source, output, error }) {
  if (error === null) return { source, said: output };
  const [line] = error.split('\n').filter((text) => /^\w+(Error|Exception|Warning|Interrupt)\b/.test(text)).slice(-1);
  return { source, said: line ?? error };
}

async function run(site, shots, wanted) {
  mkdirSync(shots, { recursive: true });
  let served = await serve(site);
  const origin = `http://127.0.0.1:${served.port}/`;
  const stopServer = () => new Promise((resolve) => {
    served.server.close(resolve);
    served.server.closeAllConnections();
  });
  const startServer = async () => { served = await serve(site, new URL(origin).port); };
  const isKept = (entry) => entry.isFile() && entry.name !== 'sw.js' && !/[/\\]library([/\\]|$)/.test(entry.parentPath);
  const files = readdirSync(site, { recursive: true, withFileTypes: true }).filter(isKept).length;
  const browser = new Browser();
  let [passed, failed] = [0, 0];
  try {
    for (const [name, test] of Object.entries(tests).filter(([name]) => name.includes(wanted))) {
      const people = [];
      const visitor = async () => {
        const page = await browser.page({ context: await browser.context() });
        await page.show({ width: 1280 });
        people.push(new Person(page, origin));
        return people.at(-1);
      };
      const shot = (page, file, options) => page.shot(join(shots, `${file}.png`), options);
      try {
        const began = Date.now();
        const told = await test({ browser, site, visitor, shot, stopServer, startServer, files });
        const complaints = people.flatMap(({ page }) => page.complaints(origin));
        assert.deepEqual(complaints, [], 'the browser has nothing to complain of');
        console.log(`ok      ${name} (${Date.now() - began} ms)${told ? `: ${told}` : ''}`);
        passed += 1;
      } catch (error) {
        console.log(`FAILED  ${name}\n${error.stack.slice(0, 4000)}`);
        if (people.length > 0) await people.at(-1).page.shot(join(shots, 'failed.png')).catch(() => {});
        failed += 1;
      }
      await Promise.all(people.map(({ page }) => page.close()));
    }
  } finally {
    await browser.close();
    await stopServer();
  }
  console.log(`${passed} passed, ${failed} failed`);
  return failed === 0 && passed > 0;
}

const [site, shots, wanted = ''] = process.argv.slice(2);
if (!site || !shots) {
  console.error('usage: node tests/web/main.mjs SITE SHOTS [NAME]');
  process.exit(2);
}
if (!installed()) {
  console.error('nobody looked at the page: there is no Chromium here');
  process.exit(1);
}
process.exitCode = (await run(site, shots, wanted)) ? 0 : 1;
