// The thread in which a session runs. Passes requests to it, and back what it says, in pieces that the page can keep up
// with; asks the service worker whether what runs is to stop. Knows nothing of the page.

import { load } from './session.js';

/** The folder of the parts of the program that few sessions need; the build writes it. */
const PARTS = BUILT_PARTS;
/** How often it is asked whether to stop, and the page is told what was printed, in milliseconds. */
const PULSE = 100;
/** How many characters one request may print before the middle is left out, … */
const MOST = 250_000;
/** … how many of the last ones follow then, … */
const LAST = 20_000;
/** … and how many other events it may have. */
const EVENTS = 5_000;

/** What is being answered: its number, the name under which it can be stopped, and what of it is still to be told. */
let present = null;
/** Whether the service worker answers here. */
let hears = false;

function tell() {
  present.told = performance.now();
  if (present.events.length === 0) return;
  postMessage({ number: present.number, events: present.events });
  present.events = [];
}

/** Takes an event of the session. What is printed without end would fill the page's memory. */
function take(event) {
  if (!present) return;
  if (event.event !== 'text') {
    present.others += 1;
    if (present.others > EVENTS) return;
    release();
    present.events.push(event);
  } else if (present.printed + event.text.length <= MOST) {
    present.printed += event.text.length;
    const last = present.events.at(-1);
    if (last?.event === 'text' && last.role === event.role) last.text += event.text;
    else present.events.push(event);
  } else {
    present.left += event.text.length;
    present.last = (present.last + event.text).slice(-2 * LAST);
  }
  if (performance.now() - present.told > PULSE) tell();
}

/** Gives the end of what was left out, and says how much is missing. */
function release() {
  if (present.left === 0) return;
  const end = present.last.slice(-LAST);
  const missing = present.left - end.length;
  if (missing > 0) {
    const text = `${missing} more characters were printed here; the page shows the first and the last`;
    present.events.push({ event: 'note', text });
  }
  present.events.push({ event: 'text', role: 'plain', text: end });
  present.left = 0;
  present.last = '';
}

/** Whether what runs is to stop. The session asks often; the service worker is asked now and then. */
function shouldStop() {
  if (!present || present.isStopped) return present !== null;
  const now = performance.now();
  if (now - present.asked < PULSE) return false;
  present.asked = now;
  tell();
  if (!hears || !present.name) return false;
  const request = new XMLHttpRequest();
  request.open('GET', `stopped/${present.name}`, false);
  try {
    request.send();
  } catch {
    return false;
  }
  present.isStopped = request.responseText === 'stop';
  return present.isStopped;
}

/** The bytes of a part of the program; null where it is not at hand and its server cannot be reached. */
function fetchPart(name) {
  const request = new XMLHttpRequest();
  request.open('GET', `${PARTS}/${name}`, false);
  request.responseType = 'arraybuffer';
  try {
    request.send();
  } catch {
    return null;
  }
  return request.status === 200 ? new Uint8Array(request.response) : null;
}

/** Takes what would go to standard error: at last words, it is all that is known of the end. */
function complain(text) {
  take({ event: 'warning', text: text.trimEnd() });
}

/** Puts a file into the session, or says why not. */
function put({ name, bytes }) {
  const refused = { refused: 'the session has no memory for it' };
  try {
    return session.putFile(name, bytes) ? {} : refused;
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return refused;
  }
}

/** Whether the service worker answers this thread; asked only where the page has one. */
async function isHeard() {
  try {
    return (await (await fetch('stopped/nothing')).text()) === 'go on';
  } catch {
    return false;
  }
}

let session = null;

async function begin({ program, hasServiceWorker }) {
  const asked = hasServiceWorker ? isHeard() : Promise.resolve(false);
  try {
    session = await load(program, { onEvent: take, shouldStop, fetchPart, complain });
  } catch (error) {
    postMessage({ failed: String(error?.message ?? error) });
    return;
  }
  hears = await asked;
  postMessage({ ready: true, hears });
}

function answer({ number, name, request, put: file, get }) {
  const now = performance.now();
  present = { number, name, events: [], told: now, asked: now, printed: 0, others: 0, left: 0, last: '', isStopped: false };
  try {
    let given;
    if (file) given = put(file);
    else if (get) given = session.getFile(get);
    else given = session.answer(request);
    release();
    tell();
    postMessage({ number, answer: given });
  } catch (error) {
    tell();
    postMessage({ died: String(error?.message ?? error) });
    session = null;
  }
  present = null;
}

// One after the other: what comes while the session begins, or works, waits.
let turn = Promise.resolve();
onmessage = ({ data }) => {
  turn = turn.then(() => {
    if (data.begin) return begin(data.begin);
    return session ? answer(data) : undefined;
  });
};
