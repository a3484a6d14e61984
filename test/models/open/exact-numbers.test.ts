import type { LanguageModelV4 } from '@ai-sdk/provider';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createExactFetch, withExactInput } from '../../../src/models/open/provider-kinds.ts';

/** The text that reaches a package if `body` arrives in these chunks. */
async function pass(body: string, cuts: readonly number[], contentType: string): Promise<string> {
  const bytes = new TextEncoder().encode(body);
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length];
  const pieces = places.slice(1).map((end, index) => bytes.slice(places[index], end));
  const inner: typeof fetch = async () =>
    new Response(ReadableStream.from(pieces), { headers: { 'content-type': contentType } });
  return await (await createExactFetch(inner)('http://localhost')).text();
}

/** The tool arguments after the package has parsed and written the body's `args`. */
async function inputOf(body: string): Promise<string> {
  const input = JSON.stringify(JSON.parse(body).args);
  const model: Pick<LanguageModelV4, 'doGenerate'> = {
    doGenerate: async () => ({
      content: [{ type: 'tool-call', toolCallId: '1', toolName: 'a', input }],
      finishReason: { unified: 'tool-calls', raw: undefined },
      usage: {
        inputTokens: { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0 },
        outputTokens: { total: 0, text: 0, reasoning: 0 },
      },
      warnings: [],
    }),
  };
  const doStream = () => Promise.reject(new Error('not asked'));
  const exact = withExactInput({
    specificationVersion: 'v4',
    provider: 'p',
    modelId: 'm',
    supportedUrls: {},
    doStream,
    ...model,
  });
  const { content } = await exact.doGenerate({ prompt: [] });
  return content.map((part) => (part.type === 'tool-call' ? part.input : '')).join('');
}

const digits = fc.stringMatching(/^-?[1-9]\d{0,30}(\.\d{1,30})?([eE][+-]?[1-9]\d?)?$/);

test('a number among arguments keeps its value, wherever the body is cut', async () => {
  await fc.assert(
    fc.asyncProperty(digits, fc.string(), fc.array(fc.nat()), async (number, text, cuts) => {
      const args = `{"list":[${number}],"text":${JSON.stringify(text)}}`;
      const event = await pass(`data: {"args":${args}}\n\n`, cuts, 'text/event-stream');
      const whole = await pass(`{"args":${args}}`, cuts, 'application/json');
      for (const body of [event.slice('data: '.length), whole]) {
        const [before, got = '', after] = (await inputOf(body)).split(/(?<=^\{"list":\[)|(?=\],"text")/);
        expect(decimalOf(got)).toStrictEqual(decimalOf(number));
        expect([before, after]).toStrictEqual(['{"list":[', `],"text":${JSON.stringify(text)}}`]);
      }
    }),
  );
});

/** A decimal number as digits without trailing zeros, and a power of ten. */
function decimalOf(number: string): { digits: string; power: number } {
  const [, sign = '', whole = '', fraction = '', power = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const kept = all.replace(/0+$/, '');
  return { digits: sign + kept, power: Number(power) - fraction.length + all.length - kept.length };
}

test('numbers outside arguments, and what is no JSON, stay as they are', async () => {
  const bodies = [
    '{"usage":1.2345678901234567890,"id":12345678901234567890}',
    '{"half',
    'Hello 12345678901234567890',
  ];
  for (const body of bodies) expect(await pass(body, [3], 'application/json')).toBe(body);
  const stream = 'event: a\r\nid: 12345678901234567890\r\ndata: [DONE]\r\n\r\n: comment\n\ndata: {"half';
  const passed = await pass(stream, [5, 9], 'text/event-stream');
  expect(passed.replaceAll('\r', '')).toBe(stream.replaceAll('\r', ''));
});
