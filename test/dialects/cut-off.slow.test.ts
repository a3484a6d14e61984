import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateText, wrapLanguageModel } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { expect, onTestFinished, test } from 'vitest';
import { openRuntime } from '../../src/index.ts';
import { schemaOf, shPlugin } from './chibi/plugins.ts';
import { shHook } from './picoclaw/scripts.ts';
import { chatYaml, mockProvider, type OpenProject, openProject, runtimeYaml } from './project.ts';

/** A hook of each kind waits here until the file `go` exists, then has no opinion. */
const waits = 'touch asked; while [ ! -e go ]; do sleep 0.02; done';
const oneshot = `#!/bin/sh\ncat > /dev/null\n${waits}\n`;
const server = (point = 'none') =>
  shHook(`    *'"method":"hook.${point}"'*) ${waits}; answer '{"action": "continue", "approved": true}' ;;
    *) answer '{"action": "continue", "approved": true}' ;;`);

/** Answers with an error once its stdin is closed. */
const failsAtEnd = `#!/usr/bin/env node
const { existsSync, writeFileSync } = require('node:fs');
let last;
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line);
  if (method === 'hook.hello') return console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { ok: true } }));
  if (existsSync('go')) return console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { action: 'continue' } }));
  last = id;
  writeFileSync('asked', '');
}).on('close', () => last && console.log(JSON.stringify({ jsonrpc: '2.0', id: last, error: { code: 1, message: 'shutting down' } })));
`;

const native = (hook: string, phase: string) => ({
  title: `native ${phase}`,
  entry: `h: {hook: ${hook}, phases: [${phase}], command: ./native.sh}`,
});
const claude = (event: string) => ({
  title: `claude ${event}`,
  entry: `h: {dialect: claude, command: ./wait.sh, claude: {event: ${event}}}`,
});
const agentao = (event: string) => ({
  title: `agentao ${event}`,
  entry: `h: {dialect: agentao, command: ./wait.sh, agentao: {event: ${event}}}`,
});
const picoclaw = (point: string, file = 'server') => ({
  title: `picoclaw ${point}${file === 'server' ? '' : `, ${file}`}`,
  // Leaves time for an answer at the end.
  entry: `h: {dialect: picoclaw, command: ./${file}, ${file === 'server' ? '' : 'grace_ms: 5000, '}picoclaw: {intercept: [${point}], interceptor_timeout_ms: 60000}}`,
  point,
});
const chibi = (point: string) => ({
  title: `chibi ${point}`,
  entry: 'h: {dialect: chibi, command: ./plugin}',
  point,
});

interface Row {
  readonly title: string;
  readonly entry: string;
  readonly point?: string;
}

const ofTool: readonly Row[] = [
  native('tool', 'before_execution'),
  native('tool', 'after_execution'),
  ...['before_tool', 'after_tool', 'approve_tool'].map((point) => picoclaw(point)),
  picoclaw('before_tool', 'fails-at-end'),
  ...['pre_tool', 'pre_tool_output', 'pre_shell_exec'].map(chibi),
  ...['PreToolUse', 'PostToolUse'].flatMap((event) => [claude(event), agentao(event)]),
];
const ofProvider: readonly Row[] = [
  native('provider', 'before_call'),
  native('provider', 'after_call'),
  picoclaw('before_llm'),
  picoclaw('after_llm'),
  picoclaw('before_llm', 'fails-at-end'),
];
const ofTurn: readonly Row[] = [
  ...['SessionStart', 'UserPromptSubmit', 'Stop'].flatMap((event) => [claude(event), agentao(event)]),
  claude('PostToolBatch'),
  ...['pre_message', 'pre_system_prompt', 'pre_api_request', 'pre_agentic_loop', 'post_tool_batch'].map(
    chibi,
  ),
];

const cuts = ['close', 'signal'] as const;
type Cut = (typeof cuts)[number];
const times = (rows: readonly Row[]) => rows.flatMap((row) => cuts.map((cut) => ({ ...row, cut })));

const tool =
  'tools:\n  list: {input_schema: {type: object}, exec: {command: ./list.sh}, category: shell, idempotent: true}\n';

async function openRow({ entry, point = '' }: Row): Promise<OpenProject> {
  return await openProject({
    'runtime.yaml': runtimeYaml(
      `defaults: {grace_ms: 50}\nstate_store: {type: sqlite, path: state.db}\n${mockProvider(
        '{tool_calls: [{name: list, args: {command: ls}}]}',
        '{text: done}',
      )}${tool}hooks:\n  ${entry}`,
    ),
    'agent.pipeline.yaml': chatYaml('tools: [list]'),
    'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n',
    'wait.sh': oneshot,
    'native.sh': `${oneshot}echo '{"allow": true}'\n`,
    server: server(point),
    'fails-at-end': failsAtEnd,
    plugin: shPlugin(schemaOf('plugin', [point]), `cat > /dev/null\n${waits}\necho '{}'`),
  });
}

async function cutOff({ runtime, folder }: OpenProject, cut: Cut, giveUp: AbortController): Promise<void> {
  while (!existsSync(join(folder, 'asked'))) await sleep(10);
  if (cut === 'close') await runtime.close();
  else giveUp.abort();
}

