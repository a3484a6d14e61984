import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { titled } from '../cite.ts';
import { fixture, folderOf, onlyDocument, run, runBothWays, runJson, workspace } from './command-line.ts';

const empty = folderOf({});
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

const commands = [
  '',
  'init',
  'validate',
  'tool',
  'tool list',
  'tool call',
  'eval',
  'eval call',
  'eval run',
  'eval diff',
  'eval list',
  'eval show',
  'eval html',
  'eval rate',
  'eval agreement',
  'eval prune',
  'eval import',
  'cache',
  'cache clear',
  'hook',
  'hook list',
  'hook fire',
  'hook import',
  'hook export',
  'hook claude',
  'hook agentao',
  'hook chibi',
  'hook picoclaw',
  'provider',
  'provider list',
  'run',
  'pending',
  'pending list',
  'pending show',
  'pending approve',
  'pending reject',
  'pending respond',
  'pending answer',
  'runs',
  'runs list',
  'runs show',
  'runs retry',
  'runs resume',
  'runs cancel',
  'runs prune',
  'work',
];

const helps = new Map(
  await Promise.all(
    commands.map(async (command) => {
      const words = command.split(' ').filter(Boolean);
      return [command, await run([...words, '--help'], { cwd: empty })] as const;
    }),
  ),
);

test.each(commands)('`signalbox %s --help` shows usage, the options and examples', (command) => {
  const { code, stdout = '', stderr } = helps.get(command) ?? {};
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [usage] = stdout.replace(/(hook|provider)\|\1s/, '$1').split('\n');
  expect(usage).toMatch(new RegExp(`^Usage: ${`signalbox ${command}`.trim()} \\[options\\]`));
  expect(stdout).toMatch(/^ {2}-c, --config <file> /m);
  expect(stdout).toMatch(/^ {2}--json /m);
  expect(stdout).toMatch(/\nExamples:\n {2}signalbox /);
});

test('every example of every help names a command and options that exist', () => {
  const texts = [...helps.values()].map(({ stdout }) => stdout);
  const examples = texts.flatMap((text) => text.split('\n').filter((line) => /^ {2}.*signalbox /.test(line)));
  const named = examples.map(
    (line) =>
      /signalbox ((?:tool|eval|cache|hook|provider|pending|runs) \w+|init|validate|work|run)/.exec(line)?.[1],
  );
  expect(commands).toEqual(expect.arrayContaining([...new Set(named)]));
  const declared = texts.flatMap((text) => text.match(/^ {2}(?:-\w, )?--[\w-]+/gm) ?? []).map(lastWord);
  expect(declared).toEqual(
    expect.arrayContaining(examples.flatMap((line) => line.match(/(?<= )--[a-z][\w-]*/g) ?? [])),
  );
});

function lastWord(text: string): string {
  return text.split(' ').at(-1) ?? '';
}

