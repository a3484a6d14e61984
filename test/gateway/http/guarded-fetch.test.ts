import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';

const spec = `
state_store: {type: memory}
hooks:
  words: {command: ./words.sh, hook: provider}
`;
const words =
  '#!/bin/sh\nif grep -q forbidden; then echo \'{"allow": false, "reason": "that word"}\'; else echo \'{"allow": true}\'; fi\n';

test('an SDK in this process calls its own API with its own key, behind the hooks', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using opened = await openTestGateway(spec, { 'words.sh': words });
  const client = new OpenAI({
    baseURL: `${upstream.url}/custom/v1`,
    apiKey: 'sk-own',
    fetch: opened.runtime.fetch(),
  });
  const ask = (content: string) => ({ model: 'any', messages: [{ role: 'user' as const, content }] });
  const { choices } = await client.chat.completions.create(ask('hello'));
  await expect(client.chat.completions.create(ask('forbidden'))).rejects.toMatchObject({
    status: 400,
    code: 'content_filter',
  });
  const [seen, ...more] = upstream.seen;
  expect([choices[0]?.message.content, seen?.url, seen?.headers.authorization, more]).toEqual([
    'hi',
    '/custom/v1/chat/completions',
    'Bearer sk-own',
    [],
  ]);
});

test('a call that no hook can read is not made', async () => {
  await using upstream = await startUpstream(answerJson({}));
  await using opened = await openTestGateway(spec, { 'words.sh': words });
  const client = new OpenAI({ baseURL: upstream.url, apiKey: 'sk-own', fetch: opened.runtime.fetch() });
  const claude = new Anthropic({ baseURL: upstream.url, apiKey: 'sk-own', fetch: opened.runtime.fetch() });
  await expect(client.images.generate({ prompt: 'forbidden' })).rejects.toMatchObject({ status: 404 });
  await expect(claude.models.list()).rejects.toMatchObject({ status: 404 });
  expect(upstream.seen).toEqual([]);
});
