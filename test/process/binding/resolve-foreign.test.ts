import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { requireConfig } from '../../../src/config/load.ts';
import { resolveExec } from '../../../src/runtime/binding/resolve.ts';
import { resolveForeign } from '../../../src/runtime/binding/resolve-foreign.ts';

const folder = mkdtempSync(join(tmpdir(), 'foreign-'));
const host = { PATH: '/bin', KEY: 'k', HOST: 'h', CHIBI_API_KEY: 'unseen', CLAUDE_PLUGIN_OPTION_MODE: 'm' };

/** Resolves the hooks `h`, `i`, … of a config. `rest` holds further lines of the spec. */
function resolveAll(entries: readonly string[], rest = '') {
  const hooks = entries.map((entry, index) => `    h${index}: ${entry}\n`).join('');
  const file = join(folder, 'runtime.yaml');
  writeFileSync(file, `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  hooks:\n${hooks}${rest}`);
  const config = requireConfig(file, '');
  return config.foreign.map((hook) => resolveForeign(hook, config, host));
}

const commandOf = (entry: string, rest = '') => {
  const [resolved] = resolveAll([entry], rest);
  return [resolved?.binding?.command, resolved?.binding?.args];
};

describe('the started command', () => {
  test.each([
    {
      entry: '{dialect: claude, command: "cat ${CLAUDE_PROJECT_DIR}/x | y", claude: {event: Stop}}',
      started: ['/bin/sh', ['-c', `cat ${folder}/x | y`]],
    },
    {
      entry: '{dialect: claude, command: a b, claude: {event: Stop, shell: bash}}',
      started: ['bash', ['-c', 'a b']],
    },
    {
      entry: '{dialect: claude, command: a b, claude: {event: Stop, shell: powershell}}',
      started: ['pwsh', ['-Command', 'a b']],
    },
    {
      entry:
        '{dialect: claude, command: cat, args: ["${CLAUDE_PROJECT_DIR}/x y", "${user_config.MODE}"], env: [CLAUDE_PLUGIN_OPTION_MODE], claude: {event: Stop}}',
      started: ['cat', [`${folder}/x y`, 'm']],
    },
    {
      entry: '{dialect: agentao, command: cat $X | y, agentao: {event: Stop}}',
      started: ['/bin/sh', ['-c', 'cat $X | y']],
    },
    { entry: '{dialect: chibi, command: ./guard}', started: [join(folder, 'guard'), []] },
    {
      entry: '{dialect: picoclaw, command: python3, args: [x.py], hook: tool}',
      started: ['python3', ['x.py']],
    },
  ])('$entry', ({ entry, started }) => {
    expect(commandOf(entry)).toEqual(started);
  });

  test('an unset option keeps the process from starting', () => {
    const [resolved] = resolveAll([
      '{dialect: claude, command: cat, args: ["${user_config.MODE}"], claude: {event: Stop}}',
    ]);
    expect(resolved?.binding?.refused).toBe('its `env` has no CLAUDE_PLUGIN_OPTION_MODE');
  });

  test('a prompt rule starts nothing', () => {
    expect(resolveAll(['{dialect: agentao, agentao: {event: UserPromptSubmit, prompt: x}}'])).toEqual([
      { cwd: folder, missingEnv: [] },
    ]);
  });

  test('a PicoClaw process is persistent, in its folder', () => {
    const [resolved] = resolveAll(['{dialect: picoclaw, command: sh, hook: tool, picoclaw: {dir: d}}']);
    expect([resolved?.binding?.mode, resolved?.cwd]).toEqual(['server', join(folder, 'd')]);
  });
});

describe('limits and leftovers', () => {
  test.each([
    { entry: '{dialect: claude, command: sh, claude: {event: PreToolUse}}', timeoutMs: 600_000 },
    { entry: '{dialect: claude, command: sh, claude: {event: UserPromptSubmit}}', timeoutMs: 30_000 },
    { entry: '{dialect: claude, command: sh, claude: {event: PreModelSwitch}}', timeoutMs: 30_000 },
    { entry: '{dialect: claude, command: sh, claude: {event: PostModelSwitch}}', timeoutMs: 30_000 },
    { entry: '{dialect: claude, command: sh, claude: {event: MessageDisplay}}', timeoutMs: 10_000 },
    { entry: '{dialect: claude, command: sh, claude: {event: SessionEnd}}', timeoutMs: 1500 },
    {
      entry: '{dialect: claude, command: sh, timeout_ms: 9000, claude: {event: SessionEnd}}',
      timeoutMs: 9000,
    },
    {
      entry: '{dialect: claude, command: sh, timeout_ms: 90000, claude: {event: SessionEnd}}',
      timeoutMs: 60_000,
    },
    {
      entry:
        '{dialect: claude, command: sh, timeout_ms: 9000, env: [CLAUDE_PLUGIN_ROOT=p], claude: {event: SessionEnd}}',
      timeoutMs: 1500,
    },
    { entry: '{dialect: agentao, command: cat, agentao: {event: Stop}}', timeoutMs: 60_000 },
    { entry: '{dialect: chibi, command: sh}', timeoutMs: 30_000 },
    { entry: '{dialect: picoclaw, command: sh, hook: tool}', timeoutMs: 5000 },
    { entry: '{dialect: picoclaw, command: sh, timeout_ms: 8, hook: tool}', timeoutMs: 8 },
  ])('$entry may take $timeoutMs ms and leaves processes behind [CC-3-17]', ({ entry, timeoutMs }) => {
    const [resolved] = resolveAll([entry]);
    expect([resolved?.binding?.timeoutMs, resolved?.binding?.leftovers]).toEqual([timeoutMs, 'keep']);
  });

  test('one SessionEnd handler raises what all of them have', () => {
    const entry = (more: string) => `{dialect: claude, command: sh, ${more}claude: {event: SessionEnd}}`;
    const resolved = resolveAll([entry('timeout_ms: 9000, '), entry('')]);
    expect(resolved.map(({ binding }) => binding?.timeoutMs)).toEqual([9000, 1500]);
  });

  test('spec.defaults apply where an entry is silent', () => {
    const [resolved] = resolveAll(
      ['{dialect: chibi, command: sh}'],
      '  defaults: {timeout_ms: 7, leftovers: kill}\n',
    );
    expect([resolved?.binding?.timeoutMs, resolved?.binding?.leftovers]).toEqual([7, 'kill']);
  });
});

