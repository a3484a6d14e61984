import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { importPlugins, schemaOf, shPlugin } from './chibi/plugins.ts';
import { chatYaml, mockProvider, openProject, runtimeYaml } from './project.ts';

/** Counts slowly, so that concurrent hooks read the same count. */
const count = 'n=$(cat count 2>/dev/null || echo 0); sleep 0.1; echo $((n + 1)) > count';
const limit = (no: string) => `cat > /dev/null\n${count}\n[ "$n" -ge 1 ] && ${no}\ntrue`;

const picoclaw = `#!/usr/bin/env node
const { setTimeout: sleep } = require('node:timers/promises');
let count = 0;
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'hook.hello') return answer(id, { ok: true });
  if (method !== 'hook.before_tool') return answer(id, { action: 'continue' });
  const before = count;
  await sleep(100);
  count = before + 1;
  answer(id, before >= 1 ? { action: 'deny_tool', reason: 'only one' } : { action: 'continue' });
});
`;

const limiters = [
  {
    dialect: 'picoclaw',
    hooks: 'hooks:\n  h: {dialect: picoclaw, command: ./picoclaw, picoclaw: {intercept: [before_tool]}}',
    files: { picoclaw },
  },
  {
    dialect: 'chibi',
    hooks: importPlugins,
    files: {
      'plugins/limit': shPlugin(
        schemaOf('limit', ['pre_tool']),
        limit(`echo '{"block": true, "message": "only one"}'`)
          .replaceAll('count ', '"$CHIBI_PROJECT_ROOT/count" ')
          .replace('> count\n', '> "$CHIBI_PROJECT_ROOT/count"\n'),
      ),
    },
  },
  {
    dialect: 'claude',
    hooks: 'hooks:\n  h: {dialect: claude, command: ./limit.sh, claude: {event: PreToolUse}}',
    files: { 'limit.sh': `#!/bin/sh\n${limit('{ echo only one >&2; exit 2; }')}\n` },
  },
  {
    dialect: 'agentao',
    hooks: 'hooks:\n  h: {dialect: agentao, command: ./limit.sh, agentao: {event: PreToolUse}}',
    files: {
      'limit.sh': `#!/bin/sh\n${limit(`echo '{"hookSpecificOutput": {"permissionDecision": "deny", "reason": "only one"}}'`)}\n`,
    },
  },
] as const;

const tool = (name: string, more = '') =>
  `  ${name}: {input_schema: {type: object}, exec: {command: ./${name}.sh}${more}}\n`;
const threeCalls = '{tool_calls: [{name: a, args: {}}, {name: b, args: {}}, {name: a, args: {}}]}';
const says = (text: string, first = ':') =>
  `#!/bin/sh\ncat > /dev/null\n${first}\necho '{"result": "${text}"}'\n`;

async function openRound(
  spec: string,
  files: Readonly<Record<string, string>>,
  { tools = tool('a') + tool('b'), calls = threeCalls, chat = '', store = 'memory' } = {},
) {
  const opened = await openProject({
    'runtime.yaml': runtimeYaml(
      `defaults: {grace_ms: 50}\nstate_store: ${store === 'memory' ? '{type: memory}' : `{type: sqlite, path: ${store}}`}\n${mockProvider(calls, '{text: done}')}tools:\n${tools}${spec}`,
    ),
    'agent.pipeline.yaml': chatYaml(`tools: [a, b]\n${chat}`),
    'a.sh': says('a'),
    'b.sh': says('b'),
    ...files,
  });
  const file = join(opened.folder, 'agent.pipeline.yaml');
  return { ...opened, run: async (options = {}) => await opened.runtime.run(file, { text: 'hi' }, options) };
}

const statusesOf = ({ output }: { output: unknown }) =>
  JSON.parse(JSON.stringify(output)).calls.map(({ status }: { status: string }) => status);

test.each(limiters)(
  'a counting $dialect hook lets exactly one call of a round pass',
  async ({ hooks, files }) => {
    const { run } = await openRound(hooks, files);
    expect(statusesOf(await run())).toEqual(['ok', 'denied', 'denied']);
  },
);

test.each(['claude', 'agentao'])('calls whose %s hooks have finished run concurrently', async (dialect) => {
  const { run } = await openRound(
    `hooks:\n  h: {dialect: ${dialect}, command: "true", ${dialect}: {event: PreToolUse}}`,
    {
      'a.sh': says('a', 'touch a; until [ -e b ]; do sleep 0.02; done'),
      'b.sh': says('b', 'touch b; until [ -e a ]; do sleep 0.02; done'),
    },
    { calls: '{tool_calls: [{name: a, args: {}}, {name: b, args: {}}]}' },
  );
  expect(statusesOf(await run())).toEqual(['ok', 'ok']);
});

