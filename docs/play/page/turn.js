// "Change by hand" below a picture of a layout: size, stride, offset and dtype, a byte and its bits, and the order of
// reading. The session decides what is possible and draws it; this keeps the numbers and shows what it says.

import { button, make } from './dom.js';

/** The pause between two elements while the reading order plays, in milliseconds. */
const PACE = 700;

/** `hand` has `ask`, and where there is a prompt `language`, `insert(line)` and `ran(line, events)`. */
export function changeByHand(id, pictures, hand) {
  const panel = make('details', { class: 'turn', 'aria-label': 'Change by hand' }, make('summary', { text: 'Change by hand' }));
  panel.addEventListener('toggle', () => new Turn(panel, id, pictures, hand), { once: true });
  return panel;
}

class Turn {
  #id;
  #pictures;
  #hand;
  #panel;
  #figure = null;
  #fields = make('div', { class: 'fields' });
  #told = make('p', { class: 'note', role: 'status' });
  #lines = make('div', { class: 'fields' });
  #read = make('output', { class: 'note' });
  #play = button('Play reading order', () => this.#toggle());
  #timer = null;
  /** The last answer, and how many elements of its order were read. */
  #answer = {};
  #count = 0;
  #place = null;
  #layout = '';
  #last = Promise.resolve();

