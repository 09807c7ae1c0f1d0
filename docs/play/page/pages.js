// The project's pages, with every session on them alive. Which pages there are, the build knows.

import { Block, Section } from './block.js';
import { make } from './dom.js';
import { markdown, slug } from './markdown.js';

/** `[{ name, title, group, source }]`; `source` is the file's path in the project. */
const PAGES = BUILT_PAGES;

const SESSIONS = new Set(['pycon', 'rhai-session']);

function list() {
  const groups = [...new Set(PAGES.map(({ group }) => group))];
  const entry = ({ name, title, about }) => make('li', {}, make('a', { href: `#/pages/${name}`, text: title }), make('p', { text: about }));
  return [
    make('h1', { text: 'Pages', tabindex: '-1' }),
    make('p', { text: 'Every session on these pages runs where it stands, and can be changed.' }),
    ...groups.flatMap((group) => [
      make('h2', { text: group }),
      make('ul', { class: 'list' }, ...PAGES.filter((page) => page.group === group).map(entry)),
    ]),
  ];
}

/** Where a link on a page leads to here: another page, a lesson, a heading, or elsewhere. */
function leading(page) {
  return (href) => {
    if (/^https:\/\//.test(href)) return href;
    const [path, heading] = href.split('#');
    if (path === '') return `#/pages/${page.name}/${heading}`;
    const source = new URL(path, `https://project/${page.source}`).pathname.slice(1);
    const lesson = /^docs\/learn\/\d+-(.*)\.md$/.exec(source);
    if (lesson) return `#/lessons/${lesson[1]}`;
    const target = PAGES.find((other) => other.source === source);
    return target ? `#/pages/${target.name}${heading ? `/${heading}` : ''}` : null;
  };
}

async function read(page) {
  const response = await fetch(`pages/${page.name}.md`);
  if (!response.ok) throw new Error(`The page ${page.name} could not be fetched: ${response.status}`);
  let section = new Section();
  const content = markdown(await response.text(), {
    link: leading(page),
    heading: () => { section = new Section(); },
    code: ({ lang, text }) => (SESSIONS.has(lang) ? new Block(section, text).element : null),
  });
  return [make('div', { class: 'back' }, make('a', { href: '#/pages', text: 'All pages' })), ...content];
}

export class Pages {
  #place;
  #name = null;

  constructor(place) {
    this.#place = place;
  }

  /** Shows the list, or a page, at one of its headings. */
  async show(name, heading) {
    const page = PAGES.find((other) => other.name === name);
    const shown = page?.name ?? '';
    // A page that is shown already stays as it is, with what was run on it.
    if (this.#name !== shown) {
      this.#name = shown;
      this.#place.replaceChildren(...(page ? await read(page) : list()));
    }
    const target = heading && [...this.#place.querySelectorAll('[id]')].find(({ id }) => id === slug(heading));
    if (target) target.scrollIntoView();
    else scrollTo(0, 0);
    (target ?? this.#place.querySelector('h1'))?.focus({ preventScroll: true });
    return page?.title ?? 'Pages';
  }
}
