// A live session in any page: `<script src=".../embed.js" data-code="torch.arange(6)"></script>` puts a frame in its own
// place, in which the page of tensorsh shows that session. docs/web.md lists the attributes.

import { packed } from './page/link.js';

const script = document.currentScript;

(async () => {
  const { code, language = 'python', link, height = '420', title = 'A session of tensorsh' } = script.dataset;
  const entries = code ? [{ language, source: code }] : [];
  const session = link ? link.replace(/^.*#[se]=/, '') : await packed({ language, entries });
  const frame = document.createElement('iframe');
  frame.src = new URL(`./#e=${session}`, script.src).href;
  frame.title = title;
  frame.loading = 'lazy';
  frame.style.cssText = `width: 100%; height: ${Number(height) || 420}px; border: 1px solid #8886; border-radius: 6px;`;
  script.after(frame);
})();
