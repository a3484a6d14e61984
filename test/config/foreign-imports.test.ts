import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isObject } from '../../src/base/json/json.ts';
import type { ForeignHookConfig } from '../../src/config/config.ts';
import { formOf, keyUsesOf } from '../../src/config/import/events.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { KeyUses } from '../../src/dialects/foreign-files.ts';
import { configText, native, searchPath } from './told.ts';

function settingsOf({ settings }: ForeignHookConfig): Readonly<Record<string, unknown>> {
  return isObject(settings) ? settings : {};
}

/** Loads a config with these imports and files. Problems read `severity FILE:LINE:COL message | hint`. */
function load(imports: string, files: Readonly<Record<string, unknown>> = {}, rest = '') {
  const folder = mkdtempSync(join(tmpdir(), 'imports-'));
  for (const [name, content] of Object.entries({
    'runtime.yaml': configText(native, `\nimports:\n  - ${imports}${rest}`),
    ...files,
  })) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content, null, 1);
    writeFileSync(join(folder, name), text);
  }
  const { config, problems } = loadConfig(join(folder, 'runtime.yaml'), searchPath);
  const short = (text: string) => text.replaceAll(`${folder}/`, '').replaceAll(folder, '.');
  return {
    folder,
    config,
    hooks: config?.foreign ?? [],
    problems: problems
      .filter(({ message }) => !message.includes('lets the event pass'))
      .map(({ severity, file, line, column, message, hint }) =>
        short(`${severity} ${file}:${line}:${column} ${message}${hint === undefined ? '' : ` | ${hint}`}`),
      ),
    open: problems.filter(({ message }) => message.includes('lets the event pass')).length,
  };
}

const command = (line: string, more = {}) => ({ type: 'command', command: line, ...more });
const group = (...hooks: object[]) => ({ matcher: 'Bash', hooks });
const settings = (event: string, ...entries: unknown[]) => ({ hooks: { [event]: entries } });

const handler = group(command('cat'));
/** Each kind of file with an extra top-level key, and the tables that classify its keys. */
const kinds = {
  'settings of Claude Code': {
    imports: 'dialect: claude, file: .claude/settings.json',
    files: (more: object) => ({ '.claude/settings.json': { ...more, ...settings('PreToolUse', handler) } }),
    known: keyUsesOf('fileKeys', formOf('claude')),
  },
  'hooks.json of a plugin': {
    imports: 'file: ./p',
    files: (more: object) => ({
      'p/.claude-plugin/plugin.json': { name: 'p' },
      'p/hooks/hooks.json': { ...more, ...settings('PreToolUse', handler) },
    }),
    known: keyUsesOf('fileKeys', undefined),
  },
  'plugin.json of Claude Code': {
    imports: 'dialect: claude, file: ./p',
    files: (more: object) => ({
      'p/.claude-plugin/plugin.json': { name: 'p', ...more },
      'p/hooks/hooks.json': settings('PreToolUse', handler),
    }),
    known: keyUsesOf('manifestKeys', formOf('claude')),
  },
  'hooks.json of Agentao': {
    imports: 'dialect: agentao, file: h.json',
    files: (more: object) => ({ 'h.json': { ...more, ...settings('PreToolUse', command('cat')) } }),
    known: keyUsesOf('fileKeys', formOf('agentao')),
  },
  'config.json of PicoClaw': {
    imports: 'dialect: picoclaw, file: c.json',
    files: (more: object) => ({ 'c.json': { ...more, hooks: { enabled: true } } }),
    known: {
      isolation: 'read',
      version: 'irrelevant',
      agents: 'irrelevant',
      bindings: 'irrelevant',
    } as KeyUses,
  },
};

