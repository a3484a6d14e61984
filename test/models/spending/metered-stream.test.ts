import { mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LanguageModelV4, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { expect, test } from 'vitest';
import { noopScrubber } from '../../../src/contract/scrub.ts';
import { createCallScope, inCallScope } from '../../../src/models/call-scope.ts';
import { openProvider } from '../../../src/models/open/open-provider.ts';
import { openResponseCache } from '../../../src/models/responses/response-cache.ts';
import { createBudget } from '../../../src/models/spending/budget.ts';
import { meterModel } from '../../../src/models/spending/metered-model.ts';

/** A scripted model with two different answers. */
async function openModel(responses: readonly object[]): Promise<LanguageModelV4> {
  const config = {
    ...{
      id: 'main',
      type: 'mock',
      model: 'scripted',
      headers: {},
      credential: {},
      defaults: { maxTokens: 1_000 },
    },
    additionalConfig: { responses },
    pricing: { input: 0, output: 1 },
    position: { file: 'runtime.yaml', line: 1, column: 1 },
  };
  const model = await openProvider(config, { env: {}, folder: '/' }).model();
  return meterModel(model, config, false);
}

const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Hello' }] }];
const one = { text: 'one two three', usage: { input_tokens: 3, output_tokens: 500 } };
const two = { text: 'something else', usage: { input_tokens: 3, output_tokens: 500 } };

function openScope() {
  const folder = mkdtempSync(join(tmpdir(), 'stream-'));
  const cache = openResponseCache(folder, { warn: () => {}, scrubber: noopScrubber });
  const budget = createBudget(10, 'the run');
  const newScope = () => createCallScope({ budgets: [budget], cache, epoch: 1 });
  const kept = () =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.json'))
      .length;
  return { budget, newScope, kept };
}

async function partsOf(model: LanguageModelV4, most = Infinity): Promise<LanguageModelV4StreamPart[]> {
  const { stream } = await model.doStream({ prompt });
  const parts: LanguageModelV4StreamPart[] = [];
  for await (const part of stream) {
    parts.push(part);
    if (parts.length === most) break;
  }
  return parts;
}

test('a complete stream is cached, and replayed part by part at no cost', async () => {
  const { budget, newScope, kept } = openScope();
  const model = await openModel([one, two]);
  const first = await inCallScope(newScope(), () => partsOf(model));
  const again = newScope();
  expect(await inCallScope(again, () => partsOf(model))).toEqual(first);
  expect({ kept: kept(), spent: budget.spentUsd(), tally: again.tally }).toEqual({
    ...{ kept: 1, spent: 0.5 },
    tally: { calls: 1, cached: 1, costUsd: 0 },
  });
});

test.each([
  ['breaks off', [{ ...one, error: { status: 500, message: 'cut' } }, two], Infinity],
  ['is given up by its reader', [one, two], 2],
])('a stream that %s is not cached, and counts as estimated [DS-COST-06]', async (_what, responses, most) => {
  const { budget, newScope, kept } = openScope();
  const model = await openModel(responses);
  await inCallScope(newScope(), () => partsOf(model, most));
  // The usage is unknown, so the longest allowed answer is charged.
  expect({ kept: kept(), spent: budget.spentUsd() }).toEqual({ kept: 0, spent: 1 });
  const parts = await inCallScope(newScope(), () => partsOf(model));
  const text = parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  expect({ text, kept: kept() }).toEqual({ text: 'something else', kept: 1 });
});

test('the same call twice in one case is two samples', async () => {
  const { newScope, kept } = openScope();
  const model = await openModel([one, two]);
  const texts = async () => {
    const parts = await partsOf(model);
    return parts.map((part) => (part.type === 'text-delta' ? part.delta : '')).join('');
  };
  const twice = async () => [await texts(), await texts()];
  expect(await inCallScope(newScope(), twice)).toEqual(['one two three', 'something else']);
  expect(await inCallScope(newScope(), twice)).toEqual(['one two three', 'something else']);
  expect(kept()).toBe(2);
});
