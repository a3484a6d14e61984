import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallToEstimate, countBase64, estimateCall } from '../../../src/gateway/keys/estimate.ts';
import { costOf } from '../../../src/models/spending/cost.ts';

const price = { input: 1, output: 2 };
const call = (more: Partial<CallToEstimate>, maxTokens?: number, choices = 1): CallToEstimate => ({
  ...{ endpoint: 'chat', request: { maxTokens, choices }, text: 'x'.repeat(400), price },
  ...more,
});

test('money: one token for each byte plus the maximal answer; tokens: four bytes each', () => {
  expect(estimateCall(call({}, 50))).toEqual({ inputTokens: 100, outputTokens: 50, cost: 0.4 + 0.1 });
  expect(estimateCall(call({}, 50, 3))).toMatchObject({ outputTokens: 150 });
  expect(estimateCall(call({ text: 'é'.repeat(400) }, 50))).toMatchObject({ inputTokens: 200, cost: 0.9 });
  expect(estimateCall(call({ defaultMaxTokens: 7 }))).toMatchObject({ outputTokens: 7 });
  expect(estimateCall(call({}))).toMatchObject({ outputTokens: 4096 });
  expect(estimateCall(call({ endpoint: 'embeddings' }))).toMatchObject({ outputTokens: 0, cost: 0.4 });
  expect(estimateCall(call({ endpoint: 'count_tokens' }))).toEqual({
    inputTokens: 0,
    outputTokens: 0,
    cost: 0,
  });
  expect(estimateCall(call({ price: undefined }))).toMatchObject({ cost: null });
});

test.each([0, -1, -1e300, Number.NaN, -0])(
  'a request for %s tokens or choices is not estimated as cheap',
  (odd) => {
    expect(estimateCall(call({}, odd))).toMatchObject({ outputTokens: 4096 });
    expect(estimateCall(call({}, 10, odd))).toMatchObject({ outputTokens: 10 });
  },
);

test('a picture counts a sixteenth of its bytes, and words that resemble one only if they are as long', () => {
  const picture = 'iVBORw0KGgo+/A=='.repeat(65_536);
  expect(estimateCall(call({ text: `{"url": "data:image/png;base64,${picture}"}` }, 1))).toMatchObject({
    inputTokens: 65_545,
  });
  expect(countBase64('a'.repeat(1023))).toBe(0);
  expect(countBase64('a'.repeat(1024))).toBe(1024);
  expect(estimateCall(call({ text: 'a b '.repeat(10_000_000) }, 1)).inputTokens).toBe(2_000_000);
});

test('runs of Base64 are found anywhere', () => {
  const piece = fc.oneof(
    fc.integer({ min: 0, max: 3000 }).map((length) => 'A'.repeat(length)),
    fc.string({ unit: fc.constantFrom(' ', '"', 'é', '\u{1f600}', '.'), maxLength: 5 }),
  );
  const simple = (text: string) =>
    (text.match(/[A-Za-z0-9+/=_-]+/g) ?? []).reduce(
      (sum, run) => sum + (run.length < 1024 ? 0 : run.length),
      0,
    );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('');
      expect(countBase64(text)).toBe(simple(text));
    }),
    { numRuns: 2000 },
  );
});

test('a price is per thousand tokens', () => {
  expect(costOf({ input: 1000, output: 500 }, price)).toBe(2);
  expect(costOf({ input: 1, output: 1 }, undefined)).toBeNull();
});
