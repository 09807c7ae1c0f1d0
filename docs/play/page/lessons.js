// Lessons: told by the session, read here, with exercises that the session judges. What was done is kept in this browser.

import { Block, Section, reader, trial } from './block.js';
import { unlessGone } from './conversation.js';
import { button, make, show } from './dom.js';
import { keep, kept } from './kept.js';
import { Languages } from './languages.js';
import { Log } from './log.js';
import { markdown } from './markdown.js';
import { Prompt } from './prompt.js';
import { withSigns } from './signs.js';

const done = () => kept('learn', {});

function isDone(lesson, exercise) {
  return (done()[lesson] ?? []).includes(exercise);
}

function markDone(lesson, exercise) {
  if (!isDone(lesson, exercise)) keep('learn', { ...done(), [lesson]: [...(done()[lesson] ?? []), exercise] });
}

const progress = (name, count) => (done()[name] ?? []).filter((exercise) => exercise < count).length;

/** Parts of a lesson: prose as it stands, sessions as blocks of a section. */
function parts(content, section) {
  return content.flatMap((part) => {
    if (part.prose !== undefined) return markdown(part.prose);
    if (part.session.length === 0) return [];
    return new Block(section, part.session.map(withSigns).join('\n')).element;
  });
}

const VERDICTS = { right: 'good', wrong: 'fault', forbidden: 'fault' };

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

  constructor(lesson, index, content, next) {
    this.#lesson = lesson;
    this.#index = index;
    this.#content = content;
    this.#next = next;
    const hint = button('Hint', () => this.#hint(hint));
    hint.hidden = content.hints.length === 0;
    const solution = button('Solution', () => {
      solution.disabled = true;
      this.#help.append(make('h4', { text: 'Solution' }), ...parts(content.solution, new Section()));
    });
    this.element = make('section', { class: 'exercise', id: `exercise-${index + 1}` },
      make('h3', { tabindex: '-1' }, `Exercise: ${content.title} `, this.#mark),
      ...parts(content.task, new Section()),
      make('div', { class: 'buttons' }, this.#begin, hint, solution), this.#help, this.#place, this.#told, this.#onward);
    this.#marked();
  }

  #marked() {
    this.#mark.textContent = isDone(this.#lesson, this.#index) ? '✓ done' : '';
  }

  #hint(hint) {
    const hints = this.#content.hints;
    this.#help.append(make('h4', { text: hints.length > 1 ? `Hint ${this.#hints + 1}` : 'Hint' }), ...parts(hints[this.#hints], new Section()));
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
    const answer = await this.#asked({ ask: 'attempt', name: this.#lesson, exercise: this.#index, language }, entry);
    if (!answer) return;
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
    const answer = await unlessGone(trial.ask(request, (events) => entry.take(events)));
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
    this.#tell(answer.text ?? answer.refused ?? '', answer.verdict);
    if (answer.verdict === 'right') this.#succeed();
    return answer;
  }

  #tell(text, verdict) {
    this.#told.textContent = text;
    this.#told.className = `verdict ${VERDICTS[verdict] ?? ''}`;
  }

  #succeed() {
    markDone(this.#lesson, this.#index);
    this.#marked();
    this.#onward.replaceChildren(...[this.#next()].filter(Boolean));
    show(this.#onward);
  }
}

export class Lessons {
  #place;
  #shown = null;

  constructor(place) {
    this.#place = place;
  }

  async show(name) {
    const { lessons } = await reader.ask({ ask: 'lessons' });
    const lesson = lessons.find((other) => other.name === name);
    const language = kept('language', 'python');
    const shown = `${lesson?.name ?? ''} ${language}`;
    if (!lesson || shown !== this.#shown) {
      this.#shown = shown;
      await (lesson ? this.#read(lessons, lesson, language) : this.#list(lessons));
      scrollTo(0, 0);
    }
    this.#place.querySelector('h1').focus({ preventScroll: true });
    return lesson?.title ?? 'Lessons';
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
    this.#place.replaceChildren(
      make('h1', { text: 'Lessons', tabindex: '-1' }),
      make('p', { text: 'Storages, strides and views, taught by sessions that run as you read and exercises that are judged by what your answer does.' }),
      make('ol', { class: 'list' }, ...lessons.map(entry)),
    );
  }

  async #read(lessons, { name }, language) {
    const lesson = await reader.ask({ ask: 'lesson', name, language });
    const section = new Section();
    const content = parts(lesson.parts, section);
    const following = lessons[lessons.findIndex((other) => other.name === name) + 1];
    const onward = (i) => () => {
      if (i + 1 < exercises.length) {
        return button('Next exercise', () => {
          const next = exercises[i + 1];
          next.attempt();
          show(next.element, 'start');
        });
      }
      return following ? make('a', { href: `#/lessons/${following.name}`, text: `Next lesson: ${following.title}` }) : null;
    };
    const exercises = lesson.exercises.map((exercise, i) => new Exercise(name, i, exercise, onward(i)));
    this.#place.replaceChildren(
      make('div', { class: 'back' }, make('a', { href: '#/lessons', text: 'All lessons' }), this.#languages(language, () => this.show(name))),
      make('h1', { text: lesson.title, tabindex: '-1' }), ...content, ...exercises.map(({ element }) => element),
    );
    // It runs while it is being read.
    if (section.blocks.length > 0) section.runTo(section.blocks.at(-1));
  }
}