describe('the environment', () => {
  const envOf = (entry: string, rest = '') => {
    const [resolved] = resolveAll([entry], rest);
    return {
      env: resolved?.binding?.env,
      secrets: resolved?.binding?.secrets,
      missing: resolved?.missingEnv,
    };
  };

  test('of a Claude Code handler has its place, and nothing else', () => {
    expect(
      envOf(
        '{dialect: claude, command: sh, env: [KEY, GONE, CLAUDE_PROJECT_DIR=p, CLAUDE_PLUGIN_ROOT=q], claude: {event: Stop}}',
      ),
    ).toEqual({
      env: {
        PATH: '/bin',
        KEY: 'k',
        CLAUDE_PROJECT_DIR: join(folder, 'p'),
        CLAUDE_PLUGIN_ROOT: join(folder, 'q'),
        CLAUDE_PLUGIN_DATA: join(folder, '.signalbox/plugins/q'),
      },
      secrets: ['k'],
      missing: ['GONE'],
    });
  });

  const chibi = {
    PATH: '/bin',
    CHIBI_PROJECT_ROOT: folder,
    CHIBI_INDEX_DB: join(folder, '.chibi/codebase.db'),
    CHIBI_HOME: folder,
  };
  const never =
    'env: [CHIBI_TOOL_ARGS=x, CHIBI_HOOK_DATA, CHIBI_HOOK=x, CHIBI_TOOL_NAME=x, CHIBI_PROJECT_ROOT=x]';

  test('of a chibi plugin has chibi’s variables, and never those of one call', () => {
    expect(envOf(`{dialect: chibi, command: ./plugins/x, ${never}}`)).toEqual({
      env: chibi,
      secrets: [],
      missing: [],
    });
  });

  test('of a chibi plugin is verbose if the log is', () => {
    const { env } = envOf('{dialect: chibi, command: sh}', '  logging: {defaultLevel: debug}\n');
    expect(env).toEqual({ ...chibi, CHIBI_VERBOSE: '1' });
  });

  test('of a chibi tool is the same', () => {
    const file = join(folder, 'tool.yaml');
    writeFileSync(
      file,
      `apiVersion: signalbox/v1\nkind: RuntimeConfig\nspec:\n  tools:\n    t: {exec: {command: sh, dialect: chibi, ${never}}}\n`,
    );
    const config = requireConfig(file, '');
    const resolved = config.tools.flatMap(({ name, exec }) =>
      exec === undefined ? [] : [resolveExec({ name, capability: 'tool', exec }, config, host)],
    );
    expect(
      resolved.map(({ binding, missingEnv }) => [
        binding.env,
        binding.leftovers,
        binding.timeoutMs,
        missingEnv,
      ]),
    ).toEqual([[chibi, 'keep', 30_000, []]]);
  });
});

describe('an http handler', () => {
  test('has headers filled only from permitted variables and env', () => {
    const [resolved] = resolveAll([
      '{dialect: claude, env: [KEY, HOST, LIT=l, GONE], max_output_bytes: 9, claude: {event: Stop, type: http, url: "https://x/$KEY", headers: {A: "Bearer $KEY", B: "${LIT}-$HOST-${PATH}$GONE."}, allowedEnvVars: [KEY, LIT, PATH, GONE]}}',
    ]);
    expect(resolved).toEqual({
      http: {
        name: 'h0',
        url: 'https://x/$KEY',
        privateHosts: [],
        headers: { A: 'Bearer k', B: 'l--.' },
        timeoutMs: 600_000,
        maxOutputBytes: 9,
        secrets: ['k', 'h'],
      },
      cwd: folder,
      missingEnv: ['GONE'],
    });
  });
});
