import { expect, test } from 'vitest';
import { openTestGateway } from './open-gateway.ts';
import { answerJson, chatAnswer, startUpstream, type UpstreamServer } from './upstream-server.ts';

const limited = ({ url }: UpstreamServer, limit: string, more = '') =>
  `state_store: {type: memory}\nproviders: [{id: main, type: openai-compatible, model: m, base_url: "${url}/v1", credential: {credential_env: DESK_KEY}, rate_limit: ${limit}${more}}]`;
const ask = { model: 'm', messages: [{ role: 'user', content: 'hi' }], max_tokens: 10 };
const path = '/v1/chat/completions';

test('client calls start at the rate of the provider, and none is refused while there is time [DS-RATE-01]', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using gateway = await openTestGateway(limited(upstream, '{requests_per_minute: 600}'));
  const beganAt = performance.now();
  const answers = await Promise.all(Array.from({ length: 105 }, () => gateway.post(path, ask)));
  // A hundred at once, then five at ten a second.
  expect(performance.now() - beganAt).toBeGreaterThanOrEqual(490);
  expect(answers.every(({ status }) => status === 200)).toBe(true);
});

test('a call that finds no capacity in time is refused with the next step, and does not go upstream [DS-RATE-02]', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('hi')));
  await using gateway = await openTestGateway(
    limited(upstream, '{tokens_per_minute: 600}', ', request_timeout: 200ms'),
  );
  expect((await gateway.post(path, { ...ask, max_tokens: 50 })).status).toBe(200);
  const refused = await gateway.post(path, { ...ask, max_tokens: 100 });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(await refused.json()).toMatchObject({
    error: { code: 'provider_rate_limited', message: expect.stringContaining('rate_limit') },
  });
  expect(upstream.seen).toHaveLength(1);
});

test.each([
  ['retry-after-ms', () => '400'],
  ['retry-after', () => '1'],
  ['retry-after', () => new Date(Date.now() + 2_000).toUTCString()],
])(
  'an API that asks to wait by %s delays other calls, and its refusal reaches the client [DS-RATE-04]',
  async (name, value) => {
    let count = 0;
    await using upstream = await startUpstream((request, response) => {
      count += 1;
      if (count > 1) return answerJson(chatAnswer('hi'))(request, response);
      return answerJson({ error: { message: 'slow down' } }, 429, { [name]: value() })(request, response);
    });
    await using gateway = await openTestGateway(limited(upstream, '{requests_per_minute: 6000}'));
    const refused = await gateway.post(path, ask);
    const beganAt = performance.now();
    const next = await gateway.post(path, ask);
    expect([refused.status, next.status]).toEqual([429, 200]);
    expect(performance.now() - beganAt).toBeGreaterThanOrEqual(390);
  },
);
