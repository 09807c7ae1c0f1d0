// What the page says to a session and hears from it. The session runs in a worker; a worker that does not hear is ended, and
// another takes its place, with nothing in it. Knows the protocol's form, and not what any request means.

import { column } from './picture.js';

/** How long a session may take to stop, in milliseconds. */
const PATIENCE = 2000;
/** How long a first visit waits for the service worker. */
const WAIT = 300;

/** The session in which something was asked is gone. */
export class Gone extends Error {}

/** What a question gives, or nothing where its session ended meanwhile. */
export async function unlessGone(promise) {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Gone) return undefined;
    throw error;
  }
}

const serviceWorker = (() => {
  try {
    return navigator.serviceWorker;
  } catch {
    // A frame that may keep nothing has none.
    return undefined;
  }
})();

/** Whether the page's own service worker serves it, as soon as that is known. */
const served = (async () => {
  if (!serviceWorker) return;
  try {
    const registration = await serviceWorker.register('sw.js');
    // After a forced reload the page has none, though there is one.
    if (!serviceWorker.controller) registration.active?.postMessage({ claim: true });
    if (serviceWorker.controller) return;
    await new Promise((resolve) => serviceWorker.addEventListener('controllerchange', resolve, { once: true }));
  } catch {
    // Not allowed here: nothing is kept for offline, and stopping costs the variables.
  }
})();

const soon = Promise.race([served, new Promise((resolve) => setTimeout(resolve, WAIT))]);

/** Lets the service worker fetch what it does not have yet. */
export async function keepForOffline() {
  await served;
  serviceWorker?.controller?.postMessage({ fill: true });
}

/** What may take long, and can be stopped. */
let program;

/** Says where the program comes from: a promise of its module. */
export function runs(promised) {
  program = promised;
}

/** What may take long, and can be stopped. */
const RUNS = new Set(['run', 'try', 'attempt', 'inspect', 'script']);

export class Conversation {
  #worker = null;
  #asked = new Map();
  #number = 0;
  #hears = false;
  #isUsed = false;
  #isReady = false;
  #stopping = null;
  #listeners;

  /** `state(text)` hears `starting`, `idle`, `running`, `stopping`, `failed`; `lost(why)` that a session and all in it is gone. */
  constructor({ state = () => {}, lost = () => {} } = {}) {
    this.#listeners = { state, lost };
    this.#begin();
    // One that began before the service worker did cannot be stopped gently. As long as it is empty, another may replace it.
    serviceWorker?.addEventListener('controllerchange', () => {
      if (this.#isReady && !this.#hears && !this.#isUsed && this.#asked.size === 0) this.#replace();
    });
  }

  async #begin() {
    this.#listeners.state('starting');
    this.#isReady = false;
    this.#isUsed = false;
    await soon;
    // It is loaded while the program is still unpacked, but not before a service worker that is late: that could not reach it.
    // What it hears before it begins it forgets, and is told again.
    if (!serviceWorker?.controller) await program.catch(() => {});
    const worker = new Worker('worker.js', { type: 'module' });
    this.#worker = worker;
    worker.onmessage = ({ data }) => worker === this.#worker && this.#hear(data);
    worker.onerror = (event) => worker === this.#worker && this.#fail(event.message || 'a part of the page could not be loaded');
    let fetched;
    try {
      fetched = await program;
    } catch (error) {
      this.#fail(error.message);
      return;
    }
    if (worker !== this.#worker) return;
    worker.postMessage({ begin: { program: fetched, hasServiceWorker: Boolean(serviceWorker?.controller) } });
    for (const { message } of this.#asked.values()) worker.postMessage(message);
  }

  #hear(data) {
    if (data.ready) {
      this.#hears = data.hears;
      this.#isReady = true;
      this.#tellState();
    } else if (data.failed) this.#fail(data.failed);
    else if (data.died) this.#lose('died', data.died);
    else if (data.events) this.#asked.get(data.number)?.onEvents(data.events);
    else {
      const asked = this.#asked.get(data.number);
      this.#asked.delete(data.number);
      if (asked?.runs) this.#rest();
      asked?.resolve(data.answer);
      this.#tellState();
    }
  }

  #tellState() {
    if (!this.#isReady) return;
    this.#listeners.state(this.#stopping ? 'stopping' : this.isRunning ? 'running' : 'idle');
  }

  #rest() {
    clearTimeout(this.#stopping);
    this.#stopping = null;
  }

  #fail(why) {
    this.#isReady = false;
    this.#listeners.state('failed', why);
    this.#drop();
  }

  #drop() {
    const asked = [...this.#asked.values()];
    this.#asked.clear();
    asked.forEach(({ reject }) => reject(new Gone()));
  }

  #replace() {
    this.#worker?.terminate();
    this.#worker = null;
    this.#rest();
    this.#begin();
  }

  #lose(why, detail) {
    this.#drop();
    this.#replace();
    this.#listeners.lost(why, detail);
  }

  /** Whether something that the user began is still at work. */
  get isRunning() {
    return [...this.#asked.values()].some(({ runs }) => runs);
  }

  #send(content, onEvents, runs) {
    const number = (this.#number += 1);
    const message = { number, ...content };
    if (runs) this.#isUsed = true;
    const answer = new Promise((resolve, reject) => {
      this.#asked.set(number, { message, onEvents, runs, resolve, reject });
    });
    this.#worker?.postMessage(message);
    this.#tellState();
    return answer;
  }

  /** Asks for something; events on the way go to `onEvents`, some at a time. Fails with `Gone` if the session ends before. */
  ask(request, onEvents = () => {}) {
    const runs = RUNS.has(request.ask);
    // Whatever may draw is told how wide the place for pictures is.
    if (runs) request = { width: column(), ...request };
    const name = runs ? crypto.getRandomValues(new Uint32Array(4)).join('-') : undefined;
    return this.#send({ request, name }, onEvents, runs);
  }

  /** Puts a file into the session's memory. */
  put(name, bytes) {
    this.#isUsed = true;
    return this.#send({ put: { name, bytes } }, () => {}, false);
  }

  /** A file of the session's, or `null`. */
  get(name) {
    return this.#send({ get: name }, () => {}, false);
  }

  /** Stops what runs: gently, with everything kept, if the session hears, and otherwise by ending it. */
  stop() {
    const running = [...this.#asked.values()].filter(({ runs }) => runs);
    if (running.length === 0 || this.#stopping) return;
    if (!this.#hears || !serviceWorker?.controller) {
      this.#lose('ended');
      return;
    }
    running.forEach(({ message }) => serviceWorker.controller.postMessage({ stop: message.name }));
    this.#stopping = setTimeout(() => this.#lose('deaf'), PATIENCE);
    this.#tellState();
  }
}
