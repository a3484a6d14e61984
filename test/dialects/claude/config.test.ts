import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { toRuntimeError } from '../../../src/base/errors.ts';
import { problemsOf } from '../../../src/base/yaml/problem.ts';
import { readHooks } from '../../../src/runtime/project/import-hooks.ts';
import { titled } from '../../cite.ts';
import { chatYaml, mockProvider, newProject } from '../project.ts';
import { command, on, openClaude, settings } from './scripts.ts';

interface Case {
  readonly title: string;
  readonly cites: string;
  readonly hooks?: Readonly<Record<string, readonly object[]>>;
  readonly spec?: string;
  readonly errors: readonly unknown[];
}

const judges = (type: string, at: string) =>
  `${at} hook type '${type}' asks a model to judge, which Signalbox does not do; use a command or http handler`;
const group = (...hooks: object[]) => ({ hooks });

const refused: readonly Case[] = [
  {
    title: 'handlers that ask a model or a server of tools',
    cites: 'CC-1-10',
    hooks: {
      Stop: [group({ type: 'prompt', prompt: 'ok?' }, command('true'))],
      PreToolUse: [
        group({ type: 'agent', prompt: 'ok?' }),
        group({ type: 'mcp_tool', server: 's', tool: 't' }),
      ],
    },
    errors: [
      judges('prompt', '6:11 hooks.Stop[0].hooks[0]:'),
      judges('agent', '20:11 hooks.PreToolUse[0].hooks[0]:'),
      judges('mcp_tool', '28:11 hooks.PreToolUse[1].hooks[0]:'),
    ],
  },
  {
    title: 'a matcher that does not compile',
    cites: 'CC-2-07',
    hooks: { PreToolUse: [on('Bash(', 'true')] },
    errors: [expect.stringMatching(/^\d+:\d+ hooks\.PreToolUse\[0\]\.matcher: /)],
  },
  {
    title: 'an `if` that is not one rule',
    cites: 'CC-2-16',
    hooks: { PreToolUse: [on('Bash', 'true', { if: 'Bash(a) && Bash(b)' })] },
    errors: [expect.stringMatching(/^\d+:\d+ hooks\.PreToolUse\[0\]\.hooks\[0\]\.if: /)],
  },
  {
    title: 'a plugin’s option in a line of the shell',
    cites: 'CC-3-04',
    hooks: { Stop: [on(undefined, 'check --mode ${user_config.MODE}')] },
    errors: [expect.stringMatching(/\.command: \$\{user_config\.…\} is not replaced in a shell line$/)],
  },
  {
    title: 'scripts that are not there',
    cites: 'CC-9-05',
    hooks: {
      Stop: [
        on(undefined, 'python3 gone.py'),
        on(undefined, 'MODE=x sh .claude/gone.sh --fast'),
        on(undefined, '"$CLAUDE_PROJECT_DIR"/gone.sh'),
        on(undefined, '${CLAUDE_PROJECT_DIR}/gone'),
        on(undefined, './gone', { args: [] }),
        on(undefined, 'if test -f gone.sh; then sh gone.sh; fi'),
      ],
    },
    errors: [
      expect.stringMatching(/Stop\[0\].*gone\.py does not exist$/),
      expect.stringMatching(/Stop\[1\].*gone\.sh does not exist$/),
      expect.stringMatching(/Stop\[3\].*gone does not exist$/),
      expect.stringMatching(/Stop\[4\].*gone does not exist$/),
    ],
  },
  {
    title: '`event` beside `hook`, `phases` and `mode`',
    cites: 'CC-1-05',
    spec: 'hooks:\n  h: {dialect: claude, command: "true", hook: tool, phases: [before_execution], mode: filter, claude: {event: Stop}}\n',
    errors: ['hook', 'phases', 'mode'].map((key) =>
      expect.stringMatching(new RegExp(`^\\d+:\\d+ hooks\\[h\\]\\.${key}: cannot be combined with`)),
    ),
  },
];

