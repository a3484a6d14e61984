import type { Readable, Writable } from 'node:stream';
import { RuntimeError } from '../../base/errors.ts';
import { findInterpreterFault } from '../../base/files/interpreter.ts';
import type { Binding } from '../binding.ts';

/** `command` is an absolute path; `env` is the whole environment. */
export interface LaunchRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** The complete stdin; null leaves stdin open as a stream. */
  readonly input: Uint8Array | null;
  /** Descriptors of this process that the new one gets from 3 on. They stay open here. */
  readonly descriptors?: readonly number[];
  readonly restraint?: Restraint;
}

export interface Restraint {
  readonly joins: readonly string[];
  /** The letters and units are those of the shell's `ulimit`. */
  readonly limits: readonly ShellLimit[];
  /** The niceness to add, 0 to 19. */
  readonly nice: number;
}

/** Reaching the soft limit causes a signal or an error; the hard limit can never be raised. */
export interface ShellLimit {
  /** Units: blocks of 512 bytes, KiB, seconds, descriptors. Source: POSIX, `ulimit`; dash(1). */
  readonly option: 'f' | 'd' | 't' | 'n';
  readonly soft: number;
  readonly hard: number;
}

/** Exactly one of the two members is not null. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface OutputListener {
  onData(chunk: Buffer): void;
  onClose(): void;
}

export interface Output {
  readonly isClosed: boolean;
  listen(listener: OutputListener): void;
  stream(): Readable;
  pause(): void;
  resume(): void;
  keepAlive(keeps: boolean): void;
  destroy(): void;
}

/** The process leads its own process group, so `-pid` names the group. */
export interface LaunchedProcess {
  readonly pid: number;
  /** null once all input is written; otherwise the caller destroys it. */
  readonly stdin: Writable | null;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Resolves when the process has exited, even if others hold its outputs open. Never rejects. */
  readonly ended: Promise<ExitStatus>;
  readonly inside?: Inside;
  keepAlive(keeps: boolean): void;
}

/** Signals to the outer process do not reach the sandboxed one. */
export interface Inside {
  terminate(): boolean;
  kill(): Promise<void>;
  /** Call it after `ended`. Returns why nothing ran in the sandbox; undefined if something ran. */
  startFault(stderr: string): RuntimeError | undefined;
}

/** Learns of a start before it happens, so that the watcher misses no process. */
export interface LaunchListener {
  /** `stdout` is its name in /proc, or empty. Call the result once: with the process group, or null on failure. */
  starting(stdout: string): (group: number | null) => void;
}

/** Rejects with the system's error code in the message. */
export type Launcher = (request: LaunchRequest, watch?: LaunchListener) => Promise<LaunchedProcess>;

export function startError(
  name: string,
  reason: string,
  options: { hint?: string; cause?: unknown } = {},
): RuntimeError {
  return new RuntimeError('PROCESS_START', `"${name}" could not be started: ${reason}`, options);
}

export function findMissingInterpreter(error: unknown, path: string, { cwd, env }: Binding) {
  if (!(error instanceof Error) || !error.message.includes('ENOENT')) return undefined;
  return findInterpreterFault(path, { cwd, searchPath: env['PATH'] ?? '' });
}

/** The file has passed every check; its interpreter, its folder or a system limit is the cause. */
export function describeLaunchError(error: unknown, cwd: string, path: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('ENOENT'))
    return `the interpreter that ${path} names, or the folder ${cwd}, does not exist`;
  if (text.includes('ENOEXEC')) return `${path} has no #! line, or is built for another machine`;
  if (text.includes('E2BIG')) return 'its arguments and environment are too long';
  if (text.includes('EMFILE') || text.includes('ENFILE'))
    return 'too many files are open; lower the concurrency';
  if (text.includes('EAGAIN') || text.includes('ENOMEM')) return 'the system cannot start another process';
  return text;
}
