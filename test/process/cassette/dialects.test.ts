import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { type CassetteOptions, openRuntime, type Runtime, type RuntimeEvent } from '../../../src/index.ts';
import { schemaOf, shPlugin } from '../../dialects/chibi/plugins.ts';
import { shHook } from '../../dialects/picoclaw/scripts.ts';
import { chatYaml, mockProvider, newProject, runtimeYaml } from '../../dialects/project.ts';

const points = ['pre_message', 'post_system_prompt', 'pre_tool', 'pre_tool_output', 'on_start', 'post_tool'];
const schema = schemaOf('plugin', points);

const claude = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop'];
const agentao = ['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'Stop'];

const hooks = [
  '  gate: {dialect: picoclaw, command: ./gate, picoclaw: {intercept: [before_llm, after_llm, before_tool, approve_tool, after_tool], observe: [turn_end]}}',
  '  plugin: {dialect: chibi, command: ./plugin}',
  ...claude.map((event) => `  c${event}: {dialect: claude, command: ./handler, claude: {event: ${event}}}`),
  ...agentao.map((event) => `  a${event}: {dialect: agentao, command: ./rule, agentao: {event: ${event}}}`),
].join('\n');

const asked =
  '{tool_calls: [{id: t1, name: shell, args: {command: ls}}, {id: t2, name: shell, args: {command: forbidden}}]}';

const suite = `apiVersion: signalbox/v1
kind: EvalSuite
spec:
  dataset: {path: rows.jsonl}
  subject: {tool: shell, args: {command: "\${case.command}"}}
  evals:
    - {id: ran, type: contains, params: {patterns: [ran]}}
`;

/** One hook of each dialect denies one command; everything else passes. */
const files = {
  'runtime.yaml': runtimeYaml(
    `tools:\n  shell: {exec: {command: ./tool}, aliases: [Bash]}\nhooks:\n${hooks}\n${mockProvider(asked, '{text: Done.}')}`,
  ),
  'agent.yaml': chatYaml('tools: [shell]'),
  'shell.suite.yaml': suite,
  'rows.jsonl': ['ls', 'forbidden', 'no-picoclaw', 'no-chibi', 'no-agentao']
    .map((command) => `${JSON.stringify({ id: command, command })}\n`)
    .join(''),
  tool: `#!/bin/sh\ncat >/dev/null; echo '{"result":"ran"}'\n`,
  gate: shHook(`    *hook.approve_tool*no-picoclaw*) answer '{"approved":false,"reason":"no"}' ;;
    *hook.approve_tool*) answer '{"approved":true}' ;;
    *'"id":'*) answer '{"action":"continue"}' ;;`),
  plugin: shPlugin(
    schema,
    `case "$(cat)" in *no-chibi*) echo '{"block":true,"message":"no"}';; *) echo '{}';; esac`,
  ),
  handler: `#!/bin/sh\ncase "$(cat)" in *PreToolUse*forbidden*) echo no >&2; exit 2;; esac\n`,
  rule: `#!/bin/sh\ncase "$(cat)" in *PreToolUse*no-agentao*) echo '{"blockingError":"no"}';; esac\n`,
};

/** Replaces programs that a replay must not start. */
const broken = '#!/bin/sh\necho started >>started\nexit 9\n';

async function use<T>(folder: string, cassette: CassetteOptions, work: (runtime: Runtime) => Promise<T>) {
  const started: string[] = [];
  const missed: RuntimeEvent[] = [];
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), {
    ...{ log: false, cassette },
    onEvent: (event) => {
      if (event.type === 'process.started') started.push(event.name);
      if (JSON.stringify(event).includes('REPLAY_MISS')) missed.push(event);
    },
  });
  onTestFinished(() => runtime.close());
  const result = await work(runtime);
  await runtime.close();
  return { result, started, missed };
}

const works: readonly { title: string; work: (folder: string) => (runtime: Runtime) => Promise<unknown> }[] =
  [
    {
      title: 'a pipeline',
      work: (folder) => async (runtime) => {
        const { status, output } = await runtime.run(join(folder, 'agent.yaml'), { text: 'Go.' });
        return { status, output };
      },
    },
    {
      title: 'a suite whose subject is a tool',
      work: (folder) => async (runtime) => {
        const { run_id, evals } = await runtime.evals.run(join(folder, 'shell.suite.yaml'));
        const { cases } = await runtime.evals.runs.open(run_id);
        const stored = [];
        for await (const { id, epochs } of cases()) stored.push({ id, score: epochs[0]?.results[0]?.score });
        // All hooks allow one of the five.
        expect(evals['ran']?.pass_rate).toBe(0.2);
        return stored;
      },
    },
    {
      title: 'a lone call and a fired event',
      work: () => async (runtime) => {
        const call = await runtime.tools.call('shell', { command: 'ls' });
        const denied = await runtime.tools.call('shell', { command: 'no-agentao' });
        const payload = { tool_name: 'Bash', tool_input: { command: 'forbidden' } };
        const { verdict } = await runtime.hooks.fire({ dialect: 'claude', point: 'PreToolUse', payload });
        return { call, denied, verdict };
      },
    },
  ];

test.each(works)(
  '$title with hooks of four dialects is replayed without their programs',
  async ({ work }) => {
    const folder = newProject(files);
    const tape = join(folder, 'tape.jsonl');
    const first = await use(folder, { record: tape }, work(folder));
    expect(first.started).toEqual(expect.arrayContaining(['gate', 'plugin', 'cPreToolUse', 'aPreToolUse']));
    for (const name of ['tool', 'gate', 'handler', 'rule']) writeFileSync(join(folder, name), broken);
    // Even a replay asks the plugin for its schema.
    writeFileSync(join(folder, 'plugin'), shPlugin(schema, 'exit 9'));
    const again = await use(folder, { replay: tape }, work(folder));
    expect(again.missed).toEqual([]);
    expect(again.result).toEqual(first.result);
    expect(again.started.filter((name) => name !== 'plugin')).toEqual([]);
  },
);
