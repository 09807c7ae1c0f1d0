// The prompt's view: a session that is typed, with its variables and files beside it. Also what becomes of it when it is
// stopped, dies, comes in a link or goes away in one.

import { Conversation, keepForOffline, unlessGone } from './conversation.js';
import { button, download, make, show } from './dom.js';
import { Files } from './files.js';
import { packed, unpacked } from './link.js';
import { Log } from './log.js';
import { Pictures, whenResized } from './picture.js';
import { Prompt } from './prompt.js';
import { show as showVariables } from './variables.js';

/** What a visitor may begin with; both languages read it. */
const EXAMPLES = ['x = torch.arange(6).view(2, 3)', 'x.t().stride()', 'explain(x.t())', 'torch.tensor([1.5]).view(torch.int32)'];

const LOST = {
  ended: 'The session could not be told to stop, so it was ended. Its variables are gone, and the files it saved.',
  deaf: 'The session did not stop within two seconds, so it was ended. Its variables are gone, and the files it saved.',
  died: 'The session broke down. Its variables are gone, and the files it saved.',
};

const STATES = {
  starting: 'Starting …', idle: 'Ready', running: 'Running …', stopping: 'Stopping …', failed: 'tensorsh could not be started',
};

/** Addresses longer than this are cut by some programs that pass them on. */
const LONG = 8000;

export class Play {
  #conversation;
  #pictures = new Pictures((request, onEvents) => this.#conversation.ask(request, onEvents));
  #log;
  #prompt;
  #files;
  /** What was run in this session, as it was typed. */
  #entries = [];
  /** The one of them that is running. */
  #present = null;
  #elements;
  #isEmbedded;
  #hasBegun = false;

