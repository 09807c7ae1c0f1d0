// The choice between the two languages.

import { make } from './dom.js';

const NAMES = { python: 'Python', rhai: 'Rhai' };

let number = 0;

export class Languages {
  #radios;
  element;

  /** `choose(language)` hears of a choice that was made here. */
  constructor(choose) {
    number += 1;
    const name = `language-${number}`;
    const radio = (value) => make('input', { type: 'radio', name, value, onchange: () => choose(value) });
    this.#radios = Object.fromEntries(Object.keys(NAMES).map((language) => [language, radio(language)]));
    const label = ([language, text]) => make('label', {}, this.#radios[language], make('span', { text }));
    this.element = make('fieldset', { class: 'languages' },
      make('legend', { class: 'unseen', text: 'Language' }), ...Object.entries(NAMES).map(label));
  }

  set chosen(language) {
    this.#radios[language].checked = true;
  }
}
