import { expect, test } from 'vitest';
import { config, fixture, folderOf, pipeline, run, runShown, suite } from './command-line.ts';

// Titles, the clipboard, links, a cleared screen, one-byte colours, a changed direction, and invisible characters.
const esc = '\u001b';
const evil = `x${esc}]0;t\u0007${esc}]52;c;aGk=${esc}\\${esc}]8;;http://a\u0007${esc}[2J${esc}[1A\u009b8m\r\u202ey\u2066\u200b`;
const quoted = JSON.stringify(evil);
const prints = (reply: object) =>
  `{command: ${fixture('prints.sh')}, args: [${JSON.stringify(JSON.stringify(reply))}]}`;

const spec = `
tools:
  good: {description: ${quoted}, input_schema: {type: object}, exec: ${prints({ result: evil })}}
  bad: {description: d, input_schema: {type: object}, exec: ${prints({ error: evil })}}
  asks: {description: d, input_schema: {type: object}, approval: {when: "\${true}"}, exec: ${prints({ result: evil })}}
evals:
  scored: ${prints({ score: 0.5, detail: evil })}
hooks:
  denies: {hook: tool, phases: [after_execution], match: {tools: [asks]}, command: ${fixture('prints.sh')}, args: [${JSON.stringify(JSON.stringify({ allow: false, reason: evil }))}]}
  watches: {hook: tool, mode: observe, command: ${fixture('prints.sh')}, args: [${quoted}]}
gateway: {models: {m: {provider: main, model: scripted}}}
providers: [{id: main, type: mock, model: scripted, additional_config: {responses: [{text: ${quoted}}]}}]
state_store: {type: sqlite, path: state.db}
`.trim();

const folder = folderOf({
  'runtime.yaml': config(spec),
  'broken.yaml': `${config('tools: {}')}\n${quoted}: 1\n`,
  [`evil${esc}[2J.yaml`]: 'kind: 1\n',
  'p.pipeline.yaml': pipeline(
    `runtime: ./runtime.yaml\nsteps:\n  - {id: a, tool: good, args: {}}\n  - {id: c, chat: {provider: main, messages: [{role: user, content: ${quoted}}]}}\n  - {id: b, tool: bad, args: {}}\noutput: {}`,
  ),
  'w.pipeline.yaml': pipeline(
    `runtime: ./runtime.yaml\nsteps:\n  - {id: a, tool: asks, args: {text: ${quoted}}}\noutput: {text: "\${steps.a.result}"}`,
  ),
  's.suite.yaml': suite(
    `runtime: ./runtime.yaml\ncases: [{id: ${quoted}, content: ${quoted}}]\ncase: {id: "\${case.id}", content: "\${case.content}", tags: ["\${case.id}"]}\nevals: [{id: e, type: scored, threshold: {min_score: 1}}]`,
  ),
  'settings.json': JSON.stringify({
    hooks: { [evil]: [], PreToolUse: [{ matcher: evil, hooks: [{ type: 'command', command: evil }] }] },
  }),
});

