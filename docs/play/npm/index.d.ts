export type Language = 'python' | 'rhai';

export interface Event {
  event: string;
  [field: string]: unknown;
}

export interface Failure extends Event {
  event: 'error';
  /** Python's class of the error, such as `RuntimeError`. */
  kind: string;
  message: string;
  /** The error as the terminal prints it, with the place in the input. */
  text: string;
  /** The line in the input, from 1, and the column, from 0; null if the error is elsewhere. */
  line: number | null;
  column: number | null;
  hint: string | null;
}

export interface Outcome {
  /** Everything printed, and the value of each input. */
  text: string;
  warnings: string[];
  error: Failure | null;
  /** The end of a pasted session, if it is not complete yet: give it again with what follows. */
  unfinished: string | null;
  /** All of this as it happened, pictures included. */
  events: Event[];
}

export interface Report {
  passed: number;
  failed: number;
  /** The examples of each file, like those of `tensorsh test --json`. */
  files: unknown[];
}

export interface Session {
  /** Runs a line, several lines, or a session copied from a page. */
  run(source: string, options?: { language?: Language }): Outcome;
  /** Runs the examples of a page in a session of their own. The ending of `name` says what the page is. */
  test(name: string, source: string): Report;
  /** Answers a request of the page (docs/web.md of tensorsh). Throws RangeError if it is malformed. */
  ask(request: { ask: string; [field: string]: unknown }): any;
  /** Keeps bytes as a file of the session. False under the name of a folder. */
  putFile(name: string, bytes: Uint8Array): boolean;
  /** A copy of a file's bytes; null if there is none. */
  getFile(name: string): Uint8Array | null;
}

export interface Options {
  /** Asked while a session works; it stops, as by Ctrl-C, on true. */
  shouldStop?: () => boolean;
  /** Takes each event as it happens. */
  onEvent?: (event: Event) => void;
}

/** Begins a session. The module is compiled once for all sessions. */
export function open(options?: Options): Promise<Session>;
