import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireConfig } from '../../../src/config/load.ts';
import { resolveEntries } from '../../../src/runtime/stages/resolve.ts';
import { titled } from '../../cite.ts';
import { chatYaml, mockProvider, newProject, openProject, runtimeYaml } from '../project.ts';
import { importPlugins, inFolder, logPlugin, schemaOf, shPlugin } from './plugins.ts';

const asked = {
  parameters: { type: 'object', required: ['path'], properties: { path: { type: 'string' } } },
};
const echo = shPlugin(schemaOf('echo', [], asked), 'cat');
const direct = { args: ['a', 'b c'] };

const forms = [
  {
    title: 'a host may send args alone, past the schema',
    args: direct,
    is: { status: 'ok', result: '{"args":["a","b c"]}' },
  },
  {
    title: 'args beside something else fit the schema',
    args: { ...direct, path: 'p' },
    is: { status: 'ok', result: '{"args":["a","b c"],"path":"p"}' },
  },
  {
    title: 'args that are no texts are none',
    args: { args: [1] },
    is: { status: 'failed', error: { code: 'ARGS_INVALID' } },
  },
  { title: 'anything else has to fit', args: {}, is: { status: 'failed', error: { code: 'ARGS_INVALID' } } },
].map((row) => ({ ...row, cites: 'CH-3-09@oneshot' }));

test.each(titled(forms))('$title', async ({ args, is }) => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({ echo }),
  });
  expect(await runtime.tools.call('echo', args)).toMatchObject(is);
});

test('hooks see the host-only argument form, and may refuse it [CH-3-09@oneshot]', async () => {
  const gate = `grep -q '"args":\\["a"' && printf '%s' '{"block": true, "message": "seen"}'`;
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({ echo, gate: shPlugin(schemaOf('gate', ['pre_tool']), gate) }),
  });
  expect(await runtime.tools.call('echo', direct)).toMatchObject({
    status: 'denied',
    hook: 'gate',
    reason: 'seen',
  });
});

test('a model may not send it, even where any object fits, except to a tool with such an argument [CH-3-09@oneshot]', async () => {
  const call = (name: string) => `{name: ${name}, args: {args: [a, b]}}`;
  const has = { parameters: { type: 'object', properties: { args: { type: 'array' } } } };
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(
      `${mockProvider(`{text: "", tool_calls: [${call('echo')}, ${call('open')}, ${call('has')}], when: "round == 1"}`, '{text: done}')}${importPlugins}`,
    ),
    'agent.pipeline.yaml': chatYaml('tools: [echo, open, has]'),
    ...inFolder({
      echo,
      open: shPlugin(schemaOf('open', [], { parameters: null }), 'cat'),
      has: shPlugin(schemaOf('has', [], has), 'cat'),
    }),
  });
  const run = await runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hi' });
  expect(run).toMatchObject({
    output: {
      calls: [
        { name: 'echo', status: 'failed' },
        { name: 'open', status: 'failed', error: expect.stringContaining('only a host may send') },
        { name: 'has', status: 'ok', result: '{"args":["a","b"]}' },
      ],
    },
  });
});

const shellTool =
  'tools: {sh: {description: d, input_schema: {type: object}, exec: {command: ./sh}, dialect: chibi, category: shell}}';
const shell = {
  sh: '#!/bin/sh\ncat > "$CHIBI_PROJECT_ROOT/ran"\nprintf ran\n',
  ...inFolder({
    gate: shPlugin(schemaOf('gate', ['pre_shell_exec']), "printf '{}'"),
    log: logPlugin('log', ['pre_tool_output']),
  }),
};
const nobody = 'no permission handler configured (fail-safe deny)';
const consent = async ({ id }: { readonly id: string }) =>
  ({ id, decision: 'approved', by: 'amy', reason: '' }) as const;

test('without anyone to ask the call is denied, and plugins read why [CH-6-03@oneshot]', async () => {
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml(`${importPlugins}\n${shellTool}\nstate_store: {type: memory}`),
    ...shell,
  });
  const denied = await runtime.tools.call('sh', { command: 'ls' });
  expect(denied).toMatchObject({ status: 'denied', hook: 'gate', reason: nobody });
  expect(existsSync(join(folder, 'ran'))).toBe(false);
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe(
    `pre_tool_output {"arguments":{"command":"ls"},"output":"${nobody}","tool_name":"sh"}\n`,
  );
});

test('a question goes to the approver on the spot, in the host’s form too [CH-6-02@oneshot CH-3-09@oneshot]', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(`${importPlugins}\n${shellTool}`),
    ...shell,
  });
  expect(await runtime.tools.call('sh', { command: 'ls' }, { approve: consent })).toMatchObject({
    status: 'ok',
    result: 'ran',
  });
  expect(await runtime.tools.call('sh', direct, { approve: consent })).toMatchObject({
    status: 'ok',
    result: 'ran',
  });
  const waits = await runtime.tools.call('sh', { command: 'ls' }, { approve: async () => undefined });
  expect(waits).toMatchObject({ status: 'pending', pending: { reason: 'sh: ls' } });
});

test('with a store the question waits for a person [CH-6-03@oneshot]', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(
      `${importPlugins}\n${shellTool}\nstate_store: {type: sqlite, path: state.db}`,
    ),
    ...shell,
  });
  expect(await runtime.tools.call('sh', { command: 'ls' })).toMatchObject({ status: 'pending' });
});

