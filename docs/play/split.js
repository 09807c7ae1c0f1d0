// Divides a WebAssembly module into streams for the packer: its instructions, their operands by kind, and all else. Each
// repeats itself more than the module does. wasm/unpack/merge.rs puts them together, and knows the same instructions.

/** The streams, in the order in which they are packed, each with what the packer is to know of it. */
const STREAMS = {
  rest: 'lc=4,lp=0,pb=0', instructions: 'lc=4,lp=0,pb=0', declarations: 'lc=4,lp=0,pb=0', locals: 'lc=4,lp=0,pb=0',
  integers: 'lc=4,lp=0,pb=0', longIntegers: 'lc=4,lp=0,pb=0', jumps: 'lc=4,lp=0,pb=0', calls: 'lc=0,lp=1,pb=1',
  types: 'lc=4,lp=0,pb=0', offsets: 'lc=4,lp=0,pb=0', constants: 'lc=0,lp=2,pb=2',
};

const CODE = 10;

class Stream {
  #bytes = Buffer.alloc(1 << 20);
  #length = 0;

  push(byte) {
    if (this.#length === this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#length)]);
    this.#bytes[this.#length++] = byte;
  }

  get bytes() {
    return this.#bytes.subarray(0, this.#length);
  }
}

/** The streams of a module, each with its bytes and what the packer is to know. */
export function split(module) {
  const streams = Object.fromEntries(Object.keys(STREAMS).map((name) => [name, new Stream()]));
  let at = 0;

  function copy(stream, count) {
    for (const end = at + count; at < end; at += 1) streams[stream].push(module[at]);
  }
  /** Reads a number in LEB128, and copies it if a stream is given. */
  function number(stream) {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = module[at++];
      if (stream) streams[stream].push(byte);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
    }
  }
  function access() {
    number('instructions');
    number('offsets');
  }
  function call() {
    const callee = number();
    if (callee > 0xffff) throw new Error('there are too many functions to call them in two bytes');
    streams.calls.push(callee & 255);
    streams.calls.push(callee >> 8);
  }
  function times(count, action) {
    for (let i = 0; i < count; i += 1) action();
  }

  function body() {
    times(number('declarations'), () => {
      number('declarations');
      number('declarations');
    });
    for (let depth = 0; ;) {
      const code = module[at];
      copy('instructions', 1);
      if (code >= 0x02 && code <= 0x04) {
        depth += 1;
        number('instructions');
      } else if (code === 0x0b) {
        if (depth === 0) return;
        depth -= 1;
      } else if (code === 0x0c || code === 0x0d) number('jumps');
      else if (code === 0x0e) times(number('jumps') + 1, () => number('jumps'));
      else if (code === 0x10) call();
      else if (code === 0x11) times(2, () => number('types'));
      else if (code >= 0x20 && code <= 0x22) number('locals');
      else if (code === 0x23 || code === 0x24 || code === 0x3f || code === 0x40) number('instructions');
      else if (code >= 0x28 && code <= 0x3e) access();
      else if (code === 0x41) number('integers');
      else if (code === 0x42) number('longIntegers');
      else if (code === 0x43) copy('constants', 4);
      else if (code === 0x44) copy('constants', 8);
      else if (code === 0xfc) {
        const which = number('instructions');
        if (which > 11 || which === 8 || which === 9) throw new Error(`instruction 0xfc ${which} is not known`);
        if (which > 9) times(12 - which, () => number('instructions'));
      } else if (code === 0xfd) {
        const which = number('instructions');
        if (which <= 11 || which === 92 || which === 93) access();
        else if (which === 12 || which === 13) copy('constants', 16);
        else if (which >= 21 && which <= 34) number('instructions');
        else if (which >= 84 && which <= 91) {
          access();
          number('instructions');
        }
      } else if ((code > 0x1b && code < 0x45) || (code > 0x05 && code < 0x0f) || code > 0xc4) {
        throw new Error(`instruction 0x${code.toString(16)} is not known`);
      }
    }
  }

  copy('rest', 8);
  while (at < module.length) {
    const id = module[at];
    copy('rest', 1);
    const end = number('rest') + at;
    if (id !== CODE) copy('rest', end - at);
    else times(number('rest'), () => {
      const next = number() + at;
      body();
      if (at !== next) throw new Error('a function does not end where it should');
    });
    if (at !== end) throw new Error('a section does not end where it should');
  }
  return Object.entries(STREAMS).map(([name, properties]) => ({ name, properties, bytes: streams[name].bytes }));
}

/** The module without what only describes it: sections that have names. */
export function bare(module) {
  const kept = [module.subarray(0, 8)];
  for (let at = 8; at < module.length;) {
    const begin = at;
    const id = module[at++];
    let length = 0;
    for (let scale = 1, byte = 128; byte >= 128; scale *= 128) {
      byte = module[at++];
      length += (byte & 127) * scale;
    }
    at += length;
    if (id !== 0) kept.push(module.subarray(begin, at));
  }
  return Buffer.concat(kept);
}
