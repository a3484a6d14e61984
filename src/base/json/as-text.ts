import { stringifyJson } from './json.ts';

/** A value of a document as a text: itself, or its JSON. `String()` would throw at `{"toString": null}`. */
export function asText(value: unknown): string {
  return typeof value === 'string' ? value : stringifyJson(value ?? null);
}
