import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatEvent, type SseEvent } from '../../../src/gateway/wire/sse.ts';
import { SseParser } from '../../../src/gateway/wire/sse-parser.ts';

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
    expect(events.map(({ raw }) => raw).join('')).toBe(text);
  });

  it('joins data lines, keeps an empty one, and reads a comment as an event of nothing', () => {
    expect(parseText('data: a\ndata\ndata:  b\n\n: ping\n\nretry: 10\nid: 7\n\n')).toEqual([
      { raw: 'data: a\ndata\ndata:  b\n\n', event: undefined, data: 'a\n\n b' },
      { raw: ': ping\n\n', event: undefined, data: undefined },
      { raw: 'retry: 10\nid: 7\n\n', event: undefined, data: undefined },
    ]);
  });

  it.each([
    ': my secret\n',
    ': 078-05-1120\n',
    ':ping my secret\n',
    'id: my secret\n',
    'retry: secret\n',
    'note: my secret\n',
    'secret\n',
    'Data: secret\n',
    ' data: secret\n',
  ])('leaves out a line that no client reads: %j', (line) => {
    const [event] = parseText(`${line}data: 1\n${line}\n`);
    expect(event).toEqual({ raw: 'data: 1\n\n', event: undefined, data: '1' });
  });

  it.each([
    ': OPENROUTER PROCESSING',
    ': ping - 2026-01-02 03:04:05.678901',
    ':',
    ': keep-alive',
    'id: ev_12.a',
  ])('keeps a line that says nothing: %j', (line) => {
    expect(parseText(`${line}\n\n`)).toEqual([{ raw: `${line}\n\n`, event: undefined, data: undefined }]);
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

  it('keeps every byte of a stream that has only events', () => {
    const events = fc.array(fc.string({ unit: 'grapheme', maxLength: 20 }), { maxLength: 5 });
    fc.assert(
      fc.property(events, fc.constantFrom('\n', '\r', '\r\n'), (texts, end) => {
        const text = texts.map((data) => `data: ${data.replaceAll(/[\r\n]/g, '')}${end}${end}`).join('');
        expect(
          parseText(text)
            .map(({ raw }) => raw)
            .join(''),
        ).toBe(text);
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

  it('is refused when an event is too long, also one that never ends, or is all comments', () => {
    const long = encoder.encode('x'.repeat(101));
    for (const start of ['data: ', 'data', ': ', 'event: '])
      expect(() => parse(Uint8Array.from([...encoder.encode(start), ...long]), [], 100)).toThrow('too long');
    const lines = encoder.encode('data: 123456789\n'.repeat(10));
    expect(() => parse(lines, [...lines.keys()], 100)).toThrow('too long');
    const parser = new SseParser(100);
    for (let count = 0; count < 100; count += 1) parser.push(encoder.encode('data: 1\n\n: ping\n\n'));
    expect(parser.pendingChars).toBe(0);
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
