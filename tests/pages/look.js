// What a reader of a page would complain of: each function gives a list of sentences, empty where all is well.
(() => {
  const visible = e => e.getClientRects().length > 0;
  const named = e => `<${e.tagName}> “${(e.textContent || '').trim().slice(0, 40)}”`;

  // Colours: red, green, blue from 0 to 255 and how opaque.
  const colour = text => {
    const parts = text.match(/[\d.]+/g).map(Number);
    return {rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1};
  };
  const over = (top, below) => top.rgb.map((part, i) => part * top.alpha + below[i] * (1 - top.alpha));
  const luminance = rgb => {
    const [r, g, b] = rgb.map(part => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  };
  const filled = e => {
    const style = getComputedStyle(e);
    const {rgb, alpha} = colour(style.fill);
    return {rgb, alpha: alpha * Number(style.fillOpacity) * Number(style.opacity)};
  };
  const paper = matchMedia('(prefers-color-scheme: dark)').matches ? [18, 18, 18] : [255, 255, 255];
  const behind = e => {
    const layers = [];
    for (let at = e; at; at = at.parentElement) layers.unshift(at);
    return layers.reduce((below, at) => {
      if (at instanceof SVGElement) return below;
      const style = getComputedStyle(at);
      return style.backgroundColor ? over(colour(style.backgroundColor), below) : below;
    }, paper);
  };
  // Rectangles of a picture lie below what is drawn after them.
  const beneath = (text, picture, rects) => {
    const box = text.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const covers = rect => {
      const {left, right, top, bottom} = rect.getBoundingClientRect();
      return rect.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING
        && left <= x && x <= right && top <= y && y <= bottom;
    };
    return rects.filter(covers).reduce((below, rect) => over(filled(rect), below), behind(picture));
  };
  const pictures = () => [...document.querySelectorAll('svg')].concat(
    document.documentElement instanceof SVGElement && !document.querySelector('svg') ? [document.documentElement] : []);

  window.look = {
    // Nothing sticks out but what scrolls by itself, and that only sideways.
    width() {
      const out = [];
      const page = document.scrollingElement || document.documentElement;
      if (page.scrollWidth > innerWidth) {
        const wide = [...document.body.querySelectorAll('*')].filter(e => visible(e) && !e.closest('.scroll > *')
          && e.getBoundingClientRect().right > innerWidth + 0.5);
        out.push(`the page is ${page.scrollWidth} wide in ${innerWidth}: ${wide.map(named).slice(0, 3)}`);
      }
      for (const box of document.querySelectorAll('.scroll')) {
        if (box.scrollHeight > box.clientHeight) out.push(`${box.ariaLabel} scrolls downwards`);
      }
      return out;
    },

    // WCAG 2.2, 1.4.3: text stands out from what is behind it, 4.5 to 1.
    contrast() {
      const out = [];
      const judge = (e, text, ground) => {
        const ratio = contrast(over(text, ground), ground);
        if (!(ratio >= 4.5)) out.push(`${named(e)} has a contrast of ${ratio.toFixed(2)}`);
      };
      for (const picture of pictures()) {
        const rects = [...picture.querySelectorAll('rect')];
        for (const text of picture.querySelectorAll('text')) {
          const ground = beneath(text, picture, rects);
          const pieces = text.querySelectorAll('tspan');
          for (const piece of pieces.length > 0 ? pieces : [text]) judge(piece, filled(piece), ground);
        }
      }
      const walk = document.createTreeWalker(document.body || document.createElement('p'), NodeFilter.SHOW_TEXT);
      while (walk.nextNode()) {
        const e = walk.currentNode.parentElement;
        if (!walk.currentNode.data.trim() || e.closest('svg, script, style') || !visible(e)) continue;
        judge(e, colour(getComputedStyle(e).color), behind(e));
      }
      return out;
    },

    // Text lies within its picture and its cell, and no text upon another.
    places() {
      const out = [];
      for (const picture of pictures()) {
        const whole = picture.viewBox.baseVal;
        const boxes = [...picture.querySelectorAll('text')].map(text => [text, text.getBBox()]).filter(b => b[1].width);
        for (const [text, box] of boxes) {
          if (box.x < whole.x - 1 || box.x + box.width > whole.x + whole.width + 1
            || box.y < whole.y - 1 || box.y + box.height > whole.y + whole.height + 1) {
            out.push(`${named(text)} reaches beyond its picture`);
          }
          const cell = text.parentElement.querySelector(':scope > rect.cell');
          if (cell && text.parentElement.matches('g') && box.width > cell.getBBox().width) {
            out.push(`${named(text)} is wider than its cell`);
          }
        }
        boxes.sort((a, b) => a[1].y - b[1].y);
        boxes.forEach(([text, box], i) => {
          for (const [other, below] of boxes.slice(i + 1)) {
            if (below.y >= box.y + box.height - 4) break;
            const common = Math.min(box.x + box.width, below.x + below.width) - Math.max(box.x, below.x);
            if (common > 1) out.push(`${named(text)} and ${named(other)} lie upon each other`);
          }
        });
      }
      return out;
    },

    // A picture says what it shows, by itself or by its parts; so does whatever the keyboard stops at.
    names() {
      const out = [];
      const name = e => (e.getAttribute('aria-label') || '').trim();
      for (const e of document.querySelectorAll('[role=img], [role=group], [role=region], [tabindex]')) {
        if (name(e).length < 3) out.push(`${named(e)} has no name`);
      }
      for (const picture of pictures()) {
        const told = [picture, ...picture.querySelectorAll('[role=img], [role=group]')].some(e => name(e));
        if (!told) out.push('a picture says nothing');
      }
      for (const cell of document.querySelectorAll('[role=group] .at')) {
        if (!cell.matches('[role=img][tabindex], [aria-hidden=true]')) out.push(`${named(cell)} is a cell without a name`);
      }
      return out;
    },

    // Cells, for the pointer and the keyboard.
    cells() {
      return [...document.querySelectorAll('.at')].map((e, i) => ({i, at: e.dataset.at, stop: e.hasAttribute('tabindex')}));
    },
    // The middle of a cell, in the window.
    middle(i) {
      const e = document.querySelectorAll('.at')[i];
      e.scrollIntoView({block: 'center', inline: 'center'});
      const box = (e.querySelector('rect') || e).getBoundingClientRect();
      return [box.x + box.width / 2, box.y + box.height / 2];
    },
    // The cells that look marked.
    marked() {
      return [...document.querySelectorAll('.at')].flatMap((e, i) => {
        const [rect, text] = [e.querySelector('rect'), e.querySelector('text')];
        const bold = Number(getComputedStyle(text).fontWeight) >= 600;
        const framed = !rect || parseFloat(getComputedStyle(rect).strokeWidth) > 2;
        return bold && framed ? [i] : [];
      });
    },
    // Where the keyboard is: the number of the cell or nothing, whether all of it can be seen, and where it is in the page.
    focus() {
      const e = document.activeElement, marked = look.marked();
      const i = [...document.querySelectorAll('.at')].indexOf(e);
      if (i < 0) return {i: null, seen: true, told: null, marked};
      const box = e.getBoundingClientRect(), told = document.querySelector('#told');
      const seen = [[box.left + 2, box.top + 2], [box.right - 2, box.bottom - 2]].every(([x, y]) => {
        const top = document.elementFromPoint(x, y);
        return top !== null && e.contains(top);
      });
      return {i, seen, name: e.getAttribute('aria-label'), told: told && told.textContent, top: box.top + scrollY, marked};
    },
  };
})();
