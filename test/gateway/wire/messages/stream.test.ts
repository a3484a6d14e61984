import fc from 'fast-check';
import { expect, test } from 'vitest';
import { messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { type SseEvent, SseParser } from '../../../../src/gateway/wire/sse.ts';
import { tellMessage } from '../../upstreams/message-events.ts';
import { answerBody } from './arbitrary-bodies.ts';
import { accumulate } from './sdk.ts';
import { asRead, mapStrings, redact } from './trees.ts';

const rules = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };
const request = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', rules);
const runs = { numRuns: 150 };

/** Ways to cut a text into pieces; the list of lengths repeats. */
const cut = fc
  .array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 4 })
  .map((lengths) => (text: string) => {
    const pieces: string[] = [];
    for (let at = 0, turn = 0; at < text.length; turn += 1) {
      const length = lengths[turn % lengths.length] ?? 1;
      pieces.push(text.slice(at, at + length));
      at += length;
    }
    return pieces;
  });
const telling = fc.record({
  cut,
  newline: fc.constantFrom('\n' as const, '\r\n' as const),
  hasPings: fc.boolean(),
});

function eventsOf(text: string): SseEvent[] {
  const parser = new SseParser(1_000_000);
  return [...parser.push(Buffer.from(text)), ...parser.end()];
}

function read(events: readonly SseEvent[]) {
  const reader = open();
  const parts = events.map((event) => reader.push(event));
  return { answer: reader.answer(), parts };
}

function open() {
  if (messagesCodec.stream === undefined) throw new Error('no streams');
  return messagesCodec.stream.reader(rules, request);
}

function openWriter() {
  if (messagesCodec.stream === undefined) throw new Error('no streams');
  return messagesCodec.stream.writer(request);
}

test('a stream, however it is split, is assembled to the unstreamed answer, as the SDK does', async () => {
  await fc.assert(
    fc.asyncProperty(answerBody, telling, async (message, how) => {
      const text = tellMessage(message, how);
      const { answer } = read(eventsOf(text));
      const whole = asRead(messagesCodec.readAnswer(JSON.stringify(message), rules, request).messages);
      expect(asRead(answer.messages)).toEqual(whole);
      expect(JSON.parse(answer.body)).toEqual(await accumulate(text));
    }),
    runs,
  );
});

test('the events of a stream that hooks allow are forwarded unchanged', () => {
  fc.assert(
    fc.property(answerBody, telling, (message, how) => {
      const text = tellMessage(message, how);
      const writer = openWriter();
      expect(
        eventsOf(text)
          .map((event) => writer.verbatim(event))
          .join(''),
      ).toBe(text.replaceAll('\r\n', '\n'));
    }),
    runs,
  );
});

test('the rest completes whatever part of an unchanged answer a client has', async () => {
  await fc.assert(
    fc.asyncProperty(answerBody, telling, fc.nat(), async (message, how, number) => {
      const events = eventsOf(tellMessage(message, how));
      const { answer, parts } = read(events);
      const held = parts.findIndex(({ kind }) => kind === 'held');
      const count = number % ((held === -1 ? parts.length : held) + 1);
      const writer = openWriter();
      const sent = events.slice(0, count).map((event) => writer.verbatim(event));
      expect(await accumulate([...sent, writer.finish(answer.body)].join(''))).toEqual(
        JSON.parse(answer.body),
      );
    }),
    runs,
  );
});

test('the SDK reads a changed answer, and nothing of the old one is left', async () => {
  await fc.assert(
    fc.asyncProperty(answerBody, telling, async (message, how) => {
      const { answer } = read(eventsOf(tellMessage(message, how)));
      const messages = asRead(answer.messages);
      const body = answer.write(mapStrings(messages, redact, false) as typeof messages);
      const written = openWriter().finish(body);
      expect(await accumulate(written)).toEqual(JSON.parse(body));
    }),
    runs,
  );
});

test('a block that begins whole is completed with what a client lacks', async () => {
  const content = [
    { type: 'redacted_thinking', data: '//4AAAA=' },
    { type: 'text', text: 'Hello', citations: null },
  ];
  const message = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'm' },
    content,
    stop_reason: 'end_turn',
  };
  const usage = { input_tokens: 1, output_tokens: 1 };
  const whole = { ...message, stop_sequence: null, usage };
  const events = eventsOf(tellMessage(whole, { cut: (text) => [text], newline: '\n', hasPings: false }));
  const { answer } = read(events);
  // Two events that end the message follow the blocks.
  for (let count = 0; count <= events.length - 2; count += 1) {
    const writer = openWriter();
    const sent = events.slice(0, count).map((event) => writer.verbatim(event));
    const told = await accumulate([...sent, writer.finish(answer.body)].join(''));
    expect(told).toEqual(JSON.parse(answer.body));
  }
});
