import { stringifyJson } from '../../../../src/base/json/json.ts';

/** All texts and keys of a tree of JSON values. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return Object.entries(value).flatMap(([key, member]) => [key, ...textsOf(member)]);
}

/** Whether some text of it has this in it, read as every JSON parser reads it. */
export function says(value: unknown, text: string): boolean {
  return textsOf(JSON.parse(stringifyJson(value))).some((one) => one.includes(text));
}

/** The tree with each text changed; keys too. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, change));
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [change(key), mapTexts(member, change)]),
  );
}

/** Every tree that has the text in the place of one text, or as one more member of one object. */
export function* plantings(value: unknown, text: string): Generator<unknown> {
  if (typeof value === 'string') yield text;
  if (typeof value !== 'object' || value === null) return;
  const entries = Object.entries(value);
  const rebuild = (key: string, member: unknown) =>
    Array.isArray(value) ? value.with(Number(key), member) : { ...value, [key]: member };
  for (const [key, member] of entries)
    for (const planted of plantings(member, text)) yield rebuild(key, planted);
  if (Array.isArray(value)) return;
  yield { ...value, 'x-unknown': text };
  yield { ...value, 'x-deep': [{ inner: text }] };
  yield { ...value, [text]: 1 };
}
