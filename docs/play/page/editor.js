// Editors for what is typed: one line of a prompt that may become several, and a session that stands on a page. What is
// what in the text, whether it is complete and what could follow, the session says; nothing is known here of the languages.

import { EditorState, StateEffect, StateField } from '@codemirror/state';
import { Decoration, EditorView, keymap, drawSelection } from '@codemirror/view';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import {
  acceptCompletion, autocompletion, closeCompletion, completionKeymap, completionStatus, startCompletion,
} from '@codemirror/autocomplete';
import { unlessGone } from './conversation.js';
import { SIGNS, pieces as sessionPieces } from './signs.js';

/** Runs a question again and again, never two at a time, each time for the newest state. */
function latest(question) {
  let isAsking = false;
  let isStale = false;
  return async function ask() {
    if (isAsking) {
      isStale = true;
      return;
    }
    isAsking = true;
    try {
      do {
        isStale = false;
        await unlessGone(question());
      } while (isStale);
    } finally {
      isAsking = false;
    }
  };
}

const setMarks = StateEffect.define();
const marks = StateField.define({
  create: () => Decoration.none,
  update(value, transaction) {
    const set = transaction.effects.find((effect) => effect.is(setMarks));
    return set ? set.value : value.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** Colours from `[[kind, length], …]`, for a text that begins at a position. */
function coloured(kinds, positionOf) {
  const ranges = [];
  let at = 0;
  for (const [kind, length] of kinds) {
    if (kind !== 'plain') ranges.push({ from: positionOf(at), to: positionOf(at + length), kind });
    at += length;
  }
  return ranges.filter(({ from, to }) => from < to).map(({ from, to, kind }) => Decoration.mark({ class: `kind-${kind}` }).range(from, to));
}

/** Keeps the colours of an editor those that `ranges(text)` gives. */
function colours(ranges) {
  let view = null;
  const ask = latest(async () => {
    const { doc } = view.state;
    const found = await ranges(doc.toString());
    if (view.state.doc.eq(doc)) view.dispatch({ effects: setMarks.of(Decoration.set(found, true)) });
  });
  const listen = EditorView.updateListener.of((update) => {
    view = update.view;
    if (update.docChanged) ask();
  });
  return { extension: [marks, listen], begin(shown) { view = shown; ask(); } };
}

const common = [
  history(), drawSelection(), EditorView.lineWrapping, EditorState.tabSize.of(4),
  EditorView.contentAttributes.of({ autocapitalize: 'off', autocorrect: 'off', spellcheck: 'false', translate: 'no' }),
];

const TAB = '    ';

/** Nothing but the sign of an input, on its line. */
const SIGN_ALONE = new RegExp(`^(${Object.values(SIGNS).flat().map((sign) => sign.replace(/[.>]/g, '\\$&')).join('|')})\\s*$`);

/** What Tab does: takes what is chosen, completes, or indents. Nothing where there is nothing, so that Tab leads on. */
function tab(complete) {
  return (view) => {
    if (completionStatus(view.state) === 'active') return acceptCompletion(view);
    const { head, empty } = view.state.selection.main;
    if (!empty || view.state.doc.length === 0) return false;
    const before = view.state.sliceDoc(view.state.doc.lineAt(head).from, head);
    if (before.trim() === '' || SIGN_ALONE.test(before)) view.dispatch(view.state.replaceSelection(TAB), { userEvent: 'input' });
    else unlessGone(completeOnce(view, complete));
    return true;
  };
}

/** As at a terminal: what all candidates begin with is taken at once, and a list shown only if there are several. */
async function completeOnce(view, complete) {
  const { doc, selection } = view.state;
  const at = selection.main.head;
  const found = await complete(doc.toString(), at);
  if (!found || found.candidates.length === 0 || !view.state.doc.eq(doc)) return;
  const typed = view.state.sliceDoc(found.start, at);
  const texts = found.candidates.map(({ text }) => text);
  const shared = texts.reduce((a, b) => a.slice(0, [...a].findIndex((c, i) => c !== b[i]) >>> 0));
  if (texts.length === 1 || (shared.startsWith(typed) && shared.length > typed.length)) {
    const insert = texts.length === 1 ? texts[0] : shared;
    view.dispatch({ changes: { from: found.start, to: at, insert }, selection: { anchor: found.start + insert.length }, userEvent: 'input.complete' });
  }
  if (texts.length > 1) startCompletion(view);
}

function completion(complete) {
  const source = async (context) => {
    const found = await unlessGone(complete(context.state.doc.toString(), context.pos));
    if (!found || found.candidates.length === 0) return null;
    const options = found.candidates.map(({ text, shown, doc }) => ({ label: shown || text, apply: text, detail: doc || undefined }));
    return { from: found.start, options, filter: false };
  };
  return autocompletion({ override: [source], activateOnTyping: false, icons: false, maxRenderedOptions: 200 });
}

/** Where Enter was pressed and not yet answered. What is typed meanwhile stands behind. */
const pressed = StateEffect.define();
const settled = StateEffect.define();
const enters = StateField.define({
  create: () => [],
  update(value, transaction) {
    let places = value.map(({ at, forced }) => ({ at: transaction.changes.mapPos(at, -1), forced }));
    for (const effect of transaction.effects) {
      if (effect.is(pressed)) places = [...places, effect.value];
      if (effect.is(settled)) places = places.slice(1);
    }
    return places;
  },
});

/**
 * The editor of a prompt. `ask(request)` reaches the session; `language()` is the one it reads; `submit(text)` takes what
 * is complete; `stop()` is asked for by Ctrl-C; `past` is the history.
 */
export class PromptEditor {
  #view;
  #options;
  #colours;
  #isDraining = false;
  #isFromPast = false;

  constructor(parent, options) {
    this.#options = options;
    const { ask, language } = options;
    const complete = (source, at) => ask({ ask: 'complete', language: language(), source, at });
    this.#colours = colours(async (source) => {
      const { pieces } = await ask({ ask: 'highlight', language: language(), source });
      return coloured(pieces, (at) => at);
    });
    const signature = latest(async () => {
      const { doc, selection } = this.#view.state;
      const source = doc.toString();
      const found = source === '' ? null : await ask({ ask: 'signature', language: language(), source, at: selection.main.head });
      options.signature(found?.usages ?? []);
    });
    const keys = [
      { key: 'Enter', run: () => this.#enter() },
      { key: 'Ctrl-Enter', mac: 'Cmd-Enter', run: () => this.enter() },
      { key: 'ArrowUp', run: () => this.#walk('earlier') },
      { key: 'ArrowDown', run: () => this.#walk('later') },
      { key: 'Tab', run: tab(complete) },
      { key: 'Ctrl-Space', run: startCompletion },
      { key: 'Ctrl-c', run: () => this.#interrupt() },
      { key: 'Escape', run: (view) => closeCompletion(view) || options.stop() },
      { key: 'F1', run: () => this.#help() },
    ];
    const state = EditorState.create({
      extensions: [
        enters, keymap.of([...completionKeymap.filter(({ key }) => key !== 'Escape'), ...keys]),
        completion(complete), this.#colours.extension, common,
        keymap.of([...defaultKeymap, ...historyKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': options.label, 'aria-describedby': options.describedBy }),
        EditorView.domEventHandlers({ paste: (event) => this.#paste(event) }),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !this.#isFromPast) options.past.leave();
          if (update.docChanged || update.selectionSet) signature();
        }),
      ],
    });
    this.#view = new EditorView({ state, parent });
    this.#colours.begin(this.#view);
  }

  /** The language is another one now: colours follow. */
  recolour() {
    this.#colours.begin(this.#view);
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  set text(insert) {
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert }, selection: { anchor: insert.length } });
  }

  /** Puts text before what was typed meanwhile. */
  give(text) {
    const rest = this.text;
    this.text = rest === '' ? text : `${text}\n${rest}`;
  }

  focus() {
    this.#view.focus();
  }

  get hasFocus() {
    return this.#view.hasFocus;
  }

  /** Enter: at the last line it asks the session whether to run; above, it makes a line. */
  #enter() {
    const { doc, selection } = this.#view.state;
    if (doc.toString().trim() === '') return true;
    if (doc.lineAt(selection.main.head).number < doc.lines) return this.#newline();
    return this.enter(false);
  }

  #newline() {
    const { doc, selection } = this.#view.state;
    const indent = /^\s*/.exec(doc.lineAt(selection.main.head).text)[0];
    this.#view.dispatch(this.#view.state.replaceSelection(`\n${indent}`), { scrollIntoView: true, userEvent: 'input' });
    return true;
  }

  /** Takes what is typed, as it stands if it is `forced`, and otherwise if the session finds it complete. */
  enter(forced = true) {
    const end = this.#view.state.doc.length;
    if (this.text.trim() === '') return true;
    closeCompletion(this.#view);
    this.#view.dispatch({
      changes: { from: end, insert: '\n' }, selection: { anchor: end + 1 }, effects: pressed.of({ at: end + 1, forced }), scrollIntoView: true,
    });
    this.#drain();
    return true;
  }

  async #drain() {
    if (this.#isDraining) return;
    this.#isDraining = true;
    const first = () => this.#view.state.field(enters)[0];
    while (first()) {
      const text = this.#view.state.sliceDoc(0, first().at - 1);
      const runs = first().forced || text.trim() === '' || (await this.#isWhole(text));
      // What stood there may have been taken away meanwhile.
      const at = Math.min(first().at, this.#view.state.doc.length);
      const isSame = this.#view.state.sliceDoc(0, at) === `${text}\n`;
      if (runs && isSame) {
        this.#view.dispatch({ changes: { from: 0, to: at }, effects: settled.of(null) });
        const source = text.trimEnd();
        if (source !== '') await this.#options.submit(source);
      } else {
        // The next line begins as this one did, unless more was typed meanwhile: then the caret is where it should be.
        const { doc, selection: { main } } = this.#view.state;
        const isWaiting = isSame && at === doc.length && main.empty && main.head === at;
        const isBlock = text.trim() !== '' && !/\n\s*$/.test(text);
        const insert = isWaiting && isBlock ? /^\s*/.exec(doc.lineAt(at - 1).text)[0] : '';
        const indent = insert && { changes: { from: at, insert }, selection: { anchor: at + insert.length } };
        this.#view.dispatch({ ...indent, effects: settled.of(null) });
      }
    }
    this.#isDraining = false;
  }

  /** Whether the session would run a text. A last line of white space is an empty one, as it ends a block. */
  async #isWhole(text) {
    const source = text.replace(/\n[^\S\n]+$/, '\n');
    const request = { ask: 'complete?', language: this.#options.language(), source };
    const answer = await unlessGone(this.#options.ask(request));
    return answer !== undefined && answer.state !== 'incomplete';
  }

  #walk(way) {
    const { state } = this.#view;
    const { main } = state.selection;
    const end = way === 'earlier' ? 0 : state.doc.length;
    const top = (at) => this.#view.coordsAtPos(at)?.top ?? 0;
    // Within lines, and within the rows of a long one, the arrows go on as usual.
    if (!main.empty || completionStatus(state) === 'active' || Math.abs(top(main.head) - top(end)) > 2) return false;
    const text = this.#options.past[way](this.text);
    if (text === null) return way === 'later' ? false : true;
    this.#isFromPast = true;
    this.text = text;
    this.#isFromPast = false;
    return true;
  }

  #interrupt() {
    if (this.#options.stop()) return true;
    if (!this.#view.state.selection.main.empty) return false;
    this.text = '';
    return true;
  }

  #help() {
    const { state } = this.#view;
    const word = state.wordAt(state.selection.main.head);
    if (word) this.#options.help(state.sliceDoc(word.from, word.to));
    return true;
  }

  /** Several lines pasted into an empty prompt run at once, as at a terminal; what is unfinished comes back. */
  #paste(event) {
    const text = event.clipboardData?.getData('text/plain').replaceAll('\r\n', '\n') ?? '';
    if (this.text.trim() !== '' || !text.trimEnd().includes('\n')) return false;
    event.preventDefault();
    this.text = text;
    // Of a session, the session itself finds the end that is not finished.
    return this.enter(sessionPieces(text).some(({ language }) => language));
  }

  /** What the Tab key does, for those who have none. */
  complete() {
    this.#view.focus();
    const { ask, language } = this.#options;
    tab((source, at) => ask({ ask: 'complete', language: language(), source, at }))(this.#view);
  }

  earlier() {
    this.#view.focus();
    const text = this.#options.past.earlier(this.text);
    if (text !== null) {
      this.#isFromPast = true;
      this.text = text;
      this.#isFromPast = false;
    }
  }
}

/** The input of a session text in which a position lies, and where in its source. */
function inputAt(text, at) {
  const lineEnd = (from) => { const end = text.indexOf('\n', from); return end < 0 ? text.length : end; };
  for (const piece of sessionPieces(text).filter(({ language }) => language)) {
    let within = 0;
    for (const { code } of piece.lines) {
      const end = lineEnd(code);
      if (at >= code && at <= end) return { ...piece, at: within + at - code, shift: code - within };
      within += end - code + 1;
    }
  }
  return null;
}

/** The editor of a session that stands on a page: inputs with their signs. `run()` takes it, `leave()` leaves it. */
export function sessionEditor(parent, { text, label, ask, run, leave }) {
  const complete = async (source, at) => {
    const input = inputAt(source, at);
    if (!input) return null;
    const found = await ask({ ask: 'complete', language: input.language, source: input.source, at: input.at });
    return { ...found, start: found.start + input.shift };
  };
  const shade = colours(async (source) => {
    const inputs = sessionPieces(source).filter(({ language }) => language);
    const answers = await Promise.all(inputs.map((input) => ask({ ask: 'highlight', language: input.language, source: input.source })));
    return inputs.flatMap((input, i) => {
      const starts = input.lines.map(({ from, code }) => Decoration.mark({ class: 'kind-prompt' }).range(from, code)).filter(({ from, to }) => from < to);
      const lengths = input.source.split('\n').map((line) => line.length + 1);
      // A position in the source, in the text; the newline belongs to its line.
      const positionOf = (at) => {
        let rest = at;
        let line = 0;
        while (line < lengths.length - 1 && rest >= lengths[line]) rest -= lengths[line++];
        return input.lines[line].code + rest;
      };
      return [...starts, ...perLine(answers[i].pieces, input.source).flatMap(([kind, from, to]) => coloured([['plain', from], [kind, to - from]], positionOf))];
    });
  });
  const enter = (view) => {
    const { doc, selection } = view.state;
    const at = selection.main.head;
    const line = doc.lineAt(at);
    const input = inputAt(doc.toString(), at);
    if (!input || at < line.to) return false;
    const indent = /^\s*/.exec(line.text.slice(input.lines.at(-1).code - input.lines.at(-1).from))[0];
    view.dispatch({ changes: { from: at, insert: '\n' }, selection: { anchor: at + 1 }, userEvent: 'input' });
    const source = input.source.slice(0, input.at);
    unlessGone(ask({ ask: 'complete?', language: input.language, source: source.replace(/\n[^\S\n]+$/, '\n') })).then((answer) => {
      const goesOn = answer?.state === 'incomplete';
      const insert = SIGNS[input.language][goesOn ? 1 : 0] + (goesOn ? indent : '');
      if (view.state.doc.lineAt(Math.min(at + 1, view.state.doc.length)).length === 0) view.dispatch({ changes: { from: at + 1, insert }, selection: { anchor: at + 1 + insert.length } });
    });
    return true;
  };
  const keys = [
    { key: 'Enter', run: enter },
    { key: 'Ctrl-Enter', mac: 'Cmd-Enter', run: () => (run(), true) },
    { key: 'Shift-Enter', run: () => (run(), true) },
    { key: 'Tab', run: tab(complete) },
    { key: 'Escape', run: (view) => closeCompletion(view) || (leave(), true) },
  ];
  const state = EditorState.create({
    doc: text,
    extensions: [
      keymap.of([...completionKeymap.filter(({ key }) => key !== 'Escape' && key !== 'Enter'), ...keys]),
      completion(complete), shade.extension, common, keymap.of([...defaultKeymap, ...historyKeymap]),
      EditorView.contentAttributes.of({ 'aria-label': label }),
    ],
  });
  const view = new EditorView({ state, parent });
  shade.begin(view);
  return view;
}

/** Coloured pieces cut at the ends of lines, as `[kind, from, to]`. */
function perLine(kinds, source) {
  const out = [];
  let at = 0;
  for (const [kind, length] of kinds) {
    for (let from = at; kind !== 'plain' && from < at + length;) {
      const newline = source.indexOf('\n', from);
      const to = newline < 0 ? at + length : Math.min(newline, at + length);
      out.push([kind, from, to]);
      from = to + 1;
    }
    at += length;
  }
  return out;
}
