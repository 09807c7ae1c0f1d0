//! Code common to both kinds of picture files: the colours of both themes, and escaping.

/// The inks as classes, for a light and a dark page. The reader's system chooses.
pub(crate) const STYLE: &str = "\
:root { color-scheme: light dark; --page: #ffffff; --plain: #1f2328; --label: #59636e; --frame: #c4ccd4; \
--shown: #0a3069; --shown-fill: #ddf4ff; --shared: #6b4300; --shared-fill: #ffe9ad; --unused: #656d76; \
--unused-fill: #f3f5f7; --fault: #b3121d; --fault-fill: #ffe2df; --good: #116329; --good-fill: #d8f8e0; }
@media screen and (prefers-color-scheme: dark) { :root { --page: #0d1117; --plain: #e6edf3; --label: #9aa4ae; --frame: #434c56; \
--shown: #b6dcff; --shown-fill: #12304f; --shared: #f7d272; --shared-fill: #463509; --unused: #8b949e; \
--unused-fill: #171d25; --fault: #ff9b94; --fault-fill: #4a1b1d; --good: #6fdd8b; --good-fill: #12361f; } }
.plain { --ink: var(--plain); --fill: var(--page); }
.title { --ink: var(--plain); --fill: var(--page); font-weight: 600; }
.label { --ink: var(--label); --fill: var(--page); }
.frame { --ink: var(--frame); --fill: var(--page); }
.shown { --ink: var(--shown); --fill: var(--shown-fill); }
.shared, .notable { --ink: var(--shared); --fill: var(--shared-fill); }
.unused { --ink: var(--unused); --fill: var(--unused-fill); }
.fault, .sign { --ink: var(--fault); --fill: var(--fault-fill); }
.good, .exponent { --ink: var(--good); --fill: var(--good-fill); }
.mantissa { --ink: var(--shown); --fill: var(--shown-fill); }
svg text { font: 13px ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace; white-space: pre; }
svg text, svg tspan { fill: var(--ink); }
svg .at:focus { outline: none; }
svg .at.lit rect { stroke: var(--fault); stroke-width: 2.5; }
svg .at.lit text { font-weight: 700; text-decoration: underline; }
svg rect.cell { fill: var(--fill); stroke: var(--frame); }
svg rect.bar { fill: var(--ink); }
svg text.sign-on-bar { fill: var(--page); }
svg rect.rest { fill: var(--unused-fill); stroke: var(--frame); }
";

/// Highlights all elements about the same cell of the storage as the one under the pointer or keyboard focus. Only one
/// of many cells is a Tab stop; arrow keys move on from it. A page describes the cell in its last line.
pub(crate) const SCRIPT: &str = "\
const all = [...document.querySelectorAll('.at')], stops = all.filter(e => e.hasAttribute('tabindex'));
const told = document.querySelector('#told');
stops.slice(1).forEach(e => e.setAttribute('tabindex', '-1'));
const light = here => {
  all.forEach(e => e.classList.toggle('lit', here !== null && e.dataset.at === here.dataset.at));
  if (told) told.textContent = here === null ? '' : here.getAttribute('aria-label') || '';
};
const focused = () => stops.includes(document.activeElement) ? document.activeElement : null;
all.forEach(e => {
  e.addEventListener('mouseenter', () => light(e));
  e.addEventListener('mouseleave', () => light(focused()));
});
// Some browsers let the keyboard stop at every part of a picture that listens for the focus itself.
document.addEventListener('focusin', () => light(focused()));
document.addEventListener('focusout', () => light(null));
const box = e => e.getBoundingClientRect();
document.addEventListener('keydown', event => {
  const here = focused();
  const by = {ArrowRight: 1, ArrowLeft: -1}[event.key], down = {ArrowDown: 1, ArrowUp: -1}[event.key];
  if (here === null || !by && !down) return;
  const far = e => Math.abs(box(e).y - box(here).y) * 1e4 + Math.abs(box(e).x - box(here).x);
  const below = e => down * (box(e).y - box(here).y) > 1;
  const to = by ? stops[stops.indexOf(here) + by] : stops.filter(below).sort((a, b) => far(a) - far(b))[0];
  event.preventDefault();
  if (!to) return;
  here.setAttribute('tabindex', '-1');
  to.setAttribute('tabindex', '0');
  to.focus({preventScroll: true});
  to.scrollIntoView({block: 'nearest', inline: 'nearest'});
});
";

/// Escapes text for markup.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Other control characters are not allowed in markup at all.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
