import { describe, expect, test } from 'vitest';
import { createGuard } from '../../../src/models/guard/guard.ts';
import { fromAnswer } from '../../../src/models/messages/answer.ts';
import { wrapModel } from '../../../src/models/wrapped-model.ts';
import { type Api, apiOf, play } from '../apis.ts';
import { ask, collect } from '../bench.ts';
import { fireHook } from '../guard-bench.ts';
import type { Turn } from '../wire/fake.ts';

const cases: readonly { title: string; usage: NonNullable<Turn>['usage']; known: object | undefined }[] = [
  { title: 'no usage at all', usage: null, known: undefined },
  { title: 'a usage without its totals', usage: {}, known: undefined },
  { title: 'what it has read alone', usage: { input: 12 }, known: { input_tokens: 12 } },
  { title: 'what it has written alone', usage: { output: 3 }, known: { output_tokens: 3 } },
  { title: 'zeros', usage: { input: 0, output: 0 }, known: { input_tokens: 0, output_tokens: 0 } },
];

async function costs(api: Api, usage: Turn['usage']) {
  const { model } = await play(api, [{ text: 'Hello.', ...(usage !== undefined && { usage }) }]);
  const told: unknown[] = [];
  const fire = fireHook((event) => {
    if (event.phase === 'after_call') told.push(event.response.message['cost_info']);
    return {};
  });
  const guarded = wrapModel(model, createGuard({ fire }));
  const generated = await guarded.doGenerate(ask('hi'));
  await collect((await guarded.doStream(ask('hi'))).stream);
  return [...told, fromAnswer(generated)['cost_info']];
}

describe.each(['openai', 'openai-compatible', 'gemini'])('hooks receive the usage of %s', (title) => {
  test.each(cases)('of $title as what it is', async ({ usage, known }) => {
    expect(await costs(apiOf(title), usage)).toStrictEqual([known, known, known]);
  });
});
