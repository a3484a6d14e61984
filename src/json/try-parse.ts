import { parseLossless } from './json.ts';

/** Whether the text is JSON. */
export function isJson(text: string): boolean {
  return tryParse(text) !== undefined;
}

/** The value of a JSON text; undefined when it is none, which no JSON value is. */
export function tryParse(text: string): unknown {
  return attempt(() => JSON.parse(text));
}

/** Like `tryParse`, with numbers that a double cannot hold as their digits. */
export function tryParseLossless(text: string): unknown {
  return attempt(() => parseLossless(text));
}

function attempt(parse: () => unknown): unknown {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
