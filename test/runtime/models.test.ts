import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { decisionOf } from '../../src/calls/hooks/hook-chain.ts';
import { loadConfig } from '../../src/config/load.ts';
import { answers } from '../../src/contract/hook.ts';
import { openModels } from '../../src/runtime/models.ts';
import { openRates } from '../../src/runtime/stages/rates.ts';
import { chunks } from '../gateway/fallback/open.ts';
import { startUpstream } from '../gateway/upstream-server.ts';
import { collect } from '../models/bench.ts';
import { write } from './open.ts';

async function openBehind(keys: string) {
  const counted = { seen: 0, open: 0, most: 0 };
  const upstream = await startUpstream(async (_, response) => {
    counted.seen += 1;
    counted.open += 1;
    counted.most = Math.max(counted.most, counted.open);
    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
    await sleep(100);
    counted.open -= 1;
    response.end(chunks({ role: 'assistant', content: 'Hi' }, 'stop'));
  });
  onTestFinished(() => upstream[Symbol.asyncDispose]());
  const file = write(
    `providers: [{id: main, type: openai-compatible, model: m, base_url: "${upstream.url}/v1", credential: {api_key: k}, ${keys}}]\n`,
  );
  const { config } = loadConfig(file, '');
  if (config === undefined) throw new Error('the config is wrong');
  const nothing = () => Promise.reject(new Error('nothing of the kind is asked'));
  const rates = await openRates(config, { open: nothing });
  const models = openModels({
    ...{ config, env: {}, record: undefined, replay: undefined, rates },
    fire: async (event) => ({ event, decision: decisionOf({ hook: null, dialect: null }, answers.allow()) }),
    emit: () => {},
    embedByTool: nothing,
  });
  onTestFinished(() => models.close());
  const { model } = await models.model('main', 'windowed');
  const prompt = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'hi' }] }];
  const ask = async () => await collect((await model.doStream({ prompt })).stream);
  return { ask, counted };
}

test('the models of a provider share its limit of streams', async () => {
  const { ask, counted } = await openBehind('stream_max_concurrent: 1');
  const answers = await Promise.all([ask(), ask(), ask()]);
  expect(answers.map((parts) => parts.at(-1)?.type)).toEqual(['finish', 'finish', 'finish']);
  expect(counted).toMatchObject({ seen: 3, most: 1 });
});
