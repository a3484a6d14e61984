import { Json, parseLossless } from './json.ts';

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

/** Like `tryParse`, with the exact text. */
export function tryJson(text: string): Json | undefined {
  return attempt(() => {
    const json = new Json(text);
    void json.value;
    return json;
  });
}

function attempt<Value>(parse: () => Value): Value | undefined {
  try {
    return parse();
  } catch {
    return undefined;
  }
}
