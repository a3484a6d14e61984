import { MAX_JSON_DEPTH } from '../../base/json/depth.ts';
import { OPEN_BRACE, OPEN_BRACKET } from '../../base/json/ends.ts';
import { JsonTokens } from '../../base/json/tokens.ts';
import { openPlace, type Place } from './place.ts';

/** What makes a text one that two readers could read differently, or that is no JSON; undefined when nothing does. */
export type JsonProblem = 'is not UTF-8' | 'is not JSON' | 'is nested too deeply' | 'has a key twice';

/** The text of bytes that are UTF-8; undefined when they are not. A byte order mark stays, and is no JSON. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** The whole value of a JSON text. Throws what `fail` makes of a problem. */
export function openStrictly(
  text: string,
  fail: (problem: JsonProblem) => Error,
  maxDepth = MAX_JSON_DEPTH,
): Place {
  const place = tryOpen(text);
  if (place === undefined) throw fail('is not JSON');
  const problem = findProblem(text, maxDepth);
  if (problem !== undefined) throw fail(problem);
  return place;
}

function tryOpen(text: string): Place | undefined {
  try {
    return openPlace(text);
  } catch {
    return undefined;
  }
}

/** One walk for both: bodies are long. */
function findProblem(text: string, maxDepth: number): JsonProblem | undefined {
  const tokens = new JsonTokens(text);
  /** The keys of the objects that are open, by depth. */
  const keys: Set<string>[] = [];
  while (tokens.next()) {
    const { code, depth } = tokens;
    if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      if (depth > maxDepth) return 'is nested too deeply';
      if (code === OPEN_BRACE) keys[depth] = new Set();
    } else if (tokens.isKey) {
      const known = keys[depth] ?? new Set();
      const before = known.size;
      if (known.add(tokens.name).size === before) return 'has a key twice';
    }
  }
  return undefined;
}
