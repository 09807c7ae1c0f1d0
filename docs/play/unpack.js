// Unpacks the program. It is packed by LZMA, which no browser unpacks by itself, in streams that `split.js` makes: a third
// smaller than what browsers unpack. A small module does the work (wasm/unpack), in a third of the time that JavaScript takes.

/** The bytes that were packed, in pieces. `unpacker` is the bytes of the small module. Throws where the data is damaged. */
export async function* unpack(unpacker, packed) {
  const { instance: { exports } } = await WebAssembly.instantiate(unpacker);
  const seen = (address, length) => new Uint8Array(exports.memory.buffer, address >>> 0, length);
  seen(exports.room(packed.length), packed.length).set(packed);
  if (exports.begin() === 0) throw new Error('this is not packed as it should be');
  for (;;) {
    const length = exports.next();
    if (length < 0) throw new Error('what is packed is damaged');
    if (length === 0) return;
    yield seen(exports.piece(), length).slice();
  }
}
