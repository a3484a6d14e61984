import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { builtProgram, compileCache } from '../built.ts';

export interface WorkerProcess {
  readonly child: ChildProcess;
  readonly document: {
    readonly id: string;
    readonly builds: readonly string[];
    readonly pipelines: readonly string[];
    readonly health: string | null;
  };
  readonly startMs: number;
  log(): string;
  /** The exit code, or the name of the signal. */
  readonly ended: Promise<number | string>;
}

export interface StartOptions {
  readonly url: string;
  readonly args?: readonly string[];
  /** A command prefix that starts the worker. */
  readonly prefix?: readonly string[];
}

/** Runs the shipped command line with only the database address in its environment. */
function startProgram(args: readonly string[], { url, prefix = [] }: StartOptions): ChildProcess {
  const [command = '', ...rest] = [...prefix, process.execPath, builtProgram, ...args];
  const { PATH, TMPDIR, HOME } = process.env;
  const env = { PATH, TMPDIR, HOME, DATABASE_URL: url, NODE_COMPILE_CACHE: compileCache };
  const child = spawn(command, rest, { stdio: ['ignore', 'pipe', 'pipe'], env });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

export async function startWorker(config: string, options: StartOptions): Promise<WorkerProcess> {
  const beganAt = performance.now();
  const common = ['--config', config, '--json', '--log-level', 'info'];
  const child = startProgram(['worker', ...common, ...(options.args ?? [])], options);
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const ended = once(child, 'exit').then(([code, signal]) => code ?? signal);
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const first = await Promise.race([once(lines, 'line').then(([line]) => String(line)), ended]);
  if (typeof first !== 'string' || !first.startsWith('{'))
    throw new Error(`the worker ended: ${first}\n${log}`);
  return { child, ended, document: JSON.parse(first), startMs: performance.now() - beganAt, log: () => log };
}

export interface Ended {
  readonly code: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command line to its end, or kills it once `killedAfter` resolves. */
export async function runProgram(
  args: readonly string[],
  { killedAfter, ...options }: StartOptions & { readonly killedAfter?: Promise<unknown> },
): Promise<Ended> {
  const child = startProgram(args, options);
  void killedAfter?.then(() => child.kill('SIGKILL'));
  const [stdout, stderr] = ['', ''].map((text) => ({ text }));
  child.stdout?.on('data', (chunk: Buffer) => {
    if (stdout) stdout.text += chunk.toString();
  });
  child.stderr?.on('data', (chunk: Buffer) => {
    if (stderr) stderr.text += chunk.toString();
  });
  const [code, signal] = await once(child, 'close');
  return { code: code ?? signal, stdout: stdout?.text ?? '', stderr: stderr?.text ?? '' };
}