  constructor(panel, id, pictures, hand) {
    [this.#panel, this.#id, this.#pictures, this.#hand] = [panel, id, pictures, hand];
    const reading = make('div', { class: 'fields' }, make('div', {}, this.#play, button('Next element', () => this.#next()), this.#read));
    panel.append(this.#fields, this.#told, this.#lines, reading);
    this.#ask({});
  }

  /** Asks one thing after the other, each with the numbers that the one before gave. */
  #ask(what) {
    this.#panel.setAttribute('aria-busy', 'true');
    const asked = this.#last.then(() => this.#answered(what)).catch(() => {
      this.#told.textContent = 'The session of this picture is gone.';
    }).then(() => this.#panel.setAttribute('aria-busy', String(this.#last !== asked)));
    this.#last = asked;
  }

  async #answered(what) {
    const { panel, state, byte } = this.#answer;
    const all = [];
    const request = { ask: 'turn', id: this.#id, language: this.#hand.language?.() ?? 'python', panel, state, byte, ...what };
    const answer = await this.#hand.ask(request, (events) => all.push(...events));
    if (answer.ran && this.#hand.ran) this.#hand.ran(answer.ran, all);
    else this.#pictures.take(all);
    this.#told.textContent = answer.refused ?? answer.stopped ?? '';
    if (answer.refused) return;
    this.#answer = answer;
    this.#draw();
  }

  #draw() {
    const { panel: id, svg, alt, state, unit, step, dtypes, codes, byte, value, nbytes } = this.#answer;
    if (this.#figure) this.#pictures.redraw({ id, svg, alt }, true);
    else {
      this.#figure = this.#pictures.add({ id, svg, alt });
      this.#panel.append(this.#figure);
      // What others changed is also in the fields.
      this.#figure.addEventListener('redrawn', () => this.#ask({}));
      const choose = ({ target }) => {
        const cell = target.closest('.at');
        if (cell) this.#ask({ byte: cell.dataset.at * this.#answer.unitBytes });
      };
      this.#figure.addEventListener('click', choose);
      this.#figure.addEventListener('keydown', (event) => event.key === 'Enter' && choose(event));
    }
    const active = document.activeElement;
    const focused = active?.getAttribute('aria-label');
    // What is being typed stays.
    const draft = active?.defaultValue === undefined || active.value === active.defaultValue ? null : active.value;
    const change = (...words) => this.#ask({ change: words });
    const dimension = (size, d) => make('div', { role: 'group', 'aria-label': `Dimension ${d}` },
      make('b', { text: `dim ${d}` }),
      stepper(`Size of dimension ${d}`, 'size', size, 1, (to) => change('size', d, to)),
      stepper(`Stride of dimension ${d}, in ${unit}s`, 'stride', state.stride[d], step, (to) => change('stride', d, to)),
      d + 1 < state.size.length ? named(`Swap dimensions ${d} and ${d + 1}`, 'Swap', () => change('swap', d, d + 1)) : null,
      named(`Remove dimension ${d}`, 'Remove', () => change('remove', d)));
    const dtype = make('select', { 'aria-label': 'Dtype', onchange: () => change('dtype', dtype.value) },
      ...dtypes.map((name) => make('option', { text: name, selected: name === state.dtype })));
    const bits = [7, 6, 5, 4, 3, 2, 1, 0].map((bit) => button(value >> bit & 1, () => this.#ask({ set: value ^ 1 << bit }), {
      'aria-label': `Bit ${bit} of byte ${byte}`, 'aria-pressed': String(Boolean(value >> bit & 1)), class: 'bit',
    }));
    this.#fields.replaceChildren(
      ...state.size.map(dimension),
      make('div', {},
        stepper(`Offset, in ${unit}s`, 'offset', state.offset, step, (to) => change('offset', to)),
        make('label', {}, 'dtype ', dtype),
        named('Add a dimension', 'Add dim', () => change('add', 0)),
        button('Start over', () => this.#ask({ state: null }))),
      nbytes ? make('div', { role: 'group', 'aria-label': 'One byte of the storage' },
        stepper('Byte', 'byte', byte, 1, (to) => this.#ask({ byte: Math.min(Math.max(to, 0), nbytes - 1) })),
        stepper(`Value of byte ${byte}`, `= 0x${value.toString(16).padStart(2, '0')} =`, value, 1, (to) => this.#ask({ set: to & 255 })),
        make('span', {}, ...bits)) : '');
    const again = focused && [...this.#fields.querySelectorAll('[aria-label]')].find((field) => field.getAttribute('aria-label') === focused);
    if (again) again.focus({ preventScroll: true });
    if (again && draft !== null) again.value = draft;
    this.#lines.replaceChildren(...codes.map((code) => make('div', {}, make('code', { text: code }),
      this.#hand.insert && named(`Insert ${code}`, code.includes('.as_strided(') ? 'Insert as_strided' : 'Insert', () => this.#hand.insert(code)))));
    if (codes.length === 0) this.#lines.textContent = 'No variable is on this storage; with one, a line of code makes this layout.';
    const layout = JSON.stringify(state);
    if (layout !== this.#layout) [this.#layout, this.#count, this.#place, this.#read.textContent] = [layout, 0, null, ''];
    this.#mark();
  }

  #mark() {
    this.#figure.querySelectorAll('.at').forEach((cell) => cell.classList.toggle('read', cell.dataset.at === String(this.#place)));
  }

  #toggle() {
    if (this.#timer) this.#rest();
    else {
      this.#play.textContent = 'Pause';
      this.#timer = setInterval(() => this.#next(), PACE);
      this.#next();
    }
  }

  #rest() {
    clearInterval(this.#timer);
    this.#timer = null;
    this.#play.textContent = 'Play reading order';
  }

  /** Shows the next element: its cell, and how its place is computed. */
  #next() {
    const { order = [] } = this.#answer;
    if (this.#count >= order.length) this.#count = 0;
    const [place, text] = order[this.#count] ?? [null, 'There is nothing to read.'];
    this.#count += 1;
    this.#read.textContent = order.length ? `${this.#count}. ${text}` : text;
    this.#place = place;
    this.#mark();
    if (this.#timer && (this.#count >= order.length || !this.#panel.isConnected)) this.#rest();
  }
}

function named(label, text, onclick) {
  return button(text, onclick, { 'aria-label': label, title: label });
}

/** A field with a number between two buttons that change it by a step. */
function stepper(label, name, value, step, set) {
  const field = make('input', { type: 'number', step, value, 'aria-label': label });
  const send = () => {
    if (field.value === field.defaultValue) return;
    if (field.value === '') field.value = value;
    field.defaultValue = field.value;
    set(Math.trunc(field.value));
  };
  field.addEventListener('change', send);
  field.addEventListener('keydown', ({ key }) => key === 'Enter' && send());
  const by = (sign, to) => named(`${label}: ${sign === '−' ? 'less' : 'more'}`, sign, () => set(to));
  return make('span', { class: 'stepper' }, `${name} `, by('−', value - step), field, by('+', value + step));
}