const showEnv = (kind: string) =>
  `env | grep -E "^(CHIBI|KEY|SECRET|GIVEN)" | sort | tr '\\n' ' ' > "$CHIBI_PROJECT_ROOT/env-${kind}"`;

test('all three calls have chibi’s variables, the named ones, and no others [CH-8-01@oneshot CH-8-02@oneshot CH-8-05@oneshot CH-1-05]', async () => {
  const plugin = `#!/bin/sh
if [ "$1" = "--schema" ]; then
  ${showEnv('schema')}
  echo '${schemaOf('show', ['pre_message'])}'
elif [ -n "$CHIBI_HOOK" ]; then ${showEnv('hook')}; echo '{}'
else ${showEnv('tool')}; fi
`;
  const env = 'env: [KEY, GIVEN=literal, CHIBI_TOOL_ARGS=old, CHIBI_HOOK_DATA=old, CHIBI_TOOL_NAME=x]';
  const { runtime, folder } = await openProject(
    {
      'runtime.yaml': runtimeYaml(
        `imports: [{dialect: chibi, plugins_dir: home/plugins, on_failure: deny, timeout_ms: 9000, ${env}}]`,
      ),
      'home/plugins/show': plugin,
    },
    { env: { PATH: process.env['PATH'], KEY: 'k', SECRET: 's' }, logLevel: 'debug' },
  );
  const payload = { prompt: 'a', context_name: 'desk' };
  await runtime.hooks.fire({ dialect: 'chibi', point: 'pre_message', payload });
  await runtime.tools.call('show', {});
  const seen = (kind: string) =>
    readFileSync(join(folder, `env-${kind}`), 'utf8')
      .trim()
      .split(' ');
  const own = [
    `CHIBI_HOME=${join(folder, 'home')}`,
    `CHIBI_INDEX_DB=${join(folder, '.chibi/codebase.db')}`,
    `CHIBI_PROJECT_ROOT=${folder}`,
    'CHIBI_VERBOSE=1',
    'GIVEN=literal',
    'KEY=k',
  ];
  expect(seen('schema')).toEqual(own);
  expect(seen('hook')).toEqual([...own, 'CHIBI_CONTEXT=desk', 'CHIBI_HOOK=pre_message'].toSorted());
  expect(seen('tool')).toEqual([...own, 'CHIBI_TOOL_NAME=show'].toSorted());
  expect(runtime.hooks.list()).toMatchObject([{ name: 'show', on_failure: 'deny' }]);
});

test('the entry sets the working directory [CH-8-06@oneshot CH-1-05]', async () => {
  const body = 'printf \'{"prompt": "%s"}\' "$(pwd)"';
  const { runtime, folder } = await openProject({
    'runtime.yaml': runtimeYaml('hooks: {at: {dialect: chibi, command: ./at, cwd: deep}}'),
    at: shPlugin(schemaOf('at', ['pre_message']), body),
    'deep/file': '',
  });
  const fired = await runtime.hooks.fire({
    dialect: 'chibi',
    point: 'pre_message',
    payload: { prompt: 'a' },
  });
  expect(fired).toMatchObject({ replace: { prompt: join(realpathSync(folder), 'deep') } });
});

test('the default limit of a tool and of a hook is 30 s [CH-3-07@oneshot CH-5-06@oneshot]', () => {
  const folder = newProject({
    'runtime.yaml': runtimeYaml(
      'hooks: {h: {dialect: chibi, command: sh}}\ntools: {t: {description: d, input_schema: {type: object}, exec: {command: sh}, dialect: chibi}}',
    ),
  });
  const { tools, foreign } = resolveEntries(
    requireConfig(join(folder, 'runtime.yaml'), process.env['PATH'] ?? ''),
    {},
  );
  expect(tools.map(({ resolved }) => resolved?.binding.timeoutMs)).toEqual([30_000]);
  expect(foreign.map(({ resolved }) => resolved.binding?.timeoutMs)).toEqual([30_000]);
});

test('the limit begins when the pool has a slot [CH-5-06@oneshot]', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(
      'concurrency: 1\nimports: [{dialect: chibi, plugins_dir: plugins, timeout_ms: 2000}]',
    ),
    ...inFolder({ slow: shPlugin(schemaOf('slow', ['pre_message']), "sleep 0.7; printf '{}'") }),
  });
  const fire = () => runtime.hooks.fire({ dialect: 'chibi', point: 'pre_message', payload: { prompt: 'a' } });
  const decisions = await Promise.all([fire(), fire(), fire()]);
  expect(decisions.map(({ verdict }) => verdict)).toEqual(['allow', 'allow', 'allow']);
});

test('a tool may ignore stdin, and one that opens /dev/stdin reads it [CH-3-08@oneshot CH-3-03@oneshot]', async () => {
  const { runtime } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({
      deaf: shPlugin(schemaOf('deaf', []), 'echo done'),
      jq: shPlugin(schemaOf('jq', []), 'cat /dev/stdin'),
    }),
  });
  const text = 'x'.repeat(1024 * 1024);
  expect(await runtime.tools.call('deaf', { text })).toMatchObject({ status: 'ok', result: 'done\n' });
  expect(await runtime.tools.call('jq', { b: 1, a: 2 })).toMatchObject({
    status: 'ok',
    result: '{"a":2,"b":1}',
  });
});
