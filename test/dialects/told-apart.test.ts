import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Json } from '../../src/base/json/json.ts';
import { builtProgram } from '../built.ts';
import { openFake } from '../models/wire/fake.ts';
import { schemaOf, shPlugin } from './chibi/plugins.ts';
import { entry, shHook } from './picoclaw/scripts.ts';
import { chatYaml, mockProvider, openProject, runtimeYaml } from './project.ts';

const keep = (name: string, more = '') => `#!/bin/sh\n{ cat; echo; } >> ${name}\n${more}\n`;
const call = (id: string, args: string) => `{id: ${id}, name: run, args: ${args}}`;

/** A chat whose model calls the tool `run`, known elsewhere as Bash, and then finishes. */
async function openAgent(
  hooks: string,
  {
    calls = [call('toolu_1', '{command: ls}')],
    provider = mockProvider(`{tool_calls: [${calls.join(', ')}]}`, '{text: done}'),
    files = {},
  }: { calls?: readonly string[]; provider?: string; files?: Readonly<Record<string, string>> } = {},
) {
  const opened = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        provider,
        'tools:',
        '  run:',
        '    input_schema: {type: object, properties: {command: {type: string}}}',
        '    exec: {command: ./run.sh}',
        '    aliases: [Bash]',
        hooks,
      ].join('\n'),
    ),
    'agent.pipeline.yaml': chatYaml('tools: [run]'),
    'run.sh': '#!/bin/sh\ngrep -q bad && { echo broken >&2; exit 1; }\necho \'{"result": "ran"}\'\n',
    ...files,
  });
  const lines = (name: string) => {
    const file = join(opened.folder, name);
    return existsSync(file)
      ? readFileSync(file, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
      : [];
  };
  const run = await opened.runtime.run(join(opened.folder, 'agent.pipeline.yaml'), { text: 'hi' });
  return { ...opened, run, lines };
}

const claude = (event: string) =>
  `  c${event}: {dialect: claude, command: ./c${event}.sh, claude: {event: ${event}}}`;
const agentao = (event: string) =>
  `  a${event}: {dialect: agentao, command: ./a${event}.sh, agentao: {event: ${event}}}`;
const scripts = (...names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [`${name}.sh`, keep(name)]));

const copyTranscript = (name: string) =>
  keep(name, `cp "$(grep -o '"transcript_path": *"[^"]*"' ${name} | cut -d'"' -f4)" ${name}.jsonl`);

test('one call has one id and one name in every payload and in the transcript, and its arguments are an object', async () => {
  const { run, lines } = await openAgent(
    [
      'hooks:',
      ...['PreToolUse', 'PostToolUse', 'PostToolBatch', 'Stop'].map(claude),
      ...['PreToolUse', 'PostToolUse', 'Stop'].map(agentao),
    ].join('\n'),
    {
      files: {
        ...scripts('cPreToolUse', 'cPostToolUse', 'cPostToolBatch', 'aPreToolUse', 'aPostToolUse'),
        'cStop.sh': copyTranscript('cStop'),
        'aStop.sh': copyTranscript('aStop'),
      },
    },
  );
  expect(run.status).toBe('completed');
  const about = { tool_use_id: 'toolu_1', tool_name: 'Bash', tool_input: { command: 'ls' } };
  for (const name of ['cPreToolUse', 'cPostToolUse', 'aPreToolUse', 'aPostToolUse'])
    expect([name, lines(name)]).toEqual([name, [expect.objectContaining(about)]]);
  expect(lines('cPostToolBatch')).toMatchObject([{ tool_calls: [about] }]);
  for (const name of ['cStop.jsonl', 'aStop.jsonl'])
    expect(lines(name).slice(1, 3)).toMatchObject([
      { message: { content: [{ type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } }] } },
      { message: { content: [{ type: 'tool_result', tool_use_id: 'toolu_1' }] } },
    ]);
});

test('broken arguments are shown as an empty object, in batches and in the transcript', async () => {
  const broken = { name: 'run', args: new Json('{"command": ') };
  const fake = await openFake('openai', [{ toolCalls: [broken] }, { text: 'done' }]);
  onTestFinished(() => fake.close());
  const { run, lines } = await openAgent(
    `${['hooks:', claude('PostToolBatch'), claude('Stop')].join('\n')}\nimports: [{dialect: chibi, plugins_dir: plugins}]`,
    {
      provider: `providers: [{id: main, type: openai-compatible, model: m, base_url: "${fake.url}", credential: {api_key: k}}]`,
      files: {
        ...scripts('cPostToolBatch'),
        'cStop.sh': copyTranscript('cStop'),
        'plugins/log': shPlugin(schemaOf('log', ['post_tool_batch']), 'cat > "$CHIBI_PROJECT_ROOT/log"'),
      },
    },
  );
  expect(run).toMatchObject({ status: 'completed', output: { calls: [{ status: 'failed' }] } });
  expect(lines('cPostToolBatch')[0].tool_calls[0].tool_input).toEqual({});
  expect(lines('log')[0].tool_calls).toEqual([{ name: 'run', arguments: {} }]);
  expect(lines('cStop.jsonl')[1].message.content[0].input).toEqual({});
});

