import { expect, test } from 'vitest';
import { canary } from '../../canary.ts';
import { openaiProvider, openTestGateway } from '../open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from '../upstream-server.ts';

const path = '/v1/chat/completions';

test('without hooks a body is forwarded byte for byte, with the credential of the provider', async () => {
  const answered = `${JSON.stringify(chatAnswer('hi'))}\n`;
  await using upstream = await startUpstream(
    answerJson(answered, 200, { 'x-request-id': 'up-1', 'set-cookie': 'a=b' }),
  );
  await using gateway = await openTestGateway(
    `state_store: {type: memory}\nproviders: [${openaiProvider(upstream.url)}]`,
  );
  const body = '{ "model":"m", "messages":[], "big": 12345678901234567890 }';
  const response = await gateway.post(path, body, {
    authorization: 'Bearer client',
    'openai-beta': 'x=1',
    cookie: 'secret=1',
  });
  const [seen] = upstream.seen;
  expect({
    status: response.status,
    text: await response.text(),
    headers: Object.fromEntries(response.headers),
    seen: { url: seen?.url, body: seen?.body, authorization: seen?.headers.authorization },
    passed: [seen?.headers['openai-beta'], seen?.headers.cookie],
  }).toEqual({
    status: 200,
    text: answered,
    headers: { 'content-type': 'application/json', 'x-request-id': 'up-1' },
    seen: { url: path, body, authorization: `Bearer ${canary}` },
    passed: ['x=1', undefined],
  });
});

test.each([
  { title: 'a route that there is not', path: '/v1/files', body: '{}', status: 404, code: 'not_found' },
  { title: 'a body that is no JSON', path, body: '{', status: 400, code: 'invalid_request' },
  {
    title: 'a deep body',
    path,
    body: `{"model":"m","x":${'['.repeat(200)}${']'.repeat(200)}}`,
    status: 400,
    code: 'invalid_request',
  },
  { title: 'a key twice', path, body: '{"model":"m","model":"n"}', status: 400, code: 'invalid_request' },
  { title: 'no model', path, body: '{"messages":[]}', status: 400, code: 'invalid_request' },
  { title: 'an unknown model', path, body: '{"model":"other"}', status: 404, code: 'model_not_found' },
  {
    title: 'an unknown query',
    path: `${path}?x=1`,
    body: '{"model":"m"}',
    status: 400,
    code: 'invalid_request',
  },
])('$title is refused, and nothing goes upstream', async ({ path: asked, body, status, code }) => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using gateway = await openTestGateway(
    `state_store: {type: memory}\nproviders: [${openaiProvider(upstream.url)}]`,
  );
  const response = await gateway.post(asked, body);
  const told = (await response.json()) as { error: { code: string } };
  expect([response.status, told.error.code, upstream.seen.length]).toEqual([status, code, 0]);
});

test('a stream without hooks passes byte for byte, and its row is kept', async () => {
  const frames = ['data: {"choices":[]}\r\n\r\n', ': odd\n\n', 'data: [DONE]\n\n'];
  await using upstream = await startUpstream(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of frames) {
      response.write(frame);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    response.end();
  });
  for (const more of ['', '\ngateway: {audit: {}}']) {
    await using gateway = await openTestGateway(
      `state_store: {type: memory}\nproviders: [${openaiProvider(upstream.url)}]${more}`,
    );
    const response = await gateway.post(path, '{"model":"m","stream":true}');
    expect(await response.text()).toBe(frames.join(''));
  }
});
