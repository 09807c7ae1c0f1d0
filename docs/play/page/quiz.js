// Quizzes: questions that the session makes and judges, one at a time. Enter answers, and goes on.

import { reader } from './block.js';
import { unlessGone } from './conversation.js';
import { button, make, show } from './dom.js';
import { kept } from './kept.js';
import { markdown } from './markdown.js';
import { drawn } from './picture.js';

const TOPICS = ['strides', 'views', 'sharing', 'dtypes', 'broadcasting', 'indexing'];

function choice(label, options) {
  const select = make('select', {}, ...options.map(([value, text]) => make('option', { value, text })));
  return [make('label', {}, label, ' ', select), select];
}

export class Quiz {
  #place;
  #score = make('p', { class: 'note', role: 'status' });
  #question = make('div');
  #topic;
  #level;

  constructor(place) {
    this.#place = place;
  }

  async show() {
    if (!this.#topic) this.#begin();
    (this.#place.querySelector('#question input') ?? this.#place.querySelector('h1')).focus({ preventScroll: true });
    return 'Quiz';
  }

  #begin() {
    const [topic, topics] = choice('Topic', [['', 'all'], ...TOPICS.map((name) => [name, name])]);
    const [level, levels] = choice('Level', [['0', 'rising'], ['1', '1'], ['2', '2'], ['3', '3']]);
    [this.#topic, this.#level] = [topics, levels];
    this.#question.id = 'question';
    const start = (event) => {
      event.preventDefault();
      this.#ask({ ask: 'quiz', topic: topics.value, level: Number(levels.value), language: kept('language', 'python') });
    };
    this.#place.replaceChildren(
      make('h1', { text: 'Quiz', tabindex: '-1' }),
      make('p', { text: 'Questions without end, made at random from operations that the session runs. A picture explains a wrong answer.' }),
      make('form', { class: 'buttons', onsubmit: start }, topic, level, make('button', { class: 'run', text: 'Start' })),
      this.#question, this.#score,
    );
  }

  async #ask(request) {
    const answer = await unlessGone(reader.ask(request));
    if (request.ask === 'quiz') this.#score.textContent = '';
    if (!answer?.question) {
      this.#question.replaceChildren(make('p', { text: answer?.refused ?? 'There are no more questions; start again.' }));
      return;
    }
    this.#state(answer.question, answer.again);
  }

  #state({ number, topic, level, session, ask, options }, again) {
    const field = make('input', { 'aria-label': 'Answer', autocomplete: 'off', autocapitalize: 'off', spellcheck: 'false' });
    const told = make('span', { class: 'verdict', role: 'status' });
    const below = make('div');
    const next = () => this.#ask({ ask: 'next' });
    const go = make('button', { class: 'run', text: 'Answer' });
    let isAnswered = false;
    const judge = async () => {
      if (!field.value.trim()) return;
      const verdict = await unlessGone(reader.ask({ ask: 'guess', text: field.value }));
      if (!verdict || isAnswered) return;
      told.textContent = verdict.text ?? verdict.refused;
      told.className = `verdict ${{ right: 'good', wrong: 'fault' }[verdict.verdict] ?? ''}`;
      if (verdict.verdict !== 'right' && verdict.verdict !== 'wrong') return;
      isAnswered = true;
      field.readOnly = true;
      go.textContent = 'Next';
      skip.hidden = true;
      this.#score.textContent = `${verdict.right} of ${verdict.answered} right. The same questions again: ${again}`;
      if (verdict.picture) {
        below.append(make('figure', { class: 'picture' }, make('div', { class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Why' }, drawn(verdict.picture.svg))));
        show(field.form);
      }
    };
    const skip = button('Skip', next);
    const submit = (event) => {
      event.preventDefault();
      if (isAnswered) next();
      else judge();
    };
    const choose = ([letter, text]) => button(`${letter}) ${text}`, () => {
      if (isAnswered) return;
      field.value = text;
      judge();
      field.focus();
    }, { class: 'example' });
    this.#question.replaceChildren(
      make('h2', { text: `${number}. ${topic}, level ${level}` }),
      make('pre', { class: 'code', text: session.trimEnd() }),
      ...markdown(ask),
      ...(options.length ? [make('div', { class: 'buttons' }, ...options.map(choose))] : []),
      make('form', { class: 'buttons answer', onsubmit: submit }, field, go, skip, told), below,
    );
    field.focus({ preventScroll: true });
    show(field.form);
  }
}
