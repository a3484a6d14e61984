import fc from 'fast-check';
import OpenAI from 'openai';
import { ResponseStream } from 'openai/lib/responses/ResponseStream';
import { describe, expect, it } from 'vitest';
import { RuntimeError } from '../../../../src/base/errors.ts';
import { stringifyJson } from '../../../../src/base/json/json.ts';
import type { ChatMessage } from '../../../../src/contract/provider.ts';
import type { StreamPart, WireRules } from '../../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../../src/gateway/wire/codecs.ts';
import { RefusedCall } from '../../../../src/gateway/wire/refusal.ts';
import { type SseEvent, SseParser } from '../../../../src/gateway/wire/sse.ts';
import { fullAnswer, fullRequest, textAnswer } from './samples.ts';
import { eventsOf, streamOf } from './streamed.ts';

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const request = responsesCodec.readRequest(JSON.stringify(fullRequest), rules);

function openReader(own = rules) {
  const reader = responsesCodec.stream?.reader(own, request);
  if (reader === undefined) throw new Error('no streams');
  return reader;
}

function openWriter() {
  const writer = responsesCodec.stream?.writer(request);
  if (writer === undefined) throw new Error('no streams');
  return writer;
}

function readAll(events: readonly SseEvent[], own = rules) {
  const reader = openReader(own);
  const parts: StreamPart[] = events.map((event) => reader.push(event));
  return { parts, answer: reader.answer() };
}

async function accumulate(stream: string): Promise<unknown> {
  const fetch = async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x.invalid', fetch, maxRetries: 0 });
  const streamed = client.responses.stream({ model: 'm', input: 'x' });
  expect(streamed).toBeInstanceOf(ResponseStream);
  const response = await streamed.finalResponse();
  return JSON.parse(JSON.stringify(response));
}

