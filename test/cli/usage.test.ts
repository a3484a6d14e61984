import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fixture, folderOf, run, runBothWays, runJson, workspace } from './command-line.ts';

const empty = folderOf({});
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** The help of every command, by name. The program's own help lists the commands. */
async function readHelps(name: string): Promise<[string, Awaited<ReturnType<typeof run>>][]> {
  const help = await run(`${name} --help`, { cwd: empty });
  const listed = /\nCommands:\n((?: .*\n)+)/.exec(help.stdout)?.[1] ?? '';
  const below = [...listed.matchAll(/^ {2}(\w[\w-]*)/gm)].map(([, word = '']) => word);
  const names = below.filter((word) => word !== 'help').map((word) => `${name} ${word}`.trim());
  return [[name, help], ...(await Promise.all(names.map(readHelps))).flat()];
}

const helps = new Map(await readHelps(''));
const commands = [...helps.keys()];

test.each(commands)('`signalbox %s --help` shows usage, the options and examples', (command) => {
  const { code, stdout = '', stderr } = helps.get(command) ?? {};
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [usage] = stdout.replace(/(hook|provider)\|\1s/, '$1').split('\n');
  expect(usage).toMatch(new RegExp(`^Usage: ${`signalbox ${command}`.trim()} \\[options\\]`));
  expect(stdout).toMatch(/^ {2}-c, --config <file> /m);
  expect(stdout).toMatch(/^ {2}--json /m);
  expect(stdout).toMatch(/\nExamples:\n {2}.*signalbox |\nCommands:\n/);
});

test('every example in every help names a command and options that exist', () => {
  const texts = [...helps.values()].map(({ stdout }) => stdout);
  const examples = texts.flatMap((text) => text.split('\n').filter((line) => /^ {2}.*signalbox /.test(line)));
  expect(commands.length).toBeGreaterThan(60);
  const named = examples.map((line) => {
    const [, one = '', two = ''] = /signalbox (?:--\S+ )*(\w+)(?: (\w[\w-]*))?/.exec(line) ?? [];
    return commands.includes(`${one} ${two}`) ? `${one} ${two}` : one;
  });
  expect(commands).toEqual(expect.arrayContaining([...new Set(named)]));
  const declared = texts
    .flatMap((text) => text.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? [])
    .map((text) => text.split(' ').at(-1) ?? '');
  expect(declared).toEqual(
    expect.arrayContaining(
      examples.flatMap((line) => (/signalbox .*/.exec(line)?.[0] ?? '').match(/(?<= )--[a-z][\w-]*/g) ?? []),
    ),
  );
});

test.concurrent.for(['--version', '-V'])(
  '%s prints the version of the package',
  async (option, { expect }) => {
    expect(await run([option], { cwd: empty })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  },
);

test.concurrent('with --json, version and help are documents too [DS-CLI-02]', async ({ expect }) => {
  expect(await runJson('--version')).toEqual({ code: 0, document: { version }, stderr: '' });
  const help = await runJson('eval run --help');
  expect(help).toEqual({
    code: 0,
    document: { help: expect.stringMatching(/^Usage: signalbox eval run /) },
    stderr: '',
  });
});

const missing = 'a command is missing or unknown';
const choices = (option: string, given: string, allowed: string) =>
  `option '${option}' argument '${given}' is invalid. Allowed choices are ${allowed}.`;

test.concurrent.for([
  { title: 'no command at all', line: '', message: missing, usage: 'signalbox ' },
  { title: 'a group without its command', line: 'tool', message: missing, usage: 'signalbox tool ' },
  {
    title: 'an unknown command that resembles one',
    line: 'valdate',
    message: "unknown command 'valdate'",
    meant: 'validate',
  },
  {
    title: 'an unknown command of a group that resembles one',
    line: 'tool cal x',
    message: "unknown command 'cal'",
    meant: 'call',
  },
  { title: 'an unknown command like no other', line: 'frobnicate', message: "unknown command 'frobnicate'" },
  {
    title: 'an unknown option that resembles one',
    line: 'tool call x --arg {}',
    message: "unknown option '--arg'",
    meant: '--args',
  },
  {
    title: 'an unknown option before the command',
    line: '--frob tool list',
    message: "unknown option '--frob'",
    of: 'tool list',
  },
  {
    title: 'an argument that is missing',
    line: 'tool call',
    message: "missing required argument 'name'",
    of: 'tool call',
  },
  {
    title: 'an argument too many',
    line: 'eval html a.yaml b.yaml',
    message: "too many arguments for 'html'. Expected 1 argument but got 2: a.yaml, b.yaml.",
    of: 'eval html',
  },
  {
    title: 'an option that must be there',
    line: 'eval call x',
    message: "required option '--content <text>' not specified",
    of: 'eval call',
  },
  {
    title: 'an option without its value',
    line: 'tool call x --args',
    message: "option '--args <json>' argument missing",
    of: 'tool call',
  },
  {
    title: 'a word that is not one of the choices',
    line: 'hook fire --hook providr --event {}',
    message: choices('--hook <type>', 'providr', 'provider, tool, session, eval'),
    meant: 'provider',
  },
  {
    title: 'a level that no log has',
    line: 'tool list --log-level loud',
    message: choices('--log-level <level>', 'loud', 'trace, debug, info, warn, error, silent'),
    of: 'tool list',
  },
])(
  '$title exits 2 [DS-CLI-12]',
  async ({ line, message, usage, meant, of = line === 'tool' ? 'tool' : '' }, { expect }) => {
    const shown = `Run \`${`signalbox ${of}`.trim()} --help\` to see its arguments.`;
    const hint = meant === undefined ? shown : `did you mean \`${meant}\`?`;
    const told = usage === undefined ? `error: [USAGE] ${message}\nhint: ${hint}\n` : `Usage: ${usage}`;
    const { code, document, stderr } = await runJson(line, { cwd: empty });
    expect({ code, document }).toEqual({ code: 2, document: { error: { code: 'USAGE', message, hint } } });
    expect(stderr.slice(0, told.length)).toBe(told);
  },
);

test.concurrent('without --json a usage error prints nothing on stdout [DS-CLI-12]', async ({ expect }) => {
  expect(await run('valdate', { cwd: empty })).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: [USAGE] unknown command 'valdate'\nhint: did you mean `validate`?\n",
  });
});

