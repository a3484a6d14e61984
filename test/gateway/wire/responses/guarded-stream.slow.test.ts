import fc from 'fast-check';
import OpenAI from 'openai';
import { describe, expect, it } from 'vitest';
import { Json, stringifyJson } from '../../../../src/base/json/json.ts';
import { openStream } from '../../../../src/gateway/call/stream.ts';
import { createAnswerJudge } from '../../../../src/gateway/judge/provider-hooks.ts';
import { HeldBytes } from '../../../../src/gateway/stream/stream-call.ts';
import type { WireRules } from '../../../../src/gateway/wire/codec.ts';
import { responsesCodec } from '../../../../src/gateway/wire/codecs.ts';
import { SseParser } from '../../../../src/gateway/wire/sse.ts';
import type { Fire } from '../../../../src/models/guard/guard-outcome.ts';
import { fireHook } from '../../../models/guard-bench.ts';
import { called, responseTo, said, thought } from '../../upstreams/responses-upstream.ts';
import { streamOf } from './streamed.ts';
import { mapTexts, says } from './trees.ts';

const rules: WireRules = { opaque: new Set(), references: new Set(), redactsEmbeddings: false };
const asked = {
  model: 'm',
  input: 'Hi',
  stream: true,
  instructions: 'Be kind.',
  tools: [{ type: 'function', name: 'f', parameters: {} }],
};
const marker = 'FORBIDDEN WORD';
const redact = (text: string) => text.replaceAll(marker, '[X]');

interface Guarding {
  readonly fire: Fire;
  readonly windowChars?: number | undefined;
  readonly onDeny?: 'error' | 'answer';
}

/** What a client gets of a stream whose bytes come in such pieces. */
async function guard(pieces: readonly Uint8Array[], { fire, windowChars, onDeny = 'error' }: Guarding) {
  const request = responsesCodec.readRequest(JSON.stringify(asked), rules);
  const parser = new SseParser(1_000_000);
  const signal = new AbortController().signal;
  const opened = await openStream(
    {
      codec: responsesCodec,
      rules,
      request,
      model: 'm',
      events: (async function* () {
        for (const piece of pieces) yield* parser.push(piece);
        yield* parser.end();
      })(),
      judge: createAnswerJudge({
        fire,
        request: { provider_id: 'p', model: 'm', messages: [], system_prompt: '', round: 1, metadata: {} },
        latencyMs: () => 0,
        signal,
      }),
      signal,
      abandon: () => {},
    },
    { windowChars, onDeny, waitMs: 60_000, heldBytes: new HeldBytes({ perStream: 1e8, inTotal: 1e9 }) },
  );
  if (opened.kind === 'refused') return { text: '', outcome: opened.report.outcome, refusal: opened.refusal };
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  const { outcome, refusal } = await opened.report;
  return { text, outcome, refusal };
}

const allow = fireHook(() => ({}));
const denyMarked = fireHook((event) =>
  event.phase === 'after_call' && says(event.response.message, marker)
    ? { verdict: 'deny', reason: 'that word' }
    : {},
);
const redactMarked = fireHook((event) => {
  if (event.phase !== 'after_call') return {};
  const { message } = event.response;
  if (!says(message, marker)) return {};
  const changed = mapTexts(JSON.parse(stringifyJson(message)), redact);
  return { verdict: 'modify', replace: Json.from({ message: changed }) };
});

const words = fc
  .array(fc.constantFrom('It ', 'rains ', 'in ', 'Ulm. ', `${marker} `, 'é😀 ', '"q"\n'), { maxLength: 12 })
  .map((all) => all.join(''));

const item = fc.oneof(
  words.map((text) => said(text)),
  fc.tuple(words, words).map(([one, other]) =>
    said('', {
      content: [one, other].map((text) => ({ type: 'output_text', annotations: [], logprobs: [], text })),
    }),
  ),
  words.map((text) => said('', { content: [{ type: 'refusal', refusal: text }] })),
  words.map((text) => thought(text)),
  words.map((text) => called('f', { q: text })),
  words.map((text) => ({
    id: 'mcp',
    type: 'mcp_call',
    status: 'completed',
    name: 'ask',
    arguments: '{}',
    server_label: 's',
    output: text,
    error: null,
  })),
);

interface Scene {
  readonly items: readonly Readonly<Record<string, unknown>>[];
  readonly metadata: string | undefined;
  readonly pieceChars: number;
  readonly cuts: readonly number[];
  readonly windowChars: number | undefined;
}

const scene: fc.Arbitrary<Scene> = fc.record({
  items: fc.array(item, { maxLength: 4 }).map((items) =>
    items.map((one, index) => ({
      ...one,
      id: `it_${index}`,
      ...('call_id' in one && { call_id: `call_${index}` }),
    })),
  ),
  metadata: fc.option(words, { nil: undefined }),
  pieceChars: fc.integer({ min: 1, max: 30 }),
  cuts: fc.array(fc.nat(20_000), { maxLength: 12 }),
  windowChars: fc.constantFrom(undefined, 1, 16, 200),
});

