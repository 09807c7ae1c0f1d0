// Elements of the page, made from names and text. Text is always text here: nothing is ever read as markup.

/** An element with properties (`class`, `text`, `on…` listeners, attributes) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'text') element.textContent = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(text, onclick, properties = {}) {
  return make('button', { type: 'button', text, onclick, ...properties });
}

/** What may be wider than its place scrolls sideways, and the keyboard can reach it where it does. */
export function reachable(element, label) {
  if (element.scrollWidth <= element.clientWidth) return;
  element.tabIndex = 0;
  element.setAttribute('role', 'region');
  element.setAttribute('aria-label', label);
}

/** Brings an element into view, calmly where motion is not wanted. */
export function show(element, block = 'nearest') {
  element.scrollIntoView({ block });
}

/** Hands a file to the person at the page. */
export function download(name, bytes, type = 'application/octet-stream') {
  const url = URL.createObjectURL(new Blob([bytes], { type }));
  make('a', { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A number of bytes as one reads it. */
export function bytes(count) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB'];
  let unit = 0;
  let size = count;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit += 1;
  }
  return `${unit === 0 ? size : size.toFixed(1)} ${count === 1 ? 'byte' : units[unit]}`;
}
