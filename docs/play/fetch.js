// The thread that fetches the program, unpacks and compiles it, once for all sessions of a page, and is done then.

import { unpack } from './unpack.js';

try {
  const response = await fetch('tensorsh.wasm.lzma');
  if (!response.ok) throw new Error(`tensorsh.wasm.lzma could not be fetched: ${response.status}`);
  const bytes = unpack(new Uint8Array(await response.arrayBuffer()));
  postMessage({ program: await WebAssembly.compile(bytes) });
} catch (error) {
  postMessage({ failed: String(error?.message ?? error) });
}