  constructor({ isEmbedded }) {
    this.#isEmbedded = isEmbedded;
    const find = (id) => document.getElementById(id);
    this.#elements = { log: find('log'), variables: find('variables'), state: find('state'), told: find('session-told') };
    this.#conversation = new Conversation({
      state: (state, why) => this.#tell(state, why),
      lost: (why, detail) => this.#lost(why, detail),
    });
    const ask = (request, onEvents) => this.#conversation.ask(request, onEvents);
    this.#log = new Log(this.#elements.log, { ask, pictures: this.#pictures });
    this.#pictures.hand = {
      ask, language: () => this.#prompt.language, insert: (line) => this.#offer(line), ran: (line, events) => this.#ran(line, events),
    };
    this.#prompt = new Prompt({
      ask, label: 'Input', run: (language, source) => this.#run(language, source), stop: () => this.stop(), help: (topic) => this.#help(topic),
    });
    find('prompt').append(this.#prompt.element);
    this.#files = new Files(find('files'), {
      conversation: this.#conversation, log: this.#log, offer: (line) => this.#offer(line),
    });
    find('session').append(...this.#buttons());
    // Typing is possible at once; what a visitor sees first is what could be typed.
    this.#welcome();
    this.#variables();
    whenResized(() => this.#variables());
  }

  #buttons() {
    const script = () => this.#save(this.#prompt.language === 'python' ? 'session.py' : 'session.rhai', { ask: 'script', language: this.#prompt.language });
    return [
      button('Copy link', () => this.#share()),
      button('Save transcript', () => this.#save('session.md', { ask: 'transcript' })),
      button('Save script', script),
      button('Start afresh', () => this.#restart()),
    ];
  }

  focus() {
    this.#prompt.focus();
  }

  #tell(state, why) {
    this.#elements.state.textContent = STATES[state];
    this.#elements.state.dataset.state = state;
    if (this.#prompt) this.#prompt.isRunning = state === 'running' || state === 'stopping';
    if (state === 'idle' && !this.#hasBegun) {
      this.#hasBegun = true;
      performance.mark('prompt');
      keepForOffline();
    }
    if (state === 'failed') this.#log.say(make('p', { text: `tensorsh could not be started: ${why}. Reload the page to try again.` }));
  }

  #welcome() {
    if (this.#isEmbedded) return;
    const tries = EXAMPLES.map((source) =>
      make('li', {}, button(source, () => this.#prompt.submit(source), { class: 'example' })));
    this.#log.say(
      make('p', { text: 'A shell for tensors and the bytes beneath them. It runs here, in your browser; nothing you type or open leaves this machine.' }),
      make('p', { text: 'Type an expression, paste a session from PyTorch’s documentation, or begin with one of these:' }),
      make('ul', { class: 'examples' }, ...tries),
    ).classList.add('welcome');
  }

  /** Stops what runs, and says whether there was anything. */
  stop() {
    if (!this.#conversation.isRunning) return false;
    this.#conversation.stop();
    return true;
  }

  async #run(language, source) {
    const entry = this.#log.begin(language, source);
    const written = { language, source };
    this.#entries.push(written);
    show(this.#prompt.element);
    this.#present = written;
    const answer = await unlessGone(this.#conversation.ask({ ask: 'run', language, source }, (events) => this.#take(entry, events)));
    entry.end();
    if (!answer) return null;
    this.#present = null;
    if (answer.refused) this.#log.say(make('p', { text: answer.refused }));
    if (answer.unfinished) this.#unfinished(entry, written);
    if (answer.exit !== null && answer.exit !== undefined) {
      this.#log.say(make('p', { text: 'There is nothing to leave here: everything stays as it is until you close the page.' }));
    }
    this.#variables();
    this.#files.refresh();
    return answer;
  }

  /** Shows an input that was not typed: a byte changed by hand. */
  #ran(source, events) {
    const entry = this.#log.begin('python', source);
    this.#entries.push({ language: 'python', source });
    entry.take(events);
    entry.end();
    this.#variables();
  }

  /** Shows what comes, and follows it to its end if that was in sight. */
  #take(entry, events) {
    const isAtEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 80;
    entry.take(events);
    if (isAtEnd) show(this.#prompt.element);
  }

  /** The end of an input came back into the editor: of the session, only what was run is part. */
  #unfinished(entry, written) {
    if (!entry.statements) entry.element.remove();
    this.#entries = this.#entries.flatMap((other) => (other === written ? entry.statements ?? [] : [other]));
  }

  async #variables() {
    const answer = await unlessGone(this.#conversation.ask({ ask: 'variables', width: this.#elements.variables.clientWidth - 26 }));
    if (answer) showVariables(this.#elements.variables, answer);
  }

  async #help(topic) {
    const answer = await unlessGone(this.#conversation.ask({ ask: 'help', topic }));
    if (answer) this.#log.say(make('pre', { class: 'output', text: answer.text ?? `There is no help on ${topic}.` }));
  }

  /** Puts a line into the prompt without running it. */
  #offer(line) {
    this.#prompt.text = line;
    this.#prompt.focus();
  }

  /** The session is gone, by whatever way: says so, and offers its lines. */
  #lost(why, detail) {
    this.#pictures.forget();
    const last = this.#present;
    const lines = this.#entries.filter((entry) => entry !== last);
    this.#present = null;
    this.#entries = [];
    const text = why === 'died' && detail ? `${LOST[why]} (${detail})` : LOST[why];
    const notice = this.#log.say(make('p', { text }));
    notice.classList.add('lost');
    notice.setAttribute('role', 'alert');
    if (last) notice.append(make('p', {}, 'It was at ', make('code', { text: last.source.split('\n', 1)[0] }), '.'));
    this.#offerLines(notice, lines, last ? 'before it' : 'of it');
    showVariables(this.#elements.variables, { storages: [], others: [] });
    this.#files.putAgain();
  }

  /** Offers to run inputs again; `which` says where they are. */
  #offerLines(notice, lines, which) {
    if (lines.length === 0) return;
    const again = button(`Run the ${lines.length === 1 ? 'input' : `${lines.length} inputs`} ${which} again`, async () => {
      again.disabled = true;
      await this.#runAll(lines);
      this.#prompt.focus();
    });
    notice.append(make('p', {}, again));
  }

  /** Runs inputs one after the other, as long as their session is there. */
  async #runAll(entries) {
    for (const { language, source } of entries) {
      this.#prompt.language = language;
      if (!(await this.#run(language, source))) return;
    }
  }

  async #restart() {
    this.stop();
    const lines = this.#entries;
    await unlessGone(this.#conversation.ask({ ask: 'restart' }, (events) => this.#pictures.take(events)));
    this.#pictures.forget();
    this.#entries = [];
    const notice = this.#log.say(make('p', { text: 'A fresh session.' }));
    this.#offerLines(notice, lines, 'above');
    this.#variables();
    this.#files.refresh();
    this.#prompt.focus();
  }

  async #share() {
    const session = { language: this.#prompt.language, entries: this.#entries, draft: this.#prompt.text };
    const link = `${location.href.replace(/#.*/, '')}#s=${await packed(session)}`;
    const field = make('input', { class: 'link', readonly: true, value: link, 'aria-label': 'Link to this session' });
    const told = this.#elements.told;
    let copied = 'The link:';
    try {
      await navigator.clipboard.writeText(link);
      copied = 'The link is copied.';
    } catch {
      // Not allowed: it stands in the field.
    }
    const long = link.length > LONG ? ' It is long; some programs cut such links.' : '';
    told.replaceChildren(make('p', { text: `${copied} Whoever opens it sees this session run.${long}` }), field);
    field.select();
  }

  async #save(name, request) {
    const answer = await unlessGone(this.#conversation.ask(request));
    if (!answer) return;
    const told = this.#elements.told;
    if (answer.refused) told.replaceChildren(make('p', { text: answer.refused }));
    else {
      download(name, answer.text, 'text/plain');
      told.replaceChildren(make('p', { text: `${name} is saved.` }));
    }
  }

  /** Opens the session that a link holds. It runs, for nothing can leave the page; what is there already is not touched. */
  async open(text) {
    let session;
    try {
      session = await unpacked(text);
    } catch {
      this.#log.say(make('p', { text: 'This link holds no session that can be read. It may have been cut.' }));
      return;
    }
    if (this.#entries.length === 0) {
      await this.#follow(session);
      return;
    }
    const count = session.entries.length === 1 ? 'one input' : `${session.entries.length} inputs`;
    const notice = this.#log.say(make('p', { text: `The link holds a session of ${count}; here is one already.` }));
    const choose = (label, before) => button(label, async () => {
      notice.querySelectorAll('button').forEach((other) => { other.disabled = true; });
      await before();
      await this.#follow(session);
    });
    notice.append(make('p', { class: 'buttons' },
      choose('Run it in a fresh session', () => this.#restart()), choose('Run it here', () => {})));
  }

  async #follow({ language, entries, draft }) {
    this.#elements.log.querySelector('.welcome')?.remove();
    await this.#runAll(entries);
    this.#prompt.language = language;
    if (this.#prompt.text === '') this.#prompt.text = draft;
  }
}
