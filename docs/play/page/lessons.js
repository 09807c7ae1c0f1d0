// Lessons: told by the session, read here, with exercises that the session judges. What was done is kept in this browser.
// A lesson of somebody else comes as a file or in a link. Nothing in it runs before the reader asks, and then not for long.

import { Block, LIMIT, Section, reader, stopsIn, trial } from './block.js';
import { unlessGone } from './conversation.js';
import { button, make, show } from './dom.js';
import { keep, kept } from './kept.js';
import { Languages } from './languages.js';
import { packed, unpackedLesson } from './link.js';
import { Log } from './log.js';
import { markdown } from './markdown.js';
import { Prompt } from './prompt.js';
import { withSigns } from './signs.js';

/** The longest lesson that is opened, in bytes. */
const LONGEST = 1024 * 1024;

/** What was done, by lesson: the numbers of exercises, from 0; of a lesson of somebody else their titles, which may move. */
const done = () => kept('learn', {});

function isDone(lesson, exercise) {
  return (done()[lesson] ?? []).includes(exercise);
}

function markDone(lesson, exercise) {
  if (!isDone(lesson, exercise)) keep('learn', { ...done(), [lesson]: [...(done()[lesson] ?? []), exercise] });
}

const progress = (name, count) => (done()[name] ?? []).filter((exercise) => exercise < count).length;

/** A longer paragraph is shown as it stands: reading it as Markdown could take too long. */
const PARAGRAPH = 5000;

/** Parts of a lesson: prose as it stands, sessions as blocks of a section. */
function parts(content, section) {
  // A heading of somebody else must not have the name of a part of the page.
  const heading = (element) => element.removeAttribute('id');
  return content.flatMap((part) => {
    if (part.prose?.length > PARAGRAPH) return make('p', { text: part.prose });
    if (part.prose !== undefined) return markdown(part.prose, { heading });
    if (part.session.length === 0) return [];
    const lines = part.session.flatMap((input) => (input.output ? [withSigns(input), input.output] : [withSigns(input)]));
    return new Block(section, lines.join('\n')).element;
  });
}

/** Opens a file as a lesson: its text goes into the address, where a reload finds it again. */
export async function openLesson(file) {
  const name = file.name.replace(/\.[^.]*$/, '');
  const text = file.size > LONGEST ? `# ${name}\n\nThis file has more than ${LONGEST} bytes, too many for a lesson.` : await file.text();
  location.hash = `#l=${await packed({ name, text })}`;
}

/** Verdicts on what is not an answer, or not yet one. */
const REMARKS = ['step', 'unsaid', 'more', 'error'];

const inkOf = (verdict) => (verdict === 'right' ? 'good' : REMARKS.includes(verdict) ? '' : 'fault');

/** The exercise that somebody is at: there is one attempt at a time. */
let begun = null;

/** One exercise: its task, and an attempt at it in a session of its own. */
class Exercise {
  #lesson;
  #index;
  #content;
  #next;
  #place = make('div', { class: 'attempt' });
  #told = make('p', { class: 'verdict', role: 'status' });
  #onward = make('div', { class: 'onward' });
  #help = make('div', { class: 'help' });
  #hints = 0;
  #mark = make('span', { class: 'done' });
  #begin = button('Try it', () => this.attempt(), { class: 'run' });
  #log = null;
  #prompt = null;
  element;