async function parse(body: string): Promise<unknown> {
  const fetch = async () => new Response(body, { headers: { 'content-type': 'application/json' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x.invalid', fetch, maxRetries: 0 });
  return JSON.parse(JSON.stringify(await client.responses.parse({ model: 'm', input: 'x' })));
}

function sequenceOf(stream: string): number[] {
  return eventsOf(stream).flatMap(({ data }) =>
    data === undefined ? [] : [Number(JSON.parse(data).sequence_number)],
  );
}

function failureOf(events: readonly SseEvent[], own = rules): string | undefined {
  try {
    readAll(events, own);
  } catch (error) {
    if (!(error instanceof RefusedCall)) throw error;
    expect(error.refusal.status).toBe(502);
    return error.refusal.code;
  }
  return undefined;
}

describe('a streamed response that is read', () => {
  it('gives the answer that the unstreamed endpoint gives', () => {
    const { parts, answer } = readAll(eventsOf(streamOf(fullAnswer)));
    const whole = responsesCodec.readAnswer(JSON.stringify(fullAnswer), rules, request);
    expect(answer.body).toBe(whole.body);
    const [message] = answer.messages;
    const { ['stream.response.output_item.added.encrypted_content']: sealed, ...other } = JSON.parse(
      stringifyJson(message?.['other']),
    );
    expect(sealed).toBe('gAAAAfirst');
    expect({ ...JSON.parse(stringifyJson(message)), other }).toEqual(
      JSON.parse(stringifyJson(whole.messages[0])),
    );
    expect(parts.slice(0, 3).map(({ kind }) => kind)).toEqual(['free', 'free', 'held']);
    expect(parts.at(-1)?.kind).toBe('end');
  });

  it('shows texts on their channels, and separates first pieces and repetitions', () => {
    const { parts } = readAll(eventsOf(streamOf(textAnswer('Hello you'))));
    expect(parts.map(({ kind }) => kind)).toEqual([
      'free',
      'free',
      'echo',
      'echo',
      'text',
      'text',
      'echo',
      'echo',
      'echo',
      'end',
    ]);
    const channels = parts.flatMap((part) => (part.kind === 'text' ? part.deltas : []));
    expect(channels.map(({ channel: { member, choice }, text }) => [member, choice, text])).toEqual([
      ['content', 0, 'Hello'],
      ['content', 0, ' you'],
    ]);
    expect(new Set(channels.map(({ channel }) => channel.key)).size).toBe(1);
  });

  it('is the same however its bytes are split', () => {
    const bytes = new TextEncoder().encode(streamOf(fullAnswer, 3));
    const whole = readAll(eventsOf(streamOf(fullAnswer, 3))).answer.body;
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 20 }), (cuts) => {
        const parser = new SseParser(1_000_000);
        const events: SseEvent[] = [];
        let from = 0;
        for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
          events.push(...parser.push(bytes.subarray(from, cut)));
          from = cut;
        }
        expect(readAll([...events, ...parser.end()]).answer.body).toBe(whole);
      }),
      { numRuns: 30 },
    );
  });

  it('is assembled from its items where the end omits them', () => {
    for (const left of [{ output: [] }, { output: undefined }]) {
      const stream = streamOf(fullAnswer).replace(
        `"response":${JSON.stringify(fullAnswer)}`,
        `"response":${JSON.stringify({ ...fullAnswer, ...left })}`,
      );
      expect(JSON.parse(readAll(eventsOf(stream)).answer.body)).toEqual(fullAnswer);
    }
  });

  it('keeps what an unfinished item contained', () => {
    const events = eventsOf(streamOf(textAnswer('Hello you')));
    const end = JSON.stringify({
      type: 'response.failed',
      sequence_number: 9,
      response: { id: 'resp_1', status: 'failed', error: { code: 'server_error', message: 'Gone' } },
    });
    const broken = [...events.slice(0, 6), ...eventsOf(`event: response.failed\ndata: ${end}\n\n`)];
    const [message] = readAll(broken).answer.messages;
    expect(message?.content).toBe('Hello you');
    expect(message?.['finish_reason']).toBe('error');
  });

  it.each<[string, (stream: string) => string]>([
    [
      'a text that is done otherwise',
      (s) => s.replace('"text":"Hello you","logprobs"', '"text":"Hello me","logprobs"'),
    ],
    [
      'a part that is done otherwise',
      (s) => s.replace(/(content_part.done.*"text":)"Hello you"/, '$1"Hello me"'),
    ],
    [
      'an item that is done otherwise',
      (s) => s.replace(/(output_item.done.*"text":)"Hello you"/, '$1"Hello me"'),
    ],
    [
      'a response that ends otherwise',
      (s) => s.replace(/(response.completed.*"text":)"Hello you"/, '$1"Hello me"'),
    ],
    [
      'an item that the response has not',
      (s) =>
        s.replace(
          /(response.completed.*"output":\[)\{.*?\}\]\}\]/,
          '$1{"type":"compaction","id":"c","encrypted_content":""}]',
        ),
    ],
    [
      'a response whose output is a text',
      (s) => s.replace(/(response.completed.*"output":)\[\{.*?\}\]\}\]/, '$1"Hello me"'),
    ],
    ['no end', (s) => s.slice(0, s.indexOf('event: response.completed'))],
    [
      'a text of an item that was not added',
      (s) =>
        s.replace(
          '"output_index":0,"item_id":"msg_t","content_index":0,"delta"',
          '"output_index":1,"item_id":"msg_t","content_index":0,"delta"',
        ),
    ],
    [
      'an event under two names',
      (s) => s.replace('event: response.output_text.done', 'event: response.output_text.delta'),
    ],
    ['an event that is no JSON', (s) => s.replace('"delta":"Hello"', '"delta":"Hello')],
    ['a key twice', (s) => s.replace('"delta":"Hello"', '"delta":"Hello","delta":"x"')],
    ['events behind its end', (s) => `${s}${s}`],
  ])('is refused for %s', (_, change) => {
    const stream = streamOf(textAnswer('Hello you'));
    expect(change(stream)).not.toBe(stream);
    expect(failureOf(eventsOf(change(stream)))).toBe('upstream_invalid');
  });

  it('is refused for events and items of unknown kinds', () => {
    const stream = streamOf(textAnswer('Hello'));
    expect(
      failureOf(eventsOf(stream.replaceAll('response.output_text.done', 'response.output_smell.done'))),
    ).toBe('unknown_content');
    expect(failureOf(eventsOf(stream.replaceAll('"type":"message"', '"type":"telepathy"')))).toBe(
      'unknown_content',
    );
    const image =
      'event: response.image_generation_call.partial_image\ndata: {"type":"response.image_generation_call.partial_image","partial_image_b64":"AAAA","output_index":0,"item_id":"x"}\n\n';
    expect(failureOf(eventsOf(image))).toBe('unknown_content');
  });

  it('is refused for an event of an unknown kind by its name, unless `opaque` lists it', () => {
    const limits =
      'event: codex.rate_limits\ndata: {"type":"codex.rate_limits","rate_limits":{"allowed":true}}\n\n';
    const events = eventsOf(streamOf(textAnswer('Hello')).replace(/\n\n/, `\n\n${limits}`));
    const refused = () => readAll(events);
    expect(refused).toThrow(RefusedCall);
    expect(refused).toThrow('"codex.rate_limits"');
    expect(refused).toThrow('spec.gateway.opaque');
    const { parts, answer } = readAll(events, { ...rules, opaque: new Set(['codex.rate_limits']) });
    expect(parts[1]).toEqual({ kind: 'free' });
    expect(answer.messages[0]?.content).toBe('Hello');
  });

  it('shows hooks the other members of events', () => {
    const marker = 'a secret "word"';
    const events = eventsOf(streamOf(textAnswer('Hello you')));
    for (const [index, { event, data }] of events.entries()) {
      const told: unknown = { ...JSON.parse(data ?? ''), extra: marker };
      const changed = events.with(index, { event, data: JSON.stringify(told) });
      const { parts, answer } = readAll(changed);
      expect(stringifyJson(answer.messages)).toContain('secret');
      expect(parts[index]?.kind).toBe(index === events.length - 1 ? 'end' : 'held');
      const [message] = answer.messages;
      if (message === undefined) throw new Error('no message');
      const other = JSON.parse(stringifyJson(message['other']));
      for (const key of Object.keys(other)) other[key] = '[X]';
      expect(answer.write([{ ...message, other }])).not.toBe(answer.body);
    }
  });

  it('ends with an error that the upstream reports', () => {
    const reader = openReader();
    const [event] = eventsOf(
      'event: error\ndata: {"type":"error","code":"x","message":"Broken","param":null}\n\n',
    );
    if (event === undefined) throw new Error('no event');
    expect(reader.push(event)).toEqual({ kind: 'error' });
    expect(() => reader.answer()).toThrow(RefusedCall);
  });
});

