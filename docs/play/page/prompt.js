// A prompt with what belongs to it: the editor, the language, the buttons, the signature of an open call. Runs what is typed
// through `run`, which its owner gives; knows nothing of what comes of it.

import { button, make, show } from './dom.js';
import { PromptEditor } from './editor.js';
import { Past, keep, kept } from './kept.js';
import { Languages } from './languages.js';
import { SIGNS } from './signs.js';

const KEYS = 'Enter runs, Shift-Enter makes a line, Tab completes, arrows recall. Escape, then Tab, leaves the editor.';

let number = 0;

export class Prompt {
  #options;
  #language;
  #sign = make('span', { class: 'sign', 'aria-hidden': 'true' });
  #usages = make('div', { class: 'usages', 'aria-live': 'off' });
  #languages = new Languages((language) => this.#choose(language));
  #past = new Past();
  #stop = button('Stop', () => this.#options.stop(), { class: 'stop', hidden: true, title: 'Escape or Ctrl-C' });
  #run = button('Run', () => this.#editor.enter(), { class: 'run', title: 'Enter' });
  #editor;
  element;

  /** `run(language, source)` runs; `ask` reaches the session; `stop()` says whether there was something to stop. */
  constructor(options) {
    this.#options = options;
    number += 1;
    const keys = make('p', { class: 'keys', id: `keys-${number}`, text: KEYS });
    const place = make('div', { class: 'editor' });
    const complete = button('Complete', () => this.#editor.complete(), { class: 'touch' });
    const earlier = button('Earlier', () => this.#editor.earlier(), { class: 'touch' });
    const below = make('div', { class: 'below' }, this.#languages.element, complete, earlier, this.#stop, this.#run);
    this.element = make('form', { class: 'prompt', onsubmit: (event) => event.preventDefault() },
      make('div', { class: 'line' }, this.#sign, place), this.#usages, below, keys);
    this.#language = kept('language', 'python');
    this.#editor = new PromptEditor(place, {
      label: options.label,
      describedBy: keys.id,
      ask: options.ask,
      language: () => this.#language,
      submit: (source) => this.submit(source),
      stop: options.stop,
      help: options.help ?? (() => {}),
      past: this.#past,
      signature: (usages) => this.#usages.replaceChildren(...usages.slice(0, 3).map((text) => make('div', { text }))),
    });
    this.language = this.#language;
  }

  #choose(language) {
    this.language = language;
    keep('language', language);
    this.#editor.focus();
  }

  get language() {
    return this.#language;
  }

  set language(language) {
    this.#language = language;
    this.#languages.chosen = language;
    [this.#sign.textContent] = SIGNS[language];
    this.#editor.recolour();
  }

  /** Runs a text; what is not finished comes back into the editor. */
  async submit(source) {
    this.#past.add(source);
    const answer = await this.#options.run(this.#language, source);
    if (!answer) return;
    if (answer.language) this.language = answer.language;
    if (answer.unfinished) {
      this.language = answer.unfinished.language;
      this.#editor.give(answer.unfinished.source);
    }
    if (this.#editor.hasFocus) show(this.element);
  }

  get text() {
    return this.#editor.text;
  }

  set text(text) {
    this.#editor.text = text;
  }

  focus() {
    this.#editor.focus();
  }

  /** Shows whether something runs. */
  set isRunning(isRunning) {
    this.#stop.hidden = !isRunning;
    this.#run.hidden = isRunning;
  }
}
