import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Json } from '../../../src/base/json/json.ts';
import { exactMembers } from '../../../src/base/json/scan.ts';
import { textOf, withMember } from '../../../src/mcp/proxy/edit.ts';
import { readEvents, type ServerEvent, writeEvent } from '../../../src/mcp/proxy/sse.ts';

const key = fc.oneof(fc.constantFrom('__proto__', 'a', 'a"b', '\\', 'é\n', ''), fc.string());
const object = fc.dictionary(key, fc.jsonValue(), { maxKeys: 6 });
const space = fc.stringMatching(/^[ \t\n\r]{0,3}$/);

/** An object with odd spacing and escapes. */
const objectText = fc
  .tuple(object, fc.array(space, { minLength: 4, maxLength: 4 }))
  .map(([value, [a, b, c, d]]) => {
    const members = Object.keys(value).map((name) => {
      const escaped = JSON.stringify(name).replace('a', String.raw`\u0061`);
      return `${a}${escaped}${b}:${c}${JSON.stringify(value[name])}${d}`;
    });
    return `{${members.join(',')}${a}}`;
  });

test('a member is replaced, added and removed without a change elsewhere', () => {
  fc.assert(
    fc.property(objectText, key, fc.jsonValue(), (text, name, value) => {
      const before = membersIn(text).filter(([each]) => each !== name);
      const changed = withMember(text, name, JSON.stringify(value));
      expect(JSON.parse(textOf(changed, name) ?? '')).toEqual(JSON.parse(JSON.stringify(value)));
      expect(membersIn(changed).filter(([each]) => each !== name)).toEqual(before);
      const removed = withMember(text, name, undefined);
      expect(membersIn(removed)).toEqual(before);
      if (before.length === membersIn(text).length) expect(removed).toBe(text);
    }),
  );
});

/** The members with their exact texts. */
function membersIn(text: string): [string, string][] {
  return [...exactMembers(new Json(text))].map(([name, { text }]) => [name, text]);
}

async function eventsOf(
  bytes: Uint8Array,
  cuts: readonly number[],
  maxBytes = 1_000_000,
): Promise<ServerEvent[]> {
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  async function* chunks() {
    for (const [index, place] of places.slice(0, -1).entries()) yield bytes.slice(place, places[index + 1]);
  }
  return await Array.fromAsync(readEvents(chunks(), maxBytes));
}

test.each(['\n', '\r\n', '\r'])('a stream is read however it is cut (%j)', async (newline) => {
  const lines = [
    'event: message',
    'id: 7',
    'data: {"a":',
    'data:  "é€😀"}',
    '',
    ': ping',
    '',
    'retry: 20',
    'data: x',
    '',
    '',
  ];
  const bytes = new TextEncoder().encode(lines.join(newline));
  const expected: ServerEvent[] = [
    { fields: ['id: 7'], data: '{"a":\n "é€😀"}' },
    { fields: [], data: undefined },
    { fields: ['retry: 20'], data: 'x' },
  ];
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 8 }), async (cuts) => {
      expect(await eventsOf(bytes, cuts)).toEqual(expected);
    }),
  );
  const everyByte = Array.from(bytes, (_byte, index) => index);
  expect(await eventsOf(bytes, everyByte)).toEqual(expected);
});

test('an event is written as it is read', async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), fc.boolean(), async (text, hasId) => {
      const data = text.replaceAll(/\r\n?/g, '\n').replaceAll('\0', '');
      const event = { fields: hasId ? ['id: 1'] : [], data };
      expect(await eventsOf(new TextEncoder().encode(writeEvent(event, data)), [])).toEqual([event]);
    }),
  );
});

test.each([
  [
    'an event of another type is no message',
    'event: endpoint\ndata: /x\n\n',
    [{ fields: [], data: undefined }],
  ],
  [
    'fields that nobody knows do not pass',
    'foo: bar\nid: 1\nretry: soon\ndata: x\n\n',
    [{ fields: ['id: 1'], data: 'x' }],
  ],
  ['an event without its end is none', 'data: x', []],
])('%s', async (_title, text, expected) => {
  expect(await eventsOf(new TextEncoder().encode(text), [])).toEqual(expected);
});

test.each([
  ['one line', `data: ${'x'.repeat(2_000)}`],
  ['many lines', 'data: x\n'.repeat(400)],
])('an event that is too long ends the stream (%s)', async (_title, text) => {
  await expect(eventsOf(new TextEncoder().encode(text), [5, 900], 1_000)).rejects.toThrow(RangeError);
});

test('a stream that is not UTF-8 ends', async () => {
  await expect(eventsOf(Uint8Array.of(100, 97, 116, 97, 58, 0xff, 10, 10), [])).rejects.toThrow();
});
