// The service worker: keeps every file of the page, so that it works offline, and tells running sessions to stop, which
// cannot hear of it otherwise. Asks nobody but the server that the page came from.

/**
 * Which files there are, the folder of those that are kept once they have been asked for, and a name that changes whenever
 * one of them does; the build writes all three.
 */
const { version, files, onceAsked } = BUILT;
const CACHE = `tensorsh-${version}`;

/** The names of what is to stop. */
const stopped = new Set();

async function fill() {
  const cache = await caches.open(CACHE);
  const has = new Set((await cache.keys()).map((request) => request.url));
  const missing = files.filter((file) => !has.has(new URL(file, registration.scope).href));
  await cache.addAll(missing.map((file) => new Request(file, { cache: 'reload' })));
}

async function others() {
  return (await caches.keys()).filter((name) => name.startsWith('tensorsh-') && name !== CACHE);
}

// The first one serves at once, and is filled while the page is used; a later one waits until it has everything and no
// page of the version before is open.
addEventListener('install', (event) => {
  const install = async () => ((await others()).length === 0 ? skipWaiting() : fill());
  event.waitUntil(install());
});

addEventListener('activate', (event) => {
  const activate = async () => {
    await Promise.all((await others()).map((name) => caches.delete(name)));
    await clients.claim();
  };
  event.waitUntil(activate());
});

addEventListener('message', (event) => {
  const { stop, fill: isToFill, claim } = event.data;
  if (stop) stopped.add(stop);
  if (isToFill) event.waitUntil(fill());
  if (claim) event.waitUntil(clients.claim());
});

/** The file from the cache, or from the server, and then into the cache. */
async function serve(event, file) {
  const cache = await caches.open(CACHE);
  const cached = await cache.match(file);
  if (cached) return cached;
  const response = await fetch(event.request);
  if (response.ok) event.waitUntil(cache.put(file, response.clone()));
  return response;
}

addEventListener('fetch', (event) => {
  const url = new URL(event.request.url);
  if (!url.href.startsWith(registration.scope)) return;
  const path = url.pathname.slice(new URL(registration.scope).pathname.length);
  if (path.startsWith('stopped/')) {
    const answer = stopped.delete(path.slice('stopped/'.length)) ? 'stop' : 'go on';
    event.respondWith(new Response(answer, { headers: { 'Content-Type': 'text/plain' } }));
    return;
  }
  const file = path === '' ? 'index.html' : path;
  if (files.includes(file) || file.startsWith(onceAsked)) event.respondWith(serve(event, file));
});
