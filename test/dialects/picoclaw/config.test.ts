import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { importHooks } from '../../../src/config/import/entries.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { rowsOf } from '../../table.ts';
import { newProject, openProject, runtimeYaml } from '../project.ts';
import { shHook } from './scripts.ts';

const searchPath = process.env.PATH ?? '';

function load(entry: string) {
  const folder = newProject({ 'runtime.yaml': runtimeYaml(`hooks:\n  h: ${entry}`) });
  const { config, problems } = loadConfig(join(folder, 'runtime.yaml'), searchPath);
  const [hook] = config?.foreign ?? [];
  return { hook, problems: problems.map(({ severity, message }) => `${severity} ${message}`) };
}

test('the dialect implies a server, and the version of the page [PC-1-01 PC-2-01]', () => {
  const { hook } = load('{dialect: picoclaw, command: sh, hook: tool}');
  expect([hook?.exec?.runtime, hook?.settings]).toEqual([
    'server',
    expect.objectContaining({ version: '0.2.8-doc', intercept: ['before_tool', 'after_tool'], observe: [] }),
  ]);
});

test.each([
  { entry: 'hook: provider', intercept: ['before_llm', 'after_llm'] },
  { entry: 'hook: provider, phases: [after_call]', intercept: ['after_llm'] },
  { entry: 'hook: tool, phases: [before_execution]', intercept: ['before_tool'] },
])('$entry is short for methods of a pair [PC-2-02]', ({ entry, intercept }) => {
  expect(load(`{dialect: picoclaw, command: sh, ${entry}}`).hook?.settings).toMatchObject({ intercept });
});

test.each([
  ...rowsOf<Record<'title' | 'entry' | 'error', string>>`
  title | entry | error
  runtime: exec [PC-2-01] | runtime: exec, hook: tool | error hooks[h].runtime: must be server (got: exec)
  both forms [PC-2-02] | hook: tool, picoclaw: {intercept: [before_llm]} | error hooks[h].hook: cannot be combined with picoclaw.intercept
  an unknown event [PC-2-03] | picoclaw: {observe: [turn.*]} | error hooks[h].picoclaw.observe[0]: is not a kind of event of PicoClaw (got: turn.*)
  neither list [PC-2-03] | picoclaw: {lenient: true} | error hooks[h]: needs picoclaw.intercept or picoclaw.observe
`,
  {
    entry: 'picoclaw: {intercept: [before_lm]}',
    error:
      'error hooks[h].picoclaw.intercept[0]: must be one of: before_llm, after_llm, before_tool, after_tool, approve_tool (got: before_lm)',
    title: 'an unknown method [PC-2-03]',
  },
])('$title is a config error', ({ entry, error }) => {
  expect(load(`{dialect: picoclaw, command: sh, ${entry}}`)).toEqual({
    hook: undefined,
    problems: expect.arrayContaining([error]),
  });
});

test.each([
  { entry: 'picoclaw: {intercept: [after_tool]}', isNoted: true },
  { entry: 'hook: provider', isNoted: true },
  { entry: 'on_failure: deny, hook: provider', isNoted: false },
  { entry: 'picoclaw: {intercept: [approve_tool], observe: [all]}', isNoted: false },
])('$entry lets pass when it fails, which is noted: $isNoted [PC-9-01]', ({ entry, isNoted }) => {
  const { problems } = load(`{dialect: picoclaw, command: sh, ${entry}}`);
  const note = expect.stringMatching(/^note hooks\[h\]: lets the event pass when it fails/);
  expect(problems).toEqual(isNoted ? [note] : []);
});

