import fc from 'fast-check';
import { expect, test } from 'vitest';
import { canonicalText } from '../../../src/base/json/equal.ts';
import { Json, parseLossless } from '../../../src/base/json/json.ts';
import { tryParse } from '../../../src/base/json/parse.ts';

const misleading = String.raw`{"name":"x","\\u0064escri":"P"}`;
const escaped = String.raw`{"name":"x","\u0064escription":"P"}`;
const meant = { name: 'x', description: 'P' };

test.each([
  ['Json', (text: string) => new Json(text).value],
  ['tryParse', tryParse],
  ['parseLossless', parseLossless],
  [
    'parseLossless of long numbers',
    (text: string) => parseLossless(text.replace('"P"', '"P","n":12345678901234567890')),
  ],
])('%s reads an escaped key, whatever keys earlier texts had', (_, parse) => {
  for (let time = 0; time < 100; time += 1) {
    parse(misleading);
    expect(parse(escaped)).toMatchObject(meant);
  }
});

test('a definition with another key is another definition', () => {
  for (let time = 0; time < 100; time += 1)
    expect(canonicalText(escaped)).not.toBe(canonicalText(misleading));
});

test('a text means the same with every character of its keys escaped', () => {
  const inEscapes = (key: string) =>
    [...key]
      .flatMap((character) => character.split(''))
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join('');
  const spell = (value: unknown): string => {
    if (Array.isArray(value)) return `[${value.map(spell).join(' , ')}]`;
    if (typeof value !== 'object' || value === null) return JSON.stringify(value);
    return `{ ${Object.entries(value)
      .map(([key, member]) => `"${inEscapes(key)}" : ${spell(member)}`)
      .join(' , ')} }`;
  };
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      const plain: unknown = JSON.parse(JSON.stringify(value));
      expect(new Json(spell(plain)).value).toEqual(plain);
    }),
  );
});