test.concurrent.for(['--version', '-V'])(
  '%s prints the version of the package',
  async (option, { expect }) => {
    expect(await run([option], { cwd: empty })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' });
  },
);

test.concurrent('with --json, version and help are documents too [DS-CLI-02]', async ({ expect }) => {
  expect(await runJson(['--version'])).toEqual({ code: 0, document: { version }, stderr: '' });
  const help = await runJson(['eval', 'run', '--help']);
  expect(help).toEqual({
    code: 0,
    document: { help: expect.stringMatching(/^Usage: signalbox eval run /) },
    stderr: '',
  });
});

const wrongCalls = titled([
  {
    title: 'no command at all',
    cites: 'DS-CLI-12',
    args: [],
    message: 'a command is missing, or not one of those there are',
    told: /^Usage: signalbox /,
  },
  {
    title: 'a group without its command',
    cites: 'DS-CLI-12',
    args: ['tool'],
    message: 'a command is missing, or not one of those there are',
    told: /^Usage: signalbox tool /,
  },
  {
    title: 'an unknown command that resembles one',
    cites: 'DS-CLI-12',
    args: ['valdate'],
    message: "unknown command 'valdate'",
    hint: 'did you mean `validate`?',
    told: /^error: \[USAGE\] unknown command 'valdate'\nhint: did you mean `validate`\?\n/,
  },
  {
    title: 'an unknown command of a group that resembles one',
    cites: 'DS-CLI-12',
    args: ['tool', 'cal', 'x'],
    message: "unknown command 'cal'",
    hint: 'did you mean `call`?',
    told: /^error: \[USAGE\] unknown command 'cal'\nhint: did you mean `call`\?\n/,
  },
  {
    title: 'an unknown command like no other',
    cites: 'DS-CLI-12',
    args: ['frobnicate'],
    message: "unknown command 'frobnicate'",
    told: /^error: \[USAGE\] unknown command 'frobnicate'\nhint: Run `signalbox --help` to see its arguments\.\n$/,
  },
  {
    title: 'an unknown option that resembles one',
    cites: 'DS-CLI-12',
    args: ['tool', 'call', 'x', '--arg', '{}'],
    message: "unknown option '--arg'",
    hint: 'did you mean `--args`?',
    told: /^error: \[USAGE\] unknown option '--arg'\nhint: did you mean `--args`\?\n/,
  },
  {
    title: 'an unknown option before the command',
    cites: 'DS-CLI-12',
    args: ['--frob', 'tool', 'list'],
    message: "unknown option '--frob'",
    told: /^error: \[USAGE\] unknown option '--frob'\n/,
  },
  {
    title: 'an argument that is missing',
    cites: 'DS-CLI-12',
    args: ['tool', 'call'],
    message: "missing required argument 'name'",
    told: /^error: \[USAGE\] missing required argument 'name'\n/,
  },
  {
    title: 'an argument too many',
    cites: 'DS-CLI-12',
    args: ['eval', 'html', 'a.yaml', 'b.yaml'],
    message: "too many arguments for 'html'. Expected 1 argument but got 2: a.yaml, b.yaml.",
    told: /^error: \[USAGE\] too many arguments/,
  },
  {
    title: 'an option that must be there',
    cites: 'DS-CLI-12',
    args: ['eval', 'call', 'x'],
    message: "required option '--content <text>' not specified",
    told: /^error: \[USAGE\] required option '--content <text>' not specified\n/,
  },
  {
    title: 'an option without its value',
    cites: 'DS-CLI-12',
    args: ['tool', 'call', 'x', '--args'],
    message: "option '--args <json>' argument missing",
    told: /^error: \[USAGE\] option '--args <json>' argument missing\n/,
  },
  {
    title: 'a word that is none of the choices',
    hint: 'did you mean `provider`?',
    cites: 'DS-CLI-12',
    args: ['hook', 'fire', '--hook', 'providr', '--event', '{}'],
    message:
      "option '--hook <type>' argument 'providr' is invalid. Allowed choices are provider, tool, session, eval.",
    told: /^error: \[USAGE\] option '--hook <type>' argument 'providr' is invalid\./,
  },
  {
    title: 'a level that no log has',
    cites: 'DS-CLI-12',
    args: ['tool', 'list', '--log-level', 'loud'],
    message:
      "option '--log-level <level>' argument 'loud' is invalid. Allowed choices are trace, debug, info, warn, error, silent.",
    told: /^error: \[USAGE\] option '--log-level <level>' argument 'loud' is invalid\./,
  },
]);

/** Where the arguments of the command are shown that was meant. */
function usageHint(args: readonly string[]): string {
  const words = args.filter((word) => !word.startsWith('-'));
  const command = [2, 1, 0]
    .map((count) => words.slice(0, count).join(' '))
    .find((name) => commands.includes(name));
  return `Run \`${`signalbox ${command}`.trim()} --help\` to see its arguments.`;
}

test.concurrent.for(wrongCalls)('$title exits 2', async (row, { expect }) => {
  const { args, message, hint = usageHint(row.args), told } = row;
  const { code, stdout, stderr } = await run(['--json', ...args], { cwd: empty });
  const error = { code: 'USAGE', message, hint };
  expect({ code, document: onlyDocument(stdout) }).toEqual({ code: 2, document: { error } });
  expect(stderr).toMatch(told);
});

test.concurrent('without --json a wrong call prints nothing on stdout [DS-CLI-12]', async ({ expect }) => {
  expect(await run(['valdate'], { cwd: empty })).toEqual({
    code: 2,
    stdout: '',
    stderr: "error: [USAGE] unknown command 'valdate'\nhint: did you mean `validate`?\n",
  });
});

test.concurrent('a config that is not there is told by its name [DS-CLI-01 DS-CLI-12]', async ({
  expect,
}) => {
  const hint = 'Check the path; relative paths start from the current folder.';
  const start = 'Run `signalbox init` to make one here, or name it with --config FILE.';
  expect(await run(['tool', 'list'], { cwd: empty })).toEqual({
    code: 2,
    stdout: '',
    stderr: `error: [FILE_UNREADABLE] runtime.yaml does not exist\nhint: ${start}\n`,
  });
  expect(await runJson(['tool', 'list', '--config', 'other.yaml'], { cwd: empty })).toEqual({
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
    severity: 'error',
    file: 'runtime.yaml',
    line: 5,
    column: 19,
    message: 'tools[echo].exec.comand: unknown key',
    hint: 'did you mean `command`?',
  },
  {
    severity: 'error',
    file: 'runtime.yaml',
    line: 7,
    column: 51,
    message: 'hooks[guard].phases[0]: must be one of: before_call, after_call (got: before_cal)',
    hint: 'did you mean `before_call`?',
  },
];
const brokenMessage = 'runtime.yaml:5:19 tools[echo].exec.comand: unknown key (the first of 2 errors)';

test.concurrent.for([
  { args: ['tool', 'list'] },
  { args: ['hook', 'fire', '--hook', 'eval', '--event', '{"event": {"type": "x"}}'] },
])(
  'a broken config ends `$args` with every problem in its place [DS-CLI-12 DS-JSON-09]',
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

test.concurrent('a broken config is told to people as FILE:LINE:COL [DS-CLI-12]', async ({ expect }) => {
  expect(await run(['tool', 'list'], { cwd: broken })).toEqual({
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

const unknownNames = titled([
  {
    title: 'a tool',
    cites: 'DS-OUT-03 DS-CLI-12',
    args: ['tool', 'call', 'ehco'],
    message: 'there is no tool "ehco"',
    hint: 'did you mean `echo`?',
  },
  {
    title: 'an eval',
    cites: 'DS-OUT-03 DS-CLI-12',
    args: ['eval', 'call', 'scor', '--content', ''],
    message: 'there is no eval "scor"',
    hint: 'did you mean `score`?',
  },
]);

test.concurrent.for(unknownNames)('$title that is not declared exits 2', async (row, { expect }) => {
  const { args, message, hint } = row;
  expect(await runBothWays(args, { cwd: desk })).toEqual({
    people: { code: 2, stdout: '', stderr: `error: [NAME_UNKNOWN] ${message}\nhint: ${hint}\n` },
    programs: { code: 2, document: { error: { code: 'NAME_UNKNOWN', message, hint } }, stderr: '' },
  });
});