describe('a config.json', () => {
  const gate = (reason: string) =>
    shHook(
      `    *) answer "{\\"action\\":\\"deny_tool\\",\\"reason\\":\\"${reason} $GREETING.$SECRET\\"}" ;;`,
    );
  const processes = {
    second: { enabled: true, priority: 2, command: ['./late'], dir: 'hooks', intercept: ['before_tool'] },
    first: {
      enabled: true,
      priority: -1,
      transport: 'stdio',
      command: ['./early', 'x'],
      dir: 'hooks',
      env: { GREETING: 'hi' },
      observe: ['turn_end'],
      intercept: ['before_tool'],
    },
    off: { enabled: false, command: ['./gone'], intercept: ['before_tool'] },
    silent: { command: ['./gone'], intercept: ['approve_tool'] },
  };
  const config = {
    hooks: { enabled: true, defaults: { interceptor_timeout_ms: 900, observer_timeout_ms: -5 }, processes },
    isolation: { enabled: false },
  };
  const files = {
    'pico/config.json': JSON.stringify(config),
    'pico/hooks/early': gate('early'),
    'pico/hooks/late': gate('late'),
  };
  const env = { ...process.env, SECRET: 's' };

  test('imports all its enabled processes, in the order of their priorities [PC-2-21 PC-2-23 PC-2-24 PC-2-26 PC-2-28 PC-2-29]', async () => {
    const { runtime, warnings } = await openProject(
      {
        ...files,
        'runtime.yaml': runtimeYaml('imports:\n  - {dialect: picoclaw, file: pico/config.json}'),
      },
      { env },
    );
    expect(runtime.hooks.list().map(({ name }) => name)).toEqual(['first', 'second']);
    const decision = await runtime.hooks.fire({
      dialect: 'picoclaw',
      point: 'before_tool',
      payload: { tool: 't' },
    });
    expect(decision).toMatchObject({ verdict: 'deny', hook: 'first', reason: 'early hi.' });
    expect(warnings()).toEqual(
      expect.arrayContaining([
        expect.stringContaining(
          'observer_timeout_ms: is not a number of milliseconds above 0; the default, 500',
        ),
      ]),
    );
  });

  test('becomes one entry for each, which does the same, and reports what env must name [PC-2-20 PC-2-29]', async () => {
    const folder = newProject({ ...files, 'runtime.yaml': runtimeYaml('hooks: {}') });
    const { entries, problems } = importHooks(join(folder, 'pico/config.json'), { folder, searchPath });
    expect(entries.map(({ section, name, value }) => [section, name, value])).toEqual([
      [
        'hooks',
        'first',
        {
          dialect: 'picoclaw',
          command: './pico/hooks/early',
          args: ['x'],
          env: ['GREETING=hi'],
          picoclaw: {
            intercept: ['before_tool'],
            observe: ['turn_end'],
            dir: './pico/hooks',
            interceptor_timeout_ms: 900,
          },
        },
      ],
      [
        'hooks',
        'second',
        {
          dialect: 'picoclaw',
          command: './pico/hooks/late',
          picoclaw: { intercept: ['before_tool'], dir: './pico/hooks', interceptor_timeout_ms: 900 },
        },
      ],
    ]);
    expect(problems.map(({ message }) => message)).toEqual(
      expect.arrayContaining([expect.stringContaining('closed environment')]),
    );
  });

  const bad = (more: object) => ({ hooks: { processes: { p: { ...processes.second, ...more } } } });
  test.each(rowsOf<{ given: object; place: string; ids: string }>`
    given | place | ids
    ${{ hooks: { builtins: { guard: { enabled: true } } } }} | hooks.builtins.guard | [PC-2-22 PC-2-25]
    ${bad({ transport: 'http' })} | hooks.processes.p.transport | [PC-2-22 PC-2-27]
    ${bad({ command: [] })} | hooks.processes.p.command | [PC-2-22 PC-2-27]
    ${bad({ intercept: ['before'] })} | hooks.processes.p.intercept[0] | [PC-2-22]
    ${{ isolation: { enabled: true }, ...bad({}) }} | isolation.enabled | [PC-2-22 PC-2-31]
  `)('with $place that cannot be imported is an error that names it $ids', ({ given, place }) => {
    const folder = newProject({
      ...files,
      'pico/config.json': JSON.stringify(given),
      'runtime.yaml': runtimeYaml('imports:\n  - {dialect: picoclaw, file: pico/config.json}'),
    });
    const { config: read, problems } = loadConfig(join(folder, 'runtime.yaml'), searchPath);
    const errors = problems.filter(({ severity }) => severity === 'error');
    expect(read).toBeUndefined();
    expect(errors.map(({ file, message }) => [file.endsWith('pico/config.json'), message])).toEqual([
      [true, expect.stringMatching(new RegExp(`^${place.replaceAll(/[.[\]]/g, '\\$&')}: `))],
    ]);
  });

  test('with disabled hooks imports nothing; a name that is taken is an error [PC-2-23 PC-2-30]', () => {
    const folder = newProject({
      ...files,
      'runtime.yaml': runtimeYaml(
        'imports:\n  - {dialect: picoclaw, file: pico/config.json}\nhooks:\n  first: {command: sh, hook: tool}',
      ),
    });
    const runtimeFile = join(folder, 'runtime.yaml');
    const taken = loadConfig(runtimeFile, searchPath);
    const configFile = join(folder, 'pico/config.json');
    const off = readFileSync(configFile, 'utf8').replace(
      '"enabled":true,"defaults"',
      '"enabled":false,"defaults"',
    );
    writeFileSync(configFile, off);
    expect([
      taken.problems.filter(({ severity }) => severity === 'error').map(({ message }) => message),
      loadConfig(runtimeFile, searchPath).config?.foreign,
    ]).toEqual([['imports[0].file: its process first has the name of another hook'], []]);
  });
});