describe('top-level keys of foreign files', () => {
  test('property: a key that is neither read nor irrelevant is reported with its place', () => {
    const words = [
      'modules',
      'guards',
      'policies',
      'hook',
      'module',
      'permissions',
      'interceptors',
      'filters',
    ];
    const key = fc.oneof(
      fc.constantFrom(...words),
      fc.string({ unit: fc.constantFrom(...'abcdefghijkmnopqrsuvwxyz'), minLength: 9, maxLength: 14 }),
    );
    fc.assert(
      fc.property(key, fc.constantFrom(...Object.keys(kinds)), fc.boolean(), (name, kind, mustNotDrop) => {
        const { imports, files, known } = kinds[kind as keyof typeof kinds];
        const deny = mustNotDrop ? ', on_failure: deny' : '';
        const { problems } = load(`{${imports}${deny}}`, files({ [name]: [{ run: 'x' }] }));
        const use = Object.hasOwn(known, name) ? known[name] : undefined;
        const isReported = problems.some(
          (problem) => /\.json:2:2|\.json:3:2/.test(problem) && problem.includes(name),
        );
        expect(isReported).toBe(use !== 'read' && use !== 'irrelevant' && !(isObject(use) && 'left' in use));
      }),
      { numRuns: 200 },
    );
  });

  test.each(['settings of Claude Code', 'hooks.json of a plugin', 'plugin.json of Claude Code'] as const)(
    'a hooks module in a %s is an error if guards must hold, and else a warning',
    (kind) => {
      const { imports, files } = kinds[kind];
      const file = files({ modules: ['register.ts'] });
      const [open, strict] = ['', ', on_failure: deny'].map(
        (more) => load(`{${imports}${more}}`, file).problems,
      );
      const problem = expect.stringMatching(/^warning .*modules: names a hooks module/);
      expect(open).toEqual([problem]);
      expect(strict).toEqual([
        expect.stringMatching(/^error .*modules: .*\| `on_failure: deny` is set here/),
      ]);
    },
  );

  test('a plugin with only modules is reported, and its hooks.json is read beside its manifest’s', () => {
    const manifest = { name: 'p', hooks: './more.json' };
    const more = { 'p/more.json': settings('Stop', { hooks: [command('true')] }) };
    const alone = { 'p/hooks/hooks.json': { modules: ['a.ts'] } };
    const both = load('{file: ./p}', {
      ...{ 'p/.claude-plugin/plugin.json': manifest, 'p/hooks/hooks.json': settings('PreToolUse', handler) },
      ...more,
    });
    expect(both.hooks.map((hook) => settingsOf(hook)['event'])).toEqual(['PreToolUse', 'Stop']);
    expect(load('{file: ./p, on_failure: deny}', alone).problems).toEqual([
      expect.stringMatching(/^error p\/hooks\/hooks.json:2:2 modules/),
    ]);
  });

  test.each(['Stop', 'SubagentStop', 'TaskCompleted', 'TeammateIdle'])(
    '`onFailure: block` has no effect at %s, as in Claude Code',
    (event) => {
      const file = settings(event, { hooks: [command('cat', { onFailure: 'block' })] });
      const { hooks, problems } = load('{dialect: claude, file: s.json}', { 's.json': file });
      expect(hooks.map(({ onFailure }) => onFailure)).toEqual([undefined]);
      expect(problems).toEqual([expect.stringMatching(/^warning .*onFailure: has no effect at/)]);
    },
  );
});

