// The session as a WebAssembly module: brings it to life, gives it what it asks of a system, and takes requests and answers
// through its memory. Works in a worker of a page and in node; knows neither.

// The stack that the module was linked with (docs/play/wasm/.cargo/config.toml), in bytes.
const STACK = 1 << 24;

// The engine has another stack, whose overflow would be the end of the session. Nobody can measure it, so whoever goes deeper
// asks first whether this many arguments, of eight bytes each, would still fit on it.
const ARGUMENTS = new Array(20000).fill(0);

function hasRoomForCalls() {
  try {
    Reflect.apply(() => 0, null, ARGUMENTS);
    return 1;
  } catch {
    return 0;
  }
}

const decoder = new TextDecoder();
const encoder = new TextEncoder();

// A module: from bytes, from the response to a request, which is compiled while it comes in, or made before.
async function compile(source) {
  if (source instanceof WebAssembly.Module) return source;
  return source instanceof Response ? WebAssembly.compileStreaming(source) : WebAssembly.compile(source);
}

// At most so many questions are not passed on, …
const MOST = 64;

// … by this: a session that computes small things asks millions of times a second, and one that computes large things a few
// hundred times.
function patient(shouldStop) {
  let wait = 1;
  let left = 0;
  let last = performance.now();
  return () => {
    if (left-- > 0) return 0;
    const now = performance.now();
    wait = now - last < 2 ? Math.min(wait * 2, MOST) : 1;
    last = now;
    left = wait;
    return shouldStop() ? 1 : 0;
  };
}

// What waits without burning the processor, where that is possible.
function sleep(milliseconds) {
  try {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
  } catch {
    const end = performance.now() + milliseconds;
    while (performance.now() < end);
  }
}

// What parts of libraries ask for that no session reaches (encrypted archives): functions that throw.
function unreached(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) {
    if (from !== 'tensorsh') (imports[from] ??= {})[name] = () => { throw new Error(`${name} was reached`); };
  }
  return imports;
}

// Begins a session. `onEvent` takes events as objects while a request is answered; `shouldStop` says whether what runs is to
// stop, and is asked often; `fetchPart` returns the bytes of a part of the program that few sessions need, or null where it
// cannot be had; `complain` takes what would go to standard error.
export async function load(source, { onEvent, shouldStop, fetchPart, complain = (text) => console.error(text) }) {
  let exports;
  // What the session has asked for and takes next.
  let asked;
  const offer = (bytes) => {
    asked = bytes;
    return bytes.length;
  };
  // Addresses come as signed numbers.
  const text = (address, length) => decoder.decode(new Uint8Array(exports.memory.buffer, address >>> 0, length >>> 0));
  const system = {
    event: (address, length) => onEvent(JSON.parse(text(address, length))),
    elapsed: () => performance.now(),
    epoch: () => Date.now(),
    sleep,
    has_room_for_calls: hasRoomForCalls,
    stop: patient(shouldStop),
    entropy: () => crypto.getRandomValues(new Uint32Array(1))[0],
    complain: (address, length) => complain(text(address, length)),
    fetch(address, length) {
      const bytes = fetchPart(text(address, length));
      return bytes ? offer(bytes) : -1;
    },
    normalize: (address, length) => offer(encoder.encode(text(address, length).normalize('NFKC'))),
    take: (address) => new Uint8Array(exports.memory.buffer, address >>> 0, asked.length).set(asked),
  };
  const module = await compile(source);
  const instance = await WebAssembly.instantiate(module, { ...unreached(module), tensorsh: system });
  exports = instance.exports;
  exports.begin_with_stack(STACK);

  function write(...parts) {
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    const address = exports.room(length);
    if (address === 0) throw new RangeError('the session has no memory for this');
    let place = address >>> 0;
    for (const part of parts) {
      new Uint8Array(exports.memory.buffer, place, part.length).set(part);
      place += part.length;
    }
  }
  const read = (length) => new Uint8Array(exports.memory.buffer, exports.given() >>> 0, length);

  return {
    // Answers a request. Throws if the session has died, which is then of no further use.
    answer(request) {
      write(encoder.encode(JSON.stringify(request)));
      const length = exports.answer() >>> 0;
      return JSON.parse(decoder.decode(read(length)));
    },
    // Keeps bytes as a file of the session. Returns whether it was kept: not under the name of a folder.
    putFile(name, bytes) {
      const written = encoder.encode(name);
      write(written, bytes);
      return exports.put_file(written.length) === 1;
    },
    // A copy of a file's bytes, or null where there is none.
    getFile(name) {
      write(encoder.encode(name));
      const length = exports.get_file() >>> 0;
      return length === 0 ? null : read(length - 1).slice();
    },
  };
}
