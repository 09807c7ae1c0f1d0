// The panel of variables: which there are, and which of them stand on the same storage.

import { bytes, make } from './dom.js';
import { drawn, scrolling } from './picture.js';

const COLUMNS = [['name', 'name'], ['type', 'dtype'], ['size', 'size'], ['stride', 'stride'], ['offset', 'offset']];

/** Arrays count strides and offsets in bytes, tensors in elements. */
const unit = (variable, key) => (variable.unit === 'bytes' && (key === 'stride' || key === 'offset') ? ' B' : '');

function cell(value) {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return `(${value.join(', ')})`;
  return String(value);
}

function storage({ label, nbytes, picture, variables }, isOpen) {
  const head = make('tr', {}, ...COLUMNS.map(([, text]) => make('th', { scope: 'col', text })));
  const row = (variable) => make('tr', {}, ...COLUMNS.map(([key], i) =>
    make(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : undefined, text: cell(variable[key]) + unit(variable, key) })));
  const table = make('table', {}, make('caption', {}, make('span', { text: `Storage ${label}` }), ' ', make('span', { class: 'size', text: bytes(nbytes) })),
    make('thead', {}, head), make('tbody', {}, ...variables.map(row)));
  const box = scrolling(`Storage ${label}`, table);
  const drawing = picture && make('details', { 'data-storage': label, open: isOpen, 'aria-label': `Storage ${label} drawn` }, make('summary', { text: 'Where they lie' }),
    scrolling(`Picture of storage ${label}`, drawn(picture)));
  return make('div', { class: 'storage' }, box, drawing || null);
}

function other({ name, value }) {
  return make('div', {}, make('dt', { text: name }), make('dd', { text: value }));
}

/** Results that nobody named come and go with every input. */
const isNamed = ({ name }) => !/^_+$/.test(name);

/** Shows the variables in their place; pictures that were open stay so. */
export function show(place, { storages, others }) {
  const open = new Set([...place.querySelectorAll('details[open]')].map(({ dataset }) => dataset.storage));
  const named = storages.map((each) => ({ ...each, variables: each.variables.filter(isNamed) })).filter((each) => each.variables.length > 0);
  const rest = others.filter(isNamed);
  if (named.length === 0 && rest.length === 0) {
    place.replaceChildren(make('p', { class: 'none', text: 'None yet. Those that share a storage will stand together.' }));
    return;
  }
  const list = rest.length > 0 ? [make('dl', { class: 'others' }, ...rest.map(other))] : [];
  place.replaceChildren(...named.map((each) => storage(each, open.has(each.label))), ...list);
}
