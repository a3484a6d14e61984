import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { expect, test } from 'vitest';
import { openaiProvider, openTestGateway } from '../open-gateway.ts';

const filter = `#!/bin/sh
echo '{"allow": true}'
`;

test('a stream whose answer no hook judges is forwarded as it arrives', async () => {
  const { promise: answering, resolve } = Promise.withResolvers<ServerResponse>();
  const upstream = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    resolve(response);
  });
  upstream.listen(0, '127.0.0.1');
  await once(upstream, 'listening');
  const address = upstream.address();
  if (address === null || typeof address === 'string') throw new Error('it has no port');
  const spec = `providers:
  - ${openaiProvider(`http://127.0.0.1:${address.port}`)}
hooks:
  allows: {command: ./allow.sh, hook: provider, phases: [before_call]}`;
  await using gateway = await openTestGateway(spec, { 'allow.sh': filter });
  const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] };
  const posted = gateway.post('/v1/chat/completions', body);
  const response = await answering;
  const first = chunk({ role: 'assistant', content: 'Hel' });
  response.write(first);
  const reader = (await posted).body?.getReader();
  expect(new TextDecoder().decode((await reader?.read())?.value)).toBe(first);
  response.end(`${chunk({ content: 'lo' }, 'stop')}data: [DONE]\n\n`);
  let rest = '';
  for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
    rest += new TextDecoder().decode(next.value);
  }
  expect(rest).toBe(`${chunk({ content: 'lo' }, 'stop')}data: [DONE]\n\n`);
  upstream.closeAllConnections();
  upstream.close();
});

function chunk(delta: object, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm', choices })}\n\n`;
}
