import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatEvent, type SseEvent, SseParser } from '../../../src/gateway/wire/sse.ts';

const encoder = new TextEncoder();

function parse(bytes: Uint8Array, cuts: readonly number[] = [], maxChars = 10_000): SseEvent[] {
  const parser = new SseParser(maxChars);
  const events: SseEvent[] = [];
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...parser.push(bytes.subarray(from, cut)));
    from = cut;
  }
  return [...events, ...parser.end()];
}

function parseText(text: string, cuts?: readonly number[]): SseEvent[] {
  return parse(encoder.encode(text), cuts);
}

describe('a text/event-stream', () => {
  it.each([
    ['line feeds', 'event: a\ndata: 1\n\ndata: 2\n\n'],
    ['carriage returns', 'event: a\rdata: 1\r\rdata: 2\r\r'],
    ['both', 'event: a\r\ndata: 1\r\n\r\ndata: 2\r\n\r\n'],
    ['a byte order mark', '\uFEFFevent: a\ndata: 1\n\ndata: 2\n\n'],
    ['no blank line at its end', 'event: a\ndata: 1\n\ndata: 2'],
    ['no spaces', 'event:a\ndata:1\n\ndata:2\n\n'],
  ])('is read with %s', (_what, text) => {
    const events = parseText(text);
    expect(events.map(({ event, data }) => [event, data])).toEqual([
      ['a', '1'],
      [undefined, '2'],
    ]);
  });

  it('joins data lines, and has no event without data', () => {
    expect(
      parseText('data: a\ndata\ndata:  b\n\n: ping\n\nretry: 10\nid: 7\n\nevent: secret\n\ndata\n\n'),
    ).toEqual([
      { event: undefined, data: 'a\n\n b' },
      { event: undefined, data: '' },
    ]);
  });

  it.each([
    ': my secret\n',
    ':ping my secret\n',
    ': ping\n',
    'id: my secret\n',
    'id: 7\n',
    'retry: 10\n',
    'note: my secret\n',
    'secret\n',
    'Data: secret\n',
    ' data: secret\n',
  ])('drops the line %j', (line) => {
    expect(parseText(`${line}data: 1\n${line}\n${line}\n`)).toEqual([{ event: undefined, data: '1' }]);
  });

  it('gives the same events however its bytes are split', () => {
    const line = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => `data: ${text.replaceAll(/[\r\n]/g, ' ')}`),
      fc.constantFrom('event: x', ': ping', 'id: 3', '', 'data', 'data: 😀é', 'other: 1', '\uFEFF'),
    );
    const ends = fc.constantFrom('\n', '\r', '\r\n');
    const stream = fc.array(fc.tuple(line, ends), { maxLength: 12 });
    fc.assert(
      fc.property(stream, fc.array(fc.nat(200), { maxLength: 20 }), (lines, positions) => {
        const bytes = encoder.encode(lines.flat().join(''));
        const cuts = positions.filter((cut) => cut <= bytes.length).toSorted((one, other) => one - other);
        expect(parse(bytes, cuts)).toEqual(parse(bytes));
        expect(parse(bytes, [...bytes.keys()])).toEqual(parse(bytes));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps every byte of its data', () => {
    const texts = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 5 });
    fc.assert(
      fc.property(texts, fc.constantFrom('\n', '\r', '\r\n'), (all, end) => {
        const lines = all.map((text) => text.replaceAll(/[\r\n]/g, ''));
        const text = lines.map((data) => `id: 1${end}data: ${data}${end}${end}`).join('');
        expect(parseText(text).map(({ data }) => data)).toEqual(lines);
        expect(
          parseText(lines.map((data) => formatEvent(data, 'x')).join('')).map(({ data }) => data),
        ).toEqual(lines);
      }),
    );
  });

  it.each([
    ['a lone continuation byte', [0x64, 0x80, 0x0a]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a half of a surrogate pair', [0xed, 0xa0, 0x80]],
    ['a character that is cut off', [0xe2, 0x82]],
  ])('is refused with %s', (_what, bytes) => {
    expect(() => parse(Uint8Array.from(bytes))).toThrow(
      expect.objectContaining({ refusal: expect.objectContaining({ status: 502 }) }),
    );
  });

  it('is refused when an event is too long, also if it never ends or is all comments', () => {
    const long = encoder.encode('x'.repeat(101));
    for (const start of ['data: ', 'data', ': ', 'event: '])
      expect(() => parse(Uint8Array.from([...encoder.encode(start), ...long]), [], 100)).toThrow('too long');
    const lines = encoder.encode('data: 123456789\n'.repeat(10));
    expect(() => parse(lines, [...lines.keys()], 100)).toThrow('too long');
    const parser = new SseParser(100);
    for (let count = 0; count < 100; count += 1) parser.push(encoder.encode('data: 1\n\n: ping\n\n'));
    expect(parser.pendingChars).toBe(0);
    for (let count = 0; count < 8; count += 1) parser.push(encoder.encode(': left out\n'));
    parser.push(encoder.encode('data: 1\n\n'));
    for (let count = 0; count < 9; count += 1) parser.push(encoder.encode(': left out\n'));
    expect(() => parser.push(encoder.encode(': left out\n'))).toThrow('too many comments');
  });

  it.each(['\n', '\r', '\r\n', '\n\n\r'])(
    'JSON with the line end %j between its tokens goes out as one event',
    (end) => {
      const json = `{"a":${end}[1,${end}2]}`;
      for (const name of [undefined, 'x']) {
        const [event, ...more] = parseText(formatEvent(json, name));
        expect([event?.event, JSON.parse(event?.data ?? ''), more]).toEqual([name, { a: [1, 2] }, []]);
      }
    },
  );
});
