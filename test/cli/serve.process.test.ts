import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { expect, test } from 'vitest';
import { config, folderOf, run, runJson, workspace } from './command-line.ts';
import { serve } from './serve.ts';

const mock = (model: string, response: string) => `
state_store: {type: memory}
providers:
  - {id: main, type: mock, model: ${model}, additional_config: {responses: [${response}]}}
`;

function chat(url: string, model: string, more: object = {}): Promise<Response> {
  return fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'hi' }], ...more }),
  });
}

test('the folder that init wrote can be served, and requests and answers are redacted', async () => {
  const parent = folderOf({});
  await run('init guards', { cwd: parent });
  await using serving = await serve(join(parent, 'guards'));
  const openai = new OpenAI({ baseURL: `${serving.url}/v1`, apiKey: 'none' });
  const messages = [{ role: 'user' as const, content: 'I am bob@example.com' }];
  const expected = 'I was told: "I am [email]" Write to [email].';
  const { choices } = await openai.chat.completions.create({ model: 'demo', messages });
  const streamed = await openai.chat.completions.stream({ model: 'demo', messages }).finalChatCompletion();
  const anthropic = new Anthropic({ baseURL: serving.url, apiKey: 'none' });
  const { content } = await anthropic.messages.create({ model: 'demo', max_tokens: 100, messages });
  expect([choices[0]?.message.content, streamed.choices[0]?.message.content, content]).toMatchObject([
    expected,
    expected,
    [{ type: 'text', text: expected }],
  ]);
});

test('scripts read its address from the first line, and SIGTERM ends it cleanly', async () => {
  await using serving = await serve(workspace(mock('demo', '{text: hi}')));
  expect(serving.document).toMatchObject({
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    keys_required: false,
    models: [{ name: 'demo', provider: 'main', endpoints: expect.arrayContaining(['/v1/responses']) }],
  });
  expect((await chat(serving.url, 'demo')).status).toBe(200);
  serving.kill('SIGTERM');
  expect(await serving.ran).toMatchObject({ code: 0 });
});

test('a call in progress at shutdown is answered, and no new one is accepted', async () => {
  await using serving = await serve(workspace(mock('demo', '{text: late, delay_ms: 1500}')));
  const running = chat(serving.url, 'demo');
  // When another connection gets an answer, the call has begun.
  await fetch(`${serving.url}/healthz`);
  serving.kill('SIGTERM');
  const answered = await (await running).text();
  expect(answered).toContain('late');
  expect(await serving.ran).toMatchObject({ code: 0 });
  await expect(chat(serving.url, 'demo')).rejects.toThrow();
});

test('calls that do not end in time are cut off', async () => {
  const spec = `${mock('demo', '{text: never, delay_ms: 600000}')}gateway: {drain_ms: 100}\n`;
  await using serving = await serve(workspace(spec));
  const running = chat(serving.url, 'demo').catch(() => 'cut');
  await fetch(`${serving.url}/healthz`);
  serving.kill('SIGTERM');
  expect([await running, await serving.ran]).toMatchObject(['cut', { code: 0 }]);
});

test('SIGHUP loads a new config without dropping a stream, and refuses an unusable one', async () => {
  const cwd = workspace(mock('one', '{chunks: [a, b, c], delay_ms: 700}'));
  await using serving = await serve(cwd);
  const stream = await chat(serving.url, 'one', { stream: true });
  writeFileSync(join(cwd, 'runtime.yaml'), config(mock('two', '{text: new}')));
  serving.kill('SIGHUP');
  await serving.told('reloaded');
  expect([(await chat(serving.url, 'one')).status, (await chat(serving.url, 'two')).status]).toEqual([
    404, 200,
  ]);
  expect(await stream.text()).toContain('[DONE]');
  writeFileSync(join(cwd, 'runtime.yaml'), config('gateway: {on_denied: answer}'));
  serving.kill('SIGHUP');
  expect(await serving.told('not reloaded')).toContain('CONFIG_INVALID');
  expect((await chat(serving.url, 'two')).status).toBe(200);
});

test('a port in use, and an invalid address, are reported with exit code 2', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const cwd = workspace(mock('demo', '{text: hi}'));
  const inUse = await runJson(['serve', '--listen', `127.0.0.1:${port}`], { cwd });
  const wrong = await runJson('serve --listen nonsense', { cwd });
  await new Promise((resolve) => taken.close(resolve));
  expect([inUse, wrong]).toMatchObject([
    { code: 2, document: { error: { code: 'LISTEN_FAILED' } } },
    { code: 2, document: { error: { code: 'USAGE' } } },
  ]);
});

test.each(['0.0.0.0:0', '[::]:0'])('without keys it does not listen on %s', async (listen) => {
  const cwd = workspace(mock('demo', '{text: hi}'));
  const optional = workspace(`${mock('demo', '{text: hi}')}gateway: {keys: {required: false}}\n`);
  const refused = [
    await runJson(['serve', '--listen', listen], { cwd }),
    await runJson(['serve', '--listen', listen], { cwd: optional }),
  ];
  expect(refused).toMatchObject([
    { code: 2, document: { error: { code: 'LISTEN_FAILED' } } },
    { code: 2, document: { error: { code: 'LISTEN_FAILED' } } },
  ]);
});