test.each(times([...ofTool, ...ofProvider, ...ofTurn]))(
  'a run that $cut suspends during $title calls the hook again when it continues',
  async ({ cut, ...row }) => {
    const project = await openRow(row);
    const giveUp = new AbortController();
    const file = join(project.folder, 'agent.pipeline.yaml');
    const ended = project.runtime
      .run(file, { text: 'hi' }, { signal: giveUp.signal })
      .catch((error) => error);
    await cutOff(project, cut, giveUp);
    expect(await ended).toMatchObject({ code: 'ABORTED' });
    await project.runtime.close();
    writeFileSync(join(project.folder, 'go'), '');
    const runtime = await openRuntime(join(project.folder, 'runtime.yaml'), { log: false });
    onTestFinished(() => runtime.close());
    const [kept] = await runtime.runs.list();
    const ask = async () => ({ kind: 'approved', args: null, by: 'amy', reason: '' }) as const;
    const document = await runtime.runs.resume(kept?.run_id ?? '', { ask });
    expect(document).toMatchObject({ status: 'completed', output: { text: 'done' } });
    expect(document.steps[0]?.failed_open ?? []).toEqual(
      // A process without an opinion says so when it is asked again, so nothing has failed open.
      expect.not.arrayContaining([
        expect.objectContaining({ cause: expect.stringMatching(/dead|timeout|rpc_error/) }),
      ]),
    );
  },
);

test.each(times(ofTool))(
  'a call that $cut ends during $title has failed, and counts as not denied',
  async ({ cut, ...row }) => {
    const project = await openRow(row);
    const giveUp = new AbortController();
    const approve = async ({ id }: { id: string }) =>
      ({ id, decision: 'approved', by: 'amy', reason: '' }) as const;
    const call = project.runtime.tools.call('list', { command: 'ls' }, { signal: giveUp.signal, approve });
    await cutOff(project, cut, giveUp);
    expect(await call).toMatchObject({
      status: 'failed',
      error: { code: expect.stringMatching(/^(ABORTED|RUNTIME_CLOSED)$/) },
    });
  },
);

const fired: readonly (Row & { readonly event: object })[] = [
  { ...picoclaw('before_llm'), event: { point: 'before_llm', payload: { model: 'm', messages: [] } } },
  { ...picoclaw('before_tool'), event: { point: 'before_tool', payload: { tool: 'list' } } },
  { ...picoclaw('before_tool', 'fails-at-end'), event: { point: 'before_tool', payload: { tool: 'list' } } },
  { ...chibi('pre_message'), event: { point: 'pre_message', payload: { prompt: 'hi' } } },
  { ...chibi('pre_tool'), event: { point: 'pre_tool', payload: { tool_name: 'list', arguments: {} } } },
  {
    ...chibi('pre_shell_exec'),
    event: { point: 'pre_shell_exec', payload: { tool_name: 'list', command: 'ls' } },
  },
  { ...claude('UserPromptSubmit'), event: { point: 'UserPromptSubmit', payload: { prompt: 'hi' } } },
  { ...claude('SessionStart'), event: { point: 'SessionStart', payload: { source: 'startup' } } },
  {
    ...claude('PermissionRequest'),
    event: { point: 'PermissionRequest', payload: { tool_name: 'list', tool_input: {} } },
  },
  {
    ...claude('Stop'),
    event: { point: 'Stop', payload: { stop_hook_active: false, last_assistant_message: 'x' } },
  },
  { ...agentao('UserPromptSubmit'), event: { point: 'UserPromptSubmit', payload: { userMessage: 'hi' } } },
  { ...agentao('SessionStart'), event: { point: 'SessionStart', payload: {} } },
];

test.each(fired.flatMap((row) => cuts.map((cut) => ({ ...row, cut }))))(
  'a host that fires $title is denied when $cut cuts the hook off',
  async ({ cut, event, ...row }) => {
    const project = await openRow(row);
    const giveUp = new AbortController();
    const dialect = row.title.split(' ')[0] ?? '';
    const firing = project.runtime.hooks.fire({ dialect, ...event } as never, { signal: giveUp.signal });
    await cutOff(project, cut, giveUp);
    expect(await firing).toMatchObject({
      verdict: 'deny',
      error: { code: expect.stringMatching(/^(ABORTED|RUNTIME_CLOSED)$/) },
    });
  },
);

test.each(times(ofProvider))(
  'a guarded call that $cut ends during $title reveals nothing',
  async ({ cut, ...row }) => {
    const project = await openRow(row);
    const giveUp = new AbortController();
    const model = new MockLanguageModelV4({
      doGenerate: async () => ({
        content: [{ type: 'text', text: 'secret' }],
        finishReason: { unified: 'stop', raw: 'stop' },
        usage: {
          inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
          outputTokens: { total: 1, text: 1, reasoning: undefined },
        },
        warnings: [],
      }),
    });
    const answer = generateText({
      model: wrapLanguageModel({ model, middleware: project.runtime.guard() }),
      prompt: 'hi',
      abortSignal: giveUp.signal,
    });
    const ended = answer.then(
      ({ text }) => text,
      (error: Error) => error.name,
    );
    await cutOff(project, cut, giveUp);
    expect(await ended).toMatch(/^(RuntimeError|AbortError)$/);
    expect(model.doGenerateCalls).toHaveLength(/after/.test(row.title) ? 1 : 0);
  },
);
