// Markdown as elements. The text is taken apart by `marked` and put together here, element by element, so that nothing in it
// can become markup: tags that stand in the text are left out, or shown as text.

import { make } from './dom.js';

/** What takes a text apart, once it is there: the prompt does without. */
let lexer;

/** Fetches what `markdown` needs. */
export async function prepare() {
  lexer ??= (await import('./lexer.js')).lexer;
}

/** The name of a heading in a link, as in the project's own links. */
export function slug(text) {
  return text.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').trim().replace(/\s/g, '-');
}

const INLINE = { strong: 'strong', em: 'em', del: 'del' };

/** `link(address)` gives the address that a link leads to here, or nothing if it leads nowhere. */
function inline(tokens, link) {
  return tokens.flatMap((token) => {
    switch (token.type) {
      case 'strong': case 'em': case 'del': return make(INLINE[token.type], {}, ...inline(token.tokens, link));
      case 'codespan': return make('code', { text: token.text });
      case 'br': return make('br');
      case 'link': {
        const href = link(token.href);
        const children = inline(token.tokens, link);
        return href ? make('a', { href, rel: href.startsWith('#') ? undefined : 'noopener noreferrer' }, ...children) : children;
      }
      case 'html': return token.raw.startsWith('<!--') ? [] : token.raw;
      case 'text': case 'escape': return token.tokens ? inline(token.tokens, link) : token.text;
      default: return token.raw;
    }
  });
}

/** The elements of a text. `code(token)` and `heading(element, token)` may take over what is theirs. */
function elements(tokens, { link, code, heading = () => {}, below = 0 }) {
  const options = { link, code, heading, below };
  return tokens.flatMap((token) => {
    switch (token.type) {
      case 'heading': {
        const element = make(`h${Math.min(6, token.depth + below)}`, { id: slug(token.text), tabindex: '-1' }, ...inline(token.tokens, link));
        heading(element, token);
        return element;
      }
      case 'paragraph': return make('p', {}, ...inline(token.tokens, link));
      case 'text': return token.tokens ? inline(token.tokens, link) : token.text;
      case 'code': return code(token);
      case 'blockquote': return make('blockquote', {}, ...elements(token.tokens, options));
      case 'list': return make(token.ordered ? 'ol' : 'ul', {}, ...token.items.map((item) => make('li', {}, ...elements(item.tokens, options))));
      case 'table': return table(token, link);
      case 'hr': return make('hr');
      case 'html': return /^\s*<!--/.test(token.raw) ? [] : token.raw;
      case 'space': case 'def': return [];
      default: return token.raw;
    }
  });
}

function table(token, link) {
  const row = (cells, tag) => make('tr', {}, ...cells.map((cell) => make(tag, tag === 'th' ? { scope: 'col' } : {}, ...inline(cell.tokens, link))));
  const content = make('table', {}, make('thead', {}, row(token.header, 'th')), make('tbody', {}, ...token.rows.map((cells) => row(cells, 'td'))));
  return make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Table' }, content);
}

const plainCode = ({ text }) => make('pre', { class: 'code', tabindex: '0', role: 'region', 'aria-label': 'Code' }, make('code', { text }));
const nowhere = (href) => (/^https:\/\//.test(href) ? href : null);

/** The elements of a text; `prepare` comes first. */
export function markdown(text, { link = nowhere, code = plainCode, heading, below } = {}) {
  return elements(lexer(text), { link, code: (token) => code(token) ?? plainCode(token), heading, below });
}
