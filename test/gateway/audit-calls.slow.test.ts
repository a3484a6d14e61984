import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadSqlite } from '../../src/store/sqlite/node-sqlite.ts';
import { openaiProvider, openTestGateway, type TestGateway } from './open-gateway.ts';
import { answerJson, chatAnswer, startUpstream } from './upstream-server.ts';

const { DatabaseSync } = loadSqlite();

function rowsIn({ folder }: TestGateway): Record<string, unknown>[] {
  const database = new DatabaseSync(join(folder, '.signalbox/audit.db'), { readOnly: true });
  const rows = database.prepare('SELECT body FROM rows ORDER BY seq').all();
  database.close();
  return rows.map(({ body }) => JSON.parse(String(body))).filter(({ kind }) => kind === 'call');
}

const question = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] };
const guard = `#!/bin/sh\ncat > /dev/null; echo '{"allow": true}'\n`;
const hooks = 'hooks: {guard: {command: ./guard.sh, hook: provider}}';

test.each([
  { title: 'without hooks', more: '' },
  { title: 'with hooks', more: hooks },
])('the audit keeps one row each for a call, a stream, an error and a refusal $title', async ({ more }) => {
  await using upstream = await startUpstream(({ body }, response) => {
    if (body.includes('fail')) return answerJson({ error: { message: 'no' } }, 500)(seen(body), response);
    if (!body.includes('"stream":true')) return answerJson(chatAnswer('Hello'))(seen(body), response);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
    const delta = { index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
    response.end(`data: ${JSON.stringify({ ...chunk, choices: [delta] })}\n\ndata: [DONE]\n\n`);
  });
  const gateway = await openTestGateway(
    `providers: [${openaiProvider(upstream.url)}]\ngateway: {audit: {}}\n${more}`,
    { 'guard.sh': guard },
  );
  try {
    const bodies = [
      question,
      { ...question, stream: true },
      { ...question, user: 'fail' },
      { ...question, model: 'x' },
    ];
    for (const body of bodies) await (await gateway.post('/v1/chat/completions', body)).text();
  } finally {
    await gateway.runtime.close();
  }
  expect(
    rowsIn(gateway).map(({ outcome, status, stream, model, usage, answer_digest }) => ({
      ...{ outcome, status, stream, model, usage },
      isDigested: /^[0-9a-f]{64}$/.test(String(answer_digest)),
    })),
  ).toEqual([
    {
      ...{ outcome: 'allowed', status: 200, stream: false, model: 'm', isDigested: true },
      usage: { input: 1, output: 2, cached_input: null },
    },
    { outcome: 'allowed', status: 200, stream: true, model: 'm', usage: null, isDigested: true },
    { outcome: 'failed', status: 500, stream: false, model: 'm', usage: null, isDigested: true },
    { outcome: 'refused', status: 404, stream: false, model: '', usage: null, isDigested: true },
  ]);
});

function seen(body: string) {
  return { method: 'POST', url: '', headers: {}, body };
}

test('the audit keeps no row for callers without a key', async () => {
  await using upstream = await startUpstream(answerJson(chatAnswer('Hello')));
  const gateway = await openTestGateway(
    `providers: [${openaiProvider(upstream.url)}]\ngateway: {audit: {}, keys: {required: true}}`,
  );
  try {
    expect((await gateway.post('/v1/chat/completions', question)).status).toBe(401);
  } finally {
    await gateway.runtime.close();
  }
  expect(rowsIn(gateway)).toEqual([]);
  expect(upstream.seen).toEqual([]);
});

/** Blocks every writer of the audit until it is closed. */
function lock({ folder }: TestGateway) {
  const database = new DatabaseSync(join(folder, '.signalbox/audit.db'));
  database.exec('BEGIN IMMEDIATE');
  return database;
}

test.each([
  { title: 'without hooks', more: '' },
  { title: 'with hooks', more: hooks },
])(
  'an answer whose row cannot be kept is cut off, and the next call does not go upstream, $title',
  async ({ more }) => {
    await using upstream = await startUpstream(({ body }, response) => {
      if (!body.includes('"stream":true'))
        return answerJson(chatAnswer('SECRET ANSWER'))(seen(body), response);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' };
      const delta = { index: 0, delta: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' };
      response.end(`data: ${JSON.stringify({ ...chunk, choices: [delta] })}\n\ndata: [DONE]\n\n`);
    });
    const gateway = await openTestGateway(
      `providers: [${openaiProvider(upstream.url)}]\ngateway: {audit: {}}\n${more}`,
      { 'guard.sh': guard },
    );
    await gateway.post('/v1/chat/completions', question);
    const locked = lock(gateway);
    try {
      const streamed = gateway.post('/v1/chat/completions', { ...question, stream: true });
      const text = await (await streamed).text().catch((error: unknown) => `cut: ${error}`);
      expect(text).not.toContain('[DONE]');
      const asked = upstream.seen.length;
      const refused = await gateway.post('/v1/chat/completions', question);
      expect(refused.status).toBe(503);
      expect(await refused.json()).toMatchObject({ error: { code: 'audit_failed' } });
      expect(upstream.seen).toHaveLength(asked);
      locked.close();
      expect((await gateway.post('/v1/chat/completions', question)).status).toBe(200);
    } finally {
      await gateway.runtime.close();
    }
  },
);
