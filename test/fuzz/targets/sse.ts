import { formatEvent, type SseEvent, SseParser } from '../../../src/gateway/wire/sse.ts';
import { bytesOf, coded, inputOf, isSame, type Target } from '../target.ts';

/** A stream of events in chunks whose length is the first byte. */
export const sse: Target = {
  seeds: [
    '\u0005event: a\ndata: {"x":1}\n\ndata: 1\ndata: 2\n\n: ping\n\nid: 7\nretry: 10\ndata:\n\n',
    inputOf('\u0002\ufeffdata: é😀\r\n\r\ndata: x\r\rdata: y'),
    '\u0003data: [DONE]\n\n: keep-alive\n\nfoo: bar\n\n',
  ],
  tokens: [
    ...[
      'data:',
      'data: ',
      'event:',
      'event: x',
      'id: 1',
      'retry: 5',
      ': ping',
      ':',
      '\n',
      '\r',
      '\r\n',
      '\n\n',
    ],
    ...['\u00ef\u00bb\u00bf', '\u00c3', '\u00a9', '\0', ' ', '[DONE]', '{', '}'],
  ],
  maxLength: 400,
  run: (input) => {
    const bytes = bytesOf(input.slice(1));
    const size = (input.charCodeAt(0) & 31) + 1;
    const whole = coded(() => parse(bytes, bytes.length + 1));
    const pieces = coded(() => parse(bytes, size));
    isSame(pieces, whole, 'the same in pieces');
    if (whole === undefined) return;
    isSame(told(whole), wanted(bytes.toString()), 'what a browser reads');
    const raw = whole.map(({ data, event }) => formatEvent(data, event)).join('');
    const again = coded(() => parse(Buffer.from(raw), raw.length + 1)) ?? [];
    isSame(told(again), told(whole), 'what is passed on says the same');
  },
};

function parse(bytes: Buffer, size: number): SseEvent[] {
  const parser = new SseParser(300);
  const events: SseEvent[] = [];
  for (let at = 0; at < bytes.length; at += size) events.push(...parser.push(bytes.subarray(at, at + size)));
  return [...events, ...parser.end()];
}

function told(events: readonly SseEvent[]): unknown[] {
  return events.map(({ event, data }) => [event === '' ? undefined : event, data]);
}

/**
 * By the grammar of https://html.spec.whatwg.org/multipage/server-sent-events.html, plus a last block without its blank
 * line.
 */
function wanted(text: string): unknown[] {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|\r|\n/);
  const found: unknown[] = [];
  let open: { event?: string | undefined; data: string[] } = { data: [] };
  const close = () => {
    if (open.data.length > 0) found.push([open.event === '' ? undefined : open.event, open.data.join('\n')]);
    open = { data: [] };
  };
  for (const line of lines) {
    if (line === '') close();
    const [, name = line, value = ''] =
      /^([^:]*):? ?([\s\S]*)$/.exec(line.includes(':') ? line : `${line}:`) ?? [];
    if (name === 'data') open.data.push(value);
    if (name === 'event') open.event = value;
  }
  close();
  return found;
}
