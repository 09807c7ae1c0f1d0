// Lessons in Chromium: those of others, hostile ones, and where a verdict stands.

import assert from 'node:assert/strict';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const lessons = {
  async 'a lesson of somebody else is opened'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const folder = mkdtempSync(join(tmpdir(), 'lesson-'));
    const lesson = join(folder, 'theirs.md');
    writeFileSync(lesson, `# Theirs

Some *text*.

\`\`\`pycon
>>> 1 + 1
3
\`\`\`

## Exercise: three

Say 3.

<!-- given
x = 3
-->
<!-- check
answer == x
-->

<details><summary>Hint</summary>

Three.

</details>

## Exercise: four

Say 4.

<!-- check
answer == 4
-->
`);
    await page.drop([lesson]);
    await page.holds(`document.querySelector('#lessons h1')?.textContent === 'Theirs' && document.querySelectorAll('#lessons .exercise').length === 2`);
    assert.match(await page.value('location.hash'), /^#l=[\w-]+$/);
    assert.equal(await page.value('document.title'), 'Theirs — tensorsh');
    assert.equal(await page.value(`document.querySelector('#lessons .block .output').textContent`), '3', 'it shows what it records, and runs nothing');
    await shot(page, 'lesson-of-others');
    await person.press('Run', '#lessons .block');
    await page.holds(`document.querySelector('#lessons .block .output')?.textContent === '2'`);
    await page.click('#exercise-1 .buttons .run');
    await page.holds(`document.activeElement.closest('#exercise-1 .prompt') && document.querySelector('#exercise-1 .entry')`);
    await page.type('3\n');
    await page.holds(`document.querySelector('#exercise-1 .verdict.good')`);
    assert.deepEqual(await person.faults(), []);
    assert.deepEqual(await person.mute(), []);
    // The address is the lesson, and progress is kept.
    const link = await page.value('location.href');
    await page.open(`${person.origin}#/`);
    await page.open(link);
    await page.holds(`document.querySelector('#exercise-1 .done')?.textContent === '✓ done' && document.querySelector('#exercise-2 .done').textContent === ''`);
    const other = await visitor();
    await other.visit(`${link.replace(/^.*#/, '#')}/2`);
    await other.page.holds(`document.activeElement.textContent.startsWith('Exercise: four')`);
    await other.page.open(`${person.origin}#/lessons/strides/2`);
    await other.page.holds(`document.activeElement.textContent.startsWith('Exercise: strides by heart')`);
    for (const [broken, said] of [['AAAA', 'cannot be opened'], ['%%%', 'cannot be opened']]) {
      await other.page.open(`${person.origin}#l=${broken}`);
      await other.page.holds(`document.querySelector('#lessons h1')?.textContent.includes(${JSON.stringify(said)})`);
    }
    writeFileSync(lesson, 'No title.\n');
    await page.drop([lesson]);
    await page.holds(`document.querySelector('#lessons').textContent.includes('line 1: a lesson has a title: write \`# TITLE\`')`);
  },

  async 'a hostile lesson harms nobody'({ visitor, shot }) {
    const person = await visitor();
    await person.visit();
    const { page } = person;
    const lesson = join(mkdtempSync(join(tmpdir(), 'lesson-')), 'hostile.md');
    writeFileSync(lesson, `# Hostile <img src=x onerror="window.hit = 1">

<script>window.hit = 1</script> <iframe src="https://example.org/"></iframe> ![i](https://example.org/i.png)

[a](javascript:window.hit=1) [b](data:text/html,x) [c](//example.org/) [d](https://example.org/ "t") <https://example.org/>

## log

${'*\`['.repeat(100_000)}

\`\`\`pycon
>>> torch.save(torch.ones(3), "made.pt")
>>> explain(torch.zeros(1000, 1000))
\`\`\`

\`\`\`pycon
>>> while True: pass
\`\`\`

## Exercise: <b>endless</b>

<b onclick="window.hit = 1">Do</b> it.

<!-- given
while True: pass
-->
<!-- check
[1 for _ in iter(int, 1)] == answer
-->
`);
    // Half a minute goes by in a second.
    await page.value(`{
      window.later = window.setTimeout;
      window.setTimeout = (work, time, ...rest) => window.later(work, time === 30_000 ? 1000 : time, ...rest);
    }`);
    await page.drop([lesson]);
    await page.holds(`document.querySelectorAll('#lessons .exercise').length === 1`);
    const strange = `[...document.querySelectorAll('#lessons :is(script, iframe, img, b, object, embed, form, style, [onerror], [onclick])')].map((element) => element.outerHTML)`;
    assert.deepEqual(await page.value(strange), []);
    const links = await page.value(`[...document.querySelectorAll('#lessons a')].map((link) => link.getAttribute('href').replace(/^#l=.*\\//, '#l=/'))`);
    assert.deepEqual(links, ['#/lessons', 'https://example.org/', 'https://example.org/', '#l=/1']);
    assert.equal(await page.value(`document.querySelectorAll('#log').length`), 1);
    await shot(page, 'lesson-hostile');
    const blocks = `document.querySelectorAll('#lessons .block')`;
    // A million cells are drawn in part.
    await page.value(`${blocks}[0].querySelector('button').click()`);
    await page.holds(`${blocks}[0].querySelector('svg') && ${blocks}[0].querySelector('button').hidden === false`);
    assert.ok((await page.value(`${blocks}[0].querySelectorAll('*').length`)) < 5000);
    // What is endless ends after its time, …
    await page.value(`${blocks}[1].querySelector('button').click()`);
    await page.holds(`${blocks}[1].textContent.includes('Stopped after 30 seconds.')`);
    await page.click('#exercise-1 .buttons .run');
    await page.holds(`document.querySelector('#exercise-1').textContent.includes('Stopped after 30 seconds.')`);
    // … or when it is stopped.
    await page.value(`window.setTimeout = window.later`);
    await page.value(`${blocks}[1].querySelector('button').click()`);
    await page.holds(`${blocks}[1].querySelector('button').hidden`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    await person.press('Stop', '#lessons');
    await page.holds(`!${blocks}[1].querySelector('button').hidden`);
    assert.equal(await page.value('window.hit'), undefined);
    // The prompt is as it was, and so are its files.
    await page.open(`${person.origin}#/`);
    assert.equal(await person.enter('1 + 1'), '2');
    assert.ok(!(await page.value(`document.querySelector('#files').textContent`)).includes('made.pt'));
  },

  async 'the verdict stands with its answer'({ visitor, shot }) {
    const person = await visitor();
    const { page } = person;
    for (const width of [400, 800, 1600]) {
      await page.show({ width, height: 720 });
      await person.visit('#/lessons/storage');
      await page.holds(`document.querySelectorAll('#lessons .exercise').length >= 2 && document.querySelector('#lessons .block svg')`);
      await page.click('#exercise-1 .buttons .run');
      await page.holds(`document.activeElement.closest('#exercise-1 .prompt') && document.querySelector('#exercise-1 .entry')`);
      const seen = (answer) => `(() => {
        const entry = [...document.querySelectorAll('#exercise-1 .entry')].find((entry) => entry.querySelector('.input code')?.textContent === ${JSON.stringify(answer)});
        const isSeen = (element) => element && element.getBoundingClientRect().top >= 0 && element.getBoundingClientRect().bottom <= innerHeight;
        return isSeen(entry?.querySelector('.input')) && isSeen(entry.querySelector('.verdict'));
      })()`;
      await page.type('15\n');
      await page.holds(seen('15'));
      // An answer that is longer than the window.
      await page.type('torch.arange(900)\n');
      await page.holds(seen('torch.arange(900)'));
      await shot(page, `verdict-${width}`);
      await page.type('explain(t)\n');
      await page.holds(`document.querySelector('#exercise-1 .entry svg')`);
      assert.equal(await page.value(`document.querySelectorAll('#exercise-1 .verdict.fault').length`), 2, 'it stays');
      await page.type('120\n');
      await page.holds(seen('120'));
      // What is added to the log is read out.
      assert.equal(await page.value(`document.querySelector('#exercise-1 .verdict.good').closest('[aria-live]').getAttribute('aria-live')`), 'polite');
      await page.holds(`document.activeElement.closest('#exercise-1 .prompt')`);
      assert.deepEqual(await person.faults(), []);
    }
  },
};
