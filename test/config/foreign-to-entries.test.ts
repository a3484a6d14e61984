import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ImportedEntry, importHooks, mergeEntries } from '../../src/config/import/entries.ts';
import { loadConfig } from '../../src/config/load.ts';
import { searchPath } from './told.ts';

function imported(name: string, content: unknown, more: Readonly<Record<string, unknown>> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'entries-'));
  for (const [path, value] of Object.entries({ [name]: content, ...more })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), JSON.stringify(value));
  }
  return { folder, ...importHooks(join(folder, name), { folder, searchPath }) };
}

const claude = {
  permissions: { deny: ['Bash(rm *)'] },
  hooks: {
    PreToolUse: [
      {
        matcher: 'Bash',
        hooks: [
          {
            type: 'command',
            command: 'cat "$FOO" ${BAR:-x} "$CLAUDE_PROJECT_DIR"',
            timeout: 2,
            onFailure: 'block',
          },
          { type: 'prompt', prompt: 'x' },
          { type: 'command', command: 'sh gone.sh' },
          { type: 'command', command: './bin/x y', args: ['${A}'], async: true, if: 'Bash' },
          { type: 'http', url: 'https://x', headers: { A: '$T' }, allowedEnvVars: ['T'] },
        ],
      },
    ],
  },
};

describe('importHooks', () => {
  test('gives an entry for each Claude Code handler that can run, and reports the rest', () => {
    const { folder, entries, problems } = imported('.claude/settings.json', claude, { 'bin/x y': '' });
    const env = ['CLAUDE_PROJECT_DIR=.'];
    const block = { event: 'PreToolUse', matcher: 'Bash' };
    expect(entries).toEqual([
      {
        section: 'hooks',
        name: 'PreToolUse-1',
        value: {
          dialect: 'claude',
          command: 'cat "$FOO" ${BAR:-x} "$CLAUDE_PROJECT_DIR"',
          cwd: '.',
          env: [...env, 'FOO', 'BAR'],
          timeout_ms: 2000,
          on_failure: 'deny',
          claude: block,
        },
      },
      {
        section: 'hooks',
        name: 'PreToolUse-2',
        value: {
          dialect: 'claude',
          command: './bin/x y',
          args: ['${A}'],
          cwd: '.',
          env,
          claude: { ...block, if: 'Bash', async: true },
        },
      },
      {
        section: 'hooks',
        name: 'PreToolUse-3',
        value: {
          dialect: 'claude',
          env: ['T'],
          claude: { ...block, type: 'http', url: 'https://x', headers: { A: '$T' }, allowedEnvVars: ['T'] },
        },
      },
    ]);
    expect(problems.map(({ severity, message }) => `${severity} ${message}`)).toEqual([
      'note permissions: rules are not hooks, and are not imported',
      "error hooks.PreToolUse[0].hooks[1]: hook type 'prompt' asks a model to judge, which Signalbox does not do; use a command or http handler",
      `error hooks.PreToolUse[0].hooks[2].command: ${join(folder, 'gone.sh')} does not exist`,
    ]);
  });

  test('detects PicoClaw’s config.json by its contents', () => {
    const processes = {
      p: { enabled: true, command: ['./x', 'y'], dir: 'd', env: { A: '1' }, observe: ['all'] },
    };
    const { entries } = imported('pico/config.json', {
      hooks: { defaults: { interceptor_timeout_ms: 7 }, processes },
    });
    expect(entries).toEqual([
      {
        section: 'hooks',
        name: 'p',
        value: {
          dialect: 'picoclaw',
          command: './pico/d/x',
          args: ['y'],
          env: ['A=1'],
          picoclaw: { observe: ['all'], dir: './pico/d', interceptor_timeout_ms: 7 },
        },
      },
    ]);
  });

  test('gives Agentao rules, and an import for a folder of chibi plugins', () => {
    const rule = { type: 'command', command: 'cat $X', timeout: 3, matcher: { tool_name: 'x' } };
    const { entries, folder } = imported('hooks.json', {
      PreToolUse: rule,
      UserPromptSubmit: { type: 'prompt', prompt: 'p' },
    });
    mkdirSync(join(folder, 'plugins'));
    expect([...entries, ...importHooks(join(folder, 'plugins'), { folder, searchPath }).entries]).toEqual([
      {
        section: 'hooks',
        name: 'PreToolUse-1',
        value: {
          dialect: 'agentao',
          command: 'cat $X',
          env: ['X'],
          timeout_ms: 3000,
          agentao: { event: 'PreToolUse', matcher: { tool_name: 'x' } },
        },
      },
      {
        section: 'hooks',
        name: 'UserPromptSubmit-1',
        value: { dialect: 'agentao', agentao: { event: 'UserPromptSubmit', prompt: 'p' } },
      },
      { section: 'imports', name: './plugins', value: { dialect: 'chibi', plugins_dir: './plugins' } },
    ]);
  });

  test('a missing file is a problem, not an exception', () => {
    const { entries, problems } = importHooks('/gone/settings.json', { folder: '/gone', searchPath });
    expect([entries, problems.map(({ message }) => message)]).toEqual([
      [],
      ['Hooks file not found: /gone/settings.json'],
    ]);
  });

  test('its result loads, and means the same as the import', () => {
    const { folder, entries } = imported('.claude/settings.json', {
      ...claude,
      hooks: {
        PreToolUse: [{ hooks: [{ type: 'command', command: 'cat ${CLAUDE_PROJECT_DIR}/x', timeout: 2 }] }],
      },
    });
    const head = 'apiVersion: signalbox/v1\nkind: RuntimeConfig\n';
    const load = (name: string, text: string) => {
      writeFileSync(join(folder, name), text);
      const [hook] = loadConfig(join(folder, name), searchPath).config?.foreign ?? [];
      return { settings: hook?.settings, command: hook?.exec?.command, timeoutMs: hook?.exec?.timeoutMs };
    };
    const byFile = load('a.yaml', `${head}spec: {imports: [{file: .claude/settings.json}]}\n`);
    expect(load('b.yaml', mergeEntries(head, entries))).toEqual(byFile);
    expect(byFile.command).toBe('cat ${CLAUDE_PROJECT_DIR}/x');
  });
});

