// How a session is written: the signs before the lines of its inputs. Only for showing and editing; which lines of a text
// are inputs when it runs, the session says.

export const SIGNS = { python: ['>>> ', '... '], rhai: ['rhai> ', '    > '] };

/** An input as it stands in a session. */
export function withSigns({ language, source }) {
  const [first, next] = SIGNS[language];
  return source.split('\n').map((line, i) => (i === 0 ? first : next) + line).join('\n');
}

/** Which sign a line begins with, as `[language, sign]`. */
function signOf(line, within) {
  for (const [language, [first, next]] of Object.entries(SIGNS)) {
    if (line.startsWith(first) || line === first.trimEnd()) return { language, sign: first, isFirst: true };
    const goesOn = within === language && (line.startsWith(next) || line === next.trimEnd());
    if (goesOn) return { language, sign: next, isFirst: false };
  }
  return null;
}

/**
 * The pieces of a session as it is written: inputs (`language`, `source`, and the position of each of its lines in the text)
 * and what stands between them (`output`).
 */
export function pieces(text) {
  const out = [];
  let position = 0;
  for (const line of text.split('\n')) {
    const last = out.at(-1);
    const found = signOf(line, last?.language);
    if (found) {
      const body = line.slice(found.sign.length);
      const place = { from: position, code: position + Math.min(found.sign.length, line.length) };
      if (found.isFirst) out.push({ language: found.language, source: body, lines: [place] });
      else {
        last.source += `\n${body}`;
        last.lines.push(place);
      }
    } else if (last && last.output !== undefined) last.output += `\n${line}`;
    else out.push({ output: line });
    position += line.length + 1;
  }
  return out;
}

/** The inputs of a session alone, signs included. */
export function inputsOf(text) {
  return pieces(text).filter((piece) => piece.language).map(withSigns).join('\n');
}