function streamed({ items, metadata, pieceChars, cuts }: Scene) {
  const response = responseTo(asked, items, metadata === undefined ? {} : { metadata: { note: metadata } });
  const text = streamOf(response, pieceChars);
  const bytes = new TextEncoder().encode(text);
  const ends = [
    ...cuts.map((cut) => Math.min(cut, bytes.length)).toSorted((one, other) => one - other),
    bytes.length,
  ];
  const pieces = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  return { response, text, pieces };
}

async function accumulate(stream: string) {
  const fetch = async () => new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
  const client = new OpenAI({ apiKey: 'k', baseURL: 'http://x.invalid', fetch, maxRetries: 0 });
  return JSON.parse(
    JSON.stringify(await client.responses.stream({ model: 'm', input: 'x' }).finalResponse()),
  );
}

/** Items with reasoning and refusals as the one text that hooks read each of: its parts may share it otherwise. */
function joined(output: readonly Readonly<Record<string, unknown>>[]) {
  const json = JSON.stringify(output);
  const all = (pattern: RegExp) => [...json.matchAll(pattern)].map(([, text]) => text).join('');
  const texts = [
    all(/"summary":\[\{"type":"summary_text","text":"((?:[^"\\]|\\.)*)"/g),
    all(/"refusal":"((?:[^"\\]|\\.)*)"/g),
  ];
  const rest = output.filter((one) => !/reasoning|"refusal"/.test(JSON.stringify(one)));
  return { texts, rest };
}

const runs = { numRuns: 150 };

/** Whether a text, put together over the pieces that a client gets, tells the marker. */
function leaks(text: string): boolean {
  if (text.includes(marker)) return true;
  const parser = new SseParser(1_000_000);
  const events = [...parser.push(new TextEncoder().encode(text)), ...parser.end()];
  const texts = new Map<string, string>();
  for (const { data } of events) {
    if (data === undefined) continue;
    const event = JSON.parse(data);
    if (says(event, marker)) return true;
    if (typeof event.delta !== 'string') continue;
    const key = `${event.type} ${event.item_id} ${event.content_index} ${event.summary_index}`;
    texts.set(key, (texts.get(key) ?? '') + event.delta);
  }
  return [...texts.values()].some((told) => told.includes(marker));
}

describe('a streamed response behind hooks', () => {
  it('is the very same bytes when they allow it', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const { text, pieces } = streamed(drawn);
        expect((await guard(pieces, { fire: allow, windowChars: drawn.windowChars })).text).toBe(text);
      }),
      runs,
    );
  });

  it('tells nothing of what a filter denies, and is denied streamed as unstreamed', async () => {
    await fc.assert(
      fc.asyncProperty(scene, fc.constantFrom('error', 'answer'), async (drawn, onDeny) => {
        const { text, pieces, response } = streamed(drawn);
        // A window that is smaller than the word lets parts of it pass, as docs/guard.md says.
        const windowChars = drawn.windowChars === 1 ? 16 : drawn.windowChars;
        const got = await guard(pieces, { fire: denyMarked, windowChars, onDeny });
        expect(leaks(got.text)).toBe(false);
        expect(got.outcome === 'denied').toBe(says(response, marker));
        if (got.outcome !== 'denied') expect(got.text).toBe(text);
      }),
      runs,
    );
  });

  it('has what a filter redacts redacted everywhere, and the openai package reads exactly that', async () => {
    await fc.assert(
      fc.asyncProperty(scene, async (drawn) => {
        const { pieces, response } = streamed(drawn);
        const windowChars = drawn.windowChars === 1 ? 16 : drawn.windowChars;
        const got = await guard(pieces, { fire: redactMarked, windowChars });
        expect(leaks(got.text)).toBe(false);
        if (got.refusal !== undefined) return;
        const { output } = await accumulate(got.text);
        const wanted = await accumulate(streamOf(mapTexts(response, redact) as typeof response));
        expect(joined(output)).toEqual(joined(wanted.output));
      }),
      runs,
    );
  });

  it('is redacted, not refused, where texts and arguments are', async () => {
    for (const windowChars of [undefined, 16]) {
      const drawn = {
        items: [said(`My ${marker}.`), called('f', { q: marker })],
        metadata: undefined,
        pieceChars: 3,
        cuts: [],
        windowChars,
      };
      const items = drawn.items.map((one, index) => ({ ...one, id: `it_${index}` }));
      const got = await guard(streamed({ ...drawn, items }).pieces, { fire: redactMarked, windowChars });
      expect(got.refusal).toBeUndefined();
      const { output_text, output } = await accumulate(got.text);
      expect([output_text, output[1].arguments]).toEqual(['My [X].', '{"q":"[X]"}']);
    }
  });
});