test('tool_concurrency limits calls, and not the hooks that Agentao runs before all of them', async () => {
  const { run, folder } = await openRound(
    'hooks:\n  h: {dialect: agentao, command: ./see.sh, agentao: {event: PreToolUse}}',
    {
      'see.sh': '#!/bin/sh\ncat > /dev/null\nls ran-* 2>/dev/null | wc -l >> seen\n',
      'a.sh': says('a', 'touch ran-a'),
      'b.sh': says('b', 'touch ran-b'),
    },
    { chat: 'tool_concurrency: 1' },
  );
  expect(statusesOf(await run())).toEqual(['ok', 'ok', 'ok']);
  expect(readFileSync(join(folder, 'seen'), 'utf8').trim().split(/\s+/)).toEqual(['0', '0', '0']);
});

/** Logs the start and end of each call, and aborts the turn at the method and tool of `abort`. */
const witness = (abort = '') => `#!/usr/bin/env node
const { appendFileSync } = require('node:fs');
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'hook.hello') return answer(id, { ok: true });
  const seen = method.replace('hook.', '') + ' ' + (params.tool ?? params.result?.tool);
  appendFileSync('order', seen + '\\n');
  answer(id, seen === '${abort}' ? { action: 'abort_turn', reason: 'enough' } : { action: 'continue' });
});
`;
const callOf = (name: string) => [`before_tool ${name}`, `tool ${name}`, `after_tool ${name}`];

test.each([
  { title: 'whatever runs at once elsewhere', chat: '', abort: '', order: ['a', 'b', 'a'].flatMap(callOf) },
  { title: 'one at a time', chat: 'tool_concurrency: 1', abort: '', order: ['a', 'b', 'a'].flatMap(callOf) },
  { title: 'none behind one that ended the turn', chat: '', abort: 'after_tool a', order: callOf('a') },
  {
    title: 'none behind one that was not made',
    chat: '',
    abort: 'before_tool b',
    order: [...callOf('a'), 'before_tool b'],
  },
])('a picoclaw hook sees complete calls one after another: $title', async ({ chat, abort, order }) => {
  const { run, folder } = await openRound(
    'hooks:\n  h: {dialect: picoclaw, command: ./witness, picoclaw: {intercept: [before_tool, after_tool]}}',
    {
      witness: witness(abort),
      'a.sh': says('a', 'sleep 0.2; echo tool a >> order'),
      'b.sh': says('b', 'echo tool b >> order'),
    },
    { chat },
  );
  expect(await run()).toMatchObject({ status: abort === '' ? 'completed' : 'denied' });
  expect(readFileSync(join(folder, 'order'), 'utf8').trim().split('\n')).toEqual(order);
});

test('results pass the after hooks in call order, whatever the speed of the tools', async () => {
  const { run, folder } = await openRound(
    'hooks:\n  h: {dialect: claude, command: ./keep.sh, claude: {event: PostToolUse}}',
    {
      'keep.sh': `#!/bin/sh\nsed 's/.*"tool_name":"\\([ab]\\)".*/\\1/' >> order\n`,
      'a.sh': says('a', 'until [ -e b ]; do sleep 0.02; done; sleep 0.2'),
      'b.sh': says('b', 'touch b'),
    },
    { calls: '{tool_calls: [{name: a, args: {}}, {name: b, args: {}}]}' },
  );
  expect(statusesOf(await run())).toEqual(['ok', 'ok']);
  expect(readFileSync(join(folder, 'order'), 'utf8')).toBe('a\nb\n');
});

test('a hook that ends the turn at one call does not run for the next', async () => {
  const halt = `#!/bin/sh\ncat >> asked; echo >> asked\nsleep 0.1\necho '{"continue": false, "stopReason": "enough"}'\n`;
  const { run, folder } = await openRound(
    'hooks:\n  h: {dialect: claude, command: ./halt.sh, claude: {event: PreToolUse}}',
    { 'halt.sh': halt, 'b.sh': says('b', 'touch ran-b') },
  );
  expect(await run()).toMatchObject({ status: 'denied' });
  expect(readFileSync(join(folder, 'asked'), 'utf8').trim().split('\n')).toHaveLength(1);
  expect(existsSync(join(folder, 'ran-b'))).toBe(false);
});

test('a run suspended during the hooks of a round has made none of the calls, and says so', async () => {
  const opened = await openRound(
    'hooks:\n  h: {dialect: agentao, command: ./wait.sh, agentao: {event: PreToolUse}}',
    {
      'wait.sh':
        '#!/bin/sh\ncat > /dev/null\n[ -e go ] && exit 0\n[ -e first ] && { touch asked; sleep 60; }\ntouch first\n',
    },
    { tools: tool('a', ', idempotent: false') + tool('b', ', idempotent: false'), store: 'state.db' },
  );
  const { runtime, folder, run } = opened;
  const interrupt = new AbortController();
  const ended = run({ signal: interrupt.signal }).catch((error: unknown) => error);
  while (!existsSync(join(folder, 'asked'))) await sleep(10);
  interrupt.abort();
  expect(await ended).toMatchObject({ code: 'ABORTED' });
  writeFileSync(join(folder, 'go'), '');
  const [kept] = await runtime.runs.list();
  // Nobody must decide whether the tool has run.
  expect(await runtime.runs.resume(kept?.run_id ?? '')).toMatchObject({ status: 'completed', pending: [] });
});