describe('a settings file of Claude Code', () => {
  test('imports hooks that start in the project, in the order of the file', () => {
    const file = settings(
      'PreToolUse',
      group(command('cat', { timeout: 1.5, onFailure: 'block', statusMessage: 's', once: true })),
      {
        hooks: [
          command('sh', { args: ['-c', 'x'] }),
          { type: 'http', url: 'http://x', headers: { A: '$T' }, allowedEnvVars: ['T'] },
        ],
      },
    );
    const { hooks, folder, problems, open } = load(
      '{dialect: claude, file: .claude/settings.json, env: [T]}',
      {
        '.claude/settings.json': file,
      },
    );
    const at = (line: number) => ({
      file: join(folder, '.claude/settings.json'),
      line,
      column: expect.any(Number),
    });
    const exec = { args: [], runtime: 'exec', env: ['T'], dialect: 'claude', cwd: folder };
    const shared = { event: 'PreToolUse', isAsync: false, stopCap: 8, projectDir: folder };
    expect(hooks).toEqual([
      {
        name: 'PreToolUse-1',
        fileIndex: 0,
        onFailure: 'deny',
        dialect: 'claude',
        source: at(7),
        exec: { ...exec, command: 'cat', timeoutMs: 1500, position: at(9) },
        settings: { ...shared, matcher: 'Bash', shell: 'sh' },
      },
      {
        name: 'PreToolUse-2',
        fileIndex: 1,
        dialect: 'claude',
        source: at(19),
        exec: { ...exec, command: 'sh', args: ['-c', 'x'], position: at(21) },
        settings: shared,
      },
      {
        name: 'PreToolUse-3',
        fileIndex: 2,
        dialect: 'claude',
        source: at(27),
        settings: {
          ...shared,
          http: { url: 'http://x', headers: { A: '$T' }, allowedEnvVars: ['T'], env: ['T'] },
        },
      },
    ]);
    expect({ problems, open }).toEqual({ problems: [], open: 2 });
  });

  const refused = 'asks a model to judge, which Signalbox does not do; use a command or http handler';
  test.each([
    {
      handler: { type: 'prompt', prompt: 'x' },
      error: `hooks.Stop[0].hooks[0]: hook type 'prompt' ${refused} | Or set \`prompt_provider\` beside \`dialect: claude\` of the import, so that a declared provider judges.`,
    },
    { handler: { type: 'agent' }, error: `hooks.Stop[0].hooks[0]: hook type 'agent' ${refused}` },
    { handler: { type: 'mcp_tool' }, error: `hooks.Stop[0].hooks[0]: hook type 'mcp_tool' ${refused}` },
    {
      handler: { type: 'odd' },
      error: "hooks.Stop[0].hooks[0]: hook type 'odd' is not known; use a command or http handler",
    },
    { handler: {}, error: 'hooks.Stop[0].hooks[0].type: is required' },
    {
      handler: 'x',
      error: 'hooks.Stop[0].hooks[0]: must be a mapping, not the string "x"',
    },
    { handler: { type: 'command' }, error: 'hooks.Stop[0].hooks[0].command: is required' },
    { handler: { type: 'http' }, error: 'hooks.Stop[0].hooks[0].url: is required' },
    {
      handler: command('cat', { onFailure: 'deny' }),
      error: 'hooks.Stop[0].hooks[0].onFailure: must be one of: block, continue (got: deny)',
    },
    {
      handler: command('x ${user_config.A}'),
      error:
        'hooks.Stop[0].hooks[0].command: ${user_config.…} is not replaced in a shell line | Write $CLAUDE_PLUGIN_OPTION_<KEY>, or use the exec form with `args`.',
    },
    {
      handler: command('python3 gone.py'),
      error:
        'hooks.Stop[0].hooks[0].command: gone.py does not exist | Without it the hook would block everything, or let everything pass. Paths start at the project’s folder.',
    },
    {
      handler: command('"${CLAUDE_PROJECT_DIR}"/gone.sh'),
      error:
        'hooks.Stop[0].hooks[0].command: gone.sh does not exist | Without it the hook would block everything, or let everything pass. Paths start at the project’s folder.',
    },
  ])('is refused for $error', ({ handler, error }) => {
    const { config, problems } = load('{file: s.json}', { 's.json': settings('Stop', { hooks: [handler] }) });
    expect({ config, problems: problems.map((each) => each.replace(/^error s\.json:\d+:\d+ /, '')) }).toEqual(
      {
        config: undefined,
        problems: [error],
      },
    );
  });

  test.each([
    {
      title: 'an unknown event',
      file: settings('PreToolUSe', group(command('cat'))),
      warning:
        'warning s.json:3:3 hooks.PreToolUSe: there is no event PreToolUSe; its handlers never run | did you mean `PreToolUse`?',
    },
    {
      title: 'disableAllHooks',
      file: { disableAllHooks: true, ...settings('Stop', group({ type: 'prompt' })) },
      warning: 'warning s.json:2:2 disableAllHooks: is true: no hook of this file runs',
    },
    {
      title: 'no hooks',
      file: { permissions: {} },
      warning: 'warning s.json:1:1 has no `hooks`, so nothing is imported',
    },
  ])('is omitted with a warning for $title', ({ file, warning }) => {
    const { hooks, problems } = load('{dialect: claude, file: s.json}', { 's.json': file });
    expect({ hooks, problems }).toEqual({ hooks: [], problems: [warning] });
  });

  const off = { disableAllHooks: true };
  test.each([
    { title: 'a settings file with hooks', file: { ...off, ...settings('Stop', group(command('cat'))) } },
    { title: 'a settings file without hooks', file: off },
    { title: 'a file whose hooks are bare', file: { ...off, PreToolUse: [group(command('cat'))] } },
    { title: 'rules of Agentao', file: { ...off, ...settings('PreToolUse', command('cat')) } },
  ])('that disables its hooks is an error if guards must hold: $title [CC-1-11]', ({ file }) => {
    const error =
      'error s.json:2:2 disableAllHooks: is true: no hook of this file runs | `on_failure: deny` is set here, and a guard that is switched off lets calls pass.';
    const strict = load('{file: s.json, on_failure: deny}', { 's.json': file });
    const byDefault = load('{file: s.json}\ndefaults: {on_failure: deny}', { 's.json': file });
    const open = load('{file: s.json}', { 's.json': file });
    expect([strict.problems, byDefault.problems, open.problems, open.hooks]).toEqual([
      [error],
      [error],
      [error.replace('error', 'warning').replace(/ \| .*/, '')],
      [],
    ]);
  });

  test.each([
    {
      more: { asyncRewake: true },
      warning:
        'warning s.json:9:7 hooks.Stop[0].hooks[0].asyncRewake: is read as `async`: an idle model is not woken',
      isAsync: true,
      timeoutMs: undefined,
    },
    {
      more: { timeout: 0 },
      warning:
        'warning s.json:9:18 hooks.Stop[0].hooks[0].timeout: is not a number of seconds above 0; the default applies',
      isAsync: false,
      timeoutMs: undefined,
    },
    {
      more: { if: 'Bash' },
      warning: 'warning s.json:9:13 hooks.Stop[0].hooks[0].if: a handler with `if` never runs at Stop',
      isAsync: false,
      timeoutMs: undefined,
    },
  ])('reports $more', ({ more, warning, isAsync, timeoutMs }) => {
    const file = settings('Stop', { hooks: [command('cat', more)] });
    const { hooks, problems } = load('{file: s.json}', { 's.json': file });
    const read = hooks.map((hook) => [settingsOf(hook)['isAsync'], hook.exec?.timeoutMs]);
    expect({ read, problems }).toEqual({ read: [[isAsync, timeoutMs]], problems: [warning] });
  });

  test('a handler that two files repeat runs once, with the stricter settings; a plugin’s copy is separate', () => {
    const file = settings('Stop', { hooks: [command('cat')] });
    const { hooks } = load(
      '{file: a.json, env: [A]}\n  - {file: b.json, env: [B], on_failure: deny}\n  - {file: plug}',
      { 'a.json': file, 'b.json': file, 'plug/hooks/hooks.json': file },
    );
    expect(
      hooks.map(({ name, fileIndex, onFailure, exec }) => [name, fileIndex, onFailure, exec?.env]),
    ).toEqual([
      ['Stop-1', 0, 'deny', ['A', 'B']],
      ['Stop-2', 1, undefined, []],
    ]);
  });

  test('allowedHttpHookUrls and httpHookAllowedEnvVars are enforced', () => {
    const post = (url: string) => ({ hooks: [{ type: 'http', url, allowedEnvVars: ['A', 'B'] }] });
    const rules = { allowedHttpHookUrls: ['https://good.example/*'], httpHookAllowedEnvVars: ['A'] };
    const good = load('{file: s.json, env: [A]}', {
      's.json': { ...rules, ...settings('Stop', post('https://good.example/x')) },
    });
    const bad = load('{file: s.json}', {
      's.json': { ...rules, ...settings('Stop', post('https://good.example.evil/x')) },
    });
    expect(good.hooks.map((hook) => settingsOf(hook)['http'])).toEqual([
      expect.objectContaining({ allowedEnvVars: ['A'] }),
    ]);
    expect(bad.problems).toEqual([
      expect.stringMatching(
        /^error s\.json:\d+:\d+ hooks\.Stop\[0\]\.hooks\[0\]\.url: is not among allowedHttpHookUrls of this file$/,
      ),
    ]);
  });
});

