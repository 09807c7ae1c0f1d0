// Runs a script in Python in an instance of the WebAssembly module, and returns what it prints.
import { readFileSync } from 'node:fs';
import { parts } from '../../docs/play/contents.js';
import { load } from '../../docs/play/session.js';

/** An instance of a module. */
export async function instance(module) {
  const known = parts();
  return load(await WebAssembly.compile(readFileSync(module)), {
    onEvent: () => {}, shouldStop: () => false, fetchPart: (name) => known.get(name) ?? null, complain: console.error,
  });
}

/** What a script prints. Statements of several lines are indented by blanks. */
export function printed(instance, source) {
  const lines = source.trimEnd().split('\n').flatMap((line, at, all) => {
    const inside = line.startsWith(' ');
    if (all[at + 1]?.startsWith(' ')) return [(inside ? '... ' : '>>> ') + line];
    // What is expected is never printed, so that the report has what was printed instead.
    return inside ? [`... ${line}`, '...', '?'] : [`>>> ${line}`, '?'];
  });
  const answer = instance.answer({ ask: 'test', name: 'script', source: `\`\`\`pycon\n${lines.join('\n')}\n\`\`\`\n` });
  const examples = answer.report.files.flatMap((file) => file.sessions).flatMap((session) => session.examples);
  return examples.flatMap(({ printed }) => printed ? printed.trimEnd().split('\n') : []);
}
