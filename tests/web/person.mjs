// Somebody at the page: what they see, type and wait for, in words. Knows how the page is made; what is expected of it stands
// in main.mjs.

import { readFileSync } from 'node:fs';

const LOOK = readFileSync(new URL('../pages/look.js', import.meta.url), 'utf8');

export class Person {
  constructor(page, origin) {
    this.page = page;
    this.origin = origin;
  }

  /** Opens a place of the page and waits until the session is there. */
  async visit(place = '') {
    await this.page.open(this.origin + place);
    await this.ready();
  }

  async ready() {
    await this.page.holds(`document.querySelector('#state')?.dataset.state === 'idle'`, 15_000);
  }

  /** Waits until nothing runs and nothing waits to be run. */
  async idle(milliseconds) {
    const isIdle = `document.querySelector('#state').dataset.state === 'idle' && !document.querySelector('.stop:not([hidden])')`;
    await this.page.holds(isIdle, milliseconds);
  }

  /** Types one input, and gives what it printed. */
  async enter(text) {
    const before = await this.page.value(`document.querySelectorAll('#log .entry').length`);
    await this.page.type(`${text}\n`);
    await this.page.holds(`document.querySelectorAll('#log .entry').length > ${before}`);
    await this.idle();
    return (await this.entries()).at(-1).map(({ output }) => output).join('\n');
  }

  /** The session as it stands: for each entry its inputs, each with its output, error, warning and pictures. */
  entries(within = '#log') {
    return this.page.value(`[...document.querySelectorAll(${JSON.stringify(within)} + ' .entry')].map((entry) => {
      const inputs = [];
      for (const element of entry.children) {
        if (element.matches('.input')) {
          const code = element.querySelector('code').cloneNode(true);
          code.querySelectorAll('.kind-prompt').forEach((sign) => sign.replaceWith('\\n'));
          inputs.push({ source: code.textContent, output: '', error: null, warnings: [], pictures: 0, fault: element.querySelector('mark')?.textContent ?? null });
          continue;
        }
        const last = inputs.at(-1);
        if (!last) continue;
        if (element.matches('.warning')) last.warnings.push(element.textContent);
        else if (element.matches('.error')) last.error = element.textContent;
        else if (element.matches('.picture')) last.pictures += 1;
        else if (element.matches('.output')) last.output += (last.output ? '\\n' : '') + element.textContent;
      }
      return inputs;
    })`);
  }

  /** Presses a button by what stands on it. */
  async press(name, within = 'body') {
    const found = `[...document.querySelectorAll(${JSON.stringify(`${within} button, ${within} a`)})].find((e) => e.getClientRects().length && e.textContent.trim() === ${JSON.stringify(name)})`;
    await this.page.holds(`Boolean(${found})`);
    await this.page.value(`(() => {
      const element = ${found};
      element.setAttribute('data-pressed', '');
      element.addEventListener('click', () => element.removeAttribute('data-pressed'), { once: true, capture: true });
    })()`);
    // The page may move between the look and the click, which then goes elsewhere.
    for (let tries = 0; tries < 5; tries += 1) {
      await this.page.click('[data-pressed]');
      if (await this.page.value(`document.querySelector('[data-pressed]') === null`)) return;
    }
    throw new Error(`"${name}" could not be pressed`);
  }

  /** Goes on with Tab until what has the focus is called `name`; gives every stop on the way. */
  async tabTo(name, most = 80, key = 'Tab') {
    const stops = [];
    for (let i = 0; i < most; i += 1) {
      await this.page.press(key);
      const stop = await this.page.value(`(() => {
        const e = document.activeElement, style = getComputedStyle(e);
        const label = e.labels?.[0]?.textContent;
        const isMarked = (at) => at && (getComputedStyle(at).outlineStyle !== 'none' || getComputedStyle(at).boxShadow !== 'none');
        return {
          tag: e.tagName, name: (e.getAttribute('aria-label') ?? label ?? e.textContent).trim().slice(0, 60),
          isSeen: e === document.body || isMarked(e) || isMarked(e.nextElementSibling) || isMarked(e.closest('.prompt')) || e.matches('.at'),
        };
      })()`);
      stops.push(stop);
      if (stop.name === name) return stops;
    }
    throw new Error(`Tab did not lead to ${name}: ${stops.map((stop) => stop.name).join(' | ')}`);
  }

  /** What does not stand out, or sticks out. */
  async faults() {
    await this.page.value(`${LOOK}; undefined`);
    const look = async () => [...(await this.page.value('look.contrast()')), ...(await this.page.value('look.width()'))];
    const found = await look();
    if (found.length === 0) return found;
    // A button under the pointer changes its colours just after it was pressed.
    await new Promise((resolve) => setTimeout(resolve, 500));
    return look();
  }

  /** What a screen reader finds nothing to say about. */
  async mute() {
    const spoken = new Set(['button', 'link', 'textbox', 'radio', 'img', 'image', 'group', 'region', 'log', 'heading', 'graphics-document', 'navigation', 'complementary']);
    return (await this.page.heard()).filter(({ role, name }) => spoken.has(role) && name.trim() === '').map(({ role }) => `a ${role} without a name`);
  }
}