test('a file may be indented with tabs and use any JSON escapes', () => {
  const text =
    '{\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{"hooks": [{"type":"command","command":"echo \\u00e9\\ud83d\\ude00 \\/x"}]}\n\t\t]\n\t}\n}\n';
  const { hooks, problems } = load('{file: s.json}', { 's.json': text });
  expect([hooks.map(({ exec }) => exec?.command), problems]).toEqual([['echo é😀 /x'], []]);
});

describe('hooks.json of Agentao', () => {
  test('imports rules, wrapped or bare, in a list or alone', () => {
    const rule = { type: 'command', command: 'cat', matcher: { tool_name: 'x' }, timeout: '7' };
    const bare = load('{dialect: agentao, file: hooks.json}', { 'hooks.json': { PreToolUse: rule } });
    const wrapped = load('{file: hooks.json}', { 'hooks.json': settings('PreToolUse', rule) });
    const read = ({ hooks, folder }: typeof bare) =>
      hooks.map(({ name, exec, settings: own }) => [
        name,
        exec?.command,
        exec?.timeoutMs,
        exec?.cwd === folder,
        own,
      ]);
    const settingsOf = (projectDir: string) => ({
      event: 'PreToolUse',
      matcher: { tool_name: 'x' },
      command: 'cat',
      stopReentryCap: 3,
      projectDir,
    });
    expect(read(bare)).toEqual([['PreToolUse-1', 'cat', 7000, true, settingsOf(bare.folder)]]);
    expect(read(wrapped)).toEqual([['PreToolUse-1', 'cat', 7000, true, settingsOf(wrapped.folder)]]);
  });

  const rows = [
    { event: 'Stop', entry: 5, text: "Hook entry under 'Stop' is not an object — skipped" },
    {
      event: 'Stop',
      entry: { type: 'http' },
      text: "Hook type 'http' under 'Stop' is not supported — skipped",
    },
    {
      event: 'Stop',
      entry: { type: 'mcp_tool' },
      text: "Unknown hook type 'mcp_tool' under 'Stop' — skipped",
    },
    { event: 'Stop', entry: { command: 'cat' }, text: "Unknown hook type '' under 'Stop' — skipped" },
    {
      event: 'Stop',
      entry: { type: 'prompt', prompt: 'x' },
      text: "Hook type 'prompt' is not supported for event 'Stop' — skipped. (Allowed for this event: ['command'])",
    },
    {
      event: 'Stop',
      entry: command('cat', { matcher: 'x' }),
      text: `Hook rule under 'Stop' has non-object matcher of type str; matcher must be an object like {"trigger": "manual|auto"} — rule skipped.`,
    },
    {
      event: 'Stop',
      entry: command('cat', { matcher: [] }),
      text: `Hook rule under 'Stop' has non-object matcher of type list; matcher must be an object like {"trigger": "manual|auto"} — rule skipped.`,
    },
    {
      event: 'PreToolUse',
      entry: { type: 'command' },
      text: "Hook rule under 'PreToolUse' has no command — rule skipped",
    },
  ];

  test.each(rows)('skips a rule with a warning: $text', ({ event, entry, text }) => {
    const { hooks, problems } = load('{dialect: agentao, file: h.json}', {
      'h.json': settings(event, entry),
    });
    expect({ hooks, problems }).toEqual({
      hooks: [],
      problems: [`warning h.json:4:4 hooks.${event}[0]: ${text}`],
    });
  });

  test('names an unknown event', () => {
    const { problems } = load('{dialect: agentao, file: h.json}', {
      'h.json': settings('Setup', command('cat')),
    });
    expect(problems).toEqual(["warning h.json:3:3 hooks.Setup: Unsupported hook event 'Setup' — skipped"]);
  });

  test.each([
    { timeout: 1.9, timeoutMs: 1000, problems: [] },
    {
      timeout: 0,
      timeoutMs: undefined,
      problems: [
        "warning h.json:7:16 hooks.Stop[0].timeout: Invalid timeout value '0' under 'Stop' — using default 60s",
      ],
    },
    {
      timeout: 'soon',
      timeoutMs: undefined,
      problems: [
        "warning h.json:7:16 hooks.Stop[0].timeout: Invalid timeout value 'soon' under 'Stop' — using default 60s",
      ],
    },
  ])('reads timeout $timeout as Python would', ({ timeout, timeoutMs, problems }) => {
    const read = load('{file: h.json}', { 'h.json': settings('Stop', command('cat', { timeout })) });
    expect([read.hooks.map(({ exec }) => exec?.timeoutMs), read.problems]).toEqual([[timeoutMs], problems]);
  });

  test.each([
    { event: 'PreToolUse', severity: 'error', loads: false },
    { event: 'UserPromptSubmit', severity: 'error', loads: false },
    { event: 'Stop', severity: 'warning', loads: true },
  ])('a skipped $event rule is an $severity under on_failure: deny', ({ event, severity, loads }) => {
    const { config, problems } = load('{file: h.json, on_failure: deny}', {
      'h.json': settings(event, { type: 'http' }),
    });
    expect({ loads: config !== undefined, severities: problems.map((each) => each.split(' ')[0]) }).toEqual({
      loads,
      severities: [severity],
    });
  });
});

