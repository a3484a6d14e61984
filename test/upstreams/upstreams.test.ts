import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { toRuntimeError } from '../../src/base/errors.ts';
import { stringifyJson } from '../../src/base/json/json.ts';
import type { ToolDocument } from '../../src/contract/document.ts';
import type { RuntimeEvent } from '../../src/contract/event.ts';
import type { RuntimeOptions } from '../../src/index.ts';
import { faultOf } from '../process/harness.ts';
import { open } from '../runtime/open.ts';

const server = join(import.meta.dirname, 'server.py');
const modules = join(import.meta.dirname, '../../node_modules');
const node = join(modules, 'node/bin/node');
const everything = join(modules, '@modelcontextprotocol/server-everything/dist/index.js');
const filesystem = join(modules, '@modelcontextprotocol/server-filesystem/dist/index.js');

const secret = 'SECRET-OF-DESK';

/** The server of server.py with more keys of its entry, and more sections of the config. */
async function openDesk(entry = '', sections = '', options: RuntimeOptions = {}, files = {}) {
  return await open(
    `
mcp_servers:
  - {name: desk, command: ${server}, ${entry}}
state_store: {type: sqlite, path: $folder/state.db}
${sections}`,
    { env: { PATH: process.env['PATH'], TOKEN: secret, LOUD: 'no' }, ...options },
    files,
  );
}

function notes(events: readonly RuntimeEvent[]): string[] {
  return events.flatMap((event) => (event.type === 'note' ? [event.message] : []));
}

function textOf(document: ToolDocument): unknown {
  const { content } = document.status === 'ok' ? (document.result as { content: { text: string }[] }) : {};
  return content?.[0]?.text;
}

test('digits and spelling reach the server and come back byte for byte', async () => {
  const { runtime } = await openDesk();
  const args = '{"a": 12345678901234567890, "b":1.10, "c": "\\u00e9", "__proto__": 1}';
  const document = await runtime.tools.call('desk__echo', args);
  expect(textOf(document)).toBe(`${args}}, "jsonrpc":"2.0","id":2}\n`.replace(', "jsonrpc', ',"jsonrpc'));
  expect(stringifyJson(document)).toContain('"structuredContent":{"n": 12345678901234567890, "f": 1.10}');
});

test.each([
  ['die', 'SERVER_EXIT'],
  ['silent_exit', 'SERVER_EXIT'],
  ['hang', 'PROCESS_TIMEOUT'],
  ['error', 'TOOL_ERROR'],
  ['wrong_id', 'PROCESS_TIMEOUT'],
  ['garbage', 'PROCESS_TIMEOUT'],
  ['batch', 'PROCESS_TIMEOUT'],
  ['long', 'OUTPUT_LIMIT'],
  ['bad_shape', 'REPLY_MALFORMED'],
  ['twice', undefined],
  ['noise', undefined],
  ['stderr', undefined],
] as const)('a server that does `%s` gives %s, and answers the next call', async (tool, code) => {
  const { runtime, events } = await openDesk('timeout_ms: 1500, grace_ms: 100, env: {TOKEN: "${env:TOKEN}"}');
  const document = await runtime.tools.call(`desk__${tool}`);
  expect(document.status === 'failed' ? document.error.code : undefined).toBe(code);
  expect(textOf(await runtime.tools.call('desk__slow'))).toBe('12345678901234567890');
  expect(JSON.stringify([document, events])).not.toContain(secret);
});

test('only the calls concerned fail: another server, and calls that were answered, do not', async () => {
  const { runtime } = await open(`
mcp_servers:
  - {name: one, command: ${server}}
  - {name: two, command: ${server}}`);
  await runtime.upstreams.connect();
  const calls = ['one__die', 'one__slow', 'two__slow'].map((name) => runtime.tools.call(name));
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(['failed', 'failed', 'ok']);
});

test('a server that never starts is tried with back-off, then not at all for a while', async () => {
  const { runtime, events } = await openDesk('env: {REFUSES: "1"}');
  const codes: string[] = [];
  for (let call = 0; call < 7; call += 1) {
    const document = await runtime.tools.call('desk__echo');
    codes.push(document.status === 'failed' ? document.error.code : document.status);
  }
  expect(codes).toEqual([
    ...Array.from({ length: 5 }, () => 'SERVER_EXIT'),
    ...Array.from({ length: 2 }, () => 'SERVER_CIRCUIT_OPEN'),
  ]);
  expect(events.filter(({ type }) => type === 'circuit.opened')).toHaveLength(1);
  expect(notes(events).filter((note) => note.includes('cannot be used'))).toHaveLength(1);
  await runtime.upstreams.connect();
  expect(runtime.tools.list()).toEqual([]);
});