describe('a streamed response that is written', () => {
  it('is accepted by the openai package, and gives exactly the response', async () => {
    const body = JSON.stringify(fullAnswer);
    const stream = openWriter().finish(body);
    expect(await accumulate(stream)).toEqual(await accumulate(streamOf(fullAnswer)));
    const numbers = sequenceOf(stream);
    expect(numbers).toEqual(numbers.map((_, index) => index));
    expect(readAll(eventsOf(stream)).answer.body).toBe(body);
  });

  it('continues from whatever the client already has', async () => {
    const body = JSON.stringify(fullAnswer);
    const events = eventsOf(streamOf(fullAnswer, 4)).slice(0, -1);
    const whole = await accumulate(streamOf(fullAnswer));
    for (let count = 0; count <= events.length; count += 1) {
      const writer = openWriter();
      const sent = events
        .slice(0, count)
        .map((event) => writer.verbatim(event))
        .join('');
      const stream = sent + writer.finish(body);
      expect(await accumulate(stream)).toEqual(whole);
      expect(failureOf(eventsOf(stream)), `after ${count} events`).toBeUndefined();
    }
  });

  it('has the texts that filters change during the stream', async () => {
    const events = eventsOf(streamOf(textAnswer('My name is Anna, and I live in Ulm.')));
    const reader = openReader();
    const writer = openWriter();
    let out = '';
    for (const event of events.slice(0, -1)) {
      const part = reader.push(event);
      if (part.kind === 'free') out += writer.verbatim(event);
      if (part.kind !== 'text') continue;
      for (const { channel, text } of part.deltas) out += writer.text(channel, text.toUpperCase());
    }
    const body = JSON.stringify(textAnswer('MY NAME IS ANNA, AND I LIVE IN ULM. Bye.'));
    out += writer.finish(body);
    expect(await accumulate(out)).toEqual(await parse(body));
    expect(out).not.toContain('Anna');
  });

  it('opens the required items when a text comes first', async () => {
    const writer = openWriter();
    const channel = { key: '2/summary/0/text/rs_9', choice: 0, member: 'reasoning' } as const;
    let out = writer.text(channel, 'Let me ');
    out += writer.text(channel, 'think.');
    const output = [
      ...textAnswer('Done').output,
      { id: 'rs_9', type: 'reasoning', summary: [{ type: 'summary_text', text: 'Let me think. Yes.' }] },
    ];
    out += writer.finish(JSON.stringify({ ...fullAnswer, output }));
    const final = (await accumulate(out)) as { output: { id: string; summary?: { text: string }[] }[] };
    expect(final.output.map(({ id }) => id)).toEqual(['msg_t', 'rs_9']);
    expect(final.output[1]?.summary?.[0]?.text).toBe('Let me think. Yes.');
  });

  it('cannot end with an answer that does not begin with what was sent', () => {
    const events = eventsOf(streamOf(textAnswer('Hello you'))).slice(0, 6);
    const open = () => {
      const writer = openWriter();
      for (const event of events) writer.verbatim(event);
      return writer;
    };
    expect(() => open().finish(JSON.stringify(textAnswer('Goodbye')))).toThrow(RuntimeError);
    expect(() => open().finish(JSON.stringify({ ...fullAnswer, output: [] }))).toThrow(RuntimeError);
    expect(() => open().finish(JSON.stringify(textAnswer('Hello you')))).not.toThrow();
  });

  it('gives a replacement answer, native or as an ordinary end, also after a beginning', async () => {
    for (const end of ['refused', 'stop'] as const) {
      const body = responsesCodec.substitute?.({ text: 'Not that.', end }, 'gpt-5') ?? '';
      const events = eventsOf(streamOf(textAnswer('Hello you'))).slice(0, 2);
      const writer = openWriter();
      const stream = events.map((event) => writer.verbatim(event)).join('') + writer.finish(body);
      const final = (await accumulate(stream)) as Record<string, unknown>;
      expect(final['output_text']).toBe('Not that.');
      expect(final['status']).toBe(end === 'stop' ? 'completed' : 'incomplete');
      expect(final['incomplete_details']).toEqual(end === 'stop' ? null : { reason: 'content_filter' });
      expect(final['id']).toBe('resp_1');
    }
  });

  it('continues after a model’s text with a replacement that begins with it', async () => {
    const events = eventsOf(streamOf(textAnswer('Hello you'))).slice(0, 5);
    const writer = openWriter();
    const sent = events.map((event) => writer.verbatim(event)).join('');
    const body = responsesCodec.substitute?.({ text: 'Hello\n\nBlocked.', end: 'refused' }, 'gpt-5') ?? '';
    const final = (await accumulate(sent + writer.finish(body))) as Record<string, unknown>;
    expect(final['output_text']).toBe('Hello\n\nBlocked.');
  });

  it('fails in a form that the openai package throws', async () => {
    const writer = openWriter();
    const events = eventsOf(streamOf(textAnswer('Hello you'))).slice(0, 4);
    const sent = events.map((event) => writer.verbatim(event)).join('');
    const failed = writer.fail({
      status: 400,
      code: 'content_filter',
      message: 'No "way"',
      isRetryable: false,
    });
    await expect(accumulate(sent + failed)).rejects.toMatchObject({
      code: 'content_filter',
      message: expect.stringContaining('No "way"'),
    });
    expect(sequenceOf(failed)).toEqual([4]);
  });

  it('keeps clients awake with events that add nothing', async () => {
    const body = JSON.stringify(textAnswer('Hello you'));
    const events = eventsOf(streamOf(textAnswer('Hello you')));
    const writer = openWriter();
    expect(writer.wait()).toBe(': wait\n\n');
    const first = writer.verbatim(events[0] ?? { event: undefined, data: '' });
    const wait = writer.wait();
    expect(eventsOf(wait)[0]?.event).toBe('response.in_progress');
    const rest = events
      .slice(1)
      .map((event) => writer.verbatim(event))
      .join('');
    expect(await accumulate(first + wait + wait + rest)).toEqual(await parse(body));
  });

  it('gives exactly what hooks made of the answer, for any text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 40 }), fc.nat(8), async (text, sent) => {
        const { answer } = readAll(eventsOf(streamOf(textAnswer('Hello you'))));
        const changed: ChatMessage = { role: 'assistant', content: text.toWellFormed() };
        const body = answer.write([changed]);
        const writer = openWriter();
        const events = eventsOf(streamOf(textAnswer('Hello you'))).slice(0, Math.min(sent, 4));
        const out = events.map((event) => writer.verbatim(event)).join('') + writer.finish(body);
        const final = (await accumulate(out)) as { output_text: string };
        expect(final.output_text).toBe(changed.content);
      }),
      { numRuns: 60 },
    );
  });
});
