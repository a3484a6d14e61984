import { endOfContainer } from '../../../base/json/ends.ts';
import { isObject } from '../../../base/json/json.ts';
import { tryParse } from '../../../base/json/try-parse.ts';

/** The JSON objects that stand in a text. */
export interface FoundObjects {
  readonly objects: readonly FoundObject[];
  /** Whether something begins like a JSON object but cannot be parsed. */
  readonly isBroken: boolean;
}

export interface FoundObject {
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
}

/**
 * Finds the outermost JSON objects amid prose. An object that stands inside of other braces is left out: it is a
 * part of what could not be read, such as a text that was quoted without its escapes. Takes time in proportion to the text.
 */
export function findObjects(text: string): FoundObjects {
  const objects: FoundObject[] = [];
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '}') depth = Math.max(0, depth - 1);
    if (text[at] !== '{') continue;
    if (depth > 0 || !/^\{\s*["}]/.test(text.slice(at, at + MAX_LEADING_SPACE))) {
      depth += 1;
      continue;
    }
    const found = readObject(text, at);
    if (found === undefined) return { objects, isBroken: true };
    objects.push(found);
    at += found.text.length - 1;
  }
  return { objects, isBroken: false };
}

/** How much white space may stand before the first key. */
const MAX_LEADING_SPACE = 200;

function readObject(text: string, start: number): FoundObject | undefined {
  const end = endOfContainer(text, start);
  if (end === undefined) return undefined;
  const slice = text.slice(start, end);
  const value = tryParse(slice);
  return isObject(value) ? { text: slice, value } : undefined;
}