test.concurrent('a missing config is reported by its name [DS-CLI-01 DS-CLI-12]', async ({ expect }) => {
  const hint = 'Check the path; relative paths start from the current folder.';
  const start = 'Run `signalbox init` to make one here, or name it with --config FILE.';
  expect(await run('tool list', { cwd: empty })).toEqual({
    code: 2,
    stdout: '',
    stderr: `error: [FILE_UNREADABLE] runtime.yaml does not exist\nhint: ${start}\n`,
  });
  expect(await runJson('tool list --config other.yaml', { cwd: empty })).toEqual({
    code: 2,
    document: { error: { code: 'FILE_UNREADABLE', message: 'other.yaml does not exist', hint } },
    stderr: '',
  });
});

const broken = folderOf({
  'runtime.yaml': `apiVersion: signalbox/v1
kind: RuntimeConfig
spec:
  tools:
    echo: {exec: {comand: sh}}
  hooks:
    guard: {command: sh, hook: provider, phases: [before_cal]}
`,
});

const problems = [
  {
    ...{ severity: 'error', file: 'runtime.yaml', line: 5, column: 19 },
    message: 'tools[echo].exec.comand: unknown key',
    hint: 'did you mean `command`?',
  },
  {
    ...{ severity: 'error', file: 'runtime.yaml', line: 7, column: 51 },
    message: 'hooks[guard].phases[0]: must be one of: before_call, after_call (got: before_cal)',
    hint: 'did you mean `before_call`?',
  },
];
const brokenMessage = 'runtime.yaml:5:19 tools[echo].exec.comand: unknown key (the first of 2 errors)';

test.concurrent.for([
  { args: ['tool', 'list'] },
  { args: ['hook', 'fire', '--hook', 'eval', '--event', '{"event": {"type": "x"}}'] },
])(
  'a broken config ends `$args` with every problem and its place [DS-CLI-12 DS-JSON-09]',
  async ({ args }, { expect }) => {
    expect(await runJson(args, { cwd: broken })).toEqual({
      code: 2,
      document: {
        error: {
          code: 'CONFIG_INVALID',
          message: brokenMessage,
          hint: 'Run `signalbox validate` to see every problem at once.',
          problems,
        },
      },
      stderr: '',
    });
  },
);

test.concurrent('a broken config is reported as text in the form FILE:LINE:COL [DS-CLI-12]', async ({
  expect,
}) => {
  expect(await run('tool list', { cwd: broken })).toEqual({
    code: 2,
    stdout: '',
    stderr: `error: [CONFIG_INVALID] runtime.yaml has 2 problems
runtime.yaml:5:19 tools[echo].exec.comand: unknown key
    hint: did you mean \`command\`?
runtime.yaml:7:51 hooks[guard].phases[0]: must be one of: before_call, after_call (got: before_cal)
    hint: did you mean \`before_call\`?
`,
  });
});

const desk = workspace(`
tools: {echo: {exec: {command: ${fixture('echo-args')}}}}
evals: {score: {command: ${fixture('eval-score')}}}
`);

test.concurrent.for([
  ['a tool', 'tool call ehco', 'there is no tool "ehco"', 'echo'],
  ['an eval', "eval call scor --content ''", 'there is no eval "scor"', 'score'],
] as const)(
  '%s that is not declared exits 2 [DS-OUT-03 DS-CLI-12]',
  async ([, line, message, meant], { expect }) => {
    const hint = `did you mean \`${meant}\`?`;
    expect(await runBothWays(line, { cwd: desk })).toEqual({
      people: { code: 2, stdout: '', stderr: `error: [NAME_UNKNOWN] ${message}\nhint: ${hint}\n` },
      programs: { code: 2, document: { error: { code: 'NAME_UNKNOWN', message, hint } }, stderr: '' },
    });
  },
);
