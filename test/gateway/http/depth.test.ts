import { expect, test } from 'vitest';
import { openTestGateway } from '../open-gateway.ts';
import { startUpstream } from '../upstream-server.ts';

const spec = (url: string) => `
state_store: {type: memory}
providers:
  - {id: main, type: openai, model: m, base_url: "${url}/v1", credential: {credential_env: DESK_KEY}}
  - {id: claude, type: anthropic, model: c, base_url: "${url}", credential: {credential_env: DESK_KEY}}
hooks:
  allow: {command: ./allow.sh, hook: provider}
gateway: {limits: {depth: 8}}`;

const allow = '#!/bin/sh\ncat > /dev/null\necho \'{"allow": true}\'\n';

const endpoints: readonly (readonly [path: string, body: object])[] = [
  ['/v1/chat/completions', { model: 'm', messages: [] }],
  ['/v1/embeddings', { model: 'm', input: 'a' }],
  ['/v1/responses', { model: 'm', input: 'a' }],
  ['/v1/messages', { model: 'c', max_tokens: 1, messages: [] }],
];

test.each(endpoints)(
  'a body of %s that is nested more deeply than spec.gateway.limits.depth is refused',
  async (path, body) => {
    await using upstream = await startUpstream((_request, response) => void response.end('{}'));
    await using gateway = await openTestGateway(spec(upstream.url), { 'allow.sh': allow });
    const metadata = JSON.parse(`${'{"a":'.repeat(8)}1${'}'.repeat(8)}`);
    const response = await gateway.post(path, { ...body, metadata });
    expect([response.status, upstream.seen.length]).toEqual([400, 0]);
    expect(await response.text()).toContain('nested too deeply');
  },
);
