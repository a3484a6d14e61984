import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openRuntime, type RuntimeEvent, type RuntimeOptions } from '../../../src/index.ts';
import { titled } from '../../cite.ts';
import { newProject, openProject, runtimeYaml } from '../project.ts';
import { bashPlugin, importPlugins, inFolder, schemaOf, shPlugin } from './plugins.ts';

const says = (name: string, hooks: readonly string[] = []) => shPlugin(schemaOf(name, hooks), "printf '{}'");

async function open(folder: string, options: RuntimeOptions = {}) {
  const events: RuntimeEvent[] = [];
  const onEvent = (event: RuntimeEvent) => events.push(event);
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false, onEvent, ...options });
  onTestFinished(() => runtime.close());
  const notes = (level: string) =>
    events.flatMap((event) =>
      event.type === 'note' && event.level === level ? [`${event.name}: ${event.message}`] : [],
    );
  return { runtime, notes };
}

test('a folder’s plugins come in name order, and other files are omitted [CH-2-02@oneshot CH-2-03@oneshot CH-2-04@oneshot CH-2-05@oneshot CH-2-01]', async () => {
  const pair = `[${schemaOf('second', [])}, ${schemaOf('first', ['pre_tool'])}]`;
  const folder = newProject({
    'conf/runtime.yaml': runtimeYaml(importPlugins),
    'conf/plugins/9-late': says('late'),
    'conf/plugins/10-pair': bashPlugin(pair, "printf '{}'"),
    'conf/plugins/Upper': says('upper', ['pre_message']),
    'conf/plugins/fold/fold': says('fold'),
    'conf/plugins/fold/other': says('other'),
    'conf/plugins/gone.disabled': says('gone'),
    'conf/plugins/away.disabled/away': says('away'),
    'conf/plugins/README.md': 'No plugin.',
    'conf/plugins/hollow/readme': 'No plugin.',
    outside: says('outside'),
  });
  const plugins = join(folder, 'conf/plugins');
  symlinkSync(join(folder, 'outside'), join(plugins, 'linked'));
  symlinkSync('9-late', join(plugins, 'zz-again.disabled'));
  const { runtime, notes } = await open(join(folder, 'conf'));
  expect(runtime.tools.list().map(({ name }) => name)).toEqual(['second', 'first', 'late', 'upper', 'fold']);
  expect(runtime.hooks.list().map(({ name, points }) => `${name} ${points}`)).toEqual([
    'first pre_tool',
    'upper pre_message',
  ]);
  expect(notes('warn').filter((note) => note.startsWith(`${plugins}/`))).toEqual([
    `${plugins}/hollow: the plugin cannot be read: ENOENT: no such file or directory, lstat '${plugins}/hollow/hollow'`,
    `${plugins}/linked: it is outside ${plugins} and is left out; declare ${folder}/outside as a hook or tool by its path`,
  ]);
});

test('a plugin with an empty name guards under its file name, and is no tool [CH-2-30@oneshot]', async () => {
  const guard = shPlugin(schemaOf('', ['pre_tool']), 'printf \'{"block": true, "message": "no"}\'');
  const folder = newProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({
      guard,
      other: shPlugin(schemaOf('', ['pre_message']), "printf '{}'"),
      named: says('named'),
    }),
  });
  const { runtime } = await open(folder);
  expect(runtime.tools.list().map(({ name }) => name)).toEqual(['named']);
  expect(runtime.hooks.list().map(({ name, points }) => `${name} ${points}`)).toEqual([
    'guard pre_tool',
    'other pre_message',
  ]);
  expect(await runtime.tools.call('named', {})).toMatchObject({
    status: 'denied',
    hook: 'guard',
    reason: 'no',
  });
});

test('plugins run once with --schema alone, an empty stdin and 30 seconds [CH-2-06@oneshot CH-2-07@oneshot]', async () => {
  const timer = vi.spyOn(globalThis, 'setTimeout');
  onTestFinished(() => timer.mockRestore());
  const asked = `#!/bin/sh
printf '%s|%s|%s|%s\\n' "$*" "$(cat)" "\${CHIBI_HOOK-unset}" "\${CHIBI_TOOL_NAME-unset}" >> "$CHIBI_PROJECT_ROOT/asked"
[ "$1" = "--schema" ] && echo '${schemaOf('one', ['pre_message'])}' || echo '{}'
`;
  const folder = newProject({
    'runtime.yaml': runtimeYaml('imports: [{dialect: chibi, plugins_dir: plugins, timeout_ms: 7000}]'),
    ...inFolder({ one: asked }),
  });
  const { runtime } = await open(folder);
  expect(timer.mock.calls.map(([, ms]) => ms)).toContain(30_000);
  await runtime.hooks.fire({ dialect: 'chibi', point: 'pre_message', payload: { prompt: 'a' } });
  await runtime.tools.call('one', {});
  const event = '{"context_name":"main","prompt":"a","summary":""}';
  expect(readFileSync(join(folder, 'asked'), 'utf8')).toBe(
    `--schema||unset|unset\n|${event}|pre_message|unset\n|{}|unset|one\n`,
  );
  expect(timer.mock.calls.map(([, ms]) => ms)).toContain(7_000);
});

