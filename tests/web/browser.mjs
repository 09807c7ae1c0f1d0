// Chromium without a window, spoken to in the DevTools protocol over a pair of pipes: keys are pressed, text is pasted and
// files are dropped as by hand, and what the browser complains of is heard. Knows nothing of the page it looks at.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync, existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, delimiter } from 'node:path';

/** How long one answer may take, in milliseconds. */
const PATIENCE = 20_000;

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

const KEYS = {
  Enter: [13, '\r'], Tab: [9, ''], Escape: [27, ''], Backspace: [8, ''], Space: [32, ' '],
  ArrowLeft: [37, ''], ArrowUp: [38, ''], ArrowRight: [39, ''], ArrowDown: [40, ''], Home: [36, ''], End: [35, ''],
};

/** The path of the browser, or nothing where there is none. */
export function installed() {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path));
}

/** A promise that gives up after a while, saying what was waited for. */
function within(milliseconds, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${milliseconds} ms`)), milliseconds);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

export class Browser {
  #process;
  #profile;
  #asked = new Map();
  #number = 0;
  #pages = new Map();

  constructor() {
    this.#profile = mkdtempSync(join(tmpdir(), 'tensorsh-web-'));
    const flags = [
      '--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
      '--disable-background-networking', '--disable-component-update', '--disable-dev-shm-usage', '--hide-scrollbars',
      '--remote-debugging-pipe', `--user-data-dir=${this.#profile}`,
    ];
    // It reads commands from its descriptor 3 and answers on 4.
    this.#process = spawn(installed(), flags, { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
    let rest = Buffer.alloc(0);
    this.#process.stdio[4].on('data', (data) => {
      rest = Buffer.concat([rest, data]);
      for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
        this.#hear(JSON.parse(rest.subarray(0, end).toString()));
        rest = rest.subarray(end + 1);
      }
    });
    this.#process.stdio[3].on('error', () => {});
  }

  #hear(message) {
    if (message.id === undefined) {
      this.#pages.get(message.sessionId)?.hear(message);
      return;
    }
    const { resolve, reject, method } = this.#asked.get(message.id) ?? {};
    this.#asked.delete(message.id);
    if (message.error) reject?.(new Error(`${method}: ${JSON.stringify(message.error)}`));
    else resolve?.(message.result);
  }

  /** Sends one command and waits for its answer. */
  ask(method, params = {}, sessionId = undefined) {
    const id = (this.#number += 1);
    const answer = new Promise((resolve, reject) => this.#asked.set(id, { resolve, reject, method }));
    this.#process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId })}\0`);
    return within(PATIENCE, method, answer);
  }

  /** A place for tabs that share what the browser keeps, and share it with no others. */
  async context() {
    return (await this.ask('Target.createBrowserContext')).browserContextId;
  }

  /** A new tab. */
  async page({ context } = {}) {
    const { targetId } = await this.ask('Target.createTarget', { url: 'about:blank', browserContextId: context });
    const { sessionId } = await this.ask('Target.attachToTarget', { targetId, flatten: true });
    const page = new Page(this, sessionId, targetId);
    this.#pages.set(sessionId, page);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network', 'Accessibility', 'DOM']) await page.ask(`${domain}.enable`);
    return page;
  }

  /** Ends the browser, with all its processes, and forgets its profile. */
  async close() {
    const ended = new Promise((resolve) => this.#process.once('exit', resolve));
    this.ask('Browser.close').catch(() => {});
    await within(5000, 'closing the browser', ended).catch(() => this.#process.kill('SIGKILL'));
    rmSync(this.#profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }
}

export class Page {
  #browser;
  #session;
  #target;
  /** What happened since the page was made. */
  #events = [];

  constructor(browser, session, target) {
    this.#browser = browser;
    this.#session = session;
    this.#target = target;
  }

  hear(event) {
    this.#events.push(event);
  }

  ask(method, params) {
    return this.#browser.ask(method, params, this.#session);
  }

  async close() {
    await this.#browser.ask('Target.closeTarget', { targetId: this.#target });
  }

  /** Opens an address and waits until its document is loaded. */
  async open(url) {
    const before = this.#events.length;
    await this.ask('Page.navigate', { url });
    const isLoaded = (event) => event.method === 'Page.loadEventFired';
    // A step to another fragment loads nothing.
    const moved = (event) => isLoaded(event) || event.method === 'Page.navigatedWithinDocument';
    await this.until(`${url} is shown`, () => this.#events.slice(before).some(moved));
  }

  async reload() {
    const before = this.#events.length;
    await this.ask('Page.reload');
    await this.until('it is shown again', () => this.#events.slice(before).some((e) => e.method === 'Page.loadEventFired'));
  }

  /** Waits until something holds; gives what it gave. */
  async until(what, holds, milliseconds = 30_000) {
    const end = Date.now() + milliseconds;
    for (;;) {
      const value = await holds();
      if (value) return value;
      if (Date.now() > end) throw new Error(`waited ${milliseconds} ms in vain until ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  /** Waits until an expression is true in the page. */
  holds(expression, milliseconds) {
    return this.until(expression, () => this.value(expression), milliseconds);
  }

  /** What an expression gives in the page; promises are waited for. */
  async value(expression) {
    const asked = { expression, returnByValue: true, awaitPromise: true };
    const answer = await this.ask('Runtime.evaluate', asked);
    if (answer.exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(answer.exceptionDetails)}`);
    return answer.result.value;
  }

  /** What an expression gives in the frame whose address begins so, or nothing while there is none. */
  async valueInFrame(start, expression) {
    const { frameTree } = await this.ask('Page.getFrameTree');
    const frame = frameTree.childFrames?.find(({ frame: { url } }) => url.startsWith(start))?.frame;
    const isOf = ({ method, params }) => method === 'Runtime.executionContextCreated' && params.context.auxData.frameId === frame?.id;
    const context = this.#events.findLast(isOf)?.params.context.id;
    if (context === undefined) return undefined;
    const { result } = await this.ask('Runtime.evaluate', { expression, contextId: context, returnByValue: true });
    return result.value;
  }

  /** Shows the page in a window of another size, in a theme, with or without motion. */
  async show({ width, height = 900, theme = 'light', motion = 'no-preference', touch = false }) {
    const metrics = { width, height, deviceScaleFactor: touch ? 2 : 1, mobile: touch };
    await this.ask('Emulation.setDeviceMetricsOverride', metrics);
    await this.ask('Emulation.setTouchEmulationEnabled', { enabled: touch });
    const features = [
      { name: 'prefers-color-scheme', value: theme }, { name: 'prefers-reduced-motion', value: motion },
    ];
    await this.ask('Emulation.setEmulatedMedia', { features });
  }

  /** Presses a key by its name, with modifiers as in `Ctrl+c` and `Shift+Tab`. */
  async press(combination) {
    const parts = combination.split(/\+(?=.)/);
    const key = parts.pop();
    const modifiers = parts.reduce((bits, name) => bits | { Alt: 1, Ctrl: 2, Meta: 4, Shift: 8 }[name], 0);
    const [code, text] = KEYS[key] ?? [key.toUpperCase().charCodeAt(0), key];
    const event = { key: key === 'Space' ? ' ' : key, code: KEYS[key] ? key : `Key${key.toUpperCase()}`, modifiers, windowsVirtualKeyCode: code };
    const down = text && modifiers === 0 ? { type: 'keyDown', text } : { type: 'rawKeyDown' };
    await this.ask('Input.dispatchKeyEvent', { ...event, ...down });
    await this.ask('Input.dispatchKeyEvent', { ...event, type: 'keyUp' });
  }

  /** Types text, character by character; a newline is Enter. */
  async type(text) {
    for (const character of text) {
      if (character === '\n') await this.press('Enter');
      else await this.ask('Input.dispatchKeyEvent', { type: 'char', text: character });
    }
  }

  /** Pastes text where the focus is, as the clipboard does. */
  async paste(text) {
    await this.value(`(() => {
      const data = new DataTransfer();
      data.setData('text/plain', ${JSON.stringify(text)});
      document.activeElement.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    })()`);
  }

  /** Presses the mouse in the middle of the first element that a selector finds. */
  async click(selector) {
    const [x, y] = await this.value(`(() => {
      const element = document.querySelector(${JSON.stringify(selector)});
      element.scrollIntoView({ block: 'center' });
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    })()`);
    for (const type of ['mousePressed', 'mouseReleased']) {
      await this.ask('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
    }
  }

  /** Drops files of this machine on the page. */
  async drop(paths, x = 200, y = 200) {
    const data = { items: [], files: paths, dragOperationsMask: 1 };
    for (const type of ['dragEnter', 'dragOver', 'drop']) await this.ask('Input.dispatchDragEvent', { type, x, y, data });
  }

  /** Writes a picture of what is seen, or of the whole page. */
  async shot(path, { whole = false } = {}) {
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: whole });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  /** The tree that a screen reader reads: nodes that are not ignored, with role and name. */
  async heard() {
    const { nodes } = await this.ask('Accessibility.getFullAXTree');
    return nodes.filter((node) => !node.ignored).map((node) => ({ role: node.role?.value, name: node.name?.value ?? '' }));
  }

  /** What the browser complained of since this was last asked, and every request that went elsewhere than to `origin`. */
  complaints(origin) {
    const events = this.#events.splice(0);
    return events.flatMap(({ method, params }) => {
      if (method === 'Runtime.exceptionThrown') return [`exception: ${JSON.stringify(params.exceptionDetails)}`];
      if (method === 'Runtime.consoleAPICalled') return [`console: ${JSON.stringify(params.args)}`];
      if (method === 'Log.entryAdded') return [`log: ${params.entry.text} ${params.entry.url ?? ''}`];
      const url = method === 'Network.requestWillBeSent' ? params.request.url : '';
      const isOwn = url === '' || [origin, 'data:', 'blob:', 'about:'].some((start) => url.startsWith(start));
      return isOwn ? [] : [`asks the network for ${url}`];
    });
  }
}
