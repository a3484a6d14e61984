import { expect, test } from 'vitest';
import { openaiProvider, openTestGateway, type TestGateway } from '../open-gateway.ts';
import { answerJson, startUpstream, type UpstreamServer } from '../upstream-server.ts';
import { answerWith, asking, toolCall } from './judge-bench.ts';

const path = '/v1/chat/completions';
const body = { model: 'm', ...asking };
const rm = toolCall('c1', 'Bash', { command: 'rm -rf /' });
const ls = toolCall('c2', 'Bash', { command: 'ls' });

function messageOf(answer: unknown) {
  return (answer as { choices: [{ message: { content: string; tool_calls?: object[] } }] }).choices[0]
    .message;
}

interface Opened {
  readonly upstream: UpstreamServer;
  readonly gateway: TestGateway;
  [Symbol.asyncDispose](): Promise<void>;
}

async function open(
  hooks: string,
  gateway: string,
  files: Readonly<Record<string, string>>,
  answer: object,
): Promise<Opened> {
  const upstream = await startUpstream(answerJson(answer));
  const spec = `providers: [${openaiProvider(upstream.url)}]\nhooks: {${hooks}}\ngateway: {${gateway}}`;
  const opened = await openTestGateway(spec, files);
  return {
    upstream,
    gateway: opened,
    [Symbol.asyncDispose]: async () => {
      await opened[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

const noRm = `#!/bin/sh
if grep -q 'rm -rf'; then echo 'no deleting' >&2; exit 2; fi
`;

test('a hook written for another agent denies its tool by name and arguments', async () => {
  const hook = 'no_rm: {dialect: claude, command: ./no-rm.sh, claude: {event: PreToolUse, matcher: Bash}}';
  await using opened = await open(hook, 'tools: {hooks: true}', { 'no-rm.sh': noRm }, answerWith([rm, ls]));
  const response = await opened.gateway.post(path, body);
  const message = messageOf(await response.json());
  expect(message.tool_calls).toEqual([ls]);
  expect(message.content).toContain('Tool "Bash" was blocked by hook "no_rm": no deleting');
});

test('without tools.hooks, tool hooks do not judge the calls of clients', async () => {
  const hook = 'no_rm: {command: ./deny.sh, hook: tool}';
  const deny = '#!/bin/sh\necho \'{"allow": false, "reason": "never"}\'\n';
  await using opened = await open(hook, '', { 'deny.sh': deny }, answerWith([rm]));
  expect(await (await opened.gateway.post(path, body)).json()).toEqual(answerWith([rm]));
});

const ask = '#!/bin/sh\necho \'{"allow": false, "ask": true, "reason": "please"}\'\n';

test.each(['error', 'answer'])(
  'a waiting call is reported with on_deny: %s, and released when the request is repeated',
  async (onDeny) => {
    const settings = `tools: {hooks: true, pending: refuse}, on_deny: ${onDeny}`;
    const hook = 'asks: {command: ./ask.sh, hook: tool, phases: [before_execution]}';
    await using opened = await open(hook, settings, { 'ask.sh': ask }, answerWith([ls]));
    const refused = await opened.gateway.post(path, body);
    const [pending] = await opened.gateway.runtime.pending.list();
    const text = await refused.text();
    expect(text).toContain(`signalbox pending approve ${pending?.id}`);
    expect([
      refused.status,
      refused.headers.get('x-should-retry'),
      refused.headers.get('x-signalbox-verdict'),
    ]).toEqual([onDeny === 'error' ? 400 : 200, 'false', 'ask']);
    const useOf = async () => (await opened.gateway.runtime.pending.show(pending?.id ?? '')).use;
    await opened.gateway.runtime.pending.approve(pending?.id ?? '', { by: 'mara' });
    expect(await useOf()).toBe('not_used');
    expect(await (await opened.gateway.post(path, body)).json()).toEqual(answerWith([ls]));
    expect(await useOf()).toBe('used');
    const streamed = await (await opened.gateway.post(path, { ...body, stream: true })).text();
    expect(streamed).toContain('"name":"Bash"');
    expect(streamed).toMatch(/data: \[DONE\]\s*$/);
    expect(opened.upstream.seen).toHaveLength(1);
  },
);

test('a client that waits uses the approval at once', async () => {
  const hook = 'asks: {command: ./ask.sh, hook: tool, phases: [before_execution]}';
  const settings = 'tools: {hooks: true, pending: hold, hold_ms: 60000}';
  await using opened = await open(hook, settings, { 'ask.sh': ask }, answerWith([ls]));
  const { pending } = opened.gateway.runtime;
  const response = opened.gateway.post(path, body);
  await expect.poll(async () => (await pending.list()).length).toBe(1);
  const [{ id = '' } = {}] = await pending.list();
  await pending.approve(id, { by: 'mara' });
  expect(await (await response).json()).toEqual(answerWith([ls]));
  expect((await pending.show(id)).use).toBe('used');
  expect(await (await opened.gateway.post(path, body)).json()).toEqual(answerWith([ls]));
  expect(opened.upstream.seen).toHaveLength(1);
});

test('edited arguments of an undeclared tool are accepted as they are', async () => {
  const hook = 'asks: {command: ./ask.sh, hook: tool, phases: [before_execution]}';
  await using opened = await open(hook, 'tools: {hooks: true}', { 'ask.sh': ask }, answerWith([rm]));
  await opened.gateway.post(path, body);
  const [pending] = await opened.gateway.runtime.pending.list();
  await opened.gateway.runtime.pending.approve(pending?.id ?? '', { by: 'mara', args: { command: 'ls' } });
  const message = messageOf(await (await opened.gateway.post(path, body)).json());
  expect(message.tool_calls).toEqual([{ ...rm, function: { name: 'Bash', arguments: '{"command":"ls"}' } }]);
});
