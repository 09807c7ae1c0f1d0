// Serves a folder to this machine alone: `node serve.mjs FOLDER [PORT]`. Any static server would do as well.

import { createReadStream, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript; charset=utf-8', '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml', '.md': 'text/markdown; charset=utf-8', '.txt': 'text/plain; charset=utf-8',
  '.gz': 'application/gzip', '.wasm': 'application/wasm',
};

/** The file that an address means, or nothing. */
function found(folder, url) {
  try {
    const path = normalize(join(folder, decodeURIComponent(new URL(url, 'http://localhost').pathname)));
    if (path !== folder && !path.startsWith(folder.endsWith(sep) ? folder : folder + sep)) return null;
    const file = statSync(path).isDirectory() ? join(path, 'index.html') : path;
    return statSync(file).isFile() ? file : null;
  } catch {
    return null;
  }
}

/** A server of a folder; port 0 is any that is free. */
export function serve(folder, port = 0) {
  const server = createServer((request, response) => {
    const file = found(normalize(folder), request.url);
    if (!file) {
      response.writeHead(404, { 'Content-Type': 'text/plain' }).end('There is no such file.\n');
      return;
    }
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Cache-Control': 'no-cache' });
    if (request.method === 'HEAD') response.end();
    else createReadStream(file).on('error', () => response.destroy()).pipe(response);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve({ server, port: server.address().port }));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder, port = '8000'] = process.argv.slice(2);
  if (!folder) {
    console.error('usage: node serve.mjs FOLDER [PORT]');
    process.exit(2);
  }
  const { port: taken } = await serve(folder, Number(port));
  console.log(`http://127.0.0.1:${taken}/`);
}