test.each([
  ['a program that does not exist', 'command: /nowhere/at/all', 'PROCESS_START'],
  ['a program that says nothing', 'command: sleep, args: ["60"], timeout_ms: 300', 'PROCESS_TIMEOUT'],
  ['a program that repeats what it reads', 'command: cat, timeout_ms: 300', 'REPLY_MALFORMED'],
  ['a program that prints no MCP', 'command: yes, args: ["{}"], timeout_ms: 300', 'PROCESS_TIMEOUT'],
  ['pages without end', `command: ${server}, env: {LOOPS: "1"}, timeout_ms: 20000`, 'REPLY_MALFORMED'],
  ['a list of tools that are no tools', `command: ${server}, env: {MORE: '[5]'}`, 'REPLY_MALFORMED'],
])('%s', async (_title, entry, code) => {
  const { runtime } = await open(`mcp_servers: [{name: desk, ${entry}}]`);
  const fault = await faultOf(runtime.upstreams.connect('desk'));
  expect(fault?.code).toBe(code);
});

test('a server of 2025 that exits at a request of 2026 is asked again in its own words', async () => {
  const { runtime } = await openDesk('env: {DIES_AT_UNKNOWN: "1"}');
  expect(textOf(await runtime.tools.call('desk__slow'))).toBe('12345678901234567890');
});

test('a program sees the variables of its entry, and not those of this process', async () => {
  const { runtime } = await openDesk('env: {A: 1, TOKEN: "${env:TOKEN}"}');
  const seen = JSON.parse(String(textOf(await runtime.tools.call('desk__env'))));
  expect(seen).toMatchObject({ A: '1' });
  expect(Object.keys(seen)).not.toContain('LOUD');
});

test('tools with names that nobody accepts, with one name, and left out by the filter do not exist', async () => {
  const more = [
    { name: 'a b', inputSchema: { type: 'object' } },
    { name: 'dup', inputSchema: { type: 'object' } },
    { name: 'dup', inputSchema: { type: 'object' } },
    { name: 'x.y', inputSchema: { type: 'object' } },
  ];
  const { runtime } = await openDesk(
    `tool_filter: {allowlist: [echo, "a b", dup, x.y]}, env: {MORE: '${JSON.stringify(more)}'}`,
  );
  await runtime.upstreams.connect();
  expect(runtime.tools.list().map(({ name }) => name)).toEqual(['desk__echo', 'desk__x.y']);
  const codeOf = async (tool: string) => {
    try {
      const document = await runtime.tools.call(`desk__${tool}`);
      return document.status === 'failed' ? document.error.code : document.status;
    } catch (thrown) {
      return toRuntimeError(thrown).code;
    }
  };
  expect(await Promise.all(['dup', 'a b', 'die', 'nothing', ''].map(codeOf))).toEqual([
    'DEFINITION_UNACCEPTED',
    ...Array.from({ length: 4 }, () => 'NAME_UNKNOWN'),
  ]);
});

test('a tool that comes later is judged by the pins before it can be called', async () => {
  const { runtime, events } = await openDesk();
  await runtime.tools.call('desk__changed');
  while (!notes(events).some((note) => note.includes('denied until'))) await sleep(20);
  expect(runtime.tools.list().map(({ name }) => name)).not.toContain('desk__late');
  expect(await runtime.tools.call('desk__late')).toMatchObject({
    status: 'failed',
    error: { code: 'DEFINITION_UNACCEPTED' },
  });
  const { digest } = await runtime.upstreams.pins('desk');
  await runtime.upstreams.accept('desk', { by: 'ann', digest });
  expect((await runtime.tools.call('desk__late')).status).toBe('ok');
});

const guard = `#!/usr/bin/env python3
import json, sys
request = json.load(sys.stdin)
seen = json.dumps(request)
if request["phase"] == "before_execution":
    print(json.dumps({"allow": "FORBIDDEN" not in seen, "reason": "not this"}))
else:
    content = request["response"]["content"].replace("hunter2", "[hidden]")
    print(json.dumps({"allow": True, "replace": {"content": content}}))
`;

const files = `
mcp_servers:
  - {name: files, command: ${node}, args: [${filesystem}, $folder]}
  - {name: all, command: ${node}, args: [${everything}]}
state_store: {type: sqlite, path: $folder/state.db}
hooks:
  guard: {command: ./guard.py, hook: tool, match: {tools: [files__*]}}
approvals:
  writes: {tools: [files__write_*], message: "Write \${args.path}?"}
`;