  /** `lesson` has the `name`, the `text` of one of somebody else, its `key` and the `address` of an exercise. */
  constructor(lesson, index, content, next) {
    this.#lesson = lesson;
    this.#index = index;
    this.#content = content;
    this.#next = next;
    const hint = button('Hint', () => this.#hint(hint));
    hint.hidden = content.hints.length === 0;
    const solution = button('Solution', () => {
      solution.disabled = true;
      this.#help.append(make('h4', { text: 'Solution' }), ...parts(content.solution, this.#section()));
    });
    solution.hidden = content.solution.length === 0;
    this.element = make('section', { class: 'exercise', id: `exercise-${index + 1}` },
      make('h3', { tabindex: '-1' }, `Exercise: ${content.title} `, this.#mark, ' ',
        make('a', { class: 'here', href: lesson.address(index + 1), text: '#', 'aria-label': 'Link to this exercise', title: 'Link to this exercise' })),
      ...parts(content.task, this.#section()),
      make('div', { class: 'buttons' }, this.#begin, hint, solution), this.#help, this.#place, this.#told, this.#onward);
    this.#marked();
  }

  #section() {
    return new Section(this.#lesson.text !== undefined);
  }

  /** How the exercise is named in what was done. */
  get #done() {
    return this.#lesson.text === undefined ? this.#index : this.#content.title;
  }

  #marked() {
    this.#mark.textContent = isDone(this.#lesson.key, this.#done) ? '✓ done' : '';
  }

  #hint(hint) {
    const hints = this.#content.hints;
    this.#help.append(make('h4', { text: hints.length > 1 ? `Hint ${this.#hints + 1}` : 'Hint' }), ...parts(hints[this.#hints], this.#section()));
    this.#hints += 1;
    hint.disabled = this.#hints >= hints.length;
    if (!hint.disabled) hint.textContent = 'Another hint';
  }

  /** Begins the attempt, or begins it anew. */
  async attempt() {
    trial.conversation.stop();
    if (begun !== this) begun?.#close();
    begun = this;
    const language = kept('language', 'python');
    const lines = make('div', { role: 'log', 'aria-label': 'Attempt', 'aria-live': 'polite' });
    this.#log = new Log(lines, { ask: trial.ask, pictures: trial.pictures });
    this.#prompt = new Prompt({
      ask: trial.ask, label: `Answer to: ${this.#content.title}`, run: (chosen, source) => this.#try(chosen, source), stop: () => this.#stop(),
    });
    this.#tell('');
    this.#place.replaceChildren(lines, this.#prompt.element);
    this.#begin.textContent = 'Begin again';
    trial.onState = (state) => { this.#prompt.isRunning = state === 'running' || state === 'stopping'; };
    trial.onLost = () => this.#tell('The session had to be ended; begin the exercise again.', 'wrong');
    const entry = this.#log.begin();
    const { name, text } = this.#lesson;
    const answer = await this.#asked({ ask: 'attempt', name, text, exercise: this.#index, language }, entry);
    if (!answer) return;
    if (answer.refused) this.#tell(answer.refused, 'wrong');
    for (const given of answer.given ?? []) this.#log.begin(given.language, given.source);
    entry.element.remove();
    this.#prompt.focus();
  }

  /** Another exercise is begun. */
  #close() {
    this.#place.replaceChildren();
    this.#tell('');
    this.#begin.textContent = 'Try it';
  }

  #stop() {
    if (!trial.conversation.isRunning) return false;
    trial.conversation.stop();
    return true;
  }

  async #asked(request, entry) {
    // Somebody else's exercise may be endless before anything is typed, and so may what it makes of an answer.
    const rest = this.#lesson.text === undefined ? () => {} : stopsIn(trial, () => this.#tell(`Stopped after ${LIMIT / 1000} seconds.`, 'wrong'));
    const answer = await unlessGone(trial.ask(request, (events) => entry.take(events)));
    rest();
    entry.end();
    return answer;
  }

  async #try(language, source) {
    const entry = this.#log.begin(language, source);
    const answer = await this.#asked({ ask: 'try', language, source }, entry);
    if (!answer) return null;
    if (answer.verdict === 'more') {
      entry.element.remove();
      return { unfinished: { language, source: `${source}\n` } };
    }
    this.#tell(answer.refused ?? '', 'wrong');
    // The verdict stands with its answer, whatever is typed next; the log is read out as it grows.
    if (answer.text) entry.element.append(make('p', { class: `verdict ${inkOf(answer.verdict)}`, text: answer.text }));
    if (answer.verdict === 'right') this.#succeed();
    // The prompt comes into view first, and then as much of the answer as there is room for.
    if (answer.text) requestAnimationFrame(() => this.#bring(entry.element));
    return answer;
  }

  /** Brings an answer, its verdict and what follows into view; if they do not fit, the answer. The verdict stays with it. */
  #bring(answer) {
    const last = this.#onward.hasChildNodes() ? this.#onward : this.#prompt.element;
    const fits = last.getBoundingClientRect().bottom - answer.getBoundingClientRect().top < innerHeight - 48;
    if (fits) show(last);
    else show(answer, 'start');
  }

  #tell(text, verdict) {
    this.#told.textContent = text;
    this.#told.className = text === '' ? 'verdict' : `verdict ${inkOf(verdict)}`;
  }

  #succeed() {
    markDone(this.#lesson.key, this.#done);
    this.#marked();
    this.#onward.replaceChildren(...[this.#next()].filter(Boolean));
  }
}

export class Lessons {
  #place;
  #shown = null;

  constructor(place) {
    this.#place = place;
  }

