// A session as it is seen: inputs with their signs, and below each what it printed, its pictures and its errors, as the
// terminal has them.

import { make, reachable } from './dom.js';
import { SIGNS } from './signs.js';

/** Beyond this many pieces, what one input prints is shown without colours. */
const PIECES = 10_000;
/** An output of many lines has parts of this many characters at least, of which a browser lays out only those in sight. */
const PART = 8_000;

/** An input: its lines behind their signs, coloured, and underlined where an error says it went wrong. */
class Input {
  #source;
  #kinds = [];
  #fault = null;
  #code = make('code');
  #next;
  element;

  constructor(language, source, ask) {
    this.#source = source;
    this.#next = SIGNS[language][1];
    const sign = make('span', { class: 'kind-prompt', text: SIGNS[language][0] });
    this.element = make('pre', { class: 'input' }, sign, this.#code);
    this.#paint();
    const painted = ({ pieces }) => {
      this.#kinds = pieces;
      this.#paint();
    };
    // Without its session it stays without colours.
    ask({ ask: 'highlight', language, source }).then(painted, () => {});
  }

  /** Underlines what an error is about: the word at a line, from 1, and a column, from 0. */
  underline(line, column) {
    const lines = this.#source.split('\n');
    if (line < 1 || line > lines.length || column > lines[line - 1].length) return;
    const from = lines.slice(0, line - 1).reduce((sum, text) => sum + text.length + 1, 0) + column;
    const word = /^(?:[\p{L}\p{N}_]+|.)/u.exec(this.#source.slice(from));
    this.#fault = { from, to: from + (word ? word[0].length : 0) };
    this.#paint();
  }

  #paint() {
    const cuts = new Set([0, this.#source.length]);
    const spans = [];
    let at = 0;
    for (const [kind, length] of this.#kinds) {
      spans.push({ kind, from: at, to: at + length });
      cuts.add(at);
      at += length;
    }
    if (this.#fault) cuts.add(this.#fault.from).add(this.#fault.to);
    for (let end = this.#source.indexOf('\n'); end >= 0; end = this.#source.indexOf('\n', end + 1)) cuts.add(end).add(end + 1);
    const places = [...cuts].sort((a, b) => a - b);
    let span = 0;
    const pieces = places.slice(0, -1).map((from, i) => {
      const text = this.#source.slice(from, places[i + 1]);
      if (text === '\n') return make('span', { class: 'kind-prompt', text: `\n${this.#next}` });
      while (spans[span] && spans[span].to <= from) span += 1;
      const kind = spans[span]?.kind;
      const isFault = this.#fault && from >= this.#fault.from && from < this.#fault.to;
      return make(isFault ? 'mark' : 'span', { class: kind && kind !== 'plain' ? `kind-${kind}` : undefined, text });
    });
    this.#code.replaceChildren(...pieces);
  }
}

/** What one thing that was asked for gives, from its input to its end. */
export class Entry {
  #log;
  #input = null;
  #output = null;
  #part = null;
  #length = 0;
  #pieces = 0;
  #uncoloured = '';
  #isSession = false;
  #sources = [];
  element = make('section', { class: 'entry' });

  /** Without a source it begins with its first `input`. */
  constructor(log, language, source) {
    this.#log = log;
    if (source !== undefined) this.#begin(language, source);
    this.#isSession = source === undefined;
  }

  #begin(language, source) {
    this.#output = null;
    this.#input = new Input(language, source, this.#log.ask);
    this.#sources.push({ language, source });
    this.element.append(this.#input.element);
  }

  /** The statements of a pasted session that were run; nothing for an input that was typed. */
  get statements() {
    return this.#isSession ? this.#sources : null;
  }

  #line(text, role) {
    if (!this.#output) {
      this.#output = make('pre', { class: 'output' });
      this.element.append(this.#output);
      this.#part = null;
    }
    // A part ends with a line.
    const end = this.#length > PART ? text.indexOf('\n') + 1 : 0;
    this.#piece(end > 0 ? text.slice(0, end) : text, role);
    if (end === 0) return;
    this.#part = null;
    for (let from = end; from < text.length;) {
      const newline = text.indexOf('\n', Math.min(from + PART, text.length));
      const to = newline < 0 ? text.length : newline + 1;
      this.#piece(text.slice(from, to), role);
      if (newline >= 0) this.#part = null;
      from = to;
    }
  }

  #piece(text, role) {
    if (!this.#part) {
      this.#part = make('span', { class: 'part' });
      this.#length = 0;
      this.#output.append(this.#part);
    }
    const last = this.#part.lastChild;
    this.#pieces += 1;
    this.#length += text.length;
    if (role === 'plain' && last?.nodeType === Node.TEXT_NODE) last.appendData(text);
    else this.#part.append(role === 'plain' ? text : make('span', { class: `role-${role}`, text }));
  }

  #put(element) {
    this.#output = null;
    this.element.append(element);
  }

  /** Shows some events of the session. */
  take(events) {
    for (const event of events) {
      if (event.event === 'text' && this.#pieces > PIECES) this.#uncoloured += event.text;
      else {
        this.#rest();
        this.#takeOne(event);
      }
    }
    this.#rest();
  }

  #rest() {
    if (this.#uncoloured === '') return;
    this.#line(this.#uncoloured, 'plain');
    this.#uncoloured = '';
  }

  #takeOne(event) {
    switch (event.event) {
      case 'input':
        // A pasted session: its statements stand in the place of its text.
        if (!this.#isSession) {
          this.element.replaceChildren();
          this.#sources = [];
          this.#isSession = true;
        }
        this.#begin(event.language, event.source);
        break;
      case 'text': this.#line(event.text, event.role); break;
      case 'picture': this.#put(this.#log.pictures.add(event, this.#log.ask)); break;
      case 'redrawn': case 'refitted': case 'gone': this.#log.pictures.take([event]); break;
      case 'warning': this.#put(make('pre', { class: 'output warning', text: event.text })); break;
      case 'note': this.#put(make('p', { class: 'note', text: event.text })); break;
      case 'error': this.#fail(event); break;
      default:
    }
  }

  #fail({ kind, message, text, line, column }) {
    if (line !== null && line !== undefined && column !== null && column !== undefined) this.#input?.underline(line, column);
    // Its first words stand out; calls, places and hints around them do not.
    const head = message ? `${kind}: ${message}` : kind;
    const at = text.lastIndexOf(head);
    const aside = (from, to) => make('span', { class: 'calls', text: text.slice(from, to) });
    const parts = at < 0 ? [text] : [aside(0, at), make('strong', { text: kind }), head.slice(kind.length), aside(at + head.length)];
    this.#put(make('pre', { class: 'output error' }, ...parts));
  }

  /** It is over: what is too wide can be reached and scrolled by keys. */
  end() {
    this.element.querySelectorAll('pre.output').forEach((output) => {
      trimEnd(output);
      reachable(output, 'Output');
    });
  }
}

/** Takes the newline at the end of an output, which would be a line of its own in the page. */
function trimEnd(output) {
  let last = output.lastChild;
  while (last?.lastChild) last = last.lastChild;
  if (last?.nodeType === Node.TEXT_NODE && last.data.endsWith('\n')) last.deleteData(last.length - 1, 1);
}

export class Log {
  #element;
  ask;
  pictures;

  constructor(element, { ask, pictures }) {
    this.#element = element;
    this.ask = ask;
    this.pictures = pictures;
    pictures.chosen = (id, choice) => ask({ ask: 'choose', id, choice }, (events) => pictures.take(events)).catch(() => {});
  }

  begin(language, source) {
    const entry = new Entry(this, language, source);
    this.#element.append(entry.element);
    return entry;
  }

  /** Anything else that is to be said, between the inputs. */
  say(...content) {
    const notice = make('div', { class: 'notice' }, ...content);
    this.#element.append(notice);
    return notice;
  }
}
