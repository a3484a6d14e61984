import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { delimiter, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { openRuntime } from '../../src/index.ts';
import { builtProgram } from '../built.ts';
import { entriesOf, textOf } from '../leaks.ts';
import { enter, openStreams, type Place, type Streams, type TerminalStreams, within } from './in-process.ts';

export { config, fixture, folderOf, pipeline, suite, workspace } from '../workspace.ts';

/** The words that stand for `signalbox` on a command line. */
export const signalbox = [process.execPath, builtProgram] as const;

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Circumstances {
  readonly cwd?: string;
  /** Written and ended. Null leaves stdin open; undefined means no stdin. */
  readonly stdin?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts the program instead of calling `main` in this process. */
  readonly binary?: true;
  /** Streams of `main` that claim to be a terminal, 200 columns wide. */
  readonly terminal?: TerminalStreams;
  /** Interrupts `main` once this text is on stdout. */
  readonly until?: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ran: Promise<Ran>;
}

/** The words of a command line, or the line, which is split at spaces outside single quotes. */
export type Line = string | readonly string[];

function wordsOf(line: Line): readonly string[] {
  if (typeof line !== 'string') return line;
  return [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

export function start(
  args: readonly string[],
  { cwd, env, stdin }: Circumstances = {},
  [program, ...leading]: readonly [string, ...string[]] = signalbox,
): Running {
  const child = spawn(program, [...leading, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...quietEnv(), ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  if (typeof stdin === 'string') child.stdin?.end(stdin);
  const ended = once(child, 'close');
  const ran = Promise.all([outputOf(child.stdout), outputOf(child.stderr), ended]).then(
    ([stdout, stderr, [code]]) => ({ code: typeof code === 'number' ? code : null, stdout, stderr }),
  );
  return { child, ran };
}

/** The environment without variables that turn colours on or off, and with `signalbox` on its PATH. */
function quietEnv(): NodeJS.ProcessEnv {
  const { NO_COLOR, FORCE_COLOR, PATH = '', ...env } = process.env;
  return { ...env, PATH: `${PATH}${delimiter}${join(import.meta.dirname, '../fixtures/path')}` };
}

export async function run(args: Line, circumstances: Circumstances = {}): Promise<Ran> {
  if (circumstances.binary) return await start(wordsOf(args), circumstances).ran;
  const { screen, ...ran } = await runShown(args, circumstances);
  return ran;
}

export interface Shown extends Ran {
  readonly screen: string;
}

export async function runShown(args: Line, circumstances: Circumstances): Promise<Shown> {
  const { cwd = process.cwd(), env = {}, until: text } = circumstances;
  const streams = openStreams(circumstances);
  const interruption = new AbortController();
  const watch = setInterval(() => {
    if (text !== undefined && streams.texts().stdout.includes(text)) interruption.abort();
  }, 20);
  try {
    const ran = await within({ cwd, env }, () =>
      callMain(wordsOf(args), { cwd, env }, streams, interruption),
    );
    return { ...ran, screen: streams.screen() };
  } finally {
    clearInterval(watch);
  }
}

async function callMain(
  args: readonly string[],
  { cwd, env }: Place,
  { streams, texts }: Streams,
  interruption = new AbortController(),
): Promise<Ran> {
  const { main } = await import('../../src/cli/program.ts');
  const code = await main({
    ...streams,
    program: signalbox,
    argv: args,
    env: { ...quietEnv(), ...env },
    cwd,
    signal: interruption.signal,
    onHangup: () => {},
    stopWithin: () => {},
    onVerdictCommand: () => {},
    interrupt: () => interruption.abort(),
    userName: () => userInfo().username,
    limitHeapGrowth: () => {},
  });
  return { code, ...texts() };
}

/** Runs a command with --json: its exit code, its one document, and stderr. */
export async function runJson(
  args: Line,
  circumstances: Circumstances = {},
): Promise<{ code: number | null; document: unknown; stderr: string }> {
  const { code, stdout, stderr } = await run([...wordsOf(args), '--json'], circumstances);
  return { code, document: onlyDocument(stdout), stderr };
}

export async function runBothWays(args: Line, circumstances: Circumstances = {}) {
  const [people, programs] = await Promise.all([run(args, circumstances), runJson(args, circumstances)]);
  return { people, programs };
}

export interface Typing {
  readonly ran: Promise<Ran>;
  /** The output so far, stdout and stderr together. */
  screen(): string;
  /** Waits until the text appears in the output since the last keys. */
  sees(text: string): Promise<void>;
  /** Types keys; Enter is `\\r`. */
  type(keys: string): void;
}

/** Whether `script` of util-linux exists, which opens terminals. */
export const hasTerminals = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'script')));

export function startOnTerminal(
  args: readonly string[],
  circumstances: Circumstances = {},
): Typing & Running {
  const words = [...signalbox, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  const line = `stty cols 200; ${words.join(' ')}`;
  const running = start([], { ...circumstances, stdin: null }, ['script', '-qec', line, '/dev/null']);
  let shown = '';
  running.child.stdout?.on('data', (chunk: Buffer) => {
    shown += chunk.toString();
  });
  return {
    ...running,
    ...openTyping(
      () => shown,
      (keys) => running.child.stdin?.write(keys),
    ),
  };
}

/** Calls `main` on streams that claim to be a terminal. Resolves once the call owns the current folder. */
export async function callOnTerminal(
  args: readonly string[],
  { cwd = process.cwd(), env = {} }: Pick<Circumstances, 'cwd' | 'env'> = {},
): Promise<Typing> {
  const leave = await enter({ cwd, env });
  const streams = openStreams({ stdin: null, terminal: 'both' });
  const ran = callMain(args, { cwd, env }, streams).finally(leave);
  const { stdin } = streams.streams;
  return { ran, ...openTyping(streams.screen, (keys) => void stdin.push(keys)) };
}

function openTyping(screen: () => string, write: (keys: string) => void): Omit<Typing, 'ran'> {
  let typedAt = 0;
  return {
    screen,
    sees: (text) => until(() => screen().slice(typedAt).includes(text)),
    type: (keys) => {
      typedAt = screen().length;
      write(keys);
    },
  };
}

/** Creates a call that waits for a person in a workspace's state store, without a process. */
export async function callThatWaits(folder: string, tool: string, args = '{}') {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  try {
    const document = await runtime.tools.call(tool, args);
    if (document.status !== 'pending') throw new Error(`it does not wait: ${JSON.stringify(document)}`);
    return { id: document.pending.id, runId: document.pending.run_id };
  } finally {
    await runtime.close();
  }
}

/** Runs a pipeline in a workspace's state store as far as it goes; returns the run's id. */
export async function runOf(folder: string, file: string, input: unknown = {}): Promise<string> {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  try {
    return (await runtime.run(join(folder, file), input)).run_id;
  } finally {
    await runtime.close();
  }
}

/** Fails unless stdout is one line with one document. */
export function onlyDocument(stdout: string): unknown {
  if (!/^[^\n]+\n$/.test(stdout)) throw new Error(`not one line: ${JSON.stringify(stdout)}`);
  return JSON.parse(stdout);
}

export function logLines(stderr: string): Readonly<Record<string, unknown>>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

/** The processes whose command line or environment contains `marker`. */
export function processesWith(marker: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => ['cmdline', 'environ'].some((file) => textOf(`/proc/${pid}/${file}`).includes(marker)))
    .map(Number);
}

/** Whether a Node process waits for its stdin, that is, one of its epoll descriptors watches descriptor 0. */
export function awaitsStdin(pid: number | undefined): boolean {
  return entriesOf(`/proc/${pid}/fdinfo`).some((fd) =>
    /^tfd:\s+0 /m.test(textOf(`/proc/${pid}/fdinfo/${fd}`)),
  );
}

/** Waits until `condition` holds, at most five minutes, for busy machines. */
export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + 300_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error('waited for five minutes in vain');
    await sleep(20);
  }
}

async function outputOf(stream: NodeJS.ReadableStream | null): Promise<string> {
  return stream === null ? '' : await text(stream);
}
