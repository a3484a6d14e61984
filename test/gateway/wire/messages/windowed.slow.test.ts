import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isObject, Json, parseLossless, stringifyJson } from '../../../../src/base/json/json.ts';
import { openStream } from '../../../../src/gateway/call/stream.ts';
import { createAnswerJudge } from '../../../../src/gateway/judge/provider-hooks.ts';
import { messagesCodec } from '../../../../src/gateway/wire/messages/codec.ts';
import { SseParser } from '../../../../src/gateway/wire/sse.ts';
import { fireHook } from '../../../models/guard-bench.ts';
import { plentyOfBytes, request } from '../../stream/stream-bench.ts';
import { tellMessage } from '../../upstreams/message-events.ts';
import { answerBody } from './arbitrary-bodies.ts';
import { accumulate } from './sdk.ts';
import { mapStrings, markersOf, redact, valuesOf } from './trees.ts';

const rules = { opaque: new Set<string>(), references: new Set<string>(), redactsEmbeddings: false };
const asked = messagesCodec.readRequest('{"model":"m","max_tokens":1,"messages":[]}', rules);

/** Takes markers out of all values of a message. */
const redacting = fireHook((event) => {
  if (event.phase !== 'after_call') return {};
  const message = parseLossless(stringifyJson(event.response.message));
  return {
    verdict: 'modify',
    replace: new Json(stringifyJson({ message: mapStrings(message, redact, false) })),
  };
});

/** What a client gets of a message whose texts come in pieces of so many characters. */
async function stream(message: Record<string, unknown>, length: number, windowChars: number) {
  const cut = (text: string) => text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? [];
  const parser = new SseParser(1_000_000);
  const events = parser.push(Buffer.from(tellMessage(message, { cut })));
  const { signal } = new AbortController();
  const judge = createAnswerJudge({ fire: redacting, request, latencyMs: () => 0, signal });
  const opened = await openStream(
    {
      ...{ codec: messagesCodec, rules, request: asked, model: 'm', judge, signal },
      abandon: () => {},
      events: (async function* () {
        yield* events;
      })(),
    },
    { windowChars, onDeny: 'error', waitMs: 60_000, heldBytes: plentyOfBytes() },
  );
  if (opened.kind === 'refused') return { text: '', refusal: opened.refusal };
  let text = '';
  for await (const chunk of opened.chunks) text += chunk;
  return { text, refusal: (await opened.report).refusal };
}

function textOf(message: unknown): string {
  const content = isObject(message) && Array.isArray(message['content']) ? message['content'] : [];
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('');
}

test('behind a window no marker goes out, and the SDK reads the text as filters left it', async () => {
  const seen = { whole: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      answerBody,
      fc.integer({ min: 1, max: 30 }),
      fc.constantFrom(12, 40, 200),
      async (message, length, chars) => {
        const { text, refusal } = await stream(message, length, chars);
        const data = text.split('\n').filter((line) => line.startsWith('data: '));
        // Names of arguments are not redacted; those of values are seen below.
        const told = data
          .filter((line) => !line.includes('partial_json'))
          .map((line) => JSON.parse(line.slice(6)));
        expect(markersOf(valuesOf(told))).toEqual([]);
        if (refusal !== undefined) {
          seen.refused += 1;
          expect(hasThinking(message)).toBe(true);
          return;
        }
        seen.whole += 1;
        const whole = await accumulate(text);
        expect(markersOf(valuesOf(whole))).toEqual([]);
        expect(textOf(whole)).toBe(redact(textOf(message)));
      },
    ),
    { numRuns: 200 },
  );
  expect(seen.whole).toBeGreaterThan(50);
});

function hasThinking(message: Record<string, unknown>): boolean {
  return JSON.stringify(message['content']).includes('"type":"thinking"');
}