const refused = [
  {
    title: 'a plugin that is declared by path and does not say what it is',
    cites: 'CH-2-09@oneshot',
    spec: 'hooks: {guard: {dialect: chibi, command: ./plugins/bad}}',
    message: /hooks\[guard\]: --schema exited with code 3: no key/,
  },
  {
    title: 'a folder that is not there',
    cites: 'CH-2-01',
    spec: 'imports: [{dialect: chibi, plugins_dir: gone}]',
    message: /gone/,
  },
  {
    title: 'a tool that stands twice in the folder',
    cites: 'CH-2-18@oneshot',
    spec: importPlugins,
    message: /tool "same" is declared in both .*plugins\/a and .*plugins\/b/,
  },
  {
    title: 'a tool that the config has too',
    cites: 'CH-2-18@oneshot',
    spec: 'imports: [{dialect: chibi, plugins_dir: single}]\ntools: {only: {description: d, input_schema: {type: object}, exec: {command: sh}}}',
    message: /tool "only" is declared in both .*runtime\.yaml and .*single\/only/,
  },
  ...['hook: tool', 'phases: [before_execution]', 'mode: observe'].map((key) => ({
    title: `\`${key}\` beside dialect: chibi`,
    cites: 'CH-1-04',
    spec: `hooks: {guard: {dialect: chibi, command: ./single/only, ${key}}}`,
    message: /cannot be combined with `dialect: chibi`/,
  })),
];

test.each(titled(refused))('$title is a config error', async ({ spec, message }) => {
  const folder = newProject({
    'runtime.yaml': runtimeYaml(spec),
    'single/only': says('only'),
    ...inFolder({ a: says('same'), b: says('same'), bad: '#!/bin/sh\necho "no key" >&2\nexit 3\n' }),
  });
  await expect(openRuntime(join(folder, 'runtime.yaml'), { log: false })).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(message),
  });
});

const guards = [
  {
    title: 'is described badly',
    add: { 'plugins/bad': '#!/bin/sh\nexit 3\n' },
    message: /plugins\/bad: .*code 3/,
  },
  { title: 'is a hollow folder', add: { 'plugins/hollow/x': '' }, message: /plugins\/hollow: .*ENOENT/ },
  {
    title: 'is a folder whose file is not executable',
    add: { 'plugins/soft/soft': 'echo' },
    message: /plugins\/soft: .*not executable/,
  },
  { title: 'leads out', add: {}, link: 'outside', message: /plugins\/linked: it is outside/ },
];

test.each(guards)(
  'with on_failure: deny a plugin that $title is a config error, else it is omitted',
  async ({ add, link, message }) => {
    const files = (more: string) => ({
      'runtime.yaml': runtimeYaml(`imports: [{dialect: chibi, plugins_dir: plugins${more}}]`),
      outside: says('outside'),
      ...inFolder({ good: says('good'), 'README.md': 'No plugin.', 'off.disabled': 'x' }),
      ...add,
    });
    const [strict, lenient] = [newProject(files(', on_failure: deny')), newProject(files(''))];
    for (const folder of [strict, lenient]) {
      if (link) symlinkSync(join(folder, link), join(folder, 'plugins/linked'));
    }
    await expect(openRuntime(join(strict, 'runtime.yaml'), { log: false })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
      details: { problems: [{ file: join(strict, 'runtime.yaml') }] },
    });
    const { runtime, notes } = await open(lenient);
    expect(runtime.tools.list().map(({ name }) => name)).toEqual(['good']);
    expect(notes('warn')).toContainEqual(expect.stringMatching(message));
  },
);

test.each([
  'imports: [{dialect: chibi, plugins_dir: plugins}]',
  'hooks: {slow: {dialect: chibi, command: ./plugins/slow}}',
])('an abort ends the wait for --schema: %s', async (spec) => {
  const folder = newProject({
    'runtime.yaml': runtimeYaml(spec),
    ...inFolder({ slow: '#!/bin/sh\n: > "$CHIBI_PROJECT_ROOT/asked"\nexec sleep 60\n' }),
  });
  const controller = new AbortController();
  const opening = openRuntime(join(folder, 'runtime.yaml'), { log: false, signal: controller.signal });
  await vi.waitFor(() => expect(existsSync(join(folder, 'asked'))).toBe(true), { timeout: 10_000 });
  controller.abort();
  await expect(opening).rejects.toMatchObject({ code: 'ABORTED' });
});

test('a hook by path declares its own points [CH-1-02@oneshot]', async () => {
  const { runtime, warnings } = await openProject({
    'runtime.yaml': runtimeYaml(
      'hooks:\n  guard: {dialect: chibi, command: ./guard}\n  idle: {dialect: chibi, command: ./idle}',
    ),
    guard: shPlugin(schemaOf('g', ['pre_message']), 'echo \'{"prompt": "mine"}\''),
    idle: says('idle'),
  });
  const fired = await runtime.hooks.fire({
    dialect: 'chibi',
    point: 'pre_message',
    payload: { prompt: 'a' },
  });
  expect(fired).toMatchObject({ verdict: 'modify', hook: 'guard', replace: { prompt: 'mine' } });
  expect(warnings()).toContain('its --schema registers no hook, so it never runs');
  expect(runtime.tools.list()).toEqual([]);
});

test('a plugin is started once for each of its tools that registers the point [CH-4-02@oneshot]', async () => {
  const both = `[${schemaOf('one', ['pre_message'])}, ${schemaOf('two', ['pre_message'])}]`;
  const { runtime, folder, verdicts } = await openProject({
    'runtime.yaml': runtimeYaml(importPlugins),
    ...inFolder({ both: shPlugin(both, 'echo started >> "$CHIBI_PROJECT_ROOT/log"\necho \'{}\'') }),
  });
  await runtime.hooks.fire({ dialect: 'chibi', point: 'pre_message', payload: { prompt: 'a' } });
  expect(readFileSync(join(folder, 'log'), 'utf8')).toBe('started\nstarted\n');
  expect(verdicts()).toEqual(['one pre_message allow', 'two pre_message allow']);
});
