// A session or a lesson as the end of a link, and back: JSON, compressed, in the letters that links may have. It stands behind the `#`,
// so that no server ever sees it.

/** How much text a link may unfold to. */
const MOST = 2_000_000;

async function through(bytes, stream) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > MOST) throw new Error('It is too long.');
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/** A session, `{ language, entries: [{ language, source }], draft }`, or a lesson, `{ name, text }`, as text for a link. */
export async function packed(content) {
  const bytes = await through(new TextEncoder().encode(JSON.stringify(content)), new CompressionStream('deflate-raw'));
  const characters = Array.from(bytes, (byte) => String.fromCharCode(byte)).join('');
  return btoa(characters).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

async function content(text) {
  const characters = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  const bytes = Uint8Array.from(characters, (character) => character.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw'))));
}

/** The lesson that a link holds. Throws where it holds none. */
export async function unpackedLesson(link) {
  const { name, text } = await content(link);
  if (typeof name !== 'string' || typeof text !== 'string') throw new Error('It has no name or no text.');
  return { name, text };
}

/** The session that a link holds. Throws where it holds none. */
export async function unpacked(text) {
  const session = await content(text);
  const isLanguage = (language) => language === 'python' || language === 'rhai';
  const isEntry = (entry) => isLanguage(entry?.language) && typeof entry.source === 'string';
  const { language, entries = [], draft = '' } = session;
  if (!isLanguage(language) || !Array.isArray(entries) || !entries.every(isEntry) || typeof draft !== 'string') {
    throw new Error('This link holds no session.');
  }
  return { language, entries, draft };
}
