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

/** Node and the program that it runs: what stands where a user has `signalbox`. */
export const signalbox = [process.execPath, builtProgram] as const;

/** What a command came to. */
export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Circumstances {
  readonly cwd?: string;
  /** Written and ended; null leaves it open; without it there is none. */
  readonly stdin?: string | null;
  readonly env?: Readonly<Record<string, string>>;
  /** Starts the program rather than calling its `main` here: for what only a process can show. */
  readonly binary?: true;
  /** Streams of `main` that claim to be a terminal, 200 columns wide. */
  readonly terminal?: TerminalStreams;
  /** Interrupts `main` once this text is on stdout. */
  readonly until?: string;
}

/** A running command. */
export interface Running {
  readonly child: ChildProcess;
  readonly ran: Promise<Ran>;
}

/** The words of a command line, or the line, which is split at spaces outside of single quotes. */
export type Line = string | readonly string[];

function wordsOf(line: Line): readonly string[] {
  if (typeof line !== 'string') return line;
  return [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word);
}

/** Starts a command and does not wait for it. */
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

/** The environment without what asks programs for colours or against them, and with `signalbox` on its PATH. */
function quietEnv(): NodeJS.ProcessEnv {
  const { NO_COLOR, FORCE_COLOR, PATH = '', ...env } = process.env;
  return { ...env, PATH: `${PATH}${delimiter}${join(import.meta.dirname, '../fixtures/path')}` };
}

/** Runs a command to its end: a call of `main` in this process, or the program itself where `binary` is set. */
export async function run(args: Line, circumstances: Circumstances = {}): Promise<Ran> {
  if (circumstances.binary) return await start(wordsOf(args), circumstances).ran;
  const { screen, ...ran } = await runShown(args, circumstances);
  return ran;
}

/** What a command came to, and what the streams of it that are terminals would show. */
export interface Shown extends Ran {
  readonly screen: string;
}

/** Calls `main` in this process, on streams of which some claim to be terminals. */
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

/** Runs a command for people and for programs, side by side. */
export async function runBothWays(args: Line, circumstances: Circumstances = {}) {
  const [people, programs] = await Promise.all([run(args, circumstances), runJson(args, circumstances)]);
  return { people, programs };
}

/** A command on a terminal, and somebody at its keys. */
export interface Typing {
  readonly ran: Promise<Ran>;
  /** What came to the screen so far, from stdout and stderr alike. */
  screen(): string;
  /** Waits until the screen shows the text, after what it showed when keys were last typed. */
  sees(text: string): Promise<void>;
  /** Types keys; Enter is `\\r`. */
  type(keys: string): void;
}

/** Whether terminals can be made here: `script`, of util-linux. */
export const hasTerminals = (process.env.PATH ?? '')
  .split(delimiter)
  .some((folder) => existsSync(join(folder, 'script')));

/** Starts a command in a terminal of its own. */
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

/** Calls `main` on streams that claim to be a terminal; resolves once it has the current folder to itself. */
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

/** A call that waits for a person in the state store of a workspace. It is made here, which takes no process. */
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

/** The id of a run in the state store of a workspace. It is run here, as far as it goes. */
export async function runOf(folder: string, file: string, input: unknown = {}): Promise<string> {
  const runtime = await openRuntime(join(folder, 'runtime.yaml'), { log: false });
  try {
    return (await runtime.run(join(folder, file), input)).run_id;
  } finally {
    await runtime.close();
  }
}

/** The one document of a stdout that holds one line and nothing else. */
export function onlyDocument(stdout: string): unknown {
  if (!/^[^\n]+\n$/.test(stdout)) throw new Error(`not one line: ${JSON.stringify(stdout)}`);
  return JSON.parse(stdout);
}

/** Every line of a JSON log. */
export function logLines(stderr: string): Readonly<Record<string, unknown>>[] {
  return stderr
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
}

/** The processes whose command line or environment carries `marker`. */
export function processesWith(marker: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .filter((pid) => ['cmdline', 'environ'].some((file) => textOf(`/proc/${pid}/${file}`).includes(marker)))
    .map(Number);
}

/** Whether a Node process waits for its stdin: whether one of its epoll descriptors watches descriptor 0. */
export function awaitsStdin(pid: number | undefined): boolean {
  return entriesOf(`/proc/${pid}/fdinfo`).some((fd) =>
    /^tfd:\s+0 /m.test(textOf(`/proc/${pid}/fdinfo/${fd}`)),
  );
}

/** Waits until `condition` holds; gives up after five minutes, when a busy machine would have come to it. */
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