  /** Shows one of the lessons, or the list; `exercise` is the number of one of its exercises, from 1. */
  async show(name, exercise) {
    const { lessons } = await reader.ask({ ask: 'lessons' });
    const lesson = lessons.find((other) => other.name === name);
    const language = kept('language', 'python');
    const shown = `${lesson?.name ?? ''} ${language}`;
    if (!lesson || shown !== this.#shown) {
      this.#shown = shown;
      await (lesson ? this.#readOwn(lessons, lesson, language) : this.#list(lessons));
      scrollTo(0, 0);
    }
    this.#focus(exercise);
    return lesson?.title ?? 'Lessons';
  }

  /** Shows somebody else's lesson, which a link holds. Nothing in it runs. */
  async open(link, exercise) {
    if (this.#shown !== link) {
      this.#shown = link;
      await this.#readOther(link);
      scrollTo(0, 0);
    }
    this.#focus(exercise);
    return this.#place.querySelector('h1').textContent;
  }

  #focus(exercise) {
    const found = exercise && this.#place.querySelectorAll('.exercise')[exercise - 1];
    (found || this.#place).querySelector(found ? 'h3' : 'h1').focus({ preventScroll: true });
    if (found) show(found, 'start');
  }

  /** The choice of the language that lessons are told in; `again` tells the present one anew. */
  #languages(language, again) {
    const languages = new Languages((chosen) => {
      keep('language', chosen);
      again();
    });
    languages.chosen = language;
    return languages.element;
  }

  #list(lessons) {
    const entry = ({ name, title, exercises }) => {
      const count = progress(name, exercises);
      const state = count === exercises ? '✓ done' : `${count} of ${exercises} exercises`;
      return make('li', {}, make('a', { href: `#/lessons/${name}`, text: title }), make('p', { class: count === exercises ? 'done' : '', text: state }));
    };
    const chosen = make('input', { type: 'file', accept: '.md', class: 'unseen', tabindex: '-1', 'aria-hidden': 'true', onchange: () => openLesson(chosen.files[0]) });
    this.#place.replaceChildren(
      make('h1', { text: 'Lessons', tabindex: '-1' }),
      make('p', { text: 'Storages, strides and views, taught by sessions that run as you read and exercises that are judged by what your answer does.' }),
      make('ol', { class: 'list' }, ...lessons.map(entry)),
      make('p', { text: 'A lesson of somebody else is a Markdown file: drop it anywhere on the page, or choose it.' }),
      button('Open a lesson …', () => chosen.click()), chosen,
    );
  }

  async #readOwn(lessons, { name }, language) {
    const content = await reader.ask({ ask: 'lesson', name, language });
    const following = lessons[lessons.findIndex((other) => other.name === name) + 1];
    const next = () => (following ? make('a', { href: `#/lessons/${following.name}`, text: `Next lesson: ${following.title}` }) : null);
    const section = this.#read({ name, key: name, address: (number) => `#/lessons/${name}/${number}` }, content, next, this.#languages(language, () => this.show(name)));
    // It runs while it is being read.
    if (section.blocks.length > 0) section.runTo(section.blocks.at(-1));
  }

  async #readOther(link) {
    let lesson;
    try {
      lesson = await unpackedLesson(link);
    } catch (error) {
      this.#refuse('This lesson cannot be opened', `The link does not hold a lesson: ${error.message}`);
      return;
    }
    const content = await reader.ask({ ask: 'lesson', ...lesson, language: 'python' });
    if (content.refused) {
      this.#refuse(`${lesson.name} cannot be opened`, content.refused);
      return;
    }
    // Two people may give a file the same name, or a lesson the same title.
    const key = `${lesson.name}: ${content.title}`;
    const copied = make('span', { role: 'status' });
    const copy = button('Copy link', async () => {
      const isCopied = await navigator.clipboard.writeText(location.href).then(() => true, () => false);
      copied.textContent = isCopied ? 'The link holds the whole lesson.' : 'Copy the address of this page: it holds the whole lesson.';
    });
    const told = make('div', { class: 'notice' },
      make('p', { text: 'A lesson of somebody else. Nothing in it has run; what you run, runs on this machine for half a minute at most, and cannot leave the page.' }),
      make('p', { class: 'buttons' }, copy, copied));
    this.#read({ ...lesson, key, address: (number) => `#l=${link}/${number}` }, content, () => null, null, told);
  }

  #refuse(title, why) {
    this.#place.replaceChildren(
      make('div', { class: 'back' }, make('a', { href: '#/lessons', text: 'All lessons' })),
      make('h1', { text: title, tabindex: '-1' }), ...why.split('\n').map((text) => make('p', { text })),
    );
  }

  /** Fills the page with a lesson, whose last exercise is followed by `next`. The section holds its sessions. */
  #read(lesson, content, next, aside, told = null) {
    const section = new Section(lesson.text !== undefined);
    const shown = parts(content.parts, section);
    const onward = (i) => () => {
      if (i + 1 === exercises.length) return next();
      return button('Next exercise', () => {
        exercises[i + 1].attempt();
        show(exercises[i + 1].element, 'start');
      });
    };
    const exercises = content.exercises.map((exercise, i) => new Exercise(lesson, i, exercise, onward(i)));
    this.#place.replaceChildren(
      ...[make('div', { class: 'back' }, make('a', { href: '#/lessons', text: 'All lessons' }), aside),
        make('h1', { text: content.title, tabindex: '-1' }), told].filter(Boolean), ...shown, ...exercises.map(({ element }) => element),
    );
    return section;
  }
}