describe('mergeEntries', () => {
  const entry = (name: string, command: string): ImportedEntry => ({
    section: 'hooks',
    name,
    value: { dialect: 'agentao', command, agentao: { event: 'Stop' } },
  });
  const text =
    '# top\nkind: RuntimeConfig # kind\nspec:\n  # ours\n  hooks:\n    own: {command: x, hook: tool} # mine\n';

  test('keeps comments and spelling, and appends new entries', () => {
    expect(mergeEntries(text, [entry('Stop-1', 'cat')])).toBe(
      `${text}    Stop-1:\n      dialect: agentao\n      command: cat\n      agentao:\n        event: Stop\n`,
    );
  });

  test('adds nothing twice, whatever its name', () => {
    const once = mergeEntries(text, [entry('Stop-1', 'cat'), entry('Stop-2', 'sh')]);
    expect(mergeEntries(once, [entry('Stop-1', 'sh'), entry('Stop-2', 'cat')])).toBe(once);
  });

  test('a numbered name that is taken gets another number', () => {
    const once = mergeEntries(text, [entry('Stop-1', 'cat')]);
    expect(Object.keys(parse(mergeEntries(once, [entry('Stop-1', 'sh')])).spec.hooks)).toEqual([
      'own',
      'Stop-1',
      'Stop-2',
    ]);
  });

  test('any other name that is taken is refused', () => {
    expect(() => mergeEntries(text, [entry('own', 'cat')])).toThrow(
      expect.objectContaining({ code: 'CONFIG_INVALID' }),
    );
  });

  test.each(['', 'kind: RuntimeConfig\n', 'spec:\n', 'spec: {hooks: }\n'])(
    'creates the sections that %j lacks',
    (bare) => {
      const value = { dialect: 'chibi', plugins_dir: './p' };
      const merged = mergeEntries(bare, [entry('Stop-1', 'cat'), { section: 'imports', name: 'p', value }]);
      expect(parse(merged).spec).toEqual({ hooks: { 'Stop-1': entry('', 'cat').value }, imports: [value] });
    },
  );

  test('text that is not YAML is refused', () => {
    expect(() => mergeEntries('a: [', [])).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }));
  });
});

describe('mergeEntries', () => {
  const env = ['CLAUDE_PROJECT_DIR=.'];
  const entries: ImportedEntry[] = ['a', 'b'].map((name) => ({
    ...{ section: 'hooks', name },
    value: { dialect: 'claude', command: name, env, claude: { event: 'Stop', allowedEnvVars: env } },
  }));
  const added = [...entries, { section: 'imports', name: 'p', value: { plugins_dir: 'p', env } } as const];

  test.each([
    { title: 'an empty config', text: '' },
    { title: 'empty mappings in flow style', text: 'spec: {hooks: {}, imports: []}\n' },
    {
      title: 'a config in flow style',
      text: '{kind: RuntimeConfig, spec: {hooks: {}, tools: {t: {x: 1}}}}\n',
    },
  ])('writes every entry, line by line, into $title', ({ text }) => {
    const merged = mergeEntries(text, added);
    expect(merged).not.toMatch(/[&*]a\d/);
    expect(merged).toContain('  hooks:\n    a:\n      dialect: claude\n      command: a\n      env:\n');
    expect(merged).toMatch(/ {2}imports:\n {4}- plugins_dir: p\n {6}env:\n/);
    expect(parse(merged)).toMatchObject({
      spec: { hooks: { a: { env }, b: { env } }, imports: [{ plugins_dir: 'p', env }] },
    });
  });
});
