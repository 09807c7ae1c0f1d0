// Pictures from the session: put into the page, replaced in place when what they show changes, and walked through by pointer
// and arrow keys. What a picture shows it says itself; nothing is known here of tensors.

import { button, make } from './dom.js';
import { changeByHand } from './turn.js';

/** What a picture may be made of. It is the session's own, but the text in it is the user's, or a link's. */
const ELEMENTS = new Set(['svg', 'g', 'rect', 'text', 'tspan', 'title', 'line', 'path', 'circle', 'polyline', 'polygon']);
const ATTRIBUTES = /^(aria-[a-z]+|data-[a-z]+|class|role|tabindex|style|x|y|x1|x2|y1|y2|cx|cy|r|rx|ry|d|points|width|height|viewBox|xmlns|transform|fill-opacity|text-anchor|xml:space)$/;

/** An SVG text as an element; styles and scripts in it are left out, for the page has its own. */
export function drawn(svg) {
  const { documentElement } = new DOMParser().parseFromString(svg, 'image/svg+xml');
  if (documentElement.localName !== 'svg') throw new Error('The session drew something that is no picture.');
  const picture = document.importNode(documentElement, true);
  for (const element of [...picture.querySelectorAll('*')]) if (!ELEMENTS.has(element.localName)) element.remove();
  for (const element of [picture, ...picture.querySelectorAll('*')]) {
    for (const { name } of [...element.attributes]) if (!ATTRIBUTES.test(name)) element.removeAttribute(name);
  }
  // Of many cells, one is a stop of the Tab key.
  [...picture.querySelectorAll('.at[tabindex]')].slice(1).forEach((cell) => cell.setAttribute('tabindex', '-1'));
  return picture;
}

/** The width that pictures have at the place where entries stand now, in pixels; nothing where none is in view. */
export function column() {
  const entries = document.querySelectorAll('.view:not([hidden]) .entry, #log');
  return [...entries].find((entry) => entry.clientWidth > 0)?.clientWidth;
}

/** How long a window must keep its width before pictures are drawn anew, in milliseconds. */
const SETTLED = 200;

/** Calls back when the width of the window has changed. */
export function whenResized(callback) {
  let width = innerWidth;
  let waiting;
  addEventListener('resize', () => {
    if (innerWidth === width) return;
    width = innerWidth;
    clearTimeout(waiting);
    waiting = setTimeout(callback, SETTLED);
  });
}

/** Marks what goes on to the right of its box: it fades there, as a sign that it scrolls. */
export function mark(box) {
  box.classList.toggle('more', box.scrollLeft + box.clientWidth < box.scrollWidth - 2);
}

const boxes = new ResizeObserver((changed) => changed.forEach(({ target }) => mark(target)));

/** Something that may be wider than its place, in a box that scrolls and says so. */
export function scrolling(label, ...content) {
  const box = make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': label }, ...content);
  box.addEventListener('scroll', () => mark(box));
  boxes.observe(box);
  return box;
}

/** The pictures of one session, by their numbers. */
export class Pictures {
  #shown = new Map();
  /** Called with a picture's number and that of the item that was chosen in it. */
  chosen = () => {};

