import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { serveOverHttp } from '../../src/mcp/serve.ts';
import { openKeys } from '../../src/runtime/gateway/keys.ts';
import { workspace } from '../workspace.ts';
import { type Era, eras, fixture } from './serving.ts';

const spec = `
tools:
  read_file: {output_schema: {type: object}, exec: {command: ${fixture('echo-args')}}}
  read_page: {exec: {command: ${fixture('echo-args')}}}
  send: {exec: {command: ${fixture('echo-args')}}}
mcp: {auth: {required: true}}
`;

async function serveWithKeys() {
  const file = `${workspace(spec)}/runtime.yaml`;
  const keys = await openKeys(file);
  onTestFinished(async () => await keys.close());
  const runtime = await openRuntime(file, { log: false });
  onTestFinished(async () => await runtime.close());
  const { url, close } = await serveOverHttp(runtime, {
    tools: undefined,
    version: '1',
    listen: '127.0.0.1:0',
  });
  onTestFinished(close);
  const connect = async (key: string, era: Era) => {
    const mode = era === '2025' ? 'legacy' : { pin: '2026-07-28' };
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    onTestFinished(async () => await client.close());
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
    return client;
  };
  return { keys, url, connect };
}

test.each(eras)('a key limited to tools lists and calls only these, in the era of %s', async (era) => {
  const { keys, connect } = await serveWithKeys();
  const { key } = await keys.create({ name: 'agent', tools: ['read_*'] });
  const client = await connect(key, era);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_file', 'read_page']);
  expect(await client.callTool({ name: 'read_file', arguments: { n: 1 } })).toMatchObject({
    structuredContent: { n: 1 },
  });
  await expect(client.callTool({ name: 'send', arguments: {} })).rejects.toMatchObject({ code: -32602 });
  await keys.revoke('agent');
  await expect(client.callTool({ name: 'read_file', arguments: {} })).rejects.toThrow(
    /401|nauthorized|valid/,
  );
});

test('without a key, or with one for models or pending calls only, nothing is served', async () => {
  const { keys, url } = await serveWithKeys();
  const viewer = await keys.create({ name: 'viewer', role: 'viewer' });
  const models = await keys.create({ name: 'models' });
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const ask = async (headers: Record<string, string>) => await fetch(url, { method: 'POST', body, headers });
  const answers = await Promise.all(
    [{}, ...[viewer, models].map(({ key }) => ({ authorization: `Bearer ${key}` }))].map(ask),
  );
  expect(answers.map(({ status }) => status)).toEqual([401, 403, 403]);
  for (const answer of answers) {
    expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer .*scope="tools:call"$/);
    expect(await answer.json()).toMatchObject({ jsonrpc: '2.0', error: { code: -32600 } });
  }
});
