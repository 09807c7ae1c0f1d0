// Where the page begins: which view its address names, and what belongs to all of them.

import { program } from './begin.js';
import { runs } from './page/conversation.js';
import { Lessons } from './page/lessons.js';
import { prepare } from './page/markdown.js';
import { listen } from './page/picture.js';
import { Pages } from './page/pages.js';
import { Play } from './page/play.js';
import { Quiz } from './page/quiz.js';

const EMBEDDED = /^#e=/;
const SESSION = /^#[se]=(.*)$/;
const LESSON = /^#l=([^/]*)(?:\/(\d+))?$/;

const isEmbedded = EMBEDDED.test(location.hash);
document.body.classList.toggle('embedded', isEmbedded);

runs(program);
listen();
if (isEmbedded) {
  // Within a frame, the name leads to the whole page, with this session.
  const name = document.querySelector('.top .name');
  name.href = location.href.replace('#e=', '#s=');
  name.target = '_blank';
  name.rel = 'noopener';
  name.title = 'Open this session in a page of its own';
}
const play = new Play({ isEmbedded });
const views = {
  lessons: new Lessons(document.getElementById('lessons')),
  quiz: new Quiz(document.getElementById('quiz')),
  pages: new Pages(document.getElementById('pages')),
};

/** A part of an address as text; one that is damaged names nothing that is here. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return '';
  }
}

async function follow() {
  const session = SESSION.exec(location.hash)?.[1];
  const [, view = 'play', name, heading] = location.hash.split('/').map(decoded);
  const lesson = LESSON.exec(location.hash);
  const shown = lesson ? 'lessons' : views[view] && session === undefined ? view : 'play';
  document.querySelectorAll('.view').forEach((section) => { section.hidden = section.id !== shown; });
  document.querySelectorAll('nav a').forEach((link) => {
    if (link.dataset.view === shown) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  });
  if (shown !== 'play') await prepare();
  const title = shown === 'play' ? null : await (lesson ? views.lessons.open(lesson[1], lesson[2]) : views[shown].show(name, heading));
  document.title = title ? `${title} — tensorsh` : 'tensorsh';
  if (session !== undefined) await play.open(session);
  if (shown === 'play' && !isEmbedded) play.focus();
}

document.querySelector('.skip').addEventListener('click', (event) => {
  event.preventDefault();
  document.getElementById('content').focus();
});
// What runs at the prompt is stopped from wherever the focus is.
document.addEventListener('keydown', (event) => {
  const isStop = event.key === 'Escape' || (event.key === 'c' && event.ctrlKey && getSelection().isCollapsed);
  if (isStop && !event.defaultPrevented && play.stop()) event.preventDefault();
});
addEventListener('hashchange', follow);
follow();
