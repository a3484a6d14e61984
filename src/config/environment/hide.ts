import { createSecretHider, redactedMark } from '../../base/text/hide-secrets.ts';
import type { Problem, SourceLocation } from '../../base/yaml/problem.ts';
import type { FilledDocument } from './fill.ts';

/** Takes what variables hold out of what is told of a file; where such a value stands, every quotation of it too. */
export function hideFilled({ document, filled, secrets }: FilledDocument): (problem: Problem) => Problem {
  if (secrets.size === 0) return (problem) => problem;
  const hider = createSecretHider(secrets.values());
  const places = new Map(
    filled
      .filter(({ names }) => names.some((name) => secrets.has(name)))
      .map(({ path, text }) => [placeKey(document.positionOf(path)), text]),
  );
  return (problem) => {
    const { message, hint } = problem;
    const text = places.get(placeKey(problem));
    const show = (told: string) => hider.text(text === undefined ? told : hideQuoted(told, text));
    return { ...problem, message: show(message), ...(hint === undefined ? {} : { hint: show(hint) }) };
  };
}

function placeKey({ file, line, column }: SourceLocation): string {
  return `${line}:${column}:${file}`;
}

/** Quotations are shortened and their blanks are folded, so that the value itself is not to be found in them. */
function hideQuoted(told: string, value: string): string {
  const shown = told
    .replace(/\(got: .*\)/s, `(got: ${redactedMark})`)
    .replace(/the (string|number) .*/s, `the $1 ${redactedMark}`);
  const folded = value.replaceAll(/\s+/g, ' ');
  for (const whole of [value, folded]) {
    for (let length = Math.min(whole.length, LONGEST_QUOTE); length >= SHORTEST_QUOTE; length -= 1) {
      const piece = whole.slice(0, length);
      if (shown.includes(piece)) return shown.replaceAll(piece, redactedMark);
    }
  }
  return shown;
}

/** Characters that a message quotes at most. */
const LONGEST_QUOTE = 300;
/** Less of a secret says nothing, and stands in words of the message. */
const SHORTEST_QUOTE = 4;