test.each([
  { title: 'failed', calls: [call('a', '{command: ls}'), call('b', '{command: bad}')], hook: '' },
  {
    title: 'was denied',
    calls: [call('a', '{command: ls}')],
    hook: '  no: {dialect: claude, command: "echo no >&2; exit 2", claude: {event: PreToolUse}}',
  },
])('context at the end of a batch reaches the model when its last call $title', async ({ calls, hook }) => {
  const context = JSON.stringify({
    hookSpecificOutput: { hookEventName: 'PostToolBatch', additionalContext: 'mind the time' },
  });
  const { run } = await openAgent(['hooks:', claude('PostToolBatch'), hook].join('\n'), {
    calls,
    files: { 'cPostToolBatch.sh': `#!/bin/sh\necho '${context}'\n` },
  });
  expect(run).toMatchObject({ status: 'completed', output: { text: 'done' } });
  const messages = JSON.parse(JSON.stringify(run.output)).messages;
  expect(messages.at(-2).content).toMatch(/\n<system-reminder>\nmind the time\n<\/system-reminder>$/);
});

test('a run lists PicoClaw’s hooks of model calls that failed open, of every round', async () => {
  const { run } = await openAgent(
    ['hooks:', entry('gate', 'intercept: [before_llm, after_llm]')].join('\n'),
    {
      files: {
        gate: shHook(`    *'hook.before_llm'*) fail '{"code":1,"message":"no"}' ;;\n    *) answer '{}' ;;`, {
          first: 'exec 2>/dev/null',
        }),
      },
    },
  );
  const around = [
    { hook: 'gate', cause: 'picoclaw.rpc_error' },
    { hook: 'gate', cause: 'picoclaw.no_action' },
  ];
  expect(run.steps).toMatchObject([{ step: 'chat', status: 'ok', failed_open: [...around, ...around] }]);
});

test('hooks that failed open before a denial are reported with it', async () => {
  const { run } = await openAgent(
    [
      'hooks:',
      entry('gate', 'intercept: [before_llm]'),
      '  no: {hook: provider, phases: [before_call], command: ./no.sh}',
    ].join('\n'),
    {
      files: {
        gate: shHook(`    *) answer '{}' ;;`),
        'no.sh': '#!/bin/sh\necho \'{"allow": false, "reason": "no"}\'\n',
      },
    },
  );
  expect(run.steps).toMatchObject([
    { status: 'denied', failed_open: [{ hook: 'gate', cause: 'picoclaw.no_action' }] },
  ]);
});

const asks = JSON.stringify({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'ask',
    permissionDecisionReason: 'sure?',
  },
});
const looks = `{ cat; echo; } >> told\n"$NODE" "${builtProgram}" pending list --json --config runtime.yaml >> seen 2>/dev/null`;

test('hooks receive a waiting call with its id once it is stored', async () => {
  const hooks = [
    `state_store: {type: sqlite, path: state.db}`,
    'hooks:',
    '  ask: {dialect: claude, command: ./ask.sh, claude: {event: PreToolUse}}',
    `  note: {dialect: claude, command: ./note.sh, env: ["NODE=${process.execPath}"], claude: {event: Notification, matcher: permission_prompt}}`,
  ].join('\n');
  const files = { 'ask.sh': `#!/bin/sh\necho '${asks}'\n`, 'note.sh': `#!/bin/sh\n${looks}\n` };
  const { run, runtime, lines } = await openAgent(hooks, { files });
  const [waiting] = run.pending;
  await runtime.close();
  expect([run.status, lines('told')]).toEqual([
    'pending',
    [expect.objectContaining({ notification_type: 'permission_prompt', pending_id: waiting?.id })],
  ]);
  expect(JSON.stringify(lines('seen'))).toContain(waiting?.id);
});

test('a single call is reported as waiting once it is stored, and never when it is approved on the spot', async () => {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      [
        'state_store: {type: sqlite, path: state.db}',
        'tools: {list: {input_schema: {type: object}, approval: required, exec: {command: ./list.sh}}}',
        'hooks:',
        '  note: {dialect: claude, command: "cat >> told; echo >> told", claude: {event: Notification}}',
      ].join('\n'),
    ),
    'list.sh': '#!/bin/sh\necho \'{"result": "two files"}\'\n',
  });
  const approve = async ({ id }: { id: string }) =>
    ({ id, decision: 'approved', by: 'amy', reason: '' }) as const;
  expect(await runtime.tools.call('list', {}, { approve })).toMatchObject({ status: 'ok' });
  const waiting = await runtime.tools.call('list', {});
  await runtime.close();
  const told = readFileSync(join(folder, 'told'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const id = waiting.status === 'pending' ? waiting.pending.id : '';
  expect(told).toEqual([expect.objectContaining({ pending_id: id })]);
});