describe('the system of an entry', () => {
  const mixed = { hooks: { Stop: [{ hooks: [command('cat')] }, command('sh')] } };
  test('is detected for each file without a dialect', () => {
    const { hooks } = load('{file: h.json}', { 'h.json': mixed });
    expect(hooks.map(({ name, dialect }) => [name, dialect])).toEqual([
      ['Stop-1', 'claude'],
      ['Stop-2', 'agentao'],
    ]);
  });

  const hint = 'Remove `dialect` from the import, so that each entry goes to the system whose form it has.';
  const formless =
    'is neither a Claude Code group nor an Agentao rule | A group is {"matcher": "Bash", "hooks": [{"type": "command", "command": "…"}]}, a rule {"type": "command", "command": "…"}.';
  test.each([
    {
      dialect: 'dialect: claude, ',
      file: mixed,
      error: `hooks.Stop[1]: is an Agentao rule, but the import says dialect: claude | ${hint}`,
    },
    {
      dialect: 'dialect: agentao, ',
      file: mixed,
      error: `hooks.Stop[0]: is a Claude Code group, but the import says dialect: agentao | ${hint}`,
    },
    { dialect: '', file: settings('Stop', {}), error: `hooks.Stop[0]: ${formless}` },
    {
      dialect: '',
      file: settings('Stop', { type: 'command', command: 'cat', hooks: [] }),
      error: `hooks.Stop[0]: ${formless}`,
    },
    { dialect: 'dialect: claude, ', file: settings('Stop', 5), error: `hooks.Stop[0]: ${formless}` },
    { dialect: '', file: { hooks: [] }, error: 'hooks: hooks must be a JSON object' },
    { dialect: '', file: '[]', error: 'hooks must be a JSON object' },
  ])('$error', ({ dialect, file, error }) => {
    const { config, problems } = load(`{${dialect}file: h.json}`, { 'h.json': file });
    expect({ config, problems: problems.map((each) => each.replace(/^error h\.json:\d+:\d+ /, '')) }).toEqual(
      { config: undefined, problems: [error] },
    );
  });
});

