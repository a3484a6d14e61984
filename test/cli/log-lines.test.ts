import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { callOnTerminal, fixture, run, workspace } from './command-line.ts';

const esc = '\u001b';
const evil = `${esc}]0;owned\u0007${esc}[2J${esc}[90mgrey`;
const says = (reply: object) =>
  `{command: ${fixture('prints.sh')}, args: [${JSON.stringify(JSON.stringify(reply))}]`;
const spec = (reason: string) => `tools:
  pay: {description: Pays, input_schema: {type: object}, exec: ${says({ result: 1 })}}}
hooks:
  no: ${says({ allow: false, reason, metadata: { rule: reason } })}, hook: tool, phases: [before_execution]}
`;

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'silent'] as const;

test.each(levels)('a terminal shows our colours, and no foreign escape sequence, at %s', async (level) => {
  const { ran, screen } = await callOnTerminal(['--log-level', level, 'tool', 'call', 'pay'], {
    cwd: workspace(spec(evil)),
  });
  await ran;
  const plain = stripVTControlCharacters(screen()).replaceAll('\r', '');
  expect(screen().includes(esc)).toBe(['trace', 'debug', 'info'].includes(level));
  expect(plain.replaceAll('[90mgrey', '')).not.toContain('[90m');
  expect(plain.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
});

const event = JSON.stringify({
  ...{ session_id: 's', transcript_path: '/tmp/t', cwd: '/tmp', hook_event_name: 'PreToolUse' },
  ...{ tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'toolu_1' },
});

test.each(levels)('a denial on stderr is only its reason, at %s', async (level) => {
  const cwd = workspace(spec('not today'));
  const ran = await run(['--log-level', level, 'hook', 'claude'], { cwd, stdin: event });
  expect(ran).toMatchObject({ code: 2, stderr: '"no": not today\n' });
});

test('the log of an allowed event goes to stderr', async () => {
  const cwd = workspace(spec('not today').replace('before_execution', 'after_execution'));
  const ran = await run('--log-level debug hook claude', { cwd, stdin: event });
  expect(ran).toMatchObject({ code: 0, stderr: '' });
});

const shapes = {
  text: /^\[\d\d:\d\d:\d\d\.\d{3}\] INFO: hook no: deny: not today/m,
  json: /^\{"level":30,/m,
};

test.each([
  { title: 'text in a pipe', args: [], yaml: '', shape: shapes.text },
  {
    title: 'JSON where the option asks for it',
    args: ['--log-format', 'json'],
    yaml: '',
    shape: shapes.json,
  },
  {
    title: 'JSON where the config asks for it',
    args: [],
    yaml: 'logging: {format: json}\n',
    shape: shapes.json,
  },
  {
    title: 'what the option says rather than the config',
    args: ['--log-format', 'text'],
    yaml: 'logging: {format: json}\n',
    shape: shapes.text,
  },
])('a one-shot command logs $title', async ({ args, yaml, shape }) => {
  const cwd = workspace(yaml + spec('not today'));
  const { stderr } = await run([...args, 'tool', 'call', 'pay', '--json'], { cwd });
  expect(stderr).toMatch(shape);
});
