import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createSecretHider } from '../../../src/base/text/hide-secrets.ts';

const key = 'sk-desk-4f9A+x/Qm2Zr8kTb7Lw1&"ß\\9';

/** Escapes that programs use for single characters. */
const spelled = fc.constantFrom(
  (text: string) => text,
  (text: string) => JSON.stringify(text).slice(1, -1),
  (text: string) => JSON.stringify(JSON.stringify(text)).slice(3, -3),
  (text: string) => JSON.stringify(text).slice(1, -1).replaceAll('/', '\\/'),
  (text: string) => encodeURIComponent(text),
  (text: string) => new URLSearchParams({ q: text }).toString().slice(2),
  (text: string) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('/', '&#x2F;'),
  (text: string) =>
    Array.from(text, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join(''),
  (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, ''),
  (text: string) => Buffer.from(`u:${text}`).toString('base64url'),
  (text: string) => Buffer.from(`user:${text}`).toString('base64').replaceAll(/.{19}/g, '$&\n'),
  (text: string) => Buffer.from(text).toString('hex'),
  (text: string) => Buffer.from(text).toString('hex').toUpperCase(),
);

function cut(text: string, places: readonly number[]): string[] {
  const sorted = [0, ...places.map((place) => place % (text.length + 1)), text.length].toSorted(
    (a, b) => a - b,
  );
  return sorted.slice(1).map((end, index) => text.slice(sorted[index], end));
}

test('a secret is hidden in every spelling, and nothing beside it changes', () => {
  fc.assert(
    fc.property(spelled, fc.constantFrom('', 'x', 'key=', '"'), (spell, before) => {
      const shown = createSecretHider([key]).text(`${before} ${spell(key)} ${before}`);
      expect(shown).toMatch(/^(?:x|key=|"|) .{0,8}\[redacted\].{0,4} (?:x|key=|"|)$/s);
    }),
  );
});

test.each(['\n', '\r', '\t', '\b', '\f', '"', '\\', '%', '&', 'n', 'u', '+'])(
  'a secret that begins with %j is found behind any number of backslashes',
  (first) => {
    const secret = `${first}k3y-of-the-house`;
    const { text } = createSecretHider([secret]);
    let written = secret;
    for (let nesting = 0; nesting < 4; nesting++) {
      expect(text(`a\\n\\\\n b: ${written} c`)).not.toContain('of-the-house');
      written = JSON.stringify(written).slice(1, -1);
    }
  },
);

test('a text in pieces is hidden like the whole, wherever it is cut', () => {
  fc.assert(
    fc.property(spelled, fc.array(fc.nat(), { maxLength: 8 }), fc.string(), (spell, places, between) => {
      const hider = createSecretHider([key, 'x9+/y8-_z7']);
      const text = `${between} ${spell(key)} ${between}x9+/y8-_z7.\n`;
      const stream = hider.stream();
      const shown =
        cut(text, places)
          .map((piece) => stream.push(piece))
          .join('') + stream.rest();
      expect(shown).toBe(hider.text(text));
    }),
  );
});

test('a text is also hidden as a whole if it is cut within an escape', () => {
  const hider = createSecretHider([key]);
  const text = Array.from(key, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  for (let at = 0; at <= text.length; at++) {
    const stream = hider.stream();
    const shown = stream.push(text.slice(0, at)) + stream.push(text.slice(at)) + stream.rest();
    expect(shown).toBe('[redacted]');
  }
  expect(createSecretHider(['key-at-end\\']).text('a key-at-end\\')).toBe('a [redacted]');
});

test('a text that ends within a secret does not show its beginning', () => {
  fc.assert(
    fc.property(spelled, fc.nat(), (spell, place) => {
      const written = spell(key);
      const text = written.slice(0, 8 + (place % (written.length - 8)));
      const stream = createSecretHider([key]).stream();
      const shown = stream.push(`is ${text}`) + stream.rest();
      for (let at = 8; at + 8 <= text.length; at++) expect(shown).not.toContain(text.slice(at, at + 8));
    }),
  );
});

test('a text without a secret is unchanged, in one piece and in many', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat()), (text, places) => {
      const hider = createSecretHider([key]);
      const stream = hider.stream();
      expect(hider.text(text)).toBe(text);
      expect(
        cut(text, places)
          .map((piece) => stream.push(piece))
          .join('') + stream.rest(),
      ).toBe(text);
    }),
  );
});

test.each([
  'postgres://desk:tr0ub4dor%263@db/orders',
  'postgres://desk:tr0ub4dor%263@db/orders?sslmode=require',
  'postgres://db/orders?password=tr0ub4dor%263',
  'postgres:///orders?host=/run/pg&user=desk&password=tr0ub4dor%263&sslmode=disable',
])('the password in the address %s is a separate secret', (address) => {
  const hider = createSecretHider([address]);
  expect(hider.text('pg: tr0ub4dor&3, tr0ub4dor%263')).toBe('pg: [redacted], [redacted]');
  expect(hider.text('orders of the desk')).toBe('orders of the desk');
});

test('secrets that are added later are hidden too', () => {
  const hider = createSecretHider([]);
  hider.add(['hunter22']);
  expect(hider.text('it was hunter22')).toBe('it was [redacted]');
});

test('two overlapping secrets leave no rest of either', () => {
  expect(createSecretHider(['abcdef12', 'f12xyz999']).text('> abcdef12xyz999 <')).toBe('> [redacted] <');
});