/** Characters that a terminal obeys or displays differently, except line ends and our own styles. */
const obeyed =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /(?!\u001b\[(?:1|2|22|31|32|33|36|39)m)[\0-\x09\x0b\x0c\x0e-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]|\r(?!\n)/;

const denied = { request: { name: 'asks' }, response: {} };
const event = JSON.stringify({ request: { name: 'good', args: {}, call_id: evil } });

/** The screen of a terminal, and stderr. */
async function showOn(args: readonly string[]): Promise<string> {
  const { screen, stderr } = await runShown(args, { cwd: folder, terminal: 'stdout' });
  return screen + stderr;
}

/** Piped output of a tool or a hook, which people read too. */
const piped: readonly (readonly string[])[] = [
  ['tool', 'list'],
  ['tool', 'call', 'bad'],
  ['eval', 'call', 'scored', '--content', 'x'],
  ['hook', 'fire', '--hook', 'tool', '--phase', 'after_execution', '--event', JSON.stringify(denied)],
];

test.each(piped)('in a pipe %s %s escapes control characters', async (...args) => {
  const { stdout, stderr } = await run(args, { cwd: folder });
  expect(stdout + stderr).not.toMatch(obeyed);
  expect(stdout + stderr).toContain(String.raw`\u001b]0;t\u0007`);
});

test('a result in a pipe is unchanged', async () => {
  expect((await run('tool call good', { cwd: folder })).stdout).toBe(`${evil}\n`);
});

/** In order: later commands show what earlier ones left. */
const commands: readonly (readonly string[])[] = [
  ['tool', 'list'],
  ['tool', 'call', 'good'],
  ['tool', 'call', 'good', '--json'],
  ['tool', 'call', 'bad'],
  ['tool', 'call', evil],
  ['tool', 'call', 'good', '--args', evil],
  ['tool', 'call', 'good', '--args', `@${evil}`],
  ['tool', 'call', 'asks'],
  ['eval', 'call', 'scored', '--content', evil],
  ['eval', 'call', evil, '--content', evil],
  ['eval', 'run', 's.suite.yaml'],
  ['eval', 'run', 's.suite.yaml', '--reporter', 'markdown'],
  ['eval', 'run', 's.suite.yaml', '--filter', evil],
  ['eval', 'list'],
  ['eval', 'show'],
  ['eval', 'show', '--case', evil],
  ['eval', 'show', evil],
  ['hook', 'fire', '--hook', 'tool', '--phase', 'before_execution', '--event', event],
  ['hook', 'fire', '--dialect', 'chibi', '--point', evil, '--event', '{}'],
  ['hooks', 'list'],
  ['hooks', 'import', 'settings.json'],
  ['run', 'p.pipeline.yaml'],
  ['run', 'w.pipeline.yaml'],
  ['run', evil],
  ['runs', 'list'],
  ['runs', 'show', evil],
  ['pending', 'list'],
  ['pending', 'show', evil],
  ['keys', 'create', evil],
  ['keys', 'create', 'team', '--models', evil],
  ['keys', 'list'],
  ['keys', 'show', 'team'],
  ['keys', 'show', evil],
  ['keys', 'revoke', 'team'],
  ['audit', 'list', '--database', evil],
  ['audit', 'show', evil],
  ['validate', 'broken.yaml'],
  ['validate', `evil${esc}[2J.yaml`],
  ['validate', 's.suite.yaml', 'p.pipeline.yaml', evil],
  ['--config', evil, 'tool', 'list'],
  [evil],
  ['tool', 'list', `--${evil}`],
];

test('the terminal executes no foreign control sequence, whatever the command and failure', {
  timeout: 240_000,
}, async () => {
  const obeying: string[] = [];
  let shown = '';
  for (const args of commands) {
    const text = await showOn(args);
    const at = text.search(obeyed);
    if (at !== -1) obeying.push(JSON.stringify([args, text.slice(Math.max(0, at - 40), at + 40)]));
    shown += text;
  }
  expect(obeying).toEqual([]);
  expect(shown.split(String.raw`\u001b]0;t\u0007`).length).toBeGreaterThan(20);
});

test('leftovers of a run are shown without control characters', async () => {
  const list = async (what: string, key: string) => {
    const { stdout } = await runShown([what, 'list', '--json'], { cwd: folder });
    const ids: string[] = JSON.parse(stdout)[key].map(
      (each: Readonly<Record<string, string>>) => each['id'] ?? each['run_id'],
    );
    return ids.filter((id) => id !== undefined);
  };
  const shows = [
    ...(await list('pending', 'pending')).map((id) => ['pending', 'show', id]),
    ...(await list('runs', 'runs')).map((id) => ['runs', 'show', id]),
  ];
  expect(shows.length).toBeGreaterThan(2);
  for (const args of shows) {
    expect(await showOn(args)).not.toMatch(obeyed);
  }
});
