// What this browser keeps between visits: the history, the language, what was learnt. Where it may keep nothing, as in some
// private windows, everything works, and is forgotten with the page.

const PREFIX = 'tensorsh.';
const memory = new Map();

/** What was kept under a name, or `otherwise`. */
export function kept(name, otherwise) {
  if (memory.has(name)) return memory.get(name);
  try {
    const text = localStorage.getItem(PREFIX + name);
    return text === null ? otherwise : JSON.parse(text);
  } catch {
    return otherwise;
  }
}

export function keep(name, value) {
  memory.set(name, value);
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Not allowed, or no room: it is kept as long as the page is open.
  }
}

const LONGEST = 1000;

/** What was typed, oldest first, and where in it the arrows are. */
export class Past {
  #entries = kept('history', []);
  #at = null;
  #draft = '';

  add(text) {
    this.#at = null;
    if (text === '' || text === this.#entries.at(-1)) return;
    // Another page may have added to it.
    this.#entries = [...kept('history', this.#entries), text].slice(-LONGEST);
    keep('history', this.#entries);
  }

  /** The entry before the present one; what is being typed is kept for the way back. Nothing at the oldest. */
  earlier(typed) {
    const at = (this.#at ?? this.#entries.length) - 1;
    if (at < 0) return null;
    if (this.#at === null) this.#draft = typed;
    this.#at = at;
    return this.#entries[at];
  }

  later() {
    if (this.#at === null) return null;
    this.#at += 1;
    if (this.#at < this.#entries.length) return this.#entries[this.#at];
    this.#at = null;
    return this.#draft;
  }

  /** Something else was typed: the next arrow begins at the newest again. */
  leave() {
    this.#at = null;
  }
}
