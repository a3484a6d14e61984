import { join } from 'node:path';
import { expect, test } from 'vitest';
import { isObject } from '../../../src/base/json/json.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { newProject, runtimeYaml } from '../project.ts';

/** The hooks that a config imports, one line each, and all problems with their places. */
function load(imports: string, files: Readonly<Record<string, unknown>>) {
  const texts = Object.entries(files).map(([name, content]) => [
    name,
    typeof content === 'string' ? content : JSON.stringify(content, null, 1),
  ]);
  const folder = newProject({
    'runtime.yaml': runtimeYaml(imports === '' ? 'defaults: {}' : `imports:\n  - ${imports}`),
    ...Object.fromEntries(texts),
  });
  const { config, problems: found } = loadConfig(join(folder, 'runtime.yaml'), process.env.PATH ?? '');
  const hooks = config?.foreign.map(({ name, dialect, settings, ...hook }) => {
    const text = 'exec' in hook ? hook.exec?.command : isObject(settings) ? (settings['prompt'] ?? '') : '';
    const timeout = 'exec' in hook && hook.exec?.timeoutMs !== undefined ? ` ${hook.exec.timeoutMs}` : '';
    return `${dialect} ${name}: ${text}${timeout}`;
  });
  // nasty.test.ts covers the warning about rules that fail open.
  const problems = found.filter(({ message }) => !message.includes('lets the event pass'));
  const told = problems.map(({ severity, file, line, column, message }) => {
    const place = `${severity} ${file.replace(`${folder}/`, '')}:${line}:${column}`;
    return `${place} ${message.replaceAll(`${folder}/`, '')}`;
  });
  const hints = problems.flatMap(({ hint }) => hint ?? []);
  return { hooks, told, hints };
}

const command = (line: string, more = {}) => ({ type: 'command', command: line, ...more });
const group = { matcher: 'Bash', hooks: [command('cat')] };

test('a file that no import names is not read [AO-1-01]', () => {
  const file = { hooks: { Stop: command('cat') } };
  const files = { 'hooks.json': file, '.agentao/plugins/x/hooks/hooks.json': file };
  expect(load('', files)).toEqual({ hooks: [], told: [], hints: [] });
});

test.each([
  { title: 'a path', hooks: './a.json', expected: ['agentao Stop-1: sh'] },
  { title: 'an object', hooks: { Stop: command('cat') }, expected: ['agentao Stop-1: cat'] },
  {
    title: 'a list of both',
    hooks: ['./a.json', { hooks: { Stop: [command('cat'), command('ls')] } }],
    expected: ['agentao Stop-1: sh', 'agentao Stop-2: cat', 'agentao Stop-3: ls'],
  },
])('the hooks of a plugin.json may be $title [AO-1-02]', ({ hooks, expected }) => {
  const files = {
    'p/plugin.json': { name: 'p', hooks },
    'p/a.json': { hooks: { Stop: command('sh') } },
    'p/hooks/hooks.json': { hooks: { Stop: command('never') } },
  };
  expect(load('{dialect: agentao, file: ./p}', files)).toEqual({ hooks: expected, told: [], hints: [] });
});

test.each([
  { title: 'without a plugin.json', files: {} },
  { title: 'whose plugin.json has no hooks', files: { 'p/plugin.json': { name: 'p' } } },
])('a plugin $title has its rules in hooks/hooks.json [AO-1-03]', ({ files }) => {
  const rules = { 'p/hooks/hooks.json': { Stop: command('cat') } };
  expect(load('{dialect: agentao, file: p}', { ...files, ...rules }).hooks).toEqual(['agentao Stop-1: cat']);
});

test.each([
  { file: 'gone.json', files: {}, fault: 'Hooks file not found: gone.json' },
  { file: 'p', files: { 'p/x': '' }, fault: 'Hooks file not found: p/hooks/hooks.json' },
  {
    file: 'p',
    files: { 'p/plugin.json': { name: 'p', hooks: './no.json' } },
    fault: 'Hooks file not found: p/no.json',
  },
])('a missing file is a config error: $fault [AO-1-04]', ({ file, files, fault }) => {
  const { hooks, told } = load(`{dialect: agentao, file: ${file}}`, files);
  expect([hooks, told]).toEqual([undefined, [`error runtime.yaml:6:32 imports[0].file: ${fault}`]]);
});

const bareRule = { PreToolUse: command('cat', { matcher: null }) };
test.each([
  { file: bareRule },
  { file: { hooks: bareRule } },
  { file: { hooks: { PreToolUse: [bareRule.PreToolUse] } } },
])('$file is one rule [AO-2-01]', ({ file }) => {
  const expected = { hooks: ['agentao PreToolUse-1: cat'], told: [], hints: [] };
  expect(load('{dialect: agentao, file: h.json}', { 'h.json': file })).toEqual(expected);
});

test.each([
  { timeout: '7', read: ' 7000', told: [] },
  { timeout: 1.9, read: ' 1000', told: [] },
  ...[0, -3, 'soon', '1.5'].map((timeout) => ({
    timeout,
    read: '',
    told: [
      `warning h.json:6:15 hooks.Stop.timeout: Invalid timeout value '${timeout}' under 'Stop' — using default 60s`,
    ],
  })),
])('timeout $timeout is read as whole seconds, or as the default [AO-2-02]', ({ timeout, read, told }) => {
  const file = { hooks: { Stop: command('cat', { timeout }) } };
  const expected = { hooks: [`agentao Stop-1: cat${read}`], told, hints: [] };
  expect(load('{file: h.json}', { 'h.json': file })).toEqual(expected);
});

