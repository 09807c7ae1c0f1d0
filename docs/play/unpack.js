// Unpacks LZMA, which no browser does by itself and which makes the module a quarter smaller than what they do: with it, what
// a first visitor has to wait for. Knows nothing of what is packed. The format is that of `xz --format=lzma`, with the size
// written in its header; names are those of its specification.

const [RANGE, CODE] = [0, 1];
const BITS = 11;
const HALF = 1 << (BITS - 1);
const MOVE = 5;
const TOP = 2 ** 24;

const STATES = 12;
const MATCHED_FROM = 7;
const POSITIONS = 16;
const LENGTHS_LOW = 8;
const SLOTS = 64;
const FIRST_DIRECT = 4;
const FIRST_COUNTED = 14;
const ALIGN_BITS = 4;

/** Chances, all even. */
const even = (count) => new Uint16Array(count).fill(HALF);

/** The chances of a length: two choices, then short, middling and long ones. */
const lengths = () => ({
  choice: even(2), low: even(POSITIONS << 3), middle: even(POSITIONS << 3), high: even(256),
});

/** The bytes that were packed. Throws where the data ends too early or contradicts itself. */
export function unpack(packed) {
  const header = new DataView(packed.buffer, packed.byteOffset, 13);
  const properties = header.getUint8(0);
  const [literalContext, literalPosition, positionBits] = [properties % 9, Math.floor(properties / 9) % 5, Math.floor(properties / 45)];
  const size = Number(header.getBigUint64(5, true));
  if (properties >= 225 || size > 2 ** 30) throw new Error('this is not packed as it should be');
  const out = new Uint8Array(size);

  // The decoder of bits: a range, and where in it the data is. An array keeps both as they are; variables that functions
  // share would be boxed.
  let place = 13;
  const coder = new Uint32Array([0xffffffff, 0]);
  for (let i = 0; i < 5; i += 1) coder[CODE] = ((coder[CODE] << 8) | packed[place++]) >>> 0;

  function bit(chances, at) {
    const chance = chances[at];
    let range = coder[RANGE];
    let code = coder[CODE];
    const bound = Math.imul(range >>> BITS, chance) >>> 0;
    let found;
    if (code < bound) {
      range = bound;
      chances[at] = chance + (((1 << BITS) - chance) >> MOVE);
      found = 0;
    } else {
      code = (code - bound) >>> 0;
      range = (range - bound) >>> 0;
      chances[at] = chance - (chance >> MOVE);
      found = 1;
    }
    if (range < TOP) {
      range = (range << 8) >>> 0;
      code = ((code << 8) | packed[place++]) >>> 0;
    }
    coder[RANGE] = range;
    coder[CODE] = code;
    return found;
  }

  function tree(chances, from, bits) {
    let at = 1;
    for (let i = 0; i < bits; i += 1) at = (at << 1) | bit(chances, from + at);
    return at - (1 << bits);
  }

  /** The lowest bit first. */
  function reversed(chances, from, bits) {
    let at = 1;
    let value = 0;
    for (let i = 0; i < bits; i += 1) {
      const found = bit(chances, from + at);
      at = (at << 1) | found;
      value |= found << i;
    }
    return value;
  }

  /** Bits whose chances are even and stay so. */
  function direct(bits) {
    let value = 0;
    for (let i = 0; i < bits; i += 1) {
      coder[RANGE] >>>= 1;
      const found = coder[CODE] >= coder[RANGE] ? 1 : 0;
      if (found) coder[CODE] -= coder[RANGE];
      if (coder[RANGE] < TOP) {
        coder[RANGE] = (coder[RANGE] << 8) >>> 0;
        coder[CODE] = ((coder[CODE] << 8) | packed[place++]) >>> 0;
      }
      value = value * 2 + found;
    }
    return value;
  }

  function length(chances, position) {
    if (bit(chances.choice, 0) === 0) return 2 + tree(chances.low, position << 3, 3);
    if (bit(chances.choice, 1) === 0) return 2 + LENGTHS_LOW + tree(chances.middle, position << 3, 3);
    return 2 + 2 * LENGTHS_LOW + tree(chances.high, 0, 8);
  }

  const literals = even(0x300 << (literalContext + literalPosition));
  const isMatch = even(STATES * POSITIONS);
  const isRepeated = even(STATES);
  const isNotFirst = even(STATES);
  const isNotSecond = even(STATES);
  const isNotThird = even(STATES);
  const isLong = even(STATES * POSITIONS);
  const slots = even(4 * SLOTS);
  const counted = even(128);
  const aligned = even(1 << ALIGN_BITS);
  const matched = lengths();
  const repeated = lengths();

  function literal(at, state, distance) {
    const before = at > 0 ? out[at - 1] : 0;
    const context = ((at & ((1 << literalPosition) - 1)) << literalContext) + (before >> (8 - literalContext));
    const from = 0x300 * context;
    let symbol = 1;
    if (state >= MATCHED_FROM) {
      let other = out[at - distance - 1];
      while (symbol < 0x100) {
        const expected = (other >> 7) & 1;
        other <<= 1;
        const found = bit(literals, from + ((1 + expected) << 8) + symbol);
        symbol = (symbol << 1) | found;
        if (found !== expected) break;
      }
    }
    while (symbol < 0x100) symbol = (symbol << 1) | bit(literals, from + symbol);
    return symbol & 0xff;
  }

  function distanceFor(count) {
    const slot = tree(slots, Math.min(count - 2, 3) * SLOTS, 6);
    if (slot < FIRST_DIRECT) return slot;
    const bits = (slot >> 1) - 1;
    const start = (2 | (slot & 1)) * 2 ** bits;
    if (slot < FIRST_COUNTED) return start + reversed(counted, start - slot, bits);
    return start + direct(bits - ALIGN_BITS) * (1 << ALIGN_BITS) + reversed(aligned, 0, ALIGN_BITS);
  }

  // The last four distances, and what the last steps were.
  let [first, second, third, fourth] = [0, 0, 0, 0];
  let state = 0;
  let at = 0;

  /** Takes one of the last distances to the front; says whether it is for a single byte. */
  function isFirst(before, position) {
    if (bit(isNotFirst, before) === 0) return bit(isLong, before * POSITIONS + position) === 0;
    if (bit(isNotSecond, before) === 0) [first, second] = [second, first];
    else if (bit(isNotThird, before) === 0) [first, second, third] = [third, first, second];
    else [first, second, third, fourth] = [fourth, first, second, third];
    return false;
  }

  while (at < size) {
    const position = at & ((1 << positionBits) - 1);
    if (bit(isMatch, state * POSITIONS + position) === 0) {
      out[at] = literal(at, state, first);
      at += 1;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let count;
    if (bit(isRepeated, state) === 0) {
      [fourth, third, second] = [third, second, first];
      count = length(matched, position);
      first = distanceFor(count);
      state = state < MATCHED_FROM ? 7 : 10;
    } else if (isFirst(state, position)) {
      count = 1;
      state = state < MATCHED_FROM ? 9 : 11;
    } else {
      count = length(repeated, position);
      state = state < MATCHED_FROM ? 8 : 11;
    }
    if (first >= at || at + count > size || place > packed.length) throw new Error('what is packed is damaged');
    for (let i = 0; i < count; i += 1, at += 1) out[at] = out[at - first - 1];
  }
  return out;
}
