import { Json, parseLossless, stringifyJson } from './json.ts';
import { parseJson } from './parse-json.ts';

export function isJson(text: string): boolean {
  return tryParse(text) !== undefined;
}

/** Returns undefined if the text is not JSON. */
export function tryParse(text: string): unknown {
  return attempt(() => parseJson(text));
}

/** Like `tryParse`, but numbers that a double cannot hold keep their digits. */
export function tryParseLossless(text: string): unknown {
  return attempt(() => parseLossless(text));
}

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

/** V8's message on one line and without its position, which readers would take for a position in the file. */
export function wordJsonError(thrown: unknown, text: string): string {
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  const [, at = ''] = /^Expected ':' after property name in JSON at position (\d+)/.exec(reason) ?? [];
  const [, key] = /("(?:[^"\\]|\\.)*")\s*$/.exec(at === '' ? '' : text.slice(0, Number(at))) ?? [];
  if (key !== undefined && key.length <= 80) return `a \`:\` is missing after the key ${key}`;
  return reason.replace(/ \(line \d+ column \d+\)$/, '').replaceAll(/\s+/g, ' ');
}

/** A hint for text that is nearly JSON; undefined without a likely correction. */
export function jsonHint(text: string): string | undefined {
  const [, key] = /[{,]\s*("[^"\\]{1,60}")\s*["{[\d]/.exec(text) ?? [];
  if (key !== undefined) return `Write ${key}: … with a colon after the key.`;
  if (/,\s*[}\]]/.test(text)) return 'Remove the comma before the closing bracket.';
  if (/[{[,:]\s*'/.test(text))
    return 'JSON needs double quotes, not single quotes; in Python, print(json.dumps(answer)).';
  if (/[{,]\s*[A-Za-z_][\w-]*\s*:/.test(text))
    return 'Write names and strings in double quotes: {"name": "text"}.';
  return undefined;
}

/** The string itself, or the value's JSON. `String()` throws at `{"toString": null}`. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value ?? null);
}