describe('unreadable files, and plugins', () => {
  test.each([
    {
      imports: '{file: gone.json}',
      files: {},
      error:
        'error runtime.yaml:5:14 imports[0].file: Hooks file not found: gone.json | The path is relative to the config file’s folder.',
    },
    {
      imports: '{file: bad.json}',
      files: { 'bad.json': '{"hooks": {' },
      error: /^error bad\.json:\d+:\d+ Could not parse hooks file bad\.json: /,
    },
    {
      imports: '{file: plug}',
      files: { 'plug/x': '' },
      error:
        'error runtime.yaml:5:14 imports[0].file: Hooks file not found: plug/hooks/hooks.json | The path is relative to the config file’s folder.',
    },
    {
      imports: '{file: plug}',
      files: { 'plug/plugin.json': '{}' },
      error:
        'error runtime.yaml:5:14 imports[0].file: plug/plugin.json: name is required | The path is relative to the config file’s folder.',
    },
    {
      imports: '{dialect: chibi, plugins_dir: gone}',
      files: {},
      error:
        'error runtime.yaml:5:37 imports[0].plugins_dir: gone is not a folder | The path is relative to the config file’s folder.',
    },
    { imports: '{dialect: chibi, file: x}', files: {}, error: /cannot be combined with `dialect: chibi`/ },
    { imports: '{dialect: claude, plugins_dir: x}', files: {}, error: /needs `dialect: chibi`/ },
    {
      imports: '{dialect: claude, file: h.json, picoclaw: {}}',
      files: { 'h.json': {} },
      error: /needs `dialect: picoclaw`/,
    },
  ])('$imports with $files is an error', ({ imports, files, error }) => {
    const { config, problems } = load(imports, files);
    const errors = problems.filter((each) => each.startsWith('error') && !each.includes('required'));
    const named = problems.filter((each) => each.includes('name is required'));
    expect({ config, first: [...errors, ...named][0] }).toEqual({
      config: undefined,
      first: typeof error === 'string' ? error : expect.stringMatching(error),
    });
  });

  test('a plugin’s hooks may be a path, an object or a list of both', () => {
    const { hooks, folder } = load('{file: .claude/plugins/p}', {
      '.claude/plugins/p/.claude-plugin/plugin.json': {
        name: 'p',
        hooks: ['./more.json', settings('Stop', { hooks: [command('sh')] })],
      },
      '.claude/plugins/p/more.json': settings('Stop', { hooks: [command('cat')] }),
    });
    const root = join(folder, '.claude/plugins/p');
    expect(
      hooks.map((hook) => {
        const { projectDir, pluginRoot, pluginData } = settingsOf(hook);
        return [hook.name, hook.exec?.command, [projectDir, pluginRoot, pluginData]];
      }),
    ).toEqual([
      ['Stop-1', 'cat', [folder, root, join(folder, '.signalbox/plugins/p')]],
      ['Stop-2', 'sh', [folder, root, join(folder, '.signalbox/plugins/p')]],
    ]);
  });

  test('imported hooks come after those of the file, and take free names', () => {
    const { config } = load(
      '{dialect: chibi, plugins_dir: plugins, env: [K], timeout_ms: 9}\n  - {file: h.json}',
      { 'plugins/x': '', 'h.json': settings('Stop', command('cat')) },
      '\nhooks:\n  Stop-1: {command: sh, hook: tool}',
    );
    expect([config?.imports, config?.foreign.map(({ name, fileIndex }) => [name, fileIndex])]).toEqual([
      [
        {
          dialect: 'chibi',
          fileIndex: 1,
          pluginsDir: join(config?.folder ?? '', 'plugins'),
          env: ['K'],
          timeoutMs: 9,
          position: expect.anything(),
        },
      ],
      [['Stop-2', 2]],
    ]);
  });
});