test.each(titled(refused))('$title are refused with their places', async ({ hooks = {}, spec, errors }) => {
  const thrown: unknown = await openClaude(hooks, { ...(spec !== undefined && { spec }) }).catch(
    (error: unknown) => error,
  );
  const problems = problemsOf(toRuntimeError(thrown)).filter(({ severity }) => severity === 'error');
  expect(problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual(errors);
});

const ignored: readonly (Omit<Case, 'errors'> & {
  readonly names: readonly string[];
  readonly warning?: RegExp;
})[] = [
  {
    title: 'an unknown event is warned of, and spoils nothing',
    cites: 'CC-1-02',
    hooks: { PreToolUSe: [on(undefined, 'true')], Stop: [on(undefined, 'true')] },
    names: ['Stop-1'],
    warning: /there is no event PreToolUSe/,
  },
  {
    title: 'unknown keys of a group, `once` and `statusMessage` are tolerated',
    cites: 'CC-1-03',
    hooks: {
      Stop: [
        {
          id: 'x',
          description: 'y',
          hooks: [command('true', { once: true, statusMessage: 'Checking…' })],
        },
      ],
    },
    names: ['Stop-1'],
  },
  {
    title: '`if` where it never runs is warned of',
    cites: 'CC-2-18',
    hooks: { Stop: [on(undefined, 'true', { if: 'Bash(git *)' })] },
    names: ['Stop-1'],
    warning: /a handler with `if` never runs at Stop/,
  },
  {
    title: '`asyncRewake` is `async`',
    cites: 'CC-3-16',
    hooks: { Stop: [on(undefined, 'true', { asyncRewake: true })] },
    names: ['Stop-1'],
    warning: /is read as `async`/,
  },
];

test.each(titled(ignored))('$title', async ({ hooks = {}, names, warning }) => {
  const { runtime, warnings } = await openClaude(hooks);
  expect(runtime.hooks.list().map(({ name }) => name)).toEqual(names);
  expect(warnings()).toEqual(warning === undefined ? [] : [expect.stringMatching(warning)]);
});

test('only named files are read, and one that disables its hooks has none [CC-1-04 CC-1-06]', async () => {
  const hooks = { Stop: [on(undefined, 'touch ran')] };
  const { runtime } = await openClaude(
    {},
    {
      more: '}\n  - {dialect: claude, file: off.json',
      files: {
        'off.json': settings(hooks, { disableAllHooks: true }),
        '.claude/settings.local.json': settings(hooks),
        'hooks/hooks.json': settings(hooks),
      },
    },
  );
  expect(runtime.hooks.list()).toEqual([]);
});

test('a handler in two settings files runs once, and a plugin’s copy again [CC-3-18]', async () => {
  const hooks = { PostModelSwitch: [on(undefined, 'echo "$CLAUDE_PROJECT_DIR" | wc -l | tr -d " "')] };
  const { runtime } = await openClaude(hooks, {
    more: '}\n  - {dialect: claude, file: .claude/settings.local.json}\n  - {dialect: claude, file: plug',
    files: { '.claude/settings.local.json': settings(hooks), 'plug/hooks/hooks.json': settings(hooks) },
  });
  const payload = { from_model: 'a', to_model: 'b' };
  const { context } = await runtime.hooks.fire({ dialect: 'claude', point: 'PostModelSwitch', payload });
  expect(context).toEqual(['1', '1']);
});

test('settings, a plugin’s hooks.json and a plugin’s folder are imported with every handler key [CC-10-02 CC-10-03 CC-1-07]', () => {
  const hooks = settings({
    PreToolUse: [on('Bash', 'echo $HOUSE', { timeout: 1.5, async: true, onFailure: 'block' })],
  });
  const folder = newProject({
    '.claude/settings.json': hooks,
    'plug/.claude-plugin/plugin.json': '{"name": "plug"}',
    'plug/hooks/hooks.json': hooks,
  });
  const config = join(folder, 'runtime.yaml');
  const taken = ['.claude/settings.json', 'plug/hooks/hooks.json', 'plug'].map((file) => {
    const { entries } = readHooks(join(folder, file), { config });
    return entries.map(({ name, value }) => [name, value]);
  });
  const entry = {
    dialect: 'claude',
    command: 'echo $HOUSE',
    timeout_ms: 1500,
    on_failure: 'deny',
    claude: { event: 'PreToolUse', matcher: 'Bash', async: true },
  };
  const plugged = { ...entry, env: expect.arrayContaining(['CLAUDE_PLUGIN_ROOT=./plug', 'HOUSE']) };
  expect(taken).toMatchObject([
    [['PreToolUse-1', { ...entry, env: ['CLAUDE_PROJECT_DIR=.', 'HOUSE'] }]],
    [['PreToolUse-1', plugged]],
    [['PreToolUse-1', plugged]],
  ]);
});

test('the handlers of SessionEnd have 1.5 seconds [CC-3-17]', async () => {
  const { runtime, folder, warnings } = await openClaude(
    { SessionEnd: [on(undefined, 'touch began; sleep 20; touch late')] },
    { spec: mockProvider('{text: done}'), files: { 'agent.pipeline.yaml': chatYaml() } },
  );
  const run = await runtime.run(join(folder, 'agent.pipeline.yaml'), { text: 'hello' });
  const startedAt = performance.now();
  await runtime.close();
  const tookMs = performance.now() - startedAt;
  expect([run.status, existsSync(join(folder, 'began')), existsSync(join(folder, 'late'))]).toEqual([
    'completed',
    true,
    false,
  ]);
  expect([tookMs > 1000, tookMs < 10_000]).toEqual([true, true]);
  expect(warnings()).toContainEqual(expect.stringContaining('claude.timeout'));
});
