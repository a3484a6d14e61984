import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { open } from '../../runtime/open.ts';

const script = join(import.meta.dirname, '../../../examples/presidio/presidio.mjs');

type Answer = (body: { text: string }, response: ServerResponse) => void;

async function analyzer(answer: Answer): Promise<{ url: string; asked: unknown[] }> {
  const asked: unknown[] = [];
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const body = JSON.parse(await text(request));
    asked.push({ method: request.method, path: request.url, body });
    answer(body, response);
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { url: `http://127.0.0.1:${portOf(server.address())}`, asked };
}

function portOf(address: string | AddressInfo | null): number {
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return address.port;
}

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const port = portOf(server.address());
  await new Promise<void>((resolve) => server.close(() => resolve()));
  return port;
}

const json: (value: unknown) => Answer = (value) => (_body, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify(value));
};

/** Finds every "Ada"; offsets are in code points, as in Presidio. */
const findAda: Answer = ({ text: given }, response) => {
  const at = [...given].join('').indexOf('Ada');
  const start = [...given.slice(0, at)].length;
  const found = { analysis_explanation: null, entity_type: 'PERSON', score: 0.85, start, end: start + 3 };
  json(at === -1 ? [] : [found])({ text: given }, response);
};

async function fire(
  url: string | undefined,
  phase: 'before_call' | 'after_call',
  content = 'I am 😀 Ada',
  timeoutMs = 15_000,
) {
  const env = [...(url === undefined ? [] : [`PRESIDIO_URL=${url}`]), `PRESIDIO_TIMEOUT=${timeoutMs}`];
  const { runtime, events } = await open(
    `hooks:\n  presidio: {command: ${JSON.stringify(process.execPath)}, args: [${JSON.stringify(script)}], hook: provider, runtime: server, timeout_ms: 60000, env: ${JSON.stringify(env)}}\n`,
  );
  const request = { messages: [{ role: 'user' as const, content }], system_prompt: 'You know Ada.' };
  const message = {
    role: 'assistant' as const,
    content,
    tool_calls: [{ id: 'c', name: 'mail', args: { to: ['Ada'], n: 1 } }],
  };
  const decision =
    phase === 'before_call'
      ? await runtime.hooks.fire({ hook: 'provider', phase, request })
      : await runtime.hooks.fire({ hook: 'provider', phase, request, response: { message } });
  return { decision, events };
}

test('findings of the analyzer are redacted on the way to the model', async () => {
  const { url, asked } = await analyzer(findAda);
  const { decision } = await fire(url, 'before_call');
  expect(decision).toMatchObject({
    verdict: 'modify',
    replace: { messages: [{ content: 'I am 😀 [PERSON]' }], system_prompt: 'You know [PERSON].' },
    metadata: { pii: { PERSON: 2 } },
  });
  expect(asked).toContainEqual({
    method: 'POST',
    path: '/analyze',
    body: { text: 'I am 😀 Ada', language: 'en', score_threshold: 0.5 },
  });
});

test('and on the way back, in the arguments of tools too', async () => {
  const { url } = await analyzer(findAda);
  const { decision } = await fire(`${url}/`, 'after_call');
  expect(decision).toMatchObject({
    verdict: 'modify',
    replace: {
      message: { content: 'I am 😀 [PERSON]', tool_calls: [{ args: { to: ['[PERSON]'], n: 1 } }] },
    },
  });
});

test('no finding is an allow', async () => {
  const { url } = await analyzer(json([]));
  expect((await fire(url, 'before_call')).decision).toMatchObject({
    verdict: 'allow',
    metadata: { pii: {} },
  });
});

test('overlapping findings are removed completely', async () => {
  const { url } = await analyzer(
    json([
      { entity_type: 'B', start: 3, end: 9, score: 1 },
      { entity_type: 'A', start: 0, end: 5, score: 1 },
      { entity_type: 'C', start: 1, end: 2, score: 1 },
    ]),
  );
  const { decision } = await fire(url, 'before_call', 'abcdefghijklmnop');
  expect(decision).toMatchObject({ replace: { messages: [{ content: '[A][B]jklmnop' }] } });
});

const faults: readonly { readonly title: string; readonly answer: Answer; readonly timeoutMs?: number }[] = [
  { title: 'an error', answer: (_body, response) => void response.writeHead(500).end('Ada') },
  { title: 'no JSON', answer: (_body, response) => void response.end('Ada is here') },
  { title: 'an object', answer: json({ error: 'No text provided' }) },
  { title: 'a finding beyond the text', answer: json([{ entity_type: 'A', start: 0, end: 999, score: 1 }]) },
  { title: 'a finding without a place', answer: json([{ entity_type: 'A', score: 1 }]) },
  { title: 'a list of nothing', answer: json([null]) },
  { title: 'nothing in time', answer: () => {}, timeoutMs: 100 },
  { title: 'a closed connection', answer: (_body, response) => void response.destroy() },
];

test.each(faults)('an analyzer that answers with $title denies', async ({ answer, timeoutMs }) => {
  const { url } = await analyzer(answer);
  const { decision } = await fire(url, 'before_call', 'I am Ada', timeoutMs);
  expect(decision).toMatchObject({
    verdict: 'deny',
    hook: 'presidio',
    reason: expect.stringContaining('failed'),
  });
  expect(decision.reason).not.toContain('Ada');
});

test('an unreachable analyzer denies', async () => {
  const { decision } = await fire(`http://127.0.0.1:${await closedPort()}`, 'before_call');
  expect(decision).toMatchObject({
    verdict: 'deny',
    reason: 'the hook failed: The tool itself reported an error.',
  });
});

test('without an address it denies and names the setting', async () => {
  const { decision, events } = await fire(undefined, 'before_call');
  expect(decision).toMatchObject({ verdict: 'deny' });
  const lines = events.flatMap((event) => (event.type === 'stderr' ? [event.line] : []));
  expect(lines.join('\n')).toContain('PRESIDIO_URL is not set');
});
