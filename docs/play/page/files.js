// Files: dropped or chosen ones are put into the session's memory and nowhere else; what the session saved can be taken out.

import { Gone, unlessGone } from './conversation.js';
import { button, bytes, download, make } from './dom.js';
import { openLesson } from './lessons.js';

/** The largest file that is taken: all of it is in memory, and what is loaded from it once more. */
const LARGEST = 512 * 1024 * 1024;

export class Files {
  #conversation;
  #log;
  #offer;
  #list = make('ul', { class: 'files' });
  /** What was put here, by name, so that a session that is gone can have it again. */
  #given = new Map();

  constructor(place, { conversation, log, offer }) {
    this.#conversation = conversation;
    this.#log = log;
    this.#offer = offer;
    const chosen = make('input', { type: 'file', multiple: true, class: 'unseen', tabindex: '-1', 'aria-hidden': 'true', onchange: () => {
      this.take([...chosen.files]);
      chosen.value = '';
    } });
    const open = button('Open files …', () => chosen.click());
    place.append(make('p', { class: 'none', text: 'Drop checkpoints, safetensors, npy, npz or GGUF files anywhere, or a lesson (.md). They stay on this machine.' }), open, chosen, this.#list);
    this.#listen();
  }

  #listen() {
    const hasFiles = (event) => event.dataTransfer?.types.includes('Files');
    const over = (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      document.body.classList.add('dropping');
    };
    document.addEventListener('dragenter', over);
    document.addEventListener('dragover', over);
    document.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) document.body.classList.remove('dropping');
    });
    document.addEventListener('drop', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      document.body.classList.remove('dropping');
      this.take([...event.dataTransfer.files]);
    });
  }

  /** Puts files into the session, says what is in each, and offers the line that loads it. A page of Markdown is a lesson. */
  async take(files) {
    if (files.length === 1 && /\.(md|markdown)$/i.test(files[0].name)) {
      await openLesson(files[0]);
      return;
    }
    if (document.getElementById('play').hidden) location.hash = '#/';
    for (const file of files) await this.#takeOne(file);
    this.refresh();
  }

  async #takeOne(file) {
    const notice = this.#log.say(make('p', {}, make('code', { text: file.name }), ` — ${bytes(file.size)}`));
    const tell = (text) => notice.append(make('p', { text }));
    if (file.size > LARGEST) {
      tell(`It is larger than what a page can hold (${bytes(LARGEST)}). The program for the terminal maps such files.`);
      return;
    }
    try {
      await this.#put(file);
      const { text, refused } = await this.#conversation.ask({ ask: 'inspect', name: file.name });
      notice.append(make('pre', { class: 'output', tabindex: '0', role: 'region', 'aria-label': `What is in ${file.name}`, text: text ?? refused }));
      if (refused) return;
      const line = `x = load(${JSON.stringify(file.name)})`;
      notice.append(make('p', {}, button(line, () => this.#offer(line), { class: 'example', title: 'Puts this line into the prompt' })));
    } catch (error) {
      if (error instanceof Gone) return;
      tell(`It could not be read: ${error.message}`);
    }
  }

  async #put(file) {
    const content = new Uint8Array(await file.arrayBuffer());
    this.#given.set(file.name, file);
    const { refused } = await this.#conversation.put(file.name, content);
    if (refused) throw new Error(refused);
  }

  /** Gives another session what the one before was given. */
  async putAgain() {
    for (const file of this.#given.values()) {
      try {
        await this.#put(file);
      } catch (error) {
        if (!(error instanceof Gone)) this.#log.say(make('p', { text: `${file.name} could not be read again: ${error.message}` }));
      }
    }
    this.refresh();
  }

  async refresh() {
    const answer = await unlessGone(this.#conversation.ask({ ask: 'files' }));
    if (answer) this.#list.replaceChildren(...answer.files.map((file) => this.#row(file)));
  }

  #row({ name, nbytes }) {
    const save = button('Save', async () => {
      const content = await unlessGone(this.#conversation.get(name));
      if (content) download(name.split('/').pop(), content);
    }, { 'aria-label': `Save ${name} on this machine` });
    const remove = button('Remove', async () => {
      this.#given.delete(name);
      await unlessGone(this.#conversation.ask({ ask: 'remove', name }));
      this.refresh();
    }, { 'aria-label': `Remove ${name}` });
    return make('li', {}, make('span', { class: 'file' }, make('code', { text: name }), ' ', make('span', { class: 'size', text: bytes(nbytes) })), save, remove);
  }
}
