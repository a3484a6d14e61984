import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { newProject, runtimeYaml } from '../../dialects/project.ts';
import type { GroupResult } from '../group.ts';

const main = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));

/** The reason why the built program cannot be tested, or undefined. */
export const notBuilt = existsSync(main) ? undefined : 'dist is not built';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly isHung: boolean;
}

export interface Start {
  readonly cwd: string;
  /** A command prefix, such as a shell that sets a limit. */
  readonly prefix?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly isUnread?: boolean;
}

/** Longer than any command takes on a busy machine. */
const LIMIT_MS = 60_000;

export async function runProgram(
  args: readonly string[],
  { cwd, prefix = [], env = {}, isUnread = false }: Start,
): Promise<Ended> {
  const [command = '', ...words] = [...prefix, process.execPath, main, ...args];
  const child = spawn(command, words, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  if (isUnread) child.stdout.destroy();
  let isHung = false;
  const timer = setTimeout(() => {
    isHung = true;
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  }, LIMIT_MS);
  const [stdout, stderr, [code, signal]] = await Promise.all([
    isUnread ? '' : text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  clearTimeout(timer);
  return { code, signal, stdout, stderr, isHung };
}

export function json(...args: readonly string[]): readonly string[] {
  return [...args, '--json', '--log-level', 'silent'];
}

export function inShell(commands: string): readonly string[] {
  return ['sh', '-c', `${commands} exec "$@"`, 'sh'];
}

const say = (reply: string) => `#!/bin/sh\ncat > /dev/null\necho '${reply}'\n`;

const document = (kind: string, spec: string) =>
  `apiVersion: signalbox/v1\nkind: ${kind}\nmetadata: {name: desk}\nspec:\n${spec}`;

/** A folder with an entry of every kind. Its guard of models allows, and its guard of tools denies. */
export function newDesk(): string {
  return newProject({
    'runtime.yaml': runtimeYaml(
      [
        'providers: [{id: main, type: mock, model: m, additional_config: {responses: [{text: hi}]}}]',
        'tools: {echo: {exec: {command: ./echo}}, ask: {exec: {command: ./ask}}}',
        'evals: {one: {command: ./score}}',
        'hooks:',
        '  open: {command: ./allow, hook: provider}',
        '  shut: {command: ./deny, hook: tool, phases: [after_execution]}',
      ].join('\n'),
    ),
    'open.yaml': runtimeYaml('tools: {echo: {exec: {command: ./echo}}, ask: {exec: {command: ./ask}}}'),
    echo: say('{"result": 1}'),
    ask: say('{"pending": {}}'),
    score: say('{"score": 1}'),
    allow: say('{"allow": true}'),
    deny: say('{"allow": false, "reason": "no"}'),
    's.suite.yaml': document(
      'EvalSuite',
      '  runtime: ./runtime.yaml\n  cases: [{id: one}, {id: two}]\n  case: {id: "${case.id}", content: x}\n  evals: [{id: e, type: one, threshold: {min_score: 1}}]\n',
    ),
    'p.pipeline.yaml': document(
      'Pipeline',
      '  runtime: ./open.yaml\n  steps: [{id: a, tool: echo, args: {}}, {id: b, tool: echo, args: {}}]\n  output: {a: "${steps.a.result}"}\n',
    ),
  });
}

const event = (hook: string) =>
  hook === 'provider'
    ? '{"request":{"messages":[{"role":"user","content":"hi"}]}}'
    : '{"request":{"name":"echo","args":{}},"response":{"name":"echo","content":"1"}}';

/** Commands with effects, and their exit codes without a fault. */
export const commands: readonly { readonly args: readonly string[]; readonly code: number }[] = [
  { args: ['tool', 'call', 'echo', '-c', 'open.yaml'], code: 0 },
  { args: ['tool', 'call', 'ask', '-c', 'open.yaml'], code: 3 },
  { args: ['eval', 'call', 'one', '--content', 'x'], code: 0 },
  { args: ['eval', 'run', 's.suite.yaml'], code: 0 },
  {
    args: ['hook', 'fire', '--hook', 'provider', '--phase', 'before_call', '--event', event('provider')],
    code: 0,
  },
  {
    args: ['hook', 'fire', '--hook', 'tool', '--phase', 'after_execution', '--event', event('tool')],
    code: 1,
  },
  { args: ['run', 'p.pipeline.yaml'], code: 0 },
];

export const printing: readonly { readonly args: readonly string[]; readonly code: number }[] = [
  ...[
    ['--version'],
    ['--help'],
    ['validate'],
    ['tool', 'list'],
    ['hook', 'list'],
    ['provider', 'list'],
    ['pending', 'list'],
    ['runs', 'list'],
    ['keys', 'list'],
  ].map((args) => ({ args, code: 0 })),
  { args: ['nonsense'], code: 2 },
  { args: ['tool', 'call', 'nobody'], code: 2 },
];

/** Judges a command. `problem` checks one that neither hung nor crashed. */
export function judge(
  row: string,
  title: string,
  ended: Ended,
  problem: (ended: Ended) => string | undefined,
): GroupResult {
  const { code, signal, stdout, stderr, isHung } = ended;
  // Node itself reports a program that it could not load.
  const isUnloaded = stdout === '' && /too many open files/.test(stderr);
  const printsStack = !isUnloaded && /^ {4}at .+:\d+:\d+|Unhandled|Uncaught/m.test(stderr);
  const found = isHung ? 'it hangs' : printsStack ? 'it prints a stack' : problem(ended);
  const word = isHung ? 'HUNG' : signal === null ? `exit ${code}` : signal;
  const shown = `${title} | ${word} | ${stdout.slice(0, 300)} | ${stderr.slice(0, 300)}`;
  return { row, word, problem: found && `${found} | ${shown}` };
}

export function errorCodeIn(stdout: string): string | undefined {
  return /"error":\{"code":"([A-Z_]+)"/.exec(stdout)?.[1];
}
