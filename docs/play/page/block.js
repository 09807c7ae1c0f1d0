// Sessions on a page, which can be run and changed where they stand. Those of one section belong together: to run one, a
// fresh session runs the section from its beginning up to there, so that what is shown is what anyone gets.

import { Conversation, Gone } from './conversation.js';
import { button, make } from './dom.js';
import { sessionEditor } from './editor.js';
import { packed } from './link.js';
import { Entry } from './log.js';
import { Pictures } from './picture.js';
import { inputsOf, pieces } from './signs.js';

/** A session besides the prompt's, begun when something needs it. */
class Besides {
  #conversation = null;
  ask = (request, onEvents) => this.conversation.ask(request, onEvents);
  pictures = new Pictures(this.ask);
  constructor() {
    this.pictures.hand = { ask: this.ask };
  }

  /** What is told when the session ended instead of stopping. */
  onLost = () => {};
  onState = () => {};

  get conversation() {
    this.#conversation ??= new Conversation({
      state: (state) => this.onState(state),
      lost: (why) => {
        this.pictures.forget();
        this.onLost(why);
      },
    });
    return this.#conversation;
  }
}

/** The session of whoever reads, for all pages and lessons; a section that is run begins it anew. */
export const reader = new Besides();
/** The session of whoever does an exercise, which reading on leaves alone. */
export const trial = new Besides();

/** How long anything of somebody else's lesson may run, in milliseconds. */
export const LIMIT = 30_000;

/** Stops what runs besides the prompt, and says so, unless what this gives is called before the limit. */
export function stopsIn(besides, tell) {
  const timer = setTimeout(() => {
    besides.conversation.stop();
    tell();
  }, LIMIT);
  return () => clearTimeout(timer);
}

/** The blocks between two headings. */
export class Section {
  blocks = [];
  #isRunning = false;
  #isForeign;

  /** What is somebody else's runs for a limited time. */
  constructor(isForeign = false) {
    this.#isForeign = isForeign;
  }

  /** Runs everything up to a block, in a fresh session. */
  async runTo(block) {
    if (this.#isRunning) return;
    this.#isRunning = true;
    const blocks = this.blocks.slice(0, this.blocks.indexOf(block) + 1);
    blocks.forEach((each) => each.begin());
    let isStopped = false;
    const rest = this.#isForeign ? stopsIn(reader, () => { isStopped = true; }) : () => {};
    try {
      reader.conversation.stop();
      await reader.ask({ ask: 'restart' });
      reader.pictures.forget();
      for (const each of blocks) if (!isStopped) await each.run();
      if (isStopped) block.tell(`Stopped after ${LIMIT / 1000} seconds.`);
    } catch (error) {
      if (!(error instanceof Gone)) throw error;
      block.tell('The session had to be ended. Run it again to start over.');
    }
    rest();
    blocks.forEach((each) => each.end());
    this.#isRunning = false;
  }
}

let number = 0;

export class Block {
  #section;
  #text;
  #first;
  #shown = make('div', { class: 'shown' });
  #editor = null;
  #place = make('div', { class: 'editor', hidden: true });
  #told = make('p', { class: 'note', role: 'status' });
  #buttons;
  #entry = null;
  element;

  /** `text` is the session as it stands on the page, results and all. */
  constructor(section, text) {
    number += 1;
    this.#section = section;
    this.#first = text;
    this.#text = inputsOf(text);
    section.blocks.push(this);
    const name = `Session ${number}`;
    this.#buttons = {
      run: button('Run', () => section.runTo(this), { 'aria-label': `Run ${name}` }),
      stop: button('Stop', () => reader.conversation.stop(), { hidden: true }),
      edit: button('Edit', () => this.edit(), { 'aria-label': `Edit ${name}` }),
      reset: button('Undo changes', () => this.#reset(), { hidden: true }),
      open: button('To the prompt', () => this.#open(), { title: 'Runs this section at the prompt, to go on from there' }),
    };
    this.#show(text);
    this.#shown.addEventListener('dblclick', () => this.edit());
    this.element = make('div', { class: 'block', role: 'group', 'aria-label': name },
      this.#shown, this.#place, this.#told, make('div', { class: 'buttons' }, ...Object.values(this.#buttons)));
  }

  /** As the page has it: inputs coloured when the session is there, results as they are recorded. */
  #show(text) {
    const entry = new Entry({ ask: (request) => reader.ask(request), pictures: reader.pictures });
    const event = (piece) => (piece.language ? { event: 'input', ...piece } : { event: 'text', role: 'plain', text: piece.output });
    entry.take(pieces(text).map(event));
    entry.end();
    this.#shown.replaceChildren(entry.element);
  }

  get text() {
    return this.#editor ? this.#editor.state.doc.toString() : this.#text;
  }

  get sources() {
    return pieces(this.text).filter(({ language }) => language);
  }

  edit() {
    if (this.#editor) return;
    this.#shown.hidden = true;
    this.#place.hidden = false;
    this.#buttons.edit.hidden = true;
    this.#editor = sessionEditor(this.#place, {
      text: this.#text, label: 'Session; Ctrl-Enter runs it, Escape leaves', ask: reader.ask,
      run: () => this.#section.runTo(this), leave: () => { this.#leave(); this.#buttons.edit.focus(); },
    });
    this.#editor.focus();
  }

  #leave() {
    if (!this.#editor) return;
    this.#text = this.text;
    this.#editor.destroy();
    this.#editor = null;
    this.#place.hidden = true;
    this.#shown.hidden = false;
    this.#buttons.edit.hidden = false;
    this.#buttons.reset.hidden = this.#text === inputsOf(this.#first);
  }

  #reset() {
    this.#text = inputsOf(this.#first);
    this.#show(this.#first);
    this.#buttons.reset.hidden = true;
    this.#told.textContent = '';
    this.#buttons.run.focus();
  }

  begin() {
    const hadFocus = this.#editor?.hasFocus;
    this.#leave();
    this.#told.textContent = '';
    this.#buttons.run.hidden = true;
    this.#buttons.stop.hidden = false;
    if (hadFocus) this.#buttons.stop.focus();
  }

  /** Runs it in the reader's session as it is now. */
  async run() {
    const source = this.#text;
    if (this.sources.length === 0) {
      this.tell('Nothing here begins with a sign of an input: >>> for Python, rhai> for Rhai.');
      return;
    }
    const [{ language, source: first }] = this.sources;
    const entry = new Entry({ ask: reader.ask, pictures: reader.pictures }, language, first);
    this.#entry = entry;
    this.#shown.replaceChildren(entry.element);
    const answer = await reader.ask({ ask: 'run', language, source }, (events) => entry.take(events));
    entry.end();
    if (answer.refused) this.tell(answer.refused);
    if (answer.unfinished) this.tell(`This was not run, for it is not finished: ${answer.unfinished.source}`);
  }

  end() {
    const hadFocus = document.activeElement === this.#buttons.stop;
    this.#entry?.end();
    this.#buttons.stop.hidden = true;
    this.#buttons.run.hidden = false;
    if (hadFocus) this.#buttons.edit.focus();
  }

  tell(text) {
    this.#told.textContent = text;
  }

  async #open() {
    const blocks = this.#section.blocks.slice(0, this.#section.blocks.indexOf(this) + 1);
    const sources = blocks.flatMap((block) => block.sources);
    const entries = sources.map(({ language, source }) => ({ language, source }));
    location.hash = `#s=${await packed({ language: sources.at(-1)?.language ?? 'python', entries })}`;
  }
}
