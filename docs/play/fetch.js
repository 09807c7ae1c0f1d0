// The thread that fetches the program, unpacks and compiles it, once for all sessions of a page, and is done then.

import { unpack } from './unpack.js';

async function bytes(name) {
  const response = await fetch(name);
  if (!response.ok) throw new Error(`${name} could not be fetched: ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

try {
  const pieces = unpack(...(await Promise.all(['unpack.wasm', 'tensorsh.wasm.lzma'].map(bytes))));
  // A piece is compiled while the next one is unpacked.
  const body = new ReadableStream({
    async pull(stream) {
      const { value, done } = await pieces.next();
      if (done) stream.close();
      else stream.enqueue(value);
    },
  });
  const program = await WebAssembly.compileStreaming(new Response(body, { headers: { 'Content-Type': 'application/wasm' } }));
  postMessage({ program });
} catch (error) {
  postMessage({ failed: String(error?.message ?? error) });
}