test('without a dialect each entry of a file goes to the system whose form it has [AO-2-03 AO-2-05]', () => {
  const file = { hooks: { PreToolUse: [group, command('sh')], Stop: [command('ls')] } };
  expect(load('{file: h.json}', { 'h.json': file }).hooks).toEqual([
    'claude PreToolUse-1: cat',
    'agentao PreToolUse-2: sh',
    'agentao Stop-1: ls',
  ]);
});

test.each([
  { dialect: 'agentao', entry: group, what: 'is a Claude Code group, but the import says dialect: agentao' },
  {
    dialect: 'claude',
    entry: command('sh'),
    what: 'is an Agentao rule, but the import says dialect: claude',
  },
])('with dialect: $dialect an entry of the other form is an error [AO-2-05]', ({ dialect, entry, what }) => {
  const file = { hooks: { PreToolUse: [entry] } };
  expect(load(`{dialect: ${dialect}, file: h.json}`, { 'h.json': file })).toEqual({
    hooks: undefined,
    told: [`error h.json:4:4 hooks.PreToolUse[0]: ${what}`],
    hints: ['Remove `dialect` from the import, so that each entry goes to the system whose form it has.'],
  });
});

test.each([
  { title: 'neither form', entry: { command: 'cat' } },
  { title: 'both forms', entry: { ...group, ...command('cat') } },
])('an entry with $title is an error that shows the two [AO-2-04]', ({ entry }) => {
  expect(load('{file: h.json}', { 'h.json': { hooks: { PreToolUse: [entry] } } })).toEqual({
    hooks: undefined,
    told: ['error h.json:4:4 hooks.PreToolUse[0]: is neither a Claude Code group nor an Agentao rule'],
    hints: [expect.stringMatching(/"hooks": \[\{"type": "command".*a rule \{"type": "command"/)],
  });
});

const rejected = [
  { event: 'Stop', entry: 5, text: "Hook entry under 'Stop' is not an object — skipped" },
  {
    event: 'Stop',
    entry: { type: 'http' },
    text: "Hook type 'http' under 'Stop' is not supported — skipped",
  },
  {
    event: 'Stop',
    entry: { type: 'agent' },
    text: "Hook type 'agent' under 'Stop' is not supported — skipped",
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
  ...[
    ['x', 'str'],
    [[], 'list'],
    [3, 'int'],
  ].map(([matcher, type]) => ({
    event: 'PreToolUse',
    entry: command('cat', { matcher }),
    text: `Hook rule under 'PreToolUse' has non-object matcher of type ${type}; matcher must be an object like {"trigger": "manual|auto"} — rule skipped.`,
  })),
];

test.each(rejected)(
  'a rule is rejected, and the others are kept: $text [AO-2-06]',
  ({ event, entry, text }) => {
    const file = { hooks: { [event]: [entry, command('ls')] } };
    expect(load('{dialect: agentao, file: h.json}', { 'h.json': file })).toEqual({
      hooks: [`agentao ${event}-1: ls`],
      told: [`warning h.json:4:4 hooks.${event}[0]: ${text}`],
      hints: [],
    });
  },
);

test('an unknown event is skipped, and the others are kept [AO-2-06]', () => {
  const file = { hooks: { Setup: [command('cat')], Stop: [command('ls')] } };
  const { hooks, told } = load('{dialect: agentao, file: h.json}', { 'h.json': file });
  expect([hooks, told]).toEqual([
    ['agentao Stop-1: ls'],
    ["warning h.json:3:3 hooks.Setup: Unsupported hook event 'Setup' — skipped"],
  ]);
});

test.each([
  { text: '{"hooks": {', told: /^error h\.json:\d+:\d+ Could not parse hooks file h\.json: / },
  { text: '[]', told: /^error h\.json:1:1 hooks must be a JSON object$/ },
  { text: '{"hooks": []}', told: /^error h\.json:1:\d+ hooks: hooks must be a JSON object$/ },
])('a file that holds $text is an error [AO-2-07]', ({ text, told }) => {
  const read = load('{dialect: agentao, file: h.json}', { 'h.json': text });
  expect([read.hooks, read.told[0]]).toEqual([undefined, expect.stringMatching(told)]);
});

test.each([
  { event: 'PreToolUse', severity: 'error' },
  { event: 'UserPromptSubmit', severity: 'error' },
  { event: 'Stop', severity: 'warning' },
])(
  'with on_failure: deny a skipped rule at $event is reported as $severity [AO-2-08]',
  ({ event, severity }) => {
    const file = { hooks: { [event]: [command('cat', { matcher: 'x' })] } };
    const { told } = load('{dialect: agentao, file: h.json, on_failure: deny}', { 'h.json': file });
    expect(told).toEqual([
      expect.stringMatching(`^${severity} h\\.json:4:4 hooks\\.${event}\\[0\\]: Hook rule`),
    ]);
  },
);

test('other keys beside `hooks` make a file a settings file of Claude Code; without `hooks` they are events [AO-2-09]', () => {
  const beside = { permissions: { deny: ['Bash'] }, env: {}, model: 'm' };
  const settings = load('{file: h.json}', { 'h.json': { ...beside, hooks: { PreToolUse: [group] } } });
  expect([settings.hooks, settings.told]).toEqual([['claude PreToolUse-1: cat'], []]);
  const bare = load('{file: h.json}', { 'h.json': { PreToolUse: command('cat'), Later: command('cat') } });
  expect([bare.hooks, bare.told]).toEqual([
    ['agentao PreToolUse-1: cat'],
    ["warning h.json:6:2 Later: Unsupported hook event 'Later' — skipped"],
  ]);
});
