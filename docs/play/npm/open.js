// A session for programs in JavaScript, over session.js. The two entries, node.js and browser.js, read its files.

import { load } from './session.js';

/** Begins a session. `program` and `parts` are the contents of tensorsh.wasm and parts.json. */
export async function begin(program, parts, { shouldStop = () => false, onEvent = () => {} } = {}) {
  const encoder = new TextEncoder();
  let events = [];
  const session = await load(program, {
    onEvent(event) {
      events.push(event);
      onEvent(event);
    },
    shouldStop,
    fetchPart: (name) => (Object.hasOwn(parts, name) ? encoder.encode(parts[name]) : null),
    complain: (text) => events.push({ event: 'warning', text: text.trimEnd() }),
  });

  /** Answers a request of the page, and returns the answer with the events on the way. */
  function ask(request) {
    events = [];
    const answer = session.answer(request);
    if (answer.refused) throw new RangeError(answer.refused);
    return { answer, events };
  }

  return {
    run(source, { language = 'python' } = {}) {
      const { answer, events: all } = ask({ ask: 'run', language, source });
      const text = all.filter(({ event }) => event === 'text').map((event) => event.text).join('');
      const warnings = all.filter(({ event }) => event === 'warning').map((event) => event.text);
      const error = all.find(({ event }) => event === 'error') ?? null;
      return { text, warnings, error, unfinished: answer.unfinished?.source ?? null, events: all };
    },
    test(name, source) {
      const { files, totals } = ask({ ask: 'test', name, source }).answer.report;
      return { ...totals.examples, files };
    },
    ask: (request) => ask(request).answer,
    putFile: session.putFile,
    getFile: session.getFile,
  };
}