test('hooks deny and redact, in text and in structured content, and a person approves by a pattern', async () => {
  const { runtime, folder } = await open(files, {}, { 'guard.py': guard, 'a.txt': 'the key is hunter2' });
  const path = join(folder, 'a.txt');
  const denied = await runtime.tools.call('files__read_text_file', { path: `${path}FORBIDDEN` });
  expect(denied).toMatchObject({ status: 'denied', hook: 'guard', reason: 'not this' });
  const read = await runtime.tools.call('files__read_text_file', { path });
  const hidden = 'the key is [hidden]';
  expect(read).toEqual({
    status: 'ok',
    result: { content: [{ type: 'text', text: hidden }], structuredContent: { content: hidden } },
  });
  const waiting = await runtime.tools.call('files__write_file', { path: `${path}.b`, content: 'new' });
  expect(waiting).toMatchObject({ status: 'pending', pending: { message: `Write ${path}.b?` } });
  const { id, run_id } = (waiting as { pending: { id: string; run_id: string } }).pending;
  await runtime.pending.approve(id, { by: 'ann' });
  expect(await runtime.runs.resume(run_id)).toMatchObject({ status: 'completed' });
  const made = await runtime.tools.call('files__read_text_file', { path: `${path}.b` });
  expect(textOf(made)).toBe('new');
});

test('an approved call is made by another process that has connected to nothing', async () => {
  const { runtime, folder } = await open(files, {}, { 'guard.py': guard });
  const args = { path: join(folder, 'b.txt'), content: 'new' };
  const waiting = await runtime.tools.call('files__write_file', args);
  const { id, run_id } = (waiting as { pending: { id: string; run_id: string } }).pending;
  const { openRuntime } = await import('../../src/index.ts');
  await using other = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  await other.pending.approve(id, { by: 'ann' });
  expect(await other.runs.resume(run_id)).toMatchObject({ status: 'completed' });
});

test('a chat, a pipeline and a suite call tools of servers; a server that is down is not offered', async () => {
  const { runtime, folder } = await openDesk(
    '',
    `
providers:
  - id: main
    type: mock
    model: scripted
    additional_config:
      responses:
        - {when: "round == 1", text: "\${tools}", tool_calls: [{name: desk__echo, args: {a: 1}}, {name: gone__x}]}
        - {text: done}
`,
    {},
    {
      'chat.yaml': `
apiVersion: signalbox/v1
kind: Pipeline
metadata: {name: p}
spec:
  steps:
    - id: talk
      chat: {provider: main, messages: hello, tools: [desk__echo, desk__nothing]}
    - id: call
      tool: desk__slow
  output: {talk: "\${steps.talk.tool_calls}", call: "\${steps.call.result.structuredContent.n}"}
`,
      'suite.yaml': `
apiVersion: signalbox/v1
kind: EvalSuite
metadata: {name: s}
spec:
  subject: {tool: desk__echo, args: {a: "\${case.a}"}}
  runtime: ./runtime.yaml
  cases: [{a: 7}]
  case: {id: one}
  evals: [{id: e, type: contains, params: {patterns: ["7"]}}]
`,
    },
  );
  const document = await runtime.run(join(folder, 'chat.yaml'));
  expect(document).toMatchObject({
    status: 'completed',
    output: { talk: [{ name: 'desk__echo', error: '' }, { name: 'gone__x' }] },
  });
  expect(stringifyJson(document.output)).toContain('"call":12345678901234567890');
  expect((await runtime.evals.run(join(folder, 'suite.yaml'))).status).toBe('passed');
});

test('nothing connects unless a tool is called, and calls after the end are refused', async () => {
  const { runtime, events } = await openDesk();
  await runtime.pending.list();
  await runtime.runs.list();
  runtime.tools.list();
  await runtime.agents.judge({
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'mcp__desk__echo' },
  });
  expect(events.filter(({ type }) => type === 'process.started')).toEqual([]);
  const call = runtime.tools.call('desk__hang');
  while (!events.some(({ type }) => type === 'process.started')) await sleep(10);
  await runtime.close();
  expect(await call).toMatchObject({ status: 'failed' });
  expect((await faultOf(runtime.tools.call('desk__echo')))?.code).toBe('RUNTIME_CLOSED');
});

test('an agent’s name for a tool of the server counts as the tool', async () => {
  const { runtime } = await openDesk('', 'approvals:\n  echoes: {tools: [desk__echo], message: Echo?}\n');
  const caller = { agent: 'claude', session: 's', cwd: '/' };
  const event = {
    hook: 'tool',
    phase: 'before_execution',
    request: { name: 'mcp__desk__echo', call_id: 'c' },
  } as const;
  expect(await runtime.agents.judge({ ...event, caller })).toMatchObject({ verdict: 'deny' });
});