  /** `ask` reaches the session, which draws them anew for another width. */
  constructor(ask) {
    whenResized(() => {
      if (this.#shown.size > 0) ask({ ask: 'fit', width: column() }, (events) => this.take(events)).catch(() => {});
    });
  }

  /** What "Change by hand" needs of the session that draws the pictures. */
  hand = null;

  /** A picture that is new; one that `turns` shows a layout. Its blank parts, if it has any, are judged by `ask`. */
  add({ id, svg, alt, turns, blanks }, ask) {
    // It scrolls by itself where it is wide; what changes in it later is not read out.
    const figure = make('figure', { class: 'picture', 'aria-live': 'off' });
    this.#shown.set(id, figure);
    const choose = ({ target, key, type }) => {
      const choice = target.closest?.('[data-choice]')?.dataset.choice;
      if (choice !== undefined && (type === 'click' || key === 'Enter' || key === ' ')) this.chosen(id, Number(choice));
    };
    figure.addEventListener('click', choose);
    figure.addEventListener('keydown', choose);
    this.#put(figure, svg, alt);
    if (turns && this.hand) figure.append(changeByHand(id, this, this.hand));
    if (blanks) this.#fill(figure, id, blanks, ask);
    return figure;
  }

  /** Fields for the blank parts below a picture. A click on a blank cell leads to its field; Enter marks one and goes on. */
  #fill(figure, id, blanks, ask) {
    const whole = button('Show', async () => {
      const { svg, alt } = await ask({ ask: 'solve', id });
      if (!svg) return;
      figure.querySelector('.blanks').remove();
      this.#put(figure, svg, alt);
    });
    const fields = blanks.map((label, blank) => {
      const input = make('input', { autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
      const mark = make('span', { role: 'status' });
      const field = make('label', {}, `${blank + 1}. ${label} `, input, mark);
      input.addEventListener('change', async () => {
        const { verdict } = await ask({ ask: 'fill', id, blank, text: input.value });
        field.dataset.verdict = verdict;
        mark.textContent = verdict === 'right' ? ' ✓' : ' ✗';
      });
      input.addEventListener('keydown', ({ key }) => {
        if (key === 'Enter') (fields[blank + 1]?.querySelector('input') ?? whole).focus();
      });
      return field;
    });
    figure.append(make('div', { class: 'blanks' }, ...fields, whole));
    figure.addEventListener('click', ({ target }) => {
      const number = /^Blank (\d+)/.exec(target.closest?.('.at')?.getAttribute('aria-label'))?.[1];
      if (number) fields[number - 1].querySelector('input').focus();
    });
  }

  /**
   * One that shows something else now, or the same in another width; the cell that has the focus keeps it. `isAsked` if its
   * own controls asked for it.
   */
  redraw({ event, id, svg, alt }, isAsked = false) {
    const figure = this.#shown.get(id);
    if (!figure) return;
    if (!isAsked) figure.dispatchEvent(new Event('redrawn'));
    const cells = () => [...figure.querySelectorAll(':scope > .scroll .at')];
    const focused = cells().indexOf(document.activeElement);
    this.#put(figure, svg, alt);
    if (focused >= 0) cells()[focused]?.focus({ preventScroll: true });
    if (event === 'refitted') return;
    figure.classList.remove('changed');
    // Reading the layout in between makes the animation start over.
    void figure.offsetWidth;
    figure.classList.add('changed');
  }

  /** One whose tensor no longer exists: it stays as it was, and says so, unless the tensor comes back. */
  gone({ id }) {
    const figure = this.#shown.get(id);
    figure?.querySelector(':scope > details:not([open])')?.remove();
    figure?.append(make('figcaption', { text: 'Not updated: this tensor no longer exists.' }));
  }

  /** What events say of pictures that are there already. */
  take(events) {
    for (const event of events) {
      if (event.event === 'redrawn' || event.event === 'refitted') this.redraw(event);
      if (event.event === 'gone') this.gone(event);
    }
  }

  /** The session is another one: what was drawn stays as it is. */
  forget() {
    this.#shown.clear();
  }

  #put(figure, svg, alt) {
    const picture = drawn(svg);
    const box = scrolling(firstLine(alt), picture);
    // The parts of a picture speak for themselves; without any, its text does.
    const speaks = picture.querySelector('[role=img], [role=group]');
    if (!speaks) picture.setAttribute('aria-hidden', 'true');
    figure.querySelectorAll(':scope > :not(details, .blanks)').forEach((part) => part.remove());
    figure.prepend(box, ...(speaks ? [] : [make('pre', { class: 'unseen', text: alt })]));
  }
}

function firstLine(text) {
  return text.split('\n', 1)[0] || 'Picture';
}

const stop = (element) => element?.closest?.('.at[tabindex]');

/** Lights what is about the same cell of the storage as what the pointer or the keyboard is at. */
function light(here) {
  document.querySelectorAll('.at.lit').forEach((cell) => cell.classList.remove('lit'));
  const picture = here?.closest('svg');
  picture?.querySelectorAll('.at').forEach((cell) => cell.classList.toggle('lit', cell.dataset.at === here.dataset.at));
}

/** The cell that an arrow key leads to: right and left in order, up and down to what is drawn there. */
function neighbour(here, key) {
  const stops = [...here.closest('svg').querySelectorAll('.at[tabindex]')];
  const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (by) return stops[stops.indexOf(here) + by];
  const box = (cell) => cell.getBoundingClientRect();
  const down = key === 'ArrowDown' ? 1 : -1;
  const far = (cell) => Math.abs(box(cell).y - box(here).y) * 1e4 + Math.abs(box(cell).x - box(here).x);
  return stops.filter((cell) => down * (box(cell).y - box(here).y) > 1).sort((a, b) => far(a) - far(b))[0];
}

/** Listens for pointer and keys in every picture there is and will be. */
export function listen() {
  document.addEventListener('pointerover', ({ target }) => light(target.closest?.('.at') ?? stop(document.activeElement)));
  document.addEventListener('focusin', ({ target }) => light(stop(target)));
  document.addEventListener('focusout', () => light(null));
  document.addEventListener('keydown', (event) => {
    const here = stop(event.target);
    if (!here || !event.key.startsWith('Arrow')) return;
    event.preventDefault();
    const to = neighbour(here, event.key);
    if (!to) return;
    here.setAttribute('tabindex', '-1');
    to.setAttribute('tabindex', '0');
    to.focus({ preventScroll: true });
    to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  });
}
