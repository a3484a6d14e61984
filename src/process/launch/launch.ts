import type { Readable, Writable } from 'node:stream';
import { RuntimeError } from '../../base/errors.ts';
import { findInterpreterFault } from '../../base/files/interpreter.ts';
import type { Binding } from '../binding.ts';

/** What to start. `command` is an absolute path; `env` is the whole environment. */
export interface LaunchRequest {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** All of stdin, which then ends; null leaves stdin open as a stream. */
  readonly input: Uint8Array | null;
  /** Descriptors of this process that the new one has from 3 on; they stay open here. */
  readonly descriptors?: readonly number[];
  /** What `command` does to itself before anything else; for a launcher that does not start `command`. */
  readonly restraint?: Restraint;
}

/** How a process holds itself before it runs what it is for. */
export interface Restraint {
  /** Files of control groups, which it joins by writing 0 to them. */
  readonly joins: readonly string[];
  /** Its limits, by the letters that a shell's `ulimit` has for them, in the units of the shell. */
  readonly limits: readonly ShellLimit[];
  /** How much it steps back for others, 0 to 19. */
  readonly nice: number;
}

/** A limit of the system: what reaches the soft one is told, or fails; the hard one can never be raised. */
export interface ShellLimit {
  /** Blocks of 512 bytes, KiB, seconds, descriptors. Source: POSIX, `ulimit`; dash(1). */
  readonly option: 'f' | 'd' | 't' | 'n';
  readonly soft: number;
  readonly hard: number;
}

/** How a process ended: exactly one of the two is not null. */
export interface ExitStatus {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

export interface OutputListener {
  onData(chunk: Buffer): void;
  onClose(): void;
}

/** Our end of a stdout or stderr. Whoever starts a process listens to it or takes its stream, not both. */
export interface Output {
  /** Whether `onClose` was, or would have been, called. */
  readonly isClosed: boolean;
  listen(listener: OutputListener): void;
  stream(): Readable;
  /** Reads no more for now, as far as it is read by a stream already. */
  pause(): void;
  resume(): void;
  /** Whether reading it keeps Node alive, as it does until this is called. */
  keepAlive(keeps: boolean): void;
  destroy(): void;
}

/** A started process that leads its own process group, so `-pid` names the group. */
export interface LaunchedProcess {
  readonly pid: number;
  /** Null once all input is written; otherwise the caller destroys it. */
  readonly stdin: Writable | null;
  readonly stdout: Output;
  readonly stderr: Output;
  /**
   * Resolves when the process has exited, even if others still hold its outputs open; listeners have been given what it
   * wrote by then, if that was little. Never rejects.
   */
  readonly ended: Promise<ExitStatus>;
  /** Of a process that only stands for what runs in a sandbox. */
  readonly inside?: Inside;
  keepAlive(keeps: boolean): void;
}

/** What runs in a sandbox, where signals to the process that stands for it do not arrive. */
export interface Inside {
  /** Asks what runs there to end; false when it cannot be asked. */
  terminate(): boolean;
  kill(): Promise<void>;
  /** Once `ended`: why nothing was run there, if so. `stderr` is what the process that stands for it wrote. */
  startFault(stderr: string): RuntimeError | undefined;
}

/** Is told of a start before it happens and as soon as it is known to have happened, so that no process escapes the watcher. */
export interface LaunchListener {
  /**
   * `stdout` is how /proc shows what the process alone will have there; empty where it does not. The returned function is
   * called once with the process group that was started, or null when it could not be.
   */
  starting(stdout: string): (group: number | null) => void;
}

/**
 * Starts one process with three standard streams that it can also open as /dev/stdin, /dev/stdout and
 * /dev/stderr. Rejects when the system refuses to start it, with the system's error code in the message.
 */
export type Launcher = (request: LaunchRequest, watch?: LaunchListener) => Promise<LaunchedProcess>;

export function startError(
  name: string,
  reason: string,
  options: { hint?: string; cause?: unknown } = {},
): RuntimeError {
  return new RuntimeError('PROCESS_START', `"${name}" could not be started: ${reason}`, options);
}

/** The interpreter that the script names, if that is what the system did not find. */
export function findMissingInterpreter(error: unknown, path: string, { cwd, env }: Binding) {
  if (!(error instanceof Error) || !error.message.includes('ENOENT')) return undefined;
  return findInterpreterFault(path, { cwd, searchPath: env['PATH'] ?? '' });
}

/** The file passed every check, so what is left is its interpreter, its folder or the system's limits. */
export function describeLaunchError(error: unknown, cwd: string, path: string): string {
  const text = error instanceof Error ? error.message : String(error);
  if (text.includes('ENOENT'))
    return `the interpreter that ${path} names, or the folder ${cwd}, does not exist`;
  if (text.includes('ENOEXEC')) return `${path} has no #! line, or is built for another machine`;
  if (text.includes('E2BIG')) return 'its arguments and environment are too long';
  if (text.includes('EMFILE') || text.includes('ENFILE'))
    return 'too many files are open; lower the concurrency';
  if (text.includes('EAGAIN') || text.includes('ENOMEM')) return 'the system has no room for another process';
  return text;
}