describe('config.json of PicoClaw', () => {
  const processes = {
    late: { enabled: true, command: ['sh', '-c', 'x'], observe: ['all'], priority: 5 },
    off: { command: [] },
    b: {
      enabled: true,
      command: ['./gate'],
      dir: 'd',
      env: { A: '1' },
      intercept: ['approve_tool', 'before_llm'],
    },
    a: { enabled: true, transport: 'stdio', command: ['sh'], intercept: ['before_tool'] },
  };
  const file = {
    hooks: {
      defaults: { approval_timeout_ms: 9, observer_timeout_ms: 0 },
      builtins: { x: { enabled: false } },
      processes,
    },
  };

  test('imports its enabled processes by priority, then name', () => {
    const { hooks, folder, problems } = load(
      '{dialect: picoclaw, file: c/config.json, env: [E], picoclaw: {version: head}}',
      { 'c/config.json': file },
    );
    const dir = join(folder, 'c');
    expect(
      hooks.map(({ name, exec, settings: own }) => [
        name,
        exec?.command,
        exec?.args,
        exec?.cwd,
        exec?.env,
        exec?.runtime,
        own,
      ]),
    ).toEqual(
      [
        ['a', 'sh', [], dir, ['E'], ['before_tool'], []],
        ['b', join(dir, 'd/gate'), [], join(dir, 'd'), ['E', 'A=1'], ['before_llm', 'approve_tool'], []],
        ['late', 'sh', ['-c', 'x'], dir, ['E'], [], ['all']],
      ].map(([name, program, args, cwd, env, intercept, observe]) => [
        name,
        program,
        args,
        cwd,
        env,
        'server',
        {
          version: 'head',
          eventKind: 'number',
          isLenient: false,
          helloTimeoutMs: 5000,
          intercept,
          observe,
          interceptorTimeoutMs: 5000,
          approvalTimeoutMs: 9,
          observerTimeoutMs: 500,
        },
      ]),
    );
    expect(problems).toEqual([
      expect.stringMatching(
        /^warning c\/config\.json:\d+:\d+ hooks\.defaults\.observer_timeout_ms: is not a number of milliseconds above 0; the default, 500, applies$/,
      ),
      'note runtime.yaml:5:33 imports[0].file: its processes have a closed environment, but PicoClaw gives them all variables of the host | Name what else they need in `env`.',
    ]);
  });

  const one = (more: object) => ({
    hooks: { processes: { p: { enabled: true, command: ['sh'], intercept: ['before_llm'], ...more } } },
  });
  test.each([
    {
      file: { isolation: { enabled: true }, ...one({}) },
      error:
        'isolation.enabled: processes would run with less isolation than this asks for | Set it to false, or remove these hooks.',
    },
    {
      file: { hooks: { builtins: { x: {} } } },
      error:
        'hooks.builtins.x: is compiled into PicoClaw and cannot run here | Set `enabled: false`, and use a process instead.',
    },
    { file: one({ transport: 'http' }), error: 'hooks.processes.p.transport: must be stdio (got: http)' },
    { file: one({ command: [] }), error: 'hooks.processes.p.command: must be a list with a program' },
    {
      file: one({ intercept: ['before_lm'] }),
      error: 'hooks.processes.p.intercept[0]: is unknown (got: before_lm) | did you mean `before_llm`?',
    },
    { file: one({ observe: ['turn'] }), error: 'hooks.processes.p.observe[0]: is unknown (got: turn)' },
    { file: one({ intercept: [] }), error: 'hooks.processes.p: has neither intercept nor observe' },
    { file: one({ intercept: [''] }), error: 'hooks.processes.p: has neither intercept nor observe' },
    {
      file: one({ enabled: 'true' }),
      error: 'hooks.processes.p.enabled: must be true or false (got: "true")',
    },
    { file: one({ priority: '5' }), error: 'hooks.processes.p.priority: must be a whole number (got: "5")' },
    { file: one({ dir: 5 }), error: 'hooks.processes.p.dir: must be a string (got: 5)' },
    { file: one({ transport: 5 }), error: 'hooks.processes.p.transport: must be a string (got: 5)' },
    {
      file: { hooks: { ...one({}).hooks, enabled: 'false' } },
      error: 'hooks.enabled: must be true or false (got: "false")',
    },
    {
      file: { hooks: { ...one({}).hooks, defaults: { approval_timeout_ms: '9' } } },
      error: 'hooks.defaults.approval_timeout_ms: must be a whole number (got: "9")',
    },
    {
      file: { isolation: { enabled: 'true' }, ...one({}) },
      error: 'isolation.enabled: must be true or false (got: "true")',
    },
    { file: { hooks: { processes: [one({})] } }, error: 'hooks.processes: must be a mapping' },
    { file: { hooks: { processes: { p: [] } } }, error: 'hooks.processes.p: must be a mapping' },
    ...[
      { file: { Hooks: one({}).hooks }, at: 'Hooks', meant: 'hooks' },
      { file: { hooks: { Processes: one({}).hooks.processes } }, at: 'hooks.Processes', meant: 'processes' },
      { file: { hooks: { process: {} } }, at: 'hooks.process', meant: 'processes' },
      {
        file: { hooks: { processes: { p: { Enabled: true } } } },
        at: 'hooks.processes.p.Enabled',
        meant: 'enabled',
      },
      { file: one({ intercepts: [] }), at: 'hooks.processes.p.intercepts', meant: 'intercept' },
      {
        file: { hooks: { defaults: { approvalTimeoutMs: 9 } } },
        at: 'hooks.defaults.approvalTimeoutMs',
        meant: 'approval_timeout_ms',
      },
    ].map(({ file: given, at, meant }) => ({
      file: given,
      error: `${at}: is unknown | did you mean \`${meant}\`?`,
    })),
  ])('is refused for $error', ({ file: given, error }) => {
    const { config, problems } = load('{dialect: picoclaw, file: c.json}', { 'c.json': given });
    expect({
      config,
      problems: problems
        .filter((each) => each.startsWith('error'))
        .map((each) => each.replace(/^error c\.json:\d+:\d+ /, '')),
    }).toEqual({ config: undefined, problems: [error] });
  });

  test('reports unknown keys', () => {
    const { hooks, problems } = load('{dialect: picoclaw, file: c.json}', {
      'c.json': {
        agents: {},
        hooks: { hidden: 1, processes: { p: { ...one({}).hooks.processes.p, timeout_ms: 5, dir: null } } },
      },
    });
    expect([hooks.length, problems.filter((each) => each.startsWith('warning'))]).toEqual([
      1,
      [
        expect.stringMatching(/^warning c\.json:\d+:\d+ hooks\.hidden: is unknown and ignored$/),
        expect.stringMatching(/ hooks\.processes\.p\.timeout_ms: is unknown and ignored$/),
      ],
    ]);
  });

  test('a file whose processes are misspelt is still detected as PicoClaw’s', () => {
    const { config, problems } = load('{file: c.json}', { 'c.json': { hooks: { Processes: {} } } });
    expect([config, problems.filter((each) => each.startsWith('error')).length]).toEqual([undefined, 1]);
  });

  test('a process with the name of an existing hook is an error', () => {
    const { config, problems } = load(
      '{dialect: picoclaw, file: c.json}',
      { 'c.json': one({}) },
      '\nhooks:\n  p: {command: sh, hook: tool}',
    );
    expect([config, problems.filter((each) => each.startsWith('error'))]).toEqual([
      undefined,
      [
        'error runtime.yaml:5:33 imports[0].file: its process p has the name of another hook | Rename one of the two.',
      ],
    ]);
  });

  test('enabled: false disables all of them, with a report', () => {
    const { hooks, problems } = load('{dialect: picoclaw, file: c.json}', {
      'c.json': { hooks: { enabled: false, builtins: { x: {} } } },
    });
    expect({ hooks, problems: problems.length }).toEqual({ hooks: [], problems: 1 });
  });

  test('enabled: false is an error if guards must hold [PC-2-32]', () => {
    const { config, problems } = load('{dialect: picoclaw, file: c.json, on_failure: deny}', {
      'c.json': { hooks: { ...one({}).hooks, enabled: false } },
    });
    expect([config, problems]).toEqual([
      undefined,
      [
        'error c.json:14:3 hooks.enabled: is false: no hook of this file runs | `on_failure: deny` is set here, and a guard that is switched off lets calls pass.',
      ],
    ]);
  });

  test('an empty name in `intercept` is skipped [PC-2-33]', () => {
    const { hooks } = load('{dialect: picoclaw, file: c.json}', {
      'c.json': one({ intercept: ['', 'before_tool', ''] }),
    });
    expect(hooks.map((hook) => settingsOf(hook)['intercept'])).toEqual([['before_tool']]);
  });
});

test.each([
  { dialect: '', message: "Unsupported hook event 'preToolUse' — skipped" },
  { dialect: 'dialect: agentao, ', message: "Unsupported hook event 'preToolUse' — skipped" },
  { dialect: 'dialect: claude, ', message: 'there is no event preToolUse; its handlers never run' },
])('a misspelt event is reported with the nearest one: {$dialect…}', ({ dialect, message }) => {
  const { problems } = load(`{${dialect}file: h.json}`, {
    'h.json': settings('preToolUse', group(command('true'))),
  });
  expect(problems).toEqual([
    `warning h.json:3:3 hooks.preToolUse: ${message} | did you mean \`PreToolUse\`?`,
  ]);
});
